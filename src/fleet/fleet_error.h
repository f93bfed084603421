/*
 * fleet_error: what the error of a fleet's server means for a question.
 *
 * Most errors mean the same: this host has to do without the server for a while
 * (FLEET_ERROR_REFUSED). After the others the question may be asked again at
 * once, in another way.
 */
#ifndef FLEET_ERROR_H
#define FLEET_ERROR_H

#include <stdint.h>
#include "text/strview.h"

enum fleet_error {
	FLEET_ERROR_REFUSED,
	FLEET_ERROR_NOSCRIPT, /* ask with EVAL */
	FLEET_ERROR_MOVED, /* ask another server of the cluster */
	FLEET_ERROR_ASK, /* the same, with ASKING before each command */
	FLEET_ERROR_TIME, /* ask with the time in the question: send TIME */
};

/* Which server to ask: the parts point into the text of the error. */
struct fleet_redirect {
	struct strview host; /* empty: the same as before */
	int port;
};

/* text: of an error reply. *to is set for FLEET_ERROR_MOVED and _ASK. */
enum fleet_error fleet_error_of(struct strview text, struct fleet_redirect *to);

/*
 * The part of an error that says why: without the numbers of the script, and
 * without the words "Error running script" that older servers put before it,
 * and without a full stop, since a message continues after them. If the server
 * wants a password, the words are those of NOAUTH, whatever it says.
 */
struct strview fleet_error_words(struct strview text);

#endif
