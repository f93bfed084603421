/*
 * strview: a stretch of bytes that does not end in NUL, as it stands in what
 * somebody else wrote: any byte may occur. The locale never matters.
 */
#ifndef STRVIEW_H
#define STRVIEW_H

#include <stdbool.h>
#include <stddef.h>

struct strview {
	const char *at; /* may be NULL where length is 0 */
	size_t length;
};

/* The bytes of a string, without its NUL. */
struct strview strview_of(const char *string);

/* What is left of text without count bytes at its start. */
struct strview strview_after(struct strview text, size_t count);

/*
 * Without the blanks at both ends: space, tab, CR and LF, since a folded
 * header field holds all four.
 */
struct strview strview_trim(struct strview text);

/* The letter c, if it is one of A to Z, as a small one. */
char strview_lower(char c);

/* Whether text is word, or starts with it, in either case of A to Z. */
bool strview_is(struct strview text, const char *word);
bool strview_starts(struct strview text, const char *word);
bool strview_begins(struct strview text, struct strview start);

/*
 * Cuts the first piece off rest, at the next separator that is not between
 * double quotes, and puts it, trimmed, into piece. False where rest is empty.
 */
bool strview_cut(struct strview *rest, char separator, struct strview *piece);

/*
 * Cuts the first line off rest and puts it, without its LF or CR LF, into
 * line. False where rest is empty.
 */
bool strview_line(struct strview *rest, struct strview *line);

/* How many of the bytes that text starts with are decimal digits. */
size_t strview_digits(struct strview text);

/* Whether c is one of the blanks that strview_trim() takes away. */
bool strview_blank(char c);

#endif
