/*
 * ramp: when attempts may begin, how the rate changes, and the fields of a
 * word. All in terms of RAMP_STEP, RAMP_FIRST and RAMP_LEAST.
 */
#include "unit.h"
#include "script.h"
#include "budget/ramp.h"
#include "text/number.h"

#define STEP RAMP_STEP
#define FIRST RAMP_FIRST
#define LEAST RAMP_LEAST
#define QUIET RAMP_QUIET

/* The fields of a word, as another version of the program has them. */
#define BEGAN_BITS 18
#define STEP_BITS 11
#define COUNT_BITS 9
#define SERVED_BITS 8
#define FAILED_BITS 5
#define QUIET_BITS 3
#define MOST(bits) ((INT64_C(1) << (bits)) - 1)
#define FASTEST MOST(COUNT_BITS)
#define MOST_SERVED MOST(SERVED_BITS) /* no more are counted */
#define MOST_FAILED MOST(FAILED_BITS)

/* A millisecond whose low bits are neither all 0 nor all 1. */
#define BEGAN ((MOST(BEGAN_BITS) + 1 + 12345) * NANOS_MS)

/* When a step begins; steps count from 0. */
#define START(n) (BEGAN + STEP * (n))

static void check_same(const char *row, const struct ramp *got, const struct ramp *want) {
	EQUAL(row, got->began, want->began);
	EQUAL(row, got->slowdown, want->slowdown);
	EQUAL(row, got->step, want->step);
	EQUAL(row, got->rate, want->rate);
	EQUAL(row, got->taken, want->taken);
	EQUAL(row, got->served, want->served);
	EQUAL(row, got->met, want->met);
	EQUAL(row, got->failed, want->failed);
	EQUAL(row, got->quiet, want->quiet);
	EQUAL(row, got->outcomes, want->outcomes);
	EQUAL(row, got->over, want->over);
}

/*
 * Rows: a ramp in step 5, of which outcomes are known unless the row says "none" or "awaited";
 * what happens to it, one after the other; and behind "->" what it is then: all fields that are
 * not 0, and "next", how long until the next turn. "at" is an instant since step 5 began. A step
 * has 200 ms, the first rate is 12, the least 4, and 8 quiet steps are the end.
 */
