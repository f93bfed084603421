#!/usr/bin/env bats
# Covers streams/capture, streams/tempfile, run.
# -O and -E hold output until the attempt is judged: which attempt's output is
# written, where it is kept until then, and that none is lost without a message.
# shellcheck disable=SC2016,SC2034 # the rows and the commands' shells expand

load helper
load actor

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

# past TIME: now() is TIME or later
past() {
	(($(now) >= $1))
}

# dies_of SIGNAL: retry does, in the background
dies_of() {
	kill -"$1" "$pid"
	ended
	[ "$status" -eq $((128 + $(kill -l "$1"))) ]
}

@test "-O writes what the attempt that succeeds wrote, -E what the last one that fails did" {
	local unusable=(-E -B api --budget-dir nosuch)
	local late='[ "$RETRY_ATTEMPT" -eq 2 ] || { echo "err $RETRY_ATTEMPT" >&2; exit 7; }
		printf %s "$word" >&2; exec sleep 20'
	table <<-'END'
		with won=3 try out='out 3' says='> err 1|> err 2|> err 3' -q -O -- "${says[@]}"
		try out='out 1' says='> err 1' --hold-stdout --success-on 7 -- "${says[@]}"
		try status=7 out='' says='> err 1|> err 2|> err 3' -q -n 3 -O -- "${says[@]}"
		try status=7 out='' says='> *|*, giving up: *' -O --stop-on 7 -- "${says[@]}"
		try status=124 out='' says='*, giving up: *' -O -T 1 -k 0 -- sh -c 'echo lost; exec sleep 20'
		try status=127 out='' says="cannot run 'nosuch': $(why nosuch)" -O -- nosuch
		# With -E one line comes after it.
		with won=3 try out='out 1|out 2|out 3' says='' --hold-stderr -- "${says[@]}"
		try status=7 out='out 1|out 2' says="> err 2|$last2" -n 2 -E -- "${says[@]}"
		try status=7 out='out 1|out 2' says='> err 2' -q -n 2 -E -- "${says[@]}"
		try status=7 out='out 1' says='> err 1|attempt 1/5 failed (exit 7), giving up: --stop-on 7' -E --stop-on 7 -- "${says[@]}"
		# The deadline ends the second attempt.
		try status=124 out='' says='> err 1' -q -T 1 -k 0 -E -- sh -c "$late"
		try status=124 out='' says='> err 1' -q -w 1 -d 0 -k 0 -- sh -c "$late"
		with word=late try status=124 out='' says='> late' -q -T 1 -k 0 -E -- sh -c "$late"
		try status=124 out='' says='' -q -T 1 -k 0 --chronic -- sh -c "$late"
		try status=127 out='' says="cannot run '5': No such file or directory|did you mean -n 5?" -E -- 5 true
		# No warning, but the error because of which nothing is run.
		with won=1 try out='out 1' says='' "${unusable[@]}" -- "${says[@]}"
		try status=7 out='out 1|out 2' says="> err 2|$last2" -n 2 "${unusable[@]}" -- "${says[@]}"
		try status=69 "${unusable[@]}" --budget-required -- touch ran && [ ! -e ran ] && grep -q "^retry: budget 'api': " err
	END
}

@test "with -v, -E holds no message but the last, which follows the error output" {
	usual=(-d 0 -v -n 3 -E)
	again=' failed (exit 7), retrying in 0s'
	table <<-'END'
		with won=2 try says="attempt 1/3$again|attempt 2/3 succeeded (exit 0)|ended after 2 attempts in *s: succeeded, rescued by a retry" -- "${says[@]}"
		try status=7 says="attempt 1/3$again|attempt 2/3$again|> err 3|attempt 3/3 failed (exit 7), giving up: attempts exhausted|ended after 3 attempts in *s: attempts" -- "${says[@]}"
		with won=2 try out='' says='' -v --chronic -- "${says[@]}"
	END
}

