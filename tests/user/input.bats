#!/usr/bin/env bats
# Covers streams/stdin_source, sys/procfs.
# The command's standard input. A file is rewound. --replay-stdin copies a pipe
# or socket to a file. Without it, nothing is taken from a pipe, and once an
# attempt has read from the pipe there is no other attempt.

load helper
load actor

setup() {
	helper_setup
	mkdir tmp
	export TMPDIR=$PWD/tmp
	in=$PWD/in
	printf '%s\n' 1 2 3 >in
}

# No copy of an input has left a file with a name.
teardown() {
	helper_teardown &&
		[ -z "$(ls -A "$BATS_TEST_TMPDIR/tmp")" ]
}

# again N OPTION... -- COMMAND...: N attempts without delay, with -q
again() {
	"$RETRY" -q -d 0 -n "$@"
}

# twice [COMMAND]...: both attempts of retry, which COMMAND runs, read all of $in
twice() {
	gives 1 $'1\n2\n3\n1\n2\n3' \
	    "$@" "$RETRY" -q -n 2 -d 0 sh -c 'cat; exit 1'
}

# scene CODE: a row whose input is a file $in of its own
scene() {
	local in=$PWD/in
	printf '%s\n' 1 2 3 >in
	eval "$1" <in
}

# attempts N REASON: -v printed to err that retry made N attempts, and why it
# ended
attempts() {
	grep -qE "^retry: ended after $1 attempts? in .*: $2\$" err || {
		echo "not $1 attempts, $2:"
		cat err
		return 1
	}
}

# consumed [OPTION]: after one attempt retry gave up because input was consumed,
# and named the remedies, which are others with the option -vI
consumed() {
	local advice=': use -I or </dev/null'
	[ "${1-}" != -vI ] || advice=', and cannot be read again'
	attempts 1 input-consumed &&
		grep -qE "^retry: attempt 1/.* giving up: .* already consumed$advice\$" err
}

# What tells of the reads of three attempts.
tells=("$RETRY" -v -n 3 -d 0)

# noticed STATUS COMMAND...: COMMAND, of which $tells is a part, ends with STATUS
# after one attempt that has read input; $option is -v or -vI
noticed() {
	exits "$@" >out 2>err && consumed "${option--v}"
}

# retried COMMAND...: COMMAND, of which $tells is a part, makes three attempts
retried() {
	"$@" >out 2>err || :
	attempts 3 attempts
}

# ab COMMAND...: COMMAND with a pipe that has two lines
ab() {
	printf 'a\nb\n' | "$@"
}

# endless COMMAND...: COMMAND with a pipe that nobody writes to, and that does not
# end; descriptor 7 writes to it
endless() {
	local got=0
	mkfifo pipe
	exec 7<>pipe
	"$@" <&7 || got=$?
	exec 7>&-
	return "$got"
}

# Runs a command on a system that has no inotify.
unwatched=(unshare -Ur sh -c '
	echo 0 >/proc/sys/user/max_inotify_instances && exec "$@"' sh)

# Runs a command on a kernel whose inotify reports only some reads.
silent=(strace -qq -o trace -e trace=inotify_add_watch
    -e inject=inotify_add_watch:retval=1)

# piped WORD...: starts retry with these words, and a pipe to which descriptor 7
# writes
piped() {
	mkfifo pipe
	exec 7<>pipe
	start sh -c 'exec "$@" <pipe 7>&-' sh "$RETRY" "$@"
}

# spooling: the retry that start has started has made the file for its input
spooling() {
	readlink "/proc/$pid/fd/"* | grep -q "^$TMPDIR.*(deleted)"
}

@test "a file is rewound before each retry to where it stood, if it is not written to" {
	rows row scene <<-'END'
	from the second line on
	    read -r line
	    gives 1 $'2\n3\n2\n3' again 2 sh -c 'cat; exit 1'
	with -I the offset that others share does not move
	    read -r line
	    gives 1 $'2\n3\n2\n3' again 2 -I sh -c 'cat; exit 1'
	    read -r line
	    [ "$line" = 2 ]
	it stays where the last attempt has left it
	    gives 1 $'1\n1\n1' again 3 sh -c 'head -c 2; exit 1'
	    read -r line
	    [ "$line" = 2 ]
	in memory, -I
	    gives 1 nyny "$ACTOR" from memory \
	        "$RETRY" -qI -n 2 -d 0 sh -c 'cat; exit 1'
	a directory
	    mkdir empty
	    gives 1 $'2\n2' again 2 sh -c '"$ACTOR" entries; exit 1' <empty
	a directory, -I
	    mkdir empty
	    gives 1 $'2\n2' again 2 -I sh -c '"$ACTOR" entries; exit 1' <empty
	open for reading and writing
	    gives 1 $'1\n1' again 2 sh -c 'read -r x; echo "$x"; exit 1' <>"$in"
	written to by that number
	    again 2 sh -c 'echo "$RETRY_ATTEMPT" >&0; exit 1' 0>file || :
	    holds file 1 2
	both input and output
	    again 2 sh -c 'echo "$RETRY_ATTEMPT"; exit 1' <>file >&0 || :
	    holds file 1 2
	END
}

# A command that reads no input, half of it, all of it, and all once more: what
# it has read in attempt N is in read.N.
reads='n=$RETRY_ATTEMPT
case $n in
1) ;;
2) head -c 512K ;;
*) cat ;;
esac >read.$n
[ "$n" = 4 ]'
all=("$RETRY" -q -n 4 -d 0 -I sh -c "$reads")

