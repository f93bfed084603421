/*
 * delays: what the command line says about delays, as a struct backoff.
 */
#ifndef DELAYS_H
#define DELAYS_H

#include <stdbool.h>
#include "policy/policy.h"
#include "cli/optparse.h"

/* An option, and the text it was given last, NULL if it was not. */
struct delays_given {
	const struct row *row;
	const char *text;
};

/* For the table of options; field is the struct backoff... */
void option_values_delays(const struct row *row, const char *text, void *field);

/* ...or the member of it that the option sets... */
void
option_values_backoff(const struct row *row, const char *text, void *field);
void option_values_jitter(const struct row *row, const char *text, void *field);
void option_values_factor(const struct row *row, const char *text, void *field);

/* ...or the struct policy. */
void option_values_seed(const struct row *row, const char *text, void *field);

/*
 * What depends on more than one option: whether the last delay grows, and the
 * default cap, the largest of 30 s, all delays and the floor. Refuses
 * decorrelated jitter of a list, and a cap below the floor.
 */
void option_values_settle_delays(struct backoff *backoff, bool kind_said,
    const struct delays_given *jitter, const struct delays_given *cap);

#endif
