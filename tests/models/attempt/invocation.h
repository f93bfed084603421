/*
 * invocation: one run of retry on the fake kernel. All of retry.c and src/ runs
 * with a real command line; functions of libc are replaced. Some functions
 * of retry are observed on their way, to know where retry is and to check the
 * promises that hold at each step. A promise that is broken ends the run.
 */
#ifndef INVOCATION_H
#define INVOCATION_H

#include "attempt/termination.h"
#include "kernel.h"

/* The commands of the first attempts; later ones are like the last. */
#define COMMANDS 4

/* What retry is told, and what it meets. */
struct setting {
	int64_t attempts, consecutive;
	nanos timeout, kill_after, deadline, delay, splay, patience;
	int signal;
	struct temper commands[COMMANDS];
	struct temper member, hook;
	bool has_member; /* each command forks one process */
	bool on_retry, on_give_up;
	/* How long it takes to read standard input, to deliver the output of
	 * an attempt, and until nobody else has the pipes of a command open */
	nanos input, owed, straggling;
	/* and, in the end, to deliver held output, a report, and messages */
	nanos held, report, log;
	bool held_back; /* the breaker is open at the start */
	bool exhausted; /* others use up the budget as the first attempt begins
			 */
	bool interrupted; /* INT is sent as soon as an attempt begins */
	bool dies_abandoned; /* the command dies when retry abandons it */
	bool visible; /* there is a /proc */
	bool adopts; /* orphans become children of retry from the start */
	int around; /* the sum of some of these: */
};

/* What surrounds retry. */
enum {
	IS_INIT = 1, /* PID 1 */
	IS_LEADER = 2, /* of its session */
	HAS_PIDFDS = 4,
	OTHER_SESSION = 8, /* the command has one of its own */
	HAS_ELDER = 16, /* a child that was there before retry */
	IS_WATCHED = 32, /* by a shell with job control */
	SURROUNDINGS = 64,
};

/* What retry waits for. */
enum state {
	INPUT, /* the end of standard input, for --replay-stdin */
	SPLAY,
	BREAKER_WAIT, /* an open breaker, before the first attempt */
	DELAY,
	BUDGET_WAIT, /* an exhausted budget, before a retry */
	HOOK_IN_DELAY,
	HOOK_AFTER_DELAY, /* the hook takes longer than the delay */
	HOOK_SIGNALLED, /* because of the deadline */
	HOOK_KILLED,
	HOOK_UNKILLABLE, /* KILL was sent and has not ended it */
	RUNNING, /* the command */
	RUNNING_DEAD, /* the command has ended, and retry has not yet looked */
	INTERRUPTED, /* retry has heard INT, and the command goes on */
	SIGNALLED, /* by a limit, as the next four */
	SIGNALLED_DEAD, /* the command is dead, but not all of its tree */
	KILLED,
	KILLED_DEAD,
	UNKILLABLE,
	UNKILLABLE_DEAD,
	ABANDONED, /* the command, which still runs, after the deadline */
	ABANDONED_DEAD, /* the command has died after that */
	SLOW_READER, /* of the command's output */
	STRAGGLING, /* another process has the command's pipes open */
	DELIVERY, /* of held output, in the end */
	REPORT, /* to a slow reader */
	LAST_LINES, /* messages, to a slow reader */
	GIVE_UP, /* the hook of --on-give-up */
	GIVE_UP_SIGNALLED,
	GIVE_UP_KILLED,
	STATES,
};

struct invocation {
	struct setting set;
	int64_t successes; /* in a row */
	void (*direct)(nanos until); /* called in each wait, which ends then */

	/* Where retry is: its state follows from these. */
	const struct termination *limit; /* of what retry waits for, or NULL */
	bool ready; /* standard input is read */
	bool denied; /* the next attempt, by the budget or the breaker */
	bool beginning; /* what is forked now is the command of an attempt */
	bool attempting; /* a command runs, or its output is delivered */
	bool closing; /* there is no further attempt */
	bool abandoned, unkillable; /* the latest command */
	bool vain; /* the latest attempt got no process */
	bool cut; /* its output is not delivered */
	bool stuck; /* its reader took none as retry looked last */
	nanos looked; /* when the latest wait ended */
	int64_t begun, launched; /* attempts; attempts that got a process */
	nanos at; /* when the next attempt may begin, on BOOTTIME */
	nanos timeout, kill, given_up; /* when these limits are reached */

	/* What has happened to retry. */
	uint64_t ended_by; /* bit n: it has heard n, which ends the series */
	bool unheard; /* another such signal was pending in the latest wait */
	nanos disturbed; /* for how long retry could do nothing, in all */
	bool halted; /* it was told to stop, with the command */
	bool continued; /* it has heard SIGCONT in this attempt */
	struct sent due; /* what it has to pass on to the command, */
	bool is_due; /* if anything */
	int waits, spins; /* in all; since spinning */
	nanos spinning;
	int died; /* the signal that it has sent to itself in the end */

	/* What is going to happen to it. */
	nanos stopped, late; /* in this wait */
	int fork_failures, hook_failures;
};

extern struct invocation invocation;

/* How a run has ended. */
struct ending {
	const char *broken; /* the promise that was broken, or NULL */
	bool died; /* of a signal */
	int value; /* that signal, or the exit status */
};

/* Sets kernel and invocation to the start of a run. */
void invocation_start(const struct setting *set, uint64_t seed, bool tracing);

struct ending invocation_run(void);

/* What retry waits for; only within a wait. */
enum state invocation_state(void);

/* NANOS_MAX without a deadline; negative after it. */
nanos invocation_until_deadline(void);

#endif
