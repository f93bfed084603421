/*
 * sys: clocks, random numbers, the program's name and numbers of descriptors.
 */
#ifndef SYS_H
#define SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include "text/duration.h"

/* Room for a UUID and for the id of a boot, with the closing NUL. */
#define SYS_UUID 37
#define SYS_BOOT 37

/* The time on a clock of the kernel, in nanoseconds. */
nanos sys_now(clockid_t clock);

/* Random bytes from the kernel; early at boot they can be guessed. */
void sys_random(void *bytes, size_t size);

/* A random UUID, or one of these random numbers: RFC 9562, section 5.4. Return
 * room. */
char *sys_uuid(char room[SYS_UUID]);
char *sys_uuid_of(char room[SYS_UUID], const uint64_t random[2]);

/* The id of the boot, without which an instant on CLOCK_BOOTTIME has no
 * meaning. False, with errno, without /proc. */
bool sys_boot(char id[SYS_BOOT]);

/*
 * A number for the CLOCK_BOOTTIME of this process: the same in all time
 * namespaces that shift it alike. 0: not known, without /proc or before Linux
 * 5.6.
 */
uint32_t sys_clock(void);

/*
 * The name by which the program was called, as a user would type it; "retry" if
 * that is not a file name or would need quotes.
 */
const char *sys_program(void);

/*
 * Moves a descriptor to 10 or above and returns its new number: shell scripts
 * choose numbers below 10 by hand, and a closed standard stream must not become
 * this file. If the limit of open files is too low, it stays where it is. It
 * stays close-on-exec.
 */
int sys_move_up(int fd);

/*
 * dup2(2), for a number by which another program knows the file: it stays open
 * until the exec, what gcc's analyzer takes for a leak where it sees the call.
 */
int sys_attach(int fd, int number);

/*
 * Opens /dev/null as the standard stream of this number; those of lower numbers
 * are open. Returns the number, or -1 with errno: then the stream is closed.
 */
int sys_null(int stream);

#endif
