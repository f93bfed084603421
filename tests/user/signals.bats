#!/usr/bin/env bats
# Covers sys/signals, attempt/event_loop, run.
# Signals: which of them reach the command, and which end the series.
# shellcheck disable=SC2034 # rows read it

load helper
load actor

under=("$ACTOR" fresh)

in_attempt() {
	[ -e ready ] || said ready
}

# state PATTERN: the status of retry in /proc is like this
state() {
	local text
	{ IFS= read -rd '' text <"/proc/${2-$pid}/status" || :; } 2>/dev/null
	# shellcheck disable=SC2053 # a pattern
	[[ $text == $1 ]]
}

in_delay() {
	told '.*retrying in .*'
}

# heard [NAME]...: the signals that came to the command, in order.
heard() {
	holds out ready "$@"
}

# In any order: these are sorted.
heard_all() {
	LC_ALL=C sort out >sorted
	holds sorted "$@" ready
}

ends_series() {
	sent "$1" 3 in_attempt "$RETRY" -v -d 0 -- "$ACTOR" listen 1 3
	heard "$1"
	reads err 'attempt 1/5 failed (exit 3), giving up: interrupted|ended after 1 attempt in *: interrupted'
}

fault() {
	sent "$1" $((128 + $2)) in_attempt "$RETRY" -d 0 -- "$ACTOR" listen 1 3
	wait_for said TERM # by the kernel: its parent has died
	heard TERM
}

# What the manual says of each signal from 1 to 31: it ends the series; it is
# passed on; it is about a child of retry; or it is about retry itself, or cannot
# be caught (?). All others are passed on, also 34, which musl reserves for itself; 32
# and 33, which all libcs do, are not tried, because emulators reserve them, too.
manual='eee??????p?pppepcp?ppppppppppp?'

@test "each signal that is sent to retry does what the manual says" {
	local name
	for name in HUP INT QUIT TERM; do
			beside "$name reaches the command once, and ends the series" ends_series "$name"
	done
	for name in ABRT:6 SEGV:11 BUS:7 FPE:8 ILL:4 TRAP:5 SYS:31; do
		beside "${name%:*} is not passed on" fault "${name%:*}" "${name#*:}"
	done
	rows beside eval <<-'END'
	all others reach the command once, and the series goes on
	    [ "$(kill -l 10 16 17 19 31)" = $'USR1\nSTKFLT\nCHLD\nSTOP\nSYS' ]
	    [ "${#manual}" -eq 31 ]
	    start "$ACTOR" fresh env NUMBERS=1 "$RETRY" -v -n 2 -d 0 -- \
	        sh -c '[ "$RETRY_ATTEMPT" = 1 ] || exit 0; exec "$ACTOR" listen 48 3'
	    reached said ready
	    for number in {1..31} {34..64}; do
	        letter=${manual:number-1:1}
	        [[ ${letter:-p} == [cp] ]] || continue
	        kill -s "$number" "$pid"
	        [ "$letter" = c ] && continue
	        reached said "$number"
	        want+=("$number")
	    done
	    ended 0
	    heard "${want[@]}"
	    told 'retry: attempt 2/2 succeeded \(exit 0\)'
	real-time signals are queued
	    start "$ACTOR" fresh "$RETRY" -n 1 -- "$ACTOR" listen 5 0
	    reached said ready
	    for _ in {1..5}; do
	        kill -s RTMIN+1 "$pid"
	    done
	    ended 0
	    heard RTMIN+1 RTMIN+1 RTMIN+1 RTMIN+1 RTMIN+1
	END
}

