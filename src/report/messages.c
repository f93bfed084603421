#include "report/messages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "exit_status.h"
#include "report/advice.h"
#include "report/cause.h"
#include "text/number.h"
#include "text/signame.h"

/* Room for ", 2 of 3 in a row". */
#define ROW_ROOM (2 * NUMBER_ROOM + 16)

/* Room for "; this host alone, 3 retries in 60s". */
#define ALONE_ROOM (2 * NUMBER_ROOM + 40)

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

/* A message about a step, and its parts. */
struct message {
	struct log *log;
	const struct policy *policy;
	const struct history *history;
	const struct step *step;
	const struct relay *relay;
	enum loudness least;
	bool continues; /* a second line says more about the end */
	struct fact facts[4];
};

/* The fields of the message in JSON. */
static void
find_facts(struct message *message)
{
	const struct step *step = message->step;
	struct fact *fact = message->facts;

	*fact++ = (struct fact){ "attempt", NULL, message->history->made };
	if (message->history->made > 0)
		*fact++ =
		    (struct fact){ "status", NULL, message->history->status };
	*fact++ = step->again
	    ? (struct fact){ "delay_ms", NULL, step->delay / NANOS_MS }
	    : (struct fact){ "reason", verdict_reason_name(step->reason), 0 };
	*fact = (struct fact){ NULL, NULL, 0 };
}

/* Whether the invocation succeeded without a failed attempt. */
static bool
never_failed(const struct message *message)
{
	return message->step->reason == REASON_SUCCEEDED &&
	    message->history->made == message->history->successes;
}

/*
 * Writes the message. It is the one about the end of the invocation, unless
 * another attempt or line follows, or every attempt was a success.
 */
static void
say(const struct message *message, const char *const strings[])
{
	struct line line = { .least = message->least,
		.last = !message->step->again && !message->continues &&
		    !never_failed(message),
		.strings = strings,
		.facts = message->facts };

	log_tell(message->log, &line);
}

/* Says why the command did not start, with advice where there is any. */
static void
say_not_executable(struct message *message)
{
	const struct outcome *outcome = &message->history->last;
	char **command = message->policy->command;
	struct advice advice;

	message->least = LOUDNESS_QUIET;
	say(message,
	    STRINGS(
		"cannot run '", command[0], "': ", strerror(outcome->error)));
	/* A whole shell line, given as the name, may be too long for a name. */
	if ((verdict_status(outcome) == EXIT_STATUS_NOT_FOUND ||
		outcome->error == ENAMETOOLONG) &&
	    advice_find(&advice, command))
		say(message, advice.strings);
}

/* How an attempt ended: " failed (exit ", "22", ", HTTP ", "503", ")". */
struct end_text {
	const char *strings[5];
	char number[NUMBER_ROOM], http[NUMBER_ROOM];
	char name[SIGNAME_ROOM], span[DURATION_ROOM];
};

static void
put_exit(struct end_text *text, const struct outcome *outcome, bool succeeded)
{
	const char **strings = text->strings;

	*strings++ = succeeded ? " succeeded (exit " : " failed (exit ";
	*strings++ = number_put(text->number, outcome->code);
	if (outcome->http.known && outcome->http.code != 0) {
		*strings++ = ", HTTP ";
		*strings++ = number_put(text->http, outcome->http.code);
	}
	*strings = ")";
}

static void
put_outcome(struct end_text *text, const struct policy *policy, int64_t attempt,
    const struct outcome *outcome, bool succeeded)
{
	const char **strings = text->strings;

	switch (outcome->end) {
	case END_EXITED:
		put_exit(text, outcome, succeeded);
		break;
	case END_SIGNALED:
		strings[0] = " killed by ";
		strings[1] = signame_put(text->name, outcome->code);
		break;
	case END_TIMED_OUT:
		strings[0] = " timed out after ";
		strings[1] =
		    duration_format(text->span, plan_timeout(policy, attempt));
		break;
	case END_IDLE:
		strings[0] = " ended after ";
		strings[1] = duration_format(text->span, policy->idle_timeout);
		strings[2] = " without output";
		break;
	case END_DEADLINE:
		strings[0] = " ended by the deadline after ";
		strings[1] = duration_format(text->span, outcome->elapsed);
		break;
	case END_NOT_STARTED:
		strings[0] = " not started (";
		strings[1] = outcome->forked ? "" : outcome->lacking;
		strings[2] = outcome->forked ? "" : ": ";
		strings[3] = strerror(outcome->error);
		strings[4] = ")";
		break;
	}
}

/*
 * How loud the message about an attempt is. With --log-format github a success
 * after retries is shown without -v too, as the annotation.
 */
