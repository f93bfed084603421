#include "streams/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "sys/sys.h"
#include "sys/zoneinfo.h"
#include "match/pattern.h"
#include "text/number.h"

/* What a pipe holds: one read rarely gets more. */
#define ROOM 65536

/* The most reads in one call, and how long it may match before it reads again:
 * meanwhile no signal is handled. */
#define TURNS 16
#define LONGEST (10 * NANOS_MS)

bool
relay_add(struct relay *relay, int fd, bool both, bool *midline)
{
	static struct stream list[2];
	struct stream *stream = &list[relay->count];

	relay->list = list;
	/* A descriptor that is closed stays closed. */
	if (fcntl(fd, F_GETFD) == -1)
		return true;
	*stream = (struct stream){
		.fd = fd,
		.both = both,
		.output = nonblock_open(fd),
		.sink = -1,
	};
	stream->output.midline = midline;
	stream->bytes = malloc(ROOM + RELAY_TAIL);
	if (stream->bytes == NULL)
		return false;
	relay->count++;
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

/* The stream that has the output to fd, 1 or 2; NULL if it is not relayed. */
static struct stream *
of(const struct relay *relay, int fd)
{
	for (size_t i = 0; i < relay->count; i++)
		if (relay->list[i].fd == fd ||
		    (relay->list[i].both && fd == STDERR_FILENO))
			return &relay->list[i];
	return NULL;
}

bool
relay_redirect(struct relay *relay, int fd, int file)
{
	struct stream *stream = of(relay, fd);

	if (stream == NULL)
		return false;
	stream->output = (struct nonblock){ NONBLOCK_PLAIN, file, NULL };
	stream->captured = true;
	/* An earlier attempt's output is not wanted any more. */
	stream->error = 0;
	stream->length = 0;
	for (size_t i = 0; i < stream->count; i++)
		stream->sources[i].owed = 0;
	return true;
}

bool
relay_begin(struct relay *relay)
{
	int ends[2];

	relay->moved = false;
	for (int i = 0; i < relay->watches->count; i++) {
		const struct watch *watch = &relay->watches->list[i];

		if (watch->hint != NULL)
			pattern_hint_start(watch->hint);
		else if (watch->number == 0)
			pattern_start(watch->pattern);
	}
	for (size_t i = 0; i < relay->count; i++) {
		struct stream *stream = &relay->list[i];

		stream->kept = 0;
		if (stream->count == RELAY_SOURCES)
			end_source(stream, 0);
		if (pipe2(ends, O_CLOEXEC) == -1)
			return false;
		ends[0] = sys_move_up(ends[0]);
		stream->sink = sys_move_up(ends[1]);
		stream->sources[stream->count++] =
		    (struct source){ .fd = ends[0], .matched = true };
		/* The two ends of a pipe have flags of their own: the command's
		 * end still blocks. */
		if (fcntl(ends[0], F_SETFL, O_NONBLOCK) == -1)
			return false;
	}
	return true;
}

bool
relay_attach(const struct relay *relay)
{
	for (size_t i = 0; i < relay->count; i++) {
		const struct stream *stream = &relay->list[i];

		if (sys_attach(stream->sink, stream->fd) == -1 ||
		    (stream->both &&
			sys_attach(stream->sink, STDERR_FILENO) == -1))
			return false;
	}
	return true;
}

void
relay_forked(struct relay *relay)
{
	for (size_t i = 0; i < relay->count; i++) {
		if (relay->list[i].sink != -1)
			close(relay->list[i].sink);
		relay->list[i].sink = -1;
	}
}

/*
 * Whether a source may be read now: nothing waits to be written or matched, and
 * no earlier source still has what its attempt wrote before it ended.
 */
static bool
may_read(const struct stream *stream, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (stream->sources[i].owed > 0)
			return false;
	return stream->length == 0 && stream->unmatched == 0;
}

size_t
relay_poll(const struct relay *relay, struct pollfd *fds)
{
	size_t used = 0;

	for (size_t i = 0; i < relay->count; i++) {
		const struct stream *stream = &relay->list[i];

		for (size_t j = 0; j < stream->count; j++)
			fds[used++] = (struct pollfd){ .fd = may_read(stream, j)
				    ? stream->sources[j].fd
				    : -1,
				.events = POLLIN };
		fds[used++] = (struct pollfd){
			.fd = stream->length == 0 ? -1 : stream->output.fd,
			.events = POLLOUT
		};
	}
	return used;
}

/*
 * Matches what was read, one watch after the other, until it is done or time is
 * up. Watches that share a pattern feed it once, as its text number 0.
 */
static void
match(const struct relay *relay, struct stream *stream)
{
	for (; stream->watch < relay->watches->count; stream->watch++) {
		const struct watch *watch =
		    &relay->watches->list[stream->watch];

		if (watch->fd != stream->fd)
			continue;
		while (stream->fed < stream->unmatched) {
			size_t length = stream->unmatched - stream->fed;
			const char *bytes =
			    stream->bytes + stream->kept - length;

			if (watch->hint != NULL)
				stream->fed += pattern_hint_feed(
				    watch->hint, bytes, length);
			else if (watch->number == 0)
				stream->fed += pattern_feed_some(
				    watch->pattern, bytes, length);
			else
				break;
			if (sys_now(CLOCK_MONOTONIC) >= relay->until)
				return;
		}
		stream->fed = 0;
	}
	stream->unmatched = 0;
}

/*
 * Writes as much as the output takes. False if its reader is gone, or if
 * standard output cannot be written at all: the caller then closes the pipe, so
 * that the command gets SIGPIPE or EPIPE and does not continue as if its output
 * had arrived. Bytes that standard error does not take are lost, because
 * without retry, too, a command continues when it cannot write messages.
 * relay_error() returns the error in the end.
 */
static bool
drain(struct stream *stream)
{
	while (stream->length > 0) {
		ssize_t put = nonblock_put(&stream->output,
		    stream->bytes + stream->start, stream->length);

		if (put == -1 && errno == EINTR)
			continue;
		if (put == -1 && errno == EAGAIN)
			return true;
		if (put == -1) {
			bool ends = errno == EPIPE ||
			    (stream->fd == STDOUT_FILENO && !stream->captured);

			if (stream->error == 0)
				stream->error = errno;
			stream->length = 0;
			return !ends;
		}
		stream->start += (size_t)put;
		stream->length -= (size_t)put;
	}
	return true;
}

/*
 * Relays from a source until a read would block. Bytes are written before they
 * are matched, so that matching does not delay them; they stay in the buffer
 * until they are matched. False at the end of the source, or if drain() fails.
 */
static bool
relay_chunk(struct relay *relay, struct stream *stream, struct source *source)
{
	bool open = true;
	int turn = 0;

	while (open && turn++ < TURNS && stream->length == 0 &&
	    stream->unmatched == 0) {
		int64_t kept = (int64_t)stream->kept;
		size_t past = (size_t)number_greater(kept - RELAY_TAIL, 0);
		size_t length;
		ssize_t got;

		stream->kept -= past;
		memmove(stream->bytes, stream->bytes + past, stream->kept);
		got = read(source->fd, stream->bytes + stream->kept, ROOM);
		length = (size_t)got;
		if (got <= 0)
			return got == -1 && (errno == EAGAIN || errno == EINTR);
		relay->moved |= source->matched;
		source->owed -= length < source->owed ? length : source->owed;
		stream->start = stream->kept;
		if (!stream->captured || source->matched) {
			stream->length = length;
			open = drain(stream);
		}
		if (source->matched) {
			stream->kept += length;
			stream->unmatched = length;
			stream->watch = 0;
			match(relay, stream);
		}
		/* A short read: the pipe is empty. */
		if (length < ROOM)
			break;
	}
	return open;
}

/* fds has the sources of each stream, and behind them its output. */
void
relay_serve(struct relay *relay, const struct pollfd *fds)
{
	if (relay->count > 0)
		relay->until = sys_now(CLOCK_MONOTONIC) + LONGEST;
	for (size_t i = 0; i < relay->count; i++) {
		struct stream *stream = &relay->list[i];
		const struct pollfd *end = fds + stream->count;

		if (stream->unmatched > 0)
			match(relay, stream);
		if (end->revents != 0) {
			relay->moved = true;
			if (!drain(stream))
				while (stream->count > 0)
					end_source(stream, stream->count - 1);
		}
		for (size_t index = 0; index < stream->count; fds++) {
			struct source *source = &stream->sources[index];

			/* Bytes that are owed are in the pipe already, even if
			 * poll did not watch it. */
			if ((fds->revents != 0 || source->owed > 0) &&
			    may_read(stream, index) &&
			    !relay_chunk(relay, stream, source))
				end_source(stream, index);
			else
				index++;
		}
		fds = end + 1;
	}
}

bool
relay_matches(const struct relay *relay)
{
	for (size_t i = 0; i < relay->count; i++)
		if (relay->list[i].unmatched > 0)
			return true;
	return false;
}

bool
relay_active(struct relay *relay)
{
	bool active = relay->moved || relay_matches(relay);

	relay->moved = false;
	for (size_t i = 0; i < relay->count; i++)
		if (relay->list[i].length > 0)
			active = true;
	return active;
}

/* The pipe of the running attempt, or NULL. */
static struct source *
latest(struct stream *stream)
{
	struct source *end = stream->sources + stream->count;

	return stream->count > 0 && end[-1].matched ? end - 1 : NULL;
}

void
relay_ended(struct relay *relay)
{
	for (size_t i = 0; i < relay->count; i++) {
		struct source *source = latest(&relay->list[i]);
		int waiting = 0;

		if (source != NULL &&
		    ioctl(source->fd, FIONREAD, &waiting) == 0)
			source->owed = (size_t)waiting;
	}
}

enum relay_rest
relay_rest(struct relay *relay)
{
	enum relay_rest rest = RELAY_OVER;

	for (size_t i = 0; i < relay->count; i++) {
		struct stream *stream = &relay->list[i];
		const struct source *source = latest(stream);

		if (stream->length > 0 || stream->unmatched > 0 ||
		    (source != NULL && source->owed > 0))
			return RELAY_OWED;
		if (source != NULL)
			rest = RELAY_STRAGGLING;
	}
	return rest;
}

/* Notes the wait behind the last match of a hint, or that there is none. */
static void
note_hint(const struct watch *watch, struct outcome *outcome)
{
	nanos now = sys_now(CLOCK_REALTIME), wait = 0;
	enum pattern_told told;
	struct clock clock;

	told = pattern_hint_end(watch->hint, now, &wait, &clock);
	if (told == PATTERN_NOTHING)
		return;
	if (told == PATTERN_WAIT ||
	    (told == PATTERN_CLOCK && zoneinfo_until(&clock, now, &wait))) {
		outcome->has_hint = true;
		outcome->hint = number_greater(outcome->hint, wait);
	} else if (outcome->vague == NULL) {
		outcome->vague = watch;
	}
}

void
relay_finish(struct relay *relay, struct outcome *outcome)
{
	for (size_t i = 0; i < relay->count; i++) {
		struct source *source = latest(&relay->list[i]);

		relay->list[i].unmatched = 0;
		if (source != NULL)
			source->matched = false;
	}
	for (int i = 0; i < relay->watches->count; i++) {
		const struct watch *watch = &relay->watches->list[i];

		if (watch->hint != NULL) {
			note_hint(watch, outcome);
		} else {
			if (watch->number == 0)
				pattern_end(watch->pattern);
			if (pattern_seen(watch->pattern, watch->number))
				outcome->seen |= UINT64_C(1) << i;
		}
	}
	if (outcome->has_hint)
		outcome->vague = NULL;
}

size_t
relay_tail(const struct relay *relay, int fd, const char **text)
{
	const struct stream *stream = of(relay, fd);
	int64_t kept;

	if (stream == NULL)
		return 0;
	kept = number_lesser((int64_t)stream->kept, RELAY_TAIL);
	*text = stream->bytes + stream->kept - kept;
	return (size_t)kept;
}

int
relay_error(const struct relay *relay, int fd)
{
	const struct stream *stream = of(relay, fd);

	if (stream == NULL || stream->error == EPIPE)
		return 0;
	if (stream->error == 0 && !may_read(stream, stream->count))
		return ETIMEDOUT; /* something is still to be written */
	return stream->error;
}

bool
relay_failed(const struct relay *relay)
{
	for (size_t i = 0; i < relay->count; i++) {
		const struct stream *stream = &relay->list[i];

		if (!stream->captured && stream->error != 0 &&
		    stream->error != EPIPE)
			return true;
	}
	return false;
}
