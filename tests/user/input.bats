#!/usr/bin/env bats
# Covers streams/stdin_source, streams/read_guard.
# The command's standard input. A file is rewound. --replay-stdin copies a pipe
# or socket to a file. Without it, nothing is taken from a pipe, and once an
# attempt has read from the pipe there is no other attempt.
# shellcheck disable=SC2016 # the commands' shells expand
# shellcheck disable=SC2094 # what is read is not what is written
# shellcheck disable=SC2154 # run and start set what is read here

load helper
load actor

setup()
{
	helper_setup
	mkdir tmp
	export TMPDIR=$PWD/tmp
}

# No copy of an input has left a file with a name.
teardown()
{
	helper_teardown
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/tmp")" ]
}

# again N OPTION... -- COMMAND...: N attempts without delay, with -q
again()
{
	local attempts=$1
	shift
	"$RETRY" -n "$attempts" -d 0 -j none -q "$@"
}

# refused STATUS WORDS: retry ended with STATUS, ran nothing, and printed one
# line, which begins with WORDS
refused()
{
	[ "$status" -eq "$1" ]
	[ ! -e ran ]
	[ "$(lines err)" -eq 1 ]
	grep -qE "^retry: $2" err
}

# attempts N REASON: -v printed to err that retry made N attempts, and why it
# ended
attempts()
{
	grep -qE "^retry: ended after $1 attempts? in .*: $2\$" err || {
		echo "not $1 attempts, $2:"
		cat err
		return 1
	}
}

# consumed: after one attempt retry gave up because input was consumed, and
# named the remedies
# With the option -vI the advice is another one.
consumed()
{
	local advice=': use -I or </dev/null'
	[ "${1-}" != -vI ] || advice=', and cannot be read again'
	attempts 1 input-consumed
	grep -qE "^retry: attempt 1/.* giving up: .* already consumed$advice\$" err
}

# A command that reads no input, half of it, all of it, and all once more: what
# it has read in attempt N is in read.N. Its argument is the size of a half.
reads='n=$RETRY_ATTEMPT
case $n in
1) ;;
2) head -c "$1" ;;
*) cat ;;
esac >read.$n
[ "$n" = 4 ]'

# big_input: ten megabytes of anything, in ./big
big_input()
{
	local any=$BATS_FILE_TMPDIR/any
	[ -e "$any" ] || head -c 10M /dev/urandom >"$any" # takes a while
	ln "$any" big
}

# seen: the attempts of $reads have read the right parts of ./big
seen()
{
	[ ! -s read.1 ]
	[ "$(stat -c %s read.2)" -eq $((5 << 20)) ]
	cmp -n $((5 << 20)) big read.2
	cmp big read.3
	cmp big read.4
}

# socket FILE|- COMMAND...: COMMAND with a socket for its standard input, from
# which FILE comes and then the end; -: nothing comes, and it stays open
socket()
{
	"$PYTHON" -IS -c 'if True:
		import socket, subprocess, sys, threading
		ours, theirs = socket.socketpair()
		def feed():
		    if sys.argv[1] != "-":
		        with open(sys.argv[1], "rb") as file:
		            ours.sendfile(file)
		        ours.shutdown(socket.SHUT_WR)
		feeder = threading.Thread(target=feed, daemon=True)
		feeder.start()
		sys.exit(subprocess.call(sys.argv[2:], stdin=theirs))' "$@" 3>&-
}

# unwatched COMMAND...: COMMAND on a system that has no inotify
unwatched()
{
	unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_inotify_instances &&
		exec "$@"' sh "$@"
}

need_unwatched()
{
	unwatched true 2>/dev/null || skip "no user namespaces here"
}

# silent COMMAND...: COMMAND on a kernel whose inotify reports only some reads
silent()
{
	strace -qq -o trace -e trace=inotify_add_watch \
	    -e inject=inotify_add_watch:retval=1 "$@"
}

need_silent()
{
	silent true 2>/dev/null || skip "no strace here that works"
}

# spooling: the retry that start has started has made the file for its input
spooling()
{
	readlink "/proc/$pid/fd/"* | grep -q "^$TMPDIR.*(deleted)"
}

#
# Files
#

@test "a regular file is rewound before each retry, with -I and without" {
	printf 'a\nb\n' >in
	local option
	for option in --quiet --replay-stdin; do
		run -1 again 3 "$option" sh -c 'cat; exit 1' <in
		[ "$output" = $'a\nb\na\nb\na\nb' ]
	done
}

@test "a file is rewound to where it stood, not to its beginning" {
	local option
	printf 'one\ntwo\nthree\n' >in
	for option in --quiet --replay-stdin; do
		exec 7<in
		read -r line <&7
		[ "$line" = one ]
		run -1 again 2 "$option" sh -c 'cat; exit 1' <&7
		[ "$output" = $'two\nthree\ntwo\nthree' ]
		exec 7<&-
	done
}

@test "a file that is open for reading and writing is rewound" {
	printf 'a\nb\n' >in
	run -1 again 2 sh -c 'read -r x; echo "$x"; exit 1' <>in
	[ "$output" = $'a\na' ]
}

