#include "keeper.h"

#include <err.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "clock.h"

/* Clients that are being ended may make files for so long. */
#define PATIENCE (5 * NANOS_SECOND)

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

static void
remove_directory(const char *directory)
{
	enum { OPEN = 4 };
	nanos until = clock_now() + PATIENCE;
	struct timespec pause = clock_span(10 * NANOS_MS);

	for (;;) {
		(void)nftw(directory, remove_one, OPEN, FTW_DEPTH | FTW_PHYS);
		if (access(directory, F_OK) == -1)
			return;
		if (clock_now() > until)
			break;
		nanosleep(&pause, NULL);
	}
	warnx("%s: cannot be removed", directory);
}

pid_t
keeper_start(const char *directory, const int life[2])
{
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
	remove_directory(directory);
	_exit(0);
}
