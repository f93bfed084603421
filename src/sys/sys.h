/*
 * sys: what surrounds an invocation: clocks, chance, the program's name,
 * the numbers of descriptors.
 */
#ifndef SYS_H
#define SYS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include "text/duration.h"

/* Room for a UUID and for the id of a boot, with the closing NUL. */
#define SYS_UUID 37
#define SYS_BOOT 37

/* The time on a clock, in nanoseconds. */
nanos sys_now(clockid_t clock);

/* A number that nobody can guess, from the kernel. */
uint64_t sys_seed(void);

/* A random UUID: RFC 9562, section 5.4. Returns room. */
char *sys_uuid(char room[SYS_UUID]);

/*
 * What an instant on CLOCK_BOOTTIME means only together with: the boot (its id
 * as /proc tells it; false, with errno, without /proc), and the time namespace,
 * which may shift that clock (its inode; 0: the kernel has none, or there is no
 * /proc).
 */
bool sys_boot(char id[SYS_BOOT]);
uint64_t sys_space(void);

/*
 * What the program was called by, as a command that can be typed; "retry" where
 * that would need quotes or is no name at all.
 */
const char *sys_program(void);

/*
 * Moves a descriptor to 10 or above, out of the way of those that shell
 * scripts number by hand, and returns the new number. Where the limit of open
 * files leaves no such room, it goes at least above 2, if it can. It stays
 * close-on-exec.
 */
int sys_move_up(int fd);

#endif
