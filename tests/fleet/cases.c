#include "check.h"

#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "fleet/question.h"

/* Several questions to a server that is stopped. */
enum { ASKERS = 5 };

static struct link admin, links[ASKERS];

static struct fleet_question
question_of(int64_t wanted)
{
	return (struct fleet_question){
		.key = "case",
		.terms = { .ratio = 0, .min = 10, .window = NANOS_MINUTE },
		.wanted = wanted,
	};
}

static void
send_question(
    struct link *link, const struct fleet_question *question, bool whole)
{
	question_write(&link->out, question, whole);
	link_flush(link);
}

static struct resp_reply
ask(struct link *link, const struct fleet_question *question)
{
	send_question(link, question, true);
	return link_reply(link);
}

/* The answer of a server without a fault. */
static struct fleet_answer
answer_to(struct link *link, const struct fleet_question *question)
{
	struct resp_reply reply = ask(link, question);
	struct fleet_answer answer;

	if (!question_read(&reply, question, &answer))
		errx(1, "no answer but: %.*s", (int)reply.text.length,
		    reply.text.at);
	return answer;
}

/* How many retries the server has counted: asking changes nothing. */
static int64_t
counted(struct link *link)
{
	struct fleet_question question = question_of(0);

	return answer_to(link, &question).retries;
}

static void
expect(const char *what, int64_t got, int64_t want)
{
	if (got != want)
		errx(1, "%s: got %lld, want %lld", what, (long long)got,
		    (long long)want);
}

static void
expect_error(const char *what, struct resp_reply reply)
{
	if (reply.type != RESP_ERROR)
		errx(1, "%s: no error", what);
}

static void
sign_in(struct link *link, const char *server, const char *user)
{
	link_open(link, server);
	if (LINK_ASK(link, "AUTH", user, "pw").type != RESP_SIMPLE)
		errx(1, "the server does not let %s in", user);
}

/* An account with all rights but one, or with all of them if without is "". */
static void
make_account(const char *without)
{
	static const char *const rights[] = { "+evalsha", "+eval", "+select",
		"+time", "+hmget", "+hget", "+hset", "+pexpire" };
	const char *words[20] = { "ACL", "SETUSER", "fleet", "reset", "on",
		">pw", "~retry:*", "-@all" };
	size_t count = 8;

	for (size_t i = 0; i < 8; i++) {
		if (strcmp(rights[i], without) != 0)
			words[count++] = rights[i];
	}
	words[count] = NULL;
	if (link_ask(&admin, words).type != RESP_SIMPLE)
		errx(1, "the server has no accounts");
}

/* Asks for a retry without one right; returns how many have been counted. */
static int64_t
lose(const char *server, const char *right)
{
	struct fleet_question question = question_of(1);
	struct link link;

	/* The script reads no slot by HGET if a slice ends here: it has 24
	 * minutes. */
	question.terms.window = 24 * 60 * NANOS_MINUTE;
	LINK_ASK(&admin, "FLUSHALL");
	answer_to(&admin, &question);
	make_account(right);
	sign_in(&link, server, "fleet");
	expect_error(right, ask(&link, &question));
	link_close(&link);
	return counted(&admin) - 1;
}

void
cases_rights(const char *server)
{
	static const char *const needed[] = { "+time", "+hmget", "+hget",
		"+hset" };
	struct fleet_question question = question_of(1);
	struct link *link = &links[0];

	link_open(&admin, server);
	LINK_ASK(&admin, "FLUSHALL");
	make_account("");
	sign_in(link, server, "fleet");
	expect("all rights", answer_to(link, &question).granted, 1);
	expect("SELECT", LINK_ASK(link, "SELECT", "0").type, RESP_SIMPLE);
	question_forget(&link->out, question.key);
	link_flush(link);
	expect("forget", link_reply(link).numbers[0], 1);
	expect("forgotten", counted(link), 0);
	expect("a key of others", LINK_ASK(link, "HGET", "x", "e").type,
	    RESP_ERROR);
	link_close(link);

	/* Nothing is granted; what comes before the only HSET is not counted.
	 */
	for (size_t i = 0; i < 4; i++)
		expect(needed[i], lose(server, needed[i]), 0);
	expect("+pexpire", lose(server, "+pexpire"), 1);

	/* Where the script must not read the clock, it is told the time. */
	make_account("+time");
	sign_in(link, server, "fleet");
	question.now = answer_to(&admin, &question).now;
	expect("told the time", answer_to(link, &question).granted, 1);
	link_close(link);

	LINK_ASK(&admin, "ACL", "DELUSER", "fleet");
	link_close(&admin);
	puts("fleet: an account with one right less is granted nothing that is "
	     "not counted");
}

