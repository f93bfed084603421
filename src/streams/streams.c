#include "streams/streams.h"

#include <unistd.h>
#include "text/number.h"

/* Without a second attempt nothing can be lacking there. */
static void
open_input(struct plumbing *plumbing, const struct policy *policy)
{
	plumbing->terminal = false;
	plumbing->input = (struct input){ .kind = INPUT_LEFT, .sink = -1 };
	if (policy->replay || policy->attempts > 1)
		input_open(&plumbing->input, policy->replay, policy->stdin_max,
		    &plumbing->terminal);
}

bool
plumbing_open(struct plumbing *plumbing, struct policy *policy)
{
	/* Whatever fails, what is not open can be waited for. */
	hold_open(&plumbing->err, -1, 0);
	plumbing->streams.count = 0;
	open_input(plumbing, policy);
	return hold_open(&plumbing->out, policy->hold_out ? STDOUT_FILENO : -1,
		   policy->hold_max) &&
	    hold_open(&plumbing->err, policy->hold_err ? STDERR_FILENO : -1,
		policy->hold_max) &&
	    streams_open(&plumbing->streams, &policy->watches);
}

static bool
begin_hold(struct plumbing *plumbing, struct hold *hold)
{
	if (hold->fd == -1)
		return true;
	if (!hold_begin(hold))
		return false;
	streams_hold(&plumbing->streams, hold->fd, hold->spool);
	return true;
}

bool
plumbing_begin(struct plumbing *plumbing)
{
	return begin_hold(plumbing, &plumbing->out) &&
	    begin_hold(plumbing, &plumbing->err) &&
	    input_begin(&plumbing->input) && streams_begin(&plumbing->streams);
}

/* A stream that is held and relayed gets the pipe; the relay has the spool. */
bool
plumbing_attach(const struct plumbing *plumbing)
{
	return hold_attach(&plumbing->out) && hold_attach(&plumbing->err) &&
	    streams_attach(&plumbing->streams) &&
	    input_attach(&plumbing->input);
}

void
plumbing_forked(struct plumbing *plumbing)
{
	if (!streams_relay(&plumbing->streams, STDOUT_FILENO))
		hold_forked(&plumbing->out);
	if (!streams_relay(&plumbing->streams, STDERR_FILENO))
		hold_forked(&plumbing->err);
	streams_forked(&plumbing->streams);
	input_forked(&plumbing->input);
}

void
plumbing_release(struct plumbing *plumbing, struct hold *hold)
{
	hold_release(hold, streams_error(&plumbing->streams, hold->fd));
}

bool
plumbing_overrun(const struct plumbing *plumbing)
{
	return hold_overrun(&plumbing->out) || hold_overrun(&plumbing->err);
}

nanos
plumbing_nap(const struct plumbing *plumbing)
{
	return number_lesser(
	    hold_nap(&plumbing->out), hold_nap(&plumbing->err));
}

/* Input, output, error, then as many as the streams have. */
size_t
plumbing_poll(const struct plumbing *plumbing, struct pollfd *fds)
{
	fds[0] = input_pollfd(&plumbing->input);
	fds[1] = hold_pollfd(&plumbing->out);
	fds[2] = hold_pollfd(&plumbing->err);
	return 3 + streams_poll(&plumbing->streams, fds + 3);
}

void
plumbing_serve(struct plumbing *plumbing, const struct pollfd *fds)
{
	input_serve(&plumbing->input, fds[0].revents);
	hold_serve(&plumbing->out, fds[1].revents);
	hold_serve(&plumbing->err, fds[2].revents);
	streams_serve(&plumbing->streams, fds + 3);
}
