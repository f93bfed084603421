/* curl, row by row: what retry reads from a command line of curl. */
#include "unit.h"
#include "tools/curl.h"

/* The words of a command line behind "curl"; "~" is a blank within a word. */
static char **words_of(const char *text) {
	static char line[256], curl[] = "curl", *argv[16];
	size_t count = 1;
	char *rest = line, *word;

	snprintf(line, sizeof line, "%s", text);
	argv[0] = curl;
	while ((word = strsep(&rest, " ")) != NULL && count < 15) {
		if (word[0] != '\0')
			argv[count++] = word;
		while ((word = strchr(word, '~')) != NULL) *word = ' ';
	}
	argv[count] = NULL;
	return argv;
}

static const char *method_of(const char *line) {
	const char *method = curl_read(words_of(line)).method;

	return method == NULL ? "unknown" : method;
}

TEST(methods) {
	static const char *const rows[][40] = {
		{ "GET", "", "URL", "-", "-X", "--request= URL", "--url-query x URL", "-G -d x URL",
		    "-d x --get URL", "-I --no-head URL", "A --next B", "A --next" },
		{ "POST", "-d x URL", "-dx URL", "URL -d x", "-sSd x URL", "-sSdx URL",
		    "--data x URL", "--data=x URL", "--DATA x URL", "--data-ascii x URL",
		    "--data-binary x URL", "--data-raw x URL", "--data-urlencode x URL",
		    "--json {} URL", "--expand-data x URL", "-F a=b URL", "--form-string a=b URL",
		    "-G -d x --no-get URL", "-G -F a=b URL", "-T f -d x URL" },
		{ "HEAD", "-I URL", "--head URL", "-sI URL", "-I -G -d x URL" },
		{ "PUT", "-T f URL", "--upload-file f URL", "-X PUT URL", "-XPUT URL", "-sXPUT URL",
		    "--request PUT URL", "--request=PUT URL", "--expand-request=PUT URL",
		    "-X PUT -d x URL" },
		{ "PATCH", "-X PUT -X PATCH URL" },
		{ "{{m}}", "--expand-request {{m}} URL" },

		/* Arguments that look like options. */
		{ "GET", "-o -d URL", "-so -d URL", "-o-d URL", "--output -d URL", "-A -d URL",
		    "-b -d -c -d -C -d -e -d -E -d -m -d -P -d",
		    "-Q -d -r -d -t -d -u -d -U -d -w -d -x -d",
		    "-y -d -Y -d -z -d --proxy -d --variable -d",
		    "--upload-flags -d --knownhosts -d URL", "-- -d x",
		    "--httpsig-algo -d --httpsig-key -d --httpsig-keyid -d --httpsig-headers -d" },
		{ "POST", "--follow -d x URL", "--no-buffer -d x URL", "-N# -d x URL",
		    "-4 -d x URL", "-d x -- URL" },

		/* Abbreviated names. */
		{ "POST", "--js {} URL" },
		{ "unknown", "--dat x URL", "-K f", "-sK f", "--config f", "-K f -X PUT",
		    "--frobnicate URL", "-W URL", "A --next -K f" },
		{ "POST", "-K f -d x", "-X POST -K f", "--frobnicate -d x URL",
		    "-K f --next -d x B", "-d x A --next -K f" },

		/* Several operations. */
		{ "POST", "-d x A --next B", "A --next -d x B", "A -: -d x B", "A -s: -d x B" },
		{ "HEAD", "-I A --next -T f B" },
		{ "PATCH", "A --next -X PATCH B --next -d x C",
		    "-d x -H Idempotency-Key:k A --next -X PATCH B" },
	};

	ALIKE(rows, method_of);
	SAME("no other words", method_of(""), "GET");
}

/* Where options may be inserted, the file of -D, and what is set. */
static const char *facts_of(const char *line) {
	static char text[64];
	struct curl curl = curl_read(words_of(line));

	snprintf(text, sizeof text, "%zu%s%s%s%s%s", curl.opening, curl.dumps ? " dumps " : "",
	    curl.dump == NULL ? "" : curl.dump, curl.retries ? " retries" : "",
	    curl.keyed ? " keyed" : "", curl.skips ? " skips" : "");
	return text;
}

