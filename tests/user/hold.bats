#!/usr/bin/env bats
# Covers streams/capture, streams/tempfile, finish.
# -O and -E hold output until the attempt is judged: which attempt's output is
# written, where it is kept until then, and that none is lost without a message.
# shellcheck disable=SC2016 # the commands' shells expand
# shellcheck disable=SC2154 # run and start set what is read here

load helper
load actor

# Each attempt writes a line to both streams; number $won and those after it
# succeed, the others exit 7.
says=(sh -c 'echo "out $RETRY_ATTEMPT"; echo "err $RETRY_ATTEMPT" >&2
	[ "$RETRY_ATTEMPT" -ge "${won:-99}" ] || exit 7')

# wrote OUT ERR: the last retry wrote these
wrote()
{
	[ "$(<o)" = "$1" ] && [ "$(<e)" = "$2" ] || {
		tail -n 5 o e
		return 1
	}
}
nothing()
{
	[ ! -s "$1" ] || {
		echo "there is something in $1:"
		head -n 5 "$1"
		return 1
	}
}

# big: ten million bytes of every value in ./bytes
big()
{
	local any=$BATS_FILE_TMPDIR/any
	[ -e "$any" ] || head -c 10000000 /dev/urandom >"$any" # takes a while
	ln "$any" bytes
}

# The second attempt writes ./bytes; the first one writes something else.
copies='[ "$RETRY_ATTEMPT" -eq 2 ] || { echo wrong; exit 7; }; cat bytes'

# Waits until ./pipe is full.
choked()
{
	timeout 20 "$PYTHON" -IS -c 'import fcntl, struct, termios, time
def left():
    return struct.unpack("i", fcntl.ioctl(7, termios.FIONREAD, b"0000"))[0]
while left() < 60000:
    time.sleep(0.02)'
}

# retry has no child any more: it waits.
delayed()
{
	[ -z "$(<"/proc/$pid/task/$pid/children")" ]
}

# past TIME: now() is TIME or later
past()
{
	(($(now) >= $1))
}

# mounted OPTIONS: the array $with runs a command where ./mnt is a tmpfs
mounted()
{
	isolate -m
	mkdir -p mnt
	"${isolate[@]}" mount -t tmpfs none mnt 2>/dev/null ||
		skip 'no right to mount here'
	with=("${isolate[@]}" sh -c
		'mount -t tmpfs -o '"$1"' none mnt || exit 99; exec "$@"' sh)
}

#
# Standard output
#

@test "-O writes what the attempt that succeeds wrote, and of no other" {
	won=3 finishes 0 -q -O -- "${says[@]}"
	wrote 'out 3' $'err 1\nerr 2\nerr 3'
	won=1 finishes 0 --hold-stdout -- "${says[@]}"
	wrote 'out 1' 'err 1'
}

@test "-O writes nothing when all attempts have failed" {
	finishes 7 -q -n 3 -O -- "${says[@]}"
	wrote '' $'err 1\nerr 2\nerr 3'
}

@test "-O writes nothing after a stop, a timeout, the deadline, a failure by rule" {
	finishes 7 -O --stop-on 7 -- "${says[@]}"
	nothing o
	finishes 1 -O --fail-on 0 -n 2 -- env won=1 "${says[@]}"
	nothing o
	finishes 124 -O -n 2 -t 0.1 -k 0 -- sh -c 'echo lost; exec sleep 20'
	nothing o
	finishes 124 -O -T 0.2 -k 0 -- sh -c 'echo lost; exec sleep 20'
	nothing o
	finishes 127 -O -- nosuch
	nothing o
	grep -q "cannot run 'nosuch'" e
}

@test "-O writes what a success by rule wrote" {
	finishes 0 -O --success-on 7 -- "${says[@]}"
	wrote 'out 1' 'err 1'
}

@test "after a timeout, a success writes only its own output" {
	finishes 0 -q -O -t 1 -k 0 -- sh -c 'echo "$RETRY_ATTEMPT"
		[ "$RETRY_ATTEMPT" -eq 2 ] || exec sleep 20'
	wrote 2 ''
}

@test "held output is not written before its attempt has ended" {
	mkfifo gate
	start "$RETRY" -O sh -c 'echo held; echo told >&2; read -r line <gate'
	wait_for told told
	[ ! -s out ]
	echo >gate
	ended
	[ "$status" -eq 0 ]
	[ "$(<out)" = held ]
}

@test "-O leaves standard error as it is" {
	readlink /proc/self/fd/2 2>e >direct
	finishes 0 -O -- readlink /proc/self/fd/2
	diff direct o
	direct=$(stat -c %i e)
	[ "$direct" = "$(stat -L -c %i e)" ]
	won=1 run -0 "$RETRY" -q -O "${says[@]}"
	[ "$output" = $'err 1\nout 1' ] # at once, and in the end
}

@test "a closed descriptor stays closed for the command" {
	run -3 --separate-stderr sh -c 'exec "$@" >&-' sh "$RETRY" -q -n 2 -d 0 -O \
	    sh -c '[ ! -e /proc/$$/fd/1 ] && echo closed >&2; exit 3'
	[ "$stderr" = $'closed\nclosed' ]
	run -3 --separate-stderr sh -c 'exec "$@" 2>&-' sh "$RETRY" -n 2 -d 0 -E \
	    sh -c '[ ! -e /proc/$$/fd/2 ] && echo closed; exit 3'
	[ "$output" = $'closed\nclosed' ]
	run -0 sh -c 'exec "$@" >&-' sh "$RETRY" -O true
}

#
# Standard error
#

@test "-E writes nothing on success, neither the command's nor its own" {
	won=3 finishes 0 -E -- "${says[@]}"
	wrote $'out 1\nout 2\nout 3' ''
	won=1 finishes 0 -v --hold-stderr -- "${says[@]}"
	nothing e
}

@test "-E ends a final failure with the last attempt's stderr, then one line" {
	finishes 7 -n 3 -E -- "${says[@]}"
	wrote $'out 1\nout 2\nout 3' \
	    $'err 3\nretry: attempt 3/3 failed (exit 7), giving up: attempts exhausted'
	finishes 7 -E --stop-on 7 -- "${says[@]}"
	wrote 'out 1' \
	    $'err 1\nretry: attempt 1/5 failed (exit 7), giving up: --stop-on 7'
	finishes 124 -E -n 2 -t 0.1 -k 0 -- sh -c 'echo theirs >&2; exec sleep 20'
	[ "$(<e)" = $'theirs\nretry: attempt 2/2 timed out after 0.1s, giving up: attempts exhausted' ]
}

@test "-E and -q write the last attempt's stderr and no line" {
	finishes 7 -q -n 3 -E -- "${says[@]}"
	[ "$(<e)" = 'err 3' ]
}

@test "-E hides no line that -q would not" {
	for quiet in '' -q; do
		# shellcheck disable=SC2086 # may be nothing
		finishes 127 -E $quiet -- 5 true
		[ "$(<e)" = "retry: cannot run '5': No such file or directory
retry: did you mean -n 5?" ]
		# shellcheck disable=SC2086
		finishes 126 -E $quiet -- "$PWD"
		[ "$(<e)" = "retry: cannot run '$PWD': Permission denied" ]
	done
}

@test "-E holds warnings too" {
	won=1 finishes 0 -E -B api --budget-dir nosuch -- "${says[@]}"
	nothing e
	finishes 7 -n 2 -E -B api --budget-dir nosuch -- "${says[@]}"
	[ "$(<e)" = $'err 2\nretry: attempt 2/2 failed (exit 7), giving up: attempts exhausted' ]
}

@test "-E does not hold an error because of which nothing is run" {
	finishes 69 -E -B api --budget-dir nosuch --budget-required -- touch ran
	[ ! -e ran ]
	grep -q "^retry: budget 'api': " e
}

@test "-E leaves standard output as it is" {
	finishes 0 -E -- readlink /proc/self/fd/1
	[ "$(<o)" = "$PWD/o" ]
}

@test "both are held apart, though they go to the same place" {
	won=2 run -0 "$RETRY" -d 0 -O -E "${says[@]}"
	[ "$output" = 'out 2' ]
	run -7 "$RETRY" -d 0 -n 2 -O -E "${says[@]}"
	[ "$output" = $'err 2\nretry: attempt 2/2 failed (exit 7), giving up: attempts exhausted' ]
}

@test "a command that joins its streams has them held in order" {
	finishes 0 -O -E -- sh -c 'exec 2>&1; i=0
		while [ $((i += 1)) -lt 500 ]; do echo "$i"; echo "$i" >&2; done'
	i=0
	while [ $((i += 1)) -lt 500 ]; do printf '%d\n%d\n' "$i" "$i"; done | cmp - o
	nothing e
}

@test "an interruption during a delay delivers what -E held, and dies of it" {
	for signal in TERM INT HUP; do
		rm -f out err
		start "$RETRY" -d 20 -j none -n 2 -O -E sh -c \
		    'echo held >&2; echo lost; echo >>over; exit 7'
		wait_for test -s over
		wait_for delayed
		kill -"$signal" "$pid"
		ended
		[ "$status" -eq $((128 + $(kill -l "$signal"))) ]
		[ "$(head -n 1 err)" = held ]
		[ "$(lines err)" -eq 2 ]
		grep -q '^retry: ' err
		nothing out
		rm over
	done
}

@test "an interrupted attempt's stderr is delivered, its output is not" {
	start "$RETRY" -O -E sh -c 'echo lost; echo held >&2; echo $$ >command
		exec sleep 20'
	wait_for test -s command
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	[ "$(<err)" = $'held\nretry: attempt 1/5 killed by SIGTERM, giving up: interrupted' ]
	[ ! -s out ]
}

@test "a success in spite of an interruption is written" {
	start "$RETRY" -O -E sh -c 'trap "exit 0" TERM; echo held; echo lost >&2
		echo >ready; while :; do sleep 0.01; done'
	wait_for test -s ready
	kill -TERM "$pid"
	ended
	[ "$status" -eq 0 ]
	[ "$(<out)" = held ]
	[ ! -s err ]
}

#
# Where it is kept
#

@test "each attempt has its own file, without a name, which ends with it" {
	mkdir tmp
	TMPDIR=$PWD/tmp finishes 0 -O -E -- sh -c 'ls -A tmp >>listed
		links=$(readlink /proc/$$/fd/1 /proc/$$/fd/2)
		stats=$(stat -L -c "%i %h %a" /proc/$$/fd/1 /proc/$$/fd/2)
		echo "$links" >>links
		echo "$stats" >>stats
		[ "$RETRY_ATTEMPT" -eq 3 ]'
	nothing listed
	[ -z "$(ls -A tmp)" ]
	[ "$(grep -c "^$PWD/tmp/.* (deleted)$" links)" -eq 6 ]
	[ "$(cut -d ' ' -f 2- stats | sort -u)" = '0 600' ]
	[ "$(lines stats)" -eq 6 ]
}

@test "the command gets no descriptor of ours" {
	finishes 0 -O -E -- sh -c 'ls /proc/$$/fd'
	sh -c 'ls /proc/$$/fd' 3>&- >direct
	diff direct o
}

@test "a process of an earlier attempt does not write into a later one's file" {
	mkfifo gate
	finishes 0 -q -O -E -- sh -c 'case $RETRY_ATTEMPT in
		1)	(read -r line; echo straggler; echo straggler >&2
			echo >late) <gate &
			exit 7 ;;
		2)	echo >gate
			while [ ! -e late ]; do sleep 0.01; done
			echo two; echo two >&2 ;;
		esac'
	[ -e late ]
	[ "$(<o)" = two ]
	nothing e
}

