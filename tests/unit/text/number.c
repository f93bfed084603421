/* number: whole numbers and decimals, row by row, and sums that saturate. */
#include "unit.h"
#include "text/number.h"

static const char *whole_of(const char *text) {
	static char room[NUMBER_ROOM];
	int64_t value = -1;

	if (!number_whole(text, strlen(text), &value))
		return value == -1 ? "none" : "changed";
	snprintf(room, sizeof room, "%" PRId64, value);
	return room;
}

TEST(whole_numbers) {
	static const char *const rows[][18] = {
		{ "0", "0" },
		{ "7", "7", "007" },
		{ "1234567890123456789", "1234567890123456789" },
		{ "9223372036854775806", "9223372036854775806" },
		{ "9223372036854775807", "9223372036854775807", "9223372036854775808",
		    "18446744073709551617", "99999999999999999999999999999999999999999" },
		{ "none", "", "-1", "+1", " 1", "1 ", "1.0", "0x10", "1e3", "inf", "nan", "1,5",
		    "x", "1x", "/", ":", "1\n", "\xd9\xa1" },
	};

	ALIKE(rows, whole_of);
}

/* Text need not end where the number does. */
TEST(numbers_read_no_further_than_told) {
	int64_t value = -1;

	HOLDS("12 of 1234", number_whole("1234", 2, &value));
	EQUAL("12 of 1234", value, 12);
	HOLDS("1.2 of 1.234", number_decimal("1.234", 3, 1000, &value, NULL));
	EQUAL("1.2 of 1.234", value, 1200);
	HOLDS("1 of 1.x", number_decimal("1.x", 1, 1000, &value, NULL));
	EQUAL("1 of 1.x", value, 1000);
	HOLDS("a NUL among them", !number_whole("1\0002", 3, &value));
}

/* "DECIMAL * SCALE", or with a scale of 1000: the whole number, and whether it is rounded up. */
static const char *decimal_of(const char *text) {
	static char room[NUMBER_ROOM + 16];
	bool rounded = false;
	const char *times = strstr(text, " * ");
	size_t length = times == NULL ? strlen(text) : (size_t)(times - text);
	int64_t scale = times == NULL ? 1000 : strtoll(times + 3, NULL, 10);
	int64_t value = -1;

	if (!number_decimal(text, length, scale, &value, &rounded))
		return value == -1 ? "none" : "changed";
	snprintf(room, sizeof room, "%" PRId64 "%s", value, rounded ? " up" : "");
	return room;
}

TEST(decimal_numbers) {
	static const char *const rows[][24] = { { "0", "0", "0.0", "0 * 1" }, { "2000", "2", "2." },
		{ "500", ".5" }, { "1500", "1.5", "01.50" }, { "1234", "1.234", "1.2340000" },
		{ "1001", "1.001", "1.0010000" }, { "1001 up", "1.0001" },
		{ "1002 up", "1.0010000000000000000000001" },
		{ "1235 up", "1.2341", "1.2340000000000000000000000000001" },
		{ "1 up", "0.00000000000000000000000000001", "0.5 * 1" }, { "1000 up", "0.9999" },
		{ "1", ".5 * 2" }, { "7", "7 * 1", "7. * 1", "7.0 * 1" }, { "8 up", "7.5 * 1" },
		{ "1536", "1.5 * 1024" }, { "1025", "1.0009765625 * 1024" },
		{ "1026 up", "1.001 * 1024" }, { "1000001", "1.000001 * 1000000" },
		{ "922337203685477580 up", ".999999999999999999999 * 922337203685477580" },
		{ "9223372036854775806", "9223372036.854775806 * 1000000000" },
		{ "9223372036854775807", "9223372036.854775807 * 1000000000",
		    "9223372036.854775808 * 1000000000", "9223372037 * 1000000000",
		    "99999999999999999999999.5 * 1000000000", "99999999999999999999.125 * 8" },
		{ "none", "", ".", "..", "1..2", "1.2.3", ".1.", "-1", "+1", "-.5", "1,5", "1e3",
		    "1.5e3", "0x1p3", "0x10", "inf", "infinity", "nan", " 1", "1 ", "1.5s",
		    "1. 5" } };

	ALIKE(rows, decimal_of);
}

