#include "report/dry_run.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include "policy/forecast.h"
#include "text/number.h"
#include "output/writer.h"
#include "cli/optparse.h"

/* Where the columns of the table end... */
enum {
	LEAST = 17,
	MEAN = 28,
	MOST = 39,
};

/* ...and where those of what follows begin. */
enum {
	VALUE = 14,
	REMARK = 26,
};

/* Exact to the millisecond below a minute, as SLOs are. */
static char *
put_time(char room[DURATION_ROOM], nanos span)
{
	int64_t ms = number_round(span, NANOS_MS);
	bool seconds = ms >= 1000;
	const char *unit = seconds ? "s" : "ms";
	size_t length;

	if (span == NANOS_MAX)
		return memcpy(room, "unbounded", sizeof "unbounded");
	if (span == 0 || span >= NANOS_MINUTE)
		return duration_format(room, span);
	number_put_decimal(room, ms, seconds ? 1000 : 1);
	length = strlen(room);
	memcpy(room + length, unit, strlen(unit) + 1);
	return room;
}

static void
put_span(
    struct page *page, const char *label, const struct span *span, bool drawn)
{
	char room[DURATION_ROOM];

	page_put(page, label);
	page_put_right(page, LEAST, put_time(room, span->least));
	page_put_right(page, MEAN,
	    drawn && span->mean < NANOS_MAX ? duration_format(room, span->mean)
					    : put_time(room, span->mean));
	page_put_right(page, MOST, put_time(room, span->most));
	page_put(page, "\n");
}

/* What is not in the table. */
static void
put_rest(struct page *page, const struct forecast *forecast)
{
	char number[NUMBER_ROOM];

	if (forecast->retries == forecast->rows)
		return;
	page_put(page, "the first ");
	page_put(page, number_put(number, forecast->rows));
	page_put(page, " retries; ");
	if (forecast->retries == POLICY_UNLIMITED) {
		page_put(page, "there is no limit\n");
		return;
	}
	page_put(page, "there are ");
	page_put(page, number_put(number, forecast->retries));
	page_put(page, "\n");
}

static void
put_table(struct page *page, const struct forecast *forecast)
{
	char number[NUMBER_ROOM];
	bool drawn = forecast->drawn;

	if (forecast->retries == 0 && forecast->splay.most == 0) {
		page_put(page, "no retries\n\n");
		return;
	}
	page_put(page, "DELAY");
	page_put_right(page, LEAST, "LEAST");
	page_put_right(page, MEAN, "MEAN");
	page_put_right(page, MOST, "MOST");
	page_put(page, "\n");
	if (forecast->splay.most > 0)
		put_span(page, "splay", &forecast->splay, false);
	for (int i = 0; i < forecast->rows; i++)
		put_span(page, number_put(number, i + 1), &forecast->delay[i],
		    drawn);
	put_rest(page, forecast);
	if (forecast->retries != POLICY_UNLIMITED)
		put_span(page, "total", &forecast->total, drawn);
	page_put(page, "\n");
}

static void
begin_line(struct page *page, const char *label, const char *value)
{
	page_put(page, label);
	page_pad(page, VALUE);
	page_put(page, value);
}

static void
remark(struct page *page, const char *text)
{
	page_pad(page, REMARK);
	page_put(page, text);
}

static void
put_worst(struct page *page, const struct policy *policy,
    const struct forecast *forecast)
{
	char room[DURATION_ROOM], number[NUMBER_ROOM];
	bool endless = policy->attempts == POLICY_UNLIMITED;

	begin_line(page, "Worst case", put_time(room, forecast->worst));
	if (endless) {
		remark(page, "there is no limit of attempts");
	} else if (policy->timeout == 0) {
		remark(page, "an attempt may take for ever (no -t)");
	} else if (forecast->worst < NANOS_MAX) {
		remark(page, number_put(number, policy->attempts));
		page_put(
		    page, policy->attempts == 1 ? " attempt" : " attempts");
		page_put(page, " x ");
		page_put(page, put_time(room, policy->timeout));
		page_put(page, " + ");
		page_put(page, put_time(room, forecast->total.most));
		page_put(page, " of delays");
	}
	page_put(page, "\n");
}

