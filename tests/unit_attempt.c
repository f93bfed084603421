/*
 * Whole invocations on a fake kernel, without processes and without waiting.
 * tests/attempt has the kernel, the invocation, and the promises that hold at
 * every step.
 *
 * Each state in which retry waits meets each event that can happen then, in
 * every combination of surroundings, and the outcome must be the one that the
 * tables here name. Then come random settings with random events.
 *
 *     unit_attempt                           all runs
 *     unit_attempt SEED                      one random run, step by step
 *     unit_attempt STATE EVENT NUMBER AROUND one run of a state and an event
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include "attempt/invocation.h"
#include "unit.h"

#define RUNS 250000

int main(int argc, char **argv);
FAKE(main);

static const nanos ms = NANOS_MS, second = NANOS_SECOND;

/* The number of a process that has nothing to do with retry. */
enum { STRANGER = 77 };

static nanos
lesser(nanos a, nanos b)
{
	return a < b ? a : b;
}

/*
 * Events. The number is that of a signal, if the event is about one.
 */

static void
wake(int number)
{
	(void)number;
	kernel.stirred = true;
}

static void
end_command(int status, int signal)
{
	if (kernel_alive(kernel.command))
		kernel_end(kernel.command, status, signal);
}

static void
succeed(int number)
{
	(void)number;
	end_command(0, 0);
}

static void
fail(int number)
{
	(void)number;
	end_command(7, 0);
}

static void
crash(int number)
{
	(void)number;
	end_command(0, SIGSEGV);
}

static void
die_of(int number)
{
	end_command(0, number);
}

static void
miss(int number)
{
	(void)number;
	if (kernel_alive(kernel.command))
		kernel.command->temper.error = ENOENT;
	end_command(127, 0);
}

static void
stop(int number)
{
	(void)number;
	if (kernel_alive(kernel.command))
		kernel_stop(kernel.command, 3 * second);
}

/* A command that no limit ends must end by itself. */
static void
hang(int number)
{
	const struct setting *set = &invocation.set;
	bool limited = set->timeout != 0 || set->deadline != 0;

	(void)number;
	if (kernel_alive(kernel.command) && !kernel.command->temper.refuses)
		kernel.command->ends =
		    limited ? NANOS_MAX : kernel.now + 20 * second;
}

static void
go_deaf(int number)
{
	hang(number);
	if (kernel_alive(kernel.command))
		kernel.command->temper.deaf = true;
}

static void
sink(int number)
{
	hang(number);
	if (kernel_alive(kernel.command))
		kernel.command->free = kernel.now + 6 * second;
}

static void
refuse(int number)
{
	struct process *command = kernel.command;

	(void)number;
	if (!kernel_alive(command))
		return;
	command->temper.refuses = true;
	command->ends = lesser(command->ends, kernel.now + 6 * second);
}

static void
send_by_others(int number)
{
	kernel_post((struct sent){
	    .number = number, .code = SI_USER, .sender = STRANGER });
}

static void
queue_by_others(int number)
{
	kernel_post((struct sent){ .number = number,
	    .code = SI_QUEUE,
	    .sender = STRANGER,
	    .value = 4711 });
}

static void
send_by_command(int number)
{
	if (kernel_alive(kernel.command))
		kernel_post((struct sent){ .number = number,
		    .code = SI_USER,
		    .sender = kernel.command->pid });
}

static void
send_twice(int number)
{
	kernel_type(number);
	send_by_others(SIGWINCH);
	send_by_others(number);
}

static void
send_to_ourselves(int number)
{
	kernel_post((struct sent){
	    .number = number, .code = SI_USER, .sender = kernel.self });
}

/* A new process of the command, or else of the hook. */
static struct process *
fork_member(const struct temper *temper)
{
	const struct process *parent =
	    kernel_alive(kernel.command) ? kernel.command : kernel.hook;

	if (!kernel_alive(parent))
		return NULL;
	return kernel_spawn(ROLE_MEMBER, kernel_place(parent), temper);
}

/* The parent of orphans. */
static int
foster_parent(void)
{
	return kernel.subreaper || kernel.self == 1 ? PARENT_SELF : PARENT_INIT;
}

static void
fork_deaf(int number)
{
	static const struct temper temper = { .life = 40 * NANOS_SECOND,
		.deaf = true };

	(void)number;
	fork_member(&temper);
	fork_member(&temper);
}

static void
fork_refusing(int number)
{
	static const struct temper temper = { .life = 6 * NANOS_SECOND,
		.refuses = true };

	(void)number;
	fork_member(&temper);
}

