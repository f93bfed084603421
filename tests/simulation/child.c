#include "child.h"

#include <err.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "clock.h"

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

static int
remove_one(
    const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)status;
	(void)type;
	(void)ftw;
	(void)remove(path);
	return 0;
}

pid_t
child_keep(const char *directory, const int life[2])
{
	enum { OPEN = 4, TRIES = 500 };
	struct timespec pause = clock_span(10 * NANOS_MS);
	pid_t keeper = fork();
	char byte;

	if (keeper == -1) {
		(void)rmdir(directory);
		err(1, "fork");
	}
	if (keeper > 0)
		return keeper;
	/* What kills the process group of the driver does not kill it. */
	setsid();
	close(life[1]);
	while (read(life[0], &byte, 1) == -1 && errno == EINTR)
		continue;
	/* Clients that are being ended may still make files. */
	for (int i = 0; i < TRIES; i++) {
		(void)nftw(directory, remove_one, OPEN, FTW_DEPTH | FTW_PHYS);
		if (access(directory, F_OK) == -1)
			_exit(0);
		nanosleep(&pause, NULL);
	}
	warnx("%s: cannot be removed", directory);
	_exit(1);
}
