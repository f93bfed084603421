/*
 * spelling: how many typing mistakes are between a word and a known name.
 */
#ifndef SPELLING_H
#define SPELLING_H

#include <stddef.h>

/* More mistakes than one would make. */
#define SPELLING_FAR ((size_t)-1)

/*
 * How many mistakes turn name into what was typed, of that length: each is a
 * letter left out, added, changed, or swapped with the next one. SPELLING_FAR
 * if they are more than a third of the letters typed, or more than three; a
 * single one never is.
 */
size_t spelling_slips(const char *typed, size_t length, const char *name);

#endif
