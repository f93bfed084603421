#!/usr/bin/env bats
# Covers streams/capture, streams/tempfile, run, attempt/attempt.
# -O and -E hold output until the attempt is judged: which attempt's output is
# written, where it is kept until then, and that none is lost without a message.
# shellcheck disable=SC2016,SC2034 # the rows and the commands' shells expand

load helper
load actor
load json

usual=(-d 0)

# Each attempt writes a line to both streams; number $won and those after it
# succeed, the others exit 7.
says=(sh -c 'echo "out $RETRY_ATTEMPT"; echo "err $RETRY_ATTEMPT" >&2
	[ "$RETRY_ATTEMPT" -ge "${won:-99}" ] || exit 7')

# What retry says in the end, but for what stands before.
last2='attempt 2/2 failed (exit 7), giving up: attempts exhausted'
above='giving up: more output than --hold-max'
full='No space left on device'
large='File too large'

nothing() {
	[ ! -s "$1" ] || {
		echo "there is something in $1:"
		head -n 5 "$1"
		return 1
	}
}

# big: three megabytes of any bytes in $bytes, which take more than one send
big() {
	export bytes=$BATS_FILE_TMPDIR/any
	[ -e "$bytes" ] || head -c 3000000 /dev/urandom >"$bytes"
}

# The second attempt writes $bytes; the first one writes something else.
copies='[ "$RETRY_ATTEMPT" -eq 2 ] || { echo wrong; exit 7; }; exec cat "$bytes"'

# Waits until ./pipe is full.
choked() {
	"$ACTOR" unread 7 60000
}

# past TIME: it is TIME or later
past() {
	local moment
	look_at_clock
	((moment >= $1))
}

# dies_of SIGNAL: retry does, in the background
dies_of() {
	kill -"$1" "$pid"
	ended
	[ "$status" -eq $((128 + $(kill -l "$1"))) ]
}

@test "-O writes what the attempt that succeeds wrote, -E what the last one that fails did" {
	local unusable=(-E -B api --budget-dir nosuch) again=' failed (exit 7), retrying in 0s'
	local late='[ "$RETRY_ATTEMPT" -eq 2 ] || { echo "err $RETRY_ATTEMPT" >&2; exit 7; }
		printf %s "$word" >&2; exec sleep 20'
	table <<-'END'
		with won=3 try out='out 3' says='> err 1|> err 2|> err 3' -q -O -- "${says[@]}"
		try out='out 1' says='> err 1' --hold-stdout --success-on 7 -- "${says[@]}"
		try status=7 out='' says='> err 1|> err 2|> err 3' -q -n 3 -O -- "${says[@]}"
		try status=7 out='' says='> *|*, giving up: *' -O --stop-on 7 -- "${says[@]}"
		try status=124 out='' says='*, giving up: *' -O -T 1 -k 0 -- sh -c 'echo lost; exec sleep 20'
		try status=127 out='' says="cannot run 'nosuch': No such file or directory" -O -- nosuch
		# With -E one line comes after it.
		with won=3 try out='out 1|out 2|out 3' says='' --hold-stderr -- "${says[@]}"
		try status=7 out='out 1|out 2' says="> err 2|$last2" -n 2 -E -- "${says[@]}"
		try status=7 out='out 1|out 2' says='> err 2' -q -n 2 -E -- "${says[@]}"
		try status=7 out='out 1' says='> err 1|attempt 1/5 failed (exit 7), giving up: --stop-on 7' -E --stop-on 7 -- "${says[@]}"
		# The deadline ends the second attempt.
		try status=124 out='' says='> err 1' -q -T 1 -k 0 -E -- sh -c "$late"
		with word=late try status=124 out='' says='> late' -q -T 1 -k 0 -E -- sh -c "$late"
		try status=124 out='' says='' -q -T 1 -k 0 --chronic -- sh -c "$late"
		try status=127 out='' says="cannot run '5': No such file or directory|did you mean -n 5?" -E -- 5 true
		# With -v too none but the last, which follows the error output.
		with won=2 try says="attempt 1/3$again|attempt 2/3 succeeded (exit 0)|ended after 2 attempts in *s: succeeded, rescued by a retry" -v -n 3 -E -- "${says[@]}"
		try status=7 says="attempt 1/3$again|attempt 2/3$again|> err 3|attempt 3/3 failed (exit 7), giving up: attempts exhausted|ended after 3 attempts in *s: attempts" -v -n 3 -E -- "${says[@]}"
		with won=2 try out='' says='' -v --chronic -- "${says[@]}"
		# No warning, but the error because of which nothing is run.
		with won=1 try out='out 1' says='' "${unusable[@]}" -- "${says[@]}"
		try status=7 out='out 1|out 2' says="> err 2|$last2" -n 2 "${unusable[@]}" -- "${says[@]}"
		try status=69 "${unusable[@]}" --budget-required -- touch ran && [ ! -e ran ] && reads err "budget 'api': *"
	END
}

# What a process writes to both streams in turns, 98 times each, and what that is.
turns='exec 2>&1; i=0; while [ $((i += 1)) -lt 99 ]; do echo "$i"; echo "$i" >&2; done'
printf -v turned '%s|' {1..98}{,}

@test "both are held apart or together, and each alone leaves the other as it is" {
	local open='[ ! -e /proc/$$/fd/1 ] && echo closed >&2; [ ! -e /proc/$$/fd/2 ] && echo closed; exit 3'
	table <<-'END'
		# Apart, though they go to the same place; -O alone holds one.
		with won=2 to '2>&1' try out='out 2' -O -E -- "${says[@]}"
		to '2>&1' try status=7 out="err 2|$last2" -n 2 -O -E -- "${says[@]}"
		with won=1 to '2>&1' try out='err 1|out 1' -O -- "${says[@]}"
		# A command that joins its streams has them in order.
		try out="${turned%|}" says='' -O -E -- sh -c "$turns"
		try out="$PWD/err" says='' -O -- readlink /proc/self/fd/2
		try out="$PWD/out" says='' -E -- readlink /proc/self/fd/1
		# One that is closed stays closed.
		to '>&-' try status=3 says='> closed|> closed' -q -n 2 -O sh -c "$open"
		to '2>&-' try status=3 out='closed|closed' -n 2 -E sh -c "$open"
		to '>&-' try -O true
		try out=ok says='' -O -E --retry-on stdout:busy -- sh -c '[ "$RETRY_ATTEMPT" -eq 2 ] && echo ok || { echo busy; exit 3; }'
		try status=3 out='' says='> denied|attempt 1/5 failed (exit 3), giving up: --stop-on stderr:denied' -O -E --stop-on stderr:denied -- sh -c 'echo lost; echo denied >&2; exit 3'
	END
}

@test "held output is written when its attempt has ended, or retry is interrupted" {
	rows row eval <<-'END'
	not before its end
	    mkfifo gate
	    start "$RETRY" -O sh -c 'echo held; echo told >&2; read -r line <gate'
	    wait_for told told
	    nothing out
	    echo >gate
	    ended 0
	    holds out held
	in a delay what -E held, and retry dies of the signal
	    start "$RETRY" -d 20 -j none -n 2 -O -E sh -c \
	        'echo held >&2; echo lost; echo >>over; exit 7'
	    wait_for test -s over
	    wait_for childless "$pid"
	    dies_of INT
	    [[ $(<err) == held$'\nretry: '* ]]
	    reads err '> held|+([!|])'
	    nothing out
	in an attempt its stderr, and not its output
	    start "$RETRY" -O -E sh -c 'echo lost; echo held >&2; echo $$ >command
	        exec sleep 20'
	    wait_for test -s command
	    dies_of TERM
	    holds err held 'retry: attempt 1/5 killed by SIGTERM, giving up: interrupted'
	    nothing out
	a success in spite of it
	    start "$RETRY" -O -E sh -c 'trap "exit 0" TERM; echo held; echo lost >&2
	        echo >ready; while :; do sleep 0.1; done'
	    wait_for test -s ready
	    ended_by TERM 0
	    holds out held
	    nothing err
	END
}

# writes_later WORDS: for a shell: a process that writes WORDS when retry has
# learnt that the shell has ended. Such is a process substitution.
writes_later() {
	echo "(while [ -d /proc/\$\$ ]; do :; done; echo '$1') &"
}

seeks_back='import os
os.write(1, b"header?body")
os.pwrite(1, b"!", 6)
os.lseek(1, 0, os.SEEK_SET)
os.write(1, b"HEADER")'

@test "output is held in a file without a name, which ends with its attempt" {
	rows row eval <<-'END'
	of each attempt
	    mkdir tmp
	    TMPDIR=$PWD/tmp try status=7 out='' \
	        says="> $PWD/tmp/* (deleted)|> $PWD/tmp/* (deleted)|> 0 600|> 0 600" \
	        -q -n 2 -O -E -- sh -c 'ls -A "$TMPDIR" >&2
	        readlink /proc/$$/fd/1 /proc/$$/fd/2 >&2
	        stat -L -c "%h %a" /proc/$$/fd/1 /proc/$$/fd/2 >&2; exit 7'
	    [ -z "$(ls -A tmp)" ]
	the command gets no descriptor of ours
	    try -O -E -- ls /proc/self/fd
	    [ "$(exec ls /proc/self/fd 3>&-)" = "$(<out)" ]
	a command can seek back in its output
	    try out='HEADER!body' says='' -O -- "$PYTHON" -IS -c "$seeks_back"
	standard error that is opened again in between loses nothing
	    try status=7 out='' says='> 1|> 2|> 3|> 4|> 5' -q -n 1 -E -- sh -c 'echo 1 >&2
	        echo 2 >>/dev/stderr; echo 3 >&2
	        echo 4 | tee -a /dev/stderr >/dev/null
	        echo 5 >&2; exit 7'
	where the file cannot be made, nothing is run
	    export TMPDIR=$PWD/nosuch
	    try out=ok says='' -- echo ok
	    try status=125 out='' says="cannot relay or hold output: cannot make a file: No such file or directory, in '$TMPDIR' (\$TMPDIR); command not run" \
	        -E -- touch ran
	    [ ! -e ran ]
	END
}

# late OPTION...: what a process of the first attempt writes during the second one
late() {
	mkfifo gate written
	try out=two says='' -q -O -E "$@" -- sh -c 'case $RETRY_ATTEMPT in
		1)	(read -r line; echo straggler; echo straggler >&2
			echo >written) <gate &
			echo one; exit 7 ;;
		2)	echo >gate
			read -r line <written
			echo two; echo two >&2 ;;
		esac'
}

