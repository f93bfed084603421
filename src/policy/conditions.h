/*
 * conditions: parses a LIST of outcomes, as --retry-on takes it, into a set.
 */
#ifndef CONDITIONS_H
#define CONDITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "text/duration.h"

/* HTTP statuses that a LIST can name. */
#define CONDITIONS_HTTP_FIRST 100
#define CONDITIONS_HTTP_LAST 599

/* What is true of some outcomes; all zero is true of none. */
struct condition_set {
	uint64_t exits[4]; /* bit n: exit status n */
	uint64_t signals; /* bit n - 1: death by signal n */
	uint64_t http[8]; /* bit n: HTTP status CONDITIONS_HTTP_FIRST + n */
	uint64_t watches; /* bit n: watch n has matched */
	nanos over, under; /* the attempt ran longer, or less; 0: none */
	/* These stand last: conditions_empty() compares the bytes before them.
	 */
	bool any_signal, timeout, idle, fail;
};

/*
 * A set of conditions; all zero is the empty set. Those behind "again:" do not
 * count at the first attempt.
 */
struct conditions {
	struct condition_set first, later; /* later has all of first */
};

/* The most patterns of one invocation. */
#define CONDITIONS_WATCHES 64

struct pattern;
struct pattern_hint;

/* A pattern that is looked for in the command's output. */
struct watch {
	const char *text; /* an ERE */
	int fd; /* 1 or 2 */
	uint32_t number; /* of text among the texts of pattern */
	struct pattern *pattern; /* NULL until text is compiled */
	struct pattern_hint *hint; /* of --retry-after, with pattern; or NULL */
	const char *preset; /* whose text it is; NULL: the user's */
};

/* The patterns of all lists, and those of --retry-after. */
struct watches {
	struct watch *list; /* the caller's, with room for the most */
	int count;
	bool hints; /* some are of --retry-after */
};

/* Why a LIST is refused, and which item is wrong (not NUL-terminated). */
struct conditions_error {
	const char *why;
	const char *item;
	size_t length;
};

/*
 * Adds the comma-separated items of list to the set: exit statuses "7",
 * ranges "64-78", signals "SIGSEGV" or "SEGV" (either case), "signal" (any),
 * "timeout", "idle" (no output), "fail" (any failure), "http:503", "http:5xx",
 * "http:500-504", "over:5m", "under:2s", "stderr:ERE" and "stdout:ERE", each
 * of which "again:" may precede. A pattern extends to the end of the list. A
 * new pattern is added to watches, and points into list, which must live as
 * long as watches. False, with error filled and both unchanged, if an item is
 * empty, unknown or out of range, or a range runs backwards. error->why is a
 * phrase, such as "not an exit status, signal or condition".
 */
bool conditions_parse(struct conditions *set, struct watches *watches,
    const char *list, struct conditions_error *error);

/* The length of the first item of a LIST; a pattern is all of the list. */
size_t conditions_item(const char *list);

/* A list without the "again:" at its start. */
const char *conditions_bare(const char *list);

/*
 * Where the end of a list's pattern begins that is a LIST, too: at ",75" in
 * "stderr:denied,75". Who wrote it may not know that it is a part of the
 * pattern. NULL if there is none.
 */
const char *conditions_swallowed(const char *list);

/* The descriptor at which a list looks that begins with "stdout:" or "stderr:";
 * 0 if it begins with neither. */
int conditions_stream(const char *list);

/* The length of "stderr:" and of "stdout:". */
#define CONDITIONS_STREAM 7

/*
 * Adds a pattern for descriptor fd to the set. If set is NULL, it is in none,
 * and each call adds one. NULL if there is no room.
 */
struct watch *conditions_watch(
    struct conditions *set, struct watches *watches, int fd, const char *text);

/* Whether the set has only what a command says itself: exit statuses, HTTP
 * statuses and patterns. */
bool conditions_said(const struct conditions *set);

/* Whether the set is empty. */
bool conditions_empty(const struct conditions *set);

/* The conditions that count at the first attempt, or again, at a later one. */
const struct condition_set *
conditions_at(const struct conditions *set, bool again);

/* Whether the set names an attempt that ran for this time. */
bool conditions_has_time(const struct condition_set *set, nanos elapsed);

/* Whether the set names exit status code, 0..255, by number or range. */
bool conditions_has_exit(const struct condition_set *set, int code);

/* Whether the set names HTTP status code; with 0, whether it names any. */
bool conditions_has_http(const struct condition_set *set, int code);

/*
 * Whether the set names this one signal, by its name or as 128+n. The condition
 * "signal", which means any signal, does not name it.
 */
bool conditions_names_signal(const struct condition_set *set, int number);

#endif
