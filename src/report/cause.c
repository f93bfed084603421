#include "report/cause.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "match/pattern.h"
#include "tools/preset.h"
#include "text/escape.h"
#include "text/number.h"
#include "text/signame.h"

/* Copies a part of a text to be quoted; of a long part only the beginning. */
static const char *
excerpt(struct message *message, const char *text, size_t length)
{
	size_t shown = escape_cut(text, length, MESSAGE_QUOTE);

	snprintf(message->quote, sizeof message->quote, "%.*s%s", (int)shown,
	    text, shown < length ? "..." : "");
	return message->quote;
}

/* Adds " (FILE:LINE)" if a policy file has the rule. */
static void
add_location(struct message *message, const struct given *given)
{
	if (given != NULL && given->location != NULL)
		message_put(message, " (%s)", given->location);
}

/*
 * The item of a LIST of this option that names the failure, or NULL. A pattern
 * is found again among the watches, where it stands since it was parsed.
 */
static const char *
find_item(struct message *message, const char *option, const char *list)
{
	bool retry_on = strcmp(option, "retry-on") == 0;
	const struct outcome *last = &message->history->last;

	for (;;) {
		size_t length = conditions_item(list);
		struct watches watches = message->policy->watches;
		struct conditions one = { .first = { .fail = false } };
		struct conditions_error error;
		const char *item = list[length] == '\0'
		    ? list
		    : excerpt(message, list, length);

		if (conditions_parse(&one, &watches, item, &error) &&
		    (retry_on ? verdict_retries_by(&one, last)
			      : verdict_fails_by(&one, last)))
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
	struct pattern *pattern = malloc(sizeof *pattern);
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
	free(pattern);
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
	message_put(message, "%s%s: ", name == NULL ? "a preset" : "preset ",
	    name == NULL ? "" : name);
}

/* Adds the item of this option's LISTs that names the outcome, and returns it:
 * of those that the user gave, or of those in files of tools. */
static const char *
add_item(struct message *message, const char *option, bool filed)
{
	const struct given *given = message->policy->given;
	const char *item = NULL;

	for (; given != NULL; given = given->next) {
		if (strcmp(given->option, option) == 0 &&
		    filed == (given->tool != NULL))
			item = find_item(message, option, given->text);
		if (item == NULL)
			continue;
		if (filed)
			add_preset(message, given->tool);
		message_put(message, "%s%s ", filed ? "" : "--", option);
		message_put(message, "%s", item);
		add_location(message, given);
		return item;
	}
	return NULL;
}

const char *
cause_add_item(struct message *message, const char *option)
{
	const char *item = add_item(message, option, false);

	return item != NULL ? item : add_item(message, option, true);
}

/*
 * Whether a word is the name of an error, such as E404, ETARGET, NoSuchBucket
 * or CERT_HAS_EXPIRED: then it alone tells which one it is.
 */
static bool
is_error_name(const char *word)
{
	size_t name = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
	bool names = strchr(word, '_') != NULL ||
	    (*word == 'E' && name == strlen(word) && name >= 4 &&
		strcmp(word, "ERROR") != 0);

	for (size_t i = 0; word[i] != '\0'; i++) {
		if (word[i] != '_' && !isalnum((unsigned char)word[i]))
			return false;
		if (i > 0 && isupper((unsigned char)word[i]) &&
		    islower((unsigned char)word[i - 1]))
			names = true;
	}
	return names && isupper((unsigned char)*word);
}

/*
 * Adds how the user may have these words of the output retried all the same:
 * the name of the error, or else all of them. What means something to a pattern
 * or a shell becomes a dot. NULL: they are not known.
 */
static void
add_remedy(struct message *message, int fd, const char *words)
{
	char pattern[MESSAGE_QUOTE + 4] = "", *end = pattern;
	const char *all = pattern, *name, *quote;

	for (; words != NULL && *words != '\0'; words++)
		*end++ = isalnum((unsigned char)*words) ||
			strchr(" _-/:@%=", *words) != NULL
		    ? *words
		    : '.';
	while (end > pattern && strchr(". ", end[-1]) != NULL)
		end--;
	*end = '\0';
	all += strspn(all, ". ");
	for (name = end; name > all && strchr(" .", name[-1]) == NULL;)
		name--;
	if (!is_error_name(name))
		name = all;
	quote = strchr(name, ' ') == NULL ? "" : "'";
	if (*name == '\0')
		message_put(message, " (see --retry-on)");
	else
		message_put(message, " (--retry-on %s%s:%s%s retries it)",
		    quote, fd == STDOUT_FILENO ? "stdout" : "stderr", name,
		    quote);
}

/* Says which preset calls the failure fatal, and what of the output it knows,
 * and perhaps the remedy. False if none does. */
static bool
add_fatal(struct message *message, bool remedy)
{
	const struct policy *policy = message->policy;
	const struct watch *watch = first_of(policy,
	    policy->rules.fatal.later.watches & message->history->last.seen);
	struct preset preset = { 0 };
	const char *words;

	if (watch == NULL)
		return false;
	if (watch->preset != NULL)
		preset_find(watch->preset, strlen(watch->preset), &preset);
	words = find_match(message, watch);
	add_preset(message, watch->preset);
	if (words == NULL)
		message_put(message, "this failure");
	else
		message_put(message, "\"%s\"", words);
	if (preset.because != NULL) {
		message_put(message, ": %s", preset.because);
		return true;
	}
	message_put(message, " cannot be cured by a retry");
	if (remedy)
		add_remedy(message, watch->fd, words);
	return true;
}

/* How often an option was given, and the last time: a preset also by the file
 * of a tool. */
static int
count(
    const struct policy *policy, const char *option, const struct given **last)
{
	const struct given *given = policy->given;
	int times = 0;

	*last = NULL;
	for (; given != NULL; given = given->next)
		if (strcmp(given->option, option) == 0 &&
		    (given->tool == NULL || strcmp(option, "preset") == 0)) {
			*last = given;
			times++;
		}
	return times;
}

/* Why the last attempt is not retried, by the rule that judged it, and perhaps
 * the remedy. */
static void
add_rule(struct message *message, bool remedy)
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
			message_put(message, "the server wants no retry");
		else if (http->code > 0)
			message_put(message, "HTTP %d is not retried%s",
			    http->code,
			    http->code == 403 || http->code == 413
				? " without a Retry-After"
				: "");
		else
			message_put(message, "%s",
			    verdict_reasons[REASON_NOT_RETRYABLE].words);
		return;
	}
	if (strcmp(rule, "signal") == 0) {
		message_put(message,
		    "%s is not retried unless --retry-on names it",
		    signame_put(signal, last->code));
		return;
	}
	if (strcmp(rule, "preset") == 0 &&
	    (add_item(message, "stop-on", true) != NULL ||
		add_fatal(message, remedy)))
		return;

	/* Neither --retry-on nor a preset names the failure, but the user's own
	 * rule may have made it one. */
	if (last->end == END_EXITED && last->code == 0 &&
	    cause_add_item(message, "fail-on") != NULL)
		message_put(message, ", ");
	one = presets == 1 ? "preset " : "the presets";
	name = presets == 1 ? preset->text : "";
	if (lists == 1) {
		message_put(message, "not in --retry-on %s", list->text);
		add_location(message, list);
	} else if (lists > 1) {
		message_put(message, "not in any --retry-on");
	}
	if (lists > 0 && presets > 0)
		message_put(message, ", and not a transient failure for %s%s",
		    one, name);
	else if (presets > 0)
		message_put(message,
		    "%s%s: not a transient failure, see --retry-on", one, name);
}

