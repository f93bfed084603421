/*
 * finish: the end of an invocation: what is held is delivered, what is to be
 * told is told, and retry ends as the command did.
 */
#ifndef FINISH_H
#define FINISH_H

#include "run.h"

/* retry's own failure: what it could not do, or deliver. */
#define CLOSING_INTERNAL 125

/*
 * What the kernel refused, with errno, and nothing can be without: says so and
 * returns CLOSING_INTERNAL.
 */
int closing_fail(struct run *run, const char *what);

/* Says what is the matter, with errno; the end is to follow. */
void closing_complain(struct run *run, const char *what);

/* The same where a file of our own could not be had, and where. */
void closing_complain_file(struct run *run, const char *what);

/* The same, without errno, of more bytes than so many, and where they are. */
void closing_complain_size(
    struct run *run, const char *what, int64_t most, const char *where);

/* Ends as the step says: returns its status, or dies of its signal. */
int closing_finish(struct run *run, struct step step);

/* Ends by a signal that came when there was no command to pass it to. */
_Noreturn void closing_die(struct run *run, int number);

#endif
