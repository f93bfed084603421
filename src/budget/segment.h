/*
 * segment: what lies in the file of a budget, and its name. A segment is a
 * header that never changes, and words that change by compare-and-swap.
 */
#ifndef SEGMENT_H
#define SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "text/duration.h"
#include "budget/breaker.h"
#include "budget/window.h"

/* The longest key. */
#define SEGMENT_KEY 1024

/* Room for a segment's file name and the closing NUL: NAME_MAX + 1. */
#define SEGMENT_NAME 256

/* Of /proc/sys/kernel/random/boot_id, with the closing NUL. */
#define SEGMENT_BOOT 40

/* Where segments live unless the user says otherwise: memory, as a rule. */
#define SEGMENT_DIRECTORY "/dev/shm"

/* A file of this name begins so; what follows is a uid and a key. */
#define SEGMENT_PREFIX "retry-v2."

/* The numbers of a budget; -1 where the user said nothing. */
struct terms {
	int64_t ratio; /* millionths, 0 to SEGMENT_RATIO_MOST */
	int64_t min; /* 0 to SEGMENT_MIN_MOST */
	nanos window; /* SEGMENT_WINDOW_LEAST to SEGMENT_WINDOW_MOST */
};

#define SEGMENT_RATIO_MOST (1000 * INT64_C(1000000))
#define SEGMENT_MIN_MOST 1000000
#define SEGMENT_WINDOW_LEAST NANOS_SECOND
#define SEGMENT_WINDOW_MOST NANOS_DAY

/* What stands for a number that nobody said. */
#define SEGMENT_RATIO (WINDOW_RATIO_ONE / 5)
#define SEGMENT_MIN 10
#define SEGMENT_WINDOW (60 * NANOS_SECOND)

/*
 * Where a clock counts from, and who counts by it. A time namespace shifts the
 * one clock and not the other: where both went on alike since, the namespace
 * need not be asked for, which costs more than all else at opening.
 */
struct origin {
	nanos base; /* CLOCK_BOOTTIME when the segment was made */
	nanos wall; /* CLOCK_REALTIME at that moment */
	char boot[SEGMENT_BOOT]; /* NUL-padded */
	uint64_t space; /* inode of the time namespace, 0: unknown */
};

struct header {
	char magic[8];
	uint32_t size; /* of a segment */
	uint32_t words; /* of its ring */
	nanos slice; /* window / WINDOW_SLICES */
	struct origin origin;
	uint32_t length; /* of the key */
	char key[SEGMENT_KEY]; /* NUL-padded */
	uint32_t zero; /* so that the size is the same on all machines */
};

struct segment {
	struct header header;
	_Atomic uint64_t limits; /* [ratio:32 | min:32], only ever stricter */
	struct breaker breaker;
	_Atomic uint64_t cooldown; /* no retries before: ns since base */
	unsigned char spare[48]; /* zero */
	/*
	 * These decide nothing; they are for people to look at. Of retries, the
	 * breaker let in the probes and the turns, and the ring granted the
	 * others.
	 */
	_Atomic uint64_t probes, turns;
	_Atomic uint64_t firsts, successes, retries, denied;
	struct window window;
};

enum segment_state {
	SEGMENT_GOOD,
	SEGMENT_STALE, /* nobody's clock counts from there any more: of an
			  earlier boot, or its epochs are used up */
	SEGMENT_FOREIGN, /* of another time namespace: no clock in common */
	SEGMENT_STRANGE, /* another version, another key, or no segment */
};

/*
 * Writes the file name of a key: SEGMENT_PREFIX, "uid." unless uid is -1 (a
 * directory shared by a group), and the key, with what a file name cannot hold
 * as %XX. A name too long is cut and ends in "~" and a hash of the key
 * (FNV-1a, 64 bits: Fowler, Noll, Vo), which no short name does.
 */
char *segment_name(char room[SEGMENT_NAME], int64_t uid, const char *key);

/*
 * A new segment: no retries, no successes, gate closed. terms: -1 becomes what
 * stands for it. key: at most SEGMENT_KEY bytes.
 */
void segment_make(struct segment *segment, const char *key,
    const struct terms *terms, const struct origin *origin);

/*
 * Whether the clocks at here went on alike since the segment was made: then
 * segment_check needs no here->space.
 */
bool
segment_shares_clock(const struct header *header, const struct origin *here);

/*
 * What a header, copied out of a file of the right size, is worth here, base
 * and wall being now. boot "": not compared (memory does not outlive a boot).
 * space 0: unknown. key NULL: any. Nothing in a header is ever used as a size
 * or an offset.
 */
enum segment_state segment_check(
    const struct header *header, const char *key, const struct origin *here);

/*
 * Since the segment was made, 0 where our clock is behind; and in slices, less
 * than WINDOW_EPOCHS.
 */
nanos segment_age(const struct header *header, nanos now);
int64_t segment_epoch(const struct header *header, nanos now);

/* The window, as it was asked for, to the microsecond. */
nanos segment_window(const struct header *header);

/* What is left of the pause after a denied retry, or 0; it never exceeds a day.
 */
nanos segment_cooldown(const struct segment *segment, nanos age);

/*
 * How long until a window's retries are few enough for one more, if nothing
 * else happens: NANOS_MAX if only a success can make that so. sums: what counts
 * now. Does not regard the cooldown.
 */
nanos segment_next(const struct window *window, const struct header *header,
    const struct window_limits *limits, nanos now, struct window_sums *sums);

/* No segment of ours holds these. */
#define SEGMENT_NO_LIMITS ((struct window_limits){ -1, -1 })

/*
 * Brings together what the segment has and what the user said: the stricter of
 * each number is kept in the segment for everybody. Returns the numbers that
 * hold, SEGMENT_NO_LIMITS if there is no sense in those of the segment.
 * *differs: the user said something else than what was there.
 */
struct window_limits segment_agree(
    struct segment *segment, const struct terms *terms, bool *differs);

/* The numbers that hold, or SEGMENT_NO_LIMITS. */
struct window_limits segment_limits(const struct segment *segment);

#endif
