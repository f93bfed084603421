#include "streams/streams.h"

#include <sys/stat.h>
#include <unistd.h>
#include "text/number.h"

const struct capture *
streams_capture(const struct streams *streams, int fd)
{
	return fd == STDOUT_FILENO && streams->err.kind != CAPTURE_BOTH
	    ? &streams->out
	    : &streams->err;
}

bool
streams_open(struct streams *streams, const struct policy *policy)
{
	const struct watches *watches = &policy->watches;
	bool searched[STDERR_FILENO + 1] = { false };
	bool relayed[STDERR_FILENO + 1] = { false };
	bool one, both;
	struct stat out, err;

	/* streams_poll() can be called even if anything below fails. */
	capture_open(&streams->err, -1, CAPTURE_PART, 0);
	streams->relay.watches = watches;
	streams->relay.count = 0;
	streams->activity = (struct activity){
		.look = NANOS_MAX, .inotify = -1, .unknown = -1
	};
	stdin_source_open(&streams->input, policy);

	/* For --chronic one file gets both outputs where they go to the same
	 * place, so that their order stays. */
	one = (policy->chronic || policy->idle_timeout != 0) &&
	    fstat(STDOUT_FILENO, &out) == 0 &&
	    fstat(STDERR_FILENO, &err) == 0 && out.st_dev == err.st_dev &&
	    out.st_ino == err.st_ino;
	both = policy->chronic && one;
	if (!capture_open(&streams->out,
		policy->hold_out && !both ? STDOUT_FILENO : -1,
		policy->chronic ? CAPTURE_PART : CAPTURE_WHOLE,
		policy->hold_max) ||
	    !capture_open(&streams->err, policy->hold_err ? STDERR_FILENO : -1,
		both ? CAPTURE_BOTH : CAPTURE_PART, policy->hold_max))
		return false;

	/* What a pattern searches is relayed, and what --idle-timeout cannot
	 * watch otherwise. */
	for (int i = 0; i < watches->count; i++)
		searched[watches->list[i].fd] = true;
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		bool held = streams_capture(streams, fd)->fd != -1;

		if (policy->idle_timeout == 0 || searched[fd])
			continue;
		if (!activity_add(
			&streams->activity, fd, held, policy->idle_timeout))
			return false;
		relayed[fd] =
		    streams->activity.outputs[fd - 1].way == ACTIVITY_RELAYED;
	}
	both = one && relayed[STDOUT_FILENO] && relayed[STDERR_FILENO];
	if (both)
		relayed[STDERR_FILENO] = false;
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if ((searched[fd] || relayed[fd]) &&
		    !relay_add(&streams->relay, fd, both))
			return false;
	return true;
}

bool
streams_begin(struct streams *streams, const char **lacking)
{
	struct capture *captures[] = { &streams->out, &streams->err };

	*lacking = "cannot make a file for output";
	for (int i = 0; i < 2; i++) {
		struct capture *capture = captures[i];

		if (capture->fd == -1)
			continue;
		if (!capture_begin(capture))
			return false;
		capture->relayed =
		    relay_redirect(&streams->relay, capture->fd, capture->file);
		if (capture->kind == CAPTURE_BOTH &&
		    relay_redirect(
			&streams->relay, STDOUT_FILENO, capture->file))
			capture->relayed = true;
	}
	*lacking = "cannot open the input again";
	if (!stdin_source_begin(&streams->input))
		return false;
	*lacking = "cannot make a pipe";
	return relay_begin(&streams->relay);
}

/*
 * A stream that is captured and relayed gets the pipe: attached last, it stays.
 * The relay then writes to the file.
 */
bool
streams_attach(const struct streams *streams)
{
	return capture_attach(&streams->out) && capture_attach(&streams->err) &&
	    relay_attach(&streams->relay) &&
	    stdin_source_attach(&streams->input);
}

void
streams_forked(struct streams *streams)
{
	capture_forked(&streams->out);
	capture_forked(&streams->err);
	relay_forked(&streams->relay);
	activity_begin(&streams->activity,
	    streams_capture(streams, STDOUT_FILENO)->file, streams->err.file);
	stdin_source_forked(&streams->input);
}

void
streams_release(struct streams *streams, struct capture *capture)
{
	int error = relay_error(&streams->relay, capture->fd);

	if (error == 0 && capture->kind == CAPTURE_BOTH)
		error = relay_error(&streams->relay, STDOUT_FILENO);
	capture_release(capture, error);
}

bool
streams_overrun(const struct streams *streams)
{
	return capture_overrun(&streams->out) || capture_overrun(&streams->err);
}

bool
streams_ended(struct streams *streams)
{
	bool out = capture_ended(&streams->out);

	return capture_ended(&streams->err) || out;
}

nanos
streams_nap(const struct streams *streams)
{
	nanos held = number_lesser(
	    capture_nap(&streams->out), capture_nap(&streams->err));

	return number_lesser(held, streams->activity.look);
}

bool
streams_active(struct streams *streams)
{
	return relay_active(&streams->relay) ||
	    activity_look(&streams->activity);
}

/* Input, the two captures, then those of the relay. */
size_t
streams_poll(const struct streams *streams, struct pollfd *fds)
{
	fds[0] = stdin_source_pollfd(&streams->input);
	fds[1] = capture_pollfd(&streams->out);
	fds[2] = capture_pollfd(&streams->err);
	return 3 + relay_poll(&streams->relay, fds + 3);
}

void
streams_serve(struct streams *streams, const struct pollfd *fds)
{
	stdin_source_serve(&streams->input, fds[0].revents);
	capture_serve(&streams->out, fds[1].revents);
	capture_serve(&streams->err, fds[2].revents);
	relay_serve(&streams->relay, fds + 3);
}

enum reason
streams_lost(struct streams *streams)
{
	return relay_failed(&streams->relay)
	    ? REASON_INTERNAL
	    : stdin_source_lost(&streams->input);
}
