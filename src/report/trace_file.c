#include "report/trace_file.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "text/escape.h"
#include "text/number.h"
#include "text/signame.h"
#include "version.h"

/* Values of enums in trace.proto. */
#define KIND_INTERNAL 1
#define STATUS_ERROR 2

/* How many hexadecimal digits the id of a span has; that of a trace has twice
 * as many. */
#define ID_DIGITS 16

/* A longer TRACESTATE is left out, because each span would repeat it. Trace
 * Context, "tracestate Limits", wants at least so many bytes to be kept. */
#define STATE_MOST 512

/*
 * Attributes
 */

static void
put_view(struct writer *writer, const char *name, struct strview text)
{
	writer_json_raw(writer, name, "");
	writer_put_string(writer, ESCAPE_JSON, text.at, text.length);
}

static void
begin_attribute(struct writer *writer, struct strview key)
{
	writer_json_begin(writer, NULL, '{');
	put_view(writer, "key", key);
	writer_json_begin(writer, "value", '{');
}

static void
end_attribute(struct writer *writer)
{
	writer_json_end(writer, '}');
	writer_json_end(writer, '}');
}

static void
put_text(struct writer *writer, const char *key, struct strview text)
{
	begin_attribute(writer, strview_of(key));
	put_view(writer, "stringValue", text);
	end_attribute(writer);
}

static void
put_number(struct writer *writer, const char *key, int64_t number)
{
	char room[NUMBER_ROOM];

	begin_attribute(writer, strview_of(key));
	writer_json_string(writer, "intValue", number_put(room, number));
	end_attribute(writer);
}

static void
put_truth(struct writer *writer, const char *key, bool truth)
{
	begin_attribute(writer, strview_of(key));
	writer_json_raw(writer, "boolValue", truth ? "true" : "false");
	end_attribute(writer);
}

/*
 * Resource
 */

/* The attributes of the environment, and where their texts are. */
struct attributes {
	struct trace_resource resource;
	char room[];
};

/* False if the attributes are malformed. NULL in *attributes: no memory. */
static bool
read_attributes(struct attributes **attributes)
{
	const char *text = getenv("OTEL_RESOURCE_ATTRIBUTES");
	struct strview list = strview_of(text == NULL ? "" : text);

	*attributes = malloc(sizeof **attributes + list.length);
	return *attributes == NULL ||
	    trace_resource_parse(
		&(*attributes)->resource, list, (*attributes)->room);
}

/* Each trace must name its service. OTEL_SERVICE_NAME counts more than the
 * attribute: OpenTelemetry, "Environment Variable Specification". */
static void
name_service(struct trace_resource *resource)
{
	static const char key[] = "service.name";
	const char *name = getenv("OTEL_SERVICE_NAME");

	if (name == NULL || *name == '\0') {
		if (trace_resource_value(resource, key).length > 0)
			return;
		name = "retry";
	}
	trace_resource_set(resource, strview_of(key), strview_of(name));
}

static void
put_resource(struct writer *writer)
{
	struct attributes *attributes;
	struct trace_resource *resource;

	read_attributes(&attributes);
	if (attributes == NULL) {
		writer->error = ENOMEM;
		return;
	}
	resource = &attributes->resource;
	name_service(resource);
	writer_json_begin(writer, "resource", '{');
	writer_json_begin(writer, "attributes", '[');
	for (size_t i = 0; i < resource->count; i++) {
		begin_attribute(writer, resource->attributes[i].key);
		put_view(writer, "stringValue", resource->attributes[i].value);
		end_attribute(writer);
	}
	writer_json_end(writer, ']');
	writer_json_end(writer, '}');
	free(attributes);
}

void
trace_file_check(struct log *log)
{
	struct attributes *attributes;

	if (!read_attributes(&attributes))
		log_say(log, LOUDNESS_PLAIN,
		    STRINGS("OTEL_RESOURCE_ATTRIBUTES ignored: malformed"));
	free(attributes);
}

/*
 * Spans
 */

/* The last component of the command's name. A word that is too long for a file
 * name is cut. */
static struct strview
name_of(const struct policy *policy)
{
	const char *word = policy->command[0];
	const char *slash = strrchr(word, '/');
	struct strview name =
	    strview_of(slash == NULL || slash[1] == '\0' ? word : slash + 1);

	name.length = escape_cut(name.at, name.length, NAME_MAX);
	return name;
}

static void
put_time(struct writer *writer, const char *name, nanos time)
{
	char room[NUMBER_ROOM];

	/* A clock may have been before 1970. */
	writer_json_string(
	    writer, name, number_put(room, number_greater(time, 0)));
}

/* Begins a span. prefix stands before the name of the command. */
static void
begin_span(struct writer *writer, const struct traced *traced, uint64_t span,
    uint64_t parent, const char *prefix)
{
	const struct trace *trace = traced->trace;
	char id[2 * ID_DIGITS + 1];
	struct strview name = name_of(traced->policy);

	writer_json_begin(writer, NULL, '{');
	snprintf(id, sizeof id, "%016" PRIx64 "%016" PRIx64, trace->id[0],
	    trace->id[1]);
	writer_json_string(writer, "traceId", id);
	snprintf(id, sizeof id, "%016" PRIx64, span);
	writer_json_string(writer, "spanId", id);
	if (trace->state != NULL && strlen(trace->state) <= STATE_MOST)
		writer_json_string(writer, "traceState", trace->state);
	if (parent != 0) {
		snprintf(id, sizeof id, "%016" PRIx64, parent);
		writer_json_string(writer, "parentSpanId", id);
	}
	writer_json_raw(writer, "name", "\"");
	writer_put(writer, prefix);
	writer_put_escaped(writer, ESCAPE_JSON, name.at, name.length);
	writer_put(writer, "\"");
	writer_json_number(writer, "kind", KIND_INTERNAL);
}

