/*
 * Covers match/pattern.
 *
 * Several texts gathered in one pattern match the same lines as each text by itself, whatever the
 * stream is and however it is cut into chunks. Streams are random, and made of pieces of the
 * texts, so that many lines match and more nearly match. tools/preset.c has the captures.
 */
#include "unit.h"
#include "match/pattern.h"
#include "tools/preset.h"
#include "text/hash.h"

enum { TEXTS = 64, STREAM = 1 << 14, TRIALS = 5, SHORT = 300 };

/* All texts in one, and each by itself; too large for the stack. */
static struct pattern gathered, singles[TEXTS];
static const char *texts[TEXTS];
static size_t count, seen_in_all, presets;

static char stream[STREAM];
static size_t length;

/* The same numbers each time. */
static uint32_t chance(uint64_t below) {
	static uint64_t seed = 1;

	return (uint32_t)(hash_draw(&seed) % below);
}

/* Feeds the stream in pieces of up to most bytes. */
static bool feed(struct pattern *pattern, uint32_t most) {
	pattern_start(pattern);
	for (size_t at = 0; at < length;) {
		size_t left = length - at, piece = 1 + chance(most);

		if (piece > left)
			piece = left;
		pattern_feed(pattern, stream + at, piece);
		at += piece;
	}
	return pattern_end(pattern);
}

/* Which of the texts a stream matches, each by itself. */
static uint64_t one_by_one(void) {
	uint64_t seen = 0;

	for (size_t n = 0; n < count; n++)
		if (feed(&singles[n], STREAM))
			seen |= UINT64_C(1) << n;
	return seen;
}

static void check_stream(const char *row) {
	static const uint32_t most[] = { STREAM, STREAM, 1, 7, 100, 1000 };
	uint64_t want = one_by_one();

	for (size_t i = 0; i < LENGTH(most); i++) {
		uint64_t got = 0;
		bool all = feed(&gathered, most[i]);

		for (uint32_t n = 0; n < count; n++)
			if (pattern_seen(&gathered, n))
				got |= UINT64_C(1) << n;
		EQUAL(row, (int64_t)got, (int64_t)want);
		EQUAL(row, all, got == UINT64_MAX >> (TEXTS - count));
		for (uint64_t bits = got; bits != 0; bits &= bits - 1) seen_in_all++;
	}
}

static void put(const char *bytes, size_t more) {
	if (more > sizeof stream - length)
		more = sizeof stream - length;
	memcpy(stream + length, bytes, more);
	length += more;
}

/* A text that a simple expression matches. */
static void put_way(const char *at) {
	size_t end = strcspn(at, "|");

	for (size_t i = 0; i < end; i++) {
		char digit = (char)('0' + chance(10));

		if (at[i] == '[' && strcspn(at + i, "]") < end - i) {
			put(chance(2) ? &digit : at + i + 1, 1);
			i += strcspn(at + i, "]");
		} else if (at[i] == '\\')
			continue;
		else if (strchr("()^?+*$", at[i]) == NULL)
			put(at + i, chance(200) ? 1 : 0);
	}
}

/* A piece of a text, from a random place on. */
static void put_piece(void) {
	const char *text = texts[chance(count)];
	const char *at = text + chance(strlen(text));

	while (at > text && at[-1] != '|' && at[-1] != '(') at--;
	put_way(at);
}

static void put_filler(void) {
	static const char *const fillers[] = { " ", "\n", "\n", ": ", "\n\n", "404", "503 ",
		"429\n", "(5", ".", "-", "\xff", "\0", "_",
		"a line that says nothing of interest to anybody\n", "Connection", "error: ", "^",
		"\"", "  ", "npm ERR! ", "curl: " };
	const char *filler = fillers[chance(LENGTH(fillers))];

	put(filler, *filler == '\0' ? 1 : strlen(filler));
}

static void make_stream(size_t most) {
	length = 0;
	while (length < most)
		if (chance(2) == 0)
			put_piece();
		else
			put_filler();
}

