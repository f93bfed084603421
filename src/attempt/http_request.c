#include "attempt/http_request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "http/http_status.h"
#include "tools/curl.h"
#include "output/writer.h"
#include "tools/command_line.h"
#include "streams/tempfile.h"
#include "sys/procfs.h"

/* capabilities(7); its header is the kernel's and not with every libc. */
#define CAP_SYS_PTRACE 19

/*
 * The most bytes of a status file that are parsed at once. Of a longer file the
 * last ones count. The first ones count instead if the last ones have no
 * response, or are only a part of a body.
 */
#define MOST 65536

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
		if (procfs_number(getpid()) == getpid())
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
 * options the later one, which is the user's, counts. path: of the file for
 * --dump-header, or NULL. False, with errno.
 */
static bool
amend(struct http_request *request, char **from, size_t first, const char *path)
{
	static char dump_header[] = "--dump-header", config[] = "--config";
	char **to;
	size_t count = 0, at = 1, done = 0;

	while (from[count] != NULL)
		count++;
	/* At most each word is an operation, with four more words. */
	request->command = to = malloc((5 * count + 1) * sizeof *to);
	if (to == NULL)
		return false;
	if (request->key != NULL && !make_config(request))
		return false;
	while (at != 0) {
		struct curl curl = curl_operation(from + first, at);

		while (done < first + curl.opening)
			*to++ = from[done++];
		if (!curl.dumps && path != NULL) {
			*to++ = dump_header;
			*to++ = (char *)(uintptr_t)path;
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

/*
 * Whether what sudo runs can open the private file. Another user cannot. Root
 * can open a file in memory by its path in /proc, with CAP_SYS_PTRACE, which
 * root may lack in a container. In /tmp not even root can: it must not open
 * another user's file with O_CREAT there (proc(5), fs.protected_regular).
 */
static bool
reaches(const struct wrapped *wrapper, const struct private_file *file)
{
	if (wrapper->alien)
		return false;
	if (!wrapper->root || geteuid() == 0)
		return true;
	return !file->temporary &&
	    prctl(PR_CAPBSET_READ, CAP_SYS_PTRACE, 0, 0, 0) == 1;
}

/* Finds out how curl can be told of the status file and the key, and whether
 * its request may be sent twice. False, with errno. */
static bool
know_curl(struct http_request *request, const struct wrapped *wrapper)
{
	const struct policy *policy = request->policy;
	char **command = policy->command + wrapper->command;
	struct curl curl = curl_read(command);
	const char *method =
	    policy->method == NULL ? curl.method : policy->method;
	const char *path = request->path;
	bool reached = reaches(wrapper, &request->made);

	if (curl.retries)
		log_warn(request->log,
		    STRINGS("curl has a --retry of its own: attempts "
			    "multiply"));
	if (request->key != NULL && curl.several)
		log_warn(request->log,
		    STRINGS("curl makes several requests: they share one "
			    "idempotency key"));
	request->source = curl.dumps ? HTTP_REQUEST_DUMP
	    : reached                ? HTTP_REQUEST_CURL
				     : HTTP_REQUEST_SUDO;
	request->known->curl = true;
	request->known->several = curl.several;

	/* Without a key only a request that is idempotent is sent twice. */
	if (!curl.keyed && !curl_idempotent(method) &&
	    (request->key == NULL ? policy->method == NULL : !reached))
		request->known->method = method;

	if (curl.dumps) {
		/* The file of curl's own -D is read instead, by a path that
		 * retry can use. */
		char *within = NULL;

		if (curl.dump == NULL)
			log_note(request->log,
			    STRINGS("curl's own --dump-header is not a file: "
				    "no HTTP status is read"));
		else if (wrapper->directory != NULL && curl.dump[0] != '/' &&
		    asprintf(&within, "%s/%s", wrapper->directory, curl.dump) ==
			-1)
			return false;
		request->path = within != NULL ? within : curl.dump;
		path = NULL;
	}
	/* Without its headers it is not known what curl has sent. */
	request->known->several |=
	    request->path == NULL || request->source == HTTP_REQUEST_SUDO;
	if (reached)
		return amend(request, policy->command, wrapper->command, path);
	if (request->key != NULL)
		log_tell(request->log,
		    &(struct line){ .least = LOUDNESS_QUIET,
			.warning = true,
			.strings = STRINGS("curl under sudo is sent without "
					   "the key, put sudo in front of "
					   "retry") });
	return true;
}

bool
http_request_open(struct http_request *request, const struct policy *policy,
    struct log *log, struct request *known, struct environment *environment)
{
	struct wrapped wrapper;
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
	if (policy->http_status != NULL) {
		request->source = HTTP_REQUEST_FILE;
		request->path = policy->http_status;
	} else if (policy->http) {
		if (!make(&request->made))
			return false;
		request->source = HTTP_REQUEST_COMMAND;
		request->path = request->made.path;
		wrapper = command_line_unwrap(policy->command);
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
	return request->source == HTTP_REQUEST_FILE ||
	    request->source == HTTP_REQUEST_DUMP;
}

static void
say_ignored(const struct http_request *request, const char *why)
{
	log_note(request->log,
	    STRINGS("status file '", request->path, "' ignored: ", why));
}

/*
 * Opens the user's file, if it is a regular one. Without O_NONBLOCK a FIFO
 * would block; without O_NOFOLLOW a link would choose what is emptied.
 */
static int
open_regular(const struct http_request *request, int flags)
{
	struct stat stat;
	int fd = open(request->path,
	    flags | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	bool known = fd != -1 && fstat(fd, &stat) == 0;

	if (known && S_ISREG(stat.st_mode))
		return fd;
	say_ignored(request, known ? "not a regular file" : strerror(errno));
	if (fd != -1)
		close(fd);
	return -1;
}

void
http_request_begin(struct http_request *request)
{
	struct stat stat;
	int fd = request->made.fd;

	request->stale = false;
	if (request->path == NULL)
		return;
	if (is_users(request)) {
		/* There may be no file yet. Only a regular file is opened for
		 * writing; that another one is ignored is said when the file
		 * would be read. */
		if (lstat(request->path, &stat) == -1 || !S_ISREG(stat.st_mode))
			return;
		fd = open_regular(request, O_WRONLY);
	}
	request->stale = fd == -1 || ftruncate(fd, 0) == -1;
	if (fd != -1 && request->stale)
		say_ignored(request, strerror(errno));
	if (fd != -1 && is_users(request))
		close(fd);
}

/*
 * Parses at most MOST bytes of the file, from an offset on. False, with errno,
 * if they cannot be read.
 */
static bool
parse(struct http_status *http, int fd, off_t from, bool dump)
{
	static char bytes[MOST]; /* no attempt allocates */
	ssize_t got;

	got = pread(fd, bytes, sizeof bytes, from);
	if (got == -1)
		return false;
	*http = http_status_parse(
	    bytes, (size_t)got, dump, sys_now(CLOCK_REALTIME));
	return true;
}

/*
 * Parses the file. What counts is at the end of a long file, unless it begins
 * with heads and a body. False, with errno, if the file cannot be read.
 */
static bool
parse_file(struct http_status *http, const struct http_request *request, int fd)
{
	bool dump = request->source >= HTTP_REQUEST_CURL;
	struct stat stat;
	struct http_status start, end = { .code = -1 };

	if (fstat(fd, &stat) == -1 || !parse(&start, fd, 0, dump))
		return false;
	dump |= start.form == HTTP_STATUS_HEADS;
	if (stat.st_size > MOST && start.form != HTTP_STATUS_PAGE &&
	    !parse(&end, fd, stat.st_size - MOST, dump))
		return false;
	*http = end.code >= 0 ? end : start;
	return true;
}

/* Reads the status file, after an attempt. */
static struct http_status
read_status(const struct http_request *request)
{
	struct http_status http = { .code = -1, .unread = request->stale };
	struct stat there;
	int fd = request->made.fd;

	if (request->path == NULL || request->stale)
		return http;
	if (is_users(request))
		fd = open_regular(request, O_RDONLY);
	/* If there is no file, no client has got a response. */
	http.unread = fd == -1 && lstat(request->path, &there) == 0;
	if (fd == -1)
		return http;
	if (!parse_file(&http, request, fd)) {
		/* A file that cannot be read may contain a response. */
		http.unread = true;
		say_ignored(request, strerror(errno));
	} else if (http.form == HTTP_STATUS_EMPTY) {
		say_ignored(request, "it is empty");
	} else if (http.form == HTTP_STATUS_UNRECOGNISED) {
		say_ignored(request, "unrecognised format");
	}
	if (http.after.doubtful)
		log_note(request->log,
		    STRINGS("status file '", request->path,
			"': a Retry-After was not understood"));
	if (is_users(request))
		close(fd);
	return http;
}

void
http_request_end(struct http_request *request, struct outcome *outcome)
{
	const struct policy *policy = request->policy;
	bool exited = outcome->end == END_EXITED && outcome->code == 0;

	outcome->http = read_status(request);
	if (!exited)
		return;

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
	if (!policy->http || outcome->http.code >= 0 || request->warned)
		return;
	request->warned = true;
	if (request->source == HTTP_REQUEST_DUMP)
		request->missing = "none where curl's own -D goes, use -i "
				   "instead, or -D \"$RETRY_HTTP_STATUS\" in "
				   "sh -c";
	else if (request->source == HTTP_REQUEST_SUDO)
		request->missing = "curl under sudo cannot write to "
				   "$RETRY_HTTP_STATUS, put sudo in front of "
				   "retry";
	else if (outcome->http.unread)
		request->missing = "$RETRY_HTTP_STATUS cannot be read, as -v "
				   "says";
	else if (request->source == HTTP_REQUEST_CURL)
		request->missing = "curl wrote none to $RETRY_HTTP_STATUS";
	else
		request->missing = "have the command write it to "
				   "$RETRY_HTTP_STATUS, or make curl the "
				   "command";
	/* A success would drop a held line. */
	if (!policy->hold_err)
		http_request_say_missing(request);
}

void
http_request_say_missing(struct http_request *request)
{
	if (request->missing != NULL)
		log_say(request->log,
		    request->policy->http_unasked ? LOUDNESS_VERBOSE
						  : LOUDNESS_PLAIN,
		    STRINGS("no HTTP status found: ", request->missing));
	request->missing = NULL;
}

void
http_request_close(const struct http_request *request)
{
	if (request->made.temporary)
		unlink(request->made.path);
	if (request->config.temporary)
		unlink(request->config.path);
}
