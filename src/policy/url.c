#include "policy/url.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "text/number.h"
#include "text/strview.h"

static const char has_password[] =
    "a URL with a password, which others can see; use --fleet-auth";
static const char no_database[] = "not a number of a database";

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

/* Copies text with %XX as bytes into room, as a string. False if it does not
 * fit, has a NUL, or a % without two hexadecimal digits. */
static bool
decode(struct strview text, char *room, size_t size)
{
	size_t length;

	if (!strview_unescape(text, room, size - 1, &length))
		return false;
	room[length] = '\0';
	return strlen(room) == length;
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

	if (text.length == 0 || text.length >= URL_HOST_ROOM ||
	    text.at[0] == '-')
		return false;
	if (memchr(text.at, ':', text.length) != NULL)
		others = ":.%_-"; /* an address, perhaps with an interface */
	for (size_t i = 0; i < text.length; i++) {
		unsigned char c = (unsigned char)text.at[i];

		if (!isalnum(c) && memchr(others, c, strlen(others)) == NULL)
			return false;
	}
	return true;
}

/* Reads "[USER@]HOST[:PORT][/DB]"; the host may be "[ADDRESS]" of IPv6. */
static const char *
parse_remote(struct strview rest, struct url *url)
{
	const char *at = memrchr(rest.at, '@', rest.length), *end;
	struct strview user = rest, host, port;
	bool brackets;

	if (at != NULL) {
		user.length = (size_t)(at - rest.at);
		rest = strview_after(rest, user.length + 1);
		if (memchr(user.at, ':', user.length) != NULL)
			return has_password;
		if (user.length == 0 ||
		    !decode(user, url->user, sizeof url->user))
			return "no valid user before the @";
	}
	if (memchr(rest.at, '?', rest.length) != NULL)
		return "a parameter, which only unix:// has";

	/* port begins with the colon before it; or it is empty. */
	host = strview_part(&rest, '/');
	brackets = host.length > 0 && host.at[0] == '[';
	end = memchr(host.at, brackets ? ']' : ':', host.length);
	if (brackets && end == NULL)
		return "no ] after an IPv6 address";
	port = strview_after(host,
	    end == NULL ? host.length : (size_t)(end - host.at) + brackets);
	host.length -= port.length;
	if (brackets)
		host = (struct strview){ host.at + 1, host.length - 2 };
	else if (memrchr(port.at, ':', port.length) != end)
		return "an IPv6 address without brackets";
	if (port.length > 0 && port.at[0] != ':')
		return "no : between ] and the port";
	if (!decode(host, url->host, sizeof url->host) ||
	    !url_is_host(strview_of(url->host)) ||
	    brackets != (strchr(url->host, ':') != NULL))
		return "no valid host";
	url->port = URL_PORT;
	if (port.length > 0 &&
	    (!read_number_to(
		 strview_after(port, 1), URL_PORT_MOST, &url->port) ||
		url->port == 0))
		return "not a port from 1 to 65535";
	if (rest.length > 0 && !read_number_to(rest, INT32_MAX, &url->db))
		return no_database;
	return NULL;
}

const char *
url_parse(const char *text, struct url *url)
{
	struct strview rest = strview_of(text), path;
	const struct scheme *scheme = scheme_of(rest);
	bool parameter;

	*url = (struct url){ 0 };
	if (scheme == NULL)
		return "not a URL of redis://, rediss://, valkey://, "
		       "valkeys:// or unix://";
	if (rest.length >= URL_ROOM)
		return "longer than 1023 bytes";
	for (size_t i = 0; i < rest.length; i++) {
		char c = rest.at[i];

		if (c <= ' ' || c > '~' || strchr("\"#<>\\^`{|}", c) != NULL)
			return "a byte that a URL has only as %XX";
	}
	url->tls = scheme->tls;
	rest = strview_after(rest, strlen(scheme->start));
	if (!scheme->local)
		return parse_remote(rest, url);

	parameter = memchr(rest.at, '?', rest.length) != NULL;
	path = strview_part(&rest, '?');
	if (path.length < 2 || path.at[0] != '/')
		return memchr(path.at, ':', path.length) != NULL &&
			memchr(path.at, '@', path.length) != NULL
		    ? has_password
		    : "no absolute path after unix://";
	if (!decode(path, url->path, sizeof url->path))
		return "a path of more than 107 bytes, or a wrong %XX";
	if (!parameter)
		return NULL;
	if (!strview_starts(rest, "db="))
		return "a parameter other than db=N";
	rest = strview_after(rest, strlen("db="));
	return read_number_to(rest, INT32_MAX, &url->db) ? NULL : no_database;
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
	if (line.length > 0 && line.at[line.length - 1] == '\n') {
		line.length--;
		if (line.length > 0 && line.at[line.length - 1] == '\r')
			line.length--;
	}
	if (line.length == 0)
		return "empty";
	if (memchr(line.at, '\n', line.length) != NULL ||
	    memchr(line.at, '\0', line.length) != NULL)
		return "more than one line of text";
	colon = memchr(line.at, ':', line.length);
	if (colon != NULL) {
		name = (struct strview){ line.at, (size_t)(colon - line.at) };
		line = strview_after(line, name.length + 1);
		if (name.length == 0)
			return "no user before the colon";
		if (line.length == 0)
			return "no password after the colon";
	}
	if (name.length >= sizeof auth->user ||
	    line.length >= sizeof auth->password)
		return "too long";
	memcpy(auth->user, name.at, name.length);
	memcpy(auth->password, line.at, line.length);
	if (user[0] != '\0' && strcmp(user, auth->user) != 0)
		return "another user than in the URL";
	return NULL;
}
