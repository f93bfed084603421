#include "policy/target.h"

#include <string.h>

/* What a target begins with, by its kind. */
static const char schemes[][8] = {
	"tcp:", "unix:", "file:", "http:", "https:"
};

enum target_kind
target_kind(const char *word)
{
	int kind = TARGET_TCP;

	while (kind < TARGET_NONE &&
	    !strview_starts(strview_of(word), schemes[kind]))
		kind++;
	return (enum target_kind)kind;
}

/* Reads a URL of HTTP behind "http://". */
static const char *
read_page(struct strview rest, struct target *target)
{
	size_t length = 0;

	if (rest.length > TARGET_URL)
		return "a URL of more than 2000 bytes";
	for (size_t i = 0; i < rest.length; i++)
		if ((unsigned char)rest.at[i] <= ' ' || rest.at[i] == '\x7f')
			return "a blank or a control character; write %20";
	/* A fragment is for the client alone: RFC 3986, section 3.5. */
	rest = strview_part(&rest, '#');
	while (length < rest.length && strchr("/?", rest.at[length]) == NULL)
		length++;
	target->port = 80;
	target->page = strview_after(rest, length);
	target->authority = (struct strview){ rest.at, length };
	return memchr(rest.at, '@', length) == NULL ? NULL : "a user";
}

const char *
target_parse(const char *word, struct target *target)
{
	enum target_kind kind = target_kind(word);
	struct strview rest = strview_of(word), host;
	const char *why = NULL;
	bool url;

	*target = (struct target){ .text = word, .kind = kind };
	if (kind == TARGET_NONE)
		return "no target (tcp:HOST:PORT, unix:, file:, http:), and no "
		       "-- before it";
	rest = strview_after(rest, strlen(schemes[kind]));
	url = strview_starts(rest, "//");
	rest = strview_after(rest, url ? 2 : 0);
	if (kind == TARGET_UNIX || kind == TARGET_FILE) {
		target->path = rest.at;
		if (url && rest.length > 0 && *rest.at != '/')
			return "a host; a path has three slashes before it";
		if (kind == TARGET_UNIX && rest.length >= URL_PATH_ROOM)
			return "a path of more than 107 bytes";
		return rest.length <= (url ? 1 : 0) ? "no path" : NULL;
	}
	target->authority = rest;
	if (kind != TARGET_TCP)
		why = url ? read_page(rest, target)
			  : "not http://HOST[:PORT][/PATH]";
	if (why == NULL)
		why = url_parse_host(target->authority, &host, &target->port);
	if (why == NULL && target->port == 0)
		why = "no port";
	if (why == NULL)
		memcpy(target->host, host.at, host.length);
	return why;
}
