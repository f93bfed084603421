#include "cli/option.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/config.h"
#include "exit_status.h"
#include "output/writer.h"
#include "policy/policy.h"
#include "sys/error.h"
#include "sys/procfs.h"
#include "sys/sys.h"
#include "text/escape.h"
#include "text/number.h"
#include "text/signame.h"

/* Room for a location, the closing NUL included. */
#define LOCATION 256

/* Bytes of a quoted text; two such texts fit into a line, even if escaped. */
#define QUOTE_MOST 400

/* Room for a reason. */
#define WHY_ROOM 200

/* What is read, and where the options go. */
struct parser {
	const struct option *table;
	option_storing *store;
	struct policy *policy;
	struct argument *given;
	char **next; /* the words of a command line that are not read yet */
	const char *typed, *letter; /* the rest of a word of letters, or NULL */
	const char *location; /* of a line in a file; NULL: a command line */
};

#define MILLION INT64_C(1000000)
_Static_assert(BACKOFF_FACTOR_ONE == MILLION, "a factor is in millionths");
_Static_assert(WINDOW_RATIO_ONE == MILLION, "a ratio is in millionths");

/* The policy's enums are stored as an int. */
_Static_assert(sizeof(enum loudness) == sizeof(int), "an enum is an int");

const struct option *
option_find(const struct option *table, const char *name, size_t length)
{
	for (; table->name[0] != '\0'; table++)
		if (*table->name == *name &&
		    strncmp(table->name, name, length) == 0 &&
		    table->name[length] == '\0')
			return table;
	return NULL;
}

void *
option_field(const struct argument *argument, struct policy *policy)
{
	return (char *)policy + argument->option->field;
}

/* Stores a number within the option's bounds. */
static void
store_number(const struct argument *argument, int64_t *field)
{
	static const char units[] = "kMGTK"; /* K is k */
	const struct option *option = argument->option;
	const char *text = argument->text, *unit;
	size_t length = strlen(text);
	char last = length > 0 ? text[length - 1] : '\0';
	int64_t number = 0, scale = 0; /* of a number with decimals */
	bool valid, rounded = false;

	if (option->type == OPTION_DECIMAL || option->type == OPTION_RATIO)
		scale = MILLION;
	if (option->type == OPTION_RATIO && last == '%') {
		scale = MILLION / 100;
		length--;
	}
	if (option->type == OPTION_SIZE) {
		scale = 1;
		unit = last == '\0' ? NULL : strchr(units, last);
		if (unit != NULL) {
			scale <<= 10 * ((unit - units) % 4 + 1);
			length--;
		}
	}

	if (scale > 0)
		valid =
		    number_decimal(text, length, scale, &number, &rounded) &&
		    !(rounded && option->type == OPTION_SIZE);
	else if (option->type == OPTION_SPAN)
		valid = duration_parse(text, length, &number);
	else
		valid = number_whole(text, length, &number);
	if (option->type == OPTION_LIMIT && strcmp(text, "inf") == 0) {
		number = POLICY_UNLIMITED;
		valid = true;
	}
	if (!valid || number < option->least ||
	    (option->most != 0 && number > option->most))
		option_refuse(argument, "%s", option->refusal);
	*field = option->type == OPTION_LIMIT
	    ? number_add(number, 1 - option->least)
	    : number;
}

/* The index of a word in "a, b or c"; -1: it is none of them. */
static int
find_word(const char *words, const char *word)
{
	for (int index = 0; *words != '\0'; index++) {
		size_t length = strcspn(words, ", ");

		if (strncmp(words, word, length) == 0 && word[length] == '\0')
			return index;
		words += length;
		words += strspn(words, ", ");
		if (strncmp(words, "or ", 3) == 0)
			words += 3;
	}
	return -1;
}

