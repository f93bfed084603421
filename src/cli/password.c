#include "cli/password.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VARIABLE "RETRY_FLEET_AUTH"

/* Room for the longest line, and for one more byte, which is too many. */
#define ROOM (URL_USER_ROOM + URL_PASSWORD_ROOM + 2)

/*
 * A FIFO or a device is refused, because reading could block for ever; and a
 * nested retry has to read the same file again.
 */
static int
open_to_read(const struct option *option, const char *file)
{
	int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat stat;

	if (fd == -1 || fstat(fd, &stat) == -1)
		optparse_refuse(option, strerror(errno), file);
	if (S_ISDIR(stat.st_mode))
		optparse_refuse(option, strerror(EISDIR), file);
	if (!S_ISREG(stat.st_mode))
		optparse_refuse(option, "not a regular file", file);
	if ((stat.st_mode & S_IROTH) != 0)
		optparse_refuse(
		    option, "others can read it; use chmod o-r", file);
	return fd;
}

static void
read_file(const struct option *option, struct fleet_policy *fleet)
{
	const char *file = fleet->auth_file, *why;
	int fd = open_to_read(option, file);
	char room[ROOM];
	size_t length = 0;
	ssize_t n;

	while ((n = read(fd, room + length, sizeof room - length)) > 0)
		length += (size_t)n;
	if (n == -1)
		optparse_refuse(option, strerror(errno), file);
	close(fd);
	why = url_parse_auth(
	    (struct strview){ room, length }, fleet->url->user, fleet->auth);
	if (why != NULL)
		optparse_refuse(option, why, file);
}

bool
password_find(const struct option *option, struct fleet_policy *fleet)
{
	const struct option variable = { .variable = VARIABLE,
		.by_variable = true };
	const char *text = getenv(VARIABLE), *why;

	if (fleet->auth_file != NULL) {
		read_file(option, fleet);
		return true;
	}
	if (text == NULL || *text == '\0')
		return false;
	why = url_parse_auth(strview_of(text), fleet->url->user, fleet->auth);
	if (why != NULL)
		optparse_refuse(&variable, why, "***");
	return true;
}