# more_than_pipe_holds: a megabyte of anything, in $big
more_than_pipe_holds() {
	big=$PWD/big
	head -c 1M /dev/urandom >big
}

# all_read COMMAND...: COMMAND, which gives $big to $all, has read the right parts
all_read() {
	"$@"
	[ ! -s read.1 ]
	[ "$(stat -c %s read.2)" -eq $((512 << 10)) ]
	cmp -n $((512 << 10)) "$big" read.2
	cmp "$big" read.3
	cmp "$big" read.4
}

@test "with -I each attempt reads all of the same input" {
	local big shell
	more_than_pipe_holds
	row 'a pipe' all_read sh -c 'cat "$0" | "$@"' "$big" "${all[@]}"
	row 'a socket' all_read "$ACTOR" from "stream:$big" "${all[@]}"
	row 'a file' all_read "${all[@]}" <"$big"
	for shell in sh bash; do
		row "a here-document of $shell" gives 1 $'some\nlines\nsome\nlines' \
		    "$shell" -c '"$RETRY" -qI -n 2 -d 0 sh -c "cat; exit 1" <<-END
			some
			lines
		END'
	done
	rows row scene <<-'END'
	the writer never gets SIGPIPE
	    {
	        head -c 1M /dev/zero
	        echo $? >produced
	    } | again 2 -I sh -c '[ "$RETRY_ATTEMPT" = 2 ]'
	    holds produced 0
	an empty input
	    gives 1 $'0\n0' again 2 -I sh -c 'cat; wc -c; exit 1' < <(:)
	the command cannot write to it
	    ab gives 0 $'a\nb' again 2 -I sh -c '
	        ! echo x 2>/dev/null >&0 && [ "$RETRY_ATTEMPT" = 2 ] && cat'
	a umask that forbids everything
	    touch out
	    umask 777
	    ab again 2 -I sh -c 'cat; [ "$RETRY_ATTEMPT" = 2 ]' >>out
	    holds out a b a b
	the copy has no name
	    ab again 2 -I sh -c 'ls -A "$TMPDIR" >>names; [ "$RETRY_ATTEMPT" = 2 ]'
	    [ -e names ]
	    [ ! -s names ]
	what an attempt left behind cannot move it
	    mkfifo go
	    cat "$in" | again 2 -I sh -c '
	        if [ "$RETRY_ATTEMPT" = 1 ]; then
	            exec 7<&0
	            { read x <&7; cat go <&7; cat <&7 >late.tmp; mv late.tmp late; } &
	            exit 1
	        fi
	        read x
	        echo >go
	        until [ -e late ]; do sleep 0.01; done
	        { echo "$x"; cat; } >next' 3>&-
	    cmp "$in" next
	    holds late 2 3
	a loop that starts retries beside it
	    gives 0 $'1\n2\n3' bash -mc 'while read -r line; do
	            "$RETRY" -q -I -n 2 -d 0 sh -c "echo >>ran; cat >/dev/null; exit 1" &
	            echo "$line"
	        done
	        wait'
	    [ "$(lines ran)" -eq 6 ]
	a terminal is inherited, with a warning
	    pty 0 see:ready 'type:some^M' 'see:<some>' -- sh -c 'exec "$RETRY" -I sh -c "
	        test -t 0 && echo ready; read -r x; echo \"<\$x>\"" 2>err'
	    [ "$(lines err)" -eq 1 ]
	    grep -q '^retry: .*terminal' err
	a device is inherited
	    again 2 -I sh -c 'test -c /dev/stdin && ! read -r x' </dev/null
	a closed input is inherited
	    again 2 -I sh -c '[ ! -e /proc/self/fd/0 ]' <&-
	END
	local less=()
	if [ "$(id -u)" -eq 0 ]; then # who may read anything, whatever its mode
		less=(setpriv "--bounding-set=-dac_override,-dac_read_search"
		    "--inh-caps=-dac_override,-dac_read_search")
		"${less[@]}" true 2>/dev/null || skip "no setpriv here"
	fi
	rows row scene <<-'END'
	a file that cannot be opened again
	    chmod 0 "$in"
	    gives 1 $'1\n2\n3\n1\n2\n3' "${less[@]}" \
	        "$RETRY" -qI -n 2 -d 0 sh -c 'cat; exit 1'
	    read -r line
	    [ "$line" = 1 ]
	END
}

