#include "store/budget_client.h"

#include <errno.h>
#include <string.h>
#include "sys/sys.h"
#include "text/number.h"

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
	struct origin origin = { .base = sys_now(CLOCK_BOOTTIME) };
	bool explained = failure.error == 0 || failure.error == EAGAIN;

	segment_store_close(&budget->store);
	budget->private = true;
	segment_make(&budget->unshared, config->key, &config->terms, &origin);
	segment_store_open_private(&budget->store, &budget->unshared);
	if (budget->warned)
		return;
	budget->warned = true;
	log_say(budget->log, config->required ? LOUDNESS_QUIET : LOUDNESS_PLAIN,
	    STRINGS("budget '", config->key, "': cannot be used: ", failure.why,
		explained ? "" : ": ", explained ? "" : strerror(failure.error),
		", in ", config->directory,
		config->required ? "" : "; counting for this command alone"));
}

static struct failure
open_shared(struct budget_client *budget)
{
	const struct budget_config *config = budget->caller.config;

	return segment_store_open(&budget->store, config->directory,
	    config->key, &config->terms, true);
}

nanos
budget_client_open(struct budget_client *budget)
{
	struct failure failure;

	if (budget->caller.config->key == NULL || budget->private ||
	    budget->store.fd != -1)
		return 0;
	failure = open_shared(budget);
	if (failure.error == EAGAIN && budget->waits < WAITS)
		return FIRST_WAIT << budget->waits++;
	if (failure.why != NULL)
		go_private(budget, failure);
	return 0;
}

void
budget_client_visit(struct budget_client *budget,
    void (*use)(
	struct segment *segment, const struct header *header, void *visit),
    nanos now, void *with)
{
	char ratio[NUMBER_ROOM], min[NUMBER_ROOM], window[NUMBER_ROOM];
	const struct terms *limits = &budget->caller.terms;
	struct visit visit = { .now = now, .with = with };
	struct failure failure = NO_FAILURE;
	int removed = 0;
	bool reread = false; /* the clock */

	for (;;) {
		if (!budget->private && budget->store.fd == -1)
			failure = open_shared(budget);
		if (!budget->private && failure.why != NULL)
			go_private(budget, failure);
		visit.caller = budget->caller;
		visit.caller.corrupt = false;
		if (!segment_store_run(&budget->store, use, &visit)) {
			if (++removed == TRIES)
				go_private(
				    budget, REFUSED("removed again and again"));
			continue;
		}
		if (!visit.caller.corrupt || budget->private)
			break;
		/*
		 * The process may have been stopped since it read the clock,
		 * and so takes the segment for one of the future.
		 */
		if (reread)
			go_private(budget, REFUSED("segment is corrupt"));
		else
			visit.now = sys_now(CLOCK_BOOTTIME);
		reread = true;
	}
	budget->caller = visit.caller;
	if (!budget->caller.differs || budget->warned)
		return;
	budget->warned = true;
	log_say(budget->log, LOUDNESS_PLAIN,
	    STRINGS("budget '", budget->caller.config->key,
		"': already in use with other limits; using ratio ",
		number_put_decimal(ratio, limits->ratio, WINDOW_RATIO_ONE),
		", min ", number_put(min, limits->min), ", window ",
		number_put_decimal(window, limits->window, NANOS_SECOND), "s"));
}

static void
look(struct segment *segment, const struct header *header, void *with)
{
	struct visit *visit = with;

	admission_look(&visit->caller, segment, header, visit->now);
}

bool
budget_client_ready(struct budget_client *budget)
{
	if (!budget->caller.config->required)
		return true;
	budget_client_visit(budget, look, sys_now(CLOCK_BOOTTIME), NULL);
	return !budget->private;
}

/* What is asked or told in a visit, and the answer. */
struct exchange {
	bool retry;
	enum attempt_result result;
	bool completed;
	nanos delay;
	struct admission admission;
};

static void
ask(struct segment *segment, const struct header *header, void *with)
{
	struct visit *visit = with;
	struct exchange *exchange = visit->with;

	exchange->admission = admission_ask(
	    &visit->caller, segment, header, exchange->retry, visit->now);
}

struct admission
budget_client_admit(struct budget_client *budget, bool retry, nanos now)
{
	struct exchange exchange = { .retry = retry };

	if (admission_begin(&budget->caller, retry, now))
		budget_client_visit(budget, ask, now, &exchange);
	return exchange.admission;
}

static void
tell(struct segment *segment, const struct header *header, void *with)
{
	struct visit *visit = with;
	struct exchange *exchange = visit->with;

	admission_tell(&visit->caller, segment, header, exchange->result,
	    exchange->completed, visit->now);
	if (exchange->delay >= 0 && !visit->caller.corrupt)
		exchange->admission = admission_foresee(&visit->caller, segment,
		    header, exchange->delay, visit->now);
}

struct admission
budget_client_tell(struct budget_client *budget, enum attempt_result result,
    bool completed, nanos delay, nanos now)
{
	struct exchange exchange = {
		.result = result, .completed = completed, .delay = delay
	};

	if (budget->caller.config->key != NULL)
		budget_client_visit(budget, tell, now, &exchange);
	return exchange.admission;
}

static void
renew(struct segment *segment, const struct header *header, void *with)
{
	struct visit *visit = with;

	admission_renew(&visit->caller, segment, header, visit->now);
}

void
budget_client_renew(struct budget_client *budget, nanos now)
{
	if (admission_nap(&budget->caller, now) == 0)
		budget_client_visit(budget, renew, now, NULL);
}
