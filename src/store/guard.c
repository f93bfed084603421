#include "store/guard.h"

#include <setjmp.h>
#include <signal.h>

struct guard {
	sigjmp_buf out;
	const char *memory;
	size_t size;
	struct sigaction before;
	volatile sig_atomic_t sent; /* by a process: no fault */
};

/* The one that is called under; a handler is handed nothing. */
static struct guard *volatile current;

static void
on_bus_error(int number, siginfo_t *info, void *context)
{
	struct guard *guard = current;
	const char *at = info->si_addr;

	(void)context;
	if (info->si_code <= 0)
		guard->sent = 1;
	else if (at >= guard->memory && at < guard->memory + guard->size)
		siglongjmp(guard->out, 1);
	else /* the instruction is tried again, and faults again */
		sigaction(number, &guard->before, NULL);
}

/* No local variable of this changes, so that none is lost by the jump. */
static bool
call(struct guard *guard, void (*work)(void *with), void *with)
{
	if (sigsetjmp(guard->out, 0) != 0)
		return false;
	work(with);
	return true;
}

bool
segment_file_guard(
    const void *memory, size_t size, void (*work)(void *with), void *with)
{
	struct guard guard = { .memory = memory, .size = size };
	struct sigaction action = { .sa_sigaction = on_bus_error,
		.sa_flags = SA_SIGINFO | SA_NODEFER };
	sigset_t bus, mask;
	bool whole;

	sigemptyset(&bus);
	sigaddset(&bus, SIGBUS);
	current = &guard;
	sigaction(SIGBUS, &action, &guard.before);
	/* Blocked, a fault is death. */
	sigprocmask(SIG_UNBLOCK, &bus, &mask);
	whole = call(&guard, work, with);
	if (sigismember(&mask, SIGBUS) == 1)
		sigprocmask(SIG_BLOCK, &bus, NULL);
	sigaction(SIGBUS, &guard.before, NULL);
	current = NULL;
	/* Now it meets what it would have met. */
	if (guard.sent != 0)
		raise(SIGBUS);
	return whole;
}
