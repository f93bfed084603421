/*
 * verdict and plan, row by row: from outcomes and instants to what happens
 * next. Nothing forks, nothing waits.
 */
#include <errno.h>
#include <signal.h>
#include "unit.h"
#include "text/number.h"
#include "policy/plan.h"
#include "policy/policy.h"
#include "policy/verdict.h"

static struct watch watch_room[CONDITIONS_WATCHES];

/*
 * verdict
 */

#define SECONDS(n) ((nanos)((n)*NANOS_SECOND))
#define DRAWS 20000

/* The conditions of a LIST; NULL: none. */
static struct conditions
codes_of(const char *list, struct watches *watches)
{
	struct conditions set = { .fail = false };
	struct conditions_error error = { "", "", 0 };

	if (list != NULL) {
		HOLDS(list, conditions_parse(&set, watches, list, &error));
		SAME(list, error.why, "");
	}
	return set;
}

#define EXITED(status) \
	{ \
		.end = END_EXITED, .code = (status) \
	}
#define KILLED(number) \
	{ \
		.end = END_SIGNALED, .code = (number) \
	}
#define TIMED_OUT(status) \
	{ \
		.end = END_TIMED_OUT, .code = (status) \
	}
#define IDLE(status) \
	{ \
		.end = END_IDLE, .code = (status) \
	}
#define PRESERVED(how, what) \
	{ \
		.end = (how), .code = (what), .preserved = true \
	}
#define CUT(status) \
	{ \
		.end = END_DEADLINE, .code = (status) \
	}
#define NO_FORK(why) \
	{ \
		.end = END_NOT_STARTED, .error = (why) \
	}
#define NO_EXEC(why) \
	{ \
		.end = END_NOT_STARTED, .error = (why), .forked = true \
	}
#define OVERRUN(how, what) \
	{ \
		.end = (how), .code = (what), .overrun = true \
	}
#define INTERRUPTED(how, what) \
	{ \
		.end = (how), .code = (what), .interrupted = SIGTERM \
	}

/* An exit status, and what the status file says. */
#define ANSWERED(status, answer) \
	{ \
		.end = END_EXITED, .code = (status), .http = { \
			.known = true, \
			.code = (answer) \
		} \
	}
#define NEVER_AGAIN(status, answer) \
	{ \
		.end = END_EXITED, .code = (status), .http = { \
			.known = true, \
			.code = (answer), \
			.never = true \
		} \
	}
#define ASKED(answer, seconds) \
	{ \
		.end = END_EXITED, .code = 22, .http = { \
			.known = true, \
			.code = (answer), \
			.has_wait = true, \
			.wait = SECONDS(seconds) \
		} \
	}

#define HINTED(seconds) \
	{ \
		.end = END_EXITED, .code = 1, .has_hint = true, \
		.hint = SECONDS(seconds) \
	}

#define RETRIED VERDICT_RETRY, REASON_NONE
#define SUCCESS VERDICT_DONE, REASON_SUCCEEDED
#define STOPPED VERDICT_STOP, REASON_STOP_RULE
#define NOT_RETRYABLE VERDICT_STOP, REASON_NOT_RETRYABLE
#define NOT_IDEMPOTENT VERDICT_STOP, REASON_NOT_IDEMPOTENT
#define NOT_EXECUTABLE VERDICT_STOP, REASON_NOT_EXECUTABLE
#define INTERRUPT VERDICT_STOP, REASON_INTERRUPTED
#define FAILED_US VERDICT_STOP, REASON_INTERNAL

/* The three lists, then the outcome, then what it means. */
struct judged {
	const char *retry, *stop, *success;
	struct outcome outcome;
	enum verdict verdict;
	enum reason reason;
};

static const struct judged unasked[] = {
	{ NULL, NULL, NULL, EXITED(0), SUCCESS },
	{ NULL, NULL, NULL, EXITED(1), RETRIED },
	{ NULL, NULL, NULL, EXITED(124), RETRIED },
	{ NULL, NULL, NULL, EXITED(125), RETRIED },
	{ NULL, NULL, NULL, EXITED(126), RETRIED },
	{ NULL, NULL, NULL, EXITED(127), RETRIED },
	{ NULL, NULL, NULL, EXITED(130), RETRIED },
	{ NULL, NULL, NULL, EXITED(255), RETRIED },
	{ NULL, NULL, NULL, KILLED(SIGHUP), RETRIED },
	{ NULL, NULL, NULL, KILLED(SIGTERM), RETRIED },
	{ NULL, NULL, NULL, KILLED(SIGKILL), RETRIED },
	{ NULL, NULL, NULL, KILLED(SIGSEGV), RETRIED },
	{ NULL, NULL, NULL, KILLED(64), RETRIED },
	{ NULL, NULL, NULL, KILLED(SIGINT), NOT_RETRYABLE },
	{ NULL, NULL, NULL, KILLED(SIGQUIT), NOT_RETRYABLE },
	{ NULL, NULL, NULL, KILLED(SIGPIPE), NOT_RETRYABLE },
	{ NULL, NULL, NULL, TIMED_OUT(0), RETRIED },
	{ NULL, NULL, NULL, TIMED_OUT(7), RETRIED },
	{ NULL, NULL, NULL, TIMED_OUT(SIGINT), RETRIED },
	{ NULL, NULL, NULL, CUT(0), RETRIED },
	{ NULL, NULL, NULL, NO_FORK(EAGAIN), RETRIED },
	{ NULL, NULL, NULL, NO_FORK(ENOMEM), RETRIED },
	{ NULL, NULL, NULL, NO_EXEC(ETXTBSY), RETRIED },
	{ NULL, NULL, NULL, NO_EXEC(ENOENT), NOT_EXECUTABLE },
	{ NULL, NULL, NULL, NO_EXEC(EACCES), NOT_EXECUTABLE },
	{ NULL, NULL, NULL, NO_EXEC(ENOEXEC), NOT_EXECUTABLE },
	{ NULL, NULL, NULL, NO_EXEC(E2BIG), NOT_EXECUTABLE },
	{ NULL, NULL, NULL, NO_EXEC(ELOOP), NOT_EXECUTABLE },
	{ NULL, NULL, NULL, NO_EXEC(ENOTDIR), NOT_EXECUTABLE },
};

static const struct judged retried_on[] = {
	{ "7", NULL, NULL, EXITED(0), SUCCESS },
	{ "7", NULL, NULL, EXITED(7), RETRIED },
	{ "7", NULL, NULL, EXITED(8), NOT_RETRYABLE },
	{ "64-78", NULL, NULL, EXITED(64), RETRIED },
	{ "64-78", NULL, NULL, EXITED(78), RETRIED },
	{ "64-78", NULL, NULL, EXITED(63), NOT_RETRYABLE },
	{ "7", NULL, NULL, KILLED(7), NOT_RETRYABLE },
	{ "7", NULL, NULL, TIMED_OUT(7), NOT_RETRYABLE },
	{ "SEGV", NULL, NULL, KILLED(SIGSEGV), RETRIED },
	{ "SEGV", NULL, NULL, KILLED(SIGBUS), NOT_RETRYABLE },
	{ "SEGV", NULL, NULL, EXITED(128 + SIGSEGV), NOT_RETRYABLE },
	{ "SEGV", NULL, NULL, EXITED(SIGSEGV), NOT_RETRYABLE },
	{ "139", NULL, NULL, KILLED(SIGSEGV), RETRIED },
	{ "139", NULL, NULL, EXITED(139), RETRIED },
	{ "128-192", NULL, NULL, KILLED(64), RETRIED },
	{ "signal", NULL, NULL, KILLED(SIGSEGV), RETRIED },
	{ "signal", NULL, NULL, EXITED(139), NOT_RETRYABLE },
	{ "signal", NULL, NULL, TIMED_OUT(0), NOT_RETRYABLE },
	/* These are retried only if a list names them. */
	{ "signal", NULL, NULL, KILLED(SIGINT), NOT_RETRYABLE },
	{ "signal", NULL, NULL, KILLED(SIGQUIT), NOT_RETRYABLE },
	{ "signal", NULL, NULL, KILLED(SIGPIPE), NOT_RETRYABLE },
	{ "fail", NULL, NULL, KILLED(SIGINT), NOT_RETRYABLE },
	{ "fail", NULL, NULL, KILLED(SIGQUIT), NOT_RETRYABLE },
	{ "fail", NULL, NULL, KILLED(SIGPIPE), NOT_RETRYABLE },
	{ "INT", NULL, NULL, KILLED(SIGINT), RETRIED },
	{ "QUIT", NULL, NULL, KILLED(SIGQUIT), RETRIED },
	{ "PIPE", NULL, NULL, KILLED(SIGPIPE), RETRIED },
	{ "130", NULL, NULL, KILLED(SIGINT), RETRIED },
	{ "131", NULL, NULL, KILLED(SIGQUIT), RETRIED },
	{ "141", NULL, NULL, KILLED(SIGPIPE), RETRIED },
	{ "INT", NULL, NULL, KILLED(SIGPIPE), NOT_RETRYABLE },
	{ "timeout", NULL, NULL, TIMED_OUT(0), RETRIED },
	{ "timeout", NULL, NULL, EXITED(124), NOT_RETRYABLE },
	{ "timeout", NULL, NULL, EXITED(1), NOT_RETRYABLE },
	{ "124", NULL, NULL, TIMED_OUT(0), RETRIED },
	{ "124", NULL, NULL, EXITED(124), RETRIED },
	{ "idle", NULL, NULL, IDLE(0), RETRIED },
	{ "timeout", NULL, NULL, IDLE(0), RETRIED },
	{ "124", NULL, NULL, IDLE(0), RETRIED },
	{ "fail", NULL, NULL, IDLE(0), RETRIED },
	{ "0-123,125-255", NULL, NULL, IDLE(1), NOT_RETRYABLE },
	{ "idle", NULL, NULL, TIMED_OUT(0), NOT_RETRYABLE },
	{ "idle", NULL, NULL, EXITED(1), NOT_RETRYABLE },
	{ "120-130", NULL, NULL, TIMED_OUT(1), RETRIED },
	{ "fail", NULL, NULL, EXITED(0), SUCCESS },
	{ "fail", NULL, NULL, EXITED(1), RETRIED },
	{ "fail", NULL, NULL, KILLED(SIGSEGV), RETRIED },
	{ "fail", NULL, NULL, TIMED_OUT(0), RETRIED },
	{ "fail", NULL, NULL, NO_FORK(EAGAIN), RETRIED },
	{ "fail", NULL, NULL, NO_EXEC(ETXTBSY), RETRIED },
	{ "7", NULL, NULL, NO_FORK(EAGAIN), NOT_RETRYABLE },
	{ "125", NULL, NULL, NO_FORK(EAGAIN), RETRIED },
	{ "126", NULL, NULL, NO_EXEC(ETXTBSY), RETRIED },
	/* No list makes these retryable. */
	{ "fail", NULL, NULL, NO_EXEC(ENOENT), NOT_EXECUTABLE },
	{ "127", NULL, NULL, NO_EXEC(ENOENT), NOT_EXECUTABLE },
	{ "126", NULL, NULL, NO_EXEC(EACCES), NOT_EXECUTABLE },
};

static const struct judged stopped_on[] = {
	{ NULL, "22", NULL, EXITED(22), STOPPED },
	{ NULL, "22", NULL, EXITED(7), RETRIED },
	{ NULL, "0-255", NULL, EXITED(0), SUCCESS },
	{ NULL, "fail", NULL, EXITED(0), SUCCESS },
	{ NULL, "fail", NULL, EXITED(1), STOPPED },
	{ NULL, "fail", NULL, KILLED(SIGSEGV), STOPPED },
	{ NULL, "fail", NULL, TIMED_OUT(0), STOPPED },
	{ NULL, "fail", NULL, NO_FORK(EAGAIN), STOPPED },
	{ NULL, "timeout", NULL, TIMED_OUT(0), STOPPED },
	{ NULL, "124", NULL, TIMED_OUT(0), STOPPED },
	{ NULL, "idle", NULL, IDLE(0), STOPPED },
	{ NULL, "idle", NULL, TIMED_OUT(0), RETRIED },
	{ "timeout", "idle", NULL, IDLE(0), STOPPED },
	{ NULL, "signal", NULL, KILLED(SIGTERM), STOPPED },
	{ NULL, "TERM", NULL, KILLED(SIGTERM), STOPPED },
	{ NULL, "143", NULL, KILLED(SIGTERM), STOPPED },
	{ NULL, "TERM", NULL, EXITED(143), RETRIED },
	/* It precedes the other rules, but not a command that did not run. */
	{ "7", "7", NULL, EXITED(7), STOPPED },
	{ "fail", "1-10", NULL, EXITED(7), STOPPED },
	{ "1-10", "fail", NULL, EXITED(7), STOPPED },
	{ "PIPE", "signal", NULL, KILLED(SIGPIPE), STOPPED },
	{ NULL, "PIPE", NULL, KILLED(SIGPIPE), STOPPED },
	{ "timeout", "124", NULL, TIMED_OUT(0), STOPPED },
	{ NULL, "fail", NULL, NO_EXEC(ENOENT), NOT_EXECUTABLE },
	{ NULL, "127", NULL, NO_EXEC(ENOENT), NOT_EXECUTABLE },
};

static const struct judged succeeded_on[] = {
	{ NULL, NULL, "1", EXITED(0), SUCCESS },
	{ NULL, NULL, "1", EXITED(1), SUCCESS },
	{ NULL, NULL, "1", EXITED(2), RETRIED },
	{ NULL, NULL, "PIPE", KILLED(SIGPIPE), SUCCESS },
	{ NULL, NULL, "141", KILLED(SIGPIPE), SUCCESS },
	{ NULL, NULL, "signal", KILLED(SIGINT), SUCCESS },
	{ NULL, NULL, "timeout", TIMED_OUT(7), SUCCESS },
	{ NULL, NULL, "idle", IDLE(7), SUCCESS },
	{ NULL, NULL, "timeout", IDLE(7), SUCCESS },
	{ NULL, NULL, "idle", TIMED_OUT(7), RETRIED },
	{ NULL, NULL, "7", IDLE(7), RETRIED },
	{ NULL, NULL, "1", TIMED_OUT(1), RETRIED },
	{ NULL, NULL, "0", TIMED_OUT(0), RETRIED },
	{ NULL, NULL, "fail", EXITED(9), SUCCESS },
	/* A success comes before every rule about failures. */
	{ "1", NULL, "1", EXITED(1), SUCCESS },
	{ NULL, "1", "1", EXITED(1), SUCCESS },
	{ "7", NULL, "1", EXITED(2), NOT_RETRYABLE },
	{ NULL, "2", "1", EXITED(2), STOPPED },
	/* A command that did not run cannot be a success. */
	{ NULL, NULL, "fail", NO_FORK(EAGAIN), RETRIED },
	{ NULL, NULL, "125", NO_FORK(EAGAIN), RETRIED },
	{ NULL, NULL, "126", NO_EXEC(ETXTBSY), RETRIED },
	{ NULL, NULL, "127", NO_EXEC(ENOENT), NOT_EXECUTABLE },
	{ NULL, NULL, "fail", NO_EXEC(EACCES), NOT_EXECUTABLE },
	/*
	 * Nor can one that wrote more than may be captured, whatever the lists
	 * say.
	 */
	{ NULL, NULL, NULL, OVERRUN(END_EXITED, 0), FAILED_US },
	{ "fail", NULL, "fail", OVERRUN(END_EXITED, 7), FAILED_US },
	{ "TERM", "TERM", NULL, OVERRUN(END_SIGNALED, SIGTERM), FAILED_US },
};

