/*
 * url: reads the URL of a fleet's server, and the password for it.
 *
 *	redis://[USER@]HOST[:PORT][/DB]		also valkey://
 *	rediss://[USER@]HOST[:PORT][/DB]	TLS; also valkeys://
 *	unix:///PATH[?db=DB]
 *
 * An IPv6 address is in brackets, and %XX stands for itself.
 */
#ifndef URL_H
#define URL_H

#include <stdbool.h>
#include "text/strview.h"

/* Room for what url_show() writes, and for the parts of a URL, with the closing
 * NUL. */
#define URL_ROOM 16
#define URL_USER_ROOM 256
#define URL_HOST_ROOM 254 /* RFC 1035, section 2.3.4 */
#define URL_PATH_ROOM 108 /* sun_path in unix(7) */

#define URL_PORT 6379
#define URL_PORT_MOST 65535

struct url {
	bool tls;
	char user[URL_USER_ROOM]; /* "": none */
	char host[URL_HOST_ROOM]; /* without brackets; "": a socket */
	int port;
	char path[URL_PATH_ROOM]; /* of the socket */
	int db;
};

/* Whether text may be the name of a host, or an IPv4 or IPv6 address. */
bool url_is_host(struct strview text);

/*
 * Reads "HOST[:PORT]"; the host may be "[ADDRESS]" of IPv6, and *host has no
 * brackets. Without a port *port stays. Returns NULL, or why it is refused.
 */
const char *
url_parse_host(struct strview text, struct strview *host, int *port);

/* Reads a URL. Returns NULL, or why it is refused. */
const char *url_parse(const char *text, struct url *url);

/*
 * Returns what may be shown of a URL: all of it, if url_parse() accepts
 * it, because then it has no password. Else all behind the scheme is *** if it
 * may have one, and room has the text.
 */
const char *url_show(const char *text, char room[URL_ROOM]);

/* Room for a password and the closing NUL. */
#define URL_PASSWORD_ROOM 1024

struct url_auth {
	char user[URL_USER_ROOM]; /* "": the server's default user */
	char password[URL_PASSWORD_ROOM];
};

/*
 * Reads one line, "USER:PASSWORD" or "PASSWORD"; an LF at its end does not
 * belong to it. user is the one of the URL, or "". Returns NULL, or why the
 * text is refused, without any of its words.
 */
const char *
url_parse_auth(struct strview text, const char *user, struct url_auth *auth);

#endif
