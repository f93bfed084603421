/*
 * Covers policy/verdict, policy/known_wait.
 *
 * verdict and plan, row by row: from outcomes and instants to what happens
 * next. Nothing forks, nothing waits.
 */
#include <errno.h>
#include <signal.h>
#include "unit.h"
#include "script.h"
#include "text/number.h"
#include "text/signame.h"
#include "policy/plan.h"
#include "policy/policy.h"
#include "policy/verdict.h"

/* Instants are counted from the boot, not from the start of retry. */
#define BEGAN SECONDS(1000)

/* Rows: "OPTIONS | OUTCOME, OUTCOME -> WHAT FOLLOWS" */

/* Of the outcome that was read last. */
static struct request request;
static bool paced; /* the budget knew of a limit */

/* What follows from the outcome of an attempt. */
static struct step next_step(const struct policy *policy, struct history *history,
    const struct outcome *outcome, nanos now) {
	history->request = request;
	history->paced = paced;
	plan_judge(policy, history, outcome);
	return plan_next(policy, history, now);
}

/* Reads the options of a row, and the "|" behind them. */
static struct policy read_options(struct script *script) {
	struct policy policy = script_policy(script);

	if (strchr(script->row, '|') != NULL)
		script_next(script);
	return policy;
}

static int errno_of(struct script *script) {
	static const struct {
		char name[8];
		int error;
	} errors[] = { { "EAGAIN", EAGAIN }, { "ENOENT", ENOENT }, { "EACCES", EACCES },
		{ "ETXTBSY", ETXTBSY } };

	script_next(script);
	return errors[SCRIPT_NAME(script, errors)].error;
}

/*
 * An outcome, up to a comma, "->", the end, or what follows the attempt ("x7", "late", "denied",
 * "held", "throttled", "paced" or "crowded", see plans): how it ended, with a status that is only
 * seen behind a limit of time ("timeout 7"); what else is known, such as "http 503" and "ran 4.9s".
 * Unsaid: exit status 22, as of curl --fail.
 */
static struct outcome read_outcome(struct script *script, const struct watches *watches) {
	static const char ends[][16] = {
		[END_EXITED] = "exit",
		[END_SIGNALED] = "killed",
		[END_TIMED_OUT] = "timeout",
		[END_IDLE] = "idle",
		[END_DEADLINE] = "deadline",
	};
	static const struct script_field fields[] = {
#define FIELD(name, field, type) { name, offsetof(struct outcome, field), SCRIPT_##type }
		FIELD("preserved", preserved, BOOL), FIELD("overrun", overrun, BOOL),
		FIELD("again", again, BOOL), FIELD("never", http.after.never, BOOL),
		FIELD("wanted", http.after.wanted, BOOL), FIELD("ran", duration, SPAN),
		FIELD("took", elapsed, SPAN)
	};
	struct outcome outcome = { .end = END_EXITED, .code = 22 };

	request = (struct request){ .method = NULL };
	paced = false;
	while (script_next(script) && !script_is(script, "->") && !script_is(script, ",") &&
	    script->word[0] != 'x' && !script_is(script, "late") && !script_is(script, "denied") &&
	    !script_is(script, "held") && !script_is(script, "throttled") &&
	    !script_is(script, "paced") && !script_is(script, "crowded"))
		if (script_read(script, fields, LENGTH(fields), &outcome))
			continue;
		else if (script_is(script, "killed")) {
			script_next(script);
			outcome.end = END_SIGNALED;
			outcome.code = signame_number(script->word, strlen(script->word));
		} else if (script_is(script, "no-fork") || script_is(script, "no-exec")) {
			outcome.end = END_NOT_STARTED;
			outcome.code = 0;
			outcome.lacking = script_is(script, "no-fork") ? "cannot fork" : NULL;
			outcome.error = errno_of(script);
		} else if (script_is(script, "once"))
			request.method = "POST";
		else if (script_is(script, "curl"))
			request.curl = true;
		else if (script_is(script, "keyed"))
			request.keyed = true;
		else if (script_is(script, "limits"))
			paced = true;
		else if (script_is(script, "several"))
			request.several = true;
		else if (script_is(script, "interrupted"))
			outcome.interrupted = SIGTERM;
		else if (script_is(script, "lost")) {
			script_next(script);
			outcome.lost = (enum reason)script_name(script, verdict_reasons,
			    sizeof verdict_reasons[0], REASON_RATE + 1);
		} else if (script_is(script, "http") || script_is(script, "unknown-http")) {
			bool known = script_is(script, "http");
			int code = (int)script_number(script);

			outcome.http.code = known ? code : -1;
		} else if (script_is(script, "wait") || script_is(script, "unset-wait")) {
			outcome.http.after.given = script_is(script, "wait");
			outcome.http.after.wait = script_span(script);
		} else if (script_is(script, "hint")) {
			outcome.has_hint = true;
			outcome.hint = script_span(script);
		} else if (script_is(script, "seen")) {
			int i = 0;

			script_next(script);
			while (i < watches->count && !script_is(script, watches->list[i].text)) i++;
			if (i == watches->count)
				script_refuse(script);
			outcome.seen |= UINT64_C(1) << i;
		} else if (strspn(script->word, "0123456789") > 0)
			outcome.code = atoi(script->word);
		else {
			outcome.end = (enum end)SCRIPT_NAME(script, ends);
			outcome.code = 0;
		}
	return outcome;
}

/* What an outcome means, or each of several, and by which rule. */
static const char *verdict_by(const char *row) {
	static char room[64], other[64];
	struct script script = script_of(row);
	struct policy policy = read_options(&script);

	room[0] = '\0';
	do {
		struct outcome outcome = read_outcome(&script, &policy.watches);
		struct judgement judgement = verdict_of(&policy.rules, &request, &outcome);
		enum reason reason = judgement.reason;

		EQUAL(row, judgement.verdict,
		    reason == REASON_NONE            ? VERDICT_RETRY
			: reason == REASON_SUCCEEDED ? VERDICT_DONE
						     : VERDICT_STOP);
		snprintf(other, sizeof other, "%s by %s",
		    reason == REASON_NONE ? verdict_names[VERDICT_RETRY]
					  : verdict_reasons[reason].name,
		    judgement.rule);
		if (room[0] != '\0')
			SAME(row, other, room);
		strcpy(room, other);
	} while (script_is(&script, ","));
	return room;
}

