/*
 * check: whether what the storms are counted with is right: the tally, what the
 * servers can do and their limits, and what the log shows. It runs before the
 * storms.
 */
#include "unit.h"
#include "limiter.h"
#include "scenario.h"
#include "tally.h"
#include "witness.h"

#define MS NANOS_MS
#define S NANOS_SECOND

TEST(requests)
{
	/* At a time: so many served, so many rejected. */
	static const struct {
		nanos at;
		int served, rejected;
	} requests[] = { { 0, 0, 7 }, { 50 * MS - 1, 0, 1 }, { 50 * MS, 1, 0 },
		{ 2 * S, 2, 1 }, { 2 * S + 50 * MS, 3, 1 } };
	struct tally tally;
	struct totals totals;

	tally_start(&tally, 50 * MS);
	for (size_t i = 0; i < LENGTH(requests); i++) {
		for (int n = 0; n < requests[i].served; n++)
			tally_request(&tally, requests[i].at, true);
		for (int n = 0; n < requests[i].rejected; n++)
			tally_request(&tally, requests[i].at, false);
	}
	tally.firsts = 8;
	totals = tally_sum(&tally, 2 * S + 50 * MS);
	EQUAL("served", totals.served, 6);
	EQUAL("wasted", totals.wasted, 10);
	EQUAL("after the outage", totals.after, 1);
	EQUAL("retries", totals.retries, 2);
	EQUAL("the peak", totals.peak, 8);
	tally_end(&tally);
}

TEST(clients)
{
	static const struct {
		const char *row;
		int served; /* with latencies of 1 to served, backwards */
		int lost;
		nanos p50, p99, max;
	} rows[] = {
		{ "nobody", 0, 0, 0, 0, 0 },
		{ "one", 1, 0, 1, 1, 1 },
		{ "three", 3, 0, 2, 3, 3 },
		{ "a hundred and one", 101, 0, 51, 100, 101 },
		{ "a thousand", 1000, 0, 500, 990, 1000 },
		{ "one of a hundred is lost", 99, 1, 50, 99, NANOS_MAX },
		{ "two of them", 98, 2, 50, NANOS_MAX, NANOS_MAX },
		{ "half of them", 50, 50, 50, NANOS_MAX, NANOS_MAX },
		{ "all of them", 0, 100, NANOS_MAX, NANOS_MAX, NANOS_MAX },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct tally tally;
		struct totals totals;

		tally_start(&tally, S);
		for (int n = rows[i].served; n > 0; n--)
			tally_client(&tally, n);
		tally.lost = rows[i].lost;
		totals = tally_sum(&tally, 0);
		EQUAL(
		    rows[i].row, totals.clients, rows[i].served + rows[i].lost);
		EQUAL(rows[i].row, totals.lost, rows[i].lost);
		EQUAL(rows[i].row, totals.p50, rows[i].p50);
		EQUAL(rows[i].row, totals.p99, rows[i].p99);
		EQUAL(rows[i].row, totals.max, rows[i].max);
		tally_end(&tally);
	}
}

/* Requests, one after the other, of a server that was new: at so many
 * milliseconds, and the first digit of each answer. */
