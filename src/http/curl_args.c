#include "http/curl_args.h"

#include <string.h>
#include "text/strview.h"

/* The short options, with an argument and without. */
static const char valued_letters[] = "AbcCdDeEFHKmoPQrtTuUwxXyYz";
static const char flag_letters[] = "012346:#aBfgGhiIjJklLMnNOpqRsSvVZ";

/*
 * The long names, with an argument and without: those of curl 7.88, which may
 * be abbreviated, and newer names. An abbreviation that also fits a newer name
 * is read as the old one: a version of curl that has both and still accepts
 * abbreviations refuses the command line.
 */
static const char old_valued[] =
    "abstract-unix-socket alt-svc aws-sigv4 cacert capath cert "
    "cert-type ciphers config connect-timeout connect-to continue-at "
    "cookie cookie-jar create-file-mode crlfile curves data data-ascii "
    "data-binary data-raw data-urlencode delegation dns-interface "
    "dns-ipv4-addr dns-ipv6-addr dns-servers doh-url dump-header "
    "egd-file engine etag-compare etag-save expect100-timeout form "
    "form-string ftp-account ftp-alternative-to-user ftp-method "
    "ftp-port ftp-ssl-ccc-mode happy-eyeballs-timeout-ms header "
    "hostpubmd5 hostpubsha256 hsts interface json keepalive-time key "
    "key-type krb krb4 libcurl limit-rate local-port login-options "
    "mail-auth mail-from mail-rcpt max-filesize max-redirs max-time "
    "netrc-file noproxy oauth2-bearer output output-dir parallel-max "
    "pass pinnedpubkey preproxy proto proto-default proto-redir proxy "
    "proxy-cacert proxy-capath proxy-cert proxy-cert-type "
    "proxy-ciphers proxy-crlfile proxy-header proxy-key proxy-key-type "
    "proxy-pass proxy-pinnedpubkey proxy-service-name "
    "proxy-tls13-ciphers proxy-tlsauthtype proxy-tlspassword "
    "proxy-tlsuser proxy-user proxy1.0 pubkey quote random-file range "
    "rate referer request request-target resolve retry retry-delay "
    "retry-max-time sasl-authzid service-name socks4 socks4a socks5 "
    "socks5-gssapi-service socks5-hostname speed-limit speed-time "
    "stderr telnet-option tftp-blksize time-cond tls-max tls13-ciphers "
    "tlsauthtype tlspassword tlsuser trace trace-ascii unix-socket "
    "upload-file url url-query user user-agent write-out";

static const char old_flags[] =
    "alpn anyauth append basic buffer cert-status clobber compressed "
    "compressed-ssh create-dirs crlf digest disable disable-eprt "
    "disable-epsv disallow-username-in-url doh-cert-status "
    "doh-insecure eprt epsv fail fail-early fail-with-body false-start "
    "form-escape ftp-create-dirs ftp-pasv ftp-pret ftp-skip-pasv-ip "
    "ftp-ssl ftp-ssl-ccc ftp-ssl-control ftp-ssl-reqd get globoff "
    "haproxy-protocol head help http0.9 http1.0 http1.1 http2 "
    "http2-prior-knowledge http3 http3-only ignore-content-length "
    "include insecure ipv4 ipv6 junk-session-cookies keepalive "
    "list-only location location-trusted mail-rcpt-allowfails manual "
    "metalink negotiate netrc netrc-optional next npn ntlm ntlm-wb "
    "parallel parallel-immediate path-as-is post301 post302 post303 "
    "progress-bar progress-meter proxy-anyauth proxy-basic "
    "proxy-digest proxy-insecure proxy-negotiate proxy-ntlm "
    "proxy-ssl-allow-beast proxy-ssl-auto-client-cert proxy-tlsv1 "
    "proxytunnel raw remote-header-name remote-name remote-name-all "
    "remote-time remove-on-error retry-all-errors retry-connrefused "
    "sasl-ir sessionid show-error silent socks5-basic socks5-gssapi "
    "socks5-gssapi-nec ssl ssl-allow-beast ssl-auto-client-cert "
    "ssl-no-revoke ssl-reqd ssl-revoke-best-effort sslv2 sslv3 "
    "styled-output suppress-connect-headers tcp-fastopen tcp-nodelay "
    "tftp-no-options tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 tr-encoding "
    "trace-time use-ascii verbose version xattr";

static const char new_valued[] =
    "ech haproxy-clientip ip-tos ipfs-gateway keepalive-cnt knownhosts "
    "parallel-max-host sigalgs ssl-sessions trace-config upload-flags "
    "variable vlan-priority";

static const char new_flags[] =
    "ca-native dump-ca-embed follow mptcp out-null proxy-ca-native "
    "proxy-http2 proxy-http3 show-headers skip-existing tls-earlydata "
    "trace-ids";

