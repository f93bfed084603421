#include "show/budgets.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "exit_status.h"
#include "fleet/link.h"
#include "output/writer.h"
#include "store/segment_store.h"
#include "sys/error.h"
#include "sys/signals.h"
#include "sys/sys.h"
#include "text/number.h"

/* The columns of the table are not moved for keys longer than this. */
#define KEY_COLUMN_MOST 40

/* How often to read a segment that seems corrupt: it may be changing. */
#define TRIES 2

/* A budget, as qsort(3) compares it by segment_compare(): by its host's part.
 */
struct budget {
	struct snapshot host;
	struct snapshot fleet; /* what the fleet's server knows of it */
};

/* What --budget-status, --budget-reset or --budget-gc works with. */
struct budgets {
	const struct policy *policy; /* which asks for them, and for a format */
	const char *directory;
	struct budget *list;
	struct fleet_link link; /* says if the fleet's server has answered */
	size_t count;
	int status; /* the exit status: 0 until something fails */
};

/*
 * The figures
 */

/* What a figure counts, and how programs get it. */
enum kind {
	KIND_COUNT,
	KIND_PARTS, /* millionths */
	KIND_SPAN, /* nanoseconds; to the microsecond */
	KIND_MS, /* nanoseconds; to the millisecond */
	KIND_NEXT, /* as KIND_SPAN; 0 is shown to people as "now" */
	KIND_PACE, /* as KIND_PARTS; people see it as put_pace() has it */
	KIND_STATE, /* enum breaker_state */
};

/* Whose budgets have a figure, as bits. */
enum scope {
	SCOPE_HOST = 1, /* the host's budget */
	SCOPE_FLEET = 2, /* the fleet's budget, as its server knows it */
	SCOPE_ANY = SCOPE_HOST | SCOPE_FLEET,
	SCOPE_VIEW = 4, /* what the host knows of its fleet */
};

/*
 * A figure of a budget, in a snapshot, and its names; a name that is empty
 * keeps it out of that format. Text within the row needs no relocation at
 * start-up.
 */
struct figure {
	size_t at;
	enum scope scope;
	enum kind kind;
	char title[16]; /* in the table */
	char object[8]; /* in JSON, the member that has it */
	char name[20]; /* in JSON */
	char metric[24], help[64]; /* in Prometheus */
};

#define AT(member) offsetof(struct snapshot, member)
#define TOTAL(what) AT(totals[TOTAL_##what])
#define FIGURES (sizeof figures / sizeof *figures)

