#!/usr/bin/env bats
# Covers budget/hold.
# A server that limits its clients: what it asks one command holds for all that
# share a budget, and its limit is no failure.
# shellcheck disable=SC2016,SC2034 # rows are code

load helper
load actor
load budget

# refuse STATUS SECONDS [OPTION]...: a command with the budget, that makes one
# attempt as a rule, is refused with this HTTP status and, unless SECONDS is "",
# this Retry-After
refuse() {
	local status=$1 after=${2:+"Retry-After: $2\\r\\n"}
	shift 2
	: >err
	is 22 "$RETRY" -B api -n 1 --http-status status "$@" sh -c '
		printf "HTTP/1.1 $1\r\n$2\r\n" >status; exit 22' sh "$status" "$after"
}

# held REGEX: so many seconds are left of the hold
held() {
	shown "\"held_seconds\": $1[,.]"
}

# puts_off STATUS LINE [OPTION]...: a first attempt is not made; the message ends
# with LINE
puts_off() {
	local status=$1 line=$2
	shift 2
	: >err
	is "$status" "$RETRY" -v -B api "$@" touch ran
	[ ! -e ran ]
	noted 1 "retry: budget 'api': the server asked to wait $line"
}

@test "what a server asks one command holds for all with its budget" {
	rows row scene <<-'END'
	for first attempts, which are not made if there is no time for them
	    refuse 429 60
	    held '(60|5[0-9])'
	    puts_off 75 '(1m|5.*s); command not run' -T 5
	    told 'retry: ended after 0 attempts in .*: retry-after'
	    puts_off 75 '(1m|5.*s); command not run' --max-retry-after 2s
	    counted throttled 2 denied 0 gave_up 3
	    "$RETRY" --budget-status api >got
	    [[ $(tail -n 1 got) == 'api '*' '@(1m|5*s)' '*' '3' '*- ]]
	and for a retry
	    mkfifo go
	    start "$RETRY" -v -B api -d 1 -j none -T 9 --report report sh -c '
	        echo >>ran
	        read -r line <go
	        exit 7'
	    wait_for test -e ran
	    refuse 503 60
	    echo >go
	    ended 7
	    ran 1
	    note "retry: budget 'api': the server asked to wait 5.*s; giving up"
	    [[ $(<report) == *'"reason": "retry-after", '*'"throttled": true'* ]]
	the longest wait counts, up to --max-retry-after
	    mkfifo go
	    start "$RETRY" -B api -n 1 --http-status later sh -c ': >ran
	        read -r line <go
	        printf "HTTP/1.1 429\r\nRetry-After: 20\r\n\r\n" >later; exit 22'
	    wait_for test -e ran
	    refuse 429 90 --max-retry-after 50s
	    echo >go
	    ended 22
	    held '(50|4[0-9])'
	a signal ends the wait
	    refuse 503 60
	    start "$RETRY" -B api touch ran
	    reached told "retry: budget 'api': the server asked to wait .*; waiting"
	    ended_by TERM 143
	    [ ! -e ran ]
	at once, although --retry-if is still to be answered
	    mkfifo go
	    start "$RETRY" -B api -n 2 -d 0 --retry-if 'read -r line <go; false' \
	        --http-status status sh -c '
	        printf "HTTP/1.1 429\r\nRetry-After: 60\r\n\r\n" >status; exit 22'
	    wait_for held '(60|5[0-9])'
	    echo >go
	    ended 22
	not without a budget, nor for those with another one
	    refuse 429 60
	    is 0 "$RETRY" "${works[@]}"
	    is 0 "$RETRY" -B other "${works[@]}"
	    ran 2
	    quiet
	END
}

# bats test_tags=slow
@test "those that wait for a server start when it has asked to, and say so once" {
	local moment before
	look_at_clock
	before=$moment
	refuse 429 3
	is 0 "$RETRY" -B api "${works[@]}"
	note "retry: budget 'api': the server asked to wait ([012]\..*|[123])s; waiting"
	took_since "$before" 3000
	counted throttled 1 firsts 2 successes 1
}

# bats test_tags=slow
@test "those that wait for a server until shortly before their deadline have time for the attempt" {
	refuse 429 4
	many 40 "$RETRY" -q -B api -T 6 sh -c 'sleep 0.5; echo >>ran'
	ran 40
}

@test "a limit is no failure: its retry is not counted, and no breaker opens" {
	# limited STATUS [OPTION]...: the first attempt of two meets this status
	limited()
	{
		local status=$1
		shift
		"$RETRY" -q -B api --budget-min 0 --budget-ratio 0 -n 2 -d 1 -j none \
			"$@" --http-status status sh -c '
			[ "$RETRY_ATTEMPT" = 2 ] || {
				printf "HTTP/1.1 $1\r\n\r\n" >status
				exit 22
			}' sh "$status"
	}
	rows beside scene <<-'END'
	which also succeeds where the budget allows none
	    is 0 limited 429 --breaker 1,1h
	    counted retries 0 limited 1 attempts 2 denied 0 rescued 1 gave_up 0
	    shown '"state": "closed", "failures": 0,'
	but a service that is down is one, whenever it wants to be asked
	    is 22 limited 503
	    counted retries 0 limited 0 denied 1 rescued 0 gave_up 1
	so is a limit if the wait for it is short
	    is 22 limited 429 -d 0.2
	    counted limited 0 denied 1
	    held 0
	words for a limit, with a preset or --retry-after, and no others
	    says=(sh -c '[ "$RETRY_ATTEMPT" = 2 ] || { echo "$1" >&2; exit 1; }' sh)
	    none=(-q --budget-min 0 --budget-ratio 0 -n 2 -d 1 -j none)
	    is 0 "$RETRY" -B api "${none[@]}" --preset docker "${says[@]}" \
	        'toomanyrequests: slow down'
	    is 0 "$RETRY" -B hint "${none[@]}" --retry-after 'stderr:again in ' \
	        "${says[@]}" 'rate limit, try again in 1s'
	    counted limited 1
	    is 1 "$RETRY" -B down "${none[@]}" --retry-after 'stderr:again in ' \
	        "${says[@]}" 'service is down, try again in 1s'
	    is 1 "$RETRY" -B words "${none[@]}" --preset docker "${says[@]}" \
	        'connection reset by peer'
	    is 0 "$RETRY" -B out "${none[@]}" --preset mvn \
	        sh -c '"$@" 2>&1' sh "${says[@]}" \
	        'Could not transfer x: status code: 429, reason phrase: Too Many Requests'
	END
}
