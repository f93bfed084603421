#include "store/budget_client.h"

#include <errno.h>
#include <string.h>
#include "sys/sys.h"
#include "text/number.h"

/* How often to look for a segment that is removed under us. */
#define TRIES 3

/*
 * How often to wait for one who is putting a new segment in its place, and how
 * long at first; then twice as long each time: a quarter of a second in all.
 */
#define TURNS 8
#define NAP NANOS_MS

/* One look into the segment, and what came of it. */
struct visit {
	struct budget_client *budget;
	nanos now;
	struct caller caller; /* as it is after that */
	struct effective_limits limits_now;
	/* to ask */
	bool retry;
	struct admission admission;
	/* to tell */
	struct attempt_news news;
};

void
budget_client_start(struct budget_client *budget, const struct share *share,
    const char *admitted, struct log *log)
{
	budget->caller = (struct caller){ .share = share };
	budget->caller.uses_breaker = admitted == NULL || share->key == NULL ||
	    strcmp(admitted, share->key) != 0;
	budget->share = share;
	budget->log = log;
	budget->alone = budget->warned = false;
	budget->turns = 0;
	budget->store.fd = -1;
}

/* Goes on with a segment that nobody else sees, and says why. */
static void
go_alone(struct budget_client *budget, const char *why, int error)
{
	const struct share *share = budget->share;
	struct origin origin = { .base = sys_now(CLOCK_BOOTTIME) };
	bool reasoned = error != 0;

	segment_store_close(&budget->store);
	budget->alone = true;
	segment_make(&budget->own, share->key, &share->terms, &origin);
	if (budget->warned)
		return;
	budget->warned = true;
	log_say(budget->log, share->required ? LOUDNESS_QUIET : LOUDNESS_PLAIN,
	    STRINGS("budget '", share->key, "': cannot be used: ", why,
		reasoned ? ": " : "", reasoned ? strerror(error) : "", ", in ",
		share->directory,
		share->required ? "" : "; counting for this command alone"));
}

static bool
open_shared(struct budget_client *budget)
{
	const struct share *share = budget->share;
	const char *why = segment_store_open(
	    &budget->store, share->directory, share->key, &share->terms, true);

	if (why != NULL)
		go_alone(budget, why, errno == EAGAIN ? 0 : errno);
	return why == NULL;
}

nanos
budget_client_settle(struct budget_client *budget)
{
	const struct share *share = budget->share;
	const char *why;

	if (share->key == NULL || budget->alone || budget->store.fd != -1)
		return 0;
	why = segment_store_open(
	    &budget->store, share->directory, share->key, &share->terms, true);
	if (why == NULL)
		return 0;
	if (errno == EAGAIN && budget->turns < TURNS)
		return NAP << budget->turns++;
	go_alone(budget, why, errno == EAGAIN ? 0 : errno);
	return 0;
}

bool
budget_client_concerned(struct budget_client *budget, bool retry, nanos now)
{
	return admission_concerns(&budget->caller, retry, now);
}

/*
 * Does work with the segment, whichever it is. Should that be taken away, work
 * may be broken off anywhere and is done anew with another one: so it begins by
 * setting what it sets of the visit, leaves the budget alone, and what it
 * leaves in the one that is lost does not matter.
 */
static void
use(struct budget_client *budget,
    void (*work)(struct segment *, const struct header *, void *), void *with)
{
	for (int i = 0; i < TRIES && !budget->alone; i++) {
		if (budget->store.fd == -1 && !open_shared(budget))
			break;
		if (segment_store_use(&budget->store, work, with))
			return;
	}
	if (!budget->alone)
		go_alone(budget, "removed again and again", 0);
	work(&budget->own, &budget->own.header, with);
}

/* Says that the numbers are not those that this invocation asked for. */
static void
say_differs(
    struct budget_client *budget, const struct effective_limits *limits_now)
{
	char ratio[NUMBER_ROOM], min[NUMBER_ROOM], window[NUMBER_ROOM];

	if (budget->warned)
		return;
	budget->warned = true;
	log_say(budget->log, LOUDNESS_PLAIN,
	    STRINGS("budget '", budget->share->key,
		"': shared with other numbers: ratio ",
		number_put_decimal(
		    ratio, limits_now->limits.ratio, WINDOW_RATIO_ONE),
		", min ", number_put(min, limits_now->limits.min), ", window ",
		number_put_decimal(window, limits_now->window, NANOS_SECOND),
		"s hold"));
}

/*
 * The same, for a visit. Words that make no sense may only be from long after
 * our clock was read, because we were stopped meanwhile: once more, then.
 */
static void
pay(struct visit *visit,
    void (*work)(struct segment *, const struct header *, void *))
{
	struct budget_client *budget = visit->budget;

	use(budget, work, visit);
	if (visit->limits_now.spoilt) {
		visit->now = sys_now(CLOCK_BOOTTIME);
		use(budget, work, visit);
	}
	if (visit->limits_now.spoilt && !budget->alone) {
		go_alone(budget, "no sense in its words", 0);
		use(budget, work, visit);
	}
	budget->caller = visit->caller;
	if (visit->limits_now.differs)
		say_differs(budget, &visit->limits_now);
}

static void
look(struct segment *segment, const struct header *header, void *with)
{
	struct visit *visit = with;

	visit->caller = visit->budget->caller;
	visit->limits_now =
	    admission_look(&visit->caller, segment, header, visit->now);
}

bool
budget_client_ready(struct budget_client *budget)
{
	struct visit visit = { .budget = budget,
		.now = sys_now(CLOCK_BOOTTIME) };

	if (!budget->share->required)
		return true;
	pay(&visit, look);
	return !budget->alone;
}

static void
ask(struct segment *segment, const struct header *header, void *with)
{
	struct visit *visit = with;

	visit->caller = visit->budget->caller;
	visit->admission = admission_ask(
	    &visit->caller, segment, header, visit->retry, visit->now);
	visit->limits_now = visit->admission.limits_now;
}

struct admission
budget_client_admit(struct budget_client *budget, bool retry, nanos now)
{
	struct visit visit = { .budget = budget, .now = now, .retry = retry };

	if (budget_client_concerned(budget, retry, now))
		pay(&visit, ask);
	return visit.admission;
}

static void
tell(struct segment *segment, const struct header *header, void *with)
{
	struct visit *visit = with;

	visit->caller = visit->budget->caller;
	visit->limits_now = admission_tell(
	    &visit->caller, segment, header, &visit->news, visit->now);
}

void
budget_client_tell(struct budget_client *budget, enum reason reason,
    const struct outcome *outcome, bool deposits, nanos now)
{
	struct visit visit = { .budget = budget,
		.now = now,
		.news = admission_result(reason, outcome, deposits) };

	if (budget->share->key != NULL)
		pay(&visit, tell);
}

static void
renew(struct segment *segment, const struct header *header, void *with)
{
	struct visit *visit = with;

	visit->caller = visit->budget->caller;
	admission_renew(&visit->caller, segment, header, visit->now);
}

nanos
budget_client_nap(const struct budget_client *budget, nanos now)
{
	return admission_nap(&budget->caller, now);
}

void
budget_client_renew(struct budget_client *budget, nanos now)
{
	struct visit visit = { .budget = budget, .now = now };

	if (budget_client_nap(budget, now) > 0)
		return;
	use(budget, renew, &visit);
	budget->caller = visit.caller;
}