/*
 * A process becomes a daemon: it forks and ends. Where no process can, there is
 * a daemon whose parent has ended before.
 */
static void
fork_daemon(int number)
{
	static const struct temper temper = { .life = 3 * NANOS_SECOND,
		.apart = true };
	static const struct temper heir = { .life = 3 * NANOS_SECOND };

	(void)number;
	for (int i = 0; i < KERNEL_PROCESSES; i++) {
		struct process *process = &kernel.list[i];

		if (!kernel_alive(process) || process->bond != BOND_NONE ||
		    process->role != ROLE_MEMBER)
			continue;
		kernel_spawn(ROLE_MEMBER, i, &heir);
		kernel_end(process, 0, 0);
		return;
	}
	kernel_spawn(ROLE_MEMBER, foster_parent(), &temper);
}

/* A process in a session of its own, and an orphan in that session. */
static void
fork_apart(int number)
{
	static const struct temper temper = {
		.life = 40 * NANOS_SECOND, .apart = true, .deaf = true
	};
	const struct process *member = fork_member(&temper);
	struct process *other;

	(void)number;
	if (member == NULL)
		return;
	other = kernel_spawn(ROLE_MEMBER, foster_parent(), &temper);
	if (other != NULL) {
		other->session = member->session;
		other->bond = member->bond;
	}
}

/* If its parent waits for it, another process may get its number at once. */
static void
end_member(int number)
{
	int first = (int)kernel_draw(KERNEL_PROCESSES);

	(void)number;
	for (int i = 0; i < KERNEL_PROCESSES; i++) {
		struct process *process =
		    &kernel.list[(first + i) % KERNEL_PROCESSES];

		if (process->role == ROLE_MEMBER && kernel_alive(process)) {
			kernel_end(process, 0, 0);
			return;
		}
	}
}

/* Where retry adopts orphans, it has to wait for this one. */
static void
orphan(int number)
{
	static const struct temper temper = { 0 };
	struct process *process =
	    kernel_spawn(ROLE_MEMBER, foster_parent(), &temper);

	(void)number;
	if (process != NULL)
		kernel_end(process, 0, 0);
}

static void
wake_late(int number)
{
	(void)number;
	invocation.late = 3 * second;
}

static void
stop_us(int number)
{
	(void)number;
	kernel_pass(kernel.now + 10 * second, true);
	invocation.stopped += 10 * second;
	send_by_others(SIGCONT);
}

/* A wait that has begun before takes as long as it would have without. */
static void
sleep_machine(nanos span)
{
	kernel.asleep += span;
	invocation.disturbed += span + 30 * second;
}

static void
suspend(int number)
{
	(void)number;
	sleep_machine(10 * second);
}

static void
pass_deadline(int number)
{
	nanos left = invocation_until_deadline();

	(void)number;
	if (left != NANOS_MAX && left > 0)
		sleep_machine(left + second);
}

static void
deny_fork(int number)
{
	(void)number;
	invocation.fork_failures = 1;
}

static void
deny_forks(int number)
{
	(void)number;
	invocation.fork_failures = INT_MAX;
}

static void
deny_pipe(int number)
{
	(void)number;
	invocation.pipe_failures = 1;
}

static void
deny_twice(int number)
{
	(void)number;
	invocation.denials = 2;
}

static void
deny(int number)
{
	(void)number;
	invocation.denials = INT_MAX;
}

static void
eat(int number)
{
	(void)number;
	invocation.consumed = true;
}

static void
end_hook(int number)
{
	if (kernel_alive(kernel.hook))
		kernel_end(kernel.hook, number == 0 ? 1 : 0, number);
}

static void
deny_hook(int number)
{
	(void)number;
	invocation.hook_failures = 1;
}

static const int none[] = { 0, 0 };
static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0 };
static const int intended[] = { SIGINT, SIGQUIT, SIGPIPE, 0 };
static const int others[] = { SIGUSR1, SIGALRM, SIGXFSZ, SIGXCPU, 40, 0 };
static const int stops[] = { SIGTSTP, SIGTTIN, SIGTTOU, 0 };
static const int window[] = { SIGWINCH, 0 };
static const int pipe_broken[] = { SIGPIPE, 0 };
static const int crashes[] = { 0, SIGSEGV, 0 };

