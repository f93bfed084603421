#!/usr/bin/env bats
# Covers cli/option_rules, attempt/attempt.
# Which failures are retried, and how often: --retry-on, --stop-on, --success-on
# and --limit; and how an attempt's own status is kept.
# shellcheck disable=SC2154 # start and ended set what is read here
# shellcheck disable=SC2016 # the commands' shells expand

load helper

# tries TIMES STATUS [OPTION]... COMMAND...: retry may make three attempts
# without delay, makes TIMES of them and exits with STATUS. COMMAND is counted
# in ./ran.
tries()
{
	local times=$1 want=$2 status=0
	shift 2
	: >ran
	"$RETRY" -n 3 -d 0 "$@" 2>err 3>&- || status=$?
	[ "$status $(lines ran)" = "$want $times" ] || {
		echo "status $status, $(lines ran) attempts: $*"
		cat err
		return 1
	}
}

# gave_up WORDS: the last line says that retry gave up, and WORDS.
gave_up()
{
	[[ $(<err) == *", giving up: $1" ]] || {
		cat err
		return 1
	}
}

# Commands that count themselves and end in a certain way.
exits()
{
	printf 'echo >>ran; exit %s' "$1"
}

dies()
{
	printf 'ulimit -c 0; echo >>ran; kill -%s $$' "$1"
}

hang='echo >>ran; exec sleep 20'

#
# --retry-on
#

@test "--retry-on retries the codes it names and no others" {
	tries 3 7 --retry-on 7 sh -c "$(exits 7)"
	gave_up 'attempts exhausted'
	tries 1 8 --retry-on 7 sh -c "$(exits 8)"
	gave_up 'not in --retry-on 7'
	tries 1 77 --retry-on 7 sh -c "$(exits 77)"
}

@test "--retry-on looks at every item of its list" {
	for code in 1 3 9 255; do
		tries 3 $code --retry-on 1,3,9,255 sh -c "$(exits $code)"
	done
	for code in 2 4 8 10 254; do
		tries 1 $code --retry-on 1,3,9,255 sh -c "$(exits $code)"
	done
}

@test "--retry-on given again adds to what was given before" {
	for code in 3 7; do
		tries 3 $code --retry-on 3 --retry-on 7 sh -c "$(exits $code)"
	done
	tries 1 5 --retry-on 3 --retry-on 7 sh -c "$(exits 5)"
}

@test "a range holds both of its ends" {
	for code in 64 70 78; do
		tries 3 $code --retry-on 64-78 sh -c "$(exits $code)"
	done
	for code in 63 79; do
		tries 1 $code --retry-on 64-78 sh -c "$(exits $code)"
	done
	tries 3 64 --retry-on 64-64 sh -c "$(exits 64)"
	tries 1 65 --retry-on 64-64 sh -c "$(exits 65)"
}

@test "--retry-on 1-255 is every exit status of a failure" {
	for code in 1 63 64 127 128 191 192 255; do
		tries 3 $code --retry-on 1-255 sh -c "$(exits $code)"
	done
}

@test "codes do not match a death by a signal that is not 128+n" {
	tries 1 143 --retry-on 1-127 sh -c "$(dies TERM)"
	gave_up 'not in --retry-on 1-127'
}

@test "a signal's name matches death by that signal, with or without SIG" {
	for name in TERM SIGTERM term sigterm; do
		tries 3 143 --retry-on $name sh -c "$(dies TERM)"
	done
	tries 1 137 --retry-on TERM sh -c "$(dies KILL)"
	gave_up 'not in --retry-on TERM'
}

@test "a signal's name does not match the exit status of a shell that saw it" {
	tries 1 143 --retry-on TERM sh -c "$(exits 143)"
	gave_up 'not in --retry-on TERM'
}

@test "128+n matches both that exit status and death by signal n" {
	tries 3 143 --retry-on 143 sh -c "$(exits 143)"
	tries 3 143 --retry-on 143 sh -c "$(dies TERM)"
	tries 3 143 --retry-on 140-150 sh -c "$(dies TERM)"
	tries 1 137 --retry-on 143 sh -c "$(dies KILL)"
}

@test "a real-time signal can be named" {
	number=$(kill -l RTMIN+1)
	tries 3 $((128 + number)) --retry-on RTMIN+1 sh -c "$(dies "$number")"
	tries 1 $((128 + number)) --retry-on RTMIN+2 sh -c "$(dies "$number")"
}

