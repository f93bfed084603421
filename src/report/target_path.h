/*
 * target_path: finds the file that a user has named, through symbolic links.
 */
#ifndef TARGET_PATH_H
#define TARGET_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* The length of a path up to and with its last slash. */
size_t target_path_directory(const char *path);

/* The descriptor that a path such as "-" or /dev/fd/3 names, or -1. */
int target_path_descriptor(const char *file);

/*
 * Whether a link or file may be followed or written to: not one of another user
 * in a directory like /tmp, where the link may lead to any file of this user.
 * The rule is that of protected_symlinks in proc_sys_fs(5).
 */
bool target_path_trusted(const char *path, const struct stat *file);

/*
 * Follows symbolic links up to a path that is none, whether or not a file has
 * it, or up to one that names a descriptor. False, with errno, if a link may
 * not be followed.
 */
bool target_path_resolve(char path[PATH_MAX], const char *file);

#endif