@test "nor does it if a pattern is searched for" {
	mkfifo gate
	finishes 0 -q -O --retry-on stdout:one -- sh -c 'case $RETRY_ATTEMPT in
		1)	(read -r line; echo straggler; echo >late) <gate &
			echo one; exit 7 ;;
		2)	echo >gate
			while [ ! -e late ]; do sleep 0.01; done
			echo two ;;
		esac'
	[ "$(<o)" = two ]
}

@test "output is delivered although a process goes on writing" {
	finishes 0 -O -- sh -c 'echo first
		(echo $$ >/dev/null; exec 2>/dev/null; while [ ! -e over ]; do
			echo more; done; : >gone) &'
	[ "$(head -n 1 o)" = first ]
	[ "$(tail -n +2 o | sort -u)" = more ] || [ "$(lines o)" -eq 1 ]
	: >over
	wait_for test -e gone
}

# A process substitution writes when its shell has ended. On a busy machine that
# may be later than retry waits for it.
@test "output just after the end of the command is delivered" {
	of_success()
	{
		finishes 0 -O -n 1 "$@" -- bash -c 'echo hi > >(sed s/^/out:/)' &&
			wrote out:hi ''
	}
	of_failure()
	{
		finishes 7 -q -E -n 1 -- bash -c 'echo hi > >(sed s/^/err:/ >&2)
			exit 7' && wrote '' err:hi
	}
	for _ in {1..10}; do
		wait_for of_success
		wait_for of_success --fail-on stdout:nosuch
		wait_for of_failure
	done
}

