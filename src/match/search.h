/*
 * search: finds the first of several short strings in a chunk of bytes, fast.
 *
 * Most lines do not match, and a string that every match contains shows which
 * ones might: only near such a hit is the automaton run (literals.h finds the
 * strings, pattern.h runs both). Of each string only its rarest four bytes are
 * searched for, as one number.
 *
 * Up to SEARCH_FEW numbers are compared one by one, with 16 bytes of text at a
 * time. For more, as the table of presets has them, the four bytes at each
 * offset are hashed, and a table says whether a wanted number has that hash:
 * one step, however many there are. It lets all wanted numbers through, and of
 * the others one in hundreds, which are compared then (Bloom, "Space/Time
 * Trade-offs in Hash Coding with Allowable Errors", CACM 13:7, 1970). No offset
 * depends on the one before, so a processor works on several at once; each step
 * of an automaton has to wait for the one before.
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
	uint32_t before; /* bytes of a match ahead of its string, at most */
	uint8_t length[SEARCH_MOST];
	unsigned char bytes[SEARCH_MOST][SEARCH_LENGTH]; /* 0 behind its end */
};

/* The strings of several sets: every match contains one of one of them. */
struct search_union {
	bool blind; /* for some matches no set is known */
	bool fold; /* upper and lower case are the same */
	uint32_t count, before; /* of all sets, as above */
	uint8_t length[SEARCH_UNION];
	unsigned char bytes[SEARCH_UNION][SEARCH_LENGTH];
};

/* Strings made ready for the search. All but before is private. */
struct search {
	uint32_t before; /* bytes of a match ahead of a hit, at most */
	uint32_t count;
	uint32_t length; /* bytes that are compared, 1 to 4 */
	bool plain; /* fold and mask change nothing */
	uint32_t fold[4], mask[4]; /* applied to four bytes of text first */
	uint8_t first_bytes[256];
	uint32_t wanted[SEARCH_UNION];
	uint32_t lanes[SEARCH_FEW][4]; /* the first wanted, each four times */
	bool hashed; /* there are more than these */
	uint8_t hashes[1 << SEARCH_BITS]; /* 1: a wanted number has it */
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
 * Makes a union ready for the search; its rarity is above 0, or it is empty.
 * With fold, a few other pairs of bytes are the same, too, and strings are cut
 * to the length of the shortest: a hit is no proof that a string is there.
 */
void search_prepare(struct search *search, const struct search_union *strings);

/* The first hit that lies wholly in [at, end); else end. */
const unsigned char *search_find(const struct search *search,
    const unsigned char *at, const unsigned char *end);

#endif