@test "after TERM the status of retry is that of the command" {
	rows beside eval <<-'END'
	a success is one
	    sent TERM 0 in_attempt "$RETRY" -v -- "$ACTOR" listen 1 0
	    told 'retry: ended after 1 attempt in .*: succeeded'
	a status that counts as success is one
	    sent TERM 0 in_attempt "$RETRY" --success-on 3 -- "$ACTOR" listen 1 3
	    [ ! -s err ]
	where the command dies of TERM retry does, and no rule retries it
	    start "$ACTOR" fresh "$ACTOR" how "$RETRY" -d 0 --retry-on TERM -- \
	        sh -c 'echo "$PPID" >pid; exec sleep 20'
	    reached test -s pid
	    kill -TERM "$(<pid)"
	    ended 0
	    said 'killed TERM'
	    told 'retry: attempt 1/5 killed by SIGTERM, giving up: interrupted'
	where the command dies of RTMIN retry does
	    start "$ACTOR" fresh "$ACTOR" how "$RETRY" -q -n 1 -- bash -c 'kill -s 34 $$'
	    ended 0
	    said 'killed RTMIN+0'
	the command has sent it, which comes before a stop rule
	    try status=3 out=kept says='attempt 1/1 failed (exit 3), giving up: interrupted' \
	        -n 1 --stop-on 3 -- "$ACTOR" answer TERM
	USR1 or RTMIN+1 that the command has sent does not come back
	    under=()
	    try status=3 out=kept -n 1 -- "$ACTOR" answer USR1
	    try status=3 out=kept -n 1 -- "$ACTOR" answer RTMIN+1
	END
}

dies_in_delay() {
	start "$ACTOR" fresh "$ACTOR" how "$RETRY" -d 60 -j none -- \
	    sh -c 'echo "$PPID" >pid; exit 7'
	reached in_delay
	kill -s "$1" "$(<pid)"
	ended
	said "killed $1"
	reads err '+([!|])'
}

@test "HUP, INT, QUIT and TERM end a delay or the splay, and other signals do not" {
	beside 'QUIT in a delay: retry dies of it at once' dies_in_delay QUIT
	# retry has caught signals once all but faults and stops are blocked. With a new
	# glibc all are blocked before its exec, too.
	rows beside eval <<-'END'
	in the splay: nothing is run
	    sent INT 130 'state "Name:?retry*SigBlk:+([!S])ffff*"' "$RETRY" -v --splay 1h --seed 1 -- touch ran
	    [ ! -e ran ]
	    told 'retry: ended after 0 attempts in .*: interrupted'
	with -v the last line says so
	    sent TERM 143 in_delay "$RETRY" -v -d 60 -j none -- false
	    reads err 'attempt 1/5 *|ended after 1 attempt in *: interrupted'
	others are dropped
	    look_at_clock
	    before=$moment
	    start "$ACTOR" fresh "$RETRY" -d 1s -j none -- "$ACTOR" fresh \
	        sh -c '[ "$RETRY_ATTEMPT" = 2 ]'
	    reached told '.*retrying in 1s'
	    for name in USR1 USR2 ALRM RTMIN+3; do
	        kill -s "$name" "$pid" || : # a machine that stalls is too late
	    done
	    ended 0
	    look_at_clock
	    ((moment - before >= 980))
	END
}

@test "TERM between two attempts prevents the second, even without a delay" {
	inject write:signal=TERM:when=1 # as the first line is written
	under+=("${inject[@]}")
	try status=143 runs=1 says='attempt 1/3 failed (exit 7), retrying in 0s|ended after 1 attempt in *: interrupted' \
	    -v -n 3 -d 0 -- sh -c 'echo >>ran; exit 7'
}

# Signals that strace injects come from the kernel, as those of a terminal do.
# retry's second sigpending(2) is right before the fork; on a very slow machine it
# is in a wait before that, and then retry dies of the signal. retry hears of it in
# its first ppoll(2), which is held up until the command can hear it, too.
@test "a Ctrl-C right before the command begins reaches it, once" {
	local tries=0
	inject 'rt_sigpending:signal=INT:when=2'
	inject+=(-e 'inject=ppoll:delay_enter=300000:when=1')
	until is 3 "$ACTOR" fresh "${inject[@]}" "$RETRY" -n 2 -d 0 -- "$ACTOR" listen 1 3; do
		[ ! -s out ]
		((++tries < 20))
	done
	heard INT
}

