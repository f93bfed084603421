/*
 * spelling: how many typing mistakes are between a word and a known name.
 */
#ifndef SPELLING_H
#define SPELLING_H

#include <stddef.h>

/* Too many mistakes: the word is not meant as the name. */
#define SPELLING_FAR ((size_t)-1)

/*
 * How many mistakes turn name into the length letters of typed. A mistake is a
 * letter left out, added, changed, or swapped with the next one. SPELLING_FAR
 * if there are more mistakes than three or than a third of length; but one
 * mistake is always allowed.
 */
size_t spelling_slips(const char *typed, size_t length, const char *name);

#endif