static enum loudness
loudness_of(const struct message *message)
{
	const struct policy *policy = message->policy;

	if (message->step->reason == REASON_SUCCEEDED)
		return policy->log_format == LOG_GITHUB &&
			!never_failed(message)
		    ? LOUDNESS_PLAIN
		    : LOUDNESS_VERBOSE;
	if (message->step->again && message->history->successes > 0)
		return LOUDNESS_VERBOSE;
	/* A failure of retry itself is shown with -q too. */
	return !message->step->again &&
		(message->history->last.end == END_NOT_STARTED ||
		    message->history->last.overrun)
	    ? LOUDNESS_QUIET
	    : LOUDNESS_PLAIN;
}

/* Writes ", 2 of 3 in a row", or nothing if one success is enough. */
static char *
put_row(char room[ROW_ROOM], const struct message *message)
{
	int64_t wanted = message->policy->consecutive;
	char made[NUMBER_ROOM], all[NUMBER_ROOM];

	*room = '\0';
	if (wanted > 1)
		stpcpy(stpcpy(stpcpy(stpcpy(stpcpy(room, ", "),
					 number_put(made,
					     message->history->successes)),
				  " of "),
			   number_put(all, wanted)),
		    " in a row");
	return room;
}

/* Says "attempt 2/4 failed (exit 7), retrying in 2s" and the like. */
static void
say_attempt(struct message *message)
{
	const struct outcome *outcome = &message->history->last;
	const struct step *step = message->step;
	bool succeeded = message->history->successes > 0;
	char label[MESSAGES_ROOM], span[DURATION_ROOM], row[ROW_ROOM] = "";
	const char *judged = "", *next = ", giving up: ", **why;
	struct cause cause = { .strings = { NULL } };
	struct end_text text = { .strings = { "", "", "", "", "" } };

	put_outcome(
	    &text, message->policy, message->history->made, outcome, succeeded);
	if (succeeded && outcome->end != END_EXITED)
		judged = ": succeeded";
	if (succeeded)
		put_row(row, message);
	if (step->again) {
		next = succeeded ? ", next in " : ", retrying in ";
		cause.strings[0] = duration_format(span, step->delay);
		/* Others may use the budget up during the delay. */
		if (!succeeded && message->policy->budget.key != NULL)
			cause.strings[1] = " if the budget allows";
	} else if (step->reason == REASON_SUCCEEDED) {
		next = "";
	} else {
		cause_find(&cause, message->policy, message->history,
		    step->reason, message->relay);
	}
	why = cause.strings;
	message->least = loudness_of(message);
	messages_label(label, message->policy, message->history->made);
	say(message,
	    STRINGS("attempt ", label, text.strings[0], text.strings[1],
		text.strings[2], text.strings[3], text.strings[4], judged, row,
		next, why[0], why[1], why[2], why[3], why[4], why[5], why[6],
		why[7], why[8], why[9], why[10]));
}

/* "12 of 12 retries used in 60s (61 successes, ratio 0.2, min 10)" */
static void
say_budget(const struct message *message, const char *next, const char *then)
{
	char used[NUMBER_ROOM], limit[NUMBER_ROOM], window[NUMBER_ROOM],
	    successes[NUMBER_ROOM], ratio[NUMBER_ROOM], min[NUMBER_ROOM];
	const struct admission *admission = &message->history->admission;
	const struct window_sums *sums = &admission->sums;
	const struct terms *limits = &admission->limits;
	bool paid = admission->next == NANOS_MAX;

	say(message,
	    STRINGS("budget '", message->policy->budget.key, "': exhausted, ",
		number_put(used, sums->retries), " of ",
		number_put(limit, window_limit(limits, sums->successes)),
		" retries used in ",
		number_put_decimal(
		    window, admission->limits.window, NANOS_SECOND),
		"s (", number_put(successes, sums->successes),
		sums->successes == 1 ? " success" : " successes", ", ratio ",
		number_put_decimal(ratio, limits->ratio, WINDOW_RATIO_ONE),
		", min ", number_put(min, limits->min), "), next ",
		admission->never ? "never"
		    : paid       ? "after a success"
				 : "in about ",
		paid ? "" : next, then));
}

/* Writes "; this host alone, 1 retry in 60s". */
static char *
put_alone(char room[ALONE_ROOM], const struct admission *admission)
{
	int64_t share = admission->fleet.share;
	char most[NUMBER_ROOM], window[NUMBER_ROOM];

	number_put_decimal(window, admission->limits.window, NANOS_SECOND);
	stpcpy(stpcpy(stpcpy(stpcpy(stpcpy(room, "; this host alone, "),
				 number_put(most, share)),
			  share == 1 ? " retry in " : " retries in "),
		   window),
	    "s");
	return room;
}

/* "exhausted, 200 of 200 retries used in 60s by 312 hosts, ask again in about
 * 4s": until then no process of this host asks the server. */