TEST(verdicts) {
	static const char *const rows[][10] = {
		{ "succeeded by exit-status", "exit 0" },
		{ "retry by default", "killed RTMAX, timeout, timeout 7, idle",
		    "no-fork EAGAIN, no-exec ETXTBSY" },
		{ "not-retryable by signal", "killed INT, killed QUIT, killed PIPE" },
		{ "retry by deadline", "deadline" },
		{ "not-executable by not-executable", "no-exec ENOENT, no-exec EACCES" },
		/* --retry-on */
		{ "retry by retry-on", "retry=7 | exit 7", "retry=SEGV | killed SEGV",
		    "retry=139 | killed SEGV, exit 139", "retry=signal | killed SEGV" },
		{ "not-retryable by retry-on", "retry=7 | exit 8, killed 7, timeout 7",
		    "retry=SEGV | killed BUS, exit 139", "retry=signal | exit 139, timeout" },
		/* These are retried only if a list names them. */
		{ "not-retryable by signal", "retry=signal | killed INT, killed PIPE",
		    "retry=fail | killed QUIT, killed PIPE", "retry=INT | killed PIPE" },
		{ "retry by retry-on", "retry=INT | killed INT", "retry=141 | killed PIPE",
		    "retry=timeout | timeout, idle", "retry=124 | timeout, exit 124, idle",
		    "retry=idle | idle", "retry=fail | idle, exit 1, killed SEGV, timeout",
		    "retry=fail | no-fork EAGAIN, no-exec ETXTBSY", "retry=125 | no-fork EAGAIN",
		    "retry=126 | no-exec ETXTBSY" },
		{ "not-retryable by retry-on", "retry=timeout | exit 124, exit 1",
		    "retry=idle | timeout, exit 1", "retry=1-123,125-255 | idle 1",
		    "retry=7 | no-fork EAGAIN" },
		{ "succeeded by exit-status", "retry=fail | exit 0" },
		/* No list makes these retryable. */
		{ "not-executable by not-executable", "retry=fail | no-exec ENOENT" },
		/* --stop-on */
		{ "stop-rule by stop-on", "stop=22 | exit 22",
		    "stop=fail | exit 1, killed SEGV, timeout", "stop=fail | no-fork EAGAIN",
		    "stop=timeout | timeout, deadline", "stop=PIPE | killed PIPE" },
		{ "retry by default", "stop=22 | exit 7" },
		{ "succeeded by exit-status", "stop=0,fail | exit 0" },
		/* It precedes the other rules, but not a command that did not run. */
		{ "stop-rule by stop-on", "retry=fail stop=1-10 | exit 7" },
		{ "not-executable by not-executable", "stop=127 | no-exec ENOENT" },
		/* --success-on */
		{ "succeeded by exit-status", "success=1 | exit 0" },
		{ "succeeded by success-on", "success=1 | exit 1", "success=141 | killed PIPE",
		    "success=timeout | timeout 7, idle 7", "success=fail | exit 9, killed INT" },
		{ "retry by default", "success=1 | exit 2, timeout 1", "success=idle | timeout 7" },
		/* A success comes before every rule about failures. */
		{ "succeeded by success-on", "retry=1 stop=1 success=1 | exit 1" },
		/* A command that did not run cannot be a success. */
		{ "retry by default", "success=fail | no-fork EAGAIN" },
		{ "not-executable by not-executable", "success=fail | no-exec EACCES" },
		/* Nor can one that wrote more than may be captured. */
		{ "internal by hold-max", "exit 0 overrun",
		    "retry=fail success=fail | exit 7 overrun" },
		/* A signal ended retry: no rule about failures precedes it. */
		{ "succeeded by exit-status", "exit 0 interrupted" },
		{ "interrupted by interrupted", "exit 7 interrupted, timeout interrupted",
		    "killed INT interrupted", "no-exec ENOENT interrupted",
		    "retry=7 stop=7 | exit 7 interrupted" },
		{ "succeeded by success-on", "success=7 | exit 7 interrupted" },
		/* --fail-on: "fail" does not make exit status 0 a failure. */
		{ "retry by fail-on", "fail=0 | exit 0", "fail=0 success=fail | exit 0" },
		{ "retry by default", "fail=0 | exit 7" },
		{ "succeeded by exit-status", "fail=7,fail,signal,timeout | exit 0" },
		{ "succeeded by success-on", "fail=0 success=0 | exit 0" },
		{ "stop-rule by stop-on", "stop=fail fail=0 | exit 0" },
		{ "not-retryable by retry-on", "retry=7 fail=0 | exit 0" },
		{ "retry by retry-on", "retry=fail fail=0 | exit 0" },
		{ "interrupted by interrupted", "fail=0 | exit 0 interrupted" },
		/* Patterns. */
		{ "retry by retry-on", "retry=stderr:busy | exit 1 seen busy",
		    "retry=stderr:busy | timeout seen busy" },
		{ "not-retryable by retry-on", "retry=stderr:busy | exit 1, timeout" },
		{ "not-retryable by signal", "retry=stderr:busy | killed INT seen busy" },
		{ "stop-rule by stop-on", "stop=stderr:no | exit 1 seen no" },
		{ "succeeded by success-on", "success=stdout:ok | timeout seen ok",
		    "stop=stderr:no success=stdout:ok | exit 1 seen ok seen no" },
		{ "retry by default", "success=stdout:ok | exit 1, timeout" },
		{ "retry by fail-on", "fail=stderr:W: | exit 0 seen W:" },
		{ "succeeded by exit-status", "fail=stderr:W: | exit 0" },
		/* Items that name an attempt by the time for which it ran. */
		{ "retry by retry-on", "retry=under:5 | exit 1 ran 4.9s",
		    "retry=over:5 | exit 1 ran 5.1s, timeout ran 6s" },
		{ "not-retryable by retry-on", "retry=under:5 | exit 1 ran 5s",
		    "retry=under:5 | no-fork EAGAIN" },
		{ "retry by fail-on", "fail=under:1 | exit 0 ran 0.5s" },
		/* Items that name no first attempt. */
		{ "stop-rule by stop-on", "stop=again:7 | exit 7 again",
		    "stop=again:stderr:no | exit 1 seen no again",
		    "stop=again:over:5,again:timeout | exit 1 ran 6s again, timeout again" },
		{ "retry by default", "stop=again:7,9 | exit 7, exit 8 again",
		    "stop=again:fail | exit 1, killed SEGV, timeout",
		    "stop=again:stderr:no | exit 1 seen no",
		    "success=again:stderr:old | exit 1 seen old", "success=again:fail | exit 9",
		    "stop=again:over:5,again:timeout | exit 1 ran 6s, timeout" },
		{ "succeeded by success-on", "success=again:stderr:old | exit 1 seen old again",
		    "success=again:fail | exit 9 again" },
		{ "succeeded by exit-status", "fail=again:0 | exit 0" },
		{ "retry by fail-on", "fail=again:0 | exit 0 again" },
		{ "retry by retry-on", "retry=again:7 | exit 7 again",
		    "retry=again:INT | killed INT again", "retry=again:http:404 | http 404 again" },
		{ "not-retryable by retry-on", "retry=again:7 | exit 7, exit 8, exit 8 again",
		    "retry=again:http:404 | http 503 again" },
		{ "not-retryable by signal", "retry=again:INT | killed INT" },
		/* At the first attempt the table of HTTP counts. */
		{ "not-retryable by http", "retry=again:http:404 | http 404" },
		{ "retry by http", "retry=again:http:404 | http 503" },
		/* Presets. */
		{ "retry by preset", "transient=timeout,75 | exit 75, timeout",
		    "transient=stderr:busy | exit 1 seen busy",
		    "transient=stderr:busy | killed PIPE seen busy",
		    "retry=9 transient=75 | exit 75" },
		{ "not-retryable by preset", "transient=timeout | exit 1, killed SEGV",
		    "transient=timeout | no-fork EAGAIN",
		    "transient=stderr:busy fatal=stderr:no | killed PIPE seen busy seen no",
		    "transient=75 fatal=stderr:no | exit 75 seen no",
		    "fail=0 fatal=stderr:no | exit 0 seen no",
		    "retry=9 transient=9 fatal=stderr:no | exit 1 seen no",
		    "fatal=stderr:no | http 200 seen no", "fail=0,1 transient=75 | exit 1" },
		/* The user knows better, of one word, and the server, too. */
		{ "retry by retry-on", "retry=fail fatal=stderr:no | exit 1 seen no",
		    "retry=stderr:no fatal=stderr:no transient=75 | exit 1 seen no",
		    "retry=http:404 fatal=stderr:no | http 404 seen no",
		    "retry=PIPE fatal=stderr:no | killed PIPE seen no" },
		{ "retry by preset", "retry=stderr:no fatal=stderr:no transient=75 | exit 75" },
		{ "retry by http", "fatal=stderr:no | http 503 seen no" },
		{ "retry by deadline", "fatal=stderr:no | deadline seen no" },
		{ "not-retryable by signal",
		    "transient=stderr:busy | killed INT seen busy, killed PIPE" },
		{ "succeeded by exit-status", "fatal=stderr:no | exit 0 seen no" },
		{ "stop-rule by stop-on", "stop=1 fatal=stderr:no | exit 1 seen no" },
		{ "retry by retry-on", "retry=9 transient=75,9 | exit 9" },
		{ "not-retryable by retry-on", "retry=9 transient=75 | exit 1" },
		{ "retry by fail-on", "fail=0 transient=75 | exit 0, exit 0 http 202" },
		{ "retry by http", "transient=75 | http 503" },
		{ "not-retryable by http", "transient=75 | exit 75 http 404" },
		/* The file of a tool. */
		{ "retry by preset", "own-retry=75 | exit 75",
		    "own-retry=75 fatal=stderr:no | exit 75 seen no", "own-retry=INT | killed INT",
		    "own-retry=http:404 | http 404", "own-fail=0 | exit 0",
		    "own-fail=0 transient=75 | exit 0", "retry=9 own-retry=75 | exit 75",
		    "own-retry=timeout unfinished=timeout | timeout",
		    "own-retry=again:75 | exit 75 again" },
		{ "not-retryable by preset", "own-retry=75 | exit 1",
		    "own-retry=again:75 | exit 75", "own-stop=2 own-retry=fail | exit 2",
		    "own-stop=2 transient=2 | exit 2", "own-stop=http:503 | http 503",
		    "own-retry=http:404 | http 503", "own-retry=75 own-fail=0 | exit 0" },
		{ "retry by default", "own-stop=2 | exit 3", "own-stop=again:2 | exit 2",
		    "own-success=3 | exit 2", "own-fail=0 | exit 3" },
		{ "succeeded by success-on", "own-success=3 | exit 3", "own-success=fail | exit 9",
		    "own-success=again:3 | exit 3 again", "own-success=0 own-fail=0 | exit 0",
		    "own-success=stderr:old fatal=stderr:old | exit 1 seen old",
		    "success=2 own-stop=2 | exit 2" },
		{ "not-retryable by http", "own-retry=22 | http 404" },
		{ "retry by http", "own-retry=75 | http 503" },
		/* What the user says counts more. */
		{ "retry by retry-on", "retry=2 own-stop=2 | exit 2",
		    "retry=3 own-success=3 | exit 3",
		    "retry=http:404 own-retry=http:503 | http 404" },
		{ "not-retryable by retry-on", "retry=9 own-retry=75 | exit 3",
		    "retry=http:404 own-retry=http:503 | http 500" },
		{ "stop-rule by stop-on", "stop=75 own-retry=75 | exit 75",
		    "stop=3 own-success=3 | exit 3" },
		{ "retry by fail-on", "fail=0 own-success=0 | exit 0",
		    "fail=0 own-retry=75 | exit 0" },
		/* What a status file says. */
		{ "succeeded by exit-status", "exit 0 http 200, exit 0 http 302",
		    "exit 0 http 0, exit 0 unknown-http 503" },
		{ "retry by default", "exit 18 http 200, exit 7 http 302, exit 7 http 0",
		    "timeout http 200" },
		{ "retry by http", "http 503, exit 0 http 503" },
		{ "not-retryable by http", "http 404, exit 0 http 404, timeout http 404" },
		/* This is not about the command: plan ends it. */
		{ "retry by deadline", "deadline http 404" },
		{ "not-retryable by signal", "killed INT http 503" },
		{ "not-retryable by http", "http 503 never, exit 14 http 200 never",
		    "retry=http:503 | http 503 never", "retry=stderr:x | http 503 never seen x",
		    "retry=14 transient=14 | exit 14 http 200 never", "http 409 never wanted",
		    "http 409 never keyed" },
		/* The server wants a retry. */
		{ "retry by http", "http 409 wanted, http 400 wanted, http 501 wanted",
		    "retry=http:503 | http 409 wanted",
		    "fatal=stderr:no | http 404 wanted seen no" },
		{ "stop-rule by stop-on", "stop=http:409 | http 409 wanted" },
		{ "succeeded by exit-status", "exit 0 http 200 wanted" },
		{ "retry by default", "exit 18 http 200 wanted" },
		{ "not-retryable by preset", "transient=75 | exit 18 http 200 wanted" },
		{ "not-idempotent by idempotency", "http 409 wanted once" },
		/* The request with this key is still being served. */
		{ "retry by http", "http 409 keyed, exit 0 http 409 keyed" },
		{ "not-retryable by http", "http 409, http 404 keyed, http 422 keyed" },
		{ "not-retryable by retry-on", "retry=http:503 | http 409 keyed" },
		{ "succeeded by exit-status", "exit 0 http 200 never" },
		/* Statuses of curl that no retry can help. */
		{ "not-retryable by http",
		    "exit 51 curl http 0, exit 58 curl http 0, exit 60 curl http 0",
		    "exit 77 curl http 0, exit 91 curl http 0" },
		{ "retry by default", "exit 35 curl http 0, exit 61 curl http 0" },
		/* This is not a status of curl. */
		{ "retry by default", "exit 60 http 0, killed RTMAX-4 curl", "timeout 60 curl" },
		{ "retry by retry-on", "retry=60 | exit 60 curl http 0" },
		/* Lists with HTTP statuses, and with other conditions beside them. */
		{ "retry by retry-on", "retry=http:404 | http 404, exit 0 http 404",
		    "retry=http:400 | http 400", "retry=http:5xx | http 503, http 501",
		    "retry=http:5xx,7 | exit 7 http 0", "retry=http:5xx,7 | exit 7 http 302",
		    "retry=http:302 | exit 47 http 302" },
		{ "not-retryable by retry-on", "retry=http:503 | exit 1 unknown-http 503",
		    "retry=http:5xx | http 429, exit 7 http 0",
		    "retry=http:5xx,7 | exit 7 http 404" },
		/* Without http: in a list the table counts, whatever else is listed. */
		{ "retry by http", "retry=7 | http 503" },
		/* What the output says of an error counts, but how the command ended does not. */
		{ "not-retryable by http", "retry=22,stderr:no | http 404",
		    "retry=fail,timeout,over:1 | http 404 ran 2s, timeout http 404",
		    "retry=1-255 | http 404" },
		{ "retry by retry-on", "retry=22,stderr:no | http 404 seen no",
		    "retry=http:503,stderr:no | http 404 seen no", "retry=22 | exit 22 http 302" },
		{ "not-retryable by retry-on", "retry=7 | exit 18 http 200",
		    "retry=7 fail=http:204 | exit 0 http 204" },
		{ "stop-rule by stop-on", "stop=http:503 | http 503, exit 0 http 503" },
		{ "succeeded by success-on", "success=http:404 | http 404",
		    "success=fail | exit 0 http 404" },
		{ "succeeded by exit-status", "success=fail | exit 0 http 200",
		    "fail=http:302 | exit 0 http 200" },
		{ "retry by fail-on", "fail=http:302 | exit 0 http 302" },
		/* With -w all is "not yet" that nothing calls final. */
		{ "retry by default", "wait=9 | exit 7", "wait=9 retry=9 | exit 7, timeout",
		    "wait=9 transient=75 | exit 7", "wait=9 retry=http:503 | exit 7 http 0" },
		{ "retry by retry-on", "wait=9 retry=stderr:no fatal=stderr:no | exit 1 seen no",
		    "wait=9 retry=http:404 | http 404" },
		{ "retry by http", "wait=9 retry=http:404 | http 503" },
		{ "retry by preset", "wait=9 transient=75 | exit 75" },
		{ "not-retryable by preset", "wait=9 fatal=stderr:no | exit 1 seen no",
		    "wait=9 retry=9 fatal=stderr:no | exit 1 seen no" },
		{ "not-retryable by http", "wait=9 | http 404", "wait=9 retry=http:404 | http 410",
		    "wait=9 transient=75 | exit 60 curl http 0" },
		{ "stop-rule by stop-on", "wait=9 stop=7 | exit 7" },
		{ "not-retryable by signal", "wait=9 | killed INT" },
		/* A request that must not be sent twice. */
		{ "succeeded by exit-status", "exit 0 once" },
		{ "not-idempotent by idempotency", "http 503 once, exit 0 http 503 once",
		    "exit 1 once, exit 4 once" },
		/* Nothing was sent: no proxy, no host, no connection. */
		{ "retry by default", "exit 5 once, exit 6 once, exit 7 once",
		    "exit 7 http 0 once, exit 7 several" },
		{ "not-idempotent by idempotency", "exit 8 once, exit 52 http 0 once",
		    "exit 7 http 307 once", "exit 7 once several, timeout 7 once",
		    "killed 7 once, deadline once" },
		/* What was started elsewhere may still run: only a LIST allows more. */
		{ "not-idempotent by idempotency",
		    "transient=timeout unfinished=timeout | timeout, timeout 7, idle",
		    "transient=timeout retry=7 unfinished=timeout | timeout",
		    "transient=124 unfinished=timeout,124 | exit 124",
		    "unfinished=timeout | timeout http 200" },
		{ "retry by retry-on", "retry=timeout unfinished=timeout | timeout, idle",
		    "retry=124 unfinished=timeout | timeout",
		    "retry=idle unfinished=timeout | idle",
		    "retry=fail unfinished=timeout | timeout" },
		{ "not-retryable by retry-on", "retry=idle unfinished=timeout | timeout" },
		{ "retry by preset", "transient=124,1 unfinished=timeout | exit 124, exit 1" },
		{ "retry by deadline", "transient=timeout unfinished=timeout | deadline" },
		{ "succeeded by success-on", "success=timeout unfinished=timeout | timeout" },
		{ "stop-rule by stop-on", "stop=timeout unfinished=timeout | timeout" },
		/* A command that did not run has sent nothing. */
		{ "retry by default", "no-fork EAGAIN once several" },
		/* All other reasons precede it. */
		{ "not-retryable by http", "http 404 once" },
		{ "not-idempotent by idempotency", "retry=22 | exit 22 once" },
		{ "retry by retry-on", "retry=7 | exit 7 once" },
		{ "interrupted by interrupted", "exit 22 interrupted once" },
	};

	ALIKE(rows, verdict_by);
}