/* Why the command must not run twice. */
static void
add_unsafe(struct message *message)
{
	const char *method = message->history->request.method;
	const struct given *preset;

	if (method != NULL) {
		message_put(message, "a %s", method);
		return;
	}
	if (count(message->policy, "preset", &preset) == 1)
		add_preset(message, preset->text);
	else
		message_put(message, "the presets: ");
	message_put(message, "what it started elsewhere may still run");
}

const char *
cause_remedy(const struct message *message)
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
		message_put(
		    message, "more pipes are named than can be watched");
		return;
	}
	message_put(message, "%s was already consumed", lost->name);
	message_put(message, "%s",
	    message->policy->replay        ? ", and cannot be read again"
		: lost->fd == STDIN_FILENO ? ": use -I or </dev/null"
					   : ": use -I");
}

/* Says how long a wait is that is too long, and if the server did not name it,
 * who has, and what helps. */
static void
add_wait(struct message *message)
{
	const struct outcome *last = &message->history->last;
	const struct known_wait *known = last->known;
	bool late = message->step->delay > 0;
	nanos wait = verdict_named(last);
	char span[DURATION_ROOM];

	/* Only the deadline is too short for a wait of the user. */
	if (known == NULL || last->known_wait <= wait ||
	    (known->preset == NULL && !late))
		known = NULL;
	else
		wait = last->known_wait;
	message_put(message, " (%s", duration_format(span, wait));
	if (known != NULL)
		message_put(message, " by %s%s",
		    known->preset != NULL ? "preset " : "--retry-after ",
		    known->preset != NULL ? known->preset : known->text);
	message_put(message, ")%s", late ? ", the deadline comes first" : "");
	if (known != NULL && late)
		message_put(message, " (a longer one waits for it)");
	else if (known != NULL)
		message_put(
		    message, " (--max-retry-after %s waits for it)", span);
}

