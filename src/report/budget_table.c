#include "report/budget_table.h"

#include <string.h>
#include "text/number.h"

/* The columns of the table are not moved for keys longer than this. */
#define KEY_COLUMN_MOST 40

/* The breaker's state, and the cooldown after a denial. */
static void
put_state(struct writer *writer, const struct snapshot *snapshot)
{
	char room[DURATION_ROOM];

	writer_put(writer, budget_list_state(snapshot));
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
put_view(struct writer *writer, const struct host_view *view)
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
	size_t widths[BUDGET_FIELDS];
};

/* One line of the table; the header where snapshot is NULL. */
struct row {
	const char *scope;
	const struct snapshot *snapshot;
	const struct host_view *view; /* of a fleet; NULL: the host's row */
};

/* Whether a field is a column of the table. */
static bool
has_column(const struct layout *layout, const struct budget_field *field)
{
	return field->title != NULL &&
	    (layout->fleet || budget_list_has(SCOPE_HOST, field));
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
    const struct budget_field *field, size_t least)
{
	for (size_t i = 0; i < count; i++) {
		char room[DURATION_ROOM];
		size_t width =
		    strlen(budget_list_rounded(room, &snapshots[i], field));

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
	for (size_t i = 0; i < BUDGET_FIELDS; i++) {
		size_t *width = &layout->widths[i];

		if (!has_column(layout, &budget_fields[i]))
			continue;
		*width = field_column(list->snapshots, list->count,
		    &budget_fields[i], strlen(budget_fields[i].title));
		if (layout->fleet)
			*width = field_column(list->fleets, list->count,
			    &budget_fields[i], *width);
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
	for (size_t i = 0; i < BUDGET_FIELDS; i++) {
		if (!has_column(layout, &budget_fields[i]))
			continue;
		writer_put(writer, "  ");
		end += 2 + layout->widths[i];
		writer_put_right(writer, end,
		    snapshot == NULL ? budget_fields[i].title
				     : budget_list_rounded(
					   room, snapshot, &budget_fields[i]));
	}
	writer_put(writer, "  ");
	if (snapshot == NULL)
		writer_put(writer, "BREAKER");
	else if (row->view != NULL)
		put_view(writer, row->view);
	else
		put_state(writer, snapshot);
	writer_put(writer, "\n");
}

void
budget_table_put(const struct budget_list *list, struct writer *writer)
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
