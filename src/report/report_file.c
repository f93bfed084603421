#include "report/report_file.h"

#include <errno.h>
#include <string.h>
#include "sys/sys.h"
#include "text/date.h"
#include "text/number.h"
#include "exit_status.h"
#include "version.h"
#include "output/writer.h"
#include "output/quote.h"
#include "report/atomic_file.h"

/* How long a reader that takes nothing is waited for; and if we are to end. */
#define PATIENCE (2 * NANOS_SECOND)
#define HURRY (100 * NANOS_MS)

/* All that can be told. */
struct record {
	const struct policy *policy;
	const struct attempt_log *attempt_log;
	const struct ending *ending;
	nanos now; /* Unix time */
};

/*
 * Values
 */

static const char *const end_names[] = {
	[END_EXITED] = "exited",
	[END_SIGNALED] = "killed",
	[END_TIMED_OUT] = "timed-out",
	[END_DEADLINE] = "deadline",
	[END_NOT_STARTED] = "not-started",
};

static const char *const verdict_names[] = {
	[VERDICT_DONE] = "done",
	[VERDICT_RETRY] = "retry",
	[VERDICT_STOP] = "stop",
};

/*
 * JSON. before is what precedes a value, its name included.
 */

static void
put_number(struct writer *writer, const char *before, int64_t value)
{
	char room[NUMBER_ROOM];

	writer_put(writer, before);
	writer_put(writer, number_put(room, value));
}

static void
put_string(struct writer *writer, const char *before, const char *string)
{
	writer_put(writer, before);
	if (string == NULL)
		writer_put(writer, "null");
	else
		quote_string(writer, QUOTE_JSON, string);
}

static void
put_null(struct writer *writer, const char *before)
{
	put_string(writer, before, NULL);
}

/* Less than none: there is none. */
static void
put_span(struct writer *writer, const char *before, nanos span, nanos none)
{
	if (span <= none)
		put_null(writer, before);
	else
		put_number(writer, before, number_round(span, NANOS_MS));
}

static void
put_signal(struct writer *writer, const char *before, int number)
{
	char room[CONDITIONS_SIGNAL_ROOM];

	put_string(writer, before,
	    number == 0 ? NULL : conditions_signal_name(room, number));
}

static void
put_attempt(struct writer *writer, const struct entry *entry)
{
	put_number(writer, "{\"attempt\": ", entry->attempt);
	put_span(writer, ", \"started_ms\": ", entry->began, -1);
	put_span(writer, ", \"elapsed_ms\": ", entry->elapsed, -1);
	put_string(writer, ", \"end\": ", end_names[entry->end]);
	put_number(writer, ", \"status\": ", entry->status);
	put_signal(writer, ", \"signal\": ", entry->signal);
	if (entry->http == 0)
		put_null(writer, ", \"http_status\": ");
	else
		put_number(writer, ", \"http_status\": ", entry->http);
	put_string(writer, ", \"verdict\": ", verdict_names[entry->verdict]);
	put_string(writer, ", \"rule\": ", entry->rule);
	put_span(writer, ", \"delay_ms\": ", entry->planned, -1);
	put_span(writer, ", \"slept_ms\": ", entry->slept, -1);
	writer_put(writer, ", \"budget_exhausted\": ");
	writer_put(writer, entry->budget_exhausted ? "true" : "false");
	writer_put(writer, "}");
}

static void
put_attempts(struct writer *writer, const struct attempt_log *attempt_log)
{
	int kept = attempt_log_kept(attempt_log);

	put_number(writer, ", \"attempt_count\": ", attempt_log->count);
	put_number(
	    writer, ", \"attempts_omitted\": ", attempt_log->count - kept);
	writer_put(writer, ", \"attempts\": [");
	for (int i = 0; i < kept; i++) {
		writer_put(writer, i == 0 ? "" : ", ");
		put_attempt(writer, attempt_log_at(attempt_log, i));
	}
	writer_put(writer, "]");
}

static void
put_policy(struct writer *writer, const struct policy *policy)
{
	const char *key = policy->share.key;

	writer_put(writer, ", \"command\": [");
	for (char **word = policy->command; *word != NULL; word++)
		put_string(writer, word == policy->command ? "" : ", ", *word);
	writer_put(writer, "]");
	if (policy->attempts == POLICY_UNLIMITED)
		put_null(writer, ", \"attempts_max\": ");
	else
		put_number(writer, ", \"attempts_max\": ", policy->attempts);
	put_span(writer, ", \"timeout_ms\": ", policy->timeout, 0);
	put_span(writer, ", \"deadline_ms\": ", policy->deadline, 0);
	put_string(
	    writer, ", \"budget\": ", key == NULL || *key == '\0' ? NULL : key);
}

