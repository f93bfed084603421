#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "exit_status.h"
#include "output/writer.h"
#include "report/report_file.h"
#include "sys/sys.h"
#include "text/date.h"
#include "text/escape.h"
#include "text/number.h"
#include "text/signame.h"
#include "version.h"

#define KEPT (REPORT_FIRST + REPORT_LAST)

/* How long to wait for a slow reader; and how long after a signal ended retry.
 */
#define PATIENCE (2 * NANOS_SECOND)
#define HURRY (100 * NANOS_MS)

/* Values of enums in trace.proto. */
#define KIND_INTERNAL 1
#define STATUS_ERROR 2

/* A longer TRACESTATE is left out, because each span would repeat it. Trace
 * Context, "tracestate Limits", wants at least so many bytes to be kept. */
#define STATE_MOST 512

/*
 * Attempts
 */

/* The index of the entry of attempt number n + 1. */
static int
index_of(int64_t n)
{
	return n < REPORT_FIRST
	    ? (int)n
	    : REPORT_FIRST + (int)((n - REPORT_FIRST) % REPORT_LAST);
}

void
report_start(struct report *report, const struct policy *policy,
    const struct history *history, const struct trace *trace, const char *id)
{
	/* The entries are not cleared: most invocations use a single one. */
	report->policy = policy;
	report->history = history;
	report->trace = trace;
	report->id = id;
	report->count = 0;
	report->slept = 0;
	report->said = REASON_NONE;
	memset(report->fleet, 0, sizeof report->fleet);
}

struct entry *
report_latest(struct report *report)
{
	return report->count == 0
	    ? NULL
	    : &report->entries[index_of(report->count - 1)];
}

void
report_attempt(struct report *report, const struct step *step, nanos began)
{
	const struct history *history = report->history;
	const struct entry *before = report_latest(report);
	bool again =
	    before != NULL && before->judgement.verdict == VERDICT_RETRY;
	int64_t failed = again ? before->failed + 1 : 0;

	report->entries[index_of(report->count)] =
	    (struct entry){ .attempt = report->count + 1,
		    .began = began - history->began,
		    .outcome = history->last,
		    .judgement = history->judgement,
		    .planned = step->again ? step->delay : -1,
		    .slept = -1,
		    .failed = failed,
		    .span = report->trace->attempt };
	report->count++;
}

void
report_wake(struct report *report, nanos now)
{
	struct entry *entry = report_latest(report);

	if (entry == NULL || entry->planned < 0 || entry->slept >= 0)
		return;
	entry->slept = now - report->history->began - entry->began -
	    entry->outcome.duration;
	report->slept =
	    number_add(report->slept, number_greater(entry->slept, 0));
}

void
report_admission(struct report *report, const struct admission *admission)
{
	enum host_decision decision = admission->fleet.decision;
	bool granted = admission->answer == ADMISSION_GRANTED;
	struct entry *entry = report_latest(report);

	/* Before the first attempt, there is no entry to note it in. */
	if (entry == NULL)
		return;
	if (admission->answer == ADMISSION_DENIED)
		entry->budget_exhausted = true;
	if (admission->answer == ADMISSION_THROTTLED)
		entry->throttled = true;
	if (decision == entry->fleet ||
	    (decision != HOST_DENIED &&
		(!granted ||
		    (decision != HOST_GRANTED && decision != HOST_ALONE))))
		return;
	entry->fleet = decision;
	report->fleet[decision]++;
}

const struct entry *
report_entry(const struct report *report, int i)
{
	int64_t lost = number_greater(report->count - KEPT, 0);
	int64_t n = i < REPORT_FIRST ? i : lost + i;

	return n < report->count ? &report->entries[index_of(n)] : NULL;
}

/* The exit status of retry, or 128+n where it dies of a signal. */
static int
status_of(const struct report *report)
{
	return report->step->signal != 0
	    ? EXIT_STATUS_SIGNAL + report->step->signal
	    : report->step->status;
}

