#include "quote.h"

#include <string.h>
#include "escape.h"

static const enum escape styles[] = {
	[QUOTE_PLAIN] = ESCAPE_PLAIN,
	[QUOTE_JSON] = ESCAPE_JSON,
	[QUOTE_PROM] = ESCAPE_PROM,
};

void
quote_put(struct page *page, enum quote style, const char *text, size_t length)
{
	if (style != QUOTE_PLAIN)
		page_put(page, "\"");
	while (length > 0) {
		char shown[ESCAPE_ROOM], *end = shown;
		size_t size = escape_next(styles[style], &end, text, length);

		page_put_bytes(page, shown, (size_t)(end - shown));
		text += size;
		length -= size;
	}
	if (style != QUOTE_PLAIN)
		page_put(page, "\"");
}

void
quote_string(struct page *page, enum quote style, const char *string)
{
	quote_put(page, style, string, strlen(string));
}
