#!/bin/sh
# curl -Z -D heads A B: two servers on the loopback answer 503 at the same time, and
# pause between the lines of their heads. B alone sends Retry-After.
#
# Seen with curl 8.14.1 of Debian 13: heads has the lines of both heads in the order in
# which they came, so the file begins with two status lines, and which of the servers
# asks to wait cannot be told.
set -eu
dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir"
mmdebstrap --quiet --variant=extract --include=curl trixie root \
	--aptopt='Acquire::Check-Valid-Until "false"'
# The root is not set up: its loader starts the program.
lib=root/usr/lib/$(uname -m)-linux-gnu
loader=$(echo "$lib"/ld-linux-*)
curl() {
	"$loader" --library-path "$lib" root/usr/bin/curl -q "$@"
}
curl --version | sed -n 's/^\(curl [0-9.]*\) .*/\1/p' >seen

# B sends its first line after the first one of A, and each a line in turn from there.
cat >server.py <<'END'
import socket
import time

listeners = [socket.create_server(("127.0.0.1", 0)) for _ in "AB"]
print(*(listener.getsockname()[1] for listener in listeners), flush=True)
clients = [listener.accept()[0] for listener in listeners]
for client in clients:
    client.recv(4096)
for lines in (
    ["HTTP/1.1 503 A", "HTTP/1.1 503 B"],
    ["Server: A", "Server: B"],
    ["Date: Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After: 9"],
    ["Content-Length: 0", "Content-Length: 0"],
    ["", ""],
):
    for client, line in zip(clients, lines):
        client.sendall(line.encode() + b"\r\n")
        time.sleep(0.3)
END
mkfifo pipe
python3 server.py >pipe &
server=$!
read -r a b <pipe
status=0
curl -sS -Z -D heads "http://127.0.0.1:$a/" "http://127.0.0.1:$b/" || status=$?
{
	echo "curl: status $status"
	tr -d '\r' <heads
} >>seen
cat seen
diff seen - <<'END'
curl 8.14.1
curl: status 0
HTTP/1.1 503 A
HTTP/1.1 503 B
Server: A
Server: B
Date: Sun, 06 Nov 1994 08:49:37 GMT
Retry-After: 9
Content-Length: 0
Content-Length: 0


END
