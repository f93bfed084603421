#include "twin.h"

#include <stdio.h>
#include <string.h>
#include "text/number.h"

#define MICRO INT64_C(1000)
#define SLOTS TWIN_SLOTS

/* What counts at an epoch. */
struct sums {
	int64_t retries, successes, hosts;
	int64_t oldest; /* epoch with retries */
};

/* The epoch of which a slot has the counts. */
static int64_t epoch_of(const struct twin *twin, int64_t slot) {
	return twin->epoch - (twin->epoch + SLOTS - slot) % SLOTS;
}

static struct sums sums_of(const struct twin *twin) {
	struct sums sums = { .oldest = twin->epoch };

	for (int64_t i = 0; i < SLOTS; i++) {
		int64_t age = twin->epoch - epoch_of(twin, i);

		if (age < TWIN_RETRIES) {
			sums.retries += twin->retries[i];
			sums.hosts += twin->hosts[i];
		}
		if (age < TWIN_SUCCESSES)
			sums.successes += twin->successes[i];
		if (twin->retries[i] > 0 && epoch_of(twin, i) < sums.oldest)
			sums.oldest = epoch_of(twin, i);
	}
	return sums;
}

static void empty(struct twin *twin, int64_t slot) {
	twin->retries[slot] = twin->successes[slot] = twin->hosts[slot] = 0;
}

/* Makes all retries and hosts new, and forgets all successes. */
static void renew(struct twin *twin, int64_t epoch) {
	int64_t retries = 0, hosts = 0;

	for (int64_t i = 0; i < SLOTS; i++) {
		retries += twin->retries[i];
		hosts += twin->hosts[i];
		empty(twin, i);
	}
	twin->epoch = epoch;
	twin->dated = true;
	twin->retries[epoch % SLOTS] = retries;
	twin->hosts[epoch % SLOTS] = hosts;
}

/* Goes on to the epoch of a time. */
static void advance(struct twin *twin, int64_t now) {
	int64_t epoch = now / twin->slice;

	if (!twin->dated || twin->epoch > epoch + 1) {
		renew(twin, epoch);
		return;
	}
	for (int64_t i = 0; i < SLOTS; i++) {
		if (epoch_of(twin, i) <= epoch - TWIN_RETRIES)
			empty(twin, i);
	}
	twin->epoch = number_greater(twin->epoch, epoch);
}

static int64_t slice_of(const struct terms *terms) {
	nanos slices = WINDOW_SLICES * MICRO;

	return (terms->window + slices - 1) / slices;
}

static void agree(struct twin *twin, const struct terms *terms, bool asks) {
	if (!twin->stored) {
		twin->slice = slice_of(terms);
		twin->ratio = terms->ratio;
		twin->min = terms->min;
		twin->stored = true;
		twin->dated = false;
	} else if (asks) {
		twin->ratio = number_lesser(twin->ratio, terms->ratio);
		twin->min = number_lesser(twin->min, terms->min);
	}
}

/* Counts successes and retries of an age; the ring has no older ones. Returns
 * the retries to pay back. */
static int64_t count(struct twin *twin, const struct fleet_row *told, int64_t now) {
	int64_t age = told->age / MICRO + (told->age % MICRO > 0);
	int64_t epoch = (now - age) / twin->slice;

	if (epoch <= twin->epoch - TWIN_RETRIES)
		return 0;
	twin->retries[epoch % SLOTS] += told->alone;
	twin->successes[epoch % SLOTS] += told->successes;
	return epoch > twin->epoch - TWIN_RESCUED ? told->rescued : 0;
}

/* Takes retries away, the oldest first. */
static void pay_back(struct twin *twin, int64_t retries) {
	for (int64_t age = TWIN_RETRIES - 1; age >= 0; age--) {
		int64_t *slot = &twin->retries[(twin->epoch - age) % SLOTS];
		int64_t paid = number_lesser(*slot, retries);

		*slot -= paid;
		retries -= paid;
	}
}

static struct resp_reply
reply(const struct twin *twin, enum fleet_code code, int64_t limit, int64_t now) {
	struct sums sums = sums_of(twin);
	int64_t leaves = (sums.oldest + TWIN_RETRIES) * twin->slice;

	return (struct resp_reply){
		.type = RESP_ARRAY,
		.count = 11,
		.numbers = { code, sums.retries, limit, sums.successes, leaves - now,
		    1000000 + 500 * sums.hosts, now, sums.hosts, twin->ratio, twin->min,
		    twin->slice * WINDOW_SLICES },
	};
}

struct resp_reply
twin_answer(struct twin *twin, const struct fleet_question *question, nanos time) {
	bool asks = question->wants || question->count > 0;
	int64_t now = time / MICRO, limit, back = 0;
	enum fleet_code code = FLEET_NOTED;
	struct terms limits;
	struct twin next = *twin;
	struct sums sums;

	if (question->by > 0 && now > question->by / MICRO)
		return (struct resp_reply){
			.type = RESP_ARRAY,
			.count = 11,
			.numbers = { [0] = FLEET_STALE, [6] = now },
		};
	agree(&next, &question->terms, asks);
	advance(&next, now);
	for (size_t i = 0; i < question->count; i++) back += count(&next, &question->told[i], now);
	if (slice_of(&question->terms) <= next.slice)
		pay_back(&next, back);
	next.hosts[next.epoch % SLOTS] += question->first ? 1 : 0;
	sums = sums_of(&next);
	limits = (struct terms){ next.ratio, next.min, 0 };
	limit = window_limit(&limits, sums.successes);
	if (question->wants)
		code = sums.retries < limit ? FLEET_GRANTED : FLEET_DENIED;
	next.retries[next.epoch % SLOTS] += code == FLEET_GRANTED;
	if (asks)
		*twin = next;
	return reply(&next, code, limit, now);
}

void twin_write(const struct twin *twin, char room[TWIN_ROOM]) {
	struct sums sums = sums_of(twin);
	size_t at = (size_t)snprintf(room, TWIN_ROOM, "%lld %lld %lld %lld %lld %lld %lld %lld",
	    (long long)twin->slice, (long long)twin->ratio, (long long)twin->min,
	    (long long)twin->epoch, (long long)sums.retries, (long long)sums.successes,
	    (long long)sums.hosts, (long long)sums.oldest);

	for (int64_t i = 0; i < SLOTS; i++)
		at += (size_t)snprintf(room + at, TWIN_ROOM - at, " %lld %lld %lld",
		    (long long)twin->retries[i], (long long)twin->successes[i],
		    (long long)twin->hosts[i]);
}
