#include "attempt/termination.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sys/error.h"
#include "sys/procfs.h"
#include "sys/sys.h"
#include "text/number.h"

/* How long KILL may take to end a process that no system call blocks. */
#define KILL_TAKES NANOS_SECOND

/* The time between looks after KILL: most deaths cause no SIGCHLD for retry. */
#define LOOK_AGAIN (20 * NANOS_MS)

/* How often retry looks again at once because processes came or went. */
#define ROUNDS 8

/*
 * The list of processes
 */

static struct member *
find(const struct termination *tree, pid_t pid, int64_t start)
{
	for (size_t i = 0; i < tree->count; i++)
		if (tree->list[i].pid == pid && tree->list[i].start == start)
			return &tree->list[i];
	return NULL;
}

/* Whether a known or an excluded process has this session. */
static bool
has_session(const struct termination *tree, pid_t session, bool excluded)
{
	for (size_t i = 0; i < tree->count; i++) {
		const struct member *member = &tree->list[i];

		if (member->session == session &&
		    (excluded ? member->excluded : member->known))
			return true;
	}
	return false;
}

/* Finds a process in the list, or adds it. NULL if there is no room. */
static struct member *
note(struct termination *tree, pid_t pid, const struct procfs *proc)
{
	struct member *member = find(tree, pid, proc->start);

	/* Few invocations need it, and RLIMIT_DATA does not count it so. */
	if (tree->list == NULL)
		tree->list = mmap(NULL, TERMINATION_MOST * sizeof *tree->list,
		    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tree->list == MAP_FAILED)
		tree->list = NULL;
	if (tree->list == NULL ||
	    (member == NULL && tree->count == TERMINATION_MOST))
		return NULL;
	if (member == NULL) {
		member = &tree->list[tree->count++];
		*member = (struct member){ .pid = pid, .start = proc->start };
	}
	member->session = proc->session;
	return member;
}

/*
 * Calls each for the children of the processes that are found or excluded, and
 * for the children of those that each finds or excludes.
 */
static void
list_children(
    struct termination *tree, void (*each)(void *to, pid_t pid, pid_t parent))
{
	bool more;

	do {
		more = false;
		for (size_t i = 0; i < tree->count; i++) {
			struct member *member = &tree->list[i];

			if (member->listed ||
			    !(member->found || member->excluded))
				continue;
			member->listed = more = true;
			procfs_children(member->pid, each, tree);
		}
	} while (more);
}

static void
exclude(void *to, pid_t pid, pid_t parent)
{
	struct member *member;
	struct procfs proc;

	(void)parent;
	if (procfs_look(&proc, pid) == PROCFS_GONE || proc.dead)
		return;
	member = note(to, pid, &proc);
	if (member != NULL && !member->excluded) {
		member->excluded = true;
		member->listed = false;
	}
}

/*
 * Whether a limit has to end a living process, a child of retry or of a process
 * of the attempt. Once daemons are excluded, a process that is found later is
 * part of the attempt, unless its session is that of an excluded process.
 */
static bool
belongs(
    const struct termination *tree, const struct member *member, pid_t parent)
{
	pid_t session = member->session;

	if (member->excluded)
		return false;
	if (member->pid == tree->child || session == tree->sessions[0] ||
	    session == tree->sessions[1] || member->known ||
	    has_session(tree, session, false))
		return true;
	if (!tree->sorted)
		return parent != tree->loop->signals.self;
	return !has_session(tree, session, true);
}

/* Handles a process that was listed as a child of parent. */
static void
visit(void *to, pid_t pid, pid_t parent)
{
	struct termination *tree = to;
	bool child = pid == tree->child;
	bool ours = parent == tree->loop->signals.self;
	struct member *member;
	enum procfs_look look;
	struct procfs proc;

	look = procfs_look(&proc, pid);
	if (ours && !child) {
		siginfo_t info = { .si_pid = 0 };

		/* A dead orphan is reaped. */
		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG) == 0 &&
		    info.si_pid == pid)
			look = PROCFS_GONE;
	}
	if (look == PROCFS_GONE ||
	    (look == PROCFS_SEEN && proc.parent != parent)) {
		/* retry may have adopted its children after listing its own. */
		tree->unsure |= !child;
		return;
	}
	if (look == PROCFS_SEEN && proc.dead)
		return;
	member = note(tree, pid, &proc);
	if (member == NULL) {
		tree->unsure = true;
		return;
	}
	member->found = belongs(tree, member, parent);
	member->daemon = !member->found && !member->excluded;
}

