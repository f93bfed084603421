#include "store/segment_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "sys/procfs.h"
#include "sys/sys.h"
#include "text/number.h"

/* How often to look again while other processes replace the file. */
#define TRIES 8

struct dir {
	const char *directory;
	bool shared; /* the segments belong to the directory's group */
	uid_t user; /* the effective user of this process */
	gid_t group; /* of the files, if shared */
	mode_t mode; /* the most that a file may permit */
	size_t stem, key; /* where the file name begins in path, and its part
			     for a key */
	char path[PATH_MAX];
};

/*
 * Files
 */

/* Sets path to the file of a key. */
static void
set_key(struct dir *dir, const char *key)
{
	segment_name(
	    dir->path + dir->stem, dir->shared ? -1 : (int64_t)dir->user, key);
}

/* Examines a directory, and sets dir; path ends with the prefix of all names
 * of segments. */
static struct failure
find_dir(struct dir *dir, const char *directory)
{
	struct stat status = { .st_uid = 0 };
	size_t length = strlen(directory);

	dir->directory = directory;
	dir->user = geteuid();
	dir->mode = 0600;
	dir->stem = length + 1;
	if (dir->stem + SEGMENT_NAME > sizeof dir->path) {
		errno = ENAMETOOLONG;
		return FAILED("cannot use the directory");
	}
	memcpy(dir->path, directory, length);
	dir->path[length] = '/';
	/* stat(2) is saved: the default directory is one for all users. */
	if (strcmp(directory, SEGMENT_DIRECTORY) != 0 &&
	    stat(directory, &status) == -1)
		return FAILED("cannot use the directory");
	dir->shared = (status.st_uid == 0 || status.st_uid == dir->user) &&
	    (status.st_mode & (S_ISGID | S_IWOTH)) == S_ISGID;
	if (dir->shared) {
		dir->group = status.st_gid;
		dir->mode = 0660;
	}
	set_key(dir, "");
	dir->key = strlen(dir->path);
	return NO_FAILURE;
}

/*
 * Whether a file may be used as a segment: its owner, mode, size and so on must
 * be as make_file() makes them. Root uses only its own files. ENOENT if the
 * file was removed after it had been opened.
 */
static struct failure
judge(const struct dir *dir, const struct stat *file)
{
	if (file->st_nlink == 0)
		return (struct failure){ "has just been removed", ENOENT };
	if (!S_ISREG(file->st_mode))
		return REFUSED("not a regular file");
	if (file->st_uid != dir->user && (!dir->shared || dir->user == 0))
		return REFUSED("owned by another user");
	if (file->st_nlink > 1)
		return REFUSED("has other links");
	if (dir->shared && file->st_gid != dir->group)
		return REFUSED("of another group");
	if ((file->st_mode & 07777 & ~dir->mode) != 0)
		return REFUSED(
		    dir->shared ? "mode is not 0660" : "mode is not 0600");
	if (file->st_size != sizeof(struct segment))
		return REFUSED("of another size");
	return NO_FAILURE;
}

static struct origin
present(void)
{
	return (struct origin){ .base = sys_now(CLOCK_BOOTTIME),
		.clock = sys_clock() };
}

/* Sets boot, for the file that is open as fd; it stays "" if the file cannot
 * survive a reboot. */
static struct failure
find_boot(int fd, char boot[SEGMENT_BOOT])
{
	struct statfs system;

	if (fstatfs(fd, &system) == -1)
		return FAILED("cannot tell the file system");
	/* The numbers of linux/magic.h, which not every libc comes with. */
	switch ((uint32_t)system.f_type) {
	case 0x01021994: /* tmpfs */
	case 0x858458f6: /* ramfs */
		return NO_FAILURE;
	/* Each host would take the segments of the others for segments of an
	 * earlier boot. */
	case 0x6969: /* NFS */
	case 0xff534d42: /* CIFS */
	case 0xfe534d42: /* SMB2 */
	case 0x5346414f: /* AFS */
	case 0x00c36400: /* Ceph */
	case 0x0bd00bd0: /* Lustre */
		return REFUSED("on a network file system");
	default:
		break;
	}
	if (sys_boot(boot))
		return NO_FAILURE;
	/* To a caller, ENOENT would mean that there is no segment. */
	return errno == ENOENT ? REFUSED("cannot tell one boot from another")
			       : FAILED("cannot tell one boot from another");
}

