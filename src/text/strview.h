/*
 * strview: a stretch of bytes that does not end in NUL, as it stands in what
 * somebody else wrote: any byte may occur. The locale never matters.
 */
#ifndef STRVIEW_H
#define STRVIEW_H

#include <stdbool.h>
#include <stddef.h>

struct text {
	const char *at; /* may be NULL where length is 0 */
	size_t length;
};

/* The bytes of a string, without its NUL. */
struct text text_of(const char *string);

/* What is left of text without count bytes at its start. */
struct text text_after(struct text text, size_t count);

/*
 * Without the blanks at both ends: space, tab, CR and LF, since a folded
 * header field holds all four.
 */
struct text text_trim(struct text text);

/* The letter c, if it is one of A to Z, as a small one. */
char text_lower(char c);

/* Whether text is word, or starts with it, in either case of A to Z. */
bool text_is(struct text text, const char *word);
bool text_starts(struct text text, const char *word);
bool text_begins(struct text text, struct text start);

/*
 * Cuts the first piece off rest, at the next separator that is not between
 * double quotes, and puts it, trimmed, into piece. False where rest is empty.
 */
bool text_cut(struct text *rest, char separator, struct text *piece);

/*
 * Cuts the first line off rest and puts it, without its LF or CR LF, into
 * line. False where rest is empty.
 */
bool text_line(struct text *rest, struct text *line);

/* How many of the bytes that text starts with are decimal digits. */
size_t text_digits(struct text text);

/* Whether c is one of the blanks that text_trim() takes away. */
bool text_blank(char c);

#endif
