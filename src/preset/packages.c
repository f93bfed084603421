#include "preset/preset.h"

#include "preset/phrases.h"

#define NPM "^npm (ERR!|error) "

static const struct preset packages[] = {
	{
	    /* If only lists fail, apt-get update prints W: and exits with 0. */
	    .name = "apt",
	    .knows = "a held lock, mirrors that are down, but not a 404",
	    .programs = "apt apt-get",
	    .codes = SLOW_TOO,
	    .err = { .fatal = "  " NEVER "  |Unable to locate package|"
			      "no installation candidate|are you root|"
			      "NO_PUBKEY|is not signed|unmet dependencies|"
			      "dpkg was interrupted|enough free space|" FULL,
		.transient = "Could not get lock |is another process using it|"
			     "locked by another process|" UNREACHED
			     "|(Could not|Unable to) connect to |"
			     "Could not resolve '|Temporary failure resolving|"
			     "Connection (failed|timeout)|socket timed out|"
			     "Error reading from server|Hash Sum mismatch|"
			     "File has unexpected size|  " AGAIN "  ",
		.failed = "^W: (Failed to fetch |Some index files failed)" },
	    .source = "apt-get(8); apt's methods/; captures",
	},
	{
	    .name = "dnf",
	    .knows = "a held lock, mirrors that are down, but not a 404",
	    .programs = "dnf yum microdnf",
	    .codes = SLOW_TOO ",200",
	    .err = { .fatal = "No match for argument|Unable to find a match|"
			      "superuser privileges|GPG check FAILED|" FULL,
		.transient = "Curl error \\(" CURL_AGAIN "\\)|"
			     "Status code: " AGAIN "|"
			     "\\[Errno 12\\] Timeout|HTTPS? Error " AGAIN },
	    .source = "dnf(8), EXIT CODES; librepo",
	},
	{
	    .name = "zypper",
	    .knows = "a held lock, errors of the network",
	    .programs = "zypper",
	    .codes = SLOW_TOO ",7",
	    .err = { .fatal = NET_NEVER, .transient = NET_AGAIN },
	    .source = "zypper(8), EXIT CODES: ZYPP_LOCKED",
	},
	{
	    .name = "apk",
	    .knows = "a locked database, errors that say to try again later",
	    .programs = "apk",
	    .codes = SLOW_TOO,
	    .err = { .fatal = NET_NEVER "|\\(no such package\\)",
		.transient = "\\(try again later\\)|"
			     "Unable to lock database: (Resource temp|Try)|"
			     "network error \\(check " },
	    .source = "apk-tools, print.c",
	},
	{
	    /*
	     * "from versions: none" is printed if the index is down, if it
	     * refuses, and if the name is wrong: pip does not say which.
	     */
	    .name = "pip",
	    .knows = "errors of the network and of the index",
	    .programs = "pip pipx",
	    .codes = SLOW_TOO,
	    .err = { .fatal = "\\(from versions: [0-9]|"
			      "HTTP error " NEVER "|" NEVER " Client Error|"
			      "ResolutionImpossible|MATCH THE HASHES|"
			      "externally-managed|Permission denied|"
			      "CERTIFICATE_VERIFY_FAILED|" FULL,
		.transient = "\\(from versions: none\\)|"
			     "HTTP error " AGAIN "|" AGAIN " (Client|Server) "
			     "Error|^pip\\._vendor\\.(urllib3|requests)\\."
			     "exceptions\\.([A-Za-z]*Timeout(Error)?|"
			     "MaxRetryError|ProtocolError|IncompleteRead|"
			     "ConnectionError|ChunkedEncodingError)\\b|"
			     "HTTPS?ConnectionPool\\(.*Max retries exceeded" },
	    .source = "pip's index/collector.py, network/; captures",
	},
	{
	    .name = "npm",
	    .knows = "errors of the network and of the registry",
	    .programs = "npm npx",
	    .codes = SLOW_TOO,
	    .err = { .fatal = NPM "code E(401|403|404|ACCES|PERM|NOSPC|OTP|"
				  "RESOLVE|USAGE|TARGET|NEEDAUTH|INTEGRITY|"
				  "LIFECYCLE)\\b",
		.transient = NPM "(network |code (E(CONNREFUSED|CONNRESET|"
				 "TIMEDOUT|AI_AGAIN|NOTFOUND|IDLETIMEOUT|"
				 "HOSTUNREACH|NETUNREACH|" AGAIN ")|"
				 "ERR_SOCKET_TIMEOUT))" },
	    .source = "npm's error-message.js; captures",
	},
	{
	    /* pnpm prints errors on stdout. */
	    .name = "pnpm",
	    .knows = "errors of the network and of the registry",
	    .programs = "pnpm pnpx",
	    .codes = SLOW_TOO,
	    .out = { .fatal = "ERR_PNPM_(FETCH_" NEVER "|NO_MATCHING_VERSION|"
			      "OUTDATED_LOCKFILE)",
		.transient = "ERR_PNPM_((META_)?FETCH_FAIL|FETCH_" AGAIN ")" },
	    .source = "pnpm documentation, Error Codes; pnpm 9 on loopback",
	},
	{
	    .name = "yarn",
	    .knows = "errors of the network and of the registry",
	    .programs = "yarn yarnpkg",
	    .codes = SLOW_TOO,
	    .err = { .fatal = "^error Couldn't find package|"
			      "^ResponseError: Request failed \"" NEVER,
		.transient = "^ResponseError: Request failed \"" AGAIN
			     "|^error (Error|An unexpected error occurred): "
			     ".*(ECONN(REFUSED|RESET)|E(SOCKET)?TIMEDOUT|"
			     "EAI_AGAIN|ENOTFOUND|socket hang up)" },
	    .source = "yarn 1.22 on loopback",
	},
	{
	    .name = "composer",
	    .knows = "errors of the network and of the repository",
	    .programs = "composer",
	    .codes = SLOW_TOO,
	    .err = { .fatal = "requirements could not be resolved|"
			      "HTTP/[0-9.]+ " NEVER "|" FULL,
		.transient = "curl error " CURL_AGAIN " while downloading|"
			     "\\(HTTP/[0-9.]+ " AGAIN },
	    .source = "Composer's Util/Http/CurlDownloader.php",
	},
	{
	    .name = "bundle",
	    .knows = "errors of the network",
	    .programs = "bundle bundler gem",
	    .codes = SLOW_TOO,
	    .err = { .fatal = "bad response (Not Found|Forbidden|"
			      "Unauthorized)|" NET_NEVER,
		.transient = "Network error while fetching |"
			     "Could not reach host |"
			     "Gem::RemoteFetcher::(FetchError|UnknownHost)|"
			     "Net::(Open|Read)Timeout" },
	    .source = "Bundler's fetcher, RubyGems' remote_fetcher.rb",
	},
	{
	    .name = "mvn",
	    .knows = "a failed transfer, but not a failed test",
	    .programs = "mvn mvnw mvnd",
	    .codes = SLOW_TOO,
	    .out = { .fatal = "status( code)?: " NEVER "|COMPILATION ERROR|"
			      "There are test failures",
		.transient = "Could not transfer .*(status( code)?: " AGAIN
			     "|[Cc]onnection (refused|reset|timed out)|"
			     "timed out|[Uu]nknown host|Premature end|"
			     "Remote host terminated|" UNRESOLVED ")" },
	    .source = "Maven Resolver; Maven 3.8 on loopback",
	},
	{
	    .name = "gradle",
	    .knows = "a failed transfer, but not a failed test",
	    .programs = "gradle gradlew",
	    .codes = SLOW_TOO,
	    .err = { .fatal = "status code " NEVER "|Compilation failed|"
			      "There were failing tests|" FULL,
		.transient = "Received status code " AGAIN
			     "|^ *> .*(Connection (refused|reset|timed out)|"
			     "[Rr]ead timed out|[Cc]onnect timed out|"
			     "Remote host terminated|" UNRESOLVED ")" },
	    .source = "Gradle's HTTP resource transport",
	},
	{
	    .name = "cargo",
	    .knows = "errors of the network and of the registry",
	    .programs = "cargo",
	    .codes = SLOW_TOO,
	    .err = { .fatal = "^error: (could not compile|test failed|"
			      "no matching package)|^  .*, got " NEVER "|" FULL,
		.transient = "^  (failed to get successful .*, got " AGAIN
			     "|\\[" CURL_AGAIN "\\] |"
			     "network failure seems to have happened)" },
	    .source = "cargo's util/network/; captures",
	},
	{
	    .name = "go",
	    .knows = "errors of the network and of the module proxy",
	    .programs = "go",
	    .codes = SLOW_TOO,
	    .err = { .fatal = NEVER_REASON "|checksum mismatch|SECURITY ERROR|"
					   "unknown revision|x509: |"
					   "no matching versions|" FULL,
		.transient = "reading https?://.*: " AGAIN "|" GO_AGAIN
			     "|unable to access '.*Could not resolve host" },
	    .source = "go help module-private, net/http; captures",
	},
};

const struct preset *
preset_packages(size_t *count)
{
	*count = sizeof packages / sizeof packages[0];
	return packages;
}
