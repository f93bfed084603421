/*
 * activity: notices that the command writes to its output, for --idle-timeout.
 *
 * How it is noticed depends on what the output is. A pipe or a stream socket is
 * relayed (relay.h), so that only what the attempt itself writes counts. A file
 * is looked at from time to time. A terminal or another device is watched with
 * inotify: in place of a terminal, a pipe would make the command keep its
 * output back. Of these, what any other process writes counts, too.
 */
#ifndef ACTIVITY_H
#define ACTIVITY_H

#include <stdbool.h>
#include <sys/stat.h>
#include "text/duration.h"

enum activity_way {
	ACTIVITY_NEVER, /* the output is closed, or not open for writing */
	ACTIVITY_RELAYED, /* relay_active() tells */
	ACTIVITY_FILE, /* the file's size and time tell */
	ACTIVITY_DEVICE, /* inotify tells */
	ACTIVITY_UNKNOWN, /* it cannot be noticed */
};

/* Begins as { .look = NANOS_MAX, .inotify = -1, .unknown = -1 }. */
struct activity {
	nanos look; /* the time between two looks; NANOS_MAX: never look */
	int inotify; /* a descriptor that reports writes to devices, or -1 */
	int unknown; /* the descriptor that cannot be watched, or -1 */
	struct activity_output {
		enum activity_way way;
		int file; /* a descriptor of the file or device */
		struct stat before; /* of a file, at the last look */
	} outputs[2]; /* standard output, standard error */
};

/*
 * Notices writes to descriptor fd, 1 or 2, for a limit of this length; held:
 * the command will write to a file of retry instead. Relayed outputs are left
 * to the caller. False, with errno, if it cannot be noticed that the command
 * writes to fd.
 */
bool activity_add(struct activity *activity, int fd, bool held, nanos limit);

/* An attempt has begun to write. out and err are the files of held outputs. */
void activity_begin(struct activity *activity, int out, int err);

/*
 * Whether a file or a device was written to since the last look, or the command
 * may be waiting until a device has room, as a terminal after Ctrl-S.
 */
bool activity_look(struct activity *activity);

#endif
