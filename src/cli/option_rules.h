/*
 * option_rules: turns LISTs and presets into rules and compiled patterns.
 */
#ifndef OPTION_RULES_H
#define OPTION_RULES_H

#include "cli/option.h"
#include "policy/policy.h"

/*
 * Notes a LIST, a limit, a hint or names of presets, which are read when all
 * options are known, or a condition, of which the last one counts. An empty
 * text, or for presets "none", takes back what was noted of the same option.
 * "list" prints the names of all presets and exits, "show:NAME" the rules of
 * one.
 */
void option_rules_note(const struct argument *argument, struct policy *policy);

/*
 * Turns what was noted into conditions, limits and hints, by the rows of the
 * table, or refuses it. Presets stay as they are.
 */
void option_rules_lists(struct policy *policy, const struct option *table);

/*
 * Turns the names of presets, which option has been given, into rules. It needs
 * policy->command, where "auto" looks for a known tool; an unknown one adds no
 * rule.
 */
void option_rules_presets(struct policy *policy, const struct option *option);

#endif
