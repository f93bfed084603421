/*
 * tempfile: temporary files, which most often have no name.
 *
 * They keep what an attempt wrote until it is judged,
 * or what every attempt reads again. The command gets a descriptor of the file
 * itself, so the bytes do not pass through retry.
 */
#ifndef TEMPFILE_H
#define TEMPFILE_H

#include <stdbool.h>
#include <stddef.h>

/* The length of the name that tempfile_create() adds, with the closing NUL. */
#define TEMPFILE_NAME 14

/* The directory of temporary files: TMPDIR (*chosen is true), or /tmp. */
const char *tempfile_directory(bool *chosen);

/*
 * Makes an empty file with a new name in directory, for this user only, and
 * writes its path to path, of size bytes. Returns its descriptor, close-on-exec
 * and 10 or above where there is room; -1 with errno.
 */
int tempfile_create(const char *directory, char *path, size_t size);

/*
 * Makes an empty file without a name, for this user only: in
 * tempfile_directory(), or in memory if TMPDIR is not set and /tmp cannot be
 * written to. Returns its descriptor, as tempfile_create() does.
 */
int tempfile_open(void);

#endif
