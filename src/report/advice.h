/*
 * advice: what may have been meant by a command that was not found. Looked for
 * only then.
 */
#ifndef ADVICE_H
#define ADVICE_H

#include <stdbool.h>

/* Of a line that is to be quoted for a shell. */
#define ADVICE_ROOM 512

struct advice {
	const char *strings[6]; /* of a line, then NULL */
	char quoted[ADVICE_ROOM];
};

/* False where there is none. What is advised points into command. */
bool advice_find(struct advice *advice, char **command);

#endif
