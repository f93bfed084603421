#include "witness.h"

/* Whether the process was stopped, or had been killed, at any instant from
 * first to last. */
static bool
was_hurt(const struct request *request, nanos first, nanos last)
{
	return request->hurt > 0 && request->hurt <= last &&
	    request->resumed >= first;
}

size_t
witness_excess(
    const struct request *requests, size_t count, const struct terms *limits)
{
	size_t excess = 0;

	for (size_t i = 0; i < count; i++) {
		const struct request *last = &requests[i];
		nanos since = last->at - limits->window;
		int64_t failed = 0, successes = 0;

		if (last->status != 503 || !last->again || last->host == -1)
			continue;
		for (size_t n = 0; n <= i; n++) {
			const struct request *one = &requests[n];

			if (one->host != last->host)
				continue;
			successes += one->status == 200 &&
			    one->at > since - WITNESS_SLACK;
			failed += one->status == 503 && one->again &&
			    one->at > since + WITNESS_SLACK &&
			    !was_hurt(one, since - WITNESS_SLACK, one->at);
		}
		excess += failed > window_limit(limits, successes);
	}
	return excess;
}
