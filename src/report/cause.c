#include "report/cause.h"

#include <stdlib.h>
#include <string.h>
#include "match/pattern.h"
#include "output/writer.h"
#include "text/escape.h"

/* A match is looked for in so many bytes before its end. */
#define WORDS_MOST 200

/* Adds strings to the words. */
static void
put(struct cause *cause, const char *const strings[])
{
	const char **to = cause->strings;

	while (*to != NULL)
		to++;
	while (*strings != NULL)
		*to++ = *strings++;
}

/* Copies a part of a text to be quoted; of a long part only the beginning. */
static const char *
quote(struct cause *cause, const char *text, size_t length)
{
	size_t shown = escape_cut(text, length, CAUSE_QUOTE);

	memcpy(cause->quote, text, shown);
	memcpy(cause->quote + shown, "...", 4);
	if (shown == length)
		cause->quote[shown] = '\0';
	return cause->quote;
}

/* Adds " (FILE:LINE)" if a policy file has the rule. */
static void
put_location(struct cause *cause, const struct given *given)
{
	if (given->location != NULL)
		put(cause, STRINGS(" (", given->location, ")"));
}

/*
 * The item of a LIST that names the failure, copied to room, or NULL. A pattern
 * is found again among the watches, where it stands since it was parsed.
 */
static const char *
find_item(struct cause *cause, const struct policy *policy,
    const struct outcome *last, const char *list)
{
	for (;;) {
		size_t length = conditions_item(list);
		struct watches watches = policy->watches;
		struct conditions one = { .fail = false };
		struct conditions_error error;
		const char *item =
		    list[length] == '\0' ? list : quote(cause, list, length);

		if (conditions_parse(&one, &watches, item, &error) &&
		    verdict_fails_by(&one, last))
			return item;
		if (list[length] == '\0')
			return NULL;
		list += length + 1;
	}
}

static void
put_stop_rule(struct cause *cause, const struct policy *policy,
    const struct outcome *last)
{
	const struct given *given = policy->given;
	const char *item = NULL;

	for (; given != NULL; given = given->next) {
		if (strcmp(given->option, "stop-on") == 0)
			item = find_item(cause, policy, last, given->text);
		if (item != NULL)
			break;
	}
	put(cause, STRINGS("--stop-on", item == NULL ? NULL : " ", item));
	if (item != NULL)
		put_location(cause, given);
}

/*
 * Finds the shortest text that the pattern matches and that ends first, up to
 * the end of its last word. The line is bytes up to end. NULL: nothing matches.
 */
static const char *
find_words(struct cause *cause, struct pattern *pattern, const char *line,
    const char *end)
{
	const char *from, *to = line, *least;

	pattern_start(pattern);
	while (to < end && !pattern_feed(pattern, to, 1))
		to++;
	if (to == end && !pattern_feed(pattern, "\n", 1))
		return NULL;
	to += to < end;
	least = to - line > WORDS_MOST ? to - WORDS_MOST : line;
	for (from = to; from > least; from--) {
		pattern_start(pattern);
		if (pattern_feed(pattern, from, (size_t)(to - from)) ||
		    pattern_end(pattern))
			break;
	}
	while (to > from && to[-1] == ' ')
		to--;
	while (to < end && to > from && to[-1] != ' ' &&
	    strchr(" \t\r\"", *to) == NULL)
		to++;
	while (to > from + 1 && strchr(" .,:;", to[-1]) != NULL)
		to--;
	return quote(cause, from, (size_t)(to - from));
}

/* What of the output matched a text of a preset, or NULL if it is not known:
 * too much came after it, or there is no memory. */
static const char *
find_match(
    struct cause *cause, const struct watch *watch, const struct relay *relay)
{
	struct pattern *pattern = malloc(sizeof *pattern);
	struct pattern_error error;
	const char *words = NULL, *text = NULL;
	size_t length = relay_tail(relay, watch->fd, &text);
	const char *end = text + length;

	if (pattern != NULL &&
	    pattern_compile(pattern, watch->text, strlen(watch->text), &error))
		while (words == NULL && text < end) {
			const char *line = text;

			text = memchr(line, '\n', (size_t)(end - line));
			if (text == NULL)
				text = end;
			words = find_words(cause, pattern, line, text);
			text += text < end;
		}
	free(pattern);
	return words;
}