@test "signal is death by any signal, and nothing else" {
	for name in TERM KILL SEGV USR1; do
		tries 3 $((128 + $(kill -l $name))) --retry-on signal \
		    sh -c "$(dies $name)"
	done
	tries 1 143 --retry-on signal sh -c "$(exits 143)"
	gave_up 'not in --retry-on signal'
}

@test "INT, QUIT and PIPE are retried only if named" {
	for name in INT QUIT PIPE; do
		status=$((128 + $(kill -l $name)))
		tries 1 $status --retry-on signal sh -c "$(dies $name)"
		gave_up "SIG$name is not retried unless --retry-on names it"
		tries 1 $status --retry-on fail sh -c "$(dies $name)"
		gave_up "SIG$name is not retried unless --retry-on names it"
		tries 3 $status --retry-on $name sh -c "$(dies $name)"
		tries 3 $status --retry-on $status sh -c "$(dies $name)"
	done
}

@test "timeout is an attempt that ran out of time, and nothing else" {
	tries 3 124 --retry-on timeout -t 150ms sh -c "$hang"
	tries 1 1 --retry-on timeout -t 20 sh -c "$(exits 1)"
	gave_up 'not in --retry-on timeout'
	tries 1 124 --retry-on timeout -t 20 sh -c "$(exits 124)"
	tries 1 143 --retry-on timeout -t 20 sh -c "$(dies TERM)"
}

@test "a timeout is no exit status and no signal" {
	tries 1 124 --retry-on 143,TERM,signal,1 -t 150ms sh -c "$hang"
	gave_up 'not in --retry-on 143,TERM,signal,1'
}

@test "124 matches a timeout too" {
	tries 3 124 --retry-on 124 -t 150ms sh -c "$hang"
	tries 3 124 --retry-on 124 sh -c "$(exits 124)"
	tries 1 124 --stop-on 124 -t 150ms sh -c "$hang"
	gave_up '--stop-on 124'
}

@test "fail is any failure" {
	tries 3 9 --retry-on fail sh -c "$(exits 9)"
	tries 3 143 --retry-on fail sh -c "$(dies TERM)"
	tries 3 124 --retry-on fail -t 150ms sh -c "$hang"
	tries 3 9 --retry-on 7,fail sh -c "$(exits 9)"
}

@test "a success is never retried, whatever --retry-on says" {
	tries 1 0 --retry-on fail,1-255,signal,timeout sh -c "$(exits 0)"
	tries 1 0 -v --retry-on 3 sh -c "$(exits 0)"
	grep -qx 'retry: attempt 1/3 succeeded (exit 0)' err
}

@test "only what fails after a retry decides whether there is another" {
	tries 2 4 --retry-on 3 sh -c 'echo >>ran; exit $((2 + RETRY_ATTEMPT))'
	gave_up 'not in --retry-on 3'
}

#
# --stop-on
#

@test "--stop-on ends at once on what it names, and at nothing else" {
	tries 1 22 --stop-on 22 sh -c "$(exits 22)"
	gave_up '--stop-on 22'
	tries 3 23 --stop-on 22 sh -c "$(exits 23)"
	gave_up 'attempts exhausted'
}

@test "--stop-on wins over --retry-on" {
	tries 1 22 --retry-on 1-255,fail --stop-on 22 sh -c "$(exits 22)"
	gave_up '--stop-on 22'
	tries 1 22 --stop-on 20-29 --retry-on 22 sh -c "$(exits 22)"
	gave_up '--stop-on 20-29'
	tries 3 23 --retry-on 22,23 --stop-on 22 sh -c "$(exits 23)"
}

@test "--stop-on knows signals, timeouts and any failure" {
	tries 1 143 --stop-on TERM sh -c "$(dies TERM)"
	gave_up '--stop-on TERM'
	tries 1 143 --stop-on 143 sh -c "$(dies TERM)"
	gave_up '--stop-on 143'
	tries 1 137 --stop-on signal sh -c "$(dies KILL)"
	gave_up '--stop-on signal'
	tries 1 124 --stop-on timeout -t 150ms sh -c "$hang"
	gave_up '--stop-on timeout'
	tries 1 9 --stop-on fail sh -c "$(exits 9)"
	gave_up '--stop-on fail'
	tries 3 143 --stop-on KILL sh -c "$(dies TERM)"
}

