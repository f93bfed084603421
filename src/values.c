#include "values.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "codes.h"
#include "duration.h"
#include "number.h"
#include "policy.h"

void
values_attempts(const struct row *row, const char *text, void *field)
{
	int64_t *attempts = field;

	if (strcmp(text, "inf") == 0)
		*attempts = POLICY_UNLIMITED;
	else if (!number_whole(text, strlen(text), attempts) || *attempts == 0)
		words_refuse(row, "not a number of attempts", text);
}

void
values_retries(const struct row *row, const char *text, void *field)
{
	int64_t *attempts = field;

	if (strcmp(text, "inf") == 0)
		*attempts = POLICY_UNLIMITED;
	else if (number_whole(text, strlen(text), attempts))
		*attempts = number_add(*attempts, 1);
	else
		words_refuse(row, "not a number of retries", text);
}

void
values_span(const struct row *row, const char *text, void *field)
{
	if (!duration_parse(text, strlen(text), field))
		words_refuse(row, "not a time", text);
}

void
values_signal(const struct row *row, const char *text, void *field)
{
	int *number = field;

	*number = codes_signal(text, strlen(text));
	if (*number == 0)
		words_refuse(row, "not a signal", text);
}

void
values_flag(const struct row *row, const char *text, void *field)
{
	bool *flag = field;

	(void)row;
	(void)text;
	*flag = true;
}

void
values_path(const struct row *row, const char *text, void *field)
{
	const char **path = field;

	if (*text == '\0')
		words_refuse(row, "not a file name", text);
	*path = text;
}

/* RFC 9110, section 5.6.2. */
void
values_method(const struct row *row, const char *text, void *field)
{
	const char **method = field;
	size_t length = strspn(text,
	    "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	if (length == 0 || text[length] != '\0')
		words_refuse(row, "not an HTTP method", text);
	*method = text;
}

/* It becomes a line of a header, and no more than one. */
void
values_header(const struct row *row, const char *text, void *field)
{
	const char **key = field;

	for (const char *c = text; *c != '\0'; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			words_refuse(row, "a control character in", text);
	/* curl would not send a header that holds nothing. */
	if (text[strspn(text, " ")] == '\0')
		words_refuse(row, "empty", text);
	*key = text;
}
