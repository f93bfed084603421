/*
 * curl: what a command line of curl says (its manual, "OPTIONS"): the method
 * of the request, and what retry has to know before it adds options of its
 * own. What stands in ~/.curlrc is not seen.
 */
#ifndef CURL_H
#define CURL_H

#include <stdbool.h>
#include <stddef.h>

/* One operation: what stands between --next and --next, or all of them. */
struct curl {
	/*
	 * Options of ours may be put before argv[opening]: as early as can
	 * be, so that the user's own come later and win. -q and --disable
	 * count only as the very first word, and stay that.
	 */
	size_t opening;
	size_t next; /* argv index that the next operation starts at, or 0 */
	/*
	 * The method of the request; NULL if that cannot be known, since a
	 * config file (-K) may choose it, or an option that no curl known
	 * here has. One that is known to be not idempotent is told even then.
	 */
	const char *method;
	bool dumps; /* has a -D of its own... */
	const char *dump; /* ...to this file; NULL if to stdout or stderr */
	bool retries; /* has a --retry of its own, other than 0 */
	bool keyed; /* sends an Idempotency-Key of its own */
	bool several; /* may transfer more than one URL */
};

/* Whether the program, with or without a directory, is curl. */
bool curl_named(const char *program);

/*
 * Reads the operation that starts at argv[from]; the first one is at 1. argv
 * ends in NULL, and what the result points to lives in it.
 *
 * As in curl, the last -D, --retry and -X win. What curl would refuse to do
 * is read as far as it makes sense: nothing will be sent. A header that is
 * read from a file (-H @file) is not looked into.
 */
struct curl curl_operation(char *const argv[], size_t from);

/*
 * The whole command line as if it were one operation, opening and
 * next being the first's. With --next the method is the first that is neither
 * idempotent nor sent with a key, if any is; dump is the last operation's that
 * has one; it retries if any does. keyed then means that no operation lacks a
 * key that needs one, and one at least has one.
 */
struct curl curl_read(char *const argv[]);

/*
 * Whether a request by this method, in either case of letters, can be sent
 * twice with the effect of once: the methods of RFC 9110 section 9.2.2 (GET,
 * HEAD, OPTIONS, TRACE, PUT, DELETE) and those that IANA's registry of HTTP
 * methods has as idempotent. Not so are POST, PATCH, CONNECT, LOCK, and what
 * nobody has registered: section 9.2.2 wants to know before it retries. NULL,
 * a method that nothing is known of, passes: there is no gate.
 */
bool curl_idempotent(const char *method);

/*
 * Whether curl's exit status says that no request was sent: no such proxy
 * (5), no such host (6), no connection (7). That is so of its last transfer:
 * where there may be several, or a response has been seen (a redirect's, say,
 * to a host that is down), one before it was sent all the same.
 */
bool curl_never_sent(int status);

#endif
