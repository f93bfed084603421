#include "report/messages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "exit_status.h"
#include "report/advice.h"
#include "text/number.h"

char *
messages_label(
    char room[MESSAGES_ROOM], const struct policy *policy, int64_t attempt)
{
	char *end;

	number_put(room, attempt);
	if (policy->attempts == POLICY_UNLIMITED)
		return room;
	end = room + strlen(room);
	*end = '/';
	number_put(end + 1, policy->attempts);
	return room;
}

/* What is to be said of a step, and how. */
struct saying {
	struct log *log;
	const struct policy *policy;
	const struct history *history;
	const struct step *step;
	enum loudness least;
	struct fact facts[4];
};

/* What a program may want to know of it. */
static void
find_facts(struct saying *saying)
{
	const struct step *step = saying->step;
	struct fact *fact = saying->facts;

	*fact++ = (struct fact){ "attempt", NULL, saying->history->made };
	if (saying->history->made > 0)
		*fact++ =
		    (struct fact){ "status", NULL, saying->history->status };
	*fact++ = step->again
	    ? (struct fact){ "delay_ms", NULL, step->delay / NANOS_MS }
	    : (struct fact){ "reason", verdict_reason_name(step->reason), 0 };
	*fact = (struct fact){ NULL, NULL, 0 };
}

/* The last line, where there was anything the matter. */
static void
say(const struct saying *saying, const char *const strings[])
{
	bool smooth = saying->step->reason == REASON_SUCCEEDED &&
	    saying->history->made == 1;
	struct line line = { .least = saying->least,
		.last = !saying->step->again && !smooth,
		.strings = strings,
		.facts = saying->facts };

	log_tell(saying->log, &line);
}

/* And what may have been meant. */
static void
say_not_executable(struct saying *saying)
{
	const struct outcome *outcome = &saying->history->last;
	char **command = saying->policy->command;
	struct advice advice;

	saying->least = LOUDNESS_QUIET;
	say(saying,
	    STRINGS(
		"cannot run '", command[0], "': ", strerror(outcome->error)));
	/* A line may be longer than a name can be. */
	if ((verdict_status(outcome) == EXIT_STATUS_NOT_FOUND ||
		outcome->error == ENAMETOOLONG) &&
	    advice_find(&advice, command))
		say(saying, advice.strings);
}

/* How an attempt ended, in words: " failed (exit ", "22", ", HTTP ", ... */
struct phrase {
	const char *strings[5];
	char number[NUMBER_ROOM], http[NUMBER_ROOM];
	char name[CONDITIONS_SIGNAL_ROOM], span[DURATION_ROOM];
};

static void
phrase_exit(
    struct phrase *phrase, const struct outcome *outcome, bool succeeded)
{
	const char **strings = phrase->strings;

	*strings++ = succeeded ? " succeeded (exit " : " failed (exit ";
	*strings++ = number_put(phrase->number, outcome->code);
	if (outcome->http.known && outcome->http.code != 0) {
		*strings++ = ", HTTP ";
		*strings++ = number_put(phrase->http, outcome->http.code);
	}
	*strings = ")";
}

static void
phrase_outcome(struct phrase *phrase, const struct policy *policy,
    const struct outcome *outcome, bool succeeded)
{
	const char **strings = phrase->strings;

	switch (outcome->end) {
	case END_EXITED:
		phrase_exit(phrase, outcome, succeeded);
		break;
	case END_SIGNALED:
		strings[0] = " killed by ";
		strings[1] =
		    conditions_signal_name(phrase->name, outcome->code);
		break;
	case END_TIMED_OUT:
		strings[0] = " timed out after ";
		strings[1] = duration_format(phrase->span, policy->timeout);
		break;
	case END_DEADLINE:
		strings[0] = " ended by the deadline after ";
		strings[1] = duration_format(phrase->span, outcome->elapsed);
		break;
	case END_NOT_STARTED:
		strings[0] = " not started (";
		strings[1] = strerror(outcome->error);
		strings[2] = ")";
		break;
	}
}

/*
 * How loud the line on an attempt is. Where a workflow is to be told at its
 * end, it is told of retries too, although they helped.
 */
static enum loudness
loudness_of(const struct saying *saying)
{
	const struct policy *policy = saying->policy;

	if (saying->step->reason == REASON_SUCCEEDED)
		return policy->log_format == LOG_GITHUB &&
			saying->history->made > 1
		    ? LOUDNESS_PLAIN
		    : LOUDNESS_VERBOSE;
	/* That retry itself failed is never hidden. */
	return !saying->step->again &&
		(saying->history->last.end == END_NOT_STARTED ||
		    saying->history->last.overrun)
	    ? LOUDNESS_QUIET
	    : LOUDNESS_PLAIN;
}

