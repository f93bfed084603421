#include "http/framing.h"

#include <string.h>
#include "http/response_head.h"
#include "text/number.h"

bool
framing_is_trailer(struct strview line)
{
	return strview_starts(line, "Trailer:");
}

void
framing_note(struct framing *framing, struct strview line)
{
	static const char length[] = "Content-Length:";
	static const char connection[] = "Connection:";
	struct strview value;

	framing->coded |= strview_starts(line, "Transfer-Encoding:");
	framing->typed |= strview_starts(line, "Content-Type:");
	framing->encoded |= strview_starts(line, "Content-Encoding:");
	framing->dated |= strview_starts(line, "Date:");
	framing->trails |= framing_is_trailer(line);
	if (strview_starts(line, connection))
		framing->lasts &= !strview_is(
		    strview_trim(strview_after(line, strlen(connection))),
		    "close");
	if (!strview_starts(line, length))
		return;
	value = strview_trim(strview_after(line, strlen(length)));
	if (!number_whole(value.at, value.length, &framing->length))
		framing->length = -1;
}

/* What the status line says about the body. */
static struct framing
read_status_line(struct strview line)
{
	static const char reason[] = " Connection ";

	return (struct framing){ .code = response_head_code(line),
		.length = -1,
		.lasts = strview_starts(line, "HTTP/1.1"),
		.established = line.length >= 12 &&
		    strview_starts(strview_after(line, 12), reason) };
}

struct framing
framing_read(struct strview *rest, struct response *response)
{
	enum response_head_place place;
	struct framing framing;
	struct strview line;

	strview_line(rest, &line);
	framing = read_status_line(line);
	place = response_head_begin(response, framing.code);
	while (rest->length > 0) {
		struct strview next = *rest;

		strview_line(&next, &line);
		framing.cut = response_head_code(line) >= 0;
		if (framing.cut)
			break;
		*rest = next;
		framing.ended = line.length == 0;
		if (framing.ended)
			break;
		response_head_unfold(&line, rest);
		framing_note(&framing, line);
		response_head_take(line, place, &response->fields);
	}
	return framing;
}

bool
framing_bodiless(int code)
{
	return code < 200 || code == 204 || code == 304;
}

bool
framing_renews(int code)
{
	return (code >= 300 && code < 400) || code == 401 || code == 407;
}

bool
framing_tells_end(const struct framing *framing, struct strview rest)
{
	return framing->length >= 0 && !framing->coded &&
	    (!framing->encoded || strview_starts(rest, "\x1f\x8b"));
}

bool
framing_complete(const struct framing *framing)
{
	return framing->dated ||
	    (framing->typed && (framing->coded || framing->length >= 0));
}
