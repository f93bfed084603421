#include "show/budget_command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "budget/segment.h"
#include "sys/sys.h"
#include "output/writer.h"
#include "store/segment_store.h"
#include "show/budget_show.h"
#include "exit_status.h"

/* What --budget-status, --budget-reset or --budget-gc works with. */
struct command {
	const struct policy *policy;
	const char *directory;
	struct snapshot *snapshots;
	size_t count, room;
	int status; /* the exit status: 0 until something fails */
};

/* How often to read a segment that seems corrupt: it may be changing. */
#define TRIES 2

static void
say(const struct command *command, enum loudness least,
    const char *const strings[])
{
	struct writer writer = { .to = STDERR_FILENO };

	if (command->policy->loudness < least)
		return;
	writer_put(&writer, "retry: ");
	for (; *strings != NULL; strings++)
		writer_put_escaped(
		    &writer, ESCAPE_PLAIN, *strings, strlen(*strings));
	writer_put(&writer, "\n");
	writer_say(&writer);
}

static void
say_none(const struct command *command, enum loudness least)
{
	say(command, least,
	    STRINGS("budget '", command->policy->subject,
		"': no such budget in ", command->directory));
}

/* Notes an exit status, of which that of a failure of retry counts most. */
static void
note(struct command *command, int status)
{
	if (command->status != EXIT_STATUS_FAILED)
		command->status = status;
}

/* Says that something failed. A lack of memory or descriptors is a failure of
 * retry, not of the budget. */
static void
fail(struct command *command, int error, const char *const strings[])
{
	say(command, LOUDNESS_QUIET, strings);
	note(command,
	    error == EMFILE || error == ENFILE || error == ENOMEM
		? EXIT_STATUS_FAILED
		: BUDGET_COMMAND_NONE);
}

/* A file is one of many, with which the command goes on. */
static void
fail_budget(struct command *command, const struct found *file, const char *what,
    struct failure failure)
{
	int error = failure.error;

	fail(command, error,
	    STRINGS(file != NULL ? "budget file '" : "budget '",
		file != NULL ? file->name : command->policy->subject,
		"': ", what, failure.why, error != 0 ? ": " : "",
		error != 0 ? strerror(error) : "",
		file != NULL ? NULL : ", in ", command->directory));
}

static void
fail_directory(struct command *command, const char *what)
{
	int error = errno;

	fail(command, error,
	    STRINGS(what, command->directory, ": ", strerror(error)));
}

static struct failure
take_snapshot(struct segment_store *store, struct snapshot *snapshot)
{
	static const struct failure gone = { "has just been removed", ENOENT };
	bool sound = false;

	for (int i = 0; i < TRIES && !sound; i++) {
		if (!segment_store_enter(store))
			return gone;
		sound = segment_look(snapshot, store->segment, &store->header,
		    sys_now(CLOCK_BOOTTIME));
		if (!segment_store_leave(store))
			return gone;
	}
	return sound ? NO_FAILURE : REFUSED("segment is corrupt");
}

/*
 * The status
 */

static void
say_fleet(const struct command *command, enum loudness least, const char *what,
    const char *why)
{
	say(command, least,
	    STRINGS("fleet '", command->policy->fleet.text, "': ", what, why));
}

/* Shows the budgets of this host, and the same budgets of its fleet. False if
 * the fleet's server did not answer. */
static bool
show(struct command *command, const struct snapshot *snapshots, size_t count)
{
	const struct policy *policy = command->policy;
	struct budget_list list = {
		.policy = policy, .snapshots = snapshots, .count = count
	};
	struct snapshot *fleets = NULL;
	char reason[BUDGET_SHOW_REASON];

	if (policy->fleet.text != NULL) {
		fleets = calloc(count + 1, sizeof *fleets);
		if (fleets == NULL) {
			fail(command, ENOMEM, STRINGS(strerror(errno)));
			return true;
		}
		if (!budget_show_ask(
			policy, snapshots, count, fleets, reason)) {
			list.error = reason;
			say_fleet(command, LOUDNESS_QUIET,
			    "cannot be asked: ", reason);
			note(command, BUDGET_COMMAND_NONE);
		}
		list.fleets = fleets;
	}
	if (!budget_show(&list))
		note(command, EXIT_STATUS_FAILED);
	free(fleets);
	return list.error == NULL;
}

static void
show_one(struct command *command)
{
	const char *key = command->policy->subject;
	struct snapshot snapshot;
	struct segment_store store;
	struct failure failure =
	    segment_store_open(&store, command->directory, key, NULL);
	bool answered;

	if (failure.why == NULL)
		failure = take_snapshot(&store, &snapshot);
	segment_store_close(&store);
	if (failure.why != NULL && failure.error != ENOENT) {
		fail_budget(command, NULL, "cannot be used: ", failure);
		return;
	}
	if (failure.why != NULL && command->policy->fleet.text == NULL) {
		say_none(command, LOUDNESS_PLAIN);
		note(command, BUDGET_COMMAND_NONE);
		return;
	}

	if (failure.why != NULL) {
		/* Other hosts of the fleet may have it. */
		segment_unknown(&snapshot, key);
	} else {
		segment_store_name(snapshot.file, command->directory, key);
	}
	answered = show(command, &snapshot, 1);
	if (failure.why != NULL)
		say_none(command, answered ? LOUDNESS_VERBOSE : LOUDNESS_PLAIN);
}