# On a busy machine what is written later may be too late, thus some tries.
@test "what other processes write is delivered, if they write soon" {
	local PATIENCE=4
	rows row eval <<-'END'
	just after the end, with a pattern and without
	    for option in -q --fail-on=stdout:nosuch; do
	        wait_for try out=hi says='' -O -n 1 $option -- sh -c "$(writes_later hi)"
	    done
	just after the end, to stderr
	    wait_for try status=7 out='' says='> hi' -q -E -n 1 -- \
	        sh -c "{ $(writes_later hi) } >&2; exit 7"
	on and on
	    try -O -- sh -c 'echo first
	        (echo $$ >/dev/null; exec 2>/dev/null; while [ ! -e over ]; do
	            echo more; done; : >gone) &'
	    mapfile -t all <out
	    [[ "${all[*]} " =~ ^first\ (more\ )*$ ]]
	    : >over
	    wait_for test -e gone
	not at all, though the output is open
	    look_at_clock
	    before=$moment
	    try -O -n 1 -- sh -c 'echo first; sleep 20 2>/dev/null &
	        echo $! >job'
	    look_at_clock
	    kill "$(<job)"
	    holds out first
	    ((moment - before < 5000))
	not at all, and a signal ends the wait
	    start "$RETRY" -q -n 1 -E sh -c 'echo held >&2; sleep 20 >/dev/null &
	        echo $! >job; echo $PPID >parent; exit 7'
	    wait_for test -s parent
	    wait_for childless "$pid"
	    kill -TERM "$pid" 2>/dev/null || : # at the latest it is over by then
	    ended
	    kill "$(<job)"
	    [ "$status" -eq 143 ] || [ "$status" -eq 7 ]
	    holds err held
	in a later attempt
	    late
	in a later attempt, with a pattern
	    late --retry-on stdout:one
	END
}

