#include "scenario.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include "text/number.h"

/* Options that several variants share. */
#define STORM "-n inf -d 100ms --max-delay 10s "
#define BREAKER_20 "-j full -B storm --breaker 20,500ms,1s"

/* The budget's own directory is in RETRY_BUDGET_DIR. */
#define SHARED "-B storm "

/* The same for all hosts, on a server. */
#define FLEET SHARED "--fleet " SCENARIO_FLEET " --fleet-min 20 "

/*
 * Ten clients of a host cannot fail twenty times in a row. A hundred breakers
 * send a hundred probes, so their pauses are longer than those of one breaker.
 */
#define BREAKER "--breaker 5,500ms,2s"

/* Who fails at the end of the outage does not wait for 10 s more. */
#define HOSTS "-n inf -d 100ms --max-delay 4s "

#define ON_HOSTS \
	.clients = 1000, .hosts = 100, .apart = NANOS_MS, \
	.capacity = { .rate = 200, .end = 10 * NANOS_SECOND }, \
	.width = 100 * NANOS_MS

/*
 * The fleet's server grants 20 retries at most before it fails. A host that is
 * alone makes 20 / hosts, but at least 1, as many hosts as it has seen. The
 * first host that asks sees one, the second one sees two, and so on: all of
 * them together make 146 at most.
 */
#define FAULT(how, what) \
	{ \
		.name = how, \
		.options = HOSTS FLEET, \
		.fault = what, \
		.most_retries = 166, \
		.until = 20 * NANOS_SECOND, \
	}, \
	{ \
		.name = how ", breakers", .options = HOSTS FLEET BREAKER, \
		.fault = what, \
	}

#define DRILL "-n inf -d 100ms --max-delay 300ms "
#define DRILL_FLEET "--fleet " SCENARIO_FLEET " --fleet-min 2 "
#define DRILL_SIZE \
	.drill = true, .clients = 12, \
	.capacity = { .rate = 40, .end = NANOS_SECOND / 2 }, \
	.width = 50 * NANOS_MS, .most = 20 * NANOS_SECOND

/* The server stays down, and so nothing depends on how fast the clients are.
 * Each ends where it may not retry. */
#define DRILL_DOWN \
	.drill = true, .clients = 12, \
	.capacity = { .rate = 40, .end = 30 * NANOS_SECOND }, \
	.width = 50 * NANOS_MS, .most = 20 * NANOS_SECOND

#define DRILL_ENDS "-n 4 -d 10ms "

/* Who is not served in the end was not admitted by a host that is alone. */
#define DRILL_ALONE \
	DRILL SHARED "--budget-min 10000 --fleet " SCENARIO_FLEET \
		     " --fleet-alone 10000"

