#!/usr/bin/env bats
# Covers cli/options.
# The examples of the manual's section "Waiting for a service", each with a
# service that begins to listen after the first attempt has failed.

load helper

setup() {
	manual=${BATS_TEST_FILENAME%/*}/../../retry.1
	helper_setup
	"$RETRY" --version | grep -q '^retry '
	unset {http,https,all}_proxy {HTTPS,ALL}_PROXY
	export no_proxy='*' HOME=$PWD
}

# example WORD: writes to ./line the example of the section that has this word,
# for a service on $port of this host, with a shorter delay.
example() {
	awk '/^\.S[hs] / { inside = /Waiting for a service/ } inside' "$manual" |
		sed -e 's/^\.Dl //' -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" |
		sed -e ':more' -e '/\\e$/{ N; s/\\e\n\t//; b more' -e '}' |
		sed -n "/^retry .*$1/{
			s/^retry/\"\$RETRY\" -v/; s/ -E / /; s/ -d 1 / -d 50ms /
			s/-h [a-z]* /-h 127.0.0.1 -p $port /
			s/-h db$/-h 127.0.0.1 -p $port/
			s,https://app:8080,http://127.0.0.1:$port,
			p; q
		}" >line
	[ "$(lines line)" -eq 1 ]
}

# services TOOL...: writes to ./ports a port of 127.0.0.1 for each. A process
# listens at it once there is a file ./go.TOOL; at that of redis-cli nobody does.
services() {
	start "$PYTHON" -IS -c '
import os, select, signal, socket, sys
signal.alarm(60)
bound, listening = {}, {}
with open("new", "w") as new:
    for tool in sys.argv[1:]:
        bound[tool] = socket.socket()
        bound[tool].bind(("127.0.0.1", 0))
        new.write("%s %d\n" % (tool, bound[tool].getsockname()[1]))
bound.pop("redis-cli").close()
os.rename("new", "ports")
while True:
    for tool in list(bound):
        if os.path.exists("go." + tool):
            bound[tool].listen(8)
            listening[bound.pop(tool)] = tool
    for listener in select.select(list(listening), [], [], 0.02)[0]:
        peer, _ = listener.accept()
        with peer:
            if listening[listener] == "curl":
                peer.recv(4096)
                peer.sendall(b"HTTP/1.0 204 Fine\r\n\r\n")
            elif listening[listener] == "pg_isready":
                # "no" to the question for TLS; then that the user is unknown
                if b"\x04\xd2\x16\x2f" in peer.recv(4096):
                    peer.sendall(b"N")
                    peer.recv(4096)
                text = b"SFATAL\0C28000\0Mwho are you?\0\0"
                peer.sendall(b"E" + (len(text) + 4).to_bytes(4, "big") + text)
' "$@"
	wait_for test -e ports
}

# waits WORD COMMAND...: the example with this word fails, waits for what COMMAND
# begins, and ends with 0
waits() {
	local example
	example "$1"
	start sh -c "$(<line)"
	example=$pid
	wait_for grep -q '^retry: attempt 1 failed' err
	"${@:2}"
	pid=$example
	ended 0 || not cat err
	grep -q '^retry: ended after .*: succeeded' err
}

# redis SERVER: the example waits until the server has its data
redis() {
	waits redis-cli start "$1" --bind 127.0.0.1 --port "$port" --save '' --appendonly no
	has_line PONG out
}

@test "with the options of the section, no delay is longer than a second" {
	"$RETRY" --dry-run -j none -w 60 >plan
	[ "$(awk '$1 ~ /^[0-9]+$/ { print $2 }' plan | sort -u)" = 1s ]
	local count
	count=$(awk '/^\.S[hs] / { inside = /Waiting for a service/ } inside' "$manual" |
		grep -c 'retry \\-w 60 ')
	[ "$count" -eq 4 ]
	grep -q 'retry -w 60 -- pg_isready' "${manual%/*}/README.md"
}

@test "each example waits for what it names, and then succeeds" {
	local tool port='' missing='' server
	server=$(command -v redis-server || command -v valkey-server) ||
		missing+=' redis-server'
	export PGUSER=somebody # whoever runs the suite may have no name
	example tcp:db
	eval "try status=124 says='*missing: tcp:db:5432: *; unix:* file:* http:*' \
	    $(sed 's/.* -v//; s/-w 60/-w 1/' line)"
	services curl pg_isready redis-cli
	while read -r tool port; do
		if ! command -v "$tool" >/dev/null; then
			missing+=" $tool"
		elif [ "$tool" != redis-cli ]; then
			beside "$tool" waits "$tool " touch "$PWD/go.$tool"
		elif [ -n "$server" ]; then
			beside redis-cli redis "$server"
		fi
	done <ports
	[ -z "$missing" ] || skip "not here:$missing"
}
