/*
 * curl: reads from a curl command line what retry has to know of the request.
 *
 * retry adds options to the command line, and has to know which of them the
 * user gave (curl's manual, "OPTIONS"). ~/.curlrc is not read.
 */
#ifndef CURL_H
#define CURL_H

#include <stdbool.h>
#include <stddef.h>

/* One operation, as --next separates them, or all of them together. */
struct curl {
	/*
	 * retry may insert its options before argv[opening]. That is as early
	 * as possible, because the last option wins and the user's options have
	 * to win; but it is behind -q and --disable, which curl accepts only as
	 * the first word.
	 */
	size_t opening;
	size_t next; /* the next operation starts at argv[next]; 0: none */
	/*
	 * The method of the request. NULL, unknown, if the method is
	 * idempotent without a config file (-K) or an unknown option, which may
	 * change it.
	 */
	const char *method;
	bool dumps; /* there is a -D */
	const char *dump; /* the file of -D; NULL: another, or not known */
	bool retries; /* there is a --retry other than 0 */
	bool keyed; /* curl sends an Idempotency-Key */
	bool several; /* curl may transfer more than one URL */
	bool skips; /* curl may exit with 0 without a transfer */
	bool lenient; /* curl exits with 0 even if a server of HTTP answers with
			 an error; not set if that is not known */
};

/* Whether the program, with or without a directory, is curl. */
bool curl_named(const char *program);

/*
 * Reads the operation that starts at argv[from]; the first one is at 1. argv
 * ends in NULL, and the result points into its strings.
 *
 * As in curl, the last -D, --retry and -X win. A command line that curl would
 * refuse is read as far as possible: curl will send nothing. Headers in a
 * file (-H @file) are not read, nor are the URLs in a file (--url @file), which
 * count as several. What a variable of --expand-... stands for is not known,
 * and may be nothing at all: a method of it is not idempotent, and only what
 * stands before it makes a key.
 */
struct curl curl_operation(char *const argv[], size_t from);

/*
 * Reads the whole command line, all operations together. opening and next are
 * those of the first operation. method is the first one that is neither
 * idempotent nor sent with a key, if there is one. dumps and dump are those of
 * the last operation, which gets the last response. retries is set if one has
 * it. keyed is set if at least one operation has a key, and each operation that
 * is not idempotent has one. skips and lenient are set if one operation has it.
 */
struct curl curl_read(char *const argv[]);

/*
 * Whether a request with this method, in upper or lower case, has the same
 * effect if it is sent twice: the methods of RFC 9110 section 9.2.2 (GET, HEAD,
 * OPTIONS, TRACE, PUT, DELETE) and those that IANA's registry of HTTP methods
 * lists as idempotent. POST, PATCH, CONNECT, LOCK and unregistered methods are
 * not: section 9.2.2 allows a retry only if the method is known to be. True for
 * NULL, an unknown method.
 */
bool curl_idempotent(const char *method);

/*
 * Whether curl's exit status says that its last transfer sent no request: no
 * such proxy (5), no such host (6), no connection (7). From 8.20 on, 7 is also
 * that a proxy made none: it has got a CONNECT, and the server nothing. An
 * earlier request may have been sent all the same, if there may be several
 * transfers or if there was a response (a redirect, say, to a host that is
 * down).
 */
bool curl_never_sent(int status);

/*
 * Whether curl's exit status is about certificates, keys, ciphers or engines of
 * TLS, which no retry changes: curl(1), "EXIT CODES". 35 is not: a handshake
 * may also end because the server is overloaded.
 */
bool curl_distrusts(int status);

#endif