static const struct judged when_interrupted[] = {
	{ NULL, NULL, NULL, INTERRUPTED(END_EXITED, 0), SUCCESS },
	{ NULL, NULL, NULL, INTERRUPTED(END_EXITED, 7), INTERRUPT },
	{ NULL, NULL, "7", INTERRUPTED(END_EXITED, 7), SUCCESS },
	{ NULL, NULL, NULL, INTERRUPTED(END_SIGNALED, SIGTERM), INTERRUPT },
	{ NULL, NULL, NULL, INTERRUPTED(END_SIGNALED, SIGINT), INTERRUPT },
	{ NULL, NULL, NULL, INTERRUPTED(END_TIMED_OUT, 0), INTERRUPT },
	{ NULL, NULL, NULL, INTERRUPTED(END_DEADLINE, 0), INTERRUPT },
	{ NULL, NULL, NULL, INTERRUPTED(END_NOT_STARTED, 0), INTERRUPT },
	/* No rule about failures precedes it. */
	{ "7", NULL, NULL, INTERRUPTED(END_EXITED, 7), INTERRUPT },
	{ "8", NULL, NULL, INTERRUPTED(END_EXITED, 7), INTERRUPT },
	{ NULL, "7", NULL, INTERRUPTED(END_EXITED, 7), INTERRUPT },
	{ "fail", "fail", NULL, INTERRUPTED(END_EXITED, 7), INTERRUPT },
};

/* The lists and the outcome in one line, to find a row that fails. */
static void
describe(char *room, size_t size, const struct judged *row)
{
	snprintf(room, size, "retry %s, stop %s, success %s, end %d, code %d",
	    row->retry == NULL ? "-" : row->retry,
	    row->stop == NULL ? "-" : row->stop,
	    row->success == NULL ? "-" : row->success, (int)row->outcome.end,
	    row->outcome.code);
}

static void
check_judged(const struct judged *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct rules rules = {
			.retry_on = codes_of(rows[i].retry, NULL),
			.stop_on = codes_of(rows[i].stop, NULL),
			.success_on = codes_of(rows[i].success, NULL),
		};
		struct judgement judgement =
		    verdict_of(&rules, &rows[i].outcome);
		char row[128];

		describe(row, sizeof row, &rows[i]);
		EQUAL(row, judgement.verdict, rows[i].verdict);
		EQUAL(row, judgement.reason, rows[i].reason);
	}
}

static void
test_verdicts(void)
{
	check_judged(unasked, LENGTH(unasked));
	check_judged(retried_on, LENGTH(retried_on));
	check_judged(stopped_on, LENGTH(stopped_on));
	check_judged(succeeded_on, LENGTH(succeeded_on));
	check_judged(when_interrupted, LENGTH(when_interrupted));
}

/*
 * All lists of the user and of presets, the patterns that matched, and the
 * verdict.
 */
struct lists {
	const char *retry, *stop, *fail, *success;
	const char *transient, *fatal; /* of presets */
	bool once, several;
	const char *seen[2]; /* of their patterns, in the output */
};

#define NO_RULES \
	{ \
		.retry = NULL \
	}

struct ruled {
	const char *row;
	struct lists lists;
	struct outcome outcome;
	enum verdict verdict;
	enum reason reason;
};

static struct rules
rules_of(const struct lists *lists, struct watches *watches)
{
	return (struct rules){
		.retry_on = codes_of(lists->retry, watches),
		.stop_on = codes_of(lists->stop, watches),
		.fail_on = codes_of(lists->fail, watches),
		.success_on = codes_of(lists->success, watches),
		.transient = codes_of(lists->transient, watches),
		.fatal = codes_of(lists->fatal, watches),
	};
}

/* The bit of the pattern that is text; NULL: none. */
static uint64_t
bit_of(const struct watches *watches, const char *text)
{
	int i = 0;

	if (text == NULL)
		return 0;
	while (i < watches->count && strcmp(watches->list[i].text, text) != 0)
		i++;
	HOLDS(text, i < watches->count);
	return UINT64_C(1) << i;
}

static void
check_ruled(const struct ruled *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct watches watches = { .list = watch_room };
		struct rules rules = rules_of(&rows[i].lists, &watches);
		struct outcome outcome = rows[i].outcome;
		struct judgement judgement;

		outcome.once = rows[i].lists.once;
		outcome.several = rows[i].lists.several;
		outcome.seen = bit_of(&watches, rows[i].lists.seen[0]) |
		    bit_of(&watches, rows[i].lists.seen[1]);
		judgement = verdict_of(&rules, &outcome);
		EQUAL(rows[i].row, judgement.verdict, rows[i].verdict);
		EQUAL(rows[i].row, judgement.reason, rows[i].reason);
	}
}

static const struct ruled failing[] = {
	{ "0 fails", { .fail = "0" }, EXITED(0), RETRIED },
	{ "0 fails, 7 too", { .fail = "0" }, EXITED(7), RETRIED },
	{ "7 fails as ever", { .fail = "7" }, EXITED(7), RETRIED },
	{ "but not 0", { .fail = "7" }, EXITED(0), SUCCESS },
	/* "fail" does not make exit status 0 a failure. */
	{ "fail", { .fail = "fail" }, EXITED(0), SUCCESS },
	{ "signal", { .fail = "signal,timeout" }, EXITED(0), SUCCESS },
	{ "success first", { .fail = "0", .success = "0" }, EXITED(0),
	    SUCCESS },
	{ "success is fail", { .fail = "0", .success = "fail" }, EXITED(0),
	    RETRIED },
	{ "then stop", { .fail = "0", .stop = "0" }, EXITED(0), STOPPED },
	{ "then stop, all", { .fail = "0", .stop = "fail" }, EXITED(0),
	    STOPPED },
	{ "retry others", { .fail = "0", .retry = "7" }, EXITED(0),
	    NOT_RETRYABLE },
	{ "retry all", { .fail = "0", .retry = "fail" }, EXITED(0), RETRIED },
	{ "interrupted", { .fail = "0" }, INTERRUPTED(END_EXITED, 0),
	    INTERRUPT },
	{ "seen", { .fail = "stderr:W:", .seen = { "W:" } }, EXITED(0),
	    RETRIED },
	{ "not seen", { .fail = "stderr:W:" }, EXITED(0), SUCCESS },
	{ "seen, on no list",
	    { .fail = "stderr:W:", .retry = "7", .seen = { "W:" } }, EXITED(0),
	    NOT_RETRYABLE },
	{ "seen, listed",
	    { .fail = "stderr:W:", .retry = "stderr:W:", .seen = { "W:" } },
	    EXITED(0), RETRIED },
	{ "seen, success",
	    { .fail = "stderr:W:",
		.success = "stdout:ok",
		.seen = { "W:", "ok" } },
	    EXITED(0), SUCCESS },
};

static const struct ruled matched[] = {
	{ "seen", { .retry = "stderr:busy", .seen = { "busy" } }, EXITED(1),
	    RETRIED },
	{ "not seen", { .retry = "stderr:busy" }, EXITED(1), NOT_RETRYABLE },
	{ "another seen",
	    { .retry = "stderr:busy",
		.success = "stdout:done",
		.seen = { "done" } },
	    EXITED(1), SUCCESS },
	{ "seen, exit 0", { .retry = "stderr:busy", .seen = { "busy" } },
	    EXITED(0), SUCCESS },
	{ "seen, killed", { .retry = "stderr:busy", .seen = { "busy" } },
	    KILLED(SIGSEGV), RETRIED },
	{ "seen, Ctrl-C", { .retry = "stderr:busy", .seen = { "busy" } },
	    KILLED(SIGINT), NOT_RETRYABLE },
	{ "seen, timed out", { .retry = "stderr:busy", .seen = { "busy" } },
	    TIMED_OUT(0), RETRIED },
	{ "not seen, timed out", { .retry = "stderr:busy" }, TIMED_OUT(0),
	    NOT_RETRYABLE },
	{ "status instead", { .retry = "7,stderr:busy" }, EXITED(7), RETRIED },
	{ "neither", { .retry = "7,stderr:busy" }, EXITED(8), NOT_RETRYABLE },
	{ "stop, seen", { .stop = "stderr:denied", .seen = { "denied" } },
	    EXITED(1), STOPPED },
	{ "stop, not seen", { .stop = "stderr:denied" }, EXITED(1), RETRIED },
	{ "stop, exit 0", { .stop = "stderr:denied", .seen = { "denied" } },
	    EXITED(0), SUCCESS },
	{ "stop wins",
	    { .retry = "stderr:busy",
		.stop = "stderr:denied",
		.seen = { "busy", "denied" } },
	    EXITED(1), STOPPED },
	{ "stop by the same",
	    { .retry = "stderr:busy",
		.stop = "stderr:busy",
		.seen = { "busy" } },
	    EXITED(1), STOPPED },
	{ "success, seen", { .success = "stdout:done", .seen = { "done" } },
	    EXITED(1), SUCCESS },
	{ "success, not seen", { .success = "stdout:done" }, EXITED(1),
	    RETRIED },
	{ "success, seen before a timeout",
	    { .success = "stdout:done", .seen = { "done" } }, TIMED_OUT(0),
	    SUCCESS },
	{ "success, seen before the silence",
	    { .success = "stdout:done", .seen = { "done" } }, IDLE(0),
	    SUCCESS },
	{ "success, seen before the deadline",
	    { .success = "stdout:done", .seen = { "done" } }, CUT(0), SUCCESS },
	{ "success, timed out, not seen", { .success = "stdout:done" },
	    TIMED_OUT(0), RETRIED },
	{ "success before stop",
	    { .success = "stdout:done",
		.stop = "stderr:denied",
		.seen = { "done", "denied" } },
	    EXITED(1), SUCCESS },
};

#define RAN(how, what, seconds) \
	{ \
		.end = (how), .code = (what), .duration = SECONDS(seconds) \
	}

/* Items that name an attempt by the time for which it ran. */
static const struct ruled timed[] = {
	{ "retry, fast", { .retry = "under:5" }, RAN(END_EXITED, 1, 4.9),
	    RETRIED },
	{ "retry, not fast", { .retry = "under:5" }, RAN(END_EXITED, 1, 5),
	    NOT_RETRYABLE },
	{ "retry, slow", { .retry = "over:5" }, RAN(END_EXITED, 1, 5.1),
	    RETRIED },
	{ "retry, not slow", { .retry = "over:5" }, RAN(END_EXITED, 1, 5),
	    NOT_RETRYABLE },
	{ "retry, killed", { .retry = "under:5" },
	    RAN(END_SIGNALED, SIGSEGV, 1), RETRIED },
	{ "a keyboard", { .retry = "under:5" }, RAN(END_SIGNALED, SIGINT, 1),
	    NOT_RETRYABLE },
	{ "retry, timed out", { .retry = "over:5" }, RAN(END_TIMED_OUT, 0, 6),
	    RETRIED },
	{ "retry, no room to fork", { .retry = "under:5" }, NO_FORK(EAGAIN),
	    NOT_RETRYABLE },
	{ "stop", { .stop = "over:300" }, RAN(END_EXITED, 1, 301), STOPPED },
	{ "stop, not yet", { .stop = "over:300" }, RAN(END_EXITED, 1, 299),
	    RETRIED },
	{ "stop, exit 0", { .stop = "over:300" }, RAN(END_EXITED, 0, 301),
	    SUCCESS },
	{ "stop, no room to fork", { .stop = "under:5" }, NO_FORK(EAGAIN),
	    RETRIED },
	{ "stop, killed", { .stop = "under:1" }, RAN(END_SIGNALED, SIGSEGV, 0),
	    STOPPED },
	{ "fail", { .fail = "under:1" }, RAN(END_EXITED, 0, 0.5), RETRIED },
	{ "fail, long enough", { .fail = "under:1" }, RAN(END_EXITED, 0, 1),
	    SUCCESS },
	{ "success", { .success = "over:60" }, RAN(END_EXITED, 1, 61),
	    SUCCESS },
	{ "success, too short", { .success = "over:60" }, RAN(END_EXITED, 1, 9),
	    RETRIED },
	{ "success, timed out", { .success = "over:60" },
	    RAN(END_TIMED_OUT, 0, 61), SUCCESS },
	{ "success, not started", { .success = "under:60" }, NO_EXEC(ENOENT),
	    NOT_EXECUTABLE },
};

static const struct ruled preset[] = {
	{ "transient", { .transient = "timeout,75" }, EXITED(75), RETRIED },
	{ "not transient", { .transient = "timeout,75" }, EXITED(1),
	    NOT_RETRYABLE },
	{ "slow", { .transient = "timeout" }, TIMED_OUT(0), RETRIED },
	{ "killed", { .transient = "timeout" }, KILLED(SIGSEGV),
	    NOT_RETRYABLE },
	{ "no room to fork", { .transient = "timeout" }, NO_FORK(EAGAIN),
	    NOT_RETRYABLE },
	{ "a line", { .transient = "stderr:busy", .seen = { "busy" } },
	    EXITED(1), RETRIED },
	{ "fatal",
	    { .transient = "75",
		.fatal = "stderr:denied",
		.seen = { "denied" } },
	    EXITED(75), NOT_RETRYABLE },
	{ "fatal wins",
	    { .transient = "stderr:busy",
		.fatal = "stderr:denied",
		.seen = { "busy", "denied" } },
	    EXITED(1), NOT_RETRYABLE },
	{ "fatal, exit 0", { .fatal = "stderr:denied", .seen = { "denied" } },
	    EXITED(0), SUCCESS },
	{ "fatal, exit 0 fails",
	    { .fail = "0", .fatal = "stderr:denied", .seen = { "denied" } },
	    EXITED(0), NOT_RETRYABLE },
	{ "fatal, a success after all",
	    { .fatal = "stderr:denied", .success = "1", .seen = { "denied" } },
	    EXITED(1), SUCCESS },
	{ "fatal beats --retry-on",
	    { .retry = "fail", .fatal = "stderr:denied", .seen = { "denied" } },
	    EXITED(1), NOT_RETRYABLE },
	{ "fatal beats 503", { .fatal = "stderr:denied", .seen = { "denied" } },
	    ANSWERED(22, 503), NOT_RETRYABLE },
	{ "stop beats fatal",
	    { .stop = "1", .fatal = "stderr:denied", .seen = { "denied" } },
	    EXITED(1), STOPPED },
	{ "stop beats transient", { .stop = "75", .transient = "75" },
	    EXITED(75), STOPPED },
	{ "both lists, the one", { .retry = "9", .transient = "75" }, EXITED(9),
	    RETRIED },
	{ "both lists, the other", { .retry = "9", .transient = "75" },
	    EXITED(75), RETRIED },
	{ "both lists, neither", { .retry = "9", .transient = "75" }, EXITED(1),
	    NOT_RETRYABLE },
	{ "503 is transient to all", { .transient = "75" }, ANSWERED(22, 503),
	    RETRIED },
	{ "404 to none", { .transient = "75" }, ANSWERED(75, 404),
	    NOT_RETRYABLE },
};

