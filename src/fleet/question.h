/*
 * question: what is asked of a fleet's server, and what it answers.
 *
 * A budget of a fleet is a hash on the server, which one script reads and
 * changes. Like the window of a host, it limits retries to a share of recent
 * successes. Guarantee, for every window that ends with a retry, whatever
 * processes and connections die or stop:
 *
 *     retries granted by the server that have not succeeded
 *         <= max(min, ratio * successes in the window that it was told of)
 *
 * It holds under four conditions. A retry is made within a slice after it was
 * granted. The age of a success is its age at question->by, which is never less
 * than its age when the script runs. A host tells this server only that those
 * retries have succeeded which this server has counted. Nobody sets the
 * server's clock. If its clock is set back, no retry is forgotten, so that the
 * minimum still holds.
 *
 * All times are the server's: nanoseconds since 1970, to the microsecond.
 *
 * The script needs Redis 5, or any Valkey, and an account with the rights
 * +evalsha +eval +time +hmget +hget +hset +pexpire on the keys retry:*.
 *
 * The budget is a hash. Time is divided into slices. Slice number E of the
 * server's clock is the epoch E; field E mod 64 has its retries, successes and
 * hosts, such as "3 20 1". These are the other fields:
 *
 *     w q m    the length of a slice in microseconds, the ratio in millionths,
 *              and the minimum: the strictest of all that were asked for
 *     e        the latest epoch
 *     R S H    the retries and hosts of 62 slices, the successes of 59
 *     x        an epoch before which no retry counts
 *
 * A retry that was granted in a slice may be made in the next one, so a window
 * of 60 slices may have retries of 62. Only 59 slices are certainly within it
 * from start to end, so only their successes count.
 *
 * A host tells how many retries have succeeded, and not when they were granted.
 * They are paid back from the oldest slots that have retries. A window has the
 * retries of some slot and of all later ones. Let sum(i) be what the slots from
 * i on count, and open(i) how many of these retries have not succeeded, so that
 * open(i) <= sum(i). If a retry of slot g succeeds, open(i) is one less for all
 * i <= g. The script makes sum(i) one less for all i <= x, where slot x is the
 * oldest one with retries. If g < i <= x, then before that open(i) < open(g) <=
 * sum(g) = sum(i); so open(i) <= sum(i) still holds for all i.
 *
 * For that slot g must still count. No slice of the host is longer than the
 * script's, the server is told less than 30 slices after the success, and the
 * host asked for the retry less than 30 slices before it.
 *
 * Scripts are not rolled back if they fail. So one HSET writes all that
 * changes, and PEXPIRE follows it: if a right is missing, or the memory is
 * full, then nothing is granted that is not counted. A question that wants
 * nothing looks whether that is so, by requests that have no effect.
 */
#ifndef QUESTION_H
#define QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "text/duration.h"
#include "budget/segment.h"
#include "fleet/resp.h"
#include "policy/url.h"

/* The script, and its SHA1 in hexadecimal, by which EVALSHA names it. */
extern const char question_script[];
extern const char question_script_sha1[];

/* Room for any question, with the script in it. */
#define FLEET_REQUEST 12288

/* The words by which the budget of key is found: the key of its hash. */
#define FLEET_KEY "retry:1:"

/*
 * Writes a question: EVALSHA, or EVAL with the script if whole. A question with
 * nothing wanted and nothing told changes nothing on the server, and the terms
 * in its answer are those that are stored, if any are; but it is refused where
 * the server could not count a retry. To forget the budget is PEXPIRE.
 */
void question_put(struct resp_request *request,
    const struct fleet_question *question, bool whole);

/*
 * Reads the answer to a question. False if the reply is none: the server may
 * be broken or hostile. next and pause are at most a window and a slice.
 */
bool question_read(const struct resp_reply *reply,
    const struct fleet_question *question, struct fleet_answer *answer);

/*
 * A dialog is all that is said until the question has its answer, without the
 * connection. All requests that do not depend on a reply are sent together:
 * AUTH, SELECT and the question. Some errors lead to another way to ask, but
 * not for ever. All other errors mean that this host has to do without the
 * server for a while.
 */

enum question_move {
	QUESTION_WAITS, /* until out is sent, or for more of in */
	QUESTION_ANSWERED,
	QUESTION_REDIRECTED, /* ask the same over a connection to url */
	QUESTION_REFUSED, /* words: why */
	QUESTION_INVALID, /* the reply is not that of such a server */
};

struct dialog {
	const struct url_auth *auth; /* its password "": none */
	struct url url; /* of the server; QUESTION_REDIRECTED changes it */
	struct fleet_question *question; /* by may change */
	struct fleet_answer answer; /* FLEET_CUT: none; FLEET_STALE: there was
				       only that one */
	/*
	 * The part of an error that says why: without what a server says of
	 * its script, and without a full stop, since a message continues after
	 * them. If the server wants a password, the words are those of NOAUTH,
	 * whatever it says.
	 */
	struct strview words;

	bool asking; /* ASKING stands before each command */
	bool whole; /* the server may not know the script */
	int times; /* that the question was asked in yet another way */
	int greetings; /* replies that have to be OK, before the answer */

	size_t sent, length; /* of out */
	size_t received; /* of in */
	char out[FLEET_REQUEST + 2 * URL_PASSWORD_ROOM];
	char in[RESP_REPLY];
};

/* Begins a dialog with a server. */
void question_open(
    struct dialog *dialog, const struct url_auth *auth, const struct url *url);

/* Begins a question. Writes nothing yet. */
void question_ask(struct dialog *dialog, struct fleet_question *question);

/* Writes to out all that can be sent now. anew: over a new connection, to which
 * nothing has been sent. */
void question_write(struct dialog *dialog, bool anew);

/*
 * Takes the replies in in, and writes to out what is to be sent because of
 * them. left: how long the question may still take. words points into in, and
 * is valid until the next call.
 */
enum question_move question_take(struct dialog *dialog, nanos left);

#endif
