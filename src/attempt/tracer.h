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
#include "attempt/environment.h"
#include "policy/policy.h"
#include "trace/trace_context.h"

struct tracer {
	bool on; /* if false, nothing else has a meaning */
	uint64_t parent; /* the span that has started retry; 0: there is none */
	uint64_t span; /* of the invocation */
	const char *state; /* TRACESTATE of the parent, or NULL */
	struct trace_context attempt; /* before the first one: the invocation */
	char variable[sizeof "TRACEPARENT=" + TRACE_CONTEXT_ROOM];
};

/* Reads the environment, makes the span of the invocation, and puts TRACEPARENT
 * into the environment of the attempts. Without --trace the tracer is off. */
void tracer_start(struct tracer *tracer, const struct policy *policy,
    struct environment *environment);

/* Makes the span of an attempt that is about to begin. */
void tracer_begin(struct tracer *tracer);

#endif
