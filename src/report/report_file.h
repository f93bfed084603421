/*
 * report_file: what is written about an invocation when it is over: the report,
 * one JSON object, and metrics for Prometheus's textfile collector.
 */
#ifndef REPORT_FILE_H
#define REPORT_FILE_H

#include "policy/attempt_log.h"
#include "policy/policy.h"
#include "attempt/event_loop.h"

/* What all of it came to. */
struct ending {
	enum reason reason;
	int status; /* retry's own, 128+n for a signal */
	int signal; /* that retry dies of, or 0 */
	nanos elapsed;
	const char *id; /* RETRY_ID's value */
};

/*
 * Writes what the policy asks for. What goes wrong is a warning. Returns the
 * signal that ended the wait for a reader, or 0; what is written after it
 * tells of that ending, and is not waited for.
 */
int report_file_write(const struct policy *policy,
    const struct attempt_log *attempt_log, struct ending *ending,
    struct event_loop *loop);

#endif
