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
	"Too Many Requests|Internal Server Error|Bad Gateway|" \
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
	"Name does not resolve|nodename nor servname"

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
	"[\"\\\\]: EOF\\b|" AGAIN_REASON

#define NET_NEVER \
	"[Aa]uthentication fail(ed|ure)|[Pp]ermission denied|" \
	"[Aa]ccess denied|" NEVER_REASON "|[Nn]o space left on device|" \
	"Disk quota exceeded|certificate (verify failed|has expired)|" \
	"CERTIFICATE_VERIFY_FAILED|x509: "

/* No tool works with a full disk. */
#define FULL "[Nn]o space left on device|Disk quota exceeded"

/* From Go's net and net/http, in every tool written in Go. */
#define GO_AGAIN \
	"(dial (tcp|udp|unix)|read tcp|http2?:|" \
	"(Get|Head|Post|Put|Patch|Delete) [\"\\\\]*https?:).*" \
	"(connection (refused|reset|timed out)|client connection lost|" \
	"no such host|server misbehaving|i/o timeout|handshake timeout|" \
	"context deadline exceeded|Client\\.Timeout|awaiting (response )?" \
	"headers|network is unreachable|no route to host|\\bEOF\\b|GOAWAY)"

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
	"^Connection to .* port [0-9]+ timed out"

/* From ssh(1) when the remote command may have started (clientloop.c): only for
 * commands that may run twice. */
#define SSH_DROPPED \
	"^client_loop: send disconnect: |^Timeout, server .* not responding|" \
	"^Connection to .* closed by remote host"

#define SSH_NEVER \
	"Permission denied( \\([gkphn]|, please)|Host key verification " \
	"failed|" \
	"Too many authentication failures|no matching .* found\\. Their offer"

/*
 * SLOW: retry has ended the attempt. SLOW_TOO: retry or timeout(1) has ended
 * it; not for tools that pass on the exit status of another command.
 */
#define SLOW "timeout"
#define SLOW_TOO "timeout,124"

#endif
