/*
 * signame: the name of a signal to its number, and back.
 *
 * The real-time signals are counted as glibc, and so nearly every shell and
 * kill(1), counts them: SIGRTMIN is 34 and SIGRTMAX is 64.
 */
#ifndef SIGNAME_H
#define SIGNAME_H

#include <stddef.h>

/* The highest number of a signal. */
#define SIGNAME_LAST 64

/* Room for any signal's name ("SIGRTMIN+15") and the closing NUL. */
#define SIGNAME_ROOM 16

/*
 * The number of a signal written as "TERM", "SIGTERM", "15", "RTMIN+3" or
 * "RTMAX-1", in upper or lower case; 0 if there is no such signal.
 */
int signame_number(const char *text, size_t length);

/*
 * Writes the name of signal number ("SIGTERM", "SIGRTMIN+3", "signal 99")
 * and returns room.
 */
char *signame_put(char room[SIGNAME_ROOM], int number);

#endif
