#include "report/budget_format.h"

#include <stddef.h>
#include <string.h>
#include "report/budget_table.h"

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
together(const struct budget_field *a, const struct budget_field *b)
{
	return a->object != NULL && b->object != NULL &&
	    strcmp(a->object, b->object) == 0;
}

static void
put_member(struct writer *writer, const struct snapshot *snapshot,
    const struct budget_field *field)
{
	char room[DURATION_ROOM];

	if (field->kind == KIND_STATE)
		writer_json_string(
		    writer, field->name, budget_list_state(snapshot));
	else
		writer_json_raw(writer, field->name,
		    budget_list_exact(room, snapshot, field, "null"));
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
		for (size_t i = 0; i < BUDGET_FIELDS; i++)
			if (budget_list_has(SCOPE_FLEET, &budget_fields[i]))
				put_member(writer, fleet, &budget_fields[i]);
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
	for (size_t i = 0; i < BUDGET_FIELDS; i++) {
		const struct budget_field *field = &budget_fields[i];

		if (!budget_list_has(SCOPE_HOST, field))
			continue;
		if (field->object != NULL && !together(field - 1, field))
			writer_json_begin(writer, field->object, '{');
		put_member(writer, snapshot, field);
		if (field->object != NULL &&
		    (i + 1 == BUDGET_FIELDS || !together(field, field + 1)))
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

	for (size_t i = 0; i < BUDGET_FIELDS; i++) {
		const struct budget_field *field = &budget_fields[i];

		if (!budget_list_has(scope, field))
			continue;
		put_description(
		    writer, prefix, field->metric, field->help, field->type);
		for (size_t j = 0; j < count; j++)
			if (snapshot_is_known(&snapshots[j]))
				put_sample(writer, prefix, field->metric,
				    &snapshots[j],
				    budget_list_exact(
					room, &snapshots[j], field, "NaN"));
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

void
budget_format_put(const struct budget_list *list, struct writer *writer)
{
	switch (list->format) {
	case FORMAT_TABLE:
		budget_table_put(list, writer);
		return;
	case FORMAT_JSON:
		put_json(list, writer);
		return;
	case FORMAT_PROM:
		put_prom(list, writer);
		return;
	}
}
