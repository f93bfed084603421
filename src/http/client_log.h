/*
 * client_log: finds heads of responses in a client's verbose output.
 *
 * The lines of a head begin with "< " (curl -v), are indented (wget -S, also
 * that of BusyBox), or are as the server sent them (wget2 -S).
 */
#ifndef CLIENT_LOG_H
#define CLIENT_LOG_H

#include <stdbool.h>
#include "http/response_head.h"
#include "text/strview.h"

/*
 * Reads the last final response of the log. A status line counts only in these
 * places, because elsewhere it may belong to a page that quotes a response:
 *
 *	in the first line that is not empty;
 *	curl: behind a request, or behind an interim response;
 *	wget: directly behind a line that ends in "..." or starts with
 *	"Connecting to ", or among the indented lines behind another head;
 *	wget2: directly behind a line that starts with "# got header ".
 *
 * Behind a final response that is not a redirect, 401 or 407, a request of curl
 * and such a line of wget count only if the client has also announced a new
 * request: curl prints the connection, wget the date and the URL. If curl has
 * printed the end of a transfer, and the rest of the log is as long as the
 * response's body, the rest is that body and is not read.
 *
 * If all responses are interim, the result is true and the response untouched.
 * False, with the response untouched, if there is no head.
 */
bool client_log_read(struct strview all, struct response *response);

#endif
