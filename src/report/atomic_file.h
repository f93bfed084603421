/*
 * atomic_file: a file that the user has named for something to be written to.
 *
 * It is written beside its name and gets that when it is complete, so that
 * nobody sees half of one. Of a symbolic link that is the name it stands for,
 * and the link stays. What is no regular file (a device, a FIFO) and what
 * is named by its descriptor ("-", which is standard error, /dev/stdout,
 * /dev/fd/3) is written to as it is, for as long as its reader takes it. So is
 * a file that cannot be replaced, a mount point or one in a directory that is
 * not ours to write to: in one go, but a reader may see half of it.
 */
#ifndef ATOMIC_FILE_H
#define ATOMIC_FILE_H

#include <stdbool.h>
#include <sys/types.h>
#include "output/writer.h"
#include "attempt/event_loop.h"

struct atomic_file {
	const char *file;
	mode_t mode; /* 0: that of the file before, or as the umask has it */
	void (*put)(struct writer *writer, const void *with); /* writes it */
	const void *with;
};

/* How readers who take their time are waited for. */
struct atomic_file_wait {
	struct event_loop *loop;
	nanos patience; /* with one who takes nothing */
	int signal; /* which ended a wait, so that there is no other; or 0 */
};

/*
 * False, with errno, where it could not be written: EINTR where wait->signal
 * is why. What was there before is there still, unless it is one of what is
 * written to as it is.
 */
bool atomic_file_write(
    const struct atomic_file *target, struct atomic_file_wait *wait);

#endif