@test "a process that keeps the output open is not waited for" {
	local before after
	before=$(now)
	finishes 0 -O -n 1 -- sh -c 'echo first; sleep 20 2>/dev/null & echo $! >job'
	after=$(now)
	kill "$(<job)"
	wrote first ''
	((after - before < 5000))
}

@test "an interruption ends that wait, and loses no held output" {
	start "$RETRY" -q -n 1 -E sh -c 'echo held >&2; sleep 20 >/dev/null &
		echo $! >job; echo $PPID >parent; exit 7'
	wait_for test -s parent
	wait_for delayed
	kill -TERM "$pid" 2>/dev/null || : # at the latest it is over by then
	ended
	kill "$(<job)"
	[ "$status" -eq 143 ] || [ "$status" -eq 7 ]
	[ "$(<err)" = held ]
}

@test "a command can seek back in its output" {
	finishes 0 -O -- "$PYTHON" -IS -c 'import os
os.write(1, b"header?body")
os.pwrite(1, b"!", 6)
os.lseek(1, 0, os.SEEK_SET)
os.write(1, b"HEADER")'
	[ "$(<o)" = 'HEADER!body' ]
}

@test "standard error that is opened again in between loses nothing" {
	finishes 7 -q -n 1 -E -- sh -c 'echo 1 >&2; echo 2 >>/dev/stderr; echo 3 >&2
		tee -a /dev/stderr <<-END >/dev/null
			4
		END
		echo 5 >&2; exit 7'
	[ "$(tr '\n' ' ' <e)" = '1 2 3 4 5 ' ]
}