void
option_store(const struct argument *argument, struct policy *policy)
{
	const struct option *option = argument->option;
	void *field = option_field(argument, policy);
	const char *text = argument->text;
	enum option_type type = option->type;
	int value = (int)option->least;

	if (type == OPTION_FLAG) {
		*(bool *)field = !argument->off;
	} else if (type == OPTION_CONSTANT && argument->off) {
		/* Another option may have set the field meanwhile. */
		if (*(int *)field == value)
			*(int *)field = (int)option->most;
	} else if (type == OPTION_TEXT) {
		if (*text == '\0' && option->refusal[0] != '\0')
			option_refuse(argument, "%s", option->refusal);
		if (option->most != 0 && strlen(text) > (size_t)option->most)
			option_refuse(argument, "longer than %" PRId64 " bytes",
			    option->most);
		/* An empty text undoes the same option in a policy file. */
		*(const char **)field = *text == '\0' ? NULL : text;
	} else if (type >= OPTION_WHOLE && type <= OPTION_SIZE) {
		store_number(argument, field);
	} else if (type >= OPTION_CONSTANT && type <= OPTION_SIGNAL) {
		if (type == OPTION_CHOICE)
			value = find_word(option->choices, text);
		else if (type == OPTION_SIGNAL)
			value = signame_number(text, strlen(text));
		if (type == OPTION_CHOICE && value == -1)
			option_refuse(argument, "not %s", option->choices);
		if (type == OPTION_SIGNAL && value == 0)
			option_refuse(argument, "%s", option->refusal);
		memcpy(field, &value, sizeof value);
	}
}

/* Begins the line that refuses an argument: where it was given, and its name.
 */
static void
begin(struct writer *writer, const struct argument *argument)
{
	const struct option *option = argument->option;
	const char *location = argument->location;

	writer_put(writer, "retry: ");
	if (argument->by_variable)
		writer_put_all(writer, STRINGS("$", option->variable, ": "));
	else
		writer_put_all(writer,
		    STRINGS(location == NULL ? "--" : location,
			location == NULL ? "" : ": ", option->name, ": "));
}

/*
 * Puts text between single quotes. A newline or an escape sequence in it could
 * look like a line of retry, and a long text could make the line too long for
 * one atomic write.
 */
static void
put_quoted(
    struct writer *writer, const char *before, const char *text, size_t length)
{
	size_t shown = escape_cut(text, length, QUOTE_MOST);

	writer_put_all(writer, STRINGS(before, "'"));
	writer_put_escaped(writer, ESCAPE_LINE, text, shown);
	writer_put(writer, shown < length ? "...'" : "'");
}

static _Noreturn void
finish(struct writer *writer)
{
	/* Each line is one write(2). */
	writer_put(writer, "\n");
	writer_say(writer);
	writer_put_all(writer,
	    STRINGS("Try '", sys_program(), " -h' for more information.\n"));
	writer_say(writer);
	_exit(EXIT_STATUS_FAILED);
}

void
option_fail(const char *why)
{
	struct writer writer = { .to = STDERR_FILENO };

	writer_put_all(&writer, STRINGS("retry: ", why));
	finish(&writer);
}

void
option_refuse(const struct argument *argument, const char *format, ...)
{
	struct writer writer = { .to = STDERR_FILENO };
	char why[WHY_ROOM];
	va_list values;

	va_start(values, format);
	vsnprintf(why, sizeof why, format, values);
	va_end(values);
	begin(&writer, argument);
	writer_put(&writer, why);
	if (argument->text != NULL)
		put_quoted(
		    &writer, ": ", argument->text, strlen(argument->text));
	finish(&writer);
}

void
option_refuse_item(const struct argument *argument, const char *why,
    const char *item, size_t length, const char *pattern)
{
	struct writer writer = { .to = STDERR_FILENO };
	size_t whole = strlen(argument->text);

	begin(&writer, argument);
	writer_put(&writer, why);
	if (length > 0)
		put_quoted(&writer, ": ", item, length);
	if (length == 0 || length != whole)
		put_quoted(&writer, " in ", argument->text, whole);
	if (pattern != NULL)
		put_quoted(
		    &writer, "; as a pattern: ", pattern, strlen(pattern));
	finish(&writer);
}

void *
option_allocate(const struct argument *argument, size_t size)
{
	void *memory = malloc(size);

	if (memory == NULL)
		option_refuse(argument, "no memory for");
	return memory;
}

