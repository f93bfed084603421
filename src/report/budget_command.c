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
#include "cli/optparse.h"

struct ledger {
	const struct policy *policy;
	const char *directory;
	struct account *accounts;
	size_t count, room;
	int status; /* 0 while all could be looked at and done */
};

/* One look at a segment. */
struct look {
	struct account *account;
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
	struct page page = { .to = STDERR_FILENO };
	struct sigaction was;

	if (ledger->policy->loudness < least)
		return;
	sigaction(SIGPIPE, &ignored, &was);
	page_put(&page, "retry: ");
	for (; *strings != NULL; strings++)
		quote_string(&page, QUOTE_PLAIN, *strings);
	page_put(&page, "\n");
	page_flush(&page);
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
	    ? WORDS_FAILED
	    : LEDGER_NONE;
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
	if (ledger->status != WORDS_FAILED)
		ledger->status = status_of(error);
}

static void
take(struct segment *segment, const struct header *header, void *with)
{
	struct look *look = with;

	look->sound = account_take(look->account, segment, header, look->now);
}

/* NULL, or why there is none, with errno: ENOENT where it is gone by now. */
static const char *
read_account(struct store *store, struct account *account)
{
	struct look look = { .account = account };

	for (int i = 0; i < LOOKS && !look.sound; i++) {
		look.now = context_now(CLOCK_BOOTTIME);
		if (!store_use(store, take, &look)) {
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
show(const struct ledger *ledger, const struct account *accounts, size_t count,
    bool one)
{
	struct page page = { .to = STDOUT_FILENO };
	struct tables tables = { ledger->policy->format, ledger->directory,
		accounts, count, one };

	tables_put(&tables, &page);
	return page_deliver(&page) ? 0 : WORDS_FAILED;
}

/* The file of the key that is asked for. */
static void
name_file(const struct ledger *ledger, struct account *account)
{
	struct place place;

	account->file[0] = '\0';
	if (place_find(&place, ledger->directory) != NULL)
		return;
	place_name(&place, ledger->policy->subject);
	memcpy(account->file, place.path + place.stem,
	    strlen(place.path + place.stem) + 1);
}

static int
show_one(const struct ledger *ledger)
{
	const struct terms terms = { -1, -1, -1 };
	struct account account;
	struct store store;
	const char *why = store_open(
	    &store, ledger->directory, ledger->policy->subject, &terms, false);

	if (why == NULL)
		why = read_account(&store, &account);
	store_close(&store);
	if (why == NULL) {
		name_file(ledger, &account);
		return show(ledger, &account, 1, true);
	}
	if (errno != ENOENT)
		return fail_budget(ledger, "cannot be used: ", why);
	say_none(ledger, LOUDNESS_PLAIN);
	return LEDGER_NONE;
}

/* A place for one more account, or NULL. */
static struct account *
extend(struct ledger *ledger)
{
	size_t room = ledger->room == 0 ? 16 : 2 * ledger->room;
	struct account *more;

	if (ledger->count < ledger->room)
		return &ledger->accounts[ledger->count];
	more = realloc(ledger->accounts, room * sizeof *more);
	if (more == NULL)
		return NULL;
	ledger->accounts = more;
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
read_found(struct found *found, struct account *account)
{
	errno = found->error;
	if (found->refused != NULL)
		return found->refused;
	if (found->state == SEGMENT_GOOD)
		return read_account(&found->store, account);
	errno = 0;
	return whys[found->state];
}

static void
gather(struct found *found, void *with)
{
	struct ledger *ledger = with;
	struct account *account;
	const char *why;

	if (found->leftover)
		return;
	account = extend(ledger);
	if (account == NULL) {
		fail_file(ledger, found, "", "not shown");
		return;
	}
	why = read_found(found, account);
	if (why == NULL) {
		strncpy(account->file, found->name, sizeof account->file - 1);
		account->file[sizeof account->file - 1] = '\0';
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

	if (!store_walk(ledger->directory, gather, ledger)) {
		status = fail_directory(ledger, "cannot read ");
	} else {
		if (ledger->count > 0)
			qsort(ledger->accounts, ledger->count,
			    sizeof *ledger->accounts, account_compare);
		status = show(ledger, ledger->accounts, ledger->count, false);
		if (status == 0)
			status = ledger->status;
	}
	free(ledger->accounts);
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
	const char *why = store_remove(ledger->directory, key);

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
	struct account account = { .idle = false };
	const char *why;

	if (found->leftover || found->state == SEGMENT_STALE)
		return NULL;
	why = read_found(found, &account);
	return why != NULL || account.idle ? why : "in use";
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

	if (store_claim(found)) {
		why = why_kept(found);
		if (why == NULL && !store_unlink(found))
			why = "cannot remove";
	}
	store_close(&found->store);
	say_fate(with, found, why);
}

static int
collect(struct ledger *ledger)
{
	/* Once, and not for each file. */
	if (faccessat(AT_FDCWD, ledger->directory, W_OK, AT_EACCESS) == -1)
		return fail_directory(ledger, "cannot write to ");
	if (!store_walk(ledger->directory, sweep, ledger))
		return fail_directory(ledger, "cannot read ");
	return ledger->status;
}

int
ledger_run(const struct policy *policy)
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
