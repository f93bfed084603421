/*
 * json: splits bytes that may be JSON (RFC 8259) into tokens.
 *
 * json_next() does not check whether the bytes are valid JSON, because curl's
 * output is not always valid (7.88 prints the byte 0xE9 as "uffffffe9") and may
 * be cut off at any point.
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
 * Cuts the next token off rest. *text becomes the bytes of the token: for a key
 * or a string the bytes between the quotes, with escapes as they are.
 */
enum json_token json_next(struct strview *rest, struct strview *text);

#endif
