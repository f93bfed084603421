/*
 * exit_status: the exit statuses that retry gives, where it does not give the
 * command's own.
 */
#ifndef EXIT_STATUS_H
#define EXIT_STATUS_H

enum exit_status {
	EXIT_STATUS_UNSUCCESSFUL = 1, /* exit 0, which was judged a failure */
	EXIT_STATUS_NO_BUDGET = 69, /* a required budget cannot be used */
	EXIT_STATUS_HELD = 75, /* the first attempt was held back */
	EXIT_STATUS_TIMEOUT = 124, /* a limit of time ended it, or came first */
	EXIT_STATUS_FAILED = 125, /* retry itself failed, or was misused */
	EXIT_STATUS_NOT_EXECUTABLE = 126,
	EXIT_STATUS_NOT_FOUND = 127,
	EXIT_STATUS_SIGNAL = 128, /* and the number of the signal */
};

#endif
