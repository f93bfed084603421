/*
 * finish: the end of an invocation: what is held is delivered, what is to be
 * told is told, and retry ends as the command did.
 */
#ifndef FINISH_H
#define FINISH_H

#include "run.h"

/* retry's own failure: what it could not do, or deliver. */
#define FINISH_INTERNAL 125

/*
 * What the kernel refused, with errno, and nothing can be without: says so and
 * returns FINISH_INTERNAL.
 */
int finish_fail(struct run *run, const char *what);

/* Says what is the matter, with errno; the end is to follow. */
void finish_complain(struct run *run, const char *what);

/* The same where a file of our own could not be had, and where. */
void finish_complain_file(struct run *run, const char *what);

/* The same, without errno, of more bytes than so many, and where they are. */
void finish_complain_size(
    struct run *run, const char *what, int64_t most, const char *where);

/* Ends as the step says: returns its status, or dies of its signal. */
int finish_run(struct run *run, struct step step);

/* Ends by a signal that came when there was no command to pass it to. */
_Noreturn void finish_by_signal(struct run *run, int number);

#endif
