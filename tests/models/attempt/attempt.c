/*
 * Covers attempt/attempt, attempt/event_loop, sys/signals, run.
 *
 * Whole invocations of retry on a fake kernel, without processes and without
 * waiting. All of retry runs: only functions of libc are replaced, and what
 * reads /proc, which tests/unit/sys/procfs.c tests. tests/models/attempt has
 * the kernel, the invocation, and the promises that hold at every step.
 *
 * Each state in which retry waits meets each event that can happen then, in
 * many surroundings, and the outcome must be the one that the tables here name.
 * Then come random settings with random events, the rarest of them the most
 * often.
 *
 *     unit_attempt                           all runs
 *     unit_attempt large                     more, in all surroundings
 *     unit_attempt SEED                      one random run, step by step
 *     unit_attempt STATE EVENT NUMBER AROUND one run of a state and an event
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include "invocation.h"
#include "text/number.h"
#include "unit.h"

/* How many random runs there are. */
#define RUNS 15000
#define RUNS_LARGE 250000

/* Whether there are more random runs, and each cell in all surroundings. */
static bool large;

int main(int argc, char **argv);

#define MS NANOS_MS
#define SECOND NANOS_SECOND

/* The number of a process that has nothing to do with retry. */
enum { STRANGER = 77 };

#define END_SIGNALS SIGINT, SIGTERM, SIGHUP, SIGQUIT
#define OTHER_SIGNALS SIGUSR1, SIGALRM, SIGXFSZ, SIGXCPU, 40
#define STOP_SIGNALS SIGTSTP, SIGTTIN, SIGTTOU

/*
 * What may happen, in groups to which the rules below refer: only in a wait, or between calls,
 * too; with each of these numbers. A number is a signal, a status, a time in seconds or a count.
 * What happens to the command happens while it lives.
 */
#define EACH_EVENT(EVENT) \
	EVENT(NOTHING, WAITING, 0) /* a wait ends for no reason */ \
	EVENT(COMMAND_EXITS_0, ANYTIME, 0) \
	EVENT(COMMAND_EXITS_7, ANYTIME, 7) \
	EVENT(COMMAND_CRASHES, ANYTIME, SIGSEGV) \
	EVENT(COMMAND_DIES, WAITING, SIGINT, SIGQUIT, SIGPIPE) \
	EVENT(COMMAND_NOT_FOUND, WAITING, ENOENT) \
	EVENT(COMMAND_STOPS, WAITING, 3) \
	EVENT(COMMAND_HANGS, WAITING, 0) \
	EVENT(COMMAND_HANGS_DEAF, WAITING, 0) /* to all but KILL */ \
	EVENT(COMMAND_BLOCKS, WAITING, 6) /* even KILL */ \
	EVENT(COMMAND_REFUSES, WAITING, 6) /* all signals */ \
	EVENT(END_TYPED, ANYTIME, END_SIGNALS) \
	EVENT(END_SENT, ANYTIME, END_SIGNALS) \
	EVENT(END_QUEUED, WAITING, END_SIGNALS) /* with a value */ \
	EVENT(END_BY_COMMAND, WAITING, END_SIGNALS) \
	EVENT(END_TWICE, WAITING, END_SIGNALS) \
	EVENT(OTHER_SENT, ANYTIME, OTHER_SIGNALS) \
	EVENT(OTHER_QUEUED, WAITING, OTHER_SIGNALS) \
	EVENT(WINCH_TYPED, ANYTIME, SIGWINCH) \
	EVENT(OWN_PIPE, WAITING, SIGPIPE) /* retry has sent PIPE to itself */ \
	EVENT(STOP_TYPED, ANYTIME, STOP_SIGNALS) \
	EVENT(STOP_SENT, ANYTIME, STOP_SIGNALS) \
	EVENT(ORPHAN_DIES, ANYTIME, 0) \
	EVENT(DEAF_MEMBERS, ANYTIME, 0) /* two of them */ \
	EVENT(REFUSING_MEMBER, WAITING, 0) \
	EVENT(MEMBER_APART, ANYTIME, 0) /* in another session */ \
	EVENT(DAEMON, ANYTIME, 0) \
	EVENT(MEMBER_ENDS, ANYTIME, 0) \
	EVENT(LATE_WAKE_UP, WAITING, 3) \
	EVENT(RETRY_STOPPED, WAITING, 10) \
	EVENT(MACHINE_SLEEPS, WAITING, 10) \
	EVENT(DEADLINE_PASSES, WAITING, 0) /* the machine sleeps past it */ \
	EVENT(FORK_FAILS, WAITING, 1) \
	EVENT(FORKS_FAIL, WAITING, INT_MAX) /* each of them */ \
	EVENT(PIPE_FAILS, WAITING, 0) \
	EVENT(BUDGET_DENIES_FOR_NOW, WAITING, 2) \
	EVENT(BUDGET_DENIES, WAITING, 3600) \
	EVENT(INPUT_CONSUMED, WAITING, 0) /* by another */ \
	EVENT(HOOK_ENDS, ANYTIME, 0, SIGSEGV) \
	EVENT(HOOK_FORK_FAILS, WAITING, 1)

