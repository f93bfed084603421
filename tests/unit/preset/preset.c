/*
 * preset: the table against lines that tools print; tests/tools/replay has
 * whole captures.
 */
#include "unit.h"
#include "policy/conditions.h"
#include "match/pattern.h"
#include "preset/preset.h"

static struct watch watch_room[CONDITIONS_WATCHES];

static struct pattern pattern; /* too large for the stack */

/* How a failure is judged by a preset alone. */
enum means { SUCCESS, STOP, RETRY, NEITHER };

static const char *const words[] = { "success", "fatal", "transient",
	"not retryable" };

static bool
matches(const char *ere, const char *text, size_t length)
{
	struct pattern_error error;

	if (ere == NULL)
		return false;
	if (!pattern_compile(&pattern, ere, strlen(ere), &error))
		return false;
	pattern_start(&pattern);
	pattern_feed(&pattern, text, length);
	return pattern_end(&pattern);
}

static bool
either(const char *err, const char *out, const char *on_err, const char *on_out)
{
	return matches(err, on_err, strlen(on_err)) ||
	    matches(out, on_out, strlen(on_out));
}

static enum means
judge(const struct preset *p, int status, const char *err, const char *out)
{
	struct conditions codes = { 0 };
	struct watches watches = {
		.list = watch_room
	}; /* codes of presets are plain */
	struct conditions_error error;

	if (status == 0 && !either(p->err.failed, p->out.failed, err, out))
		return SUCCESS;
	if (either(p->err.fatal, p->out.fatal, err, out))
		return STOP;
	if (!conditions_parse(&codes, &watches, p->codes, &error))
		return STOP;
	if (conditions_has_exit(&codes, status) ||
	    either(p->err.transient, p->out.transient, err, out))
		return RETRY;
	return NEITHER;
}

/*
 * Lines that were seen on loopback, or are in the tools' sources
 */

#define NAMELESS "dial tcp: lookup x on 10.0.0.1:53: no such host"

