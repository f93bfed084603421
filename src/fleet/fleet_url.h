/*
 * fleet_url: reads the URL of a fleet's server, and the password for it.
 *
 *	redis://[USER@]HOST[:PORT][/DB]		also valkey://
 *	rediss://[USER@]HOST[:PORT][/DB]	TLS; also valkeys://
 *	unix:///PATH[?db=DB]
 *
 * The syntax is that of RFC 3986; an IPv6 address is in brackets. The user, the
 * host and the path may have bytes as %XX.
 */
#ifndef FLEET_URL_H
#define FLEET_URL_H

#include <stdbool.h>
#include "text/strview.h"

/* Room for a URL, and for its parts, with the closing NUL. */
#define FLEET_URL_ROOM 1024
#define FLEET_USER_ROOM 256
#define FLEET_HOST_ROOM 254 /* RFC 1035, section 2.3.4 */
#define FLEET_PATH_ROOM 108 /* sun_path in unix(7) */

#define FLEET_PORT 6379

struct fleet_url {
	bool tls;
	char user[FLEET_USER_ROOM]; /* "": none */
	char host[FLEET_HOST_ROOM]; /* without brackets; "": a socket */
	int port;
	char path[FLEET_PATH_ROOM]; /* of the socket */
	int db;
};

/* Whether text may be the name of a host, or an IPv4 or IPv6 address. */
bool fleet_url_is_host(struct strview text);

/* Reads a URL. Returns NULL, or why it is refused. */
const char *fleet_url_parse(const char *text, struct fleet_url *url);

/* Names the server and its database. The name is the same in whichever way the
 * URL was written. */
const char *
fleet_url_name(const struct fleet_url *url, char room[FLEET_URL_ROOM]);

/*
 * Returns what may be shown of a URL: all of it, if fleet_url_parse() accepts
 * it, because then it has no password. Else all behind the scheme is *** if it
 * may have one, and room has the text.
 */
const char *fleet_url_show(const char *text, char room[FLEET_URL_ROOM]);

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
