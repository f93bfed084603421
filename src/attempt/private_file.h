/*
 * private_file: a file of our own that the command opens by its path: in memory
 * where that can be reached through /proc, so that nothing is left behind
 * however we end; else a temporary one. It is for our user alone.
 */
#ifndef PRIVATE_FILE_H
#define PRIVATE_FILE_H

#include <stdbool.h>

#define HANDOUT_PATH 96

struct handout {
	const char *path; /* in own; NULL: there is none */
	int fd;
	bool temporary; /* path is to be removed in the end */
	char own[HANDOUT_PATH];
};

/* Makes an empty one. False, with errno. */
bool handout_make(struct handout *handout);

/* Removes what was made. */
void handout_close(const struct handout *handout);

#endif