static const struct {
	const char *preset;
	int status;
	const char *err, *out;
	enum means means;
} lines[] = {
	{ "net", 1, "x: Connection refused", "", RETRY },
	{ "net", 1, "x: connect: connection refused", "", RETRY },
	{ "net", 1, "Temporary failure in name resolution", "", RETRY },
	{ "net", 1, "x: No such file or directory", "", NEITHER },
	{ "net", 1, "x: write error: Broken pipe", "", NEITHER },
	{ "net", 1, "Get \"https://x/\": EOF", "", RETRY },
	{ "net", 1, "Service Unavailable\n404 Not Found", "", STOP },
	{ "net", 1, "x: Permission denied", "", STOP },
	{ "net", 0, "x: Connection refused", "", SUCCESS },
	{ "net", 124, "", "", RETRY },
	{ "sysexits", 75, "", "", RETRY },
	{ "sysexits", 69, "", "", NEITHER },
	{ "sysexits", 124, "", "", NEITHER },
	{ "curl", 6, "", "", RETRY },
	{ "curl", 7, "", "", RETRY },
	{ "curl", 28, "", "", RETRY },
	{ "curl", 22, "", "", NEITHER },
	{ "curl", 22, "curl: (22) The requested URL returned error: 503", "",
	    RETRY },
	{ "curl", 22, "curl: (22) The requested URL returned error: 404", "",
	    NEITHER },
	{ "curl", 22, "curl: (22) The requested URL returned error: 501", "",
	    NEITHER },
	{ "curl", 23, "curl: (23) Failure writing output", "", NEITHER },
	{ "curl", 35, "curl: (35) Recv failure: Connection reset by peer", "",
	    RETRY },
	{ "curl", 35,
	    "curl: (35) OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong "
	    "version number",
	    "", STOP },
	{ "curl", 56, "curl: (56) CONNECT tunnel failed, response 403", "",
	    STOP },
	{ "curl", 56, "curl: (56) CONNECT tunnel failed, response 503", "",
	    RETRY },
	{ "curl", 60, "curl: (60) SSL certificate problem", "", NEITHER },
	{ "wget", 4, "", "", RETRY },
	{ "wget", 8, "2026-11-21 07:38:21 ERROR 503: Service Unavailable.", "",
	    RETRY },
	{ "wget", 8, "2026-11-21 07:38:21 ERROR 404: Not Found.", "", NEITHER },
	{ "wget", 5, "", "", NEITHER },
	{ "wget", 6, "", "", NEITHER },
	{ "ssh", 255, "u@h: Permission denied (publickey).", "", STOP },
	{ "ssh", 255, "Host key verification failed.", "", STOP },
	{ "ssh", 255, "Connection to h closed by remote host.", "", NEITHER },
	{ "ssh", 7, "curl: (7) Connection refused", "", NEITHER },
	{ "ssh", 255,
	    "kex_exchange_identification: Connection closed by remote host\n"
	    "Connection closed by 10.0.0.1 port 22",
	    "", RETRY },
	{ "scp", 255,
	    "ssh: connect to host 127.0.0.1 port 1: Connection refused\n"
	    "scp: Connection closed",
	    "", RETRY },
	{ "scp", 1, "client_loop: send disconnect: Broken pipe", "", RETRY },
	{ "rsync", 5, "@ERROR: max connections (4) reached -- try again later",
	    "", RETRY },
	{ "rsync", 5, "@ERROR: auth failed on module x", "", STOP },
	{ "rsync", 12, "rsync: write failed on x: No space left on device", "",
	    STOP },
	/* What rsync 3.5 prints if the server is not an rsync daemon. */
	{ "rsync", 5,
	    "rsync: server sent \"HTTP/1.1 400 Bad Request\" rather than "
	    "greeting\n"
	    "rsync error: error starting client-server protocol (code 5) at "
	    "main.c(1954) [Receiver=3.5.0]",
	    "", NEITHER },
	{ "rsync", 5, "", "", NEITHER },
	{ "rsync", 23, "", "", NEITHER },
	{ "git", 128,
	    "fatal: unable to access 'http://x/': The requested URL returned "
	    "error: 403",
	    "", STOP },
	{ "git", 128, "fatal: Authentication failed for 'http://x/'", "",
	    STOP },
	{ "git", 128,
	    "fatal: could not read Username for 'http://x': terminal prompts "
	    "disabled",
	    "", STOP },
	{ "git", 128, "x[0: 127.0.0.1]: errno=Connection refused", "", RETRY },
	{ "git", 128,
	    "ssh: connect to host 127.0.0.1 port 1: Connection refused\n"
	    "fatal: Could not read from remote repository.",
	    "", RETRY },
	{ "git", 128,
	    "git@x: Permission denied (publickey).\n"
	    "fatal: Could not read from remote repository.",
	    "", STOP },
	{ "git", 128,
	    "error: RPC failed; curl 92 HTTP/2 stream 5 was not closed cleanly",
	    "", RETRY },
	{ "git", 1, " ! [rejected]  main -> main (fetch first)", "", STOP },
	{ "git", 1, "error: pathspec 'x' did not match", "", NEITHER },
	{ "apt", 100, "E: Unable to locate package x", "", STOP },
	{ "apt", 100,
	    "E: Unable to acquire the dpkg frontend lock (x), are you root?",
	    "", STOP },
	{ "apt", 100, "E: Failed to fetch http://x  404  Not Found [IP: x]", "",
	    STOP },
	{ "apt", 0, "", "", SUCCESS },
	{ "apt", 0, "W: Failed to fetch http://x  404  Not Found [IP: x]", "",
	    STOP },
	{ "apt", 0, "W: Failed to fetch http://x  Nobody knows", "", NEITHER },
	{ "dnf", 1, "  - Curl error (7): Couldn't connect to server for x", "",
	    RETRY },
	{ "dnf", 1, "  - Status code: 503 for http://x", "", RETRY },
	{ "dnf", 1, "  - Status code: 404 for http://x", "", NEITHER },
	{ "dnf", 1, "Error: Unable to find a match: x", "", STOP },
	{ "dnf", 200, "", "", RETRY },
	{ "pip", 1,
	    "ERROR: Could not find a version that satisfies the requirement "
	    "foo==9 (from versions: 1.0, 1.1)",
	    "", STOP },
	{ "pip", 1, "  ERROR: HTTP error 404 while getting http://x", "",
	    STOP },
	{ "pip", 1, "  ERROR: HTTP error 503 while getting http://x", "",
	    RETRY },
	{ "pip", 2,
	    "pip._vendor.urllib3.exceptions.ReadTimeoutError: HTTPSConnection",
	    "", RETRY },
	{ "pip", 1,
	    "WARNING: Retrying (Retry(total=4)) after connection broken by x\n"
	    "error: command 'gcc' failed with exit code 1",
	    "", NEITHER },
	{ "npm", 1, "npm error code E404", "", STOP },
	{ "npm", 1, "npm ERR! code E401", "", STOP },
	{ "npm", 1, "npm ERR! code ETIMEDOUT", "", RETRY },
	{ "npm", 1, "Error: connect ECONNREFUSED 127.0.0.1:5432", "", NEITHER },
	{ "pnpm", 1, "", " ERR_PNPM_FETCH_503  GET http://x: Unavailable",
	    RETRY },
	{ "pnpm", 1, "", " ERR_PNPM_FETCH_404  GET http://x: Not Found", STOP },
	{ "pnpm", 1, "", " ERR_PNPM_META_FETCH_FAIL  GET http://x: x", RETRY },
	{ "yarn", 1, "ResponseError: Request failed \"503 Unavailable\"", "",
	    RETRY },
	{ "yarn", 1, "error Error: connect ECONNREFUSED 127.0.0.1:1", "",
	    RETRY },
	{ "yarn", 1, "error Couldn't find package \"x\" on the \"npm\"", "",
	    STOP },
	{ "mvn", 1, "",
	    "[ERROR] Could not transfer artifact x:y:pom:1 from/to m (http://"
	    "x): transfer failed for http://x, status: 503 Unavailable",
	    RETRY },
	{ "mvn", 1, "", "[ERROR] COMPILATION ERROR :", STOP },
	{ "cargo", 101, "  [7] Could not connect to server (Failed)", "",
	    RETRY },
	{ "cargo", 101, "error: could not compile `x`", "", STOP },
	{ "cargo", 101, "  config.json not found in registry", "", NEITHER },
	{ "go", 1, "go: x: Get \"https://x\": " NAMELESS, "", RETRY },
	{ "go", 1, "go: x: reading https://x: 404 Not Found", "", STOP },
	{ "go", 1, "x.go:3:1: syntax error: unexpected EOF", "", NEITHER },
	{ "docker", 1,
	    "Error response from daemon: Get \"https://x/v2/\": net/http: TLS "
	    "handshake timeout",
	    "", RETRY },
	{ "docker", 1,
	    "Error response from daemon: Head \"https://x\": received "
	    "unexpected HTTP status: 503 Service Unavailable",
	    "", RETRY },
	{ "docker", 1,
	    "Error response from daemon: toomanyrequests: You have reached "
	    "your pull rate limit.",
	    "", STOP },
	{ "docker", 1, "Error response from daemon: No such image: x:latest",
	    "", STOP },
	{ "docker", 1, "Error response from daemon: unauthorized", "", STOP },
	/* docker info 20, and builds. */
	{ "docker", 1,
	    "ERROR: Cannot connect to the Docker daemon at "
	    "unix:///var/run/docker.sock. Is the docker daemon running?",
	    "", RETRY },
	/* docker 29, from bug reports. */
	{ "docker", 125,
	    "docker: failed to connect to the docker API at "
	    "unix:///var/run/docker.sock; check if the path is correct and if "
	    "the daemon is running: dial unix /var/run/docker.sock: connect: "
	    "no such file or directory",
	    "", RETRY },
	{ "docker", 1,
	    "failed to connect to the docker API at "
	    "unix:///var/run/docker.sock; "
	    "check if the path is correct and if the daemon is running",
	    "", RETRY },
	/* docker 28.2: 125 alone may be bad usage just as well. */
	{ "docker", 125,
	    "unknown flag: --frob\n\nUsage:  docker run [OPTIONS] IMAGE "
	    "[COMMAND] [ARG...]",
	    "", NEITHER },
	{ "docker", 125,
	    "docker: permission denied while trying to connect to the Docker "
	    "daemon socket at unix:///var/run/docker.sock",
	    "", STOP },
	{ "podman", 125,
	    "Cannot connect to Podman. Please verify your connection to the "
	    "Linux system using `podman system connection list`\n"
	    "Error: unable to connect to Podman socket: Get "
	    "\"http://d/v4.3.1/libpod/_ping\": dial unix /run/p.sock: "
	    "connect: permission denied",
	    "", NEITHER },
	{ "docker", 1, "Error response from daemon: that is no volume", "",
	    NEITHER },
	{ "docker", 1, "app: dial tcp 10.0.0.1:1: connection refused", "",
	    NEITHER },
	{ "kubectl", 1,
	    "Error from server (ServiceUnavailable): the server is currently "
	    "unable to handle the request",
	    "", RETRY },
	{ "kubectl", 1, "Error from server (Forbidden): nope", "", STOP },
	{ "kubectl", 1, "Error from server (NotFound): pods \"x\" not found",
	    "", STOP },
	{ "kubectl", 1,
	    "error: You must be logged in to the server (Unauthorized)", "",
	    STOP },
	{ "kubectl", 1,
	    "The connection to the server 127.0.0.1:1 was refused - did you "
	    "specify the right host or port?",
	    "", RETRY },
	{ "kubectl", 1,
	    "Unable to connect to the server: x509: certificate has expired",
	    "", STOP },
	{ "kubectl", 1, "error: timed out waiting for the condition", "",
	    NEITHER },
	{ "helm", 1,
	    "Error: Kubernetes cluster unreachable: Get \"https://x\": x", "",
	    RETRY },
	{ "helm", 1, "Error: INSTALLATION FAILED: cannot re-use a name", "",
	    STOP },
	{ "terraform", 1, "connect: connection refused", "", RETRY },
	{ "terraform", 1, "\"http://x/x.zip\": bad response code: 503", "",
	    RETRY },
	{ "terraform", 1,
	    "Error: Error refreshing state: HTTP remote state endpoint "
	    "requires auth",
	    "", STOP },
	{ "terraform", 1, "Error: Unsupported argument", "", STOP },
	{ "aws", 255,
	    "An error occurred (503) when calling the ListBuckets operation "
	    "(reached max retries: 0): Service Unavailable",
	    "", RETRY },
	{ "aws", 255, "An error occurred (403) when calling x: Forbidden", "",
	    STOP },
	{ "aws", 254, "An error occurred (ThrottlingException) when calling x",
	    "", RETRY },
	{ "aws", 1, "upload failed: x An error occurred (SlowDown) when", "",
	    RETRY },
	{ "aws", 255, "Unable to locate credentials.", "", STOP },
	{ "gh", 1,
	    "Get \"https://127.0.0.1/api/v3/user\": dial tcp 127.0.0.1:443: "
	    "connect: connection refused",
	    "", RETRY },
	{ "gh", 4, "please run:  gh auth login", "", STOP },
	{ "gh", 1, "HTTP 502: Bad Gateway (https://x)", "", RETRY },
	{ "gh", 1, "HTTP 403: API rate limit exceeded", "", NEITHER },
	{ "gcloud", 1, "ERROR: (gcloud.x) UNAVAILABLE: x", "", RETRY },
	{ "gcloud", 1, "ERROR: (gcloud.x) PERMISSION_DENIED: x", "", STOP },
	{ "ansible", 4, "", "", RETRY },
	{ "ansible", 4, "",
	    "h | UNREACHABLE! => \"Failed to connect to the host via ssh: "
	    "u@h: Permission denied (publickey).\"",
	    STOP },
	{ "ansible", 2, "", "", NEITHER },
	{ "psql", 2, "FATAL:  the database system is starting up", "", RETRY },
	{ "psql", 3, "ERROR:  deadlock detected", "", RETRY },
	{ "psql", 1, "ERROR:  syntax error at or near \"x\"", "", STOP },
	{ "psql", 2, "FATAL:  database \"x\" does not exist", "", STOP },
	{ "pg_isready", 1, "", "", RETRY },
	{ "pg_isready", 3, "", "", NEITHER },
	{ "mysql", 1,
	    "ERROR 2002 (HY000): Can't connect to server on '127.0.0.1' (115)",
	    "", RETRY },
	{ "mysql", 1, "ERROR 2005 (HY000): Unknown server host 'x' (-2)", "",
	    RETRY },
	{ "mysqldump", 2, "mysqldump: Got error: 1045: \"Access denied for\"",
	    "", STOP },
	{ "mysql", 1, "ERROR 1045 (28000): Access denied for user 'x'", "",
	    STOP },
	{ "mysql", 1, "ERROR 1064 (42000) at line 1: x", "", STOP },
	{ "redis", 1, "Could not connect to Redis at x:1: Connection refused",
	    "", RETRY },
	{ "redis", 1, "LOADING Redis is loading the dataset in memory", "",
	    RETRY },
	{ "redis", 0, "", "PONG", SUCCESS },
	{ "redis", 0, "", "a page that says LOADING Redis is loading",
	    SUCCESS },
	{ "sqlite3", 5, "Error: in prepare, database is locked (5)", "",
	    RETRY },
	{ "sqlite3", 1, "Parse error near line 1: database is locked (5)", "",
	    RETRY },
	{ "sqlite3", 1, "Error: in prepare, near \"insrt\": syntax error", "",
	    NEITHER },
	{ "flock", 66, "", "", NEITHER },
	{ "rclone", 5, "", "", RETRY },
	{ "restic", 12, "", "", NEITHER },
	{ "apk", 1, "ERROR: x: temporary error (try again later)", "", RETRY },
	{ "apk", 1, "  x (no such package):", "", NEITHER },
	{ "apk", 1,
	    "WARNING: fetching http://x/main: temporary error (try again "
	    "later)\n"
	    "ERROR: unable to select packages:\n  x (no such package):",
	    "", RETRY },
	{ "apk", 1, "WARNING: fetching http://x: HTTP 503: Service Unavailable",
	    "", RETRY },
	{ "apk", 1, "WARNING: fetching http://x: HTTP 404: Not Found", "",
	    STOP },
	{ "apk", 1, "WARNING: fetching http://x: HTTP 501: Not Implemented", "",
	    NEITHER },
	{ "apk", 1, "WARNING: x: TLS: server certificate not trusted", "",
	    STOP },
	{ "zypper", 7, "", "", RETRY },
	{ "composer", 100, "curl error 28 while downloading https://x: x", "",
	    RETRY },
	{ "composer", 2,
	    "Your requirements could not be resolved to an installable set", "",
	    STOP },
	{ "bundle", 17, "Network error while fetching https://x (x)", "",
	    RETRY },
	{ "gradle", 1, "   > Read timed out", "", RETRY },
	{ "gradle", 1, "    java.net.ConnectException: Connection refused", "",
	    NEITHER },
	{ "mount", 32, "mount.nfs: Connection timed out", "", RETRY },
	{ "umount", 32, "umount: /mnt: target is busy.", "", RETRY },
	{ "mount", 32, "mount.nfs: access denied by server while mounting x",
	    "", STOP },
	{ "ping", 1, "", "", RETRY },
	{ "ping", 1, "ping: socket: Operation not permitted", "", STOP },
	{ "scp", 1, "scp: /x: Permission denied", "", STOP },
	{ "redis", 1, "NOAUTH Authentication required.", "", STOP },
	{ "sqlite3", 5, "", "", RETRY },
	{ "sqlite3", 8, "Error: attempt to write a readonly database", "",
	    STOP },
	{ "restic", 11, "", "", RETRY },
	{ "bundle", 17,
	    "Gem::RemoteFetcher::FetchError: bad response Not Found 404", "",
	    NEITHER },
	{ "gradle", 1, "   > Received status code 503 from server: x", "",
	    RETRY },
	{ "gradle", 1, "   > Received status code 403 from server: x", "",
	    STOP },
	{ "git", 128,
	    "fatal: unable to access 'http://x/': Could not resolve host: x",
	    "", RETRY },
	{ "git", 128, "fatal: not a git repository", "", NEITHER },
	{ "wget", 1, "wget: can't connect to remote host (10.0.0.1): x", "",
	    RETRY },
	{ "ping", 2, "ping: x: Temporary failure in name resolution", "",
	    RETRY },
	/* Tools of Node, and what git and corepack say for them. */
	{ "npm", 1, "npm error code EHOSTDOWN", "", RETRY },
	{ "npm", 1, "npm ERR! code UND_ERR_CONNECT_TIMEOUT", "", RETRY },
	{ "npm", 1, "npm error code E408", "", RETRY },
	{ "npm", 1, "npm error code E501", "", NEITHER },
	{ "npm", 1, "npm error code Z_BUF_ERROR", "", RETRY },
	{ "npm", 1, "npm error code SELF_SIGNED_CERT_IN_CHAIN", "", NEITHER },
	{ "npm", 1,
	    "npm error code 128\n"
	    "npm error fatal: unable to access 'http://x/r.git/': The "
	    "requested "
	    "URL returned error: 503",
	    "", RETRY },
	{ "npm", 1,
	    "npm error code 128\n"
	    "npm error fatal: unable to access 'http://x/r.git/': The "
	    "requested "
	    "URL returned error: 403",
	    "", NEITHER },
	{ "npm", 1,
	    "npm warn audit 503 Service Unavailable - POST http://x/-/npm/v1",
	    "", RETRY },
	{ "npm", 1, "npm error path /srv/ECONNRESET/socket hang up", "",
	    NEITHER },
	{ "pnpm", 1, "", " ERR_PNPM_FETCH_408  GET http://x: Timeout", RETRY },
	{ "pnpm", 1, "", " ERR_PNPM_FETCH_501  GET http://x: Nope", NEITHER },
	{ "pnpm", 1, "", " ERR_SOCKET_TIMEOUT  request to http://x failed",
	    RETRY },
	{ "pnpm", 1, "", " ERR_PNPM_BAD_TARBALL_SIZE  Actual size (9) of x",
	    RETRY },
	{ "pnpm", 1, "",
	    " ERR_PNPM_META_FETCH_FAIL  GET https://x/x: request to "
	    "https://x/x "
	    "failed, reason: Hostname/IP does not match certificate's altnames",
	    STOP },
	{ "pnpm", 1, "",
	    " ERR_PNPM_META_FETCH_FAIL  GET https://x/certificate has expired: "
	    "request to https://x failed, reason: connect ECONNREFUSED 1.2.3.4",
	    RETRY },
	{ "pnpm", 1, "", " WARN  GET http://x error (ECONNREFUSED). Will retry",
	    NEITHER },
	{ "pnpm", 1, "npm error code E503", "", RETRY },
	{ "pnpm", 1, "Error: Server answered with HTTP 502 when performing", "",
	    RETRY },
	{ "yarn", 1,
	    "error Error: http://x/y: Request \"http://x/y\" returned "
	    "a 429",
	    "", RETRY },
	{ "yarn", 1, "error Error: http://x/y.tgz: Request failed \"408 x\"",
	    "", RETRY },
	{ "yarn", 1, "error Error: http://x/y.tgz: Request failed \"501 x\"",
	    "", NEITHER },
	{ "yarn", 1,
	    "error An unexpected error occurred: \"https://x/y: tunneling "
	    "socket could not be established, statusCode=503\".",
	    "", RETRY },
	{ "yarn", 1,
	    "error Error: Hostname/IP does not match certificate's altnames",
	    "", STOP },
	{ "yarn", 1, "Error: connect ECONNREFUSED 127.0.0.1:5432", "",
	    NEITHER },
	{ "yarn", 1, "", "YN0001: | TimeoutError: Timeout awaiting 'socket'",
	    RETRY },
	{ "yarn", 1, "", "YN0035: |   Response Code: 429 (Too Many Requests)",
	    RETRY },
	{ "yarn", 1, "", "YN0035: |   Response Code: 501 (Not Implemented)",
	    NEITHER },
	{ "yarn", 1, "", "YN0001: | RequestError: certificate has expired",
	    STOP },
	{ "yarn", 1, "", "YN0085: | + econnreset-ECONNRESET@npm:1.0.0",
	    NEITHER },
	{ "bun", 1, "error: ConnectionClosed downloading tarball x@1.0.0", "",
	    RETRY },
	{ "bun", 1, "error: GET http://x/y - 501", "", NEITHER },
	{ "bun", 1,
	    "error: DEPTH_ZERO_SELF_SIGNED_CERT downloading package manifest x",
	    "", NEITHER },
	{ "bun", 1, "error: connect ECONNREFUSED 127.0.0.1:5432", "", NEITHER },
	{ "deno", 1,
	    "error: Import 'http://x/y.ts' failed.\n"
	    "    0: error sending request for url (http://x/y.ts): client "
	    "error "
	    "(Connect): dns error: failed to lookup address information",
	    "", RETRY },
	{ "deno", 1,
	    "error: Import 'https://x/y.ts' failed.\n"
	    "    0: error sending request for url (https://x/y.ts): client "
	    "error "
	    "(Connect): invalid peer certificate: UnknownIssuer",
	    "", STOP },
	{ "deno", 1, "error: Import 'http://x/y.ts' failed: 404 Not Found", "",
	    STOP },
	{ "deno", 1,
	    "error: Uncaught (in promise) TypeError: error sending request for "
	    "url (http://x/)",
	    "", NEITHER },
	/* Bundler breaks lines anywhere between two words. */
	{ "bundle", 17,
	    "due to underlying error <too many\nconnection resets (", "",
	    RETRY },
	{ "bundle", 17, "error <too many connection\nresets (http://x)>", "",
	    RETRY },
	{ "bundle", 17,
	    "error <bad response Service Unavailable\n503 (http://x", "",
	    RETRY },
	{ "bundle", 17, "<bad response Service\nUnavailable 503 (http://x)>",
	    "", RETRY },
	{ "bundle", 17, "<bad response Too Many Requests 429\n(http://x)>", "",
	    RETRY },
	{ "bundle", 17, "error <bad response Not Implemented\n501 (http://x)>",
	    "", NEITHER },
	{ "bundle", 17, "<server did not return a\nvalid file (http://x)>", "",
	    RETRY },
	{ "bundle", 17, "underlying error\n<Errno::EHOSTUNREACH: Failed to", "",
	    RETRY },
	{ "bundle", 1, "x.rb:3:in `connect': refused (Errno::ECONNREFUSED)", "",
	    NEITHER },
	{ "bundle", 1, "x.c:12: error: too few arguments in line 503", "",
	    NEITHER },
	{ "gem", 2, "  Unable to download data from http://x - timed out (http",
	    "", RETRY },
	{ "gem", 1, "    bad response Bad Gateway 502 (Gem::RemoteFetcher::F",
	    "", RETRY },
	{ "gem", 2,
	    "https://x/ - SSL_connect returned=1: certificate verify failed",
	    "", STOP },
	{ "gem", 2, "Could not find a valid gem 'retry-503' (>= 0)", "",
	    NEITHER },
	{ "ansible", 4, "[ERROR]: conflicting action statements: a, b", "",
	    STOP },
	{ "ansible", 4, "ERROR! Syntax Error while loading YAML.", "", STOP },
	{ "ansible", 2, "",
	    "fatal: [h]: FAILED! => {\"msg\": \"Status code was -1 and not "
	    "[200]: Request failed: <urlopen error [Errno 111] Connection "
	    "refused>\", \"status\": -1}",
	    RETRY },
	{ "ansible", 2, "",
	    "h | FAILED! => {\"msg\": \"non-zero return code\", \"stderr\": "
	    "\"curl: (7) Connection refused\"}",
	    NEITHER },
	{ "ansible", 2, "", "    \"status\": 429,", RETRY },
	{ "ansible", 2, "", "    \"status\": 501,", NEITHER },
	{ "ansible-galaxy", 1,
	    "ERROR! Unknown error when attempting to call Galaxy at "
	    "'http://x': "
	    "<urlopen error [Errno 111] Connection refused>",
	    "", RETRY },
	{ "ansible-galaxy", 1, "(HTTP Code: 404, Message: Not Found)", "",
	    STOP },
	{ "apt", 100, "E: Failed to fetch http://x  429  Too Many Requests", "",
	    RETRY },
	{ "apt", 100, "E: Failed to fetch http://x  501  Not Implemented", "",
	    NEITHER },
	{ "apt", 100,
	    "E: Failed to fetch https://x  Could not handshake: The TLS "
	    "connection was non-properly terminated. [IP: 1.2.3.4 443]",
	    "", RETRY },
	{ "dnf", 1,
	    "  - Curl error (35): SSL connect error for https://x [TLS connect "
	    "error: error:0A00010B:SSL routines::wrong version number]",
	    "", STOP },
	{ "dnf", 0, "Ignoring repositories: k", "", NEITHER },
	{ "zypper", 4, "Error code: Curl error 56", "", RETRY },
	{ "zypper", 4, "Error code: Curl error 60", "", NEITHER },
	{ "zypper", 4, "Error code: HTTP response: 408", "", RETRY },
	{ "zypper", 8, "", "Timeout exceeded when accessing 'http://x'.",
	    RETRY },
	{ "cargo", 101, "  failed to get a 200 OK response, got 503", "",
	    RETRY },
	{ "cargo", 101, "  unexpected http status code: 502; class=Http (34)",
	    "", RETRY },
	{ "cargo", 101,
	    "  failed to connect to x: Connection refused; class=Os (2)", "",
	    RETRY },
	{ "cargo", 101, "  could not open '/x': denied; class=Os (2)", "",
	    NEITHER },
	{ "cargo", 101,
	    "  [35] SSL connect error (TLS connect error: error:0A00010B:SSL "
	    "routines::wrong version number)",
	    "", STOP },
	{ "cargo", 101, "  failed to receive 200: got 404; class=Net (12)", "",
	    STOP },
	/* Composer's lines are broken anywhere. */
	{ "composer", 100,
	    "  n/packages.json\" file could not be downloaded (H\n"
	    "  TTP/1.1 503 Service Unavailable)  ",
	    "", RETRY },
	{ "composer", 100,
	    "  could not be downloaded (HTTP/1.1 5\n"
	    "  03 Service Unavailable)  ",
	    "", RETRY },
	{ "composer", 100,
	    "  could not be downloaded (HTTP/1.1 5\n"
	    "  01 Not Implemented)  ",
	    "", NEITHER },
	{ "composer", 100,
	    "  loaded: Failed to open stream: Connection refused  ", "",
	    RETRY },
	{ "go", 1, "go: x: read \"https://x/y.zip\": unexpected EOF", "",
	    RETRY },
	{ "go", 1, "go: x: stream error: stream ID 3; INTERNAL_ERROR", "",
	    RETRY },
	{ "go", 1, "go: x: reading https://x/@v/list: 501 Not Implemented", "",
	    NEITHER },
	{ "go", 1,
	    "\tfatal: unable to access 'https://x/': Failed to connect to x",
	    "", RETRY },
	{ "gradle", 1, "      > x:80 failed to respond", "", RETRY },
	{ "gradle", 1,
	    "Exception in thread \"main\" java.io.IOException: Server returned "
	    "HTTP response code: 503 for URL: https://x/gradle.zip",
	    "", RETRY },
	{ "gradle", 1, "      > PKIX path building failed: x", "", STOP },
	{ "gradle", 1, "      > Unsupported or unrecognized SSL message", "",
	    STOP },
	{ "mvn", 1, "",
	    "[ERROR] Could not transfer artifact a:b:pom:1 from/to k (https://"
	    "x): transfer failed for https://x/b.pom: PKIX path building "
	    "failed",
	    STOP },
	{ "mvn", 1, "",
	    "[ERROR] Could not transfer artifact a:b:pom:1 from/to k (http://"
	    "x): transfer failed for http://x/b.pom, status: 501 Nope",
	    NEITHER },
	{ "mvn", 1, "",
	    "[ERROR] Could not transfer artifact a:b:pom:1 from/to k (http://"
	    "x): transfer failed for http://x/b.pom",
	    RETRY },
	{ "mvn", 1, "", "[ERROR] Tests run: 1: Connection refused", NEITHER },
	{ "helm", 1,
	    "Error: looks like \"http://x\" is not a valid chart repository or "
	    "cannot be reached: failed to fetch http://x/index.yaml : 503 Gone",
	    "", RETRY },
	{ "helm", 1,
	    "Error: GET \"https://x/v2/\": response status code 429: x", "",
	    RETRY },
	{ "helm", 1, "Error: UPGRADE FAILED: timed out waiting for x", "",
	    NEITHER },
	{ "helm", 1, "Error: failed to update the following repositories",
	    "\tfailed to fetch http://x/index.yaml : 503 Service Unavailable",
	    RETRY },
	{ "terraform", 1, "later: 503 Service", "", RETRY },
	{ "terraform", 1, "dial tcp 127.0.0.1:1: connect: connection\nrefused",
	    "", RETRY },
	/* Tools of Python. */
	{ "pip", 1, "pip._vendor.requests.exceptions.RetryError: HTTPSConn", "",
	    RETRY },
	{ "pip", 1,
	    "pip._vendor.requests.exceptions.SSLError: (Caused by SSLError("
	    "SSLEOFError(8, 'EOF occurred in violation of protocol')))",
	    "", RETRY },
	{ "pip", 1, "ERROR: (from versions: none)",
	    "Could not fetch URL https://x/: There was a problem confirming "
	    "the "
	    "ssl certificate: [SSL: RECORD_LAYER_FAILURE] record layer failure",
	    STOP },
	{ "pip", 1, "ERROR: (from versions: none)",
	    "Could not fetch URL https://x/: There was a problem confirming "
	    "the "
	    "ssl certificate: [SSL: UNEXPECTED_EOF_WHILE_READING]",
	    RETRY },
	{ "pip", 1, "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES",
	    "  0.0/1.0 MB ? eta -:--:--", RETRY },
	{ "pip", 1, "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES",
	    "  1.0/1.0 MB 10.1 MB/s eta 0:00:00", NEITHER },
	{ "poetry", 1, "All attempts to connect to x failed.", "", RETRY },
	{ "poetry", 1, "", "  HTTP Error 503: Service Unavailable | b''",
	    RETRY },
	{ "poetry", 1, "  HTTP Error 403: Forbidden | b''", "", STOP },
	{ "poetry", 1, "requests.exceptions.ConnectionError: x", "", NEITHER },
	{ "twine", 1, "requests.exceptions.ReadTimeout: x", "", RETRY },
	{ "twine", 1, "requests.exceptions.SSLError: CERTIFICATE_VERIFY_FAILED",
	    "", STOP },
	{ "twine", 1, "",
	    "ERROR    HTTPError: 501 Not Implemented from http://x", NEITHER },
	{ "uv", 2,
	    "error: Failed to fetch: `http://x/`\n"
	    "  Caused by: HTTP status server error (503 Service Unavailable) "
	    "for",
	    "", RETRY },
	{ "uv", 1,
	    "  \xe2\x95\xb0\xe2\x94\x80\xe2\x96\xb6 HTTP status server "
	    "error (500 Internal Server Error) for url (http://x)",
	    "", RETRY },
	{ "uv", 1, "  Caused by: HTTP status client error (403 Forbidden)", "",
	    STOP },
	{ "uv", 1, "  Caused by: tcp connect error: Connection refused", "",
	    RETRY },
	{ "uv", 1,
	    "  Caused by: client error (Connect)\n"
	    "  Caused by: invalid peer certificate: UnknownIssuer",
	    "", STOP },
	{ "uv", 1, "  Caused by: end of file before message length reached", "",
	    RETRY },
	{ "uv", 1, "ConnectionRefusedError: tcp connect error", "", NEITHER },
	{ "conda", 1, "CondaHTTPError: HTTP 000 CONNECTION FAILED for url <x>",
	    "", RETRY },
	{ "conda", 1,
	    "CondaHTTPError: HTTP 503 SERVICE UNAVAILABLE for url <x>", "",
	    RETRY },
	{ "conda", 1,
	    "UnavailableInvalidChannel: HTTP 404 NOT FOUND for channel", "",
	    STOP },
	{ "micromamba", 1,
	    "critical libmamba Download error (7) Could not connect to server "
	    "[x",
	    "", RETRY },
	{ "micromamba", 1, "Transfer finalized, status: 501 [http://x] 3 bytes",
	    "", NEITHER },
	{ "dotnet", 1, "",
	    "x.csproj : error NU1301: Unable to load the service index for x",
	    RETRY },
	{ "dotnet", 1, "",
	    "error NU1301: Unable to load x\nerror NU1301:   Response status "
	    "code does not indicate success: 401 (Unauthorized).",
	    STOP },
	{ "dotnet", 1,
	    "error: Response status code does not indicate success: "
	    "503 (Service Unavailable).",
	    "", RETRY },
	{ "dotnet", 1, "", "   SocketException : Connection refused", NEITHER },
	{ "net", 1, "write:errno=104", "", RETRY },
	{ "net", 1, "connect:errno=13", "", NEITHER },
	{ "npm", 1, "npm error code EIDLETIMEOUT", "", RETRY },
	{ "gem", 1,
	    "    Errno::ECONNREFUSED: Failed to open TCP connection to x:80 "
	    "(Connection refused) (Gem::RemoteFetcher::FetchError)",
	    "", RETRY },
	{ "bundle", 17, "due to underlying error <timed\nout (http://x)>", "",
	    RETRY },
	{ "composer", 100,
	    "  curl error 35 while downloading https://x:  \n"
	    "  error:0A00010B:SSL routines::wrong version number  ",
	    "", STOP },
	{ "net", 1, "x: `408 Request Timeout'", "", RETRY },
	/* From the tools' sources; no capture shows them. */
	{ "aria2c", 1, "",
	    "  -> [SocketCore.cc:1018] errorCode=1 SSL/TLS handshake failure: "
	    "The "
	    "TLS connection was non-properly terminated.",
	    RETRY },
	{ "aria2c", 22, "",
	    "  -> [HttpSkipResponseCommand.cc:239] errorCode=22 The response "
	    "status is not successful. status=408",
	    RETRY },
	{ "aria2c", 1, "",
	    "  -> [SocketCore.cc:1018] errorCode=1 SSL/TLS handshake failure: "
	    "An "
	    "unexpected TLS packet was received.",
	    NEITHER },
	{ "aria2c", 3, "", "ERR | ./status=503", NEITHER },
	{ "aws", 1,
	    "download failed: s3://b/k to k ('Connection broken: "
	    "ConnectionResetError(104, 'Connection reset by peer')', x)",
	    "", RETRY },
	{ "aws", 254,
	    "An error occurred (OperationAborted) when calling the "
	    "CreateBucket "
	    "operation: A conflicting conditional operation",
	    "", RETRY },
	{ "az", 1, "ERROR: (TooManyRequests) The request is being throttled.",
	    "", RETRY },
	{ "az", 1,
	    "ERROR: ('Connection aborted.', ConnectionResetError(104, 'x'))",
	    "", RETRY },
	{ "az", 1, "ERROR: (AuthorizationFailed) The client 'x' with", "",
	    STOP },
	{ "az", 1, "ERROR: (ResourceNotFound) The Resource 'x'", "", STOP },
	{ "crane", 1,
	    "Error: fetching manifest x/y: GET http://x/v2/y/manifests/latest: "
	    "unexpected status code 503 Service Unavailable: <html>",
	    "", RETRY },
	{ "crane", 1,
	    "Error: GET https://x/v2/y/manifests/z: TOOMANYREQUESTS: slow down",
	    "", RETRY },
	{ "crane", 1,
	    "Error: GET https://x/v2/y/manifests/z: TOOMANYREQUESTS: You have "
	    "reached your pull rate limit.",
	    "", STOP },
	{ "crane", 1,
	    "Error: GET https://x/v2/y/manifests/z: MANIFEST_UNKNOWN: unknown",
	    "", STOP },
	{ "dns", 0, "",
	    ";; ->>HEADER<<- opcode: QUERY, status: NXDOMAIN, id: 8943",
	    SUCCESS },
	{ "dns", 0, "", "x. 60 IN TXT \"status: SERVFAIL\"", SUCCESS },
	{ "dns", 1, "", "Host x not found: 3(NXDOMAIN)", STOP },
	{ "dns", 1, "", "** server can't find x: NXDOMAIN", STOP },
	{ "dns", 1, "", "** server can't find x: SERVFAIL", RETRY },
	{ "dns", 9, "", "", RETRY },
	{ "docker", 1,
	    "Error: initializing source docker://x: pinging container registry "
	    "x: invalid status code from registry 503 (Service Unavailable)",
	    "", RETRY },
	{ "docker", 1,
	    "Error response from daemon: login attempt to http://x/v2/ failed "
	    "with status: 502 Bad Gateway",
	    "", RETRY },
	{ "docker", 1,
	    "Error response from daemon: Get \"https://x/v2/\": Service "
	    "Unavailable",
	    "", RETRY },
	{ "docker", 1,
	    "Error response from daemon: Get \"https://x/v2/\": http: server "
	    "gave HTTP response to HTTPS client",
	    "", STOP },
	{ "docker", 1,
	    "ERROR: failed to solve: rpc error: code = Unavailable desc = EOF",
	    "", RETRY },
	{ "etcdctl", 1, "Error: etcdserver: leader changed", "", RETRY },
	{ "etcdctl", 1, "Error: etcdserver: permission denied", "", STOP },
	{ "etcdctl", 1,
	    "desc = \"transport: authentication handshake failed: x509: "
	    "certificate\"\nError: context deadline exceeded",
	    "", STOP },
	{ "gcloud", 1,
	    "ERROR: gcloud crashed (ConnectionError): ('Connection aborted.', "
	    "RemoteDisconnected('Remote end closed connection'))",
	    "", RETRY },
	{ "gcloud", 1, "ERROR: (gcloud.storage.cp) HTTPError 429: <html>", "",
	    RETRY },
	{ "gcloud", 1, "ERROR: (gcloud.storage.cp) HTTPError 404: <html>", "",
	    NEITHER },
	{ "gh", 1, "unexpected EOF", "", RETRY },
	{ "gh", 1, "x.yml:3: found unexpected EOF in a string", "", NEITHER },
	{ "git", 128,
	    "fatal: unable to access 'https://x/': CONNECT tunnel failed, "
	    "response 503",
	    "", RETRY },
	{ "git", 128,
	    "fatal: unable to access 'https://x/': CONNECT tunnel failed, "
	    "response 407",
	    "", NEITHER },
	{ "git", 128, "error: cannot open 'early-EOF.txt': Is a directory", "",
	    NEITHER },
	{ "glab", 1,
	    "GET https://x/api/v4/projects: 503 {message: Unavailable}", "",
	    RETRY },
	{ "glab", 1, "GET https://x/api/v4/projects: 403 {message: No}", "",
	    NEITHER },
	{ "hg", 255,
	    "abort: working directory of /x: timed out waiting for lock held "
	    "by "
	    "'h:1'",
	    "", RETRY },
	{ "hg", 255,
	    "remote: ssh: connect to host x port 22: Connection refused\n"
	    "abort: no suitable response from remote hg",
	    "", RETRY },
	{ "hg", 255, "abort: error: bad HTTP status line: 'SSH-2.0'", "",
	    NEITHER },
	{ "hg", 1, "abort: HTTP Error 410: Gone", "", STOP },
	{ "httpie", 5, "", "", RETRY },
	{ "httpie", 5, "http: warning: HTTP 501 Not Implemented", "", STOP },
	{ "httpie", 4, "http: LogLevel.WARNING: HTTP 429 Too Many Requests", "",
	    RETRY },
	{ "httpie", 1,
	    "xh: error: error sending request for url (https://x/)\n"
	    "    1: invalid peer certificate: Expired",
	    "", STOP },
	{ "httpie", 1,
	    "http: error: ChunkedEncodingError: (\"Connection broken: "
	    "InvalidChunkLength(got length b'', 0 bytes read)\", x)",
	    "", RETRY },
	{ "kubectl", 1, "error: unexpected EOF", "", RETRY },
	{ "kubectl", 1,
	    "Unable to connect to the server: getting credentials: exec: "
	    "executable aws not found",
	    "", STOP },
	{ "kubectl", 1, "error: error reading [EOF.yaml]: no such file", "",
	    NEITHER },
	{ "ldapsearch", 51, "", "", RETRY },
	{ "ldapsearch", 255, "ldap_result: Timed out (-5)", "", RETRY },
	{ "ldapsearch", 49, "ldap_bind: Invalid credentials (49)", "", STOP },
	{ "lftp", 1, "get: /f: ", "", RETRY },
	{ "lftp", 1, "get: /f: No such file or directory", "", NEITHER },
	{ "mongosh", 1,
	    "MongoNetworkError: connect ECONNREFUSED 127.0.0.1:27017", "",
	    RETRY },
	{ "mongosh", 1, "MongoServerError[NotWritablePrimary]: not primary", "",
	    RETRY },
	{ "mongosh", 1, "MongoServerError: Authentication failed.", "", STOP },
	{ "mysql", 1,
	    "ERROR 1226 (42000): User 'x' has exceeded the 'max_questions' "
	    "resource (current value: 9)",
	    "", NEITHER },
	{ "mysql", 1, "ERROR 1927 (70100) at line 1: Connection was killed", "",
	    RETRY },
	{ "nc", 1, "", "", RETRY },
	{ "nc", 1, "nc: invalid option -- 'y'", "", STOP },
	{ "ncat", 2,
	    "Ncat: Could not resolve hostname \"x\": Name or service not "
	    "known. "
	    "QUITTING.",
	    "", RETRY },
	{ "oras", 1,
	    "Error: GET \"http://x/v2/y\": response status code 429: too many",
	    "", RETRY },
	{ "oras", 1,
	    "Error: GET \"http://x/v2/y\": response status code 403: denied: x",
	    "", STOP },
	{ "psql", 2,
	    "psql: error: connection to server at \"h\", port 5432 failed: "
	    "FATAL:  no more connections allowed (max_client_conn)",
	    "", RETRY },
	{ "psql", 1, "ERROR:  could not obtain lock on row in relation \"t\"",
	    "", RETRY },
	{ "psql", 1, "ERROR:  canceling statement due to statement timeout", "",
	    NEITHER },
	{ "rclone", 1,
	    "Failed to ls: operation error S3: ListObjectsV2, https response "
	    "error StatusCode: 503, RequestID: x",
	    "", RETRY },
	{ "rclone", 1,
	    "CRITICAL: Failed to create file system for \":sftp:\": NewFs: "
	    "couldn't connect SSH: dial tcp x: connect: connection refused",
	    "", RETRY },
	{ "rclone", 1, "2026/11/22 ERROR : 503.txt: Failed to copy: x", "",
	    NEITHER },
	{ "redis", 0, "", "ERR max number of clients reached", RETRY },
	{ "redis", 0, "", "NOAUTH Authentication required.", STOP },
	{ "redis", 0, "",
	    "WRONGPASS invalid username-password pair or user is disabled.",
	    STOP },
	{ "redis", 0, "", "a value that says NOAUTH x", SUCCESS },
	{ "restic", 1,
	    "Fatal: unable to open config file: unexpected HTTP response "
	    "(503): "
	    "503 Service Unavailable",
	    "", RETRY },
	{ "s3cmd", 70, "ERROR: S3 error: 504 (Gateway Timeout)", "", RETRY },
	{ "s3cmd", 77, "ERROR: S3 error: 403 (Forbidden)", "", STOP },
	{ "s3cmd", 74, "ERROR: [Errno -2] Name or service not known", "",
	    RETRY },
	{ "scp", 1, "lost connection", "", RETRY },
	{ "smbclient", 1, "",
	    "protocol negotiation failed: "
	    "NT_STATUS_CONNECTION_DISCONNECTED",
	    RETRY },
	{ "smbclient", 1, "", "session setup failed: NT_STATUS_LOGON_FAILURE",
	    STOP },
	{ "ssh", 255,
	    "/bin/sh: 1: exec: nc: not found\n"
	    "Connection closed by UNKNOWN port 65535",
	    "", STOP },
	{ "svn", 1, "svn: E670003: Temporary failure in name resolution", "",
	    RETRY },
	{ "svn", 1,
	    "svn: E120106: ra_serf: The server sent a truncated HTTP response "
	    "body.",
	    "", RETRY },
	{ "svn", 1,
	    "svn: E175002: Unexpected HTTP status 405 'Method Not Allowed' on "
	    "'/svn'",
	    "", NEITHER },
	{ "wget", 8, "", "", NEITHER },
	{ "wget", 8, "  HTTP/1.1 503 Service Unavailable", "", RETRY },
	{ "wget", 4,
	    "OpenSSL: error:0A00010B:SSL routines::wrong version "
	    "number",
	    "", STOP },
	{ "wget", 4, "Proxy tunneling failed: Forbidden", "", STOP },
	{ "wget", 1, "wget: error getting response: Connection reset by peer",
	    "", RETRY },
	{ "wget2", 0, "Just got 5000 of 1000000 bytes (http://x/)", "", RETRY },
	{ "wget2", 0, "HTTP ERROR response 429 Too Many Requests [http://x/]",
	    "", RETRY },
	{ "wget2", 0, "HTTP ERROR response 403 Forbidden [http://x/]", "",
	    STOP },
	{ "wget2", 0, "Saving 'Failed'", "", SUCCESS },
	/* Whole messages of tools; no capture shows them. */
	{ "mvn", 1, "",
	    "[ERROR] Could not transfer artifact a:b:jar:1 from/to central "
	    "(https://x): Failed to transfer file: https://x/b-1.jar. Return "
	    "code is: 503 , ReasonPhrase:Service Unavailable. -> [Help 1]",
	    RETRY },
	{ "mvn", 1, "",
	    "[ERROR] Could not transfer artifact a:b:jar:1 from/to central "
	    "(https://x): Failed to transfer file: https://x/b-1.jar. Return "
	    "code is: 401 , ReasonPhrase:Unauthorized.",
	    STOP },
	{ "mvn", 1, "",
	    "[ERROR] Could not transfer artifact a:b:pom:1 from/to k "
	    "(https://x): Failed to transfer https://x/a.pom. Error code 503, "
	    "x",
	    RETRY },
	{ "mvn", 1, "",
	    "[ERROR] Could not transfer artifact a:b:pom:1 from/to k "
	    "(https://x): Failed to transfer https://x/a.pom. Error code 501, "
	    "x",
	    NEITHER },
	{ "mvn", 1, "",
	    "[ERROR] Could not transfer artifact a:b:jar:1 from/to central "
	    "(https://x): /10.0.0.1:1: GOAWAY received",
	    RETRY },
	{ "yarn", 1,
	    "error An unexpected error occurred: \"https://x/@babel%2fcore: "
	    "Request failed \\\"500 Internal Server Error\\\"\".",
	    "", RETRY },
	{ "yarn", 1,
	    "error An unexpected error occurred: \"https://x/@babel%2fcore: "
	    "Request failed \\\"404 Not Found\\\"\".",
	    "", STOP },
	{ "bundle", 1,
	    "Gem::RemoteFetcher::FetchError: Errno::ECONNRESET: Connection "
	    "reset by peer - SSL_connect (https://x/y.gem)",
	    "", RETRY },
	{ "bundle", 1,
	    "Gem::RemoteFetcher::FetchError: Errno::ETIMEDOUT: Operation timed "
	    "out",
	    "", RETRY },
	{ "bundle", 1,
	    "rake aborted!\nErrno::ECONNRESET: Connection reset by peer", "",
	    NEITHER },
	{ "bundle", 1,
	    "Net::OpenTimeout: Failed to open TCP connection to "
	    "rubygems.org:443 (execution expired)",
	    "", RETRY },
	{ "bundle", 1,
	    "rake aborted!\nNet::OpenTimeout: Failed to open TCP connection to "
	    "db:443 (execution expired)",
	    "", NEITHER },
	{ "gem", 2,
	    "          Unable to download data from https://x/ - no such name "
	    "(https://x/specs.4.8.gz)",
	    "", RETRY },
	{ "terraform", 1,
	    "\xe2\x94\x82 Error: Error creating Network: googleapi: Error 503: "
	    "The x",
	    "", RETRY },
	{ "terraform", 1,
	    "\xe2\x94\x82 Error: Error creating Network: googleapi: "
	    "Error\n\xe2\x94\x82 503: The service x",
	    "", RETRY },
	{ "terraform", 1,
	    "\xe2\x94\x82 currently unavailable.,\n\xe2\x94\x82 backendError",
	    "", RETRY },
	{ "terraform", 1,
	    "\xe2\x94\x82 Error: Error creating Network: googleapi: Error 409: "
	    "x",
	    "", NEITHER },
	{ "terraform", 1,
	    "\xe2\x94\x82   on main.tf line 503, in module "
	    "\"x\":\n\xe2\x94\x82  503: The = var.x_backendError",
	    "", NEITHER },
	{ "terraform", 1,
	    "\xe2\x94\x82 unsuccessful request to https://x: 503 "
	    "Service\n\xe2\x94\x82 Unavailable",
	    "", RETRY },
	{ "terraform", 1,
	    "\xe2\x94\x82 unsuccessful request to https://x: 501 "
	    "Service\n\xe2\x94\x82 x",
	    "", NEITHER },
	{ "kubectl", 1,
	    "Error from server: rpc error: code = Unavailable desc = transport "
	    "is closing",
	    "", RETRY },
	{ "kubectl", 1, "Error from server: rpc error: code = Unknown desc = x",
	    "", NEITHER },
	{ "kubectl", 1, "Error from server: leader changed", "", RETRY },
	{ "kubectl", 1, "Error from server: etcdserver: leader changed", "",
	    RETRY },
	{ "kubectl", 1, "error: lost connection to pod", "", NEITHER },
	{ "docker", 1,
	    "ERROR: failed to solve: Unavailable: error reading from server: "
	    "EOF",
	    "", RETRY },
	{ "docker", 1,
	    "ERROR: failed to solve: DeadlineExceeded: failed to push x: x", "",
	    RETRY },
	{ "docker", 1, "ERROR: failed to solve: NotFound: x", "", NEITHER },
	{ "docker", 1,
	    "filesystem layer verification failed for digest sha256:0", "",
	    RETRY },
	{ "gradle", 1,
	    "   > Timeout waiting to lock journal cache (/x). It is currently "
	    "in use by another Gradle instance.",
	    "", RETRY },
	{ "gradle", 1,
	    "Gradle build daemon disappeared unexpectedly (it may have been "
	    "killed or may have crashed)",
	    "", RETRY },
	{ "gradle", 1,
	    "x.Test > Timeout waiting to lock x, in use by another y FAILED",
	    "", NEITHER },
	{ "pip", 1,
	    "ERROR: Could not install packages due to an OSError: [Errno 104] "
	    "Connection reset by peer",
	    "", RETRY },
	{ "pip", 1,
	    "ERROR: Could not install packages due to an OSError: [Errno 2] No "
	    "such file or directory",
	    "", NEITHER },
	{ "dnf", 1,
	    "http://x/repomd.xml: [Errno 14] curl#6 - \"Could not resolve "
	    "host: x\"",
	    "", RETRY },
	{ "dnf", 1, "http://x/repomd.xml: [Errno 14] curl#60 - \"x\"", "",
	    NEITHER },
	{ "dnf", 1,
	    "http://x/repomd.xml: [Errno 14] curl#35 - \"certificate has "
	    "expired\"",
	    "", STOP },
	{ "dnf", 1,
	    "Existing lock /var/run/yum.pid: another copy is running as pid "
	    "1234.",
	    "", RETRY },
	{ "apt", 100,
	    "E: Release file for http://x/InRelease is not valid yet (invalid "
	    "for another 2h 1min 5s). Updates will not be applied.",
	    "", RETRY },
	{ "apt", 100,
	    "E: Release file for http://x/InRelease is expired (invalid since "
	    "2h 1min 5s). Updates will not be applied.",
	    "", NEITHER },
	{ "apt", 100,
	    "E: Failed to fetch http://x/y.deb  Undetermined Error [IP: "
	    "1.2.3.4 80]",
	    "", RETRY },
	{ "gcloud", 1,
	    "ERROR: (gcloud.x) There was a problem refreshing your current "
	    "auth tokens: HTTPSConnectionPool(host='x', port=443): Max retries "
	    "exceeded with url: /token\nPlease run:\n\n  $ gcloud auth login",
	    "", RETRY },
	{ "gcloud", 1,
	    "ERROR: (gcloud.x) There was a problem refreshing your current "
	    "auth tokens: ('invalid_grant: x', x)",
	    "", STOP },
	{ "gcloud", 1,
	    "ERROR: (gcloud.x) You do not currently have an active account "
	    "selected.\nPlease run:\n\n  $ gcloud auth login",
	    "", STOP },
	{ "cargo", 101,
	    "error: failed to get 200 response from `https://x`, got 503", "",
	    RETRY },
	{ "cargo", 101,
	    "error: failed to get 200 response from `https://x`, got 403", "",
	    STOP },
	{ "go", 1, "go: github.com/x/y@v1: unexpected EOF", "", RETRY },
	{ "go", 1, "go: x@v1: parsing go.mod: unexpected EOF", "", NEITHER },
	{ "ansible", 2, "",
	    "    \"msg\": \"Failed to update apt cache: W:Failed to fetch "
	    "http://x/InRelease Temporary failure resolving 'x'\"",
	    RETRY },
	{ "ansible", 2, "",
	    "    \"stderr\": \"E: Failed to fetch http://x/y Temporary failure "
	    "resolving 'x'\"",
	    NEITHER },
	{ "helm", 1, "Error: toomanyrequests: retry-after: 1.5s", "", RETRY },
	{ "helm", 1,
	    "Error: toomanyrequests: You have reached your pull rate limit.",
	    "", STOP },
};

