/* target, row by row. */
#include "unit.h"
#include "policy/target.h"

#define TEN "abcdefghij"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define THOUSAND \
	HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED

/* The parts of a target, with a blank between them, or why it is none. */
static const char *read_as(const char *text) {
	static const char kinds[][8] = { "tcp", "unix", "file", "http" };
	static char room[6000];
	char hint[TARGET_HINT];
	struct target target;

	if (!target_parse(text, &target, hint))
		return strcpy(room, hint);
	HOLDS(text, target_named(text));
	SAME(text, target.text, text);
	snprintf(room, sizeof room, "%s %.*s %d %.*s", kinds[target.kind],
	    (int)target.host.length, target.host.at, target.port, (int)target.path.length,
	    target.path.at);
	return room;
}

TEST(targets) {
	static const char *const rows[][8] = {
		{ "tcp db 5432 ", "tcp:db:5432", "tcp://db:5432", "TCP://db:5432", "tcp://db:5432/" },
		{ "tcp db. 1 ", "tcp:db.:1" },
		{ "tcp 10.0.0.1 65535 ", "tcp:10.0.0.1:65535" },
		{ "tcp ::1 80 ", "tcp:[::1]:80", "tcp://[::1]:80" },
		{ "tcp fe80::1%eth0 80 ", "tcp:[fe80::1%eth0]:80" },
		{ "unix  0 /run/app.sock", "unix:/run/app.sock", "unix:///run/app.sock" },
		{ "unix  0 app.sock", "unix:app.sock" },
		{ "unix  0 /" HUNDRED "abcdef", "unix:/" HUNDRED "abcdef" },
		{ "file  0 /run/ready", "file:/run/ready", "file:///run/ready" },
		{ "file  0 ready", "file:ready" },
		{ "file  0 a b\n@#?", "file:a b\n@#?" },
		{ "file  0 /", "file:/" },
		{ "http app 80 ", "http://app", "HTTP://app", "http://app#top" },
		{ "http app 8080 /health", "http://app:8080/health",
		    "http://app:8080/health#top" },
		{ "http app 80 ?a=b@c", "http://app?a=b@c" },
		{ "http app 80 /@me:1", "http://app/@me:1" },
		{ "http ::1 80 /", "http://[::1]/" },
		{ "http ::1 8080 ", "http://[::1]:8080" },
	};

	ALIKE(rows, read_as);
}

#define HOST "no valid host; an IPv6 address has brackets"
#define PORT "not a port from 1 to 65535"

TEST(hints) {
	static const struct {
		const char *want, *word;
	} rows[] = {
		{ "'db:5432': no target; did you mean tcp:db:5432?", "db:5432" },
		{ "'[::1]:80': no target; did you mean tcp:[::1]:80?", "[::1]:80" },
		{ "'app': no target; put -- before a command", "app" },
		{ "'db:65536': no target; put -- before a command", "db:65536" },
		{ "'./tcp:x': no target; put -- before a command", "./tcp:x" },
		{ "'***': no target; put -- before a command", "postgres://bob:secret@db/" },
		{ "'': no target; put -- before a command", "" },
		{ "'tcp:': " HOST, "tcp:" },
		{ "'tcp:db': no port", "tcp:db" },
		{ "'tcp:db:0': " PORT, "tcp:db:0" },
		{ "'tcp:db:65536': " PORT, "tcp:db:65536" },
		{ "'tcp:db:': " PORT, "tcp:db:" },
		{ "'tcp:db:http': " PORT, "tcp:db:http" },
		{ "'tcp::80': " HOST, "tcp::80" },
		{ "'tcp:::1:80': " HOST, "tcp:::1:80" },
		{ "'tcp:a b:80': " HOST, "tcp:a b:80" },
		{ "'tcp:a..b:80': " HOST, "tcp:a..b:80" },
		{ "'tcp:.a:80': " HOST, "tcp:.a:80" },
		{ "'tcp:db:80/x': a path behind the port", "tcp:db:80/x" },
		{ "'***': " HOST, "tcp://bob:secret@db:80" },
		{ "'unix:': no path", "unix:" },
		{ "'unix://': no path", "unix://" },
		{ "'unix:///': no path", "unix:///" },
		{ "'unix://run/s': a host; a path begins with a third slash", "unix://run/s" },
		{ "'unix:/" HUNDRED "abcdefg': a path of more than 107 bytes",
		    "unix:/" HUNDRED "abcdefg" },
		{ "'file:': no path", "file:" },
		{ "'file://host/x': a host; a path begins with a third slash", "file://host/x" },
		{ "'file:" HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN
		  "abcde': a path of more than 4095 bytes",
		    "file:" THOUSAND THOUSAND THOUSAND THOUSAND HUNDRED },
		{ "'http:app': not http://HOST[:PORT][/PATH]", "http:app" },
		{ "'http://': " HOST, "http://" },
		{ "'http:///x': " HOST, "http:///x" },
		{ "'http://app:/': " PORT, "http://app:/" },
		{ "'***': a user; a page is asked without one", "http://bob:secret@app/" },
		{ "'***': " PORT, "http://bob:se/cret@app/" },
		{ "'http://app/a b': a blank or a control character; write it as %20",
		    "http://app/a b" },
		{ "'http://app/a\nb': a blank or a control character; write it as %20",
		    "http://app/a\nb" },
		{ "no TLS here; use curl: retry -w 60 -- curl -fsS -o /dev/null 'https://app/x'",
		    "https://app/x" },
		{ "'https:app': not http://HOST[:PORT][/PATH]", "https:app" },
		{ "'***': a user; a page is asked without one", "https://bob:secret@app/" },
	};
	char hint[TARGET_HINT];
	struct target target;

	for (size_t i = 0; i < LENGTH(rows); i++) {
		HOLDS(rows[i].word, !target_parse(rows[i].word, &target, hint));
		SAME(rows[i].word, hint, rows[i].want);
	}
	HOLDS("long", !target_parse("http://" THOUSAND THOUSAND "a", &target, hint));
	HOLDS("long", strstr(hint, ": a URL of more than 2000 bytes") != NULL);
}

TEST(meant) {
	static const struct {
		const char *word, *want;
	} rows[] = {
		{ "db:5432", "tcp:db:5432" },
		{ "[::1]:80", "tcp:[::1]:80" },
		{ "db", NULL },
		{ "db:x", NULL },
		{ "./db:5432", NULL },
		{ "me@db:5432", NULL },
	};
	char room[TARGET_HINT];

	for (size_t i = 0; i < LENGTH(rows); i++)
		SAME(rows[i].word, target_meant(rows[i].word, room), rows[i].want);
}
