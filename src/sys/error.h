/*
 * error: the words for an error of the kernel, the same with every libc.
 */
#ifndef ERROR_H
#define ERROR_H

/*
 * What an errno means, in the words of glibc, which people look for: musl has
 * others for some errors and none for many. An error without words has its
 * number ("Unknown error 512"), which stays until the next call.
 */
const char *error_words(int error);

#endif