#define NUMBER_OF(id, when, ...) id,
enum { EACH_EVENT(NUMBER_OF) EVENTS };

#define ROW_OF(id, when, ...) [id] = { #id, when, { __VA_ARGS__ } },
static const struct event {
	const char *name;
	enum { WAITING, ANYTIME } when;
	int numbers[6]; /* one or more, then 0 */
} events[EVENTS] = { EACH_EVENT(ROW_OF) };

#define BIT(n) (UINT64_C(1) << (n))
#define RANGE(first, last) (BIT((last) + 1) - BIT(first))

/* Groups of them. */
#define OF_COMMAND (RANGE(COMMAND_EXITS_0, COMMAND_REFUSES) | BIT(END_BY_COMMAND))
#define ENDS RANGE(END_TYPED, END_TWICE)
#define FORKS RANGE(DEAF_MEMBERS, DAEMON)
#define ENDS_RETRYING (BIT(DEADLINE_PASSES) | BIT(BUDGET_DENIES) | BIT(INPUT_CONSUMED))

/* A signal from another process, or from retry itself. */
static void send(int number, int code, pid_t sender) {
	kernel_post((struct sent){
	    .number = number, .code = code, .sender = sender, .value = 4711 });
}

/* A new process of the command, or else of the hook. */
static struct process *fork_member(struct temper temper) {
	const struct process *parent = kernel_alive(kernel.command) ? kernel.command : kernel.hook;

	if (!kernel_alive(parent))
		return NULL;
	return kernel_spawn(ROLE_MEMBER, kernel_place(parent), &temper);
}

/* A new process whose parent has ended. */
static struct process *fork_orphan(struct temper temper) {
	return kernel_spawn(ROLE_MEMBER,
	    kernel.subreaper || kernel.self == 1 ? PARENT_SELF : PARENT_INIT, &temper);
}

/* A living member in the list, from a place on; or NULL. */
static struct process *find_member(int first, bool daemons) {
	for (int i = 0; i < KERNEL_PROCESSES; i++) {
		struct process *process = &kernel.list[(first + i) % KERNEL_PROCESSES];

		if (kernel_alive(process) && process->role == ROLE_MEMBER &&
		    (!daemons || process->bond == BOND_NONE))
			return process;
	}
	return NULL;
}

