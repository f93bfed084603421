#include "cli/option_values.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "text/signame.h"
#include "text/duration.h"
#include "text/escape.h"
#include "text/number.h"
#include "policy/policy.h"

/* The meaning of --breaker on. */
#define BREAKER_FAILURES 20
#define BREAKER_PAUSE (10 * NANOS_SECOND)
#define BREAKER_MOST (60 * NANOS_SECOND)

#define BREAKER_FAILURES_MOST 1000000

/* The most times in a list. */
#define SPANS 64

#define MILLION INT64_C(1000000)
_Static_assert(BACKOFF_FACTOR_ONE == MILLION, "a factor is in millionths");
_Static_assert(WINDOW_RATIO_ONE == MILLION, "a ratio is in millionths");

/* The policy's enums are stored by memcpy from an int. */
_Static_assert(sizeof(enum loudness) == sizeof(int), "an enum is an int");

static void *
field_of(const struct option *option, void *policy)
{
	return (char *)policy + option->field;
}

static void
store_enum(const struct option *option, int value, void *policy)
{
	memcpy(field_of(option, policy), &value, sizeof value);
}

static void
store_choice(const struct option *option, const char *text, void *policy)
{
	int i = 0;

	while (
	    option->choices[i] != NULL && strcmp(option->choices[i], text) != 0)
		i++;
	if (option->choices[i] == NULL)
		optparse_refuse(option, option->refusal, text);
	store_enum(option, i, policy);
}

/* False if text is not a number of attempts, or of retries. */
static bool
parse_limit(const struct option *option, const char *text, int64_t *attempts)
{
	if (strcmp(text, "inf") == 0) {
		*attempts = POLICY_UNLIMITED;
		return true;
	}
	if (!number_whole(text, strlen(text), attempts) ||
	    *attempts < option->least)
		return false;
	*attempts = number_add(*attempts, 1 - option->least);
	return true;
}

/* False if text is not a decimal number in units of 1/scale. */
static bool
parse_decimal(const char *text, size_t length, int64_t scale, int64_t *number,
    bool *exact)
{
	if (!number_decimal(text, length, scale, number))
		return false;
	*exact = number_exact(text, length, scale);
	return true;
}

/* False if text is not a number, or a percentage. */
static bool
parse_ratio(const char *text, int64_t *ratio, bool *exact)
{
	size_t length = strlen(text);

	return length > 0 && text[length - 1] == '%'
	    ? parse_decimal(text, length - 1, MILLION / 100, ratio, exact)
	    : parse_decimal(text, length, MILLION, ratio, exact);
}

/* False if text is not a number of bytes, perhaps with a unit. */
static bool
parse_size(const char *text, int64_t *size, bool *exact)
{
	static const char units[] = "kMGTK"; /* K is k */
	size_t length = strlen(text);
	int64_t scale = 1;
	const char *unit = length == 0 ? NULL : strchr(units, text[length - 1]);

	if (unit != NULL) {
		scale <<= 10 * ((unit - units) % 4 + 1);
		length--;
	}
	return parse_decimal(text, length, scale, size, exact);
}

/* Stores a number: an int64_t, within the option's bounds. */
static void
store_number(const struct option *option, const char *text, void *policy)
{
	size_t length = strlen(text);
	int64_t number = 0;
	bool valid = false, exact = true;

	if (option->type == OPTION_WHOLE)
		valid = number_whole(text, length, &number);
	else if (option->type == OPTION_DECIMAL)
		valid = parse_decimal(text, length, MILLION, &number, &exact);
	else if (option->type == OPTION_LIMIT)
		valid = parse_limit(option, text, &number);
	else if (option->type == OPTION_RATIO)
		valid = parse_ratio(text, &number, &exact);
	else if (option->type == OPTION_SPAN)
		valid = duration_parse(text, length, &number);
	else if (option->type == OPTION_SIZE)
		valid = parse_size(text, &number, &exact);
	if (!valid || number < option->least ||
	    (option->most != 0 && number > option->most))
		optparse_refuse(option, option->refusal, text);
	/* What would be rounded away may be what the user meant. */
	if (!exact)
		optparse_refuse(option,
		    option->type == OPTION_SIZE ? "not a whole number of bytes"
						: "finer than 0.000001",
		    text);
	memcpy(field_of(option, policy), &number, sizeof number);
}

