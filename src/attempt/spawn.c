#include "attempt/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <paths.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "exit_status.h"
#include "text/number.h"

/* Room for a variable that names a process. */
#define PID_ROOM (sizeof "WATCHDOG_PID=" + NUMBER_ROOM)

/* Returns only if path cannot be executed, with errno. */
static void
execute(const char *path, char **command, char **env)
{
	execve(path, command, env);
	if (errno != ENOEXEC)
		return;
	/* A script without #!: sh's own name goes in front of its path. */
	command[0] = (char *)(uintptr_t)path;
	command[-1] = (char *)(uintptr_t)_PATH_BSHELL;
	execve(_PATH_BSHELL, command - 1, env);
}

/*
 * Searches PATH as glibc's execvp(3): EACCES is remembered while the search
 * continues. execvp(3) itself is not used, because musl's has no fallback to
 * sh, and because it takes no env.
 */
static void
find_and_execute(char **command, char **env)
{
	const char *name = command[0], *search_path;
	char path[PATH_MAX + NAME_MAX + 2];
	size_t length;
	bool denied = false;

	length = strlen(name);
	errno = length == 0 ? ENOENT : ENAMETOOLONG;
	if (length == 0 || length > NAME_MAX)
		return;
	search_path = getenv("PATH");
	if (search_path == NULL)
		search_path = "/bin:/usr/bin";
	for (const char *at = search_path, *end;; at = end + 1) {
		size_t directory;

		end = strchr(at, ':');
		if (end == NULL)
			end = at + strlen(at);
		directory = (size_t)(end - at);
		if (directory < PATH_MAX) {
			memcpy(path, at, directory);
			path[directory] = '/';
			memcpy(path + directory + (directory > 0), name,
			    length + 1);
			execute(path, command, env);
			denied = denied || errno == EACCES;
			if (errno != ENOENT && errno != ENOTDIR &&
			    errno != EACCES && errno != ESTALE &&
			    errno != ENODEV && errno != ETIMEDOUT)
				return;
		}
		if (*end == '\0')
			break;
	}
	errno = denied ? EACCES : ENOENT;
}

/*
 * Where a variable of systemd names the parent, it names this process from now
 * on: sd_listen_fds(3) and sd_watchdog_enabled(3) ignore another's. The inode
 * of the parent's pidfd, in a third variable, would still exclude this process,
 * so it goes.
 */
static void
inherit_activation(char **env, pid_t parent, char room[2][PID_ROOM])
{
	static const char *const names[] = { "LISTEN_PID=", "WATCHDOG_PID=" };
	static const char pidfd[] = "LISTEN_PIDFDID=";
	char digits[NUMBER_ROOM];
	bool activated = false;
	char **to = env;

	for (int i = 0; i < 2; i++)
		for (char **at = env; *at != NULL; at++) {
			size_t length = strlen(names[i]);

			if (strncmp(*at, names[i], length) != 0)
				continue;
			number_put(digits, parent);
			if (strcmp(*at + length, digits) != 0)
				continue;
			*at = room[i];
			number_put(stpcpy(*at, names[i]), getpid());
			activated |= i == 0;
		}
	for (char **at = env; activated && *at != NULL; at++)
		if (strncmp(*at, pidfd, sizeof pidfd - 1) != 0)
			*to++ = *at;
	if (activated)
		*to = NULL;
}

pid_t
spawn_command(const struct event_loop *loop, int death_signal, int errors,
    char **command, char **env)
{
	/* The child touches as few pages as it can: it has none of its own. */
	bool activated =
	    getenv("LISTEN_PID") != NULL || getenv("WATCHDOG_PID") != NULL;
	bool search = strchr(command[0], '/') == NULL;
	pid_t parent = loop->signals.self, child = fork();
	char room[2][PID_ROOM];
	uint64_t error;

	if (child != 0)
		return child;
	signals_die_with(parent, death_signal);
	/* The command must not run with the wrong streams. */
	if (streams_attach(&loop->streams)) {
		signals_restore(&loop->signals);
		signals_hand_on(&loop->signals);
		if (activated)
			inherit_activation(env, parent, room);
		if (search)
			find_and_execute(command, env);
		else
			execute(command[0], command, env);
	}
	error = (uint64_t)errno;
	/* If this write fails, it looks as if the command had run and exited
	 * with this status. */
	if (write(errors, &error, sizeof error) == -1)
		error = 0;
	_exit(EXIT_STATUS_NOT_FOUND);
}

pid_t
spawn_hook(const struct event_loop *loop, const char *line, char **env)
{
	/* The line may begin with a dash, so "--" is before it. */
	char name[] = "sh", option[] = "-c", end[] = "--";
	char *words[] = { name, option, end, (char *)(uintptr_t)line, NULL };
	pid_t parent = loop->signals.self, child = fork();
	int null;

	if (child != 0)
		return child;
	signals_die_with(parent, SIGTERM);
	/* The hook reads nothing of the caller's input and writes nothing into
	 * the output that the caller may read. If standard error is closed, its
	 * standard output is closed, too. */
	if (dup2(STDERR_FILENO, STDOUT_FILENO) == -1)
		close(STDOUT_FILENO);
	null = open("/dev/null", O_RDONLY);
	if (null != STDIN_FILENO) {
		if (null == -1 || dup2(null, STDIN_FILENO) == -1)
			close(STDIN_FILENO);
		if (null != -1)
			close(null);
	}
	signals_restore(&loop->signals);
	execve(_PATH_BSHELL, words, env);
	_exit(EXIT_STATUS_NOT_FOUND);
}