/* Says "attempt 2/4 failed (exit 7)" and so on, and what follows. */
static void
say_attempt(struct saying *saying)
{
	const struct outcome *outcome = &saying->history->last;
	const struct step *step = saying->step;
	bool succeeded = step->reason == REASON_SUCCEEDED;
	char label[MESSAGES_ROOM], span[DURATION_ROOM];
	const char *next = ", giving up: ", *detail = "", *close = "";
	struct phrase phrase = { .strings = { "", "", "", "", "" } };

	phrase_outcome(&phrase, saying->policy, outcome, succeeded);
	if (step->again) {
		next = ", retrying in ";
		detail = duration_format(span, step->delay);
	} else if (succeeded) {
		next = outcome->end == END_EXITED ? "" : ": succeeded";
	} else if (outcome->overrun) {
		detail = "more output than --hold-max";
	} else if (step->reason == REASON_RETRY_AFTER) {
		next = ", giving up: Retry-After too long (";
		detail = duration_format(span, outcome->http.hint);
		close = ")";
	} else {
		detail = verdict_reason_words(step->reason);
	}
	saying->least = loudness_of(saying);
	messages_label(label, saying->policy, saying->history->made);
	say(saying,
	    STRINGS("attempt ", label, phrase.strings[0], phrase.strings[1],
		phrase.strings[2], phrase.strings[3], phrase.strings[4], next,
		detail, close));
}

/* "12 of 12 retries used in 60s (61 successes, ratio 0.2, min 10)" */
static void
say_exhausted(const struct saying *saying, const char *next, const char *then)
{
	char used[NUMBER_ROOM], limit[NUMBER_ROOM], window[NUMBER_ROOM],
	    successes[NUMBER_ROOM], ratio[NUMBER_ROOM], min[NUMBER_ROOM];
	const struct admission *admission = &saying->history->admission;
	const struct window_sums *sums = &admission->sums;
	const struct window_limits *limits = &admission->limits_now.limits;
	bool paid = admission->next == NANOS_MAX;

	say(saying,
	    STRINGS("budget '", saying->policy->share.key, "': exhausted, ",
		number_put(used, sums->retries), " of ",
		number_put(limit, window_limit(limits, sums->successes)),
		" retries used in ",
		number_put_decimal(
		    window, admission->limits_now.window, NANOS_SECOND),
		"s (", number_put(successes, sums->successes),
		sums->successes == 1 ? " success" : " successes", ", ratio ",
		number_put_decimal(ratio, limits->ratio, WINDOW_RATIO_ONE),
		", min ", number_put(min, limits->min), "), next ",
		admission->never ? "never"
		    : paid       ? "after a success"
				 : "in about ",
		paid ? "" : next, then));
}

static void
say_held(const struct saying *saying, const char *next, const char *then)
{
	const struct breaker_view *breaker =
	    &saying->history->admission.breaker;
	char number[NUMBER_ROOM];

	if (breaker->state == BREAKER_RECOVERING)
		say(saying,
		    STRINGS("breaker '", saying->policy->share.key,
			"': recovering, ", number_put(number, breaker->rate),
			" attempts a second, ask again in ", next, then));
	else
		say(saying,
		    STRINGS("breaker '", saying->policy->share.key,
			"': open after ", number_put(number, breaker->failures),
			breaker->failures == 1 ? " failure"
					       : " consecutive failures",
			breaker->state == BREAKER_HALF_OPEN
			    ? ", probe under way, ask again in "
			    : ", probe in ",
			next, then));
}

/* Says why the next attempt may not begin now, and what follows from that. */
static void
say_denied(const struct saying *saying)
{
	const struct admission *admission = &saying->history->admission;
	const char *then = "; giving up";
	char span[DURATION_ROOM];
	const char *next = duration_format(span, admission->next);

	if (saying->step->again)
		then = "; waiting";
	else if (saying->history->made == 0)
		then = "; command not run";
	if (admission->denied == REASON_BREAKER)
		say_held(saying, next, then);
	else if (!admission->cooling)
		say_exhausted(saying, next, then);
	else
		say(saying,
		    STRINGS("budget '", saying->policy->share.key,
			"': no retries after a denial, next in about ", next,
			then));
}

static bool
is_denied(const struct step *step)
{
	return step->again
	    ? step->attempt == 0
	    : step->reason == REASON_BREAKER || step->reason == REASON_BUDGET;
}

void
messages_step(struct log *log, const struct policy *policy,
    const struct history *history, const struct step *step)
{
	struct saying saying = { .log = log,
		.policy = policy,
		.history = history,
		.step = step,
		.least = LOUDNESS_PLAIN };
	char number[NUMBER_ROOM];

	find_facts(&saying);
	if (is_denied(step))
		say_denied(&saying);
	else if (step->attempt == 0)
		say(&saying,
		    STRINGS("giving up before attempt ",
			number_put(number, history->made + 1), ": ",
			verdict_reason_words(step->reason)));
	else if (step->reason == REASON_NOT_EXECUTABLE)
		say_not_executable(&saying);
	else
		say_attempt(&saying);
}

void
messages_end(struct log *log, const struct policy *policy,
    const struct history *history, enum reason reason, nanos now)
{
	bool untold = policy->log_format == LOG_GITHUB && !log->concluded &&
	    reason != REASON_SUCCEEDED;
	char number[NUMBER_ROOM], span[DURATION_ROOM];
	const char *const *strings =
	    STRINGS("ended after ", number_put(number, history->made),
		history->made == 1 ? " attempt in " : " attempts in ",
		duration_format(span, now - history->began), ": ",
		verdict_reason_name(reason));
	struct line line = { .least =
				 untold ? LOUDNESS_PLAIN : LOUDNESS_VERBOSE,
		.last = untold,
		.strings = strings };

	log_tell(log, &line);
}
