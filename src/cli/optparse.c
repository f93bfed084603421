#include "cli/optparse.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "exit_status.h"
#include "sys/sys.h"
#include "output/writer.h"
#include "text/number.h"

/* A name with too many typing mistakes: it is not meant. */
#define FAR INT64_MAX

/* More letters than any name of an option has. */
#define LETTERS 32

/* How the names of all variables begin. */
#define VARIABLES "RETRY_"

/* How far optparse_parse has come. */
struct parser {
	const struct optparse *optparse;
	char **next; /* the next word of the command line */
	void *into;
	const char **given;
	const char *location; /* of a line in a file; NULL: a command line */
	bool files_only; /* the first pass: files of options, --help */
};

/* Ends the message and adds the line of advice: one write(2) for each line. */
static _Noreturn void
end_usage(struct writer *writer)
{
	/* Without a reader of the message, SIGPIPE would change the exit
	 * status. */
	sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	writer_put(writer, "\n");
	writer_flush(writer);
	writer_put_all(writer,
	    STRINGS("Try '", sys_program(), " -h' for more information.\n"));
	writer_flush(writer);
	_exit(EXIT_STATUS_FAILED);
}

static void
begin_option(
    struct writer *writer, const struct option *option, const char *why)
{
	writer_put(writer, "retry: ");
	if (option->location != NULL) {
		writer_put(writer, option->location);
		writer_put(writer, option->name != NULL ? ": " : "");
	} else {
		writer_put(writer, option->by_variable ? "$" : "--");
	}
	if (option->by_variable)
		writer_put(writer, option->variable);
	else if (option->name != NULL)
		writer_put(writer, option->name);
	writer_put_all(writer, STRINGS(": ", why));
}

void
optparse_refuse(const struct option *option, const char *why, const char *text)
{
	struct writer writer = { .to = STDERR_FILENO };

	begin_option(&writer, option, why);
	writer_put(&writer, ": ");
	writer_put_quoted(&writer, text, strlen(text));
	end_usage(&writer);
}

static void
put_item(struct writer *writer, const struct option *option, const char *why,
    const char *item, size_t length, const char *text)
{
	size_t whole = strlen(text);

	begin_option(writer, option, why);
	if (length > 0) {
		writer_put(writer, ": ");
		writer_put_quoted(writer, item, length);
	}
	if (length > 0 && length == whole)
		return;
	writer_put(writer, " in ");
	writer_put_quoted(writer, text, whole);
}

void
optparse_refuse_item(const struct option *option, const char *why,
    const char *item, size_t length, const char *text)
{
	struct writer writer = { .to = STDERR_FILENO };

	put_item(&writer, option, why, item, length, text);
	end_usage(&writer);
}

void
optparse_refuse_word(const struct option *option, const char *why,
    const char *item, size_t length, const char *text, const char *hint)
{
	struct writer writer = { .to = STDERR_FILENO };

	put_item(&writer, option, why, item, length, text);
	writer_put(&writer, hint);
	writer_put_escaped(&writer, ESCAPE_LINE, item, length);
	writer_put(&writer, "'");
	end_usage(&writer);
}

void *
optparse_allocate(const struct option *option, size_t size, const char *text)
{
	void *memory = malloc(size);

	if (memory == NULL)
		optparse_refuse(option, "no memory for", text);
	return memory;
}

void
optparse_refuse_all(const char *why)
{
	struct writer writer = { .to = STDERR_FILENO };

	writer_put_all(&writer, STRINGS("retry: ", why));
	end_usage(&writer);
}

/* Whether name is equal to the first length bytes of typed. */
static bool
same(const char *name, const char *typed, size_t length)
{
	return *name == *typed && strncmp(name, typed, length) == 0 &&
	    name[length] == '\0';
}

/*
 * How many mistakes turn name into what was typed. A mistake is a letter left
 * out, added, changed, or swapped with the next one. FAR if there are more than
 * three, or more than a third of length; but one is always allowed.
 *
 * This is the optimal string alignment distance: a row for each letter that was
 * typed, of which the last three are kept. Element j of a row is the number of
 * mistakes between the letters up to there and the first j letters of name.
 */
static int64_t
count_slips(const char *typed, size_t length, const char *name)
{
	int64_t rows[3][LETTERS + 1] = { { 0 } }, *now = rows[0];
	int64_t most = length < 6 ? 1 : number_lesser((int64_t)length / 3, 3);
	size_t letters = strlen(name);

	if (length > LETTERS || letters > LETTERS)
		return FAR;
	for (size_t j = 0; j <= letters; j++)
		now[j] = (int64_t)j;
	for (size_t i = 1; i <= length; i++) {
		const int64_t *last = now, *before = rows[(i + 1) % 3];

		now = rows[i % 3];
		now[0] = (int64_t)i;
		for (size_t j = 1; j <= letters; j++) {
			bool equal = typed[i - 1] == name[j - 1];
			bool swapped = i > 1 && j > 1 &&
			    typed[i - 1] == name[j - 2] &&
			    typed[i - 2] == name[j - 1];

			now[j] = number_lesser(last[j], now[j - 1]) + 1;
			now[j] = number_lesser(now[j], last[j - 1] + !equal);
			if (swapped)
				now[j] =
				    number_lesser(now[j], before[j - 2] + 1);
		}
	}
	return now[letters] > most ? FAR : now[letters];
}

