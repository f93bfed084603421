#!/usr/bin/env bats
# Covers sys/resolver.
# The names of hosts are found as other programs find them, in a network of the test's
# own whose name server answers in ways that some libcs do not accept.

load helper
load actor

# found NAME [WHY]: retry finds an address of this name, where nobody listens; or it
# says WHY not
found() {
	local url=redis://$1:1
	"${under[@]}" "$RETRY" -B api --budget-dir "$PWD" true
	try status=1 says="fleet '$url': cannot be asked: ${2-no connection: Connection refused}" \
	    --budget-status all --budget-dir "$PWD" --fleet "$url" --fleet-timeout "${timeout-20s}"
}

@test "names are looked up as getent does" {
	local timeout
	need getent
	isolate -m -n
	mkdir etc
	printf '%s\n' 'nameserver 127.0.0.1' 'search example' 'options timeout:2 attempts:2' \
	    >etc/resolv.conf
	printf '%s\n' '127.0.0.1 localhost' '127.0.0.1 Upper.Test' >etc/hosts
	echo 'hosts: files dns' >etc/nsswitch.conf
	cat >server.py <<-'END'
		import fcntl, socket, struct, subprocess, sys, threading
		lo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		fcntl.ioctl(lo, 0x8914, struct.pack("16sH14x", b"lo", 0x41)) # up
		def answer(query, tcp):
		    at, labels = 12, []
		    while query[at]:
		        labels.append(query[at + 1:at + 1 + query[at]].decode())
		        at += 1 + query[at]
		    name = ".".join(labels).lower()
		    v4 = query[at + 1:at + 3] == b"\0\1"
		    code, truncated, known = 0, 0, v4
		    if name == "silent.test":
		        return None
		    if name == "truncated.test" and not tcp:
		        truncated = 0x200
		    elif name not in ("nx.test", "failed.test", "truncated.test", "with.dot.example"):
		        code, known = 3, False # NXDOMAIN
		    elif not v4:
		        code = {"nx.test": 3, "failed.test": 2}.get(name, 0)
		    known = known and not truncated
		    record = b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4\x7f\0\0\1" if known else b""
		    return (query[:2] + struct.pack(">H", 0x8180 | truncated | code) +
		            struct.pack(">4H", 1, known, 0, 0) + query[12:at + 5] + record)
		udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		udp.bind(("127.0.0.1", 53))
		tcp = socket.create_server(("127.0.0.1", 53))
		def datagrams():
		    while True:
		        query, peer = udp.recvfrom(4096)
		        reply = answer(query, False)
		        if reply:
		            udp.sendto(reply, peer)
		def streams():
		    while True:
		        peer, _ = tcp.accept()
		        with peer, peer.makefile("rb") as file:
		            while size := file.read(2):
		                reply = answer(file.read(int.from_bytes(size, "big")), True)
		                peer.sendall(len(reply).to_bytes(2, "big") + reply)
		for serve in datagrams, streams:
		    threading.Thread(target=serve, daemon=True).start()
		sys.exit(subprocess.run(sys.argv[1:]).returncode)
	END
	under=("${isolate[@]}" sh -c 'mount --bind "$0" /etc && exec "$@"' "$PWD/etc" "$PYTHON" -IS
		"$PWD/server.py")
	"${under[@]}" true 2>/dev/null || skip 'no right to have a network of its own here'
	row 'AAAA says NXDOMAIN' found nx.test
	row 'AAAA says SERVFAIL' found failed.test
	row 'the answer is truncated' found truncated.test
	row 'a dotted name and a search list' found with.dot
	row 'another case in /etc/hosts' found upper.test
	row 'no such name' found no.test 'no connection: getent ahosts finds no address'
	timeout=300ms
	row 'no answer' found silent.test 'name not resolved in 300ms'
}
