#include "streams/sharing.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "sys/procfs.h"

/* The most generations of ancestors that are followed. */
#define ANCESTORS 64

/* Of kcmp(2): compares open file descriptions. */
#define KCMP_FILE 0

/* Room for the first lines of /proc/PID/fdinfo/N. */
#define INFO_ROOM 64

struct scan {
	int fd; /* retry's descriptor */
	struct stat file; /* of fd */
	char info[INFO_ROOM]; /* of fd, by procfs_position() */
	int count;
	pid_t ancestors[ANCESTORS];
	pid_t pid; /* the process that is examined */
	int directory; /* of its descriptors, in /proc */
	bool suspect; /* the process may have moved the offset */
};

static void
find_ancestors(struct scan *scan)
{
	struct procfs proc;
	pid_t pid = getppid();

	scan->count = 0;
	while (pid > 0 && scan->count < ANCESTORS) {
		scan->ancestors[scan->count++] = pid;
		if (procfs_look(&proc, pid) != PROCFS_SEEN)
			return;
		pid = proc.parent;
	}
}

static bool
is_ancestor(const struct scan *scan, pid_t pid)
{
	for (int i = 0; i < scan->count; i++)
		if (scan->ancestors[i] == pid)
			return true;
	return false;
}

static bool
ignored(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 &&
	    action.sa_handler == SIG_IGN;
}

/*
 * Whether this ancestor seems to wait for retry. A shell that does not wait
 * (for "retry ... &") gives retry a process group of its own, which is not in
 * the foreground; or, without job control, makes retry ignore SIGINT and
 * SIGQUIT (POSIX, XCU 2.11).
 */
static bool
waits(pid_t ancestor)
{
	if (ignored(SIGINT) && ignored(SIGQUIT))
		return false;
	return getpgid(ancestor) == getpgrp() ||
	    procfs_foreground() == getpgrp();
}

/*
 * Whether a descriptor of another process has the same open file. If kcmp(2) is
 * forbidden, as in many containers, a descriptor of the same file at the same
 * offset counts as the same.
 */
static bool
is_ours(const struct scan *scan, pid_t pid, int fd)
{
	char info[INFO_ROOM];
	long order = syscall(SYS_kcmp, getpid(), pid, KCMP_FILE, scan->fd, fd);

	if (order != -1)
		return order == 0;
	return procfs_position(info, sizeof info, pid, fd) &&
	    strcmp(info, scan->info) == 0;
}

/* False, which ends the listing, if this descriptor makes pid a suspect. */
static bool
is_harmless(void *with, const char *name)
{
	struct scan *scan = with;
	struct stat file;
	int64_t fd;

	if (!number_whole(name, strlen(name), &fd) ||
	    fstatat(scan->directory, name, &file, 0) == -1 ||
	    file.st_dev != scan->file.st_dev ||
	    file.st_ino != scan->file.st_ino ||
	    !is_ours(scan, scan->pid, (int)fd))
		return true;
	scan->suspect = !is_ancestor(scan, scan->pid) || !waits(scan->pid);
	return !scan->suspect;
}

/* False, which ends the listing, if a process is suspect. A process whose
 * descriptors cannot be seen is trusted. */
static bool
is_trusted(void *with, const char *name)
{
	struct scan *scan = with;
	int64_t pid;

	if (!number_whole(name, strlen(name), &pid) || pid == getpid())
		return true;
	scan->pid = (pid_t)pid;
	scan->directory = procfs_open_descriptors(scan->pid);
	if (scan->directory == -1)
		return true;
	/* The listing may also fail, if the process ends meanwhile. */
	procfs_list(scan->directory, is_harmless, scan);
	close(scan->directory);
	return !scan->suspect;
}

bool
sharing_suspects(int fd)
{
	struct scan scan = { .fd = fd };
	int all;
	bool trusted;

	if (!procfs_visible() || fstat(fd, &scan.file) == -1 ||
	    !procfs_position(scan.info, sizeof scan.info, getpid(), fd))
		return true;
	all = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (all == -1)
		return true;
	find_ancestors(&scan);
	trusted = procfs_list(all, is_trusted, &scan);
	close(all);
	return !trusted;
}
