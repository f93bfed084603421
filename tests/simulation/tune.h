/*
 * tune: tries the recovery of the breaker in many circumstances.
 */
#ifndef TUNE_H
#define TUNE_H

#include <stdbool.h>
#include "scenario.h"

/*
 * The storm of a scenario's variant, in which all clients but a few come when
 * the breaker is open already: with requests, capacities and numbers of clients
 * from small to large, and several seeds. paid: every retry is, so that nothing
 * counts but the breaker.
 */
void tune_show(
    const struct scenario *scenario, const struct variant *variant, bool paid);

#endif
