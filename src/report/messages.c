#include "report/messages.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "exit_status.h"
#include "match/pattern.h"
#include "tools/command_line.h"
#include "tools/preset.h"
#include "report/advice.h"
#include "text/escape.h"
#include "text/number.h"
#include "text/signame.h"

/* The most bytes of what is quoted from an output or from a LIST. */
#define QUOTE 100

/* The most bytes of a part of a message, one more than the log shows; and of
 * all parts. */
#define PART 1001
#define TEXT 6000

char *
messages_label(
    char room[MESSAGES_ROOM], const struct policy *policy, int64_t attempt)
{
	char *end = strchr(number_put(room, attempt), '\0');

	if (policy->attempts != POLICY_UNLIMITED) {
		*end = '/';
		number_put(end + 1, policy->attempts);
	}
	return room;
}

/* A message about a step. */
struct message {
	struct event_loop *loop;
	const struct policy *policy;
	const struct history *history;
	const struct step *step;
	struct report *report; /* keeps the words; NULL: there is none */
	enum loudness least;
	bool attempted; /* it is about an attempt */
	bool continues; /* a second line says more about the end */
	const char *parts[24]; /* of the words, up to a NULL */
	char *text; /* what they point to: TEXT bytes, and one more */
	char quote[QUOTE + 4];
	int64_t used; /* bytes of text */
	int count; /* of parts */
};

/*
 * Adds a part, which printf(3) makes of the format. Of a long part the log cuts
 * off the end, so a text of any length stands there.
 */
static void __attribute__((format(printf, 2, 3)))
put(struct message *message, const char *format, ...)
{
	char *at = message->text + message->used;
	int64_t room = number_lesser(TEXT - message->used, PART + 1);
	va_list values;
	int length;

	va_start(values, format);
	length = vsnprintf(at, (size_t)room, format, values);
	va_end(values);
	message->used += number_lesser(length + 1, room);
	message->parts[message->count++] = at;
	message->parts[message->count] = NULL;
}

/* Keeps words for the report. */
static void
keep(char room[REPORT_TEXT + 4], const char *const strings[])
{
	size_t used = 0;

	for (; *strings != NULL; strings++) {
		size_t length = strlen(*strings);
		size_t fits = escape_cut(*strings, length, REPORT_TEXT - used);

		memcpy(room + used, *strings, fits);
		used += fits;
		if (fits < length) {
			used = (size_t)(stpcpy(room + used, "...") - room);
			break;
		}
	}
	room[used] = '\0';
}

/* Whether the invocation succeeded without a failed attempt. */
static bool
never_failed(const struct message *message)
{
	return message->step->reason == REASON_SUCCEEDED &&
	    message->history->made == message->history->successes;
}

/*
 * Writes a message with its fields in JSON. It is the one about the end of the
 * invocation, unless another attempt or line follows, or every attempt was a
 * success.
 */
static void
say(struct message *message)
{
	const struct step *step = message->step;
	const struct history *history = message->history;
	struct fact facts[4] = { { "attempt", NULL, history->made } };
	struct fact *fact = &facts[1];
	struct report *report = message->report;

	if (report != NULL && message->attempted)
		keep(report_latest(report)->message, message->parts);
	if (report != NULL && !step->again) {
		keep(report->message, message->parts);
		report->said = step->reason;
	}

	if (history->made > 0)
		*fact++ = (struct fact){ "status", NULL, history->status };
	if (step->again)
		*fact =
		    (struct fact){ "delay_ms", NULL, step->delay / NANOS_MS };
	else
		*fact = (struct fact){ "reason",
			verdict_reasons[step->reason].name, 0 };
	log_tell(&message->loop->log,
	    &(struct line){ .least = message->least,
		.last = !step->again && !message->continues &&
		    !never_failed(message),
		.rescued = step->reason == REASON_SUCCEEDED,
		.strings = message->parts,
		.facts = facts });
	message->used = message->count = 0;
}

/*
 * The cause for giving up
 */

/* Copies a part of a text to be quoted; of a long part only the beginning. */
static const char *
excerpt(struct message *message, const char *text, size_t length)
{
	size_t shown = escape_cut(text, length, QUOTE);

	snprintf(message->quote, sizeof message->quote, "%.*s%s", (int)shown,
	    text, shown < length ? "..." : "");
	return message->quote;
}

