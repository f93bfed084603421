#include "match/search.h"

#include <string.h>

enum {
	WINDOW = 4, /* bytes of a string that are compared */
	LANES = 16 / WINDOW,
	BLOCK = 32, /* offsets that are looked at together */
	WHOLE = BLOCK + WINDOW, /* bytes that are read for that */
	FOLD = 0x20, /* the bit that differs between upper and lower case */
	STRIDE = 8, /* offsets that are hashed together */
};

/* The strings of a set or of a union. */
struct strings {
	size_t count;
	const uint8_t *length;
	const unsigned char (*bytes)[SEARCH_LENGTH];
};

/*
 * Bytes from the most to the least common in messages of programs. An element
 * of ranks gives the rarity of the bytes up to a place in this list.
 */
static const char common[] = " etaoinrslcdumph012gfbywvk3456789.:-/="
			     "ABCDEFGHILMNOPRSTUW,\"'_()[]";

static const struct {
	unsigned rarity, most;
} ranks[] = { { 3, 1 }, { 4, 9 }, { 5, 19 }, { 6, 38 } };

unsigned
search_byte_rarity(unsigned char byte)
{
	const char *found = memchr(common, byte, sizeof common - 1);

	if (found == NULL)
		return 9;
	for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++)
		if (found < common + ranks[i].most)
			return ranks[i].rarity;
	return 8;
}

/* How many bytes of each string are compared: the length of the shortest. */
static size_t
window_length(const struct strings *set)
{
	size_t length = set->count > 0 ? WINDOW : 0;

	for (size_t n = 0; n < set->count; n++)
		if (set->length[n] < length)
			length = set->length[n];
	return length;
}

static unsigned
window_rarity(const unsigned char *window, size_t length)
{
	unsigned rarity = 0;

	for (size_t i = 0; i < length; i++)
		rarity += search_byte_rarity(window[i]);
	return rarity;
}

/* Where the rarest window of string n begins. */
static size_t
rarest_window(const struct strings *set, size_t n, size_t length)
{
	size_t best = 0;
	unsigned most = 0;

	for (size_t i = 0; i + length <= set->length[n]; i++) {
		unsigned rarity = window_rarity(set->bytes[n] + i, length);

		if (rarity > most) {
			most = rarity;
			best = i;
		}
	}
	return best;
}

static unsigned
rarity_of(const struct strings *set)
{
	enum { UNIT = 40 };
	size_t length = window_length(set);
	uint64_t often = 0; /* in 1/2^UNIT */
	unsigned rarity = UNIT;

	if (length == 0)
		return 0;
	for (size_t n = 0; n < set->count; n++) {
		size_t at = rarest_window(set, n, length);

		often += UINT64_C(1)
		    << (UNIT - window_rarity(set->bytes[n] + at, length));
	}
	for (; often > 1 && rarity > 0; often /= 2)
		rarity--;
	return rarity;
}

unsigned
search_set_rarity(const struct search_set *set)
{
	return rarity_of(
	    &(struct strings){ set->count, set->length, set->bytes });
}

unsigned
search_union_rarity(const struct search_union *strings)
{
	return rarity_of(&(struct strings){
	    strings->count, strings->length, strings->bytes });
}

void
search_add(struct search_union *strings, const struct search_set *set)
{
	if (set->count == 0 || strings->count + set->count > SEARCH_UNION)
		strings->blind = true;
	if (strings->blind) {
		strings->count = 0;
		return;
	}
	memcpy(strings->length + strings->count, set->length, set->count);
	memcpy(strings->bytes + strings->count, set->bytes,
	    set->count * sizeof set->bytes[0]);
	strings->count += set->count;
	if (strings->before < set->before)
		strings->before = set->before;
}

/* Four bytes as the number that is compared. */
static uint32_t
number_of(const struct search *search, const unsigned char *bytes)
{
	uint32_t number;

	memcpy(&number, bytes, sizeof number);
	return (number | search->fold[0]) & search->mask[0];
}

