/*
 * Whole invocations on a kernel that is not there, in no time: tests/attempt
 * has both, and the promises that hold at every step.
 *
 * The table says, for each state of an attempt or of the time between two and
 * for each event, what comes of it. Every cell is tried in several
 * surroundings; then come random settings with random events.
 *
 *     unit_attempt                          all of it
 *     unit_attempt SEED                     one random run, told step by step
 *     unit_attempt STATE EVENT NUMBER PLACE the same of a cell
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

/* Some process that has nothing to do with us. */
enum { STRANGER = 77 };

static nanos
lesser(nanos a, nanos b)
{
	return a < b ? a : b;
}

/*
 * Events. The number is of a signal, or of no meaning.
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

/* Where no limit ends it, it must end by itself. */
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

/* Whoever can fork: the command or a hook. */
static struct process *
fork_member(const struct temper *temper)
{
	const struct process *parent =
	    kernel_alive(kernel.command) ? kernel.command : kernel.hook;

	if (!kernel_alive(parent))
		return NULL;
	return kernel_spawn(ROLE_MEMBER, kernel_place(parent), temper);
}

/* Who comes to us, where anybody does. */
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

/* Whoever has forked it is gone: its like, where there is one. */
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

/* With an orphan, who stays in its session. */
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

/* Its parent may bury it at once, and anybody has its number then. */
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

/* Where orphans come to us, it is ours to bury. */
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

/* A wait may have begun before, and is as long as it was. */
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
	invocation.eaten = true;
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
static const int meant[] = { SIGINT, SIGQUIT, SIGPIPE, 0 };
static const int others[] = { SIGUSR1, SIGALRM, SIGXFSZ, SIGXCPU, 40, 0 };
static const int stops[] = { SIGTSTP, SIGTTIN, SIGTTOU, 0 };
static const int window[] = { SIGWINCH, 0 };
static const int pipe_broken[] = { SIGPIPE, 0 };
static const int crashes[] = { 0, SIGSEGV, 0 };

static const struct event {
	const char *name;
	void (*happen)(int number);
	const int *numbers; /* one or more, then 0 */
	bool anytime; /* between two calls as well */
} events[] = {
	{ "a wake-up for nothing", wake, none, false },
	/* the command */
	{ "the command exits 0", succeed, none, true },
	{ "the command exits 7", fail, none, true },
	{ "the command dies of SEGV", crash, none, true },
	{ "the command dies of what nobody retries", die_of, meant, false },
	{ "the command cannot be found", miss, none, false },
	{ "the command is stopped", stop, none, false },
	{ "the command hangs", hang, none, false },
	{ "the command hangs and is deaf", go_deaf, none, false },
	{ "the command is held by the kernel", sink, none, false },
	{ "the command cannot be signalled", refuse, none, false },
	/* a signal that ends all: each of INT, TERM, HUP and QUIT */
	{ "an end from the terminal", kernel_type, ends, true },
	{ "an end from others", send_by_others, ends, true },
	{ "an end queued by others", queue_by_others, ends, false },
	{ "an end from the command", send_by_command, ends, false },
	{ "an end from the terminal and others", send_twice, ends, false },
	/* other signals */
	{ "another signal", send_by_others, others, true },
	{ "another signal, with a value", queue_by_others, others, false },
	{ "WINCH from the terminal", kernel_type, window, true },
	{ "our own PIPE", send_to_ourselves, pipe_broken, false },
	{ "a stop from the terminal", kernel_type, stops, true },
	{ "a stop from others", send_by_others, stops, true },
	/* the tree */
	{ "an orphan dies", orphan, none, true },
	{ "two deaf members", fork_deaf, none, true },
	{ "a member that cannot be signalled", fork_refusing, none, false },
	{ "a deaf member apart", fork_apart, none, true },
	{ "a daemon", fork_daemon, none, true },
	{ "a member ends", end_member, none, true },
	/* time */
	{ "a wake-up 3 s too late", wake_late, none, false },
	{ "retry is stopped for 10 s", stop_us, none, false },
	{ "the machine sleeps for 10 s", suspend, none, false },
	{ "the machine sleeps past the deadline", pass_deadline, none, false },
	/* what the next attempt is refused */
	{ "a fork fails", deny_fork, none, false },
	{ "every fork fails", deny_forks, none, false },
	{ "a pipe fails", deny_pipe, none, false },
	{ "the budget denies twice", deny_twice, none, false },
	{ "the budget denies", deny, none, false },
	{ "the input is eaten up", eat, none, false },
	/* the hook */
	{ "the hook fails", end_hook, crashes, true },
	{ "the next hook cannot be forked", deny_hook, none, false },
};

