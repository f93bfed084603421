/*
 * help: what was asked for instead of a run, on standard output: a table of
 * options, or a text.
 */
#ifndef HELP_H
#define HELP_H

#include "cli/optparse.h"

/*
 * Writes text to standard output and exits: 0, or EXIT_STATUS_FAILED with a
 * line on standard error if it could not be delivered.
 */
_Noreturn void help_text(const char *text);

/* The same for the rows, between two texts in pieces, each up to a NULL. */
_Noreturn void help_rows(const struct optparse *optparse,
    const char *const before[], const char *const after[]);

#endif
