#include "cli/option_values.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "text/duration.h"
#include "text/number.h"
#include "text/signame.h"
#include "policy/policy.h"

void
option_values_attempts(const struct row *row, const char *text, void *field)
{
	int64_t *attempts = field;

	if (strcmp(text, "inf") == 0)
		*attempts = POLICY_UNLIMITED;
	else if (!number_whole(text, strlen(text), attempts) || *attempts == 0)
		optparse_refuse(row, "not a number of attempts", text);
}

void
option_values_retries(const struct row *row, const char *text, void *field)
{
	int64_t *attempts = field;

	if (strcmp(text, "inf") == 0)
		*attempts = POLICY_UNLIMITED;
	else if (number_whole(text, strlen(text), attempts))
		*attempts = number_add(*attempts, 1);
	else
		optparse_refuse(row, "not a number of retries", text);
}

void
option_values_span(const struct row *row, const char *text, void *field)
{
	if (!duration_parse(text, strlen(text), field))
		optparse_refuse(row, DURATION_REFUSAL, text);
}

void
option_values_size(const struct row *row, const char *text, void *field)
{
	static const char units[] = "kMGTK"; /* K is k */
	size_t length = strlen(text);
	int64_t *size = field, scale = 1;
	const char *unit = length == 0 ? NULL : strchr(units, text[length - 1]);

	if (unit != NULL) {
		scale <<= 10 * ((unit - units) % 4 + 1);
		length--;
	}
	if (!number_decimal(text, length, scale, size) || *size == 0)
		optparse_refuse(row, "not a size in bytes, k, M, G or T", text);
}

void
option_values_signal(const struct row *row, const char *text, void *field)
{
	int *number = field;

	*number = signame_number(text, strlen(text));
	if (*number == 0)
		optparse_refuse(row, "not a signal", text);
}

void
option_values_flag(const struct row *row, const char *text, void *field)
{
	bool *flag = field;

	(void)row;
	(void)text;
	*flag = true;
}

void
option_values_log_format(const struct row *row, const char *text, void *field)
{
	static const char *const formats[] = {
		[LOG_TEXT] = "text",
		[LOG_JSON] = "json",
		[LOG_GITHUB] = "github",
		NULL,
	};
	enum log_format *format = field;

	*format = (enum log_format)optparse_choice(
	    row, "not text, json or github", formats, text);
}

void
option_values_progress(const struct row *row, const char *text, void *field)
{
	static const char *const times[] = {
		[SHOWING_AUTO] = "auto",
		[SHOWING_ALWAYS] = "always",
		[SHOWING_NEVER] = "never",
		NULL,
	};
	enum showing *showing = field;

	*showing = (enum showing)optparse_choice(
	    row, "not auto, always or never", times, text);
}

/* An empty one takes back what a policy says. */
void
option_values_line(const struct row *row, const char *text, void *field)
{
	const char **line = field;

	(void)row;
	*line = *text == '\0' ? NULL : text;
}

void
option_values_path(const struct row *row, const char *text, void *field)
{
	const char **path = field;

	if (*text == '\0')
		optparse_refuse(row, "not a file name", text);
	*path = text;
}

/* RFC 9110, section 5.6.2. */
void
option_values_method(const struct row *row, const char *text, void *field)
{
	const char **method = field;
	size_t length = strspn(text,
	    "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	if (length == 0 || text[length] != '\0')
		optparse_refuse(row, "not an HTTP method", text);
	*method = text;
}

/* It becomes a line of a header, and no more than one. */
void
option_values_header(const struct row *row, const char *text, void *field)
{
	const char **key = field;

	for (const char *c = text; *c != '\0'; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			optparse_refuse(row, "a control character in", text);
	/* curl would not send a header that holds nothing. */
	if (text[strspn(text, " ")] == '\0')
		optparse_refuse(row, "empty", text);
	*key = text;
}
