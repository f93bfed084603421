/*
 * phrases: patterns for messages that several tools print in the same words.
 *
 * A phrase is a piece of a pattern in the table of presets. Each is one group,
 * or alternatives that another "|" may follow.
 *
 * A phrase counts as transient only if the failure can be over at a later
 * attempt. A name that cannot be resolved counts as transient: resolvers that
 * are still starting answer like that, and neither musl nor Go nor curl's exit
 * status distinguishes this case from a wrong name. "Broken pipe" is not
 * transient: most often the reader has what it wants. Nor is "timed out" alone:
 * tools print it when they waited for a condition, and then it is a result.
 */
#ifndef PHRASES_H
#define PHRASES_H

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
	"not closed cleanly|HTTP/2 framing|SSL_ERROR_(SYSCALL|ZERO)|" \
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

/*
 * SLOW: retry has ended the attempt. SLOW_TOO: retry or timeout(1) has ended
 * it; not for tools that pass on the exit status of another command.
 */
#define SLOW "timeout"
#define SLOW_TOO "timeout,124"

#endif
