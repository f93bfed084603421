#include "report/fleet_inquiry.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "sys/sys.h"
#include "text/number.h"

void
fleet_inquiry_open(struct fleet_inquiry *inquiry, const struct policy *policy)
{
	const struct fleet_policy *fleet = &policy->fleet;

	inquiry->fleet = fleet;
	inquiry->error =
	    signals_open(&inquiry->signals) ? NULL : strerror(errno);
	link_open(&inquiry->link, fleet, policy->loudness == LOUDNESS_VERBOSE,
	    &inquiry->signals);
}

void
fleet_inquiry_close(struct fleet_inquiry *inquiry)
{
	link_close(&inquiry->link);
	close(inquiry->signals.fd);
	signals_restore(&inquiry->signals);
}

/* Waits until the question is over. False, with the error, if it failed. */
static bool
await(struct fleet_inquiry *inquiry)
{
	struct fleet_link *link = &inquiry->link;
	struct pollfd fds[2]; /* the first is that of the signals */

	while (link->end == LINK_PENDING) {
		struct wakeup wakeup;

		fds[1] = link_pollfd(link);
		wakeup = signals_wait(&inquiry->signals, fds, 2,
		    link_nap(link, sys_now(CLOCK_BOOTTIME)));
		if (signals_end_series(wakeup.signal)) {
			link_close(link);
			signals_die(wakeup.signal);
		}
		link_serve(link, fds[1].revents, sys_now(CLOCK_BOOTTIME));
	}
	if (link->end == LINK_FAILED)
		inquiry->error = link->reason;
	return inquiry->error == NULL;
}

static void
fill_in(struct snapshot *snapshot, const struct fleet_answer *answer)
{
	snapshot->retries = answer->retries;
	snapshot->limit = answer->limit;
	snapshot->left = number_greater(answer->limit - answer->retries, 0);
	snapshot->successes = answer->successes;
	snapshot->window = answer->terms.window;
	snapshot->ratio = answer->terms.ratio;
	snapshot->min = answer->terms.min;
	snapshot->hosts = answer->hosts;
	if (snapshot->left > 0)
		snapshot->next = 0;
	else if (answer->limit > 0)
		snapshot->next = answer->next;
}

bool
fleet_inquiry_look(
    struct fleet_inquiry *inquiry, const char *key, struct snapshot *snapshot)
{
	const struct fleet_question question = { .key = key,
		.terms = inquiry->fleet->terms };

	snapshot_clear(snapshot, key);
	if (inquiry->error != NULL)
		return false;
	link_ask(&inquiry->link, &question, false, sys_now(CLOCK_BOOTTIME));
	if (!await(inquiry))
		return false;
	fill_in(snapshot, &inquiry->link.talk.answer);
	return true;
}

void
fleet_inquiry_look_all(struct fleet_inquiry *inquiry,
    const struct snapshot *snapshots, size_t count, struct snapshot *fleets)
{
	for (size_t i = 0; i < count; i++) {
		char key[SEGMENT_KEY + 1];

		/* The key of a snapshot is not NUL-terminated. */
		memcpy(key, snapshots[i].key, snapshots[i].length);
		key[snapshots[i].length] = '\0';
		fleet_inquiry_look(inquiry, key, &fleets[i]);
	}
}

bool
fleet_inquiry_forget(struct fleet_inquiry *inquiry, const char *key)
{
	const struct fleet_question question = { .key = key };

	if (inquiry->error != NULL)
		return false;
	link_ask(&inquiry->link, &question, true, sys_now(CLOCK_BOOTTIME));
	return await(inquiry);
}