enum { EVENTS = LENGTH(events) };

/*
 * States: how each is reached from the usual setting
 */

/*
 * The first command fails after 300 ms, and the second would succeed; a limit
 * ends at 2 s what lasts so long, and 1 s later kills.
 */
static const struct setting usual = { .attempts = 3,
	.timeout = 2 * NANOS_SECOND,
	.kill_after = NANOS_SECOND,
	.deadline = NANOS_HOUR,
	.delay = NANOS_SECOND,
	.patience = NANOS_MINUTE,
	.signal = SIGTERM,
	.commands = { { .life = 300 * NANOS_MS, .status = 7 },
	    { .life = 300 * NANOS_MS }, { .life = 300 * NANOS_MS },
	    { .life = 300 * NANOS_MS } },
	.visible = true };

static const struct temper lasting = { .life = NANOS_MINUTE };
static const struct temper deaf = { .life = NANOS_MINUTE, .deaf = true };
static const struct temper held = { .life = NANOS_MINUTE,
	.held = NANOS_MINUTE };

static void
set_nothing(struct setting *set)
{
	(void)set;
}

static void
set_input(struct setting *set)
{
	set->input = 500 * ms;
}

static void
set_splay(struct setting *set)
{
	set->splay = second;
}

static void
set_held(struct setting *set)
{
	set->denials = 2;
}

static void
set_denied(struct setting *set)
{
	set->later_denials = 2;
}

static void
set_beside(struct setting *set)
{
	set->on_retry = true;
	set->hook.life = 300 * ms;
}

static void
set_behind(struct setting *set)
{
	set->on_retry = true;
	set->hook.life = 5 * second;
}

static void
set_hook_asked(struct setting *set)
{
	set->on_retry = true;
	set->deadline = 3 * second;
	set->hook = deaf;
}

static void
set_hook_killed(struct setting *set)
{
	set_hook_asked(set);
	set->hook = held;
}

static void
set_interrupted(struct setting *set)
{
	set->interrupted = true;
	set->commands[0].deaf = true;
}

static void
set_asked(struct setting *set)
{
	set->commands[0] = deaf;
}

static void
set_asked_dead(struct setting *set)
{
	set->commands[0] = lasting;
	set->has_member = true;
	set->member = deaf;
}

static void
set_killed(struct setting *set)
{
	set->commands[0] = lasting;
	set->commands[0].held = 3500 * ms;
}

static void
set_killed_dead(struct setting *set)
{
	set_asked_dead(set);
	set->member.held = 3500 * ms;
}

static void
set_stuck(struct setting *set)
{
	set->commands[0] = lasting;
	set->commands[0].held = 6 * second;
}

static void
set_left(struct setting *set)
{
	set->deadline = 3 * second;
	set->straggling = 50 * ms;
	set->commands[0] = lasting;
	set->commands[0].refuses = true;
}

static void
set_left_dead(struct setting *set)
{
	set_left(set);
	set->dies_left = true;
}

static void
set_owed(struct setting *set)
{
	set->owed = 500 * ms;
}

static void
set_straggling(struct setting *set)
{
	set->straggling = 50 * ms;
}

static void
set_delivery(struct setting *set)
{
	set->held = 500 * ms;
}

static void
set_report(struct setting *set)
{
	set->report = 500 * ms;
}

static void
set_lines(struct setting *set)
{
	set->log = 50 * ms;
}

