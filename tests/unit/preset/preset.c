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

static const char *const words[] = { "success", "stop", "retry", "neither" };

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

/*
 * A preset, an exit status, what they mean, and what was printed: a line behind
 * "> " on standard output, any other on standard error.
 */
static const char *const lines[] = {
	"net 1 retry: x: Connection refused",
	"net 1 retry: x: connect: connection refused",
	"net 1 retry: Temporary failure in name resolution",
	"net 1 neither: x: No such file or directory",
	"net 1 neither: x: write error: Broken pipe",
	"net 1 retry: Get \"https://x/\": EOF",
	"net 1 stop: Service Unavailable\n404 Not Found",
	"net 1 stop: x: Permission denied",
	"net 0 success: x: Connection refused",
	"net 124 retry",
	"sysexits 75 retry",
	"sysexits 69 neither",
	"sysexits 124 neither",
	"curl 6 retry",
	"curl 7 retry",
	"curl 28 retry",
	"curl 22 neither",
	"curl 22 retry: curl: (22) The requested URL returned error: 503",
	"curl 22 neither: curl: (22) The requested URL returned error: 404",
	"curl 22 neither: curl: (22) The requested URL returned error: 501",
	"curl 23 neither: curl: (23) Failure writing output",
	"curl 35 retry: curl: (35) Recv failure: Connection reset by peer",
	"curl 35 stop: curl: (35) OpenSSL/3.0.19: error:0A00010B:SSL "
	"routines::wrong version number",
	"curl 56 stop: curl: (56) CONNECT tunnel failed, response 403",
	"curl 56 retry: curl: (56) CONNECT tunnel failed, response 503",
	"curl 60 neither: curl: (60) SSL certificate problem",
	"wget 4 retry",
	"wget 8 retry: 2026-11-21 07:38:21 ERROR 503: Service Unavailable.",
	"wget 8 neither: 2026-11-21 07:38:21 ERROR 404: Not Found.",
	"wget 5 neither",
	"wget 6 neither",
	"ssh 255 stop: u@h: Permission denied (publickey).",
	"ssh 255 stop: Host key verification failed.",
	"ssh 255 neither: Connection to h closed by remote host.",
	"ssh 7 neither: curl: (7) Connection refused",
	"ssh 255 retry: kex_exchange_identification: Connection closed by "
	"remote host\nConnection closed by 10.0.0.1 port 22",
	"scp 255 retry: ssh: connect to host 127.0.0.1 port 1: Connection "
	"refused\nscp: Connection closed",
	"scp 1 retry: client_loop: send disconnect: Broken pipe",
	"rsync 5 retry: @ERROR: max connections (4) reached -- try again later",
	"rsync 5 stop: @ERROR: auth failed on module x",
	"rsync 12 stop: rsync: write failed on x: No space left on device",
	/* What rsync 3.5 prints if the server is not an rsync daemon. */
	"rsync 5 neither: rsync: server sent \"HTTP/1.1 400 Bad Request\" "
	"rather than greeting\nrsync error: error starting client-server "
	"protocol (code 5) at main.c(1954) [Receiver=3.5.0]",
	"rsync 5 neither",
	"rsync 23 neither",
	"git 128 stop: fatal: unable to access 'http://x/': The requested URL "
	"returned error: 403",
	"git 128 stop: fatal: Authentication failed for 'http://x/'",
	"git 128 stop: fatal: could not read Username for 'http://x': terminal "
	"prompts disabled",
	"git 128 retry: x[0: 127.0.0.1]: errno=Connection refused",
	"git 128 retry: ssh: connect to host 127.0.0.1 port 1: Connection "
	"refused\nfatal: Could not read from remote repository.",
	"git 128 stop: git@x: Permission denied (publickey).\nfatal: Could not "
	"read from remote repository.",
	"git 128 retry: error: RPC failed; curl 92 HTTP/2 stream 5 was not "
	"closed cleanly",
	"git 1 stop:  ! [rejected]  main -> main (fetch first)",
	"git 1 neither: error: pathspec 'x' did not match",
	"apt 100 stop: E: Unable to locate package x",
	"apt 100 stop: E: Unable to acquire the dpkg frontend lock (x), are "
	"you root?",
	"apt 100 stop: E: Failed to fetch http://x  404  Not Found [IP: x]",
	"apt 0 success",
	"apt 0 stop: W: Failed to fetch http://x  404  Not Found [IP: x]",
	"apt 0 neither: W: Failed to fetch http://x  Nobody knows",
	"dnf 1 retry:   - Curl error (7): Couldn't connect to server for x",
	"dnf 1 retry:   - Status code: 503 for http://x",
	"dnf 1 neither:   - Status code: 404 for http://x",
	"dnf 1 stop: Error: Unable to find a match: x",
	"dnf 200 retry",
	"pip 1 stop: ERROR: Could not find a version that satisfies the "
	"requirement foo==9 (from versions: 1.0, 1.1)",
	"pip 1 stop:   ERROR: HTTP error 404 while getting http://x",
	"pip 1 retry:   ERROR: HTTP error 503 while getting http://x",
	"pip 2 retry: pip._vendor.urllib3.exceptions.ReadTimeoutError: "
	"HTTPSConnection",
	"pip 1 neither: WARNING: Retrying (Retry(total=4)) after connection "
	"broken by x\nerror: command 'gcc' failed with exit code 1",
	"npm 1 stop: npm error code E404",
	"npm 1 stop: npm ERR! code E401",
	"npm 1 retry: npm ERR! code ETIMEDOUT",
	"npm 1 neither: Error: connect ECONNREFUSED 127.0.0.1:5432",
	"pnpm 1 retry: >  ERR_PNPM_FETCH_503  GET http://x: Unavailable",
	"pnpm 1 stop: >  ERR_PNPM_FETCH_404  GET http://x: Not Found",
	"pnpm 1 retry: >  ERR_PNPM_META_FETCH_FAIL  GET http://x: x",
	"yarn 1 retry: ResponseError: Request failed \"503 Unavailable\"",
	"yarn 1 retry: error Error: connect ECONNREFUSED 127.0.0.1:1",
	"yarn 1 stop: error Couldn't find package \"x\" on the \"npm\"",
	"mvn 1 retry: > [ERROR] Could not transfer artifact x:y:pom:1 from/to "
	"m (http://x): transfer failed for http://x, status: 503 Unavailable",
	"mvn 1 stop: > [ERROR] COMPILATION ERROR :",
	"cargo 101 retry:   [7] Could not connect to server (Failed)",
	"cargo 101 stop: error: could not compile `x`",
	"cargo 101 neither:   config.json not found in registry",
	"go 1 retry: go: x: Get \"https://x\": dial tcp: lookup x on "
	"10.0.0.1:53: no such host",
	"go 1 stop: go: x: reading https://x: 404 Not Found",
	"go 1 neither: x.go:3:1: syntax error: unexpected EOF",
	"docker 1 retry: Error response from daemon: Get \"https://x/v2/\": "
	"net/http: TLS handshake timeout",
	"docker 1 retry: Error response from daemon: Head \"https://x\": "
	"received unexpected HTTP status: 503 Service Unavailable",
	"docker 1 stop: Error response from daemon: toomanyrequests: You have "
	"reached your pull rate limit.",
	"docker 1 stop: Error response from daemon: No such image: x:latest",
	"docker 1 stop: Error response from daemon: unauthorized",
	/* docker info 20, and builds. */
	"docker 1 retry: ERROR: Cannot connect to the Docker daemon at "
	"unix:///var/run/docker.sock. Is the docker daemon running?",
	/* docker 29, from bug reports. */
	"docker 125 retry: docker: failed to connect to the docker API at "
	"unix:///var/run/docker.sock; check if the path is correct and if the "
	"daemon is running: dial unix /var/run/docker.sock: connect: no such "
	"file or directory",
	"docker 1 retry: failed to connect to the docker API at "
	"unix:///var/run/docker.sock; check if the path is correct and if the "
	"daemon is running",
	/* docker 28.2: 125 alone may be bad usage just as well. */
	"docker 125 neither: unknown flag: --frob\n\nUsage:  docker run "
	"[OPTIONS] IMAGE [COMMAND] [ARG...]",
	"docker 125 stop: docker: permission denied while trying to connect to "
	"the Docker daemon socket at unix:///var/run/docker.sock",
	"podman 125 neither: Cannot connect to Podman. Please verify your "
	"connection to the Linux system using `podman system connection "
	"list`\nError: unable to connect to Podman socket: Get "
	"\"http://d/v4.3.1/libpod/_ping\": dial unix /run/p.sock: connect: "
	"permission denied",
	"docker 1 neither: Error response from daemon: that is no volume",
	"docker 1 neither: app: dial tcp 10.0.0.1:1: connection refused",
	"kubectl 1 retry: Error from server (ServiceUnavailable): the server "
	"is currently unable to handle the request",
	"kubectl 1 stop: Error from server (Forbidden): nope",
	"kubectl 1 stop: Error from server (NotFound): pods \"x\" not found",
	"kubectl 1 stop: error: You must be logged in to the server "
	"(Unauthorized)",
	"kubectl 1 retry: The connection to the server 127.0.0.1:1 was refused "
	"- did you specify the right host or port?",
	"kubectl 1 stop: Unable to connect to the server: x509: certificate "
	"has expired",
	"kubectl 1 neither: error: timed out waiting for the condition",
	"helm 1 retry: Error: Kubernetes cluster unreachable: Get "
	"\"https://x\": x",
	"helm 1 stop: Error: INSTALLATION FAILED: cannot re-use a name",
	"terraform 1 retry: connect: connection refused",
	"terraform 1 retry: \"http://x/x.zip\": bad response code: 503",
	"terraform 1 stop: Error: Error refreshing state: HTTP remote state "
	"endpoint requires auth",
	"terraform 1 stop: Error: Unsupported argument",
	"aws 255 retry: An error occurred (503) when calling the ListBuckets "
	"operation (reached max retries: 0): Service Unavailable",
	"aws 255 stop: An error occurred (403) when calling x: Forbidden",
	"aws 254 retry: An error occurred (ThrottlingException) when calling x",
	"aws 1 retry: upload failed: x An error occurred (SlowDown) when",
	"aws 255 stop: Unable to locate credentials.",
	"gh 1 retry: Get \"https://127.0.0.1/api/v3/user\": dial tcp "
	"127.0.0.1:443: connect: connection refused",
	"gh 4 stop: please run:  gh auth login",
	"gh 1 retry: HTTP 502: Bad Gateway (https://x)",
	"gh 1 neither: HTTP 403: API rate limit exceeded",
	"gcloud 1 retry: ERROR: (gcloud.x) UNAVAILABLE: x",
	"gcloud 1 stop: ERROR: (gcloud.x) PERMISSION_DENIED: x",
	"ansible 4 retry",
	"ansible 4 stop: > h | UNREACHABLE! => \"Failed to connect to the host "
	"via ssh: u@h: Permission denied (publickey).\"",
	"ansible 2 neither",
	"psql 2 retry: FATAL:  the database system is starting up",
	"psql 3 retry: ERROR:  deadlock detected",
	"psql 1 stop: ERROR:  syntax error at or near \"x\"",
	"psql 2 stop: FATAL:  database \"x\" does not exist",
	"pg_isready 1 retry",
	"pg_isready 3 neither",
	"mysql 1 retry: ERROR 2002 (HY000): Can't connect to server on "
	"'127.0.0.1' (115)",
	"mysql 1 retry: ERROR 2005 (HY000): Unknown server host 'x' (-2)",
	"mysqldump 2 stop: mysqldump: Got error: 1045: \"Access denied for\"",
	"mysql 1 stop: ERROR 1045 (28000): Access denied for user 'x'",
	"mysql 1 stop: ERROR 1064 (42000) at line 1: x",
	"redis 1 retry: Could not connect to Redis at x:1: Connection refused",
	"redis 1 retry: LOADING Redis is loading the dataset in memory",
	"redis 0 success: > PONG",
	"redis 0 success: > a page that says LOADING Redis is loading",
	"sqlite3 5 retry: Error: in prepare, database is locked (5)",
	"sqlite3 1 retry: Parse error near line 1: database is locked (5)",
	"sqlite3 1 neither: Error: in prepare, near \"insrt\": syntax error",
	"flock 66 neither",
	"rclone 5 retry",
	"restic 12 neither",
	"apk 1 retry: ERROR: x: temporary error (try again later)",
	"apk 1 neither:   x (no such package):",
	"apk 1 retry: WARNING: fetching http://x/main: temporary error (try "
	"again later)\nERROR: unable to select packages:\n  x (no such "
	"package):",
	"apk 1 retry: WARNING: fetching http://x: HTTP 503: Service "
	"Unavailable",
	"apk 1 stop: WARNING: fetching http://x: HTTP 404: Not Found",
	"apk 1 neither: WARNING: fetching http://x: HTTP 501: Not Implemented",
	"apk 1 stop: WARNING: x: TLS: server certificate not trusted",
	"zypper 7 retry",
	"composer 100 retry: curl error 28 while downloading https://x: x",
	"composer 2 stop: Your requirements could not be resolved to an "
	"installable set",
	"bundle 17 retry: Network error while fetching https://x (x)",
	"gradle 1 retry:    > Read timed out",
	"gradle 1 neither:     java.net.ConnectException: Connection refused",
	"mount 32 retry: mount.nfs: Connection timed out",
	"umount 32 retry: umount: /mnt: target is busy.",
	"mount 32 stop: mount.nfs: access denied by server while mounting x",
	"ping 1 retry",
	"ping 1 stop: ping: socket: Operation not permitted",
	"scp 1 stop: scp: /x: Permission denied",
	"redis 1 stop: NOAUTH Authentication required.",
	"sqlite3 5 retry",
	"sqlite3 8 stop: Error: attempt to write a readonly database",
	"restic 11 retry",
	"bundle 17 neither: Gem::RemoteFetcher::FetchError: bad response Not "
	"Found 404",
	"gradle 1 retry:    > Received status code 503 from server: x",
	"gradle 1 stop:    > Received status code 403 from server: x",
	"git 128 retry: fatal: unable to access 'http://x/': Could not resolve "
	"host: x",
	"git 128 neither: fatal: not a git repository",
	"wget 1 retry: wget: can't connect to remote host (10.0.0.1): x",
	"ping 2 retry: ping: x: Temporary failure in name resolution",
	/* Tools of Node, and what git and corepack say for them. */
	"npm 1 retry: npm error code EHOSTDOWN",
	"npm 1 retry: npm ERR! code UND_ERR_CONNECT_TIMEOUT",
	"npm 1 retry: npm error code E408",
	"npm 1 neither: npm error code E501",
	"npm 1 retry: npm error code Z_BUF_ERROR",
	"npm 1 neither: npm error code SELF_SIGNED_CERT_IN_CHAIN",
	"npm 1 retry: npm error code 128\nnpm error fatal: unable to access "
	"'http://x/r.git/': The requested URL returned error: 503",
	"npm 1 neither: npm error code 128\nnpm error fatal: unable to access "
	"'http://x/r.git/': The requested URL returned error: 403",
	"npm 1 retry: npm warn audit 503 Service Unavailable - POST "
	"http://x/-/npm/v1",
	"npm 1 neither: npm error path /srv/ECONNRESET/socket hang up",
	"pnpm 1 retry: >  ERR_PNPM_FETCH_408  GET http://x: Timeout",
	"pnpm 1 neither: >  ERR_PNPM_FETCH_501  GET http://x: Nope",
	"pnpm 1 retry: >  ERR_SOCKET_TIMEOUT  request to http://x failed",
	"pnpm 1 retry: >  ERR_PNPM_BAD_TARBALL_SIZE  Actual size (9) of x",
	"pnpm 1 stop: >  ERR_PNPM_META_FETCH_FAIL  GET https://x/x: request to "
	"https://x/x failed, reason: Hostname/IP does not match certificate's "
	"altnames",
	"pnpm 1 retry: >  ERR_PNPM_META_FETCH_FAIL  GET https://x/certificate "
	"has expired: request to https://x failed, reason: connect "
	"ECONNREFUSED 1.2.3.4",
	"pnpm 1 neither: >  WARN  GET http://x error (ECONNREFUSED). Will "
	"retry",
	"pnpm 1 retry: npm error code E503",
	"pnpm 1 retry: Error: Server answered with HTTP 502 when performing",
	"yarn 1 retry: error Error: http://x/y: Request \"http://x/y\" "
	"returned a 429",
	"yarn 1 retry: error Error: http://x/y.tgz: Request failed \"408 x\"",
	"yarn 1 neither: error Error: http://x/y.tgz: Request failed \"501 x\"",
	"yarn 1 retry: error An unexpected error occurred: \"https://x/y: "
	"tunneling socket could not be established, statusCode=503\".",
	"yarn 1 stop: error Error: Hostname/IP does not match certificate's "
	"altnames",
	"yarn 1 neither: Error: connect ECONNREFUSED 127.0.0.1:5432",
	"yarn 1 retry: > YN0001: | TimeoutError: Timeout awaiting 'socket'",
	"yarn 1 retry: > YN0035: |   Response Code: 429 (Too Many Requests)",
	"yarn 1 neither: > YN0035: |   Response Code: 501 (Not Implemented)",
	"yarn 1 stop: > YN0001: | RequestError: certificate has expired",
	"yarn 1 neither: > YN0085: | + econnreset-ECONNRESET@npm:1.0.0",
	"bun 1 retry: error: ConnectionClosed downloading tarball x@1.0.0",
	"bun 1 neither: error: GET http://x/y - 501",
	"bun 1 neither: error: DEPTH_ZERO_SELF_SIGNED_CERT downloading package "
	"manifest x",
	"bun 1 neither: error: connect ECONNREFUSED 127.0.0.1:5432",
	"deno 1 retry: error: Import 'http://x/y.ts' failed.\n    0: error "
	"sending request for url (http://x/y.ts): client error (Connect): dns "
	"error: failed to lookup address information",
	"deno 1 stop: error: Import 'https://x/y.ts' failed.\n    0: error "
	"sending request for url (https://x/y.ts): client error (Connect): "
	"invalid peer certificate: UnknownIssuer",
	"deno 1 stop: error: Import 'http://x/y.ts' failed: 404 Not Found",
	"deno 1 neither: error: Uncaught (in promise) TypeError: error sending "
	"request for url (http://x/)",
	/* Bundler breaks lines anywhere between two words. */
	"bundle 17 retry: due to underlying error <too many\nconnection resets "
	"(",
	"bundle 17 retry: error <too many connection\nresets (http://x)>",
	"bundle 17 retry: error <bad response Service Unavailable\n503 "
	"(http://x",
	"bundle 17 retry: <bad response Service\nUnavailable 503 (http://x)>",
	"bundle 17 retry: <bad response Too Many Requests 429\n(http://x)>",
	"bundle 17 neither: error <bad response Not Implemented\n501 "
	"(http://x)>",
	"bundle 17 retry: <server did not return a\nvalid file (http://x)>",
	"bundle 17 retry: underlying error\n<Errno::EHOSTUNREACH: Failed to",
	"bundle 1 neither: x.rb:3:in `connect': refused (Errno::ECONNREFUSED)",
	"bundle 1 neither: x.c:12: error: too few arguments in line 503",
	"gem 2 retry:   Unable to download data from http://x - timed out "
	"(http",
	"gem 1 retry:     bad response Bad Gateway 502 (Gem::RemoteFetcher::F",
	"gem 2 stop: https://x/ - SSL_connect returned=1: certificate verify "
	"failed",
	"gem 2 neither: Could not find a valid gem 'retry-503' (>= 0)",
	"ansible 4 stop: [ERROR]: conflicting action statements: a, b",
	"ansible 4 stop: ERROR! Syntax Error while loading YAML.",
	"ansible 2 retry: > fatal: [h]: FAILED! => {\"msg\": \"Status code was "
	"-1 and not [200]: Request failed: <urlopen error [Errno 111] "
	"Connection refused>\", \"status\": -1}",
	"ansible 2 neither: > h | FAILED! => {\"msg\": \"non-zero return "
	"code\", \"stderr\": \"curl: (7) Connection refused\"}",
	"ansible 2 retry: >     \"status\": 429,",
	"ansible 2 neither: >     \"status\": 501,",
	"ansible-galaxy 1 retry: ERROR! Unknown error when attempting to call "
	"Galaxy at 'http://x': <urlopen error [Errno 111] Connection refused>",
	"ansible-galaxy 1 stop: (HTTP Code: 404, Message: Not Found)",
	"apt 100 retry: E: Failed to fetch http://x  429  Too Many Requests",
	"apt 100 neither: E: Failed to fetch http://x  501  Not Implemented",
	"apt 100 retry: E: Failed to fetch https://x  Could not handshake: The "
	"TLS connection was non-properly terminated. [IP: 1.2.3.4 443]",
	"dnf 1 stop:   - Curl error (35): SSL connect error for https://x [TLS "
	"connect error: error:0A00010B:SSL routines::wrong version number]",
	"dnf 0 neither: Ignoring repositories: k",
	"zypper 4 retry: Error code: Curl error 56",
	"zypper 4 neither: Error code: Curl error 60",
	"zypper 4 retry: Error code: HTTP response: 408",
	"zypper 8 retry: > Timeout exceeded when accessing 'http://x'.",
	"cargo 101 retry:   failed to get a 200 OK response, got 503",
	"cargo 101 retry:   unexpected http status code: 502; class=Http (34)",
	"cargo 101 retry:   failed to connect to x: Connection refused; "
	"class=Os (2)",
	"cargo 101 neither:   could not open '/x': denied; class=Os (2)",
	"cargo 101 stop:   [35] SSL connect error (TLS connect error: "
	"error:0A00010B:SSL routines::wrong version number)",
	"cargo 101 stop:   failed to receive 200: got 404; class=Net (12)",
	/* Composer's lines are broken anywhere. */
	"composer 100 retry:   n/packages.json\" file could not be downloaded "
	"(H\n  TTP/1.1 503 Service Unavailable)  ",
	"composer 100 retry:   could not be downloaded (HTTP/1.1 5\n  03 "
	"Service Unavailable)  ",
	"composer 100 neither:   could not be downloaded (HTTP/1.1 5\n  01 Not "
	"Implemented)  ",
	"composer 100 retry:   loaded: Failed to open stream: Connection "
	"refused  ",
	"go 1 retry: go: x: read \"https://x/y.zip\": unexpected EOF",
	"go 1 retry: go: x: stream error: stream ID 3; INTERNAL_ERROR",
	"go 1 neither: go: x: reading https://x/@v/list: 501 Not Implemented",
	"go 1 retry: \tfatal: unable to access 'https://x/': Failed to connect "
	"to x",
	"gradle 1 retry:       > x:80 failed to respond",
	"gradle 1 retry: Exception in thread \"main\" java.io.IOException: "
	"Server returned HTTP response code: 503 for URL: https://x/gradle.zip",
	"gradle 1 stop:       > PKIX path building failed: x",
	"gradle 1 stop:       > Unsupported or unrecognized SSL message",
	"mvn 1 stop: > [ERROR] Could not transfer artifact a:b:pom:1 from/to k "
	"(https://x): transfer failed for https://x/b.pom: PKIX path building "
	"failed",
	"mvn 1 neither: > [ERROR] Could not transfer artifact a:b:pom:1 "
	"from/to k (http://x): transfer failed for http://x/b.pom, status: 501 "
	"Nope",
	"mvn 1 retry: > [ERROR] Could not transfer artifact a:b:pom:1 from/to "
	"k (http://x): transfer failed for http://x/b.pom",
	"mvn 1 neither: > [ERROR] Tests run: 1: Connection refused",
	"helm 1 retry: Error: looks like \"http://x\" is not a valid chart "
	"repository or cannot be reached: failed to fetch http://x/index.yaml "
	": 503 Gone",
	"helm 1 retry: Error: GET \"https://x/v2/\": response status code 429: "
	"x",
	"helm 1 neither: Error: UPGRADE FAILED: timed out waiting for x",
	"helm 1 retry: Error: failed to update the following repositories\n> "
	"\tfailed to fetch http://x/index.yaml : 503 Service Unavailable",
	"terraform 1 retry: later: 503 Service",
	"terraform 1 retry: dial tcp 127.0.0.1:1: connect: connection\nrefused",
	/* Tools of Python. */
	"pip 1 retry: pip._vendor.requests.exceptions.RetryError: HTTPSConn",
	"pip 1 retry: pip._vendor.requests.exceptions.SSLError: (Caused by "
	"SSLError(SSLEOFError(8, 'EOF occurred in violation of protocol')))",
	"pip 1 stop: ERROR: (from versions: none)\n> Could not fetch URL "
	"https://x/: There was a problem confirming the ssl certificate: [SSL: "
	"RECORD_LAYER_FAILURE] record layer failure",
	"pip 1 retry: ERROR: (from versions: none)\n> Could not fetch URL "
	"https://x/: There was a problem confirming the ssl certificate: [SSL: "
	"UNEXPECTED_EOF_WHILE_READING]",
	"pip 1 retry: ERROR: THESE PACKAGES DO NOT MATCH THE HASHES\n>   "
	"0.0/1.0 MB ? eta -:--:--",
	"pip 1 neither: ERROR: THESE PACKAGES DO NOT MATCH THE HASHES\n>   "
	"1.0/1.0 MB 10.1 MB/s eta 0:00:00",
	"poetry 1 retry: All attempts to connect to x failed.",
	"poetry 1 retry: >   HTTP Error 503: Service Unavailable | b''",
	"poetry 1 stop:   HTTP Error 403: Forbidden | b''",
	"poetry 1 neither: requests.exceptions.ConnectionError: x",
	"twine 1 retry: requests.exceptions.ReadTimeout: x",
	"twine 1 stop: requests.exceptions.SSLError: CERTIFICATE_VERIFY_FAILED",
	"twine 1 neither: > ERROR    HTTPError: 501 Not Implemented from "
	"http://x",
	"uv 2 retry: error: Failed to fetch: `http://x/`\n  Caused by: HTTP "
	"status server error (503 Service Unavailable) for",
	"uv 1 retry:   \xe2\x95\xb0\xe2\x94\x80\xe2\x96\xb6 HTTP status server "
	"error (500 Internal Server Error) for url (http://x)",
	"uv 1 stop:   Caused by: HTTP status client error (403 Forbidden)",
	"uv 1 retry:   Caused by: tcp connect error: Connection refused",
	"uv 1 stop:   Caused by: client error (Connect)\n  Caused by: invalid "
	"peer certificate: UnknownIssuer",
	"uv 1 retry:   Caused by: end of file before message length reached",
	"uv 1 neither: ConnectionRefusedError: tcp connect error",
	"conda 1 retry: CondaHTTPError: HTTP 000 CONNECTION FAILED for url <x>",
	"conda 1 retry: CondaHTTPError: HTTP 503 SERVICE UNAVAILABLE for url "
	"<x>",
	"conda 1 stop: UnavailableInvalidChannel: HTTP 404 NOT FOUND for "
	"channel",
	"micromamba 1 retry: critical libmamba Download error (7) Could not "
	"connect to server [x",
	"micromamba 1 neither: Transfer finalized, status: 501 [http://x] 3 "
	"bytes",
	"dotnet 1 retry: > x.csproj : error NU1301: Unable to load the service "
	"index for x",
	"dotnet 1 stop: > error NU1301: Unable to load x\n> error NU1301:   "
	"Response status code does not indicate success: 401 (Unauthorized).",
	"dotnet 1 retry: error: Response status code does not indicate "
	"success: 503 (Service Unavailable).",
	"dotnet 1 neither: >    SocketException : Connection refused",
	"net 1 retry: write:errno=104",
	"net 1 neither: connect:errno=13",
	"npm 1 retry: npm error code EIDLETIMEOUT",
	"gem 1 retry:     Errno::ECONNREFUSED: Failed to open TCP connection "
	"to x:80 (Connection refused) (Gem::RemoteFetcher::FetchError)",
	"bundle 17 retry: due to underlying error <timed\nout (http://x)>",
	"composer 100 stop:   curl error 35 while downloading https://x:  \n  "
	"error:0A00010B:SSL routines::wrong version number  ",
	"net 1 retry: x: `408 Request Timeout'",
	/* From the tools' sources; no capture shows them. */
	"aria2c 1 retry: >   -> [SocketCore.cc:1018] errorCode=1 SSL/TLS "
	"handshake failure: The TLS connection was non-properly terminated.",
	"aria2c 22 retry: >   -> [HttpSkipResponseCommand.cc:239] errorCode=22 "
	"The response status is not successful. status=408",
	"aria2c 1 neither: >   -> [SocketCore.cc:1018] errorCode=1 SSL/TLS "
	"handshake failure: An unexpected TLS packet was received.",
	"aria2c 3 neither: > ERR | ./status=503",
	"aws 1 retry: download failed: s3://b/k to k ('Connection broken: "
	"ConnectionResetError(104, 'Connection reset by peer')', x)",
	"aws 254 retry: An error occurred (OperationAborted) when calling the "
	"CreateBucket operation: A conflicting conditional operation",
	"az 1 retry: ERROR: (TooManyRequests) The request is being throttled.",
	"az 1 retry: ERROR: ('Connection aborted.', ConnectionResetError(104, "
	"'x'))",
	"az 1 stop: ERROR: (AuthorizationFailed) The client 'x' with",
	"az 1 stop: ERROR: (ResourceNotFound) The Resource 'x'",
	"crane 1 retry: Error: fetching manifest x/y: GET "
	"http://x/v2/y/manifests/latest: unexpected status code 503 Service "
	"Unavailable: <html>",
	"crane 1 retry: Error: GET https://x/v2/y/manifests/z: "
	"TOOMANYREQUESTS: slow down",
	"crane 1 stop: Error: GET https://x/v2/y/manifests/z: TOOMANYREQUESTS: "
	"You have reached your pull rate limit.",
	"crane 1 stop: Error: GET https://x/v2/y/manifests/z: "
	"MANIFEST_UNKNOWN: unknown",
	"dns 0 success: > ;; ->>HEADER<<- opcode: QUERY, status: NXDOMAIN, id: "
	"8943",
	"dns 0 success: > x. 60 IN TXT \"status: SERVFAIL\"",
	"dns 1 stop: > Host x not found: 3(NXDOMAIN)",
	"dns 1 stop: > ** server can't find x: NXDOMAIN",
	"dns 1 retry: > ** server can't find x: SERVFAIL",
	"dns 9 retry",
	"docker 1 retry: Error: initializing source docker://x: pinging "
	"container registry x: invalid status code from registry 503 (Service "
	"Unavailable)",
	"docker 1 retry: Error response from daemon: login attempt to "
	"http://x/v2/ failed with status: 502 Bad Gateway",
	"docker 1 retry: Error response from daemon: Get \"https://x/v2/\": "
	"Service Unavailable",
	"docker 1 stop: Error response from daemon: Get \"https://x/v2/\": "
	"http: server gave HTTP response to HTTPS client",
	"docker 1 retry: ERROR: failed to solve: rpc error: code = Unavailable "
	"desc = EOF",
	"etcdctl 1 retry: Error: etcdserver: leader changed",
	"etcdctl 1 stop: Error: etcdserver: permission denied",
	"etcdctl 1 stop: desc = \"transport: authentication handshake failed: "
	"x509: certificate\"\nError: context deadline exceeded",
	"gcloud 1 retry: ERROR: gcloud crashed (ConnectionError): ('Connection "
	"aborted.', RemoteDisconnected('Remote end closed connection'))",
	"gcloud 1 retry: ERROR: (gcloud.storage.cp) HTTPError 429: <html>",
	"gcloud 1 neither: ERROR: (gcloud.storage.cp) HTTPError 404: <html>",
	"gh 1 retry: unexpected EOF",
	"gh 1 neither: x.yml:3: found unexpected EOF in a string",
	"git 128 retry: fatal: unable to access 'https://x/': CONNECT tunnel "
	"failed, response 503",
	"git 128 neither: fatal: unable to access 'https://x/': CONNECT tunnel "
	"failed, response 407",
	"git 128 neither: error: cannot open 'early-EOF.txt': Is a directory",
	"glab 1 retry: GET https://x/api/v4/projects: 503 {message: "
	"Unavailable}",
	"glab 1 neither: GET https://x/api/v4/projects: 403 {message: No}",
	"hg 255 retry: abort: working directory of /x: timed out waiting for "
	"lock held by 'h:1'",
	"hg 255 retry: remote: ssh: connect to host x port 22: Connection "
	"refused\nabort: no suitable response from remote hg",
	"hg 255 neither: abort: error: bad HTTP status line: 'SSH-2.0'",
	"hg 1 stop: abort: HTTP Error 410: Gone",
	"httpie 5 retry",
	"httpie 5 stop: http: warning: HTTP 501 Not Implemented",
	"httpie 4 retry: http: LogLevel.WARNING: HTTP 429 Too Many Requests",
	"httpie 1 stop: xh: error: error sending request for url "
	"(https://x/)\n    1: invalid peer certificate: Expired",
	"httpie 1 retry: http: error: ChunkedEncodingError: (\"Connection "
	"broken: InvalidChunkLength(got length b'', 0 bytes read)\", x)",
	"kubectl 1 retry: error: unexpected EOF",
	"kubectl 1 stop: Unable to connect to the server: getting credentials: "
	"exec: executable aws not found",
	"kubectl 1 neither: error: error reading [EOF.yaml]: no such file",
	"ldapsearch 51 retry",
	"ldapsearch 255 retry: ldap_result: Timed out (-5)",
	"ldapsearch 49 stop: ldap_bind: Invalid credentials (49)",
	"lftp 1 retry: get: /f: ",
	"lftp 1 neither: get: /f: No such file or directory",
	"mongosh 1 retry: MongoNetworkError: connect ECONNREFUSED "
	"127.0.0.1:27017",
	"mongosh 1 retry: MongoServerError[NotWritablePrimary]: not primary",
	"mongosh 1 stop: MongoServerError: Authentication failed.",
	"mysql 1 neither: ERROR 1226 (42000): User 'x' has exceeded the "
	"'max_questions' resource (current value: 9)",
	"mysql 1 retry: ERROR 1927 (70100) at line 1: Connection was killed",
	"nc 1 retry",
	"nc 1 stop: nc: invalid option -- 'y'",
	"ncat 2 retry: Ncat: Could not resolve hostname \"x\": Name or service "
	"not known. QUITTING.",
	"oras 1 retry: Error: GET \"http://x/v2/y\": response status code 429: "
	"too many",
	"oras 1 stop: Error: GET \"http://x/v2/y\": response status code 403: "
	"denied: x",
	"psql 2 retry: psql: error: connection to server at \"h\", port 5432 "
	"failed: FATAL:  no more connections allowed (max_client_conn)",
	"psql 1 retry: ERROR:  could not obtain lock on row in relation \"t\"",
	"psql 1 neither: ERROR:  canceling statement due to statement timeout",
	"rclone 1 retry: Failed to ls: operation error S3: ListObjectsV2, "
	"https response error StatusCode: 503, RequestID: x",
	"rclone 1 retry: CRITICAL: Failed to create file system for "
	"\":sftp:\": NewFs: couldn't connect SSH: dial tcp x: connect: "
	"connection refused",
	"rclone 1 neither: 2026/11/22 ERROR : 503.txt: Failed to copy: x",
	"redis 0 retry: > ERR max number of clients reached",
	"redis 0 stop: > NOAUTH Authentication required.",
	"redis 0 stop: > WRONGPASS invalid username-password pair or user is "
	"disabled.",
	"redis 0 success: > a value that says NOAUTH x",
	"restic 1 retry: Fatal: unable to open config file: unexpected HTTP "
	"response (503): 503 Service Unavailable",
	"s3cmd 70 retry: ERROR: S3 error: 504 (Gateway Timeout)",
	"s3cmd 77 stop: ERROR: S3 error: 403 (Forbidden)",
	"s3cmd 74 retry: ERROR: [Errno -2] Name or service not known",
	"scp 1 retry: lost connection",
	"smbclient 1 retry: > protocol negotiation failed: "
	"NT_STATUS_CONNECTION_DISCONNECTED",
	"smbclient 1 stop: > session setup failed: NT_STATUS_LOGON_FAILURE",
	"ssh 255 stop: /bin/sh: 1: exec: nc: not found\nConnection closed by "
	"UNKNOWN port 65535",
	"svn 1 retry: svn: E670003: Temporary failure in name resolution",
	"svn 1 retry: svn: E120106: ra_serf: The server sent a truncated HTTP "
	"response body.",
	"svn 1 neither: svn: E175002: Unexpected HTTP status 405 'Method Not "
	"Allowed' on '/svn'",
	"wget 8 neither",
	"wget 8 retry:   HTTP/1.1 503 Service Unavailable",
	"wget 4 stop: OpenSSL: error:0A00010B:SSL routines::wrong version "
	"number",
	"wget 4 stop: Proxy tunneling failed: Forbidden",
	"wget 1 retry: wget: error getting response: Connection reset by peer",
	"wget2 0 retry: Just got 5000 of 1000000 bytes (http://x/)",
	"wget2 0 retry: HTTP ERROR response 429 Too Many Requests [http://x/]",
	"wget2 0 stop: HTTP ERROR response 403 Forbidden [http://x/]",
	"wget2 0 success: Saving 'Failed'",
	/* Whole messages of tools; no capture shows them. */
	"mvn 1 retry: > [ERROR] Could not transfer artifact a:b:jar:1 from/to "
	"central (https://x): Failed to transfer file: https://x/b-1.jar. "
	"Return code is: 503 , ReasonPhrase:Service Unavailable. -> [Help 1]",
	"mvn 1 stop: > [ERROR] Could not transfer artifact a:b:jar:1 from/to "
	"central (https://x): Failed to transfer file: https://x/b-1.jar. "
	"Return code is: 401 , ReasonPhrase:Unauthorized.",
	"mvn 1 retry: > [ERROR] Could not transfer artifact a:b:pom:1 from/to "
	"k (https://x): Failed to transfer https://x/a.pom. Error code 503, x",
	"mvn 1 neither: > [ERROR] Could not transfer artifact a:b:pom:1 "
	"from/to k (https://x): Failed to transfer https://x/a.pom. Error code "
	"501, x",
	"mvn 1 retry: > [ERROR] Could not transfer artifact a:b:jar:1 from/to "
	"central (https://x): /10.0.0.1:1: GOAWAY received",
	"yarn 1 retry: error An unexpected error occurred: "
	"\"https://x/@babel%2fcore: Request failed \\\"500 Internal Server "
	"Error\\\"\".",
	"yarn 1 stop: error An unexpected error occurred: "
	"\"https://x/@babel%2fcore: Request failed \\\"404 Not Found\\\"\".",
	"bundle 1 retry: Gem::RemoteFetcher::FetchError: Errno::ECONNRESET: "
	"Connection reset by peer - SSL_connect (https://x/y.gem)",
	"bundle 1 retry: Gem::RemoteFetcher::FetchError: Errno::ETIMEDOUT: "
	"Operation timed out",
	"bundle 1 neither: rake aborted!\nErrno::ECONNRESET: Connection reset "
	"by peer",
	"bundle 1 retry: Net::OpenTimeout: Failed to open TCP connection to "
	"rubygems.org:443 (execution expired)",
	"bundle 1 neither: rake aborted!\nNet::OpenTimeout: Failed to open TCP "
	"connection to db:443 (execution expired)",
	"gem 2 retry:           Unable to download data from https://x/ - no "
	"such name (https://x/specs.4.8.gz)",
	"terraform 1 retry: \xe2\x94\x82 Error: Error creating Network: "
	"googleapi: Error 503: The x",
	"terraform 1 retry: \xe2\x94\x82 Error: Error creating Network: "
	"googleapi: Error\n\xe2\x94\x82 503: The service x",
	"terraform 1 retry: \xe2\x94\x82 currently unavailable.,\n\xe2\x94\x82 "
	"backendError",
	"terraform 1 neither: \xe2\x94\x82 Error: Error creating Network: "
	"googleapi: Error 409: x",
	"terraform 1 neither: \xe2\x94\x82   on main.tf line 503, in module "
	"\"x\":\n\xe2\x94\x82  503: The = var.x_backendError",
	"terraform 1 retry: \xe2\x94\x82 unsuccessful request to https://x: "
	"503 Service\n\xe2\x94\x82 Unavailable",
	"terraform 1 neither: \xe2\x94\x82 unsuccessful request to https://x: "
	"501 Service\n\xe2\x94\x82 x",
	"kubectl 1 retry: Error from server: rpc error: code = Unavailable "
	"desc = transport is closing",
	"kubectl 1 neither: Error from server: rpc error: code = Unknown desc "
	"= x",
	"kubectl 1 retry: Error from server: leader changed",
	"kubectl 1 retry: Error from server: etcdserver: leader changed",
	"kubectl 1 neither: error: lost connection to pod",
	"docker 1 retry: ERROR: failed to solve: Unavailable: error reading "
	"from server: EOF",
	"docker 1 retry: ERROR: failed to solve: DeadlineExceeded: failed to "
	"push x: x",
	"docker 1 neither: ERROR: failed to solve: NotFound: x",
	"docker 1 retry: filesystem layer verification failed for digest "
	"sha256:0",
	"gradle 1 retry:    > Timeout waiting to lock journal cache (/x). It "
	"is currently in use by another Gradle instance.",
	"gradle 1 retry: Gradle build daemon disappeared unexpectedly (it may "
	"have been killed or may have crashed)",
	"gradle 1 neither: x.Test > Timeout waiting to lock x, in use by "
	"another y FAILED",
	"pip 1 retry: ERROR: Could not install packages due to an OSError: "
	"[Errno 104] Connection reset by peer",
	"pip 1 neither: ERROR: Could not install packages due to an OSError: "
	"[Errno 2] No such file or directory",
	"dnf 1 retry: http://x/repomd.xml: [Errno 14] curl#6 - \"Could not "
	"resolve host: x\"",
	"dnf 1 neither: http://x/repomd.xml: [Errno 14] curl#60 - \"x\"",
	"dnf 1 stop: http://x/repomd.xml: [Errno 14] curl#35 - \"certificate "
	"has expired\"",
	"dnf 1 retry: Existing lock /var/run/yum.pid: another copy is running "
	"as pid 1234.",
	"apt 100 retry: E: Release file for http://x/InRelease is not valid "
	"yet (invalid for another 2h 1min 5s). Updates will not be applied.",
	"apt 100 neither: E: Release file for http://x/InRelease is expired "
	"(invalid since 2h 1min 5s). Updates will not be applied.",
	"apt 100 retry: E: Failed to fetch http://x/y.deb  Undetermined Error "
	"[IP: 1.2.3.4 80]",
	"gcloud 1 retry: ERROR: (gcloud.x) There was a problem refreshing your "
	"current auth tokens: HTTPSConnectionPool(host='x', port=443): Max "
	"retries exceeded with url: /token\nPlease run:\n\n  $ gcloud auth "
	"login",
	"gcloud 1 stop: ERROR: (gcloud.x) There was a problem refreshing your "
	"current auth tokens: ('invalid_grant: x', x)",
	"gcloud 1 stop: ERROR: (gcloud.x) You do not currently have an active "
	"account selected.\nPlease run:\n\n  $ gcloud auth login",
	"cargo 101 retry: error: failed to get 200 response from `https://x`, "
	"got 503",
	"cargo 101 stop: error: failed to get 200 response from `https://x`, "
	"got 403",
	"go 1 retry: go: github.com/x/y@v1: unexpected EOF",
	"go 1 neither: go: x@v1: parsing go.mod: unexpected EOF",
	"ansible 2 retry: >     \"msg\": \"Failed to update apt cache: "
	"W:Failed to fetch http://x/InRelease Temporary failure resolving "
	"'x'\"",
	"ansible 2 neither: >     \"stderr\": \"E: Failed to fetch http://x/y "
	"Temporary failure resolving 'x'\"",
	"helm 1 retry: Error: toomanyrequests: retry-after: 1.5s",
	"helm 1 stop: Error: toomanyrequests: You have reached your pull rate "
	"limit.",
};

/* Takes the lines of a text apart, into two rooms of the same size. */
static void
split(const char *text, char *err, char *out, size_t size)
{
	size_t used[2] = { 0, 0 };

	*err = *out = '\0';
	while (*text != '\0') {
		bool on_out = strncmp(text, "> ", 2) == 0;
		char *room = on_out ? out : err;
		size_t *at = &used[on_out];

		text += on_out ? 2 : 0;
		*at += (size_t)snprintf(room + *at, size - *at, "%s%.*s",
		    *at > 0 ? "\n" : "", (int)strcspn(text, "\n"), text);
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
}

static void
test_lines(void)
{
	for (size_t i = 0; i < LENGTH(lines); i++) {
		const char *row = lines[i], *text = strstr(row, ": ");
		char name[32], means[16], err[1024], out[1024];
		struct preset preset;
		int status;

		EQUAL(row,
		    sscanf(row, "%31s %d %15[a-z]", name, &status, means), 3);
		HOLDS(row, preset_find(name, strlen(name), &preset));
		split(text == NULL ? "" : text + 2, err, out, sizeof err);
		SAME(row, words[judge(&preset, status, err, out)], means);
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
