#include "quote.h"

#include <stdbool.h>
#include <string.h>

/* The length of the character in UTF-8 that starts at text; 0: it is none. */
static size_t
character(const char *text, size_t length)
{
	const unsigned char *at = (const unsigned char *)text;
	unsigned char least = 0x80, most = 0xbf;
	size_t size = at[0] < 0x80 ? 1
	    : at[0] < 0xc2         ? 0
	    : at[0] < 0xe0         ? 2
	    : at[0] < 0xf0         ? 3
	    : at[0] < 0xf5         ? 4
				   : 0;

	if (size > length)
		return 0;
	/* Neither longer than need be, nor a surrogate, nor past the end. */
	if (at[0] == 0xe0)
		least = 0xa0;
	else if (at[0] == 0xf0)
		least = 0x90;
	else if (at[0] == 0xed)
		most = 0x9f;
	else if (at[0] == 0xf4)
		most = 0x8f;
	for (size_t i = 1; i < size; i++) {
		if (at[i] < least || at[i] > most)
			return 0;
		least = 0x80;
		most = 0xbf;
	}
	return size;
}

/* Whether a terminal could act on the character instead of showing it. */
static bool
control(const char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)text;

	return (size == 1 && (at[0] < 0x20 || at[0] == 0x7f)) ||
	    (size == 2 && at[0] == 0xc2 && at[1] < 0xa0);
}

static void
put_code(struct page *page, const char *before, char byte)
{
	static const char digits[] = "0123456789abcdef";
	const char code[] = { digits[(unsigned char)byte >> 4],
		digits[(unsigned char)byte & 15], '\0' };

	page_put(page, before);
	page_put(page, code);
}

/* Within quotes a backslash has to be told from one that begins an escape. */
static void
put_byte(struct page *page, enum quote style, char byte)
{
	put_code(page, style == QUOTE_PLAIN ? "\\x" : "\\\\x", byte);
}

static void
put_control(struct page *page, enum quote style, const char *text, size_t size)
{
	if (style == QUOTE_JSON) {
		/* The last byte is the number, of one byte as of two. */
		put_code(page, "\\u00", text[size - 1]);
	} else if (*text == '\n') {
		page_put(page, "\\n");
	} else if (*text == '\t' && style == QUOTE_PLAIN) {
		page_put(page, "\\t");
	} else {
		for (size_t i = 0; i < size; i++)
			put_byte(page, style, text[i]);
	}
}

/* Puts what text begins with, and returns how many bytes that were. */
static size_t
put_first(struct page *page, enum quote style, const char *text, size_t length)
{
	size_t size = character(text, length);

	if (size == 0) {
		put_byte(page, style, *text);
		return 1;
	}
	if (control(text, size)) {
		put_control(page, style, text, size);
		return size;
	}
	if (style != QUOTE_PLAIN && (*text == '"' || *text == '\\'))
		page_put(page, "\\");
	page_put_bytes(page, text, size);
	return size;
}

void
quote_put(struct page *page, enum quote style, const char *text, size_t length)
{
	if (style != QUOTE_PLAIN)
		page_put(page, "\"");
	while (length > 0) {
		size_t size = put_first(page, style, text, length);

		text += size;
		length -= size;
	}
	if (style != QUOTE_PLAIN)
		page_put(page, "\"");
}

void
quote_string(struct page *page, enum quote style, const char *string)
{
	quote_put(page, style, string, strlen(string));
}
