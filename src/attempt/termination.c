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
name(struct limit *limit, const struct limit_means *means, pid_t pid)
{
	bool refused = pid == limit->tree.refused;
	char digits[NUMBER_ROOM];

	if (limit->named || pid == 0)
		return;
	limit->named = true;
	lines_say(means->lines, LOUDNESS_PLAIN,
	    STRINGS(means->what, means->label, ": process ",
		number_put(digits, pid),
		refused ? " cannot be signalled: "
			: " is still alive 1s after KILL",
		refused ? strerror(EPERM) : ""));
}

static bool
emptied(const struct limit *limit)
{
	return limit->tree.living == 0 && !limit->tree.unsure;
}

static void
send_kill(struct limit *limit, const struct limit_means *means)
{
	int rounds = 0;

	do
		limit->tree = tree_sweep(means->muster, limit->child, SIGKILL);
	while (!emptied(limit) && ++rounds < ROUNDS);
}

static void
enter(struct limit *limit, enum limit_stage stage, nanos end)
{
	limit->stage = stage;
	limit->next = end;
}

static void
start_kill(struct limit *limit, const struct limit_means *means, nanos now)
{
	send_kill(limit, means);
	enter(limit, LIMIT_KILLED, number_add(now, STUCK_AFTER));
}

void
limit_reach(struct limit *limit, const struct limit_means *means, nanos now)
{
	tree_settle(means->muster, limit->child);
	if (means->signal == SIGKILL || means->kill_after == 0) {
		start_kill(limit, means, now);
	} else {
		limit->tree =
		    tree_sweep(means->muster, limit->child, means->signal);
		enter(limit, LIMIT_ASKED, number_add(now, means->kill_after));
	}
	/* sudo's, say: there is no use in waiting for what will not come. */
	if (limit->tree.refused == limit->child)
		name(limit, means, limit->child);
}

void
limit_press(
    struct limit *limit, const struct limit_means *means, nanos now, bool late)
{
	switch (limit->stage) {
	case LIMIT_ASKED:
		if (now >= limit->next)
			start_kill(limit, means, now);
		else
			limit->tree =
			    tree_sweep(means->muster, limit->child, 0);
		break;
	case LIMIT_KILLED:
		send_kill(limit, means);
		if (now < limit->next || limit_over(limit))
			break;
		enter(limit, LIMIT_STUCK, now);
		if (!limit->dead)
			name(limit, means, limit->child);
		else if (limit->tree.refused != 0)
			name(limit, means, limit->tree.refused);
		else
			name(limit, means, limit->tree.one);
		break;
	case LIMIT_STUCK:
		send_kill(limit, means);
		if (!limit->dead && late)
			limit->stage = LIMIT_LEFT;
		break;
	case LIMIT_AHEAD:
	case LIMIT_LEFT:
		break;
	}
}

nanos
limit_nap(const struct limit *limit, nanos now)
{
	switch (limit->stage) {
	case LIMIT_ASKED:
		return limit->next - now;
	case LIMIT_KILLED:
		return WATCH;
	case LIMIT_STUCK:
		return STUCK_AFTER;
	case LIMIT_AHEAD:
	case LIMIT_LEFT:
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
limit_over(const struct limit *limit)
{
	switch (limit->stage) {
	case LIMIT_ASKED:
	case LIMIT_KILLED:
		return limit->dead && emptied(limit);
	case LIMIT_AHEAD:
	case LIMIT_STUCK:
		return limit->dead;
	case LIMIT_LEFT:
		break;
	}
	return true;
}