/* Adds " (FILE:LINE)" if a policy file has the rule. */
static void
add_location(struct message *message, const struct given *given)
{
	if (given != NULL && given->location != NULL)
		put(message, " (%s)", given->location);
}

/*
 * The item of a LIST that names the failure, or NULL. A pattern is found again
 * among the watches, where it stands since it was parsed.
 */
static const char *
find_item(struct message *message, const char *list)
{
	for (;;) {
		size_t length = conditions_item(list);
		struct watches watches = message->policy->watches;
		struct conditions one = { .fail = false };
		struct conditions_error error;
		const char *item = list[length] == '\0'
		    ? list
		    : excerpt(message, list, length);

		if (conditions_parse(&one, &watches, item, &error) &&
		    verdict_fails_by(&one, &message->history->last))
			return item;
		if (list[length] == '\0')
			return NULL;
		list += length + 1;
	}
}

/*
 * Finds the shortest text that the pattern matches and that ends first, with
 * all of its first and its last word. The line is bytes up to end. NULL:
 * nothing matches.
 */
static const char *
find_words(struct message *message, struct pattern *pattern, const char *line,
    const char *end)
{
	static const char around[] = " \t\r\"";
	const char *from = line, *to = line, *beyond;

	pattern_start(pattern);
	while (to < end && !pattern_feed(pattern, to, 1))
		to++;
	if (to == end && !pattern_feed(pattern, "\n", 1))
		return NULL;
	to += to < end;
	/* The match begins at from or later, but before beyond. */
	for (beyond = to; beyond - from > 1;) {
		const char *middle = from + (beyond - from) / 2;

		pattern_start(pattern);
		if (pattern_feed(pattern, middle, (size_t)(to - middle)) ||
		    pattern_end(pattern))
			from = middle;
		else
			beyond = middle;
	}
	while (from < to && *from == ' ')
		from++;
	while (from > line && strchr(around, from[-1]) == NULL)
		from--;
	while (to > from && to[-1] == ' ')
		to--;
	while (to < end && to > from && to[-1] != ' ' &&
	    strchr(around, *to) == NULL)
		to++;
	while (to > from + 1 && strchr(" \r.,:;", to[-1]) != NULL)
		to--;
	return excerpt(message, from, (size_t)(to - from));
}

/* Finds what the watch has matched at the end of its stream. NULL if too much
 * was written after it. */
static const char *
find_match(struct message *message, const struct watch *watch)
{
	static struct pattern pattern; /* too large for the stack */
	const char *words = NULL, *text = NULL, *end;
	struct pattern_error error;
	size_t length;

	length = relay_tail(&message->loop->streams.relay, watch->fd, &text);
	end = text + length;
	if (!pattern_compile(
		&pattern, watch->text, strlen(watch->text), &error))
		return NULL;
	while (words == NULL && text < end) {
		const char *line = text;

		text = memchr(line, '\n', (size_t)(end - line));
		if (text == NULL)
			text = end;
		words = find_words(message, &pattern, line, text);
		text += text < end;
	}
	return words;
}

/* The first of the watches in a set of bits, or NULL if it is empty. */
static const struct watch *
first_of(const struct policy *policy, uint64_t bits)
{
	int first = ffsll((long long)bits);

	return first == 0 ? NULL : &policy->watches.list[first - 1];
}

/* Adds "preset NAME: ". */
static void
add_preset(struct message *message, const char *name)
{
	put(message, "%s%s: ", name == NULL ? "a preset" : "preset ",
	    name == NULL ? "" : name);
}

/* Adds "--stop-on 75 (FILE:LINE)", with the item of this option's LISTs that
 * names the failure, and returns this item. NULL if none does. */
static const char *
add_item(struct message *message, const char *option)
{
	const struct given *given = message->policy->given;
	const char *item = NULL;

	for (; given != NULL; given = given->next) {
		if (strcmp(given->option, option) == 0)
			item = find_item(message, given->text);
		if (item == NULL)
			continue;
		put(message, "--%s %s", option, item);
		add_location(message, given);
		return item;
	}
	return NULL;
}

/* Says which preset calls the failure fatal, and what of the output it knows.
 * False if none does. */