/*
 * A FIFO or a device is refused, because reading could block for ever; and a
 * nested retry has to read the same secret again. But a descriptor, such as
 * that of a shell's <(...), may be a pipe.
 */
size_t
option_read_file(
    const struct argument *argument, char *room, size_t size, bool secret)
{
	const char *path = argument->text;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	const char *why;
	size_t length = 0;
	struct stat stat;
	ssize_t n;

	if (fd == -1 || fstat(fd, &stat) == -1)
		option_refuse(argument, "%s", error_words(errno));
	if (!S_ISREG(stat.st_mode) && !S_ISDIR(stat.st_mode)) {
		if (secret || procfs_descriptor(path) == -1)
			option_refuse(argument, "not a regular file");
		fcntl(fd, F_SETFL, O_RDONLY);
	}
	/* Another user's hooks, say, are not run. A pipe is the caller's. */
	why = secret || !S_ISREG(stat.st_mode) ? NULL : config_distrust(&stat);
	if (why != NULL)
		option_refuse(argument, "%s", why);
	if (secret && S_ISREG(stat.st_mode) && (stat.st_mode & S_IROTH) != 0)
		option_refuse(argument, "others can read it; use chmod o-r");
	while ((n = read(fd, room + length, size - length)) > 0)
		length += (size_t)n;
	if (n == -1)
		option_refuse(argument, "%s", error_words(errno));
	close(fd);
	return length;
}

/*
 * Words, files and variables
 */

/* Whether one letter left out, added, changed, or swapped with the next one is
 * all that is wrong with what was typed. */
static bool
is_slip(const char *typed, size_t length, const char *name)
{
	size_t rest = strlen(name);

	while (length > 0 && rest > 0 && *typed == *name) {
		typed++;
		name++;
		length--;
		rest--;
	}
	while (length > 0 && rest > 0 && typed[length - 1] == name[rest - 1]) {
		length--;
		rest--;
	}
	return (length <= 1 && rest <= 1) ||
	    (length == 2 && rest == 2 && typed[0] == name[1] &&
		typed[1] == name[0]);
}

/*
 * The option to suggest for an unknown name: the option that has this name in
 * another tool, the only one that begins with it, or one with a slip. NULL:
 * none.
 */
static const char *
suggest(const struct option *table, const char *typed, size_t length)
{
	const char *begins = NULL, *near = NULL;
	int count = 0;

	for (; table->name[0] != '\0'; table++) {
		const char *alias = table->aliases;

		while (*alias != '\0') {
			size_t end = strcspn(alias, " ");

			if (end == length && strncmp(alias, typed, end) == 0)
				return table->name;
			alias += end + strspn(alias + end, " ");
		}
		if (strncmp(table->name, typed, length) == 0) {
			begins = table->name;
			count++;
		}
		if (is_slip(typed, length, table->name))
			near = table->name;
	}
	return count == 1 ? begins : count == 0 ? near : NULL;
}

/* Refuses length bytes of typed as an option that is not in the table. The user
 * may have meant that of the name; NULL: none. */
static _Noreturn void
refuse_unknown(const struct parser *parser, const char *typed, size_t length,
    const char *meant)
{
	struct writer writer = { .to = STDERR_FILENO };
	const char *location = parser->location;

	writer_put_all(&writer,
	    STRINGS("retry: ", location == NULL ? "" : location,
		location == NULL ? "" : ": "));
	put_quoted(&writer, "unknown option ", typed, length);
	if (meant != NULL)
		writer_put_all(&writer,
		    STRINGS("; did you mean '", location == NULL ? "--" : "",
			meant, "'?"));
	finish(&writer);
}

/* The next word, as the argument of an option. */
static const char *
take_word(struct parser *parser, const struct argument *argument)
{
	const char *implied = argument->option->implied, *next = *parser->next;

	if (*implied != '\0' &&
	    (next == NULL || (next[0] == '-' && next[1] != '\0')))
		return implied;
	if (next == NULL)
		option_refuse(argument, "needs an argument");
	parser->next++;
	/* Behind "=" it would be a text like any other. */
	return *implied != '\0' && strcmp(next, implied) == 0 ? implied : next;
}

