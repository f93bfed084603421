#include "attempt/http_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "http/curl.h"
#include "preset/wrapper.h"

/* capabilities(7); its header is the kernel's and not with every libc. */
#ifndef CAP_SYS_PTRACE
#define CAP_SYS_PTRACE 19
#endif

/* Both in one new string; NULL, with errno, if there is no memory. */
static char *
join(const char *first, const char *second)
{
	char *both = malloc(strlen(first) + strlen(second) + 1);

	if (both != NULL)
		stpcpy(stpcpy(both, first), second);
	return both;
}

/* Writes all of text. False, with errno. */
static bool
write_all(int fd, const char *text, size_t length)
{
	while (length > 0) {
		ssize_t wrote = write(fd, text, length);

		if (wrote == -1 && errno != EINTR)
			return false;
		if (wrote > 0) {
			text += wrote;
			length -= (size_t)wrote;
		}
	}
	return true;
}

/*
 * Makes a file of options (--config) that gives curl the key. A header in a
 * file of its own (-H @FILE) would be ignored in silence by a curl up to 7.54.
 */
static bool
make_config(struct http_request *request)
{
	static const char start[] = "header = \"Idempotency-Key: ";
	char *text = malloc(sizeof start + 2 * strlen(request->key) + 2), *at;
	bool made;

	if (text == NULL)
		return false;
	memcpy(text, start, sizeof start - 1);
	at = text + sizeof start - 1;
	for (const char *c = request->key; *c != '\0'; c++) {
		if (*c == '"' || *c == '\\')
			*at++ = '\\';
		*at++ = *c;
	}
	*at++ = '"';
	*at++ = '\n';
	made = private_file_make(&request->config) &&
	    write_all(request->config.fd, text, (size_t)(at - text));
	free(text);
	return made;
}

/* Puts the options for one operation of curl at to; returns where they end. */
static char **
add_options(char **to, const struct curl *curl, char *config, char *path)
{
	static char dump[] = "--dump-header", read[] = "--config";

	if (!curl->dumps && path != NULL) {
		*to++ = dump;
		*to++ = path;
	}
	if (!curl->keyed && config != NULL) {
		*to++ = read;
		*to++ = config;
	}
	return to;
}

static char *
writable(const char *word)
{
	return (char *)(uintptr_t)word;
}

/*
 * Copies the command line from, in which curl is word number first, and puts
 * options of retry's before those of each operation of curl: of two equal
 * options the later one, which is the user's, counts. False, with errno.
 */
static bool
amend(struct http_request *request, char **from, size_t first, const char *path)
{
	char **to;
	size_t count = 0, at = 1, done = 0;

	while (from[count] != NULL)
		count++;
	/* At most each word is an operation, with four more words; one
	 * more element stands before the command (policy.h). */
	to = malloc((5 * count + 2) * sizeof *to);
	if (to == NULL)
		return false;
	request->command = ++to;
	if (request->key != NULL && !make_config(request))
		return false;
	while (at != 0) {
		struct curl curl = curl_operation(from + first, at);

		while (done < first + curl.opening)
			*to++ = from[done++];
		to = add_options(
		    to, &curl, writable(request->config.path), writable(path));
		at = curl.next;
	}
	while (done <= count)
		*to++ = from[done++];
	return true;
}

/* The operation that gets the last response. */
static struct curl
last_operation(char *const *command)
{
	struct curl curl = curl_operation(command, 1);

	while (curl.next != 0)
		curl = curl_operation(command, curl.next);
	return curl;
}

/*
 * Whether what sudo runs can open the private file. Another user cannot. Root
 * can open a file in memory by its path in /proc, with CAP_SYS_PTRACE, which
 * root may lack in a container. In /tmp not even root can: it must not open
 * another user's file with O_CREAT there (proc(5), fs.protected_regular).
 */
static bool
reaches(const struct wrapper *wrapper, const struct status_file *status)
{
	if (wrapper->alien)
		return false;
	if (!wrapper->root || geteuid() == 0)
		return true;
	return !status->own.temporary &&
	    prctl(PR_CAPBSET_READ, CAP_SYS_PTRACE, 0, 0, 0) == 1;
}

/* Finds out whether the request may be sent twice: not without a key. */
static void
guard(struct http_request *request, const struct curl *curl)
{
	const struct policy *policy = request->policy;
	const char *method =
	    policy->method == NULL ? curl->method : policy->method;
	bool keyed =
	    request->key != NULL && request->by != HTTP_REQUEST_BY_SUDO;

	if (keyed || curl->keyed ||
	    (policy->method != NULL && request->key == NULL))
		return;
	request->once = !curl_idempotent(method);
	request->method = method;
	request->several = curl->several;
}

/* Reads the file of curl's own -D instead, by a path that retry can use. */
static bool
use_dump(struct http_request *request, const struct wrapper *wrapper,
    const char *dump)
{
	char *directory;

	status_file_close(&request->status);
	request->status.path = NULL;
	if (dump == NULL)
		return true;
	if (wrapper->directory == NULL || dump[0] == '/')
		return status_file_open(&request->status, dump);
	directory = join(wrapper->directory, "/");
	if (directory == NULL)
		return false;
	request->dump = join(directory, dump);
	free(directory);
	return request->dump != NULL &&
	    status_file_open(&request->status, request->dump);
}