@test "nothing is run before all of the input is there" {
	rows beside eval <<-'END'
	the first attempt begins then
	    piped -I sh -c 'cat >all'
	    wait_for spooling
	    echo a >&7
	    sleep 0.1
	    [ ! -e all ]
	    echo b >&7
	    exec 7>&-
	    ended 0
	    holds all a b
	TERM comes
	    piped -I touch ran
	    wait_for spooling
	    ended_by TERM
	    [ ! -e ran ]
	the deadline comes, and no input
	    piped -T 0.1 -I touch ran
	    ended 124
	    [ ! -e ran ]
	the deadline comes, and input without end
	    is 124 "$RETRY" -T 0.1 -I touch ran < <(exec yes)
	    [ ! -e ran ]
	END
}

# refuses WORDS COMMAND...: retry, which COMMAND runs, ends with 125, has run
# nothing, and says one line, which begins with WORDS
refuses() {
	exits 125 "${@:2}" 2>err
	[ ! -e ran ]
	[ "$(lines err)" -eq 1 ]
	grep -qE "^retry: $1" err
}

@test "what is too much or cannot be copied is refused before anything is run" {
	local max='--stdin-max: more than' put='head -c "$0" /dev/zero | "$@"'
	local cannot='--replay-stdin: cannot copy standard input:'
	local where="in '$TMPDIR' [(].TMPDIR[)]; command not run\$"
	local over=("$RETRY" -I touch ran) none=/nonexistent
	local without=(env "TMPDIR=$none")
	row 1000 gives 0 1000 sh -c "$put" 1000 "$RETRY" -I --stdin-max 1000 wc -c
	row 1001 refuses "$max 1000 bytes on standard input" \
	    sh -c "$put" 1001 "$RETRY" -I --stdin-max 1000 touch ran
	row 'a socket' refuses "$max 3 bytes on standard input" \
	    "$ACTOR" from "stream:$in" "$RETRY" -I --stdin-max 3 touch ran
	row 'without end' refuses "$max 1M on standard input" \
	    "$RETRY" -I --stdin-max 1M touch ran < <(exec yes)
	row 'a socket that is not connected' refuses \
	    'standard input: [A-Za-z ]*connected; command not run$' \
	    "$PYTHON" -IS -c 'if True:
	        import os, socket, sys
	        os.dup2(socket.socket().detach(), 0)
	        os.execv(sys.argv[1], sys.argv[1:])' "${over[@]}"
	row 'a limit on files' refuses "$cannot File too large, $where" \
	    sh -c 'head -c 1M /dev/zero | (ulimit -f 16; exec "$@")' sh "${over[@]}"
	row 'no TMPDIR' refuses \
	    "$cannot No such file or directory, ${where/$TMPDIR/$none}" \
	    ab "${without[@]}" "${over[@]}"
	row 'no TMPDIR, and a file' gives 0 1 \
	    "${without[@]}" "$RETRY" -I head -n 1 <"$in"
	row 'no TMPDIR, without -I' ab gives 0 a "${without[@]}" "$RETRY" head -n 1
	unshare -Urm mount -t tmpfs none "$TMPDIR" 2>/dev/null ||
		skip "no mount namespaces here"
	row 'a disk too small' refuses "$cannot No space left on device, $where" \
	    unshare -Urm sh -c 'mount -t tmpfs -o size=64k none "$TMPDIR"
		head -c 1M /dev/zero | "$@"' sh "${over[@]}"
}