static const struct option *
find_letter(const struct option *table, char letter)
{
	while (table->name[0] != '\0' && table->letter != letter)
		table++;
	return table->name[0] == '\0' ? NULL : table;
}

/* Reads "--name" or "--name=text"; a line of a file has no dashes. */
static struct argument
read_long(struct parser *parser, const char *typed)
{
	const char *name = typed + (parser->location == NULL ? 2 : 0);
	size_t length = (size_t)(strchrnul(name, '=') - name);
	const struct option *option = option_find(parser->table, name, length);
	struct argument argument = { option, .location = parser->location };

	if (option == NULL && strncmp(name, "no-", 3) == 0) {
		option = option_find(parser->table, name + 3, length - 3);
		if (option != NULL && option->type == OPTION_PRINT)
			option = NULL;
		argument = (struct argument){ option, typed,
			.location = parser->location, .off = true };
		if (option != NULL && option->argument[0] != '\0')
			option_refuse(&argument,
			    "takes an argument, so there is no form with no-");
	}
	if (option == NULL)
		refuse_unknown(parser, typed, length + (size_t)(name - typed),
		    suggest(parser->table, name, length));
	if (parser->location != NULL && option->command_line)
		option_refuse(&argument, "only allowed on the command line");
	if (option->argument[0] == '\0') {
		argument.text = typed;
		if (name[length] == '=')
			option_refuse(&argument, "takes no argument");
	} else if (name[length] == '=') {
		argument.text = name + length + 1;
	} else {
		argument.text = take_word(parser, &argument);
	}
	return argument;
}

/* Reads the next letter of a word such as "-vqn3". */
static struct argument
read_letter(struct parser *parser)
{
	const char *typed = parser->typed, *letter = parser->letter++;
	size_t length = (size_t)(strchrnul(typed, '=') - typed) - 1;
	/* The whole name of an option, with only one dash. */
	const struct option *dashed =
	    option_find(parser->table, typed + 1, length);
	struct argument argument = {
		.option = find_letter(parser->table, *letter),
	};

	if (argument.option == NULL ||
	    (dashed != NULL && argument.option->argument[0] != '\0'))
		refuse_unknown(parser, typed, strlen(typed),
		    dashed == NULL ? NULL : dashed->name);

	if (*parser->letter == '\0')
		parser->letter = NULL;
	if (argument.option->argument[0] == '\0') {
		argument.text = typed;
		return argument;
	}
	argument.text = parser->letter != NULL ? parser->letter
					       : take_word(parser, &argument);
	parser->letter = NULL;
	return argument;
}

/* Reads the next option. False where the options end. */
static bool
next_argument(struct parser *parser, struct argument *argument)
{
	const char *typed = *parser->next;

	if (parser->letter == NULL) {
		/* A single dash is an operand: POSIX, Utility Syntax Guideline
		 * 13. */
		if (typed == NULL || typed[0] != '-' || typed[1] == '\0')
			return false;
		parser->next++;
		if (strcmp(typed, "--") == 0) {
			parser->policy->dashed = true;
			return false;
		}
		parser->typed = typed;
		parser->letter = typed[1] == '-' ? NULL : typed + 1;
	}
	*argument = parser->letter == NULL ? read_long(parser, typed)
					   : read_letter(parser);
	return true;
}

/* Takes note of an option that was given, and stores its argument. */
static void
take(const struct parser *parser, const struct argument *argument)
{
	if (parser->given != NULL)
		parser->given[argument->option - parser->table] = *argument;
	parser->store(argument, parser->policy, parser->given);
}

/* The path of the file that --policy, or its variable, names; maybe in room. */
static const char *
find_file(char room[PATH_MAX], const struct argument *argument)
{
	const char *name = argument->text;

	if (strchr(name, '/') != NULL)
		return name;
	if (!config_find(room, CONFIG_POLICY, name))
		option_refuse(
		    argument, "no such policy; a path must contain a '/'");
	return room;
}

