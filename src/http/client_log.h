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
 * Reads the last final response whose head is at the very start, or where the
 * client has announced one: after a request (curl), after a line that ends in
 * "..." or starts with "Connecting to " (wget), after "# got header" (wget2).
 * Elsewhere it may be a page that quotes a head. False, with the response
 * untouched, if there is none.
 */
bool client_log_read(struct strview all, struct response *response);

#endif
