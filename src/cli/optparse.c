#include "cli/optparse.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "exit_status.h"
#include "sys/sys.h"
#include "output/writer.h"
#include "text/spelling.h"

/* How the names of all variables of rows begin. */
#define VARIABLES "RETRY_"

/* Room for a place and the longest name. */
#define PLACED_ROOM (OPTPARSE_PLACE + 32)

/* Where optparse_take is. */
struct reading {
	const struct optparse *optparse;
	char **next; /* the first word not looked at */
	void *into;
	const char **said;
	const char *place; /* of a line in a file; NULL: a command line */
	bool seeking; /* files of options, not yet the options */
};

/* Each line is a write of its own, as all of retry's lines are. */
static _Noreturn void
end_usage(struct writer *writer)
{
	/* Whether or not anybody reads it, the status is what counts. */
	sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	writer_put(writer, "\n");
	writer_flush(writer);
	writer_put(writer, "Try '");
	writer_put(writer, sys_program());
	writer_put(writer, " --help' for more information.\n");
	writer_flush(writer);
	_exit(EXIT_STATUS_FAILED);
}

static void
begin_option(struct writer *writer, const struct row *row, const char *why)
{
	writer_put(writer, "retry: ");
	if (row->letter != ':')
		writer_put(writer, row->letter == '$' ? "$" : "--");
	writer_put(writer, row->name);
	writer_put(writer, ": ");
	writer_put(writer, why);
}

void
optparse_refuse(const struct row *row, const char *why, const char *text)
{
	struct writer writer = { .to = STDERR_FILENO };

	begin_option(&writer, row, why);
	writer_put(&writer, ": ");
	writer_put_quoted(&writer, text, strlen(text));
	end_usage(&writer);
}

void
optparse_refuse_item(const struct row *row, const char *why, const char *item,
    size_t length, const char *text)
{
	struct writer writer = { .to = STDERR_FILENO };
	size_t whole = strlen(text);

	if (length == whole && whole > 0)
		optparse_refuse(row, why, text);
	begin_option(&writer, row, why);
	if (length > 0) {
		writer_put(&writer, ": ");
		writer_put_quoted(&writer, item, length);
	}
	writer_put(&writer, " in ");
	writer_put_quoted(&writer, text, whole);
	end_usage(&writer);
}

void
optparse_refuse_all(const char *why)
{
	struct writer writer = { .to = STDERR_FILENO };

	writer_put(&writer, "retry: ");
	writer_put(&writer, why);
	end_usage(&writer);
}

size_t
optparse_choice(const struct row *row, const char *why,
    const char *const *names, const char *text)
{
	for (size_t i = 0; names[i] != NULL; i++)
		if (strcmp(names[i], text) == 0)
			return i;
	optparse_refuse(row, why, text);
}

static bool
same(const char *name, const char *typed, size_t length)
{
	return strncmp(name, typed, length) == 0 && name[length] == '\0';
}

/* The option of which this is a slip, where it is of one only, or NULL. */
static const char *
nearest(const struct optparse *optparse, const char *typed, size_t length)
{
	size_t least = SPELLING_FAR;
	const char *found = NULL;

	for (size_t i = 0; i < optparse->count; i++) {
		const char *name = optparse->rows[i].name;
		size_t slips = spelling_slips(typed, length, name);

		if (slips < least)
			found = name;
		else if (slips == least)
			found = NULL;
		least = slips < least ? slips : least;
	}
	return found;
}

/*
 * The option that somebody who typed this had in mind: another tool's name
 * for it, the only one that begins so, or the nearest. NULL if there is no
 * telling.
 */
static const char *
meant(const struct optparse *optparse, const char *typed, size_t length)
{
	const char *found = NULL;

	for (const struct alias *a = optparse->aliases; a->name != NULL; a++)
		if (same(a->name, typed, length))
			return a->ours;
	for (size_t i = 0; i < optparse->count; i++) {
		if (strncmp(optparse->rows[i].name, typed, length) != 0)
			continue;
		if (found != NULL)
			return NULL;
		found = optparse->rows[i].name;
	}
	return found != NULL ? found : nearest(optparse, typed, length);
}

