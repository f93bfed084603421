/*
 * json: splits bytes that may be JSON (RFC 8259) into tokens.
 *
 * It does not check whether they are valid, because curl's output is not always
 * (7.88 prints the byte 0xE9 as "uffffffe9"), and may be cut off at any point.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include "text/strview.h"

enum json_token {
	JSON_END,
	JSON_OPEN, /* { */
	JSON_CLOSE, /* } */
	JSON_LIST, /* [ */
	JSON_LIST_END, /* ] */
	JSON_KEY, /* a string that a colon follows */
	JSON_STRING,
	JSON_WORD /* a number, true, null, or anything else without quotes */
};

/*
 * Cuts the next token off rest. text is its bytes: of a key or string those
 * between the quotes, escapes included.
 */
enum json_token json_next(struct strview *rest, struct strview *text);

#endif
