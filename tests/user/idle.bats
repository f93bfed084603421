#!/usr/bin/env bats
# Covers streams/activity.
# --idle-timeout: what counts as output, for each kind of standard output, and
# that the command and its output stay as they are.

# shellcheck disable=SC2016 # what is quoted is for another shell
# shellcheck disable=SC2030,SC2031 # each test has a shell of its own
# shellcheck disable=SC2154 # start sets pid, ended sets status

load helper
load actor

setup()
{
	helper_setup
	export MARK=$BATS_TEST_TMPDIR
}

# Writes a line to descriptor $0, four times in 2 s.
drip='for i in 1 2 3 4; do sleep 0.5; echo "drip $i" >&$0; done'
silent='retry: attempt 1/1 ended after [0-9.]+s without output, giving up: attempts exhausted'

# through STATUS COMMAND...: COMMAND writes to pipes and ends with STATUS; ./out
# and ./err get what it writes.
through()
{
	local want=$1 got
	shift
	{
		got=0
		"$@" 2> >(cat >>err) 3>&- || got=$?
		echo "$got" >got
	} | cat >>out
	wait_for [ -s got ]
	[ "$(<got)" -eq "$want" ]
}

#
# What the limit is
#

@test "an attempt that writes nothing is ended and gives 124" {
	local before
	before=$(now)
	is 124 "$RETRY" -n 1 --idle-timeout 0.4 -- sleep 20
	[ "$(($(now) - before))" -ge 380 ]
	told "$silent"
	none_left "$MARK"
}

@test "an attempt that was ended for its silence is retried" {
	is 0 "$RETRY" -n 3 -d 0 --idle-timeout 0.3 -- sh -c '
		[ "$RETRY_ATTEMPT" = 3 ] || exec sleep 20; echo "$RETRY_LAST_STATUS"'
	told 'retry: attempt 2/3 ended after 0.3s without output, retrying in 0s'
	said 124
	none_left "$MARK"
}

@test "an --idle-timeout of 0 is none" {
	is 0 "$RETRY" -n 1 --idle-timeout 0 -- sh -c 'sleep 0.3; echo done'
	said 'done'
}

@test "the signal, --kill-after and the tree are those of a timeout" {
	is 124 "$RETRY" -n 1 --idle-timeout 0.4 -s USR1 -k 20 -- sh -c '
		trap "echo heard; exit 3" USR1
		while :; do sleep 0.02; done'
	said heard
	is 124 "$RETRY" -n 1 --idle-timeout 0.4 -k 0.3 -- sh -c '"$ACTOR" stubborn & wait'
	none_left "$MARK"
}

@test "of timeout, silence and deadline the earliest ends the attempt" {
	is 124 "$RETRY" -n 1 -t 0.2 --idle-timeout 20 -T 20 -- sleep 20
	told 'retry: attempt 1/1 timed out after 0.2s, .*'
	is 124 "$RETRY" -n 1 -t 20 --idle-timeout 0.3 -T 20 -- sleep 20
	told "$silent"
	is 124 "$RETRY" -n 1 -t 20 --idle-timeout 20 -T 0.2 -- sleep 20
	told 'retry: attempt 1/1 ended by the deadline after .*'
}

@test "in a LIST an attempt that was silent is idle, and also timeout" {
	local rule
	for rule in idle timeout 124; do
		rm -f err
		is 124 "$RETRY" -n 2 --idle-timeout 0.1 --stop-on "$rule" -- sleep 20
		told "retry: attempt 1/2 ended after 0.1s without output, giving up: --stop-on $rule"
	done
	is 124 "$RETRY" -n 2 -d 0 -t 0.1 --stop-on idle -- sleep 20
	told 'retry: attempt 2/2 timed out after 0.1s, .*'
}

# bats test_tags=slow
@test "the time for which retry was stopped is no silence" {
	start "$RETRY" -n 1 --idle-timeout 2 -- sh -c '
		touch ready; while [ ! -e go ]; do sleep 0.05; done; echo done'
	reached [ -e ready ]
	kill -STOP -- "-$pid"
	sleep 2.5
	touch go
	kill -CONT -- "-$pid"
	ended
	[ "$status" -eq 0 ]
	said 'done'
}