@test "a file that is written to by that number is not rewound" {
	run -1 again 2 sh -c 'echo "$RETRY_ATTEMPT" >&0; exit 1' 0>file
	[ "$(cat file)" = $'1\n2' ]
}

@test "a file that is both input and output is not rewound" {
	again 2 sh -c 'echo "$RETRY_ATTEMPT"; exit 1' <>file >&0 || :
	[ "$(cat file)" = $'1\n2' ]
}

@test "after the last attempt a file stays where that has left it" {
	printf '1\n2\n3\n' >in
	{
		run -1 again 3 sh -c 'head -c 2 >>heads; exit 1'
		read -r line
	} <in
	[ "$(cat heads)" = $'1\n1\n1' ]
	[ "$line" = 2 ]
}

@test "a here-document is the same for every attempt, with -I" {
	local shell
	for shell in sh bash; do
		run -1 "$shell" -c '"$RETRY" -qI -n 2 -d 0 sh -c "cat; exit 1" <<-END
			some $0
			lines
		END'
		[ "$output" = "some $shell"$'\nlines\n'"some $shell"$'\nlines' ]
	done
}

#
# --replay-stdin
#

@test "with -I each attempt reads all of a pipe" {
	big_input
	cat big | again 4 -I sh -c "$reads" sh 5M
	seen
}

@test "with -I each attempt reads all of a socket" {
	big_input
	socket big "$RETRY" -q -n 4 -d 0 -I sh -c "$reads" sh 5M
	seen
}

@test "with -I each attempt reads all of a file" {
	big_input
	again 4 -I sh -c "$reads" sh 5M <big
	seen
}

@test "with -I the writer never gets SIGPIPE, however little attempts read" {
	{
		head -c 1M /dev/zero
		echo $? >produced
	} | again 2 -I sh -c '[ "$RETRY_ATTEMPT" = 2 ]'
	[ "$(cat produced)" = 0 ]
}

@test "an empty input stays empty with -I" {
	run -1 again 2 -I sh -c 'cat; wc -c; exit 1' < <(:)
	[ "$output" = $'0\n0' ]
}

@test "a process that an attempt left behind cannot move the next one's input" {
	mkfifo go
	seq 1000 >in
	cat in | again 2 -I sh -c '
		if [ "$RETRY_ATTEMPT" = 1 ]; then
			exec 7<&0
			{ read x <&7; cat go <&7; cat <&7 >late.tmp; mv late.tmp late; } &
			exit 1
		fi
		read x
		echo >go
		until [ -e late ]; do sleep 0.01; done
		{ echo "$x"; cat; } >next' 3>&-
	cmp in next
	seq 2 1000 | cmp - late
}

@test "the command cannot write to the input that is replayed" {
	printf 'a\n' | again 2 -I sh -c '! echo x 2>/dev/null >&0 &&
		[ "$RETRY_ATTEMPT" = 2 ] && cat >out'
	[ "$(cat out)" = a ]
}

@test "-I works with a umask that forbids everything" {
	touch out
	printf 'a\n' | {
		umask 777
		again 2 -I sh -c 'cat; [ "$RETRY_ATTEMPT" = 2 ]' >>out
	}
	[ "$(cat out)" = $'a\na' ]
}

@test "the copy of the input has no name" {
	printf 'a\n' | again 2 -I sh -c 'ls -A "$TMPDIR" >>names
		[ "$RETRY_ATTEMPT" = 2 ]'
	[ -e names ]
	[ ! -s names ]
}

@test "the first attempt begins when all of the input is there" {
	mkfifo pipe
	exec 7<>pipe
	start sh -c 'exec "$@" <pipe 7>&-' sh "$RETRY" -I sh -c 'cat >all'
	wait_for spooling
	echo a >&7
	sleep 0.1
	[ ! -e all ]
	echo b >&7
	exec 7>&-
	ended
	[ "$status" -eq 0 ]
	[ "$(cat all)" = $'a\nb' ]
}

@test "TERM ends retry while it copies the input, and nothing is run" {
	mkfifo pipe
	exec 7<>pipe
	start sh -c 'exec "$@" <pipe 7>&-' sh "$RETRY" -I touch ran
	wait_for spooling
	kill -TERM "$pid"
	ended
	exec 7>&-
	[ "$status" -eq 143 ]
	[ ! -e ran ]
}

@test "a deadline while the input is copied gives 124, and nothing is run" {
	mkfifo pipe
	exec 7<>pipe
	run -124 "$RETRY" -T 0.1 -I touch ran <pipe
	[ ! -e ran ]
	run -124 "$RETRY" -T 0.1 -I touch ran < <(exec yes)
	[ ! -e ran ]
	exec 7>&-
}

@test "more than --stdin-max is refused before anything is run" {
	local size most
	for size in 1000 65536; do
		status=0
		most='1000 bytes'
		[ "$size" = 1000 ] || most=64k
		head -c $((size + 1)) /dev/zero |
			"$RETRY" -I --stdin-max "$size" touch ran 2>err || status=$?
		refused 125 "--stdin-max: more than $most on standard input"
		head -c "$size" /dev/zero |
			again 1 -I --stdin-max "$size" sh -c 'wc -c >count'
		[ "$(cat count)" -eq "$size" ]
	done
	status=0
	socket err "$RETRY" -I --stdin-max 3 touch ran 2>late || status=$?
	mv late err
	refused 125 '--stdin-max: more than 3 bytes on standard input'
}

