#include "match/pattern.h"

#include <ctype.h>
#include <string.h>
#include "text/date.h"
#include "text/number.h"
#include "text/strview.h"

/* An entry of the table is the row of a state, with FOUND if a match ends
 * before the byte; or UNKNOWN, in which FOUND is set, too. */
#define FOUND 0x8000U
#define UNKNOWN 0xffffU

enum {
	LANES = 4,
	LONG = 1024, /* bytes of a chunk that is cut into lanes */
	BLOCK = 65536, /* bytes that lanes take together */
	WORDS = ERE_NODES / 64,
};

/* The kind of a byte, for the anchors beside it. */
enum kind { LINE, OTHER, WORD, KINDS };

/* What follows from a set of nodes and a byte. */
struct move {
	enum kind before, after;
	unsigned char byte;
	uint64_t found; /* bit n: text n has matched before the byte */
	uint64_t passed[WORDS], to[WORDS]; /* bit n: node n; before, behind */
};

static void
add_node(uint64_t *set, uint32_t node)
{
	set[node / 64] |= UINT64_C(1) << node % 64;
}

/* Follows all paths from node: to matches, and behind the byte. */
static void
follow(const struct ere *ere, struct move *move, uint32_t node)
{
	bool left = move->before == WORD, right = move->after == WORD;
	uint16_t todo[ERE_NODES]; /* only a split leaves one more here */
	size_t count = 0;

	for (todo[count++] = (uint16_t)node; count > 0;) {
		struct ere_node here;
		enum ere_op op;

		node = todo[--count];
		if ((move->passed[node / 64] >> node % 64 & 1) != 0)
			continue;
		add_node(move->passed, node);
		here = ere->nodes[node];
		op = (enum ere_op)here.op;
		if (op == ERE_SPLIT || op == ERE_JUMP)
			todo[count++] = (uint16_t)((int)node + here.argument);
		else if (op == ERE_MATCH)
			move->found |= UINT64_C(1) << here.argument;
		else if ((op == ERE_BYTE && here.argument == move->byte) ||
		    (op == ERE_SET &&
			ere_has(&ere->set[here.argument], move->byte)))
			add_node(move->to, node + 1);
		/* A split has two ways, and an anchor has one if it holds. */
		if (op == ERE_SPLIT ||
		    (op == ERE_LINE_START && move->before == LINE) ||
		    (op == ERE_LINE_END && move->after == LINE) ||
		    (op == ERE_WORD_START && !left && right) ||
		    (op == ERE_WORD_END && left && !right) ||
		    (op == ERE_WORD_EDGE && left != right) ||
		    (op == ERE_WORD_INSIDE && left == right))
			todo[count++] = (uint16_t)(node + 1);
	}
}

/* The row of a state, a new one if needed. Its nodes are behind the pool. */
static uint32_t
row_of(struct pattern *p, struct pattern_state state)
{
	const uint16_t *nodes = p->pool + p->pooled;
	uint64_t hash = state.found * 3 + state.before;
	uint16_t *slot;
	uint32_t row;

	for (uint32_t i = 0; i < state.count; i++)
		hash = (hash ^ nodes[i]) * UINT64_C(0x9e3779b97f4a7c15);
	for (uint32_t at = (uint32_t)(hash >> 40);; at++) {
		const struct pattern_state *known;

		slot = &p->slots[at % PATTERN_SLOTS];
		if (*slot == 0)
			break;
		known = &p->state[*slot - 1];
		if (known->found == state.found &&
		    known->before == state.before &&
		    known->count == state.count &&
		    memcmp(p->pool + known->first, nodes,
			state.count * sizeof *nodes) == 0)
			return (*slot - 1U) * p->classes;
	}
	row = p->states * p->classes;
	state.first = (uint16_t)p->pooled;
	p->pooled += state.count;
	p->state[p->states] = state;
	*slot = (uint16_t)++p->states;
	memset(p->next + row, 0xff, p->classes * sizeof *p->next);
	return row;
}