#
# What counts as output
#

# bats test_tags=slow
@test "output to a pipe counts, until it stops" {
	through 124 "$RETRY" -n 1 --idle-timeout 1.5 -- sh -c "$drip; sleep 20" 1
	said 'drip 4'
	wait_for told "$silent"
}

# bats test_tags=slow
@test "error output to a pipe counts" {
	through 0 "$RETRY" -n 1 --idle-timeout 1.5 -- sh -c "$drip" 2
	wait_for told 'drip 4'
}

# bats test_tags=slow
@test "output to a file counts, and the file stays the command's output" {
	is 124 "$RETRY" -n 1 --idle-timeout 1.5 -- sh -c \
	    "[ -f /proc/self/fd/1 ] && [ -f /proc/self/fd/2 ] || exit
	    $drip; sleep 20" 1
	said 'drip 4'
	is 0 "$RETRY" -n 1 --idle-timeout 1.5 -- sh -c "$drip" 2
	told 'drip 4'
}

# bats test_tags=slow
@test "output that overwrites the same bytes of a file counts" {
	is 0 sh -c '"$@" 1<>one' sh \
	    "$RETRY" -n 1 --idle-timeout 3 -- "$PYTHON" -c '
import os, time
for i in range(8):
    os.pwrite(1, b"same\n", 0)
    time.sleep(0.5)'
	holds one same
}

# bats test_tags=slow
@test "output to /dev/null counts" {
	is 0 sh -c '"$@" >/dev/null 2>&1' sh \
	    "$RETRY" -n 1 --idle-timeout 1.5 -- sh -c "$drip" 1
	is 124 sh -c '"$@" >/dev/null' sh "$RETRY" -n 1 --idle-timeout 0.5 -- sleep 20
}

# bats test_tags=slow
@test "held output counts" {
	is 0 "$RETRY" -O -n 1 --idle-timeout 1.5 -- sh -c "$drip" 1
	said 'drip 4'
	is 124 "$RETRY" -OE -n 1 --idle-timeout 0.4 -- sleep 20
}

# bats test_tags=slow
@test "output that a pattern searches counts" {
	is 0 "$RETRY" -O -n 1 --idle-timeout 1.5 --retry-on stdout:x -- \
	    sh -c "$drip" 1
}

# bats test_tags=slow
@test "output to a socket counts, and a socket for datagrams is refused" {
	cat >outlet.py <<-'END'
		import socket, subprocess, sys
		ours, theirs = socket.socketpair(type=getattr(socket, sys.argv[1]))
		sys.exit(subprocess.run(sys.argv[2:], stdout=theirs).returncode)
	END
	is 0 "$PYTHON" outlet.py SOCK_STREAM \
	    "$RETRY" -n 1 --idle-timeout 1.5 -- sh -c "$drip" 1
	is 125 "$PYTHON" outlet.py SOCK_DGRAM \
	    "$RETRY" -n 1 --idle-timeout 1.5 -- touch ran
	told 'retry: --idle-timeout: cannot watch standard output: .*'
	[ ! -e ran ]
}

@test "closed outputs stay closed, and an attempt without any output is ended" {
	is 124 sh -c '"$@" >&- 2>&-' sh "$RETRY" -n 1 --idle-timeout 0.3 -- sh -c '
		touch began
		[ ! -e /proc/self/fd/1 ] && [ ! -e /proc/self/fd/2 ] || touch open
		exec sleep 20'
	[ -e began ]
	[ ! -e open ]
	none_left "$MARK"
}

# bats test_tags=slow
@test "what a process outside of the attempt writes to the pipe does not count" {
	{
		while [ ! -e over ]; do
			echo noise
			sleep 0.1
		done &
		"$RETRY" -n 1 --idle-timeout 0.5 -- sleep 9 2>>err || echo $? >got
		touch over
	} 3>&- | cat >/dev/null
	[ "$(<got)" -eq 124 ]
}

