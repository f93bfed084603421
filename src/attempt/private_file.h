/*
 * private_file: a file that retry makes for the command, which opens it by
 * path. It is in memory where /proc gives that a path, so that nothing is left
 * behind however retry ends; else it is a temporary file. Other users cannot
 * open it.
 */
#ifndef PRIVATE_FILE_H
#define PRIVATE_FILE_H

#include <stdbool.h>

#define PRIVATE_FILE_PATH 96

struct private_file {
	const char *path; /* room; NULL: there is no file */
	int fd;
	bool temporary; /* path is to be removed in the end */
	char room[PRIVATE_FILE_PATH];
};

/* Makes an empty file. False, with errno, if the kernel refuses. */
bool private_file_make(struct private_file *file);

/* Removes the file. */
void private_file_close(const struct private_file *file);

#endif
