#include "http/retry_after.h"

#include <string.h>
#include "text/date.h"
#include "text/number.h"

/* From these values on a reset is a moment in Unix time, not a length of time.
 */
#define EPOCH_SECONDS INT64_C(1000000000)
#define EPOCH_MS INT64_C(1000000000000)

static const char names[FIELD_COUNT][24] = {
	[FIELD_DATE] = "date",
	[FIELD_RETRY_AFTER] = "retry-after",
	[FIELD_RETRY_AFTER_MS] = "retry-after-ms",
	[FIELD_X_MS_RETRY_AFTER_MS] = "x-ms-retry-after-ms",
	[FIELD_X_AMZ_RETRY_AFTER] = "x-amz-retry-after",
	[FIELD_PUSHBACK] = "grpc-retry-pushback-ms",
	[FIELD_RATELIMIT] = "ratelimit",
	[FIELD_REMAINING] = "ratelimit-remaining",
	[FIELD_RESET] = "ratelimit-reset",
	[FIELD_X_REMAINING] = "x-ratelimit-remaining",
	[FIELD_X_RESET] = "x-ratelimit-reset",
};

enum field
retry_after_find(struct strview name)
{
	int field = 0;

	while (field < FIELD_COUNT && !strview_is(name, names[field]))
		field++;
	return (enum field)field;
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

	if (!read_number(seconds, &number)) {
		fields->sum.doubtful |= seconds.length > 0;
		return;
	}
	fields->reset = number_greater(
	    fields->reset, number_multiply(number, NANOS_SECOND));
	fields->exhausted = true;
}

/*
 * The new form has all in one member of the list, "burst";r=0;t=5. The old form
 * has two members, remaining=0 and reset=5.
 */
static void
add_ratelimit(struct retry_after_fields *fields, struct strview list)
{
	struct strview member, remaining = { NULL, 0 }, reset = { NULL, 0 };

	while (strview_cut(&list, ',', &member)) {
		struct strview value, r = { NULL, 0 }, t = { NULL, 0 };

		while (strview_cut(&member, ';', &value)) {
			struct strview key = { NULL, 0 };

			strview_cut(&value, '=', &key);
			value = strview_trim(value);
			if (strview_is(key, "r"))
				r = value;
			else if (strview_is(key, "t"))
				t = value;
			else if (strview_is(key, "remaining"))
				remaining = value;
			else if (strview_is(key, "reset"))
				reset = value;
		}
		if (is_zero(r))
			add_reset(fields, t);
	}
	if (is_zero(remaining))
		add_reset(fields, reset);
}

/* Adds a date. False if text is none. */
static bool
add_date(struct retry_after_fields *fields, struct strview text)
{
	int64_t unused;

	if (!date_parse(text, 0, &unused))
		return false;
	fields->sum.given = true;
	if (fields->dated < RETRY_AFTER_DATES)
		fields->dates[fields->dated++] = text;
	else
		fields->sum.doubtful = true;
	return true;
}

void
retry_after_add(
    struct retry_after_fields *fields, enum field field, struct strview value)
{
	nanos unit = field == FIELD_RETRY_AFTER ? NANOS_SECOND : NANOS_MS;
	struct retry_after *sum = &fields->sum;
	struct strview item, more;
	int64_t number;

	value = strview_trim(value);
	if (field == FIELD_COUNT || value.length == 0)
		return;
	if (fields->values[field].length == 0)
		fields->values[field] = value;
	if (field == FIELD_RATELIMIT)
		add_ratelimit(fields, value);
	if (field < FIELD_RETRY_AFTER || field > FIELD_PUSHBACK)
		return;
	/* These are lists. */
	while (strview_cut(&value, ',', &item)) {
		struct strview rest = value;

		if (read_number(item, &number)) {
			sum->wait = number_greater(
			    sum->wait, number_multiply(number, unit));
			sum->given = true;
		} else if (field == FIELD_PUSHBACK) {
			/* gRPC A6: negative or no number, it is a refusal. */
			sum->never = true;
		} else if (field != FIELD_RETRY_AFTER) {
			sum->doubtful |= item.length > 0;
		} else if (item.length > 0 && !add_date(fields, item)) {
			/* Most dates have a comma themselves. */
			if (strview_cut(&rest, ',', &more))
				item.length =
				    (size_t)(more.at - item.at) + more.length;
			if (add_date(fields, item))
				value = rest;
			else
				sum->doubtful = true;
		}
	}
}

struct retry_after
retry_after_read(const struct retry_after_fields *fields, nanos now)
{
	const struct strview *values = fields->values;
	int64_t second = now / NANOS_SECOND, from, moment, number;
	struct retry_after result = fields->sum;

	if (!date_parse(values[FIELD_DATE], second, &from))
		from = second;
	for (int i = 0; i < fields->dated; i++)
		if (date_parse(fields->dates[i], from, &moment))
			result.wait = number_greater(
			    result.wait, date_until(from, moment));
	if (result.given)
		return result;
	if (fields->exhausted) {
		result.wait = fields->reset;
		result.given = true;
	}
	/* A reset is a number of seconds, a moment in seconds or milliseconds,
	 * or a date. */
	for (int field = FIELD_REMAINING; field <= FIELD_X_REMAINING;
	     field += 2) {
		struct strview reset = values[field + 1];
		nanos wait;

		if (!is_zero(values[field]) || reset.length == 0)
			continue;
		if (read_number(reset, &number)) {
			if (number >= EPOCH_MS)
				number = number / 1000 + (number % 1000 > 0);
			wait = number < EPOCH_SECONDS
			    ? number_multiply(number, NANOS_SECOND)
			    : date_until(from, number);
		} else if (date_parse(reset, from, &moment)) {
			wait = date_until(from, moment);
		} else {
			result.doubtful = true;
			continue;
		}
		result.wait = number_greater(result.wait, wait);
		result.given = true;
	}
	return result;
}
