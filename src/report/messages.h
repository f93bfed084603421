/*
 * messages: tells people what happened to an attempt and what comes next.
 */
#ifndef MESSAGES_H
#define MESSAGES_H

#include "output/log.h"
#include "policy/plan.h"

/* Room for an attempt's label and the closing NUL. */
#define MESSAGES_ROOM 48

/*
 * Writes which attempt this is, "2/4", or "7" where there is no cap, and
 * returns room.
 */
char *messages_label(
    char room[MESSAGES_ROOM], const struct policy *policy, int64_t attempt);

/*
 * Says how the last attempt ended, or that the next may not begin, and what
 * step follows from that.
 */
void messages_step(struct log *log, const struct policy *policy,
    const struct history *history, const struct step *step);

/*
 * Says, to those who asked for more, why it all ended; to a workflow too, where
 * it has not been told. now: CLOCK_BOOTTIME.
 */
void messages_end(struct log *log, const struct policy *policy,
    const struct history *history, enum reason reason, nanos now);

#endif
