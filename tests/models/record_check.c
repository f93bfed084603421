/*
 * Covers budget/record.
 *
 * record_check [large]: tries every interleaving of a few processes that read, change and publish
 * a small record, with the code of src/budget/record.c itself.
 *
 * The contents are a counter and who wrote it, in one word or in all. An actor reads the record,
 * and may publish a counter that is greater by one, at any later time. Actors take their steps in
 * any order; each step is one access to the record. One that takes no more steps stands for a
 * process that was killed or stopped.
 *
 * The check notes what was published with each change, and verifies after each step:
 *
 * - the words of the head's slot are what was published with this change, whole: nobody changes
 *   them, however late he goes on;
 * - what is read is what was published with the change that is read, or zeros where the contents
 *   are forgotten, and a record without mistakes is never taken for corrupt;
 * - what is published follows from what was there before: its counter is greater by one, it is the
 *   next change, and the writer knows that he has published it;
 * - contents are forgotten only while all other slots are used by other writers of this change
 *   that have not ended;
 * - no step leaves all as it was, and no operation has more accesses than there is room for,
 *   unless others go on: so none is endless.
 *
 * tests/models/broken breaks the record in many ways; each must be found.
 */
#ifndef RECORD_SLOTS
#define RECORD_SLOTS 3
#define RECORD_WORDS 2
#endif
#include <err.h>
#include <string.h>
#include "budget/record.h"
#include "text/number.h"
#include "explore.h"

#include "accesses.h"
#define atomic_compare_exchange_weak(at, expected, desired) exchange(at, expected, desired)

#include "budget/record.c"

#ifndef ACCESSES
#define ACCESSES (RECORD_SLOTS * (RECORD_WORDS + 1))
#endif

enum {
	ACTORS = 4, /* explorer.actors of them are used */
	CHANGES = 16, /* more than there are in any trial */
};

enum operation { IDLE, READ, PUBLISH, OPERATIONS };

static const char *const names_of[OPERATIONS] = { "nothing", "read", "publish" };

/* A process. States are compared as bytes. */
struct actor {
	uint16_t seen[ACCESSES]; /* the results of its accesses so far */
	uint16_t head; /* that it has read, and not yet published the next one */
	uint8_t operation, accesses;
	uint8_t left; /* reads after this one */
	uint8_t has_read;
	uint8_t who;
	uint8_t spare[7 - (ACCESSES * 2 + 6) % 8];
};

struct state {
	uint16_t head, slots[RECORD_SLOTS][RECORD_WORDS];
	/* What was published with each change: a counter and who; 0: forgotten. */
	uint8_t truth[CHANGES];
	uint8_t spare[7 - (1 + RECORD_SLOTS * RECORD_WORDS) * 2 % 8 + 1];
	struct actor actors[ACTORS];
};

/* How often each actor acts; the change before the first one; and what all words are before. */
struct trial {
	uint8_t left[ACTORS];
	uint64_t first;
	uint16_t words;
};

/* A word that a corrupt record has, so many changes after the first one. */
#define CORRUPT(change) (USED | (change) << 8 | 0xff)
#define USED 0x8000
#define WRAPS (NUMBER_MOST(CHANGE_BITS) - 2)

static const struct trial small[] = {
	{ { 2, 2, 1, 0 }, 0, 0 },
	{ { 1, 1, 1, 1 }, 0, 0 },
	{ { 2, 2, 0, 0 }, WRAPS, 0 },
	{ { 3, 2, 0, 0 }, 5, CORRUPT(3) },
	{ .left = { 0 } },
};

static const struct trial larger[] = {
	{ { 2, 2, 2, 0 }, 0, 0 },
	{ { 4, 3, 0, 0 }, 0, 0 },
	{ { 4, 1, 1, 0 }, 0, 0 },
	{ { 2, 2, 1, 0 }, WRAPS, 0 },
	{ { 2, 2, 1, 0 }, 5, CORRUPT(3) },
	{ .left = { 0 } },
};

static struct {
	const struct trial *trial;
	/* The present step. */
	struct state *state;
	struct record record;
	struct actor *actor;
	int access; /* the number of the next one */
	int word; /* the number of that which has read the last word */
	bool published;
} run;

/* What is seen of a word that the actor has swapped: then its old value does not matter. */
#define SWAPPED UINT16_MAX

/* Heads and words in 16 bits, and back. */

static uint64_t change_number(uint64_t change) {
	change = (change - run.trial->first) & NUMBER_MOST(CHANGE_BITS);
	if (change >= CHANGES)
		errx(2, "CHANGES is too small");
	return change;
}