/* The end of a message about what is unknown, with what was meant, or NULL. */
static _Noreturn void
end_unknown(struct writer *writer, const char *dashes, const char *ours)
{
	if (ours != NULL) {
		writer_put(writer, "; did you mean '");
		writer_put(writer, dashes);
		writer_put(writer, ours);
		writer_put(writer, "'?");
	}
	end_usage(writer);
}

static _Noreturn void
refuse_long(const struct reading *reading, const char *typed, size_t length)
{
	struct writer writer = { .to = STDERR_FILENO };
	size_t dashes = reading->place == NULL ? 2 : 0;
	const char *ours =
	    meant(reading->optparse, typed + dashes, length - dashes);

	/* A name of one letter is a letter without its dash. */
	for (size_t i = 0; i < reading->optparse->count && length == 1; i++)
		if (reading->optparse->rows[i].letter == *typed)
			ours = reading->optparse->rows[i].name;
	writer_put(&writer, "retry: ");
	if (reading->place != NULL) {
		writer_put(&writer, reading->place);
		writer_put(&writer, ": ");
	}
	writer_put(&writer, "unknown option ");
	writer_put_quoted(&writer, typed, length);
	end_unknown(&writer, dashes == 0 ? "" : "--", ours);
}

/* The option whose whole name stands behind one dash, or NULL. */
static const char *
find_dashed(const struct optparse *optparse, const char *typed)
{
	for (size_t i = 0; i < optparse->count; i++)
		if (same(optparse->rows[i].name, typed + 1,
			strcspn(typed + 1, "=")))
			return optparse->rows[i].name;
	return NULL;
}

static _Noreturn void
refuse_letter(
    const struct optparse *optparse, const char *typed, const char *letter)
{
	struct writer writer = { .to = STDERR_FILENO };
	const char *ours = find_dashed(optparse, typed);

	writer_put(&writer, "retry: unknown option ");
	/* A byte of a longer character is no text by itself. */
	if (ours == NULL && (*letter & 0x80) == 0 && strlen(typed) > 2) {
		const char dashed[] = { '-', *letter };

		writer_put_quoted(&writer, dashed, sizeof dashed);
		writer_put(&writer, " in ");
	}
	writer_put_quoted(&writer, typed, strlen(typed));
	end_unknown(&writer, "--", ours);
}

/* Where there is no text that could be to blame. */
static _Noreturn void
refuse_bare(const struct row *row, const char *why)
{
	struct writer writer = { .to = STDERR_FILENO };

	begin_option(&writer, row, why);
	end_usage(&writer);
}

/* Takes text for the row at found, or for row, a copy that says more of it. */
static void
store(struct reading *reading, const struct row *found, const struct row *row,
    const char *text)
{
	const struct optparse *optparse = reading->optparse;
	size_t at = (size_t)(found - optparse->rows);

	if (reading->seeking && at == optparse->file)
		optparse->follow(optparse, text, reading->into, reading->said);
	if (reading->seeking && at < optparse->last)
		return;
	reading->said[at] = text;
	row->take(row, text, (char *)reading->into + row->field);
}

static const char *
next_word(struct reading *reading, const struct row *row)
{
	if (*reading->next == NULL)
		refuse_bare(row, "needs an argument");
	return *reading->next++;
}

/* The option that the first length bytes of typed name, dashes included. */
static const struct row *
find_long(const struct reading *reading, const char *typed, size_t length)
{
	const struct optparse *optparse = reading->optparse;
	size_t dashes = reading->place == NULL ? 2 : 0;

	for (size_t i = 0; i < optparse->count; i++)
		if (same(optparse->rows[i].name, typed + dashes,
			length - dashes))
			return &optparse->rows[i];
	refuse_long(reading, typed, length);
}

/* The option of one letter within typed. */
static const struct row *
find_letter(
    const struct optparse *optparse, const char *typed, const char *letter)
{
	for (size_t i = 0; i < optparse->count; i++)
		if (optparse->rows[i].letter == *letter)
			return &optparse->rows[i];
	refuse_letter(optparse, typed, letter);
}

