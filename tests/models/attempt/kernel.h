/*
 * kernel: a fake kernel behind the calls of libc that retry makes. kernel.c has
 * processes, signals and two clocks; files.c has descriptors, pipes and /proc.
 *
 * The kernel is as hostile as a kernel may be: the number of a process goes to
 * a stranger as soon as it is free. Time passes only in waits. If something
 * happens that must never happen, kernel_break ends the run.
 */
#ifndef KERNEL_H
#define KERNEL_H

#include <poll.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "budget/segment.h"
#include "text/duration.h"

/*
 * FAKE begins the function that replaces a function of libc. SPY does the same for a function of
 * retry, which the new function calls by REAL(name) and does not change. The Makefile finds the
 * lines that begin with FAKE and SPY, and makes the linker replace the functions.
 */
#define FAKE(type, name, ...) \
	__typeof__(name) __wrap_##name; \
	type __wrap_##name(__VA_ARGS__)
#define SPY(type, name, ...) \
	__typeof__(name) __real_##name; \
	FAKE(type, name, __VA_ARGS__)
#define REAL(name) __real_##name

/* A function of libc that does nothing but return this. */
#define FAKE_RESULT(type, name, result, ...) \
	FAKE(type, name, __VA_ARGS__) { return result; }

/* Most fakes and events ignore some of their arguments. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Where the clocks begin: far apart, so that no instant of one is plausible on the other. */
#define KERNEL_START NANOS_SECOND
#define KERNEL_ASLEEP (1000 * NANOS_HOUR)
#define KERNEL_TODAY (500000 * NANOS_HOUR)

#define KERNEL_PROCESSES 24
#define KERNEL_PIDS 256
#define KERNEL_PENDING 16
#define KERNEL_FILES 64

/* The numbers of the first process, and of the parent of retry. */
#define KERNEL_INIT 1
#define KERNEL_SHELL 50

/* When a process of somebody else, and retry itself, have started. */
#define KERNEL_STRANGER INT64_MAX
#define KERNEL_OURSELVES 0

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

enum file_kind {
	FILE_NONE, /* this place in the list is free */
	FILE_SIGNALS, /* a signalfd */
	FILE_ERROR, /* the eventfd for an error of exec */
	FILE_READ_END, /* of a pipe */
	FILE_WRITE_END,
	FILE_OUTPUT, /* a pipe to a reader that may be slow */
	FILE_PLAIN, /* a temporary file */
	FILE_SEGMENT, /* of the budget */
	FILE_WATCH, /* of inotify */
	FILE_TERMINAL,
	FILE_PIDFD,
};

/* The outputs: standard output and error, and the pipe of --report. */
enum { OUTPUT_STDOUT = 1, OUTPUT_STDERR, OUTPUT_REPORT, OUTPUTS };

/* An open file; its descriptor follows from its place in the list. */
struct file {
	enum file_kind kind;
	int flags; /* of open(2) */
	int64_t of; /* what the file is about, which depends on its kind: */
	/* WRITE_END: the place of the other end; OUTPUT: its number; WATCH: the
	 * descriptor that is watched; PIDFD: the start of the process */
	off_t size; /* bytes in it */
	bool over; /* a read has returned its end */
	nanos closes; /* READ_END: when the last process closes the other end */
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
	struct file files[KERNEL_FILES];
	int opened; /* places of that list that have ever been used */
	int blocks; /* of memory, which retry has allocated */
	const struct pollfd *polled; /* in a wait: what retry waits for */
	size_t polled_count;
	nanos input; /* when standard input comes to its end */
	bool consumed; /* another process has read standard input */
	bool pipeless; /* the kernel makes no pipe */
	bool clings; /* an abandoned command has its pipe open */
	nanos room[OUTPUTS]; /* when each reader goes on reading */
	int64_t taken_by[OUTPUTS]; /* bytes each has read, in the end anew */
	nanos written; /* until then a process can write to held output */
	struct segment segment; /* of the budget */
	struct sent pending[KERNEL_PENDING];
	size_t count;
	bool stirred; /* the wait ends now */
	const struct process *swept; /* its tree is signalled by a limit now */
	const struct process *unsettled; /* the same, before the first signal */
	struct sent passed; /* the latest other signal to the command */
	int passes; /* how many there were */
	uint64_t random;
	void (*meanwhile)(void); /* called between two calls, or NULL */
	int raised; /* by retry for itself, blocked; 0: none */
	bool tracing;
	const char *broken; /* what kernel_break was told, or NULL */
	int exited; /* what main() ended with, once it has */
	jmp_buf back;
};

