/*
 * Covers budget/segment.
 *
 * The snapshot of a segment: the numbers of a budget, whatever its words contain.
 */
#include "unit.h"
#include "script.h"
#include "budget/segment.h"
#include "text/hash.h"

/* When the segments here were made. */
#define MADE SECONDS(1000)

static struct segment make(const char *key, int64_t ratio, int64_t min) {
	struct terms terms = { ratio, min, SECONDS(60) };
	struct origin origin = { .base = MADE };
	struct segment segment;

	segment_make(&segment, key, &terms, &origin);
	return segment;
}

/*
 * Scenes: the ratio in millionths and the minimum, if they are not the usual
 * ones; then steps: an age, what is done; and what a look says then, each fact
 * with "=", or with a "!" in front if it is false.
 */
static const char *const scenes[] = {
	"retries=0 limit=10 left=10 next=0 window=60s ratio=200000 "
	"amplification=-1 breaker=0 probe=-1 idle attempts=0",
	/* A clock behind that of the maker. */
	"-100s left=10",
	/* At 71 s the sums are of 61 slices, without that of second 10. */
	"500000/2: 10s success x6, retry x2 limit=3 left=1, 15s retry left=0, 20s next=51s, "
	"20.000000001s next=50999999999ns, 20s retries=3, 71s next=0 left=1",
	/* The limit went down, below what was used. */
	"200000/5: retry x5 lower-min limit=1 left=0",
	/* There is no next retry without a success. */
	"0/0: left=0 next=-1 cooldown 5s next=-1",

	/* A pause, the longest one, and words that are corrupt. */
	"cooldown 5s cooldown=5s next=5s !idle, 5s cooldown=0 next=0 idle",
	"cooldown 24h cooldown=24h next=24h !idle",
	"cooldown 86460000000001ns cooldown=0 next=0 idle",
	"cooldown -1ns cooldown=0 next=0 idle",

	"retries 5 attempts=5 amplification=-1",
	"firsts 5 retries 5 attempts=10 amplification=2000000",
	"firsts 3 retries 2 attempts=5 amplification=1666667",
	"firsts 5 retries 1 probes 2 turns 3 attempts=11 amplification=2200000",
	/* Too many; -1 is the largest number of the segment, of which 60 bits count. */
	"firsts 1 retries 1 probes -1 turns -1 attempts=2305843009213693952 "
	"amplification=9223372036854775807",
	"firsts 9223372036854775807 attempts=1152921504606846975 amplification=1000000",
	"firsts -1 retries -1 attempts=2305843009213693950 amplification=2000000",
	"firsts 1 retries -1 attempts=1152921504606846976 amplification=9223372036854775807",
	/* Just below where it is halved. */
	"firsts 9223372036854 retries 9223372036853 attempts=18446744073707 amplification=2000000",

	/* The breaker opens after two failures, for 10 s. */
	"1s failure failures=1 probe=-1 failure breaker=1 failures=2, 4s probe=7s !idle, 50s "
	"probe=0 !idle, 86410.999999999s !idle, 86411s idle, 50s enter breaker=2 probe=3s !idle",

	"5s retry !idle, 65s !idle, 66s idle, 100s success, 159s !idle, 160s idle firsts 5 idle",

	/* What the host knows of its fleet. */
	"5s ask hosts=0 idle answered, 6s hosts=312 fleet-retries=199 fleet-limit=200 denied=3s, "
	"8s !idle, 9s idle ask silent down=1s !idle, 10s idle, 9s ask, 69s alone=1 !idle, 70s idle",

	/* Limits and words of the window that no version writes: "word" has
	 * its place, its epoch and its other bits. */
	"limits 1000000000 1000000 !corrupt",
	"limits 0 1000001 corrupt",
	"limits -1 4294967295 corrupt",
	"100s word 39 100 1 !corrupt",
	"100s word 39 100 4294967295 !corrupt",
	"100s word 39 161 0 !corrupt",
	"100s word 39 222 0 corrupt",
	"100s word 11 10 0 corrupt",
	"100s word 60 -1 8589934591 corrupt",
};