static void happen(int event, int number) {
	const struct setting *set = &invocation.set;
	struct process *process, *other, *command = kernel.command;
	nanos left = invocation_until_deadline();
	nanos span = number * SECOND;

	kernel_trace(events[event].name, number);
	if ((OF_COMMAND & BIT(event)) != 0 && !kernel_alive(command))
		return;
	switch (event) {
	case NOTHING: kernel.stirred = true; break;
	case END_TWICE:
		kernel_type(number);
		send(SIGWINCH, SI_USER, STRANGER);
		send(number, SI_USER, STRANGER);
		break;
	case END_SENT:
	case OTHER_SENT:
	case STOP_SENT: send(number, SI_USER, STRANGER); break;
	case END_QUEUED:
	case OTHER_QUEUED: send(number, SI_QUEUE, STRANGER); break;
	case END_TYPED:
	case WINCH_TYPED:
	case STOP_TYPED: kernel_type(number); break;
	case OWN_PIPE: send(number, SI_USER, kernel.self); break;
	case LATE_WAKE_UP: invocation.late = span; break;
	case RETRY_STOPPED:
		kernel_pass(kernel.now + span, true);
		invocation.stopped += span;
		send(SIGCONT, SI_USER, STRANGER);
		break;
	case DEADLINE_PASSES:
	case MACHINE_SLEEPS:
		if (event == DEADLINE_PASSES) {
			if (left == NANOS_MAX || left <= 0)
				break;
			span = left + SECOND;
		}
		/* A wait that has begun takes as long as it would without. */
		kernel.asleep += span;
		invocation.disturbed += span + 30 * SECOND;
		break;
	case FORK_FAILS:
	case FORKS_FAIL: invocation.fork_failures = number; break;
	case HOOK_FORK_FAILS: invocation.hook_failures = number; break;
	case PIPE_FAILS: kernel.pipeless = true; break;
	case BUDGET_DENIES_FOR_NOW:
	case BUDGET_DENIES: file_trip(span); break;
	case INPUT_CONSUMED: kernel.consumed = true; break;
	case COMMAND_NOT_FOUND:
		command->temper.error = number;
		kernel_end(command, 127, 0);
		break;
	case COMMAND_EXITS_0:
	case COMMAND_EXITS_7: kernel_end(command, number, 0); break;
	case COMMAND_CRASHES:
	case COMMAND_DIES: kernel_end(command, 0, number); break;
	case COMMAND_STOPS: kernel_stop(command, span); break;
	case COMMAND_HANGS:
	case COMMAND_HANGS_DEAF:
	case COMMAND_BLOCKS:
		/* If no limit ends it, it must end by itself. */
		if (!command->temper.refuses)
			command->ends = set->timeout != 0 || set->deadline != 0
			    ? NANOS_MAX
			    : kernel.now + 20 * SECOND;
		if (event == COMMAND_HANGS_DEAF)
			command->temper.deaf = true;
		if (event == COMMAND_BLOCKS)
			command->free = kernel.now + span;
		break;
	case COMMAND_REFUSES:
		command->temper.refuses = true;
		command->ends = number_lesser(command->ends, kernel.now + span);
		break;
	case END_BY_COMMAND: send(number, SI_USER, command->pid); break;
	case ORPHAN_DIES:
		/* Where retry adopts orphans, it has to wait for this one. */
		process = fork_orphan((struct temper){ 0 });
		if (process != NULL)
			kernel_end(process, 0, 0);
		break;
	case DEAF_MEMBERS:
		for (int i = 0; i < 2; i++)
			fork_member((struct temper){ .life = 40 * SECOND, .deaf = true });
		break;
	case REFUSING_MEMBER:
		fork_member((struct temper){ .life = 6 * SECOND, .refuses = true });
		break;
	case MEMBER_APART:
		/* And an orphan in the same session. */
		process = fork_member((struct temper){
		    .life = 40 * SECOND, .apart = true, .deaf = true });
		if (process == NULL)
			break;
		other = fork_orphan(process->temper);
		if (other != NULL) {
			other->session = process->session;
			other->bond = process->bond;
		}
		break;
	case DAEMON:
		/* A daemon forks and ends. Where there is none, a process
		 * becomes one, whose parent has ended before. */
		process = find_member(0, true);
		if (process == NULL) {
			fork_orphan((struct temper){ .life = 3 * SECOND, .apart = true });
			break;
		}
		kernel_spawn(ROLE_MEMBER, kernel_place(process),
		    &(struct temper){ .life = 3 * SECOND });
		kernel_end(process, 0, 0);
		break;
	case MEMBER_ENDS:
		/* If its parent waits for it, another process may get its number at once. */
		process = find_member((int)kernel_draw(KERNEL_PROCESSES), false);
		if (process != NULL)
			kernel_end(process, 0, 0);
		break;
	case HOOK_ENDS:
		if (kernel_alive(kernel.hook))
			kernel_end(kernel.hook, number == 0 ? 1 : 0, number);
		break;
	}
}

/* States: how each is reached */

#define LASTING .life = NANOS_MINUTE
#define DEAF LASTING, .deaf = true
#define BLOCKED LASTING, .held = NANOS_MINUTE