/* Puts the times of a span, and begins its attributes. */
static void
begin_attributes(struct writer *writer, const struct traced *traced,
    nanos began, nanos elapsed)
{
	put_time(writer, "startTimeUnixNano", began);
	put_time(writer, "endTimeUnixNano", number_add(began, elapsed));
	writer_json_begin(writer, "attributes", '[');
	put_text(writer, "process.executable.name", name_of(traced->policy));
}

/* Ends the attributes and the span. The strings say why the span is an error;
 * if there are none, it is not an error. */
static void
end_span(struct writer *writer, const char *const strings[])
{
	writer_json_end(writer, ']');
	if (*strings != NULL) {
		writer_json_begin(writer, "status", '{');
		writer_json_number(writer, "code", STATUS_ERROR);
		writer_json_raw(writer, "message", "\"");
		writer_put_all(writer, strings);
		writer_put(writer, "\"");
		writer_json_end(writer, '}');
	}
	writer_json_end(writer, '}');
}

static void
put_invocation(struct writer *writer, const struct traced *traced)
{
	const struct trace *trace = traced->trace;
	const char *key = traced->policy->budget.key;
	bool succeeded = traced->reason == REASON_SUCCEEDED;

	begin_span(writer, traced, trace->span, trace->parent, "retry ");
	begin_attributes(writer, traced, traced->began, traced->elapsed);
	put_number(writer, "process.exit.code", traced->status);
	put_text(writer, "retry.reason",
	    strview_of(verdict_reason_name(traced->reason)));
	put_number(writer, "retry.attempt_count", traced->attempt_log->count);
	if (key != NULL && *key != '\0')
		put_text(writer, "retry.budget.key", strview_of(key));
	end_span(writer,
	    STRINGS(succeeded ? NULL : verdict_reason_words(traced->reason)));
}

/* Why an attempt was an error, in two strings. */
static void
put_failure(
    const char *strings[2], const struct entry *entry, char room[NUMBER_ROOM])
{
	strings[0] = verdict_end_words(entry->end);
	strings[1] = "";
	if (entry->end == END_EXITED)
		strings[1] = number_put(room, entry->status);
	else if (entry->end == END_SIGNALED)
		strings[1] = signame_put(room, entry->signal);
}

/* The attributes of an attempt that made an HTTP request: there was a response,
 * or the options name HTTP. */
static void
put_http(struct writer *writer, const struct policy *policy,
    const struct entry *entry)
{
	bool resent =
	    entry->failed > 0 && (policy->http || policy->http_status != NULL);

	if (entry->http != 0)
		put_number(writer, "http.response.status_code", entry->http);
	if (resent)
		put_number(writer, "http.request.resend_count", entry->failed);
}

static void
put_attempt(struct writer *writer, const struct traced *traced,
    const struct entry *entry)
{
	char room[NUMBER_ROOM];
	const char *strings[3] = { NULL };

	begin_span(writer, traced, entry->span, traced->trace->span, "");
	begin_attributes(
	    writer, traced, traced->began + entry->began, entry->elapsed);
	put_number(writer, "process.exit.code", entry->status);
	put_number(writer, "retry.attempt", entry->attempt);
	put_text(
	    writer, "retry.verdict", strview_of(verdict_name(entry->verdict)));
	if (entry->planned >= 0)
		put_number(writer, "retry.delay_ms",
		    number_round(entry->planned, NANOS_MS));
	put_truth(writer, "retry.budget_exhausted", entry->budget_exhausted);
	put_http(writer, traced->policy, entry);
	if (entry->verdict == VERDICT_RETRY || entry->verdict == VERDICT_STOP)
		put_failure(strings, entry, room);
	end_span(writer, strings);
}

void
trace_file_put(struct writer *writer, const void *with)
{
	const struct traced *traced = with;
	int kept = attempt_log_kept(traced->attempt_log);

	writer->compact = true;
	writer_json_begin(writer, NULL, '{');
	writer_json_begin(writer, "resourceSpans", '[');
	writer_json_begin(writer, NULL, '{');
	put_resource(writer);
	writer_json_begin(writer, "scopeSpans", '[');
	writer_json_begin(writer, NULL, '{');
	writer_json_begin(writer, "scope", '{');
	writer_json_string(writer, "name", "retry");
	writer_json_string(writer, "version", VERSION);
	writer_json_end(writer, '}');
	writer_json_begin(writer, "spans", '[');
	put_invocation(writer, traced);
	for (int i = 0; i < kept; i++)
		put_attempt(
		    writer, traced, attempt_log_at(traced->attempt_log, i));
	writer_json_end(writer, ']');
	writer_put(writer, "}]}]}\n");
}
