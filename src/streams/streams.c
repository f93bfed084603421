#include "streams/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "sys/procfs.h"
#include "text/number.h"
#include "text/strview.h"

/* The looks within one limit, and the bounds of the time between two looks. */
#define LOOKS 8
#define LOOK_LEAST (20 * NANOS_MS)
#define LOOK_MOST NANOS_SECOND

/*
 * All processes of the machine write to the same /dev/null, so it is relayed. A
 * pipe would join the messages of a socket that is not a stream.
 */
static enum activity
activity_of(int fd)
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

struct capture *
streams_capture(struct streams *streams, int fd)
{
	return fd == STDOUT_FILENO && streams->err.kind != CAPTURE_BOTH
	    ? &streams->out
	    : &streams->err;
}

/*
 * Finds out how to notice writes to descriptor fd, 1 or 2, for a limit of this
 * length. False, with errno, if it cannot be noticed that the command writes.
 */
static bool
notice(struct streams *streams, int fd, nanos limit)
{
	/* A held output goes to a file of retry. */
	bool held = streams_capture(streams, fd)->fd != -1, watched;
	struct output *output = &streams->outputs[fd - STDOUT_FILENO];

	output->activity = held ? ACTIVITY_FILE : activity_of(fd);
	if (output->activity == ACTIVITY_FILE ||
	    output->activity == ACTIVITY_DEVICE)
		streams->look = number_greater(
		    number_lesser(limit / LOOKS, LOOK_MOST), LOOK_LEAST);
	errno = EOPNOTSUPP;
	watched = output->activity != ACTIVITY_UNKNOWN;
	if (output->activity == ACTIVITY_DEVICE) {
		output->inotify = procfs_watch(fd, IN_MODIFY);
		watched = output->inotify != -1;
	}
	if (!watched)
		streams->unwatched = fd;
	return watched;
}

/*
 * Whether a file or a device was written to since the last look, or the command
 * may be waiting until a device has room, as a terminal after Ctrl-S.
 */
static bool
look(struct streams *streams)
{
	bool active = false;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		struct output *output = &streams->outputs[fd - STDOUT_FILENO];
		struct pollfd room = { .fd = fd, .events = POLLOUT };
		struct stat before = output->before, *now = &output->before;
		int file = streams_capture(streams, fd)->file;

		if (output->activity == ACTIVITY_FILE &&
		    fstat(file == -1 ? fd : file, now) == 0 &&
		    (now->st_size != before.st_size ||
			now->st_mtim.tv_sec != before.st_mtim.tv_sec ||
			now->st_mtim.tv_nsec != before.st_mtim.tv_nsec))
			active = true;
		if (output->activity == ACTIVITY_DEVICE &&
		    (procfs_noticed(output->inotify) || poll(&room, 1, 0) == 0))
			active = true;
	}
	return active;
}

/*
 * The next descriptor that a word of the command names, as <(...) of a shell
 * does: "/dev/fd/63", "@/dev/fd/63;type=text/csv", "-f/proc/self/fd/12". Moves
 * *at behind it; -1 if there is none. A word with blanks may be a script, whose
 * numbers are its own: there only what is behind @ or = counts.
 */
static int
next_named(const char *word, const char **at)
{
	static const char dev[] = "/dev/fd/", proc[] = "/proc/self/fd/";
	bool script = strpbrk(word, STRVIEW_BLANKS) != NULL;

	for (; **at != '\0'; ++*at) {
		size_t length = strncmp(*at, dev, sizeof dev - 1) == 0
		    ? sizeof dev - 1
		    : strncmp(*at, proc, sizeof proc - 1) == 0 ? sizeof proc - 1
							       : 0;
		size_t digits;
		int64_t number;

		if (length == 0 ||
		    (script &&
			(*at == word || strchr("@=", (*at)[-1]) == NULL)))
			continue;
		digits = strview_digits(strview_of(*at + length));
		if (number_whole(*at + length, digits, &number) &&
		    number <= INT_MAX) {
			*at += length + digits;
			return (int)number;
		}
	}
	return -1;
}

