#include "report/budget_format.h"

#include <string.h>
#include "text/number.h"

/* The columns of the table are not moved for keys longer than this. */
#define KEY_COLUMN_MOST 40

/* Programs get times to the microsecond. */
#define MICROSECOND (NANOS_MS / 1000)

enum kind {
	KIND_COUNT,
	KIND_PARTS, /* millionths */
	KIND_SPAN, /* nanoseconds */
	KIND_NEXT, /* nanoseconds; 0 is shown as "now" */
	KIND_STATE, /* enum breaker_state */
};

/* A field of a snapshot and its names. NULL: the field is not in that format.
 */
struct field {
	size_t at;
	enum kind kind;
	const char *title; /* in the table */
	const char *object; /* in JSON, the member that has it; NULL: none */
	const char *name; /* in JSON */
	const char *metric, *type, *help; /* in Prometheus */
};

#define AT(member) offsetof(struct snapshot, member)
#define GAUGE "gauge"
#define COUNTER "counter"

static const struct field fields[] = {
	{ AT(retries), KIND_COUNT, "RETRIES", NULL, "retries", "window_retries",
	    GAUGE, "Retries in the window." },
	{ AT(limit), KIND_COUNT, "LIMIT", NULL, "limit", "limit", GAUGE,
	    "Retries allowed in the window." },
	{ AT(left), KIND_COUNT, "LEFT", NULL, "left", "left", GAUGE,
	    "Retries left in the window." },
	{ AT(next), KIND_NEXT, "NEXT", NULL, "next_seconds", "next_seconds",
	    GAUGE, "Seconds until a retry is allowed; NaN: after a success." },
	{ AT(successes), KIND_COUNT, "SUCCESSES", NULL, "successes",
	    "window_successes", GAUGE, "Successes in the window." },
	{ AT(window), KIND_SPAN, "WINDOW", NULL, "window_seconds",
	    "window_seconds", GAUGE, "Length of the window." },
	{ AT(ratio), KIND_PARTS, NULL, NULL, "ratio", "ratio", GAUGE,
	    "Retries allowed for each success." },
	{ AT(min), KIND_COUNT, NULL, NULL, "min", "min", GAUGE,
	    "Retries allowed in any window." },
	{ AT(cooldown), KIND_SPAN, NULL, NULL, "cooldown_seconds",
	    "cooldown_seconds", GAUGE,
	    "Seconds left of the pause after a denial." },
	{ AT(all_firsts), KIND_COUNT, "FIRSTS", "totals", "firsts",
	    "firsts_total", COUNTER, "First attempts." },
	{ AT(all_successes), KIND_COUNT, NULL, "totals", "successes",
	    "successes_total", COUNTER, "Invocations that succeeded." },
	{ AT(all_retries), KIND_COUNT, NULL, "totals", "retries",
	    "retries_total", COUNTER, "Retries that the allowance paid for." },
	{ AT(all_probes), KIND_COUNT, "PROBES", "totals", "probes",
	    "probes_total", COUNTER,
	    "Retries that the breaker let in as its probe." },
	{ AT(all_turns), KIND_COUNT, "TURNS", "totals", "turns", "turns_total",
	    COUNTER, "Retries that the breaker let in while it recovered." },
	{ AT(all_denied), KIND_COUNT, "DENIED", "totals", "denied",
	    "denied_total", COUNTER,
	    "Attempts that the budget or the breaker held back." },
	{ AT(all_attempts), KIND_COUNT, NULL, "totals", "attempts",
	    "attempts_total", COUNTER,
	    "First attempts, and retries of each kind." },
	{ AT(amplification), KIND_PARTS, "AMPLIFICATION", NULL, "amplification",
	    "amplification", GAUGE, "Attempts for each first attempt." },
	{ AT(breaker), KIND_STATE, NULL, "gate", "state", "gate_state", GAUGE,
	    "The breaker: 0 closed, 1 open, 2 half-open, 3 recovering." },
	{ AT(failures), KIND_COUNT, NULL, "gate", "failures", "gate_failures",
	    GAUGE, "Consecutive failures." },
	{ AT(probe), KIND_SPAN, NULL, "gate", "next_seconds",
	    "gate_next_seconds", GAUGE,
	    "Seconds until a probe may be made; NaN: none is to come." },
	{ AT(rate), KIND_COUNT, NULL, "gate", "rate", "gate_rate", GAUGE,
	    "Attempts a second while it recovers; NaN: it does not." },
};

#define FIELDS (sizeof fields / sizeof fields[0])

static const char *const states[] = {
	[BREAKER_CLOSED] = "closed",
	[BREAKER_OPEN] = "open",
	[BREAKER_HALF_OPEN] = "half-open",
	[BREAKER_RECOVERING] = "recovering",
};

