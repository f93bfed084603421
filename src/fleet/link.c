#include "fleet/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "fleet/helper.h"
#include "sys/error.h"
#include "sys/sys.h"
#include "text/escape.h"
#include "text/number.h"

/* Room for an address of each kind that needs no lookup. */
union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
};

void
link_start(struct fleet_link *link, const struct fleet_policy *policy,
    bool verbose, const struct signals *signals)
{
	link->policy = policy;
	link->verbose = verbose;
	link->signals = signals;
	link->stage = LINK_CLOSED;
	link->helper = 0;
	link->late = link->said = false;
}

bool
link_asks(const struct fleet_link *link)
{
	return link->stage >= LINK_RESOLVING;
}

void
link_close(struct fleet_link *link)
{
	if (link->helper != 0)
		helper_end(link->helper);
	if (link->stage != LINK_CLOSED)
		close(link->fd);
	link->stage = LINK_CLOSED;
	link->helper = 0;
}

/* Ends the question without an answer; words may be the server's own. */
static void
fail(struct fleet_link *link, const char *what, struct strview words)
{
	char *at = stpcpy(link->reason, what);

	*escape_put(ESCAPE_PLAIN, at, at + LINK_WORDS, words.at, words.length) =
	    '\0';
	link->dialog.answer.code = FLEET_SILENT;
	link_close(link);
}

static void
fail_to_connect(struct fleet_link *link, const char *why)
{
	fail(link, "no connection: ", strview_of(why));
}

/* Ends the question after recv(2) has returned 0, or after an error of send(2)
 * or recv(2) that is no reason to wait. */
static void
fail_to_talk(struct fleet_link *link, int error)
{
	if (error == EAGAIN || error == EINTR)
		return;
	if (error != 0 && error != EPIPE && error != ECONNRESET) {
		fail_to_connect(link, error_words(error));
		return;
	}
	fail(link,
	    link->dialog.url.tls ? "openssl s_client has ended"
				 : "the server has closed the connection",
	    strview_of(""));
}

/* Sends what is written, as far as the connection takes it now: nothing, while
 * it is being made. If it cannot be made, send(2) says why. */
