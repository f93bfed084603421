/*
 * record, used by one process: contents of all lengths, and words and numbers that are corrupt, or
 * that writers left who were killed. Several processes at once are record_check's.
 */
#include "unit.h"
#include "budget/record.h"

/* [change:40 | words:16 | slot:8], and [change:32 | contents:32] */
#define HEAD(change, words, slot) \
	((uint64_t)(change) << 24 | (uint64_t)(words) << 8 | (uint64_t)(slot))
#define WORD(change, contents) ((uint64_t)(uint32_t)(change) << 32 | (uint32_t)(contents))
#define LAST_CHANGE ((INT64_C(1) << 40) - 1)

static int64_t change_of(uint64_t head) { return (int64_t)(head >> 24); }

static size_t slot_of(uint64_t head) { return head & 0xff; }

/* Contents that begin with this number, each next word being one more. */
static const uint32_t *contents(uint32_t first) {
	static uint32_t room[RECORD_WORDS];

	for (uint32_t i = 0; i < RECORD_WORDS; i++) room[i] = first + i;
	return room;
}

/* Whether so many of the words read are such contents, and all behind them are zero. */
static bool has(const struct record *record, uint32_t first, size_t count) {
	uint32_t room[RECORD_WORDS];

	memset(room, 0xff, sizeof room);
	if (record_read(record, room, RECORD_WORDS) != record->head)
		return false;
	for (uint32_t i = 0; i < RECORD_WORDS; i++)
		if (room[i] != (i < count ? first + i : 0))
			return false;
	return true;
}

static bool publish(struct record *record, uint32_t first, size_t count) {
	uint32_t room[1];

	return record_publish(record, record_read(record, room, 1), contents(first), count);
}

TEST(contents_of_all_lengths) {
	static const size_t lengths[] = { 2, 1, RECORD_WORDS, 0, RECORD_WORDS - 1, 1, 2, 3 };
	struct record record = { .head = 0 };
	uint32_t room[4] = { 7, 7, 7, 7 };

	HOLDS("zeros", has(&record, 0, 0));
	for (uint32_t i = 0; i < LENGTH(lengths); i++) {
		HOLDS("published", publish(&record, 1000 * (i + 1), lengths[i]));
		HOLDS("read", has(&record, 1000 * (i + 1), lengths[i]));
		EQUAL("change", change_of(record.head), i + 1);
	}
	/* Into less room than there are words, and into none. */
	record_read(&record, room, 2);
	EQUAL("first", room[0], 8000);
	EQUAL("second", room[1], 8001);
	EQUAL("beyond", room[2], 7);
	HOLDS("none", record_read(&record, NULL, 0) == record.head);
}

TEST(one_of_those_who_read_the_same_publishes) {
	struct record record = { .head = 0 };
	uint64_t head;

	publish(&record, 10, 3);
	head = record.head;
	HOLDS("the first", record_publish(&record, head, contents(20), 2));
	HOLDS("another one", !record_publish(&record, head, contents(30), 3));
	HOLDS("kept", has(&record, 20, 2));
	/* The slot of the head is that which the late one would fill, after each number of changes.
	 */
	for (uint32_t i = 0; i < 2 * RECORD_SLOTS; i++) {
		HOLDS("goes on", publish(&record, 100 * i, 4));
		HOLDS("late", !record_publish(&record, head, contents(30), 4));
		HOLDS("kept", has(&record, 100 * i, 4));
	}
}