static const struct figure figures[] = {
	{ AT(retries), SCOPE_ANY, KIND_COUNT, "RETRIES", "", "retries",
	    "window_retries",
	    "Retries in the window that have not succeeded." },
	{ AT(limit), SCOPE_ANY, KIND_COUNT, "LIMIT", "", "limit", "limit",
	    "Retries allowed in the window." },
	{ AT(left), SCOPE_ANY, KIND_COUNT, "", "", "left", "left",
	    "Retries left in the window." },
	{ AT(next), SCOPE_ANY, KIND_NEXT, "NEXT", "", "next_seconds",
	    "next_seconds",
	    "Seconds until a retry is allowed; NaN: after a success." },
	{ AT(successes), SCOPE_ANY, KIND_COUNT, "", "", "successes",
	    "window_successes", "Successes in the window." },
	{ AT(window), SCOPE_ANY, KIND_SPAN, "", "", "window_seconds",
	    "window_seconds", "Length of the window." },
	{ AT(ratio), SCOPE_ANY, KIND_PARTS, "", "", "ratio", "ratio",
	    "Retries allowed for each success." },
	{ AT(min), SCOPE_ANY, KIND_COUNT, "", "", "min", "min",
	    "Retries allowed in any window." },
	{ AT(hosts), SCOPE_FLEET, KIND_COUNT, "HOSTS", "", "hosts", "hosts",
	    "Hosts seen in the window." },
	{ AT(cooldown), SCOPE_HOST, KIND_SPAN, "", "", "cooldown_seconds",
	    "cooldown_seconds", "Seconds left of the pause after a denial." },
	{ AT(held), SCOPE_HOST, KIND_SPAN, "HELD", "", "held_seconds",
	    "held_seconds",
	    "Seconds for which a server wants to be left alone." },
	{ AT(pace), SCOPE_HOST, KIND_PACE, "RATE", "", "pace", "pace",
	    "Attempts a second that were learned of a server; NaN: none." },
	{ AT(quota), SCOPE_HOST, KIND_COUNT, "", "", "quota", "quota",
	    "Attempts in each period, if the server has a window." },
	{ AT(period), SCOPE_HOST, KIND_SPAN, "", "", "period_seconds",
	    "period_seconds", "Period of the server's window." },
	{ AT(rate_number), SCOPE_HOST, KIND_COUNT, "", "", "rate_number",
	    "rate_number", "Attempts that --rate allows in its time." },
	{ AT(rate_time), SCOPE_HOST, KIND_SPAN, "", "", "rate_seconds",
	    "rate_seconds", "Time of --rate." },
	{ AT(rate_used), SCOPE_HOST, KIND_COUNT, "", "", "rate_used",
	    "rate_used", "Places of --rate that are taken." },
	{ TOTAL(FIRSTS), SCOPE_HOST, KIND_COUNT, "", "totals", "firsts",
	    "firsts_total", "First attempts." },
	{ TOTAL(SUCCESSES), SCOPE_HOST, KIND_COUNT, "", "totals", "successes",
	    "successes_total", "Invocations that succeeded." },
	{ TOTAL(RETRIES), SCOPE_HOST, KIND_COUNT, "", "totals", "retries",
	    "retries_total", "Retries that the budget allowed." },
	{ TOTAL(PROBES), SCOPE_HOST, KIND_COUNT, "", "totals", "probes",
	    "probes_total", "Retries that the breaker let in as its probe." },
	{ TOTAL(TURNS), SCOPE_HOST, KIND_COUNT, "", "totals", "turns",
	    "turns_total",
	    "Retries that the breaker let in while it recovered." },
	{ TOTAL(LIMITED), SCOPE_HOST, KIND_COUNT, "", "totals", "limited",
	    "limited_total", "Retries after a limit of a server." },
	{ TOTAL(THROTTLED), SCOPE_HOST, KIND_COUNT, "", "totals", "throttled",
	    "throttled_total", "Attempts that waited for a pace or --rate." },
	{ TOTAL(RESCUED), SCOPE_HOST, KIND_COUNT, "RESCUED", "totals",
	    "rescued", "rescued_total",
	    "Invocations that succeeded after a failed attempt." },
	{ TOTAL(GAVE_UP), SCOPE_HOST, KIND_COUNT, "LOST", "totals", "gave_up",
	    "gave_up_total", "Invocations that wanted another attempt." },
	{ TOTAL(DENIED), SCOPE_HOST, KIND_COUNT, "", "totals", "denied",
	    "denied_total",
	    "Attempts that the budget or the breaker held back." },
	{ AT(attempts), SCOPE_HOST, KIND_COUNT, "", "totals", "attempts",
	    "attempts_total", "First attempts, and retries of each kind." },
	{ AT(amplification), SCOPE_HOST, KIND_PARTS, "", "", "amplification",
	    "amplification", "Attempts for each first attempt." },
	{ AT(breaker), SCOPE_HOST, KIND_STATE, "", "gate", "state",
	    "gate_state",
	    "The breaker: 0 closed, 1 open, 2 half-open, 3 recovering." },
	{ AT(failures), SCOPE_HOST, KIND_COUNT, "", "gate", "failures",
	    "gate_failures", "Consecutive failures." },
	{ AT(probe), SCOPE_HOST, KIND_SPAN, "", "gate", "next_seconds",
	    "gate_next_seconds",
	    "Seconds until a probe may be made; NaN: none is to come." },
	{ AT(rate), SCOPE_HOST, KIND_COUNT, "", "gate", "rate", "gate_rate",
	    "Attempts a second while it recovers; NaN: it does not." },
	{ AT(fleet.denied), SCOPE_VIEW, KIND_MS, "", "on_host",
	    "denied_seconds", "on_host_denied_seconds",
	    "Seconds for which a denial still holds on this host." },
	{ AT(fleet.down), SCOPE_VIEW, KIND_MS, "", "on_host", "unasked_seconds",
	    "on_host_unasked_seconds",
	    "Seconds for which this host does not ask the server." },
	{ AT(fleet.alone), SCOPE_VIEW, KIND_COUNT, "", "on_host", "alone",
	    "on_host_alone",
	    "Retries in the window that this host made alone." },
};

