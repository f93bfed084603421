/*
 * Any command line, a word a line, after lines that are variables: it is
 * refused in two lines with 125, shown something with 0, or it gives a policy
 * that keeps the promises of its types.
 * The options exit where something is wrong; here _exit jumps back instead.
 */
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../../src/options.h"
#include "../../src/pattern.h"
#include "../../src/words.h"

enum {
	WORDS = 128,
	MOST = 4 * CODES_WATCHES, /* allocations of one command line */
};

/* Linked with --wrap for these four. */
_Noreturn void __real__exit(int status);
ssize_t __real_write(int fd, const void *bytes, size_t length);
int __real_close(int fd);
void *__real_malloc(size_t size);
_Noreturn void __wrap__exit(int status);
ssize_t __wrap_write(int fd, const void *bytes, size_t length);
int __wrap_close(int fd);
void *__wrap_malloc(size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What goes on while the options are read, and only then. */
static struct {
	bool on;
	jmp_buf back;
	int status;
	size_t writes[3]; /* by descriptor */
	bool hinted; /* the last line on standard error was the hint */
	void *allocated[MOST];
	size_t count;
} reading;

static const char hint[] = "Try 'retry --help' for more information.\n";

_Noreturn void
__wrap__exit(int status)
{
	if (!reading.on)
		__real__exit(status);
	reading.status = status;
	longjmp(reading.back, 1);
}

ssize_t
__wrap_write(int fd, const void *bytes, size_t length)
{
	const char *text = bytes;

	if (!reading.on)
		return __real_write(fd, bytes, length);
	if ((fd != STDOUT_FILENO && fd != STDERR_FILENO) || length == 0)
		abort();
	reading.writes[fd]++;
	if (fd == STDOUT_FILENO)
		return (ssize_t)length;
	/* One line, all of it printable, begun as all of ours are. */
	for (size_t i = 0; i + 1 < length; i++)
		if ((text[i] & 0xe0) == 0 || text[i] == 0x7f)
			abort();
	reading.hinted =
	    length == sizeof hint - 1 && memcmp(text, hint, length) == 0;
	if (text[length - 1] != '\n' || length > 4096 ||
	    (!reading.hinted && strncmp(text, "retry: ", 7) != 0))
		abort();
	return (ssize_t)length;
}

int
__wrap_close(int fd)
{
	if (!reading.on)
		return __real_close(fd);
	if (fd != STDOUT_FILENO)
		abort();
	return 0;
}

void *
__wrap_malloc(size_t size)
{
	void *room = __real_malloc(size);

	if (reading.on) {
		if (size != sizeof(struct pattern) || reading.count == MOST)
			abort();
		reading.allocated[reading.count++] = room;
	}
	return room;
}

static void
check_refused(void)
{
	switch (reading.status) {
	case 0:
		if (reading.writes[1] == 0 || reading.writes[2] != 0)
			abort();
		break;
	case WORDS_FAILED:
		if (reading.writes[1] != 0 || reading.writes[2] != 2 ||
		    !reading.hinted)
			abort();
		break;
	default:
		abort();
	}
}

static void
check_backoff(const struct backoff *backoff)
{
	if (backoff->count < 1 || backoff->count > BACKOFF_DELAYS ||
	    backoff->floor < 0 || backoff->cap < backoff->floor)
		abort();
	for (size_t i = 0; i < (size_t)backoff->count; i++)
		if (backoff->delays[i] < 0)
			abort();
}

static void
check_share(const struct share *share)
{
	const struct terms *terms = &share->terms;
	const struct breaker *breaker = &share->breaker;

	if (share->key != NULL &&
	    (*share->key == '\0' || strlen(share->key) > SEGMENT_KEY))
		abort();
	if (*share->directory == '\0' || terms->ratio < -1 ||
	    terms->ratio > SEGMENT_RATIO_MOST || terms->min < -1 ||
	    terms->min > SEGMENT_MIN_MOST ||
	    (terms->window != -1 && terms->window < SEGMENT_WINDOW_LEAST) ||
	    terms->window > SEGMENT_WINDOW_MOST || share->wait < 0 ||
	    share->cooldown < 0 || share->cooldown > NANOS_DAY)
		abort();
	if (breaker->failures < 0 || breaker->failures > 1000000 ||
	    breaker->most < breaker->pause || breaker->most > GATE_PAUSE_MOST ||
	    (breaker->failures > 0) != (breaker->pause > 0))
		abort();
}

/* What is done instead of running a command has what it needs for that. */
static void
check_action(const struct policy *policy, char *const argv[], size_t words)
{
	if (policy->action == ACTION_RUN
		? policy->command <= argv || policy->command >= argv + words
		: policy->command != NULL)
		abort();
	if (policy->action != ACTION_STATUS && policy->format != FORMAT_TABLE)
		abort();
	if ((policy->action == ACTION_STATUS ||
		policy->action == ACTION_RESET) &&
	    *policy->subject == '\0')
		abort();
}

/* What needs a budget has one. */
static void
check_budget(const struct policy *policy)
{
	const struct share *share = &policy->share;

	if (policy->action == ACTION_RUN && share->key == NULL &&
	    (share->required || share->cooldown > 0 ||
		share->breaker.failures > 0))
		abort();
}

static void
check_policy(const struct policy *policy, char *const argv[], size_t words)
{
	const struct watches *watches = &policy->watches;

	check_action(policy, argv, words);
	check_share(&policy->share);
	check_budget(policy);
	if (policy->attempts < 1 || policy->deadline < 0 ||
	    policy->timeout < 0 || policy->kill_after < 0 ||
	    policy->splay < 0 || policy->reset_after < 0 ||
	    policy->max_retry_after < 0 || policy->signal < 1 ||
	    policy->signal > 64)
		abort();
	if (reading.writes[1] + reading.writes[2] != 0)
		abort();
	if (codes_has_exit(&policy->rules.retry_on, 0))
		abort();
	if (watches->count < 0 || watches->count > CODES_WATCHES ||
	    (size_t)watches->count != reading.count)
		abort();
	for (int i = 0; i < watches->count; i++)
		if (watches->list[i].pattern == NULL ||
		    (watches->list[i].fd != 1 && watches->list[i].fd != 2))
			abort();
	check_backoff(&policy->backoff);
}

/*
 * Cuts text into variables and words. Returns how many words there are, argv[0]
 * included.
 */
static size_t
split(char *text, char *argv[WORDS], char *env[WORDS])
{
	static char name[] = "retry";
	size_t count = 1, variables = 0;
	char *word;

	argv[0] = name;
	while (count + variables < WORDS - 1 &&
	    (word = strsep(&text, "\n")) != NULL)
		if (count == 1 && strncmp(word, "RETRY_", 6) == 0)
			env[variables++] = word;
		else
			argv[count++] = word;
	argv[count] = NULL;
	env[variables] = NULL;
	return count;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct policy policy;
	static char *argv[WORDS], *env[WORDS];
	char **environment = environ;
	char *text = malloc(size + 1);
	size_t words;

	if (text == NULL)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	words = split(text, argv, env);
	memset(reading.writes, 0, sizeof reading.writes);
	reading.count = 0;
	environ = env;
	reading.on = true;
	if (setjmp(reading.back) == 0) {
		policy = options_parse((int)words, argv);
		reading.on = false;
		check_policy(&policy, argv, words);
	} else {
		reading.on = false;
		check_refused();
	}
	environ = environment;
	while (reading.count > 0)
		free(reading.allocated[--reading.count]);
	free(text);
	return 0;
}
