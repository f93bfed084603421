#!/usr/bin/env bats
# Covers streams/input, sys/procfs.
# The command's standard input. A file is rewound. --replay-stdin copies a pipe
# or socket to a file. Without it, nothing is taken from a pipe, and once an
# attempt has read from the pipe there is no other attempt.
# shellcheck disable=SC2034 # the rows expand

load helper
load actor

setup() {
	helper_setup
	export TMPDIR=$BATS_FILE_TMPDIR/tmp
	[ -d "$TMPDIR" ] || mkdir "$TMPDIR"
	in=$PWD/in
	printf '%s\n' 1 2 3 >in
}

# No copy of an input has left a file with a name.
teardown() {
	local left
	shopt -s nullglob dotglob
	left=("$BATS_FILE_TMPDIR"/tmp/*)
	helper_teardown && [ "${#left[@]}" -eq 0 ]
}

usual=(-v -d 0 -n 2)
all=(--fail-on 0 cat) # reads all, and is a failure
in_second='[ "$RETRY_ATTEMPT" = 2 ] && exec cat'

# What retry says where input is lost, with -I, and where it is not.
lost='attempt 1/* giving up: standard input was already consumed: use -I or </dev/null|ended after 1 attempt in *: input-consumed'
lost_I='*giving up: standard input was already consumed, and cannot be read again|ended after 1 attempt in *: input-consumed'
kept='*ended after 2 attempts in *: attempts'

# left LINE TRY...: TRY with a file from its second line on; then LINE is next
left() {
	local line=
	{
		read -r line && "${@:2}" && { read -r line || line=; }
	} <"$in"
	[ "$line" = "$1" ]
}

# from KIND TRY...: TRY where the actor makes the input
from() {
	local under=("${under[@]}" "$ACTOR" from "$1")
	"${@:2}"
}

# ab TRY...: TRY with a pipe that has two lines
ab() {
	local got=0
	[ -p ab ] || mkfifo ab
	exec 7<>ab 8<ab
	printf 'a\nb\n' >&7
	exec 7>&-
	"$@" <&8 8<&- || got=$?
	exec 8<&-
	return "$got"
}

# endless TRY...: TRY with a pipe that nobody writes to, and that does not end;
# descriptor 7 writes to it
endless() {
	local got=0
	[ -p pipe ] || mkfifo pipe
	exec 7<>pipe
	"$@" <&7 || got=$?
	exec 7>&-
	return "$got"
}

# filled TRY...: TRY with that pipe, which has two lines
filled() {
	local filling='printf "a\nb\n" >&7; exec "$@"'
	local under=(sh -c "$filling" sh "${under[@]}")
	endless "$@"
}

# piped WORD...: starts retry with these words, and a pipe to which descriptor 7
# writes as long as it is open
piped() {
	[ -p pipe ] || mkfifo pipe
	exec 7<>pipe
	start sh -c 'exec "$@" <pipe 7>&-' sh "${under[@]}" "$RETRY" "$@"
}

# spooling: the retry that start has started has made the file for its input
spooling() {
	[[ $(exec readlink "/proc/$pid/fd/"*) == *"$TMPDIR"*'(deleted)'* ]]
}

@test "a file is rewound before each retry to where it stood, if it is not written to" {
	table <<-'END'
		left '' try status=1 out='2|3|2|3' "${all[@]}"
		# With -I the offset that others share does not move, else it stays where it is.
		left 2 try status=1 out='2|3|2|3' -I "${all[@]}"
		left 3 try status=1 out='2|2|2' -n 3 --fail-on 0 head -c 2
		try status=1 out='1|1' sh -c 'read -r x; echo "$x"; exit 1' <>"$in"
		# Written to by that number, or by that of the output.
		try status=1 sh -c 'echo "$RETRY_ATTEMPT" >&0; exit 1' 0>file && holds file 1 2
		exits 1 "$RETRY" -q -n 2 -d 0 sh -c 'echo "$RETRY_ATTEMPT"; exit 1' <>both >&0 && holds both 1 2
	END
}

# A command that reads half of its input, all of it, and all once more, into ./taken.
reads='case $RETRY_ATTEMPT in
1) head -c 512K ;;
*) cat ;;
esac >>taken
[ "$RETRY_ATTEMPT" = 3 ]'

# big: a megabyte of any bytes in $big, and in $parts what is to be read of it
big() {
	big=$BATS_FILE_TMPDIR/big parts=$BATS_FILE_TMPDIR/parts
	[ -e "$parts" ] || {
		head -c 1M /dev/urandom >"$big"
		{ head -c 512K "$big" && cat "$big" "$big"; } >"$parts"
	}
}

# all_read: attempts read the right parts of $big
all_read() {
	: >taken
	try -n 3 -I sh -c "$reads" && cmp "$parts" taken
}

@test "with -I each attempt reads all of the same input" {
	big
	table <<-'END'
		all_read < <(cat "$big")
		from "stream:$big" all_read
		all_read <"$big"
		try status=1 out='a line|another|a line|another' -I "${all[@]}" <<<$'a line\nanother'
		try status=1 out='0|0' -I --fail-on 0 wc -c < <(:)
		ab try out='a|b' -I sh -c '! echo x 2>/dev/null >&0 && [ "$RETRY_ATTEMPT" = 2 ] && exec cat'
		# The writer never gets SIGPIPE.
		{ head -c 1M /dev/zero; echo $? >produced; } | try -I sh -c '[ "$RETRY_ATTEMPT" = 2 ]' && holds produced 0
		# The copy has no name.
		ab try out="$TMPDIR/*" -I -n 1 sh -c 'echo "$TMPDIR"/*'
		# A device and what is closed are inherited.
		try -I sh -c 'test -c /dev/stdin && ! read -r x' </dev/null
		try -I sh -c '[ ! -e /proc/self/fd/0 ]' <&-
	END
	rows row eval <<-'END'
	a umask that forbids everything
	    mkfifo ab
	    : >out 2>err
	    umask 777
	    ab try status=1 out='a|b|a|b' -I "${all[@]}"
	what an attempt left behind cannot move it
	    mkfifo go gone
	    try -I sh -c 'case $RETRY_ATTEMPT in
	        1)  exec 7<&0
	            { read x <&7; read y <go; { read y; read z; } <&7; echo "$y $z" >late; echo >gone; } &
	            exit 1 ;;
	        esac
	        read x
	        echo >go
	        read y <gone
	        { echo "$x"; exec cat; } >next' < <(cat "$in")
	    holds next 1 2 3
	    holds late '2 3'
	a loop that starts retries beside it
	    gives 0 $'1\n2\n3' bash -mc 'while read -r line; do
	            "$RETRY" -q -I -n 2 -d 0 sh -c "echo >>ran; read -r line; exit 1" &
	            echo "$line"
	        done
	        wait' <"$in"
	    [ "$(lines ran)" -eq 6 ]
	a terminal is inherited, with a warning
	    pty 0 see:ready 'type:some^M' 'see:<some>' -- sh -c 'exec "$RETRY" -I sh -c "
	        test -t 0 && echo ready; read -r x; echo \"<\$x>\"" 2>err'
	    reads err '+([!|])' && reads err '*terminal*'
	END
	local under=()
	if [ "$EUID" -eq 0 ]; then # who may read anything, whatever its mode
		under=(setpriv "--bounding-set=-dac_override,-dac_read_search"
		    "--inh-caps=-dac_override,-dac_read_search")
		"${under[@]}" true 2>/dev/null || skip "no setpriv here"
	fi
	# A file that cannot be opened again.
	{
		chmod 0 "$in"
		try status=1 out='1|2|3|1|2|3' -I "${all[@]}"
		read -r line
		[ "$line" = 1 ]
	} <"$in"
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
	    endless try status=124 -T 0.1 -I touch ran
	    [ ! -e ran ]
	the deadline comes, and input without end
	    try status=124 -T 0.1 -I touch ran < <(exec yes)
	    [ ! -e ran ]
	END
}

# without TRY...: TRY without a TMPDIR that can be used
without() {
	local -x TMPDIR=/nonexistent
	"$@"
}

# What runs a command for which $TMPDIR is a small disk.
in_tmpfs=(unshare -Urm sh -c 'mount -t tmpfs -o size=64k none "$TMPDIR"; exec "$@"' sh)

@test "what is too much or cannot be copied is refused before anything is run" {
	local cannot='--replay-stdin: cannot copy standard input'
	local much='bytes on standard input; command not run'
	local usual=(-d 0)
	table <<-'END'
		try out=1000 -I --stdin-max 1000 wc -c < <(head -c 1000 /dev/zero)
		try status=125 says="--stdin-max: more than 1000 $much" -I --stdin-max 1000 touch ran < <(head -c 1001 /dev/zero)
		try status=125 says='--stdin-max: more than 1M on standard input; *' -I --stdin-max 1M touch ran < <(exec yes)
		from "stream:$in" try status=125 says="--stdin-max: more than 3 $much" -I --stdin-max 3 touch ran
		from unconnected try status=125 says='standard input: *connected; command not run' -I touch ran
		(ulimit -f 16; try status=125 says="$cannot: File too large, in '$TMPDIR' (\$TMPDIR); *" -I touch ran) < <(head -c 1M /dev/zero)
		without ab try status=125 says="$cannot: No such file or directory, in '/nonexistent' (\$TMPDIR); *" -I touch ran
		without try out=1 -I head -n 1 <"$in"
		without ab try out=a head -n 1
	END
	[ ! -e ran ]
	"${in_tmpfs[@]}" true 2>/dev/null || skip "no mount namespaces here"
	local under=("${in_tmpfs[@]}")
	try status=125 says="$cannot: No space left on device, in '$TMPDIR' (\$TMPDIR); *" \
		-I touch ran < <(head -c 1M /dev/zero)
	[ ! -e ran ]
}

@test "without a /proc each attempt gets a copy of the input, too" {
	isolate -m
	cp "$RETRY" here
	big
	[ -z "${RETRY_SAN-}" ] || skip 'the sanitizers need /proc'
	local under=("${isolate[@]}" sh -c
		'mount -t tmpfs none /proc || exit 99; exec "$@"' sh) RETRY=./here
	"${under[@]}" true 2>/dev/null || skip 'no right to mount here'
	table <<-'END'
		all_read < <(cat "$big")
		all_read <"$big"
		left 2 try status=1 out='2|2' -I sh -c 'head -n 1; exit 1'
		try status=125 says='--stdin-max: more than 5 *' -I --stdin-max 5 touch ran <"$in"
	END
	[ ! -e ran ]
}

@test "an attempt whose input cannot be opened is not run, and is retried" {
	local limit open='Too many open files'
	for limit in {4..16}; do
		: >ran
		: >out 2>err
		(
			ulimit -n "$limit"
			exec 3>&-
			exec "$RETRY" -I -t 60 -n 2 -d 0 sh -c 'echo >>ran; read -r x; echo "$x"; exit 1' >out 2>err
		) <<<a && return 1
		reads out '@(|a|a[|]a)'
		! reads err "attempt 1/2 not started (cannot open the input again: $open), retrying*" ||
			break
	done
	[ "$limit" -lt 16 ] && [ ! -s ran ]
}

@test "once an attempt has read from a pipe there is no other attempt" {
	table <<-'END'
		# Its first line was read, or all, or a line that came late.
		ab try status=7 says="$lost" sh -c 'read x; exit 7'
		ab try status=1 out='a|b' says="$lost" "${all[@]}"
		endless try status=1 says="$lost" sh -c 'echo line >&7; read x; exit 1'
		# Some of many bytes that are the same.
		try status=1 says="$lost" sh -c 'head -c 10; exit 1' < <(head -c 1M /dev/zero)
		# Nobody has read, or there is nothing.
		ab try out='a|b' sh -c "$in_second"
		endless try status=1 says="$kept" sh -c 'echo line >&7; exit 1'
		try status=1 says="$kept" "${all[@]}" < <(:)
	END
	rows beside eval <<-'END'
	it ends while nobody reads it
	    mkfifo closed
	    piped "${usual[@]}" sh -c 'echo >ready
	        [ "$RETRY_ATTEMPT" != 1 ] || read x <closed
	        read x
	        exit 1'
	    wait_for [ -e ready ]
	    exec 7>&-
	    echo >closed
	    ended
	    reads err "$kept"
	a line of a slow writer, however fast
	    piped "${usual[@]}" sh -c 'echo >ready; read x; exit 5'
	    wait_for [ -e ready ]
	    echo line >&7
	    ended 5
	    reads err "$lost"
	a loop keeps its lines
	    while read -r x; do
	        "$RETRY" -q -n 2 -d 0 sh -c 'echo "$1"; exit 1' sh "$x" || :
	    done < <(printf '%s\n' 1 2) >lines
	    holds lines 1 1 2 2
	a script that is piped into a shell keeps its rest
	    for shell in sh bash; do
	        printf '%s\n' '"$RETRY" -q -n 2 -d 0 sh -c "echo x; exit 1"' 'echo last' |
	            "$shell" >out
	        holds out x x last
	    done
	what the command left is there when retry has ended
	    ab sh -c '"$RETRY" -q -d 0 sh -c "read x; exit 1"; read -r x; echo "$x"' >out
	    holds out b
	a retry within another is no reader
	    ab try status=1 says="$kept" "$RETRY" -q -n 2 -d 0 false
	with one attempt nothing is opened for the input
	    ab try out='*inotify*' sh -c 'readlink "/proc/$PPID/fd/"*'
	    ab try -n 1 sh -c 'readlink "/proc/$PPID/fd/"*'
	    reads out '!(*inotify*)'
	END
}

@test "once an attempt has read from a pipe that its words name there is no other attempt" {
	local gone='attempt 1/2 * giving up: /dev/fd/+([0-9]) was already consumed: use -I|*input-consumed'
	local many="*giving up: more pipes are named than can be watched|*input-consumed" words=() n
	mkdir pipes
	mkfifo pipes/{1..64}
	for n in pipes/*; do
		exec 9<>"$n" {n}<"$n" 9>&-
		words+=("/dev/fd/$n")
	done
	mkfifo log
	table <<-'END'
		try status=7 says="$gone" bash <(echo 'exit 7')
		try status=1 out='a|b' says="$gone" "${all[@]}" <(echo a) <(echo b)
		try status=1 out=b says="$gone" sh -c 'cat "$2"; exit 1' sh <(echo a) <(echo b)
		try status=1 says="$gone" sh -c 'read x <"${1#*@}"; exit 1' sh data=1@<(echo a)
		try status=1 says="$gone" sh -c 'read x <"${1#*=}"; exit 1' sh --file=<(echo a)
		try status=1 says="$gone" sh -c 'read x <"${1#-xf}"; exit 1' sh -xf<(echo a)
		try status=1 says="$gone" sh -c 'read x <"${1#file://}"; exit 1' sh file://<(echo a)
		try status=1 says="$gone" sh -c 'read x <&8; exit 1' sh 'f=@/dev/fd/8;type=x' 8< <(echo a)
		try status=1 says="$gone" sh -c 'read x <&8; exit 1' sh /dev/fd/99,/proc/self/fd/8:x 8< <(echo a)
		# Nobody has read, or there is nothing.
		try status=1 says="$kept" false <(echo a)
		try status=1 says="$kept" "${all[@]}" <(:)
		# It is to be written to, is no pipe, or is not named.
		try status=1 says="$kept" sh -c 'echo a >"$1"; exit 1' sh >(exec cat >/dev/null)
		try status=1 says="$kept" false /dev/fd/99 /dev/fd/2
		try status=1 out='1|2|3|1|2|3' says="$kept" "${all[@]}" /dev/fd/8 8<"$in"
		try status=1 says="$kept" sh -c 'read x <&8; exit 1' sh /dev/fd/ /dev/fd/x8 /fd/8 8 8< <(echo a)
		# A script has numbers of its own.
		try status=1 says="$kept" sh -c 'read x </dev/fd/8; exit 1' 8< <(echo a)
		try status=1 says="$gone" sh -c 'read x <&8; exit 1' sh 'a file@/dev/fd/8;b' 8< <(echo a)
		try status=1 says="$kept" sh -c 'echo x >&8; read x <&8; exit 1' sh /dev/fd/8 8<>log
		# Of so many nobody knows.
		try status=1 says="$kept" false "${words[@]:1}"
		try status=1 says="$many" false "${words[@]}"
	END
}

@test "with -I each attempt reads all of the pipes that its words name, too" {
	local usual=(-d 0 -n 2)
	table <<-'END'
		try status=1 out='a|b|a|b' -I --fail-on 0 cat <(echo a) <(echo b)
		try status=1 out='x|a|x|a' -I --fail-on 0 cat - <(echo a) < <(echo x)
		try status=1 out='a|a' -I --fail-on 0 sh -c 'cat <&8' sh /dev/fd/8 8< <(echo a)
		# One pipe by two numbers, and one that has no end.
		try status=1 out='x|x|x|x' -I --fail-on 0 cat - /dev/fd/8 < <(echo x) 8<&0
		try out='' -I sh -c 'echo hi >"$1"' sh /dev/fd/8 8<>log
		# A terminal beside it is meant by nobody.
		pty 0 -- bash -c '"$RETRY" -I cat <(echo a) 2>err' && [ ! -s err ]
		try status=125 says='--stdin-max: more than 3 bytes on /dev/fd/+([0-9]); command not run' -I --stdin-max 3 touch ran <(echo 4567)
		without try status=125 says="--replay-stdin: cannot copy /dev/fd/*: No such file or directory, in *" -I touch ran <(echo a)
	END
	[ ! -e ran ]
}

@test "without inotify there is no other attempt unless the pipe is as it was" {
	local under=(unshare -Ur sh -c
		'echo 0 >/proc/sys/user/max_inotify_instances && exec "$@"' sh)
	"${under[@]}" true 2>/dev/null || skip "no user namespaces here"
	mkfifo ready pipe
	table <<-'END'
		filled try status=1 says="$lost" sh -c 'read x; exit 1'
		filled try out='a|b' sh -c '[ "$RETRY_ATTEMPT" = 2 ] && exec head -n 2'
		endless try status=1 says="$kept" false
		endless try status=1 says="$lost" sh -c 'echo line >&7; exit 1'
		endless try status=1 says="$lost" sh -c 'printf "a\nb\n" >&7; read x; exit 1'
		try status=1 says="$lost" sh -c 'echo >ready; cat; exit 1' < <(read -rt 5 x <>ready; echo line)
	END
}

@test "an input that is never at its end, or has none, does not prevent retries" {
	local nine=(--fail-on 0 head -c 9)
	table <<-'END'
		try status=1 says="$kept" "${nine[@]}" </dev/zero
		try status=1 says="$kept" -I "${nine[@]}" </dev/zero
		try status=1 says="$kept" "${nine[@]}" </dev/urandom
		from listen try status=1 says="$kept" false
		from listen try status=1 says="$kept" -I false
		try status=1 says="$kept" "${all[@]}" </dev/null
		try status=1 says="$kept" sh -c '[ -e /proc/self/fd/0 ]' <&-
		pty 1 see:1 'type:x^M' see:2 'type:y^M' -- sh -c 'exec "$RETRY" -v -n 2 -d 0 sh -c "echo \"\$RETRY_ATTEMPT\"; read -r x; exit 1" 2>err' && reads err "$kept"
	END
	# A pipe that reads our output, which bash gives where 0 was closed.
	for option in -q -qI; do
		out=$("$RETRY" "$option" -n 2 -d 0 sh -c '
			seq 100; sleep 0.05; [ "$RETRY_ATTEMPT" = 2 ]')
		out=${out//[!$'\n']}
		[ "${#out}" -eq 199 ]
	done <&-
}

@test "once an attempt has read from a socket, or it is unknown, there is no other attempt" {
	local kind of='--replay-stdin: standard input is a'
	table <<-'END'
		from "stream:$in" try status=7 says="$lost" sh -c 'read x; exit 7'
		from "stream:$in" try status=7 says="$lost" "$ACTOR" receive 2
		from "stream:$in" try out='1|2|3' sh -c "$in_second"
		from stream try status=1 says="$kept" false
		from stream:/dev/null try status=1 says="$kept" "${all[@]}"
		# Of these nobody knows.
		from eventfd try status=1 says="$lost" false
		from eventfd try status=1 says="$of special file, which cannot be read again|$lost_I" -I false
		from dgram try status=1 says="$lost" false
		from dgram try status=1 says="$of special file, which cannot be read again|$lost_I" -I false
	END
	{ : </dev/kmsg; } 2>/dev/null || skip "no right to read a device"
	try status=1 says="$lost" false </dev/kmsg
}

# reader_left: the first attempt reads a line, and leaves a process that could read
# on
reader_left() {
	local got=0
	try status=4 says="$lost" sh -c 'exec 7<&0; read -r x
		(exec sleep 20 <&7 7<&- >/dev/null 2>&1) & echo $! >straggler
		exit 4' || got=$?
	kill "$(<straggler)"
	return "$got"
}

# bats test_tags=slow
@test "what others read from the input in the meantime is not read again" {
	rows beside eval <<-'END'
	a loop that starts retries beside it
	    printf '%s\n' 1 2 3 4 5 >some
	    bash -mc 'n=0
	        while read -r line && ((++n < 300)); do
	            echo "$line" >>lines
	            "$RETRY" -qd .2 sh -c "echo >>ran; exit 1" &
	            sleep .05
	        done
	        wait' <some
	    holds lines 1 2 3 4 5
	    [ "$(lines ran)" -ge 5 ]
	a loop of a script in the background, which ignores INT and QUIT
	    printf '%s\n' 1 2 3 4 5 6 7 8 >some
	    bash -c 'trap "" INT QUIT
	        while read -r line; do
	            echo "$line" >>lines
	            "$RETRY" -q -n 2 -d 0 sh -c "echo >>ran; [ $line != 1 ] || { sleep .25; exit 1; }" &
	            sleep .1 </dev/null
	        done <some
	        wait' 3>&-
	    holds lines 1 2 3 4 5 6 7 8
	    [ "$(lines ran)" -ge 8 ]
	the same, where the loop sleeps without a process
	    mkfifo never
	    seq 3 8 >some
	    bash -c 'trap "" INT QUIT
	        exec 7<>never
	        {
	            read -r line
	            echo "$line" >>lines
	            "$RETRY" -q -n 2 -d 0 sh -c "echo >>ran; read -r x; exit 1" <&0 &
	            for _ in {1..200}; do [ -e ran ] && break; read -rt .05 x <&7; done
	            read -rt .5 x <&7
	            while read -r line; do echo "$line" >>lines; done
	        } <some
	        wait' 3>&-
	    holds lines 3 5 6 7 8
	    holds ran ''
	a loop that does not wait for an attempt
	    bash -mc 'while read -r line; do
	            echo "$line" >>lines
	            "$RETRY" -q -n 2 -d 0 sh -c "echo >>ran; sleep .2; exit 1" &
	            sleep .05
	        done
	        wait' <"$in" 3>&-
	    holds lines 1 2 3
	    [ "$(lines ran)" -ge 3 ]
	a shell without job control has started retry beside it
	    under=(sh -c 'exec 7<"$0"; "$@" <&7 & wait "$!"' "$in")
	    try status=4 says="$lost" sh -c 'read -r x; exit 4'
	a file moves in a delay
	    exec 7<"$in"
	    start sh -c 'exec "$@" <&7' sh "$RETRY" -v -n 3 -d 4 -j none sh -c 'echo >>ran; exit 4'
	    wait_for told '.*retrying.*'
	    read -r line <&7
	    ended 4
	    reads err '*|giving up before attempt 2: standard input was already consumed: use -I or </dev/null|ended after 1 attempt in *: input-consumed'
	    holds ran ''
	    read -r line <&7
	    [ "$line" = 2 ]
	a background process reads in a delay
	    mkfifo go
	    ab try status=5 says='*|ended after 1 attempt in *: input-consumed' -d 4 -j none sh -c '
	        exec 7<&0
	        { read x <go; read x; } <&7 &
	        (sleep 0.1; echo >go) &
	        exit 5'
	an attempt left behind what reads on
	    reader_left <"$in"
	END
}

@test "a file is read again, whoever has opened it or waits" {
	local twice='1|2|3|1|2|3'
	rows row eval <<-'END'
	processes start and end meanwhile
	    while [ ! -e over ]; do /bin/true; done 3>&- &
	    try status=1 out="$twice|$twice" -n 4 "${all[@]}" <"$in" || failed=yes
	    : >over
	    wait
	    [ -z "${failed-}" ]
	others have opened it on their own
	    exec 7<"$in" 8<"$in"
	    try status=1 out="$twice" "${all[@]}" <"$in"
	    read -r line <&8
	    [ "$line" = 1 ]
	a shell waits
	    under=(sh -c '"$@"; exit "$?"' sh)
	    try status=1 out="$twice" "${all[@]}" <"$in"
	a shell waits, whose input it is
	    under=(sh -c 'exec <"$0"; out=$("$@"); status=$?; echo "$out"; exit $status' "$in")
	    try status=1 out="$twice" "${all[@]}"
	a shell waits that has given retry a group of its own, at a terminal
	    pty 1 -- bash -mc '{ "$RETRY" -q -n 2 -d 0 sh -c "cat; exit 1"; } <"$0"' "$in"
	    holds out 1 2 3 1 2 3
	a loop waits
	    gives 0 $'1\n1\n2\n2\n3\n3' bash -c 'while read -r x; do
	        "$RETRY" -q -n 2 -d 0 sh -c "echo \"\$0\"; exit 1" "$x" </dev/null || :
	    done' <"$in"
	a group of commands in the background waits, which ignores INT and QUIT itself
	    under=(sh -c '{ trap "" INT QUIT; "$@"; exit "$?"; } <"$0" & wait "$!"' "$in")
	    try status=1 out="$twice" "${all[@]}"
	another program waits
	    exec 7<"$in"
	    under=("$ACTOR" how)
	    try out="$twice|exited 1" "${all[@]}" <&7
	END
	# Otherwise a descriptor of the file at the same offset counts as the same.
	inject kcmp:error=EPERM
	under=("${inject[@]}" -e trace=kcmp)
	rows beside eval <<-'END'
	kcmp is forbidden, and another process has opened it
	    exec 8<"$in"
	    start sleep 20
	    exec 8<&-
	    try status=1 out="$twice" "${all[@]}" <"$in"
	kcmp is forbidden, and what an attempt left behind shares it
	    reader_left <"$in"
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
	reads err "$lost"
}
