#!/usr/bin/env bats
# Covers streams/streams.
# --idle-timeout: what counts as output, for each kind of standard output, and
# that the command and its output stay as they are.

load helper
load actor

# A limit that no stall of the machine makes too short, and what writes a line to
# descriptor $1 over and over, for longer than that. $0 is the kind of file that
# it is, as for test(1).
idle=("$RETRY" -n 1 --idle-timeout 4)
drip='[ -$0 /proc/self/fd/$1 ] || exit 9
for i in 1 2 3 4 5; do sleep 1; echo "drip $i" >&$1; done'
silent='attempt 1/1 ended after 4s without output, giving up: attempts exhausted'

# through STATUS COMMAND...: COMMAND writes to pipes and ends with STATUS; ./out
# and ./err get what it writes.
through() {
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

# bats test_tags=slow
@test "an attempt that writes nothing is ended, like one that is timed out" {
	beside '0 is no limit' try out=done -n 1 --idle-timeout 0 -- sh -c 'sleep 0.3; echo done'
	beside 'timeout first' try status=124 says='attempt 1/1 timed out after 0.2s, *' \
	    -n 1 -t 0.2 --idle-timeout 20 -T 20 -- sleep 20
	beside 'deadline first' try status=124 says='attempt 1/1 ended by the deadline *' \
	    -n 1 -t 20 --idle-timeout 20 -T 0.2 -- sleep 20
	beside '--stop-on idle' try status=124 \
	    says='attempt 1/2 ended after 0.1s without output, giving up: --stop-on idle' \
	    -n 2 --idle-timeout 0.1 --stop-on idle -- sleep 20
	beside held try status=124 -OE -n 1 --idle-timeout 0.4 -- sleep 20
	rows beside eval <<-'END'
	silence first
	    try status=124 ms=400 says="${silent/4s/0.4s}" \
	        -n 1 -t 20 --idle-timeout 0.4 -T 20 -- sleep 20
	    none_left
	/dev/null
	    is 124 sh -c '"$@" >/dev/null' sh "$RETRY" -n 1 --idle-timeout 0.5 -- sleep 20
	without any output
	    is 124 sh -c '"$@" >&- 2>&-' sh "$RETRY" -n 3 -d 0 --idle-timeout 1 \
	        --stop-on 3 -- sh -c 'touch began
	        [ ! -e /proc/self/fd/1 ] && [ ! -e /proc/self/fd/2 ] || exit 3
	        exec sleep 20'
	    [ -e began ]
	    none_left
	it is retried, and any attempt after the first may be fast enough
	    try out=124 says='attempt 1/50 ended after 0.3s without output, retrying in 0s*' \
	        -n 50 -d 0 --idle-timeout 0.3 -- sh -c '
	        [ "$RETRY_ATTEMPT" != 1 ] || exec sleep 20
	        echo "$RETRY_LAST_STATUS"'
	    none_left
	END
}

# dripping is|through STATUS KIND FD [OPTION]...: with 124 it is silent in the end
dripping() {
	local drip=$drip
	[ "$2" -eq 0 ] || drip+='; sleep 20'
	"$1" "$2" "${idle[@]}" "${@:5}" -- sh -c "$drip" "$3" "$4"
	wait_for dripped
	[ "$2" -eq 0 ] || wait_for told "retry: $silent"
}

dripped() {
	has_line 'drip 5' out || has_line 'drip 5' err
}

# outlet KIND COMMAND...: COMMAND with a socket as its output
outlet() {
	"$PYTHON" -IS -c 'if True:
		import os, socket, sys
		kind = getattr(socket, sys.argv[1])
		ours, theirs = socket.socketpair(type=kind)
		os.dup2(theirs.fileno(), 1)
		sys.exit(os.spawnvp(os.P_WAIT, sys.argv[2], sys.argv[2:]))' "$@"
}

# bats test_tags=slow
@test "output of the command and a wait for its reader are no silence, all else is" {
	beside 'to a pipe, until it stops' dripping through 124 p 1
	beside 'errors to a pipe' dripping through 0 p 2
	beside 'to a file, until it stops' dripping is 124 f 1
	beside 'errors to a file' dripping is 0 f 2
	beside 'held' dripping is 0 f 1 -O
	beside 'searched' dripping is 0 p 1 -O --retry-on stdout:x
	beside 'to a socket' is 0 outlet SOCK_STREAM "${idle[@]}" -- sh -c "$drip" p 1
	beside 'to /dev/null' is 0 sh -c '"$@" >/dev/null 2>&1' sh "${idle[@]}" -- sh -c "$drip" p 1
	rows beside eval <<-'END'
	the same bytes of a file, over and over
	    is 0 sh -c '"$@" 1<>one' sh "${idle[@]}" -- "$PYTHON" -IS -c 'if True:
	        import os, time
	        for i in range(5):
	            os.pwrite(1, b"same\n", 0)
	            time.sleep(1)'
	    holds one same
	a socket for datagrams is refused
	    is 125 outlet SOCK_DGRAM "${idle[@]}" -- touch ran
	    told 'retry: --idle-timeout: cannot watch standard output: .*'
	    [ ! -e ran ]
	to a terminal, until it stops: else python would write all lines at its end
	    pty 124 -- "${idle[@]}" -- "$PYTHON" -IS -c 'if True:
	        import os, time
	        for i in range(1, 6):
	            time.sleep(1)
	            print("drip", i, os.isatty(1), os.isatty(2))
	        time.sleep(20)'
	    said 'drip 5 True True'
	    grep -qx "retry: $silent" out
	to two terminals, until it stops
	    pty 124 -- "$PYTHON" -IS -c 'if True:
	        import os, sys, threading, time
	        line, other = os.openpty()
	        def drain():
	            while os.read(line, 65536):
	                time.sleep(0.01) # not woken by each byte
	        threading.Thread(target=drain, daemon=True).start()
	        os.dup2(other, 2)
	        sys.exit(os.spawnvp(os.P_WAIT, sys.argv[1], sys.argv[1:]))' \
	        "${idle[@]}" -- "$PYTHON" -IS -c 'if True:
	        import os, time
	        for i in range(6000): # an event each
	            os.write(1, b".")
	            os.write(2, b".")
	        time.sleep(20)'
	    [ "$(wc -c <out)" -eq 6000 ]
	Ctrl-S has stopped the terminal
	    pty 0 see:ready 'type:^S' more:5 'type:^Q' see:'last line' -- \
	        "${idle[@]}" -- sh -c 'echo ready; sleep 1; echo "last line"'
	the reader is late, for more than fits
	    {
	        "${idle[@]}" -- head -c 1000000 /dev/zero || touch failed
	    } 3>&- | {
	        sleep 5
	        wc -c >out
	    }
	    said 1000000
	    [ ! -e failed ]
	the reader has taken all
	    {
	        "${idle[@]}" -- sh -c 'head -c 1000000 /dev/zero; sleep 20' 2>err ||
	            echo $? >got
	    } 3>&- | {
	        sleep 1
	        wc -c >out
	    }
	    [ "$(<got)" -eq 124 ]
	    said 1000000
	    told "retry: $silent"
	output and error output to one pipe stay in order
	    "$RETRY" -n 1 --idle-timeout 20 -- sh -c '
	        for i in $(seq 1000); do echo "out $i"; echo "err $i" >&2; done' \
	        2>&1 3>&- | cat >both
	    printf 'out %d\nerr %d\n' $(seq 1000 | sed p) | cmp - both
	retry was stopped
	    mkfifo go
	    exec 9<>go
	    start "${idle[@]}" -- sh -c ': >ready; read -r _ <go; echo done'
	    reached [ -e ready ]
	    kill -STOP -- "-$pid"
	    sleep 4.5
	    echo >&9
	    kill -CONT -- "-$pid"
	    ended 0
	    said 'done'
	noise from outside of the attempt
	    {
	        while [ ! -e over ]; do
	            echo noise
	            sleep 0.1
	        done &
	        "$RETRY" -n 1 --idle-timeout 0.5 -- sleep 9 2>>err || echo $? >got
	        touch over
	    } 3>&- | cat >/dev/null
	    [ "$(<got)" -eq 124 ]
	noise that an earlier attempt left
	    through 124 "$RETRY" -n 2 -d 0 --idle-timeout 0.5 -- sh -c '
	        [ "$RETRY_ATTEMPT" = 2 ] && exec sleep 20
	        { for i in $(seq 80); do sleep 0.1; echo noise; done; touch late; } &
	        exit 3'
	    [ ! -e late ]
	    wait_for told 'retry: attempt 2/2 ended after 0.5s without output, .*'
	END
}

# refused MESSAGE COMMAND...: on a terminal retry, which COMMAND runs, refuses it.
refused() {
	pty 125 -- "${@:2}" --idle-timeout 20 -- touch ran
	grep -q "retry: --idle-timeout: cannot watch standard $1" out
	[ ! -e ran ]
}

# accepted FILE COMMAND...: on a terminal retry, which COMMAND runs, does not
# refuse it, and its command writes to FILE.
accepted() {
	pty 0 -- "${@:2}" --idle-timeout 20 -- echo written
	has_line written "$1"
}

# bats test_tags=slow
@test "a terminal that cannot be watched is refused with 125, if it is used" {
	local piped=(bash -c 'set -o pipefail; "$@" | cat' bash)
	local both=(bash -c 'set -o pipefail; "$@" 2>&1 | cat' bash)
	inject inotify_add_watch:error=EACCES # no terminal can be watched
	beside 'both outputs' refused "output: Permission denied; command not run; use 2>&1 | cat, and script -qec 'COMMAND' /dev/null if the command needs a terminal" \
	    "${inject[@]}" "$RETRY"
	beside 'error output' refused 'error: Permission denied; ' \
	    "${piped[@]}" "${inject[@]}" "$RETRY"
	beside 'neither' accepted out "${both[@]}" "${inject[@]}" "$RETRY"
	beside 'files' accepted kept sh -c '"$@" >kept 2>&1' sh "${inject[@]}" "$RETRY"
	beside 'held' accepted out "${inject[@]}" "$RETRY" -OE
}

# bats test_tags=slow
@test "Ctrl-C ends a command that script gives a terminal" {
	command -v script >/dev/null || skip 'no script here'
	pty 130 see:ready 'type:^C' -- bash -c 'set -o pipefail; "$@" 2>&1 | cat' bash \
	    "$RETRY" --idle-timeout 20 --stop-on 130 -- script -qec \
	    'echo run >>runs; echo ready; sleep 20' /dev/null
	grep -q 'retry: attempt 1/5 failed (exit 130), giving up: --stop-on 130' out
	holds runs run
}
