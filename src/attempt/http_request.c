#include "attempt/http_request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "http/http_status.h"
#include "sys/error.h"
#include "tools/curl.h"
#include "output/writer.h"
#include "tools/command_line.h"
#include "streams/tempfile.h"
#include "sys/procfs.h"

/* Bytes of a status file that are read at once. */
#define PART 65536

/*
 * Files for the command
 */

/*
 * Makes an empty file. False, with errno, if the kernel refuses. If /proc
 * belongs to another PID namespace, the number of retry means another process
 * there. To open a file of that process might have any effect.
 */
static bool
make(struct private_file *file)
{
	const char *directory;
	bool chosen;
	int try = -1;

	/* The path has the number of retry, not "self", which would mean the
	 * command. */
	file->fd = sys_move_up(memfd_create("retry", MFD_CLOEXEC));
	if (file->fd != -1) {
		snprintf(file->path, sizeof file->path, "/proc/%d/fd/%d",
		    getpid(), file->fd);
		if (procfs_is_ours())
			try = open(file->path, O_WRONLY | O_CLOEXEC);
		if (try != -1) {
			close(try);
			return true;
		}
		close(file->fd);
	}
	directory = tempfile_directory(&chosen);
	/* The command may have changed its directory when it opens the path. */
	if (directory[0] != '/' ||
	    strlen(directory) + TEMPFILE_NAME > sizeof file->path)
		directory = "/tmp";
	file->fd = tempfile_create(directory, file->path, sizeof file->path);
	file->temporary = file->fd != -1;
	return file->temporary;
}

/*
 * Makes a file of options (--config) that gives curl the key. A header in a
 * file of its own (-H @FILE) would be ignored in silence by a curl up to 7.54.
 */
static bool
make_config(struct http_request *request)
{
	struct writer writer = { .to = -1 };

	if (!make(&request->config))
		return false;
	writer.to = request->config.fd;
	writer_put(&writer, "header = \"Idempotency-Key: ");
	for (const char *c = request->key; *c != '\0'; c++) {
		if (*c == '"' || *c == '\\')
			writer_put(&writer, "\\");
		writer_put_bytes(&writer, c, 1);
	}
	writer_put(&writer, "\"\n");
	errno = writer_flush(&writer);
	return errno == 0;
}

/*
 * curl
 */

/*
 * Copies the command line from, in which curl is word number first, and puts
 * options of retry's before those of each operation of curl: of two equal
 * options the later one, which is the user's, counts. dumps: curl is to write
 * the status file. False, with errno.
 */
static bool
amend(struct http_request *request, char **from, size_t first, bool dumps)
{
	static char dump_header[] = "--dump-header", config[] = "--config";
	size_t count = first, at = 1, done = 0;
	char **to;

	while (from[count] != NULL)
		count++;
	/* At most each word is an operation, with four more words. One before
	 * them is for program_execute(). */
	to = (char **)malloc((5 * count + 2) * sizeof *to);
	if (to == NULL)
		return false;
	*to++ = NULL;
	request->command = to;
	if (request->key != NULL && !make_config(request))
		return false;
	while (at != 0) {
		struct curl curl = curl_operation(from + first, at);

		while (done < first + curl.opening)
			*to++ = from[done++];
		if (!curl.dumps && dumps) {
			*to++ = dump_header;
			*to++ = request->made.path;
		}
		if (!curl.keyed && request->key != NULL) {
			*to++ = config;
			*to++ = request->config.path;
		}
		at = curl.next;
	}
	while (done <= count)
		*to++ = from[done++];
	return true;
}

/* Whether a request with this method needs a key; where it is not known, it
 * may.
 */
static bool
needs_key(const char *method)
{
	return method == NULL || !curl_idempotent(method);
}

/* Finds out how curl can be told of the status file and the key, and whether
 * its request may be sent twice. False, with errno. */
