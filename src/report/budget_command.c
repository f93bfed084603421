#include "report/budget_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "budget/snapshot.h"
#include "sys/sys.h"
#include "output/log.h"
#include "output/writer.h"
#include "store/segment_file.h"
#include "output/quote.h"
#include "store/segment_store.h"
#include "report/budget_format.h"
#include "exit_status.h"

struct ledger {
	const struct policy *policy;
	const char *directory;
	struct snapshot *snapshots;
	size_t count, room;
	int status; /* 0 while all could be looked at and done */
};

/* One look at a segment. */
struct look {
	struct snapshot *snapshot;
	nanos now;
	bool sound;
};

/* How often to look at one that makes no sense. */
#define LOOKS 2

/* Whoever reads what retry has to say, or does not, changes nothing. */
static void
say(const struct ledger *ledger, enum loudness least,
    const char *const strings[])
{
	const struct sigaction ignored = { .sa_handler = SIG_IGN };
	struct writer writer = { .to = STDERR_FILENO };
	struct sigaction was;

	if (ledger->policy->loudness < least)
		return;
	sigaction(SIGPIPE, &ignored, &was);
	writer_put(&writer, "retry: ");
	for (; *strings != NULL; strings++)
		quote_string(&writer, QUOTE_PLAIN, *strings);
	writer_put(&writer, "\n");
	writer_flush(&writer);
	sigaction(SIGPIPE, &was, NULL);
}

static void
say_none(const struct ledger *ledger, enum loudness least)
{
	say(ledger, least,
	    STRINGS("budget '", ledger->policy->subject, "': none in ",
		ledger->directory));
}

/* What the kernel has too little of tells nothing about a budget. */
static int
status_of(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM
	    ? EXIT_STATUS_FAILED
	    : BUDGET_COMMAND_NONE;
}

/* errno: of the kernel, or 0 where why says it all. */
static int
fail_budget(const struct ledger *ledger, const char *what, const char *why)
{
	int error = errno;

	say(ledger, LOUDNESS_QUIET,
	    STRINGS("budget '", ledger->policy->subject, "': ", what, why,
		error != 0 ? ": " : "", error != 0 ? strerror(error) : "",
		", in ", ledger->directory));
	return status_of(error);
}

static int
fail_directory(const struct ledger *ledger, const char *what)
{
	int error = errno;

	say(ledger, LOUDNESS_QUIET,
	    STRINGS(what, ledger->directory, ": ", strerror(error)));
	return status_of(error);
}

/* The same for a file of it: on with the others. */
static void
fail_file(struct ledger *ledger, const struct found *found, const char *what,
    const char *why)
{
	int error = errno;

	say(ledger, LOUDNESS_QUIET,
	    STRINGS("budget file '", found->name, "': ", what, why, ": ",
		strerror(error)));
	if (ledger->status != EXIT_STATUS_FAILED)
		ledger->status = status_of(error);
}

static void
take(struct segment *segment, const struct header *header, void *with)
{
	struct look *look = with;

	look->sound = snapshot_take(look->snapshot, segment, header, look->now);
}

/* NULL, or why there is none, with errno: ENOENT where it is gone by now. */
static const char *
read_account(struct segment_store *store, struct snapshot *snapshot)
{
	struct look look = { .snapshot = snapshot };

	for (int i = 0; i < LOOKS && !look.sound; i++) {
		look.now = sys_now(CLOCK_BOOTTIME);
		if (!segment_store_use(store, take, &look)) {
			errno = ENOENT;
			return "has just been removed";
		}
	}
	errno = 0;
	return look.sound ? NULL : "no sense in its words";
}

/*
 * The status
 */

static int
show(const struct ledger *ledger, const struct snapshot *snapshots,
    size_t count, bool one)
{
	struct writer writer = { .to = STDOUT_FILENO };
	struct budget_format tables = { ledger->policy->format,
		ledger->directory, snapshots, count, one };

	budget_format_put(&tables, &writer);
	return writer_deliver(&writer) ? 0 : EXIT_STATUS_FAILED;
}

/* The file of the key that is asked for. */
static void
name_file(const struct ledger *ledger, struct snapshot *snapshot)
{
	struct segment_dir place;

	snapshot->file[0] = '\0';
	if (segment_file_find(&place, ledger->directory) != NULL)
		return;
	segment_file_name(&place, ledger->policy->subject);
	memcpy(snapshot->file, place.path + place.stem,
	    strlen(place.path + place.stem) + 1);
}

static int
show_one(const struct ledger *ledger)
{
	const struct terms terms = { -1, -1, -1 };
	struct snapshot snapshot;
	struct segment_store store;
	const char *why = segment_store_open(
	    &store, ledger->directory, ledger->policy->subject, &terms, false);

	if (why == NULL)
		why = read_account(&store, &snapshot);
	segment_store_close(&store);
	if (why == NULL) {
		name_file(ledger, &snapshot);
		return show(ledger, &snapshot, 1, true);
	}
	if (errno != ENOENT)
		return fail_budget(ledger, "cannot be used: ", why);
	say_none(ledger, LOUDNESS_PLAIN);
	return BUDGET_COMMAND_NONE;
}