@test "both are held apart or together, and each alone leaves the other as it is" {
	rows row eval <<-'END'
	apart, though they go to the same place
	    won=2 run -0 "$RETRY" -d 0 -O -E "${says[@]}"
	    [ "$output" = 'out 2' ]
	    run -7 "$RETRY" -d 0 -n 2 -O -E "${says[@]}"
	    [ "$output" = "err 2"$'\n'"retry: $last2" ]
	a command that joins its streams has them in order
	    try -O -E -- sh -c 'exec 2>&1; i=0
	        while [ $((i += 1)) -lt 99 ]; do echo "$i"; echo "$i" >&2; done'
	    for i in {1..98}; do printf '%d\n%d\n' "$i" "$i"; done | cmp - out
	    nothing err
	-O and standard error
	    try out="$PWD/err" says='' -O -- readlink /proc/self/fd/2
	    won=1 run -0 "$RETRY" -q -O "${says[@]}"
	    [ "$output" = $'err 1\nout 1' ] # at once, and in the end
	-E and standard output
	    try out="$PWD/out" says='' -E -- readlink /proc/self/fd/1
	one that is closed stays closed
	    run -3 --separate-stderr sh -c 'exec "$@" >&-' sh "$RETRY" -q -n 2 -d 0 \
	        -O sh -c '[ ! -e /proc/$$/fd/1 ] && echo closed >&2; exit 3'
	    [ "$stderr" = $'closed\nclosed' ]
	    run -3 --separate-stderr sh -c 'exec "$@" 2>&-' sh "$RETRY" -n 2 -d 0 \
	        -E sh -c '[ ! -e /proc/$$/fd/2 ] && echo closed; exit 3'
	    [ "$output" = $'closed\nclosed' ]
	    run -0 sh -c 'exec "$@" >&-' sh "$RETRY" -O true
	a pattern of stdout
	    try out=ok says='' -O -E --retry-on stdout:busy -- sh -c \
	        '[ "$RETRY_ATTEMPT" -eq 2 ] && echo ok || { echo busy; exit 3; }'
	a pattern of stderr
	    try status=3 out='' says='> denied|attempt 1/5 failed (exit 3), giving up: --stop-on stderr:denied' \
	        -O -E --stop-on stderr:denied -- sh -c 'echo lost; echo denied >&2; exit 3'
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
	    [ "$(lines err)" -eq 2 ]
	    nothing out
	in an attempt its stderr, and not its output
	    start "$RETRY" -O -E sh -c 'echo lost; echo held >&2; echo $$ >command
	        exec sleep 20'
	    wait_for test -s command
	    dies_of TERM
	    holds err held \
	        'retry: attempt 1/5 killed by SIGTERM, giving up: interrupted'
	    nothing out
	a success in spite of it
	    start "$RETRY" -O -E sh -c 'trap "exit 0" TERM; echo held; echo lost >&2
	        echo >ready; while :; do sleep 0.02; done'
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
	    TMPDIR=$PWD/tmp try -O -E -- sh -c 'ls -A tmp >>listed
	        links=$(readlink /proc/$$/fd/1 /proc/$$/fd/2)
	        stats=$(stat -L -c "%i %h %a" /proc/$$/fd/1 /proc/$$/fd/2)
	        echo "$links" >>links
	        echo "$stats" >>stats
	        [ "$RETRY_ATTEMPT" -eq 2 ]'
	    nothing listed
	    [ -z "$(ls -A tmp)" ]
	    [ "$(grep -c "^$PWD/tmp/.* (deleted)$" links)" -eq 4 ]
	    [ "$(cut -d ' ' -f 2- stats | sort -u)" = '0 600' ]
	    [ "$(lines stats)" -eq 4 ]
	the command gets no descriptor of ours
	    try -O -E -- ls /proc/self/fd
	    ls /proc/self/fd 3>&- | diff - out
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
	nor where no descriptor is left, and the error names the directory
	    error='retry: cannot relay or hold output: cannot make a file: @(Too many open files|No file descriptors available)'
	    mkdir tmp
	    for files in {5..20}; do
	        said=$(ulimit -n "$files"
	            TMPDIR=$PWD/tmp exec "$RETRY" -O touch ran 2>&1) ||
	            [ $? = 125 ] || continue
	        [[ $said != *'cannot make a file'* ]] || break
	    done
	    [[ $said = $error", in '$PWD/tmp' (\$TMPDIR); command not run" ]]
	    said=$(ulimit -n "$files"
	        unset TMPDIR
	        exec "$RETRY" -O touch ran 2>&1) || [ $? = 125 ]
	    [[ $said = $error", in '/tmp' (\$TMPDIR is not set); command not run" ]]
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
	    [ "$(head -n 1 out)" = first ]
	    [ "$(tail -n +2 out | sort -u)" = more ] || [ "$(lines out)" -eq 1 ]
	    : >over
	    wait_for test -e gone
	not at all, though the output is open
	    before=$(now)
	    try -O -n 1 -- sh -c 'echo first; sleep 20 2>/dev/null &
	        echo $! >job'
	    after=$(now)
	    kill "$(<job)"
	    holds out first
	    ((after - before < 5000))
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
	local in
	isolate -m
	in=("${isolate[@]}" env -u TMPDIR sh -c
		'mount -t tmpfs -o ro none /tmp || exit 99; exec "$@"' sh)
	"${in[@]}" true 2>/dev/null || skip 'no right to mount here'
	cp "$RETRY" here # which is found without /tmp
	big
	ln "$bytes" some
	rows row eval <<-'END'
	both streams
	    is 0 "${in[@]}" ../here -q -d 0 -O -E sh -c 'echo "out $RETRY_ATTEMPT"
	        echo "err $RETRY_ATTEMPT" >&2
	        links=$(readlink /proc/$$/fd/1 /proc/$$/fd/2)
	        echo "$links" >links
	        [ "$RETRY_ATTEMPT" -eq 2 ]'
	    holds out 'out 2'
	    nothing err
	    [ "$(grep -c '^/memfd:' links)" -eq 2 ]
	a failure
	    is 7 "${in[@]}" ../here -q -d 0 -n 2 -O -E sh -c 'echo lost
	        echo 1 >&2; echo 2 >>/dev/stderr; exit 7'
	    nothing out
	    holds err 1 2
	much of it, with a pattern
	    is 0 "${in[@]}" ../here -q -O --fail-on stdout:nosuch cat ../some
	    cmp ../some out
	no more than --hold-max
	    is 125 "${in[@]}" ../here -O --hold-max 1M sh -c \
	        'head -c 1048577 /dev/zero; exec sleep 20'
	    nothing out
	not with TMPDIR set
	    is 125 "${in[@]}" env TMPDIR=/tmp ../here -O touch ran
	    [ ! -e ran ]
	END
}

