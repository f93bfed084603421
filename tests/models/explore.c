#include "explore.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Part of the hash is kept, so that few states have to be compared. */
struct explore_entry {
	uint32_t number; /* of the state, plus one; 0: free */
	uint32_t hash;
};

const void *
explore_state(const struct explorer *explorer, uint32_t number)
{
	return explorer->states + number * explorer->size;
}

struct step_from *
explore_step(const struct explorer *explorer, uint32_t number)
{
	return &explorer->steps[number];
}

/* Of the words one after the other in two halves, which is fast. */
static uint64_t
hash_of(const void *state, size_t size)
{
	const uint64_t factor = UINT64_C(0xbf58476d1ce4e5b9);
	const unsigned char *at = state;
	uint64_t hash = 0, other = 0, word, next;

	for (size_t i = 0; i < size; i += sizeof word) {
		memcpy(&word, at + i, sizeof word);
		next = other * factor + word;
		other = hash;
		hash = next;
	}
	hash = (hash ^ hash >> 32) * factor + other;
	hash = (hash ^ hash >> 29) * factor;
	return hash ^ hash >> 32;
}

/* The entry of a state, or the free one that it would get. Sets its hash. */
static struct explore_entry *
find(const struct explorer *explorer, const void *state)
{
	uint64_t hash = hash_of(state, explorer->size);
	uint64_t mask = 2 * (uint64_t)explorer->room - 1;
	uint32_t half = (uint32_t)(hash >> 32);
	struct explore_entry *entry;

	for (;; hash++) {
		entry = &explorer->table[hash & mask];
		if (entry->number == 0)
			break;
		if (entry->hash == half &&
		    memcmp(explore_state(explorer, entry->number - 1), state,
			explorer->size) == 0)
			break;
	}
	entry->hash = half;
	return entry;
}

static void *
resize(void *memory, size_t count, size_t size)
{
	void *resized = realloc(memory, count * size);

	if (resized == NULL)
		err(2, "realloc");
	return resized;
}

static void
grow(struct explorer *explorer, uint32_t room)
{
	size_t entries = 2 * (size_t)room;

	explorer->room = room;
	explorer->states = resize(explorer->states, room, explorer->size);
	explorer->steps =
	    resize(explorer->steps, room, sizeof *explorer->steps);
	explorer->table =
	    resize(explorer->table, entries, sizeof *explorer->table);
	memset(explorer->table, 0, entries * sizeof *explorer->table);
	for (uint32_t i = 0; i < explorer->count; i++)
		find(explorer, explore_state(explorer, i))->number = i + 1;
}

void
explore_start(struct explorer *explorer, uint32_t room)
{
	explorer->count = 0;
	explorer->wrong = NULL;
	grow(explorer, room > explorer->room ? room : explorer->room);
}

bool
explore_add(struct explorer *explorer, const void *state, struct step_from step,
    uint32_t *number)
{
	struct explore_entry *entry;

	if (explorer->count == explorer->room)
		grow(explorer, 2 * explorer->room);
	entry = find(explorer, state);
	if (entry->number != 0) {
		*number = entry->number - 1;
		return false;
	}
	*number = explorer->count++;
	entry->number = explorer->count;
	memcpy(
	    explorer->states + *number * explorer->size, state, explorer->size);
	explorer->steps[*number] = step;
	return true;
}

void
explore_violated(struct explorer *explorer, const char *why)
{
	if (explorer->wrong == NULL)
		explorer->wrong = why;
}

void
explore_print(const struct explorer *explorer, struct step_from last,
    void (*print)(const struct step_from *step, const void *state))
{
	const struct step_from *step = &last;
	uint32_t number;

	printf("%s: %s; the steps before it, the last one first:\n",
	    explorer->name, explorer->wrong);
	print(step, NULL);
	while (step->from != 0) {
		number = step->from;
		step = explore_step(explorer, number);
		print(step, explore_state(explorer, number));
	}
}

void
explore_end(struct explorer *explorer)
{
	free(explorer->states);
	free(explorer->steps);
	free(explorer->table);
}
