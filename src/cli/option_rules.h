/*
 * option_rules: what the command line says about outcomes, LISTs and presets,
 * as rules and as patterns that are ready to match.
 */
#ifndef OPTION_RULES_H
#define OPTION_RULES_H

#include "policy/policy.h"
#include "cli/optparse.h"

/*
 * For the table of options; policy is the struct policy. A LIST, for the set of
 * conditions at option->field; it is refused if it is malformed, or a pattern
 * in it.
 */
void
option_rules_list(const struct option *option, const char *text, void *policy);

/* Names of presets, with commas between them. "list" prints all and exits. */
void option_rules_preset(
    const struct option *option, const char *text, void *policy);

/* Turns the names into rules, once the command is known, which "auto" needs. */
void option_rules_settle(struct policy *policy, const struct option *option);

#endif
