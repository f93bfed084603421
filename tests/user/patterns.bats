#!/usr/bin/env bats
# Covers streams/relay.
# Patterns: stderr:ERE and stdout:ERE, and the relay through which retry sees
# what the command writes. The syntax of patterns is tested in
# tests/unit/match/pattern.c.
# shellcheck disable=SC2016,SC2034 # the rows and the commands' shells expand
# shellcheck disable=SC2154 # run and start set what is read here

load helper
load actor

# A pattern that makes retry relay a stream, and never matches.
both=(--retry-on stderr:nosuchtext --stop-on stdout:nosuchtext)

# judged WORD OPTION... -- COMMAND...: one attempt is judged as WORD: succeeded,
# attempts (it would be retried), not-retryable or stop-rule
judged()
{
	local want=$1 said
	shift
	"$RETRY" -v -n 1 "$@" >out 2>err || :
	mapfile -t said <err
	[[ ${said[-1]} == "retry: ended after 1 attempt in "*": $want" ]] || {
		echo "not $want: $*"
		cat err
		return 1
	}
}

# finds PATTERN TEXT: TEXT, a format of printf, matches. passes: it does not.
finds()
{
	judged attempts --retry-on "stderr:$1" -- \
	    sh -c 'printf "$1" >&2; exit 1' sh "$2"
}
passes()
{
	judged not-retryable --retry-on "stderr:$1" -- \
	    sh -c 'printf "$1" >&2; exit 1' sh "$2"
}

# refused WORDS OPTION VALUE: a usage error with WORDS, which may end with an
# asterisk for any words; nothing is run
refused()
{
	local status=0 said
	"$RETRY" "--$2" "$3" touch ran >out 2>err || status=$?
	mapfile -t said <err
	[ "$status" -eq 125 ] && [ ! -e ran ] && [ ! -s out ] &&
		[[ ${said[0]} == "retry: --$2: ${1%'*'}"* ]] &&
		[[ $1 == *'*' || ${said[0]} == "retry: --$2: $1" ]] &&
		[ "${said[*]:1}" = "Try '${RETRY##*/} -h' for more information." ] || {
		echo "status $status instead of 125, or not: --$2: $1"
		cat err
		return 1
	}
}

# written: a program that writes its arguments from the second on to the pipe
# on descriptor $1, each once everything before it has been read.
written()
{
	cat <<-'END' >written.py
		import fcntl, os, struct, sys, termios, time
		fd = int(sys.argv[1])
		for piece in sys.argv[2:]:
		    os.write(fd, piece.encode())
		    end = time.monotonic() + 10
		    while struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"0000"))[0]:
		        if time.monotonic() > end:
		            sys.exit("nobody reads")
		        time.sleep(0.001)
		sys.exit(1)
	END
}

# big_file: sixteen megabytes of anything, in ./big
big_file()
{
	local any=$BATS_FILE_TMPDIR/any
	[ -e "$any" ] || head -c 16M /dev/urandom >"$any" # takes a while
	ln "$any" big
}

# How much the process whose number is in ./command has written so far.
written_so_far()
{
	local name value
	while read -r name value; do
		[ "$name" != wchar: ] || echo "$value"
	done <"/proc/$(<./command)/io"
}

# The outer and the inner pipe hold 64 KiB each, and the relay between them at
# most as much: a writer gets no further than that.
held_back()
{
	(($(written_so_far) > 120000))
}

# A command that writes up to 16 MB in small pieces, and its number to
# ./command.
flood='echo $$ >command; exec dd if=/dev/zero bs=2048 count=8192 status=none'

#
# Output is passed on unchanged
#

@test "every byte value passes through both streams, and no newline is added" {
	local i
	for ((i = 0; i < 256; i++)); do
		# shellcheck disable=SC2059 # made here
		printf "\\x$(printf %x "$i")"
	done >all
	[ "$(wc -c <all)" -eq 256 ]
	"$RETRY" "${both[@]}" sh -c 'cat all; cat all >&2' >out 2>err
	cmp all out
	cmp all err
}

@test "sixteen megabytes pass unchanged in each of both streams at once" {
	big_file
	"$RETRY" "${both[@]}" sh -c 'cat big & cat big >&2; wait $!' >out 2>err 3>&-
	cmp big out
	cmp big err
}

