#include "streams/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "sys/sys.h"
#include "match/pattern.h"

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
			.sink = -1,
			.bytes = malloc(ROOM) };
		if (stream->bytes == NULL)
			return false;
		streams->count++;
	}
	return true;
}

static void
end_source(struct stream *stream, size_t index)
{
	close(stream->sources[index].fd);
	stream->count--;
	memmove(&stream->sources[index], &stream->sources[index + 1],
	    (stream->count - index) * sizeof *stream->sources);
}

static bool
make_pipe(struct stream *stream)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) == -1)
		return false;
	/* Somebody has to make room, and the oldest is the likeliest to have
	 * said all that it had to. */
	if (stream->count == STREAMS_SOURCES)
		end_source(stream, 0);
	ends[0] = context_move_up(ends[0]);
	stream->sink = context_move_up(ends[1]);
	stream->sources[stream->count++] =
	    (struct source){ .fd = ends[0], .matched = true };
	/* This end's description is ours alone: the command's stays as it is.
	 */
	return fcntl(ends[0], F_SETFL, O_NONBLOCK) != -1;
}

void
streams_hold(struct streams *streams, int fd, int spool)
{
	for (size_t i = 0; i < streams->count; i++) {
		struct stream *stream = &streams->list[i];

		if (stream->fd != fd)
			continue;
		stream->outlet = (struct outlet){ OUTLET_PLAIN, spool };
		stream->held = true;
		/* Of what an earlier spool had no room for nothing is lost. */
		stream->error = 0;
		stream->length = 0;
		for (size_t j = 0; j < stream->count; j++)
			stream->sources[j].owed = 0;
	}
}

bool
streams_begin(struct streams *streams)
{
	for (int i = 0; i < streams->watches->count; i++)
		if (streams->watches->list[i].number == 0)
			pattern_start(streams->watches->list[i].pattern);
	for (size_t i = 0; i < streams->count; i++)
		if (!make_pipe(&streams->list[i]))
			return false;
	return true;
}

bool
streams_attach(const struct streams *streams)
{
	for (size_t i = 0; i < streams->count; i++)
		if (dup2(streams->list[i].sink, streams->list[i].fd) == -1)
			return false;
	return true;
}

void
streams_forked(struct streams *streams)
{
	for (size_t i = 0; i < streams->count; i++) {
		if (streams->list[i].sink != -1)
			close(streams->list[i].sink);
		streams->list[i].sink = -1;
	}
}

/*
 * Whether a source may be read now. While an earlier one has something that
 * its attempt has written, the later ones wait for their turn.
 */
static bool
has_turn(const struct stream *stream, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (stream->sources[i].owed > 0)
			return false;
	return stream->length == 0;
}

/* The sources, then the outlet. */
size_t
streams_poll(const struct streams *streams, struct pollfd *fds)
{
	size_t used = 0;

	for (size_t i = 0; i < streams->count; i++) {
		const struct stream *stream = &streams->list[i];

		for (size_t j = 0; j < stream->count; j++)
			fds[used++] = (struct pollfd){ .fd = has_turn(stream, j)
				    ? stream->sources[j].fd
				    : -1,
				.events = POLLIN };
		fds[used++] = (struct pollfd){
			.fd = stream->length == 0 ? -1 : stream->outlet.fd,
			.events = POLLOUT
		};
	}
	return used;
}

/* Several watches may have one pattern. */
static void
match(const struct streams *streams, const struct stream *stream, size_t length)
{
	for (int i = 0; i < streams->watches->count; i++) {
		const struct watch *watch = &streams->watches->list[i];

		if (watch->fd == stream->fd && watch->number == 0)
			pattern_feed(watch->pattern, stream->bytes, length);
	}
}

/*
 * Writes what can be. Where the reader has gone the command must learn it as
 * it would without us, from a signal or an error of its own write: false. What
 * cannot be written for any other reason is lost; streams_error tells, in the
 * end.
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

/*
 * Relays from a source for as long as it goes without a wait. What is read
 * goes on first and is matched then: it is still in the buffer. False when the
 * source is at its end, or nobody reads what it has.
 */
