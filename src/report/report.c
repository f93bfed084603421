#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "exit_status.h"
#include "output/writer.h"
#include "sys/error.h"
#include "sys/procfs.h"
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
	if (admission->answer == ADMISSION_BUDGET)
		entry->budget_exhausted = true;
	if (admission->answer == ADMISSION_CLOSED ||
	    admission->answer == ADMISSION_PACE ||
	    admission->answer == ADMISSION_RATE)
		entry->throttled = true;
	/* Of a wait the longest, of what was learned the last. */
	entry->held = number_greater(entry->held, admission->pace.held);
	if (admission->paced)
		entry->pace = admission->pace.rate;
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
	return outcome->http.code > 0 ? outcome->http.code : 0;
}

/* The length of a path up to and with its last slash. */
static int
directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? 0 : (int)(slash + 1 - path);
}

static bool
ends_with(const char *name, const char *suffix)
{
	size_t length = strlen(name), tail = strlen(suffix);

	return length >= tail && strcmp(name + length - tail, suffix) == 0;
}

/*
 * The report
 */

/* A number; null if it is at most none. */
static void
put_number(
    struct writer *writer, const char *name, int64_t number, int64_t none)
{
	if (number <= none)
		writer_json_string(writer, name, NULL);
	else
		writer_json_number(writer, name, number);
}

/* A time in milliseconds; null if it is at most none. */
static void
put_ms(struct writer *writer, const char *name, nanos span, nanos none)
{
	put_number(writer, name,
	    span <= none ? none : number_round(span, NANOS_MS), none);
}

static void
put_signal(struct writer *writer, const char *name, int signal)
{
	char room[SIGNAME_ROOM];

	writer_json_string(
	    writer, name, signal == 0 ? NULL : signame_put(room, signal));
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
	char room[NUMBER_ROOM];

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
	put_ms(writer, "held_ms", entry->held, 0);
	writer_json_raw(writer, "pace",
	    entry->pace > 0 ? number_put_decimal(room,
				  (int64_t)(entry->pace * 1000 + 0.5), 1000)
			    : "null");
	writer_json_string(writer, "fleet",
	    entry->fleet == HOST_UNASKED ? NULL : fleet_names[entry->fleet]);
	writer_json_end(writer, '}');
}

/* Writes what set the limit that ended the invocation; "" if none did. */
static const char *
put_limit(char room[REPORT_TEXT], const struct report *report)
{
	const struct policy *policy = report->policy;
	const struct given budget = { .option = "budget",
		.text = policy->budget.key };
	const struct given *by = &policy->deadline_by;
	enum reason reason = report->step->reason;
	char rate[RATE_ROOM];

	if (reason == REASON_RATE) {
		snprintf(room, REPORT_TEXT, "--rate %s",
		    rate_put(rate, &report->history->admission.rate));
		return room;
	}
	if (reason == REASON_ATTEMPTS && policy->nested != NESTED_SHARE)
		return "--nested, or the limit of attempts";
	if (reason == REASON_ATTEMPTS)
		by = &policy->attempts_by;
	else if (reason == REASON_BUDGET || reason == REASON_BREAKER)
		by = &budget;
	else if (reason == REASON_RETRY_AFTER && report->step->delay == 0)
		by = &policy->max_retry_after_by;
	else if (reason == REASON_INPUT_CONSUMED)
		return verdict_reasons[reason].words;
	else if (reason != REASON_DEADLINE && reason != REASON_RETRY_AFTER)
		return "";
	if (by->text == NULL)
		return "the deadline of an outer retry";
	snprintf(room, REPORT_TEXT, "--%s %s%s%s%s%s", by->option, by->text,
	    reason == REASON_BREAKER ? " --breaker" : "",
	    by->location == NULL ? "" : " (",
	    by->location == NULL ? "" : by->location,
	    by->location == NULL ? "" : ")");
	return room;
}

/*
 * Puts why the last attempt was judged so, or how it ended, and what prevented
 * another one.
 */
