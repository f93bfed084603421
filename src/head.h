/*
 * head: the heads of responses, status line and header fields (RFC 9112
 * sections 4 and 5), as HTTP clients print them: bare (curl -D and -i, HTTPie,
 * xh, wget --save-headers), behind "< " (curl -v), or indented (wget -S); with
 * other lines before, between and after them.
 */
#ifndef HEAD_H
#define HEAD_H

#include <stdbool.h>
#include "fields.h"
#include "text.h"

/*
 * Reads the last final response of all, whatever HTTP version it claims, and
 * the fields of its head. An interim one (1xx; RFC 9110 section 15.2) is
 * passed over with its fields. Trailers (section 6.5) are no new response, and
 * cannot be told from a body: of what follows the empty line only
 * grpc-retry-pushback-ms is taken, since trailers are where gRPC puts it.
 * False, with the response untouched, where there is no status line at all.
 */
bool head_read(struct text all, struct response *response);

#endif
