/*
 * check: asks a fleet's server through a link, and says what came of it.
 *
 *     check [-a AUTH] [-t MILLISECONDS] [-b SECONDS] ACTION URL
 *     check [...] while URL RETRY-ARGUMENT...
 *
 *     ask       asks for one retry
 *     again     the same twice, over one connection
 *     tell      asks, and tells of a success 100 ms later
 *     connect   asks for nothing, and tells of a success 100 ms later
 *     forget    forgets the budget
 *     while     asks, and runs one attempt of the command meanwhile
 *
 * -t has an answer waited for less than 9 s, -b the question valid until so
 * many seconds from now, by the clock of this host. LOOKUP has getaddrinfo(3)
 * take so many seconds; DEAF has it put an address with this port before the
 * others. It also complains if a question takes longer than its timeout, if a
 * call blocks, and if a descriptor or a process is left.
 */
#include <err.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "cli/options.h"
#include "fleet/link.h"
#include "run.h"
#include "sys/sys.h"

/* A machine that is busy may be late by this much. */
#define LATE NANOS_SECOND

#define DESCRIPTORS 64

int __real_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
    struct addrinfo **addresses);
int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
    struct addrinfo **addresses);

static struct run run;
static struct fleet_link fleet;
static struct url url;
static struct url_auth auth;
static struct fleet_policy access_to = {
	.config.timeout = 9 * NANOS_SECOND, .url = &url, .auth = &auth
};
static nanos valid; /* -b */

int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
    struct addrinfo **addresses) {
	const char *seconds = getenv("LOOKUP"), *port = getenv("DEAF");
	int error;

	if (seconds != NULL)
		sleep((unsigned)strtoul(seconds, NULL, 10));
	if (port == NULL)
		return __real_getaddrinfo(host, service, hints, addresses);
	error = __real_getaddrinfo("127.0.0.1", port, hints, addresses);
	if (error != 0)
		return error;
	return __real_getaddrinfo(host, service, hints, &(*addresses)->ai_next);
}

static nanos now(void) { return sys_now(CLOCK_BOOTTIME); }

static struct fleet_question question_of(bool wants) {
	struct fleet_question question = {
		.key = "check", .terms = { 200000, 10, 60 * NANOS_SECOND }, .wants = wants
	};

	if (valid != 0)
		question.by = sys_now(CLOCK_REALTIME) + valid;
	return question;
}

/* For event_loop_await(): until the question is over. */
static nanos wait_for_link(struct event_loop *loop) {
	return link_asks(loop->fleet) ? NANOS_MAX : 0;
}

/* Waits until the question is over, and says how it has ended. */
static void await(const char *what) {
	nanos began = now();
	const struct fleet_answer *answer = &fleet.dialog.answer;

	run.loop.ending_signal = 0;
	if (!event_loop_await(&run.loop, wait_for_link, NANOS_MAX))
		printf("%s: signal %d\n", what, run.loop.ending_signal);
	else if (answer->code == FLEET_SILENT)
		printf("%s: %s\n", what, fleet.reason);
	else
		printf("%s: granted %d, used %d, successes %d\n", what,
		    answer->code == FLEET_GRANTED, (int)answer->retries, (int)answer->successes);
	if (now() - began > access_to.config.timeout + LATE)
		puts("late");
	fflush(stdout);
}

static void ask(bool wants) {
	static struct fleet_question question;

	question = question_of(wants);
	link_ask(&fleet, &question, now());
}

static void act(const char *action) {
	struct fleet_question question = question_of(false);
	char label[] = "1";
	struct outcome outcome;
	bool asks = strcmp(action, "connect") != 0;
	nanos until, left;

	if (strcmp(action, "forget") == 0) {
		question.forgets = true;
		link_ask(&fleet, &question, now());
		await("forget");
		return;
	}
	ask(asks);
	if (strcmp(action, "while") == 0) {
		plan_begin(&run.history);
		outcome = attempt_run(&run.attempt, run.request.command, run.environment.list,
		    &run.history, label);
		printf("attempt: end %d, code %d\n", outcome.end, outcome.code);
	}
	if (asks)
		await("ask");
	if (strcmp(action, "again") == 0) {
		if (fleet.stage != LINK_READY)
			puts("another connection");
		ask(true);
		await("ask");
	}
	if (asks && strcmp(action, "tell") != 0)
		return;
	until = now() + 3 * NANOS_SECOND;
	while (fleet.stage != LINK_READY && (left = until - now()) > 0 &&
	    event_loop_wait(&run.loop, -1, left))
		continue;
	question.count = 1;
	question.told[0].successes = 1;
	puts(link_tell(&fleet, &question) ? "told" : "not told");
}

/* Fills open with whether each of the first descriptors is open. */
static void look(bool *open) {
	for (int fd = 0; fd < DESCRIPTORS; fd++) open[fd] = fcntl(fd, F_GETFD) != -1;
}

/* Complains about what outlives the link. */
static void check_rest(const bool *before) {
	bool after[DESCRIPTORS];
	nanos until = now() + 3 * NANOS_SECOND;
	siginfo_t info = { 0 };

	look(after);
	for (int fd = 0; fd < DESCRIPTORS; fd++)
		if (after[fd] != before[fd])
			printf("descriptor %d is left\n", fd);
	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && now() < until) {
		if (!event_loop_wait(&run.loop, -1, 10 * NANOS_MS))
			break;
		event_loop_reap(&run.loop);
	}
	if (now() >= until)
		puts("a process is left");
}

static void open_run(int argc, char **argv) {
	static struct policy policy;
	static struct outer outer;

	options_parse(argc, argv, &policy);
	outer = environment_outer();
	if (!run_open(&run, &policy, &outer) || !streams_open(&run.loop.streams, &policy, NULL))
		err(2, "cannot open");
	fleet.dialog.length = 1;
	link_start(&fleet, &access_to, false, &run.loop.signals);
	if (link_pollfd(&fleet).events != POLLIN)
		puts("a link that was just opened is about to send");
	run.loop.fleet = &fleet;
}

int main(int argc, char **argv) {
	char name[] = "retry", command[] = "true";
	char *simple[] = { name, command, NULL };
	bool before[DESCRIPTORS];
	const char *refusal = NULL, *action;
	int option;

	while ((option = getopt(argc, argv, "+a:b:t:")) != -1) switch (option) {
		case 'a':
			refusal = url_parse_auth(strview_of(optarg), "", &auth);
			if (refusal != NULL)
				errx(2, "-a: %s", refusal);
			break;
		case 'b': valid = strtol(optarg, NULL, 10) * NANOS_SECOND; break;
		case 't': access_to.config.timeout = strtol(optarg, NULL, 10) * NANOS_MS; break;
		default: return 2;
		}
	argv += optind;
	argc -= optind;
	if (argc < 2)
		errx(2, "usage: check [OPTION]... ACTION URL");
	refusal = url_parse(argv[1], &url);
	if (refusal != NULL)
		errx(2, "%s: %s", argv[1], refusal);
	action = argv[0];
	argv[1] = name;
	if (argc > 2)
		open_run(argc - 1, argv + 1);
	else
		open_run(2, simple);
	look(before);
	act(action);
	link_close(&fleet);
	check_rest(before);
	return 0;
}