static enum verdict verdict_with(const char *options, struct outcome outcome) {
	const struct request none = { .method = NULL };
	struct policy policy = script_policy_of(options);

	return verdict_of(&policy.rules, &none, &outcome).verdict;
}

/* The manual's table. */
TEST(verdicts_of_every_http_status) {
	static const char retried[] = " 408 425 429 ";
	static const char stopped[] = " 501 505 506 508 510 511 ";

	for (int code = 100; code <= 999; code++) {
		struct outcome outcome = { .code = 22, .http = { .code = code } };
		bool again, later;
		char row[16];

		snprintf(row, sizeof row, " %d ", code);
		again = code >= 500 ? strstr(stopped, row) == NULL : strstr(retried, row) != NULL;
		later = again || code == 403 || code == 413;
		/* Below 400 the exit status and the lists decide. */
		again |= code < 400;
		later |= code < 400;
		EQUAL(row, verdict_with("", outcome), again ? VERDICT_RETRY : VERDICT_STOP);
		EQUAL(row, verdict_with("retry=1", outcome),
		    again && code >= 400 ? VERDICT_RETRY : VERDICT_STOP);
		EQUAL(row, verdict_with("retry=22", outcome), again ? VERDICT_RETRY : VERDICT_STOP);
		outcome.http.after.given = true;
		EQUAL(row, verdict_with("", outcome), later ? VERDICT_RETRY : VERDICT_STOP);
		outcome.code = 0;
		EQUAL(row, verdict_with("", outcome) == VERDICT_DONE, code < 400);
		EQUAL(row, verdict_status(&outcome), 0);
	}
}

