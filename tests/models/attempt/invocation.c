#include "invocation.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "run.h"
#include "text/number.h"

/* How long the calls between two waits may take. */
#define SLACK NANOS_MS

#define LONGEST_HOOK (30 * NANOS_SECOND)

/* How long others may have a pipe open once the command has ended. */
#define STRAGGLERS (100 * NANOS_MS)

/* How long retry waits for a reader that reads nothing of a report. */
#define PATIENCE (2 * NANOS_SECOND)

/* The most words of a command line. */
#define WORDS 40

#define BUDGET "budget"
#define WINDOW (3 * NANOS_SECOND)

/* The most temporary files at once: the input, what is held, and the error
 * output of the attempt before. */
#define PLAIN_MOST 4

#define STACK_SOILED (sizeof(struct run) + 8192)
#define NONSENSE 0xa5

/* Most waits of a run. SPINS_MOST waits within SPIN are a busy loop. */
#define WAITS_MOST 20000
#define SPINS_MOST 300
#define SPIN (5 * NANOS_MS)

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* main() of retry.c. unit_attempt.c has the one that replaces it. */
int REAL(main)(int argc, char **argv);

struct invocation invocation;
static struct invocation *const now = &invocation;

/* States */

/* While a limit is watched, by its stage. */
static const struct {
	enum state hook, last_hook, command, dead_command;
} of_limit[] = {
	[TERMINATION_NONE] = { HOOK_UNKILLABLE, GIVE_UP_KILLED, RUNNING, RUNNING_DEAD },
	[TERMINATION_SIGNALLED] = { HOOK_SIGNALLED, GIVE_UP_SIGNALLED, SIGNALLED, SIGNALLED_DEAD },
	[TERMINATION_KILLED] = { HOOK_KILLED, GIVE_UP_KILLED, KILLED, KILLED_DEAD },
	[TERMINATION_UNKILLABLE] = { HOOK_UNKILLABLE, GIVE_UP_KILLED, UNKILLABLE, UNKILLABLE_DEAD },
	[TERMINATION_ABANDONED] = { HOOK_UNKILLABLE, GIVE_UP_KILLED, RUNNING, RUNNING_DEAD },
};

enum state invocation_state(void) {
	if (now->limit != NULL) {
		enum termination_stage stage = now->limit->stage;
		enum state state = of_limit[stage].command;

		if (kernel.hook != NULL && now->limit->child == kernel.hook->pid)
			return now->closing ? of_limit[stage].last_hook : of_limit[stage].hook;
		if (!kernel_alive(kernel.command))
			return of_limit[stage].dead_command;
		return state == RUNNING && now->ended_by != 0 ? INTERRUPTED : state;
	}
	if (now->attempting && now->abandoned)
		return kernel_alive(kernel.command) ? ABANDONED : ABANDONED_DEAD;
	if (now->attempting)
		return file_pipes(false) > 0 || file_awaits(OUTPUT_STDERR) ? SLOW_READER
									   : STRAGGLING;
	if (now->closing && kernel.hook != NULL)
		return GIVE_UP;
	if (now->closing && file_awaits(OUTPUT_REPORT))
		return REPORT;
	/* Until held output is delivered, retry writes nothing else. */
	if (now->closing)
		return file_awaits(OUTPUT_STDERR) &&
			(now->set.held == 0 || kernel.taken_by[OUTPUT_STDOUT] > 0 ||
			    kernel.taken_by[OUTPUT_STDERR] > 0)
		    ? LAST_LINES
		    : DELIVERY;
	if (!now->ready)
		return INPUT;
	if (kernel.hook != NULL)
		return kernel_boottime() < now->at ? HOOK_IN_DELAY : HOOK_AFTER_DELAY;
	if (now->denied)
		return now->begun == 0 ? BREAKER_WAIT : BUDGET_WAIT;
	return now->begun == 0 ? SPLAY : DELAY;
}

/* Promises */