static void
store_signal(const struct option *option, const char *text, void *policy)
{
	int number = signame_number(text, strlen(text));

	if (number == 0)
		optparse_refuse(option, option->refusal, text);
	memcpy(field_of(option, policy), &number, sizeof number);
}

/* Stores a text. An empty text undoes the same option in a policy file. */
static void
store_text(const struct option *option, const char *text, void *policy)
{
	const char **field = field_of(option, policy);

	if (option->most != 0 && strlen(text) > (size_t)option->most)
		optparse_refuse(option, "longer than 1024 bytes", text);
	if (*text == '\0' && option->refusal != NULL)
		optparse_refuse(option, option->refusal, text);
	*field = *text == '\0' ? NULL : text;
}

void
option_values_store(const struct option *option, const char *text, void *policy)
{
	switch (option->type) {
	case OPTION_GIVEN:
		return;
	case OPTION_FLAG:
		*(bool *)field_of(option, policy) = true;
		return;
	case OPTION_CONSTANT:
		store_enum(option, (int)option->least, policy);
		return;
	case OPTION_CHOICE:
		store_choice(option, text, policy);
		return;
	case OPTION_WHOLE:
	case OPTION_LIMIT:
	case OPTION_DECIMAL:
	case OPTION_RATIO:
	case OPTION_SPAN:
	case OPTION_SIZE:
		store_number(option, text, policy);
		return;
	case OPTION_SIGNAL:
		store_signal(option, text, policy);
		return;
	case OPTION_TEXT:
		store_text(option, text, policy);
		return;
	case OPTION_SPECIAL:
		option->take(option, text, policy);
		return;
	}
}

_Static_assert(BACKOFF_DELAYS == SPANS && POLICY_TIMEOUTS == SPANS,
    "the lists of times have room for the same number of them");

/* Stores up to SPANS times, separated by commas; returns how many. */
static int
store_spans(const struct option *option, const char *text, nanos *spans)
{
	const char *item = text;

	for (int count = 0;; item++) {
		size_t length = strcspn(item, ",");

		if (count == SPANS)
			optparse_refuse(option, option->refusal, text);
		if (length == 0)
			optparse_refuse_item(
			    option, "empty item", item, 0, text);
		if (!duration_parse(item, length, &spans[count++]))
			optparse_refuse_item(
			    option, DURATION_REFUSAL, item, length, text);
		item += length;
		if (*item == '\0')
			return count;
	}
}

void
option_values_delays(
    const struct option *option, const char *text, void *policy)
{
	struct backoff *backoff = field_of(option, policy);

	backoff->count = store_spans(option, text, backoff->delays);
}

void
option_values_timeouts(
    const struct option *option, const char *text, void *policy)
{
	struct timeouts *timeouts = field_of(option, policy);

	timeouts->count = store_spans(option, text, timeouts->list);
}

/* number_whole() is not used: it saturates, so two large seeds would be equal.
 */
void
option_values_seed(const struct option *option, const char *text, void *policy)
{
	struct policy *seeded = policy;
	uint64_t seed = 0;
	const char *c = text;

	for (; *c >= '0' && *c <= '9'; c++) {
		uint64_t digit = (uint64_t)(*c - '0');

		if (seed > (UINT64_MAX - digit) / 10)
			break;
		seed = seed * 10 + digit;
	}
	if (c == text || *c != '\0')
		optparse_refuse(option, "not a whole number below 2^64", text);
	seeded->seed = seed;
	seeded->seeded = true;
}

