/*
 * strview: a part of a text, as a pointer and a length.
 *
 * The part does not end in NUL, and may contain any byte.
 */
#ifndef STRVIEW_H
#define STRVIEW_H

#include <stdbool.h>
#include <stddef.h>

struct strview {
	const char *at; /* may be NULL if length is 0 */
	size_t length;
};

/* The bytes of a string, without its NUL. */
struct strview strview_of(const char *string);

/* The text without its first count bytes. */
struct strview strview_after(struct strview text, size_t count);

/* The text without those of these bytes with which it starts. */
struct strview strview_skip(struct strview text, const char *bytes);

/* A folded header field may contain all four. */
#define STRVIEW_BLANKS " \t\r\n"

/* Whether c is a blank; and the text without the blanks at both ends. */
bool strview_blank(char c);
struct strview strview_trim(struct strview text);

/* Whether text is word, or starts with word or start; the case of A to Z is
 * ignored. word and start contain no NUL. */
bool strview_is(struct strview text, const char *word);
bool strview_starts(struct strview text, const char *word);
bool strview_begins(struct strview text, struct strview start);

/*
 * Cuts off the part of rest up to the next separator that is not between double
 * quotes, and the separator; *piece is that part, trimmed. False if rest is
 * empty.
 */
bool strview_cut(struct strview *rest, char separator, struct strview *piece);

/* Cuts off the part of rest up to the first separator, and the separator; all
 * of rest if it has none. */
struct strview strview_part(struct strview *rest, char separator);

/*
 * Cuts off the first line of rest; *line is that line without its LF or CR LF.
 * False if rest is empty.
 */
bool strview_line(struct strview *rest, struct strview *line);

/* How many decimal digits text starts with. */
size_t strview_digits(struct strview text);

/* The value of a hexadecimal digit in upper or lower case, or -1. */
int strview_hex(char c);

/*
 * Copies text with %XX as bytes into room, and no NUL behind it; *length is how
 * many bytes that are. False if it does not fit into size bytes, or has a %
 * without two digits.
 */
bool
strview_unescape(struct strview text, char *room, size_t size, size_t *length);

#endif
