#include "capacity.h"

#include "text/number.h"

/* A queue of this many times the patience is full. */
enum { QUEUE = 2 };

/* What a full queue adds to the work on a request: one part in so many. */
enum { SLOWER = 10 };

static struct answer
refused(nanos at)
{
	return (struct answer){ false, at };
}

static struct answer
take_token(const struct capacity *capacity, struct load *load, nanos now)
{
	nanos token = NANOS_SECOND / capacity->rate;

	/* What was not used within a second is lost. */
	load->used = number_greater(load->used, now - NANOS_SECOND);
	if (load->used + token > now)
		return refused(now);
	load->used += token;
	return (struct answer){ true, now };
}

static struct answer
queue(const struct capacity *capacity, struct load *load, nanos now)
{
	nanos most = QUEUE * capacity->patience, waiting, work;

	load->used = number_greater(load->used, now);
	waiting = load->used - now;
	if (waiting >= most)
		return refused(now);
	work = NANOS_SECOND / capacity->rate;
	work += work / SLOWER * (waiting / NANOS_MS) / (most / NANOS_MS);
	load->used += work;
	if (load->used - now > capacity->patience)
		return refused(now + capacity->patience);
	return (struct answer){ true, load->used };
}

/* When the request would be answered if it took no time. */
static struct answer
decide(const struct capacity *capacity, struct load *load, nanos now)
{
	struct answer answer = { true, now };

	if (now >= capacity->begin && now < capacity->end)
		return refused(now);
	if (now < capacity->begin && capacity->hangs)
		return refused(capacity->begin);
	if (capacity->flaky > 0 && ++load->count % capacity->flaky == 0)
		return refused(now);
	/* What the server was working on is lost in the outage. */
	if (now >= capacity->end && load->used < capacity->end)
		load->used = capacity->end;
	if (capacity->rate > 0)
		answer = capacity->patience == 0
		    ? take_token(capacity, load, now)
		    : queue(capacity, load, now);
	/* The requests that wait are lost, too. */
	if (now < capacity->begin && answer.at >= capacity->begin)
		return refused(capacity->begin);
	return answer;
}

struct answer
capacity_request(const struct capacity *capacity, struct load *load, nanos now)
{
	struct answer answer = decide(capacity, load, now);

	answer.at += capacity->takes;
	return answer;
}
