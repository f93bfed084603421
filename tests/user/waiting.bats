#!/usr/bin/env bats
# Covers cli/options.
# The examples of the manual's section "Waiting for a service", each with a
# service that begins to listen after the first attempt has failed.
# shellcheck disable=SC2016 # the commands' shells expand
# shellcheck disable=SC2154 # run and start set what is read here

load helper

setup()
{
	manual=${BATS_TEST_FILENAME%/*}/../../retry.1
	helper_setup
	"$RETRY" --version | grep -q '^retry '
	unset {http,https,all}_proxy {HTTPS,ALL}_PROXY
	export no_proxy='*' HOME=$PWD
}

# example WORD: prints the example of the section that has this word, for a
# service on $port of this host, with a shorter delay.
example()
{
	awk '/^\.S[hs] / { inside = /Waiting for a service/ } inside' "$manual" |
		sed -e 's/^\.Dl //' -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" |
		sed -e ':more' -e '/\\e$/{ N; s/\\e\n\t//; b more' -e '}' |
		sed -n "/^retry .*$1/{
			s/^retry/\"\$RETRY\" -v/; s/ -E / /; s/ -d 1 / -d 50ms /
			s/-h [a-z]* /-h 127.0.0.1 -p $port /
			s/-h db$/-h 127.0.0.1 -p $port/
			s/localhost:8080/127.0.0.1:$port/
			s,tcp/db/5432,tcp/127.0.0.1/$port,; s/db 5432/127.0.0.1 $port/
			p; q
		}" >line
	[ "$(lines line)" -eq 1 ]
	cat line
}

# service PROTOCOL: a port of 127.0.0.1, $port, at which a process listens once
# there is a file ./go.
service()
{
	start "$PYTHON" -IS -c '
import os, signal, socket, sys, time
signal.alarm(60)
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
with open("new", "w") as new:
    new.write("%d\n" % listener.getsockname()[1])
os.rename("new", "port")
while not os.path.exists("go"):
    time.sleep(0.01)
listener.listen(8)
while True:
    peer, _ = listener.accept()
    with peer:
        if sys.argv[1] == "http":
            peer.recv(4096)
            peer.sendall(b"HTTP/1.0 204 Fine\r\n\r\n")
        elif sys.argv[1] == "postgres":
            # "no" to the question for TLS; then that the user is unknown
            if b"\x04\xd2\x16\x2f" in peer.recv(4096):
                peer.sendall(b"N")
                peer.recv(4096)
            text = b"SFATAL\0C28000\0Mwho are you?\0\0"
            peer.sendall(b"E" + (len(text) + 4).to_bytes(4, "big") + text)
' "$1"
	wait_for test -e port
	port=$(<port)
}

# waits WORD: the example with this word waits for what ./go starts, and ends
# with 0.
waits()
{
	example "$1"
	start sh -c "$(<line)"
	wait_for grep -q '^retry: attempt 1 failed' err
	: >go
	ended
	cat err
	[ "$status" -eq 0 ]
	grep -q '^retry: ended after .*: succeeded' err
}

need()
{
	command -v "$1" >/dev/null || skip "no $1 here"
}

@test "with the options of the section, no delay is longer than a second" {
	"$RETRY" --dry-run -j none -T 60 -d 1 -b constant >plan
	[ "$(awk '$1 ~ /^[0-9]+$/ { print $2 }' plan | sort -u)" = 1s ]
	local count
	count=$(awk '/^\.S[hs] / { inside = /Waiting for a service/ } inside' "$manual" |
		grep -c 'retry .*\\-T 60 \\-d 1 \\-b constant ')
	[ "$count" -eq 6 ]
	grep -q 'retry -T 60 -d 1 -b constant -- pg_isready' \
		"${manual%/*}/README.md"
}

@test "the example for a port waits for it, with bash" {
	service any
	waits 'bash '
}

@test "the example for a port waits for it, with nc" {
	need nc
	service any
	waits 'nc '
}

@test "the example for a file waits for it" {
	port=1
	example 'test -e'
	sed -i 's/app.ready/go/' line
	start sh -c "$(<line)"
	wait_for grep -q '^retry: attempt 1 failed' err
	: >go
	ended
	[ "$status" -eq 0 ]
}

@test "the example for HTTP waits for a server" {
	need curl
	service http
	waits curl
}

@test "the example for PostgreSQL waits for the database" {
	need pg_isready
	service postgres
	waits pg_isready
}

@test "the example for Redis waits until it has loaded its data" {
	need redis-cli
	local server
	server=$(command -v redis-server || command -v valkey-server) ||
		skip 'no redis-server or valkey-server here'
	service any # whose port is free once it has ended
	kill -KILL "$pid"
	ended
	example redis-cli
	start sh -c "$(<line)"
	local waiting=$pid
	wait_for grep -q '^retry: attempt 1 failed' err
	start "$server" --bind 127.0.0.1 --port "$port" --save '' --appendonly no
	local redis=$pid
	pid=$waiting
	ended
	kill "$redis"
	[ "$status" -eq 0 ]
	grep -qx PONG out
}