static bool
know_curl(struct http_request *request, const struct wrapped *wrapper)
{
	const struct policy *policy = request->policy;
	struct curl curl = curl_read(policy->command + wrapper->command);
	const char *method =
	    policy->method != NULL ? policy->method : curl.method;

	request->known->keyed =
	    (request->key != NULL || curl.keyed) && needs_key(method);
	/* Without a key only a request that is idempotent is sent twice. */
	if (!curl.keyed && request->key == NULL && policy->method == NULL &&
	    !curl_idempotent(curl.method))
		request->known->method = curl.method;
	request->skips = curl.skips;
	/* As another user curl could not open the files. Without its headers it
	 * is not known what curl has sent. */
	if (wrapper->alien) {
		request->known->several = true;
		return true;
	}
	if (curl.retries)
		log_warn(request->log,
		    STRINGS("curl has a --retry of its own: attempts "
			    "multiply"));
	if (request->key != NULL && curl.several)
		log_warn(request->log,
		    STRINGS("curl makes several requests: they share one "
			    "idempotency key"));
	request->known->curl = true;
	request->known->several = curl.several;
	request->sums = curl.several && !curl.retries;

	/* The file of curl's own -D is read instead, by a path that retry can
	 * use. */
	if (curl.dumps &&
	    (curl.dump == NULL || (wrapper->moved && curl.dump[0] != '/')))
		request->known->several = true;
	else if (curl.dumps)
		request->path = curl.dump;
	return amend(request, policy->command, wrapper->command, !curl.dumps);
}

bool
http_request_open(struct http_request *request, const struct policy *policy,
    struct log *log, struct request *known, struct environment *environment)
{
	char uuid[SYS_UUID];

	*request = (struct http_request){ .policy = policy,
		.log = log,
		.command = policy->command,
		.key = policy->key,
		.known = known };
	if (request->key != NULL) {
		bool quoted = strcmp(request->key, "\"auto\"") == 0;

		if (quoted || strcmp(request->key, "auto") == 0) {
			snprintf(request->random, sizeof request->random,
			    quoted ? "\"%s\"" : "%s", sys_uuid(uuid));
			request->key = request->random;
		}
	}
	known->keyed = request->key != NULL && needs_key(policy->method);
	if (policy->http_status != NULL) {
		request->path = policy->http_status;
	} else if (policy->http) {
		struct wrapped wrapper = command_line_unwrap(policy->command);

		if (!make(&request->made))
			return false;
		request->path = request->made.path;
		if (curl_named(policy->command[wrapper.command]) &&
		    !know_curl(request, &wrapper))
			return false;
	}
	return (request->path == NULL ||
		   environment_set(
		       environment, "RETRY_HTTP_STATUS", request->path)) &&
	    (request->key == NULL ||
		environment_set(
		    environment, "RETRY_IDEMPOTENCY_KEY", request->key));
}

/*
 * The status file
 */

/* Whether the file is the user's, not made here. */
static bool
is_users(const struct http_request *request)
{
	return request->path != request->made.path;
}

static void
say_ignored(const struct http_request *request, const char *why)
{
	bool users = is_users(request);

	log_note(request->log,
	    STRINGS(users ? "status file '" : "$RETRY_HTTP_STATUS",
		users ? request->path : "", users ? "'" : "",
		" ignored: ", why));
}

/* Without O_NONBLOCK a FIFO would block; without O_NOFOLLOW a link would choose
 * what is emptied. */
#define CAUTIOUSLY (O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC)

void
http_request_begin(struct http_request *request)
{
	struct stat stat;
	int fd;

	request->stale = false;
	if (request->path == NULL)
		return;
	if (!is_users(request)) {
		request->stale = ftruncate(request->made.fd, 0) == -1;
		return;
	}
	/* There may be no file yet. Only a regular file is opened for writing;
	 * that another one is ignored is said when the file would be read. */
	if (lstat(request->path, &stat) == -1 || !S_ISREG(stat.st_mode))
		return;
	fd = open(request->path, O_WRONLY | O_TRUNC | CAUTIOUSLY);
	request->stale = fd == -1;
	if (fd == -1)
		say_ignored(request, error_words(errno));
	else
		close(fd);
}

