/*
 * url, row by row.
 */
#include "unit.h"
#include "fleet/url.h"

/*
 * url_parse
 */

#define TEN "abcdefghij"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static const struct {
	const char *text;
	struct url url;
} urls[] = {
	{ "redis://cache", { .host = "cache", .port = 6379 } },
	{ "redis://cache/", { .host = "cache", .port = 6379 } },
	{ "redis://cache/0", { .host = "cache", .port = 6379 } },
	{ "redis://cache:6380/15",
	    { .host = "cache", .port = 6380, .db = 15 } },
	{ "REDIS://Cache_1.example.com:1",
	    { .host = "Cache_1.example.com", .port = 1 } },
	{ "valkey://cache:65535", { .host = "cache", .port = 65535 } },
	{ "rediss://cache", { .tls = true, .host = "cache", .port = 6379 } },
	{ "valkeys://cache/2147483647",
	    { .tls = true, .host = "cache", .port = 6379, .db = 2147483647 } },
	{ "redis://10.0.0.1:7000", { .host = "10.0.0.1", .port = 7000 } },
	{ "redis://[::1]", { .host = "::1", .port = 6379 } },
	{ "redis://[2001:db8::1]:7000/1",
	    { .host = "2001:db8::1", .port = 7000, .db = 1 } },
	{ "redis://[fe80::1%25eth0]:1", { .host = "fe80::1%eth0", .port = 1 } },
	{ "redis://ci@cache", { .user = "ci", .host = "cache", .port = 6379 } },
	{ "redis://a%3Ab%40%20@cache",
	    { .user = "a:b@ ", .host = "cache", .port = 6379 } },
	{ "redis://c%61che", { .host = "cache", .port = 6379 } },
	{ "unix:///run/redis.sock", { .path = "/run/redis.sock" } },
	{ "unix:///run/a%20b%3f?db=3", { .path = "/run/a b?", .db = 3 } },
	{ "unix:////" HUNDRED "12345", { .path = "//" HUNDRED "12345" } },
};

TEST(urls)
{
	for (size_t i = 0; i < LENGTH(urls); i++) {
		const struct url *want = &urls[i].url;
		const char *row = urls[i].text;
		char room[URL_ROOM];
		struct url url;

		SAME(row, url_parse(row, &url), NULL);
		EQUAL(row, url.tls, want->tls);
		SAME(row, url.user, want->user);
		SAME(row, url.host, want->host);
		EQUAL(row, url.port, want->port);
		SAME(row, url.path, want->path);
		EQUAL(row, url.db, want->db);
		SAME(row, url_show(row, room), row);
	}
}

TEST(names)
{
	static const struct {
		const char *text, *name;
	} rows[] = {
		{ "redis://cache", "cache:6379/0" },
		{ "redis://cache:6379/0", "cache:6379/0" },
		{ "valkey://ci@cache/", "cache:6379/0" },
		{ "redis://cache:6380", "cache:6380/0" },
		{ "redis://cache/1", "cache:6379/1" },
		{ "redis://[::1]", "::1:6379/0" },
		{ "unix:///run/redis.sock", "/run/redis.sock:0/0" },
		{ "unix:///run/redis.sock?db=3", "/run/redis.sock:0/3" },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		char room[URL_ROOM];
		struct url url;

		SAME(rows[i].text, url_parse(rows[i].text, &url), NULL);
		SAME(rows[i].text, url_name(&url, room), rows[i].name);
	}
}

#define PASSWORD "a URL with a password, which others can see; use --fleet-auth"
#define SCHEME \
	"not a URL of redis://, rediss://, valkey://, valkeys:// or unix://"
#define FOREIGN "a byte that a URL has only as %XX"
#define HOST "no valid host"
#define PORT "not a port from 1 to 65535"
#define DATABASE "not a number of a database"
#define PARAMETER "a parameter, which only unix:// has"
#define USER "no valid user before the @"
#define NO_PATH "no absolute path after unix://"
#define BAD_PATH "a path of more than 107 bytes, or a wrong %XX"

