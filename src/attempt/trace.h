/*
 * trace: the spans of an invocation, in the trace that the environment names.
 *
 * TRACEPARENT names the span that has started retry, in the format of W3C,
 * "Trace Context", level 1:
 *
 *	00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
 *
 * These are the version, the id of the trace, the id of the span, and flags.
 */
#ifndef TRACE_H
#define TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "text/strview.h"

/* Room for a TRACEPARENT, with the closing NUL. */
#define TRACE_ROOM 56

struct trace {
	bool on; /* spans are recorded; if not, nothing else has a meaning */
	uint64_t id[2]; /* of the trace, the first half first; not both 0 */
	uint64_t parent; /* the span that has started retry; 0: there is none */
	uint64_t span; /* of the invocation; never 0 */
	uint64_t
	    attempt; /* the latest attempt's span; at first the invocation's
		      */
	const char *state; /* TRACESTATE of the parent, or NULL */
};

/*
 * Begins the span of the invocation. parent and state are TRACEPARENT and
 * TRACESTATE, or NULL; random are random numbers. If parent is malformed or an
 * id in it is 0, a new trace begins, without a state. A parent of a later
 * version may have more fields at its end, which are ignored. If the trace of
 * the parent is not sampled, the trace is off.
 */
void trace_start(struct trace *trace, const char *parent, const char *state,
    const uint64_t random[3]);

/* Begins the span of an attempt. */
void trace_begin(struct trace *trace, uint64_t random);

/* Writes the TRACEPARENT of the latest attempt into room, as version 00, and
 * returns room. */
char *trace_put(char room[TRACE_ROOM], const struct trace *trace);

/* The most attributes that a list may have. */
#define TRACE_ATTRIBUTES 180

struct trace_attribute {
	struct strview key, value;
};

/* What OTEL_RESOURCE_ATTRIBUTES says about the service that is traced. */
struct trace_resource {
	size_t count;
	struct trace_attribute attributes[TRACE_ATTRIBUTES + 1];
};

/*
 * Reads a list "key=value,key=value" with %XX for bytes that would separate
 * something: OpenTelemetry, "Resource SDK", and W3C, "Baggage". Keys and values
 * are decoded into room, which has list.length bytes. Blanks around them, and
 * empty members of the list, are ignored. If a key occurs twice, its last value
 * counts. False, with an empty resource, if any member lacks '=' or its key, if
 * %XX is malformed, or if there are too many: OpenTelemetry then has the whole
 * list discarded.
 */
bool trace_resource_parse(
    struct trace_resource *resource, struct strview list, char *room);

/* The value of a key, which the caller may change. A key that is not there is
 * added, with no value; that may be one more than a list may have. */
struct strview *
trace_resource_value(struct trace_resource *resource, struct strview key);

#endif
