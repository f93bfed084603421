/*
 * preset: the table of known tools, and which of their failures are transient.
 *
 * To add a tool, add its row and captures of its failures: CONTRIBUTING.md.
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

#include <stdbool.h>
#include <stddef.h>
#include "text/duration.h"

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

/*
 * A line with this, on stderr or where the row has transient lines, is about a
 * limit of the server, as many tools of all presets print it: HTTP status 429
 * (RFC 6585) with its reason, the errors of registries (OCI distribution) and
 * of the interfaces of AWS.
 */
#define PRESET_LIMIT \
	"[Tt]oo ?[Mm]any ?[Rr]equests|TOOMANYREQUESTS|[Rr]ate ?[Ll]imit|" \
	"Throttl(ed|ing)|SlowDown|" \
	"(HTTP|[Ss]tatus|[Ee]rror|[Cc]ode)[^0-9]{1,12}429\\b"

/* A row. Its texts are static. */
struct preset {
	const char *name;
	const char *knows; /* some transient failures, in words for a list */
	/* Commands for which --preset auto takes this row, separated by blanks;
	 * "": none. */
	const char *programs;
	/* A LIST for conditions_parse(): these are transient without a line. */
	const char *codes;
	/*
	 * A LIST of the exit statuses that come from the tool itself: with any
	 * other, transient lines do not count. NULL: all come from the tool.
	 */
	const char *own;
	/*
	 * Programs of the row, and words of a command line, separated by
	 * blanks, with which the tool starts something elsewhere that goes on
	 * when the tool is ended. NULL: nothing does.
	 */
	const char *elsewhere;
	struct preset_lines err, out; /* on stderr and on stdout */
	/* A pattern on stderr: such a line is transient, and the time directly
	 * behind the match is how long to wait, as with --retry-after. */
	const char *wait;
	/* A pattern on stderr: such a line is about a limit of the server, and
	 * transient whatever else is fatal. The tool does not say how long to
	 * wait: for this time, and twice as long after each further one. */
	const char *limit;
	nanos limit_wait;
	/*
	 * Where these facts come from. "captures" are in tests/fixtures/tools;
	 * "not run" means that no capture shows them.
	 */
	const char *source;
};

/* Reads the row at index in the order of names. False behind the last row. */
bool preset_at(size_t index, struct preset *preset);

/*
 * Reads the row of that name, or else the row of the program of that name
 * ("apt-get"). False if there is none.
 */
bool preset_find(const char *name, size_t length, struct preset *preset);

/*
 * Reads the row of a command, by the last component of its first word. If no
 * row has this program, then digits and dots at its end are a version
 * ("pip3.11"). Of npx it is the row of what npx runs, if there is one. False if
 * there is none.
 */
bool preset_for_command(char *const command[], struct preset *preset);

/*
 * A LIST of the ends after which what the command has started elsewhere may
 * still run, so that it must not be started again: a limit of time has ended
 * the client, which is behind wrappers. The program of a command that is not of
 * the row counts as the tool. NULL: there are none.
 */
const char *
preset_unfinished(const struct preset *preset, char *const command[]);

#endif
