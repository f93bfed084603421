/*
 * segment: the layout of a budget's file, and its name.
 *
 * A segment is a header that never changes, followed by words that processes
 * change by compare-and-swap: the limits, the breaker, the window, counters,
 * what is known of a fleet, and what is known of the server's limit. Without
 * --fleet nobody uses the words of a fleet.
 */
#ifndef SEGMENT_H
#define SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "text/duration.h"
#include "budget/breaker.h"
#include "budget/fleet_host.h"
#include "budget/pace.h"
#include "budget/rate.h"
#include "budget/record.h"
#include "budget/window.h"

/* The longest key. */
#define SEGMENT_KEY 1024

/* Room for a segment's file name and the closing NUL: NAME_MAX + 1. */
#define SEGMENT_NAME 256

/* Room for /proc/sys/kernel/random/boot_id and the closing NUL. */
#define SEGMENT_BOOT 40

/* The default directory of segments; it is in memory as a rule. */
#define SEGMENT_DIRECTORY "/dev/shm"

/* The start of each file name; a uid and a key follow. */
#define SEGMENT_PREFIX "retry-v6."

/* The bounds of struct terms. */
#define SEGMENT_RATIO_MOST (1000 * INT64_C(1000000))
#define SEGMENT_MIN_MOST 1000000
#define SEGMENT_WINDOW_LEAST NANOS_SECOND
#define SEGMENT_WINDOW_MOST NANOS_DAY

/* The defaults. */
#define SEGMENT_RATIO (WINDOW_RATIO_ONE / 5)
#define SEGMENT_MIN 10
#define SEGMENT_WINDOW (10 * NANOS_SECOND)

/* When a segment was made, and by which clock. */
struct origin {
	nanos base; /* CLOCK_BOOTTIME when the segment was made */
	char boot[SEGMENT_BOOT]; /* NUL-padded */
	uint32_t clock; /* sys_clock(); 0: not known */
};

struct header {
	char magic[8];
	uint32_t size; /* of a segment */
	uint32_t words; /* WINDOW_WORDS */
	nanos slice; /* window / WINDOW_SLICES */
	nanos base; /* as in struct origin */
	char boot[SEGMENT_BOOT];
	uint32_t length; /* of the key */
	char key[SEGMENT_KEY]; /* NUL-padded */
	uint32_t clock; /* as in struct origin; earlier programs wrote 0 */
};

/* What is counted from when a segment was made, for reports only. */
enum total {
	TOTAL_PROBES, /* retries admitted by the breaker, as its probe */
	TOTAL_TURNS, /* the same, while it recovered */
	TOTAL_LIMITED, /* retries after a limit of a server */
	TOTAL_FIRSTS, /* first attempts */
	TOTAL_SUCCESSES,
	TOTAL_RETRIES, /* granted by the window */
	TOTAL_DENIED, /* attempts, each counted once */
	TOTAL_THROTTLED, /* attempts that waited for the pace or --rate */
	TOTAL_RESCUED, /* invocations that a retry made succeed */
	TOTAL_GAVE_UP, /* invocations that wanted another attempt */
	TOTALS,
};

/* What the commands with a key know together of their server, and of how many
 * of them wait. It is replaced as a whole. */
struct traffic {
	struct pace pace;
	struct looks looks;
	struct rate rate; /* the last: without a limit it is not stored */
};

struct segment {
	struct header header;
	_Atomic uint64_t terms; /* [ratio:32 | min:32]; never gets laxer */
	struct breaker breaker;
	_Atomic uint64_t cooldown; /* until then no retries, after a denial: ns
				      since base; 0: none */
	_Atomic uint64_t waiting; /* when a retry that waits for the breaker
				     last asked: ns since base; 0: never */
	_Atomic uint64_t guarded; /* 1: a process has asked the breaker */
	_Atomic uint64_t totals[TOTALS];
	struct window window;
	struct fleet_host fleet;
	struct record record; /* struct traffic */
};

/*
 * Writes the file name of a key: SEGMENT_PREFIX; "uid.", unless uid is -1 (in a
 * directory that a group shares); and the key, in which bytes other than
 * letters, digits, "_", "-" and "." are %XX. A name that is too long is cut,
 * and gets "~" and a hash of the key (FNV-1a, 64 bits: Fowler, Noll, Vo). Other
 * names have no "~".
 */
char *segment_name(char room[SEGMENT_NAME], int64_t uid, const char *key);

/*
 * A new segment: an empty window, a closed breaker. terms: -1 means the
 * default. key: at most SEGMENT_KEY bytes.
 */