# bats test_tags=slow
@test "what a background process of an earlier attempt writes does not count" {
	through 124 "$RETRY" -n 2 -d 0 --idle-timeout 0.5 -- sh -c '
		[ "$RETRY_ATTEMPT" = 2 ] && exec sleep 20
		{ for i in $(seq 80); do sleep 0.1; echo noise; done; touch late; } &
		exit 3'
	[ ! -e late ]
	wait_for told 'retry: attempt 2/2 ended after 0.5s without output, .*'
}

#
# A slow reader
#

# bats test_tags=slow
@test "an attempt that waits for the reader of its output is not idle" {
	{
		"$RETRY" -n 1 --idle-timeout 1.5 -- head -c 1000000 /dev/zero ||
		    touch failed
	} 3>&- | {
		sleep 3
		wc -c >out
	}
	said 1000000
	[ ! -e failed ]
}

# bats test_tags=slow
@test "once the reader has taken all, silence counts again" {
	{
		"$RETRY" -n 1 --idle-timeout 0.5 -- "$PYTHON" -c '
import time
print("x" * 1000000, flush=True)
time.sleep(20)' 2>err || echo $? >got
	} 3>&- | {
		sleep 1.5
		cat >/dev/null
	}
	[ "$(<got)" -eq 124 ]
	told "$silent"
}

#
# Bytes and their order
#

@test "the order of output and error output to one pipe stays" {
	local i
	"$RETRY" -n 1 --idle-timeout 20 -- sh -c '
		for i in $(seq 1000); do echo "out $i"; echo "err $i" >&2; done' \
	    2>&1 3>&- | cat >both
	for i in $(seq 1000); do
		echo "out $i"
		echo "err $i"
	done | cmp - both
}

@test "any bytes arrive unchanged" {
	head -c 3000000 /dev/urandom >bytes
	"$RETRY" -n 1 --idle-timeout 20 -- cat bytes 3>&- | cmp - bytes
	"$RETRY" -n 1 --idle-timeout 20 -- sh -c 'cat bytes >&2' 2>&1 >/dev/null 3>&- |
		cmp - bytes
}

@test "a command whose reader has gone dies of SIGPIPE" {
	{
		got=0
		"$RETRY" -n 2 -d 0 --idle-timeout 20 -- yes 2>err || got=$?
		echo "$got" >got
	} 3>&- | head -n 1 >out
	wait_for [ -s got ]
	[ "$(<got)" -eq 141 ]
	said y
}

@test "a command with its own end is not changed by --idle-timeout" {
	is 6 "$RETRY" -n 1 --idle-timeout 20 -- sh -c 'exit 6'
	through 7 "$RETRY" -n 1 --idle-timeout 20 -- sh -c 'echo bye; exit 7'
	said bye
}

# bats test_tags=slow
@test "a program that keeps its output in a buffer is idle, unless it is told not to" {
	local -x PYTHONUNBUFFERED=
	local drips='
import time
for i in range(8):
    time.sleep(0.5)
    print("drip", i)'
	through 124 "$RETRY" -n 1 --idle-timeout 3 -- "$PYTHON" -c "$drips"
	[ ! -s out ]
	through 0 "$RETRY" -n 1 --idle-timeout 3 -- "$PYTHON" -u -c "$drips"
	said 'drip 7'
}

# bats test_tags=slow
@test "a nested retry that holds all output is idle" {
	through 124 "$RETRY" -n 1 --idle-timeout 1.2 -- \
	    "$RETRY" -OE -n 1 -- sh -c "$drip; sleep 20" 1
	[ ! -s out ]
	none_left "$MARK"
}

#
# Terminals
#

# bats test_tags=slow
@test "output to a terminal counts, and the command writes each line at once" {
	pty 124 -- "$RETRY" -n 1 --idle-timeout 1.5 -- "$PYTHON" -c '
import os, time
for i in range(4):
    time.sleep(0.5)
    print("drip", i, os.isatty(1), os.isatty(2))
time.sleep(20)'
	said 'drip 3 True True'
	grep -qxE "$silent" out
}

