#include "http/http_status.h"

#include "http/responses.h"
#include "http/retry_after.h"
#include "http/response_head.h"
#include "http/json.h"
#include "text/strview.h"
#include "http/client_log.h"
#include "http/status_code.h"

/* Whether name is one by which curl or people call a code. */
static bool
names_code(struct strview name)
{
	static const char *const names[] = { "http_code", "response_code",
		"code", "status", "http_status", "status_code" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (strview_is(name, names[i]))
			return true;
	}
	return false;
}

/* Reads a line of the key=value form. False if the line is something else. */
static bool
read_pair(struct strview value, struct response *response)
{
	struct strview key = { NULL, 0 };
	enum field field;
	int code;

	if (!strview_cut(&value, '=', &key))
		return false;
	field = retry_after_find(key);
	value = strview_trim(value);
	if (field != FIELD_COUNT) {
		/* A field that is repeated belongs to the next transfer. */
		if (response->fields.values[field].length > 0)
			*response = (struct response){ 0 };
		retry_after_add(&response->fields, field, value);
		return true;
	}
	if (!names_code(key) || !status_code_bare(value, &code))
		return false;
	if (response->known)
		*response = (struct response){ 0 };
	response->known = true;
	response->code = code;
	return true;
}

static bool
read_pairs(struct strview rest, struct response *response)
{
	bool found = false;
	struct strview line;

	while (strview_line(&rest, &line))
		found |= read_pair(line, response);
	return found;
}

/* A JSON object that no other one contains, or a code beside such objects. */
struct part {
	bool coded; /* there is a code */
	bool named; /* the code has curl's own name for it */
	bool listed; /* there are header fields */
	int code;
	struct retry_after_fields fields;
};

static void
put_code(struct part *part, struct strview text, bool named)
{
	if (named ? !status_code_number(text, &part->code)
		  : !status_code_bare(text, &part->code))
		return;
	part->coded = true;
	part->named |= named;
}

static void
put_field(struct part *part, struct strview key, struct strview value)
{
	retry_after_add(&part->fields, retry_after_find(key), value);
	part->listed = true;
}

/* A line of the code form before, between or after the objects. */
static bool
read_line_beside(struct strview *rest, struct part *part)
{
	struct strview after = *rest, line;

	while (after.length > 0 && strview_blank(after.at[0]))
		after = strview_after(after, 1);
	/* The digits are checked first: to look for the end of the line before
	 * each part would take quadratic time. */
	if (strview_digits(after) != 3 || !strview_line(&after, &line))
		return false;
	line = strview_trim(line);
	if (!status_code_cut(&line, &part->code))
		return false;
	part->coded = true;
	if (line.length > 0)
		put_field(part, strview_of("retry-after"), line);
	*rest = after;
	return true;
}

/* Reads the next part. False if rest has no other one. */
static bool
read_part(struct strview *rest, struct part *part)
{
	struct strview text, key = { NULL, 0 };
	enum json_token token;
	bool list = false;
	size_t depth = 0;

	*part = (struct part){ 0 };
	if (read_line_beside(rest, part))
		return true;
	while ((token = json_next(rest, &text)) != JSON_END) {
		if (token == JSON_OPEN)
			depth++;
		else if (token == JSON_CLOSE && depth > 0)
			depth--;
		else if (token == JSON_LIST || token == JSON_LIST_END)
			list = token == JSON_LIST;
		else if (token == JSON_KEY)
			key = text;
		else if (token == JSON_STRING && list)
			put_field(part, key, text);
		else if (token == JSON_WORD && depth == 0)
			put_code(part, text, false);
		else if (token == JSON_WORD &&
		    (strview_is(key, "http_code") ||
			strview_is(key, "response_code")))
			put_code(part, text, true);
		if (depth == 0)
			break;
	}
	return token != JSON_END || part->coded || part->listed;
}

/* Whether the bytes are a JSON object, or a code and then one. */
static bool
is_json(struct strview all)
{
	struct strview start = strview_trim(all);
	struct strview next =
	    strview_trim(strview_after(start, strview_digits(start)));

	return strview_starts(next, "{");
}

/*
 * Reads the JSON forms. The code and the fields of each part go into the
 * response. If the response has them already, the part belongs to the next
 * transfer. A JSON body with a code behind it is read here, too; its form is
 * HTTP_STATUS_CODE.
 */
