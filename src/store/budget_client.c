#include "store/budget_client.h"

#include <errno.h>
#include <string.h>
#include "sys/error.h"
#include "sys/sys.h"
#include "text/number.h"
#include "text/hash.h"

/* How often to act on a segment that is removed meanwhile, or corrupt, before
 * the process goes on alone. */
#define PASSES 3

/*
 * How often to wait for a process that is replacing the segment, and how long
 * at first; each wait is twice as long: a quarter of a second in all.
 */
#define WAITS 8
#define FIRST_WAIT NANOS_MS

void
budget_client_start(struct budget_client *budget,
    const struct budget_config *config, const struct budget_outer *outer,
    uint64_t seed, struct log *log)
{
	struct strview turns =
	    strview_of(outer->turns == NULL ? "" : outer->turns);

	budget->caller = (struct caller){ .config = config, .random = seed };
	budget->caller.uses_breaker = config->key == NULL ||
	    outer->admitted == NULL ||
	    strcmp(outer->admitted, config->key) != 0;
	while (config->key != NULL && turns.length > 0) {
		struct strview turn = strview_part(&turns, '\n');

		budget->caller.nested |= turn.length == strlen(config->key) &&
		    memcmp(turn.at, config->key, turn.length) == 0;
	}
	budget->log = log;
	budget->private = budget->said_terms = budget->said_rate = false;
	budget->waits = 0;
	budget->store = (struct segment_store){ .fd = -1 };
}

/* Continues with a segment of this process, and says why once. */
static void
go_private(struct budget_client *budget, struct failure failure)
{
	const struct budget_config *config = budget->caller.config;
	static struct segment unshared;
	struct origin origin = { .base = sys_now(CLOCK_BOOTTIME) };
	bool explained = failure.error == 0 || failure.error == EAGAIN;
	bool known = budget->private;

	segment_store_close(&budget->store);
	budget->private = true;
	budget->caller.paid = 0;
	segment_make(&unshared, config->key, &config->terms, &origin);
	budget->store.segment = &unshared;
	budget->store.header = unshared.header;
	if (known)
		return;
	log_say(budget->log, config->required ? LOUDNESS_QUIET : LOUDNESS_PLAIN,
	    STRINGS("budget '", config->key, "': cannot be used: ", failure.why,
		explained ? "" : ": ",
		explained ? "" : error_words(failure.error), ", in ",
		config->directory,
		config->required ? "" : "; counting for this command alone"));
}

/* Opens the shared segment, unless it is open or cannot be used. */
static struct failure
open_shared(struct budget_client *budget)
{
	const struct budget_config *config = budget->caller.config;

	if (config->key == NULL || budget->private || budget->store.fd != -1)
		return NO_FAILURE;
	budget->caller.paid = 0; /* if any, in a segment that is gone */
	return segment_store_open(
	    &budget->store, config->directory, config->key, &config->terms);
}

nanos
budget_client_open(struct budget_client *budget)
{
	struct failure failure = open_shared(budget);

	if (failure.error == EAGAIN && budget->waits < WAITS)
		return FIRST_WAIT << budget->waits++;
	if (failure.why != NULL)
		go_private(budget, failure);
	return 0;
}

/* Says once that the limits in force are others than the user's. */
static void
say_terms(struct budget_client *budget, const struct terms *terms)
{
	char ratio[NUMBER_ROOM], min[NUMBER_ROOM], window[NUMBER_ROOM];

	if (budget->said_terms)
		return;
	budget->said_terms = true;
	log_warn(budget->log,
	    STRINGS("budget '", budget->caller.config->key,
		"': already in use with other limits; using ratio ",
		number_put_decimal(ratio, terms->ratio, WINDOW_RATIO_ONE),
		", min ", number_put(min, terms->min), ", window ",
		number_put_decimal(window, terms->window, NANOS_SECOND), "s"));
}

/* Says once that a smaller --rate is in force than the user's. */
static void
say_rate(struct budget_client *budget)
{
	char room[RATE_ROOM];

	if (budget->said_rate)
		return;
	budget->said_rate = true;
	log_warn(budget->log,
	    STRINGS("budget '", budget->caller.config->key,
		"': already in use with another --rate; using ",
		rate_put(room, &budget->caller.rate)));
}