/*
 * Numbers
 */

/* The value of a field, whatever its name. */
static int64_t
number(const struct snapshot *snapshot, const struct field *field)
{
	int64_t value;

	memcpy(&value, (const char *)snapshot + field->at, sizeof value);
	return value;
}

/* A value for programs; none stands for SNAPSHOT_NONE. */
static const char *
put_exact(char room[NUMBER_ROOM], const struct snapshot *snapshot,
    const struct field *field, const char *none)
{
	int64_t value = number(snapshot, field);

	if (value == SNAPSHOT_NONE)
		return none;
	switch (field->kind) {
	case KIND_COUNT:
	case KIND_STATE:
		break;
	case KIND_PARTS:
		return number_put_decimal(room, value, WINDOW_RATIO_ONE);
	case KIND_SPAN:
	case KIND_NEXT:
		return number_put_decimal(room,
		    number_round(value, MICROSECOND),
		    NANOS_SECOND / MICROSECOND);
	}
	return number_put(room, value);
}

/* Millionths as a number with two decimals, which align in a column. */
static const char *
put_hundredths(char room[NUMBER_ROOM], int64_t value)
{
	char *end;

	value = number_round(value, WINDOW_RATIO_ONE / 100);
	end = number_put(room, value / 100) + strlen(room);
	*end++ = '.';
	*end++ = (char)('0' + value % 100 / 10);
	*end++ = (char)('0' + value % 10);
	*end = '\0';
	return room;
}

/* A value for people. */
static const char *
put_rounded(char room[DURATION_ROOM], const struct snapshot *snapshot,
    const struct field *field)
{
	int64_t value = number(snapshot, field);

	if (value == SNAPSHOT_NONE)
		return "-";
	switch (field->kind) {
	case KIND_COUNT:
	case KIND_STATE:
		break;
	case KIND_PARTS:
		return put_hundredths(room, value);
	case KIND_NEXT:
		if (value == 0)
			return "now";
		return duration_format(room, value);
	case KIND_SPAN:
		return duration_format(room, value);
	}
	return number_put(room, value);
}

/*
 * The table
 */

/* The breaker's state, and the cooldown after a denial. */
static void
put_state(struct writer *writer, const struct snapshot *snapshot)
{
	char room[DURATION_ROOM];

	writer_put(writer, states[snapshot->breaker]);
	if (snapshot->rate > 0)
		writer_put_all(writer,
		    STRINGS(
			", ", number_put(room, snapshot->rate), " a second"));
	if (snapshot->failures > 0)
		writer_put_all(writer,
		    STRINGS(snapshot->probe == SNAPSHOT_NONE ? ", " : " after ",
			number_put(room, snapshot->failures),
			snapshot->failures == 1 ? " failure" : " failures"));
	if (snapshot->breaker == BREAKER_HALF_OPEN && snapshot->probe > 0)
		writer_put(writer, ", probe under way");
	else if (snapshot->probe > 0)
		writer_put_all(writer,
		    STRINGS(
			", probe in ", duration_format(room, snapshot->probe)));
	else if (snapshot->probe == 0)
		writer_put(writer, ", probe due");
	if (snapshot->cooldown > 0)
		writer_put_all(writer,
		    STRINGS("; cooldown ",
			duration_format(room, snapshot->cooldown)));
}

/* How many columns the keys take, up to KEY_COLUMN_MOST. */
static size_t
key_column(const struct budget_list *list)
{
	size_t most = strlen("KEY");

	for (size_t i = 0; i < list->count; i++) {
		const struct snapshot *snapshot = &list->snapshots[i];
		struct writer scratch = { .to = -1 };

		/* The buffer has room for any key: nothing is written. */
		writer_put_escaped(
		    &scratch, ESCAPE_PLAIN, snapshot->key, snapshot->length);
		if (scratch.column > most && scratch.column <= KEY_COLUMN_MOST)
			most = scratch.column;
	}
	return most;
}

static size_t
field_column(const struct budget_list *list, const struct field *field)
{
	size_t most = strlen(field->title);

	for (size_t i = 0; i < list->count; i++) {
		char room[DURATION_ROOM];
		size_t width =
		    strlen(put_rounded(room, &list->snapshots[i], field));

		if (width > most)
			most = width;
	}
	return most;
}

