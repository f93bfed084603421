/*
 * rate: how its terms are written, when a place falls free, which of two limits holds, and what
 * cannot be a rate. Random attempts are compared with a list of all of them.
 */
#include <err.h>
#include "unit.h"
#include "script.h"
#include "budget/rate.h"
#include "text/hash.h"

/* What a text is read as, written again; or what is wrong. */
static const char *read_and_put(const char *text) {
	static char room[RATE_ROOM];
	struct rate_terms terms;
	const char *why = rate_parse(text, &terms);

	if (why != NULL)
		return why;
	return terms.number == 0 ? "no limit" : rate_put(room, &terms);
}

TEST(texts) {
	static const char *const rows[][12] = {
		{ "no limit", "" },
		{ "10/s", "10/s", "10/1s", "10/1", "10/1000ms", "010/S", "10/second", "10/1.0" },
		{ "40/5s", "40/5s", "40/5" },
		{ "5000/h", "5000/h", "5000/1h", "5000/60m", "5000/hour" },
		{ "1/m", "1/m", "1/60", "1/min" },
		{ "7/1m30s", "7/1m30s", "7/90" },
		{ "7/1.5s", "7/1.5s", "7/1500ms" },
		{ "2/d", "2/d", "2/24h", "2/1d", "2/day" },
		{ "1000000/ms", "1000000/1ms", "1000000/ms" },
		{ "3/0.1s", "3/0.1s", "3/100ms" },
		{ "not N/DUR, as in 10/s", "10", "s", " ", "10s" },
		{ "not a number from 1 to 1000000, and a time", "/s", "/", "0/s", "-1/s", "+1/s",
		    "1.5/s", " 1/s", "1 /s", "1000001/s", "99999999999999999999/s" },
		{ "not a number and a time from 1ms to 24h", "1/", "1/0", "1/0.9ms", "1/us", "1/ s",
		    "1/s ", "1/2d", "1/week", "1/86401", "1/-1s", "1/s/s" },
		{ "not a number and a time from 1ms to 24h", "1/5x", "1/x", "1/ns", "1/1e3",
		    "1/24h1ms", "1/99999999999999999999d" },
	};

	ALIKE(rows, read_and_put);
}

static struct rate rate_of(const char *text) {
	struct rate rate = { .slice = 0 };
	struct rate_terms terms;

	if (rate_parse(text, &terms) != NULL)
		errx(2, "%s", text);
	rate_agree(&rate, &terms, 0);
	return rate;
}

/*
 * Rows: terms, and steps: a time, and "N -> NEXT": so many attempts begin at once, and then it is
 * so long until the next one. "used N" is how many places are taken then.
 */
static const char *const places[] = {
	/* No limit. */
	"none 0s take 1000 next 0s used 0",
	/* As many at once as there are places; a slice of 100 ms has to go by, too. */
	"10/6s 0s take 10 next 6.1s used 10 6.099999999s next 1ns used 10 6.1s take 10 next 6.1s",
	"10/6s 0s take 10 6.1s used 0",
	"10/6s 99ms take 10 next 6.001s",
	"10/6s 100ms take 10 next 6.1s",
	"1/6s 0s take 1 next 6.1s 3s next 3.1s",
	/* As places fall free. */
	"3/6s 0s take 1 1s take 1 2s take 1 next 4.1s 6.1s take 1 next 1s 7.1s take 1 next 1s",
	"3/6s 0s take 1 1s take 2 next 5.1s 6.1s take 1 next 1s 7.1s take 2 next 5.1s",
	/* Places that are not used are not kept. */
	"3/6s 100s take 3 next 6.1s",
	"3/6s 0s take 3 1000s take 3 next 6.1s",
	/* The clock is behind: the last slice goes on. */
	"3/6s 10s take 3 4s next 12.1s used 3 10s next 6.1s",
	"3/6s 10s take 1 0s take 2 next 16.1s",
	/* Slices of 16,667 ns. */
	"2/ms 0s take 2 next 1016687ns",
	"1000000/d 0s take 1 used 1 next 0s",
};

