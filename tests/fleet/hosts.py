"""make fleet: 64 processes on each of 8 hosts share the budget of a fleet.

    python3 hosts.py RETRY SERVER SECONDS

A host is a directory of budgets. Processes are killed, stopped and continued at
random, all the time. The observer stands between them and the server: it passes
everything on, and notes each question and each answer. Then it checks every
window that ends with a grant:

    retries granted that have not succeeded
        <= max(min, ratio * successes in the window that were told)

A retry of which the server was told in the window that it succeeded counts as one
of the window.

Each host connects to the observer by a socket of its own. So the observer also
checks the retries that each host has made, in every window that ends with one:

    retries made <= retries granted to the host + retries that it may make alone

First the server runs all the time. Then it is killed and restarted, empty: each
of its lives has a minimum of its own.

A retry may begin later than it was granted, because its process was stopped: so
the grants of one window more count, and the share of three windows for retries
made alone.
"""

import asyncio
import bisect
import contextlib
import functools
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HOSTS, PROCESSES = 8, 64
WINDOW, MIN, RATIO, ALONE = 5, 1000, 0.2, 2
LIFE = 3  # seconds of a server that is killed
PAUSE = 0.03  # between two signals
ENOUGH = 10000  # grants
BLUR = 20000  # /proc/uptime has hundredths of a second
CUT = OSError, asyncio.IncompleteReadError  # how a connection ends

# Writes the number of its attempt, and the time, in one write. Two of three fail.
LOOP = 'until [ -e "$0" ]; do "$@"; done 2>/dev/null'
COMMAND = 'read -r now _ </proc/uptime; echo "$RETRY_ATTEMPT $now" >>"$1"; '
COMMAND += '[ $(($$ % 3)) -eq 0 ]'


class Observer:
    """Passes connections on, and notes what is asked and answered."""

    def __init__(self, front, back):
        self.front, self.back = front, back
        self.grants, self.successes, self.rescued, self.calls = [], [], [], 0
        self.tasks = set()  # asyncio itself has weak references only

    async def serve(self, pipe):
        for host in range(HOSTS):
            await asyncio.start_unix_server(
                functools.partial(self.connect, host), f"{self.front}{host}", backlog=2000
            )
        pipe.send("ready")
        await asyncio.get_running_loop().run_in_executor(None, pipe.recv)
        pipe.send((self.calls, self.grants, *self.check()))
        os._exit(0)

    async def connect(self, host, reader, writer):
        self.tasks.add(asyncio.current_task())
        questions = []
        with contextlib.suppress(OSError):
            life = os.stat(self.back).st_mtime_ns
            answers, requests = await asyncio.open_unix_connection(self.back)
            await asyncio.gather(
                self.ask(reader, requests, questions),
                self.answer(answers, writer, questions, (life, host)),
            )
            requests.close()
        writer.close()
        self.tasks.discard(asyncio.current_task())

    async def ask(self, reader, requests, questions):
        with contextlib.suppress(*CUT):
            while line := await reader.readline():
                words, raw = [], [line]
                for _ in range(int(line[1:])):
                    size = await reader.readline()
                    words.append(await reader.readexactly(int(size[1:]) + 2))
                    raw += size, words[-1]
                if words[0].startswith(b"EVAL"):
                    questions.append([int(word.strip() or 0) for word in words[4:]])
                requests.write(b"".join(raw))
                await requests.drain()
        # What was sent still has to arrive, and its answer has to be read.
        with contextlib.suppress(OSError):
            requests.write_eof()

    async def answer(self, answers, writer, questions, origin):
        with contextlib.suppress(*CUT):
            while line := await answers.readline():
                raw, numbers = [line], []
                if line[:1] == b"*":
                    for _ in range(int(line[1:])):
                        raw.append(await answers.readline())
                        numbers.append(int(raw[-1][1:]))
                if questions:
                    self.note(questions.pop(0), numbers, *origin)
                writer.write(b"".join(raw))
                await writer.drain()

    def note(self, question, numbers, life, host):
        self.calls += 1
        if len(numbers) != 12 or numbers[0] == 3:
            return
        code, granted, instant = numbers[0], numbers[1], numbers[7]
        by, rows = question[4], question[7:]
        if granted > 0 and code == 1:
            self.grants.append((life, instant, granted, host))
        for age, successes, rescued in zip(rows[::4], rows[1::4], rows[3::4]):
            self.successes.append((life, by - age, successes))
            self.rescued.append((life, instant, rescued))

    def check(self):
        """Returns how often the server lived, how many windows have too many
        retries, and how full the fullest one is."""
        wrong, fullest = 0, 0
        lives = {grant[0] for grant in self.grants}
        for life in lives:
            grants = sums([g for g in self.grants if g[0] == life])
            told = sums([s for s in self.successes if s[0] == life])
            rescued = sums([r for r in self.rescued if r[0] == life])
            for instant in grants[0]:
                start = instant - WINDOW * 1000000
                limit = max(MIN, RATIO * within(told, start, instant))
                made = within(grants, start, instant) - within(rescued, start, instant)
                wrong += made > limit
                fullest = max(fullest, made / limit)
        return len(lives), wrong, fullest


def sums(events):
    """The instants, in order, and the sums of the numbers before each."""
    events = sorted((instant, number) for _, instant, number, *_ in events)
    totals = [0]
    for _, number in events:
        totals.append(totals[-1] + number)
    return [instant for instant, _ in events], totals


