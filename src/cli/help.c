#include "cli/help.h"

#include <unistd.h>
#include "exit_status.h"

/* The column of the help texts: two blanks after the longest option. */
#define HELP_COLUMN 30

_Noreturn void
help_finish(struct writer *writer)
{
	_exit(writer_deliver(writer) ? 0 : EXIT_STATUS_FAILED);
}

static void
put_option(struct writer *writer, const struct option *option)
{
	const char letter[] = { ' ', ' ', '-', option->letter, ',', ' ', '\0' };

	writer_put_all(writer,
	    STRINGS(option->letter != '\0' ? letter : "      ", "--",
		option->name, option->argument != NULL ? " " : "",
		option->argument != NULL ? option->argument : ""));
	for (const char *c = option->help; *c != '\0'; c++) {
		writer_pad(writer, HELP_COLUMN);
		writer_put_bytes(writer, c, 1);
	}
	writer_put(writer, "\n");
}

void
help_text(const char *const text[])
{
	struct writer writer = { .to = STDOUT_FILENO };

	writer_put_all(&writer, text);
	help_finish(&writer);
}

void
help_options(const struct optparse *optparse, const char *const before[],
    const char *const after[])
{
	struct writer writer = { .to = STDOUT_FILENO };
	const struct heading *heading = optparse->headings;

	writer_put_all(&writer, before);
	for (size_t i = 0; i < optparse->count; i++) {
		if (i == heading->option) {
			writer_put_all(
			    &writer, STRINGS("\n", heading->text, ":\n"));
			heading++;
		}
		put_option(&writer, &optparse->options[i]);
	}
	writer_put_all(&writer, after);
	help_finish(&writer);
}