static const struct ruled answered[] = {
	{ "200", NO_RULES, ANSWERED(0, 200), SUCCESS },
	{ "200, cut short", NO_RULES, ANSWERED(18, 200), RETRIED },
	{ "302", NO_RULES, ANSWERED(0, 302), SUCCESS },
	{ "302, then no connection", NO_RULES, ANSWERED(7, 302), RETRIED },
	{ "000", NO_RULES, ANSWERED(7, 0), RETRIED },
	{ "000, exit 0", NO_RULES, ANSWERED(0, 0), SUCCESS },
	{ "503", NO_RULES, ANSWERED(22, 503), RETRIED },
	{ "503, exit 0", NO_RULES, ANSWERED(0, 503), RETRIED },
	{ "404", NO_RULES, ANSWERED(22, 404), NOT_RETRYABLE },
	{ "404, exit 0", NO_RULES, ANSWERED(0, 404), NOT_RETRYABLE },
	{ "a file without a code", NO_RULES,
	    { .end = END_EXITED, .http = { .code = 503 } }, SUCCESS },
	{ "slow after 200", NO_RULES,
	    { .end = END_TIMED_OUT, .http = { .known = true, .code = 200 } },
	    RETRIED },
	{ "silent after 200", NO_RULES,
	    { .end = END_IDLE, .http = { .known = true, .code = 200 } },
	    RETRIED },
	{ "slow after 404", NO_RULES,
	    { .end = END_TIMED_OUT, .http = { .known = true, .code = 404 } },
	    NOT_RETRYABLE },
	/* This is not about the command: plan ends it. */
	{ "deadline after 404", NO_RULES,
	    { .end = END_DEADLINE, .http = { .known = true, .code = 404 } },
	    RETRIED },
	{ "Ctrl-C after 503", NO_RULES,
	    { .end = END_SIGNALED,
		.code = SIGINT,
		.http = { .known = true, .code = 503 } },
	    NOT_RETRYABLE },
	{ "not again", NO_RULES, NEVER_AGAIN(22, 503), NOT_RETRYABLE },
	{ "not again, 200", NO_RULES, NEVER_AGAIN(14, 200), NOT_RETRYABLE },
	{ "not again, but done", NO_RULES, NEVER_AGAIN(0, 200), SUCCESS },
	{ "not again, whoever asks", { .retry = "http:503" },
	    NEVER_AGAIN(22, 503), NOT_RETRYABLE },
};

#define CURLED(status) \
	{ \
		.end = END_EXITED, .code = (status), .curl = true, .http = { \
			.known = true \
		} \
	}

static const struct ruled curled[] = {
	{ "51", NO_RULES, CURLED(51), NOT_RETRYABLE },
	{ "58", NO_RULES, CURLED(58), NOT_RETRYABLE },
	{ "60", NO_RULES, CURLED(60), NOT_RETRYABLE },
	{ "77", NO_RULES, CURLED(77), NOT_RETRYABLE },
	{ "91", NO_RULES, CURLED(91), NOT_RETRYABLE },
	{ "35", NO_RULES, CURLED(35), RETRIED },
	{ "52", NO_RULES, CURLED(52), RETRIED },
	{ "61", NO_RULES, CURLED(61), RETRIED },
	{ "60 of another program", NO_RULES, ANSWERED(60, 0), RETRIED },
	{ "60, killed", NO_RULES,
	    { .end = END_SIGNALED, .code = 60, .curl = true }, RETRIED },
	{ "60, slow", NO_RULES,
	    { .end = END_TIMED_OUT, .code = 60, .curl = true }, RETRIED },
	{ "60, listed", { .retry = "60" }, CURLED(60), RETRIED },
	{ "60, any", { .retry = "fail" }, CURLED(60), RETRIED },
	{ "60, a success", { .success = "60" }, CURLED(60), SUCCESS },
};

/* Lists with HTTP statuses, and with other conditions beside them. */
static const struct ruled answered_asked[] = {
	{ "404 too", { .retry = "http:404" }, ANSWERED(22, 404), RETRIED },
	{ "404, exit 0", { .retry = "http:404" }, ANSWERED(0, 404), RETRIED },
	{ "501", { .retry = "http:501" }, ANSWERED(22, 501), RETRIED },
	{ "503 no more", { .retry = "http:404" }, ANSWERED(22, 503),
	    NOT_RETRYABLE },
	{ "503 is in 5xx", { .retry = "http:5xx" }, ANSWERED(22, 503),
	    RETRIED },
	{ "so is 501", { .retry = "http:5xx" }, ANSWERED(22, 501), RETRIED },
	{ "a file without a code", { .retry = "http:503" },
	    { .end = END_EXITED, .code = 1, .http = { .code = 503 } },
	    NOT_RETRYABLE },
	{ "429 is not", { .retry = "http:5xx" }, ANSWERED(22, 429),
	    NOT_RETRYABLE },
	{ "no answer at all", { .retry = "http:5xx" }, ANSWERED(7, 0),
	    NOT_RETRYABLE },
	{ "no answer, listed", { .retry = "http:5xx,7" }, ANSWERED(7, 0),
	    RETRIED },
	{ "exit 7 after 302", { .retry = "http:5xx,7" }, ANSWERED(7, 302),
	    RETRIED },
	{ "exit 7 after 404", { .retry = "http:5xx,7" }, ANSWERED(7, 404),
	    NOT_RETRYABLE },
	{ "302 is a success", { .retry = "http:302" }, ANSWERED(0, 302),
	    SUCCESS },
	{ "302 of a failure", { .retry = "http:302" }, ANSWERED(47, 302),
	    RETRIED },
	/* Without http: in a list the table counts, whatever else is listed. */
	{ "503 beside a list", { .retry = "7" }, ANSWERED(22, 503), RETRIED },
	{ "404 beside a list", { .retry = "22" }, ANSWERED(22, 404),
	    NOT_RETRYABLE },
	{ "404 beside a pattern",
	    { .retry = "stderr:busy", .seen = { "busy" } }, ANSWERED(22, 404),
	    NOT_RETRYABLE },
	{ "200 beside a list", { .retry = "7" }, ANSWERED(18, 200),
	    NOT_RETRYABLE },
	{ "stop", { .stop = "http:503" }, ANSWERED(22, 503), STOPPED },
	{ "stop, exit 0", { .stop = "http:503" }, ANSWERED(0, 503), STOPPED },
	{ "stop another", { .stop = "http:503" }, ANSWERED(22, 502), RETRIED },
	{ "stop wins", { .retry = "http:5xx", .stop = "http:503" },
	    ANSWERED(22, 503), STOPPED },
	{ "stop by exit", { .stop = "22" }, ANSWERED(22, 503), STOPPED },
	{ "stop, done", { .stop = "http:200" }, ANSWERED(0, 200), SUCCESS },
	{ "success", { .success = "http:404" }, ANSWERED(22, 404), SUCCESS },
	{ "success, exit 0", { .success = "http:4xx" }, ANSWERED(0, 404),
	    SUCCESS },
	{ "success, then slow", { .success = "http:200" },
	    { .end = END_TIMED_OUT, .http = { .known = true, .code = 200 } },
	    SUCCESS },
	{ "success by exit", { .success = "22" }, ANSWERED(22, 503), SUCCESS },
	{ "not a success", { .success = "http:404" }, ANSWERED(22, 410),
	    NOT_RETRYABLE },
	{ "fail", { .fail = "http:302" }, ANSWERED(0, 302), RETRIED },
	{ "fail, listed", { .fail = "http:204", .retry = "http:204" },
	    ANSWERED(0, 204), RETRIED },
	{ "fail, not listed", { .fail = "http:204", .retry = "7" },
	    ANSWERED(0, 204), NOT_RETRYABLE },
	{ "fail another", { .fail = "http:302" }, ANSWERED(0, 200), SUCCESS },
	{ "success before fail", { .fail = "http:2xx", .success = "http:204" },
	    ANSWERED(0, 204), SUCCESS },
};

static const struct ruled sent_once[] = {
	{ "done", { .once = true }, EXITED(0), SUCCESS },
	{ "503", { .once = true }, ANSWERED(22, 503), NOT_IDEMPOTENT },
	{ "503, exit 0", { .once = true }, ANSWERED(0, 503), NOT_IDEMPOTENT },
	{ "exit 1", { .once = true }, EXITED(1), NOT_IDEMPOTENT },
	{ "exit 4", { .once = true }, EXITED(4), NOT_IDEMPOTENT },
	{ "no proxy", { .once = true }, EXITED(5), RETRIED },
	{ "no host", { .once = true }, EXITED(6), RETRIED },
	{ "no connection", { .once = true }, EXITED(7), RETRIED },
	{ "exit 8", { .once = true }, EXITED(8), NOT_IDEMPOTENT },
	{ "no answer", { .once = true }, ANSWERED(52, 0), NOT_IDEMPOTENT },
	{ "no connection, 000", { .once = true }, ANSWERED(7, 0), RETRIED },
	{ "no connection after 307", { .once = true }, ANSWERED(7, 307),
	    NOT_IDEMPOTENT },
	{ "no connection of several", { .once = true, .several = true },
	    EXITED(7), NOT_IDEMPOTENT },
	{ "several, each may be repeated", { .several = true }, EXITED(7),
	    RETRIED },
	{ "slow", { .once = true }, TIMED_OUT(7), NOT_IDEMPOTENT },
	{ "crashed", { .once = true }, KILLED(SIGSEGV), NOT_IDEMPOTENT },
	{ "SIGBUS is 7", { .once = true }, KILLED(7), NOT_IDEMPOTENT },
	{ "deadline", { .once = true }, CUT(0), NOT_IDEMPOTENT },
	/* A command that did not run has sent nothing. */
	{ "no room to fork", { .once = true }, NO_FORK(EAGAIN), RETRIED },
	{ "being written", { .once = true }, NO_EXEC(ETXTBSY), RETRIED },
	{ "no room, several", { .once = true, .several = true },
	    NO_FORK(EAGAIN), RETRIED },
	/* All other reasons precede it. */
	{ "404", { .once = true }, ANSWERED(22, 404), NOT_RETRYABLE },
	{ "Ctrl-C", { .once = true }, KILLED(SIGINT), NOT_RETRYABLE },
	{ "not listed", { .once = true, .retry = "6" }, EXITED(7),
	    NOT_RETRYABLE },
	{ "listed", { .once = true, .retry = "22" }, EXITED(22),
	    NOT_IDEMPOTENT },
	{ "listed, not sent", { .once = true, .retry = "7" }, EXITED(7),
	    RETRIED },
	{ "stopped", { .once = true, .stop = "7" }, EXITED(7), STOPPED },
	{ "not found", { .once = true }, NO_EXEC(ENOENT), NOT_EXECUTABLE },
	{ "interrupted", { .once = true }, INTERRUPTED(END_EXITED, 22),
	    INTERRUPT },
};

static void
test_verdicts_by_all_rules(void)
{
	check_ruled(failing, LENGTH(failing));
	check_ruled(matched, LENGTH(matched));
	check_ruled(timed, LENGTH(timed));
	check_ruled(preset, LENGTH(preset));
	check_ruled(answered, LENGTH(answered));
	check_ruled(curled, LENGTH(curled));
	check_ruled(answered_asked, LENGTH(answered_asked));
	check_ruled(sent_once, LENGTH(sent_once));
}

