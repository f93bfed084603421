#include "fleet/question.h"

#include <string.h>
#include "text/number.h"

/* clang-format off */

/*
 * Lua calculates with doubles. All numbers here are whole and less than 2^53,
 * so that every result is exact; S is split to keep its product with q small.
 */
const char question_script[] =
"local key = KEYS[1]\n"
"local n, by, first = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])\n"

/* Redis 5 lets a script write after TIME only if it replicates the effects. */
"if redis.replicate_commands then redis.replicate_commands() end\n"
"local time = redis.call('TIME')\n"
"local T = time[1] * 1000000 + time[2]\n"

/* Whoever asked does not wait any more. */
"if by > 0 and T > by then return {3, 0, 0, 0, 0, 0, T, 0, 0, 0, 0} end\n"

/* Anything else than a whole number of 53 bits is nil: even "nan" is no NaN. */
"local function number(value)\n"
"  value = tonumber(value)\n"
"  if value and value >= 0 and value < 2^53 then return math.floor(value) end\n"
"end\n"
"local head =\n"
"  redis.call('HMGET', key, 'w', 'q', 'm', 'e', 'R', 'S', 'H', 'x')\n"
"for i = 1, 8 do head[i] = number(head[i]) end\n"
"local w, q, m, e, R, S, H, x = unpack(head, 1, 8)\n"

/* A question that tells and wants nothing changes nothing, terms included. A
 * slice of other lengths than those of 1 s to 24 h is nonsense. */
"local asks = n > 0 or #ARGV > 6\n"
"if not (w and w > 16666 and w <= 1440000000 and q and m) then\n"
"  w, q, m = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])\n"
"  e = nil\n"
"elseif asks then\n"
"  q = math.min(q, tonumber(ARGV[2]))\n"
"  m = math.min(m, tonumber(ARGV[3]))\n"
"end\n"

/* A clock that is less than a slice behind the latest epoch is another server's
 * or an earlier reading. */
"local E = math.floor(T / w)\n"
"if e == E + 1 then E = e end\n"

/* The slots that were read: as they were found, and as they are now. */
"local found, slots = {}, {}\n"
"local function parse(text)\n"
"  local r, s, h = string.match(text or '', '^(%d+) (%d+) (%d+)$')\n"
"  return {number(r) or 0, number(s) or 0, number(h) or 0}\n"
"end\n"
"local function slot_of(epoch)\n"
"  local i = epoch % 64\n"
"  if not slots[i] then\n"
"    found[i] = redis.call('HGET', key, i)\n"
"    slots[i] = parse(found[i])\n"
"  end\n"
"  return slots[i]\n"
"end\n"
"local function add(epoch, r, s, h)\n"
"  if r + s + h == 0 or epoch < E - 61 then return end\n"
"  local slot = slot_of(epoch)\n"
"  slot[1], slot[2], slot[3] = slot[1] + r, slot[2] + s, slot[3] + h\n"
"  if r > 0 and (R == 0 or epoch < x) then x = epoch end\n"
"  if epoch >= E - 58 then S = S + s end\n"
"  R, H = R + r, H + h\n"
"end\n"

/*
 * In a new epoch all slots are added up again, and those of the past emptied.
 * If the clock was set back, or the epoch is nonsense, then nobody knows how
 * old a slot is: all retries count as new, and all successes as too old.
 */
"if not (e == E and R and S and H and x) then\n"
"  local all = {}\n"
"  for i = 0, 63 do all[i + 1] = i end\n"
"  all = redis.call('HMGET', key, unpack(all))\n"
"  R, S, H, x = 0, 0, 0, E\n"
"  for i = 0, 63 do found[i], slots[i] = all[i + 1], {0, 0, 0} end\n"
"  for i = 0, 63 do\n"
"    local slot = parse(found[i])\n"
"    if e and e <= E then\n"
"      add(e - (e - i) % 64, slot[1], slot[2], slot[3])\n"
"    else\n"
"      add(E, slot[1], 0, slot[3])\n"
"    end\n"
"  end\n"
"end\n"

/* Successes, retries that were made without the server, and retries that have
 * succeeded: those that certainly count here. */
