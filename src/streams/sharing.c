#include "streams/sharing.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "sys/procfs.h"

/* More generations than that are not followed. */
#define ANCESTORS 64

/* Of kcmp(2): whether two descriptors are of one open file. */
#define KCMP_FILE 0

/* Room for the first lines of /proc/PID/fdinfo/N. */
#define INFO_ROOM 64

struct search {
	int fd; /* ours, of which file is the file */
	struct stat file;
	char info[INFO_ROOM]; /* where it stands: see procfs_position */
	int count;
	pid_t ancestors[ANCESTORS];
	/* of the process that is looked at */
	pid_t pid;
	int directory; /* its descriptors */
	bool suspect; /* there is one who may have read */
};

/* Who started us, who started him, and so on. */
static void
find_ancestors(struct search *search)
{
	struct procfs proc;
	pid_t pid = getppid();

	search->count = 0;
	while (pid > 0 && search->count < ANCESTORS) {
		search->ancestors[search->count++] = pid;
		if (procfs_look(&proc, pid) != PROCFS_SEEN)
			return;
		pid = proc.parent;
	}
}

static bool
is_ancestor(const struct search *search, pid_t pid)
{
	for (int i = 0; i < search->count; i++)
		if (search->ancestors[i] == pid)
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
 * Whether he who started us waits for us, as far as one can see: a shell that
 * does not wait has put us into a group of our own, which is not the one in the
 * foreground; or has us ignore both of these signals (POSIX, 2.11).
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
 * Whether a descriptor of another process is our open file. Where nobody may
 * compare them, as in many containers, what stands at the same place in the
 * same file is taken for it.
 */
static bool
is_ours(const struct search *search, pid_t pid, int fd)
{
	char info[INFO_ROOM];
	long order =
	    syscall(SYS_kcmp, getpid(), pid, KCMP_FILE, search->fd, fd);

	if (order != -1)
		return order == 0;
	return procfs_position(info, sizeof info, pid, fd) &&
	    strcmp(info, search->info) == 0;
}

/* Whether this descriptor is no reason to look on. */
static bool
is_harmless(void *with, const char *name)
{
	struct search *search = with;
	struct stat file;
	int64_t fd;

	if (!number_whole(name, strlen(name), &fd) ||
	    fstatat(search->directory, name, &file, 0) == -1 ||
	    file.st_dev != search->file.st_dev ||
	    file.st_ino != search->file.st_ino ||
	    !is_ours(search, search->pid, (int)fd))
		return true;
	search->suspect =
	    !is_ancestor(search, search->pid) || !waits(search->pid);
	return !search->suspect;
}

/* The same of all that a process has. What we may not see does not count. */
static bool
is_trusted(void *with, const char *name)
{
	struct search *search = with;
	int64_t pid;

	if (!number_whole(name, strlen(name), &pid) || pid == getpid())
		return true;
	search->pid = (pid_t)pid;
	search->directory = procfs_open_descriptors(search->pid);
	if (search->directory == -1)
		return true;
	/* One who ends meanwhile cannot be listed to the end. */
	procfs_list(search->directory, is_harmless, search);
	close(search->directory);
	return !search->suspect;
}

bool
sharing_suspects(int fd)
{
	struct search search = { .fd = fd };
	int all;
	bool trusted;

	if (!procfs_visible() || fstat(fd, &search.file) == -1 ||
	    !procfs_position(search.info, sizeof search.info, getpid(), fd))
		return true;
	all = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (all == -1)
		return true;
	find_ancestors(&search);
	trusted = procfs_list(all, is_trusted, &search);
	close(all);
	return !trusted;
}