static void
set_give_up(struct setting *set)
{
	set->attempts = 1;
	set->on_give_up = true;
	set->hook.life = second;
}

static void
set_give_up_asked(struct setting *set)
{
	set_give_up(set);
	set->hook = deaf;
}

static void
set_give_up_killed(struct setting *set)
{
	set_give_up(set);
	set->hook = held;
}

/*
 * The table. What an event makes of an invocation which, without it, makes so
 * many attempts and exits with that status:
 *
 *	-  it cannot be
 *	.  nothing
 *	!  it dies of the event's signal, with no further attempt
 *	1  one more attempt, whose failure (7) is the end
 *
 * or it ends with no further attempt, as the letter has it in endings.
 */
static const struct scene {
	const char *name;
	void (*set)(struct setting *set);
	enum state from; /* where it is not the same: the command dies there */
	int status, attempts;
	const char *row; /* a column for each event, in groups as above */
} scenes[STATES] = {
	[INPUT] = { "reading input", set_input, INPUT, 0, 2,
	    ". ---------- !!!-! ...... .----. ...c .5..h1 -." },
	[SPLAY] = { "splay", set_splay, SPLAY, 0, 2,
	    ". ---------- !!!-! ...... .----. ...c .5..h1 -." },
	[HELD] = { "held by the breaker", set_held, HELD, 0, 2,
	    ". ---------- !!!-! ...... .----. ...h .5..h1 -." },
	[DELAY] = { "delay", set_nothing, DELAY, 0, 2,
	    ". ---------- !!!-! ...... .----. ...7 .5..77 -." },
	[DENIED] = { "denied by the budget", set_denied, DENIED, 0, 2,
	    ". ---------- !!!-! ...... .----. ...7 .5..77 -." },
	[BESIDE] = { "delay and hook", set_beside, BESIDE, 0, 2,
	    ". ---------- !!!-! ...... ...... ...7 .5..77 .." },
	[BEHIND] = { "hook after the delay", set_behind, BEHIND, 0, 2,
	    ". ---------- !!!-! ...... ...... ...7 .5..77 .." },
	[HOOK_ASKED] = { "hook asked", set_hook_asked, HOOK_ASKED, 7, 1,
	    ". ---------- !!!-! ...... ...... .... ...... .." },
	[HOOK_KILLED] = { "hook killed", set_hook_killed, HOOK_KILLED, 7, 1,
	    ". ---------- !!!-! ...... ...... .... ...... .." },
	[HOOK_STUCK] = { "hook stuck", set_hook_killed, HOOK_STUCK, 7, 1,
	    ". ---------- !!!-! ...... ...... .... ...... .." },
	[AHEAD] = { "command alive", set_nothing, AHEAD, 0, 2,
	    ". 0..!n..... !!!7! ...... ...... ...7 .5..77 -." },
	[AHEAD_DEAD] = { "command dead", set_nothing, AHEAD, 0, 2,
	    ". ---------- 777-7 ...... .----. ...7 .5..77 -." },
	[INTERRUPTED] = { "interrupted", set_interrupted, INTERRUPTED, 7, 1,
	    ". 0.s!niiii. ..... ...... ...... .... ...... -." },
	[ASKED] = { "asked", set_asked, ASKED, 0, 2,
	    ". .......... ccccc ...... ...... ...c .5..cc -." },
	[ASKED_DEAD] = { "asked, command dead", set_asked_dead, ASKED_DEAD, 0,
	    2, ". ---------- ccc-c ...... .----. ...c .5..cc -." },
	[KILLED] = { "killed", set_killed, KILLED, 0, 2,
	    ". .......... ccccc ...... ...... ...c .5..cc -." },
	[KILLED_DEAD] = { "killed, command dead", set_killed_dead, KILLED_DEAD,
	    0, 2, ". ---------- ccc-c ...... .----. ...c .5..cc -." },
	[STUCK] = { "stuck", set_stuck, STUCK, 0, 2,
	    ". .......... ccccc ...... ...... ...c .5..cc -." },
	[STUCK_DEAD] = { "stuck, command dead", set_stuck, STUCK, 0, 2,
	    ". ---------- ccc-c ...... .----. ...c .5..cc -." },
	[LEFT] = { "left", set_left, LEFT, 124, 1,
	    ". .......... ..... ...... ...... .... ...... -." },
	[LEFT_DEAD] = { "left, and dead since", set_left_dead, LEFT_DEAD, 124,
	    1, ". ---------- ...-. ...... .----. .... ...... -." },
	[OWED] = { "slow reader", set_owed, OWED, 0, 2,
	    ". ---------- 777-7 ...... .----. ...7 .5..77 -." },
	[STRAGGLING] = { "stragglers", set_straggling, STRAGGLING, 0, 2,
	    ". ---------- 777-7 ...... .----. ...7 .5..77 -." },
	[DELIVERY] = { "delivery in the end", set_delivery, DELIVERY, 0, 2,
	    ". ---------- !!!-! ...... .----. .... ...... -." },
	[REPORT] = { "report", set_report, REPORT, 0, 2,
	    ". ---------- !!!-! ...... .----. .... ...... -." },
	[LINES] = { "last lines", set_lines, LINES, 0, 2,
	    ". ---------- !!!-! ...... .----. .... ...... -." },
	[GIVE_UP] = { "last hook", set_give_up, GIVE_UP, 7, 1,
	    ". ---------- !!!-! ...... ...... .... ...... .." },
	[GIVE_UP_ASKED] = { "last hook asked", set_give_up_asked, GIVE_UP_ASKED,
	    7, 1, ". ---------- !!!-! ...... ...... .... ...... .." },
	[GIVE_UP_KILLED] = { "last hook killed", set_give_up_killed,
	    GIVE_UP_KILLED, 7, 1,
	    ". ---------- !!!-! ...... ...... .... ...... .." },
};

