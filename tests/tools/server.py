"""A web server for the tests, on the loopback interface, for ten minutes at most:

    python3 server.py FILE

writes its process ID and its port to FILE. The line "FRESH LOG", instead of a
request, has it forget all requests and write the next ones to LOG; it answers
with a port that refuses connections until somebody asks the first one for
/listen.

What it answers is written in the path. /503/503/200 is 503 for the first two
requests and 200 for all that follow; a query, /503/200?b, makes it a script of
its own. After the code, and %-encoded where it has to be:

    503;Retry-After=1       a header field
    503;Retry-After=@imf+2  with a date in two seconds; @rfc850, @asctime and
                            @unix are the other ways to write it
    503;early=103           an interim response comes first
    200;cut                 the connection ends within the body
    200;drop                it ends before any answer
    200;chunked             the body's length is not told before
    200;gzip                it is compressed
    200;open                it is not told at all: the connection ends
    503;flood=70            so many header lines of a thousand bytes come last
    200;body=some           the body, which else is "answer 2" to request 2

Each request is one line of LOG before it is answered: milliseconds of a clock
that never steps, method, target and header fields, with tabs between them.
"""

import gzip
import os
import re
import signal
import socket
import sys
import threading
import time
import urllib.parse

LIFETIME = 600

DATES = {
    "imf": "%a, %d %b %Y %H:%M:%S GMT",
    "rfc850": "%A, %d-%b-%y %H:%M:%S GMT",
    "asctime": "%a %b %e %H:%M:%S %Y",
}


def with_dates(value, now):
    def date(match):
        moment = int(now) + int(match[2])
        if match[1] == "unix":
            return str(moment)
        return time.strftime(DATES[match[1]], time.gmtime(moment))

    return re.sub(r"@(\w+)([+-]\d+)", date, value)


def answer(step, number):
    """The bytes that a step of a script stands for."""
    code, *rest = map(urllib.parse.unquote, step.split(";"))
    now = time.time()
    body = f"answer {number}\n"
    fields = {"Date": with_dates("@imf+0", now), "Connection": "close"}
    words = set()
    before, after = "", ""
    for item in rest:
        name, equals, value = item.partition("=")
        if name == "early":
            before += f"HTTP/1.1 {value} Early\r\nRetry-After: 99\r\n\r\n"
        elif name == "flood":
            after = f"X-Flood: {'x' * 989}\r\n" * int(value)
        elif name == "body":
            body = value
        elif equals and name == "Retry-After" and name in fields:
            fields[name] += f"\r\n{name}: {with_dates(value, now)}"
        elif equals:
            fields[name.title()] = with_dates(value, now)
        else:
            words.add(name)
    if "drop" in words:
        return b""
    body = body.encode()
    if "gzip" in words:
        body = gzip.compress(body, mtime=0)
        fields["Content-Encoding"] = "gzip"
    if "chunked" in words:
        fields["Transfer-Encoding"] = "chunked"
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    elif "open" not in words:
        fields["Content-Length"] = len(body) + (99 if "cut" in words else 0)
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    head = f"{before}HTTP/1.1 {code} Answer\r\n{lines}{after}\r\n"
    return head.encode() + body


def bound():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    return listener


class Server:
    def __init__(self):
        self.lock = threading.Lock()
        self.main, self.later = bound(), None
        self.main.listen(64)

    def fresh(self, log):
        with self.lock:
            if self.later:
                os.close(self.log)
                self.later.close()
            self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            self.asked = {}
            self.later = bound()
            return self.later.getsockname()[1]

    def serve(self, listener):
        while True:
            connection, _ = listener.accept()
            self.spawn(self.talk, connection)

    def spawn(self, run, argument):
        threading.Thread(target=run, args=(argument,), daemon=True).start()

    def talk(self, connection):
        with connection, connection.makefile("rb") as stream:
            request = stream.readline().decode("latin-1").split()
            if len(request) < 2:
                return
            method, target = request[:2]
            if method == "FRESH":
                connection.sendall(f"{self.fresh(target)}\n".encode())
                return
            fields = []
            for line in stream:
                if not line.strip():
                    break
                fields.append(line.decode("latin-1").strip())
            for field in fields:
                if field.lower().startswith("content-length:"):
                    stream.read(int(field.split(":")[1]))
            reply = self.reply(method, target, fields)
            if method == "HEAD":
                reply = reply.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
            connection.sendall(reply)

    def reply(self, method, target, fields):
        if target == "/listen":
            self.later.listen(64)
            self.spawn(self.serve, self.later)
            return answer("200", 1)
        with self.lock:
            when = str(int(time.monotonic() * 1000))
            line = "\t".join([when, method, target, *fields]) + "\n"
            os.write(self.log, line.encode("latin-1"))
            number = self.asked.get(target, 0) + 1
            self.asked[target] = number
        steps = target.partition("?")[0].strip("/").split("/")
        return answer(steps[min(number, len(steps)) - 1], number)


def main():
    signal.alarm(LIFETIME)
    file = sys.argv[1]
    server = Server()
    with open(file + ".new", "w") as new:
        new.write(f"{os.getpid()} {server.main.getsockname()[1]}\n")
    os.rename(file + ".new", file)
    server.serve(server.main)


main()
