#include "link/fleet_client.h"

#include "sys/sys.h"

void
fleet_client_start(struct fleet_client *fleet, const struct share *share,
    struct budget_client *budget, struct log *log,
    const struct signals *signals)
{
	const struct fleet_policy *policy = &share->fleet;
	bool verbose = log->policy->loudness == LOUDNESS_VERBOSE;

	fleet->share = share;
	fleet->budget = budget;
	fleet->log = log;
	link_open(&fleet->link, policy, verbose, signals);
	fleet_caller_start(&fleet->caller, share->key, policy->url,
	    &policy->terms, policy->timeout, policy->alone);
	fleet->greeted = fleet->open = fleet->elected = fleet->late = false;
	fleet->silent = fleet->said = false;
	budget->caller.fleet = &fleet->caller;
}

struct admission
fleet_client_admit(struct fleet_client *fleet, bool retry, nanos now)
{
	struct admission admission;

	if (retry)
		fleet->caller.random = sys_seed();
	admission = budget_client_admit(fleet->budget, retry, now);
	if (admission.fleet.alone && fleet->silent && !fleet->said) {
		admission.silence = fleet->link.reason;
		fleet->said = true;
	}
	if (admission.denied != REASON_NONE)
		link_close(&fleet->link);
	return admission;
}

/* Sends the caller's question. */
static void
send_question(struct fleet_client *fleet, nanos now)
{
	fleet->asked = now;
	fleet->open = true;
	fleet->silent = false;
	link_ask(&fleet->link, &fleet->caller.question, false, now);
}

void
fleet_client_ask(struct fleet_client *fleet, nanos now)
{
	send_question(fleet, now);
}

/*
 * What came of the question. If retry was stopped for so long that it could see
 * no answer in time, then the server is not to blame, and is asked again. The
 * second time in a row it is to blame: otherwise a machine that is always late
 * would ask for ever.
 */
static enum fleet_outcome
outcome_of(const struct fleet_client *fleet, nanos now)
{
	bool late = now - fleet->asked > 2 * fleet->share->fleet.timeout;

	if (fleet->link.end == LINK_ANSWERED)
		return FLEET_ANSWERED;
	if (fleet->link.end == LINK_PENDING || (late && !fleet->late))
		return FLEET_CUT;
	return FLEET_SILENT;
}

/* Stores what came of the caller's question. */
static void
store(struct fleet_client *fleet, enum fleet_outcome outcome, nanos now)
{
	struct visit visit = { .operation = SEGMENT_SETTLE,
		.now = now,
		.outcome = outcome,
		.answer = &fleet->link.talk.answer };

	budget_client_visit(fleet->budget, &visit);
}

void
fleet_client_settle(struct fleet_client *fleet, nanos now)
{
	enum fleet_outcome outcome = outcome_of(fleet, now);

	if (!fleet->open)
		return;
	fleet->open = false;
	fleet->late = outcome == FLEET_CUT && fleet->link.end == LINK_FAILED;
	fleet->silent = outcome == FLEET_SILENT;
	store(fleet, outcome, now);
	if (outcome != FLEET_ANSWERED ||
	    !(fleet->caller.granted || fleet->elected))
		link_close(&fleet->link);
}

/* Whether another process has been elected, as far as this one can know
 * without a look at the segment, which takes a few system calls. */
static bool
is_another_elected(const struct fleet_client *fleet, nanos now)
{
	const struct segment_store *store = &fleet->budget->store;
	const struct header *header = &store->header;

	return store->segment != NULL &&
	    fleet_ledger_has_elected(
		store->elected, header->slice, segment_age(header, now));
}

void
fleet_client_greet(struct fleet_client *fleet, bool required, nanos now)
{
	struct visit visit = { .operation = SEGMENT_ELECT, .now = now };

	if (fleet->greeted ||
	    (!required &&
		(budget_client_settle(fleet->budget) != 0 ||
		    is_another_elected(fleet, now))))
		return;
	fleet->greeted = true;
	fleet->caller.random = sys_seed();
	budget_client_visit(fleet->budget, &visit);
	fleet->elected = visit.tells;
	if (required || fleet->elected)
		send_question(fleet, now);
}

bool
fleet_client_ready(struct fleet_client *fleet, nanos now)
{
	fleet_client_settle(fleet, now);
	if (fleet->silent)
		log_say(fleet->log, LOUDNESS_QUIET,
		    STRINGS("fleet '", fleet->share->fleet.text,
			"': ", fleet->link.reason, "; command not run"));
	return !fleet->silent;
}

void
fleet_client_tell(struct fleet_client *fleet, bool succeeded, nanos now)
{
	struct visit visit = { .operation = SEGMENT_CLAIM, .now = now };

	fleet_client_settle(fleet, now);
	if (fleet->link.stage == LINK_READY && (succeeded || fleet->elected)) {
		budget_client_visit(fleet->budget, &visit);
		if (visit.tells &&
		    link_tell(&fleet->link, &fleet->caller.question, now))
			store(fleet, FLEET_SENT, now);
	}
	fleet->elected = false;
	link_close(&fleet->link);
}

void
fleet_client_close(struct fleet_client *fleet)
{
	link_close(&fleet->link);
}