static void
test_lines(void)
{
	for (size_t i = 0; i < LENGTH(lines); i++) {
		const char *name = lines[i].preset;
		struct preset preset;
		enum means means;
		char row[512];

		HOLDS(name, preset_find(name, strlen(name), &preset));
		means =
		    judge(&preset, lines[i].status, lines[i].err, lines[i].out);
		snprintf(row, sizeof row, "%s, exit %d: %s%s", name,
		    lines[i].status, lines[i].err, lines[i].out);
		SAME(row, words[means], words[lines[i].means]);
	}
}

/*
 * The table itself
 */

/* The name of the row that a name or a program finds. */
static const char *
found(const char *name)
{
	struct preset row;

	return preset_find(name, strlen(name), &row) ? row.name : NULL;
}

static void
check_pattern(const char *name, const char *ere)
{
	struct pattern_error error = { "", 0 };

	if (ere == NULL)
		return;
	HOLDS(ere, pattern_compile(&pattern, ere, strlen(ere), &error));
	SAME(ere, error.why, "");
	pattern_start(&pattern);
	HOLDS(name, !pattern_feed(&pattern, "\n\n", 2)); /* matches anything */
	HOLDS(name, strncmp(ere, "(?i)", 4) != 0);
}

static void
test_rows_are_whole(void)
{
	char before[32] = "";
	struct preset row, *p = &row;

	for (size_t i = 0; preset_at(i, p); i++) {
		struct conditions codes = { 0 };
		struct watches watches = { .list = watch_room };
		struct conditions_error error = { "", "", 0 };

		HOLDS(p->name,
		    conditions_parse(&codes, &watches, p->codes, &error));
		SAME(p->name, error.why, "");
		HOLDS(p->name, codes.timeout);
		HOLDS(p->name, !codes.fail);
		HOLDS(p->name, !conditions_has_exit(&codes, 0));
		EQUAL(p->name, watches.count, 0);
		HOLDS(p->name, *p->source != '\0');
		HOLDS(p->name, *p->knows != '\0');
		HOLDS(p->name, strcmp(before, p->name) < 0);
		snprintf(before, sizeof before, "%s", p->name);
		SAME(p->name, found(p->name), p->name);
		check_pattern(p->name, p->err.fatal);
		check_pattern(p->name, p->err.transient);
		check_pattern(p->name, p->err.failed);
		check_pattern(p->name, p->out.fatal);
		check_pattern(p->name, p->out.transient);
		check_pattern(p->name, p->out.failed);
		check_pattern(p->name, p->wait);
	}
}

