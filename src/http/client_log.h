/*
 * client_log: finds heads of responses in a client's verbose output.
 *
 * Their lines begin with "< " (curl -v), are indented (wget -S, BusyBox's,
 * too), or are as they came (wget2 -S).
 */
#ifndef CLIENT_LOG_H
#define CLIENT_LOG_H

#include <stdbool.h>
#include "http/retry_after.h"
#include "text/strview.h"

/*
 * Reads the last final response whose head stands at the very start, or where
 * the client has said that one comes: after a request (curl), after a line
 * that ends in "..." or starts with "Connecting to " (wget), after "# got
 * header" (wget2). Behind a response that is no redirect, 401 or 407 a request
 * counts only if what comes before one has been told as well: a connection
 * (curl), the date and the URL (wget). Where curl has told the end of a
 * transfer and the rest is as long as its body, it is that body. What stands
 * elsewhere may be a page that quotes one. False, with the response untouched,
 * where there is none.
 */
bool client_log_read(struct strview all, struct response *response);

#endif
