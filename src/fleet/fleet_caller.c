#include "fleet/fleet_caller.h"

#include <string.h>
#include "text/number.h"

void
fleet_caller_start(struct fleet_caller *caller, const struct fleet_url *url,
    const struct terms *terms, nanos timeout, int64_t alone)
{
	char room[FLEET_URL_ROOM];
	uint16_t tag = fleet_word_tag(fleet_url_name(url, room));

	memset(caller, 0, sizeof *caller);
	caller->terms = *terms;
	caller->config = (struct host_config){ .tag = tag,
		.timeout = timeout,
		.min = terms->min,
		.alone = alone };
}

/* The caller's numbers for this segment; another process may have made it, with
 * a window of another length. */
static const struct host_config *
configure(struct fleet_caller *caller, const struct header *header)
{
	caller->config.slice = header->slice;
	caller->terms.window = segment_window(header);
	return &caller->config;
}

/* Claims what the question is to tell. */
static void
claim(struct fleet_caller *caller, struct segment *segment, nanos age)
{
	struct host_question *question = &caller->question;
	struct fleet_source source = { .tag = caller->config.tag,
		.slice = caller->config.slice,
		.until = question->until,
		.window = &segment->window,
		.alone = &segment->fleet.alone };

	fleet_ledger_claim(&segment->ledger, &source, age, &caller->tally);
	if (question->by == 0 && caller->tally.count > 0)
		question->by = FLEET_BY_PAST;
}

struct host_step
fleet_caller_ask(struct fleet_caller *caller, struct segment *segment,
    const struct header *header, int64_t most, nanos now)
{
	nanos age = segment_age(header, now);
	struct host_step step =
	    fleet_host_ask(&segment->fleet, configure(caller, header),
		&caller->wait, most, age, caller->random);

	if (step.decision == HOST_ASK) {
		caller->question = step.question;
		claim(caller, segment, age);
	}
	return step;
}

struct fleet_question
fleet_caller_question(const struct fleet_caller *caller, const char *key)
{
	const struct fleet_tally *tally = &caller->tally;
	struct fleet_question question = { .key = key,
		.terms = caller->terms,
		.wanted = caller->question.wanted,
		.by = caller->question.by,
		.first = tally->first,
		.count = (size_t)tally->count };

	memcpy(
	    question.told, tally->rows, question.count * sizeof *question.told);
	return question;
}

/* Stores an answer. To a question that wanted nothing, only its numbers. */
static void
settle_answer(struct fleet_caller *caller, struct segment *segment,
    const struct fleet_answer *answer, nanos age)
{
	const struct host_answer settled = {
		.granted = answer->granted,
		.pause = answer->pause,
		.numbers = { .time = answer->now,
		    .hosts = answer->hosts,
		    .retries = answer->retries,
		    .limit = answer->limit },
	};
	struct fleet_host *host = &segment->fleet;

	fleet_ledger_told(&segment->ledger, &caller->tally);
	if (caller->question.wanted == 0)
		fleet_server_learn(&host->server, caller->config.tag,
		    &settled.numbers, caller->question.asked);
	else
		caller->granted =
		    fleet_host_settle(host, &caller->config, &caller->question,
			&settled, age, caller->random)
			.decision == HOST_GRANTED;
}

void
fleet_caller_settle(struct fleet_caller *caller, struct segment *segment,
    const struct header *header, enum fleet_outcome outcome,
    const struct fleet_answer *answer, nanos now)
{
	nanos age = segment_age(header, now);

	configure(caller, header);
	if (answer != NULL && answer->code == FLEET_STALE)
		fleet_server_learn_time(&segment->fleet.server,
		    caller->config.tag, answer->now, caller->question.asked);
	switch (outcome) {
	case FLEET_ANSWERED:
		settle_answer(caller, segment, answer, age);
		break;
	case FLEET_SENT:
		fleet_ledger_told(&segment->ledger, &caller->tally);
		break;
	case FLEET_SILENT:
		fleet_host_fail(&segment->fleet, &caller->config,
		    &caller->question, age, caller->random);
		break;
	case FLEET_CUT:
		fleet_host_drop(&segment->fleet, &caller->question, age);
		break;
	}
}

/* Whether this host is among those of the fleet that tell in this slice. */
static bool
is_chosen(const struct fleet_caller *caller, const struct segment *segment)
{
	int64_t hosts =
	    fleet_server_hosts(&segment->fleet.server, caller->config.tag);
	int64_t part = (int64_t)(caller->random >> 48); /* in 65536ths */

	return number_multiply(hosts, part) / 65536 < FLEET_CALLER_TELLERS;
}

bool
fleet_caller_elect(struct fleet_caller *caller, struct segment *segment,
    const struct header *header, nanos now)
{
	nanos age = segment_age(header, now);
	const struct host_config *config = configure(caller, header);

	caller->question = fleet_host_tell(&segment->fleet, config, age);
	caller->tally = (struct fleet_tally){ .first = false };
	return fleet_host_look(&segment->fleet, config->slice, age).down == 0 &&
	    fleet_ledger_elect(&segment->ledger, config->slice, age) &&
	    is_chosen(caller, segment);
}

bool
fleet_caller_claim(struct fleet_caller *caller, struct segment *segment,
    const struct header *header, nanos now)
{
	nanos age = segment_age(header, now);

	caller->question =
	    fleet_host_tell(&segment->fleet, configure(caller, header), age);
	/* Nobody would read the time in the server's answer. */
	if (caller->question.by == 0)
		return false;
	claim(caller, segment, age);
	return caller->tally.count > 0;
}
