#!/bin/sh
# wait-on and wait-port wait for a TCP port of the loopback at which nobody listens, which
# is among the ports that the kernel gives to connections: 40000 of 40000 and 40001, in a
# network namespace, so that it happens at once. Of the usual 28,232 ports it is the same
# one once in some ten thousand tries.
#
# Seen with wait-on 9.5.1 and wait-port 1.1.0, Node.js 20, Linux 6: both say that the port
# is open, and end with 0. Their connection got the port itself as its own, and TCP
# connects the two (simultaneous open, RFC 9293, section 3.5): it is connected to itself.
# For port 41000, which no connection gets, they wait until their time is over.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts \
	wait-on@9.5.1 wait-port@1.1.0 >/dev/null
cat >alone.py <<'END'
import fcntl
import os
import socket
import struct
import sys

with socket.socket() as one:  # the loopback interface is up: SIOCSIFFLAGS
    fcntl.ioctl(one, 0x8914, struct.pack("16sh14x", b"lo", 0x1043))
with open("/proc/sys/net/ipv4/ip_local_port_range", "w") as file:
    file.write("40000 40001")
os.execvp(sys.argv[1], sys.argv[1:])
END
cat >wait.sh <<'END'
for port in 40000 41000; do
	status=0
	node_modules/.bin/wait-on -t 3000 -i 50 tcp:127.0.0.1:$port >/dev/null 2>&1 || status=$?
	echo "wait-on $port: status $status"
	status=0
	node_modules/.bin/wait-port -t 3000 127.0.0.1:$port >/dev/null 2>&1 || status=$?
	echo "wait-port $port: status $status"
done
END
unshare -rn python3 alone.py sh wait.sh >seen
cat seen
diff seen - <<'END'
wait-on 40000: status 0
wait-port 40000: status 0
wait-on 41000: status 1
wait-port 41000: status 1
END
