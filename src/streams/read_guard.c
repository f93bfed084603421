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

/* A watch (inotify) that reports the next read of fd's file, or -1. */
static int
open_watch(int fd)
{
	char name[PROCFS_NAME];
	int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (watch == -1)
		return -1;
	if (inotify_add_watch(
		watch, procfs_name(name, fd), IN_ACCESS | IN_ONESHOT) != -1)
		return watch;
	close(watch);
	return -1;
}

/* Whether the watch has reported a read. False if watch is -1. */
static bool
was_read(int watch)
{
	struct inotify_event event;
	char bytes[256];

	if (watch == -1 ||
	    read(watch, bytes, sizeof bytes) < (ssize_t)sizeof event)
		return false;
	memcpy(&event, bytes, sizeof event);
	return (event.mask & IN_ACCESS) != 0;
}

/* A pipe has no MSG_PEEK: tee(2) copies its bytes into a second pipe. */
static ssize_t
peek_pipe(int pipe, char bytes[READ_GUARD_PEEK])
{
	int ends[2], error;
	ssize_t got;

	if (pipe2(ends, O_CLOEXEC) == -1)
		return -1;
	got = tee(pipe, ends[1], READ_GUARD_PEEK, SPLICE_F_NONBLOCK);
	if (got > 0)
		got = read(ends[0], bytes, READ_GUARD_PEEK);
	error = errno;
	close(ends[0]);
	close(ends[1]);
	errno = error;
	return got;
}

/* Copies the bytes that the next read would get; 0 at the end, -1 with errno.
 */
static ssize_t
peek_input(int fd, bool socket, char bytes[READ_GUARD_PEEK])
{
	if (!socket)
		return peek_pipe(fd, bytes);
	return recv(fd, bytes, READ_GUARD_PEEK, MSG_PEEK | MSG_DONTWAIT);
}

/*
 * Whether a watch also reports tee(2), with which peek_input() reads a
 * pipe: kernels that report splice(2) do. True if no watch can be made to find
 * out.
 */
static bool
watch_reports_tee(void)
{
	char bytes[READ_GUARD_PEEK];
	int ends[2], watch;
	bool told = true;

	if (pipe2(ends, O_CLOEXEC) == -1)
		return true;
	watch = open_watch(ends[0]);
	if (watch != -1 && write(ends[1], "", 1) == 1 &&
	    peek_pipe(ends[0], bytes) == 1)
		told = was_read(watch);
	if (watch != -1)
		close(watch);
	close(ends[0]);
	close(ends[1]);
	return told;
}

/* What a look at the input has found. */
enum sight {
	SIGHT_BYTES, /* if there is a head, it is still in front */
	SIGHT_EMPTY,
	SIGHT_END,
	SIGHT_GONE, /* there were bytes that are not there now, or there may
		       have been some */
	SIGHT_ERROR, /* an error waits for a reader, and nothing else */
	SIGHT_RESET, /* the end, after an error that a reader has taken */
	SIGHT_NOTHING, /* a pipe could not be peeked at */
	SIGHTS
};

/* What is known after a look, by what was known before. */
static const enum guard after_look[][SIGHTS] = {
	/* Bytes that are gone before the first attempt are no loss. */
	[GUARD_NONE] = { [SIGHT_BYTES] = GUARD_HEAD,
	    [SIGHT_EMPTY] = GUARD_UNSEEN,
	    [SIGHT_END] = GUARD_WATCHED,
	    [SIGHT_GONE] = GUARD_WATCHED,
	    [SIGHT_ERROR] = GUARD_RESET,
	    [SIGHT_RESET] = GUARD_WATCHED,
	    [SIGHT_NOTHING] = GUARD_WATCHED },
	[GUARD_UNSEEN] = { [SIGHT_BYTES] = GUARD_HEAD,
	    [SIGHT_EMPTY] = GUARD_UNSEEN,
	    [SIGHT_END] = GUARD_WATCHED,
	    [SIGHT_GONE] = GUARD_EATEN,
	    [SIGHT_ERROR] = GUARD_RESET,
	    [SIGHT_RESET] = GUARD_RESET,
	    [SIGHT_NOTHING] = GUARD_WATCHED },
	[GUARD_HEAD] = { [SIGHT_BYTES] = GUARD_HEAD,
	    [SIGHT_EMPTY] = GUARD_EATEN,
	    [SIGHT_END] = GUARD_EATEN,
	    [SIGHT_GONE] = GUARD_EATEN,
	    [SIGHT_ERROR] = GUARD_EATEN,
	    [SIGHT_RESET] = GUARD_EATEN,
	    [SIGHT_NOTHING] = GUARD_HEAD },
};

