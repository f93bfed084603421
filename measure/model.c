#include "model.h"

#include <err.h>
#include <stdlib.h>
#include "text/number.h"
#include "text/hash.h"
#include "policy/plan.h"
#include "../tests/fleet/twin.h"

/* How much the server does in a second, as measured: questions with a new
 * connection each, and what is told on an open one. */
#define CONNECTIONS 6000
#define TOLD 30000

/* The server's clock when the storm begins; it may be anything but zero. */
#define DATE (1000000 * NANOS_SECOND)

/* From a host to the server, and back. */
#define WAY (NANOS_MS / 4)

/* A question that is under way. */
struct sent {
	struct fleet_caller caller;
	struct fleet_answer answer;
	nanos at; /* when the process knows it */
};

/* An invocation, beside its struct caller; all zero at first. */
struct fleet_member {
	bool waits; /* for another process, since that age */
	nanos since;
	struct sent *sent; /* NULL: none is under way; to be freed in the end */
	bool granted; /* the server has granted the retry that is due */
	nanos asked; /* the age when it was asked for */
	bool connected; /* the connection was kept after an answer */
};

struct fleet {
	const struct policy *policy;
	struct fleet_record *record;
	struct fleet_caller caller; /* of the member that is being simulated */
	struct twin twin;
	nanos free; /* when the server has done all work that there is */
	uint64_t random;
};

/* Has a host know the server's clock, and how many hosts there are. */
static void
teach(struct fleet *fleet, struct segment *segment, int64_t hosts, nanos now)
{
	const struct fleet_answer answer = {
		.code = FLEET_NOTED, .now = DATE + now, .hosts = hosts
	};
	nanos age = segment_age(&segment->header, now);

	fleet->caller.question = (struct fleet_question){ .asked = age };
	fleet_host_store(&segment->fleet, &fleet->caller, &answer, age);
}

/* The member that is simulated until leave(). */
static void
enter(struct fleet *fleet, const struct fleet_member *member,
    const struct segment *segment)
{
	fleet->caller.slice = segment->header.slice;
	fleet->random = fleet->random * UINT64_C(6364136223846793005) +
	    UINT64_C(1442695040888963407);
	fleet->caller.random = fleet->random;
	fleet->caller.waits = member->waits;
	fleet->caller.since = member->since;
	fleet->caller.asked = member->asked;
}

static void
leave(const struct fleet_caller *caller, struct fleet_member *member)
{
	member->waits = caller->waits;
	member->since = caller->since;
	member->asked = caller->asked;
}

/* The server does work that comes at the instant now, after all other work.
 * Returns when that is done. */
static nanos
serve(struct fleet *fleet, int64_t rate, nanos now)
{
	fleet->free =
	    number_greater(fleet->free, now + WAY) + NANOS_SECOND / rate;
	return fleet->free;
}

/* The server runs the script for the caller's question at the instant now.
 * False if it was too late for an answer. */
static bool
run_script(struct fleet *fleet, struct fleet_answer *answer, nanos now)
{
	struct fleet_question question = fleet->caller.question;
	struct resp_reply reply;

	/* The host asks twice, but the way of the first question costs nothing
	 * here. */
	if (question.by == FLEET_BY_PAST)
		question.by =
		    number_add(DATE + now, fleet->policy->fleet.config.timeout);
	reply = twin_answer(&fleet->twin, &question, DATE + now);
	if (!question_read(&reply, &question, answer) ||
	    answer->code == FLEET_STALE)
		return false;
	for (size_t i = 0; i < question.count; i++)
		fleet->record->told += question.told[i].successes;
	return true;
}

/* Sends the caller's question on a new connection. */
static void
send_question(struct fleet *fleet, struct fleet_member *member, nanos now)
{
	struct sent *sent = malloc(sizeof *sent);
	struct fleet_record *record = fleet->record;
	nanos patience = fleet->policy->fleet.config.timeout;
	nanos done = serve(fleet, CONNECTIONS, now);
	bool answered;

	if (sent == NULL)
		err(1, "model");
	answered = run_script(fleet, &sent->answer, done) &&
	    done + WAY <= now + patience;
	sent->caller = fleet->caller;
	if (!answered)
		sent->answer = (struct fleet_answer){ .code = FLEET_SILENT };
	sent->at = number_lesser(done + WAY, now + patience);
	member->sent = sent;
	tally_request(&record->questions, now, answered);
	record->awaited++;
	record->silent += answered ? 0 : 1;
	record->open++;
	record->most_open = number_greater(record->most_open, record->open);
}

static void
disconnect(struct fleet *fleet, struct fleet_member *member)
{
	if (member->connected)
		fleet->record->open--;
	member->connected = false;
}

