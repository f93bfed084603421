#include "fleet/fleet_error.h"

#include <string.h>
#include "fleet/fleet_url.h"
#include "text/number.h"

#define PORT_MOST 65535

/* Cuts a word off the start of text; false if text starts with another. */
static bool
cut_word(struct strview *text, const char *word)
{
	size_t length = strlen(word);

	if (text->length < length || memcmp(text->at, word, length) != 0)
		return false;
	*text = strview_after(*text, length);
	return true;
}

static const char *
find(struct strview text, const char *words)
{
	return memmem(text.at, text.length, words, strlen(words));
}

/*
 * Reads "SLOT HOST:PORT". A host may be an IPv6 address without brackets, and
 * empty or "?" if the server does not know its own.
 */
static bool
read_redirect(struct strview text, struct fleet_redirect *to)
{
	const char *space, *colon;
	struct strview port;
	int64_t number;

	space = memchr(text.at, ' ', text.length);
	if (space == NULL)
		return false;
	text = strview_after(text, (size_t)(space - text.at) + 1);
	colon = memrchr(text.at, ':', text.length);
	if (colon == NULL)
		return false;
	to->host = (struct strview){ text.at, (size_t)(colon - text.at) };
	port = strview_after(text, to->host.length + 1);
	if (strview_is(to->host, "?"))
		to->host.length = 0;
	if ((to->host.length > 0 && !fleet_url_is_host(to->host)) ||
	    !number_whole(port.at, port.length, &number) || number == 0 ||
	    number > PORT_MOST)
		return false;
	to->port = (int)number;
	return true;
}

enum fleet_error
fleet_error_of(struct strview text, struct fleet_redirect *to)
{
	struct strview moved = text, ask = text;

	if (cut_word(&text, "NOSCRIPT "))
		return FLEET_ERROR_NOSCRIPT;
	if (cut_word(&moved, "MOVED ") && read_redirect(moved, to))
		return FLEET_ERROR_MOVED;
	if (cut_word(&ask, "ASK ") && read_redirect(ask, to))
		return FLEET_ERROR_ASK;
	/* TIME is the only command of the script to which this may happen. */
	if (find(text, "not allowed from script") != NULL ||
	    find(text, "non deterministic commands") != NULL)
		return FLEET_ERROR_TIME;
	return FLEET_ERROR_REFUSED;
}

struct strview
fleet_error_words(struct strview text)
{
	static const char before[] = ": -";
	const char *inner = NULL, *script = find(text, " script: ");
	struct strview rest = text;

	/* Redis and Valkey refuse a long request before they read its command,
	 * and so without NOAUTH: "unauthenticated multibulk length". */
	if (find(text, "unauthenticated multibulk") != NULL ||
	    find(text, "unauthenticated bulk") != NULL)
		return strview_of("NOAUTH Authentication required");
	if (cut_word(&rest, "ERR Error running script"))
		inner = find(rest, before);
	if (inner != NULL)
		text = strview_after(
		    text, (size_t)(inner - text.at) + strlen(before));
	else if (script != NULL)
		text.length = (size_t)(script - text.at);
	if (text.length > 0 && text.at[text.length - 1] == '.')
		text.length--;
	return text;
}
