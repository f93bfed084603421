/*
 * options: the command line to a policy. What there is to choose from is in
 * menu.h; here is what it comes to: defaults, and what options mean together.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "cli/option_table.h"
#include "policy/policy.h"

/*
 * What the command line asks for, defaults filled in. Does not return from
 * --help, --version (0) or a mistake (125, two lines on standard error).
 * Opens no file but those of --policy.
 */
struct policy options_parse(int argc, char **argv);

#endif
