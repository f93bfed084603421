/*
 * optparse: parses a command line by a table of options.
 *
 * getopt_long is not used: it accepts abbreviations, --retry for --retry-on,
 * and a script that uses an abbreviation breaks when a new option makes it
 * ambiguous. Here a name that is not complete is an error.
 *
 * Options end at the first operand or after "--". "--name=text", "--name
 * text", "-n3", "-n 3", bundled flags "-vq" and "-vqn3". An argument that may
 * be left out begins with "-" only after "=".
 */
#ifndef OPTPARSE_H
#define OPTPARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for a location, the closing NUL included. */
#define OPTPARSE_LOCATION 256

/* What an option's argument is, and the type of the field that it sets. */
enum option_type {
	OPTION_GIVEN, /* no field: only whether the option is given counts */
	OPTION_FLAG, /* bool: becomes true */
	OPTION_CONSTANT, /* an enum: becomes least */
	OPTION_CHOICE, /* an enum: the argument's index in choices */
	OPTION_WHOLE, /* int64_t: a whole number, least to most */
	/* int64_t: attempts (least is 1), or retries (least is 0), to which the
	 * first attempt is added; "inf" becomes INT64_MAX. */
	OPTION_LIMIT,
	OPTION_DECIMAL, /* int64_t: a decimal number, in millionths */
	OPTION_RATIO, /* the same; it may be a percentage */
	OPTION_SPAN, /* nanos: a time, least to most */
	OPTION_SIZE, /* int64_t: bytes, least to most, with k, M, G or T */
	OPTION_SIGNAL, /* int: a signal's number */
	/* const char *: a text, NULL where it is empty; but if there is a
	 * refusal, an empty text is refused. most is for keys of budgets. */
	OPTION_TEXT,
	OPTION_SPECIAL, /* any type: the function take stores it */
};

/* One row of the table of options. */
struct option {
	const char *name; /* without the dashes */
	char letter; /* of the short form, or '\0' */
	enum option_type type;
	const char *argument; /* as --help shows it; NULL: it takes none */
	const char *help; /* its lines after the first are indented too */
	size_t field; /* offset of what the option sets */
	int64_t least, most; /* of a number; most 0: no upper bound */
	const char *const *choices; /* up to a NULL, by value of the enum */
	const char *refusal; /* what is wrong with a bad argument */
	/* The argument where no word, or an option, follows; NULL: an error. */
	const char *alone;
	/* The variable of the environment, RETRY_*, that is read where the
	 * option is not given; an empty one counts as unset. NULL: none. */
	const char *variable;
	/* Stores text (of a flag: the word as typed) or refuses it. */
	void (*take)(const struct option *option, const char *text, void *into);
	/* Not in the table but in the copy that comes with a text that is not
	 * from the command line: "FILE:LINE", or that the variable has it. */
	const char *location;
	bool by_variable;
	bool is_path; /* const char *: the name of a file or a directory */
};

/* A line above an option in --help. */
struct heading {
	size_t option;
	const char *text;
};

/* A name from another tool, and the option that it means here. */
struct alias {
	const char *name, *ours;
};

struct optparse {
	const struct option *options;
	size_t count;
	const struct heading *headings; /* in order; the last one's is count */
	const struct alias *aliases; /* the last one has no name */
	/* The options that no file may have, up to count. */
	const size_t *command_line_only;
	size_t first_exit; /* from here on, options that print and exit */
	size_t file; /* the option that names a file of options */
	/* Parses the lines of the file that option, or its variable, names. */
	void (*read_file)(const struct optparse *optparse,
	    const struct option *option, const char *name, void *into,
	    const char *given[]);
	/* Stores a text in the field of into that the option has, or refuses
	 * the text. */
	void (*store)(
	    const struct option *option, const char *text, void *into);
};

/*
 * Parses the lines of all files that are named, then the options after argv[0],
 * both in order, then the variables of options that were not among them; fields
 * count from into. Where no option names a file, a variable may: then the other
 * variables count more than the lines of this file. Returns where the operands
 * begin. given has an element for each option: the last text that it was given,
 * unchanged where the option was not given. Exits where an option is unknown,
 * lacks its argument or has one too many.
 */
char **optparse_parse(const struct optparse *optparse, char **argv, void *into,
    const char *given[]);

/*
 * Parses a line of a file, "name" or "name=text". Messages name its location,
 * "FILE:LINE".
 */
void optparse_parse_line(const struct optparse *optparse, const char *location,
    const char *line, void *into, const char *given[]);

/*
 * Refuses the text of an option: "retry: --name: why: 'text'", and exits. For a
 * variable it is "retry: $VARIABLE: ...", for a line "retry: FILE:LINE: name:
 * ...".
 */
_Noreturn void
optparse_refuse(const struct option *option, const char *why, const char *text);

/*
 * Refuses length bytes at item within text: "why: 'item' in 'text'", or
 * "why in 'text'" if length is 0. Exits.
 */
_Noreturn void optparse_refuse_item(const struct option *option,
    const char *why, const char *item, size_t length, const char *text);

/* The same, and ends the message with hint, the item and "'". */
_Noreturn void
optparse_refuse_word(const struct option *option, const char *why,
    const char *item, size_t length, const char *text, const char *hint);

/* Memory for what is made of an option's text, which lives as long as retry.
 * Refuses the option if there is none. */
void *
optparse_allocate(const struct option *option, size_t size, const char *text);

/* Refuses a command line for no single option: "retry: why", and exits. */
_Noreturn void optparse_refuse_all(const char *why);

#endif
