/*
 * status_file: the file in which curl, or another client, leaves what the
 * server answered. It is emptied before each attempt and read after it.
 * Whatever else stands at its path, a FIFO, a device, a link, is no
 * information, and is neither waited for nor written to.
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
	const char *path; /* as the command knows it; NULL: there is none */
	int fd; /* of a file of our own, or -1 */
	bool stale; /* could not be emptied: what it says is old */
	bool dump; /* curl -D alone writes to it */
	char *bytes; /* STATUS_FILE_MOST of them */
	struct private_file own; /* path is its, where it has one */
};

/* Uses the user's file. False, with errno, if there is no memory. */
bool status_file_open(struct status_file *status, const char *path);

/* Makes a file of our own (handout.h). False, with errno. */
bool status_file_make(struct status_file *status);

/* Empties it. Problems are told with -v. */
void status_file_empty(struct status_file *status, struct log *log);

/* What it says now. Problems, and what is not understood, are told with -v. */
struct http_status
status_file_read(const struct status_file *status, struct log *log);

/* Removes what was made. */
void status_file_close(const struct status_file *status);

#endif
