/*
 * config: the files of options, where they are and who may have written them.
 *
 * NAME.conf is looked for in $XDG_CONFIG_HOME/retry, ~/.config/retry and
 * /etc/retry, in this order; that of a tool in tools below each of these.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum config_kind {
	CONFIG_POLICY,
	CONFIG_TOOL,
};

/*
 * Writes the path of the first file of this name. False where there is none. A
 * file that cannot be reached for lack of a right counts as one. For a tool,
 * which nobody has to name, only /etc/retry counts if the environment may be
 * another user's, as with sudo -E.
 */
bool config_find(char path[PATH_MAX], enum config_kind kind, const char *name);

/* Why an open file may not be read, as others may have written it; NULL: it
 * may. It has to be that of root or of the effective user. */
const char *config_distrust(const struct stat *file);

/* Calls each for every file of a tool that config_find() finds, by directory
 * and name. */
void config_tools(
    void (*each)(void *to, const char *name, const char *path), void *to);

#endif
