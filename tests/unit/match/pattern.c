/*
 * Covers match/ere.
 *
 * pattern, row by row: what matches, what does not, what is refused. Neither
 * where a stream is cut into chunks nor a full table changes an answer.
 */
#include "unit.h"
#include "match/pattern.h"

static struct pattern pattern;

static void compile(const char *text) {
	struct pattern_error error = { "", 0 };

	if (!pattern_compile(&pattern, text, strlen(text), &error)) {
		printf("%s: refused: %s\n", text, error.why);
		exit(EXIT_FAILURE);
	}
}

static bool matches(const char *stream, size_t length, size_t chunk) {
	pattern_start(&pattern);
	for (size_t at = 0; at < length; at += chunk)
		pattern_feed(&pattern, stream + at, length - at < chunk ? length - at : chunk);
	return pattern_end(&pattern);
}

/* A pattern, what it matches, and what it does not. */
#define BUT_NOT "but not"
static const char *const cases[][6] = {
	/* Bytes, groups, alternatives. */
	{ "a", "a", BUT_NOT, "", "b", "A" }, { "error", "an error occurred\n" }, { "a|b", "b" },
	{ "ab|cd|ef", "xefx" }, { "a(b|c)d", "acd", BUT_NOT, "ad" },
	/* Repetition. */
	{ "ab*c", "ac", "abbbc" }, { "ab+c", "abbc" }, { "ab?c", "abc", "ac" },
	{ "a{3}", "aaa", BUT_NOT, "aa" }, { "a{2,}b", "aaab" },
	{ "^a{2,3}$", "aaa", BUT_NOT, "aaaa" }, { "^a{,2}b", "aab" }, { "^a{,}b", "aaab" },
	{ "^a{0}b", "b", BUT_NOT, "ab" }, { "^(ab){2}$", "abab", BUT_NOT, "ab" },
	{ "^a**b", "aab" }, { "^a+?b", "b" }, { "^a{2}{2}$", "aaaa" }, { "^(a{1,2}){2}$", "aaa" },
	{ "^((ab)+c)+$", "ababcabc" },
	/* Empty alternatives, and a dot. */
	{ "(|a)b", "b" }, { "a||b", "x" }, { "a|", "x" }, { "()", "x" },
	{ "x*", "y", "\n", BUT_NOT, "" }, { ".*", "y" }, { ".*a", "ba" }, { ".*^a", "a" },
	{ "a.c", "a-c" }, { "a.*c", "a--c" }, { "a}", "a}" },

	/* Anchors. */
	{ "^a", "a", "b\na", BUT_NOT, "ba" }, { "a$", "ba", "ba\nb", BUT_NOT, "ab" },
	{ "^$", "\n", "a\n\nb", BUT_NOT, "", "a\n" }, { "^", "a" }, { "$", "a" },
	{ "(^|x)a", "bxa" }, { "a($|x)", "ba" }, { "abc|$", "ab" },
	/* Brackets, and classes in them. */
	{ "[abc]", "b" }, { "[a-c]x", "cx", BUT_NOT, "dx" }, { "[^a-c]x", "dx", BUT_NOT, "bx" },
	{ "[]]", "]" }, { "[]a]", "a" }, { "[^]a]", "b", BUT_NOT, "]" }, { "[a-]", "-" },
	{ "[-a]", "-" }, { "[+--]", "," }, { "[\\\\]", "\\" }, { "[.*+?{}()|^$]", "^" },
	{ "[a^]", "^" }, { "[[]", "[" }, { "[[:alpha:]_]", "_", "Z" }, { "[^[:alpha:]]", "1" },
	{ "[[:upper:]]", "A", BUT_NOT, "a" }, { "[[:lower:]]", "a" }, { "[[:digit:]]", "0" },
	{ "[[:xdigit:]]", "f" }, { "[[:space:]]", "\v" }, { "[[:blank:]]", "\t" },
	{ "[[:punct:]]", "~" }, { "[[:cntrl:]]", "\177" }, { "[[:graph:]]", "!" },
	{ "[[:print:]]", " " }, { "[[:alnum:]]", "9" },
	/* Escapes. */
	{ "\\d", "7", BUT_NOT, "x" }, { "\\D", "x" }, { "\\w", "_", BUT_NOT, "\303\251" },
	{ "\\W", "-" }, { "\\s", "\r", "\f", "\v" }, { "\\S", "x" }, { "a\\tb", "a\tb" },
	{ "a\\r$", "a\r\n" }, { "a\\.b", "a.b" }, { "\\\\", "\\" },
	{ "\\{\\}\\[\\]\\(\\)\\*\\+\\?\\|\\^\\$\\/", "{}[]()*+?|^$/" },

	/* Ends of words. */
	{ "\\bab\\b", "x ab.", "ab", BUT_NOT, "xab", "ab_" }, { "\\<ab\\>", "ab\n" },
	{ "a\\Bb", "ab", BUT_NOT, "a b" }, { "\\B-", " -" }, { "a\\>", "a", BUT_NOT, "ab" },
	{ "a\\b", "ba\n" }, { "\\<^a", "a" }, { "^\\ba", "a" }, { "a$\\b", "a" },

	/* Without case. */
	{ "(?i)error", "ERRor" }, { "(?i)ERROR", "error" }, { "(?i)[a-c]x", "BX" },
	{ "(?i)[[:upper:]]", "a" }, { "(?i)a|b", "B" }, { "(?i)@", "@", BUT_NOT, "`" },
	/* A UTF-8 character is repeated as a whole; a dot is one byte. */
	{ "^\303\251+$", "\303\251\303\251", BUT_NOT, "\303\251\251" }, { "^\303\251?$", "\n" },
	{ "^..$", "\303\251" }, { "^\351+$", "\351\351" }, { "^\\\351", "\351" },
	{ "[^a]", "\377" },
	{ "(timeout|refused|reset) [a-z]+", "connection reset by peer", BUT_NOT,
	    "connection reset: 7" },
	{ "[a-z]+: error", "gcc: error: no input files", BUT_NOT, "GCC: error" },
	{ "^.*a", "eea", BUT_NOT, "eeb" },
	/* Found by the fuzzer: a start that is reached in the middle of a line. */
	{ "^.*[]a]", "ee.ab/bo1.crB(" }, { "^.*[a-]|x\\S", "Ao-)" },
	{ "^\\S{0}.*{0,2}{2}()1", "b1(/.rAB" },
	/* No line goes on behind a newline. */
	{ "ab", BUT_NOT, "a\nb" }, { "a.b", BUT_NOT, "a\nb" }, { "a[^x]b", BUT_NOT, "a\nb" },
	{ "a\\sb", BUT_NOT, "a\nb" }, { "a[[:space:]]b", BUT_NOT, "a\nb" },
	{ "a\\Wb", BUT_NOT, "a\nb" }, { "a\\Db", BUT_NOT, "a\nb" },
	{ "a[[:cntrl:]]b", BUT_NOT, "a\nb" }, { "a$.?b", BUT_NOT, "a\nb" },
	/* What never matches. */
	{ "a^b", BUT_NOT, "ab" }, { "a$b", BUT_NOT, "ab" },
	{ "[[:alpha:]]", BUT_NOT, "1", "\303\251" }, { "a\\B$", BUT_NOT, "a" },
	{ "\\<b", BUT_NOT, "ab" }, { "\\>^a", BUT_NOT, "a" }, { "(?i)[^a]", BUT_NOT, "A" },
	{ "(?i)\303\251", BUT_NOT, "\303\211" }, { "(?i)[[]", BUT_NOT, "{" },
	/* glibc forgets the anchor in the copies of a repeated group. */
	{ "(^a){2,}", BUT_NOT, "aa" }, { "(\\<[^abc]){2}", BUT_NOT, "*c.ae*1 :" },
	{ "\\(^a{0,2}\\*", BUT_NOT, "(a*" }
};

