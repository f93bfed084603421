#include "http/status_code.h"

#include <stdint.h>
#include <string.h>
#include "text/date.h"
#include "text/number.h"

bool
status_code_number(struct strview text, int *code)
{
	int64_t number;

	if (text.length > 3 || !number_whole(text.at, text.length, &number))
		return false;
	*code = (int)number;
	return true;
}

bool
status_code_bare(struct strview text, int *code)
{
	return text.length == 3 && status_code_number(text, code) &&
	    (*code == 0 || (*code >= 100 && *code <= 599));
}

/* Whether text may be meant as a Retry-After, valid or not. */
static bool
may_be_retry_after(struct strview text)
{
	int64_t moment;

	if (text.length == 0 || date_parse(text, 0, &moment))
		return text.length > 0;
	for (size_t i = 0; i < text.length; i++) {
		if (strview_blank(text.at[i]))
			return false;
	}
	return memchr("0123456789+-.", text.at[0], 13) != NULL;
}

/*
 * Whether curl can exit with status after a response with this code (its
 * manual, "EXIT CODES"). The statuses in redirected mean that the last transfer
 * got no response: then the code is that of the redirect before it.
 */
static bool
may_follow(int64_t status, int code)
{
	static const unsigned char after[] = { 8, 16, 18, 22, 23, 26, 27, 28,
		33, 42, 43, 47, 52, 55, 56, 61, 63, 65, 81, 91, 92, 94, 95 };
	static const unsigned char redirected[] = { 1, 3, 5, 6, 7, 35, 60 };

	if (code >= 300 && code < 400 &&
	    memchr(redirected, (int)status, sizeof redirected) != NULL)
		return true;
	return code == 0 || memchr(after, (int)status, sizeof after) != NULL;
}

/* Whether text is %{exitcode} %{errormsg}, as in "22 The requested ...". */
static bool
is_error(struct strview text, int code)
{
	size_t digits = strview_digits(text);
	int64_t status;

	return digits > 0 && digits <= 2 &&
	    number_whole(text.at, digits, &status) && status != 0 &&
	    digits < text.length && strview_blank(text.at[digits]) &&
	    may_follow(status, code);
}

bool
status_code_cut(struct strview *line, int *code)
{
	struct strview number = { line->at,
		line->length < 3 ? line->length : 3 };
	struct strview rest = strview_after(*line, number.length);
	bool blank = rest.length > 0 && strview_blank(rest.at[0]);

	if (!status_code_bare(number, code) || (rest.length > 0 && !blank))
		return false;
	rest = strview_trim(rest);
	if (rest.length > 0 && !may_be_retry_after(rest)) {
		if (!is_error(rest, *code))
			return false;
		rest.length = 0;
	}
	*line = rest;
	return true;
}

bool
status_code_read(struct strview rest, struct response *response)
{
	struct strview line, last = { NULL, 0 }, above = last, wait;
	int code, code_above;
	bool found, blank = false;

	while (strview_line(&rest, &line)) {
		struct strview trimmed = strview_trim(line);

		if (trimmed.length == 0)
			continue;
		blank = strview_blank(line.at[line.length - 1]);
		above = last;
		last = trimmed;
	}
	wait = last;
	found = status_code_cut(&wait, &code);
	/* "0 " is %{exitcode} %{errormsg} of a success. */
	if (found && blank && strview_is(wait, "0"))
		wait.length = 0;
	if ((!found || (code > 0 && code < 200 && wait.length == 0)) &&
	    status_code_bare(above, &code_above) && code_above >= 200 &&
	    may_be_retry_after(last)) {
		wait = last;
		code = code_above;
		found = true;
	}
	if (!found)
		return false;
	*response = (struct response){ .known = true, .code = code };
	retry_after_add(&response->fields, FIELD_RETRY_AFTER, wait);
	return true;
}
