#include "budget/record.h"

#include <string.h>

#define SLOT_BITS 8
#define WORDS_BITS 16
#define CHANGE_AT (SLOT_BITS + WORDS_BITS)
#define CHANGE_BITS (64 - CHANGE_AT)

static size_t
slot_of(uint64_t head)
{
	return head & ((1U << SLOT_BITS) - 1);
}

static size_t
words_of(uint64_t head)
{
	return head >> SLOT_BITS & ((1U << WORDS_BITS) - 1);
}

static uint64_t
change_of(uint64_t head)
{
	return head >> CHANGE_AT;
}

static uint32_t
word_change(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

/* Copies a slot. False if a word of it is not of the head's change. */
static bool
copy(const _Atomic uint64_t *slot, uint64_t head, uint32_t *room, size_t count)
{
	for (size_t i = 0; i < words_of(head); i++) {
		uint64_t word = atomic_load(&slot[i]);

		if (word_change(word) != (uint32_t)change_of(head))
			return false;
		if (i < count)
			room[i] = (uint32_t)word;
	}
	return true;
}

uint64_t
record_read(const struct record *record, uint32_t *room, size_t count)
{
	uint64_t head = atomic_load(&record->head), now;

	for (;; head = now) {
		size_t slot = slot_of(head);
		bool known = slot > 0 && slot <= RECORD_SLOTS &&
		    words_of(head) <= RECORD_WORDS;

		for (size_t i = 0; i < count; i++)
			room[i] = 0;
		if (!known || copy(record->slots[slot - 1], head, room, count))
			return head;
		/* A later change has this slot, or it is corrupt. */
		now = atomic_load(&record->head);
		if (now == head) {
			memset(room, 0, count * sizeof *room);
			return head;
		}
	}
}

/* The change behind that of a head. In no word it is 0, as in those that were
 * never used. */
static uint64_t
next_change(uint64_t head)
{
	uint64_t change = change_of(head) + 1;

	change += (uint32_t)change == 0;
	return change & ((UINT64_C(1) << CHANGE_BITS) - 1);
}

/* Fills a slot with the words of the change behind head. False if another
 * writer of this change, or a later one, has the slot. */
static bool
fill(struct record *record, uint64_t head, size_t slot,
    const uint32_t *contents, size_t count)
{
	_Atomic uint64_t *words = record->slots[slot - 1];
	uint32_t change = (uint32_t)next_change(head);

	for (size_t i = 0; i < count; i++) {
		uint64_t word = atomic_load(&words[i]);

		do {
			int32_t later = (int32_t)(word_change(word) - change);

			/* While this change is not published, a word of a later
			 * one is corrupt, or older than 2^31 changes. */
			if (later == 0 ||
			    (later > 0 && atomic_load(&record->head) != head))
				return false;
		} while (!atomic_compare_exchange_weak(
		    &words[i], &word, (uint64_t)change << 32 | contents[i]));
	}
	return true;
}

bool
record_publish(struct record *record, uint64_t head, const uint32_t *contents,
    size_t count)
{
	uint64_t change = next_change(head);
	uint64_t next = change << CHANGE_AT;

	for (uint64_t i = 0; i < RECORD_SLOTS; i++) {
		size_t slot = (size_t)((change + i) % RECORD_SLOTS) + 1;

		if (slot == slot_of(head))
			continue;
		if (fill(record, head, slot, contents, count)) {
			next |= (uint64_t)count << SLOT_BITS | slot;
			return atomic_compare_exchange_strong(
			    &record->head, &head, next);
		}
		if (atomic_load(&record->head) != head)
			return false;
	}
	atomic_compare_exchange_strong(&record->head, &head, next);
	return false;
}
