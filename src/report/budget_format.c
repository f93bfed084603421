#include "report/budget_format.h"

#include <string.h>
#include "text/number.h"
#include "output/quote.h"

/* A longer key does not push the columns of the others to the right. */
#define KEY_COLUMN_MOST 40

/* What programs get: a nanosecond is never of interest. */
#define MICROSECOND (NANOS_MS / 1000)

enum kind {
	KIND_COUNT,
	KIND_PARTS, /* millionths */
	KIND_SPAN, /* nanoseconds */
	KIND_NEXT, /* the same, where 0 is "now" */
	KIND_GATE, /* enum gate_state */
};

/* A number of an account, and what it is called. NULL: not shown there. */
struct field {
	size_t at;
	enum kind kind;
	const char *title; /* in the table */
	const char *object; /* in JSON: within which, NULL: none */
	const char *name; /* in JSON */
	const char *metric, *type, *help; /* in Prometheus */
};

#define AT(member) offsetof(struct account, member)
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
	{ AT(gate), KIND_GATE, NULL, "gate", "state", "gate_state", GAUGE,
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
	[GATE_CLOSED] = "closed",
	[GATE_OPEN] = "open",
	[GATE_HALF_OPEN] = "half-open",
	[GATE_RECOVERING] = "recovering",
};

/*
 * Numbers
 */

static int64_t
number(const struct account *account, const struct field *field)
{
	int64_t value;

	memcpy(&value, (const char *)account + field->at, sizeof value);
	return value;
}

/* As programs read it; none stands for ACCOUNT_NONE. */
static const char *
exact(char room[NUMBER_ROOM], const struct account *account,
    const struct field *field, const char *none)
{
	int64_t value = number(account, field);

	if (value == ACCOUNT_NONE)
		return none;
	switch (field->kind) {
	case KIND_COUNT:
	case KIND_GATE:
		break;
	case KIND_PARTS:
		return number_put_decimal(room, value, RING_RATIO_ONE);
	case KIND_SPAN:
	case KIND_NEXT:
		return number_put_decimal(room,
		    number_round(value, MICROSECOND),
		    NANOS_SECOND / MICROSECOND);
	}
	return number_put(room, value);
}

/* Millionths with two digits, so that they stand in a column. */
static const char *
hundredths(char room[NUMBER_ROOM], int64_t value)
{
	char *end;

	value = number_round(value, RING_RATIO_ONE / 100);
	end = number_put(room, value / 100) + strlen(room);
	*end++ = '.';
	*end++ = (char)('0' + value % 100 / 10);
	*end++ = (char)('0' + value % 10);
	*end = '\0';
	return room;
}

