/*
 * pattern is compared with glibc's regexec, line by line, and with itself:
 * however a stream is cut into chunks, the answer is the same. The first byte
 * of the input says how to read the rest: a pattern is made of pieces that mean
 * the same to both, or of any bytes, which glibc does not judge.
 */
#include <regex.h>
#include <stdio.h>
#include "fuzz.h"
#include "match/pattern.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

enum {
	TEXT = 64, /* of what glibc is given */
	PATTERN = 48, /* pieces */
	LONG = 4096,
};

static const char *const pieces[] = { "a", "b", "c", "_", " ", "1", "-", "A", "ab", "bc", "error",
	"x", "(", ")", "(", ")", "|", "|", "*", "+", "?", "{2}", "{0,2}", "{1,3}", "{2,}", "{,2}",
	"{0}", "{3,2}", "{", "}", ".", ".*", "^", "$", "\\b", "\\B", "\\<", "\\>", "\\w", "\\W",
	"\\s", "\\S", "\\d", "\\D", "\\t", "\\.", "\\*", "\\(", "\\\\", "[abc]", "[^abc]", "[a-c1]",
	"[]a]", "[^]a]", "[a-]", "[-a]", "[[:alpha:]]", "[[:digit:]_]", "[^[:space:]]",
	"[[:upper:]]", "[[:punct:]]", "[+--]", "[\\\\a]", "[z-a]", "[a-c-e]", "[[:nope:]]", "[a",
	"\\", "()", "(^a)", "(b$)", "[ab]", "/", ":" };

/* What glibc calls the same: \d and the tab have no name there. */
static const struct {
	const char *ours, *glibc;
} names[] = { { "\\d", "[0-9]" }, { "\\D", "[^0-9]" }, { "\\t", "\t" } };

static const char alphabet[] = "abcabc_ 1-AB.\t\n\nxerro()/:*\\\xc3\xa9";

struct input {
	const uint8_t *at, *end;
};

static struct pattern pattern;

static unsigned take(struct input *input) { return input->at < input->end ? *input->at++ : 0; }

static void fail(const char *what, const char *text, const char *stream, size_t length) {
	fprintf(stderr, "%s: pattern \"%s\", stream \"", what, text);
	for (size_t i = 0; i < length; i++)
		if (stream[i] >= ' ' && stream[i] <= '~')
			fprintf(stderr, "%c", stream[i]);
		else
			fprintf(stderr, "\\x%02x", (unsigned char)stream[i]);
	fprintf(stderr, "\"\n");
	abort();
}

static bool
matches(struct pattern *compiled, const char *stream, size_t length, struct input *cuts) {
	size_t at = 0;

	pattern_start(compiled);
	while (at < length) {
		size_t left = length - at;
		size_t chunk = cuts == NULL ? left : 1 + take(cuts) % 100;

		if (chunk > left)
			chunk = left;
		/* A copy, so that a read past its end shows. */
		char *copy = malloc(chunk);

		memcpy(copy, stream + at, chunk);
		pattern_feed(compiled, copy, chunk);
		free(copy);
		at += chunk;
	}
	return pattern_end(compiled);
}

/* Lines as in pattern: there is none behind the last newline. */
static bool glibc_matches(const regex_t *regex, const char *stream, size_t length) {
	for (size_t at = 0; at < length;) {
		const char *newline = memchr(stream + at, '\n', length - at);
		size_t end = newline ? (size_t)(newline - stream) : length;
		regmatch_t bounds = { (regoff_t)0, (regoff_t)(end - at) };

		if (regexec(regex, stream + at, 1, &bounds, REG_STARTEND) == 0)
			return true;
		at = end + 1;
	}
	return false;
}

/* All ways to cut a stream, and a stream that lies within others. */
static void check_cuts(const char *text, const char *stream, size_t length, struct input cuts) {
	static const uint8_t ones[LONG];
	struct input single = { ones, ones + sizeof ones };
	bool whole = matches(&pattern, stream, length, NULL);

	if (matches(&pattern, stream, length, &cuts) != whole)
		fail("cut", text, stream, length);
	if (matches(&pattern, stream, length, &single) != whole)
		fail("byte by byte", text, stream, length);
}

