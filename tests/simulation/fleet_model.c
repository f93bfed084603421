#include "fleet_model.h"

#include <err.h>
#include <stdlib.h>
#include "text/number.h"

/* The server's clock when the storm begins; it may be anything but zero. */
#define DATE (1000000 * NANOS_SECOND)

/* From a host to the server, and back. */
#define WAY (NANOS_MS / 4)

void
fleet_model_start(struct fleet_model *fleet, const struct policy *policy,
    struct fleet_record *record, uint64_t seed)
{
	*fleet = (struct fleet_model){
		.policy = policy, .record = record, .random = seed
	};
	fleet->caller = (struct fleet_caller){
		.policy = &policy->fleet, .key = policy->budget.key, .tag = 1
	};
}

void
fleet_model_teach(struct fleet_model *fleet, struct segment *segment,
    int64_t hosts, nanos now)
{
	const struct fleet_answer answer = { .now = DATE + now,
		.hosts = hosts };

	nanos age = segment_age(&segment->header, now);

	fleet->caller.question = (struct fleet_question){ .asked = age };
	fleet_host_store(
	    &segment->fleet, &fleet->caller, FLEET_ANSWERED, &answer, age);
}

/* The member that is simulated until leave(). */
static void
enter(struct fleet_model *fleet, const struct fleet_member *member,
    const struct segment *segment)
{
	fleet->caller.slice = segment->header.slice;
	fleet->random = fleet->random * UINT64_C(6364136223846793005) +
	    UINT64_C(1442695040888963407);
	fleet->caller.random = fleet->random;
	fleet->caller.wait = member->wait;
	fleet->caller.granted = member->granted;
}

static void
leave(const struct fleet_caller *caller, struct fleet_member *member)
{
	member->wait = caller->wait;
	member->granted = caller->granted;
}

/* The server does work that comes at the instant now, after all other work.
 * Returns when that is done. */
static nanos
serve(struct fleet_model *fleet, int64_t rate, nanos now)
{
	fleet->free =
	    number_greater(fleet->free, now + WAY) + NANOS_SECOND / rate;
	return fleet->free;
}

/* The successes of which the caller's question tells. */
static int64_t
successes_of(const struct fleet_caller *caller)
{
	int64_t successes = 0;

	for (size_t i = 0; i < caller->question.count; i++)
		successes += caller->question.told[i].successes;
	return successes;
}

/* The server runs the script for the caller's question at the instant now.
 * False if it was too late for an answer. */
static bool
run_script(struct fleet_model *fleet, struct fleet_answer *answer, nanos now)
{
	struct fleet_question question = fleet->caller.question;
	struct resp_reply reply;

	question.now = DATE + now;
	/* The host asks twice, but the way of the first question costs nothing
	 * here. */
	if (question.by == FLEET_BY_PAST)
		question.by =
		    number_add(question.now, fleet->policy->fleet.timeout);
	reply = twin_answer(&fleet->twin, &question);
	if (!question_read(&reply, &question, answer) ||
	    answer->code == FLEET_STALE)
		return false;
	fleet->record->told += successes_of(&fleet->caller);
	return true;
}

/* Sends the caller's question on a new connection. */
static void
send_question(struct fleet_model *fleet, struct fleet_member *member, nanos now)
{
	struct fleet_question_sent *sent = malloc(sizeof *sent);
	struct fleet_record *record = fleet->record;
	nanos patience = fleet->policy->fleet.timeout;
	nanos done = serve(fleet, FLEET_MODEL_CONNECTIONS, now);
	bool answered;

	if (sent == NULL)
		err(1, "fleet_model");
	answered = run_script(fleet, &sent->answer, done) &&
	    done + WAY <= now + patience;
	sent->caller = fleet->caller;
	sent->outcome = answered ? FLEET_ANSWERED : FLEET_SILENT;
	sent->at = number_lesser(done + WAY, now + patience);
	member->sent = sent;
	tally_request(&record->questions, now, answered);
	if (!member->elected) {
		tally_client(&record->questions, done + WAY - now);
		record->awaited++;
		record->silent += answered ? 0 : 1;
	}
	if (answered)
		record->granted += sent->answer.granted;
	record->open++;
	record->most_open = number_greater(record->most_open, record->open);
}

static void
disconnect(struct fleet_model *fleet, struct fleet_member *member)
{
	if (member->connected)
		fleet->record->open--;
	member->connected = false;
}

/* Stores what came of the question that is under way. */
static void
settle(struct fleet_model *fleet, struct fleet_member *member,
    struct segment *segment, nanos now)
{
	struct fleet_question_sent *sent = member->sent;

	if (now < sent->at)
		sent->outcome = FLEET_CUT;
	fleet_host_store(&segment->fleet, &sent->caller, sent->outcome,
	    &sent->answer, segment_age(&segment->header, now));
	leave(&sent->caller, member);
	member->connected = true;
	if (sent->outcome != FLEET_ANSWERED ||
	    !(member->granted || member->elected))
		disconnect(fleet, member);
	member->sent = NULL;
	free(sent);
}

struct admission
fleet_model_admit(struct fleet_model *fleet, struct fleet_member *member,
    const struct visit *visit, bool retry)
{
	struct admission admission;

	if (member->sent != NULL)
		settle(fleet, member, visit->segment, visit->now);
	enter(fleet, member, visit->segment);
	visit->caller->fleet = &fleet->caller;
	admission = admission_ask(visit, retry);
	leave(&fleet->caller, member);
	if (admission.fleet.decision == HOST_ASK)
		send_question(fleet, member, visit->now);
	if (admission.answer == ADMISSION_HELD ||
	    admission.answer == ADMISSION_DENIED)
		disconnect(fleet, member);
	return admission;
}

void
fleet_model_greet(struct fleet_model *fleet, struct fleet_member *member,
    struct segment *segment, nanos now)
{
	if (fleet->mute)
		return;
	enter(fleet, member, segment);
	member->elected = fleet_host_elect(&segment->fleet, &fleet->caller,
	    segment_age(&segment->header, now));
	if (member->elected)
		send_question(fleet, member, now);
}

void
fleet_model_count(struct fleet_model *fleet, struct segment *segment, nanos now)
{
	nanos age = segment_age(&segment->header, now);
	struct fleet_answer answer;

	fleet->caller.slice = segment->header.slice;
	window_deposit(
	    &segment->window, window_epoch(fleet->caller.slice, age));
	fleet_host_claim(
	    &segment->fleet, &segment->window, &fleet->caller, age);
	run_script(fleet, &answer, now);
	fleet_host_store(
	    &segment->fleet, &fleet->caller, FLEET_SENT, NULL, age);
}

void
fleet_model_tell(struct fleet_model *fleet, struct fleet_member *member,
    struct segment *segment, bool succeeded, nanos now)
{
	nanos age = segment_age(&segment->header, now);
	struct fleet_answer answer;

	if (member->sent != NULL)
		settle(fleet, member, segment, now);
	enter(fleet, member, segment);
	if (member->connected && (succeeded || member->elected) &&
	    fleet_host_claim(
		&segment->fleet, &segment->window, &fleet->caller, age)) {
		run_script(fleet, &answer, serve(fleet, FLEET_MODEL_TOLD, now));
		fleet_host_store(
		    &segment->fleet, &fleet->caller, FLEET_SENT, NULL, age);
	}
	member->elected = false;
	disconnect(fleet, member);
}
