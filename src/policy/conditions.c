#include "policy/conditions.h"

#include <signal.h>
#include <string.h>
#include "exit_status.h"
#include "text/number.h"

/*
 * The real-time signals as glibc, and so nearly every shell and kill(1),
 * counts them. SIGRTMIN is a call into libc, and musl's answer is 35: one
 * program would have two names for one signal, by how it was linked.
 */
#define RTMIN 34
#define RTMAX 64

/* The length of "stderr:" and of "stdout:". */
#define WATCH_PREFIX 7

/* In words for struct conditions_error. */
#define MALFORMED "not an exit status, signal or condition"

/* Of several names for one number the first is the one that is shown. */
static const struct {
	char name[7];
	unsigned char number;
} signals[] = {
	{ "HUP", SIGHUP },
	{ "INT", SIGINT },
	{ "QUIT", SIGQUIT },
	{ "ILL", SIGILL },
	{ "TRAP", SIGTRAP },
	{ "ABRT", SIGABRT },
	{ "IOT", SIGIOT },
	{ "BUS", SIGBUS },
	{ "FPE", SIGFPE },
	{ "KILL", SIGKILL },
	{ "USR1", SIGUSR1 },
	{ "SEGV", SIGSEGV },
	{ "USR2", SIGUSR2 },
	{ "PIPE", SIGPIPE },
	{ "ALRM", SIGALRM },
	{ "TERM", SIGTERM },
#ifdef SIGSTKFLT
	{ "STKFLT", SIGSTKFLT },
#endif
	{ "CHLD", SIGCHLD },
	{ "CLD", SIGCHLD },
	{ "CONT", SIGCONT },
	{ "STOP", SIGSTOP },
	{ "TSTP", SIGTSTP },
	{ "TTIN", SIGTTIN },
	{ "TTOU", SIGTTOU },
	{ "URG", SIGURG },
	{ "XCPU", SIGXCPU },
	{ "XFSZ", SIGXFSZ },
	{ "VTALRM", SIGVTALRM },
	{ "PROF", SIGPROF },
	{ "WINCH", SIGWINCH },
	{ "IO", SIGIO },
	{ "POLL", SIGPOLL },
	{ "PWR", SIGPWR },
	{ "SYS", SIGSYS },
};

/* By hand: isdigit() and tolower() depend on the locale. */
static bool
digit(char c)
{
	return c >= '0' && c <= '9';
}

static char
upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Whether text starts with prefix (in capitals), in either case. */
static bool
starts(const char *text, size_t length, const char *prefix)
{
	size_t i = 0;

	while (i < length && prefix[i] != '\0' && upper(text[i]) == prefix[i])
		i++;
	return prefix[i] == '\0';
}

static bool
same(const char *text, size_t length, const char *word)
{
	return length == strlen(word) && strncmp(text, word, length) == 0;
}

/* The number of base and what is written behind it, "" or sign and digits. */
static int
realtime(const char *text, size_t length, int base, char sign)
{
	int64_t offset = 0;

	if (length > 0 &&
	    (text[0] != sign || !number_whole(text + 1, length - 1, &offset)))
		return 0;
	if (offset > RTMAX - RTMIN)
		return 0;
	return sign == '+' ? base + (int)offset : base - (int)offset;
}

/* The number of a signal by its name, "SIGSEGV" or "SEGV"; 0 for none. */
static int
named(const char *text, size_t length)
{
	const size_t prefix = strlen("RTMIN");

	if (starts(text, length, "SIG")) {
		text += strlen("SIG");
		length -= strlen("SIG");
	}
	if (starts(text, length, "RTMIN"))
		return realtime(text + prefix, length - prefix, RTMIN, '+');
	if (starts(text, length, "RTMAX"))
		return realtime(text + prefix, length - prefix, RTMAX, '-');
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
		if (length == strlen(signals[i].name) &&
		    starts(text, length, signals[i].name))
			return signals[i].number;
	}
	return 0;
}