static bool
relay(struct streams *streams, struct stream *stream, struct source *source)
{
	for (int turn = 0; turn < TURNS && stream->length == 0; turn++) {
		bool open = fill(stream, source->fd);
		size_t got = stream->length;

		source->owed -= got < source->owed ? got : source->owed;
		if (stream->held && !source->matched)
			stream->length = 0;
		open = open && drain(stream);
		if (source->matched)
			match(streams, stream, got);
		if (!open)
			return false;
		/* Less than there was room for: the pipe is empty. */
		if (got < ROOM)
			return true;
	}
	return true;
}

/* Serves one stream, with what poll said of its sources and its outlet. */
static void
serve(struct streams *streams, struct stream *stream, const struct pollfd *fds)
{
	size_t polled = stream->count, index = 0;

	if (fds[polled].revents != 0 && !drain(stream)) {
		while (stream->count > 0)
			end_source(stream, stream->count - 1);
		return;
	}
	for (size_t i = 0; i < polled; i++) {
		if (fds[i].revents != 0 && has_turn(stream, index) &&
		    !relay(streams, stream, &stream->sources[index]))
			end_source(stream, index);
		else
			index++;
	}
}

void
streams_serve(struct streams *streams, const struct pollfd *fds)
{
	for (size_t i = 0; i < streams->count; i++) {
		size_t polled = streams->list[i].count + 1;

		serve(streams, &streams->list[i], fds);
		fds += polled;
	}
}

/* The source of the attempt that is being judged, or NULL. */
static struct source *
latest(struct stream *stream)
{
	struct source *last;

	if (stream->count == 0)
		return NULL;
	last = &stream->sources[stream->count - 1];
	return last->matched ? last : NULL;
}

void
streams_ended(struct streams *streams)
{
	for (size_t i = 0; i < streams->count; i++) {
		struct source *source = latest(&streams->list[i]);
		int waiting = 0;

		if (source != NULL &&
		    ioctl(source->fd, FIONREAD, &waiting) == 0)
			source->owed = (size_t)waiting;
	}
}

enum streams_rest
streams_rest(struct streams *streams)
{
	enum streams_rest rest = STREAMS_OVER;

	for (size_t i = 0; i < streams->count; i++) {
		struct stream *stream = &streams->list[i];
		const struct source *source = latest(stream);

		if (stream->length > 0 || (source != NULL && source->owed > 0))
			return STREAMS_OWED;
		if (source != NULL)
			rest = STREAMS_STRAGGLING;
	}
	return rest;
}

uint64_t
streams_finish(struct streams *streams)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < streams->count; i++) {
		struct source *source = latest(&streams->list[i]);

		if (source != NULL)
			source->matched = false;
	}
	for (int i = 0; i < streams->watches->count; i++) {
		const struct watch *watch = &streams->watches->list[i];

		if (watch->number == 0)
			pattern_end(watch->pattern);
		if (pattern_seen(watch->pattern, watch->number))
			seen |= UINT64_C(1) << i;
	}
	return seen;
}

static bool
owes(const struct stream *stream)
{
	for (size_t i = 0; i < stream->count; i++)
		if (stream->sources[i].owed > 0)
			return true;
	return stream->length > 0;
}

static const struct stream *
of(const struct streams *streams, int fd)
{
	for (size_t i = 0; i < streams->count; i++)
		if (streams->list[i].fd == fd)
			return &streams->list[i];
	return NULL;
}

bool
streams_relay(const struct streams *streams, int fd)
{
	return of(streams, fd) != NULL;
}

int
streams_error(const struct streams *streams, int fd)
{
	const struct stream *stream = of(streams, fd);

	if (stream == NULL || stream->error == EPIPE)
		return 0;
	return stream->error == 0 && owes(stream) ? ETIMEDOUT : stream->error;
}
