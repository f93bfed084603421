/*
 * fleet_auth: the name and the password for a fleet's server.
 */
#ifndef FLEET_AUTH_H
#define FLEET_AUTH_H

#include "fleet/fleet_url.h"

/* Room for a password and the closing NUL. */
#define FLEET_PASSWORD_ROOM 1024

struct fleet_auth {
	char user[FLEET_USER_ROOM]; /* "": the server's default user */
	char password[FLEET_PASSWORD_ROOM];
};

/*
 * Reads one line, "USER:PASSWORD" or "PASSWORD"; an LF or CR LF at its end does
 * not belong to it. user is the one of the URL, or "". Returns NULL, or why the
 * text is refused, without any of its words.
 */
const char *fleet_auth_parse(
    struct strview text, const char *user, struct fleet_auth *auth);

#endif