/* Only 0 is a success without a list. */
TEST(verdicts_of_every_status_and_signal) {
	for (int code = 0; code <= 255; code++) {
		struct outcome exited = { .code = code };
		struct outcome killed = { .end = END_SIGNALED, .code = code };
		bool meant = code == SIGINT || code == SIGQUIT || code == SIGPIPE;
		char row[NUMBER_ROOM];

		number_put(row, code);
		EQUAL(row, verdict_with("", exited), code == 0 ? VERDICT_DONE : VERDICT_RETRY);
		EQUAL(row, verdict_status(&exited), code);
		EQUAL(row, verdict_with("", killed), meant ? VERDICT_STOP : VERDICT_RETRY);
		EQUAL(row, verdict_status(&killed), 128 + code);
	}
}

/* In the order of their precedence. */
TEST(reasons) {
	static const char *const names[] = { "none", "internal", "interrupted", "not-executable",
		"succeeded", "stop-rule", "not-retryable", "not-idempotent", "input-consumed",
		"attempts", "limit", "retry-after", "deadline", "retry-if", "breaker", "budget" };

	for (size_t i = 0; i < LENGTH(names); i++)
		SAME("precedence", verdict_reasons[i].name, names[i]);
}

/*
 * Attempts, the last one of which is made again and again, and what follows: how many attempts
 * are made in how much time, if it takes any, why there is no other, and the exit status, if it
 * is not 0, with the signal that retry dies of. A number is an attempt with that exit status, and
 * "x7" one that is made seven times. After an attempt, or "none", the machine may sleep ("late"
 * so long), or the budget deny the next attempt for ever: "denied", "held" or "throttled", and
 * when it is worth to ask again. "within" a time is up to a second less.
 */
