/*
 * allowance: what the command line and the environment say about the budget,
 * as a struct share; and about retries within retries.
 */
#ifndef ALLOWANCE_H
#define ALLOWANCE_H

#include "policy/policy.h"
#include "cli/optparse.h"

/* For the table of options; field is the key, "" meaning none, ... */
void option_values_key(const struct row *row, const char *text, void *field);

/* ...a key of which there has to be one, or... */
void
option_values_subject(const struct row *row, const char *text, void *field);

/* ...the member of struct share or struct policy that the option sets. */
void option_values_ratio(const struct row *row, const char *text, void *field);
void option_values_min(const struct row *row, const char *text, void *field);
void option_values_window(const struct row *row, const char *text, void *field);
void
option_values_cooldown(const struct row *row, const char *text, void *field);
void
option_values_breaker(const struct row *row, const char *text, void *field);
void option_values_nested(const struct row *row, const char *text, void *field);

#endif
