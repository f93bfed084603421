#include "output/quote.h"

#include <string.h>
#include "text/escape.h"

static const enum escape styles[] = {
	[QUOTE_PLAIN] = ESCAPE_PLAIN,
	[QUOTE_JSON] = ESCAPE_JSON,
	[QUOTE_PROM] = ESCAPE_PROM,
};

void
quote_put(
    struct writer *page, enum quote style, const char *text, size_t length)
{
	if (style != QUOTE_PLAIN)
		writer_put(page, "\"");
	writer_put_escaped(page, styles[style], text, length);
	if (style != QUOTE_PLAIN)
		writer_put(page, "\"");
}

void
quote_string(struct writer *page, enum quote style, const char *string)
{
	quote_put(page, style, string, strlen(string));
}