nanos invocation_until_deadline(void) {
	if (now->set.deadline == 0)
		return NANOS_MAX;
	return KERNEL_START + KERNEL_ASLEEP + now->set.deadline - kernel_boottime();
}

/* The time until retry has to do anything. */
static nanos due(void) {
	const struct process *command = kernel.command;
	enum state state = invocation_state();
	nanos left = invocation_until_deadline();

	if (state >= RUNNING && state <= UNKILLABLE_DEAD) {
		if (command == NULL)
			kernel_break("waits for a command that is buried");
		/* At the deadline it is abandoned. */
		if (command->killed != 0)
			return left > 0 ? number_lesser(left, NANOS_SECOND) : NANOS_SECOND;
		if (command->asked != 0)
			return now->kill - kernel.now;
		return now->timeout == NANOS_MAX ? left
						 : number_lesser(now->timeout - kernel.now, left);
	}
	switch (state) {
	case SPLAY:
	case BREAKER_WAIT:
	case DELAY:
	case BUDGET_WAIT:
	case HOOK_IN_DELAY: return now->at - kernel_boottime();
	case INPUT:
	case HOOK_AFTER_DELAY: return left;
	case SLOW_READER: return now->ended_by == 0 && left > STRAGGLERS ? left : STRAGGLERS;
	case ABANDONED:
	case ABANDONED_DEAD:
	case STRAGGLING:
	case LAST_LINES: return STRAGGLERS;
	case REPORT: return PATIENCE;
	case DELIVERY: return NANOS_MAX;
	case GIVE_UP: return now->given_up - kernel.now;
	default: return NANOS_SECOND;
	}
}

/* A signal reaches the command once: by the terminal, or by retry. */
static void check_passes(void) {
	const struct sent *due_signal = &now->due, *passed = &kernel.passed;

	if (kernel.passes > (now->is_due ? 1 : 0))
		kernel_break("passes a signal on that is not for the command");
	if (kernel.passes == 0 && now->is_due && kernel_alive(kernel.command))
		kernel_break("does not pass a signal on");
	if (kernel.passes == 1 &&
	    (passed->number != due_signal->number ||
		(due_signal->code == SI_QUEUE && passed->value != due_signal->value)))
		kernel_break("passes another signal on");
	kernel.passes = 0;
	now->is_due = false;
}

/* A limit is about to signal the command. */
void invocation_limit(int number) {
	const struct process *command = kernel.command;
	bool mild = now->set.kill_after > 0 && now->set.signal != SIGKILL;

	if (command->asked == 0) {
		if (kernel.now + SLACK < now->timeout && invocation_until_deadline() > SLACK)
			kernel_break("ends an attempt before a limit");
		if (mild && number != now->set.signal)
			kernel_break("ends an attempt by another signal");
	} else if (mild && number == SIGKILL && kernel.now + SLACK < now->kill) {
		kernel_break("kills before the time is over");
	}
}

/* Real functions, which are observed on their way */

/* An abandoned hook may live on, and is not waited for. */
SPY(bool, termination_over, const struct termination *limit) {
	bool over = REAL(termination_over)(limit);
	bool hook = kernel.hook != NULL && kernel.hook->pid == limit->child;

	if (limit->stage >= TERMINATION_UNKILLABLE && !hook)
		now->unkillable = true;
	if (limit->stage == TERMINATION_ABANDONED && hook) {
		kernel.hook = NULL;
	} else if (limit->stage == TERMINATION_ABANDONED) {
		now->abandoned = true;
		if (now->set.dies_abandoned)
			kernel_end(kernel.command, 0, SIGKILL);
	}
	now->limit = over ? NULL : limit;
	/* The command is dead and its limit is over, or it is abandoned. */
	if (!over || !now->attempting)
		return over;
	if (!kernel_alive(kernel.command) && kernel.last.asked != 0 && !now->unkillable &&
	    kernel.visible && kernel_has_member(&kernel.last, LACK_NOTHING))
		kernel_break("leaves members behind after a limit");
	kernel.room[OUTPUT_STDERR] = kernel.now + now->set.owed;
	file_leave(now->set.owed > 0 || now->set.held > 0,
	    kernel.room[OUTPUT_STDERR] + now->set.straggling);
	return over;
}

