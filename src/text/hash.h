/*
 * hash: hashes of bytes, the same on all machines, and random numbers that a
 * seed determines.
 */
#ifndef HASH_H
#define HASH_H

#include <stddef.h>
#include <stdint.h>

/* The hash of no bytes. */
#define HASH_NONE UINT64_C(0xcbf29ce484222325)

/*
 * The hash of the bytes that hash is of, and then these: FNV-1a with 64 bits
 * (Fowler, Noll, Vo). It is not for secrets.
 */
uint64_t hash_add(uint64_t hash, const void *bytes, size_t length);

/*
 * The next 64 random bits, the hash of a counter: SplitMix64 (Steele, Lea,
 * Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014), with
 * the constants of Stafford's variant 13. Any seed is good, and the state is
 * one word.
 */
uint64_t hash_draw(uint64_t *state);

#endif
