#include "output/sd_notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "text/escape.h"

/* systemctl shows the status on one line, so a longer status is cut. */
#define STATUS_ROOM 512

void
sd_notify_status(const char *const strings[])
{
	static const char prefix[] = "STATUS=";
	char status[STATUS_ROOM], *at = status + sizeof prefix - 1;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *name = getenv("NOTIFY_SOCKET");
	size_t length = name == NULL ? 0 : strlen(name);
	int fd;

	/* A path, or an abstract name after "@". */
	if (length < 2 || length >= sizeof address.sun_path ||
	    (name[0] != '/' && name[0] != '@'))
		return;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd == -1)
		return;
	memcpy(address.sun_path, name, length);
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	length += offsetof(struct sockaddr_un, sun_path) + (name[0] == '/');
	memcpy(status, prefix, sizeof prefix - 1);
	for (; *strings != NULL; strings++)
		at = escape_put(ESCAPE_LINE, at, status + sizeof status,
		    *strings, strlen(*strings));
	sendto(fd, status, (size_t)(at - status), MSG_DONTWAIT | MSG_NOSIGNAL,
	    (const struct sockaddr *)&address, (socklen_t)length);
	close(fd);
}
