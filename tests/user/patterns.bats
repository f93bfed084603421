#!/usr/bin/env bats
# Covers streams/relay.
# Patterns: stderr:ERE and stdout:ERE, and the relay through which retry sees
# what the command writes. The syntax of patterns is tested in
# tests/unit/match/pattern.c.
# shellcheck disable=SC2034 # the rows and the commands' shells expand

load helper
load actor

usual=(-d 0)

# A pattern that makes retry relay a stream, and never matches.
both=(--retry-on stderr:nosuchtext --stop-on stdout:nosuchtext)

full='No space left on device'

# judged WORD OPTION... -- COMMAND...: one attempt is judged as WORD: succeeded,
# attempts (it would be retried), not-retryable or stop-rule
judged() {
	local status=1
	[ "$1" != succeeded ] || status=0
	try status="$status" says="*ended after 1 attempt in *: $1" -v -n 1 "${@:2}"
}

# printed WORD PATTERN TEXT: an attempt that prints TEXT, a format of printf, is
# judged so by PATTERN
printed() {
	judged "$1" --retry-on "stderr:$2" -- sh -c 'printf "$1" >&2; exit 1' sh "$3"
}

# big_file: three megabytes of any bytes, in ./big
big_file() {
	local any=$BATS_FILE_TMPDIR/any
	[ -e "$any" ] || head -c 3000000 /dev/urandom >"$any"
	ln "$any" big
}

# Sets $written to how much the process whose number is in ./command has written so far.
written_so_far() {
	local name value
	read -r writer <./command && while read -r name value; do
		[ "$name" != wchar: ] || written=$value
	done <"/proc/$writer/io"
}

# The outer and the inner pipe hold 64 KiB each, and the relay between them at
# most as much: a writer gets no further than that.
held_back() {
	written_so_far && ((written > 120000))
}

# A command that writes up to 4 MiB in small pieces, and its number to
# ./command.
flood='echo $$ >command; exec dd if=/dev/zero bs=2048 count=2048 status=none'

# The process whose number is in ./command has ended.
command_gone() {
	read -r writer <./command && gone "$writer"
}

@test "output passes unchanged, and at once" {
	rows row eval <<-'END'
	every byte in each of both streams at the same time
	    big_file
	    "$RETRY" "${both[@]}" sh -c 'cat big & cat big >&2; wait $!' >o 2>e 3>&-
	    cmp big o
	    cmp big e
	of each attempt, and lines of retry after it
	    printf -v many '> %d|' {1..3000}
	    try status=3 out='run 1|run 2' \
	        says="${many}attempt 1/2 failed (exit 3), retrying in 0s|${many}attempt 2/2 failed (exit 3), giving up: attempts exhausted" \
	        -n 2 --retry-on stdout:un --stop-on stderr:nosuch -- sh -c 'echo "run $RETRY_ATTEMPT"; seq 3000 >&2; exit 3'
	under -q
	    try status=3 says='> x|> x' -q -n 2 --retry-on stderr:x -- sh -c 'echo x >&2; exit 3'
	a line, while the command still runs
	    mkfifo seen
	    timeout --foreground 20 "$RETRY" "${both[@]}" sh -c 'echo first
	        read -r line <seen && echo second' 2>e |
	        { read -r line && [ "$line" = first ] && echo >seen && cat >rest; }
	    holds rest second
	half a line, whose other half makes it match
	    mkfifo seen
	    start "$RETRY" --success-on 'stderr:^halfwhole$' sh -c 'printf half >&2
	        read -r line <seen; echo whole >&2; exit 3'
	    wait_for has_line half err
	    echo >seen
	    ended 0
	    holds err halfwhole
	END
}

descriptors='own=$(stat -Lc "%d:%i" /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2)
	echo "$own" >fds'

# seen_by COMMAND...: the array under is what COMMAND, which is $descriptors in
# the end, has as its descriptors 0 to 2
seen_by() {
	"$@" >out 2>err
	mapfile -t under <fds
	[ "${#under[@]}" -eq 3 ]
}

