#include "trial.h"

#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "fleet/resp.h"
#include "text/number.h"
#include "twin.h"

#define MICRO INT64_C(1000)

/* Trials, questions of each, and how many are sent in one write. */
#define TRIALS 32
#define QUESTIONS 512
#define BATCH 8

/* The expiry is right if no more time than this has passed since. */
#define PATIENCE 20000

/* Grants of so many slices may succeed. */
#define RECENT 75

#define KEY "trial"

/* What a trial lets happen to the server's clock, and to the hash. */
enum weather {
	WEATHER_STEADY,
	WEATHER_BACK, /* the clock is set back now and then */
	WEATHER_WILD, /* forward, too, and fields become nonsense */
};

struct trial {
	uint64_t random;
	enum weather weather;
	struct terms terms;
	int64_t most; /* successes of a row */
	int64_t real, behind; /* the time; how far the server's clock is */
	struct twin twin;
	/* Of one batch: which replies are expected to which questions. */
	struct fleet_question questions[BATCH];
	struct resp_reply expected[BATCH];
	bool spoiled[BATCH]; /* the reply to an HSET comes before */
	int64_t asked[BATCH]; /* the real time */
};

/*
 * Every grant of a trial, without the retries that have succeeded, and every
 * success of which the server has been told, at real times in microseconds,
 * which never decrease.
 */
enum { EVENTS = 1 << 18 };
static struct events {
	struct {
		int64_t at, count;
	} list[EVENTS];
	size_t length;
} grants, successes;

/* The connection to the server. */
static struct {
	int fd;
	struct resp_request out; /* what flush() sends */
	char sent[1 << 18];
	char in[1 << 16];
	size_t start, end; /* of the bytes of in that are not read */
	bool broken; /* a reply was not RESP2: all later ones are errors */
} server;

/* Writes all fields as twin_write() does. */
static const char dump[] = "local names = {'w', 'q', 'm', 'e', 'R', 'S', 'H', 'x'}\n"
			   "for i = 0, 63 do names[#names + 1] = i end\n"
			   "local found = redis.call('HMGET', KEYS[1], unpack(names))\n"
			   "for i = 1, 8 do found[i] = found[i] or '0' end\n"
			   "for i = 9, 72 do found[i] = found[i] or '0 0 0' end\n"
			   "return {ok = table.concat(found, ' ')}\n";

/* Milliseconds; a key that does not exist has -2 in place of them. */
static const char expiry[] = "return math.max(redis.call('PTTL', KEYS[1]), 0)";

static void connect_to(const char *path) {
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof address.sun_path)
		errx(1, "%s: too long for a socket", path);
	memcpy(address.sun_path, path, strlen(path) + 1);
	server.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (server.fd == -1 ||
	    connect(server.fd, (struct sockaddr *)&address, sizeof address) == -1)
		err(1, "%s", path);
	server.start = server.end = 0;
	server.broken = false;
	server.out = (struct resp_request){ server.sent, sizeof server.sent, 0 };
}

/* Sends all requests that were written to server.out. */
static void flush(void) {
	size_t length = resp_length(&server.out);

	if (server.out.length > server.out.size)
		errx(1, "more requests than fit into one write");
	/* The socket blocks until all of it is written. */
	if (write(server.fd, server.sent, length) != (ssize_t)length)
		err(1, "cannot write to the server");
	server.out.length = 0;
}

/* Waits for the next reply. Its text is valid until the next call. */
static struct resp_reply take_reply(void) {
	struct resp_reply reply;
	enum resp_state state;
	ssize_t count;

	for (;;) {
		state = resp_read((struct strview){ server.in + server.start,
				      server.end - server.start },
		    &reply);
		server.broken = server.broken || state == RESP_INVALID;
		if (server.broken)
			return (struct resp_reply){ .type = RESP_ERROR };
		if (state == RESP_WHOLE)
			break;
		server.end -= server.start;
		memmove(server.in, server.in + server.start, server.end);
		server.start = 0;
		count = read(server.fd, server.in + server.end, sizeof server.in - server.end);
		if (count <= 0)
			err(1, "cannot read from the server");
		server.end += (size_t)count;
	}
	server.start += reply.length;
	return reply;
}

