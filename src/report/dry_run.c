#include "report/dry_run.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include "policy/plan.h"
#include "preset/preset.h"
#include "text/number.h"
#include "output/writer.h"
#include "exit_status.h"
#include "report/advice.h"
#include "report/budget_show.h"
#include "report/forecast.h"

/* The columns of the screen at which the columns of the table end. */
enum {
	LEAST = 17,
	MEAN = 28,
	MOST = 39,
};

/* The columns at which the parts of the lines below the table begin. */
enum {
	VALUE = 14,
	REMARK = 26,
};

/* Writes a time, below a minute to the millisecond, as people state service
 * level objectives. */
static char *
put_time(char room[DURATION_ROOM], nanos span)
{
	int64_t ms = number_round(span, NANOS_MS);
	bool seconds = ms >= 1000;
	const char *unit = seconds ? "s" : "ms";
	size_t length;

	if (span == NANOS_MAX)
		return memcpy(room, "unbounded", sizeof "unbounded");
	if (span == 0 || span >= NANOS_MINUTE)
		return duration_format(room, span);
	number_put_decimal(room, ms, seconds ? 1000 : 1);
	length = strlen(room);
	memcpy(room + length, unit, strlen(unit) + 1);
	return room;
}

static void
put_span(struct writer *writer, const char *label, const struct span *span,
    bool drawn)
{
	char room[DURATION_ROOM];

	writer_put(writer, label);
	writer_put_right(writer, LEAST, put_time(room, span->least));
	writer_put_right(writer, MEAN,
	    drawn && span->mean < NANOS_MAX ? duration_format(room, span->mean)
					    : put_time(room, span->mean));
	writer_put_right(writer, MOST, put_time(room, span->most));
	writer_put(writer, "\n");
}

/* How many retries there are, if the table does not have all of them. */
static void
put_rest(struct writer *writer, const struct forecast *forecast)
{
	char number[NUMBER_ROOM];

	if (forecast->retries == forecast->rows)
		return;
	writer_put_all(writer,
	    STRINGS("the first ", number_put(number, forecast->rows),
		" retries; "));
	if (forecast->retries == POLICY_UNLIMITED)
		writer_put(writer, "there is no limit\n");
	else
		writer_put_all(writer,
		    STRINGS("there are ", number_put(number, forecast->retries),
			"\n"));
}

static void
put_table(struct writer *writer, const struct forecast *forecast)
{
	char number[NUMBER_ROOM];
	bool drawn = forecast->drawn;

	if (forecast->retries == 0 && forecast->splay.most == 0 &&
	    forecast->repetitions == 0) {
		writer_put(writer, "no retries\n\n");
		return;
	}
	writer_put(writer, "DELAY");
	writer_put_right(writer, LEAST, "LEAST");
	writer_put_right(writer, MEAN, "MEAN");
	writer_put_right(writer, MOST, "MOST");
	writer_put(writer, "\n");
	if (forecast->splay.most > 0)
		put_span(writer, "splay", &forecast->splay, false);
	for (int i = 0; i < forecast->rows; i++)
		put_span(writer, number_put(number, i + 1), &forecast->delay[i],
		    drawn);
	put_rest(writer, forecast);
	if (forecast->repetitions > 0)
		put_span(writer, "success", &forecast->between, drawn);
	if (forecast->retries != POLICY_UNLIMITED)
		put_span(writer, "total", &forecast->total, drawn);
	writer_put(writer, "\n");
}

static void
begin_line(struct writer *writer, const char *label, const char *value)
{
	writer_put(writer, label);
	writer_pad(writer, VALUE);
	writer_put(writer, value);
}

static void
remark(struct writer *writer, const char *text)
{
	writer_pad(writer, REMARK);
	writer_put(writer, text);
}

static void
put_worst(struct writer *writer, const struct policy *policy,
    const struct forecast *forecast)
{
	char room[DURATION_ROOM], delays[DURATION_ROOM], number[NUMBER_ROOM];
	int64_t attempts = forecast->attempts;
	nanos each = plan_timeout(policy, 1);
	nanos all = forecast->timeouts;
	bool alike = policy->timeouts.count == 1 || attempts == 1;

	begin_line(writer, "Worst case", put_time(room, forecast->worst));
	if (attempts == POLICY_UNLIMITED) {
		remark(writer, "there is no limit of attempts");
	} else if (!forecast->limited) {
		remark(writer, "an attempt may take for ever (no -t)");
		if (policy->idle_timeout > 0)
			writer_put(writer, " while it writes");
	} else if (forecast->worst < NANOS_MAX) {
		remark(writer, number_put(number, attempts));
		writer_put_all(writer,
		    STRINGS(attempts == 1 ? " attempt" : " attempts",
			alike ? " x " : ", in all ",
			put_time(room, alike ? each : all), " + ",
			put_time(delays, forecast->total.most), " of delays"));
	}
	writer_put(writer, "\n");
}

