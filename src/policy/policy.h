/*
 * policy: what the user asked for; filled once by options, const from then on.
 */
#ifndef POLICY_H
#define POLICY_H

#include <stdbool.h>
#include <stdint.h>
#include "policy/backoff.h"
#include "text/duration.h"
#include "budget/admission.h"
#include "policy/known_wait.h"
#include "policy/target.h"
#include "policy/url.h"
#include "policy/verdict.h"

/* --attempts inf. */
#define POLICY_UNLIMITED INT64_MAX

/* The most times that --limit may be given. */
#define POLICY_LIMITS 16

/* How many options a retry within the command takes over at most. */
#define POLICY_HANDED 14

/* The most bytes of --label. */
#define POLICY_LABEL 255

enum loudness {
	LOUDNESS_QUIET,
	LOUDNESS_PLAIN,
	LOUDNESS_VERBOSE,
};

/* What this invocation does: nearly always, it runs a command. */
enum action {
	ACTION_RUN,
	ACTION_STATUS, /* of budgets */
	ACTION_RESET,
	ACTION_GC,
	ACTION_REHEARSE, /* --dry-run */
};

enum log_format {
	LOG_TEXT,
	LOG_JSON,
	LOG_GITHUB,
};

enum showing {
	SHOWING_AUTO,
	SHOWING_ALWAYS,
	SHOWING_NEVER,
};

enum format {
	FORMAT_TABLE,
	FORMAT_JSON,
	FORMAT_PROM,
};

/* Which retries are made under an outer retry (--nested). */
enum nested {
	NESTED_SHARE, /* all */
	NESTED_ADD, /* none while the outer one makes a retry itself */
	NESTED_ONCE, /* none */
};

/* A variable for a retry within the command. */
struct handed {
	const char *name, *text;
};

/* How many retries there may be after some kinds of failures. */
struct limit {
	const char *text; /* as it was given: "2:timeout" */
	const char *location; /* "FILE:LINE"; NULL: the command line */
	int64_t retries;
	struct conditions failures;
};

/* An option as it was given: LISTs and presets in their order. */
struct given {
	const char *option; /* "stop-on", "preset" and so on */
	const char *text; /* as it was given; the name of a preset */
	const char *location; /* "FILE:LINE"; NULL: the command line */
	const char *tool; /* whose file has it (tool.h); NULL: the user's */
	struct given *next;
	bool launched; /* a preset, of what a launcher such as npx runs */
	bool replaced; /* a preset, by the file of that name */
};

/* The fleet that shares the budget: its server has to grant each retry, too. */
struct fleet_policy {
	const char *text; /* the URL as it was typed; NULL: no fleet */
	const char *auth_file; /* NULL: none was named */
	struct url *url; /* of text */
	struct url_auth *auth; /* its password "": none */
	struct fleet_config config;
};

struct policy {
	enum action action;
	enum format format; /* of the status of budgets */
	const char *subject; /* of the action: a key; NULL: all, or none */
	/* At least one word and a NULL; NULL if no command is run. With targets
	 * all words, from the first target on. */
	char **command;
	/* The last component of its first word, or "targets". */
	const char *program;
	const struct target *targets; /* what -w waits for, or NULL */
	int target_count;
	char **then; /* the command behind the targets, or NULL */
	bool dashed; /* "--" stands before the command */
	int64_t attempts; /* 1 or more, or POLICY_UNLIMITED */
	struct limit *limit[POLICY_LIMITS];
	int64_t consecutive; /* successes in a row that are wanted, 1 or more */
	nanos deadline; /* for everything; 0: none */
	/* What set them; without a text an outer retry. */
	struct given attempts_by, deadline_by, max_retry_after_by;
	/* Each is the limit of one attempt, the last one of all later ones; 0,
	 * or none: no limit. Not all are 0. */
	struct spans timeouts;
	nanos idle_timeout; /* the longest time without output; 0: none */
	nanos kill_after; /* the time from signal to SIGKILL */
	int signal; /* that ends an attempt at a limit of time */
	enum nested nested;
	struct backoff backoff;
	nanos reset_after; /* 0: never */
	nanos splay;
	uint64_t seed;
	struct rules rules;
	struct given *given; /* what the rules are from; NULL: nothing */
	struct watches watches; /* what the rules look for */
	const char *http_status; /* the user's status file, or NULL */
	struct known_wait *known_waits; /* after some limits; or NULL */
	nanos max_retry_after; /* if a server asks for more, retry gives up */
	const char *method; /* of the HTTP request, or NULL */
	const char *key; /* Idempotency-Key, "auto", or NULL */
	struct budget_config budget;
	struct fleet_policy fleet; /* shares the budget */
	/* Options that were given, as variables; unused ones have no name. */
	struct handed handed[POLICY_HANDED];
	int64_t stdin_max; /* bytes that --replay-stdin may take */
	int64_t hold_max; /* bytes of each stream that may be captured */
	const char *label; /* names the command in messages, or NULL */
	const char *report; /* files to write, or NULL; "-": standard error */
	const char *metrics;
	const char *trace;
	const char *retry_if; /* shell lines to run, or NULL */
	const char *on_retry;
	const char *on_give_up;
	enum loudness loudness;
	enum log_format log_format;
	enum showing progress;
	int limits;
	bool replay; /* every attempt gets the same standard input */
	bool hold_out, hold_err; /* output is captured until judged */
	bool chronic; /* both are, and written only after the final failure */
	bool seeded;
	bool waits; /* for the command's first success (-w) */
	const char *unsearched; /* a preset that leaves the terminal alone */
	bool automatic; /* a preset was to be that of the command */
	bool has_tool; /* ... which has a file (tool.h) */
	bool launched; /* ... which runs a tool that has no preset */
	bool presets_off; /* they were taken back, or -w wants none */
	bool http; /* retry makes a status file (--http) */
	bool http_unasked; /* only because it is curl, by --preset auto */
	int64_t exhausted_status; /* if a limit ended it; 0: as otherwise */
	bool keep_status; /* that of the command, however it was judged */
	bool preserve_status; /* that of a command that a limit ended */
	bool kill_orphans; /* a failed attempt leaves nothing behind */
};

#endif