/* A host of a fleet, whose server has answered it. */
static const struct fleet_config fleet_config = { .timeout = NANOS_SECOND / 4, .alone = 2 };
static const struct fleet_answer answer = {
	.pause = SECONDS(4), .hosts = 312, .retries = 199, .limit = 200
};

/* Does what the last word of the script says; false: it says a fact. */
static bool
act(struct script *script, struct segment *segment, struct fleet_caller *caller, nanos age) {
	static const struct breaker_config config = { 2, SECONDS(10), SECONDS(60) };
	static const struct script_field words[] = {
#define WORD(name, field, type) { name, offsetof(struct segment, field), SCRIPT_##type }
		WORD("firsts", totals[TOTAL_FIRSTS], NUMBER),
		WORD("retries", totals[TOTAL_RETRIES], NUMBER),
		WORD("probes", totals[TOTAL_PROBES], NUMBER),
		WORD("turns", totals[TOTAL_TURNS], NUMBER), WORD("cooldown", cooldown, SPAN)
	};
	bool differs;
	struct terms terms =
	    segment_agree(segment, &segment->header, &(struct terms){ -1, -1, -1 }, &differs);
	int64_t epoch =
	    window_epoch(segment->header.slice, segment_age(&segment->header, MADE + age));
	struct window_sums sums;
	struct breaker_view view;
	uint64_t lease;

	if (script_read(script, words, LENGTH(words), segment))
		return true;
	if (script_is(script, "retry"))
		EQUAL(script->rest, window_withdraw(&segment->window, &terms, epoch, &sums),
		    WINDOW_GRANTED);
	else if (script_is(script, "success"))
		EQUAL(script->rest, window_deposit(&segment->window, epoch), WINDOW_GRANTED);
	else if (script_is(script, "lower-min"))
		segment_agree(segment, &segment->header, &(struct terms){ -1, 1, -1 }, &differs);
	else if (script_is(script, "failure"))
		breaker_tell(&segment->breaker, &config, RESULT_FAILURE, age, age);
	else if (script_is(script, "enter"))
		breaker_enter(&segment->breaker, age, &lease, &view);
	else if (script_is(script, "ask"))
		fleet_host_ask(&segment->fleet, &segment->window, caller, age);
	else if (script_is(script, "answered"))
		fleet_host_store(&segment->fleet, caller, &answer, age);
	else if (script_is(script, "silent"))
		fleet_host_store(&segment->fleet, caller,
		    &(struct fleet_answer){ .code = FLEET_SILENT }, age);
	else if (script_is(script, "limits")) {
		uint64_t ratio = (uint64_t)script_number(script);

		segment->terms = ratio << 32 | (uint64_t)script_number(script);
	} else if (script_is(script, "word")) {
		int64_t place = script_number(script);
		uint64_t at = (uint64_t)script_number(script);

		segment->window.words[place] = at << 33 | (uint64_t)script_number(script);
	} else
		return false;
	return true;
}

static void check_fact(struct script *script, const struct segment *segment, nanos age) {
	struct segment before;
	struct snapshot a = { .length = 0 };
	bool sound;

	memcpy(&before, segment, sizeof before);
	sound = segment_look(&a, segment, &segment->header, MADE + age);
	/* To look is not to take. */
	HOLDS(script->rest, memcmp(&before, segment, sizeof before) == 0);
	EQUAL(script->rest, sound, !script_is(script, "corrupt"));
	const struct script_fact facts[] = { FACT("corrupt", !sound), FACT("idle", a.idle),
		FACT("retries", a.retries), FACT("limit", a.limit), FACT("left", a.left),
		FACT("next", a.next), FACT("window", a.window), FACT("ratio", a.ratio),
		FACT("cooldown", a.cooldown), FACT("attempts", a.attempts),
		FACT("amplification", a.amplification), FACT("breaker", a.breaker),
		FACT("failures", a.failures), FACT("probe", a.probe), FACT("hosts", a.fleet.hosts),
		FACT("fleet-retries", a.fleet.retries), FACT("fleet-limit", a.fleet.limit),
		FACT("denied", a.fleet.denied), FACT("down", a.fleet.down),
		FACT("alone", a.fleet.alone) };

	if (!script_check(script, facts, LENGTH(facts)))
		script_refuse(script);
}