static const char states[][16] = {
	[BREAKER_CLOSED] = "closed",
	[BREAKER_OPEN] = "open",
	[BREAKER_HALF_OPEN] = "half-open",
	[BREAKER_RECOVERING] = "recovering",
};

static int64_t
value_of(const struct snapshot *snapshot, const struct figure *figure)
{
	int64_t value;

	memcpy(&value, (const char *)snapshot + figure->at, sizeof value);
	return value;
}

/* A value for programs; none stands for SNAPSHOT_NONE. */
static const char *
exact(char room[NUMBER_ROOM], const struct snapshot *snapshot,
    const struct figure *figure, const char *none)
{
	static const struct {
		int64_t unit, scale; /* is shown in units of 1/scale */
	} kinds[] = {
		[KIND_COUNT] = { 1, 1 },
		[KIND_PARTS] = { 1, WINDOW_RATIO_ONE },
		[KIND_SPAN] = { NANOS_MS / 1000, 1000000 },
		[KIND_MS] = { NANOS_MS, 1000 },
		[KIND_NEXT] = { NANOS_MS / 1000, 1000000 },
		[KIND_PACE] = { 1, WINDOW_RATIO_ONE },
		[KIND_STATE] = { 1, 1 },
	};
	int64_t value = value_of(snapshot, figure);

	if (value == SNAPSHOT_NONE)
		return none;
	return number_put_decimal(room,
	    number_round(value, kinds[figure->kind].unit),
	    kinds[figure->kind].scale);
}

static double
per_second(const struct rate_terms *terms)
{
	return (double)terms->number / (double)terms->time * NANOS_SECOND;
}

/* The smaller of what was learned of a server and of --rate: "9.8/s", "1/2m" if
 * less than one a second, "40/5s". */
static const char *
put_pace(char room[RATE_ROOM], const struct snapshot *snapshot)
{
	struct rate_terms rate = { snapshot->rate_number, snapshot->rate_time };
	struct rate_terms window = { snapshot->quota, snapshot->period };
	double pace = (double)snapshot->pace / WINDOW_RATIO_ONE;
	double learned = window.number > 0 ? per_second(&window) : pace;
	char number[NUMBER_ROOM];

	if (rate.number > 0 && (learned <= 0 || per_second(&rate) <= learned))
		return rate_put(room, &rate);
	if (window.number > 0)
		return rate_put(room, &window);
	if (pace <= 0)
		return "-";
	if (pace < 1)
		return rate_put(room,
		    &(struct rate_terms){ 1, (nanos)(NANOS_SECOND / pace) });
	snprintf(room, RATE_ROOM, "%s/s",
	    number_put_decimal(number, (int64_t)(pace * 10 + 0.5), 10));
	return room;
}

/* A value for people. */
static const char *
rounded(char room[RATE_ROOM], const struct snapshot *snapshot,
    const struct figure *figure)
{
	int64_t value = value_of(snapshot, figure);

	if (figure->kind == KIND_PACE)
		return put_pace(room, snapshot);
	if (value == SNAPSHOT_NONE)
		return "-";
	if (figure->kind == KIND_NEXT && value == 0)
		return "now";
	if (figure->kind == KIND_SPAN || figure->kind == KIND_NEXT)
		return duration_format(room, value);
	return number_put(room, value);
}

/*
 * JSON
 */

/* Puts the figures of a scope; those of one object stand together. */
static void
put_members(
    struct writer *writer, const struct snapshot *snapshot, enum scope scope)
{
	const struct figure *figure = figures;
	const char *object = "";
	char room[NUMBER_ROOM];

