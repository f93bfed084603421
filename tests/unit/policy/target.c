/* target, row by row. */
#include "unit.h"
#include "policy/target.h"

#define TEN "abcdefghij"
#define SIXTY TEN TEN TEN TEN TEN TEN
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define THOUSAND HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED

/* The parts of a target, with a blank between them, or why it is none. */
static const char *read_as(const char *text) {
	static const char kinds[][8] = { "tcp", "unix", "file", "http" };
	static char room[6000];
	struct target target;
	const char *why = target_parse(text, &target);

	if (why != NULL)
		return why;
	EQUAL(text, target.kind, target_kind(text));
	SAME(text, target.text, text);
	if (target.path != NULL)
		snprintf(room, sizeof room, "%s %s", kinds[target.kind], target.path);
	else
		snprintf(room, sizeof room, "%s %s %d %.*s %.*s", kinds[target.kind], target.host,
		    target.port, (int)target.authority.length, target.authority.at,
		    (int)target.page.length, target.page.at);
	return room;
}

TEST(targets) {
	static const char *const rows[][8] = {
		{ "tcp db 5432 db:5432 ", "tcp:db:5432", "tcp://db:5432", "TCP://db:5432" },
		{ "tcp db. 1 db.:1 ", "tcp:db.:1" },
		{ "tcp " SIXTY "abc.d 1 " SIXTY "abc.d:1 ", "tcp:" SIXTY "abc.d:1" },
		{ "tcp 10.0.0.1 65535 10.0.0.1:65535 ", "tcp:10.0.0.1:65535" },
		{ "tcp ::1 80 [::1]:80 ", "tcp:[::1]:80", "tcp://[::1]:80" },
		{ "tcp fe80::1%eth0 80 [fe80::1%eth0]:80 ", "tcp:[fe80::1%eth0]:80" },
		{ "unix /run/app.sock", "unix:/run/app.sock", "unix:///run/app.sock" },
		{ "unix app.sock", "unix:app.sock" },
		{ "unix /" HUNDRED "abcdef", "unix:/" HUNDRED "abcdef" },
		{ "file /run/ready", "file:/run/ready", "file:///run/ready" },
		{ "file ready", "file:ready" },
		{ "file a b\n@#?", "file:a b\n@#?" },
		{ "file /", "file:/" },
		{ "http app 80 app ", "http://app", "HTTP://app", "http://app#top" },
		{ "http app 8080 app:8080 /health", "http://app:8080/health",
		    "http://app:8080/health#top" },
		{ "http app 80 app ?a=b@c", "http://app?a=b@c" },
		{ "http app 80 app /@me:1", "http://app/@me:1" },
		{ "http ::1 80 [::1] /", "http://[::1]/" },
		{ "http ::1 8080 [::1]:8080 ", "http://[::1]:8080" },
	};

	ALIKE(rows, read_as);
}

#define NONE "no target (tcp:HOST:PORT, unix:, file:, http:), and no -- before it"
#define HOST "no valid host; an IPv6 address has brackets"
#define PORT "not a port from 1 to 65535"
#define BLANK "a blank or a control character; write %20"

TEST(what_is_no_target) {
	static const char *const rows[][16] = {
		{ NONE, "db:5432", "app", "./tcp:x", "postgres://db/", "", "tcp", ":" },
		{ HOST, "tcp:", "tcp::80", "tcp:::1:80", "tcp:a b:80", "tcp://bob:secret@db:80",
		    "http://", "http:///x", "tcp:-x:80", "tcp:db..svc:80", "tcp:.db:80",
		    "tcp:a." SIXTY "abcd:80" },
		{ PORT, "tcp:db:0", "tcp:db:65536", "tcp:db:", "tcp:db:http", "tcp:db:80/x",
		    "http://app:/", "http://bob:se/cret@app/" },
		{ "no port", "tcp:db", "tcp:[::1]" },
		{ "no path", "unix:", "unix://", "unix:///", "file:" },
		{ "a host; a path has three slashes before it", "unix://run/s", "file://host/x" },
		{ "a path of more than 107 bytes", "unix:/" HUNDRED "abcdefg" },
		{ "not http://HOST[:PORT][/PATH]", "http:app", "https:app" },
		{ "a user", "http://bob:secret@app/", "https://bob:secret@app/" },
		{ BLANK, "http://app/a b", "http://app/a\nb", "http://app/\x7f" },
		{ "a URL of more than 2000 bytes", "http://" THOUSAND THOUSAND "a" },
	};

	ALIKE(rows, read_as);
}