/* Empties the table. The first rows are states in which no match has begun. */
static void
empty(struct pattern *p)
{
	p->states = 0;
	p->pooled = 0;
	memset(p->slots, 0, sizeof p->slots);
	for (int kind = 0; kind < KINDS; kind++)
		row_of(p, (struct pattern_state){ .before = (uint8_t)kind });
}

/* The row of the state at a place behind this byte, if no match has begun. */
static uint32_t
start_behind(const struct pattern *p, unsigned char byte)
{
	return p->kind[byte] * p->classes;
}

/* Computes the entry for byte in a row, and keeps it. There must be room. */
static uint32_t
learn(struct pattern *p, uint32_t row, unsigned char byte)
{
	const struct pattern_state *from = &p->state[row / p->classes];
	uint32_t start = from->before * p->classes, column = p->class[byte];
	struct pattern_state to = { .before = p->kind[byte] };
	struct move move = {
		.before = from->before, .after = p->kind[byte], .byte = byte
	};

	p->toil += p->ere.count;
	if (row == start) {
		for (uint32_t n = 0; n < p->ere.texts; n++)
			follow(&p->ere, &move, p->ere.begin[n]);
	} else {
		/* A match may also begin here, as it does from the start. */
		uint32_t begun = p->next[start + column];
		const struct pattern_state *state;

		if (begun == UNKNOWN)
			begun = learn(p, start, byte);
		state = &p->state[(begun & ~FOUND) / p->classes];
		move.found = state->found;
		for (uint32_t i = 0; i < state->count; i++)
			add_node(move.to, p->pool[state->first + i]);
	}
	for (uint32_t i = 0; i < from->count; i++)
		follow(&p->ere, &move, p->pool[from->first + i]);

	to.found = move.found;
	for (uint32_t word = 0; word < WORDS; word++)
		for (uint64_t bits = move.to[word]; bits != 0; bits &= bits - 1)
			p->pool[p->pooled + to.count++] = (uint16_t)(word * 64 +
			    (uint32_t)__builtin_ctzll(bits));
	p->next[row + column] =
	    (uint16_t)(row_of(p, to) | (to.found != 0 ? FOUND : 0));
	return p->next[row + column];
}

/* Whether the latest call has computed for some milliseconds. */
static bool
is_tired(const struct pattern *p)
{
	return p->toil >= PATTERN_TOIL;
}

/* Takes a byte. False, with nothing changed, if its entry is unknown, and the
 * table is too full for it, or the call is tired. */
static bool
take(struct pattern *p, uint32_t *row, unsigned char byte)
{
	uint32_t to = p->next[*row + p->class[byte]];

	if (to == UNKNOWN) {
		/* learn() adds two states of any nodes at most. */
		if (is_tired(p) || p->states + 2 > PATTERN_STATES ||
		    (p->states + 2) * p->classes > PATTERN_CELLS ||
		    p->pooled + 2 * p->ere.count > PATTERN_POOL)
			return false;
		to = learn(p, *row, byte);
	}
	if ((to & FOUND) != 0)
		p->seen |= p->state[(to & ~FOUND) / p->classes].found;
	*row = to & ~FOUND;
	return true;
}

/*
 * Runs from at, which is before end: up to end, or behind a byte before which a
 * match ends, or until it has computed for some milliseconds.
 */
static const unsigned char *
run(struct pattern *p, const unsigned char *at, const unsigned char *end,
    bool *found)
{
	uint32_t row = p->row;
	bool ends = false;

	do {
		/* The column is computed first: it does not depend on the
		 * state, so the processor need not wait for the byte before. */
		const uint16_t *column = p->next + p->class[*at];
		uint32_t to = column[row];

		if ((to & FOUND) == 0) {
			row = to;
			continue;
		}
		if (!take(p, &row, *at)) {
			struct pattern_state state = p->state[row / p->classes];
			uint16_t nodes[ERE_NODES];

			if (is_tired(p))
				break;
			/* Empties the table, but for the state. */
			memcpy(nodes, p->pool + state.first,
			    state.count * sizeof *nodes);
			empty(p);
			memcpy(p->pool, nodes, state.count * sizeof *nodes);
			row = row_of(p, state);
			take(p, &row, *at);
		}
		ends = p->state[row / p->classes].found != 0;
	} while (++at < end && !ends);
	p->row = row;
	*found = ends;
	return at;
}

