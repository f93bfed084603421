#include "http/curl.h"

#include <string.h>
#include "http/curl_args.h"
#include "text/strview.h"

/* What one operation's options say about its method. */
struct operation {
	const char *method; /* of -X */
	bool data, form, get, head, upload, unclear, fail;
	bool located; /* a URL has been read */
	bool http; /* a URL of HTTP has been read */
};

/* IANA, "HTTP Method Registry", column "Idempotent". */
static const char idempotent[] =
    "ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT COPY DELETE GET HEAD LABEL "
    "LINK MERGE MKACTIVITY MKCALENDAR MKCOL MKREDIRECTREF MKWORKSPACE MOVE "
    "OPTIONS ORDERPATCH PRI PROPFIND PROPPATCH PUT QUERY REBIND REPORT SEARCH "
    "TRACE UNBIND UNCHECKOUT UNLINK UNLOCK UPDATE UPDATEREDIRECTREF "
    "VERSION-CONTROL";

/* Whether header is "Idempotency-Key: value". With ; in place of : curl sends
 * the field without a value, which is no key. */
static bool
is_key(const char *header)
{
	size_t name = strcspn(header, ":;");
	const char *value = header + name;

	return strview_is(
		   (struct strview){ header, name }, "Idempotency-Key") &&
	    value[0] == ':' && strview_trim(strview_of(value + 1)).length > 0;
}

/* Whether text is a number other than 0. */
static bool
is_count(const char *text)
{
	return text[strspn(text, "0")] != '\0';
}

/*
 * Whether a URL may stand for several: "/[1-9:2]", "/{a,b}". Brackets without a
 * dash are the address of a host: "http://[::1]/".
 */
static bool
is_glob(const char *url)
{
	const char *open = url == NULL ? NULL : strpbrk(url, "[{");

	while (open != NULL) {
		size_t length = strcspn(open, "]");

		if (open[0] == '{' || memchr(open, '-', length) != NULL)
			return true;
		open = strpbrk(open + 1, "[{");
	}
	return false;
}

/*
 * Whether a URL is of http or https. Without a scheme curl guesses it by the
 * beginning of the host (curl's manual, "URL"); without a guess it is http.
 */
static bool
is_http(const char *url)
{
	static const char *const others[] = { "ftp.", "dict.", "ldap.", "imap.",
		"smtp.", "pop3." };
	struct strview text = strview_of(url);
	const char *scheme = strstr(url, "://");

	if (scheme != NULL && url + strcspn(url, "/?") == scheme + 1)
		return strview_starts(text, "http://") ||
		    strview_starts(text, "https://");
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strview_starts(text, others[i]))
			return false;
	return true;
}

/* Applies a URL. */
static void
apply_url(const char *url, struct curl *curl, struct operation *request)
{
	curl->several |= request->located || is_glob(url);
	request->located = true;
	request->http |= url != NULL && is_http(url);
}

/* Applies an option that does not change the method. */
static void
apply_argument(const struct curl_args *option, struct curl *curl)
{
	const char *argument = option->argument;

	/* curl refuses the command line: nothing will be sent. */
	if (argument == NULL)
		return;
	if (option->role == CURL_ARGS_DUMP) {
		bool stream =
		    strcmp(argument, "-") == 0 || strcmp(argument, "%") == 0;

		curl->dumps = true;
		curl->dump = stream ? NULL : argument;
	} else if (option->role == CURL_ARGS_RETRY) {
		curl->retries = is_count(argument);
	} else if (option->role == CURL_ARGS_HEADER) {
		curl->keyed |= is_key(argument);
	}
}