static void add(const char *text) {
	struct pattern_error error = { "", 0 };

	if (text == NULL)
		return;
	if (count == 0)
		pattern_gather(&gathered);
	if (count == TEXTS || !pattern_add(&gathered, text, strlen(text), &error))
		return;
	if (texts[count] != text)
		HOLDS(text, pattern_compile(&singles[count], text, strlen(text), &error));
	texts[count++] = text;
}

/* Adds the texts of a row; returns its name. */
static const char *add_preset(size_t index) {
	struct preset row;

	preset_at(index, &row);
	add(row.err.fatal);
	add(row.err.transient);
	add(row.err.failed);
	add(row.out.fatal);
	add(row.out.transient);
	add(row.out.failed);
	return row.name;
}

static void check_streams(const char *row) {
	for (int i = 0; i < TRIALS; i++) {
		make_stream(i == 0 ? STREAM / 2 : 1 + chance(SHORT));
		check_stream(row);
	}
	length = 0;
	check_stream(row);
}

/* Each preset by itself: all are compiled together, and each text is found where it matches. */
TEST(presets) {
	struct preset row;

	for (presets = 0; preset_at(presets, &row); presets++) {
		const char *name;

		count = 0;
		name = add_preset(presets);
		if (count == 0)
			continue;
		length = 0;
		put("\n", 1);
		feed(&gathered, 1);
		EQUAL(name, gathered.ere.texts, (int64_t)count);
		check_streams(name);
	}
	HOLDS("matches", seen_in_all > 1000);
}

/* As many texts as fit, which are those of several presets. */
TEST(many_presets) {
	for (size_t i = 0; i < presets; i += 19) {
		count = 0;
		for (size_t j = 0; count < TEXTS && j < presets; j++)
			add_preset((i + j * 5) % presets);
		HOLDS("several", count > 1);
		check_streams("many");
	}
}

/* What only users write: anchors, empty matches, upper case. */
TEST(other_texts) {
	static const char *const others[] = { "^$", "a$", "\\berror\\b", "x*", "(?i)CONNECTION",
		"4.*3", "\\Bion", "e\\>", "^curl", "^", "$", "nothing +of", "\\<an|(b|c)d$",
		"[^a-z ]$", ".", "5$|^5", " $" };

	for (size_t i = 0; i < 40; i++) {
		count = 0;
		for (size_t j = 0; j < 1 + i % 9; j++) add(others[chance(LENGTH(others))]);
		check_streams("others");
	}
}

static bool adds(const char *text) {
	struct pattern_error error;

	return pattern_add(&gathered, text, strlen(text), &error);
}

/* Whether both texts have room in one pattern. */
static bool fit(const char *fatal, const char *transient) {
	pattern_gather(&gathered);
	return (fatal == NULL || adds(fatal)) && (transient == NULL || adds(transient));
}

/* The lines of a preset on a stream are one pattern, which is faster. */
TEST(a_preset_fits) {
	struct preset row;

	for (size_t i = 0; preset_at(i, &row); i++) {
		HOLDS(row.name, fit(row.err.fatal, row.err.transient));
		HOLDS(row.name, fit(row.out.fatal, row.out.transient));
	}
}

/* There is room for two texts of any length, and then for no other. */
TEST(room) {
	static char text[ERE_LARGEST];

	memset(text, 'a', ERE_LARGEST - 10);
	HOLDS("long", fit("a{1000}a{1000}", text));
	HOLDS("no room", !adds("b{58}"));
	HOLDS("little", adds("b{20}"));
	pattern_gather(&gathered);
	for (int i = 0; i < ERE_TEXTS; i++) HOLDS("64", adds("b"));
	HOLDS("65", !adds("b"));
	HOLDS("not yet", !pattern_feed(&gathered, "a", 1));
	HOLDS("all", pattern_feed(&gathered, "b\n", 2));
	HOLDS("counted", fit("a{3}", "b{3}"));
	HOLDS("no room", !adds("c{2048}"));
	HOLDS("as it was", pattern_feed(&gathered, "aaabbb\n", 7));
}
