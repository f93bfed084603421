#include "attempt/tracer.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "sys/sys.h"

/* A random id, which must not be zero. */
static uint64_t
draw(void)
{
	uint64_t id;

	do
		id = sys_seed();
	while (id == 0);
	return id;
}

static void
write_variable(struct tracer *tracer)
{
	trace_context_put(
	    stpcpy(tracer->variable, "TRACEPARENT="), &tracer->attempt);
}

void
tracer_start(struct tracer *tracer, const struct policy *policy,
    struct environment *environment)
{
	const char *text = getenv("TRACEPARENT"), *state;

	tracer->on = policy->trace != NULL;
	if (!tracer->on)
		return;
	if (text != NULL && trace_context_parse(text, &tracer->attempt)) {
		tracer->on = tracer->attempt.sampled;
		if (!tracer->on)
			return;
		state = getenv("TRACESTATE");
		tracer->parent = tracer->attempt.span;
		tracer->state = state != NULL && *state != '\0' ? state : NULL;
	} else {
		/* TRACESTATE belongs to another trace: Trace Context, sections
		 * 4.2 and 4.3. */
		tracer->attempt =
		    (struct trace_context){ { draw(), draw() }, 0, true };
		tracer->parent = 0;
		tracer->state = NULL;
		environment_drop(environment, "TRACESTATE");
	}
	tracer->span = tracer->attempt.span = draw();
	write_variable(tracer);
	environment_put(environment, tracer->variable);
}

void
tracer_begin(struct tracer *tracer)
{
	if (!tracer->on)
		return;
	tracer->attempt.span = draw();
	write_variable(tracer);
}
