/*
 * log: what retry itself has to say, on standard error. A line is one
 * write(2), with control bytes escaped, and never blocks: what a slow reader
 * does not take at once waits here until the one wait of retry finds room.
 *
 * Under --hold-stderr nothing is written before log_release. A line takes the
 * place of the one before it then, unless that one tells how it all ended or
 * why retry itself failed: those stay.
 */
#ifndef LOG_H
#define LOG_H

#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "output/nonblock.h"
#include "policy/policy.h"

struct log {
	enum loudness loudness;
	enum log_format format;
	bool open; /* once something was said */
	bool holding;
	bool concluded; /* the last line was said */
	struct nonblock nonblock;
	size_t length; /* of what is still to be written */
	size_t held, kept; /* what follows it; of that, what stays */
	char pending[2 * PIPE_BUF];
};

/* The strings of one line. */
#define STRINGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Something that a program may want to know of a line: only JSON has it. */
struct fact {
	const char *name; /* lower case; NULL after the last */
	const char *text; /* NULL: it is a number */
	int64_t number;
};

/* The facts of one line. */
#define FACTS(...) ((const struct fact[]){ __VA_ARGS__, { 0 } })

struct line {
	enum loudness least;
	bool last; /* the one that tells how it all ended */
	bool warning; /* though said under -q, it is not of our own failure */
	const char *const *strings;
	const struct fact *facts; /* NULL: none */
};

/* As the policy says. Opens nothing before the first line. */
void log_open(struct log *log, const struct policy *policy);

/*
 * Says "retry: ", the strings, and a newline, if retry is at least this loud:
 * QUIET is for why it failed itself. In JSON these are the levels error,
 * warning and info. Where more waits than there is room for, the line is lost.
 */
void log_say(struct log *log, enum loudness least, const char *const strings[]);

/*
 * The same for a line with more to it. The first that is the last one is what
 * --log-format github makes an annotation.
 */
void log_tell(struct log *log, const struct line *line);

/*
 * Puts the strings as they are, with no newline, behind what is pending. For
 * what is to stand on a terminal only for a while: nothing is put while lines
 * are held, nor where there is no room.
 */
void log_put(struct log *log, const char *const strings[]);

/*
 * What was held begins its way out, or is dropped, and nothing is held any
 * more.
 */
void log_release(struct log *log, bool drop_held);

/* What poll should wait for: fd -1 when nothing is pending. */
struct pollfd log_pollfd(const struct log *log);

/* Writes of what is pending as much as goes without blocking. */
void log_flush(struct log *log);

#endif
