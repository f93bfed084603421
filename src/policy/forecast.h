/*
 * forecast: how long a policy would have everybody wait, at worst and on
 * average, without doing it.
 */
#ifndef FORECAST_H
#define FORECAST_H

#include <stdbool.h>
#include <stdint.h>
#include "policy/policy.h"

/* Of so many retries each delay is told; of more, of the first ten. */
#define FORECAST_ROWS 100
#define FORECAST_FIRST 10

/* As far as the deadline is looked for, in attempts. */
#define FORECAST_ATTEMPTS 1000000

/* Between what bounds a time is drawn, and what it is on average. */
struct span {
	nanos least, mean, most;
};

/*
 * What comes on top is left out: waits for a budget, for a server that asks to
 * be left alone, for an attempt that does not end when it is told to. Times
 * saturate.
 */
struct forecast {
	int64_t retries; /* POLICY_UNLIMITED: no cap */
	int rows; /* elements of delay: the first retries' */
	struct span delay[FORECAST_ROWS];
	struct span splay;
	struct span total; /* of splay and delays, unless retries has no cap */
	bool drawn; /* means of delays are right to a hundredth or so */
	nanos worst; /* all attempts at their timeout, all waits at most;
			NANOS_MAX: unbounded */
	nanos slo; /* three times that */
	bool fits; /* worst is within the deadline, or there is none */
	/*
	 * Where it does not fit: the first attempt that the deadline would end
	 * (begun) or prevent, if all took as long as it may. 0: none, since
	 * delays are trimmed to the deadline. Above FORECAST_ATTEMPTS: any of
	 * those.
	 */
	int64_t cut;
	bool begun;
};

/*
 * Delays as backoff_next draws them far from a deadline. All of it is exact,
 * but the mean of decorrelated jitter is that of many series drawn here, and of
 * more than a thousand retries totals are right to a thousandth or so.
 */
void forecast_make(struct forecast *forecast, const struct policy *policy);

#endif
