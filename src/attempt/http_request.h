/*
 * http_request: what has to be known of the HTTP request that the command makes,
 * and what the command has to know of us: where its answer goes, and the key
 * by which a server tells a repetition from a new request.
 */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include <stdbool.h>
#include "sys/sys.h"
#include "attempt/private_file.h"
#include "policy/policy.h"
#include "attempt/status_file.h"

/* Whom --http leaves its file to, and so why there may be no status in it. */
enum request_by {
	REQUEST_BY_OTHERS, /* a command that is not curl */
	REQUEST_BY_CURL,
	REQUEST_BY_DUMP, /* a curl with a --dump-header of its own */
	REQUEST_BY_SUDO /* a curl that cannot open what is ours */
};

struct request {
	struct status status;
	const char *key; /* the idempotency key, or NULL */
	char **words; /* the command's, with ours among them, or NULL */
	char *dump; /* name of the file of curl's own -D, where it needs one */
	struct handout config; /* hands the key to curl; path NULL: none does */
	enum request_by by;
	bool missed; /* it was said that no status is found */
	char uuid[CONTEXT_UUID];
	char *variables[3]; /* for the command's environment, then NULL */
};

/* One that has nothing open yet: request_close does nothing. */
void request_start(struct request *request);

/*
 * Opens the status file that the policy asks for, finds the key, and where the
 * command is curl, or curl behind a wrapper (wrapper.h), and --http was given,
 * puts into policy->command what curl needs to be told, and into policy->rules
 * whether it may repeat itself; policy->typed stays what was typed. The key is
 * in a file that curl reads, and in no word of a command line. False, with
 * errno, if the kernel refuses.
 */
bool request_open(
    struct request *request, struct policy *policy, struct lines *lines);

/*
 * Says once, of an attempt that --http should have known more of, that no
 * status was found, and what helps.
 */
void request_miss(struct request *request, const struct policy *policy,
    const struct outcome *outcome, struct lines *lines);

/* Removes what was made. */
void request_close(const struct request *request);

#endif
