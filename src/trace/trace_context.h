/*
 * trace_context: the place of a span in its trace, as TRACEPARENT has it.
 *
 * The format is that of traceparent in W3C, "Trace Context", level 1:
 *
 *	00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
 *
 * These are the version, the id of the trace, the id of the span, and flags.
 */
#ifndef TRACE_CONTEXT_H
#define TRACE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

/* Room for a text of the format, and for each id, with the closing NUL. */
#define TRACE_CONTEXT_ROOM 56
#define TRACE_CONTEXT_TRACE 33
#define TRACE_CONTEXT_SPAN 17

struct trace_context {
	uint64_t trace[2]; /* the first half of the id is first; not both 0 */
	uint64_t span; /* never 0 */
	bool sampled; /* the trace is recorded */
};

/*
 * Reads all of text. False if an id is malformed or zero. A text of a later
 * version may have more fields at its end, which are ignored.
 */
bool trace_context_parse(const char *text, struct trace_context *context);

/* Writes the context into room, as version 00, and returns room. */
char *trace_context_put(
    char room[TRACE_CONTEXT_ROOM], const struct trace_context *context);

/* Write the id of the trace, or of a span, into room, and return room. */
char *trace_context_put_trace(
    char room[TRACE_CONTEXT_TRACE], const struct trace_context *context);
char *trace_context_put_span(char room[TRACE_CONTEXT_SPAN], uint64_t span);

#endif
