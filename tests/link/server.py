"""A server that lies, for the tests of the link to a fleet's server:

    python3 server.py FILE MODE...

listens on a free port of 127.0.0.1 for each MODE, writes the ports to FILE, a
line each, and does to each connection what the MODE of its port says, for a
minute at most.

    deaf            takes no connection at all: packets are dropped
    silent          reads, and says nothing
    close           closes it at once
    reset           resets it at once
    bytes           sends a whole answer byte by byte, each after 1 ms
    slow            the same, each after 100 ms
    flood           sends nonsense without end
    more            sends an answer, and more than that
    says:A|B|...    answers the first write with A, the next with B and so on,
                    over all connections; the last one remains. \\r\\n stands for
                    CR LF, which is added at the end, PORT for its own port,
                    ANSWER for a valid answer, and NOW for the time in
                    microseconds
"""

import os
import signal
import socket
import struct
import sys
import threading
import time

ANSWER = "*11\r\n" + "".join(
    f":{n}\r\n" for n in (1, 1, 10, 0, 60000000, 0, 1, 1, 200000, 10, 60000000)
)
SENT = {  # what a mode sends at once, or byte by byte with a pause
    "more": (ANSWER + "+MORE\r\n", 0),
    "bytes": (ANSWER, 0.001),
    "slow": (ANSWER, 0.1),
}
NONSENSE = os.urandom(65536)


def say(client, texts, port):
    while client.recv(65536):
        text = texts[0]
        if len(texts) > 1:
            texts.pop(0)
        text = text.replace("PORT", str(port)).replace(r"\r\n", "\r\n")
        text = text.replace("NOW", str(time.time_ns() // 1000))
        text = text.replace("ANSWER", ANSWER.rstrip())
        client.sendall((text + "\r\n").encode("latin-1"))


def serve(client, name, texts, port):
    try:
        if name == "reset":
            abort = struct.pack("ii", 1, 0)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, abort)
        if name in ("close", "reset"):
            return
        while name == "flood":
            client.sendall(NONSENSE)
        if name == "says":
            say(client, texts, port)
        client.recv(65536)
        text, pause = SENT.get(name, ("", 0))
        for piece in text if pause else [text]:
            client.sendall(piece.encode())
            time.sleep(pause)
        while client.recv(65536):
            pass
    except OSError:
        pass
    finally:
        client.close()


def listen(server, mode, port):
    name, _, rest = mode.partition(":")
    texts = rest.split("|")
    while True:
        client, _ = server.accept()
        threading.Thread(
            target=serve, args=(client, name, texts, port), daemon=True
        ).start()


def main():
    file, *modes = sys.argv[1:]
    signal.alarm(60)
    ports, queue = [], []
    for mode in modes:
        server = socket.socket()
        server.bind(("127.0.0.1", 0))
        server.listen(0 if mode == "deaf" else 100)
        port = server.getsockname()[1]
        ports.append(port)
        if mode == "deaf":
            queue += [server, socket.create_connection(("127.0.0.1", port))]
            continue
        threading.Thread(target=listen, args=(server, mode, port), daemon=True).start()
    with open(file + ".new", "w", encoding="ascii") as out:
        print(*ports, sep="\n", file=out)
    os.rename(file + ".new", file)
    signal.pause()


main()