TEST_ROWS(places) {
	struct script script = script_of(row);
	struct rate rate;
	nanos now = 0;

	script_next(&script);
	rate = rate_of(script_is(&script, "none") ? "" : script.word);
	now = script_span(&script);
	while (script_next(&script)) {
		if (script_is(&script, "take")) {
			for (int64_t left = script_number(&script); left > 0; left--)
				EQUAL(row, rate_take(&rate, now), 0);
		} else if (script_is(&script, "next")) {
			struct rate copy = rate;

			EQUAL(row, rate_take(&copy, now), script_span(&script));
		} else if (script_is(&script, "used")) {
			EQUAL(row, rate_used(&rate, now), script_number(&script));
		} else {
			struct script again = script_of(script.word);

			now = script_span(&again);
		}
	}
}

enum { BEGUN = 4000 };

/* When the attempts began, in order. In no time do more begin than may. */
static void check_list(const char *text, const struct rate_terms *terms, const nanos *list) {
	bool holds = true;

	for (int64_t i = terms->number; i < BEGUN; i++)
		holds = holds && list[i] - list[i - terms->number] >= terms->time;
	HOLDS(text, holds);
}

static const char *const limits[] = { "1/s", "2/ms", "10/s", "40/5s", "7/1.234567s", "61/61ms",
	"1000/h", "3/d", "100/59s", "999/17ms" };

/* A user who comes at random, at most so much later than the last time, and waits or not. */
static void try_at_random(const char *text, uint64_t seed, nanos longest) {
	static nanos list[BEGUN];
	struct rate rate = rate_of(text);
	bool holds = true;
	nanos now = 0;

	for (int count = 0; count < BEGUN;) {
		uint64_t random = hash_draw(&seed);
		nanos next;

		now += (nanos)(random % (uint64_t)longest);
		next = rate_take(&rate, now);
		if (next > 0 && random >> 62 != 0) {
			struct rate copy = rate;

			/* No earlier than it said, and then. */
			holds = holds && rate_take(&copy, now + next - 1) > 0;
			now += next;
			next = rate_take(&rate, now);
			holds = holds && next == 0;
		}
		if (next == 0)
			list[count++] = now;
		holds = holds && rate_used(&rate, now) <= rate.terms.number;
	}
	HOLDS(text, holds);
	check_list(text, &rate.terms, list);
}

TEST_ROWS(limits) {
	struct rate_terms terms;

	rate_parse(row, &terms);
	for (uint64_t seed = 0; seed < 3; seed++) {
		try_at_random(row, seed, terms.time / terms.number + 1);
		try_at_random(row, seed, 4 * terms.time / terms.number + 1);
		try_at_random(row, seed, terms.time / 60 + 1);
	}
}

/* Who waits each time as long as he is told gets all but a fiftieth of what is allowed. */
TEST(a_fiftieth_slower_at_most) {
	for (size_t i = 0; i < LENGTH(limits); i++) {
		struct rate rate = rate_of(limits[i]);
		const struct rate_terms *terms = &rate.terms;
		int64_t rounds = number_greater(50, BEGUN / terms->number);
		nanos now = 0, ideal = (rounds - 1) * terms->time;
		bool holds = true;

		for (int64_t left = rounds * terms->number; left > 0; left--) {
			nanos next = rate_take(&rate, now);

			now += next;
			holds = holds && (next == 0 || rate_take(&rate, now) == 0);
		}
		HOLDS(limits[i], holds);
		HOLDS(limits[i], now >= ideal);
		HOLDS(limits[i], now - ideal <= ideal / 50);
	}
}

/* Two users' terms, the second one's later; which hold, and for whom they are another's. */
TEST(the_smaller_limit_holds) {
	static const struct {
		const char *old, *new, *held;
		bool another;
	} rows[] = {
		{ "", "", "", false },
		{ "", "10/s", "10/s", false },
		{ "10/s", "", "10/s", false },
		{ "10/s", "10/s", "10/s", false },
		{ "10/s", "9/s", "9/s", false },
		{ "10/s", "11/s", "10/s", true },
		{ "10/s", "40/5s", "40/5s", false },
		{ "40/5s", "10/s", "40/5s", true },
		{ "10/s", "600/h", "600/h", false },
		/* As many in the long run: fewer at once. */
		{ "10/s", "50/5s", "10/s", true },
		{ "50/5s", "10/s", "10/s", false },
		{ "1000000/ms", "1/d", "1/d", false },
		{ "1/d", "1000000/ms", "1/d", true },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct rate rate = rate_of(rows[i].old), held = rate_of(rows[i].held);
		struct rate_terms terms;

		rate_parse(rows[i].new, &terms);
		EQUAL(rows[i].old, rate_agree(&rate, &terms, NANOS_SECOND), rows[i].another);
		EQUAL(rows[i].old, rate.terms.number, held.terms.number);
		EQUAL(rows[i].old, rate.terms.time, held.terms.time);
		/* And is not changed when they are asked for again. */
		EQUAL(rows[i].old, rate_agree(&rate, &terms, NANOS_SECOND), rows[i].another);
	}
}