# told_above N STATUS: the line of an attempt that ended with STATUS, or was ended
# as soon as retry had looked
told_above() {
	tail -n 1 err | grep -qxE "retry: attempt 1/$1 (failed \(exit $2\)|killed by SIGTERM), $above"
}

@test "more than --hold-max is an error of ours, whatever the command does: 125" {
	# What other processes write later does not count.
	local late='echo all
		{ while [ -d "/proc/$$" ]; do sleep 0.01; done
		  sleep 0.03; head -c 2000 /dev/zero; sleep 0.3; } &'
	rows row eval <<-'END'
	-O, success and failure
	    for code in 0 7; do
	        try status=125 out='' says='*, giving up: *' -O --hold-max 1k -- sh -c 'head -c 1025 /dev/zero; exit $0' $code
	        told_above 5 $code
	        [ "$(lines err)" -eq 1 ]
	    done
	-E: delivered, and then a line
	    try status=125 -E -n 3 --hold-max 1k -- sh -c 'echo >>ran; seq 1000 >&2'
	    seq 1000 | cmp - <(head -n -1 err)
	    told_above 3 0
	    [ "$(lines ran)" -eq 1 ]
	as much of each, and retry looks
	    try -O -E --hold-max 1k -- sh -c 'head -c 1024 /dev/zero
	        head -c 1024 /dev/zero >&2; exec sleep 0.2'
	    [ "$(stat -c %s out)" -eq 1024 ]
	before the command ends and later, with a pattern and without
	    for option in '' --fail-on=stdout:nosuch; do
	        : >ran
	        try status=125 out='' says="attempt 1/5 killed by SIGTERM, $above" \
	            -O $option --hold-max 1k -- \
	            sh -c 'echo >>ran; head -c 1025 /dev/zero; exec sleep 20'
	        [ "$(lines ran)" -eq 1 ]
	        try out=all says='' -O --hold-max 1k $option -- sh -c "$late"
	    done
	where the command ignores TERM, all its processes are killed
	    try status=125 -O -k 0.1 --hold-max 1k -- sh -c 'trap "" TERM
	        sleep 60 2>/dev/null &
	        echo $! >job; head -c 2000 /dev/zero; wait'
	    grep -q "killed by SIGKILL, $above" err
	    wait_for gone "$(<job)"
	but none from before the attempt
	    is 125 sh -c 'sleep 60 & echo $! >elder
	        exec "$RETRY" -q -O --hold-max 1k seq 1000'
	    kill "$(<elder)"
	under -q, too, and in the report
	    try status=125 -q -O --hold-max 1k --report report -- seq 1000
	    grep -q 'more output than --hold-max' err
	    grep -q '"reason": "internal".*"rule": "hold-max"' report
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
	    { echo before; cat "$bytes"; } | cmp - both
	into a file
	    printf '0123456789' >both
	    {
	        echo -n ab
	        "$RETRY" -q -O echo -n cd
	        echo -n ef
	    } 1<>both
	    [ "$(<both)" = abcdef6789 ]
	to a file, with a pattern
	    try -q -O --retry-on stdout:wrong -- sh -c "$copies"
	    cmp "$bytes" out
	to a pipe
	    "$RETRY" -q -d 0 -O sh -c "$copies" | cmp "$bytes" -
	to a slow reader
	    "$RETRY" -q -d 0 -O sh -c "$copies" | "$ACTOR" sip | cmp "$bytes" -
	to a socket
	    "$PYTHON" -IS -c "$to_socket" "$RETRY" -q -d 0 -O sh -c "$copies"
	to a terminal
	    seq 20000 >some
	    bytes=some
	    run -0 "$ACTOR" terminal -- "$RETRY" -q -d 0 -O sh -c "$copies"
	    cmp some - <<<"$output"
	stderr to a pipe
	    "$RETRY" -q -d 0 -n 2 -E sh -c 'cat "$bytes" >&2; exit 7' 2>&1 >out |
	        cmp "$bytes" -
	    nothing out
	stderr to a file, with a pattern
	    try status=7 -q -n 2 -E --retry-on stderr:nosuch --retry-on 7 -- \
	        sh -c 'cat "$bytes" >&2; exit 7'
	    cmp "$bytes" err
	nothing
	    try out='' says='' -O -E -- true
	no newline
	    try -O -- printf 'no newline'
	    printf 'no newline' | cmp - out
	END
}

