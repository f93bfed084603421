#include "store/segment_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "sys/sys.h"
#include "store/guard.h"
#include "store/mint.h"

/* How often to look again where others change what is there meanwhile. */
#define TURNS 8

/* What is no older, somebody may still be at. */
#define LEFTOVER_AGE NANOS_MINUTE

/* segment_store_use, as segment_file_guard hands it on. */
struct use {
	struct segment_store *store;
	void (*work)(struct segment *, const struct header *, void *);
	void *with;
	bool whole;
};

/* Keeps errno, which says why. */
static void
shut(int fd)
{
	int error = errno;

	close(fd);
	errno = error;
}

/* Some of what is wrong shows in that it cannot be opened. */
static const char *
cannot_open(const struct segment_dir *place)
{
	int error = errno;
	struct stat file;
	const char *why = NULL;

	if (error != ENOENT && lstat(place->path, &file) == 0)
		why = segment_file_judge(place, &file);
	if (why != NULL)
		return why;
	errno = error;
	return "cannot open";
}

/* Copies the header, and says what it is worth. */
static const char *
check_header(
    struct segment_store *store, const char *key, enum segment_state *state)
{
	const struct header *header = &store->header;
	struct origin here;
	const char *why = segment_file_origin(store->fd, false, &here);
	ssize_t got;

	if (why != NULL)
		return why;
	got = pread(store->fd, &store->header, sizeof *header, 0);
	if (got == -1)
		return "cannot read";
	if (!segment_shares_clock(header, &here))
		here.space = sys_space();
	errno = 0;
	if ((size_t)got != sizeof *header)
		return "of another size";
	*state = segment_check(header, key, &here);
	if (*state == SEGMENT_STALE)
		return "out of date";
	if (*state == SEGMENT_FOREIGN)
		return "made in another time namespace";
	if (*state == SEGMENT_GOOD)
		return NULL;
	return segment_check(header, NULL, &here) == SEGMENT_STRANGE
	    ? "of another version"
	    : "of another key";
}

static const char *
check_file(struct segment_store *store, const struct segment_dir *place,
    const char *key, enum segment_state *state)
{
	struct stat file;
	const char *why;

	if (fstat(store->fd, &file) == -1)
		return "cannot open";
	why = segment_file_judge(place, &file);
	return why != NULL ? why : check_header(store, key, state);
}

static const char *
map(struct segment_store *store)
{
	void *at = mmap(NULL, sizeof *store->segment, PROT_READ | PROT_WRITE,
	    MAP_SHARED, store->fd, 0);

	if (at == MAP_FAILED)
		return "cannot map";
	store->segment = at;
	store->fd = sys_move_up(store->fd);
	return NULL;
}

/*
 * Opens what is there: NULL, or why it is not SEGMENT_GOOD. Of the answers,
 * the words are for people, with errno as it belongs to them; ENOENT says that
 * there is nothing, and only then; and *state, what may be done about what is
 * there. The descriptor of a stale one is open too.
 */
