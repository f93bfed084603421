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

/*
 * Parts of simulate.c: false where what they show misses a limit, or differs.
 *
 * Simulates each variant of which TALLY_FILE has totals on a machine like the
 * one that they are from, and prints both. The wasted requests must be near;
 * over hosts, also the retries and the p99.
 */
bool agree_show(void);

/* Storms over so many hosts, with each kind of budget. */
bool fleets_show(void);
bool fleets_show_large(void);

/* Storms over a hundred hosts, of which each recovers by itself. */
bool fleets_show_recovery(void);

/* What ten thousand hosts ask the fleet's server: when all fail within a
 * second, and on ordinary days. */
bool fleets_show_wave(void);

/*
 * The storm of the first variant with a breaker, in which all clients but a few
 * come when the breaker is open already: with requests, capacities and numbers
 * of clients from small to large, and several seeds. First every retry is paid
 * for, so that nothing counts but the breaker.
 */
bool tune_show(void);

#endif