static const char *const rows[] = {
	/* Turns: the first 4 at once, the others spread over the step. */
	"rate 4 -> next 0",
	"rate 4 taken 3 -> next 0",
	"rate 4 taken 4 -> next 200ms",
	"rate 4 taken 4 at 199.999999ms -> next 1ns",
	"rate 32 taken 4 -> next 6.25ms",
	"rate 32 taken 4 at 6.25ms -> next 0",
	"rate 32 taken 19 -> next 100ms",
	"rate 32 taken 19 at 99.999999ms -> next 1ns",
	"rate 32 taken 32 -> next 200ms",
	"rate 7 taken 4 -> next 28571428ns",
	"rate 7 taken 6 at 85714284ns -> next 1ns",
	"rate 511 taken 510 -> next 198434442ns",
	"rate 511 taken 510 at 198434442ns -> next 0",
	"rate 4 at -7ns -> next 7ns",
	"rate 4 taken 4 at 209ms -> next 0",

	/* A step that is cut has 4 turns and no more. */
	"rate 15 taken 14 failed 1 at 199.999999ms -> next 0",
	"rate 15 taken 14 failed 2 at 199.999999ms -> next 1ns",
	"rate 16 taken 15 failed 2 at 199.999999ms -> next 0",
	"rate 16 taken 15 failed 3 at 199.999999ms -> next 1ns",
	"rate 32 taken 3 failed 4 -> next 0",
	"rate 32 taken 4 failed 4 -> next 200ms",
	"rate 511 taken 510 failed 30 at 199.999999ms -> next 0",
	"rate 511 taken 510 failed 31 at 199.999999ms -> next 1ns",

	/* What is counted, and no more than there is room for. */
	"rate 12 take -> rate 12 taken 1",
	"rate 12 taken 1 succeed succeed -> rate 12 taken 1 served 2",
	"rate 12 taken 1 fail -> rate 12 taken 1 failed 1",
	"rate 12 taken 511 take -> rate 12 taken 511",
	"rate 12 served 255 succeed -> rate 12 served 255",
	"rate 12 failed 31 fail -> rate 12 failed 31",

	/* The rate grows by half. */
	"rate 32 taken 32 served 32 after 1 -> rate 48",
	"rate 33 taken 33 served 33 after 1 -> rate 50",
	/* Not beyond twice what succeeded, which is to be more than half. */
	"rate 32 taken 32 served 23 after 1 -> rate 46",
	"rate 32 taken 32 served 17 after 1 -> rate 34",
	"rate 32 taken 32 served 16 after 1 -> rate 32",
	"rate 32 taken 32 after 1 -> rate 32",
	/* Few by few, after it has met its limit. */
	"rate 32 taken 32 served 32 met after 1 -> rate 35 met",
	"rate 32 taken 32 served 16 met after 1 -> rate 32 met",
	"rate 4 taken 4 served 4 met after 1 -> rate 5 met",
	/* A failure now and then, the most that it bears, and one more. */
	"rate 32 taken 32 served 29 failed 3 after 1 -> rate 48",
	"rate 32 taken 32 served 32 failed 4 after 1 -> rate 24 met",
	"rate 32 taken 32 served 20 failed 4 met after 1 -> rate 20 met",
	"rate 32 taken 32 served 12 failed 20 met after 1 -> rate 16 met",
	"rate 4 taken 4 served 3 failed 1 after 1 -> rate 6",
	"rate 4 taken 4 failed 4 after 1 -> rate 4",
	"rate 5 taken 5 served 3 failed 2 after 1 -> rate 4",
	/* Only above the first rate this is a limit. */
	"rate 12 taken 12 served 3 failed 9 after 1 -> rate 6",
	"rate 14 taken 14 served 3 failed 9 after 1 -> rate 7 met",
	"rate 511 taken 511 served 255 after 1 -> rate 511",
	"rate 511 taken 511 served 255 met after 1 -> rate 511 met",
	"rate 511 taken 511 served 255 failed 30 after 1 -> rate 511",
	"rate 511 taken 511 served 255 failed 31 after 1 -> rate 255 met",
	/* Few attempts came: a higher rate would not be used. */
	"rate 32 taken 16 served 32 after 1 -> rate 32 quiet 1",
	"rate 32 taken 17 served 32 after 1 -> rate 48",
	/* A cut step is no quiet one, however few attempts came. */
	"rate 32 served 32 failed 4 after 1 -> rate 24 met",

	/* Quiet steps, and the end. */
	"rate 32 after 1 -> rate 32 quiet 1",
	"rate 32 taken 16 after 1 -> rate 32 quiet 1",
	"rate 32 taken 17 quiet 7 after 1 -> rate 32",
	"rate 32 taken 16 quiet 6 after 1 -> rate 32 quiet 7",
	"rate 32 taken 16 quiet 7 after 1 -> over",
	"rate 32 taken 16 quiet 7 after 0 -> rate 32 taken 16 quiet 7",
	"rate 32 taken 32 after 8 -> rate 32 quiet 7",
	"rate 32 taken 32 after 9 -> over",
	"rate 32 failed 3 quiet 7 after 1 -> over",
	"rate 32 failed 4 quiet 7 after 1 -> rate 16 met",
	"rate 32 failed 31 after 9 -> over",
	"rate 4 taken 4 failed 31 after 2048 -> over",
	"step 2046 rate 4 taken 4 after 1 -> step 2047 rate 4",
	"step 2047 rate 4 taken 4 served 4 after 2147481600 -> over",

	/* Until the outcome of one of its attempts is known, no step is quiet
	 * and the rate is not written. */
	"none rate 12 take -> rate 12 taken 1 awaited",
	"awaited rate 12 taken 1 after 0 -> rate 12 taken 1 awaited",
	"awaited rate 12 taken 1 quiet 1 after 1 -> rate 12 awaited",
	"awaited step 0 rate 12 taken 4 after 2047 -> step 2047 rate 12 awaited",
	"awaited step 1 rate 12 taken 1 after 2047 -> over",
	"awaited rate 12 succeed take after 0 -> rate 12 taken 1 served 1",
	"awaited rate 12 fail take after 0 -> rate 12 taken 1 failed 1",
	"awaited rate 12 succeed take after 8 -> over",
	/* Another attempt has told before the first one began. */
	"none rate 12 fail take -> rate 12 taken 1 failed 1",

	/* A slow recovery does in each of its longer steps what another one
	   does, and ends after seven minutes, too. */
	"slowdown 7 rate 36 taken 4 at 0 -> next 44444444ns",
	"slowdown 1 rate 36 taken 36 at 0 -> next 400ms",
	"slowdown 1 rate 36 taken 36 at 399.999999ms -> next 1ns",
	"slowdown 3 rate 32 taken 32 served 32 after 1 -> rate 48",
	"slowdown 3 rate 32 taken 32 after 8 -> rate 32 quiet 7",
	"slowdown 3 rate 32 taken 32 after 9 -> over",
	"slowdown 7 awaited step 1 rate 12 taken 1 after 254 -> step 255 rate 12 awaited",
	"slowdown 7 awaited step 1 rate 12 taken 1 after 255 -> over",

	/* With a clock that is behind, the same is available, but later. */
	"rate 8 taken 4 met after -2 -> rate 8 taken 4 met next 425ms",
	"rate 8 after -2 -> rate 8 next 400ms",
	"rate 8 taken 4 met after -9999 -> rate 8 taken 4 met",
};

