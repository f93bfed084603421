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

/*
 * Whether a process may have moved the offset of fd, of the file and with the
 * position that are given. A process whose descriptors cannot be seen, and one
 * that ends meanwhile, is trusted.
 */
static bool
is_suspect(pid_t pid, int fd, const struct stat *file, const char *position)
{
	struct procfs_names names = { .directory =
					  procfs_open_descriptors(pid) };
	bool same = false;
	const char *name;

	if (names.directory == -1)
		return false;
	while (!same && (name = procfs_next(&names)) != NULL) {
		char info[INFO_ROOM];
		struct stat other;
		int64_t number;
		long order;

		if (!number_whole(name, strlen(name), &number) ||
		    fstatat(names.directory, name, &other, 0) == -1 ||
		    other.st_dev != file->st_dev ||
		    other.st_ino != file->st_ino)
			continue;
		/* If kcmp(2) is forbidden, as in many containers, a descriptor
		 * of the same file at the same offset counts as the same. */
		order = syscall(
		    SYS_kcmp, getpid(), pid, KCMP_FILE, fd, (int)number);
		if (order == -1 &&
		    procfs_position(info, sizeof info, pid, (int)number))
			order = strcmp(info, position);
		same = order == 0;
	}
	close(names.directory);
	return same && !waits(pid);
}

bool
read_guard_shared(int fd)
{
	struct procfs_names all = { .directory = -1 };
	char position[INFO_ROOM];
	bool shared = false;
	struct stat file;
	const char *name;
	int64_t pid;

	if (!procfs_visible() || fstat(fd, &file) == -1 ||
	    !procfs_position(position, sizeof position, getpid(), fd))
		return true;
	all.directory = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (all.directory == -1)
		return true;
	while (!shared && (name = procfs_next(&all)) != NULL)
		shared = number_whole(name, strlen(name), &pid) &&
		    pid != getpid() &&
		    is_suspect((pid_t)pid, fd, &file, position);
	close(all.directory);
	return shared || all.length < 0;
}