/* What happens until the deadline if only that limits the attempts. */
static void
put_least(struct writer *writer, const struct forecast *forecast)
{
	int64_t least =
	    number_lesser(forecast->begun ? forecast->cut : forecast->cut - 1,
		FORECAST_ATTEMPTS);
	char number[NUMBER_ROOM];

	remark(writer, "until then at least ");
	writer_put_all(writer,
	    STRINGS(number_put(number, least),
		least == 1 ? " attempt" : " attempts",
		forecast->quick ? ", if each fails at once"
				: ", if each takes its timeout"));
}

static void
put_cut(struct writer *writer, const struct forecast *forecast)
{
	char number[NUMBER_ROOM];
	bool late = forecast->cut > FORECAST_ATTEMPTS;

	remark(writer, "does not fit");
	if (forecast->cut == 0) {
		writer_put(writer, ", but all attempts do with shorter delays");
		return;
	}
	writer_put_all(writer,
	    STRINGS(late ? ": attempts after " : ": attempt ",
		number_put(number, late ? FORECAST_ATTEMPTS : forecast->cut)));
	writer_put_all(writer,
	    STRINGS(" of ", number_put(number, forecast->attempts),
		forecast->begun ? " would be cut off" : " would not begin"));
}

static void
put_deadline(struct writer *writer, const struct policy *policy,
    const struct forecast *forecast)
{
	char room[DURATION_ROOM];

	begin_line(writer, "Deadline",
	    policy->deadline == 0 ? "none" : put_time(room, policy->deadline));
	if (policy->deadline != 0 && forecast->fits)
		remark(writer, "fits");
	else if (policy->deadline != 0 &&
	    forecast->attempts == POLICY_UNLIMITED)
		put_least(writer, forecast);
	else if (policy->deadline != 0)
		put_cut(writer, forecast);
	writer_put(writer, "\n");
}

/* Where the worst case is unbounded, the deadline bounds it. */
static void
put_slo(struct writer *writer, const struct policy *policy,
    const struct forecast *forecast)
{
	char room[DURATION_ROOM];
	nanos bounded = number_multiply(policy->deadline, 3);
	bool unbounded = forecast->worst == NANOS_MAX;

	if (unbounded && bounded == 0) {
		begin_line(writer, "Smallest SLO", "none");
	} else if (unbounded) {
		begin_line(writer, "Smallest SLO", put_time(room, bounded));
		remark(writer, "3 x the deadline");
	} else {
		begin_line(
		    writer, "Smallest SLO", put_time(room, forecast->slo));
		remark(writer, "3 x the worst case");
		if (!forecast->fits) {
			writer_put(writer, "; 3 x the deadline: ");
			writer_put(writer, put_time(room, bounded));
		}
	}
	writer_put(writer, "\n");
}

/* A step of the judgement. A preset has a part in each of three. */
static const struct {
	const char *option, *does, *part;
} steps[] = {
	{ "success-on", "success", "" },
	{ "fail-on", "failure", "" },
	{ "preset", "failure", ": a failure, even with exit status 0" },
	{ "stop-on", "stop", "" },
	{ "preset", "stop", ": a failure that stays" },
	{ "retry-on", "retry", "" },
	{ "preset", "retry", ": a failure that passes" },
};

/* Whether a preset has rules that do this. */
static bool
has_rules(const char *name, const char *does)
{
	struct preset preset;

	if (!preset_find(name, strlen(name), &preset))
		return false;
	if (strcmp(does, "failure") == 0)
		return preset.err.failed != NULL || preset.out.failed != NULL;
	if (strcmp(does, "stop") == 0)
		return preset.err.fatal != NULL || preset.out.fatal != NULL;
	return true;
}

/* Puts the items of a LIST that is a rule, or the preset, a line each. */
static void
put_items(struct writer *writer, size_t step, const struct given *given,
    const char **label)
{
	bool preset = strcmp(given->option, "preset") == 0;
	const char *item = given->text;

	for (;;) {
		size_t length = preset ? strlen(item) : conditions_item(item);

		begin_line(writer, *label, steps[step].does);
		remark(writer, preset ? "" : "--");
		writer_put_all(writer, STRINGS(given->option, " "));
		writer_put_escaped(writer, ESCAPE_PLAIN, item, length);
		writer_put(writer, steps[step].part);
		if (given->location != NULL)
			writer_put_all(
			    writer, STRINGS(" (", given->location, ")"));
		writer_put(writer, "\n");
		*label = "";
		item += length;
		if (*item++ == '\0')
			break;
	}
}

