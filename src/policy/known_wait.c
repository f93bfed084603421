#include "policy/known_wait.h"

#include "text/number.h"

/* More of them make any wait endless. */
#define DOUBLINGS 62

/* The longest wait for this failure, of the user or of presets. */
static const struct known_wait *
find(const struct known_wait *waits, const struct outcome *outcome, bool preset)
{
	const struct known_wait *found = NULL;

	for (; waits != NULL; waits = waits->next)
		if ((waits->preset != NULL) == preset &&
		    (found == NULL || waits->least > found->least) &&
		    verdict_fails_by(&waits->failures, outcome))
			found = waits;
	return found;
}

void
known_wait_find(
    const struct known_wait *waits, struct outcome *outcome, int64_t *limits)
{
	const struct known_wait *users = find(waits, outcome, false);
	const struct known_wait *presets = find(waits, outcome, true);

	outcome->limit = users != NULL || presets != NULL;
	outcome->preset_limit = presets != NULL;
	if (users != NULL) {
		outcome->known = users;
		outcome->known_wait = users->least;
	} else if (presets != NULL && verdict_named(outcome) < 0) {
		outcome->known = presets;
		outcome->known_wait = number_multiply(presets->least,
		    INT64_C(1) << number_lesser(*limits, DOUBLINGS));
	}
	*limits += presets != NULL ? 1 : 0;
}

nanos
known_wait_longest(const struct known_wait *waits)
{
	nanos most = 0;

	for (; waits != NULL; waits = waits->next)
		if (waits->preset == NULL)
			most = number_greater(most, waits->least);
	return most;
}
