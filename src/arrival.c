#include "arrival.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "attempt/lookout.h"
#include "exit_status.h"
#include "report/advice.h"
#include "sys/sys.h"
#include "text/number.h"

/* Room for the targets that a countdown names. */
#define NAMED 40

/* A separator, a target, another separator, and why it is missing. */
#define PARTS 4

/* Shows how long the targets that are missing are still waited for. */
static void
show(struct run *run, const struct lookout *lookout, nanos left)
{
	char names[NAMED + 4], *at = names, *limit = names + NAMED;
	size_t length = 0;

	for (int i = 0; i < lookout->count; i++) {
		const char *text = lookout->list[i].target->text;

		if (lookout->list[i].arrived != 0)
			continue;
		if (length > 0)
			at = escape_put(ESCAPE_LINE, at, limit, ", ", 2);
		length += strlen(text) + 2;
		at = escape_put(ESCAPE_LINE, at, limit, text, strlen(text));
	}
	stpcpy(at, length > NAMED + 2 ? "..." : "");
	progress_show(&run->progress, "giving up on ", names, left);
}

/* Says which targets have arrived since the last call. */
static void
say_arrived(struct run *run, struct lookout *lookout)
{
	char span[DURATION_ROOM];

	for (int i = 0; i < lookout->count; i++) {
		struct look *look = &lookout->list[i];

		if (look->arrived == 0 || look->told)
			continue;
		look->told = true;
		duration_format(span, look->arrived - run->history.began);
		if (run->policy->loudness == LOUDNESS_VERBOSE)
			progress_clear(&run->progress);
		log_note(&run->loop.log,
		    STRINGS(look->target->text, ": there after ", span));
	}
}

/* Says, in one line, which targets are missing and why. */
static void
say_missing(struct run *run, const struct lookout *lookout, enum reason reason)
{
	const char *strings[PARTS * TARGET_MOST + 4] = { "missing" };
	bool hopeless = reason == REASON_INTERNAL;
	struct fact facts[] = { { "reason", verdict_reasons[reason].name, 0 },
		{ NULL, NULL, 0 } };
	struct line line = { .least = LOUDNESS_PLAIN,
		.last = true,
		.strings = strings,
		.facts = facts };
	struct writer words = { .to = -1, .most = REPORT_TEXT };
	struct report *report = run->report;
	char span[DURATION_ROOM];
	const char *before = ": ";
	size_t count = 1;

	if (hopeless) {
		strings[0] = "cannot be looked at";
		line.least = LOUDNESS_QUIET;
	} else {
		strings[count++] = " after ";
		strings[count++] = duration_format(
		    span, sys_now(CLOCK_BOOTTIME) - run->history.began);
	}
	for (int i = 0; i < lookout->count; i++) {
		const struct look *look = &lookout->list[i];

		if (look->arrived != 0 || look->hopeless != hopeless)
			continue;
		strings[count++] = before;
		before = "; ";
		strings[count++] = look->target->text;
		strings[count++] = ": ";
		strings[count++] = look->why;
	}
	if (report != NULL) {
		writer_put_all(&words, strings);
		memcpy(report->message, words.bytes, words.used);
		report->message[words.used] = '\0';
		report->said = reason;
	}
	log_tell(&run->loop.log, &line);
}

struct step
arrival_await(struct run *run)
{
	/* Only this use touches its pages. */
	static struct lookout lookout;
	struct event_loop *loop = &run->loop;
	struct step step = { .reason = REASON_SUCCEEDED };
	bool calm = true;

	if (!lookout_open(&lookout, run->policy, &loop->signals,
		run->history.schedule.random)) {
		log_say(&loop->log, LOUDNESS_QUIET,
		    STRINGS("cannot look at targets: ", strerror(errno)));
		return (struct step){ .status = EXIT_STATUS_FAILED,
			.reason = REASON_INTERNAL };
	}
	loop->lookout = &lookout;
	if (run->report != NULL)
		run->report->lookout = &lookout;
	while (calm && lookout.missing > 0 && !lookout.hopeless) {
		nanos now = sys_now(CLOCK_BOOTTIME), nap;
		nanos left = run->history.deadline - now;

		if (left <= 0)
			break;
		nap = number_lesser(lookout_go_on(&lookout, now), left);
		show(run, &lookout, left);
		calm = event_loop_wait(
		    loop, -1, progress_nap(&run->progress, nap));
		say_arrived(run, &lookout);
	}
	progress_clear(&run->progress);
	lookout_close(&lookout, sys_now(CLOCK_BOOTTIME));
	loop->lookout = NULL;
	if (calm && lookout.missing > 0) {
		step.reason =
		    lookout.hopeless ? REASON_INTERNAL : REASON_DEADLINE;
		step.status =
		    lookout.hopeless ? EXIT_STATUS_FAILED : EXIT_STATUS_TIMEOUT;
		say_missing(run, &lookout, step.reason);
	}
	return step;
}

int
arrival_become(struct run *run)
{
	struct event_loop *loop = &run->loop;
	char **command = run->policy->then;
	struct outcome outcome = { .end = END_NOT_STARTED };
	char advice[ADVICE_ROOM];

	/* This also takes the signals of the helpers, of which the command
	 * knows nothing. */
	if (!event_loop_wait(loop, -1, 0))
		signals_die(loop->ending_signal);
	signals_restore(&loop->signals);
	attempt_execute(command, environ);
	outcome.error = errno;
	log_say(&loop->log, LOUDNESS_QUIET,
	    STRINGS(
		"cannot run '", command[0], "': ", strerror(outcome.error)));
	if (verdict_status(&outcome) == EXIT_STATUS_NOT_FOUND &&
	    advice_find(advice, command))
		log_say(&loop->log, LOUDNESS_PLAIN, STRINGS(advice));
	return verdict_status(&outcome);
}