/* Reads a file of this size. False, with errno, if it cannot be read. */
static bool
read_file(struct http_status *http, int fd, off_t size, enum http_form form)
{
	static char bytes[PART]; /* no attempt allocates */
	static struct http_reader reader;
	off_t at = 0;
	ssize_t got;

	http_status_begin(&reader, form, sys_now(CLOCK_REALTIME));
	/* What is written meanwhile might have no end. */
	do {
		got = pread(fd, bytes, sizeof bytes, at);
		if (got == -1)
			return false;
		at += got;
	} while (http_status_add(&reader, bytes, (size_t)got) && got > 0 &&
	    at < size);
	/* A file that begins with no head has its HTTP status at the end. */
	if (!reader.begun && size > PART)
		got = pread(fd, bytes, sizeof bytes, size - PART);
	if (got == -1)
		return false;
	*http = http_status_end(&reader, bytes, (size_t)got);
	return true;
}

/* Names curl's response, or the file as the user knows it. */
static void
say_doubtful(
    const struct http_request *request, const struct retry_after *after)
{
	bool users = is_users(request), curl = request->known->curl;

	log_note(request->log,
	    STRINGS(users  ? "status file '"
		    : curl ? "curl's response"
			   : "$RETRY_HTTP_STATUS",
		users ? request->path : "", users ? "': " : ": ",
		after->doubtful, " '", after->doubt, "' was not understood"));
}

/* Reads the status file, after an attempt. */
static struct http_status
read_status(const struct http_request *request)
{
	struct http_status http = { .code = -1, .unread = request->stale };
	const char *why = NULL;
	enum http_form form = request->sums ? HTTP_FORM_SEVERAL
	    : request->known->curl          ? HTTP_FORM_HEADS
					    : HTTP_FORM_ANY;
	struct stat stat;
	int fd = request->made.fd;

	if (request->path == NULL || request->stale)
		return http;
	if (is_users(request))
		fd = open(request->path, O_RDONLY | CAUTIOUSLY);
	if (fd == -1 || fstat(fd, &stat) == -1 ||
	    (S_ISREG(stat.st_mode) &&
		!read_file(&http, fd, stat.st_size, form)))
		why = error_words(errno);
	else if (!S_ISREG(stat.st_mode))
		why = "not a regular file";
	/* A file that cannot be read may contain a response. If there is no
	 * file, no client has got one. */
	http.unread =
	    why != NULL && (fd != -1 || lstat(request->path, &stat) == 0);
	if (why == NULL && http.code < 0)
		why = "no HTTP status in it";
	if (why != NULL)
		say_ignored(request, why);
	if (http.after.doubtful != NULL)
		say_doubtful(request, &http.after);
	if (fd != -1 && is_users(request))
		close(fd);
	return http;
}

void
http_request_end(struct http_request *request, struct outcome *outcome)
{
	const struct policy *policy = request->policy;
	bool failed = outcome->end != END_EXITED || outcome->code != 0;

	outcome->http = read_status(request);
	/* A later attempt may skip what this one has left of an error. */
	if (failed || outcome->http.code >= 400)
		request->skips = false;
	if (failed)
		return;
	request->missing |=
	    policy->http && outcome->http.code < 0 && !request->skips;

	/* Where only the exit status tells how the request ended, it does not
	 * tell a page from the error of a server. */
	if (!request->advised && !policy->http && policy->http_status == NULL &&
	    conditions_empty(&policy->rules.fail_on) &&
	    conditions_empty(&policy->rules.success_on)) {
		char **command = policy->command;

		request->advised = true;
		command += command_line_unwrap(command).command;
		if (curl_named(*command) && curl_read(command).lenient)
			log_warn(request->log,
			    STRINGS("curl exits with 0 even if the server "
				    "answers with an error: use --http, or "
				    "curl's own -f"));
	}
}

void
http_request_say_missing(const struct http_request *request)
{
	if (request->missing)
		log_say(request->log,
		    request->policy->http_unasked ? LOUDNESS_VERBOSE
						  : LOUDNESS_PLAIN,
		    STRINGS("no HTTP status found: ",
			request->known->curl
			    ? "curl wrote none to $RETRY_HTTP_STATUS"
			    : "have the command write it to "
			      "$RETRY_HTTP_STATUS, or make curl the command"));
}

void
http_request_close(const struct http_request *request)
{
	if (request->made.temporary)
		unlink(request->made.path);
	if (request->config.temporary)
		unlink(request->config.path);
}
