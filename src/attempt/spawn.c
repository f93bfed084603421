#include "attempt/spawn.h"

#include <errno.h>
#include <limits.h>
#include <paths.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "exit_status.h"
#include "sys/sys.h"
#include "text/number.h"

/* Room for a variable that names a process. */
#define PID_ROOM (sizeof "WATCHDOG_PID=" + NUMBER_ROOM)

bool
spawn_open(struct spawn *spawn, int death_signal)
{
	spawn->death_signal = death_signal;
	spawn->errors =
	    sys_spare_streams(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	return spawn->errors != -1;
}

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

/* Whether the search along PATH goes on after this error of execve(2). */
static bool
look_further(int error)
{
	return error == ENOENT || error == ENOTDIR || error == EACCES ||
	    error == ESTALE || error == ENODEV || error == ETIMEDOUT;
}

/*
 * Searches as glibc's execvp(3): EACCES is remembered while the search
 * continues. execvp(3) itself is not used, because musl's has no fallback to
 * sh, and because it takes no env.
 */
static void
search(char **command, char **env)
{
	const char *search_path = getenv("PATH"), *name = command[0];
	size_t length = strlen(name);
	char path[PATH_MAX + NAME_MAX + 2];
	bool denied = false;

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
			if (!look_further(errno))
				return;
			denied = denied || errno == EACCES;
		}
		if (*end == '\0')
			break;
	}
	errno = denied ? EACCES : ENOENT;
}

static void
find_and_execute(char **command, char **env)
{
	if (strchr(command[0], '/') != NULL)
		execute(command[0], command, env);
	else if (command[0][0] == '\0')
		errno = ENOENT;
	else if (strlen(command[0]) > NAME_MAX)
		errno = ENAMETOOLONG;
	else
		search(command, env);
}

static bool
is_named(const char *variable, const char *name)
{
	return strncmp(variable, name, strlen(name)) == 0;
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
	char digits[NUMBER_ROOM], *parents;
	bool activated = false;
	char **to = env;

	parents = number_put(digits, parent);
	for (int i = 0; i < 2; i++)
		for (char **at = env; *at != NULL; at++)
			if (is_named(*at, names[i]) &&
			    strcmp(*at + strlen(names[i]), parents) == 0) {
				*at = room[i];
				number_put(stpcpy(*at, names[i]), getpid());
				activated |= i == 0;
			}
	for (char **at = env; activated && *at != NULL; at++)
		if (!is_named(*at, "LISTEN_PIDFDID="))
			*to++ = *at;
	if (activated)
		*to = NULL;
}

/* Runs between fork and exec: only calls that are safe in a signal handler. */
static _Noreturn void
become(const struct spawn *spawn, const struct signals *signals,
    const struct streams *streams, pid_t parent, char **command, char **env)
{
	char room[2][PID_ROOM];
	uint64_t error;

	signals_die_with(parent, spawn->death_signal);
	/* The command must not run with the wrong streams. */
	if (streams_attach(streams)) {
		signals_restore(signals);
		signals_hand_on(signals);
		inherit_activation(env, parent, room);
		find_and_execute(command, env);
	}
	error = (uint64_t)errno;
	/* If this write fails, it looks as if the command had run and exited
	 * with this status. */
	if (write(spawn->errors, &error, sizeof error) == -1)
		error = 0;
	_exit(EXIT_STATUS_NOT_FOUND);
}

pid_t
spawn_run(const struct spawn *spawn, const struct signals *signals,
    const struct streams *streams, char **command, char **env)
{
	pid_t parent = signals->self, child = fork();

	if (child == 0)
		become(spawn, signals, streams, parent, command, env);
	return child;
}

int
spawn_error(const struct spawn *spawn)
{
	uint64_t error;

	if (read(spawn->errors, &error, sizeof error) != sizeof error)
		return 0;
	return (int)error;
}