#define SCENE(id, ...) [id] = { #id, __VA_ARGS__ }

static const struct scene {
	const char *name;
	int status, attempts; /* without an event */
	struct setting set; /* what is 0 is as usual */
} scenes[STATES] = {
	SCENE(INPUT, 0, 2, { .input = 500 * MS }),
	SCENE(SPLAY, 0, 2, { .splay = SECOND }),
	SCENE(BREAKER_WAIT, 0, 2, { .held_back = true }),
	SCENE(DELAY, 0, 2, { 0 }),
	SCENE(BUDGET_WAIT, 0, 2, { .exhausted = true }),
	SCENE(HOOK_IN_DELAY, 0, 2, { .on_retry = true, .hook = { .life = 300 * MS } }),
	SCENE(HOOK_AFTER_DELAY, 0, 2, { .on_retry = true, .hook = { .life = 5 * SECOND } }),
	SCENE(HOOK_SIGNALLED, 7, 1, { .on_retry = true, .deadline = 3 * SECOND, .hook = { DEAF } }),
	SCENE(HOOK_KILLED, 7, 1, { .on_retry = true, .deadline = 3 * SECOND, .hook = { BLOCKED } }),
	SCENE(HOOK_UNKILLABLE, 7, 1,
	    { .on_retry = true, .deadline = 3 * SECOND, .hook = { BLOCKED } }),
	SCENE(RUNNING, 0, 2, { 0 }),
	SCENE(RUNNING_DEAD, 0, 2, { 0 }),
	SCENE(INTERRUPTED, 7, 1,
	    { .interrupted = true,
		.commands = { { .life = 300 * MS, .status = 7, .deaf = true } } }),
	SCENE(SIGNALLED, 0, 2, { .commands = { { DEAF } } }),
	SCENE(SIGNALLED_DEAD, 0, 2,
	    { .commands = { { LASTING } }, .has_member = true, .member = { DEAF } }),
	SCENE(KILLED, 0, 2, { .commands = { { LASTING, .held = 3500 * MS } } }),
	SCENE(KILLED_DEAD, 0, 2,
	    { .commands = { { LASTING } },
		.has_member = true,
		.member = { DEAF, .held = 3500 * MS } }),
	SCENE(UNKILLABLE, 0, 2, { .commands = { { LASTING, .held = 6 * SECOND } } }),
	SCENE(UNKILLABLE_DEAD, 0, 2, { .commands = { { LASTING, .held = 6 * SECOND } } }),
	SCENE(ABANDONED, 124, 1,
	    { .deadline = 3 * SECOND,
		.straggling = 50 * MS,
		.commands = { { LASTING, .refuses = true } } }),
	SCENE(ABANDONED_DEAD, 124, 1,
	    { .deadline = 3 * SECOND,
		.straggling = 50 * MS,
		.commands = { { LASTING, .refuses = true } },
		.dies_abandoned = true }),
	SCENE(SLOW_READER, 0, 2, { .owed = 500 * MS }),
	SCENE(STRAGGLING, 0, 2, { .straggling = 50 * MS }),
	SCENE(DELIVERY, 0, 2, { .held = 500 * MS }),
	SCENE(REPORT, 0, 2, { .report = 500 * MS }),
	SCENE(LAST_LINES, 0, 2, { .log = 50 * MS }),
	SCENE(GIVE_UP, 7, 1, { .attempts = 1, .on_give_up = true, .hook = { .life = SECOND } }),
	SCENE(GIVE_UP_SIGNALLED, 7, 1, { .attempts = 1, .on_give_up = true, .hook = { DEAF } }),
	SCENE(GIVE_UP_KILLED, 7, 1, { .attempts = 1, .on_give_up = true, .hook = { BLOCKED } }),
};

/*
 * The usual setting: the first command fails after 300 ms, and the second succeeds; a limit
 * signals after 2 s a command that still runs, and kills it 1 s later.
 */
static struct setting complete(struct setting set) {
	static const struct temper fails = { .life = 300 * MS, .status = 7 };
	static const struct temper succeeds = { .life = 300 * MS };

