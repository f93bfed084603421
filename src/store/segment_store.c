#include "store/segment_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "sys/sys.h"

/* How often to look again while other processes replace the file. */
#define TRIES 8

/* The maker of a younger leftover may still be at work. */
#define LEFTOVER_AGE NANOS_MINUTE

/* Copies and checks the header, and sets *state. */
static struct failure
check_header(
    struct segment_store *store, const char *key, enum segment_state *state)
{
	struct origin here;
	struct failure failure = segment_file_origin(store->fd, false, &here);
	struct segment copy;
	ssize_t got;

	if (failure.why != NULL)
		return failure;
	got = pread(store->fd, &copy, sizeof copy, 0);
	if (got == -1)
		return FAILED("cannot read");
	store->header = copy.header;
	if ((size_t)got != sizeof copy)
		return REFUSED("of another size");
	*state = segment_check(&store->header, key, &here);
	switch (*state) {
	case SEGMENT_GOOD:
		return NO_FAILURE;
	case SEGMENT_STALE:
		return REFUSED("of an earlier boot");
	case SEGMENT_FUTURE:
		return REFUSED("of another clock");
	case SEGMENT_STRANGE:
		break;
	}
	return REFUSED(
	    segment_check(&store->header, NULL, &here) == SEGMENT_STRANGE
		? "of another version"
		: "of another key");
}

/*
 * Opens the file at dir->path. Fails unless it is SEGMENT_GOOD, with ENOENT
 * only if there is no file. The store of a SEGMENT_STALE one stays open, so
 * that it can be locked; that of any other is closed.
 */
