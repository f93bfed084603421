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
#include "exit_status.h"
#include "output/writer.h"
#include "policy/policy.h"
#include "sys/procfs.h"
#include "sys/sys.h"
#include "text/escape.h"
#include "text/number.h"
#include "text/signame.h"

/* Room for a location, the closing NUL included. */
#define LOCATION 256

/* Room for a part of a text and the text, both quoted. */
#define QUOTED 3400

/* Bytes of a quoted text; two such texts fit into a line, even if escaped. */
#define QUOTE_MOST 400

/* Room for the name of an option and its location, and for a reason. */
#define NAME_ROOM (LOCATION + 40)
#define WHY_ROOM 200

/* A name with too many typing mistakes: it is not meant. */
#define FAR INT64_MAX

/* The bytes of a path in a location, which has the line's number too; up to
 * three more, so that no character is cut. */
#define NAME_MOST 150

/* More letters than any name of an option has. */
#define LETTERS 32

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
	bool valid, exact = true;

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
		valid = number_exact(text, length, scale, &number, &exact);
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
	/* What would be rounded away may be what the user meant. */
	if (!exact)
		option_refuse(argument, "%s",
		    option->type == OPTION_SIZE ? "not a whole number of bytes"
						: "finer than 0.000001");
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

/*
 * Puts text between single quotes, and returns the end. A newline or an escape
 * sequence in it could look like a line of retry, and a long text could make
 * the line too long for one atomic write.
 */
static char *
quote(char *at, const char *text, size_t length)
{
	size_t shown = escape_cut(text, length, QUOTE_MOST);

	*at++ = '\'';
	at = escape_put(ESCAPE_LINE, at, at + QUOTED / 2 - 20, text, shown);
	return stpcpy(at, shown < length ? "...'" : "'");
}

/*
 * Quotes length bytes at item, for messages: "'item'", or "'item' in 'text'" if
 * that is not all of text (NULL: it is). Control bytes are escaped, and what is
 * too long for a message is cut. Returns room.
 */
static char *
quote_item(char room[QUOTED], const char *item, size_t length, const char *text)
{
	char *end = quote(room, item, length);

	if (text != NULL && length != strlen(text))
		quote(stpcpy(end, " in "), text, strlen(text));
	return room;
}

void
option_fail(const char *format, ...)
{
	struct writer writer = { .to = STDERR_FILENO };
	char line[PIPE_BUF - sizeof "retry: \n"];
	va_list values;

	va_start(values, format);
	vsnprintf(line, sizeof line, format, values);
	va_end(values);
	/* Each line is one write(2). */
	writer_put_all(&writer, STRINGS("retry: ", line, "\n"));
	writer_say(&writer);
	writer_put_all(&writer,
	    STRINGS("Try '", sys_program(), " -h' for more information.\n"));
	writer_say(&writer);
	_exit(EXIT_STATUS_FAILED);
}

/* What a message calls an option, and where it was given. */
static const char *
name_of(char room[NAME_ROOM], const struct argument *argument)
{
	const struct option *option = argument->option;

	if (argument->by_variable)
		snprintf(room, NAME_ROOM, "$%s", option->variable);
	else if (argument->location == NULL)
		snprintf(room, NAME_ROOM, "--%s", option->name);
	else
		snprintf(room, NAME_ROOM, "%s%s%s", argument->location,
		    option == NULL ? "" : ": ",
		    option == NULL ? "" : option->name);
	return room;
}

void
option_refuse(const struct argument *argument, const char *format, ...)
{
	const char *text = argument->text;
	char name[NAME_ROOM], why[WHY_ROOM], quoted[QUOTED];
	va_list values;

	va_start(values, format);
	vsnprintf(why, sizeof why, format, values);
	va_end(values);
	name_of(name, argument);
	if (text != NULL)
		option_fail("%s: %s: %s", name, why,
		    quote_item(quoted, text, strlen(text), text));
	option_fail("%s: %s", name, why);
}

