#include "attempt/nesting.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "text/number.h"
#include "sys/procfs.h"

#define UUID_LENGTH (SYS_UUID - 1)

/* Variables that retry writes itself, and so never passes through. */
enum name {
	NAME_ATTEMPT,
	NAME_MOST,
	NAME_DEPTH,
	NAME_DEADLINE,
	NAME_LAST,
	NAME_PARENT,
	NAME_ID,
	NAME_ANCESTOR,
	NAME_ADMITTED,
	NAMES,
};

static const char *const names[NAMES] = {
	[NAME_ATTEMPT] = "RETRY_ATTEMPT=",
	[NAME_MOST] = "RETRY_MAX_ATTEMPTS=",
	[NAME_DEPTH] = "RETRY_DEPTH=",
	[NAME_DEADLINE] = "RETRY_DEADLINE=",
	[NAME_LAST] = "RETRY_LAST_STATUS=",
	[NAME_PARENT] = "RETRY_PARENT=",
	[NAME_ID] = "RETRY_ID=",
	[NAME_ANCESTOR] = "RETRY_ANCESTOR_RETRY=",
	[NAME_ADMITTED] = "RETRY_ADMITTED=",
};

static const char *const option_names[POLICY_TOLD] = {
	[TOLD_BUDGET] = "RETRY_BUDGET=",
	[TOLD_RATIO] = "RETRY_BUDGET_RATIO=",
	[TOLD_MIN] = "RETRY_BUDGET_MIN=",
	[TOLD_WINDOW] = "RETRY_BUDGET_WINDOW=",
	[TOLD_DIR] = "RETRY_BUDGET_DIR=",
	[TOLD_NESTED] = "RETRY_NESTED=",
	[TOLD_FLEET] = "RETRY_FLEET=",
	[TOLD_FLEET_AUTH] = "RETRY_FLEET_AUTH_FILE=",
	[TOLD_FLEET_VIA] = "RETRY_FLEET_VIA=",
	[TOLD_FLEET_TIMEOUT] = "RETRY_FLEET_TIMEOUT=",
	[TOLD_FLEET_MIN] = "RETRY_FLEET_MIN=",
	[TOLD_FLEET_RATIO] = "RETRY_FLEET_RATIO=",
	[TOLD_FLEET_ALONE] = "RETRY_FLEET_ALONE=",
	[TOLD_TRACE] = "RETRY_TRACE=",
};

_Static_assert(NAMES + POLICY_TOLD == NESTING_OWN, "room for each of them");

/* Writes "NAME=value". */
static char *
assign(char room[NESTING_ROOM], enum name name, int64_t value)
{
	number_put(stpcpy(room, names[name]), value);
	return room;
}

/*
 * Whether the process that wrote "pid.instant" lives. It lived at that instant:
 * a process that began later has got the same number. /proc rounds the start of
 * a process down to a tick, so the instant is rounded, too. An instant in the
 * future, or a process with another clock, is of another time namespace. A
 * zombie is dead.
 */
static bool
is_alive(const char *identity)
{
	size_t length = strcspn(identity, ".");
	const char *since = identity + length + 1;
	struct procfs proc;
	int64_t number, instant;
	pid_t pid;

	if (identity[length] != '.' ||
	    !number_whole(identity, length, &number) ||
	    !number_whole(since, strlen(since), &instant) || number <= 0 ||
	    number > INT_MAX || instant > sys_now(CLOCK_BOOTTIME))
		return false;
	pid = procfs_number((pid_t)number);
	return pid > 0 && procfs_look(&proc, pid) == PROCFS_SEEN &&
	    !proc.dead &&
	    proc.start <= instant / (NANOS_SECOND / sysconf(_SC_CLK_TCK)) &&
	    procfs_same_clock(pid);
}

/*
 * Writes "pid.instant" for this process. The instant is the present: to read
 * the start of retry from /proc would take longer than all other steps before
 * the command.
 */
static void
put_identity(char *at)
{
	char digits[NUMBER_ROOM];

	at = stpcpy(stpcpy(at, number_put(digits, getpid())), ".");
	number_put(at, sys_now(CLOCK_BOOTTIME));
}

/* Writes the boot and the time namespace, on which CLOCK_BOOTTIME depends. NULL
 * without /proc. */
static char *
put_clock(char *at)
{
	char digits[NUMBER_ROOM];

	if (!sys_boot(at))
		return NULL;
	number_put(digits, (int64_t)sys_space());
	return stpcpy(stpcpy(stpcpy(at + strlen(at), ":"), digits), ":");
}

