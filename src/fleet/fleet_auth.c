#include "fleet/fleet_auth.h"

#include <string.h>

/* Copies text into room as a string. False if it does not fit. */
static bool
store(struct strview text, char *room, size_t size)
{
	if (text.length >= size)
		return false;
	if (text.length > 0)
		memcpy(room, text.at, text.length);
	room[text.length] = '\0';
	return true;
}

/* The text without the end of its line. */
static struct strview
chop(struct strview text)
{
	if (text.length > 0 && text.at[text.length - 1] == '\n') {
		text.length--;
		if (text.length > 0 && text.at[text.length - 1] == '\r')
			text.length--;
	}
	return text;
}

const char *
fleet_auth_parse(struct strview text, const char *user, struct fleet_auth *auth)
{
	struct strview line = chop(text), name = strview_of(user);
	const char *colon;

	*auth = (struct fleet_auth){ 0 };
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
	if (!store(name, auth->user, sizeof auth->user) ||
	    !store(line, auth->password, sizeof auth->password))
		return "too long";
	if (user[0] != '\0' && strcmp(user, auth->user) != 0)
		return "another user than in the URL";
	return NULL;
}
