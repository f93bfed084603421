#include "sys/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATH_ROOM 64

/* Room for the part of /proc/PID/stat that is read. */
#define STAT_ROOM 512

/* The inode of the time namespace that the boot made: PROC_TIME_INIT_INO. */
#define FIRST_CLOCK 0xeffffffaU

/* For headers that are older than the call. Alpha has another number. */
#ifdef SYS_pidfd_open
#define PIDFD_OPEN SYS_pidfd_open
#else
#define PIDFD_OPEN 434
#endif

/* One of the kernel's getdents64 records; libc's readdir would allocate. */
struct entry {
	uint64_t inode;
	int64_t offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

/* Joins the strings, after the last of which is NULL. */
static void
join(char path[PATH_ROOM], const char *const strings[])
{
	for (*path = '\0'; *strings != NULL; strings++)
		path = stpcpy(path, *strings);
}

/* Opens the file whose path the strings make up. */
static int
open_joined(int flags, const char *const strings[])
{
	char path[PATH_ROOM];

	join(path, strings);
	return open(path, flags | O_RDONLY | O_CLOEXEC);
}

#define OPEN(flags, ...) \
	open_joined(flags, (const char *const[]){ __VA_ARGS__, NULL })

/* The n-th of the fields from at on, as a number; 0 if it is not a number. */
static int64_t
stat_field(const char *at, int n)
{
	int64_t value;

	for (; n > 1 && *at != '\0'; at++)
		n -= *at == ' ';
	return number_whole(at, strcspn(at, " "), &value) ? value : 0;
}

/* Reads a line as proc(5) describes it. */
static bool
parse_stat(struct procfs *proc, const char *text)
{
	/* The name, in parentheses, may contain any byte; the rest has no ')'.
	 */
	const char *end = strrchr(text, ')');

	if (end == NULL || end[1] == '\0')
		return false;
	proc->parent = (pid_t)stat_field(end + 2, 2);
	proc->session = (pid_t)stat_field(end + 2, 4);
	proc->start = stat_field(end + 2, 20);
	/* If only the first thread has ended, the state is Z, too. */
	proc->dead = end[2] == 'Z' && stat_field(end + 2, 18) <= 1;
	return true;
}

/* Reads /proc/NAME/stat, all of it into text. */
static bool
look(struct procfs *proc, const char *name, char text[STAT_ROOM])
{
	ssize_t got;
	int fd = OPEN(0, "/proc/", name, "/stat");

	if (fd == -1)
		return false;
	got = read(fd, text, STAT_ROOM - 1);
	close(fd);
	if (got <= 0)
		return false;
	text[got] = '\0';
	return parse_stat(proc, text);
}

/* The number in the line "Pid:" of text; 0 if there is none. */
static pid_t
pid_line(const char *text)
{
	static const char name[] = "\nPid:";
	const char *at = strstr(text, name);
	int64_t number;

	if (at == NULL)
		return 0;
	at += sizeof name - 1;
	at += strspn(at, "\t ");
	return number_whole(at, strcspn(at, "\n"), &number) ? (pid_t)number : 0;
}

/* The number that /proc has for a process, from the fdinfo of a pidfd. */
static pid_t
translate(pid_t pid)
{
	char digits[NUMBER_ROOM], text[STAT_ROOM];
	int handle = (int)syscall(PIDFD_OPEN, pid, 0), fd;
	ssize_t got = -1;

	if (handle == -1)
		return 0;
	fd = OPEN(0, "/proc/self/fdinfo/", number_put(digits, handle));
	if (fd != -1) {
		got = read(fd, text, sizeof text - 1);
		close(fd);
	}
	close(handle);
	text[got > 0 ? got : 0] = '\0';
	return pid_line(text);
}

pid_t
procfs_number(pid_t pid)
{
	char digits[NUMBER_ROOM], self[NUMBER_ROOM];
	ssize_t length = readlink("/proc/self", self, sizeof self - 1);

	if (length <= 0)
		return 0;
	self[length] = '\0';
	return strcmp(self, number_put(digits, getpid())) == 0 ? pid
							       : translate(pid);
}

enum procfs_look
procfs_look(struct procfs *proc, pid_t pid)
{
	char digits[NUMBER_ROOM], text[STAT_ROOM];

	if (look(proc, number_put(digits, pid), text))
		return PROCFS_SEEN;
	if (kill(pid, 0) == -1 && errno == ESRCH)
		return PROCFS_GONE;
	*proc = (struct procfs){ .session = getsid(pid) };
	return PROCFS_HIDDEN;
}

/* The inode of a process's time namespace; 0: the kernel has none. */
static bool
clock_of(const char *name, ino_t *clock)
{
	char path[PATH_ROOM];
	struct stat status;

	*clock = 0;
	join(path, (const char *const[]){ "/proc/", name, "/ns/time", NULL });
	if (stat(path, &status) == -1)
		return errno == ENOENT;
	*clock = status.st_ino;
	return true;
}

bool
procfs_same_clock(pid_t pid)
{
	char digits[NUMBER_ROOM];
	ino_t own, other;

	if (!clock_of("self", &own))
		return false;
	return clock_of(number_put(digits, pid), &other) ? own == other
							 : own == FIRST_CLOCK;
}

static bool
thread_children(pid_t parent, const char *thread,
    void (*each)(void *to, pid_t pid, pid_t parent), void *to)
{
	char digits[NUMBER_ROOM], text[1024];
	ssize_t got;
	pid_t pid = 0;
	int fd = OPEN(0, "/proc/", number_put(digits, parent), "/task/", thread,
	    "/children");

	if (fd == -1)
		return false;
	while ((got = read(fd, text, sizeof text)) > 0) {
		for (ssize_t i = 0; i < got; i++) {
			if (text[i] != ' ') {
				pid = pid * 10 + (text[i] - '0');
				continue;
			}
			each(to, pid, parent);
			pid = 0;
		}
	}
	close(fd);
	return true;
}

bool
procfs_children(
    pid_t parent, void (*each)(void *to, pid_t pid, pid_t parent), void *to)
{
	char digits[NUMBER_ROOM];
	_Alignas(struct entry) char entries[2048];
	bool known = false;
	long got;
	int fd =
	    OPEN(O_DIRECTORY, "/proc/", number_put(digits, parent), "/task");

	if (fd == -1)
		return false;
	while (
	    (got = syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0) {
		for (long at = 0; at < got;) {
			const struct entry *entry =
			    (const struct entry *)(const void *)(entries + at);

			if (entry->name[0] != '.' &&
			    thread_children(parent, entry->name, each, to))
				known = true;
			at += entry->length;
		}
	}
	close(fd);
	return known;
}

/*
 * retry looks itself up by number and not as "self": in a PID namespace without
 * a /proc of its own the numbers in /proc mean other processes.
 */
bool
procfs_visible(void)
{
	char digits[NUMBER_ROOM];
	struct procfs self;
	int fd;

	if (procfs_look(&self, getpid()) != PROCFS_SEEN ||
	    self.parent != getppid())
		return false;
	number_put(digits, getpid());
	fd = OPEN(0, "/proc/", digits, "/task/", digits, "/children");
	if (fd == -1)
		return false;
	close(fd);
	return true;
}

pid_t
procfs_foreground(void)
{
	char text[STAT_ROOM];
	struct procfs self;
	int64_t group;

	if (!look(&self, "self", text))
		return -1;
	group = stat_field(strrchr(text, ')') + 2, 6);
	/* getpgrp() is 0 for a group outside of a PID namespace. */
	return group > 0 ? (pid_t)group : -1;
}

bool
procfs_list(int directory, bool (*each)(void *to, const char *name), void *to)
{
	_Alignas(struct entry) char entries[2048];
	long got;

	while ((got = syscall(
		    SYS_getdents64, directory, entries, sizeof entries)) > 0) {
		for (long at = 0; at < got;) {
			const struct entry *entry =
			    (const struct entry *)(const void *)(entries + at);

			if (!each(to, entry->name))
				return false;
			at += entry->length;
		}
	}
	return got == 0;
}

int
procfs_open_descriptors(pid_t pid)
{
	char digits[NUMBER_ROOM];

	return OPEN(O_DIRECTORY, "/proc/", number_put(digits, pid), "/fd");
}

bool
procfs_position(char *room, size_t size, pid_t pid, int fd)
{
	char process[NUMBER_ROOM], digits[NUMBER_ROOM];
	ssize_t got;
	int info = OPEN(0, "/proc/", number_put(process, pid), "/fdinfo/",
	    number_put(digits, fd));

	if (info == -1)
		return false;
	got = read(info, room, size - 1);
	close(info);
	if (got <= 0)
		return false;
	room[got] = '\0';
	room[strcspn(room, "\n")] = '\0';
	return true;
}

/* The directory of the descriptors of the process that opens this path. */
static const char own[] = "/proc/self/fd/";

char *
procfs_name(char room[PROCFS_NAME], int fd)
{
	memcpy(room, own, sizeof own);
	number_put(room + sizeof own - 1, fd);
	return room;
}

int
procfs_descriptor(const char *path)
{
	static const char *const standard[] = { "/dev/stdin", "/dev/stdout",
		"/dev/stderr" };
	static const char *const prefixes[] = { "/dev/fd/", own };
	int64_t number;

	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (strcmp(path, standard[fd]) == 0)
			return fd;
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
		size_t length = strlen(prefixes[i]);

		if (strncmp(path, prefixes[i], length) == 0 &&
		    number_whole(
			path + length, strlen(path + length), &number) &&
		    number <= INT_MAX)
			return (int)number;
	}
	return -1;
}
