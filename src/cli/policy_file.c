#include "cli/policy_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "text/escape.h"
#include "text/number.h"
#include "sys/procfs.h"

/* As much of a file's name as a location has room for, beside the number. */
#define NAME_MOST 150

/* One file of options. */
struct script {
	const struct option *option; /* that named it */
	char path[PATH_MAX];
	char *text;
	size_t length;
};

/* The path of a file in one of the directories. False where there is none. */
static bool
look_in(struct script *script, const char *directory, const char *below,
    const char *name)
{
	const char *const parts[] = { directory, below, "/retry/", name,
		".conf" };
	size_t used = 0;

	/* A relative one would be looked up in the working directory. */
	if (directory == NULL || *directory != '/')
		return false;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		size_t length = strlen(parts[i]);

		if (used + length >= sizeof script->path)
			return false;
		memcpy(script->path + used, parts[i], length + 1);
		used += length;
	}
	return access(script->path, F_OK) == 0 || errno == EACCES;
}

static void
find(struct script *script, const char *name)
{
	size_t length = strlen(name);

	if (length == 0)
		optparse_refuse(script->option, "not a policy's name", name);
	if (length >= sizeof script->path)
		optparse_refuse(script->option, strerror(ENAMETOOLONG), name);
	if (strchr(name, '/') != NULL)
		memcpy(script->path, name, length + 1);
	else if (!look_in(script, getenv("XDG_CONFIG_HOME"), "", name) &&
	    !look_in(script, getenv("HOME"), "/.config", name) &&
	    !look_in(script, "/etc", "", name))
		optparse_refuse(script->option,
		    "no such policy; a path must contain a '/'", name);
}

/* Reads until nothing comes any more. False, with errno. */
static bool
drain(struct script *script, int fd)
{
	for (;;) {
		ssize_t n = read(fd, script->text + script->length,
		    POLICY_FILE_MOST + 1 - script->length);

		if (n <= 0)
			return n == 0;
		script->length += (size_t)n;
		if (script->length > POLICY_FILE_MOST)
			optparse_refuse(
			    script->option, "longer than 64 KiB", script->path);
	}
}

/*
 * A FIFO without a writer is not waited for, nor is anything else that may
 * never end. What comes from a descriptor, which whoever gave it to us can
 * read, is waited for.
 */
static int
open_to_read(const struct script *script)
{
	int fd =
	    open(script->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat stat;

	if (fd == -1 || fstat(fd, &stat) == -1 || S_ISREG(stat.st_mode) ||
	    S_ISDIR(stat.st_mode))
		return fd;
	if (procfs_descriptor(script->path) == -1)
		optparse_refuse(
		    script->option, "not a regular file", script->path);
	fcntl(fd, F_SETFL, O_RDONLY);
	return fd;
}

static void
load(struct script *script)
{
	int fd;

	script->length = 0;
	script->text = malloc(POLICY_FILE_MOST + 1);
	fd = open_to_read(script);
	if (fd == -1 || script->text == NULL || !drain(script, fd))
		optparse_refuse(script->option, strerror(errno), script->path);
	close(fd);
}

/* "FILE:NUMBER", of a long name only the end. */
static void
put_location(char location[OPTPARSE_LOCATION], const char *path, int64_t number)
{
	const char *limit = location + (OPTPARSE_LOCATION - NUMBER_ROOM - 1);
	size_t length = strlen(path);
	char *at = location;

	if (length > NAME_MOST) {
		at = escape_put(ESCAPE_LINE, at, limit, "...", 3);
		path += length - NAME_MOST;
	}
	at = escape_put(ESCAPE_LINE, at, limit, path, strlen(path));
	*at++ = ':';
	number_put(at, number);
}

static void
take_line(const struct optparse *optparse, const char *location, char *line,
    size_t length, void *into, const char *given[])
{
	const struct option option = { .location = location };
	size_t name, blank;

	if (memchr(line, '\0', length) != NULL)
		optparse_refuse(&option, "contains a NUL byte", line);
	if (length > 0 && line[length - 1] == '\r')
		line[length - 1] = '\0';
	line += strspn(line, " \t");
	name = strcspn(line, "=");
	if (*line == '\0' || *line == '#')
		return;
	blank = strcspn(line, " \t");
	if (blank + strspn(line + blank, " \t") == name && line[name] == '=' &&
	    0 < blank && blank < name)
		optparse_refuse(
		    &option, "blanks around = are not allowed", line);
	if (name == 0 || *line == '-' || blank < name)
		optparse_refuse(
		    &option, "neither option nor option=value", line);
	optparse_parse_line(optparse, location, line, into, given);
}

void
policy_file_read(const struct optparse *optparse, const char *name, void *into,
    const char *given[])
{
	struct script script = { .option = &optparse->options[optparse->file] };
	char location[OPTPARSE_LOCATION], *limit, *end;
	int64_t number = 0;

	find(&script, name);
	load(&script);
	limit = script.text + script.length;
	*limit = '\0';
	for (char *line = script.text; line < limit; line = end + 1) {
		end = memchr(line, '\n', (size_t)(limit - line));
		if (end == NULL)
			end = limit;
		*end = '\0';
		put_location(location, script.path, ++number);
		take_line(optparse, location, line, (size_t)(end - line), into,
		    given);
	}
}
