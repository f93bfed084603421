/*
 * snapshot: the numbers of a budget, whatever its words contain.
 */
#include "unit.h"
#include "budget/snapshot.h"

#define SECONDS(n) ((nanos)(n)*NANOS_SECOND)

/* When the segments here were made. */
#define MADE SECONDS(1000)

static struct segment
make(const char *key, int64_t ratio, int64_t min, nanos window)
{
	struct terms terms = { ratio, min, window };
	struct origin origin = { .base = MADE };
	struct segment segment;

	segment_make(&segment, key, &terms, &origin);
	return segment;
}

static struct snapshot
look(const struct segment *segment, nanos age)
{
	struct snapshot snapshot;

	HOLDS("sound",
	    snapshot_take(&snapshot, segment, &segment->header, MADE + age));
	return snapshot;
}

static void
retries(struct segment *segment, int count, nanos age)
{
	struct terms limits = segment_terms(segment, &segment->header);
	int64_t epoch = window_epoch(
	    segment->header.slice, segment_age(&segment->header, MADE + age));
	struct window_sums sums;

	for (int i = 0; i < count; i++)
		EQUAL("retry",
		    window_withdraw(&segment->window, &limits, epoch, &sums),
		    WINDOW_GRANTED);
}

static void
successes(struct segment *segment, int count, nanos age)
{
	int64_t epoch = window_epoch(
	    segment->header.slice, segment_age(&segment->header, MADE + age));

	for (int i = 0; i < count; i++)
		EQUAL("success", window_deposit(&segment->window, epoch),
		    WINDOW_GRANTED);
}

TEST(a_new_budget)
{
	struct segment segment = make("api", -1, -1, -1);
	struct snapshot snapshot = look(&segment, 0);

	EQUAL("new", (int64_t)snapshot.length, 3);
	HOLDS("new", memcmp(snapshot.key, "api", 3) == 0);
	EQUAL("new", snapshot.retries, 0);
	EQUAL("new", snapshot.limit, 10);
	EQUAL("new", snapshot.left, 10);
	EQUAL("new", snapshot.next, 0);
	EQUAL("new", snapshot.window, SECONDS(60));
	EQUAL("new", snapshot.ratio, 200000);
	EQUAL("new", snapshot.amplification, SNAPSHOT_NONE);
	EQUAL("new", snapshot.breaker, BREAKER_CLOSED);
	EQUAL("new", snapshot.probe, SNAPSHOT_NONE);
	HOLDS("new", snapshot.idle);
	/* A clock behind that of the maker. */
	EQUAL("behind", look(&segment, -SECONDS(100)).left, 10);
}

TEST(what_is_used_and_what_is_left)
{
	struct segment segment = make("api", 500000, 2, SECONDS(60));

	successes(&segment, 6, SECONDS(10));
	retries(&segment, 2, SECONDS(10));
	EQUAL("two of three", look(&segment, SECONDS(10)).limit, 3);
	EQUAL("two of three", look(&segment, SECONDS(10)).left, 1);
	retries(&segment, 1, SECONDS(15));
	EQUAL("all", look(&segment, SECONDS(15)).left, 0);
	/* At 71, the sums are of 61 slices, without that of second 10. */
	EQUAL("next", look(&segment, SECONDS(20)).next, SECONDS(51));
	EQUAL("within a slice", look(&segment, SECONDS(20) + 1).next,
	    SECONDS(51) - 1);
	EQUAL("to look is not to take", look(&segment, SECONDS(20)).retries, 3);
	EQUAL("the next", look(&segment, SECONDS(71)).next, 0);
	EQUAL("the next", look(&segment, SECONDS(71)).left, 1);
}

TEST(a_limit_that_went_down)
{
	struct segment segment = make("api", -1, 5, -1);
	struct terms terms = { -1, 1, -1 };
	bool differs;

	retries(&segment, 5, 0);
	segment_agree(&segment, &segment.header, &terms, &differs);
	EQUAL("below what was used", look(&segment, 0).limit, 1);
	EQUAL("below what was used", look(&segment, 0).left, 0);
}

