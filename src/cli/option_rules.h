/*
 * option_rules: what the command line says about outcomes, LISTs and presets,
 * as rules and as patterns that are ready to match.
 */
#ifndef OPTION_RULES_H
#define OPTION_RULES_H

#include "policy/policy.h"
#include "cli/optparse.h"

/*
 * For the table of options; field is the struct policy. A LIST, or a pattern
 * in it, that is malformed is refused.
 */
void
option_rules_retry_on(const struct row *row, const char *text, void *field);
void option_rules_stop_on(const struct row *row, const char *text, void *field);
void option_rules_fail_on(const struct row *row, const char *text, void *field);
void
option_rules_success_on(const struct row *row, const char *text, void *field);

/* Names of presets, with commas between them. "list" prints all and exits. */
void option_rules_preset(const struct row *row, const char *text, void *field);

/* Turns the names into rules, once the command is known, which "auto" needs. */
void option_rules_settle(struct policy *policy, const struct row *row);

#endif
