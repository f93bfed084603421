#include "budget/fleet_ledger.h"

#include "text/number.h"

static int64_t
marked(uint64_t mark)
{
	return (int64_t)(mark >> 32);
}

/*
 * How many of the count in a slice the server has not been told of. Moves the
 * mark there if there are any.
 */
static int64_t
untold(struct fleet_mark *mark, int64_t epoch, int64_t count)
{
	int64_t more = count;

	if (epoch == marked(mark->was))
		more -= (int64_t)(mark->was & UINT32_MAX);
	if (epoch < marked(mark->was) || more <= 0)
		return 0;
	mark->next = (uint64_t)epoch << 32 | (uint64_t)count;
	return more;
}

bool
fleet_ledger_has_elected(uint64_t elected, nanos slice, nanos now)
{
	uint64_t present = (uint64_t)window_epoch(slice, now) + 1;

	/* If it is a later slice, then the clock of this process is behind. */
	return elected >= present && elected - present <= WINDOW_WORDS;
}

bool
fleet_ledger_elect(struct fleet_ledger *ledger, nanos slice, nanos now)
{
	uint64_t present = (uint64_t)window_epoch(slice, now) + 1;
	uint64_t elected = atomic_load(&ledger->elected);

	return !fleet_ledger_has_elected(elected, slice, now) &&
	    atomic_compare_exchange_strong(&ledger->elected, &elected, present);
}

void
fleet_ledger_claim(struct fleet_ledger *ledger,
    const struct host_config *config, const struct window *window,
    struct window *made_alone, nanos now, struct fleet_question *question)
{
	static const struct terms none = { 0, 0, 0 };
	int64_t present = window_epoch(config->slice, now), last;
	uint64_t counted =
	    fleet_host_rest(config->tag, atomic_load(&ledger->counted));
	int64_t since = present - ((int64_t)counted - 1);
	struct fleet_mark successes, *alone = &question->alone;
	struct window_sums sums;

	question->first =
	    counted == 0 || since >= WINDOW_SLICES || since < -WINDOW_WORDS;
	question->counted =
	    fleet_host_tagged(config->tag, (uint64_t)present + 1);
	do {
		successes.was = atomic_load(&ledger->successes);
		alone->was = atomic_load(&ledger->alone);
		successes.next = successes.was;
		alone->next = alone->was;
		/* Clocks of other processes may be ahead. */
		last = number_greater(present,
		    number_greater(marked(successes.was), marked(alone->was)));
		question->count = 0;
		if (last - present > WINDOW_WORDS || last >= WINDOW_EPOCHS)
			break;

		/* Seals the slices before the last one, so that no retry can be
		 * counted in them after they were told. A success that is
		 * counted so late is lost. */
		window_withdraw(made_alone, &none, last, &sums);

		for (int64_t epoch = number_greater(last - WINDOW_SLICES, 0);
		     epoch <= last; epoch++) {
			nanos age = question->until - epoch * config->slice;
			struct fleet_row row = { .age =
						     number_greater(age, 0) };

			row.successes = untold(&successes, epoch,
			    window_slice(window, epoch).successes);
			row.alone = untold(alone, epoch,
			    window_slice(made_alone, epoch).retries);
			if (row.successes > 0 || row.alone > 0)
				question->told[question->count++] = row;
		}
	} while (successes.next != successes.was &&
	    !atomic_compare_exchange_strong(
		&ledger->successes, &successes.was, successes.next));
}

void
fleet_ledger_told(
    struct fleet_ledger *ledger, const struct fleet_question *question)
{
	struct fleet_mark alone = question->alone;
	uint64_t counted = atomic_load(&ledger->counted);

	if (alone.was != alone.next)
		atomic_compare_exchange_strong(
		    &ledger->alone, &alone.was, alone.next);
	if (question->first)
		atomic_compare_exchange_strong(
		    &ledger->counted, &counted, question->counted);
}
