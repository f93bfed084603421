/*
 * random: random numbers that a seed determines.
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

/*
 * The next 64 random bits: SplitMix64 (Steele, Lea, Flood, "Fast Splittable
 * Pseudorandom Number Generators", OOPSLA 2014), with the constants of
 * Stafford's variant 13. Any seed is good, and the state is one word.
 */
uint64_t random_draw(uint64_t *state);

#endif
