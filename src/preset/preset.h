/*
 * preset: the table of known tools, and which of their failures are transient.
 *
 * The lists and patterns of all chosen presets, taken together, mean:
 *
 *   exit status 0, and a line matches failed: the attempt has failed;
 *   it failed, and a line matches fatal: stop;
 *   it failed, and its status is in codes or a line matches transient: retry;
 *   it failed otherwise: stop.
 *
 * Each row's codes contain "timeout": an attempt that retry had to end shows
 * only that the command was slow.
 */
#ifndef PRESET_H
#define PRESET_H

#include <stddef.h>

/*
 * What the lines of one stream mean, as patterns in the syntax of ere.h, each
 * of which matches within a line. None begins with (?i), so that several can be
 * joined with "|". All NULL: retry does not look at the stream.
 */
struct preset_lines {
	const char *fatal;
	const char *transient;
	const char *failed; /* a failure although the command exited with 0 */
};

struct preset {
	const char *name;
	const char *knows; /* some transient failures, in words for a list */
	/* Commands for which --preset auto takes this row, separated by blanks;
	 * or "". */
	const char *programs;
	/* A LIST for conditions_parse(): these are transient without a line. */
	const char *codes;
	/*
	 * A LIST of the exit statuses that come from the tool itself: with any
	 * other, transient lines do not count. NULL: all come from the tool.
	 */
	const char *own;
	struct preset_lines err, out; /* on stderr and on stdout */
	/*
	 * Where these facts come from. "captures" are in tests/fixtures/stderr;
	 * "on loopback" means that the tool was run against a local test
	 * server.
	 */
	const char *source;
};

/* The rows of tools for connections, transfers, servers and clouds; *count is
 * their number. */
const struct preset *preset_tools(size_t *count);

/* The rows of tools that fetch and install packages; *count is their number. */
const struct preset *preset_packages(size_t *count);

/* How many rows both tables have. */
size_t preset_count(void);

/* The row at index, less than preset_count(), in the order of "list". */
const struct preset *preset_at(size_t index);

/*
 * The row of that name, or else the row that preset_for_program() finds for a
 * program of that name ("apt-get", "sqlite"); NULL if there is none.
 */
const struct preset *preset_find(const char *name, size_t length);

/*
 * The row of the command at path, by its last component; digits and dots at
 * its end are a version ("pip3.11", "wget2"). NULL if there is none.
 */
const struct preset *preset_for_program(const char *path);

#endif