"local back = 0\n"
"for i = 7, #ARGV, 4 do\n"
"  local epoch = math.floor((T - tonumber(ARGV[i])) / w)\n"
"  add(epoch, tonumber(ARGV[i + 2]), tonumber(ARGV[i + 1]), 0)\n"
"  if epoch > E - 30 then back = back + tonumber(ARGV[i + 3]) end\n"
"end\n"
"add(E, 0, 0, first)\n"

/* They are paid back from the oldest slots that count retries. */
"if back > 0 and R > 0 and tonumber(ARGV[1]) <= w then\n"
"  x = math.max(x, E - 61)\n"
"  repeat\n"
"    local slot = slot_of(x)\n"
"    local paid = math.min(back, slot[1])\n"
"    slot[1], R, back = slot[1] - paid, R - paid, back - paid\n"
"    x = x + 1\n"
"  until slot[1] > 0 or x > E\n"
"  x = x - 1\n"
"end\n"

"local limit = math.floor(S / 1000000) * q\n"
"  + math.floor(S % 1000000 * q / 1000000)\n"
"limit = math.max(m, limit)\n"
"local k = R < limit and n or 0\n"
"add(E, k, 0, 0)\n"

"if asks then\n"
"  local put =\n"
"    {'w', w, 'q', q, 'm', m, 'e', E, 'R', R, 'S', S, 'H', H, 'x', x}\n"
"  for i = 0, 63 do\n"
"    local now = slots[i] and table.concat(slots[i], ' ')\n"
"    if now and now ~= (found[i] or '0 0 0') then\n"
"      put[#put + 1], put[#put + 2] = i, now\n"
"    end\n"
"  end\n"
"  redis.call('HSET', key, unpack(put))\n"
"  redis.call('PEXPIRE', key, math.ceil(w * 66 / 1000))\n"

/*
 * A question that wants nothing is refused where one that wants a retry would
 * be: the server looks at the account, at its memory and at its own state
 * before it looks at the arguments, which no command can use here.
 */
"else\n"
"  redis.call('HGET', key, 'w')\n"
"  local no = redis.pcall('HSET', key, 'w', 0, 'x')\n"
"  if not string.find(no.err, 'wrong number') then return no end\n"
"  no = redis.pcall('PEXPIRE', key, 'x')\n"
"  if not string.find(no.err, 'not an integer') then return no end\n"
"end\n"
"local code = n == 0 and 2 or k\n"
"local next = (x + 62) * w - T\n"
"local pause = 1000000 + H * 500\n"
"return {code, R, limit, S, next, pause, T, H, q, m, w * 60}\n";

/* clang-format on */

const char question_script_sha1[] = "f399089e2f986d881d1c224de4c848c2ae3cd4fb";

/* The server's clock and the script count microseconds. */
#define MICRO INT64_C(1000)

/* Lua calculates with doubles, in which whole numbers up to this are exact. */
#define EXACT_MOST (INT64_C(1) << 53)

/* The script has six arguments, and four for each row. */
#define ARGUMENTS 6
#define ROW 4

/* The numbers of an answer, behind its code: where each one belongs, and its
 * unit. */
#define AT(field) offsetof(struct fleet_answer, field)
static const struct {
	size_t at;
	int64_t unit;
} numbers[] = {
	{ AT(retries), 1 },
	{ AT(limit), 1 },
	{ AT(successes), 1 },
	{ AT(next), MICRO },
	{ AT(pause), MICRO },
	{ AT(now), MICRO },
	{ AT(hosts), 1 },
	{ AT(terms.ratio), 1 },
	{ AT(terms.min), 1 },
	{ AT(terms.window), MICRO },
};
#define NUMBERS (sizeof numbers / sizeof numbers[0])

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

void
question_put(struct resp_request *request,
    const struct fleet_question *question, bool whole)
{
	if (question->forgets) {
		resp_open(request, 3);
		resp_add(request, strview_of("PEXPIRE"));
		add_key(request, question->key);
		resp_add(request, strview_of("0"));
		return;
	}
	/* The command, the script, how many keys follow, and the key. */
	resp_open(request, 4 + ARGUMENTS + ROW * question->count);
	resp_add(request, strview_of(whole ? "EVAL" : "EVALSHA"));
	resp_add(request,
	    strview_of(whole ? question_script : question_script_sha1));
	resp_add(request, strview_of("1"));
	add_key(request, question->key);
	resp_add_number(request, slice_of(question->terms.window));
	resp_add_number(request, question->terms.ratio);
	resp_add_number(request, question->terms.min);
	resp_add_number(request, question->wants ? 1 : 0);
	resp_add_number(request, question->by / MICRO);
	resp_add_number(request, question->first ? 1 : 0);
	for (size_t i = 0; i < question->count; i++) {
		const struct fleet_row *told = &question->told[i];

		resp_add_number(request, up(told->age, MICRO));
		resp_add_number(request, told->successes);
		resp_add_number(request, told->alone);
		resp_add_number(request, told->rescued);
	}
}

