/*
 * storm: what the storms are counted and simulated with: the tally, the axes of
 * its figures, the queue of events, what the server can do, and what its log
 * shows.
 */
#include "unit.h"
#include "figure.h"
#include "queue.h"
#include "tally.h"
#include "witness.h"

#define MS NANOS_MS
#define S NANOS_SECOND

/* One that nothing was counted in. */
static struct tally
fresh(nanos width)
{
	struct tally tally;

	tally_start(&tally, width);
	return tally;
}

static void
requests(struct tally *tally, nanos at, int served, int rejected)
{
	while (served-- > 0)
		tally_request(tally, at, true);
	while (rejected-- > 0)
		tally_request(tally, at, false);
}

TEST(requests)
{
	struct tally tally = fresh(50 * MS);
	struct totals totals;

	requests(&tally, 0, 0, 7);
	requests(&tally, 50 * MS - 1, 0, 1);
	requests(&tally, 50 * MS, 1, 0);
	requests(&tally, 2 * S, 2, 1);
	requests(&tally, 2 * S + 50 * MS, 3, 1);
	EQUAL("bins", (int64_t)tally.count, 42);
	EQUAL("up to the end of a bin", tally.bins[0].rejected, 8);
	EQUAL("from its begin", tally.bins[1].served, 1);
	EQUAL("between", tally.bins[2].served + tally.bins[2].rejected, 0);
	tally.firsts = 8;
	totals = tally_sum(&tally, 2 * S + 50 * MS);
	EQUAL("served", totals.served, 6);
	EQUAL("wasted", totals.wasted, 10);
	EQUAL("after the outage", totals.after, 1);
	EQUAL("retries", totals.retries, 2);
	EQUAL("the peak", totals.peak, 8);
	tally_end(&tally);
	EQUAL("none", tally_sum(&tally, 0).peak, 0);
	tally_end(&tally);
	tally = fresh(1);
	requests(&tally, NANOS_MAX, 1, 0);
	requests(&tally, TALLY_BINS, 1, 0);
	EQUAL("late ones are", (int64_t)tally.count, TALLY_BINS);
	EQUAL("in the last bin", tally.bins[TALLY_BINS - 1].served, 2);
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
		struct tally tally = fresh(S);
		struct totals totals;

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

TEST(mean)
{
	static const struct totals all[] = {
		{ .wasted = 1, .p50 = 4, .p99 = 9, .max = NANOS_MAX },
		{ .wasted = 4, .p50 = 6, .p99 = NANOS_MAX, .max = NANOS_MAX },
	};
	struct totals mean = tally_mean(all, 2);

	EQUAL("wasted", mean.wasted, 2);
	EQUAL("p50", mean.p50, 5);
	EQUAL("never in one", mean.p99, NANOS_MAX);
	EQUAL("never in both", mean.max, NANOS_MAX);
}

/* The last line of a name counts, and nothing that is cut off. */
TEST(text)
{
	static const struct totals totals = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
	static const struct totals later = { .wasted = 7, .max = NANOS_MAX };
	struct totals found;
	FILE *file = tmpfile();

	tally_put(file, "crowd", "full, budget", &totals);
	HOLDS("another variant", !tally_find(file, "crowd", "full", &found));
	HOLDS("another scenario",
	    !tally_find(file, "herd", "full, budget", &found));
	HOLDS("found", tally_find(file, "crowd", "full, budget", &found));
	HOLDS("all of it", memcmp(&found, &totals, sizeof found) == 0);
	tally_put(file, "crowd", "full, budget", &later);
	tally_put(file, "crowd", "full", &totals);
	fputs("crowd/full,-budget clients=1 lo", file);
	HOLDS("again", tally_find(file, "crowd", "full, budget", &found));
	HOLDS("the last", memcmp(&found, &later, sizeof found) == 0);
	fclose(file);
}

TEST(words)
{
	static const struct {
		int64_t value;
		const char *text;
	} counts[] = { { 0, "0" }, { 7, "7" }, { 999, "999" },
		{ 1000, "1,000" }, { 8468, "8,468" },
		{ 12002500, "12,002,500" } };
	static const struct {
		nanos value;
		const char *text;
	} times[] = { { 0, "0.00s" }, { 350 * MS, "0.35s" },
		{ 9990 * MS, "9.99s" }, { 9996 * MS, "10.0s" },
		{ 15 * S, "15.0s" }, { NANOS_MAX, "never" } };

	for (size_t i = 0; i < LENGTH(counts); i++)
		SAME(counts[i].text, figure_count(counts[i].value),
		    counts[i].text);
	for (size_t i = 0; i < LENGTH(times); i++)
		SAME(times[i].text, figure_time(times[i].value), times[i].text);
}

/* Whether events come in order of time, and of putting within an instant. */
TEST(queue)
{
	struct queue queue;
	struct event event, before = { .at = 0 };
	uint64_t chance = 1;
	uint32_t put = 0, taken = 0;
	bool ordered = true;

	queue_start(&queue);
	HOLDS("empty", !queue_take(&queue, &event));
	for (; put < 1000; put++)
		queue_put(&queue, (struct event){ put % 10, put, 0 });
	while (queue_take(&queue, &event)) {
		taken++;
		ordered = ordered &&
		    (event.at > before.at ||
			(event.at == before.at && event.who >= before.who));
		before = event;
		chance = chance * UINT64_C(6364136223846793005) + 1;
		if (put < 100000)
			queue_put(&queue,
			    (struct event){ event.at +
				    (nanos)(chance >> 44) *
					(nanos)(chance >> 60),
				put++, 0 });
	}
	HOLDS("in order", ordered);
	EQUAL("all of them", taken, put);
	queue_put(&queue, (struct event){ before.at, 7, 0 });
	HOLDS("at the same instant", queue_take(&queue, &event));
	EQUAL("it", event.who, 7);
	queue_end(&queue);
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
		for (; sscanf(text, "%d=%d%n", &ms, &answer, &length) == 2;
		     text += length)
			EQUAL(rows[i].row,
			    capacity_answer(&rows[i].capacity, &load, ms * MS) /
				100,
			    answer);
		SAME(rows[i].row, text, "");
	}
	for (int i = 0; i < 1000; i++)
		failed += capacity_answer(&(struct capacity){ .percent = 20 },
			      &load, 0) == 503;
	HOLDS("a fifth fails", failed > 150 && failed < 250);
	EQUAL("a whole window", capacity_wait(&quota, 6 * S), 3 * S);
	EQUAL("whole seconds", capacity_wait(&quota, 4001 * MS), 2 * S);
}