/*
 * Multiplicative hashing (Knuth, TAOCP 3, 6.4): by 2^32 over the golden ratio,
 * after which every bit of number has changed the upper bits.
 */
static inline uint32_t
hash_of(uint32_t number)
{
	return number * UINT32_C(0x9e3779b1) >> (32 - SEARCH_BITS);
}

static inline uint32_t
may_be_wanted(const struct search *search, uint32_t number)
{
	return search->hashes[hash_of(number)];
}

static bool
is_wanted(const struct search *search, uint32_t number)
{
	for (size_t n = 0; n < search->count; n++)
		if (search->wanted[n] == number)
			return true;
	return false;
}

/* A window of string n that is already searched for; else its rarest one. */
static size_t
choose_window(const struct search *search, const struct strings *set, size_t n)
{
	unsigned char bytes[SEARCH_LENGTH + WINDOW] = { 0 };

	memcpy(bytes, set->bytes[n], SEARCH_LENGTH);
	for (size_t i = 0; i + search->length <= set->length[n]; i++)
		if (is_wanted(search, number_of(search, bytes + i)))
			return i;
	return rarest_window(set, n, search->length);
}

static void
add_window(
    struct search *search, const struct strings *set, size_t n, uint32_t before)
{
	size_t at = choose_window(search, set, n);
	uint32_t number;
	unsigned char bytes[SEARCH_LENGTH + WINDOW] = { 0 };

	memcpy(bytes, set->bytes[n], SEARCH_LENGTH);
	number = number_of(search, bytes + at);
	before = before < SEARCH_FAR - at ? before + (uint32_t)at : SEARCH_FAR;
	if (search->before < before)
		search->before = before;
	if (is_wanted(search, number))
		return;
	for (size_t i = 0; i < LANES && search->count < SEARCH_FEW; i++)
		search->lanes[search->count][i] = number;
	search->wanted[search->count++] = number;
	memcpy(bytes, &number, sizeof number);
	for (unsigned b = 0; b < 256; b++)
		if ((b | (search->fold[0] & 0xff)) == bytes[0])
			search->first_bytes[b] = 1;
}

static void
fill_table(struct search *search)
{
	memset(search->hashes, 0, sizeof search->hashes);
	for (size_t n = 0; n < search->count; n++)
		search->hashes[hash_of(search->wanted[n])] = 1;
}

void
search_prepare(struct search *search, const struct search_union *strings)
{
	const struct strings set = { strings->count, strings->length,
		strings->bytes };

	search->count = 0;
	search->before = 0;
	search->length = (uint32_t)window_length(&set);
	search->plain = !strings->fold && search->length == WINDOW;
	memset(search->fold, strings->fold ? FOLD : 0, sizeof search->fold);
	memset(search->mask, 0, sizeof search->mask);
	for (size_t i = 0; i < LANES; i++)
		memset(&search->mask[i], 0xff, search->length);
	memset(search->first_bytes, 0, sizeof search->first_bytes);
	for (size_t n = 0; n < set.count; n++)
		add_window(search, &set, n, strings->before);
	search->hashed = search->count > SEARCH_FEW;
	if (search->hashed)
		fill_table(search);
}

/* The first hit at one of these offsets from block; or NULL. */
static const unsigned char *
look(const struct search *search, const unsigned char *block, size_t places)
{
	for (size_t i = 0; i < places; i++)
		if (search->first_bytes[block[i]] != 0 &&
		    (!search->hashed ||
			may_be_wanted(search, number_of(search, block + i))) &&
		    is_wanted(search, number_of(search, block + i)))
			return block + i;
	return NULL;
}

#ifdef __GNUC__ /* vectors on any machine: the compiler emulates them */

union lanes {
	int32_t numbers __attribute__((vector_size(16)));
	uint64_t halves[2];
};

/* Four vectors, a byte apart: all the numbers that begin within 16 bytes. */
struct quad {
	union lanes at[WINDOW];
};

