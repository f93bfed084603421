#include "kernel.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "sys/procfs.h"
#include "sys/signals.h"
#include "text/number.h"
#include "text/hash.h"

/* How long a call takes, in nanoseconds. */
#define TICK 200

/* More calls without a wait are a loop that never ends. */
#define CALLS_MOST 200000

#define FIRST_PID 200

/* How long a parent leaves a dead child a zombie. */
#define NEGLECT (100 * NANOS_MS)

struct kernel kernel;

/* The machine */

uint64_t kernel_draw(uint64_t most) { return hash_draw(&kernel.random) % most; }

void kernel_trace(const char *what, int64_t number) {
	if (kernel.tracing)
		printf("%12.6f  %s %lld\n", (double)kernel.now / 1e9, what, (long long)number);
}

_Noreturn void kernel_break(const char *what) {
	kernel_trace(what, 0);
	kernel.broken = what;
	longjmp(kernel.back, 1);
}

nanos kernel_boottime(void) { return kernel.now + kernel.asleep; }

void kernel_call(void) {
	void (*meanwhile)(void) = kernel.meanwhile;

	if (++kernel.calls > CALLS_MOST)
		kernel_break("never ends, and never waits");
	kernel.now += TICK;
	if (meanwhile == NULL)
		return;
	kernel.meanwhile = NULL;
	meanwhile();
	kernel.meanwhile = meanwhile;
}

/* Processes */

int kernel_place(const struct process *process) { return (int)(process - kernel.list); }

bool kernel_alive(const struct process *process) {
	return process != NULL && (process->life == LIFE_RUNS || process->life == LIFE_STOPPED);
}

struct process *kernel_find(pid_t pid) {
	for (int i = 0; i < kernel.places; i++)
		if (kernel.list[i].life != LIFE_NONE && kernel.list[i].pid == pid)
			return &kernel.list[i];
	return NULL;
}

/* The number of a session is not free while it has members. */
static bool is_session(pid_t pid) {
	for (int i = 0; i < kernel.places; i++)
		if (kernel.list[i].life != LIFE_NONE && kernel.list[i].session == pid)
			return true;
	return false;
}

static bool is_free(pid_t pid) {
	return pid >= FIRST_PID && !kernel.taken[pid] && kernel_find(pid) == NULL &&
	    !is_session(pid);
}

/*
 * The number that was freed last, if it is free, else the next free one. The
 * number of a new session was not freed just now: retry tells a session of
 * others, of which all processes have ended, by its number.
 */
static pid_t new_pid(bool leads) {
	if (!leads && is_free(kernel.freed))
		return kernel.freed;
	for (int i = 0; i < 2 * KERNEL_PIDS; i++) {
		if (++kernel.latest >= KERNEL_PIDS)
			kernel.latest = FIRST_PID;
		if (i == KERNEL_PIDS)
			for (int j = 0; j < KERNEL_PIDS; j++) kernel.taken[j] = false;
		if (is_free(kernel.latest))
			return kernel.latest;
	}
	abort();
}

static nanos after(nanos span) { return span == NANOS_MAX ? NANOS_MAX : kernel.now + span; }

struct process *kernel_spawn(enum role role, int parent, const struct temper *temper) {
	struct process *process = kernel.list;

	while (process->life != LIFE_NONE)
		if (++process == kernel.list + KERNEL_PROCESSES)
			return NULL;
	*process = (struct process){ .life = LIFE_RUNS,
		.role = role,
		.temper = *temper,
		.pid = new_pid(temper->apart),
		.session = parent >= 0 ? kernel.list[parent].session : kernel.session,
		.parent = parent,
		.bond = parent >= 0 ? kernel.list[parent].bond : BOND_TREE,
		.start = ++kernel.serial,
		.order = kernel.serial,
		.ends = after(temper->life),
		.free = after(temper->held) };
	if (kernel_place(process) == kernel.places)
		kernel.places++;
	if (temper->apart)
		process->session = process->pid;
	if (role == ROLE_COMMAND)
		kernel.command = process;
	if (role == ROLE_HOOK)
		kernel.hook = process;
	kernel_trace("begins", process->pid);
	return process;
}

