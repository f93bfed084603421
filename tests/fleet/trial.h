/*
 * trial: random questions to a script on a real server, and to its twin. They
 * bring the time with them, in a key, so that hours pass in a moment. All
 * answers, the stored hash and its expiry must be equal, and no grant may break
 * the promise of question.h.
 */
#ifndef TRIAL_H
#define TRIAL_H

#include <stdbool.h>
#include <stdint.h>

struct trial_tally {
	int64_t questions, grants, stale, hashes;
	int64_t checks; /* grants of which the promise was checked */
	const char *wrong; /* what was not as in the twin; NULL: nothing */
	bool broken; /* the promise */
};

/*
 * Tries the script on the server at a Unix socket until soon after something is
 * wrong, or, if patient, until the promise is broken. Errors of the kernel end
 * the program.
 */
struct trial_tally trial_run(const char *socket, const char *script, bool patient);

#endif