/*
 * Moves all lanes on, from this byte of each, up to a byte that take() has to
 * take in one of them. Returns which byte that is, length if there is none.
 */
__attribute__((noinline)) static size_t
run_abreast(const struct pattern *p, const unsigned char *bytes, size_t from,
    size_t length, uint32_t *row)
{
	const uint16_t *next = p->next;
	const uint8_t *class = p->class;
	size_t rows[LANES], to[LANES];

	for (int n = 0; n < LANES; n++)
		rows[n] = row[n];
	for (; from < length; from++) {
		const unsigned char *at = bytes + from;
		size_t all = 0;

		/* Unrolled, and without the caller's variables, all rows are
		 * in registers. */
#pragma GCC unroll 4
		for (size_t n = 0; n < LANES; n++) {
			to[n] = (next + class[at[n * length]])[rows[n]];
			all |= to[n];
		}
		if ((all & FOUND) != 0)
			break;
#pragma GCC unroll 4
		for (int n = 0; n < LANES; n++)
			rows[n] = to[n];
	}
	for (int n = 0; n < LANES; n++)
		row[n] = (uint32_t)rows[n];
	return from;
}

/*
 * Runs lanes of this length side by side. Returns up to where the stream has
 * been taken: not to the end of the lanes if the table is full, or if it was
 * computed for some milliseconds.
 */
static const unsigned char *
run_lanes(struct pattern *p, const unsigned char *bytes, size_t length)
{
	uint32_t row[LANES] = { p->row };
	size_t i = 0;

	for (size_t n = 1; n < LANES; n++)
		row[n] = start_behind(p, bytes[n * length - 1]);
	for (; (i = run_abreast(p, bytes, i, length, row)) < length; i++)
		for (size_t n = 0; n < LANES; n++)
			if (!take(p, &row[n], bytes[n * length + i])) {
				p->row = row[0];
				return bytes + i + (n > 0);
			}

	p->row = row[0];
	for (size_t n = 1; n < LANES; n++) {
		const unsigned char *at = bytes + n * length;
		const unsigned char *end = at + length;
		uint32_t other = start_behind(p, at[-1]);

		for (; at < end && p->row != other; at++)
			if (!take(p, &other, *at) || !take(p, &p->row, *at))
				return at;
		if (p->row == other)
			p->row = row[n];
	}
	return bytes + LANES * length;
}

/*
 * Finds the kinds of bytes, and the classes, whose bytes no node tells apart.
 */
static void
classify(struct pattern *p)
{
	const struct ere *ere = &p->ere;
	uint16_t class[256];

	for (int byte = 0; byte < 256; byte++) {
		uint8_t kind = OTHER;

		if (ere->lines && byte == '\n')
			kind = LINE;
		if (ere->words && (isalnum(byte) || byte == '_'))
			kind = WORD;
		p->kind[byte] = kind;
		class[byte] = kind;
	}
	for (uint32_t n = 0; n < ere->count; n++)
		if (ere->nodes[n].op == ERE_BYTE)
			class[ere->nodes[n].argument] =
			    (uint16_t)(KINDS + ere->nodes[n].argument);
	/* Each set divides each class into two: first the empty one, which only
	 * gives them their numbers. */
	for (uint32_t n = 0; n <= ere->sets; n++) {
		uint16_t number[2][KINDS + 256] = { { 0 } }; /* plus 1 */

		p->classes = 0;
		for (int byte = 0; byte < 256; byte++) {
			bool in = n > 0 &&
			    ere_has(&ere->set[n - 1], (unsigned char)byte);
			uint16_t *known = &number[in][class[byte]];

			if (*known == 0)
				*known = (uint16_t)++p->classes;
			class[byte] = (uint16_t)(*known - 1);
		}
	}
	for (int byte = 0; byte < 256; byte++)
		p->class[byte] = (uint8_t)(class[byte]);
}