TEST_ROWS(rows) {
	static const struct script_field fields[] = {
#define FIELD(name, type) { #name, offsetof(struct ramp, name), SCRIPT_##type }
		FIELD(slowdown, NUMBER), FIELD(step, NUMBER), FIELD(rate, NUMBER),
		FIELD(taken, NUMBER), FIELD(served, NUMBER), FIELD(failed, NUMBER),
		FIELD(quiet, NUMBER), FIELD(met, BOOL)
	};
	struct script script = script_of(row);
	struct ramp ramp = { .began = BEGAN, .step = 5 }, want = ramp;
	bool compared = false;
	nanos now = START(5), step;

	ramp.outcomes = want.outcomes = RAMP_KNOWN;
	while (script_next(&script) && !script_is(&script, "->")) {
		step = STEP * (1 + ramp.slowdown);
		if (script_is(&script, "none"))
			ramp.outcomes = RAMP_NONE;
		else if (script_is(&script, "awaited"))
			ramp.outcomes = RAMP_AWAITED;
		else if (script_is(&script, "take"))
			ramp_take(&ramp);
		else if (script_is(&script, "succeed"))
			ramp_end(&ramp, true);
		else if (script_is(&script, "fail"))
			ramp_end(&ramp, false);
		else if (script_is(&script, "at"))
			now = BEGAN + ramp.step * step + script_span(&script);
		else if (script_is(&script, "after")) {
			now = BEGAN + (ramp.step + script_number(&script)) * step;
			want.step = number_greater(ramp.step, (now - BEGAN) / step);
			now = number_greater(now, 0);
			ramp = ramp_read(ramp_word(&ramp), BEGAN, ramp.slowdown, now);
		} else if (!script_read(&script, fields, LENGTH(fields), &ramp))
			script_refuse(&script);
	}
	want.slowdown = ramp.slowdown;
	while (script_next(&script))
		if (script_is(&script, "over"))
			HOLDS(row, ramp.over);
		else if (script_is(&script, "next"))
			EQUAL(row, ramp_next(&ramp, now), script_span(&script));
		else if (script_is(&script, "awaited"))
			want.outcomes = RAMP_AWAITED;
		else if (script_read(&script, fields, LENGTH(fields), &want))
			compared = true;
		else
			script_refuse(&script);
	if (compared)
		check_same(row, &ramp, &want);
}

