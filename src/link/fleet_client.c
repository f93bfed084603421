#include "link/fleet_client.h"

void
fleet_client_start(struct fleet_client *fleet,
    const struct fleet_policy *policy, struct budget_client *budget,
    const struct signals *signals, uint64_t seed)
{
	bool verbose = budget->log->policy->loudness == LOUDNESS_VERBOSE;
	char server[URL_ROOM];

	fleet->budget = budget;
	link_open(&fleet->link, policy, verbose, signals);
	fleet->caller = (struct fleet_caller){ .policy = policy,
		.key = budget->caller.config->key,
		.seed = seed,
		.tag = fleet_host_tag(url_name(policy->url, server)) };
	fleet->greeted = fleet->elected = fleet->late = false;
	fleet->silent = fleet->said = false;
	budget->caller.fleet = &fleet->caller;
}

void
fleet_client_ask(struct fleet_client *fleet, nanos now)
{
	fleet->silent = false;
	link_ask(&fleet->link, &fleet->caller.question, false, now);
}

void
fleet_client_store(struct fleet_client *fleet, nanos now)
{
	enum fleet_outcome outcome = FLEET_SILENT;
	struct visit visit = { .now = now };
	bool failed = fleet->link.end == LINK_FAILED, late;

	if (fleet->link.end == LINK_NONE)
		return;
	late = now - fleet->link.until > fleet->link.policy->timeout;
	/*
	 * If retry was stopped for so long that it could see no answer in time,
	 * then the server is not to blame, and is asked again. The second time
	 * in a row it is to blame: otherwise a machine that is always late
	 * would ask for ever.
	 */
	if (fleet->link.end == LINK_ANSWERED)
		outcome = FLEET_ANSWERED;
	else if (fleet->link.end == LINK_PENDING || (late && !fleet->late))
		outcome = FLEET_CUT;
	fleet->link.end = LINK_NONE;
	fleet->late = outcome == FLEET_CUT && failed;
	fleet->silent = outcome == FLEET_SILENT;
	while (budget_client_visit(fleet->budget, &visit))
		fleet_host_store(&visit.segment->fleet, &fleet->caller, outcome,
		    &fleet->link.talk.answer, visit.age);
	if (outcome != FLEET_ANSWERED ||
	    !(fleet->caller.granted || fleet->elected))
		link_close(&fleet->link);
}

void
fleet_client_end(struct fleet_client *fleet, struct admission *admission)
{
	if (admission->fleet.silent && fleet->silent && !fleet->said) {
		admission->silence = fleet->link.reason;
		fleet->said = true;
	}
	if (admission->answer != ADMISSION_GRANTED)
		link_close(&fleet->link);
}

void
fleet_client_greet(struct fleet_client *fleet, bool required, nanos now)
{
	const struct segment_store *store = &fleet->budget->store;
	const struct header *header = &store->header;
	struct visit visit = { .now = now };

	if (fleet->greeted)
		return;
	if (!required && budget_client_open(fleet->budget) != 0)
		return;
	/* Another process had been elected when the segment was opened. A new
	 * look would cost a few system calls. */
	if (!required && store->segment != NULL &&
	    fleet_host_has_elected(
		store->elected, header->slice, segment_age(header, now)))
		return;
	fleet->greeted = true;
	while (budget_client_visit(fleet->budget, &visit))
		fleet->elected = fleet_host_elect(
		    &visit.segment->fleet, &fleet->caller, visit.age);
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

void
fleet_client_tell(struct fleet_client *fleet, bool succeeded, nanos now)
{
	struct visit claims = { .now = now }, told = claims;
	bool tells = false;

	fleet_client_store(fleet, now);
	if (fleet->link.stage == LINK_READY && (succeeded || fleet->elected))
		while (budget_client_visit(fleet->budget, &claims))
			tells = fleet_host_claim(&claims.segment->fleet,
			    &claims.segment->window, &fleet->caller,
			    claims.age);
	if (tells && link_tell(&fleet->link, &fleet->caller.question, now))
		while (budget_client_visit(fleet->budget, &told))
			fleet_host_store(&told.segment->fleet, &fleet->caller,
			    FLEET_SENT, &fleet->link.talk.answer, told.age);
	fleet->elected = false;
	link_close(&fleet->link);
}
