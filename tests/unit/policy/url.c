/* url, row by row. */
#include "unit.h"
#include "policy/url.h"

#define TEN "abcdefghij"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

/* The name of the server, its user, and whether it speaks TLS. */
static const char *server_of(const char *text) {
	static char room[1024];
	char name[URL_ROOM];
	struct url url;

	SAME(text, url_parse(text, &url), NULL);
	SAME(text, url_show(text, name), text);
	EQUAL(text, url.path[0] != '\0', url.host[0] == '\0');
	snprintf(room, sizeof room, "%s%s%s%s%s:%d/%d", url.tls ? "tls " : "", url.user,
	    url.user[0] == '\0' ? "" : "@", url.host, url.path, url.port, url.db);
	return room;
}

TEST(urls) {
	static const char *const rows[][4] = {
		{ "cache:6379/0", "redis://cache", "redis://cache/", "redis://cache:6379/0" },
		{ "cache:6380/15", "redis://cache:6380/15" },
		{ "Cache_1.example.com:1/0", "REDIS://Cache_1.example.com:1" },
		{ "cache:65535/0", "valkey://cache:65535" },
		{ "tls cache:6379/0", "rediss://cache" },
		{ "tls cache:6379/2147483647", "valkeys://cache/2147483647" },
		{ "10.0.0.1:7000/0", "redis://10.0.0.1:7000" },
		{ "::1:6379/0", "redis://[::1]" },
		{ "2001:db8::1:7000/1", "redis://[2001:db8::1]:7000/1" },
		{ "fe80::1%eth0:1/0", "redis://[fe80::1%eth0]:1" },
		{ "ci@cache:6379/0", "redis://ci@cache", "valkey://ci@cache/" },
		{ "/run/redis.sock:0/0", "unix:///run/redis.sock" },
		{ "/run/a b%3f:0/3", "unix:///run/a b%3f?db=3" },
		{ "//" HUNDRED "12345:0/0", "unix:////" HUNDRED "12345" },
	};

	ALIKE(rows, server_of);
}

#define PASSWORD "a URL with a password, which others can see; use --fleet-auth"
#define SCHEME "not a URL of redis://, rediss://, valkey://, valkeys:// or unix://"
#define HOST "no valid host; an IPv6 address has brackets"
#define PORT "not a port from 1 to 65535"
#define DATABASE "not a number of a database"
#define USER "no valid user before the @"
#define NO_PATH "no absolute path after unix://"
#define LONG_PATH "a path of more than 107 bytes"

TEST(what_is_no_url) {
	static const struct {
		const char *reason, *texts[16];
	} rows[] = {
		{ SCHEME,
		    { "", "cache:6379", "http://cache", "redis:cache",
			"http://bob:secret@cache" } },
		{ PASSWORD,
		    { "redis://bob:secret@cache", "Redis://:secret@cache", "redis://bob:@cache",
			"redis://a:se@cret@cache", "redis://a:se/cret@cache",
			"valkeys://a:se?cret@cache" } },
		{ "a parameter other than db=N",
		    { "unix:///s?password=secret", "unix:///s?db=1&x=2", "unix:///s?db=-1",
			"unix:///s?db=2147483648" } },
		{ DATABASE,
		    { "redis://cache/x", "redis://cache/-1", "redis://cache/2147483648",
			"redis://cache/1?" } },
		{ HOST,
		    { "redis://", "redis://:6379", "redis://-x", "redis://a%2fb", "redis://a,b",
			"redis://[]", "redis://[", "redis://[cache]", "redis://ca che",
			"redis://c\xc3\xa4", "redis://cache?db=1", "redis://[::1",
			"redis://[::1]6379", "redis://::1", "redis://::1:6379",
			("redis://" HUNDRED HUNDRED TEN TEN TEN TEN TEN "1234") } },
		{ PORT,
		    { "redis://[:]:x", "redis://cache:", "redis://cache:0", "redis://cache:65536",
			"redis://cache:-1", "redis://cache:http" } },
		{ USER,
		    { "redis://@cache",
			("redis://" HUNDRED HUNDRED TEN TEN TEN TEN TEN "123456@c") } },
		{ "a control character", { "redis://cache\n", "unix:///a\x7f" } },
		{ NO_PATH, { "unix://run/s", "unix://", "unix:///", "unix://a:secret@/run/s" } },
		{ LONG_PATH, { ("unix:////" HUNDRED "123456") } },
	};

	for (size_t i = 0; i < LENGTH(rows); i++)
		for (size_t j = 0; j < LENGTH(rows[i].texts) && rows[i].texts[j] != NULL; j++) {
			const char *text = rows[i].texts[j], *scheme = strstr(text, "://");
			char room[URL_ROOM], shown[URL_ROOM];
			bool hidden = strpbrk(text, "@?") != NULL;
			struct url url;

			/* What may be a password is not shown. */
			snprintf(shown, sizeof shown, "%.*s***",
			    strcmp(rows[i].reason, SCHEME) == 0 ? 0 : (int)(scheme - text) + 3,
			    text);
			SAME(text, url_parse(text, &url), rows[i].reason);
			SAME(text, url_show(text, room), hidden ? shown : text);
		}
}

TEST(auth) {
	static char password[URL_PASSWORD_ROOM + 1];
	static const struct {
		const char *want; /* user, a blank and password; or a reason */
		struct strview text;
		const char *user;
	} rows[] = {
#define TEXT(text) { text, sizeof(text) - 1 }
		{ " pw", TEXT("pw"), "" }, { " pw", TEXT("pw\n"), "" },
		{ "  p w\r", TEXT(" p w\r"), "" }, { "ci pw", TEXT("ci:pw"), "" },
		{ "ci p:w", TEXT("ci:p:w\n"), "" }, { "ci pw", TEXT("pw"), "ci" },
		{ "ci pw", TEXT("ci:pw"), "ci" }, { "empty", TEXT(""), "" },
		{ "empty", TEXT("\n"), "" }, { "more than one line of text", TEXT("a\nb"), "" },
		{ "more than one line of text", TEXT("a\n\n"), "" },
		{ "more than one line of text", TEXT("a\0b"), "" },
		{ "not USER:PASSWORD", TEXT(":pw"), "" },
		{ "not USER:PASSWORD", TEXT("ci:\n"), "" },
		{ "another user than in the URL", TEXT("me:pw"), "ci" },
		{ "too long", { password, URL_PASSWORD_ROOM }, "" }
	};
	struct url_auth auth;

	memset(password, 'p', URL_PASSWORD_ROOM);
	for (size_t i = 0; i < LENGTH(rows); i++) {
		char got[2 * URL_PASSWORD_ROOM];
		const char *why = url_parse_auth(rows[i].text, rows[i].user, &auth);

		snprintf(got, sizeof got, "%s %s", auth.user, auth.password);
		SAME(rows[i].text.at, why == NULL ? got : why, rows[i].want);
	}
	SAME("longest",
	    url_parse_auth((struct strview){ password, URL_PASSWORD_ROOM - 1 }, "", &auth), NULL);
}
