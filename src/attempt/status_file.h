/*
 * status_file: the file into which an HTTP client writes what the server
 * answered.
 *
 * retry empties the file before each attempt and reads it after the attempt. A
 * FIFO, a device or a link at its path is ignored: retry neither waits for such
 * a file nor writes to it.
 */
#ifndef STATUS_FILE_H
#define STATUS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include "attempt/private_file.h"
#include "http/http_status.h"
#include "output/log.h"

/*
 * The most bytes of a file that are parsed at once. Of a longer file the last
 * ones count. The first ones count instead if the last ones have no response,
 * or are only a part of a body; in the second case the responses behind bodies
 * of known length count, too.
 */
#define STATUS_FILE_MOST 65536

struct status_file {
	const char *path; /* as the command knows it; NULL: no file */
	int fd; /* of a private file, or -1 */
	bool stale; /* it could not be emptied: its content is old */
	bool dump; /* curl -D alone writes to it */
	char *bytes; /* a buffer of STATUS_FILE_MOST bytes */
	struct private_file own; /* own.path is NULL: the user's file */
};

/* Uses the user's file. False, with errno, if there is no memory. */
bool status_file_open(struct status_file *status, const char *path);

/* Makes a private file. False, with errno, if the kernel refuses. */
bool status_file_make(struct status_file *status);

/* Empties the file. With -v, an error is logged. */
void status_file_empty(struct status_file *status, struct log *log);

/* Reads the file. With -v, errors and unknown formats are logged. */
struct http_status
status_file_read(const struct status_file *status, struct log *log);

/* Removes the file, if it is private. */
void status_file_close(const struct status_file *status);

#endif
