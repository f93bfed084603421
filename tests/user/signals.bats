#!/usr/bin/env bats
# Covers sys/signals, attempt/event_loop, finish.
# Signals: which of them reach the command, and which end the series.

# shellcheck disable=SC2016 # what is quoted is for another shell
# shellcheck disable=SC2030,SC2031 # each test has a shell of its own
# shellcheck disable=SC2154 # start sets pid, ended sets status

load helper
load actor

# listening SIGNAL [OPTION]...: retry's command listens for one signal, ends
# with status 3 on the first attempt and 0 on the second; SIGNAL is sent to
# retry alone. Sets $status.
listening()
{
	local name=$1
	shift
	rm -f out err
	start "$ACTOR" fresh "$RETRY" -v -d 0 "$@" -- sh -c '
		[ "$RETRY_ATTEMPT" = 1 ] || exit 0
		exec "$ACTOR" listen 1 3'
	reached said ready
	kill -s "$name" "$pid"
	ended
}

# heard [NAME]...: the signals that came to the command, in order.
heard()
{
	diff <(printf '%s\n' ready "$@") out
}

# delayed [OPTION]... : retry is in a delay of a minute.
delayed()
{
	start "$@" -d 60 -j none -- sh -c 'echo "$PPID" >pid; exit 7'
	reached told '.*retrying in .*'
}

# children N: process $one has N children, zombies included.
children()
{
	[ "$(wc -w <"/proc/$one/task/$one/children")" -eq "$1" ]
}

# bats test_tags=slow
@test "a signal sent to retry reaches the command, once" {
	local name
	for name in HUP INT QUIT TERM USR1 USR2 ALRM WINCH CONT; do
		listening "$name"
		heard "$name"
	done
}

@test "a real-time signal sent to retry reaches the command" {
	listening RTMIN+3
	heard RTMIN+3
	# Some libcs use the first real-time signals themselves.
	listening RTMIN
	heard RTMIN+0
}

@test "real-time signals reach the command each time they are sent" {
	start "$ACTOR" fresh "$RETRY" -n 1 -- "$ACTOR" listen 5 0
	reached said ready
	for _ in 1 2 3 4 5; do
		kill -s RTMIN+1 "$pid"
	done
	ended
	[ "$status" -eq 0 ]
	heard RTMIN+1 RTMIN+1 RTMIN+1 RTMIN+1 RTMIN+1
}

@test "HUP, INT, QUIT and TERM end the series, with the command's status" {
	local name
	for name in HUP INT QUIT TERM; do
		listening "$name"
		[ "$status" -eq 3 ]
		told 'retry: attempt 1/5 failed \(exit 3\), giving up: interrupted'
		told 'retry: ended after 1 attempt in .*: interrupted'
	done
}

# bats test_tags=slow
@test "USR1, USR2, ALRM, WINCH, CONT and a real-time signal do not end the series" {
	local name
	for name in USR1 USR2 ALRM WINCH CONT RTMIN+3; do
		listening "$name"
		[ "$status" -eq 0 ]
		told 'retry: attempt 2/5 succeeded \(exit 0\)'
	done
}

@test "a success after TERM is a success" {
	start "$ACTOR" fresh "$RETRY" -v -- "$ACTOR" listen 1 0
	reached said ready
	kill -TERM "$pid"
	ended
	[ "$status" -eq 0 ]
	told 'retry: ended after 1 attempt in .*: succeeded'
}

@test "a status that counts as success does so after TERM too" {
	start "$ACTOR" fresh "$RETRY" --success-on 3 -- "$ACTOR" listen 1 3
	reached said ready
	kill -TERM "$pid"
	ended
	[ "$status" -eq 0 ]
	[ ! -s err ]
}

