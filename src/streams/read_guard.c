#include "streams/read_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "sys/procfs.h"
#include "sys/sys.h"

/* The most generations of ancestors that are followed. */
#define ANCESTORS 64

/* Of kcmp(2): compares open file descriptions. */
#define KCMP_FILE 0

/* Room for the first lines of /proc/PID/fdinfo/N. */
#define INFO_ROOM 64

/* The search in /proc for processes that share an offset with retry. */
struct scan {
	int fd; /* retry's descriptor */
	struct stat file; /* of fd */
	char info[INFO_ROOM]; /* of fd, by procfs_position() */
	pid_t pid; /* the process that is examined */
	int directory; /* of its descriptors, in /proc */
	bool suspect; /* the process may have moved the offset */
};

/* An inotify descriptor that reports the next read of fd's file, or -1. */
static int
open_inotify(int fd)
{
	char name[PROCFS_NAME];
	int inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (inotify != -1 &&
	    inotify_add_watch(
		inotify, procfs_name(name, fd), IN_ACCESS | IN_ONESHOT) == -1) {
		close(inotify);
		inotify = -1;
	}
	return inotify;
}

/* Whether inotify has reported a read. */
static bool
was_read(int inotify)
{
	struct inotify_event event;
	char bytes[256];

	if (inotify == -1 ||
	    read(inotify, bytes, sizeof bytes) < (ssize_t)sizeof event)
		return false;
	memcpy(&event, bytes, sizeof event);
	return (event.mask & IN_ACCESS) != 0;
}

/*
 * Copies the bytes that the next read would get; 0 at the end, -1 with errno. A
 * pipe has no MSG_PEEK: tee(2) copies its bytes into a second pipe.
 */
static ssize_t
peek(int fd, bool socket, char bytes[READ_GUARD_PEEK])
{
	int ends[2], error;
	ssize_t got;

	if (socket)
		return recv(
		    fd, bytes, READ_GUARD_PEEK, MSG_PEEK | MSG_DONTWAIT);
	if (pipe2(ends, O_CLOEXEC) == -1)
		return -1;
	got = tee(fd, ends[1], READ_GUARD_PEEK, SPLICE_F_NONBLOCK);
	if (got > 0)
		got = read(ends[0], bytes, READ_GUARD_PEEK);
	error = errno;
	close(ends[0]);
	close(ends[1]);
	errno = error;
	return got;
}

/*
 * Whether inotify reports tee(2), too: kernels that report splice(2) do. True
 * if that cannot be found out.
 */
static bool
inotify_reports_tee(void)
{
	char bytes[READ_GUARD_PEEK];
	int ends[2], inotify;
	bool reported = true;

	if (pipe2(ends, O_CLOEXEC) == -1)
		return true;
	inotify = open_inotify(ends[0]);
	if (inotify != -1 && write(ends[1], "", 1) == 1 &&
	    peek(ends[0], false, bytes) == 1)
		reported = was_read(inotify);
	if (inotify != -1)
		close(inotify);
	close(ends[0]);
	close(ends[1]);
	return reported;
}

/* Whether a socket has a pending error. Peeking would take the error away. */
static bool
has_error(void)
{
	struct pollfd some = { .fd = STDIN_FILENO };

	return poll(&some, 1, 0) == 1 && (some.revents & POLLERR) != 0;
}

/*
 * Whether a socket that is at its end was reset by its other end, even if a
 * reader has taken the error already. TCP keeps that in its state. A Unix
 * socket is reset if its other end closes it before it has read all that was
 * sent to it.
 */
static bool
was_reset(const struct read_guard *guard)
{
	struct tcp_info info;
	socklen_t size = sizeof info;

	if (!guard->socket)
		return false;
	if (getsockopt(STDIN_FILENO, IPPROTO_TCP, TCP_INFO, &info, &size) == 0)
		return info.tcpi_state == TCP_CLOSE;
	return guard->unread;
}

void
read_guard_look(struct read_guard *guard, short revents)
{
	bool socket = guard->socket, has_head = guard->known == GUARD_HEAD;
	char bytes[READ_GUARD_PEEK];
	bool lost; /* bytes that were there at an earlier look */
	int waiting = 0, unread = 0, error;
	ssize_t got;

	/* A pending error may be all that a reader of the socket would get. */
	if (socket && ((revents & POLLERR) != 0 || has_error()) &&
	    ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 && waiting == 0) {
		guard->known = has_head ? GUARD_EATEN : GUARD_RESET;
		return;
	}
	got = peek(STDIN_FILENO, socket, bytes);
	error = errno;
	if (got != 0 && socket)
		guard->unread =
		    ioctl(STDIN_FILENO, TIOCOUTQ, &unread) == 0 && unread > 0;

	lost = has_head &&
	    (got < (ssize_t)guard->length_of_head ||
		memcmp(bytes, guard->head, guard->length_of_head) != 0);

	if (got == -1 && error != EAGAIN && !socket) {
		/* Without a free descriptor, a peek at a pipe shows nothing. */
		guard->known = has_head ? GUARD_HEAD : GUARD_INOTIFY;
	} else if (got > 0 && !lost) {
		/* A later look may see more. */
		memcpy(guard->head, bytes, (size_t)got);
		guard->length_of_head = (size_t)got;
		guard->known = GUARD_HEAD;
	} else if (lost ||
	    ((revents & POLLIN) != 0 && (got == -1 || !socket))) {
		/* A process has read the bytes that poll promised; but for a
		 * socket poll promises the end of the stream, too. */
		guard->known = GUARD_EATEN;
	} else if (got == -1 && error == EAGAIN) {
		guard->known = GUARD_UNSEEN;
	} else if (guard->known == GUARD_NONE) {
		/* Bytes that were read before the first attempt are no loss. */
		guard->known = GUARD_INOTIFY;
	} else if (was_reset(guard)) {
		guard->known = GUARD_RESET;
	} else {
		/* Bytes may have come before the end, and been read. inotify
		 * would have reported the read. */
		guard->known =
		    guard->inotify == -1 ? GUARD_EATEN : GUARD_INOTIFY;
	}
}