/* The row at found, as messages about a line are to have it. */
static struct row
placed(const struct reading *reading, const struct row *found,
    char room[PLACED_ROOM])
{
	const struct optparse *optparse = reading->optparse;
	const char *place = reading->place;
	size_t length = strlen(place);
	struct row row = *found;

	memcpy(room, place, length);
	memcpy(room + length, ": ", 2);
	memcpy(room + length + 2, found->name, strlen(found->name) + 1);
	row.name = room;
	row.letter = ':';
	for (const size_t *typed = optparse->typed; *typed < optparse->count;
	     typed++)
		if (found == &optparse->rows[*typed])
			refuse_bare(&row, "only on a command line");
	return row;
}

static void
take_long(struct reading *reading, const char *typed)
{
	size_t length = strcspn(typed, "=");
	const char *text = typed[length] == '=' ? typed + length + 1 : NULL;
	const struct row *found = find_long(reading, typed, length);
	char room[PLACED_ROOM];
	struct row row =
	    reading->place == NULL ? *found : placed(reading, found, room);

	if (row.argument == NULL && text != NULL)
		optparse_refuse(&row, "takes no argument", typed);
	if (row.argument == NULL)
		text = typed;
	else if (text == NULL)
		text = next_word(reading, &row);
	store(reading, found, &row, text);
}

static void
take_letters(struct reading *reading, const char *typed)
{
	for (const char *letter = typed + 1; *letter != '\0'; letter++) {
		const struct row *row =
		    find_letter(reading->optparse, typed, letter);

		if (row->argument != NULL && letter == typed + 1 &&
		    find_dashed(reading->optparse, typed) != NULL)
			refuse_letter(reading->optparse, typed, letter);
		if (row->argument != NULL) {
			store(reading, row, row,
			    letter[1] != '\0' ? letter + 1
					      : next_word(reading, row));
			return;
		}
		store(reading, row, row, typed);
	}
}

/* Takes the next word and its argument. False where the options end. */
static bool
take_word(struct reading *reading)
{
	const char *typed = *reading->next;

	/* A lone dash is an operand, as everywhere. */
	if (typed == NULL || typed[0] != '-' || typed[1] == '\0')
		return false;
	reading->next++;
	if (strcmp(typed, "--") == 0)
		return false;
	if (typed[1] == '-')
		take_long(reading, typed);
	else
		take_letters(reading, typed);
	return true;
}

void
optparse_take_line(const struct optparse *optparse, const char *place,
    const char *line, void *into, const char *said[])
{
	char *none = NULL;
	struct reading reading = { optparse, &none, into, said, place, false };

	take_long(&reading, line);
}

/* Nearly always there is none, and to know that is enough. */
static bool
any_variable(void)
{
	for (char **at = environ; at != NULL && *at != NULL; at++)
		if (strncmp(*at, VARIABLES, strlen(VARIABLES)) == 0)
			return true;
	return false;
}

static void
take_variable(const struct reading *reading, const struct variable *variable)
{
	const char *text = getenv(variable->name);
	struct row row = reading->optparse->rows[variable->row];

	row.name = variable->name;
	row.letter = '$';
	if (text != NULL && *text != '\0')
		row.take(&row, text, (char *)reading->into + row.field);
}

static void
take_variables(const struct reading *reading)
{
	const struct variable *variable = reading->optparse->variables;

	if (!any_variable())
		return;
	for (; variable->name != NULL; variable++)
		if (reading->said[variable->row] == NULL)
			take_variable(reading, variable);
}

char **
optparse_take(const struct optparse *optparse, char **argv, void *into,
    const char *said[])
{
	struct reading seeking = { optparse, argv + 1, into, said, NULL, true };
	struct reading reading = { optparse, argv + 1, into, said, NULL,
		false };

	while (take_word(&seeking))
		continue;
	while (take_word(&reading))
		continue;
	take_variables(&reading);
	return reading.next;
}