@test "a stream without a pattern is the caller's own, the other is a pipe" {
	rows row eval <<-'END'
	three descriptors
	    seen_by sh -c "$descriptors"
	    direct=("${under[@]}")
	    seen_by "$RETRY" --retry-on stderr:x sh -c "$descriptors"
	    [ "${under[0]} ${under[1]}" = "${direct[0]} ${direct[1]}" ]
	    [ "${under[2]}" != "${direct[2]}" ]
	    seen_by "$RETRY" --fail-on stdout:x sh -c "$descriptors"
	    [ "${under[0]} ${under[2]}" = "${direct[0]} ${direct[2]}" ]
	    [ "${under[1]}" != "${direct[1]}" ]
	    seen_by "$RETRY" --retry-on 7,http:503 --stop-on 9 sh -c "$descriptors"
	    [ "${under[*]}" = "${direct[*]}" ]
	no other
	    ls /proc/self/fd >direct 3>&-
	    try status=1 -n 2 "${both[@]}" --retry-on 1 -- sh -c 'ls /proc/self/fd >>under; exit 1'
	    [ "$(<under)" = "$(<direct)"$'\n'"$(<direct)" ]
	many attempts take no more than one
	    ulimit -n 16
	    try status=1 -n 16 -q --retry-on stderr:x --retry-on stdout:y -- \
	        sh -c 'echo "$RETRY_ATTEMPT"; echo x >&2; exit 1'
	    holds out {1..16}
	a closed one stays closed
	    open='[ ! -e /proc/$$/fd/1 ] && echo closed >&2; [ ! -e /proc/$$/fd/2 ] && echo closed; exit 3'
	    to '>&-' try status=3 says='> closed|> closed' -q -n 2 "${both[@]}" --retry-on 3 sh -c "$open"
	    to '2>&-' try status=3 out='closed|closed' -n 2 "${both[@]}" --retry-on 3 sh -c "$open"
	a terminal
	    pty 3 -- "$RETRY" -q -n 2 -d 0 --retry-on stderr:busy sh -c '
	        [ -t 0 ] && [ -t 1 ] && [ ! -t 2 ] && echo "out $RETRY_ATTEMPT" && echo busy >&2
	        exit 3'
	    holds out 'out 1' busy 'out 2' busy
	END
}

@test "O_NONBLOCK of shared pipes, terminals and sockets stays as it was" {
	timeout --foreground 20 "$PYTHON" -IS - "$RETRY" --retry-on stderr:x --stop-on stdout:x \
	    sh -c 'echo out; echo err >&2; read line' <<-'END'
		import os, socket, sys
		def both():
		    return os.get_blocking(ours), os.get_blocking(theirs)
		def pair():
		    return (end.detach() for end in socket.socketpair())
		for make in os.pipe, os.openpty, pair:
		    for blocking in False, True:
		        ours, theirs = make()
		        os.set_blocking(theirs, blocking)
		        before, (ready, go) = both(), os.pipe()
		        child = os.posix_spawn(
		            sys.argv[1], sys.argv[1:], os.environ,
		            file_actions=[(os.POSIX_SPAWN_DUP2, fd, number)
		                          for number, fd in enumerate((ready, theirs, theirs))])
		        got = b""
		        while b"out" not in got or b"err" not in got:
		            more = os.read(ours, 100)
		            assert more
		            got += more
		        during = both()
		        os.write(go, b"\n")
		        assert os.waitpid(child, 0)[1] == 0
		        assert before == during == both(), (make, before, during)
	END
}

