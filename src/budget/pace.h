/*
 * pace: when an attempt may begin, by what a server that limits its clients has
 * served and refused.
 *
 * The command that was refused waits as it was told. Nobody else has been told:
 * a limit may be a quota in a window of time, a bucket of tokens, so many
 * requests at once, or chance, and a wait may be about one item. So what all
 * commands with the key have seen is measured here. The key is open or closed.
 *
 * Closed, by a refusal of an attempt that began after the refusal before. The
 * named instant is the earliest that any refusal since has named; if the server
 * punishes, the latest.
 *
 *   - Probes: whoever waits may probe, the first one half a turn of the pace
 *     after the refusal, the next ones after gaps that grow. An attempt that
 *     began after the last refusal and is served opens the key; so does a probe
 *     that is not refused for a quarter of a second, or for four times the
 *     longest that a refusal took: it was let in, and is slow.
 *   - Punishment: a probe's refusal names an instant more than a second later
 *     than all that were no probes have named. Then nobody probes in this
 *     closed phase and the next three after which something was accepted; nor
 *     if it is known that the server punishes. If
 *     nothing was accepted since the opening, the named instant moves by up to
 *     four waits, by chance: else several hosts would lengthen it for each
 *     other for ever.
 *   - Votes: if of the attempts that were under way more than two are served
 *     for each that is refused, only some are refused, and the key opens as if
 *     nothing had been.
 *   - At the named instant the key opens by itself.
 *
 * An opening measures: what was accepted since the last one (begun less
 * refused), in the time in which somebody waited for the key, or as it was
 * told, or ran; both added to those before, which fade by 0.3.
 *
 *   - If only some were refused, the pace falls by 0.15. Else it is what was
 *     measured, times 1.2. It never falls below one in the last named wait.
 *   - If all waited as they were told, and nobody has asked for the most of
 *     the closed time, the measurement says little, and each served attempt
 *     raises the pace faster until the next opening. If only one was refused,
 *     nothing is measured at all.
 *   - If probes were refused, and it opened late in the named wait: a window,
 *     unless one that began earlier in such a wait was served lately.
 *     What was accepted is its quota. In the next cycle as many may begin
 *     beside the pace, each when no more are under way than were served since
 *     the opening. Where it serves nothing after a wait of a second, which may
 *     be the least that it can name, it is not probed in the next second.
 *
 * Open, with a pace: whoever comes when the next turn is free takes it, and
 * moves it on by one turn. Nobody reserves a place. What is served raises the
 * pace, the more the longer the key is open, so that a limit that has gone is
 * forgotten.
 *
 * Of no use: the pace has fallen to a quarter of the highest and attempts in
 * the open key were refused, or it is the slowest and still some are refused;
 * and it is no window; and less than half of the attempts at the pace were
 * refused. Then eight attempts begin when they come. If not more of
 * them are refused, the limit is no rate: no pace and no closing, until clearly
 * more attempts are refused. If more are, but not seven, eight others follow.
 *
 * Forgotten: everything, when the named instant is over and nobody asked and
 * nothing ended for a minute, or twice the last named wait if that is longer.
 *
 * All times are ages in nanoseconds, never negative. Counts of attempts under
 * way begin anew with each opening, and nobody waits for an attempt: its
 * process may have been killed. measure/pace.py has the same rules, and tries
 * them on many kinds of limits; tests/unit/budget/limits.c compares both.
 */
#ifndef PACE_H
#define PACE_H

#include <stdbool.h>
#include <stdint.h>
#include "text/duration.h"

/* The longest wait that a server can name here. */
#define PACE_WAIT_MOST NANOS_DAY

