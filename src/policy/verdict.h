/*
 * verdict: what the outcome of an attempt means: done, retry or stop, and by
 * which rule.
 */
#ifndef VERDICT_H
#define VERDICT_H

#include <stdbool.h>
#include "policy/conditions.h"
#include "text/duration.h"
#include "http/http_status.h"

enum end {
	END_EXITED,
	END_SIGNALED,
	END_TIMED_OUT, /* --timeout ended it, whatever it then exited with */
	END_DEADLINE, /* the deadline ended it */
	END_NOT_STARTED, /* fork or exec failed */
};

/*
 * Why it all ended. In order of precedence: where several hold, the first.
 */
enum reason {
	REASON_NONE,
	REASON_INTERNAL,
	REASON_INTERRUPTED,
	REASON_NOT_EXECUTABLE,
	REASON_SUCCEEDED,
	REASON_STOP_RULE,
	REASON_NOT_RETRYABLE,
	REASON_NOT_IDEMPOTENT,
	REASON_INPUT_CONSUMED,
	REASON_INPUT_RESET,
	REASON_ATTEMPTS,
	REASON_RETRY_AFTER,
	REASON_DEADLINE,
	REASON_BREAKER,
	REASON_BUDGET,
};

/* How one attempt ended. */
struct outcome {
	enum end end;
	int code; /* exit status, or the number of the signal */
	int error; /* END_NOT_STARTED: errno */
	bool forked; /* END_NOT_STARTED: it was exec that failed, not fork */
	enum reason
	    lost; /* why another would lack its input; NONE: it would not */
	bool overrun; /* it wrote more than may be held */
	bool once; /* its HTTP request must not be sent twice */
	bool several; /* it may be several requests */
	int interrupted; /* the signal that ended the series meanwhile, or 0 */
	nanos elapsed; /* without the time retry itself was stopped */
	uint64_t seen; /* bit n: watch n was */
	struct http_status
	    http; /* what the status file says; not known without */
};

enum verdict {
	VERDICT_DONE,
	VERDICT_RETRY,
	VERDICT_STOP,
};

/* What the user said about outcomes. */
struct rules {
	struct conditions retry_on; /* with transient empty: every failure */
	struct conditions stop_on;
	struct conditions fail_on; /* those of presets included */
	struct conditions success_on;
	struct conditions transient, fatal; /* of presets */
	struct conditions gated; /* transient too, but only with */
	struct conditions own; /* one of these statuses */
};

/*
 * The rule that decided has one of these names, as manual and reports have
 * them, in the order in which they are asked.
 *
 *	hold-max	more was written than may be held
 *	success-on	--success-on names it
 *	exit-status	exit 0
 *	interrupted	by a signal that ends the series
 *	not-executable	found and refused, or not found
 *	stop-on		--stop-on names it
 *	preset		says stop, or retry, or does not say retry
 *	deadline	ended it, which says nothing of the command: retry
 *	signal		death by INT, QUIT or PIPE that nobody asked to retry
 *	http		the table of statuses, or the server asks for no retry
 *	retry-on	names it, or does not
 *	fail-on		makes it a failure, of which nothing else is said: retry
 *	idempotency	a retry, but for what must not be sent twice
 *	default		nothing is said of the failure: retry
 */
struct judgement {
	enum verdict verdict;
	enum reason reason; /* REASON_NONE for VERDICT_RETRY */
	const char *rule;
};

/*
 * Judges an outcome, in this order. Success: --success-on, --fail-on, an HTTP
 * status, exit 0. A failure: interrupted; not executable; --stop-on; fatal to
 * a preset; what nobody should retry unasked (death by INT, QUIT or PIPE); the
 * HTTP table, in which --retry-on http:... takes the place of what is retried;
 * --retry-on and what is transient to a preset, if there is any of them; what
 * must not be sent twice. Limits of time and number are plan's.
 */
struct judgement
verdict_of(const struct rules *rules, const struct outcome *outcome);

/*
 * Whether the command died because somebody at a keyboard or a reader that has
 * seen enough wanted it to: of INT, QUIT or PIPE.
 */
bool verdict_meant(const struct outcome *outcome);

/*
 * The exit status that stands for an outcome: the command's own, 128+n for a
 * signal, 124 for a limit, 127 and 126 for not found and not executable, 125
 * for what retry itself could not do.
 */
int verdict_status(const struct outcome *outcome);

/* A reason's name ("stop-rule"), as manual and reports have it. */
const char *verdict_reason_name(enum reason reason);

/* A reason in the words of "giving up: ..." ("attempts exhausted"). */
const char *verdict_reason_words(enum reason reason);

#endif
