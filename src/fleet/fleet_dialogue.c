#include "fleet/fleet_dialogue.h"

#include "text/number.h"

#define MICRO INT64_C(1000)

/* A bit of tried. MOVED and ASK share one: there is one redirect. */
#define TRIED(error) (1U << (error))
#define TRIED_STALE (1U << 31)

void
fleet_dialogue_open(
    struct fleet_dialogue *dialogue, const struct fleet_auth *auth, int db)
{
	dialogue->auth = auth;
	dialogue->db = db;
	dialogue->greeted = dialogue->asking = false;
	dialogue->whole = dialogue->timed = false;
	dialogue->next = dialogue->count = 0;
}

void
fleet_dialogue_begin(struct fleet_dialogue *dialogue,
    enum fleet_purpose purpose, const struct fleet_question *question)
{
	dialogue->purpose = purpose;
	dialogue->question = *question;
	dialogue->answer = (struct fleet_answer){ .code = FLEET_DENIED };
	dialogue->tried = 0;
}

void
fleet_dialogue_connected(struct fleet_dialogue *dialogue)
{
	dialogue->greeted = false;
}

static void
await(struct fleet_dialogue *dialogue, enum fleet_awaited reply)
{
	dialogue->awaited[dialogue->count++] = reply;
}

/* Adds AUTH and SELECT. */
static void
add_greeting(struct fleet_dialogue *dialogue, struct resp_request *request)
{
	char db[NUMBER_ROOM];
	const char *words[] = { "SELECT", number_put(db, dialogue->db) };

	if (dialogue->greeted)
		return;
	if (dialogue->auth->password[0] != '\0') {
		fleet_auth_ask(request, dialogue->auth);
		await(dialogue, FLEET_AWAITED_OK);
	}
	if (dialogue->db > 0) {
		resp_put(request, words, 2);
		await(dialogue, FLEET_AWAITED_OK);
	}
	dialogue->greeted = true;
}

bool
fleet_dialogue_write(
    struct fleet_dialogue *dialogue, struct resp_request *request)
{
	static const char *const time[] = { "TIME" };
	static const char *const asking[] = { "ASKING" };

	dialogue->next = dialogue->count = 0;
	add_greeting(dialogue, request);
	if (dialogue->purpose == FLEET_PURPOSE_GREET)
		return dialogue->count > 0;
	if (dialogue->purpose == FLEET_PURPOSE_ASK && dialogue->timed &&
	    dialogue->question.now == 0) {
		resp_put(request, time, 1);
		await(dialogue, FLEET_AWAITED_TIME);
		return true;
	}
	if (dialogue->asking) {
		resp_put(request, asking, 1);
		await(dialogue, FLEET_AWAITED_OK);
	}
	if (dialogue->purpose == FLEET_PURPOSE_FORGET)
		fleet_script_forget(request, dialogue->question.key);
	else
		fleet_script_ask(request, &dialogue->question, dialogue->whole);
	await(dialogue, FLEET_AWAITED_ANSWER);
	return true;
}

/* What follows from an error in the place of the answer. */
static enum fleet_move
take_error(struct fleet_dialogue *dialogue, struct strview text,
    struct fleet_redirect *to)
{
	enum fleet_error error = fleet_error_of(text, to);
	unsigned bit = TRIED(error);

	if (error == FLEET_ERROR_ASK)
		bit = TRIED(FLEET_ERROR_MOVED);
	if ((dialogue->tried & bit) != 0)
		return FLEET_MOVE_REFUSED;
	dialogue->tried |= bit;
	switch (error) {
	case FLEET_ERROR_NOSCRIPT:
		dialogue->whole = true;
		return FLEET_MOVE_WRITE;
	case FLEET_ERROR_MOVED:
	case FLEET_ERROR_ASK:
		dialogue->asking = error == FLEET_ERROR_ASK;
		return FLEET_MOVE_REDIRECT;
	case FLEET_ERROR_TIME:
		dialogue->timed = true;
		return FLEET_MOVE_WRITE;
	case FLEET_ERROR_REFUSED:
		break;
	}
	return FLEET_MOVE_REFUSED;
}

static enum fleet_move
take_time(
    struct fleet_dialogue *dialogue, const struct resp_reply *reply, nanos now)
{
	const int64_t *numbers = reply->numbers;

	if (reply->type != RESP_ARRAY || reply->count != 2 || numbers[0] <= 0 ||
	    numbers[0] >= NANOS_MAX / NANOS_SECOND || numbers[1] < 0 ||
	    numbers[1] >= NANOS_SECOND / MICRO)
		return FLEET_MOVE_INVALID;
	dialogue->question.now = numbers[0] * NANOS_SECOND + numbers[1] * MICRO;
	dialogue->offset = dialogue->question.now - now;
	return FLEET_MOVE_WRITE;
}

static enum fleet_move
take_answer(
    struct fleet_dialogue *dialogue, const struct resp_reply *reply, nanos left)
{
	struct fleet_question *question = &dialogue->question;
	struct fleet_answer *answer = &dialogue->answer;

	if (dialogue->purpose == FLEET_PURPOSE_FORGET)
		return reply->type == RESP_INTEGER ? FLEET_MOVE_END
						   : FLEET_MOVE_INVALID;
	if (!fleet_script_read(reply, question, answer))
		return FLEET_MOVE_INVALID;
	if (answer->code != FLEET_STALE)
		return FLEET_MOVE_END;
	if ((dialogue->tried & TRIED_STALE) != 0)
		return FLEET_MOVE_INVALID;
	dialogue->tried |= TRIED_STALE;
	question->by = number_add(answer->now, number_greater(left, 0));
	if (dialogue->timed)
		question->now = 0;
	return FLEET_MOVE_WRITE;
}

enum fleet_move
fleet_dialogue_take(struct fleet_dialogue *dialogue,
    const struct resp_reply *reply, nanos now, nanos left,
    struct fleet_redirect *to)
{
	enum fleet_awaited awaited = dialogue->awaited[dialogue->next++];

	if (reply->type == RESP_ERROR)
		return awaited == FLEET_AWAITED_ANSWER
		    ? take_error(dialogue, reply->text, to)
		    : FLEET_MOVE_REFUSED;
	if (awaited == FLEET_AWAITED_TIME)
		return take_time(dialogue, reply, now);
	if (awaited == FLEET_AWAITED_ANSWER)
		return take_answer(dialogue, reply, left);
	if (reply->type != RESP_SIMPLE || !strview_is(reply->text, "OK"))
		return FLEET_MOVE_INVALID;
	return dialogue->next == dialogue->count ? FLEET_MOVE_END
						 : FLEET_MOVE_READ;
}
