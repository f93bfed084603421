/*
 * hash: a hash of bytes, the same on all machines.
 *
 * FNV-1a with 64 bits (Fowler, Noll, Vo). It is not for secrets.
 */
#ifndef HASH_H
#define HASH_H

#include <stddef.h>
#include <stdint.h>

/* The hash of no bytes. */
#define HASH_NONE UINT64_C(0xcbf29ce484222325)

/* The hash of the bytes that hash is of, and then these. */
uint64_t hash_add(uint64_t hash, const void *bytes, size_t length);

#endif