void
cause_add_vague(struct message *message)
{
	const struct watch *watch = message->history->last.vague;

	if (watch != NULL)
		message_put(message, "; no time follows '%s:%s'",
		    watch->fd == STDOUT_FILENO ? "stdout" : "stderr",
		    excerpt(message, watch->text, strlen(watch->text)));
}

void
cause_add(struct message *message)
{
	const struct policy *policy = message->policy;
	const struct history *history = message->history;
	const struct outcome *last = &history->last;
	enum reason reason = message->step->reason;
	const struct given *given;
	char span[DURATION_ROOM];

	if (last->overrun) {
		message_put(message, "more output than --hold-max");
	} else if (reason == REASON_STOP_RULE) {
		if (cause_add_item(message, "stop-on") == NULL)
			message_put(message, "--stop-on");
	} else if (reason == REASON_NOT_RETRYABLE) {
		add_rule(message, true);
	} else if (reason == REASON_INTERNAL && last->end == END_NOT_STARTED) {
		message_put(message, "cannot run the command");
	} else if (reason == REASON_INTERNAL && last->lost == reason) {
		message_put(message, "output is lost");
	} else if (reason == REASON_INTERNAL) {
		message_put(message, "cannot run --retry-if");
	} else if (reason == REASON_RETRY_IF) {
		message_put(message, "%s", verdict_reasons[reason].words);
		count(policy, "retry-if", &given);
		add_location(message, given);
	} else if (reason == REASON_NOT_IDEMPOTENT) {
		add_unsafe(message);
		message_put(message, "%s",
		    history->request.method != NULL
			? " is not sent twice without --idempotency-key"
			: ", see --retry-on timeout");
	} else if (reason == REASON_INPUT_CONSUMED) {
		add_consumed(message);
	} else if (reason == REASON_ATTEMPTS &&
	    history->made < policy->attempts) {
		message_put(message, "too few attempts left");
	} else {
		message_put(message, "%s%s", verdict_reasons[reason].words,
		    cause_remedy(message));
	}
	if (reason == REASON_RETRY_AFTER)
		add_wait(message);
	if (reason == REASON_DEADLINE && message->step->delay > 0)
		message_put(message, ", the next delay (%s) does not fit",
		    duration_format(span, message->step->delay));
	if (reason == REASON_LIMIT)
		message_put(message, " (%s)", history->limit->text);
}

