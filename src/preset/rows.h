/*
 * rows: what a row of the table of presets is; types only. preset.h says what
 * is made of it.
 *
 * Patterns are those of ere.h, and match within a line. None begins with
 * (?i), so several may be joined with "|".
 */
#ifndef ROWS_H
#define ROWS_H

/* What a line of one stream means. All NULL: it is not looked at. */
struct preset_lines {
	const char *fatal;
	const char *transient;
	const char *failed; /* a failure although the command exited 0 */
};

struct preset {
	const char *name;
	const char
	    *programs; /* commands of "auto", separated by blanks, or "" */
	const char
	    *codes; /* a LIST of conditions_parse: transient by themselves */
	const char *own; /* a LIST of statuses: others are not the tool's,
			    and no transient line counts; NULL: all are */
	struct preset_lines err, out; /* on stderr and on stdout */
	/*
	 * Where its facts come from. Captures are in tests/fixtures/stderr;
	 * on loopback: seen by running it against a server of our own.
	 */
	const char *source;
};

#endif
