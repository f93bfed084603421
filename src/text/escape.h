/*
 * escape: bytes of any kind as text for whoever reads it: one character after
 * the other, so that a cut never falls into the middle of one.
 */
#ifndef ESCAPE_H
#define ESCAPE_H

#include <stddef.h>

/* What escape_next puts at most. */
#define ESCAPE_ROOM 16

/* A byte that is not UTF-8 is shown as \xff, but for the first two. */
enum escape {
	ESCAPE_LINE, /* control characters only: \n, \t, \x1b */
	ESCAPE_GITHUB, /* the same, and %25 %0D %0A: workflow commands */
	ESCAPE_PLAIN, /* for people */
	ESCAPE_JSON, /* RFC 8259, section 7; between quotes */
	ESCAPE_PROM, /* Prometheus, "Exposition formats"; between quotes */
};

/*
 * Puts the first character of text, or the first byte where that begins none,
 * at *at, which moves on. Returns how many bytes of text that was, 1 or more.
 */
size_t
escape_next(enum escape style, char **at, const char *text, size_t length);

/*
 * Puts as much of text, up to limit, as can be put whole, and returns where it
 * ends.
 */
char *escape_put(enum escape style, char *at, const char *limit,
    const char *text, size_t length);

#endif