static void
send_rest(struct fleet_link *link)
{
	struct dialog *dialog = &link->dialog;
	ssize_t count;

	if (dialog->sent == dialog->length)
		return;
	count = send(link->fd, dialog->out + dialog->sent,
	    dialog->length - dialog->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (count != -1)
		dialog->sent += (size_t)count;
	/* What the other end has said before it closed can still be read. */
	else if (errno != EPIPE && errno != ECONNRESET)
		fail_to_talk(link, errno);
}

static void
begin_to_talk(struct fleet_link *link)
{
	bool anew = link->stage != LINK_READY;

	link->stage = LINK_ASKING;
	question_write(&link->dialog, anew);
	send_rest(link);
}

static void
begin_to_connect(struct fleet_link *link)
{
	const struct url *url = &link->dialog.url;
	union address address = { 0 };
	socklen_t length = 0; /* of the address; 0: a helper finds it */

	link_close(link);
	_Static_assert(
	    sizeof url->path <= sizeof address.local.sun_path, "too long");
	if (url->host[0] == '\0') {
		address.local.sun_family = AF_UNIX;
		memcpy(address.local.sun_path, url->path, sizeof url->path);
		length = sizeof address.local;
	} else if (url->tls) {
		length = 0;
	} else if (inet_pton(AF_INET, url->host, &address.v4.sin_addr) == 1) {
		address.v4.sin_family = AF_INET;
		address.v4.sin_port = htons((uint16_t)url->port);
		length = sizeof address.v4;
	} else if (inet_pton(AF_INET6, url->host, &address.v6.sin6_addr) == 1) {
		address.v6.sin6_family = AF_INET6;
		address.v6.sin6_port = htons((uint16_t)url->port);
		length = sizeof address.v6;
	}
	if (length == 0)
		link->helper =
		    helper_start(url, link->verbose, link->signals, &link->fd);
	else
		link->fd = sys_move_up(socket(address.any.sa_family,
		    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (link->helper == -1 || link->fd == -1) {
		link->helper = 0;
		fail_to_connect(link, error_words(errno));
		return;
	}
	link->stage = LINK_ASKING;
	if (length > 0 && connect(link->fd, &address.any, length) == -1 &&
	    errno != EINPROGRESS)
		fail_to_connect(link, error_words(errno));
	else if (length > 0 || url->tls)
		begin_to_talk(link);
	else
		link->stage = LINK_RESOLVING;
}

void
link_ask(struct fleet_link *link, struct fleet_question *question, nanos now)
{
	const struct fleet_policy *policy = link->policy;

	link->until = number_add(now, policy->config.timeout);
	if (link->stage == LINK_CLOSED)
		question_open(&link->dialog, policy->auth, policy->url);
	question_ask(&link->dialog, question);
	if (link->stage == LINK_CLOSED)
		begin_to_connect(link);
	else
		begin_to_talk(link);
}

/* Sends and receives, and does what follows from what the server says. */
static void
converse(struct fleet_link *link, nanos now)
{
	struct dialog *dialog = &link->dialog;
	ssize_t count;

	send_rest(link);
	if (link->stage != LINK_ASKING)
		return;
	count = recv(link->fd, dialog->in + dialog->received,
	    sizeof dialog->in - dialog->received, MSG_DONTWAIT);
	if (count <= 0) {
		fail_to_talk(link, count == 0 ? 0 : errno);
		return;
	}
	dialog->received += (size_t)count;
	switch (question_take(dialog, link->until - now)) {
	case QUESTION_WAITS:
		send_rest(link);
		return;
	case QUESTION_ANSWERED:
		link->stage = LINK_READY;
		/* A server that says more than it was asked is not to be relied
		 * on. */
		if (dialog->received > 0)
			link_close(link);
		return;
	case QUESTION_REDIRECTED:
		begin_to_connect(link);
		return;
	case QUESTION_REFUSED:
		break;
	case QUESTION_INVALID:
		fail(link, "no valid answer", strview_of(""));
		return;
	}
	fail(link, "refused: ", dialog->words);
}

void
link_serve(struct fleet_link *link, short events, nanos now)
{
	nanos timeout = link->policy->config.timeout;
	char span[DURATION_ROOM];
	const char *reason;
	int connected = -1;

	if (link_asks(link) && now >= link->until) {
		/* duration_format() rounds more. */
		if (timeout < NANOS_SECOND)
			snprintf(span, sizeof span, "%" PRId64 "ms",
			    timeout / NANOS_MS);
		else
			duration_format(span, timeout);
		fail(link,
		    link->stage == LINK_RESOLVING ? "name not resolved in "
						  : "no answer in ",
		    strview_of(span));
		return;
	}
	if (events == 0)
		return;
	switch (link->stage) {
	case LINK_CLOSED:
		break;
	case LINK_RESOLVING:
	case LINK_CONNECTING:
		reason = helper_resolved(link->fd, &connected);
		if (reason == NULL && connected == -1) {
			link->stage = LINK_CONNECTING;
			break;
		}
		link_close(link);
		link->fd = connected;
		if (reason != NULL)
			fail_to_connect(link, reason);
		else
			begin_to_talk(link);
		break;
	case LINK_ASKING:
		converse(link, now);
		break;
	case LINK_READY:
		/* It is closed, or says something that nobody asked for. */
		link_close(link);
		break;
	}
}

bool
link_tell(struct fleet_link *link, struct fleet_question *question)
{
	struct dialog *dialog = &link->dialog;
	bool told = false;

	if (link->stage == LINK_READY) {
		question_ask(dialog, question);
		begin_to_talk(link);
		told = link->stage == LINK_ASKING &&
		    dialog->sent == dialog->length;
	}
	/* The helper delivers what was sent, and comes to its end then. */
	if (told)
		link->helper = 0;
	link_close(link);
	return told;
}

struct pollfd
link_pollfd(const struct fleet_link *link)
{
	struct pollfd pollfd = { .fd = -1, .events = POLLIN };

	if (link->stage != LINK_CLOSED)
		pollfd.fd = link->fd;
	if (link->stage == LINK_ASKING &&
	    link->dialog.sent < link->dialog.length)
		pollfd.events = POLLIN | POLLOUT;
	return pollfd;
}

nanos
link_nap(const struct fleet_link *link, nanos now)
{
	return link_asks(link) ? number_greater(link->until - now, 0)
			       : NANOS_MAX;
}

void
link_reaped(struct fleet_link *link, pid_t pid)
{
	if (link->helper == pid)
		link->helper = 0;
}

/*
 * The budget that the fleet shares
 */

void
link_share(struct fleet_link *link, struct budget_client *budget, uint64_t seed)
{
	link->budget = budget;
	link->caller = (struct fleet_caller){ .config = &link->policy->config,
		.key = budget->caller.config->key,
		.seed = seed };
	budget->caller.fleet = &link->caller;
}

/* Stores what came of the question, which is an answer, in the segment. */
static void
store(const struct visit *visit, void *answer)
{
	fleet_host_store(
	    &visit->segment->fleet, visit->caller->fleet, answer, visit->age);
}

bool
link_settle(struct fleet_link *link, nanos now)
{
	struct fleet_answer *answer = &link->dialog.answer;
	bool late = now - link->until > link->policy->config.timeout;

	/*
	 * If retry was stopped for so long that it could see no answer in time,
	 * then the server is not to blame, and is asked again. The second time
	 * in a row it is to blame: otherwise a machine that is always late
	 * would ask for ever.
	 */
	link->late = answer->code == FLEET_SILENT && late && !link->late;
	if (link_asks(link) || link->late)
		answer->code = FLEET_CUT;
	budget_client_visit(link->budget, now, store, answer);
	if (answer->code != FLEET_GRANTED)
		link_close(link);
	return answer->code == FLEET_GRANTED;
}

/* Claims what the server has not been told. */
static void
claim(const struct visit *visit, void *unused)
{
	(void)unused;
	fleet_host_claim(&visit->segment->fleet, &visit->segment->window,
	    visit->caller->fleet, visit->age);
}

void
link_greet(struct fleet_link *link, nanos now)
{
	budget_client_visit(link->budget, now, claim, NULL);
	link_ask(link, &link->caller.question, now);
}

void
link_report(struct fleet_link *link, bool succeeded, nanos now)
{
	struct fleet_question *question = &link->caller.question;
	struct fleet_answer sent = { .code = FLEET_SENT };

	if (succeeded && link->stage == LINK_READY) {
		budget_client_visit(link->budget, now, claim, NULL);
		if (question->count > 0 && link_tell(link, question))
			budget_client_visit(link->budget, now, store, &sent);
	}
	link_close(link);
}