/* A zombie was waited for. Its number is free, and may be taken at once. */
static void bury(struct process *process) {
	kernel_trace("is buried", process->pid);
	if (process == kernel.command)
		kernel.command = NULL;
	if (process == kernel.hook)
		kernel.hook = NULL;
	process->life = LIFE_NONE;
	kernel.freed = process->pid;
	kernel.taken[process->pid] = !is_session(process->pid) && kernel_draw(2) == 0;
}

static void post_death(const struct process *process) {
	kernel_post((struct sent){ .number = SIGCHLD, .code = CLD_EXITED, .sender = process->pid });
}

/* The parent of a process has died. */
static void reparent(struct process *process) {
	int top = process->parent;

	while (top >= 0) top = kernel.list[top].parent;
	process->order = ++kernel.serial;
	process->parent = (kernel.subreaper && top == PARENT_SELF) || kernel.self == KERNEL_INIT
	    ? PARENT_SELF
	    : PARENT_INIT;
	if (process->life != LIFE_DEAD)
		return;
	if (process->parent == PARENT_SELF)
		post_death(process);
	else
		bury(process);
}

/*
 * Living parents leave every other child a zombie for a while, and without pidfds all of them:
 * retry cannot know then whether a number still means the same process.
 */
void kernel_end(struct process *process, int status, int signal) {
	kernel_trace(signal != 0 ? "dies of" : "exits", signal + status);
	process->life = LIFE_DEAD;
	process->temper.status = status;
	process->temper.signal = signal;
	if (signal != 0)
		process->temper.error = 0;
	if (process->role == ROLE_COMMAND)
		kernel.last = *process;
	for (int i = 0; i < kernel.places; i++)
		if (kernel.list[i].life != LIFE_NONE &&
		    kernel.list[i].parent == kernel_place(process))
			reparent(&kernel.list[i]);
	process->ends = kernel.now + NEGLECT;
	if (process->parent == PARENT_SELF)
		post_death(process);
	else if (process->parent < 0 || (process->start % 2 != 0 && kernel.pidfds))
		bury(process);
}

static void die(struct process *process, int number) {
	if (kernel.now >= process->free) {
		kernel_end(process, 0, number);
		return;
	}
	process->temper.signal = number;
	if (process->ends > process->free)
		process->ends = process->free;
}

bool kernel_orphaned(void) { return kernel.session == kernel.self || kernel.self == KERNEL_INIT; }

/* A signal reaches a process. */
static void hear(struct process *process, int number) {
	int waiting = process->waiting;

	if (process->life == LIFE_DEAD || number == 0)
		return;
	if (number == SIGKILL) {
		die(process, number);
	} else if (signals_stops(number)) {
		/* It is continued later. */
		if (!process->temper.deaf && !process->temper.apart && !kernel_orphaned())
			kernel_stop(process, 3 * NANOS_SECOND);
	} else if (number == SIGCONT && process->life == LIFE_STOPPED) {
		process->life = LIFE_RUNS;
		process->waiting = 0;
		hear(process, waiting);
	} else if (process->temper.deaf || number == SIGCHLD || number == SIGWINCH ||
	    number == SIGCONT) {
		return;
	} else if (process->life == LIFE_STOPPED) {
		process->waiting = number;
	} else {
		die(process, number);
	}
}

void kernel_stop(struct process *process, nanos span) {
	if (process->life != LIFE_RUNS)
		return;
	kernel_trace("is stopped", process->pid);
	process->life = LIFE_STOPPED;
	process->resumes = kernel.now + span;
	if (process->parent == PARENT_SELF)
		post_death(process);
}

/*
 * Whether a process is of a tree, as far as it is known: its parent is, or it
 * is an orphan in a session of the tree's.
 */
static bool joins(const struct process *process, const struct process *top,
    const bool of_tree[KERNEL_PROCESSES]) {
	if (process == top)
		return true;
	if (!kernel_alive(process) || process->role != ROLE_MEMBER)
		return false;
	if (process->parent >= 0)
		return of_tree[process->parent];
	if (process->parent != PARENT_SELF)
		return false;
	for (int i = 0; i < kernel.places; i++)
		if (of_tree[i] && kernel.list[i].session == process->session)
			return true;
	return process->session == kernel.session;
}

