/*
 * private_file: a file that retry makes for the command, which opens it by
 * path.
 *
 * The file is in memory if /proc gives such a file a path: then no file is left
 * behind, even if retry is killed. If not, it is a temporary file. Other users
 * cannot open it.
 */
#ifndef PRIVATE_FILE_H
#define PRIVATE_FILE_H

#include <stdbool.h>

#define PRIVATE_FILE_PATH 96

struct private_file {
	const char *path; /* room; NULL: there is no file */
	int fd;
	bool temporary; /* the file has to be removed in the end */
	char room[PRIVATE_FILE_PATH];
};

/* Makes an empty file. False, with errno, if the kernel refuses. */
bool private_file_make(struct private_file *file);

/* Removes the file. */
void private_file_close(const struct private_file *file);

#endif
