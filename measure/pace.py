#!/usr/bin/env python3
"""Commands that share a key, and a server that limits them, in virtual time.

    measure/pace.py [--seeds N] [KIND...]
    measure/pace.py --means N [KIND...]

For each kind of limit, or those with a word in their name, the first prints
the seconds until all commands are served and how many requests are refused,
as means of N runs (3), for three ways in which the commands may act:

    alone  each obeys only what it has been told itself: they have no key
    hold   version 1.0: after a refusal none starts until the wait that was
           named is over, then all do within two seconds
    pace   the rules of src/budget/pace.h

and how often commands that wait for the pace look at it for each request. The
second prints only the means of the pace, as tests/unit/budget/limits.means has
them: limits.c there does the same with src/budget/pace.c. So that few runs are
enough to compare both, the random numbers are the same here and there, and are
drawn in the same order: what one changes, the other has to.

A number of commands run at a time, as with xargs -P. Each is retried until it
is served.
"""

import argparse
import heapq
import math
import multiprocessing
from typing import Callable, NamedTuple


class Random:
    """SplitMix64, as src/text/hash.h has it."""

    def __init__(self, seed):
        self.state = seed

    def chance(self):
        """Uniform in [0, 1)."""
        mask = (1 << 64) - 1
        self.state = z = self.state + 0x9E3779B97F4A7C15 & mask
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
        return ((z ^ z >> 31) >> 11) * 2.0**-53


class Server:
    """Serves all. `waits` are what refusals name in turn, None no time; no
    waits: the time that is left."""

    def __init__(self, *waits):
        self.waits, self.refused = waits, 0

    def takes(self, now, random):
        """Whether a request is served; and if not, how long until one is."""
        return True, 0

    def ask(self, now, random):
        """Whether a request is served, and the wait that a refusal names."""
        served, left = self.takes(now, random)
        if served:
            return True, None
        self.refused += 1
        if self.waits:
            return False, self.waits[self.refused % len(self.waits)]
        return False, max(1, math.ceil(left))

    def end(self):
        """A request that was served has ended."""


class Window(Server):
    """A quota in each window of a period."""

    def __init__(self, quota, period, *waits):
        super().__init__(*waits)
        self.quota, self.period, self.window, self.used = quota, period, 0, 0

    def takes(self, now, random):
        window = int(now / self.period)
        if window != self.window:
            self.window, self.used = window, 0
        self.used += 1
        return self.used <= self.quota, (window + 1) * self.period - now


class Sliding(Server):
    """A quota of those that are served in any period."""

    def __init__(self, quota, period):
        super().__init__()
        self.quota, self.period, self.log = quota, period, []

    def takes(self, now, random):
        while self.log and self.log[0] <= now - self.period:
            self.log.pop(0)
        if len(self.log) < self.quota:
            self.log.append(now)
            return True, 0
        return False, self.log[0] + self.period - now


class Penalty(Server):
    """A quota in a window that a refused request makes longer."""

    def __init__(self, quota, period):
        super().__init__()
        self.quota, self.period, self.used, self.until = quota, period, 0, 0

    def takes(self, now, random):
        if now >= self.until:
            self.used, self.until = 0, now + self.period
        self.used += 1
        if self.used <= self.quota:
            return True, 0
        self.until = max(self.until, now + self.period / 2)
        return False, self.until - now


class Bucket(Server):
    """A bucket of tokens."""

    def __init__(self, rate, burst, *waits):
        super().__init__(*waits or (1,))
        self.rate, self.burst = rate, burst
        self.tokens, self.filled = burst, 0

    def takes(self, now, random):
        self.tokens += (now - self.filled) * self.rate
        self.tokens, self.filled = min(self.burst, self.tokens), now
        if self.tokens < 1:
            return False, 0
        self.tokens -= 1
        return True, 0


class AtOnce(Server):
    """So many requests at once."""

    def __init__(self, most, *waits):
        super().__init__(*waits or (1,))
        self.most, self.running = most, 0

    def takes(self, now, random):
        if self.running >= self.most:
            return False, 0
        self.running += 1
        return True, 0

    def end(self):
        self.running -= 1


class Sometimes(Server):
    """Some are refused by chance: a server that sheds load."""

    def __init__(self, share, *waits):
        super().__init__(*waits or (1,))
        self.share = share

    def takes(self, now, random):
        return random.chance() >= self.share, 0