static enum http_status_form
read_json(struct strview rest, struct response *response)
{
	enum http_status_form form = HTTP_STATUS_UNRECOGNISED;
	bool listed = false;
	struct part part;

	while (read_part(&rest, &part)) {
		if ((part.coded && response->known) ||
		    (part.listed && listed)) {
			*response = (struct response){ 0 };
			listed = false;
		}
		if (part.coded) {
			response->known = true;
			response->code = part.code;
		}
		if (part.listed) {
			response->fields = part.fields;
			listed = true;
		}
		if (part.named)
			form = HTTP_STATUS_JSON;
		else if (part.listed && form != HTTP_STATUS_JSON)
			form = HTTP_STATUS_HEADER_JSON;
		else if (part.coded && form == HTTP_STATUS_UNRECOGNISED)
			form = HTTP_STATUS_CODE;
	}
	return form;
}

/* Reads the response in whatever form it is. */
static enum http_status_form
read_any(struct strview all, struct response *response)
{
	enum http_status_form form = HTTP_STATUS_UNRECOGNISED;

	/* The text may be a page that begins with a status line, and behind
	 * the page a code. */
	if (responses_start(all) && !responses_whole(all) &&
	    status_code_read(all, response))
		return HTTP_STATUS_CODE;
	if (responses_read(all, response))
		return HTTP_STATUS_HEADERS;
	if (is_json(all))
		form = read_json(all, response);
	if (form != HTTP_STATUS_UNRECOGNISED)
		return form;
	if (status_code_read(all, response))
		return HTTP_STATUS_CODE;
	if (client_log_read(all, response))
		return HTTP_STATUS_HEADERS;
	return read_pairs(all, response) ? HTTP_STATUS_KEY_VALUE
					 : HTTP_STATUS_UNRECOGNISED;
}

static enum http_status_form
read_dump(struct strview all, struct response *response)
{
	return response_head_dump(all, response) ? HTTP_STATUS_HEADERS
						 : HTTP_STATUS_UNRECOGNISED;
}

static struct http_status
conclude(const struct response *response, enum http_status_form form, nanos now)
{
	struct http_status http = {
		.form = form, .known = response->known, .code = response->code
	};
	struct retry_after retry_after;

	/* No server has answered: a number beside 000 means something else. */
	if (http.known && http.code == 0)
		return http;
	retry_after = retry_after_read(&response->fields, now);
	http.has_wait = retry_after.given;
	http.wait = retry_after.wait;
	http.never = retry_after.never;
	http.doubtful = retry_after.doubtful;
	return http;
}

struct http_status
http_status_parse(
    const char *bytes, size_t length, enum http_status_source source, nanos now)
{
	struct strview all = { bytes, length };
	struct response response = { 0 };
	enum http_status_form form = HTTP_STATUS_EMPTY;

	if (strview_trim(all).length > 0)
		form = source == HTTP_STATUS_FROM_DUMP
		    ? read_dump(all, &response)
		    : read_any(all, &response);
	return conclude(&response, form, now);
}

enum http_status_rest
http_status_rest(const char *bytes, size_t length)
{
	struct strview start = { bytes, length };

	if (!responses_start(start))
		return HTTP_STATUS_REST_ANY;
	return responses_only(start) ? HTTP_STATUS_REST_HEADS
				     : HTTP_STATUS_REST_BODY;
}

/* Whether an error, a code from 400 on, may be gone at the next attempt. */
static bool
may_pass(const struct http_status *http)
{
	switch (http->code) {
	case 408:
	case 425:
	case 429:
		return true;
	case 403:
	case 413:
		return http->has_wait;
	case 501:
	case 505:
	case 506:
	case 508:
	case 510:
	case 511:
		return false;
	default:
		return http->code >= 500;
	}
}

enum http_status_meaning
http_status_judge(const struct http_status *http)
{
	if (!http->known || http->code < 400)
		return HTTP_STATUS_SAYS_NOTHING;
	if (http->never || !may_pass(http))
		return HTTP_STATUS_SAYS_STOP;
	return HTTP_STATUS_SAYS_RETRY;
}

const char *
http_status_form_name(enum http_status_form form)
{
	static const char *const names[] = {
		[HTTP_STATUS_EMPTY] = "empty",
		[HTTP_STATUS_UNRECOGNISED] = "unrecognised",
		[HTTP_STATUS_HEADERS] = "headers",
		[HTTP_STATUS_CODE] = "code",
		[HTTP_STATUS_KEY_VALUE] = "key=value",
		[HTTP_STATUS_JSON] = "json",
		[HTTP_STATUS_HEADER_JSON] = "header_json",
	};

	return names[form];
}