static bool
add_fatal(struct message *message)
{
	const struct policy *policy = message->policy;
	const struct watch *watch = first_of(
	    policy, policy->rules.fatal.watches & message->history->last.seen);
	const char *words;

	if (watch == NULL)
		return false;
	words = find_match(message, watch);
	add_preset(message, watch->preset);
	if (words == NULL)
		put(message, "this failure");
	else
		put(message, "\"%s\"", words);
	put(message, " cannot be cured by a retry");
	return true;
}

/* How often an option was given, and the last time. */
static int
count(
    const struct policy *policy, const char *option, const struct given **last)
{
	const struct given *given = policy->given;
	int times = 0;

	*last = NULL;
	for (; given != NULL; given = given->next)
		if (strcmp(given->option, option) == 0) {
			*last = given;
			times++;
		}
	return times;
}

/* Why the last attempt is not retried, by the rule that judged it. */
static void
add_rule(struct message *message)
{
	const struct policy *policy = message->policy;
	const struct outcome *last = &message->history->last;
	const struct http_status *http = &last->http;
	const char *rule = message->history->judgement.rule, *one, *name;
	const struct given *list, *preset;
	int lists = count(policy, "retry-on", &list);
	int presets = count(policy, "preset", &preset);
	char signal[SIGNAME_ROOM];

	if (strcmp(rule, "http") == 0) {
		if (http->after.never)
			put(message, "the server wants no retry");
		else if (http->code > 0)
			put(message, "HTTP %d is not retried%s", http->code,
			    http->code == 403 || http->code == 413
				? " without a Retry-After"
				: "");
		else
			put(message, "%s",
			    verdict_reasons[REASON_NOT_RETRYABLE].words);
		return;
	}
	if (strcmp(rule, "signal") == 0) {
		put(message, "%s is not retried unless --retry-on names it",
		    signame_put(signal, last->code));
		return;
	}
	if (strcmp(rule, "preset") == 0 && add_fatal(message))
		return;

	/* Neither --retry-on nor a preset names the failure, but the user's own
	 * rule may have made it one. */
	if (last->end == END_EXITED && last->code == 0 &&
	    add_item(message, "fail-on") != NULL)
		put(message, ", ");
	one = presets == 1 ? "preset " : "the presets";
	name = presets == 1 ? preset->text : "";
	if (lists == 1) {
		put(message, "not in --retry-on %s", list->text);
		add_location(message, list);
	} else if (lists > 1) {
		put(message, "not in any --retry-on");
	}
	if (lists > 0 && presets > 0)
		put(message, ", and not a transient failure for %s%s", one,
		    name);
	else if (presets > 0)
		put(message, "%s%s: not a transient failure, see --retry-on",
		    one, name);
}

/* Why the command must not run twice. */
static void
add_unsafe(struct message *message)
{
	const char *method = message->history->request.method;
	const struct given *preset;

	if (method != NULL) {
		put(message, "a %s", method);
		return;
	}
	if (count(message->policy, "preset", &preset) == 1)
		add_preset(message, preset->text);
	else
		put(message, "the presets: ");
	put(message, "what it started elsewhere may still run");
}

/* What would have waited for the budget, in brackets; "" if nothing would. */
static const char *
remedy(const struct message *message)
{
	const struct admission *admission = &message->history->admission;

	return message->step->reason == REASON_BUDGET && !admission->never &&
		message->policy->budget.wait == 0
	    ? " (--budget-wait waits for it)"
	    : "";
}

/* Says which input the next attempt would lack, and what helps. */
static void
add_consumed(struct message *message)
{
	const struct input *lost = message->loop->streams.lost;

	if (lost == NULL) {
		put(message, "more pipes are named than can be watched");
		return;
	}
	put(message, "%s was already consumed", lost->name);
	put(message, "%s",
	    message->policy->replay        ? ", and cannot be read again"
		: lost->fd == STDIN_FILENO ? ": use -I or </dev/null"
					   : ": use -I");
}

