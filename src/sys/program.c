#include "sys/program.h"

#include <errno.h>
#include <limits.h>
#include <paths.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define USUAL_PATH "/bin:/usr/bin"

/* Executes the file at this path. */
static void
try_path(const char *path, char **words, char **env)
{
	static char sh[] = _PATH_BSHELL;
	char *name = words[0];

	execve(path, words, env);
	if (errno != ENOEXEC)
		return;
	words[-1] = sh;
	words[0] = (char *)(uintptr_t)path;
	execve(sh, words - 1, env);
	words[0] = name;
}

/* Whether an error means that the program may still be in another directory. As
 * the name is not too long, what is too long is a directory. */
static bool
may_be_elsewhere(int error)
{
	return error == ENOENT || error == ENOTDIR || error == EACCES ||
	    error == ESTALE || error == ENODEV || error == ETIMEDOUT ||
	    error == ENAMETOOLONG;
}

void
program_execute(char **words, char **env)
{
	const char *name = words[0], *path = getenv("PATH"), *end;
	size_t length = strlen(name);
	char file[PATH_MAX];
	bool forbidden = false;

	if (strchr(name, '/') != NULL) {
		try_path(name, words, env);
		return;
	}
	errno = length == 0 ? ENOENT : ENAMETOOLONG;
	if (length == 0 || length > NAME_MAX)
		return;
	errno = ENOENT;
	for (path = path == NULL ? USUAL_PATH : path; path != NULL;
	     path = *end == '\0' ? NULL : end + 1) {
		char *to = file;

		end = strchrnul(path, ':');
		if ((size_t)(end - path) + 1 + length >= sizeof file)
			continue;
		/* An empty one is the working directory. */
		if (end > path) {
			to = mempcpy(to, path, (size_t)(end - path));
			*to++ = '/';
		}
		memcpy(to, name, length + 1);
		try_path(file, words, env);
		if (!may_be_elsewhere(errno))
			return;
		forbidden |= errno == EACCES;
		if (errno == ENAMETOOLONG)
			errno = ENOENT;
	}
	if (forbidden)
		errno = EACCES;
}