/* A deadline of another boot or time namespace is ignored. */
static nanos
read_deadline(const char *text)
{
	char here[NESTING_ROOM], *end;
	size_t length;
	nanos deadline;

	if (text == NULL || (end = put_clock(here)) == NULL)
		return NANOS_MAX;
	length = (size_t)(end - here);
	if (strncmp(text, here, length) != 0 ||
	    !number_whole(text + length, strlen(text + length), &deadline))
		return NANOS_MAX;
	return deadline;
}

static int64_t
read_depth(const char *text)
{
	int64_t depth;

	if (text == NULL || !number_whole(text, strlen(text), &depth))
		return 0;
	return depth;
}

/* An id must be a UUID: other programs write it into their logs. */
static const char *
read_id(const char *text)
{
	if (text == NULL || strlen(text) != UUID_LENGTH)
		return NULL;
	for (size_t i = 0; i < UUID_LENGTH; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (strchr(dash ? "-" : "0123456789abcdefABCDEF", text[i]) ==
		    NULL)
			return NULL;
	}
	return text;
}

struct outer
nesting_outer(void)
{
	struct outer outer = { .deadline = NANOS_MAX };
	const char *parent = getenv("RETRY_PARENT"), *ancestor;

	if (parent == NULL || !is_alive(parent))
		return outer;
	ancestor = getenv("RETRY_ANCESTOR_RETRY");
	outer.alive = true;
	outer.deadline = read_deadline(getenv("RETRY_DEADLINE"));
	outer.depth = read_depth(getenv("RETRY_DEPTH"));
	outer.retrying = ancestor != NULL && strcmp(ancestor, "1") == 0;
	outer.id = read_id(getenv("RETRY_ID"));
	outer.admitted = getenv("RETRY_ADMITTED");
	return outer;
}

int64_t
nesting_attempts(const struct policy *policy, const struct outer *outer)
{
	bool once = policy->nested == NESTED_ONCE ||
	    (policy->nested == NESTED_ADD && outer->retrying);

	return outer->alive && once ? policy->consecutive : policy->attempts;
}

/* The elements of an attempt's environment, the closing NULL included. */
static size_t
count_elements(void)
{
	size_t count = 0;

	while (environ != NULL && environ[count] != NULL)
		count++;
	return count + NESTING_HANDED + NESTING_OWN + 1;
}

/* The key of the breaker that admits the attempts, or NULL. */
static const char *
admitted_by(const struct policy *policy, const struct outer *outer)
{
	return policy->share.breaker.failures > 0 ? policy->share.key
						  : outer->admitted;
}

/* Whether an option names a file by a relative path, which put_directory()
 * makes absolute. */
static bool
is_relative(int told, const char *text)
{
	return (told == TOLD_DIR || told == TOLD_FLEET_AUTH ||
		   (told == TOLD_TRACE && strcmp(text, "-") != 0)) &&
	    text[0] != '/' && text[0] != '\0';
}

/* The bytes of the elements and of the strings that hand_on() puts behind them.
 */
static size_t
size_of(const struct policy *policy, const struct outer *outer)
{
	const char *admitted = admitted_by(policy, outer);
	size_t size = count_elements() * sizeof(char *);

	if (admitted != NULL)
		size += strlen(names[NAME_ADMITTED]) + strlen(admitted) + 1;
	for (int i = 0; i < POLICY_TOLD; i++)
		if (policy->told[i] != NULL)
			size += strlen(option_names[i]) +
			    strlen(policy->told[i]) + 1 +
			    (is_relative(i, policy->told[i]) ? PATH_MAX : 0);
	return size;
}

/* Whether variable has the name that another, or "NAME=", begins with, or the
 * name that other is. */
static bool
has_name(const char *variable, const char *other)
{
	size_t length = strcspn(other, "=");

	return strncmp(variable, other, length) == 0 && variable[length] == '=';
}

/* Whether a variable of retry's own environment is passed to the attempts. */
static bool
passes(const char *variable, char *const *handed, const struct policy *policy)
{
	for (; *handed != NULL; handed++)
		if (has_name(variable, *handed))
			return false;
	if (strncmp(variable, "RETRY_", 6) != 0)
		return true;
	for (int i = 0; i < NAMES; i++)
		if (has_name(variable, names[i]))
			return false;
	for (int i = 0; i < POLICY_TOLD; i++)
		if (policy->told[i] != NULL &&
		    has_name(variable, option_names[i]))
			return false;
	return true;
}

