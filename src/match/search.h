/*
 * search: short strings of which a line must hold one before it is worth a
 * closer look, and a search for them that is far faster than stepping an
 * automaton. Of each needle only its rarest four bytes are searched for, as
 * one number.
 *
 * A few numbers are compared one by one, at 16 places at a time. With many,
 * as a table of presets has them, the number at each place is hashed and a
 * table asked: one step, however many there are, which lets through what is
 * wanted and of all else one in hundreds (Bloom, "Space/Time Trade-offs in Hash
 * Coding with Allowable Errors", CACM 13:7, 1970). The places do not depend on
 * each other, so that a processor looks at several at once; a step of an
 * automaton waits for the one before.
 */
#ifndef SEARCH_H
#define SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEARCH_MOST 32 /* in a set */
#define SEARCH_LENGTH 8 /* of the longest */
#define SEARCH_SUM 192 /* in several sets */
#define SEARCH_FEW 8 /* are sooner compared than hashed */
#define SEARCH_BITS 14 /* of a hash */

/* A distance without a bound. */
#define SEARCH_FAR UINT32_MAX

/* A set of which every match holds one; bytes past a needle's end are 0. */
struct needles {
	uint32_t count; /* 0: nothing is known */
	uint32_t before; /* bytes of a match ahead of its needle, at most */
	uint8_t length[SEARCH_MOST];
	unsigned char bytes[SEARCH_MOST][SEARCH_LENGTH];
};

/* Several sets, of which every match holds one of one. */
struct search_sum {
	bool blind; /* nothing is known of some matches */
	bool fold; /* capitals and small letters are one */
	uint32_t count, before; /* as above, of all */
	uint8_t length[SEARCH_SUM];
	unsigned char bytes[SEARCH_SUM][SEARCH_LENGTH];
};

/* A set made ready for the search. All but before is private. */
struct search_search {
	uint32_t before; /* of what is found, as in struct needles */
	uint32_t count;
	uint32_t length; /* of what is compared, 1 to 4 bytes */
	bool plain; /* fold and mask change nothing */
	uint32_t fold[4], mask[4]; /* applied to four bytes before they are */
	uint8_t begins[256]; /* the first bytes */
	uint32_t wanted[SEARCH_SUM];
	uint32_t lanes[SEARCH_FEW][4]; /* the first of them, each four times */
	bool many; /* more than these */
	uint8_t hashes[1 << SEARCH_BITS]; /* those of what is wanted: 1 */
};

/* How rare a byte is in messages of programs: about 1 in 2^rarity. */
unsigned search_rarity(unsigned char byte);

/*
 * What the set is worth to a search: about one byte in 2^worth is a hit. 0 for
 * no set, and for one that holds the empty needle.
 */
unsigned search_worth(const struct needles *set);

/* Adds a set to a sum, which begins as zero. */
void search_add(struct search_sum *sum, const struct needles *set);

/* As above, of a sum. */
unsigned search_sum_worth(const struct search_sum *sum);

/*
 * Makes the sum, which is worth something or empty, ready; with fold, capitals
 * and small letters are one. A few other pairs of bytes are then one, too, and
 * needles are shortened: what is found is no proof.
 */
void search_prepare(struct search_search *search, const struct search_sum *sum);

/* The first hit that lies wholly in [at, end); else end. */
const unsigned char *search_find(const struct search_search *search,
    const unsigned char *at, const unsigned char *end);

#endif
