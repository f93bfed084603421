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

/* Continues the trace of the parent, whose context has been read. */
static void
continue_trace(struct tracer *tracer)
{
	const char *state = getenv("TRACESTATE");

	tracer->parent = tracer->attempt.span;
	tracer->state = state != NULL && *state != '\0' ? state : NULL;
}

/* Begins a trace. TRACESTATE belongs to another one, and is deleted: Trace
 * Context, sections 4.2 and 4.3. */
static void
begin_trace(struct tracer *tracer, char **variable)
{
	static char state[] = "TRACESTATE";

	tracer->attempt = (struct trace_context){ { draw(), draw() }, 0, true };
	tracer->parent = 0;
	tracer->state = NULL;
	*variable = state;
}

void
tracer_start(struct tracer *tracer, const struct policy *policy)
{
	const char *text;
	bool child;

	memset(tracer->variables, 0, sizeof tracer->variables);
	tracer->on = false;
	if (policy->trace == NULL)
		return;
	text = getenv("TRACEPARENT");
	child = text != NULL && trace_context_parse(text, &tracer->attempt);
	tracer->on = !child || tracer->attempt.sampled;
	if (!tracer->on)
		return;
	if (child)
		continue_trace(tracer);
	else
		begin_trace(tracer, &tracer->variables[1]);
	tracer->variables[0] = tracer->variable;
	tracer->span = tracer->attempt.span = draw();
	write_variable(tracer);
}

void
tracer_begin(struct tracer *tracer)
{
	if (!tracer->on)
		return;
	tracer->attempt.span = draw();
	write_variable(tracer);
}