/* Finds all processes before any of them is signalled. */
static void
look_around(struct termination *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		struct member *member = &tree->list[i];

		member->found = member->daemon = false;
		member->listed = member->excluded;
	}
	tree->sessions[0] = getsid(0);
	tree->sessions[1] = getsid(tree->child);
	tree->unsure = false;
	tree->living = 0;
	procfs_children(tree->loop->signals.self, visit, tree);
	list_children(tree, visit);
	for (size_t i = 0; i < tree->count; i++)
		if (tree->list[i].found && tree->list[i].pid != tree->child)
			tree->living++;
}

/*
 * Excludes the daemons of an attempt before any process is signalled: a process
 * that becomes an orphan after that lost its parent to the signal, and is no
 * daemon. The sessions of all processes of the attempt tell which orphans are
 * daemons, so retry looks until it finds no further process. A daemon may fork
 * and end before it is excluded. retry adopts its child, so the search ends
 * only when it finds no further daemon.
 */
static void
exclude_daemons(struct termination *tree)
{
	bool more = true;

	tree->sorted = false;
	for (int round = 0; more && round < 2 * ROUNDS; round++) {
		look_around(tree);
		more = tree->unsure;
		for (size_t i = 0; i < tree->count; i++) {
			struct member *member = &tree->list[i];

			more |= member->found && !member->known;
			member->known = member->found;
		}
		if (more && round < ROUNDS)
			continue;
		more = false;
		for (size_t i = 0; i < tree->count; i++) {
			struct member *member = &tree->list[i];

			if (member->daemon &&
			    !has_session(tree, member->session, false))
				member->excluded = more = true;
		}
		list_children(tree, exclude);
	}
	tree->sorted = true;
}

/*
 * Signals
 */

/*
 * As kill(2), but through a pidfd if there is one: then it does not use the
 * number, which may belong to another process by now.
 */
static void
send_signal(int pidfd, pid_t pid, int signal)
{
	if (pidfd != -1)
		syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
	else
		kill(pid, signal);
}

/*
 * Sends a signal, and then CONT, to a process. The pidfd is opened first: it
 * keeps meaning the process that is then compared with the member. Filters of
 * system calls and a full table of descriptors give no pidfd. What the process
 * starts after the signal may be to tidy up; what it started before has to get
 * the signal, too.
 */
static void
send_to(struct termination *tree, int signal, pid_t pid, int64_t start)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	enum procfs_look look = PROCFS_HIDDEN;
	struct procfs proc;

	/* The child is not reaped, so its number is not used again. */
	if (pid != tree->child)
		look = procfs_look(&proc, pid);
	if (look == PROCFS_GONE ||
	    (look == PROCFS_SEEN && start != 0 && proc.start != start)) {
		tree->unsure = true;
	} else {
		/* Lists what it has started since it was listed, so that the
		 * sweep comes to that, too. */
		procfs_children(pid, visit, tree);
		send_signal(fd, pid, signal);
		/* A stopped process reacts to nothing but KILL. */
		if (signal != SIGKILL)
			send_signal(fd, pid, SIGCONT);
	}
	if (fd != -1)
		close(fd);
}

/*
 * Sends a signal to the processes that the latest look has found, that have not
 * got it and that began before this instant. What began later may be what the
 * attempt does to tidy up. Looks again for as long as processes come or go.
 */
static void
send_to_all(struct termination *tree, int signal, int64_t before)
{
	int rounds = 0;

	do {
		if (rounds > 0)
			look_around(tree);
		for (size_t i = 0; i < tree->count; i++) {
			struct member *member = &tree->list[i];

			if (!member->found || member->signalled ||
			    member->pid == tree->child ||
			    member->start >= before)
				continue;
			member->signalled = true;
			send_to(tree, signal, member->pid, member->start);
		}
	} while (tree->unsure && ++rounds < ROUNDS);
}

/*
 * Sends a signal, and then CONT, once to each process. Without /proc only the
 * child gets it.
 */
static void
sweep(struct termination *tree, int signal)
{
	size_t kept = 0;

	for (size_t i = 0; i < tree->count; i++)
		if (tree->list[i].excluded || tree->list[i].known) {
			tree->list[kept] = tree->list[i];
			tree->list[kept++].signalled = false;
		}
	tree->count = kept;
	tree->reached =
	    sys_now(CLOCK_BOOTTIME) / (NANOS_SECOND / sysconf(_SC_CLK_TCK));
	look_around(tree);
	send_to(tree, signal, tree->child, 0);
	send_to_all(tree, signal, INT64_MAX);
}