TEST_ROWS(scenes) {
	const char *colon = strchr(row, ':');
	struct scene scene = { .script = script_of(colon ? colon + 1 : row) };
	struct fleet_caller caller = {
		.config = &fleet_config, .slice = SECONDS(1), .random = UINT64_C(1) << 63
	};
	int ratio = -1, min = -1;
	struct segment segment;

	if (colon != NULL)
		sscanf(row, "%d/%d:", &ratio, &min);
	segment = make("api", ratio, min);
	while (scene_next(&scene))
		if (!act(&scene.script, &segment, &caller, scene.now))
			check_fact(&scene.script, &segment, scene.now);
}

/* Random words, or zeros and ones, or words with only a few bits. */
static uint64_t garbage(uint64_t *state, int kind) {
	uint64_t word = hash_draw(state);

	if (kind == 1)
		return word & 1 ? UINT64_MAX : 0;
	return kind == 0 ? word : word & word >> 9 & word << 5;
}

TEST(garbage) {
	uint64_t state = 1;

	for (int round = 0; round < 4000; round++) {
		struct segment segment = make("api", -1, -1);
		const bool all = round % 5 == 0;
		const size_t from =
		    all ? offsetof(struct segment, terms) : offsetof(struct segment, breaker);
		const size_t to = all ? sizeof segment : offsetof(struct segment, window);
		nanos age = (nanos)(garbage(&state, round % 2) >> 2);
		struct snapshot a;
		bool sound;

		for (size_t at = from; at < sizeof segment; at += 8) {
			uint64_t word = garbage(&state, round % 3);

			if (at < to || at >= offsetof(struct segment, fleet))
				memcpy((char *)&segment + at, &word, 8);
		}
		sound = segment_look(&a, &segment, &segment.header, MADE + age);
		HOLDS("only limits and window count", sound || all);
		if (!sound)
			continue;
		HOLDS("sums", a.retries >= 0 && a.successes >= 0);
		HOLDS("limit", a.left >= 0 && a.left <= a.limit);
		HOLDS("next", a.next >= SNAPSHOT_NONE);
		HOLDS("ratio", a.ratio >= 0 && a.min >= 0);
		HOLDS("cooldown", a.cooldown >= 0 && a.cooldown <= NANOS_DAY + NANOS_MINUTE);
		HOLDS("totals",
		    a.totals[TOTAL_FIRSTS] >= 0 && a.totals[TOTAL_RETRIES] >= 0 &&
			a.totals[TOTAL_DENIED] >= 0 && a.totals[TOTAL_SUCCESSES] >= 0);
		HOLDS("attempts", a.attempts >= a.totals[TOTAL_FIRSTS]);
		HOLDS("amplification",
		    a.amplification >= 1000000 ||
			(a.totals[TOTAL_FIRSTS] == 0 && a.amplification == SNAPSHOT_NONE));
		HOLDS("breaker",
		    a.breaker >= BREAKER_CLOSED && a.breaker <= BREAKER_HALF_OPEN &&
			a.failures >= 0 && a.probe >= SNAPSHOT_NONE);
		HOLDS("fleet", a.fleet.denied >= 0 && a.fleet.down >= 0);
		HOLDS("fleet", a.fleet.hosts >= 0 && a.fleet.alone >= 0);
		HOLDS("fleet", a.fleet.retries >= 0 && a.fleet.limit >= 0);
	}
}

TEST(their_order) {
	static const char *const keys[] = { "", "A", "a", "a b", "aa", "b", "\xff" };
	struct snapshot snapshots[LENGTH(keys)];

	for (size_t i = 0; i < LENGTH(keys); i++) {
		struct segment segment = make(keys[i], -1, -1);

		HOLDS(keys[i], segment_look(&snapshots[i], &segment, &segment.header, MADE));
		memcpy(snapshots[i].file, "file", 5);
	}
	for (size_t i = 0; i < LENGTH(keys); i++)
		for (size_t j = 0; j < LENGTH(keys); j++) {
			int order = segment_compare(&snapshots[i], &snapshots[j]);

			EQUAL(keys[i], (order > 0) - (order < 0), (i > j) - (i < j));
		}
}
