#include "proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "number.h"

#define PATH_ROOM 64

/* One of the kernel's getdents64 records; libc's readdir would allocate. */
struct entry {
	uint64_t inode;
	int64_t offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

/* Opens the file whose path is the strings, NULL after the last. */
static int
open_joined(int flags, const char *const strings[])
{
	char path[PATH_ROOM], *at = path;

	for (; *strings != NULL; strings++) {
		size_t length = strlen(*strings);

		memcpy(at, *strings, length);
		at += length;
	}
	*at = '\0';
	return open(path, flags | O_RDONLY | O_CLOEXEC);
}

#define OPEN(flags, ...) \
	open_joined(flags, (const char *const[]){ __VA_ARGS__, NULL })

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
	if (at == NULL || !number_whole(at, strcspn(at, " "), &value))
		return 0;
	return value;
}

/* Reads a line as proc(5) describes it. */
static bool
parse_stat(struct proc *proc, const char *text)
{
	/* The name, in parentheses, may hold anything; the rest does not. */
	const char *end = strrchr(text, ')');

	if (end == NULL || end[1] == '\0')
		return false;
	proc->parent = (pid_t)stat_field(end + 2, 2);
	proc->session = (pid_t)stat_field(end + 2, 4);
	proc->start = stat_field(end + 2, 20);
	/* One whose first thread has ended looks dead while others run. */
	proc->dead = end[2] == 'Z' && stat_field(end + 2, 18) <= 1;
	return true;
}

enum proc_look
proc_look(struct proc *proc, pid_t pid)
{
	char digits[NUMBER_ROOM], text[512];
	ssize_t got = -1;
	int fd = OPEN(0, "/proc/", number_put(digits, pid), "/stat");

	if (fd != -1) {
		got = read(fd, text, sizeof text - 1);
		close(fd);
	}
	if (got > 0) {
		text[got] = '\0';
		if (parse_stat(proc, text))
			return PROC_SEEN;
	}
	if (kill(pid, 0) == -1 && errno == ESRCH)
		return PROC_GONE;
	*proc = (struct proc){ .session = getsid(pid) };
	return PROC_HIDDEN;
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
proc_children(
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
 * By our own number and not as "self": in a namespace that was given no /proc
 * of its own the numbers there mean other processes.
 */
bool
proc_visible(void)
{
	char digits[NUMBER_ROOM];
	struct proc self;
	int fd;

	if (proc_look(&self, getpid()) != PROC_SEEN || self.parent != getppid())
		return false;
	number_put(digits, getpid());
	fd = OPEN(0, "/proc/", digits, "/task/", digits, "/children");
	if (fd == -1)
		return false;
	close(fd);
	return true;
}