/* Whole, byte by byte, and, if it matches, as the last line of two. */
static void check_stream(const char *text, const char *stream, bool want) {
	size_t length = strlen(stream);
	char second[256];

	EQUAL(text, matches(stream, length, length + 1), want);
	EQUAL(text, matches(stream, length, 1), want);
	if (length == 0 || *text == '.' || !want)
		return;
	length = (size_t)snprintf(second, sizeof second,
	    "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n%s", stream);
	HOLDS(text, matches(second, length, length));
}

/* An empty stream has no lines; there is no line behind the last newline. */
TEST(what_matches) {
	for (size_t i = 0; i < LENGTH(cases); i++) {
		bool want = true;

		compile(cases[i][0]);
		for (size_t j = 1; j < 6 && cases[i][j] != NULL; j++)
			if (strcmp(cases[i][j], BUT_NOT) == 0)
				want = false;
			else
				check_stream(cases[i][0], cases[i][j], want);
	}
}

struct row {
	const char *text, *stream;
};

#define PARENS50 "(((((((((((((((((((((((((((((((((((((((((((((((((("

/* Why a pattern is refused, and at which byte. */
static const char *refusal_of(const char *text) {
	static char room[128];
	struct pattern_error error = { "accepted", 0 };

	HOLDS(text, !pattern_compile(&pattern, text, strlen(text), &error));
	snprintf(room, sizeof room, "%s at %zu", error.why, error.at);
	return room;
}

