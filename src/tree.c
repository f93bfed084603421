#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "number.h"

/* The most processes whose children one round looks for. */
#define MEMBERS 1024

/* How often one call looks again because somebody died meanwhile. */
#define ROUNDS 8

#define PATH_ROOM 64

struct process {
	pid_t parent, session;
	bool dead;
};

struct walk {
	pid_t self, child;
	pid_t sessions[2]; /* ours and the child's */
	int number; /* the signal */
	struct tree found;
	bool died; /* one was seen that did not live any more */
	size_t known; /* of members */
	pid_t members[MEMBERS];
};

/* One of the kernel's getdents64 records; libc's readdir would allocate. */
struct entry {
	uint64_t inode;
	int64_t offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

/* Joins strings, NULL after the last, to a path in room. */
static char *
path_of(char room[PATH_ROOM], const char *const strings[])
{
	char *at = room;

	for (; *strings != NULL; strings++) {
		size_t length = strlen(*strings);

		memcpy(at, *strings, length);
		at += length;
	}
	*at = '\0';
	return room;
}

#define PATH_OF(room, ...) \
	path_of(room, (const char *const[]){ __VA_ARGS__, NULL })

static int
open_children(pid_t process, const char *thread)
{
	char path[PATH_ROOM], digits[NUMBER_ROOM];

	return open(PATH_OF(path, "/proc/", number_put(digits, process),
			"/task/", thread, "/children"),
	    O_RDONLY | O_CLOEXEC);
}

/* The n-th field after the name in a line of /proc/PID/stat; 0 if none. */
static int64_t
stat_field(const char *at, int n)
{
	int64_t value;

	for (; n > 1 && at != NULL; n--) {
		at = strchr(at, ' ');
		if (at != NULL)
			at++;
	}
	return at != NULL && number_whole(at, strcspn(at, " "), &value) ? value
									: 0;
}

/* What /proc says of a process, in proc(5)'s order. False if it is gone. */
static bool
look_up(struct process *process, pid_t pid)
{
	char path[PATH_ROOM], digits[NUMBER_ROOM], text[512], *name_end;
	ssize_t got;
	int fd = open(PATH_OF(path, "/proc/", number_put(digits, pid), "/stat"),
	    O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		return false;
	got = read(fd, text, sizeof text - 1);
	close(fd);
	if (got <= 0)
		return false;
	text[got] = '\0';
	/* The name, in parentheses, may hold anything; the rest does not. */
	name_end = strrchr(text, ')');
	if (name_end == NULL || name_end[1] == '\0')
		return false;
	process->parent = (pid_t)stat_field(name_end + 2, 2);
	process->session = (pid_t)stat_field(name_end + 2, 4);
	/* One whose first thread has ended looks dead while others run. */
	process->dead = name_end[2] == 'Z' && stat_field(name_end + 2, 18) <= 1;
	return true;
}

/* Whether a process belongs to the attempt still. */
static bool
belongs(const struct walk *walk, pid_t pid, const struct process *process)
{
	return pid == walk->child || process->session == walk->sessions[0] ||
	    process->session == walk->sessions[1];
}

static void
send(struct walk *walk, pid_t pid, int fd)
{
	if (walk->number == 0)
		return;
	if (syscall(SYS_pidfd_send_signal, fd, walk->number, NULL, 0) == -1 &&
	    errno == EPERM)
		walk->found.refused = pid;
	/* What is stopped would not hear anything but KILL. */
	if (walk->number != SIGKILL)
		syscall(SYS_pidfd_send_signal, fd, SIGCONT, NULL, 0);
}

static void
add(struct walk *walk, pid_t pid)
{
	if (walk->known < MEMBERS)
		walk->members[walk->known++] = pid;
	if (pid == walk->child)
		return;
	walk->found.living++;
	walk->found.one = pid;
}

/*
 * Signals a process that was seen as a child of parent. Its number may have
 * been given to another since: the pidfd holds on to whoever has it now, and
 * only then its parent is looked at.
 */
static void
meet(struct walk *walk, pid_t pid, pid_t parent)
{
	struct process process;
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd == -1 || !look_up(&process, pid) || process.parent != parent) {
		walk->died = true;
	} else if (process.dead && pid != walk->child) {
		walk->died = true;
		if (parent == walk->self)
			waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOHANG);
	} else if (!process.dead && belongs(walk, pid, &process)) {
		send(walk, pid, fd);
		add(walk, pid);
	}
	if (fd != -1)
		close(fd);
}

/*
 * Meets each child of one thread of a process. Of ours, only from the
 * attempt's child on: the list is in order of birth or adoption.
 */
static void
meet_children(struct walk *walk, pid_t parent, const char *thread)
{
	int fd = open_children(parent, thread);
	bool spare = parent == walk->self;
	char text[1024];
	ssize_t got;
	pid_t pid = 0;

	if (fd == -1)
		return;
	while ((got = read(fd, text, sizeof text)) > 0) {
		for (ssize_t i = 0; i < got; i++) {
			if (text[i] != ' ') {
				pid = pid * 10 + (text[i] - '0');
				continue;
			}
			if (pid == walk->child)
				spare = false;
			if (!spare)
				meet(walk, pid, parent);
			pid = 0;
		}
	}
	close(fd);
}

/* Meets the children of all threads of a process. */
static void
meet_family(struct walk *walk, pid_t parent)
{
	char path[PATH_ROOM], digits[NUMBER_ROOM];
	_Alignas(struct entry) char entries[2048];
	long got;
	int fd =
	    open(PATH_OF(path, "/proc/", number_put(digits, parent), "/task"),
		O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd == -1)
		return;
	while (
	    (got = syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0) {
		for (long at = 0; at < got;) {
			const struct entry *entry =
			    (const struct entry *)(const void *)(entries + at);

			if (entry->name[0] != '.')
				meet_children(walk, parent, entry->name);
			at += entry->length;
		}
	}
	close(fd);
}

void
tree_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/*
 * By our own pid and not as "self": in a namespace that was given no /proc of
 * its own, the numbers there mean other processes.
 */
bool
tree_visible(void)
{
	char digits[NUMBER_ROOM];
	struct process self;
	int fd;

	if (!look_up(&self, getpid()) || self.parent != getppid())
		return false;
	fd = open_children(getpid(), number_put(digits, getpid()));
	if (fd == -1)
		return false;
	close(fd);
	return true;
}

struct tree
tree_signal(pid_t child, int number)
{
	struct walk walk = { .self = getpid(),
		.child = child,
		.sessions = { getsid(0), getsid(child) },
		.number = number };
	int rounds = 0;

	if (!tree_visible()) {
		kill(child, number);
		if (number != 0 && number != SIGKILL)
			kill(child, SIGCONT);
		return walk.found;
	}
	/* Somebody who dies leaves his children to us, at the end of a list
	 * that we may have read already: look again. */
	do {
		walk.died = false;
		walk.known = 0;
		meet_family(&walk, walk.self);
		for (size_t i = 0; i < walk.known; i++)
			meet_family(&walk, walk.members[i]);
	} while (walk.died && walk.found.living == 0 && ++rounds < ROUNDS);
	walk.found.living += walk.died;
	return walk.found;
}