def within(events, start, end):
    instants, totals = events
    return (
        totals[bisect.bisect_right(instants, end)]
        - totals[bisect.bisect_right(instants, start)]
    )


class Load:
    """Runs retry on all hosts, and disturbs it."""

    def __init__(self, retry, front, folder):
        self.folder, self.shells = folder, []
        for host in range(HOSTS):
            place = f"{folder}/host{host}"
            os.mkdir(place)
            options = (
                f"-q -n 20 -d 0.1 -B api --budget-wait 3s --budget-min 1000000 "
                f"--budget-window {WINDOW}s --budget-dir {place} --fleet-timeout 1s "
                f"--fleet-min {MIN} --fleet-ratio {RATIO} --fleet-alone {ALONE} "
                f"--fleet unix://{front}{host}"
            ).split()
            loop = ["nice", "sh", "-c", LOOP, f"{folder}/over", retry, *options]
            loop += ["--", "sh", "-c", COMMAND, "sh", f"{place}/log"]
            for _ in range(PROCESSES):
                self.shells.append(subprocess.Popen(loop, stdin=subprocess.DEVNULL))

    def disturb(self, seconds):
        """Kills and stops processes for so long; all go on at the end."""
        end, stopped = time.time() + seconds, []
        while time.time() < end or stopped:
            time.sleep(PAUSE)
            now = time.time()
            for entry in [s for s in stopped if s[0] < now]:
                send(entry[1], signal.SIGCONT)
                os.close(entry[1])
                stopped.remove(entry)
            child = child_of(random.choice(self.shells).pid)
            if child is not None and now < end:
                send(child, random.choice([signal.SIGKILL, signal.SIGSTOP]))
                stopped.append((now + random.random() * 2, child))

    def end(self):
        with open(f"{self.folder}/over", "w", encoding="ascii"):
            pass
        while living := [shell for shell in self.shells if shell.poll() is None]:
            for child in filter(None, (child_of(shell.pid) for shell in living)):
                send(child, signal.SIGTERM)
                os.close(child)
            time.sleep(0.1)

    def retries(self):
        """When each host made its retries, in microseconds of the server's clock:
        attempts that were no first ones."""
        with open("/proc/uptime", encoding="ascii") as uptime:
            boot = time.time() - float(uptime.read().split()[0])
        for host in range(HOSTS):
            with open(f"{self.folder}/host{host}/log", encoding="ascii") as log:
                attempts = [line.split() for line in log]
            yield sorted(
                int((boot + float(now)) * 1000000) for number, now in attempts if number != "1"
            )


def excess(made, grants):
    """How many windows of a host have more retries than were granted to it, and
    than it may make alone."""
    granted = sums(grants)
    wrong = 0
    for index, instant in enumerate(made):
        start = instant - WINDOW * 1000000
        retries = index + 1 - bisect.bisect_right(made, start)
        most = within(granted, start - WINDOW * 1000000, instant + BLUR) + 3 * ALONE
        wrong += retries > most
    return wrong


def child_of(pid):
    """A descriptor of the process that a shell runs just now, or None."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
            child = int(children.read().split()[0])
        return os.pidfd_open(child)
    except (OSError, IndexError):
        return None


def send(child, number):
    with contextlib.suppress(OSError):
        signal.pidfd_send_signal(child, number)


def start_server(program, folder):
    words = [program, "--port", "0", "--unixsocket", f"{folder}/server"]
    words += ["--save", "", "--appendonly", "no", "--dir", folder, "--maxclients", "4000"]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    while not os.path.exists(f"{folder}/server"):
        time.sleep(0.01)
    return server


def hammer(retry, program, seconds, kills):
    folder = tempfile.mkdtemp()
    observer = Observer(f"{folder}/front", f"{folder}/server")
    pipe, end = multiprocessing.Pipe()
    multiprocessing.Process(
        target=lambda: asyncio.run(observer.serve(end)), daemon=True
    ).start()
    server = start_server(program, folder)
    pipe.recv()
    load = Load(retry, f"{folder}/front", folder)
    for _ in range(0, seconds, LIFE):
        load.disturb(LIFE)
        if kills:
            server.kill()
            server.wait()
            os.unlink(f"{folder}/server")
            server = start_server(program, folder)
    load.end()
    pipe.send("end")
    calls, grants, lives, wrong, fullest = pipe.recv()
    server.kill()
    server.wait()
    granted = sum(grant[2] for grant in grants)
    made, more = 0, 0
    for host, retries in enumerate(load.retries()):
        made += len(retries)
        more += excess(retries, [grant for grant in grants if grant[3] == host])
    alone = HOSTS * ALONE * (seconds // WINDOW + 3)
    print(
        f"fleet: {lives} lives of the server, {calls} questions, {granted} retries "
        f"granted, {made} made, {wrong} windows violated, fullest to {fullest:.0%}; "
        f"{more} windows of a host with more retries than it had"
    )
    shutil.rmtree(folder)
    right = wrong == 0 and more == 0 and made <= granted + alone and fullest > 0.9
    return granted, right


def main():
    retry, program, seconds = os.path.abspath(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    granted, right = hammer(retry, program, seconds, False)
    _, also = hammer(retry, program, seconds // 2, True)
    if granted < ENOUGH:
        print(f"fleet: too few retries: less than {ENOUGH}")
    sys.exit(0 if right and also and granted >= ENOUGH else 1)


main()
