/*
 * Any text as a duration and as a decimal number: compared with the same sum in
 * long double; what is written must be read again.
 */
#include "fuzz.h"
#include "text/duration.h"
#include "text/number.h"

#define NEVER 0x1p63L /* nanoseconds: what saturates */

static long double
take_unit(const char **at)
{
	static const struct {
		const char *name;
		long double nanos;
	} units[] = { { "ms", 1e6L }, { "s", 1e9L }, { "m", 60e9L },
		{ "h", 3600e9L }, { "d", 86400e9L } };

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		size_t length = strlen(units[i].name);

		if (strncmp(*at, units[i].name, length) == 0) {
			*at += length;
			return units[i].nanos;
		}
	}
	return 1e9L;
}

/* The value of a valid text, which has only digits, one point and units. */
static long double
reference(const char *at)
{
	long double sum = 0;

	while (*at != '\0') {
		long double number = 0, place = 1;
		bool behind = false;

		for (; strchr(".0123456789", *at) != NULL && *at != '\0';
		     at++) {
			if (*at == '.') {
				behind = true;
				continue;
			}
			number = number * 10 + (*at - '0');
			if (behind)
				place *= 10;
			if (number > 0x1p120L) { /* far beyond either end */
				number /= 0x1p60L;
				place /= 0x1p60L;
			}
		}
		sum += number / place * take_unit(&at);
	}
	return sum;
}

static bool
near(long double a, long double b, long double share, long double least)
{
	long double apart = a > b ? a - b : b - a;

	return apart <= least || apart <= share * (a > b ? a : b);
}

static void
check_shown(nanos span)
{
	char room[DURATION_ROOM];
	nanos again;

	duration_format(room, span);
	fuzz_never(!duration_parse(room, strlen(room), &again));
	fuzz_never(span > 0 && strcmp(room, "0s") == 0);
	/*
	 * Half of the last digit: of a tenth of a second, or of a tenth of it
	 * all.
	 */
	fuzz_never(
	    !near((long double)again, (long double)span, 0.05L, 50 * NANOS_MS));
}

static void
check_duration(const char *text, size_t length)
{
	long double wanted;
	nanos span;

	if (!duration_parse(text, length, &span))
		return;
	fuzz_never(length == 0 || span < 0 || strlen(text) != length);
	wanted = reference(text);
	fuzz_never(wanted >= NEVER
		? span != NANOS_MAX
		: !near((long double)span, wanted, 1e-12L, 8));
	fuzz_never(span == 0 && wanted > 0);
	check_shown(span);
}

static void
check_number(const char *text, size_t length)
{
	char room[NUMBER_ROOM];
	int64_t value, again;

	if (number_whole(text, length, &value)) {
		number_put(room, value);
		fuzz_never(value < 0 ||
		    !number_whole(room, strlen(room), &again) ||
		    again != value);
	}
	fuzz_never(
	    number_decimal(text, length, NANOS_SECOND, &value) && value < 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Of exactly its length, so that a read past it shows. */
	char *exact = malloc(size), *closed = fuzz_text(data, size);
	nanos one, other;

	fuzz_never(exact == NULL);
	memcpy(exact, data, size);
	fuzz_never(duration_parse(exact, size, &one) !=
	    duration_parse(closed, size, &other));
	check_duration(closed, size);
	check_number(closed, size);
	free(exact);
	free(closed);
	return 0;
}
