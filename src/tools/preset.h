/*
 * preset: the table of known tools, and which of their failures are transient.
 *
 * src/tools/presets has the table as text. To add a tool, add its row and
 * captures of its failures: CONTRIBUTING.md.
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
#include "text/strview.h"

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

/* A row; src/tools/presets explains its fields. Its texts are static. */
struct preset {
	const char *name;
	const char *knows;
	const char *programs; /* separated by blanks; "": none */
	const char *codes; /* a LIST for conditions_parse() */
	const char *own; /* a LIST; NULL: any status is the tool's own */
	const char *elsewhere; /* NULL: nothing is started elsewhere */
	/* What is lost where standard output is no terminal: there it is not
	 * searched. NULL: nothing. */
	const char *screen;
	const char *because; /* why what is fatal stays; or NULL */
	struct preset_lines err, out; /* on stderr and on stdout */
	/* On stderr and on stdout, with the time to wait behind; or NULL. */
	const char *wait, *out_wait;
	/* A pattern on stderr: such a line is about a limit of the server, and
	 * transient whatever else is fatal. The tool does not say how long to
	 * wait: for this time, and twice as long after each further one. */
	const char *limit;
	nanos limit_wait;
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
 * Reads the row of the program that has this name. If there is none, then
 * digits and dots at its end are a version ("pip3.11"). False if there is no
 * row.
 */
bool preset_for_program(struct strview name, struct preset *preset);

/* Reads the row of a command, by the last component of its first word. */
bool preset_for_command(char *const command[], struct preset *preset);

/* What is known of a tool that a launcher fetches and runs. */
enum preset_launch {
	PRESET_LAUNCH_NONE, /* the command is no launcher */
	PRESET_LAUNCH_UNKNOWN, /* there is no row for the tool */
	PRESET_LAUNCH_KNOWN,
};

/*
 * Reads the row of the tool that npx or another launcher runs, by its name or
 * by that of its package: launcher.h. The row of the launcher counts beside it.
 */
enum preset_launch
preset_launched(char *const command[], struct preset *preset);

/*
 * A LIST of the ends after which what the command has started elsewhere may
 * still run, so that it must not be started again: a limit of time has ended
 * the client, which is behind wrappers. The program of a command that is not of
 * the row counts as the tool. NULL: there are none.
 */
const char *
preset_unfinished(const struct preset *preset, char *const command[]);

#endif
