#include "context.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "number.h"

#define DESCRIPTOR_BASE 10
#define BOOT_ID_LENGTH 36

static const char *const names[CONTEXT_OURS] = {
	"RETRY_ATTEMPT=",
	"RETRY_MAX_ATTEMPTS=",
	"RETRY_DEPTH=",
	"RETRY_DEADLINE=",
	"RETRY_LAST_STATUS=",
};

nanos
context_now(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) == -1)
		return 0;
	return now.tv_sec * NANOS_SECOND + now.tv_nsec;
}

uint64_t
context_seed(void)
{
	uint64_t seed;

	/* Early at boot there may be no entropy yet: never wait for it. */
	if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
		seed = (uint64_t)context_now(CLOCK_MONOTONIC) ^
		    (uint64_t)getpid() << 32;
	return seed;
}

/*
 * Writes what an instant on CLOCK_BOOTTIME means only together with: the boot,
 * and the time namespace, which may shift that clock. False without /proc.
 */
static bool
clock_name(char *room)
{
	struct stat clock;
	ssize_t got;
	char *at = room + BOOT_ID_LENGTH;
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		return false;
	got = read(fd, room, BOOT_ID_LENGTH);
	close(fd);
	if (got != BOOT_ID_LENGTH)
		return false;
	/* Old kernels have no time namespaces. */
	if (stat("/proc/self/ns/time", &clock) == -1)
		clock.st_ino = 0;
	*at++ = ':';
	number_put(at, (int64_t)clock.st_ino);
	memcpy(at + strlen(at), ":", 2);
	return true;
}

nanos
context_deadline(void)
{
	const char *told = getenv("RETRY_DEADLINE");
	char here[CONTEXT_ROOM];
	size_t length;
	nanos deadline;

	if (told == NULL || !clock_name(here))
		return NANOS_MAX;
	length = strlen(here);
	if (strncmp(told, here, length) != 0 ||
	    !number_whole(told + length, strlen(told + length), &deadline))
		return NANOS_MAX;
	return deadline;
}

/* Whether one of handed has the name of variable. */
static bool
is_replaced(const char *variable, char *const *handed)
{
	for (; *handed != NULL; handed++)
		if (strncmp(variable, *handed, strcspn(*handed, "=") + 1) == 0)
			return true;
	return false;
}

static bool
is_ours(const char *variable)
{
	if (strncmp(variable, "RETRY_", 6) != 0)
		return false;
	for (size_t i = 0; i < CONTEXT_OURS; i++)
		if (strncmp(variable, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

size_t
context_elements(void)
{
	size_t count = 0;

	while (environ != NULL && environ[count] != NULL)
		count++;
	return count + CONTEXT_HANDED + CONTEXT_OURS + 1;
}

/* Writes "NAME=value". */
static char *
assign(char room[CONTEXT_ROOM], const char *name, int64_t value)
{
	size_t length = strlen(name);

	memcpy(room, name, length);
	number_put(room + length, value);
	return room;
}

void
context_open(struct context *context, char **env, char *const *handed)
{
	const char *outer = getenv("RETRY_DEPTH");
	int64_t depth = 0;

	context->env = env;
	for (char **from = environ; from != NULL && *from != NULL; from++)
		if (!is_ours(*from) && !is_replaced(*from, handed))
			*env++ = *from;
	while (*handed != NULL)
		*env++ = *handed++;
	context->ours = env;
	if (outer != NULL && !number_whole(outer, strlen(outer), &depth))
		depth = 0;
	assign(context->depth, names[2], number_add(depth, 1));
	context->deadline[0] = '\0';
}

/* The deadline does not change: what is written once is told to all. */
static bool
tell_deadline(struct context *context, nanos deadline)
{
	size_t length = strlen(names[3]);
	char *at = context->deadline + length;

	if (deadline == NANOS_MAX)
		return false;
	if (context->deadline[0] != '\0')
		return true;
	if (!clock_name(at))
		return false;
	memcpy(context->deadline, names[3], length);
	number_put(at + strlen(at), deadline);
	return true;
}

void
context_tell(struct context *context, const struct policy *policy,
    const struct history *history)
{
	char **slot = context->ours;

	*slot++ = assign(context->attempt, names[0], history->made);
	*slot++ = assign(context->most, names[1], policy->attempts);
	if (policy->attempts == POLICY_UNLIMITED)
		memcpy(context->most + strlen(names[1]), "inf", 4);
	*slot++ = context->depth;
	if (tell_deadline(context, history->deadline))
		*slot++ = context->deadline;
	if (history->made > 1)
		*slot++ = assign(context->last, names[4], history->status);
	*slot = NULL;
}

int
context_move_up(int fd)
{
	int moved;

	if (fd == -1 || fd >= DESCRIPTOR_BASE)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, DESCRIPTOR_BASE);
	/* What is closed must not come to life as one of ours. */
	if (moved == -1 && fd <= STDERR_FILENO)
		moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (moved == -1)
		return fd;
	close(fd);
	return moved;
}
