#include "tools/curl.h"

#include <string.h>
#include "tools/command_line.h"
#include "text/strview.h"

/* The options of curl 7.88 to 8.21, which older ones allow to abbreviate:
 * tool_getparam.c of 7.88, 8.14 and 8.21. */
static const char options[] =
    "abstract-unix-socket= alpn alt-svc= anyauth a,append aws-sigv4= basic "
    "N,buffer cacert= capath= cert-status cert-type= E,cert= ciphers= clobber "
    "compressed compressed-ssh K,config= connect-timeout= connect-to= "
    "C,continue-at= c,cookie-jar= b,cookie= create-dirs create-file-mode= "
    "crlf crlfile= curves= data-ascii= data-binary= data-raw= data-urlencode= "
    "d,data= delegation= digest q,disable disable-eprt disable-epsv "
    "disallow-username-in-url dns-interface= dns-ipv4-addr= dns-ipv6-addr= "
    "dns-servers= doh-cert-status doh-insecure doh-url= D,dump-header= "
    "egd-file= engine= eprt epsv etag-compare= etag-save= expect100-timeout= "
    "f,fail fail-early fail-with-body false-start form-escape form-string= "
    "F,form= ftp-account= ftp-alternative-to-user= ftp-create-dirs "
    "ftp-method= ftp-pasv P,ftp-port= ftp-pret ftp-skip-pasv-ip ftp-ssl "
    "ftp-ssl-ccc ftp-ssl-ccc-mode= ftp-ssl-control ftp-ssl-reqd G,get "
    "g,globoff happy-eyeballs-timeout-ms= haproxy-protocol I,head H,header= "
    "h,help hostpubmd5= hostpubsha256= hsts= http0.9 0,http1.0 http1.1 http2 "
    "http2-prior-knowledge http3 http3-only ignore-content-length i,include "
    "k,insecure interface= 4,ipv4 6,ipv6 json= j,junk-session-cookies "
    "keepalive keepalive-time= key-type= key= krb4= krb= libcurl= limit-rate= "
    "l,list-only local-port= L,location location-trusted login-options= "
    "mail-auth= mail-from= mail-rcpt-allowfails mail-rcpt= M,manual "
    "max-filesize= max-redirs= m,max-time= metalink negotiate n,netrc "
    "netrc-file= netrc-optional :,next noproxy= npn ntlm ntlm-wb "
    "oauth2-bearer= output-dir= o,output= Z,parallel parallel-immediate "
    "parallel-max= pass= path-as-is pinnedpubkey= post301 post302 post303 "
    "preproxy= #,progress-bar progress-meter proto-default= proto-redir= "
    "proto= proxy-anyauth proxy-basic proxy-cacert= proxy-capath= "
    "proxy-cert-type= proxy-cert= proxy-ciphers= proxy-crlfile= proxy-digest "
    "proxy-header= proxy-insecure proxy-key-type= proxy-key= proxy-negotiate "
    "proxy-ntlm proxy-pass= proxy-pinnedpubkey= proxy-service-name= "
    "proxy-ssl-allow-beast proxy-ssl-auto-client-cert proxy-tls13-ciphers= "
    "proxy-tlsauthtype= proxy-tlspassword= proxy-tlsuser= proxy-tlsv1 "
    "U,proxy-user= proxy1.0= x,proxy= p,proxytunnel pubkey= Q,quote= "
    "random-file= r,range= rate= raw e,referer= J,remote-header-name "
    "O,remote-name remote-name-all R,remote-time remove-on-error "
    "request-target= X,request= resolve= retry-all-errors retry-connrefused "
    "retry-delay= retry-max-time= retry= sasl-authzid= sasl-ir service-name= "
    "sessionid S,show-error s,silent socks4= socks4a= socks5-basic "
    "socks5-gssapi socks5-gssapi-nec socks5-gssapi-service= socks5-hostname= "
    "socks5= Y,speed-limit= y,speed-time= ssl ssl-allow-beast "
    "ssl-auto-client-cert ssl-no-revoke ssl-reqd ssl-revoke-best-effort "
    "2,sslv2 3,sslv3 stderr= styled-output suppress-connect-headers "
    "tcp-fastopen tcp-nodelay t,telnet-option= tftp-blksize= tftp-no-options "
    "z,time-cond= tls-max= tls13-ciphers= tlsauthtype= tlspassword= tlsuser= "
    "1,tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 tr-encoding trace-ascii= "
    "trace-time trace= unix-socket= T,upload-file= url-query= url= "
    "B,use-ascii A,user-agent= u,user= v,verbose V,version w,write-out= xattr "
    "ca-native dump-ca-embed ech= follow haproxy-clientip= httpsig-algo= "
    "httpsig-headers= httpsig-key= httpsig-keyid= ip-tos= "
    "ipfs-gateway= keepalive-cnt= knownhosts= mptcp out-null "
    "parallel-max-host= proxy-ca-native proxy-http2 proxy-http3 show-headers "
    "sigalgs= skip-existing ssl-sessions= tls-earlydata trace-config= "
    "trace-ids upload-flags= variable= vlan-priority=";

/* IANA, "HTTP Method Registry", column "Idempotent". */
static const char idempotent[] =
    "ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT COPY DELETE GET HEAD LABEL "
    "LINK MERGE MKACTIVITY MKCALENDAR MKCOL MKREDIRECTREF MKWORKSPACE MOVE "
    "OPTIONS ORDERPATCH PRI PROPFIND PROPPATCH PUT QUERY REBIND REPORT SEARCH "
    "TRACE UNBIND UNCHECKOUT UNLINK UNLOCK UPDATE UPDATEREDIRECTREF "
    "VERSION-CONTROL";