@test "where the command dies of a TERM that was passed on, retry dies of it too" {
	start "$ACTOR" fresh "$ACTOR" how "$RETRY" -- \
	    sh -c 'echo "$PPID" >pid; exec sleep 20'
	reached test -s pid
	kill -TERM "$(<pid)"
	ended
	said 'killed TERM'
	told 'retry: attempt 1/5 killed by SIGTERM, giving up: interrupted'
}

@test "a rule to retry a signal does not apply where retry itself was sent it" {
	start "$ACTOR" fresh "$RETRY" -d 0 --retry-on TERM -- \
	    sh -c 'echo >>ran; exec sleep 20'
	reached test -s ran
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	[ "$(lines ran)" -eq 1 ]
	told '.* killed by SIGTERM, giving up: interrupted'
}

@test "HUP, INT, QUIT and TERM in a delay: retry dies of the signal at once" {
	local name
	for name in HUP INT QUIT TERM; do
		rm -f pid out err
		delayed "$ACTOR" fresh "$ACTOR" how "$RETRY"
		kill -s "$name" "$(<pid)"
		ended
		said "killed $name"
		[ "$(lines err)" -eq 1 ]
	done
}

@test "with -v the last line names a signal that came in a delay" {
	delayed "$ACTOR" fresh "$RETRY" -v
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	[[ $(tail -n 1 err) == \
	    'retry: ended after 1 attempt in '*': interrupted' ]]
	[ "$(lines err)" -eq 2 ]
}

@test "HUP, INT, QUIT and TERM in the splay end it before the first attempt" {
	local name
	for name in HUP INT QUIT TERM; do
		rm -f err
		start "$ACTOR" fresh "$RETRY" -v --splay 1h --seed 1 -- touch ran
		# Caught once all but faults and stops are blocked.
		reached grep -q '^SigBlk:.*ffff' "/proc/$pid/status"
		kill -s "$name" "$pid"
		ended
		[ "$status" -eq $((128 + $(kill -l "$name"))) ]
		[ ! -e ran ]
		told 'retry: ended after 0 attempts in .*: interrupted'
	done
}

@test "TERM between two attempts prevents the second, even without a delay" {
	inject write:signal=TERM:when=1 # as the first line is written
	is 143 "$ACTOR" fresh "${inject[@]}" "$RETRY" -v -n 3 -d 0 -- \
	    sh -c 'echo >>ran; exit 7'
	[ "$(lines ran)" -eq 1 ]
	[ "$(grep -c ^retry: err)" -eq 2 ]
	told 'retry: attempt 1/3 failed \(exit 7\), retrying in 0s'
	told 'retry: ended after 1 attempt in .*: interrupted'
}

# Signals that strace injects come from the kernel, as those of a terminal do.
# retry's second sigpending(2) is right before the fork; on a very slow machine it
# is in a wait before that, and then retry dies of the signal.
@test "a Ctrl-C right before the command begins reaches it, once" {
	local tries=0
	inject 'rt_sigpending:signal=INT:when=2'
	until is 3 "$ACTOR" fresh "${inject[@]}" "$RETRY" -n 2 -d 0 -- \
	    "$ACTOR" listen 1 3; do
		[ ! -s out ]
		((++tries < 20))
	done
	heard INT
}

@test "USR1, USR2, ALRM and a real-time signal in a delay are dropped" {
	local before name
	before=$(now)
	start "$ACTOR" fresh "$RETRY" -d 1s -j none -- "$ACTOR" fresh \
	    sh -c '[ "$RETRY_ATTEMPT" = 2 ]'
	reached told '.*retrying in 1s'
	for name in USR1 USR2 ALRM RTMIN+3; do
		kill -s "$name" "$pid"
	done
	ended
	[ "$status" -eq 0 ]
	[ "$(($(now) - before))" -ge 980 ]
}

@test "a signal that nohup has ignored stays ignored by retry and by the command" {
	start "$ACTOR" fresh nohup "$RETRY" -d 0 -- sh -c '
		[ "$RETRY_ATTEMPT" = 1 ] || exec "$ACTOR" mask
		exec "$ACTOR" listen 1 3'
	reached said ready
	kill -HUP "$pid"
	kill -USR1 "$pid"
	ended
	[ "$status" -eq 0 ]
	heard USR1 'ignored HUP'
}