const struct scenario scenarios[] = {
	/*
	 * Published clients begin in one instant, and those without jitter come
	 * back in one: 200 are served each time. Processes need a second or
	 * more to start, come back as spread out, and the bucket is filled
	 * meanwhile: less is wasted, and the last are served sooner.
	 */
	{
		.name = "crowd",
		.title = "1,000 clients at once, a server of 200 a second, down "
			 "for 10 s",
		.clients = 1000,
		.capacity = { .rate = 200, .end = 10 * NANOS_SECOND },
		.width = NANOS_SECOND,
		.most = 90 * NANOS_SECOND,
		.variants = {
			{ .name = "constant 100ms",
			    .options = "-n inf -d 100ms -b constant -j none",
			    .slow = true },
			{ .name = "exponential", .options = STORM "-j none",
			    .drawn = "no jitter", .published_wasted = 9000,
			    .published_p99 = 52 * NANOS_SECOND },
			{ .name = "full", .options = STORM "-j full",
			    .drawn = "full jitter", .published_wasted = 8468,
			    .published_p99 = 19 * NANOS_SECOND, .near = true },
			{ .name = "equal", .options = STORM "-j equal" },
			{ .name = "decorrelated",
			    .options = STORM "-j decorrelated",
			    .published_wasted = 10695,
			    .published_p99 = 21 * NANOS_SECOND, .near = true },
			/* With -n inf it waits for the budget, too. */
			{ .name = "full, budget, breaker",
			    .options = STORM BREAKER_20,
			    .drawn = "budget and breaker", .most_wasted = 120,
			    .most_p99 = 105 },
		},
	},
	/*
	 * Where a failure takes time, all are under way before the breaker can
	 * open, and all want a retry: nobody can spare that. The allowance
	 * would pay for a few of them; the others are let in by the breaker.
	 */
	{
		.name = "slow-crowd",
		.title = "the same, and each request takes 3 s",
		.clients = 1000,
		.capacity = { .rate = 200, .end = 10 * NANOS_SECOND,
		    .takes = 3 * NANOS_SECOND },
		.width = NANOS_SECOND,
		.most = 90 * NANOS_SECOND,
		.variants = {
			{ .name = "full", .options = STORM "-j full" },
			{ .name = "full, budget, breaker",
			    .options = STORM BREAKER_20,
			    .most_wasted = 1200, .most_p99 = 150 },
		},
	},
	/*
	 * All first attempts come during the outage. No budget can spare them:
	 * so the bar of the fleet's budget is about retries. Without a breaker,
	 * most clients wait for a minute or longer until the budget allows them
	 * a retry, and nobody watches that.
	 */
	{
		.name = "hosts",
		.title = "1,000 clients at once on 100 hosts, a server of 200 a "
			 "second, down for 10 s",
		ON_HOSTS,
		.most = 30 * NANOS_SECOND,
		.variants = {
			{ .name = "full", .options = HOSTS },
			{ .name = "host budgets", .options = HOSTS SHARED,
			    .until = 20 * NANOS_SECOND },
			{ .name = "host budgets, breakers",
			    .options = HOSTS SHARED BREAKER, .most_max = 130 },
			{ .name = "fleet budget", .options = HOSTS FLEET,
			    .beside = "host budgets", .most_beside = 25,
			    .until = 20 * NANOS_SECOND },
			{ .name = "fleet budget, breakers",
			    .options = HOSTS FLEET BREAKER, .most_max = 130 },
		},
	},
	{
		.name = "hosts-alone",
		.title = "the same, and the fleet's server fails after 0.25 s",
		ON_HOSTS,
		.most = 90 * NANOS_SECOND,
		.variants = {
			FAULT("killed", REDIS_KILLED),
			FAULT("stopped for 5 s", REDIS_STOPPED),
			FAULT("half cut off", REDIS_PARTED),
		},
	},
	{
		.name = "drill",
		.title = "12 at once, 40 a second, down for 0.5 s",
		DRILL_SIZE,
		.variants = {
			{ .name = "full", .options = DRILL,
			    .drawn = "full jitter" },
		},
	},
	{
		.name = "drill-down",
		.title = "12 at once, and nobody could keep to these bars",
		DRILL_DOWN,
		.variants = {
			{ .name = "full", .options = DRILL_ENDS,
			    .most_wasted = 1, .most_retries = 1, .most_p99 = 1,
			    .most_max = 1 },
			{ .name = "full again", .options = DRILL_ENDS,
			    .beside = "full", .most_beside = 1 },
			{ .name = "given up", .options = "-n 1",
			    .most_p99 = 1000 },
			{ .name = "budget, breaker",
			    .options = DRILL_ENDS SHARED "--breaker 5,20s" },
		},
	},
	{
		.name = "drill-hosts",
		.title = "the same on 3 hosts",
		DRILL_DOWN,
		.hosts = 3,
		.variants = {
			{ .name = "host budgets",
			    .options = DRILL_ENDS SHARED },
			{ .name = "fleet budget",
			    .options = DRILL_ENDS SHARED DRILL_FLEET
				"--fleet-timeout 5s",
			    .beside = "host budgets", .most_beside = 25 },
		},
	},
	{
		.name = "drill-alone",
		.title = "12 on 3 hosts, and the fleet's server fails after 0.25 s",
		DRILL_SIZE,
		.hosts = 3,
		.variants = {
			{ .name = "killed", .options = DRILL_ALONE,
			    .fault = REDIS_KILLED },
			{ .name = "stopped", .options = DRILL_ALONE,
			    .fault = REDIS_STOPPED },
			{ .name = "cut off", .options = DRILL_ALONE,
			    .fault = REDIS_PARTED },
		},
	},
	{
		.name = "drill-endless",
		.title = "12 on 3 hosts that wait for a minute",
		DRILL_SIZE,
		.hosts = 3,
		.variants = {
			{ .name = "patient",
			    .options = "-n inf -d 1m --max-delay 1m -j none "
				SHARED DRILL_FLEET },
		},
	},
	{ .name = NULL },
};

size_t
scenario_words(const struct variant *variant, char *words[], size_t count)
{
	char *text = strdup(variant->options), *word;

	if (text == NULL)
		err(1, "scenario");
	while ((word = strsep(&text, " ")) != NULL)
		if (word[0] != '\0')
			words[count++] = word;
	return count;
}

bool
scenario_has_fleet(const struct variant *variant)
{
	return strstr(variant->options, SCENARIO_FLEET) != NULL;
}

bool
capacity_serves(const struct capacity *capacity, struct load *load, nanos now)
{
	nanos token;

	if (now >= capacity->begin && now < capacity->end)
		return false;
	if (capacity->flaky > 0 && ++load->count % capacity->flaky == 0)
		return false;
	if (capacity->rate == 0)
		return true;

	token = NANOS_SECOND / capacity->rate;
	if (now >= capacity->end)
		load->used = number_greater(load->used, capacity->end);
	/* What was not used within a second is lost. */
	load->used = number_greater(load->used, now - NANOS_SECOND);
	if (load->used + token > now)
		return false;
	load->used += token;
	return true;
}

nanos
scenario_limit(const struct scenario *scenario)
{
	const struct capacity *capacity = &scenario->capacity;

	if (capacity->rate == 0)
		return 0;
	return capacity->end - scenario->lead + capacity->takes +
	    (scenario->clients - scenario->scouts) * NANOS_SECOND /
	    capacity->rate;
}