static const struct process *top_of(pid_t child) {
	if (kernel.command != NULL && kernel.command->pid == child)
		return kernel.command;
	if (kernel.hook == NULL || kernel.hook->pid != child)
		kernel_break("a limit of a process that is buried");
	return kernel.hook;
}

/*
 * A limit looks for daemons until it sends its first signal, whatever comes
 * before; a process that is forked meanwhile may be missed until KILL.
 */
static void note_limit(const struct process *top, const struct termination *limit) {
	enum lack lack = limit->stage == TERMINATION_SIGNALLED ? LACK_SIGNAL : LACK_KILL;
	bool asks = top == kernel.command;

	kernel.swept = NULL;
	if (asks && top->killed == 0)
		now->kill = number_add(top->asked, now->set.kill_after);
	if (kernel.visible && kernel.meanwhile == NULL && kernel_has_member(top, lack))
		kernel_break("a limit misses a member");
}

SPY(void, termination_start, struct termination *limit) {
	const struct process *top = top_of(limit->child);

	kernel_settle(top, false);
	kernel.swept = kernel.unsettled = top;
	REAL(termination_start)(limit);
	note_limit(top, limit);
}

SPY(void, termination_advance, struct termination *limit, bool late) {
	const struct process *top;

	if (limit->stage == TERMINATION_ABANDONED)
		return;
	top = kernel.swept = top_of(limit->child);
	REAL(termination_advance)(limit, late);
	kernel.swept = NULL;
	if (limit->stage != TERMINATION_SIGNALLED)
		note_limit(top, limit);
}

SPY(struct step, plan_first, const struct policy *policy, struct history *history, nanos instant) {
	struct step step = REAL(plan_first)(policy, history, instant);

	now->ready = true;
	now->at = step.at;
	return step;
}

/* An attempt begins, even if it will get no process. */
SPY(void, plan_begin, struct history *history) {
	now->begun++;
	check_passes();
	if (kernel.command != NULL)
		kernel_break("begins an attempt beside another");
	if (kernel.hook != NULL)
		kernel_break("begins an attempt beside a hook");
	if (now->ended_by != 0)
		kernel_break("begins an attempt after a signal that ends all");
	if (now->unheard)
		kernel_break("begins an attempt without looking for signals");
	if (kernel_boottime() < now->at)
		kernel_break("begins an attempt before its delay is over");
	if (now->begun > now->set.attempts)
		kernel_break("begins one attempt too many");
	if (now->successes >= now->set.consecutive)
		kernel_break("begins an attempt after enough successes");
	if (invocation_until_deadline() < -SLACK)
		kernel_break("begins an attempt past the deadline");
	if (kernel.last.temper.error != 0)
		kernel_break("leaves an error of exec for the next attempt");
	for (int i = 0; i < kernel.places && kernel.meanwhile == NULL; i++)
		if (kernel.list[i].life == LIFE_DEAD && kernel.list[i].parent == PARENT_SELF)
			kernel_break("leaves the dead unburied");
	if (file_count(FILE_PLAIN, FILE_PLAIN) > PLAIN_MOST)
		kernel_break("leaves temporary files open");
	if (file_pipes(true) > 0 || file_count(FILE_WRITE_END, FILE_WRITE_END) > 0)
		kernel_break("leaves a pipe open that it does not need");

	now->denied = now->unkillable = false;
	now->vain = now->beginning = true;
	REAL(plan_begin)(history);
}