/* Adds the words that follow "giving up: ". */
static void
add_cause(struct message *message)
{
	const struct policy *policy = message->policy;
	const struct history *history = message->history;
	const struct outcome *last = &history->last;
	enum reason reason = message->step->reason;
	const struct given *given;
	char span[DURATION_ROOM];

	if (last->overrun) {
		put(message, "more output than --hold-max");
	} else if (reason == REASON_STOP_RULE) {
		if (add_item(message, "stop-on") == NULL)
			put(message, "--stop-on");
	} else if (reason == REASON_NOT_RETRYABLE) {
		add_rule(message);
	} else if (reason == REASON_INTERNAL && last->end == END_NOT_STARTED) {
		put(message, "cannot run the command");
	} else if (reason == REASON_INTERNAL && last->lost == reason) {
		put(message, "output is lost");
	} else if (reason == REASON_INTERNAL) {
		put(message, "cannot run --retry-if");
	} else if (reason == REASON_RETRY_IF) {
		put(message, "%s", verdict_reasons[reason].words);
		count(policy, "retry-if", &given);
		add_location(message, given);
	} else if (reason == REASON_NOT_IDEMPOTENT) {
		add_unsafe(message);
		put(message, "%s",
		    history->request.method != NULL
			? " is not sent twice without --idempotency-key"
			: ", see --retry-on timeout");
	} else if (reason == REASON_INPUT_CONSUMED) {
		add_consumed(message);
	} else if (reason == REASON_ATTEMPTS &&
	    history->made < policy->attempts) {
		put(message, "too few attempts left");
	} else {
		put(message, "%s%s", verdict_reasons[reason].words,
		    remedy(message));
	}
	if (reason == REASON_RETRY_AFTER)
		put(message, " (%s)%s",
		    duration_format(span, verdict_wait(last)),
		    message->step->delay == 0 ? ""
					      : ", the deadline comes first");
	if (reason == REASON_DEADLINE && message->step->delay > 0)
		put(message, ", the next delay (%s) does not fit",
		    duration_format(span, message->step->delay));
	if (reason == REASON_LIMIT)
		put(message, " (%s)", history->limit->text);
}

/*
 * Why an attempt was judged so, for the report
 */

/* Says which preset calls the failure transient, or made it a failure: by what
 * of the output, or by which exit status. */
static void
add_known(struct message *message)
{
	const struct rules *rules = &message->policy->rules;
	const struct given *given = message->policy->given;
	uint64_t bits = rules->transient.watches |
	    rules->tool_transient.watches | rules->tool_failed.watches;
	const struct watch *watch =
	    first_of(message->policy, bits & message->history->last.seen);
	const char *words = NULL, *item = NULL;
	struct preset preset;

	if (watch != NULL)
		words = find_match(message, watch);
	while (watch == NULL && item == NULL && given != NULL) {
		if (strcmp(given->option, "preset") == 0 &&
		    preset_find(given->text, strlen(given->text), &preset))
			item = find_item(message, preset.codes);
		given = given->next;
	}
	if (watch == NULL && item == NULL)
		return;
	add_preset(message, watch != NULL ? watch->preset : preset.name);
	if (watch == NULL)
		put(message, "%s", item);
	else if (words != NULL)
		put(message, "\"%s\"", words);
	else
		put(message, "its output");
}

/* Adds what the pattern of an item of a LIST has matched. */
static void
add_matched(struct message *message, const char *item)
{
	const struct watches *watches = &message->policy->watches;
	const char *pattern = item + CONDITIONS_STREAM, *words = NULL;

	if (conditions_stream(item) == 0)
		return;
	for (int i = 0; i < watches->count && words == NULL; i++)
		if (watches->list[i].preset == NULL &&
		    strcmp(watches->list[i].text, pattern) == 0)
			words = find_match(message, &watches->list[i]);
	if (words != NULL)
		put(message, ": \"%s\"", words);
}

/* Keeps the rule by which the latest attempt was judged, and what matched it.
 */