# ignores COMMAND NAME...: retry, which COMMAND runs, ignores these signals, and its
# command hears of them, which it would ignore, too. The second attempt shows that.
ignores() {
	local name names=("${@:2}")
	start "$ACTOR" fresh sh -c "$1" sh "$RETRY" -d 0 -- sh -c '
		[ "$RETRY_ATTEMPT" = 1 ] || exec "$ACTOR" mask
		exec "$ACTOR" listen "$1" 3' sh $#
	reached said ready
	wait_for test -s pid
	for name in "${names[@]}" USR1; do
		kill -s "$name" "$(<pid)"
	done
	ended 0
	heard_all "${names[@]}" USR1 "${names[@]/#/ignored }"
}

@test "a signal that is ignored on entry stays ignored by retry and by the command" {
	rows beside eval <<-'END'
	nohup
	    ignores 'echo $$ >pid; exec nohup "$@"' HUP
	nohup, in a delay
	    sent TERM 143 'in_delay && kill -HUP "$pid"' nohup "$RETRY" -d 60 -j none -- false
	a background job of a script
	    ignores '"$@" & echo $! >pid; wait $!' INT QUIT
	all: nothing but KILL ends it
	    start "$ACTOR" ignoring HUP "$ACTOR" ignoring INT "$ACTOR" ignoring QUIT \
	        "$ACTOR" ignoring TERM "$RETRY" -d 0 -n 2 -- \
	        sh -c '[ "$RETRY_ATTEMPT" = 1 ] || exit 0; exec "$ACTOR" listen 5 3'
	    reached said ready
	    for name in HUP INT QUIT TERM; do kill -s "$name" "$pid"; done
	    ended_by USR1 0
	    heard_all HUP INT QUIT TERM USR1
	CHLD
	    under=("$ACTOR" ignoring CHLD)
	    try out='*ignored CHLD*' "$ACTOR" mask
	    try status=7 runs=3 -n 3 -d 0 -- sh -c 'echo >>ran; exit 7'
	    try status=124 -n 1 -t 0.1 -- sleep 20
	RTMIN
	    under=("$ACTOR" ignoring 34)
	    try out='*ignored RTMIN+0*' "$ACTOR" mask
	    rm out
	    start "${under[@]}" "$RETRY" -- "$ACTOR" listen 2 0
	    reached said ready
	    kill -s 34 "$pid"
	    ended_by USR1 0
	    heard_all RTMIN+0 USR1
	END
}

@test "a signal that is ignored on entry reaches a command that handles it, and ends nothing" {
	start "$ACTOR" ignoring HUP "$ACTOR" ignoring TERM "$ACTOR" ignoring TSTP "$RETRY" -n 1 \
	    "$PYTHON" -IS -c '
import signal, time
left = {signal.SIGHUP, signal.SIGTERM, signal.SIGTSTP}
for one in list(left):
    signal.signal(one, lambda number, frame: left.discard(number))
print("ready", flush=True)
while left:
    time.sleep(0.01)
print("heard all")'
	wait_for has ready out
	for name in HUP TERM TSTP; do
		kill -s "$name" "$pid"
	done
	ended 0
	has_line 'heard all' out
}

