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

/* The bytes of a path in a location, which has the line's number too; up to
 * three more, so that no character is cut. */
#define NAME_MOST 150

struct policy_file {
	const struct option *option; /* --policy, or its variable */
	char path[PATH_MAX];
	char *text;
	size_t length;
};

/* Looks for name.conf in a directory. False where there is no such file. */
static bool
look_in(struct policy_file *file, const char *directory, const char *below,
    const char *name)
{
	const char *const parts[] = { directory, below, "/retry/", name,
		".conf" };
	size_t used = 0;

	/* A relative path would depend on the working directory. */
	if (directory == NULL || *directory != '/')
		return false;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		size_t length = strlen(parts[i]);

		if (used + length >= sizeof file->path)
			return false;
		memcpy(file->path + used, parts[i], length + 1);
		used += length;
	}
	return access(file->path, F_OK) == 0 || errno == EACCES;
}

static void
find(struct policy_file *file, const char *name)
{
	size_t length = strlen(name);

	if (length == 0)
		optparse_refuse(file->option, "not a policy's name", name);
	if (length >= sizeof file->path)
		optparse_refuse(file->option, strerror(ENAMETOOLONG), name);
	if (strchr(name, '/') != NULL)
		memcpy(file->path, name, length + 1);
	else if (!look_in(file, getenv("XDG_CONFIG_HOME"), "", name) &&
	    !look_in(file, getenv("HOME"), "/.config", name) &&
	    !look_in(file, "/etc", "", name))
		optparse_refuse(file->option,
		    "no such policy; a path must contain a '/'", name);
}

/* Reads up to the end of the file. False, with errno. */
static bool
read_all(struct policy_file *file, int fd)
{
	for (;;) {
		ssize_t n = read(fd, file->text + file->length,
		    POLICY_FILE_MOST + 1 - file->length);

		if (n <= 0)
			return n == 0;
		file->length += (size_t)n;
		if (file->length > POLICY_FILE_MOST)
			optparse_refuse(
			    file->option, "longer than 64 KiB", file->path);
	}
}

/*
 * A FIFO or a device is refused, because reading could block for ever. But a
 * descriptor, such as that of a shell's <(...), may be a pipe.
 */
static int
open_to_read(const struct policy_file *file)
{
	int fd = open(file->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat stat;

	if (fd == -1 || fstat(fd, &stat) == -1 || S_ISREG(stat.st_mode) ||
	    S_ISDIR(stat.st_mode))
		return fd;
	if (procfs_descriptor(file->path) == -1)
		optparse_refuse(file->option, "not a regular file", file->path);
	fcntl(fd, F_SETFL, O_RDONLY);
	return fd;
}

static void
load(struct policy_file *file)
{
	int fd;

	file->length = 0;
	file->text = malloc(POLICY_FILE_MOST + 1);
	fd = open_to_read(file);
	if (fd == -1 || file->text == NULL || !read_all(file, fd))
		optparse_refuse(file->option, strerror(errno), file->path);
	close(fd);
}

/* "FILE:NUMBER"; of a long path only the end. */
static void
put_location(char location[OPTPARSE_LOCATION], const char *path, int64_t number)
{
	const char *limit = location + (OPTPARSE_LOCATION - NUMBER_ROOM - 1);
	size_t length = strlen(path);
	char *at = location;

	if (length > NAME_MOST) {
		at = escape_put(ESCAPE_LINE, at, limit, "...", 3);
		path += escape_cut(path, length, length - NAME_MOST);
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
policy_file_read(const struct optparse *optparse, const struct option *option,
    const char *name, void *into, const char *given[])
{
	struct policy_file file = { .option = option };
	char location[OPTPARSE_LOCATION], *limit, *end;
	int64_t number = 0;

	find(&file, name);
	load(&file);
	limit = file.text + file.length;
	*limit = '\0';
	for (char *line = file.text; line < limit; line = end + 1) {
		end = memchr(line, '\n', (size_t)(limit - line));
		if (end == NULL)
			end = limit;
		*end = '\0';
		put_location(location, file.path, ++number);
		take_line(optparse, location, line, (size_t)(end - line), into,
		    given);
	}
}