@test "--stop-on does nothing to a success" {
	tries 1 0 -v --stop-on 0-255,fail sh -c "$(exits 0)"
	grep -qx 'retry: attempt 1/3 succeeded (exit 0)' err
	tries 1 0 -v --success-on 3 --stop-on 3 sh -c "$(exits 3)"
	grep -qx 'retry: attempt 1/3 succeeded (exit 3)' err
}

@test "--stop-on given again adds to what was given before" {
	for code in 3 7; do
		tries 1 $code --stop-on 3 --stop-on 7 sh -c "$(exits $code)"
		gave_up "--stop-on $code"
	done
}

#
# --success-on
#

@test "--success-on makes a code a success, whose status is 0" {
	tries 1 0 --success-on 3 sh -c "$(exits 3)"
	[ ! -s err ]
	tries 3 4 --success-on 3 sh -c "$(exits 4)"
	gave_up 'attempts exhausted'
}

@test "--success-on leaves 0 a success" {
	tries 1 0 -v --success-on 3 sh -c "$(exits 0)"
	grep -qx 'retry: attempt 1/3 succeeded (exit 0)' err
}

@test "--success-on ends a series like any success" {
	tries 2 0 --success-on 1 sh -c 'echo >>ran; exit $((3 - RETRY_ATTEMPT))'
	[ "$(lines err)" -eq 1 ]
}

@test "--success-on comes before --retry-on and --stop-on" {
	tries 1 0 -v --success-on 1-9 --retry-on 3 --stop-on 3 sh -c "$(exits 3)"
	grep -qx 'retry: attempt 1/3 succeeded (exit 3)' err
}

@test "--success-on takes ranges, lists and itself again" {
	for code in 2 5 6 7 9; do
		tries 1 0 --success-on 2,5-7 --success-on 9 \
		    sh -c "$(exits $code)"
		[ ! -s err ]
	done
	for code in 1 3 4 8 10; do
		tries 3 $code --success-on 2,5-7 --success-on 9 \
		    sh -c "$(exits $code)"
	done
}

@test "--success-on takes a death by signal, of which retry does not die" {
	tries 1 0 -v --success-on TERM sh -c "$(dies TERM)"
	tail -n 1 err | grep -q ': succeeded$'
	tries 1 0 -v --success-on 143 sh -c "$(dies TERM)"
	tail -n 1 err | grep -q ': succeeded$'
	tries 3 137 -v --success-on TERM sh -c "$(dies KILL)"
}

@test "without --success-on timeout a timeout is a failure" {
	tries 3 124 --success-on 0-123,125-255,signal -t 150ms \
	    sh -c 'trap "exit 0" TERM; echo >>ran
		for n in $(seq 200); do sleep 0.1; done'
	gave_up 'attempts exhausted'
	tries 1 0 -v --success-on timeout -t 150ms sh -c "$hang"
	tail -n 1 err | grep -q ': succeeded$'
}

@test "--success-on counts what an attempt said before a limit ended it" {
	tries 1 0 -v --success-on stdout:ready -t 0.4 sh -c "echo ready; $hang"
	tail -n 1 err | grep -q ': succeeded$'
	tries 1 0 --success-on stdout:ready -T 0.4 sh -c "echo ready; $hang"
}

#
# --limit
#

# Exits with the status that is the digit of $codes for the attempt.
codes()
{
	printf 'echo >>ran; codes=%s; exit $(echo $codes | cut -c$RETRY_ATTEMPT)' "$1"
}

@test "--limit allows so many retries after the failures that it names" {
	tries 3 7 -n 9 --limit 2:7 sh -c "$(exits 7)"
	gave_up '--limit reached (2:7)'
	tries 1 7 -n 9 --limit 0:7 sh -c "$(exits 7)"
	gave_up '--limit reached (0:7)'
	tries 9 8 -n 9 --limit 0:7 sh -c "$(exits 8)"
	gave_up 'attempts exhausted'
	tries 2 124 -n 9 -t 100ms --limit 1:timeout sh -c "$hang"
	gave_up '--limit reached (1:timeout)'
	tries 2 9 -n 9 --limit 1:stdout:busy sh -c 'echo busy; echo >>ran; exit 9'
	gave_up '--limit reached (1:stdout:busy)'
}

@test "--limit does not count retries after other failures" {
	tries 6 7 -n 9 --limit 2:7 sh -c "$(codes 8788777)"
	tries 5 7 -n 9 --limit 1:7 --limit 3:8 sh -c "$(codes 78887777)"
	gave_up '--limit reached (1:7)'
	tries 5 8 -n 9 --limit 2:7 --limit 2:8 sh -c "$(codes 78788888)"
	gave_up '--limit reached (2:8)'
}

