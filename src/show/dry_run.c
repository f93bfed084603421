#include "show/dry_run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "policy/plan.h"
#include "tools/preset.h"
#include "text/number.h"
#include "output/writer.h"
#include "exit_status.h"
#include "report/advice.h"

/* Up to ROWS retries have a row each; of more, the first ones have one. */
#define ROWS 100
#define ROWS_FIRST 10

/*
 * The forecast
 */

static struct span
sum(struct span a, struct span b)
{
	return (struct span){ number_add(a.least, b.least),
		number_add(a.mean, b.mean), number_add(a.most, b.most) };
}

static struct span
times(struct span span, int64_t count)
{
	return (struct span){ number_multiply(span.least, count),
		number_multiply(span.mean, count),
		number_multiply(span.most, count) };
}

struct span
dry_run_delay(const struct backoff *backoff, int64_t n)
{
	nanos most = backoff_envelope(backoff, n), floor = backoff->floor;
	nanos half = most / 2, least;
	double above;

	if (backoff->jitter == JITTER_FULL)
		return (struct span){ floor, floor + (most - floor) / 2, most };
	if (backoff->jitter == JITTER_EQUAL && half > 0) {
		/* Uniform between half the envelope and the envelope, but a
		 * value below the floor becomes the floor, also in the mean. */
		least = number_greater(most - half, floor);
		above = (double)(most - least);
		return (struct span){ least,
			least + (nanos)(above * above / 2 / (double)half),
			most };
	}
	if (backoff->jitter == JITTER_DECORRELATED) {
		/* At most three times the one before; the cap is reached after
		 * at most 64 times. */
		most = backoff_base(backoff);
		least = number_greater(most, floor);
		for (int64_t i = 0; i < number_lesser(n, 64); i++)
			most = number_greater(
			    number_lesser(
				number_multiply(most, 3), backoff->cap),
			    floor);
		return (struct span){ least, 0, most };
	}
	return (struct span){ most, most, most };
}

/* The sum of the first count delays. */
static struct span
total(const struct backoff *backoff, int64_t count)
{
	struct span all = { 0, 0, 0 }, last = dry_run_delay(backoff, INT64_MAX);
	int64_t n = 1;

	/* Behind a list, delays only grow, until all are like the last one. */
	for (; n <= number_lesser(count, FORECAST_ATTEMPTS); n++) {
		struct span one = dry_run_delay(backoff, n);

		if (n > backoff->delays.count && one.most == last.most)
			break;
		all = sum(all, one);
	}
	return sum(all, times(last, count - n + 1));
}

/* Goes through the worst case, attempt by attempt, up to the deadline. */
static void
find_cut(struct forecast *forecast, const struct policy *policy)
{
	/* Attempts have no limit, and not all have a timeout: each fails at
	 * once. */
	bool quick = forecast->attempts == POLICY_UNLIMITED && !forecast->timed;
	nanos left = policy->deadline, wait;
	int64_t attempt = 1;

	left -= number_lesser(policy->splay, left / 2);
	while (attempt <= FORECAST_ATTEMPTS) {
		int64_t n = attempt <= forecast->retries ? attempt : 1;
		nanos timeout = plan_timeout(policy, attempt);

		if (quick)
			timeout = 0;
		else if (timeout == 0 || timeout > left)
			break;
		if (attempt == forecast->attempts)
			return;
		left -= timeout;
		wait = backoff_trim(&policy->backoff,
		    dry_run_delay(&policy->backoff, n).most, left);
		attempt++;
		if (wait >= left) {
			forecast->cut = attempt;
			return;
		}
		left -= wait;
	}
	forecast->cut = attempt;
	forecast->begun = true;
}