/*
 * inotify reports each read(2), of a pipe as of a file, but not recv(2), and
 * splice(2) only in newer kernels. And the number of a user's inotify
 * descriptors is limited. In these cases retry peeks as well. If splice is
 * reported, inotify alone is enough, and a peek by tee(2) would be reported as
 * a read.
 */
void
read_guard_begin(struct read_guard *guard, bool socket)
{
	guard->socket = socket;
	guard->inotify = sys_move_up(open_inotify(STDIN_FILENO));
	if (socket || guard->inotify == -1 || !inotify_reports_tee())
		read_guard_look(guard, 0);
	else
		guard->known = GUARD_INOTIFY;
}

enum reason
read_guard_lost(struct read_guard *guard)
{
	if (was_read(guard->inotify))
		guard->known = GUARD_EATEN;
	else if (guard->known == GUARD_UNSEEN || guard->known == GUARD_HEAD)
		read_guard_look(guard, 0);
	if (guard->known == GUARD_EATEN)
		return REASON_INPUT_CONSUMED;
	/* If no reader has taken the error, the next attempt gets it, too. */
	return guard->known == GUARD_RESET && !has_error() ? REASON_INPUT_RESET
							   : REASON_NONE;
}

/*
 * Whether a process is an ancestor that seems to wait for retry. A shell that
 * does not wait (for "retry ... &") gives retry a process group of its own,
 * which is not in the foreground; or, without job control, makes retry ignore
 * SIGINT and SIGQUIT (POSIX, XCU 2.11).
 */
static bool
waits(pid_t pid)
{
	struct procfs proc = { .parent = getppid() };
	struct sigaction interrupt, quit;

	for (int i = 0; proc.parent != pid; i++)
		if (i == ANCESTORS || proc.parent <= 0 ||
		    procfs_look(&proc, proc.parent) != PROCFS_SEEN)
			return false;
	if (sigaction(SIGINT, NULL, &interrupt) == 0 &&
	    sigaction(SIGQUIT, NULL, &quit) == 0 &&
	    interrupt.sa_handler == SIG_IGN && quit.sa_handler == SIG_IGN)
		return false;
	return getpgid(pid) == getpgrp() || procfs_foreground() == getpgrp();
}

/* False, which ends the listing, if this descriptor makes pid a suspect. */
static bool
is_harmless(void *with, const char *name)
{
	struct scan *scan = with;
	char info[INFO_ROOM];
	struct stat file;
	int64_t fd;
	long order;

	if (!number_whole(name, strlen(name), &fd) ||
	    fstatat(scan->directory, name, &file, 0) == -1 ||
	    file.st_dev != scan->file.st_dev ||
	    file.st_ino != scan->file.st_ino)
		return true;
	/* If kcmp(2) is forbidden, as in many containers, a descriptor of the
	 * same file at the same offset counts as the same. */
	order = syscall(
	    SYS_kcmp, getpid(), scan->pid, KCMP_FILE, scan->fd, (int)fd);
	if (order == -1 &&
	    procfs_position(info, sizeof info, scan->pid, (int)fd))
		order = strcmp(info, scan->info);
	scan->suspect = order == 0 && !waits(scan->pid);
	return !scan->suspect;
}

/* False, which ends the listing, if a process is suspect. A process whose
 * descriptors cannot be seen is trusted. */
static bool
is_trusted(void *with, const char *name)
{
	struct scan *scan = with;
	int64_t pid;

	if (!number_whole(name, strlen(name), &pid) || pid == getpid())
		return true;
	scan->pid = (pid_t)pid;
	scan->directory = procfs_open_descriptors(scan->pid);
	if (scan->directory == -1)
		return true;
	/* The listing may also fail, if the process ends meanwhile. */
	procfs_list(scan->directory, is_harmless, scan);
	close(scan->directory);
	return !scan->suspect;
}

bool
read_guard_shared(int fd)
{
	struct scan scan = { .fd = fd };
	int all;
	bool trusted;

	if (!procfs_visible() || fstat(fd, &scan.file) == -1 ||
	    !procfs_position(scan.info, sizeof scan.info, getpid(), fd))
		return true;
	all = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (all == -1)
		return true;
	trusted = procfs_list(all, is_trusted, &scan);
	close(all);
	return !trusted;
}
