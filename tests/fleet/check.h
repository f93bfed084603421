/*
 * check: the parts of script_check. What is not as expected ends the program.
 *
 * trial: random questions to a script on a real server, and to its twin. They
 * bring the time with them (question->now), so that hours pass in a moment. All
 * answers, the stored hash and its expiry must be equal, and no grant may break
 * the promise of question.h.
 *
 * cases: what happens to single questions on a server with a fault. server: the
 * path of its socket.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include "link.h"

/* How many trials there are. */
#define TRIALS 36

struct trial_tally {
	bool patient; /* go on until the promise is broken */
	int64_t questions, grants, stale, hashes;
	int64_t checks; /* grants of which the promise was checked */
	const char *wrong; /* what was not as in the twin; NULL: nothing */
	bool broken; /* the promise */
};

/* Loads the script by which the hash is compared; before the first trial. */
void trial_prepare(struct link *link);

/*
 * Runs trial number of 0 to TRIALS - 1 with the script that has this SHA1, and
 * adds to the tally. Ends soon after something is wrong, or,
 * if the tally is patient, after the promise is broken.
 */
void trial_run(
    struct link *link, const char *sha1, int number, struct trial_tally *tally);

/* Accounts with all rights that question_script.h names, and with one less. */
void cases_rights(const char *server);

/* A server that is stopped while it is asked, and continued too late. */
void cases_stopped(const char *server);

/* A server that has just been started. */
void cases_empty(const char *server);

/* What the server refuses. */
void cases_errors(const char *server);

#endif