	if (set.attempts == 0)
		set.attempts = 3;
	set.consecutive = 1;
	if (set.deadline == 0)
		set.deadline = NANOS_HOUR;
	if (set.commands[0].life == 0)
		set.commands[0] = fails;
	for (int i = 1; i < COMMANDS; i++) set.commands[i] = succeeds;
	set.timeout = 2 * SECOND;
	set.kill_after = set.delay = SECOND;
	set.patience = NANOS_MINUTE;
	set.signal = SIGTERM;
	set.visible = true;
	return set;
}

/* The state in which an event meets a scene; the command dies there first. */
static enum state state_before(int state) {
	if (state == RUNNING_DEAD)
		return RUNNING;
	return state == UNKILLABLE_DEAD ? UNKILLABLE : (enum state)state;
}

/* What an event makes of a scene */

/* A status, a signal that retry dies of, below 0, or one of these. */
enum {
	UNCHANGED = 1000, /* the status and attempts of the scene */
	IMPOSSIBLE, /* the event cannot happen in this state */
	DIES_OF_EVENT, /* of the signal that the event sent */
};

/* States. */
#define ANY RANGE(INPUT, GIVE_UP_KILLED)
#define BEFORE_ATTEMPTS RANGE(INPUT, BREAKER_WAIT)
#define BETWEEN_ATTEMPTS RANGE(DELAY, HOOK_AFTER_DELAY)
#define AFTER_COMMAND (BIT(RUNNING_DEAD) | BIT(SLOW_READER) | BIT(STRAGGLING))
#define AFTER_LIMIT RANGE(SIGNALLED, UNKILLABLE_DEAD)
#define COMMAND_LIVES \
	(BIT(RUNNING) | BIT(INTERRUPTED) | BIT(SIGNALLED) | BIT(KILLED) | BIT(UNKILLABLE) | \
	    BIT(ABANDONED))
#define HOOK_LIVES (RANGE(HOOK_IN_DELAY, HOOK_UNKILLABLE) | RANGE(GIVE_UP, GIVE_UP_KILLED))

/* Of the rows that name both a state and an event, the last one holds. */
static const struct rule {
	uint64_t states, events;
	int outcome;
} rules[] = {
	{ ANY, RANGE(0, EVENTS - 1), UNCHANGED },
	{ ANY, ENDS, DIES_OF_EVENT },
	/* retry does not die of a signal that the command did not die of */
	{ BIT(RUNNING), BIT(END_BY_COMMAND), 7 },
	{ AFTER_COMMAND, ENDS, 7 },
	{ AFTER_LIMIT, ENDS, 124 },
	{ BIT(INTERRUPTED) | BIT(ABANDONED) | BIT(ABANDONED_DEAD), ENDS, UNCHANGED },

	{ BIT(RUNNING) | BIT(INTERRUPTED), BIT(COMMAND_EXITS_0), 0 },
	{ BIT(RUNNING) | BIT(INTERRUPTED), BIT(COMMAND_DIES), DIES_OF_EVENT },
	{ BIT(RUNNING) | BIT(INTERRUPTED), BIT(COMMAND_NOT_FOUND), 127 },
	{ BIT(INTERRUPTED), BIT(COMMAND_CRASHES), -SIGSEGV },
	{ BIT(INTERRUPTED), RANGE(COMMAND_STOPS, COMMAND_BLOCKS), -SIGINT },

	{ BEFORE_ATTEMPTS, BIT(DEADLINE_PASSES), 124 },
	{ BIT(BREAKER_WAIT), BIT(DEADLINE_PASSES), 75 },
	{ BEFORE_ATTEMPTS, BIT(BUDGET_DENIES), 75 },
	{ BETWEEN_ATTEMPTS | BIT(RUNNING) | AFTER_COMMAND, ENDS_RETRYING, 7 },
	{ AFTER_LIMIT, ENDS_RETRYING, 124 },
	{ BEFORE_ATTEMPTS | BETWEEN_ATTEMPTS | BIT(RUNNING) | AFTER_COMMAND | AFTER_LIMIT,
	    BIT(FORKS_FAIL), 125 },

	{ ~COMMAND_LIVES, OF_COMMAND, IMPOSSIBLE },
	{ ~(COMMAND_LIVES | HOOK_LIVES), FORKS, IMPOSSIBLE },
	{ ~HOOK_LIVES, BIT(HOOK_ENDS), IMPOSSIBLE },
};

