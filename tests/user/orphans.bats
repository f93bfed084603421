#!/usr/bin/env bats
# Covers attempt/attempt, attempt/termination.
# --kill-orphans: what a failed attempt leaves in the background, and what is spared.
# shellcheck disable=SC2016,SC2034 # the rows and the commands' shells expand

load helper
load actor

usual=(--kill-orphans -d 0 -n 3)

# A command that leaves a process, says "alive" where that of the attempt before lives,
# and exits with its argument.
leaves='echo >>ran
	[ ! -e left ] || ! kill -0 "$(cat left)" 2>/dev/null || echo alive
	sleep 50 & echo $! >left
	exit $0'

@test "what a failed attempt has left ends before the next one, and at the end" {
	local left='has left 1 process, which --kill-orphans ends'
	rows beside eval <<-'END'
	each time
	    try status=7 runs=3 out='' says='attempt 1/3 failed (exit 7), retrying in 0s|attempt 2/3 failed (exit 7), retrying in 0s|attempt 3/3 failed (exit 7), giving up: attempts exhausted' sh -c "$leaves" 7
	    none_left
	with -v a message tells how much it was
	    try status=7 runs=1 says="attempt 1/1 $left|attempt 1/1 failed *" -v -n 1 sh -c "$leaves" 7
	    none_left
	    try status=7 says='attempt 1/1 failed *' -v -n 1 sh -c 'exit 7'
	    try status=7 says='attempt 1/1 has left 2 processes, *|attempt 1/1 failed *' -v -n 1 sh -c 'sleep 50 & sleep 50 & exit 7'
	    none_left
	whatever makes it the last attempt
	    try status=7 runs=1 --stop-on 7 sh -c "$leaves" 7
	    none_left
	    try status=1 runs=1 -n 1 --fail-on 0 sh -c "$leaves" 0
	    none_left
	    try status=7 runs=1 -T 50 -d 99 -j none sh -c "$leaves" 7
	    none_left
	    try status=7 runs=1 --retry-if false sh -c "$leaves" 7
	    none_left
	a signal killed the command
	    try status=137 runs=2 out='' -n 2 sh -c 'echo >>ran
	        [ ! -e left ] || ! kill -0 "$(cat left)" 2>/dev/null || echo alive
	        sleep 50 & echo $! >left; kill -KILL $$'
	    none_left
	before a hook, and before --retry-if
	    dead='kill -0 "$(cat left)" 2>/dev/null || echo dead'
	    try status=7 says='*> dead|*> dead*' -n 2 --on-retry "$dead" --retry-if "$dead" sh -c "$leaves" 7
	    none_left
	a process in a group of its own, and its children, and one that is stopped
	    try status=7 -n 1 bash -c 'set -m; sh -c "sleep 50 & sleep 50 & wait" & exit 7'
	    try status=7 -n 1 sh -c 'sh -c "kill -STOP \$\$" & exit 7'
	    none_left
	as process 1
	    isolate -p -f --mount-proc
	    under=("${isolate[@]}")
	    try status=7 runs=2 out='' -n 2 sh -c "$leaves" 7
	many side by side, each its own
	    seq 8 | exits 123 xargs -P 8 -n 1 sh -c '"$RETRY" -q --kill-orphans -d 0 -n 2 -B many --budget-dir . -- sh -c "echo >>ran; sleep 50 & exit 7"'
	    [ "$(lines ran)" -eq 16 ]
	    none_left
	END
}

