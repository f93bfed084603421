/*
 * options: the command line to a policy. The table in options.c has a row for
 * every option; parsing and --help read it.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "policy.h"

/*
 * What the command line asks for, defaults filled in. Does not return from
 * --help, --version (0) or a mistake (125, two lines on standard error).
 * Opens no file, allocates nothing.
 */
struct policy options_parse(int argc, char **argv);

#endif