static uint16_t shorten_head(uint64_t head) {
	return (uint16_t)(change_number(change_of(head)) << 8 | words_of(head) << 4 |
	    slot_of(head));
}

static uint64_t lengthen_head(uint16_t head) {
	uint64_t change = run.trial->first + (head >> 8);

	return change << CHANGE_AT | (uint64_t)(head >> 4 & 15) << SLOT_BITS | (head & 15);
}

static uint16_t shorten(uint64_t word) {
	uint32_t change = word_change(word) - (uint32_t)run.trial->first;

	if (word == 0)
		return 0;
	if (change >= CHANGES || (uint32_t)word > 0xff)
		errx(2, "not a word of a small record");
	return (uint16_t)(USED | change << 8 | (uint32_t)word);
}

static uint64_t lengthen(uint16_t word) {
	uint32_t change = (uint32_t)run.trial->first + (word >> 8 & 15);

	return word == 0 ? 0 : (uint64_t)change << 32 | (word & 0xff);
}

/* Contents */

/* Who has written a counter, and what. */
static uint8_t contents_of(int counter, int who) { return (uint8_t)(counter << 2 | who); }

static int counter_of(uint8_t contents) { return contents >> 2; }

static size_t length_of(uint8_t contents) {
	if (contents == 0)
		return 0;
	return (counter_of(contents) + contents) % 2 == 0 ? 1 : RECORD_WORDS;
}

/* Accesses */

static uint8_t *truth_of(uint64_t head) {
	return &run.state->truth[change_number(change_of(head))];
}

static uint16_t see(uint16_t value) {
	if (run.actor->accesses == ACCESSES) {
		explore_wrong("an operation with too many accesses");
		explore_leave();
	}
	run.actor->seen[run.actor->accesses++] = value;
	return value;
}

/* A read that begins anew with another head is one that has begun with it. */
static uint64_t load_head(void) {
	struct actor *actor = run.actor;

	if (run.access == actor->accesses) {
		uint16_t head = shorten_head(run.record.head);

		explore_access();
		if (actor->operation == READ && run.access > 0) {
			explore_expect(head != actor->seen[0], "taken for corrupt");
			memset(actor->seen, 0, sizeof actor->seen);
			run.access = actor->accesses = 0;
		}
		see(head);
	}
	return lengthen_head(actor->seen[run.access++]);
}

static uint64_t load(const _Atomic uint64_t *at) {
	struct actor *actor = run.actor;

	if (at == &run.record.head)
		return load_head();
	if (run.access == actor->accesses) {
		explore_access();
		see(shorten(*at));
	}
	run.word = run.access++;
	if (actor->seen[run.word] == SWAPPED)
		return (uint64_t)(uint32_t)change_of(lengthen_head(actor->head)) << 32;
	return lengthen(actor->seen[run.word]);
}

/* How many others want to publish the change behind a head. */
static int others_of(uint64_t head) {
	int count = 0;

	for (int i = 0; i < explorer.actors; i++) {
		const struct actor *other = &run.state->actors[i];

		count += other != run.actor && other->operation == PUBLISH &&
		    lengthen_head(other->head) == head;
	}
	return count;
}

/* Words of just this change were in all slots, and nobody can tell them from other writers'. */
static bool was_in_slots(uint64_t change) {
	return run.trial->words == CORRUPT(change_number(change));
}

/* A change of the head. */
static void judge_head(uint64_t old, uint64_t new) {
	int slots = RECORD_SLOTS - (slot_of(old) > 0);

	explore_expect(change_of(new) == next_change(old), "not the next change");
	explore_expect(old == lengthen_head(run.actor->head), "not what it has read");
	if (slot_of(new) == 0) {
		explore_expect(others_of(old) >= slots || was_in_slots(change_of(new)),
		    "forgotten for no reason");
		return;
	}
	*truth_of(new) = contents_of(counter_of(*truth_of(old)) + 1, run.actor->who);
	run.published = true;
}

static bool exchange(_Atomic uint64_t *at, uint64_t *expected, uint64_t desired) {
	struct actor *actor = run.actor;
	bool is_head = at == &run.record.head, swapped;
	uint64_t old = *expected;

	if (!is_head && actor->seen[run.word] == SWAPPED)
		return true;
	explore_access();
	swapped = *at == old;
	if (swapped)
		*at = desired;
	else
		*expected = *at;
	if (is_head) {
		if (swapped)
			judge_head(old, desired);
		return swapped;
	}
	/* What it has seen of this word before does not matter any more. */
	memset(&actor->seen[run.word], 0, sizeof actor->seen - (size_t)run.word * 2);
	actor->seen[run.word] = swapped ? SWAPPED : shorten(*expected);
	run.access = run.word + 1;
	actor->accesses = (uint8_t)run.access;
	return swapped;
}

