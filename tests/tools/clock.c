/*
 * A clock that runs faster, to be preloaded: an hour of retry's is a second or
 * less. libfaketime cannot do it, since retry waits with the system call ppoll
 * itself, by way of libc's syscall().
 *
 *     CLOCK_FAST   how much faster
 *     CLOCK_FROM   nanoseconds of CLOCK_BOOTTIME at which both were the same
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

long syscall(long number, ...);

static int64_t setting(const char *name) {
	return strtoll(getenv(name), NULL, 10);
}

static int64_t to_nanos(const struct timespec *time) {
	return time->tv_sec * SECOND + time->tv_nsec;
}

static struct timespec to_timespec(int64_t nanos) {
	return (struct timespec){ .tv_sec = nanos / SECOND, .tv_nsec = nanos % SECOND };
}

static int real_clock(clockid_t clock, struct timespec *now) {
	int (*real)(clockid_t, struct timespec *);

	*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	return real(clock, now);
}

/* All of them from one, so that they agree. */
int clock_gettime(clockid_t clock, struct timespec *now) {
	int64_t from = setting("CLOCK_FROM"), ahead;
	struct timespec boot;

	if (clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME && clock != CLOCK_REALTIME)
		return real_clock(clock, now);
	if (real_clock(CLOCK_BOOTTIME, &boot) == -1 || real_clock(clock, now) == -1)
		return -1;
	ahead = to_nanos(&boot) - from;
	if (clock == CLOCK_REALTIME)
		*now = to_timespec(to_nanos(now) + ahead * (setting("CLOCK_FAST") - 1));
	else
		*now = to_timespec(from + ahead * setting("CLOCK_FAST"));
	return 0;
}

long syscall(long number, ...) {
	int64_t factor = setting("CLOCK_FAST");
	long (*real)(long, ...), arguments[6], result;
	struct timespec *left, nap;
	va_list list;

	*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	left = (struct timespec *)arguments[2];
	if (number != SYS_ppoll || left == NULL)
		return real(number, arguments[0], arguments[1], arguments[2], arguments[3],
		    arguments[4], arguments[5]);
	nap = to_timespec((to_nanos(left) + factor - 1) / factor);
	result = real(SYS_ppoll, arguments[0], arguments[1], &nap, arguments[3], arguments[4]);
	/* As the kernel does, it tells what was left of the time. */
	*left = to_timespec(to_nanos(&nap) * factor);
	return result;
}