extern struct kernel kernel;

/* Of invocation.c, which knows what retry is to do. */
void invocation_poll(struct rest *rest); /* waits as ppoll(2) */
struct sent invocation_hear(void); /* takes the next signal */
void invocation_mask(const sigset_t *mask, sigset_t *before); /* sets it, as sigprocmask(2) */
void invocation_limit(int number); /* a limit signals the command */

/* A number in [0, most). */
uint64_t kernel_draw(uint64_t most);

/* Prints what happens, if tracing. */
void kernel_trace(const char *what, int64_t number);

_Noreturn void kernel_break(const char *what);

nanos kernel_boottime(void);

/* Processes. kernel_spawn returns NULL where there is no room. */
struct process *kernel_spawn(enum role role, int parent, const struct temper *temper);
int kernel_place(const struct process *process);
bool kernel_alive(const struct process *process);
void kernel_end(struct process *process, int status, int signal);
void kernel_stop(struct process *process, nanos span);

/* Whether TSTP does not stop retry, because nobody could continue it. */
bool kernel_orphaned(void);

/*
 * A limit begins to find the daemons of a command or hook, or has found them:
 * it opens the pidfd of the first process that it signals.
 */
void kernel_settle(const struct process *top, bool over);

/*
 * Whether a process of the tree of a command or hook is alive that lacks something of a limit:
 * nothing, any signal, or KILL. The command or hook itself may be gone.
 */
enum lack { LACK_NOTHING, LACK_SIGNAL, LACK_KILL };
bool kernel_has_member(const struct process *top, enum lack lack);

/* A signal for retry; one from the terminal, for all that share it. */
void kernel_post(struct sent sent);
void kernel_type(int number);

/* Takes the pending signal with the lowest number; its number is 0 if none. */
struct sent kernel_take(void);
bool kernel_pends(int number);

/*
 * Lets time pass until an instant; unless anyway, less if a signal is pending
 * or something else ends the wait.
 */
void kernel_pass(nanos until, bool anyway);

/* A call takes time, and something may happen meanwhile. */
void kernel_call(void);

/* The process with a number, dead or alive; NULL if there is none. */
struct process *kernel_find(pid_t pid);

/* Signals a process that still has its number: as kill(2). */
int kernel_signal(struct process *process, int number);

/*
 * Files. file_open returns a new descriptor. Closing frees its place; file_at
 * returns the file of a descriptor.
 */
int file_open(enum file_kind kind, int64_t of, int flags);
struct file *file_at(int fd);

/* How many files of the kinds from first to last are open. */
int file_count(enum file_kind first, enum file_kind last);

/* When a descriptor can be read or written. NANOS_MAX: only after something else has happened. */
nanos file_ready(int fd);

/* Whether retry waits for the reader of an output. */
bool file_awaits(int output);

/*
 * How many pipes have bytes that retry can read, or are still open although
 * retry has read their end.
 */
int file_pipes(bool ended);

/*
 * What a command does with its files. As it begins, it gets the pipes of retry; when it has
 * ended, there may be bytes in them, and other processes have them open until an instant.
 */
void file_inherit(void);
void file_leave(bool bytes, nanos closes);

/* The budget: a new one; other processes use up its retries; they open its breaker. */
void file_start(const char *key, nanos window);
void file_exhaust(void);
void file_trip(nanos pause);

#endif
