/*
 * advice: guesses what the user meant by a command that was not found.
 */
#ifndef ADVICE_H
#define ADVICE_H

#include <stdbool.h>

/* Room for text that is quoted for a shell. */
#define ADVICE_ROOM 512

struct advice {
	const char *strings[6]; /* of a message, up to a NULL */
	char quoted[ADVICE_ROOM];
};

/* False if there is no advice. The strings may point into command. */
bool advice_find(struct advice *advice, char **command);

#endif