static void
put_why(struct writer *writer, const struct report *report)
{
	const struct entry *last = report->count == 0
	    ? NULL
	    : &report->entries[index_of(report->count - 1)];
	char room[REPORT_TEXT], end[VERDICT_END_ROOM];
	char why[2 * sizeof last->why + 2];
	const char *limit = put_limit(room, report), *cause = "";
	enum reason reason = report->step->reason;

	if (reason == REASON_LIMIT || reason == REASON_RETRY_IF ||
	    reason == REASON_NOT_IDEMPOTENT)
		limit = last->why;
	else if (last != NULL)
		cause = last->why;
	if (last != NULL && cause[0] == '\0' && limit[0] != '\0') {
		cause = verdict_put_end(end, &last->outcome);
		if (last->outcome.http.code >= 400)
			snprintf(end, sizeof end, "HTTP %d",
			    last->outcome.http.code);
	}
	snprintf(why, sizeof why, "%s%s%s", cause,
	    cause[0] == '\0' || limit[0] == '\0' ? "" : "; ", limit);
	put_words(writer, "why", why);
}

/* On one line, so that tools for lines find it among other output. */
static void
put_report(struct writer *writer, const struct report *report)
{
	const struct policy *policy = report->policy;
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
	put_number(writer, "attempts_max",
	    policy->attempts == POLICY_UNLIMITED ? 0 : policy->attempts, 0);
	writer_json_number(writer, "consecutive", policy->consecutive);
	put_ms(writer, "timeout_ms", plan_timeout(policy, 1), 0);
	put_ms(writer, "idle_timeout_ms", policy->idle_timeout, 0);
	put_ms(writer, "deadline_ms", policy->deadline, 0);
	writer_json_string(writer, "budget", policy->budget.key);
	writer_json_string(writer, "fleet", policy->fleet.text);

	writer_json_string(
	    writer, "reason", verdict_reasons[report->step->reason].name);
	writer_json_raw(writer, "rescued",
	    plan_is_rescued(report->history, report->step->reason) ? "true"
								   : "false");
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
	for (int i = 0; i < policy->target_count; i++) {
		const struct look *one = &report->lookout->list[i];
		bool there = one->arrived != 0;

		if (i == 0)
			writer_json_begin(writer, "targets", '[');
		writer_json_begin(writer, NULL, '{');
		writer_json_string(writer, "target", one->target->text);
		put_ms(writer, "arrived_ms",
		    there ? one->arrived - report->history->began : -1, -1);
		writer_json_number(writer, "looks", one->count);
		put_words(writer, "why", there ? "" : lookout_why(one));
		writer_json_end(writer, '}');
		if (i == policy->target_count - 1)
			writer_json_end(writer, ']');
	}
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
	const char *name = policy->metrics + directory_of(policy->metrics);
	const char *label = policy->label;
	size_t length = strlen(name);
	char room[NUMBER_ROOM];

	if (length > strlen(".prom") && ends_with(name, ".prom"))
		length -= strlen(".prom");
	writer_prom_metric(writer, "", metric, "gauge", help);
	writer_put(writer, metric);
	writer_prom_label(writer, '{', "name", name, length);
	if (label != NULL)
		writer_prom_label(writer, ',', "label", label, strlen(label));
	if (reason != NULL)
		writer_prom_label(
		    writer, ',', "reason", reason, strlen(reason));
	writer_format(writer, "} %s\n", number_put_decimal(room, value, scale));
}

