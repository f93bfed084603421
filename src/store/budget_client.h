/*
 * budget_client: asks a budget before attempts, tells it how they end, renews a
 * lease.
 *
 * The lease is for the breaker's probe, if this invocation makes the probe. If
 * the segment cannot be used, the client prints a warning once and continues
 * with a segment in the memory of this process.
 */
#ifndef BUDGET_CLIENT_H
#define BUDGET_CLIENT_H

#include <stdbool.h>
#include "output/log.h"
#include "budget/admission.h"
#include "store/segment_store.h"

/* What an outer retry wrote, or NULL. */
struct budget_outer {
	const char *admitted; /* the key whose breaker admitted its attempt */
	const char *turns; /* a line each: the keys whose turn it has */
};

struct budget_client {
	struct log *log;
	struct caller caller; /* without a budget its config has no key */
	bool private; /* no other process uses the segment */
	int waits; /* how often this process has waited for another one */
	bool said_terms; /* that others are in force than the user's */
	bool said_rate;
	struct segment_store store;
};

/* Something done to a segment, with a context. */
typedef void budget_act(const struct visit *visit, void *with);

/*
 * Opens no segment yet. outer: of the retry of which attempt this invocation is
 * a part. If its breaker has the same key, the breaker is not asked again: the
 * attempts here are parts of the outer retry's probe, and the breaker would
 * hold them back. If its budget has the same key, then the first attempt here
 * has its turn and its place already. seed: for random times.
 */
void budget_client_start(struct budget_client *budget,
    const struct budget_config *config, const struct budget_outer *outer,
    uint64_t seed, struct log *log);

/*
 * Opens the segment. Returns 0, or how long to wait before the next call,
 * because another process is just replacing the file. To be called until it
 * returns 0, before the functions below, which do not wait.
 */
nanos budget_client_open(struct budget_client *budget);

/*
 * Whether the command may run: false, after a message, if --budget-required was
 * given and the segment cannot be used.
 */
bool budget_client_ready(struct budget_client *budget);

/* Tells the segment how an attempt ended. Returns whether the retry that is
 * planned is denied already. */
struct admission budget_client_tell(
    struct budget_client *budget, const struct attempt_end *end, nanos now);

/* The same for a retry at the instant at, if only the end of the attempt before
 * it was told yet. */
struct admission
budget_client_foresee(struct budget_client *budget, nanos at, nanos now);

/* Tells it that the invocation wanted another attempt, and makes none. */
void budget_client_give_up(struct budget_client *budget, nanos now);

/*
 * Acts on the segment at the time now, on CLOCK_BOOTTIME, if there is a budget
 * and the segment is not corrupt.
 * If the segment is removed meanwhile, then what was done to the caller is
 * undone, and act is called again with another segment: so only the last call
 * may count.
 */
void budget_client_visit(
    struct budget_client *budget, nanos now, budget_act *act, void *with);

#endif