void
option_refuse_item(const struct argument *argument, const char *why,
    const char *item, size_t length, const char *pattern)
{
	const char *text = argument->text;
	char name[NAME_ROOM], quoted[QUOTED], offer[QUOTED];

	name_of(name, argument);
	if (length == 0)
		option_fail("%s: %s in %s", name, why,
		    quote_item(quoted, text, strlen(text), text));
	quote_item(quoted, item, length, text);
	if (pattern != NULL)
		option_fail("%s: %s: %s; as a pattern: %s", name, why, quoted,
		    quote_item(offer, pattern, strlen(pattern), pattern));
	option_fail("%s: %s: %s", name, why, quoted);
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
	size_t length = 0;
	struct stat stat;
	ssize_t n;

	if (fd == -1 || fstat(fd, &stat) == -1)
		option_refuse(argument, "%s", strerror(errno));
	if (!S_ISREG(stat.st_mode) && !S_ISDIR(stat.st_mode)) {
		if (secret || procfs_descriptor(path) == -1)
			option_refuse(argument, "not a regular file");
		fcntl(fd, F_SETFL, O_RDONLY);
	}
	if (secret && S_ISREG(stat.st_mode) && (stat.st_mode & S_IROTH) != 0)
		option_refuse(argument, "others can read it; use chmod o-r");
	while ((n = read(fd, room + length, size - length)) > 0)
		length += (size_t)n;
	if (n == -1)
		option_refuse(argument, "%s", strerror(errno));
	close(fd);
	return length;
}

/*
 * Words, files and variables
 */

/*
 * How many mistakes turn name into what was typed. A mistake is a letter left
 * out, added, changed, or swapped with the next one. FAR if there are more than
 * three, or more than a third of length; but one is always allowed.
 *
 * This is the optimal string alignment distance: slips[i][j] is the number of
 * mistakes between the first i letters that were typed and the first j letters
 * of name.
 */
static int64_t
count_slips(const char *typed, size_t length, const char *name)
{
	int64_t most = length < 6 ? 1 : number_lesser((int64_t)length / 3, 3);
	int64_t slips[LETTERS + 1][LETTERS + 1] = { { 0 } };
	size_t letters = strlen(name);

	if (length > LETTERS || letters > LETTERS)
		return FAR;
	for (size_t i = 0; i <= length; i++)
		for (size_t j = 0; j <= letters; j++) {
			int64_t least = (int64_t)(i + j);

			if (i > 0 && j > 0) {
				least = number_lesser(
					    slips[i - 1][j], slips[i][j - 1]) +
				    1;
				least = number_lesser(least,
				    slips[i - 1][j - 1] +
					(typed[i - 1] != name[j - 1]));
			}
			if (i > 1 && j > 1 && typed[i - 1] == name[j - 2] &&
			    typed[i - 2] == name[j - 1])
				least = number_lesser(
				    least, slips[i - 2][j - 2] + 1);
			slips[i][j] = least;
		}
	return slips[length][letters] > most ? FAR : slips[length][letters];
}

/*
 * The option to suggest for an unknown name: the option that has this name in
 * another tool, the only one that begins with it, or the only one that is
 * nearest in spelling. NULL: none.
 */
static const char *
suggest(const struct option *table, const char *typed, size_t length)
{
	const char *begins = NULL, *nearest = NULL;
	int64_t least = FAR;
	int count = 0;

	for (; table->name[0] != '\0'; table++) {
		const char *alias = table->aliases;
		int64_t slips = count_slips(typed, length, table->name);

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
		if (slips <= least)
			nearest = slips < least ? table->name : NULL;
		least = number_lesser(least, slips);
	}
	return count == 1 ? begins : count == 0 ? nearest : NULL;
}

/*
 * Refuses length bytes of typed as an option that is not in the table. whole is
 * the word that they are in, if that is to be shown, too; meant is the name of
 * the option that the user may have meant. Both may be NULL.
 */
static _Noreturn void
refuse_unknown(const struct parser *parser, const char *typed, size_t length,
    const char *whole, const char *meant)
{
	const char *location = parser->location;
	char quoted[QUOTED];

	option_fail("%s%sunknown option %s%s%s%s%s",
	    location == NULL ? "" : location, location == NULL ? "" : ": ",
	    quote_item(quoted, typed, length, whole),
	    meant == NULL ? "" : "; did you mean '",
	    meant == NULL || location != NULL ? "" : "--",
	    meant == NULL ? "" : meant, meant == NULL ? "" : "'?");
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
	if (option == NULL) {
		const char *meant = suggest(parser->table, name, length);

		/* In a file, n is -n without its dash. */
		if (name == typed && length == 1)
			option = find_letter(parser->table, *name);
		length += (size_t)(name - typed);
		refuse_unknown(parser, typed, length, NULL,
		    option != NULL ? option->name : meant);
	}
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
	/* The whole name of an option, with only one dash. No name is a letter
	 * alone. */
	const struct option *dashed =
	    length == 1 ? NULL : option_find(parser->table, typed + 1, length);
	struct argument argument = {
		.option = find_letter(parser->table, *letter),
	};

	if (dashed != NULL &&
	    (argument.option == NULL || argument.option->argument[0] != '\0'))
		refuse_unknown(
		    parser, typed, strlen(typed), NULL, dashed->name);
	/* One byte of a longer UTF-8 character must not be shown alone. */
	if (argument.option == NULL && (*letter & 0x80) != 0)
		refuse_unknown(parser, typed, strlen(typed), NULL, NULL);
	if (argument.option == NULL)
		refuse_unknown(
		    parser, (const char[]){ '-', *letter }, 2, typed, NULL);

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
		if (strcmp(typed, "--") == 0)
			return false;
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
	parser->given[argument->option - parser->table] = *argument;
	parser->store(argument, parser->policy, parser->given);
}

