#include "sys/error.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Those that a user may meet and that musl says in other words, or not at all.
 */
static const struct {
	int error;
	char words[40];
} table[] = {
	{ EIO, "Input/output error" },
	{ ECHILD, "No child processes" },
	{ ENOMEM, "Cannot allocate memory" },
	{ EBUSY, "Device or resource busy" },
	{ EXDEV, "Invalid cross-device link" },
	{ EMFILE, "Too many open files" },
	{ ENOTTY, "Inappropriate ioctl for device" },
	{ ESPIPE, "Illegal seek" },
	{ EDEADLK, "Resource deadlock avoided" },
	{ ENAMETOOLONG, "File name too long" },
	{ ELOOP, "Too many levels of symbolic links" },
	{ EOVERFLOW, "Value too large for defined data type" },
	{ ELIBACC, "Can not access a needed shared library" },
	{ ELIBBAD, "Accessing a corrupted shared library" },
	{ EUSERS, "Too many users" },
	{ ENOTSOCK, "Socket operation on non-socket" },
	{ EMSGSIZE, "Message too long" },
	{ EOPNOTSUPP, "Operation not supported" },
	{ EADDRINUSE, "Address already in use" },
	{ EADDRNOTAVAIL, "Cannot assign requested address" },
	{ ENETUNREACH, "Network is unreachable" },
	{ ENETRESET, "Network dropped connection on reset" },
	{ ECONNABORTED, "Software caused connection abort" },
	{ EISCONN, "Transport endpoint is already connected" },
	{ ENOTCONN, "Transport endpoint is not connected" },
	{ ETIMEDOUT, "Connection timed out" },
	{ EHOSTUNREACH, "No route to host" },
	{ EUCLEAN, "Structure needs cleaning" },
	{ EDQUOT, "Disk quota exceeded" },
};

const char *
error_words(int error)
{
	static char number[32];
	const char *words;

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (table[i].error == error)
			return table[i].words;
	words = strerror(error);
	if (strcmp(words, "No error information") != 0)
		return words;
	snprintf(number, sizeof number, "Unknown error %d", error);
	return number;
}
