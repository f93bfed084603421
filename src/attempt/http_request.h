/*
 * http_request: the HTTP request of the command: its status, key and
 * repeatability. The command is told where to write the answer, and the
 * idempotency key, by which a server tells a repetition from a new request.
 *
 * retry empties the status file before each attempt and reads it after the
 * attempt. A FIFO, a device or a link at its path is ignored: retry neither
 * waits for such a file nor writes to it.
 */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include <stdbool.h>
#include "attempt/environment.h"
#include "output/log.h"
#include "policy/policy.h"
#include "sys/sys.h"

#define HTTP_REQUEST_PATH 96

/*
 * A file that retry makes for the command, which opens it by path. The file is
 * in memory if /proc gives such a file a path: then no file is left behind,
 * even if retry is killed. If not, it is a temporary file. Other users cannot
 * open it.
 */
struct private_file {
	int fd;
	bool temporary; /* the file has to be removed in the end */
	char path[HTTP_REQUEST_PATH];
};

struct http_request {
	const struct policy *policy;
	struct log *log;
	char **command; /* the policy's, or a copy with more options for curl */
	const char *key; /* the idempotency key, or NULL */
	char random[SYS_UUID + 2]; /* a key that retry made */
	struct request *known; /* what the verdict has to know of it */
	const char *path; /* of the status file, made or not; NULL: none */
	struct private_file made, config; /* a status file; the key for curl */
	bool stale; /* it could not be emptied: its content is old */
	bool missing; /* a success had no HTTP status, though --http asked */
	bool skips; /* curl may rightly have none: no attempt has failed */
	bool advised; /* the advice for curl without --http was given */
	bool sums; /* curl has several URLs, and does not retry them itself */
};

/*
 * Fills it in. Opens the status file that the policy asks for and finds the
 * key. Where --http was given and the command is curl, or curl behind a wrapper
 * other than sudo (command_line.h), request->command is a copy of it with
 * options that make curl use the status file and the key, and known is filled
 * in. The key is in a file that curl reads, never in a word of a command line.
 * RETRY_HTTP_STATUS and RETRY_IDEMPOTENCY_KEY tell the command both. False,
 * with errno, if the kernel refuses.
 */
bool
http_request_open(struct http_request *request, const struct policy *policy,
    struct log *log, struct request *known, struct environment *environment);

/* Empties the status file for the attempt that is about to begin. */
void http_request_begin(struct http_request *request);

/*
 * Fills in what the outcome of an attempt says about its request. Without
 * --http, it is advised after the first exit status 0 of a curl that exits with
 * 0 after an error of the server, too. With -v, a status file that cannot be
 * read or that tells nothing is logged.
 */
void http_request_end(struct http_request *request, struct outcome *outcome);

/* Warns that an attempt exited with 0 without the HTTP status that --http asks
 * for, if one did, and says what helps. */
void http_request_say_missing(const struct http_request *request);

/* Removes the files that were made, if any: it need not be open. */
void http_request_close(const struct http_request *request);

#endif
