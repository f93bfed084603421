#include "budget/pace.h"

#include <string.h>
#include "text/hash.h"
#include "text/number.h"

/* What is measured is taken times this, and falls by that if only some are
 * refused. */
#define GROWTH 1.2
#define FALL 0.85

/* What remains of earlier measurements at an opening. */
#define FADING 0.7

/* The least time that is measured. */
#define BUSY_LEAST (NANOS_SECOND / 4)

/* The least time to the first probe. */
#define PROBE_LEAST (20 * NANOS_MS)
/* So many probes are enough for the named wait. */
#define PROBES 8
/* The longest gap if no wait was named. */
#define GAP_MOST (30 * NANOS_SECOND)

/* How much of a turn may be made up for. */
#define MADE_UP 0.3

/* A served attempt raises the pace by one part of so many, twice as much for
 * each so many that were accepted or each DOUBLING, up to so much. */
#define RAISE 120.0
#define RAISE_TWICE 16.0
#define RAISE_MOST 32.0
/* In this time the highest pace and what raises it double. */
#define DOUBLING (4 * NANOS_SECOND)

/* So many attempts begin when they come, after so many refusals, later more. */
#define TRIAL 8
/* If no more of them are refused, they may be by chance. */
#define UNDECIDED 6
#define SUSPECTS 4
#define SUSPECTS_LATER 8
#define SUSPECTS_SLOWEST 16
/* Of no use: looked at again after so many refusals. */
#define AGAIN 16

/* A probe that is not refused for so long was let in. */
#define LET_IN (NANOS_SECOND / 4)

/* Openings without a window, after a probe was served that should not be. */
#define LEAKY 4

/* Closed phases without a probe, after a punishment. */
#define PUNISHED 4

/* Forgotten after so long without an event. */
#define FORGOTTEN NANOS_MINUTE

/* All who wait look so often in a second, or so often for each turn. */
#define LOOKS 50.0
#define LOOKS_A_TURN 3.0
#define NAP_MOST (30 * NANOS_SECOND)
/* A look that is this part of the time to the turn away is early enough. */
#define NAP_PART 16
/* No more processes wait. */
#define WAITING_MOST 1e9
/* The mean nap is that of so many looks. */
#define NAPS 8

/* No instant is further away: the named wait, by chance four of them more. */
#define FURTHEST (5 * PACE_WAIT_MOST + NANOS_MINUTE)
/* No count is higher: twice as many fit into one. */
#define COUNT_MOST (INT32_MAX / 2)
/* A faster pace has no meaning, and a process that writes one is mistaken. */
#define RATE_MOST 1e6

static nanos
as_nanos(double length)
{
	return length < (double)FURTHEST ? (nanos)length : FURTHEST;
}

static double
seconds(nanos length)
{
	return (double)length / (double)NANOS_SECOND;
}

/* A turn, of one attempt. */
static nanos
turn(double rate)
{
	return as_nanos((double)NANOS_SECOND / rate);
}

/* Uniform in [0, 1). */
static double
chance(uint64_t *random)
{
	return (double)(hash_draw(random) >> 11) * 0x1p-53;
}

static double
lesser(double a, double b)
{
	return a < b ? a : b;
}

static double
greater(double a, double b)
{
	return a > b ? a : b;
}

/* 2 to this power; between whole ones on a line. */
static double
doubled(double times)
{
	double power = 1;

	while (times >= 1) {
		power *= 2;
		times--;
	}
	return power * (1 + times);
}

/* By how much gaps grow if so many, from the first one on, fill the wait: at
 * least twice. */
static double
growth(nanos wait, nanos gap)
{
	double low = 2, high = 16;

	for (int i = 0; i < 20; i++) {
		double middle = (low + high) / 2, filled = (double)gap;

		for (int probe = 0; probe < PROBES; probe++)
			filled *= middle;
		*(filled < (double)wait ? &low : &high) = middle;
	}
	return low;
}

/* The last wait that was named, or a second. */
static nanos
wait_of(const struct pace *pace)
{
	return pace->wait > 0 ? pace->wait : NANOS_SECOND;
}

/* Below 0, if one began in the instant of the opening, but before it, and was
 * refused. */
static int32_t
accepted(const struct pace *pace)
{
	return pace->begun - pace->refused;
}

/* One more, if it counts. */
static int32_t
one_more(int32_t count, bool counts)
{
	return count + (counts && count < COUNT_MOST);
}

/* Somebody waited or ran in this time. */
static void
use(struct pace *pace, nanos from, nanos to)
{
	pace->busy += number_greater(to - number_greater(from, pace->edge), 0);
	pace->edge = number_greater(pace->edge, to);
}

