#include "attempt/job_control.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

int
job_control_stopped(pid_t child)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOHANG | WNOWAIT) ==
		-1 ||
	    info.si_pid != child)
		return 0;
	return info.si_status;
}

/* Whether the process group of retry is the terminal's foreground. */
static bool
in_foreground(void)
{
	pid_t foreground;
	int fd = open("/dev/tty", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd == -1)
		return false;
	foreground = tcgetpgrp(fd);
	close(fd);
	return foreground == getpgrp();
}

/*
 * A shell with job control gives each job a process group other than its own,
 * in its session: see "orphaned process group" in POSIX. A script, make or
 * timeout waits in the same group as retry, and would not continue a stopped
 * one.
 */
bool
job_control_watched(void)
{
	pid_t parent = getppid();

	return getpgid(parent) != getpgrp() && getsid(parent) == getsid(0) &&
	    in_foreground();
}