TEST(what_is_no_url)
{
	static const struct {
		const char *reason, *texts[12];
	} rows[] = {
		{ SCHEME,
		    { "", "cache:6379", "http://cache", "redis:cache",
			"bob:secret@cache", "http://bob:secret@cache" } },
		{ PASSWORD,
		    { "redis://bob:secret@cache", "Redis://:secret@cache",
			"redis://bob:@cache", "redis://a:se@cret@cache",
			"redis://a:se/cret@cache", "valkeys://a:se?cret@cache",
			"unix://a:secret@/run/s" } },
		{ PARAMETER,
		    { "redis://cache?password=secret", "redis://cache?db=1",
			"redis://cache/1?" } },
		{ "a parameter other than db=N",
		    { "unix:///s?password=secret", "unix:///s?" } },
		{ DATABASE,
		    { "unix:///s?db=1&x=2", "unix:///s?db=-1",
			"unix:///s?db=2147483648", "redis://cache/x",
			"redis://cache/-1", "redis://cache/2147483648" } },
		{ HOST,
		    { "redis://", "redis://:6379", "redis://-x",
			"redis://a%2fb", "redis://a%00b", "redis://a%2",
			"redis://a,b", "redis://[]", "redis://[cache]",
			"redis://a%3ab",
			("redis://" HUNDRED HUNDRED TEN TEN TEN TEN TEN
			 "1234") } },
		{ PORT,
		    { "redis://[:]:x", "redis://cache:", "redis://cache:0",
			"redis://cache:65536", "redis://cache:-1",
			"redis://cache:http" } },
		{ "no ] after an IPv6 address", { "redis://[::1" } },
		{ "no : between ] and the port", { "redis://[::1]6379" } },
		{ "an IPv6 address without brackets",
		    { "redis://::1", "redis://::1:6379" } },
		{ USER,
		    { "redis://@cache", "redis://a%@cache",
			"redis://a%00@cache",
			("redis://" HUNDRED HUNDRED TEN TEN TEN TEN TEN
			 "123456@c") } },
		{ FOREIGN,
		    { "redis://ca che", "redis://cache\n", "redis://cache#1",
			"redis://c\xc3\xa4", "redis://b:secret @c" } },
		{ NO_PATH,
		    { "unix://run/s", "unix://", "unix:///", "unix://?db=1" } },
		{ BAD_PATH,
		    { "unix:///a%", "unix:///a%00b",
			("unix:////" HUNDRED "123456"),
			("unix:///r/" HUNDRED TEN) } },
	};

	for (size_t i = 0; i < LENGTH(rows); i++)
		for (const char *const *text = rows[i].texts; *text; text++) {
			const char *scheme = strstr(*text, "://");
			char room[URL_ROOM], shown[URL_ROOM];
			int length = (int)strlen(*text);
			struct url url;

			/* What may be a password is not shown. */
			if (strpbrk(*text, "@?") != NULL)
				length = strcmp(rows[i].reason, SCHEME) == 0
				    ? 0
				    : (int)(scheme - *text) + 3;
			snprintf(shown, sizeof shown, "%.*s%s", length, *text,
			    (*text)[length] == '\0' ? "" : "***");
			SAME(*text, url_parse(*text, &url), rows[i].reason);
			SAME(*text, url_show(*text, room), shown);
		}
}

TEST(long_urls)
{
	char text[2 * URL_ROOM] = "unix:///", room[URL_ROOM];
	struct url url;

	memset(text + strlen(text), '/', URL_ROOM - 1 - strlen(text));
	SAME("1023 bytes", url_parse(text, &url), BAD_PATH);
	text[URL_ROOM - 1] = '@';
	SAME("1024 bytes", url_parse(text, &url), "longer than 1023 bytes");
	SAME("1024 bytes", url_show(text, room), "unix://***");
}

/*
 * url_parse_auth
 */

TEST(auth)
{
	static const struct {
		const char *text, *user;
		struct url_auth want;
	} rows[] = {
		{ "pw", "", { "", "pw" } },
		{ "pw\n", "", { "", "pw" } },
		{ "pw\r\n", "", { "", "pw" } },
		{ " p w ", "", { "", " p w " } },
		{ "ci:pw", "", { "ci", "pw" } },
		{ "ci:p:w\n", "", { "ci", "p:w" } },
		{ "pw", "ci", { "ci", "pw" } },
		{ "ci:pw", "ci", { "ci", "pw" } },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct url_auth auth;

		SAME(rows[i].text,
		    url_parse_auth(
			strview_of(rows[i].text), rows[i].user, &auth),
		    NULL);
		SAME(rows[i].text, auth.user, rows[i].want.user);
		SAME(rows[i].text, auth.password, rows[i].want.password);
	}
}

TEST(what_is_no_auth)
{
	static char password[URL_PASSWORD_ROOM + 1];
	static const struct {
		struct strview text;
		const char *user, *reason;
	} rows[] = {
		{ { "", 0 }, "", "empty" },
		{ { "\n", 1 }, "", "empty" },
		{ { "\r\n", 2 }, "ci", "empty" },
		{ { "a\nb", 3 }, "", "more than one line of text" },
		{ { "a\n\n", 3 }, "", "more than one line of text" },
		{ { "a\0b", 3 }, "", "more than one line of text" },
		{ { ":pw", 3 }, "", "no user before the colon" },
		{ { "ci:", 3 }, "", "no password after the colon" },
		{ { "ci:\n", 4 }, "", "no password after the colon" },
		{ { "me:pw", 5 }, "ci", "another user than in the URL" },
		{ { password, URL_PASSWORD_ROOM }, "", "too long" },
		{ { password, URL_PASSWORD_ROOM - 1 }, "", NULL },
	};

	memset(password, 'p', URL_PASSWORD_ROOM);
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct url_auth auth;

		SAME("auth", url_parse_auth(rows[i].text, rows[i].user, &auth),
		    rows[i].reason);
	}
}