/*
 * Acts on the segment. Returns why that means nothing, or NULL: the segment was
 * removed, and what was done to the caller is undone; or it is corrupt.
 */
static const char *
act_once(struct budget_client *budget, nanos now, budget_act *act, void *with)
{
	static const char removed[] = "removed again and again";
	struct segment_store *store = &budget->store;
	const struct header *header = &store->header;
	struct caller *caller = &budget->caller, before;
	struct visit visit = { .caller = caller, .header = header, .now = now };
	struct failure failure = open_shared(budget);
	bool differs, sound;
	nanos seen;

	if (failure.why != NULL)
		go_private(budget, failure);
	if (!segment_store_enter(store))
		return removed;
	before = *caller;
	visit.segment = store->segment;
	visit.age = segment_age(header, now);
	seen = segment_seen(visit.segment);
	/* Another process has read the clock since. Otherwise the clock is
	 * another one, or was set back: by it nobody knows how long to wait. */
	if (seen > visit.age) {
		visit.now = sys_now(CLOCK_BOOTTIME);
		visit.age = segment_age(header, visit.now);
		if (seen > visit.age)
			segment_forget(visit.segment);
	}
	visit.terms = segment_agree(
	    visit.segment, header, &caller->config->terms, &differs);
	visit.next = window_next(&visit.segment->window, &visit.terms,
	    header->slice, visit.age, &visit.sums);
	if (caller->fleet != NULL) {
		caller->fleet->slice = header->slice;
		caller->fleet->random = hash_draw(&caller->fleet->seed);
	}
	sound = visit.terms.ratio >= 0 && visit.next >= 0;
	if (sound)
		act(&visit, with);
	if (!segment_store_leave(store)) {
		*caller = before;
		return removed;
	}
	if (!sound)
		return "segment is corrupt";
	if (differs)
		say_terms(budget, &visit.terms);
	if (caller->outpaced)
		say_rate(budget);
	return NULL;
}

void
budget_client_visit(
    struct budget_client *budget, nanos now, budget_act *act, void *with)
{
	const char *why;
	int pass = 1;

	if (budget->caller.config->key == NULL)
		return;
	for (; (why = act_once(budget, now, act, with)) != NULL; pass++) {
		if (pass >= PASSES)
			go_private(budget, REFUSED(why));
		/* The process may have been stopped since it read the clock,
		 * and so takes the segment for one of the future. */
		now = sys_now(CLOCK_BOOTTIME);
	}
}

static void
look(const struct visit *visit, void *unused)
{
	(void)visit;
	(void)unused;
}

bool
budget_client_ready(struct budget_client *budget)
{
	if (!budget->caller.config->required)
		return true;
	budget_client_visit(budget, sys_now(CLOCK_BOOTTIME), look, NULL);
	return !budget->private;
}

/* An attempt that has ended, and what the budget says about its retry. */
struct told {
	const struct attempt_end *end;
	struct admission foreseen;
};

static void
tell(const struct visit *visit, void *with)
{
	struct told *told = with;

	told->foreseen = admission_tell(visit, told->end);
}

struct admission
budget_client_tell(
    struct budget_client *budget, const struct attempt_end *end, nanos now)
{
	struct told told = { end, { .answer = ADMISSION_GRANTED } };

	budget_client_visit(budget, now, tell, &told);
	return told.foreseen;
}

static void
foresee(const struct visit *visit, void *with)
{
	struct told *told = with;

	told->foreseen = admission_foresee(visit, told->end->delay);
}

struct admission
budget_client_foresee(struct budget_client *budget, nanos at, nanos now)
{
	struct attempt_end end = { .delay = number_greater(at - now, 0) };
	struct told told = { &end, { .answer = ADMISSION_GRANTED } };

	budget_client_visit(budget, now, foresee, &told);
	return told.foreseen;
}

static void
give_up(const struct visit *visit, void *unused)
{
	(void)unused;
	segment_count(visit->segment, TOTAL_GAVE_UP);
}

void
budget_client_give_up(struct budget_client *budget, nanos now)
{
	budget_client_visit(budget, now, give_up, NULL);
}