static void
say_fleet(const struct message *message, const char *next, const char *then)
{
	char used[NUMBER_ROOM], limit[NUMBER_ROOM], hosts[NUMBER_ROOM];
	char window[NUMBER_ROOM], alone[ALONE_ROOM];
	const struct admission *admission = &message->history->admission;
	const struct policy *policy = message->policy;

	if (admission->fleet.alone)
		say(message,
		    STRINGS("fleet '", policy->fleet.text, "': ",
			admission->silence != NULL ? admission->silence
						   : "no answer lately",
			put_alone(alone, admission), ", ask again in about ",
			next, then));
	else
		say(message,
		    STRINGS("fleet '", policy->fleet.text, "': budget '",
			policy->budget.key, "': exhausted, ",
			number_put(used, admission->view.retries), " of ",
			number_put(limit, admission->view.limit),
			" retries used in ",
			number_put_decimal(
			    window, admission->limits.window, NANOS_SECOND),
			"s by ", number_put(hosts, admission->view.hosts),
			admission->view.hosts == 1 ? " host" : " hosts",
			", ask again in about ", next, then));
}

void
messages_alone(struct log *log, const struct policy *policy,
    const struct admission *admission)
{
	char alone[ALONE_ROOM];

	if (admission->fleet.decision == HOST_ALONE &&
	    admission->silence != NULL)
		log_say(log, LOUDNESS_PLAIN,
		    STRINGS("fleet '", policy->fleet.text, "': ",
			admission->silence, put_alone(alone, admission)));
}

static void
say_breaker(const struct message *message, const char *next, const char *then)
{
	const struct breaker_view *breaker =
	    &message->history->admission.breaker;
	char number[NUMBER_ROOM];

	if (breaker->state == BREAKER_RECOVERING)
		say(message,
		    STRINGS("breaker '", message->policy->budget.key,
			"': recovering, ", number_put(number, breaker->rate),
			" attempts a second, ask again in ", next, then));
	else
		say(message,
		    STRINGS("breaker '", message->policy->budget.key,
			"': open after ", number_put(number, breaker->failures),
			breaker->failures == 1 ? " failure"
					       : " consecutive failures",
			breaker->state == BREAKER_HALF_OPEN
			    ? ", probe under way, ask again in "
			    : ", probe in ",
			next, then));
}

/* Says why the next attempt may not begin, and what retry does now. */
static void
say_denied(const struct message *message)
{
	const struct admission *admission = &message->history->admission;
	const char *then = "; giving up";
	char span[DURATION_ROOM];
	const char *next = duration_format(span, admission->next);
	bool endless = admission->next == NANOS_MAX;

	if (message->step->again)
		then = "; waiting";
	else if (message->history->made == 0)
		then = "; command not run";
	if (admission->answer == ADMISSION_HELD)
		say_breaker(message, next, then);
	else if (admission->fleet.decision == HOST_DENIED)
		say_fleet(message, next, then);
	else if (!admission->cooling)
		say_budget(message, next, then);
	else
		say(message,
		    STRINGS("budget '", message->policy->budget.key,
			endless
			    ? "': no retries after a denial, next after a "
			      "success"
			    : "': no retries after a denial, next in about ",
			endless ? "" : next, then));
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
    const struct history *history, const struct step *step,
    const struct relay *relay)
{
	struct message message = { .log = log,
		.policy = policy,
		.history = history,
		.step = step,
		.relay = relay,
		.least = LOUDNESS_PLAIN };
	char number[NUMBER_ROOM];
	struct advice advice;

	find_facts(&message);
	message.continues = is_denied(step) && step->attempt != 0;
	if (step->attempt != 0 && step->reason == REASON_NOT_EXECUTABLE)
		say_not_executable(&message);
	else if (step->attempt != 0)
		say_attempt(&message);
	message.continues = false;
	if (is_denied(step))
		say_denied(&message);
	else if (step->attempt == 0)
		say(&message,
		    STRINGS("giving up before attempt ",
			number_put(number, history->made + 1), ": ",
			step->reason == REASON_INPUT_CONSUMED && policy->replay
			    ? CAUSE_NO_REPLAY
			    : verdict_reason_words(step->reason)));

	/* While lines are held, the advice would replace the one above. */
	if (policy->loudness == LOUDNESS_VERBOSE && !log->holding &&
	    step->attempt == 1 && history->successes == 0 &&
	    step->reason != REASON_NOT_EXECUTABLE &&
	    advice_on_rules(&advice, policy))
		log_say(log, LOUDNESS_VERBOSE, advice.strings);
}

void
messages_end(struct log *log, const struct policy *policy,
    const struct history *history, enum reason reason, nanos now)
{
	bool last = policy->log_format == LOG_GITHUB && !log->concluded &&
	    reason != REASON_SUCCEEDED;
	char number[NUMBER_ROOM], span[DURATION_ROOM];
	const char *const *strings =
	    STRINGS("ended after ", number_put(number, history->made),
		history->made == 1 ? " attempt in " : " attempts in ",
		duration_format(span, now - history->began), ": ",
		verdict_reason_name(reason));
	struct line line = { .least = last ? LOUDNESS_PLAIN : LOUDNESS_VERBOSE,
		.last = last,
		.strings = strings };

	log_tell(log, &line);
}
