#include "attempt/proctree.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sys/procfs.h"

/* How often one sweep looks again because somebody came or went. */
#define ROUNDS 8

/* One look around. */
struct walk {
	pid_t self, child;
	pid_t sessions[2]; /* ours and the child's */
	const struct members *spared, *known;
	bool settled; /* who is of the attempt: whoever is not spared */
	bool past; /* of our own children, the attempt's have begun */
	struct proctree proctree;
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
holds_session(const struct members *members, pid_t session)
{
	for (size_t i = 0; i < members->count; i++)
		if (members->list[i].session == session)
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
	if (members->count == PROCTREE_MOST)
		return false;
	members->list[members->count++] = member;
	return true;
}

void
proctree_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void
note(void *to, pid_t pid, pid_t parent)
{
	struct procfs proc;

	(void)parent;
	if (procfs_look(&proc, pid) == PROCFS_SEEN && !proc.dead)
		add(to, (struct member){ pid, proc.session, proc.start });
}

/* Notes what descends from those that come after the first of a list. */
static void
note_descendants(struct members *members, size_t first)
{
	for (size_t i = first; i < members->count; i++)
		procfs_children(members->list[i].pid, note, members);
}

void
proctree_note(struct members *spared)
{
	spared->count = 0;
	procfs_children(getpid(), note, spared);
	note_descendants(spared, 0);
}

/*
 * Whether a session is of those who are spared, and does not only have the
 * number of theirs: another would lead it then.
 */
static bool
is_spared(const struct members *spared, pid_t session)
{
	struct procfs proc;

	if (!holds_session(spared, session))
		return false;
	if (procfs_look(&proc, session) != PROCFS_SEEN || proc.dead)
		return true;
	return holds(spared, (struct member){ session, session, proc.start });
}

/*
 * Whether a living process, whose parent is us or one of the attempt's, is one
 * that a limit has to end. Once that is settled it is also whoever has turned
 * up since, unless the session tells that those who are spared have forked it.
 */
static bool
belongs(const struct walk *walk, struct member member, pid_t parent)
{
	if (member.pid == walk->child)
		return true;
	if (holds(walk->spared, member))
		return false;
	if (member.session == walk->sessions[0] ||
	    member.session == walk->sessions[1] || holds(walk->known, member) ||
	    holds_session(walk->known, member.session))
		return true;
	if (!walk->settled)
		return parent != walk->self;
	return !is_spared(walk->spared, member.session);
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
	enum procfs_look look;
	struct procfs proc;

	if (pid == walk->child)
		walk->past = true;
	/* Ours are in order of birth or adoption: those were here before. */
	if (parent == walk->self && !walk->past)
		return;
	look = procfs_look(&proc, pid);
	if (parent == walk->self && pid != walk->child && bury(pid))
		look = PROCFS_GONE;
	if (look == PROCFS_GONE ||
	    (look == PROCFS_SEEN && (proc.dead || proc.parent != parent))) {
		/* What it had may be ours now, in a list that we have read. */
		walk->proctree.unsure |= pid != walk->child;
		return;
	}
	member.start = proc.start;
	member.session = proc.session;
	if (belongs(walk, member, parent) && !add(walk->found, member))
		walk->proctree.unsure = true;
}

/* Finds all that there is, before any of it is disturbed. */
static void
look_around(struct walk *walk)
{
	walk->found->count = 0;
	walk->past = false;
	walk->proctree = (struct proctree){ .refused = walk->proctree.refused };
	procfs_children(walk->self, meet, walk);
	for (size_t i = 0; i < walk->found->count; i++)
		procfs_children(walk->found->list[i].pid, meet, walk);
	for (size_t i = 0; i < walk->found->count; i++) {
		if (walk->found->list[i].pid == walk->child)
			continue;
		walk->proctree.living++;
		walk->proctree.one = walk->found->list[i].pid;
	}
}

static struct walk
start_walk(struct sweep *sweep, pid_t child)
{
	return (struct walk){ .self = getpid(),
		.child = child,
		.sessions = { getsid(0), getsid(child) },
		.spared = &sweep->spared,
		.known = &sweep->known,
		.found = &sweep->found };
}

/* Our own children from the attempt's on. */
static void
note_orphan(void *to, pid_t pid, pid_t parent)
{
	struct walk *walk = to;

	if (walk->past)
		note(walk->found, pid, parent);
	walk->past |= pid == walk->child;
}

void
proctree_settle(struct sweep *sweep, pid_t child)
{
	struct members *spared = &sweep->spared, *orphans = &sweep->told;
	struct members *known = &sweep->known, *found = &sweep->found;
	struct walk walk = start_walk(sweep, child);
	size_t before = spared->count;
	int rounds = 0;

	/* First of all: later it may be by our doing that somebody is one. */
	orphans->count = 0;
	walk.found = orphans;
	procfs_children(walk.self, note_orphan, &walk);
	walk.found = found;
	found->count = 0;
	do {
		*known = *found;
		look_around(&walk);
	} while ((walk.proctree.unsure || found->count != known->count) &&
	    ++rounds < ROUNDS);
	*known = *found;
	for (size_t i = 0; i < orphans->count; i++)
		if (!holds(known, orphans->list[i]) &&
		    !holds(spared, orphans->list[i]))
			add(spared, orphans->list[i]);
	note_descendants(spared, before);
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
	struct procfs proc;

	/* Not reaped, the child cannot be anybody else. */
	if (member.pid == walk->child)
		return false;
	switch (procfs_look(&proc, member.pid)) {
	case PROCFS_GONE:
		return true;
	case PROCFS_HIDDEN:
		return false;
	case PROCFS_SEEN:
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
		walk->proctree.unsure = true;
	} else {
		if (deliver(fd, member.pid, number) == -1 && errno == EPERM)
			walk->proctree.refused = member.pid;
		/* What is stopped would not hear anything but KILL. */
		if (number != SIGKILL)
			deliver(fd, member.pid, SIGCONT);
	}
	if (fd != -1)
		close(fd);
}

struct proctree
proctree_sweep(struct sweep *sweep, pid_t child, int number)
{
	struct members *found = &sweep->found, *told = &sweep->told;
	struct walk walk = start_walk(sweep, child);
	int rounds = 0;

	told->count = 0;
	walk.settled = true;
	do {
		look_around(&walk);
		for (size_t i = 0; number != 0 && i < found->count; i++) {
			if (holds(told, found->list[i]))
				continue;
			tell(&walk, found->list[i], number);
			add(told, found->list[i]);
		}
	} while (walk.proctree.unsure && ++rounds < ROUNDS);
	/* Whatever /proc shows. */
	if (number != 0 && !holds_pid(told, child))
		tell(&walk, (struct member){ .pid = child }, number);
	return walk.proctree;
}