SPY(struct step, plan_next, const struct policy *policy, struct history *history, nanos instant) {
	const struct outcome *outcome = &history->last;
	struct step step = REAL(plan_next)(policy, history, instant);

	check_passes();
	if (kernel.command != NULL && !now->abandoned)
		kernel_break("ends an attempt whose command is not buried");
	if (now->vain)
		kernel.pipeless = false;
	now->cut = now->set.held == 0 && now->attempting && kernel.now < kernel.room[OUTPUT_STDERR];
	/* If retry is stopped after that, the reader may be back too late. */
	now->stuck = now->cut ||
	    (now->set.held == 0 && now->set.owed > 0 && now->attempting &&
		now->looked < kernel.room[OUTPUT_STDERR]);
	now->attempting = now->beginning = false;
	now->at = step.at;
	if (outcome->end == END_EXITED && outcome->code == 0)
		now->successes++;
	else
		now->successes = 0;
	return step;
}

SPY(struct step, plan_denied, const struct policy *policy, struct history *history,
    const struct admission *admission, nanos instant) {
	struct step step = REAL(plan_denied)(policy, history, admission, instant);

	now->denied = step.again;
	now->at = step.at;
	return step;
}

/*
 * The readers of all output are slow from now on. What they have read before is
 * not held output: with -v, -E holds no message of an attempt.
 */
SPY(int, run_end, struct run *run, struct step step) {
	now->closing = true;
	memset(kernel.taken_by, 0, sizeof kernel.taken_by);
	kernel.written = kernel.now + now->set.held / 2;
	kernel.room[OUTPUT_STDOUT] = kernel.now + now->set.held;
	kernel.room[OUTPUT_STDERR] = kernel.room[OUTPUT_STDOUT] + now->set.log;
	kernel.room[OUTPUT_REPORT] = kernel.room[OUTPUT_STDERR] + now->set.report;
	return REAL(run_end)(run, step);
}

FAKE(void, _exit, int status) {
	kernel_trace("exits itself with", status);
	kernel.exited = status;
	longjmp(kernel.back, 1);
}

/* Processes */

/*
 * Once an attempt begins, a fork is of the command; else it is of a hook. Sets
 * errno where the kernel refuses a process.
 */
static pid_t begin_process(void) {
	int64_t which = number_lesser(now->launched, COMMANDS - 1);
	bool command = now->beginning;
	int *failures = command ? &now->fork_failures : &now->hook_failures;
	const struct process *process;

	/* No limit may signal a process that is there now. */
	for (int i = 0; i < kernel.places; i++)
		if (kernel_alive(&kernel.list[i]))
			kernel.list[i].role = ROLE_SPARED;
	now->beginning = false;
	if (!command) {
		if (kernel.hook != NULL || (kernel.command != NULL && !now->abandoned))
			kernel_break("begins a hook beside another process");
		if (now->ended_by != 0)
			kernel_break("begins a hook after a signal that ends all");
		now->given_up = kernel.now + LONGEST_HOOK;
	}
	errno = EAGAIN;
	if (*failures > 0) {
		--*failures;
		return -1;
	}
	process = kernel_spawn(command ? ROLE_COMMAND : ROLE_HOOK, PARENT_SELF,
	    command ? &now->set.commands[which] : &now->set.hook);
	if (process == NULL && command)
		kernel_break("leaves more and more processes behind");
	if (process == NULL)
		return -1;
	if (!command)
		return process->pid;

	if (now->set.has_member)
		kernel_spawn(ROLE_MEMBER, kernel_place(process), &now->set.member);
	if (now->set.interrupted)
		kernel_post((struct sent){ .number = SIGINT, .code = SI_USER });
	if (++now->launched == 1) {
		if (now->set.exhausted)
			file_exhaust();
	}
	file_inherit();
	now->attempting = true;
	now->vain = now->halted = now->continued = false;
	now->timeout = now->set.timeout == 0 ? NANOS_MAX : kernel.now + now->set.timeout;
	return process->pid;
}

FAKE(pid_t, fork, void) { return begin_process(); }
FAKE(pid_t, vfork, void) { return begin_process(); }

/* The wait */