/* Adds what the pattern of an item of a LIST has matched. */
static void
add_matched(struct message *message, const char *item)
{
	const struct watches *watches = &message->policy->watches;
	const char *bare = conditions_bare(item), *words = NULL;
	const char *pattern = bare + CONDITIONS_STREAM;

	if (conditions_stream(bare) == 0)
		return;
	for (int i = 0; i < watches->count && words == NULL; i++)
		if (watches->list[i].preset == NULL &&
		    strcmp(watches->list[i].text, pattern) == 0)
			words = find_match(message, &watches->list[i]);
	if (words != NULL)
		message_put(message, ": \"%s\"", words);
}

/* Says which preset calls the failure transient, or made it a failure: by what
 * of the output, or by which exit status. */
static void
add_known(struct message *message)
{
	const struct rules *rules = &message->policy->rules;
	const struct given *given = message->policy->given;
	uint64_t bits = rules->transient.later.watches |
	    rules->tool_transient.later.watches |
	    rules->tool_failed.later.watches;
	const struct watch *watch =
	    first_of(message->policy, bits & message->history->last.seen);
	const char *words = NULL, *item = NULL;
	struct preset preset;

	item = add_item(message, "retry-on", true);
	if (item == NULL)
		item = add_item(message, "fail-on", true);
	if (item != NULL) {
		add_matched(message, item);
		return;
	}
	if (watch != NULL)
		words = find_match(message, watch);
	while (watch == NULL && item == NULL && given != NULL) {
		if (strcmp(given->option, "preset") == 0 &&
		    preset_find(given->text, strlen(given->text), &preset))
			item = find_item(message, "preset", preset.codes);
		given = given->next;
	}
	if (watch == NULL && item == NULL)
		return;
	add_preset(message, watch != NULL ? watch->preset : preset.name);
	if (watch == NULL)
		message_put(message, "%s", item);
	else if (words != NULL)
		message_put(message, "\"%s\"", words);
	else
		message_put(message, "its output");
}

void
cause_add_judgement(struct message *message)
{
	const struct judgement *judgement = &message->history->judgement;
	const struct outcome *last = &message->history->last;
	const struct policy *policy = message->policy;
	const struct limit *limit = message->history->limit;
	const char *rule = judgement->rule, *item;
	const struct given *given;
	char size[NUMBER_SIZE_ROOM];

	if (last->overrun) {
		message_put(message, "--hold-max %s",
		    number_put_size(size, policy->hold_max));
	} else if (message->step->reason == REASON_LIMIT) {
		message_put(message, "--limit %s", limit->text);
		add_location(
		    message, &(struct given){ .location = limit->location });
	} else if (judgement->reason == REASON_RETRY_IF) {
		message_put(message, "--retry-if %s", policy->retry_if);
		count(policy, rule, &given);
		add_location(message, given);
	} else if (judgement->reason == REASON_NOT_RETRYABLE) {
		add_rule(message, false);
	} else if (judgement->reason == REASON_NOT_IDEMPOTENT) {
		add_unsafe(message);
	} else if (strcmp(rule, "http") == 0) {
		message_put(message, "HTTP %d%s", last->http.code,
		    last->http.after.wanted ? ", the server wants a retry"
			: verdict_under_way(
			      &message->history->request, &last->http)
			? ", the first request is still being served"
			: "");
	} else if (strcmp(rule, "success-on") == 0 ||
	    strcmp(rule, "stop-on") == 0 || strcmp(rule, "retry-on") == 0 ||
	    strcmp(rule, "fail-on") == 0) {
		item = cause_add_item(message, rule);
		if (item != NULL)
			add_matched(message, item);
		else
			add_known(message);
	} else if (strcmp(rule, "preset") == 0) {
		add_known(message);
	} else if (judgement->verdict == VERDICT_REPEAT) {
		message_put(
		    message, "--consecutive %" PRId64, policy->consecutive);
	}
}