	for (; figure < figures + FIGURES; figure++) {
		if ((figure->scope & scope) == 0)
			continue;
		if (strcmp(object, figure->object) != 0) {
			if (*object != '\0')
				writer_json_end(writer, '}');
			object = figure->object;
			if (*object != '\0')
				writer_json_begin(writer, object, '{');
		}
		if (figure->kind == KIND_STATE)
			writer_json_string(writer, figure->name,
			    segment_is_known(snapshot)
				? states[snapshot->breaker]
				: NULL);
		else
			writer_json_raw(writer, figure->name,
			    exact(room, snapshot, figure, "null"));
	}
	if (*object != '\0')
		writer_json_end(writer, '}');
}

/* One object a line, so that tools for lines can read it too. */
static void
put_json(struct writer *writer, const struct budgets *budgets)
{
	const struct policy *policy = budgets->policy;
	bool all = policy->subject == NULL;
	bool shared = policy->fleet.text != NULL;

	if (all)
		writer_json_begin(writer, NULL, '[');
	for (size_t i = 0; i < budgets->count; i++) {
		const struct snapshot *host = &budgets->list[i].host;
		const struct snapshot *fleet = &budgets->list[i].fleet;

		if (all)
			writer->comma = i == 0 ? "\n" : ",\n";
		writer_json_begin(writer, NULL, '{');
		/* A key is not NUL-terminated. */
		writer_json_raw(writer, "key", "");
		writer_put_string(writer, ESCAPE_JSON, host->key, host->length);
		writer_json_string(
		    writer, "directory", policy->budget.directory);
		writer_json_string(
		    writer, "file", host->file[0] == '\0' ? NULL : host->file);
		put_members(writer, host, SCOPE_HOST);
		if (shared && segment_is_known(fleet)) {
			writer_json_begin(writer, "fleet", '{');
			writer_json_string(writer, "url", policy->fleet.text);
			put_members(writer, fleet, SCOPE_FLEET);
			writer_json_end(writer, '}');
			writer_json_string(writer, "error", NULL);
		} else if (shared) {
			writer_json_string(writer, "fleet", NULL);
			writer_json_string(
			    writer, "error", budgets->link.reason);
		}
		if (shared)
			put_members(writer, host, SCOPE_VIEW);
		writer_json_end(writer, '}');
	}
	if (all)
		writer_put(writer, budgets->count == 0 ? "]" : "\n]");
	writer_put(writer, "\n");
}

/*
 * Prometheus
 */

static void
put_sample(struct writer *writer, const char *prefix, const char *metric,
    const struct snapshot *snapshot, const char *value)
{
	writer_format(writer, "%s%s", prefix, metric);
	writer_prom_label(writer, '{', "key", snapshot->key, snapshot->length);
	writer_format(writer, "} %s\n", value);
}

/* The metrics of a scope. Prometheus wants all samples of a metric together. */
static void
put_metrics(
    struct writer *writer, const struct budgets *budgets, enum scope scope)
{
	const char *prefix =
	    scope == SCOPE_HOST ? "retry_budget_" : "retry_fleet_";
	const struct figure *figure = figures;
	char room[NUMBER_ROOM];

	for (; figure < figures + FIGURES; figure++) {
		if ((figure->scope & scope) == 0)
			continue;
		writer_prom_metric(writer, prefix, figure->metric,
		    strcmp(figure->object, "totals") == 0 ? "counter" : "gauge",
		    figure->help);
		for (size_t i = 0; i < budgets->count; i++) {
			const struct budget *budget = &budgets->list[i];
			const struct snapshot *snapshot = scope == SCOPE_FLEET
			    ? &budget->fleet
			    : &budget->host;

			if (scope == SCOPE_VIEW || segment_is_known(snapshot))
				put_sample(writer, prefix, figure->metric,
				    snapshot,
				    exact(room, snapshot, figure, "NaN"));
		}
	}
}

static void
put_prom(struct writer *writer, const struct budgets *budgets)
{
	put_metrics(writer, budgets, SCOPE_HOST);
	if (budgets->policy->fleet.text == NULL)
		return;
	put_metrics(writer, budgets, SCOPE_FLEET);
	writer_prom_metric(writer, "retry_fleet_", "up", "gauge",
	    "Whether the server answered.");
	for (size_t i = 0; i < budgets->count; i++)
		put_sample(writer, "retry_fleet_", "up",
		    &budgets->list[i].fleet,
		    segment_is_known(&budgets->list[i].fleet) ? "1" : "0");
	put_metrics(writer, budgets, SCOPE_VIEW);
}