bool
question_read(const struct resp_reply *reply,
    const struct fleet_question *question, struct fleet_answer *answer)
{
	nanos longest =
	    slice_of(question->terms.window) * (WINDOW_SLICES + 1) * MICRO;
	int64_t code = reply->numbers[0];
	struct fleet_answer got = { .code = (enum fleet_code)code };
	bool stale = code == FLEET_STALE && question->by > 0;
	bool decides = code == FLEET_GRANTED || code == FLEET_DENIED;
	nanos *window = &got.terms.window;
	int64_t number;

	if (reply->type != RESP_ARRAY || reply->count != 1 + NUMBERS)
		return false;
	if (!stale && (question->wants ? !decides : code != FLEET_NOTED))
		return false;
	for (size_t i = 0; i < NUMBERS; i++) {
		if (stale && numbers[i].at != AT(now))
			continue;
		number = reply->numbers[1 + i];
		if (number < 0 || number > EXACT_MOST)
			return false;
		number *= numbers[i].unit;
		memcpy((char *)&got + numbers[i].at, &number, sizeof number);
	}
	got.next = number_lesser(got.next, longest);
	got.pause = number_lesser(got.pause, longest);
	/* Without what whole slices add to the user's. */
	*window -= *window % (100 * MICRO);
	*answer = got;
	return true;
}

/*
 * A dialog
 */

/* How often a question is asked in another way: with the whole script, of
 * another server, and by another time. */
#define TIMES 3

void
question_open(
    struct dialog *dialog, const struct url_auth *auth, const struct url *url)
{
	dialog->auth = auth;
	dialog->url = *url;
	dialog->asking = dialog->whole = false;
}

void
question_ask(struct dialog *dialog, struct fleet_question *question)
{
	dialog->question = question;
	/* An answer to an earlier question must not tell the time of this. */
	dialog->answer = (struct fleet_answer){ .code = FLEET_CUT };
	dialog->times = 0;
}

void
question_write(struct dialog *dialog, bool anew)
{
	struct resp_request request = { dialog->out, sizeof dialog->out, 0 };
	const struct url_auth *auth = dialog->auth;
	char db[NUMBER_ROOM];
	const char *named[] = { "AUTH", auth->user, auth->password };
	const char *nameless[] = { "AUTH", auth->password };
	const char *database[] = { "SELECT", number_put(db, dialog->url.db) };

	dialog->sent = 0;
	dialog->greetings = 0;
	if (anew)
		dialog->received = 0;
	if (anew && auth->password[0] != '\0') {
		resp_put(&request, auth->user[0] != '\0' ? named : nameless,
		    auth->user[0] != '\0' ? 3 : 2);
		dialog->greetings++;
	}
	if (anew && dialog->url.db > 0) {
		resp_put(&request, database, 2);
		dialog->greetings++;
	}
	if (dialog->asking) {
		resp_put(&request, (const char *const[]){ "ASKING" }, 1);
		dialog->greetings++;
	}
	question_put(&request, dialog->question, dialog->whole);
	dialog->length = resp_length(&request);
}

static const char *
find(struct strview text, const char *words)
{
	return memmem(text.at, text.length, words, strlen(words));
}

static struct strview
words_of(struct strview text)
{
	static const char mark[] = " script: ";
	const char *end = find(text, ", with args beginning with"), *at;
	struct strview rest = text;

	/* Redis and Valkey refuse a long request before they read its command,
	 * and so without NOAUTH: "unauthenticated multibulk length". */
	if (find(text, "unauthenticated ") != NULL)
		return strview_of("NOAUTH Authentication required");
	/* The last mark is before the place in the script, if that is named.
	 * Others are the server's: "ERR ACL failure in script: User ...". */
	while ((at = find(rest, mark)) != NULL) {
		rest =
		    strview_after(text, (size_t)(at - text.at) + strlen(mark));
		if (find(rest, "on @") != NULL)
			end = at;
	}
	if (end != NULL)
		text.length = (size_t)(end - text.at);
	if (text.length > 0 && text.at[text.length - 1] == '.')
		text.length--;
	return text;
}

