#include "store/budget_client.h"

#include <errno.h>
#include <string.h>
#include "budget/hold.h"
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
    const struct budget_config *config, const char *admitted, struct log *log)
{
	budget->caller = (struct caller){ .config = config };
	budget->caller.uses_breaker = admitted == NULL || config->key == NULL ||
	    strcmp(admitted, config->key) != 0;
	budget->log = log;
	budget->private = budget->said_terms = false;
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

	segment_store_close(&budget->store);
	budget->private = true;
	budget->caller.paid = 0;
	segment_make(&unshared, config->key, &config->terms, &origin);
	budget->store.segment = &unshared;
	budget->store.header = unshared.header;
	log_say(budget->log, config->required ? LOUDNESS_QUIET : LOUDNESS_PLAIN,
	    STRINGS("budget '", config->key, "': cannot be used: ", failure.why,
		explained ? "" : ": ", explained ? "" : strerror(failure.error),
		", in ", config->directory,
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

static const char removed[] = "removed again and again";

/*
 * Begins a use of the segment. Returns why there is none, or NULL: the segment
 * was removed, or it is corrupt.
 */
static const char *
enter(struct budget_client *budget, struct visit *visit)
{
	struct segment_store *store = &budget->store;
	const struct header *header = &store->header;
	struct caller *caller = &budget->caller;
	struct failure failure = open_shared(budget);

	if (failure.why != NULL)
		go_private(budget, failure);
	if (!segment_store_enter(store))
		return removed;
	budget->before = *caller;
	visit->caller = caller;
	visit->segment = store->segment;
	visit->header = header;
	visit->age = segment_age(header, visit->now);
	visit->terms = segment_agree(
	    visit->segment, header, &caller->config->terms, &budget->differs);
	visit->next = window_next(&visit->segment->window, &visit->terms,
	    header->slice, visit->age, &visit->sums);
	if (caller->fleet != NULL) {
		caller->fleet->slice = header->slice;
		caller->fleet->random = hash_draw(&caller->fleet->seed);
	}
	if (visit->terms.ratio >= 0 && visit->next >= 0)
		return NULL;
	return segment_store_leave(store) ? "segment is corrupt" : removed;
}

bool
budget_client_visit(struct budget_client *budget, struct visit *visit)
{
	const char *why = removed;

	if (budget->caller.config->key == NULL)
		return false;
	if (visit->segment == NULL) {
		budget->passes = 0;
		why = enter(budget, visit);
	} else if (segment_store_leave(&budget->store)) {
		if (budget->differs)
			say_terms(budget, &visit->terms);
		return false;
	} else {
		budget->caller = budget->before;
	}
	for (; why != NULL; why = enter(budget, visit)) {
		if (++budget->passes >= PASSES)
			go_private(budget, REFUSED(why));
		/* The process may have been stopped since it read the clock,
		 * and so takes the segment for one of the future. */
		visit->now = sys_now(CLOCK_BOOTTIME);
	}
	return true;
}

bool
budget_client_ready(struct budget_client *budget)
{
	struct visit visit = { .now = sys_now(CLOCK_BOOTTIME) };

	if (!budget->caller.config->required)
		return true;
	while (budget_client_visit(budget, &visit))
		;
	return !budget->private;
}

struct admission
budget_client_tell(
    struct budget_client *budget, const struct attempt_end *end, nanos now)
{
	struct visit visit = { .now = now };
	struct admission foreseen = { .answer = ADMISSION_GRANTED };

	while (budget_client_visit(budget, &visit))
		foreseen = admission_tell(&visit, end);
	return foreseen;
}

void
budget_client_hold(struct budget_client *budget, nanos wait, nanos now)
{
	struct visit visit = { .now = now };

	while (wait >= HOLD_LEAST && budget_client_visit(budget, &visit))
		hold_extend(&visit.segment->hold, wait, visit.age);
}

void
budget_client_give_up(struct budget_client *budget, nanos now)
{
	struct visit visit = { .now = now };

	while (budget_client_visit(budget, &visit))
		segment_count(visit.segment, TOTAL_GAVE_UP);
}
