#include "budget/fleet_caller.h"

#include "text/number.h"
#include "budget/fleet_ledger.h"

/* The caller's numbers for this segment; another process may have made it, with
 * a window of another length. */
static const struct host_config *
configure(struct fleet_caller *caller, const struct header *header)
{
	caller->config.slice = header->slice;
	caller->config.terms.window = segment_window(header);
	return &caller->config;
}

/* Claims what the question is to tell. */
static void
claim(struct fleet_caller *caller, struct segment *segment, nanos age)
{
	struct fleet_question *question = &caller->question;

	fleet_ledger_claim(&segment->ledger, &caller->config, &segment->window,
	    &segment->fleet.alone, age, question);
	if (question->by == 0 && question->count > 0)
		question->by = FLEET_BY_PAST;
}

struct host_step
fleet_caller_ask(struct fleet_caller *caller, struct segment *segment,
    const struct header *header, int64_t most, nanos now)
{
	nanos age = segment_age(header, now);
	struct host_step step =
	    fleet_host_ask(&segment->fleet, configure(caller, header),
		&caller->wait, most, age, caller->random, &caller->question);

	if (step.decision == HOST_ASK)
		claim(caller, segment, age);
	return step;
}

void
fleet_caller_store(struct fleet_caller *caller, struct segment *segment,
    const struct header *header, enum fleet_outcome outcome,
    const struct fleet_answer *answer, nanos now)
{
	const struct host_config *config = configure(caller, header);
	const struct fleet_question *question = &caller->question;
	struct fleet_host *host = &segment->fleet;
	nanos age = segment_age(header, now);
	struct host_step step;

	if (answer != NULL && answer->code == FLEET_STALE)
		fleet_host_learn_time(
		    host, config->tag, answer->now, question->asked);
	if (outcome == FLEET_ANSWERED || outcome == FLEET_SENT)
		fleet_ledger_told(&segment->ledger, question);
	switch (outcome) {
	case FLEET_ANSWERED:
		/* A question that wanted nothing has no lease. */
		if (question->wanted == 0) {
			fleet_host_learn(
			    host, config->tag, answer, question->asked);
			break;
		}
		step = fleet_host_answered(
		    host, config, question, answer, age, caller->random);
		caller->granted = step.decision == HOST_GRANTED;
		break;
	case FLEET_SENT:
		break;
	case FLEET_SILENT:
		fleet_host_fail(host, config, question, age, caller->random);
		break;
	case FLEET_CUT:
		fleet_host_drop(host, question, age);
		break;
	}
}

bool
fleet_caller_elect(struct fleet_caller *caller, struct segment *segment,
    const struct header *header, nanos now)
{
	nanos age = segment_age(header, now);
	const struct host_config *config = configure(caller, header);
	int64_t hosts = fleet_host_hosts(&segment->fleet, config->tag);
	int64_t part = (int64_t)(caller->random >> 48); /* in 65536ths */

	caller->question = fleet_host_question(&segment->fleet, config, age);
	return fleet_host_look(&segment->fleet, config->slice, age).down == 0 &&
	    fleet_ledger_elect(&segment->ledger, config->slice, age) &&
	    number_multiply(hosts, part) / 65536 < FLEET_CALLER_TELLERS;
}

bool
fleet_caller_claim(struct fleet_caller *caller, struct segment *segment,
    const struct header *header, nanos now)
{
	nanos age = segment_age(header, now);

	caller->question = fleet_host_question(
	    &segment->fleet, configure(caller, header), age);
	/* Nobody would read the time in the server's answer. */
	if (caller->question.by == 0)
		return false;
	claim(caller, segment, age);
	return caller->question.count > 0;
}
