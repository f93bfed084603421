#!/usr/bin/env bats
# Covers arrival, attempt/lookout, cli/options, policy/target.
# What -w waits for by itself: ports, sockets, files and pages.
# shellcheck disable=SC2016,SC2034 # the rows and the commands' shells expand

load helper
load actor

setup() {
	helper_setup
	unset {http,https,all}_proxy {HTTPS,ALL}_PROXY CI
	export TERM=xterm
}

# serve KIND [STATUS...]: a server on $port, or at ./socket
#	port, socket	listens from the moment on when there is ./go
#	full, fullunix	listens, but its queue is full until there is ./go
#	page		answers with these, one after another; the last one stays; what it
#			was asked is in ./asked. Words in place of a status are the answer
serve() {
	rm -f place
	start "$PYTHON" -IS -c '
import os, signal, socket, struct, sys, time
signal.alarm(90)
kind, answers = sys.argv[1], sys.argv[2:]
def wait():
    while not os.path.exists("go"):
        time.sleep(0.02)
local = kind in ("socket", "fullunix")
server = socket.socket(socket.AF_UNIX if local else socket.AF_INET)
server.bind("socket" if local else ("127.0.0.1", 0))
full = []
if kind in ("full", "fullunix"):
    server.listen(0)
    for i in range(4):
        full.append(socket.socket(server.family))
        full[-1].setblocking(False)
        full[-1].connect_ex(server.getsockname())
if kind == "page":
    server.listen(8)
with open("new", "w") as new:
    new.write("%s\n" % ("-" if local else server.getsockname()[1]))
os.rename("new", "place")
if kind != "page":
    wait()
if kind in ("port", "socket"):
    server.listen(8)
if full:
    for one in full:
        one.close()
def serve(peer):
    if kind != "page":
        return
    asked = b""
    while b"\r\n\r\n" not in asked:
        more = peer.recv(4096)
        if not more:
            break
        asked += more
    with open("asked", "ab") as file:
        file.write(asked)
    answer = answers.pop(0) if len(answers) > 1 else answers[0]
    if answer.isdigit():
        answer = "HTTP/1.1 %s Fine\\r\\nContent-Length: 0\\r\\n\\r\\n" % answer
    answer = answer.encode().decode("unicode_escape").encode()
    if answer == b"reset":
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return
    if answer == b"hang":
        full.append(peer.dup())
        return
    # A status line may come in pieces.
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for at in range(0, len(answer), 9):
        peer.sendall(answer[at:at + 9])
while True:
    peer, _ = server.accept()
    try:
        serve(peer)
    except OSError:
        pass # who has the status reads no more
    peer.close()
' "$@"
	wait_for test -e place
	read -r port <place
}

# comes KIND TARGET: a target, whose place is served so, is missing until there is
# ./go, and then it is there
comes() {
	[ "$1" = file ] || serve "$1"
	eval "target=$2"
	try status=124 says="missing: $target: *" -w 0.5 "$target"
	start "$RETRY" -v -w 40 "$target"
	touch go
	ended 0
	has "retry: $target: there after " err
	has 'retry: ended in ' err
}

@test "a target is missing until its port or socket accepts a connection, or its file exists" {
	beside 'a port' comes port 'tcp:127.0.0.1:$port'
	beside 'a port as a URL, by a name of two addresses' comes port 'tcp://localhost:$port'
	beside 'a full queue of a port' comes full 'tcp:127.0.0.1:$port'
	beside 'a socket' comes socket 'unix:$PWD/socket'
	beside 'a socket as a URL' comes socket 'unix://$PWD/socket'
	beside 'a socket by a relative path' comes socket 'unix:socket'
	beside 'a full queue of a socket' comes fullunix 'unix:socket'
	beside 'a file' comes file 'file:$PWD/go'
	beside 'a file as a URL' comes file 'file://$PWD/go'
	beside 'a file by a relative path' comes file 'file:go'
}