static void
put_metrics(struct writer *writer, const struct report *report)
{
	const struct policy *policy = report->policy;
	const int64_t *fleet = report->fleet;
	enum reason reason = report->step->reason;
	const struct {
		const char *name, *help;
		int64_t value, scale;
	} gauges[] = {
		{ "retry_attempts", "Attempts made.", report->count, 1 },
		{ "retry_success", "Whether retry succeeded.",
		    reason == REASON_SUCCEEDED, 1 },
		{ "retry_exit_status",
		    "Exit status, 128 and more for a signal.",
		    status_of(report), 1 },
		{ "retry_duration_seconds", "Time from start to end.",
		    number_round(report->elapsed, NANOS_MS), 1000 },
		{ "retry_delay_seconds", "Time between attempts.",
		    number_round(report->slept, NANOS_MS), 1000 },
		{ "retry_last_run_timestamp_seconds", "When it ended.",
		    number_round(report->ended, NANOS_MS), 1000 },
		{ "retry_fleet_granted", "Retries that the fleet granted.",
		    fleet[HOST_GRANTED], 1 },
		{ "retry_fleet_denied", "Retries that the fleet denied.",
		    fleet[HOST_DENIED], 1 },
		{ "retry_fleet_alone",
		    "Retries made without an answer of the fleet.",
		    fleet[HOST_ALONE], 1 },
	};
	size_t count = sizeof gauges / sizeof *gauges;

	if (policy->fleet.text == NULL)
		count -= 3;
	for (size_t i = 0; i < count; i++)
		put_metric(writer, policy, gauges[i].name, gauges[i].help, NULL,
		    gauges[i].value, gauges[i].scale);
	put_metric(writer, policy, "retry_reason", "Why it ended.",
	    verdict_reasons[reason].name, 1, 1);
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
	struct strview name = strview_of(report->policy->program);
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
	char error[VERDICT_END_ROOM];

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
	end_span(writer, failed ? verdict_put_end(error, outcome) : NULL);
}

