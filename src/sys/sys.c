#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "text/hash.h"

#define DESCRIPTOR_BASE 10

/* The call that gives times of 64 bits on machines of 32 bits as well. */
#ifdef SYS_clock_gettime64
#define CLOCK_GETTIME SYS_clock_gettime64
#else
#define CLOCK_GETTIME SYS_clock_gettime
#endif

/* POSIX.1: the portable filename character set. */
#define PORTABLE \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

/*
 * A preloaded library may replace libc's function, as that of faketime(1) does,
 * but not the waits of the kernel, nor the clock of other processes. Only then
 * the system call is worth its time.
 */
nanos
sys_now(clockid_t clock)
{
	static int preloaded = -1; /* not known yet */
	struct timespec now;
	struct {
		int64_t seconds, nanos;
	} true_now;

	if (preloaded == -1)
		preloaded = getenv("LD_PRELOAD") != NULL;
	if (preloaded != 0 && syscall(CLOCK_GETTIME, clock, &true_now) == 0)
		return true_now.seconds * NANOS_SECOND + true_now.nanos;
	if (clock_gettime(clock, &now) == -1)
		return 0;
	return now.tv_sec * NANOS_SECOND + now.tv_nsec;
}

void
sys_random(void *bytes, size_t size)
{
	/* Early at boot there may be no entropy yet: do not wait for it. */
	if (getrandom(bytes, size, GRND_NONBLOCK) != (ssize_t)size) {
		uint64_t seed = (uint64_t)sys_now(CLOCK_MONOTONIC) ^
		    (uint64_t)getpid() << 32;

		for (size_t i = 0; i < size; i++)
			((unsigned char *)bytes)[i] =
			    (unsigned char)hash_draw(&seed);
	}
}

char *
sys_uuid_of(char room[SYS_UUID], const uint64_t random[2])
{
	char *at = room;

	for (int i = 0; i < 32; i++) {
		unsigned digit = random[i / 16] >> (60 - i % 16 * 4) & 15;

		if (i == 8 || i == 12 || i == 16 || i == 20)
			*at++ = '-';
		if (i == 12)
			digit = 4;
		if (i == 16)
			digit = (digit & 3) | 8;
		*at++ = "0123456789abcdef"[digit];
	}
	*at = '\0';
	return room;
}

char *
sys_uuid(char room[SYS_UUID])
{
	uint64_t random[2];

	sys_random(random, sizeof random);
	return sys_uuid_of(room, random);
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

uint32_t
sys_clock(void)
{
	char text[128];
	const char *shift;
	struct stat own, childs;
	ssize_t got;
	int fd;

	/* The shift is that of the children's clock, which is another one after
	 * unshare(2), and up to Linux 6.2 after an exec as well. */
	if (stat("/proc/self/ns/time", &own) == -1 ||
	    stat("/proc/self/ns/time_for_children", &childs) == -1 ||
	    own.st_ino != childs.st_ino)
		return 0;
	fd = open("/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return 0;
	got = read(fd, text, sizeof text - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	shift = strstr(text, "boottime");
	if (shift == NULL)
		return 0;
	return (uint32_t)hash_add(HASH_NONE, shift, strlen(shift)) | 1;
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
	if (moved == -1)
		return fd;
	close(fd);
	return moved;
}

int
sys_attach(int fd, int number)
{
	return dup2(fd, number);
}

int
sys_null(int stream)
{
	/* It gets the lowest number, which is free then. */
	close(stream);
	return open("/dev/null", O_RDWR);
}