/* The number of the first input that is the same pipe, or has this descriptor;
 * input_count if there is none. */
static size_t
find_input(const struct streams *streams, int fd, const struct stat *pipe)
{
	size_t i = 0;

	for (; i < streams->input_count; i++) {
		const struct input *input = &streams->inputs[i];
		struct stat stat;

		if (input->fd == fd ||
		    (fstat(input->fd, &stat) == 0 && S_ISFIFO(stat.st_mode) &&
			stat.st_dev == pipe->st_dev &&
			stat.st_ino == pipe->st_ino))
			break;
	}
	return i;
}

/*
 * Opens the inputs: standard input, and each pipe that a word of the command
 * names and that is open only for reading. A file that is named is opened anew
 * by each attempt, and a socket cannot be opened by its name.
 */
static void
open_inputs(struct streams *streams, const struct policy *policy)
{
	static struct input list[STREAMS_INPUTS];

	streams->inputs = list;
	input_open(list, STDIN_FILENO, policy);
	streams->input_count = 1;
	for (char **word = policy->command; *word != NULL; word++) {
		const char *at = *word;
		int fd;

		while ((fd = next_named(*word, &at)) != -1) {
			struct input *input = &list[streams->input_count];
			struct stat stat;
			size_t same;

			/* What is close-on-exec is retry's own. */
			if (fd <= STDERR_FILENO || fcntl(fd, F_GETFD) != 0 ||
			    (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY ||
			    fstat(fd, &stat) == -1 || !S_ISFIFO(stat.st_mode))
				continue;
			same = find_input(streams, fd, &stat);
			if (same < streams->input_count && list[same].fd == fd)
				continue;
			streams->crowded =
			    streams->input_count == STREAMS_INPUTS;
			if (streams->crowded)
				return;
			if (same == streams->input_count)
				input_open(input, fd, policy);
			else
				input_share(input, fd, &list[same]);
			streams->input_count++;
		}
	}
}

bool
streams_reads(const struct streams *streams)
{
	for (size_t i = 0; i < streams->input_count; i++)
		if (streams->inputs[i].from != -1)
			return streams_refused(streams) == NULL;
	return false;
}

const struct input *
streams_refused(const struct streams *streams)
{
	for (size_t i = 0; i < streams->input_count; i++)
		if (streams->inputs[i].error != 0)
			return &streams->inputs[i];
	return NULL;
}

bool
streams_open(
    struct streams *streams, const struct policy *policy, bool *midline)
{
	const struct watches *watches = &policy->watches;
	struct output *outputs = streams->outputs;
	bool one_place, one_file, one_pipe;
	struct stat out, err;

	/* streams_poll() can be called even if anything below fails. */
	capture_open(&streams->err, -1, CAPTURE_PART, 0);
	streams->relay.watches = watches;
	streams->relay.count = 0;
	streams->look = NANOS_MAX;
	streams->unwatched = -1;
	open_inputs(streams, policy);

	/* Where both outputs go to the same place, they go through one file or
	 * one pipe, so that their order stays. */
	one_place = (policy->hold_out || policy->idle_timeout != 0 ||
			watches->count > 0) &&
	    fstat(STDOUT_FILENO, &out) == 0 &&
	    fstat(STDERR_FILENO, &err) == 0 && out.st_dev == err.st_dev &&
	    out.st_ino == err.st_ino;
	one_file = policy->chronic && one_place;
	if (!capture_open(&streams->out,
		policy->hold_out && !one_file ? STDOUT_FILENO : -1,
		policy->chronic ? CAPTURE_PART : CAPTURE_WHOLE,
		policy->hold_max) ||
	    !capture_open(&streams->err, policy->hold_err ? STDERR_FILENO : -1,
		one_file ? CAPTURE_BOTH : CAPTURE_PART, policy->hold_max))
		return false;
	streams->err.keeps = !policy->chronic;
	streams->err.midline = midline;
	streams->out.midline = one_place ? midline : NULL;

	/* What a pattern searches is relayed, and what --idle-timeout cannot
	 * watch otherwise. */
	for (int i = 0; i < watches->count; i++)
		outputs[watches->list[i].fd - STDOUT_FILENO].activity =
		    ACTIVITY_RELAYED;
	one_pipe = one_place;
	for (int i = 0; i < 2; i++) {
		if (outputs[i].activity == ACTIVITY_RELAYED)
			one_pipe = false; /* each has patterns of its own */
		else if (policy->idle_timeout != 0 &&
		    !notice(streams, STDOUT_FILENO + i, policy->idle_timeout))
			return false;
	}
	one_pipe = one_pipe && outputs[0].activity == ACTIVITY_RELAYED &&
	    outputs[1].activity == ACTIVITY_RELAYED;
	for (int i = 0; i < (one_pipe ? 1 : 2); i++)
		if (outputs[i].activity == ACTIVITY_RELAYED &&
		    !relay_add(&streams->relay, STDOUT_FILENO + i, one_pipe,
			i == 1 || one_place ? midline : NULL))
			return false;
	return true;
}

bool
streams_begin(struct streams *streams, const char **lacking)
{
	*lacking = "cannot make a file for output";
	if (!capture_begin(&streams->out) || !capture_begin(&streams->err))
		return false;
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		struct capture *capture = streams_capture(streams, fd);

		if (capture->fd != -1 &&
		    relay_redirect(&streams->relay, fd, capture->file))
			capture->relayed = true;
	}
	*lacking = "cannot open the input again";
	for (size_t i = 0; i < streams->input_count; i++)
		if (!input_begin(&streams->inputs[i]))
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
	for (size_t i = 0; i < streams->input_count; i++)
		if (!input_attach(&streams->inputs[i]))
			return false;
	return capture_attach(&streams->out) && capture_attach(&streams->err) &&
	    relay_attach(&streams->relay);
}

