/*
 * verdict: judges an attempt as done, to retry or to stop, and by which rule.
 */
#ifndef VERDICT_H
#define VERDICT_H

#include <stdbool.h>
#include "budget/breaker.h"
#include "budget/pace.h"
#include "policy/conditions.h"
#include "text/duration.h"
#include "http/http_status.h"
#include "text/number.h"

/* The HTTP status of a limit (RFC 6585). */
#define VERDICT_TOO_MANY_REQUESTS 429

/* Room for how an attempt ended. */
#define VERDICT_END_ROOM (64 + NUMBER_ROOM)

enum end {
	END_EXITED,
	END_SIGNALED,
	END_TIMED_OUT, /* --timeout ended it, whatever its exit status */
	END_IDLE, /* --idle-timeout ended it, whatever its exit status */
	END_DEADLINE, /* the deadline ended it */
	END_NOT_STARTED, /* fork or exec failed */
};

/* Why retry ended. If several reasons hold, the first one counts; but a
 * deadline that ended the last attempt counts before the input. */
enum reason {
	REASON_NONE,
	REASON_INTERNAL,
	REASON_INTERRUPTED,
	REASON_NOT_EXECUTABLE,
	REASON_SUCCEEDED,
	REASON_STOP_RULE,
	REASON_NOT_RETRYABLE,
	REASON_NOT_IDEMPOTENT,
	REASON_INPUT_CONSUMED,
	REASON_ATTEMPTS,
	REASON_LIMIT,
	REASON_RETRY_AFTER,
	REASON_DEADLINE,
	REASON_RETRY_IF,
	REASON_BREAKER,
	REASON_BUDGET,
	REASON_RATE,
};

/* What is known of the HTTP request that each attempt makes. */
struct request {
	const char *method; /* of one that must not be sent twice; or NULL */
	bool several; /* there may be several requests */
	bool curl; /* --http has found curl: exit statuses are curl's */
	bool keyed; /* it needs an idempotency key, and has one */
};

/* How one attempt ended. */
struct outcome {
	enum end end;
	int code; /* exit status, or the number of the signal */
	bool preserved; /* a limit of time ended it: code is the status */
	int error; /* END_NOT_STARTED: errno */
	/* If exec was not tried: what failed ("cannot fork"); or NULL. */
	const char *lacking;
	bool again; /* it was not the first attempt */
	enum reason lost; /* why a retry would lack input, or REASON_NONE */
	bool overrun; /* the attempt wrote more than may be captured */
	int interrupted; /* the signal that ended retry meanwhile, or 0 */
	nanos elapsed; /* without the time for which retry was stopped */
	nanos duration; /* with it, as in reports */
	uint64_t seen; /* bit n: watch n has matched */
	bool has_hint; /* the output told how long to wait: hint */
	nanos hint;
	/* Of --retry-after: it has matched, and no time was found; or NULL. */
	const struct watch *vague;
	bool limit; /* of the server, as the user or a preset knows */
	bool preset_limit; /* a preset does */
	const struct known_wait *known; /* the one that counts, or NULL */
	nanos known_wait; /* how long it is */
	struct http_status
	    http; /* what the status file says, if there is one */
};

enum verdict {
	VERDICT_DONE,
	VERDICT_RETRY,
	VERDICT_STOP,
	VERDICT_REPEAT, /* done, but --consecutive wants more: see plan.h */
};

/* What the files of tools say about outcomes: it counts less than what the user
 * says, and more than presets. */
struct file_rules {
	struct conditions retry_on, stop_on, fail_on, success_on;
};

/* What the user said about outcomes, in options and by presets. */
struct rules {
	bool waits; /* -w: what nothing calls final is retried */
	/* If this and transient are empty, so it is, too. */
	struct conditions retry_on;
	struct conditions stop_on;
	struct conditions fail_on;
	struct conditions success_on;
	struct file_rules file;
	struct conditions transient, fatal; /* of presets */
	struct conditions tool_failed; /* failures despite status 0 */
	struct conditions tool_exits; /* statuses that are the tool's own */
	struct conditions tool_transient; /* transient with one of these */
	struct conditions limited; /* words for a server's limit */
	/* What the command has started elsewhere may still run. */
	struct conditions unfinished;
};