@test "without TMPDIR's directory nothing is run: 125" {
	for hold in -O -E; do
		TMPDIR=$PWD/nosuch finishes 125 "$hold" -- touch ran
		[ ! -e ran ]
		[ "$(lines e)" -eq 1 ]
		grep -q "^retry: .*: No such file or directory, in '$PWD/nosuch' (\$TMPDIR); command not run\$" e
	done
}

@test "without -O and -E TMPDIR is not needed" {
	TMPDIR=$PWD/nosuch finishes 0 -- echo ok
	[ "$(<o)" = ok ]
}

# rootless: the array $in runs a command where no file can be made in /tmp;
# ./here is retry
rootless()
{
	isolate -m
	cp "$RETRY" here
	in=("${isolate[@]}" env -u TMPDIR sh -c
		'mount -t tmpfs -o ro none /tmp || exit 99; exec "$@"' sh)
	"${in[@]}" true 2>/dev/null || skip 'no right to mount here'
}

@test "without a /tmp that can be written to output is held in memory" {
	rootless
	is 0 "${in[@]}" ./here -q -d 0 -O -E sh -c 'echo "out $RETRY_ATTEMPT"
		echo "err $RETRY_ATTEMPT" >&2
		links=$(readlink /proc/$$/fd/1 /proc/$$/fd/2)
		echo "$links" >links
		[ "$RETRY_ATTEMPT" -eq 2 ]'
	[ "$(<out)" = 'out 2' ]
	nothing err
	[ "$(grep -c '^/memfd:' links)" -eq 2 ]
	rm out
	is 7 "${in[@]}" ./here -q -d 0 -n 2 -O -E sh -c 'echo lost
		echo 1 >&2; echo 2 >>/dev/stderr; exit 7'
	nothing out
	[ "$(<err)" = $'1\n2' ]
	big
	rm -f out err
	is 0 "${in[@]}" ./here -q -O --fail-on stdout:nosuch cat bytes
	cmp bytes out
}

@test "with TMPDIR set output is held there, or nothing is run" {
	rootless
	is 125 "${in[@]}" env TMPDIR=/tmp ./here -O touch ran
	[ ! -e ran ]
}

#
# How much of it
#

@test "more than --hold-max is an error of ours, whatever the command does: 125" {
	for status in 0 7; do
		finishes 125 -O --hold-max 1k -- sh -c \
		    "head -c 1025 /dev/zero; exit $status"
		nothing o
		[ "$(<e)" = "retry: attempt 1/5 failed (exit $status), giving up: more output than --hold-max" ]
		finishes 125 -E --hold-max 1k -- sh -c \
		    "head -c 1025 /dev/zero >&2; exit $status"
		[ "$(tail -c +1026 e)" = "retry: attempt 1/5 failed (exit $status), giving up: more output than --hold-max" ]
	done
}

