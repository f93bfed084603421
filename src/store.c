#include "store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "context.h"
#include "guard.h"
#include "mint.h"

/*
 * How often to look again where others change what is there meanwhile; and how
 * long to wait for them at first, then twice as long: a quarter of a second.
 */
#define TURNS 8
#define NAP NANOS_MS

/* What is no older, somebody may still be at. */
#define LEFTOVER_AGE NANOS_MINUTE

/* store_use, as guard_call hands it on. */
struct use {
	struct store *store;
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
cannot_open(const struct place *place)
{
	int error = errno;
	struct stat file;
	const char *why = NULL;

	if (error != ENOENT && lstat(place->path, &file) == 0)
		why = place_judge(place, &file);
	if (why != NULL)
		return why;
	errno = error;
	return "cannot open";
}

/* Copies the header, and says what it is worth. */
static const char *
check_header(struct store *store, const char *key, enum segment_state *state)
{
	const struct header *header = &store->header;
	struct origin here;
	const char *why = place_origin(store->fd, false, &here);
	ssize_t got;

	if (why != NULL)
		return why;
	got = pread(store->fd, &store->header, sizeof *header, 0);
	if (got == -1)
		return "cannot read";
	if (!segment_shares_clock(header, &here))
		here.space = context_space();
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
check_file(struct store *store, const struct place *place, const char *key,
    enum segment_state *state)
{
	struct stat file;
	const char *why;

	if (fstat(store->fd, &file) == -1)
		return "cannot open";
	why = place_judge(place, &file);
	return why != NULL ? why : check_header(store, key, state);
}

static const char *
map(struct store *store)
{
	void *at = mmap(NULL, sizeof *store->segment, PROT_READ | PROT_WRITE,
	    MAP_SHARED, store->fd, 0);

	if (at == MAP_FAILED)
		return "cannot map";
	store->segment = at;
	store->fd = context_move_up(store->fd);
	return NULL;
}

/*
 * Opens what is there: NULL, or why it is not SEGMENT_GOOD; errno is ENOENT
 * only where there is nothing. The descriptor of a stale one is open too.
 */
static const char *
look(struct store *store, const struct place *place, const char *key,
    enum segment_state *state)
{
	const char *why;

	*store = (struct store){ .fd = -1 };
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
	store_close(store);
	return why;
}

/*
 * Takes a stale file away. Of all who find it, only he who has its lock may,
 * and while he sees it in its place nobody can have put a new one there: so a
 * new one is never hit. A lock dies with its holder; where he is stopped, the
 * others give up after a while.
 */
static const char *
take_away(int fd, const struct place *place, int turn)
{
	const struct timespec nap = { .tv_nsec = NAP << turn };
	struct stat ours, there;

	if (flock(fd, LOCK_EX | LOCK_NB) == -1) {
		nanosleep(&nap, NULL);
		return NULL;
	}
	if (fstat(fd, &ours) == -1 || lstat(place->path, &there) == -1 ||
	    ours.st_dev != there.st_dev || ours.st_ino != there.st_ino)
		return NULL;
	return unlink(place->path) == 0 ? NULL : "cannot remove";
}

/* What to do where look found none that is good: NULL, and look again. */
static const char *
renew(struct store *store, const struct place *place, const char *key,
    const struct terms *terms, int turn)
{
	const char *why;

	if (store->fd == -1)
		return mint_file(place, key, terms);
	why = take_away(store->fd, place, turn);
	store_close(store);
	return why;
}

const char *
store_open(struct store *store, const char *directory, const char *key,
    const struct terms *terms, bool make)
{
	struct place place;
	enum segment_state state;
	const char *why = place_find(&place, directory);

	*store = (struct store){ .fd = -1 };
	if (why != NULL)
		return why;
	place_name(&place, key);
	for (int turn = 0; turn < TURNS; turn++) {
		why = look(store, &place, key, &state);
		if (why == NULL)
			return NULL;
		if (state != SEGMENT_STALE && errno != ENOENT)
			return why;
		if (!make) {
			store_close(store);
			errno = ENOENT;
			return why;
		}
		why = renew(store, &place, key, terms, turn);
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
	struct store *store = use->store;

	if (memcmp(&store->segment->header, &store->header,
		sizeof store->header) != 0)
		return;
	use->work(store->segment, &store->header, use->with);
	use->whole = true;
}

bool
store_use(struct store *store,
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
	    guard_call(store->segment, sizeof *store->segment, use, &call) &&
	    call.whole)
		return true;
	store_close(store);
	return false;
}

void
store_close(struct store *store)
{
	if (store->segment != NULL)
		munmap(store->segment, sizeof *store->segment);
	if (store->fd != -1)
		shut(store->fd);
	store->segment = NULL;
	store->fd = -1;
}

const char *
store_remove(const char *directory, const char *key)
{
	struct place place;
	const char *why = place_find(&place, directory);

	if (why != NULL)
		return why;
	place_name(&place, key);
	return unlink(place.path) == 0 ? NULL : "cannot remove";
}

/* What somebody may still be making is left alone. */
static void
sweep_leftover(const struct place *place)
{
	struct stat file;
	nanos age;

	if (lstat(place->path, &file) == -1)
		return;
	age = context_now(CLOCK_REALTIME) - file.st_ctim.tv_sec * NANOS_SECOND;
	if (age > LEFTOVER_AGE)
		unlink(place->path);
}

/* Whether a segment has the name that its key gives it. */
static bool
is_at_home(const struct header *header, const struct place *place)
{
	struct place home = *place;
	char key[SEGMENT_KEY + 1] = { 0 };

	memcpy(key, header->key, sizeof header->key);
	place_name(&home, key);
	return strcmp(home.path, place->path) == 0;
}

static void
visit(const struct place *place,
    bool (*each)(struct store *, const char *, enum segment_state, void *),
    void *with)
{
	struct store store;
	enum segment_state state;
	const char *why = look(&store, place, NULL, &state);

	if (why != NULL && errno == ENOENT)
		return;
	if (state == SEGMENT_GOOD && !is_at_home(&store.header, place))
		state = SEGMENT_STRANGE;
	if (state != SEGMENT_GOOD)
		store_close(&store);
	if (each(&store, place->path + place->stem, state, with))
		unlink(place->path);
	store_close(&store);
}

bool
store_walk(const char *directory, bool sweep,
    bool (*each)(struct store *store, const char *name,
	enum segment_state state, void *with),
    void *with)
{
	struct place place;
	const struct dirent *entry;
	char all[SEGMENT_NAME];
	DIR *stream;
	int error;

	if (place_find(&place, directory) != NULL)
		return false;
	stream = opendir(directory);
	if (stream == NULL)
		return false;
	place_name(&place, "");
	memcpy(all, place.path + place.stem, sizeof all);
	while (errno = 0, (entry = readdir(stream)) != NULL) {
		if (strncmp(entry->d_name, all, strlen(all)) != 0)
			continue;
		memcpy(place.path + place.stem, entry->d_name,
		    strlen(entry->d_name) + 1);
		if (!place_is_leftover(&place))
			visit(&place, each, with);
		else if (sweep)
			sweep_leftover(&place);
	}
	error = errno;
	closedir(stream);
	errno = error;
	return error == 0;
}