/* Each program has one row, and its row finds it. */
static void
test_programs_have_one_row(void)
{
	char word[64];

	struct preset row, other;

	for (size_t i = 0; preset_at(i, &row); i++) {
		const char *at = row.programs;

		while (at != NULL && *at != '\0') {
			size_t end = strcspn(at, " ");

			snprintf(word, sizeof word, "%.*s", (int)end, at);
			HOLDS(word, preset_for_program(word, &other));
			SAME(word, other.name, row.name);
			at += end + (at[end] == ' ');
			HOLDS(word, *at != ' ');
		}
	}
}

static const struct {
	const char *path, *name;
} programs[] = {
	{ "curl", "curl" },
	{ "/usr/bin/curl", "curl" },
	{ "./apt-get", "apt" },
	{ "pip3.11", "pip" },
	{ "/x/wget2", "wget2" },
	{ "sqlite3", "sqlite3" },
	{ "go1.22.1", "go" },
	{ "mariadb-dump", "mysql" },
	{ "pg_restore", "psql" },
	{ "podman", "docker" },
	{ "net", NULL },
	{ "sysexits", NULL },
	{ "redis", NULL },
	{ "curlx", NULL },
	{ "cur", NULL },
	{ "curl ", NULL },
	{ "gofmt", NULL },
	{ "curl/", NULL },
	{ "", NULL },
	{ "7", NULL },
	{ "sh", NULL },
};

static void
test_programs(void)
{
	for (size_t i = 0; i < LENGTH(programs); i++) {
		struct preset row;
		bool known = preset_for_program(programs[i].path, &row);

		SAME(programs[i].path, known ? row.name : NULL,
		    programs[i].name);
	}
	SAME("aptx", found("aptx"), NULL);
	SAME("apt-get", found("apt-get"), "apt");
	SAME("sqlite", found("sqlite"), "sqlite3");
	SAME("", found(""), NULL);
	SAME("list", found("list"), NULL);
	SAME("auto", found("auto"), NULL);
}

static void (*const tests[])(void) = {
	test_lines,
	test_rows_are_whole,
	test_programs_have_one_row,
	test_programs,
};

UNIT(tests);