static const char *const plans[] = {
	/* A success. */
	"0 -> 1, succeeded",
	"7, killed KILL, 0 -> 3 in 3s, succeeded",
	"success=1 | 2, 1 -> 2 in 1s, succeeded",
	"deadline=5s | 0 took 6s -> 1 in 6s, succeeded",
	"0 interrupted took 1s -> 1 in 1s, succeeded",
	"no-fork EAGAIN, 0 -> 2 in 1s, succeeded",
	"attempts=inf | 7 x7, 0 -> 8 in 91s, succeeded",

	/* No attempt is left. */
	"attempts=1 | 7 took 2s -> 1 in 2s, attempts, 7",
	"attempts=3 | 7 took 2s -> 3 in 9s, attempts, 7",
	"attempts=3 | 1, 2, 3 -> 3 in 3s, attempts, 3",
	"attempts=2 | 7, timeout 9 took 1s -> 2 in 2s, attempts, 124",
	"attempts=2 | timeout took 1s, 7 -> 2 in 2s, attempts, 7",
	"attempts=2 | killed SEGV, 3 -> 2 in 1s, attempts, 3",
	/* errno of a fork says nothing about the command. */
	"attempts=2 | no-fork ENOENT -> 2 in 1s, internal, 125",
	"attempts=2 | no-exec ETXTBSY -> 2 in 1s, attempts, 126",

	/* No retry would help. */
	"attempts=2 stop=22 | 7, 22 -> 2 in 1s, stop-rule, 22",
	"deadline=1s stop=22 | 22 took 2s -> 1 in 2s, stop-rule, 22",
	/* An attempt that is not the first one. */
	"stop=again:7 | 7 -> 2 in 1s, stop-rule, 7",
	"stop=again:7 | 8, 7 -> 2 in 1s, stop-rule, 7",
	"success=again:7 | 7 -> 2 in 1s, succeeded",
	"consecutive=2 stop=again:7 | 0, 7 -> 2 in 1s, stop-rule, 7",
	"stop=TERM | killed TERM -> 1, stop-rule, 143 TERM",
	"attempts=1 retry=7 | 8 -> 1, not-retryable, 8",
	"killed INT -> 1, not-retryable, 130 INT",
	"attempts=2 retry=PIPE | killed PIPE -> 2 in 1s, attempts, 141 PIPE",
	"no-exec EACCES -> 1, not-executable, 126",
	"attempts=2 stop=fail | no-exec ENOENT -> 1, not-executable, 127",
	"attempts=1 stop=fail | 7 interrupted -> 1, interrupted, 7",
	/* The command died of another signal: retry ends in the same way. */
	"killed SEGV interrupted took 1s -> 1 in 1s, interrupted, 139 SEGV",
	"deadline=5s | killed TERM interrupted took 6s -> 1 in 6s, interrupted, 143 TERM",
	"timeout 15 interrupted took 1s -> 1 in 1s, interrupted, 124",

	/* The deadline. */
	"deadline=10s | 7 -> 4 in 7s, deadline, 7",
	"deadline=3s | 7 -> 2 in 1s, deadline, 7",
	"deadline=3s | killed SEGV -> 2 in 1s, deadline, 139 SEGV",
	"deadline=5s | deadline 15 took 5s -> 1 in 5s, deadline, 124",
	"deadline=5s | deadline took 2s -> 1 in 2s, deadline, 124",
	"deadline=5s retry=7 | 7, deadline took 4s -> 2 in 5s, deadline, 124",
	"deadline=5s | 7 took 5s -> 1 in 5s, deadline, 7",
	"deadline=5s attempts=1 | deadline took 5s -> 1 in 5s, deadline, 124",
	"deadline=5s limit=0:timeout | deadline took 5s -> 1 in 5s, deadline, 124",
	"deadline=5s | deadline took 5s lost input-consumed -> 1 in 5s, deadline, 124",

	/* An attempt that ran for long starts the backoff again. */
	"attempts=5 reset-after=10s | 7 x2, 7 took 10s, 7 -> 5 in 16s, attempts, 7",
	"attempts=5 reset-after=10s | 7 x2, 7 took 9.5s, 7 -> 5 in 24.5s, attempts, 7",
	"attempts=4 reset-after=1s | 7 took 1s -> 4 in 7s, attempts, 7",

	/* The server names a wait; the backoff would be 1s, 2s, 4s... */
	"attempts=4 | http 503 wait 3s -> 4 in 10s, attempts, 22",
	"attempts=4 | http 409 keyed -> 4 in 7s, attempts, 22",
	"attempts=4 delay=0,2s | http 409 keyed -> 4 in 4s, attempts, 22",
	"attempts=3 | http 409 keyed wait 3s -> 3 in 6s, attempts, 22",
	"http 503, http 409 keyed, http 409 -> 3 in 3s, not-retryable, 22",
	"attempts=3 | http 429 wait 60s, http 503 -> 3 in 62s, attempts, 22",
	"attempts=4 | http 429 -> 4 in 7s, attempts, 22",
	/* After a 429 the first retry is not at once. */
	"attempts=2 delay=0,2s | http 429 -> 2 in 2s, attempts, 22",
	"attempts=2 delay=0,2s | http 503 -> 2, attempts, 22",
	"deadline=2s delay=0,2s | http 429 -> 1, deadline, 22",
	"attempts=2 delay=0 | http 429 -> 2, attempts, 22",
	"attempts=2 | 1 unset-wait 86400s -> 2 in 1s, attempts, 1",
	"attempts=2 | http 403 wait 9s -> 2 in 9s, attempts, 22",
	"attempts=2 | http 503 wait 300s -> 2 in 300s, attempts, 22",
	"attempts=2 | http 503 wait 300.001s -> 1, retry-after, 22",
	"http 503 wait 2s, http 503 wait 9000s -> 2 in 2s, retry-after, 22",
	"attempts=1 | http 503 wait 9000s -> 1, attempts, 22",
	"attempts=2 deadline=10s | http 503 wait 9.5s -> 2 in 9.5s, attempts, 22",
	"attempts=2 deadline=10s | http 503 wait 10s -> 1, retry-after, 22",
	"deadline=10s | http 503 wait 4s -> 3 in 8s, retry-after, 22",
	/* The deadline is past. */
	"deadline=10s | http 503 wait 60s took 11s -> 1 in 11s, deadline, 22",
	/* The backoff does not fit before the deadline; the server's wait would. */
	"deadline=3s | http 503 wait 0.5s -> 2 in 1s, deadline, 22",
	/* It is told in words. */
	"attempts=3 | 1 hint 7s -> 3 in 14s, attempts, 1",
	"attempts=2 | 1 hint 301s -> 1, retry-after, 1",
	"attempts=2 deadline=10s | 1 hint 10s -> 1, retry-after, 1",
	"attempts=3 | 1 http 503 wait 7s hint 5s -> 3 in 14s, attempts, 1",

	/* A wait of the user's own, after some failures. */
	"attempts=3 retry-after=7:1 | 1, 2 -> 3 in 9s, attempts, 2",
	"attempts=3 retry-after=0.5:1 | 1 -> 3 in 3s, attempts, 1",
	"attempts=2 retry-after=9:http:429 | http 429 -> 2 in 9s, attempts, 22",
	"attempts=2 retry-after=7:1 retry-after=9:1 retry-after=8:1 | 1 -> 2 in 9s, attempts, 1",
	/* It is a lower bound beside what the server names, and has no upper one. */
	"attempts=2 retry-after=9:http:429 | http 429 wait 7s -> 2 in 9s, attempts, 22",
	"attempts=2 retry-after=9:http:429 | http 429 wait 20s -> 2 in 20s, attempts, 22",
	"attempts=2 retry-after=7:1 | 1 hint 9s -> 2 in 9s, attempts, 1",
	"attempts=2 retry-after=1000:1 | 1 -> 2 in 1000s, attempts, 1",
	"attempts=2 retry-after=1000:1 | 1 hint 301s -> 1, retry-after, 1",
	"attempts=2 retry-after=1000:1 | 1 hint 300s -> 2 in 1000s, attempts, 1",
	"deadline=10s retry-after=10:1 | 1 -> 1, retry-after, 1",
	"attempts=2 deadline=10s retry-after=9.5:1 | 1 -> 2 in 9.5s, attempts, 1",
	/* What is retried stays, and a success needs no wait. */
	"retry=7 retry-after=9:1 | 1 -> 1, not-retryable, 1",
	"retry-after=9:http:404 | http 404 -> 1, not-retryable, 22",
	"consecutive=2 retry-after=9:stderr:busy | 0 seen busy -> 2 in 1s, succeeded",
	"attempts=2 retry-after=9:stderr:busy | 1 seen busy -> 2 in 9s, attempts, 1",
	"attempts=2 retry-after=9:124 | timeout -> 2 in 9s, attempts, 124",
	/* A wait that a preset knows grows with each limit, and ends with a success. */
	"attempts=3 known=60:1 | 1 -> 3 in 180s, attempts, 1",
	"attempts=4 known=60:1 | 1, 2, 1, 2 -> 4 in 182s, attempts, 2",
	"attempts=9 known=60:1 | 1 -> 4 in 420s, retry-after, 1",
	"attempts=9 consecutive=2 known=60:1 | 1 x2, 0, 1, 0 -> 6 in 242s, succeeded",
	"deadline=100s known=60:1 | 1 -> 2 in 60s, retry-after, 1",
	"max-retry-after=59 known=60:1 | 1 -> 1, retry-after, 1",
	/* The server knows more, and so does the user. */
	"attempts=3 known=60:1 | 1 hint 7s, 1 -> 3 in 127s, attempts, 1",
	"attempts=2 known=60:http:403 | http 403 wait 5s -> 2 in 5s, attempts, 22",
	"attempts=2 known=60:1 retry-after=5:1 | 1 -> 2 in 5s, attempts, 1",
	"attempts=2 known=60:1 retry-after=1000:1 | 1 -> 2 in 1000s, attempts, 1",
	"attempts=2 known=60:1 retry-after=5:2 | 1 -> 2 in 60s, attempts, 1",
	/* A limit that a preset knows is not final, whatever else it says. */
	"attempts=2 fatal=stderr:no known=60:stderr:busy | 1 seen no seen busy -> 2 in 60s, "
	"attempts, 1",
	"attempts=2 fatal=stderr:no known=60:stderr:busy | 1 seen no -> 1, not-retryable, 1",
	"attempts=2 fatal=stderr:no retry-after=9:stderr:busy | 1 seen no seen busy -> 1, "
	"not-retryable, 1",

	/* The status is 0 only if an attempt was judged a success. */
	"attempts=2 | 0 http 503 -> 2 in 1s, attempts, 1",
	"attempts=2 | 0 http 503 wait 3600s -> 1, retry-after, 1",
	"attempts=2 fail=0 | 0 -> 2 in 1s, attempts, 1",
	"attempts=2 | 0 http 503 once -> 1, not-idempotent, 1",
	"deadline=1s fail=0 | 0 -> 1, deadline, 1",
	"attempts=2 fail=0 | 0 interrupted -> 1, interrupted, 1",
	"attempts=2 fail=0 | 0, 7 -> 2 in 1s, attempts, 7",

	/* Three successes in a row. */
	"attempts=3 consecutive=3 | 0 -> 3 in 2s, succeeded",
	/* A failure starts the count again, a success the backoff. */
	"consecutive=3 | 0 x2, 1, 0 -> 6 in 5s, succeeded",
	"consecutive=3 | 1 x2, 0, 1 x2, 0 -> 8 in 9s, succeeded",
	/* Too few attempts are left. */
	"attempts=5 consecutive=3 | 0 x2, 7 -> 3 in 2s, attempts, 7",
	"attempts=3 consecutive=3 | 7 -> 1, attempts, 7",
	"consecutive=3 success=3 | 0, 3, 0 -> 3 in 2s, succeeded",
	"consecutive=3 deadline=1.5s | 0 -> 2 in 1s, deadline, 1",
	"consecutive=3 deadline=2.5s | 0 x2, 0 took 9s -> 3 in 11s, succeeded",
	"consecutive=3 | 0, 0 interrupted -> 2 in 1s, interrupted, 1 TERM",
	"consecutive=3 | 0 x2, 0 interrupted -> 3 in 2s, succeeded",
	"consecutive=3 | 0 http 200 once -> 1, not-idempotent, 1",
	"consecutive=3 | 0 lost input-consumed -> 1, input-consumed, 1",
	"consecutive=2 | 0, 0 lost input-consumed -> 2 in 1s, succeeded",
	"consecutive=3 | 0 http 200 wait 7s -> 3 in 14s, succeeded",

	/* Limits of retries after some failures. */
	"limit=2:7 | 7 -> 3 in 3s, limit, 7",
	"attempts=3 limit=0:7 | 8 -> 3 in 3s, attempts, 8",
	"limit=1:7 | 7, 8, 7 -> 3 in 3s, limit, 7",
	"limit=5:7 limit=1:fail | 7 -> 2 in 1s, limit, 7",
	"limit=1:7 limit=2:7,8 | 8, 7, 8 -> 3 in 3s, limit, 8",
	"limit=1:timeout | timeout took 2s -> 2 in 5s, limit, 124",
	"limit=0:again:7 | 7 -> 2 in 1s, limit, 7",
	"limit=0:7 stop=7 | 7 -> 1, stop-rule, 7",
	"limit=0:22 | http 503 wait 9000s -> 1, limit, 22",
	"limit=1:0 fail=0 | 0 -> 2 in 1s, limit, 1",
	"consecutive=3 limit=1:7 | 0, 7, 0 x2, 7 -> 5 in 4s, limit, 7",
	"consecutive=3 limit=0:0 | 0 -> 3 in 2s, succeeded",
	"consecutive=3 limit=1:0,7 | 0, 7, 0 -> 5 in 4s, succeeded",

	/* The status tells the judgement, or with --keep-status how it ended. */
	"attempts=2 keep-status success=7 | 7 -> 1, succeeded, 7",
	"attempts=2 success=TERM | killed TERM -> 1, succeeded",
	"keep-status success=TERM | killed TERM -> 1, succeeded, 143 TERM",
	"keep-status success=timeout | timeout 7 -> 1, succeeded, 124",
	"attempts=2 keep-status fail=0 | 0 -> 2 in 1s, attempts, 0",
	"attempts=2 | timeout 7 preserved -> 2 in 1s, attempts, 7",
	"attempts=2 | timeout preserved -> 2 in 1s, attempts, 1",
	"deadline=9s | deadline 3 preserved took 9s -> 1 in 9s, deadline, 3",
	"attempts=2 retry=124 stop=7,143 | timeout 7 preserved -> 2 in 1s, attempts, 7",
	"attempts=2 keep-status | 0 overrun -> 1, internal, 125",
	"keep-status | killed TERM overrun -> 1, internal, 125",
	"consecutive=3 deadline=1.5s keep-status success=3 | 3 -> 2 in 1s, deadline, 3",

	/* Only a limit has ended the retries. */
	"exhausted-status=9 attempts=2 | 7 -> 2 in 1s, attempts, 9",
	"exhausted-status=9 attempts=2 | 0 http 503 -> 2 in 1s, attempts, 9",
	"exhausted-status=9 attempts=2 | killed SEGV -> 2 in 1s, attempts, 9",
	"exhausted-status=9 attempts=2 | timeout 7 took 1s -> 2 in 3s, attempts, 9",
	"exhausted-status=9 attempts=2 | timeout 7 preserved -> 2 in 1s, attempts, 9",
	"exhausted-status=9 limit=1:7 | 7 -> 2 in 1s, limit, 9",
	"exhausted-status=9 deadline=3s | 7 -> 2 in 1s, deadline, 9",
	"exhausted-status=9 deadline=5s retry=7 | deadline took 5s -> 1 in 5s, deadline, 9",
	"exhausted-status=9 deadline=10s | killed SEGV late 10s -> 1 in 10s, deadline, 9",
	"exhausted-status=9 attempts=2 | http 503 wait 301s -> 1, retry-after, 9",
	"exhausted-status=9 | 7 denied 7s -> 1, budget, 9",
	"exhausted-status=9 | 7 held 7s -> 1, breaker, 9",
	"exhausted-status=9 deadline=60s | 7 crowded 60s -> 1, rate, 9",
	"exhausted-status=9 max-retry-after=9s deadline=60s | 7 throttled 10s -> 1 in 9s, "
	"retry-after, "
	"9",
	"exhausted-status=9 consecutive=3 deadline=1.5s | 0 -> 2 in 1s, deadline, 9",
	"exhausted-status=9 attempts=3 consecutive=3 | 0, 7 -> 2 in 1s, attempts, 9",
	/* But a retry would not have helped, or it was no failure. */
	"exhausted-status=9 attempts=1 | 0 -> 1, succeeded",
	"exhausted-status=9 attempts=1 stop=7 | 7 -> 1, stop-rule, 7",
	"exhausted-status=9 attempts=1 retry=8 | 7 -> 1, not-retryable, 7",
	"exhausted-status=9 attempts=1 | killed INT -> 1, not-retryable, 130 INT",
	"exhausted-status=9 attempts=2 | 0 http 503 once -> 1, not-idempotent, 1",
	"exhausted-status=9 deadline=5s | deadline once took 5s -> 1 in 5s, not-idempotent, 124",
	"exhausted-status=9 attempts=2 | 7 lost input-consumed -> 1, input-consumed, 7",
	"exhausted-status=9 attempts=2 | 7 interrupted -> 1, interrupted, 7",
	"exhausted-status=9 consecutive=3 | 0 interrupted -> 1, interrupted, 1 TERM",
	/* What was started elsewhere may still run. */
	"exhausted-status=9 transient=timeout unfinished=timeout deadline=5s | deadline took 5s -> "
	"1 "
	"in 5s, deadline, 124",
	"exhausted-status=9 retry=timeout unfinished=timeout deadline=5s | deadline took 5s -> 1 "
	"in "
	"5s, deadline, 9",
	/* These are statuses of retry itself. */
	"exhausted-status=9 | none held 7s -> 0, breaker, 75",
	"exhausted-status=9 deadline=10s | none late 10s -> 0 in 10s, deadline, 124",
	"exhausted-status=9 attempts=2 | no-exec ENOENT -> 1, not-executable, 127",
	"exhausted-status=9 attempts=2 | no-exec ETXTBSY -> 2 in 1s, attempts, 126",
	"exhausted-status=9 attempts=2 | no-fork EAGAIN -> 2 in 1s, internal, 125",
	"exhausted-status=9 attempts=1 | 7 overrun -> 1, internal, 125",

	/* The machine slept during a delay, or the splay. */
	"deadline=10s | 7 late 10s -> 1 in 10s, deadline, 7",
	"deadline=10s | none late 10s -> 0 in 10s, deadline, 124",
	"deadline=10s | killed SEGV late 10s -> 1 in 10s, deadline, 139 SEGV",
	"deadline=10s | no-fork EAGAIN late 10s -> 1 in 10s, internal, 125",
	"attempts=2 deadline=10s | 7 late 9999999999ns, 8 -> 2 in 1s, attempts, 8",

	/* The budget denies an attempt, and retry does not wait. */
	"none held 7s -> 0, breaker, 75",
	"7 held 7s -> 1, breaker, 7",
	"killed SEGV denied 7s -> 1, budget, 139 SEGV",
	"no-fork EAGAIN denied 7s -> 1, internal, 125",
	/* It waits, but not for ever. */
	"budget-wait=30s | 7 denied 8s -> 1 within 30s, budget, 7",
	"budget-wait=30s | 7 held 8s -> 1 within 30s, breaker, 7",
	"budget-wait=30s | 7 denied 8s never -> 1, budget, 7",
	"budget-wait=3s | 7 denied 0 -> 1 within 3s, budget, 7",
	"budget-wait=30s deadline=10s | 7 denied 8s -> 1 within 10s, deadline, 7",
	"budget-wait=ever deadline=10s | 7 held 8s -> 1 within 10s, deadline, 7",
	/* A first attempt that the breaker held: EX_TEMPFAIL. */
	"budget-wait=ever deadline=5s | none held 7s -> 0 within 5s, deadline, 75",
	"budget-wait=ever deadline=5s | none held 7s late 6s -> 0 in 6s, deadline, 75",
	/* A closed key is waited for; --budget-wait is not asked. */
	"max-retry-after=9s | none throttled 10s -> 0 in 9s, retry-after, 75",
	"max-retry-after=9s attempts=5 | none throttled 1s -> 0 in 9s, retry-after, 75",
	"max-retry-after=9s deadline=60s | 7 throttled 10s -> 1 in 9s, retry-after, 7",
	"max-retry-after=90s deadline=5s | none throttled 50s -> 0 in 5s, retry-after, 75",
	/* A pace as well, but not without end if the deadline is near. */
	"max-retry-after=1s deadline=60s | none paced 2s -> 0 in 60s, deadline, 75",
	/* So is a place at --rate that is free in time. */
	"max-retry-after=1s deadline=60s | none crowded 60s -> 0, rate, 75",
	"deadline=60s | 7 crowded 60s -> 1, rate, 7",
	"deadline=60s | none crowded 59s -> 0 in 1s, rate, 75",
};

