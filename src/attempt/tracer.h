/*
 * tracer: gives each attempt a span, and TRACEPARENT to its environment.
 *
 * If retry has a valid TRACEPARENT itself, the span that this variable names is
 * the parent of the invocation. If the trace of this span is not sampled, there
 * is nothing to record, and the attempts get the variable as it is.
 */
#ifndef TRACER_H
#define TRACER_H

#include <stdbool.h>
#include <stdint.h>
#include "policy/policy.h"
#include "trace/trace_context.h"

/* The most variables for the environment of the attempts. */
#define TRACER_VARIABLES 2

struct tracer {
	bool on; /* if false, only variables has a meaning */
	uint64_t parent; /* the span that has started retry; 0: there is none */
	uint64_t span; /* of the invocation */
	const char *state; /* TRACESTATE of the parent, or NULL */
	struct trace_context attempt; /* before the first one: the invocation */
	char variable[sizeof "TRACEPARENT=" + TRACE_CONTEXT_ROOM];
	/* For nesting_open(); tracer_begin() changes their text. */
	char *variables[TRACER_VARIABLES + 1];
};

/* Reads the environment, and makes the span of the invocation. Without --trace
 * the tracer is off, and sets no variables. */
void tracer_start(struct tracer *tracer, const struct policy *policy);

/* Makes the span of an attempt that is about to begin. */
void tracer_begin(struct tracer *tracer);

#endif
