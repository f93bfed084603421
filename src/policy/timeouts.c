#include "policy/timeouts.h"

#include "text/number.h"

nanos
timeouts_of(const struct timeouts *timeouts, int64_t attempt)
{
	if (timeouts->count == 0)
		return 0;
	return timeouts->list[number_lesser(attempt, timeouts->count) - 1];
}

bool
timeouts_any(const struct timeouts *timeouts)
{
	for (int i = 0; i < timeouts->count; i++)
		if (timeouts->list[i] > 0)
			return true;
	return false;
}

bool
timeouts_all(const struct timeouts *timeouts, int64_t attempts)
{
	int64_t listed = number_lesser(attempts, timeouts->count);

	for (int64_t i = 0; i < listed; i++)
		if (timeouts->list[i] == 0)
			return false;
	return listed > 0;
}

nanos
timeouts_sum(const struct timeouts *timeouts, int64_t attempts)
{
	int64_t listed = number_lesser(attempts, timeouts->count);
	nanos sum;

	if (!timeouts_all(timeouts, attempts))
		return NANOS_MAX;
	sum = number_multiply(
	    timeouts->list[timeouts->count - 1], attempts - listed);
	for (int64_t i = 0; i < listed; i++)
		sum = number_add(sum, timeouts->list[i]);
	return sum;
}
