/*
 * invocation: one run of retry on the kernel that is not there: retry.c and all
 * of src/, but for the command line, descriptors and the budget, which are
 * replaced here. The promises that hold at each step are checked here, too.
 */
#ifndef INVOCATION_H
#define INVOCATION_H

#include "attempt/termination.h"
#include "policy/policy.h"
#include "kernel.h"

/* Commands of the first attempts; the last is that of all others. */
#define COMMANDS 4

/* What is asked for, and what it meets. */
struct setting {
	int64_t attempts;
	nanos timeout, kill_after, deadline, delay, splay, patience;
	int signal;
	struct temper commands[COMMANDS];
	struct temper member, hook;
	bool has_member, on_retry, on_give_up, has_elder;
	nanos input, owed, straggling, held; /* how long these take */
	nanos report, log; /* and these at the end, to slow readers */
	int denials, later_denials; /* before the first attempt; a retry */
	bool interrupted; /* each attempt is, at once */
	bool dies_left; /* the command does, in the moment it is given up */
	bool init, leader, pidfds, visible;
	bool adopts; /* orphans come to us from the start */
	bool pends; /* TERM does, blocked, from the start */
	bool watched; /* by a shell, which waits for us to stop or end */
};

/* What retry is at, when it waits. */
enum state {
	INPUT,
	SPLAY,
	HELD,
	DELAY,
	DENIED,
	BESIDE, /* a hook, in the delay */
	BEHIND, /* a hook, longer than that */
	HOOK_ASKED,
	HOOK_KILLED,
	HOOK_STUCK,
	AHEAD, /* of any limit: the command runs */
	AHEAD_DEAD, /* the command is dead; nobody has looked */
	INTERRUPTED, /* but the command runs on */
	ASKED,
	ASKED_DEAD, /* the command is dead, but not all of its tree */
	KILLED,
	KILLED_DEAD,
	STUCK,
	STUCK_DEAD,
	LEFT, /* the command lives on */
	LEFT_DEAD, /* or died then */
	OWED, /* the command's output, to a slow reader */
	STRAGGLING, /* somebody else has its pipes */
	DELIVERY, /* of what was held; all is over */
	REPORT, /* to a slow reader */
	LINES, /* the last ones, to another */
	GIVE_UP, /* a hook, then */
	GIVE_UP_ASKED,
	GIVE_UP_KILLED,
	STATES,
};

struct invocation {
	struct setting set;
	struct policy policy;
	void (*direct)(nanos until); /* what happens in a wait up to then */
	/* what it is at */
	const struct termination *limit; /* while there is one to look at */
	bool ready, denied, attempting, delivering, closing;
	bool left, stuck; /* the command, once */
	bool owes; /* it was said that output is owed */
	bool vain; /* the latest attempt got no process */
	bool beginning; /* an attempt: what is forked now is the command */
	bool opened; /* signals are heard */
	size_t taken; /* of those that were pending from the start */
	int64_t begun, launched; /* attempts; those that got one */
	nanos at; /* when the next may begin, on BOOTTIME */
	nanos timeout, kill, given_up; /* when these are due */
	nanos owed, straggling, delivered; /* until when */
	nanos reported, said; /* the same */
	bool reporting;
	struct log *log; /* once they may go */
	/* what it has met */
	uint64_t ended_by; /* bit n: it has heard n, which ends all */
	bool unheard; /* there was another, at the latest wait */
	nanos disturbed; /* for how long it could do nothing, in all */
	int refusals; /* of a process, or a pipe */
	bool halted; /* it was told to stop, with the command */
	bool continued; /* it has heard SIGCONT in this attempt */
	struct sent due; /* what it is to pass on, if any */
	bool is_due;
	int waits, spins;
	nanos spinning; /* since when */
	void *heap[3]; /* what it would free */
	int died; /* the signal of which it does */
	/* what it is to meet */
	nanos stopped, late; /* in this wait */
	int denials, fork_failures, pipe_failures, hook_failures;
	bool eaten;
};

extern struct invocation invocation;

/* How it ended. */
struct ending {
	const char *broken; /* what must never be, or NULL */
	bool died; /* of a signal, which is value; else value is its status */
	int value;
	int64_t launched;
};

/* Gets all ready for invocation_run, kernel and invocation. */
void invocation_start(const struct setting *set, uint64_t seed, bool tracing);

struct ending invocation_run(void);

enum state invocation_state(void);

nanos invocation_until_deadline(void);

#endif