@test "a failure counts against every --limit that names it" {
	tries 3 7 -n 9 --limit 2:fail --limit 5:7 sh -c "$(exits 7)"
	gave_up '--limit reached (2:fail)'
	tries 4 8 -n 9 --limit 2:7 --limit 3:7,8 sh -c "$(codes 7788)"
	gave_up '--limit reached (3:7,8)'
}

@test "--limit leaves the other rules and the limit of attempts in force" {
	tries 3 7 --limit 2:7 sh -c "$(exits 7)"
	gave_up 'attempts exhausted'
	tries 1 7 --limit 2:7 --stop-on 7 sh -c "$(exits 7)"
	gave_up '--stop-on 7'
	tries 1 7 --limit 2:7 --retry-on 8 sh -c "$(exits 7)"
	gave_up 'not in --retry-on 8'
	tries 3 0 --limit 2:7 sh -c "$(codes 770)"
	tries 1 0 --limit 0:7 --success-on 7 sh -c "$(exits 7)"
}

@test "--limit counts failures, and no success that --consecutive repeats" {
	tries 3 0 --limit 0:0-255 --consecutive 3 sh -c "$(codes 000)"
	tries 5 0 -n 9 --limit 1:fail,0 --consecutive 3 sh -c "$(codes 07000)"
	tries 5 7 -n 9 --limit 1:7 --consecutive 3 sh -c "$(codes 07007)"
	gave_up '--limit reached (1:7)'
	tries 1 7 -n 3 --limit 0:7 --consecutive 3 sh -c "$(exits 7)"
	gave_up 'too few attempts left'
}

@test "a policy and the command line add their limits up" {
	echo 'limit=1:7' >limits.conf
	tries 2 7 --policy ./limits.conf --limit 0:8 sh -c "$(exits 7)"
	tries 1 8 --policy ./limits.conf --limit 0:8 sh -c "$(exits 8)"
}

@test "a retry that a budget denies counts once for a --limit" {
	tries 2 7 -n 9 -B api --budget-dir . --budget-min 1 --budget-wait 100ms \
	    --limit 2:7 sh -c "$(exits 7)"
	tail -n 1 err | grep -q "budget 'api': exhausted, .*; giving up"
}

#
# over: and under:
#

@test "over: and under: name attempts by the time for which they ran" {
	local slow='echo >>ran; sleep 0.3; exit 7'
	tries 1 7 --stop-on over:200ms sh -c "$slow"
	gave_up '--stop-on over:200ms'
	tries 3 7 --stop-on over:20 sh -c "$slow"
	tries 1 7 --retry-on under:200ms sh -c "$slow"
	gave_up 'not in --retry-on under:200ms'
	tries 3 7 --retry-on under:20 sh -c "$(exits 7)"
	tries 1 0 --success-on over:200ms sh -c "$slow"
	tries 3 1 --fail-on under:20 sh -c "$(exits 0)"
	tries 1 0 --fail-on over:20 sh -c "$(exits 0)"
	tries 1 124 --stop-on over:150ms -t 200ms sh -c "$hang"
	tries 0 127 --success-on under:20 ./nosuch
}

@test "the time for which retry was stopped counts for over:, as in the report" {
	start "$RETRY" -n 1 --report report --success-on over:400ms \
		sh -c 'echo >child; sleep 0.1; exit 7'
	wait_for [ -s child ]
	kill -TSTP "$pid"
	wait_for grep -q '^State:.T' "/proc/$pid/status"
	sleep 0.5
	kill -CONT "-$pid"
	ended
	[ "$status" = 0 ]
	grep -q '"rule": *"success-on"' report
}

#
# --keep-status
#

@test "--keep-status passes on the status of a success by rule" {
	tries 1 3 --keep-status --success-on 3 sh -c "$(exits 3)"
	tries 1 124 --keep-status --success-on timeout -t 150ms sh -c "$hang"
}

@test "--keep-status passes on the 0 of a failure by rule" {
	tries 3 0 --keep-status --fail-on 0 sh -c "$(exits 0)"
	gave_up 'attempts exhausted'
	tries 1 0 --keep-status --fail-on 0 --stop-on 0 sh -c "$(exits 0)"
	gave_up '--stop-on 0'
	tries 3 1 --fail-on 0 sh -c "$(exits 0)"
}