#define ASKED \
	{ \
		.at = 2, .status = 429, .wait = 2 * S, .again = true \
	}
#define SERVED \
	{ \
		.at = 2, .status = 200 \
	}
#define FAILED(time) .at = (time), .status = 503, .again = true

/* Whether a request is early while a hold that was seen after a second lasts
 * for another one; and whether the last one of some requests is more than a
 * budget of one retry and one for each second success allows. */
TEST(witness)
{
	static const struct held hold = { 0, S, 2 * S };
	static const struct {
		const char *row;
		struct request request;
		bool early;
	} attempts[] = {
		{ "meanwhile", { .began = 1500 * MS }, true },
		{ "before it", { .began = 900 * MS }, false },
		{ "a moment later", { .began = 1050 * MS }, false },
		{ "after it", { .began = 2 * S }, false },
		{ "long after it looked",
		    { .began = 1500 * MS, .delay = S / 2 }, false },
		{ "in its last tick", { .began = 1995 * MS }, false },
		{ "of another host", { .began = 1500 * MS, .host = 1 }, false },
		{ "of a process that just went on",
		    { .began = 1500 * MS, .hurt = 1, .resumed = 1450 * MS },
		    false },
		{ "of one that went on before",
		    { .began = 1500 * MS, .hurt = 1, .resumed = S }, true },
		{ "of one that was stopped later",
		    { .began = 1500 * MS,
			.hurt = 1600 * MS,
			.resumed = NANOS_MAX },
		    true },
	};
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
		{ "after a limit", { ASKED, { FAILED(2) } }, 0 },
		{ "of another host",
		    { { FAILED(1), .host = 1 }, { FAILED(2) } }, 0 },
		{ "of unknown ones",
		    { { FAILED(1), .host = -1 }, { FAILED(2), .host = -1 } },
		    0 },
		{ "long after the first", { { FAILED(1) }, { FAILED(10 * S) } },
		    0 },
		{ "paid for",
		    { { FAILED(1) }, SERVED, SERVED, SERVED, SERVED,
			{ FAILED(6) } },
		    0 },
	};

	for (size_t i = 0; i < LENGTH(attempts); i++)
		EQUAL(attempts[i].row,
		    (int64_t)witness_early(
			&attempts[i].request, 1, &hold, 1, 0),
		    attempts[i].early);
	for (size_t i = 0; i < LENGTH(rows); i++) {
		size_t count = LENGTH(rows[i].seen);

		while (rows[i].seen[count - 1].status == 0)
			count--;
		EQUAL(rows[i].row,
		    (int64_t)witness_excess(rows[i].seen, count, &limits),
		    (int64_t)rows[i].excess);
	}
}