class Daily(Server):
    """All are served but in one minute of the thirtieth day."""

    def takes(self, now, random):
        into = now - 86400 * 30
        return not 0 <= into < 60, 60 - into


class Attempt:
    """What a command remembers of its attempt."""

    def __init__(self, began):
        self.began, self.probe, self.series, self.trial = began, False, 0, 0


class Alone:
    """Commands without a key. Those with one share an object of a class
    below."""

    def __init__(self, random):
        self.random = random

    def grows(self):
        """Whether the delay after a refusal without a time grows."""
        return True

    def ask(self, now):
        """An attempt, which begins now; or None, and when to look again."""
        return Attempt(now), now

    def serve(self, mine, now):
        """An attempt was served."""

    def refuse(self, mine, now, wait, own):
        """An attempt was refused, with this wait or None. Its command waits
        until own."""


class Hold(Alone):
    """Version 1.0."""

    def __init__(self, random):
        super().__init__(random)
        self.until = 0

    def ask(self, now):
        if now >= self.until:
            return Attempt(now), now
        spread = min((self.until - now) / 2, 2)
        return None, self.until + self.random.chance() * spread

    def refuse(self, mine, now, wait, own):
        wait = own - now if wait is None else wait
        if wait >= 1:
            self.until = max(self.until, now + wait)


def doubled(times):
    """2 to this power; between whole ones on a line."""
    whole = int(times)
    return 2**whole * (1 + times - whole)