int
conditions_signal(const char *text, size_t length)
{
	int64_t number;

	if (number_whole(text, length, &number))
		return number <= RTMAX ? (int)number : 0;
	return named(text, length);
}

static void
add_signal(struct conditions *set, int number)
{
	set->signals |= UINT64_C(1) << (number - 1);
}

static void
add_exit(struct conditions *set, unsigned code)
{
	set->exits[code / 64] |= UINT64_C(1) << (code % 64);
}

/* Adds a condition that has a name; returns what is wrong with it, or NULL. */
static const char *
add_word(struct conditions *set, const char *item, size_t length)
{
	int number = named(item, length);

	if (same(item, length, "signal"))
		set->any_signal = true;
	else if (same(item, length, "timeout"))
		set->timeout = true;
	else if (same(item, length, "fail"))
		set->fail = true;
	else if (number > 0)
		add_signal(set, number);
	else
		return MALFORMED;
	return NULL;
}

/* Adds "7" or "64-78"; returns what is wrong with it, or NULL. */
static const char *
add_range(struct conditions *set, const char *item, size_t length)
{
	const char *dash = memchr(item, '-', length);
	size_t split = dash == NULL ? length : (size_t)(dash - item);
	int64_t low, high;

	if (!number_whole(item, split, &low))
		return MALFORMED;
	high = low;
	if (dash != NULL && !number_whole(dash + 1, length - split - 1, &high))
		return MALFORMED;
	if (low > 255 || high > 255)
		return "above 255 (an HTTP status is http:500)";
	if (low > high)
		return "a range that runs backwards";
	for (; low <= high; low++)
		add_exit(set, (unsigned)low);
	return NULL;
}

/* Whether item is three digits, the last two of which may be xx. */
static bool
http_class(const char *item, size_t length)
{
	return length == 3 && digit(item[0]) && item[1] == 'x' &&
	    item[2] == 'x';
}

static bool
http_status(const char *item, size_t length, int64_t *code)
{
	return number_whole(item, length, code) &&
	    *code >= CONDITIONS_HTTP_FIRST && *code <= CONDITIONS_HTTP_LAST;
}

/* "503", "500-504" or "5xx" as a range of statuses. */
static bool
http_range(const char *item, size_t length, int64_t *low, int64_t *high)
{
	const char *dash = memchr(item, '-', length);
	size_t split = dash == NULL ? length : (size_t)(dash - item);

	if (http_class(item, length)) {
		*low = INT64_C(100) * (item[0] - '0');
		*high = *low + 99;
		return *low >= CONDITIONS_HTTP_FIRST &&
		    *high <= CONDITIONS_HTTP_LAST;
	}
	if (!http_status(item, split, low))
		return false;
	*high = *low;
	return dash == NULL || http_status(dash + 1, length - split - 1, high);
}

/* Adds what follows "http:"; returns what is wrong with it, or NULL. */
static const char *
add_http(struct conditions *set, const char *item, size_t length)
{
	int64_t low, high;

	if (!http_range(item, length, &low, &high))
		return "not an HTTP status";
	if (low > high)
		return "a range that runs backwards";
	for (low -= CONDITIONS_HTTP_FIRST; low <= high - CONDITIONS_HTTP_FIRST;
	     low++)
		set->http[low / 64] |= UINT64_C(1) << (low % 64);
	return NULL;
}

static const char *
add_item(struct conditions *set, const char *item, size_t length)
{
	if (length == 0)
		return "empty item";
	if (length >= 5 && strncmp(item, "http:", 5) == 0)
		return add_http(set, item + 5, length - 5);
	if (digit(item[0]))
		return add_range(set, item, length);
	return add_word(set, item, length);
}

bool
conditions_watch(
    struct conditions *set, struct watches *watches, int fd, const char *text)
{
	int i = 0;

	while (i < watches->count &&
	    (watches->list[i].fd != fd ||
		strcmp(watches->list[i].text, text) != 0))
		i++;
	if (i == CONDITIONS_WATCHES)
		return false;
	if (i == watches->count)
		watches->list[watches->count++] =
		    (struct watch){ .text = text, .fd = fd };
	set->watches |= UINT64_C(1) << i;
	return true;
}

