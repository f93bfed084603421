#include "request.h"

#include <stdlib.h>
#include <string.h>
#include "curl.h"

/* Both as one string, NULL if there is no memory. */
static char *
join(const char *first, const char *second)
{
	size_t length = strlen(first);
	char *both = malloc(length + strlen(second) + 1);

	if (both == NULL)
		return NULL;
	memcpy(both, first, length);
	memcpy(both + length, second, strlen(second) + 1);
	return both;
}

/* Our words for one operation of curl, at to; returns where they end. */
static char **
add_words(char **to, const struct curl *curl, char *header, char *path)
{
	static char dump[] = "--dump-header", pass[] = "--header";

	if (!curl->dumps && path != NULL) {
		*to++ = dump;
		*to++ = path;
	}
	if (!curl->keyed && header != NULL) {
		*to++ = pass;
		*to++ = header;
	}
	return to;
}

/*
 * curl's command line with ours in it: before the options of each operation,
 * so that the user's own come later and win.
 */
static bool
amend(struct request *request, struct policy *policy, char *path)
{
	char **from = policy->command, **to;
	size_t count = 0, at = 1, done = 0;

	while (from[count] != NULL)
		count++;
	/* At most one operation a word, each with four words of ours; one
	 * element before the command belongs to whoever launches it. */
	request->words = malloc((5 * count + 2) * sizeof *to);
	if (request->words == NULL)
		return false;
	if (request->key != NULL) {
		request->header = join("Idempotency-Key: ", request->key);
		if (request->header == NULL)
			return false;
	}
	to = policy->command = request->words + 1;
	while (at != 0) {
		struct curl curl = curl_operation(from, at);

		while (done < curl.opening)
			*to++ = from[done++];
		to = add_words(to, &curl, request->header, path);
		at = curl.next;
	}
	while (done <= count)
		*to++ = from[done++];
	return true;
}

/* The one whose response is the last. */
static struct curl
last_operation(char *const *command)
{
	struct curl curl = curl_operation(command, 1);

	while (curl.next != 0)
		curl = curl_operation(command, curl.next);
	return curl;
}

static bool
know_curl(struct request *request, struct policy *policy, struct lines *lines)
{
	struct curl curl = curl_read(policy->command), last;
	const char *path = request->status.path;

	if (curl.retries)
		lines_say(lines, LOUDNESS_PLAIN,
		    STRINGS("curl has a --retry of its own: attempts "
			    "multiply"));
	if (policy->method == NULL && request->key == NULL && !curl.keyed) {
		policy->rules.once = !curl_idempotent(curl.method);
		policy->rules.several = curl.several;
	}
	if (request->key != NULL && curl.several)
		lines_say(lines, LOUDNESS_PLAIN,
		    STRINGS("curl makes several requests: they share one "
			    "idempotency key"));
	last = last_operation(policy->command);
	if (!last.dumps)
		return amend(request, policy, (char *)(uintptr_t)path);
	if (last.dump == NULL)
		lines_say(lines, LOUDNESS_VERBOSE,
		    STRINGS("curl's own --dump-header is no file: HTTP tells "
			    "nothing"));
	/* Without its dump nobody knows what curl has sent. */
	policy->rules.several |= last.dump == NULL;
	status_close(&request->status);
	request->status.path = NULL;
	return amend(request, policy, NULL) &&
	    (last.dump == NULL || status_open(&request->status, last.dump));
}

static bool
open_status(struct request *request, struct policy *policy, struct lines *lines)
{
	if (policy->http_status != NULL)
		return status_open(&request->status, policy->http_status);
	if (!policy->http)
		return true;
	if (!status_make(&request->status))
		return false;
	return !curl_named(policy->command[0]) ||
	    know_curl(request, policy, lines);
}

/* The variables for the attempts. False without memory. */
static bool
fill_variables(struct request *request)
{
	char **variable = request->variables;

	if (request->status.path != NULL) {
		*variable = join("RETRY_HTTP_STATUS=", request->status.path);
		if (*variable++ == NULL)
			return false;
	}
	if (request->key != NULL) {
		*variable = join("RETRY_IDEMPOTENCY_KEY=", request->key);
		if (*variable++ == NULL)
			return false;
	}
	*variable = NULL;
	return true;
}

bool
request_open(
    struct request *request, struct policy *policy, struct lines *lines)
{
	request->words = NULL;
	request->header = NULL;
	request->status.path = NULL;
	request->key = policy->key;
	if (policy->key != NULL && strcmp(policy->key, "auto") == 0)
		request->key = context_uuid(request->uuid);
	return open_status(request, policy, lines) && fill_variables(request);
}
