#include "match/search.h"

#include <string.h>

enum {
	WINDOW = 4, /* bytes compared at a time */
	LANES = 16 / WINDOW,
	BLOCK = 32, /* places */
	WHOLE = BLOCK + WINDOW, /* bytes that comparing them reads */
	FOLD = 0x20, /* the bit between a capital and its small letter */
	STRIDE = 8, /* places hashed at a time */
};

/* The needles of a set or of a sum. */
struct list {
	size_t count;
	const uint8_t *length;
	const unsigned char (*bytes)[SEARCH_LENGTH];
};

/*
 * Bytes from the most to the least common in messages of programs, and how
 * many of them are at least so common.
 */
static const char common[] = " etaoinrslcdumph012gfbywvk3456789.:-/="
			     "ABCDEFGHILMNOPRSTUW,\"'_()[]";

static const struct {
	unsigned rarity, most;
} ranks[] = { { 3, 1 }, { 4, 9 }, { 5, 19 }, { 6, 38 } };

unsigned
search_rarity(unsigned char byte)
{
	const char *found = memchr(common, byte, sizeof common - 1);

	if (found == NULL)
		return 9;
	for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++)
		if (found < common + ranks[i].most)
			return ranks[i].rarity;
	return 8;
}

/* How much of each needle can be compared: all are compared alike. */
static size_t
window_length(const struct list *set)
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
		rarity += search_rarity(window[i]);
	return rarity;
}

/* The place of the rarest window of needle n. */
static size_t
rarest_window(const struct list *set, size_t n, size_t length)
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
worth(const struct list *set)
{
	enum { UNIT = 40 };
	size_t length = window_length(set);
	uint64_t often = 0; /* in 1/2^UNIT */
	unsigned worth = UNIT;

	if (length == 0)
		return 0;
	for (size_t n = 0; n < set->count; n++) {
		size_t at = rarest_window(set, n, length);

		often += UINT64_C(1)
		    << (UNIT - window_rarity(set->bytes[n] + at, length));
	}
	for (; often > 1 && worth > 0; often /= 2)
		worth--;
	return worth;
}

unsigned
search_worth(const struct needles *set)
{
	return worth(&(struct list){ set->count, set->length, set->bytes });
}

unsigned
search_sum_worth(const struct search_sum *sum)
{
	return worth(&(struct list){ sum->count, sum->length, sum->bytes });
}

void
search_add(struct search_sum *sum, const struct needles *set)
{
	if (set->count == 0 || sum->count + set->count > SEARCH_SUM)
		sum->blind = true;
	if (sum->blind) {
		sum->count = 0;
		return;
	}
	memcpy(sum->length + sum->count, set->length, set->count);
	memcpy(sum->bytes + sum->count, set->bytes,
	    set->count * sizeof set->bytes[0]);
	sum->count += set->count;
	if (sum->before < set->before)
		sum->before = set->before;
}

/* Four bytes as they are compared. */
static uint32_t
number_of(const struct search_search *search, const unsigned char *bytes)
{
	uint32_t number;

	memcpy(&number, bytes, sizeof number);
	return (number | search->fold[0]) & search->mask[0];
}

/* Multiplied by 2^32 over the golden ratio: all bits have a say. */
static inline uint32_t
hash_of(uint32_t number)
{
	return number * UINT32_C(0x9e3779b1) >> (32 - SEARCH_BITS);
}

static inline uint32_t
may_be_wanted(const struct search_search *search, uint32_t number)
{
	return search->hashes[hash_of(number)];
}

static bool
is_wanted(const struct search_search *search, uint32_t number)
{
	for (size_t n = 0; n < search->count; n++)
		if (search->wanted[n] == number)
			return true;
	return false;
}

/* Where needle n has a window that is searched for anyway; else its rarest. */
static size_t
choose_window(
    const struct search_search *search, const struct list *set, size_t n)
{
	unsigned char bytes[SEARCH_LENGTH + WINDOW] = { 0 };

	memcpy(bytes, set->bytes[n], SEARCH_LENGTH);
	for (size_t i = 0; i + search->length <= set->length[n]; i++)
		if (is_wanted(search, number_of(search, bytes + i)))
			return i;
	return rarest_window(set, n, search->length);
}

static void
add_window(struct search_search *search, const struct list *set, size_t n,
    uint32_t before)
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
			search->begins[b] = 1;
}

static void
fill_table(struct search_search *search)
{
	memset(search->hashes, 0, sizeof search->hashes);
	for (size_t n = 0; n < search->count; n++)
		search->hashes[hash_of(search->wanted[n])] = 1;
}

void
search_prepare(struct search_search *search, const struct search_sum *sum)
{
	const struct list set = { sum->count, sum->length, sum->bytes };

	search->count = 0;
	search->before = 0;
	search->length = (uint32_t)window_length(&set);
	search->plain = !sum->fold && search->length == WINDOW;
	memset(search->fold, sum->fold ? FOLD : 0, sizeof search->fold);
	memset(search->mask, 0, sizeof search->mask);
	for (size_t i = 0; i < LANES; i++)
		memset(&search->mask[i], 0xff, search->length);
	memset(search->begins, 0, sizeof search->begins);
	for (size_t n = 0; n < set.count; n++)
		add_window(search, &set, n, sum->before);
	search->many = search->count > SEARCH_FEW;
	if (search->many)
		fill_table(search);
}

/* The first hit at one of the places of a block; or NULL. */
static const unsigned char *
look(const struct search_search *search, const unsigned char *block,
    size_t places)
{
	for (size_t i = 0; i < places; i++)
		if (search->begins[block[i]] != 0 &&
		    (!search->many ||
			may_be_wanted(search, number_of(search, block + i))) &&
		    is_wanted(search, number_of(search, block + i)))
			return block + i;
	return NULL;
}

#ifdef __GNUC__ /* on any machine: the compiler does it without, if need be */

union lanes {
	int32_t numbers __attribute__((vector_size(16)));
	uint64_t halves[2];
};

/* Four vectors, a byte apart: all the numbers that begin in 16 bytes. */
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
load_quad(
    const struct search_search *search, const unsigned char *bytes, bool plain)
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
has_hit(
    const struct search_search *search, const unsigned char *block, bool plain)
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

/* The first block that holds a hit or is not a whole one. */
static const unsigned char *
compare_blocks(const struct search_search *search, const unsigned char *at,
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
compare_blocks(const struct search_search *search, const unsigned char *at,
    const unsigned char *end)
{
	(void)search, (void)end;
	return at;
}

#endif

/* Whether one of the places of a stride may be a hit. */
static inline bool
may_have_hit(
    const struct search_search *search, const unsigned char *at, bool plain)
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

/* Up to a stride that may hold a hit, or to the last whole block. */
static const unsigned char *
hash_blocks(const struct search_search *search, const unsigned char *at,
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
skip_blocks(const struct search_search *search, const unsigned char *at,
    const unsigned char *end)
{
	return search->many ? hash_blocks(search, at, end)
			    : compare_blocks(search, at, end);
}

const unsigned char *
search_find(const struct search_search *search, const unsigned char *at,
    const unsigned char *end)
{
	unsigned char rest[WHOLE + WINDOW] = { 0 };
	const unsigned char *hit;
	size_t left;

	while ((at = skip_blocks(search, at, end)), end - at >= WHOLE) {
		size_t places = search->many ? STRIDE : BLOCK;

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
