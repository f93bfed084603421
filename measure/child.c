#include "child.h"

#include <err.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
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
child_cpu(int whose)
{
	struct rusage usage;

	if (getrusage(whose, &usage) == -1)
		err(1, "getrusage");
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NANOS_SECOND +
	    (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

nanos
clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (nanos)now.tv_sec * NANOS_SECOND + now.tv_nsec;
}
