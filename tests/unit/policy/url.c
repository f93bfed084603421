/* url, row by row. */
#include "unit.h"
#include "policy/url.h"

#define TEN "abcdefghij"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

/* The name of the server, its user, and whether it speaks TLS. */
static const char *server_of(const char *text) {
	static char room[2 * URL_ROOM];
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
	static const char *const rows[][6] = {
		{ "cache:6379/0", "redis://cache", "redis://cache/", "redis://cache/0",
		    "redis://c%61che", "redis://cache:6379/0" },
		{ "cache:6380/15", "redis://cache:6380/15" },
		{ "Cache_1.example.com:1/0", "REDIS://Cache_1.example.com:1" },
		{ "cache:65535/0", "valkey://cache:65535" },
		{ "tls cache:6379/0", "rediss://cache" },
		{ "tls cache:6379/2147483647", "valkeys://cache/2147483647" },
		{ "10.0.0.1:7000/0", "redis://10.0.0.1:7000" },
		{ "::1:6379/0", "redis://[::1]" },
		{ "2001:db8::1:7000/1", "redis://[2001:db8::1]:7000/1" },
		{ "fe80::1%eth0:1/0", "redis://[fe80::1%25eth0]:1" },
		{ "ci@cache:6379/0", "redis://ci@cache", "valkey://ci@cache/" },
		{ "a:b@ @cache:6379/0", "redis://a%3Ab%40%20@cache" },
		{ "/run/redis.sock:0/0", "unix:///run/redis.sock" },
		{ "/run/a b?:0/3", "unix:///run/a%20b%3f?db=3" },
		{ "//" HUNDRED "12345:0/0", "unix:////" HUNDRED "12345" },
	};

	ALIKE(rows, server_of);
}

#define PASSWORD "a URL with a password, which others can see; use --fleet-auth"
#define SCHEME "not a URL of redis://, rediss://, valkey://, valkeys:// or unix://"
#define FOREIGN "a byte that a URL has only as %XX"
#define HOST "no valid host"
#define PORT "not a port from 1 to 65535"
#define DATABASE "not a number of a database"
#define PARAMETER "a parameter, which only unix:// has"
#define USER "no valid user before the @"
#define NO_PATH "no absolute path after unix://"
#define BAD_PATH "a path of more than 107 bytes, or a wrong %XX"

TEST(what_is_no_url) {
	static const struct {
		const char *reason, *texts[12];
	} rows[] = {
		{ SCHEME,
		    { "", "cache:6379", "http://cache", "redis:cache", "bob:secret@cache",
			"http://bob:secret@cache" } },
		{ PASSWORD,
		    { "redis://bob:secret@cache", "Redis://:secret@cache", "redis://bob:@cache",
			"redis://a:se@cret@cache", "redis://a:se/cret@cache",
			"valkeys://a:se?cret@cache", "unix://a:secret@/run/s" } },
		{ PARAMETER,
		    { "redis://cache?password=secret", "redis://cache?db=1", "redis://cache/1?" } },
		{ "a parameter other than db=N", { "unix:///s?password=secret", "unix:///s?" } },
		{ DATABASE,
		    { "unix:///s?db=1&x=2", "unix:///s?db=-1", "unix:///s?db=2147483648",
			"redis://cache/x", "redis://cache/-1", "redis://cache/2147483648" } },
		{ HOST,
		    { "redis://", "redis://:6379", "redis://-x", "redis://a%2fb", "redis://a%00b",
			"redis://a%2", "redis://a,b", "redis://[]", "redis://[cache]",
			"redis://a%3ab",
			("redis://" HUNDRED HUNDRED TEN TEN TEN TEN TEN "1234") } },
		{ PORT,
		    { "redis://[:]:x", "redis://cache:", "redis://cache:0", "redis://cache:65536",
			"redis://cache:-1", "redis://cache:http" } },
		{ "no ] after an IPv6 address", { "redis://[::1" } },
		{ "no : between ] and the port", { "redis://[::1]6379" } },
		{ "an IPv6 address without brackets", { "redis://::1", "redis://::1:6379" } },
		{ USER,
		    { "redis://@cache", "redis://a%@cache", "redis://a%00@cache",
			("redis://" HUNDRED HUNDRED TEN TEN TEN TEN TEN "123456@c") } },
		{ FOREIGN,
		    { "redis://ca che", "redis://cache\n", "redis://cache#1", "redis://c\xc3\xa4",
			"redis://b:secret @c" } },
		{ NO_PATH, { "unix://run/s", "unix://", "unix:///", "unix://?db=1" } },
		{ BAD_PATH,
		    { "unix:///a%", "unix:///a%00b", ("unix:////" HUNDRED "123456"),
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

TEST(long_urls) {
	char text[2 * URL_ROOM] = "unix:///", room[URL_ROOM];
	struct url url;

	memset(text + strlen(text), '/', URL_ROOM - 1 - strlen(text));
	SAME("1023 bytes", url_parse(text, &url), BAD_PATH);
	text[URL_ROOM - 1] = '@';
	SAME("1024 bytes", url_parse(text, &url), "longer than 1023 bytes");
	SAME("1024 bytes", url_show(text, room), "unix://***");
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
		{ " pw", TEXT("pw\r\n"), "" }, { "  p w ", TEXT(" p w "), "" },
		{ "ci pw", TEXT("ci:pw"), "" }, { "ci p:w", TEXT("ci:p:w\n"), "" },
		{ "ci pw", TEXT("pw"), "ci" }, { "ci pw", TEXT("ci:pw"), "ci" },
		{ "empty", TEXT(""), "" }, { "empty", TEXT("\n"), "" },
		{ "empty", TEXT("\r\n"), "ci" }, { "more than one line of text", TEXT("a\nb"), "" },
		{ "more than one line of text", TEXT("a\n\n"), "" },
		{ "more than one line of text", TEXT("a\0b"), "" },
		{ "no user before the colon", TEXT(":pw"), "" },
		{ "no password after the colon", TEXT("ci:"), "" },
		{ "no password after the colon", TEXT("ci:\n"), "" },
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