# page STATUS WHY ANSWER...: a page that answers so is waited for with this result
page() {
	rm -f asked
	serve page "${@:3}"
	if [ "$1" = 0 ]; then
		try says= -w 60 -d 0.02 "http://127.0.0.1:$port/a?b#c" || return
	else
		try status="$1" says="missing: http://127.0.0.1:$port: $2" \
		    -w 1.5 -d 0.1 -t 1 "http://127.0.0.1:$port" || return
	fi
	printf '%s\r\n' "GET /${1/#0/a?b} HTTP/1.1" "Host: 127.0.0.1:$port" |
		sed "s/^GET \/124/GET \//" >wanted
	cmp -n "$(stat -c %s wanted)" wanted asked && has $'\r\nConnection: close\r\n' asked &&
		not has '#' asked
}

@test "a page is there when it answers with 2xx or 3xx to GET" {
	table page <<-'END'
		0 '' 200
		0 '' 204
		0 '' 302
		0 '' 503 404 500 399
		0 '' '' hang-up 'HTTP/1.0 200\n'
		0 '' 'HTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 Fine\r\n\r\n'
		124 'HTTP 503' 503
		124 'HTTP 404' 404
		124 'HTTP 400' 400
		124 'no answer' hang
		124 'no answer of HTTP' 'SSH-2.0-x\r\nHTTP/1.1 200 x\r\n'
		124 'no answer of HTTP' 'HTTP/1.1 100 Continue\r\n\r\n'
		124 'no answer of HTTP' 'HTTP/1.1 2000 OK\r\n\r\n'
		124 'Connection reset by peer' reset
		124 'no answer of HTTP' ''
		124 'HTTP 500' 'HTTP/1.1 500 x\r\n\r\nHTTP/1.1 200 x\r\n'
	END
}

@test "words that are no targets are refused with a hint, and are commands behind -- or without -w" {
	printf '%s\n' '#!/bin/sh' 'echo ran' >tcp:x:1
	cp tcp:x:1 prog
	chmod +x tcp:x:1 prog
	PATH=$PWD:$PATH
	none='no target (tcp:HOST:PORT, unix:, file:, http:), and no -- before it'
	table <<-'END'
		refused "--wait: $none: 'db:5432'" -w 9 tcp:db:1 db:5432
		refused "--wait: $none: 'prog'" -w 9 file:/ prog
		refused "--wait: not a port from 1 to 65535: 'tcp:db:65536'" -w 9 tcp:db:65536
		refused "--wait: no valid host; an IPv6 address has brackets: 'tcp:db..svc:1'" -w 9 tcp:db..svc:1
		refused "--wait: no path: 'file:'" -w 9 file:
		refused "--wait: a host; a path has three slashes before it: 'file://host/x'" -w 9 file://host/x
		refused "--wait: a user: '***'" -w 9 http://bob:secret@app/
		refused "--wait: a blank or a control character; write %20: 'http://app/\x1b[1m'" -w 9 $'http://app/\e[1m'
		refused "--wait: no TLS; use retry -w 60 -- curl -fsS -o /dev/null 'https://app/x': 'https://app/x'" -w 9 https://app/x
		refused "--wait: a path of more than 107 bytes: 'unix:/$(printf '%0107d' 0)'" -w 9 "unix:/$(printf '%0107d' 0)"
		refused "--wait: more than 64 targets: 'file:/65'" -w 9 $(printf 'file:/%d ' {1..65})
		refused "no command given" -w 9 file:/ --
		try status=127 says="cannot run 'db:5432': *|did you mean -w 60 tcp:db:5432?" -w 9 db:5432
		try status=127 says="cannot run 'tcp://db:5432': *|did you mean -w 60 tcp://db:5432, without --?" tcp://db:5432
		try out=ran -w 9 -- tcp:x:1
		try out=ran tcp:x:1
		try out=ran -w 9 ./tcp:x:1
		try out=ran -w 9 prog file:/none
		try out=tcp:x:1 -w 9 echo tcp:x:1
		try status=127 -w 9 --label -- --  tcp:db:1
	END
	also=(file:/)
	table refused <<-'END'
		'--budget: not with targets' -w 9 -B api
		'--nested: not with targets' -w 9 --nested once
		'--fleet: not with targets' -w 9 --fleet redis://cache
		'--http: not with targets' -w 9 --http
		'--idempotency-key: not with targets' -w 9 --idempotency-key secret
		'--hold-stdout: not with targets' -O -w 9
		'--hold-stderr: not with targets' -E -w 9
		'--auto: not with targets' -aw9
		'--stop-on: not with targets' -w 9 --stop-on 1
		'--attempts: not with targets' -w 9 -n 3
		'--consecutive: not with targets' -w 9 --consecutive 2
		'--on-retry: not with targets' -w 9 --on-retry true
		'--splay: not with targets' -w 9 --splay 1
		'--signal: not with targets' -w 9 -s INT
	END
}