@test "sixteen megabytes pass unchanged from pipe to pipe" {
	local sum
	big_file
	sum=$(cksum <big)
	[ "$("$RETRY" "${both[@]}" cat big 2>err | cksum)" = "$sum" ]
	[ "$("$RETRY" "${both[@]}" sh -c 'cat big >&2' 2>&1 >out | cksum)" = "$sum" ]
}

@test "the output of every attempt passes, and nothing else on stdout" {
	run -3 --separate-stderr "$RETRY" -n 3 -d 0 --retry-on stdout:un \
	    sh -c 'echo "run $RETRY_ATTEMPT"; exit 3'
	[ "$output" = $'run 1\nrun 2\nrun 3' ]
}

@test "-q leaves relayed output alone" {
	run -3 --separate-stderr "$RETRY" -q -n 2 -d 0 --retry-on stderr:x \
	    sh -c 'echo x >&2; exit 3'
	[ "$stderr" = $'x\nx' ]
}

@test "a reader sees the first line while the command still runs" {
	"$RETRY" "${both[@]}" sh -c 'echo first
		timeout 20 sh -c "until [ -e seen ]; do sleep 0.01; done" &&
		echo second' 2>err |
	    { read -r line && [ "$line" = first ] && touch seen && cat >rest; }
	[ "$(<rest)" = second ]
}

@test "half a line on stderr is seen while the command still runs" {
	start "$RETRY" "${both[@]}" sh -c 'printf half >&2
		timeout 20 sh -c "until [ -e seen ]; do sleep 0.01; done" &&
		echo whole >&2'
	wait_for grep -qxa half err
	touch seen
	ended
	[ "$status" -eq 0 ]
	[ "$(<err)" = halfwhole ]
}

@test "retry's own line comes after the attempt's relayed stderr" {
	"$RETRY" -n 2 -d 0 --retry-on stderr:again \
	    sh -c 'seq 20000 >&2; echo again >&2; exit 3' 2>err || :
	{
		seq 20000
		echo again
		echo 'retry: attempt 1/2 failed (exit 3), retrying in 0s'
		seq 20000
		echo again
		echo 'retry: attempt 2/2 failed (exit 3), giving up: attempts exhausted'
	} | cmp - err
}

#
# What is inherited
#

descriptors='own=$(stat -Lc "%d:%i" /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2)
	echo "$own" >fds'

@test "a stream without a pattern is the caller's own, the other is a pipe" {
	sh -c "$descriptors" >out 2>err
	mapfile -t direct <fds
	"$RETRY" --retry-on stderr:x sh -c "$descriptors" >out 2>err
	mapfile -t under <fds
	[ "${#direct[@]}" -eq 3 ]
	[ "${under[0]} ${under[1]}" = "${direct[0]} ${direct[1]}" ]
	[ "${under[2]}" != "${direct[2]}" ]
	"$RETRY" --fail-on stdout:x sh -c "$descriptors" >out 2>err
	mapfile -t under <fds
	[ "${under[0]} ${under[2]}" = "${direct[0]} ${direct[2]}" ]
	[ "${under[1]}" != "${direct[1]}" ]
}

@test "without a pattern all three descriptors are the caller's own" {
	sh -c "$descriptors" >out 2>err
	mv fds direct
	"$RETRY" --retry-on 7,http:503 --stop-on 9 sh -c "$descriptors" >out 2>err
	cmp direct fds
}

@test "the command gets no descriptor of the relay but its own two" {
	ls /proc/self/fd >direct 3>&-
	"$RETRY" -n 3 -d 0 "${both[@]}" --retry-on 1 \
	    sh -c 'ls /proc/self/fd >>under; exit 1' 3>&- || :
	cmp under <(cat direct direct direct)
}

@test "many attempts take no more descriptors than one" {
	ulimit -n 32
	run -1 --separate-stderr "$RETRY" -n 100 -d 0 -q --retry-on stderr:x \
	    --retry-on stdout:y sh -c 'echo "$RETRY_ATTEMPT"; echo x >&2; exit 1'
	[ "${lines[99]}" = 100 ]
}