@test "output of up to --hold-max is held" {
	finishes 0 -O --hold-max 1k -- head -c 1024 /dev/zero
	[ "$(stat -c %s o)" -eq 1024 ]
	finishes 0 -O -E --hold-max 1k -- sh -c 'head -c 1024 /dev/zero
		head -c 1024 /dev/zero >&2'
	[ "$(stat -c %s o)" -eq 1024 ]
}

@test "what other processes write later does not count for --hold-max" {
	# shellcheck disable=SC2016 # for that shell
	local late='echo all
		{ while [ -d "/proc/$$" ]; do sleep 0.01; done
		  sleep 0.03; head -c 2000 /dev/zero; sleep 0.3; } &'
	finishes 0 -O --hold-max 1k -- sh -c "$late"
	wrote all ''
	finishes 0 -O --hold-max 1k --fail-on stdout:nosuch -- sh -c "$late"
	wrote all ''
	finishes 7 -q -n 1 --chronic --hold-max 1k -- sh -c "$late exit 7"
	wrote all ''
}

@test "a command that writes on and on is ended at --hold-max" {
	for option in '' --fail-on=stdout:nosuch; do
		# shellcheck disable=SC2086 # may be nothing
		finishes 125 -O $option --hold-max 1M -- sh -c 'echo >>ran; exec yes'
		nothing o
		[ "$(<e)" = 'retry: attempt 1/5 killed by SIGTERM, giving up: more output than --hold-max' ]
	done
	[ "$(lines ran)" -eq 2 ]
}

@test "a command that ignores TERM is killed there, with its processes" {
	finishes 125 -O -k 0.1 --hold-max 1M -- env MARK="$BATS_TEST_TMPDIR" sh -c '
		trap "" TERM
		sleep 60 2>/dev/null &
		while :; do head -c 100000 /dev/zero; done'
	grep -q 'killed by SIGKILL, giving up: more output than --hold-max' e
	wait_for none_left "$BATS_TEST_TMPDIR"
}

@test "processes from before the attempt are not ended with it" {
	is 125 sh -c 'sleep 60 & echo $! >elder
		exec "$RETRY" -q -O --hold-max 1k yes'
	kill "$(<elder)"
}

@test "stderr above --hold-max is delivered, and then an error line" {
	finishes 125 -E -n 3 --hold-max 1k -- sh -c \
	    'seq 1000 >&2; echo >>ran; exit 7'
	head -n 1000 e | cmp - <(seq 1000)
	[ "$(tail -n +1001 e)" = 'retry: attempt 1/3 failed (exit 7), giving up: more output than --hold-max' ]
	[ "$(lines ran)" -eq 1 ]
}

@test "the error is printed under -q, too, and in the report" {
	finishes 125 -q -O --hold-max 1k --report report -- yes
	grep -q 'more output than --hold-max' e
	grep -q '"reason": "internal"' report
	grep -q '"rule": "hold-max"' report
}

@test "--hold-max applies in memory, too" {
	rootless
	is 125 "${in[@]}" ./here -O --hold-max 1M yes
	nothing out
}

#
# Delivery, byte for byte
#

@test "ten megabytes reach a file exactly" {
	big
	finishes 0 -q -O -- sh -c "$copies"
	cmp bytes o
}

@test "ten megabytes reach the end of a file exactly" {
	big
	echo before >both
	"$RETRY" -q -d 0 -O sh -c "$copies" >>both
	{ echo before; cat bytes; } | cmp - both
}

@test "bytes before and behind in a file are not changed" {
	printf '0123456789' >both
	{
		echo -n ab
		"$RETRY" -q -O echo -n cd
		echo -n ef
	} 1<>both
	[ "$(<both)" = abcdef6789 ]
}

@test "ten megabytes reach a pipe exactly" {
	big
	"$RETRY" -q -d 0 -O sh -c "$copies" | cmp bytes -
	"$RETRY" -q -d 0 -n 2 -E sh -c 'cat bytes >&2; exit 7' 2>&1 >o | cmp bytes -
	nothing o
}

