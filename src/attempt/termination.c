#include "attempt/termination.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include "text/number.h"

/* What KILL ends is gone by then, unless the kernel holds it. */
#define STUCK_AFTER NANOS_SECOND

/* How often the dying are looked at: most deaths we are not told of. */
#define WATCH (20 * NANOS_MS)

/* KILL goes out again at once while new processes keep turning up. */
#define ROUNDS 8

static void
name(
    struct termination *limit, const struct termination_means *means, pid_t pid)
{
	bool refused = pid == limit->proctree.refused;
	char digits[NUMBER_ROOM];

	if (limit->named || pid == 0)
		return;
	limit->named = true;
	log_say(means->log, LOUDNESS_PLAIN,
	    STRINGS(means->what, means->label, ": process ",
		number_put(digits, pid),
		refused ? " cannot be signalled: "
			: " is still alive 1s after KILL",
		refused ? strerror(EPERM) : ""));
}

static bool
emptied(const struct termination *limit)
{
	return limit->proctree.living == 0 && !limit->proctree.unsure;
}

static void
send_kill(struct termination *limit, const struct termination_means *means)
{
	int rounds = 0;

	do
		limit->proctree =
		    proctree_sweep(means->sweep, limit->child, SIGKILL);
	while (!emptied(limit) && ++rounds < ROUNDS);
}

static void
enter(struct termination *limit, enum termination_stage stage, nanos end)
{
	limit->stage = stage;
	limit->next = end;
}

static void
start_kill(
    struct termination *limit, const struct termination_means *means, nanos now)
{
	send_kill(limit, means);
	enter(limit, TERMINATION_KILLED, number_add(now, STUCK_AFTER));
}

void
termination_reach(
    struct termination *limit, const struct termination_means *means, nanos now)
{
	proctree_settle(means->sweep, limit->child);
	if (means->signal == SIGKILL || means->kill_after == 0) {
		start_kill(limit, means, now);
	} else {
		limit->proctree =
		    proctree_sweep(means->sweep, limit->child, means->signal);
		enter(limit, TERMINATION_ASKED,
		    number_add(now, means->kill_after));
	}
	/* sudo's, say: there is no use in waiting for what will not come. */
	if (limit->proctree.refused == limit->child)
		name(limit, means, limit->child);
}

void
termination_press(struct termination *limit,
    const struct termination_means *means, nanos now, bool late)
{
	switch (limit->stage) {
	case TERMINATION_ASKED:
		if (now >= limit->next)
			start_kill(limit, means, now);
		else
			limit->proctree =
			    proctree_sweep(means->sweep, limit->child, 0);
		break;
	case TERMINATION_KILLED:
		send_kill(limit, means);
		if (now < limit->next || termination_over(limit))
			break;
		enter(limit, TERMINATION_STUCK, now);
		if (!limit->dead)
			name(limit, means, limit->child);
		else if (limit->proctree.refused != 0)
			name(limit, means, limit->proctree.refused);
		else
			name(limit, means, limit->proctree.one);
		break;
	case TERMINATION_STUCK:
		send_kill(limit, means);
		if (!limit->dead && late)
			limit->stage = TERMINATION_LEFT;
		break;
	case TERMINATION_AHEAD:
	case TERMINATION_LEFT:
		break;
	}
}

nanos
termination_nap(const struct termination *limit, nanos now)
{
	switch (limit->stage) {
	case TERMINATION_ASKED:
		return limit->next - now;
	case TERMINATION_KILLED:
		return WATCH;
	case TERMINATION_STUCK:
		return STUCK_AFTER;
	case TERMINATION_AHEAD:
	case TERMINATION_LEFT:
		break;
	}
	return NANOS_MAX;
}

/*
 * What lives was counted after the child was seen dead: what the child leaves
 * behind comes to us as it dies, and an earlier count would miss it. Only the
 * child itself is waited for without end.
 */
bool
termination_over(const struct termination *limit)
{
	switch (limit->stage) {
	case TERMINATION_ASKED:
	case TERMINATION_KILLED:
		return limit->dead && emptied(limit);
	case TERMINATION_AHEAD:
	case TERMINATION_STUCK:
		return limit->dead;
	case TERMINATION_LEFT:
		break;
	}
	return true;
}
