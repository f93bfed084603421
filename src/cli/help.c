#include "cli/help.h"

#include <unistd.h>
#include "output/writer.h"

/* Where the help texts begin: two blanks after the longest option. */
#define HELP_COLUMN 30

/* Only what has arrived counts. */
static _Noreturn void
end_shown(struct page *page)
{
	_exit(page_deliver(page) ? 0 : WORDS_FAILED);
}

static void
put_row(struct page *page, const struct row *row)
{
	const char letter[] = { ' ', ' ', '-', row->letter, ',', ' ', '\0' };

	page_put(page, row->letter != '\0' ? letter : "      ");
	page_put(page, "--");
	page_put(page, row->name);
	if (row->argument != NULL) {
		page_put(page, " ");
		page_put(page, row->argument);
	}
	for (const char *c = row->help; *c != '\0'; c++) {
		page_pad(page, HELP_COLUMN);
		page_put_bytes(page, c, 1);
	}
	page_put(page, "\n");
}

void
help_text(const char *text)
{
	struct page page = { .to = STDOUT_FILENO };

	page_put(&page, text);
	end_shown(&page);
}

void
help_rows(const struct words *words, const char *const before[],
    const char *const after[])
{
	struct page page = { .to = STDOUT_FILENO };
	const struct heading *heading = words->headings;

	while (*before != NULL)
		page_put(&page, *before++);
	for (size_t i = 0; i < words->count; i++) {
		if (i == heading->row) {
			page_put(&page, "\n");
			page_put(&page, heading->text);
			page_put(&page, ":\n");
			heading++;
		}
		put_row(&page, &words->rows[i]);
	}
	while (*after != NULL)
		page_put(&page, *after++);
	end_shown(&page);
}