@test "without a /tmp that can be written to input is copied to memory" {
	isolate -m
	cp "$RETRY" here
	local big readonly=("${isolate[@]}" env -u TMPDIR sh -c
		'mount -t tmpfs -o ro none /tmp || exit 99; exec "$@"' sh)
	"${readonly[@]}" true 2>/dev/null || skip 'no right to mount here'
	more_than_pipe_holds
	all[0]=./here
	all_read "${readonly[@]}" "${all[@]}" < <(cat "$big")
	refuses '--stdin-max: ' \
	    "${readonly[@]}" ./here -I --stdin-max 1k touch ran < <(cat "$big")
}

@test "without /proc each attempt gets a copy of the input" {
	[ -z "${RETRY_SAN-}" ] || skip 'the sanitizers need /proc'
	unshare -Urm mount -t tmpfs none /proc 2>/dev/null ||
		skip "no mount namespaces here"
	local big without=(unshare -Urm sh -c
		'mount -t tmpfs none /proc; exec "$@"' sh)
	more_than_pipe_holds
	row 'a pipe' all_read "${without[@]}" "${all[@]}" < <(cat "$big")
	row 'a file' all_read "${without[@]}" "${all[@]}" <"$big"
	{
		read -r line
		gives 1 $'2\n2' "${without[@]}" "$RETRY" -q -n 2 -d 0 -I sh -c \
		    'head -n 1; exit 1'
		read -r line
		[ "$line" = 2 ]
	} <"$in"
	refuses '--stdin-max: more than 5 bytes on standard input' \
	    "${without[@]}" "$RETRY" -I --stdin-max 5 touch ran <"$in"
}

@test "an attempt whose input cannot be opened is not run, and is retried" {
	local limit
	for limit in {4..16}; do
		rm -f ran
		echo a | (
			ulimit -n "$limit"
			exec 3>&-
			exec "$RETRY" -v -I -n 2 -d 0 sh -c \
				'echo x >>ran; cat; exit 1' >out 2>err
		) && return 1
		[ -z "$(grep -vx a out)" ]
		! told 'retry: attempt 1/2 not started \(cannot open the input again: (Too many open files|No file descriptors available)\), retrying.*' ||
			break
	done
	[ "$limit" -lt 16 ]
	[ ! -e ran ]
}

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

# read_rows COMMAND...: what is noticed of the reads of a pipe, where COMMAND runs
# retry
read_rows() {
	local tells=("$@" "${tells[@]}")
	beside 'its first line was read' ab noticed 7 "${tells[@]}" sh -c 'read x; exit 7'
	beside 'all was read' read_to_end
	beside 'a line that came late' endless noticed 1 "${tells[@]}" sh -c "$late"
	beside 'nobody has read' ab gives 0 $'a\nb' \
		"$@" "$RETRY" -q -n 3 -d 0 sh -c '[ "$RETRY_ATTEMPT" = 3 ] && cat'
	beside 'idle' endless retried "${tells[@]}" false
	beside 'empty, and read' retried "${tells[@]}" sh -c 'cat; exit 1' < <(:)
}

# What was read has been written.
read_to_end() {
	ab noticed 3 "${tells[@]}" sh -c 'cat; exit 3'
	holds out a b
}

# ends_unread: while $tells makes its first attempt a pipe ends from which nothing
# came; then the attempts read
ends_unread() {
	mkfifo pipe closed
	exec 8<>closed
	start sh -c 'exec "$@" <pipe' sh "${tells[@]}" sh -c '
		echo >"ready$RETRY_ATTEMPT"
		[ "$RETRY_ATTEMPT" != 1 ] || read -r line <closed
		cat
		exit 1'
	exec 7>pipe
	wait_for [ -e ready1 ]
	exec 7>&-
	echo >&8
	ended
	"$@"
}

