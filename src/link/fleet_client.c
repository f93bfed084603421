#include "link/fleet_client.h"

#include "sys/sys.h"

void
fleet_client_start(struct fleet_client *fleet,
    const struct fleet_policy *policy, struct budget_client *budget,
    struct log *log, const struct signals *signals)
{
	bool verbose = log->policy->loudness == LOUDNESS_VERBOSE;
	char server[URL_ROOM];

	fleet->policy = policy;
	fleet->budget = budget;
	fleet->log = log;
	link_open(&fleet->link, policy, verbose, signals);
	fleet->caller = (struct fleet_caller){ .granted = false };
	fleet->caller.config =
	    (struct host_config){ .key = budget->caller.config->key,
		    .terms = policy->terms,
		    .tag = fleet_host_tag(url_name(policy->url, server)),
		    .timeout = policy->timeout,
		    .alone = policy->alone };
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

/* What came of a question. */
struct result {
	enum fleet_outcome outcome;
	const struct fleet_answer *answer;
};

static void
store(struct segment *segment, const struct header *header, void *with)
{
	const struct visit *visit = with;
	const struct result *result = visit->with;

	fleet_caller_store(visit->caller.fleet, segment, header,
	    result->outcome, result->answer, visit->now);
}

void
fleet_client_store(struct fleet_client *fleet, nanos now)
{
	bool failed = fleet->link.end == LINK_FAILED;
	bool late = now - fleet->asked > 2 * fleet->policy->timeout;
	struct result result = { FLEET_SILENT, &fleet->link.talk.answer };

	if (!fleet->open)
		return;
	/*
	 * If retry was stopped for so long that it could see no answer in time,
	 * then the server is not to blame, and is asked again. The second time
	 * in a row it is to blame: otherwise a machine that is always late
	 * would ask for ever.
	 */
	if (fleet->link.end == LINK_ANSWERED)
		result.outcome = FLEET_ANSWERED;
	else if (fleet->link.end == LINK_PENDING || (late && !fleet->late))
		result.outcome = FLEET_CUT;
	fleet->open = false;
	fleet->late = result.outcome == FLEET_CUT && failed;
	fleet->silent = result.outcome == FLEET_SILENT;
	budget_client_visit(fleet->budget, store, now, &result);
	if (result.outcome != FLEET_ANSWERED ||
	    !(fleet->caller.granted || fleet->elected))
		link_close(&fleet->link);
}

static void
elect(struct segment *segment, const struct header *header, void *with)
{
	const struct visit *visit = with;
	bool *elected = visit->with;

	*elected = fleet_caller_elect(
	    visit->caller.fleet, segment, header, visit->now);
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
	/* Another process has been elected, as far as this one can know without
	 * a look at the segment, which takes a few system calls. */
	if (!required && store->segment != NULL &&
	    fleet_ledger_has_elected(
		store->elected, header->slice, segment_age(header, now)))
		return;
	fleet->greeted = true;
	fleet->caller.random = sys_seed();
	budget_client_visit(fleet->budget, elect, now, &fleet->elected);
	if (required || fleet->elected)
		fleet_client_ask(fleet, now);
}

bool
fleet_client_ready(struct fleet_client *fleet, nanos now)
{
	fleet_client_store(fleet, now);
	if (fleet->silent)
		log_say(fleet->log, LOUDNESS_QUIET,
		    STRINGS("fleet '", fleet->policy->text,
			"': ", fleet->link.reason, "; command not run"));
	return !fleet->silent;
}

static void
claim(struct segment *segment, const struct header *header, void *with)
{
	const struct visit *visit = with;
	bool *tells = visit->with;

	*tells = fleet_caller_claim(
	    visit->caller.fleet, segment, header, visit->now);
}

void
fleet_client_tell(struct fleet_client *fleet, bool succeeded, nanos now)
{
	struct result sent = { FLEET_SENT, NULL };
	bool tells = false;

	fleet_client_store(fleet, now);
	if (fleet->link.stage == LINK_READY && (succeeded || fleet->elected))
		budget_client_visit(fleet->budget, claim, now, &tells);
	if (tells && link_tell(&fleet->link, &fleet->caller.question, now))
		budget_client_visit(fleet->budget, store, now, &sent);
	fleet->elected = false;
	link_close(&fleet->link);
}

void
fleet_client_close(struct fleet_client *fleet)
{
	link_close(&fleet->link);
}