void
dry_run_forecast(struct forecast *forecast, const struct policy *policy)
{
	const struct backoff *backoff = &policy->backoff;
	const struct spans *timeouts = &policy->timeouts;
	int64_t retries = POLICY_UNLIMITED, attempts, listed;
	bool endless;

	/* A limit for any failure is a limit of all retries. Each failure may
	 * end a row that lacks one success. */
	if (policy->attempts != POLICY_UNLIMITED)
		retries = policy->attempts - policy->consecutive;
	for (int i = 0; i < policy->limits; i++)
		if (policy->limit[i]->failures.first.fail)
			retries =
			    number_lesser(retries, policy->limit[i]->retries);
	attempts = number_lesser(policy->attempts,
	    number_multiply(number_add(retries, 1), policy->consecutive));
	endless = attempts == POLICY_UNLIMITED;
	listed = number_lesser(attempts, timeouts->count);
	*forecast = (struct forecast){
		.attempts = attempts,
		.retries = endless ? POLICY_UNLIMITED : retries,
		.repetitions = endless
		    ? number_multiply(attempts, policy->consecutive - 1)
		    : attempts - 1 - retries,
		.splay = { 0, policy->splay / 2, policy->splay },
		.timed = listed > 0,
		.worst = NANOS_MAX,
	};
	if (listed > 0)
		forecast->timeouts = number_multiply(
		    timeouts->list[timeouts->count - 1], attempts - listed);
	for (int64_t i = 0; i < listed; i++) {
		forecast->timed &= timeouts->list[i] > 0;
		forecast->timeouts =
		    number_add(forecast->timeouts, timeouts->list[i]);
	}
	if (!forecast->timed)
		forecast->timeouts = NANOS_MAX;
	if (!endless)
		forecast->total = total(backoff, forecast->retries);
	forecast->total = sum(sum(forecast->total, forecast->splay),
	    times(dry_run_delay(backoff, 1), forecast->repetitions));
	if (!endless)
		forecast->worst =
		    number_add(forecast->total.most, forecast->timeouts);
	forecast->fits =
	    policy->deadline == 0 || forecast->worst <= policy->deadline;
	if (!forecast->fits)
		find_cut(forecast, policy);
}

/*
 * What is shown
 */

/* Puts a line of the table; the columns end at 17, 28 and 39. */
static void
put_row(struct writer *writer, const char *label, const char *least,
    const char *mean, const char *most)
{
	writer_format(writer, "%s%*s%11s%11s\n", label, 17 - (int)strlen(label),
	    least, mean, most);
}

/* Puts a line below the table. Its value begins at column 14, and its remark,
 * if there is any, at 26. */
static void __attribute__((format(printf, 4, 5)))
put_line(struct writer *writer, const char *label, const char *value,
    const char *format, ...)
{
	char remark[256];
	va_list list;

	va_start(list, format);
	vsnprintf(remark, sizeof remark, format, list);
	va_end(list);
	writer_format(writer, "%-14s%-*s%s\n", label, *remark == '\0' ? 0 : 12,
	    value, remark);
}

/* Writes a time, below a minute to the millisecond, as people state service
 * level objectives. */
static char *
put_time(char room[DURATION_ROOM], nanos span)
{
	int64_t ms = number_round(span, NANOS_MS);
	char number[NUMBER_ROOM];

	if (span == 0 || (span >= NANOS_MINUTE && span < NANOS_MAX))
		return duration_format(room, span);
	if (span == NANOS_MAX)
		snprintf(room, DURATION_ROOM, "unbounded");
	else if (ms < 1000)
		snprintf(room, DURATION_ROOM, "%" PRId64 "ms", ms);
	else
		snprintf(room, DURATION_ROOM, "%ss",
		    number_put_decimal(number, ms, 1000));
	return room;
}

static void
put_span(
    struct writer *writer, const char *label, struct span span, bool meanless)
{
	char least[DURATION_ROOM], mean[DURATION_ROOM], most[DURATION_ROOM];

	put_row(writer, label, put_time(least, span.least),
	    meanless ? "-" : put_time(mean, span.mean),
	    put_time(most, span.most));
}

static void
put_table(struct writer *writer, const struct policy *policy,
    const struct forecast *forecast)
{
	const struct backoff *backoff = &policy->backoff;
	bool meanless = backoff->jitter == JITTER_DECORRELATED;
	int64_t retries = forecast->retries;
	int rows = retries > ROWS ? ROWS_FIRST : (int)retries;
	char number[NUMBER_ROOM];

	if (retries == 0 && policy->splay == 0 && forecast->repetitions == 0) {
		writer_put(writer, "no retries\n\n");
		return;
	}
	put_row(writer, "DELAY", "LEAST", "MEAN", "MOST");
	if (policy->splay > 0)
		put_span(writer, "splay", forecast->splay, false);
	for (int i = 1; i <= rows; i++)
		put_span(writer, number_put(number, i),
		    dry_run_delay(backoff, i), meanless);
	if (retries == POLICY_UNLIMITED)
		writer_format(
		    writer, "the first %d retries; there is no limit\n", rows);
	else if (retries != rows)
		writer_format(writer,
		    "the first %d retries; there are %" PRId64 "\n", rows,
		    retries);
	if (forecast->repetitions > 0)
		put_span(
		    writer, "success", dry_run_delay(backoff, 1), meanless);
	if (retries != POLICY_UNLIMITED)
		put_span(writer, "total", forecast->total, meanless);
	writer_put(writer, "\n");
}

