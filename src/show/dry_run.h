/*
 * dry_run: prints the delays and the worst case of a policy, for --dry-run.
 */
#ifndef DRY_RUN_H
#define DRY_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include "policy/policy.h"

/* The most attempts that are gone through one by one. */
#define FORECAST_ATTEMPTS 1000000

/* The bounds of a random time, and its average. */
struct span {
	nanos least, mean, most;
};

/*
 * Not included are waits for a budget or --rate, those that a server asks for,
 * and the time of an attempt that goes on after SIGTERM. Times saturate.
 */
struct forecast {
	int64_t attempts, retries; /* at most; or POLICY_UNLIMITED */
	int64_t repetitions; /* of successes, at most; or POLICY_UNLIMITED */
	struct span splay;
	struct span total; /* splay and delays, unless retries are unlimited */
	bool timed; /* each attempt has a timeout */
	nanos timeouts; /* of all attempts; NANOS_MAX if one has none */
	nanos worst; /* every attempt takes its timeout, every wait its most;
			NANOS_MAX: unbounded */
	bool fits; /* there is no deadline, or worst is within it */
	/*
	 * If worst does not fit: the first attempt that the deadline would end
	 * (begun) or prevent in the worst case. 0: none, because delays are
	 * trimmed to the deadline. Above FORECAST_ATTEMPTS: a later one.
	 */
	int64_t cut;
	bool begun;
};

/*
 * Delays are those of backoff_next() far from a deadline. In the worst case all
 * retries fail but the last, which succeeds and is repeated: successes between
 * failures would shorten the delays, unless the first delay of a list is longer
 * than later ones. With --limit fewer attempts may fail than are
 * allowed: the others succeed between failures, and the total is an upper
 * bound, which counts the delays of failures in a row. So it is if delays still
 * grow after FORECAST_ATTEMPTS retries. All other numbers are exact.
 */
void dry_run_forecast(struct forecast *forecast, const struct policy *policy);

/* The n-th delay. Decorrelated jitter has no mean here: each delay depends on
 * the one before, and on the cap. */
struct span dry_run_delay(const struct backoff *backoff, int64_t n);

/*
 * Prints the forecast of the policy and returns the exit status: 0, or
 * EXIT_STATUS_FAILED if standard output cannot be written to.
 */
int dry_run_show(const struct policy *policy);

#endif
