/*
 * lines: what retry itself has to say, on standard error. A line is one
 * write(2), with control bytes escaped, and never blocks: what a slow reader
 * does not take at once waits here until the one wait of retry finds room.
 */
#ifndef LINES_H
#define LINES_H

#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include "outlet.h"
#include "policy.h"

struct lines {
	enum loudness loudness;
	bool open; /* once something was said */
	struct outlet outlet;
	size_t length; /* of what is still to be written */
	char pending[2 * PIPE_BUF];
};

/* The strings of one line, for lines_say. */
#define STRINGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Says nothing below this loudness. Opens nothing before the first line. */
void lines_open(struct lines *lines, enum loudness loudness);

/*
 * Says "retry: ", the strings, and a newline, if retry is at least this loud.
 * Where more waits than there is room for, the line is lost.
 */
void lines_say(
    struct lines *lines, enum loudness least, const char *const strings[]);

/* What poll should wait for: fd -1 when nothing is pending. */
struct pollfd lines_pollfd(const struct lines *lines);

/* Writes of what is pending as much as goes without blocking. */
void lines_flush(struct lines *lines);

/*
 * Copies text to at, control bytes escaped (\n, \t, \x1b), up to limit, and
 * returns where it ends.
 */
char *lines_escape(char *at, const char *limit, const char *text);

#endif
