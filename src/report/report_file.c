#include "report/report_file.h"

#include <errno.h>
#include <string.h>
#include "sys/sys.h"
#include "text/date.h"
#include "text/number.h"
#include "text/signame.h"
#include "exit_status.h"
#include "version.h"
#include "output/writer.h"
#include "report/atomic_file.h"
#include "report/trace_file.h"

/* How long to wait for a slow reader; and how long after a signal ended retry.
 */
#define PATIENCE (2 * NANOS_SECOND)
#define HURRY (100 * NANOS_MS)

/* The invocation that is reported. */
struct invocation {
	const struct policy *policy;
	const struct attempt_log *attempt_log;
	const struct ending *ending;
};

/*
 * Values
 */

static const char *const fleet_names[] = {
	[FLEET_VERDICT_NONE] = NULL,
	[FLEET_VERDICT_GRANTED] = "granted",
	[FLEET_VERDICT_DENIED] = "denied",
	[FLEET_VERDICT_ALONE] = "alone",
};

/*
 * JSON
 */

/* A time in milliseconds; null if span is at most none. */
static void
put_span(struct writer *writer, const char *name, nanos span, nanos none)
{
	if (span <= none)
		writer_json_string(writer, name, NULL);
	else
		writer_json_number(writer, name, number_round(span, NANOS_MS));
}

static void
put_signal(struct writer *writer, const char *name, int number)
{
	char room[SIGNAME_ROOM];

	writer_json_string(
	    writer, name, number == 0 ? NULL : signame_put(room, number));
}

/* A number; null where it is none. */
static void
put_number(
    struct writer *writer, const char *name, int64_t number, int64_t none)
{
	if (number == none)
		writer_json_string(writer, name, NULL);
	else
		writer_json_number(writer, name, number);
}

static void
put_attempt(struct writer *writer, const struct policy *policy,
    const struct entry *entry)
{
	writer_json_begin(writer, NULL, '{');
	writer_json_number(writer, "attempt", entry->attempt);
	put_span(writer, "started_ms", entry->began, -1);
	put_span(writer, "elapsed_ms", entry->elapsed, -1);
	put_span(writer, "timeout_ms", plan_timeout(policy, entry->attempt), 0);
	writer_json_string(writer, "end", verdict_end_name(entry->end));
	writer_json_number(writer, "status", entry->status);
	put_signal(writer, "signal", entry->signal);
	put_number(writer, "http_status", entry->http, 0);
	put_span(writer, "retry_after_ms", entry->asked, -1);
	writer_json_string(writer, "verdict", verdict_name(entry->verdict));
	writer_json_string(writer, "rule", entry->rule);
	put_span(writer, "delay_ms", entry->planned, -1);
	put_span(writer, "slept_ms", entry->slept, -1);
	writer_json_raw(writer, "budget_exhausted",
	    entry->budget_exhausted ? "true" : "false");
	writer_json_string(writer, "fleet", fleet_names[entry->fleet]);
	writer_json_end(writer, '}');
}

static void
put_attempts(struct writer *writer, const struct policy *policy,
    const struct attempt_log *attempt_log)
{
	int kept = attempt_log_kept(attempt_log);

	writer_json_number(writer, "attempt_count", attempt_log->count);
	writer_json_number(
	    writer, "attempts_omitted", attempt_log->count - kept);
	writer_json_begin(writer, "attempts", '[');
	for (int i = 0; i < kept; i++)
		put_attempt(writer, policy, attempt_log_at(attempt_log, i));
	writer_json_end(writer, ']');
}

