#include "capacity.h"

#include "text/number.h"

bool
capacity_serves(const struct capacity *capacity, struct load *load, nanos now)
{
	nanos token;

	if (now >= capacity->begin && now < capacity->end)
		return false;
	if (capacity->flaky > 0 && ++load->count % capacity->flaky == 0)
		return false;
	if (capacity->rate == 0)
		return true;

	token = NANOS_SECOND / capacity->rate;
	if (now >= capacity->end)
		load->used = number_greater(load->used, capacity->end);
	/* What was not used within a second is lost. */
	load->used = number_greater(load->used, now - NANOS_SECOND);
	if (load->used + token > now)
		return false;
	load->used += token;
	return true;
}