/*
 * The table
 */

/* The breaker's state and what comes next, or "-": nobody asked for it. */
static void
put_state(struct writer *writer, const struct snapshot *snapshot)
{
	char room[DURATION_ROOM];

	if (!snapshot->guarded) {
		writer_put(writer, "-");
		return;
	}
	writer_put(writer, states[snapshot->breaker]);
	if (snapshot->rate > 0)
		writer_format(writer, ", %" PRId64 "/s", snapshot->rate);
	else if (snapshot->probe == 0)
		writer_put(writer, ", probe due");
	else if (snapshot->breaker == BREAKER_OPEN)
		writer_format(
		    writer, " for %s", duration_format(room, snapshot->probe));
	else if (snapshot->breaker == BREAKER_CLOSED && snapshot->failures > 0)
		writer_format(writer, ", %" PRId64 " failure%s",
		    snapshot->failures, snapshot->failures == 1 ? "" : "s");
}

/* What the host knows of its fleet. */
static void
put_view(struct writer *writer, const struct host_view *view)
{
	bool held = view->down > 0 || view->denied > 0;
	char room[DURATION_ROOM];

	if (held)
		writer_format(writer, "%s for %s",
		    view->down > 0 ? "not asked" : "denied",
		    duration_format(
			room, view->down > 0 ? view->down : view->denied));
	if (view->alone > 0)
		writer_format(writer, "%s%" PRId64 " alone", held ? ", " : "",
		    view->alone);
	else if (!held)
		writer_put(writer, "-");
}

/* How wide the table's columns are. */
struct widths {
	size_t key;
	size_t scope; /* 0: there is no such column */
	size_t figure[FIGURES]; /* the same */
};

/* Makes the columns wide enough for a budget. */
static void
widen(struct widths *widths, const struct snapshot *snapshot)
{
	struct writer scratch = { .to = -1 };
	char room[RATE_ROOM];

	/* The buffer has room for any key: nothing is written. */
	writer_put_escaped(
	    &scratch, ESCAPE_PLAIN, snapshot->key, snapshot->length);
	if (scratch.column > widths->key && scratch.column <= KEY_COLUMN_MOST)
		widths->key = scratch.column;
	for (size_t i = 0; i < FIGURES; i++) {
		size_t width = strlen(rounded(room, snapshot, &figures[i]));

		if (widths->figure[i] > 0 && widths->figure[i] < width)
			widths->figure[i] = width;
	}
}

/* Begins a line with the columns up to the last one; without a snapshot it is
 * the header. */
static void
begin_line(struct writer *writer, const struct widths *widths,
    const char *scope, const struct snapshot *snapshot)
{
	char room[RATE_ROOM];

	if (snapshot == NULL)
		writer_put(writer, "KEY");
	else
		writer_put_escaped(
		    writer, ESCAPE_PLAIN, snapshot->key, snapshot->length);
	writer_pad(writer, widths->key);
	/* A key that is longer than its column moves the other columns. */
	if (widths->scope > 0)
		writer_format(writer, "  %-*s", (int)widths->scope, scope);
	for (size_t i = 0; i < FIGURES; i++) {
		if (widths->figure[i] == 0)
			continue;
		writer_format(writer, "  %*s", (int)widths->figure[i],
		    snapshot == NULL ? figures[i].title
				     : rounded(room, snapshot, &figures[i]));
	}
	writer_put(writer, "  ");
}

static void
put_table(struct writer *writer, const struct budgets *budgets)
{
	bool fleet = budgets->policy->fleet.text != NULL;
	enum scope shown = fleet ? SCOPE_ANY : SCOPE_HOST;
	struct widths widths = { .key = strlen("KEY"),
		.scope = fleet ? strlen("SCOPE") : 0 };

	for (size_t i = 0; i < FIGURES; i++)
		if ((figures[i].scope & shown) != 0)
			widths.figure[i] = strlen(figures[i].title);
	for (size_t i = 0; i < budgets->count; i++) {
		widen(&widths, &budgets->list[i].host);
		if (fleet)
			widen(&widths, &budgets->list[i].fleet);
	}
	begin_line(writer, &widths, "SCOPE", NULL);
	writer_put(writer, "BREAKER\n");
	for (size_t i = 0; i < budgets->count; i++) {
		const struct budget *budget = &budgets->list[i];
		const struct snapshot *host = &budget->host;

		if (segment_is_known(host)) {
			begin_line(writer, &widths, "host", host);
			put_state(writer, host);
			writer_put(writer, "\n");
		}
		if (fleet && segment_is_known(&budget->fleet)) {
			begin_line(writer, &widths, "fleet", &budget->fleet);
			put_view(writer, &host->fleet);
			writer_put(writer, "\n");
		}
	}
}

