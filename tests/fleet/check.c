/*
 * script_check: compares the script of src/fleet with its twin on a server.
 *
 *     script_check script           prints the script; its SHA1 to stderr
 *     script_check trials SOCKET    the twin and the promise
 *     script_check mutants SOCKET   the same, of scripts with an error
 *     script_check rights SOCKET    accounts that may do less
 *     script_check stopped SOCKET   a server that is stopped for a while
 *     script_check empty SOCKET     a server that has just been started
 *     script_check errors SOCKET    what a server refuses
 *     script_check cluster SOCKET   a server with --cluster-enabled yes
 *
 * The server is nobody else's: script_check empties it. tests/fleet/run starts
 * it.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fleet/question.h"
#include "cases.h"
#include "link.h"
#include "mutants.h"
#include "trial.h"

static const char *server;
static struct link link_to;
static struct promise promise;

static void
load(const char *script, char sha1[41])
{
	struct resp_reply reply = LINK_ASK(&link_to, "SCRIPT", "LOAD", script);

	if (reply.type != RESP_BULK || reply.text.length != 40)
		errx(1, "the server does not load the script: %.*s",
		    (int)reply.text.length, reply.text.at);
	memcpy(sha1, reply.text.at, 40);
	sha1[40] = '\0';
}

/* Until something is wrong; if patient, until the promise is broken. */
static struct trial_tally
run_trials(const char *sha1, bool patient)
{
	struct trial_tally tally = { .patient = patient };

	for (int i = 0;
	     i < TRIALS && !tally.broken && (tally.wrong == NULL || patient);
	     i++)
		trial_run(&link_to, sha1, i, &promise, &tally);
	return tally;
}

static void
check_script(const char *socket)
{
	struct trial_tally tally;
	char sha1[41];

	server = socket;
	link_open(&link_to, server);
	trial_prepare(&link_to);
	load(question_script, sha1);
	if (strcmp(sha1, question_script_sha1) != 0)
		errx(1, "question_script_sha1 is not the script's, %s", sha1);
	tally = run_trials(sha1, false);
	printf("fleet: %lld questions, %lld stale, %lld grants, %lld of them "
	       "checked, %lld hashes\n",
	    (long long)tally.questions, (long long)tally.stale,
	    (long long)tally.grants, (long long)promise.checks,
	    (long long)tally.hashes);
	if (tally.wrong != NULL)
		errx(1, "the twin has another result for %s", tally.wrong);
	if (tally.broken)
		errx(1, "the promise is broken");
	link_close(&link_to);
}

/* Writes the script with the error of a mutant into room. */
static void
mutate(const struct mutant *mutant, char *room, size_t size)
{
	const char *at = strstr(question_script, mutant->right);
	size_t length = strlen(mutant->right);

	if (at == NULL || strstr(at + 1, mutant->right) != NULL)
		errx(1, "the script must have once: %s", mutant->right);
	if (snprintf(room, size, "%.*s%s%s", (int)(at - question_script),
		question_script, mutant->wrong, at + length) >= (int)size)
		errx(1, "%s: too long", mutant->error);
}

static struct trial_tally
try_mutant(const struct mutant *mutant, bool patient)
{
	static char script[1 << 14];
	struct trial_tally tally;
	char sha1[41];

	mutate(mutant, script, sizeof script);
	load(script, sha1);
	tally = run_trials(sha1, patient);
	if (link_to.broken) {
		link_close(&link_to);
		link_open(&link_to, server);
	}
	return tally;
}

static void
check_mutants(const char *socket)
{
	int greedy = 0, others = 0;

	server = socket;
	link_open(&link_to, server);
	trial_prepare(&link_to);
	for (; mutants_greedy[greedy].error != NULL; greedy++) {
		if (!try_mutant(&mutants_greedy[greedy], true).broken)
			errx(1, "no promise is broken if %s",
			    mutants_greedy[greedy].error);
	}
	for (; mutants_other[others].error != NULL; others++) {
		if (try_mutant(&mutants_other[others], false).wrong == NULL)
			errx(1, "nothing is found if %s",
			    mutants_other[others].error);
	}
	printf("fleet: %d scripts with an error break the promise, "
	       "%d others are found\n",
	    greedy, others);
	link_close(&link_to);
}

static const struct {
	const char *name;
	void (*run)(const char *socket);
} parts[] = {
	{ "trials", check_script },
	{ "mutants", check_mutants },
	{ "rights", cases_rights },
	{ "stopped", cases_stopped },
	{ "empty", cases_empty },
	{ "errors", cases_errors },
	{ "cluster", cases_cluster },
};

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "script") == 0) {
		fputs(question_script, stdout);
		fprintf(stderr, "%s\n", question_script_sha1);
		return EXIT_SUCCESS;
	}
	for (size_t i = 0; argc == 3 && i < sizeof parts / sizeof parts[0];
	     i++) {
		if (strcmp(argv[1], parts[i].name) == 0) {
			parts[i].run(argv[2]);
			return EXIT_SUCCESS;
		}
	}
	errx(2, "usage: script_check script | PART SOCKET");
}
