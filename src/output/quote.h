/*
 * quote: bytes of any kind as text that a person or a program can read: UTF-8,
 * and nothing that a terminal would act on.
 *
 * A byte that is not UTF-8 is shown as \xff, whatever the style; so is, outside
 * of JSON, a control byte. That keeps different bytes apart, which the usual
 * U+FFFD would not.
 */
#ifndef QUOTE_H
#define QUOTE_H

#include <stddef.h>
#include "output/writer.h"

enum quote {
	QUOTE_PLAIN, /* for people, without quotes; \n and \t as in C */
	QUOTE_JSON, /* RFC 8259, section 7 */
	QUOTE_PROM, /* Prometheus, "Exposition formats": \\, \" and \n */
};

/* Between double quotes, unless it is plain. */
void quote_put(
    struct writer *page, enum quote style, const char *text, size_t length);

/* The same for a string. */
void quote_string(struct writer *page, enum quote style, const char *string);

#endif