@test "once an attempt has read from a pipe there is no other attempt" {
	local late='echo line >&7; read x; exit 1'
	read_rows env
	beside 'some of many bytes that are the same' noticed 1 \
		"${tells[@]}" sh -c 'head -c 10; exit 1' < <(head -c 1M /dev/zero)
	beside 'it ends while nobody reads it' ends_unread attempts 3 attempts
	rows beside eval <<-'END'
	a line of a slow writer, however fast
	    for i in 1 2 3 4; do
	        rm -f ready pipe err
	        piped -v -n 2 -d 0 sh -c 'echo >ready; read x; exit 5'
	        wait_for [ -e ready ]
	        echo line >&7
	        ended 5
	        consumed
	    done
	a loop keeps its lines
	    printf '%s\n' 1 2 3 | while read -r x; do
	        again 2 sh -c 'echo "$1"; exit 1' sh "$x" || :
	    done >lines
	    holds lines 1 1 2 2 3 3
	a script that is piped into a shell keeps its rest
	    for shell in sh bash; do
	        printf '%s\n' '"$RETRY" -q -n 2 -d 0 false' 'echo more' \
	            '"$RETRY" -q -n 2 -d 0 sh -c "echo x; exit 1"' 'echo last' |
	            "$shell" >out
	        holds out more x x last
	    done
	what the command left is there when retry has ended
	    ab sh -c '"$RETRY" -q -d 0 sh -c "read x; exit 1"; cat' >out
	    holds out b
	a retry within another is no reader
	    ab retried "${tells[@]}" "$RETRY" -q -n 2 -d 0 false
	with one attempt nothing is opened for the input
	    ab again 1 sh -c 'readlink "/proc/$PPID/fd/"*' >one
	    ab again 2 sh -c 'readlink "/proc/$PPID/fd/"*' >two
	    not grep -q inotify one
	    grep -q inotify two
	END
}

@test "without inotify it is noticed that bytes of a pipe are gone" {
	"${unwatched[@]}" true 2>/dev/null || skip "no user namespaces here"
	read_rows "${unwatched[@]}"
	tells=("${unwatched[@]}" "${tells[@]}")
	beside 'its end may hide that it was read' ends_unread consumed
}

@test "on kernels whose inotify ignores splice it is noticed, too" {
	"${silent[@]}" true 2>/dev/null || skip "no strace here that works"
	tells=("${silent[@]}" "${tells[@]}")
	beside 'its first line was read' ab noticed 7 "${tells[@]}" sh -c 'read x; exit 7'
	beside 'a line that came late' endless noticed 1 "${tells[@]}" sh -c "$late"
	beside 'it ends while nobody reads it' ends_unread attempts 3 attempts
}