/* Stores the options in the file whose path is the argument's text. What they
 * have of it, and the locations of its lines, are never freed. */
static void
read_lines(const struct parser *parser, const struct argument *file)
{
	char shown[LOCATION - NUMBER_ROOM], *none = NULL;
	const char *path = file->text, *limit = shown + sizeof shown - 1;
	struct parser lines = *parser;
	struct argument line;
	char *text, *end, *next, *location;
	size_t length;

	text = option_allocate(file, OPTION_FILE_MOST + 1);
	length = option_read_file(file, text, OPTION_FILE_MOST + 1, false);
	if (length > OPTION_FILE_MOST)
		option_refuse(file, "longer than 64 KiB");
	end = text + length;
	*end = '\0';

	*escape_put(ESCAPE_LINE, shown, limit, path, strlen(path)) = '\0';

	lines.next = &none;
	for (int64_t number = 1; text < end; number++, text = next + 1) {
		next = memchr(text, '\n', (size_t)(end - text));
		if (next == NULL)
			next = end;
		*next = '\0';
		if (next > text && next[-1] == '\r')
			next[-1] = '\0';
		text += strspn(text, " \t");
		if (*text == '\0' || *text == '#')
			continue;
		location = option_allocate(file, LOCATION);
		snprintf(location, LOCATION, "%s:%" PRId64, shown, number);
		lines.location = location;
		line = read_long(&lines, text);
		take(&lines, &line);
	}
}

/* The same for the file that --policy, or its variable, names. */
static void
read_file(const struct parser *parser, const struct argument *argument)
{
	struct argument file = *argument;
	char room[PATH_MAX];

	file.text = find_file(room, argument);
	read_lines(parser, &file);
}

void
option_parse_file(const struct option *table, option_storing *store,
    const struct argument *file, struct policy *policy, struct argument given[])
{
	struct parser parser = { table, store, policy, given, .next = NULL };

	read_lines(&parser, file);
}

/* The text of an option's variable; it is NULL if that is unset or empty. */
static struct argument
by_variable(const struct option *option)
{
	struct argument argument = { option, .by_variable = true };

	if (option->variable[0] != '\0')
		argument.text = getenv(option->variable);
	if (argument.text != NULL && *argument.text == '\0')
		argument.text = NULL;
	return argument;
}

char **
option_parse(const struct option *table, option_storing *store, char **argv,
    struct policy *policy, struct argument given[])
{
	struct parser parser = { table, store, policy, given,
		.next = argv + 1 };
	struct parser early = parser;
	const struct option *file = table;
	struct argument argument;
	char **own = environ;

	/* First all files, so that the command line overrides them. Help works
	 * here, too, before an argument is found to be bad. */
	while (next_argument(&early, &argument)) {
		if (argument.option->type == OPTION_FILE)
			read_file(&early, &argument);
		if (argument.option->type == OPTION_FILE ||
		    argument.option->type == OPTION_PRINT)
			take(&early, &argument);
	}

	/* Without a file that was named, the one that a variable names. Options
	 * that have a variable of their own then count as not given. */
	while (file->type != OPTION_FILE)
		file++;
	argument = by_variable(file);
	if (given[file - table].text == NULL && argument.text != NULL) {
		read_file(&early, &argument);
		for (size_t i = 0; table[i].name[0] != '\0'; i++)
			if (by_variable(&table[i]).text != NULL)
				given[i].text = NULL;
	}

	early = parser;
	while (next_argument(&early, &argument))
		if (argument.option->type == OPTION_WAIT)
			take(&early, &argument);
	while (next_argument(&parser, &argument))
		if (argument.option->type != OPTION_WAIT)
			take(&parser, &argument);

	/* Most callers set no variable of retry. */
	while (own != NULL && *own != NULL && strncmp(*own, "RETRY_", 6) != 0)
		own++;
	if (own == NULL || *own == NULL)
		return parser.next;
	for (size_t i = 0; table[i].name[0] != '\0'; i++) {
		argument = by_variable(&table[i]);
		if (given[i].text == NULL && argument.text != NULL)
			take(&parser, &argument);
	}
	return parser.next;
}
