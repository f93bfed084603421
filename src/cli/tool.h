/*
 * tool: the file in which a user, or the system, has rules for a tool.
 *
 * It is read for --preset NAME, and where -a finds a command of that name. A
 * line of it is a LIST, a hint or a preset of this program, as in a policy.
 * These rules count more than the preset of that name, and less than what the
 * user gives.
 */
#ifndef TOOL_H
#define TOOL_H

#include <stdbool.h>
#include "cli/option.h"
#include "policy/policy.h"
#include "text/strview.h"

/* A file. The texts live as long as retry. */
struct tool {
	const char *name, *path;
};

/*
 * Finds the file of this name, or of a program of this name, which may have a
 * version at its end. False where there is none, or where no file may have the
 * name: "list", "none", "auto", or one with a '/'. The argument is refused if
 * there is no memory.
 */
bool tool_find(struct tool *tool, const struct argument *argument,
    struct strview name, bool program);

/*
 * Adds the rules of the file to policy->given, behind all others, and with the
 * name of the tool. Exits with a message if the file, or a line of it, is
 * wrong; LISTs and patterns are not read yet. False if the preset of that name
 * does not count beside them.
 */
bool tool_read(const struct tool *tool, const struct argument *argument,
    const struct option *table, struct policy *policy);

#endif