/* Loads a script, which reads the time from a key instead of the clock. */
static void load(const char *script, char sha1[41]) {
	static const char clock[] = "redis.call('TIME')";
	static char timed[1 << 14];
	const char *at = strstr(script, clock);
	char reply[256];
	ssize_t length;

	if (at != NULL) {
		snprintf(timed, sizeof timed, "%.*s{0, redis.call('GET', 'now')}%s",
		    (int)(at - script), script, at + strlen(clock));
		script = timed;
	}

	resp_put(&server.out, (const char *const[]){ "SCRIPT", "LOAD", script }, 3);
	flush();
	/* retry never asks for such a reply: a string with its length. */
	length = read(server.fd, reply, sizeof reply - 1);
	reply[length > 0 ? length : 0] = '\0';
	if (sscanf(reply, "$40 %40s", sha1) != 1)
		errx(1, "the server does not load the script: %s", reply);
}

/* xorshift64*; from least to most, both included. */
static int64_t draw(struct trial *trial, int64_t least, int64_t most) {
	uint64_t x = trial->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	trial->random = x;
	x = x * UINT64_C(2685821657736338717) >> 11;
	return least + (int64_t)(x % (uint64_t)(most - least + 1));
}

static int64_t slice_of(const struct trial *trial) {
	nanos slices = WINDOW_SLICES * MICRO;

	return (trial->terms.window + slices - 1) / slices;
}

/* Each number has other terms, and half of them some promise to check. */
static struct trial begin(int number) {
	static const enum weather weathers[] = { WEATHER_WILD, WEATHER_STEADY, WEATHER_WILD,
		WEATHER_BACK };
	static const int64_t ratios[] = { 200000, 333333, 500000, 2500000, SEGMENT_RATIO_MOST };
	static const int64_t mins[] = { 10, 20, 1, 0, 3, 40, 30 };
	static const nanos windows[] = { NANOS_MINUTE, NANOS_MINUTE + 7654321 * MICRO, NANOS_HOUR };
	struct trial trial = {
		.random = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(number + 1),
		.weather = weathers[number % 4],
		.terms = { .ratio = ratios[number % 5],
		    .min = mins[number % 7],
		    .window = windows[number % 3] },
		.most = number % 11 == 1 ? 3000000 : 3,
		.real = INT64_C(1787407200123456) + number,
	};

	/* If the clock is set back, only the minimum is promised; without a
	 * ratio it is used up. */
	if (trial.weather == WEATHER_BACK || number % 8 == 5)
		trial.terms.ratio = 0;
	return trial;
}

/* Time passes: mostly less than a slice, sometimes more than a window. */
static void pass(struct trial *trial) {
	static const struct {
		int64_t share, least, most; /* in hundredths of a slice */
	} steps[] = { { 72, 0, 20 }, { 20, 0, 60 }, { 6, 0, 300 }, { 1, 0, 3000 },
		{ 1, 0, 14000 } };
	int64_t slice = slice_of(trial), chance = draw(trial, 0, 99);
	size_t i = 0;

	while (chance >= steps[i].share) chance -= steps[i++].share;
	trial->real += draw(trial, steps[i].least, steps[i].most) * slice / 100;
	if (trial->weather == WEATHER_STEADY || draw(trial, 0, 99) > 3)
		return;
	trial->behind +=
	    draw(trial, 0, 3) > 0 ? draw(trial, 0, 2 * slice) : draw(trial, 0, 90 * slice);
	if (trial->weather == WEATHER_WILD && draw(trial, 0, 2) == 0)
		trial->behind = 0;
}

/*
 * Retries of an earlier batch have succeeded in a slice that begins with the
 * age of this row, at most 30 slices after their grant. Nothing is true of
 * retries in a wild trial.
 */
static void rescue(struct trial *trial, struct fleet_row *told) {
	int64_t slice = slice_of(trial), age, *left;
	size_t i = grants.length;

	if (trial->weather == WEATHER_WILD)
		told->rescued = draw(trial, 0, 3);
	while (i > 0 && trial->real - grants.list[i - 1].at < RECENT * slice) i--;
	if (i == grants.length || draw(trial, 0, 9) > 0)
		return;
	i = (size_t)draw(trial, (int64_t)i, (int64_t)grants.length - 1);
	left = &grants.list[i].count;
	age = trial->real - grants.list[i].at;
	told->age = draw(trial, number_greater(age - 30 * slice, 0), age) * MICRO;
	told->rescued = *left;
	*left = 0;
}

