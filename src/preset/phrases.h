/*
 * phrases: what several tools say in the same words, as pieces of patterns
 * for the table of presets. Each piece is one group, or alternatives that
 * another "|" may follow.
 *
 * The rule for all of them: what a retry can cure, and no more. A name that
 * cannot be resolved counts as curable: resolvers that are not up yet answer
 * like that, and neither musl nor Go nor curl's exit status tells it from a
 * name that is wrong. "Broken pipe" is not here: most often it is a reader
 * that has seen enough. Nor is a bare "timed out": tools say it of waiting
 * for a condition, which is an answer.
 */
#ifndef PHRASES_H
#define PHRASES_H

/* HTTP codes to be asked again, as in the manual's table. */
#define AGAIN "(408|425|429|5(0[023479]|1[2-9]|[2-9][0-9]))\\b"
#define AGAIN_REASON \
	"Too Many Requests|Internal Server Error|Bad Gateway|" \
	"Service (Temporarily )?Unavailable|Gateway Time-?out"

/* HTTP codes that stay what they are. */
#define NEVER "(40[01347]|410)\\b"
#define NEVER_REASON \
	"\\b(401[: ][: ]*Unauthorized|403[: ][: ]*Forbidden|" \
	"404[: ][: ]*Not Found|410[: ][: ]*Gone)"

/* libcurl's errors, by number, where a tool shows it: see the row of curl. */
#define CURL_AGAIN "(5|6|7|16|18|28|35|52|55|56|92|95|96)"

/* strerror(3) and gai_strerror(3), of glibc, musl and BSD. */
#define UNREACHED \
	"[Cc]onnection (refused|reset|timed out)|" \
	"[Nn]etwork is unreachable|[Nn]o route to host"
#define UNRESOLVED \
	"Temporary failure in name resolution|Name or service not known|" \
	"Name does not resolve|nodename nor servname"

/*
 * The network at large: the above, curl's, Java's, Python's, Node's (its
 * names are those of errno(3)), TLS libraries', HTTP's.
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

/* The disk, which no tool can do without. */
#define FULL "[Nn]o space left on device|Disk quota exceeded"

/* Go's net and net/http, as every tool written in Go passes them on. */
#define GO_AGAIN \
	"(dial (tcp|udp|unix)|read tcp|http2?:|" \
	"(Get|Head|Post|Put|Patch|Delete) [\"\\\\]*https?:).*" \
	"(connection (refused|reset|timed out)|client connection lost|" \
	"no such host|server misbehaving|i/o timeout|handshake timeout|" \
	"context deadline exceeded|Client\\.Timeout|awaiting (response )?" \
	"headers|network is unreachable|no route to host|\\bEOF\\b|GOAWAY)"

/*
 * ssh(1) before the remote command was started. sshconnect.c, packet.c and
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

/* And after it: for what may be run twice. clientloop.c. */
#define SSH_DROPPED \
	"^client_loop: send disconnect: |^Timeout, server .* not responding|" \
	"^Connection to .* closed by remote host"

#define SSH_NEVER \
	"Permission denied( \\([gkphn]|, please)|Host key verification " \
	"failed|" \
	"Too many authentication failures|no matching .* found\\. Their offer"

/*
 * An attempt that retry ended, or timeout(1) in its name. Where the status is
 * that of any other command, only the former.
 */
#define SLOW "timeout"
#define SLOW_TOO "timeout,124"

#endif