/* What each event makes of each scene. */
static int outcomes[STATES][EVENTS];

static void fill_outcomes(void) {
	for (size_t i = 0; i < LENGTH(rules); i++)
		for (int state = 0; state < STATES; state++)
			for (int event = 0; event < EVENTS; event++)
				if ((rules[i].states & BIT(state)) != 0 &&
				    (rules[i].events & BIT(event)) != 0)
					outcomes[state][event] = rules[i].outcome;
}

/* How often each cell was met by random_runs. */
static int met[STATES][EVENTS];

/* Each cell */

/* The cell that is tried now. */
static struct cell {
	int state, event, number;
	bool reached;
	int64_t launched; /* attempts that had begun when the event came */
} cell;

static void enter_cell(nanos until) {
	enum state from = state_before(cell.state);

	if (cell.reached || invocation_state() != from)
		return;
	if ((int)from != cell.state)
		kernel_end(kernel.command, 7, 0);
	if ((int)invocation_state() != cell.state)
		kernel_break("is not in the state of the scene");
	cell.reached = true;
	cell.launched = invocation.launched;
	kernel_trace(scenes[cell.state].name, cell.state);
	happen(cell.event, cell.number);
}

static struct ending run_cell(const struct cell *which, int around, bool tracing) {
	struct setting set = complete(scenes[which->state].set);

	set.around = around;
	for (int i = 0; i < COMMANDS; i++) set.commands[i].apart = (around & OTHER_SESSION) != 0;
	cell = *which;
	invocation_start(&set, (uint64_t)around, tracing);
	invocation.direct = enter_cell;
	return invocation_run();
}

/*
 * The time for which retry itself is stopped counts for no limit; where a shell
 * waits, retry stops with its command.
 */
static bool is_as_expected(const struct cell *which, int around, const struct ending *ending) {
	const struct scene *scene = &scenes[which->state];
	int outcome = outcomes[which->state][which->event];
	int status = ending->died ? -ending->value : ending->value;

	if (which->state == INTERRUPTED && which->event == COMMAND_STOPS &&
	    (around & (IS_WATCHED | IS_INIT | IS_LEADER)) == IS_WATCHED)
		outcome = UNCHANGED;
	if (outcome == UNCHANGED)
		return status == scene->status && invocation.launched == scene->attempts;
	if (outcome == DIES_OF_EVENT)
		outcome = -which->number;
	return status == outcome && invocation.launched == cell.launched;
}

/*
 * Each cell is tried in a quarter of the combinations, in which any three of
 * the surroundings are combined in all ways; the next cell in the next quarter.
 */
static void check_cell(const struct cell *which) {
	static int quarter;
	char row[128];
	int failed = unit_failures();

	quarter = (quarter + 1) % 4;
	for (int around = 0; around < SURROUNDINGS && unit_failures() == failed; around++) {
		/* Whether an odd number of four of them is there, and of four
		 * others: this divides them into quarters. */
		int odd = __builtin_parity(around & 0x17);
		int other_odd = __builtin_parity(around & 0x2e);
		struct ending ending;

		if (!large && odd + 2 * other_odd != quarter)
			continue;
		ending = run_cell(which, around, false);
		snprintf(row, sizeof row, "%s; %s; %d %d %d %d", scenes[which->state].name,
		    events[which->event].name, which->state, which->event, which->number, around);
		SAME(row, ending.broken, NULL);
		HOLDS(row, cell.reached);
		HOLDS(row, is_as_expected(which, around, &ending));
	}
}

TEST(every_cell) {
	for (int state = 0; state < STATES; state++)
		for (int event = 0; event < EVENTS; event++) {
			const int *number = events[event].numbers;

			if (outcomes[state][event] == IMPOSSIBLE)
				continue;
			do
				check_cell(&(struct cell){
				    .state = state, .event = event, .number = *number });
			while (*++number != 0);
		}
}

/* A reader that is slow until after the deadline */

