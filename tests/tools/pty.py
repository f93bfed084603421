"""Runs COMMAND on a terminal of its own, as the leader of its session, and
plays the person at the keyboard:

    python3 pty.py [STEP]... -- COMMAND [ARG]...

Steps are done in order:

    see:TEXT     read on until TEXT has come (after what was seen before)
    next:TEXT    the same, but what was seen last must not come again first
    type:TEXT    type it; ^C ^Z ^\\ ^D and ^M stand for those keys
    size:ROWSxCOLUMNS
                 make the window that large
    exists:FILE  wait until there is such a file
    more:SECONDS
                 let what is on its way come, at least that long
    hangup       close the line

Then the rest is read until COMMAND ends. Everything that came is printed, and
the status is COMMAND's, as a shell has it. A step that takes 20 seconds is
given up: the line is closed, COMMAND killed, and the status is 99.
"""

import fcntl
import os
import select
import signal
import struct
import sys
import termios
import time

PATIENCE = 20


class Terminal:
    def __init__(self, command):
        self.came = b""
        self.seen = 0
        self.last = b""
        self.status = 0
        self.pid, self.line = os.forkpty()
        if self.pid == 0:
            for number in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            try:
                os.execvp(command[0], command)
            finally:
                os._exit(99)

    def read(self, patience):
        """Whether there is any hope of more."""
        if self.line < 0:
            return False
        if select.select([self.line], [], [], patience)[0]:
            try:
                some = os.read(self.line, 65536)
            except OSError:  # nobody holds the other side any more
                return False
            self.came += some
            return some != b""
        return True

    def until(self, what, done):
        end = time.monotonic() + PATIENCE
        while not done():
            hope = self.read(0.01)
            if done():
                break
            if not hope or time.monotonic() > end:
                raise TimeoutError("pty: never came: " + what)

    def see(self, text, unless=b"\0"):
        wanted = text.encode()
        self.until(
            text,
            lambda: wanted in self.came[self.seen:]
            or unless in self.came[self.seen:],
        )
        at = self.came.find(wanted, self.seen)
        if at < 0:
            raise TimeoutError("pty: came too late: " + text)
        self.seen = at + len(wanted)
        self.last = wanted

    def next(self, text):
        self.see(text, self.last)

    def type(self, text):
        keys, *rest = text.split("^")
        for part in rest:
            if part[:1].isupper() or part[:1] == "\\":
                keys += chr(ord(part[0]) & 31) + part[1:]
            else:
                keys += "^" + part
        # A moment, as a person takes: a shell that takes its terminal back
        # has been seen to lose what was typed ahead.
        self.more(0.05)
        os.write(self.line, keys.encode())

    def size(self, text):
        rows, columns = map(int, text.split("x"))
        fcntl.ioctl(
            self.line,
            termios.TIOCSWINSZ,
            struct.pack("HHHH", rows, columns, 0, 0),
        )

    def exists(self, name):
        end = time.monotonic() + PATIENCE
        while not os.path.exists(name):
            if not self.read(0.01):
                time.sleep(0.01)  # it need not have the terminal to be alive
            if self.over() or time.monotonic() > end:
                raise TimeoutError("pty: never made: " + name)

    def more(self, seconds):
        end = time.monotonic() + float(seconds)
        while time.monotonic() < end and self.read(0.01):
            pass

    def hangup(self, _):
        os.close(self.line)
        self.line = -1

    def over(self):
        """Whether COMMAND has ended; self.status then tells how."""
        if self.pid:
            pid, self.status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
        return self.pid == 0

    def end(self):
        """The status of COMMAND, once it has ended."""
        until = time.monotonic() + PATIENCE
        while True:
            hope = self.read(0.01)
            if self.over():
                break
            if time.monotonic() > until:
                raise TimeoutError("pty: the command did not end")
            if not hope:
                time.sleep(0.01)
        self.more(0.05)
        if os.WIFSIGNALED(self.status):
            return 128 + os.WTERMSIG(self.status)
        return os.WEXITSTATUS(self.status)

    def give_up(self):
        if self.line >= 0:
            self.hangup("")
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


def main(words):
    between = words.index("--")
    terminal = Terminal(words[between + 1:])
    status = 99
    try:
        for step in words[:between]:
            verb, _, argument = step.partition(":")
            getattr(terminal, verb)(argument)
        status = terminal.end()
    except TimeoutError as late:
        print(late, file=sys.stderr)
        terminal.give_up()
    sys.stdout.buffer.write(terminal.came.replace(b"\r\n", b"\n"))
    return status


sys.exit(main(sys.argv[1:]))
