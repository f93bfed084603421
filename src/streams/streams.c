#include "streams/streams.h"

#include <unistd.h>
#include "text/number.h"

/* Without a second attempt nothing can be lacking there. */
static void
open_input(struct streams *streams, const struct policy *policy)
{
	streams->terminal = false;
	streams->input =
	    (struct stdin_source){ .kind = STDIN_SOURCE_LEFT, .sink = -1 };
	if (policy->replay || policy->attempts > 1)
		stdin_source_open(&streams->input, policy->replay,
		    policy->stdin_max, &streams->terminal);
}

bool
streams_open(struct streams *streams, const struct policy *policy)
{
	/* Whatever fails, what is not open can be waited for. */
	capture_open(&streams->err, -1, 0);
	streams->streams.count = 0;
	open_input(streams, policy);
	return capture_open(&streams->out,
		   policy->hold_out ? STDOUT_FILENO : -1, policy->hold_max) &&
	    capture_open(&streams->err, policy->hold_err ? STDERR_FILENO : -1,
		policy->hold_max) &&
	    relay_open(&streams->streams, &policy->watches);
}

static bool
begin_hold(struct streams *streams, struct capture *capture)
{
	if (capture->fd == -1)
		return true;
	if (!capture_begin(capture))
		return false;
	relay_hold(&streams->streams, capture->fd, capture->spool);
	return true;
}

bool
streams_begin(struct streams *streams)
{
	return begin_hold(streams, &streams->out) &&
	    begin_hold(streams, &streams->err) &&
	    stdin_source_begin(&streams->input) &&
	    relay_begin(&streams->streams);
}

/* A stream that is held and relayed gets the pipe; the relay has the spool. */
bool
streams_attach(const struct streams *streams)
{
	return capture_attach(&streams->out) && capture_attach(&streams->err) &&
	    relay_attach(&streams->streams) &&
	    stdin_source_attach(&streams->input);
}

void
streams_forked(struct streams *streams)
{
	if (!relay_relay(&streams->streams, STDOUT_FILENO))
		capture_forked(&streams->out);
	if (!relay_relay(&streams->streams, STDERR_FILENO))
		capture_forked(&streams->err);
	relay_forked(&streams->streams);
	stdin_source_forked(&streams->input);
}

void
streams_release(struct streams *streams, struct capture *capture)
{
	capture_release(capture, relay_error(&streams->streams, capture->fd));
}

bool
streams_overrun(const struct streams *streams)
{
	return capture_overrun(&streams->out) || capture_overrun(&streams->err);
}

nanos
streams_nap(const struct streams *streams)
{
	return number_lesser(
	    capture_nap(&streams->out), capture_nap(&streams->err));
}

/* Input, output, error, then as many as the streams have. */
size_t
streams_poll(const struct streams *streams, struct pollfd *fds)
{
	fds[0] = stdin_source_pollfd(&streams->input);
	fds[1] = capture_pollfd(&streams->out);
	fds[2] = capture_pollfd(&streams->err);
	return 3 + relay_poll(&streams->streams, fds + 3);
}

void
streams_serve(struct streams *streams, const struct pollfd *fds)
{
	stdin_source_serve(&streams->input, fds[0].revents);
	capture_serve(&streams->out, fds[1].revents);
	capture_serve(&streams->err, fds[2].revents);
	relay_serve(&streams->streams, fds + 3);
}
