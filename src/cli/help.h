/*
 * help: prints the table of options, or a text, instead of running a command.
 */
#ifndef HELP_H
#define HELP_H

#include "cli/optparse.h"

/*
 * Writes a text in pieces, up to a NULL, to standard output and exits: with 0,
 * or with EXIT_STATUS_FAILED and a message where it could not be written.
 */
_Noreturn void help_text(const char *const text[]);

/* As help_text(), for the table of options between two texts. */
_Noreturn void help_options(const struct optparse *optparse,
    const char *const before[], const char *const after[]);

#endif
