#!/usr/bin/env bats
# Covers attempt/event_loop, policy/backoff.
# How long retry waits: backoffs, jitters, caps, floors and the deadline, as its
# lines announce them, and with the least time that the clock must show. Their
# arithmetic is that of tests/unit/policy/backoff.
# shellcheck disable=SC2016 # the rows' and the commands' shells expand
# shellcheck disable=SC2154 # run and start set what is read here

load helper

# announced [OPTION]... COMMAND...: runs retry, whose status is not looked at;
# the delays it announces are then in $delays, in milliseconds
announced() {
	"$RETRY" "$@" 2>err 3>&- || :
	read_delays
}

# read_delays: sets $delays to what ./err announces, $least and $most to their ends
read_delays() {
	local line delay
	delays=() least='' most=''
	while read -r line; do
		[[ $line =~ ', retrying in '([0-9]+)(\.([0-9]+))?(m?)s$ ]] || continue
		delay=${BASH_REMATCH[1]}
		if [ -z "${BASH_REMATCH[4]}" ]; then
			line=${BASH_REMATCH[3]}000
			delay=$((10#$delay${line:0:3}))
		fi
		delays+=("$delay")
		((delay >= ${least:-$delay})) || least=$delay
		((delay <= ${most:-$delay})) || most=$delay
		: "${least:=$delay}" "${most:=$delay}"
	done <err
}

# waits 'DELAYS' [OPTION]...: these are the delays before the retries of a
# command that always fails, one attempt more than delays
waits() {
	local all
	read -ra all <<<"$1"
	announced -n "$((${#all[@]} + 1))" "${@:2}" false
	[ "${delays[*]}" = "$1" ] || {
		echo "waited '${delays[*]}' instead of '$1': ${*:2}"
		return 1
	}
}

# nth_wait N DELAY [OPTION]...: the wait before the N-th retry is announced
# like this (the wait itself is cut short by TERM)
nth_wait() {
	start "$RETRY" -n inf "${@:3}" false
	wait_for has_line "retry: attempt $1 failed (exit 1), retrying in $2" err
	ended_by TERM
}

@test "the delays are those of the backoff or the list, from the floor to the cap" {
	table waits <<-'END'
		'3 6 12' -d 3ms -j none
		'5 10 15' -d 5ms -j none -b linear
		'5 5' -d 5ms -j none -b constant
		'3 3 6' -d 3ms -j none -b fibonacci
		'8 12' -d 8ms -j none --factor 1.5
		# The last element of a list repeats, or is where the backoff starts.
		'1 9 4 4' -d 1ms,9ms,4ms -j none
		'6 10 10' -d 6ms -j none --max-delay 10ms
		'7 7 8' -d 2ms -j none --min-delay 7ms
	END
}

@test "a delay is as long as by default, 30 seconds at most or what a list has" {
	rows beside eval <<-'END'
	a second
	    nth_wait 1 1s -j none
	the default cap
	    nth_wait 2 30s -d 1ms --factor 1000000 -j none
	a list
	    nth_wait 2 40s -d 1ms,40s,7s -j none
	one of another unit each
	    nth_wait 3 2h5m -d 0,1ms,2h5m -j none
	with jitter
	    # TERM may come in the delay, or in the attempt after it.
	    start "$RETRY" -n inf --seed 1 sh -c \
	        '[ "$RETRY_ATTEMPT" != 1 ] || exit 1; exec sleep 60'
	    wait_for test -s err
	    ended_by TERM
	    read_delays
	    ((delays[0] <= 1000))
	END
}

# drawn LEAST MOST [OPTION]...: delays are in this range, and in both outer thirds
drawn() {
	local third=$((($2 - $1) / 3))
	announced -n 6 --seed 11 -d 12ms -b constant "${@:3}" false
	((${#delays[@]} == 5 && least >= $1 && least < $1 + third &&
	    most <= $2 && most > $2 - third))
}

@test "a jitter draws each delay from its part of the envelope" {
	local seed all=()
	# Full is the default. Each part of the envelope is seen by the unit.
	table drawn <<-'END'
		0 12
		6 12 -j equal
		2 20 -d 2ms -j decorrelated --max-delay 20ms
	END
	# The same seed gives the same, and without one no two runs wait alike.
	for seed in 1 1 2 '' ''; do
		announced -n 4 -d 200ms -b constant ${seed:+--seed "$seed"} false
		[ "${#delays[@]}" -eq 3 ]
		all+=("${delays[*]}")
	done
	[ "${all[0]}" = "${all[1]}" ]
	[ "${all[1]}" != "${all[2]}" ]
	[ "${all[3]}" != "${all[4]}" ]
}

# bats test_tags=slow
@test "no wait and no limit is shorter than announced" {
	rows beside eval <<-'END'
	the delay
	    try status=1 ms=230 says='* in 50ms|* in 90ms|* in 90ms|*' \
	        -n 4 -d 50ms,90ms -j none false
	none after the last attempt
	    try status=1 says='*giving up: attempts exhausted' -n 1 -d 100 -j none false
	an attempt that ran for --reset-after starts the schedule anew
	    announced -n 6 -d 2ms,4ms,8ms,16ms -j none --reset-after 1s \
	        sh -c '[ "$RETRY_ATTEMPT" -ne 3 ] || sleep 1.1; exit 1'
	    [ "${delays[*]}" = '2 4 2 4 8' ]
	a splay is waited for before the first attempt
	    start "$RETRY" --splay 100000h touch ran
	    # it sleeps: in the wait, not in a command
	    wait_for state S "$pid"
	    ended_by TERM
	    [ ! -e ran ] && [ ! -s err ]
	a splay takes at most half the time to the deadline
	    try out=ran --splay 1h -T 1s echo ran
	the deadline counts from before the splay
	    try status=124 ms=1000 says='*giving up: deadline' --splay 300ms -T 1s sleep 20
	END
}

@test "a delay that would pass the deadline is trimmed, or not begun" {
	rows beside eval <<-'END'
	there is no other limit but those that are given
	    announced -T 20 -d 1ms -b constant --stop-on 3 \
	        sh -c '[ "$RETRY_ATTEMPT" -lt 7 ] || exit 3; exit 1'
	    [ "${#delays[@]}" -eq 6 ]
	    has_line 'retry: attempt 7 failed (exit 3), giving up: --stop-on 3' err
	    waits 1 -T 20 -d 1ms -j none
	    has_line 'retry: attempt 2/2 failed (exit 1), giving up: attempts exhausted' err
	0 is none
	    waits 1 -T 0 -d 1ms -j none
	    has_line 'retry: attempt 2/2 failed (exit 1), giving up: attempts exhausted' err
	an exact delay is not begun
	    try status=1 says='attempt 1 failed (exit 1), giving up: deadline, the next delay (30s) does not fit' -T 30 -d 30 -j none false
	    try status=1 says='attempt 1 failed (exit 1), retrying in 1ms|attempt 2 failed (exit 1), giving up: deadline, the next delay (40s) does not fit' \
	        -T 30 -d 1ms,40 -j none false
	a drawn one is trimmed
	    announced -T 1500ms -d 50ms,1h -j full false
	    # without trimming: two attempts
	    ((${#delays[@]} >= 2 && most <= 1450))
	    reads err '*giving up: deadline, the next delay (*) does not fit'
	END
}
