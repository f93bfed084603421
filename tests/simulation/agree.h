/*
 * agree: compares the simulation with the storms of real processes.
 */
#ifndef AGREE_H
#define AGREE_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Simulates each variant of which the file has totals (tally_put) on a machine
 * like the one that they are from, and prints both. False if the wasted
 * requests of one differ too much; over hosts, also the retries or the p99.
 */
bool agree_show(FILE *file);

#endif