@test "standard input still goes to the command" {
	run -0 --separate-stderr "$RETRY" "${both[@]}" cat <<<'given'
	[ "$output" = given ]
}

@test "O_NONBLOCK of shared pipes, terminals and sockets stays as it was" {
	cat <<-'END' >flags.py
		import fcntl, os, socket, subprocess, sys
		def flags(fd):
		    return fcntl.fcntl(fd, fcntl.F_GETFL)
		def check(read, write, nonblocking):
		    os.set_blocking(write, not nonblocking)
		    before = flags(read), flags(write)
		    child = subprocess.Popen(
		        [sys.argv[1], "--retry-on", "stderr:x", "--stop-on", "stdout:x",
		         "sh", "-c", "echo out; echo err >&2; read line"],
		        stdin=subprocess.PIPE, stdout=write, stderr=write)
		    got = b""
		    while b"out" not in got or b"err" not in got:
		        more = os.read(read, 100)
		        if more == b"":
		            sys.exit("nothing came")
		        got += more
		    during = flags(read), flags(write)
		    child.communicate(b"\n", timeout=20)
		    after = flags(read), flags(write)
		    if not before == during == after or child.returncode:
		        sys.exit("%s %s %s" % (before, during, after))
		def pair():
		    ends = socket.socketpair()
		    return ends[0].detach(), ends[1].detach()
		for make in os.pipe, os.openpty, pair:
		    for nonblocking in False, True:
		        read, write = make()
		        check(read, write, nonblocking)
	END
	timeout 20 "$PYTHON" -IS flags.py "$RETRY"
}

#
# What is judged
#

@test "a pattern is looked for in its own stream, and --stop-on wins" {
	table judged <<-'END'
		attempts --retry-on 'stderr:temporar(y|ily)' -- sh -c 'echo is temporarily off >&2; exit 1'
		not-retryable --retry-on 'stderr:temporar(y|ily)' -- sh -c 'echo no such file >&2; exit 1'
		not-retryable --retry-on stderr:temporary -- false
		attempts --retry-on stdout:word -- sh -c 'echo word; exit 1'
		not-retryable --retry-on stdout:word -- sh -c 'echo word >&2; exit 1'
		not-retryable --retry-on stderr:word -- sh -c 'echo word; exit 1'
		stop-rule --stop-on stderr:denied -- sh -c 'echo denied >&2; exit 1'
		stop-rule --retry-on stderr:denied --stop-on stderr:denied -- sh -c 'echo denied >&2; exit 1'
		attempts --stop-on stderr:denied -- sh -c 'echo busy >&2; exit 1'
		attempts --success-on 'stderr:already exists' -- sh -c 'echo no >&2; exit 4'
		# A pattern runs to the end of its argument, commas and all.
		attempts --retry-on '7,stderr:a{1,2},b' -- sh -c 'echo xaa,b >&2; exit 1'
		attempts --retry-on '7,stderr:a{1,2},b' -- sh -c 'exit 7'
		not-retryable --retry-on 'stderr:a,7' -- sh -c 'exit 7'
		attempts --retry-on 'stderr:one,stdout:two' -- sh -c 'echo one,stdout:two >&2; exit 1'
		attempts --retry-on stderr:one --retry-on stdout:two -- sh -c 'echo two; exit 1'
	END
}

@test "--fail-on stdout: makes a failure of exit 0, with status 1" {
	run -1 --separate-stderr "$RETRY" -n 2 -d 0 --fail-on stdout:^LOADING echo LOADING
	[ "$output" = $'LOADING\nLOADING' ]
	[ "${stderr_lines[1]}" = 'retry: attempt 2/2 failed (exit 0), giving up: attempts exhausted' ]
	run -0 --separate-stderr "$RETRY" -n 2 -d 0 --fail-on stdout:^LOADING echo ready
	[ -z "$stderr" ]
}

@test "--success-on stderr: makes a success of a failure" {
	run -0 --separate-stderr "$RETRY" -v -d 0 --success-on 'stderr:already exists' \
	    sh -c 'echo "it already exists" >&2; exit 4'
	[ "${stderr_lines[1]}" = 'retry: attempt 1/5 succeeded (exit 4)' ]
}