/* What may happen, in groups to which the rules below refer. */
enum event_kind {
	NOTHING,
	COMMAND_EXITS_0,
	COMMAND_EXITS_7,
	COMMAND_CRASHES,
	COMMAND_DIES, /* of a signal after which nothing is retried */
	COMMAND_NOT_FOUND,
	COMMAND_STOPS,
	COMMAND_HANGS,
	COMMAND_HANGS_DEAF,
	COMMAND_BLOCKS,
	COMMAND_REFUSES,
	END_TYPED, /* INT, TERM, HUP or QUIT, each of which ends all */
	END_SENT,
	END_QUEUED,
	END_BY_COMMAND,
	END_TWICE,
	OTHER_SENT,
	OTHER_QUEUED,
	WINCH_TYPED,
	OWN_PIPE,
	STOP_TYPED,
	STOP_SENT,
	ORPHAN_DIES,
	DEAF_MEMBERS,
	REFUSING_MEMBER,
	MEMBER_APART,
	DAEMON,
	MEMBER_ENDS,
	LATE_WAKE_UP,
	RETRY_STOPPED,
	MACHINE_SLEEPS,
	DEADLINE_PASSES,
	FORK_FAILS,
	FORKS_FAIL,
	PIPE_FAILS,
	BUDGET_DENIES_TWICE,
	BUDGET_DENIES,
	INPUT_CONSUMED,
	HOOK_ENDS,
	HOOK_FORK_FAILS,
	EVENTS,
};

static const struct event {
	const char *name;
	void (*happen)(int number);
	const int *numbers; /* of signals: one or more, then 0 */
	bool anytime; /* may happen between two calls, too */
} events[EVENTS] = {
	[NOTHING] = { "a wait ends for no reason", wake, none, false },
	[COMMAND_EXITS_0] = { "the command exits 0", succeed, none, true },
	[COMMAND_EXITS_7] = { "the command exits 7", fail, none, true },
	[COMMAND_CRASHES] = { "the command dies of SEGV", crash, none, true },
	[COMMAND_DIES] = { "the command dies of a signal that is not retried",
	    die_of, intended, false },
	[COMMAND_NOT_FOUND] = { "the command cannot be found", miss, none,
	    false },
	[COMMAND_STOPS] = { "the command is stopped", stop, none, false },
	[COMMAND_HANGS] = { "the command hangs", hang, none, false },
	[COMMAND_HANGS_DEAF] = { "the command hangs and ignores all signals "
				 "but KILL",
	    go_deaf, none, false },
	[COMMAND_BLOCKS] = { "the kernel does not let the command die", sink,
	    none, false },
	[COMMAND_REFUSES] = { "the command cannot be signalled", refuse, none,
	    false },
	[END_TYPED] = { "INT, TERM, HUP or QUIT from the terminal", kernel_type,
	    ends, true },
	[END_SENT] = { "INT, TERM, HUP or QUIT from another process",
	    send_by_others, ends, true },
	[END_QUEUED] = { "INT, TERM, HUP or QUIT, queued by another process",
	    queue_by_others, ends, false },
	[END_BY_COMMAND] = { "INT, TERM, HUP or QUIT from the command",
	    send_by_command, ends, false },
	[END_TWICE] = { "INT, TERM, HUP or QUIT, twice", send_twice, ends,
	    false },
	[OTHER_SENT] = { "another signal", send_by_others, others, true },
	[OTHER_QUEUED] = { "another signal, with a value", queue_by_others,
	    others, false },
	[WINCH_TYPED] = { "WINCH from the terminal", kernel_type, window,
	    true },
	[OWN_PIPE] = { "our own PIPE", send_to_ourselves, pipe_broken, false },
	[STOP_TYPED] = { "a stop from the terminal", kernel_type, stops, true },
	[STOP_SENT] = { "a stop from others", send_by_others, stops, true },
	[ORPHAN_DIES] = { "an orphan dies", orphan, none, true },
	[DEAF_MEMBERS] = { "two new processes, which ignore all but KILL",
	    fork_deaf, none, true },
	[REFUSING_MEMBER] = { "a new process, which cannot be signalled",
	    fork_refusing, none, false },
	[MEMBER_APART] = { "a new process in another session", fork_apart, none,
	    true },
	[DAEMON] = { "a daemon", fork_daemon, none, true },
	[MEMBER_ENDS] = { "a process of the tree ends", end_member, none,
	    true },
	[LATE_WAKE_UP] = { "a wait ends 3 s too late", wake_late, none, false },
	[RETRY_STOPPED] = { "retry is stopped for 10 s", stop_us, none, false },
	[MACHINE_SLEEPS] = { "the machine sleeps for 10 s", suspend, none,
	    false },
	[DEADLINE_PASSES] = { "the machine sleeps past the deadline",
	    pass_deadline, none, false },
	[FORK_FAILS] = { "a fork fails", deny_fork, none, false },
	[FORKS_FAIL] = { "every fork fails", deny_forks, none, false },
	[PIPE_FAILS] = { "a pipe fails", deny_pipe, none, false },
	[BUDGET_DENIES_TWICE] = { "the budget denies twice", deny_twice, none,
	    false },
	[BUDGET_DENIES] = { "the budget denies", deny, none, false },
	[INPUT_CONSUMED] = { "standard input is consumed", eat, none, false },
	[HOOK_ENDS] = { "the hook fails", end_hook, crashes, true },
	[HOOK_FORK_FAILS] = { "the next hook cannot be forked", deny_hook, none,
	    false },
};