TEST(sums_saturate) {
	static const int64_t max = INT64_MAX;

	EQUAL("sum", number_add(0, 0), 0);
	EQUAL("sum", number_add(2, 3), 5);
	EQUAL("sum", number_add(max - 1, 1), max);
	EQUAL("sum", number_add(max, 0), max);
	EQUAL("sum", number_add(0, max), max);
	EQUAL("sum", number_add(max, 1), max);
	EQUAL("sum", number_add(1, max), max);
	EQUAL("sum", number_add(max, max), max);
	EQUAL("round", number_round(0, 1000), 0);
	EQUAL("round", number_round(1, 1000), 1);
	EQUAL("round", number_round(1499, 1000), 1);
	EQUAL("round", number_round(1500, 1000), 2);
	EQUAL("round", number_round(max, 2), max / 2);
	EQUAL("lesser", number_lesser(-1, 2), -1);
	EQUAL("lesser", number_lesser(max, 2), 2);
	EQUAL("greater", number_greater(-1, 2), 2);
	EQUAL("greater", number_greater(max, 2), max);
	EQUAL("product", number_multiply(0, 0), 0);
	EQUAL("product", number_multiply(6, 7), 42);
	EQUAL("product", number_multiply(0, max), 0);
	EQUAL("product", number_multiply(max, 0), 0);
	EQUAL("product", number_multiply(max, 1), max);
	EQUAL("product", number_multiply(1, max), max);
	EQUAL("product", number_multiply(max / 2, 2), max - 1);
	EQUAL("product", number_multiply(max / 2 + 1, 2), max);
	EQUAL("product", number_multiply(3037000500, 3037000500), max);
	EQUAL("product", number_multiply(max, max), max);
}

TEST(numbers_are_written_in_decimal) {
	static const struct {
		int64_t value;
		const char *text;
	} rows[] = { { 0, "0" }, { 7, "7" }, { 10, "10" }, { -1, "-1" }, { -10, "-10" },
		{ INT64_MAX, "9223372036854775807" }, { INT64_MIN, "-9223372036854775808" } };
	char room[NUMBER_ROOM];

	for (size_t i = 0; i < LENGTH(rows); i++) {
		SAME(rows[i].text, number_put(room, rows[i].value), rows[i].text);
		HOLDS(rows[i].text, number_put(room, rows[i].value) == room);
	}
}

TEST(decimals_are_written_as_they_are_read) {
	static const struct {
		int64_t value, scale;
		const char *text;
	} rows[] = { { 0, 1, "0" }, { 7, 1, "7" }, { 0, 1000000, "0" }, { 200000, 1000000, "0.2" },
		{ 1, 1000000, "0.000001" }, { 999999, 1000000, "0.999999" },
		{ 1000000, 1000000, "1" }, { 1050000, 1000000, "1.05" },
		{ 60000000000, 1000000000, "60" }, { 16666666, 1000000000, "0.016666666" },
		{ INT64_MAX, 1000000000, "9223372036.854775807" } };
	char room[NUMBER_ROOM];

	for (size_t i = 0; i < LENGTH(rows); i++) {
		int64_t value = -1;

		SAME(rows[i].text, number_put_decimal(room, rows[i].value, rows[i].scale),
		    rows[i].text);
		HOLDS(rows[i].text,
		    number_decimal(room, strlen(room), rows[i].scale, &value, NULL));
		EQUAL(rows[i].text, value, rows[i].value);
	}
}

TEST(sizes_are_written_with_the_largest_unit) {
	static const struct {
		int64_t value;
		const char *text;
	} rows[] = { { 0, "0 bytes" }, { 1, "1 byte" }, { 1000, "1000 bytes" }, { 1024, "1k" },
		{ 1025, "1025 bytes" }, { 1536, "1536 bytes" }, { 1 << 20, "1M" },
		{ 3 << 19, "1536k" }, { 1 << 30, "1G" }, { INT64_C(1) << 40, "1T" },
		{ INT64_C(1) << 50, "1024T" }, { INT64_MAX, "9223372036854775807 bytes" } };
	char room[NUMBER_SIZE_ROOM];

	for (size_t i = 0; i < LENGTH(rows); i++)
		SAME(rows[i].text, number_put_size(room, rows[i].value), rows[i].text);
}
