/*
 * Any text as a duration and as a decimal number: compared with the same sum in
 * long double; what is written must be read again.
 */
#include "fuzz.h"
#include "text/duration.h"
#include "text/number.h"

#define NEVER 0x1p63L /* nanoseconds: what saturates */

/* The value of a valid text, which has only digits, one point and units. */
static long double reference(const char *text) {
	static const struct {
		const char *name;
		long double nanos;
	} units[] = { { "ms", 1e6L }, { "s", 1e9L }, { "m", 60e9L }, { "h", 3600e9L },
		{ "d", 86400e9L }, { "", 1e9L } };
	long double sum = 0;
	char *at;

	for (; *text != '\0'; text = at) {
		size_t i = 0;
		long double number = strtold(text, &at);

		while (strncmp(at, units[i].name, strlen(units[i].name)) != 0) i++;
		at += strlen(units[i].name);
		sum += number * units[i].nanos;
	}
	return sum;
}

static bool near(long double a, long double b, long double share, long double least) {
	long double apart = a > b ? a - b : b - a;

	return apart <= least || apart <= share * (a > b ? a : b);
}

static void check_duration(const char *text, size_t length) {
	char room[DURATION_ROOM];
	long double wanted;
	nanos span, again;

	if (!duration_parse(text, length, &span))
		return;
	fuzz_never(length == 0 || span < 0 || strlen(text) != length);
	wanted = reference(text);
	fuzz_never(wanted >= NEVER ? span != NANOS_MAX
				   : !near((long double)span, wanted, 1e-12L, 8));
	fuzz_never(span == 0 && wanted > 0);
	duration_format(room, span);
	fuzz_never(!duration_parse(room, strlen(room), &again));
	fuzz_never(span > 0 && strcmp(room, "0s") == 0);
	/* Half of the last digit: a tenth of a second, or of all of it. */
	fuzz_never(!near((long double)again, (long double)span, 0.05L, 50 * NANOS_MS));
}

static void check_number(const char *text, size_t length) {
	char room[NUMBER_ROOM];
	int64_t value, again;

	if (number_whole(text, length, &value)) {
		number_put(room, value);
		fuzz_never(value < 0 || !number_whole(room, strlen(room), &again) ||
		    again != value);
	}
	fuzz_never(number_decimal(text, length, NANOS_SECOND, &value, NULL) && value < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	/* Of exactly its length, so that a read past it shows. */
	char *exact = malloc(size), *closed = fuzz_text(data, size);
	nanos one, other;

	fuzz_never(exact == NULL);
	memcpy(exact, data, size);
	fuzz_never(duration_parse(exact, size, &one) != duration_parse(closed, size, &other));
	check_duration(closed, size);
	check_number(closed, size);
	free(exact);
	free(closed);
	return 0;
}