@test "a pattern is looked for in each line of its own stream, in any bytes" {
	local options=() i
	for i in {1..64}; do
		options+=(--retry-on "stderr:^word$i\$")
	done
	table <<-'END'
		judged attempts --retry-on stdout:word -- sh -c 'echo word; exit 1'
		judged not-retryable --retry-on stdout:word -- sh -c 'echo word >&2; exit 1'
		judged not-retryable --retry-on stderr:word -- sh -c 'echo word; exit 1'
		printed attempts $'caf\xc3\xa9+ clos' '\377caf\303\251\303\251 clos\n'
		# The locale changes nothing.
		with LC_ALL=C.UTF-8 printed not-retryable '^.$' '\303\251\n'
		with LC_ALL=tr_TR.UTF-8 printed attempts '(?i)^TIMED.OUT$' 'timed\377out\n'
		# --stop-on wins.
		judged stop-rule --retry-on stderr:denied --stop-on stderr:denied -- sh -c 'echo denied >&2; exit 1'
		judged attempts --stop-on stderr:denied -- sh -c 'echo busy >&2; exit 1'
		judged attempts --success-on 'stderr:already exists' -- sh -c 'echo no >&2; exit 1'
		judged succeeded --success-on 'stderr:already exists' -- sh -c 'echo it already exists >&2; exit 4'
		# A pattern runs to the end of its argument, commas and all.
		judged attempts --retry-on '7,stderr:a{1,2},b' -- sh -c 'echo xaa,b >&2; exit 1'
		judged not-retryable --retry-on 'stderr:a,1' -- false
		judged attempts --retry-on stderr:one --retry-on stdout:two -- sh -c 'echo two; exit 1'
		# There may be 64.
		judged attempts "${options[@]}" -- sh -c 'echo word64 >&2; exit 1'
		judged not-retryable "${options[@]}" -- sh -c 'echo word65 >&2; exit 1'
		judged succeeded "${options[@]}" --stop-on 'stderr:^word64$' -- true
	END
	also=(touch ran)
	table refused <<-'END'
		"--stop-on: more than 64 patterns: 'stdout:65'" "${options[@]}" --stop-on stdout:65
		"--retry-on: the pattern is empty: ''" --retry-on stderr:
		"--fail-on: ( without ): '(b' in 'a(b'" --fail-on 'stdout:a(b'
	END
}

@test "each attempt is judged by its own output" {
	local twice='[ "$RETRY_ATTEMPT" -gt 1 ] || { printf tempo >&2; exit 9; }; echo rary >&2; exit 1'
	table try <<-'END'
		# A match of the attempt before is none, nor do two attempts make one match.
		status=1 out='1|2|3' says='*|attempt 3/5 failed (exit 1), giving up: not in --retry-on stderr:temporary' --retry-on stderr:temporary -- sh -c 'echo "$RETRY_ATTEMPT"; [ "$RETRY_ATTEMPT" -eq 3 ] || echo temporary >&2; exit 1'
		status=1 says='*|attempt 2/5 failed (exit 1), giving up: not in any --retry-on' --retry-on stderr:temporary --retry-on 9 -- sh -c "$twice"
		# --fail-on makes a failure of exit 0, --success-on a success of a failure.
		status=1 out='LOADING|LOADING' says='*|attempt 2/2 failed (exit 0), giving up: attempts exhausted' -n 2 --fail-on stdout:^LOADING -- echo LOADING
		says='' --fail-on stdout:^LOADING -- echo ready
		says='*|attempt 1/5 succeeded (exit 4) by --success-on stderr:already exists|*' -v --success-on 'stderr:already exists' -- sh -c 'echo "it already exists" >&2; exit 4'
		status=124 says='> fatal|attempt 1/5 timed out *, giving up: --stop-on stderr:fatal' -t 0.6 --stop-on stderr:fatal -- sh -c 'echo fatal >&2; exec sleep 15'
	END
}

# holding: a process that waits until ./go has been opened, and ends
holding='read -r line <go &'

# bats test_tags=slow
@test "a background child that holds the pipe delays nothing, and is heard" {
	rows beside eval <<-'END'
	a verdict is not delayed by much
	    mkfifo go
	    look_at_clock
	    began=$moment
	    exits 3 timeout --foreground 20 "$RETRY" -n 4 -d 0 -q --retry-on 'stderr:again' \
	        --stop-on stdout:never sh -c "$holding echo again >&2; exit 3" 2>err
	    exec 9<>go
	    holds err again again again again
	    look_at_clock
	    ((moment - began < 4 * 1000)) # ten times as long as retry waits
	nor by one that keeps writing
	    look_at_clock
	    began=$moment
	    exits 3 "$RETRY" -n 1 --retry-on stderr:x sh -c \
	        'timeout 15 sh -c "until [ -e over ]; do echo on >&2; done" & exit 3' 2>err
	    touch over
	    look_at_clock
	    ((moment - began < 5000))
	it outlives its attempt, and what it writes still arrives
	    mkfifo go
	    try -n 3 -t 15 --retry-on 9 --fail-on stderr:late -- sh -c '
	        if [ "$RETRY_ATTEMPT" -lt 3 ]; then
	            { read -r line <go; echo "late $RETRY_ATTEMPT" >&2 &&
	                touch "alive$RETRY_ATTEMPT"; } &
	            exit 9
	        fi
	        exec 9<>go
	        printf "\n\n" >&9
	        until [ -e alive1 ] && [ -e alive2 ]; do sleep 0.02; done'
	    has_line 'late 1' err
	    has_line 'late 2' err
	during a delay it arrives at once
	    mkfifo go
	    start "$RETRY" -n 2 -d 15 -j none --retry-on stdout:x --retry-on 9 sh -c '
	        { read -r line <go; echo late; touch alive; } &
	        exit 9'
	    wait_for has_line 'retry: attempt 1/2 failed (exit 9), retrying in 15s' err
	    echo >go
	    wait_for has_line late out
	    wait_for test -e alive
	    ended_by TERM
	END
}