/* What had begun under other terms counts, as if it had begun when they changed. */
TEST(what_had_begun_counts) {
	struct rate rate = rate_of("10/6s");
	struct rate_terms fewer = { 3, 6 * NANOS_SECOND };

	for (int i = 0; i < 5; i++) EQUAL("begins", rate_take(&rate, i * NANOS_SECOND), 0);
	rate_agree(&rate, &fewer, 5 * NANOS_SECOND);
	EQUAL("all", rate_used(&rate, 5 * NANOS_SECOND), 5);
	EQUAL("none is free", rate_take(&rate, 5 * NANOS_SECOND), MS(6100));
	EQUAL("later", rate_take(&rate, MS(11100)), 0);
	EQUAL("the others have gone", rate_used(&rate, MS(11100)), 1);
	/* What had gone by then does not. */
	rate = rate_of("10/6s");
	for (int i = 0; i < 5; i++) EQUAL("begins", rate_take(&rate, 0), 0);
	rate_agree(&rate, &fewer, 7 * NANOS_SECOND);
	EQUAL("none", rate_used(&rate, 7 * NANOS_SECOND), 0);
	/* Terms that do not change anything keep the time of each attempt. */
	rate = rate_of("1/6s");
	EQUAL("begins", rate_take(&rate, 0), 0);
	rate_agree(&rate, &rate.terms, 5 * NANOS_SECOND);
	rate_agree(&rate, &fewer, 5 * NANOS_SECOND);
	EQUAL("as before", rate_take(&rate, 5 * NANOS_SECOND), MS(1100));
}

TEST(what_is_corrupt) {
	static const struct {
		const char *row;
		bool corrupt;
		struct rate rate;
	} rows[] = {
		{ "nothing", false, { .slice = 0 } },
		{ "no limit, and anything", false, { .slice = -1, .begun = { 7 } } },
		{ "a limit", false, { { 1, NANOS_SECOND }, .slice = 0 } },
		{ "the least", false, { { 1, RATE_TIME_LEAST }, .slice = 0 } },
		{ "the most", false, { { RATE_NUMBER_MOST, RATE_TIME_MOST }, .slice = 0 } },
		{ "a negative number", true, { { -1, NANOS_SECOND }, .slice = 0 } },
		{ "too great a number", true,
		    { { RATE_NUMBER_MOST + 1, NANOS_SECOND }, .slice = 0 } },
		{ "no time", true, { { 1, 0 }, .slice = 0 } },
		{ "a negative time", true, { { 1, -1 }, .slice = 0 } },
		{ "too short a time", true, { { 1, RATE_TIME_LEAST - 1 }, .slice = 0 } },
		{ "too long a time", true, { { 1, RATE_TIME_MOST + 1 }, .slice = 0 } },
		{ "a negative slice", true, { { 1, NANOS_SECOND }, .slice = -1 } },
		/* At the age of an hour, and with a clock that is a minute behind. */
		{ "the present slice", false, { { 1, NANOS_MINUTE }, .slice = 3600 } },
		{ "a slice in a minute", false, { { 1, NANOS_MINUTE }, .slice = 3661 } },
		{ "a slice after that", true, { { 1, NANOS_MINUTE }, .slice = 3662 } },
		{ "the end of time", true, { { 1, NANOS_MINUTE }, .slice = INT64_MAX } },
	};

	for (size_t i = 0; i < LENGTH(rows); i++)
		EQUAL(rows[i].row, rate_is_corrupt(&rows[i].rate, NANOS_HOUR), rows[i].corrupt);
}

/* Counts that are anything make nobody wait for longer than the time. */
TEST(corrupt_counts_go_by) {
	struct rate rate = rate_of("3/6s");

	rate.slice = 100;
	memset(rate.begun, 0xff, sizeof rate.begun);
	HOLDS("no longer", rate_take(&rate, 10 * NANOS_SECOND) <= MS(6100));
	EQUAL("then", rate_take(&rate, MS(16100)), 0);
	EQUAL("one", rate_used(&rate, MS(16100)), 1);
}
