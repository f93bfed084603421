#include "child.h"

#include <err.h>
#include <sys/prctl.h>
#include <unistd.h>

pid_t
child_fork(int signal)
{
	pid_t parent = getpid(), child = fork();

	if (child == -1)
		err(1, "fork");
	if (child != 0)
		return child;
	prctl(PR_SET_PDEATHSIG, signal);
	if (getppid() != parent)
		_exit(1);
	return 0;
}

nanos
child_cpu(const struct rusage *usage)
{
	return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) *
	    NANOS_SECOND +
	    (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000;
}

nanos
clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (nanos)now.tv_sec * NANOS_SECOND + now.tv_nsec;
}

struct timespec
clock_span(nanos span)
{
	return (struct timespec){ (time_t)(span / NANOS_SECOND),
		(long)(span % NANOS_SECOND) };
}
