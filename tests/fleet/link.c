#include "link.h"

#include <err.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void
link_open(struct link *link, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof address.sun_path)
		errx(1, "%s: too long for a socket", path);
	memcpy(address.sun_path, path, strlen(path) + 1);
	link->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (link->fd == -1 ||
	    connect(link->fd, (struct sockaddr *)&address, sizeof address) ==
		-1)
		err(1, "%s", path);
	link->start = link->end = 0;
	link->broken = false;
	link->out = (struct resp_request){ link->sent, sizeof link->sent, 0 };
}

void
link_close(struct link *link)
{
	close(link->fd);
}

void
link_flush(struct link *link)
{
	size_t length = resp_length(&link->out);

	if (link->out.length > link->out.size)
		errx(1, "more requests than fit into one write");
	/* The socket blocks until all of it is written. */
	if (write(link->fd, link->sent, length) != (ssize_t)length)
		err(1, "cannot write to the server");
	link->out = (struct resp_request){ link->sent, sizeof link->sent, 0 };
}

struct resp_reply
link_reply(struct link *link)
{
	for (;;) {
		struct resp_reply reply;
		enum resp_state state =
		    resp_read((struct strview){ link->in + link->start,
				  link->end - link->start },
			&reply);
		ssize_t count;

		link->broken = link->broken || state == RESP_INVALID;
		if (link->broken)
			return (struct resp_reply){ .type = RESP_ERROR };
		if (state == RESP_WHOLE) {
			link->start += reply.length;
			return reply;
		}
		link->end -= link->start;
		memmove(link->in, link->in + link->start, link->end);
		link->start = 0;
		count = read(link->fd, link->in + link->end,
		    sizeof link->in - link->end);
		if (count <= 0)
			err(1, "cannot read from the server");
		link->end += (size_t)count;
	}
}

struct resp_reply
link_ask(struct link *link, const char *const words[])
{
	size_t count = 0;

	while (words[count] != NULL)
		count++;
	resp_put(&link->out, words, count);
	link_flush(link);
	return link_reply(link);
}