/* Writes them to standard output, which it closes. */
static bool
put(const struct budgets *budgets)
{
	struct writer writer = { .to = STDOUT_FILENO };

	if (budgets->policy->format == FORMAT_JSON)
		put_json(&writer, budgets);
	else if (budgets->policy->format == FORMAT_PROM)
		put_prom(&writer, budgets);
	else
		put_table(&writer, budgets);
	return writer_deliver(&writer);
}

/*
 * The commands
 */

static void
say(const struct budgets *budgets, enum loudness least,
    const char *const strings[])
{
	struct writer writer = { .to = STDERR_FILENO };

	if (budgets->policy->loudness < least)
		return;
	writer_put(&writer, "retry: ");
	for (; *strings != NULL; strings++)
		writer_put_escaped(
		    &writer, ESCAPE_PLAIN, *strings, strlen(*strings));
	writer_put(&writer, "\n");
	writer_say(&writer);
}

static void
say_none(const struct budgets *budgets, enum loudness least)
{
	say(budgets, least,
	    STRINGS("budget '", budgets->policy->subject,
		"': no such budget in ", budgets->directory));
}

/* Notes an exit status, of which that of a failure of retry counts most. */
static void
note(struct budgets *budgets, int status)
{
	if (budgets->status != EXIT_STATUS_FAILED)
		budgets->status = status;
}

/* Says that something failed. A lack of memory or descriptors is a failure of
 * retry, not of the budget. */
static void
fail(struct budgets *budgets, int error, const char *const strings[])
{
	say(budgets, LOUDNESS_QUIET, strings);
	note(budgets,
	    error == EMFILE || error == ENFILE || error == ENOMEM
		? EXIT_STATUS_FAILED
		: BUDGETS_NONE);
}

/* A file is one of many, with which the command goes on. */
static void
fail_budget(struct budgets *budgets, const struct found *file, const char *what,
    struct failure failure)
{
	int error = failure.error;

	fail(budgets, error,
	    STRINGS(file != NULL ? "budget file '" : "budget '",
		file != NULL ? file->name : budgets->policy->subject,
		"': ", what, failure.why, error != 0 ? ": " : "",
		error != 0 ? error_words(error) : "",
		file != NULL ? NULL : ", in ", budgets->directory));
}

static struct failure
take_snapshot(struct found *found, struct snapshot *snapshot)
{
	static const struct failure gone = { "has just been removed", ENOENT };
	struct segment_store *store = &found->store;
	bool sound = false;

	if (found->refused.why != NULL)
		return found->refused;
	for (int i = 0; i < TRIES && !sound; i++) {
		if (!segment_store_enter(store))
			return gone;
		sound = segment_look(snapshot, store->segment, &store->header,
		    sys_now(CLOCK_BOOTTIME));
		if (!segment_store_leave(store))
			return gone;
	}
	return sound ? NO_FAILURE : REFUSED("segment is corrupt");
}

/*
 * Asks the server of the fleet what it knows of the budgets, and fills in
 * fleet; that takes and changes nothing on the server. With forget, the server
 * is to forget them. If it does not answer, it is not asked again.
 *
 * Meanwhile all signals are blocked, and retry dies of one that ends a series.
 */