/* Nothing takes longer than the deadline. */
static nanos
bounded(const struct policy *policy, const struct forecast *forecast)
{
	return forecast->fits ? forecast->worst : policy->deadline;
}

static void
put_worst(struct writer *writer, const struct policy *policy,
    const struct forecast *forecast)
{
	char room[DURATION_ROOM], each[DURATION_ROOM], delays[DURATION_ROOM];
	char all[DURATION_ROOM];
	int64_t attempts = forecast->attempts;
	bool alike = policy->timeouts.count == 1 || attempts == 1;
	bool fits = forecast->fits;

	put_time(room, bounded(policy, forecast));
	put_time(all, forecast->worst);
	put_time(each, alike ? plan_timeout(policy, 1) : forecast->timeouts);
	put_time(delays, forecast->total.most);
	if (!fits && forecast->worst == NANOS_MAX)
		put_line(writer, "Worst case", room, "the deadline");
	else if (attempts == POLICY_UNLIMITED)
		put_line(writer, "Worst case", room,
		    "there is no limit of attempts");
	else if (!forecast->timed)
		put_line(writer, "Worst case", room,
		    "an attempt may take for ever (no -t)%s",
		    policy->idle_timeout > 0 ? " while it writes" : "");
	else if (forecast->worst == NANOS_MAX)
		put_line(writer, "Worst case", room, "%s", "");
	else
		put_line(writer, "Worst case", room,
		    "%s%s%s%" PRId64 "%s%s%s + %s of delays",
		    fits ? "" : "the deadline, not ", fits ? "" : all,
		    fits ? "" : ": ", attempts,
		    attempts == 1 ? " attempt" : " attempts",
		    alike ? " x " : ", in all ", each, delays);
}

static void
put_deadline(struct writer *writer, const struct policy *policy,
    const struct forecast *forecast)
{
	static const char label[] = "Deadline";
	int64_t cut = forecast->cut;
	bool late = cut > FORECAST_ATTEMPTS;
	int64_t least =
	    number_lesser(forecast->begun ? cut : cut - 1, FORECAST_ATTEMPTS);
	char room[DURATION_ROOM];

	put_time(room, policy->deadline);
	if (policy->deadline == 0)
		put_line(writer, label, "none", "%s", "");
	else if (forecast->fits)
		put_line(writer, label, room, "fits");
	else if (forecast->attempts == POLICY_UNLIMITED)
		put_line(writer, label, room,
		    "until then at least %" PRId64 " %s, if each %s", least,
		    least == 1 ? "attempt" : "attempts",
		    forecast->timed ? "takes its timeout" : "fails at once");
	else if (cut == 0)
		put_line(writer, label, room,
		    "does not fit, but all attempts do with shorter delays");
	else
		put_line(writer, label, room,
		    "does not fit: %s %" PRId64 " of %" PRId64 " would %s",
		    late ? "attempts after" : "attempt",
		    late ? FORECAST_ATTEMPTS : cut, forecast->attempts,
		    forecast->begun ? "be cut off" : "not begin");
}

static void
put_slo(struct writer *writer, const struct policy *policy,
    const struct forecast *forecast)
{
	static const char label[] = "Smallest SLO";
	nanos worst = bounded(policy, forecast);
	char room[DURATION_ROOM];

	if (worst == NANOS_MAX)
		put_line(writer, label, "none", "%s", "");
	else
		put_line(writer, label,
		    put_time(room, number_multiply(worst, 3)),
		    "3 x the worst case");
}

/* What --rate makes of the worst case: other commands may take its places, so
 * there is only a lower bound. */
