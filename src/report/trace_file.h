/*
 * trace_file: the spans of an invocation as OpenTelemetry's JSON, for --trace.
 *
 * The text is one line: an ExportTraceServiceRequest in the JSON encoding of
 * OTLP 1.0, in which a number of 64 bits is a string, an id is hexadecimal, and
 * an enum is a number. An attribute without a value is left out.
 */
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include "trace/trace.h"
#include "output/log.h"
#include "output/writer.h"
#include "policy/policy.h"
#include "report/attempt_log.h"

/* An invocation that is over. */
struct traced {
	const struct policy *policy;
	const struct attempt_log *attempt_log;
	const struct trace *trace;
	enum reason reason;
	int status;
	nanos began; /* Unix time */
	nanos elapsed;
};

/* Puts the line. with is a struct traced. */
void trace_file_put(struct writer *writer, const void *with);

/* Warns if OTEL_RESOURCE_ATTRIBUTES is malformed: then no trace has it. */
void trace_file_check(struct log *log);

#endif
