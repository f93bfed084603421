/*
 * advice: guesses what the user meant, where it is probably not what he gave.
 */
#ifndef ADVICE_H
#define ADVICE_H

#include "policy/policy.h"

/* Room for text that is quoted for a shell. */
#define ADVICE_ROOM 512

struct advice {
	const char *strings[8]; /* of a message, up to a NULL */
	char quoted[ADVICE_ROOM];
};

/*
 * Each of these is false if there is no advice. The strings may point into the
 * other argument.
 *
 * What was meant by a command that was not found.
 */
bool advice_find(struct advice *advice, char **command);

/* Whether the end of a LIST's pattern was meant as more items. */
bool advice_on_list(struct advice *advice, const struct given *given);

/* What could decide about a failure better: the first such LIST; or, with -v
 * and if the user gave no rules, the preset for the command. */
bool advice_on_rules(struct advice *advice, const struct policy *policy);

#endif
