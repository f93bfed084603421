#include "text/signame.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "text/number.h"
#include "text/strview.h"

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

/* The number base, plus or minus the digits in text, which is "" or sign and
 * digits. 0 if there is no such signal. */
static int
realtime(struct strview text, int base, char sign)
{
	int64_t offset = 0;

	if (text.length > 0 &&
	    (text.at[0] != sign ||
		!number_whole(text.at + 1, text.length - 1, &offset)))
		return 0;
	if (offset > RTMAX - RTMIN)
		return 0;
	return sign == '+' ? base + (int)offset : base - (int)offset;
}

int
signame_number(const char *text, size_t length)
{
	struct strview name = { text, length };
	int64_t number;

	if (number_whole(text, length, &number))
		return number <= RTMAX ? (int)number : 0;
	if (strview_starts(name, "SIG"))
		name = strview_after(name, strlen("SIG"));
	if (strview_starts(name, "RTMIN"))
		return realtime(
		    strview_after(name, strlen("RTMIN")), RTMIN, '+');
	if (strview_starts(name, "RTMAX"))
		return realtime(
		    strview_after(name, strlen("RTMAX")), RTMAX, '-');
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
		if (strview_is(name, signals[i].name))
			return signals[i].number;
	}
	return 0;
}

char *
signame_put(char room[SIGNAME_ROOM], int number)
{
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
		if (signals[i].number == number) {
			snprintf(room, SIGNAME_ROOM, "SIG%s", signals[i].name);
			return room;
		}
	}
	/* Counted from the nearer end, as the shells' kill -l does. */
	if (number == RTMIN || number == RTMAX)
		snprintf(room, SIGNAME_ROOM, "SIGRT%s",
		    number == RTMIN ? "MIN" : "MAX");
	else if (number > RTMIN && number <= RTMIN + (RTMAX - RTMIN) / 2)
		snprintf(room, SIGNAME_ROOM, "SIGRTMIN+%d", number - RTMIN);
	else if (number > RTMIN && number < RTMAX)
		snprintf(room, SIGNAME_ROOM, "SIGRTMAX-%d", RTMAX - number);
	else
		snprintf(room, SIGNAME_ROOM, "signal %d", number);
	return room;
}