/*
 * Reads "SLOT HOST:PORT". A host may be an IPv6 address without brackets, and
 * empty or "?" if the server does not know its own.
 */
static bool
read_redirect(struct dialog *dialog, struct strview text)
{
	struct strview host = text, port;
	const char *colon;
	int64_t number;

	strview_part(&host, ' ');
	colon = memrchr(host.at, ':', host.length);
	if (colon == NULL)
		return false;
	port = strview_after(host, (size_t)(colon + 1 - host.at));
	host.length = (size_t)(colon - host.at);
	if (strview_is(host, "?"))
		host.length = 0;
	if ((host.length > 0 && !url_is_host(host)) ||
	    !number_whole(port.at, port.length, &number) || number == 0 ||
	    number > URL_PORT_MOST)
		return false;
	if (host.length > 0) {
		memcpy(dialog->url.host, host.at, host.length);
		dialog->url.host[host.length] = '\0';
	}
	dialog->url.port = (int)number;
	return true;
}

/* Takes an error in the place of the answer: tries another way to ask. */
static enum question_move
take_error(struct dialog *dialog, struct strview text)
{
	/*
	 * Behind a socket there is only one server. A password that goes
	 * through a socket, to a sidecar with TLS, must not go over the network
	 * without it.
	 */
	bool local = dialog->url.host[0] == '\0';
	bool ask = strview_starts(text, "ASK ");
	bool redirected = !local && (ask || strview_starts(text, "MOVED ")) &&
	    read_redirect(dialog, strview_after(text, ask ? 4 : 6));

	if ((!redirected && !strview_starts(text, "NOSCRIPT ")) ||
	    dialog->times++ == TIMES)
		return QUESTION_REFUSED;
	if (redirected) {
		dialog->asking = ask;
		return QUESTION_REDIRECTED;
	}
	dialog->whole = true;
	question_write(dialog, false);
	return QUESTION_WAITS;
}

static enum question_move
take_reply(struct dialog *dialog, const struct resp_reply *reply, nanos left)
{
	struct fleet_question *question = dialog->question;

	if (reply->type == RESP_ERROR) {
		dialog->words = words_of(reply->text);
		return dialog->greetings > 0 ? QUESTION_REFUSED
					     : take_error(dialog, reply->text);
	}
	if (dialog->greetings > 0) {
		dialog->greetings--;
		return reply->type == RESP_SIMPLE &&
			strview_is(reply->text, "OK")
		    ? QUESTION_WAITS
		    : QUESTION_INVALID;
	}
	if (question->forgets && reply->type == RESP_INTEGER)
		dialog->answer.code = FLEET_NOTED;
	else if (!question_read(reply, question, &dialog->answer))
		return QUESTION_INVALID;
	if (dialog->answer.code != FLEET_STALE)
		return QUESTION_ANSWERED;
	if (dialog->times++ == TIMES)
		return QUESTION_INVALID;
	question->by = number_add(dialog->answer.now, number_greater(left, 0));
	question_write(dialog, false);
	return QUESTION_WAITS;
}

enum question_move
question_take(struct dialog *dialog, nanos left)
{
	struct strview rest = { dialog->in, dialog->received };
	enum resp_state state = RESP_WHOLE;
	enum question_move move = QUESTION_WAITS;
	struct resp_reply reply;

	while (move == QUESTION_WAITS &&
	    (state = resp_read(rest, &reply)) == RESP_WHOLE) {
		rest = strview_after(rest, reply.length);
		move = take_reply(dialog, &reply, left);
	}
	if (state == RESP_INVALID)
		return QUESTION_INVALID;
	/* words points to what was taken. */
	if (move != QUESTION_WAITS && move != QUESTION_ANSWERED)
		return move;
	memmove(dialog->in, rest.at, rest.length);
	dialog->received = rest.length;
	return move;
}