@test "it gets the signal of --signal, and KILL after --kill-after, within the delay" {
	rows beside eval <<-'END'
	the signal
	    try status=7 -n 1 -s HUP -k 50 sh -c '"$ACTOR" listen 1 0 >said & until [ -s said ]; do sleep 0.1; done; exit 7'
	    has_line HUP said
	    none_left
	KILL
	    try status=7 ms=500 -n 1 -k 0.5 sh -c 'sh -c "trap \"\" TERM; echo >set; while :; do sleep 1; done" & until [ -e set ]; do sleep 0.1; done; exit 7'
	    none_left
	the next attempt waits for its end, and that is a part of the delay
	    try status=7 ms=4000 runs=2 -n 2 -d 4 -j none -k 3 --report report sh -c '
	        echo >>ran; rm -f set
	        sh -c "trap \"\" TERM; echo >set; while :; do sleep 1; done" &
	        until [ -e set ]; do sleep 0.1; done; exit 7'
	    none_left
	    read -r _ second < <(values started_ms)
	    [ "$second" -lt 6500 ]
	but it waits for as long as that takes
	    try status=7 ms=1000 runs=2 out='' -n 2 -k 1 sh -c '
	        echo >>ran; rm -f set
	        [ ! -e left ] || ! kill -0 "$(cat left)" 2>/dev/null || echo alive
	        sh -c "trap \"\" TERM; echo >set; while :; do sleep 0.5; done" & echo $! >left
	        until [ -e set ]; do sleep 0.1; done; exit 7'
	    none_left
	END
}

@test "it spares daemons, what was there before, and what a success has left" {
	rows beside eval <<-'END'
	a daemon
	    mkfifo made
	    try status=7 -n 1 sh -c '(setsid sh -c "echo \$\$ >daemon; echo >made; exec sleep 50" & :); read -r _ <made; exit 7'
	    spared daemon
	what retry had when it began
	    under=(sh -c 'sleep 50 & echo $! >before; exec "$@"' sh)
	    try status=7 runs=2 -n 2 sh -c 'echo >>ran; exit 7'
	    spared before
	a success
	    try runs=1 sh -c "$leaves" 0
	    spared left
	    try runs=1 --success-on 7 sh -c "$leaves" 7
	    spared left
	one after a failure, and one of several in a row
	    try runs=3 --consecutive 2 sh -c 'echo >>ran; sleep 50 & echo $! >"left$RETRY_ATTEMPT"; [ "$RETRY_ATTEMPT" != 1 ]'
	    gone "$(<left1)"
	    spared left2 left3
	without the option
	    usual=(-d 0 -n 3)
	    try status=7 runs=1 -n 1 sh -c "$leaves" 7
	    spared left
	    try status=7 runs=1 -n 1 --kill-orphans --no-kill-orphans sh -c "$leaves" 7
	    spared left
	a signal that ends retry comes during the attempt
	    try status=7 runs=1 sh -c 'trap "" TERM; echo >>ran; sleep 50 & echo $! >left; kill -TERM $PPID; sleep 0.2; exit 7'
	    spared left
	or while it ends what was left
	    start "$RETRY" --kill-orphans -v -k 50 -n 2 -- sh -c '
	        sh -c "trap \"\" TERM; echo \$\$ >left; echo >set; while :; do sleep 1; done" &
	        until [ -e set ]; do sleep 0.1; done; exit 7'
	    reached told 'retry: attempt 1/2 has left .*'
	    ended_by TERM
	    spared left
	END
}

@test "a file that an orphan has open is rewound, as there is none any more" {
	reads='echo >>ran; cat; exec 3<&0; sleep 50 <&3 & echo $! >left; exit 7'
	printf '%s\n' a b >file
	to '<file' try status=7 runs=2 out='a|b|a|b' -n 2 sh -c "$reads"
	none_left
	to '<file' try status=7 runs=1 says='*already consumed*' --no-kill-orphans sh -c "$reads"
	spared left
}

@test "--dry-run tells of the time that it may take, and a warning that none can be found" {
	"$RETRY" --dry-run --kill-orphans -k 2 | grep -q '^Not counted *kill grace *up to 2s an attempt$'
	[ -z "${RETRY_SAN-}" ] || skip 'the sanitizers need /proc'
	isolate -m
	under=("${isolate[@]}" sh -c 'mount -t tmpfs none /proc && exec "$@"' sh)
	"${under[@]}" true 2>/dev/null || skip 'no right to cover /proc here'
	try out=ran says='--kill-orphans: no /proc of this namespace, so none is found' echo ran
}
