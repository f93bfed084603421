/* error: its words are the same with every libc. */
#include "sys/error.h"

#include <errno.h>
#include "unit.h"

TEST(words_of_errors) {
	static const struct {
		int error;
		const char *words;
	} rows[] = {
		{ ENOENT, "No such file or directory" },
		{ EIO, "Input/output error" },
		{ ENOEXEC, "Exec format error" },
		{ ECHILD, "No child processes" },
		{ ENOMEM, "Cannot allocate memory" },
		{ EACCES, "Permission denied" },
		{ EBUSY, "Device or resource busy" },
		{ EXDEV, "Invalid cross-device link" },
		{ EMFILE, "Too many open files" },
		{ ENFILE, "Too many open files in system" },
		{ ETXTBSY, "Text file busy" },
		{ ENOSPC, "No space left on device" },
		{ EROFS, "Read-only file system" },
		{ ENAMETOOLONG, "File name too long" },
		{ ELOOP, "Too many levels of symbolic links" },
		{ EOVERFLOW, "Value too large for defined data type" },
		{ ELIBBAD, "Accessing a corrupted shared library" },
		{ EOPNOTSUPP, "Operation not supported" },
		{ EADDRINUSE, "Address already in use" },
		{ EADDRNOTAVAIL, "Cannot assign requested address" },
		{ ENETUNREACH, "Network is unreachable" },
		{ ETIMEDOUT, "Connection timed out" },
		{ ECONNREFUSED, "Connection refused" },
		{ EHOSTUNREACH, "No route to host" },
		{ ESTALE, "Stale file handle" },
		{ EUCLEAN, "Structure needs cleaning" },
		{ EDQUOT, "Disk quota exceeded" },
		{ 999, "Unknown error 999" },
	};

	for (size_t i = 0; i < LENGTH(rows); i++)
		SAME(rows[i].words, error_words(rows[i].error), rows[i].words);
}