static void
keep_why(struct message *message)
{
	const struct judgement *judgement = &message->history->judgement;
	const struct outcome *last = &message->history->last;
	const struct policy *policy = message->policy;
	const struct limit *limit = message->history->limit;
	const char *rule = judgement->rule, *item;
	const struct given *given;
	char size[NUMBER_SIZE_ROOM];

	if (last->overrun) {
		put(message, "--hold-max %s",
		    number_put_size(size, policy->hold_max));
	} else if (message->step->reason == REASON_LIMIT) {
		put(message, "--limit %s", limit->text);
		add_location(
		    message, &(struct given){ .location = limit->location });
	} else if (judgement->reason == REASON_RETRY_IF) {
		put(message, "--retry-if %s", policy->retry_if);
		count(policy, rule, &given);
		add_location(message, given);
	} else if (judgement->reason == REASON_NOT_RETRYABLE) {
		add_rule(message);
	} else if (judgement->reason == REASON_NOT_IDEMPOTENT) {
		add_unsafe(message);
	} else if (strcmp(rule, "http") == 0) {
		put(message, "HTTP %d", last->http.code);
	} else if (strcmp(rule, "success-on") == 0 ||
	    strcmp(rule, "stop-on") == 0 || strcmp(rule, "retry-on") == 0 ||
	    strcmp(rule, "fail-on") == 0) {
		item = add_item(message, rule);
		if (item != NULL)
			add_matched(message, item);
		else
			add_known(message);
	} else if (strcmp(rule, "preset") == 0) {
		add_known(message);
	} else if (judgement->verdict == VERDICT_REPEAT) {
		put(message, "--consecutive %" PRId64, policy->consecutive);
	}
	keep(report_latest(message->report)->why, message->parts);
	message->used = message->count = 0;
}

/*
 * Steps
 */

/* Adds how an attempt ended: " failed (exit 22, HTTP 503)". */
static void
add_end(struct message *message, bool succeeded)
{
	const struct policy *policy = message->policy;
	const struct outcome *outcome = &message->history->last;
	const char *words = verdict_ends[outcome->end].words;
	nanos after = outcome->elapsed;
	char room[DURATION_ROOM], end[VERDICT_END_ROOM];

	if (outcome->end == END_EXITED) {
		put(message, " %s (%s", succeeded ? "succeeded" : "failed",
		    verdict_put_end(end, outcome));
		if (outcome->http.code > 0)
			put(message, ", HTTP %d", outcome->http.code);
		put(message, ")");
	} else if (outcome->end == END_SIGNALED) {
		put(message, " %s", verdict_put_end(end, outcome));
	} else if (outcome->end == END_NOT_STARTED) {
		put(message, " %s (%s%s%s)", words,
		    outcome->lacking == NULL ? "" : outcome->lacking,
		    outcome->lacking == NULL ? "" : ": ",
		    strerror(outcome->error));
	} else if (outcome->end == END_IDLE) {
		put(message, " ended after %s without output",
		    duration_format(room, policy->idle_timeout));
	} else {
		if (outcome->end == END_TIMED_OUT)
			after = plan_timeout(policy, message->history->made);
		put(message, " %s after %s", words,
		    duration_format(room, after));
	}
}

/* Says "attempt 2/4 failed (exit 7), retrying in 2s" and the like. */
static void
say_attempt(struct message *message)
{
	const struct policy *policy = message->policy;
	const struct history *history = message->history;
	const struct outcome *outcome = &history->last;
	const struct step *step = message->step;
	bool succeeded = history->successes > 0;
	char label[MESSAGES_ROOM], span[DURATION_ROOM];

	/* With --log-format github a success after retries is shown without -v
	 * too, as the annotation. A failure of retry itself is shown with -q
	 * too. */
	if (step->reason == REASON_SUCCEEDED
		? policy->log_format != LOG_GITHUB || never_failed(message)
		: step->again && succeeded)
		message->least = LOUDNESS_VERBOSE;
	else if (step->reason != REASON_SUCCEEDED && !step->again &&
	    (outcome->end == END_NOT_STARTED ||
		step->reason == REASON_INTERNAL))
		message->least = LOUDNESS_QUIET;
	/* Most successes are not said, so their text is not made. */
	if (policy->loudness < message->least && message->report == NULL)
		return;

	put(message, "attempt %s",
	    messages_label(label, policy, history->made));
	add_end(message, succeeded);
	if (succeeded && outcome->end != END_EXITED)
		put(message, ": succeeded");
	if (succeeded && strcmp(history->judgement.rule, "success-on") == 0) {
		put(message, " by ");
		add_item(message, history->judgement.rule);
	}
	if (succeeded && policy->consecutive > 1)
		put(message, ", %" PRId64 " of %" PRId64 " in a row",
		    history->successes, policy->consecutive);
	if (step->again) {
		put(message, "%s in %s", succeeded ? ", next" : ", retrying",
		    duration_format(span, step->delay));
		/* Others may use the budget up during the delay. */
		if (!succeeded && policy->budget.key != NULL)
			put(message, " if the budget allows");
	} else if (step->reason != REASON_SUCCEEDED) {
		put(message, ", giving up: ");
		add_cause(message);
	}
	say(message);
}