void
pace_use(struct pace *pace, nanos now, nanos nap)
{
	use(pace, now, now + nap);
}

nanos
pace_nap(struct looks *looks, nanos now, nanos next, nanos least, double turns,
    uint64_t *random)
{
	double mean, gap;
	nanos interval, nap;

	if (looks->last < 0 || looks->nap < 0 || looks->nap > NAP_MOST ||
	    !(looks->waiting >= 0 && looks->waiting <= WAITING_MOST))
		*looks = (struct looks){ .last = now };
	gap = (double)number_greater(now - looks->last, 0);

	/* By Little's law: so many wait as look in the mean time of a nap. */
	looks->waiting *= (double)looks->nap / ((double)looks->nap + gap + 1);
	looks->waiting = lesser(looks->waiting + 1, WAITING_MOST);
	mean = looks->waiting * (double)NANOS_SECOND /
	    greater(LOOKS, LOOKS_A_TURN * turns);
	interval = number_greater(
	    number_greater(as_nanos(mean), least), next / NAP_PART);
	interval = number_lesser(
	    as_nanos((double)interval * (0.5 + chance(random))), NAP_MOST);
	nap = number_lesser(
	    number_add(next, as_nanos(mean * chance(random))), interval);
	looks->last = now;
	looks->nap += (nap - looks->nap) / NAPS;
	return nap;
}

/* Whether nobody has asked and nothing has ended for long, or the last event
 * was far in the future: that is another clock. */
static bool
is_over(const struct pace *pace, nanos now)
{
	nanos quiet =
	    number_greater(number_multiply(wait_of(pace), 2), FORGOTTEN);

	return pace->seen - now > FORGOTTEN ||
	    (now - pace->seen > quiet && now >= pace->until);
}

/* Forgets all but that a pace was suspected to be of no use. */
static void
forget(struct pace *pace)
{
	struct pace empty = { .suspected = pace->suspected,
		.series = pace->series + 1,
		.trials = pace->trials };

	*pace = empty;
}

/* Begins to count anew at this pace. */
static void
begin_series(struct pace *pace)
{
	pace->series++;
	pace->pace_begun = pace->pace_refused = 0;
}

/* The share of attempts at this pace that were refused. */
static double
share_refused(const struct pace *pace)
{
	return (double)pace->pace_refused /
	    (double)number_greater(pace->pace_begun, 1);
}

/* Lets some attempts begin at once. */
static void
begin_trial(struct pace *pace)
{
	pace->trying = true;
	pace->trials++;
	pace->trial_begun = pace->trial_refused = pace->trial_ended = 0;
}

/* Sets the pace; some: because only some are refused. One that has fallen to a
 * quarter and is still refused may be of no use, or one that cannot fall any
 * more, although only some are refused: some attempts begin at once to see. */
static void
set_rate(struct pace *pace, double rate, bool some)
{
	double least = 1 / seconds(number_greater(wait_of(pace), NANOS_SECOND));
	int32_t enough = pace->suspected ? SUSPECTS_LATER : SUSPECTS;
	bool falls, ends;

	rate = lesser(rate, RATE_MOST);
	pace->rate = pace->base = greater(rate, least);
	pace->highest = greater(pace->highest, rate);
	falls = rate < pace->highest / 4 && pace->pace_refused >= enough;
	ends = some && rate < least && pace->pace_refused >= SUSPECTS_SLOWEST;
	/* Where most are refused, the pace is still too fast. */
	if (pace->quota != 0 || (!falls && !ends) ||
	    2 * pace->pace_refused >= pace->pace_begun)
		return;
	pace->share = share_refused(pace);
	begin_trial(pace);
	pace->suspected = true;
	pace->highest = 0;
	begin_series(pace);
}

/* One of the attempts that began at once has ended. */
static void
end_trial(struct pace *pace, struct pace_attempt *mine, bool refused)
{
	uint32_t trial = mine->trial;
	double share;

	mine->trial = 0;
	if (!pace->trying || trial != pace->trials + 1)
		return;
	pace->trial_refused = one_more(pace->trial_refused, refused);
	pace->trial_ended = one_more(pace->trial_ended, true);
	if (pace->trial_ended < TRIAL)
		return;
	pace->trying = false;
	share = (double)pace->trial_refused / TRIAL;
	if (share <= lesser(pace->share * 1.25 + 0.2, (1 + pace->share) / 2)) {
		pace->useless = true;
		pace->rate = 0;
		pace->closed = false;
	} else if (pace->trial_refused <= UNDECIDED) {
		begin_trial(pace);
	}
}

