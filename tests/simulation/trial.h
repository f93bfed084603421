/*
 * trial: a variant of a scenario in virtual time; retry's own parser reads its
 * options.
 */
#ifndef TRIAL_H
#define TRIAL_H

#include <stddef.h>
#include "figure.h"
#include "model.h"

/* So many clients share a host; more are on several hosts. */
#define TRIAL_HOST 1000

/* How often trials are repeated whose results differ by their seed. */
#define TRIAL_SEEDS 9

/* Processes and requests cost nothing. */
extern const struct machine trial_ideal;

/* Its memory is never freed. A wrong option ends the program. */
struct policy trial_policy(const struct variant *variant);

/* The tally is started; if NULL, only the totals are kept. */
struct totals trial_run(const struct model *model, struct tally *tally);

/* The run of TRIAL_SEEDS that is in the middle by its wasted requests. */
struct totals trial_median(const struct scenario *scenario,
    const struct variant *variant, const struct machine *machine);

size_t trial_variants(const struct scenario *scenario);

#endif