@test "without a /tmp that can be written to output is held in memory" {
	isolate -m
	cp "$RETRY" here # which is found without /tmp
	big
	ln "$bytes" some
	local RETRY=./here under=("${isolate[@]}" env -u TMPDIR sh -c
		'mount -t tmpfs -o ro none /tmp || exit 99; exec "$@"' sh)
	"${under[@]}" true 2>/dev/null || skip 'no right to mount here'
	table <<-'END'
		try out='out 2|/memfd:*|/memfd:*' says='' -q -O -E sh -c 'echo "out $RETRY_ATTEMPT"; readlink /proc/$$/fd/1 /proc/$$/fd/2; [ "$RETRY_ATTEMPT" -eq 2 ]'
		try status=7 out='' says='> 1|> 2' -q -n 2 -O -E sh -c 'echo lost; echo 1 >&2; echo 2 >>/dev/stderr; exit 7'
		try -q -O --fail-on stdout:nosuch cat some && cmp some out
		try status=125 out='' -O --hold-max 1M sh -c 'head -c 1048577 /dev/zero; exec sleep 20'
		# Not with TMPDIR set.
		exits 125 "${under[@]}" env TMPDIR=/tmp "$RETRY" -O touch ran && [ ! -e ran ]
	END
}

@test "more than --hold-max is an error of ours, whatever the command does: 125" {
	# What other processes write later does not count.
	local late='echo all
		{ while [ -d "/proc/$$" ]; do sleep 0.01; done
		  sleep 0.03; head -c 2000 /dev/zero; sleep 0.3; } &'
	local ends="@(failed (exit [07])|killed by SIGTERM), $above" kilo thousand
	local on='echo >>ran; head -c 1025 /dev/zero; exec sleep 20'
	printf -v kilo %01024d 0
	printf -v thousand '> %d|' {1..1000}
	table <<-'END'
		try status=125 out='' says="attempt 1/5 $ends" -O --hold-max 1k -- sh -c 'head -c 1025 /dev/zero'
		try status=125 out='' says="attempt 1/5 $ends" -O --hold-max 1k -- sh -c 'head -c 1025 /dev/zero; exit 7'
		# -E: delivered, and then a line.
		try status=125 runs=1 says="${thousand}attempt 1/3 $ends" -E -n 3 --hold-max 1k -- sh -c 'echo >>ran; seq 1000 >&2'
		# As much of each, and retry looks.
		try out="$kilo" says='' -O -E --hold-max 1k -- sh -c 'printf %01024d 0; printf %01024d 0 >&2; exec sleep 0.2'
		# Before the command ends and later, with a pattern and without.
		try status=125 runs=1 out='' says="attempt 1/5 killed by SIGTERM, $above" -O --hold-max 1k -- sh -c "$on"
		try status=125 runs=1 out='' says="attempt 1/5 killed by SIGTERM, $above" -O --fail-on stdout:nosuch --hold-max 1k -- sh -c "$on"
		try out=all says='' -O --hold-max 1k -- sh -c "$late"
		try out=all says='' -O --fail-on stdout:nosuch --hold-max 1k -- sh -c "$late"
		# Under -q, too, and in the report.
		try status=125 says="* $above" report='reason=internal each.rule=hold-max' -q -O --hold-max 1k -- seq 1000
	END
	rows row eval <<-'END'
	where the command ignores TERM, all its processes are killed
	    try status=125 says="*killed by SIGKILL, $above" -O -k 0.1 --hold-max 1k -- sh -c '
	        trap "" TERM
	        sleep 60 2>/dev/null &
	        echo $! >job; head -c 2000 /dev/zero; wait'
	    wait_for gone "$(<job)"
	but none from before the attempt
	    is 125 sh -c 'sleep 60 & echo $! >elder
	        exec "$RETRY" -q -O --hold-max 1k seq 1000'
	    kill "$(<elder)"
	END
}