# bats test_tags=slow
@test "silence begins with the last write, to whichever of two terminals" {
	pty 124 -- "$PYTHON" -IS -c '
import os, sys, threading
line, other = os.openpty()
def drain():
    while os.read(line, 65536):
        pass
threading.Thread(target=drain, daemon=True).start()
os.dup2(other, 2)
sys.exit(os.spawnvp(os.P_WAIT, sys.argv[1], sys.argv[1:]))' \
	    "$RETRY" -n 1 --idle-timeout 0.4 -- "$PYTHON" -IS -c '
import os, time
for i in range(6000):
    os.write(1, b".")
    os.write(2, b".")
time.sleep(8)'
}

# bats test_tags=slow
@test "a terminal that Ctrl-S has stopped is no silence" {
	pty 0 see:ready 'type:^S' more:2.5 'type:^Q' see:'last line' -- \
	    "$RETRY" -n 1 --idle-timeout 1.2 -- sh -c '
		echo ready; sleep 0.3; echo "last line"'
}

@test "a terminal that cannot be watched is refused with 125" {
	inject inotify_add_watch:error=EACCES
	pty 125 -- "${inject[@]}" "$RETRY" --idle-timeout 20 -- touch ran
	said "retry: --idle-timeout: cannot watch standard output: Permission denied; command not run; use 2>&1 | cat, and script -qec 'COMMAND' /dev/null if the command needs a terminal"
	[ ! -e ran ]
}

@test "a terminal that cannot be watched must not be one of the two outputs" {
	inject inotify_add_watch:error=EACCES
	pty 125 -- bash -c 'set -o pipefail; "$@" | cat' bash \
	    "${inject[@]}" "$RETRY" --idle-timeout 20 -- touch ran
	grep -q 'cannot watch standard error: Permission denied; ' out
	[ ! -e ran ]
	pty 0 -- bash -c 'set -o pipefail; "$@" 2>&1 | cat' bash \
	    "${inject[@]}" "$RETRY" --idle-timeout 20 -- touch ran
	[ -e ran ]
}

@test "a terminal is refused if the kernel does not tell of writes to terminals" {
	inject inotify_add_watch:error=EACCES # whether there is an strace here
	pty 125 -- strace -qq -o /dev/null -P /dev/ptmx \
	    -e 'inject=?open,openat:error=ENOENT' "$RETRY" --idle-timeout 20 -- touch ran
	grep -q 'cannot watch standard output: Operation not supported; ' out
	[ ! -e ran ]
}

@test "a terminal that is not used is not refused" {
	inject inotify_add_watch:error=EACCES
	pty 0 -- sh -c '"$@" >kept 2>&1' sh \
	    "${inject[@]}" "$RETRY" --idle-timeout 20 -- echo written
	holds kept written
	pty 0 -- "${inject[@]}" "$RETRY" -OE --idle-timeout 20 -- echo written
	said written
}

@test "script gives a command a terminal whose output can be watched through a pipe" {
	command -v script >/dev/null || skip 'no script here'
	through 124 "$RETRY" -n 1 --idle-timeout 1 -- script -qec \
	    '[ -t 1 ] && echo terminal; exec sleep 20' /dev/null </dev/null
	grep -q terminal out
}

@test "under script, Ctrl-C ends the command, and --stop-on 130 prevents a retry" {
	command -v script >/dev/null || skip 'no script here'
	pty 130 see:ready 'type:^C' -- \
	    bash -c 'set -o pipefail; "$@" 2>&1 | cat' bash \
	    "$RETRY" --idle-timeout 20 --stop-on 130 -- script -qec \
	    'echo run >>runs; echo ready; sleep 20' /dev/null
	grep -q 'retry: attempt 1/5 failed (exit 130), giving up: --stop-on 130' out
	holds runs run
}
