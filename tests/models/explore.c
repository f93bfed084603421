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

struct explorer explorer;

static void *
state_at(uint32_t number)
{
	return explorer.states + number * explorer.size;
}

struct step_from *
explore_step(uint32_t number)
{
	return &explorer.steps[number];
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
find(const void *state)
{
	uint64_t hash = hash_of(state, explorer.size);
	uint64_t mask = 2 * (uint64_t)explorer.room - 1;
	uint32_t half = (uint32_t)(hash >> 32);
	struct explore_entry *entry;

	for (;; hash++) {
		entry = &explorer.table[hash & mask];
		if (entry->number == 0 ||
		    (entry->hash == half &&
			memcmp(state_at(entry->number - 1), state,
			    explorer.size) == 0))
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
grow(uint32_t room)
{
	size_t entries = 2 * (size_t)room;

	explorer.room = room;
	explorer.states = resize(explorer.states, room, explorer.size);
	explorer.steps = resize(explorer.steps, room, sizeof *explorer.steps);
	explorer.table =
	    resize(explorer.table, entries, sizeof *explorer.table);
	memset(explorer.table, 0, entries * sizeof *explorer.table);
	for (uint32_t i = 0; i < explorer.count; i++)
		find(state_at(i))->number = i + 1;
}

void
explore_start(uint32_t room)
{
	explorer.count = 0;
	explorer.wrong = NULL;
	grow(room > explorer.room ? room : explorer.room);
}

bool
explore_add(const void *state, struct step_from step, uint32_t *number)
{
	struct explore_entry *entry;

	if (explorer.count == explorer.room)
		grow(2 * explorer.room);
	entry = find(state);
	if (entry->number != 0) {
		*number = entry->number - 1;
		return false;
	}
	*number = explorer.count++;
	entry->number = explorer.count;
	memcpy(state_at(*number), state, explorer.size);
	explorer.steps[*number] = step;
	return true;
}

/* Every step of an actor, or of the clock, from a state on. */
static void
follow(void *next, struct step_from step)
{
	int now, last;
	uint32_t number;

	if (!explorer.may(
		state_at(step.from), step.who, step.what, &now, &last))
		return;
	for (; now <= last && explorer.wrong == NULL; now++) {
		memcpy(next, state_at(step.from), explorer.size);
		explorer.make(next, step.who, step.what, now);
		explorer.normalise(next);
		if (explore_add(next, step, &number) && explorer.wrong == NULL)
			explorer.examine(next);
		if (explorer.wrong != NULL)
			explore_print(step);
	}
}

bool
explore_all(void *first)
{
	void *next = resize(NULL, 1, explorer.size);
	struct step_from step = { 0 };

	explore_start(1 << 16);
	explorer.normalise(first);
	explore_add(first, step, &step.from);
	explorer.examine(first);
	for (; step.from < explorer.count; step.from++) {
		step.what = EXPLORE_CLOCK;
		step.who = 0;
		follow(next, step);
		for (; step.who < explorer.actors; step.who++)
			for (step.what = EXPLORE_KILL;
			     step.what < explorer.operations &&
			     explorer.wrong == NULL;
			     step.what++)
				follow(next, step);
	}
	free(next);
	return explorer.wrong == NULL;
}

void
explore_wrong(const char *why)
{
	if (explorer.wrong == NULL)
		explorer.wrong = why;
}

void
explore_expect(bool holds, const char *why)
{
	if (!holds)
		explore_wrong(why);
}

void
explore_print(struct step_from last)
{
	const struct step_from *step = &last;
	const void *after = NULL;

	printf("%s: %s; the steps before it, the last one first:\n",
	    explorer.name, explorer.wrong);
	for (;;) {
		const void *before = state_at(step->from);

		explorer.print(step, before, after);
		if (step->from == 0)
			return;
		step = explore_step(step->from);
		after = before;
	}
}

void
explore_print_step(
    const struct step_from *step, const char *const *names, int operation)
{
	if (step->what == EXPLORE_CLOCK)
		puts("\tthe clock goes on");
	else if (step->what > 0)
		printf(
		    "\t%s: begins %s\n", names[operation], names[step->what]);
	else
		printf("\t%s: %s\n", names[operation],
		    step->what == EXPLORE_KILL ? "killed" : "next access");
}
