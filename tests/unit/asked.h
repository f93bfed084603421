/*
 * asked: what a user asks for, from words such as "attempts=4 delay=0,1s".
 *
 * The names are those of the options. Nothing: nine attempts, after 1s, 2s, 4s
 * and so on up to 30s, without jitter, deadline and timeout.
 */
#ifndef ASKED_H
#define ASKED_H

#include "policy/policy.h"
#include "script.h"

struct asked {
	struct policy policy;
	/* What the policy points to. */
	struct limit limits[2];
	struct watch watches[CONDITIONS_WATCHES];
	char lists[6][64];
	int count; /* of lists */
};

/* Reads words up to one that is no option. */
void asked_read(struct script *script, struct asked *asked);

/* Reads a text that has nothing but options. */
struct policy asked_policy(const char *options);

#endif
