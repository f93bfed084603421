#include "store/segment_file.h"

#include <errno.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "sys/sys.h"
#include "text/number.h"

#define LEFTOVER "~tmp"

/* Types of file systems: linux/magic.h, which not every libc comes with. */
#define TMPFS 0x01021994
#define RAMFS 0x858458f6

/* On these, each host would take the others' for those of an earlier boot. */
static const uint32_t of_many_hosts[] = {
	0x6969, /* NFS */
	0x517b, /* SMB */
	0xff534d42, /* CIFS */
	0xfe534d42, /* SMB2 */
	0x5346414f, /* AFS */
	0x73757245, /* Coda */
	0x00c36400, /* Ceph */
	0x0bd00bd0, /* Lustre */
};

const char *
segment_file_find(struct segment_dir *place, const char *directory)
{
	struct stat at;
	size_t length = strlen(directory);

	place->directory = directory;
	place->shared = false;
	place->user = geteuid();
	place->mode = 0600;
	place->stem = length + 1;
	if (place->stem + SEGMENT_NAME > sizeof place->path) {
		errno = ENAMETOOLONG;
		return "cannot use the directory";
	}
	memcpy(place->path, directory, length);
	place->path[length] = '/';
	/* Taken to be what it should be, a directory for all. */
	if (strcmp(directory, SEGMENT_DIRECTORY) == 0)
		return NULL;
	if (stat(directory, &at) == -1)
		return "cannot use the directory";
	if ((at.st_uid == 0 || at.st_uid == place->user) &&
	    (at.st_mode & (S_ISGID | S_IWOTH)) == S_ISGID) {
		place->shared = true;
		place->group = at.st_gid;
		place->mode = 0660;
	}
	return NULL;
}

void
segment_file_name(struct segment_dir *place, const char *key)
{
	segment_name(place->path + place->stem,
	    place->shared ? -1 : (int64_t)place->user, key);
}

/* Where a leftover's name differs from that of any key. */
static size_t
length_of_all(const struct segment_dir *place)
{
	char name[SEGMENT_NAME];

	return strlen(
	    segment_name(name, place->shared ? -1 : (int64_t)place->user, ""));
}

void
segment_file_leftover(struct segment_dir *place)
{
	char *at = place->path + place->stem + length_of_all(place);

	segment_file_name(place, "");
	memcpy(at, LEFTOVER, strlen(LEFTOVER));
	number_put(at + strlen(LEFTOVER), (int64_t)(sys_seed() >> 1));
}

bool
segment_file_is_leftover(const struct segment_dir *place)
{
	return strncmp(place->path + place->stem + length_of_all(place),
		   LEFTOVER, strlen(LEFTOVER)) == 0;
}

const char *
segment_file_judge(const struct segment_dir *place, const struct stat *file)
{
	errno = file->st_nlink == 0 ? ENOENT : 0;
	if (file->st_nlink == 0)
		return "has just been removed";
	if (!S_ISREG(file->st_mode))
		return "not a regular file";
	if (file->st_uid != place->user && (!place->shared || place->user == 0))
		return "owned by somebody else";
	if (file->st_nlink > 1)
		return "has other links";
	if (place->shared && file->st_gid != place->group)
		return "of another group";
	if ((file->st_mode & 07777 & ~place->mode) != 0)
		return place->shared ? "mode is not 0660" : "mode is not 0600";
	if (file->st_size != sizeof(struct segment))
		return "of another size";
	return NULL;
}

const char *
segment_file_judge_removal(
    const struct segment_dir *place, const struct stat *file)
{
	if (S_ISREG(file->st_mode) && file->st_uid == place->user &&
	    file->st_nlink == 1)
		return NULL;
	return segment_file_judge(place, file);
}

static bool
is_of_many_hosts(uint32_t type)
{
	for (size_t i = 0; i < sizeof of_many_hosts / sizeof *of_many_hosts;
	     i++)
		if (type == of_many_hosts[i])
			return true;
	return false;
}

const char *
segment_file_origin(int fd, bool always, struct origin *here)
{
	struct statfs system;
	uint32_t type;
	bool in_memory;

	/* One right after the other: they are compared. */
	*here = (struct origin){ .base = sys_now(CLOCK_BOOTTIME) };
	here->wall = sys_now(CLOCK_REALTIME);
	if (fstatfs(fd, &system) == -1)
		return "cannot tell the file system";
	errno = 0;
	type = (uint32_t)system.f_type;
	if (is_of_many_hosts(type))
		return "on a file system of several hosts";
	in_memory = type == TMPFS || type == RAMFS;
	if (in_memory && !always)
		return NULL;
	if (sys_boot(here->boot))
		return NULL;
	memset(here->boot, 0, sizeof here->boot);
	/* Of a segment ENOENT would say that there is none. */
	if (in_memory || errno == ENOENT)
		errno = 0;
	return in_memory ? NULL : "cannot tell one boot from another";
}