@test "an endless input ends at --stdin-max" {
	status=0
	"$RETRY" -I --stdin-max 1M touch ran 2>err < <(exec yes) || status=$?
	refused 125 '--stdin-max: more than 1M on standard input'
}

@test "without TMPDIR's directory nothing is copied and nothing run" {
	status=0
	echo a | TMPDIR=/nonexistent "$RETRY" -I touch ran 2>err || status=$?
	refused 125 "--replay-stdin: cannot copy standard input: No such file or directory, in '/nonexistent' [(].TMPDIR[)]; command not run\$"
	# No directory is needed if nothing has to be copied.
	TMPDIR=/nonexistent "$RETRY" -I sh -c 'read -r x' <err
	echo a | TMPDIR=/nonexistent "$RETRY" sh -c 'read -r x'
}

@test "without a /tmp that can be written to input is copied to memory" {
	isolate -m
	cp "$RETRY" here
	local in=("${isolate[@]}" env -u TMPDIR sh -c
		'mount -t tmpfs -o ro none /tmp || exit 99; exec "$@"' sh)
	"${in[@]}" true 2>/dev/null || skip 'no right to mount here'
	seq 100000 >some
	"${in[@]}" ./here -q -n 4 -d 0 -I sh -c 'cat >"read.$RETRY_ATTEMPT"
		[ "$RETRY_ATTEMPT" = 3 ]' < <(cat some)
	cmp some read.1
	cmp some read.3
	status=0
	"${in[@]}" ./here -I --stdin-max 1k touch ran 2>err < <(cat some) ||
		status=$?
	refused 125 '--stdin-max: '
}

@test "a file size limit on the copy is an error, and nothing is run" {
	status=0
	head -c 1M /dev/zero | (
		ulimit -f 16
		exec "$RETRY" -I touch ran 2>err
	) || status=$?
	refused 125 "--replay-stdin: cannot copy standard input: File too large, in '$TMPDIR' [(].TMPDIR[)]; command not run\$"
}

@test "a disk too small for the copy is an error, and nothing is run" {
	unshare -Urm mount -t tmpfs none "$TMPDIR" 2>/dev/null ||
		skip "no mount namespaces here"
	status=0
	head -c 1M /dev/zero | unshare -Urm sh -c '
		mount -t tmpfs -o size=64k none "$TMPDIR"
		exec "$RETRY" -I touch ran 2>err' || status=$?
	refused 125 "--replay-stdin: cannot copy standard input: No space left on device, in '$TMPDIR' [(].TMPDIR[)]; command not run\$"
}

@test "without /proc each attempt gets a copy of the input" {
	[ -z "${RETRY_SAN-}" ] || skip 'the sanitizers need /proc'
	unshare -Urm mount -t tmpfs none /proc 2>/dev/null ||
		skip "no mount namespaces here"
	big_input
	local without=(unshare -Urm sh -c
		'mount -t tmpfs none /proc; exec "$@"' sh)
	cat big | "${without[@]}" "$RETRY" -q -n 4 -d 0 -I sh -c "$reads" sh 5M
	seen
	rm read.*
	"${without[@]}" "$RETRY" -q -n 4 -d 0 -I sh -c "$reads" sh 5M <big
	seen
	printf '%s\n' 1 2 3 >in
	{
		read -r line
		run -1 "${without[@]}" "$RETRY" -q -n 2 -d 0 -I sh -c \
		    'head -n 1; exit 1'
		[ "$output" = $'2\n2' ]
		read -r line
	} <in
	[ "$line" = 2 ]
	status=0
	"${without[@]}" "$RETRY" -I --stdin-max 5 touch ran <in 2>err || status=$?
	refused 125 '--stdin-max: more than 5 bytes on standard input'
}

@test "an attempt whose input cannot be opened is not run, and is retried" {
	local limit
	echo a >in
	for limit in {4..16}; do
		cat in | (
			ulimit -n "$limit"
			exec 3>&-
			exec "$RETRY" -v -I -n 2 -d 0 sh -c \
				'echo x >>ran; cat; exit 1' >out 2>err
		) && return 1
		[ -z "$(grep -vx a out)" ]
		run cat err
		[[ $output != *'attempt 1/2 not started (cannot open the input again: '@(Too many open files|No file descriptors available)'), retrying'* ]] ||
			break
		rm -f ran
	done
	[ "$limit" -lt 16 ]
	[ ! -e ran ]
}

@test "a terminal is inherited in spite of -I, with a warning" {
	run -0 "$PYTHON" -IS "$BATS_TEST_DIRNAME/../tools/pty.py" \
		see:ready 'type:some^M' -- sh -c \
		'exec "$RETRY" -I sh -c "test -t 0 && echo ready; read -r x; echo \"<\$x>\"" 2>err' 3>&-
	[[ $output = *'<some>'* ]]
	[ "$(lines err)" -eq 1 ]
	grep -q '^retry: .*terminal' err
}

