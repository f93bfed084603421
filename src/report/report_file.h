/*
 * report_file: replaces a file that the user has named, or adds to it, in one
 * step.
 *
 * The text is written to a temporary file in the same directory, which is then
 * renamed, so that no reader sees a part of the text. A symbolic link is
 * followed and stays. A device, a FIFO and a descriptor ("-", which is standard
 * error, /dev/stdout, /dev/fd/3) are written to directly, for as long as the
 * reader takes the text. So is a file that cannot be replaced, because it is a
 * mount point or its directory is not writable: a reader of such a file may see
 * a part.
 *
 * A text that is added is one write(2), however long it is. So any number of
 * processes may add to one file, and no line of one is within a line of
 * another.
 */
#ifndef REPORT_FILE_H
#define REPORT_FILE_H

#include <stdbool.h>
#include <sys/types.h>
#include "output/writer.h"
#include "attempt/event_loop.h"

struct report_file {
	const char *file;
	mode_t mode; /* 0: that of the old file, or what the umask allows */
	void (*put)(struct writer *writer, const void *with); /* the text */
	const void *with;
	bool append; /* the text is added to the file */

	/* How a slow reader is waited for: */
	struct event_loop *loop;
	nanos patience; /* how long a reader may take no bytes */
	bool ended; /* a signal has ended a wait, so there is no other one */

	/* The whole text, before any of it is written; private. */
	char *bytes;
	size_t length;
};

/*
 * Writes the file. False, with errno, if that failed; EINTR if target->ended is
 * the reason. The old file is still there then, unless it was written to
 * directly.
 */
bool report_file_write(struct report_file *target);

#endif
