/*
 * option_parse: reads options from a command line, from files and from
 * variables.
 *
 * getopt_long is not used: it accepts abbreviations, --retry for --retry-on,
 * and a script that uses an abbreviation breaks when a new option makes it
 * ambiguous. Here a name that is not complete is an error.
 *
 * Options end at the first operand or after "--". "--name=text", "--name
 * text", "-n3", "-n 3", bundled flags "-vq" and "-vqn3". An argument that may
 * be left out begins with "-" only after "=". The word that is implied in its
 * place may be typed; after "=" it is a text like any other.
 *
 * Each line of a file is a long option without its dashes, "name" or
 * "name=text", where the text is the rest of the line, without quoting. Empty
 * lines and lines that begin with "#" are skipped. A name of a file with a '/'
 * is a path; for any other, name.conf is looked for in $XDG_CONFIG_HOME/retry,
 * ~/.config/retry and /etc/retry, in this order.
 */
#ifndef OPTION_PARSE_H
#define OPTION_PARSE_H

#include "cli/option.h"

/* Bytes that a file may have. */
#define OPTION_PARSE_FILE 65536

/* Whether the environment may have the variable of an option. Most have none:
 * then nobody has to read all rows of the table, which takes its time. */
bool option_parse_variables(void);

/*
 * Stores in the policy, by store, which returns the words of options for which
 * this one stands or NULL, the lines of all files that are named, then
 * the options after argv[0], both in order, then the variables of options that
 * were not among them. Where no option names a file, a variable may: then the
 * other variables count more than the lines of this file. Returns where the
 * operands begin. given has an element for each row of the table: the last text
 * that the option was given, unchanged where it was not given. Exits with 0
 * after help, and after a message where an option is unknown, lacks its
 * argument or has one too many, or a file cannot be read, is too long or has a
 * line that is no option.
 */
char **option_parse(const struct option *table,
    const char *(*store)(
	const struct argument *argument, struct policy *policy),
    char **argv, struct policy *policy, const char *given[]);

#endif