/*
 * Stages
 */

void
termination_open(struct termination *tree, struct event_loop *loop, int signal,
    nanos kill_after)
{
	tree->loop = loop;
	tree->signal = signal;
	tree->kill_after = kill_after;
	tree->list = NULL;
}

void
termination_prepare(
    struct termination *tree, const char *what, const char *label, bool may_end)
{
	tree->what = what;
	tree->label = label;
	tree->stage = TERMINATION_NONE;
	tree->dead = tree->named = false;
	tree->count = 0;
	if (may_end) {
		procfs_children(tree->loop->signals.self, exclude, tree);
		list_children(tree, exclude);
	}
}

bool
termination_reap(struct termination *tree)
{
	int options = WEXITED | WNOHANG;

	if (tree->dead)
		return true;
	if (tree->keeps || tree->stage != TERMINATION_NONE)
		options |= WNOWAIT;
	tree->info.si_pid = 0;
	if (waitid(P_PID, (id_t)tree->child, &tree->info, options) == 0)
		tree->dead = tree->info.si_pid == tree->child;
	return tree->dead;
}

/* Whether a process may not be signalled, such as sudo. */
static bool
is_refused(pid_t pid)
{
	return kill(pid, 0) == -1 && errno == EPERM;
}

/* Says that a process does not end; of the child once. */
static void
name(struct termination *tree, pid_t pid)
{
	bool refused = is_refused(pid);
	char digits[NUMBER_ROOM];

	if (pid == tree->child && tree->named)
		return;
	tree->named |= pid == tree->child;
	log_warn(&tree->loop->log,
	    STRINGS(tree->what, tree->label, ": process ",
		number_put(digits, pid),
		refused ? " cannot be signalled: "
			: " is still alive 1s after KILL",
		refused ? error_words(EPERM) : ""));
}

static void
start_kill(struct termination *tree, nanos now)
{
	sweep(tree, SIGKILL);
	tree->stage = TERMINATION_KILLED;
	tree->next = number_add(now, KILL_TAKES);
}

void
termination_start(struct termination *tree)
{
	nanos now = signals_now(&tree->loop->signals);

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	exclude_daemons(tree);
	if (tree->signal == SIGKILL || tree->kill_after == 0) {
		start_kill(tree, now);
	} else {
		sweep(tree, tree->signal);
		tree->stage = TERMINATION_SIGNALLED;
		tree->next = number_add(now, tree->kill_after);
	}
	if (!tree->dead && is_refused(tree->child))
		name(tree, tree->child);
}

void
termination_advance(struct termination *tree, bool late)
{
	nanos now = signals_now(&tree->loop->signals);

	if (tree->stage == TERMINATION_SIGNALLED) {
		if (now >= tree->next) {
			start_kill(tree, now);
		} else {
			look_around(tree);
			send_to_all(tree, tree->signal, tree->reached);
		}
	} else if (tree->stage == TERMINATION_KILLED) {
		sweep(tree, SIGKILL);
		if (now < tree->next || termination_over(tree))
			return;
		tree->stage = TERMINATION_UNKILLABLE;
		if (!tree->dead)
			name(tree, tree->child);
		for (size_t i = 0; i < tree->count; i++)
			if (tree->list[i].found)
				name(tree, tree->list[i].pid);
	} else if (tree->stage == TERMINATION_UNKILLABLE) {
		sweep(tree, SIGKILL);
		if (!tree->dead && late)
			tree->stage = TERMINATION_ABANDONED;
	}
}

nanos
termination_nap(const struct termination *tree)
{
	if (tree->stage == TERMINATION_SIGNALLED)
		return tree->next - signals_now(&tree->loop->signals);
	if (tree->stage == TERMINATION_KILLED)
		return LOOK_AGAIN;
	return tree->stage == TERMINATION_UNKILLABLE ? KILL_TAKES : NANOS_MAX;
}

/*
 * The sweep came after the child was seen dead: retry adopts the child's
 * orphans when it dies, and an earlier sweep would miss them. Only the child
 * itself is waited for without end.
 */
bool
termination_over(const struct termination *tree)
{
	if (tree->stage == TERMINATION_ABANDONED)
		return true;
	if (tree->stage == TERMINATION_SIGNALLED ||
	    tree->stage == TERMINATION_KILLED)
		return tree->dead && tree->living == 0 && !tree->unsure;
	return tree->dead;
}
