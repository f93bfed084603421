/*
 * status_file: the file into which an HTTP client writes what the server
 * answered. It is emptied before each attempt and read after it. A FIFO, a
 * device or a link at its path is ignored: retry neither waits for it nor
 * writes to it.
 */
#ifndef STATUS_FILE_H
#define STATUS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include "attempt/private_file.h"
#include "http/http_status.h"
#include "output/log.h"

/* Of a longer file the end counts, or if that says nothing, or is but a part
 * of a body, the beginning and what the lengths told there lead to. */
#define STATUS_FILE_MOST 65536

struct status_file {
	const char *path; /* as the command knows it; NULL: no file */
	int fd; /* of a private file, or -1 */
	bool stale; /* it could not be emptied: what it says is old */
	bool dump; /* curl -D alone writes to it */
	char *bytes; /* STATUS_FILE_MOST of them */
	struct private_file own; /* its path NULL: path is the user's file */
};

/* Uses the user's file. False, with errno, if there is no memory. */
bool status_file_open(struct status_file *status, const char *path);

/* Makes a private file. False, with errno, if the kernel refuses. */
bool status_file_make(struct status_file *status);

/* Empties it. Problems are said with -v. */
void status_file_empty(struct status_file *status, struct log *log);

/* Reads what it says. Problems, and what is not understood, are said with -v.
 */
struct http_status
status_file_read(const struct status_file *status, struct log *log);

/* Removes the private file, if it is one. */
void status_file_close(const struct status_file *status);

#endif
