/*
 * kernel: a kernel that is not there: processes, signals and two clocks behind
 * the calls by which retry knows the real one. It is as hostile as a kernel may
 * be: the numbers of processes go to strangers as soon as they are free. Time
 * passes only where somebody waits.
 *
 * What must never be ends the run: kernel_break.
 */
#ifndef KERNEL_H
#define KERNEL_H

#include <poll.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "text/duration.h"

/*
 * Declares what takes the place of a function. The Makefile finds these lines,
 * and has the linker wrap what they name. REAL: the function itself.
 */
#define FAKE(name) __typeof__(name) __wrap_##name
#define REAL(name) __typeof__(name) __real_##name

/* Where the clocks stand at first: far apart, lest one passes for the other. */
#define KERNEL_START NANOS_SECOND
#define KERNEL_ASLEEP (1000 * NANOS_HOUR)

#define KERNEL_PROCESSES 24
#define KERNEL_PIDS 256
#define KERNEL_ALARMS 32
#define KERNEL_PENDING 16

/* The numbers of our descriptors; those of pidfds are above. */
#define KERNEL_SIGNALFD 90000
#define KERNEL_EVENTFD 90001
#define KERNEL_PIPE 90002 /* standard output or error, opened once more */
#define KERNEL_TTY 90003

/* Parents that are not in the list. */
enum { PARENT_SELF = -1, PARENT_INIT = -2 };

enum role {
	ROLE_COMMAND,
	ROLE_HOOK,
	ROLE_MEMBER, /* of the tree of one of these */
	ROLE_SPARED, /* was there before: not to be signalled */
};

enum life {
	LIFE_NONE, /* a free place */
	LIFE_RUNS,
	LIFE_STOPPED,
	LIFE_DEAD, /* and not yet buried */
};

/* Whether a limit has to end a member. */
enum bond {
	BOND_TREE,
	BOND_NONE, /* it was a daemon before the limit: it may not */
	BOND_UNSURE, /* it became one just then, or was one */
};

/* What a process is like. */
struct temper {
	nanos life; /* after which it ends by itself; NANOS_MAX: never */
	int status, signal; /* how it ends: exits, or dies of */
	int error; /* of exec, which failed */
	bool deaf; /* to all but KILL */
	bool refuses; /* to be signalled by us */
	bool apart; /* in a session of its own */
	nanos held; /* for so long no signal takes effect */
};

struct process {
	enum life life;
	enum role role;
	enum bond bond;
	struct temper temper;
	pid_t pid, session;
	int parent; /* its place in the list, or PARENT_... */
	int64_t start; /* nobody else's */
	int64_t order; /* among the children of its parent */
	nanos ends, resumes, free; /* instants; free: held no more */
	nanos asked, killed; /* by a limit, at first; 0: not yet */
	int waiting; /* a signal, while it is stopped */
};

/* The time that ppoll(2) takes, and returns. */
struct rest {
	int64_t seconds, nanos;
};

/* A signal on its way. */
struct sent {
	int number, code;
	pid_t sender;
	int value;
	bool shared; /* the command got it, too */
};

struct kernel {
	nanos now, asleep; /* CLOCK_MONOTONIC; what BOOTTIME is ahead of it */
	pid_t self, group, session;
	bool subreaper, pidfds, visible; /* visible: /proc is */
	bool watched; /* a shell with job control waits for us */
	struct process list[KERNEL_PROCESSES];
	int places; /* of the list: none further on was ever used */
	struct process *command, *hook; /* not yet buried, or NULL */
	struct process last; /* command that died */
	bool taken[KERNEL_PIDS]; /* by strangers */
	pid_t freed, latest;
	int64_t serial, calls;
	int pidfds_open;
	struct sent pending[KERNEL_PENDING];
	size_t count;
	nanos alarms[KERNEL_ALARMS]; /* 0: none */
	bool stirred; /* a wait ends now */
	const struct process *swept; /* whose tree a limit signals just now */
	struct sent passed; /* the latest signal to the command else */
	int passes; /* how many there were */
	uint64_t random;
	void (*meanwhile)(void); /* what happens between two calls, or NULL */
	/* what invocation does: ppoll(2); the signal raised, unblocked */
	void (*poll)(struct pollfd *fds, size_t count, struct rest *rest);
	void (*unblock)(void);
	int raised; /* by retry for itself, blocked; 0: none */
	bool tracing;
	const char *broken; /* what must never be, and was */
	int exited; /* what main() ended with, once it has */
	jmp_buf back;
};

extern struct kernel kernel;

/* A number in [0, most). */
uint64_t kernel_draw(uint64_t most);

/* Tells what happens, where somebody wants to read it. */
void kernel_trace(const char *what, int64_t number);

_Noreturn void kernel_break(const char *what);

nanos kernel_boottime(void);

/*
 * Processes. A new one is NULL where there is no room; what comes after
 * kernel_spare spares all who are there.
 */
struct process *
kernel_spawn(enum role role, int parent, const struct temper *temper);
int kernel_place(const struct process *process);
bool kernel_alive(const struct process *process);
void kernel_end(struct process *process, int status, int signal);
void kernel_stop(struct process *process, nanos span);
void kernel_spare(void);

/* Whether TSTP stops nobody, for want of who could continue us. */
bool kernel_orphaned(void);

/* A limit of a command or hook begins to see who is a daemon, or has done so.
 */
void kernel_settle(const struct process *top, bool over);

/*
 * Whether a member is alive in the tree of a command or hook, which may be dead
 * and buried; with unasked, one that no limit has signalled.
 */
bool kernel_has_member(const struct process *top, bool unasked);

/* Whether one is ours to bury. */
bool kernel_has_dead(void);

/* A signal for us; one from the terminal, for all who share it. */
void kernel_post(struct sent sent);
void kernel_type(int number);

/* What waits for us: the lowest number first, 0: nothing. */
struct sent kernel_take(void);
bool kernel_pends(int number);
bool kernel_pends_end(void);

/* Something can be read or written after span. */
void kernel_alarm(nanos span);

/* Time passes, up to an instant, or to what ends a wait unless anyway. */
void kernel_pass(nanos until, bool anyway);

#endif