void
streams_forked(struct streams *streams)
{
	capture_forked(&streams->out);
	capture_forked(&streams->err);
	relay_forked(&streams->relay);
	look(streams);
	for (size_t i = 0; i < streams->input_count; i++)
		input_forked(&streams->inputs[i]);
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

	return number_lesser(held, streams->look);
}

bool
streams_active(struct streams *streams)
{
	return relay_active(&streams->relay) || look(streams);
}

/* The inputs, the two captures, then those of the relay. */
size_t
streams_poll(const struct streams *streams, struct pollfd *fds)
{
	size_t used = 0;

	while (used < streams->input_count) {
		fds[used] = input_pollfd(&streams->inputs[used]);
		used++;
	}
	fds[used++] = capture_pollfd(&streams->out);
	fds[used++] = capture_pollfd(&streams->err);
	return used + relay_poll(&streams->relay, fds + used);
}

void
streams_serve(struct streams *streams, const struct pollfd *fds)
{
	for (size_t i = 0; i < streams->input_count; i++)
		input_serve(&streams->inputs[i], (fds++)->revents);
	capture_serve(&streams->out, (fds++)->revents);
	capture_serve(&streams->err, (fds++)->revents);
	relay_serve(&streams->relay, fds);
}

enum reason
streams_lost(struct streams *streams)
{
	if (relay_failed(&streams->relay))
		return REASON_INTERNAL;
	for (size_t i = 0; i < streams->input_count; i++)
		if (input_lost(&streams->inputs[i])) {
			streams->lost = &streams->inputs[i];
			return REASON_INPUT_CONSUMED;
		}
	streams->lost = NULL;
	return streams->crowded ? REASON_INPUT_CONSUMED : REASON_NONE;
}