@test "a timed out attempt is judged by what it wrote" {
	run -124 --separate-stderr "$RETRY" -t 0.3 -d 0 --stop-on stderr:fatal \
	    sh -c 'echo fatal >&2; exec sleep 15'
	[ "${stderr_lines[0]}" = fatal ]
	[[ ${stderr_lines[1]} == 'retry: attempt 1/5 timed out '*', giving up: --stop-on stderr:fatal' ]]
}

@test "a match across two writes is found" {
	written
	judged attempts --retry-on 'stderr:could not connect' -- \
	    "$PYTHON" -IS written.py 2 'it could n' 'ot connect'
	judged attempts --retry-on 'stdout:^connection (refused|reset)$' -- \
	    "$PYTHON" -IS written.py 1 c o n n e c t i o n ' ' r e s e t $'\n'
	judged not-retryable --retry-on 'stderr:could not' -- \
	    "$PYTHON" -IS written.py 2 'it could ' $'\n' 'not'
}

@test "a pattern is looked for in each line, the last one and any bytes" {
	table <<-'END'
		finds 'busy' 'busy'
		finds '^busy$' 'first\nbusy'
		passes '^busy$' 'first\nbusy '
		passes 'a.*b' 'a\nb\n'
		finds '^b' 'a\nb\n'
		passes '^$' 'a\n'
		finds 'a.b' 'a\0b'
		finds 'busy' '\0\0\377\376\303(\0busy\0'
		finds '^\W+busy' '\0\377\200busy'
		finds $'caf\xc3\xa9+ clos' 'caf\303\251\303\251 clos\n'
		finds '(?i)connection RESET' 'CONNECTION Reset by peer\n'
		passes 'connection RESET' 'CONNECTION Reset by peer\n'
		finds '^\d+\s\w+$' '42\tthe_answer1\n'
		passes '\bbusy\b' 'busybox\n'
		finds '^(ab|cd){2,3}$' 'abcdab\n'
		passes '^(ab|cd){2,3}$' 'ab\n'
		finds '^[[:upper:]][^[:space:]]*[]-]$' 'Xyz]\n'
	END
}

@test "a match far into a line of a megabyte is found" {
	judged attempts --retry-on 'stderr:needle( here)?$' -- sh -c '
		head -c 1000000 /dev/zero | tr "\0" n >&2
		echo needle here >&2; exit 1'
	judged attempts --retry-on 'stderr:^n+edle' -- sh -c '
		head -c 1000000 /dev/zero | tr "\0" n >&2
		echo edle >&2; exit 1'
}

@test "each attempt is judged by its own output" {
	run -1 --separate-stderr "$RETRY" -n 5 -d 0 --retry-on stderr:temporary sh -c '
		echo "$RETRY_ATTEMPT"
		[ "$RETRY_ATTEMPT" -eq 3 ] || echo temporary >&2
		exit 1'
	[ "$output" = $'1\n2\n3' ]
	[ "${stderr_lines[4]}" = 'retry: attempt 3/5 failed (exit 1), giving up: not in --retry-on stderr:temporary' ]
}

@test "two attempts' output does not make one match" {
	run -1 --separate-stderr "$RETRY" -n 5 -d 0 --retry-on stderr:temporary \
	    --retry-on 9 sh -c '[ "$RETRY_ATTEMPT" -gt 1 ] || {
			printf tempo >&2
			exit 9
		}
		echo rary >&2
		exit 1'
	[[ $stderr == *'attempt 2/5 failed (exit 1), giving up: not in any --retry-on' ]]
}

@test "what a retried attempt wrote is looked for anew in the next" {
	run -0 --separate-stderr "$RETRY" -v -n 5 -d 0 --fail-on stdout:wait \
	    sh -c '[ "$RETRY_ATTEMPT" -eq 4 ] || echo wait'
	[[ $stderr == *'retry: ended after 4 attempts in '*': succeeded' ]]
}

#
# What a pattern can be
#

@test "the locale changes nothing" {
	for LC_ALL in C C.UTF-8 en_US.UTF-8 tr_TR.UTF-8 nonsense; do
		export LC_ALL
		finds '(?i)^TIMED.OUT$' 'timed\377out\n'
		passes '^.$' '\303\251\n'
		passes '^\w+$' '\303\251\n'
	done
}

