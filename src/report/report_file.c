#include "report/report_file.h"

#include <errno.h>
#include <string.h>
#include "sys/sys.h"
#include "text/date.h"
#include "text/number.h"
#include "cli/options.h"
#include "output/writer.h"
#include "output/quote.h"
#include "report/atomic_file.h"

/* How long a reader that takes nothing is waited for; and if we are to end. */
#define PATIENCE (2 * NANOS_SECOND)
#define HURRY (100 * NANOS_MS)

/* All that can be told. */
struct record {
	const struct policy *policy;
	const struct journal *journal;
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
put_number(struct page *page, const char *before, int64_t value)
{
	char room[NUMBER_ROOM];

	page_put(page, before);
	page_put(page, number_put(room, value));
}

static void
put_string(struct page *page, const char *before, const char *string)
{
	page_put(page, before);
	if (string == NULL)
		page_put(page, "null");
	else
		quote_string(page, QUOTE_JSON, string);
}

static void
put_null(struct page *page, const char *before)
{
	put_string(page, before, NULL);
}

/* Less than none: there is none. */
static void
put_span(struct page *page, const char *before, nanos span, nanos none)
{
	if (span <= none)
		put_null(page, before);
	else
		put_number(page, before, number_round(span, NANOS_MS));
}

static void
put_signal(struct page *page, const char *before, int number)
{
	char room[CODES_SIGNAL_ROOM];

	put_string(
	    page, before, number == 0 ? NULL : codes_signal_name(room, number));
}

static void
put_attempt(struct page *page, const struct entry *entry)
{
	put_number(page, "{\"attempt\": ", entry->attempt);
	put_span(page, ", \"started_ms\": ", entry->began, -1);
	put_span(page, ", \"elapsed_ms\": ", entry->elapsed, -1);
	put_string(page, ", \"end\": ", end_names[entry->end]);
	put_number(page, ", \"status\": ", entry->status);
	put_signal(page, ", \"signal\": ", entry->signal);
	if (entry->http == 0)
		put_null(page, ", \"http_status\": ");
	else
		put_number(page, ", \"http_status\": ", entry->http);
	put_string(page, ", \"verdict\": ", verdict_names[entry->verdict]);
	put_string(page, ", \"rule\": ", entry->rule);
	put_span(page, ", \"delay_ms\": ", entry->planned, -1);
	put_span(page, ", \"slept_ms\": ", entry->slept, -1);
	page_put(page, ", \"budget_exhausted\": ");
	page_put(page, entry->budget_exhausted ? "true" : "false");
	page_put(page, "}");
}

static void
put_attempts(struct page *page, const struct journal *journal)
{
	int kept = journal_kept(journal);

	put_number(page, ", \"attempt_count\": ", journal->count);
	put_number(page, ", \"attempts_omitted\": ", journal->count - kept);
	page_put(page, ", \"attempts\": [");
	for (int i = 0; i < kept; i++) {
		page_put(page, i == 0 ? "" : ", ");
		put_attempt(page, journal_at(journal, i));
	}
	page_put(page, "]");
}

static void
put_policy(struct page *page, const struct policy *policy)
{
	const char *key = policy->share.key;

	page_put(page, ", \"command\": [");
	for (char **word = policy->typed; *word != NULL; word++)
		put_string(page, word == policy->typed ? "" : ", ", *word);
	page_put(page, "]");
	if (policy->attempts == POLICY_UNLIMITED)
		put_null(page, ", \"attempts_max\": ");
	else
		put_number(page, ", \"attempts_max\": ", policy->attempts);
	put_span(page, ", \"timeout_ms\": ", policy->timeout, 0);
	put_span(page, ", \"deadline_ms\": ", policy->deadline, 0);
	put_string(
	    page, ", \"budget\": ", key == NULL || *key == '\0' ? NULL : key);
}

/* On one line, so that it can be found among others. */
static void
put_report(struct page *page, const void *with)
{
	const struct record *record = with;
	const struct ending *ending = record->ending;
	char room[DATE_ROOM];

	put_string(page, "{\"version\": ", VERSION);
	put_string(page, ", \"id\": ", ending->id);
	put_policy(page, record->policy);
	put_string(page, ", \"reason\": ", verdict_reason_name(ending->reason));
	put_number(page, ", \"status\": ", ending->status);
	put_signal(page, ", \"signal\": ", ending->signal);
	put_string(page, ", \"started_at\": ",
	    date_put(room, (record->now - ending->elapsed) / NANOS_MS));
	put_span(page, ", \"elapsed_ms\": ", ending->elapsed, -1);
	put_span(page, ", \"slept_ms\": ", journal_slept(record->journal), -1);
	put_attempts(page, record->journal);
	page_put(page, "}\n");
}

/*
 * Prometheus
 */

/* The file's last component, without ".prom". */
static void
put_label(struct page *page, const char *file)
{
	static const char suffix[] = ".prom";
	const char *slash = strrchr(file, '/');
	const char *name = slash == NULL ? file : slash + 1;
	size_t length = strlen(name), tail = sizeof suffix - 1;

	if (length > tail && strcmp(name + length - tail, suffix) == 0)
		length -= tail;
	page_put(page, "{name=");
	quote_put(page, QUOTE_PROM, name, length);
}

/* A sample up to its value, and what is to be known of its metric. */
static void
put_metric(struct page *page, const struct record *record, const char *metric,
    const char *help)
{
	page_put(page, "# HELP ");
	page_put(page, metric);
	page_put(page, " ");
	page_put(page, help);
	page_put(page, "\n# TYPE ");
	page_put(page, metric);
	page_put(page, " gauge\n");
	page_put(page, metric);
	put_label(page, record->policy->metrics);
}

static void
put_count(struct page *page, const struct record *record, const char *metric,
    const char *help, int64_t value)
{
	put_metric(page, record, metric, help);
	put_number(page, "} ", value);
	page_put(page, "\n");
}

static void
put_seconds(struct page *page, const struct record *record, const char *metric,
    const char *help, nanos span)
{
	char room[NUMBER_ROOM];

	put_metric(page, record, metric, help);
	page_put(page, "} ");
	page_put(
	    page, number_put_decimal(room, number_round(span, NANOS_MS), 1000));
	page_put(page, "\n");
}

static void
put_metrics(struct page *page, const void *with)
{
	const struct record *record = with;
	const struct ending *ending = record->ending;

	put_count(page, record, "retry_attempts", "Attempts made.",
	    record->journal->count);
	put_count(page, record, "retry_success",
	    "Whether the last attempt was a success.",
	    ending->reason == REASON_SUCCEEDED);
	put_count(page, record, "retry_exit_status",
	    "Exit status, 128 and more for a signal.", ending->status);
	put_seconds(page, record, "retry_duration_seconds",
	    "Time from start to end.", ending->elapsed);
	put_seconds(page, record, "retry_delay_seconds",
	    "Time between attempts.", journal_slept(record->journal));
	put_seconds(page, record, "retry_last_run_timestamp_seconds",
	    "When it ended.", record->now);
	put_metric(page, record, "retry_reason", "Why it ended.");
	page_put(page, ",reason=");
	quote_string(page, QUOTE_PROM, verdict_reason_name(ending->reason));
	page_put(page, "} 1\n");
}

/* Who watches by these files must learn of it: under -q, too. */
static void
write_document(
    const struct target *target, const char *what, struct target_wait *wait)
{
	struct line line = { .least = LOUDNESS_QUIET, .warning = true };

	if (target->file == NULL || target_write(target, wait))
		return;
	line.strings = STRINGS(
	    "cannot write ", what, " '", target->file, "': ", strerror(errno));
	lines_tell(&wait->pump->lines, &line);
}

int
record_write(const struct policy *policy, const struct journal *journal,
    struct ending *ending, struct pump *pump)
{
	const struct record record = { policy, journal, ending,
		context_now(CLOCK_REALTIME) };
	const struct target report = { policy->report, 0, put_report, &record };
	const struct target metrics = { policy->metrics, 0644, put_metrics,
		&record };
	struct target_wait wait = { .pump = pump,
		.patience =
		    ending->reason == REASON_INTERRUPTED ? HURRY : PATIENCE };

	write_document(&report, "report", &wait);
	if (wait.signal != 0)
		*ending = (struct ending){ .reason = REASON_INTERRUPTED,
			.status = 128 + wait.signal,
			.signal = wait.signal,
			.elapsed = ending->elapsed,
			.id = ending->id };
	write_document(&metrics, "metrics", &wait);
	return wait.signal;
}