/* Stores what came of the question that is under way. */
static void
settle(struct fleet *fleet, struct fleet_member *member,
    struct segment *segment, nanos now)
{
	struct sent *sent = member->sent;

	if (now < sent->at)
		sent->answer.code = FLEET_CUT;
	fleet_host_store(&segment->fleet, &sent->caller, &sent->answer,
	    segment_age(&segment->header, now));
	member->granted = sent->answer.code == FLEET_GRANTED;
	leave(&sent->caller, member);
	member->connected = true;
	if (!member->granted)
		disconnect(fleet, member);
	member->sent = NULL;
	free(sent);
}

/*
 * As event_loop_await_admission(), without the wait. If the decision is
 * HOST_ASK, the question has been sent: call this again at member->sent->at.
 */
static struct admission
admit(struct fleet *fleet, struct fleet_member *member,
    const struct visit *visit, bool retry)
{
	struct admission admission;

	if (member->sent != NULL)
		settle(fleet, member, visit->segment, visit->now);
	enter(fleet, member, visit->segment);
	visit->caller->fleet = &fleet->caller;
	admission = admission_ask(visit, retry, member->granted);
	member->granted = false;
	leave(&fleet->caller, member);
	if (admission.fleet.decision == HOST_ASK)
		send_question(fleet, member, visit->now);
	if (admission.answer == ADMISSION_BREAKER ||
	    admission.answer == ADMISSION_BUDGET)
		disconnect(fleet, member);
	return admission;
}

/* Has a host that knows the clock tell the server of a success, which counts
 * the host then. */
static void
count_host(struct fleet *fleet, struct segment *segment, nanos now)
{
	nanos age = segment_age(&segment->header, now);
	struct fleet_answer answer;

	fleet->caller.slice = segment->header.slice;
	window_deposit(
	    &segment->window, window_epoch(fleet->caller.slice, age));
	fleet_host_claim(
	    &segment->fleet, &segment->window, &fleet->caller, age);
	run_script(fleet, &answer, now);
	fleet_host_store(&segment->fleet, &fleet->caller,
	    &(struct fleet_answer){ .code = FLEET_SENT }, age);
}

/* After each attempt, as link_report(). */
static void
tell(struct fleet *fleet, struct fleet_member *member, struct segment *segment,
    bool succeeded, nanos now)
{
	nanos age = segment_age(&segment->header, now);
	struct fleet_answer answer;

	if (member->sent != NULL)
		settle(fleet, member, segment, now);
	enter(fleet, member, segment);
	if (member->connected && succeeded)
		fleet_host_claim(
		    &segment->fleet, &segment->window, &fleet->caller, age);
	if (member->connected && succeeded &&
	    fleet->caller.question.count > 0) {
		run_script(fleet, &answer, serve(fleet, TOLD, now));
		fleet_host_store(&segment->fleet, &fleet->caller,
		    &(struct fleet_answer){ .code = FLEET_SENT }, age);
	}
	disconnect(fleet, member);
}

/* What happens to a client. */
enum what {
	WHAT_START,
	WHAT_WAKE, /* the wait for an attempt is over */
	WHAT_ANSWER, /* its command has the server's answer */
	WHAT_RENEW, /* the lease of a probe */
};

/* Those of one instant happen in the order in which they were put. */
struct event {
	nanos at;
	uint64_t number;
	uint32_t who;
	enum what what;
};

struct client {
	struct history history;
	struct caller caller;
	struct fleet_member member; /* of the fleet, if there is one */
	int status; /* of HTTP, of the last answer to it */
	nanos wait; /* that this one asked for */
};

struct storm {
	const struct model *model;
	struct tally *tally;
	struct event *events; /* a heap: none is before its parent */
	size_t count, room;
	uint64_t put; /* the number of the next event */
	struct load load; /* of the server */
	struct client *clients;
	struct segment *segments; /* one for each host, or NULL */
	int64_t hosts;
	struct fleet fleet; /* used if the policy has a fleet */
	int64_t ended; /* clients that count */
	int64_t begun; /* clients that begin at once, or where others ended */
};

/* A seed that differs from its neighbours' in all bits: hash_draw() gives
 * that of one client after the other. */
static uint64_t
seed_of(const struct model *model, uint32_t who)
{
	uint64_t state = model->seed + who * UINT64_C(0x9e3779b97f4a7c15);

	return hash_draw(&state);
}

static bool
is_before(const struct event *a, const struct event *b)
{
	return a->at < b->at || (a->at == b->at && a->number < b->number);
}

