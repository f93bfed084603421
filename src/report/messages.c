#include "report/messages.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "exit_status.h"
#include "match/pattern.h"
#include "tools/preset.h"
#include "report/advice.h"
#include "text/escape.h"
#include "text/number.h"
#include "text/signame.h"

/* The most bytes of what is quoted from an output or from a LIST. */
#define QUOTE 100

/* Room for "; this host alone, 3 retries in 60s". */
#define ALONE_ROOM 80

/* Room for why the next attempt may not begin. */
#define DENIAL_ROOM 320

/* Input was consumed in spite of --replay-stdin. */
static const char no_replay[] =
    "standard input was already consumed, and cannot be read again";

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
	const char *strings[24]; /* the words so far, up to a NULL */
	char quote[QUOTE + 4]; /* what these strings may point to */
	char text[64];
};

/* Adds strings to the words. */
static void
add(struct message *message, const char *const strings[])
{
	const char **to = message->strings;

	while (*to != NULL)
		to++;
	while (*strings != NULL)
		*to++ = *strings++;
	*to = NULL;
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
say(const struct message *message, const char *const strings[])
{
	const struct step *step = message->step;
	const struct history *history = message->history;
	struct fact facts[4] = { { "attempt", NULL, history->made } };
	struct fact *fact = &facts[1];
	struct report *report = message->report;

	if (report != NULL && message->attempted)
		keep(report_latest(report)->message, strings);
	if (report != NULL && !step->again) {
		keep(report->message, strings);
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
		.strings = strings,
		.facts = facts });
}

/*
 * The cause for giving up
 */

/* Copies a part of a text to be quoted; of a long part only the beginning. */
static const char *
excerpt(struct message *message, const char *text, size_t length)
{
	size_t shown = escape_cut(text, length, QUOTE);

	memcpy(message->quote, text, shown);
	memcpy(message->quote + shown, "...", 4);
	if (shown == length)
		message->quote[shown] = '\0';
	return message->quote;
}