/* What does not fit: a record with two words in slot 3, of which a row changes one or the head. */
TEST(what_is_corrupt_is_read_as_zeros) {
	static const struct {
		const char *row;
		bool fits;
		uint64_t head, words[2];
	} rows[] = {
		{ "as published", true, HEAD(9, 2, 3), { WORD(9, 5), WORD(9, 6) } },
		{ "an upper bit of the change", true, HEAD(INT64_C(1) << 32 | 9, 2, 3),
		    { WORD(9, 5), WORD(9, 6) } },
		{ "an earlier word", false, HEAD(9, 2, 3), { WORD(8, 5), WORD(9, 6) } },
		{ "a later word", false, HEAD(9, 2, 3), { WORD(9, 5), WORD(10, 6) } },
		{ "no word", false, HEAD(9, 2, 3), { 0, 0 } },
		{ "ones", false, HEAD(9, 2, 3), { UINT64_MAX, UINT64_MAX } },
		{ "no slot", false, HEAD(9, 2, 0), { WORD(9, 5), WORD(9, 6) } },
		{ "another slot", false, HEAD(9, 2, 4), { WORD(9, 5), WORD(9, 6) } },
		{ "a slot that there is not", false, HEAD(9, 2, RECORD_SLOTS + 1),
		    { WORD(9, 5), WORD(9, 6) } },
		{ "the last number of a slot", false, HEAD(9, 2, 0xff),
		    { WORD(9, 5), WORD(9, 6) } },
		{ "longer than it is", false, HEAD(9, 3, 3), { WORD(9, 5), WORD(9, 6) } },
		{ "longer than a slot", false, HEAD(9, RECORD_WORDS + 1, 3),
		    { WORD(9, 5), WORD(9, 6) } },
		{ "the greatest length", false, HEAD(9, 0xffff, 3), { WORD(9, 5), WORD(9, 6) } },
		{ "all ones", false, UINT64_MAX, { UINT64_MAX, UINT64_MAX } },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct record record = { .head = rows[i].head };

		record.slots[2][0] = rows[i].words[0];
		record.slots[2][1] = rows[i].words[1];
		HOLDS(rows[i].row, has(&record, 5, rows[i].fits ? 2 : 0));
		HOLDS(rows[i].row, publish(&record, 70, 3));
		HOLDS(rows[i].row, has(&record, 70, 3));
	}
}

/* Words of any change, everywhere: the next contents are published all the same. */
TEST(corrupt_slots_are_filled) {
	static const uint64_t words[] = { UINT64_MAX, WORD(10, 0), WORD(12, 0), WORD(1 << 30, 0),
		WORD(0x80000000, 0), WORD(0x80000008, 0), WORD(0x80000009, 0),
		WORD(0xf0000000, 0) };

	for (size_t i = 0; i < LENGTH(words); i++) {
		struct record record = { .head = HEAD(8, 0, 0) };

		for (int slot = 0; slot < RECORD_SLOTS; slot++)
			for (int j = 0; j < RECORD_WORDS; j++) record.slots[slot][j] = words[i];
		for (uint32_t n = 1; n < 12; n++) {
			/* Only words of the very same change are another writer's. */
			bool taken =
			    change_of(words[i]) >> 8 == change_of(record.head) + 1 && n < 3;

			HOLDS("published", publish(&record, 50 * n, 2) != taken);
			HOLDS("read", has(&record, 50 * n, taken ? 0 : 2));
		}
	}
}

/* Writers of the next change are killed, each when it has filled one word. */
TEST(killed_writers_use_up_slots) {
	for (int killed = 0; killed < RECORD_SLOTS; killed++) {
		struct record record = { .head = 0 };
		bool all = killed == RECORD_SLOTS - 1;
		int left = killed;

		publish(&record, 10, 2);
		for (size_t i = 0; i < RECORD_SLOTS && left > 0; i++)
			if (i + 1 != slot_of(record.head)) {
				record.slots[i][0] = WORD(change_of(record.head) + 1, 99);
				left--;
			}
		HOLDS("published", publish(&record, 20, 2) != all);
		HOLDS("or forgotten", has(&record, 20, all ? 0 : 2));
		EQUAL("change", change_of(record.head), 2);
		HOLDS("the next one", publish(&record, 30, 2));
		HOLDS("the next one", has(&record, 30, 2));
	}
}

/* Around where the number of the change begins anew, in words and in the head. */
TEST(the_change_wraps) {
	static const int64_t last[] = { LAST_CHANGE, UINT32_MAX, INT32_MAX };

	for (size_t i = 0; i < LENGTH(last); i++) {
		struct record record = { .head = HEAD(last[i] - 10, 0, 0) };

		/* Slots have been filled before, but for words that were never used. */
		for (int slot = 0; slot < RECORD_SLOTS; slot++)
			record.slots[slot][0] = WORD(last[i] - 10 - (unsigned)slot, 1);
		for (uint32_t n = 0; n < 30; n++) {
			uint64_t before = record.head;
			int64_t next = (change_of(before) + 1) & LAST_CHANGE;

			/* 0 is that of words that were never used. */
			next += (uint32_t)next == 0;
			HOLDS("published", publish(&record, 1000 + n, n % 3));
			EQUAL("change", change_of(record.head), next);
			HOLDS("read", has(&record, 1000 + n, n % 3));
			HOLDS("late", !record_publish(&record, before, contents(1), 3));
		}
	}
}