static void oversleep(nanos until) {
	(void)until;
	if (invocation_state() != SLOW_READER || cell.reached || invocation_until_deadline() > 0)
		return;
	cell.reached = true;
	if (cell.number > 0) /* retry is stopped, too */
		send(SIGTSTP, SI_USER, STRANGER);
	invocation.late = 3 * SECOND;
}

/* The output of two attempts waits for a reader. When retry wakes, its time for
 * the reader is over, but the reader is back: it gets all of the output. */
TEST(a_late_wake_up_loses_no_output) {
	struct setting set = complete((struct setting){
	    .attempts = 2, .deadline = 10 * SECOND, .commands = { { LASTING } } });

	for (int i = 0; i < 2; i++) {
		struct ending ending;

		set.owed = (i == 1 ? 11 : 8) * SECOND;
		cell = (struct cell){ .number = i };
		invocation_start(&set, 1, false);
		invocation.direct = oversleep;
		ending = invocation_run();
		HOLDS("late", cell.reached);
		SAME("broken", ending.broken, NULL);
		EQUAL("status", ending.value, 0);
	}
}

/* Random runs */

/* How many events a random run still has to meet. */
static int disturbances;

/* The state before which it meets none; STATES: it meets them everywhere. */
static int target;

static bool one_of(uint64_t most) { return kernel_draw(most) == 0; }

static nanos any_span(void) {
	static const nanos spans[] = { 0, 1, MS, 50 * MS, 300 * MS, SECOND, 3 * SECOND,
		12 * SECOND };

	return spans[kernel_draw(LENGTH(spans))];
}

/* A command that no limit ends must end by itself. */
static struct temper any_temper(bool limited) {
	static const int signals[] = { SIGSEGV, SIGINT, SIGTERM, SIGKILL, SIGPIPE };
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
		temper.life = temper.held = 12 * SECOND;
		temper.refuses = one_of(2);
	}
	return temper;
}

static struct setting any_setting(void) {
	static const int signals[] = { SIGTERM, SIGTERM, SIGINT, SIGKILL, SIGUSR1 };
	static const nanos deadlines[] = { 1, 100 * MS, 3 * SECOND, 3 * SECOND, 10 * SECOND,
		NANOS_HOUR };
	struct setting set = { .attempts = 1 + (int64_t)kernel_draw(4),
		.timeout = one_of(2) ? any_span() : 0,
		.kill_after = any_span(),
		.deadline = one_of(2) ? 0 : deadlines[kernel_draw(LENGTH(deadlines))],
		.delay = any_span(),
		.splay = one_of(4) ? any_span() : 0,
		.patience = any_span(),
		.signal = signals[kernel_draw(LENGTH(signals))],
		.has_member = one_of(2),
		.on_retry = one_of(3),
		.on_give_up = one_of(4),
		.around = one_of(4) ? HAS_ELDER : 0,
		.input = one_of(8) ? any_span() : 0,
		.owed = one_of(4) ? any_span() : 0,
		.straggling = one_of(4) ? any_span() : 0,
		.held = one_of(8) ? any_span() : 0,
		.report = one_of(8) ? any_span() : 0,
		.log = one_of(8) ? any_span() : 0,
		.held_back = one_of(8),
		.exhausted = one_of(8),
		.interrupted = one_of(16),
		.dies_abandoned = one_of(3),
		.visible = !one_of(16),
		.adopts = one_of(4) };

	set.around |= (one_of(8) ? IS_INIT : 0) | (one_of(4) ? IS_LEADER : 0) |
	    (one_of(8) ? 0 : HAS_PIDFDS) | (one_of(4) ? IS_WATCHED : 0);
	set.consecutive = one_of(4) ? 1 + (int64_t)kernel_draw((uint64_t)set.attempts) : 1;
	for (int i = 0; i < COMMANDS; i++)
		set.commands[i] = any_temper(set.timeout != 0 || set.deadline != 0);
	set.member = any_temper(true);
	set.hook = any_temper(set.deadline != 0);
	return set;
}

/* An event that can happen in a state: any, or the one that was met least. */
static int find_event(int state, bool anytime, bool any) {
	int first = (int)kernel_draw(EVENTS), found = EVENTS;

	for (int i = 0; i < EVENTS && (found == EVENTS || !any); i++) {
		int other = (first + i) % EVENTS;

		if (outcomes[state][other] != IMPOSSIBLE &&
		    (!anytime || events[other].when == ANYTIME) &&
		    (found == EVENTS || met[state][other] < met[state][found]))
			found = other;
	}
	return found;
}