/* Looks for name.conf in a directory. False where there is no such file. */
static bool
look_in(char path[PATH_MAX], const char *directory, const char *below,
    const char *name)
{
	/* A relative path would depend on the working directory. */
	return directory != NULL && *directory == '/' &&
	    snprintf(path, PATH_MAX, "%s%s/retry/%s.conf", directory, below,
		name) < PATH_MAX &&
	    (access(path, F_OK) == 0 || errno == EACCES);
}

/* Finds the path of the file that --policy, or its variable, has given. */
static void
find_file(char path[PATH_MAX], const struct argument *argument)
{
	const char *name = argument->text;

	if (*name == '\0')
		option_refuse(argument, "not a policy's name");
	if (strlen(name) >= PATH_MAX)
		option_refuse(argument, "%s", strerror(ENAMETOOLONG));
	if (strchr(name, '/') != NULL)
		stpcpy(path, name);
	else if (!look_in(path, getenv("XDG_CONFIG_HOME"), "", name) &&
	    !look_in(path, getenv("HOME"), "/.config", name) &&
	    !look_in(path, "/etc", "", name))
		option_refuse(
		    argument, "no such policy; a path must contain a '/'");
}

/*
 * Stores the option in a line of the file, if it has one. number is the line's,
 * and length is without its newline.
 */
static void
read_line(struct parser *parser, const char *file, int64_t number, char *line,
    size_t length)
{
	struct argument argument = { .text = line, .location = file };
	size_t room = strlen(file) + NUMBER_ROOM + 1, name, blank;
	bool nul = strlen(line) < length;
	char *location;

	if (length > 0 && line[length - 1] == '\r')
		line[length - 1] = '\0';
	line += strspn(line, " \t");
	if (!nul && (*line == '\0' || *line == '#'))
		return;
	location = option_allocate(&argument, room);
	snprintf(location, room, "%s:%" PRId64, file, number);
	argument.location = parser->location = location;
	if (nul)
		option_refuse(&argument, "contains a NUL byte");

	argument.text = line;
	name = strcspn(line, "=");
	blank = strcspn(line, " \t");
	if (blank + strspn(line + blank, " \t") == name && line[name] == '=' &&
	    0 < blank && blank < name)
		option_refuse(&argument, "blanks around = are not allowed");
	if (name == 0 || *line == '-' || blank < name)
		option_refuse(&argument, "neither option nor option=value");
	argument = read_long(parser, line);
	take(parser, &argument);
}

/*
 * Stores the options in the file that the argument names. Its text and the
 * locations of its lines are never freed.
 */
static void
read_file(const struct parser *parser, const struct argument *argument)
{
	char path[PATH_MAX], shown[LOCATION], *none = NULL;
	const char *limit = shown + sizeof shown - NUMBER_ROOM - 1, *tail;
	struct parser lines = *parser;
	struct argument file = *argument;
	char *text, *end, *next, *at = shown;
	size_t length;

	find_file(path, argument);
	file.text = path;
	text = option_allocate(&file, OPTION_FILE_MOST + 1);
	length = option_read_file(&file, text, OPTION_FILE_MOST + 1, false);
	if (length > OPTION_FILE_MOST)
		option_refuse(&file, "longer than 64 KiB");
	end = text + length;
	*end = '\0';

	/* Of a long path only the end is shown. */
	length = strlen(path);
	tail = path;
	if (length > NAME_MOST) {
		at = stpcpy(at, "...");
		tail += escape_cut(path, length, length - NAME_MOST);
	}
	*escape_put(ESCAPE_LINE, at, limit, tail, strlen(tail)) = '\0';

	lines.next = &none;
	for (int64_t number = 1; text < end; number++, text = next + 1) {
		next = memchr(text, '\n', (size_t)(end - text));
		if (next == NULL)
			next = end;
		*next = '\0';
		read_line(&lines, shown, number, text, (size_t)(next - text));
	}
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

	for (size_t i = 0; table[i].name[0] != '\0'; i++) {
		argument = by_variable(&table[i]);
		if (given[i].text == NULL && argument.text != NULL)
			take(&parser, &argument);
	}
	return parser.next;
}
