#include "scenario.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include "text/number.h"
#include "text/hash.h"

/* Options that several variants share. */
#define STORM "-n inf -d 100ms --max-delay 10s "
#define BREAKER_20 "-j full -B storm --breaker 20,500ms,1s"

/* The budget's own directory is in RETRY_BUDGET_DIR. */
#define SHARED "-B storm "

/* The same for all hosts, on a server. */
/* As the numbers of the hosts were recorded. */
#define MINUTE "--budget-window 60s "
#define FLEET SHARED MINUTE "--fleet " SCENARIO_FLEET " --fleet-min 20 "

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

/* Commands that a pool of workers runs, as xargs -P does. */
#define QUEUE(count, places) .clients = (count), .at_once = (places)

/* One that waits is served at last. */
#define PATIENT "-T 5m "

/* Of delays of a second, those of a command that fails often would take longer
 * than all others. */
#define SOON "-d 200ms "

/*
 * So many targets of the build run at once, and of 200 at 20 % a target or two
 * fail three times. So the outer retry is needed, and runs what is left.
 */
#define TARGET "-q -n 3 -d 100ms "

#define FAILING(percent_, time, longer, lost) \
	{ \
		.name = "flaky-" #percent_, \
		.title = "300 commands of 50 ms, 16 at a time, " #percent_ \
			 " % fail", \
		QUEUE(300, 16), \
		.capacity = { .percent = (percent_), .takes = 50 * NANOS_MS }, \
		.width = NANOS_SECOND, .most = 330 * NANOS_SECOND, \
		.variants = { \
			{ .name = "alone", .options = SOON PATIENT }, \
			{ .name = "budget", \
			    .options = SOON PATIENT SHARED, \
			    .beside = "alone", \
			    .most_time = (time), \
			    .most_longer = (longer) }, \
			{ .name = "budget, killed", \
			    .options = SOON PATIENT SHARED, \
			    .hurt = true }, \
			{ .name = "alone, 6 attempts", \
			    .options = SOON "-n 6" }, \
			{ .name = "budget, 6 attempts", \
			    .options = SOON "-n 6 " SHARED, \
			    .beside = "alone, 6 attempts", \
			    .most_lost = (lost) }, \
		}, \
	}

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
			{ .name = "host budgets", .options = HOSTS SHARED MINUTE,
			    .until = 20 * NANOS_SECOND },
			{ .name = "host budgets, breakers",
			    .options = HOSTS SHARED MINUTE BREAKER, .most_max = 130 },
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
	/*
	 * The server is well, and says when to come again. With a budget those
	 * are refused that were under way when the first one was: the slower
	 * processes start, the more.
	 */
	{
		.name = "quota",
		.title = "200 commands, 32 at a time, a server of 40 in each 5 s",
		QUEUE(200, 32),
		.capacity = { .quota = 40, .window = 5 * NANOS_SECOND, .takes = 10 * NANOS_MS },
		.width = NANOS_SECOND,
		.most = 400 * NANOS_SECOND,
		.variants = {
			{ .name = "alone", .options = "--http " PATIENT },
			{ .name = "budget", .options = "--http " PATIENT SHARED,
			    .beside = "alone", .most_wasted = 70,
			    .most_max = 120, .slow = true },
			{ .name = "budget, breaker",
			    .options = "--http " PATIENT SHARED "--breaker on",
			    .beside = "alone", .slow = true },
		},
	},
	{
		.name = "quota-wide",
		.title = "300 commands, 120 at a time, a server of 60 in each "
			 "4 s",
		QUEUE(300, 120),
		.capacity = { .quota = 60, .window = 4 * NANOS_SECOND, .takes = 10 * NANOS_MS },
		.width = NANOS_SECOND,
		.most = 400 * NANOS_SECOND,
		.variants = {
			{ .name = "alone", .options = "--http " PATIENT },
			{ .name = "budget", .options = "--http " PATIENT SHARED,
			    .beside = "alone", .most_wasted = 170,
			    .most_max = 120, .slow = true },
		},
	},
	/* Whichever of them are killed or stopped, nobody waits for these. */
	{
		.name = "limits",
		.title = "64 commands at once on each of 8 hosts, a server of "
			 "40 in each 2 s",
		.clients = 512,
		.hosts = 8,
		.capacity = { .quota = 40, .window = 2 * NANOS_SECOND },
		.width = NANOS_SECOND,
		.most = 60 * NANOS_SECOND,
		.variants = {
			{ .name = "budget", .options = "--http -T 1m " SHARED,
			    .hurt = true },
		},
	},
	FAILING(20, 0, 300, 3),
	FAILING(30, 15 * NANOS_SECOND, 0, 9),
	{
		.name = "outage",
		.title = "400 commands, 32 at a time, 503 for 10 s",
		QUEUE(400, 32),
		.capacity = { .end = 10 * NANOS_SECOND },
		.width = NANOS_SECOND,
		.most = 330 * NANOS_SECOND,
		.variants = {
			{ .name = "alone", .options = "--http " PATIENT },
			{ .name = "budget", .options = "--http " PATIENT SHARED,
			    .beside = "alone", .most_wasted = 60,
			    .most_time = 15 * NANOS_SECOND },
		},
	},
	/* Too few places for 20 failures in a row. */
	{
		.name = "places",
		.title = "200 commands of 200 ms, 8 at a time, down for 10 s",
		QUEUE(200, 8),
		.capacity = { .end = 10 * NANOS_SECOND,
		    .takes = 200 * NANOS_MS },
		.width = NANOS_SECOND,
		.most = 330 * NANOS_SECOND,
		.variants = {
			{ .name = "alone", .options = PATIENT "-t 1m" },
			{ .name = "budget, breaker",
			    .options = PATIENT "-t 1m " SHARED "--breaker on",
			    .beside = "alone",
			    .most_time = 20 * NANOS_SECOND },
		},
	},
	/* A job that begins at once may fail five times before the service is
	 * back: it gives up then, with a budget or without. */
	{
		.name = "cron",
		.title = "30 jobs at the same minute, down for 20 s",
		.clients = 30,
		.capacity = { .end = 20 * NANOS_SECOND },
		.width = NANOS_SECOND,
		.most = 330 * NANOS_SECOND,
		.variants = {
			{ .name = "alone", .options = PATIENT "--splay 10s" },
			{ .name = "budget",
			    .options = "-n 10 " SHARED
				"--budget-wait 5m --splay 10s",
			    .beside = "alone",
			    .most_time = 40 * NANOS_SECOND },
		},
	},
	{
		.name = "build",
		.title = "6 builds of 200 targets, 8 at a time, 20 % fail",
		QUEUE(6, 1),
		.hosts = 6,
		.capacity = { .percent = 20 },
		.width = NANOS_SECOND,
		.most = 330 * NANOS_SECOND,
		.variants = {
			{ .name = "alone", .options = "-n 3 -d 500ms",
			    .inner = TARGET },
			{ .name = "budget", .options = "-n 3 -d 500ms " SHARED,
			    .inner = TARGET SHARED, .beside = "alone",
			    .most_longer = 300 },
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

int
capacity_answer(const struct capacity *capacity, struct load *load, nanos now)
{
	nanos token, window;

	if (now >= capacity->begin && now < capacity->end)
		return 503;
	if (capacity->flaky > 0 && ++load->count % capacity->flaky == 0)
		return 503;
	if (capacity->percent > 0 &&
	    hash_draw(&load->chance) % 100 < (uint64_t)capacity->percent)
		return 503;
	if (capacity->quota > 0) {
		window = now / capacity->window;
		if (load->window != window)
			load->taken = 0;
		load->window = window;
		return load->taken++ < capacity->quota ? 200 : 429;
	}
	if (capacity->rate == 0)
		return 200;

	token = NANOS_SECOND / capacity->rate;
	if (now >= capacity->end)
		load->used = number_greater(load->used, capacity->end);
	/* What was not used within a second is lost. */
	load->used = number_greater(load->used, now - NANOS_SECOND);
	if (load->used + token > now)
		return 503;
	load->used += token;
	return 200;
}

nanos
capacity_wait(const struct capacity *capacity, nanos now)
{
	nanos left = capacity->window - now % capacity->window;

	return (left + NANOS_SECOND - 1) / NANOS_SECOND * NANOS_SECOND;
}

nanos
scenario_limit(const struct scenario *scenario)
{
	const struct capacity *capacity = &scenario->capacity;

	if (capacity->quota > 0)
		return (scenario->clients - 1) / capacity->quota *
		    capacity->window +
		    capacity->takes;
	if (capacity->rate == 0)
		return 0;
	return capacity->end - scenario->lead + capacity->takes +
	    (scenario->clients - scenario->scouts) * NANOS_SECOND /
	    capacity->rate;
}
