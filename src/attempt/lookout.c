#include "attempt/lookout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include "exit_status.h"
#include "fleet/helper.h"
#include "policy/plan.h"
#include "sys/error.h"
#include "sys/resolver.h"
#include "sys/sys.h"
#include "text/hash.h"
#include "version.h"

/* After so long without an answer another address is tried, too. */
#define PATIENCE (100 * NANOS_MS)

/* The length of "HTTP/1.1 200 ", and where the status is. */
#define HEAD 13
#define CODE 9

/*
 * Whether a connection has met itself: its own port was chosen by chance, and
 * was the one that it is for, at which nobody listens. It is reset, because
 * after an orderly end the port would stay taken for a minute.
 */
static bool
met_itself(int fd)
{
	const struct linger reset = { .l_onoff = 1 };
	struct sockaddr_storage own = { 0 }, peer = { 0 };
	socklen_t length = sizeof own, other = sizeof peer;

	getsockname(fd, (struct sockaddr *)&own, &length);
	getpeername(fd, (struct sockaddr *)&peer, &other);
	return memcmp(&own, &peer, sizeof own) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset) == 0;
}

/* Asks for a page. Returns the status of the final response; 0: the answer is
 * none of HTTP; or the negative of an errno. */
static int
ask(const struct target *target, int fd)
{
	char request[TARGET_URL + 256], head[HEAD], byte;
	const struct strview *page = &target->page, *host = &target->authority;
	int64_t code;
	ssize_t got;
	int length = snprintf(request, sizeof request,
	    "GET %s%.*s HTTP/1.1\r\nHost: %.*s\r\nUser-Agent: retry/" VERSION
	    "\r\nAccept: */*\r\nConnection: close\r\n\r\n",
	    strview_starts(*page, "/") ? "" : "/", (int)page->length, page->at,
	    (int)host->length, host->at);

	send(fd, request, (size_t)length, MSG_NOSIGNAL);
	do {
		got = recv(fd, head, HEAD, MSG_WAITALL);
		if (got == -1)
			return -errno;
		if (got != HEAD || memcmp(head, "HTTP/1.", 7) != 0 ||
		    !number_whole(head + CODE, HEAD - CODE - 1, &code) ||
		    strchr(" \r\n", head[HEAD - 1]) == NULL)
			return 0;
		/* Behind an interim response there is an empty line. */
		for (int ends = head[HEAD - 1] == '\n';
		     code < 200 && ends < 2;) {
			if (recv(fd, &byte, 1, 0) != 1)
				return 0;
			if (byte != '\r')
				ends = byte == '\n' ? ends + 1 : 0;
		}
	} while (code < 200);
	return (int)code;
}

/* In the helper: looks for the nth time, and ends it. */
static _Noreturn void
look(const struct target *target, int64_t nth, const struct signals *signals,
    char why[LOOKOUT_WHY])
{
	struct addrinfo *addresses, *last;
	struct sockaddr_un local = { .sun_family = AF_UNIX };
	int error = 0, code = 200, fd = -1;
	struct stat file;
	char off = '0';

	/* Whoever reads a pipe of the caller sees its end although a helper
	 * lives. */
	syscall(SYS_close_range, 0U, ~0U, 0U);
	snprintf(why, LOOKOUT_WHY,
	    target->host[0] == '\0' ? "no answer" : "the name is not resolved");
	if (target->kind == TARGET_FILE) {
		error = stat(target->path, &file) == -1 ? errno : 0;
	} else if (target->kind == TARGET_UNIX) {
		memcpy(local.sun_path, target->path, strlen(target->path));
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (connect(fd, (struct sockaddr *)&local, sizeof local) == -1)
			error = errno;
	} else {
		error = resolver_find(
		    target->host, target->port, signals, &addresses);
		snprintf(why, LOOKOUT_WHY, "no answer");
		if (error == EAI_SYSTEM) {
			error = errno;
		} else if (error == 0) {
			/* Each look begins with another address: so one that is
			 * silent, or has another page, hides no other. */
			for (last = addresses; last->ai_next != NULL;)
				last = last->ai_next;
			for (last->ai_next = addresses; nth > 1; nth--)
				last = last->ai_next;
			addresses = last->ai_next;
			last->ai_next = NULL;
			error = helper_connect(addresses, PATIENCE, &fd);
		}
		if (error == 0 && met_itself(fd))
			error = ECONNREFUSED;
		if (error == 0 && target->kind == TARGET_HTTP)
			code = ask(target, fd);
		if (code < 0)
			error = -code;
	}
	if (error == 0 && code >= 200 && code < 400)
		_exit(0);
	if (error == 0)
		snprintf(why, LOOKOUT_WHY,
		    code == 0 ? "no answer of HTTP" : "HTTP %d", code);
	else
		snprintf(why, LOOKOUT_WHY, "%s",
		    error == EAGAIN ? "its queue is full"
			: error < 0 ? resolver_words(error)
				    : error_words(error));
	/* Only a name may get another address; and where IPv6 is not switched
	 * off (ip-sysctl.rst of the kernel), the machine may get one. */
	if (error == EADDRNOTAVAIL &&
	    read(open("/proc/sys/net/ipv6/conf/all/disable_ipv6", O_RDONLY),
		&off, 1) == -1)
		off = '0';
	_exit(error == ENAMETOOLONG ||
		    (strchr(target->host, ':') != NULL &&
			(error == EAFNOSUPPORT || off == '1'))
		? EXIT_STATUS_FAILED
		: EXIT_STATUS_UNSUCCESSFUL);
}

