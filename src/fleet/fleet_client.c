#include "fleet/fleet_client.h"

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
	fleet->late = fleet->silent = fleet->said = false;
	budget->caller.fleet = &fleet->caller;
}

void
fleet_client_ask(struct fleet_client *fleet, nanos now)
{
	fleet->silent = false;
	link_ask(&fleet->link, &fleet->caller.question, false, now);
}

/* What came of a question. */
struct settled {
	struct fleet_client *fleet;
	enum fleet_outcome outcome;
};

static bool
store(const struct visit *visit, void *with)
{
	const struct settled *settled = with;
	struct fleet_client *fleet = settled->fleet;

	fleet_host_store(&visit->segment->fleet, &fleet->caller,
	    settled->outcome, &fleet->link.talk.answer, visit->age);
	return true;
}

void
fleet_client_store(struct fleet_client *fleet, nanos now)
{
	struct settled settled = { fleet, FLEET_SILENT };
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
		settled.outcome = FLEET_ANSWERED;
	else if (fleet->link.end == LINK_PENDING || (late && !fleet->late))
		settled.outcome = FLEET_CUT;
	fleet->link.end = LINK_NONE;
	fleet->late = settled.outcome == FLEET_CUT && failed;
	fleet->silent = settled.outcome == FLEET_SILENT;
	budget_client_visit(fleet->budget, now, store, &settled);
	if (settled.outcome != FLEET_ANSWERED || !fleet->caller.granted)
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

static bool
greet(const struct visit *visit, void *with)
{
	struct fleet_client *fleet = with;

	fleet_host_greet(&visit->segment->fleet, &fleet->caller, visit->age);
	return true;
}

void
fleet_client_greet(struct fleet_client *fleet, nanos now)
{
	budget_client_visit(fleet->budget, now, greet, fleet);
	fleet_client_ask(fleet, now);
}

bool
fleet_client_greeted(struct fleet_client *fleet, nanos now)
{
	if (fleet->link.end == LINK_PENDING)
		return false;
	fleet_client_store(fleet, now);
	if (fleet->late)
		fleet_client_ask(fleet, now);
	return !fleet->late;
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

/* Claims what there is to tell. */
struct claim {
	struct fleet_client *fleet;
	bool tells;
};

static bool
claim(const struct visit *visit, void *with)
{
	struct claim *claim = with;

	claim->tells = fleet_host_claim(&visit->segment->fleet,
	    &visit->segment->window, &claim->fleet->caller, visit->age);
	return true;
}

void
fleet_client_tell(struct fleet_client *fleet, bool succeeded, nanos now)
{
	struct settled sent = { fleet, FLEET_SENT };
	struct claim told = { fleet, false };

	fleet_client_store(fleet, now);
	if (succeeded && fleet->link.stage == LINK_READY)
		budget_client_visit(fleet->budget, now, claim, &told);
	if (told.tells && link_tell(&fleet->link, &fleet->caller.question, now))
		budget_client_visit(fleet->budget, now, store, &sent);
	link_close(&fleet->link);
}
