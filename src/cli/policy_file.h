/*
 * policy_file: a file of options, a policy to share: one long option a line,
 * without dashes, "name" or "name=text", where the text is the rest of the line
 * as it stands. Empty lines and those that begin with "#" say nothing.
 */
#ifndef POLICY_FILE_H
#define POLICY_FILE_H

#include "cli/optparse.h"

/* Of a file of options, in bytes. */
#define POLICY_FILE_MOST 65536

/*
 * Takes the lines of a file, as optparse_parse_line does: of the file called
 * name if there is a '/' in it, else of name.conf in $XDG_CONFIG_HOME/retry,
 * ~/.config/retry or /etc/retry, the first that there is. What they say is kept
 * in memory that is allocated here and never freed. Exits where it cannot be
 * found or read, is no regular file (unless it is named as a descriptor, such
 * as /dev/stdin or /dev/fd/3), is too long, or has a line that is no option.
 */
void policy_file_read(const struct optparse *optparse, const char *name,
    void *into, const char *given[]);

#endif
