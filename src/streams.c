#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "context.h"
#include "pattern.h"

/* As much as a pipe holds: more would only be read later. */
#define ROOM 65536

/* How often one call fills the buffer anew: signals must not wait for long. */
#define TURNS 16

static bool
watched(const struct watches *watches, int fd)
{
	for (int i = 0; i < watches->count; i++)
		if (watches->list[i].fd == fd)
			return true;
	return false;
}

bool
streams_open(struct streams *streams, struct watches *watches)
{
	streams->watches = watches;
	streams->count = 0;
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		struct stream *stream = &streams->list[streams->count];

		/* What is closed stays closed, and has nothing to match. */
		if (!watched(watches, fd) || fcntl(fd, F_GETFD) == -1)
			continue;
		*stream = (struct stream){ .fd = fd,
			.outlet = outlet_open(fd),
			.source = -1,
			.sink = -1,
			.bytes = malloc(ROOM) };
		if (stream->bytes == NULL)
			return false;
		streams->count++;
	}
	return true;
}

static bool
make_pipe(struct stream *stream)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) == -1)
		return false;
	stream->source = context_move_up(ends[0]);
	stream->sink = context_move_up(ends[1]);
	/* This end's description is ours alone: the command's stays as it is.
	 */
	return fcntl(stream->source, F_SETFL, O_NONBLOCK) != -1;
}

bool
streams_begin(struct streams *streams)
{
	for (int i = 0; i < streams->watches->count; i++) {
		streams->watches->list[i].seen = false;
		pattern_start(streams->watches->list[i].pattern);
	}
	for (size_t i = 0; i < streams->count; i++)
		if (!make_pipe(&streams->list[i]))
			return false;
	return true;
}

void
streams_attach(const struct streams *streams)
{
	for (size_t i = 0; i < streams->count; i++)
		dup2(streams->list[i].sink, streams->list[i].fd);
}

void
streams_forked(struct streams *streams)
{
	for (size_t i = 0; i < streams->count; i++) {
		if (streams->list[i].sink != -1)
			close(streams->list[i].sink);
		streams->list[i].sink = -1;
		streams->list[i].owed = 0;
	}
}

/* Old sources first, then that of the attempt, then the outlet. */
size_t
streams_poll(const struct streams *streams, struct pollfd *fds)
{
	size_t used = 0;

	for (size_t i = 0; i < streams->count; i++) {
		const struct stream *stream = &streams->list[i];
		short wanted = stream->length == 0 ? POLLIN : 0;

		for (size_t j = 0; j < stream->olds; j++)
			fds[used++] =
			    (struct pollfd){ .fd = wanted != 0 ? stream->old[j]
							       : -1,
				    .events = wanted };
		fds[used++] =
		    (struct pollfd){ .fd = wanted != 0 ? stream->source : -1,
			    .events = wanted };
		fds[used++] =
		    (struct pollfd){ .fd = wanted != 0 ? -1 : stream->outlet.fd,
			    .events = POLLOUT };
	}
	return used;
}

static void
match(const struct streams *streams, const struct stream *stream, size_t length)
{
	for (int i = 0; i < streams->watches->count; i++) {
		struct watch *watch = &streams->watches->list[i];

		if (watch->fd == stream->fd && !watch->seen)
			watch->seen =
			    pattern_feed(watch->pattern, stream->bytes, length);
	}
}

/*
 * Writes what can be. Where the reader has gone the command must learn it as
 * it would without us, from a signal or an error of its own write: false. What
 * cannot be written for any other reason is lost, and told in the end.
 */
static bool
drain(struct stream *stream)
{
	while (stream->length > 0) {
		ssize_t put = outlet_put(&stream->outlet,
		    stream->bytes + stream->start, stream->length);

		if (put == -1 && errno == EINTR)
			continue;
		if (put == -1 && errno == EAGAIN)
			return true;
		if (put == -1 && stream->error == 0)
			stream->error = errno;
		if (put == -1) {
			stream->length = 0;
			return errno != EPIPE;
		}
		stream->start += (size_t)put;
		stream->length -= (size_t)put;
	}
	return true;
}