@test "ten megabytes reach a slow reader exactly" {
	big
	"$RETRY" -q -d 0 -O sh -c "$copies" | "$PYTHON" -IS -c 'import os, time
while True:
    some = os.read(0, 262144)
    if not some:
        break
    os.write(1, some)
    time.sleep(0.001)' | cmp bytes -
}

@test "ten megabytes reach a socket exactly" {
	big
	"$PYTHON" -IS - "$RETRY" "$copies" <<-'END'
		import hashlib, socket, subprocess, sys, time
		ours, theirs = socket.socketpair()
		child = subprocess.Popen(
		    [sys.argv[1], '-q', '-d', '0', '-O', 'sh', '-c', sys.argv[2]],
		    stdout=theirs)
		theirs.close()
		time.sleep(0.2)
		got = b''
		while True:
		    some = ours.recv(1 << 20)
		    if not some:
		        break
		    got += some
		assert child.wait() == 0
		assert got == open('bytes', 'rb').read(), len(got)
	END
}

@test "held output reaches a terminal exactly" {
	seq 20000 >bytes
	run -0 "$PYTHON" -IS "$BATS_TEST_DIRNAME/../tools/pty.py" -- "$RETRY" -q -d 0 -O sh -c "$copies"
	cmp bytes - <<<"$output"
}

@test "held output that a pattern sees is delivered exactly" {
	big
	finishes 0 -q -O --retry-on stdout:wrong -- sh -c "$copies"
	cmp bytes o
	finishes 7 -q -n 2 -E --retry-on stderr:nosuch --retry-on 7 -- \
	    sh -c 'cat bytes >&2; exit 7'
	cmp bytes e
}

@test "a pattern sees held output" {
	finishes 0 -O -E --retry-on stdout:busy -- sh -c \
	    '[ "$RETRY_ATTEMPT" -eq 2 ] && echo ok || { echo busy; exit 3; }'
	wrote ok ''
	finishes 3 -O -E --stop-on stderr:denied -- sh -c \
	    'echo lost; echo denied >&2; exit 3'
	nothing o
	[ "$(head -n 1 e)" = denied ]
	[ "$(lines e)" -eq 2 ]
	finishes 1 -n 2 -O --fail-on stdout:error -- echo error
	nothing o
}

@test "nothing is added to empty output" {
	finishes 0 -O -E -- true
	nothing o
	nothing e
	finishes 0 -O -- printf 'no newline'
	[ "$(od -An -c o | tr -d ' ')" = 'nonewline' ]
	[ "$(stat -c %s o)" -eq 10 ]
}

#
# Delivery that fails
#

@test "output that cannot be delivered is an error of ours: 125" {
	"$RETRY" -O echo lost >/dev/full 2>e && status=0 || status=$?
	[ "$status" -eq 125 ]
	[ "$(<e)" = 'retry: cannot write to standard output: No space left on device' ]
	"$RETRY" -O -E -d 0 env won=2 "${says[@]}" >/dev/full 2>e &&
		status=0 || status=$?
	[ "$status" -eq 125 ]
	[ "$(<e)" = 'retry: cannot write to standard output: No space left on device' ]
	"$RETRY" -q -O echo lost 2>e 1</dev/null && status=0 || status=$?
	[ "$status" -eq 125 ]
	[ "$(<e)" = 'retry: cannot write to standard output: Bad file descriptor' ]
}

@test "no output needs no room" {
	"$RETRY" -O true >/dev/full
	run -7 "$RETRY" -q -n 2 -d 0 -E sh -c 'exit 7' 2>/dev/full
}

@test "error output that cannot be delivered is an error of ours: 125" {
	run -125 sh -c 'exec "$@" 2>/dev/full' sh \
	    "$RETRY" -n 2 -d 0 -E "${says[@]}"
}

@test "without a reader retry dies of SIGPIPE, as the command would" {
	direct=$(seq 100000 | head -n 1; echo "${PIPESTATUS[0]}")
	under=$("$RETRY" -O seq 100000 2>e | head -n 1; echo "${PIPESTATUS[0]}")
	[ "$under" = "$direct" ]
	[[ $direct == *141 ]]
	nothing e
}

@test "without a reader, and with SIGPIPE ignored, there is an error line" {
	status=$(env --ignore-signal=PIPE "$RETRY" -O seq 100000 2>e | head -n 1 >o
		echo "${PIPESTATUS[0]}")
	[ "$status" -eq 125 ]
	[ "$(<e)" = 'retry: cannot write to standard output: Broken pipe' ]
}