class Pace(Alone):
    """The rules of src/budget/pace.h, with the names of its fields. Instants
    are in seconds, and 0 is none."""

    LEAST = 0.05  # mean time between the looks of a command

    def __init__(self, random):
        super().__init__(random)
        self.series = self.trials = self.seen = 0
        self.suspected = False
        self.last_look = self.nap = self.waiting = 0.0
        self.forget()

    def forget(self):
        self.opened = self.edge = self.shut = self.until = self.latest = 0
        self.last = self.first = self.probe = self.asked = self.free = 0
        self.gap = self.slowest = self.wait = self.period = self.busy = 0
        self.old_busy = self.old = self.factor = 0
        self.rate = self.base = self.highest = self.share = 0
        self.begun = self.refused = self.served = self.quota = 0
        self.votes_served = self.votes_refused = 0
        self.probes = self.punished = 0
        self.closed = self.trying = self.useless = False
        self.blind = self.idle = False
        self.leaky = 0
        self.begin_series()

    def begin_series(self):
        self.series += 1
        self.pace_begun = self.pace_refused = 0

    def grows(self):
        return self.rate == 0 and not self.closed

    def wait_of(self):
        return self.wait or 1

    def accepted(self):
        return self.begun - self.refused

    def share_refused(self):
        return self.pace_refused / max(self.pace_begun, 1)

    def use(self, begin, end):
        """Somebody waited or ran in this time."""
        self.busy += max(0, end - max(begin, self.edge))
        self.edge = max(self.edge, end)

    def next_look(self, now, turn):
        """When a command looks again whose turn may come at an instant."""
        gap = now - self.last_look
        self.waiting *= self.nap / (self.nap + gap + 1e-9)
        self.waiting += 1
        mean = self.waiting / max(50, 3 * self.rate)
        interval = max(mean, self.LEAST, (turn - now) / 16)
        interval = min(interval * (0.5 + self.random.chance()), 30)
        nap = min(turn - now + mean * self.random.chance(), interval)
        self.last_look = now
        self.nap += (nap - self.nap) / 8
        return now + nap

    def set_rate(self, rate, some):
        """Sets the pace; some: because only some are refused."""
        least = 1 / max(self.wait_of(), 1)
        enough = 8 if self.suspected else 4
        self.rate = self.base = max(rate, least)
        self.highest = max(self.highest, rate)
        falls = rate < self.highest / 4 and self.pace_refused >= enough
        ends = some and rate < least and self.pace_refused >= 16
        if self.quota or not falls and not ends:
            return
        if 2 * self.pace_refused >= self.pace_begun:
            return
        self.share = self.share_refused()
        self.suspected = True
        self.begin_trial()
        self.highest = 0
        self.begin_series()

    def begin_trial(self):
        """Some attempts begin when they come."""
        self.trying = True
        self.trials += 1
        self.trial_begun = self.trial_refused = self.trial_ended = 0

    def end_trial(self, mine, refused):
        if not self.trying or mine.trial != self.trials:
            return
        self.trial_refused += refused
        self.trial_ended += 1
        if self.trial_ended < 8:
            return
        self.trying = False
        share = self.trial_refused / 8
        if share <= min(self.share * 1.25 + 0.2, (1 + self.share) / 2):
            self.useless, self.rate, self.closed = True, 0, False
        elif self.trial_refused <= 6:
            self.begin_trial()

    def open(self, now, by_clock):
        ahead = max(self.edge - now, 0)
        named = self.until - self.shut
        count = self.accepted()
        busy = max(self.busy - ahead, 0.25)
        late = by_clock or (self.until and now >= self.shut + named * 0.75)
        mute = not self.until and now - self.shut >= 1
        some = (
            not late
            and not self.probes
            and 2 * (self.votes_refused - 1) <= self.votes_served
        )
        need = 1 if self.quota else 3 if mute else 2
        half = self.shut + (now - self.shut) / 2
        self.blind = not self.quota and (
            self.idle or by_clock and self.last < half
        )
        alone = self.blind and self.votes_refused == 1 and not self.probes
        if (
            (mute or late and named > 1 - 1e-6)  # a second, but rounded
            and (self.probes >= need or self.punished)
            and count > 1
            and not self.leaky
        ):
            self.quota, self.period = count, now - self.opened
        elif not late:
            self.quota = 0
        self.leaky = max(self.leaky - 1, 0)
        if by_clock and count:
            self.punished = max(self.punished - 1, 0)
        self.old += count
        self.old_busy += busy
        if some and self.rate:
            self.set_rate(self.rate * 0.85, True)
        elif count and not some and not alone:
            self.set_rate(self.old / self.old_busy * 1.2, False)
        self.old *= 0.7
        self.old_busy *= 0.7
        self.begun = self.refused = self.served = self.probes = 0
        self.asked = 0
        self.busy = ahead
        self.opened, self.closed = now, False
        self.free = now + (1 / self.rate if self.rate else 0)

    def tick(self, now):
        quiet = max(2 * self.wait_of(), 60)
        if now - self.seen > quiet and now >= self.until:
            self.forget()
        if self.closed and self.until and now >= self.until:
            self.open(now, True)
        slow = self.asked + max(0.25, 4 * self.slowest)
        if self.closed and self.asked and now > slow:
            self.open(now, False)

    def take_probe(self, now):
        """Now, if a probe begins; else when the next one may."""
        if self.punished and self.until:
            return self.until
        if now < self.probe:
            return self.probe
        if now - self.probe > max((now - self.shut) / 2, 1):
            self.idle = True
        if self.probes > 4 and self.factor == 1:
            self.factor = 2
        self.gap *= self.factor
        if self.until:
            self.probe = min(now + self.gap, self.until)
        else:
            self.gap = min(self.gap, 30)
            self.probe = now + self.gap
        return now

    def take_turn(self, mine, now):
        """The same for an open key that has a pace."""
        if self.trying and self.trial_begun < 8:
            mine.trial = self.trials
            self.trial_begun += 1
            return now
        if (
            self.begun < self.quota
            and self.accepted() - self.served <= self.served
        ):
            return now
        if now < self.free:
            return self.free
        made_up = 0.3 / self.rate
        self.free = max(self.free, now - made_up) + 1 / self.rate
        return now

    def ask(self, now):
        mine, turn = Attempt(now), now
        self.tick(now)
        self.seen = now
        if self.closed:
            turn = self.take_probe(now)
        elif not self.useless and self.rate:
            turn = self.take_turn(mine, now)
        if turn > now:
            look = self.next_look(now, turn)
            self.use(now, look)
            return None, look
        self.opened = self.opened or now
        self.begun += 1
        mine.probe = self.closed
        named = max(self.until - self.shut, 0)
        mine.early = self.closed and now < self.shut + named * 0.75
        if not self.closed:
            self.pace_begun += 1
            mine.series = self.series
        elif not self.asked:
            self.asked = now
        return mine, now

    def raise_rate(self, now):
        beyond = self.accepted() - self.quota
        if not self.rate or beyond < 0:
            return
        since = (now - self.opened) / 4
        part = 32 if self.blind else doubled(min(max(beyond / 16, since), 5))
        times = (3 if self.blind else 1) + since
        most = max(self.base * doubled(min(times, 20)), self.rate)
        self.rate = min(self.rate * (1 + part / 120), most)

    def serve(self, mine, now):
        self.seen = now
        self.use(mine.began, now)
        self.end_trial(mine, False)
        if self.useless:
            return
        if mine.early:
            self.leaky, self.quota = 4, 0
        if not self.closed:
            self.served += mine.began >= self.opened
            self.raise_rate(now)
            return
        self.votes_served += mine.began >= self.first
        if mine.began >= self.last:
            self.open(now, False)
        elif self.votes_served > 2 * self.votes_refused:
            self.closed, self.free, self.asked = False, now, 0

    def becomes_useful(self):
        share = self.share_refused()
        if self.pace_refused < 16:
            return False
        self.begin_series()
        return share > min(1.5 * self.share + 0.1, (1 + self.share) / 2)

    def refuse_closed(self, mine, until):
        self.votes_refused += mine.began >= self.first
        if mine.probe:
            self.probes += 1
            self.asked = 0
            if self.latest and until > self.latest + 1:
                self.punished = 4
        if not mine.probe or not self.latest:
            self.latest = max(self.latest, until)
        if not until:
            return
        if self.punished:
            self.until = max(self.until, until)
        else:
            self.until = min(self.until or until, until)

    def close(self, mine, now, wait):
        until = now + wait if wait else 0
        if self.punished and until and self.accepted() <= 0:
            until += 4 * wait * self.random.chance()
        self.closed, self.shut = True, now
        self.until = self.latest = until
        self.probes = self.asked = 0
        self.first = mine.began
        self.votes_served, self.votes_refused = 0, 1
        self.factor, self.idle = 2, False
        if self.quota and wait:
            # Who served nothing after a second is not asked before the next.
            least = self.accepted() <= 0 and wait <= 1
            self.gap = wait if least else wait / 2
        elif self.quota:
            self.gap = max(self.opened + self.period - now, 0.1) / 2
            self.probes, self.factor = 2, 1
        else:
            self.gap = max(0.5 / self.rate, 0.02) if self.rate else 0.02
            if wait:
                self.gap = min(self.gap, wait / 8)
                # Eight gaps are enough: an eighth root.
                filled = math.sqrt(math.sqrt(math.sqrt(wait / self.gap)))
                self.factor = max(2, filled)
        self.probe = now + self.gap

    def refuse(self, mine, now, wait, own):
        self.seen = now
        self.use(mine.began, own)
        self.end_trial(mine, True)
        if mine.series == self.series:
            self.pace_refused += 1
        if self.useless and not self.becomes_useful():
            return
        self.useless = False
        self.refused += mine.began >= self.opened
        self.slowest = max(self.slowest, now - mine.began)
        if self.closed:
            self.refuse_closed(mine, now + wait if wait else 0)
        if wait:
            self.wait = wait
        if mine.began < self.last:
            return
        self.last = now
        if not self.closed:
            self.close(mine, now, wait)


