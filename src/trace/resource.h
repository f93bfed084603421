/*
 * resource: reads the attributes in OTEL_RESOURCE_ATTRIBUTES.
 *
 * The value is a list "key=value,key=value" with %XX for bytes that would
 * separate something: OpenTelemetry, "Resource SDK", and W3C, "Baggage".
 */
#ifndef RESOURCE_H
#define RESOURCE_H

#include <stdbool.h>
#include "text/strview.h"

/* The most attributes that a list may have. */
#define RESOURCE_MOST 180

struct resource_attribute {
	struct strview key, value;
};

struct resource {
	size_t count;
	struct resource_attribute attributes[RESOURCE_MOST + 1];
};

/*
 * Reads a list. Keys and values are decoded into room, which has list.length
 * bytes. Blanks around them, and empty members of the list, are ignored. If a
 * key occurs twice, its last value counts. False, with an empty resource, if
 * any member lacks '=' or its key, if %XX is malformed, or if there are too
 * many: OpenTelemetry then has the whole list discarded.
 */
bool resource_parse(struct resource *resource, struct strview list, char *room);

/* Gives a key another value, or adds the key, which may be one more than a list
 * may have. */
void resource_set(
    struct resource *resource, struct strview key, struct strview value);

/* The value of a key; its length is 0 if there is none. */
struct strview resource_value(const struct resource *resource, const char *key);

#endif
