/*
 * script_check: compares the script of src/fleet with its twin on a server.
 *
 *     script_check script           prints the script; its SHA1 to stderr
 *     script_check trials SOCKET    see trial.h
 *     script_check mutants SOCKET   the trials of scripts with an error
 *
 * The server is nobody else's: script_check empties it. tests/fleet/run starts
 * it.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fleet/question.h"
#include "trial.h"

/* The script with an error in one of its rules. */
static const struct mutant {
	bool greedy; /* It grants more than is promised. The others do not, or
			by chance, but answer or write something else. */
	const char *error;
	const char *right, *wrong; /* texts of the script: the first once */
} mutants[] = {
	{ true, "the retries of 61 slices count", "E - 61 then return", "E - 60 then return" },
	{ true, "the successes of 60 slices count", "epoch >= E - 58", "epoch >= E - 59" },
	{ true, "a clock set back forgets retries", "add(E, slot[1], 0, slot[3])",
	    "add(E, 0, 0, slot[3])" },
	{ true, "successes are new", "(T - tonumber(ARGV[i])) / w", "T / w" },
	{ true, "a retry more than the limit", "R < limit", "R <= limit" },
	{ false, "granted though nothing was wanted", "and n or 0", "and 1 or 0" },
	{ true, "grants are not counted", "add(E, k, 0, 0)", "" },
	{ false, "retries are paid back to the latest slot", "x = math.max(x, E - 61)", "x = E" },
	{ true, "retries are paid back however old they are", "epoch > E - 30", "true" },
	{ true, "retries are paid back twice", "R - paid, back",
	    "math.max(R - 2 * paid, 0), back" },
	{ true, "successes are paid back", "tonumber(ARGV[i + 3])", "tonumber(ARGV[i + 1])" },
	{ false, "late questions count", "T > by then", "T > by + 2 then" },
	{ false, "questions without a time to end are late", "by > 0 and ", "" },
	{ false, "NaN is a number", "value and value >= 0 and value < 2^53", "value" },
	{ false, "a question changes the window", "not (w and", "not (n < 1 and" },
	{ false, "a slice may be too short", "w > 16666", "w > 0" },
	{ false, "a slice may be too long", "w <= 1440000000", "w > 0" },
	{ false, "the laxer ratio counts", "q = math.min(q", "q = math.max(q" },
	{ false, "the laxer minimum counts", "m = math.min(m", "m = math.max(m" },
	{ false, "the first terms count", "elseif asks", "elseif false" },
	{ false, "asking for the status tightens", "elseif asks", "elseif true" },
	{ false, "asking for the status writes", "if asks then\n  local put",
	    "if true then\n  local put" },
	{ false, "asking for the status writes a field", "'HSET', key, 'w', 0, 'x'",
	    "'HSET', key, 'w', 0" },
	{ false, "a late reading sets the clock back", "e == E + 1", "false" },
	{ false, "a clock set back is not noticed", "e == E + 1", "e and e > E" },
	{ false, "the retries of 63 slices count", "E - 61 then return", "E - 62 then return" },
	{ false, "the successes of 58 slices count", "epoch >= E - 58", "epoch >= E - 57" },
	{ false, "all slots of the hash count", "add(e - (e - i) % 64", "add(E - (E - i) % 64" },
	{ false, "a clock set back keeps successes", "add(E, slot[1], 0, slot[3])",
	    "add(E, slot[1], slot[2], slot[3])" },
	{ false, "an epoch of the future is known", "if e and e <= E", "if e" },
	{ false, "missing sums are 0", "e == E and R and S and H and x", "e == E and S" },
	{ false, "sums are those of the last epoch", "S, H, x = 0, 0, 0, E",
	    "S, H, x = R or 0, 0, 0, E" },
	{ false, "the oldest retry is the latest", "or epoch < x", "or epoch > x" },
	{ false, "successes are not counted", "tonumber(ARGV[i + 1])", "0" },
	{ false, "successes count as retries", "tonumber(ARGV[i + 2])", "tonumber(ARGV[i + 1])" },
	{ false, "retries made alone do not count", "tonumber(ARGV[i + 2])", "0" },
	{ false, "retries are not paid back", "back > 0 and R > 0", "false" },
	{ false, "retries of longer slices are paid back", "tonumber(ARGV[1]) <= w", "true" },
	{ false, "the oldest retry is paid back, and still counts", "x = x - 1", "x = E" },
	{ false, "hosts are not counted", "add(E, 0, 0, first)", "" },
	{ false, "many successes count twice", "S % 1000000 * q", "S * q" },
	{ false, "many successes do not count", "math.floor(S / 1000000) * q", "0" },
	{ false, "ratio and minimum are added", "math.max(m, limit)", "m + limit" },
	{ false, "the lesser of ratio and minimum counts", "math.max(m, limit)",
	    "math.min(m, limit)" },
	{ false, "the last retry is for nobody", "R < limit", "R < limit - 1" },
	{ false, "emptied slots are not written", "if now and now ~= (",
	    "if now and now ~= '0 0 0' and now ~= (" },
	{ false, "the hash expires within the window", "w * 66", "w * 6" },
	{ false, "a grant is called a denial", "and 2 or k", "and 2 or 0" },
	{ false, "the status is called a denial", "n == 0 and 2", "n == 0 and 0" },
	{ false, "next is a slice early", "(x + 62) * w", "(x + 61) * w" },
	{ false, "hosts wait twice as long", "H * 500", "H * 1000" },
	{ false, "the window has 59 slices", "w * 60}", "w * 59}" },
};

static void check_script(const char *server) {
	struct trial_tally tally = trial_run(server, question_script, false);

	printf("fleet: %lld questions, %lld stale, %lld grants, %lld of them "
	       "checked, %lld hashes\n",
	    (long long)tally.questions, (long long)tally.stale, (long long)tally.grants,
	    (long long)tally.checks, (long long)tally.hashes);
	if (tally.wrong != NULL)
		errx(1, "the twin has another result for %s", tally.wrong);
	if (tally.broken)
		errx(1, "the promise is broken");
}

static void check_mutants(const char *server) {
	int greedy = 0, count = sizeof mutants / sizeof mutants[0];

	for (int i = 0; i < count; i++) {
		static char script[1 << 14];
		const struct mutant *mutant = &mutants[i];
		const char *at = strstr(question_script, mutant->right);
		struct trial_tally tally;

		if (at == NULL || strstr(at + 1, mutant->right) != NULL)
			errx(1, "the script must have once: %s", mutant->right);
		snprintf(script, sizeof script, "%.*s%s%s", (int)(at - question_script),
		    question_script, mutant->wrong, at + strlen(mutant->right));
		tally = trial_run(server, script, mutant->greedy);
		if (mutant->greedy ? !tally.broken : tally.wrong == NULL)
			errx(1, "%s if %s",
			    mutant->greedy ? "no promise is broken" : "nothing is found",
			    mutant->error);
		greedy += mutant->greedy;
	}
	printf("fleet: %d scripts with an error break the promise, "
	       "%d others are found\n",
	    greedy, count - greedy);
}

int main(int argc, char **argv) {
	if (argc == 2 && strcmp(argv[1], "script") == 0) {
		fputs(question_script, stdout);
		fprintf(stderr, "%s\n", question_script_sha1);
		return EXIT_SUCCESS;
	}
	if (argc != 3)
		errx(2,
		    "usage: script_check script | trials SOCKET | "
		    "mutants SOCKET");
	if (strcmp(argv[1], "mutants") == 0)
		check_mutants(argv[2]);
	else
		check_script(argv[2]);
	return EXIT_SUCCESS;
}
