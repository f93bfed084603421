/*
 * policy: what the user asked for. Types only; filled once by options, const
 * from then on.
 */
#ifndef POLICY_H
#define POLICY_H

#include <stdbool.h>
#include <stdint.h>
#include "backoff.h"
#include "duration.h"
#include "verdict.h"

/* --attempts inf. */
#define POLICY_UNLIMITED INT64_MAX

/* How often --preset may be given. */
#define POLICY_PRESETS 8

enum loudness {
	LOUDNESS_QUIET,
	LOUDNESS_PLAIN,
	LOUDNESS_VERBOSE,
};

struct policy {
	char **command; /* NULL-terminated, at least one word; command[-1] is
			   an element too (argv's), free to be overwritten */
	int64_t attempts; /* 1 or more, or POLICY_UNLIMITED */
	nanos deadline; /* for everything; 0: none */
	nanos timeout; /* for one attempt; 0: none */
	int signal; /* what ends an attempt at a limit */
	nanos kill_after; /* then KILL, this much later */
	struct backoff backoff;
	nanos reset_after; /* 0: never */
	nanos splay;
	bool seeded;
	uint64_t seed;
	struct rules rules;
	const char *preset[POLICY_PRESETS]; /* names, as they were given */
	int presets;
	struct watches watches; /* what the rules look for */
	bool http; /* a status file of our own */
	const char *http_status; /* the user's, or NULL */
	nanos max_retry_after; /* longer hints give up */
	const char *method; /* as declared, or NULL */
	const char *key; /* for the method, "auto", or NULL */
	enum loudness loudness;
};

#endif