/* As people read it. */
static const char *
shown(char room[DURATION_ROOM], const struct account *account,
    const struct field *field)
{
	int64_t value = number(account, field);

	if (value == ACCOUNT_NONE)
		return "-";
	switch (field->kind) {
	case KIND_COUNT:
	case KIND_GATE:
		break;
	case KIND_PARTS:
		return hundredths(room, value);
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

/* The breaker, in words, and the pause after a denial. */
static void
put_gate(struct page *page, const struct account *account)
{
	char room[DURATION_ROOM];

	page_put(page, states[account->gate]);
	if (account->rate > 0) {
		page_put(page, ", ");
		page_put(page, number_put(room, account->rate));
		page_put(page, " a second");
	}
	if (account->failures > 0) {
		page_put(
		    page, account->probe == ACCOUNT_NONE ? ", " : " after ");
		page_put(page, number_put(room, account->failures));
		page_put(
		    page, account->failures == 1 ? " failure" : " failures");
	}
	if (account->gate == GATE_HALF_OPEN && account->probe > 0) {
		page_put(page, ", probe under way");
	} else if (account->probe > 0) {
		page_put(page, ", probe in ");
		page_put(page, duration_format(room, account->probe));
	} else if (account->probe == 0) {
		page_put(page, ", probe due");
	}
	if (account->cooldown > 0) {
		page_put(page, "; cooldown ");
		page_put(page, duration_format(room, account->cooldown));
	}
}

/* How many columns the keys take, up to KEY_COLUMN_MOST. */
static size_t
key_column(const struct tables *tables)
{
	size_t most = strlen("KEY");

	for (size_t i = 0; i < tables->count; i++) {
		const struct account *account = &tables->accounts[i];
		struct page scratch = { .to = -1 };

		/* A key has room in a page, so that nothing is written. */
		quote_put(&scratch, QUOTE_PLAIN, account->key, account->length);
		if (scratch.column > most && scratch.column <= KEY_COLUMN_MOST)
			most = scratch.column;
	}
	return most;
}

static size_t
field_column(const struct tables *tables, const struct field *field)
{
	size_t most = strlen(field->title);

	for (size_t i = 0; i < tables->count; i++) {
		char room[DURATION_ROOM];
		size_t width = strlen(shown(room, &tables->accounts[i], field));

		if (width > most)
			most = width;
	}
	return most;
}

/* One line of it; the header where there is no account. */
static void
put_line(struct page *page, const struct account *account, size_t end,
    const size_t widths[FIELDS])
{
	char room[DURATION_ROOM];

	if (account == NULL)
		page_put(page, "KEY");
	else
		quote_put(page, QUOTE_PLAIN, account->key, account->length);
	page_pad(page, end);
	/* Where the key was longer, the columns follow it. */
	end = page->column;
	for (size_t i = 0; i < FIELDS; i++) {
		if (fields[i].title == NULL)
			continue;
		page_put(page, "  ");
		end += 2 + widths[i];
		page_put_right(page, end,
		    account == NULL ? fields[i].title
				    : shown(room, account, &fields[i]));
	}
	page_put(page, "  ");
	if (account == NULL)
		page_put(page, "GATE");
	else
		put_gate(page, account);
	page_put(page, "\n");
}

static void
put_table(const struct tables *tables, struct page *page)
{
	size_t widths[FIELDS] = { 0 }, key = key_column(tables);

	for (size_t i = 0; i < FIELDS; i++)
		if (fields[i].title != NULL)
			widths[i] = field_column(tables, &fields[i]);
	put_line(page, NULL, key, widths);
	for (size_t i = 0; i < tables->count; i++)
		put_line(page, &tables->accounts[i], key, widths);
}

/*
 * JSON
 */

static void
put_name(struct page *page, const char *name)
{
	quote_string(page, QUOTE_JSON, name);
	page_put(page, ": ");
}

/* Whether two fields are members of one object. */
static bool
together(const struct field *a, const struct field *b)
{
	return a->object != NULL && b->object != NULL &&
	    strcmp(a->object, b->object) == 0;
}

static void
put_member(
    struct page *page, const struct account *account, const struct field *field)
{
	char room[DURATION_ROOM];

	put_name(page, field->name);
	if (field->kind == KIND_GATE)
		quote_string(page, QUOTE_JSON, states[account->gate]);
	else
		page_put(page, exact(room, account, field, "null"));
}

static void
put_object(const struct tables *tables, const struct account *account,
    struct page *page)
{
	page_put(page, "{");
	put_name(page, "key");
	quote_put(page, QUOTE_JSON, account->key, account->length);
	page_put(page, ", ");
	put_name(page, "directory");
	quote_string(page, QUOTE_JSON, tables->directory);
	page_put(page, ", ");
	put_name(page, "file");
	if (account->file[0] == '\0')
		page_put(page, "null");
	else
		quote_string(page, QUOTE_JSON, account->file);
	for (size_t i = 0; i < FIELDS; i++) {
		const struct field *field = &fields[i];

		page_put(page, ", ");
		if (field->object != NULL && !together(field - 1, field)) {
			put_name(page, field->object);
			page_put(page, "{");
		}
		put_member(page, account, field);
		if (field->object != NULL &&
		    (i + 1 == FIELDS || !together(field, field + 1)))
			page_put(page, "}");
	}
	page_put(page, "}");
}

/* An object a line, so that a tool for lines can be used too. */
static void
put_json(const struct tables *tables, struct page *page)
{
	if (!tables->one)
		page_put(page, "[");
	for (size_t i = 0; i < tables->count; i++) {
		if (!tables->one)
			page_put(page, i == 0 ? "\n" : ",\n");
		put_object(tables, &tables->accounts[i], page);
	}
	if (!tables->one)
		page_put(page, tables->count == 0 ? "]" : "\n]");
	page_put(page, "\n");
}

/*
 * Prometheus
 */

static void
put_about(struct page *page, const struct field *field, const char *what,
    const char *text)
{
	page_put(page, "# ");
	page_put(page, what);
	page_put(page, " retry_budget_");
	page_put(page, field->metric);
	page_put(page, " ");
	page_put(page, text);
	page_put(page, "\n");
}

/* All samples of a metric have to stand together. */
static void
put_metric(
    const struct tables *tables, struct page *page, const struct field *field)
{
	char room[DURATION_ROOM];

	put_about(page, field, "HELP", field->help);
	put_about(page, field, "TYPE", field->type);
	for (size_t i = 0; i < tables->count; i++) {
		const struct account *account = &tables->accounts[i];

		page_put(page, "retry_budget_");
		page_put(page, field->metric);
		page_put(page, "{key=");
		quote_put(page, QUOTE_PROM, account->key, account->length);
		page_put(page, "} ");
		page_put(page, exact(room, account, field, "NaN"));
		page_put(page, "\n");
	}
}

void
tables_put(const struct tables *tables, struct page *page)
{
	switch (tables->format) {
	case FORMAT_TABLE:
		put_table(tables, page);
		return;
	case FORMAT_JSON:
		put_json(tables, page);
		return;
	case FORMAT_PROM:
		for (size_t i = 0; i < FIELDS; i++)
			put_metric(tables, page, &fields[i]);
		return;
	}
}
