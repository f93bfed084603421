/*
 * usage: what -h and --help print.
 */
#ifndef USAGE_H
#define USAGE_H

#include "cli/optparse.h"

/*
 * Prints the options to start with, and exits as help_text() does. The text and
 * a prompt below it fit a terminal of 24 lines of 80 columns.
 */
_Noreturn void usage_first(void);

/* Prints the table of all options, and exits as help_options() does. */
_Noreturn void usage_all(const struct optparse *table);

#endif