/* The rule that decides, whatever else may hold. */
static const struct {
	const char *name; /* of the rule */
	struct lists lists;
	struct outcome outcome;
	enum verdict verdict;
} decided[] = {
	{ "exit-status", NO_RULES, EXITED(0), VERDICT_DONE },
	{ "exit-status", { .stop = "fail", .retry = "fail" }, EXITED(0),
	    VERDICT_DONE },
	{ "exit-status", NO_RULES, ANSWERED(0, 200), VERDICT_DONE },
	{ "exit-status", NO_RULES, INTERRUPTED(END_EXITED, 0), VERDICT_DONE },
	{ "success-on", { .success = "1" }, EXITED(1), VERDICT_DONE },
	{ "success-on", { .success = "0", .fail = "0" }, EXITED(0),
	    VERDICT_DONE },
	{ "success-on", { .success = "http:404" }, ANSWERED(22, 404),
	    VERDICT_DONE },
	{ "success-on", { .success = "timeout" }, TIMED_OUT(0), VERDICT_DONE },
	{ "default", NO_RULES, EXITED(1), VERDICT_RETRY },
	{ "default", NO_RULES, KILLED(SIGSEGV), VERDICT_RETRY },
	{ "default", NO_RULES, TIMED_OUT(0), VERDICT_RETRY },
	{ "default", NO_RULES, NO_FORK(EAGAIN), VERDICT_RETRY },
	{ "default", NO_RULES, NO_EXEC(ETXTBSY), VERDICT_RETRY },
	{ "default", NO_RULES, ANSWERED(18, 200), VERDICT_RETRY },
	{ "default", NO_RULES, ANSWERED(7, 0), VERDICT_RETRY },
	{ "default", { .fail = "7" }, EXITED(7), VERDICT_RETRY },
	{ "default", { .stop = "8", .success = "9" }, EXITED(7),
	    VERDICT_RETRY },
	{ "fail-on", { .fail = "0" }, EXITED(0), VERDICT_RETRY },
	{ "fail-on", { .fail = "stderr:W:", .seen = { "W:" } }, EXITED(0),
	    VERDICT_RETRY },
	{ "fail-on", { .fail = "http:302" }, ANSWERED(0, 302), VERDICT_RETRY },
	{ "interrupted", NO_RULES, INTERRUPTED(END_EXITED, 7), VERDICT_STOP },
	{ "interrupted", { .stop = "fail" }, INTERRUPTED(END_EXITED, 7),
	    VERDICT_STOP },
	{ "not-executable", NO_RULES, NO_EXEC(ENOENT), VERDICT_STOP },
	{ "not-executable", { .stop = "127" }, NO_EXEC(ENOENT), VERDICT_STOP },
	{ "stop-on", { .stop = "7" }, EXITED(7), VERDICT_STOP },
	{ "stop-on", { .stop = "0", .fail = "0" }, EXITED(0), VERDICT_STOP },
	{ "stop-on", { .stop = "http:503" }, ANSWERED(22, 503), VERDICT_STOP },
	{ "stop-on", { .stop = "timeout" }, CUT(0), VERDICT_STOP },
	{ "preset", { .fatal = "stderr:no", .seen = { "no" } }, EXITED(1),
	    VERDICT_STOP },
	{ "preset", { .fatal = "stderr:no", .retry = "fail", .seen = { "no" } },
	    EXITED(1), VERDICT_STOP },
	{ "preset", { .transient = "75" }, EXITED(75), VERDICT_RETRY },
	{ "preset", { .transient = "75" }, EXITED(1), VERDICT_STOP },
	{ "preset", { .transient = "75", .retry = "9" }, EXITED(75),
	    VERDICT_RETRY },
	{ "preset",
	    { .transient = "75,stderr:W:", .fail = "0", .seen = { "W:" } },
	    EXITED(0), VERDICT_RETRY },
	{ "deadline", NO_RULES, CUT(0), VERDICT_RETRY },
	{ "deadline", { .retry = "7" }, CUT(0), VERDICT_RETRY },
	{ "signal", NO_RULES, KILLED(SIGINT), VERDICT_STOP },
	{ "signal", { .retry = "fail" }, KILLED(SIGPIPE), VERDICT_STOP },
	{ "http", NO_RULES, ANSWERED(22, 503), VERDICT_RETRY },
	{ "http", NO_RULES, ANSWERED(0, 503), VERDICT_RETRY },
	{ "http", NO_RULES, ANSWERED(22, 404), VERDICT_STOP },
	{ "http", { .retry = "22" }, ANSWERED(22, 404), VERDICT_STOP },
	{ "http", { .transient = "22" }, ANSWERED(22, 503), VERDICT_RETRY },
	{ "http", { .retry = "http:503" }, NEVER_AGAIN(22, 503), VERDICT_STOP },
	{ "http", NO_RULES, NEVER_AGAIN(14, 200), VERDICT_STOP },
	{ "retry-on", { .retry = "http:404" }, ANSWERED(22, 404),
	    VERDICT_RETRY },
	{ "retry-on", { .retry = "http:404" }, ANSWERED(22, 503),
	    VERDICT_STOP },
	{ "retry-on", { .retry = "http:302" }, ANSWERED(47, 302),
	    VERDICT_RETRY },
	{ "retry-on", { .retry = "7" }, EXITED(7), VERDICT_RETRY },
	{ "retry-on", { .retry = "7" }, EXITED(8), VERDICT_STOP },
	{ "retry-on", { .retry = "fail" }, EXITED(8), VERDICT_RETRY },
	{ "retry-on", { .retry = "PIPE" }, KILLED(SIGPIPE), VERDICT_RETRY },
	{ "retry-on", { .retry = "7", .transient = "7" }, EXITED(7),
	    VERDICT_RETRY },
	{ "retry-on", { .retry = "7", .transient = "75" }, EXITED(8),
	    VERDICT_STOP },
	{ "retry-on", { .retry = "7", .fail = "0" }, EXITED(0), VERDICT_STOP },
	{ "idempotency", { .once = true }, EXITED(1), VERDICT_STOP },
	{ "idempotency", { .once = true, .retry = "22" }, EXITED(22),
	    VERDICT_STOP },
	{ "idempotency", { .once = true }, CUT(0), VERDICT_STOP },
	{ "default", { .once = true }, EXITED(7), VERDICT_RETRY },
};

static void
test_which_rule_decided(void)
{
	for (size_t i = 0; i < LENGTH(decided); i++) {
		struct watches watches = { .list = watch_room };
		struct rules rules = rules_of(&decided[i].lists, &watches);
		struct outcome outcome = decided[i].outcome;
		struct judgement judgement;
		char row[NUMBER_ROOM];

		outcome.once = decided[i].lists.once;
		outcome.several = decided[i].lists.several;
		outcome.seen = bit_of(&watches, decided[i].lists.seen[0]);
		judgement = verdict_of(&rules, &outcome);
		number_put(row, (int64_t)i);
		SAME(row, judgement.rule, decided[i].name);
		EQUAL(row, judgement.verdict, decided[i].verdict);
	}
}

/* The manual's table, 403 and 413 included. */
static const int retried_statuses[] = { 408, 425, 429 };
static const int stopped_statuses[] = { 501, 505, 506, 508, 510, 511 };

static bool
among(const int *list, size_t count, int code)
{
	for (size_t i = 0; i < count; i++) {
		if (list[i] == code)
			return true;
	}
	return false;
}

static enum verdict
verdict_with(const char *retry, struct outcome outcome)
{
	struct rules rules = { .retry_on = codes_of(retry, NULL) };

	return verdict_of(&rules, &outcome).verdict;
}

static void
test_verdicts_of_every_http_status(void)
{
	for (int code = 100; code <= 999; code++) {
		bool again = code >= 500
		    ? !among(stopped_statuses, LENGTH(stopped_statuses), code)
		    : among(retried_statuses, LENGTH(retried_statuses), code);
		bool later = again || code == 403 || code == 413;
		struct outcome outcome = ANSWERED(22, code);
		char row[NUMBER_ROOM];

		number_put(row, code);
		/* Below 400 the exit status and the lists decide. */
		again |= code < 400;
		later |= code < 400;
		EQUAL(row, verdict_with(NULL, outcome),
		    again ? VERDICT_RETRY : VERDICT_STOP);
		EQUAL(row, verdict_with("1", outcome),
		    again && code >= 400 ? VERDICT_RETRY : VERDICT_STOP);
		EQUAL(row, verdict_with("22", outcome),
		    again ? VERDICT_RETRY : VERDICT_STOP);
		outcome.http.has_wait = true;
		EQUAL(row, verdict_with(NULL, outcome),
		    later ? VERDICT_RETRY : VERDICT_STOP);
		outcome.code = 0;
		EQUAL(row, verdict_with(NULL, outcome) == VERDICT_DONE,
		    code < 400);
		EQUAL(row, verdict_status(&outcome), 0);
	}
}

/* Only 0 is a success without a list. */
static void
test_verdicts_of_every_status(void)
{
	struct rules rules = { .retry_on = { .fail = false } };

	for (int code = 0; code <= 255; code++) {
		struct outcome outcome = EXITED(code);
		char row[NUMBER_ROOM];

		number_put(row, code);
		EQUAL(row, verdict_of(&rules, &outcome).verdict,
		    code == 0 ? VERDICT_DONE : VERDICT_RETRY);
		EQUAL(row, verdict_status(&outcome), code);
	}
}

static void
test_verdicts_of_every_signal(void)
{
	struct rules rules = { .retry_on = { .fail = false } };

	for (int number = 1; number <= 64; number++) {
		struct outcome outcome = KILLED(number);
		bool meant =
		    number == SIGINT || number == SIGQUIT || number == SIGPIPE;
		char row[NUMBER_ROOM];

		number_put(row, number);
		EQUAL(row, verdict_of(&rules, &outcome).verdict,
		    meant ? VERDICT_STOP : VERDICT_RETRY);
		EQUAL(row, verdict_status(&outcome), 128 + number);
	}
}

