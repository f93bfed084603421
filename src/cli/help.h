/*
 * help: what -h, --help and --version print.
 */
#ifndef HELP_H
#define HELP_H

#include "cli/option.h"
#include "output/writer.h"

/*
 * Writes the rest of a text to standard output, which is the writer's
 * descriptor, and exits: with 0, or with EXIT_STATUS_FAILED and a message where
 * not all of the text could be written.
 */
_Noreturn void help_finish(struct writer *writer);

/*
 * Prints the table of all options, or the options to start with, and exits as
 * help_finish() does. The options to start with and a prompt below them fit a
 * terminal of 24 lines of 80 columns.
 */
_Noreturn void help_options(const struct option *table, bool all);

/* Prints the version, and exits in the same way. */
_Noreturn void help_version(void);

#endif