TEST(what_else_curl_says) {
	static const char *const rows[][20] = {
		{ "1", "", "URL", "-sq URL", "-s -q URL", "--disable-epsv URL" },
		{ "2", "-q URL", "--disable URL", "-qsS URL", "-qof URL", "-q", "-q A --next B" },
		{ "3", "-qo f URL" },

		{ "1 dumps f", "-D f URL", "-Df URL", "-sDf URL", "URL --dump-header f",
		    "--dump-header=f URL", "--dump-h f URL", "A --next -D f B",
		    "-D g A --next -D f B", "-D g -D f URL", "--dump-ca-embed -D f URL" },
		{ "1 dumps ", "-D - URL", "-D % URL", "-D f -D - URL",
		    "--expand-dump-header {{f}} URL", "--expand-dump-header=d/{{f}} URL" },
		{ "1 dumps {{f}}", "-D {{f}} URL" },
		{ "1 dumps f", "--expand-dump-header f URL" },
		{ "1", "URL -D", "-o -D f", "-D f A --next B" },
		{ "3 dumps f", "-qD f URL" },

		{ "1 retries", "--retry 3 URL", "--retry=3 URL", "A --next --retry 3 B" },
		{ "1", "--retry 0 URL", "--retry 3 --retry 0 URL", "--retry-delay 3 URL" },

		{ "1 keyed", "-H Idempotency-Key:k URL", "-HIdempotency-Key:k URL",
		    "-sH idempotency-key:k URL", "--header IDEMPOTENCY-KEY:k URL",
		    "--header=Idempotency-Key:k URL", "-H Idempotency-Key:~k~1 URL",
		    "-d x -H Idempotency-Key:k A --next B",
		    "A --next -d x -H Idempotency-Key:k B" },
		{ "1 keyed", "--expand-header Idempotency-Key:k{{n}} URL",
		    "--expand-header Idempotency-Key:k URL", "-H Idempotency-Key:{{n}} URL" },
		{ "1", "--expand-header {{n}}:k URL",
		    "--expand-header Idempotency-Key:~{{n}}k URL" },
		{ "1 skips", "--skip-existing URL", "A --next --skip-existing B" },
		{ "1", "--skip-existing --no-skip-existing URL" },
		{ "1", "-H Idempotency-Key: URL", "-H Idempotency-Key:~~ URL",
		    "-H Idempotency-Key; URL", "-H X-Idempotency-Key:k URL", "-H @f URL",
		    "--proxy-header Idempotency-Key:k URL",
		    "-d x -H Idempotency-Key:k A --next -d x B",
		    "-d x A --next -d x -H Idempotency-Key:k B",
		    "-d x A --next -H Idempotency-Key:k B",
		    "-H Idempotency-Key:k A --next -d x B" },
	};

	ALIKE(rows, facts_of);
	EQUAL("A --next B", (int64_t)curl_read(words_of("A --next B")).next, 3);
	EQUAL("A B", (int64_t)curl_read(words_of("A B")).next, 0);
	EQUAL("-q", (int64_t)curl_operation(words_of("-qs: A -: B"), 2).next, 4);
}

static const char *transfers_of(const char *line) {
	return curl_read(words_of(line)).several ? "several" : "one";
}

TEST(several_transfers) {
	static const char *const rows[][24] = {
		{ "one", "", "URL", "-s URL", "-o f URL", "--url URL", "-- URL", "-d [1-2] URL",
		    "http://[::1]:80/", "http://[fe80::1%25eth0]/" },
		{ "several", "A B", "A -s B", "--url A B", "A --url=B", "-- A -B", "A -- B",
		    "A --next B", "A -: B", "/[1-3]", "/[a-z:2]", "http://[::1]/[1-3]",
		    "http://[::1]/a-b", "A --next", "--url /{a,b}", "A -- -- ", "--url @f", "@f",
		    "--url=@-", "--expand-url {{a}}" },
	};

	ALIKE(rows, transfers_of);
}

static const char *leniency_of(const char *line) {
	return curl_read(words_of(line)).lenient ? "0 after an error" : "others";
}

TEST(curls_that_exit_with_0_after_an_error) {
	static const char *const rows[][18] = {
		{ "0 after an error", "http://a", "HTTPS://a/b", "a.org", "ftp.a.org",
		    "localhost:80/x", "-s --url a", "-o f http://a", "-d x a", "-I a",
		    "--fail --no-fail a", "--fail-early a", "-fs a --next b", "a --next -f b",
		    "ftp://a http://b", "a/?to=ftp://b", "http:/a", "-w f a" },
		{ "others", "", "-V", "-f a", "-sSfo x a", "--fail a", "a --fail-with-body",
		    "ftp://a", "file:///a", "ftp://a/?to=http://b", "-K f a", "--later-option a",
		    "-f a --next -f b", "--url" },
	};

	ALIKE(rows, leniency_of);
}

static const char *kind_of(const char *method) {
	return curl_idempotent(method) ? "idempotent" : "not";
}

TEST(idempotent_methods) {
	static const char *const rows[][14] = {
		{ "idempotent", "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "PROPFIND",
		    "QUERY", "VERSION-CONTROL", "ACL", "get", "Delete" },
		{ "not", "POST", "PATCH", "CONNECT", "LOCK", "PURGE", "post", "", "GE", "GETS",
		    "GET PUT", "VERSION", "{{method}}" },
	};

	ALIKE(rows, kind_of);
	HOLDS("unknown", curl_idempotent(NULL));
}

static const char *program_of(const char *name) { return curl_named(name) ? "curl" : "another"; }

TEST(names_and_statuses) {
	static const char *const rows[][5] = {
		{ "curl", "curl", "/usr/bin/curl", "./curl" },
		{ "another", "curl/", "curlie", "/curl/wget", "" },
	};

	ALIKE(rows, program_of);
	for (int status = 0; status < 256; status++)
		EQUAL("status", curl_never_sent(status), status >= 5 && status <= 7);
}