@test "a signal that nohup has ignored does not end a delay" {
	delayed "$ACTOR" fresh nohup "$RETRY"
	kill -HUP "$pid"
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
}

@test "a job in the background of a script ignores INT and QUIT" {
	start "$ACTOR" fresh bash -c '"$RETRY" -d 0 -- sh -c '\''
		[ "$RETRY_ATTEMPT" = 1 ] || exec "$ACTOR" mask
		exec "$ACTOR" listen 1 3'\'' & echo $! >pid; wait $!'
	reached said ready
	kill -INT "$(<pid)"
	kill -QUIT "$(<pid)"
	kill -USR1 "$(<pid)"
	ended
	[ "$status" -eq 0 ]
	heard USR1 'ignored INT' 'ignored QUIT'
}

@test "with every signal ignored on entry nothing but KILL ends it" {
	local name
	start "$ACTOR" ignoring HUP "$ACTOR" ignoring INT \
	    "$ACTOR" ignoring QUIT "$ACTOR" ignoring TERM "$RETRY" -d 0 -n 2 \
	    -- sh -c '[ "$RETRY_ATTEMPT" = 2 ] || exec "$ACTOR" listen 1 3'
	reached said ready
	for name in HUP INT QUIT TERM USR1; do
		kill -s "$name" "$pid"
	done
	ended
	[ "$status" -eq 0 ]
	heard USR1
}

@test "SIGCHLD ignored on entry is ignored in the command, and changes nothing else" {
	"$ACTOR" ignoring CHLD "$RETRY" "$ACTOR" mask >through
	grep -qx 'ignored CHLD' through
	is 7 "$ACTOR" ignoring CHLD "$RETRY" -n 3 -d 0 -- \
	    sh -c 'echo ran; exit 7'
	[ "$(lines out)" -eq 3 ]
	is 124 "$ACTOR" ignoring CHLD "$RETRY" -n 1 -t 0.1 -- sleep 20
}

@test "signals blocked on entry are blocked in the command, and limits work" {
	"$ACTOR" blocking "$ACTOR" mask >direct
	"$ACTOR" blocking "$RETRY" "$ACTOR" mask >through
	grep -qx 'blocked TERM' through
	diff direct through
	is 124 "$ACTOR" blocking "$RETRY" -n 1 -t 0.1 -k 0.1 -- sleep 20
}

# To the kernel, the signals that a libc uses itself are like any other.
kept='32 33 34'

@test "retry dies of a signal that libcs use themselves if the command does" {
	local number
	for number in $kept; do
		# make(1) may have left them ignored.
		is 0 "$ACTOR" fresh "$ACTOR" how "$RETRY" -d 0 -n 2 -- \
		    "$ACTOR" die "$number"
		is 0 "$ACTOR" fresh "$ACTOR" how "$ACTOR" die "$number"
	done
	[ "$(grep -c ^killed out)" -eq 6 ]
	[ "$(grep ^killed out | sort -u | wc -l)" -eq 3 ]
}

@test "a signal that libcs use themselves stays ignored if it was" {
	local number
	for number in $kept; do
		rm -f out
		start "$ACTOR" fresh "$ACTOR" ignoring "$number" "$RETRY" -n 1 \
		    -- "$ACTOR" listen 1 0
		reached said ready
		kill -s "$number" "$pid"
		kill -s USR1 "$pid"
		ended
		heard USR1
	done
}

@test "a limit can send a signal that libcs use themselves" {
	local number
	for number in $kept; do
		is 124 "$RETRY" -n 1 -t 0.5 -k 0.5 -s "$number" -- \
		    "$ACTOR" listen 1 3
	done
	said 32
	said 33
	said RTMIN+0
}

#
# Pending on entry: the signal is blocked, or it would have been delivered
#

