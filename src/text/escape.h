/*
 * escape: makes arbitrary bytes safe to show, in each format that retry writes.
 *
 * Text is taken character by character, so that it is never cut in the middle
 * of a character or of an escape.
 */
#ifndef ESCAPE_H
#define ESCAPE_H

#include <stddef.h>

/* The most bytes that escape_next() writes. */
#define ESCAPE_ROOM 16

/* A byte that is not UTF-8 is written as \xff, except by the first four. */
enum escape {
	ESCAPE_LINE, /* only control characters change: \n, \t, \x1b */
	ESCAPE_GITHUB_LINE, /* as a line, and "##[" becomes "\x23#[" */
	ESCAPE_GITHUB, /* as a line, with %25 %0D %0A: workflow commands */
	ESCAPE_GITHUB_TITLE, /* their parameters: with %3A %2C, too */
	ESCAPE_PLAIN, /* for people */
	ESCAPE_JSON, /* RFC 8259, section 7; between quotes */
	ESCAPE_PROM, /* Prometheus, "Exposition formats"; between quotes */
};

/*
 * The bytes of text to show if at most so many may be shown: fewer, if a
 * character of UTF-8 would be cut. Where text goes on there is the beginning of
 * a character, too.
 */
size_t escape_cut(const char *text, size_t length, size_t most);

/*
 * Writes the first character of text, or its first byte if that is not UTF-8,
 * at *at, and moves *at behind what it wrote. Returns how many bytes of text
 * have been read, at least 1.
 */
size_t
escape_next(enum escape style, char **at, const char *text, size_t length);

/*
 * Writes as many whole characters of text as fit before limit, and returns the
 * end of what it wrote.
 */
char *escape_put(enum escape style, char *at, const char *limit,
    const char *text, size_t length);

#endif