/* A random question at the present time. */
static struct fleet_question question_of(struct trial *trial) {
	int64_t now = trial->real - trial->behind, slice = slice_of(trial);
	struct fleet_question question = {
		.key = KEY,
		.terms = trial->terms,
		.wants = draw(trial, 0, 3) > 0,
		.first = draw(trial, 0, 5) == 0,
		.count = draw(trial, 0, 2) == 0 ? (size_t)draw(trial, 1, 4) : 0,
	};

	if (draw(trial, 0, 9) == 0)
		question.by = (now + draw(trial, -3, 3)) * MICRO;
	/* Others may ask for other terms. */
	if (draw(trial, 0, 19) == 0) {
		question.terms.ratio += draw(trial, -1, 3);
		question.terms.min += draw(trial, -1, 3);
		question.terms.window *= draw(trial, 1, 2);
	}
	question.terms.ratio = question.terms.ratio < 0 ? 0 : question.terms.ratio;
	question.terms.min = question.terms.min < 0 ? 0 : question.terms.min;
	for (size_t i = 0; i < question.count; i++)
		question.told[i] = (struct fleet_row){
			.age = draw(trial, 0, i == 0 ? slice : 66 * slice) * MICRO -
			    draw(trial, 0, 1) * (MICRO - 1),
			.successes = draw(trial, 0, trial->most),
			.alone = trial->terms.ratio > 0 && draw(trial, 0, 39) == 0
			    ? draw(trial, 1, 3)
			    : 0,
		};
	if (question.count > 0)
		rescue(trial, &question.told[0]);
	return question;
}

/*
 * Makes a field nonsense, as no script ever wrote it. The next question writes
 * all of them anew: it wants something, and is not stale.
 */
static void spoil(struct trial *trial, struct fleet_question *question) {
	static const char *const fields[] = { "e", "e", "R", "S", "H", "x", "w", "q", "m" };
	static const char *const values[] = { "nan", "-1", "", "1e300", "x" };
	const char *field = fields[draw(trial, 0, 8)];
	const char *value = values[draw(trial, 0, 4)];

	if (field[0] == 'w' && draw(trial, 0, 1) == 0)
		value = draw(trial, 0, 1) == 0 ? "16666" : "1440000001";
	resp_put(&server.out, (const char *const[]){ "HSET", FLEET_KEY KEY, field, value }, 4);
	if (strchr("wqm", field[0]) != NULL)
		trial->twin.stored = false;
	if (field[0] == 'e')
		trial->twin.dated = false;
	question->wants = true;
	question->by = 0;
}

static void send_batch(struct trial *trial, const char sha1[41], const char dump_sha1[41]) {
	for (int i = 0; i < BATCH; i++) {
		struct fleet_question *question = &trial->questions[i];
		char number[NUMBER_ROOM];
		int64_t now;
		size_t start;

		pass(trial);
		now = trial->real - trial->behind;
		resp_put(&server.out,
		    (const char *const[]){ "SET", "now", number_put(number, now) }, 3);
		start = resp_length(&server.out);
		*question = question_of(trial);
		trial->asked[i] = trial->real;
		trial->spoiled[i] = trial->weather == WEATHER_WILD && draw(trial, 0, 39) == 0;
		if (trial->spoiled[i]) {
			spoil(trial, question);
			start = resp_length(&server.out);
		}
		question_put(&server.out, question, false);
		/* The script may be another one. */
		memcpy(strstr(server.sent + start, question_script_sha1), sha1, 40);
		trial->expected[i] = twin_answer(&trial->twin, question, now * MICRO);
	}
	resp_put(&server.out, (const char *const[]){ "EVALSHA", dump_sha1, "1", FLEET_KEY KEY }, 4);
	resp_put(&server.out, (const char *const[]){ "EVAL", expiry, "1", FLEET_KEY KEY }, 4);
	flush();
}

static void add(struct events *events, int64_t at, int64_t count) {
	if (events->length == EVENTS)
		errx(1, "more events than there is room for");
	events->list[events->length].at = at;
	events->list[events->length++].count = count;
}