/* Opens the key, and measures. */
static void
open(struct pace *pace, nanos now, bool by_clock)
{
	nanos ahead = number_greater(pace->edge - now, 0);
	nanos named = pace->until - pace->shut;
	int32_t count = accepted(pace);
	nanos busy = number_greater(pace->busy - ahead, BUSY_LEAST);
	bool late =
	    by_clock || (pace->until != 0 && now >= pace->shut + named / 4 * 3);
	bool mute = pace->until == 0 && now - pace->shut >= NANOS_SECOND;
	bool some = !late && pace->probes == 0 &&
	    2 * (pace->votes_refused - 1) <= pace->votes_served;
	int32_t need = pace->quota != 0 ? 1 : mute ? 3 : 2;
	nanos half = pace->shut + (now - pace->shut) / 2;
	bool alone;

	pace->blind =
	    pace->quota == 0 && (pace->idle || (by_clock && pace->last < half));
	/* Where only one was refused, and waited, there is nothing to measure.
	 */
	alone = pace->blind && pace->votes_refused == 1 && pace->probes == 0;
	if ((mute || (late && named >= NANOS_SECOND)) &&
	    (pace->probes >= need || pace->punished > 0) && count > 1 &&
	    pace->leaky == 0) {
		pace->quota = count;
		pace->period = now - pace->opened;
	} else if (!late) {
		pace->quota = 0;
	}
	if (pace->leaky > 0)
		pace->leaky--;
	if (by_clock && count > 0 && pace->punished > 0)
		pace->punished--;
	pace->old += count;
	pace->old_busy += (double)busy;
	if (some && pace->rate > 0)
		set_rate(pace, pace->rate * FALL, true);
	else if (count > 0 && !some && !alone)
		set_rate(pace,
		    pace->old * (double)NANOS_SECOND / pace->old_busy * GROWTH,
		    false);
	pace->old *= FADING;
	pace->old_busy *= FADING;
	pace->begun = pace->refused = pace->served = pace->probes = 0;
	pace->asked = 0;
	pace->busy = ahead;
	pace->opened = now;
	pace->closed = false;
	pace->free = now + (pace->rate > 0 ? turn(pace->rate) : 0);
}

/* The first half of whether an attempt may begin: what the clock changes. */
static void
tick(struct pace *pace, nanos now)
{
	if (pace->closed && pace->until != 0 && now >= pace->until)
		open(pace, now, true);
	/* A probe that takes longer than a refusal was let in. */
	if (pace->closed && pace->asked != 0 &&
	    now > pace->asked + number_greater(LET_IN, 4 * pace->slowest))
		open(pace, now, false);
}

/* Whether a probe begins. If so, plans the next one; else returns when the key
 * is to be looked at again. */
static nanos
probe(struct pace *pace, nanos now)
{
	if (pace->punished > 0 && pace->until != 0)
		return pace->until;
	if (now < pace->probe)
		return pace->probe;
	if (now - pace->probe >
	    number_greater((now - pace->shut) / 2, NANOS_SECOND))
		pace->idle = true;
	/* A quiet window that names no time is asked at halves of what is left
	 * of its period, then after gaps that double. */
	if (pace->probes > PROBES / 2 && pace->factor == 1)
		pace->factor = 2;
	pace->gap = as_nanos((double)pace->gap * pace->factor);
	if (pace->until == 0)
		pace->gap = number_lesser(pace->gap, GAP_MOST);
	pace->probe = now + pace->gap;
	if (pace->until != 0)
		pace->probe = number_lesser(pace->probe, pace->until);
	return now;
}

/* Whether an attempt begins in an open key that has a pace, in the same way. */
static nanos
take_turn(struct pace *pace, struct pace_attempt *mine, nanos now)
{
	nanos made_up;

	if (pace->trying && pace->trial_begun < TRIAL) {
		mine->trial = pace->trials + 1;
		pace->trial_begun++;
		return now;
	}
	if (pace->begun < pace->quota &&
	    accepted(pace) - pace->served <= pace->served)
		return now;
	if (now < pace->free)
		return pace->free;
	made_up = (nanos)((double)turn(pace->rate) * MADE_UP);
	pace->free =
	    number_greater(pace->free, now - made_up) + turn(pace->rate);
	return now;
}

