/*
 * json: a walk over bytes that may be JSON (RFC 8259), token by token, without
 * a judgement on whether they are: what curl writes is not always valid (7.88
 * prints the byte 0xE9 as "uffffffe9"), and may be cut off at any point.
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
	JSON_WORD /* a number, true, null, or what else is bare */
};

/*
 * Cuts the next token off rest; text is its bytes, those of a key or string
 * without the quotes and with escapes as they stand.
 */
enum json_token json_next(struct strview *rest, struct strview *text);

#endif