# whole TO: what is in the pipe at the end, after which retry still runs, is read
whole() {
	to=$1
	stuck -q -n 1 "${both[@]}" -- sh -c "seq 20000 >&$to"'
		echo $$ >command; exit 3'
	wait_for test -s command
	sleep 0.4 # four times as long as retry waits for them
	! gone "$pid" || return
	exec 8<pipe 7>&-
	seq 20000 | cmp - <(cat <&8)
	ended 3
}

# undelivered TO PATTERN: a success past the deadline is none
undelivered() {
	to=$1
	stuck -T 2 --fail-on "$2" -- sh -c "exec head -c 110000 /dev/zero >&$1"
	ended 125
}

# bats test_tags=slow
@test "a slow reader holds the command back, and neither limits nor signals" {
	rows beside eval <<-'END'
	it gets what is left in the end
	    whole 1
	it gets what is left of stderr
	    whole 2
	it costs no memory
	    stuck -n 1 "${both[@]}" -- sh -c "$flood"
	    wait_for held_back
	    sleep 0.2
	    written_so_far
	    ((written < 262144))
	    peak='s/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p'
	    least=$("$RETRY" "${both[@]}" -- sh -c 'exec sed -n "$0" "/proc/$PPID/status"' "$peak")
	    peak=$(sed -n "$peak" "/proc/$pid/status")
	    [ -n "${RETRY_SAN-}" ] || ((peak < least + 2048))
	    exec 8<pipe 7>&-
	    [ "$(wc -c <&8)" -eq 4194304 ]
	    ended 0
	the timeout fires
	    stuck -q -n 1 -t 0.3 "${both[@]}" -- sh -c "$flood"
	    ended 124
	the deadline fires while it takes nothing of what is left
	    look_at_clock
	    before=$moment
	    stuck -n 1 -T 2 "${both[@]}" -- sh -c 'seq 20000; exit 3'
	    ended 3
	    look_at_clock
	    ((moment - before >= 1980))
	a success that could not be delivered is none
	    undelivered 1 stdout:zzz
	    grep -qx 'retry: cannot write to standard output: .*' err
	nor one whose error output could not be
	    undelivered 2 stderr:zzz
	TERM ends the command
	    stuck -n 5 "${both[@]}" --retry-on signal -- sh -c "$flood"
	    wait_for held_back
	    ended_by TERM
	    wait_for command_gone
	TERM ends a failure that is held up
	    stuck -n 5 "${both[@]}" --retry-on 3 -- sh -c 'seq 20000; echo $$ >command; exit 3'
	    wait_for command_gone
	    kill -TERM "$pid"
	    ended
	    [ "$status" -ne 0 ]
	    [ "$(grep -c 'attempt' err)" -le 1 ]
	TERM ends a success that is held up
	    stuck "${both[@]}" --on-give-up 'touch hooked' -- sh -c 'seq 20000; echo $$ >command'
	    wait_for command_gone
	    ended_by TERM
	    [ ! -e hooked ]
	an attempt's output comes before that of the next
	    mkfifo slow
	    start sh -c '"$RETRY" -q -t 0.5 -k 0 -n 2 -d 0 --fail-on stderr:zzz -- sh -c "exec >&2
	            [ \$RETRY_ATTEMPT = 2 ] || exec yes one
	            echo two; : >over" 2>slow'
	    exec 4<slow
	    wait_for test -e over
	    uniq <&4 >seen
	    ended
	    [ "$(grep -vxE 'o?n?e?' seen)" = two ]
	    [ "$(sed -n '$p' seen)" = two ]
	END
}

