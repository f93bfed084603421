/*
 * messages: says how an attempt ended and what retry does next.
 */
#ifndef MESSAGES_H
#define MESSAGES_H

#include "attempt/event_loop.h"
#include "policy/plan.h"
#include "report/report.h"

/* Room for the label of an attempt and the closing NUL. */
#define MESSAGES_ROOM 48

/*
 * Writes the label of an attempt, "2/4", or "7" where the number of attempts
 * has no limit, and returns room.
 */
char *messages_label(
    char room[MESSAGES_ROOM], const struct policy *policy, int64_t attempt);

/*
 * Logs which step follows: after an attempt, how that ended; else why the next
 * one may not begin. The relay of the loop has the end of the output, from
 * which the words that a pattern matched are quoted. report, unless it is NULL,
 * keeps the words, and by which rule the attempt was judged.
 */
void messages_step(struct event_loop *loop, const struct history *history,
    const struct step *step, bool attempted, struct report *report);

/* Logs that the fleet's server does not answer, if this invocation has just
 * found that out and makes a retry without it. */
void messages_alone(struct log *log, const struct admission *admission);

/*
 * Logs why the invocation ended: with -v, and with --log-format github if no
 * message before has said so. now is on CLOCK_BOOTTIME.
 */
void messages_end(struct log *log, const struct history *history,
    enum reason reason, nanos now);

#endif
