/*
 * optparse: takes a command line apart over a table of options. getopt_long is
 * no help here: it takes --retry for --retry-on, and one day's abbreviation
 * is the next day's ambiguity. Here a name is typed whole or is an error.
 *
 * Options end at the first operand or after "--". "--name=text", "--name
 * text", "-n3", "-n 3", bundled flags "-vq" and "-vqn3"; no option has an
 * optional argument.
 */
#ifndef OPTPARSE_H
#define OPTPARSE_H

#include <stddef.h>

/* Room for a place, the closing NUL included. */
#define OPTPARSE_PLACE 256

/* All that is known of one option. */
struct row {
	const char *name; /* without the dashes */
	/* Of the short form, or '\0'. To take, '$': see struct variable; ':':
	 * see optparse_take_line. */
	char letter;
	const char *argument; /* as --help shows it; NULL: a flag */
	/* Stores text (a flag: the word as typed), or refuses it. */
	void (*take)(const struct row *row, const char *text, void *field);
	size_t field; /* offset of what take fills */
	const char *help; /* its lines after the first are indented too */
};

/*
 * What the environment says for a row where the command line says nothing. An
 * empty variable says nothing either. The row that take gets has the name of
 * the variable and the letter '$'.
 */
struct variable {
	size_t row;
	const char *name; /* begins with RETRY_ */
};

/* What stands above a row in --help. */
struct heading {
	size_t row;
	const char *text;
};

/* A name from another tool, and the option that it means here. */
struct alias {
	const char *name, *ours;
};

struct optparse {
	const struct row *rows;
	size_t count;
	const struct heading *headings; /* in order; the last one's is count */
	const struct alias *aliases; /* the last one has no name */
	const struct variable *variables; /* nor has the last of these */
	const size_t *typed; /* rows that no file may have; the last is count */
	size_t last; /* the first of the rows whose take does not return */
	size_t file; /* the row that names a file of options... */
	/* ...and what takes the lines of one. */
	void (*follow)(const struct optparse *optparse, const char *name,
	    void *into, const char *said[]);
};

/*
 * Takes the lines of all files that are named, then the options after argv[0],
 * both in order, then the variables of rows that were not among them; fields
 * count from into. Returns where the operands begin. said has an element for
 * each row: the text that the option was given last, untouched where it was
 * not. Exits where an option is unknown, lacks its argument or has one too
 * many.
 */
char **optparse_take(const struct optparse *optparse, char **argv, void *into,
    const char *said[]);

/*
 * Takes a line of a file, "name" or "name=text", that stands at the place
 * "FILE:LINE": messages begin with that. The row that take gets has the
 * letter ':', and its name begins with the place too.
 */
void optparse_take_line(const struct optparse *optparse, const char *place,
    const char *line, void *into, const char *said[]);

/*
 * The bad text of an option: "retry: --name: why: 'text'", and exits. That of a
 * variable is "retry: $VARIABLE: ...", of a line "retry: FILE:LINE: name: ...".
 */
_Noreturn void
optparse_refuse(const struct row *row, const char *why, const char *text);

/*
 * The same for length bytes at item within text: "why: 'item' in 'text'", or
 * "why in 'text'" where nothing is there.
 */
_Noreturn void optparse_refuse_item(const struct row *row, const char *why,
    const char *item, size_t length, const char *text);

/* The index of text among names, up to a NULL; refuses it if it is none. */
size_t optparse_choice(const struct row *row, const char *why,
    const char *const *names, const char *text);

/* A mistake that no option is to blame for: "retry: why", and exits. */
_Noreturn void optparse_refuse_all(const char *why);

#endif