void kernel_settle(const struct process *top, bool over) {
	bool of_tree[KERNEL_PROCESSES] = { false }, grown;

	do {
		grown = false;
		for (int i = 0; i < kernel.places; i++) {
			grown |= !of_tree[i] && joins(&kernel.list[i], top, of_tree);
			of_tree[i] |= joins(&kernel.list[i], top, of_tree);
		}
	} while (grown);
	for (int i = 0; i < kernel.places; i++) {
		struct process *process = &kernel.list[i];

		if (!over)
			process->bond = of_tree[i] ? BOND_TREE : BOND_NONE;
		else if (of_tree[i] != (process->bond == BOND_TREE))
			process->bond = BOND_UNSURE;
	}
}

static bool is_member(const struct process *process, const struct process *top) {
	while (process->role == ROLE_MEMBER && process->bond == BOND_TREE) {
		if (process->parent < 0)
			return process->parent == PARENT_SELF;
		process = &kernel.list[process->parent];
		if (process == top)
			return true;
	}
	return false;
}

bool kernel_has_member(const struct process *top, enum lack lack) {
	for (int i = 0; i < kernel.places; i++) {
		const struct process *process = &kernel.list[i];

		if (kernel_alive(process) && is_member(process, top) &&
		    (lack == LACK_NOTHING ||
			(lack == LACK_SIGNAL ? process->asked : process->killed) == 0))
			return true;
	}
	return false;
}

/* Signals for us */

void kernel_post(struct sent sent) {
	for (size_t i = 0; i < kernel.count; i++)
		if (kernel.pending[i].number == sent.number && sent.number < SIGRTMIN)
			return;
	if (kernel.count == KERNEL_PENDING)
		return;
	kernel_trace("is sent to us", sent.number);
	kernel.pending[kernel.count++] = sent;
}

/* Whether what is typed or hung up reaches it. */
static bool at_terminal(const struct process *process) {
	return process->life != LIFE_NONE && !process->temper.apart;
}

void kernel_type(int number) {
	struct sent sent = { .number = number, .code = SI_KERNEL };
	bool alone = number == SIGTERM || (number == SIGHUP && kernel.session == kernel.self);

	sent.shared = !alone && kernel_alive(kernel.command) && at_terminal(kernel.command);
	kernel_post(sent);
	for (int i = 0; !alone && i < kernel.places; i++)
		if (at_terminal(&kernel.list[i]))
			hear(&kernel.list[i], number);
}

bool kernel_pends(int number) {
	for (size_t i = 0; i < kernel.count; i++)
		if (kernel.pending[i].number == number)
			return true;
	return false;
}

struct sent kernel_take(void) {
	struct sent sent;
	size_t lowest = 0;

	kernel.stirred = false;
	if (kernel.count == 0)
		return (struct sent){ 0 };
	for (size_t i = 1; i < kernel.count; i++)
		if (kernel.pending[i].number < kernel.pending[lowest].number)
			lowest = i;
	sent = kernel.pending[lowest];
	kernel.count--;
	for (size_t i = lowest; i < kernel.count; i++) kernel.pending[i] = kernel.pending[i + 1];
	return sent;
}

/* Time */

/* When a process changes by itself. */
static nanos next_of(const struct process *process) {
	if (process->life == LIFE_RUNS || (process->life == LIFE_DEAD && process->parent >= 0))
		return process->ends;
	return process->life == LIFE_STOPPED ? process->resumes : NANOS_MAX;
}

