#include "tools/preset.h"

#include <string.h>
#include "text/strview.h"
#include "tools/command_line.h"

/*
 * Phrases are pieces of patterns: messages that several tools print in the same
 * words. Each is one group, or alternatives that another "|" may follow.
 *
 * A phrase counts as transient only if the failure can be over at a later
 * attempt. A name that cannot be resolved counts as transient: resolvers that
 * are still starting answer like that, and neither musl nor Go nor curl's exit
 * status distinguishes this case from a wrong name. "Broken pipe" is not
 * transient: most often the reader has what it wants. Nor is "timed out" alone:
 * tools print it when they waited for a condition, and then it is a result.
 */

/* HTTP statuses that are retried, as in the manual's table. */
#define AGAIN "(408|425|429|5(0[023479]|1[2-9]|[2-9][0-9]))\\b"
#define AGAIN_REASON \
	"Request Time-?out|Too Many Requests|Internal Server Error|Bad " \
	"Gateway|" \
	"Service (Temporarily )?Unavailable|Gateway Time-?out"

/* HTTP statuses that will not change. */
#define NEVER "(40[01347]|410)\\b"
#define NEVER_REASON \
	"\\b(401[: ][: ]*Unauthorized|403[: ][: ]*Forbidden|" \
	"404[: ][: ]*Not Found|410[: ][: ]*Gone)"

/* Numbers of libcurl's errors, as tools print them: see the row of curl. */
#define CURL_AGAIN "(5|6|7|16|18|28|35|52|55|56|92|95|96)"

/* From strerror(3) and gai_strerror(3), of glibc, musl and BSD. */
#define UNREACHED \
	"[Cc]onnection (refused|reset|timed out)|" \
	"[Nn]etwork is unreachable|[Nn]o route to host"
#define UNRESOLVED \
	"Temporary failure in name resolution|Name or service not known|" \
	"Name does not resolve|nodename nor servname|" \
	"No address associated with hostname"

/*
 * Network errors of any tool: the above, curl's, Java's, Python's, Node's (by
 * their names in errno(3)), those of TLS libraries and of HTTP.
 */
#define NET_AGAIN \
	UNREACHED \
	"|" UNRESOLVED \
	"|[Cc]onnection (aborted|closed by (remote|foreign) host)|" \
	"Could(n't| not) resolve |no such host|" \
	"server misbehaving|" \
	"([Oo]peration|[Rr]ead|[Cc]onnect|[Rr]equest|handshake) timed out|" \
	"i/o timeout|handshake timeout|context deadline exceeded|" \
	"ECONN(REFUSED|RESET)|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|socket hang up|" \
	"unexpected eof while reading|non-properly terminated|" \
	"SSL_ERROR_SYSCALL|Empty reply from server|Remote end closed|" \
	"[\"\\\\]: EOF\\b|errno=1(0[1-4]|1[0-3])\\b|" AGAIN_REASON

#define NET_NEVER \
	"[Aa]uthentication fail(ed|ure)|[Pp]ermission denied|" \
	"[Aa]ccess denied|" NEVER_REASON "|[Nn]o space left on device|" \
	"Disk quota exceeded|certificate (verify failed|has expired)|" \
	"CERTIFICATE_VERIFY_FAILED|x509: "

/*
 * A certificate that is not accepted, or an answer in plain text where TLS was
 * expected: OpenSSL, GnuTLS, rustls, and those of Go, Java, Node and Python.
 */
#define TLS_NEVER \
	"[Ss]elf[- ]signed certificate|certificate (verify failed|" \
	"has expired|is not yet valid|problem|verification failed)|" \
	"CERTIFICATE_VERIFY_FAILED|unable to (get (local )?issuer|" \
	"verify the first) cert|certificate's altnames|CERT_HAS_EXPIRED|" \
	"CERT_NOT_YET_VALID|CERT_ALTNAME_INVALID|SELF_SIGNED_CERT|" \
	"VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT|x509: |" \
	"invalid peer certificate|PKIX path|\\(certificate_|" \
	"CertificateException|No (subject alternative|name matching)|" \
	"wrong version number|WRONG_VERSION_NUMBER|packet length too long|" \
	"RECORD_LAYER_FAILURE|unexpected TLS packet|" \
	"gave HTTP response to HTTPS|not look like a TLS handshake|" \
	"type InvalidContentType|Unsupported or unrecognized SSL message"

/* Node's names of errors, and its words for a connection that has broken. */
#define NODE_AGAIN \
	"\\bE(CONN(REFUSED|RESET|ABORTED)|(SOCKET)?TIMEDOUT|AI_AGAIN|" \
	"NOTFOUND|" \
	"(HOST|NET)(UNREACH|DOWN))\\b|ERR_SOCKET_TIMEOUT|" \
	"E(CONNECTION|IDLE|RESPONSE|TRANSFER)TIMEOUT\\b|" \
	"ERR_STREAM_PREMATURE_CLOSE|UND_ERR_[A-Z_]*(TIMEOUT|SOCKET|ABORTED)|" \
	"socket hang up|before secure TLS connection|\\baborted\\b|" \
	"unexpected end of file"

/* From urllib3 and requests, as the last line of a traceback. */
#define PYTHON_AGAIN \
	"^([a-z0-9_]+\\.)*exceptions\\.([A-Za-z]*(Timeout(Error)?|" \
	"ConnectionError|ProtocolError|ResolutionError)|MaxRetryError|" \
	"RetryError|ProxyError|IncompleteRead|InvalidChunkLength|" \
	"ChunkedEncodingError|SSLError: .*\\bEOF)\\b"

/*
 * Exceptions of Python's http.client and urllib3 within a message. An SSLError
 * is permanent unless the peer has closed the connection.
 */
#define URLLIB3_AGAIN \
	"\\b(Connection(Reset|Refused|Aborted)Error|RemoteDisconnected|" \
	"IncompleteRead|InvalidChunkLength|NewConnectionError|" \
	"NameResolutionError|(Read|Connect)Timeout(Error)?|gaierror)\\b|" \
	"\\[Errno -[23]\\] |UNEXPECTED_EOF_WHILE_READING|" \
	"EOF occurred in violation of protocol|" \
	"TLS/SSL connection has been closed|" \
	"[Rr]ead timed out|(read|handshake) operation timed out|" \
	"Tunnel connection failed: " AGAIN
#define URLLIB3_NEVER \
	"CERTIFICATE_VERIFY_FAILED|WRONG_VERSION_NUMBER|" \
	"Tunnel connection failed: " NEVER

/* From reqwest, hyper and rustls, in tools written in Rust. */
#define RUST_AGAIN \
	"error sending request for url|tcp connect error|dns error|" \
	"connection closed before message|peer closed connection|" \
	"tls handshake eof|end of file before message|unexpected EOF|" \
	"error (reading a body from|decoding response body)|" \
	"request or response body error|operation timed out|" \
	"\\(os error 1(0[1-4]|1[0-3])\\)"

/* From Java's sockets, its HTTP clients and Apache's. */
#define JAVA_AGAIN \
	"[Cc]onnection (refused|reset|timed out)|" \
	"([Rr]ead|[Cc]onnect|[Rr]equest) timed out|failed to respond|" \
	"Premature end of |Remote host (closed connection|terminated the)|" \
	"SSL peer shut down|Unexpected end of file from server|" \
	"[Uu]nknown host|UnknownHostException|No route to host|" \
	"Network is unreachable|parser received no bytes|" \
	"EOF reached while reading|, bytes received: |" \
	"chunked transfer encoding, state: |GOAWAY received|" UNRESOLVED

/* From a git that another tool has started. */
#define GIT_AGAIN \
	"unable to access '[^']*': (Could(n't| not) (resolve|connect)|" \
	"Failed to connect|Recv failure|Send failure|Empty reply|" \
	"Connection timed out|Operation t(imed out|oo slow)|transfer closed|" \
	"end of response with|.*(non-properly|Connection reset|" \
	"unexpected eof|SSL_ERROR_SYSCALL|Error in the pull)|" \
	"The requested URL returned error: " AGAIN \
	")|RPC failed; (HTTP " AGAIN "|curl " CURL_AGAIN " )"

/* No tool works with a full disk. */
#define FULL "[Nn]o space left on device|Disk quota exceeded"

/* From Go's net and net/http, in every tool written in Go. */
#define GO_AGAIN \
	"((dial|read|write) (tcp|udp|unix)|http2?:|stream error:|" \
	"(Get|Head|Post|Put|Patch|Delete) [\"\\\\]*https?:).*" \
	"(connection (refused|reset|timed out)|client connection lost|" \
	"no such host|server misbehaving|Temporary failure in name|" \
	"i/o timeout|handshake timeout|context deadline exceeded|" \
	"Client\\.Timeout|awaiting (response )?headers|" \
	"network is unreachable|no route to host|write: broken pipe|" \
	"\\bEOF\\b|GOAWAY|INTERNAL_ERROR|REFUSED_STREAM|" AGAIN_REASON ")"
#define GO_NEVER \
	"x509: |server gave HTTP response to HTTPS client|" \
	"not look like a TLS handshake|" \
	"remote error: tls: (bad|certificate|handshake|protocol|unknown)"

/* A status in the words of Go's libraries, and of grpc. */
#define GO_STATUS_AGAIN \
	"[Ss]tatus( ?[Cc]ode)?( from registry)?:? " AGAIN \
	"|unexpected (HTTP )?status.*: " AGAIN \
	"|rpc error: code = (Unavailable|DeadlineExceeded|Aborted)\\b"

