/*
 * kernel: a fake kernel: processes, signals and two clocks behind the calls of
 * libc that retry makes. It is as hostile as a kernel may be: the number of a
 * process goes to a stranger as soon as it is free. Time passes only in waits.
 *
 * Something that must never happen ends the run: kernel_break.
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
 * FAKE(name) declares the function that replaces name: the Makefile finds these
 * lines and has the linker wrap what they name. REAL(name) declares the
 * function that is replaced.
 */
#define FAKE(name) __typeof__(name) __wrap_##name
#define REAL(name) __typeof__(name) __real_##name

/*
 * Where the clocks begin: far apart, so that no instant of one is plausible on
 * the other.
 */
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
	ROLE_SPARED, /* was there before: must not be signalled */
};

enum life {
	LIFE_NONE, /* this place in the list is free */
	LIFE_RUNS,
	LIFE_STOPPED,
	LIFE_DEAD, /* and not yet waited for: a zombie */
};

/* Whether a limit has to end a member. */
enum bond {
	BOND_TREE,
	BOND_NONE, /* must not: it was a daemon before the limit */
	BOND_UNSURE, /* may: it became a daemon about that time */
};

/* What a process is like. */
struct temper {
	nanos life; /* after which it ends by itself; NANOS_MAX: never */
	int status, signal; /* how it ends: exits, or dies of */
	int error; /* of exec, which failed; or 0 */
	bool deaf; /* to all but KILL */
	bool refuses; /* may not be signalled by retry: EPERM */
	bool apart; /* in a session of its own */
	nanos held; /* for so long the kernel delays even KILL */
};

struct process {
	enum life life;
	enum role role;
	enum bond bond;
	struct temper temper;
	pid_t pid, session;
	int parent; /* its place in the list, or PARENT_... */
	int64_t start; /* differs for each process */
	int64_t order; /* among the children of its parent */
	nanos ends, resumes, free; /* instants; free: no longer held */
	nanos asked, killed; /* when a limit first signalled it, or 0 */
	int waiting; /* a signal that takes effect once it continues */
};

/* The time that ppoll(2) takes, and returns. */
struct rest {
	int64_t seconds, nanos;
};

/* A signal that was sent. */
struct sent {
	int number, code;
	pid_t sender;
	int value;
	bool shared; /* the command got it, too, from the terminal */
};

struct kernel {
	nanos now; /* on CLOCK_MONOTONIC */
	nanos asleep; /* CLOCK_BOOTTIME is so far ahead of that */
	pid_t self, group, session;
	bool subreaper, pidfds, visible; /* visible: /proc is */
	bool watched; /* a shell with job control waits for us */
	struct process list[KERNEL_PROCESSES];
	int places; /* of the list that have ever been used */
	struct process *command, *hook; /* until waited for; or NULL */
	struct process last; /* command that has died */
	bool taken[KERNEL_PIDS]; /* by processes that are not retry's */
	pid_t freed, latest;
	int64_t serial, calls;
	int pidfds_open;
	struct sent pending[KERNEL_PENDING];
	size_t count;
	nanos alarms[KERNEL_ALARMS]; /* 0: none */
	bool stirred; /* the wait ends now */
	const struct process *swept; /* its tree is signalled by a limit now */
	struct sent passed; /* the latest other signal to the command */
	int passes; /* how many there were */
	uint64_t random;
	void (*meanwhile)(void); /* called between two calls, or NULL */
	/* what invocation does: ppoll(2); the signal raised, unblocked */
	void (*poll)(struct pollfd *fds, size_t count, struct rest *rest);
	void (*unblock)(void);
	int raised; /* by retry for itself, blocked; 0: none */
	bool tracing;
	const char *broken; /* what kernel_break was told, or NULL */
	int exited; /* what main() ended with, once it has */
	jmp_buf back;
};

extern struct kernel kernel;

/* A number in [0, most). */
uint64_t kernel_draw(uint64_t most);

/* Prints what happens, if tracing. */
void kernel_trace(const char *what, int64_t number);

_Noreturn void kernel_break(const char *what);

nanos kernel_boottime(void);

/*
 * Processes. kernel_spawn returns NULL where there is no room. After
 * kernel_spare no process that is there now may be signalled by a limit.
 */
struct process *
kernel_spawn(enum role role, int parent, const struct temper *temper);
int kernel_place(const struct process *process);
bool kernel_alive(const struct process *process);
void kernel_end(struct process *process, int status, int signal);
void kernel_stop(struct process *process, nanos span);
void kernel_spare(void);

/* Whether TSTP does not stop retry, because nobody could continue it. */
bool kernel_orphaned(void);

/* A limit begins to find the daemons of a command or hook, or has found them.
 */
void kernel_settle(const struct process *top, bool over);

/*
 * Whether a process of the tree of a command or hook is alive; with unasked,
 * one that no limit has signalled. The command or hook itself may be gone.
 */
bool kernel_has_member(const struct process *top, bool unasked);

/* Whether retry has a child that is dead and not yet waited for. */
bool kernel_has_dead(void);

/* A signal for retry; one from the terminal, for all that share it. */
void kernel_post(struct sent sent);
void kernel_type(int number);

/* Takes the pending signal with the lowest number; its number is 0 if none. */
struct sent kernel_take(void);
bool kernel_pends(int number);
bool kernel_pends_end(void);

/* Ends the wait after span: a descriptor can be read or written then. */
void kernel_alarm(nanos span);

/*
 * Lets time pass until an instant; unless anyway, less if a signal is pending
 * or something else ends the wait.
 */
void kernel_pass(nanos until, bool anyway);

#endif
