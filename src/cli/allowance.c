#include "cli/allowance.h"

#include <string.h>
#include "text/number.h"

/* --breaker on: 20 failures, 10 s, and no more than a minute. */
#define BREAKER_FAILURES 20
#define BREAKER_PAUSE (10 * NANOS_SECOND)
#define BREAKER_MOST (60 * NANOS_SECOND)

#define BREAKER_FAILURES_MOST 1000000

static void
check_length(const struct row *row, const char *text)
{
	if (strlen(text) > SEGMENT_KEY)
		optparse_refuse(row, "a key of more than 1024 bytes", text);
}

void
option_values_key(const struct row *row, const char *text, void *field)
{
	const char **key = field;

	check_length(row, text);
	*key = *text == '\0' ? NULL : text;
}

void
option_values_subject(const struct row *row, const char *text, void *field)
{
	const char **key = field;

	check_length(row, text);
	if (*text == '\0')
		optparse_refuse(row, "no key", text);
	*key = text;
}

void
option_values_ratio(const struct row *row, const char *text, void *field)
{
	int64_t *ratio = field;
	size_t length = strlen(text);
	int64_t scale = WINDOW_RATIO_ONE;

	if (length > 0 && text[length - 1] == '%') {
		scale /= 100;
		length--;
	}
	if (!number_decimal(text, length, scale, ratio) ||
	    *ratio > SEGMENT_RATIO_MOST)
		optparse_refuse(row, "not a ratio from 0 to 1000", text);
}

void
option_values_min(const struct row *row, const char *text, void *field)
{
	int64_t *min = field;

	if (!number_whole(text, strlen(text), min) || *min > SEGMENT_MIN_MOST)
		optparse_refuse(row, "not a whole number up to 1000000", text);
}

void
option_values_window(const struct row *row, const char *text, void *field)
{
	nanos *window = field;

	if (!duration_parse(text, strlen(text), window) ||
	    *window < SEGMENT_WINDOW_LEAST || *window > SEGMENT_WINDOW_MOST)
		optparse_refuse(row, "not a time from 1s to 24h", text);
}

void
option_values_cooldown(const struct row *row, const char *text, void *field)
{
	nanos *cooldown = field;

	if (!duration_parse(text, strlen(text), cooldown) ||
	    *cooldown > NANOS_DAY)
		optparse_refuse(row, "not a time up to 24h", text);
}

/* One of the breaker's pauses, at item within text. Returns its end. */
static const char *
take_pause(const struct row *row, const char *item, const char *text,
    nanos least, nanos *pause)
{
	size_t length = strcspn(item, ",");

	if (length == 0)
		optparse_refuse_item(row, "empty item", item, 0, text);
	if (!duration_parse(item, length, pause) || *pause <= 0 ||
	    *pause > BREAKER_PAUSE_MOST)
		optparse_refuse_item(
		    row, "not a time above 0, up to 24h", item, length, text);
	if (*pause < least)
		optparse_refuse_item(
		    row, "less than the time before it", item, length, text);
	return item + length;
}

void
option_values_breaker(const struct row *row, const char *text, void *field)
{
	struct breaker_config *breaker = field;
	size_t length = strcspn(text, ",");
	const char *item;

	*breaker = (struct breaker_config){ BREAKER_FAILURES, BREAKER_PAUSE,
		BREAKER_MOST };
	if (strcmp(text, "on") == 0)
		return;
	if (text[length] == '\0')
		optparse_refuse(row, "not on, nor N,DUR[,MAX]", text);
	if (length == 0)
		optparse_refuse_item(row, "empty item", text, 0, text);
	if (!number_whole(text, length, &breaker->failures) ||
	    breaker->failures < 1 || breaker->failures > BREAKER_FAILURES_MOST)
		optparse_refuse_item(
		    row, "not a number from 1 to 1000000", text, length, text);
	item = take_pause(row, text + length + 1, text, 0, &breaker->pause);
	if (breaker->pause > BREAKER_MOST)
		breaker->most = breaker->pause;
	if (*item != '\0')
		item = take_pause(
		    row, item + 1, text, breaker->pause, &breaker->most);
	if (*item != '\0')
		optparse_refuse(row, "more than N,DUR,MAX", text);
}

void
option_values_nested(const struct row *row, const char *text, void *field)
{
	static const char *const kinds[] = {
		[NESTED_SHARE] = "share",
		[NESTED_ADD] = "add",
		[NESTED_ONCE] = "once",
		NULL,
	};
	enum nested *nested = field;

	*nested = (enum nested)optparse_choice(
	    row, "not share, add or once", kinds, text);
}
