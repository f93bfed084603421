/*
 * explore: the states that a model check has reached, and the steps that led to
 * them.
 *
 * A model check starts with one state and tries every step that is possible in
 * each state which it has not seen before: a step of an actor, or of the clock,
 * which may move at any time. It looks for a state that breaks an invariant.
 * Each check has its own states, steps and invariants. The set of the states
 * seen, and the path to a violation, are here.
 */
#ifndef EXPLORE_H
#define EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a state was reached. */
struct step_from {
	uint32_t from; /* the state before; a check's first state is 0 */
	int8_t what, who; /* the step: a number of the check's own */
	bool open; /* the check is trying the steps that follow this state */
};

struct explorer {
	const char *name; /* of the check, for messages */
	size_t size; /* bytes of a state: a multiple of 8, without padding */
	uint32_t count; /* of states */
	const char *wrong; /* the first violation found, or NULL */
	/* The rest is for explore.c. */
	uint32_t room;
	unsigned char *states; /* in the order in which they were found */
	struct step_from *steps;
	struct explore_entry *table; /* a hash table of 2 * room states */
};

/* Begins with no states and no violation; room: an estimate, a power of two. */
void explore_start(struct explorer *explorer, uint32_t room);

/* A state by its number, until the next one is added. */
const void *explore_state(const struct explorer *explorer, uint32_t number);
struct step_from *
explore_step(const struct explorer *explorer, uint32_t number);

/* Adds a state. False if it was seen before. Sets *number in both cases. */
bool explore_add(struct explorer *explorer, const void *state,
    struct step_from step, uint32_t *number);

/* Notes a violation, unless there is one already. */
void explore_violated(struct explorer *explorer, const char *why);

/*
 * Prints the violation and calls print for each step that led to it, the last
 * one first; state is what the step led to, NULL for the last step itself.
 */
void explore_print(const struct explorer *explorer, struct step_from last,
    void (*print)(const struct step_from *step, const void *state));

void explore_end(struct explorer *explorer);

#endif
