#include "arrival.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "attempt/lookout.h"
#include "exit_status.h"
#include "sys/error.h"
#include "sys/program.h"
#include "sys/sys.h"

/* The most bytes of the targets that a countdown names. */
#define NAMED 1000

/* Says with -v which targets have arrived since the last call, and shows how
 * long the others are still waited for. */
static void
show(struct run *run, struct lookout *lookout, nanos left)
{
	struct writer names = { .to = -1, .most = NAMED };
	char span[DURATION_ROOM];

	for (int i = 0; i < run->policy->target_count; i++) {
		struct look *one = &lookout->list[i];
		const char *text = one->target->text;

		if (one->arrived != 0 && !one->told) {
			progress_clear(&run->progress);
			duration_format(
			    span, one->arrived - run->history.began);
			log_note(&run->loop.log,
			    STRINGS(text, ": there after ", span));
			one->told = true;
		}
		if (one->arrived != 0)
			continue;
		writer_put(&names, names.used > 0 ? ", " : "");
		writer_put_escaped(&names, ESCAPE_LINE, text, strlen(text));
	}
	names.bytes[names.used] = '\0';
	if (names.used > 0)
		progress_show(
		    &run->progress, "giving up on ", names.bytes, left);
}

/* Says, in one line, which targets are missing and why; or only those that
 * cannot even be looked at. */
static void
say_missing(struct run *run, const struct lookout *lookout)
{
	const char *strings[4 * TARGET_MOST + 2] = {
		lookout->hopeless ? "cannot be looked at: " : "missing: "
	};
	struct writer words = { .to = -1, .most = REPORT_TEXT };
	size_t count = 1;

	for (int i = 0; i < run->policy->target_count; i++) {
		const struct look *one = &lookout->list[i];

		if (one->arrived != 0 || one->hopeless != lookout->hopeless)
			continue;
		strings[count] = count > 1 ? "; " : "";
		strings[count + 1] = one->target->text;
		strings[count + 2] = ": ";
		strings[count + 3] = lookout_why(one);
		count += 4;
	}
	if (run->report != NULL) {
		writer_put_all(&words, strings);
		memcpy(run->report->message, words.bytes, words.used);
		run->report->said =
		    lookout->hopeless ? REASON_INTERNAL : REASON_DEADLINE;
	}
	log_tell(&run->loop.log,
	    &(struct line){ .last = true,
		.least = lookout->hopeless ? LOUDNESS_QUIET : LOUDNESS_PLAIN,
		.strings = strings });
}

struct step
arrival_await(struct run *run)
{
	struct lookout *lookout = run->loop.lookout;
	struct step step = { .reason = REASON_SUCCEEDED };
	bool calm = true;

	for (;;) {
		nanos now = sys_now(CLOCK_BOOTTIME), nap;
		nanos left = run->history.deadline - now;

		show(run, lookout, left);
		if (!calm || lookout->missing == 0 || lookout->hopeless ||
		    left <= 0)
			break;
		nap = number_lesser(lookout_go_on(lookout, now), left);
		calm = event_loop_wait(
		    &run->loop, -1, progress_nap(&run->progress, nap));
	}
	progress_clear(&run->progress);
	run->loop.lookout = NULL;
	if (calm && lookout->missing > 0) {
		say_missing(run, lookout);
		step.status = EXIT_STATUS_TIMEOUT;
		step.reason = REASON_DEADLINE;
	}
	if (lookout->hopeless)
		step = (struct step){ .status = EXIT_STATUS_FAILED,
			.reason = REASON_INTERNAL };
	return step;
}

int
arrival_become(struct run *run)
{
	struct outcome outcome = { .end = END_NOT_STARTED };
	char **command = run->policy->then;

	/* This also takes the signals of the helpers, of which the command
	 * knows nothing. */
	if (!event_loop_wait(&run->loop, -1, 0))
		signals_die(run->loop.ending_signal);
	signals_restore(&run->loop.signals);
	program_execute(command, environ);
	outcome.error = errno;
	log_say(&run->loop.log, LOUDNESS_QUIET,
	    STRINGS(
		"cannot run '", command[0], "': ", error_words(outcome.error)));
	return verdict_status(&outcome);
}
