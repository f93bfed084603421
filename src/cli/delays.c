#include "cli/delays.h"

#include <string.h>
#include "text/number.h"

#define DEFAULT_CAP (30 * NANOS_SECOND)

void
option_values_delays(const struct row *row, const char *text, void *field)
{
	struct backoff *backoff = field;
	const char *item = text;

	for (backoff->count = 0;; item++) {
		size_t length = strcspn(item, ",");

		if (backoff->count == BACKOFF_DELAYS)
			optparse_refuse(row, "more than 64 delays", text);
		if (length == 0)
			optparse_refuse_item(row, "empty item", item, 0, text);
		if (!duration_parse(
			item, length, &backoff->delays[backoff->count++]))
			optparse_refuse_item(
			    row, DURATION_REFUSAL, item, length, text);
		item += length;
		if (*item == '\0')
			return;
	}
}

void
option_values_backoff(const struct row *row, const char *text, void *field)
{
	static const char *const kinds[] = {
		[BACKOFF_EXPONENTIAL] = "exponential",
		[BACKOFF_LINEAR] = "linear",
		[BACKOFF_CONSTANT] = "constant",
		[BACKOFF_FIBONACCI] = "fibonacci",
		NULL,
	};
	enum backoff_kind *kind = field;

	*kind = (enum backoff_kind)optparse_choice(
	    row, "not exponential, linear, constant or fibonacci", kinds, text);
}

void
option_values_jitter(const struct row *row, const char *text, void *field)
{
	static const char *const kinds[] = {
		[JITTER_FULL] = "full",
		[JITTER_EQUAL] = "equal",
		[JITTER_DECORRELATED] = "decorrelated",
		[JITTER_NONE] = "none",
		NULL,
	};
	enum jitter *jitter = field;

	*jitter = (enum jitter)optparse_choice(
	    row, "not full, equal, decorrelated or none", kinds, text);
}

void
option_values_factor(const struct row *row, const char *text, void *field)
{
	int64_t *factor = field;

	if (!number_decimal(text, strlen(text), BACKOFF_FACTOR_ONE, factor) ||
	    *factor < BACKOFF_FACTOR_ONE)
		optparse_refuse(row, "not a number of 1 or more", text);
}

/* Not number_whole, which saturates: two large seeds are not one seed. */
static bool
seed_parse(const char *text, uint64_t *seed)
{
	const char *c = text;

	for (*seed = 0; *c >= '0' && *c <= '9'; c++) {
		uint64_t digit = (uint64_t)(*c - '0');

		if (*seed > (UINT64_MAX - digit) / 10)
			return false;
		*seed = *seed * 10 + digit;
	}
	return c != text && *c == '\0';
}

void
option_values_seed(const struct row *row, const char *text, void *field)
{
	struct policy *policy = field;

	if (!seed_parse(text, &policy->seed))
		optparse_refuse(row, "not a whole number below 2^64", text);
	policy->seeded = true;
}

static nanos
largest_delay(const struct backoff *backoff)
{
	nanos largest = 0;

	for (int i = 0; i < backoff->count; i++)
		if (backoff->delays[i] > largest)
			largest = backoff->delays[i];
	return largest;
}

void
option_values_settle_delays(struct backoff *backoff, bool kind_said,
    const struct delays_given *jitter, const struct delays_given *cap)
{
	bool list = backoff->count > 1;
	nanos largest = largest_delay(backoff);

	backoff->grows = !list || kind_said;
	if (backoff->jitter == JITTER_DECORRELATED && list)
		optparse_refuse(
		    jitter->row, "not with a list of delays", jitter->text);
	if (cap->text == NULL) {
		backoff->cap = number_greater(
		    number_greater(largest, DEFAULT_CAP), backoff->floor);
	} else if (backoff->cap < backoff->floor) {
		optparse_refuse(cap->row, "below --min-delay", cap->text);
	}
}