void segment_make(struct segment *segment, const char *key,
    const struct terms *terms, const struct origin *origin);

/*
 * Checks a header that was copied from a file of the right size. NULL, or why
 * it cannot be used: segment_stale if no process can use it any more, because
 * it is of an earlier boot, or its epochs are used up. here is the present
 * time. If here->boot is "", the boot is not compared, since a file in
 * memory does not survive a reboot. Nor are clocks of which one is not known;
 * but a segment of the future is of another clock. key NULL accepts any key. No
 * value of a header is ever used as a size or an offset.
 */
const char *segment_check(
    const struct header *header, const char *key, const struct origin *here);
extern const char segment_stale[];

/* The time since the segment was made, 0 if retry's clock is behind. */
nanos segment_age(const struct header *header, nanos now);

/* Counts one more. */
void segment_count(struct segment *segment, enum total total);

/*
 * Changes the limits of the segment, for all processes, to the stricter of
 * those and the user's (-1: not given), and returns the result: their
 * ratio is -1 if they are corrupt. *differs: the user asked for other limits
 * than the segment had.
 */
struct terms segment_agree(struct segment *segment, const struct header *header,
    const struct terms *terms, bool *differs);

/* What is left of the pause after a denial. One that ends later than the
 * longest possible one is corrupt, and counts as over. */
nanos segment_cooldown(const struct segment *segment, nanos age);

/* Begins such a pause, of NANOS_DAY at most, unless a longer one has begun. */
void segment_cool(struct segment *segment, nanos pause, nanos age);

/*
 * Copies what is known, all zero if it is corrupt, and returns of which change
 * it is. With that segment_replace() replaces it; false: another process has
 * been faster.
 */
uint64_t
segment_read(const struct segment *segment, nanos age, struct traffic *traffic);
bool segment_replace(
    struct segment *segment, uint64_t change, const struct traffic *traffic);

/* When something was last known of the server, as an age; 0: never. Then what
 * is known of it is forgotten. */
nanos segment_seen(const struct segment *segment);
void segment_forget(struct segment *segment);

/* Stands for a number that does not exist at present. */
#define SNAPSHOT_NONE (-1)

/*
 * The state and totals of a budget at one moment. The segment is not trusted:
 * for any contents of its words, the numbers here are 0 or more, or
 * SNAPSHOT_NONE.
 */
struct snapshot {
	char file[SEGMENT_NAME]; /* its name in the directory, if known */
	char key[SEGMENT_KEY];
	size_t length; /* of the key */
	bool idle; /* to remove the segment would change nothing */
	int64_t retries, successes; /* in the window */
	int64_t limit, left; /* of retries */
	nanos next; /* until a retry is allowed; NONE: only after a success */
	nanos window;
	nanos cooldown; /* what is left of the pause after a denial */
	nanos held; /* how long a server wants to be left alone */
	int64_t pace; /* attempts in a second, in millionths; or NONE */
	int64_t quota; /* of the server, in each period; or NONE */
	nanos period;
	int64_t rate_number; /* of --rate, in each rate_time; or NONE */
	nanos rate_time;
	int64_t rate_used; /* places */
	int64_t ratio, min; /* as in struct terms */
	int64_t totals[TOTALS];
	int64_t attempts; /* firsts, and retries of all kinds */
	int64_t amplification; /* attempts / firsts in millionths, or NONE */
	bool guarded; /* somebody has asked the breaker */
	int64_t breaker; /* enum breaker_state */
	int64_t failures; /* in a row */
	nanos probe; /* breaker_view's next; NONE unless open or half-open */
	int64_t rate; /* breaker_view's rate; NONE unless recovering */
	int64_t hosts; /* that share the budget, if it is a fleet's; or NONE */
	struct host_view fleet; /* what this host knows of its fleet */
};

/* No number exists: nothing is known of the budget of key. */
void segment_unknown(struct snapshot *snapshot, const char *key);

/* Whether anything is known of the budget. */
bool segment_is_known(const struct snapshot *snapshot);

/*
 * Fills in all but file, and changes nothing in the segment. now is on
 * CLOCK_BOOTTIME. False if the limits or the window are corrupt: then read the
 * clock and try once more, as with WINDOW_CORRUPT.
 */
bool segment_look(struct snapshot *snapshot, const struct segment *segment,
    const struct header *header, nanos now);

/* For qsort, of snapshots: by key, which no two files of a directory share. */
int segment_compare(const void *a, const void *b);

#endif