/* From libcurl, in the words of its errors, and of git about them. */
#define LIBCURL_AGAIN \
	"Failed to connect to |Could(n't| not) (connect to|resolve) |" \
	"(Operation|Resolving) timed out|SSL connection timeout|" \
	"Operation too slow|(Recv|Send) failure: |Empty reply from server|" \
	"transfer closed with |end of response with [0-9]+ bytes|" \
	"not closed cleanly|HTTP/?2 framing|SSL_ERROR_(SYSCALL|ZERO)|" \
	"GnuTLS recv error|in the pull function|non-properly terminated|" \
	"unexpected eof while|Proxy CONNECT aborted|(returned error:|" \
	"tunnel failed, response|Received HTTP code|RPC failed; HTTP) " AGAIN

/*
 * From ssh(1) before it starts the remote command: sshconnect.c, packet.c and
 * kex.c of OpenSSH.
 */
#define SSH_AGAIN \
	"^ssh: Could not resolve hostname |" \
	"^ssh: connect to host .*: (Connection|Operation timed out|" \
	"No route to host|Network is unreachable|Host is down)|" \
	"^(kex|ssh)_exchange_identification: (read: )?Connection |" \
	"^Connection (closed|reset) by |" \
	"^Connection timed out during banner exchange|" \
	"^banner exchange: Connection to .*: (could not read|Connection|" \
	"Broken pipe)|" \
	"^Connection to .* port [0-9]+ timed out"

/* From ssh(1) when the remote command may have started (clientloop.c): only for
 * commands that may run twice. */
#define SSH_DROPPED \
	"^client_loop: send disconnect: |^Timeout, server .* not responding|" \
	"^Connection to .* closed by remote host|" \
	"^Read from remote host .*: (Connection|Operation timed out)|" \
	"^ssh_dispatch_run_fatal: Connection to .*: (Connection (reset|" \
	"timed out)|Broken pipe)"

/* A shell says that the program of a ProxyCommand, or the remote one, is not
 * there. */
#define SSH_NEVER \
	"Permission denied( \\([gkphn]|, please)|Host key verification " \
	"failed|" \
	"Too many authentication failures|" \
	"no matching .* found\\. Their offer|" \
	"open failed: administratively prohibited|" \
	"^[^ ]*sh: .*: (not found|command not found|No such file or " \
	"directory)|" \
	"^zsh:[0-9]+: "

/* From registries of images, with how long to wait behind it. */
#define REGISTRY_WAIT "(toomanyrequests|TOOMANYREQUESTS): [Rr]etry-[Aa]fter: ?"

/* How GitHub refuses who asks too often, with how long to wait according to its
 * documentation. */
#define GITHUB_LIMIT \
	"secondary rate limit|abuse detection mechanism|" \
	"(was|were) submitted too quickly|" \
	"^remote: This request was rate-limited"
#define GITHUB_WAIT NANOS_MINUTE

/*
 * SLOW: retry has ended the attempt. SLOW_TOO: retry or timeout(1) has ended
 * it; not for tools that pass on the exit status of another command.
 */
#define SLOW "timeout"
#define SLOW_TOO "timeout,124"

/*
 * Replies of a server, Redis or Valkey: one that cannot serve yet, or that is
 * full, and one that will not serve this client.
 */
#define REDIS_AGAIN \
	"^(\\(error\\) )?(LOADING (Redis|Valkey) is loading |" \
	"BUSY (Redis|Valkey) is busy |MASTERDOWN Link with MASTER|" \
	"CLUSTERDOWN |TRYAGAIN |NOREPLICAS |NOMASTERLINK |" \
	"ERR max number of clients reached)"
#define REDIS_NEVER \
	"^(\\(error\\) )?(NOAUTH |WRONGPASS |NOPERM |" \
	"DENIED (Redis|Valkey) is running in protected mode)"

/*
 * What wget2 prints of a response, on standard output or with -O - on standard
 * error. A 401 and 407 ask for a password, a 404 may be that of robots.txt, and
 * a 416 tells that a file is whole: after these only the exit status counts.
 */
#define WGET2_AGAIN "^HTTP ERROR response " AGAIN
#define WGET2_NEVER \
	"^HTTP ERROR response (4(0[02356]|09|1[0-57-9]|2[0-46-8])|50[15])\\b"
#define WGET2_FAILED \
	"^HTTP ERROR response (4(0[0235689]|1[0-57-9]|[2-9][0-9])|5[0-9]+)\\b"

/* What it prints of a connection, always on standard error. */
#define WGET2_LOST \
	"^(Failed to ((read|write) -?[0-9]+ bytes|resolve |connect )|" \
	"Just got [0-9]+ of [0-9]+ bytes)"

/* npm 10 and older versions begin a line of an error in different ways. */
#define NPM "^npm (ERR!|error) "
#define NPM_NEVER \
	NPM "code E(401|403|404|ACCES|PERM|NOSPC|OTP|RESOLVE|USAGE|TARGET|" \
	    "NEEDAUTH|INTEGRITY|LIFECYCLE)\\b"
#define NPM_AGAIN \
	NPM "(network |code (E" AGAIN "|Z_BUF_ERROR|TAR_BAD_ARCHIVE)|(code|" \
	    "request to|.*, reason:) .*(" NODE_AGAIN \
	    ")|(Response timeout while|.* Unexpected end of " \
	    "JSON)|.*" GIT_AGAIN ")"

/* What corepack says if it cannot fetch the version of a package manager. */
#define COREPACK_AGAIN \
	"Error when performing the request to|Server answered with " \
	"HTTP " AGAIN

/*
 * Bundler and RubyGems name the cause in <> or behind " - ". Bundler breaks
 * lines between words, so each alternative is short. A broken index is fetched
 * again.
 */
#define RUBYGEMS_AGAIN \
	"Network error while|Could not reach host |" \
	"many connection\\b|connection resets|not return a\\b|a valid file|" \
	"(<| - |^    |FetchError: )(" \
	"Errno::E(CONN(REFUSED|RESET|ABORTED)|TIMEDOUT|" \
	"(HOST|NET)(UNREACH|DOWN))|Net::[A-Z][a-z]+Timeout|Timeout::Error|" \
	"SocketError|Socket::ResolutionError|EOFError)|" \
	"^Net::OpenTimeout: Failed to open TCP connection to " \
	"[a-z.]*rubygems\\.org:|(<| - )(timed|no such name \\(http)|" \
	"^out \\(http|timed out \\((http|Gem::)|" \
	"RemoteFetcher::UnknownHost|unexpected eof|eof while reading|" \
	"^while reading \\(http|bad response [A-Z].* " AGAIN \
	"|(^|(Error|Unavailable|Gateway|Time-?[Oo]ut|Requests) )" AGAIN \
	"( \\(https?://|>?$)|" \
	"Invalid spec cache file|incompatible marshal file|" \
	"Malformed version number string|marshal data too short|" \
	"\\bZlib::(Buf|Data|GzipFile::)?Error"

/* How pnpm 12 begins a line of the tree of causes. */
#define PNPM_LINE "^  [^ -~]+ "

/* How mise begins a line of an error: with several, by the name of a tool. */
#define MISE_LINE "^(mise ERROR |[a-z]+:[^ ]+@[^ ]+: ).*"

/* How uv begins a line of an error, and the lines of the chain of causes. */
#define UV_LINE "^(error: |  Caused by: |  [^ -~]+ )"

/* What both streams mean. */
#define FATAL(lines) .err.fatal = (lines), .out.fatal = (lines)
#define TRANSIENT(lines) .err.transient = (lines), .out.transient = (lines)

/*
 * The rows are sorted by their names. A row without codes has SLOW_TOO, and one
 * without programs has its name; "" means that there are none.
 */
