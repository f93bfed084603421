/*
 * advice: guesses what the user meant, where it is probably not what he gave.
 */
#ifndef ADVICE_H
#define ADVICE_H

#include "policy/policy.h"

/* Room for an advice; of a longer one the end is cut off. */
#define ADVICE_ROOM 1000

/*
 * Each of these is false if there is no advice.
 *
 * What was meant by a command that was not found.
 */
bool advice_find(char text[ADVICE_ROOM], char **command);

/* Whether the end of a LIST's pattern was meant as more items. */
bool advice_on_list(char text[ADVICE_ROOM], const struct given *given);

/*
 * What could decide about a failure better: the first such LIST; if it is
 * retried, that no preset knows the command, where one was to; with -v and if
 * the user gave no rules, the preset for the command.
 */
bool advice_on_rules(
    char text[ADVICE_ROOM], const struct policy *policy, bool retried);

#endif
