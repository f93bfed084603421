/* What /proc shows of two children: one in a process group of its own, and a zombie. */
#include "sys/procfs.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unit.h"

static pid_t start_child(void) {
	pid_t pid = fork();

	if (pid == 0)
		for (;;) pause();
	return pid;
}

/* The children of this process, as procfs_children lists them. */
static struct {
	pid_t list[4];
	int count;
} children;

static void note(void *to, pid_t pid, pid_t parent) {
	EQUAL("parent", parent, getpid());
	HOLDS("to", to == &children);
	if (children.count < 4)
		children.list[children.count++] = pid;
}

TEST(children) {
	pid_t first = start_child(), second = start_child();
	struct procfs proc = { 0 }, ours = { 0 };
	siginfo_t info;
	int lowest = dup(STDERR_FILENO);

	close(lowest);
	setpgid(first, first);
	kill(second, SIGKILL);
	waitid(P_PID, (id_t)second, &info, WEXITED | WNOWAIT);

	EQUAL("lives", procfs_look(&proc, first), PROCFS_SEEN);
	EQUAL("lives", proc.parent, getpid());
	EQUAL("lives", proc.session, getsid(0));
	HOLDS("lives", !proc.dead);
	EQUAL("ours", procfs_look(&ours, getpid()), PROCFS_SEEN);
	HOLDS("ours", ours.start > 0 && ours.start <= proc.start);
	EQUAL("dead", procfs_look(&proc, second), PROCFS_SEEN);
	HOLDS("dead", proc.dead);

	HOLDS("both", procfs_children(getpid(), note, &children));
	EQUAL("both", children.count, 2);
	EQUAL("both", children.list[0], first);
	EQUAL("both", children.list[1], second);

	kill(first, SIGKILL);
	waitpid(first, NULL, 0);
	waitpid(second, NULL, 0);
	EQUAL("gone", procfs_look(&proc, first), PROCFS_GONE);
	HOLDS("gone", !procfs_children(first, note, &children));

	EQUAL("all is closed", dup(STDERR_FILENO), lowest);
	close(lowest);
}
