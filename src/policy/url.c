#include "policy/url.h"

#include <ctype.h>
#include <string.h>
#include "text/number.h"
#include "text/strview.h"

/* RFC 1035, section 2.3.4. */
#define LABEL_MOST 63

static const struct scheme {
	char start[12];
	bool tls, local;
} schemes[] = {
	{ "redis://", false, false },
	{ "rediss://", true, false },
	{ "valkey://", false, false },
	{ "valkeys://", true, false },
	{ "unix://", false, true },
};

static const struct scheme *
scheme_of(struct strview text)
{
	for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
		if (strview_starts(text, schemes[i].start))
			return &schemes[i];
	}
	return NULL;
}

/* Copies text into room, which is all zero. False if it does not fit. */
static bool
copy(struct strview text, char *room, size_t size)
{
	if (text.length >= size)
		return false;
	memcpy(room, text.at, text.length);
	return true;
}

/* Reads a number of 0 to most. */
static bool
read_number_to(struct strview text, int64_t most, int *value)
{
	int64_t number;

	if (!number_whole(text.at, text.length, &number) || number > most)
		return false;
	*value = (int)number;
	return true;
}

bool
url_is_host(struct strview text)
{
	const char *others = "._-";
	size_t label = 0;

	if (text.length == 0 || text.length >= URL_HOST_ROOM ||
	    text.at[0] == '-')
		return false;
	if (memchr(text.at, ':', text.length) != NULL)
		others = ":.%_-"; /* an address, perhaps with an interface */
	for (size_t i = 0; i < text.length; i++) {
		unsigned char c = (unsigned char)text.at[i];

		label = c == '.' ? 0 : label + 1;
		if (label > LABEL_MOST ||
		    (c == '.' && (i == 0 || text.at[i - 1] == '.')))
			return false;
		if (!isalnum(c) && memchr(others, c, strlen(others)) == NULL)
			return false;
	}
	return true;
}

const char *
url_parse_host(struct strview text, struct strview *host, int *port)
{
	bool brackets = text.length > 0 && text.at[0] == '[';
	const char *colon =
	    text.length > 0 ? memrchr(text.at, ':', text.length) : NULL;

	/* The last colon of an address is before its bracket. */
	if (colon != NULL && (!brackets || colon[-1] == ']')) {
		size_t length = (size_t)(colon - text.at);

		if (!read_number_to(
			strview_after(text, length + 1), URL_PORT_MOST, port) ||
		    *port == 0)
			return "not a port from 1 to 65535";
		text.length = length;
	}
	if (brackets && text.at[text.length - 1] == ']')
		text = (struct strview){ text.at + 1, text.length - 2 };
	if (!url_is_host(text) ||
	    brackets != (memchr(text.at, ':', text.length) != NULL))
		return "no valid host; an IPv6 address has brackets";
	*host = text;
	return NULL;
}

/* Reads "[USER@]HOST[:PORT][/DB]"; the host may be "[ADDRESS]" of IPv6. */
static const char *
parse_remote(struct strview rest, struct url *url)
{
	const char *at = memrchr(rest.at, '@', rest.length), *why;
	struct strview user = rest, host;

	if (at != NULL) {
		user.length = (size_t)(at - rest.at);
		if (memchr(user.at, ':', user.length) != NULL)
			return "a URL with a password, which others can see; "
			       "use --fleet-auth";
		if (user.length == 0 ||
		    !copy(user, url->user, sizeof url->user))
			return "no valid user before the @";
		rest = strview_after(rest, user.length + 1);
	}
	url->port = URL_PORT;
	why = url_parse_host(strview_part(&rest, '/'), &host, &url->port);
	if (why != NULL)
		return why;
	copy(host, url->host, sizeof url->host);
	if (rest.length > 0 && !read_number_to(rest, INT32_MAX, &url->db))
		return "not a number of a database";
	return NULL;
}

const char *
url_parse(const char *text, struct url *url)
{
	struct strview rest = strview_of(text), path;
	const struct scheme *scheme = scheme_of(rest);

	*url = (struct url){ 0 };
	if (scheme == NULL)
		return "not a URL of redis://, rediss://, valkey://, "
		       "valkeys:// or unix://";
	for (size_t i = 0; i < rest.length; i++)
		if (iscntrl((unsigned char)rest.at[i]))
			return "a control character";
	url->tls = scheme->tls;
	rest = strview_after(rest, strlen(scheme->start));
	if (!scheme->local)
		return parse_remote(rest, url);

	path = strview_part(&rest, '?');
	if (path.length < 2 || path.at[0] != '/')
		return "no absolute path after unix://";
	if (!copy(path, url->path, sizeof url->path))
		return "a path of more than 107 bytes";
	if (rest.length > 0 &&
	    (!strview_starts(rest, "db=") ||
		!read_number_to(
		    strview_after(rest, strlen("db=")), INT32_MAX, &url->db)))
		return "a parameter other than db=N";
	return NULL;
}

const char *
url_show(const char *text, char room[URL_ROOM])
{
	static const char hidden[] = "***";
	const struct scheme *scheme = scheme_of(strview_of(text));
	size_t length = scheme == NULL ? 0 : strlen(scheme->start);
	struct url url;

	if (url_parse(text, &url) == NULL || strpbrk(text, "@?") == NULL)
		return text;
	memcpy(room, text, length);
	memcpy(room + length, hidden, sizeof hidden);
	return room;
}

const char *
url_parse_auth(struct strview text, const char *user, struct url_auth *auth)
{
	struct strview line = text, name = strview_of(user);
	const char *colon;

	*auth = (struct url_auth){ 0 };
	if (line.length > 0 && line.at[line.length - 1] == '\n')
		line.length--;
	if (line.length == 0)
		return "empty";
	if (memchr(line.at, '\n', line.length) != NULL ||
	    memchr(line.at, '\0', line.length) != NULL)
		return "more than one line of text";
	colon = memchr(line.at, ':', line.length);
	if (colon != NULL) {
		name = (struct strview){ line.at, (size_t)(colon - line.at) };
		line = strview_after(line, name.length + 1);
		if (name.length == 0 || line.length == 0)
			return "not USER:PASSWORD";
	}
	if (!copy(name, auth->user, sizeof auth->user) ||
	    !copy(line, auth->password, sizeof auth->password))
		return "too long";
	if (user[0] != '\0' && strcmp(user, auth->user) != 0)
		return "another user than in the URL";
	return NULL;
}