class Kind(NamedTuple):
    """A kind of limit, and the commands that meet it."""

    name: str
    ideal: float  # in how many seconds all could be served
    server: Callable
    items: int
    at_once: int
    latency: float  # of a request that is served, about
    told: float = 0  # until then the last item is told to wait so long
    spread: float = 0.05  # in this time the first ones come
    arrive: tuple = ()  # or when each comes
    die: tuple = ()  # an instant, and how many who wait then are killed
    limit: float = 3000  # the longest run


class Run(NamedTuple):
    """What came out."""

    time: float  # until the last one was served, or the longest that one took
    refused: int
    lost: int  # not served at all
    looks: float  # for each request


class Crowd:
    """Commands in virtual time."""

    def __init__(self, kind, policy, seed):
        self.kind, self.random = kind, Random(seed)
        self.policy, self.server = policy(self.random), kind.server()
        self.events, self.number = [], 0
        self.left = self.items = kind.items
        self.killed = kind.die[1] if kind.die else 0
        self.served = self.refused = self.looks = 0
        self.last = self.longest = 0.0

    def at(self, instant, act, *facts):
        self.number += 1
        heapq.heappush(self.events, (instant, self.number, act, facts))

    def run(self):
        kind = self.kind
        for n in range(len(kind.arrive) or kind.at_once):
            if kind.arrive:
                self.at(kind.arrive[n], self.begin)
            else:
                self.at(self.random.chance() * kind.spread, self.begin)
        while self.events:
            now, _, act, facts = heapq.heappop(self.events)
            if now > kind.limit:
                break
            act(now, *facts)
        time = self.longest if kind.arrive or kind.die else self.last
        lost = self.items - self.served
        looks = self.looks / (kind.items + self.refused)
        return Run(time, self.refused, lost, looks)

    def begin(self, now):
        """The next item, if there is one."""
        if self.left:
            self.left -= 1
            self.ask(now, self.left, now, 0, False)

    def ask(self, now, item, since, tries, waited):
        """An item that came at an instant asks for its next attempt."""
        self.looks += waited
        if waited and self.killed and now >= self.kind.die[0]:
            self.killed -= 1
            self.items -= 1
            return
        mine, then = self.policy.ask(now)
        if mine is None:
            self.at(then, self.ask, item, since, tries, True)
            return
        if self.kind.told > now and item == self.kind.items - 1:
            served, wait = False, self.kind.told
        else:
            served, wait = self.server.ask(now, self.random)
        latency = self.kind.latency if served else min(self.kind.latency, 0.03)
        end = now + latency * (0.5 + self.random.chance())
        self.at(end, self.end, item, since, tries, mine, served, wait)

    def end(self, now, item, since, tries, mine, served, wait):
        """The answer of the server has arrived."""
        if served:
            self.server.end()
            self.served, self.last = self.served + 1, now
            self.longest = max(self.longest, now - since)
            self.policy.serve(mine, now)
            if not self.kind.arrive:
                self.at(now + 0.004, self.begin)
            return
        self.refused += 1
        if wait is not None:
            own = wait * (1 + 0.1 * self.random.chance())
        else:
            most = min(30, 2**tries) if self.policy.grows() else 1
            own = most * self.random.chance()
        self.policy.refuse(mine, now, wait, now + own)
        self.at(now + own, self.ask, item, since, tries + 1, False)