static const char *
open_existing(struct segment_store *store, const struct segment_dir *place,
    const char *key, enum segment_state *state)
{
	const char *why;

	*store = (struct segment_store){ .fd = -1 };
	*state = SEGMENT_STRANGE;
	store->fd = open(place->path,
	    O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (store->fd == -1)
		return cannot_open(place);
	why = check_file(store, place, key, state);
	if (*state == SEGMENT_GOOD)
		why = map(store);
	if (why == NULL || *state == SEGMENT_STALE)
		return why;
	*state = *state == SEGMENT_GOOD ? SEGMENT_STRANGE : *state;
	segment_store_close(store);
	return why;
}

/*
 * The lock of a file that is to be removed. Of all who find it, only he who has
 * its lock may remove it, and while he sees it in its place nobody can have put
 * a new one there: so a new one is never hit, but where a user removes files
 * himself. Who uses one takes no lock. A lock dies with its holder; where he is
 * stopped, the others give up after a while.
 */
static bool
lock(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

/* Whether a file has its name still. False, with errno: ENOENT, if not. */
static bool
is_in_place(int fd, const struct segment_dir *place)
{
	struct stat ours, there;

	if (fstat(fd, &ours) == -1 || lstat(place->path, &there) == -1)
		return false;
	errno = ENOENT;
	return ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/* Takes a stale file away, unless somebody else does: EAGAIN. */
static const char *
take_away(int fd, const struct segment_dir *place)
{
	if (!lock(fd)) {
		errno = EAGAIN;
		return "being replaced all the time";
	}
	if (!is_in_place(fd, place))
		return NULL;
	return unlink(place->path) == 0 ? NULL : "cannot remove";
}

/* What to do where there is none that is good: NULL, and look again. */
static const char *
renew(struct segment_store *store, const struct segment_dir *place,
    const char *key, const struct terms *terms)
{
	const char *why;

	if (store->fd == -1)
		return segment_file_make(place, key, terms);
	why = take_away(store->fd, place);
	segment_store_close(store);
	return why;
}

const char *
segment_store_open(struct segment_store *store, const char *directory,
    const char *key, const struct terms *terms, bool make)
{
	struct segment_dir place;
	enum segment_state state;
	const char *why = segment_file_find(&place, directory);

	*store = (struct segment_store){ .fd = -1 };
	if (why != NULL)
		return why;
	segment_file_name(&place, key);
	for (int turn = 0; turn < TURNS; turn++) {
		why = open_existing(store, &place, key, &state);
		if (why == NULL)
			return NULL;
		if (state != SEGMENT_STALE && errno != ENOENT)
			return why;
		if (!make) {
			segment_store_close(store);
			errno = ENOENT;
			return why;
		}
		why = renew(store, &place, key, terms);
		if (why != NULL)
			return why;
	}
	errno = 0;
	return "being replaced all the time";
}

/* The header never changes: where it has, so may have all. */
static void
use(void *with)
{
	struct use *use = with;
	struct segment_store *store = use->store;

	if (memcmp(&store->segment->header, &store->header,
		sizeof store->header) != 0)
		return;
	use->work(store->segment, &store->header, use->with);
	use->whole = true;
}

bool
segment_store_use(struct segment_store *store,
    void (*work)(
	struct segment *segment, const struct header *header, void *with),
    void *with)
{
	struct use call = { .store = store, .work = work, .with = with };
	struct stat file;

	if (store->fd == -1)
		return false;
	if (fstat(store->fd, &file) == 0 && file.st_nlink > 0 &&
	    file.st_size == sizeof(struct segment) &&
	    segment_file_guard(
		store->segment, sizeof *store->segment, use, &call) &&
	    call.whole)
		return true;
	segment_store_close(store);
	return false;
}

void
segment_store_close(struct segment_store *store)
{
	if (store->segment != NULL)
		munmap(store->segment, sizeof *store->segment);
	if (store->fd != -1)
		shut(store->fd);
	store->segment = NULL;
	store->fd = -1;
}

const char *
segment_store_remove(const char *directory, const char *key)
{
	struct segment_dir place;
	struct stat file;
	const char *why = segment_file_find(&place, directory);

	if (why != NULL)
		return why;
	segment_file_name(&place, key);
	if (lstat(place.path, &file) == -1)
		return "cannot remove";
	why = segment_file_judge_removal(&place, &file);
	if (why != NULL)
		return why;
	return unlink(place.path) == 0 ? NULL : "cannot remove";
}

/* What somebody may still be making is left alone. */
static bool
is_left_over(const struct segment_dir *place)
{
	struct stat file;

	return lstat(place->path, &file) == 0 &&
	    segment_file_judge_removal(place, &file) == NULL &&
	    sys_now(CLOCK_REALTIME) - file.st_ctim.tv_sec * NANOS_SECOND >
	    LEFTOVER_AGE;
}

/* Whether a segment has the name that its key gives it. */
static bool
is_at_home(const struct header *header, const struct segment_dir *place)
{
	struct segment_dir home = *place;
	char key[SEGMENT_KEY + 1] = { 0 };

	memcpy(key, header->key, sizeof header->key);
	segment_file_name(&home, key);
	return strcmp(home.path, place->path) == 0;
}

static void
visit(const struct segment_dir *place, void (*each)(struct found *, void *),
    void *with)
{
	struct found found = { .name = place->path + place->stem,
		.place = place,
		.leftover = segment_file_is_leftover(place),
		.state = SEGMENT_STRANGE,
		.store = { .fd = -1 } };
	const char *why;

	if (found.leftover) {
		if (is_left_over(place))
			each(&found, with);
		return;
	}
	why = open_existing(&found.store, place, NULL, &found.state);
	if (why != NULL && errno == ENOENT)
		return;
	if (why != NULL && errno != 0) {
		found.refused = why;
		found.error = errno;
	}
	if (found.state == SEGMENT_GOOD &&
	    !is_at_home(&found.store.header, place)) {
		found.state = SEGMENT_STRANGE;
		segment_store_close(&found.store);
	}
	each(&found, with);
	segment_store_close(&found.store);
}

bool
segment_store_walk(const char *directory,
    void (*each)(struct found *found, void *with), void *with)
{
	struct segment_dir place;
	const struct dirent *entry;
	char all[SEGMENT_NAME];
	DIR *stream;
	int error;

	if (segment_file_find(&place, directory) != NULL)
		return false;
	stream = opendir(directory);
	if (stream == NULL)
		return false;
	segment_file_name(&place, "");
	memcpy(all, place.path + place.stem, sizeof all);
	while (errno = 0, (entry = readdir(stream)) != NULL) {
		if (strncmp(entry->d_name, all, strlen(all)) != 0)
			continue;
		memcpy(place.path + place.stem, entry->d_name,
		    strlen(entry->d_name) + 1);
		visit(&place, each, with);
	}
	error = errno;
	closedir(stream);
	errno = error;
	return error == 0;
}

/* In the command that clears budgets away, which any signal ends. */
static void
wait_a_moment(int turn)
{
	const struct timespec nap = { .tv_nsec = (long)(NANOS_MS << turn) };
	int error = errno;

	nanosleep(&nap, NULL);
	errno = error;
}

bool
segment_store_claim(struct found *found)
{
	int fd = found->store.fd;
	bool locked = false;

	if (fd == -1) /* a leftover, or what is not going to be removed */
		return true;
	for (int turn = 0; turn < TURNS && !locked; turn++) {
		locked = lock(fd);
		if (!locked)
			wait_a_moment(turn);
	}
	return locked && is_in_place(fd, found->place);
}

/*
 * After the last look somebody may still begin to use it. To rule that out,
 * whoever uses a segment would have to take a lock too, and would wait for one
 * who is stopped with it; so this instant is left. It costs little: what is
 * counted in a file without a name is lost, but each process sees nlink 0 when
 * it looks the next time, and so loses one grant at most.
 */
bool
segment_store_unlink(const struct found *found)
{
	return unlink(found->place->path) == 0;
}
