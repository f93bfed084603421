#include "attempt/proctree.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sys/procfs.h"
#include "sys/sys.h"
#include "text/hash.h"

/* How often one sweep looks again because processes came or went. */
#define ROUNDS 8

/* One walk through the tree of processes. */
struct walk {
	pid_t self, child;
	pid_t sessions[2]; /* of retry and of the child */
	const struct members *excluded, *known;
	bool settled; /* daemons are excluded: all others are of the attempt */
	bool past; /* the child has been found among the children of retry */
	struct proctree proctree;
	struct members *found;
	struct members *daemons; /* orphans that do not belong; may be NULL */
	uint64_t dead; /* a hash of the dead that the last look found */
};

static bool
contains(const struct members *members, struct member member)
{
	for (size_t i = 0; i < members->count; i++)
		if (members->list[i].pid == member.pid &&
		    members->list[i].start == member.start)
			return true;
	return false;
}

static bool
contains_all(const struct members *members, const struct members *others)
{
	for (size_t i = 0; i < others->count; i++)
		if (!contains(members, others->list[i]))
			return false;
	return true;
}

static bool
contains_session(const struct members *members, pid_t session)
{
	for (size_t i = 0; i < members->count; i++)
		if (members->list[i].session == session)
			return true;
	return false;
}

static bool
contains_pid(const struct members *members, pid_t pid)
{
	for (size_t i = 0; i < members->count; i++)
		if (members->list[i].pid == pid)
			return true;
	return false;
}

/* Doubles the room. False if there is no memory. */
static bool
grow(struct members *members)
{
	size_t size = members->room * sizeof *members->list;
	void *list;

	if (members->list != members->first)
		list = mremap(members->list, size, 2 * size, MREMAP_MAYMOVE);
	else
		list = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (list == MAP_FAILED)
		return false;
	if (members->list == members->first)
		memcpy(list, members->first, size);
	members->list = list;
	members->room *= 2;
	return true;
}

static bool
add(struct members *members, struct member member)
{
	if (members->count == members->room && !grow(members))
		return false;
	members->list[members->count++] = member;
	return true;
}

static void
copy(struct members *members, const struct members *others)
{
	members->count = 0;
	for (size_t i = 0; i < others->count; i++)
		add(members, others->list[i]);
}

void
proctree_start(struct sweep *sweep)
{
	struct members *lists[4] = { &sweep->excluded, &sweep->known,
		&sweep->found, &sweep->signalled };

	for (size_t i = 0; i < 4; i++) {
		lists[i]->count = 0;
		lists[i]->room = PROCTREE_FIRST;
		lists[i]->list = lists[i]->first;
	}
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

/* Adds the descendants of a list's members from index first on. */
static void
note_descendants(struct members *members, size_t first)
{
	for (size_t i = first; i < members->count; i++)
		procfs_children(members->list[i].pid, note, members);
}

void
proctree_exclude(struct sweep *sweep)
{
	struct members *excluded = &sweep->excluded;

	excluded->count = 0;
	procfs_children(getpid(), note, excluded);
	note_descendants(excluded, 0);
}

/*
 * Whether a session is one of excluded processes. It is not if the number is
 * used again: then the session has a leader that is not excluded.
 */
static bool
is_excluded(const struct members *excluded, pid_t session)
{
	struct procfs proc;

	if (!contains_session(excluded, session))
		return false;
	if (procfs_look(&proc, session) != PROCFS_SEEN || proc.dead)
		return true;
	return contains(
	    excluded, (struct member){ session, session, proc.start });
}

/*
 * Whether a limit has to end a living process, a child of retry or of a process
 * of the attempt. Once daemons are excluded, a process that is found later is
 * part of the attempt, unless its session is that of an excluded process.
 */
static bool
belongs(const struct walk *walk, struct member member, pid_t parent)
{
	if (member.pid == walk->child)
		return true;
	if (contains(walk->excluded, member))
		return false;
	if (member.session == walk->sessions[0] ||
	    member.session == walk->sessions[1] ||
	    contains(walk->known, member) ||
	    contains_session(walk->known, member.session))
		return true;
	if (!walk->settled)
		return parent != walk->self;
	return !is_excluded(walk->excluded, member.session);
}

/* Reaps a dead orphan. False if it lives. */
static bool
reap(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG) == 0 &&
	    info.si_pid == pid;
}

/* Handles a process that was listed as a child of parent. */
static void
visit(void *to, pid_t pid, pid_t parent)
{
	struct walk *walk = to;
	struct member member = { .pid = pid };
	enum procfs_look look;
	struct procfs proc;

	if (pid == walk->child)
		walk->past = true;
	/* Listed in order of birth or adoption: it is older than the child. */
	if (parent == walk->self && !walk->past)
		return;
	look = procfs_look(&proc, pid);
	if (parent == walk->self && pid != walk->child && reap(pid))
		look = PROCFS_GONE;
	if (look == PROCFS_GONE ||
	    (look == PROCFS_SEEN && proc.parent != parent)) {
		/* retry may have adopted its children after listing its own. */
		walk->proctree.unsure |= pid != walk->child;
		return;
	}
	member.start = proc.start;
	member.session = proc.session;
	if (look == PROCFS_SEEN && proc.dead) {
		if (pid != walk->child)
			walk->dead =
			    hash_add(walk->dead, &member, sizeof member);
		return;
	}
	if (belongs(walk, member, parent))
		walk->proctree.unsure |= !add(walk->found, member);
	else if (walk->daemons != NULL && parent == walk->self)
		add(walk->daemons, member);
}