/* Makes the automaton for the nodes. */
static void
prepare(struct pattern *p)
{
	const struct ere_node *node = p->ere.nodes;

	p->prefixed = 0;
	while (p->ere.texts == 1 && p->prefixed < PATTERN_PREFIX &&
	    node->op == ERE_BYTE)
		p->prefix[p->prefixed++] = (unsigned char)node++->argument;
	/* A short prefix is found sooner by the table. */
	if (p->prefixed < 4)
		p->prefixed = 0;
	classify(p);
	empty(p);
	p->ready = true;
	p->row = start_behind(p, '\n');
}

/*
 * Takes some of the bytes, of which there is one at least. If *found becomes
 * true, a match ends before the last one taken. If slow is no NULL, it is the
 * first match in these bytes, and the only one; lanes have found matches, or
 * none was sought, before *slow.
 */
static const unsigned char *
advance(struct pattern *p, const unsigned char *at, const unsigned char *end,
    const unsigned char **slow, bool *found)
{
	const unsigned char *from = at;
	uint64_t seen = p->seen;
	uint32_t row;
	size_t length;

	if (!p->ready)
		prepare(p);
	/* In a state in which no match has begun, the first byte of interest is
	 * that of the prefix. */
	if (p->prefixed > 0 && p->row < KINDS * p->classes &&
	    (size_t)(end - at) >= p->prefixed) {
		at = memmem(at, (size_t)(end - at), p->prefix, p->prefixed);
		if (at == NULL)
			at = end - p->prefixed + 1;
		if (at > from)
			p->row = start_behind(p, at[-1]);
		from = at;
	}

	length = (size_t)(end - at);
	if (length > BLOCK)
		length = BLOCK;
	row = p->row;
	/* Lanes take nothing if the table is full. */
	if (length >= LONG && (slow == NULL || from >= *slow)) {
		p->seen = slow == NULL ? seen : 0;
		at = run_lanes(p, at, length / LANES);
		/* Lanes do not tell where a match ends. */
		if (slow != NULL && p->seen != 0) {
			p->row = row;
			at = from;
			*slow = from + length;
		}
		p->seen |= seen;
	}
	return at > from ? at : run(p, from, from + length, found);
}

void
pattern_gather(struct pattern *pattern)
{
	ere_clear(&pattern->ere);
	pattern->ready = false;
	pattern_start(pattern);
}

bool
pattern_add(struct pattern *pattern, const char *text, size_t length,
    struct pattern_error *error)
{
	if (!ere_add(&pattern->ere, text, length, error))
		return false;
	pattern->all = UINT64_MAX >> (ERE_TEXTS - pattern->ere.texts);
	return true;
}

bool
pattern_compile(struct pattern *pattern, const char *text, size_t length,
    struct pattern_error *error)
{
	pattern_gather(pattern);
	return pattern_add(pattern, text, length, error);
}

void
pattern_start(struct pattern *pattern)
{
	pattern->unended = false;
	pattern->seen = 0;
	if (pattern->ready)
		pattern->row = start_behind(pattern, '\n');
}

size_t
pattern_feed_some(struct pattern *pattern, const void *bytes, size_t length)
{
	const unsigned char *at = bytes, *end = at + length;
	bool found;

	pattern->toil = 0;
	while (at < end && pattern->seen != pattern->all && !is_tired(pattern))
		at = advance(pattern, at, end, NULL, &found);
	if (pattern->seen == pattern->all)
		at = end;
	if (length > 0)
		pattern->unended = at[-1] != '\n';
	return length - (size_t)(end - at);
}

bool
pattern_feed(struct pattern *pattern, const void *bytes, size_t length)
{
	const unsigned char *at = bytes, *end = at + length;

	while (at < end)
		at += pattern_feed_some(pattern, at, (size_t)(end - at));
	return pattern->seen == pattern->all;
}

