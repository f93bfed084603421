#include "attempt/job_control.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* The signal by which the child is stopped now, or 0. */
static int
stopped_by(pid_t child)
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
 * Whether retry is in the foreground of a shell with job control, which gives
 * no prompt before retry ends or stops. Such a shell gives each job a process
 * group other than its own, in its session: see "orphaned process group" in
 * POSIX. A script, make or timeout waits in the same group as retry, and would
 * not continue a stopped one.
 */
static bool
is_watched(void)
{
	pid_t parent = getppid();

	return getpgid(parent) != getpgrp() && getsid(parent) == getsid(0) &&
	    in_foreground();
}

/*
 * The signal by which retry has to stop because the command is stopped, or 0.
 * STOP becomes TSTP, which does not stop an orphaned process group.
 */
static int
stop_with(struct job_control *job, pid_t child)
{
	int number = stopped_by(child);

	if (number == 0 || !(job->halted || is_watched()))
		return 0;
	job->halted = false;
	return number == SIGSTOP ? SIGTSTP : number;
}

int
job_control_stops(struct job_control *job, const struct wakeup *wakeup,
    pid_t child, bool dead)
{
	int number = wakeup->signal;

	if (number == SIGCONT)
		job->halted = false;
	if (!signals_stops(number))
		return number == SIGCHLD && !dead ? stop_with(job, child) : 0;
	job->halted = true;
	if (dead || (wakeup->code == SI_KERNEL && getpgid(child) != getpgrp()))
		return number;
	return stop_with(job, child);
}
