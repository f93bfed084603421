#include "policy/target.h"

#include <stdio.h>
#include <string.h>
#include "policy/url.h"

/* The most bytes of a word that a hint shows. */
#define SHOWN "%.200s"

/* The longest path of a file (limits.h), its NUL not counted. */
#define PATH_LONGEST 4095

/* What a target begins with, by its kind. */
static const char schemes[][8] = {
	[TARGET_TCP] = "tcp:",
	[TARGET_UNIX] = "unix:",
	[TARGET_FILE] = "file:",
	[TARGET_HTTP] = "http:",
	[TARGET_HTTPS] = "https:",
};

#define SCHEMES (sizeof schemes / sizeof *schemes)

/* The kind of a target that begins so; SCHEMES: none does. */
static size_t
kind_of(const char *word)
{
	size_t kind = 0;

	while (
	    kind < SCHEMES && !strview_starts(strview_of(word), schemes[kind]))
		kind++;
	return kind;
}

bool
target_named(const char *word)
{
	return kind_of(word) < SCHEMES;
}

const char *
target_meant(const char *word, char room[TARGET_HINT])
{
	struct strview host;
	int port = 0;

	if (url_parse_host(strview_of(word), &host, &port) != NULL || port == 0)
		return NULL;
	snprintf(room, TARGET_HINT, "tcp:" SHOWN, word);
	return room;
}

/* Reads a path behind "unix:" or "file:". NULL, or why it is refused. */
static const char *
read_path(struct strview rest, bool url, struct target *target)
{
	size_t most =
	    target->kind == TARGET_UNIX ? URL_PATH_ROOM - 1 : PATH_LONGEST;

	if (url && rest.length > 0 && rest.at[0] != '/')
		return "a host; a path begins with a third slash";
	if (rest.length == 0 || (url && rest.length == 1))
		return "no path";
	if (rest.length > most)
		return target->kind == TARGET_UNIX
		    ? "a path of more than 107 bytes"
		    : "a path of more than 4095 bytes";
	target->path = rest;
	return NULL;
}

/* Reads a URL of HTTP behind "http://". NULL, or why it is refused. A fragment
 * is for the client alone: RFC 3986, section 3.5. */
static const char *
read_page(struct strview rest, struct target *target)
{
	size_t length = 0;

	if (rest.length > TARGET_URL)
		return "a URL of more than 2000 bytes";
	rest = strview_part(&rest, '#');
	for (size_t i = 0; i < rest.length; i++)
		if ((unsigned char)rest.at[i] <= ' ' || rest.at[i] == '\x7f')
			return "a blank or a control character; write it as "
			       "%20";
	while (length < rest.length && rest.at[length] != '/' &&
	    rest.at[length] != '?')
		length++;
	target->path = strview_after(rest, length);
	if (memchr(rest.at, '@', length) != NULL)
		return "a user; a page is asked without one";
	target->port = 80;
	rest.length = length;
	return url_parse_host(rest, &target->host, &target->port);
}

/* Reads what is behind the scheme. NULL, or why it is refused. */
static const char *
read_rest(struct strview rest, struct target *target)
{
	bool url = strview_starts(rest, "//");
	struct strview host;
	const char *why;

	rest = strview_after(rest, url ? 2 : 0);
	if (target->kind == TARGET_UNIX || target->kind == TARGET_FILE)
		return read_path(rest, url, target);
	if (target->kind != TARGET_TCP)
		return url ? read_page(rest, target)
			   : "not http://HOST[:PORT][/PATH]";
	host = strview_part(&rest, '/');
	why = url_parse_host(host, &target->host, &target->port);
	if (why == NULL && target->port == 0)
		why = "no port";
	return why == NULL && rest.length > 0 ? "a path behind the port" : why;
}

bool
target_parse(const char *word, struct target *target, char hint[TARGET_HINT])
{
	size_t kind = kind_of(word);
	const char *shown = word, *why = "no target", *meant = NULL;
	char room[TARGET_HINT];

	*target =
	    (struct target){ .text = word, .kind = (enum target_kind)kind };
	if (kind < SCHEMES)
		why = read_rest(
		    strview_after(strview_of(word), strlen(schemes[kind])),
		    target);
	else
		meant = target_meant(word, room);
	if (why == NULL && kind != TARGET_HTTPS)
		return true;
	/* A URL may have a password before it. */
	if (strchr(word, '@') != NULL)
		shown = "***";
	if (why == NULL)
		snprintf(hint, TARGET_HINT,
		    "no TLS here; use curl: retry -w 60 -- curl -fsS -o "
		    "/dev/null '" SHOWN "'",
		    shown);
	else if (meant != NULL)
		snprintf(hint, TARGET_HINT, "'" SHOWN "': %s; did you mean %s?",
		    shown, why, meant);
	else
		snprintf(hint, TARGET_HINT, "'" SHOWN "': %s%s", shown, why,
		    kind < SCHEMES ? "" : "; put -- before a command");
	return false;
}