/* Adds " (FILE:LINE)" if a policy file has the rule. */
static void
add_location(struct message *message, const struct given *given)
{
	if (given != NULL && given->location != NULL)
		add(message, STRINGS(" (", given->location, ")"));
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

/*
 * Finds what the watch has matched at the end of its stream. NULL without
 * memory, or if too much was written after it.
 */
static const char *
find_match(struct message *message, const struct watch *watch)
{
	struct report *report = message->report;
	struct pattern *own = report != NULL ? NULL : malloc(sizeof *own);
	struct pattern *pattern = report != NULL ? &report->pattern : own;
	const char *words = NULL, *text = NULL, *end;
	struct pattern_error error;
	size_t length;

	length = relay_tail(&message->loop->streams.relay, watch->fd, &text);
	end = text + length;
	if (pattern == NULL ||
	    !pattern_compile(pattern, watch->text, strlen(watch->text), &error))
		text = end;
	while (words == NULL && text < end) {
		const char *line = text;

		text = memchr(line, '\n', (size_t)(end - line));
		if (text == NULL)
			text = end;
		words = find_words(message, pattern, line, text);
		text += text < end;
	}
	free(own);
	return words;
}

/* The first of the watches in a set of bits, or NULL if it is empty. */
static const struct watch *
first_of(const struct policy *policy, uint64_t bits)
{
	const struct watch *watch = policy->watches.list;

	for (; bits != 0 && (bits & 1) == 0; bits >>= 1)
		watch++;
	return bits == 0 ? NULL : watch;
}

/* Adds "preset NAME: ". */
static void
add_preset(struct message *message, const char *name)
{
	add(message,
	    name == NULL ? STRINGS("a preset: ")
			 : STRINGS("preset ", name, ": "));
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
		add(message, STRINGS("--", option, " ", item));
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
	add(message,
	    words == NULL ? STRINGS("this failure")
			  : STRINGS("\"", words, "\""));
	add(message, STRINGS(" cannot be cured by a retry"));
	return true;
}

/* The only one that was given of this option; NULL: none or several. */
static const struct given *
only(const struct policy *policy, const char *option, bool *any)
{
	const struct given *found = NULL;

	*any = false;
	for (const struct given *given = policy->given; given != NULL;
	     given = given->next) {
		if (strcmp(given->option, option) != 0)
			continue;
		found = *any ? NULL : given;
		*any = true;
	}
	return found;
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
	bool listed, known, own;

	if (strcmp(rule, "http") == 0) {
		const char *why = message->text;

		snprintf(message->text, sizeof message->text,
		    "HTTP %d is not retried%s", http->code,
		    http->code == 403 || http->code == 413
			? " without a Retry-After"
			: "");
		if (http->after.never)
			why = "the server wants no retry";
		else if (!http->known || http->code == 0)
			why = verdict_reasons[REASON_NOT_RETRYABLE].words;
		add(message, STRINGS(why));
		return;
	}
	if (strcmp(rule, "signal") == 0) {
		add(message,
		    STRINGS(signame_put(message->text, last->code),
			" is not retried unless --retry-on names it"));
		return;
	}
	if (strcmp(rule, "preset") == 0 && add_fatal(message))
		return;

	/* Neither --retry-on nor a preset names the failure, but the user's own
	 * rule may have made it one. */
	own = last->end == END_EXITED && last->code == 0 &&
	    add_item(message, "fail-on") != NULL;
	if (own)
		add(message, STRINGS(", "));
	list = only(policy, "retry-on", &listed);
	preset = only(policy, "preset", &known);
	one = preset != NULL ? "preset " : "the presets";
	name = preset != NULL ? preset->text : "";
	if (list != NULL) {
		add(message, STRINGS("not in --retry-on ", list->text));
		add_location(message, list);
	} else if (listed) {
		add(message, STRINGS("not in any --retry-on"));
	}
	if (listed && known)
		add(message,
		    STRINGS(", and not a transient failure for ", one, name));
	else if (known)
		add(message,
		    STRINGS(one, name,
			": not a transient failure, see --retry-on"));
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

/* Adds the words that follow "giving up: ". */
static void
add_cause(struct message *message)
{
	const struct policy *policy = message->policy;
	const struct history *history = message->history;
	const struct outcome *last = &history->last;
	enum reason reason = message->step->reason;
	bool known;

	if (last->overrun) {
		add(message, STRINGS("more output than --hold-max"));
	} else if (reason == REASON_STOP_RULE) {
		if (add_item(message, "stop-on") == NULL)
			add(message, STRINGS("--stop-on"));
	} else if (reason == REASON_NOT_RETRYABLE) {
		add_rule(message);
	} else if (reason == REASON_INTERNAL && last->end == END_NOT_STARTED) {
		add(message, STRINGS("cannot run the command"));
	} else if (reason == REASON_INTERNAL) {
		add(message, STRINGS("cannot run --retry-if"));
	} else if (reason == REASON_RETRY_IF) {
		add(message, STRINGS(verdict_reasons[reason].words));
		add_location(message, only(policy, "retry-if", &known));
	} else if (reason == REASON_NOT_IDEMPOTENT) {
		add(message,
		    STRINGS("a ", message->history->request.method,
			policy->key == NULL
			    ? " is not sent twice without --idempotency-key"
			    : " is not sent twice if curl gets no key"));
	} else if (reason == REASON_INPUT_CONSUMED && policy->replay) {
		add(message, STRINGS(no_replay));
	} else if (reason == REASON_ATTEMPTS &&
	    history->made < policy->attempts) {
		add(message, STRINGS("too few attempts left"));
	} else {
		add(message,
		    STRINGS(verdict_reasons[reason].words, remedy(message)));
	}
	if (reason == REASON_RETRY_AFTER)
		add(message,
		    STRINGS(" (",
			duration_format(message->text, verdict_wait(last)),
			verdict_wait(last) > policy->max_retry_after
			    ? ")"
			    : "), the deadline comes first"));
	if (reason == REASON_LIMIT)
		add(message, STRINGS(" (", history->limit->text, ")"));
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
	for (; watch == NULL && item == NULL && given != NULL;
	     given = given->next)
		if (strcmp(given->option, "preset") == 0 &&
		    preset_find(given->text, strlen(given->text), &preset))
			item = find_item(message, preset.codes);
	if (watch == NULL && item == NULL)
		return;
	add_preset(message, watch != NULL ? watch->preset : preset.name);
	if (watch == NULL)
		add(message, STRINGS(item));
	else if (words != NULL)
		add(message, STRINGS("\"", words, "\""));
	else
		add(message, STRINGS("its output"));
}

/* Adds what the pattern of an item of a LIST has matched. */
static void
add_matched(struct message *message, const char *item)
{
	const struct watches *watches = &message->policy->watches;
	const char *pattern = item + sizeof "stderr:" - 1, *words = NULL;

	if (strncmp(item, "stderr:", 7) != 0 &&
	    strncmp(item, "stdout:", 7) != 0)
		return;
	for (int i = 0; i < watches->count && words == NULL; i++)
		if (watches->list[i].preset == NULL &&
		    strcmp(watches->list[i].text, pattern) == 0)
			words = find_match(message, &watches->list[i]);
	if (words != NULL)
		add(message, STRINGS(": \"", words, "\""));
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
	bool known;

	if (last->overrun) {
		add(message,
		    STRINGS("--hold-max ",
			number_put_size(message->text, policy->hold_max)));
	} else if (message->step->reason == REASON_LIMIT) {
		add(message, STRINGS("--limit ", limit->text));
		add_location(
		    message, &(struct given){ .location = limit->location });
	} else if (judgement->reason == REASON_RETRY_IF) {
		add(message, STRINGS("--retry-if ", policy->retry_if));
		add_location(message, only(policy, rule, &known));
	} else if (judgement->reason == REASON_NOT_RETRYABLE) {
		add_rule(message);
	} else if (judgement->reason == REASON_NOT_IDEMPOTENT) {
		add(message, STRINGS("a ", message->history->request.method));
	} else if (strcmp(rule, "http") == 0) {
		snprintf(message->text, sizeof message->text, "HTTP %d",
		    last->http.code);
		add(message, STRINGS(message->text));
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
		add(message,
		    STRINGS("--consecutive ",
			number_put(message->text, policy->consecutive)));
	}
	keep(report_latest(message->report)->why, message->strings);
	message->strings[0] = NULL;
}

/*
 * Steps
 */

/* Writes how an attempt ended: " failed (exit 22, HTTP 503)". */
static void
put_end(char *room, size_t size, const struct message *message, bool succeeded)
{
	const struct policy *policy = message->policy;
	const struct outcome *outcome = &message->history->last;
	const char *words = verdict_ends[outcome->end].words;
	nanos after = outcome->end == END_TIMED_OUT
	    ? plan_timeout(policy, message->history->made)
	    : outcome->elapsed;
	char detail[DURATION_ROOM] = "";

	if (outcome->end == END_EXITED) {
		if (outcome->http.known && outcome->http.code != 0)
			snprintf(detail, sizeof detail, ", HTTP %d",
			    outcome->http.code);
		snprintf(room, size, " %s (%s%d%s)",
		    succeeded ? "succeeded" : "failed", words, outcome->code,
		    detail);
	} else if (outcome->end == END_SIGNALED) {
		snprintf(room, size, " %s%s", words,
		    signame_put(detail, outcome->code));
	} else if (outcome->end == END_NOT_STARTED) {
		snprintf(room, size, " %s (%s%s%s)", words,
		    outcome->exec_failed ? "" : outcome->lacking,
		    outcome->exec_failed ? "" : ": ", strerror(outcome->error));
	} else if (outcome->end == END_IDLE) {
		snprintf(room, size, " ended after %s without output",
		    duration_format(detail, policy->idle_timeout));
	} else {
		snprintf(room, size, " %s after %s", words,
		    duration_format(detail, after));
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
	char label[MESSAGES_ROOM], span[DURATION_ROOM], end[160];
	char row[2 * NUMBER_ROOM + 16] = "";

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

	messages_label(label, policy, history->made);
	put_end(end, sizeof end, message, succeeded);
	add(message, STRINGS("attempt ", label, end));
	if (succeeded && outcome->end != END_EXITED)
		add(message, STRINGS(": succeeded"));
	if (succeeded && policy->consecutive > 1)
		snprintf(row, sizeof row,
		    ", %" PRId64 " of %" PRId64 " in a row", history->successes,
		    policy->consecutive);
	add(message, STRINGS(row));
	if (step->again) {
		add(message,
		    STRINGS(succeeded ? ", next in " : ", retrying in ",
			duration_format(span, step->delay)));
		/* Others may use the budget up during the delay. */
		if (!succeeded && policy->budget.key != NULL)
			add(message, STRINGS(" if the budget allows"));
	} else if (step->reason != REASON_SUCCEEDED) {
		add(message, STRINGS(", giving up: "));
		add_cause(message);
	}
	say(message, message->strings);
}

/* Writes "; this host alone, 1 retry in 60s". */
static void
put_alone(char room[ALONE_ROOM], const struct admission *admission)
{
	int64_t share = admission->fleet.share;
	char window[NUMBER_ROOM];

	number_put_decimal(window, admission->terms.window, NANOS_SECOND);
	snprintf(room, ALONE_ROOM, "; this host alone, %" PRId64 " %s in %ss",
	    share, share == 1 ? "retry" : "retries", window);
}

/* Writes why the breaker admits no attempt before next. */
static void
put_breaker(char room[DENIAL_ROOM], const struct breaker_view *breaker,
    const char *next)
{
	if (breaker->state == BREAKER_RECOVERING)
		snprintf(room, DENIAL_ROOM,
		    "recovering, %" PRId64
		    " attempts a second, ask again in %s",
		    breaker->rate, next);
	else
		snprintf(room, DENIAL_ROOM, "open after %" PRId64 "%s%s%s",
		    breaker->failures,
		    breaker->failures == 1 ? " failure"
					   : " consecutive failures",
		    breaker->state == BREAKER_HALF_OPEN
			? ", probe under way, ask again in "
			: ", probe in ",
		    next);
}

/* Writes why the fleet denies a retry: what it has used up, or its server is
 * silent and this host has used up its share. */
static void
put_fleet(char room[DENIAL_ROOM], const struct admission *admission,
    const char *window, const char *next)
{
	const struct host_view *view = &admission->view;
	const char *silence = admission->silence;
	char alone[ALONE_ROOM];

	put_alone(alone, admission);
	if (admission->fleet.silent)
		snprintf(room, DENIAL_ROOM, "%s%s, ask again in about %s",
		    silence != NULL ? silence : "no answer lately", alone,
		    next);
	else
		snprintf(room, DENIAL_ROOM,
		    "exhausted, %" PRId64 " of %" PRId64
		    " retries used in %ss by %" PRId64
		    "%s, ask again in about %s",
		    view->retries, view->limit, window, view->hosts,
		    view->hosts == 1 ? " host" : " hosts", next);
}

/* Writes why the budget of this host denies a retry. */
static void
put_budget(char room[DENIAL_ROOM], const struct admission *admission,
    const char *window, const char *next)
{
	const struct terms *terms = &admission->terms;
	int64_t successes = admission->sums.successes;
	bool paid = admission->next == NANOS_MAX;
	char ratio[NUMBER_ROOM];

	if (admission->cooling) {
		snprintf(room, DENIAL_ROOM,
		    "no retries after a denial, next %s%s",
		    paid ? "after a success" : "in about ", paid ? "" : next);
		return;
	}
	number_put_decimal(ratio, terms->ratio, WINDOW_RATIO_ONE);
	snprintf(room, DENIAL_ROOM,
	    "exhausted, %" PRId64 " of %" PRId64
	    " retries used in %ss (%" PRId64 "%s, ratio %s, min %" PRId64
	    "), next %s%s",
	    admission->sums.retries, window_limit(terms, successes), window,
	    successes, successes == 1 ? " success" : " successes", ratio,
	    terms->min,
	    admission->never ? "never"
		: paid       ? "after a success"
			     : "in about ",
	    paid ? "" : next);
}

/* Says why the next attempt may not begin, and what retry does now. */
static void
say_denied(struct message *message, bool attempted)
{
	const struct policy *policy = message->policy;
	const struct admission *admission = &message->history->admission;
	bool fleet = admission->fleet.decision == HOST_DENIED;
	bool silent = fleet && admission->fleet.silent;
	char next[DURATION_ROOM], window[NUMBER_ROOM], why[DENIAL_ROOM];
	const char *then = "; giving up";

	if (message->step->again)
		then = "; waiting";
	else if (message->history->made == 0)
		then = "; command not run";
	duration_format(next, admission->next);
	number_put_decimal(window, admission->terms.window, NANOS_SECOND);
	if (admission->answer == ADMISSION_HOLD)
		snprintf(why, sizeof why, "the server asked to wait %s", next);
	else if (admission->answer == ADMISSION_BREAKER)
		put_breaker(why, &admission->breaker, next);
	else if (fleet)
		put_fleet(why, admission, window, next);
	else
		put_budget(why, admission, window, next);

	message->strings[0] = NULL;
	if (fleet)
		add(message, STRINGS("fleet '", policy->fleet.text, "': "));
	/* A silent server has not denied the retry of this budget. */
	if (!silent)
		add(message,
		    STRINGS(admission->answer == ADMISSION_BREAKER ? "breaker '"
								   : "budget '",
			policy->budget.key, "': "));
	add(message, STRINGS(why, then, attempted ? "" : remedy(message)));
	say(message, message->strings);
}

void
messages_step(struct event_loop *loop, const struct history *history,
    const struct step *step, bool attempted, struct report *report)
{
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
		.continues = denied && attempted };
	struct advice advice;

	if (attempted && message.report != NULL)
		keep_why(&message);
	if (attempted && step->reason == REASON_NOT_EXECUTABLE) {
		message.least = LOUDNESS_QUIET;
		say(&message,
		    STRINGS("cannot run '", policy->command[0],
			"': ", strerror(last->error)));
		message.report = NULL;
		/* A whole shell line may be too long for a name. */
		if ((verdict_status(last) == EXIT_STATUS_NOT_FOUND ||
			last->error == ENAMETOOLONG) &&
		    advice_find(&advice, policy->command))
			say(&message, advice.strings);
	} else if (attempted) {
		say_attempt(&message);
	} else if (!denied) {
		snprintf(message.text, sizeof message.text,
		    "giving up before attempt %" PRId64 ": ",
		    history->made + 1);
		say(&message,
		    STRINGS(message.text,
			step->reason == REASON_INPUT_CONSUMED && policy->replay
			    ? no_replay
			    : verdict_reasons[step->reason].words));
	}
	message.continues = message.attempted = false;
	if (denied)
		say_denied(&message, attempted);

	/* While lines are held, the advice would replace the one above. */
	if (!loop->log.holding && attempted && history->made == 1 &&
	    history->successes == 0 && step->reason != REASON_NOT_EXECUTABLE &&
	    advice_on_rules(&advice, policy))
		log_say(&loop->log,
		    policy->given == NULL ? LOUDNESS_VERBOSE : LOUDNESS_PLAIN,
		    advice.strings);
}

void
messages_alone(struct log *log, const struct admission *admission)
{
	char alone[ALONE_ROOM];

	if (admission->fleet.decision != HOST_ALONE ||
	    admission->silence == NULL)
		return;
	put_alone(alone, admission);
	log_warn(log,
	    STRINGS("fleet '", log->policy->fleet.text,
		"': ", admission->silence, alone));
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