static void
put_rate(struct writer *writer, const struct policy *policy,
    const struct forecast *forecast)
{
	static const char label[] = "Rate", value[] = "shared";
	const struct rate_terms *terms = &policy->budget.rate;
	int64_t attempts = forecast->attempts, most = INT64_MAX;
	char rate[RATE_ROOM], room[DURATION_ROOM];

	if (policy->budget.key == NULL || terms->number == 0)
		return;
	rate_put(rate, terms);
	if (policy->deadline > 0)
		most = number_multiply(
		    terms->number, policy->deadline / terms->time + 1);
	if (attempts > most)
		put_line(writer, label, value,
		    "%s by all with the key; at most %" PRId64
		    " attempts before the deadline",
		    rate, most);
	else if (attempts > terms->number && attempts != POLICY_UNLIMITED)
		put_line(writer, label, value,
		    "%s by all with the key; %" PRId64
		    " attempts take at least %s",
		    rate, attempts,
		    put_time(room,
			number_multiply(
			    terms->time, (attempts - 1) / terms->number)));
	else
		put_line(writer, label, value, "%s by all with the key", rate);
}

/* A step of the judgement. A preset has a part in each of three. Files of tools
 * count less than the user's LISTs, and more than presets. */
static const struct {
	char option[12], does[8], part[40];
	bool filed;
} steps[] = {
	{ "success-on", "success", "", false },
	{ "success-on", "success", "", true },
	{ "fail-on", "failure", "", false },
	{ "fail-on", "failure", "", true },
	{ "preset", "failure", ": a failure, even with exit status 0", false },
	{ "stop-on", "stop", "", false },
	{ "retry-on", "retry", "", false },
	{ "stop-on", "stop", "", true },
	{ "retry-on", "retry", "", true },
	{ "preset", "stop", ": a failure that stays", false },
	{ "preset", "retry", ": a failure that passes", false },
	{ "retry-if", "ask", "", false },
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
	bool list = !preset && strcmp(given->option, "retry-if") != 0;
	const char *item = given->text;

	for (;;) {
		size_t length = list ? conditions_item(item) : strlen(item);

		writer_format(writer, "%-14s%-12s%s%s ", *label,
		    steps[step].does, preset || steps[step].filed ? "" : "--",
		    given->option);
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
	char advice[ADVICE_ROOM];

	/* There is no preset for the command. */
	if (policy->given == NULL && policy->automatic &&
	    policy->command != NULL && advice_on_rules(advice, policy, true))
		writer_format(writer, "%-14s%s\n", label, advice);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		const struct given *given = policy->given;

		for (; given != NULL; given = given->next) {
			if (strcmp(given->option, steps[i].option) != 0 ||
			    (*steps[i].part == '\0' &&
				steps[i].filed != (given->tool != NULL)) ||
			    (*steps[i].part != '\0' &&
				(given->replaced ||
				    !has_rules(given->text, steps[i].does))))
				continue;
			put_items(writer, i, given, &label);
			if (!advice_on_list(advice, given))
				continue;
			writer_format(writer, "%26s%s\n", "", advice);
		}
	}
}

/* How many retries there are at most after some kinds of failures. */
static void
put_limits(struct writer *writer, const struct policy *policy)
{
	for (int i = 0; i < policy->limits; i++) {
		const struct limit *limit = policy->limit[i];
		const char *list = strchr(limit->text, ':') + 1;

		writer_format(writer, "%-14s%" PRId64 "%s",
		    i == 0 ? "Limits" : "", limit->retries,
		    limit->retries == 1 ? " retry" : " retries");
		writer_pad(writer, 26);
		writer_put(writer, "after ");
		writer_put_escaped(writer, ESCAPE_PLAIN, list, strlen(list));
		writer_put(writer, "\n");
	}
}

/* How long a server is left alone after its limits. */
static void
put_known_waits(struct writer *writer, const struct policy *policy)
{
	const char *label = "Waits", *list;
	char room[DURATION_ROOM];

	for (const struct known_wait *known = policy->known_waits;
	     known != NULL; known = known->next) {
		writer_format(writer, "%-14s%-12s%s", label,
		    put_time(room, known->least), "after ");
		label = "";
		if (known->preset != NULL) {
			writer_format(writer,
			    "a limit of preset %s, doubled each time\n",
			    known->preset);
			continue;
		}
		list = strchr(known->text, ':') + 1;
		writer_put_escaped(writer, ESCAPE_PLAIN, list, strlen(list));
		if (known->location != NULL)
			writer_put_all(
			    writer, STRINGS(" (", known->location, ")"));
		writer_put(writer, "\n");
	}
}

