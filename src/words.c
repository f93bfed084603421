#include "words.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include "lines.h"

/* Of a quoted text; two of them fit in a line, escaped. */
#define QUOTE_MOST 400

/* Where the help texts begin: two blanks after the longest option. */
#define HELP_COLUMN 28

/*
 * Text on its way out, in as few writes as possible: more than a page could
 * be torn by another's writing in any case. Not printf, which touches some
 * 200 kB of memory.
 */
struct page {
	int to; /* descriptor */
	int error; /* of the first write that failed, or 0 */
	size_t used;
	char bytes[PIPE_BUF];
};

/* Where words_take is. */
struct reading {
	const struct words *words;
	char **next; /* the first word not looked at */
	void *into;
	const char **said;
};

static void
flush(struct page *page)
{
	size_t done = 0;

	while (done < page->used && page->error == 0) {
		ssize_t n =
		    write(page->to, page->bytes + done, page->used - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			page->error = errno;
	}
	page->used = 0;
}

static void
put_bytes(struct page *page, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (page->used == sizeof page->bytes)
			flush(page);
		page->bytes[page->used++] = bytes[i];
	}
}

static void
put(struct page *page, const char *text)
{
	put_bytes(page, text, strlen(text));
}

/*
 * A newline or an escape sequence in a quote would forge lines of ours, and a
 * long one would be more than one write can keep together.
 */
static void
put_quoted(struct page *page, const char *text, size_t length)
{
	bool cut = length > QUOTE_MOST;

	put(page, "'");
	for (size_t i = 0; i < (cut ? QUOTE_MOST : length); i++) {
		const char byte[] = { text[i], '\0' };
		char shown[4];
		char *end = lines_escape(shown, shown + sizeof shown, byte);

		put_bytes(page, shown, (size_t)(end - shown));
	}
	put(page, cut ? "...'" : "'");
}

/* Each line is a write of its own, as all of retry's lines are. */
static _Noreturn void
end_usage(struct page *page)
{
	/* Whether or not anybody reads it, the status is what counts. */
	sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	put(page, "\n");
	flush(page);
	put(page, "Try 'retry --help' for more information.\n");
	flush(page);
	_exit(WORDS_FAILED);
}

static void
begin_option(struct page *page, const struct row *row, const char *why)
{
	put(page, "retry: --");
	put(page, row->name);
	put(page, ": ");
	put(page, why);
}

void
words_refuse(const struct row *row, const char *why, const char *text)
{
	struct page page = { .to = STDERR_FILENO };

	begin_option(&page, row, why);
	put(&page, ": ");
	put_quoted(&page, text, strlen(text));
	end_usage(&page);
}

void
words_refuse_item(const struct row *row, const char *why, const char *item,
    size_t length, const char *text)
{
	struct page page = { .to = STDERR_FILENO };
	size_t whole = strlen(text);

	if (length == whole && whole > 0)
		words_refuse(row, why, text);
	begin_option(&page, row, why);
	if (length > 0) {
		put(&page, ": ");
		put_quoted(&page, item, length);
	}
	put(&page, " in ");
	put_quoted(&page, text, whole);
	end_usage(&page);
}

void
words_refuse_all(const char *why)
{
	struct page page = { .to = STDERR_FILENO };

	put(&page, "retry: ");
	put(&page, why);
	end_usage(&page);
}

static bool
same(const char *name, const char *typed, size_t length)
{
	return strncmp(name, typed, length) == 0 && name[length] == '\0';
}

/*
 * The option that somebody who typed this had in mind: another tool's name
 * for it, or the only one that begins so. NULL if there is no telling.
 */
static const char *
meant(const struct words *words, const char *typed, size_t length)
{
	const char *found = NULL;

	for (const struct alias *a = words->aliases; a->name != NULL; a++)
		if (same(a->name, typed, length))
			return a->ours;
	for (size_t i = 0; i < words->count; i++) {
		if (strncmp(words->rows[i].name, typed, length) != 0)
			continue;
		if (found != NULL)
			return NULL;
		found = words->rows[i].name;
	}
	return found;
}

static _Noreturn void
refuse_long(const struct words *words, const char *typed, size_t length)
{
	struct page page = { .to = STDERR_FILENO };
	const char *ours = meant(words, typed + 2, length - 2);

	put(&page, "retry: unknown option: ");
	put_quoted(&page, typed, length);
	if (ours != NULL) {
		put(&page, " (did you mean --");
		put(&page, ours);
		put(&page, "?)");
	}
	end_usage(&page);
}

static _Noreturn void
refuse_letter(const char *typed, const char *letter)
{
	struct page page = { .to = STDERR_FILENO };

	put(&page, "retry: unknown option: ");
	/* A byte of a longer character is no text by itself. */
	if ((*letter & 0x80) == 0 && strlen(typed) > 2) {
		const char dashed[] = { '-', *letter };

		put_quoted(&page, dashed, sizeof dashed);
		put(&page, " in ");
	}
	put_quoted(&page, typed, strlen(typed));
	end_usage(&page);
}