static struct failure
open_existing(struct segment_store *store, const struct segment_dir *dir,
    const char *key, enum segment_state *state)
{
	struct failure failure;
	struct stat file;
	void *memory;

	*store = (struct segment_store){ .fd = -1 };
	*state = SEGMENT_STRANGE;
	store->fd = open(
	    dir->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (store->fd == -1) {
		failure = FAILED("cannot open");
		/* The file itself may explain this better than errno. */
		if (failure.error != ENOENT && lstat(dir->path, &file) == 0) {
			struct failure judged = segment_file_judge(dir, &file);

			if (judged.why != NULL)
				failure = judged;
		}
		return failure;
	}
	failure = fstat(store->fd, &file) == -1
	    ? FAILED("cannot open")
	    : segment_file_judge(dir, &file);
	if (failure.why == NULL)
		failure = check_header(store, key, state);
	if (*state == SEGMENT_GOOD) {
		memory = mmap(NULL, sizeof *store->segment,
		    PROT_READ | PROT_WRITE, MAP_SHARED, store->fd, 0);
		if (memory != MAP_FAILED) {
			store->segment = memory;
			store->fd = sys_move_up(store->fd);
			return NO_FAILURE;
		}
		failure = FAILED("cannot map");
		*state = SEGMENT_STRANGE;
	}
	if (*state != SEGMENT_STALE)
		segment_store_close(store);
	return failure;
}

/* Whether an open file still has its name. False, with errno; ENOENT if not. */
static bool
is_in_place(int fd, const struct segment_dir *dir)
{
	struct stat ours, there;

	if (fstat(fd, &ours) == -1 || lstat(dir->path, &there) == -1)
		return false;
	errno = ENOENT;
	return ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/*
 * A stale file is locked before it is removed. Only the process that has the
 * lock may remove the file, and while the file has its name no other process
 * can make a new file with this name: so a new file is never removed by
 * mistake, unless a user removes files by hand. The use of a segment needs no
 * lock. The kernel drops the lock when the process dies; if it is stopped,
 * other processes give up after a while.
 */
struct failure
segment_store_open(struct segment_store *store, const char *directory,
    const char *key, const struct terms *terms)
{
	struct segment_dir dir;
	enum segment_state state;
	struct failure failure = segment_file_find(&dir, directory);

	*store = (struct segment_store){ .fd = -1 };
	if (failure.why != NULL)
		return failure;
	segment_file_name(&dir, key);
	for (int i = 0; i < TRIES; i++) {
		failure = open_existing(store, &dir, key, &state);
		if (failure.why == NULL ||
		    (state != SEGMENT_STALE && failure.error != ENOENT))
			return failure;
		if (terms == NULL) {
			segment_store_close(store);
			failure.error = ENOENT;
			return failure;
		}
		failure = NO_FAILURE;
		if (store->fd == -1)
			failure = segment_file_make(&dir, key, terms);
		else if (flock(store->fd, LOCK_EX | LOCK_NB) == -1)
			failure =
			    (struct failure){ "being replaced all the time",
				    EAGAIN };
		else if (is_in_place(store->fd, &dir) && unlink(dir.path) == -1)
			failure = FAILED("cannot remove");
		segment_store_close(store);
		if (failure.why != NULL)
			return failure;
	}
	return REFUSED("being replaced all the time");
}

/*
 * The segment that is in use. If its file is truncated, the kernel sends SIGBUS
 * at the next access. At file scope, because a signal handler gets no argument
 * from its program.
 */
static struct {
	struct segment *segment;
	struct sigaction before;
	sigset_t mask;
	volatile sig_atomic_t lost; /* the file has been truncated or changed */
	volatile sig_atomic_t sent; /* a process has sent SIGBUS */
} in_use;

/*
 * Puts zeros in the place of a segment whose file is gone, and the instruction
 * is run again. A SIGBUS for other memory, or from another process, has the
 * effect that it would have had without this handler.
 */
static void
on_bus_error(int number, siginfo_t *info, void *context)
{
	const char *address = info->si_addr;
	char *memory = (char *)in_use.segment;

	(void)context;
	if (info->si_code <= 0)
		in_use.sent = 1;
	else if (address >= memory &&
	    address < memory + sizeof(struct segment) &&
	    mmap(memory, sizeof(struct segment), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
		in_use.lost = 1;
	else /* the instruction faults again */
		sigaction(number, &in_use.before, NULL);
}

bool
segment_store_enter(struct segment_store *store)
{
	const struct sigaction action = { .sa_sigaction = on_bus_error,
		.sa_flags = SA_SIGINFO | SA_NODEFER };
	struct segment *segment = store->segment;
	struct stat file;
	sigset_t bus;

	/* The file of a segment must still have a name and its size. */
	if (segment == NULL ||
	    (store->fd != -1 &&
		(fstat(store->fd, &file) == -1 || file.st_nlink == 0 ||
		    file.st_size != sizeof *segment))) {
		segment_store_close(store);
		return false;
	}
	in_use.segment = segment;
	in_use.lost = in_use.sent = 0;
	sigemptyset(&bus);
	sigaddset(&bus, SIGBUS);
	sigaction(SIGBUS, &action, &in_use.before);
	/* While SIGBUS is blocked, a fault kills the process. */
	sigprocmask(SIG_UNBLOCK, &bus, &in_use.mask);
	/* Nothing changes the header, unless it overwrites the file. */
	if (memcmp(&segment->header, &store->header, sizeof store->header) == 0)
		return true;
	in_use.lost = 1;
	return segment_store_leave(store);
}

bool
segment_store_leave(struct segment_store *store)
{
	if (sigismember(&in_use.mask, SIGBUS) == 1)
		sigprocmask(SIG_SETMASK, &in_use.mask, NULL);
	sigaction(SIGBUS, &in_use.before, NULL);
	if (in_use.sent != 0)
		raise(SIGBUS);
	if (in_use.lost != 0)
		segment_store_close(store);
	return in_use.lost == 0;
}

void
segment_store_close(struct segment_store *store)
{
	if (store->fd != -1 && store->segment != NULL)
		munmap(store->segment, sizeof *store->segment);
	if (store->fd != -1)
		close(store->fd);
	store->segment = NULL;
	store->fd = -1;
}

struct failure
segment_store_remove(const char *directory, const char *key)
{
	struct segment_dir dir;
	struct stat file;
	struct failure failure = segment_file_find(&dir, directory);

	if (failure.why != NULL)
		return failure;
	segment_file_name(&dir, key);
	if (lstat(dir.path, &file) == -1)
		return FAILED("cannot remove");
	failure = segment_file_judge_removal(&dir, &file);
	if (failure.why != NULL || unlink(dir.path) == 0)
		return failure;
	return FAILED("cannot remove");
}

/* Opens the file at dir->path, and calls each for it. */
static void
visit_file(const struct segment_dir *dir, void (*each)(struct found *, void *),
    void *with)
{
	struct found found = { .name = dir->path + dir->stem,
		.dir = dir,
		.leftover = strncmp(dir->path + dir->key, SEGMENT_LEFTOVER,
				strlen(SEGMENT_LEFTOVER)) == 0,
		.state = SEGMENT_STRANGE,
		.store = { .fd = -1 } };
	char key[SEGMENT_KEY + 1] = { 0 };
	struct segment_dir expected = *dir;
	struct failure failure;
	struct stat file;

	if (found.leftover) {
		if (lstat(dir->path, &file) == 0 &&
		    segment_file_judge_removal(dir, &file).why == NULL &&
		    sys_now(CLOCK_REALTIME) -
			    file.st_ctim.tv_sec * NANOS_SECOND >
			LEFTOVER_AGE)
			each(&found, with);
		return;
	}
	failure = open_existing(&found.store, dir, NULL, &found.state);
	if (failure.error == ENOENT)
		return;
	found.refused = failure;
	/* The name has to be that of the key. */
	if (found.state == SEGMENT_GOOD) {
		memcpy(key, found.store.header.key, SEGMENT_KEY);
		segment_file_name(&expected, key);
		if (strcmp(expected.path, dir->path) != 0) {
			found.refused = REFUSED("of another key");
			found.state = SEGMENT_STRANGE;
			segment_store_close(&found.store);
		}
	}
	each(&found, with);
	segment_store_close(&found.store);
}

bool
segment_store_walk(const char *directory,
    void (*each)(struct found *found, void *with), void *with)
{
	struct segment_dir dir;
	const struct dirent *entry;
	DIR *stream;
	int error;

	if (segment_file_find(&dir, directory).why != NULL)
		return false;
	stream = opendir(directory);
	if (stream == NULL)
		return false;
	while (errno = 0, (entry = readdir(stream)) != NULL) {
		/* Each name that is copied to path begins with the prefix, so
		 * the prefix stays there. */
		if (strncmp(entry->d_name, dir.path + dir.stem,
			dir.key - dir.stem) != 0)
			continue;
		memcpy(dir.path + dir.stem, entry->d_name,
		    strlen(entry->d_name) + 1);
		visit_file(&dir, each, with);
	}
	error = errno;
	closedir(stream);
	errno = error;
	return error == 0;
}

/* This function blocks, which is allowed in --budget-gc only: any signal ends
 * it.
 */
bool
segment_store_claim(struct found *found)
{
	int fd = found->store.fd;

	if (fd == -1) /* a leftover, or a file that is going to be kept */
		return true;
	for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) == -1; i++) {
		if (i == TRIES)
			return false;
		nanosleep(&(struct timespec){ 0, (long)NANOS_MS << i }, NULL);
	}
	return is_in_place(fd, found->dir);
}