/*
 * States: how each is reached
 */

#define LASTING .life = NANOS_MINUTE
#define DEAF LASTING, .deaf = true
#define BLOCKED LASTING, .held = NANOS_MINUTE

static const struct scene {
	const char *name;
	int status, attempts; /* without an event */
	struct setting set; /* what is 0 is as usual */
} scenes[STATES] = {
	[INPUT] = { "reading input", 0, 2, { .input = 500 * NANOS_MS } },
	[SPLAY] = { "splay", 0, 2, { .splay = NANOS_SECOND } },
	[BREAKER_WAIT] = { "waiting for the breaker", 0, 2, { .denials = 2 } },
	[DELAY] = { "delay", 0, 2, { 0 } },
	[BUDGET_WAIT] = { "waiting for the budget", 0, 2,
	    { .later_denials = 2 } },
	[HOOK_IN_DELAY] = { "delay and hook", 0, 2,
	    { .on_retry = true, .hook = { .life = 300 * NANOS_MS } } },
	[HOOK_AFTER_DELAY] = { "hook after the delay", 0, 2,
	    { .on_retry = true, .hook = { .life = 5 * NANOS_SECOND } } },
	[HOOK_SIGNALLED] = { "hook signalled", 7, 1,
	    { .on_retry = true,
		.deadline = 3 * NANOS_SECOND,
		.hook = { DEAF } } },
	[HOOK_KILLED] = { "hook killed", 7, 1,
	    { .on_retry = true,
		.deadline = 3 * NANOS_SECOND,
		.hook = { BLOCKED } } },
	[HOOK_UNKILLABLE] = { "hook unkillable", 7, 1,
	    { .on_retry = true,
		.deadline = 3 * NANOS_SECOND,
		.hook = { BLOCKED } } },
	[RUNNING] = { "command alive", 0, 2, { 0 } },
	[RUNNING_DEAD] = { "command dead", 0, 2, { 0 } },
	[INTERRUPTED] = { "interrupted", 7, 1,
	    { .interrupted = true,
		.commands = { { .life = 300 * NANOS_MS,
		    .status = 7,
		    .deaf = true } } } },
	[SIGNALLED] = { "signalled", 0, 2, { .commands = { { DEAF } } } },
	[SIGNALLED_DEAD] = { "signalled, command dead", 0, 2,
	    { .commands = { { LASTING } },
		.has_member = true,
		.member = { DEAF } } },
	[KILLED] = { "killed", 0, 2,
	    { .commands = { { LASTING, .held = 3500 * NANOS_MS } } } },
	[KILLED_DEAD] = { "killed, command dead", 0, 2,
	    { .commands = { { LASTING } },
		.has_member = true,
		.member = { DEAF, .held = 3500 * NANOS_MS } } },
	[UNKILLABLE] = { "unkillable", 0, 2,
	    { .commands = { { LASTING, .held = 6 * NANOS_SECOND } } } },
	[UNKILLABLE_DEAD] = { "unkillable, command dead", 0, 2,
	    { .commands = { { LASTING, .held = 6 * NANOS_SECOND } } } },
	[ABANDONED] = { "abandoned", 124, 1,
	    { .deadline = 3 * NANOS_SECOND,
		.straggling = 50 * NANOS_MS,
		.commands = { { LASTING, .refuses = true } } } },
	[ABANDONED_DEAD] = { "abandoned, and dead since", 124, 1,
	    { .deadline = 3 * NANOS_SECOND,
		.straggling = 50 * NANOS_MS,
		.commands = { { LASTING, .refuses = true } },
		.dies_abandoned = true } },
	[SLOW_READER] = { "slow reader", 0, 2, { .owed = 500 * NANOS_MS } },
	[STRAGGLING] = { "stragglers", 0, 2, { .straggling = 50 * NANOS_MS } },
	[DELIVERY] = { "delivery in the end", 0, 2,
	    { .held = 500 * NANOS_MS } },
	[REPORT] = { "report", 0, 2, { .report = 500 * NANOS_MS } },
	[LAST_LINES] = { "last lines", 0, 2, { .log = 50 * NANOS_MS } },
	[GIVE_UP] = { "last hook", 7, 1,
	    { .attempts = 1,
		.on_give_up = true,
		.hook = { .life = NANOS_SECOND } } },
	[GIVE_UP_SIGNALLED] = { "last hook signalled", 7, 1,
	    { .attempts = 1, .on_give_up = true, .hook = { DEAF } } },
	[GIVE_UP_KILLED] = { "last hook killed", 7, 1,
	    { .attempts = 1, .on_give_up = true, .hook = { BLOCKED } } },
};