/* Asks for an attempt, and counts it if it begins. */
static nanos
ask(struct pace *pace, struct pace_attempt *mine, nanos now)
{
	nanos next = now;

	*mine = (struct pace_attempt){ .began = 0 };
	tick(pace, now);
	if (pace->closed)
		next = probe(pace, now);
	else if (!pace->useless && pace->rate > 0)
		next = take_turn(pace, mine, now);
	if (next > now)
		return next - now;
	if (pace->opened == 0)
		pace->opened = now;
	pace->begun = one_more(pace->begun, true);
	mine->began = now;
	mine->probe = pace->closed;
	mine->early = pace->closed &&
	    now < pace->shut + (pace->until - pace->shut) / 4 * 3;
	if (!pace->closed) {
		pace->pace_begun = one_more(pace->pace_begun, true);
		mine->series = pace->series + 1;
	} else if (pace->asked == 0) {
		pace->asked = now;
	}
	return 0;
}

/* Raises the pace, for an attempt that was served beyond the quota. */
static void
raise(struct pace *pace, nanos now)
{
	double beyond = accepted(pace) - pace->quota, most, grown;
	double since = (double)(now - pace->opened) / DOUBLING;

	if (pace->rate == 0 || beyond < 0)
		return;
	grown = greater(beyond / RAISE_TWICE, since);
	grown = pace->blind ? RAISE_MOST : doubled(lesser(grown, 5));
	grown = pace->rate * (1 + grown / RAISE);
	most = pace->base * doubled(lesser((pace->blind ? 3 : 1) + since, 20));
	pace->rate =
	    lesser(lesser(grown, greater(most, pace->rate)), RATE_MOST);
}

static void
serve(struct pace *pace, struct pace_attempt *mine, nanos now)
{
	use(pace, mine->began, now);
	end_trial(pace, mine, false);
	if (pace->useless)
		return;
	if (mine->early) {
		pace->leaky = LEAKY;
		pace->quota = 0;
	}
	if (!pace->closed) {
		pace->served =
		    one_more(pace->served, mine->began >= pace->opened);
		raise(pace, now);
		return;
	}
	pace->votes_served =
	    one_more(pace->votes_served, mine->began >= pace->first);
	if (mine->began >= pace->last) {
		open(pace, now, false);
	} else if (pace->votes_served > 2 * pace->votes_refused) {
		pace->closed = false;
		pace->free = now;
		pace->asked = 0;
	}
}

/* Whether a limit of no rate has become one: clearly more are refused. */
static bool
becomes_useful(struct pace *pace)
{
	double share = share_refused(pace);

	if (pace->pace_refused < AGAIN)
		return false;
	begin_series(pace);
	return share > lesser(1.5 * pace->share + 0.1, (1 + pace->share) / 2);
}

/* What a refusal says while the key is closed. until: the instant that it
 * names, or 0. */
static void
refuse_closed(struct pace *pace, const struct pace_attempt *mine, nanos until)
{
	pace->votes_refused =
	    one_more(pace->votes_refused, mine->began >= pace->first);
	if (mine->probe) {
		pace->probes = one_more(pace->probes, true);
		pace->asked = 0;
		if (pace->latest != 0 && until > pace->latest + NANOS_SECOND)
			pace->punished = PUNISHED;
	}
	if (!mine->probe || pace->latest == 0)
		pace->latest = number_greater(pace->latest, until);
	if (until == 0)
		return;
	if (pace->punished > 0)
		pace->until = number_greater(pace->until, until);
	else if (pace->until == 0 || until < pace->until)
		pace->until = until;
}

/* Closes the key after a refusal that names wait, or none. */
static void
close(struct pace *pace, const struct pace_attempt *mine, nanos now, nanos wait,
    bool strict, uint64_t *random)
{
	nanos until = wait > 0 ? now + wait : 0;

	if (pace->punished > 0 && until != 0 && !strict && accepted(pace) <= 0)
		until += (nanos)(4 * (double)wait * chance(random));
	pace->closed = true;
	pace->shut = now;
	pace->until = pace->latest = until;
	pace->probes = 0;
	pace->asked = 0;
	pace->first = mine->began;
	pace->votes_served = 0;
	pace->votes_refused = 1;
	pace->factor = 2;
	pace->idle = false;
	if (pace->quota != 0 && wait > 0) {
		/* Many name a second, the least that Retry-After can say,
		 * whatever they mean. */
		pace->gap = accepted(pace) <= 0 && wait <= NANOS_SECOND
		    ? wait
		    : wait / 2;
	} else if (pace->quota != 0) {
		pace->gap = number_greater(pace->opened + pace->period - now,
				NANOS_SECOND / 10) /
		    2;
		pace->probes = 2;
		pace->factor = 1;
	} else {
		pace->gap = PROBE_LEAST;
		if (pace->rate > 0)
			pace->gap =
			    number_greater(turn(pace->rate) / 2, PROBE_LEAST);
		if (wait > 0) {
			pace->gap = number_lesser(pace->gap, wait / 8);
			pace->factor = growth(wait, pace->gap);
		}
	}
	pace->probe = now + pace->gap;
}

