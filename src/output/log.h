/*
 * log: retry's own messages, on standard error.
 *
 * A line is one write(2), with control bytes escaped, and never blocks: bytes
 * that a slow reader does not take at once stay in a buffer until poll(2)
 * reports room. A newline stands before it if retry has passed on output there
 * that lacks one at its end.
 *
 * Under --hold-stderr no line is written before log_release. Until then a line
 * replaces the one before it, except a line that says how the invocation ended
 * or why retry itself failed. With -v only lines from the former on are held,
 * and none is dropped.
 */
#ifndef LOG_H
#define LOG_H

#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "output/nonblock.h"
#include "output/writer.h"
#include "policy/policy.h"

#define LOG_PENDING ((size_t)2 * PIPE_BUF)

struct log {
	const struct policy *policy; /* its command and label */
	const char *id;
	bool holding;
	bool late; /* lines are held only once the end is said */
	bool concluded; /* the line with a failure at the end is written */
	bool midline; /* what was last passed on has no newline at its end */
	struct nonblock nonblock; /* fd is -1 before the first line */
	char *pending; /* LOG_PENDING bytes */
	size_t length; /* bytes of pending that are still to be written */
	size_t held; /* bytes after them, of lines that are held */
	size_t kept; /* bytes of held that no later line replaces */
};

/* A field of a line for programs: only --log-format json shows it. */
struct fact {
	const char *name; /* lower case; NULL after the last */
	const char *text; /* NULL: the value is number */
	int64_t number;
};

struct line {
	enum loudness least;
	bool last; /* the line says how the invocation ended */
	bool rescued; /* by a success after failures */
	bool warning; /* not a failure of retry, although -q shows it */
	const char *const *strings;
	const struct fact *facts; /* NULL: none */
};

/* Sets the log up as the policy has it; opens nothing. id: of the invocation,
 * which must stay valid. */
void log_open(struct log *log, const struct policy *policy, const char *id);

/*
 * Writes "retry: ", the label and ": " if there is one, the strings, and a
 * newline, if retry is at least this loud: LOUDNESS_QUIET is for failures of
 * retry itself. In JSON the levels are error, warning and info. If the buffer
 * has no room for a whole line, the line is lost.
 */
void log_say(struct log *log, enum loudness least, const char *const strings[]);

/*
 * Says a warning, and what only -v shows. Each is said by the module that finds
 * its cause. What follows from an attempt is said by messages.h alone.
 */
void log_warn(struct log *log, const char *const strings[]);
void log_note(struct log *log, const char *const strings[]);

/*
 * Writes any line. The first one that says how the invocation ended becomes an
 * annotation with --log-format github.
 */
void log_tell(struct log *log, const struct line *line);

/*
 * Writes the text as it is, without a newline: for the countdown. It is not
 * held, and lost where the buffer has no room.
 */
void log_put(struct log *log, const char *text);

/* Writes or drops the lines that are held; later lines are not held. */
void log_release(struct log *log, bool drop_held);

/* For poll(2): fd is -1 if nothing waits to be written. */
struct pollfd log_pollfd(const struct log *log);

/* Writes as much of what is pending as is possible without blocking. */
void log_flush(struct log *log);

#endif