void kernel_pass(nanos until, bool anyway) {
	kernel.calls = 0;
	for (;;) {
		nanos next = NANOS_MAX;
		bool ready = false;

		for (size_t i = 0; i < kernel.polled_count; i++) {
			nanos at = file_ready(kernel.polled[i].fd);

			ready |= at <= kernel.now;
			if (at > kernel.now)
				next = number_lesser(next, at);
		}
		if (!anyway && (kernel.count > 0 || kernel.stirred || ready))
			return;
		for (int i = 0; i < kernel.places; i++)
			next = number_lesser(next, next_of(&kernel.list[i]));
		kernel.now = number_greater(kernel.now, number_lesser(next, until));
		if (next > until)
			return;
		for (int i = 0; i < kernel.places; i++) {
			struct process *process = &kernel.list[i];

			if (next_of(process) > kernel.now)
				continue;
			if (process->life == LIFE_STOPPED)
				hear(process, SIGCONT);
			else if (process->life == LIFE_RUNS)
				kernel_end(process, process->temper.status, process->temper.signal);
			else
				bury(process);
		}
	}
}

/* Calls */

FAKE(int, clock_gettime, clockid_t clock, struct timespec *time) {
	nanos now;

	kernel_call();
	/* While the machine sleeps somebody puts back the time of day. */
	now = clock == CLOCK_MONOTONIC ? kernel.now
	    : clock == CLOCK_BOOTTIME  ? kernel_boottime()
				       : KERNEL_TODAY + kernel.now - kernel.asleep;
	time->tv_sec = (time_t)(now / NANOS_SECOND);
	time->tv_nsec = (long)(now % NANOS_SECOND);
	return 0;
}

FAKE_RESULT(pid_t, getpid, kernel.self, void)
FAKE_RESULT(pid_t, getppid, KERNEL_SHELL, void)
FAKE_RESULT(pid_t, getpgrp, kernel.group, void)

/* The process with a number; no other process can have that number. */
static struct process *known(pid_t pid) {
	struct process *process;

	kernel_call();
	process = kernel_find(pid);
	if (process == NULL)
		kernel_break("uses the number of a process that is gone");
	return process;
}

FAKE(pid_t, getsid, pid_t pid) {
	if (pid == KERNEL_SHELL)
		return kernel.watched ? kernel.session : KERNEL_SHELL;
	return pid == 0 || pid == kernel.self ? kernel.session : known(pid)->session;
}

FAKE(pid_t, getpgid, pid_t pid) {
	const struct process *process;

	if (pid == KERNEL_SHELL)
		return KERNEL_SHELL;
	process = known(pid);
	return process->temper.apart ? process->pid : kernel.group;
}

int kernel_signal(struct process *process, int number) {
	kernel_trace(kernel.swept != NULL ? "  a limit signals process" : "  we signal process",
	    process->pid);
	kernel_trace("    with", number);
	if (process->role == ROLE_SPARED)
		kernel_break("signals a process that was there before");
	if (kernel.swept != NULL) {
		if (process->role == ROLE_MEMBER && process->bond == BOND_NONE)
			kernel_break("signals a daemon");
		if (process == kernel.command && number != SIGCONT)
			invocation_limit(number);
		if (number != SIGCONT && process->asked == 0)
			process->asked = kernel.now;
		if (number == SIGKILL && process->killed == 0)
			process->killed = kernel.now;
		if (process == kernel.command && process->life == LIFE_DEAD)
			kernel.last.asked = process->asked;
	}
	if (process->temper.refuses && process->life != LIFE_DEAD) {
		errno = EPERM;
		return -1;
	}
	hear(process, number);
	return 0;
}

/* A signal that no limit sends is one that retry passes on to the command. */
static void pass(pid_t pid, struct sent sent) {
	if (kernel.swept != NULL)
		return;
	if (kernel.command == NULL || kernel.command->pid != pid)
		kernel_break("passes a signal to another than the command");
	/* A dead command does not get it. */
	if (kernel.command->life == LIFE_DEAD)
		return;
	kernel.passed = sent;
	kernel.passes++;
}

static bool is_there(pid_t pid) {
	return pid == kernel.self || kernel_find(pid) != NULL || kernel.taken[pid];
}

FAKE(int, kill, pid_t pid, int number) {
	struct process *process;

	errno = ESRCH;
	if (number == 0)
		return is_there(pid) ? 0 : -1;
	if (pid == kernel.self) {
		kernel.raised = number;
		return 0;
	}
	process = known(pid);
	pass(pid, (struct sent){ .number = number, .code = SI_USER });
	return kernel_signal(process, number);
}