/* Asks the budget until it ends. */
static struct step play_denials(const char *row, const struct policy *policy,
    struct history *history, const struct admission *denied, nanos late, nanos *now) {
	struct step step = { .again = true };
	nanos began = *now;
	int asked;

	for (asked = 0; step.again && asked < 100000; asked++) {
		step = plan_denied(policy, history, denied, *now);
		if (!step.again)
			break;
		EQUAL(row, step.at, *now + step.delay);
		*now = late > 0 ? *now + late : step.at;
		step = plan_wake(history, &step, *now);
	}
	/* After each nap; near the end a few times more. */
	HOLDS(row, (asked - 20) * denied->nap <= *now - began);
	return step;
}

static const char denials[][10] = {
	[ADMISSION_CLOSED] = "throttled",
	[ADMISSION_PACE] = "paced",
	[ADMISSION_BREAKER] = "held",
	[ADMISSION_BUDGET] = "denied",
	[ADMISSION_RATE] = "crowded",
};

/* Plays an invocation as the main loop would, with a clock of its own. */
TEST_ROWS(plans) {
	struct script script = script_of(row), ahead;
	struct policy policy = read_options(&script);
	struct history history;
	struct outcome outcome = { .code = 0 };
	struct step step;
	nanos now = BEGAN, late = 0, end = BEGAN;
	int64_t repeat = 0;
	bool none;

	history = plan_start(&policy, now, NANOS_MAX, 1);
	step = plan_first(&policy, &history, now);
	ahead = script;
	script_next(&ahead);
	none = script_is(&ahead, "none");
	HOLDS(row, !plan_is_retry(&history));
	for (int i = 0; step.again && i < 100; i++) {
		struct admission denied = { .next = -1 };

		if (repeat-- == 0 && !script_is(&script, "->")) {
			if (none)
				script = ahead;
			outcome = read_outcome(&script, &policy.watches);
			repeat = 0;
			late = 0;
			while (!script_is(&script, ",") && !script_is(&script, "->")) {
				if (script_is(&script, "late"))
					late = script_span(&script);
				else if (script_is(&script, "never"))
					denied.never = true;
				else if (script.word[0] == 'x')
					repeat = atoi(script.word + 1) - 1;
				else {
					denied.answer =
					    (enum admission_answer)SCRIPT_NAME(&script, denials);
					denied.next = script_span(&script);
					denied.pace.held = denied.next;
					denied.nap = number_lesser(number_greater(denied.next,
								       NANOS_SECOND / 50),
					    NANOS_SECOND);
				}
				script_next(&script);
			}
		}
		EQUAL(row, step.at, now + step.delay);
		EQUAL(row, step.reason, REASON_NONE);
		if (!none) {
			now = step.at;
			step = plan_wake(&history, &step, now);
			EQUAL(row, history.made, i);
			plan_begin(&history);
			EQUAL(row, history.made, i + 1);
			now += outcome.elapsed;
			step = next_step(&policy, &history, &outcome, now);
		}
		if (denied.next >= 0)
			step = play_denials(row, &policy, &history, &denied, late, &now);
		else if (late > 0) {
			step = plan_wake(&history, &step, now + late);
			now += step.again ? 0 : late;
		}
	}
	HOLDS(row, !step.again);
	while (!script_is(&script, "->"))
		if (!script_next(&script))
			script_refuse(&script);

	EQUAL(row, history.made, script_number(&script));
	script_next(&script);
	none = script_is(&script, "within");
	if (!script_is(&script, ",")) {
		end += script_span(&script);
		script_next(&script);
	}
	HOLDS(row, now <= end && now > end - (none ? NANOS_SECOND : 1));
	/* It does not sleep up to the deadline. */
	HOLDS(row, !none || step.reason != REASON_DEADLINE || now < end);
	script_next(&script);
	SAME(row, verdict_reasons[step.reason].name, script.word);
	EQUAL(row, step.status, script_next(&script) ? script_number(&script) : 0);
	script_next(&script);
	EQUAL(row, step.signal, signame_number(script.word, strlen(script.word)));
	/* It gives up where another attempt was wanted: of two reasons that depends. */
	if (step.reason != REASON_INTERNAL && step.reason != REASON_NOT_IDEMPOTENT)
		EQUAL(row, plan_gives_up(&history, &step),
		    step.reason != REASON_INTERRUPTED && step.reason != REASON_SUCCEEDED &&
			step.reason != REASON_NOT_EXECUTABLE && step.reason != REASON_STOP_RULE &&
			step.reason != REASON_NOT_RETRYABLE);
	/* The next wait for admission is as long again. */
	plan_begin(&history);
	EQUAL(row, history.waits_until, 0);
	EQUAL(row, history.admission.answer, ADMISSION_GRANTED);
}