static bool
know_curl(struct http_request *request, const struct wrapper *wrapper)
{
	char **words = request->policy->command;
	char **command = words + wrapper->command;
	struct curl curl = curl_read(command);
	struct curl last = last_operation(command);
	const char *path = request->status.path;

	if (curl.retries)
		log_say(request->log, LOUDNESS_PLAIN,
		    STRINGS("curl has a --retry of its own: attempts "
			    "multiply"));
	if (request->key != NULL && curl.several)
		log_say(request->log, LOUDNESS_PLAIN,
		    STRINGS("curl makes several requests: they share one "
			    "idempotency key"));
	request->by = last.dumps ? HTTP_REQUEST_BY_DUMP : HTTP_REQUEST_BY_CURL;
	if (!reaches(wrapper, &request->status) &&
	    (!last.dumps || request->key != NULL))
		request->by = HTTP_REQUEST_BY_SUDO;
	guard(request, &curl);
	/* Without its headers it is not known what curl has sent. */
	request->several |= last.dumps ? last.dump == NULL
				       : request->by == HTTP_REQUEST_BY_SUDO;
	if (last.dumps) {
		if (last.dump == NULL)
			log_say(request->log, LOUDNESS_VERBOSE,
			    STRINGS(
				"curl's own --dump-header is not a file: no "
				"HTTP status is read"));
		if (!use_dump(request, wrapper, last.dump))
			return false;
		path = NULL;
	}
	request->status.dump = true;
	return request->by == HTTP_REQUEST_BY_SUDO ||
	    amend(request, words, wrapper->command, path);
}

static bool
open_status(struct http_request *request)
{
	const struct policy *policy = request->policy;
	struct wrapper wrapper;

	if (policy->http_status != NULL)
		return status_file_open(&request->status, policy->http_status);
	if (!policy->http)
		return true;
	if (!status_file_make(&request->status))
		return false;
	wrapper = wrapper_look(policy->command);
	return !curl_named(policy->command[wrapper.command]) ||
	    know_curl(request, &wrapper);
}

void
http_request_start(
    struct http_request *request, const struct policy *policy, struct log *log)
{
	*request = (struct http_request){ .policy = policy,
		.log = log,
		.command = policy->command,
		.key = policy->key,
		.by = HTTP_REQUEST_BY_OTHERS };
}

bool
http_request_open(struct http_request *request, struct environment *environment)
{
	if (request->key != NULL && strcmp(request->key, "auto") == 0)
		request->key = sys_uuid(request->uuid);
	if (!open_status(request))
		return false;
	if ((request->status.path != NULL &&
		!environment_set(
		    environment, "RETRY_HTTP_STATUS", request->status.path)) ||
	    (request->key != NULL &&
		!environment_set(
		    environment, "RETRY_IDEMPOTENCY_KEY", request->key)))
		return false;
	if (request->by == HTTP_REQUEST_BY_SUDO && request->key != NULL)
		log_tell(request->log,
		    &(struct line){ .least = LOUDNESS_QUIET,
			.warning = true,
			.strings = STRINGS("curl under sudo is sent without "
					   "the key, put sudo in front of "
					   "retry") });
	return true;
}

void
http_request_begin(struct http_request *request)
{
	status_file_empty(&request->status, request->log);
}

void
http_request_say_missing(struct http_request *request)
{
	static const char *const help[] = {
		[HTTP_REQUEST_BY_OTHERS] =
		    "have the command write it to $RETRY_HTTP_STATUS, or "
		    "make curl the command",
		[HTTP_REQUEST_BY_CURL] =
		    "curl wrote none to $RETRY_HTTP_STATUS",
		[HTTP_REQUEST_BY_DUMP] =
		    "none where curl's own -D goes, use -i instead, "
		    "or -D \"$RETRY_HTTP_STATUS\" in sh -c",
		[HTTP_REQUEST_BY_SUDO] =
		    "curl under sudo cannot write to $RETRY_HTTP_STATUS, "
		    "put sudo in front of retry",
	};
	bool unread = request->unread &&
	    (request->by == HTTP_REQUEST_BY_OTHERS ||
		request->by == HTTP_REQUEST_BY_CURL);

	if (!request->missed)
		return;
	log_say(request->log, LOUDNESS_PLAIN,
	    STRINGS("no HTTP status found: ",
		unread ? "$RETRY_HTTP_STATUS cannot be read, as -v says"
		       : help[request->by]));
	request->missed = false;
}

/* Whether only the exit status of the command tells how its request ended. */
static bool
is_blind(const struct policy *policy)
{
	return !policy->http && policy->http_status == NULL &&
	    conditions_empty(&policy->rules.fail_on) &&
	    conditions_empty(&policy->rules.success_on);
}

/* Says, once, that curl does not tell a page from the error of a server. */
static void
advise(struct http_request *request)
{
	char **command = request->policy->command;

	if (request->advised || !is_blind(request->policy))
		return;
	request->advised = true;
	command += wrapper_look(command).command;
	if (curl_named(*command) && curl_read(command).lenient)
		log_say(request->log, LOUDNESS_PLAIN,
		    STRINGS("curl exits with 0 even if the server answers with "
			    "an error: use --http, or curl's own -f"));
}

void
http_request_end(struct http_request *request, struct outcome *outcome)
{
	bool exited = outcome->end == END_EXITED && outcome->code == 0;

	outcome->http = status_file_read(&request->status, request->log);
	outcome->once = request->once;
	outcome->method = request->method;
	outcome->several = request->several;
	outcome->curl = request->by != HTTP_REQUEST_BY_OTHERS;
	if (exited)
		advise(request);
	if (!request->policy->http || outcome->http.known || !exited ||
	    request->told)
		return;
	request->missed = request->told = true;
	request->unread = outcome->http.unread;
	/* A success would drop a held line. */
	if (!request->policy->hold_err)
		http_request_say_missing(request);
}

void
http_request_close(const struct http_request *request)
{
	status_file_close(&request->status);
	private_file_close(&request->config);
}
