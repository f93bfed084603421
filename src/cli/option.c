#include "cli/option.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
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
#include "text/number.h"
#include "text/signame.h"

/* Bytes of a quoted text; two such texts fit into a line, even if escaped. */
#define QUOTE_MOST 400

/* Room for the name of an option and its location, and for a reason. */
#define NAME_ROOM (OPTION_LOCATION + 40)
#define WHY_ROOM 200

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
	bool valid;

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
		valid = number_decimal(text, length, scale, &number);
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
	if (scale > 0 && !number_exact(text, length, scale))
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
		/* An empty text undoes the same option in a policy file. */
		*(const char **)field = *text == '\0' ? NULL : text;
	} else if (type >= OPTION_WHOLE && type <= OPTION_SIZE) {
		/* What depends on others is found where it is not given. */
		if (!argument->implied || *text != '\0')
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
	at = escape_put(
	    ESCAPE_LINE, at, at + OPTION_QUOTED / 2 - 20, text, shown);
	return stpcpy(at, shown < length ? "...'" : "'");
}

char *
option_quote(
    char room[OPTION_QUOTED], const char *item, size_t length, const char *text)
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

	/* Without a reader of the message, SIGPIPE would change the exit
	 * status. */
	sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	va_start(values, format);
	vsnprintf(line, sizeof line, format, values);
	va_end(values);
	/* Each line is one write(2). */
	writer_put_all(&writer, STRINGS("retry: ", line, "\n"));
	writer_flush(&writer);
	writer_put_all(&writer,
	    STRINGS("Try '", sys_program(), " -h' for more information.\n"));
	writer_flush(&writer);
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
	char name[NAME_ROOM], why[WHY_ROOM], quoted[OPTION_QUOTED];
	va_list values;

	va_start(values, format);
	vsnprintf(why, sizeof why, format, values);
	va_end(values);
	name_of(name, argument);
	if (text != NULL)
		option_fail("%s: %s: %s", name, why,
		    option_quote(quoted, text, strlen(text), text));
	option_fail("%s: %s", name, why);
}

void
option_refuse_item(const struct argument *argument, const char *why,
    const char *item, size_t length, const char *pattern)
{
	const char *text = argument->text;
	char name[NAME_ROOM], quoted[OPTION_QUOTED], offer[OPTION_QUOTED];

	name_of(name, argument);
	if (length == 0)
		option_fail("%s: %s in %s", name, why,
		    option_quote(quoted, text, strlen(text), text));
	option_quote(quoted, item, length, text);
	if (pattern != NULL)
		option_fail("%s: %s: %s; as a pattern: %s", name, why, quoted,
		    option_quote(offer, pattern, strlen(pattern), pattern));
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