/* One line of the table; the header where snapshot is NULL. */
static void
put_line(struct writer *writer, const struct snapshot *snapshot, size_t end,
    const size_t widths[FIELDS])
{
	char room[DURATION_ROOM];

	if (snapshot == NULL)
		writer_put(writer, "KEY");
	else
		writer_put_escaped(
		    writer, ESCAPE_PLAIN, snapshot->key, snapshot->length);
	writer_pad(writer, end);
	/* A key that is longer than its column moves the other columns. */
	end = writer->column;
	for (size_t i = 0; i < FIELDS; i++) {
		if (fields[i].title == NULL)
			continue;
		writer_put(writer, "  ");
		end += 2 + widths[i];
		writer_put_right(writer, end,
		    snapshot == NULL ? fields[i].title
				     : put_rounded(room, snapshot, &fields[i]));
	}
	writer_put(writer, "  ");
	if (snapshot == NULL)
		writer_put(writer, "GATE");
	else
		put_state(writer, snapshot);
	writer_put(writer, "\n");
}

static void
put_table(const struct budget_list *list, struct writer *writer)
{
	size_t widths[FIELDS] = { 0 }, key = key_column(list);

	for (size_t i = 0; i < FIELDS; i++)
		if (fields[i].title != NULL)
			widths[i] = field_column(list, &fields[i]);
	put_line(writer, NULL, key, widths);
	for (size_t i = 0; i < list->count; i++)
		put_line(writer, &list->snapshots[i], key, widths);
}

/*
 * JSON
 */

/* Whether two fields are members of one object. */
static bool
together(const struct field *a, const struct field *b)
{
	return a->object != NULL && b->object != NULL &&
	    strcmp(a->object, b->object) == 0;
}

static void
put_member(struct writer *writer, const struct snapshot *snapshot,
    const struct field *field)
{
	char room[DURATION_ROOM];

	if (field->kind == KIND_STATE)
		writer_json_string(
		    writer, field->name, states[snapshot->breaker]);
	else
		writer_json_raw(writer, field->name,
		    put_exact(room, snapshot, field, "null"));
}

static void
put_object(const struct budget_list *list, const struct snapshot *snapshot,
    struct writer *writer)
{
	writer_json_begin(writer, NULL, '{');
	/* A key is not NUL-terminated. */
	writer_json_raw(writer, "key", "");
	writer_put_string(writer, ESCAPE_JSON, snapshot->key, snapshot->length);
	writer_json_string(writer, "directory", list->directory);
	writer_json_string(
	    writer, "file", snapshot->file[0] == '\0' ? NULL : snapshot->file);
	for (size_t i = 0; i < FIELDS; i++) {
		const struct field *field = &fields[i];

		if (field->object != NULL && !together(field - 1, field))
			writer_json_begin(writer, field->object, '{');
		put_member(writer, snapshot, field);
		if (field->object != NULL &&
		    (i + 1 == FIELDS || !together(field, field + 1)))
			writer_json_end(writer, '}');
	}
	writer_json_end(writer, '}');
}

/* One object a line, so that tools for lines can read it too. */
static void
put_json(const struct budget_list *list, struct writer *writer)
{
	if (list->one) {
		put_object(list, list->snapshots, writer);
		writer_put(writer, "\n");
		return;
	}
	writer_json_begin(writer, NULL, '[');
	for (size_t i = 0; i < list->count; i++) {
		writer->comma = i == 0 ? "\n" : ",\n";
		put_object(list, &list->snapshots[i], writer);
	}
	writer_put(writer, list->count == 0 ? "" : "\n");
	writer_json_end(writer, ']');
	writer_put(writer, "\n");
}

/*
 * Prometheus
 */

/* Prometheus wants all samples of a metric together. */
static void
put_metric(const struct budget_list *list, struct writer *writer,
    const struct field *field)
{
	char room[DURATION_ROOM];

	writer_put_all(writer,
	    STRINGS("# HELP retry_budget_", field->metric, " ", field->help,
		"\n# TYPE retry_budget_", field->metric, " ", field->type,
		"\n"));
	for (size_t i = 0; i < list->count; i++) {
		const struct snapshot *snapshot = &list->snapshots[i];

		writer_put_all(
		    writer, STRINGS("retry_budget_", field->metric, "{key="));
		writer_put_string(
		    writer, ESCAPE_PROM, snapshot->key, snapshot->length);
		writer_put_all(writer,
		    STRINGS(
			"} ", put_exact(room, snapshot, field, "NaN"), "\n"));
	}
}

void
budget_format_put(const struct budget_list *list, struct writer *writer)
{
	switch (list->format) {
	case FORMAT_TABLE:
		put_table(list, writer);
		return;
	case FORMAT_JSON:
		put_json(list, writer);
		return;
	case FORMAT_PROM:
		for (size_t i = 0; i < FIELDS; i++)
			put_metric(list, writer, &fields[i]);
		return;
	}
}