FAKE(int, sigqueue, pid_t pid, int number, const union sigval value) {
	struct process *process = known(pid);

	pass(pid, (struct sent){ .number = number, .code = SI_QUEUE, .value = value.sival_int });
	return kernel_signal(process, number);
}

FAKE(int, waitid, idtype_t type, id_t id, siginfo_t *info, int options) {
	struct process *found = NULL; /* which has died first, else any */
	siginfo_t told = { 0 };

	kernel_call();
	for (int i = 0; i < kernel.places; i++) {
		struct process *process = &kernel.list[i];
		bool dead = process->life == LIFE_DEAD;

		if (process->life != LIFE_NONE && process->parent == PARENT_SELF &&
		    (type == P_ALL || process->pid == (pid_t)id) &&
		    (found == NULL ||
			(dead && (found->life != LIFE_DEAD || process->order < found->order))))
			found = process;
	}
	errno = ECHILD;
	if (found == NULL)
		return -1;
	if (found->life != LIFE_DEAD && (options & WNOHANG) == 0)
		kernel_break("waits for a process that lives");
	if (found->life == LIFE_STOPPED && (options & WSTOPPED) != 0) {
		told.si_pid = found->pid;
		told.si_status = SIGSTOP;
	} else if (found->life == LIFE_DEAD && (options & WEXITED) != 0) {
		const struct temper *temper = &found->temper;

		told.si_pid = found->pid;
		told.si_code = temper->signal != 0 ? CLD_KILLED : CLD_EXITED;
		told.si_status = temper->signal != 0 ? temper->signal : temper->status;
		if ((options & WNOWAIT) == 0)
			bury(found);
	}
	if (info != NULL)
		*info = told;
	return 0;
}

/*
 * Processes as /proc shows them, without its text. A process that is gone, and
 * all where there is no /proc, are left to retry.
 */

FAKE_RESULT(bool, procfs_visible, kernel.visible, void)

SPY(enum procfs_look, procfs_look, struct procfs *proc, pid_t pid) {
	const struct process *process;

	if (kernel.visible)
		kernel_call();
	if (!kernel.visible || !is_there(pid))
		return REAL(procfs_look)(proc, pid);
	process = kernel_find(pid);
	*proc = (struct procfs){
		.parent = KERNEL_INIT, .session = kernel.session, .start = KERNEL_STRANGER
	};
	if (pid == kernel.self)
		proc->parent = KERNEL_SHELL;
	if (process == NULL)
		return PROCFS_SEEN;
	proc->start = process->start;
	proc->session = process->session;
	proc->dead = process->life == LIFE_DEAD;
	if (process->parent >= 0)
		proc->parent = kernel.list[process->parent].pid;
	else if (process->parent == PARENT_SELF)
		proc->parent = kernel.self;
	return PROCFS_SEEN;
}

/* All that there are as they are listed, in their order. */
FAKE(bool, procfs_children, pid_t parent, void (*each)(void *to, pid_t pid, pid_t parent),
    void *to) {
	const struct process *process, *next;
	pid_t pids[KERNEL_PROCESSES];
	int64_t last = 0;
	int count = 0, place;

	if (!kernel.visible || !is_there(parent))
		return false;
	kernel_call();
	process = kernel_find(parent);
	if (process == NULL && parent != kernel.self)
		return true;
	place = process == NULL ? PARENT_SELF : kernel_place(process);
	do {
		next = NULL;
		for (int i = 0; i < kernel.places; i++) {
			process = &kernel.list[i];
			if (process->life != LIFE_NONE && process->parent == place &&
			    process->order > last && (next == NULL || process->order < next->order))
				next = process;
		}
		if (next != NULL) {
			last = next->order;
			pids[count++] = next->pid;
		}
	} while (next != NULL);
	for (int i = 0; i < count; i++) each(to, pids[i], parent);
	return true;
}

FAKE(int, prctl, int option, ...) {
	if (option == PR_SET_CHILD_SUBREAPER)
		kernel.subreaper = true;
	return 0;
}
