/*
 * spelling: whether a word that nobody knows may be a slip for one that is
 * known.
 */
#ifndef SPELLING_H
#define SPELLING_H

#include <stddef.h>

/* More than a slip. */
#define SPELLING_FAR ((size_t)-1)

/*
 * How many slips it takes to type length bytes instead of a name: a letter left
 * out, added, changed, or swapped with the next one. SPELLING_FAR where that is
 * more than a third of the letters, or more than three; one is always little.
 */
size_t spelling_slips(const char *typed, size_t length, const char *name);

#endif
