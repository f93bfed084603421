/*
 * tempfile: bytes that wait in an unlinked temporary file: what an attempt
 * wrote and nobody has seen yet, what every attempt is to read again. The file
 * is handed to the command itself, so nothing passes through us.
 */
#ifndef TEMPFILE_H
#define TEMPFILE_H

#include <stdbool.h>
#include <sys/types.h>

/* Where files are made; *named: TMPDIR says so. */
const char *tempfile_directory(bool *named);

/*
 * A new file, empty, without a name, for us alone, in TMPDIR or /tmp, or in
 * memory where TMPDIR names none and there is no /tmp to write to: its
 * descriptor, 10 or above where there is room and close-on-exec; -1 with errno.
 */
int tempfile_open(void);

/*
 * The same file with an offset and flags of its own (0 for reading): a
 * straggler that moves the other cannot move this one. -1 with errno.
 */
int tempfile_again(int fd, int flags);

/* As tempfile_again, but never a copy: -1 where nothing shows our descriptors.
 */
int tempfile_reopen(int fd, int flags);

/*
 * Whether somebody has it open for writing, as far as the kernel tells; fd must
 * not be.
 */
bool tempfile_written(int fd);

/* Bytes in it, -1 with errno. */
off_t tempfile_size(int fd);

/*
 * Moves up to most bytes at *offset of a spool to a descriptor, by the fastest
 * way that works (copy_file_range, sendfile, write), *offset counting on.
 * Returns the bytes that went, 0 at the end, -1 with errno (EAGAIN: the
 * descriptor takes none now).
 */
ssize_t tempfile_send(int fd, off_t *offset, int to, size_t most);

#endif