@test "a device and a closed input are inherited in spite of -I" {
	"$RETRY" -I sh -c 'test -c /dev/stdin && ! read -r x' </dev/null
	"$RETRY" -I sh -c '[ ! -e /proc/self/fd/0 ]' <&-
	"$RETRY" -n 2 sh -c '[ ! -e /proc/self/fd/0 ]' <&-
}

#
# Whether an attempt has read from a pipe or socket
#

@test "a pipe that an attempt has read from is not read any further" {
	status=0
	printf 'a\nb\n' | "$RETRY" -v -n 2 -d 0 sh -c 'read x; exit 7' \
		2>err || status=$?
	[ "$status" -eq 7 ]
	consumed
}

@test "a pipe that was read to its end is not read again" {
	status=0
	printf 'a\nb\n' | "$RETRY" -v -n 2 -d 0 sh -c 'cat; exit 3' \
		>out 2>err || status=$?
	[ "$status" -eq 3 ]
	[ "$(cat out)" = $'a\nb' ]
	consumed
}

@test "that some bytes are gone is noticed even if all are the same" {
	head -c 1M /dev/zero >in
	cat in | "$RETRY" -v -n 2 -d 0 sh -c 'head -c 10 >&2; exit 1' \
		2>err || :
	consumed
}

@test "that a line of a slow writer was read is noticed, however fast" {
	mkfifo pipe
	exec 7<>pipe
	local i
	for ((i = 0; i < 20; i++)); do
		rm -f ready err
		start sh -c 'exec "$@" <pipe 7>&-' sh "$RETRY" -v -n 2 -d 0 \
			sh -c 'echo >ready; read x; exit 5'
		wait_for [ -e ready ]
		echo line >&7
		ended
		[ "$status" -eq 5 ]
		consumed
	done
	exec 7>&-
}

@test "a background process that reads during the delay is noticed" {
	mkfifo go
	status=0
	printf 'a\nb\n' | "$RETRY" -v -n 2 -d 2 -j none sh -c '
		exec 7<&0
		{ cat go; read x; } <&7 &
		sh -c "sleep 0.1; echo >go" &
		exit 5' 2>err 3>&- || status=$?
	[ "$status" -eq 5 ]
	attempts 1 input-consumed
}

@test "a pipe that nobody has read from goes on to the next attempt" {
	printf 'a\nb\n' | again 3 sh -c '[ "$RETRY_ATTEMPT" = 3 ] && cat' >out
	[ "$(cat out)" = $'a\nb' ]
}

@test "an idle pipe does not prevent retries" {
	mkfifo pipe
	exec 7<>pipe
	"$RETRY" -v -n 3 -d 0 false <&7 2>err || :
	exec 7>&-
	attempts 3 attempts
}

@test "an empty pipe does not prevent retries, read or not" {
	: | "$RETRY" -v -n 3 -d 0 false 2>err || :
	attempts 3 attempts
	: | "$RETRY" -v -n 3 -d 0 sh -c 'cat; exit 1' 2>err || :
	attempts 3 attempts
}

@test "a pipe that ends while nobody reads it does not prevent retries" {
	mkfifo pipe
	start sh -c 'exec "$@" <pipe' sh "$RETRY" -v -n 3 -d 0 sh -c '
		echo >"ready$RETRY_ATTEMPT"
		until [ -e closed ]; do sleep 0.01; done
		cat
		exit 1'
	exec 7>pipe
	wait_for [ -e ready1 ]
	exec 7>&-
	touch closed
	ended
	attempts 3 attempts
}

@test "a terminal does not prevent retries" {
	run -1 "$PYTHON" -IS "$BATS_TEST_DIRNAME/../tools/pty.py" \
		see:one 'type:x^M' see:two 'type:y^M' -- sh -c \
		'exec "$RETRY" -v -n 2 -d 0 sh -c "test \$RETRY_ATTEMPT = 1 && echo one || echo two; read -r x; exit 1" 2>err' 3>&-
	attempts 2 attempts
}

@test "/dev/null and a closed input do not prevent retries" {
	"$RETRY" -v -n 2 -d 0 sh -c 'cat; exit 1' </dev/null 2>err || :
	attempts 2 attempts
	"$RETRY" -v -n 2 -d 0 false <&- 2>err || :
	attempts 2 attempts
}