/*
 * From which delay to which one retry waits after an outcome; or first, without an outcome.
 */
static const char *const drawn[] = {
	/* Never earlier than the server asked; the jitter comes on top. */
	"jitter=full | http 503 wait 5s -> 5s to 6s",
	"jitter=equal | http 503 wait 60s -> 60s to 66s",
	"jitter=decorrelated deadline=63s | http 503 wait 60s -> 60s to 61.5s",
	"jitter=full retry-after=60:1 | 1 -> 60s to 66s",
	"jitter=full retry-after=60:1 | 1 limits -> 60s to 66s",
	/* RFC 6585: after a 429 at least the base delay. */
	"jitter=full | http 429 -> 1s to 1s",
	"jitter=full | http 503 -> 0s to 1s",
	/* A splay takes half of the time at most. */
	"-> 0s to 0s",
	"deadline=4000ns -> 0s to 0s",
	"splay=10000ns -> 0s to 10000ns",
	"splay=2000ns deadline=4000ns -> 0s to 2000ns",
	"splay=ever deadline=4000ns -> 0s to 2000ns",
	"splay=10000ns deadline=1ns -> 0s to 0s",
	/* While the budget knows of a limit, its pace decides, and the growth of the delay does
	 * not: but the user's own delay is the least. */
	"jitter=full | limits http 429 -> 0s to 1s",
	"jitter=full | limits http 429 wait 0 -> 0s to 1s",
	"jitter=full | limits http 429 wait 10s -> 10s to 11s",
	"jitter=full | limits http 503 wait 10s -> 10s to 11s",
	"jitter=full | limits http 503 -> 0s to 1s",
	"min-delay=3s jitter=full | limits http 429 wait 1s -> 3s to 4s",
	"jitter=none | limits http 429 -> 1s to 1s",
	/* The end tells which delay would not end before the deadline. */
	"deadline=3s delay=4s jitter=none | 7 -> 4s to 4s",
	"deadline=9s | http 503 wait 9s -> 9s to 9s",
};

TEST_ROWS(drawn) {
	struct script script = script_of(row);
	struct policy policy = script_policy(&script);
	nanos least = NANOS_MAX, most = 0, low, high, tenth;
	struct outcome outcome = { .code = 0 };
	bool ends;

	script_next(&script);
	ends = script_is(&script, "|");
	if (ends)
		outcome = read_outcome(&script, NULL);
	for (uint64_t seed = 0; seed < 1000; seed++) {
		struct history history = plan_start(&policy, BEGAN, NANOS_MAX, seed);
		struct step step = plan_first(&policy, &history, BEGAN);

		if (ends) {
			plan_begin(&history);
			step = next_step(&policy, &history, &outcome, BEGAN);
		}
		EQUAL(row, step.again, policy.deadline == 0 || step.delay < policy.deadline);
		least = number_lesser(least, step.delay);
		most = number_greater(most, step.delay);
	}
	low = script_span(&script);
	script_next(&script);
	high = script_span(&script);
	tenth = (high - low) / 10;
	HOLDS(row, least >= low && least <= low + tenth);
	HOLDS(row, most <= high && most >= high - tenth);
}

/* Whether the delay is a wait that was asked for, or the usual one. */
static const char *asker_of(const char *row) {
	struct script script = script_of(row);
	struct policy policy = read_options(&script);
	struct outcome outcome = read_outcome(&script, NULL);
	struct history history = plan_start(&policy, BEGAN, NANOS_MAX, 1);
	struct step step;

	plan_begin(&history);
	step = next_step(&policy, &history, &outcome, BEGAN);
	return !step.again ? "the end" : step.asked ? "asked" : "usual";
}

TEST(who_asks_for_a_delay) {
	static const char *const rows[][5] = {
		{ "asked", "| http 503 wait 1.5s", "| 7 hint 2s", "| http 503 wait 0.5s hint 2s",
		    "jitter=full | limits http 429 wait 10s" },
		{ "usual", "| 7", "| http 503 wait 0.5s", "| http 429", "| 7 unset-wait 9s" },
		{ "the end", "deadline=1s | http 503 wait 2s", "stop=7 | 7 hint 2s" },
	};

	ALIKE(rows, asker_of);
}