static void
put_policy(struct writer *writer, const struct policy *policy)
{
	const char *key = policy->budget.key;

	writer_json_begin(writer, "command", '[');
	for (char **word = policy->command; *word != NULL; word++)
		writer_json_string(writer, NULL, *word);
	writer_json_end(writer, ']');
	writer_json_string(writer, "label", policy->label);
	put_number(writer, "attempts_max", policy->attempts, POLICY_UNLIMITED);
	writer_json_number(writer, "consecutive", policy->consecutive);
	put_span(writer, "timeout_ms", plan_timeout(policy, 1), 0);
	put_span(writer, "idle_timeout_ms", policy->idle_timeout, 0);
	put_span(writer, "deadline_ms", policy->deadline, 0);
	writer_json_string(
	    writer, "budget", key == NULL || *key == '\0' ? NULL : key);
	writer_json_string(writer, "fleet", policy->fleet.text);
}

/* On one line, so that tools for lines find it among other output. */
static void
put_report(struct writer *writer, const void *with)
{
	const struct invocation *invocation = with;
	const struct ending *ending = invocation->ending;
	char room[DATE_ROOM];

	writer_json_begin(writer, NULL, '{');
	writer_json_string(writer, "version", VERSION);
	writer_json_string(writer, "id", ending->id);
	put_policy(writer, invocation->policy);
	writer_json_string(
	    writer, "reason", verdict_reason_name(ending->reason));
	writer_json_string(writer, "limit", ending->limit);
	writer_json_number(writer, "status", ending->status);
	put_signal(writer, "signal", ending->signal);
	writer_json_string(writer, "started_at",
	    date_put(room,
		(invocation->ending->ended - ending->elapsed) / NANOS_MS));
	put_span(writer, "elapsed_ms", ending->elapsed, -1);
	put_span(
	    writer, "slept_ms", attempt_log_slept(invocation->attempt_log), -1);
	put_attempts(writer, invocation->policy, invocation->attempt_log);
	writer_json_end(writer, '}');
	writer_put(writer, "\n");
}

/*
 * Prometheus
 */

/* The labels: name is the last component of the file's name, without ".prom";
 * label is that of --label, if there is one. */
static void
put_labels(struct writer *writer, const struct policy *policy)
{
	static const char suffix[] = ".prom";
	const char *file = policy->metrics, *label = policy->label;
	const char *slash = strrchr(file, '/');
	const char *name = slash == NULL ? file : slash + 1;
	size_t length = strlen(name), tail = sizeof suffix - 1;

	if (length > tail && strcmp(name + length - tail, suffix) == 0)
		length -= tail;
	writer_put(writer, "{name=");
	writer_put_string(writer, ESCAPE_PROM, name, length);
	if (label == NULL)
		return;
	writer_put(writer, ",label=");
	writer_put_string(writer, ESCAPE_PROM, label, strlen(label));
}

/* The HELP and TYPE of a metric, and its sample up to the value. */
static void
put_metric(struct writer *writer, const struct invocation *invocation,
    const char *metric, const char *help)
{
	writer_put_all(writer,
	    STRINGS("# HELP ", metric, " ", help, "\n# TYPE ", metric,
		" gauge\n", metric));
	put_labels(writer, invocation->policy);
}

static void
put_count(struct writer *writer, const struct invocation *invocation,
    const char *metric, const char *help, int64_t value)
{
	char room[NUMBER_ROOM];

	put_metric(writer, invocation, metric, help);
	writer_put_all(writer, STRINGS("} ", number_put(room, value), "\n"));
}

static void
put_seconds(struct writer *writer, const struct invocation *invocation,
    const char *metric, const char *help, nanos span)
{
	char room[NUMBER_ROOM];
	int64_t ms = number_round(span, NANOS_MS);

	put_metric(writer, invocation, metric, help);
	writer_put_all(
	    writer, STRINGS("} ", number_put_decimal(room, ms, 1000), "\n"));
}

