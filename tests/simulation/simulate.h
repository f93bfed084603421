/*
 * simulate: storms in virtual time, in which retry's own parser reads the
 * options of a variant; and the parts that show them.
 */
#ifndef SIMULATE_H
#define SIMULATE_H

#include <stdbool.h>
#include <stddef.h>
#include "figure.h"
#include "model.h"

/* So many clients share a host; more are on several hosts. */
#define SIMULATE_HOST 1000

/* How often storms are repeated whose results differ by their seed. */
#define SIMULATE_SEEDS 9

/* Its memory is never freed. A wrong option ends the program. */
struct policy simulate_policy(const struct variant *variant);

/* The tally is started; if NULL, only the totals are kept. */
struct totals simulate_run(const struct model *model, struct tally *tally);

/* The run of SIMULATE_SEEDS that is in the middle by its wasted requests. */
struct totals simulate_median(const struct scenario *scenario,
    const struct variant *variant, const struct machine *machine);

/* Parts of simulate.c: false where what they show misses a limit, or differs.
 */
bool agree_show(void);
bool fleets_show(void);
bool fleets_show_large(void);
bool fleets_show_recovery(void);
bool fleets_show_wave(void);
bool tune_show(void);

#endif