TEST(what_is_refused) {
	static const char *const rows[][6] = { { "the pattern is empty at 0", "" },
		{ "the pattern is empty at 4", "(?i)" }, { "( without ) at 0", "(" },
		{ "( without ) at 1", "a(b" }, { ") without ( at 1", "a)" },
		{ ") without ( at 3", "(a))" },
		{ "(? is not supported, but for (?i) at the start at 0", "(?:a)" },
		{ "(? is not supported, but for (?i) at the start at 1", "a(?i)b" },
		{ "nothing to repeat at 0", "*a", "{1}" },
		{ "nothing to repeat at 2", "a|*b", "a$+", "\\b?" },
		{ "nothing to repeat at 1", "^*" },
		{ "not a count: for a brace write \\{ at 1", "a{", "a{}", "a{1", "a{x}", "a{-1}" },
		{ "counts that run backwards at 1", "a{2,1}" },
		{ "a count above 1000 at 2", "a{1001}" },
		{ "a count above 1000 at 4", "a{1,1001}" },
		{ "the pattern is too large at 15", "(a{1000}){1000}" },
		{ "the pattern is too large at 20", "a{1000}b{1000}c{100}",
		    "((((a{9}){9}){9}){9}){9}" },
		{ "the pattern is too large at 13", "(a|b){0,1000}" },
		{ "a backslash with nothing after it at 0", "\\" },
		{ "a backslash with nothing after it at 2", "ab\\" },
		{ "back-references are not supported at 3", "(a)\\1" },
		{ "back-references are not supported at 0", "\\9" },
		{ "unknown escape at 0", "\\0", "\\'" },
		{ "a newline never matches at 1", "a\\n", "a\nb", "a\\\nb", "[\n]" },
		{ "[ without ] at 0", "[", "[]", "[^]", "[a-" },
		{ "a range that runs backwards at 1", "[z-a]" },
		{ "a range without a start at 4", "[a-c-e]" },
		{ "a range without an end at 1", "[a-[:digit:]]" },
		{ "no such class at 1", "[[:nope:]]", "[[:alpha]]", "[[.a.]]", "[[=a=]]" },
		{ "[:class:] belongs inside of [] at 1", "x[:alpha:]" },
		{ "in [] a backslash is \\\\, and there are no escapes at 1", "[\\d]" },
		{ "in [] a backslash is \\\\, and there are no escapes at 2", "[^\\]]" },
		{ "only ASCII in [] at 1", "[\303\251]" },
		{ "parentheses nested too deeply at 250",
		    PARENS50 PARENS50 PARENS50 PARENS50 PARENS50 "(" } };

	ALIKE(rows, refusal_of);
}

TEST(the_greatest_patterns) {
	char text[3000];

	memset(text, '(', 250);
	memset(text + 250, ')', 250);
	text[500] = '\0';
	compile(text);
	compile("a{1000}");
	compile("a{0,1000}");
	compile("(a?){1000}");
	compile("(((((){1000}){1000}){1000}){1000}){1000}");
	memset(text, 'a', 2047);
	text[2047] = '\0';
	compile(text);
	HOLDS("2047", matches(text, 2047, 64));
	HOLDS("2046", !matches(text, 2046, 64));
}

