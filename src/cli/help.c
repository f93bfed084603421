#include "cli/help.h"

#include <unistd.h>
#include "output/writer.h"

/* The column of the help texts: two blanks after the longest option. */
#define HELP_COLUMN 30

/* Fails unless all of the text has reached standard output. */
static _Noreturn void
finish(struct writer *writer)
{
	_exit(writer_deliver(writer) ? 0 : EXIT_STATUS_FAILED);
}

static void
put_option(struct writer *writer, const struct option *option)
{
	const char letter[] = { ' ', ' ', '-', option->letter, ',', ' ', '\0' };

	writer_put(writer, option->letter != '\0' ? letter : "      ");
	writer_put(writer, "--");
	writer_put(writer, option->name);
	if (option->argument != NULL) {
		writer_put(writer, " ");
		writer_put(writer, option->argument);
	}
	for (const char *c = option->help; *c != '\0'; c++) {
		writer_pad(writer, HELP_COLUMN);
		writer_put_bytes(writer, c, 1);
	}
	writer_put(writer, "\n");
}

void
help_text(const char *text)
{
	struct writer writer = { .to = STDOUT_FILENO };

	writer_put(&writer, text);
	finish(&writer);
}

void
help_options(const struct optparse *optparse, const char *const before[],
    const char *const after[])
{
	struct writer writer = { .to = STDOUT_FILENO };
	const struct heading *heading = optparse->headings;

	while (*before != NULL)
		writer_put(&writer, *before++);
	for (size_t i = 0; i < optparse->count; i++) {
		if (i == heading->option) {
			writer_put(&writer, "\n");
			writer_put(&writer, heading->text);
			writer_put(&writer, ":\n");
			heading++;
		}
		put_option(&writer, &optparse->options[i]);
	}
	while (*after != NULL)
		writer_put(&writer, *after++);
	finish(&writer);
}