@test "64 patterns are looked for at once, and a 65th is refused" {
	local options=() i
	for ((i = 1; i <= 64; i++)); do
		options+=(--retry-on "stderr:^word$i\$")
	done
	table judged <<-'END'
		attempts "${options[@]}" -- sh -c 'echo word64 >&2; exit 1'
		attempts "${options[@]}" -- sh -c 'echo word1 >&2; exit 1'
		not-retryable "${options[@]}" -- sh -c 'echo word65 >&2; exit 1'
	END
	run -125 --separate-stderr "$RETRY" "${options[@]}" \
	    --stop-on stdout:65 touch ran
	[[ ${stderr_lines[0]} == 'retry: --stop-on: '*64* ]]
	[ ! -e ran ]
	run -0 --separate-stderr "$RETRY" "${options[@]}" \
	    --stop-on 'stderr:^word64$' true
}

@test "what is no pattern is refused, with the words that are wrong" {
	table refused <<-'END'
		"the pattern is empty: ''" retry-on stderr:
		"the pattern is empty: '(?i)'" stop-on 'stdout:(?i)'
		"back-references are not supported: '\\1' in '(a)\\1'" retry-on 'stderr:(a)\1'
		"back-references are not supported: '\\9'" success-on 'stderr:\9'
		"(? is not supported, but for (?i) at the start: '(?:a)' in 'x(?:a)'" retry-on 'stderr:x(?:a)'
		"(? is not supported, but for (?i) at the start: '(?i)' in 'a(?i)'" fail-on 'stdout:a(?i)'
		"unknown escape: '\\A'" stop-on 'stderr:\A'
		"a count above 1000: '1001}' in 'a{1001}'" retry-on 'stderr:a{1001}'
		"counts that run backwards: '{3,2}' in 'a{3,2}'" retry-on 'stderr:a{3,2}'
		"the pattern is too large: "* retry-on 'stderr:((a{1000}){1000}){1000}'
		"( without ): '(b' in 'a(b'" retry-on 'stderr:a(b'
		") without (: ')' in 'a)'" retry-on 'stderr:a)'
		"nothing to repeat: '*a'" retry-on 'stderr:*a'
		"a backslash with nothing after it: '\\' in 'a\\'" retry-on 'stderr:a\'
		'*' retry-on 'stderr:[a'
		'*' retry-on 'stderr:a{x}'
	END
}

