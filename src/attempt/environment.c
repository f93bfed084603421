#include "attempt/environment.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "text/number.h"
#include "sys/procfs.h"

#define ID "RETRY_ID="

/* Room for the keys whose turn an attempt has. */
#define TURNS_ROOM 4096

/* The variables that retry writes itself, and so never passes through. */
static const char written[][24] = { "RETRY_ATTEMPT=", "RETRY_MAX_ATTEMPTS=",
	"RETRY_DEPTH=", "RETRY_DEADLINE=", "RETRY_LAST_STATUS=",
	"RETRY_LAST_HTTP_STATUS=", "RETRY_PARENT=", ID, "RETRY_ANCESTOR_RETRY=",
	"RETRY_REASON=", "RETRY_DELAY_MS=", "RETRY_ADMITTED=", "RETRY_PACED=" };

#define WRITTEN (sizeof written / sizeof *written)

/*
 * Whether the process that wrote "pid.instant" lives. It lived at that instant:
 * a process that began later has got the same number. /proc rounds the start of
 * a process down to a tick, so the instant is rounded, too. An instant in the
 * future is of another clock. A zombie is dead.
 */
static bool
is_alive(const char *identity)
{
	const char *dot = strchr(identity, '.');
	struct procfs proc;
	int64_t number, instant;

	if (dot == NULL ||
	    !number_whole(identity, (size_t)(dot - identity), &number) ||
	    !number_whole(dot + 1, strlen(dot + 1), &instant) || number <= 0 ||
	    number > INT_MAX || instant > sys_now(CLOCK_BOOTTIME))
		return false;
	return procfs_is_ours() &&
	    procfs_look(&proc, (pid_t)number) == PROCFS_SEEN && !proc.dead &&
	    proc.start <= instant / (NANOS_SECOND / sysconf(_SC_CLK_TCK));
}

/* An id must be a UUID: other programs write it into their logs. */
static bool
is_uuid(const char *text)
{
	for (size_t i = 0; i < SYS_UUID - 1; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (text[i] == '\0' ||
		    strchr(dash ? "-" : "0123456789abcdefABCDEF", text[i]) ==
			NULL)
			return false;
	}
	return text[SYS_UUID - 1] == '\0';
}

struct outer
environment_outer(void)
{
	struct outer outer = { .deadline = NANOS_MAX };
	const char *text = getenv("RETRY_PARENT");
	int64_t parent;

	if (text == NULL || !is_alive(text))
		return outer;
	outer.alive = true;
	number_whole(text, strcspn(text, "."), &parent);
	/* Only the attempt's own process has its turn: a script that the
	 * attempt runs may have any number of others. */
	if (parent == getppid())
		outer.budget.turns = getenv("RETRY_PACED");
	text = getenv("RETRY_DEADLINE");
	if (text != NULL)
		number_whole(text, strlen(text), &outer.deadline);
	text = getenv("RETRY_DEPTH");
	if (text != NULL)
		number_whole(text, strlen(text), &outer.depth);
	text = getenv("RETRY_ANCESTOR_RETRY");
	outer.retrying = text != NULL && strcmp(text, "1") == 0;
	text = getenv("RETRY_ID");
	outer.id = text != NULL && is_uuid(text) ? text : NULL;
	outer.budget.admitted = getenv("RETRY_ADMITTED");
	return outer;
}

int64_t
environment_attempts(const struct policy *policy, const struct outer *outer)
{
	bool once = policy->nested == NESTED_ONCE ||
	    (policy->nested == NESTED_ADD && outer->retrying);

	return outer->alive && once ? policy->consecutive : policy->attempts;
}

/* Takes the variables of a name away; "=" and a text may stand behind it. */
static void
drop(struct environment *environment, const char *name)
{
	size_t length = (size_t)(strchrnul(name, '=') - name);
	char **to = environment->list;

	for (char **at = to; at < environment->next; at++)
		if (**at != *name || strncmp(*at, name, length) != 0 ||
		    (*at)[length] != '=')
			*to++ = *at;
	environment->next = to;
	*to = NULL;
}

/* Puts a variable, which stays where it is and may change its text. */
static void
put(struct environment *environment, char *variable)
{
	drop(environment, variable);
	*environment->next++ = variable;
	*environment->next = NULL;
}

bool
environment_set(
    struct environment *environment, const char *name, const char *text)
{
	size_t size = strlen(name) + strlen(text) + 2;
	char *variable = environment->texts + environment->written;

	/* The heap has pages of its own, which a few short ones do not need. */
	if (size > sizeof environment->texts - environment->written)
		variable = malloc(size);
	else
		environment->written += size;
	if (variable == NULL)
		return false;
	stpcpy(stpcpy(stpcpy(variable, name), "="), text);
	put(environment, variable);
	return true;
}

/* Writes "NAME=value". */
static char *
assign(char room[ENVIRONMENT_ROOM], const char *name, int64_t value)
{
	number_put(stpcpy(room, name), value);
	return room;
}