/*
 * The usual setting: the first command fails after 300 ms, and the second
 * succeeds; a limit signals after 2 s a command that still runs, and kills it
 * 1 s later.
 */
static struct setting
complete(struct setting set)
{
	static const struct temper fails = { .life = 300 * NANOS_MS,
		.status = 7 };
	static const struct temper succeeds = { .life = 300 * NANOS_MS };

	if (set.attempts == 0)
		set.attempts = 3;
	set.consecutive = 1;
	if (set.deadline == 0)
		set.deadline = NANOS_HOUR;
	if (set.commands[0].life == 0)
		set.commands[0] = fails;
	for (int i = 1; i < COMMANDS; i++)
		set.commands[i] = succeeds;
	set.timeout = 2 * second;
	set.kill_after = set.delay = second;
	set.patience = NANOS_MINUTE;
	set.signal = SIGTERM;
	set.visible = true;
	return set;
}

/* The state in which an event meets a scene; the command dies there first. */
static enum state
state_before(int state)
{
	if (state == RUNNING_DEAD)
		return RUNNING;
	return state == UNKILLABLE_DEAD ? UNKILLABLE : (enum state)state;
}

/*
 * What an event makes of a scene
 */

enum outcome_kind {
	UNCHANGED, /* the status and attempts of the scene */
	IMPOSSIBLE, /* the event cannot happen in this state */
	FAILS_AGAIN, /* one more attempt, which fails with 7 */
	/* with no further attempt */
	DIES_OF_EVENT, /* of the signal that the event sent */
	DIES_OF_INT,
	DIES_OF_SEGV,
	EXITS_0,
	EXITS_7,
	EXITS_75,
	EXITS_124,
	EXITS_125,
	EXITS_127,
};

#define BIT(n) (UINT64_C(1) << (n))
#define RANGE(first, last) (BIT((last) + 1) - BIT(first))

/* States. */
#define ANY RANGE(INPUT, GIVE_UP_KILLED)
#define BEFORE_ATTEMPTS RANGE(INPUT, BREAKER_WAIT)
#define BETWEEN_ATTEMPTS RANGE(DELAY, HOOK_AFTER_DELAY)
#define AFTER_COMMAND (BIT(RUNNING_DEAD) | BIT(SLOW_READER) | BIT(STRAGGLING))
#define AFTER_LIMIT RANGE(SIGNALLED, UNKILLABLE_DEAD)
#define COMMAND_LIVES \
	(BIT(RUNNING) | BIT(INTERRUPTED) | BIT(SIGNALLED) | BIT(KILLED) | \
	    BIT(UNKILLABLE) | BIT(ABANDONED))
#define HOOK_LIVES \
	(RANGE(HOOK_IN_DELAY, HOOK_UNKILLABLE) | RANGE(GIVE_UP, GIVE_UP_KILLED))

/* Events. */
#define OF_COMMAND RANGE(COMMAND_EXITS_0, COMMAND_REFUSES)
#define ENDS RANGE(END_TYPED, END_TWICE)
#define FORKS RANGE(DEAF_MEMBERS, DAEMON)
#define ENDS_RETRYING \
	(BIT(DEADLINE_PASSES) | BIT(BUDGET_DENIES) | BIT(INPUT_CONSUMED))

/*
 * An event leaves a scene UNCHANGED, but for these exceptions: each holds for
 * some states and some events. The last one that names both is the one.
 */