@test "parentheses nest 250 deep and no deeper" {
	local open close
	open=$(printf '(%.0s' {1..250})
	close=${open//(/)}
	finds "${open}a$close" 'a\n'
	run -125 --separate-stderr "$RETRY" --retry-on "stderr:($open$close)" touch ran
	[[ $stderr == 'retry: --retry-on: parentheses nested too deeply: '* ]]
	[ ! -e ran ]
}

@test "a long pattern costs linear time on a line that nearly matches" {
	judged not-retryable --retry-on 'stderr:(a*)*(a*)*(a|aa)+b$' -- sh -c '
		head -c 1000000 /dev/zero | tr "\0" a >&2; exit 1'
	judged not-retryable --retry-on 'stderr:(.*a.{12}|[a-z]+: error)x$' -- sh -c '
		head -c 1000000 /dev/zero | tr "\0" a >&2; exit 1'
}

#
# Other processes that have the pipe open
#

# Waits, 15 s at most, for ./over; then the background process ends.
holding='timeout 15 sh -c "until [ -e over ]; do sleep 0.05; done" &'

@test "a background child that holds the pipe delays no verdict by much" {
	local began direct under
	began=$(now)
	"$RETRY" -n 4 -d 0 -q sh -c "$holding exit 3" >out 2>err 3>&- || :
	direct=$(($(now) - began))
	began=$(now)
	run -3 --separate-stderr "$RETRY" -n 4 -d 0 -q --retry-on 'stderr:again' \
	    --stop-on stdout:never sh -c "$holding echo again >&2; exit 3" 3>&-
	under=$(($(now) - began))
	touch over
	echo "direct $direct ms, under $under ms"
	[ "$stderr" = $'again\nagain\nagain\nagain' ]
	((under <= direct + 4 * 1000)) # ten times as long as retry waits
}

@test "a background child that keeps writing delays no verdict by much" {
	local began
	began=$(now)
	"$RETRY" -n 1 --retry-on stderr:x sh -c \
	    'timeout 15 sh -c "until [ -e over ]; do echo on >&2; done" & exit 3' \
	    2>err 3>&- && status=0 || status=$?
	touch over
	[ "$status" -eq 3 ]
	(($(now) - began < 5000))
}

@test "a background child outlives its attempt, and what it writes still arrives" {
	run -0 --separate-stderr "$RETRY" -n 3 -d 0 --retry-on 9 --fail-on stderr:late sh -c '
		if [ "$RETRY_ATTEMPT" -lt 3 ]; then
			sh -c "trap \"\" HUP
				timeout 15 sh -c \"until [ -e go ]; do sleep 0.01; done\"
				echo \"late $RETRY_ATTEMPT\" >&2 && touch alive$RETRY_ATTEMPT" &
			exit 9
		fi
		touch go
		timeout 15 sh -c "until [ -e alive1 ] && [ -e alive2 ]; do sleep 0.01; done"
		' 3>&-
	[ -e alive1 ]
	[ -e alive2 ]
	[[ $stderr == *'late 1'* ]]
	[[ $stderr == *'late 2'* ]]
}

@test "what a background child writes during a delay arrives at once" {
	start "$RETRY" -n 2 -d 15 -j none --retry-on stdout:x --retry-on 9 sh -c '
		sh -c "timeout 15 sh -c \"until [ -e go ]; do sleep 0.01; done\"
			echo late; touch alive" &
		exit 9'
	wait_for grep -q 'retrying in 15s' err
	touch go
	wait_for grep -qx late out
	wait_for test -e alive
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
}

@test "background children that hold all descriptors prevent no attempt" {
	(
		ulimit -n 20
		"$RETRY" -q -n 16 -d 0 --stop-on 'stdout:never' --stop-on stderr:never \
			sh -c "$holding echo >>ran; exit 3" 2>err 3>&-
	) && status=0 || status=$?
	touch over
	[ "$status" -eq 3 ]
	[ "$(lines ran)" -eq 16 ]
}

#
# Slow readers, and readers that are gone
#

@test "what is in the pipe at the end is delivered whole to a slow reader" {
	local to
	for to in 1 2; do
		rm -f pipe command
		stuck -q -n 1 "${both[@]}" -- sh -c 'seq 20000 >&'"$to"'
			echo $$ >command; exit 3'
		wait_for test -s command
		sleep 0.4 # four times as long as retry waits for them
		! gone "$pid"
		exec 8<pipe 7>&-
		seq 20000 | cmp - <(cat <&8)
		exec 8<&-
		ended
		[ "$status" -eq 3 ]
	done
}

@test "a slow reader holds the command back and costs no memory" {
	local some peak i
	stuck -n 1 "${both[@]}" -- sh -c "$flood"
	wait_for held_back
	for ((i = 0; i < 20; i++)); do
		sleep 0.01
		some=$(written_so_far)
		((some < 262144))
	done
	peak=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$pid/status")
	[ -n "${RETRY_SAN-}" ] || ((peak < 4096))
	exec 8<pipe 7>&-
	[ "$(wc -c <&8)" -eq 16777216 ]
	exec 8<&-
	ended
	[ "$status" -eq 0 ]
}

@test "the timeout fires while a slow reader holds the command back" {
	local to
	for to in 1 2; do
		rm -f pipe
		stuck -q -n 1 -t 0.3 "${both[@]}" -- sh -c "$flood >&$to"
		ended
		[ "$status" -eq 124 ]
		exec 7>&-
	done
}

@test "the deadline fires while a slow reader takes nothing of what is left" {
	stuck -n 1 -T 0.5 "${both[@]}" -- sh -c 'seq 20000; exit 3'
	ended
	[ "$status" -eq 3 ]
	exec 7>&-
}

@test "TERM acts while a slow reader holds the command back" {
	stuck -n 5 "${both[@]}" --retry-on signal -- sh -c "$flood"
	wait_for held_back
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	wait_for gone "$(cat command)"
	exec 7>&-
}

@test "TERM acts while only what is in the pipe waits for a slow reader" {
	stuck -n 5 "${both[@]}" --retry-on 3 -- sh -c 'seq 20000; echo $$ >command; exit 3'
	wait_for test -s command
	wait_for gone "$(cat command)"
	kill -TERM "$pid"
	ended
	[ "$status" -ne 0 ]
	[ "$(grep -c 'attempt' err)" -le 1 ]
	exec 7>&-
}

@test "TERM while a success waits for a slow reader is death by TERM" {
	stuck "${both[@]}" --on-give-up 'touch hooked' -- \
	    sh -c 'seq 20000; echo $$ >command'
	wait_for test -s command
	wait_for gone "$(cat command)"
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	[ ! -e hooked ]
	exec 7>&-
}

@test "a reader that has gone ends the command by SIGPIPE, and the series" {
	direct=$(yes | head -n 1; echo "${PIPESTATUS[0]}")
	under=$("$RETRY" -d 0 "${both[@]}" yes 2>err | head -n 1
		echo "${PIPESTATUS[0]}")
	[ "$under" = "$direct" ]
	[[ $direct == *141 ]]
	under=$("$RETRY" -d 0 "${both[@]}" sh -c 'exec yes >&2' 2>&1 >out | head -n 1
		echo "${PIPESTATUS[0]}")
	[ "$under" = "$direct" ]
}

@test "a command that ignores SIGPIPE learns from its write that nobody reads" {
	"$RETRY" -n 1 -q "${both[@]}" env --ignore-signal=PIPE yes 2>err | head -n 1 >out
	[ "$(<out)" = y ]
	grep -q 'Broken pipe' err
}

@test "the other stream passes on when the reader of one has gone" {
	"$RETRY" -n 1 "${both[@]}" sh -c 'yes; seq 30000 >&2; exit 3' 2>err |
	    head -n 1 >out
	[ "$(<out)" = y ]
	seq 30000 | cmp - <(head -n 30000 err)
}

@test "a closed stream stays closed for the command" {
	run -3 --separate-stderr sh -c 'exec "$@" >&-' sh "$RETRY" -q -n 2 -d 0 "${both[@]}" \
	    --retry-on 3 sh -c '[ ! -e /proc/$$/fd/1 ] && echo closed >&2; exit 3'
	[ "$stderr" = $'closed\nclosed' ]
	run -3 --separate-stderr sh -c 'exec "$@" 2>&-' sh "$RETRY" -n 2 -d 0 "${both[@]}" \
	    --retry-on 3 sh -c '[ ! -e /proc/$$/fd/2 ] && echo closed; exit 3'
	[ "$output" = $'closed\nclosed' ]
}

@test "stdout that cannot be written is an error of ours: 125" {
	"$RETRY" "${both[@]}" echo lost >/dev/full 2>err && status=0 || status=$?
	[ "$status" -eq 125 ]
	[ "$(<err)" = 'retry: cannot write to standard output: No space left on device' ]
}

@test "a command whose stdout cannot be written ends as it would without us" {
	run timeout 20 sh -c 'exec "$@" >/dev/full' sh \
	    "$RETRY" --retry-on stdout:nosuch yes
	[ "$status" -eq 125 ]
	run timeout 20 sh -c 'exec "$@" >/dev/full' sh "$RETRY" -n 1 \
	    --retry-on stdout:nosuch sh -c 'yes | head -c 1000000 && : >removed'
	[ "$status" -eq 125 ]
	[ ! -e removed ]
}

@test "stderr that cannot be written is an error of ours as well: 125" {
	run -125 --separate-stderr sh -c 'exec "$@" 2>/dev/full' sh \
	    "$RETRY" -n 2 -d 0 --retry-on stderr:lost \
	    sh -c 'echo out; echo lost >&2; exit 3'
	[ "$output" = out ] # another attempt would be of no use
	run -125 --separate-stderr sh -c 'exec "$@" 2>/dev/full' sh \
	    "$RETRY" --preset net sh -c 'echo out; echo lost >&2'
	[ "$output" = out ]
	# What an attempt that failed had to say does not count where it is held.
	run -0 --separate-stderr sh -c 'exec "$@" 2>/dev/full' sh \
	    "$RETRY" -E --preset net sh -c 'echo out; echo lost >&2'
	[ "$output" = out ]
}

@test "that nobody reads stderr any more changes nothing" {
	"$RETRY" --preset net sh -c 'trap "" PIPE
		seq 100000 >&2; echo ended >ended; exit 0' 2>&1 | head -n 1 >first
	[ "${PIPESTATUS[0]}" -eq 0 ]
	[ -e ended ]
	[ "$(<first)" = 1 ]
}

@test "a success whose error output could not be delivered is none" {
	mkfifo slow
	exec 4<>slow
	status=0
	"$RETRY" -T 0.5 --fail-on stderr:zzz -- \
		sh -c 'exec head -c 110000 /dev/zero >&2' 2>slow || status=$?
	[ "$status" -eq 125 ]
	exec 4>&-
}

#
# Where the streams go
#

@test "stdout and stderr on the same pipe both arrive whole" {
	"$RETRY" "${both[@]}" sh -c 'seq 10000; seq 10001 20000 >&2' 2>&1 |
	    sort -n >got
	seq 20000 | cmp - got
	"$RETRY" "${both[@]}" sh -c 'for i in 1 2 3; do echo "$i"; echo "$i" >&2; done' 2>&1 |
	    sort >got
	[ "$(tr '\n' ' ' <got)" = '1 1 2 2 3 3 ' ]
}

@test "a command that joins its streams keeps their order" {
	"$RETRY" -n 1 "${both[@]}" sh -c 'exec 2>&1; i=0
		while [ $((i += 1)) -lt 500 ]; do echo "$i"; echo "$i" >&2; done' >got
	i=0
	while [ $((i += 1)) -lt 500 ]; do printf '%d\n%d\n' "$i" "$i"; done | cmp - got
}

@test "a file that is appended to gets everything, in order" {
	echo before >file
	"$RETRY" -n 2 -d 0 -q --retry-on stdout:x --retry-on 3 \
	    sh -c 'echo "x $RETRY_ATTEMPT"; exit 3' >>file || :
	[ "$(<file)" = $'before\nx 1\nx 2' ]
}

@test "on a terminal the stream without a pattern stays a terminal" {
	run -3 "$ACTOR" terminal -- "$RETRY" -n 2 -d 0 \
	    --retry-on stderr:busy sh -c '[ -t 0 ] && [ -t 1 ] && [ ! -t 2 ] &&
	    echo "out $RETRY_ATTEMPT" && echo busy >&2; exit 3'
	[ "$output" = 'out 1
busy
retry: attempt 1/2 failed (exit 3), retrying in 0s
out 2
busy
retry: attempt 2/2 failed (exit 3), giving up: attempts exhausted' ]
}

@test "a command that is not found is told as ever" {
	run -127 --separate-stderr "$RETRY" "${both[@]}" "$PWD/nosuch"
	[ "$stderr" = "retry: cannot run '$PWD/nosuch': No such file or directory" ]
}

@test "what an attempt wrote comes before what the next one writes" {
	mkfifo slow
	start sh -c '"$RETRY" -q -t 0.5 -k 0 -n 2 -d 0 --fail-on stderr:zzz -- \
		sh -c "exec >&2
			[ \$RETRY_ATTEMPT = 2 ] || exec yes one
			echo two; : >over" 2>slow'
	exec 4<slow
	wait_for test -e over
	uniq <&4 >seen
	ended
	[ "$(grep -vxE 'o?n?e?' seen)" = two ]
	[ "$(sed -n '$p' seen)" = two ]
}

@test "the deadline ends the wait for a slow reader" {
	local before
	mkfifo slow
	exec 4<>slow # nobody reads
	before=$(now)
	status=0
	"$RETRY" -q -T 0.5 -n 1 --fail-on stderr:zzz -- \
		sh -c 'head -c 100000 /dev/zero >&2; exit 9' 2>slow || status=$?
	[ "$status" -eq 9 ]
	[ "$(($(now) - before))" -ge 480 ]
}

@test "a success whose output could not be delivered is none" {
	mkfifo slow
	exec 4<>slow
	status=0
	"$RETRY" -T 0.5 --fail-on stdout:zzz -- head -c 110000 /dev/zero \
		>slow 2>err || status=$?
	[ "$status" -eq 125 ]
	grep -qx 'retry: cannot write to standard output: .*' err
}