/* Says which preset calls the failure fatal. False if none does. */
static bool
put_fatal(struct cause *cause, const struct policy *policy,
    const struct outcome *last, const struct relay *relay)
{
	uint64_t fatal = policy->rules.fatal.watches & last->seen;
	const struct watch *watch = policy->watches.list;
	const char *words;

	if (fatal == 0)
		return false;
	for (; (fatal & 1) == 0; fatal >>= 1)
		watch++;
	words = find_match(cause, watch, relay);
	if (watch->preset == NULL)
		put(cause, STRINGS("a preset: "));
	else
		put(cause, STRINGS("preset ", watch->preset, ": "));
	if (words == NULL)
		put(cause, STRINGS("this failure"));
	else
		put(cause, STRINGS("\"", words, "\""));
	put(cause, STRINGS(" cannot be cured by a retry"));
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

/* Neither --retry-on nor a preset names the failure. */
static void
put_unnamed(struct cause *cause, const struct policy *policy)
{
	bool listed, known;
	const struct given *list = only(policy, "retry-on", &listed);
	const struct given *preset = only(policy, "preset", &known);
	const char *one = preset != NULL ? "preset " : "the presets";
	const char *name = preset != NULL ? preset->text : "";

	if (list != NULL) {
		put(cause, STRINGS("not in --retry-on ", list->text));
		put_location(cause, list);
	} else if (listed) {
		put(cause, STRINGS("not in any --retry-on"));
	}
	if (listed && known)
		put(cause,
		    STRINGS(", and not a transient failure for ", one, name));
	else if (known)
		put(cause,
		    STRINGS(one, name,
			": not a transient failure, see --retry-on"));
}

static void
put_http(struct cause *cause, const struct outcome *last)
{
	const struct http_status *http = &last->http;

	if (http->never) {
		put(cause, STRINGS("the server wants no retry"));
	} else if (!http->known || http->code == 0) {
		put(cause, STRINGS(verdict_reason_words(REASON_NOT_RETRYABLE)));
	} else {
		put(cause,
		    STRINGS("HTTP ", number_put(cause->number, http->code),
			" is not retried"));
		if (http->code == 403 || http->code == 413)
			put(cause, STRINGS(" without a Retry-After"));
	}
}

static void
put_unretryable(struct cause *cause, const struct policy *policy,
    const struct history *history, const struct relay *relay)
{
	const struct outcome *last = &history->last;
	const char *rule = history->judgement.rule;

	if (strcmp(rule, "http") == 0)
		put_http(cause, last);
	else if (strcmp(rule, "signal") == 0)
		put(cause,
		    STRINGS(signame_put(cause->name, last->code),
			" is not retried unless --retry-on names it"));
	else if (strcmp(rule, "preset") != 0 ||
	    !put_fatal(cause, policy, last, relay))
		put_unnamed(cause, policy);
}

void
cause_find(struct cause *cause, const struct policy *policy,
    const struct history *history, enum reason reason,
    const struct relay *relay)
{
	const struct outcome *last = &history->last;

	*cause = (struct cause){ .strings = { NULL } };
	if (last->overrun)
		put(cause, STRINGS("more output than --hold-max"));
	else if (reason == REASON_STOP_RULE)
		put_stop_rule(cause, policy, last);
	else if (reason == REASON_NOT_RETRYABLE)
		put_unretryable(cause, policy, history, relay);
	else if (reason == REASON_INTERNAL && last->end == END_NOT_STARTED)
		put(cause, STRINGS("cannot run the command"));
	else if (reason == REASON_NOT_IDEMPOTENT)
		put(cause,
		    STRINGS("a ", last->method,
			policy->key == NULL
			    ? " is not sent twice without --idempotency-key"
			    : " is not sent twice if curl gets no key"));
	else if (reason == REASON_INPUT_CONSUMED && policy->replay)
		put(cause, STRINGS(CAUSE_NO_REPLAY));
	else if (reason == REASON_ATTEMPTS && history->made < policy->attempts)
		put(cause, STRINGS("too few attempts left"));
	else
		put(cause, STRINGS(verdict_reason_words(reason)));
	if (reason == REASON_RETRY_AFTER)
		put(cause,
		    STRINGS(" (",
			duration_format(cause->span, verdict_wait(last)), ")"));
	if (reason == REASON_LIMIT)
		put(cause, STRINGS(" (", history->limit->text, ")"));
}