static const struct exception {
	uint64_t states, events;
	enum outcome_kind outcome;
} exceptions[] = {
	{ ANY, ENDS, DIES_OF_EVENT },
	/* retry does not die of a signal that the command did not die of */
	{ BIT(RUNNING), BIT(END_BY_COMMAND), EXITS_7 },
	{ AFTER_COMMAND, ENDS, EXITS_7 },
	{ AFTER_LIMIT, ENDS, EXITS_124 },
	{ BIT(INTERRUPTED) | BIT(ABANDONED) | BIT(ABANDONED_DEAD), ENDS,
	    UNCHANGED },

	{ BIT(RUNNING) | BIT(INTERRUPTED), BIT(COMMAND_EXITS_0), EXITS_0 },
	{ BIT(RUNNING) | BIT(INTERRUPTED), BIT(COMMAND_DIES), DIES_OF_EVENT },
	{ BIT(RUNNING) | BIT(INTERRUPTED), BIT(COMMAND_NOT_FOUND), EXITS_127 },
	{ BIT(INTERRUPTED), BIT(COMMAND_CRASHES), DIES_OF_SEGV },
	{ BIT(INTERRUPTED), RANGE(COMMAND_STOPS, COMMAND_BLOCKS), DIES_OF_INT },

	{ BEFORE_ATTEMPTS, BIT(DEADLINE_PASSES), EXITS_124 },
	{ BIT(BREAKER_WAIT), BIT(DEADLINE_PASSES), EXITS_75 },
	{ BEFORE_ATTEMPTS, BIT(BUDGET_DENIES), EXITS_75 },
	{ BEFORE_ATTEMPTS, BIT(INPUT_CONSUMED), FAILS_AGAIN },
	{ BETWEEN_ATTEMPTS | BIT(RUNNING) | AFTER_COMMAND, ENDS_RETRYING,
	    EXITS_7 },
	{ AFTER_LIMIT, ENDS_RETRYING, EXITS_124 },
	{ BEFORE_ATTEMPTS | BETWEEN_ATTEMPTS | BIT(RUNNING) | AFTER_COMMAND |
		AFTER_LIMIT,
	    BIT(FORKS_FAIL), EXITS_125 },

	{ ~COMMAND_LIVES, OF_COMMAND | BIT(END_BY_COMMAND), IMPOSSIBLE },
	{ ~(COMMAND_LIVES | HOOK_LIVES), FORKS, IMPOSSIBLE },
	{ ~HOOK_LIVES, BIT(HOOK_ENDS), IMPOSSIBLE },
};

static enum outcome_kind
outcome_of(int state, int event)
{
	enum outcome_kind outcome = UNCHANGED;

	for (size_t i = 0; i < LENGTH(exceptions); i++)
		if ((exceptions[i].states & BIT(state)) != 0 &&
		    (exceptions[i].events & BIT(event)) != 0)
			outcome = exceptions[i].outcome;
	return outcome;
}

static const struct {
	bool died;
	int value;
} endings[] = {
	[DIES_OF_INT] = { true, SIGINT },
	[DIES_OF_SEGV] = { true, SIGSEGV },
	[EXITS_0] = { false, 0 },
	[EXITS_7] = { false, 7 },
	[EXITS_75] = { false, 75 },
	[EXITS_124] = { false, 124 },
	[EXITS_125] = { false, 125 },
	[EXITS_127] = { false, 127 },
};

/* How often each cell was met by test_every_cell and by test_random_runs. */
static int walked[STATES][EVENTS], met[STATES][EVENTS];

/*
 * Each cell
 */

/* What surrounds retry in a run of a cell: each combination is tried. */
enum {
	IS_INIT = 1, /* PID 1 */
	IS_LEADER = 2, /* of its session */
	HAS_PIDFDS = 4,
	OTHER_SESSION = 8, /* the command has one of its own */
	HAS_ELDER = 16, /* a child from before */
	IS_WATCHED = 32, /* by a shell with job control */
	SURROUNDINGS = 64,
};

/* The cell that is tried now. */
static struct cell {
	int state, event, number;
	bool reached;
	int64_t launched; /* attempts that had begun when the event came */
} cell;

static void
enter_cell(nanos until)
{
	enum state from = state_before(cell.state);

	(void)until;
	if (cell.reached || invocation_state() != from)
		return;
	if ((int)from != cell.state)
		fail(0);
	if ((int)invocation_state() != cell.state)
		kernel_break("is not in the state of the scene");
	cell.reached = true;
	cell.launched = invocation.launched;
	kernel_trace(scenes[cell.state].name, cell.state);
	kernel_trace(events[cell.event].name, cell.number);
	events[cell.event].happen(cell.number);
}

static struct ending
run_cell(const struct cell *which, int around, bool tracing)
{
	struct setting set = complete(scenes[which->state].set);

	set.init = (around & IS_INIT) != 0;
	set.leader = (around & IS_LEADER) != 0;
	set.pidfds = (around & HAS_PIDFDS) != 0;
	for (int i = 0; i < COMMANDS; i++)
		set.commands[i].apart = (around & OTHER_SESSION) != 0;
	set.has_elder = (around & HAS_ELDER) != 0;
	set.watched = (around & IS_WATCHED) != 0;
	cell = *which;
	invocation_start(&set, (uint64_t)around, tracing);
	invocation.direct = enter_cell;
	return invocation_run();
}

