#include "report/budget_show.h"

#include <stddef.h>
#include <string.h>
#include "text/number.h"

enum kind {
	KIND_COUNT,
	KIND_PARTS, /* millionths */
	KIND_SPAN, /* nanoseconds */
	KIND_NEXT, /* nanoseconds; 0 is shown as "now" */
	KIND_STATE, /* enum breaker_state */
};

/* Whose budgets have a field. */
enum scope {
	SCOPE_ANY,
	SCOPE_HOST,
	SCOPE_FLEET,
};

/* A field of a snapshot and its names. NULL: the field is not in that format.
 */
struct field {
	size_t at;
	enum scope scope;
	enum kind kind;
	const char *title; /* in the table */
	const char *object; /* in JSON, the member that has it; NULL: none */
	const char *name; /* in JSON */
	const char *metric, *type, *help; /* in Prometheus */
};

/* Programs get times to the microsecond. */
#define MICROSECOND (NANOS_MS / 1000)

#define AT(member) offsetof(struct snapshot, member)
#define GAUGE "gauge"
#define COUNTER "counter"
#define FIELDS (sizeof fields / sizeof *fields)

static const struct field fields[] = {
	{ AT(retries), SCOPE_ANY, KIND_COUNT, "RETRIES", NULL, "retries",
	    "window_retries", GAUGE, "Retries in the window." },
	{ AT(limit), SCOPE_ANY, KIND_COUNT, "LIMIT", NULL, "limit", "limit",
	    GAUGE, "Retries allowed in the window." },
	{ AT(left), SCOPE_ANY, KIND_COUNT, "LEFT", NULL, "left", "left", GAUGE,
	    "Retries left in the window." },
	{ AT(next), SCOPE_ANY, KIND_NEXT, "NEXT", NULL, "next_seconds",
	    "next_seconds", GAUGE,
	    "Seconds until a retry is allowed; NaN: after a success." },
	{ AT(successes), SCOPE_ANY, KIND_COUNT, "SUCCESSES", NULL, "successes",
	    "window_successes", GAUGE, "Successes in the window." },
	{ AT(window), SCOPE_ANY, KIND_SPAN, "WINDOW", NULL, "window_seconds",
	    "window_seconds", GAUGE, "Length of the window." },
	{ AT(ratio), SCOPE_ANY, KIND_PARTS, NULL, NULL, "ratio", "ratio", GAUGE,
	    "Retries allowed for each success." },
	{ AT(min), SCOPE_ANY, KIND_COUNT, NULL, NULL, "min", "min", GAUGE,
	    "Retries allowed in any window." },
	{ AT(hosts), SCOPE_FLEET, KIND_COUNT, "HOSTS", NULL, "hosts", "hosts",
	    GAUGE, "Hosts seen in the window." },
	{ AT(cooldown), SCOPE_HOST, KIND_SPAN, NULL, NULL, "cooldown_seconds",
	    "cooldown_seconds", GAUGE,
	    "Seconds left of the pause after a denial." },
	{ AT(all_firsts), SCOPE_HOST, KIND_COUNT, "FIRSTS", "totals", "firsts",
	    "firsts_total", COUNTER, "First attempts." },
	{ AT(all_successes), SCOPE_HOST, KIND_COUNT, NULL, "totals",
	    "successes", "successes_total", COUNTER,
	    "Invocations that succeeded." },
	{ AT(all_retries), SCOPE_HOST, KIND_COUNT, NULL, "totals", "retries",
	    "retries_total", COUNTER, "Retries that the allowance paid for." },
	{ AT(all_probes), SCOPE_HOST, KIND_COUNT, "PROBES", "totals", "probes",
	    "probes_total", COUNTER,
	    "Retries that the breaker let in as its probe." },
	{ AT(all_turns), SCOPE_HOST, KIND_COUNT, "TURNS", "totals", "turns",
	    "turns_total", COUNTER,
	    "Retries that the breaker let in while it recovered." },
	{ AT(all_denied), SCOPE_HOST, KIND_COUNT, "DENIED", "totals", "denied",
	    "denied_total", COUNTER,
	    "Attempts that the budget or the breaker held back." },
	{ AT(all_attempts), SCOPE_HOST, KIND_COUNT, NULL, "totals", "attempts",
	    "attempts_total", COUNTER,
	    "First attempts, and retries of each kind." },
	{ AT(amplification), SCOPE_HOST, KIND_PARTS, "AMPLIFICATION", NULL,
	    "amplification", "amplification", GAUGE,
	    "Attempts for each first attempt." },
	{ AT(breaker), SCOPE_HOST, KIND_STATE, NULL, "gate", "state",
	    "gate_state", GAUGE,
	    "The breaker: 0 closed, 1 open, 2 half-open, 3 recovering." },
	{ AT(failures), SCOPE_HOST, KIND_COUNT, NULL, "gate", "failures",
	    "gate_failures", GAUGE, "Consecutive failures." },
	{ AT(probe), SCOPE_HOST, KIND_SPAN, NULL, "gate", "next_seconds",
	    "gate_next_seconds", GAUGE,
	    "Seconds until a probe may be made; NaN: none is to come." },
	{ AT(rate), SCOPE_HOST, KIND_COUNT, NULL, "gate", "rate", "gate_rate",
	    GAUGE, "Attempts a second while it recovers; NaN: it does not." },
};

