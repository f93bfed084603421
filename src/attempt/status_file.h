/*
 * status_file: the file in which curl, or another client, leaves what the server
 * answered. It is emptied before each attempt and read after it. Whatever else
 * stands at its path, a FIFO, a device, a link, is no information, and is
 * neither waited for nor written to.
 */
#ifndef STATUS_FILE_H
#define STATUS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include "attempt/private_file.h"
#include "http/http_status.h"
#include "output/log.h"

/* Of a longer file the end counts, or if that says nothing, or is but a part
 * of a body, the beginning. */
#define STATUS_MOST 65536

struct status {
	const char *path; /* as the command knows it; NULL: there is none */
	int fd; /* of a file of our own, or -1 */
	bool stale; /* could not be emptied: what it says is old */
	bool dump; /* curl -D alone writes to it */
	char *bytes; /* STATUS_MOST of them */
	struct handout own; /* path is its, where it has one */
};

/* Uses the user's file. False, with errno, if there is no memory. */
bool status_open(struct status *status, const char *path);

/* Makes a file of our own (handout.h). False, with errno. */
bool status_make(struct status *status);

/* Empties it. Problems are told with -v. */
void status_empty(struct status *status, struct lines *lines);

/* What it says now. Problems, and what is not understood, are told with -v. */
struct http status_read(const struct status *status, struct lines *lines);

/* Removes what was made. */
void status_close(const struct status *status);

#endif