/*
 * The time for which retry itself is stopped counts for no limit; where a shell
 * waits, retry stops with its command.
 */
static enum outcome_kind
outcome_around(const struct cell *which, int around)
{
	if (which->state == INTERRUPTED && which->event == COMMAND_STOPS &&
	    (around & (IS_WATCHED | IS_INIT | IS_LEADER)) == IS_WATCHED)
		return UNCHANGED;
	return outcome_of(which->state, which->event);
}

static bool
is_outcome(enum outcome_kind outcome, const struct ending *ending)
{
	const struct scene *scene = &scenes[cell.state];

	switch (outcome) {
	case UNCHANGED:
		return !ending->died && ending->value == scene->status &&
		    ending->launched == scene->attempts;
	case FAILS_AGAIN:
		return !ending->died && ending->value == 7 &&
		    ending->launched == cell.launched + 1;
	case DIES_OF_EVENT:
		return ending->died && ending->value == cell.number &&
		    ending->launched == cell.launched;
	default:
		return ending->died == endings[outcome].died &&
		    ending->value == endings[outcome].value &&
		    ending->launched == cell.launched;
	}
}

static void
check_cell(const struct cell *which)
{
	char row[128];
	int failed = unit_failed;

	for (int around = 0; around < SURROUNDINGS && unit_failed == failed;
	     around++) {
		struct ending ending = run_cell(which, around, false);

		snprintf(row, sizeof row, "%s; %s; %d %d %d %d",
		    scenes[which->state].name, events[which->event].name,
		    which->state, which->event, which->number, around);
		SAME(row, ending.broken, NULL);
		HOLDS(row, cell.reached);
		HOLDS(row, is_outcome(outcome_around(which, around), &ending));
	}
	walked[which->state][which->event]++;
}

static void
test_every_cell(void)
{
	for (int state = 0; state < STATES; state++)
		for (int event = 0; event < EVENTS; event++) {
			const int *number = events[event].numbers;

			if (outcome_of(state, event) == IMPOSSIBLE)
				continue;
			do
				check_cell(&(struct cell){ .state = state,
				    .event = event,
				    .number = *number });
			while (*++number != 0);
		}
}

/*
 * Random runs
 */

/* How many events a random run still has to meet. */
static int disturbances;

static bool
one_of(uint64_t most)
{
	return kernel_draw(most) == 0;
}

static nanos
any_span(void)
{
	static const nanos spans[] = { 0, 1, NANOS_MS, 50 * NANOS_MS,
		300 * NANOS_MS, NANOS_SECOND, 3 * NANOS_SECOND,
		12 * NANOS_SECOND };

	return spans[kernel_draw(LENGTH(spans))];
}

/* A command that no limit ends must end by itself. */
static struct temper
any_temper(bool limited)
{
	static const int signals[] = { SIGSEGV, SIGINT, SIGTERM, SIGKILL,
		SIGPIPE };
	static const int statuses[] = { 0, 0, 7, 7, 127 };
	struct temper temper = { .life = any_span(),
		.status = statuses[kernel_draw(LENGTH(statuses))],
		.deaf = one_of(4),
		.apart = one_of(4) };

	if (one_of(8))
		temper.signal = signals[kernel_draw(LENGTH(signals))];
	if (one_of(16))
		temper.held = any_span();
	else if (limited && one_of(4))
		temper.life = NANOS_MAX;
	if (one_of(16)) {
		temper.life = temper.held = 12 * second;
		temper.refuses = one_of(2);
	}
	return temper;
}

static nanos
any_deadline(void)
{
	static const nanos deadlines[] = { 1, 100 * NANOS_MS, 3 * NANOS_SECOND,
		3 * NANOS_SECOND, 10 * NANOS_SECOND, NANOS_HOUR };

	return one_of(2) ? 0 : deadlines[kernel_draw(LENGTH(deadlines))];
}

