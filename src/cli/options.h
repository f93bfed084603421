/*
 * options: the table of all options, and the policy that follows from those
 * given.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "policy/policy.h"

/*
 * Fills in the policy of the command line, of --policy's files and of the
 * environment, with defaults for all other fields. Exits with 0 after --help
 * and --version, with 125 after a mistake, which two lines on standard error
 * explain. Opens no file but those of --policy and --fleet-auth.
 */
void options_parse(int argc, char **argv, struct policy *policy);

#endif