/* A place for one more account, or NULL. */
static struct snapshot *
extend(struct ledger *ledger)
{
	size_t room = ledger->room == 0 ? 16 : 2 * ledger->room;
	struct snapshot *more;

	if (ledger->count < ledger->room)
		return &ledger->snapshots[ledger->count];
	more = realloc(ledger->snapshots, room * sizeof *more);
	if (more == NULL)
		return NULL;
	ledger->snapshots = more;
	ledger->room = room;
	return &more[ledger->count];
}

static const char *const whys[] = {
	[SEGMENT_STALE] = "of an earlier boot",
	[SEGMENT_FOREIGN] = "of another time namespace",
	[SEGMENT_STRANGE] = "not as retry makes them",
};

/*
 * The same as read_account, for a file that the walk has come upon; errno 0
 * where it is none of ours.
 */
static const char *
read_found(struct found *found, struct snapshot *snapshot)
{
	errno = found->error;
	if (found->refused != NULL)
		return found->refused;
	if (found->state == SEGMENT_GOOD)
		return read_account(&found->store, snapshot);
	errno = 0;
	return whys[found->state];
}

static void
gather(struct found *found, void *with)
{
	struct ledger *ledger = with;
	struct snapshot *snapshot;
	const char *why;

	if (found->leftover)
		return;
	snapshot = extend(ledger);
	if (snapshot == NULL) {
		fail_file(ledger, found, "", "not shown");
		return;
	}
	why = read_found(found, snapshot);
	if (why == NULL) {
		strncpy(snapshot->file, found->name, sizeof snapshot->file - 1);
		snapshot->file[sizeof snapshot->file - 1] = '\0';
		ledger->count++;
	} else if (errno == 0) {
		/* What an earlier boot left is only waiting to be replaced. */
		say(ledger,
		    found->state == SEGMENT_STALE ? LOUDNESS_VERBOSE
						  : LOUDNESS_PLAIN,
		    STRINGS(
			"budget file '", found->name, "': not shown: ", why));
	} else if (errno != ENOENT) {
		fail_file(ledger, found, "not shown: ", why);
	}
}

static int
show_all(struct ledger *ledger)
{
	int status;

	if (!segment_store_walk(ledger->directory, gather, ledger)) {
		status = fail_directory(ledger, "cannot read ");
	} else {
		if (ledger->count > 0)
			qsort(ledger->snapshots, ledger->count,
			    sizeof *ledger->snapshots, snapshot_compare);
		status = show(ledger, ledger->snapshots, ledger->count, false);
		if (status == 0)
			status = ledger->status;
	}
	free(ledger->snapshots);
	return status;
}

/*
 * What removes
 */

/* Nothing left to remove is what was asked for. */
static int
reset(const struct ledger *ledger)
{
	const char *key = ledger->policy->subject;
	const char *why = segment_store_remove(ledger->directory, key);

	if (why != NULL && errno != ENOENT)
		return fail_budget(ledger, "cannot be reset: ", why);
	if (why != NULL)
		say_none(ledger, LOUDNESS_VERBOSE);
	else
		say(ledger, LOUDNESS_VERBOSE,
		    STRINGS("budget '", key, "': reset"));
	return 0;
}

/* NULL: it is not kept. */
static const char *
why_kept(struct found *found)
{
	struct snapshot snapshot = { .idle = false };
	const char *why;

	if (found->leftover || found->state == SEGMENT_STALE)
		return NULL;
	why = read_found(found, &snapshot);
	return why != NULL || snapshot.idle ? why : "in use";
}

/* What became of a file. why: it is there still, for this reason. */
static void
say_fate(struct ledger *ledger, const struct found *found, const char *why)
{
	int error = errno;

	if (why == NULL && !found->leftover) {
		say(ledger, LOUDNESS_VERBOSE,
		    STRINGS("budget file '", found->name, "': removed: ",
			found->state == SEGMENT_STALE ? whys[SEGMENT_STALE]
						      : "idle"));
	} else if (why != NULL && error == 0) {
		say(ledger, LOUDNESS_VERBOSE,
		    STRINGS("budget file '", found->name, "': kept: ", why));
	} else if (why != NULL && error != ENOENT) {
		fail_file(ledger, found, "", why);
	}
}

/* Nothing that may take its time comes between the look and the removal. */
static void
sweep(struct found *found, void *with)
{
	const char *why = "cannot lock";

	if (segment_store_claim(found)) {
		why = why_kept(found);
		if (why == NULL && !segment_store_unlink(found))
			why = "cannot remove";
	}
	segment_store_close(&found->store);
	say_fate(with, found, why);
}

static int
collect(struct ledger *ledger)
{
	/* Once, and not for each file. */
	if (faccessat(AT_FDCWD, ledger->directory, W_OK, AT_EACCESS) == -1)
		return fail_directory(ledger, "cannot write to ");
	if (!segment_store_walk(ledger->directory, sweep, ledger))
		return fail_directory(ledger, "cannot read ");
	return ledger->status;
}

int
budget_command_run(const struct policy *policy)
{
	struct ledger ledger = { .policy = policy,
		.directory = policy->share.directory };

	switch (policy->action) {
	case ACTION_RUN:
	case ACTION_REHEARSE:
		break;
	case ACTION_STATUS:
		return strcmp(policy->subject, "all") == 0 ? show_all(&ledger)
							   : show_one(&ledger);
	case ACTION_RESET:
		return reset(&ledger);
	case ACTION_GC:
		return collect(&ledger);
	}
	return 0;
}
