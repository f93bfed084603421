#include "attempt/termination.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include "text/number.h"

/* How long KILL may take to end a process that no system call blocks. */
#define KILL_TAKES NANOS_SECOND

/* The time between looks after KILL: most deaths cause no SIGCHLD for retry. */
#define WATCH (20 * NANOS_MS)

/* How often KILL is sent at once while new processes turn up. */
#define ROUNDS 8

/* Says once which process does not end. */
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
is_gone(const struct termination *limit)
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
	while (!is_gone(limit) && ++rounds < ROUNDS);
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
	enter(limit, TERMINATION_KILLED, number_add(now, KILL_TAKES));
}

void
termination_start(
    struct termination *limit, const struct termination_means *means, nanos now)
{
	proctree_exclude_daemons(means->sweep, limit->child);
	if (means->signal == SIGKILL || means->kill_after == 0) {
		start_kill(limit, means, now);
	} else {
		limit->proctree =
		    proctree_sweep(means->sweep, limit->child, means->signal);
		enter(limit, TERMINATION_SIGNALLED,
		    number_add(now, means->kill_after));
	}
	/* retry may not signal the child, such as sudo: the signal has no
	 * effect. */
	if (limit->proctree.refused == limit->child)
		name(limit, means, limit->child);
}

void
termination_advance(struct termination *limit,
    const struct termination_means *means, nanos now, bool late)
{
	switch (limit->stage) {
	case TERMINATION_SIGNALLED:
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
		enter(limit, TERMINATION_UNKILLABLE, now);
		if (!limit->dead)
			name(limit, means, limit->child);
		else if (limit->proctree.refused != 0)
			name(limit, means, limit->proctree.refused);
		else
			name(limit, means, limit->proctree.one);
		break;
	case TERMINATION_UNKILLABLE:
		send_kill(limit, means);
		if (!limit->dead && late)
			limit->stage = TERMINATION_ABANDONED;
		break;
	case TERMINATION_NONE:
	case TERMINATION_ABANDONED:
		break;
	}
}

nanos
termination_nap(const struct termination *limit, nanos now)
{
	switch (limit->stage) {
	case TERMINATION_SIGNALLED:
		return limit->next - now;
	case TERMINATION_KILLED:
		return WATCH;
	case TERMINATION_UNKILLABLE:
		return KILL_TAKES;
	case TERMINATION_NONE:
	case TERMINATION_ABANDONED:
		break;
	}
	return NANOS_MAX;
}

/*
 * The sweep came after the child was seen dead: retry adopts the child's
 * orphans when it dies, and an earlier sweep would miss them. Only the child
 * itself is waited for without end.
 */
bool
termination_over(const struct termination *limit)
{
	switch (limit->stage) {
	case TERMINATION_SIGNALLED:
	case TERMINATION_KILLED:
		return limit->dead && is_gone(limit);
	case TERMINATION_NONE:
	case TERMINATION_UNKILLABLE:
		return limit->dead;
	case TERMINATION_ABANDONED:
		break;
	}
	return true;
}