/*
 * The names of the rules, as the manual and reports have them. The rules are
 * checked in this order.
 *
 *	hold-max	more was written than may be captured: stop
 *	success-on	--success-on, or the file of a tool, names the outcome:
 *			done
 *	exit-status	exit status 0: done
 *	interrupted	a signal ended retry: stop
 *	not-executable	the command was not found, or could not be run: stop
 *	stop-on		--stop-on names the outcome: stop
 *	deadline	the deadline ended the attempt: retry (plan then stops)
 *	signal		death by INT, QUIT or PIPE, not in --retry-on: stop
 *	http		the server wants no retry: stop
 *	retry-on	--retry-on names the failure: retry
 *	http		the server wants a retry, or by the table of statuses,
 *			in whose place http: items of --retry-on stand
 *	preset		the file of a tool says stop or retry, also by a status;
 *			a preset calls the failure fatal: stop
 *	fail-on		--fail-on made it a failure, and there is no --retry-on:
 *			retry, whatever a preset calls transient
 *	preset		a preset calls the failure transient: retry
 *	http		curl cannot trust the server, and no list decides: stop
 *	retry-on, preset
 *			a list or a preset, and none says retry: stop; not -w
 *	idempotency	the request must not be sent twice, or what was started
 *			elsewhere may still run: stop
 *	default		a failure, and no list decides: retry
 *	retry-if	--retry-if does not want the retry: stop (plan)
 */
struct judgement {
	enum verdict verdict;
	enum reason reason; /* REASON_NONE for VERDICT_RETRY and _REPEAT */
	const char *rule;
};

/*
 * Judges an outcome. --success-on, --fail-on, the HTTP status and exit status
 * 0, in this order, decide whether it is a success. The rules above decide what
 * a failure means. --retry-on http:... replaces the statuses that the HTTP
 * table retries. plan.h applies limits of time and number.
 */
struct judgement verdict_of(const struct rules *rules,
    const struct request *request, const struct outcome *outcome);

/* Whether the set names a failure. */
bool
verdict_fails_by(const struct conditions *set, const struct outcome *outcome);

/* Whether what the command has started elsewhere may still run, and --retry-on
 * does not allow to start it again. */
bool verdict_goes_on(const struct rules *rules, const struct outcome *outcome);
/*
 * Whether the set, of --retry-on, names a failure. If the HTTP status is an
 * error, only that status and the output count: how the command ended then says
 * no more (curl exits with 22 after each of them).
 */
bool
verdict_retries_by(const struct conditions *set, const struct outcome *outcome);

/* Whether an HTTP status tells that an earlier request with the same key is
 * still being served: then the same is to be asked again. */
bool verdict_under_way(
    const struct request *request, const struct http_status *http);

/* What an outcome that is judged so says about the dependency. */
enum attempt_result verdict_result(const struct rules *rules,
    const struct judgement *judgement, const struct outcome *outcome);

/*
 * What an outcome that is judged so says of the server's limit: it is refused
 * by a limit, or by a failure of the server that names a wait; it is served,
 * whatever it is, if the server has answered without a limit; or nothing is
 * known. A limit counts whether the command goes on or not.
 */
enum pace_event_kind verdict_pace(const struct rules *rules,
    const struct judgement *judgement, const struct outcome *outcome);

/*
 * The exit status for an outcome: the command's own, 128+n for a signal, 124
 * for a time limit unless the command's is preserved, 127 for not found, 126
 * for not executable, 125 if retry itself failed.
 */
int verdict_status(const struct outcome *outcome);

/*
 * The wait that the server named, in its response or by words in the command's
 * output, the longer one; -1: none. And that or the known wait.
 */
nanos verdict_named(const struct outcome *outcome);
nanos verdict_wait(const struct outcome *outcome);

/* A name, as the manual and reports have it, and words. */
struct verdict_text {
	char name[16], words[64];
};

/*
 * By enum end: "killed" and "killed by ", which a number or a signal may
 * follow. By enum reason: "attempts" and "attempts exhausted", as it follows
 * "giving up: ". By enum verdict: "retry".
 */
extern const struct verdict_text verdict_ends[], verdict_reasons[];
extern const char verdict_names[][8];

/* Writes how an attempt ended: "exit 7", "killed by SIGTERM", "timed out". */
char *
verdict_put_end(char room[VERDICT_END_ROOM], const struct outcome *outcome);

#endif
