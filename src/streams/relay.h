/*
 * relay: passes the command's output on through a pipe, and matches it.
 *
 * A stream that a pattern looks at becomes a pipe for the command. What is read
 * from the pipe is written on at once, byte for byte, and then matched, some
 * milliseconds at a time: meanwhile no signal is handled, and no limit. While
 * the reader of retry's output takes nothing, the pipe is not read either, so
 * the command blocks as it would without retry. All that is done by
 * relay_serve(), at the end of each wait. For --idle-timeout, a stream without
 * a pattern may be relayed, too. Any other stream is inherited by the command,
 * without a pipe.
 *
 * Each attempt gets its own pipe. A background process of an earlier attempt
 * may still write to the pipe of that attempt: its bytes are written on,
 * unmatched. The output of an attempt up to its end is written before that of
 * later ones.
 */
#ifndef RELAY_H
#define RELAY_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include "policy/verdict.h"
#include "output/nonblock.h"

/* The most pipes of one stream: the latest attempt's and earlier ones'. */
#define RELAY_SOURCES 64

/* The most elements for poll(2): of both streams the pipes and the output. */
#define RELAY_POLLED (2 * (RELAY_SOURCES + 1))

/* The most bytes of the end of a stream that relay_tail() has. */
#define RELAY_TAIL 4096

/* The read end of the pipe of one attempt. */
struct source {
	int fd;
	bool matched; /* of the running attempt: match it */
	size_t owed; /* bytes that the command has left in it at its end */
};

struct stream {
	int fd; /* the command's: 1 or 2 */
	bool both; /* fd is 1, and 2 gets the same pipe */
	struct nonblock output;
	bool captured; /* output is the file of the latest attempt's capture */
	int sink; /* the end that the child gets as fd, or -1 */
	int error; /* errno of the write that failed, or 0 */
	size_t count; /* of sources, the oldest first */
	struct source sources[RELAY_SOURCES];
	char
	    *bytes; /* the end of what the attempt has written; a read behind */
	size_t kept; /* how much of it is the attempt's */
	size_t start, length; /* of bytes: not yet written */
	/* How many of those kept are to be matched, or 0; the watch that is
	 * next, and how many of them it has had. */
	size_t unmatched, fed;
	int watch;
};

/* Begins without streams. */
struct relay {
	/* Each has its pattern, which only the relay uses and changes. */
	const struct watches *watches;
	struct stream *list;
	size_t count;
	bool moved; /* since the last call of relay_active() */
	nanos until; /* CLOCK_MONOTONIC: when the latest turn is over */
};

/*
 * Relays fd, 1 or 2; both: 2 gets the same pipe as 1, so that the order of both
 * outputs stays. Does nothing if fd is closed. midline: see nonblock.h. False,
 * with errno.
 */
bool relay_add(struct relay *relay, int fd, bool both, bool *midline);

/*
 * The relay will write the next attempt's output on fd, 1 or 2, into file (see
 * capture.h). Further output of earlier attempts is dropped. False if fd is not
 * relayed.
 */
bool relay_redirect(struct relay *relay, int fd, int file);

/* Makes the pipes of an attempt that is about to begin. False, with errno. */
bool relay_begin(struct relay *relay);

/* In the child, before exec. False, with errno. */
bool relay_attach(const struct relay *relay);

/* In the parent, after fork. */
void relay_forked(struct relay *relay);

/* Fills fds, which has RELAY_POLLED elements, and returns how many it used. */
size_t relay_poll(const struct relay *relay, struct pollfd *fds);

/* Reads and writes what poll found possible in fds, as relay_poll filled it. */
void relay_serve(struct relay *relay, const struct pollfd *fds);

/* Whether bytes are still to be matched: relay_serve() is due at once. */
bool relay_matches(const struct relay *relay);

/*
 * Whether the attempt that runs has written to a pipe, or output was written
 * on, since the last call; or whether output is matched or waits for a reader
 * now.
 */
bool relay_active(struct relay *relay);

/* The command has ended: what is in its pipes now will be written on. */
void relay_ended(struct relay *relay);

/* How much of an ended attempt's output may still come. */
enum relay_rest {
	RELAY_OWED, /* not all that the command wrote is written on */
	RELAY_STRAGGLING, /* all is written, another process has the pipe */
	RELAY_OVER,
};

enum relay_rest relay_rest(struct relay *relay);

/*
 * The attempt is over. Its pipes stay open and are relayed without matching:
 * a process that still writes to a pipe must not die of SIGPIPE while retry
 * lives. Fills in seen, has_hint, hint and vague of a new outcome: which
 * watches have found something, and the longest wait that one has found, or
 * which hint has matched if none has found any.
 */
void relay_finish(struct relay *relay, struct outcome *outcome);

/*
 * The last bytes that the latest attempt wrote to fd, 1 or 2, if it is relayed.
 * Returns how many; *text stays as it is until relay_serve() is called.
 */
size_t relay_tail(const struct relay *relay, int fd, const char **text);

/*
 * The errno with which a relayed stream could not be written; 0 if there was
 * none, or if only its reader was gone; ETIMEDOUT if writing took too long.
 */
int relay_error(const struct relay *relay, int fd);

/*
 * Whether output that is not captured was lost, because it could not be written
 * although it has a reader: no later attempt can make up for that.
 */
bool relay_failed(const struct relay *relay);

#endif