# At first nothing is read, and less fits into the socket.
to_socket='import os, socket, subprocess, sys, time
ours, theirs = socket.socketpair()
child = subprocess.Popen(sys.argv[1:], stdout=theirs)
theirs.close()
time.sleep(0.2)
with ours.makefile("rb") as file:
    assert file.read() == open(os.environ["bytes"], "rb").read()
assert child.wait() == 0'

@test "held output is delivered exactly" {
	big
	rows row eval <<-'END'
	to the end of a file
	    echo before >both
	    "$RETRY" -q -d 0 -O sh -c "$copies" >>both
	    cmp -i 7:0 both "$bytes"
	into a file
	    printf '0123456789' >both
	    { echo -n ab; "$RETRY" -q -O echo -n cd; echo -n ef; } 1<>both
	    [ "$(<both)" = abcdef6789 ]
	to a file, with a pattern, and stderr
	    try -q -O --retry-on stdout:wrong -- sh -c "$copies"
	    cmp "$bytes" out
	    try status=7 -q -n 2 -E --retry-on stderr:nosuch --retry-on 7 -- \
	        sh -c 'cat "$bytes" >&2; exit 7'
	    cmp "$bytes" err
	to a slow reader, and stderr to a pipe
	    "$RETRY" -q -d 0 -O sh -c "$copies" | "$ACTOR" sip | cmp "$bytes" -
	    "$RETRY" -q -d 0 -n 2 -E sh -c 'cat "$bytes" >&2; exit 7' 2>&1 >out |
	        cmp "$bytes" -
	    nothing out
	to a socket
	    "$PYTHON" -IS -c "$to_socket" "$RETRY" -q -d 0 -O sh -c "$copies"
	to a terminal
	    seq 20000 >some
	    bytes=some pty 0 -- "$RETRY" -q -d 0 -O sh -c "$copies"
	    cmp some out
	nothing, and no newline
	    try out='' says='' -O -E -- true
	    try -O -- printf 'no newline'
	    not read -rd '' line <out
	    [ "$line" = 'no newline' ]
	END
}

