/*
 * report: keeps how each attempt ended, and writes the files of --report,
 * --metrics and --trace.
 *
 * The report is one JSON object; the metrics are for Prometheus's textfile
 * collector; the trace is one line, an ExportTraceServiceRequest in the JSON
 * encoding of OTLP 1.0. All are written when the invocation is over. Of many
 * attempts the first ten and the last ninety are kept, so memory is fixed.
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include "attempt/event_loop.h"
#include "attempt/lookout.h"
#include "policy/plan.h"
#include "attempt/trace.h"

/* The most bytes of a message, or of why; a longer one is cut. */
#define REPORT_TEXT 400

#define REPORT_FIRST 10
#define REPORT_LAST 90

/* One attempt. */
struct entry {
	int64_t attempt; /* from 1 */
	nanos began; /* since retry began */
	struct outcome outcome;
	struct judgement judgement;
	nanos
	    planned; /* the delay before the next attempt; -1: there is none */
	nanos slept; /* the real delay, with admission; -1: not over */
	bool budget_exhausted; /* the budget denied the next attempt */
	bool throttled; /* the pace or --rate delayed or prevented it */
	nanos held; /* how long the server wanted no next attempt; 0: no time */
	double pace; /* of the server, in a second; 0: none was known */
	enum host_decision fleet; /* about the next attempt, up to HOST_ALONE */
	int64_t failed; /* attempts that failed in a row directly before it */
	uint64_t span; /* the id of its span, if it is traced */
	char message[REPORT_TEXT + 4]; /* what was said of it; "": nothing */
	char why[REPORT_TEXT + 4]; /* the rule, and what matched; "": none */
};

/* An invocation. At its begin the first four are set, and all else is zero. */
struct report {
	const struct policy *policy;
	const struct history *history;
	const struct trace *trace;
	const char *id; /* RETRY_ID's value */
	int64_t count; /* of all attempts */
	nanos slept; /* all delays that are over */
	int64_t fleet[HOST_ALONE + 1]; /* how many of each */

	/* What was last said of the end, and for which reason. */
	char message[REPORT_TEXT + 4];
	enum reason said;

	/* How it ended, once report_write() is called. */
	struct step *step;
	nanos elapsed;
	nanos ended; /* Unix time */
	struct trace_resource *resource; /* of the trace; NULL: no memory */
	const struct lookout *lookout; /* at targets; NULL: there are none */

	struct entry entries[REPORT_FIRST + REPORT_LAST];
};

/*
 * Adds the latest attempt and what follows from it. The attempt began at the
 * instant began on CLOCK_BOOTTIME.
 */
void
report_attempt(struct report *report, const struct step *step, nanos began);

/* The entry of the latest attempt; NULL before the first one. */
struct entry *report_latest(struct report *report);

/* Notes what the budget and the fleet have said about the attempt after the
 * latest one. A verdict of the fleet counts once, however often it was asked.
 */
void report_admission(struct report *report, const struct admission *admission);

/* Notes that the delay after the latest attempt is over now. */
void report_wake(struct report *report, nanos now);

/* The i-th attempt of those that are kept, from 0; NULL: there are fewer. */
const struct entry *report_entry(const struct report *report, int i);

/*
 * Writes the files that the policy asks for, about an invocation that ends now
 * on CLOCK_BOOTTIME as the step says; after an error retry only warns. False if
 * a signal came meanwhile. Then the step says that, also to the files that are
 * written later, and from then on retry waits for no reader.
 */
bool report_write(struct report *report, struct step *step, nanos now,
    struct event_loop *loop);

#endif
