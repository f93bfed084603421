/*
 * cause: says which rule, limit or server is the cause for giving up.
 */
#ifndef CAUSE_H
#define CAUSE_H

#include "policy/plan.h"
#include "streams/relay.h"
#include "text/number.h"
#include "text/signame.h"

/* The most bytes of what is quoted from an output or from a LIST. */
#define CAUSE_QUOTE 100

/* Input was consumed in spite of --replay-stdin. */
#define CAUSE_NO_REPLAY \
	"standard input was already consumed, and cannot be read again"

struct cause {
	const char *strings[12]; /* the words, up to a NULL */
	char quote[CAUSE_QUOTE + 4];
	char number[NUMBER_ROOM], span[DURATION_ROOM], name[SIGNAME_ROOM];
};

/*
 * Finds the words that follow "giving up: " if the last attempt ends the series
 * for this reason. relay has the end of the output, from which the words that a
 * preset matched are quoted. The words point into cause and policy.
 */
void cause_find(struct cause *cause, const struct policy *policy,
    const struct history *history, enum reason reason,
    const struct relay *relay);

#endif