/* The clock that the server has on this host. */
static nanos
server_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * NANOS_SECOND + now.tv_nsec;
}

static pid_t
pid_of_server(void)
{
	static const char name[] = "process_id:";
	struct strview text = LINK_ASK(&admin, "INFO", "server").text;
	const char *at = memmem(text.at, text.length, name, strlen(name));

	if (at == NULL)
		errx(1, "the server does not say its process_id");
	return (pid_t)strtol(at + strlen(name), NULL, 10);
}

/*
 * Asks a stopped server, and continues it later; by is 0 or a length of time.
 * Returns how many retries it counts then.
 */
static int64_t
stop_and_ask(const char *server, nanos by, enum fleet_code code)
{
	struct fleet_question question = question_of(1);
	pid_t pid = pid_of_server();

	LINK_ASK(&admin, "FLUSHALL");
	kill(pid, SIGSTOP);
	question.by = by == 0 ? 0 : server_now() + by;
	for (int i = 0; i < ASKERS; i++) {
		link_open(&links[i], server);
		send_question(&links[i], &question, true);
	}
	nanosleep(&(struct timespec){ .tv_nsec = 100 * NANOS_MS }, NULL);
	kill(pid, SIGCONT);
	for (int i = 0; i < ASKERS; i++) {
		struct resp_reply reply = link_reply(&links[i]);

		expect("a late answer", reply.numbers[0], code);
		link_close(&links[i]);
	}
	return counted(&admin);
}

void
cases_stopped(const char *server)
{
	link_open(&admin, server);
	expect("questions whose askers have gone",
	    stop_and_ask(server, 50 * NANOS_MS, FLEET_STALE), 0);
	expect("questions whose askers still wait",
	    stop_and_ask(server, NANOS_HOUR, FLEET_GRANTED), ASKERS);
	expect("questions whose askers wait for ever",
	    stop_and_ask(server, 0, FLEET_GRANTED), ASKERS);
	link_close(&admin);
	puts("fleet: a server that was stopped counts nothing for those who "
	     "have gone");
}

void
cases_empty(const char *server)
{
	struct fleet_question question = question_of(4);
	struct link *link = &links[0];
	struct resp_reply reply;
	nanos before = server_now();
	struct fleet_answer answer;

	link_open(link, server);
	send_question(link, &question, false);
	reply = link_reply(link);
	expect_error("a script that is not known", reply);
	if (strncmp(reply.text.at, "NOSCRIPT ", 9) != 0)
		errx(1, "not NOSCRIPT: %.*s", (int)reply.text.length,
		    reply.text.at);
	answer = answer_to(link, &question);
	expect("a quarter of the minimum", answer.granted, 2);
	expect("retries", answer.retries, 2);
	if (answer.now < before - NANOS_SECOND ||
	    answer.now > server_now() + NANOS_SECOND)
		errx(1, "the answer has another time than this host");
	if (answer.next < 60 * NANOS_SECOND || answer.next > 62 * NANOS_SECOND)
		errx(1, "the retry leaves the window at a wrong time");
	/* EVAL has told the server the script. */
	question.wanted = 10;
	send_question(link, &question, false);
	reply = link_reply(link);
	if (!question_read(&reply, &question, &answer))
		errx(1, "EVALSHA does not find what EVAL has run");
	expect("two more", answer.granted, 2);
	link_close(link);
	puts("fleet: a server that has forgotten all grants from the minimum");
}

void
cases_errors(const char *server)
{
	/* Requests that make it refuse, and that end that. */
	static const char *const refusals[][2][5] = {
		{ { "CONFIG", "SET", "maxmemory", "1", NULL },
		    { "CONFIG", "SET", "maxmemory", "0", NULL } },
		{ { "REPLICAOF", "127.0.0.1", "1", NULL },
		    { "REPLICAOF", "NO", "ONE", NULL } },
		{ { "CONFIG", "SET", "min-replicas-to-write", "1", NULL },
		    { "CONFIG", "SET", "min-replicas-to-write", "0", NULL } },
	};
	struct fleet_question question = question_of(1);

	link_open(&admin, server);
	LINK_ASK(&admin, "FLUSHALL");
	answer_to(&admin, &question);
	for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
		const char *what = refusals[i][0][2];

		link_ask(&admin, refusals[i][0]);
		expect_error(what, ask(&admin, &question));
		link_ask(&admin, refusals[i][1]);
		expect(what, counted(&admin), 1);
	}
	link_close(&admin);
	puts("fleet: what a server refuses is not counted");
}
