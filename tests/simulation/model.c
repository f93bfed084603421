#include "model.h"

#include <err.h>
#include <stdlib.h>
#include "text/number.h"
#include "text/random.h"
#include "policy/plan.h"
#include "fleet_model.h"
#include "queue.h"

/* What happens to a client. */
enum what {
	WHAT_START,
	WHAT_WAKE, /* the wait for an attempt is over */
	WHAT_ANSWER, /* its command has the server's answer */
	WHAT_RENEW, /* the lease of a probe */
};

struct client {
	struct history history;
	struct caller caller;
	struct fleet_member member; /* of the fleet, if there is one */
	bool served; /* its last request was */
};

struct storm {
	const struct model *model;
	struct tally *tally;
	struct queue queue;
	struct load load; /* of the server */
	struct client *clients;
	struct segment *segments; /* one for each host, or NULL */
	int64_t hosts;
	struct fleet_model fleet; /* used if the policy has a fleet */
	int64_t ended; /* clients that count */
};

/* A seed that differs from its neighbours' in all bits: random_draw() gives
 * that of one client after the other. */
static uint64_t
seed_of(const struct model *model, uint32_t who)
{
	uint64_t state = model->seed + who * UINT64_C(0x9e3779b97f4a7c15);

	return random_draw(&state);
}

static void
put(struct storm *storm, nanos at, uint32_t who, enum what what)
{
	queue_put(&storm->queue, at, who, what);
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

	if (segment == NULL)
		return visit;
	visit.segment = segment;
	visit.header = &segment->header;
	visit.age = segment_age(visit.header, now);
	return visit;
}

static bool
has_fleet(const struct storm *storm)
{
	return storm->model->policy->fleet.text != NULL;
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
	if (step->again) {
		put(storm, step->at, who, WHAT_WAKE);
		return;
	}
	if (who < storm->model->scenario->scouts)
		return;
	if (step->reason == REASON_SUCCEEDED)
		tally_client(storm->tally, now - due(storm->model, who));
	else
		tally_lost(storm->tally);
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
		.code = client->served ? 0 : 1 };
	struct step step;

	plan_judge(policy, &client->history, &outcome);
	step = plan_next(policy, &client->history, now);
	if (segment != NULL)
		admission_tell(&visit,
		    verdict_result(&client->history.judgement, &outcome),
		    client->history.judgement.verdict == VERDICT_DONE);
	if (has_fleet(storm))
		fleet_model_tell(&storm->fleet, &client->member, segment,
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

	if (has_fleet(storm) && client->history.made == 0)
		fleet_model_greet(&storm->fleet, &client->member,
		    segment_of(storm, who), now);
	plan_begin(&client->history);
	if (client->caller.lease != 0)
		put(storm, client->caller.renewal, who, WHAT_RENEW);
	client->served = capacity_serves(capacity, &storm->load, now);
	tally_request(storm->tally, now, client->served);
	if (!client->served && client->history.made == 1)
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

	if (admission_begin(&client->caller, retry, now))
		admission = has_fleet(storm)
		    ? fleet_model_admit(
			  &storm->fleet, &client->member, &visit, retry)
		    : admission_ask(&visit, retry);
	if (admission.answer == ADMISSION_OPEN) {
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
		.history = plan_start(model->policy, due(model, who), NANOS_MAX,
		    seed_of(model, who)),
		.caller = { .config = &model->policy->budget,
		    .deposits = true,
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

	switch ((enum what)event->what) {
	case WHAT_START:
		if (next < model->scenario->clients)
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
	if (has_fleet(storm)) {
		fleet_model_start(
		    &storm->fleet, model->policy, model->record, model->seed);
		storm->fleet.mute = model->mute;
	}
	for (int64_t i = 0; i < storm->hosts; i++) {
		segment_make(
		    &storm->segments[i], budget->key, &budget->terms, &origin);
		if (has_fleet(storm) && model->known > 0)
			fleet_model_teach(&storm->fleet, &storm->segments[i],
			    model->known, -model->age);
		if (has_fleet(storm) && model->seen > 0)
			fleet_model_count(
			    &storm->fleet, &storm->segments[i], -model->seen);
	}
}

void
model_run(const struct model *model, struct tally *tally)
{
	int64_t clients = model->scenario->clients;
	struct storm storm = { .model = model, .tally = tally };
	struct event event;

	storm.clients = room_for(clients, sizeof *storm.clients);
	make_segments(&storm);
	put(&storm, 0, 0, WHAT_START);
	while (queue_take(&storm.queue, &event) &&
	    event.at < model->scenario->most)
		happen(&storm, &event);
	for (; storm.ended < clients - model->scenario->scouts; storm.ended++)
		tally_lost(tally);
	free(storm.queue.events);
	for (int64_t i = 0; i < clients; i++)
		free(storm.clients[i].member.sent);
	free(storm.segments);
	free(storm.clients);
}
