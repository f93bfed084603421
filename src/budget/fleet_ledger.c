#include "budget/fleet_ledger.h"

#include "text/number.h"
#include "budget/fleet_host.h"

#define COUNT_BITS 32

/* A mark as it was, and as it will be when the rows are told. */
struct mark {
	uint64_t told, next;
};

static int64_t
marked(uint64_t mark)
{
	return (int64_t)(mark >> COUNT_BITS);
}

/*
 * How many of the count in a slice the server has not been told of. Moves the
 * mark there if there are any.
 */
static int64_t
untold(struct mark *mark, int64_t epoch, int64_t count)
{
	int64_t more = count;

	if (epoch == marked(mark->told))
		more -= (int64_t)(mark->told & FLEET_MOST(COUNT_BITS));
	if (epoch < marked(mark->told) || more <= 0)
		return 0;
	mark->next = (uint64_t)epoch << COUNT_BITS | (uint64_t)count;
	return more;
}

/*
 * Seals the slices before the last one, so that no retry can be counted in
 * them after they were told. A success that is counted so late is lost.
 */
static void
seal(struct window *alone, int64_t last)
{
	static const struct window_limits none = { 0, 0 };
	struct window_sums sums;

	window_withdraw(alone, &none, last, &sums);
}

/* Whether the server has not counted this host for a window. */
static bool
is_first(uint64_t counted, int64_t present)
{
	int64_t epoch = (int64_t)counted - 1;

	return epoch < 0 || present - epoch >= WINDOW_SLICES ||
	    epoch - present > WINDOW_WORDS;
}

bool
fleet_ledger_has_elected(uint64_t elected, nanos slice, nanos now)
{
	uint64_t present = (uint64_t)fleet_word_epoch(slice, now) + 1;

	/* If it is a later slice, then the clock of this process is behind. */
	return elected >= present && elected - present <= WINDOW_WORDS;
}

bool
fleet_ledger_elect(struct fleet_ledger *ledger, nanos slice, nanos now)
{
	uint64_t present = (uint64_t)fleet_word_epoch(slice, now) + 1;
	uint64_t elected = atomic_load(&ledger->elected);

	return !fleet_ledger_has_elected(elected, slice, now) &&
	    atomic_compare_exchange_strong(&ledger->elected, &elected, present);
}

/* Fills in the rows of a tally, and moves the marks up to the last slice. */
static void
fill(struct fleet_tally *tally, const struct fleet_source *source,
    struct mark *successes, struct mark *alone, int64_t last)
{
	tally->count = 0;
	for (int64_t epoch = number_greater(last - WINDOW_SLICES, 0);
	     epoch <= last; epoch++) {
		nanos age = source->until - epoch * source->slice;
		struct fleet_row row = { .age = number_greater(age, 0) };

		row.successes = untold(successes, epoch,
		    window_slice(source->window, epoch).successes);
		row.alone = untold(
		    alone, epoch, window_slice(source->alone, epoch).retries);
		if (row.successes > 0 || row.alone > 0)
			tally->rows[tally->count++] = row;
	}
}

void
fleet_ledger_claim(struct fleet_ledger *ledger,
    const struct fleet_source *source, nanos now, struct fleet_tally *tally)
{
	int64_t present = fleet_word_epoch(source->slice, now), last;
	uint64_t counted = atomic_load(&ledger->counted);
	struct mark successes, alone;

	tally->first = is_first(fleet_word_rest(source->tag, counted), present);
	tally->counted = fleet_word_tagged(source->tag, (uint64_t)present + 1);
	tally->count = 0;
	tally->alone = tally->alone_next = 0;
	do {
		successes.told = atomic_load(&ledger->successes);
		alone.told = atomic_load(&ledger->alone);
		successes.next = successes.told;
		alone.next = alone.told;
		/* Clocks of other processes may be ahead. */
		last = number_greater(present,
		    number_greater(marked(successes.told), marked(alone.told)));
		tally->count = 0;
		if (last - present > WINDOW_WORDS || last >= WINDOW_EPOCHS)
			break;
		seal(source->alone, last);
		fill(tally, source, &successes, &alone, last);
	} while (successes.next != successes.told &&
	    !atomic_compare_exchange_strong(
		&ledger->successes, &successes.told, successes.next));
	tally->alone = alone.told;
	tally->alone_next = alone.next;
}

void
fleet_ledger_told(struct fleet_ledger *ledger, const struct fleet_tally *tally)
{
	uint64_t alone = tally->alone;
	uint64_t counted = atomic_load(&ledger->counted);

	if (alone != tally->alone_next)
		atomic_compare_exchange_strong(
		    &ledger->alone, &alone, tally->alone_next);
	if (tally->first)
		atomic_compare_exchange_strong(
		    &ledger->counted, &counted, tally->counted);
}