bool
pattern_end(struct pattern *pattern)
{
	return pattern_feed(pattern, "\n", pattern->unended ? 1 : 0);
}

bool
pattern_seen(const struct pattern *pattern, uint32_t n)
{
	return pattern->seen >> n & 1;
}

/*
 * Hints
 */

#define DIGITS "0123456789."
/* Units are made of letters and of the bytes of a micro. */
#define LETTERS \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"\xc2\xb5\xce\xbc"

/* From here on a number alone is a moment in Unix time: no server asks for a
 * wait of 31 years. */
#define EPOCH (1000000000 * NANOS_SECOND)

/* Cuts off those of these bytes with which rest starts. */
static struct strview
cut(struct strview *rest, const char *bytes)
{
	struct strview part = *rest;

	*rest = strview_skip(part, bytes);
	part.length -= rest->length;
	return part;
}

/*
 * Whether a number without a unit may end before this byte: punctuation that
 * ends a sentence or a quotation, a control character, or the first byte of
 * UTF-8 punctuation (U+2000 to U+2FFF).
 */
static bool
stops(char byte)
{
	return (unsigned char)byte < ' ' || byte == '\xe2' ||
	    strchr(" ;!?\"'`\\()[]{}<>|", byte) != NULL;
}

/*
 * Cuts the time off the start of rest. False if there is none; if it may go on
 * behind the last byte, nothing is left of rest. It is not a time of the day.
 */
static bool
cut_span(struct strview *rest, nanos unit, nanos now, nanos *wait)
{
	struct strview text = *rest;
	nanos before = 0; /* the unit of the last part, of "1h" in "1h30m" */
	int64_t moment;

	*wait = 0;
	if (strview_starts(strview_skip(text, DIGITS), "-"))
		cut(rest, DIGITS LETTERS ":+-");
	/* 1994-11-06 08:49:37 UTC */
	if (rest->at - text.at == 10) {
		cut(rest, " ");
		cut(rest, DIGITS ":");
		cut(rest, " ");
		cut(rest, "UTC");
	}
	if (rest->length == 0)
		return false;
	if (date_read(text, now / NANOS_SECOND, &moment) > 0) {
		*wait = date_until(now / NANOS_SECOND, moment);
		return true;
	}
	*rest = text;
	for (;;) {
		struct strview number = cut(rest, DIGITS ","), word;
		nanos size, part;

		cut(rest, " \t");
		word = cut(rest, LETTERS);
		size = duration_unit(word);
		if (rest->length == 0)
			return false;
		/* "Retrying in 5...": the sentence ends. */
		while (number.length > 0 &&
		    strchr(".,", number.at[number.length - 1]) != NULL)
			number.length--;
		if (before == 0 && word.length == 0 && stops(*rest->at)) {
			if (!number_decimal(
				number.at, number.length, unit, wait, NULL))
				return false;
			if (*wait >= EPOCH)
				*wait = number_greater(*wait - now, 0);
			return true;
		}
		if (size == 0 || (before != 0 && size >= before) ||
		    !number_decimal(
			number.at, number.length, size, &part, NULL))
			return before != 0;
		*wait = number_add(*wait, part);
		before = size;
		*rest = strview_skip(*rest, " \t");
		if (rest->length == 0 || !isdigit((unsigned char)*rest->at))
			return rest->length > 0;
	}
}

/* The same for any hint. *is_clock: it is a time of the day. spans: "in" or
 * "after" is before it, so that a clock may be a length of time. */
static bool
cut_hint(struct strview *rest, const struct pattern_hint *hint, bool spans,
    nanos now, nanos *wait, struct clock *clock, bool *is_clock)
{
	*is_clock = clock_cut(rest, clock);
	if (*is_clock)
		return clock->halved || !spans;
	return rest->length > 0 && cut_span(rest, hint->unit, now, wait);
}