@test "a signal that is blocked and pending on entry is so in the command too" {
	local name
	for name in HUP TERM USR1 CHLD TSTP SEGV 32 40; do
		"$ACTOR" pending "$name" "$ACTOR" mask >direct
		"$ACTOR" pending "$name" "$RETRY" -d 0 "$ACTOR" mask >through
		grep -q ^pending direct
		diff direct through
	done
}

@test "TERM that is pending on entry ends the command, and with it the series" {
	is 143 "$ACTOR" pending TERM "$RETRY" -n 3 -d 0 -- \
	    sh -c 'echo >>ran; exec "$ACTOR" fresh sleep 20'
	[ "$(lines ran)" -eq 1 ]
	told '.* killed by SIGTERM, giving up: interrupted'
}

@test "TERM that is pending on entry ends the series where the command fails" {
	is 3 "$ACTOR" pending TERM "$RETRY" -n 3 -d 0 -- \
	    sh -c 'echo >>ran; exit 3'
	[ "$(lines ran)" -eq 1 ]
	told '.* failed \(exit 3\), giving up: interrupted'
	is 0 "$ACTOR" pending TERM "$RETRY" -n 3 -d 0 -- true
	is 0 "$ACTOR" pending TERM "$ACTOR" ignoring TERM "$RETRY" -q -d 0 -- \
	    sh -c '[ "$RETRY_ATTEMPT" = 2 ]'
}

@test "a signal that was pending on entry reaches one attempt only" {
	"$ACTOR" pending USR1 "$RETRY" -n 2 -d 0 -- "$PYTHON" -IS -c '
import signal, sys
print(len(signal.sigpending()))
sys.exit(7)' >pending 2>/dev/null || :
	printf '%s\n' 1 0 | diff - pending
}

@test "a signal that the command sends to its parent is not passed on to it" {
	is 3 "$RETRY" -n 1 -- "$ACTOR" answer USR1
	is 3 "$RETRY" -n 1 -- "$ACTOR" answer RTMIN
	[ "$(lines out)" -eq 2 ]
	[ "$(sort -u out)" = kept ]
}

@test "TERM that the command sends to its parent ends the series" {
	is 3 "$ACTOR" fresh "$RETRY" -d 0 -- "$ACTOR" answer TERM
	said kept
	told 'retry: attempt 1/5 failed \(exit 3\), giving up: interrupted'
}

@test "SEGV and other faults, sent to retry, are not passed on" {
	local name
	for name in SEGV BUS FPE ILL TRAP SYS; do
		listening "$name"
		[ "$status" -eq $((128 + $(kill -l "$name"))) ]
		wait_for said TERM # by the kernel: its parent has died
		heard TERM
	done
}

@test "ABRT, sent to retry, does not reach the command" {
	start "$ACTOR" fresh "$RETRY" -n 1 -- "$ACTOR" listen 1 3
	reached said ready
	kill -s ABRT "$pid"
	ended
	[ "$status" -eq 134 ]
	wait_for said TERM # by the kernel: its parent has died
	heard TERM
}

# What the manual says of each signal from 1 to 31: it ends the series; it is
# passed on; it is about a child of retry; or it is about retry itself, or cannot
# be caught (?). All others are passed on.
manual='eee??????p?pppepcp?ppppppppppp?'