/* The code of the HTTP response to an attempt; 0: unknown. */
static int
http_code(const struct outcome *outcome)
{
	return outcome->http.known ? outcome->http.code : 0;
}

/*
 * The report
 */

/* A time in milliseconds; null if span is at most none. */
static void
put_ms(struct writer *writer, const char *name, nanos span, nanos none)
{
	if (span <= none)
		writer_json_string(writer, name, NULL);
	else
		writer_json_number(writer, name, number_round(span, NANOS_MS));
}

static void
put_signal(struct writer *writer, const char *name, int signal)
{
	char room[SIGNAME_ROOM];

	writer_json_string(
	    writer, name, signal == 0 ? NULL : signame_put(room, signal));
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

/* A text; null if it is empty. */
static void
put_words(struct writer *writer, const char *name, const char *text)
{
	writer_json_string(writer, name, *text == '\0' ? NULL : text);
}

static void
put_attempt(struct writer *writer, const struct policy *policy,
    const struct entry *entry)
{
	static const char fleet_names[][8] = {
		[HOST_GRANTED] = "granted",
		[HOST_DENIED] = "denied",
		[HOST_ALONE] = "alone",
	};
	const struct outcome *outcome = &entry->outcome;

	writer_json_begin(writer, NULL, '{');
	writer_json_number(writer, "attempt", entry->attempt);
	put_ms(writer, "started_ms", entry->began, -1);
	put_ms(writer, "elapsed_ms", outcome->duration, -1);
	put_ms(writer, "timeout_ms", plan_timeout(policy, entry->attempt), 0);
	writer_json_string(writer, "end", verdict_ends[outcome->end].name);
	writer_json_number(writer, "status", verdict_status(outcome));
	put_signal(
	    writer, "signal", outcome->end == END_SIGNALED ? outcome->code : 0);
	put_number(writer, "http_status", http_code(outcome), 0);
	put_ms(writer, "retry_after_ms", verdict_wait(outcome), -1);
	writer_json_string(
	    writer, "verdict", verdict_names[entry->judgement.verdict]);
	writer_json_string(writer, "rule", entry->judgement.rule);
	put_words(writer, "why", entry->why);
	put_words(writer, "message", entry->message);
	put_ms(writer, "delay_ms", entry->planned, -1);
	put_ms(writer, "slept_ms", entry->slept, -1);
	writer_json_raw(writer, "budget_exhausted",
	    entry->budget_exhausted ? "true" : "false");
	writer_json_raw(
	    writer, "throttled", entry->throttled ? "true" : "false");
	writer_json_string(writer, "fleet",
	    entry->fleet == HOST_UNASKED ? NULL : fleet_names[entry->fleet]);
	writer_json_end(writer, '}');
}

/* Puts what set the limit that was reached, or else why the last attempt was
 * judged so. */
static void
put_why(struct writer *writer, const struct report *report)
{
	const struct policy *policy = report->policy;
	const struct given *by = &policy->deadline_by;
	enum reason reason = report->step->reason;
	bool spent = reason == REASON_ATTEMPTS;
	char room[REPORT_TEXT];
	const char *why = "";

	if (report->count > 0)
		why = report->entries[index_of(report->count - 1)].why;
	if (spent)
		by = &policy->attempts_by;
	if (spent && policy->nested != NESTED_SHARE) {
		why = "--nested, or the limit of attempts";
	} else if (spent && by->option == NULL) {
		why = "--attempts 5 (default)";
	} else if (reason == REASON_DEADLINE && by->option == NULL) {
		why = "the deadline of an outer retry";
	} else if (spent || reason == REASON_DEADLINE) {
		snprintf(room, sizeof room, "--%s %s%s%s%s", by->option,
		    by->text, by->location == NULL ? "" : " (",
		    by->location == NULL ? "" : by->location,
		    by->location == NULL ? "" : ")");
		why = room;
	} else if (reason == REASON_BUDGET || reason == REASON_BREAKER) {
		snprintf(room, sizeof room, "--budget %s%s", policy->budget.key,
		    reason == REASON_BREAKER ? " --breaker" : "");
		why = room;
	}
	put_words(writer, "why", why);
}

/* On one line, so that tools for lines find it among other output. */
static void
put_report(struct writer *writer, const void *with)
{
	const struct report *report = with;
	const struct policy *policy = report->policy;
	const char *key = policy->budget.key;
	const struct entry *entry;
	char room[DATE_ROOM];

	writer_json_begin(writer, NULL, '{');
	writer_json_string(writer, "version", VERSION);
	writer_json_string(writer, "id", report->id);

	writer_json_begin(writer, "command", '[');
	for (char **word = policy->command; *word != NULL; word++)
		writer_json_string(writer, NULL, *word);
	writer_json_end(writer, ']');
	writer_json_string(writer, "label", policy->label);
	put_number(writer, "attempts_max", policy->attempts, POLICY_UNLIMITED);
	writer_json_number(writer, "consecutive", policy->consecutive);
	put_ms(writer, "timeout_ms", plan_timeout(policy, 1), 0);
	put_ms(writer, "idle_timeout_ms", policy->idle_timeout, 0);
	put_ms(writer, "deadline_ms", policy->deadline, 0);
	writer_json_string(
	    writer, "budget", key == NULL || *key == '\0' ? NULL : key);
	writer_json_string(writer, "fleet", policy->fleet.text);

	writer_json_string(
	    writer, "reason", verdict_reasons[report->step->reason].name);
	writer_json_string(writer, "limit",
	    report->step->reason == REASON_LIMIT ? report->history->limit->text
						 : NULL);
	put_why(writer, report);
	put_words(writer, "message",
	    report->said == report->step->reason
		? report->message
		: verdict_reasons[report->step->reason].words);
	writer_json_number(writer, "status", status_of(report));
	put_signal(writer, "signal", report->step->signal);
	date_put(room, (report->ended - report->elapsed) / NANOS_MS);
	writer_json_string(writer, "started_at", room);
	put_ms(writer, "elapsed_ms", report->elapsed, -1);
	put_ms(writer, "slept_ms", report->slept, -1);

	writer_json_number(writer, "attempt_count", report->count);
	writer_json_number(writer, "attempts_omitted",
	    number_greater(report->count - KEPT, 0));
	writer_json_begin(writer, "attempts", '[');
	for (int i = 0; (entry = report_entry(report, i)) != NULL; i++)
		put_attempt(writer, policy, entry);
	writer_json_end(writer, ']');
	writer_json_end(writer, '}');
	writer_put(writer, "\n");
}

/*
 * The metrics
 */

/*
 * Puts the HELP, the TYPE and the sample of a metric, in units of 1/scale. The
 * label "name" is the last component of the file's name, without ".prom".
 * reason is one more label, or NULL.
 */
static void
put_metric(struct writer *writer, const struct policy *policy,
    const char *metric, const char *help, const char *reason, int64_t value,
    int64_t scale)
{
	static const char suffix[] = ".prom";
	const char *file = policy->metrics, *label = policy->label;
	const char *slash = strrchr(file, '/');
	const char *name = slash == NULL ? file : slash + 1;
	size_t length = strlen(name), tail = sizeof suffix - 1;
	char room[NUMBER_ROOM];

	if (length > tail && strcmp(name + length - tail, suffix) == 0)
		length -= tail;
	writer_format(writer, "# HELP %s %s\n# TYPE %s gauge\n%s{name=", metric,
	    help, metric, metric);
	writer_put_string(writer, ESCAPE_PROM, name, length);
	if (label != NULL) {
		writer_put(writer, ",label=");
		writer_put_string(writer, ESCAPE_PROM, label, strlen(label));
	}
	if (reason != NULL)
		writer_format(writer, ",reason=\"%s\"", reason);
	writer_format(writer, "} %s\n", number_put_decimal(room, value, scale));
}

static void
put_metrics(struct writer *writer, const void *with)
{
	const struct report *report = with;
	const struct policy *policy = report->policy;
	const int64_t *fleet = report->fleet;

	put_metric(writer, policy, "retry_attempts", "Attempts made.", NULL,
	    report->count, 1);
	put_metric(writer, policy, "retry_success", "Whether retry succeeded.",
	    NULL, report->step->reason == REASON_SUCCEEDED, 1);
	put_metric(writer, policy, "retry_exit_status",
	    "Exit status, 128 and more for a signal.", NULL, status_of(report),
	    1);
	put_metric(writer, policy, "retry_duration_seconds",
	    "Time from start to end.", NULL,
	    number_round(report->elapsed, NANOS_MS), 1000);
	put_metric(writer, policy, "retry_delay_seconds",
	    "Time between attempts.", NULL,
	    number_round(report->slept, NANOS_MS), 1000);
	put_metric(writer, policy, "retry_last_run_timestamp_seconds",
	    "When it ended.", NULL, number_round(report->ended, NANOS_MS),
	    1000);
	if (policy->fleet.text != NULL) {
		put_metric(writer, policy, "retry_fleet_granted",
		    "Retries that the fleet granted.", NULL,
		    fleet[HOST_GRANTED], 1);
		put_metric(writer, policy, "retry_fleet_denied",
		    "Retries that the fleet denied.", NULL, fleet[HOST_DENIED],
		    1);
		put_metric(writer, policy, "retry_fleet_alone",
		    "Retries made without an answer of the fleet.", NULL,
		    fleet[HOST_ALONE], 1);
	}
	put_metric(writer, policy, "retry_reason", "Why it ended.",
	    verdict_reasons[report->step->reason].name, 1, 1);
}

/*
 * The trace: a number of 64 bits is a string, an id is hexadecimal, an enum is
 * a number. An attribute without a value is left out.
 */

/* An attribute that is a text. */
static void
put_text(struct writer *writer, struct strview key, struct strview text)
{
	writer_json_raw(writer, NULL, "{\"key\":");
	writer_put_string(writer, ESCAPE_JSON, key.at, key.length);
	writer_put(writer, ",\"value\":{\"stringValue\":");
	writer_put_string(writer, ESCAPE_JSON, text.at, text.length);
	writer_put(writer, "}}");
}

/* An attribute of another type: its value in JSON. */
static void
put_value(
    struct writer *writer, const char *key, const char *type, const char *json)
{
	writer_json_raw(writer, NULL, "");
	writer_format(
	    writer, "{\"key\":\"%s\",\"value\":{\"%s\":%s}}", key, type, json);
}

static void
put_integer(struct writer *writer, const char *key, int64_t value)
{
	char json[NUMBER_ROOM + 2];

	snprintf(json, sizeof json, "\"%" PRId64 "\"", value);
	put_value(writer, key, "intValue", json);
}

/*
 * Begins a span and its attributes. prefix stands before the name of the
 * command; began is in Unix time.
 */
static void
begin_span(struct writer *writer, const struct report *report, uint64_t span,
    uint64_t parent, const char *prefix, nanos began, nanos elapsed)
{
	const struct trace *trace = report->trace;
	const char *word = report->policy->command[0];
	const char *slash = strrchr(word, '/');
	struct strview name =
	    strview_of(slash == NULL || slash[1] == '\0' ? word : slash + 1);
	char room[20];

	/* A word that is too long for a file name is cut. */
	name.length = escape_cut(name.at, name.length, NAME_MAX);
	writer_json_raw(writer, NULL, "");
	writer_format(writer,
	    "{\"traceId\":\"%016" PRIx64 "%016" PRIx64
	    "\",\"spanId\":\"%016" PRIx64 "\"",
	    trace->id[0], trace->id[1], span);
	if (trace->state != NULL && strlen(trace->state) <= STATE_MOST)
		writer_json_string(writer, "traceState", trace->state);
	if (parent != 0) {
		snprintf(room, sizeof room, "%016" PRIx64, parent);
		writer_json_string(writer, "parentSpanId", room);
	}
	writer_json_raw(writer, "name", "\"");
	writer_put(writer, prefix);
	writer_put_escaped(writer, ESCAPE_JSON, name.at, name.length);
	writer_put(writer, "\"");
	writer_json_number(writer, "kind", KIND_INTERNAL);
	/* A clock may have been before 1970. */
	writer_format(writer,
	    ",\"startTimeUnixNano\":\"%" PRId64
	    "\",\"endTimeUnixNano\":\"%" PRId64 "\"",
	    number_greater(began, 0),
	    number_greater(number_add(began, elapsed), 0));
	writer_json_begin(writer, "attributes", '[');
	put_text(writer, strview_of("process.executable.name"), name);
}

/* Ends the attributes and the span. error: why the span is an error, or NULL.
 */
static void
end_span(struct writer *writer, const char *error)
{
	writer_json_end(writer, ']');
	if (error != NULL) {
		writer_json_begin(writer, "status", '{');
		writer_json_number(writer, "code", STATUS_ERROR);
		writer_json_string(writer, "message", error);
		writer_json_end(writer, '}');
	}
	writer_json_end(writer, '}');
}

static void
put_attempt_span(struct writer *writer, const struct report *report,
    const struct entry *entry)
{
	const struct policy *policy = report->policy;
	const struct outcome *outcome = &entry->outcome;
	enum verdict verdict = entry->judgement.verdict;
	bool failed = verdict == VERDICT_RETRY || verdict == VERDICT_STOP;
	char error[64], detail[SIGNAME_ROOM] = "";

	begin_span(writer, report, entry->span, report->trace->span, "",
	    report->ended - report->elapsed + entry->began, outcome->duration);
	put_integer(writer, "process.exit.code", verdict_status(outcome));
	put_integer(writer, "retry.attempt", entry->attempt);
	put_text(writer, strview_of("retry.verdict"),
	    strview_of(verdict_names[verdict]));
	if (entry->planned >= 0)
		put_integer(writer, "retry.delay_ms",
		    number_round(entry->planned, NANOS_MS));
	put_value(writer, "retry.budget_exhausted", "boolValue",
	    entry->budget_exhausted ? "true" : "false");
	put_value(writer, "retry.throttled", "boolValue",
	    entry->throttled ? "true" : "false");
	if (http_code(outcome) != 0)
		put_integer(
		    writer, "http.response.status_code", http_code(outcome));
	if (entry->failed > 0 && (policy->http || policy->http_status != NULL))
		put_integer(writer, "http.request.resend_count", entry->failed);
	if (outcome->end == END_EXITED)
		snprintf(detail, sizeof detail, "%d", verdict_status(outcome));
	else if (outcome->end == END_SIGNALED)
		signame_put(detail, outcome->code);
	snprintf(error, sizeof error, "%s%s", verdict_ends[outcome->end].words,
	    detail);
	end_span(writer, failed ? error : NULL);
}

static void
put_trace(struct writer *writer, const void *with)
{
	const struct report *report = with;
	const struct trace *trace = report->trace;
	const struct trace_resource *resource = report->resource;
	const char *key = report->policy->budget.key;
	const struct entry *entry;

	if (resource == NULL) {
		writer->error = ENOMEM;
		return;
	}
	writer->compact = true;
	writer_put(writer, "{\"resourceSpans\":[{\"resource\":");
	writer_put(writer, "{\"attributes\":[");
	for (size_t i = 0; i < resource->count; i++)
		put_text(writer, resource->attributes[i].key,
		    resource->attributes[i].value);
	writer_put(
	    writer, "]},\"scopeSpans\":[{\"scope\":{\"name\":\"retry\",");
	writer_put(writer, "\"version\":\"" VERSION "\"},\"spans\":[");
	writer->comma = NULL;

	begin_span(writer, report, trace->span, trace->parent, "retry ",
	    report->ended - report->elapsed, report->elapsed);
	put_integer(writer, "process.exit.code", status_of(report));
	put_text(writer, strview_of("retry.reason"),
	    strview_of(verdict_reasons[report->step->reason].name));
	put_integer(writer, "retry.attempt_count", report->count);
	if (key != NULL && *key != '\0')
		put_text(
		    writer, strview_of("retry.budget.key"), strview_of(key));
	end_span(writer,
	    report->step->reason == REASON_SUCCEEDED
		? NULL
		: verdict_reasons[report->step->reason].words);
	for (int i = 0; (entry = report_entry(report, i)) != NULL; i++)
		put_attempt_span(writer, report, entry);
	writer_put(writer, "]}]}]}\n");
}

/*
 * Files
 */

/*
 * Writes a file that the policy asks for. An error is shown even with -q,
 * because other programs read these files. A signal that came meanwhile is how
 * the invocation ended.
 */
static void
write_file(struct report *report, const char *what, struct report_file *target)
{
	struct event_loop *loop = target->loop;
	struct line line = { .least = LOUDNESS_QUIET, .warning = true };

	if (target->file == NULL)
		return;
	target->with = report;
	if (!report_file_write(target)) {
		line.strings = STRINGS("cannot write ", what, " '",
		    target->file, "': ", strerror(errno));
		log_tell(&loop->log, &line);
	}
	/* There was no wait if it is a regular file. */
	if (!target->ended && signals_pend())
		target->ended = !event_loop_wait(loop, -1, 0);
	if (target->ended)
		*report->step = (struct step){ .signal = loop->ending_signal,
			.reason = REASON_INTERRUPTED };
}

/*
 * Adds the trace to its file. Each trace must name its service;
 * OTEL_SERVICE_NAME counts more than the attribute: OpenTelemetry, "Environment
 * Variable Specification".
 */
static void
write_trace(struct report *report, struct report_file *target)
{
	const char *given = getenv("OTEL_RESOURCE_ATTRIBUTES");
	const char *service = getenv("OTEL_SERVICE_NAME");
	struct strview list = strview_of(given == NULL ? "" : given);
	struct strview *name;
	/* The decoded attributes are behind the resource. */
	struct trace_resource *resource =
	    malloc(sizeof *resource + list.length);

	if (resource != NULL) {
		if (!trace_resource_parse(
			resource, list, (char *)(resource + 1)))
			log_say(&target->loop->log, LOUDNESS_PLAIN,
			    STRINGS("OTEL_RESOURCE_ATTRIBUTES ignored: "
				    "malformed"));
		name =
		    trace_resource_value(resource, strview_of("service.name"));
		if (service != NULL && *service != '\0')
			*name = strview_of(service);
		else if (name->length == 0)
			*name = strview_of("retry");
	}
	report->resource = resource;
	target->file = report->policy->trace;
	target->put = put_trace;
	target->append = true;
	write_file(report, "trace", target);
	free(resource);
}

/* Whether each report is one more line of the file. */
static bool
is_log(const char *file)
{
	static const char suffix[] = ".jsonl";
	size_t length = strlen(file), tail = sizeof suffix - 1;

	return length >= tail && strcmp(file + length - tail, suffix) == 0;
}

bool
report_write(struct report *report, struct step *step, nanos now,
    struct event_loop *loop)
{
	const struct policy *policy = report->policy;
	struct report_file target = { .file = policy->report,
		.put = put_report,
		.loop = loop,
		.patience =
		    step->reason == REASON_INTERRUPTED ? HURRY : PATIENCE };

	report->step = step;
	report->elapsed = now - report->history->began;
	report->ended = sys_now(CLOCK_REALTIME);
	report_wake(report, now);
	target.append = policy->report != NULL && is_log(policy->report);
	write_file(report, "report", &target);
	target.append = false;
	target.file = policy->metrics;
	target.mode = 0644;
	target.put = put_metrics;
	write_file(report, "metrics", &target);
	if (report->trace->on)
		write_trace(report, &target);
	return !target.ended;
}