/* Adds "; this host alone, 1 retry in 60s". */
static void
add_alone(struct message *message, const struct admission *admission)
{
	int64_t share = admission->fleet.share;
	char window[NUMBER_ROOM];

	number_put_decimal(window, admission->terms.window, NANOS_SECOND);
	put(message, "; this host alone, %" PRId64 " %s in %ss", share,
	    share == 1 ? "retry" : "retries", window);
}

/* Adds why the breaker admits no attempt at present. */
static void
add_breaker(struct message *message)
{
	const struct breaker_view *breaker =
	    &message->history->admission.breaker;

	if (breaker->state == BREAKER_RECOVERING)
		put(message,
		    "recovering, %" PRId64 " attempts a second, ask again in ",
		    breaker->rate);
	else
		put(message, "open after %" PRId64 "%s, %s in ",
		    breaker->failures,
		    breaker->failures == 1 ? " failure"
					   : " consecutive failures",
		    breaker->state == BREAKER_HALF_OPEN
			? "probe under way, ask again"
			: "probe");
}

/* Adds why the fleet denies a retry: what it has used up, or its server is
 * silent and this host has used up its share. */
static void
add_fleet(struct message *message, const char *window)
{
	const struct admission *admission = &message->history->admission;
	const struct host_view *view = &admission->view;
	const char *silence = admission->silence;

	if (admission->fleet.silent) {
		put(message, "%s",
		    silence != NULL ? silence : "no answer lately");
		add_alone(message, admission);
	} else {
		put(message,
		    "exhausted, %" PRId64 " of %" PRId64
		    " retries used in %ss by %" PRId64 "%s",
		    view->retries, view->limit, window, view->hosts,
		    view->hosts == 1 ? " host" : " hosts");
	}
	put(message, ", ask again in about ");
}

/* Adds why the budget of this host denies a retry. */
static void
add_budget(struct message *message, const char *window)
{
	const struct admission *admission = &message->history->admission;
	const struct terms *terms = &admission->terms;
	int64_t successes = admission->sums.successes;
	char ratio[NUMBER_ROOM];

	number_put_decimal(ratio, terms->ratio, WINDOW_RATIO_ONE);
	if (admission->cooling)
		put(message, "no retries after a denial, next ");
	else
		put(message,
		    "exhausted, %" PRId64 " of %" PRId64
		    " retries used in %ss (%" PRId64
		    "%s, ratio %s, min %" PRId64 "), next ",
		    admission->sums.retries, window_limit(terms, successes),
		    window, successes,
		    successes == 1 ? " success" : " successes", ratio,
		    terms->min);
	if (admission->next < NANOS_MAX)
		put(message, "in about ");
}

/* Says why the next attempt may not begin, and what retry does now. */
static void
say_denied(struct message *message, bool attempted)
{
	const struct policy *policy = message->policy;
	const struct admission *admission = &message->history->admission;
	bool fleet = admission->fleet.decision == HOST_DENIED;
	const char *then = "; giving up", *next;
	char window[NUMBER_ROOM], span[DURATION_ROOM];

	if (message->step->again)
		then = "; waiting";
	else if (message->history->made == 0)
		then = "; command not run";
	number_put_decimal(window, admission->terms.window, NANOS_SECOND);
	next = duration_format(span, admission->next);
	if (fleet) {
		put(message, "fleet '%s", policy->fleet.text);
		put(message, "': ");
	}
	/* A silent server has not denied the retry of this budget. */
	if (!fleet || !admission->fleet.silent) {
		put(message, "%s '%s",
		    admission->answer == ADMISSION_BREAKER ? "breaker"
							   : "budget",
		    policy->budget.key);
		put(message, "': ");
	}
	if (admission->answer == ADMISSION_HOLD) {
		put(message, "the server asked to wait ");
	} else if (admission->answer == ADMISSION_BREAKER) {
		add_breaker(message);
	} else if (fleet) {
		add_fleet(message, window);
	} else {
		add_budget(message, window);
		if (admission->next == NANOS_MAX)
			next = admission->never && !admission->cooling
			    ? "never"
			    : "after a success";
	}
	put(message, "%s%s%s", next, then, attempted ? "" : remedy(message));
	say(message);
}