static void
test_statuses_of_limits_and_failed_starts(void)
{
	static const struct {
		const char *row;
		struct outcome outcome;
		int status;
	} rows[] = {
		{ "timed out", TIMED_OUT(0), 124 },
		{ "timed out, exit 7", TIMED_OUT(7), 124 },
		{ "timed out, KILL", TIMED_OUT(SIGKILL), 124 },
		{ "deadline", CUT(0), 124 },
		{ "deadline, exit 7", CUT(7), 124 },
		{ "preserved: timed out, exit 7", PRESERVED(END_TIMED_OUT, 7),
		    7 },
		{ "preserved: timed out, exit 0", PRESERVED(END_TIMED_OUT, 0),
		    0 },
		{ "preserved: idle, exit 7", PRESERVED(END_IDLE, 7), 7 },
		{ "preserved: deadline, TERM", PRESERVED(END_DEADLINE, 143),
		    143 },
		{ "fork EAGAIN", NO_FORK(EAGAIN), 125 },
		{ "fork ENOMEM", NO_FORK(ENOMEM), 125 },
		/* errno of a fork says nothing about the command. */
		{ "fork ENOENT", NO_FORK(ENOENT), 125 },
		{ "exec ENOENT", NO_EXEC(ENOENT), 127 },
		{ "exec EACCES", NO_EXEC(EACCES), 126 },
		{ "exec ENOEXEC", NO_EXEC(ENOEXEC), 126 },
		{ "exec ETXTBSY", NO_EXEC(ETXTBSY), 126 },
		{ "exec E2BIG", NO_EXEC(E2BIG), 126 },
		{ "exec ENOTDIR", NO_EXEC(ENOTDIR), 126 },
		{ "too much to hold", OVERRUN(END_EXITED, 0), 125 },
		{ "too much to hold, TERM", OVERRUN(END_SIGNALED, SIGTERM),
		    125 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++)
		EQUAL(rows[i].row, verdict_status(&rows[i].outcome),
		    rows[i].status);
}

static void
test_reasons(void)
{
	static const struct {
		enum reason reason;
		const char *name, *words;
	} rows[] = {
		{ REASON_INTERNAL, "internal", NULL },
		{ REASON_INTERRUPTED, "interrupted", "interrupted" },
		{ REASON_NOT_EXECUTABLE, "not-executable", "not executable" },
		{ REASON_SUCCEEDED, "succeeded", "succeeded" },
		{ REASON_STOP_RULE, "stop-rule", "stop rule" },
		{ REASON_NOT_RETRYABLE, "not-retryable", "not retryable" },
		{ REASON_NOT_IDEMPOTENT, "not-idempotent", "not idempotent" },
		{ REASON_INPUT_CONSUMED, "input-consumed",
		    "standard input was already consumed: use -I or "
		    "</dev/null" },
		{ REASON_INPUT_RESET, "input-reset",
		    "standard input was reset by its other end" },
		{ REASON_ATTEMPTS, "attempts", "attempts exhausted" },
		{ REASON_LIMIT, "limit", "--limit reached" },
		{ REASON_RETRY_AFTER, "retry-after", "Retry-After too long" },
		{ REASON_DEADLINE, "deadline", "deadline" },
		{ REASON_BREAKER, "breaker", "breaker open" },
		{ REASON_BUDGET, "budget", "budget exhausted" },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		SAME(rows[i].name, verdict_reasons[rows[i].reason].name,
		    rows[i].name);
		if (rows[i].words != NULL)
			SAME(rows[i].name,
			    verdict_reasons[rows[i].reason].words,
			    rows[i].words);
		/* Their order is their precedence. */
		HOLDS(rows[i].name,
		    i == 0 || rows[i - 1].reason < rows[i].reason);
	}
}

/*
 * plan
 */

/* Instants are counted from the boot, not from the start of retry. */
#define BEGAN SECONDS(1000)

/* Delays of 1s, 2s, 4s and so on up to 30s; no deadline. */
static struct policy
policy_of(int64_t attempts)
{
	struct policy policy = { .attempts = attempts,
		.consecutive = 1,
		.backoff = { .kind = BACKOFF_EXPONENTIAL,
		    .jitter = JITTER_NONE,
		    .factor = INT64_C(2) * BACKOFF_FACTOR_ONE,
		    .delays = { NANOS_SECOND },
		    .count = 1,
		    .cap = 30 * NANOS_SECOND },
		.max_retry_after = 5 * NANOS_MINUTE };

	return policy;
}

/* One invocation: the policy, how attempts end, and what happens. */
struct played {
	const char *row;
	struct {
		int64_t attempts, consecutive; /* 0: one success */
		double deadline, reset_after;
		struct lists lists;
		double max_retry_after; /* 0: the default */
		bool keep; /* --keep-status */
		struct {
			int64_t retries;
			const char *list; /* NULL: no limit */
		} limit[2];
	} policy;
	struct {
		struct outcome outcome;
		double took;
	} attempts[8];
	int last; /* of attempts; all later ones end like the last */
	struct {
		int64_t made;
		double ended; /* after so many seconds */
		int status, signal;
		enum reason reason;
	} want;
};

static const struct played succeeding[] = {
	{ "at once", { .attempts = 4 }, { { EXITED(0), 0 } },
	    .want = { 1, 0, 0, 0, REASON_SUCCEEDED } },
	{ "the third time", { .attempts = 4 },
	    { { EXITED(7), 0 }, { KILLED(9), 0 }, { EXITED(0), 0 } }, .last = 2,
	    .want = { 3, 3, 0, 0, REASON_SUCCEEDED } },
	{ "the last time", { .attempts = 2 },
	    { { EXITED(7), 0 }, { EXITED(0), 0 } }, .last = 1,
	    .want = { 2, 1, 0, 0, REASON_SUCCEEDED } },
	{ "with another status", { .attempts = 4, .lists = { .success = "1" } },
	    { { EXITED(2), 0 }, { EXITED(1), 0 } }, .last = 1,
	    .want = { 2, 1, 0, 0, REASON_SUCCEEDED } },
	{ "after the deadline", { .attempts = 4, .deadline = 5 },
	    { { EXITED(0), 6 } }, .want = { 1, 6, 0, 0, REASON_SUCCEEDED } },
	{ "though interrupted", { .attempts = 4 },
	    { { INTERRUPTED(END_EXITED, 0), 1 } },
	    .want = { 1, 1, 0, 0, REASON_SUCCEEDED } },
	{ "once a fork succeeds", { .attempts = 4 },
	    { { NO_FORK(EAGAIN), 0 }, { EXITED(0), 0 } }, .last = 1,
	    .want = { 2, 1, 0, 0, REASON_SUCCEEDED } },
	{ "once it is written", { .attempts = 4 },
	    { { NO_EXEC(ETXTBSY), 0 }, { EXITED(0), 0 } }, .last = 1,
	    .want = { 2, 1, 0, 0, REASON_SUCCEEDED } },
	{ "the eighth time, no cap", { .attempts = POLICY_UNLIMITED },
	    { { EXITED(7), 0 }, { EXITED(7), 0 }, { EXITED(7), 0 },
		{ EXITED(7), 0 }, { EXITED(7), 0 }, { EXITED(7), 0 },
		{ EXITED(7), 0 }, { EXITED(0), 0 } },
	    .last = 7, .want = { 8, 91, 0, 0, REASON_SUCCEEDED } },
};

static const struct played exhausted[] = {
	{ "one attempt", { .attempts = 1 }, { { EXITED(7), 2 } },
	    .want = { 1, 2, 7, 0, REASON_ATTEMPTS } },
	{ "four attempts", { .attempts = 4 }, { { EXITED(7), 0 } },
	    .want = { 4, 7, 7, 0, REASON_ATTEMPTS } },
	{ "that take time", { .attempts = 3 }, { { EXITED(7), 2 } },
	    .want = { 3, 9, 7, 0, REASON_ATTEMPTS } },
	{ "the last status counts", { .attempts = 3 },
	    { { EXITED(1), 0 }, { EXITED(2), 0 }, { EXITED(3), 0 } }, .last = 2,
	    .want = { 3, 3, 3, 0, REASON_ATTEMPTS } },
	{ "every one timed out", { .attempts = 2 }, { { TIMED_OUT(0), 1 } },
	    .want = { 2, 3, 124, 0, REASON_ATTEMPTS } },
	{ "the last timed out", { .attempts = 2 },
	    { { EXITED(7), 0 }, { TIMED_OUT(SIGKILL), 1 } }, .last = 1,
	    .want = { 2, 2, 124, 0, REASON_ATTEMPTS } },
	{ "the first timed out", { .attempts = 2 },
	    { { TIMED_OUT(0), 1 }, { EXITED(7), 0 } }, .last = 1,
	    .want = { 2, 2, 7, 0, REASON_ATTEMPTS } },
	{ "killed", { .attempts = 2 }, { { KILLED(SIGSEGV), 0 } },
	    .want = { 2, 1, 128 + SIGSEGV, SIGSEGV, REASON_ATTEMPTS } },
	{ "first killed", { .attempts = 2 },
	    { { KILLED(SIGSEGV), 0 }, { EXITED(3), 0 } }, .last = 1,
	    .want = { 2, 1, 3, 0, REASON_ATTEMPTS } },
	{ "no fork", { .attempts = 2 }, { { NO_FORK(ENOMEM), 0 } },
	    .want = { 2, 1, 125, 0, REASON_INTERNAL } },
	{ "being written", { .attempts = 2 }, { { NO_EXEC(ETXTBSY), 0 } },
	    .want = { 2, 1, 126, 0, REASON_ATTEMPTS } },
	{ "and the deadline is near", { .attempts = 2, .deadline = 3 },
	    { { EXITED(7), 0 } }, .want = { 2, 1, 7, 0, REASON_ATTEMPTS } },
};

static const struct played stopping[] = {
	{ "stop rule", { .attempts = 4, .lists = { .stop = "22" } },
	    { { EXITED(7), 0 }, { EXITED(22), 0 } }, .last = 1,
	    .want = { 2, 1, 22, 0, REASON_STOP_RULE } },
	{ "stop rule before attempts",
	    { .attempts = 2, .lists = { .stop = "22" } },
	    { { EXITED(7), 0 }, { EXITED(22), 0 } }, .last = 1,
	    .want = { 2, 1, 22, 0, REASON_STOP_RULE } },
	{ "stop rule before deadline",
	    { .attempts = 4, .deadline = 1, .lists = { .stop = "22" } },
	    { { EXITED(22), 2 } }, .want = { 1, 2, 22, 0, REASON_STOP_RULE } },
	{ "stop rule for a signal",
	    { .attempts = 4, .lists = { .stop = "TERM" } },
	    { { KILLED(SIGTERM), 0 } },
	    .want = { 1, 0, 143, SIGTERM, REASON_STOP_RULE } },
	{ "not retryable", { .attempts = 4, .lists = { .retry = "7" } },
	    { { EXITED(7), 0 }, { EXITED(8), 0 } }, .last = 1,
	    .want = { 2, 1, 8, 0, REASON_NOT_RETRYABLE } },
	{ "not retryable before attempts",
	    { .attempts = 1, .lists = { .retry = "7" } }, { { EXITED(8), 0 } },
	    .want = { 1, 0, 8, 0, REASON_NOT_RETRYABLE } },
	{ "Ctrl-C", { .attempts = 4 }, { { KILLED(SIGINT), 0 } },
	    .want = { 1, 0, 130, SIGINT, REASON_NOT_RETRYABLE } },
	{ "a closed pipe", { .attempts = 4 }, { { KILLED(SIGPIPE), 0 } },
	    .want = { 1, 0, 141, SIGPIPE, REASON_NOT_RETRYABLE } },
	{ "a pipe that may", { .attempts = 2, .lists = { .retry = "PIPE" } },
	    { { KILLED(SIGPIPE), 0 } },
	    .want = { 2, 1, 141, SIGPIPE, REASON_ATTEMPTS } },
	{ "not found", { .attempts = 4 }, { { NO_EXEC(ENOENT), 0 } },
	    .want = { 1, 0, 127, 0, REASON_NOT_EXECUTABLE } },
	{ "not executable", { .attempts = 4 }, { { NO_EXEC(EACCES), 0 } },
	    .want = { 1, 0, 126, 0, REASON_NOT_EXECUTABLE } },
	{ "not found any more", { .attempts = 2, .lists = { .stop = "fail" } },
	    { { NO_EXEC(ENOENT), 0 } },
	    .want = { 1, 0, 127, 0, REASON_NOT_EXECUTABLE } },
	{ "interrupted", { .attempts = 4 },
	    { { INTERRUPTED(END_EXITED, 7), 1 } },
	    .want = { 1, 1, 7, 0, REASON_INTERRUPTED } },
	{ "interrupted, last", { .attempts = 1, .lists = { .stop = "fail" } },
	    { { INTERRUPTED(END_EXITED, 7), 1 } },
	    .want = { 1, 1, 7, 0, REASON_INTERRUPTED } },
	{ "interrupted, killed", { .attempts = 4 },
	    { { INTERRUPTED(END_SIGNALED, SIGTERM), 1 } },
	    .want = { 1, 1, 143, SIGTERM, REASON_INTERRUPTED } },
	/* The command died of another signal: retry ends in the same way. */
	{ "interrupted, crashed", { .attempts = 4 },
	    { { INTERRUPTED(END_SIGNALED, SIGSEGV), 1 } },
	    .want = { 1, 1, 139, SIGSEGV, REASON_INTERRUPTED } },
	{ "interrupted before the deadline", { .attempts = 4, .deadline = 5 },
	    { { INTERRUPTED(END_SIGNALED, SIGTERM), 6 } },
	    .want = { 1, 6, 143, SIGTERM, REASON_INTERRUPTED } },
	{ "interrupted after a limit", { .attempts = 4 },
	    { { INTERRUPTED(END_TIMED_OUT, SIGTERM), 1 } },
	    .want = { 1, 1, 124, 0, REASON_INTERRUPTED } },
};

static const struct played in_time[] = {
	{ "no time for the delay", { .attempts = 9, .deadline = 10 },
	    { { EXITED(7), 0 } }, .want = { 4, 7, 7, 0, REASON_DEADLINE } },
	{ "a delay to the deadline", { .attempts = 9, .deadline = 3 },
	    { { EXITED(7), 0 } }, .want = { 2, 1, 7, 0, REASON_DEADLINE } },
	{ "a delay to just before", { .attempts = 9, .deadline = 3.5 },
	    { { EXITED(7), 0 } }, .want = { 3, 3, 7, 0, REASON_DEADLINE } },
	{ "no cap", { .attempts = POLICY_UNLIMITED, .deadline = 100 },
	    { { EXITED(7), 0 } }, .want = { 8, 91, 7, 0, REASON_DEADLINE } },
	{ "killed", { .attempts = 9, .deadline = 3 },
	    { { KILLED(SIGSEGV), 0 } },
	    .want = { 2, 1, 139, SIGSEGV, REASON_DEADLINE } },
	{ "timed out", { .attempts = 9, .deadline = 3 },
	    { { TIMED_OUT(0), 2 } },
	    .want = { 1, 2, 124, 0, REASON_DEADLINE } },
	{ "ended by it", { .attempts = 9, .deadline = 5 },
	    { { CUT(SIGTERM), 5 } },
	    .want = { 1, 5, 124, 0, REASON_DEADLINE } },
	{ "ended by it, exit 0", { .attempts = 9, .deadline = 5 },
	    { { CUT(0), 5 } }, .want = { 1, 5, 124, 0, REASON_DEADLINE } },
	{ "ended by it, not in a list",
	    { .attempts = 9, .deadline = 5, .lists = { .retry = "7" } },
	    { { EXITED(7), 0 }, { CUT(0), 4 } }, .last = 1,
	    .want = { 2, 5, 124, 0, REASON_DEADLINE } },
	{ "over when it ended", { .attempts = 9, .deadline = 5 },
	    { { EXITED(7), 5 } }, .want = { 1, 5, 7, 0, REASON_DEADLINE } },
	{ "long over", { .attempts = 9, .deadline = 5 }, { { EXITED(7), 500 } },
	    .want = { 1, 500, 7, 0, REASON_DEADLINE } },
};

static const struct played resetting[] = {
	{ "long enough", { .attempts = 5, .reset_after = 10 },
	    { { EXITED(7), 0 }, { EXITED(7), 0 }, { EXITED(7), 10 },
		{ EXITED(7), 0 } },
	    .last = 3, .want = { 5, 16, 7, 0, REASON_ATTEMPTS } },
	{ "not long enough", { .attempts = 5, .reset_after = 10 },
	    { { EXITED(7), 0 }, { EXITED(7), 0 }, { EXITED(7), 9.5 },
		{ EXITED(7), 0 } },
	    .last = 3, .want = { 5, 24.5, 7, 0, REASON_ATTEMPTS } },
	{ "never", { .attempts = 4 }, { { EXITED(7), 1000 } },
	    .want = { 4, 4007, 7, 0, REASON_ATTEMPTS } },
	{ "every time", { .attempts = 4, .reset_after = 1 },
	    { { EXITED(7), 1 } }, .want = { 4, 7, 7, 0, REASON_ATTEMPTS } },
};

/* The server names a wait; the backoff would be 1s, 2s, 4s... */
static const struct played waits_named[] = {
	{ "7s", { .attempts = 2 }, { { ASKED(503, 7), 0 } },
	    .want = { 2, 7, 22, 0, REASON_ATTEMPTS } },
	{ "each time", { .attempts = 4 }, { { ASKED(503, 7), 0 } },
	    .want = { 4, 21, 22, 0, REASON_ATTEMPTS } },
	{ "less than the backoff", { .attempts = 4 }, { { ASKED(503, 3), 0 } },
	    .want = { 4, 3 + 3 + 4, 22, 0, REASON_ATTEMPTS } },
	{ "nothing", { .attempts = 4 }, { { ASKED(503, 0), 0 } },
	    .want = { 4, 7, 22, 0, REASON_ATTEMPTS } },
	{ "once", { .attempts = 3 },
	    { { ASKED(429, 60), 0 }, { ANSWERED(22, 503), 0 } }, .last = 1,
	    .want = { 3, 62, 22, 0, REASON_ATTEMPTS } },
	{ "then done", { .attempts = 4 },
	    { { ASKED(429, 60), 0 }, { ANSWERED(0, 200), 0 } }, .last = 1,
	    .want = { 2, 60, 0, 0, REASON_SUCCEEDED } },
	{ "429, no wait", { .attempts = 4 }, { { ANSWERED(22, 429), 0 } },
	    .want = { 4, 7, 22, 0, REASON_ATTEMPTS } },
	{ "a wait without has_wait", { .attempts = 2 },
	    { { { .end = END_EXITED, .code = 1, .http = { .wait = NANOS_DAY } },
		0 } },
	    .want = { 2, 1, 1, 0, REASON_ATTEMPTS } },
	{ "more than the cap", { .attempts = 2 }, { { ASKED(503, 90), 0 } },
	    .want = { 2, 90, 22, 0, REASON_ATTEMPTS } },
	{ "403", { .attempts = 2 }, { { ASKED(403, 9), 0 } },
	    .want = { 2, 9, 22, 0, REASON_ATTEMPTS } },
	{ "404", { .attempts = 2 }, { { ASKED(404, 9), 0 } },
	    .want = { 1, 0, 22, 0, REASON_NOT_RETRYABLE } },
	{ "5m", { .attempts = 2 }, { { ASKED(503, 300), 0 } },
	    .want = { 2, 300, 22, 0, REASON_ATTEMPTS } },
	{ "more than 5m", { .attempts = 2 }, { { ASKED(503, 300.001), 0 } },
	    .want = { 1, 0, 22, 0, REASON_RETRY_AFTER } },
	{ "more than we may", { .attempts = 2, .max_retry_after = 7 },
	    { { ASKED(503, 8), 0 } },
	    .want = { 1, 0, 22, 0, REASON_RETRY_AFTER } },
	{ "what we may", { .attempts = 2, .max_retry_after = 7 },
	    { { ASKED(503, 7), 0 } },
	    .want = { 2, 7, 22, 0, REASON_ATTEMPTS } },
	{ "too much, the second time", { .attempts = 4 },
	    { { ASKED(503, 2), 0 }, { ASKED(503, 9000), 0 } }, .last = 1,
	    .want = { 2, 2, 22, 0, REASON_RETRY_AFTER } },
	{ "too much, the last time", { .attempts = 1 },
	    { { ASKED(503, 9000), 0 } },
	    .want = { 1, 0, 22, 0, REASON_ATTEMPTS } },
	{ "just before the deadline", { .attempts = 2, .deadline = 10 },
	    { { ASKED(503, 9.5), 0 } },
	    .want = { 2, 9.5, 22, 0, REASON_ATTEMPTS } },
	{ "at the deadline", { .attempts = 2, .deadline = 10 },
	    { { ASKED(503, 10), 0 } },
	    .want = { 1, 0, 22, 0, REASON_RETRY_AFTER } },
	{ "past the deadline", { .attempts = 2, .deadline = 10 },
	    { { ASKED(503, 60), 0 } },
	    .want = { 1, 0, 22, 0, REASON_RETRY_AFTER } },
	{ "past what is left of it", { .attempts = 9, .deadline = 10 },
	    { { ASKED(503, 4), 0 } },
	    .want = { 3, 8, 22, 0, REASON_RETRY_AFTER } },
	{ "past is past", { .attempts = 9, .deadline = 10 },
	    { { ASKED(503, 60), 11 } },
	    .want = { 1, 11, 22, 0, REASON_DEADLINE } },
	/*
	 * The backoff does not fit before the deadline; the server's wait
	 * would.
	 */
	{ "the backoff is more", { .attempts = 9, .deadline = 3 },
	    { { ASKED(503, 0.5), 0 } },
	    .want = { 2, 1, 22, 0, REASON_DEADLINE } },
	{ "in words", { .attempts = 3 }, { { HINTED(7), 0 } },
	    .want = { 3, 14, 1, 0, REASON_ATTEMPTS } },
	{ "in words, 0", { .attempts = 3 }, { { HINTED(0), 0 } },
	    .want = { 3, 3, 1, 0, REASON_ATTEMPTS } },
	{ "in words, more than 5m", { .attempts = 2 }, { { HINTED(301), 0 } },
	    .want = { 1, 0, 1, 0, REASON_RETRY_AFTER } },
	{ "in words, past the deadline", { .attempts = 2, .deadline = 10 },
	    { { HINTED(10), 0 } }, .want = { 1, 0, 1, 0, REASON_RETRY_AFTER } },
	{ "in words and by the server", { .attempts = 3 },
	    { { { .end = END_EXITED,
		    .code = 1,
		    .has_hint = true,
		    .hint = SECONDS(5),
		    .http = { .known = true,
			.code = 503,
			.has_wait = true,
			.wait = SECONDS(7) } },
		0 } },
	    .want = { 3, 14, 1, 0, REASON_ATTEMPTS } },
	{ "timed out", { .attempts = 2 },
	    { { { .end = END_TIMED_OUT,
		    .http = { .known = true,
			.code = 503,
			.has_wait = true,
			.wait = SECONDS(7) } },
		1 } },
	    .want = { 2, 9, 124, 0, REASON_ATTEMPTS } },
};

/* The status is 0 only if an attempt was judged a success. */
static const struct played exiting_with_0[] = {
	{ "503", { .attempts = 2 }, { { ANSWERED(0, 503), 0 } },
	    .want = { 2, 1, 1, 0, REASON_ATTEMPTS } },
	{ "404", { .attempts = 2 }, { { ANSWERED(0, 404), 0 } },
	    .want = { 1, 0, 1, 0, REASON_NOT_RETRYABLE } },
	{ "an hour", { .attempts = 2 },
	    { { { .end = END_EXITED,
		    .http = { .known = true,
			.code = 503,
			.has_wait = true,
			.wait = NANOS_HOUR } },
		0 } },
	    .want = { 1, 0, 1, 0, REASON_RETRY_AFTER } },
	{ "--fail-on", { .attempts = 2, .lists = { .fail = "0" } },
	    { { EXITED(0), 0 } }, .want = { 2, 1, 1, 0, REASON_ATTEMPTS } },
	{ "--stop-on", { .attempts = 2, .lists = { .fail = "0", .stop = "0" } },
	    { { EXITED(0), 0 } }, .want = { 1, 0, 1, 0, REASON_STOP_RULE } },
	{ "once", { .attempts = 2, .lists = { .once = true } },
	    { { ANSWERED(0, 503), 0 } },
	    .want = { 1, 0, 1, 0, REASON_NOT_IDEMPOTENT } },
	{ "deadline",
	    { .attempts = 9, .deadline = 1, .lists = { .fail = "0" } },
	    { { EXITED(0), 0 } }, .want = { 1, 0, 1, 0, REASON_DEADLINE } },
	{ "interrupted", { .attempts = 2, .lists = { .fail = "0" } },
	    { { INTERRUPTED(END_EXITED, 0), 0 } },
	    .want = { 1, 0, 1, 0, REASON_INTERRUPTED } },
	{ "then with 7", { .attempts = 2, .lists = { .fail = "0" } },
	    { { EXITED(0), 0 }, { EXITED(7), 0 } }, .last = 1,
	    .want = { 2, 1, 7, 0, REASON_ATTEMPTS } },
	{ "then done", { .attempts = 2 },
	    { { ANSWERED(0, 503), 0 }, { ANSWERED(0, 200), 0 } }, .last = 1,
	    .want = { 2, 1, 0, 0, REASON_SUCCEEDED } },
};

#define THRICE(most) .attempts = (most), .consecutive = 3

/* Three successes in a row; the delays are 1s, 2s, 4s and so on. */
static const struct played repeating[] = {
	{ "at once", { THRICE(5) }, { { EXITED(0), 0 } },
	    .want = { 3, 2, 0, 0, REASON_SUCCEEDED } },
	{ "as many attempts", { THRICE(3) }, { { EXITED(0), 0 } },
	    .want = { 3, 2, 0, 0, REASON_SUCCEEDED } },
	{ "no limit", { THRICE(POLICY_UNLIMITED) }, { { EXITED(0), 0 } },
	    .want = { 3, 2, 0, 0, REASON_SUCCEEDED } },
	{ "after failures", { THRICE(9) },
	    { { EXITED(1), 0 }, { EXITED(1), 0 }, { EXITED(0), 0 } }, .last = 2,
	    .want = { 5, 1 + 2 + 2, 0, 0, REASON_SUCCEEDED } },
	{ "a failure starts the count again", { THRICE(9) },
	    { { EXITED(0), 0 }, { EXITED(0), 0 }, { EXITED(1), 0 },
		{ EXITED(0), 0 } },
	    .last = 3, .want = { 6, 5, 0, 0, REASON_SUCCEEDED } },
	{ "a success starts the backoff again", { THRICE(9) },
	    { { EXITED(1), 0 }, { EXITED(1), 0 }, { EXITED(0), 0 },
		{ EXITED(1), 0 }, { EXITED(1), 0 }, { EXITED(0), 0 } },
	    .last = 5,
	    .want = { 8, 1 + 2 + 1 + 1 + 2 + 2, 0, 0, REASON_SUCCEEDED } },
	{ "too few left", { THRICE(5) }, { { EXITED(7), 0 } },
	    .want = { 3, 3, 7, 0, REASON_ATTEMPTS } },
	{ "too few left, after a success", { THRICE(5) },
	    { { EXITED(0), 0 }, { EXITED(0), 0 }, { EXITED(7), 0 } }, .last = 2,
	    .want = { 3, 2, 7, 0, REASON_ATTEMPTS } },
	{ "only failures", { THRICE(3) }, { { EXITED(7), 0 } },
	    .want = { 1, 0, 7, 0, REASON_ATTEMPTS } },
	{ "stopped", { THRICE(9), .lists = { .stop = "7" } },
	    { { EXITED(0), 0 }, { EXITED(7), 0 } }, .last = 1,
	    .want = { 2, 1, 7, 0, REASON_STOP_RULE } },
	{ "named", { THRICE(9), .lists = { .success = "3" } },
	    { { EXITED(0), 0 }, { EXITED(3), 0 }, { EXITED(0), 0 } }, .last = 2,
	    .want = { 3, 2, 0, 0, REASON_SUCCEEDED } },
	{ "a deadline between", { THRICE(9), .deadline = 1.5 },
	    { { EXITED(0), 0 } }, .want = { 2, 1, 1, 0, REASON_DEADLINE } },
	{ "a deadline within", { THRICE(9), .deadline = 5 },
	    { { EXITED(0), 0 }, { CUT(SIGTERM), 4 } }, .last = 1,
	    .want = { 2, 5, 124, 0, REASON_DEADLINE } },
	{ "a deadline that the last one reaches",
	    { THRICE(9), .deadline = 2.5 },
	    { { EXITED(0), 0 }, { EXITED(0), 0 }, { EXITED(0), 9 } }, .last = 2,
	    .want = { 3, 11, 0, 0, REASON_SUCCEEDED } },
	{ "interrupted", { THRICE(9) },
	    { { EXITED(0), 0 }, { INTERRUPTED(END_EXITED, 0), 0 } }, .last = 1,
	    .want = { 2, 1, 1, SIGTERM, REASON_INTERRUPTED } },
	{ "interrupted in the last", { THRICE(9) },
	    { { EXITED(0), 0 }, { EXITED(0), 0 },
		{ INTERRUPTED(END_EXITED, 0), 0 } },
	    .last = 2, .want = { 3, 2, 0, 0, REASON_SUCCEEDED } },
	{ "not to be sent twice", { THRICE(9), .lists = { .once = true } },
	    { { ANSWERED(0, 200), 0 } },
	    .want = { 1, 0, 1, 0, REASON_NOT_IDEMPOTENT } },
	{ "without input", { THRICE(9) },
	    { { { .end = END_EXITED, .lost = REASON_INPUT_CONSUMED }, 0 } },
	    .want = { 1, 0, 1, 0, REASON_INPUT_CONSUMED } },
	{ "without input for another one", { .attempts = 9, .consecutive = 2 },
	    { { EXITED(0), 0 },
		{ { .end = END_EXITED, .lost = REASON_INPUT_CONSUMED }, 0 } },
	    .last = 1, .want = { 2, 1, 0, 0, REASON_SUCCEEDED } },
	{ "as the server asks", { THRICE(9) },
	    { { { .end = END_EXITED,
		    .http = { .known = true,
			.code = 200,
			.has_wait = true,
			.wait = SECONDS(7) } },
		0 } },
	    .want = { 3, 14, 0, 0, REASON_SUCCEEDED } },
};

/* The status tells the judgement, or with --keep-status how it ended. */
static const struct played told_or_kept[] = {
	{ "7 is a success", { .attempts = 2, .lists = { .success = "7" } },
	    { { EXITED(7), 0 } }, .want = { 1, 0, 0, 0, REASON_SUCCEEDED } },
	{ "kept: 7",
	    { .attempts = 2, .lists = { .success = "7" }, .keep = true },
	    { { EXITED(7), 0 } }, .want = { 1, 0, 7, 0, REASON_SUCCEEDED } },
	{ "TERM is", { .attempts = 2, .lists = { .success = "TERM" } },
	    { { KILLED(SIGTERM), 0 } },
	    .want = { 1, 0, 0, 0, REASON_SUCCEEDED } },
	{ "kept: TERM",
	    { .attempts = 2, .lists = { .success = "TERM" }, .keep = true },
	    { { KILLED(SIGTERM), 0 } },
	    .want = { 1, 0, 143, SIGTERM, REASON_SUCCEEDED } },
	{ "a timeout is", { .attempts = 2, .lists = { .success = "timeout" } },
	    { { TIMED_OUT(7), 0 } }, .want = { 1, 0, 0, 0, REASON_SUCCEEDED } },
	{ "kept: a timeout",
	    { .attempts = 2, .lists = { .success = "timeout" }, .keep = true },
	    { { TIMED_OUT(7), 0 } },
	    .want = { 1, 0, 124, 0, REASON_SUCCEEDED } },
	{ "404 is", { .attempts = 2, .lists = { .success = "http:404" } },
	    { { ANSWERED(22, 404), 0 } },
	    .want = { 1, 0, 0, 0, REASON_SUCCEEDED } },
	{ "kept: 0 fails",
	    { .attempts = 2, .lists = { .fail = "0" }, .keep = true },
	    { { EXITED(0), 0 } }, .want = { 2, 1, 0, 0, REASON_ATTEMPTS } },
	{ "kept: 503", { .attempts = 2, .keep = true },
	    { { ANSWERED(0, 503), 0 } },
	    .want = { 2, 1, 0, 0, REASON_ATTEMPTS } },
	{ "preserved", { .attempts = 2 },
	    { { PRESERVED(END_TIMED_OUT, 7), 0 } },
	    .want = { 2, 1, 7, 0, REASON_ATTEMPTS } },
	{ "preserved: TERM", { .attempts = 2 },
	    { { PRESERVED(END_TIMED_OUT, 143), 0 } },
	    .want = { 2, 1, 143, 0, REASON_ATTEMPTS } },
	{ "preserved: 0 fails", { .attempts = 2 },
	    { { PRESERVED(END_TIMED_OUT, 0), 0 } },
	    .want = { 2, 1, 1, 0, REASON_ATTEMPTS } },
	{ "preserved and kept: 0", { .attempts = 2, .keep = true },
	    { { PRESERVED(END_TIMED_OUT, 0), 0 } },
	    .want = { 2, 1, 0, 0, REASON_ATTEMPTS } },
	{ "preserved: the deadline", { .attempts = 2, .deadline = 9 },
	    { { PRESERVED(END_DEADLINE, 3), 9 } },
	    .want = { 1, 9, 3, 0, REASON_DEADLINE } },
	{ "preserved: a success",
	    { .attempts = 2, .lists = { .success = "timeout" } },
	    { { PRESERVED(END_TIMED_OUT, 3), 0 } },
	    .want = { 1, 0, 0, 0, REASON_SUCCEEDED } },
	{ "preserved: a list has the timeout",
	    { .attempts = 2, .lists = { .retry = "124", .stop = "7,143" } },
	    { { PRESERVED(END_TIMED_OUT, 7), 0 } },
	    .want = { 2, 1, 7, 0, REASON_ATTEMPTS } },
	{ "kept: too few successes",
	    { THRICE(9), .deadline = 1.5, .keep = true }, { { EXITED(0), 0 } },
	    .want = { 2, 1, 1, 0, REASON_DEADLINE } },
	{ "kept: too much to hold", { .attempts = 2, .keep = true },
	    { { OVERRUN(END_EXITED, 0), 0 } },
	    .want = { 1, 0, 125, 0, REASON_INTERNAL } },
};

/* Limits of retries after some failures; the backoff is 1s, 2s, 4s... */
static const struct played limited[] = {
	{ "0", { .attempts = 9, .limit = { { 0, "7" } } }, { { EXITED(7), 0 } },
	    .want = { 1, 0, 7, 0, REASON_LIMIT } },
	{ "2", { .attempts = 9, .limit = { { 2, "7" } } }, { { EXITED(7), 0 } },
	    .want = { 3, 3, 7, 0, REASON_LIMIT } },
	{ "another", { .attempts = 3, .limit = { { 0, "7" } } },
	    { { EXITED(8), 0 } }, .want = { 3, 3, 8, 0, REASON_ATTEMPTS } },
	{ "another between", { .attempts = 9, .limit = { { 1, "7" } } },
	    { { EXITED(7), 0 }, { EXITED(8), 0 }, { EXITED(7), 0 } }, .last = 2,
	    .want = { 3, 3, 7, 0, REASON_LIMIT } },
	{ "attempts first", { .attempts = 3, .limit = { { 2, "7" } } },
	    { { EXITED(7), 0 } }, .want = { 3, 3, 7, 0, REASON_ATTEMPTS } },
	{ "two", { .attempts = 9, .limit = { { 5, "7" }, { 1, "fail" } } },
	    { { EXITED(7), 0 } }, .want = { 2, 1, 7, 0, REASON_LIMIT } },
	{ "each has its own count",
	    { .attempts = 9, .limit = { { 1, "7" }, { 2, "7,8" } } },
	    { { EXITED(8), 0 }, { EXITED(7), 0 }, { EXITED(8), 0 } }, .last = 2,
	    .want = { 3, 3, 8, 0, REASON_LIMIT } },
	{ "a timeout", { .attempts = 9, .limit = { { 1, "timeout" } } },
	    { { TIMED_OUT(0), 2 } }, .want = { 2, 5, 124, 0, REASON_LIMIT } },
	{ "stopped",
	    { .attempts = 9,
		.limit = { { 0, "7" } },
		.lists = { .stop = "7" } },
	    { { EXITED(7), 0 } }, .want = { 1, 0, 7, 0, REASON_STOP_RULE } },
	{ "before too long a wait", { .attempts = 9, .limit = { { 0, "22" } } },
	    { { ASKED(503, 9000), 0 } },
	    .want = { 1, 0, 22, 0, REASON_LIMIT } },
	{ "before the deadline",
	    { .attempts = 9, .deadline = 1, .limit = { { 0, "7" } } },
	    { { EXITED(7), 0 } }, .want = { 1, 0, 7, 0, REASON_LIMIT } },
	{ "a success", { .attempts = 9, .limit = { { 1, "7" } } },
	    { { EXITED(7), 0 }, { EXITED(0), 0 } }, .last = 1,
	    .want = { 2, 1, 0, 0, REASON_SUCCEEDED } },
	{ "0, judged a failure",
	    { .attempts = 9,
		.limit = { { 1, "0" } },
		.lists = { .fail = "0" } },
	    { { EXITED(0), 0 } }, .want = { 2, 1, 1, 0, REASON_LIMIT } },
	{ "a success among several", { THRICE(9), .limit = { { 1, "7" } } },
	    { { EXITED(0), 0 }, { EXITED(7), 0 }, { EXITED(0), 0 },
		{ EXITED(0), 0 }, { EXITED(7), 0 } },
	    .last = 4, .want = { 5, 4, 7, 0, REASON_LIMIT } },
	{ "a success that it names", { THRICE(9), .limit = { { 0, "0" } } },
	    { { EXITED(0), 0 } }, .want = { 3, 2, 0, 0, REASON_SUCCEEDED } },
	{ "a success that it names, and a failure",
	    { THRICE(9), .limit = { { 1, "0,7" } } },
	    { { EXITED(0), 0 }, { EXITED(7), 0 }, { EXITED(0), 0 } }, .last = 2,
	    .want = { 5, 4, 0, 0, REASON_SUCCEEDED } },
	{ "too few left first", { THRICE(3), .limit = { { 0, "7" } } },
	    { { EXITED(7), 0 } }, .want = { 1, 0, 7, 0, REASON_ATTEMPTS } },
};

/* The policy of a row. */
static struct policy
asked(const struct played *row, struct limit limits[2])
{
	struct policy policy = policy_of(row->policy.attempts);

	if (row->policy.consecutive > 0)
		policy.consecutive = row->policy.consecutive;
	while (policy.limits < 2 &&
	    row->policy.limit[policy.limits].list != NULL) {
		struct limit *limit = &limits[policy.limits];

		limit->retries = row->policy.limit[policy.limits].retries;
		limit->failures =
		    codes_of(row->policy.limit[policy.limits].list, NULL);
		policy.limit[policy.limits++] = limit;
	}
	policy.deadline = SECONDS(row->policy.deadline);
	policy.reset_after = SECONDS(row->policy.reset_after);
	policy.rules = rules_of(&row->policy.lists, NULL);
	policy.keep_status = row->policy.keep;
	if (row->policy.max_retry_after > 0)
		policy.max_retry_after = SECONDS(row->policy.max_retry_after);
	return policy;
}

/* Plays an invocation as the main loop would, with a clock of its own. */
static void
check_played(const struct played *row)
{
	struct limit limits[2];
	struct policy policy = asked(row, limits);
	struct history history = plan_start(&policy, BEGAN, NANOS_MAX, 1);
	nanos now = BEGAN;
	struct step step = plan_first(&policy, &history, now);

	for (int i = 0; step.again && i < 100; i++) {
		int at = i < row->last ? i : row->last;
		struct outcome outcome = row->attempts[at].outcome;

		EQUAL(row->row, step.at, now + step.delay);
		EQUAL(row->row, step.reason, REASON_NONE);
		EQUAL(row->row, step.attempt, i);
		now = step.at;
		step = plan_wake(&history, &step, now);
		EQUAL(row->row, history.made, i);
		plan_begin(&history);
		EQUAL(row->row, history.made, i + 1);
		outcome.elapsed = SECONDS(row->attempts[at].took);
		outcome.once = row->policy.lists.once;
		outcome.several = row->policy.lists.several;
		now += outcome.elapsed;
		step = plan_next(&policy, &history, &outcome, now);
	}
	HOLDS(row->row, !step.again);
	EQUAL(row->row, history.made, row->want.made);
	EQUAL(row->row, step.attempt, row->want.made);
	EQUAL(row->row, now - BEGAN, SECONDS(row->want.ended));
	EQUAL(row->row, step.status, row->want.status);
	EQUAL(row->row, step.signal, row->want.signal);
	EQUAL(row->row, step.reason, row->want.reason);
}

static void
test_plans(void)
{
	for (size_t i = 0; i < LENGTH(succeeding); i++)
		check_played(&succeeding[i]);
	for (size_t i = 0; i < LENGTH(exhausted); i++)
		check_played(&exhausted[i]);
	for (size_t i = 0; i < LENGTH(stopping); i++)
		check_played(&stopping[i]);
	for (size_t i = 0; i < LENGTH(in_time); i++)
		check_played(&in_time[i]);
	for (size_t i = 0; i < LENGTH(resetting); i++)
		check_played(&resetting[i]);
	for (size_t i = 0; i < LENGTH(waits_named); i++)
		check_played(&waits_named[i]);
	for (size_t i = 0; i < LENGTH(exiting_with_0); i++)
		check_played(&exiting_with_0[i]);
	for (size_t i = 0; i < LENGTH(repeating); i++)
		check_played(&repeating[i]);
	for (size_t i = 0; i < LENGTH(limited); i++)
		check_played(&limited[i]);
	for (size_t i = 0; i < LENGTH(told_or_kept); i++)
		check_played(&told_or_kept[i]);
}

/* The delay after one attempt; -1 if there is none. */
static nanos
delay_after(const struct policy *policy, struct outcome outcome, uint64_t seed)
{
	struct history history = plan_start(policy, BEGAN, NANOS_MAX, seed);
	struct step step = plan_first(policy, &history, BEGAN);

	plan_begin(&history);
	step = plan_next(policy, &history, &outcome, BEGAN);
	return step.again ? step.delay : -1;
}

/* Never earlier than the server asked for; the jitter comes on top. */
static void
test_jitter_goes_upward_from_a_named_wait(void)
{
	static const struct {
		const char *row;
		double wait, deadline, low, high;
	} rows[] = {
		{ "base", 5, 0, 5, 6 },
		{ "a tenth", 60, 0, 60, 66 },
		{ "a deadline far off", 60, 100, 60, 66 },
		{ "a deadline near", 60, 63, 60, 63 },
		{ "a deadline at once", 60, 60.000001, 60, 60.000001 },
	};

	for (int jitter = JITTER_FULL; jitter < JITTER_NONE; jitter++)
		for (size_t i = 0; i < LENGTH(rows); i++) {
			struct policy policy = policy_of(4);
			nanos low = SECONDS(rows[i].low), least = NANOS_MAX;
			nanos high = SECONDS(rows[i].high), most = 0;

			policy.backoff.jitter = (enum jitter)jitter;
			policy.deadline = SECONDS(rows[i].deadline);
			for (uint64_t seed = 0; seed < 1000; seed++) {
				struct outcome asked_for =
				    ASKED(503, rows[i].wait);
				nanos delay =
				    delay_after(&policy, asked_for, seed);

				least = delay < least ? delay : least;
				most = delay > most ? delay : most;
			}
			HOLDS(rows[i].row, least >= low);
			HOLDS(rows[i].row, least <= low + (high - low) / 20);
			HOLDS(rows[i].row, most <= high);
			HOLDS(rows[i].row, most >= high - (high - low) / 20);
			if (policy.deadline > 0)
				HOLDS(rows[i].row, most < policy.deadline);
		}
}

/* RFC 6585: after a 429 at least the base delay. */
static void
test_the_least_delay_after_429(void)
{
	struct outcome many = ANSWERED(22, 429), down = ANSWERED(22, 503);
	struct policy policy = policy_of(4);
	int below = 0;

	policy.backoff.jitter = JITTER_FULL;
	for (uint64_t seed = 0; seed < 1000; seed++) {
		EQUAL("429", delay_after(&policy, many, seed), SECONDS(1));
		below += delay_after(&policy, down, seed) < SECONDS(1);
	}
	HOLDS("503", below > 900);
	/* -d 0,2s: the first retry is at once, but not after a 429. */
	policy.backoff.delays[0] = 0;
	policy.backoff.delays[1] = SECONDS(2);
	policy.backoff.count = 2;
	policy.backoff.jitter = JITTER_NONE;
	EQUAL("429", delay_after(&policy, many, 1), SECONDS(2));
	EQUAL("503", delay_after(&policy, down, 1), 0);
	policy.deadline = SECONDS(2);
	EQUAL("429, no time", delay_after(&policy, many, 1), -1);
	/* -d 0: there is no base. */
	policy = policy_of(4);
	policy.backoff.delays[0] = 0;
	EQUAL("-d 0", delay_after(&policy, many, 1), 0);
}

static void
test_the_lesser_deadline_counts(void)
{
	static const struct {
		const char *row;
		nanos own, inherited, want;
	} rows[] = {
		{ "none", 0, NANOS_MAX, NANOS_MAX },
		{ "own", 50, NANOS_MAX, BEGAN + 50 },
		{ "inherited", 0, BEGAN + 30, BEGAN + 30 },
		{ "own is less", 50, BEGAN + 51, BEGAN + 50 },
		{ "inherited is less", 50, BEGAN + 49, BEGAN + 49 },
		{ "both", 50, BEGAN + 50, BEGAN + 50 },
		{ "long past", 50, 7, 7 },
		{ "for ever", NANOS_MAX, NANOS_MAX, NANOS_MAX },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct policy policy = policy_of(4);
		struct history history;

		policy.deadline = rows[i].own;
		history = plan_start(&policy, BEGAN, rows[i].inherited, 1);
		EQUAL(rows[i].row, history.deadline, rows[i].want);
		EQUAL(rows[i].row, history.began, BEGAN);
		EQUAL(rows[i].row, history.made, 0);
	}
}

/* An end before anything ran. */
static void
check_nothing_ran(
    const char *row, const struct history *history, const struct step *step)
{
	HOLDS(row, !step->again);
	EQUAL(row, step->status, 124);
	EQUAL(row, step->signal, 0);
	EQUAL(row, step->reason, REASON_DEADLINE);
	EQUAL(row, step->attempt, 0);
	EQUAL(row, history->made, 0);
}

static void
test_a_deadline_before_the_first_attempt(void)
{
	struct policy policy = policy_of(4);
	struct history history = plan_start(&policy, BEGAN, BEGAN + 10, 1);
	struct step step = plan_first(&policy, &history, BEGAN + 9);

	HOLDS("1 ns left", step.again);
	EQUAL("1 ns left", step.at, BEGAN + 9);
	step = plan_first(&policy, &history, BEGAN + 10);
	check_nothing_ran("at it", &history, &step);
	step = plan_first(&policy, &history, BEGAN + 11);
	check_nothing_ran("past it", &history, &step);
	/* The splay fitted when it began; then the machine slept. */
	policy.splay = 4;
	step = plan_first(&policy, &history, BEGAN);
	HOLDS("slept", step.again);
	step = plan_wake(&history, &step, BEGAN + 10);
	check_nothing_ran("slept", &history, &step);
}

static void
test_a_delay_that_overran_the_deadline(void)
{
	static const struct {
		const char *row;
		struct outcome outcome;
		int status, signal;
		enum reason reason;
	} rows[] = {
		{ "exit 7", EXITED(7), 7, 0, REASON_DEADLINE },
		{ "SEGV", KILLED(SIGSEGV), 139, SIGSEGV, REASON_DEADLINE },
		{ "timed out", TIMED_OUT(0), 124, 0, REASON_DEADLINE },
		{ "no fork", NO_FORK(EAGAIN), 125, 0, REASON_INTERNAL },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct policy policy = policy_of(4);
		struct history history =
		    plan_start(&policy, BEGAN, BEGAN + SECONDS(10), 1);
		struct step step = plan_first(&policy, &history, BEGAN);
		struct step late;

		plan_begin(&history);
		step = plan_next(&policy, &history, &rows[i].outcome, BEGAN);
		HOLDS(rows[i].row, step.again);
		late = plan_wake(&history, &step, BEGAN + SECONDS(10));
		HOLDS(rows[i].row, !late.again);
		EQUAL(rows[i].row, late.status, rows[i].status);
		EQUAL(rows[i].row, late.signal, rows[i].signal);
		EQUAL(rows[i].row, late.reason, rows[i].reason);
		EQUAL(rows[i].row, history.made, 1);
		late = plan_wake(&history, &step, BEGAN + SECONDS(10) - 1);
		HOLDS(rows[i].row, late.again);
		EQUAL(rows[i].row, late.at, step.at);
	}
}

static void
test_splays_take_half_the_time_at_most(void)
{
	static const struct {
		const char *row;
		nanos splay, deadline, most;
	} rows[] = {
		{ "none", 0, 0, 0 },
		{ "none, deadline", 0, 4000, 0 },
		{ "no deadline", 10000, 0, 10000 },
		{ "all of it", 1000, 4000, 1000 },
		{ "just half", 2000, 4000, 2000 },
		{ "half", 10000, 4000, 2000 },
		{ "for ever", NANOS_MAX, 4000, 2000 },
		{ "half of 1 ns", 10000, 1, 0 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct policy policy = policy_of(4);
		nanos least = NANOS_MAX, greatest = 0;

		policy.splay = rows[i].splay;
		policy.deadline = rows[i].deadline;
		for (uint64_t seed = 0; seed < DRAWS; seed++) {
			struct history history =
			    plan_start(&policy, BEGAN, NANOS_MAX, seed);
			nanos wait =
			    plan_first(&policy, &history, BEGAN).at - BEGAN;

			least = wait < least ? wait : least;
			greatest = wait > greatest ? wait : greatest;
		}
		HOLDS(rows[i].row, least >= 0 && least <= rows[i].most / 10);
		HOLDS(rows[i].row, greatest <= rows[i].most);
		HOLDS(rows[i].row, greatest >= rows[i].most * 9 / 10);
	}
}

/* With any jitter, an attempt begins before the deadline or not at all. */
static void
test_every_attempt_begins_before_the_deadline(void)
{
	for (int jitter = JITTER_FULL; jitter <= JITTER_NONE; jitter++)
		for (uint64_t seed = 0; seed < 200; seed++) {
			struct policy policy = policy_of(POLICY_UNLIMITED);
			struct outcome outcome = EXITED(7);
			struct history history;
			struct step step;
			int late = 0;

			policy.deadline = SECONDS(20);
			policy.backoff.jitter = (enum jitter)jitter;
			history = plan_start(&policy, BEGAN, NANOS_MAX, seed);
			step = plan_first(&policy, &history, BEGAN);
			for (int i = 0; step.again && i < 10000; i++) {
				nanos now = step.at;

				late += now >= BEGAN + SECONDS(20);
				plan_begin(&history);
				step = plan_next(&policy, &history, &outcome,
				    now + NANOS_MS);
			}
			EQUAL("late", late, 0);
			EQUAL("ends", step.reason, REASON_DEADLINE);
		}
}

/* What the budget answers when it says no. */
static struct admission
denial(enum admission_answer answer, nanos next)
{
	return (struct admission){ .answer = answer, .next = next };
}

/* Without --budget-wait retry does not wait. */
static void
test_denials_end_it_at_once(void)
{
	static const struct {
		const char *row;
		bool first; /* attempt */
		enum admission_answer denied;
		struct outcome last;
		int status, signal;
		enum reason reason;
	} rows[] = {
		{ "first", true, ADMISSION_HELD, EXITED(0), 75, 0,
		    REASON_BREAKER },
		{ "retry held", false, ADMISSION_HELD, EXITED(7), 7, 0,
		    REASON_BREAKER },
		{ "exhausted", false, ADMISSION_DENIED, EXITED(7), 7, 0,
		    REASON_BUDGET },
		{ "exhausted, SEGV", false, ADMISSION_DENIED, KILLED(SIGSEGV),
		    139, SIGSEGV, REASON_BUDGET },
		{ "exhausted, timed out", false, ADMISSION_DENIED, TIMED_OUT(0),
		    124, 0, REASON_BUDGET },
		{ "exhausted, no fork", false, ADMISSION_DENIED,
		    NO_FORK(EAGAIN), 125, 0, REASON_INTERNAL },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct policy policy = policy_of(4);
		struct history history =
		    plan_start(&policy, BEGAN, NANOS_MAX, 1);
		struct admission denied = denial(rows[i].denied, SECONDS(7));
		struct step step;

		if (!rows[i].first) {
			plan_begin(&history);
			plan_next(&policy, &history, &rows[i].last, BEGAN);
		}
		step = plan_denied(&policy, &history, &denied, BEGAN);
		HOLDS(rows[i].row, !step.again);
		EQUAL(rows[i].row, step.status, rows[i].status);
		EQUAL(rows[i].row, step.signal, rows[i].signal);
		EQUAL(rows[i].row, step.reason, rows[i].reason);
		EQUAL(rows[i].row, step.attempt, 0);
		EQUAL(rows[i].row, history.made, !rows[i].first);
	}
}

/* Asks until it ends; returns the last step, *asked: how often, *now: when. */
static struct step
play_denials(const struct policy *policy, struct history *history,
    const struct admission *denied, nanos *now, int *asked)
{
	struct step step = { .again = true };

	for (*asked = 0; step.again && *asked < 100000; ++*asked) {
		step = plan_denied(policy, history, denied, *now);
		if (!step.again)
			break;
		EQUAL("at", step.at, *now + step.delay);
		EQUAL("attempt", step.attempt, 0);
		*now = step.at;
		step = plan_wake(history, &step, *now);
	}
	return step;
}

static void
test_waits_for_admission_end(void)
{
	static const struct {
		const char *row;
		double wait, deadline, next;
		enum admission_answer denied;
		enum reason reason;
		double ends; /* at the latest, and a second before at most */
		int status;
	} rows[] = {
		{ "wait", 30, 0, 8, ADMISSION_DENIED, REASON_BUDGET, 30, 7 },
		{ "wait, probe", 30, 0, 8, ADMISSION_HELD, REASON_BREAKER, 30,
		    7 },
		{ "due now", 3, 0, 0, ADMISSION_DENIED, REASON_BUDGET, 3, 7 },
		{ "deadline", 30, 10, 8, ADMISSION_DENIED, REASON_DEADLINE, 10,
		    7 },
		{ "until the deadline", 1e9, 10, 8, ADMISSION_HELD,
		    REASON_DEADLINE, 10, 7 },
		{ "wait before deadline", 9, 10, 8, ADMISSION_DENIED,
		    REASON_BUDGET, 9, 7 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct policy policy = policy_of(4);
		struct outcome failed = EXITED(7);
		struct admission denied =
		    denial(rows[i].denied, SECONDS(rows[i].next));
		struct history history;
		struct step step;
		nanos now = BEGAN;
		int asked;

		policy.deadline = SECONDS(rows[i].deadline);
		policy.budget.wait = SECONDS(rows[i].wait);
		history = plan_start(&policy, BEGAN, NANOS_MAX, i);
		plan_begin(&history);
		plan_next(&policy, &history, &failed, BEGAN);
		step = play_denials(&policy, &history, &denied, &now, &asked);
		HOLDS(rows[i].row, !step.again);
		EQUAL(rows[i].row, step.reason, rows[i].reason);
		EQUAL(rows[i].row, step.status, rows[i].status);
		HOLDS(rows[i].row, now <= BEGAN + SECONDS(rows[i].ends));
		HOLDS(rows[i].row, now > BEGAN + SECONDS(rows[i].ends - 1));
		/* About once a second; near the end a few times more. */
		HOLDS(rows[i].row,
		    asked < 20 + (rows[i].next > 0 ? 2 : 60) * rows[i].ends);
		EQUAL(rows[i].row, history.made, 1);
		/* The next wait is as long again. */
		plan_begin(&history);
		EQUAL(rows[i].row, history.waits_until, 0);
	}
}

/* The deadline finds a first attempt that the breaker held: EX_TEMPFAIL. */
static void
test_a_deadline_at_a_breaker(void)
{
	struct policy policy = policy_of(4);
	struct admission held = denial(ADMISSION_HELD, SECONDS(7));
	struct history history;
	struct step step;
	nanos now = BEGAN;
	int asked;

	policy.budget.wait = NANOS_MAX;
	policy.deadline = SECONDS(5);
	history = plan_start(&policy, BEGAN, NANOS_MAX, 1);
	step = play_denials(&policy, &history, &held, &now, &asked);
	EQUAL("held", step.reason, REASON_DEADLINE);
	EQUAL("held", step.status, 75);
	EQUAL("held", history.made, 0);
	/* The machine slept meanwhile. */
	history = plan_start(&policy, BEGAN, NANOS_MAX, 1);
	step = plan_denied(&policy, &history, &held, BEGAN);
	step = plan_wake(&history, &step, BEGAN + SECONDS(6));
	EQUAL("slept", step.reason, REASON_DEADLINE);
	EQUAL("slept", step.status, 75);
	/*
	 * Admitted in the end, but past the deadline: the breaker is not the
	 * reason.
	 */
	plan_begin(&history);
	EQUAL("admitted", history.admission.answer, ADMISSION_GRANTED);
}

/* Invocations that wait for the same budget must not ask at the same time. */
static void
test_waits_for_admission_are_jittered(void)
{
	static const struct {
		const char *row;
		enum breaker_state state;
		double wait, next, nap; /* seconds */
	} rows[] = {
		{ "open", BREAKER_OPEN, 30, 0.4, 0.4 },
		{ "open, soon", BREAKER_OPEN, 30, 0.001, 0.02 },
		{ "open, long", BREAKER_OPEN, 30, 7, 1 },
		/* Not each time that the breaker lets one in. */
		{ "recovering", BREAKER_RECOVERING, 30, 0.01, 0.5 },
		{ "recovering, long", BREAKER_RECOVERING, 30, 7, 1 },
		{ "recovering, a short wait", BREAKER_RECOVERING, 1, 0.01,
		    0.25 },
		{ "recovering, no time", BREAKER_RECOVERING, 0.05, 0.001,
		    0.02 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		nanos least = NANOS_MAX, most = 0, nap = SECONDS(rows[i].nap);

		for (uint64_t seed = 0; seed < 1000; seed++) {
			struct policy policy = policy_of(4);
			struct admission held =
			    denial(ADMISSION_HELD, SECONDS(rows[i].next));
			struct history history;
			struct step step;

			held.breaker.state = rows[i].state;
			policy.budget.wait = SECONDS(rows[i].wait);
			history = plan_start(&policy, BEGAN, NANOS_MAX, seed);
			step = plan_denied(&policy, &history, &held, BEGAN);
			least = step.delay < least ? step.delay : least;
			most = step.delay > most ? step.delay : most;
		}
		HOLDS(rows[i].row, least >= nap / 2 && least < nap / 9 * 5);
		HOLDS(
		    rows[i].row, most <= nap + nap / 2 && most > nap / 9 * 13);
	}
}

/* Near NANOS_MAX nothing wraps either. */
static void
test_plans_saturate(void)
{
	struct policy policy = policy_of(POLICY_UNLIMITED);
	struct history history =
	    plan_start(&policy, NANOS_MAX - 10, NANOS_MAX, 1);
	struct outcome outcome = EXITED(7);
	struct step step;

	history.made = 1000000000000;
	history.schedule.n = 1000000000000;
	step = plan_next(&policy, &history, &outcome, NANOS_MAX - 10);
	HOLDS("no cap", step.again);
	EQUAL("no cap", step.delay, SECONDS(30));
	EQUAL("no cap", step.at, NANOS_MAX);
	EQUAL("no cap", step.attempt, 1000000000000);
}

/* Outcomes, and what each says about the dependency. */
static const struct {
	const char *row;
	enum reason reason;
	struct outcome outcome;
	enum attempt_result result;
} results[] = {
	{ "success", REASON_SUCCEEDED, EXITED(0), RESULT_SUCCESS },
	{ "success, interrupted", REASON_SUCCEEDED,
	    { .end = END_EXITED, .interrupted = SIGTERM }, RESULT_SUCCESS },
	{ "a retry", REASON_NONE, EXITED(1), RESULT_FAILURE },
	{ "a retry, SEGV", REASON_NONE, KILLED(SIGSEGV), RESULT_FAILURE },
	{ "a retry, INT", REASON_NONE, KILLED(SIGINT), RESULT_FAILURE },
	{ "timed out", REASON_NONE, TIMED_OUT(0), RESULT_FAILURE },
	{ "idle", REASON_NONE, IDLE(0), RESULT_FAILURE },
	{ "attempts", REASON_ATTEMPTS, EXITED(1), RESULT_FAILURE },
	{ "a limit", REASON_LIMIT, EXITED(1), RESULT_FAILURE },
	{ "no time left", REASON_DEADLINE, EXITED(1), RESULT_FAILURE },
	{ "too long a Retry-After", REASON_RETRY_AFTER, EXITED(1),
	    RESULT_FAILURE },
	{ "sent once", REASON_NOT_IDEMPOTENT, EXITED(1), RESULT_FAILURE },
	{ "read once", REASON_INPUT_CONSUMED, EXITED(1), RESULT_FAILURE },
	{ "stopped", REASON_STOP_RULE, EXITED(64), RESULT_HEALTHY },
	{ "not retryable", REASON_NOT_RETRYABLE, EXITED(22), RESULT_HEALTHY },
	{ "not retryable, SEGV", REASON_NOT_RETRYABLE, KILLED(SIGSEGV),
	    RESULT_HEALTHY },
	{ "a keyboard", REASON_NOT_RETRYABLE, KILLED(SIGINT), RESULT_IGNORED },
	{ "a reader", REASON_NOT_RETRYABLE, KILLED(SIGPIPE), RESULT_IGNORED },
	{ "the deadline", REASON_DEADLINE, { .end = END_DEADLINE },
	    RESULT_IGNORED },
	{ "not found", REASON_NOT_EXECUTABLE,
	    { .end = END_NOT_STARTED, .forked = true }, RESULT_IGNORED },
	{ "no fork", REASON_ATTEMPTS, { .end = END_NOT_STARTED },
	    RESULT_IGNORED },
	{ "interrupted", REASON_INTERRUPTED,
	    { .end = END_EXITED, .code = 1, .interrupted = SIGTERM },
	    RESULT_IGNORED },
	{ "interrupted, stopped", REASON_STOP_RULE,
	    { .end = END_EXITED, .code = 1, .interrupted = SIGTERM },
	    RESULT_IGNORED },
};

static void
test_results_for_the_breaker(void)
{
	for (size_t i = 0; i < LENGTH(results); i++) {
		enum reason reason = results[i].reason;
		struct judgement judgement = {
			.verdict = reason == REASON_SUCCEEDED ? VERDICT_DONE
							      : VERDICT_STOP,
			.reason = reason
		};

		EQUAL(results[i].row,
		    verdict_result(&judgement, &results[i].outcome),
		    results[i].result);
	}
	EQUAL("one of several successes",
	    verdict_result(&(struct judgement){ .verdict = VERDICT_REPEAT },
		&results[0].outcome),
	    RESULT_SUCCESS);
}

static void (*const tests[])(void) = {
	test_verdicts,
	test_verdicts_by_all_rules,
	test_which_rule_decided,
	test_verdicts_of_every_http_status,
	test_verdicts_of_every_status,
	test_verdicts_of_every_signal,
	test_statuses_of_limits_and_failed_starts,
	test_reasons,
	test_results_for_the_breaker,
	test_plans,
	test_jitter_goes_upward_from_a_named_wait,
	test_the_least_delay_after_429,
	test_the_lesser_deadline_counts,
	test_a_deadline_before_the_first_attempt,
	test_a_delay_that_overran_the_deadline,
	test_splays_take_half_the_time_at_most,
	test_every_attempt_begins_before_the_deadline,
	test_denials_end_it_at_once,
	test_waits_for_admission_end,
	test_a_deadline_at_a_breaker,
	test_waits_for_admission_are_jittered,
	test_plans_saturate,
};

UNIT(tests);
