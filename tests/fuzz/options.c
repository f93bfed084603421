/*
 * Parses any command line: first lines with variables of the environment, then
 * one word a line, then perhaps "%%" and the text of a file for --policy. The
 * parser must refuse it with two lines and 125, print something and exit with
 * 0, or return a policy whose fields are within their bounds. _exit is replaced
 * by a longjmp.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fuzz.h"
#include "exit_status.h"
#include "cli/options.h"
#include "match/pattern.h"
#include "cli/option.h"

enum {
	WORDS = 128,
	/* Allocations of one command line and of the lines of a file. */
	MOST = 4 * CONDITIONS_WATCHES + WORDS + OPTION_FILE_MOST / 4,
	POLICY = 100, /* descriptor of the policy file */
	SMALL = 8192,
};

/* The program is linked with --wrap for these five functions. */
_Noreturn void __real__exit(int status);
ssize_t __real_write(int fd, const void *bytes, size_t length);
int __real_close(int fd);
void *__real_malloc(size_t size);
void __real_free(void *room);
_Noreturn void __wrap__exit(int status);
ssize_t __wrap_write(int fd, const void *bytes, size_t length);
int __wrap_close(int fd);
void *__wrap_malloc(size_t size);
void __wrap_free(void *room);

/* What the functions see while options_parse runs. */
static struct {
	bool on;
	jmp_buf back;
	int status;
	size_t writes[3]; /* by descriptor */
	bool advised; /* the last line on standard error was the advice */
	void *allocated[MOST];
	size_t count, patterns; /* of these */
} reading;

static const char advice[] = "Try 'retry -h' for more information.\n";

_Noreturn void __wrap__exit(int status) {
	if (!reading.on)
		__real__exit(status);
	reading.status = status;
	longjmp(reading.back, 1);
}

ssize_t __wrap_write(int fd, const void *bytes, size_t length) {
	const char *text = bytes;

	if (!reading.on)
		return __real_write(fd, bytes, length);
	fuzz_never((fd != STDOUT_FILENO && fd != STDERR_FILENO) || length == 0);
	reading.writes[fd]++;
	if (fd == STDOUT_FILENO)
		return (ssize_t)length;
	/* One line without control characters, which begins with "retry: ". */
	for (size_t i = 0; i + 1 < length; i++)
		fuzz_never((text[i] & 0xe0) == 0 || text[i] == 0x7f);
	reading.advised = length == sizeof advice - 1 && memcmp(text, advice, length) == 0;
	fuzz_never(text[length - 1] != '\n' || length > 4096 ||
	    (!reading.advised && strncmp(text, "retry: ", 7) != 0));
	return (ssize_t)length;
}

int __wrap_close(int fd) {
	if (!reading.on || fd > STDERR_FILENO)
		return __real_close(fd);
	fuzz_never(fd != STDOUT_FILENO);
	return 0;
}

void *__wrap_malloc(size_t size) {
	void *room = __real_malloc(size);

	if (reading.on) {
		bool pattern =
		    size == sizeof(struct pattern) || size == sizeof(struct pattern_hint);

		/* All else is small: a limit, a LIST, the place of a line. */
		fuzz_never((size > SMALL && !pattern && size != OPTION_FILE_MOST + 1) ||
		    reading.count == MOST);
		reading.patterns += pattern;
		reading.allocated[reading.count++] = room;
	}
	return room;
}

void __wrap_free(void *room) {
	size_t i = 0;

	while (i < reading.count && reading.allocated[i] != room) i++;
	if (reading.on && i < reading.count)
		reading.allocated[i] = reading.allocated[--reading.count];
	__real_free(room);
}

static bool is_outside(int64_t value, int64_t least, int64_t most) {
	return value < least || value > most;
}

/* An action other than running a command has its key, and no command; options
 * that need a budget have one. */
static void check_action(const struct policy *policy, char *const argv[], size_t words) {
	enum action action = policy->action;
	bool given = policy->command != NULL;
	const struct budget_config *budget = &policy->budget;

	fuzz_never(given && (policy->command <= argv || policy->command >= argv + words));
	fuzz_never(action != ACTION_REHEARSE && given != (action == ACTION_RUN));
	fuzz_never(action != ACTION_STATUS && policy->format != FORMAT_TABLE);
	fuzz_never(action == ACTION_RESET && policy->subject == NULL);
	fuzz_never(policy->subject != NULL && *policy->subject == '\0');
	fuzz_never((action == ACTION_RUN || action == ACTION_REHEARSE) && budget->key == NULL &&
	    (budget->required || budget->cooldown > 0 || budget->breaker.failures > 0));
}

static void check_budget(const struct budget_config *budget) {
	const struct terms *terms = &budget->terms;
	const struct breaker_config *breaker = &budget->breaker;

	fuzz_never(budget->key != NULL && is_outside((int64_t)strlen(budget->key), 1, SEGMENT_KEY));
	fuzz_never(*budget->directory == '\0' || budget->wait < 0 ||
	    is_outside(terms->ratio, -1, SEGMENT_RATIO_MOST) ||
	    is_outside(terms->min, -1, SEGMENT_MIN_MOST) ||
	    (terms->window != -1 &&
		is_outside(terms->window, SEGMENT_WINDOW_LEAST, SEGMENT_WINDOW_MOST)) ||
	    is_outside(budget->cooldown, 0, NANOS_DAY));
	fuzz_never(is_outside(breaker->failures, 0, 1000000) ||
	    is_outside(breaker->most, breaker->pause, BREAKER_PAUSE_MOST) ||
	    (breaker->failures > 0) != (breaker->pause > 0));
}