/* The rules that the user gave, in the order in which they judge. */
static void
put_rules(struct writer *writer, const struct policy *policy)
{
	const char *label = "Rules";

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		for (const struct given *given = policy->given; given != NULL;
		     given = given->next) {
			struct advice advice;

			if (strcmp(given->option, steps[i].option) != 0 ||
			    (*steps[i].part != '\0' &&
				!has_rules(given->text, steps[i].does)))
				continue;
			put_items(writer, i, given, &label);
			if (!advice_on_list(&advice, given))
				continue;
			remark(writer, "");
			writer_put_all(writer, advice.strings);
			writer_put(writer, "\n");
		}
}

/* How many retries there are at most after some kinds of failures. */
static void
put_limits(struct writer *writer, const struct policy *policy)
{
	for (int i = 0; i < policy->limits; i++) {
		const struct limit *limit = policy->limit[i];
		const char *list = strchr(limit->text, ':') + 1;
		char number[NUMBER_ROOM];

		begin_line(writer, i == 0 ? "Limits" : "",
		    number_put(number, limit->retries));
		writer_put(writer, limit->retries == 1 ? " retry" : " retries");
		remark(writer, "after ");
		writer_put_escaped(writer, ESCAPE_PLAIN, list, strlen(list));
		writer_put(writer, "\n");
	}
}

/* Puts a line about a wait that may take more time. *any: there was one before.
 */
static void
put_beside(struct writer *writer, bool *any, const char *what, nanos most,
    const char *each)
{
	char room[DURATION_ROOM];

	begin_line(writer, *any ? "" : "Not counted", what);
	remark(writer, most == NANOS_MAX ? "without limit" : "up to ");
	if (most != NANOS_MAX)
		writer_put(writer, put_time(room, most));
	writer_put(writer, each);
	writer_put(writer, "\n");
	*any = true;
}

/* What may take time that the forecast does not count. */
static void
put_uncounted(struct writer *writer, const struct policy *policy)
{
	const struct budget_config *budget = &policy->budget;
	bool limited = plan_has_timeout(policy) || policy->idle_timeout > 0;
	bool any = false;

	if (limited && policy->kill_after > 0)
		put_beside(writer, &any, "kill grace", policy->kill_after,
		    " an attempt");
	if (policy->http || policy->http_status != NULL ||
	    policy->watches.hints)
		put_beside(writer, &any, "Retry-After", policy->max_retry_after,
		    " a retry");
	if (budget->key != NULL && budget->wait > 0)
		put_beside(writer, &any, "budget", budget->wait, " a retry");
	if (policy->fleet.text != NULL)
		put_beside(
		    writer, &any, "fleet", policy->fleet.timeout, " a retry");
}

/* Whether the fleet's server answers, and what it says. */
static void
put_fleet(struct writer *writer, const struct policy *policy)
{
	char used[NUMBER_ROOM], limit[NUMBER_ROOM], hosts[NUMBER_ROOM],
	    window[DURATION_ROOM], reason[BUDGET_SHOW_REASON];
	struct snapshot budget, fleet;

	if (policy->fleet.text == NULL)
		return;
	snapshot_clear(&budget, policy->budget.key);
	if (budget_show_ask(policy, &budget, 1, &fleet, reason)) {
		begin_line(writer, "Fleet", "answers");
		remark(writer, number_put(used, fleet.retries));
		writer_put_all(writer,
		    STRINGS(" of ", number_put(limit, fleet.limit),
			" retries used in ",
			duration_format(window, fleet.window), " by ",
			number_put(hosts, fleet.hosts),
			fleet.hosts == 1 ? " host" : " hosts"));
	} else {
		begin_line(writer, "Fleet", "no answer");
		remark(writer, reason);
	}
	writer_put(writer, "\n");
}

int
dry_run_show(const struct policy *policy)
{
	struct writer writer = { .to = STDOUT_FILENO };
	struct forecast forecast;

	forecast_make(&forecast, policy);
	put_table(&writer, &forecast);
	put_worst(&writer, policy, &forecast);
	put_deadline(&writer, policy, &forecast);
	put_slo(&writer, policy, &forecast);
	put_rules(&writer, policy);
	put_limits(&writer, policy);
	put_uncounted(&writer, policy);
	put_fleet(&writer, policy);
	return writer_deliver(&writer) ? 0 : EXIT_STATUS_FAILED;
}