/* Whether the budgets of this scope have a field. */
static bool
has(enum scope scope, const struct field *field)
{
	return field->scope == SCOPE_ANY || field->scope == scope;
}

/* The name of the breaker's state. */
static const char *
state_name(const struct snapshot *snapshot)
{
	static const char *const names[] = {
		[BREAKER_CLOSED] = "closed",
		[BREAKER_OPEN] = "open",
		[BREAKER_HALF_OPEN] = "half-open",
		[BREAKER_RECOVERING] = "recovering",
	};

	return snapshot_is_known(snapshot) ? names[snapshot->breaker] : NULL;
}

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
exact(char room[NUMBER_ROOM], const struct snapshot *snapshot,
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
rounded(char room[DURATION_ROOM], const struct snapshot *snapshot,
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

/* What this host knows of its fleet: a member of on_host in JSON, and a metric.
 */
static const struct view_field {
	size_t at; /* in struct host_view */
	bool span;
	const char *name, *metric, *help;
} view_fields[] = {
	{ offsetof(struct host_view, denied), true, "denied_seconds",
	    "on_host_denied_seconds",
	    "Seconds for which a denial still holds on this host." },
	{ offsetof(struct host_view, down), true, "unasked_seconds",
	    "on_host_unasked_seconds",
	    "Seconds for which this host does not ask the server." },
	{ offsetof(struct host_view, alone), false, "alone", "on_host_alone",
	    "Retries in the window that this host made alone." },
};

#define VIEW_FIELDS (sizeof view_fields / sizeof *view_fields)

static const char *
put_view_field(char room[NUMBER_ROOM], const struct host_view *view,
    const struct view_field *field)
{
	int64_t value;

	memcpy(&value, (const char *)view + field->at, sizeof value);
	if (field->span)
		return number_put_decimal(
		    room, number_round(value, NANOS_MS), 1000);
	return number_put(room, value);
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
		writer_json_string(writer, field->name, state_name(snapshot));
	else
		writer_json_raw(
		    writer, field->name, exact(room, snapshot, field, "null"));
}

static void
put_view(struct writer *writer, const struct host_view *view)
{
	char room[NUMBER_ROOM];

	writer_json_begin(writer, "on_host", '{');
	for (size_t i = 0; i < VIEW_FIELDS; i++)
		writer_json_raw(writer, view_fields[i].name,
		    put_view_field(room, view, &view_fields[i]));
	writer_json_end(writer, '}');
}

/* What the fleet's server knows of a budget. */
static void
put_fleet(const struct budget_list *list, size_t index, struct writer *writer)
{
	const struct snapshot *fleet = &list->fleets[index];
	bool known = snapshot_is_known(fleet);

	if (known) {
		writer_json_begin(writer, "fleet", '{');
		writer_json_string(writer, "url", list->url);
		for (size_t i = 0; i < FIELDS; i++)
			if (has(SCOPE_FLEET, &fields[i]))
				put_member(writer, fleet, &fields[i]);
		writer_json_end(writer, '}');
	} else {
		writer_json_string(writer, "fleet", NULL);
	}
	writer_json_string(writer, "error", known ? NULL : list->error);
	put_view(writer, &list->snapshots[index].fleet);
}

static void
put_object(const struct budget_list *list, size_t index, struct writer *writer)
{
	const struct snapshot *snapshot = &list->snapshots[index];

	writer_json_begin(writer, NULL, '{');
	/* A key is not NUL-terminated. */
	writer_json_raw(writer, "key", "");
	writer_put_string(writer, ESCAPE_JSON, snapshot->key, snapshot->length);
	writer_json_string(writer, "directory", list->directory);
	writer_json_string(
	    writer, "file", snapshot->file[0] == '\0' ? NULL : snapshot->file);
	for (size_t i = 0; i < FIELDS; i++) {
		const struct field *field = &fields[i];

		if (!has(SCOPE_HOST, field))
			continue;
		if (field->object != NULL && !together(field - 1, field))
			writer_json_begin(writer, field->object, '{');
		put_member(writer, snapshot, field);
		if (field->object != NULL &&
		    (i + 1 == FIELDS || !together(field, field + 1)))
			writer_json_end(writer, '}');
	}
	if (list->fleets != NULL)
		put_fleet(list, index, writer);
	writer_json_end(writer, '}');
}

/* One object a line, so that tools for lines can read it too. */
static void
put_json(const struct budget_list *list, struct writer *writer)
{
	if (list->one) {
		put_object(list, 0, writer);
		writer_put(writer, "\n");
		return;
	}
	writer_json_begin(writer, NULL, '[');
	for (size_t i = 0; i < list->count; i++) {
		writer->comma = i == 0 ? "\n" : ",\n";
		put_object(list, i, writer);
	}
	writer_put(writer, list->count == 0 ? "" : "\n");
	writer_json_end(writer, ']');
	writer_put(writer, "\n");
}

/*
 * Prometheus
 */

/* The HELP and TYPE of a metric. */
static void
put_description(struct writer *writer, const char *prefix, const char *metric,
    const char *help, const char *type)
{
	writer_put_all(writer,
	    STRINGS("# HELP ", prefix, metric, " ", help, "\n# TYPE ", prefix,
		metric, " ", type, "\n"));
}

static void
put_sample(struct writer *writer, const char *prefix, const char *metric,
    const struct snapshot *snapshot, const char *value)
{
	writer_put_all(writer, STRINGS(prefix, metric, "{key="));
	writer_put_string(writer, ESCAPE_PROM, snapshot->key, snapshot->length);
	writer_put_all(writer, STRINGS("} ", value, "\n"));
}

/* The metrics of budgets, of which some may not be known. Prometheus wants all
 * samples of a metric together. */
static void
put_metrics(struct writer *writer, const struct snapshot *snapshots,
    size_t count, enum scope scope)
{
	const char *prefix =
	    scope == SCOPE_HOST ? "retry_budget_" : "retry_fleet_";
	char room[DURATION_ROOM];

	for (size_t i = 0; i < FIELDS; i++) {
		const struct field *field = &fields[i];

		if (!has(scope, field))
			continue;
		put_description(
		    writer, prefix, field->metric, field->help, field->type);
		for (size_t j = 0; j < count; j++)
			if (snapshot_is_known(&snapshots[j]))
				put_sample(writer, prefix, field->metric,
				    &snapshots[j],
				    exact(room, &snapshots[j], field, "NaN"));
	}
}

/* Whether the server answered, and what this host knows of the fleet. */
static void
put_views(const struct budget_list *list, struct writer *writer)
{
	static const char prefix[] = "retry_fleet_";
	char room[NUMBER_ROOM];

	put_description(
	    writer, prefix, "up", "Whether the server answered.", "gauge");
	for (size_t i = 0; i < list->count; i++)
		put_sample(writer, prefix, "up", &list->fleets[i],
		    snapshot_is_known(&list->fleets[i]) ? "1" : "0");
	for (size_t i = 0; i < VIEW_FIELDS; i++) {
		const struct view_field *field = &view_fields[i];

		put_description(
		    writer, prefix, field->metric, field->help, "gauge");
		for (size_t j = 0; j < list->count; j++)
			put_sample(writer, prefix, field->metric,
			    &list->fleets[j],
			    put_view_field(
				room, &list->snapshots[j].fleet, field));
	}
}

static void
put_prom(const struct budget_list *list, struct writer *writer)
{
	put_metrics(writer, list->snapshots, list->count, SCOPE_HOST);
	if (list->fleets == NULL)
		return;
	put_metrics(writer, list->fleets, list->count, SCOPE_FLEET);
	put_views(list, writer);
}

/*
 * The table
 */

/* The columns of the table are not moved for keys longer than this. */
#define KEY_COLUMN_MOST 40

/* The breaker's state, and the cooldown after a denial. */
static void
put_state(struct writer *writer, const struct snapshot *snapshot)
{
	char room[DURATION_ROOM];

	writer_put(writer, state_name(snapshot));
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

/* What this host knows of its fleet. */
static void
put_remark(struct writer *writer, const struct host_view *view)
{
	char room[DURATION_ROOM];

	if (view->down > 0)
		writer_put_all(writer,
		    STRINGS(
			"not asked for ", duration_format(room, view->down)));
	else if (view->denied > 0)
		writer_put_all(writer,
		    STRINGS(
			"denied for ", duration_format(room, view->denied)));
	else if (view->alone == 0)
		writer_put(writer, "-");
	if (view->alone > 0)
		writer_put_all(writer,
		    STRINGS(view->down > 0 || view->denied > 0 ? ", " : "",
			number_put(room, view->alone), " alone"));
}

/* The table's columns. */
struct layout {
	bool fleet; /* it has rows of a fleet */
	size_t key; /* the width of the keys */
	size_t widths[FIELDS];
};

/* One line of the table; the header where snapshot is NULL. */
struct row {
	const char *scope;
	const struct snapshot *snapshot;
	const struct host_view *view; /* of a fleet; NULL: the host's row */
};

/* Whether a field is a column of the table. */
static bool
has_column(const struct layout *layout, const struct field *field)
{
	return field->title != NULL &&
	    (layout->fleet || has(SCOPE_HOST, field));
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

/* The greatest width of a field in snapshots, or least. */
static size_t
field_column(const struct snapshot *snapshots, size_t count,
    const struct field *field, size_t least)
{
	for (size_t i = 0; i < count; i++) {
		char room[DURATION_ROOM];
		size_t width = strlen(rounded(room, &snapshots[i], field));

		if (width > least)
			least = width;
	}
	return least;
}

static void
lay_out(struct layout *layout, const struct budget_list *list)
{
	layout->fleet = list->fleets != NULL;
	layout->key = key_column(list);
	for (size_t i = 0; i < FIELDS; i++) {
		size_t *width = &layout->widths[i];

		if (!has_column(layout, &fields[i]))
			continue;
		*width = field_column(list->snapshots, list->count, &fields[i],
		    strlen(fields[i].title));
		if (layout->fleet)
			*width = field_column(
			    list->fleets, list->count, &fields[i], *width);
	}
}

static void
put_line(
    struct writer *writer, const struct layout *layout, const struct row *row)
{
	const struct snapshot *snapshot = row->snapshot;
	char room[DURATION_ROOM];
	size_t end;

	if (snapshot == NULL)
		writer_put(writer, "KEY");
	else
		writer_put_escaped(
		    writer, ESCAPE_PLAIN, snapshot->key, snapshot->length);
	writer_pad(writer, layout->key);
	if (layout->fleet)
		writer_put_all(writer, STRINGS("  ", row->scope));
	/* A key that is longer than its column moves the other columns. */
	end = writer->column;
	for (size_t i = 0; i < FIELDS; i++) {
		if (!has_column(layout, &fields[i]))
			continue;
		writer_put(writer, "  ");
		end += 2 + layout->widths[i];
		writer_put_right(writer, end,
		    snapshot == NULL ? fields[i].title
				     : rounded(room, snapshot, &fields[i]));
	}
	writer_put(writer, "  ");
	if (snapshot == NULL)
		writer_put(writer, "BREAKER");
	else if (row->view != NULL)
		put_remark(writer, row->view);
	else
		put_state(writer, snapshot);
	writer_put(writer, "\n");
}

static void
put_table(const struct budget_list *list, struct writer *writer)
{
	struct layout layout;

	lay_out(&layout, list);
	put_line(writer, &layout, &(struct row){ "SCOPE", NULL, NULL });
	for (size_t i = 0; i < list->count; i++) {
		const struct snapshot *host = &list->snapshots[i];

		if (snapshot_is_known(host))
			put_line(writer, &layout,
			    &(struct row){ "host ", host, NULL });
		if (layout.fleet && snapshot_is_known(&list->fleets[i]))
			put_line(writer, &layout,
			    &(struct row){
				"fleet", &list->fleets[i], &host->fleet });
	}
}

void
budget_show(const struct budget_list *list, struct writer *writer)
{
	switch (list->format) {
	case FORMAT_TABLE:
		put_table(list, writer);
		return;
	case FORMAT_JSON:
		put_json(list, writer);
		return;
	case FORMAT_PROM:
		put_prom(list, writer);
		return;
	}
}