TEST(a_nul_is_a_byte_like_others) {
	struct pattern_error error;

	HOLDS("a.b", pattern_compile(&pattern, "a.b", 3, &error));
	HOLDS("a.b", matches("xa\0b", 4, 4));
	HOLDS("NUL", pattern_compile(&pattern, "a\0b", 3, &error));
	HOLDS("NUL", matches("\0a\0b\0", 5, 5));
	HOLDS("NUL", !matches("ab", 2, 2));
	HOLDS("cntrl", pattern_compile(&pattern, "x[[:cntrl:]]", 12, &error));
	HOLDS("cntrl", matches("x\0", 2, 2));
}

/* A match is known with the byte behind it, or at the end. */
TEST(when_a_match_is_seen) {
	static const struct row rows[] = { { "xab", "z" }, { "ab", "\n" }, { "xc", "\n" },
		{ "d", " " } };

	compile("ab|c$|d\\>");
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *first = rows[i].text, *second = rows[i].stream;

		pattern_start(&pattern);
		HOLDS(first, !pattern_feed(&pattern, first, strlen(first)));
		HOLDS(first, pattern_feed(&pattern, second, 1));
		HOLDS(first, pattern_feed(&pattern, "", 0));
		HOLDS(first, pattern_feed(&pattern, "zz", 2));
		HOLDS(first, pattern_end(&pattern));
		pattern_start(&pattern);
		HOLDS(first, !pattern_feed(&pattern, first, strlen(first)));
		HOLDS(first, pattern_end(&pattern));
	}
	pattern_start(&pattern);
	HOLDS("nothing", !pattern_feed(&pattern, "", 0));
	HOLDS("nothing", !pattern_end(&pattern));
}

/* Strings of all kinds, at each offset in a block and across each cut. */
TEST(where_a_string_is_found) {
	static const struct row rows[] = { { "needle", "needle" }, { "(?i)needle", "nEEdLe" },
		{ "q!", "q!" }, { "Z", "Z" }, { "(needle|haystack|Zx)", "haystack" },
		{ "[0-9]{2,4}needle", "1234needle" }, { "[a-z]+: error", "x: error" },
		{ "^-* needle|Zx", "Zx" },
		{ "a long needle that goes on$", "a long needle that goes on" },
		{ "[0-9].*needle", "7 of needle" } };
	char stream[256];

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *text = rows[i].text;
		size_t length = strlen(rows[i].stream);

		compile(text);
		for (size_t at = 0; at < 150; at++) {
			memset(stream, '.', sizeof stream);
			memcpy(stream + at, rows[i].stream, length);
			EQUAL(text, matches(stream, at + length, 256), true);
			EQUAL(text, matches(stream, at + length, 37), true);
			EQUAL(text, matches(stream, at + length - 1, 37), false);
		}
	}
}

/* A chunk so long that it is cut into lanes: a match may lie across two of
 * them, or begin in the first one. */
TEST(a_long_chunk) {
	static const struct row rows[] = { { "needle", "needle" }, { "^needle$", "\nneedle\n" },
		{ "\\bneedle\\b", " needle " }, { "[a-z]+: error", "x: error" }, { "^$", "\n\n" },
		{ "^.q.*Z", "Z" }, { "q\\.*Z", "Z" } };
	char stream[1031];

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *text = rows[i].text;
		size_t length = strlen(rows[i].stream);

		compile(text);
		for (size_t at = 2; at <= sizeof stream - length; at++) {
			memset(stream, '.', sizeof stream);
			stream[1] = 'q';
			memcpy(stream + at, rows[i].stream, length);
			EQUAL(text, matches(stream, sizeof stream, 5000), true);
			stream[at + length / 2] = '~';
			EQUAL(text, matches(stream, sizeof stream, 5000), false);
		}
	}
}

/* A small pattern touches only few pages of its struct. */
TEST(the_size) { HOLDS("size", sizeof pattern <= 320 * 1024); }