/*
 * Finds all processes before any of them is signalled. retry may have adopted
 * the children of a process that died after the last look.
 */
static void
look_around(struct walk *walk)
{
	uint64_t dead = walk->dead;

	walk->found->count = 0;
	if (walk->daemons != NULL)
		walk->daemons->count = 0;
	walk->past = false;
	walk->dead = HASH_NONE;
	walk->proctree = (struct proctree){ .refused = walk->proctree.refused };
	procfs_children(walk->self, visit, walk);
	for (size_t i = 0; i < walk->found->count; i++)
		procfs_children(walk->found->list[i].pid, visit, walk);
	walk->proctree.unsure |= walk->dead != dead;
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
		.excluded = &sweep->excluded,
		.known = &sweep->known,
		.found = &sweep->found,
		.dead = HASH_NONE };
}

/*
 * Looks around until a look finds no further process of the attempt, because
 * the sessions of these processes tell which orphans are daemons.
 */
static void
find_daemons(struct walk *walk, struct members *known)
{
	int rounds = 0;

	do {
		copy(known, walk->found);
		look_around(walk);
	} while ((walk->proctree.unsure || !contains_all(known, walk->found)) &&
	    ++rounds < ROUNDS);
	copy(known, walk->found);
}

/*
 * Excludes the daemons that were found, and their descendants. False if all
 * were excluded before.
 */
static bool
exclude_found(struct sweep *sweep, const struct members *daemons)
{
	struct members *excluded = &sweep->excluded;
	size_t before = excluded->count;

	for (size_t i = 0; i < daemons->count; i++)
		if (!contains(excluded, daemons->list[i]) &&
		    !contains_session(&sweep->known, daemons->list[i].session))
			add(excluded, daemons->list[i]);
	note_descendants(excluded, before);
	return excluded->count > before;
}

/*
 * A daemon may fork and end before it is excluded. retry adopts its child, so
 * the search ends only when it finds no further daemon.
 */
void
proctree_exclude_daemons(struct sweep *sweep, pid_t child)
{
	struct walk walk = start_walk(sweep, child);
	int rounds = 0;

	sweep->found.count = 0;
	walk.daemons = &sweep->signalled;
	do
		find_daemons(&walk, &sweep->known);
	while (exclude_found(sweep, walk.daemons) && ++rounds < ROUNDS);
	sweep->signalled.count = 0;
}

/* Whether pidfds work: a filter of system calls may answer EPERM as well. */
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
 * As kill(2), but through a pidfd if there is one. If the pidfd may not be
 * signalled, the number is not used: it may belong to another process by now.
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

/* Whether the number belongs to another process by now, or to none. */
static bool
replaced(const struct walk *walk, struct member member)
{
	struct procfs proc;

	/* The child is not reaped, so its number is not used again. */
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
 * Signals a process. The pidfd is opened first: it keeps meaning the process
 * that is then compared with the member. Old kernels, filters of system calls
 * and a full table of descriptors give no pidfd.
 */
static void
send_to(struct walk *walk, struct member member, int number)
{
	int fd = (int)syscall(SYS_pidfd_open, member.pid, 0);

	if (replaced(walk, member)) {
		walk->proctree.unsure = true;
	} else {
		if (deliver(fd, member.pid, number) == -1 && errno == EPERM)
			walk->proctree.refused = member.pid;
		/* A stopped process reacts to nothing but KILL. */
		if (number != SIGKILL)
			deliver(fd, member.pid, SIGCONT);
	}
	if (fd != -1)
		close(fd);
}

/* The instant at which a process would start now; see procfs.h. */
static int64_t
now_as_start(void)
{
	return sys_now(CLOCK_BOOTTIME) / (NANOS_SECOND / sysconf(_SC_CLK_TCK));
}

/*
 * Whether a process may have begun after the limit was reached. It may be what
 * the attempt does to tidy up.
 */
static bool
began_later(const struct sweep *sweep, struct member member)
{
	return member.start == 0 || member.start >= sweep->reached;
}

struct proctree
proctree_sweep(struct sweep *sweep, pid_t child, int number)
{
	struct members *found = &sweep->found, *signalled = &sweep->signalled;
	struct walk walk = start_walk(sweep, child);
	int rounds = 0;

	if (number != 0) {
		signalled->count = 0;
		sweep->number = number;
		sweep->reached = now_as_start();
	}
	walk.settled = true;
	do {
		look_around(&walk);
		for (size_t i = 0; i < found->count; i++) {
			if (contains(signalled, found->list[i]) ||
			    (number == 0 && began_later(sweep, found->list[i])))
				continue;
			send_to(&walk, found->list[i], sweep->number);
			add(signalled, found->list[i]);
		}
	} while (walk.proctree.unsure && ++rounds < ROUNDS);
	/* The child is signalled even if /proc shows nothing. */
	if (number != 0 && !contains_pid(signalled, child))
		send_to(&walk, (struct member){ .pid = child }, number);
	return walk.proctree;
}