/* Fills the empty buffer. False when nothing will come any more. */
static bool
fill(struct stream *stream, int source)
{
	ssize_t got = read(source, stream->bytes, ROOM);

	stream->start = 0;
	stream->length = got > 0 ? (size_t)got : 0;
	return got > 0 || (got == -1 && (errno == EAGAIN || errno == EINTR));
}

static void
end_source(struct stream *stream)
{
	close(stream->source);
	stream->source = -1;
	stream->owed = 0;
}

/*
 * Relays from the attempt for as long as it goes without a wait. What is read
 * goes on first and is matched then: it is still in the buffer.
 */
static void
relay(struct streams *streams, struct stream *stream)
{
	for (int turn = 0; turn < TURNS && stream->length == 0; turn++) {
		bool open = fill(stream, stream->source);
		size_t got = stream->length;

		if (open && got == 0)
			return;
		stream->owed -= got < stream->owed ? got : stream->owed;
		if (!open || !drain(stream))
			end_source(stream);
		match(streams, stream, got);
		/* Less than there was room for: the pipe is empty. */
		if (stream->source == -1 || got < ROOM)
			return;
	}
}

/* The same from an earlier attempt, unmatched. False when it is over. */
static bool
relay_old(struct stream *stream, int source)
{
	if (stream->length > 0)
		return true;
	if (fill(stream, source) && drain(stream))
		return true;
	close(source);
	return false;
}

static void
serve_old(struct stream *stream, const struct pollfd *fds)
{
	size_t kept = 0;

	for (size_t i = 0; i < stream->olds; i++)
		if (fds[i].revents == 0 || relay_old(stream, stream->old[i]))
			stream->old[kept++] = stream->old[i];
	stream->olds = kept;
}

void
streams_serve(struct streams *streams, const struct pollfd *fds)
{
	for (size_t i = 0; i < streams->count; i++) {
		struct stream *stream = &streams->list[i];
		size_t olds = stream->olds;

		if (fds[olds + 1].revents != 0 && !drain(stream) &&
		    stream->source != -1)
			end_source(stream);
		if (fds[olds].revents != 0)
			relay(streams, stream);
		serve_old(stream, fds);
		fds += olds + 2;
	}
}

void
streams_ended(struct streams *streams)
{
	for (size_t i = 0; i < streams->count; i++) {
		struct stream *stream = &streams->list[i];
		int waiting = 0;

		if (stream->source != -1 &&
		    ioctl(stream->source, FIONREAD, &waiting) == 0)
			stream->owed = (size_t)waiting;
	}
}

enum streams_rest
streams_rest(const struct streams *streams)
{
	enum streams_rest rest = STREAMS_OVER;

	for (size_t i = 0; i < streams->count; i++) {
		const struct stream *stream = &streams->list[i];

		if (stream->owed > 0 || stream->length > 0)
			return STREAMS_OWED;
		if (stream->source != -1)
			rest = STREAMS_STRAGGLING;
	}
	return rest;
}

static void
retire(struct stream *stream)
{
	if (stream->source == -1)
		return;
	if (stream->olds == STREAMS_OLD) {
		close(stream->old[0]);
		stream->olds--;
		memmove(stream->old, stream->old + 1,
		    stream->olds * sizeof *stream->old);
	}
	stream->old[stream->olds++] = stream->source;
	stream->source = -1;
}

uint64_t
streams_finish(struct streams *streams)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < streams->count; i++)
		retire(&streams->list[i]);
	for (int i = 0; i < streams->watches->count; i++) {
		struct watch *watch = &streams->watches->list[i];

		if (watch->seen || pattern_end(watch->pattern))
			seen |= UINT64_C(1) << i;
	}
	return seen;
}

int
streams_error(const struct streams *streams)
{
	for (size_t i = 0; i < streams->count; i++)
		if (streams->list[i].fd == STDOUT_FILENO &&
		    streams->list[i].error != EPIPE)
			return streams->list[i].error;
	return 0;
}