/* The time for which retry was stopped counts for no limit. */
static void postpone(nanos stopped) {
	now->timeout = number_add(now->timeout, stopped);
	now->kill = number_add(now->kill, stopped);
	now->given_up = number_add(now->given_up, stopped);
}

/*
 * A signal that retry has sent to itself, once it is not blocked any more: retry dies of it, or
 * it stops all of the job, and somebody continues that later. PID 1 does neither.
 */
static void unblock(void) {
	static const nanos span = 10 * NANOS_SECOND;
	const struct process *command = kernel.command;
	int number = kernel.raised;

	kernel.raised = 0;
	if (!signals_stops(number)) {
		kernel_trace("dies itself of", number);
		now->died = number;
		if (kernel.self != 1)
			longjmp(kernel.back, 1);
		return;
	}
	kernel_trace("stops itself by", number);
	now->halted = false;
	if (kernel_pends(SIGCONT))
		kernel_break("stops though somebody has continued it");
	if (now->attempting && !now->abandoned && command != NULL && command->life == LIFE_RUNS &&
	    !command->temper.apart)
		kernel_break("stops though its command goes on");
	if (kernel_orphaned())
		return;
	kernel_pass(kernel.now + span, true);
	kernel_post((struct sent){ .number = SIGCONT, .code = SI_USER });
	now->disturbed += span;
	postpone(span);
}

/*
 * Where retry is told to stop with the command, or a shell waits for it, it
 * stops too once the command has stopped. It does not where a SIGCONT is
 * pending; a command that may not be signalled then stays stopped.
 */
static void check_halt(void) {
	const struct process *command = kernel.command;

	if (now->continued && command != NULL && command->temper.refuses)
		return;
	if (now->attempting && !now->abandoned && command != NULL && kernel.count == 0 &&
	    kernel.meanwhile == NULL && command->life == LIFE_STOPPED && !kernel_orphaned() &&
	    (now->halted || kernel.watched))
		kernel_break("waits though its command has stopped");
}

static bool ends_series(int number) {
	return signals_end_series(&(struct wakeup){ .signal = number });
}

/* Retry takes the next signal that is pending, or sees that there is none. */
struct sent invocation_hear(void) {
	struct sent sent = kernel_take();

	kernel_trace("hears", sent.number);
	if (ends_series(sent.number) && sent.sender != kernel.self)
		now->ended_by |= UINT64_C(1) << sent.number;
	now->unheard = false;
	for (size_t i = 0; i < kernel.count; i++)
		now->unheard |= ends_series(kernel.pending[i].number) &&
		    kernel.pending[i].sender != kernel.self;
	/* Whether retry has to pass it on. An abandoned command gets no stop: it was sent KILL. */
	now->due = sent;
	now->is_due = !(now->abandoned && signals_stops(sent.number)) && now->attempting &&
	    kernel_alive(kernel.command) && sent.number != 0 && sent.number != SIGCHLD &&
	    !sent.shared && sent.sender != kernel.self && sent.sender != kernel.command->pid;
	if (signals_stops(sent.number))
		now->halted = now->attempting;
	if (sent.number == SIGCONT) {
		now->halted = false;
		now->continued = true;
	}
	return sent;
}

/*
 * ppoll(2), with the time that was left where a stop interrupted it. What
 * retry sleeps too long while a SIGCONT is pending counts as a stop.
 */
void invocation_poll(struct rest *rest) {
	nanos nap = rest->seconds * NANOS_SECOND + rest->nanos;
	nanos began = kernel.now, left = due(), slept;

	kernel_trace("waits for", nap);
	check_passes();
	if (++now->waits > WAITS_MOST || kernel.now > NANOS_DAY)
		kernel_break("never ends");
	if (began - now->spinning > SPIN) {
		now->spinning = began;
		now->spins = 0;
	}
	if (++now->spins > SPINS_MOST)
		kernel_break("does not sleep where it could");
	if (left != NANOS_MAX && nap > (left > 0 ? left : 0) + SLACK)
		kernel_break("sleeps past what is due");
	check_halt();

	now->stopped = now->late = 0;
	now->direct(began + nap);
	kernel_pass(began + nap, false);
	kernel_pass(kernel.now + now->late, true);
	now->looked = kernel.now;
	slept = number_lesser(kernel.now - began - now->stopped - now->late, nap);
	rest->seconds = (nap - slept) / NANOS_SECOND;
	rest->nanos = (nap - slept) % NANOS_SECOND;
	now->disturbed += now->stopped + now->late;
	if (kernel_pends(SIGCONT) && kernel.now - began - slept > NANOS_MS)
		postpone(kernel.now - began - slept);
}

