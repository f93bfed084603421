#!/usr/bin/env bats
# Covers attempt/event_loop.
# How long retry waits: backoffs, jitters, caps, floors and the deadline, as its
# lines announce them, and with the least time that the clock must show.
# shellcheck disable=SC2016 # the commands' shells expand
# shellcheck disable=SC2154 # run and start set what is read here

load helper

# announced [OPTION]... COMMAND...: runs retry, whose status is not looked at;
# the delays it announces are then in $delays, in milliseconds
announced()
{
	"$RETRY" "$@" 2>err || :
	read_delays
}

# read_delays: sets $delays to what ./err announces
read_delays()
{
	mapfile -t delays < <(exec awk '
		!sub(/.*, retrying in /, "") { next }
		/^[0-9.]+ms$/ { $0 = 0 + $0 }
		/^[0-9.]+s$/ { $0 = 1000 * $0 }
		{ print }' err)
}

# waits 'DELAYS' [OPTION]...: these are the delays before the retries of a
# command that always fails, one attempt more than delays
waits()
{
	local wanted
	read -ra wanted <<<"$1"
	shift
	announced -n $((${#wanted[@]} + 1)) "$@" false
	[ "${delays[*]}" = "${wanted[*]}" ] || {
		echo "waited '${delays[*]}' instead of '${wanted[*]}': $*"
		cat err
		return 1
	}
}

# first_wait DELAY [OPTION]...: the wait before the first retry is announced
# like this (the wait itself is cut short by TERM)
first_wait()
{
	nth_wait 1 "$@"
}

# nth_wait N DELAY [OPTION]...: the same for the N-th retry
nth_wait()
{
	local n=$1 want=$2 said
	shift 2
	: >err
	start "$RETRY" -n inf "$@" false
	wait_for said "$n"
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	mapfile -t -s $((n - 1)) -n 1 said <err
	[[ ${said[0]} == "retry: attempt $n failed (exit 1), retrying in $want" ]] || {
		echo "instead of a wait of $want: ${said[0]}"
		return 1
	}
}

# said N: there are N lines in ./err
said()
{
	[ "$(lines err)" -ge "$1" ]
}

# each EXPRESSION DELAYS...: the awk expression holds for every delay d, which
# is number n
each()
{
	local expression=$1
	shift
	[ $# -gt 0 ] || return 1
	printf '%s\n' "$@" |
	    awk "{ n = NR; d = \$1 } !($expression) { print n \": \" d; bad = 1 }
		END { exit bad }"
}

# some EXPRESSION DELAYS...: it holds for at least one
some()
{
	local expression=$1
	shift
	! each "!($expression)" "$@"
}

#
# Backoffs
#

@test "exponential doubles the delay, and is the default" {
	waits '3 6 12 24 48' -d 3ms -j none
	waits '3 6 12 24 48' -d 3ms -j none -b exponential
}

@test "linear adds the base each time" {
	waits '5 10 15 20 25' -d 5ms -j none -b linear
}

@test "constant is the base each time" {
	waits '5 5 5 5 5' -d 5ms -j none -b constant
}

@test "fibonacci adds the two delays before" {
	waits '3 3 6 9 15 24' -d 3ms -j none -b fibonacci
}

@test "--factor is what exponential multiplies by" {
	waits '2 6 18 54' -d 2ms -j none --factor 3
	waits '8 12 18 27' -d 8ms -j none --factor 1.5
	waits '8 8 8' -d 8ms -j none --factor 1
}

@test "--factor below 1 is refused" {
	run -125 "$RETRY" --factor 0.5 false
	[ "${#lines[@]}" -eq 2 ]
	[[ ${lines[0]} == "retry: --factor: "*"'0.5'" ]]
}

@test "the first delay of the default is a second at most" {
	first_wait 1s -j none
	for seed in 1 2 3; do
		rm err
		# TERM may come in the delay, or in the attempt after it.
		start "$RETRY" -n inf --seed $seed sh -c \
		    '[ "$RETRY_ATTEMPT" != 1 ] || exit 1; exec sleep 60'
		wait_for said 1
		kill -TERM "$pid"
		ended
		[ "$status" -eq 143 ]
		read_delays
		each 'd <= 1000' "${delays[0]}"
	done
}

@test "the delay that was announced is waited for" {
	began=$(now)
	waits '50 50 90 90' -d 50ms,50ms,90ms -j none
	[ $(($(now) - began)) -ge 270 ]
}

@test "there is no wait after the last attempt" {
	began=$(now)
	run -1 timeout 20 "$RETRY" -n 1 -d 100 -j none false
	[ $(($(now) - began)) -lt 20000 ]
	[[ $output == *'giving up: attempts exhausted' ]]
}

#
# Lists
#

@test "a list is a schedule whose last element repeats" {
	waits '1 9 4 4 4' -d 1ms,9ms,4ms -j none
	waits '0 0 7 7' -d 0,0,7ms -j none
}

@test "with -b the last element of a list is where the backoff starts" {
	waits '0 10 20 40' -d 0,10ms -j none -b exponential
	waits '0 10 20 30' -d 0,10ms -j none -b linear
	waits '9 1 10 10' -d 9ms,1ms,10ms -j none -b constant
	waits '0 5 5 10 15' -d 0,5ms -j none -b fibonacci
}

@test "units can be mixed in a list" {
	nth_wait 3 2h5m -d 0,1ms,2h5m -j none
}

@test "a list of 64 delays is taken and one of 65 is not" {
	list=$(printf '0,%.0s' {1..63})
	waits '0 0 0' -d "${list}5ms" -j none
	run -125 "$RETRY" -d "0,${list}5ms" false
	[[ ${lines[0]} == 'retry: --delay: '* ]]
}

@test "jitter applies to every element of a list" {
	announced -n 41 --seed 5 -d 0,20ms,10ms -j full false
	[ "${#delays[@]}" -eq 40 ]
	[ "${delays[0]}" = 0 ]
	each 'n == 1 || n == 2 && d <= 20 || n > 2 && d <= 10' "${delays[@]}"
	some 'd < 5' "${delays[@]:2}"
	some 'd > 5' "${delays[@]:2}"
}

#
# Cap and floor
#

@test "--max-delay caps what a backoff grows to" {
	waits '4 8 10 10 10' -d 4ms -j none --max-delay 10ms
	waits '4 8 10 10' -d 4ms -j none -b linear --max-delay 10ms
	waits '4 4 8 10 10' -d 4ms -j none -b fibonacci --max-delay 10ms
}

@test "--max-delay is obeyed even below the base and in a list" {
	waits '3 3 3' -d 20ms -j none --max-delay 3ms
	waits '1 3 2' -d 1ms,20ms,2ms -j none --max-delay 3ms
}

@test "the default cap is 30 seconds, or the largest element of a list" {
	nth_wait 2 30s -d 1ms --factor 1000000 -j none
	nth_wait 2 40s -d 0,40s -j none
	nth_wait 2 40s -d 1ms,40s,7s -j none
	nth_wait 3 1m40s -d 1ms,2ms,100s -b exponential -j none
	first_wait 1h30m -d 1h30m -j none
}

@test "a late retry still waits for the cap" {
	for kind in exponential linear fibonacci; do
		announced -n 80 -d 1ms -b $kind -j none --max-delay 2ms false
			[ "${#delays[@]}" -eq 79 ]
		each 'd == (n == 1 ? 1 : n > 2 ? 2 : d)' "${delays[@]}"
	done
	announced -n 40 -d 1ms --factor 1000000 -j none --max-delay 1ms false
	each 'd == 1' "${delays[@]}"
}

@test "--min-delay is the floor" {
	waits '7 7 8 16' -d 2ms -j none --min-delay 7ms
	waits '7 7 9' -d 0,1ms,9ms -j none --min-delay 7ms
	announced -n 40 --seed 3 -d 10ms -b constant --min-delay 7ms false
	each 'd >= 7 && d <= 10' "${delays[@]}"
	some 'd > 8' "${delays[@]}"
	some 'd < 9' "${delays[@]}"
}

@test "--min-delay holds for every jitter" {
	for kind in full equal decorrelated none; do
		announced -n 20 -d 2ms --max-delay 9ms --min-delay 6ms \
		    -j $kind false
		each 'd >= 6 && d <= 9' "${delays[@]}"
	done
}

@test "a cap below the floor is refused" {
	run -125 "$RETRY" --max-delay 1 --min-delay 2 false
	[ "${#lines[@]}" -eq 2 ]
	[[ ${lines[0]} == 'retry: --max-delay: '* ]]
}

#
# Jitters
#

@test "full jitter, the default, is anywhere from 0 to the envelope" {
	for jitter in '' --jitter=full; do
		announced -n 61 --seed 11 -d 12ms -b constant ${jitter:+"$jitter"} false
			[ "${#delays[@]}" -eq 60 ]
		each 'd >= 0 && d <= 12' "${delays[@]}"
		some 'd < 4' "${delays[@]}"
		some 'd > 8' "${delays[@]}"
	done
	announced -n 7 -d 2ms false
	each 'd <= 2 ^ n' "${delays[@]}"
}

@test "equal jitter is in the upper half of the envelope" {
	announced -n 61 --seed 11 -d 12ms -b constant -j equal false
	each 'd >= 6 && d <= 12' "${delays[@]}"
	some 'd < 8' "${delays[@]}"
	some 'd > 10' "${delays[@]}"
	announced -n 6 -d 4ms -j equal false
	each 'd >= 2 ^ n && d <= 2 ^ (n + 1)' "${delays[@]}"
}

@test "decorrelated jitter is from the base to three times the delay before" {
	announced -n 41 --seed 11 -d 2ms -j decorrelated --max-delay 20ms false
	[ "${#delays[@]}" -eq 40 ]
	# what is shown may be off by half a millisecond
	printf '%s\n' "${delays[@]}" | awk -v before=2 '
		$1 < 2 || $1 > 20 || $1 > 3 * before + 2 { exit 1 }
		{ before = $1 }'
	some 'd < 8' "${delays[@]}"
	some 'd > 12' "${delays[@]}"
}

@test "decorrelated jitter is refused for a list" {
	run -125 "$RETRY" -d 1,2 -j decorrelated false
	[ "${#lines[@]}" -eq 2 ]
	[[ ${lines[0]} == 'retry: --'*': '* ]]
}

@test "unknown backoffs and jitters are refused" {
	run -125 "$RETRY" -b quadratic false
	[[ ${lines[0]} == "retry: --backoff: "*"'quadratic'" ]]
	run -125 "$RETRY" -j some false
	[[ ${lines[0]} == "retry: --jitter: "*"'some'" ]]
}

@test "the same seed gives the same delays, another gives others" {
	for kind in full equal decorrelated; do
		announced -n 13 --seed 1 -d 4ms --max-delay 12ms -j $kind false
		one=${delays[*]}
		announced -n 13 --seed 1 -d 4ms --max-delay 12ms -j $kind false
		again=${delays[*]}
		announced -n 13 --seed 2 -d 4ms --max-delay 12ms -j $kind false
		other=${delays[*]}
		[ -n "$one" ]
		[ "$one" = "$again" ]
		[ "$one" != "$other" ]
	done
}

@test "without a seed no two runs wait alike" {
	announced -n 25 -d 20ms -b constant false
	one=${delays[*]}
	announced -n 25 -d 20ms -b constant false
	other=${delays[*]}
	[ -n "$one" ]
	[ "$one" != "$other" ]
}

#
# --reset-after and --splay
#

@test "an attempt that ran for --reset-after starts the schedule anew" {
	announced -n 6 -d 2ms,4ms,8ms,16ms -j none --reset-after 1s \
	    sh -c '[ "$RETRY_ATTEMPT" -ne 3 ] || sleep 1.1; exit 1'
	[ "${delays[*]}" = '2 4 2 4 8' ]
}

@test "a splay is waited for before the first attempt" {
	start "$RETRY" --splay 100000h touch ran
	# it sleeps: in the wait, not in a command
	wait_for grep -q '^State:.S' "/proc/$pid/status"
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	[ ! -e ran ]
	[ ! -s err ]
}

@test "a splay takes at most half the time to the deadline" {
	for seed in 1 2 3; do
		run -0 --separate-stderr timeout 20 \
		    "$RETRY" --seed $seed --splay 1h -T 400ms echo ran
		[ "$output" = ran ]
	done
}

@test "the deadline counts from before the splay" {
	began=$(now)
	run -124 timeout 20 "$RETRY" --splay 300ms -T 600ms sleep 20
	[ $(($(now) - began)) -ge 590 ]
	[[ $output == *'giving up: deadline' ]]
}

#
# The deadline
#

@test "a deadline without a number of attempts has no other limit" {
	announced -T 20 -d 1ms -b constant --stop-on 3 \
	    sh -c '[ "$RETRY_ATTEMPT" -lt 9 ] || exit 3; exit 1'
	[ "${#delays[@]}" -eq 8 ]
	grep -qx 'retry: attempt 9 failed (exit 3), giving up: --stop-on 3' err
}

@test "a deadline and a number of attempts both hold" {
	waits '1 1' -T 20 -d 1ms -b constant -j none
	grep -qx 'retry: attempt 3/3 failed (exit 1), giving up: attempts exhausted' err
}

@test "a delay that would pass the deadline is not begun" {
	run -1 timeout 20 "$RETRY" -T 30 -d 30 -j none false
	[ "$output" = 'retry: attempt 1 failed (exit 1), giving up: deadline' ]
	run -1 timeout 20 "$RETRY" -T 30 -d 1ms,40 -j none false
	[ "${lines[1]}" = 'retry: attempt 2 failed (exit 1), giving up: deadline' ]
}

@test "a series uses the time to its deadline" {
	for jitter in full equal; do
		announced -T 400ms -d 50ms,1h -j $jitter false
		# without trimming: two attempts
			[ "${#delays[@]}" -ge 2 ]
		each 'd <= 350' "${delays[@]}"
		tail -n 1 err | grep -q 'giving up: deadline$'
	done
}

@test "with equal jitter less than two base delays are left unused" {
	began=$(now)
	announced -T 500ms -d 50ms,1h -j equal false
	[ "${#delays[@]}" -ge 2 ]
	[ $(($(now) - began)) -ge 390 ]
}

@test "exact delays are not trimmed" {
	run -1 timeout 20 "$RETRY" -T 30 -d 1ms,1h -j none false
	[ "${#lines[@]}" -eq 2 ]
	[ "${lines[1]}" = 'retry: attempt 2 failed (exit 1), giving up: deadline' ]
}

@test "a command in flight is ended at the deadline, not before" {
	began=$(now)
	run -124 timeout 20 "$RETRY" -T 300ms sleep 20
	[ $(($(now) - began)) -ge 290 ]
	[[ $output == 'retry: attempt 1 ended by the deadline after '*', giving up: deadline' ]]
}

@test "the deadline ends a later attempt too" {
	began=$(now)
	run -124 timeout 20 "$RETRY" -T 400ms -d 1ms -j none \
	    sh -c '[ "$RETRY_ATTEMPT" -eq 1 ] || exec sleep 20; exit 1'
	[ $(($(now) - began)) -ge 390 ]
	[[ ${lines[1]} == 'retry: attempt 2 ended by the deadline after '* ]]
}

@test "a timeout is not shorter than asked for" {
	began=$(now)
	run -124 timeout 20 "$RETRY" -n 2 -d 0 -t 150ms sleep 20
	[ $(($(now) - began)) -ge 290 ]
}

@test "a deadline of 0 means no deadline" {
	waits '1 1' -T 0 -d 1ms -b constant -j none
	grep -q 'giving up: attempts exhausted$' err
}
