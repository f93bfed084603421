#include "budget/segment.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "text/hash.h"
#include "text/number.h"

/* The first bytes of a segment. */
#define MAGIC "retry-v6"

#define SLICE_LEAST (SEGMENT_WINDOW_LEAST / WINDOW_SLICES)
#define SLICE_MOST (SEGMENT_WINDOW_MOST / WINDOW_SLICES)

/* The longest pause after a denial. */
#define COOLDOWN_MOST NANOS_DAY

/* By how much a process may have read the clock before the maker read it, and
 * was stopped since: this, and some slices. */
#define CLOCK_BEHIND NANOS_MINUTE
#define SLICES_BEHIND 2

/*
 * A segment is replaced so many slices before its last epoch, which is five
 * hours at least: a process that still has it open finds it removed before the
 * epochs end.
 */
#define EPOCHS_LEFT (INT64_C(1) << 20)

/* "~" and 64 bits in hexadecimal. */
#define HASH_LENGTH 17

/* Where an atomic operation is a library function, its lock is valid within one
 * process only. */
#ifdef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_8
#define LOCK_FREE 1
#else
#define LOCK_FREE 0
#endif
static_assert(LOCK_FREE, "a word of 64 bits needs an atomic compare-and-swap");

/* Programs of 32 and of 64 bits share segments. The units have the offsets. */
static_assert(sizeof(struct header) == 1104, "header");
static_assert(sizeof(struct traffic) == 552, "no holes in what is shared");
static_assert(
    sizeof(struct traffic) / sizeof(uint32_t) <= RECORD_WORDS, "room");
static_assert(sizeof(struct segment) == 2304 + sizeof(struct record),
    "no holes in a segment");

char *
segment_name(char room[SEGMENT_NAME], int64_t uid, const char *key)
{
	const char *const limit = &room[SEGMENT_NAME - 1];
	uint64_t hash = hash_add(HASH_NONE, key, strlen(key));
	char *at = room + strlen(SEGMENT_PREFIX), *cut;

	memcpy(room, SEGMENT_PREFIX, strlen(SEGMENT_PREFIX));
	if (uid >= 0) {
		at = strchr(number_put(at, uid), '\0');
		*at++ = '.';
	}
	cut = at;
	for (const char *byte = key; *byte != '\0'; byte++) {
		bool plain = isalnum((unsigned char)*byte) ||
		    strchr("_-.", *byte) != NULL;

		if (limit - at < (plain ? 1 : 3)) {
			snprintf(cut, HASH_LENGTH + 1, "~%016" PRIX64, hash);
			return room;
		}
		if (plain)
			*at++ = *byte;
		else
			at += snprintf(at, 4, "%%%02X", (unsigned char)*byte);
		if (limit - at >= HASH_LENGTH)
			cut = at;
	}
	*at = '\0';
	return room;
}

/* Rounded up, so that the slices together are no shorter than the window. */
static nanos
slice_of(nanos window)
{
	return (window + WINDOW_SLICES - 1) / WINDOW_SLICES;
}

static uint64_t
pack(const struct terms *terms)
{
	return (uint64_t)terms->ratio << 32 | (uint64_t)terms->min;
}

/* The limits in a word; their ratio is -1 if the word is corrupt. */
static struct terms
unpack(uint64_t word, const struct header *header)
{
	struct terms terms = { .ratio = (int64_t)(word >> 32),
		.min = (int64_t)(word & UINT32_MAX),
		.window = window_length(header->slice) };

	if (terms.ratio > SEGMENT_RATIO_MOST || terms.min > SEGMENT_MIN_MOST)
		terms.ratio = -1;
	return terms;
}

void
segment_make(struct segment *segment, const char *key,
    const struct terms *terms, const struct origin *origin)
{
	struct header *header = &segment->header;
	size_t length = strnlen(key, SEGMENT_KEY);
	const struct terms made = {
		.ratio = terms->ratio == -1 ? SEGMENT_RATIO : terms->ratio,
		.min = terms->min == -1 ? SEGMENT_MIN : terms->min,
	};

	/* The padding is written to a file, too, and zero is the initial state
	 * of the words. */
	memset(segment, 0, sizeof *segment);
	memcpy(header->magic, MAGIC, sizeof header->magic);
	header->size = sizeof *segment;
	header->words = WINDOW_WORDS;
	header->slice =
	    slice_of(terms->window == -1 ? SEGMENT_WINDOW : terms->window);
	header->base = origin->base;
	memcpy(header->boot, origin->boot, sizeof header->boot);
	header->clock = origin->clock;
	header->length = (uint32_t)length;
	memcpy(header->key, key, length);
	atomic_init(&segment->terms, pack(&made));
}

const char segment_stale[] = "of an earlier boot";