# undelivered WORDS COMMAND...: COMMAND, which runs retry, ends with 125 and
# tells with these words why it could not deliver output
undelivered() {
	rm -f out err
	is 125 "${@:2}" && nothing out &&
	    holds err "retry: cannot write to standard output: $1"
}

to_full=(sh -c 'exec "$@" >/dev/full' sh "$RETRY" -d 0)
stderr_to_full=(sh -c 'exec "$@" 2>/dev/full' sh "$RETRY" -q -d 0 -n 2 -E)

# limited BLOCKS COMMAND...: COMMAND may write that much to a file
limited() {
	ulimit -f "$1"
	"${@:2}"
}

@test "output that cannot be delivered, or is too large for a file, is an error of ours: 125" {
	local option
	table <<-'END'
		undelivered "$full" "${to_full[@]}" -O echo lost
		undelivered 'Bad file descriptor' sh -c 'exec "$@" 1</dev/null' sh "$RETRY" -q -O echo lost
		is 0 "${to_full[@]}" -O true
		is 125 "${stderr_to_full[@]}" "${says[@]}"
		is 7 "${stderr_to_full[@]}" sh -c 'exit 7'
	END
	row 'a command that reaches the limit of a file dies of it' limited 10 \
		try status=$((128 + $(kill -l XFSZ))) out='' says='*, giving up: *' -n 1 -O -- cat /dev/zero
	for option in -q --fail-on=stdout:nosuch; do
		row "of held output, $option" undelivered "$large" limited 1 \
			"$RETRY" -O -n 1 $option -- sh -c 'seq 9999 2>/dev/null; exit 0'
	done
	rows row eval <<-'END'
	the output may not grow
	    head -c 8000 /dev/zero >file
	    got=0
	    limited 10 "$RETRY" -O head -c 4000 /dev/zero >>file 2>err || got=$?
	    [ "$got" -eq 125 ]
	    holds err "retry: cannot write to standard output: $large"
	of held stderr, with a pattern: what there is, and then a line
	    mkfifo pipe
	    cat pipe >out &
	    got=0
	    limited 1 "$RETRY" -q -E -n 1 --retry-on=stderr:nosuch -- \
	        sh -c 'seq 9999 >&2 2>/dev/null; exit 7' 2>pipe || got=$?
	    wait "$!"
	    [ "$got" -eq 125 ]
	    [ "$(head -c 1024 out)" = "$(seq 9999 | head -c 1024)" ]
	    [ "$(tail -n 1 out)" = "retry: cannot write to standard error: $large" ]
	the limit is not reached
	    limited 1 try -O -n 1 -- seq 1 200
	    seq 1 200 | cmp - out
	    limited 0 is 0 "$RETRY" -O -n 1 -- true
	END
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
	a failure with --chronic
	    read_once "$RETRY" -q -n 1 --chronic sh -c 'seq 20000; exit 7'
	    [ "$status" -eq 7 ]
	END
}

