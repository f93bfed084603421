#include "report/budget_list.h"

#include <string.h>
#include "text/number.h"

/* Programs get times to the microsecond. */
#define MICROSECOND (NANOS_MS / 1000)

#define AT(member) offsetof(struct snapshot, member)
#define GAUGE "gauge"
#define COUNTER "counter"

const struct budget_field budget_fields[BUDGET_FIELDS] = {
	{ AT(retries), SCOPE_ANY, KIND_COUNT, "RETRIES", NULL, "retries",
	    "window_retries", GAUGE, "Retries in the window." },
	{ AT(limit), SCOPE_ANY, KIND_COUNT, "LIMIT", NULL, "limit", "limit",
	    GAUGE, "Retries allowed in the window." },
	{ AT(left), SCOPE_ANY, KIND_COUNT, "LEFT", NULL, "left", "left", GAUGE,
	    "Retries left in the window." },
	{ AT(next), SCOPE_ANY, KIND_NEXT, "NEXT", NULL, "next_seconds",
	    "next_seconds", GAUGE,
	    "Seconds until a retry is allowed; NaN: after a success." },
	{ AT(successes), SCOPE_ANY, KIND_COUNT, "SUCCESSES", NULL, "successes",
	    "window_successes", GAUGE, "Successes in the window." },
	{ AT(window), SCOPE_ANY, KIND_SPAN, "WINDOW", NULL, "window_seconds",
	    "window_seconds", GAUGE, "Length of the window." },
	{ AT(ratio), SCOPE_ANY, KIND_PARTS, NULL, NULL, "ratio", "ratio", GAUGE,
	    "Retries allowed for each success." },
	{ AT(min), SCOPE_ANY, KIND_COUNT, NULL, NULL, "min", "min", GAUGE,
	    "Retries allowed in any window." },
	{ AT(hosts), SCOPE_FLEET, KIND_COUNT, "HOSTS", NULL, "hosts", "hosts",
	    GAUGE, "Hosts seen in the window." },
	{ AT(cooldown), SCOPE_HOST, KIND_SPAN, NULL, NULL, "cooldown_seconds",
	    "cooldown_seconds", GAUGE,
	    "Seconds left of the pause after a denial." },
	{ AT(all_firsts), SCOPE_HOST, KIND_COUNT, "FIRSTS", "totals", "firsts",
	    "firsts_total", COUNTER, "First attempts." },
	{ AT(all_successes), SCOPE_HOST, KIND_COUNT, NULL, "totals",
	    "successes", "successes_total", COUNTER,
	    "Invocations that succeeded." },
	{ AT(all_retries), SCOPE_HOST, KIND_COUNT, NULL, "totals", "retries",
	    "retries_total", COUNTER, "Retries that the allowance paid for." },
	{ AT(all_probes), SCOPE_HOST, KIND_COUNT, "PROBES", "totals", "probes",
	    "probes_total", COUNTER,
	    "Retries that the breaker let in as its probe." },
	{ AT(all_turns), SCOPE_HOST, KIND_COUNT, "TURNS", "totals", "turns",
	    "turns_total", COUNTER,
	    "Retries that the breaker let in while it recovered." },
	{ AT(all_denied), SCOPE_HOST, KIND_COUNT, "DENIED", "totals", "denied",
	    "denied_total", COUNTER,
	    "Attempts that the budget or the breaker held back." },
	{ AT(all_attempts), SCOPE_HOST, KIND_COUNT, NULL, "totals", "attempts",
	    "attempts_total", COUNTER,
	    "First attempts, and retries of each kind." },
	{ AT(amplification), SCOPE_HOST, KIND_PARTS, "AMPLIFICATION", NULL,
	    "amplification", "amplification", GAUGE,
	    "Attempts for each first attempt." },
	{ AT(breaker), SCOPE_HOST, KIND_STATE, NULL, "gate", "state",
	    "gate_state", GAUGE,
	    "The breaker: 0 closed, 1 open, 2 half-open, 3 recovering." },
	{ AT(failures), SCOPE_HOST, KIND_COUNT, NULL, "gate", "failures",
	    "gate_failures", GAUGE, "Consecutive failures." },
	{ AT(probe), SCOPE_HOST, KIND_SPAN, NULL, "gate", "next_seconds",
	    "gate_next_seconds", GAUGE,
	    "Seconds until a probe may be made; NaN: none is to come." },
	{ AT(rate), SCOPE_HOST, KIND_COUNT, NULL, "gate", "rate", "gate_rate",
	    GAUGE, "Attempts a second while it recovers; NaN: it does not." },
};

bool
budget_list_has(enum scope scope, const struct budget_field *field)
{
	return field->scope == SCOPE_ANY || field->scope == scope;
}

const char *
budget_list_state(const struct snapshot *snapshot)
{
	static const char *const names[] = {
		[BREAKER_CLOSED] = "closed",
		[BREAKER_OPEN] = "open",
		[BREAKER_HALF_OPEN] = "half-open",
		[BREAKER_RECOVERING] = "recovering",
	};

	return snapshot_is_known(snapshot) ? names[snapshot->breaker] : NULL;
}

/* The value of a field, whatever its name. */
static int64_t
number(const struct snapshot *snapshot, const struct budget_field *field)
{
	int64_t value;

	memcpy(&value, (const char *)snapshot + field->at, sizeof value);
	return value;
}

const char *
budget_list_exact(char room[NUMBER_ROOM], const struct snapshot *snapshot,
    const struct budget_field *field, const char *none)
{
	int64_t value = number(snapshot, field);

	if (value == SNAPSHOT_NONE)
		return none;
	switch (field->kind) {
	case KIND_COUNT:
	case KIND_STATE:
		break;
	case KIND_PARTS:
		return number_put_decimal(room, value, WINDOW_RATIO_ONE);
	case KIND_SPAN:
	case KIND_NEXT:
		return number_put_decimal(room,
		    number_round(value, MICROSECOND),
		    NANOS_SECOND / MICROSECOND);
	}
	return number_put(room, value);
}

/* Millionths as a number with two decimals, which align in a column. */
static const char *
put_hundredths(char room[NUMBER_ROOM], int64_t value)
{
	char *end;

	value = number_round(value, WINDOW_RATIO_ONE / 100);
	end = number_put(room, value / 100) + strlen(room);
	*end++ = '.';
	*end++ = (char)('0' + value % 100 / 10);
	*end++ = (char)('0' + value % 10);
	*end = '\0';
	return room;
}

const char *
budget_list_rounded(char room[DURATION_ROOM], const struct snapshot *snapshot,
    const struct budget_field *field)
{
	int64_t value = number(snapshot, field);

	if (value == SNAPSHOT_NONE)
		return "-";
	switch (field->kind) {
	case KIND_COUNT:
	case KIND_STATE:
		break;
	case KIND_PARTS:
		return put_hundredths(room, value);
	case KIND_NEXT:
		if (value == 0)
			return "now";
		return duration_format(room, value);
	case KIND_SPAN:
		return duration_format(room, value);
	}
	return number_put(room, value);
}