const char *
segment_check(
    const struct header *header, const char *key, const struct origin *here)
{
	size_t length = header->length;
	uint32_t clock = header->clock;

	/* segment_make() would not have written this header. */
	if (memcmp(header->magic, MAGIC, sizeof header->magic) != 0 ||
	    header->size != sizeof(struct segment) ||
	    header->words != WINDOW_WORDS || header->slice < SLICE_LEAST ||
	    header->slice > SLICE_MOST || header->base < 0 || length == 0 ||
	    length != strnlen(header->key, SEGMENT_KEY))
		return "of another version";
	if (key != NULL &&
	    (strlen(key) != length || memcmp(header->key, key, length) != 0))
		return "of another key";
	if (here->boot[0] != '\0' &&
	    strncmp(here->boot, header->boot, SEGMENT_BOOT) != 0)
		return segment_stale;
	if ((clock != 0 && here->clock != 0 && clock != here->clock) ||
	    header->base - here->base >
		CLOCK_BEHIND + SLICES_BEHIND * header->slice)
		return "of another clock";
	if (window_epoch(header->slice, segment_age(header, here->base)) >=
	    WINDOW_EPOCHS - EPOCHS_LEFT)
		return segment_stale;
	return NULL;
}

nanos
segment_age(const struct header *header, nanos now)
{
	return now > header->base ? now - header->base : 0;
}

struct terms
segment_agree(struct segment *segment, const struct header *header,
    const struct terms *terms, bool *differs)
{
	uint64_t word = atomic_load(&segment->terms), next;
	struct terms there, agreed;

	*differs = false;
	do {
		agreed = there = unpack(word, header);
		if (there.ratio < 0)
			return there;
		if (terms->ratio != -1)
			agreed.ratio = number_lesser(terms->ratio, there.ratio);
		if (terms->min != -1)
			agreed.min = number_lesser(terms->min, there.min);
		next = pack(&agreed);
	} while (next != word &&
	    !atomic_compare_exchange_weak(&segment->terms, &word, next));
	*differs = (terms->ratio != -1 && terms->ratio != there.ratio) ||
	    (terms->min != -1 && terms->min != there.min) ||
	    (terms->window != -1 && slice_of(terms->window) != header->slice);
	return agreed;
}

/* What is left until an instant that another process has written. */
static nanos
left_of(uint64_t until, nanos age)
{
	uint64_t now = (uint64_t)age;

	return until > now && until - now <= COOLDOWN_MOST + CLOCK_BEHIND
	    ? (nanos)(until - now)
	    : 0;
}

nanos
segment_cooldown(const struct segment *segment, nanos age)
{
	return left_of(atomic_load(&segment->cooldown), age);
}

void
segment_cool(struct segment *segment, nanos pause, nanos age)
{
	uint64_t until = atomic_load(&segment->cooldown);

	pause = number_lesser(pause, COOLDOWN_MOST);
	while (left_of(until, age) < pause &&
	    !atomic_compare_exchange_strong(
		&segment->cooldown, &until, (uint64_t)number_add(age, pause)))
		;
}

#define WORDS(bytes) ((bytes) / sizeof(uint32_t))

uint64_t
segment_read(const struct segment *segment, nanos age, struct traffic *traffic)
{
	uint32_t words[WORDS(sizeof *traffic)];
	uint64_t change =
	    record_read(&segment->record, words, WORDS(sizeof words));

	memcpy(traffic, words, sizeof *traffic);
	if (pace_is_corrupt(&traffic->pace, age) ||
	    rate_is_corrupt(&traffic->rate, age))
		memset(traffic, 0, sizeof *traffic);
	return change;
}

bool
segment_replace(
    struct segment *segment, uint64_t change, const struct traffic *traffic)
{
	uint32_t words[WORDS(sizeof *traffic)];
	bool limited = traffic->rate.terms.number > 0;

	memcpy(words, traffic, sizeof words);
	return record_publish(&segment->record, change, words,
	    WORDS(limited ? sizeof *traffic : offsetof(struct traffic, rate)));
}

nanos
segment_seen(const struct segment *segment)
{
	struct traffic traffic;

	segment_read(segment, NANOS_MAX / 2, &traffic);
	return traffic.pace.seen;
}

void
segment_forget(struct segment *segment)
{
	struct traffic none = { .looks = { .waiting = 0 } };
	uint64_t change;

	do {
		struct traffic traffic;

		change = segment_read(segment, NANOS_MAX / 2, &traffic);
		none.rate.terms = traffic.rate.terms;
	} while (!segment_replace(segment, change, &none));
}

void
segment_count(struct segment *segment, enum total total)
{
	atomic_fetch_add(&segment->totals[total], 1);
}

void
segment_unknown(struct snapshot *snapshot, const char *key)
{
	/* Each number is SNAPSHOT_NONE, which is -1. */
	memset(snapshot, 0xff, sizeof *snapshot);
	snapshot->file[0] = '\0';
	snapshot->length = strlen(key);
	memset(snapshot->key, 0, sizeof snapshot->key);
	memcpy(snapshot->key, key, snapshot->length);
	snapshot->idle = snapshot->guarded = false;
	snapshot->fleet = (struct host_view){ .denied = 0 };
}

