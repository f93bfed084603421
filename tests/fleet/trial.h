/*
 * trial: random questions to a script on a real server, and to its twin. They
 * bring the time with them (question->now), so that hours pass in a moment. All
 * answers, the stored hash and its expiry must be equal, and no grant may break
 * the promise of question.h.
 */
#ifndef TRIAL_H
#define TRIAL_H

#include <stdbool.h>
#include <stdint.h>
#include "link.h"

/* How many trials there are. */
#define TRIALS 24

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

#endif
