/*
 * option_rules: turns LISTs and presets into rules and compiled patterns.
 */
#ifndef OPTION_RULES_H
#define OPTION_RULES_H

#include "cli/option.h"
#include "policy/policy.h"

/*
 * For the table of options. Adds a LIST to the set of conditions that the
 * option has as its field, or refuses it.
 */
void option_rules_list(const struct argument *argument, struct policy *policy);

/* A stream and a pattern, behind which a line of it tells how long to wait. */
void option_rules_retry_after(
    const struct argument *argument, struct policy *policy);

/* Adds "N:LIST", a limit of retries after the failures that LIST names. */
void option_rules_limit(const struct argument *argument, struct policy *policy);

/* Names of presets, separated by commas, of which it takes note. "list" prints
 * all names and exits, "show:NAME" the rules of one. */
void
option_rules_preset(const struct argument *argument, struct policy *policy);

/*
 * Turns the names of presets, which option has been given, into rules. It needs
 * policy->command, where "auto" looks for a known tool.
 */
void option_rules_presets(struct policy *policy, const struct option *option);

#endif