/* Adds an event to the heap. */
static void
put(struct storm *storm, nanos at, uint32_t who, enum what what)
{
	const struct event event = { at, storm->put++, who, what };
	size_t i = storm->count++;

	if (i == storm->room) {
		storm->room = i == 0 ? 256 : 2 * i;
		storm->events =
		    realloc(storm->events, storm->room * sizeof event);
		if (storm->events == NULL)
			err(1, "model");
	}
	while (i > 0 && is_before(&event, &storm->events[(i - 1) / 2])) {
		storm->events[i] = storm->events[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	storm->events[i] = event;
}

/* Takes the first event from the heap. False: there is none. */
static bool
take(struct storm *storm, struct event *event)
{
	const struct event *last;
	size_t i = 0, child;

	if (storm->count == 0)
		return false;
	*event = storm->events[0];
	last = &storm->events[--storm->count];
	while ((child = 2 * i + 1) < storm->count) {
		if (is_before(&storm->events[child + 1], &storm->events[child]))
			child++;
		if (!is_before(&storm->events[child], last))
			break;
		storm->events[i] = storm->events[child];
		i = child;
	}
	storm->events[i] = *last;
	return true;
}

/* One client after the other is on another host. */
static struct segment *
segment_of(const struct storm *storm, uint32_t who)
{
	return storm->segments == NULL ? NULL
				       : &storm->segments[who % storm->hosts];
}

static struct visit
visit_of(struct client *client, struct segment *segment, nanos now)
{
	struct visit visit = { .caller = &client->caller, .now = now };
	bool differs;

	if (segment == NULL)
		return visit;
	visit.segment = segment;
	visit.header = &segment->header;
	visit.age = segment_age(visit.header, now);
	visit.terms = segment_agree(
	    segment, visit.header, &(struct terms){ -1, -1, -1 }, &differs);
	visit.next = window_next(&segment->window, &visit.terms,
	    visit.header->slice, visit.age, &visit.sums);
	return visit;
}

static bool
has_fleet(const struct storm *storm)
{
	return storm->model->policy->fleet.text != NULL;
}

/* How many clients begin before any has ended. */
static int64_t
at_once(const struct scenario *scenario)
{
	return scenario->at_once > 0 ? scenario->at_once : scenario->clients;
}

/* When a client begins, from which its latency counts. */
static nanos
due(const struct model *model, uint32_t who)
{
	const struct scenario *scenario = model->scenario;

	return who < scenario->scouts
	    ? 0
	    : scenario->lead + (who - scenario->scouts) * scenario->apart;
}

static void
follow(struct storm *storm, uint32_t who, const struct step *step, nanos now)
{
	const struct scenario *scenario = storm->model->scenario;

	if (step->again) {
		put(storm, step->at, who, WHAT_WAKE);
		return;
	}
	if (storm->begun < scenario->clients)
		put(storm, now, (uint32_t)storm->begun++, WHAT_START);
	if (who < scenario->scouts)
		return;
	if (step->reason == REASON_SUCCEEDED)
		tally_client(storm->tally, now - due(storm->model, who));
	else
		storm->tally->lost++;
	storm->ended++;
}

/* The end of an attempt, as in attempt() of retry.c. */
static void
finish(struct storm *storm, uint32_t who, nanos now)
{
	const struct policy *policy = storm->model->policy;
	struct client *client = &storm->clients[who];
	struct segment *segment = segment_of(storm, who);
	struct visit visit = visit_of(client, segment, now);
	struct outcome outcome = { .end = END_EXITED,
		.code = client->status == 200 ? 0 : 1,
		.http.code = -1 };
	struct attempt_end end;
	struct step step;

	if (policy->http)
		outcome.http = (struct http_status){
			.code = client->status,
			.after = { .given = client->wait > 0,
			    .wait = client->wait },
		};

	plan_judge(policy, &client->history, &outcome);
	step = plan_next(policy, &client->history, now);
	end = plan_tell(policy, &client->history, &step);
	if (has_fleet(storm))
		enter(&storm->fleet, &client->member, segment);
	if (segment != NULL)
		admission_tell(&visit, &end);
	if (has_fleet(storm))
		tell(&storm->fleet, &client->member, segment,
		    step.reason == REASON_SUCCEEDED, now);
	follow(storm, who, &step, now);
}

/*
 * An attempt begins, and its request is at the server. A client that shares
 * nothing with others can use the answer at once, which saves an event.
 */
static void
begin(struct storm *storm, uint32_t who, nanos now)
{
	const struct model *model = storm->model;
	const struct capacity *capacity = &model->scenario->capacity;
	struct client *client = &storm->clients[who];
	nanos at = now + capacity->takes;

	plan_begin(&client->history);
	if (client->caller.lease != 0)
		put(storm, client->caller.renewal, who, WHAT_RENEW);
	client->status = capacity_answer(capacity, &storm->load, now);
	client->wait = client->status == 429 ? capacity_wait(capacity, now) : 0;
	tally_request(storm->tally, now, client->status == 200);
	if (client->status != 200 && client->history.made == 1)
		storm->tally->firsts++;
	if (at == now || storm->segments == NULL)
		finish(storm, who, at);
	else
		put(storm, at, who, WHAT_ANSWER);
}

/* The next attempt, if the budget admits it; else a wait, or the end. */
static void
wake(struct storm *storm, uint32_t who, nanos now)
{
	struct client *client = &storm->clients[who];
	struct visit visit = visit_of(client, segment_of(storm, who), now);
	struct admission admission = { .answer = ADMISSION_GRANTED };
	bool retry = client->history.made > 0;
	struct step step;

	if (visit.segment != NULL)
		admission = has_fleet(storm)
		    ? admit(&storm->fleet, &client->member, &visit, retry)
		    : admission_ask(&visit, retry, false);
	if (admission.answer == ADMISSION_PENDING) {
		/* Until the answer comes, or the host asks again. */
		put(storm,
		    client->member.sent != NULL ? client->member.sent->at
						: now + admission.fleet.next,
		    who, WHAT_WAKE);
		return;
	}
	if (admission.answer == ADMISSION_GRANTED) {
		begin(storm, who, now);
		return;
	}
	step = plan_denied(
	    storm->model->policy, &client->history, &admission, now);
	follow(storm, who, &step, now);
}

static void
start(struct storm *storm, uint32_t who, nanos now)
{
	const struct model *model = storm->model;
	struct client *client = &storm->clients[who];
	struct step step;

	*client = (struct client){
		.history = plan_start(
		    model->policy, now, NANOS_MAX, seed_of(model, who)),
		.caller = { .config = &model->policy->budget,
		    .random = seed_of(model, who) + 1,
		    .uses_breaker = true },
	};
	step = plan_first(model->policy, &client->history, now);
	follow(storm, who, &step, now);
}

static void
happen(struct storm *storm, const struct event *event)
{
	const struct model *model = storm->model;
	struct client *client = &storm->clients[event->who];
	uint32_t who = event->who, next = who + 1;
	nanos now = event->at;
	struct visit visit;

	switch (event->what) {
	case WHAT_START:
		if (next < at_once(model->scenario))
			put(storm, number_greater(now, due(model, next)), next,
			    WHAT_START);
		start(storm, who, now);
		break;
	case WHAT_WAKE:
		wake(storm, who, now);
		break;
	case WHAT_ANSWER:
		finish(storm, who, now);
		break;
	case WHAT_RENEW:
		/* Of a lease that has ended, or of another one, no more. */
		if (admission_nap(&client->caller, now) > 0)
			break;
		visit = visit_of(client, segment_of(storm, who), now);
		admission_renew(&visit);
		put(storm, client->caller.renewal, who, WHAT_RENEW);
		break;
	}
}

static void *
room_for(int64_t count, size_t size)
{
	void *room = calloc((size_t)count, size);

	if (room == NULL)
		err(1, "model");
	return room;
}

static void
make_segments(struct storm *storm)
{
	const struct model *model = storm->model;
	const struct budget_config *budget = &model->policy->budget;
	struct origin origin = { .base = -model->age };

	if (budget->key == NULL)
		return;
	storm->hosts = number_greater(model->scenario->hosts, 1);
	storm->segments = room_for(storm->hosts, sizeof *storm->segments);
	storm->fleet = (struct fleet){
		.policy = model->policy,
		.record = model->record,
		.caller = { .config = &model->policy->fleet.config,
		    .key = budget->key },
		.random = model->seed,
	};
	for (int64_t i = 0; i < storm->hosts; i++) {
		segment_make(
		    &storm->segments[i], budget->key, &budget->terms, &origin);
		if (has_fleet(storm) && model->known > 0)
			teach(&storm->fleet, &storm->segments[i], model->known,
			    -model->age);
		if (has_fleet(storm) && model->seen > 0)
			count_host(
			    &storm->fleet, &storm->segments[i], -model->seen);
	}
}

void
model_run(const struct model *model, struct tally *tally)
{
	int64_t clients = model->scenario->clients;
	struct storm storm = { .model = model, .tally = tally };
	struct event event;

	storm.begun = at_once(model->scenario);
	storm.clients = room_for(clients, sizeof *storm.clients);
	make_segments(&storm);
	put(&storm, 0, 0, WHAT_START);
	while (take(&storm, &event) && event.at < model->scenario->most)
		happen(&storm, &event);
	tally->lost += clients - model->scenario->scouts - storm.ended;
	free(storm.events);
	for (int64_t i = 0; i < clients; i++)
		free(storm.clients[i].member.sent);
	free(storm.segments);
	free(storm.clients);
}
