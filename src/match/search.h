/*
 * search: finds the first of several short strings in a chunk of bytes, fast.
 *
 * Most lines do not match. A line that might match contains one of a few
 * strings, so the automaton runs only near such a hit (literals.h finds the
 * strings, pattern.h runs the search and the automaton). Of each string only
 * the rarest four bytes are searched for, as one number.
 *
 * Up to SEARCH_FEW numbers are compared one by one, with 16 bytes of text at a
 * time. If there are more numbers, as in the table of presets, the four bytes
 * at each offset are hashed, and a table says whether a wanted number has that
 * hash: one step for any count of numbers. The table accepts all wanted numbers
 * and one in hundreds of the others; what it accepts is compared (Bloom,
 * "Space/Time Trade-offs in Hash Coding with Allowable Errors", CACM 13:7,
 * 1970). No offset depends on the one before, so a processor works on several
 * at once; each step of an automaton has to wait for the step before.
 */
#ifndef SEARCH_H
#define SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEARCH_MOST 32 /* strings in a set */
#define SEARCH_LENGTH 8 /* bytes of a string, at most */
#define SEARCH_UNION 192 /* strings in several sets */
#define SEARCH_FEW 8 /* strings that are compared sooner than hashed */
#define SEARCH_BITS 14 /* of a hash */

/* A distance without a bound. */
#define SEARCH_FAR UINT32_MAX

/* Strings of which every match contains one. */
struct search_set {
	uint32_t count; /* 0: no such set is known */
	uint32_t before; /* the most bytes of a match before the string */
	uint8_t length[SEARCH_MOST];
	unsigned char bytes[SEARCH_MOST][SEARCH_LENGTH]; /* padded with 0 */
};

/* The strings of several sets: every match contains one of the strings. */
struct search_union {
	bool blind; /* there are matches for which no set is known */
	bool fold; /* upper and lower case are the same */
	uint32_t count, before; /* of all sets, as above */
	uint8_t length[SEARCH_UNION];
	unsigned char bytes[SEARCH_UNION][SEARCH_LENGTH];
};

/* Strings made ready for the search. All but before is private. */
struct search {
	uint32_t before; /* the most bytes of a match before a hit */
	uint32_t count;
	uint32_t length; /* bytes that are compared, 1 to 4 */
	bool plain; /* fold and mask change nothing */
	uint32_t fold[4], mask[4]; /* applied to four bytes of text first */
	uint8_t first_bytes[256];
	uint32_t wanted[SEARCH_UNION];
	uint32_t lanes[SEARCH_FEW][4]; /* the first wanted, each four times */
	bool hashed; /* there are more numbers than SEARCH_FEW */
	uint8_t hashes[1 << SEARCH_BITS]; /* 1: a wanted number has the hash */
};

/* How rare a byte is in messages of programs: about one in 2^rarity. */
unsigned search_byte_rarity(unsigned char byte);

/*
 * How rare the hits are in messages of programs: about one byte in 2^rarity. 0
 * for no set, and for one that contains the empty string.
 */
unsigned search_set_rarity(const struct search_set *set);
unsigned search_union_rarity(const struct search_union *strings);

/* Adds a set to a union, which begins as all zero. */
void search_add(struct search_union *strings, const struct search_set *set);

/*
 * Prepares the search for a union whose rarity is above 0, or which is empty. A
 * hit does not prove that a string is there: strings are cut to the length of
 * the shortest one, and with fold a few pairs of bytes that are no letters are
 * the same, too.
 */
void search_prepare(struct search *search, const struct search_union *strings);

/* The first hit that lies wholly in [at, end); else end. */
const unsigned char *search_find(const struct search *search,
    const unsigned char *at, const unsigned char *end);

#endif