/* The descriptor whose pattern starts here, 0 if none does. */
static int
watched(const char *item)
{
	if (strncmp(item, "stdout:", WATCH_PREFIX) == 0)
		return 1;
	return strncmp(item, "stderr:", WATCH_PREFIX) == 0 ? 2 : 0;
}

bool
conditions_parse(struct conditions *set, struct watches *watches,
    const char *list, struct conditions_error *error)
{
	struct conditions sum = *set;

	for (;; list++) {
		size_t length = strcspn(list, ",");
		int fd = watched(list);
		const char *why;

		if (fd != 0) {
			length = strlen(list);
			why = conditions_watch(
				  &sum, watches, fd, list + WATCH_PREFIX)
			    ? NULL
			    : "more than 64 patterns";
		} else {
			why = add_item(&sum, list, length);
		}
		if (why != NULL) {
			*error = (struct conditions_error){ why, list, length };
			return false;
		}
		list += length;
		if (*list == '\0')
			break;
	}
	*set = sum;
	return true;
}

bool
conditions_empty(const struct conditions *set)
{
	uint64_t any = set->signals | set->watches;

	for (size_t i = 0; i < sizeof set->exits / sizeof set->exits[0]; i++)
		any |= set->exits[i];
	return any == 0 && !conditions_has_http(set, 0) && !set->any_signal &&
	    !set->timeout && !set->fail;
}

bool
conditions_has_exit(const struct conditions *set, int code)
{
	if (code < 0 || code > 255)
		return false;
	return (set->exits[code / 64] >> (code % 64) & 1) != 0;
}

bool
conditions_has_http(const struct conditions *set, int code)
{
	uint64_t any = 0;

	for (size_t i = 0; i < sizeof set->http / sizeof set->http[0]; i++)
		any |= set->http[i];
	if (code == 0)
		return any != 0;
	code -= CONDITIONS_HTTP_FIRST;
	return code >= 0 &&
	    code <= CONDITIONS_HTTP_LAST - CONDITIONS_HTTP_FIRST &&
	    (set->http[code / 64] >> (code % 64) & 1) != 0;
}

bool
conditions_names_signal(const struct conditions *set, int number)
{
	if (number < 1 || number > 127)
		return false;
	if (number <= RTMAX && (set->signals >> (number - 1) & 1) != 0)
		return true;
	return conditions_has_exit(set, EXIT_STATUS_SIGNAL + number);
}

/* The name without SIG of a signal that is not real-time, or NULL. */
static const char *
plain_name(int number)
{
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
		if (signals[i].number == number)
			return signals[i].name;
	}
	return NULL;
}

/* Writes word and rest, cut where the room ends; returns room. */
static char *
join(char room[CONDITIONS_SIGNAL_ROOM], const char *word, const char *rest)
{
	size_t length = strlen(word), more = strlen(rest);

	if (more > CONDITIONS_SIGNAL_ROOM - length - 1)
		more = CONDITIONS_SIGNAL_ROOM - length - 1;
	memcpy(room, word, length);
	memcpy(room + length, rest, more);
	room[length + more] = '\0';
	return room;
}

char *
conditions_signal_name(char room[CONDITIONS_SIGNAL_ROOM], int number)
{
	const char *name = plain_name(number);
	char digits[NUMBER_ROOM];

	if (name != NULL)
		return join(room, "SIG", name);
	if (number == RTMIN)
		return join(room, "SIG", "RTMIN");
	if (number == RTMAX)
		return join(room, "SIG", "RTMAX");
	/* From the nearer end, as kill -l of the shells has it. */
	if (number > RTMIN && number <= RTMIN + (RTMAX - RTMIN) / 2)
		return join(
		    room, "SIGRTMIN+", number_put(digits, number - RTMIN));
	if (number > RTMIN && number < RTMAX)
		return join(
		    room, "SIGRTMAX-", number_put(digits, RTMAX - number));
	return join(room, "signal ", number_put(digits, number));
}
