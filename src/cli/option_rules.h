/*
 * option_rules: turns LISTs and presets into rules and compiled patterns.
 */
#ifndef OPTION_RULES_H
#define OPTION_RULES_H

#include "policy/policy.h"
#include "cli/optparse.h"

/*
 * For the table of options; into is the struct policy. Adds a LIST to the set
 * of conditions at option->field, or refuses it.
 */
void
option_rules_list(const struct option *option, const char *text, void *into);

/* A stream and a pattern, behind which a line of it tells how long to wait. */
void option_rules_retry_after(
    const struct option *option, const char *text, void *into);

/* Adds "N:LIST", a limit of retries after the failures that LIST names. */
void
option_rules_limit(const struct option *option, const char *text, void *into);

/* Names of presets, separated by commas. "list" prints all names and exits. */
void
option_rules_preset(const struct option *option, const char *text, void *into);

/*
 * Turns the names of presets into rules. It needs policy->command, where "auto"
 * looks for a known tool.
 */
void option_rules_settle(struct policy *policy, const struct option *option);

#endif