@test "a full disk is an error of ours, if something was written to it: 125" {
	local lost='head -c 200000 /dev/zero 2>/dev/null; exit 0' with before
	isolate -m
	export mnt=$PWD/mnt
	mkdir "$mnt"
	"${isolate[@]}" mount -t tmpfs none "$mnt" 2>/dev/null ||
		skip 'no right to mount here'
	with=("${isolate[@]}" sh -c
		'mount -t tmpfs -o size=64k none "$mnt" || exit 99; exec "$@"' sh)
	before=("${with[@]}" sh -c
		'head -c 65536 /dev/zero >"$mnt/all"; exec "$@"' sh "$RETRY")
	row 'under the output' undelivered "$full" "${with[@]}" \
		sh -c '"$@" >"$mnt/out"' sh "$RETRY" -O head -c 200000 /dev/zero
	export TMPDIR=$mnt
	table <<-'END'
		# The command does not check, also with a pattern, or it was full before.
		undelivered "$full" "${with[@]}" "$RETRY" -O sh -c "$lost"
		undelivered "$full" "${with[@]}" "$RETRY" -O --fail-on stdout:nosuch head -c 200000 /dev/zero
		undelivered "$full" "${before[@]}" -O -n 1 sh -c 'echo lost 2>/dev/null; exit 0'
	END
	rows row eval <<-'END'
	the command checks, whose error it is
	    head -c 200000 /dev/zero >some
	    is 1 "${with[@]}" "$RETRY" -n 1 -O cat some
	    grep -q "$full" err
	    grep -q 'giving up: attempts exhausted' err
	    nothing out
	stderr
	    is 125 "${with[@]}" "$RETRY" -q -E -n 1 -- \
	        sh -c 'head -c 200000 /dev/zero >&2 2>/dev/null; exit 7'
	    [ "$(tail -n 1 err | tr -d '\0')" = "retry: cannot write to standard error: $full" ]
	full before, and nothing written
	    is 0 "${before[@]}" -O -E -n 1 true
	    nothing err
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
	    before=$(now)
	    stuck -T 0.4 -O cat "$bytes"
	    wait_for past "$((before + 700))"
	    slow_reader | cmp "$bytes" -
	    ended 0
	past the deadline, of stderr
	    before=$(now)
	    to=2
	    head -c 200000 "$bytes" >some # which is written long before the deadline
	    bytes=$PWD/some
	    stuck -q -T 0.4 -k 0 -E sh -c \
	        'cat "$bytes" >&2; exec sleep 20'
	    wait_for past "$((before + 1000))"
	    slow_reader | "$ACTOR" sip >got
	    ended 124
	    cmp "$bytes" got
	past the deadline a signal, and a reader that is stuck
	    before=$(now)
	    to=2
	    stuck -T 0.4 -k 0 -n 2 -E sh -c \
	        'head -c 200000 /dev/zero >&2; exec sleep 20'
	    choked
	    wait_for past "$((before + 1000))"
	    dies_of TERM
	an interruption of a delay, and a reader that is stuck
	    to=2
	    stuck -d 20 -j none -n 2 -E sh -c 'head -c 200000 /dev/zero >&2
	        echo >over; exit 7'
	    wait_for test -s over
	    wait_for childless "$pid"
	    dies_of TERM
	an interruption of an attempt, and a reader that is stuck
	    to=2
	    stuck -n 2 -E sh -c 'head -c 200000 /dev/zero >&2; echo $$ >command
	        exec sleep 20'
	    wait_for test -s command
	    dies_of TERM
	END
}