/* Writes a whole segment to an empty file, so that all its pages exist. */
static struct failure
fill(int fd, const struct dir *dir, const char *key, const struct terms *terms)
{
	struct origin origin = present();
	struct failure failure = find_boot(fd, origin.boot);
	struct segment segment;

	if (failure.why != NULL)
		return failure;
	if (fchmod(fd, dir->mode) == -1)
		return FAILED("cannot set the mode");
	segment_make(&segment, key, terms, &origin);
	errno = ENOSPC; /* if only a part is written */
	return write(fd, &segment, sizeof segment) == sizeof segment
	    ? NO_FAILURE
	    : FAILED("cannot write");
}

/*
 * Makes the file of a key at path. The file gets its name when it is complete,
 * so that a process which is killed here leaves no partial segment. Succeeds as
 * well if another process made that file first.
 */
static struct failure
make_file(const struct dir *dir, const char *key, const struct terms *terms)
{
	int fd = open(dir->directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	struct failure failure;
	char name[PROCFS_NAME];

	if (fd == -1)
		return FAILED("cannot make a file without a name");
	failure = fill(fd, dir, key, terms);
	if (failure.why == NULL &&
	    linkat(AT_FDCWD, procfs_name(name, fd), AT_FDCWD, dir->path,
		AT_SYMLINK_FOLLOW) == -1 &&
	    errno != EEXIST)
		failure = FAILED("cannot name a file by way of /proc");
	close(fd);
	return failure;
}

/*
 * Segments
 */

/*
 * The segment that is in use. If its file is truncated, the kernel sends SIGBUS
 * at the next access. At file scope, because a signal handler gets no argument
 * from its program.
 */
static struct {
	struct segment *segment;
	volatile sig_atomic_t lost; /* the file has been truncated or changed */
} in_use;

/*
 * Puts zeros in the place of a segment whose file is gone, and the instruction
 * is run again. A SIGBUS for other memory, or from another process, has the
 * effect that it would have had without this handler.
 */
static void
on_bus_error(int number, siginfo_t *info, void *context)
{
	static const struct sigaction usual = { .sa_handler = SIG_DFL };
	const char *address = info->si_addr;
	char *memory = (char *)in_use.segment;

	(void)context;
	in_use.lost = 1;
	if (info->si_code > 0 && memory != NULL && address >= memory &&
	    address < memory + sizeof(struct segment) &&
	    mmap(memory, sizeof(struct segment), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
		return;
	sigaction(number, &usual, NULL);
	raise(number);
}

/* Stays for as long as retry: what it executes gets the usual action. */
static void
handle_bus_errors(void)
{
	const struct sigaction action = { .sa_sigaction = on_bus_error,
		.sa_flags = SA_SIGINFO | SA_NODEFER };
	struct sigaction before;

	if (sigaction(SIGBUS, &action, &before) == 0 &&
	    before.sa_handler == SIG_IGN)
		sigaction(SIGBUS, &before, NULL);
}

/* Maps the file, and copies and checks the header. */
static struct failure
map(struct segment_store *store, const char *key)
{
	struct header *header = &store->header;
	struct origin here = present();
	struct failure failure = NO_FAILURE;
	void *memory = mmap(NULL, sizeof *store->segment,
	    PROT_READ | PROT_WRITE, MAP_SHARED, store->fd, 0);

	if (memory == MAP_FAILED)
		return FAILED("cannot map");
	store->segment = in_use.segment = memory;
	in_use.lost = 0;
	handle_bus_errors();
	*header = store->segment->header;
	in_use.segment = NULL;
	if (in_use.lost != 0)
		return REFUSED("of another size");
	/* What was made in memory is of this boot. */
	if (header->boot[0] != '\0')
		failure = find_boot(store->fd, here.boot);
	return failure.why != NULL ? failure
				   : REFUSED(segment_check(header, key, &here));
}

/*
 * Opens the file at dir->path. Fails with ENOENT only if there is no file. The
 * store of a stale segment stays open, so that it can be locked.
 */
static struct failure
open_existing(
    struct segment_store *store, const struct dir *dir, const char *key)
{
	struct failure failure;
	struct stat file;

	*store = (struct segment_store){ .fd = -1 };
	store->fd = open(
	    dir->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (store->fd == -1) {
		failure = FAILED("cannot open");
		/* The file itself may explain this better than errno. */
		if (failure.error != ENOENT && lstat(dir->path, &file) == 0) {
			struct failure judged = judge(dir, &file);

			if (judged.why != NULL)
				failure = judged;
		}
		return failure;
	}
	failure = fstat(store->fd, &file) == -1 ? FAILED("cannot open")
						: judge(dir, &file);
	if (failure.why == NULL)
		failure = map(store, key);
	if (failure.why == NULL)
		store->fd = sys_move_up(store->fd);
	else if (failure.why != segment_stale)
		segment_store_close(store);
	return failure;
}

/* Whether an open file still has its name. */
static bool
is_in_place(int fd, const char *path)
{
	struct stat ours, there;

	return fstat(fd, &ours) == 0 && lstat(path, &there) == 0 &&
	    ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
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
	struct dir dir;
	struct failure failure = find_dir(&dir, directory);

	*store = (struct segment_store){ .fd = -1 };
	if (failure.why != NULL)
		return failure;
	set_key(&dir, key);
	for (int i = 0; i < TRIES; i++) {
		failure = open_existing(store, &dir, key);
		if (failure.why == NULL ||
		    (store->fd == -1 && failure.error != ENOENT))
			return failure;
		failure = NO_FAILURE;
		if (store->fd == -1)
			failure = make_file(&dir, key, terms);
		else if (flock(store->fd, LOCK_EX | LOCK_NB) == -1)
			failure =
			    (struct failure){ "being replaced all the time",
				    EAGAIN };
		else if (is_in_place(store->fd, dir.path) &&
		    unlink(dir.path) == -1)
			failure = FAILED("cannot remove");
		segment_store_close(store);
		if (failure.why != NULL)
			return failure;
	}
	return REFUSED("being replaced all the time");
}

bool
segment_store_enter(struct segment_store *store)
{
	struct segment *segment = store->segment;
	struct stat file;

	/* The file of a segment must still have a name and its size. */
	if (segment == NULL ||
	    (store->fd != -1 &&
		(fstat(store->fd, &file) == -1 || file.st_nlink == 0 ||
		    file.st_size != sizeof *segment))) {
		segment_store_close(store);
		return false;
	}
	in_use.segment = segment;
	in_use.lost = 0;
	/* Nothing changes the header, unless it overwrites the file. */
	if (memcmp(&segment->header, &store->header, sizeof store->header) == 0)
		return true;
	in_use.lost = 1;
	return segment_store_leave(store);
}

bool
segment_store_leave(struct segment_store *store)
{
	in_use.segment = NULL;
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
	struct dir dir;
	struct failure failure = find_dir(&dir, directory);

	if (failure.why != NULL)
		return failure;
	set_key(&dir, key);
	return unlink(dir.path) == 0 ? NO_FAILURE : FAILED("cannot remove");
}

/* Opens the file at dir->path, and calls each for it. */
static void
show_file(
    const struct dir *dir, void (*each)(struct found *, void *), void *with)
{
	struct found found = { .name = dir->path + dir->stem,
		.path = dir->path,
		.store = { .fd = -1 } };
	char key[SEGMENT_KEY + 1] = { 0 };
	struct dir expected = *dir;
	struct failure failure;

	failure = open_existing(&found.store, dir, NULL);
	if (failure.error == ENOENT)
		return;
	found.refused = failure;
	/* The name has to be that of the key. */
	if (failure.why == NULL) {
		memcpy(key, found.store.header.key, SEGMENT_KEY);
		set_key(&expected, key);
		if (strcmp(expected.path, dir->path) != 0) {
			found.refused = REFUSED("of another key");
			segment_store_close(&found.store);
		}
	}
	each(&found, with);
	segment_store_close(&found.store);
}

bool
segment_store_walk(const char *directory, const char *key,
    void (*each)(struct found *found, void *with), void *with)
{
	struct dir dir;
	const struct dirent *entry;
	DIR *stream;
	int error;

	if (find_dir(&dir, directory).why != NULL)
		return false;
	if (key != NULL) {
		set_key(&dir, key);
		show_file(&dir, each, with);
		return true;
	}
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
		show_file(&dir, each, with);
	}
	error = errno;
	closedir(stream);
	errno = error;
	return error == 0;
}

bool
segment_store_claim(const struct found *found)
{
	int fd = found->store.fd;

	return fd == -1 || /* a file that is going to be kept */
	    (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_in_place(fd, found->path));
}