static void
put_trace(struct writer *writer, const struct report *report)
{
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
	if (key != NULL)
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
 *
 * A file is replaced, or added to, in one step: the text is written to a
 * temporary file in the same directory, which is then renamed, so that no
 * reader sees a part of the text. A symbolic link stays; it is the kernel that
 * follows it, and that keeps off links and files of other users in directories
 * like /tmp (protected_symlinks and protected_regular in proc_sys_fs(5)). A
 * device, a FIFO and a descriptor ("-", which is standard error, /dev/stdout,
 * /dev/fd/3) are written to directly, for as long as the reader takes the text.
 * So is a file that cannot be replaced, because it is a mount point or its
 * directory is not writable: a reader of such a file may see a part.
 *
 * A text that is added is one write(2), however long it is. So any number of
 * processes may add to one file, and no line of one is within a line of
 * another.
 *
 * Functions that return false set errno.
 */

/* A file that the user has named. */
struct file {
	const char *file;
	mode_t mode; /* 0: that of the old file, or what the umask allows */
	/* The text. */
	void (*put)(struct writer *writer, const struct report *report);
	bool append; /* the text is added to the file */

	/* How a slow reader is waited for: */
	struct event_loop *loop;
	nanos patience; /* how long a reader may take no bytes */
	bool ended; /* a signal has ended a wait, so there is no other one */

	/* The whole text, before any of it is written; private. */
	char *bytes;
	size_t length;
};

/* Closes a descriptor, and does not change errno. */
static void
close_quietly(int fd)
{
	int error = errno;

	close(fd);
	errno = error;
}

/*
 * Writes the text with as few calls as possible, as long as the reader takes
 * it, and as no signal has ended a wait. Returns how much of it; if that is not
 * all, errno tells why.
 */
static size_t
write_text(struct file *target, const struct nonblock *nonblock)
{
	struct event_loop *loop = target->loop;
	nanos until = signals_now(&loop->signals) + target->patience;
	size_t done = 0;

	while (done < target->length) {
		ssize_t put = nonblock_put(
		    nonblock, target->bytes + done, target->length - done);
		nanos left;

		if (put > 0) {
			done += (size_t)put;
			until = signals_now(&loop->signals) + target->patience;
			continue;
		}
		if (put == 0)
			errno = EIO;
		if (errno != EAGAIN && errno != EINTR)
			break;
		left = until - signals_now(&loop->signals);
		errno = ETIMEDOUT;
		if (!target->ended && left <= 0)
			break;
		if (!target->ended)
			target->ended =
			    !event_loop_wait(loop, nonblock->fd, left);
		errno = EINTR;
		if (target->ended)
			break;
	}
	return done;
}

/*
 * Writes a temporary file in the same directory and renames it to file. old is
 * the regular file that has this name, or NULL. It keeps its mode and owner,
 * which the user has chosen.
 */
static bool
replace(struct file *target, const char *file, const struct stat *old)
{
	char path[PATH_MAX], uuid[SYS_UUID];
	mode_t mode = target->mode;
	int fd, error = 0;

	if (snprintf(path, sizeof path, "%.*s.retry-%s.tmp", directory_of(file),
		file, sys_uuid(uuid)) >= (int)sizeof path) {
		errno = ENAMETOOLONG;
		return false;
	}
	fd = open(
	    path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd == -1)
		return false;
	if (mode == 0 && old != NULL)
		mode = old->st_mode & 0777;
	/* Only root can give it to its owner. */
	if (old != NULL && fchown(fd, old->st_uid, old->st_gid) == -1 &&
	    errno != EPERM)
		error = errno;
	if (((target->mode != 0 || old != NULL) && fchmod(fd, mode) == -1) ||
	    write_text(target, &(struct nonblock){ .fd = fd }) < target->length)
		error = errno;
	/* Some file systems report a full disk or quota only on close(2). */
	if (close(fd) == -1 && error == 0)
		error = errno;
	if (error == 0 && rename(path, file) == -1)
		error = errno;
	if (error != 0)
		unlink(path);
	errno = error;
	return error == 0;
}

/* Whether the error of a replacement tells that the file is a mount point, or
 * that its directory is not writable. */
static bool
is_fixed(int error)
{
	return error == EBUSY || error == EACCES || error == EPERM ||
	    error == EROFS;
}

/*
 * Writes over an open file, or from its end at on, if there is room. What fails
 * nevertheless is taken back: half a text could be mistaken for a whole one,
 * and half a line would spoil the next one.
 */
static bool
write_in_place(struct file *target, int fd, off_t at)
{
	size_t done;
	off_t end;
	int error;

	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, at, (off_t)target->length) ==
		-1 &&
	    (errno == ENOSPC || errno == EDQUOT))
		return false;
	done = write_text(target, &(struct nonblock){ .fd = fd });
	if (done == target->length)
		return target->append || ftruncate(fd, (off_t)done) == 0;
	error = errno;
	end = lseek(fd, 0, SEEK_CUR);
	/* Another process may have added a line behind it. */
	if (done > 0 && (!target->append || lseek(fd, 0, SEEK_END) == end) &&
	    ftruncate(fd, end - (off_t)done) == -1)
		error = errno;
	errno = error;
	return false;
}

/* Writes to a descriptor that retry has inherited. */
static bool
write_to_descriptor(struct file *target, int fd)
{
	int flags = fcntl(fd, F_GETFD);
	struct nonblock nonblock;

	/* A close-on-exec descriptor is retry's own, no inherited one. */
	errno = EBADF;
	if (flags == -1 || (flags & FD_CLOEXEC) != 0)
		return false;
	/* Lines of the log that still wait to be written come first. */
	if (!target->ended)
		target->ended = !event_loop_await(target->loop, event_loop_log,
		    sys_now(CLOCK_BOOTTIME) + target->patience);
	nonblock = nonblock_open(fd);
	return write_text(target, &nonblock) == target->length;
}

/* Whether path names this file itself, and by no link. */
static bool
is_named(const char *path, const struct stat *file)
{
	struct stat stat;

	return lstat(path, &stat) == 0 && stat.st_dev == file->st_dev &&
	    stat.st_ino == file->st_ino;
}

/*
 * Writes to a file that is open, and perhaps behind links. Where they lead to a
 * descriptor, that has its own position in the file.
 */