bool
segment_is_known(const struct snapshot *snapshot)
{
	return snapshot->limit != SNAPSHOT_NONE;
}

/* Takes what has been counted since the segment was made. */
static void
take_totals(struct snapshot *snapshot, const struct segment *segment)
{
	const int64_t *totals = snapshot->totals;
	double share;

	/* They have not been checked, because nothing depends on them: with 60
	 * bits no sum overflows. */
	for (int i = 0; i < TOTALS; i++)
		snapshot->totals[i] =
		    (int64_t)(atomic_load(&segment->totals[i]) &
			NUMBER_MOST(60));
	snapshot->attempts = totals[TOTAL_FIRSTS] + totals[TOTAL_RETRIES] +
	    totals[TOTAL_LIMITED] + totals[TOTAL_PROBES] + totals[TOTAL_TURNS];
	snapshot->amplification = SNAPSHOT_NONE;
	if (totals[TOTAL_FIRSTS] > 0) {
		share = (double)snapshot->attempts /
		    (double)totals[TOTAL_FIRSTS] * WINDOW_RATIO_ONE;
		snapshot->amplification = share < (double)INT64_MAX
		    ? (int64_t)(share + 0.5)
		    : INT64_MAX;
	}
}

/* A number for reports, or NONE for 0. */
static int64_t
or_none(int64_t number)
{
	return number != 0 ? number : SNAPSHOT_NONE;
}

/* Takes what is known of the server's limit, and of the user's. */
static void
look_at_server(
    struct snapshot *snapshot, const struct segment *segment, nanos age)
{
	struct traffic traffic;
	struct pace_view view;

	segment_read(segment, age, &traffic);
	view = pace_look(&traffic.pace, age);
	snapshot->held = view.held;
	snapshot->pace = or_none((int64_t)(view.rate * WINDOW_RATIO_ONE + 0.5));
	snapshot->quota = or_none(view.quota);
	snapshot->period = or_none(view.period);
	snapshot->rate_number = or_none(traffic.rate.terms.number);
	snapshot->rate_time = or_none(traffic.rate.terms.time);
	snapshot->rate_used = rate_used(&traffic.rate, age);
}

bool
segment_look(struct snapshot *snapshot, const struct segment *segment,
    const struct header *header, nanos now)
{
	struct terms terms = unpack(atomic_load(&segment->terms), header);
	nanos age = segment_age(header, now);
	struct breaker_view view;
	struct window_sums sums;
	bool abandoned;

	snapshot->length = header->length;
	memcpy(snapshot->key, header->key, sizeof snapshot->key);
	snapshot->next =
	    window_next(&segment->window, &terms, header->slice, age, &sums);
	if (terms.ratio < 0 || snapshot->next < 0)
		return false;
	snapshot->ratio = terms.ratio;
	snapshot->min = terms.min;
	snapshot->retries = sums.retries;
	snapshot->successes = sums.successes;
	snapshot->limit = window_limit(&terms, sums.successes);
	snapshot->left = number_greater(snapshot->limit - sums.retries, 0);
	snapshot->window = terms.window;
	snapshot->cooldown = segment_cooldown(segment, age);
	look_at_server(snapshot, segment, age);
	if (snapshot->next == NANOS_MAX)
		snapshot->next = SNAPSHOT_NONE;
	else
		snapshot->next = number_greater(snapshot->next,
		    number_greater(snapshot->cooldown, snapshot->held));

	view = breaker_look(&segment->breaker, age);
	snapshot->guarded =
	    view.state != BREAKER_CLOSED || atomic_load(&segment->guarded) != 0;
	snapshot->breaker = view.state;
	snapshot->failures = view.failures;
	snapshot->probe = snapshot->rate = SNAPSHOT_NONE;
	if (view.state == BREAKER_RECOVERING)
		snapshot->rate = view.rate;
	else if (view.state != BREAKER_CLOSED)
		snapshot->probe = view.next;
	snapshot->hosts = SNAPSHOT_NONE;
	snapshot->fleet = fleet_host_look(&segment->fleet, header->slice, age);

	/* If a probe has been due for longer than any pause, then no process
	 * waits to make it. */
	abandoned = view.next == 0 && age >= BREAKER_PAUSE_MOST &&
	    breaker_look(&segment->breaker, age - BREAKER_PAUSE_MOST).next == 0;
	snapshot->idle = snapshot->retries == 0 && snapshot->successes == 0 &&
	    snapshot->cooldown == 0 && snapshot->held == 0 &&
	    snapshot->pace == SNAPSHOT_NONE && snapshot->rate_used == 0 &&
	    snapshot->fleet.denied == 0 && snapshot->fleet.down == 0 &&
	    snapshot->fleet.alone == 0 &&
	    (snapshot->breaker == BREAKER_CLOSED || abandoned);
	take_totals(snapshot, segment);
	return true;
}

int
segment_compare(const void *a, const void *b)
{
	const struct snapshot *left = a, *right = b;

	return strncmp(left->key, right->key, SEGMENT_KEY);
}
