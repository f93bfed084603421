#include "lines.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define STRING_MOST 1000

void
lines_open(struct lines *lines, enum loudness loudness)
{
	lines->loudness = loudness;
	lines->open = false;
	lines->length = 0;
}

void
lines_flush(struct lines *lines)
{
	while (lines->length > 0) {
		char *end = memchr(lines->pending, '\n', lines->length);
		size_t line = end == NULL ? lines->length
					  : (size_t)(end + 1 - lines->pending);
		ssize_t put = outlet_put(&lines->outlet, lines->pending, line);

		if (put == -1 && errno == EINTR)
			continue;
		if (put == -1 && errno == EAGAIN)
			return;
		if (put <= 0) {
			/* Nobody is there to read it: not our failure. */
			lines->length = 0;
			return;
		}
		lines->length -= (size_t)put;
		memmove(lines->pending, lines->pending + put, lines->length);
	}
}

char *
lines_escape(char *at, const char *limit, const char *text)
{
	static const char digits[] = "0123456789abcdef";

	for (; *text != '\0' && limit - at >= 4; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte >= 0x20 && byte != 0x7f) {
			*at++ = *text;
			continue;
		}
		*at++ = '\\';
		if (byte == '\n' || byte == '\t') {
			*at++ = byte == '\n' ? 'n' : 't';
			continue;
		}
		*at++ = 'x';
		*at++ = digits[byte >> 4];
		*at++ = digits[byte & 15];
	}
	return at;
}

/* A long word must not push the rest of the line out of it. */
static char *
put_string(char *at, const char *limit, const char *text)
{
	bool cut = strlen(text) > STRING_MOST;
	const char *most = limit - at > STRING_MOST ? at + STRING_MOST : limit;

	at = lines_escape(at, cut ? most : limit, text);
	return cut ? lines_escape(at, limit, "...") : at;
}

void
lines_say(struct lines *lines, enum loudness least, const char *const strings[])
{
	char *start = lines->pending + lines->length, *at = start;
	/* A line of more than PIPE_BUF bytes could be torn by another's. */
	char *limit = start + PIPE_BUF - 1;

	if (lines->loudness < least)
		return;
	if (!lines->open)
		lines->outlet = outlet_open(STDERR_FILENO);
	lines->open = true;
	if (limit > lines->pending + sizeof lines->pending - 1)
		return;
	at = lines_escape(at, limit, "retry: ");
	while (*strings != NULL)
		at = put_string(at, limit, *strings++);
	*at++ = '\n';
	lines->length += (size_t)(at - start);
	lines_flush(lines);
}

struct pollfd
lines_pollfd(const struct lines *lines)
{
	return (struct pollfd){ .fd = lines->length > 0 ? lines->outlet.fd : -1,
		.events = POLLOUT };
}
