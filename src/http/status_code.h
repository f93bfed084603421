/*
 * status_code: reads the code of a response, and what curl writes beside it.
 *
 * curl writes the code for %{http_code}. A Retry-After, or an exit status and a
 * message, may be behind the code.
 */
#ifndef STATUS_CODE_H
#define STATUS_CODE_H

#include <stdbool.h>
#include "http/retry_after.h"
#include "text/strview.h"

/* Reads all of text as a code, 0 to 999. */
bool status_code_number(struct strview text, int *code);

/*
 * Reads a code as %{http_code} prints it: exactly three digits, 000 or 100 to
 * 599. A number outside of this range may mean anything.
 */
bool status_code_bare(struct strview text, int *code);

/*
 * Cuts the code off a line, and leaves in the line what may be a Retry-After.
 * A curl exit status and message behind the code are cut off as well. False,
 * with the line unchanged, if there is anything else.
 */
bool status_code_cut(struct strview *line, int *code);

/*
 * Reads a text of one or more lines. The last line that is not blank has the
 * code, or it has a Retry-After and the line above it the code. False, with the
 * response untouched, if there is no code.
 */
bool status_code_read(struct strview rest, struct response *response);

#endif