@test "each signal from 1 to 64 that is sent to retry does what the manual says" {
	local number letter
	[ "$(kill -l 10 16 17 19 31 | tr '\n' ' ')" = 'USR1 STKFLT CHLD STOP SYS ' ]
	[ "${#manual}" -eq 31 ]
	start "$ACTOR" fresh env NUMBERS=1 "$RETRY" -n 2 -d 0 -- \
	    sh -c '[ "$RETRY_ATTEMPT" = 1 ] || exit 0; exec "$ACTOR" listen 99 3'
	reached said ready
	for number in {1..64}; do
		letter=${manual:number-1:1}
		case ${letter:-p} in
		e | '?') continue ;;
		c)
			kill -s "$number" "$pid"
			continue
			;;
		esac
		kill -s "$number" "$pid"
		reached said "$number"
		echo "$number" >>want
	done
	# retry neither ended nor stopped, and nothing came twice.
	sed 1d out | diff want -
	[ "$(wc -l <want)" -eq 50 ]
	for number in 1 2 3 15; do
		kill -s "$number" "$pid"
		reached said "$number"
	done
	[ "$(sed 1d out | wc -l)" -eq 54 ]
	kill -KILL "$(tr -d ' ' <"/proc/$pid/task/$pid/children")"
	ended
	told '.*giving up: interrupted'
}

# stopped PID...: each of these processes is stopped.
stopped()
{
	local one
	for one; do
		grep -q '^State:.*T' "/proc/$one/status" || return
	done
}

# bats test_tags=slow
@test "TSTP, TTIN and TTOU to retry alone stop both, and that time counts for no limit" {
	local name
	for name in TSTP TTIN TTOU; do
		rm -f process go
		start "$ACTOR" fresh "$RETRY" -n 1 -t 2 -- sh -c 'echo $$ >process
			until [ -e go ]; do sleep 0.02; done; exit 5'
		reached test -s process
		kill -s "$name" "$pid"
		wait_for stopped "$pid" "$(<process)"
		sleep 2.2
		kill -s CONT "$pid"
		touch go
		ended
		[ "$status" -eq 5 ]
	done
}

@test "TSTP in a delay stops retry, and CONT continues it" {
	start "$ACTOR" fresh "$RETRY" -d 1s -j none -- \
	    sh -c '[ "$RETRY_ATTEMPT" = 2 ]'
	reached told '.*retrying in 1s'
	kill -s TSTP "$pid"
	wait_for stopped "$pid"
	kill -s CONT "$pid"
	ended
	[ "$status" -eq 0 ]
}

@test "where the command ignores TSTP retry does not stop, and its limit acts" {
	start "$ACTOR" fresh "$RETRY" -n 1 -t 1 -- sh -c 'trap "" TSTP
		touch ready; exec sleep 20'
	reached test -e ready
	kill -s TSTP "$pid"
	ended
	[ "$status" -eq 124 ]
}

@test "TSTP does not stop retry in an orphaned group, where nobody could continue it" {
	start "$ACTOR" fresh setsid -w "$RETRY" -n 1 -t 1 -- \
	    sh -c 'echo "$PPID" >pid; exec sleep 20'
	reached test -s pid
	kill -s TSTP "$(<pid)"
	ended
	[ "$status" -eq 124 ]
}

@test "a command that stops itself where no shell waits is ended by its limit" {
	local name
	for name in STOP TSTP TTIN TTOU; do
		is 124 "$ACTOR" fresh "$RETRY" -n 1 -t 0.3 -- \
		    sh -c "kill -$name \$\$; exec sleep 20"
		is 124 "$ACTOR" fresh setsid -w "$RETRY" -n 1 -t 0.3 -- \
		    sh -c "kill -$name \$\$; exec sleep 20"
	done
}

# bats test_tags=slow
@test "the time for which retry was stopped does not count for the timeout" {
	start "$RETRY" -n 1 -t 5 -- \
	    sh -c 'touch ready; until [ -e go ]; do sleep 0.02; done'
	reached test -e ready
	kill -STOP "$pid"
	sleep 5.5 # more than the limit
	kill -CONT "$pid"
	sleep 0.1
	touch go
	ended
	[ "$status" -eq 0 ]
}