TEST(the_lesser_deadline_counts) {
	/* The policy's, which counts from now on, that of an outer retry, and which counts. */
	static const nanos rows[][3] = { { 50, NANOS_MAX, BEGAN + 50 },
		{ 0, BEGAN + 30, BEGAN + 30 }, { 50, BEGAN + 51, BEGAN + 50 },
		{ 50, BEGAN + 49, BEGAN + 49 }, { 50, 7, 7 }, { 50, BEGAN, BEGAN },
		{ NANOS_MAX, NANOS_MAX, NANOS_MAX } };

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct policy policy = script_policy_of("attempts=4");
		struct history history;

		policy.deadline = rows[i][0];
		history = plan_start(&policy, BEGAN, rows[i][1], 1);
		EQUAL("deadline", history.deadline, rows[i][2]);
		EQUAL("first", plan_first(&policy, &history, BEGAN).again, rows[i][2] > BEGAN);
	}
}

/* Near NANOS_MAX nothing wraps either. */
TEST(plans_saturate) {
	struct policy policy = script_policy_of("attempts=inf");
	struct history history = plan_start(&policy, NANOS_MAX - 10, NANOS_MAX, 1);
	struct outcome outcome = { .code = 7 };
	struct step step;

	history.made = 1000000000000;
	history.schedule.n = 1000000000000;
	step = next_step(&policy, &history, &outcome, NANOS_MAX - 10);
	HOLDS("no cap", step.again);
	EQUAL("no cap", step.delay, SECONDS(30));
	EQUAL("no cap", step.at, NANOS_MAX);
}

/* Each attempt has its own; those behind the last one have that. */
TEST(timeouts) {
	struct policy policy;

	memset(&policy, 1, sizeof policy); /* nothing else counts */
	policy.timeouts.count = 0;
	EQUAL("none", plan_timeout(&policy, 1), 0);
	policy.timeouts = (struct spans){ { 3, 0, 5 }, 3 };
	EQUAL("first", plan_timeout(&policy, 1), 3);
	EQUAL("none in the second", plan_timeout(&policy, 2), 0);
	EQUAL("last", plan_timeout(&policy, 3), 5);
	EQUAL("behind it", plan_timeout(&policy, 9), 5);
}

/* How an attempt ended, and what the budget is told: the result, what it says of the server's
 * limit, and for how long the server wants to be left alone. */
static const char *const tells[] = { "| 0 -> success served", "| 0 interrupted -> success served",
	"consecutive=2 | 0 -> success served", "| 7 -> failure", "| timeout -> failure",
	"attempts=1 | 7 -> failure", "stop=64 | 64 -> healthy served",
	"retry=7 | killed SEGV -> healthy",
	/* Of a keyboard, of a reader that has gone, of retry, and of what never ran. */
	"| killed INT -> ignored", "| killed PIPE -> ignored", "deadline=5s | deadline -> ignored",
	"| no-exec ENOENT -> ignored", "| no-fork EAGAIN -> ignored",
	"stop=7 | 7 interrupted -> ignored",
	/* A limit, whether the command goes on or not, and never longer than the user allows. */
	"| http 429 wait 5s -> limit refused 5s",
	"max-retry-after=3s | http 429 wait 5s -> limit refused 3s",
	"attempts=1 | http 429 wait 5s -> limit refused 5s",
	"stop=http:429 | http 429 wait 0.2s -> limit refused 0.2s",
	"| once http 429 wait 5s -> limit refused 5s", "| http 403 wait 5s -> limit refused 5s",
	"| http 429 wait 0 -> limit refused", "| http 429 -> limit refused",
	"success=http:429 | http 429 wait 5s -> success served",
	"| http 429 interrupted -> ignored",
	/* A failure that names a wait, but nothing else that does. */
	"| http 503 wait 5s -> failure refused 5s", "| http 529 wait 5s -> failure refused 5s",
	"stop=http:503 | http 503 wait 5s -> healthy refused 5s", "| http 503 -> failure",
	"retry=http:409 | http 409 wait 5s -> failure refused 5s",
	/* The wait for a request that is still being served is no limit. */
	"| http 409 keyed wait 5s -> failure served", "| http 409 keyed -> failure served",
	"| http 409 wanted wait 5s -> failure served",
	"retry=http:409 | http 409 -> failure served", "| http 404 wait 5s -> healthy served",
	"| http 404 -> healthy served", "| http 403 -> healthy served", "| http 408 -> failure",
	"| http 503 timeout wait 5s -> failure",
	/* The user, or a preset, calls it a limit; a 5xx stays a failure. */
	"retry-after=9:7 | 7 -> limit refused 9s", "retry-after=9:8 | 7 -> failure",
	"retry-after=9:7 | 0 -> success served", "retry-after=0:7 | 7 -> limit refused",
	"retry=7 retry-after=9:8 | 8 -> limit refused 9s",
	"retry-after=9:http:404 | http 404 -> limit refused 9s",
	"retry-after=9:http:503 | http 503 -> failure refused 9s",
	"retry-after=9:http:503 | http 503 wait 20s -> failure refused 20s",
	"retry-after=9:124 | timeout -> limit", "retry-after=9:130 | killed INT -> ignored",
	"retry-after=600:7 | 7 -> limit refused 600s",
	"max-retry-after=3s retry-after=9:7 | 7 hint 60s -> limit refused 9s",
	"known=60:7 | 7 -> limit refused 60s", "known=60:7 | 7 hint 5s -> limit refused 5s",
	"max-retry-after=9s known=60:7 | 7 -> limit refused 9s",
	"known=60:7 | 7 http 503 -> failure refused 60s" };

TEST_ROWS(tells) {
	static const char *const results[] = { "success", "healthy", "failure", "limit",
		"ignored" };
	struct script script = script_of(row);
	struct policy policy = read_options(&script);
	struct history history;
	struct outcome outcome;
	struct attempt_end end;
	struct step step;
	static const char says[][8] = { [PACE_SERVED] = "served", [PACE_REFUSED] = "refused" };
	enum pace_event_kind pace = PACE_UNKNOWN;
	nanos wait = 0;

	history = plan_start(&policy, BEGAN, NANOS_MAX, 1);
	outcome = read_outcome(&script, NULL);
	plan_begin(&history);
	step = next_step(&policy, &history, &outcome, BEGAN);
	end = plan_tell(&policy, &history, &step);
	while (!script_is(&script, "->"))
		if (!script_next(&script))
			script_refuse(&script);
	script_next(&script);
	SAME(row, results[end.result], script.word);
	if (script_next(&script))
		pace = (enum pace_event_kind)SCRIPT_NAME(&script, says);
	EQUAL(row, end.pace, pace);
	if (script_next(&script))
		duration_parse(script.word, strlen(script.word), &wait);
	if (pace == PACE_REFUSED)
		EQUAL(row, end.wait, wait);
	EQUAL(row, end.own, step.again ? step.delay : 0);
	EQUAL(row, end.completed, end.result == RESULT_SUCCESS && policy.consecutive == 1);
	HOLDS(row, !end.rescued);
}

/* A closed key before one attempt is waited for up to max_retry_after in all, unless
 * there is a deadline, or no limit of attempts. */
TEST(closed_keys) {
	static const struct admission held = { .answer = ADMISSION_CLOSED,
		.next = SECONDS(8),
		.nap = SECONDS(3),
		.pace = { .held = SECONDS(8) } };
	struct policy policy = script_policy_of("attempts=5 max-retry-after=20s");
	struct history history;
	struct step step;
	nanos now = BEGAN;

	history = plan_start(&policy, now, NANOS_MAX, 1);
	while ((step = plan_denied(&policy, &history, &held, now)).again) now = step.at;
	EQUAL("ends", now - BEGAN, SECONDS(20));
	SAME("ends", verdict_reasons[step.reason].name, "retry-after");
	HOLDS("gives up", plan_gives_up(&history, &step));
	policy.attempts = POLICY_UNLIMITED;
	HOLDS("no limit of attempts", plan_denied(&policy, &history, &held, now).again);
	policy.attempts = 5;
	history.deadline = now + SECONDS(60);
	HOLDS("a deadline", plan_denied(&policy, &history, &held, now).again);
	plan_begin(&history);
	EQUAL("anew", history.held, 0);
	/* What the user has named himself may take longer. */
	policy = script_policy_of("attempts=5 max-retry-after=20s retry-after=30:7");
	history = plan_start(&policy, now = BEGAN, NANOS_MAX, 1);
	while ((step = plan_denied(&policy, &history, &held, now)).again) now = step.at;
	EQUAL("ends later", now - BEGAN, SECONDS(30));
}
