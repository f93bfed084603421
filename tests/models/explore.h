/*
 * explore: every state that a few actors can bring some words into.
 *
 * A model check starts with one state and tries every step that is possible in each state which
 * it has not seen before: a step of an actor, or of the clock, which may move at any time. It
 * looks for a state that breaks an invariant. Each check has its own states, steps and
 * invariants. The set of the states seen, the path to a violation, and main(), are here.
 *
 * An actor has no saved registers: to continue an operation, a check calls it again from its
 * beginning, and gives it the values that it has read before.
 */
#ifndef EXPLORE_H
#define EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Steps beside the operations, which begin; no operation is number 0. */
enum { EXPLORE_CLOCK = -3, EXPLORE_KILL, EXPLORE_STEP };

/* Of the check: a state has a multiple of 8 bytes, without padding. */
struct state;
struct actor;

extern struct explorer {
	const char *name; /* of the check, for messages */
	size_t size, first_actor, actor_size; /* of a state */
	size_t operation_at; /* a byte of an actor: what it does */
	int actors, operations;
	const char *const *names; /* of the operations */
} explorer;

/* That of a check with an array of actors in its state, and with these names. */
#define EXPLORER(title) \
	struct explorer explorer = { .name = title, \
		.size = sizeof(struct state), \
		.first_actor = offsetof(struct state, actors), \
		.actor_size = sizeof(struct actor), \
		.operation_at = offsetof(struct actor, operation), \
		.actors = ACTORS, \
		.operations = OPERATIONS, \
		.names = names_of }

/* Makes the first state of a trial; false if there is no such trial. There are
 * other trials, or more actors, if the check is "large". */
bool check_begin(struct state *first, int trial, bool large);

/* Whether a step is possible, and the ticks at which the actor may read the clock in it. */
bool check_may(const struct state *state, int who, int what, int *first, int *last);
void check_make(struct state *state, int who, int what, int now);

/* Goes on with the operation of an actor, to its end. */
void check_operate(struct state *state, struct actor *actor);

void check_normalise(struct state *state); /* makes equal what is alike */
void check_examine(const struct state *state); /* a new one */

/* Makes states equal that differ in the order of these actors. */
void explore_sort(void *actors, size_t count);

/* Continues an operation by one access. */
void explore_operate(struct state *state, struct actor *actor);

/* Before an access that was not made in an earlier step: returns if it is made
 * now, and ends this step if there was one. */
void explore_access(void);

/* Ends this step. */
_Noreturn void explore_leave(void);

/* Notes a violation, unless there is one already; why may be NULL. */
void explore_wrong(const char *why);
void explore_expect(bool holds, const char *why);

#endif
