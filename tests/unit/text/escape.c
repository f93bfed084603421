/* escape: any bytes, in each style. */
#include "unit.h"
#include "text/escape.h"

static const char *shown(enum escape style, const char *text) {
	static char room[1024];

	*escape_put(style, room, room + sizeof room - 1, text, strlen(text)) = '\0';
	return room;
}

TEST(styles) {
	static const enum escape styles[] = { ESCAPE_LINE, ESCAPE_GITHUB, ESCAPE_PLAIN, ESCAPE_JSON,
		ESCAPE_PROM };
	static const char *const same[] = { "", "a b", "\xc3\xa9", "\xe0\xa4\x80", "\xe2\x82\xac",
		"\xf4\x8f\xbf\xbf" };
	/* A text, and what each style makes of it; NULL: nothing else. */
	static const char *const rows[][6] = {
		{ "\n", "\\n", "%0A", "\\n", "\\u000a", "\\n" },
		{ "\r", "\\x0d", "%0D", "\\x0d", "\\u000d", "\\\\x0d" },
		{ "\t", "\\t", "\\t", "\\t", "\\u0009", "\\\\x09" },
		{ "\x1b[m", "\\x1b[m", "\\x1b[m", "\\x1b[m", "\\u001b[m", "\\\\x1b[m" },
		{ "\x7f", "\\x7f", "\\x7f", "\\x7f", "\\u007f", "\\\\x7f" },
		{ "\"\\", NULL, NULL, NULL, "\\\"\\\\", "\\\"\\\\" },
		{ "100%", NULL, "100%25" },
		{ "%0A", NULL, "%250A" },
		{ "::x,:" },
		{ "\xc2\x9b", "\\xc2\\x9b", "\\xc2\\x9b", "\\xc2\\x9b", "\\u009b",
		    "\\\\xc2\\\\x9b" },
		{ "\xff", NULL, NULL, "\\xff", "\\\\xff", "\\\\xff" },
		{ "\xc3", NULL, NULL, "\\xc3", "\\\\xc3", "\\\\xc3" },
		{ "\xc0\xaf", NULL, NULL, "\\xc0\\xaf", "\\\\xc0\\\\xaf", "\\\\xc0\\\\xaf" },
		{ "\xed\xa0\x80", NULL, NULL, "\\xed\\xa0\\x80", "\\\\xed\\\\xa0\\\\x80",
		    "\\\\xed\\\\xa0\\\\x80" },
		{ "\xc3\n", "\xc3\\n", "\xc3%0A", "\\xc3\\n", "\\\\xc3\\u000a", "\\\\xc3\\n" },
	};

	for (size_t i = 0; i < LENGTH(styles); i++) {
		for (size_t j = 0; j < LENGTH(same); j++)
			SAME(same[j], shown(styles[i], same[j]), same[j]);
		for (size_t j = 0; j < LENGTH(rows); j++) {
			const char *text = rows[j][0], *want = rows[j][i + 1];

			want = want == NULL ? text : want;
			SAME(text, shown(styles[i], text), want);
			if (i == 1 && strpbrk(text, ":,") == NULL)
				SAME(text, shown(ESCAPE_GITHUB_TITLE, text), want);
		}
	}
	SAME("title", shown(ESCAPE_GITHUB_TITLE, "a::b, 5%\n"), "a%3A%3Ab%2C 5%25%0A");
}

TEST(no_line_has_an_old_workflow_command) {
	static const struct {
		const char *text, *github;
	} rows[] = { { "##[group]a", "\\x23#[group]a" }, { "a ###[b] ##[", "a #\\x23#[b] \\x23#[" },
		{ "##", "##" }, { "# #[a]", "# #[a]" }, { "::a::100%\n", "::a::100%\\n" },
		{ "\xff", "\xff" } };

	for (size_t i = 0; i < LENGTH(rows); i++)
		SAME(rows[i].text, shown(ESCAPE_GITHUB_LINE, rows[i].text), rows[i].github);
	SAME("line", shown(ESCAPE_LINE, "##[a]"), "##[a]");
}

TEST(what_follows_a_nul) {
	char room[64] = "";
	const char text[] = "a\0b";

	*escape_put(ESCAPE_JSON, room, room + sizeof room - 1, text, 3) = '\0';
	SAME("nul", room, "a\\u0000b");
	*escape_put(ESCAPE_LINE, room, room + sizeof room - 1, text, 3) = '\0';
	SAME("nul", room, "a\\x00b");
}

TEST(cuts) {
	static const struct {
		const char *text;
		size_t most, shown;
	} rows[] = { { "", 0, 0 }, { "abc", 3, 3 }, { "abc", 9, 3 }, { "abc", 2, 2 },
		{ "abc", 0, 0 }, { "a\xc3\xa9", 2, 1 }, { "a\xc3\xa9", 3, 3 },
		{ "a\xc3\xa9z", 3, 3 }, { "a\xe2\x82\xacz", 1, 1 }, { "a\xe2\x82\xacz", 2, 1 },
		{ "a\xe2\x82\xacz", 3, 1 }, { "a\xe2\x82\xacz", 4, 4 },
		{ "\xf4\x8f\xbf\xbfz", 1, 0 }, { "\xf4\x8f\xbf\xbfz", 3, 0 },
		{ "\xf4\x8f\xbf\xbfz", 4, 4 },
		/* Not UTF-8: any byte may be the last one. */
		{ "\xff\xff\xff", 2, 2 }, { "a\xa9\xa9\xa9\xa9", 3, 3 }, { "a\xe2\x82z", 2, 2 },
		{ "\xc3\xa9\xa9\xa9", 3, 3 } };

	for (size_t i = 0; i < LENGTH(rows); i++)
		HOLDS(rows[i].text,
		    escape_cut(rows[i].text, strlen(rows[i].text), rows[i].most) == rows[i].shown);
}

/* For any bytes and any limit, no character is cut and no byte is past it. */
TEST(limits) {
	static const char text[] = "a\n\xe2\x82\xac\xf4\x8f\xbf\xbf\xc2\x9b\xff%";
	char room[128];

	for (int style = ESCAPE_LINE; style <= ESCAPE_PROM; style++) {
		const char *whole = shown((enum escape)style, text);

		for (size_t most = 0; most <= strlen(whole); most++) {
			char *end;

			memset(room, '#', sizeof room);
			end = escape_put((enum escape)style, room, room + most, text, strlen(text));
			HOLDS("limit", end <= room + most);
			HOLDS("limit", most - (size_t)(end - room) < ESCAPE_ROOM);
			HOLDS("limit", room[most] == '#');
			HOLDS("limit", memcmp(room, whole, (size_t)(end - room)) == 0);
		}
	}
}