/* A token: RFC 9110, section 5.6.2. */
void
option_values_method(
    const struct option *option, const char *text, void *policy)
{
	const char **method = field_of(option, policy);
	size_t length = strspn(text,
	    "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	if (length == 0 || text[length] != '\0')
		optparse_refuse(option, "not an HTTP method", text);
	*method = text;
}

/* A control character, such as a newline, could begin another header. */
void
option_values_header(
    const struct option *option, const char *text, void *policy)
{
	const char **key = field_of(option, policy);

	for (const char *c = text; *c != '\0'; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			optparse_refuse(
			    option, "contains a control character", text);
	/* curl does not send a header whose value is empty. */
	if (text[strspn(text, " ")] == '\0')
		optparse_refuse(option, "must not be empty", text);
	*key = text;
}

/* With an escape in it the label would not be what the user looks for. */
void
option_values_label(const struct option *option, const char *text, void *policy)
{
	const char **label = field_of(option, policy);
	char shown[POLICY_LABEL];
	size_t length = strlen(text);
	const char *end;

	if (length > sizeof shown)
		optparse_refuse(option, "longer than 255 bytes", text);
	end =
	    escape_put(ESCAPE_PLAIN, shown, shown + sizeof shown, text, length);
	if ((size_t)(end - shown) != length || memcmp(shown, text, length) != 0)
		optparse_refuse(option,
		    "contains a control character, or is not UTF-8", text);
	*label = length == 0 ? NULL : text;
}

/* Reads one of the breaker's pauses, at item within text. Returns its end. */
static const char *
parse_pause(const struct option *option, const char *item, const char *text,
    nanos least, nanos *pause)
{
	size_t length = strcspn(item, ",");

	if (length == 0)
		optparse_refuse_item(option, "empty item", item, 0, text);
	if (!duration_parse(item, length, pause) || *pause <= 0 ||
	    *pause > BREAKER_PAUSE_MOST)
		optparse_refuse_item(option, "not a time above 0, up to 24h",
		    item, length, text);
	if (*pause < least)
		optparse_refuse_item(option, "shorter than the time before it",
		    item, length, text);
	return item + length;
}

void
option_values_breaker(
    const struct option *option, const char *text, void *policy)
{
	struct breaker_config *breaker = field_of(option, policy);
	size_t length = strcspn(text, ",");
	const char *item;

	*breaker = (struct breaker_config){ BREAKER_FAILURES, BREAKER_PAUSE,
		BREAKER_MOST };
	if (strcmp(text, "on") == 0)
		return;
	if (text[length] == '\0')
		optparse_refuse(option, "neither on nor N,DUR[,MAX]", text);
	if (length == 0)
		optparse_refuse_item(option, "empty item", text, 0, text);
	if (!number_whole(text, length, &breaker->failures) ||
	    breaker->failures < 1 || breaker->failures > BREAKER_FAILURES_MOST)
		optparse_refuse_item(option, "not a number from 1 to 1000000",
		    text, length, text);
	item = parse_pause(option, text + length + 1, text, 0, &breaker->pause);
	if (breaker->pause > BREAKER_MOST)
		breaker->most = breaker->pause;
	if (*item != '\0')
		item = parse_pause(
		    option, item + 1, text, breaker->pause, &breaker->most);
	if (*item != '\0')
		optparse_refuse(option, "more items than N,DUR,MAX", text);
}

void
option_values_fleet(const struct option *option, const char *text, void *policy)
{
	struct fleet_policy *fleet = field_of(option, policy);
	char room[URL_ROOM];
	const char *why;

	fleet->text = NULL;
	if (*text == '\0')
		return;
	why = url_parse(text, fleet->url);
	/* The message goes to a log, which must not get a password. */
	if (why != NULL)
		optparse_refuse(option, why, url_show(text, room));
	fleet->text = text;
}