@test "what does not apply to targets is ignored in policies and variables" {
	printf '%s\n' budget=api budget-required budget-dir=/none budget-wait=3 rate=1/h breaker=on \
		fleet=redis://none.invalid http chronic stop-on=1 preset=curl,git attempts=1 \
		consecutive=3 on-retry='touch ran' retry-if='touch ran' splay=50 idle-timeout=1ms \
		method=POST idempotency-key=x hold-max=1 limit=0:fail no-quiet label=ci wait=30 >some.conf
	export RETRY_BUDGET=api RETRY_NESTED=once RETRY_FLEET=redis://none.invalid
	table <<-'END'
		with RETRY_POLICY=./some.conf try says='ci: file:/: there after *|ci: ended in *' -v file:/
		try says='ci: missing: file:/none: *' status=124 --policy ./some.conf -w 0.3 file:/none
		try says='' -v -q -w 9 file:/
		try says='*there after*' -q -v -w 9 file:/
	END
	[ ! -e ran ]
}

# looks LEAST MOST WORD...: a file that never comes is looked at so often in 3.5 s
looks() {
	try status=124 -w 3.5 --report report "${@:3}" file:none
	[[ $(<report) =~ '"looks": '([0-9]+) ]]
	((BASH_REMATCH[1] >= $1 && BASH_REMATCH[1] <= $2)) || {
		cat report
		return 1
	}
}

@test "a target is looked at once a second, or as -d and -j say" {
	beside 'a second' looks 2 4
	beside '-j none' looks 2 4 -j none
	beside '-d' looks 5 36 -d 0.1
	beside '-d of a policy' looks 1 1 -d 30
	beside 'growing' looks 2 3 -d 1 -b exponential
}

# in_time TARGET WHY: a target of which nothing is heard delays neither another one nor
# a signal nor the end
in_time() {
	rm -f come
	: >err
	start "$RETRY" -v -w 60 -t 1 "$1" file:come file:/
	wait_for has 'file:/: there after ' err
	touch come
	wait_for has 'file:come: there after ' err
	not has "$1: there" err
	ended_by TERM
	try status=124 says="missing: $1: $2" -w 2.5 -t 1 "$1"
}

@test "a host that is silent delays no other target, no signal and not the end" {
	serve full
	in_time "tcp:127.0.0.1:$port" 'no answer'
	in_time "http://127.0.0.1:$port" 'no answer'
	# Before the first look is over, too.
	try status=124 says='missing: tcp:*: no answer' -w 1 "tcp:127.0.0.1:$port"
}

