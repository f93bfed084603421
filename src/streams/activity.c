#include "streams/activity.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "sys/procfs.h"
#include "sys/sys.h"
#include "text/number.h"

/* The looks within one limit, and the bounds of the time between two looks. */
#define LOOKS 8
#define LOOK_LEAST (20 * NANOS_MS)
#define LOOK_MOST NANOS_SECOND

/*
 * All processes of the machine write to the same /dev/null, so it is relayed. A
 * pipe would join the messages of a socket that is not a stream.
 */
static enum activity_way
way_of(int fd)
{
	int flags = fcntl(fd, F_GETFL), type = 0;
	socklen_t length = sizeof type;
	struct stat stat;

	if (flags == -1 || (flags & O_ACCMODE) == O_RDONLY)
		return ACTIVITY_NEVER;
	if (fstat(fd, &stat) == -1)
		return ACTIVITY_UNKNOWN;
	if (S_ISREG(stat.st_mode))
		return ACTIVITY_FILE;
	if (S_ISFIFO(stat.st_mode) ||
	    (S_ISSOCK(stat.st_mode) &&
		getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 &&
		type == SOCK_STREAM) ||
	    (S_ISCHR(stat.st_mode) && stat.st_rdev == makedev(1, 3)))
		return ACTIVITY_RELAYED;
	return S_ISCHR(stat.st_mode) || S_ISBLK(stat.st_mode)
	    ? ACTIVITY_DEVICE
	    : ACTIVITY_UNKNOWN;
}

static bool
report_writes(int inotify, int fd)
{
	char name[PROCFS_NAME];

	return inotify_add_watch(inotify, procfs_name(name, fd), IN_MODIFY) !=
	    -1;
}

/*
 * Whether there was a write since the last call. The kernel queues an event for
 * each write to another device than the last one, so it reads all of them.
 */
static bool
was_noticed(int inotify)
{
	char bytes[4096];
	bool noticed = false;

	while (inotify != -1 && read(inotify, bytes, sizeof bytes) > 0)
		noticed = true;
	return noticed;
}

/* Whether the kernel tells of a write to a terminal: it may stop to do so. */
static bool
inotify_reports_terminals(void)
{
	int line = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), terminal = -1;
	int inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	bool noticed = false;

	if (line != -1 && unlockpt(line) == 0)
		terminal =
		    ioctl(line, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal != -1 && inotify != -1 &&
	    report_writes(inotify, terminal) && write(terminal, "x", 1) == 1)
		noticed = was_noticed(inotify);
	if (terminal != -1)
		close(terminal);
	if (line != -1)
		close(line);
	if (inotify != -1)
		close(inotify);
	return noticed;
}

bool
activity_add(struct activity *activity, int fd, bool held, nanos limit)
{
	enum activity_way way = held ? ACTIVITY_FILE : way_of(fd);
	bool watched = way != ACTIVITY_UNKNOWN;

	if (way == ACTIVITY_FILE || way == ACTIVITY_DEVICE)
		activity->look = number_greater(
		    number_lesser(limit / LOOKS, LOOK_MOST), LOOK_LEAST);
	activity->outputs[fd - STDOUT_FILENO] =
	    (struct activity_output){ .way = way, .file = fd };
	errno = EOPNOTSUPP;
	if (way == ACTIVITY_DEVICE) {
		if (activity->inotify == -1)
			activity->inotify = sys_move_up(
			    inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
		watched = activity->inotify != -1 &&
		    report_writes(activity->inotify, fd);
		if (watched && isatty(fd) && !inotify_reports_terminals()) {
			errno = EOPNOTSUPP;
			watched = false;
		}
	}
	if (!watched)
		activity->unknown = fd;
	return watched;
}

void
activity_begin(struct activity *activity, int out, int err)
{
	if (out != -1)
		activity->outputs[0].file = out;
	if (err != -1)
		activity->outputs[1].file = err;
	activity_look(activity);
}

bool
activity_look(struct activity *activity)
{
	bool active = was_noticed(activity->inotify);

	for (int i = 0; i < 2; i++) {
		struct activity_output *output = &activity->outputs[i];
		struct pollfd room = { .fd = output->file, .events = POLLOUT };
		struct stat before = output->before, *now = &output->before;

		if (output->way == ACTIVITY_FILE &&
		    fstat(output->file, now) == 0 &&
		    (now->st_size != before.st_size ||
			now->st_mtim.tv_sec != before.st_mtim.tv_sec ||
			now->st_mtim.tv_nsec != before.st_mtim.tv_nsec))
			active = true;
		if (output->way == ACTIVITY_DEVICE && poll(&room, 1, 0) == 0)
			active = true;
	}
	return active;
}
