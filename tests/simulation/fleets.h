/*
 * fleets: storms over many hosts, with a budget for each host or one for all.
 *
 * False if a result misses its limit, which is printed beside it.
 */
#ifndef FLEETS_H
#define FLEETS_H

#include <stdbool.h>
#include <stdint.h>

/* A storm over so many hosts, with each kind of budget. */
bool fleets_show(int64_t hosts);

/* Storms over a hundred hosts, of which each recovers by itself. */
bool fleets_show_recovery(void);

/* What ten thousand hosts ask the fleet's server: when all fail within a
 * second, and on ordinary days. */
bool fleets_show_wave(void);

#endif