@test "a timer that retry has inherited ends it" {
	under=("$PYTHON" -IS -c 'import os, signal, sys
signal.setitimer(signal.ITIMER_REAL, 0.5)
os.execv(sys.argv[1], sys.argv[1:])')
	try status=142 runs=1 -n 3 -d 0 -- sh -c 'echo >>ran; exec sleep 60'
	try status=142 runs=1 -n 3 -d 60 -j none -- sh -c 'echo >>ran; exit 3'
	# One that is sent is passed on.
	under=()
	try status=0 runs=2 -n 3 -d 0 -- sh -c 'echo >>ran; [ "$RETRY_ATTEMPT" = 2 ] || kill -ALRM $$'
}

@test "what is blocked on entry is so in the command, and what is pending was sent to retry" {
	rows row eval <<-'END'
	all are blocked, and limits work
	    under=("$ACTOR" blocking)
	    try status=124 -n 1 -t 0.1 -k 0.1 -- sleep 20
	    mask=$(exec "$ACTOR" blocking "$ACTOR" mask)
	    try out="${mask//$'\n'/|}" "$ACTOR" mask
	TERM is pending
	    under=("$ACTOR" pending TERM)
	    try status=143 runs=0 -- sh -c 'echo >>ran'
	RTMIN is pending
	    under=("$ACTOR" pending 34)
	    try runs=1 -- sh -c 'echo >>ran'
	END
}

# stopped PID...: each of these processes is stopped.
stopped() {
	local one
	for one; do
		state $'*\nState:\t[Tt]*' "$one" || return
	done
}

# pause SECONDS: stops retry, and lets it go on after so long, for a moment
pause() {
	kill -STOP "$pid"
	sleep "$1"
	kill -CONT "$pid"
	sleep 0.1
}

# halted NAME WHOM: for longer than a limit of 4 s, WHOM is stopped by this signal,
# while retry's command waits for ./go. Another signal that comes meanwhile does
# not shorten the attempt. A limit is longer than a machine stalls.
halted() {
	mkfifo go
	start "$ACTOR" fresh "$RETRY" -n 1 -t 4 -- sh -c '
		trap "" USR1
		echo $$ >process
		read -r line <go
		exit 5'
	reached test -s process
	kill -s "$1" -- "${2/PID/$pid}"
	wait_for stopped "$pid"
	[ "$1" = STOP ] || wait_for stopped "$(<process)"
	kill -USR1 "$pid"
	sleep 4.2
	kill -CONT -- "${2/PID/$pid}"
	sleep 0.1
	echo 1<>go
	ended 5
}

# bats test_tags=slow
@test "the time for which retry was stopped counts for the deadline, and for no other limit" {
	beside 'TSTP to retry alone' halted TSTP PID
	beside 'STOP to the job' halted STOP -PID
	# What retry relays at its work is never all read: its wait is over at once.
	rows beside eval <<-'END'
	STOP at its work
	    mkfifo go
	    start sh -c 'exec "$@" >/dev/null' sh "$RETRY" -n 1 -t 4 --fail-on stdout:nosuch -- \
	        sh -c 'yes & echo >ready; read -r line <go; kill $!'
	    reached test -e ready
	    pause 4.2
	    pause 4.2
	    echo 1<>go
	    ended 0
	the deadline is not
	    start "$RETRY" -T 3 -- sh -c 'echo >ready; exec sleep 20'
	    reached test -e ready
	    pause 3.2
	    ended 124
	    told 'retry: attempt 1 ended by the deadline after .*, giving up: deadline'
	END
}

stops() {
	under+=("${@:2}")
	try status=124 -n 1 -t 0.3 -- sh -c "kill -$1 \$\$; exec sleep 20"
}

@test "where a command stops and no shell waits, its limit ends it" {
	# Nobody could continue an orphaned group.
	beside STOP stops STOP
	beside 'TSTP, in a session of its own' stops TSTP setsid -w
	beside 'TSTP to retry, whose command ignores it' sent TSTP 124 in_attempt \
	    "$RETRY" -n 1 -t 3 -- sh -c 'trap "" TSTP; echo >ready; exec sleep 20'
}

# flooded SIGNAL SAYS OPTION... -- COMMAND: retry, which gets the signal in each wait, ends
flooded() {
	start strace -qq -o /dev/null -e "inject=ppoll:signal=$1:delay_exit=2000" \
		"$RETRY" -j none "${@:3}"
	ended
	reads err "$2"
}

# bats test_tags=slow
@test "a flood of signals puts off neither a limit nor a retry" {
	inject ppoll:signal=CONT:delay_exit=2000
	beside 'CONT, and a timeout' flooded CONT 'attempt 1/1 timed out *' -n 1 -t 1 sleep 60
	beside 'a real-time signal, and a delay' flooded 40 '*|attempt 2/2 *, giving up: *' \
	    -n 2 -d 1 false
}

# The delay is long enough for a machine that stalls.
@test "what TSTP or STOP has stopped CONT continues" {
	rows beside eval <<-'END'
	TSTP to retry in a delay
	    start "$ACTOR" fresh "$RETRY" -d 3s -j none -- sh -c '[ "$RETRY_ATTEMPT" = 2 ]'
	    reached told '.*retrying in 3s'
	    kill -s TSTP "$pid"
	    wait_for stopped "$pid"
	    ended_by CONT 0
	STOP to the command
	    start "$RETRY" -n 1 -- sh -c 'echo $$ >pid; kill -STOP $$; exit 5'
	    reached test -s pid
	    wait_for stopped "$(<pid)"
	    kill -CONT "$(<pid)"
	    ended 5
	END
}

@test "a Ctrl-Z while the command is loaded stops both" {
	"$PYTHON" -IS - "$RETRY" <<-'END'
		import os, random, signal, subprocess, sys, time
		def state(pid):
		    with open("/proc/%d/stat" % pid) as file:
		        return file.read().rpartition(")")[2].split()[0]
		words = [sys.argv[1], "-q", "-n", "1", "--", "sleep", "0.02"]
		stopped = 0
		for _ in range(100):
		    one = subprocess.Popen(words, preexec_fn=lambda: os.setpgid(0, 0))
		    time.sleep(random.uniform(0, 0.004))
		    os.killpg(one.pid, signal.SIGTSTP)
		    end = time.monotonic() + 20
		    while (seen := state(one.pid)) not in "TZ" and time.monotonic() < end:
		        time.sleep(0.001)
		    stopped += seen == "T"
		    os.killpg(one.pid, signal.SIGCONT)
		    if seen not in "TZ" or one.wait() != 0:
		        os.killpg(one.pid, signal.SIGKILL)
		        sys.exit("%s is left, %s" % (seen, one.wait()))
		assert stopped > 9, stopped
	END
}

@test "KILL leaves nothing of the group, and of retry alone gives its command -s" {
	rows beside eval <<-'END'
	the command is in the group and the session of retry
	    start "$RETRY" -- sh -c 'echo $$ >pid; exec sleep 20'
	    reached test -s pid
	    read -ra its <"/proc/$pid/stat"
	    read -ra own <"/proc/$(<pid)/stat"
	    [ "${its[*]:4:4}" = "${own[*]:4:4}" ]
	    ended_by TERM 143
	to the group, with a limit and without
	    for limit in 60 0; do
	        start "$RETRY" -t "$limit" -- sh -c 'sleep 20 & : >ready; exec sleep 20'
	        reached test -e ready
	        kill -KILL -- "-$pid"
	        wait_for none_left
	        rm ready
	    done
	to retry alone
	    sent KILL 137 in_attempt "$RETRY" -- "$ACTOR" listen 1 0
	    wait_for said TERM
	to retry alone, -s RTMIN+2
	    sent KILL 137 in_attempt "$RETRY" -s RTMIN+2 -- "$ACTOR" listen 1 0
	    wait_for said RTMIN+2
	to retry alone: its hook gets TERM, whatever -s says
	    start "$RETRY" -s USR1 -d 60 --on-retry 'exec "$ACTOR" listen 1 0 >heard' -- false
	    reached has_line ready heard
	    kill -KILL "$pid"
	    ended
	    wait_for has_line TERM heard
	END
}

# children N: process $one has N children, zombies included.
children() {
	local all=()
	read -ra all <"/proc/$one/task/$one/children" || : # it has no newline
	[ "${#all[@]}" -eq "$1" ]
}

# What leaves three orphans, which die after that many seconds.
orphans='for i in 1 2 3; do (sleep "$0" & :); done
	'

# reaps N WHERE COMMAND...: WHERE it has that many children in the end. As PID 1
# retry is $one, a child of what was started.
reaps() {
	start "${@:3}"
	reached "$2"
	one=$pid
	[ -z "${isolate-}" ] || foretold
	reached children "$1"
	kill -TERM "$one"
	ended 143
}

# Six attempts. Each writes into ./counts how many children retry has, and leaves
# three zombies, which no shell would wait for any more. Some children of the
# attempt before may have died late, but not all.
tidies() {
	is 124 "$@" -q -n 6 -d 0 -- sh -c '
		read -r children </proc/$PPID/task/$PPID/children
		set -- $children
		echo $# >>counts
		for i in 1 2 3; do : & done
		exec timeout 0.05 sleep 20'
	reads counts '@([1-4][|])@([1-4][|])@([1-4][|])@([1-4][|])@([1-4][|])@([1-4])'
}

@test "retry reaps the orphans that it adopts, and takes none for its command" {
	local here=("$ACTOR" fresh "$RETRY") delay=(-d 60 -j none)
	local adopts=("$ACTOR" reaper "${here[@]}")
	rows beside eval <<-'END'
	a child of the shell before, without a limit and with one
	    for limit in 0 20; do
	        is 7 sh -c 'sh -c "sleep 0.1; exit 9" & exec "$@"' sh \
	            "$RETRY" -n 1 -t "$limit" -- sh -c 'sleep 0.3; exit 7'
	    done
	a child of the shell before is reaped, another spared
	    reaps 1 in_delay "$ACTOR" fresh sh -c 'sleep 0.5 & sleep 20 & echo $! >elder
	        exec "$RETRY" -d 60 -j none -- false'
	    not gone "$(<elder)"
	    kill -KILL "$(<elder)"
	END
	beside 'with a limit, in a delay' reaps 0 in_delay \
	    "${here[@]}" -t 20 "${delay[@]}" -- sh -c "${orphans}false" 0.5
	beside 'in an attempt' reaps 1 in_attempt "${adopts[@]}" -n 1 -- \
	    sh -c "${orphans}echo >ready; exec sleep 20" 0.1
	beside 'zombies do not pile up' tidies "$ACTOR" reaper "$RETRY"
}

# foretold: what was started has a child, $one, which is PID 1.
foretold() {
	read -r one <"/proc/$pid/task/$pid/children" || :
	[ -n "$one" ]
}

# first STATUS NAME WHERE WORD...: retry with these words, PID 1, is sent a signal
# and ends with STATUS.
first() {
	start "${here[@]}" "${@:4}"
	reached foretold
	reached "$3"
	kill -s "$2" "$one"
	ended "$1"
}

@test "as PID 1 retry passes signals on, does not stop, and reaps orphans" {
	local here delay=(-d 60 -j none)
	isolate -p -f --mount-proc
	here=("$ACTOR" fresh "${isolate[@]}" "$RETRY")
	beside 'INT ends a delay' first 130 INT in_delay "${delay[@]}" -- false
	beside 'TSTP does not stop it' first 124 TSTP in_attempt -n 1 -t 3 -- \
	    sh -c 'touch ready; kill -STOP $$; exec sleep 20'
	rows beside eval <<-'END'
	TERM reaches the command
	    first 3 TERM in_attempt -n 2 -- "$ACTOR" listen 1 3
	    heard TERM
	    told '.* failed \(exit 3\), giving up: interrupted'
	where the command dies of a signal it exits like that
	    is 137 "${here[@]}" -n 1 -- sh -c 'kill -KILL $$'
	an orphan that dies with the command is not the command
	    is 7 "${here[@]}" -n 1 -- sh -c '(exit 9 & :); (exit 8 & :); sleep 0.05; exit 7'
	END
	beside 'reaps in an attempt' reaps 1 in_attempt "${here[@]}" -n 1 -- \
	    sh -c "${orphans}echo >ready; exec sleep 20" 0.1
	# unshare(1) without -f is not in the new namespace; its children are.
	isolate -p
	# retry is outside, and its command PID 1.
	under=("${isolate[@]}")
	table try <<-'END'
		status=7 out='ran as 1' -n 1 -- sh -c 'echo ran as $$; exit 7'
		-n 2 -d 0 -- true
		status=124 -n 1 -t 0.3 -k 0.1 -- sleep 20
	END
}