# One a line, in the order of those in tests/unit/budget/limits.c.
KINDS = (
    Kind("40 in 5 s", 20, lambda: Window(40, 5), 200, 32, 0.03),
    Kind("100 in 10 s", 190, lambda: Window(100, 10), 2000, 64, 0.03),
    Kind("100 in 10 s, 1,000 at once", 290,
         lambda: Window(100, 10), 3000, 1000, 0.03),
    Kind("60 in 60 s", 540, lambda: Window(60, 60), 600, 200, 0.03),
    Kind("8 at once, 0.2 s each, wait 1", 5,
         lambda: AtOnce(8), 200, 32, 0.2),
    Kind("8 at once, 0.2 s each, no time", 5,
         lambda: AtOnce(8, None), 200, 32, 0.2),
    Kind("4 at once, 1 s each, wait 5", 25, lambda: AtOnce(4, 5), 100, 32, 1),
    Kind("50 a second, burst 10, wait 1", 12,
         lambda: Bucket(50, 10), 600, 32, 0.03),
    Kind("10 a second, burst 5, wait 1", 14.5,
         lambda: Bucket(10, 5), 150, 32, 0.03),
    Kind("10 a second, burst 1, wait 1", 15,
         lambda: Bucket(10, 1), 150, 32, 0.03),
    Kind("10 a second, burst 1, same instant", 15,
         lambda: Bucket(10, 1), 150, 32, 0.01, spread=0.001),
    Kind("10 a second, burst 1, no time", 15,
         lambda: Bucket(10, 1, None), 150, 32, 0.03),
    Kind("10 a second, burst 5, wait 0.1", 14.5,
         lambda: Bucket(10, 5, 0.1), 150, 32, 0.03),
    Kind("10 a second, burst 20, wait 1", 13,
         lambda: Bucket(10, 20), 150, 32, 0.03),
    Kind("2 a second, burst 20, wait 1", 40,
         lambda: Bucket(2, 20), 100, 32, 0.1),
    Kind("sliding 40 in 5 s", 20, lambda: Sliding(40, 5), 200, 32, 0.03),
    Kind("40 in 5 s, says 1", 20, lambda: Window(40, 5, 1), 200, 32, 0.03),
    Kind("40 in 5 s, says 60", 20, lambda: Window(40, 5, 60), 200, 32, 0.03),
    Kind("40 in 5 s, no time", 20,
         lambda: Window(40, 5, None), 200, 32, 0.03),
    Kind("100 in 10 s, no time", 90,
         lambda: Window(100, 10, None), 1000, 64, 0.03),
    Kind("40 in 5 s, refusals lengthen it", 20,
         lambda: Penalty(40, 5), 200, 32, 0.03),
    Kind("40 in 5 s, commands of 1.5 s", 21.5,
         lambda: Window(40, 5), 200, 32, 1.5),
    Kind("40 in 5 s, 4 at once", 20, lambda: Window(40, 5), 200, 4, 0.03),
    Kind("5 of 100 refused, wait 1", 2,
         lambda: Sometimes(0.05), 600, 32, 0.1),
    Kind("5 of 100 refused, wait 10", 11,
         lambda: Sometimes(0.05, 10), 600, 32, 0.1),
    Kind("30 of 100 refused, no time", 3,
         lambda: Sometimes(0.3, None), 600, 32, 0.1),
    Kind("30 of 100 refused, 1 s each, wait 1", 14,
         lambda: Sometimes(0.3), 300, 32, 1),
    Kind("10 of 100 refused, 1 s each, wait 1", 11,
         lambda: Sometimes(0.1), 300, 32, 1),
    Kind("30 of 100 refused, 1 s each, no time", 14,
         lambda: Sometimes(0.3, None), 300, 32, 1),
    Kind("8 at once, 1 s each, no time", 25,
         lambda: AtOnce(8, None), 200, 32, 1),
    Kind("100 a second, burst 100, 2 s each", 20,
         lambda: Bucket(100, 100), 2000, 500, 2),
    Kind("1,000 in 60 s", 180, lambda: Window(1000, 60), 4000, 64, 0.03),
    Kind("10 a second, 600 items", 60, lambda: Bucket(10, 5), 600, 32, 0.03),
    Kind("one of 64 told 120 s, 10 a second", 120,
         lambda: Bucket(10, 5), 300, 64, 0.03, told=120),
    Kind("waits of 1, 2, 3, 5 s or none", 14.5,
         lambda: Bucket(10, 5, 1, 2, 3, 5, None), 150, 32, 0.03),
    Kind("600 s each, 20 at once, no time", 3000,
         lambda: AtOnce(20, None), 100, 100, 600, limit=30000),
    Kind("once a day, refused on the 30th", 60, lambda: Daily(), 40, 1, 0.03,
         arrive=tuple(86400.0 * n for n in range(1, 41)), limit=1e9),
    Kind("once an hour, then 20", 2, lambda: Bucket(10, 1), 68, 1, 0.03,
         arrive=tuple(3600.0 * n for n in range(1, 49)) + (3600 * 48.5,) * 20,
         limit=1e9),
    Kind("1,000 wait at 2 a second, 990 die", 30,
         lambda: Bucket(2, 1), 1000, 1000, 0.03, die=(20, 950)),
    Kind("one item of 200 told 20 s", 20,
         lambda: AtOnce(999), 200, 8, 0.2, told=20),
)