/* Puts the working directory before a path: the command may change it. */
static char *
put_directory(char *at)
{
	if (getcwd(at, PATH_MAX) == NULL)
		return at;
	return stpcpy(at + strlen(at), "/");
}

/*
 * Adds the options that an inner retry takes over, and the key of the breaker
 * that admits the attempts, as strings that begin at at.
 */
static void
hand_on(struct nesting *nesting, const struct policy *policy,
    const struct outer *outer, char *at)
{
	const char *admitted = admitted_by(policy, outer);

	if (admitted != NULL) {
		*nesting->next++ = at;
		at = stpcpy(stpcpy(at, names[NAME_ADMITTED]), admitted) + 1;
	}
	for (int i = 0; i < POLICY_TOLD; i++) {
		if (policy->told[i] == NULL)
			continue;
		*nesting->next++ = at;
		at = stpcpy(at, option_names[i]);
		if (is_relative(i, policy->told[i]))
			at = put_directory(at);
		at = stpcpy(at, policy->told[i]) + 1;
	}
}

/* Adds the variables by which an inner retry knows this one. They are the same
 * for all attempts. */
static void
add_identity(struct nesting *nesting, const struct outer *outer)
{
	*nesting->next++ =
	    assign(nesting->depth, NAME_DEPTH, number_add(outer->depth, 1));
	*nesting->next++ = nesting->id;
	put_identity(stpcpy(nesting->parent, names[NAME_PARENT]));
	*nesting->next++ = nesting->parent;
}

void
nesting_start(struct nesting *nesting, const struct outer *outer)
{
	char uuid[SYS_UUID];
	const char *id = outer->id != NULL ? outer->id : sys_uuid(uuid);

	stpcpy(stpcpy(nesting->id, names[NAME_ID]), id);
}

bool
nesting_open(struct nesting *nesting, char *const *handed,
    const struct policy *policy, const struct outer *outer)
{
	size_t size = size_of(policy, outer);

	nesting->heap = NULL;
	nesting->env = nesting->few;
	if (size > sizeof nesting->few)
		nesting->env = nesting->heap = malloc(size);
	if (nesting->env == NULL)
		return false;
	nesting->next = nesting->env;
	nesting->retrying = outer->retrying;
	nesting->deadline[0] = '\0';
	for (char **from = environ; from != NULL && *from != NULL; from++)
		if (passes(*from, handed, policy))
			*nesting->next++ = *from;
	for (; *handed != NULL; handed++)
		if (strchr(*handed, '=') != NULL)
			*nesting->next++ = *handed;
	add_identity(nesting, outer);
	hand_on(
	    nesting, policy, outer, (char *)(nesting->env + count_elements()));
	/* --on-give-up may run without an attempt before. */
	*nesting->next = NULL;
	return true;
}

void
nesting_close(struct nesting *nesting)
{
	free(nesting->heap);
}

/* Writes the deadline, once: it never changes. False if there is none. */
static bool
write_deadline(struct nesting *nesting, nanos deadline)
{
	char *at;

	if (deadline == NANOS_MAX)
		return false;
	if (nesting->deadline[0] != '\0')
		return true;
	at = put_clock(stpcpy(nesting->deadline, names[NAME_DEADLINE]));
	if (at != NULL)
		number_put(at, deadline);
	else
		nesting->deadline[0] = '\0';
	return at != NULL;
}

void
nesting_tell(struct nesting *nesting, const struct policy *policy,
    const struct history *history, bool over)
{
	static char ancestor[] = "RETRY_ANCESTOR_RETRY=1";
	static char unlimited[] = "RETRY_MAX_ATTEMPTS=inf";
	char **slot = nesting->next;

	*slot++ = assign(nesting->attempt, NAME_ATTEMPT, history->made);
	*slot++ = policy->attempts == POLICY_UNLIMITED
	    ? unlimited
	    : assign(nesting->most, NAME_MOST, policy->attempts);
	if (write_deadline(nesting, history->deadline))
		*slot++ = nesting->deadline;
	if (history->made > 1 || over)
		*slot++ = assign(nesting->last, NAME_LAST, history->status);
	if (nesting->retrying || history->made > 1)
		*slot++ = ancestor;
	*slot = NULL;
}

const char *
nesting_id(const struct nesting *nesting)
{
	return nesting->id + strlen(names[NAME_ID]);
}