static const struct {
	char letter;
	bool died;
	int value;
} endings[] = {
	{ '0', false, 0 },
	{ '7', false, 7 },
	{ 'h', false, 75 },
	{ 'c', false, 124 },
	{ '5', false, 125 },
	{ 'n', false, 127 },
	{ 'i', true, SIGINT },
	{ 's', true, SIGSEGV },
};

/* How often each was met: in the walk; by chance. */
static int walked[STATES][EVENTS], met[STATES][EVENTS];

/* What the table has for an event; 0 past its end. */
static char
letter_of(int state, int event)
{
	const char *at = scenes[state].row;

	for (; *at != '\0'; at++)
		if (*at != ' ' && event-- == 0)
			return *at;
	return '\0';
}

/*
 * Each cell
 */

/* The surroundings, bit by bit: PID 1, session leader, pidfds, a session... */
enum { PLACES = 64 };

/* The cell that is tried just now. */
static struct cell {
	int state, event, number;
	bool reached;
	int64_t launched; /* until then */
} cell;

static void
enter_cell(nanos until)
{
	enum state from = scenes[cell.state].from;

	(void)until;
	if (cell.reached || invocation_state() != from)
		return;
	if ((int)from != cell.state)
		fail(0);
	if ((int)invocation_state() != cell.state)
		kernel_break("is in another state than it seems");
	cell.reached = true;
	cell.launched = invocation.launched;
	kernel_trace(scenes[cell.state].name, cell.state);
	kernel_trace(events[cell.event].name, cell.number);
	events[cell.event].happen(cell.number);
}

static struct ending
run_cell(const struct cell *which, int place, bool tracing)
{
	struct setting set = usual;

	scenes[which->state].set(&set);
	set.init = (place & 1) != 0;
	set.leader = (place & 2) != 0;
	set.pidfds = (place & 4) != 0;
	for (int i = 0; i < COMMANDS; i++)
		set.commands[i].apart = (place & 8) != 0;
	set.has_elder = (place & 16) != 0;
	set.watched = (place & 32) != 0;
	cell = *which;
	invocation_start(&set, (uint64_t)place, tracing);
	invocation.direct = enter_cell;
	return invocation_run();
}