TEST(capacity)
{
	static const struct {
		const char *row;
		struct capacity capacity;
		const char *asked;
	} rows[] = {
		{ "no limit", { 0 }, "1=2 1=2" },
		{ "an outage", { .begin = S, .end = 2 * S },
		    "999=2 1000=5 1999=5 2000=2" },
		{ "two a second, from the end of an outage",
		    { .rate = 2, .end = S }, "1000=5 1500=2 1500=5 2000=2" },
		{ "of one second and no more", { .rate = 2 },
		    "9000=2 9000=2 9000=5" },
		{ "one in three fails", { .flaky = 3 },
		    "1=2 1=2 1=5 2=2 2=2 2=5" },
		{ "all fail", { .percent = 100 }, "1=5 2=5 3=5" },
		{ "two in each window", { .quota = 2, .window = 3 * S },
		    "0=2 2999=2 2999=4 3000=2 9000=2 9001=2 9002=4" },
	};
	static const struct capacity quota = { .window = 3 * S };
	struct load load = { 0 };
	int failed = 0;

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *text = rows[i].asked;
		int ms, answer, length;

		load = (struct load){ 0 };
		while (sscanf(text, "%d=%d%n", &ms, &answer, &length) == 2) {
			EQUAL(rows[i].row,
			    capacity_answer(&rows[i].capacity, &load, ms * MS) /
				100,
			    answer);
			text += length;
		}
		SAME(rows[i].row, text, "");
	}
	for (int i = 0; i < 1000; i++)
		failed += capacity_answer(&(struct capacity){ .percent = 20 },
			      &load, 0) == 503;
	HOLDS("a fifth fails", failed > 150 && failed < 250);
	EQUAL("a whole window", capacity_wait(&quota, 6 * S), 3 * S);
	EQUAL("whole seconds", capacity_wait(&quota, 4001 * MS), 2 * S);
}

#define TEN .kind = LIMITER_BUCKET, .rate = 10

/* Requests of a client at so many milliseconds, each with its status and what
 * it is told to wait, or the end of one that was served. */
TEST(limiters)
{
	static const struct {
		const char *row;
		struct limiter limiter;
		const char *asked;
	} rows[] = {
		{ "a window names its rest",
		    { .kind = LIMITER_WINDOW, .quota = 2, .period = 5 * S },
		    "0=200 1=200 2=429+5000 3999=429+2000 4999=429+1000 "
		    "5000=200" },
		{ "or nothing",
		    { .kind = LIMITER_WINDOW,
			.quota = 1,
			.period = 5 * S,
			.says = LIMITER_SILENT },
		    "0=200 1=429" },
		{ "or always the same",
		    { .kind = LIMITER_WINDOW,
			.quota = 1,
			.period = 5 * S,
			.says = S },
		    "0=200 1=429+1000 4999=429+1000" },
		{ "two windows: the longer one is named",
		    { .kind = LIMITER_WINDOW,
			.quota = 1,
			.period = S,
			.wide = 2,
			.breadth = 5 * S },
		    "0=200 1=429+1000 1000=200 1001=429+4000 5000=200" },
		{ "a sliding window counts what it served",
		    { .kind = LIMITER_SLIDING, .quota = 2, .period = 5 * S },
		    "0=200 3000=200 4000=429+1000 5000=200 5001=429+3000" },
		{ "refusals make it longer, by half of it from now",
		    { .kind = LIMITER_PENALTY, .quota = 1, .period = 4 * S },
		    "0=200 1000=429+3000 3500=429+2000 5400=429+2000 "
		    "7400=200" },
		{ "at once", { .kind = LIMITER_AT_ONCE, .quota = 1, .says = S },
		    "0=200 1=429+1000 2=end 3=200" },
		{ "a bucket is full at first", { TEN, .burst = 2, .says = S },
		    "0=200 0=200 0=429+1000 99=429+1000 100=200 101=429+1000" },
		{ "and never fuller", { TEN, .burst = 1, .says = S },
		    "9000=200 9001=429+1000" },
		{ "it may tell when there is a token", { TEN, .burst = 1 },
		    "0=200 0=429+100 40=429+60 100=200" },
		{ "half the rate", { TEN, .burst = 1, .halves = S },
		    "0=200 100=200 1000=200 1100=429+100 1200=200" },
		{ "another status",
		    { TEN, .burst = 1, .status = 403, .says = 5 * S },
		    "0=200 1=403+5000" },
		{ "a queue has two places",
		    { .kind = LIMITER_QUEUE,
			.rate = 1,
			.period = S,
			.says = LIMITER_SILENT },
		    "0=200 0=200 0=429 999=429 1000=200" },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *text = rows[i].asked;
		struct limiter_state state = { 0 };
		char wanted[16], got[16];
		int ms, length;

		while (sscanf(text, "%d=%15s%n", &ms, wanted, &length) == 2) {
			struct limiter_answer answer;

			text += length;
			if (strcmp(wanted, "end") == 0) {
				limiter_end(&state);
				continue;
			}
			answer =
			    limiter_begin(&rows[i].limiter, &state, ms * MS, 1);
			snprintf(got, sizeof got,
			    answer.wait > 0 ? "%d+%d" : "%d", answer.status,
			    (int)(answer.wait / MS));
			SAME(rows[i].row, got, wanted);
		}
		SAME(rows[i].row, text, "");
	}
}