/* Writes TRACEPARENT for the latest attempt. */
static char *
put_trace(struct environment *environment)
{
	trace_put(stpcpy(environment->traceparent, "TRACEPARENT="),
	    &environment->trace);
	return environment->traceparent;
}

bool
environment_open(struct environment *environment, const struct policy *policy,
    const struct outer *outer, nanos deadline, const uint64_t random[5])
{
	/* The key of the breaker that admits the attempts. */
	const char *admitted = policy->budget.breaker.failures > 0
	    ? policy->budget.key
	    : outer->budget.admitted;
	const char *key = policy->budget.key, *turns = outer->budget.turns;
	const char *paced = key != NULL ? key : turns;
	static char both[TURNS_ROOM]; /* few touch these pages */
	struct trace *trace = &environment->trace;
	size_t count = 0, most;
	char *none = NULL, **from = environ != NULL ? environ : &none;
	char *at, uuid[SYS_UUID];

	environment->written = 0;
	stpcpy(stpcpy(environment->id, ID),
	    outer->id != NULL ? outer->id : sys_uuid_of(uuid, random));
	while (from[count] != NULL)
		count++;
	most = count + WRITTEN + POLICY_HANDED + ENVIRONMENT_PUT + 1;
	environment->list = environment->few;
	if (most > ENVIRONMENT_FEW)
		environment->list = (char **)malloc(most * sizeof *from);
	if (environment->list == NULL)
		return false;
	for (size_t i = 0; i < count; i++)
		environment->list[i] = from[i];
	environment->next = environment->list + count;
	for (size_t i = 0; i < WRITTEN; i++)
		drop(environment, written[i]);

	for (size_t i = 0; i < POLICY_HANDED; i++)
		if (policy->handed[i].name != NULL &&
		    !environment_set(environment, policy->handed[i].name,
			policy->handed[i].text))
			return false;
	if (admitted != NULL &&
	    !environment_set(environment, "RETRY_ADMITTED", admitted))
		return false;
	/* With too many keys, a layer behind another one asks by itself. */
	if (key != NULL && turns != NULL &&
	    snprintf(both, sizeof both, "%s\n%s", key, turns) < TURNS_ROOM)
		paced = both;
	if (paced != NULL &&
	    !environment_set(environment, "RETRY_PACED", paced))
		return false;

	put(environment, environment->id);
	put(environment,
	    assign(environment->depth,
		"RETRY_DEPTH=", number_add(outer->depth, 1)));
	assign(environment->most, "RETRY_MAX_ATTEMPTS=", policy->attempts);
	if (policy->attempts == POLICY_UNLIMITED)
		stpcpy(strchr(environment->most, '=') + 1, "inf");
	put(environment, environment->most);
	/* The instant is the present: to read the start of retry from /proc
	 * would take longer than all other steps before the command. */
	at = strchr(
	    assign(environment->parent, "RETRY_PARENT=", getpid()), '\0');
	*at++ = '.';
	number_put(at, sys_now(CLOCK_BOOTTIME));
	put(environment, environment->parent);
	if (deadline != NANOS_MAX)
		put(environment,
		    assign(environment->deadline, "RETRY_DEADLINE=", deadline));
	environment->retrying = outer->retrying;

	trace->on = policy->trace != NULL;
	if (trace->on)
		trace_start(trace, getenv("TRACEPARENT"), getenv("TRACESTATE"),
		    random + 2);
	/* If the caller's trace is not sampled, there is nothing to record, and
	 * the attempts get its variables as they are. */
	if (trace->on && trace->parent == 0)
		drop(environment, "TRACESTATE");
	if (trace->on)
		put(environment, put_trace(environment));
	return true;
}

void
environment_write(struct environment *environment,
    const struct history *history, const struct step *step)
{
	static char ancestor[] = "RETRY_ANCESTOR_RETRY=1";
	const struct http_status *http = &history->last.http;
	struct trace *trace = &environment->trace;
	char **slot = environment->next, *next = environment->next_step;
	bool ended = history->made > (step == NULL ? 1 : 0);
	uint64_t span;

	if (trace->on && step == NULL) {
		sys_random(&span, sizeof span);
		trace_begin(trace, span);
		put_trace(environment);
	}
	if (history->made > 0)
		*slot++ = assign(
		    environment->attempt, "RETRY_ATTEMPT=", history->made);
	if (ended)
		*slot++ = assign(
		    environment->last, "RETRY_LAST_STATUS=", history->status);
	if (ended && http->code > 0)
		*slot++ = assign(environment->last_http,
		    "RETRY_LAST_HTTP_STATUS=", http->code);
	if (environment->retrying || history->made > 1)
		*slot++ = ancestor;
	if (step != NULL && step->again)
		assign(next, "RETRY_DELAY_MS=", step->delay / NANOS_MS);
	else if (step != NULL)
		stpcpy(stpcpy(next, "RETRY_REASON="),
		    verdict_reasons[step->reason].name);
	if (step != NULL)
		*slot++ = next;
	*slot = NULL;
}

const char *
environment_id(const struct environment *environment)
{
	return environment->id + strlen(ID);
}
