#include "link/fleet_client.h"

#include "sys/sys.h"

void
fleet_client_start(struct fleet_client *fleet,
    const struct fleet_policy *policy, struct budget_client *budget,
    const struct signals *signals)
{
	bool verbose = budget->log->policy->loudness == LOUDNESS_VERBOSE;
	char server[URL_ROOM];

	fleet->budget = budget;
	link_open(&fleet->link, policy, verbose, signals);
	fleet->caller = (struct fleet_caller){ .granted = false };
	fleet->caller.config =
	    (struct host_config){ .key = budget->caller.config->key,
		    .terms = policy->terms,
		    .tag = fleet_host_tag(url_name(policy->url, server)),
		    .timeout = policy->timeout,
		    .share = policy->alone };
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
	if (admission.fleet.silent && fleet->silent && !fleet->said) {
		admission.silence = fleet->link.reason;
		fleet->said = true;
	}
	if (admission.answer == ADMISSION_HELD ||
	    admission.answer == ADMISSION_DENIED)
		link_close(&fleet->link);
	return admission;
}

void
fleet_client_ask(struct fleet_client *fleet, nanos now)
{
	fleet->asked = now;
	fleet->open = true;
	fleet->silent = false;
	link_ask(&fleet->link, &fleet->caller.question, false, now);
}

static void
store(struct segment *segment, const struct header *header, void *with)
{
	const struct visit *visit = with;
	struct fleet_client *fleet = visit->with;

	fleet_caller_store(&fleet->caller, segment, header, fleet->outcome,
	    &fleet->link.talk.answer, visit->now);
}

void
fleet_client_store(struct fleet_client *fleet, nanos now)
{
	bool failed = fleet->link.end == LINK_FAILED;
	bool late = now - fleet->asked > 2 * fleet->link.policy->timeout;

	if (!fleet->open)
		return;
	/*
	 * If retry was stopped for so long that it could see no answer in time,
	 * then the server is not to blame, and is asked again. The second time
	 * in a row it is to blame: otherwise a machine that is always late
	 * would ask for ever.
	 */
	fleet->outcome = FLEET_SILENT;
	if (fleet->link.end == LINK_ANSWERED)
		fleet->outcome = FLEET_ANSWERED;
	else if (fleet->link.end == LINK_PENDING || (late && !fleet->late))
		fleet->outcome = FLEET_CUT;
	fleet->open = false;
	fleet->late = fleet->outcome == FLEET_CUT && failed;
	fleet->silent = fleet->outcome == FLEET_SILENT;
	budget_client_visit(fleet->budget, store, now, fleet);
	if (fleet->outcome != FLEET_ANSWERED ||
	    !(fleet->caller.granted || fleet->elected))
		link_close(&fleet->link);
}

static void
elect(struct segment *segment, const struct header *header, void *with)
{
	const struct visit *visit = with;
	struct fleet_client *fleet = visit->with;

	fleet->elected =
	    fleet_caller_elect(&fleet->caller, segment, header, visit->now);
}

void
fleet_client_greet(struct fleet_client *fleet, bool required, nanos now)
{
	const struct segment_store *store = &fleet->budget->store;
	const struct header *header = &store->header;

	if (fleet->greeted)
		return;
	if (!required && budget_client_open(fleet->budget) != 0)
		return;
	/* Another process had been elected when the segment was opened. A new
	 * look would cost a few system calls. */
	if (!required && store->segment != NULL &&
	    fleet_ledger_has_elected(
		store->elected, header->slice, segment_age(header, now)))
		return;
	fleet->greeted = true;
	fleet->caller.random = sys_seed();
	budget_client_visit(fleet->budget, elect, now, fleet);
	if (required || fleet->elected)
		fleet_client_ask(fleet, now);
}

bool
fleet_client_ready(struct fleet_client *fleet, nanos now)
{
	fleet_client_store(fleet, now);
	if (fleet->silent)
		log_say(fleet->budget->log, LOUDNESS_QUIET,
		    STRINGS("fleet '", fleet->link.policy->text,
			"': ", fleet->link.reason, "; command not run"));
	return !fleet->silent;
}

static void
claim(struct segment *segment, const struct header *header, void *with)
{
	const struct visit *visit = with;
	struct fleet_client *fleet = visit->with;

	fleet->tells =
	    fleet_caller_claim(&fleet->caller, segment, header, visit->now);
}

void
fleet_client_tell(struct fleet_client *fleet, bool succeeded, nanos now)
{
	fleet_client_store(fleet, now);
	fleet->tells = false;
	if (fleet->link.stage == LINK_READY && (succeeded || fleet->elected))
		budget_client_visit(fleet->budget, claim, now, fleet);
	fleet->outcome = FLEET_SENT;
	if (fleet->tells &&
	    link_tell(&fleet->link, &fleet->caller.question, now))
		budget_client_visit(fleet->budget, store, now, fleet);
	fleet->elected = false;
	link_close(&fleet->link);
}