void
messages_step(struct event_loop *loop, const struct history *history,
    const struct step *step, bool attempted, struct report *report)
{
	/* Most steps say nothing, and touch no page of it. */
	static char text[TEXT + 1];
	const struct policy *policy = loop->log.policy;
	const struct outcome *last = &history->last;
	bool held = history->admission.answer == ADMISSION_HOLD;
	bool denied = step->again
	    ? !attempted
	    : step->reason == REASON_BREAKER || step->reason == REASON_BUDGET ||
		(step->reason == REASON_RETRY_AFTER && held);
	struct message message = { .loop = loop,
		.policy = policy,
		.history = history,
		.step = step,
		.report = policy->report != NULL ? report : NULL,
		.least = LOUDNESS_PLAIN,
		.attempted = attempted,
		.continues = denied && attempted,
		.text = text };
	char advice[ADVICE_ROOM];

	if (attempted && message.report != NULL)
		keep_why(&message);
	if (policy->waits && policy->label == NULL && !step->again &&
	    step->reason != REASON_NOT_EXECUTABLE)
		put(&message, "waited for %s: ",
		    command_line_program(policy->command[0]));
	if (attempted && step->reason == REASON_NOT_EXECUTABLE) {
		message.least = LOUDNESS_QUIET;
		put(&message, "cannot run '%s", policy->command[0]);
		put(&message, "': %s", strerror(last->error));
		say(&message);
		message.report = NULL;
		/* A whole shell line may be too long for a name. */
		if ((verdict_status(last) == EXIT_STATUS_NOT_FOUND ||
			last->error == ENAMETOOLONG) &&
		    advice_find(advice, policy->command)) {
			put(&message, "%s", advice);
			say(&message);
		}
	} else if (attempted) {
		say_attempt(&message);
	} else if (!denied) {
		put(&message, "giving up before attempt %" PRId64 ": ",
		    history->made + 1);
		if (step->reason == REASON_INPUT_CONSUMED)
			add_consumed(&message);
		else
			put(&message, "%s",
			    verdict_reasons[step->reason].words);
		say(&message);
	}
	message.continues = message.attempted = false;
	if (denied)
		say_denied(&message, attempted);

	/* While lines are held, the advice would replace the one above. */
	if (!loop->log.holding && attempted && history->made == 1 &&
	    history->successes == 0 && step->reason != REASON_NOT_EXECUTABLE &&
	    advice_on_rules(advice, policy))
		log_say(&loop->log,
		    policy->given == NULL ? LOUDNESS_VERBOSE : LOUDNESS_PLAIN,
		    STRINGS(advice));
}

void
messages_alone(struct log *log, const struct admission *admission)
{
	char text[TEXT + 1];
	struct message message = { .policy = log->policy, .text = text };

	if (admission->fleet.decision != HOST_ALONE ||
	    admission->silence == NULL)
		return;
	put(&message, "fleet '%s", log->policy->fleet.text);
	put(&message, "': %s", admission->silence);
	add_alone(&message, admission);
	log_warn(log, message.parts);
}

void
messages_end(struct log *log, const struct history *history, enum reason reason,
    nanos now)
{
	const struct policy *policy = log->policy;
	bool last = policy->log_format == LOG_GITHUB && !log->concluded &&
	    reason != REASON_SUCCEEDED;
	enum loudness least = last ? LOUDNESS_PLAIN : LOUDNESS_VERBOSE;
	char text[128], span[DURATION_ROOM];

	/* Nearly always it is not said, so its text is not made. */
	if (policy->loudness < least)
		return;
	duration_format(span, now - history->began);
	snprintf(text, sizeof text,
	    "ended after %" PRId64 " attempt%s in %s: %s%s", history->made,
	    history->made == 1 ? "" : "s", span, verdict_reasons[reason].name,
	    reason == REASON_SUCCEEDED && history->made > history->successes
		? ", rescued by a retry"
		: "");
	log_tell(log,
	    &(struct line){
		.least = least, .last = last, .strings = STRINGS(text) });
}