static void
apply(const struct curl_args *option, struct curl *curl,
    struct operation *request)
{
	switch (option->role) {
	case CURL_ARGS_OTHER:
	case CURL_ARGS_NEXT:
		break;
	case CURL_ARGS_DUMP:
	case CURL_ARGS_RETRY:
	case CURL_ARGS_HEADER:
		apply_argument(option, curl);
		break;
	case CURL_ARGS_UNKNOWN:
	case CURL_ARGS_CONFIG:
		request->unclear = true;
		break;
	case CURL_ARGS_REQUEST:
		request->method = option->argument;
		break;
	case CURL_ARGS_DATA:
		request->data = true;
		break;
	case CURL_ARGS_FORM:
		request->form = true;
		break;
	case CURL_ARGS_GET:
		request->get = !option->off;
		break;
	case CURL_ARGS_HEAD:
		request->head = !option->off;
		break;
	case CURL_ARGS_UPLOAD:
		request->upload = true;
		break;
	case CURL_ARGS_FAIL:
		request->fail = !option->off;
		break;
	case CURL_ARGS_URL:
		apply_url(option->argument, curl, request);
		break;
	}
}

/* The method if there is no -X. -G makes a GET of -d, but not of -F. */
static const char *
implied(const struct operation *request)
{
	if (request->form || (request->data && !request->get))
		return "POST";
	if (request->head)
		return "HEAD";
	return request->upload ? "PUT" : "GET";
}

static const char *
method_of(const struct operation *request)
{
	const char *method = request->method;

	if (method == NULL || method[0] == '\0')
		method = implied(request);
	return request->unclear && curl_idempotent(method) ? NULL : method;
}

/* Whether the first word tells curl not to read ~/.curlrc. */
static bool
disables(const char *first)
{
	return strncmp(first, "-q", 2) == 0 || strcmp(first, "--disable") == 0;
}

struct curl
curl_operation(char *const argv[], size_t from)
{
	struct curl_args_place place = { argv, from, 0, false };
	struct operation request = { 0 };
	struct curl curl = { .opening = from };
	struct curl_args option;

	while (curl.next == 0 && curl_args_next(&place, &option)) {
		apply(&option, &curl, &request);
		if (option.role == CURL_ARGS_NEXT)
			curl.next = place.at;
		/* Of "-qo FILE" the FILE, too, is before opening. */
		if (curl.opening == 1 && disables(argv[1]))
			curl.opening = place.at;
	}
	curl.method = method_of(&request);
	curl.lenient = request.http && !request.fail && !request.unclear;
	return curl;
}

/* Adds an operation to the ones before, as curl_read() describes. */
static void
merge(struct curl *all, const struct curl *one)
{
	bool safe = curl_idempotent(one->method);
	bool all_safe = curl_idempotent(all->method);

	if (!safe && (all_safe || (all->keyed && !one->keyed)))
		all->method = one->method;
	else if (all_safe && one->method == NULL)
		all->method = NULL;
	/* A key protects only the request of its own operation. */
	if (safe)
		all->keyed |= one->keyed && all_safe;
	else
		all->keyed = one->keyed && (all_safe || all->keyed);
	if (one->dumps) {
		all->dumps = true;
		all->dump = one->dump;
	}
	all->retries |= one->retries;
	all->lenient |= one->lenient;
}

struct curl
curl_read(char *const argv[])
{
	struct curl all = { .opening = 1, .method = "GET" };
	size_t from;

	if (argv[0] == NULL || argv[1] == NULL)
		return all;
	all = curl_operation(argv, 1);
	from = all.next;
	all.several |= from > 0;
	while (from > 0 && argv[from] != NULL) {
		struct curl one = curl_operation(argv, from);

		merge(&all, &one);
		from = one.next;
	}
	return all;
}

bool
curl_named(const char *program)
{
	const char *slash = strrchr(program, '/');

	return strcmp(slash == NULL ? program : slash + 1, "curl") == 0;
}

bool
curl_idempotent(const char *method)
{
	struct strview rest = strview_of(idempotent), word;

	if (method == NULL)
		return true;
	while (strview_cut(&rest, ' ', &word)) {
		if (strview_is(word, method))
			return true;
	}
	return false;
}

bool
curl_never_sent(int status)
{
	return status == 5 || status == 6 || status == 7;
}