def means(task):
    """The means of so many runs of a kind, as a Run."""
    number, policy, seeds = task
    runs = [Crowd(KINDS[number], policy, seed).run() for seed in range(seeds)]
    return Run(*(sum(column) / seeds for column in zip(*runs)))


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--means", type=int)
    parser.add_argument("kinds", nargs="*")
    options = parser.parse_args()
    policies = (Pace,) if options.means else (Alone, Hold, Pace)
    seeds = options.means or options.seeds
    words = options.kinds or [""]
    numbers = [
        number
        for number, kind in enumerate(KINDS)
        if any(word in kind.name for word in words)
    ]
    tasks = [(n, policy, seeds) for n in numbers for policy in policies]
    with multiprocessing.Pool() as pool:
        results = pool.imap(means, tasks)
        for number in numbers:
            kind = KINDS[number]
            if options.means:
                run = next(results)
                row = f'"{kind.name}", {run.time:.3f}, {run.refused:.2f}'
                print(f"{{ {row} }},")
                continue
            row = f"{kind.name:36}ideal {kind.ideal:6.1f} s"
            for policy in policies:
                run = next(results)
                row += f" | {policy.__name__.lower()} {run.time:6.1f} s"
                row += f" {run.refused:6.0f}"
                if run.lost:
                    row += f" {run.lost:.1f} lost"
            print(f"{row} | {run.looks:.1f} looks", flush=True)


if __name__ == "__main__":
    main()