static struct setting
any_setting(void)
{
	static const int signals[] = { SIGTERM, SIGTERM, SIGINT, SIGKILL,
		SIGUSR1 };
	struct setting set = { .attempts = 1 + (int64_t)kernel_draw(4),
		.timeout = one_of(2) ? any_span() : 0,
		.kill_after = any_span(),
		.deadline = any_deadline(),
		.delay = any_span(),
		.splay = one_of(4) ? any_span() : 0,
		.patience = any_span(),
		.signal = signals[kernel_draw(LENGTH(signals))],
		.has_member = one_of(2),
		.on_retry = one_of(3),
		.on_give_up = one_of(4),
		.has_elder = one_of(4),
		.input = one_of(8) ? any_span() : 0,
		.owed = one_of(4) ? any_span() : 0,
		.straggling = one_of(4) ? any_span() : 0,
		.held = one_of(8) ? any_span() : 0,
		.report = one_of(8) ? any_span() : 0,
		.log = one_of(8) ? any_span() : 0,
		.denials = one_of(8) ? 2 : 0,
		.later_denials = one_of(8) ? 2 : 0,
		.interrupted = one_of(16),
		.dies_abandoned = one_of(3),
		.init = one_of(8),
		.leader = one_of(4),
		.pidfds = !one_of(8),
		.visible = !one_of(16),
		.adopts = one_of(4),
		.pends = one_of(16),
		.watched = one_of(4) };

	set.consecutive =
	    one_of(4) ? 1 + (int64_t)kernel_draw((uint64_t)set.attempts) : 1;
	for (int i = 0; i < COMMANDS; i++)
		set.commands[i] =
		    any_temper(set.timeout != 0 || set.deadline != 0);
	set.member = any_temper(true);
	set.hook = any_temper(set.deadline != 0);
	return set;
}

/* One of the events, if it can happen now. */
static void
disturb(bool anytime)
{
	int state = (int)invocation_state();
	int event = (int)kernel_draw(EVENTS);
	const int *numbers = events[event].numbers;
	size_t choices = 1;

	if (outcome_of(state, event) == IMPOSSIBLE ||
	    (anytime && !events[event].anytime))
		return;
	while (numbers[choices] != 0)
		choices++;
	disturbances--;
	met[state][event]++;
	kernel_trace(scenes[state].name, state);
	kernel_trace(events[event].name, event);
	events[event].happen(numbers[kernel_draw(choices)]);
}

/* At some time in a wait; more often in states that few runs reach. */
static void
disturb_wait(nanos until)
{
	enum state state = invocation_state();
	bool rare = state == ABANDONED || state == ABANDONED_DEAD ||
	    state == UNKILLABLE || state == HOOK_UNKILLABLE;
	nanos nap = until - kernel.now;

	if (disturbances <= (rare ? -4 : 0) ||
	    !(rare || one_of(nap < 50 * ms ? 8 : 2)))
		return;
	do {
		if (one_of(2) && nap > 0)
			kernel_pass(
			    kernel.now + (nanos)kernel_draw((uint64_t)nap),
			    false);
		disturb(false);
		nap = until - kernel.now;
	} while (one_of(4));
}

static void
disturb_calls(void)
{
	if (disturbances > 0 && one_of(32))
		disturb(true);
}

static struct ending
run_any(uint64_t seed, bool tracing)
{
	struct setting set;

	kernel.random = seed;
	set = any_setting();
	invocation_start(&set, seed, tracing);
	invocation.direct = disturb_wait;
	disturbances = (int)kernel_draw(10);
	/* Without pidfds retry cannot do right what happens between calls. */
	if (set.pidfds && one_of(2))
		kernel.meanwhile = disturb_calls;
	return invocation_run();
}

static void
test_random_runs(void)
{
	char row[32];

	int most = unit_failed + 10;

	for (uint64_t seed = 1; seed <= RUNS && unit_failed < most; seed++) {
		struct ending ending = run_any(seed, false);

		snprintf(row, sizeof row, "unit_attempt %" PRIu64, seed);
		SAME(row, ending.broken, NULL);
	}
}

static void
test_every_cell_was_met(void)
{
	for (int state = 0; state < STATES; state++)
		for (int event = 0; event < EVENTS; event++)
			if (outcome_of(state, event) != IMPOSSIBLE)
				HOLDS(scenes[state].name,
				    walked[state][event] > 0 &&
					met[state][event] > 0);
}

static void (*const tests[])(void) = {
	test_every_cell,
	test_random_runs,
	test_every_cell_was_met,
};

static int
tell(const struct ending *ending)
{
	printf("%s\n", ending->broken == NULL ? "all well" : ending->broken);
	return ending->broken == NULL ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int
number_at(char **argv, int i)
{
	return (int)strtol(argv[i], NULL, 10);
}

int
__wrap_main(int argc, char **argv)
{
	struct ending ending;

	if (argc == 1)
		return unit_run(tests, LENGTH(tests));
	if (argc != 5) {
		ending = run_any(strtoull(argv[1], NULL, 10), true);
		return tell(&ending);
	}
	ending = run_cell(&(struct cell){ .state = number_at(argv, 1),
			      .event = number_at(argv, 2),
			      .number = number_at(argv, 3) },
	    number_at(argv, 4), true);
	return tell(&ending);
}