@test "an input that is never at its end, or has none, does not prevent retries" {
	local option kind
	for kind in zero full urandom; do
		beside "/dev/$kind" unending -v <"/dev/$kind"
	done
	for option in -v -vI; do
		for kind in path listen; do
			beside "$option $kind" retried "$ACTOR" from "$kind" \
				"$RETRY" "$option" -n 3 -d 0 false
		done
	done
	beside '/dev/zero, -I' unending -vI </dev/zero
	beside /dev/null retried "${tells[@]}" sh -c 'cat; exit 1' </dev/null
	beside 'closed' retried "${tells[@]}" sh -c '[ -e /proc/self/fd/0 ]' <&-
	rows beside eval <<-'END'
	a terminal
	    pty 1 see:1 'type:x^M' see:2 'type:y^M' -- sh -c 'exec "$RETRY" -v -n 2 -d 0 \
	        sh -c "echo \"\$RETRY_ATTEMPT\"; read -r x; exit 1" 2>err'
	    attempts 2 attempts
	a pipe that reads our output, which bash gives where 0 was closed
	    for option in -q -qI; do
	        exec <&-
	        out=$("$RETRY" "$option" -n 3 -d 0 sh -c '
	            seq 100; sleep 0.05; [ "$RETRY_ATTEMPT" = 3 ]')
	        [ "$(wc -l <<<"$out")" -eq 300 ]
	    done
	END
}

unending() {
	retried "$RETRY" "$1" -n 3 -d 0 sh -c 'head -c 9; exit 1'
	[ "$(stat -c %s out)" -eq 27 ]
}

# special OPTION NAME COMMAND...: COMMAND, whose input is what the option -I names
# so, ends with STATUS after one attempt
special() {
	local option=$1
	noticed "${@:3}"
	[ "$1" = -v ] ||
		has_line "retry: --replay-stdin: standard input is a $2, which cannot be read again" err
}

@test "once an attempt has read from a socket there is no other attempt" {
	local kind option of='socket for messages'
	rows beside eval <<-'END'
	its first line was read
	    noticed 7 "$ACTOR" from "stream:$in" "${tells[@]}" sh -c 'read x; exit 7'
	recv has taken some
	    noticed 7 "$ACTOR" from "stream:$in" "${tells[@]}" "$ACTOR" receive 2
	nobody has read
	    gives 0 $'1\n2\n3' "$ACTOR" from "stream:$in" \
	        "$RETRY" -q -n 3 -d 0 sh -c '[ "$RETRY_ATTEMPT" = 3 ] && cat'
	idle
	    retried "$ACTOR" from stream "${tells[@]}" false
	empty, and read
	    retried "$ACTOR" from stream:/dev/null "${tells[@]}" sh -c 'cat; exit 1'
	END
	for kind in seqpacket dgram; do
		for option in -v -vI; do
			beside "$kind, $option: recv has taken a message" \
			    special "$option" "$of" 7 "$ACTOR" from "$kind:one,two" \
			    "$RETRY" "$option" -n 2 -d 0 "$ACTOR" receive 9
		done
		beside "$kind: nobody has read" gives 0 one "$ACTOR" from "$kind:one" \
			"$RETRY" -q -n 3 -d 0 sh -c '[ "$RETRY_ATTEMPT" = 3 ] && head -c 3'
		beside "$kind: idle" retried "$ACTOR" from "$kind" "${tells[@]}" false
	done
	option=-v beside 'a message was read' \
	    special -v "$of" 7 "$ACTOR" from seqpacket:one,two \
	    "${tells[@]}" sh -c 'dd bs=9 count=1; exit 7'
}

@test "an input of which nothing tells whether it was read ends the series" {
	local option kind
	for kind in eventfd signalfd; do
		for option in -v -vI; do
			beside "$kind, $option" special "$option" 'special file' 1 \
			    "$ACTOR" from "$kind" "$RETRY" "$option" -n 3 -d 0 false
		done
	done
	{ : </dev/kmsg; } 2>/dev/null || skip "no right to read a device"
	option=-v beside /dev/kmsg noticed 1 "${tells[@]}" false </dev/kmsg
}

# reader_left: the first attempt reads a line, and leaves a process that could read
# on
reader_left() {
	local got=0
	"${tells[@]}" sh -c 'exec 7<&0; read -r x
		(exec sleep 20 <&7 7<&- >/dev/null 2>&1) & echo $! >straggler
		exit 4' || got=$?
	kill "$(<straggler)"
	return "$got"
}

# bats test_tags=slow
@test "what others read from the input in the meantime is not read again" {
	rows beside eval <<-'END'
	a loop that starts retries beside it
	    seq 9 >some
	    bash -mc 'n=0
	        while read -r line && ((++n < 300)); do
	            echo "$line" >>lines
	            "$RETRY" -qd .2 sh -c "echo >>ran; exit 1" &
	            sleep .05
	        done
	        wait' <some
	    cmp some lines
	    [ "$(lines ran)" -ge 9 ]
	a loop that does not wait for an attempt
	    bash -mc 'while read -r line; do
	            echo "$line" >>lines
	            "$RETRY" -q -n 2 -d 0 sh -c "echo >>ran; sleep .2; exit 1" &
	            sleep .05
	        done
	        wait' <"$in" 3>&-
	    cmp "$in" lines
	    [ "$(lines ran)" -ge 3 ]
	a shell without job control has started retry beside it
	    noticed 4 sh -c 'exec 7<"$0"; "$@" <&7 & wait "$!"' "$in" \
	        "${tells[@]}" sh -c 'read -r x; exit 4'
	a file moves in a delay
	    exec 7<"$in"
	    start sh -c 'exec "$@" <&7' sh "$RETRY" -v -n 3 -d 4 -j none \
	        sh -c 'echo >>ran; exit 4'
	    wait_for grep -q retrying err
	    read -r line <&7
	    ended 4
	    [ "$(lines ran)" -eq 1 ]
	    attempts 1 input-consumed
	    has_line 'retry: giving up before attempt 2: standard input was already consumed: use -I or </dev/null' err
	    read -r line <&7
	    [ "$line" = 2 ]
	a background process reads in a delay
	    mkfifo go
	    ab is 5 "$RETRY" -v -n 2 -d 4 -j none sh -c '
	        exec 7<&0
	        { cat go; read x; } <&7 &
	        sh -c "sleep 0.1; echo >go" &
	        exit 5'
	    attempts 1 input-consumed
	an attempt left behind what reads on
	    noticed 4 reader_left <"$in"
	END
}

@test "a file is read again, whoever has opened it or waits" {
	rows row scene <<-'END'
	processes start and end meanwhile
	    while [ ! -e over ]; do /bin/true; done 3>&- &
	    for i in 1 2 3; do
	        exec <"$in"
	        twice || break
	    done
	    : >over
	    wait
	    [ "$i" = 3 ]
	END
	rows beside scene <<-'END'
	others have opened it on their own
	    exec 7<"$in" 8<"$in"
	    twice
	    read -r line <&8
	    [ "$line" = 1 ]
	a shell waits
	    twice sh -c '"$@"; exit "$?"' sh
	a shell waits, whose input it is
	    twice sh -c 'exec <"$0"
	        out=$("$@")
	        status=$?; echo "$out"; exit $status' "$in"
	a shell waits that has given retry a group of its own, at a terminal
	    pty 1 -- bash -mc '{ "$RETRY" -q -n 2 -d 0 sh -c "cat; exit 1"; } <"$0"' "$in"
	    holds out 1 2 3 1 2 3
	a loop waits
	    gives 0 $'1\n1\n2\n2\n3\n3' bash -c 'while read -r x; do
	        "$RETRY" -q -n 2 -d 0 sh -c "echo \"\$0\"; exit 1" "$x" </dev/null || :
	    done'
	another program waits
	    exec 7<"$in"
	    gives 0 $'1\n2\n3\n1\n2\n3\nexited 1' \
	        "$ACTOR" how "$RETRY" -q -n 2 -d 0 sh -c 'cat; exit 1' <&7
	END
	# Otherwise a descriptor of the file at the same offset counts as the same.
	inject kcmp:error=EPERM
	inject+=(-e trace=kcmp)
	rows beside scene <<-'END'
	kcmp is forbidden, and another process has opened it
	    exec 8<"$in"
	    start sleep 20
	    exec 8<&-
	    twice "${inject[@]}"
	kcmp is forbidden, and what an attempt left behind shares it
	    tells=("${inject[@]}" "${tells[@]}")
	    noticed 4 reader_left
	END
}

@test "without a terminal no caller in another group counts as waiting" {
	isolate -pf --mount-proc
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

# reset STATUS KIND COMMAND...: COMMAND ends with STATUS, and nothing can be read
# again from its input of this KIND
reset() {
	is "$1" "$ACTOR" from "$2" "${tells[@]}" "${@:3}"
	attempts 1 input-reset
	told '.* giving up: standard input was reset by its other end'
}

@test "a reset of a socket ends the series, if a command has read it" {
	local kind gone='touch go; until [ -e gone ]; do sleep 0.01; done'
	beside 'the command gets the error' reset 8 reset \
	    sh -c "$gone; exec \"\$ACTOR\" receive 1"
	for kind in reset reset-tcp; do
		beside "$kind: a reader has taken it before retry looks" reset 7 "$kind" \
		    sh -c 'kill -STOP $PPID; touch go; cat; kill -CONT $PPID; exit 7'
	done
	beside 'nobody has read' retried "$ACTOR" from reset "${tells[@]}" \
	    sh -c "$gone; exit 7"
	beside 'the second attempt succeeds without reading' gives 0 '' \
		"$ACTOR" from reset "$RETRY" -q -d 0 \
		sh -c "$gone; [ \$RETRY_ATTEMPT = 2 ]"
}