static inline union lanes
load(const void *bytes)
{
	union lanes lanes;

	memcpy(&lanes, bytes, sizeof lanes);
	return lanes;
}

static inline struct quad
load_quad(const struct search *search, const unsigned char *bytes, bool plain)
{
	struct quad quad = { { load(bytes), load(bytes + 1), load(bytes + 2),
	    load(bytes + 3) } };
	union lanes fold = load(search->fold), mask = load(search->mask);

	for (size_t i = 0; i < WINDOW && !plain; i++)
		quad.at[i].numbers =
		    (quad.at[i].numbers | fold.numbers) & mask.numbers;
	return quad;
}

static inline union lanes
compare(const struct quad *quad, union lanes wanted)
{
	return (union lanes){ (quad->at[0].numbers == wanted.numbers) |
		(quad->at[1].numbers == wanted.numbers) |
		(quad->at[2].numbers == wanted.numbers) |
		(quad->at[3].numbers == wanted.numbers) };
}

/* Whether there is a hit in a block. */
static inline bool
has_hit(const struct search *search, const unsigned char *block, bool plain)
{
	struct quad low = load_quad(search, block, plain);
	struct quad high = load_quad(search, block + BLOCK / 2, plain);
	union lanes hits = { .halves = { 0, 0 } };

	for (size_t n = 0; n < search->count; n++) {
		union lanes wanted = load(search->lanes[n]);

		hits.numbers |= compare(&low, wanted).numbers |
		    compare(&high, wanted).numbers;
	}
	return (hits.halves[0] | hits.halves[1]) != 0;
}

/* The first block that holds a hit, or where less than WHOLE is left. */
static const unsigned char *
compare_blocks(const struct search *search, const unsigned char *at,
    const unsigned char *end)
{
	if (search->plain)
		while (end - at >= WHOLE && !has_hit(search, at, true))
			at += BLOCK;
	else
		while (end - at >= WHOLE && !has_hit(search, at, false))
			at += BLOCK;
	return at;
}

#else

static const unsigned char *
compare_blocks(const struct search *search, const unsigned char *at,
    const unsigned char *end)
{
	(void)search, (void)end;
	return at;
}

#endif

/* Whether there may be a hit at one of STRIDE offsets. */
static inline bool
may_have_hit(const struct search *search, const unsigned char *at, bool plain)
{
	uint32_t any = 0;

	for (size_t i = 0; i < STRIDE; i++) {
		uint32_t number;

		memcpy(&number, at + i, sizeof number);
		if (!plain)
			number = (number | search->fold[0]) & search->mask[0];
		any |= may_be_wanted(search, number);
	}
	return any != 0;
}

/* The first stride that may hold a hit, or where less than WHOLE is left. */
static const unsigned char *
hash_blocks(const struct search *search, const unsigned char *at,
    const unsigned char *end)
{
	if (search->plain)
		while (end - at >= WHOLE && !may_have_hit(search, at, true))
			at += STRIDE;
	else
		while (end - at >= WHOLE && !may_have_hit(search, at, false))
			at += STRIDE;
	return at;
}

static const unsigned char *
skip_blocks(const struct search *search, const unsigned char *at,
    const unsigned char *end)
{
	return search->hashed ? hash_blocks(search, at, end)
			      : compare_blocks(search, at, end);
}

const unsigned char *
search_find(const struct search *search, const unsigned char *at,
    const unsigned char *end)
{
	unsigned char rest[WHOLE + WINDOW] = { 0 };
	const unsigned char *hit;
	size_t left;

	while ((at = skip_blocks(search, at, end)), end - at >= WHOLE) {
		size_t places = search->hashed ? STRIDE : BLOCK;

		hit = look(search, at, places);
		if (hit != NULL)
			return hit;
		at += places;
	}
	left = (size_t)(end - at);
	if (left < search->length)
		return end;
	memcpy(rest, at, left);
	hit = look(search, rest, left - search->length + 1);
	return hit != NULL ? at + (hit - rest) : end;
}