static void
refuse(struct pace *pace, struct pace_attempt *mine,
    const struct pace_event *event, nanos now, uint64_t *random)
{
	nanos wait = number_lesser(event->wait, PACE_WAIT_MOST);

	use(pace, mine->began, now + number_lesser(event->own, PACE_WAIT_MOST));
	end_trial(pace, mine, true);
	pace->pace_refused =
	    one_more(pace->pace_refused, mine->series == pace->series + 1);
	if (pace->useless && !becomes_useful(pace))
		return;
	pace->useless = false;
	pace->refused = one_more(pace->refused, mine->began >= pace->opened);
	pace->slowest = number_greater(pace->slowest, now - mine->began);
	if (event->strict)
		pace->punished = PUNISHED;
	if (pace->closed)
		refuse_closed(pace, mine, wait > 0 ? now + wait : 0);
	if (wait > 0)
		pace->wait = wait;
	/* Those that were under way do not close it again. */
	if (mine->began < pace->last)
		return;
	pace->last = now;
	if (!pace->closed)
		close(pace, mine, now, wait, event->strict, random);
}

/* Takes back that an attempt began. */
static void
take_back(struct pace *pace, struct pace_attempt *mine)
{
	if (mine->began >= pace->opened && pace->begun > 0)
		pace->begun--;
	if (mine->series == pace->series + 1 && pace->pace_begun > 0)
		pace->pace_begun--;
	if (pace->trying && mine->trial == pace->trials + 1 &&
	    pace->trial_begun > 0)
		pace->trial_begun--;
	if (mine->probe && pace->closed)
		pace->asked = 0;
}

nanos
pace_step(struct pace *pace, struct pace_attempt *mine,
    const struct pace_event *event, uint64_t *random)
{
	nanos now, next = 0;

	if (event->kind == PACE_ASKED && is_over(pace, event->now))
		forget(pace);
	now = number_greater(number_greater(event->now, pace->seen), 1);
	if (event->kind == PACE_ASKED) {
		next = ask(pace, mine, now);
	} else if (mine->began != 0) {
		if (event->kind == PACE_SERVED)
			serve(pace, mine, now);
		else if (event->kind == PACE_REFUSED)
			refuse(pace, mine, event, now, random);
		else
			take_back(pace, mine);
		*mine = (struct pace_attempt){ .began = 0 };
	}
	pace->seen = now;
	return next;
}

bool
pace_is_corrupt(const struct pace *pace, nanos now)
{
	const nanos instants[] = { pace->seen, pace->opened, pace->edge,
		pace->shut, pace->until, pace->latest, pace->last, pace->first,
		pace->probe, pace->asked, pace->free, pace->gap, pace->slowest,
		pace->wait, pace->period, pace->busy };
	const double numbers[] = { pace->old_busy, pace->old, pace->factor,
		pace->rate, pace->base, pace->highest, pace->share };
	const int32_t counts[] = { pace->begun, pace->refused, pace->served,
		pace->quota, pace->votes_served, pace->votes_refused,
		pace->probes, pace->punished, pace->pace_begun,
		pace->pace_refused, pace->trial_begun, pace->trial_refused,
		pace->trial_ended };

	for (size_t i = 0; i < sizeof instants / sizeof *instants; i++)
		if (instants[i] < 0 || instants[i] > number_add(now, FURTHEST))
			return true;
	/* That also holds for what is no number. */
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (!(numbers[i] >= 0 && numbers[i] <= 0x1p80))
			return true;
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		if (counts[i] < 0 || counts[i] > COUNT_MOST)
			return true;
	return pace->wait > PACE_WAIT_MOST || pace->rate > RATE_MOST;
}

struct pace_view
pace_look(const struct pace *pace, nanos now)
{
	struct pace_view view = { .closed = false };

	if (is_over(pace, now))
		return view;
	view.closed = pace->closed;
	view.rate = pace->rate;

	if (pace->closed && pace->until > now)
		view.held = pace->until - now;
	if (pace->quota > 0) {
		view.quota = pace->quota;
		view.period = pace->period;
	}
	return view;
}
