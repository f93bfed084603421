#include "match/literals.h"

#include <string.h>

enum {
	CHOICES = 4, /* more bytes than these in a set are no literal */
	FAR_COST = 6, /* bits: such needles help from line to line only */
};

static uint32_t
add(uint32_t a, uint32_t b)
{
	return a < NEEDLE_FAR - b ? a + b : NEEDLE_FAR;
}

static uint32_t
multiply(uint32_t a, uint32_t b)
{
	uint64_t product = (uint64_t)a * b;

	if (a != 0 && b == NEEDLE_FAR)
		return NEEDLE_FAR;
	return product < NEEDLE_FAR ? (uint32_t)product : NEEDLE_FAR;
}

static uint32_t
larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static unsigned
worth(const struct needles *set)
{
	unsigned bits = needle_worth(set);

	if (set->before != NEEDLE_FAR)
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

			if (n == NEEDLE_MOST || head + tail > NEEDLE_LENGTH)
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
	if (set->count + other->count > NEEDLE_MOST)
		return false;
	memcpy(set->length + set->count, other->length, other->count);
	memcpy(set->bytes + set->count, other->bytes,
	    other->count * sizeof other->bytes[0]);
	set->count += other->count;
	set->before = larger(set->before, other->before);
	return true;
}

void
hint_nothing(struct hint *hint)
{
	hint->whole = true;
	hint->longest = 0;
	hint->best.count = 0;
	hint->best.before = 0;
	make_empty(&hint->run, 0);
}

void
hint_bytes(struct hint *hint, const struct bytes *set, bool fold)
{
	struct needles *run = &hint->run;

	hint_nothing(hint);
	hint->longest = 1;
	run->count = 0;
	for (unsigned b = 0; b < 256 && run->count <= CHOICES; b++)
		if (set->bits[b / 8] == 0)
			b += 7;
		else if (bytes_has(set, (unsigned char)b) &&
		    !(fold && b >= 'A' && b <= 'Z')) {
			run->length[run->count] = 1;
			run->bytes[run->count++][0] = (unsigned char)b;
		}
	if (run->count == 0 || run->count > CHOICES) {
		hint->whole = false;
		make_empty(run, 1);
	}
}

void
hint_join(struct hint *hint, const struct hint *next)
{
	if (!next->whole || !multiply_sets(&hint->run, &next->run)) {
		struct needles best = next->best;

		best.before = add(best.before, hint->longest);
		keep_better(&hint->best, &hint->run);
		keep_better(&hint->best, &best);
		hint->run = next->run;
		hint->run.before = add(next->run.before, hint->longest);
		hint->whole = false;
	}
	hint->longest = add(hint->longest, next->longest);
}

void
hint_either(struct hint *hint, const struct hint *other)
{
	struct hint second = *other;

	hint->longest = larger(hint->longest, other->longest);
	if (hint->whole && other->whole && unite_sets(&hint->run, &other->run))
		return;
	hint_finish(hint);
	hint_finish(&second);
	if (hint->best.count == 0 || second.best.count == 0 ||
	    !unite_sets(&hint->best, &second.best))
		hint->best.count = 0;
	hint->whole = false;
	make_empty(&hint->run, hint->longest);
}

/* Nothing remains known but how long it can be. */
static void
blur(struct hint *hint, uint32_t times)
{
	uint32_t longest = multiply(hint->longest, times);

	hint_nothing(hint);
	hint->whole = false;
	hint->longest = longest;
	hint->run.before = longest;
}

void
hint_repeat(struct hint *hint, uint32_t least, uint32_t most)
{
	struct hint once = *hint;
	uint32_t times = 0;

	hint_nothing(hint);
	/* Beyond that many the needles are full anyway. */
	for (; times < least && times < NEEDLE_LENGTH; times++)
		hint_join(hint, &once);
	if (least == 0 && most == 1)
		hint_either(hint, &once);
	else if (most > times) {
		blur(&once, most == NEEDLE_FAR ? most : most - times);
		hint_join(hint, &once);
	}
}

void
hint_finish(struct hint *hint)
{
	keep_better(&hint->best, &hint->run);
}

void
hint_sum(struct hint *hint, struct needle_sum *sum)
{
	hint_finish(hint);
	needle_add(sum, &hint->best);
}