/* As take_snapshot(), for a file that segment_store_walk() has found. */
static struct failure
read_found(struct found *found, struct snapshot *snapshot)
{
	return found->refused.why != NULL
	    ? found->refused
	    : take_snapshot(&found->store, snapshot);
}

static void
gather(struct found *found, void *with)
{
	struct command *command = with;
	struct snapshot *snapshot = command->snapshots;
	struct failure failure;

	if (found->leftover)
		return;
	if (command->count == command->room) {
		command->room = command->room == 0 ? 16 : 2 * command->room;
		snapshot = realloc(snapshot, command->room * sizeof *snapshot);
		if (snapshot == NULL) {
			command->room = command->count;
			fail_budget(command, found, "", FAILED("not shown"));
			return;
		}
		command->snapshots = snapshot;
	}
	snapshot += command->count;
	failure = read_found(found, snapshot);
	if (failure.why == NULL) {
		snprintf(
		    snapshot->file, sizeof snapshot->file, "%s", found->name);
		command->count++;
	} else if (failure.error == 0) {
		/* A segment of an earlier boot is replaced when it is used. */
		say(command,
		    found->state == SEGMENT_STALE ? LOUDNESS_VERBOSE
						  : LOUDNESS_PLAIN,
		    STRINGS("budget file '", found->name,
			"': not shown: ", failure.why));
	} else if (failure.error != ENOENT) {
		fail_budget(command, found, "not shown: ", failure);
	}
}

/* Resets the budget of the host and that of the fleet, also if one fails. */
static void
reset(struct command *command)
{
	const struct policy *policy = command->policy;
	struct failure failure =
	    segment_store_remove(command->directory, policy->subject);
	bool fleet = policy->fleet.text != NULL;
	char reason[BUDGET_SHOW_REASON];
	struct snapshot budget;
	/* A budget that is gone already is a success. */
	bool gone =
	    failure.error == ENOENT && access(command->directory, F_OK) == 0;

	/* Other hosts of the fleet may have it. */
	if (gone)
		say_none(command, fleet ? LOUDNESS_VERBOSE : LOUDNESS_PLAIN);
	else if (failure.why != NULL)
		fail_budget(command, NULL, "cannot be reset: ", failure);
	else
		say(command, LOUDNESS_VERBOSE,
		    STRINGS("budget '", policy->subject, "': reset"));
	if (!fleet)
		return;

	segment_unknown(&budget, policy->subject);
	if (budget_show_ask(policy, &budget, 1, NULL, reason)) {
		say_fleet(command, LOUDNESS_VERBOSE, "reset", "");
	} else {
		say_fleet(command, LOUDNESS_QUIET, "cannot be reset: ", reason);
		note(command, BUDGET_COMMAND_NONE);
	}
}

/* Checks and removes a file, without a slow call between the two. Then says
 * whether it was removed, or why not. */
static void
sweep(struct found *found, void *with)
{
	bool stale = found->state == SEGMENT_STALE;
	struct command *command = with;
	struct snapshot snapshot = { .idle = false };
	struct failure failure = NO_FAILURE;

	if (!segment_store_claim(found)) {
		failure = FAILED("cannot lock");
	} else {
		if (!found->leftover && !stale) {
			failure = read_found(found, &snapshot);
			if (failure.why == NULL && !snapshot.idle)
				failure = REFUSED("in use");
		}
		/*
		 * A process may begin to use the segment now. A lock for each
		 * use would prevent that, but then every process would wait for
		 * one that is stopped while it holds the lock. The cost is
		 * small: a process sees at its next use that the file is gone,
		 * and so loses one retry's count.
		 */
		if (failure.why == NULL && unlink(found->path) == -1)
			failure = FAILED("cannot remove");
	}
	segment_store_close(&found->store);

	if (failure.why == NULL && !found->leftover)
		say(command, LOUDNESS_VERBOSE,
		    STRINGS("budget file '", found->name,
			"': removed: ", stale ? found->refused.why : "idle"));
	else if (failure.why != NULL && failure.error == 0)
		say(command, LOUDNESS_VERBOSE,
		    STRINGS("budget file '", found->name,
			"': kept: ", failure.why));
	else if (failure.why != NULL && failure.error != ENOENT)
		fail_budget(command, found, "", failure);
}

int
budget_command_run(const struct policy *policy)
{
	struct command command = { .policy = policy,
		.directory = policy->budget.directory };
	bool gc = policy->action == ACTION_GC;

	if (policy->action == ACTION_RESET) {
		reset(&command);
	} else if (policy->subject != NULL) {
		show_one(&command);
	} else if (gc &&
	    faccessat(AT_FDCWD, command.directory, W_OK, AT_EACCESS) == -1) {
		/* One message for the directory, and not one for each file. */
		fail_directory(&command, "cannot write to ");
	} else if (!segment_store_walk(
		       command.directory, gc ? sweep : gather, &command)) {
		fail_directory(&command, "cannot read ");
	} else if (!gc) {
		if (command.count > 0)
			qsort(command.snapshots, command.count,
			    sizeof *command.snapshots, segment_compare);
		show(&command, command.snapshots, command.count);
	}
	free(command.snapshots);
	return command.status;
}