/* On one line, so that it can be found among others. */
static void
put_report(struct writer *writer, const void *with)
{
	const struct record *record = with;
	const struct ending *ending = record->ending;
	char room[DATE_ROOM];

	put_string(writer, "{\"version\": ", VERSION);
	put_string(writer, ", \"id\": ", ending->id);
	put_policy(writer, record->policy);
	put_string(
	    writer, ", \"reason\": ", verdict_reason_name(ending->reason));
	put_number(writer, ", \"status\": ", ending->status);
	put_signal(writer, ", \"signal\": ", ending->signal);
	put_string(writer, ", \"started_at\": ",
	    date_put(room, (record->now - ending->elapsed) / NANOS_MS));
	put_span(writer, ", \"elapsed_ms\": ", ending->elapsed, -1);
	put_span(writer,
	    ", \"slept_ms\": ", attempt_log_slept(record->attempt_log), -1);
	put_attempts(writer, record->attempt_log);
	writer_put(writer, "}\n");
}

/*
 * Prometheus
 */

/* The file's last component, without ".prom". */
static void
put_label(struct writer *writer, const char *file)
{
	static const char suffix[] = ".prom";
	const char *slash = strrchr(file, '/');
	const char *name = slash == NULL ? file : slash + 1;
	size_t length = strlen(name), tail = sizeof suffix - 1;

	if (length > tail && strcmp(name + length - tail, suffix) == 0)
		length -= tail;
	writer_put(writer, "{name=");
	quote_put(writer, QUOTE_PROM, name, length);
}

/* A sample up to its value, and what is to be known of its metric. */
static void
put_metric(struct writer *writer, const struct record *record,
    const char *metric, const char *help)
{
	writer_put(writer, "# HELP ");
	writer_put(writer, metric);
	writer_put(writer, " ");
	writer_put(writer, help);
	writer_put(writer, "\n# TYPE ");
	writer_put(writer, metric);
	writer_put(writer, " gauge\n");
	writer_put(writer, metric);
	put_label(writer, record->policy->metrics);
}

static void
put_count(struct writer *writer, const struct record *record,
    const char *metric, const char *help, int64_t value)
{
	put_metric(writer, record, metric, help);
	put_number(writer, "} ", value);
	writer_put(writer, "\n");
}

static void
put_seconds(struct writer *writer, const struct record *record,
    const char *metric, const char *help, nanos span)
{
	char room[NUMBER_ROOM];

	put_metric(writer, record, metric, help);
	writer_put(writer, "} ");
	writer_put(writer,
	    number_put_decimal(room, number_round(span, NANOS_MS), 1000));
	writer_put(writer, "\n");
}

static void
put_metrics(struct writer *writer, const void *with)
{
	const struct record *record = with;
	const struct ending *ending = record->ending;

	put_count(writer, record, "retry_attempts", "Attempts made.",
	    record->attempt_log->count);
	put_count(writer, record, "retry_success",
	    "Whether the last attempt was a success.",
	    ending->reason == REASON_SUCCEEDED);
	put_count(writer, record, "retry_exit_status",
	    "Exit status, 128 and more for a signal.", ending->status);
	put_seconds(writer, record, "retry_duration_seconds",
	    "Time from start to end.", ending->elapsed);
	put_seconds(writer, record, "retry_delay_seconds",
	    "Time between attempts.", attempt_log_slept(record->attempt_log));
	put_seconds(writer, record, "retry_last_run_timestamp_seconds",
	    "When it ended.", record->now);
	put_metric(writer, record, "retry_reason", "Why it ended.");
	writer_put(writer, ",reason=");
	quote_string(writer, QUOTE_PROM, verdict_reason_name(ending->reason));
	writer_put(writer, "} 1\n");
}

/* Who watches by these files must learn of it: under -q, too. */
static void
write_document(const struct atomic_file *target, const char *what,
    struct atomic_file_wait *wait)
{
	struct line line = { .least = LOUDNESS_QUIET, .warning = true };

	if (target->file == NULL || atomic_file_write(target, wait))
		return;
	line.strings = STRINGS(
	    "cannot write ", what, " '", target->file, "': ", strerror(errno));
	log_tell(&wait->loop->log, &line);
}

int
report_file_write(const struct policy *policy,
    const struct attempt_log *attempt_log, struct ending *ending,
    struct event_loop *loop)
{
	const struct record record = { policy, attempt_log, ending,
		sys_now(CLOCK_REALTIME) };
	const struct atomic_file report = { policy->report, 0, put_report,
		&record };
	const struct atomic_file metrics = { policy->metrics, 0644, put_metrics,
		&record };
	struct atomic_file_wait wait = { .loop = loop,
		.patience =
		    ending->reason == REASON_INTERRUPTED ? HURRY : PATIENCE };

	write_document(&report, "report", &wait);
	if (wait.signal != 0)
		*ending = (struct ending){ .reason = REASON_INTERRUPTED,
			.status = EXIT_STATUS_SIGNAL + wait.signal,
			.signal = wait.signal,
			.elapsed = ending->elapsed,
			.id = ending->id };
	write_document(&metrics, "metrics", &wait);
	return wait.signal;
}