static void
put_cut(struct page *page, const struct policy *policy,
    const struct forecast *forecast)
{
	char number[NUMBER_ROOM];
	bool late = forecast->cut > FORECAST_ATTEMPTS;

	remark(page, "does not fit");
	if (forecast->cut == 0) {
		page_put(page, ", but delays trimmed to it let all attempts");
		return;
	}
	page_put(page, late ? ": attempts after " : ": attempt ");
	page_put(
	    page, number_put(number, late ? FORECAST_ATTEMPTS : forecast->cut));
	if (policy->attempts != POLICY_UNLIMITED) {
		page_put(page, " of ");
		page_put(page, number_put(number, policy->attempts));
	}
	page_put(
	    page, forecast->begun ? " would be cut off" : " would not begin");
}

static void
put_deadline(struct page *page, const struct policy *policy,
    const struct forecast *forecast)
{
	char room[DURATION_ROOM];

	begin_line(page, "Deadline",
	    policy->deadline == 0 ? "none" : put_time(room, policy->deadline));
	if (policy->deadline != 0 && forecast->fits)
		remark(page, "fits");
	else if (policy->deadline != 0)
		put_cut(page, policy, forecast);
	page_put(page, "\n");
}

/* A deadline bounds what the worst case does not. */
static void
put_slo(struct page *page, const struct policy *policy,
    const struct forecast *forecast)
{
	char room[DURATION_ROOM];
	nanos bounded = number_multiply(policy->deadline, 3);
	bool unbounded = forecast->worst == NANOS_MAX;

	if (unbounded && bounded == 0) {
		begin_line(page, "Smallest SLO", "none");
	} else if (unbounded) {
		begin_line(page, "Smallest SLO", put_time(room, bounded));
		remark(page, "3 x the deadline");
	} else {
		begin_line(page, "Smallest SLO", put_time(room, forecast->slo));
		remark(page, "3 x the worst case");
		if (!forecast->fits) {
			page_put(page, "; 3 x the deadline: ");
			page_put(page, put_time(room, bounded));
		}
	}
	page_put(page, "\n");
}

/* Something that may take so long, of which there may be several. */
static void
put_beside(struct page *page, bool *any, const char *what, nanos most,
    const char *each)
{
	char room[DURATION_ROOM];

	begin_line(page, *any ? "" : "Not counted", what);
	remark(page, most == NANOS_MAX ? "without limit" : "up to ");
	if (most != NANOS_MAX)
		page_put(page, put_time(room, most));
	page_put(page, each);
	page_put(page, "\n");
	*any = true;
}

/* What can make it longer than the forecast says. */
static void
put_uncounted(struct page *page, const struct policy *policy)
{
	const struct share *share = &policy->share;
	bool any = false;

	if (policy->timeout > 0 && policy->kill_after > 0)
		put_beside(page, &any, "kill grace", policy->kill_after,
		    " an attempt");
	if (policy->http || policy->http_status != NULL)
		put_beside(page, &any, "Retry-After", policy->max_retry_after,
		    " a retry");
	if (share->key != NULL && share->wait > 0)
		put_beside(page, &any, "budget", share->wait, " a retry");
}

int
rehearsal_run(const struct policy *policy)
{
	struct page page = { .to = STDOUT_FILENO };
	struct forecast forecast;

	forecast_make(&forecast, policy);
	put_table(&page, &forecast);
	put_worst(&page, policy, &forecast);
	put_deadline(&page, policy, &forecast);
	put_slo(&page, policy, &forecast);
	put_uncounted(&page, policy);
	return page_deliver(&page) ? 0 : WORDS_FAILED;
}