static _Noreturn void
refuse_missing(const struct row *row)
{
	struct page page = { .to = STDERR_FILENO };

	begin_option(&page, row, "needs an argument");
	end_usage(&page);
}

static void
store(struct reading *reading, const struct row *row, const char *text)
{
	reading->said[row - reading->words->rows] = text;
	row->take(row, text, (char *)reading->into + row->field);
}

static const char *
next_word(struct reading *reading, const struct row *row)
{
	if (*reading->next == NULL)
		refuse_missing(row);
	return *reading->next++;
}

/* The option that the first length bytes of typed name, dashes included. */
static const struct row *
find_long(const struct words *words, const char *typed, size_t length)
{
	for (size_t i = 0; i < words->count; i++)
		if (same(words->rows[i].name, typed + 2, length - 2))
			return &words->rows[i];
	refuse_long(words, typed, length);
}

/* The option of one letter within typed. */
static const struct row *
find_letter(const struct words *words, const char *typed, const char *letter)
{
	for (size_t i = 0; i < words->count; i++)
		if (words->rows[i].letter == *letter)
			return &words->rows[i];
	refuse_letter(typed, letter);
}

static void
take_long(struct reading *reading, const char *typed)
{
	size_t length = strcspn(typed, "=");
	const char *text = typed[length] == '=' ? typed + length + 1 : NULL;
	const struct row *row = find_long(reading->words, typed, length);

	if (row->argument == NULL && text != NULL)
		words_refuse(row, "takes no argument", typed);
	if (row->argument == NULL)
		text = typed;
	else if (text == NULL)
		text = next_word(reading, row);
	store(reading, row, text);
}

static void
take_letters(struct reading *reading, const char *typed)
{
	for (const char *letter = typed + 1; *letter != '\0'; letter++) {
		const struct row *row =
		    find_letter(reading->words, typed, letter);

		if (row->argument != NULL) {
			store(reading, row,
			    letter[1] != '\0' ? letter + 1
					      : next_word(reading, row));
			return;
		}
		store(reading, row, typed);
	}
}

char **
words_take(
    const struct words *words, char **argv, void *into, const char *said[])
{
	struct reading reading = { words, argv + 1, into, said };

	while (*reading.next != NULL) {
		const char *typed = *reading.next;

		/* A lone dash is an operand, as everywhere. */
		if (typed[0] != '-' || typed[1] == '\0')
			break;
		reading.next++;
		if (strcmp(typed, "--") == 0)
			break;
		if (typed[1] == '-')
			take_long(&reading, typed);
		else
			take_letters(&reading, typed);
	}
	return reading.next;
}

/* Only what has arrived counts: a disk may say so as late as at the close. */
static _Noreturn void
end_shown(struct page *page)
{
	struct page line = { .to = STDERR_FILENO };

	flush(page);
	if (page->error == 0 && close(page->to) == -1)
		page->error = errno;
	if (page->error == 0)
		_exit(0);
	put(&line, "retry: cannot write to standard output: ");
	put(&line, strerror(page->error));
	put(&line, "\n");
	flush(&line);
	_exit(WORDS_FAILED);
}

static size_t
put_column(struct page *page, size_t width, const char *text)
{
	put(page, text);
	return width + strlen(text);
}

static void
indent(struct page *page, size_t width)
{
	for (; width < HELP_COLUMN; width++)
		put(page, " ");
}

static void
put_row(struct page *page, const struct row *row)
{
	const char letter[] = { ' ', ' ', '-', row->letter, ',', ' ', '\0' };
	size_t width =
	    put_column(page, 0, row->letter != '\0' ? letter : "      ");

	width = put_column(page, width, "--");
	width = put_column(page, width, row->name);
	if (row->argument != NULL) {
		width = put_column(page, width, " ");
		width = put_column(page, width, row->argument);
	}
	indent(page, width);
	for (const char *c = row->help; *c != '\0'; c++) {
		put_bytes(page, c, 1);
		if (*c == '\n')
			indent(page, 0);
	}
	put(page, "\n");
}

void
words_show(const char *text)
{
	struct page page = { .to = STDOUT_FILENO };

	put(&page, text);
	end_shown(&page);
}

void
words_show_rows(
    const struct words *words, const char *before, const char *after)
{
	struct page page = { .to = STDOUT_FILENO };
	const struct heading *heading = words->headings;

	put(&page, before);
	for (size_t i = 0; i < words->count; i++) {
		if (i == heading->row) {
			put(&page, "\n");
			put(&page, heading->text);
			put(&page, ":\n");
			heading++;
		}
		put_row(&page, &words->rows[i]);
	}
	put(&page, after);
	end_shown(&page);
}
