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
		writer_put_escaped(
		    &writer, ESCAPE_PLAIN, *strings, strlen(*strings));
	writer_put(&writer, "\n");
	writer_flush(&writer);
	sigaction(SIGPIPE, &was, NULL);
}

static void
say_none(const struct ledger *ledger, enum loudness least)
{
	say(ledger, least,
	    STRINGS("budget '", ledger->policy->subject,
		"': no such budget in ", ledger->directory));
}

/* What the kernel has too little of tells nothing about a budget. */
static int
status_of(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM
	    ? EXIT_STATUS_FAILED
	    : BUDGET_COMMAND_NONE;
}

static int
fail_budget(
    const struct ledger *ledger, const char *what, struct failure failure)
{
	int error = failure.error;

	say(ledger, LOUDNESS_QUIET,
	    STRINGS("budget '", ledger->policy->subject, "': ", what,
		failure.why, error != 0 ? ": " : "",
		error != 0 ? strerror(error) : "", ", in ", ledger->directory));
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
    struct failure failure)
{
	say(ledger, LOUDNESS_QUIET,
	    STRINGS("budget file '", found->name, "': ", what, failure.why,
		": ", strerror(failure.error)));
	if (ledger->status != EXIT_STATUS_FAILED)
		ledger->status = status_of(failure.error);
}

/* ENOENT if the segment has been removed meanwhile. */
static struct failure
read_account(struct segment_store *store, struct snapshot *snapshot)
{
	struct visit visit = { .operation = SEGMENT_SNAPSHOT,
		.snapshot = snapshot };

	for (int i = 0; i < LOOKS && !visit.sound; i++) {
		visit.now = sys_now(CLOCK_BOOTTIME);
		if (!segment_store_run(store, &visit))
			return (
			    struct failure){ "has just been removed", ENOENT };
	}
	return visit.sound ? NO_FAILURE : REFUSED("segment is corrupt");
}

/*
 * The status
 */

static int
show(const struct ledger *ledger, const struct snapshot *snapshots,
    size_t count, bool one)
{
	struct writer writer = { .to = STDOUT_FILENO };
	struct budget_list list = { ledger->policy->format, ledger->directory,
		snapshots, count, one };

	budget_format_put(&list, &writer);
	return writer_deliver(&writer) ? 0 : EXIT_STATUS_FAILED;
}

/* The file of the key that is asked for. */
static void
name_file(const struct ledger *ledger, struct snapshot *snapshot)
{
	struct segment_dir place;

	snapshot->file[0] = '\0';
	if (segment_file_find(&place, ledger->directory).why != NULL)
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
	struct failure failure = segment_store_open(
	    &store, ledger->directory, ledger->policy->subject, &terms, false);

	if (failure.why == NULL)
		failure = read_account(&store, &snapshot);
	segment_store_close(&store);
	if (failure.why == NULL) {
		name_file(ledger, &snapshot);
		return show(ledger, &snapshot, 1, true);
	}
	if (failure.error != ENOENT)
		return fail_budget(ledger, "cannot be used: ", failure);
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
	[SEGMENT_STRANGE] = "not made by retry",
};

/* The same for a file that segment_store_walk has found. */
static struct failure
read_found(struct found *found, struct snapshot *snapshot)
{
	if (found->refused.why != NULL)
		return found->refused;
	if (found->state == SEGMENT_GOOD)
		return read_account(&found->store, snapshot);
	return REFUSED(whys[found->state]);
}

static void
gather(struct found *found, void *with)
{
	struct ledger *ledger = with;
	struct snapshot *snapshot;
	struct failure failure;

	if (found->leftover)
		return;
	snapshot = extend(ledger);
	if (snapshot == NULL) {
		fail_file(ledger, found, "", FAILED("not shown"));
		return;
	}
	failure = read_found(found, snapshot);
	if (failure.why == NULL) {
		strncpy(snapshot->file, found->name, sizeof snapshot->file - 1);
		snapshot->file[sizeof snapshot->file - 1] = '\0';
		ledger->count++;
	} else if (failure.error == 0) {
		/* What an earlier boot left is only waiting to be replaced. */
		say(ledger,
		    found->state == SEGMENT_STALE ? LOUDNESS_VERBOSE
						  : LOUDNESS_PLAIN,
		    STRINGS("budget file '", found->name,
			"': not shown: ", failure.why));
	} else if (failure.error != ENOENT) {
		fail_file(ledger, found, "not shown: ", failure);
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
	struct failure failure = segment_store_remove(ledger->directory, key);

	if (failure.why != NULL && failure.error != ENOENT)
		return fail_budget(ledger, "cannot be reset: ", failure);
	if (failure.why != NULL)
		say_none(ledger, LOUDNESS_VERBOSE);
	else
		say(ledger, LOUDNESS_VERBOSE,
		    STRINGS("budget '", key, "': reset"));
	return 0;
}

/* NO_FAILURE: it is not kept. */
static struct failure
why_kept(struct found *found)
{
	struct snapshot snapshot = { .idle = false };
	struct failure failure;

	if (found->leftover || found->state == SEGMENT_STALE)
		return NO_FAILURE;
	failure = read_found(found, &snapshot);
	return failure.why != NULL || snapshot.idle ? failure
						    : REFUSED("in use");
}

/* What became of a file. failure: why it was not removed. */
static void
say_fate(
    struct ledger *ledger, const struct found *found, struct failure failure)
{
	if (failure.why == NULL && !found->leftover) {
		say(ledger, LOUDNESS_VERBOSE,
		    STRINGS("budget file '", found->name, "': removed: ",
			found->state == SEGMENT_STALE ? whys[SEGMENT_STALE]
						      : "idle"));
	} else if (failure.why != NULL && failure.error == 0) {
		say(ledger, LOUDNESS_VERBOSE,
		    STRINGS("budget file '", found->name,
			"': kept: ", failure.why));
	} else if (failure.why != NULL && failure.error != ENOENT) {
		fail_file(ledger, found, "", failure);
	}
}

/* Nothing that may take its time comes between the look and the removal. */
static void
sweep(struct found *found, void *with)
{
	struct failure failure;

	if (!segment_store_claim(found)) {
		failure = FAILED("cannot lock");
	} else {
		failure = why_kept(found);
		if (failure.why == NULL && !segment_store_unlink(found))
			failure = FAILED("cannot remove");
	}
	segment_store_close(&found->store);
	say_fate(with, found, failure);
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