@test "if no file can be made, the error names the directory" {
	local files said=
	mkdir tmp
	for files in {3..20}; do
		said=$(ulimit -n "$files"
			TMPDIR=$PWD/tmp exec "$RETRY" -O touch ran 2>&1) ||
			[ $? = 125 ] || continue
		[[ $said != *'cannot make a file'* ]] || break
	done
	[ "$said" = "retry: cannot relay or hold output: cannot make a file: Too many open files, in '$PWD/tmp' (\$TMPDIR); command not run" ]
	said=$(ulimit -n "$files"
		unset TMPDIR
		exec "$RETRY" -O touch ran 2>&1) || [ $? = 125 ]
	[ "$said" = "retry: cannot relay or hold output: cannot make a file: Too many open files, in '/tmp' (\$TMPDIR is not set); command not run" ]
	[ ! -e ran ]
}

@test "that nobody reads its stderr changes nothing for a failure" {
	status=$("$RETRY" -n 2 -d 0 -E sh -c 'seq 100000 >&2; exit 7' 2>&1 >o |
	    head -n 1 >first; echo "${PIPESTATUS[0]}")
	[ "$status" -eq 7 ]
	[ "$(<first)" = 1 ]
}

@test "a full disk under the output is an error of ours: 125" {
	mounted size=64k
	is 125 "${with[@]}" sh -c '"$@" >mnt/o' sh "$RETRY" -O head -c 200000 /dev/zero
	[ "$(<err)" = 'retry: cannot write to standard output: No space left on device' ]
}

@test "a full disk for held output is the command's error, if it checks" {
	mounted size=64k
	head -c 200000 /dev/zero >bytes
	TMPDIR=$PWD/mnt is 1 "${with[@]}" "$RETRY" -n 1 -O cat bytes
	grep -q 'No space left on device' err
	grep -q 'giving up: attempts exhausted' err
	nothing out
}

@test "a full disk for held output is our error, if it does not: 125" {
	mounted size=64k
	TMPDIR=$PWD/mnt is 125 "${with[@]}" "$RETRY" -O \
	    sh -c 'head -c 200000 /dev/zero 2>/dev/null; exit 0'
	[ "$(<err)" = 'retry: cannot write to standard output: No space left on device' ]
	nothing out
	rm err
	TMPDIR=$PWD/mnt is 125 "${with[@]}" "$RETRY" -O --fail-on stdout:nosuch \
	    head -c 200000 /dev/zero
	[ "$(<err)" = 'retry: cannot write to standard output: No space left on device' ]
	nothing out
}

@test "a limit on the size of files is an error of ours: 125" {
	head -c 8000 /dev/zero >limited
	(ulimit -f 10; "$RETRY" -O head -c 4000 /dev/zero >>limited) 2>e &&
		status=0 || status=$?
	[ "$status" -eq 125 ]
	[ "$(<e)" = 'retry: cannot write to standard output: File too large' ]
}

@test "a limit on the size of files ends a command that reaches it" {
	(ulimit -f 10; "$RETRY" -n 1 -O cat /dev/zero >o) 2>e &&
		status=0 || status=$?
	[ "$status" -eq $((128 + $(kill -l XFSZ))) ]
	nothing o
}

@test "a limit on the size of files for held output is, too: 125" {
	for option in '' --fail-on=stdout:nosuch; do
		# shellcheck disable=SC2086 # may be nothing
		(ulimit -f 1; is 125 "$RETRY" -O -n 1 $option -- \
		    sh -c 'seq 1 100000 2>/dev/null; exit 0')
		[ "$(<err)" = 'retry: cannot write to standard output: File too large' ]
		nothing out
		rm err
	done
	(ulimit -f 1; is 0 "$RETRY" -O -n 1 -- seq 1 200)
	seq 1 200 | cmp - out
	(ulimit -f 0; is 0 "$RETRY" -O -n 1 -- true)
}

@test "a limit for held stderr is an error of ours with a pattern, too" {
	for option in '' --retry-on=stderr:nosuch; do
		# shellcheck disable=SC2086
		status=$( (ulimit -f 1; exec "$RETRY" -q -E -n 1 $option -- \
		    sh -c 'seq 1 100000 >&2 2>/dev/null; exit 7' 2>&1) |
			cat >o; echo "${PIPESTATUS[0]}")
		[ "$status" -eq 125 ]
		[ "$(head -c 1024 o)" = "$(seq 1 100000 | head -c 1024)" ]
		[ "$(tail -n 1 o)" = \
		    'retry: cannot write to standard error: File too large' ]
	done
}

