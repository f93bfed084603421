/*
 * help: prints the table of options, or a text, instead of running a command.
 */
#ifndef HELP_H
#define HELP_H

#include "cli/optparse.h"
#include "output/writer.h"

/*
 * Writes the rest of a text to standard output, which is the writer's
 * descriptor, and exits: with 0, or with EXIT_STATUS_FAILED and a message where
 * not all of the text could be written.
 */
_Noreturn void help_finish(struct writer *writer);

/* The same for a text in pieces, up to a NULL. */
_Noreturn void help_text(const char *const text[]);

/* As help_text(), for the table of options between two texts. */
_Noreturn void help_options(const struct optparse *optparse,
    const char *const before[], const char *const after[]);

#endif
