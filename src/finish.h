/*
 * finish: delivers held output, writes the reports, exits as the command did.
 */
#ifndef FINISH_H
#define FINISH_H

#include "run.h"

/*
 * Says that what could not be opened (run_open), with errno, and returns
 * EXIT_STATUS_FAILED, with which retry has to exit.
 */
int finish_fail(struct run *run, const char *what);

/*
 * The command's input could not be read or kept, or its output can be neither
 * relayed nor held (errno): says so and returns EXIT_STATUS_FAILED, which
 * finish_run has to be called with.
 */
int finish_without_input(struct run *run);
int finish_without_output(struct run *run);

/* Ends as the step says, or as loop.ending_signal says: returns the status, or
 * dies of the signal. */
int finish_run(struct run *run, struct step step);

#endif
