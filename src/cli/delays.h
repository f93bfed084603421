/*
 * delays: what the command line says about delays, as a struct backoff.
 */
#ifndef DELAYS_H
#define DELAYS_H

#include <stdbool.h>
#include "policy/policy.h"
#include "cli/optparse.h"

/* An option, and the text it was given last, NULL if it was not. */
struct delays_said {
	const struct row *row;
	const char *text;
};

/* For the table of options; field is the struct backoff... */
void delays_list(const struct row *row, const char *text, void *field);

/* ...or the member of it that the option sets... */
void delays_kind(const struct row *row, const char *text, void *field);
void delays_jitter(const struct row *row, const char *text, void *field);
void delays_factor(const struct row *row, const char *text, void *field);

/* ...or the struct policy. */
void delays_seed(const struct row *row, const char *text, void *field);

/*
 * What depends on more than one option: whether the last delay grows, and the
 * default cap, the largest of 30 s, all delays and the floor. Refuses
 * decorrelated jitter of a list, and a cap below the floor.
 */
void delays_settle(struct backoff *backoff, bool kind_said,
    const struct delays_said *jitter, const struct delays_said *cap);

#endif
