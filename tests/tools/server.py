"""A web server for the tests, on the loopback interface, for ten minutes at most:

    python3 server.py FILE

writes its process ID, its port and a port that refuses connections to FILE. The
line "FRESH LOG", instead of a request, has it forget all requests and write the
next ones to LOG.

What it answers is written in the path. /503/503/200 is 503 for the first two
requests and 200 for all that follow; a query, /503/200?b, makes it a script of
its own. After the code, and %-encoded where it has to be:

    503;Retry-After=1       a header field
    200;cut                 the connection ends within the body
    200;drop                it ends before any answer
    200;body=some           the body, which else is "answer 2" to request 2
    200;long                70,000 bytes of header fields behind the others

Each request is one line of LOG before it is answered: method, target and header
fields, with tabs between them.
"""

import os
import signal
import socket
import sys
import threading
import urllib.parse

LIFETIME = 600


def answer(step, number):
    """The bytes that a step of a script stands for."""
    code, *rest = map(urllib.parse.unquote, step.split(";"))
    body, fields = f"answer {number}\n", ["Connection: close"]
    for item in rest:
        name, equals, value = item.partition("=")
        if name == "body":
            body = value
        elif equals:
            fields.append(f"{name}: {value}")
    if "drop" in rest:
        return b""
    if "long" in rest:
        fields += [f"X-{i}: ".ljust(698, "a") for i in range(100)]
    length = len(body) + (99 if "cut" in rest else 0)
    head = [f"HTTP/1.1 {code} Answer", *fields, f"Content-Length: {length}"]
    return ("\r\n".join(head) + "\r\n\r\n" + body).encode()


def bound():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    return listener


class Server:
    def __init__(self):
        self.lock = threading.Lock()
        self.main, self.closed = bound(), bound()
        self.main.listen(64)
        self.log = None

    def fresh(self, log):
        with self.lock:
            if self.log:
                self.log.close()
            self.log = open(log, "a", buffering=1, encoding="latin-1")
            self.asked = {}

    def serve(self):
        while True:
            connection, _ = self.main.accept()
            threading.Thread(
                target=self.talk, args=(connection,), daemon=True).start()

    def talk(self, connection):
        with connection, connection.makefile("rb") as stream:
            request = stream.readline().decode("latin-1").split()
            if len(request) < 2:
                return
            if request[0] == "FRESH":
                self.fresh(request[1])
                connection.sendall(b"\n")
                return
            fields = []
            for line in stream:
                if not line.strip():
                    break
                fields.append(line.decode("latin-1").strip())
            for field in fields:
                if field.lower().startswith("content-length:"):
                    stream.read(int(field.split(":")[1]))
            connection.sendall(self.reply(*request[:2], fields))

    def reply(self, method, target, fields):
        with self.lock:
            self.log.write("\t".join([method, target, *fields]) + "\n")
            number = self.asked.get(target, 0) + 1
            self.asked[target] = number
        steps = target.partition("?")[0].strip("/").split("/")
        return answer(steps[min(number, len(steps)) - 1], number)


def main():
    signal.alarm(LIFETIME)
    file = sys.argv[1]
    server = Server()
    ports = [str(end.getsockname()[1]) for end in (server.main, server.closed)]
    with open(file + ".new", "w") as new:
        print(os.getpid(), *ports, file=new)
    os.rename(file + ".new", file)
    server.serve()


main()