/* Whether it ended as it says there, with no further attempt. */
static bool
ended_as(char letter, const struct ending *ending)
{
	for (size_t i = 0; i < LENGTH(endings); i++)
		if (endings[i].letter == letter)
			return ending->died == endings[i].died &&
			    ending->value == endings[i].value &&
			    ending->launched == cell.launched;
	return false;
}

/*
 * What a row says, but that a command which stops itself, where a shell waits,
 * takes its time with it: no limit passes meanwhile.
 */
static char
letter_at(const struct cell *which, int place)
{
	bool mirrored = (place & 32) != 0 && (place & 3) == 0 &&
	    events[which->event].happen == stop;

	if (mirrored && which->state == INTERRUPTED)
		return '.';
	return letter_of(which->state, which->event);
}

static bool
is_as_said(char letter, const struct ending *ending)
{
	const struct scene *scene = &scenes[cell.state];

	if (letter == '.')
		return !ending->died && ending->value == scene->status &&
		    ending->launched == scene->attempts;
	if (letter == '!')
		return ending->died && ending->value == cell.number &&
		    ending->launched == cell.launched;
	if (letter == '1')
		return !ending->died && ending->value == 7 &&
		    ending->launched == cell.launched + 1;
	return ended_as(letter, ending);
}

static void
check_cell(const struct cell *which)
{
	char row[128];
	int failed = unit_failed;

	for (int place = 0; place < PLACES && unit_failed == failed; place++) {
		struct ending ending = run_cell(which, place, false);
		char letter = letter_at(which, place);

		snprintf(row, sizeof row, "%s; %s; %d %d %d %d",
		    scenes[which->state].name, events[which->event].name,
		    which->state, which->event, which->number, place);
		SAME(row, ending.broken, NULL);
		HOLDS(row, cell.reached);
		HOLDS(row, is_as_said(letter, &ending));
	}
	walked[which->state][which->event]++;
}

static void
test_every_cell(void)
{
	for (int state = 0; state < STATES; state++)
		for (int event = 0; event < (int)EVENTS; event++) {
			const int *number = events[event].numbers;

			if (letter_of(state, event) == '-')
				continue;
			do
				check_cell(&(struct cell){ .state = state,
				    .event = event,
				    .number = *number });
			while (*++number != 0);
		}
}

/*
 * Chance
 */

/* Events that a random run has left. */
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

/* Where no limit ends it, it must end by itself. */
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
		.dies_left = one_of(3),
		.init = one_of(8),
		.leader = one_of(4),
		.pidfds = !one_of(8),
		.visible = !one_of(16),
		.adopts = one_of(4),
		.pends = one_of(16),
		.watched = one_of(4) };

	for (int i = 0; i < COMMANDS; i++)
		set.commands[i] =
		    any_temper(set.timeout != 0 || set.deadline != 0);
	set.member = any_temper(true);
	set.hook = any_temper(set.deadline != 0);
	return set;
}

/* One of the events, if it can be. */
static void
disturb(bool anytime)
{
	int state = (int)invocation_state();
	int event = (int)kernel_draw(EVENTS);
	const int *numbers = events[event].numbers;
	size_t choices = 1;

	if (letter_of(state, event) == '-' ||
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

/* Somewhere in a wait. Few runs come to where all is stuck. */
static void
disturb_wait(nanos until)
{
	enum state state = invocation_state();
	bool rare = state == LEFT || state == LEFT_DEAD || state == STUCK ||
	    state == HOOK_STUCK;
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
	/* Without pidfds what happens then is nobody's fault. */
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
		for (int event = 0; event <= (int)EVENTS; event++) {
			char letter = letter_of(state, event);

			if (event == EVENTS || letter == '\0')
				EQUAL(scenes[state].name, letter,
				    event == EVENTS ? '\0' : '.');
			else if (letter != '-')
				HOLDS(scenes[state].name,
				    walked[state][event] > 0 &&
					met[state][event] > 0);
		}
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