static const struct {
	const char *name;
	enum curl_args_role role;
	char letter;
} roles[] = {
	{ "next", CURL_ARGS_NEXT, ':' },
	{ "dump-header", CURL_ARGS_DUMP, 'D' },
	{ "retry", CURL_ARGS_RETRY, '\0' },
	{ "header", CURL_ARGS_HEADER, 'H' },
	{ "config", CURL_ARGS_CONFIG, 'K' },
	{ "request", CURL_ARGS_REQUEST, 'X' },
	{ "data", CURL_ARGS_DATA, 'd' },
	{ "data-ascii", CURL_ARGS_DATA, '\0' },
	{ "data-binary", CURL_ARGS_DATA, '\0' },
	{ "data-raw", CURL_ARGS_DATA, '\0' },
	{ "data-urlencode", CURL_ARGS_DATA, '\0' },
	{ "json", CURL_ARGS_DATA, '\0' },
	{ "form", CURL_ARGS_FORM, 'F' },
	{ "form-string", CURL_ARGS_FORM, '\0' },
	{ "get", CURL_ARGS_GET, 'G' },
	{ "head", CURL_ARGS_HEAD, 'I' },
	{ "upload-file", CURL_ARGS_UPLOAD, 'T' },
	{ "fail", CURL_ARGS_FAIL, 'f' },
	{ "fail-with-body", CURL_ARGS_FAIL, '\0' },
	{ "url", CURL_ARGS_URL, '\0' },
};

static bool
lists(const char *list, struct strview name)
{
	struct strview rest = strview_of(list), word;

	while (strview_cut(&rest, ' ', &word)) {
		if (word.length == name.length && strview_begins(word, name))
			return true;
	}
	return false;
}

/* Counts the words that start with name; *whole is the last of them. */
static int
count_starts(const char *list, struct strview name, struct strview *whole)
{
	struct strview rest = strview_of(list), word;
	int count = 0;

	while (strview_cut(&rest, ' ', &word)) {
		if (strview_begins(word, name)) {
			*whole = word;
			count++;
		}
	}
	return count;
}

/* Finds the whole name of an option, and whether the option takes an argument.
 * False if there is no such option. */
static bool
find_name(struct strview typed, struct strview *name, bool *valued)
{
	struct strview flag = { NULL, 0 }, other = { NULL, 0 };
	int flags, others;

	*name = typed;
	*valued = lists(old_valued, typed) || lists(new_valued, typed);
	if (*valued || lists(old_flags, typed) || lists(new_flags, typed))
		return true;
	flags = count_starts(old_flags, typed, &flag);
	others = count_starts(old_valued, typed, &other);
	*valued = others > 0;
	*name = others > 0 ? other : flag;
	return typed.length > 0 && flags + others == 1;
}

static enum curl_args_role
role_of_name(struct strview name)
{
	for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
		if (strview_is(name, roles[i].name))
			return roles[i].role;
	}
	return CURL_ARGS_OTHER;
}

static enum curl_args_role
role_of_letter(char letter)
{
	for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
		if (letter == roles[i].letter)
			return roles[i].role;
	}
	if (strchr(valued_letters, letter) == NULL &&
	    strchr(flag_letters, letter) == NULL)
		return CURL_ARGS_UNKNOWN;
	return CURL_ARGS_OTHER;
}

/*
 * Reads a word that starts with two dashes; next is the word after. Returns how
 * many words the option and its argument are.
 */
static size_t
read_long(const char *word, const char *next, struct curl_args *option)
{
	struct strview typed = strview_of(word + strlen("--")), name;
	const char *equals = strchr(word, '=');
	bool valued;

	option->off = strview_starts(typed, "no-");
	if (option->off)
		typed = strview_after(typed, strlen("no-"));
	else if (strview_starts(typed, "expand-"))
		typed = strview_after(typed, strlen("expand-"));
	if (equals != NULL)
		typed.length = (size_t)(equals - typed.at);
	if (!find_name(typed, &name, &valued)) {
		option->role = CURL_ARGS_UNKNOWN;
		return 1;
	}
	option->role = role_of_name(name);
	if (!valued)
		return 1;
	option->argument = equals != NULL ? equals + 1 : next;
	return equals == NULL && next != NULL ? 2 : 1;
}

/*
 * Reads the first of letters, the rest of a word with one dash; next is the
 * word after. Returns how many words of argv have been read to their ends: 0 if
 * more options follow in this word, 2 if the argument is the word after.
 */
static size_t
read_letter(const char *letters, const char *next, struct curl_args *option)
{
	const char *rest = letters + 1;

	option->role = role_of_letter(letters[0]);
	/* curl reads no further in this word. */
	if (option->role == CURL_ARGS_NEXT)
		return 1;
	if (strchr(valued_letters, letters[0]) == NULL)
		return rest[0] == '\0' ? 1 : 0;
	option->argument = rest[0] != '\0' ? rest : next;
	return rest[0] == '\0' && next != NULL ? 2 : 1;
}

/*
 * Reads the option or URL at place. Returns how many words of argv have been
 * read to their ends, as read_letter() does.
 */
static size_t
read_word(const struct curl_args_place *place, struct curl_args *option)
{
	const char *word = place->argv[place->at];
	const char *next = place->argv[place->at + 1];

	if (place->ended || word[0] != '-' || word[1] == '\0') {
		*option = (struct curl_args){ CURL_ARGS_URL, false, word };
		return 1;
	}
	*option = (struct curl_args){ CURL_ARGS_OTHER, false, NULL };
	if (word[1] == '-')
		return read_long(word, next, option);
	return read_letter(word + 1 + place->letter, next, option);
}

bool
curl_args_next(struct curl_args_place *place, struct curl_args *option)
{
	const char *word = place->argv[place->at];
	size_t words;

	if (word != NULL && !place->ended && strcmp(word, "--") == 0) {
		place->ended = true;
		word = place->argv[++place->at];
	}
	if (word == NULL)
		return false;
	words = read_word(place, option);
	place->letter = words == 0 ? place->letter + 1 : 0;
	place->at += words;
	return true;
}