@test "a full disk for held stderr is an error of ours with a pattern, too" {
	mounted size=64k
	for option in '' --retry-on=stderr:nosuch; do
		# shellcheck disable=SC2086
		TMPDIR=$PWD/mnt is 125 "${with[@]}" "$RETRY" -q -E -n 1 $option -- \
		    sh -c 'head -c 200000 /dev/zero >&2 2>/dev/null; exit 7'
		[ "$(tail -n 1 err | tr -d '\0')" = \
		    'retry: cannot write to standard error: No space left on device' ]
		rm err
	done
}

@test "a full disk matters only if something is written" {
	mounted size=64k
	TMPDIR=$PWD/mnt is 0 "${with[@]}" sh -c \
	    'head -c 200000 /dev/zero >mnt/all 2>/dev/null; exec "$@"' sh \
	    "$RETRY" -O -E -n 1 true
	nothing err
	TMPDIR=$PWD/mnt is 7 "${with[@]}" sh -c \
	    'head -c 200000 /dev/zero >mnt/all 2>/dev/null; exec "$@"' sh \
	    "$RETRY" -q -O -E -n 1 sh -c 'exit 7'
	nothing err
	TMPDIR=$PWD/mnt is 125 "${with[@]}" sh -c \
	    'head -c 200000 /dev/zero >mnt/all 2>/dev/null; exec "$@"' sh \
	    "$RETRY" -O -n 1 sh -c 'echo lost 2>/dev/null; exit 0'
	[ "$(<err)" = 'retry: cannot write to standard output: No space left on device' ]
	nothing out
}

#
# Delivery that takes its time
#

@test "TERM ends a delivery at once" {
	big
	stuck -O cat bytes
	choked
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	exec 7>&-
}

@test "a signal that ends nothing does not end the delivery" {
	big
	mkfifo pipe
	start sh -c 'exec "$@" >pipe' sh "$RETRY" -O cat bytes
	exec 7<pipe
	choked
	kill -USR1 "$pid"
	kill -WINCH "$pid"
	cmp bytes - <&7
	ended
	[ "$status" -eq 0 ]
	exec 7<&-
}

@test "the deadline does not cut what a success has to deliver" {
	local before
	big
	mkfifo pipe
	before=$(now)
	start sh -c 'exec "$@" >pipe' sh "$RETRY" -T 0.4 -O cat bytes
	exec 7<pipe
	choked
	wait_for past "$((before + 700))"
	cmp bytes - <&7
	ended
	[ "$status" -eq 0 ]
	exec 7<&-
}

@test "past the deadline stderr reaches a slow reader" {
	local before
	big
	mkfifo pipe
	before=$(now)
	start sh -c 'exec "$@" 2>pipe' sh "$RETRY" -q -T 0.4 -k 0 -E sh -c \
	    'cat bytes >&2; exec sleep 20'
	exec 7<pipe
	choked
	wait_for past "$((before + 1000))"
	"$PYTHON" -IS -c 'import os, time
while True:
    some = os.read(0, 65536)
    if not some:
        break
    os.write(1, some)
    time.sleep(0.002)' <&7 >got
	ended
	[ "$status" -eq 124 ]
	cmp bytes got
	exec 7<&-
}

@test "past the deadline a signal ends the wait for a stuck reader" {
	local before
	to=2
	before=$(now)
	stuck -T 0.4 -k 0 -n 2 -E sh -c \
	    'head -c 200000 /dev/zero >&2; exec sleep 20'
	choked
	wait_for past "$((before + 1000))"
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	exec 7>&-
}

@test "an interruption does not wait for a stuck reader" {
	to=2
	stuck -d 20 -j none -n 2 -E sh -c 'head -c 200000 /dev/zero >&2
		echo >over; exit 7'
	wait_for test -s over
	wait_for delayed
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	exec 7>&-
}

@test "an interruption of an attempt does not either" {
	# shellcheck disable=SC2034 # stuck reads it
	to=2
	stuck -n 2 -E sh -c 'head -c 200000 /dev/zero >&2; echo $$ >command
		exec sleep 20'
	wait_for test -s command
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	exec 7>&-
}