/* The stream once more behind a line or a run of filler. */
static void check_long(const char *text, const char *stream, size_t length, struct input *input) {
	static const char *const fillers[] = { "x", "a", "\n", " -\n", "erro_A", "ab\n", ".",
		"the quick brown fox\n" };
	static char joined[LONG];
	const char *filler = fillers[take(input) % LENGTH(fillers)];
	size_t before = take(input) * 8, at = 0;

	for (; at < before; at++) joined[at] = filler[at % strlen(filler)];
	memcpy(joined + at, stream, length);
	at += length;
	for (before = at + take(input); at < before; at++) joined[at] = filler[at % strlen(filler)];
	check_cuts(text, joined, at, *input);
}

/*
 * Where a group is repeated glibc forgets the anchors in its copies:
 * (^a){2} matches aa. And its time grows with 3 to the depth of repetitions.
 */
static bool glibc_is_wrong(const char *text) {
	bool anchor = false;
	unsigned depth = 0, counts = 0;

	for (const char *c = text; *c != '\0'; c++) {
		bool escaped = *c == '\\' && c[1] != '\0';

		if (escaped)
			c++;
		depth += !escaped && *c == '(';
		counts += strchr("*+?{", *c) != NULL;
		if (!escaped && *c == ')' && depth > 0)
			depth--;
		if (depth > 0 && strchr(escaped ? "bB<>" : "^$", *c) != NULL)
			anchor = true;
		if (!escaped && *c == ')' && c[1] != '\0' && strchr("*+?{", c[1]) != NULL && anchor)
			return true;
	}
	return counts > 3;
}

/* Makes a pattern of pieces, and what glibc calls the same. */
static void make_text(struct input *input, char *text, char *theirs, bool fold) {
	unsigned count = take(input) % PATTERN;

	strcpy(text, fold ? "(?i)" : "");
	*theirs = '\0';
	for (unsigned i = 0; i < count; i++) {
		const char *ours = pieces[take(input) % LENGTH(pieces)];
		const char *glibc = ours;

		for (size_t n = 0; n < LENGTH(names); n++)
			if (strcmp(names[n].ours, ours) == 0)
				glibc = names[n].glibc;

		/* glibc orders the ranges that it folds in its own way. A
		 * backslash before its name means something else. */
		if ((fold && strcmp(ours, "[a") == 0) ||
		    (glibc != ours && *theirs != '\0' && theirs[strlen(theirs) - 1] == '\\'))
			continue;
		strcat(text, ours);
		strcat(theirs, glibc);
	}
}

static void check_pieces(struct input *input, bool fold) {
	char text[PATTERN * 16], theirs[PATTERN * 16], stream[TEXT + 1] = "";
	struct pattern_error error;
	size_t length = 0;
	bool accepted;
	regex_t regex;

	make_text(input, text, theirs, fold);
	accepted = pattern_compile(&pattern, text, strlen(text), &error);
	if (!accepted && error.at > strlen(text))
		fail("offset", text, "", 0);
	while (input->at < input->end && length < TEXT)
		stream[length++] = alphabet[take(input) % (sizeof alphabet - 1)];
	if (!accepted)
		return;
	if (!glibc_is_wrong(text)) {
		if (regcomp(&regex, theirs, REG_EXTENDED | (fold ? REG_ICASE : 0)) != 0)
			fail("glibc refuses", text, stream, length);
		if (glibc_matches(&regex, stream, length) !=
		    matches(&pattern, stream, length, NULL))
			fail("glibc", text, stream, length);
		regfree(&regex);
	}
	check_cuts(text, stream, length, *input);
	check_long(text, stream, length, input);
}

/* Any bytes: first a pattern, then a stream. */
static void check_bytes(struct input *input) {
	char text[256] = "";
	struct pattern_error error;
	size_t length = take(input), left;

	left = (size_t)(input->end - input->at);
	if (length > left)
		length = left;
	memcpy(text, input->at, length);
	input->at += length;
	if (!pattern_compile(&pattern, text, length, &error)) {
		if (error.at > length || error.why == NULL)
			fail("offset", text, "", 0);
		return;
	}
	left -= length;
	if (left > 1024)
		left = 1024;
	check_cuts(text, (const char *)input->at, left, *input);
	check_long(text, (const char *)input->at, left, input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct input input = { data, data + size };
	unsigned how = take(&input);

	if (how % 4 == 3)
		check_bytes(&input);
	else
		check_pieces(&input, how % 4 == 2);
	return 0;
}
