#include "streams/streams.h"

#include <errno.h>
#include <fcntl.h>
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

/*
 * Notices writes to descriptor fd, 1 or 2, for a limit of this length; held:
 * the command will write to a file of retry instead. Relayed outputs are left
 * to the caller. False, with errno, if it cannot be noticed that the command
 * writes to fd.
 */
static bool
notice(struct activity *activity, int fd, bool held, nanos limit)
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

/*
 * Whether a file or a device was written to since the last look, or the command
 * may be waiting until a device has room, as a terminal after Ctrl-S.
 */
static bool
look(struct activity *activity)
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

/* An attempt has begun to write. out and err are the files of held outputs. */
static void
begin_looks(struct activity *activity, int out, int err)
{
	if (out != -1)
		activity->outputs[0].file = out;
	if (err != -1)
		activity->outputs[1].file = err;
	look(activity);
}

const struct capture *
streams_capture(const struct streams *streams, int fd)
{
	return fd == STDOUT_FILENO && streams->err.kind != CAPTURE_BOTH
	    ? &streams->out
	    : &streams->err;
}

bool
streams_open(struct streams *streams, const struct policy *policy)
{
	const struct watches *watches = &policy->watches;
	bool searched[STDERR_FILENO + 1] = { false };
	bool relayed[STDERR_FILENO + 1] = { false };
	bool one, both;
	struct stat out, err;

	/* streams_poll() can be called even if anything below fails. */
	capture_open(&streams->err, -1, CAPTURE_PART, 0);
	streams->relay.watches = watches;
	streams->relay.count = 0;
	streams->activity = (struct activity){
		.look = NANOS_MAX, .inotify = -1, .unknown = -1
	};
	stdin_source_open(&streams->input, policy);

	/* For --chronic one file gets both outputs where they go to the same
	 * place, so that their order stays. */
	one = (policy->chronic || policy->idle_timeout != 0) &&
	    fstat(STDOUT_FILENO, &out) == 0 &&
	    fstat(STDERR_FILENO, &err) == 0 && out.st_dev == err.st_dev &&
	    out.st_ino == err.st_ino;
	both = policy->chronic && one;
	if (!capture_open(&streams->out,
		policy->hold_out && !both ? STDOUT_FILENO : -1,
		policy->chronic ? CAPTURE_PART : CAPTURE_WHOLE,
		policy->hold_max) ||
	    !capture_open(&streams->err, policy->hold_err ? STDERR_FILENO : -1,
		both ? CAPTURE_BOTH : CAPTURE_PART, policy->hold_max))
		return false;
	streams->err.keeps = !policy->chronic;

	/* What a pattern searches is relayed, and what --idle-timeout cannot
	 * watch otherwise. */
	for (int i = 0; i < watches->count; i++)
		searched[watches->list[i].fd] = true;
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		bool held = streams_capture(streams, fd)->fd != -1;

		if (policy->idle_timeout == 0 || searched[fd])
			continue;
		if (!notice(&streams->activity, fd, held, policy->idle_timeout))
			return false;
		relayed[fd] =
		    streams->activity.outputs[fd - 1].way == ACTIVITY_RELAYED;
	}
	both = one && relayed[STDOUT_FILENO] && relayed[STDERR_FILENO];
	if (both)
		relayed[STDERR_FILENO] = false;
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if ((searched[fd] || relayed[fd]) &&
		    !relay_add(&streams->relay, fd, both))
			return false;
	return true;
}

bool
streams_begin(struct streams *streams, const char **lacking)
{
	struct capture *captures[] = { &streams->out, &streams->err };

	*lacking = "cannot make a file for output";
	for (int i = 0; i < 2; i++) {
		struct capture *capture = captures[i];

		if (capture->fd == -1)
			continue;
		if (!capture_begin(capture))
			return false;
		capture->relayed =
		    relay_redirect(&streams->relay, capture->fd, capture->file);
		if (capture->kind == CAPTURE_BOTH &&
		    relay_redirect(
			&streams->relay, STDOUT_FILENO, capture->file))
			capture->relayed = true;
	}
	*lacking = "cannot open the input again";
	if (!stdin_source_begin(&streams->input))
		return false;
	*lacking = "cannot make a pipe";
	return relay_begin(&streams->relay);
}

/*
 * A stream that is captured and relayed gets the pipe: attached last, it stays.
 * The relay then writes to the file.
 */
bool
streams_attach(const struct streams *streams)
{
	return capture_attach(&streams->out) && capture_attach(&streams->err) &&
	    relay_attach(&streams->relay) &&
	    stdin_source_attach(&streams->input);
}

void
streams_forked(struct streams *streams)
{
	capture_forked(&streams->out);
	capture_forked(&streams->err);
	relay_forked(&streams->relay);
	begin_looks(&streams->activity,
	    streams_capture(streams, STDOUT_FILENO)->file, streams->err.file);
	stdin_source_forked(&streams->input);
}

void
streams_release(struct streams *streams, struct capture *capture)
{
	int error = relay_error(&streams->relay, capture->fd);

	if (error == 0 && capture->kind == CAPTURE_BOTH)
		error = relay_error(&streams->relay, STDOUT_FILENO);
	capture_release(capture, error);
}

bool
streams_overrun(const struct streams *streams)
{
	return capture_overrun(&streams->out) || capture_overrun(&streams->err);
}

bool
streams_ended(struct streams *streams)
{
	bool out = capture_ended(&streams->out);

	return capture_ended(&streams->err) || out;
}

nanos
streams_nap(const struct streams *streams)
{
	nanos held = number_lesser(
	    capture_nap(&streams->out), capture_nap(&streams->err));

	return number_lesser(held, streams->activity.look);
}

bool
streams_active(struct streams *streams)
{
	return relay_active(&streams->relay) || look(&streams->activity);
}

/* Input, the two captures, then those of the relay. */
size_t
streams_poll(const struct streams *streams, struct pollfd *fds)
{
	fds[0] = stdin_source_pollfd(&streams->input);
	fds[1] = capture_pollfd(&streams->out);
	fds[2] = capture_pollfd(&streams->err);
	return 3 + relay_poll(&streams->relay, fds + 3);
}

void
streams_serve(struct streams *streams, const struct pollfd *fds)
{
	stdin_source_serve(&streams->input, fds[0].revents);
	capture_serve(&streams->out, fds[1].revents);
	capture_serve(&streams->err, fds[2].revents);
	relay_serve(&streams->relay, fds + 3);
}

enum reason
streams_lost(struct streams *streams)
{
	return relay_failed(&streams->relay)
	    ? REASON_INTERNAL
	    : stdin_source_lost(&streams->input);
}
