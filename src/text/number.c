#include "text/number.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool
number_whole(const char *text, size_t length, int64_t *value)
{
	int64_t sum = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		sum = number_add(number_multiply(sum, 10), text[i] - '0');
	}
	if (length > 0)
		*value = sum;
	return length > 0;
}

bool
number_decimal(const char *text, size_t length, int64_t scale, int64_t *value,
    bool *rounded)
{
	const char *point = memchr(text, '.', length);
	size_t whole = point == NULL ? length : (size_t)(point - text);
	size_t after = point == NULL ? length : whole + 1;
	int64_t units = 0, sum = 0;

	if (whole + (length - after) == 0)
		return false;
	if (whole > 0 && !number_whole(text, whole, &units))
		return false;
	/*
	 * From the last digit behind the point to the first: then rounding up
	 * at each division by ten gives exactly the same as rounding up once at
	 * the end, for any number of digits.
	 */
	for (size_t i = length; i-- > after;) {
		if (!isdigit((unsigned char)text[i]))
			return false;
		sum = number_add(number_multiply(text[i] - '0', scale), sum);
		if (rounded != NULL && sum % 10 != 0)
			*rounded = true;
		sum = number_add(sum, 9) / 10;
	}
	*value = number_add(number_multiply(units, scale), sum);
	return true;
}

int64_t
number_add(int64_t a, int64_t b)
{
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

int64_t
number_multiply(int64_t a, int64_t b)
{
	return b != 0 && a > INT64_MAX / b ? INT64_MAX : a * b;
}

int64_t
number_round(int64_t value, int64_t unit)
{
	int64_t units = number_add(value, unit / 2) / unit;

	return units == 0 && value > 0 ? 1 : units;
}

int64_t
number_lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int64_t
number_greater(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

char *
number_put(char room[NUMBER_ROOM], int64_t value)
{
	size_t at = NUMBER_ROOM - 1;
	/* Unsigned, since -INT64_MIN does not exist. */
	uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	room[at] = '\0';
	do {
		room[--at] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest > 0);
	if (value < 0)
		room[--at] = '-';
	memmove(room, room + at, NUMBER_ROOM - at);
	return room;
}

char *
number_put_decimal(char room[NUMBER_ROOM], int64_t value, int64_t scale)
{
	int64_t rest = value % scale;
	int length = snprintf(room, NUMBER_ROOM, "%" PRId64, value / scale);

	if (rest > 0)
		room[length++] = '.';
	for (; rest > 0; rest = rest * 10 % scale)
		room[length++] = (char)('0' + rest * 10 / scale);
	room[length] = '\0';
	return room;
}

char *
number_put_size(char room[NUMBER_SIZE_ROOM], int64_t value)
{
	static const char units[] = "kMGT";
	const char *unit = units, *name = value == 1 ? " byte" : " bytes";
	char letter[2] = "";

	for (; value > 0 && value % 1024 == 0 && *unit != '\0'; unit++) {
		value /= 1024;
		letter[0] = *unit;
		name = letter;
	}
	snprintf(room, NUMBER_SIZE_ROOM, "%" PRId64 "%s", value, name);
	return room;
}