/* Whether header is "Idempotency-Key: value". */
static bool
is_key(struct strview value)
{
	struct strview name = strview_part(&value, ':');

	return strview_is(name, "Idempotency-Key") &&
	    strview_trim(value).length > 0;
}

/*
 * Whether a URL may stand for several: "/[1-9:2]", "/{a,b}", and "@FILE" of
 * curl 8.13. Brackets without a dash are the address of a host:
 * "http://[::1]/".
 */
static bool
is_glob(const char *url)
{
	const char *open = strchr(url, '[');

	return url[0] == '@' || strchr(url, '{') != NULL ||
	    (open != NULL && strchr(open, '-') != NULL);
}

/* Whether a URL is of http or https, as one without a scheme mostly is. */
static bool
is_http(const char *url)
{
	const char *scheme = strstr(url, "://");

	return scheme == NULL || url + strcspn(url, "/?") != scheme + 1 ||
	    strview_starts(strview_of(url), "http");
}

struct curl
curl_operation(char *const argv[], size_t from)
{
	struct command_line option = {
		.argv = argv, .at = from, .options = options
	};
	struct curl curl = { .opening = from };
	const char *method = NULL;
	bool data = false, form = false, get = false, head = false;
	bool upload = false, unclear = false, fail = false;
	bool located = false, http = false;

	while (curl.next == 0 && command_line_next(&option)) {
		const char *argument = option.argument;
		struct strview name = option.name;
		const char *variable = option.expanded && argument != NULL
		    ? strstr(argument, "{{")
		    : NULL;

		/* Of "-qo FILE" the FILE, too, is before opening. */
		if (curl.opening == 1 && option.letter == 0 &&
		    (strncmp(argv[1], "-q", 2) == 0 ||
			strcmp(argv[1], "--disable") == 0))
			curl.opening = option.at;
		if ((option.operand || strview_is(name, "url")) &&
		    argument != NULL) {
			curl.several |= located || is_glob(argument);
			located = true;
			http |= is_http(argument);
		} else if (option.name.length == 0 ||
		    strview_is(name, "config")) {
			unclear = true;
		} else if (strview_starts(name, "data") ||
		    strview_is(name, "json")) {
			data = true;
		} else if (strview_is(name, "dump-header") &&
		    argument != NULL) {
			/* Without a file, curl refuses the command line. */
			curl.dumps = true;
			curl.dump = variable != NULL ||
				strcmp(argument, "-") == 0 ||
				strcmp(argument, "%") == 0
			    ? NULL
			    : argument;
		} else if (strview_is(name, "fail") ||
		    strview_is(name, "fail-with-body")) {
			fail = !option.off;
		} else if (strview_is(name, "form") ||
		    strview_is(name, "form-string")) {
			form = true;
		} else if (strview_is(name, "get")) {
			get = !option.off;
		} else if (strview_is(name, "head")) {
			head = !option.off;
		} else if (strview_is(name, "header") && argument != NULL) {
			struct strview header = strview_of(argument);

			if (variable != NULL)
				header.length = (size_t)(variable - argument);
			curl.keyed |= is_key(header);
		} else if (strview_is(name, "next")) {
			/* curl reads no further in "-:abc". */
			curl.next = option.at + (option.letter > 0 ? 1 : 0);
		} else if (strview_is(name, "request")) {
			method = argument;
		} else if (strview_is(name, "retry") && argument != NULL) {
			curl.retries = argument[strspn(argument, "0")] != '\0';
		} else if (strview_is(name, "skip-existing")) {
			curl.skips = !option.off;
		} else if (strview_is(name, "upload-file")) {
			upload = true;
		}
	}
	/* Without -X. -G makes a GET of -d, but not of -F. */
	if (method == NULL || method[0] == '\0')
		method = form || (data && !get) ? "POST"
		    : head                      ? "HEAD"
		    : upload                    ? "PUT"
						: "GET";
	curl.method = unclear && curl_idempotent(method) ? NULL : method;
	curl.lenient = http && !fail && !unclear;
	return curl;
}

struct curl
curl_read(char *const argv[])
{
	struct curl all = curl_operation(argv, 1);
	size_t from = all.next;

	all.several |= from > 0;
	while (from > 0 && argv[from] != NULL) {
		struct curl one = curl_operation(argv, from);
		bool safe = curl_idempotent(one.method);
		bool all_safe = curl_idempotent(all.method);

		if (!safe && (all_safe || (all.keyed && !one.keyed)))
			all.method = one.method;
		else if (all_safe && one.method == NULL)
			all.method = NULL;
		/* A key protects only the request of its own operation. */
		if (safe)
			all.keyed |= one.keyed && all_safe;
		else
			all.keyed = one.keyed && (all_safe || all.keyed);
		all.dumps = one.dumps;
		all.dump = one.dump;
		all.retries |= one.retries;
		all.skips |= one.skips;
		all.lenient |= one.lenient;
		from = one.next;
	}
	return all;
}

bool
curl_named(const char *program)
{
	return strcmp(command_line_program(program), "curl") == 0;
}

bool
curl_idempotent(const char *method)
{
	struct strview rest, word;

	if (method == NULL)
		return true;
	rest = strview_of(idempotent);
	while (strview_cut(&rest, ' ', &word)) {
		if (strview_is(word, method))
			return true;
	}
	return false;
}

bool
curl_never_sent(int status)
{
	return status == 5 || status == 6 || status == 7;
}

bool
curl_distrusts(int status)
{
	static const unsigned char statuses[] = { 51, 53, 54, 58, 59, 60, 66,
		77, 82, 83, 90, 91 };

	return memchr(statuses, status, sizeof statuses) != NULL;
}