/* How many of a thousand requests, of ten clients in turns, are served. */
static int
count_served(const struct limiter *limiter)
{
	struct limiter_state state = { 0 };
	int served = 0;

	for (int i = 0; i < 1000; i++)
		served +=
		    limiter_begin(limiter, &state, 0, i % 10).status == 200;
	return served;
}

TEST(limits_by_chance)
{
	int served = count_served(
	    &(struct limiter){ .kind = LIMITER_CHANCE, .percent = 20 });

	HOLDS("four of five", served > 750 && served < 850);
	EQUAL("one for each backend",
	    count_served(&(struct limiter){ TEN, .burst = 1, .backends = 2 }),
	    2);
	EQUAL("but one client, after its first requests are known",
	    count_served(&(struct limiter){ .kind = LIMITER_ONE, .client = 4 }),
	    900);
}

TEST(limited_requests_take_time)
{
	static const struct limiter queue = {
		.kind = LIMITER_QUEUE, .rate = 2, .period = S
	};
	static const struct limiter at_once = {
		.kind = LIMITER_AT_ONCE, .quota = 1, .takes = S
	};
	struct limiter_state state = { 0 };
	nanos takes;

	limiter_begin(&queue, &state, 0, 1);
	EQUAL("the second one waits for its place",
	    limiter_begin(&queue, &state, 0, 1).takes, S / 2);
	state = (struct limiter_state){ 0 };
	takes = limiter_begin(&at_once, &state, 0, 1).takes;
	HOLDS("a second", takes >= S / 2 && takes < 3 * S / 2);
	HOLDS(
	    "a refusal", limiter_begin(&at_once, &state, 0, 1).takes < 45 * MS);
}

#define ASKED .at = 2, .status = 429, .wait = 2 * S, .again = true
#define SERVED .at = 2, .status = 200
#define FAILED(time) .at = (time), .status = 503, .again = true

/* Whether the last one of some requests is more than a budget of one retry and
 * one for each second success allows. */
TEST(witness)
{
	static const struct terms limits = { WINDOW_RATIO_ONE / 2, 1, 10 * S };
	static const struct {
		const char *row;
		struct request seen[6];
		size_t excess;
	} rows[] = {
		{ "a second retry", { { FAILED(1) }, { FAILED(2) } }, 1 },
		{ "the first one", { { FAILED(1) } }, 0 },
		{ "a first attempt",
		    { { FAILED(1) }, { .at = 2, .status = 503 } }, 0 },
		{ "after a limit", { { ASKED }, { FAILED(2) } }, 0 },
		{ "of another host",
		    { { FAILED(1), .host = 1 }, { FAILED(2) } }, 0 },
		{ "of unknown ones",
		    { { FAILED(1), .host = -1 }, { FAILED(2), .host = -1 } },
		    0 },
		{ "long after the first", { { FAILED(1) }, { FAILED(10 * S) } },
		    0 },
		{ "paid for",
		    { { FAILED(1) }, { SERVED }, { SERVED }, { SERVED },
			{ SERVED }, { FAILED(6) } },
		    0 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		size_t count = LENGTH(rows[i].seen);

		while (rows[i].seen[count - 1].status == 0)
			count--;
		EQUAL(rows[i].row,
		    (int64_t)witness_excess(rows[i].seen, count, &limits),
		    (int64_t)rows[i].excess);
	}
}