/* The one option of which this may be a misspelling; NULL: none or several. */
static const char *
nearest(const struct optparse *optparse, const char *typed, size_t length)
{
	int64_t least = FAR;
	const char *found = NULL;

	for (size_t i = 0; i < optparse->count; i++) {
		const char *name = optparse->options[i].name;
		int64_t slips = count_slips(typed, length, name);

		if (slips < least)
			found = name;
		else if (slips == least)
			found = NULL;
		least = slips < least ? slips : least;
	}
	return found;
}

/*
 * The option to suggest for an unknown name: the option that has this name in
 * another tool, the only one that begins with it, or the nearest in spelling.
 * NULL: none.
 */
static const char *
suggest(const struct optparse *optparse, const char *typed, size_t length)
{
	const char *found = NULL;

	for (const struct alias *a = optparse->aliases; a->name != NULL; a++)
		if (same(a->name, typed, length))
			return a->ours;
	for (size_t i = 0; i < optparse->count; i++) {
		if (strncmp(optparse->options[i].name, typed, length) != 0)
			continue;
		if (found != NULL)
			return NULL;
		found = optparse->options[i].name;
	}
	return found != NULL ? found : nearest(optparse, typed, length);
}

/* Ends a message about an unknown option with a suggestion, unless NULL. */
static _Noreturn void
end_unknown(struct writer *writer, const char *dashes, const char *ours)
{
	if (ours != NULL)
		writer_put_all(
		    writer, STRINGS("; did you mean '", dashes, ours, "'?"));
	end_usage(writer);
}

static _Noreturn void
refuse_long(const struct parser *parser, const char *typed, size_t length)
{
	struct writer writer = { .to = STDERR_FILENO };
	size_t dashes = parser->location == NULL ? 2 : 0;
	const char *ours =
	    suggest(parser->optparse, typed + dashes, length - dashes);

	/* In a file, n is -n without its dash. */
	for (size_t i = 0; i < parser->optparse->count && length == 1; i++)
		if (parser->optparse->options[i].letter == *typed)
			ours = parser->optparse->options[i].name;
	writer_put(&writer, "retry: ");
	if (parser->location != NULL)
		writer_put_all(&writer, STRINGS(parser->location, ": "));
	writer_put(&writer, "unknown option ");
	writer_put_quoted(&writer, typed, length);
	end_unknown(&writer, dashes == 0 ? "" : "--", ours);
}

/*
 * The option whose whole name was typed with only one dash, or NULL. No name is
 * a letter alone.
 */
static const char *
find_dashed(const struct optparse *optparse, const char *typed)
{
	size_t length = strcspn(typed + 1, "=");

	if (length == 1)
		return NULL;
	for (size_t i = 0; i < optparse->count; i++)
		if (same(optparse->options[i].name, typed + 1, length))
			return optparse->options[i].name;
	return NULL;
}

static _Noreturn void
refuse_letter(
    const struct optparse *optparse, const char *typed, const char *letter)
{
	struct writer writer = { .to = STDERR_FILENO };
	const char *ours = find_dashed(optparse, typed);

	writer_put(&writer, "retry: unknown option ");
	/* One byte of a longer UTF-8 character must not be shown alone. */
	if (ours == NULL && (*letter & 0x80) == 0 && strlen(typed) > 2) {
		const char dashed[] = { '-', *letter };

		writer_put_quoted(&writer, dashed, sizeof dashed);
		writer_put(&writer, " in ");
	}
	writer_put_quoted(&writer, typed, strlen(typed));
	end_unknown(&writer, "--", ours);
}

/* Refuses an option that has no text to show. */
static _Noreturn void
refuse_option(const struct option *option, const char *why)
{
	struct writer writer = { .to = STDERR_FILENO };

	begin_option(&writer, option, why);
	end_usage(&writer);
}

/*
 * Stores text for the option with this index. In the first pass only files of
 * options are read, so that the command line overrides them; --help and
 * --version work there too, before an argument is found to be bad.
 */
static void
store(struct parser *parser, size_t index, const struct option *option,
    const char *text)
{
	const struct optparse *optparse = parser->optparse;

	if (parser->files_only && index == optparse->file) {
		optparse->read_file(
		    optparse, option, text, parser->into, parser->given);
		parser->given[index] = text;
	}
	if (parser->files_only && index < optparse->first_exit)
		return;
	parser->given[index] = text;
	optparse->store(option, text, parser->into);
}

static const char *
next_word(struct parser *parser, const struct option *option)
{
	const char *next = *parser->next;

	if (option->alone != NULL &&
	    (next == NULL || (next[0] == '-' && next[1] != '\0')))
		return option->alone;
	if (next == NULL)
		refuse_option(option, "needs an argument");
	return *parser->next++;
}