/* Puts a line about a wait that may take more time for each retry, up to most
 * or to the deadline (0: none). */
static void
put_beside(struct writer *writer, const char **label, const char *what,
    nanos most, nanos deadline)
{
	char room[DURATION_ROOM];

	if (deadline > 0 && most > deadline)
		put_line(writer, *label, what, "until the deadline");
	else if (most == NANOS_MAX)
		put_line(writer, *label, what, "without limit a retry");
	else
		put_line(writer, *label, what, "up to %s a retry",
		    put_time(room, most));
	*label = "";
}

/* What may take time that the forecast does not count. */
static void
put_uncounted(struct writer *writer, const struct policy *policy)
{
	const struct budget_config *budget = &policy->budget;
	bool timed = policy->timeouts.count > 0 || policy->idle_timeout > 0 ||
	    policy->kill_orphans;
	bool http = policy->http || policy->http_status != NULL;
	const struct backoff *backoff = &policy->backoff;
	nanos base = backoff_base(backoff), least = base;
	nanos deadline = policy->deadline;
	const char *label = "Not counted";
	char room[DURATION_ROOM];

	if ((timed || deadline > 0) && policy->kill_after > 0) {
		put_line(writer, label, "kill grace", "up to %s %s",
		    put_time(room, policy->kill_after),
		    timed ? "an attempt" : "after the deadline");
		label = "";
	}
	if (http || policy->watches.hints || policy->known_waits != NULL)
		put_beside(writer, &label, "Retry-After",
		    number_greater(policy->max_retry_after,
			known_wait_longest(policy->known_waits)),
		    deadline);
	for (int i = 1; i <= backoff->delays.count; i++)
		least = number_lesser(least, backoff_envelope(backoff, i));
	if (http && least < base)
		put_beside(writer, &label, "after a 429", base, deadline);
	if (budget->key != NULL && budget->wait > 0)
		put_beside(writer, &label, "budget", budget->wait, deadline);
	if (budget->key != NULL && budget->rate.number > 0)
		put_line(writer, label, "rate", "%s",
		    deadline > 0 ? "until the deadline"
				 : "without limit an attempt");
	if (budget->key != NULL && budget->rate.number > 0)
		label = "";
	if (policy->fleet.text != NULL)
		put_beside(writer, &label, "fleet",
		    policy->fleet.config.timeout, deadline);
}

/* What is waited for, a line each, and what follows then. */
static void
put_targets(struct writer *writer, const struct policy *policy)
{
	char room[DURATION_ROOM];

	for (int i = 0; i < policy->target_count; i++) {
		const char *text = policy->targets[i].text;

		writer_format(writer, "%-14s", i == 0 ? "Targets" : "");
		writer_put_escaped(writer, ESCAPE_LINE, text, strlen(text));
		writer_put(writer, "\n");
	}
	put_line(writer, "Deadline", put_time(room, policy->deadline),
	    "then status 124");
	if (policy->then == NULL)
		return;
	writer_format(writer, "%-14s", "Command");
	for (char **word = policy->then; *word != NULL; word++) {
		writer_put(writer, word == policy->then ? "" : " ");
		writer_put_escaped(writer, ESCAPE_LINE, *word, strlen(*word));
	}
	writer_put(writer, "\n");
}

int
dry_run_show(const struct policy *policy)
{
	struct writer writer = { .to = STDOUT_FILENO };
	struct forecast forecast;
	char room[NUMBER_ROOM];

	if (policy->targets != NULL) {
		put_targets(&writer, policy);
		return writer_deliver(&writer) ? 0 : EXIT_STATUS_FAILED;
	}
	dry_run_forecast(&forecast, policy);
	put_table(&writer, policy, &forecast);
	put_worst(&writer, policy, &forecast);
	put_deadline(&writer, policy, &forecast);
	put_slo(&writer, policy, &forecast);
	put_rate(&writer, policy, &forecast);
	put_rules(&writer, policy);
	put_limits(&writer, policy);
	put_known_waits(&writer, policy);
	if (policy->kill_orphans)
		put_line(
		    &writer, "Orphans", "ended", "after each failed attempt");
	if (policy->exhausted_status != 0)
		put_line(&writer, "Status",
		    number_put(room, policy->exhausted_status),
		    "if only a limit ends it");
	put_uncounted(&writer, policy);
	return writer_deliver(&writer) ? 0 : EXIT_STATUS_FAILED;
}
