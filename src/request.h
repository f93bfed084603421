/*
 * request: what has to be known of the HTTP request that the command makes,
 * and what the command has to know of us: where its answer goes, and the key
 * by which a server tells a repetition from a new request.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include <stdbool.h>
#include "context.h"
#include "policy.h"
#include "status.h"

struct request {
	struct status status;
	const char *key; /* the idempotency key, or NULL */
	char **words; /* the command's, with ours among them, or NULL */
	char *header; /* that hands the key to curl's server, or NULL */
	char uuid[CONTEXT_UUID];
	char *variables[3]; /* for the command's environment, then NULL */
};

/*
 * Opens the status file that the policy asks for, finds the key, and where the
 * command is curl and --http was given, puts into policy->command what curl
 * needs to be told, and into policy->rules whether it may repeat itself.
 * False, with errno, if the kernel refuses.
 */
bool request_open(
    struct request *request, struct policy *policy, struct lines *lines);

#endif
