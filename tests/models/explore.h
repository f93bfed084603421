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

/* Steps beside the operations, which begin; no operation is number 0. */
enum { EXPLORE_CLOCK = -3, EXPLORE_KILL, EXPLORE_STEP };

/* How a state was reached. */
struct step_from {
	uint32_t from; /* the state before; a check's first state is 0 */
	int8_t what, who; /* the step, and the actor that made it */
	bool open; /* the check is trying the steps that follow this state */
};

struct explorer {
	const char *name; /* of the check, for messages */
	size_t size; /* bytes of a state: a multiple of 8, without padding */
	/* Prints a step from one state to another; after is NULL for a step
	 * that broke an invariant. */
	void (*print)(const struct step_from *step, const void *before,
	    const void *after);

	/* For explore_all only. Whether a step is possible, and the ticks at
	 * which the actor may read the clock in it. */
	int actors, operations;
	bool (*may)(
	    const void *state, int who, int what, int *first, int *last);
	void (*make)(void *state, int who, int what, int now);
	void (*normalise)(void *state); /* makes equal what is alike */
	void (*examine)(const void *state); /* a new one */

	uint32_t count; /* of states */
	const char *wrong; /* the first violation found, or NULL */
	/* The rest is for explore.c. */
	uint32_t room;
	unsigned char *states; /* in the order in which they were found */
	struct step_from *steps;
	struct explore_entry *table; /* a hash table of 2 * room states */
};

/* The one of a check, which sets what the check decides. */
extern struct explorer explorer;

/* Begins with no states and no violation; room: an estimate, a power of two. */
void explore_start(uint32_t room);

struct step_from *explore_step(uint32_t number);

/* Adds a state. False if it was seen before. Sets *number in both cases. */
bool explore_add(const void *state, struct step_from step, uint32_t *number);

/*
 * Tries all steps from a state on, and from all states that come after it.
 * False if there is a violation, which is printed then.
 */
bool explore_all(void *first);

/* Notes a violation, unless there is one already. */
void explore_wrong(const char *why);
void explore_expect(bool holds, const char *why);

/* Prints the violation, and the steps that led to it, the last one first. */
void explore_print(struct step_from last);

/* Prints a step of an actor that was in this operation. */
void explore_print_step(
    const struct step_from *step, const char *const *names, int operation);

#endif