# bats test_tags=slow
@test "nor does it if retry was stopped at its work" {
	# Its wait for what it relays here is over at once.
	start sh -c 'exec "$@" >/dev/null' sh "$RETRY" -n 1 -t 2 \
	    --fail-on stdout:nosuch -- sh -c '
		yes & touch ready; until [ -e go ]; do sleep 0.02; done; kill $!'
	reached test -e ready
	for _ in 1 2 3; do
		kill -STOP "$pid"
		sleep 2.1 # more than the limit
		kill -CONT "$pid"
		sleep 0.02
	done
	touch go
	ended
	[ "$status" -eq 0 ]
}

# bats test_tags=slow
@test "the time for which the whole job was stopped does not count for the timeout" {
	start "$RETRY" -n 1 -t 5 -- \
	    sh -c 'touch ready; until [ -e go ]; do sleep 0.02; done'
	reached test -e ready
	kill -STOP -- "-$pid"
	sleep 5.5
	kill -CONT -- "-$pid"
	sleep 0.1
	touch go
	ended
	[ "$status" -eq 0 ]
}

# bats test_tags=slow
@test "signals that come while retry is stopped do not shorten the attempt" {
	start "$ACTOR" fresh "$RETRY" -n 1 -t 5 -- sh -c '
		trap "" USR1
		touch ready
		until [ -e go ]; do sleep 0.02; done'
	reached test -e ready
	kill -STOP "$pid"
	kill -USR1 "$pid"
	sleep 5.5
	kill -CONT "$pid"
	sleep 0.1
	touch go
	ended
	[ "$status" -eq 0 ]
}

@test "a timeout is reached later by the time for which retry was stopped" {
	local before
	before=$(now)
	start "$RETRY" -n 1 -t 0.5 -- sh -c 'touch ready; exec sleep 20'
	reached test -e ready
	kill -STOP "$pid"
	sleep 1
	kill -CONT "$pid"
	ended
	[ "$status" -eq 124 ]
	[ "$(($(now) - before))" -ge 1480 ]
}

@test "the deadline is not put off by a stop of retry" {
	start "$RETRY" -T 1 -- sh -c 'touch ready; exec sleep 20'
	reached test -e ready
	kill -STOP "$pid"
	sleep 1.2
	kill -CONT "$pid"
	ended
	[ "$status" -eq 124 ]
	told 'retry: attempt 1 ended by the deadline after .*, giving up: deadline'
}

@test "a command that is stopped alone is ended by its timeout" {
	is 124 "$RETRY" -n 1 -t 0.3 -- sh -c 'kill -STOP $$; exec sleep 20'
}

@test "retry waits for a command that is stopped and continues" {
	start "$RETRY" -n 1 -- sh -c 'echo $$ >pid; kill -STOP $$; exit 5'
	reached test -s pid
	wait_for grep -q '^State:.*T' "/proc/$(<pid)/status"
	kill -CONT "$(<pid)"
	ended
	[ "$status" -eq 5 ]
}

# bats test_tags=slow
@test "the time for which retry was stopped does not count for --kill-after" {
	start "$RETRY" -n 1 -t 0.5 -k 2 -- sh -c '
		trap "echo asked; wait_for_go=yes" TERM
		until [ "$wait_for_go" ] && [ -e go ]; do sleep 0.02; done
		echo tidied'
	reached said asked
	kill -STOP "$pid"
	sleep 2.2 # more than the grace
	kill -CONT "$pid"
	sleep 0.1
	touch go
	ended
	[ "$status" -eq 124 ]
	said tidied
}

@test "KILL to the process group leaves nothing behind" {
	export MARK=$BATS_TEST_TMPDIR
	start "$RETRY" -t 60 -- sh -c 'sleep 20 & touch ready; sleep 20'
	reached test -e ready
	kill -KILL -- "-$pid"
	wait_for none_left "$MARK"
}

@test "KILL to the process group of an outer timeout leaves nothing behind" {
	export MARK=$BATS_TEST_TMPDIR
	is 137 timeout -s KILL 1 "$RETRY" -- sh -c 'touch ready; sleep 20; true'
	[ -e ready ]
	wait_for none_left "$MARK"
}