/* All zero: nothing is known, and the key is open without a pace. */
struct pace {
	/* Instants; 0: none. */
	nanos seen; /* of the last event */
	nanos opened; /* since when is counted what follows */
	nanos edge; /* until then somebody waited or ran, or will have */
	nanos shut; /* when it was closed */
	nanos until; /* the named instant */
	nanos latest; /* the latest that any but probes have named */
	nanos last; /* the last refusal */
	nanos first; /* when the attempt began that closed the key */
	nanos probe; /* the next one */
	nanos asked; /* when the probe began that is not answered yet */
	nanos free; /* the next turn */
	/* Lengths. */
	nanos gap; /* between probes */
	nanos slowest; /* refusal */
	nanos wait; /* the last that was named; 0: none yet */
	nanos period; /* of a window */
	nanos busy; /* in which somebody waited or ran, since opened */
	double old_busy; /* before, fading */
	double old; /* accepted before, fading */
	double factor; /* by which the gap grows */
	double rate; /* the pace: attempts in a second; 0: none */
	double base; /* the pace that the opening has set */
	double highest; /* pace */
	double share; /* refused before the eight, or when of no use */
	/* Counts since opened. */
	int32_t begun, refused, served;
	int32_t quota; /* of a window; 0: it is none */
	int32_t votes_served, votes_refused;
	int32_t probes; /* refused ones */
	int32_t punished; /* closed phases in which nobody probes */
	int32_t pace_begun, pace_refused; /* at this pace */
	int32_t trial_begun, trial_refused, trial_ended; /* of the eight */
	uint32_t series; /* of pace_begun: which one it is */
	uint32_t trials; /* of the eight: which one it is */
	uint8_t closed, trying, useless, blind, suspected;
	uint8_t idle; /* nobody has asked for most of the closed time */
	uint8_t leaky; /* openings after which no window is believed */
	uint8_t unused;
};

/* An attempt, as its command remembers it. All zero: none has begun. */
struct pace_attempt {
	nanos began;
	bool probe; /* of a closed key */
	bool early; /* long before the named instant */
	uint32_t series, trial; /* 1 + those of the pace; 0: none */
};

enum pace_event_kind {
	PACE_ASKED, /* whether an attempt may begin; if so, it begins */
	PACE_SERVED, /* an attempt has ended: the server has answered */
	PACE_REFUSED, /* the server limits its clients */
	PACE_UNKNOWN, /* nothing is known of the server */
};

struct pace_event {
	enum pace_event_kind kind;
	nanos now;
	nanos wait; /* refused: the named wait; 0: none */
	nanos own; /* refused: how long the command itself waits now */
	bool strict; /* refused: who asks before is punished */
};

/*
 * What follows from one event, at an instant that is not before the last one
 * (else the last one counts). mine: the attempt that ends, or that begins.
 * Returns 0: it begins, or nothing; else how long until the next turn or probe.
 */
nanos pace_step(struct pace *pace, struct pace_attempt *mine,
    const struct pace_event *event, uint64_t *random);

/* Somebody will wait for the key from now on for so long. */
void pace_use(struct pace *pace, nanos now, nanos nap);

/*
 * How often those look who wait for a key, whatever for. Nobody is counted who
 * waits, because processes may be killed: looks are counted, and that of the
 * last while as many as a mean nap, so about all who wait. All zero: none.
 */
struct looks {
	nanos last; /* look */
	nanos nap; /* their mean */
	double waiting;
};

/*
 * When a process that waits looks again: soon after next, when its turn may
 * come, and else so that all who wait look some fifty times a second together,
 * or three times for each of the turns that there are in a second; up to twice
 * as often if next is soon. least: the shortest mean time between its looks,
 * the longest being 30 s.
 */
nanos pace_nap(struct looks *looks, nanos now, nanos next, nanos least,
    double turns, uint64_t *random);

/* Whether no process can have written this at such an age: then nothing is
 * known. */
bool pace_is_corrupt(const struct pace *pace, nanos now);

/* The pace at one moment, for people. */
struct pace_view {
	bool closed;
	nanos held; /* until the named instant; 0: none */
	double rate; /* attempts in a second; 0: none */
	int64_t quota; /* in each period; 0: it is no window */
	nanos period;
};

struct pace_view pace_look(const struct pace *pace, nanos now);

#endif