static void
put_fleet(struct writer *writer, const struct invocation *invocation)
{
	const int64_t *fleet = invocation->attempt_log->fleet;

	put_count(writer, invocation, "retry_fleet_granted",
	    "Retries that the fleet granted.", fleet[FLEET_VERDICT_GRANTED]);
	put_count(writer, invocation, "retry_fleet_denied",
	    "Retries that the fleet denied.", fleet[FLEET_VERDICT_DENIED]);
	put_count(writer, invocation, "retry_fleet_alone",
	    "Retries made without an answer of the fleet.",
	    fleet[FLEET_VERDICT_ALONE]);
}

static void
put_metrics(struct writer *writer, const void *with)
{
	const struct invocation *invocation = with;
	const struct ending *ending = invocation->ending;

	put_count(writer, invocation, "retry_attempts", "Attempts made.",
	    invocation->attempt_log->count);
	put_count(writer, invocation, "retry_success",
	    "Whether retry succeeded.", ending->reason == REASON_SUCCEEDED);
	put_count(writer, invocation, "retry_exit_status",
	    "Exit status, 128 and more for a signal.", ending->status);
	put_seconds(writer, invocation, "retry_duration_seconds",
	    "Time from start to end.", ending->elapsed);
	put_seconds(writer, invocation, "retry_delay_seconds",
	    "Time between attempts.",
	    attempt_log_slept(invocation->attempt_log));
	put_seconds(writer, invocation, "retry_last_run_timestamp_seconds",
	    "When it ended.", invocation->ending->ended);
	if (invocation->policy->fleet.text != NULL)
		put_fleet(writer, invocation);
	put_metric(writer, invocation, "retry_reason", "Why it ended.");
	writer_put_all(writer,
	    STRINGS(
		",reason=\"", verdict_reason_name(ending->reason), "\"} 1\n"));
}

/*
 * Writes a file that the policy asks for. An error is shown even with -q,
 * because other programs read these files. A signal that ends the wait for a
 * reader is how the invocation ended.
 */
static void
write_file(const struct atomic_file *target, const char *what,
    struct ending *ending, struct atomic_file_wait *wait)
{
	struct line line = { .least = LOUDNESS_QUIET, .warning = true };

	if (target->file == NULL || atomic_file_write(target, wait))
		return;
	line.strings = STRINGS(
	    "cannot write ", what, " '", target->file, "': ", strerror(errno));
	log_tell(&wait->loop->log, &line);
	if (!wait->ended)
		return;
	ending->reason = REASON_INTERRUPTED;
	ending->signal = wait->loop->ending_signal;
	ending->status = EXIT_STATUS_SIGNAL + ending->signal;
	ending->limit = NULL;
}

/* Adds the trace to its file, if the invocation is traced. */
static void
write_trace(const struct invocation *invocation, const struct trace *trace,
    struct ending *ending, struct atomic_file_wait *wait)
{
	const struct traced traced = { invocation->policy,
		invocation->attempt_log, trace, ending->reason, ending->status,
		ending->ended - ending->elapsed, ending->elapsed };
	const struct atomic_file file = { .file = invocation->policy->trace,
		.put = trace_file_put,
		.with = &traced,
		.append = true };

	if (!trace->on)
		return;
	trace_file_check(&wait->loop->log);
	write_file(&file, "trace", ending, wait);
}

bool
report_file_write(const struct policy *policy,
    const struct attempt_log *attempt_log, const struct trace *trace,
    struct ending *ending, struct event_loop *loop)
{
	const struct invocation invocation = { policy, attempt_log, ending };
	const struct atomic_file report = {
		.file = policy->report, .put = put_report, .with = &invocation
	};
	const struct atomic_file metrics = { .file = policy->metrics,
		.mode = 0644,
		.put = put_metrics,
		.with = &invocation };
	struct atomic_file_wait wait = { .loop = loop,
		.patience =
		    ending->reason == REASON_INTERRUPTED ? HURRY : PATIENCE };

	write_file(&report, "report", ending, &wait);
	write_file(&metrics, "metrics", ending, &wait);
	write_trace(&invocation, trace, ending, &wait);
	return !wait.ended;
}
