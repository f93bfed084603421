"""Passes standard input on to a socket of Unix, and what comes back to standard
output: a transport as --fleet-via has it."""

import os
import select
import socket
import sys

server = socket.socket(socket.AF_UNIX)
server.connect(sys.argv[1])
while True:
    for ready in select.select([0, server], [], [])[0]:
        data = os.read(0, 4096) if ready == 0 else server.recv(4096)
        if not data:
            sys.exit()
        if ready == 0:
            server.sendall(data)
        else:
            os.write(1, data)
