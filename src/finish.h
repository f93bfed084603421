/*
 * finish: the end of an invocation: what is held is delivered, what is to be
 * told is told, and retry ends as the command did.
 */
#ifndef FINISH_H
#define FINISH_H

#include "run.h"

/*
 * What the kernel refused, with errno, and nothing can be without: says so and
 * returns EXIT_STATUS_FAILED.
 */
int finish_fail(struct run *run, const char *what);

/*
 * The command's input could not be read or kept, or its output can be neither
 * relayed nor held (errno): says so and returns EXIT_STATUS_FAILED, with which
 * finish_run has to end.
 */
int finish_without_input(struct run *run);
int finish_without_output(struct run *run);

/* Ends as the step says: returns its status, or dies of its signal. */
int finish_run(struct run *run, struct step step);

/* Ends by a signal that came when there was no command to pass it to. */
_Noreturn void finish_by_signal(struct run *run, int number);

#endif