@test "a pipe that reads our output is not an input" {
	# bash gives the command its own end of the pipe where 0 was closed.
	cat <<-'END' >script
		exec <&-
		out=$("$RETRY" -q -n 3 -d 0 "$@" sh -c '
			seq 100; sleep 0.05; [ "$RETRY_ATTEMPT" = 3 ]')
		[ "$(wc -l <<<"$out")" -eq 300 ]
	END
	bash script
	timeout 20 bash script -I
}

@test "a loop that reads a pipe keeps its lines" {
	printf '%s\n' 1 2 3 4 | while read -r x; do
		again 2 sh -c 'echo "$1"; exit 1' sh "$x" || :
	done >out
	[ "$(cat out)" = $'1\n1\n2\n2\n3\n3\n4\n4' ]
}

@test "a script that is piped into a shell keeps its rest" {
	local shell
	for shell in sh bash; do
		printf '%s\n' '"$RETRY" -q -n 2 -d 0 false' 'echo more' \
			'"$RETRY" -q -n 2 -d 0 sh -c "echo x; exit 1"' 'echo last' |
			"$shell" >out
		[ "$(cat out)" = $'more\nx\nx\nlast' ]
	done
}

@test "what the command left in a pipe is there when retry has ended" {
	printf 'a\nb\n' | {
		again 2 sh -c 'read x; exit 1' || :
		cat
	} >out
	[ "$(cat out)" = b ]
}

@test "a socket that an attempt has read from is not read any further" {
	printf 'a\nb\n' >in
	status=0
	socket in "$RETRY" -v -n 2 -d 0 sh -c 'read x; exit 7' 2>err ||
		status=$?
	[ "$status" -eq 7 ]
	consumed
}

@test "what recv takes from a socket is noticed" {
	printf 'a\nb\n' >in
	socket in "$RETRY" -v -n 2 -d 0 "$PYTHON" -IS -c 'if True:
		import socket, sys
		socket.socket(fileno=0).recv(2)
		sys.exit(7)' 2>err || :
	consumed
}

@test "a socket that nobody has read from goes on to the next attempt" {
	printf 'a\nb\n' >in
	socket in "$RETRY" -q -n 3 -d 0 sh -c \
		'[ "$RETRY_ATTEMPT" = 3 ] && cat' >out
	cmp in out
}

@test "an idle or empty socket does not prevent retries" {
	socket - "$RETRY" -v -n 3 -d 0 false 2>err || :
	attempts 3 attempts
	socket /dev/null "$RETRY" -v -n 3 -d 0 sh -c 'cat; exit 1' 2>err || :
	attempts 3 attempts
}

# with INPUT COMMAND...: COMMAND with a standard input that is what the Python
# expression INPUT has made
with()
{
	"$PYTHON" -IS -c 'if True:
		import ctypes, os, select, signal, socket, subprocess, sys
		libc = ctypes.CDLL(None)
		def messages(kind, *texts):
		    global ours
		    ours, theirs = socket.socketpair(type=kind)
		    for text in texts:
		        ours.send(text)
		    return theirs
		sys.exit(subprocess.call(sys.argv[2:], stdin=eval(sys.argv[1])))' \
	    "$@" 3>&-
}

@test "a socket for messages that an attempt has read from is not read any further" {
	local kind read again='standard input is a socket for messages, which cannot be read again'
	for kind in SEQPACKET DGRAM; do
		for read in 'os.read(0, 9)' 'socket.socket(fileno=0).recv(9)'; do
			for option in -v -vI; do
				with "messages(socket.SOCK_$kind, b'one', b'two')" \
				    "$RETRY" "$option" -n 2 -d 0 "$PYTHON" -IS -c \
				    "import os, socket; $read; os._exit(7)" 2>err || :
				consumed "$option"
				[ "$option" = -v ] ||
					grep -qxF "retry: --replay-stdin: $again" err
			done
		done
		with "messages(socket.SOCK_$kind, b'one')" "$RETRY" -q -n 3 -d 0 \
		    sh -c '[ "$RETRY_ATTEMPT" = 3 ] && head -c 3' >out
		[ "$(<out)" = one ]
		with "messages(socket.SOCK_$kind)" "$RETRY" -v -n 3 -d 0 false 2>err || :
		attempts 3 attempts
	done
}

@test "an input of which nothing tells whether it was read ends the series" {
	local option kind
	for option in -v -vI; do
		for kind in 'os.eventfd(1)' 'select.epoll()' 'os.pidfd_open(os.getpid())' \
		    'libc.timerfd_create(1, 0)' 'libc.inotify_init1(0)' \
		    'libc.signalfd(-1, ctypes.create_string_buffer(128), 0)'; do
			with "$kind" "$RETRY" "$option" -n 3 -d 0 false 2>err || :
			consumed "$option"
			[ "$option" = -v ] || grep -qxF \
			    'retry: --replay-stdin: standard input is a special file, which cannot be read again' err
		done
	done
	[ -r /dev/kmsg ] || skip "no right to read a device"
	"$RETRY" -v -n 3 -d 0 false </dev/kmsg 2>err || :
	consumed
}

@test "an input that is never at its end does not prevent retries" {
	local option kind
	for option in -v -vI; do
		for kind in /dev/zero /dev/full /dev/urandom; do
			"$RETRY" "$option" -n 3 -d 0 sh -c 'head -c 9; exit 1' \
			    <"$kind" >out 2>err || :
			attempts 3 attempts
			[ "$(stat -c %s out)" -eq 27 ]
		done
		with 'os.open("/", os.O_PATH)' "$RETRY" "$option" -n 3 -d 0 false 2>err || :
		attempts 3 attempts
		with 'socket.create_server(("127.0.0.1", 0))' \
		    "$RETRY" "$option" -n 3 -d 0 false 2>err || :
		attempts 3 attempts
	done
}

@test "a directory and a file in memory are rewound" {
	local option count
	mkdir some
	touch some/one some/two
	count='import ctypes
libc = ctypes.CDLL(None)
libc.fdopendir.restype = libc.readdir.restype = ctypes.c_void_p
all = ctypes.c_void_p(libc.fdopendir(7))
print(sum(1 for _ in iter(lambda: libc.readdir(all), None)))'
	for option in -q -qI; do
		"$RETRY" "$option" -n 2 -d 0 sh -c 'exec 7<&0 </dev/null
			"$@"; exit 1' sh "$PYTHON" -IS -c "$count" <some >out || :
		[ "$(<out)" = $'4\n4' ]
		with 'os.write(f := os.memfd_create("x"), b"any") and os.lseek(f, 1, 0) and f' \
		    "$RETRY" "$option" -n 2 -d 0 sh -c 'cat; exit 1' >out || :
		[ "$(<out)" = nyny ]
	done
}

@test "without inotify it is noticed that bytes of a pipe are gone" {
	need_unwatched
	printf 'a\nb\n' | unwatched "$RETRY" -v -n 2 -d 0 sh -c 'read x; exit 7' \
		2>err || :
	consumed
	printf 'a\nb\n' | unwatched "$RETRY" -v -n 2 -d 0 sh -c 'cat; exit 7' \
		2>err >out || :
	consumed
	# The same for bytes that come late, unless they are read at once.
	mkfifo pipe
	exec 7<>pipe
	unwatched "$RETRY" -v -n 2 -d 0 sh -c '
		{ echo line; sleep 0.2; } >&7
		read x
		exit 1' <&7 2>err || :
	consumed
	exec 7>&-
}

@test "without inotify the end of a pipe may hide that it was read" {
	need_unwatched
	mkfifo pipe
	start sh -c 'exec "$@" <pipe' sh unshare -Ur sh -c '
		echo 0 >/proc/sys/user/max_inotify_instances
		exec "$@"' sh "$RETRY" -v -n 3 -d 0 sh -c '
		echo >ready
		cat
		exit 1'
	exec 7>pipe
	wait_for [ -e ready ]
	exec 7>&-
	ended
	consumed
}

@test "without inotify other inputs do not prevent retries" {
	need_unwatched
	printf 'a\nb\n' | unwatched "$RETRY" -q -n 3 -d 0 sh -c \
		'[ "$RETRY_ATTEMPT" = 3 ] && cat' >out
	[ "$(cat out)" = $'a\nb' ]
	: | unwatched "$RETRY" -v -n 3 -d 0 sh -c 'cat; exit 1' 2>err || :
	attempts 3 attempts
	mkfifo pipe
	exec 7<>pipe
	unwatched "$RETRY" -v -n 3 -d 0 false <&7 2>err || :
	exec 7>&-
	attempts 3 attempts
	printf '%s\n' 1 2 3 | while read -r x; do
		unwatched "$RETRY" -q -n 2 -d 0 sh -c 'echo "$1"; exit 1' sh "$x" || :
	done >out
	[ "$(cat out)" = $'1\n1\n2\n2\n3\n3' ]
}

@test "on kernels whose inotify ignores splice it is noticed, too" {
	need_silent
	printf 'a\nb\n' | silent "$RETRY" -v -n 2 -d 0 sh -c 'read x; exit 7' \
		2>err || :
	consumed
	printf 'a\nb\n' | silent "$RETRY" -v -n 2 -d 0 sh -c 'cat; exit 7' \
		2>err >out || :
	consumed
	mkfifo pipe
	exec 7<>pipe
	silent "$RETRY" -v -n 2 -d 0 sh -c '
		{ echo line; sleep 0.2; } >&7
		read x
		exit 1' <&7 2>err || :
	consumed
	exec 7>&-
}

@test "on kernels whose inotify ignores splice other inputs are retried" {
	need_silent
	printf 'a\nb\n' | silent "$RETRY" -q -n 3 -d 0 sh -c \
		'[ "$RETRY_ATTEMPT" = 3 ] && cat' >out
	[ "$(cat out)" = $'a\nb' ]
	: | silent "$RETRY" -v -n 3 -d 0 sh -c 'cat; exit 1' 2>err || :
	attempts 3 attempts
	# The pipe ends without any data, and no read was reported.
	mkfifo pipe
	rm err
	start sh -c 'exec "$@" <pipe' sh strace -qq -o trace \
		-e trace=inotify_add_watch \
		-e inject=inotify_add_watch:retval=1 "$RETRY" -v -n 3 -d 0 sh -c '
		echo >ready
		cat
		exit 1'
	exec 7>pipe
	wait_for [ -e ready ]
	exec 7>&-
	ended
	attempts 3 attempts
}

@test "a retry within another does not count as a reader" {
	printf 'a\nb\n' | "$RETRY" -v -n 2 -d 0 "$RETRY" -q -n 2 -d 0 false \
		2>err || :
	attempts 2 attempts
}

@test "with one attempt nothing is opened for the input" {
	printf 'a\n' | again 1 sh -c 'readlink "/proc/$PPID/fd/"*' >one
	printf 'a\n' | again 2 sh -c 'readlink "/proc/$PPID/fd/"*' >two
	run ! grep -q inotify one
	grep -q inotify two
}

#
# Who else moves the offset of a file
#

# many N: makes ./in, of N lines
many()
{
	seq "$1" >in
}

# bats test_tags=slow
@test "a loop that starts retries beside it reads each line of its file once" {
	many 20
	run -0 --separate-stderr bash -mc 'n=0
		while read -r line && ((++n < 300)); do
			echo "$line" >>lines
			"$RETRY" -qd .2 sh -c "echo >>ran; exit 1" &
			sleep .05
		done <in
		echo "$n"
		wait' 3>&-
	[ "$output" = 20 ]
	cmp in lines
	[ "$(lines ran)" -ge 20 ]
}

# bats test_tags=slow
@test "a loop that does not wait for an attempt that runs loses no line either" {
	many 5
	bash -mc 'while read -r line; do
			echo "$line" >>lines
			"$RETRY" -q -n 2 -d 0 sh -c "echo >>ran; sleep .2; exit 1" &
			sleep .05
		done <in
		wait' 3>&-
	cmp in lines
	[ "$(lines ran)" -ge 5 ]
}

@test "what another process has read meanwhile is not read again" {
	many 9
	exec 7<in
	mkfifo go
	start sh -c 'exec "$@" <&7' sh "$RETRY" -v -n 3 -d 60 -j none sh -c \
		'echo >>ran; exit 4'
	wait_for grep -q retrying err
	read -r line <&7
	[ "$line" = 1 ]
	kill -TERM "$pid"
	ended
	read -r line <&7
	[ "$line" = 2 ]
	exec 7<&-
}

@test "a file that moves between two attempts ends the series, with the remedies" {
	many 9
	exec 7<in
	start sh -c 'exec "$@" <&7' sh "$RETRY" -v -n 3 -d 1 -j none sh -c \
		'echo >>ran; exit 4'
	wait_for grep -q retrying err
	read -r line <&7
	ended
	[ "$status" -eq 4 ]
	[ "$(lines ran)" -eq 1 ]
	attempts 1 input-consumed
	grep -qxF 'retry: giving up before attempt 2: standard input was already consumed: use -I or </dev/null' err
	read -r line <&7
	[ "$line" = 2 ]
	exec 7<&-
}

@test "a process that an attempt left behind and that reads on ends the series" {
	many 100
	status=0
	"$RETRY" -v -n 3 -d 0 sh -c 'exec 7<&0; read -r x
		(exec sleep 20 <&7 7<&- >/dev/null 2>&1) & echo $! >straggler
		exit 4' <in 2>err 3>&- || status=$?
	kill "$(cat straggler)"
	[ "$status" -eq 4 ]
	attempts 1 input-consumed
}

@test "a file is read again if others have opened it on their own" {
	many 3
	exec 7<in 8<in # descriptions of their own
	run -1 again 2 sh -c 'cat; exit 1' <in
	[ "$output" = $'1\n2\n3\n1\n2\n3' ]
	read -r line <&8
	[ "$line" = 1 ]
	exec 7<&- 8<&-
}

@test "a file of a shell that waits is read again by each attempt" {
	many 3
	local shell
	for shell in sh bash; do
		run -1 "$shell" -c '{ "$RETRY" -q -n 2 -d 0 sh -c "cat; exit 1"; } <in'
		[ "$output" = $'1\n2\n3\n1\n2\n3' ]
		run -1 "$shell" -c 'exec <in
			out=$("$RETRY" -q -n 2 -d 0 sh -c "cat; exit 1")
			status=$?; echo "$out"; exit $status'
		[ "$output" = $'1\n2\n3\n1\n2\n3' ]
		run -0 "$shell" -c 'while read -r x; do
			"$RETRY" -q -n 2 -d 0 sh -c "exit 1" </dev/null; echo "$x"
		done <in'
		[ "$output" = $'1\n2\n3' ]
	done
	run -1 "$PYTHON" -IS -c 'import os, subprocess, sys
with open("in") as file:
    sys.exit(subprocess.call([os.environ["RETRY"], "-q", "-n", "2", "-d", "0",
                              "sh", "-c", "cat; exit 1"], stdin=file))'
	[ "$output" = $'1\n2\n3\n1\n2\n3' ]
}

@test "without a terminal no caller in another group counts as waiting" {
	isolate -pf --mount-proc
	many 3
	# The process group of this retry has no number in its PID namespace.
	setsid -w "${isolate[@]}" "$PYTHON" -IS - "$RETRY" <<-'END' 2>err 3>&- || :
		import os, sys
		shared = os.open("in", os.O_RDONLY)
		waits, go = os.pipe()
		if os.fork() == 0:
		    os.close(go)
		    os.read(waits, 1)
		    os.dup2(shared, 0)
		    os.execv(sys.argv[1], [sys.argv[1], "-v", "-n", "2", "-d", "0",
		                           "sh", "-c", "cat >/dev/null; exit 1"])
		os.setpgid(0, 0)
		os.close(go)
		os.wait()
	END
	attempts 1 input-consumed
}

@test "processes that start and end meanwhile do not count as readers" {
	local busy=()
	many 3
	for _ in 1 2 3; do
		while :; do /bin/true; done 3>&- &
		busy+=($!)
	done
	for _ in {1..20}; do
		run -1 again 2 sh -c 'cat; exit 1' <in
		[ "$output" = $'1\n2\n3\n1\n2\n3' ] || break
	done
	kill "${busy[@]}"
	[ "$output" = $'1\n2\n3\n1\n2\n3' ]
}

@test "where kcmp is forbidden, files and offsets are compared" {
	inject kcmp:error=EPERM
	many 3
	exec 8<in
	run -1 "${inject[@]}" "$RETRY" -q -n 2 -d 0 sh -c 'cat; exit 1' <in
	[ "$output" = $'1\n2\n3\n1\n2\n3' ]
	exec 8<&-
}

@test "with -I the offset that others share does not move" {
	many 3
	{
		read -r line
		run -1 again 2 -I sh -c 'head -n 1; exit 1'
		[ "$output" = $'2\n2' ]
		read -r line
	} <in
	[ "$line" = 2 ]
	run -0 --separate-stderr bash -mc 'while read -r line; do
			"$RETRY" -q -I -n 2 -d 0 sh -c "cat >/dev/null; exit 1" &
			echo "$line"
		done <in
		wait'
	[ "$output" = $'1\n2\n3' ]
}

@test "with -I a file that cannot be opened again is copied" {
	local less=()
	if [ "$(id -u)" -eq 0 ]; then # who may read anything, whatever its mode
		less=(setpriv "--bounding-set=-dac_override,-dac_read_search"
		    "--inh-caps=-dac_override,-dac_read_search")
		"${less[@]}" true 2>/dev/null || skip "no setpriv here"
	fi
	many 3
	exec 7<in
	chmod 0 in
	run -1 "${less[@]}" "$RETRY" -q -I -n 2 -d 0 sh -c 'cat; exit 1' <&7
	[ "$output" = $'1\n2\n3\n1\n2\n3' ]
	read -r line <&7
	[ "$line" = 1 ]
	exec 7<&-
}

#
# A socket that was reset
#

# reset STATUS COMMAND...: COMMAND with a socket for standard input, which is
# reset as soon as there is a file ./go: the other end closes with bytes unread
reset()
{
	"$PYTHON" -IS -c 'if True:
		import os, socket, subprocess, sys, time
		ours, theirs = socket.socketpair()
		theirs.send(b"nobody reads this")
		child = subprocess.Popen(sys.argv[1:], stdin=theirs)
		while child.poll() is None and not os.path.exists("go"):
		    time.sleep(0.01)
		ours.close()
		open("gone", "w").close()
		sys.exit(child.wait())' "$@" 3>&-
}

@test "a command that reads gets the reset, and that ends the series" {
	status=0
	reset "$RETRY" -v -n 3 -d 0 "$PYTHON" -IS -c 'if True:
		import os, socket, sys, time
		open("go", "w").close()
		while not os.path.exists("gone"):
		    time.sleep(0.01)
		time.sleep(0.1)
		try:
		    socket.socket(fileno=0).recv(1)
		except ConnectionResetError:
		    sys.exit(7)
		sys.exit(0)' 2>err || status=$?
	[ "$status" -eq 7 ]
	attempts 1 input-reset
	grep -q 'giving up: standard input was reset by its other end$' err
}

@test "a reset that no attempt has read does not prevent retries" {
	reset "$RETRY" -v -n 3 -d 0 sh -c 'touch go
		until [ -e gone ]; do sleep 0.01; done
		exit 7' 2>err || :
	attempts 3 attempts
}

@test "a reset whose error a blocked reader has taken ends the series, too" {
	"$PYTHON" -IS - "$RETRY" <<-'END'
		import socket, struct, subprocess, sys, time
		def ends(theirs, command, reset):
		    run = subprocess.Popen([sys.argv[1], "-q", "-d", "0", "--", *command],
		        stdin=theirs, stderr=subprocess.DEVNULL)
		    theirs.close()
		    with open(f"/proc/{run.pid}/task/{run.pid}/children") as children:
		        while run.poll() is None and not children.read().strip():
		            children.seek(0)
		    time.sleep(0.1)
		    reset()
		    return run.wait(20)
		for i in range(5):
		    theirs, mine = socket.socketpair()
		    theirs.send(b"unread")
		    assert ends(theirs, ["cat"], mine.close) == 1
		    server = socket.create_server(("127.0.0.1", 0))
		    theirs = socket.create_connection(server.getsockname())
		    mine = server.accept()[0]
		    mine.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
		    assert ends(theirs, ["cat"], mine.close) == 1
		theirs, mine = socket.socketpair()
		assert ends(theirs, ["sh", "-c", "sleep .3; test $RETRY_ATTEMPT = 2"], mine.close) == 0
	END
}