# read_once COMMAND...: one line is read of what COMMAND writes, in ./first;
# $status is that of COMMAND
read_once() {
	status=$("$@" | head -n 1 >first; echo "${PIPESTATUS[0]}")
}

@test "output that nobody reads or that cannot be written ends it as the command" {
	rows row eval <<-'END'
	of SIGPIPE, and the series
	    read_once yes
	    [ "$status" -eq 141 ]
	    read_once "$RETRY" -d 0 "${both[@]}" yes 2>err
	    [ "$status" -eq 141 ]
	    read_once sh -c 'exec "$@" 2>&1 >out' sh "$RETRY" -d 0 "${both[@]}" sh -c 'exec yes >&2'
	    [ "$status" -eq 141 ]
	the write of a command that ignores SIGPIPE fails
	    read_once "$RETRY" -n 1 -q "${both[@]}" env --ignore-signal=PIPE yes 2>err
	    holds first y
	    grep -q 'Broken pipe' err
	the other stream passes on
	    read_once "$RETRY" -n 1 "${both[@]}" sh -c 'yes; seq 30000 >&2; exit 3' 2>err
	    holds first y
	    seq 30000 | cmp - <(head -n 30000 err)
	no reader of a success's stderr changes anything
	    read_once sh -c 'exec "$@" 2>&1' sh "$RETRY" --preset net sh -c '
	        trap "" PIPE
	        seq 20000 >&2; echo ended >ended; exit 0'
	    [ "$status" -eq 0 ]
	    [ -e ended ]
	    holds first 1
	END
	local lost="cannot write to standard output: $full"
	table <<-'END'
		to '>/dev/full' try status=125 says="$lost" "${both[@]}" echo lost
		# An endless command, and one that would do more; another attempt is of no use.
		to '>/dev/full' try status=125 says="*$lost" --retry-on stdout:nosuch yes
		to '>/dev/full' try status=125 says="*giving up: output is lost|$lost" -n 2 --retry-on stdout:x sh -c 'echo x; exit 3'
		to '>/dev/full' try status=125 -n 1 --retry-on stdout:nosuch sh -c 'yes | head -c 1000000 && : >removed' && [ ! -e removed ]
		to '2>/dev/full' try status=125 out=out -n 2 --retry-on stderr:lost sh -c 'echo out; echo lost >&2; exit 3'
		# stderr of a success counts, but not where it is held.
		to '2>/dev/full' try status=125 out=out --preset net sh -c 'echo out; echo lost >&2'
		to '2>/dev/full' try out=out -E --preset net sh -c 'echo out; echo lost >&2'
	END
}

@test "streams that go to the same place arrive whole and in order" {
	"$RETRY" "${both[@]}" sh -c 'seq 10000; seq 10001 20000 >&2' 2>&1 | sort -n >got
	seq 20000 | cmp - got
	echo before >file
	to '>>file' try status=3 -n 2 -q --retry-on stdout:x --retry-on 3 \
		sh -c 'echo "x $RETRY_ATTEMPT"; exit 3'
	holds file before 'x 1' 'x 2'
}

# slow [OPTION]...: runs a command in whose output retry searches for what takes it
# minutes.
slow() {
	local words=() n
	for n in {1..40}; do
		words+=(--stop-on "stdout:([ab]{0,50}a){20}$n")
	done
	start "$RETRY" -n 1 "${words[@]}" "$@" -- sh -c \
		'trap "echo >heard; exit" TERM; cat ../letters & wait'
	wait_for test -s out
}

@test "limits and signals do not wait for a slow pattern" {
	awk 'BEGIN { while (i++ < 300000) printf rand() < 0.5 ? "a" : "b" }' >letters
	rows beside eval <<-'END'
	a timeout
	    slow -t 1
	    ended 124
	    [ -e heard ]
	TERM
	    slow
	    ended_by TERM
	    [ -e heard ]
	END
}
