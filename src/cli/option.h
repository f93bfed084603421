/*
 * option: a row of the table of options, and how options are read: from a
 * command line, from files and from variables.
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
 * is a path; any other is looked for (config.h).
 */
#ifndef OPTION_H
#define OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct policy;

/* Bytes that a file may have. */
#define OPTION_FILE_MOST 65536

/* What an option's argument is, and the type of the field that it sets: an int
 * from CONSTANT to SIGNAL, an int64_t from WHOLE to SIZE. */
enum option_type {
	OPTION_NONE, /* no field: whether it is given counts, or its special */
	OPTION_FLAG, /* bool: becomes true; with no- before the name, false */
	OPTION_CONSTANT, /* an enum: becomes least, and with no- most again */
	OPTION_CHOICE, /* an enum: the argument's index in choices */
	OPTION_SIGNAL, /* a signal's number */
	OPTION_WHOLE, /* a whole number, least to most */
	/* Attempts (least is 1), or retries (least is 0), to which the first
	 * attempt is added; "inf" becomes INT64_MAX. */
	OPTION_LIMIT,
	OPTION_DECIMAL, /* a decimal number, in millionths */
	OPTION_RATIO, /* the same; it may be a percentage */
	OPTION_SPAN, /* nanos: a time, least to most */
	OPTION_SIZE, /* bytes, least to most, with k, M, G or T */
	/* const char *: a text of up to most bytes, NULL where it is empty; but
	 * if there is a refusal, an empty text is refused. */
	OPTION_TEXT,
	OPTION_FILE, /* no field: names a file of options */
	OPTION_PRINT, /* no field: prints and exits, before others are read */
	OPTION_WAIT, /* no field: is stored before others of a command line */
};

/* What only options.c knows: texts that it checks, and other arguments. */
enum option_special {
	SPECIAL_NONE,
	SPECIAL_METHOD,
	SPECIAL_HEADER,
	SPECIAL_LABEL,
	SPECIAL_HTTP,
	SPECIAL_AUTO,
	SPECIAL_WAIT,
	SPECIAL_RETRIES,
	SPECIAL_LIMIT,
	SPECIAL_SPANS,
	SPECIAL_SEED,
	SPECIAL_RETRY_AFTER,
	SPECIAL_LIST,
	SPECIAL_CONDITION,
	SPECIAL_STATUS,
	SPECIAL_PRESET,
	SPECIAL_BREAKER,
	SPECIAL_RATE,
	SPECIAL_FLEET,
	SPECIAL_HELP,
	SPECIAL_VERSION,
};

/* An option that is given, and what is to be said of it in a message. */
struct argument {
	const struct option *option;
	const char *text; /* of a flag: the word as typed; NULL: none to show */
	const char *location; /* "FILE:LINE"; NULL: not from a file */
	bool by_variable; /* the variable of the option has the text */
	bool off; /* no- is before the name */
};

/*
 * One row of the table of options. The texts are in the row, and "" is none:
 * the loader would have to write each pointer at every start.
 */
struct option {
	char name[20]; /* without the dashes; "": behind the last row */
	char letter; /* of the short form, or '\0' */
	char argument[16]; /* as --help shows it; "": it takes none */
	char help[144]; /* its lines after the first are indented too */
	enum option_type type;
	enum option_special special;
	bool command_line; /* no file may have the option */
	bool is_path; /* const char *: the name of a file or a directory */
	char heading[24]; /* the line above it in --help */
	size_t field; /* offset in struct policy of what the option sets */
	int64_t least, most; /* most 0: no upper bound */
	char choices[48]; /* by value of the enum: "a, b or c" */
	char refusal[40]; /* what is wrong with another bad argument */
	/* The argument where no word, or an option, follows, or where this word
	 * does: these very bytes, not a copy; "": an error. */
	char implied[8];
	/* The variable of the environment, RETRY_*, that is read where the
	 * option is not given; an empty one counts as unset. "": none. */
	char variable[24];
	char needs[16]; /* the option without which it means nothing */
	char aliases[32]; /* its names in other tools, separated by blanks */
};

/* The row whose name has these bytes; NULL: there is none. */
const struct option *
option_find(const struct option *table, const char *name, size_t length);

/* The field of the policy that the argument's option sets. */
void *option_field(const struct argument *argument, struct policy *policy);

/*
 * Stores the text, as the type of its option has it, or refuses a text that is
 * not of that type or not within the bounds. Does nothing for options without a
 * field, or with an argument that is special.
 */
void option_store(const struct argument *argument, struct policy *policy);

/*
 * Refuses a command line: "retry: " and why, a line of advice, and exits with
 * EXIT_STATUS_FAILED.
 */
_Noreturn void option_fail(const char *why);

/*
 * Refuses an argument: "retry: --name: why: 'text'", and exits. For a variable
 * it is "retry: $VARIABLE: ...", for a line of a file "retry: FILE:LINE: name:
 * ...".
 */
__attribute__((format(printf, 2, 3))) _Noreturn void
option_refuse(const struct argument *argument, const char *format, ...);

/*
 * Refuses length bytes at item within the text: "why: 'item' in 'text'", or
 * "why in 'text'" if length is 0. A pattern that may be meant in place of the
 * item is offered at the end; NULL: none.
 */
_Noreturn void option_refuse_item(const struct argument *argument,
    const char *why, const char *item, size_t length, const char *pattern);

/* Memory for what is made of the text, which lives as long as retry. Refuses
 * the argument if there is none. */
void *option_allocate(const struct argument *argument, size_t size);

/*
 * Reads the file that the text names into room, up to size bytes; returns how
 * many. Exits if it cannot be read, if it is not a regular file, or if it is
 * secret and others may read it. What is not secret must not have been written
 * by others (config_distrust), but may also be a descriptor of any kind, such
 * as /dev/stdin or /dev/fd/3.
 */
size_t option_read_file(
    const struct argument *argument, char *room, size_t size, bool secret);

/* Stores an argument, or refuses it. given is that of option_parse(). */
typedef void option_storing(const struct argument *argument,
    struct policy *policy, struct argument given[]);

/*
 * Stores in the policy the lines of all files that are named, then the options
 * after argv[0], both in order, then the variables of options that were not
 * among them. Where no option names a file, a variable may: then the other
 * variables count more than the lines of this file. Returns where the operands
 * begin. given has an element for each row of the table: the last argument of
 * the option, unchanged where it was not given. Exits with 0 after help, and
 * after a message where an option is unknown, lacks its argument or has one too
 * many, or a file cannot be read, is too long or has a line that is no option.
 */
char **option_parse(const struct option *table, option_storing *store,
    char **argv, struct policy *policy, struct argument given[]);

/* Stores the lines of one more file, whose path is the text of an argument.
 * given may be NULL. */
void option_parse_file(const struct option *table, option_storing *store,
    const struct argument *file, struct policy *policy,
    struct argument given[]);

#endif