/* Watches of presets share patterns; each pattern that was made is in use. */
static void check_watches(const struct watches *watches) {
	size_t patterns = 0;

	fuzz_never(is_outside(watches->count, 0, CONDITIONS_WATCHES));
	for (int i = 0; i < watches->count; i++) {
		const struct watch *watch = &watches->list[i];
		int first = 0;

		fuzz_never(watch->pattern == NULL || is_outside(watch->fd, 1, 2));
		while (watches->list[first].pattern != watch->pattern) first++;
		patterns += first == i;
	}
	fuzz_never(patterns != reading.patterns);
}

static void check_policy(const struct policy *policy, char *const argv[], size_t words) {
	const struct backoff *backoff = &policy->backoff;
	const char *const texts[] = { policy->report, policy->metrics, policy->retry_if,
		policy->on_retry, policy->on_give_up };

	check_action(policy, argv, words);
	check_budget(&policy->budget);
	check_watches(&policy->watches);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		fuzz_never(texts[i] != NULL && *texts[i] == '\0');
	fuzz_never(policy->stdin_max < 1 || policy->hold_max < 1 ||
	    policy->log_format > LOG_GITHUB || policy->progress > SHOWING_NEVER);
	fuzz_never(policy->attempts < 1 || policy->deadline < 0 || policy->kill_after < 0 ||
	    policy->splay < 0 || policy->reset_after < 0 || policy->max_retry_after < 0 ||
	    is_outside(policy->signal, 1, 64));
	fuzz_never(reading.writes[1] + reading.writes[2] != 0);
	fuzz_never(conditions_has_exit(&policy->rules.retry_on.later, 0));
	for (int i = 0; i < policy->timeouts.count; i++) fuzz_never(policy->timeouts.list[i] < 0);
	fuzz_never(is_outside(policy->limits, 0, POLICY_LIMITS));
	for (int i = 0; i < policy->limits; i++) {
		const struct limit *limit = policy->limit[i];

		fuzz_never(limit->retries < 0 || conditions_empty(&limit->failures) ||
		    strchr(limit->text, ':') == NULL);
	}
	fuzz_never(is_outside(backoff->delays.count, 1, SPANS_MOST) || backoff->floor < 0 ||
	    backoff->cap < backoff->floor);
	for (int i = 0; i < backoff->delays.count; i++) fuzz_never(backoff->delays.list[i] < 0);
}

/* Writes what follows "%%" to the policy file. False if there is none. */
static bool make_file(char *text, size_t size) {
	char *mark = memmem(text, size, "\n%%\n", 4);
	size_t length;

	if (mark == NULL)
		return false;
	length = size - (size_t)(mark + 4 - text);
	if (fcntl(POLICY, F_GETFD) == -1) {
		int fd = memfd_create("policy", 0);

		fuzz_never(fd == -1 || dup2(fd, POLICY) == -1);
		close(fd);
	}
	fuzz_never(ftruncate(POLICY, 0) == -1 ||
	    pwrite(POLICY, mark + 4, length, 0) != (ssize_t)length);
	*mark = '\0';
	return true;
}

/*
 * Splits text into variables and words. Returns the number of words, argv[0]
 * included. A path behind --policy becomes a bare name, which is in no
 * directory: no file is opened.
 */
static size_t split(char *text, size_t size, char *argv[WORDS], char *env[WORDS]) {
	static char name[] = "retry", option[] = "--policy", file[] = "/proc/self/fd/100";
	size_t count = 1, variables = 0;
	char *word;
	bool named = false;

	argv[0] = program_invocation_short_name = name;
	if (make_file(text, size)) {
		argv[count++] = option;
		argv[count++] = file;
	}
	while (count + variables < WORDS - 1 && (word = strsep(&text, "\n")) != NULL) {
		if (count <= 3 && strncmp(word, "RETRY_", 6) == 0) {
			env[variables++] = word;
			continue;
		}
		argv[count++] = word;
		named = named || strncmp(word, option, 8) == 0;
		for (char *at = word; named && *at != '\0'; at++) *at = *at == '/' ? '_' : *at;
		named = strcmp(word, option) == 0;
	}
	argv[count] = NULL;
	env[variables] = NULL;
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static struct policy policy;
	static char *argv[WORDS], *env[WORDS];
	char **environment = environ;
	char *text = fuzz_text(data, size);
	size_t words;
	int first;

	words = split(text, size, argv, env);
	first = dup(STDIN_FILENO);
	close(first);
	memset(reading.writes, 0, sizeof reading.writes);
	reading.count = reading.patterns = 0;
	environ = env;
	reading.on = true;
	if (setjmp(reading.back) == 0) {
		options_parse((int)words, argv, &policy);
		reading.on = false;
		check_policy(&policy, argv, words);
	} else {
		bool failed = reading.status == EXIT_STATUS_FAILED;

		reading.on = false;
		fuzz_never(reading.status != 0 && !failed);
		fuzz_never(failed != (reading.writes[1] == 0));
		fuzz_never(failed ? reading.writes[2] != 2 || !reading.advised
				  : reading.writes[2] != 0);
	}
	environ = environment;
	/* What was refused may have been open. */
	close_range((unsigned)first, POLICY - 1, 0);
	while (reading.count > 0) free(reading.allocated[--reading.count]);
	free(text);
	return 0;
}