/* Successes are told in any order, so all of them are looked at. */
static int64_t sum_after(const struct events *events, int64_t at) {
	int64_t sum = 0;

	for (size_t i = 0; i < events->length; i++)
		if (events->list[i].at > at)
			sum += events->list[i].count;
	return sum;
}

/*
 * Whether what a reply grants keeps the promise of question.h on the expected
 * terms: no window that ends with it has more retries than max(min, ratio *
 * successes), though each retry may be made up to a slice after its grant.
 */
static bool keeps_promise(const struct trial *trial, int i, const struct resp_reply *reply,
    struct trial_tally *tally) {
	const struct fleet_question *question = &trial->questions[i];
	const int64_t *numbers = trial->expected[i].numbers;
	const struct terms limits = { numbers[8], numbers[9], 0 };
	int64_t at = trial->asked[i], window = numbers[10];
	int64_t slice = window / WINDOW_SLICES;

	if (trial->weather == WEATHER_WILD || numbers[0] == FLEET_STALE ||
	    reply->type != RESP_ARRAY)
		return true;
	for (size_t j = 0; j < question->count; j++)
		add(&successes, at - question->told[j].age / MICRO, question->told[j].successes);
	if (reply->numbers[0] != FLEET_GRANTED)
		return true;
	add(&grants, at, 1);
	tally->checks++;
	/*
	 * The worst case: the oldest retries of the window were made a slice
	 * after their grant; and the last one is made a slice after its grant,
	 * when the oldest successes have left the window.
	 */
	window = slice * WINDOW_SLICES;
	return sum_after(&grants, at - window - slice) <=
	    window_limit(&limits, sum_after(&successes, at - window + slice));
}

static bool same(const struct resp_reply *a, const struct resp_reply *b) {
	return a->type == b->type && a->count == b->count &&
	    memcmp(a->numbers, b->numbers, sizeof a->numbers) == 0;
}

/* Whether the hash, and when it expires, are those of the twin. */
static const char *check_hash(const struct twin *twin) {
	int64_t most = (twin->slice * 66 + 999) / 1000;
	struct resp_reply reply = take_reply();
	char room[TWIN_ROOM];
	bool equal, lives;

	twin_write(twin, room);
	equal = reply.type == RESP_SIMPLE && reply.text.length == strlen(room) &&
	    memcmp(reply.text.at, room, reply.text.length) == 0;
	reply = take_reply();
	lives = !twin->stored || (reply.numbers[0] <= most && reply.numbers[0] > most - PATIENCE);
	return !equal ? "the hash" : !lives ? "its expiry" : NULL;
}

/* Reads all replies, so that the next trial begins with its own. */
static void read_batch(const struct trial *trial, struct trial_tally *tally) {
	const char *wrong;

	for (int i = 0; i < BATCH; i++) {
		struct resp_reply reply;

		take_reply(); /* to SET */
		if (trial->spoiled[i])
			take_reply();
		reply = take_reply();
		if (!same(&reply, &trial->expected[i]))
			tally->wrong = "an answer";
		if (!keeps_promise(trial, i, &reply, tally))
			tally->broken = true;
		tally->questions++;
		tally->grants += reply.numbers[0] == FLEET_GRANTED;
		tally->stale += reply.numbers[0] == FLEET_STALE;
	}
	wrong = check_hash(&trial->twin);
	tally->wrong = tally->wrong != NULL ? tally->wrong : wrong;
	tally->hashes++;
}

struct trial_tally trial_run(const char *path, const char *script, bool patient) {
	struct trial_tally tally = { .wrong = NULL };
	char sha1[41], dump_sha1[41];
	bool over = false;

	connect_to(path);
	load(dump, dump_sha1);
	load(script, sha1);
	for (int number = 0; number < TRIALS && !over; number++) {
		struct trial trial = begin(number);

		resp_put(&server.out, (const char *const[]){ "DEL", FLEET_KEY KEY }, 2);
		flush();
		take_reply();
		grants.length = successes.length = 0;
		for (int i = 0; i < QUESTIONS / BATCH && !over; i++) {
			send_batch(&trial, sha1, dump_sha1);
			read_batch(&trial, &tally);
			over = tally.broken || (tally.wrong != NULL && !patient);
		}
	}
	close(server.fd);
	return tally;
}
