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

void
program_execute(char **words, char **env)
{
	const char *name = words[0], *path = getenv("PATH"), *end;
	size_t length = strlen(name);
	static char file[PATH_MAX];
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
		forbidden |= errno == EACCES;
		/* As the name is not too long, this is a directory. */
		if (errno == ENAMETOOLONG)
			errno = ENOENT;
		/* After other errors it cannot be in another directory. */
		if (errno != ENOENT && errno != ENOTDIR && errno != EACCES &&
		    errno != ESTALE && errno != ENODEV && errno != ETIMEDOUT)
			return;
	}
	if (forbidden)
		errno = EACCES;
}
