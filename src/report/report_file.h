/*
 * report_file: writes the files of --report, --metrics and --trace.
 *
 * The report is one JSON object; the metrics are for Prometheus's textfile
 * collector; trace_file.h has the trace. All are written when the invocation is
 * over.
 */
#ifndef REPORT_FILE_H
#define REPORT_FILE_H

#include "policy/policy.h"
#include "trace/trace.h"
#include "attempt/event_loop.h"
#include "report/attempt_log.h"

/* How the invocation ended. */
struct ending {
	enum reason reason;
	int status; /* retry's own, 128+n for a signal */
	int signal; /* that retry dies of, or 0 */
	nanos elapsed;
	nanos ended; /* Unix time */
	const char *limit; /* that was reached, as typed, or NULL */
	const char *id; /* RETRY_ID's value */
};

/*
 * Writes the files that the policy asks for; after an error retry only warns.
 * False if a signal has ended the wait for a reader. It is put into *ending,
 * and from then on retry waits for no reader.
 */
bool report_file_write(const struct policy *policy,
    const struct attempt_log *attempt_log, const struct trace *trace,
    struct ending *ending, struct event_loop *loop);

#endif