struct read_guard
read_guard_of(bool socket)
{
	return (struct read_guard){
		.known = GUARD_NONE, .socket = socket, .watch = -1
	};
}

/* Whether a socket has a pending error. Peeking would take the error away. */
static bool
has_error(void)
{
	struct pollfd some = { .fd = STDIN_FILENO };

	return poll(&some, 1, 0) == 1 && (some.revents & POLLERR) != 0;
}

/* Whether a pending error is all that a reader of the socket would get. */
static bool
is_reset(const struct read_guard *guard, short revents)
{
	int waiting = 0;

	return guard->socket && ((revents & POLLERR) != 0 || has_error()) &&
	    ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 && waiting == 0;
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

/* Whether the head is in front of got bytes. */
static bool
has_head(const struct read_guard *guard, const char *bytes, ssize_t got)
{
	return got >= (ssize_t)guard->length_of_head &&
	    memcmp(bytes, guard->head, guard->length_of_head) == 0;
}

/*
 * What a look has found: bytes, got and error are from peek_input(). If
 * poll promised bytes that are not there now, a process has read them; but for
 * a socket poll promises the end of the stream in the same way.
 */
static enum sight
judge(const struct read_guard *guard, const char *bytes, ssize_t got, int error,
    bool promised)
{
	/* Without a free descriptor, peeking at a pipe shows nothing. */
	if (got == -1 && error != EAGAIN && !guard->socket)
		return SIGHT_NOTHING;
	if (guard->known == GUARD_HEAD && !has_head(guard, bytes, got))
		return SIGHT_GONE;
	if (got > 0)
		return SIGHT_BYTES;
	if (promised && (got == -1 || !guard->socket))
		return SIGHT_GONE;
	if (got == -1 && error == EAGAIN)
		return SIGHT_EMPTY;
	if (was_reset(guard))
		return SIGHT_RESET;
	/* Bytes may have come before the end, and been read. A watch would have
	 * reported the read. */
	return guard->watch == -1 ? SIGHT_GONE : SIGHT_END;
}

/* Peeks at the input, and keeps what it finds: a later look may see more. */
static enum sight
peek(struct read_guard *guard, bool promised)
{
	char bytes[READ_GUARD_PEEK];
	ssize_t got = peek_input(STDIN_FILENO, guard->socket, bytes);
	int error = errno, unread = 0;
	enum sight sight;

	if (got != 0 && guard->socket)
		guard->unread =
		    ioctl(STDIN_FILENO, TIOCOUTQ, &unread) == 0 && unread > 0;
	sight = judge(guard, bytes, got, error, promised);
	if (sight == SIGHT_BYTES) {
		memcpy(guard->head, bytes, (size_t)got);
		guard->length_of_head = (size_t)got;
	}
	return sight;
}

void
read_guard_look(struct read_guard *guard, short revents)
{
	enum sight sight = is_reset(guard, revents)
	    ? SIGHT_ERROR
	    : peek(guard, (revents & POLLIN) != 0);

	guard->known = after_look[guard->known][sight];
}

/*
 * inotify reports each read(2), of a pipe as of a file, but not recv(2), and
 * splice(2) only in newer kernels. And there may be no watch, because the
 * number of a user's inotify instances is limited. In these cases retry peeks
 * as well. If splice is reported, the watch alone is enough, and a peek by
 * tee(2) would be reported as a read.
 */
void
read_guard_begin(struct read_guard *guard)
{
	guard->watch = sys_move_up(open_watch(STDIN_FILENO));
	if (guard->socket || guard->watch == -1 || !watch_reports_tee())
		read_guard_look(guard, 0);
	else
		guard->known = GUARD_WATCHED;
}

bool
read_guard_waits(const struct read_guard *guard)
{
	return guard->known == GUARD_UNSEEN;
}

enum reason
read_guard_lost(struct read_guard *guard)
{
	if (was_read(guard->watch))
		guard->known = GUARD_EATEN;
	else if (guard->known == GUARD_UNSEEN || guard->known == GUARD_HEAD)
		read_guard_look(guard, 0);
	if (guard->known == GUARD_EATEN)
		return REASON_INPUT_CONSUMED;
	/* If no reader has taken the error, the next attempt gets it, too. */
	return guard->known == GUARD_RESET && !has_error() ? REASON_INPUT_RESET
							   : REASON_NONE;
}

struct scan {
	int fd; /* retry's descriptor */
	struct stat file; /* of fd */
	char info[INFO_ROOM]; /* of fd, by procfs_position() */
	int count;
	pid_t ancestors[ANCESTORS];
	pid_t pid; /* the process that is examined */
	int directory; /* of its descriptors, in /proc */
	bool suspect; /* the process may have moved the offset */
};

static void
find_ancestors(struct scan *scan)
{
	struct procfs proc;
	pid_t pid = getppid();

	scan->count = 0;
	while (pid > 0 && scan->count < ANCESTORS) {
		scan->ancestors[scan->count++] = pid;
		if (procfs_look(&proc, pid) != PROCFS_SEEN)
			return;
		pid = proc.parent;
	}
}

static bool
is_ancestor(const struct scan *scan, pid_t pid)
{
	for (int i = 0; i < scan->count; i++)
		if (scan->ancestors[i] == pid)
			return true;
	return false;
}

static bool
ignored(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 &&
	    action.sa_handler == SIG_IGN;
}

/*
 * Whether this ancestor seems to wait for retry. A shell that does not wait
 * (for "retry ... &") gives retry a process group of its own, which is not in
 * the foreground; or, without job control, makes retry ignore SIGINT and
 * SIGQUIT (POSIX, XCU 2.11).
 */
static bool
waits(pid_t ancestor)
{
	if (ignored(SIGINT) && ignored(SIGQUIT))
		return false;
	return getpgid(ancestor) == getpgrp() ||
	    procfs_foreground() == getpgrp();
}

/*
 * Whether a descriptor of another process has the same open file. If kcmp(2) is
 * forbidden, as in many containers, a descriptor of the same file at the same
 * offset counts as the same.
 */
static bool
is_ours(const struct scan *scan, pid_t pid, int fd)
{
	char info[INFO_ROOM];
	long order = syscall(SYS_kcmp, getpid(), pid, KCMP_FILE, scan->fd, fd);

	if (order != -1)
		return order == 0;
	return procfs_position(info, sizeof info, pid, fd) &&
	    strcmp(info, scan->info) == 0;
}

/* False, which ends the listing, if this descriptor makes pid a suspect. */
static bool
is_harmless(void *with, const char *name)
{
	struct scan *scan = with;
	struct stat file;
	int64_t fd;

	if (!number_whole(name, strlen(name), &fd) ||
	    fstatat(scan->directory, name, &file, 0) == -1 ||
	    file.st_dev != scan->file.st_dev ||
	    file.st_ino != scan->file.st_ino ||
	    !is_ours(scan, scan->pid, (int)fd))
		return true;
	scan->suspect = !is_ancestor(scan, scan->pid) || !waits(scan->pid);
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
	find_ancestors(&scan);
	trusted = procfs_list(all, is_trusted, &scan);
	close(all);
	return !trusted;
}
