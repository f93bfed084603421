#include "cli/config.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* What a name of a file ends in. */
#define ENDING ".conf"

/* In the order of search. The last one is the system's. */
enum { PLACES = 3 };

/* Writes a path below the place that is at index. False where there is no such
 * place: a relative path would depend on the working directory. */
static bool
put_path(char path[PATH_MAX], size_t index, enum config_kind kind,
    const char *name, const char *ending)
{
	static const char kinds[][8] = {
		[CONFIG_POLICY] = "", [CONFIG_TOOL] = "tools/"
	};
	const char *place = index == 0 ? getenv("XDG_CONFIG_HOME")
	    : index == 1               ? getenv("HOME")
				       : "/etc";

	return place != NULL && *place == '/' &&
	    snprintf(path, PATH_MAX, "%s%s/retry/%s%s%s", place,
		index == 1 ? "/.config" : "", kinds[kind], name,
		ending) < PATH_MAX;
}

/* Where to begin the search. */
static size_t
first_place(enum config_kind kind)
{
	const char *home = getenv("HOME");
	uid_t user = geteuid();
	struct stat info;
	bool own;

	if (kind == CONFIG_POLICY)
		return 0;
	own = getauxval(AT_SECURE) == 0 && user == getuid() &&
	    (home == NULL || *home == '\0' ||
		(stat(home, &info) == 0 && info.st_uid == user));
	return own ? 0 : PLACES - 1;
}

/* At which place the first file of this name is; PLACES: there is none. */
static size_t
find(char path[PATH_MAX], enum config_kind kind, const char *name)
{
	size_t i = first_place(kind);

	while (i < PLACES &&
	    !(put_path(path, i, kind, name, ENDING) &&
		(access(path, F_OK) == 0 || errno == EACCES)))
		i++;
	return i;
}

bool
config_find(char path[PATH_MAX], enum config_kind kind, const char *name)
{
	return find(path, kind, name) < PLACES;
}

const char *
config_distrust(const struct stat *file)
{
	if (file->st_uid != 0 && file->st_uid != geteuid())
		return "of another user, neither yours nor root's";
	if ((file->st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return "others can write to it; use chmod go-w";
	return NULL;
}

static int
is_config(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), end = sizeof ENDING - 1;

	return length > end &&
	    strcmp(entry->d_name + length - end, ENDING) == 0;
}

void
config_tools(
    void (*each)(void *to, const char *name, const char *path), void *to)
{
	char path[PATH_MAX];

	for (size_t i = first_place(CONFIG_TOOL); i < PLACES; i++) {
		struct dirent **entries = NULL;
		int count = 0;

		if (put_path(path, i, CONFIG_TOOL, "", ""))
			count = scandir(path, &entries, is_config, alphasort);
		for (int n = 0; n < count; n++) {
			char *name = entries[n]->d_name;

			name[strlen(name) - (sizeof ENDING - 1)] = '\0';
			/* One at an earlier place hides it. */
			if (find(path, CONFIG_TOOL, name) == i)
				each(to, name, path);
			free(entries[n]);
		}
		free((void *)entries);
	}
}
