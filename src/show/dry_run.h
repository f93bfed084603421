/*
 * dry_run: prints the delays and the worst case of a policy, for --dry-run.
 */
#ifndef DRY_RUN_H
#define DRY_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include "policy/policy.h"

/* Up to FORECAST_ROWS retries have a row each; of more, the first ten have one.
 */
#define FORECAST_ROWS 100
#define FORECAST_FIRST 10

/* The most attempts for which cut is computed. */
#define FORECAST_ATTEMPTS 1000000

/* The bounds of a random time, and its average. */
struct span {
	nanos least, mean, most;
};

/*
 * Not included are waits for a budget, waits that a server asks for, and the
 * time of an attempt that goes on after SIGTERM. Times saturate.
 */
struct forecast {
	int64_t attempts, retries; /* at most; or POLICY_UNLIMITED */
	int64_t repetitions; /* of successes, at most; or POLICY_UNLIMITED */
	int rows; /* elements of delay, for the first retries */
	struct span delay[FORECAST_ROWS];
	struct span splay;
	struct span between; /* two successes in a row */
	struct span total; /* splay and delays, unless retries are unlimited */
	bool timed; /* each attempt has a timeout */
	nanos timeouts; /* of all attempts; NANOS_MAX if one has none */
	bool meanless; /* only splay has a mean */
	nanos worst; /* every attempt takes its timeout, every wait its most;
			NANOS_MAX: unbounded */
	nanos slo; /* service level objective: three times worst */
	bool fits; /* there is no deadline, or worst is within it */
	/*
	 * If worst does not fit: the first attempt that the deadline would end
	 * (begun) or prevent in the worst case. 0: none, because delays are
	 * trimmed to the deadline. Above FORECAST_ATTEMPTS: a later one.
	 */
	int64_t cut;
	bool begun;
	/* Attempts have no limit, and not all have a timeout: in cut each one
	 * fails at once. */
	bool quick;
};

/*
 * Delays are those of backoff_next() far from a deadline. In the worst case all
 * retries fail but the last, which succeeds and is repeated: successes between
 * failures would shorten the delays, unless the first delay of a list is longer
 * than later ones. With --limit fewer attempts may fail than are
 * allowed: the others succeed between failures, and the total is an upper
 * bound, which counts the delays of failures in a row. All other numbers are
 * exact, except that totals of more than a thousand retries are right to about
 * 0.1 %. Decorrelated jitter has no mean here: each delay depends on the one
 * before, and on the cap.
 */
void dry_run_forecast(struct forecast *forecast, const struct policy *policy);

/*
 * Prints the forecast of the policy and returns the exit status: 0, or
 * EXIT_STATUS_FAILED if standard output cannot be written to.
 */
int dry_run_show(const struct policy *policy);

#endif