cannot='cannot write to standard output:'

# limited BLOCKS TRY...: TRY, where as much may be written to a file
limited() {
	local under=(bash -c 'ulimit -f "$0"; exec "$@"' "$1")
	"${@:2}"
}

@test "output that cannot be delivered, or is too large for a file, is an error of ours: 125" {
	local many='seq 9999 2>/dev/null; exit 0'
	table <<-'END'
		to '>/dev/full' try status=125 says="$cannot $full" -O echo lost
		to '1</dev/null' try status=125 says="$cannot Bad file descriptor" -q -O echo lost
		to '>/dev/full' try says='' -O true
		to '2>/dev/full' try status=125 -q -n 2 -E "${says[@]}"
		to '2>/dev/full' try status=7 -q -n 2 -E sh -c 'exit 7'
		# A command that reaches the limit of a file dies of it.
		limited 10 try status=$((128 + $(kill -l XFSZ))) out='' says='*, giving up: *' -n 1 -O -- cat /dev/zero
		# Of held output, with a pattern and without; the output may not grow.
		limited 1 try status=125 out='' says="$cannot $large" -O -n 1 -- sh -c "$many"
		limited 1 try status=125 out='' says="$cannot $large" -O -n 1 --fail-on stdout:nosuch -- sh -c "$many"
		head -c 8000 /dev/zero >file && limited 10 to '>>file' try status=125 says="$cannot $large" -O head -c 4000 /dev/zero
		# The limit is not reached.
		limited 1 try out='1|2|*|199|200' -O -n 1 -- seq 200
		limited 0 try -O -n 1 -- true
	END
	# Of held stderr, with a pattern: what there is, and then a line.
	mkfifo pipe
	cat pipe >got &
	limited 1 to '2>pipe' try status=125 -q -E -n 1 --retry-on=stderr:nosuch -- \
		sh -c 'seq 9999 >&2 2>/dev/null; exit 7'
	wait "$!"
	printf -v all '%s\n' {1..9999}
	[ "$(<got)" = "${all::1024}retry: cannot write to standard error: $large" ]
}

# read_once COMMAND...: the first line is read of what COMMAND writes, and
# COMMAND ends with $status
read_once() {
	status=$("$@" | head -n 1 >first; echo "${PIPESTATUS[0]}")
	has_line 1 first
}

