#include "tree.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "proc.h"

/* How often one sweep looks again because somebody came or went. */
#define ROUNDS 8

/* One look around. */
struct walk {
	pid_t self, child;
	pid_t sessions[2]; /* ours and the child's */
	const struct members *spared;
	bool past; /* of our own children, the attempt's have begun */
	struct tree tree;
	struct members *found;
};

static bool
holds(const struct members *members, struct member member)
{
	for (size_t i = 0; i < members->count; i++)
		if (members->list[i].pid == member.pid &&
		    members->list[i].start == member.start)
			return true;
	return false;
}

static bool
holds_pid(const struct members *members, pid_t pid)
{
	for (size_t i = 0; i < members->count; i++)
		if (members->list[i].pid == pid)
			return true;
	return false;
}

static bool
add(struct members *members, struct member member)
{
	if (members->count == TREE_MOST)
		return false;
	members->list[members->count++] = member;
	return true;
}

void
tree_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void
note(void *to, pid_t pid, pid_t parent)
{
	struct proc proc;

	(void)parent;
	if (proc_look(&proc, pid) == PROC_SEEN && !proc.dead)
		add(to, (struct member){ pid, proc.start });
}

void
tree_note(struct members *spared)
{
	spared->count = 0;
	proc_children(getpid(), note, spared);
	for (size_t i = 0; i < spared->count; i++)
		proc_children(spared->list[i].pid, note, spared);
}

/* Whether a living process is one that a limit has to end. */
static bool
belongs(const struct walk *walk, struct member member, pid_t session)
{
	if (member.pid == walk->child)
		return true;
	return (session == walk->sessions[0] || session == walk->sessions[1]) &&
	    !holds(walk->spared, member);
}

/* Reaps a dead orphan. False if it lives. */
static bool
bury(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG) == 0 &&
	    info.si_pid == pid;
}

/* A process that was listed as a child of parent. */
static void
meet(void *to, pid_t pid, pid_t parent)
{
	struct walk *walk = to;
	struct member member = { .pid = pid };
	enum proc_look look;
	struct proc proc;

	if (pid == walk->child)
		walk->past = true;
	/* Ours are in order of birth or adoption: those were here before. */
	if (parent == walk->self && !walk->past)
		return;
	look = proc_look(&proc, pid);
	if (parent == walk->self && pid != walk->child && bury(pid))
		look = PROC_GONE;
	if (look == PROC_GONE ||
	    (look == PROC_SEEN && (proc.dead || proc.parent != parent))) {
		/* What it had may be ours now, in a list that we have read. */
		walk->tree.unsure |= pid != walk->child;
		return;
	}
	member.start = proc.start;
	if (belongs(walk, member, proc.session) && !add(walk->found, member))
		walk->tree.unsure = true;
}

/* Finds all that there is, before any of it is disturbed. */
static void
look_around(struct walk *walk)
{
	walk->found->count = 0;
	walk->past = false;
	walk->tree = (struct tree){ .refused = walk->tree.refused };
	proc_children(walk->self, meet, walk);
	for (size_t i = 0; i < walk->found->count; i++)
		proc_children(walk->found->list[i].pid, meet, walk);
	for (size_t i = 0; i < walk->found->count; i++) {
		if (walk->found->list[i].pid == walk->child)
			continue;
		walk->tree.living++;
		walk->tree.one = walk->found->list[i].pid;
	}
}

/* Whether pidfds are of use here: a filter of system calls may say EPERM, too.
 */
static bool
has_pidfds(void)
{
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	bool works;

	if (fd == -1)
		return false;
	works = syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) == 0;
	close(fd);
	return works;
}

/*
 * As kill(2), through a pidfd if there is one. What may not be signalled is not
 * tried by its number then: it may be gone, and the number somebody else's.
 */
static int
deliver(int pidfd, pid_t pid, int number)
{
	if (pidfd != -1) {
		if (syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0) ==
			0 ||
		    errno == ESRCH)
			return 0;
		if (errno == EPERM && has_pidfds()) {
			errno = EPERM;
			return -1;
		}
	}
	return kill(pid, number);
}

/* Whether the number may be somebody else's by now. */
static bool
replaced(const struct walk *walk, struct member member)
{
	struct proc proc;

	/* Not reaped, the child cannot be anybody else. */
	if (member.pid == walk->child)
		return false;
	switch (proc_look(&proc, member.pid)) {
	case PROC_GONE:
		return true;
	case PROC_HIDDEN:
		return false;
	case PROC_SEEN:
		break;
	}
	return member.start != 0 && proc.start != member.start;
}

/*
 * Signals a process. The pidfd holds on to whoever has its number now, and
 * only then we make sure who that is. Old kernels, filters and a full table of
 * descriptors have no pidfd for us.
 */
static void
tell(struct walk *walk, struct member member, int number)
{
	int fd = (int)syscall(SYS_pidfd_open, member.pid, 0);

	if (replaced(walk, member)) {
		walk->tree.unsure = true;
	} else {
		if (deliver(fd, member.pid, number) == -1 && errno == EPERM)
			walk->tree.refused = member.pid;
		/* What is stopped would not hear anything but KILL. */
		if (number != SIGKILL)
			deliver(fd, member.pid, SIGCONT);
	}
	if (fd != -1)
		close(fd);
}

struct tree
tree_sweep(struct muster *muster, pid_t child, int number)
{
	struct members *found = &muster->found, *told = &muster->told;
	struct walk walk;
	int rounds = 0;

	told->count = 0;
	walk.self = getpid();
	walk.child = child;
	walk.sessions[0] = getsid(0);
	walk.sessions[1] = getsid(child);
	walk.spared = &muster->spared;
	walk.found = found;
	walk.tree.refused = 0;
	do {
		look_around(&walk);
		for (size_t i = 0; number != 0 && i < found->count; i++) {
			if (holds(told, found->list[i]))
				continue;
			tell(&walk, found->list[i], number);
			add(told, found->list[i]);
		}
	} while (walk.tree.unsure && ++rounds < ROUNDS);
	/* Whatever /proc shows. */
	if (number != 0 && !holds_pid(told, child))
		tell(&walk, (struct member){ .pid = child }, number);
	return walk.tree;
}