/* The index of the option that was typed, dashes included. */
static size_t
find_long(const struct parser *parser, const char *typed, size_t length)
{
	const struct optparse *optparse = parser->optparse;
	size_t dashes = parser->location == NULL ? 2 : 0;

	for (size_t i = 0; i < optparse->count; i++)
		if (same(optparse->options[i].name, typed + dashes,
			length - dashes))
			return i;
	refuse_long(parser, typed, length);
}

/* The index of the option of one letter within typed. */
static size_t
find_letter(
    const struct optparse *optparse, const char *typed, const char *letter)
{
	for (size_t i = 0; i < optparse->count; i++)
		if (optparse->options[i].letter == *letter)
			return i;
	refuse_letter(optparse, typed, letter);
}

/* A file must not have this option. */
static void
refuse_in_file(
    const struct optparse *optparse, const struct option *option, size_t index)
{
	const size_t *only = optparse->command_line_only;

	for (; *only < optparse->count; only++)
		if (index == *only)
			refuse_option(
			    option, "only allowed on the command line");
}

static void
parse_long(struct parser *parser, const char *typed)
{
	size_t length = strcspn(typed, "=");
	const char *text = typed[length] == '=' ? typed + length + 1 : NULL;
	size_t index = find_long(parser, typed, length);
	struct option option = parser->optparse->options[index];

	option.location = parser->location;
	if (parser->location != NULL)
		refuse_in_file(parser->optparse, &option, index);
	if (option.argument == NULL && text != NULL)
		optparse_refuse(&option, "takes no argument", typed);
	if (option.argument == NULL)
		text = typed;
	else if (text == NULL)
		text = next_word(parser, &option);
	store(parser, index, &option, text);
}

static void
parse_letters(struct parser *parser, const char *typed)
{
	const struct optparse *optparse = parser->optparse;

	for (const char *letter = typed + 1; *letter != '\0'; letter++) {
		size_t index = find_letter(optparse, typed, letter);
		const struct option *option = &optparse->options[index];

		if (option->argument == NULL) {
			store(parser, index, option, typed);
			continue;
		}
		if (letter == typed + 1 && find_dashed(optparse, typed) != NULL)
			refuse_letter(optparse, typed, letter);
		store(parser, index, option,
		    letter[1] != '\0' ? letter + 1 : next_word(parser, option));
		return;
	}
}

/* Parses the next word and its argument. False where the options end. */
static bool
parse_word(struct parser *parser)
{
	const char *typed = *parser->next;

	/* A single dash is an operand: POSIX, Utility Syntax Guideline 13. */
	if (typed == NULL || typed[0] != '-' || typed[1] == '\0')
		return false;
	parser->next++;
	if (strcmp(typed, "--") == 0)
		return false;
	if (typed[1] == '-')
		parse_long(parser, typed);
	else
		parse_letters(parser, typed);
	return true;
}

void
optparse_parse_line(const struct optparse *optparse, const char *location,
    const char *line, void *into, const char *given[])
{
	char *none = NULL;
	struct parser parser = { optparse, &none, into, given, location,
		false };

	parse_long(&parser, line);
}

/* One look at the environment is enough in most invocations. */
static bool
any_variable(void)
{
	for (char **at = environ; at != NULL && *at != NULL; at++)
		if (strncmp(*at, VARIABLES, strlen(VARIABLES)) == 0)
			return true;
	return false;
}

/* The text of an option's variable; NULL if it is unset or empty. */
static const char *
text_of(const struct option *option)
{
	const char *text =
	    option->variable == NULL ? NULL : getenv(option->variable);

	return text != NULL && *text != '\0' ? text : NULL;
}

/*
 * Reads the file that a variable names, if no option names one. Then options
 * that have a variable of their own count as not given.
 */
static void
read_default_file(const struct parser *parser)
{
	const struct optparse *optparse = parser->optparse;
	struct option option = optparse->options[optparse->file];
	const char *name = text_of(&option);

	if (parser->given[optparse->file] != NULL || name == NULL)
		return;
	option.by_variable = true;
	optparse->read_file(
	    optparse, &option, name, parser->into, parser->given);
	for (size_t i = 0; i < optparse->count; i++)
		if (text_of(&optparse->options[i]) != NULL)
			parser->given[i] = NULL;
}

static void
parse_variables(const struct parser *parser)
{
	const struct optparse *optparse = parser->optparse;

	for (size_t i = 0; i < optparse->count; i++) {
		struct option option = optparse->options[i];
		const char *text = text_of(&option);

		option.by_variable = true;
		if (parser->given[i] == NULL && text != NULL)
			optparse->store(&option, text, parser->into);
	}
}

char **
optparse_parse(const struct optparse *optparse, char **argv, void *into,
    const char *given[])
{
	struct parser files = { optparse, argv + 1, into, given, NULL, true };
	struct parser parser = { optparse, argv + 1, into, given, NULL, false };
	bool variables = any_variable();

	while (parse_word(&files))
		continue;
	if (variables)
		read_default_file(&files);
	while (parse_word(&parser))
		continue;
	if (variables)
		parse_variables(&parser);
	return parser.next;
}
