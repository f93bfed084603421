#include "http/retry_after.h"

#include <string.h>
#include "text/date.h"
#include "text/number.h"

/* From these values on a reset is a moment in Unix time, not a length of time.
 */
#define EPOCH_SECONDS INT64_C(1000000000)
#define EPOCH_MS INT64_C(1000000000000)

static const char *const names[FIELD_COUNT] = {
	[FIELD_DATE] = "date",
	[FIELD_RETRY_AFTER] = "retry-after",
	[FIELD_RETRY_AFTER_MS] = "retry-after-ms",
	[FIELD_X_MS_RETRY_AFTER_MS] = "x-ms-retry-after-ms",
	[FIELD_PUSHBACK] = "grpc-retry-pushback-ms",
	[FIELD_RATELIMIT] = "ratelimit",
	[FIELD_REMAINING] = "ratelimit-remaining",
	[FIELD_RESET] = "ratelimit-reset",
	[FIELD_X_REMAINING] = "x-ratelimit-remaining",
	[FIELD_X_RESET] = "x-ratelimit-reset",
};

/* Whether name is word. A _ in name counts as -, since shell variables have _.
 */
static bool
named(struct strview name, const char *word)
{
	if (name.length != strlen(word))
		return false;
	for (size_t i = 0; i < name.length; i++) {
		char c = name.at[i] == '_' ? '-' : strview_lower(name.at[i]);

		if (c != word[i])
			return false;
	}
	return true;
}

enum field
retry_after_find(struct strview name)
{
	int i = 0;

	while (i < FIELD_COUNT && !named(name, names[i]))
		i++;
	return (enum field)i;
}

/* Reads a decimal number, and rounds it up to a whole one. */
static bool
read_number(struct strview value, int64_t *number)
{
	return value.length > 0 &&
	    number_decimal(value.at, value.length, 1, number);
}

static bool
is_zero(struct strview value)
{
	int64_t number;

	return read_number(value, &number) && number == 0;
}

static void
add_reset(struct retry_after_fields *fields, struct strview seconds)
{
	int64_t number;
	nanos reset;

	if (!read_number(seconds, &number)) {
		fields->doubtful |= seconds.length > 0;
		return;
	}
	reset = number_multiply(number, NANOS_SECOND);
	if (!fields->exhausted || reset > fields->reset)
		fields->reset = reset;
	fields->exhausted = true;
}

/* Cuts the key off "key=value". A text without = is a key. */
static struct strview
cut_key(struct strview *value)
{
	struct strview key = { NULL, 0 };

	strview_cut(value, '=', &key);
	*value = strview_trim(*value);
	return key;
}

/*
 * Reads one member of the list. The new form has all in one member,
 * "burst";r=0;t=5. The old form has two members, remaining=0 and reset=5, whose
 * values go into *remaining and *reset.
 */
static void
add_member(struct retry_after_fields *fields, struct strview member,
    struct strview *remaining, struct strview *reset)
{
	struct strview parameter, r = { NULL, 0 }, t = { NULL, 0 };

	while (strview_cut(&member, ';', &parameter)) {
		struct strview value = parameter, key = cut_key(&value);

		if (strview_is(key, "r"))
			r = value;
		else if (strview_is(key, "t"))
			t = value;
		else if (strview_is(key, "remaining"))
			*remaining = value;
		else if (strview_is(key, "reset"))
			*reset = value;
	}
	if (is_zero(r))
		add_reset(fields, t);
}

static void
add_ratelimit(struct retry_after_fields *fields, struct strview list)
{
	struct strview member, remaining = { NULL, 0 }, reset = { NULL, 0 };

	while (strview_cut(&list, ',', &member))
		add_member(fields, member, &remaining, &reset);
	if (is_zero(remaining))
		add_reset(fields, reset);
}

void
retry_after_add(
    struct retry_after_fields *fields, enum field field, struct strview value)
{
	value = strview_trim(value);
	if (field == FIELD_COUNT || value.length == 0)
		return;
	if (field == FIELD_RATELIMIT)
		add_ratelimit(fields, value);
	else if (fields->values[field].length == 0)
		fields->values[field] = value;
}

/* The time between two moments, in seconds; 0 if to is not after from. */
static nanos
time_until(int64_t from, int64_t to)
{
	return to <= from ? 0 : number_multiply(to - from, NANOS_SECOND);
}

/* Reads a number of seconds, or a date, as the wait from the moment from. */
static bool
read_wait(struct strview value, int64_t from, nanos *wait)
{
	int64_t number;

	if (read_number(value, &number))
		*wait = number_multiply(number, NANOS_SECOND);
	else if (date_parse(value, from, &number))
		*wait = time_until(from, number);
	else
		return false;
	return true;
}

static bool
read_ms(struct strview value, int64_t from, nanos *wait)
{
	int64_t number;

	(void)from;
	if (!read_number(value, &number))
		return false;
	*wait = number_multiply(number, NANOS_MS);
	return true;
}

/* Reads a number of seconds, a date, or a moment in seconds or milliseconds. */
static bool
read_reset(struct strview value, int64_t from, nanos *wait)
{
	int64_t number;

	if (!read_number(value, &number) || number < EPOCH_SECONDS)
		return read_wait(value, from, wait);
	if (number >= EPOCH_MS)
		number = number / 1000 + (number % 1000 > 0);
	*wait = time_until(from, number);
	return true;
}

/* Adds a wait to the result: the longest counts. */
static void
add_wait(struct retry_after *result, struct strview value, int64_t from,
    bool (*read)(struct strview value, int64_t from, nanos *wait))
{
	nanos wait;

	if (value.length == 0)
		return;
	if (!read(value, from, &wait)) {
		result->doubtful = true;
		return;
	}
	if (!result->given || wait > result->wait)
		result->wait = wait;
	result->given = true;
}

/* gRPC A6: a pushback that is negative, or no number, is a refusal. */
static void
add_pushback(struct retry_after *result, struct strview value)
{
	int64_t number;

	if (value.length > 0 && !read_number(value, &number))
		result->never = true;
	else
		add_wait(result, value, 0, read_ms);
}

static void
add_limits(struct retry_after *result, const struct retry_after_fields *fields,
    int64_t from)
{
	const struct strview *values = fields->values;

	if (fields->exhausted) {
		result->wait = fields->reset;
		result->given = true;
	}
	result->doubtful |= fields->doubtful;
	if (is_zero(values[FIELD_REMAINING]))
		add_wait(result, values[FIELD_RESET], from, read_reset);
	if (is_zero(values[FIELD_X_REMAINING]))
		add_wait(result, values[FIELD_X_RESET], from, read_reset);
}

struct retry_after
retry_after_read(const struct retry_after_fields *fields, nanos now)
{
	const struct strview *values = fields->values;
	int64_t second = now / NANOS_SECOND, from;
	struct retry_after result = { 0 };

	if (!date_parse(values[FIELD_DATE], second, &from))
		from = second;
	add_wait(&result, values[FIELD_RETRY_AFTER], from, read_wait);
	add_wait(&result, values[FIELD_RETRY_AFTER_MS], from, read_ms);
	add_wait(&result, values[FIELD_X_MS_RETRY_AFTER_MS], from, read_ms);
	add_pushback(&result, values[FIELD_PUSHBACK]);
	if (!result.given)
		add_limits(&result, fields, from);
	return result;
}