/* clang-format off */
static const struct preset tools[] = {
	/*
	 * 4 means that a host was not reached, or that a file is not understood:
	 * the latter is said on stderr. A module that failed says why in its
	 * msg, which is not what a command of the user has printed.
	 */
	{ .name = "ansible",
	  .knows = "hosts that are not reached, modules without network",
	  .programs = "ansible ansible-playbook ansible-pull ansible-console",
	  .codes = SLOW_TOO ",4",
	  .err.fatal = "^ERROR! |^\\[ERROR\\]: ([^T]|T[^a])",
	  .out.fatal = "via ssh: .*(Permission denied|Host key verif|"
	    "[Aa]uthentication fail)|Invalid/incorrect password|"
	    "credentials were rejected",
	  .out.transient = "\\bstatus(_code)?\"?: " AGAIN "|"
	    "\\b(msg|response)\"?: \"?([^\"\\\\]|\\\\.)*(HTTP Error " AGAIN
	    "|urlopen error timed out|Connection failure: [^F]|"
	    "EOF occurred in violation|Could not get lock|Failed to lock apt|"
	    "Status code: " AGAIN "|[Cc]url error \\(?" CURL_AGAIN "|"
	    "Failed to fetch [^ \"]+ +(Temporary failure resolving|Could not "
	    "connect to|Connection (failed|timeout)|Undetermined Error)|"
	    GIT_AGAIN "|" NET_AGAIN ")",
	  .source = "Ansible's task_queue_manager.py, urls.py; captures" },

	{ .name = "ansible-galaxy",
	  .knows = "errors of the network and of the server",
	  .err.fatal = "HTTP (Code|Error):? " NEVER "|" TLS_NEVER "|" FULL,
	  .err.transient = "HTTP (Code|Error):? " AGAIN "|"
	    "urlopen error (timed out|_ssl)|EOF occurred in violation|"
	    "IncompleteRead|" NET_AGAIN "|" GIT_AGAIN,
	  .source = "ansible-core's galaxy/api.py; captures" },

	/*
	 * "no such package" follows where an index could not be fetched, so it
	 * does not stop. apk 2 has no words for a status but the remote error.
	 */
	{ .name = "apk",
	  .knows = "a locked database, errors of the network",
	  .err.fatal = "HTTP " NEVER "|server (hostname mismatch|certificate)|"
	    "UNTRUSTED signature|BAD signature|" NET_NEVER,
	  .err.transient = "\\(try again later\\)|"
	    "Unable to lock database: (Resource temp|Try)|"
	    "network (error \\(check|connection aborted)|"
	    "could not connect to server|remote server returned error|"
	    "HTTP " AGAIN "|HTTP: unrecognized|DNS: (no |name |non-)|"
	    "DNS (lookup )?error|Host is unreachable|unexpected end of file|"
	    "operation timed out|: I/O error|" UNREACHED,
	  .source = "apk-tools 2 and 3, print.c; not run" },

	/*
	 * If only lists fail, apt-get update prints W: and exits with 0. apt 3
	 * writes TooManyRequests before a 429 or 503.
	 */
	{ .name = "apt",
	  .knows = "a held lock, mirrors that are down, but not a 404",
	  .programs = "apt apt-get aptitude",
	  .err.fatal = "  " NEVER "  |Unable to locate package|"
	    "no installation candidate|are you root|NO_PUBKEY|is not signed|"
	    "unmet dependencies|dpkg was interrupted|enough free space|" FULL,
	  .err.transient = "Could not get lock |is another process using it|"
	    "locked by another process|" UNREACHED "|(Could not|"
	    "Unable to) connect to |Could not resolve '|"
	    "Temporary failure resolving|Connection (failed|timeout|closed)|"
	    "socket timed out|Error reading from server|Hash Sum mismatch|"
	    "File has unexpected size|(  |TooManyRequests )" AGAIN "  |"
	    "unexpected eof while reading|non-properly terminated|"
	    "Error in the (pull|push) function|SSL_ERROR_SYSCALL|"
	    "^[EW]: Failed to fetch .*  Undetermined Error|"
	    "^E: Release file for .* is not valid yet \\(",
	  .err.failed = "^W: (Failed to fetch |Some index files failed)",
	  .source = "apt-get(8); apt's methods/; captures" },

	/* aria2c prints errors on stdout. 1 is any error of the network. */
	{ .name = "aria2c",
	  .knows = "errors of the network, HTTP 429 or 5xx",
	  .codes = SLOW_TOO ",2,5,6,19,29",
	  .out.transient = "errorCode=(1 (Failed to (establish connection|"
	    "receive|send|poll|connect)|Got EOF from|Could not get data|"
	    "SSL/TLS handshake failure: .*(in the pull function|"
	    "in the push function|non-properly terminated|unexpected eof|"
	    "[Cc]onnection reset))|(1|22) .* status=" AGAIN ")",
	  .source = "aria2c(1), EXIT STATUS; captures" },

	/*
	 * LimitExceededException is more often a quota than a rate limit. An
	 * answer without a header that the service always sends is that of a
	 * proxy, or cut short: 'LastModified'.
	 */
	{ .name = "aws",
	  .knows = "throttling, errors of the service",
	  .err.fatal = "An error occurred \\((" NEVER "|AccessDenied|"
	    "ExpiredToken|NoSuch|AuthFailure|InvalidClientTokenId|"
	    "InvalidAccessKeyId|SignatureDoesNotMatch|UnrecognizedClient|"
	    "UnauthorizedOperation|Validation)|Unable to locate credentials|"
	    "^aws: error: |" URLLIB3_NEVER,
	  .err.transient = "Could not connect to the endpoint URL|"
	    "Failed to connect to proxy URL|(Connect|"
	    "Read) timeout on endpoint URL|"
	    "Connection was closed before we received|"
	    "Further retries may succeed|Max Retries Exceeded|"
	    "\\('Connection (broken|aborted)|error occurred while reading from "
	    "response stream|^fatal error: '(LastModified|ContentLength|ETag)'|"
	    URLLIB3_AGAIN "|An error occurred \\((" AGAIN
	    "|RequestTimeout|(EC2)?Thrott|RequestThrottled|TooManyRequests|"
	    "SlowDown|RequestLimitExceeded|BandwidthLimitExceeded|"
	    "ProvisionedThroughputExceeded|PriorRequestNotComplete|"
	    "TransactionInProgress|Internal(Error|Failure|Server|Service)|"
	    "Service(Unavailable|Exception)|Unavailable|ServerException|"
	    "DependencyTimeout|ModelTimeout|KMSInternal|OperationAborted|"
	    "ConcurrentModification)",
	  .source = "AWS CLI user guide, Return codes; botocore; captures" },

	{ .name = "az",
	  .knows = "throttling, errors of the service and the network",
	  .err.fatal = "run 'az login'|AADSTS[57][0-9]+|"
	    "\\((Authorization|Authentication|"
	    "ResourceNotFound|ResourceGroupNotFound|SubscriptionNotFound|"
	    "Invalid|Quota)[A-Za-z]*\\)|" URLLIB3_NEVER,
	  .err.transient = URLLIB3_AGAIN "|\\('Connection (broken|aborted)|"
	    "Max retries exceeded with url|\\((TooManyRequests|ServerTimeout|"
	    "InternalServerError|ServiceUnavailable|GatewayTimeout|"
	    "RetryableError|OperationPreempted|AnotherOperationInProgress)\\)|"
	    "invalid status (code )?'(" AGAIN_REASON ")'|^ERROR: ("
	    AGAIN_REASON ")",
	  .source = "azure-core's exceptions, Azure REST errors; not run" },

	/* Names of its own errors are in camel case, those of TLS are not. */
	{ .name = "bun",
	  .knows = "errors of the network and of the registry",
	  .programs = "bun bunx",
	  .err.fatal = "^error: (Unsupported|Invalid|TooManyRedirects|"
	    "Integrity)",
	  .err.transient = "^error: (GET .* - " AGAIN "|[A-Za-z]+ downloading "
	    "(package manifest|tarball) |[A-Za-z]+: Failed to download )|"
	    "^(error: )?" AGAIN " [A-Z][A-Za-z ]+: https?://",
	  .source = "bun's package manager; captures" },

	/* A gem that is cut short reads as a broken one: Bundler removes it. */
	{ .name = "bundle",
	  .knows = "errors of the network and of the server of gems",
	  .programs = "bundle bundler",
	  .err.fatal = TLS_NEVER "|Could not verify the SSL certificate|" FULL,
	  .err.transient = RUBYGEMS_AGAIN "|" GIT_AGAIN
	    "|(is.not.an.octal.string|package.metadata.is.missing).in.*cache"
	    ".*\\.gem",
	  .source = "Bundler's fetcher, source/rubygems.rb; RubyGems' "
	    "remote_fetcher.rb; captures" },

	{ .name = "cargo",
	  .knows = "errors of the network and of the registry",
	  .err.fatal = "^error: (could not compile|test failed|"
	    "no matching package)|^(  |error: failed to get 200 ).*, got " NEVER
	    "|: got " NEVER "; class|"
	    "http status code: " NEVER "|^  \\[35\\] .*(" TLS_NEVER
	    ")|class=Ssl .*code=Certificate|" FULL,
	  .err.transient = "^(error: |  )failed to get 200 response .*, got "
	    AGAIN "|^  (failed to get successful .*, got " AGAIN "|\\["
	    CURL_AGAIN "\\] |network failure seems to have happened|"
	    "failed to get a 200 OK response, got " AGAIN "|"
	    "failed to (connect to|resolve address for) |"
	    "the remote server responded with an error \\(status " AGAIN
	    ")|class=Net |(" UNREACHED ").*class=Os |http status code: " AGAIN
	    "|" GIT_AGAIN,
	  .wait = "\\(status 429[^)]*\\): .*[Pp]lease try again after ",
	  .source = "cargo's util/network/, libgit2; crates.io's "
	    "rate_limiter.rs; captures" },

	/*
	 * Symfony's console breaks a line at any character: the beginning of
	 * the message is whole, but (HTTP/1.1 503 Service Unavailable) may not.
	 */
	{ .name = "composer",
	  .knows = "errors of the network and of the repository",
	  .err.fatal = "requirements could not be resolved|HTTP/[0-9.]+ " NEVER
	    "|" TLS_NEVER "|" FULL,
	  .err.transient = "curl error " CURL_AGAIN " while downloading|"
	    "\\(HTTP/[0-9.]+ " AGAIN "|^ *[HTP/1-3. ]{0,9}" AGAIN
	    " [A-Za-z ]*\\)|^ *[0-9]{0,2} ?(" AGAIN_REASON ")\\)|"
	    "stream: (Connection |No route|Network |"
	    "php_network_get)|^ *php_network_getaddresses|" GIT_AGAIN,
	  .source = "Composer's CurlDownloader.php, RemoteFilesystem.php; "
	    "captures" },

	/* 000 is a connection that failed. mamba names libcurl's errors. */
	{ .name = "conda",
	  .knows = "errors of the network and of the channel",
	  .programs = "conda mamba micromamba",
	  .err.fatal = TLS_NEVER "|PackagesNotFoundError|"
	    "ResolvePackageNotFound|LibMambaUnsatisfiable|HTTP " NEVER
	    " [A-Z ]+ for |" FULL,
	  .err.transient = "HTTP (000|" AGAIN ") [A-Za-z ]* for |"
	    "Downloaded bytes did not match|LockError: |"
	    "Download error \\(" CURL_AGAIN "\\)|status: " AGAIN "|"
	    "Connection broken: |ConnectionPool\\(.*\\bEOF\\b|" PYTHON_AGAIN,
	  .source = "conda's exceptions.py, libmamba's downloader.cpp; not "
	    "run" },

	{ .name = "crane",
	  .knows = "a registry that fails, but not a pull limit",
	  .programs = "crane gcrane",
	  .err.fatal = "\\b(UNAUTHORIZED|DENIED|MANIFEST_UNKNOWN|NAME_UNKNOWN|"
	    "NAME_INVALID): |pull rate limit|" GO_NEVER "|" FULL,
	  .err.transient = GO_AGAIN "|" GO_STATUS_AGAIN
	    "|\\b(TOOMANYREQUESTS|UNAVAILABLE|UNKNOWN): |unexpected EOF|"
	    "error verifying size",
	  .wait = REGISTRY_WAIT,
	  .source = "go-containerregistry's remote/transport/error.go; not "
	    "run" },

	/*
	 * 7, 35 and 56 have permanent causes, too. A proxy that denies CONNECT
	 * is 56, and 7 from 8.20 on. From then on the message follows what shows
	 * the progress, on the same line.
	 */
	{ .name = "curl",
	  .knows = "no connection, a transfer cut short, HTTP 429 or 5xx",
	  .codes = SLOW_TOO ",5-7,12,16,18,28,35,52,55,56,92,95,96",
	  .err.fatal = "curl: \\(35\\) .*(wrong version number|"
	    "unexpected TLS packet|unsupported protocol|"
	    "no protocols available|handshake failure|"
	    "alert (protocol version|handshake))|"
	    "curl: \\((7|56)\\) .*(response|code) (4(0[0-79]|1[0-9])|50[15])\\b",
	  .err.transient = "(curl: \\(22\\)|"
	    "^\\*) The requested URL returned error: " AGAIN,
	  .source = "curl(1), EXIT CODES" },

	{ .name = "deno",
	  .knows = "modules and packages that cannot be loaded",
	  .err.fatal = "failed: " NEVER "|(Import|error sending request) .*("
	    TLS_NEVER ")",
	  .err.transient = "(failed|Bad response): " AGAIN "|^ +[0-9]+: .*("
	    RUST_AGAIN ")|^[^ ]*error[^ ]*: (Import|Failed|JSR|npm|"
	    "error sending request|Error getting|Could not) .*(" RUST_AGAIN ")",
	  .source = "reqwest's and hyper's errors; captures" },

	/* A repository that may be skipped fails with status 0. */
	{ .name = "dnf",
	  .knows = "a held lock, mirrors that are down, but not a 404",
	  .programs = "dnf dnf5 yum microdnf",
	  .codes = SLOW_TOO ",200",
	  .err.fatal = "No match for argument|Unable to find a match|"
	    "superuser privileges|GPG check FAILED|(Curl error \\(35\\)|"
	    "\\] curl#35 - ).*(" TLS_NEVER ")|" FULL,
	  .err.transient = "Curl error \\(" CURL_AGAIN "\\)|Status code: " AGAIN
	    "|\\[Errno 12\\] Timeout|HTTPS? Error " AGAIN
	    "|: \\[Errno 14\\] curl#" CURL_AGAIN " - |"
	    "^Existing lock .*: another copy is running as pid [0-9]",
	  .err.failed = "^Ignoring repositories: ",
	  .source = "dnf(8), EXIT CODES; librepo; captures" },

	/*
	 * dig exits with 0 after any answer. Of getent, 2 means that nothing
	 * was found, which a resolver that starts says, too; 9 is dig's.
	 */
	{ .name = "dns",
	  .knows = "no answer, SERVFAIL, but not NXDOMAIN",
	  .programs = "dig getent host nslookup",
	  .codes = SLOW_TOO ",2,9",
	  .err.transient = "^(dig|host|nslookup): couldn't get address for ",
	  .out.fatal = "not found: [35]\\(|"
	    "^\\*\\* server can't find .*: (NXDOMAIN|REFUSED)|"
	    "^\\*\\*\\* Can't find .*: No answer",
	  .out.transient = "^;; ->>HEADER<<- .* status: SERVFAIL|"
	    "not found: 2\\(SERVFAIL|^\\*\\* server can't find .*: SERVFAIL|"
	    "^;; communications error to |no servers could be reached",
	  .out.failed = "^;; ->>HEADER<<- .* status: SERVFAIL",
	  .source = "dig(1), RETURN CODES; getent(1), EXIT STATUS; captures" },

	/*
	 * A proxy between client and daemon answers with a status phrase,
	 * which the daemon never does; but its 404 reads like a 503.
	 * Docker Hub's pull limit lasts for hours. A push ends with "unknown
	 * blob" if the registry does not yet find what it has just stored.
	 * "parse error response" is of a build's cache in GitHub Actions.
	 */
	{ .name = "docker",
	  .knows = "no daemon, a registry that fails, but not a pull limit",
	  .programs = "docker docker-compose podman buildah skopeo",
	  .elsewhere = "exec run",
	  .err.fatal = "permission denied while trying to connect|"
	    "access denied|access to the resource is denied|[Uu]nauthorized|"
	    "daemon: ([Dd]enied|[Ff]orbidden)|manifest (unknown|"
	    "for .* not found)|pull rate limit|invalid reference format|"
	    "[Nn]o such (image|container|volume|network)|"
	    "name .* is already in use|OCI runtime|"
	    "port is already allocated|" GO_NEVER "|" FULL,
	  .err.transient = "^((docker|"
	    "ERROR): )?(Cannot connect to the Docker daemon|"
	    "failed to connect to the docker API) at |"
	    "^Error: unable to connect to Podman.* no such file or directory|"
	    "^(docker: )?([Ee]rror|ERROR|FATA|failed to |time=).*(" GO_AGAIN
	    "|unexpected EOF|context deadline exceeded|<title>" AGAIN
	    "|too many requests|HTTP " AGAIN "|parse error response " AGAIN
	    ")|^unknown blob$|"
	    "^(read tcp .*: connection reset|unexpected EOF$)|"
	    GO_STATUS_AGAIN "|toomanyrequests|request returned (" AGAIN_REASON
	    ")|^Error response from daemon: \\w+$|"
	    "HTTPConnectionPool\\(.*Read timed out|"
	    "Couldn't connect to Docker daemon at |"
	    "removal of container [^ ]+ is already in progress|"
	    "^(ERROR: )?failed to solve: (Unavailable|DeadlineExceeded|"
	    "Aborted): |filesystem layer verification failed for digest ",
	  .wait = REGISTRY_WAIT,
	  .source = "Docker's client/request.go; go-actions-cache's cache.go; "
	    "moby issue 36823; captures" },

	/* NU1301: a source of packages could not be read. */
	{ .name = "dotnet",
	  .knows = "sources of packages that are not reached",
	  .programs = "dotnet nuget msbuild",
	  FATAL("not indicate success: " NEVER "|NU1301: .*local source|"
	    "remote certificate|RemoteCertificate|UntrustedRoot|"
	    "frame size or a corrupted frame"),
	  TRANSIENT("\\bNU1301: |not indicate success: " AGAIN "|^error: .*("
	    "response ended prematurely|error occurred while sending|"
	    "from the transport connection|HttpClient\\.Timeout|" UNREACHED
	    "|" UNRESOLVED ")|HTTP request to .* has timed out"),
	  .source = "NuGet's error reference, NU1301; HttpClient; not run" },

	/* With a certificate that is not valid, too, the deadline passes. */
	{ .name = "etcdctl",
	  .knows = "a cluster that is not reached or has no leader",
	  .err.fatal = GO_NEVER "|permission denied|authentication failed|"
	    "user name is empty|database space exceeded",
	  .err.transient = "^Error: +(context deadline exceeded|"
	    "unhealthy cluster|client: etcd cluster is unavailable|"
	    "etcdserver: (request timed out|leader changed|no leader|"
	    "too many requests|not |server stopped|unhealthy)|"
	    "rpc error: code = (Unavailable|DeadlineExceeded))|"
	    "code = Unavailable |is unhealthy: ",
	  .source = "etcd's rpctypes/error.go; captures" },

	/* 1 may also be the command's own status, unless -E changes it. */
	{ .name = "flock",
	  .knows = "a lock that another process holds",
	  .codes = SLOW ",1",
	  .source = "flock(1), EXIT STATUS" },

	/*
	 * "gcloud auth login" does not stop: gcloud also advises it if it did
	 * not reach the server of tokens.
	 */
	{ .name = "gcloud",
	  .knows = "UNAVAILABLE, ABORTED, DEADLINE_EXCEEDED",
	  .programs = "gcloud gsutil bq",
	  .err.fatal = "PERMISSION_DENIED|UNAUTHENTICATED|NOT_FOUND|"
	    "INVALID_ARGUMENT|ALREADY_EXISTS|invalid_grant|"
	    "not currently have an active account|"
	    URLLIB3_NEVER "|" NET_NEVER,
	  .err.transient = "\\b(UNAVAILABLE|ABORTED|DEADLINE_EXCEEDED)\\b|"
	    "rateLimitExceeded|service is currently unavailable|(HTTPError|"
	    "ServiceException:|code=|ResponseError:|<title>) ?" AGAIN
	    "|Unable to find the server at |"
	    "auth tokens: .*Max retries exceeded with url|" URLLIB3_AGAIN "|"
	    NET_AGAIN,
	  .source = "google.rpc.Code; Cloud APIs, Errors; gcloud 528 on "
	    "loopback" },

	/* A gem that is broken stays in its cache, from which it is read again. */
	{ .name = "gem",
	  .knows = "errors of the network and of the server of gems",
	  .err.fatal = TLS_NEVER "|" FULL,
	  .err.transient = RUBYGEMS_AGAIN,
	  .source = "RubyGems' remote_fetcher.rb; captures" },

	/* The primary rate limit lasts an hour, the secondary is short. */
	{ .name = "gh",
	  .knows = "errors of the server, the secondary rate limit",
	  .err.fatal = "HTTP (401|404|410|422)\\b|gh auth login|" GO_NEVER,
	  .err.transient = "HTTP " AGAIN "|" GO_STATUS_AGAIN
	    "|error connecting to |Something went wrong while executing|"
	    "^unexpected (EOF|end of JSON input)$|: unexpected EOF$|" GO_AGAIN
	    "|" GIT_AGAIN,
	  .limit = GITHUB_LIMIT,
	  .limit_wait = GITHUB_WAIT,
	  .source = "gh help exit-codes; GitHub REST API, Rate limits; "
	    "captures" },

	{ .name = "git",
	  .knows = "a lost connection, a lock file, but not a rejected push",
	  .err.fatal = SSH_NEVER "|Authentication failed|"
	    "could not read (Username|Password)|repository '.*' not found|"
	    "Repository not found|not appear to be a git repository|"
	    "returned error: " NEVER "|HTTP 413|\\[rejected\\]|hook declined|"
	    "certificate (problem|verification failed)|" FULL,
	  .err.transient = UNREACHED "|" UNRESOLVED "|" SSH_AGAIN "|"
	    SSH_DROPPED "|" LIBCURL_AGAIN "|" AGAIN_REASON "|no such host|"
	    "i/o timeout|[\"\\\\]: EOF\\b|RPC failed; curl " CURL_AGAIN " |"
	    "early EOF|unexpected disconnect while|hung up (unexpectedly|"
	    "upon initial)|^fatal: (git fetch-pack: )?expected (flush|"
	    "response end|shallow|ACK/NAK)|(\\.lock'|"
	    "lock config file .*): File exists|is at [0-9a-f]+ but expected|"
	    "Rate limit exceeded: http|^fatal: rate limited by '",
	  .wait = "^fatal: rate limited by '.*', please try again in |"
	    "requested a delay greater than http\\.maxRetryTime \\(",
	  .limit = GITHUB_LIMIT,
	  .limit_wait = GITHUB_WAIT,
	  .source = "git's remote-curl.c, http.c, connect.c, lockfile.c; "
	    "GitHub REST API, Rate limits; captures" },

	{ .name = "glab",
	  .knows = "errors of the server, HTTP 429 or 5xx",
	  .err.fatal = "HTTP (401|403|404|410|422)\\b|glab auth login|"
	    GO_NEVER,
	  .err.transient = "HTTP " AGAIN "|(GET|POST|PUT|"
	    "DELETE) https?://[^ ]*: " AGAIN "|giving up after [0-9]+ attempt|"
	    "error connecting to |^unexpected EOF$|: unexpected EOF$|" GO_AGAIN,
	  .source = "glab's api package, go-gitlab, retryablehttp; captures" },

	{ .name = "go",
	  .knows = "errors of the network and of the module proxy",
	  .err.fatal = NEVER_REASON "|checksum mismatch|SECURITY ERROR|"
	    "unknown revision|x509: |gave HTTP response to HTTPS|"
	    "no matching versions|" FULL,
	  .err.transient = "reading https?://.*: " AGAIN "|" GO_AGAIN "|"
	    "read \"https?:.*\\b(EOF|reset|timeout)\\b|stream error: stream|"
	    "^go: .*@v[^ :]*: unexpected EOF$|" GIT_AGAIN,
	  .source = "go help module-private, net/http; captures" },

	/*
	 * The wrapper, gradlew, ends with an exception in main. Why a task failed
	 * stands at the start of a line; why a transfer failed stands deeper.
	 */
	{ .name = "gradle",
	  .knows = "a failed transfer, but not a failed test",
	  .programs = "gradle gradlew",
	  .err.fatal = "status code " NEVER "|Compilation failed|"
	    "There were failing tests|^ *> .*(" TLS_NEVER ")|" FULL,
	  .err.transient = "Received status code " AGAIN "|"
	    "(^ +> |^Exception in thread \"main\" ).*(" JAVA_AGAIN
	    "|response code: " AGAIN "|failed: timeout)|"
	    "^( *> )?(Timeout waiting to lock .* in use by another |"
	    "Gradle build daemon disappeared unexpectedly )",
	  .source = "Gradle's HTTP resource transport, HttpClient; captures" },

	/*
	 * A release "in progress" may be one whose helm was killed. What went
	 * wrong with a repository is said on stdout by helm repo update.
	 */
	{ .name = "helm",
	  .knows = "a cluster or repository that is not reached",
	  .err.fatal = "x509: |[Uu]nauthorized|[Ff]orbidden|"
	    "provide credentials|cannot re-use a name|"
	    "another operation .* is in progress|gave HTTP response to HTTPS|"
	    "YAML parse error|pull rate limit|" NEVER_REASON,
	  .err.transient = "^Error: .*(" GO_AGAIN "|"
	    "Kubernetes cluster unreachable|: " AGAIN " |status code " AGAIN "|"
	    "unexpected EOF|toomanyrequests|etcdserver: )|"
	    "the object has been modified",
	  .out.fatal = "^\\s.*(x509: |gave HTTP response to HTTPS)",
	  .out.transient = "^\\s(failed to fetch .* : " AGAIN " |" GO_AGAIN ")",
	  .wait = REGISTRY_WAIT,
	  .source = "Helm's getter, registry and kube packages; not run" },

	{ .name = "hg",
	  .knows = "a lost connection, a held lock, HTTP 429 or 5xx",
	  .programs = "hg chg",
	  .err.fatal = "^abort: (HTTP Error " NEVER "|authorization failed|"
	    "http authorization required|push creates new remote)|"
	    "^remote: .*Permission denied|^remote: Host key verif|"
	    URLLIB3_NEVER "|" FULL,
	  .err.transient = "^abort: (HTTP Error " AGAIN "|"
	    "error: bad HTTP status line: ''|error: timed out|"
	    "connection ended unexpectedly|HTTP request error|"
	    "stream ended unexpectedly|.*timed out waiting for lock)|^(abort|"
	    "remote): .*(" UNREACHED "|" UNRESOLVED ")|"
	    "^remote: Connection (closed|reset) by |^TimeoutError\\b|"
	    "may be an intermittent network failure|" URLLIB3_AGAIN,
	  .source = "Mercurial's httppeer.py, error.py; captures" },

	/* 5 alone is an error of the server, 4 is one of the request. */
	{ .name = "httpie",
	  .knows = "errors of the network, HTTP 429 or 5xx",
	  .programs = "http https xh xhs",
	  .codes = SLOW_TOO ",5",
	  .err.fatal = "^[a-z]+: [A-Za-z.]+: HTTP 50[15]\\b|" URLLIB3_NEVER "|"
	    TLS_NEVER,
	  .err.transient = "^[a-z]+: [A-Za-z.]+: HTTP " AGAIN "|"
	    "[Rr]equest timed out|\\('Connection aborted|"
	    "Incomplete download: |" URLLIB3_AGAIN "|" RUST_AGAIN "|"
	    UNRESOLVED,
	  .source = "HTTPie's status.py; xh's main.rs, hyper; captures" },

	{ .name = "kubectl",
	  .knows = "a server not reached or overloaded, a conflict",
	  .programs = "kubectl oc",
	  .elsewhere = "exec rsh",
	  .err.fatal = "^Error from server \\((Forbidden|NotFound|Unauthorized|"
	    "Invalid|BadRequest|AlreadyExists|MethodNotAllowed)\\)|" GO_NEVER
	    "|must be logged in to the server|^error: unknown (flag|command|"
	    "shorthand)|^command terminated with exit code|"
	    "getting credentials: .*not found|"
	    "^Unable to connect to the server: (Forbidden|Proxy Auth|"
	    "Unauthorized|Bad Request|Not Found)",
	  .err.transient = "^Unable to connect to the server: |"
	    "^The connection to the server .* was refused|"
	    "^Error from server \\((TooManyRequests|ServiceUnavailable|"
	    "Timeout|ServerTimeout|InternalError)\\)|"
	    "the object has been modified|^Error from server: (etcdserver: |"
	    "error dialing backend: |leader changed$|rpc error: code = "
	    "(Unavailable|DeadlineExceeded|Aborted) )|^(error|"
	    "Error from server|from server for|unable to recognize)[: ].*("
	    GO_AGAIN "|status code " AGAIN
	    "|unexpected EOF|an error on the server \\(|"
	    "client rate limiter Wait returned|"
	    "currently unable to handle the request|"
	    "unable to return a response in the time|"
	    "has received too many requests|watch closed before)",
	  .source = "Kubernetes API conventions, HTTP status; captures" },

	/* -1 to -5 are libldap's own: SERVER_DOWN and TIMEOUT. */
	{ .name = "ldapsearch",
	  .knows = "a server that is not reached, busy or unavailable",
	  .programs =
	    "ldapsearch ldapadd ldapcompare ldapdelete ldapexop ldapmodify "
	    "ldapmodrdn ldappasswd ldapwhoami",
	  .codes = SLOW_TOO ",51,52",
	  .err.fatal = "certificate is NOT trusted|Invalid credentials|"
	    TLS_NEVER,
	  .err.transient = "^ldap_.*\\((-1|-5|51|52)\\)$|"
	    "Cannot contact any KDC",
	  .source = "ldap.h of OpenLDAP, ldap_error(3); captures" },

	/* A transfer that is cut has an empty reason. */
	{ .name = "lftp",
	  .knows = "errors of the network, HTTP 429 or 5xx",
	  .programs = "lftp lftpget",
	  .err.fatal = "Access failed: " NEVER "|Login failed|"
	    "Certificate verification: |unexpected TLS packet",
	  .err.transient = "Fatal error: max-retries exceeded|Access failed: "
	    AGAIN "|non-properly terminated|in the (pull|push) function|"
	    UNRESOLVED "|" UNREACHED "|^(get1?|mget|pget|put|mput|cat|"
	    "mirror): .*: $",
	  .source = "lftp(1), net:max-retries; captures" },

	/*
	 * Warnings about a list of versions that is not needed do not count, nor
	 * lines of a task or of what mise exec runs. Of several tools that failed
	 * each has a line of its own.
	 */
	{ .name = "mise",
	  .knows = "errors of the network, HTTP 429 or 5xx",
	  .err.fatal = MISE_LINE "(error \\(" NEVER "|" TLS_NEVER "|status "
	    NEVER ")|" FULL,
	  .err.transient = MISE_LINE "(error \\(" AGAIN "|" RUST_AGAIN
	    "|status " AGAIN "|" GIT_AGAIN ")",
	  .source = "mise's errors.rs, reqwest, hyper; captures" },

	{ .name = "mongosh",
	  .knows = "no connection, no primary",
	  .programs = "mongosh mongodump mongoexport mongoimport mongorestore",
	  .err.fatal = "Authentication ?[Ff]ailed|not authorized|"
	    "requires authentication|" TLS_NEVER,
	  .err.transient = "^Mongo(Network(Timeout)?|ServerSelection|"
	    "PoolCleared[A-Za-z]*|TopologyClosed)Error\\b|"
	    "server selection error: |^Mongo[A-Za-z]*Error\\[(NotWritable|"
	    "NotPrimary|PrimarySteppedDown|InterruptedAtShutdown|"
	    "InterruptedDueToRepl|ShutdownInProgress|HostUnreachable|"
	    "HostNotFound|NetworkTimeout|SocketException|ExceededTimeLimit|"
	    "WriteConflict|LockTimeout)|^Mongo[A-Za-z]*Error: (not (primary|"
	    "master)|node is recovering)",
	  .source = "MongoDB drivers, retryable errors; captures" },

	{ .name = "mount",
	  .knows = "a server that is not reached, a busy target",
	  .programs = "mount umount",
	  .err.fatal = "[Aa]ccess denied|Permission denied|wrong fs|"
	    "Operation not permitted|must be superuser|No such |"
	    "does not exist|already mounted",
	  .err.transient = "^mount(\\.[a-z0-9]+)?: .*(" UNREACHED "|" UNRESOLVED
	    "|Resource temporarily|RPC: Timed out)|"
	    "^mount error\\((101|104|11[0-35])\\)|"
	    "^mount error: could not resolve address|"
	    "^umount(\\.[a-z0-9]+)?: .*is busy",
	  .source = "mount(8), nfs(5), errno(3)" },

	/*
	 * A transfer that failed without a status failed in the network; its
	 * cause follows for dependencies, but not for plugins.
	 */
	{ .name = "mvn",
	  .knows = "a failed transfer, but not a failed test",
	  .programs = "mvn mvnw mvnd",
	  .out.fatal = "status( code)?: " NEVER "|COMPILATION ERROR|"
	    "There are test failures|Could not transfer .*(" TLS_NEVER
	    "|Certificate for <|fatal alert: .*(cert|handshake_f|protocol_v)|"
	    "(Return code is:|Error code) " NEVER ")|" FULL,
	  .out.transient = "Could not transfer .*(status( code)?:? " AGAIN "|"
	    "(Return code is:|Error code) " AGAIN "|"
	    "transfer failed for [^ ]+($|:? [^,s])|timed out|Truncated chunk|"
	    "end of ZLIB input|Checksum validation failed|" JAVA_AGAIN ")|"
	    "^\\[ERROR\\] .*Failed to (deploy|retrieve) .*(status( code)?:? "
	    AGAIN "|" JAVA_AGAIN ")",
	  .source = "Maven Resolver, HttpClient; captures" },

	/* 1226 is a quota for an hour, except for connections at a time. */
	{ .name = "mysql",
	  .knows = "no connection, too many connections, deadlocks",
	  .programs =
	    "mysql mysqldump mysqladmin mysqlimport mysqlcheck mariadb "
	    "mariadb-dump mariadb-admin mariadb-import mariadb-check",
	  .elsewhere = "mysql mariadb",
	  .err.fatal = "Access denied for user|([Ee]rror|ERROR):? (1044|1045|"
	    "1049|1064|1130|1142|1146|1153|1698)\\b|"
	    "through socket '.*' \\(13\\b|" FULL,
	  .err.transient = "([Ee]rror|ERROR):? (1020|1040|1053|1159|1161|1203|"
	    "1205|1213|1637|1689|1927|2002|2003|2005|2006|2013|2055|3572|"
	    "4031)\\b|'max_user_connections' resource|Can't connect to |"
	    "Lost connection to |server has gone away|Too many connections|"
	    "try restarting transaction|WSREP has not yet prepared|"
	    "(SSL|TLS)[a-zA-Z/ ]* error: .*(unexpected eof|Connection reset|"
	    "non-properly|lib\\(0\\))",
	  .source = "MySQL manual, Server and Client Error Messages; "
	    "captures" },

	/* nc without -v says nothing if it does not get a connection. */
	{ .name = "nc",
	  .knows = "no connection, no name",
	  .programs = "nc ncat netcat",
	  .codes = SLOW_TOO ",1",
	  .err.fatal = "^usage: |invalid option|port (number|range) |"
	    "Address already in use|Permission denied|not permitted|"
	    "Certificate verif|wrong version number|"
	    "cannot use |must (specify|be) |requires an argument",
	  .err.transient = "^Ncat: Could not resolve hostname|" UNRESOLVED,
	  .source = "nc(1), ncat(1), EXIT CODES; captures" },

	{ .name = "net",
	  .knows = "no connection, no name, HTTP 429 or 5xx in any words",
	  .programs = "",
	  .err.fatal = NET_NEVER,
	  .err.transient = NET_AGAIN,
	  .source = "errno(3), gai_strerror(3), RFC 9110; captures" },

	{ .name = "npm",
	  .knows = "errors of the network and of the registry",
	  .programs = "npm npx",
	  .err.fatal = NPM_NEVER,
	  .err.transient = NPM_AGAIN "|^npm (WARN|warn) audit (" AGAIN " |"
	    "request to .*(" NODE_AGAIN "))",
	  .source = "npm's error-message.js, Node's errors; captures" },

	{ .name = "oras",
	  .knows = "a registry that fails, but not a pull limit",
	  .err.fatal = "response status code " NEVER "|pull rate limit|"
	    GO_NEVER "|" FULL,
	  .err.transient = GO_AGAIN "|" GO_STATUS_AGAIN
	    "|toomanyrequests|unexpected EOF|context deadline exceeded",
	  .wait = REGISTRY_WAIT,
	  .source = "oras-go's registry/remote/errcode; captures" },

	{ .name = "pg_isready",
	  .knows = "a server that starts or does not answer",
	  .codes = SLOW_TOO ",1,2",
	  .source = "pg_isready(1), EXIT STATUS" },

	{ .name = "ping",
	  .knows = "no answer, a name that cannot be resolved",
	  .codes = SLOW_TOO ",1",
	  .err.fatal = "Operation not permitted|invalid argument",
	  .err.transient = UNRESOLVED "|Network is unreachable|"
	    "No route to host|^ping: bad address ",
	  .source = "ping(8): 1 where no reply came; captures" },

	/*
	 * "from versions: none" is printed if the index is down, if it
	 * refuses, and if the name is wrong: only pip -vv says which, but it
	 * does say on stdout that a certificate is not accepted. A progress bar
	 * without an eta is one of a file that has not arrived as a whole.
	 */
	{ .name = "pip",
	  .knows = "errors of the network and of the index",
	  .programs = "pip pipx",
	  .err.fatal = "\\(from versions: [0-9]|HTTP error " NEVER "|" NEVER
	    " Client Error|401 Error, Cred|ResolutionImpossible|"
	    "externally-managed|Permission denied|"
	    "Tunnel connection failed: 40[37]|" TLS_NEVER "|" FULL,
	  .err.transient = "\\(from versions: none\\)|HTTP error " AGAIN "|"
	    AGAIN " (Client|Server) Error|" PYTHON_AGAIN "|"
	    "ConnectionPool\\(.*Max retries exceeded|"
	    "^ERROR: .*(Connection (broken|aborted)|IncompleteRead|"
	    "Read timed out)|^ERROR: Could not install packages due to an "
	    "(OS|Environment)Error: \\[Errno 1(0[1-4]|1[0-3])\\]|"
	    "^error: (incomplete-download|proxy-connection|"
	    "connection-(failed|timeout))|not enough bytes were received|"
	    GIT_AGAIN,
	  .out.fatal = "confirming the ssl certificate: .*(" TLS_NEVER
	    "|doesn't match)|^ *Could not fetch URL [^ ]*: " NEVER " ",
	  .out.transient = " eta -:--:--",
	  .source = "pip's index/collector.py, network/; captures" },

	/*
	 * Only what playwright install says counts: a test that failed is a
	 * result. A download that failed says why on stderr.
	 */
	{ .name = "playwright",
	  .knows = "browsers that cannot be fetched, but not a failed test",
	  .programs = "playwright",
	  .err.fatal = NPM_NEVER "|"
	    "^Error: (Download failed: server returned code (4(0[0-79]|1[0-9])|"
	    "50[15])\\b|.*(" TLS_NEVER "))|" FULL,
	  .err.transient = NPM_AGAIN,
	  .out.transient = "^Error: Download failure, code=1$",
	  .source = "playwright-core's registry, npm's error-message.js; "
	    "captures" },

	/*
	 * Up to version 11 it prints errors on stdout; what npm does for it is
	 * on stderr. From 12 on they are on stderr: a tree of causes, broken at
	 * 80 columns.
	 */
	{ .name = "pnpm",
	  .knows = "errors of the network and of the registry",
	  .programs = "pnpm pnpx",
	  .err.fatal = NPM_NEVER "|" TLS_NEVER,
	  .err.transient = NPM_AGAIN "|" COREPACK_AGAIN "|" PNPM_LINE "(.*("
	    RUST_AGAIN "|" UNREACHED "|(HTTP| -) " AGAIN ")|.*\\(" AGAIN ")|"
	    "^      (\\(" AGAIN " [A-Z]|.*\\(os error 1(0[1-4]|1[0-3])\\))",
	  .out.fatal = "ERR_PNPM_(FETCH_" NEVER "|NO_MATCHING_VERSION|"
	    "OUTDATED_LOCKFILE)|ERR_PNPM_.*(reason: |fetch failed).*("
	    TLS_NEVER ")",
	  .out.transient = "ERR_PNPM_((META_)?FETCH_FAIL|FETCH_" AGAIN
	    "|BAD_TARBALL_SIZE|(BROKEN_METADATA_JSON|TARBALL_EXTRACT).*("
	    NODE_AGAIN "|timeout|Unexpected end of JSON))|^[^!-~]*(" NODE_AGAIN
	    ")[^!-~][^!-~]|" GIT_AGAIN,
	  .source = "pnpm documentation, Error Codes; Node's errors; "
	    "captures" },

	/* It says only with -v why it could not connect. */
	{ .name = "poetry",
	  .knows = "errors of the network and of the index",
	  FATAL(TLS_NEVER "|version solving failed|" NEVER " Client Error|"
	    "HTTP Error " NEVER),
	  TRANSIENT("^ *(All attempts to connect to|" AGAIN " (Client|Server) "
	    "Error: |HTTP Error " AGAIN "|HTTPS?ConnectionPool\\(|"
	    "\\('Connection (aborted|broken)|unexpected http resp " AGAIN ")"),
	  .source = "poetry's authenticator.py, uploader.py; captures" },

	/*
	 * 3 is an error that is not a hook's, which is shown on stdout. pip's
	 * words are as ambiguous as in its row.
	 */
	{ .name = "pre-commit",
	  .knows = "a repository that cannot be fetched, but not a hook",
	  .own = "3",
	  .out.transient = "^    (.*(" GIT_AGAIN "|early EOF|"
	    "\\(from versions: none\\))|ssh: (Could not resolve hostname |"
	    "connect to host .*: (Conn|Operation timed out|No route|"
	    "Network is))|Connection (closed|reset) by )",
	  .source = "pre-commit's error_handler.py, git; captures" },

	/* A pooler's "query_wait_timeout" and "max_client_conn", too. */
	{ .name = "psql",
	  .knows = "a server that starts or is full, deadlocks",
	  .programs =
	    "psql pg_dump pg_dumpall pg_restore pg_basebackup createdb "
	    "createuser dropdb dropuser clusterdb vacuumdb reindexdb pgbench",
	  .elsewhere = "psql",
	  .err.fatal = "authentication failed|no pg_hba\\.conf entry|(role|"
	    "database) \".*\" does not exist|[Pp]ermission denied|"
	    "syntax error|certificate verify failed|" FULL,
	  .err.transient = UNREACHED "|" UNRESOLVED "|timeout expired|"
	    "too many (clients already|connections for (role|database) )|"
	    "remaining connection slots|exceeds max_wal_senders|"
	    "no more connections allowed|query_wait_timeout|"
	    "server login has been failing|"
	    "the database system is |Is the server running |"
	    "closed the connection unexpectedly|SSL SYSCALL error|"
	    "unexpected eof while reading|could not (receive data from|"
	    "send data to) server|terminating connection due to|"
	    "could not serialize access|deadlock detected|"
	    "canceling statement due to (lock timeout|conflict)|"
	    "could not obtain lock on |is being accessed by other users|"
	    "replication slot \".*\" is active|: (session is read-only|"
	    "server is in hot standby mode)",
	  .source = "PostgreSQL manual, Error Codes 08, 40, 53, 55, 57; "
	    "captures" },

	{ .name = "rclone",
	  .knows = "status 5, no connection, HTTP 429 or 5xx",
	  .codes = SLOW_TOO ",5",
	  .err.fatal = GO_NEVER "|unable to authenticate|key mismatch|" FULL,
	  .err.transient = GO_AGAIN "|" GO_STATUS_AGAIN "|(HTTP [Ee]rror:?|"
	    "CopyURL failed:|googleapi: Error) " AGAIN "|: " AGAIN " ("
	    AGAIN_REASON ")|rateLimitExceeded|userRateLimitExceeded|"
	    "too_many_requests|\\b(SlowDown|RequestTimeout|InternalError): |"
	    "ssh: handshake failed: (EOF|read tcp)|unexpected EOF",
	  .source = "rclone documentation, List of exit codes; captures" },

	/* An error reply is printed on stdout, and the status is 0. */
	{ .name = "redis",
	  .knows = "no connection, and the replies LOADING, BUSY and the like",
	  .programs = "redis-cli valkey-cli",
	  .err.fatal = REDIS_NEVER "|^AUTH failed: (WRONGPASS|NOAUTH|"
	    "ERR invalid)",
	  .err.transient = REDIS_AGAIN "|^Could not connect to (Redis|"
	    "Valkey) at |^Error: (Server closed|Connection)|"
	    "^AUTH failed: ERR max number",
	  .out.fatal = REDIS_NEVER,
	  .out.transient = REDIS_AGAIN,
	  .out.failed = REDIS_AGAIN "|" REDIS_NEVER,
	  .source = "Redis' server.c, redis-cli.c; captures" },

	{ .name = "restic",
	  .knows = "a locked repository",
	  .codes = SLOW_TOO ",11",
	  .err.fatal = "HTTP response \\(" NEVER "|wrong password|" GO_NEVER "|"
	    FULL,
	  .err.transient = "HTTP response \\(" AGAIN "|" GO_AGAIN
	    "|" GO_STATUS_AGAIN "|repository is already locked|"
	    "unexpected EOF|" SSH_AGAIN,
	  .source = "restic documentation, Exit codes: locked repository; "
	    "captures" },

	/*
	 * 5 may be a wrong password; after 23 and 24 some files are sent. A
	 * daemon that sends no greeting is starting, stopping or full.
	 */
	{ .name = "rsync",
	  .knows = "a lost connection, a daemon that is full",
	  .codes = SLOW_TOO ",10,12,30,35",
	  .err.fatal = SSH_NEVER "|^@ERROR: (auth failed|Unknown module|"
	    "access denied)|command not found|"
	    "bad response from proxy -- HTTP/[0-9.]+ " NEVER "|" FULL,
	  .err.transient = SSH_AGAIN "|" SSH_DROPPED "|"
	    "^@ERROR: max connections|^rsync: did not see server greeting",
	  .source = "rsync(1), EXIT VALUES; clientserver.c; captures" },

	{ .name = "s3cmd",
	  .knows = "no connection, HTTP 429 or 5xx",
	  .codes = SLOW_TOO ",15,75,111",
	  .err.fatal = "^ERROR: S3 error: " NEVER "|"
	    "SSL certificate verification|" URLLIB3_NEVER,
	  .err.transient = "^ERROR: S3 error: " AGAIN "|"
	    "^ERROR: S3 Temporary Error|^ERROR: (Could not connect to server|"
	    "Connection Error)|\\b(" UNREACHED "|" UNRESOLVED ")|^Problem: .*("
	    "BadStatusLine|timeout)|" URLLIB3_AGAIN,
	  .source = "s3cmd's ExitCodes.py, Exceptions.py; captures" },

	{ .name = "scp",
	  .knows = "a lost connection, but not a full disk",
	  .programs = "scp sftp",
	  .err.fatal = SSH_NEVER "|Permission denied|" FULL,
	  .err.transient = SSH_AGAIN "|" SSH_DROPPED "|^lost connection$|"
	    "^Couldn't read packet: Connection (reset|timed out)",
	  .source = "scp(1), sftp(1); OpenSSH; captures" },

	/* UNSUCCESSFUL: no such name. */
	{ .name = "smbclient",
	  .knows = "a server that is not reached, a busy file",
	  .programs = "smbclient rpcclient smbget",
	  FATAL("NT_STATUS_(LOGON_FAILURE|ACCESS_DENIED|BAD_NETWORK_NAME)"),
	  TRANSIENT("NT_STATUS_(CONNECTION_(REFUSED|RESET|DISCONNECTED|"
	    "ABORTED)|(HOST|NETWORK)_UNREACHABLE|IO_TIMEOUT|END_OF_FILE|"
	    "(LOCAL|REMOTE)_DISCONNECT|NETWORK_(BUSY|NAME_DELETED)|"
	    "INSUFF(ICIENT)?_SERVER_RESOURCES|REQUEST_NOT_ACCEPTED|"
	    "TOO_MANY_SESSIONS|NO_LOGON_SERVERS|SHARING_VIOLATION|"
	    "FILE_LOCK_CONFLICT)\\b|"
	    "^do_connect: .*NT_STATUS_(UNSUCCESSFUL|NOT_FOUND)"),
	  .source = "MS-ERREF, NTSTATUS values; captures" },

	{ .name = "sqlite3",
	  .knows = "a locked database",
	  .programs = "sqlite3 sqlite",
	  .codes = SLOW_TOO ",5",
	  .err.fatal = "readonly database|disk is full|is not a database|"
	    "is malformed",
	  .err.transient = "database (table |schema )?is locked",
	  .source = "sqlite.org/rescode: SQLITE_BUSY; sqlite3 3.40" },

	/* SSH_DROPPED is not here: the remote command may have run. */
	{ .name = "ssh",
	  .knows = "no connection, but not what the command did",
	  .codes = SLOW,
	  .own = "255",
	  .elsewhere = "ssh",
	  .err.fatal = SSH_NEVER,
	  .err.transient = SSH_AGAIN,
	  .source = "ssh(1), EXIT STATUS; OpenSSH; captures" },

	/*
	 * The numbers are those of errno (E000111), of getaddrinfo (E670003)
	 * and svn's own. An answer that is not WebDAV (E175003) is that of a
	 * proxy, or cut short.
	 */
	{ .name = "svn",
	  .knows = "a lost connection, HTTP 429 or 5xx",
	  .programs = "svn svnmucc svnrdump svnsync",
	  .err.fatal = "\\bE(170001|215004|175013|160013|230001): |" SSH_NEVER
	    "|" FULL,
	  .err.transient = "\\bE(0001(0[0-4]|1[0-3])|1201(06|08)|175012|175003|"
	    "210002|670[0-9]{3}|200033): |\\bE175002: Unexpected (HTTP "
	    "status|server error) " AGAIN,
	  .source = "Subversion's svn_error_codes.h; captures" },

	/* 75 invites a retry; 69 is a catchall, says sysexits.h. */
	{ .name = "sysexits",
	  .knows = "status 75, EX_TEMPFAIL",
	  .programs = "",
	  .codes = SLOW ",75",
	  .source = "sysexits.h: EX_TEMPFAIL" },

	/* Terraform breaks lines at 78 columns: short phrases only. */
	{ .name = "terraform",
	  .knows = "throttling, a held state lock",
	  .programs = "terraform tofu terragrunt",
	  .elsewhere = "apply destroy",
	  .err.fatal = NET_NEVER "|requires auth|No valid credential|"
	    "InvalidClientTokenId|ExpiredToken|AccessDenied|"
	    "UnauthorizedOperation|AuthFailure|Error: (Unsupported|Invalid|"
	    "Missing required)|gave HTTP response",
	  .err.transient = NET_AGAIN "|giving up after |"
	    "Error acquiring the state lock|Throttling|RequestLimitExceeded|"
	    "TooManyRequestsException|rateLimitExceeded|"
	    "\\b(dial|read) tcp |connect: connection$|unexpected EOF|"
	    "Client\\.Timeout|(document|status|code|response|later):? " AGAIN
	    "|(^|: |[^ -~] )(Error " AGAIN ":|" AGAIN " (Service|Bad|Gateway|"
	    "Internal( Server)?|Too( Many)?)$|" AGAIN ": The service )|"
	    "(^|[,\"] ?|[^ -~] )backendError\\b|" GIT_AGAIN,
	  .source = "Terraform CLI, State Locking; go-retryablehttp; "
	    "captures" },

	/* HTTP's errors are on stdout, those of the network on stderr. */
	{ .name = "twine",
	  .knows = "errors of the network and of the index",
	  .err.fatal = TLS_NEVER "|Tunnel connection failed: 40[37]",
	  .err.transient = PYTHON_AGAIN "|HTTPError: " AGAIN,
	  .out.transient = "HTTPError: " AGAIN,
	  .source = "twine's __main__.py, requests; captures" },

	/*
	 * The chain of causes has a cause a line. Lines of the command of uv
	 * run begin otherwise.
	 */
	{ .name = "uv",
	  .knows = "errors of the network and of the index",
	  .programs = "uv uvx",
	  .err.fatal = UV_LINE "(.*error \\(" NEVER "|.*(" TLS_NEVER "|"
	    "No solution found|Hash mismatch))|" FULL,
	  .err.transient = UV_LINE "(.*(\\(|status code )" AGAIN " [A-Z<]|.*("
	    RUST_AGAIN "|network timeout|Connection reset by peer))|"
	    "^ +\\(" AGAIN " [A-Z]|" GIT_AGAIN,
	  .source = "uv's tests of its network, reqwest, hyper; not run" },

	/* With -q, a 503 looks like a 404: 8, and no word. */
	{ .name = "wget",
	  .knows = "errors of the network, HTTP 429 or 5xx",
	  .codes = SLOW_TOO ",4",
	  .err.fatal = "^GnuTLS: An unexpected TLS packet|^OpenSSL: .*(wrong "
	    "version number|handshake failure|protocol version)|"
	    "^Proxy tunneling failed: (Bad Request|Unauth|Forbidden|Not |"
	    "Method |Proxy Auth|Gone)",
	  .err.transient = "ERROR " AGAIN "|^  HTTP/[0-9.]+ " AGAIN
	    "|^wget: (bad address|can't connect to remote host|"
	    "download timed out|connection closed prematurely|"
	    "error getting response|read error|got bad TLS record "
	    "\\(len:0\\)|server returned error: HTTP/1\\.[01] " AGAIN ")",
	  .wait = "^  [Rr]etry-[Aa]fter: ?",
	  .source = "wget(1), EXIT STATUS; BusyBox networking/wget.c; "
	    "captures" },

	/*
	 * After a failure the status may be 0. Without a word, 5 is a handshake
	 * that was cut off; 8 is as often a 404.
	 */
	{ .name = "wget2",
	  .knows = "errors of the network, HTTP 429 or 5xx",
	  .codes = SLOW_TOO ",4,5",
	  .err.fatal = "^ERROR: The certificate |" WGET2_NEVER,
	  .err.transient = WGET2_AGAIN "|" WGET2_LOST,
	  .err.failed = WGET2_FAILED "|" WGET2_LOST,
	  .out.fatal = WGET2_NEVER,
	  .out.transient = WGET2_AGAIN,
	  .out.failed = WGET2_FAILED,
	  .source = "wget2(1), EXIT STATUS; src/wget.c; captures" },

	/* yarn 1 prints errors on stderr, yarn 2 and later ones on stdout. */
	{ .name = "yarn",
	  .knows = "errors of the network and of the registry",
	  .programs = "yarn yarnpkg",
	  .err.fatal = "^error Couldn't find (package|any versions)|"
	    "Request failed \\\\?\"" NEVER "|^error .*(" TLS_NEVER ")",
	  .err.transient = "^(ResponseError|error .*): Request failed \\\\?\""
	    AGAIN "|^error .*(returned a " AGAIN "|, statusCode=" AGAIN
	    "|appears to be corrupt|" NODE_AGAIN ")|" GIT_AGAIN "|"
	    COREPACK_AGAIN,
	  .out.fatal = "YN0001: .*(" TLS_NEVER ")",
	  .out.transient = "YN[0-9]+: .*Response Code: " AGAIN "|"
	    "(YN0001|Internal Error): .*Error: (.*(" NODE_AGAIN ")|"
	    "Timeout awaiting ')|Fatal Error: .*" GIT_AGAIN,
	  .source = "yarn's request-manager.js, berry's httpUtils, got; "
	    "captures" },

	/* It asks on stdout whether to try again. 502 to 504 have their words. */
	{ .name = "zypper",
	  .knows = "a held lock, errors of the network",
	  .codes = SLOW_TOO ",7",
	  FATAL(TLS_NEVER "|" NET_NEVER),
	  TRANSIENT("HTTP response: " AGAIN "|returned error: " AGAIN
	    "|temporarily unaccessible|Timeout (exceeded when|reached)|"
	    "Error code: (Connection failed|Curl error " CURL_AGAIN "$|" AGAIN
	    ")|Could not connect to server|[0-9] bytes missing|" NET_AGAIN),
	  .source = "zypper(8), EXIT CODES; libzypp's networkrequesterror.cc; "
	    "captures" },
};
/* clang-format on */

