#include "store/budget_client.h"

#include <errno.h>
#include <string.h>
#include "sys/sys.h"
#include "text/number.h"
#include "text/random.h"

/* How often to open the segment anew when it is removed while it is used. */
#define TRIES 3

/*
 * How often to wait for a process that is replacing the segment, and how long
 * at first; each wait is twice as long: a quarter of a second in all.
 */
#define WAITS 8
#define FIRST_WAIT NANOS_MS

void
budget_client_start(struct budget_client *budget,
    const struct budget_config *config, const char *admitted, bool deposits,
    struct log *log)
{
	budget->caller =
	    (struct caller){ .config = config, .deposits = deposits };
	budget->caller.uses_breaker = admitted == NULL || config->key == NULL ||
	    strcmp(admitted, config->key) != 0;
	budget->log = log;
	budget->private = budget->warned = false;
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
	segment_make(&unshared, config->key, &config->terms, &origin);
	budget->store.segment = &unshared;
	budget->store.header = unshared.header;
	if (budget->warned)
		return;
	budget->warned = true;
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

bool
budget_client_visit(struct budget_client *budget, struct visit *visit)
{
	char ratio[NUMBER_ROOM], min[NUMBER_ROOM], window[NUMBER_ROOM];
	const struct terms *limits = &budget->caller.terms;
	struct segment_store *store = &budget->store;
	struct failure failure;

	if (visit->segment == NULL) {
		budget->before = budget->caller;
		budget->removed = 0;
		budget->reread = false;
	} else if (!segment_store_leave(store)) {
		budget->removed++;
	} else if (!budget->caller.corrupt || budget->private) {
		if (!budget->caller.differs || budget->warned)
			return false;
		budget->warned = true;
		log_say(budget->log, LOUDNESS_PLAIN,
		    STRINGS("budget '", budget->caller.config->key,
			"': already in use with other limits; using ratio ",
			number_put_decimal(
			    ratio, limits->ratio, WINDOW_RATIO_ONE),
			", min ", number_put(min, limits->min), ", window ",
			number_put_decimal(
			    window, limits->window, NANOS_SECOND),
			"s"));
		return false;
	} else if (budget->reread) {
		go_private(budget, REFUSED("segment is corrupt"));
	} else {
		/*
		 * The process may have been stopped since it read the clock,
		 * and so takes the segment for one of the future.
		 */
		visit->now = sys_now(CLOCK_BOOTTIME);
		budget->reread = true;
	}

	for (;; budget->removed++) {
		failure = budget->removed == TRIES
		    ? REFUSED("removed again and again")
		    : open_shared(budget);
		if (failure.why != NULL)
			go_private(budget, failure);
		if (segment_store_enter(store))
			break;
	}
	budget->caller = budget->before;
	budget->caller.corrupt = false;
	visit->caller = &budget->caller;
	visit->segment = store->segment;
	visit->header = &store->header;
	visit->age = segment_age(visit->header, visit->now);
	if (visit->caller->fleet != NULL) {
		visit->caller->fleet->slice = visit->header->slice;
		visit->caller->fleet->random =
		    random_draw(&visit->caller->fleet->seed);
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
		admission_look(&visit);
	return !budget->private;
}

struct admission
budget_client_tell(struct budget_client *budget, enum attempt_result result,
    bool completed, nanos delay, nanos now)
{
	struct admission foreseen = { .answer = ADMISSION_GRANTED };
	struct visit visit = { .now = now };

	if (budget->caller.config->key == NULL)
		return foreseen;
	while (budget_client_visit(budget, &visit)) {
		admission_tell(&visit, result, completed);
		if (delay >= 0 && !visit.caller->corrupt)
			foreseen = admission_foresee(&visit, delay);
	}
	return foreseen;
}