TEST(no_next_retry_without_a_success)
{
	struct segment segment = make("api", 0, 0, -1);

	EQUAL("no retries at all", look(&segment, 0).left, 0);
	EQUAL("no retries at all", look(&segment, 0).next, SNAPSHOT_NONE);
	atomic_store(&segment.cooldown, (uint64_t)SECONDS(5));
	EQUAL("nor later", look(&segment, 0).next, SNAPSHOT_NONE);
}

TEST(cooldowns)
{
	static const struct {
		const char *row;
		uint64_t word;
		nanos age, left;
	} rows[] = {
		{ "none", 0, 0, 0 },
		{ "begun", 5000000000, 0, SECONDS(5) },
		{ "over", 5000000000, SECONDS(5), 0 },
		{ "the longest", 86400000000000, 0, NANOS_DAY },
		{ "corrupt", 86400000000001, 0, 0 },
		{ "any bits", UINT64_MAX, 0, 0 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct segment segment = make("api", -1, -1, -1);
		struct snapshot snapshot;

		atomic_store(&segment.cooldown, rows[i].word);
		snapshot = look(&segment, rows[i].age);
		EQUAL(rows[i].row, snapshot.cooldown, rows[i].left);
		EQUAL(rows[i].row, snapshot.next, rows[i].left);
		EQUAL(rows[i].row, snapshot.idle, rows[i].left == 0);
	}
}

TEST(amplification)
{
	static const struct {
		const char *row;
		uint64_t firsts, retries, probes, turns;
		int64_t attempts, amplification;
	} rows[] = {
		{ "none", 0, 0, 0, 0, 0, SNAPSHOT_NONE },
		{ "no first", 0, 5, 0, 0, 5, SNAPSHOT_NONE },
		{ "one each", 5, 5, 0, 0, 10, 2000000 },
		{ "two thirds", 3, 2, 0, 0, 5, 1666667 },
		{ "of each kind", 5, 1, 2, 3, 11, 2200000 },
		{ "too many admitted", 1, 1, UINT64_MAX, UINT64_MAX, INT64_MAX,
		    INT64_MAX },
		{ "as many as go", INT64_MAX, 0, 0, 0, INT64_MAX, 1000000 },
		{ "too many", UINT64_MAX, UINT64_MAX, 0, 0, INT64_MAX,
		    1000000 },
		{ "one and too many", 1, UINT64_MAX, 0, 0, INT64_MAX,
		    INT64_MAX },
		{ "just below where it is halved", 9223372036854, 9223372036853,
		    0, 0, 18446744073707, 2000000 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct segment segment = make("api", -1, -1, -1);
		struct snapshot snapshot;

		atomic_store(&segment.firsts, rows[i].firsts);
		atomic_store(&segment.retries, rows[i].retries);
		atomic_store(&segment.probes, rows[i].probes);
		atomic_store(&segment.turns, rows[i].turns);
		snapshot = look(&segment, 0);
		EQUAL(rows[i].row, snapshot.all_attempts, rows[i].attempts);
		EQUAL(
		    rows[i].row, snapshot.amplification, rows[i].amplification);
	}
}

TEST(the_breaker)
{
	const struct breaker_config breaker = { 2, SECONDS(10), SECONDS(60) };
	struct segment segment = make("api", -1, -1, -1);
	struct breaker_view view;
	uint64_t lease;

	breaker_tell(
	    &segment.breaker, &breaker, RESULT_FAILURE, SECONDS(1), SECONDS(1));
	EQUAL("one failure", look(&segment, SECONDS(1)).failures, 1);
	EQUAL("one failure", look(&segment, SECONDS(1)).probe, SNAPSHOT_NONE);
	breaker_tell(
	    &segment.breaker, &breaker, RESULT_FAILURE, SECONDS(1), SECONDS(1));
	EQUAL("two", look(&segment, SECONDS(1)).breaker, BREAKER_OPEN);
	EQUAL("two", look(&segment, SECONDS(1)).failures, 2);
	EQUAL("two", look(&segment, SECONDS(4)).probe, SECONDS(7));
	HOLDS("two", !look(&segment, SECONDS(4)).idle);
	EQUAL("due", look(&segment, SECONDS(50)).probe, 0);
	HOLDS("due", !look(&segment, SECONDS(50)).idle);
	HOLDS(
	    "nearly a day", !look(&segment, SECONDS(11) + NANOS_DAY - 1).idle);
	HOLDS("a day", look(&segment, SECONDS(11) + NANOS_DAY).idle);
	EQUAL("due",
	    breaker_enter(&segment.breaker, SECONDS(50), &lease, &view),
	    BREAKER_PROBE);
	EQUAL("probe", look(&segment, SECONDS(50)).breaker, BREAKER_HALF_OPEN);
	EQUAL("probe", look(&segment, SECONDS(50)).probe, BREAKER_LEASE);
	HOLDS("probe", !look(&segment, SECONDS(50)).idle);
}

TEST(idle)
{
	struct segment segment = make("api", -1, -1, SECONDS(60));

	retries(&segment, 1, SECONDS(5));
	HOLDS("retry", !look(&segment, SECONDS(5)).idle);
	HOLDS("retry", !look(&segment, SECONDS(65)).idle);
	HOLDS("after the window", look(&segment, SECONDS(66)).idle);
	successes(&segment, 1, SECONDS(100));
	HOLDS("success", !look(&segment, SECONDS(159)).idle);
	HOLDS("success", look(&segment, SECONDS(160)).idle);
	atomic_store(&segment.firsts, 5);
	HOLDS("counters decide nothing", look(&segment, SECONDS(160)).idle);
}

TEST(what_the_host_knows_of_its_fleet)
{
	struct segment segment = make("api", -1, -1, SECONDS(60));
	const struct fleet_policy policy = { .timeout = NANOS_SECOND / 4,
		.alone = 2 };
	struct fleet_caller caller = { .policy = &policy,
		.slice = SECONDS(1),
		.random = UINT64_C(1) << 63 };
	struct fleet_answer answer = {
		.pause = SECONDS(4), .hosts = 312, .retries = 199, .limit = 200
	};
	struct host_step step = fleet_host_ask(
	    &segment.fleet, &segment.window, &caller, 1, SECONDS(5));

	EQUAL("not known", look(&segment, SECONDS(5)).fleet.hosts, 0);
	HOLDS("a question", look(&segment, SECONDS(5)).idle);
	fleet_host_store(
	    &segment.fleet, &caller, FLEET_ANSWERED, &answer, SECONDS(5));
	EQUAL("hosts", look(&segment, SECONDS(6)).fleet.hosts, 312);
	EQUAL("retries", look(&segment, SECONDS(6)).fleet.retries, 199);
	EQUAL("limit", look(&segment, SECONDS(6)).fleet.limit, 200);
	EQUAL("denied", look(&segment, SECONDS(6)).fleet.denied, SECONDS(3));
	HOLDS("denied", !look(&segment, SECONDS(8)).idle);
	HOLDS("over", look(&segment, SECONDS(9)).idle);
	step = fleet_host_ask(
	    &segment.fleet, &segment.window, &caller, 1, SECONDS(9));
	fleet_host_store(
	    &segment.fleet, &caller, FLEET_SILENT, NULL, SECONDS(9));
	EQUAL("down", look(&segment, SECONDS(9)).fleet.down, SECONDS(1));
	HOLDS("down", !look(&segment, SECONDS(9)).idle);
	HOLDS("over", look(&segment, SECONDS(10)).idle);
	step = fleet_host_ask(
	    &segment.fleet, &segment.window, &caller, 1, SECONDS(9));
	EQUAL("alone", step.decision, HOST_ALONE);
	EQUAL("alone", look(&segment, SECONDS(69)).fleet.alone, 1);
	HOLDS("alone", !look(&segment, SECONDS(69)).idle);
	HOLDS("after the window", look(&segment, SECONDS(70)).idle);
}

/* Random words, or zeros and ones, or words with only a few bits. */
static uint64_t
garbage(uint64_t *state, int kind)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	switch (kind) {
	case 0:
		return *state;
	case 1:
		return *state & 1 ? UINT64_MAX : 0;
	default:
		return *state & *state >> 9 & *state << 5;
	}
}

TEST(garbage)
{
	uint64_t state = 88172645463325252;

	for (int round = 0; round < 4000; round++) {
		struct segment segment = make("api", -1, -1, -1);
		const bool all = round % 5 == 0;
		const size_t from = all ? offsetof(struct segment, terms)
					: offsetof(struct segment, breaker);
		const size_t to =
		    all ? sizeof segment : offsetof(struct segment, window);
		nanos age = (nanos)(garbage(&state, round % 2) >> 2);
		struct snapshot a;
		bool sound;

		for (size_t at = from; at < to; at += 8) {
			uint64_t word = garbage(&state, round % 3);

			memcpy((char *)&segment + at, &word, sizeof word);
		}
		for (size_t at = offsetof(struct segment, fleet);
		     at < sizeof segment; at += 8) {
			uint64_t word = garbage(&state, round % 3);

			memcpy((char *)&segment + at, &word, sizeof word);
		}
		sound =
		    snapshot_take(&a, &segment, &segment.header, MADE + age);
		HOLDS("only limits and window count", sound || all);
		if (!sound)
			continue;
		HOLDS("sums", a.retries >= 0 && a.successes >= 0);
		HOLDS("limit", a.left >= 0 && a.left <= a.limit);
		HOLDS("next", a.next >= SNAPSHOT_NONE);
		HOLDS("ratio", a.ratio >= 0 && a.min >= 0);
		HOLDS("cooldown", a.cooldown >= 0 && a.cooldown <= NANOS_DAY);
		HOLDS("totals",
		    a.all_firsts >= 0 && a.all_retries >= 0 &&
			a.all_denied >= 0 && a.all_successes >= 0);
		HOLDS("attempts", a.all_attempts >= a.all_firsts);
		HOLDS("amplification",
		    a.amplification >= 1000000 ||
			(a.all_firsts == 0 &&
			    a.amplification == SNAPSHOT_NONE));
		HOLDS("breaker",
		    a.breaker >= BREAKER_CLOSED &&
			a.breaker <= BREAKER_HALF_OPEN && a.failures >= 0 &&
			a.probe >= SNAPSHOT_NONE);
		HOLDS("fleet", a.fleet.denied >= 0 && a.fleet.down >= 0);
		HOLDS("fleet", a.fleet.hosts >= 0 && a.fleet.alone >= 0);
		HOLDS("fleet", a.fleet.retries >= 0 && a.fleet.limit >= 0);
	}
}

TEST(corrupt_segments)
{
	static const struct {
		const char *row;
		bool limits; /* or a word of the window */
		size_t at;
		uint64_t word;
		bool sound;
	} rows[] = {
		{ "the largest limits", true, 0,
		    (uint64_t)SEGMENT_RATIO_MOST << 32 | SEGMENT_MIN_MOST,
		    true },
		{ "a larger minimum", true, 0, SEGMENT_MIN_MOST + 1, false },
		{ "any limits", true, 0, UINT64_MAX, false },
		{ "now", false, 39, (uint64_t)100 << 33 | 1, true },
		{ "full", false, 39, (uint64_t)100 << 33 | 0xffffffff, true },
		{ "a clock ahead", false, 39, (uint64_t)161 << 33, true },
		{ "a clock far ahead", false, 39, (uint64_t)222 << 33, false },
		{ "another place", false, 11, (uint64_t)10 << 33, false },
		{ "any word", false, 60, UINT64_MAX, false },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct segment segment = make("api", -1, -1, SECONDS(60));
		struct snapshot snapshot;
		struct segment before;

		atomic_store(rows[i].limits ? &segment.terms
					    : &segment.window.words[rows[i].at],
		    rows[i].word);
		memcpy(&before, &segment, sizeof before);
		HOLDS(rows[i].row,
		    snapshot_take(&snapshot, &segment, &segment.header,
			MADE + SECONDS(100)) == rows[i].sound);
		HOLDS(
		    rows[i].row, memcmp(&before, &segment, sizeof before) == 0);
	}
}

TEST(their_order)
{
	static const char *const keys[] = { "", "A", "a", "a b", "aa", "b",
		"\xff" };
	struct snapshot snapshots[LENGTH(keys)];

	for (size_t i = 0; i < LENGTH(keys); i++) {
		struct segment segment = make(keys[i], -1, -1, -1);

		snapshots[i] = look(&segment, 0);
		memcpy(snapshots[i].file, "file", 5);
	}
	for (size_t i = 0; i < LENGTH(keys); i++)
		for (size_t j = 0; j < LENGTH(keys); j++) {
			int order =
			    snapshot_compare(&snapshots[i], &snapshots[j]);

			EQUAL(keys[i], (order > 0) - (order < 0),
			    (i > j) - (i < j));
		}
}