void
pattern_hint_start(struct pattern_hint *hint)
{
	pattern_start(&hint->pattern);
	hint->matched = hint->reads = false;
	memset(hint->before, '\n', sizeof hint->before);
	hint->length = hint->told = 0;
}

/* Keeps the last bytes of these. */
static void
keep(struct pattern_hint *hint, const unsigned char *bytes, size_t length)
{
	size_t room = sizeof hint->before;

	if (length > room) {
		bytes += length - room;
		length = room;
	}
	memmove(hint->before, hint->before + length, room - length);
	memcpy(hint->before + room - length, bytes, length);
}

/* Whether the word before the next byte is "in" or "after". */
static bool
may_span(const struct pattern_hint *hint)
{
	const char *start = hint->before, *end = start + sizeof hint->before;
	struct strview word = { end, 0 };

	while (end > start && !isalnum((unsigned char)end[-1]))
		end--;
	for (word.at = end;
	     word.at > start && isalnum((unsigned char)word.at[-1]);)
		word.at--;
	word.length = (size_t)(end - word.at);
	return strview_is(word, "in") || strview_is(word, "after");
}

/* Notes the time in the text behind a match, if it ends there. */
static void
note(struct pattern_hint *hint)
{
	struct strview rest = { hint->text, hint->length };
	struct clock clock;
	bool is_clock;
	nanos unused;

	if (cut_hint(&rest, hint, hint->spans, 0, &unused, &clock, &is_clock)) {
		hint->told = hint->length;
		hint->told_spans = hint->spans;
		memcpy(hint->time, hint->text, hint->length);
	}
	hint->reads = rest.length == 0 && hint->length < PATTERN_HINT;
}

/* Takes the next byte; found: a match ends before it. */
static void
listen(struct pattern_hint *hint, unsigned char byte, bool found)
{
	bool number = hint->length > 0 && isdigit((unsigned char)*hint->text);
	char last = hint->before[sizeof hint->before - 1];

	hint->matched |= found;
	if (found && !(hint->reads && number)) {
		if (hint->reads)
			note(hint);
		hint->reads = true;
		hint->length = 0;
	}
	if (!hint->reads)
		return;
	if (hint->length == 0) {
		number = isdigit(byte) && !isdigit((unsigned char)last);
		/* A date may begin with the name of a day. */
		if (!number && (byte == '\0' || !strchr("MTWFS", byte))) {
			hint->reads =
			    byte != '\0' && strchr(" \t\"'`~", byte) != NULL;
			return;
		}
		hint->spans = may_span(hint);
	}
	hint->text[hint->length++] = (char)byte;
	/* The words of a date have blanks and commas between them. */
	if (number || byte == '\n' || hint->length == PATTERN_HINT)
		note(hint);
}

size_t
pattern_hint_feed(struct pattern_hint *hint, const void *bytes, size_t length)
{
	const unsigned char *at = bytes, *end = at + length, *slow = at;
	struct pattern *pattern = &hint->pattern;

	pattern->toil = 0;
	while (at < end && !is_tired(pattern)) {
		const unsigned char *to = hint->reads ? at + 1 : end;
		const unsigned char *from = at;
		bool found = false;

		while (at < to && !found && !is_tired(pattern))
			at = advance(pattern, at, to, &slow, &found);
		keep(hint, from, (size_t)(at - 1 - from));
		listen(hint, at[-1], found);
		keep(hint, at - 1, 1);
	}
	return length - (size_t)(end - at);
}

enum pattern_told
pattern_hint_end(
    struct pattern_hint *hint, nanos now, nanos *wait, struct clock *clock)
{
	struct strview rest = { hint->time, 0 };
	bool is_clock;

	pattern_hint_feed(hint, "\n", 1);
	rest.length = hint->told;
	if (!cut_hint(
		&rest, hint, hint->told_spans, now, wait, clock, &is_clock))
		return hint->matched ? PATTERN_VAGUE : PATTERN_NOTHING;
	return is_clock ? PATTERN_CLOCK : PATTERN_WAIT;
}
