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
	helper_teardown &&
		[ -z "$(ls -A "$BATS_TEST_TMPDIR/tmp")" ]
}

# again N OPTION... -- COMMAND...: N attempts without delay, with -q
again()
{
	local attempts=$1
	shift
	"$RETRY" -n "$attempts" -d 0 -j none -q "$@"
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
	attempts 1 input-consumed &&
		grep -qE "^retry: attempt 1/.* giving up: .* already consumed$advice\$" err
}

# What tells of the reads of three attempts.
tells=("$RETRY" -v -n 3 -d 0)

# noticed STATUS COMMAND...: COMMAND, of which $tells is a part, ends with STATUS
# after one attempt that has read input; $option is -v or -vI
noticed()
{
	local want=$1 got=0
	shift
	"$@" >out 2>err || got=$?
	[ "$got" -eq "$want" ] && consumed "${option--v}"
}

# retried COMMAND...: COMMAND, of which $tells is a part, makes three attempts
retried()
{
	"$@" >out 2>err || :
	attempts 3 attempts
}

# ab COMMAND...: COMMAND with a pipe in which are two lines
ab()
{
	printf 'a\nb\n' | "$@"
}

# endless COMMAND...: COMMAND with a pipe that nobody writes to, and that does not
# end; descriptor 7 writes to it
endless()
{
	local got=0
	mkfifo pipe
	exec 7<>pipe
	"$@" <&7 || got=$?
	exec 7>&-
	return "$got"
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

# big_input: a megabyte of anything, more than a pipe holds, in ./big
big_input()
{
	head -c 1M /dev/urandom >big
}

# seen: the attempts of $reads have read the right parts of ./big
seen()
{
	[ ! -s read.1 ]
	[ "$(stat -c %s read.2)" -eq $((512 << 10)) ]
	cmp -n $((512 << 10)) big read.2
	cmp big read.3
	cmp big read.4
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

# from_two OPTION: the second line of a file is the first for each attempt
from_two()
{
	printf 'one\ntwo\nthree\n' >in
	{
		read -r line
		[ "$line" = one ]
		gives 1 $'two\nthree\ntwo\nthree' again 2 "$1" sh -c 'cat; exit 1'
	} <in
}

both_ways()
{
	again 2 sh -c 'echo "$RETRY_ATTEMPT"; exit 1' <>file >&0 || :
	holds file 1 2
}

by_number()
{
	again 2 sh -c 'echo "$RETRY_ATTEMPT" >&0; exit 1' 0>file || :
	holds file 1 2
}

@test "a file is rewound before each retry to where it stood, if it is not written to" {
	printf 'a\nb\n' >in
	local option
	for option in --quiet --replay-stdin; do
		row "$option" gives 1 $'a\nb\na\nb\na\nb' \
			again 3 "$option" sh -c 'cat; exit 1' <in
		row "$option, not from its beginning" from_two "$option"
	done
	row 'open for reading and writing' gives 1 $'a\na' \
		again 2 sh -c 'read -r x; echo "$x"; exit 1' <>in
	row 'written to by that number' by_number
	row 'both input and output' both_ways
	row 'it stays where the last attempt has left it' left_there
}

left_there()
{
	printf '1\n2\n3\n' >in
	{
		gives 1 $'1\n1\n1' again 3 sh -c 'head -c 2; exit 1'
		read -r line
	} <in
	[ "$line" = 2 ]
}

#
# --replay-stdin
#

# all_read_again COMMAND...: COMMAND, which gives ./big to $all
all=("$RETRY" -q -n 4 -d 0 -I sh -c "$reads" sh 512K)
all_read_again()
{
	big_input
	"$@"
	seen
}

here_document()
{
	gives 1 "some $1"$'\nlines\n'"some $1"$'\nlines' \
	    "$1" -c '"$RETRY" -qI -n 2 -d 0 sh -c "cat; exit 1" <<-END
		some $0
		lines
	END'
}

writer_ends()
{
	{
		head -c 1M /dev/zero
		echo $? >produced
	} | again 2 -I sh -c '[ "$RETRY_ATTEMPT" = 2 ]'
	holds produced 0
}

no_name()
{
	ab again 2 -I sh -c 'ls -A "$TMPDIR" >>names; [ "$RETRY_ATTEMPT" = 2 ]'
	[ -e names ]
	[ ! -s names ]
}

forbidding_umask()
{
	touch out
	umask 777
	ab again 2 -I sh -c 'cat; [ "$RETRY_ATTEMPT" = 2 ]' >>out
	holds out a b a b
}

@test "with -I each attempt reads all of the same input" {
	row 'a pipe' all_read_again sh -c 'cat big | "$@"' sh "${all[@]}"
	row 'a socket' all_read_again "$ACTOR" from stream:big "${all[@]}"
	row 'a file' all_read_again sh -c '"$@" <big' sh "${all[@]}"
	row 'a here-document of sh' here_document sh
	row 'a here-document of bash' here_document bash
	row 'the writer never gets SIGPIPE' writer_ends
	row 'an empty input' gives 1 $'0\n0' \
	    again 2 -I sh -c 'cat; wc -c; exit 1' < <(:)
	row 'the command cannot write to it' ab gives 0 $'a\nb' again 2 -I sh -c '
		! echo x 2>/dev/null >&0 && [ "$RETRY_ATTEMPT" = 2 ] && cat'
	row 'a umask that forbids everything' forbidding_umask
	row 'the copy has no name' no_name
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

# refuses WORDS COMMAND...: retry, which COMMAND runs, ends with 125, has run
# nothing, and says one line, which begins with WORDS
refuses()
{
	local status=0
	"${@:2}" 2>err || status=$?
	[ "$status" -eq 125 ]
	[ ! -e ran ]
	[ "$(lines err)" -eq 1 ]
	grep -qE "^retry: $1" err
}

@test "what is too much or cannot be copied is refused before anything is run" {
	local max='--stdin-max: more than' put='head -c "$0" /dev/zero | "$@"'
	local cannot='--replay-stdin: cannot copy standard input:'
	local in="in '$TMPDIR' [(].TMPDIR[)]; command not run\$"
	local over=("$RETRY" -I touch ran) none=/nonexistent
	local without=(env "TMPDIR=$none")
	row 1000 gives 0 1000 sh -c "$put" 1000 "$RETRY" -I --stdin-max 1000 wc -c
	row 1001 refuses "$max 1000 bytes on standard input" \
	    sh -c "$put" 1001 "$RETRY" -I --stdin-max 1000 touch ran
	row 64k gives 0 65536 sh -c "$put" 65536 "$RETRY" -I --stdin-max 65536 wc -c
	row 'more than 64k' refuses "$max 64k on standard input" \
	    sh -c "$put" 65537 "$RETRY" -I --stdin-max 65536 touch ran
	row 'a socket' refuses "$max 3 bytes on standard input" \
	    "$ACTOR" from "stream:$BATS_TEST_FILENAME" "$RETRY" -I --stdin-max 3 touch ran
	row 'without end' refuses "$max 1M on standard input" \
	    "$RETRY" -I --stdin-max 1M touch ran < <(exec yes)
	row 'a limit on files' refuses "$cannot File too large, $in" \
	    sh -c 'head -c 1M /dev/zero | (ulimit -f 16; exec "$@")' sh "${over[@]}"
	row 'no TMPDIR' refuses "$cannot No such file or directory, ${in/$TMPDIR/$none}" \
	    ab "${without[@]}" "${over[@]}"
	row 'no TMPDIR, and a file' gives 0 '#!' \
	    "${without[@]}" "$RETRY" -I head -c 2 <"$BATS_TEST_FILENAME"
	row 'no TMPDIR, without -I' ab gives 0 a "${without[@]}" "$RETRY" head -n 1
	unshare -Urm mount -t tmpfs none "$TMPDIR" 2>/dev/null ||
		skip "no mount namespaces here"
	row 'a disk too small' refuses "$cannot No space left on device, $in" \
	    unshare -Urm sh -c 'mount -t tmpfs -o size=64k none "$TMPDIR"
		head -c 1M /dev/zero | "$@"' sh "${over[@]}"
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
	refuses '--stdin-max: ' \
	    "${in[@]}" ./here -I --stdin-max 1k touch ran < <(cat some)
}

@test "without /proc each attempt gets a copy of the input" {
	[ -z "${RETRY_SAN-}" ] || skip 'the sanitizers need /proc'
	unshare -Urm mount -t tmpfs none /proc 2>/dev/null ||
		skip "no mount namespaces here"
	local without=(unshare -Urm sh -c
		'mount -t tmpfs none /proc; exec "$@"' sh)
	row 'a pipe' all_read_again sh -c 'cat big | "$@"' sh "${without[@]}" "${all[@]}"
	row 'a file' all_read_again sh -c '"$@" <big' sh "${without[@]}" "${all[@]}"
	printf '%s\n' 1 2 3 >in
	{
		read -r line
		run -1 "${without[@]}" "$RETRY" -q -n 2 -d 0 -I sh -c \
		    'head -n 1; exit 1'
		[ "$output" = $'2\n2' ]
		read -r line
	} <in
	[ "$line" = 2 ]
	refuses '--stdin-max: more than 5 bytes on standard input' \
	    "${without[@]}" "$RETRY" -I --stdin-max 5 touch ran <in
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
	run -0 "$ACTOR" terminal see:ready 'type:some^M' -- sh -c \
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

# Where retry looks when bytes come, the command reads after that.
late='switches()
	{
		while read -r name count; do
			[ "$name" != voluntary_ctxt_switches: ] || echo "$count"
		done <"/proc/$PPID/status"
	}
	before=$(switches)
	echo line >&7
	for i in $(seq 500); do
		[ "$before" = "$(switches)" ] || break
		sleep .01
	done
	sleep .2
	read x
	exit 1'

# read_rows COMMAND...: what is noticed of the reads of a pipe or a socket, where
# COMMAND runs retry
read_rows()
{
	local line tells=("$@" "${tells[@]}")
	beside 'its first line was read' ab noticed 7 "${tells[@]}" sh -c 'read x; exit 7'
	beside 'all was read' ab all_read "${tells[@]}"
	beside 'a line that came late' endless noticed 1 "${tells[@]}" sh -c "$late"
	beside 'nobody has read' ab gives 0 $'a\nb' \
		"$@" "$RETRY" -q -n 3 -d 0 sh -c '[ "$RETRY_ATTEMPT" = 3 ] && cat'
	beside 'idle' endless retried "${tells[@]}" false
	beside 'empty' retried "${tells[@]}" false < <(:)
	beside 'empty, and read' retried "${tells[@]}" sh -c 'cat; exit 1' < <(:)
	beside 'a loop keeps its lines' loop_keeps "$@"
}

# It was read to its end, and what was read has been written.
all_read()
{
	noticed 3 "$@" sh -c 'cat; exit 3'
	holds out a b
}

loop_keeps()
{
	printf '%s\n' 1 2 3 | while read -r x; do
		"$@" "$RETRY" -q -n 2 -d 0 sh -c 'echo "$1"; exit 1' sh "$x" || :
	done >lines
	holds lines 1 1 2 2 3 3
}

# ends_unread COMMAND...: while $tells, which COMMAND runs, makes its first
# attempt a pipe ends from which nothing came; then the attempts read
ends_unread()
{
	mkfifo pipe closed
	exec 8<>closed
	start sh -c 'exec "$@" <pipe' sh "$@" "${tells[@]}" sh -c '
		echo >"ready$RETRY_ATTEMPT"
		[ "$RETRY_ATTEMPT" != 1 ] || read -r line <closed
		cat
		exit 1'
	exec 7>pipe
	wait_for [ -e ready1 ]
	exec 7>&-
	echo >&8
	ended
	exec 8>&-
}

ends_and_is_retried()
{
	ends_unread "$@"
	attempts 3 attempts
}

ends_and_is_lost()
{
	ends_unread "$@"
	consumed
}

@test "once an attempt has read from a pipe there is no other attempt" {
	local late='echo line >&7; read x; exit 1'
	read_rows env
	beside 'some of many bytes that are the same' noticed 1 \
		"${tells[@]}" sh -c 'head -c 10; exit 1' < <(head -c 1M /dev/zero)
	beside 'it ends while nobody reads it' ends_and_is_retried env
}

@test "without inotify it is noticed that bytes of a pipe are gone" {
	need_unwatched
	read_rows unwatched
	beside 'its end may hide that it was read' ends_and_is_lost unshare -Ur sh -c '
		echo 0 >/proc/sys/user/max_inotify_instances
		exec "$@"' sh
}

@test "on kernels whose inotify ignores splice it is noticed, too" {
	need_silent
	read_rows silent
	beside 'it ends while nobody reads it' ends_and_is_retried \
		strace -qq -o trace -e trace=inotify_add_watch \
		-e inject=inotify_add_watch:retval=1
}

@test "that a line of a slow writer was read is noticed, however fast" {
	mkfifo pipe
	exec 7<>pipe
	local i
	for ((i = 0; i < 10; i++)); do
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

@test "a terminal does not prevent retries" {
	run -1 "$ACTOR" terminal see:one 'type:x^M' see:two 'type:y^M' -- sh -c \
		'exec "$RETRY" -v -n 2 -d 0 sh -c "test \$RETRY_ATTEMPT = 1 && echo one || echo two; read -r x; exit 1" 2>err' 3>&-
	attempts 2 attempts
}

@test "an input that is never at its end, or has none, does not prevent retries" {
	local option kind
	for option in -v -vI; do
		for kind in zero full urandom; do
			beside "$option /dev/$kind" unending "$option" <"/dev/$kind"
		done
		for kind in path listen; do
			beside "$option $kind" retried "$ACTOR" from "$kind" \
				"$RETRY" "$option" -n 3 -d 0 false
		done
	done
	row /dev/null retried "${tells[@]}" sh -c 'cat; exit 1' </dev/null
	row 'closed' retried "${tells[@]}" false <&-
}

unending()
{
	retried "$RETRY" "$1" -n 3 -d 0 sh -c 'head -c 9; exit 1'
	[ "$(stat -c %s out)" -eq 27 ]
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

# message KIND BEGIN: of two messages one was read, by that command
message()
{
	local option
	for option in -v -vI; do
		noticed 7 "$ACTOR" from "$1:one,two" \
			"$RETRY" "$option" -n 2 -d 0 "${@:2}"
		[ "$option" = -v ] || has_line 'retry: --replay-stdin: standard input is a socket for messages, which cannot be read again' err
	done
}

@test "once an attempt has read from a socket there is no other attempt" {
	local kind socket
	printf 'a\nb\n' >in
	socket=stream:$PWD/in
	beside 'its first line was read' noticed 7 \
		"$ACTOR" from "$socket" "${tells[@]}" sh -c 'read x; exit 7'
	beside 'recv has taken some' noticed 7 \
		"$ACTOR" from "$socket" "${tells[@]}" "$ACTOR" receive 2
	beside 'nobody has read' gives 0 $'a\nb' "$ACTOR" from "$socket" \
		"$RETRY" -q -n 3 -d 0 sh -c '[ "$RETRY_ATTEMPT" = 3 ] && cat'
	beside 'idle' retried "$ACTOR" from stream "${tells[@]}" false
	beside 'empty, and read' retried "$ACTOR" from stream:/dev/null \
		"${tells[@]}" sh -c 'cat; exit 1'
	for kind in seqpacket dgram; do
		beside "$kind: a message was read" \
			message "$kind" sh -c 'dd bs=9 count=1; exit 7'
		beside "$kind: recv has taken a message" \
			message "$kind" "$ACTOR" receive 9
		beside "$kind: nobody has read" gives 0 one "$ACTOR" from "$kind:one" \
			"$RETRY" -q -n 3 -d 0 sh -c '[ "$RETRY_ATTEMPT" = 3 ] && head -c 3'
		beside "$kind: idle" retried "$ACTOR" from "$kind" "${tells[@]}" false
	done
}

# unknown OPTION COMMAND...: of the input of COMMAND nothing tells if it was read
unknown()
{
	local option=$1
	noticed 1 "${@:2}" "$RETRY" "$1" -n 3 -d 0 false
	[ "$1" = -v ] || has_line 'retry: --replay-stdin: standard input is a special file, which cannot be read again' err
}

@test "an input of which nothing tells whether it was read ends the series" {
	local option kind
	for kind in eventfd epoll pidfd timerfd inotify signalfd; do
		beside "$kind" unknown -v "$ACTOR" from "$kind"
	done
	beside 'eventfd with -I' unknown -vI "$ACTOR" from eventfd
	[ -r /dev/kmsg ] || skip "no right to read a device"
	option=-v beside /dev/kmsg noticed 1 "${tells[@]}" false </dev/kmsg
}

@test "a directory and a file in memory are rewound" {
	local option
	mkdir some
	touch some/one some/two
	for option in -q -qI; do
		beside "$option, a directory" gives 1 $'4\n4' "$RETRY" "$option" -n 2 -d 0 \
			sh -c '"$ACTOR" entries; exit 1' <some
		beside "$option, in memory" gives 1 nyny "$ACTOR" from memory \
			"$RETRY" "$option" -n 2 -d 0 sh -c 'cat; exit 1'
	done
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

# The loop starts retries beside it.
loop_beside()
{
	many 20
	gives 0 20 bash -mc 'n=0
		while read -r line && ((++n < 300)); do
			echo "$line" >>lines
			"$RETRY" -qd .2 sh -c "echo >>ran; exit 1" &
			sleep .05
		done <in
		echo "$n"
		wait'
	cmp in lines
	[ "$(lines ran)" -ge 20 ]
}

# It does not wait for an attempt that runs.
loop_ahead()
{
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

moved_in_delay()
{
	many 9
	exec 7<in
	start sh -c 'exec "$@" <&7' sh "$RETRY" -v -n 3 -d 4 -j none sh -c \
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
}

read_in_delay()
{
	mkfifo go
	status=0
	ab "$RETRY" -v -n 2 -d 4 -j none sh -c '
		exec 7<&0
		{ cat go; read x; } <&7 &
		sh -c "sleep 0.1; echo >go" &
		exit 5' 2>err 3>&- || status=$?
	[ "$status" -eq 5 ]
	attempts 1 input-consumed
}

# bats test_tags=slow
@test "what others read from the input in the meantime is not read again" {
	beside 'a loop that starts retries beside it' loop_beside
	beside 'a loop that does not wait for an attempt' loop_ahead
	beside 'a file moves in a delay' moved_in_delay
	beside 'a background process reads in a delay' read_in_delay
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
	exec 7<in
	run -0 "$ACTOR" how "$RETRY" -q -n 2 -d 0 sh -c 'cat; exit 1' <&7
	[ "$output" = $'1\n2\n3\n1\n2\n3\nexited 1' ]
	exec 7<&-
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
	for _ in 1 2; do
		while :; do /bin/true; done 3>&- &
		busy+=($!)
	done
	for _ in {1..4}; do
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

@test "a reset of a socket ends the series, if a command has read it" {
	beside 'the command gets the error' gets_reset
	beside 'nobody has read' retried "$ACTOR" from reset "${tells[@]}" sh -c '
		touch go
		until [ -e gone ]; do sleep 0.01; done
		exit 7'
	local kind
	for kind in reset reset-tcp; do
		for _ in 1 2; do
			beside "$kind: a blocked reader has taken the error" gives 7 '' \
				"$ACTOR" from "$kind" "$RETRY" -q -d 0 \
				sh -c 'touch go; cat; exit 7'
		done
	done
	beside 'the second attempt succeeds without reading' gives 0 '' \
		"$ACTOR" from reset "$RETRY" -q -d 0 sh -c 'touch go
			until [ -e gone ]; do sleep 0.01; done
			[ "$RETRY_ATTEMPT" = 2 ]'
}

gets_reset()
{
	local got=0
	"$ACTOR" from reset "${tells[@]}" sh -c 'touch go
		until [ -e gone ]; do sleep 0.01; done
		exec "$ACTOR" receive 1' 2>err || got=$?
	[ "$got" -eq 8 ]
	attempts 1 input-reset
	grep -q 'giving up: standard input was reset by its other end$' err
}