static const struct {
	const char *row;
	struct ramp ramp;
	int shift, bits;
} fields[] = {
	{ "met", { .met = true }, 0, 1 },
	{ "quiet", { .quiet = QUIET - 1 }, 1, QUIET_BITS },
	{ "failed", { .failed = MOST_FAILED }, 4, FAILED_BITS },
	{ "served", { .served = MOST_SERVED }, 9, SERVED_BITS },
	{ "taken", { .taken = FASTEST }, 17, COUNT_BITS },
	{ "rate", { .rate = FASTEST }, 26, COUNT_BITS },
	{ "step", { .step = MOST(STEP_BITS) }, 35, STEP_BITS },
	{ "began", { .began = MOST(BEGAN_BITS) * NANOS_MS }, 46, BEGAN_BITS },
	{ "low bits", { .began = (2 * MOST(BEGAN_BITS) + 1) * NANOS_MS }, 46, BEGAN_BITS },
	{ "over is none", { .over = true }, 0, 0 },
};

TEST(fields) {
	EQUAL("step", STEP, 200 * NANOS_MS);
	EQUAL("first", FIRST, 12);
	EQUAL("least", LEAST, 4);
	EQUAL("quiet", QUIET, 8);
	for (size_t i = 0; i < LENGTH(fields); i++)
		HOLDS(fields[i].row,
		    ramp_word(&fields[i].ramp) ==
			(uint64_t)MOST(fields[i].bits) << fields[i].shift);
}

/* A recovery that has gone on for a while. */
static const struct ramp good = { .began = BEGAN,
	.step = 3,
	.rate = 9 * LEAST,
	.taken = LEAST,
	.served = LEAST,
	.failed = MOST_FAILED,
	.quiet = 1,
	.outcomes = RAMP_KNOWN,
	.met = true };

static void check_void(const char *row, uint64_t word) {
	const struct ramp begins = { .began = BEGAN, .rate = FIRST };
	struct ramp got = ramp_read(word, BEGAN, 0, BEGAN);

	check_same(row, &got, &begins);
	got = ramp_read(word, BEGAN, 0, START(1) - 1);
	check_same(row, &got, &begins);
	/* Without attempts the recovery ends. */
	HOLDS(row, !ramp_read(word, BEGAN, 0, START(QUIET) - 1).over);
	HOLDS(row, ramp_read(word, BEGAN, 0, START(QUIET)).over);
}

/* A word of another recovery, or of none, stands for one that just begins. */
TEST(invalid_words) {
	struct ramp other = good, got;

	check_void("zero", 0);
	check_void("ones", UINT64_MAX);
	other.began = BEGAN - NANOS_MS;
	check_void("earlier", ramp_word(&other));
	other.began = BEGAN + NANOS_MS;
	check_void("later", ramp_word(&other));
	other = good;
	other.rate = LEAST - 1;
	check_void("too slow", ramp_word(&other));
	other = (struct ramp){ .began = BEGAN };
	check_void("no rate", ramp_word(&other));
	got = ramp_read(ramp_word(&good), BEGAN, 0, START(3));
	check_same("good", &got, &good);
	/* A word of 0 is invalid also for a recovery that began at instant 0. */
	EQUAL("at zero", ramp_read(0, 0, 0, 0).rate, FIRST);
	HOLDS("last instant", ramp_read(0, 0, 0, NANOS_MAX).over);
	HOLDS("last instant", ramp_read(UINT64_MAX, 0, 0, NANOS_MAX).over);
	/* With a clock that is behind, it begins later. */
	got = ramp_read(0, BEGAN, 0, 0);
	EQUAL("behind", got.step, 0);
	EQUAL("behind", ramp_next(&got, 0), BEGAN);
}

TEST(the_slowdown_of_so_many_hosts) {
	/* The first number is not of a server. */
	static const int64_t slowdowns[][2] = { { INT64_MIN, 0 }, { 0, 0 }, { 1, 0 }, { 23, 0 },
		{ 24, 1 }, { 35, 1 }, { 36, 2 }, { 95, 6 }, { 96, 7 }, { 100, 7 },
		{ INT64_MAX, 7 } };

	for (size_t i = 0; i < LENGTH(slowdowns); i++)
		EQUAL("hosts", ramp_slowdown(slowdowns[i][0]), slowdowns[i][1]);
}