static void
ask(struct budgets *budgets, bool forget)
{
	const struct policy *policy = budgets->policy;
	struct fleet_link *link = &budgets->link;
	const struct fleet_answer *answer = &link->dialog.answer;
	struct signals signals;
	struct pollfd fds[2]; /* the first is that of the signals */
	bool answers = signals_open(&signals);

	if (!answers)
		snprintf(link->reason, sizeof link->reason, "%s",
		    error_words(errno));
	link_start(link, &policy->fleet, policy->loudness == LOUDNESS_VERBOSE,
	    &signals);
	for (size_t i = 0; i < budgets->count; i++) {
		const struct snapshot *host = &budgets->list[i].host;
		struct snapshot *shared = &budgets->list[i].fleet;
		char key[SEGMENT_KEY + 1];
		struct fleet_question question = { .key = key,
			.terms = policy->fleet.config.terms,
			.forgets = forget };

		/* The key of a snapshot is not NUL-terminated. */
		snprintf(key, sizeof key, "%.*s", (int)host->length, host->key);
		segment_unknown(shared, key);
		if (!answers)
			continue;
		link_ask(link, &question, sys_now(CLOCK_BOOTTIME));
		while (link_asks(link)) {
			struct wakeup wakeup;

			fds[1] = link_pollfd(link);
			wakeup = signals_wait(&signals, fds, 2,
			    link_nap(link, sys_now(CLOCK_BOOTTIME)));
			if (signals_end_series(&wakeup)) {
				link_close(link);
				signals_die(wakeup.signal);
			}
			link_serve(
			    link, fds[1].revents, sys_now(CLOCK_BOOTTIME));
		}
		answers = answer->code == FLEET_NOTED;
		if (!answers || forget)
			continue;
		shared->retries = answer->retries;
		shared->limit = answer->limit;
		shared->left =
		    number_greater(answer->limit - answer->retries, 0);
		shared->successes = answer->successes;
		shared->window = answer->terms.window;
		shared->ratio = answer->terms.ratio;
		shared->min = answer->terms.min;
		shared->hosts = answer->hosts;
		if (shared->left > 0)
			shared->next = 0;
		else if (answer->limit > 0)
			shared->next = answer->next;
	}
	link_close(link);
	close(signals.fd);
	signals_restore(&signals);
	if (!answers)
		fail(budgets, 0,
		    STRINGS("fleet '", policy->fleet.text,
			forget ? "': cannot be reset: "
			       : "': cannot be asked: ",
			link->reason));
	else if (forget)
		say(budgets, LOUDNESS_VERBOSE,
		    STRINGS("fleet '", policy->fleet.text, "': reset"));
}

/* Shows the budgets of this host, and the same budgets of its fleet. */
static void
show(struct budgets *budgets)
{
	if (budgets->policy->fleet.text != NULL)
		ask(budgets, false);
	if (!put(budgets))
		note(budgets, EXIT_STATUS_FAILED);
}

/* Makes room for one more. NULL, with errno, without memory. */
static struct snapshot *
next_snapshot(struct budgets *budgets)
{
	struct budget *list =
	    realloc(budgets->list, (budgets->count + 1) * sizeof *list);

	if (list == NULL)
		return NULL;
	budgets->list = list;
	return &list[budgets->count].host;
}

/* Adds a file's budget to those that are shown. A segment of an earlier boot is
 * replaced when it is used. */
static void
add_found(struct found *found, void *with)
{
	struct budgets *budgets = with;
	bool one = budgets->policy->subject != NULL;
	bool stale = found->refused.why == segment_stale;
	struct snapshot *snapshot;
	struct failure failure;

	if (one && stale)
		return;
	snapshot = one ? &budgets->list->host : next_snapshot(budgets);
	if (snapshot == NULL) {
		fail_budget(budgets, found, "", FAILED("not shown"));
		return;
	}
	failure = take_snapshot(found, snapshot);
	if (failure.why == NULL) {
		snprintf(
		    snapshot->file, sizeof snapshot->file, "%s", found->name);
		budgets->count++;
	} else if (failure.error == ENOENT) {
		return;
	} else if (one) {
		fail_budget(budgets, NULL, "cannot be used: ", failure);
	} else if (failure.error == 0) {
		say(budgets, stale ? LOUDNESS_VERBOSE : LOUDNESS_PLAIN,
		    STRINGS("budget file '", found->name,
			"': not shown: ", failure.why));
	} else {
		fail_budget(budgets, found, "not shown: ", failure);
	}
}

