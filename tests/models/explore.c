#include "explore.h"

#include <err.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a state was reached. */
struct step {
	uint32_t from; /* the state before; the first state is 0 */
	int8_t what, who; /* the step, and the actor that made it */
};

/* Part of the hash is kept, so that few states have to be compared. */
struct entry {
	uint32_t number; /* of the state, plus one; 0: free */
	uint32_t hash;
};

static struct {
	uint32_t count, room; /* of states; room is a power of two */
	unsigned char *states; /* in the order in which they were found */
	struct step *steps;
	struct entry *table; /* a hash table of 2 * room states */
	const char *wrong; /* the first violation found, or NULL */
	bool stepped; /* this step has made its access */
	jmp_buf leave;
} seen;

static void *state_at(uint32_t number) { return seen.states + number * explorer.size; }

/* Of the words one after the other in two halves, which is fast. */
static uint64_t hash_of(const void *state, size_t size) {
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
static struct entry *find(const void *state) {
	uint64_t hash = hash_of(state, explorer.size);
	uint64_t mask = 2 * (uint64_t)seen.room - 1;
	uint32_t half = (uint32_t)(hash >> 32);
	struct entry *entry;

	for (;; hash++) {
		entry = &seen.table[hash & mask];
		if (entry->number == 0 ||
		    (entry->hash == half &&
			memcmp(state_at(entry->number - 1), state, explorer.size) == 0))
			break;
	}
	entry->hash = half;
	return entry;
}

static void *resize(void *memory, size_t count, size_t size) {
	void *resized = realloc(memory, count * size);

	if (resized == NULL)
		err(2, "realloc");
	return resized;
}

static void make_room(uint32_t room) {
	size_t entries = 2 * (size_t)room;

	seen.room = room;
	seen.states = resize(seen.states, room, explorer.size);
	seen.steps = resize(seen.steps, room, sizeof *seen.steps);
	seen.table = resize(seen.table, entries, sizeof *seen.table);
	memset(seen.table, 0, entries * sizeof *seen.table);
	for (uint32_t i = 0; i < seen.count; i++) find(state_at(i))->number = i + 1;
}

/* Keeps a state, and verifies it, unless it was seen before. */
static void add(const void *state, struct step step) {
	struct entry *entry;

	if (seen.count == seen.room)
		make_room(2 * seen.room);
	entry = find(state);
	if (entry->number != 0)
		return;
	memcpy(state_at(seen.count), state, explorer.size);
	seen.steps[seen.count] = step;
	entry->number = ++seen.count;
	if (seen.wrong == NULL)
		check_examine(state);
}

/* The violation, and the steps that led to it, the last one first. */
static void print(struct step step) {
	printf("%s: %s; the steps before it, the last one first:\n", explorer.name, seen.wrong);
	for (;; step = seen.steps[step.from]) {
		const unsigned char *actor = state_at(step.from);
		const char *name;

		actor += explorer.first_actor + (size_t)step.who * explorer.actor_size;
		name = explorer.names[actor[explorer.operation_at]];

		if (step.what == EXPLORE_CLOCK)
			puts("\tthe clock goes on");
		else if (step.what > 0)
			printf("\t%s: begins %s\n", name, explorer.names[step.what]);
		else
			printf("\t%s: %s\n", name,
			    step.what == EXPLORE_KILL ? "killed" : "next access");
		if (step.from == 0)
			return;
	}
}

/* Every step of an actor, or of the clock, from a state on. */
static void follow(void *next, struct step step) {
	int now, last;

	if (!check_may(state_at(step.from), step.who, step.what, &now, &last))
		return;
	for (; now <= last && seen.wrong == NULL; now++) {
		memcpy(next, state_at(step.from), explorer.size);
		check_make(next, step.who, step.what, now);
		check_normalise(next);
		add(next, step);
		if (seen.wrong != NULL)
			print(step);
	}
}

int main(int argc, char **argv) {
	bool large = argc > 1 && strcmp(argv[1], "large") == 0;
	void *next = resize(NULL, 1, explorer.size);
	size_t states = 0;

	for (int trial = 0;; trial++) {
		struct step step = { 0 };

		memset(next, 0, explorer.size);
		if (!check_begin(next, trial, large))
			break;
		seen.count = 0;
		make_room(seen.room > 0 ? seen.room : 1 << 16);
		check_normalise(next);
		add(next, step);
		if (seen.wrong != NULL)
			print(step);
		for (; step.from < seen.count; step.from++) {
			step.what = EXPLORE_CLOCK;
			step.who = 0;
			follow(next, step);
			for (; step.who < explorer.actors; step.who++)
				for (int8_t op = EXPLORE_KILL; op < explorer.operations; op++) {
					step.what = op;
					follow(next, step);
				}
			if (seen.wrong != NULL)
				return EXIT_FAILURE;
		}
		states += seen.count;
	}
	printf("%s: %zu states, 0 violations\n", explorer.name, states);
	return EXIT_SUCCESS;
}

static int compare(const void *a, const void *b) { return memcmp(a, b, explorer.actor_size); }

void explore_sort(void *actors, size_t count) {
	qsort(actors, count, explorer.actor_size, compare);
}

void explore_operate(struct state *state, struct actor *actor) {
	seen.stepped = false;
	if (setjmp(seen.leave) == 0)
		check_operate(state, actor);
}

void explore_leave(void) { longjmp(seen.leave, 1); }

void explore_access(void) {
	if (seen.stepped)
		explore_leave();
	seen.stepped = true;
}

void explore_wrong(const char *why) {
	if (seen.wrong == NULL)
		seen.wrong = why;
}

void explore_expect(bool holds, const char *why) {
	if (!holds)
		explore_wrong(why);
}