FAKE(int, sigpending, sigset_t *set) {
	sigemptyset(set);
	for (size_t i = 0; i < kernel.count; i++) sigaddset(set, kernel.pending[i].number);
	return 0;
}

void invocation_mask(const sigset_t *mask, sigset_t *before) {
	if (before != NULL)
		sigemptyset(before);
	if (kernel.raised != 0 && sigismember(mask, kernel.raised) == 0)
		unblock();
}

/* No signal is ignored. */
FAKE(int, sigaction, int number, const struct sigaction *action, struct sigaction *before) {
	if (before != NULL)
		*before = (struct sigaction){ .sa_handler = SIG_DFL };
	return 0;
}

/* One run */

/* The words of a command line; strings has their characters. */
struct words {
	char *list[WORDS + 1], strings[1024];
	int count;
};

/*
 * The command line that tells retry the setting. What is the same in all of them has no effect as
 * long as nothing happens: the budget allows all retries, and no command has such an output.
 */
static void make_words(struct words *words, const struct setting *set) {
	const nanos second = NANOS_SECOND;
	/* A word, if it is given, and its number in units of 1/scale. */
	const struct {
		const char *word;
		bool given;
		int64_t number, scale;
	} rows[] = { { "retry", true, 0, 0 }, { "-bconstant", true, 0, 0 },
		{ "-jnone", true, 0, 0 }, { "--seed=1", true, 0, 0 }, { "-B" BUDGET, true, 0, 0 },
		{ "--breaker=100,2", true, 0, 0 }, { "--stop-on=stderr:y", true, 0, 0 },
		{ "-n", true, set->attempts, 1 }, { "-s", true, set->signal, 1 },
		{ "-t", true, set->timeout, second }, { "-k", true, set->kill_after, second },
		{ "-T", true, set->deadline, second }, { "-d", true, set->delay, second },
		{ "--splay=", set->splay > 0, set->splay, second },
		{ "--budget-wait=", set->patience > 0, set->patience, second },
		{ "--consecutive=", set->consecutive > 1, set->consecutive, 1 },
		{ set->log > 0 ? "-v" : "-q", true, 0, 0 }, { "-I", set->input > 0, 0, 0 },
		{ "-OE", set->held > 0, 0, 0 }, { "--report=report", set->report > 0, 0, 0 },
		{ "--on-retry=true", set->on_retry, 0, 0 },
		{ "--on-give-up=true", set->on_give_up, 0, 0 }, { "command", true, 0, 0 } };
	char *next = words->strings;

	words->count = 0;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		if (!rows[i].given)
			continue;
		words->list[words->count++] = next;
		next = stpcpy(next, rows[i].word);
		if (rows[i].scale > 0)
			next += strlen(number_put_decimal(next, rows[i].number, rows[i].scale));
		next++;
	}
	words->list[words->count] = NULL;
}