/* Invariants */

void check_examine(const struct state *s) {
	uint64_t head = lengthen_head(s->head);
	uint8_t contents = s->truth[change_number(change_of(head))];

	explore_expect(words_of(head) == length_of(contents), "not so many words");
	explore_expect((slot_of(head) > 0) == (contents > 0), "not the slot of the contents");
	if (slot_of(head) == 0)
		return;
	for (size_t i = 0; i < words_of(head); i++) {
		uint64_t word = lengthen(s->slots[slot_of(head) - 1][i]);

		explore_expect(word == ((uint64_t)(uint32_t)change_of(head) << 32 | contents),
		    "a word that was not published with the others");
	}
}

/* Steps */

static void read(struct actor *actor) {
	uint32_t room[RECORD_WORDS];
	uint64_t head = record_read(&run.record, room, RECORD_WORDS);
	uint8_t contents = *truth_of(head);

	for (size_t i = 0; i < RECORD_WORDS; i++)
		explore_expect(room[i] == (i < length_of(contents) ? contents : 0),
		    "other contents than were published");
	actor->head = shorten_head(head);
	actor->has_read = true;
}

static void publish(struct actor *actor) {
	uint64_t head = lengthen_head(actor->head);
	uint8_t next = contents_of(counter_of(*truth_of(head)) + 1, actor->who);
	uint32_t room[RECORD_WORDS];
	bool published;

	for (size_t i = 0; i < RECORD_WORDS; i++) room[i] = next;
	published = record_publish(&run.record, head, room, length_of(next));
	explore_expect(published == run.published, "does not know what it has done");
	actor->has_read = false;
	actor->head = 0;
}

void check_operate(struct state *s, struct actor *actor) {
	(void)s;
	if (actor->operation == READ)
		read(actor);
	else
		publish(actor);
	memset(actor->seen, 0, sizeof actor->seen);
	actor->operation = IDLE;
	actor->accesses = 0;
}

void check_make(struct state *s, int who, int what, int now) {
	const struct state before = *s;
	struct actor *actor = &s->actors[who];

	(void)now;
	if (what != EXPLORE_STEP)
		actor->operation = (uint8_t)what;
	if (what == READ)
		actor->left--;
	run.state = s;
	run.actor = actor;
	run.access = 0;
	run.published = false;
	run.record.head = lengthen_head(s->head);
	for (int i = 0; i < RECORD_SLOTS; i++)
		for (int j = 0; j < RECORD_WORDS; j++)
			run.record.slots[i][j] = lengthen(s->slots[i][j]);
	explore_operate(s, actor);
	s->head = shorten_head(run.record.head);
	for (int i = 0; i < RECORD_SLOTS; i++)
		for (int j = 0; j < RECORD_WORDS; j++)
			s->slots[i][j] = shorten(run.record.slots[i][j]);
	explore_expect(memcmp(s, &before, sizeof before) != 0, "a step that never ends");
}

/* What no one can read any more does not matter. */
void check_normalise(struct state *s) { (void)s; }

bool check_may(const struct state *s, int who, int what, int *first, int *last) {
	const struct actor *actor = &s->actors[who];
	bool idle = actor->operation == IDLE;

	*first = *last = 0;
	if (what == EXPLORE_STEP)
		return !idle;
	if (what == READ)
		return idle && !actor->has_read && actor->left > 0;
	return what == PUBLISH && idle && actor->has_read;
}

bool check_begin(struct state *first, int number, bool large) {
	const struct trial *trial = large ? &larger[number] : &small[number];

	run.trial = trial;
	for (int i = 0; i < ACTORS; i++) {
		first->actors[i].left = trial->left[i];
		first->actors[i].who = (uint8_t)i;
		if (trial->left[i] > 0)
			explorer.actors = i + 1;
	}
	for (int i = 0; i < RECORD_SLOTS; i++)
		for (int j = 0; j < RECORD_WORDS; j++) first->slots[i][j] = trial->words;
	explorer.size =
	    offsetof(struct state, actors) + (size_t)explorer.actors * sizeof(struct actor);
	return trial->left[0] > 0;
}

EXPLORER("record_check");