bool
preset_at(size_t index, struct preset *preset)
{
	if (index >= sizeof tools / sizeof *tools)
		return false;
	*preset = tools[index];
	if (preset->codes == NULL)
		preset->codes = SLOW_TOO;
	if (preset->programs == NULL)
		preset->programs = preset->name;
	return true;
}

/* Finds the row of a program, by the longest name that has at most a version
 * behind it. */
static bool
find_program(const char *name, size_t length, struct preset *preset)
{
	struct preset row;
	size_t longest = 0;

	for (size_t i = 0; preset_at(i, &row); i++) {
		struct strview rest = strview_of(row.programs), word;

		while (strview_cut(&rest, ' ', &word)) {
			const char *version = name + word.length;

			if (word.length > longest && word.length <= length &&
			    strncmp(name, word.at, word.length) == 0 &&
			    strspn(version, "0123456789.") >=
				length - word.length) {
				longest = word.length;
				*preset = row;
			}
		}
	}
	return longest > 0;
}

bool
preset_find(const char *name, size_t length, struct preset *preset)
{
	for (size_t i = 0; preset_at(i, preset); i++)
		if (strlen(preset->name) == length &&
		    strncmp(preset->name, name, length) == 0)
			return true;
	return find_program(name, length, preset);
}

bool
preset_for_command(char *const command[], struct preset *preset)
{
	const char *name = command_line_program(*command);

	/* npx runs its first word that is no option, at a version behind "@".
	 */
	if (strcmp(name, "npx") == 0) {
		do
			command++;
		while (*command != NULL && **command == '-');
		if (*command != NULL &&
		    find_program(*command, strcspn(*command, "@"), preset))
			return true;
	}
	return find_program(name, strlen(name), preset);
}