void invocation_start(const struct setting *set, uint64_t seed, bool tracing) {
	bool leads = (set->around & IS_LEADER) != 0;
	pid_t self = (set->around & IS_INIT) != 0 ? 1 : 100;

	*now = (struct invocation){ .set = *set };
	kernel = (struct kernel){ .now = KERNEL_START,
		.asleep = KERNEL_ASLEEP,
		.self = self,
		.group = leads ? self : 90,
		.session = leads ? self : 80,
		.subreaper = set->adopts,
		.pidfds = (set->around & HAS_PIDFDS) != 0,
		.visible = set->visible,
		.watched = (set->around & IS_WATCHED) != 0,
		.input = set->input > 0 ? KERNEL_START + set->input : NANOS_MAX,
		.clings = set->straggling > 0,
		.latest = KERNEL_PIDS,
		.random = seed,
		.tracing = tracing };
	file_start(BUDGET, WINDOW);
	if (set->held_back)
		file_trip(600 * NANOS_MS);
	/* A child that was there before retry, and has a child that outlives it. */
	if ((set->around & HAS_ELDER) != 0)
		kernel_spawn(ROLE_SPARED,
		    kernel_place(kernel_spawn(ROLE_SPARED, PARENT_SELF,
			&(struct temper){ .life = 3 * NANOS_SECOND })),
		    &(struct temper){ .life = NANOS_HOUR });
}

/* Which promise about every end is broken, or NULL. */
static const char *find_wrong(const struct ending *ending) {
	const struct process *last = &kernel.last;
	int status = ending->value;
	bool limited = now->abandoned || last->asked != 0;
	bool well = now->launched > 0 && !now->vain && !limited && last->temper.signal == 0 &&
	    last->temper.status == 0 && now->successes >= now->set.consecutive;
	nanos most =
	    now->set.kill_after + now->set.held + now->set.log + now->disturbed + 10 * NANOS_SECOND;

	if (now->set.on_give_up)
		most += LONGEST_HOOK + 10 * NANOS_SECOND;
	if (kernel.command != NULL && !now->abandoned)
		return "leaves the command behind";
	if (kernel.hook != NULL)
		return "leaves a hook behind";
	if (file_count(FILE_TERMINAL, FILE_PIDFD) > 0)
		return "leaves descriptors open";
	if (invocation_until_deadline() < -most)
		return "ends long after the deadline";
	if (ending->died)
		return (now->ended_by & UINT64_C(1) << status) != 0 ||
			(last->temper.signal == status && last->asked == 0)
		    ? NULL
		    : "dies of a signal that nobody sent";
	if (status == 0 && !well)
		return "exits 0 though not enough has succeeded";
	if (status == 0 && (now->cut || (now->set.held > 0 && kernel.taken_by[OUTPUT_STDOUT] == 0)))
		return "exits 0 though output is lost";
	if (status != 0 && well && !now->stuck)
		return "fails though the last attempts have succeeded";
	if (status == 125 && !now->vain && !now->stuck)
		return "exits 125 though nothing was refused";
	if (status == 124 && !limited && invocation_until_deadline() > 0)
		return "exits 124 though no limit was reached";
	return NULL;
}

/*
 * Fills the stack, where main() will have its frame, with nonsense: a variable
 * that nobody sets must not have the right value by chance.
 */
__attribute__((noinline)) static void soil_stack(void) {
	unsigned char bytes[STACK_SOILED];

	memset(bytes, NONSENSE, sizeof bytes);
	/* The compiler must not leave out what nobody seems to read. */
	__asm__ volatile("" : : "r"(bytes) : "memory");
}

struct ending invocation_run(void) {
	static char *nothing[] = { NULL };
	static struct ending ending;
	static struct words words;

	environ = nothing;
	ending = (struct ending){ 0 };
	kernel.exited = -1;
	if (setjmp(kernel.back) == 0) {
		make_words(&words, &now->set);
		soil_stack();
		REAL(main)(words.count, words.list);
	}
	ending.value = kernel.exited;
	if (now->died != 0) {
		/* PID 1 survives the signal. */
		if (kernel.exited != -1 && kernel.exited != 128 + now->died)
			kernel.broken = "exits as if of another signal";
		ending.died = true;
		ending.value = now->died;
	}
	ending.broken = kernel.broken;
	if (ending.broken == NULL)
		ending.broken = find_wrong(&ending);
	return ending;
}
