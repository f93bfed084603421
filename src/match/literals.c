#include "match/literals.h"

#include <string.h>

enum {
	CHOICES = 4, /* a set of more bytes than these is no literal */
	FAR_COST = 6, /* rarity that a hit loses if the match may begin far
			 before it */
};

static uint32_t
add(uint32_t a, uint32_t b)
{
	return a < SEARCH_FAR - b ? a + b : SEARCH_FAR;
}

static uint32_t
multiply(uint32_t a, uint32_t b)
{
	uint64_t product = (uint64_t)a * b;

	if (a != 0 && b == SEARCH_FAR)
		return SEARCH_FAR;
	return product < SEARCH_FAR ? (uint32_t)product : SEARCH_FAR;
}

static uint32_t
larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static unsigned
rarity_of(const struct search_set *set)
{
	unsigned bits = search_set_rarity(set);

	if (set->before != SEARCH_FAR)
		return bits;
	return bits > FAR_COST ? bits - FAR_COST : 0;
}

static void
keep_better(struct search_set *best, const struct search_set *other)
{
	if (rarity_of(other) > rarity_of(best))
		*best = *other;
}

/* The set that holds only the empty string. */
static void
make_empty(struct search_set *set, uint32_t before)
{
	*set = (struct search_set){ .count = 1, .before = before };
}

/* Each string of set followed by each of next; false if there is no room. */
static bool
multiply_sets(struct search_set *set, const struct search_set *next)
{
	struct search_set product = { .before = set->before };

	for (size_t i = 0; i < set->count; i++)
		for (size_t j = 0; j < next->count; j++) {
			size_t head = set->length[i], tail = next->length[j];
			size_t n = product.count++;

			if (n == SEARCH_MOST || head + tail > SEARCH_LENGTH)
				return false;
			memcpy(product.bytes[n], set->bytes[i], head);
			memcpy(product.bytes[n] + head, next->bytes[j], tail);
			product.length[n] = (uint8_t)(head + tail);
		}
	*set = product;
	return true;
}

static bool
unite_sets(struct search_set *set, const struct search_set *other)
{
	if (set->count + other->count > SEARCH_MOST)
		return false;
	memcpy(set->length + set->count, other->length, other->count);
	memcpy(set->bytes + set->count, other->bytes,
	    other->count * sizeof other->bytes[0]);
	set->count += other->count;
	set->before = larger(set->before, other->before);
	return true;
}

void
literals_nothing(struct literals *literals)
{
	literals->exact = true;
	literals->longest = 0;
	literals->best.count = 0;
	literals->best.before = 0;
	make_empty(&literals->suffixes, 0);
}

void
literals_bytes(struct literals *literals, const struct byteset *set, bool fold)
{
	struct search_set *suffixes = &literals->suffixes;

	literals_nothing(literals);
	literals->longest = 1;
	suffixes->count = 0;
	for (unsigned b = 0; b < 256 && suffixes->count <= CHOICES; b++)
		if (set->bits[b / 8] == 0)
			b += 7;
		else if (byteset_has(set, (unsigned char)b) &&
		    !(fold && b >= 'A' && b <= 'Z')) {
			suffixes->length[suffixes->count] = 1;
			suffixes->bytes[suffixes->count++][0] =
			    (unsigned char)b;
		}
	if (suffixes->count == 0 || suffixes->count > CHOICES) {
		literals->exact = false;
		make_empty(suffixes, 1);
	}
}

void
literals_join(struct literals *literals, const struct literals *next)
{
	if (!next->exact ||
	    !multiply_sets(&literals->suffixes, &next->suffixes)) {
		struct search_set best = next->best;

		best.before = add(best.before, literals->longest);
		keep_better(&literals->best, &literals->suffixes);
		keep_better(&literals->best, &best);
		literals->suffixes = next->suffixes;
		literals->suffixes.before =
		    add(next->suffixes.before, literals->longest);
		literals->exact = false;
	}
	literals->longest = add(literals->longest, next->longest);
}

void
literals_either(struct literals *literals, const struct literals *other)
{
	struct literals second = *other;

	literals->longest = larger(literals->longest, other->longest);
	if (literals->exact && other->exact &&
	    unite_sets(&literals->suffixes, &other->suffixes))
		return;
	literals_finish(literals);
	literals_finish(&second);
	if (literals->best.count == 0 || second.best.count == 0 ||
	    !unite_sets(&literals->best, &second.best))
		literals->best.count = 0;
	literals->exact = false;
	make_empty(&literals->suffixes, literals->longest);
}

/* Forgets everything but the length of the longest match. */
static void
blur(struct literals *literals, uint32_t times)
{
	uint32_t longest = multiply(literals->longest, times);

	literals_nothing(literals);
	literals->exact = false;
	literals->longest = longest;
	literals->suffixes.before = longest;
}

void
literals_repeat(struct literals *literals, uint32_t least, uint32_t most)
{
	struct literals once = *literals;
	uint32_t times = 0;

	literals_nothing(literals);
	/* After SEARCH_LENGTH times, no string can grow any more. */
	for (; times < least && times < SEARCH_LENGTH; times++)
		literals_join(literals, &once);
	if (least == 0 && most == 1)
		literals_either(literals, &once);
	else if (most > times) {
		blur(&once, most == SEARCH_FAR ? most : most - times);
		literals_join(literals, &once);
	}
}

void
literals_finish(struct literals *literals)
{
	keep_better(&literals->best, &literals->suffixes);
}

void
literals_collect(struct literals *literals, struct search_union *strings)
{
	literals_finish(literals);
	search_add(strings, &literals->best);
}