bool
lookout_open(struct lookout *lookout, const struct policy *policy,
    const struct signals *signals, uint64_t random)
{
	char *doing = mmap(NULL, (size_t)TARGET_MOST * LOOKOUT_WHY,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (doing == MAP_FAILED)
		return false;
	lookout->policy = policy;
	lookout->signals = signals;
	lookout->missing = policy->target_count;
	for (int i = 0; i < policy->target_count; i++)
		lookout->list[i] = (struct look){ .target = &policy->targets[i],
			.doing = doing + (size_t)i * LOOKOUT_WHY,
			.schedule.random = hash_draw(&random) };
	return true;
}

nanos
lookout_go_on(struct lookout *lookout, nanos now)
{
	nanos first = NANOS_MAX;
	pid_t self = getpid();

	for (int i = 0; i < lookout->policy->target_count; i++) {
		struct look *one = &lookout->list[i];
		nanos limit = plan_timeout(lookout->policy, one->count + 1);

		if (one->arrived != 0)
			continue;
		if (now >= one->until && one->helper > 0) {
			/* It is over when it is reaped: a file on a server that
			 * is gone may keep it. */
			kill(one->helper, SIGKILL);
			one->until = NANOS_MAX;
		} else if (now >= one->until) {
			one->count++;
			one->until =
			    number_add(now, limit == 0 ? NANOS_MAX : limit);
			one->helper = fork();
			if (one->helper == 0) {
				signals_die_with(self, SIGKILL);
				look(one->target, one->count, lookout->signals,
				    one->doing);
			}
			if (one->helper == -1) {
				snprintf(one->why, LOOKOUT_WHY, "%s",
				    error_words(errno));
				one->until = number_add(now, NANOS_SECOND);
			}
		}
		first = number_lesser(first, one->until);
	}
	return first - now;
}

void
lookout_reaped(struct lookout *lookout, const siginfo_t *info)
{
	const struct policy *policy = lookout->policy;
	nanos now = sys_now(CLOCK_BOOTTIME);

	for (int i = 0; i < policy->target_count; i++) {
		struct look *one = &lookout->list[i];
		bool exited = info->si_code == CLD_EXITED;

		if (one->helper != info->si_pid)
			continue;
		one->helper = 0;
		memcpy(one->why, one->doing, LOOKOUT_WHY);
		one->until = number_add(now,
		    backoff_next(&policy->backoff, &one->schedule, NANOS_MAX));
		one->arrived = exited && info->si_status == 0 ? now : 0;
		one->hopeless = exited && info->si_status == EXIT_STATUS_FAILED;
		lookout->missing -= one->arrived != 0;
		lookout->hopeless |= one->hopeless;
	}
}

const char *
lookout_why(const struct look *look)
{
	return look->why[0] != '\0' ? look->why : look->doing;
}