/* Whether a list of words, separated by blanks, has this one. */
static bool
has_word(const char *list, const char *word)
{
	struct strview rest = strview_of(list), one;

	while (strview_cut(&rest, ' ', &one))
		if (strlen(word) == one.length &&
		    memcmp(word, one.at, one.length) == 0)
			return true;
	return false;
}

const char *
preset_unfinished(const struct preset *preset, char *const command[])
{
	char *const *client = command + command_line_unwrap(command).command;
	/* Of docker and terragrunt, they have subcommands of their own. */
	static const char groups[] = "compose container run-all run";
	const char *name = command_line_program(*client), *list = SLOW;
	bool found;

	if (preset->elsewhere == NULL)
		return NULL;
	if (!has_word(preset->programs, name))
		name = preset->name;
	found = has_word(preset->elsewhere, name);
	/* The subcommand is the first word that is no option, and not certainly
	 * another word; one behind an option may be its argument. */
	for (char *const *word = client + 1; *word != NULL && !found; word++) {
		bool option = **word == '-', behind = word[-1][0] == '-';

		if (has_word(preset->programs, *word))
			continue;
		found = !option && has_word(preset->elsewhere, *word);
		if (!option && !behind && !has_word(groups, *word))
			break;
	}
	/* timeout(1) ends the client, too. */
	for (; command < client; command++)
		if (strcmp(command_line_program(*command), "timeout") == 0)
			list = SLOW_TOO;
	return found ? list : NULL;
}
