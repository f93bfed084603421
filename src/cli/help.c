#include "cli/help.h"

#include <unistd.h>
#include "exit_status.h"
#include "output/writer.h"

/* Where the help texts begin: two blanks after the longest option. */
#define HELP_COLUMN 30

/* Only what has arrived counts. */
static _Noreturn void
end_shown(struct writer *writer)
{
	_exit(writer_deliver(writer) ? 0 : EXIT_STATUS_FAILED);
}

static void
put_row(struct writer *writer, const struct row *row)
{
	const char letter[] = { ' ', ' ', '-', row->letter, ',', ' ', '\0' };

	writer_put(writer, row->letter != '\0' ? letter : "      ");
	writer_put(writer, "--");
	writer_put(writer, row->name);
	if (row->argument != NULL) {
		writer_put(writer, " ");
		writer_put(writer, row->argument);
	}
	for (const char *c = row->help; *c != '\0'; c++) {
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
	end_shown(&writer);
}

void
help_rows(const struct optparse *optparse, const char *const before[],
    const char *const after[])
{
	struct writer writer = { .to = STDOUT_FILENO };
	const struct heading *heading = optparse->headings;

	while (*before != NULL)
		writer_put(&writer, *before++);
	for (size_t i = 0; i < optparse->count; i++) {
		if (i == heading->row) {
			writer_put(&writer, "\n");
			writer_put(&writer, heading->text);
			writer_put(&writer, ":\n");
			heading++;
		}
		put_row(&writer, &optparse->rows[i]);
	}
	while (*after != NULL)
		writer_put(&writer, *after++);
	end_shown(&writer);
}
