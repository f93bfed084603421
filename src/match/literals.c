#include "match/literals.h"

#include <string.h>

enum {
	CHOICES = 4, /* more bytes than these in a set are no literal */
	FAR_COST = 6, /* bits: such needles help from line to line only */
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
worth(const struct needles *set)
{
	unsigned bits = search_worth(set);

	if (set->before != SEARCH_FAR)
		return bits;
	return bits > FAR_COST ? bits - FAR_COST : 0;
}

static void
keep_better(struct needles *best, const struct needles *other)
{
	if (worth(other) > worth(best))
		*best = *other;
}

/* The set of the empty string alone. */
static void
make_empty(struct needles *set, uint32_t before)
{
	*set = (struct needles){ .count = 1, .before = before };
}

/* Each needle of set followed by each of next; false if that is too much. */
static bool
multiply_sets(struct needles *set, const struct needles *next)
{
	struct needles product = { .before = set->before };

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
unite_sets(struct needles *set, const struct needles *other)
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
	literals->whole = true;
	literals->longest = 0;
	literals->best.count = 0;
	literals->best.before = 0;
	make_empty(&literals->run, 0);
}

void
literals_bytes(struct literals *literals, const struct byteset *set, bool fold)
{
	struct needles *run = &literals->run;

	literals_nothing(literals);
	literals->longest = 1;
	run->count = 0;
	for (unsigned b = 0; b < 256 && run->count <= CHOICES; b++)
		if (set->bits[b / 8] == 0)
			b += 7;
		else if (byteset_has(set, (unsigned char)b) &&
		    !(fold && b >= 'A' && b <= 'Z')) {
			run->length[run->count] = 1;
			run->bytes[run->count++][0] = (unsigned char)b;
		}
	if (run->count == 0 || run->count > CHOICES) {
		literals->whole = false;
		make_empty(run, 1);
	}
}

void
literals_join(struct literals *literals, const struct literals *next)
{
	if (!next->whole || !multiply_sets(&literals->run, &next->run)) {
		struct needles best = next->best;

		best.before = add(best.before, literals->longest);
		keep_better(&literals->best, &literals->run);
		keep_better(&literals->best, &best);
		literals->run = next->run;
		literals->run.before = add(next->run.before, literals->longest);
		literals->whole = false;
	}
	literals->longest = add(literals->longest, next->longest);
}

void
literals_either(struct literals *literals, const struct literals *other)
{
	struct literals second = *other;

	literals->longest = larger(literals->longest, other->longest);
	if (literals->whole && other->whole &&
	    unite_sets(&literals->run, &other->run))
		return;
	literals_finish(literals);
	literals_finish(&second);
	if (literals->best.count == 0 || second.best.count == 0 ||
	    !unite_sets(&literals->best, &second.best))
		literals->best.count = 0;
	literals->whole = false;
	make_empty(&literals->run, literals->longest);
}

/* Nothing remains known but how long it can be. */
static void
blur(struct literals *literals, uint32_t times)
{
	uint32_t longest = multiply(literals->longest, times);

	literals_nothing(literals);
	literals->whole = false;
	literals->longest = longest;
	literals->run.before = longest;
}

void
literals_repeat(struct literals *literals, uint32_t least, uint32_t most)
{
	struct literals once = *literals;
	uint32_t times = 0;

	literals_nothing(literals);
	/* Beyond that many the needles are full anyway. */
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
	keep_better(&literals->best, &literals->run);
}

void
literals_sum(struct literals *literals, struct search_sum *sum)
{
	literals_finish(literals);
	search_add(sum, &literals->best);
}