# dead: sets the array $dead to what runs a command where the resolver takes questions,
# and answers none
dead() {
	dead=("${isolate[@]}" sh -c '
		mount --bind resolv.conf /etc/resolv.conf &&
		mount --bind nsswitch.conf /etc/nsswitch.conf && exec "$@"' sh \
		"$PYTHON" -IS -c '
import fcntl, os, socket, struct, sys
with socket.socket() as one:
    fcntl.ioctl(one, 0x8914, struct.pack("16sh14x", b"lo", 0x1043))  # SIOCSIFFLAGS: up
dead = socket.socket(type=socket.SOCK_DGRAM)
dead.bind(("127.0.0.1", 53))
os.set_inheritable(dead.fileno(), True)
os.execv(sys.argv[1], sys.argv[1:])')
}

@test "a resolver that is silent delays no other target, no signal and not the end" {
	isolate -mn
	[ -e /etc/nsswitch.conf ] || skip 'no /etc/nsswitch.conf here'
	echo nameserver 127.0.0.1 >resolv.conf
	echo 'hosts: files dns' >nsswitch.conf
	dead
	start "${dead[@]}" "$RETRY" -v -w 60 -t 1 tcp:db.example:80 file:go file:/
	wait_for has 'file:/: there after ' err
	touch go
	wait_for has 'file:go: there after ' err
	ended_by TERM
	under=("${dead[@]}")
	try status=124 says='missing: tcp:db.example:80: the name is not resolved' \
	    -w 2.5 -t 1 tcp:db.example:80
}

@test "a server of files that is silent delays no other target, no signal and not the end" {
	isolate -m
	unserved
	start "${unserved[@]}" "$RETRY" -v -w 60 -t 1 file:gone/file file:go file:/
	wait_for has 'file:/: there after ' err
	touch go
	wait_for has 'file:go: there after ' err
	ended_by TERM
	under=("${unserved[@]}")
	try status=124 says='missing: file:gone/file: no answer' -w 2.5 -t 1 file:gone/file
	# Before the first look is over, too.
	try status=124 says='missing: file:gone/file: no answer' -w 1 file:gone/file
}

@test "of many addresses that are silent, refuse or have another page and one that is right, this one counts" {
	isolate -mn
	printf '127.0.0.%d many.example\n' {2..18} >hosts
	printf '127.0.0.%d two.example\n' 2 3 >>hosts
	printf '%s dual.example\n' 127.0.0.1 ::1 >>hosts
	"${isolate[@]}" sh -c 'mount --bind hosts /etc/hosts && exec "$@"' sh "$PYTHON" -IS - "$RETRY" <<-'END'
		import fcntl, os, socket, struct, subprocess, sys, threading
		with socket.socket() as one:
		    fcntl.ioctl(one, 0x8914, struct.pack("16sh14x", b"lo", 0x1043))
		open_ = []
		def listen(host, port, queue):
		    server = socket.socket()
		    server.bind(("127.0.0.%d" % host, port))
		    server.listen(queue)
		    open_.append(server)
		    return server
		for host in range(2, 19):
		    listen(host, 7001, 0 if host < 18 else 9)
		    for _ in range(3 if host < 18 else 0):  # its queue is full
		        client = socket.socket()
		        client.setblocking(False)
		        client.connect_ex(("127.0.0.%d" % host, 7001))
		        open_.append(client)
		def answer(host, status):
		    server = listen(host, 7002, 9)
		    while True:
		        peer, _ = server.accept()
		        peer.recv(4096)
		        peer.sendall(b"HTTP/1.1 %d x\r\n\r\n" % status)
		        peer.close()
		for page in (2, 503), (3, 200):
		    threading.Thread(target=answer, args=page, daemon=True).start()
		def look(wait, target):
		    words = [sys.argv[1], "-w", wait, "-t", "2", "-d", "0.05", target]
		    done = subprocess.run(words, stderr=subprocess.PIPE, text=True)
		    return done.returncode, done.stderr
		assert look("30", "tcp:many.example:7001") == (0, "")
		assert look("30", "http://two.example:7002") == (0, "")
		off = "/proc/sys/net/ipv6/conf/all/disable_ipv6"
		if os.path.exists(off):
		    with open(off, "w") as file:
		        file.write("1")
		status, said = look("0.3", "tcp:dual.example:1")
		assert status == 124 and said.endswith(": Connection refused\n"), said
	END
}

@test "a connection that has met itself is none, and leaves the port free" {
	isolate -n
	"${isolate[@]}" "$PYTHON" -IS - "$RETRY" <<-'END'
		import fcntl, socket, struct, subprocess, sys
		with socket.socket() as one:
		    fcntl.ioctl(one, 0x8914, struct.pack("16sh14x", b"lo", 0x1043))
		with open("/proc/sys/net/ipv4/ip_local_port_range", "w") as file:
		    file.write("40000 40001")
		def look(port):
		    words = [sys.argv[1], "-w", "1", "-d", "0.3", "tcp:127.0.0.1:%d" % port]
		    return subprocess.run(words, stderr=subprocess.PIPE, text=True)
		met = socket.socket()
		met.bind(("127.0.0.1", 40001))
		met.connect(("127.0.0.1", 40001))  # so it may happen here
		met.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
		met.close()
		done = look(40000)
		assert done.returncode == 124, done
		assert done.stderr.endswith(": Connection refused\n"), done
		server = socket.socket()
		server.bind(("127.0.0.1", 40000))
		server.listen()
		assert look(40000).returncode == 0
	END
}

# What a command gets from its caller, but for what differs from run to run.
facts='import os, signal, sys
for line in open("/proc/self/status"):
    if line.startswith(("Sig", "Shd", "NoNew", "Groups", "Umask")) and "SigQ" not in line:
        print(line.strip())
print([(fd, os.readlink("/proc/self/fd/%d" % fd)) for fd in range(64) if os.path.exists("/proc/self/fd/%d" % fd)])
print(sorted(os.environ.items()), sys.argv[1:], os.getcwd(), os.getpgrp(), os.getsid(0))
print(signal.sigpending(), os.getpid())
import ctypes
value = ctypes.c_int()
ctypes.CDLL(None).prctl(37, ctypes.byref(value)) # PR_GET_CHILD_SUBREAPER
print(value.value)
try:
    print(os.waitpid(-1, os.WNOHANG))
except ChildProcessError:
    print("no child")'

# becomes SETTING: a command behind targets, in whose caller there is this SETTING of
# Python, finds what it would find without retry
becomes() {
	"$PYTHON" -IS - "$RETRY" "$PYTHON" "$facts" "$1" <<-'END'
		import os, signal, sys
		retry, python, facts, setting = sys.argv[1:]
		def run(words):
		    read, write = os.pipe()
		    child = os.fork()
		    if child == 0:
		        exec(setting)
		        os.dup2(write, 9)
		        os.close(read)
		        os.close(write)
		        os.execvp(words[0], words)
		    os.close(write)
		    said = b""
		    while b"\n" not in said[-1:] or b"child" not in said:
		        more = os.read(read, 65536)
		        if not more:
		            break
		        said += more
		    os.close(read)
		    assert os.waitpid(child, 0) == (child, 0)
		    return said.decode().replace(str(child), "PID").replace(" ", "").split("\n")
		facts = "import os; os.dup2(9, 1)\n" + facts
		command = [python, "-IS", "-c", facts, "a b", ""]
		with open("late", "w"):
		    pass
		direct = run(command)
		targets = ["file:/", "file:late", "tcp:127.0.0.1:1"][:2]
		behind = run([retry, "-w", "30", "--report", "report", *targets, "--", *command])
		import re
		clean = lambda all: [re.sub(r"pipe:\[\d+\]", "pipe", line) for line in all]
		assert clean(direct) == clean(behind), (direct, behind)
		assert len(direct) > 8, direct
	END
	has '"targets": [{"target": "file:/"' report
	has '"status": 0' report
}

@test "behind the targets the command is the same process, with nothing of retry in it" {
	table becomes <<-'END'
		'pass'
		'signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD, signal.SIGUSR1])'
		'signal.signal(signal.SIGCHLD, signal.SIG_IGN); signal.signal(signal.SIGINT, signal.SIG_IGN)'
		'os.close(0); os.close(2)'
		'os.setsid(); os.umask(0o27)'
		'os.environ.update(RETRY_ATTEMPT="3", LISTEN_PID="7")'
	END
	printf 'echo "by sh: $*"\n' >script
	echo >plain
	chmod +x script
	table try <<-'END'
		out='by sh: a b' -w 9 file:/ -- ./script a b
		status=7 says='' -w 9 file:/ -- sh -c 'exit 7'
		status=143 says='' -w 9 file:/ -- sh -c 'kill -TERM $$'
		status=126 says="cannot run './plain': *" -w 9 file:/ -- ./plain
		status=127 says="cannot run 'no-such': *" -q -w 9 file:/ -- no-such
		status=127 says="cannot run 'db:1': *" -w 9 file:/ -- db:1
		status=124 runs=0 says='missing: *' -w 0.2 file:none -- sh -c 'echo >>ran'
		out='ready' says='' -w 9 file:/ -- echo ready
	END
}

@test "what is missing at the end is said in one line, with 124, and in the report" {
	serve page 200
	table try <<-'END'
		status=124 says="missing: tcp:127.0.0.1:1: Connection refused; file:none: No such file or directory" -w 0.5 tcp:127.0.0.1:1 "http://127.0.0.1:$port/" file:none
		status=124 says='' -q -w 0.3 file:none
		status=124 says='job: missing: *' --label job -w 0.3 file:none
		status=124 says='missing: file:a\\nb: *' -w 0.3 $'file:a\nb'
		status=124 says='> {"time":*"level":"error","message":"missing: file:none: No such file or directory",*}' --log-format json -w 0.3 file:none
		status=124 says='> |> ::error title=targets::retry: missing: *' --log-format github -w 0.3 file:none
		status=124 says='file:/: there after *|missing: *|ended in *: deadline' -v -w 0.3 file:/ file:none
		status=124 says='missing: *|> gave up' --on-give-up 'echo gave up' -w 0.3 file:none
	END
	try status=124 --report report -w 0.5 file:/ file:none
	[[ $(<report) == *'"command": ["file:/", "file:none"],'*'"reason": "deadline",'*'"why": "--wait 0.5", "message": "missing: file:none: No such file or directory", "status": 124,'*'"attempts": [], "targets": [{"target": "file:/", "arrived_ms": '[0-9]*', "looks": 1, "why": null}, {"target": "file:none", "arrived_ms": null, "looks": 1, "why": "No such file or directory"}]}' ]]
	"$RETRY" -q --metrics some.prom --trace trace -w 9 file:/
	has 'retry_success{name="some"} 1' some.prom
	has '"stringValue":"succeeded"' trace
}

@test "a look that the end cuts off does not hide what the one before it has found" {
	serve page 503 hang
	try status=124 says="missing: http://127.0.0.1:$port: HTTP 503" -w 1 -d 0.05 "http://127.0.0.1:$port"
	try status=124 says="missing: http://127.0.0.1:$port: no answer" -w 1.3 -d 0.05 -t 0.5 \
	    --report report "http://127.0.0.1:$port"
	has '"why": "no answer"' report
}

@test "a permission or a directory may still come, and a target counts from its first success" {
	mkdir -m 0 closed
	start "$RETRY" -v -w 60 -d 0.05 file:gone file:closed/a/b
	touch gone
	wait_for has 'file:gone: there after ' err
	rm gone
	chmod 700 closed
	mkdir closed/a
	touch closed/a/b
	ended 0
}

@test "what cannot even be looked at ends the wait at once" {
	local long
	printf -v long '%0300d' 0
	table try <<-'END'
		status=125 says="cannot be looked at: file:$long: File*name too long" -w 600 "file:$long" file:none
		status=125 says="cannot be looked at: file:$long: File*name too long" -q -w 600 "file:$long" file:/
	END
	inject '?socket:error=EAFNOSUPPORT'
	under=(strace -fqq -o /dev/null -e 'inject=?socket:error=EAFNOSUPPORT')
	table try <<-'END'
		status=125 says='cannot be looked at: tcp:[[]::1]:80: Address family not supported*' -w 600 tcp:[::1]:80
		# A name may still get another address.
		status=124 -w 0.5 tcp:localhost:80
	END
}

@test "an address of IPv6 ends the wait at once where that is switched off, not where there is none yet" {
	isolate -n
	[ -e /proc/sys/net/ipv6 ] || skip 'no IPv6 here'
	under=("${isolate[@]}" sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6 && exec "$@"' sh)
	"${under[@]}" true 2>/dev/null || skip 'no right to switch IPv6 off here'
	try status=125 says='cannot be looked at: tcp:[[]::1]:80: Cannot assign requested address' \
	    -w 600 tcp:[::1]:80
	try status=125 says='cannot be looked at: http://[[]2001:db8::1]: *' -w 600 file:/none http://[2001:db8::1]
	# A name may still get another address.
	try status=124 says='missing: tcp:localhost:1: *' -w 0.5 tcp:localhost:1
	under=("${isolate[@]}")
	try status=124 says='missing: tcp:[[]::1]:80: *' -w 0.5 tcp:[::1]:80
}

@test "a signal ends the wait, and what helps it" {
	serve full
	local name
	for name in HUP INT TERM QUIT; do
		start "$RETRY" -w 60 -t 0 "tcp:127.0.0.1:$port" -- touch ran
		wait_for pgrep -P "$pid"
		helper=$(pgrep -P "$pid")
		ended_by "$name"
		wait_for gone "$helper"
	done
	start "$RETRY" -w 60 -t 0 "tcp:127.0.0.1:$port"
	wait_for pgrep -P "$pid"
	helper=$(pgrep -P "$pid")
	ended_by KILL
	wait_for gone "$helper"
	[ ! -e ran ]
}

@test "a reader of the caller's pipe sees its end, although a helper lives" {
	serve full
	start sh -c '{ "$RETRY" -w 60 -t 0 "tcp:127.0.0.1:$1" & echo $! >waits; } | cat; touch over' sh "$port"
	wait_for test -s waits
	read -r job <waits
	wait_for pgrep -P "$job"
	kill -STOP "$(pgrep -P "$job")"
	kill -KILL "$job"
	wait_for test -e over
}

@test "a terminal shows what is missing, and how long it is still waited for" {
	pty 130 'see:giving up on tcp:127.0.0.1:1, file:none in ' 'type:^C' -- \
	    "$RETRY" -w 60 tcp:127.0.0.1:1 file:/ file:none
	pty 130 'see:job: giving up on file:' 'type:^C' -- \
	    "$RETRY" --label job -w 60 "file:$(printf '%0100d' 0)"
	has '000... in ' out
	# It is cut to the width of the terminal.
	pty 130 'see:giving up on tcp:127.0... in ' 'type:^C' -- \
	    sh -c 'stty cols 40; exec "$RETRY" "$@"' sh -w 60 tcp:127.0.0.1:1 file:none
}

@test "as PID 1 of a root that has only the program it waits, reaps, ends at signals and becomes the command" {
	[ -z "${RETRY_SAN-}" ] || skip 'the sanitizers need /proc'
	local lib
	isolate -rpf
	mkdir root
	cp "$RETRY" root/retry
	while read -r lib; do
		mkdir -p "root/${lib%/*}"
		cp "$lib" "root/$lib"
	done < <(ldd "$RETRY" 2>/dev/null | grep -o '/[^ ]*')
	serve port
	local here=("${isolate[@]}" chroot root /retry)
	"${here[@]}" -V >version 2>&1 || skip 'no root of its own here'
	table <<-'END'
		exits 0 "${here[@]}" -w 9 file:/retry
		exits 124 "${here[@]}" -w 0.5 file:/none
		exits 124 "${here[@]}" -w 0.5 "tcp:127.0.0.1:$port" unix:/none
		exits 127 "${here[@]}" -w 9 file:/retry -- /none
		gives 0 "$(<version)" "${here[@]}" -w 9 file:/retry -- /retry -V
	END
	start "${here[@]}" -v -w 60 "tcp:127.0.0.1:$port" -- /retry -V
	touch go
	ended 0
	has_line "$(head -n 1 version)" out
	# What dies in the root is reaped.
	start "${isolate[@]}" sh -c '(sleep 0.2 & echo >begun); exec "$RETRY" -w 60 file:none'
	wait_for test -e begun
	wait_for childless "$(pgrep -P "$pid")"
	kill -TERM "$(pgrep -P "$pid")"
	ended 143
	start "${here[@]}" -v -w 60 file:/retry file:/none
	wait_for has 'file:/retry: there' err
	kill -TERM "$(pgrep -P "$pid")"
	ended 143
}
