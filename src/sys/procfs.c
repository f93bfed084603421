#include "sys/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "sys/sys.h"

#define PATH_ROOM 64

/* Room for the part of /proc/PID/stat that is read. */
#define STAT_ROOM 512

/* Room for /proc/PID/status up to a line, which a number in hexadecimal ends. A
 * process may be in so many groups that the line is not reached. */
#define STATUS_ROOM 4096
static const char ignored[] = "\nSigIgn:";

/* The most generations of ancestors that are followed. */
#define ANCESTORS 64

/* Of kcmp(2): compares open file descriptions. */
#define KCMP_FILE 0

/* Room for the first lines of /proc/PID/fdinfo/N. */
#define INFO_ROOM 64

/* One of the kernel's getdents64 records; libc's readdir would allocate. */
struct entry {
	uint64_t inode;
	int64_t offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

/* The names in a directory. Begins as { .directory = a descriptor }. */
struct names {
	int directory;
	long length, at; /* of entries; length is below 0 after an error */
	_Alignas(uint64_t) char entries[2048];
};

/* Opens a file in /proc. */
__attribute__((format(printf, 2, 3))) static int
open_path(int flags, const char *format, ...)
{
	char path[PATH_ROOM];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(path, sizeof path, format, arguments);
	va_end(arguments);
	return open(path, flags | O_RDONLY | O_CLOEXEC);
}

/* Reads a file, as far as there is room, and closes it. False if fd is -1 or
 * the file is empty. */
static bool
read_text(char *text, size_t size, int fd)
{
	ssize_t got;

	if (fd == -1)
		return false;
	got = read(fd, text, size - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got > 0;
}

/* Reads a process's stat and returns its fields from the state on, see proc(5).
 * The name before it, in parentheses, may contain any byte; the rest has no
 * ')'. NULL if it cannot be read. */
static const char *
read_stat(char text[STAT_ROOM], int fd)
{
	const char *end =
	    read_text(text, STAT_ROOM, fd) ? strrchr(text, ')') : NULL;

	return end == NULL || end[1] == '\0' ? NULL : end + 2;
}

/* The n-th of the fields from at on; 0 if it is not a number. */
static int64_t
stat_field(const char *at, int n)
{
	for (; n > 1 && *at != '\0'; at++)
		n -= *at == ' ';
	return strtoll(at, NULL, 10);
}

enum procfs_look
procfs_look(struct procfs *proc, pid_t pid)
{
	char text[STAT_ROOM];
	const char *fields =
	    read_stat(text, open_path(0, "/proc/%d/stat", pid));

	if (fields == NULL) {
		if (kill(pid, 0) == -1 && errno == ESRCH)
			return PROCFS_GONE;
		*proc = (struct procfs){ .session = getsid(pid) };
		return PROCFS_HIDDEN;
	}
	proc->parent = (pid_t)stat_field(fields, 2);
	proc->session = (pid_t)stat_field(fields, 4);
	proc->foreground = (pid_t)stat_field(fields, 6);
	proc->start = stat_field(fields, 20);
	/* If only the first thread has ended, the state is Z, too. */
	proc->dead = *fields == 'Z' && stat_field(fields, 18) <= 1;
	return PROCFS_SEEN;
}

bool
procfs_is_ours(void)
{
	char text[NUMBER_ROOM] = "";

	return readlink("/proc/self", text, sizeof text - 1) != -1 &&
	    strtol(text, NULL, 10) == getpid();
}

/* The next name; NULL at the end, or after an error. */
static const char *
next_name(struct names *names)
{
	const struct entry *entry;

	if (names->at == names->length) {
		names->at = 0;
		names->length = syscall(SYS_getdents64, names->directory,
		    names->entries, sizeof names->entries);
		if (names->length <= 0)
			return NULL;
	}
	entry = (const void *)(names->entries + names->at);
	names->at += entry->length;
	return entry->name;
}

/* Calls each for the children of a thread. False if they cannot be read. */
static bool
list_thread(const char *thread, pid_t parent,
    void (*each)(void *to, pid_t pid, pid_t parent), void *to)
{
	char text[1024];
	ssize_t got;
	pid_t pid = 0;
	int fd = open_path(0, "/proc/%d/task/%s/children", parent, thread);

	if (fd == -1)
		return false;
	while ((got = read(fd, text, sizeof text)) > 0) {
		for (ssize_t i = 0; i < got; i++) {
			if (text[i] != ' ') {
				pid = pid * 10 + (text[i] - '0');
				continue;
			}
			if (each != NULL)
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
	struct names threads = { .directory = -1 };
	const char *thread;
	bool known = false;

	if (procfs_is_ours())
		threads.directory =
		    open_path(O_DIRECTORY, "/proc/%d/task", parent);
	if (threads.directory == -1)
		return false;
	while ((thread = next_name(&threads)) != NULL)
		known |= list_thread(thread, parent, each, to);
	close(threads.directory);
	return known;
}

bool
procfs_visible(void)
{
	return procfs_children(getpid(), NULL, NULL);
}

/*
 * Writes the offset of a process's descriptor as a line of text, which can be
 * compared with another. False where it cannot be read.
 */
static bool
read_position(char *room, size_t size, pid_t pid, int fd)
{
	if (!read_text(room, size, open_path(0, "/proc/%d/fdinfo/%d", pid, fd)))
		return false;
	room[strcspn(room, "\n")] = '\0';
	return true;
}

/* Whether a process ignores both signals of a keyboard. */
static bool
ignores_keyboard(pid_t pid)
{
	uint64_t both = 1U << (SIGINT - 1) | 1U << (SIGQUIT - 1);
	char text[STATUS_ROOM];
	const char *line = NULL;

	if (read_text(text, sizeof text, open_path(0, "/proc/%d/status", pid)))
		line = strstr(text, ignored);
	return line != NULL &&
	    (strtoull(line + strlen(ignored), NULL, 16) & both) == both;
}

static void
add_one(void *to, pid_t pid, pid_t parent)
{
	(void)pid;
	(void)parent;
	++*(int *)to;
}

/* Whether a process waits for its only child. The kernel's name of the function
 * in which it sleeps is hidden in some containers: then nobody knows. */
static bool
waits_for_child(pid_t pid)
{
	char sleeps_in[PATH_ROOM];
	int children = 0;

	return read_text(sleeps_in, sizeof sleeps_in,
		   open_path(0, "/proc/%d/wchan", pid)) &&
	    strcmp(sleeps_in, "do_wait") == 0 &&
	    procfs_children(pid, add_one, &children) && children == 1;
}

/*
 * Whether a process is an ancestor that seems to wait for retry. A shell that
 * does not wait (for "retry ... &") gives retry a process group of its own,
 * which is not in the foreground; or, without job control, makes retry ignore
 * SIGINT and SIGQUIT (POSIX, XCU 2.11). If it ignores them itself, as a group
 * of commands in the background does in dash, zsh, and bash from 5.3 on, retry
 * may have that from it: then it has to be seen waiting.
 */
static bool
waits(pid_t pid)
{
	struct procfs proc;
	pid_t foreground;

	if (procfs_look(&proc, getpid()) != PROCFS_SEEN)
		return false;
	foreground = proc.foreground;
	for (int i = 0; proc.parent != pid; i++)
		if (i == ANCESTORS || proc.parent <= 0 ||
		    procfs_look(&proc, proc.parent) != PROCFS_SEEN)
			return false;
	if (ignores_keyboard(getpid()) &&
	    !(ignores_keyboard(pid) && waits_for_child(pid)))
		return false;
	/* Of a group outside of a PID namespace both are 0. */
	return getpgid(pid) == getpgrp() ||
	    (foreground > 0 && foreground == getpgrp());
}

/*
 * Whether a process may have moved the offset of fd, of the file and with the
 * position that are given. A process whose descriptors cannot be seen, and one
 * that ends meanwhile, is trusted.
 */
static bool
is_suspect(pid_t pid, int fd, const struct stat *file, const char *position)
{
	struct names names = { .directory =
				   open_path(O_DIRECTORY, "/proc/%d/fd", pid) };
	bool same = false;
	const char *name;

	if (names.directory == -1)
		return false;
	while (!same && (name = next_name(&names)) != NULL) {
		char info[INFO_ROOM];
		struct stat other;
		int64_t number;
		long order;

		if (!number_whole(name, strlen(name), &number) ||
		    fstatat(names.directory, name, &other, 0) == -1 ||
		    other.st_dev != file->st_dev ||
		    other.st_ino != file->st_ino)
			continue;
		/* If kcmp(2) is forbidden, as in many containers, a descriptor
		 * of the same file at the same offset counts as the same. */
		order = syscall(
		    SYS_kcmp, getpid(), pid, KCMP_FILE, fd, (int)number);
		if (order == -1 &&
		    read_position(info, sizeof info, pid, (int)number))
			order = strcmp(info, position);
		same = order == 0;
	}
	close(names.directory);
	return same && !waits(pid);
}

bool
procfs_shares_offset(int fd)
{
	struct names all = { .directory = -1 };
	char position[INFO_ROOM];
	bool shared = false;
	struct stat file;
	const char *name;
	int64_t pid;

	if (!procfs_visible() || fstat(fd, &file) == -1 ||
	    !read_position(position, sizeof position, getpid(), fd))
		return true;
	all.directory = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (all.directory == -1)
		return true;
	while (!shared && (name = next_name(&all)) != NULL)
		shared = number_whole(name, strlen(name), &pid) &&
		    pid != getpid() &&
		    is_suspect((pid_t)pid, fd, &file, position);
	close(all.directory);
	return shared || all.length < 0;
}

/* The directory of the descriptors of the process that opens this path. */
static const char descriptors[] = "/proc/self/fd/";

char *
procfs_name(char room[PROCFS_NAME], int fd)
{
	memcpy(room, descriptors, sizeof descriptors);
	number_put(room + sizeof descriptors - 1, fd);
	return room;
}

int
procfs_reopen(int fd, int flags)
{
	char name[PROCFS_NAME];

	return sys_move_up(open(procfs_name(name, fd), flags | O_CLOEXEC));
}

int
procfs_watch(int fd, uint32_t events)
{
	char name[PROCFS_NAME];
	int inotify = sys_move_up(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));

	if (inotify == -1 ||
	    inotify_add_watch(inotify, procfs_name(name, fd), events) != -1)
		return inotify;
	close(inotify);
	return -1;
}

bool
procfs_noticed(int inotify)
{
	/* The kernel queues an event that is like the last one only once. */
	char bytes[256];

	return inotify != -1 && read(inotify, bytes, sizeof bytes) > 0;
}

int
procfs_descriptor(const char *path)
{
	static const char *const standard[] = { "/dev/stdin", "/dev/stdout",
		"/dev/stderr" };
	static const char *const prefixes[] = { "/dev/fd/", descriptors };
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