@test "without a reader retry dies of SIGPIPE as the command, or fails as it" {
	rows row eval <<-'END'
	a success
	    read_once seq 20000
	    [ "$status" -eq 141 ]
	    read_once "$RETRY" -O seq 20000 2>err
	    [ "$status" -eq 141 ]
	    nothing err
	a success, and SIGPIPE ignored
	    read_once env --ignore-signal=PIPE "$RETRY" -O seq 20000 2>err
	    [ "$status" -eq 125 ]
	    holds err 'retry: cannot write to standard output: Broken pipe'
	a failure
	    read_once sh -c 'exec "$@" 2>&1 >o' sh "$RETRY" -n 2 -d 0 -E \
	        sh -c 'seq 20000 >&2; exit 7'
	    [ "$status" -eq 7 ]
	END
}

@test "a full disk is an error of ours, if something was written to it: 125" {
	local lost='head -c 200000 /dev/zero 2>/dev/null; exit 0' under
	isolate -m
	export mnt=$PWD/mnt
	mkdir "$mnt"
	printf %0200000d 0 >some
	"${isolate[@]}" mount -t tmpfs none "$mnt" 2>/dev/null ||
		skip 'no right to mount here'
	under=("${isolate[@]}" sh -c
		'mount -t tmpfs -o size=64k none "$mnt" || exit 99; exec "$@"' sh)
	before() { # before TRY...: TRY where it was full before
		local under=("${under[@]}" sh -c
			'head -c 65536 /dev/zero >"$mnt/all"; exec "$@"' sh)
		"$@"
	}
	to '>"$mnt/out"' try status=125 says="$cannot $full" -O cat some
	export TMPDIR=$mnt
	table <<-'END'
		# The command does not check, also with a pattern.
		try status=125 out='' says="$cannot $full" -O sh -c "$lost"
		try status=125 out='' says="$cannot $full" -O --fail-on stdout:nosuch head -c 200000 /dev/zero
		before try status=125 out='' says="$cannot $full" -O -n 1 sh -c 'echo lost 2>/dev/null; exit 0'
		before try out='' says='' -O -E -n 1 true
		# The command checks, whose error it is.
		try status=1 out='' says="*$full|*giving up: attempts exhausted" -n 1 -O cat some
		try status=125 says="*${cannot/output/error} $full" -q -E -n 1 -- sh -c 'cat some >&2 2>/dev/null; exit 7'
	END
}

# Copies what $bytes has, as it comes from the ./pipe of stuck.
slow_reader() {
	timeout 60 head -c "$(stat -c %s "$bytes")" <&7
}

@test "a delivery waits for a slow reader, and a signal that ends retry ends it" {
	big
	rows beside eval <<-'END'
	a signal that ends nothing
	    stuck -O cat "$bytes"
	    choked
	    kill -USR1 "$pid"
	    kill -WINCH "$pid"
	    slow_reader | cmp "$bytes" -
	    ended 0
	the deadline, of a success
	    look_at_clock
	    before=$moment
	    stuck -T 0.4 -O cat "$bytes"
	    wait_for past "$((before + 700))"
	    slow_reader | cmp "$bytes" -
	    ended 0
	past the deadline, of stderr
	    look_at_clock
	    before=$moment to=2
	    head -c 200000 "$bytes" >some # which is written long before the deadline
	    bytes=$PWD/some
	    stuck -q -T 0.4 -k 0 -E sh -c 'cat "$bytes" >&2; exec sleep 20'
	    wait_for past "$((before + 1000))"
	    slow_reader | "$ACTOR" sip >got
	    ended 124
	    cmp "$bytes" got
	past the deadline a signal, and a reader that is stuck
	    look_at_clock
	    before=$moment to=2
	    stuck -T 0.4 -k 0 -n 2 -E sh -c 'head -c 200000 /dev/zero >&2; exec sleep 20'
	    choked
	    wait_for past "$((before + 1000))"
	    dies_of TERM
	an interruption of an attempt, and a reader that is stuck
	    to=2
	    stuck -n 2 -E sh -c 'head -c 200000 /dev/zero >&2; echo $$ >command
	        exec sleep 20'
	    wait_for test -s command
	    dies_of TERM
	END
}
