#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "text/strview.h"

#define DESCRIPTOR_BASE 10

/* POSIX.1: the portable filename character set. */
#define PORTABLE \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

nanos
sys_now(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) == -1)
		return 0;
	return now.tv_sec * NANOS_SECOND + now.tv_nsec;
}

uint64_t
sys_seed(void)
{
	uint64_t seed;

	/* Early at boot there may be no entropy yet: do not wait for it. */
	if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
		seed = (uint64_t)sys_now(CLOCK_MONOTONIC) ^
		    (uint64_t)getpid() << 32;
	return seed;
}

char *
sys_uuid(char room[SYS_UUID])
{
	unsigned char bytes[16];
	char *at = room;

	if (getrandom(bytes, sizeof bytes, GRND_NONBLOCK) != sizeof bytes) {
		uint64_t seeds[2] = { sys_seed(), sys_seed() };

		memcpy(bytes, seeds, sizeof bytes);
	}
	bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40);
	bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
	for (size_t i = 0; i < sizeof bytes; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*at++ = '-';
		at = strview_put_hex(at, 2, bytes[i]);
	}
	return room;
}

bool
sys_boot(char id[SYS_BOOT])
{
	ssize_t got;
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		return false;
	errno = 0;
	got = read(fd, id, SYS_BOOT - 1);
	close(fd);
	id[SYS_BOOT - 1] = '\0';
	return got == SYS_BOOT - 1;
}

uint64_t
sys_space(void)
{
	struct stat clock;

	if (stat("/proc/self/ns/time", &clock) == -1)
		return 0;
	return clock.st_ino;
}

const char *
sys_program(void)
{
	const char *name = program_invocation_short_name;
	size_t length = strlen(name);

	/* A login shell's name begins with a dash. */
	if (length == 0 || length > NAME_MAX || name[0] == '-' ||
	    strspn(name, PORTABLE) != length)
		return "retry";
	return name;
}

int
sys_move_up(int fd)
{
	int moved;

	if (fd == -1 || fd >= DESCRIPTOR_BASE)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, DESCRIPTOR_BASE);
	/* fd has the number of a closed standard stream, which must not become
	 * this file. */
	if (moved == -1 && fd <= STDERR_FILENO)
		moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (moved == -1)
		return fd;
	close(fd);
	return moved;
}