static bool
write_to_open(struct file *target, int fd, bool linked)
{
	char path[PATH_MAX] = "", name[PROCFS_NAME];
	struct stat file, other;

	if (fstat(fd, &file) == -1)
		return false;
	if (!S_ISREG(file.st_mode))
		return write_text(target, &(struct nonblock){ .fd = fd }) ==
		    target->length;
	for (int to = STDOUT_FILENO; to <= STDERR_FILENO; to++)
		if (linked && fstat(to, &other) == 0 &&
		    other.st_dev == file.st_dev && other.st_ino == file.st_ino)
			return write_to_descriptor(target, to);
	if (linked && !target->append &&
	    readlink(procfs_name(name, fd), path, sizeof path - 1) > 0 &&
	    is_named(path, &file)) {
		if (replace(target, path, &file))
			return true;
		if (!is_fixed(errno))
			return false;
	}
	return write_in_place(target, fd, target->append ? file.st_size : 0);
}

/* Writes the text to what a path leads to. */
static bool
write_to(struct file *target, const char *path)
{
	int flags = O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	/* "-" or, for example, /dev/fd/3. */
	int fd =
	    strcmp(path, "-") == 0 ? STDERR_FILENO : procfs_descriptor(path);
	struct stat old;
	bool found, done;

	if (fd != -1)
		return write_to_descriptor(target, fd);
	found = lstat(path, &old) == 0;
	if (target->append) {
		flags |= O_APPEND;
	} else if (!found || S_ISREG(old.st_mode)) {
		done = replace(target, path, found ? &old : NULL);
		if (done || !found || !is_fixed(errno))
			return done;
		/* Only a privileged user can have made a mount point: the file
		 * may be anybody's (protected_regular). */
		if (errno == EBUSY)
			flags &= ~O_CREAT;
	}
	/* With O_NONBLOCK a FIFO without a reader is an error: ENXIO. */
	fd = open(path, flags, 0666);
	if (fd == -1)
		return false;
	done = write_to_open(target, fd, found && S_ISLNK(old.st_mode));
	if (done)
		return close(fd) == 0;
	close_quietly(fd);
	return false;
}

/*
 * Writes the file. False, with errno, if that failed; EINTR if target->ended is
 * the reason. The old file is still there then, unless it was written to
 * directly.
 */
static bool
write_target(struct file *target, const struct report *report)
{
	struct writer writer = { .to = memfd_create("retry", MFD_CLOEXEC) };
	bool done;

	if (writer.to == -1)
		return false;
	target->put(&writer, report);
	target->bytes = MAP_FAILED;
	errno = writer_flush(&writer);
	if (errno == 0) {
		target->length = (size_t)lseek(writer.to, 0, SEEK_CUR);
		target->bytes = mmap(
		    NULL, target->length, PROT_READ, MAP_SHARED, writer.to, 0);
	}
	close_quietly(writer.to);
	if (target->bytes == MAP_FAILED)
		return false;

	done = write_to(target, target->file);
	munmap(target->bytes, target->length);
	return done;
}

/*
 * Writes a file that the policy asks for. An error is shown even with -q,
 * because other programs read these files. A signal that came meanwhile is how
 * the invocation ended.
 */
static void
write_file(struct report *report, const char *what, struct file *target)
{
	struct event_loop *loop = target->loop;
	struct line line = { .least = LOUDNESS_QUIET, .warning = true };

	if (target->file == NULL)
		return;
	if (!write_target(target, report)) {
		line.strings = STRINGS("cannot write ", what, " '",
		    target->file, "': ", error_words(errno));
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
write_trace(struct report *report, struct file *target)
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
			log_warn(&target->loop->log,
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

bool
report_write(struct report *report, struct step *step, nanos now,
    struct event_loop *loop)
{
	const struct policy *policy = report->policy;
	struct file target = { .file = policy->report,
		.put = put_report,
		.loop = loop,
		.patience =
		    step->reason == REASON_INTERRUPTED ? HURRY : PATIENCE };

	report->step = step;
	report->elapsed = now - report->history->began;
	report->ended = sys_now(CLOCK_REALTIME);
	report_wake(report, now);
	/* Each report is one more line of such a file. */
	target.append =
	    policy->report != NULL && ends_with(policy->report, ".jsonl");
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