static void
show_one(struct budgets *budgets)
{
	const struct policy *policy = budgets->policy;
	bool fleet = policy->fleet.text != NULL;
	struct budget one;

	budgets->list = &one;
	if (!segment_store_walk(
		budgets->directory, policy->subject, add_found, budgets) &&
	    errno != ENOENT)
		fail_budget(budgets, NULL,
		    "cannot be used: ", FAILED("cannot use the directory"));
	if (budgets->status == 0 && budgets->count > 0) {
		show(budgets);
	} else if (budgets->status == 0) {
		/* Other hosts of the fleet may have it. */
		segment_unknown(&one.host, policy->subject);
		budgets->count = 1;
		if (fleet)
			show(budgets);
		else
			note(budgets, BUDGETS_NONE);
		say_none(budgets,
		    fleet && budgets->link.dialog.answer.code == FLEET_NOTED
			? LOUDNESS_VERBOSE
			: LOUDNESS_PLAIN);
	}
	budgets->list = NULL;
}

/* Resets the budget of the host and that of the fleet, also if one fails. */
static void
reset(struct budgets *budgets)
{
	const struct policy *policy = budgets->policy;
	struct failure failure =
	    segment_store_remove(budgets->directory, policy->subject);
	bool fleet = policy->fleet.text != NULL;
	struct budget one;
	/* A budget that is gone already is a success. */
	bool gone =
	    failure.error == ENOENT && access(budgets->directory, F_OK) == 0;

	/* Other hosts of the fleet may have it. */
	if (gone)
		say_none(budgets, fleet ? LOUDNESS_VERBOSE : LOUDNESS_PLAIN);
	else if (failure.why != NULL)
		fail_budget(budgets, NULL, "cannot be reset: ", failure);
	else
		say(budgets, LOUDNESS_VERBOSE,
		    STRINGS("budget '", policy->subject, "': reset"));
	if (!fleet)
		return;

	segment_unknown(&one.host, policy->subject);
	budgets->list = &one;
	budgets->count = 1;
	ask(budgets, true);
	budgets->list = NULL;
}

/* Checks and removes a file, without a slow call between the two. Then says
 * whether it was removed, or why not. */
static void
remove_idle(struct found *found, void *with)
{
	bool stale = found->refused.why == segment_stale;
	struct budgets *budgets = with;
	struct snapshot snapshot = { .idle = false };
	struct failure failure = NO_FAILURE;

	if (!segment_store_claim(found))
		return;
	if (!stale) {
		failure = take_snapshot(found, &snapshot);
		if (failure.why == NULL && !snapshot.idle)
			failure = REFUSED("in use");
	}
	/*
	 * A process may begin to use the segment now. A lock for each use would
	 * prevent that, but then every process would wait for one that is
	 * stopped while it holds the lock. The cost is small: a process sees at
	 * its next use that the file is gone, and so loses one retry's count.
	 */
	if (failure.why == NULL && unlink(found->path) == -1)
		failure = FAILED("cannot remove");
	segment_store_close(&found->store);

	if (failure.why == NULL)
		say(budgets, LOUDNESS_VERBOSE,
		    STRINGS("budget file '", found->name,
			"': removed: ", stale ? found->refused.why : "idle"));
	else if (failure.why != NULL && failure.error == 0)
		say(budgets, LOUDNESS_VERBOSE,
		    STRINGS("budget file '", found->name,
			"': kept: ", failure.why));
	else if (failure.why != NULL && failure.error != ENOENT)
		fail_budget(budgets, found, "", failure);
}

int
budgets_run(const struct policy *policy)
{
	struct budgets budgets = { .policy = policy,
		.directory = policy->budget.directory };
	bool gc = policy->action == ACTION_GC;

	if (policy->action == ACTION_RESET) {
		reset(&budgets);
	} else if (policy->subject != NULL) {
		show_one(&budgets);
	} else if (!segment_store_walk(budgets.directory, NULL,
		       gc ? remove_idle : add_found, &budgets)) {
		fail(&budgets, errno,
		    STRINGS("cannot read ", budgets.directory, ": ",
			error_words(errno)));
	} else if (!gc) {
		if (budgets.count > 0)
			qsort(budgets.list, budgets.count, sizeof *budgets.list,
			    segment_compare);
		show(&budgets);
	}
	free(budgets.list);
	return budgets.status;
}
