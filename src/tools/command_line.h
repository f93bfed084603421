/*
 * command_line: reads the command lines of other programs, as they do.
 *
 * A wrapper is a program such as sudo, env and timeout: it executes the command
 * behind it, or runs the command and ends with its exit status.
 */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include "text/strview.h"

/*
 * The next option or operand of a command line. It begins as { .argv, .at,
 * .options }: an argv that ends in NULL, the index of the first word to read,
 * and the names of the program's options.
 *
 * A name is "L,name" or "name", L being its letter. Behind a name stands
 *	=	if the option has an argument;
 *	?	if it may have one, but only as --name=ARGUMENT;
 *	!	if the caller wants to know it, as it changes what the words
 *		mean.
 * The names are separated by blanks. A name may be abbreviated, if no other one
 * begins like that.
 */
struct command_line {
	char *const *argv;
	size_t at; /* the index of the next word */
	const char *options;
	size_t letter; /* in "-sSX", how many letters have been read */
	bool ended; /* "--" has been read: only operands follow */
	/* What was read: */
	struct strview name; /* the whole name; empty: an operand, or unknown */
	bool operand; /* it is the argument */
	bool off; /* --no-name */
	bool expanded; /* --expand-name */
	char mark; /* the one behind the name, or ' ' */
	const char *argument; /* behind the name or its =, or NULL */
};

/*
 * Reads the next option with its argument, or the next operand. False at the
 * end. All of these are read: "-X PUT", "-XPUT", "-sSX PUT", "--request PUT",
 * "--request=PUT", and, as of curl, "--expand-request" and "--no-request".
 * Upper and lower case of a name are the same.
 */
bool command_line_next(struct command_line *line);

/* What is behind the wrappers at the start of a command line. */
struct wrapped {
	size_t command; /* argv index of the command behind all wrappers */
	bool moved; /* it runs in another directory than retry */
	bool alien; /* sudo runs it, as a user who may not open retry's files */
};

/*
 * Skips the wrappers at the start of argv, which ends in NULL and has at least
 * one word. Known are timeout, env, nice, nohup and stdbuf (GNU coreutils up to
 * 9.7 and BusyBox) and sudo (sudo(8) of 1.9), also one in front of another. A
 * command that runs through a shell is not found.
 *
 * A wrapper is not skipped, and counts as the command, if nothing is behind it,
 * or if one of its options is unknown, makes it run no command (--help), a
 * shell (sudo -i) or a command in the background, or has the command in its
 * argument (env -S).
 */
struct wrapped command_line_unwrap(char *const argv[]);

/* The last component of the path of a program, or a path that ends in a slash.
 */
const char *command_line_program(const char *path);

#endif
