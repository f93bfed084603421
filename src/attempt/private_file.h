/*
 * private_file: a file of our own that the command opens by its path: in memory
 * where that can be reached through /proc, so that nothing is left behind
 * however we end; else a temporary one. It is for our user alone.
 */
#ifndef PRIVATE_FILE_H
#define PRIVATE_FILE_H

#include <stdbool.h>

#define PRIVATE_FILE_PATH 96

struct private_file {
	const char *path; /* in own; NULL: there is none */
	int fd;
	bool temporary; /* path is to be removed in the end */
	char own[PRIVATE_FILE_PATH];
};

/* Makes an empty one. False, with errno. */
bool private_file_make(struct private_file *handout);

/* Removes what was made. */
void private_file_close(const struct private_file *handout);

#endif
