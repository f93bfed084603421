#include "text/signame.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "text/number.h"

/*
 * These are constants, because SIGRTMIN is a call into libc, which returns 35
 * in musl: the name of a signal would depend on how the program was linked.
 */
#define RTMIN 34
#define RTMAX SIGNAME_LAST

/* If a number has several names, signame_put() writes the first one. */
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

/* By hand: toupper() depends on the locale. */
static char
upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Whether text starts with prefix, which is in capitals; case is ignored. */
static bool
starts(const char *text, size_t length, const char *prefix)
{
	size_t i = 0;

	while (i < length && prefix[i] != '\0' && upper(text[i]) == prefix[i])
		i++;
	return prefix[i] == '\0';
}

/* The number base, plus or minus the digits in text, which is "" or sign and
 * digits. 0 if there is no such signal. */
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

int
signame_number(const char *text, size_t length)
{
	const size_t prefix = strlen("RTMIN");
	int64_t number;

	if (number_whole(text, length, &number))
		return number <= RTMAX ? (int)number : 0;
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

/* Writes word and rest, cut off where room ends. */
static char *
join(char room[SIGNAME_ROOM], const char *word, const char *rest)
{
	size_t length = strlen(word), more = strlen(rest);

	if (more > SIGNAME_ROOM - length - 1)
		more = SIGNAME_ROOM - length - 1;
	memcpy(room, word, length);
	memcpy(room + length, rest, more);
	room[length + more] = '\0';
	return room;
}

char *
signame_put(char room[SIGNAME_ROOM], int number)
{
	char digits[NUMBER_ROOM];

	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
		if (signals[i].number == number)
			return join(room, "SIG", signals[i].name);
	}
	if (number == RTMIN)
		return join(room, "SIG", "RTMIN");
	if (number == RTMAX)
		return join(room, "SIG", "RTMAX");
	/* Counted from the nearer end, as the shells' kill -l does. */
	if (number > RTMIN && number <= RTMIN + (RTMAX - RTMIN) / 2)
		return join(
		    room, "SIGRTMIN+", number_put(digits, number - RTMIN));
	if (number > RTMIN && number < RTMAX)
		return join(
		    room, "SIGRTMAX-", number_put(digits, RTMAX - number));
	return join(room, "signal ", number_put(digits, number));
}