@test "RETRY_LAST_STATUS is the status with which retry would have ended" {
	tries 3 0 --keep-status --fail-on 0 --on-retry 'echo "$RETRY_LAST_STATUS" >>kept' \
	    sh -c "$(exits 0)"
	holds kept 0 0
	tries 3 1 --fail-on 0 --on-retry 'echo "$RETRY_LAST_STATUS" >>told' \
	    sh -c "$(exits 0)"
	holds told 1 1
}

@test "--keep-status changes no status that retry judges as the command says" {
	tries 1 0 --keep-status sh -c "$(exits 0)"
	tries 3 7 --keep-status sh -c "$(exits 7)"
	tries 3 143 --keep-status sh -c "$(dies TERM)"
	tries 3 124 --keep-status -t 150ms sh -c "$hang"
	tries 0 127 --keep-status ./nosuch
	tries 1 125 --keep-status -O --hold-max 1 sh -c 'echo >>ran; echo ok'
}

@test "-v says once, after a failure, that a pattern has taken other items" {
	local hint="retry: ',75' is part of the pattern; for more items, give --stop-on again"
	tries 3 1 -v --stop-on 'stderr:denied,75' sh -c "$(exits 1)"
	[ "$(sed -n 2p err)" = "$hint" ]
	[ "$(grep -c 'part of' err)" = 1 ]
	local more
	for more in '' -q '-v -E' '-v --chronic'; do
		# shellcheck disable=SC2086 # several words
		tries 3 1 $more --stop-on 'stderr:denied,75' sh -c "$(exits 1)"
		run ! grep 'part of' err
	done
	tries 1 0 -v --stop-on 'stderr:denied,75' sh -c "$(exits 0)"
	run ! grep 'part of' err
	tries 3 1 -v --stop-on 75,stderr:denied sh -c "$(exits 1)"
	run ! grep 'part of' err
}

#
# Malformed lists
#

@test "a malformed list is refused, quoted, and nothing is run" {
	while IFS='|' read -r list why; do
		for option in retry-on stop-on success-on; do
			tries 0 125 "--$option" "$list" sh -c "$(exits 3)"
			diff - err <<-END
				retry: --$option: $why
				Try '${RETRY##*/} -h' for more information.
			END
		done
	done <<-'END'
		|empty item in ''
		,|empty item in ','
		1,|empty item in '1,'
		,1|empty item in ',1'
		1,,2|empty item in '1,,2'
		x|not an exit status, signal or condition: 'x'; as a pattern: 'stderr:x'
		1,x|not an exit status, signal or condition: 'x' in '1,x'; as a pattern: 'stderr:x'
		1, 2|not an exit status, signal or condition: ' 2' in '1, 2'
		Permission denied,7|not an exit status, signal or condition: 'Permission denied' in 'Permission denied,7'; as a pattern: 'stderr:Permission denied'
		-1|not an exit status, signal or condition: '-1'
		+1|not an exit status, signal or condition: '+1'
		1-|not an exit status, signal or condition: '1-'
		0x7|not an exit status, signal or condition: '0x7'
		7.0|not an exit status, signal or condition: '7.0'
		SIG|not an exit status, signal or condition: 'SIG'; as a pattern: 'stderr:SIG'
		SIGNOPE|not an exit status, signal or condition: 'SIGNOPE'; as a pattern: 'stderr:SIGNOPE'
		timeouts|not an exit status, signal or condition: 'timeouts'; as a pattern: 'stderr:timeouts'
		256|above 255 (an HTTP status is http:500): '256'
		3,256|above 255 (an HTTP status is http:500): '256' in '3,256'
		99999999999999999999|above 255 (an HTTP status is http:500): '99999999999999999999'
		250-256|above 255 (an HTTP status is http:500): '250-256'
		9-5|a range that runs backwards: '9-5'
		1,9-5|a range that runs backwards: '9-5' in '1,9-5'
		over:x|not a time above 0: 'over:x'
		7,under:0|not a time above 0: 'under:0' in '7,under:0'
	END
}

@test "0 in --retry-on is refused" {
	for list in 0 0,1 1,0 0-3; do
		tries 0 125 --retry-on "$list" sh -c "$(exits 3)"
		diff - err <<-END
			retry: --retry-on: 0 is a success, not a failure (see --fail-on): '$list'
			Try '${RETRY##*/} -h' for more information.
		END
	done
}