@test "KILL of retry alone gives its command TERM" {
	start "$RETRY" -- "$ACTOR" listen 1 0
	reached said ready
	kill -KILL "$pid"
	ended
	[ "$status" -eq 137 ]
	wait_for said TERM
}

@test "KILL of retry alone gives its command the signal of -s" {
	local name
	for name in USR1 HUP RTMIN+2; do
		rm -f out
		start "$RETRY" -s "$name" -- "$ACTOR" listen 1 0
		reached said ready
		kill -KILL "$pid"
		ended
		[ "$status" -eq 137 ]
		wait_for said "$name"
	done
}

@test "KILL of retry alone gives its hook TERM, whatever -s says" {
	start "$RETRY" -s USR1 -d 60 --on-retry 'exec "$ACTOR" listen 1 0 >heard' \
	    -- false
	reached grep -qsx ready heard
	kill -KILL "$pid"
	ended
	wait_for grep -qx TERM heard
}

@test "retry's command is in its process group and session" {
	start "$ACTOR" fresh "$RETRY" -- sh -c 'echo $$ >pid; exec sleep 20'
	reached test -s pid
	[ "$(cut -d ' ' -f 5-8 "/proc/$pid/stat")" = \
	    "$(cut -d ' ' -f 5-8 "/proc/$(<pid)/stat")" ]
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
}

@test "a child of the shell that became retry is not taken for the command" {
	local limit
	for limit in 0 20; do
		is 7 sh -c 'sh -c "sleep 0.1; exit 9" &
			exec "$@"' sh \
		    "$RETRY" -n 1 -t "$limit" -- sh -c 'sleep 0.3; exit 7'
	done
}

@test "with a limit, retry reaps the orphans that it adopts in a delay" {
	start "$ACTOR" fresh "$RETRY" -t 20 -d 60 -j none -- sh -c '
		for i in 1 2 3 4 5; do (sleep 0.5 & :); done
		false'
	reached told '.*retrying in .*'
	one=$pid
	reached children 0
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
}

