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

# leaves STATUS OUT ERR OPTION... -- COMMAND...: retry without delays ends with
# STATUS, and has written these
leaves()
{
	finishes "$1" "${@:4}"
	wrote "$2" "$3"
}

# drops STATUS OPTION... -- COMMAND...: it writes nothing to its output
drops()
{
	finishes "$@"
	nothing o
	grep -q '^retry: .*, giving up: ' e
}

# big: ten million bytes of every value in $bytes
big()
{
	export bytes=$BATS_FILE_TMPDIR/any
	[ -e "$bytes" ] || head -c 10000000 /dev/urandom >"$bytes" # takes a while
}

# The second attempt writes $bytes; the first one writes something else.
copies='[ "$RETRY_ATTEMPT" -eq 2 ] || { echo wrong; exit 7; }; cat "$bytes"'

# Waits until ./pipe is full.
choked()
{
	"$ACTOR" unread 7 60000
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

# mounted OPTIONS: the array $with runs a command where $mnt is a tmpfs
mounted()
{
	isolate -m
	export mnt=$PWD/mnt
	mkdir "$mnt"
	"${isolate[@]}" mount -t tmpfs none "$mnt" 2>/dev/null ||
		skip 'no right to mount here'
	with=("${isolate[@]}" sh -c
		'mount -t tmpfs -o '"$1"' none "$mnt" || exit 99; exec "$@"' sh)
}

#
# Standard output
#

@test "-O writes what the attempt that succeeds wrote, and of no other" {
	local hangs='echo "$RETRY_ATTEMPT"
		[ "$RETRY_ATTEMPT" -eq 2 ] || exec sleep 20'
	won=3 row 'after failures' leaves 0 'out 3' $'err 1\nerr 2\nerr 3' \
		-q -O -- "${says[@]}"
	won=1 row 'the first' leaves 0 'out 1' 'err 1' --hold-stdout -- "${says[@]}"
	row 'by rule' leaves 0 'out 1' 'err 1' -O --success-on 7 -- "${says[@]}"
	row 'after a timeout' leaves 0 2 '' -q -O -t 1 -k 0 -- sh -c "$hangs"
	row 'nothing when all have failed' \
		leaves 7 '' $'err 1\nerr 2\nerr 3' -q -n 3 -O -- "${says[@]}"
	row 'nothing after a stop' drops 7 -O --stop-on 7 -- "${says[@]}"
	row 'nothing after a failure by rule' \
		drops 1 -O --fail-on 0 -n 2 -- env won=1 "${says[@]}"
	row 'nothing after a failure by a pattern' \
		drops 1 -n 2 -O --fail-on stdout:error -- echo error
	row 'nothing after a timeout' \
		drops 124 -O -n 2 -t 0.1 -k 0 -- sh -c 'echo lost; exec sleep 20'
	row 'nothing after the deadline' \
		drops 124 -O -T 0.2 -k 0 -- sh -c 'echo lost; exec sleep 20'
	row 'nothing where nothing is run' leaves 127 '' \
		"retry: cannot run 'nosuch': $(why nosuch)" -O -- nosuch
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

# last: what -n 3 says in the end
last='attempt 3/3 failed (exit 7), giving up: attempts exhausted'

@test "-E writes the stderr of an attempt that fails last, then one line" {
	local quiet hangs='echo theirs >&2; exec sleep 20'
	won=3 row 'nothing on success' leaves 0 $'out 1\nout 2\nout 3' '' \
		-E -- "${says[@]}"
	won=1 row 'nothing on success, with -v' leaves 0 'out 1' '' \
		-v --hold-stderr -- "${says[@]}"
	row 'when all have failed' leaves 7 $'out 1\nout 2\nout 3' \
		"err 3"$'\n'"retry: $last" -n 3 -E -- "${says[@]}"
	row 'with -q no line' leaves 7 $'out 1\nout 2\nout 3' 'err 3' \
		-q -n 3 -E -- "${says[@]}"
	row 'after a stop' leaves 7 'out 1' \
		$'err 1\nretry: attempt 1/5 failed (exit 7), giving up: --stop-on 7' \
		-E --stop-on 7 -- "${says[@]}"
	row 'after a timeout' leaves 124 '' \
		$'theirs\nretry: attempt 2/2 timed out after 0.1s, giving up: attempts exhausted' \
		-E -n 2 -t 0.1 -k 0 -- sh -c "$hangs"
	for quiet in -E -qE; do
		row "$quiet: no command" leaves 127 '' \
			$'retry: cannot run \'5\': No such file or directory\nretry: did you mean -n 5?' \
			"$quiet" -- 5 true
		row "$quiet: cannot be run" leaves 126 '' \
			"retry: cannot run '$PWD': Permission denied" "$quiet" -- "$PWD"
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

# interrupted SIGNAL: it ends a delay, and retry
interrupted()
{
	start "$RETRY" -d 20 -j none -n 2 -O -E sh -c \
		'echo held >&2; echo lost; echo >>over; exit 7'
	wait_for test -s over
	wait_for delayed
	kill -"$1" "$pid"
	ended
	[ "$status" -eq $((128 + $(kill -l "$1"))) ]
	[ "$(head -n 1 err)" = held ]
	[ "$(lines err)" -eq 2 ]
	grep -q '^retry: ' err
	nothing out
}

@test "an interruption during a delay delivers what -E held, and dies of it" {
	local signal
	for signal in TERM INT HUP; do
		row "$signal" interrupted "$signal"
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

# late OPTION...: what a process of the first attempt writes during the second one
late()
{
	mkfifo gate
	leaves 0 two '' -q -O -E "$@" -- sh -c 'case $RETRY_ATTEMPT in
		1)	(read -r line; echo straggler; echo straggler >&2
			echo >late) <gate &
			echo one; exit 7 ;;
		2)	echo >gate
			while [ ! -e late ]; do sleep 0.01; done
			echo two; echo two >&2 ;;
		esac'
	[ -e late ]
}

@test "a process of an earlier attempt does not write into a later one's file" {
	row 'without a pattern' late
	row 'with a pattern' late --retry-on stdout:one
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
	leaves 0 'HEADER!body' '' -O -- "$PYTHON" -IS -c 'import os
os.write(1, b"header?body")
os.pwrite(1, b"!", 6)
os.lseek(1, 0, os.SEEK_SET)
os.write(1, b"HEADER")'
}

@test "standard error that is opened again in between loses nothing" {
	leaves 7 '' $'1\n2\n3\n4\n5' -q -n 1 -E -- sh -c 'echo 1 >&2
		echo 2 >>/dev/stderr; echo 3 >&2
		echo 4 | tee -a /dev/stderr >/dev/null
		echo 5 >&2; exit 7'
}

no_tmpdir()
{
	export TMPDIR=$PWD/nosuch
	leaves 125 '' "retry: cannot relay or hold output: cannot make a file: No such file or directory, in '$TMPDIR' (\$TMPDIR); command not run" \
		"$1" -- touch ran
	[ ! -e ran ]
}

@test "without TMPDIR's directory nothing is run that has output to hold: 125" {
	row -O no_tmpdir -O
	row -E no_tmpdir -E
	TMPDIR=$PWD/nosuch row 'nothing is held' leaves 0 ok '' -- echo ok
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
	ln "$bytes" some
	rm -f out err
	is 0 "${in[@]}" ./here -q -O --fail-on stdout:nosuch cat some
	cmp some out
}

@test "with TMPDIR set output is held there, or nothing is run" {
	rootless
	is 125 "${in[@]}" env TMPDIR=/tmp ./here -O touch ran
	[ ! -e ran ]
}

#
# How much of it
#

# above: what -E and -O say of more than --hold-max
above='giving up: more output than --hold-max'

# told_above N STATUS: the line of an attempt that ended with STATUS, or was ended
# as soon as retry had looked
told_above()
{
	tail -n 1 e | grep -qxE "retry: attempt 1/$1 (failed \(exit $2\)|killed by SIGTERM), $above"
}

above_stdout()
{
	finishes 125 -O --hold-max 1k -- sh -c "head -c 1025 /dev/zero; exit $1"
	nothing o
	told_above 5 "$1"
	[ "$(lines e)" -eq 1 ]
}

above_stderr()
{
	finishes 125 -E -n 3 --hold-max 1k -- sh -c "echo >>ran; seq 1000 >&2; exit $1"
	seq 1000 | cmp - <(head -n -1 e)
	told_above 3 "$1"
	[ "$(lines ran)" -eq 1 ]
}

# endless OPTION...: output without end is the end of the command
endless()
{
	leaves 125 '' "retry: attempt 1/5 killed by SIGTERM, $above" \
		-O "$@" --hold-max 1M -- sh -c 'echo >>ran; exec yes'
	[ "$(lines ran)" -eq 1 ]
}

sized()
{
	finishes 0 "$@"
	[ "$(stat -c %s o)" -eq 1024 ]
}

@test "more than --hold-max is an error of ours, whatever the command does: 125" {
	local status zeros='head -c 1024 /dev/zero'
	# Other processes write later, which does not count.
	local late='echo all
		{ while [ -d "/proc/$$" ]; do sleep 0.01; done
		  sleep 0.03; head -c 2000 /dev/zero; sleep 0.3; } &'
	for status in 0 7; do
		row "-O, exit $status" above_stdout "$status"
		row "-E, exit $status: delivered, and then a line" above_stderr "$status"
	done
	row 'as much' sized -O --hold-max 1k -- sh -c "$zeros"
	row 'as much, and retry looks' sized -O --hold-max 1k -- sh -c "$zeros; sleep 0.2"
	row 'as much of each' sized -O -E --hold-max 1k -- sh -c "$zeros; $zeros >&2"
	row 'on and on' endless
	row 'on and on, with a pattern' endless --fail-on stdout:nosuch
	row 'later' leaves 0 all '' -O --hold-max 1k -- sh -c "$late"
	row 'later, with a pattern' leaves 0 all '' \
		-O --hold-max 1k --fail-on stdout:nosuch -- sh -c "$late"
	row 'later, with --chronic' leaves 7 all '' \
		-q -n 1 --chronic --hold-max 1k -- sh -c "$late exit 7"
}

@test "a command that ignores TERM is killed there, with its processes" {
	finishes 125 -O -k 0.1 --hold-max 1M -- env MARK="$BATS_TEST_TMPDIR" sh -c '
		trap "" TERM
		sleep 60 2>/dev/null &
		while :; do head -c 100000 /dev/zero; done'
	grep -q "killed by SIGKILL, $above" e
	wait_for none_left "$BATS_TEST_TMPDIR"
}

@test "processes from before the attempt are not ended with it" {
	is 125 sh -c 'sleep 60 & echo $! >elder
		exec "$RETRY" -q -O --hold-max 1k yes'
	kill "$(<elder)"
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

to_file()
{
	echo before >both
	"$RETRY" -q -d 0 -O sh -c "$copies" >>both
	{ echo before; cat "$bytes"; } | cmp - both
	finishes 0 -q "$@" -- sh -c "$copies"
	cmp "$bytes" o
}

# to_pipe READER...: READER copies what it gets
to_pipe()
{
	"$RETRY" -q -d 0 -O sh -c "$copies" | "$@" | cmp "$bytes" -
}

stderr_to_pipe()
{
	"$RETRY" -q -d 0 -n 2 -E sh -c 'cat "$bytes" >&2; exit 7' 2>&1 >o |
		cmp "$bytes" -
	nothing o
}

stderr_to_file()
{
	finishes 7 -q -n 2 -E --retry-on stderr:nosuch --retry-on 7 -- \
		sh -c 'cat "$bytes" >&2; exit 7'
	cmp "$bytes" e
}

to_socket()
{
	"$PYTHON" -IS - "$RETRY" "$copies" <<-'END'
		import os, socket, subprocess, sys, time
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
		assert got == open(os.environ['bytes'], 'rb').read(), len(got)
	END
}

@test "ten megabytes are delivered exactly" {
	big
	row 'to a file, and to the end of one' to_file -O
	row 'to a file, with a pattern' to_file -O --retry-on stdout:wrong
	row 'to a pipe' to_pipe cat
	row 'to a slow reader' to_pipe "$ACTOR" sip
	row 'to a socket' to_socket
	row 'stderr to a pipe' stderr_to_pipe
	row 'stderr to a file, with a pattern' stderr_to_file
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

@test "held output reaches a terminal exactly" {
	seq 20000 >some
	export bytes=some
	run -0 "$ACTOR" terminal -- "$RETRY" -q -d 0 -O sh -c "$copies"
	cmp some - <<<"$output"
}

@test "a pattern sees held output, and nothing is added to an empty one" {
	row 'stdout' leaves 0 ok '' -O -E --retry-on stdout:busy -- sh -c \
		'[ "$RETRY_ATTEMPT" -eq 2 ] && echo ok || { echo busy; exit 3; }'
	row 'stderr' leaves 3 '' \
		$'denied\nretry: attempt 1/5 failed (exit 3), giving up: --stop-on stderr:denied' \
		-O -E --stop-on stderr:denied -- sh -c 'echo lost; echo denied >&2; exit 3'
	row 'empty' empty
	row 'no newline' no_newline
}

empty()
{
	finishes 0 -O -E -- true
	nothing o
	nothing e
}

no_newline()
{
	finishes 0 -O -- printf 'no newline'
	printf 'no newline' | cmp - o
}

#
# Delivery that fails
#

# undelivered WORDS COMMAND...: COMMAND, which runs retry, ends with 125 and
# tells with these words why it could not deliver output
undelivered()
{
	is 125 "${@:2}"
	nothing out
	holds err "retry: cannot write to standard output: $1"
}

full='No space left on device'
to_full=(sh -c 'exec "$@" >/dev/full' sh "$RETRY" -d 0)
stderr_to_full=(sh -c 'exec "$@" 2>/dev/full' sh "$RETRY" -q -d 0 -n 2 -E)

@test "output that cannot be delivered is an error of ours: 125" {
	row 'full' undelivered "$full" "${to_full[@]}" -O echo lost
	row 'full, -O -E' undelivered "$full" \
		"${to_full[@]}" -O -E env won=2 "${says[@]}"
	row 'not open for writing' undelivered 'Bad file descriptor' \
		sh -c 'exec "$@" 1</dev/null' sh "$RETRY" -q -O echo lost
	row 'nothing to deliver' is 0 "${to_full[@]}" -O true
	row 'stderr' is 125 "${stderr_to_full[@]}" "${says[@]}"
	row 'no stderr to deliver' is 7 "${stderr_to_full[@]}" sh -c 'exit 7'
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
	local files said='' TMPDIR=$PWD/tmp
	local error='retry: cannot relay or hold output: cannot make a file: @(Too many open files|No file descriptors available)'
	export TMPDIR
	mkdir tmp
	for files in {3..20}; do
		said=$(ulimit -n "$files"
			exec "$RETRY" -O touch ran 2>&1) ||
			[ $? = 125 ] || continue
		[[ $said != *'cannot make a file'* ]] || break
	done
	[[ $said = $error", in '$PWD/tmp' (\$TMPDIR); command not run" ]]
	said=$(ulimit -n "$files"
		unset TMPDIR
		exec "$RETRY" -O touch ran 2>&1) || [ $? = 125 ]
	[[ $said = $error", in '/tmp' (\$TMPDIR is not set); command not run" ]]
	[ ! -e ran ]
}

@test "that nobody reads its output changes nothing for a failure" {
	status=$("$RETRY" -n 2 -d 0 -E sh -c 'seq 100000 >&2; exit 7' 2>&1 >o |
	    head -n 1 >first; echo "${PIPESTATUS[0]}")
	[ "$status" -eq 7 ]
	[ "$(<first)" = 1 ]
	status=$("$RETRY" -q -n 1 --chronic sh -c 'seq 100000; exit 7' |
	    head -n 1 >first; echo "${PIPESTATUS[0]}")
	[ "$status" -eq 7 ]
	[ "$(<first)" = 1 ]
}

# unkept OPTION...: the disk for stderr is full
unkept()
{
	is 125 "${with[@]}" "$RETRY" -q -E -n 1 "$@" -- \
		sh -c 'head -c 200000 /dev/zero >&2 2>/dev/null; exit 7'
	[ "$(tail -n 1 err | tr -d '\0')" = "retry: cannot write to standard error: $full" ]
}

# the command checks
checked()
{
	head -c 200000 /dev/zero >some
	is 1 "${with[@]}" "$RETRY" -n 1 -O cat some
	grep -q "$full" err
	grep -q 'giving up: attempts exhausted' err
	nothing out
}

# unwritten STATUS OPTION...: retry writes nothing, and ends with STATUS
unwritten()
{
	is "$1" "${before[@]}" "${@:2}"
	nothing err
}

@test "a full disk is an error of ours, if something was written to it: 125" {
	local lost='head -c 200000 /dev/zero 2>/dev/null; exit 0' before
	mounted size=64k
	row 'under the output' undelivered "$full" "${with[@]}" \
		sh -c '"$@" >"$mnt/o"' sh "$RETRY" -O head -c 200000 /dev/zero
	export TMPDIR=$mnt
	before=("${with[@]}" sh -c
		'head -c 200000 /dev/zero >"$mnt/all" 2>/dev/null; exec "$@"' sh "$RETRY")
	row "the command checks, whose error it is" checked
	row 'the command does not' undelivered "$full" \
		"${with[@]}" "$RETRY" -O sh -c "$lost"
	row 'with a pattern' undelivered "$full" "${with[@]}" "$RETRY" -O \
		--fail-on stdout:nosuch head -c 200000 /dev/zero
	row 'stderr' unkept
	row 'stderr with a pattern' unkept --retry-on stderr:nosuch
	row 'full before, and nothing written' unwritten 0 -O -E -n 1 true
	row 'full before, nothing written, failure' \
		unwritten 7 -q -O -E -n 1 sh -c 'exit 7'
	row 'full before' undelivered "$full" "${before[@]}" -O -n 1 \
		sh -c 'echo lost 2>/dev/null; exit 0'
}

large='File too large'

# limited BLOCKS COMMAND...: COMMAND may write that much to a file
limited()
{
	ulimit -f "$1"
	"${@:2}"
}

to_limited()
{
	local got=0
	head -c 8000 /dev/zero >file
	limited 10 "$RETRY" -O head -c 4000 /dev/zero >>file 2>e || got=$?
	[ "$got" -eq 125 ]
	holds e "retry: cannot write to standard output: $large"
}

# limited_stderr OPTION...: what there is of stderr is delivered, and then a line
limited_stderr()
{
	local got=0
	mkfifo pipe
	cat pipe >o &
	limited 1 "$RETRY" -q -E -n 1 "$@" -- \
		sh -c 'seq 1 100000 >&2 2>/dev/null; exit 7' 2>pipe || got=$?
	wait "$!"
	[ "$got" -eq 125 ]
	[ "$(head -c 1024 o)" = "$(seq 1 100000 | head -c 1024)" ]
	[ "$(tail -n 1 o)" = "retry: cannot write to standard error: $large" ]
}

enough()
{
	limited 1 finishes 0 -O -n 1 -- seq 1 200
	seq 1 200 | cmp - o
	limited 0 is 0 "$RETRY" -O -n 1 -- true
}

@test "a limit on the size of files is an error of ours: 125" {
	local option
	row 'of the output' to_limited
	row 'a command that reaches it dies of it' limited 10 \
		drops $((128 + $(kill -l XFSZ))) -n 1 -O -- cat /dev/zero
	for option in -q --fail-on=stdout:nosuch; do
		row "of held output, $option" undelivered "$large" limited 1 \
			"$RETRY" -O -n 1 $option -- \
			sh -c 'seq 1 100000 2>/dev/null; exit 0'
	done
	row 'of held stderr' limited_stderr
	row 'of held stderr, with a pattern' limited_stderr --retry-on=stderr:nosuch
	row 'not reached' enough
}

#
# Delivery that takes its time
#

@test "TERM ends a delivery at once" {
	big
	stuck -O cat "$bytes"
	choked
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	exec 7>&-
}

@test "a signal that ends nothing does not end the delivery" {
	big
	mkfifo pipe
	start sh -c 'exec "$@" >pipe' sh "$RETRY" -O cat "$bytes"
	exec 7<pipe
	choked
	kill -USR1 "$pid"
	kill -WINCH "$pid"
	cmp "$bytes" - <&7
	ended
	[ "$status" -eq 0 ]
	exec 7<&-
}

@test "the deadline does not cut what a success has to deliver" {
	local before
	big
	mkfifo pipe
	before=$(now)
	start sh -c 'exec "$@" >pipe' sh "$RETRY" -T 0.4 -O cat "$bytes"
	exec 7<pipe
	choked
	wait_for past "$((before + 700))"
	cmp "$bytes" - <&7
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
	    'cat "$bytes" >&2; exec sleep 20'
	exec 7<pipe
	choked
	wait_for past "$((before + 1000))"
	"$ACTOR" sip <&7 >got
	ended
	[ "$status" -eq 124 ]
	cmp "$bytes" got
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
