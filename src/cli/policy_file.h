/*
 * policy_file: reads options from a file, for --policy.
 *
 * Each line is a long option without its dashes, "name" or "name=text", where
 * the text is the rest of the line, without quoting. Empty lines and lines that
 * begin with "#" are skipped.
 */
#ifndef POLICY_FILE_H
#define POLICY_FILE_H

#include "cli/optparse.h"

/* Bytes that a file may have. */
#define POLICY_FILE_MOST 65536

/*
 * Parses the lines of a file with optparse_parse_line. option, or its variable,
 * has given the name. A name with a '/' is a path; for any other, name.conf is
 * looked for in $XDG_CONFIG_HOME/retry, ~/.config/retry and /etc/retry, in this
 * order. The text is kept in memory that is never freed. Exits if the file
 * cannot be found or read, is too long, has a line that is no option, or is not
 * a regular file (only a descriptor, such as /dev/stdin or /dev/fd/3, need not
 * be one).
 */
void
policy_file_read(const struct optparse *optparse, const struct option *option,
    const char *name, void *into, const char *given[]);

#endif