# Ten attempts. Each writes into ./counts how many children retry has, and leaves
# five zombies, which no shell would wait for any more.
littering=(-q -n 10 -d 0 -- sh -c '
	read -r children </proc/$PPID/task/$PPID/children
	set -- $children
	echo $# >>counts
	for i in 1 2 3 4 5; do : & done
	exec timeout 0.05 sleep 20')

# Some children of the attempt before may have died late, but not all.
tidy()
{
	[ "$(lines counts)" -eq 10 ]
	[ "$(sort -n counts | tail -n 1)" -le 6 ]
}

@test "with a limit zombies do not pile up from attempt to attempt" {
	is 124 "$RETRY" -t 20 "${littering[@]}"
	tidy
}

@test "where retry adopts orphans from the start, zombies do not pile up" {
	is 124 "$ACTOR" reaper "$RETRY" "${littering[@]}"
	tidy
}

@test "where retry adopts orphans from the start, it reaps them in an attempt" {
	start "$ACTOR" reaper "$ACTOR" fresh "$RETRY" -n 1 -- sh -c '
		for i in 1 2 3 4 5; do (sleep 0.1 & :); done
		touch ready
		exec sleep 20'
	reached test -e ready
	one=$pid
	reached children 1
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
}

# bats test_tags=slow
@test "retry reaps orphans in a delay and while a hook runs" {
	start "$ACTOR" reaper "$ACTOR" fresh "$RETRY" -d 60 -j none \
	    --on-retry 'touch ready; exec sleep 20' -- sh -c '
		for i in 1 2 3 4 5; do (sleep 0.5 & :); done
		false'
	reached test -e ready
	one=$pid
	reached children 1 # the hook
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
}

@test "a child that a shell had started before is reaped when it dies" {
	start "$ACTOR" fresh sh -c 'sleep 0.5 & sleep 20 & echo $! >elder
		exec "$RETRY" -d 60 -j none -- false'
	reached told '.*retrying in .*'
	one=$pid
	reached children 1
	run ! gone "$(<elder)"
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	run ! gone "$(<elder)"
	kill -KILL "$(<elder)"
}

#
# As PID 1, which no signal ends or stops by default
#

# alone COMMAND...: starts COMMAND as PID 1.
alone()
{
	isolate -p -f --mount-proc
	start "$ACTOR" fresh "${isolate[@]}" "$@"
}

# first [OPTION]... -- COMMAND...: retry is PID 1; its number outside is $one.
first()
{
	alone "$RETRY" "$@"
	reached foretold
}

foretold()
{
	one=$(tr -d ' ' <"/proc/$pid/task/$pid/children")
	[ -n "$one" ]
}

@test "as PID 1 retry passes TERM and INT on to the command" {
	local name
	for name in TERM INT; do
		rm -f out err
		first -n 2 -- "$ACTOR" listen 1 3
		reached said ready
		kill -s "$name" "$one"
		ended
		[ "$status" -eq 3 ]
		heard "$name"
		told '.* failed \(exit 3\), giving up: interrupted'
	done
}

@test "as PID 1 retry exits with 128+n where the command dies of signal n" {
	local child name
	for name in TERM INT KILL; do
		rm -f ready
		first -n 1 -- sh -c 'touch ready; exec sleep 20'
		reached test -e ready
		child=$(tr -d ' ' <"/proc/$one/task/$one/children")
		kill -s "$name" "$child"
		ended
		[ "$status" -eq $((128 + $(kill -l "$name"))) ]
	done
}

@test "as PID 1 TERM and INT end a delay, with 143 and 130" {
	local name
	for name in TERM INT; do
		rm -f err
		first -d 60 -j none -- false
		reached told '.*retrying in .*'
		kill -s "$name" "$one"
		ended
		[ "$status" -eq $((128 + $(kill -l "$name"))) ]
	done
}

@test "as PID 1 retry does not stop, and its limit acts" {
	local name
	for name in TSTP TTIN TTOU; do
		rm -f ready
		first -n 1 -t 1 -- sh -c 'touch ready; kill -STOP $$; exec sleep 20'
		reached test -e ready
		kill -s "$name" "$one"
		ended
		[ "$status" -eq 124 ]
	done
}

@test "as PID 1 retry reaps orphans during an attempt" {
	first -n 1 -- sh -c '
		for i in 1 2 3 4 5; do (sleep 0.1 & :); done
		touch ready
		exec sleep 20'
	reached test -e ready
	reached children 1
	kill -TERM "$one"
	ended
	[ "$status" -eq 143 ]
}

@test "as PID 1 retry reaps orphans during a delay" {
	first -d 60 -j none -- sh -c '
		for i in 1 2 3 4 5; do (sleep 0.5 & :); done
		false'
	reached told '.*retrying in .*'
	reached children 0
	kill -TERM "$one"
	ended
	[ "$status" -eq 143 ]
}

@test "as PID 1 retry does not take an orphan that dies with the command for it" {
	for _ in 1 2 3; do
		alone "$RETRY" -n 1 -- sh -c '(exit 9 & :); (exit 8 & :); sleep 0.05; exit 7'
		ended
		[ "$status" -eq 7 ]
	done
}

@test "as PID 1 zombies do not pile up from attempt to attempt" {
	alone "$RETRY" "${littering[@]}"
	ended
	[ "$status" -eq 124 ]
	tidy
}

# unshare(1) without -f is not in the new namespace; its children are.
@test "a command whose parent is outside of its PID namespace is run" {
	isolate -p
	is 7 "${isolate[@]}" "$RETRY" -n 1 -- sh -c 'echo ran as $$; exit 7'
	said 'ran as 1'
	is 0 "${isolate[@]}" "$RETRY" -n 2 -d 0 -- true
	is 124 "${isolate[@]}" "$RETRY" -n 1 -t 0.3 -k 0.1 -- sleep 20
}
