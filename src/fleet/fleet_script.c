#include "fleet/fleet_script.h"

#include <string.h>
#include "fleet/budget_lua.h"
#include "text/number.h"

/* The server's clock and the script count microseconds. */
#define MICRO INT64_C(1000)

/* Lua calculates with doubles, in which whole numbers up to this are exact. */
#define EXACT_MOST (INT64_C(1) << 53)

/* The script has seven arguments, and three for each row of successes. */
#define ARGUMENTS 7
#define ROW 3

/* The longest window in an answer is longer than the user's because its slices
 * are whole microseconds. */
#define WINDOW_LONGEST (SEGMENT_WINDOW_MOST + WINDOW_SLICES * MICRO)

/* The numbers of an answer. */
enum {
	CODE,
	GRANTED,
	RETRIES,
	LIMIT,
	SUCCESSES,
	NEXT,
	PAUSE,
	NOW,
	HOSTS,
	RATIO,
	MIN,
	WINDOW,
	NUMBERS
};

/* In units, rounded up; at least 0, and exact in the script. */
static int64_t
up(nanos span, int64_t unit)
{
	int64_t units = span / unit + (span % unit > 0);

	return number_lesser(number_greater(units, 0), EXACT_MOST);
}

static int64_t
slice_of(nanos window)
{
	return up(window, WINDOW_SLICES * MICRO);
}

/* Writes FLEET_KEY and the key of a budget as one word. */
static void
add_key(struct resp_request *request, const char *key)
{
	char room[sizeof FLEET_KEY + SEGMENT_KEY] = FLEET_KEY;
	size_t start = strlen(FLEET_KEY), length = strnlen(key, SEGMENT_KEY);

	memcpy(room + start, key, length);
	resp_add(request, (struct strview){ room, start + length });
}

static void
add_terms(struct resp_request *request, const struct terms *terms)
{
	resp_add_number(request, slice_of(terms->window));
	resp_add_number(request, terms->ratio);
	resp_add_number(request, terms->min);
}

static void
add_row(struct resp_request *request, const struct fleet_row *told)
{
	resp_add_number(request, up(told->age, MICRO));
	resp_add_number(request, told->successes);
	resp_add_number(request, told->alone);
}

void
fleet_script_ask(struct resp_request *request,
    const struct fleet_question *question, bool whole)
{
	size_t rows =
	    question->count < FLEET_ROWS ? question->count : FLEET_ROWS;

	/* The command, the script, how many keys follow, and the key. */
	resp_open(request, 4 + ARGUMENTS + ROW * rows);
	resp_add(request, strview_of(whole ? "EVAL" : "EVALSHA"));
	resp_add(request, strview_of(whole ? budget_lua : budget_lua_sha1));
	resp_add(request, strview_of("1"));
	add_key(request, question->key);
	add_terms(request, &question->terms);
	resp_add_number(request, question->wanted);
	resp_add_number(request, question->by / MICRO);
	resp_add_number(request, question->first ? 1 : 0);
	if (question->now > 0)
		resp_add_number(request, question->now / MICRO);
	else
		resp_add(request, strview_of(""));
	for (size_t i = 0; i < rows; i++)
		add_row(request, &question->told[i]);
}

void
fleet_script_forget(struct resp_request *request, const char *key)
{
	resp_open(request, 3);
	resp_add(request, strview_of("PEXPIRE"));
	add_key(request, key);
	resp_add(request, strview_of("0"));
}

/* Whether each number is one that the script can return. */
static bool
plausible(const int64_t *numbers, const struct fleet_question *question)
{
	static const struct {
		int64_t least, most;
	} ranges[NUMBERS] = {
		[CODE] = { FLEET_DENIED, FLEET_NOTED },
		[GRANTED] = { 0, FLEET_WANTED },
		[RETRIES] = { 0, EXACT_MOST },
		[LIMIT] = { 0, EXACT_MOST },
		[SUCCESSES] = { 0, EXACT_MOST },
		[NEXT] = { 0, EXACT_MOST },
		[PAUSE] = { 0, EXACT_MOST },
		[NOW] = { 1, EXACT_MOST },
		[HOSTS] = { 0, EXACT_MOST },
		[RATIO] = { 0, SEGMENT_RATIO_MOST },
		[MIN] = { 0, SEGMENT_MIN_MOST },
		[WINDOW] = { SEGMENT_WINDOW_LEAST / MICRO,
		    WINDOW_LONGEST / MICRO },
	};
	int64_t granted = numbers[GRANTED];

	for (int i = 0; i < NUMBERS; i++) {
		if (numbers[i] < ranges[i].least || numbers[i] > ranges[i].most)
			return false;
	}
	return granted <= question->wanted &&
	    (numbers[CODE] == FLEET_GRANTED) == (granted > 0) &&
	    (numbers[CODE] == FLEET_NOTED) == (question->wanted == 0);
}

/* The window that the users asked for: without what whole slices add to it. */
static nanos
window_of(int64_t window)
{
	return window / 100 * 100 * MICRO;
}

bool
fleet_script_read(const struct resp_reply *reply,
    const struct fleet_question *question, struct fleet_answer *answer)
{
	const int64_t *numbers = reply->numbers;
	int64_t slice = slice_of(question->terms.window);
	int64_t most = slice * (WINDOW_SLICES + 1);

	if (reply->type != RESP_ARRAY || reply->count != NUMBERS)
		return false;
	if (numbers[CODE] == FLEET_STALE && question->by > 0 &&
	    numbers[NOW] > 0 && numbers[NOW] <= EXACT_MOST) {
		*answer = (struct fleet_answer){ .code = FLEET_STALE,
			.now = numbers[NOW] * MICRO };
		return true;
	}
	if (!plausible(numbers, question))
		return false;
	*answer = (struct fleet_answer){
		.code = (enum fleet_code)numbers[CODE],
		.granted = numbers[GRANTED],
		.retries = numbers[RETRIES],
		.limit = numbers[LIMIT],
		.successes = numbers[SUCCESSES],
		.next = number_lesser(numbers[NEXT], most) * MICRO,
		.pause = number_lesser(numbers[PAUSE], most) * MICRO,
		.now = numbers[NOW] * MICRO,
		.hosts = numbers[HOSTS],
		.terms = { .ratio = numbers[RATIO],
		    .min = numbers[MIN],
		    .window = window_of(numbers[WINDOW]) },
	};
	return true;
}