static int count_numbers(int event) {
	int count = 1;

	while (events[event].numbers[count] != 0) count++;
	return count;
}

/* One of the events that can happen now, with each of its numbers in turn. */
static void disturb(bool anytime) {
	int state = (int)invocation_state();
	int event = find_event(state, anytime, one_of(2));
	int times = met[state][event]++;

	disturbances--;
	kernel_trace(scenes[state].name, state);
	happen(event, events[event].numbers[times % count_numbers(event)]);
}

/* At some time in a wait; always in the state to which the run is steered. */
static void disturb_wait(nanos until) {
	int state = (int)invocation_state();
	nanos nap = until - kernel.now;

	if (target != STATES) {
		if (state != (int)state_before(target))
			return;
		if (state != target)
			kernel_end(kernel.command, 7, 0);
		target = STATES;
	} else if (disturbances <= 0 || !one_of(nap < 50 * MS ? 8 : 2)) {
		return;
	}
	do {
		if (one_of(2) && nap > 0)
			kernel_pass(kernel.now + (nanos)kernel_draw((uint64_t)nap), false);
		disturb(false);
		nap = until - kernel.now;
	} while (one_of(4));
}

static void disturb_calls(void) {
	if (target == STATES && disturbances > 0 && one_of(32))
		disturb(true);
}

/*
 * Any setting; in some runs the one of the scene whose state has the rarest
 * cell, in any surroundings. So a run depends on the earlier ones.
 */
static struct ending run_any(uint64_t seed, bool tracing) {
	struct setting any, set;
	int least = INT_MAX;

	kernel.random = seed;
	any = set = any_setting();
	target = STATES;
	for (int state = 0, steers = one_of(4); steers && state < STATES; state++) {
		int times = met[state][find_event(state, false, false)];

		if (times < least)
			target = state;
		least = (int)number_lesser(least, times);
	}
	if (target != STATES) {
		set = complete(scenes[target].set);
		set.around = any.around;
	}
	invocation_start(&set, seed, tracing);
	invocation.direct = disturb_wait;
	disturbances = (int)kernel_draw(10);
	/* Without pidfds retry cannot do right what happens between calls. */
	if ((set.around & HAS_PIDFDS) != 0 && one_of(2))
		kernel.meanwhile = disturb_calls;
	return invocation_run();
}

TEST(random_runs) {
	char row[32];
	int most = unit_failures() + 10;
	uint64_t runs = large ? RUNS_LARGE : RUNS;

	for (uint64_t seed = 1; seed <= runs && unit_failures() < most; seed++) {
		struct ending ending = run_any(seed, false);

		snprintf(row, sizeof row, "unit_attempt %" PRIu64, seed);
		SAME(row, ending.broken, NULL);
	}
}

TEST(every_cell_was_met) {
	for (int state = 0; state < STATES; state++)
		for (int event = 0; event < EVENTS; event++) /* With each of its numbers. */
			if (outcomes[state][event] != IMPOSSIBLE)
				HOLDS(scenes[state].name,
				    met[state][event] >= count_numbers(event));
}

SPY(int, main, int argc, char **argv) {
	int numbers[4] = { 0 };
	struct ending ending = { 0 };

	fill_outcomes();
	large = argc == 2 && strcmp(argv[1], "large") == 0;
	if (argc == 1 || large)
		return unit_run(argv + argc);
	for (int i = 0; i < 4 && i + 1 < argc; i++) numbers[i] = (int)strtol(argv[i + 1], NULL, 10);
	if (argc == 5)
		ending = run_cell(&(struct cell){ .state = numbers[0],
				      .event = numbers[1],
				      .number = numbers[2] },
		    numbers[3], true);
	for (int seed = 1; argc == 2 && seed <= numbers[0]; seed++)
		ending = run_any((uint64_t)seed, seed == numbers[0]);
	puts(ending.broken == NULL ? "all well" : ending.broken);
	return ending.broken == NULL ? EXIT_SUCCESS : EXIT_FAILURE;
}
