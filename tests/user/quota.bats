#!/usr/bin/env bats
# Covers budget/pace.
# A server that limits its clients: what all commands with a budget have seen of
# it holds for all, and its limit is no failure.
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

# shut SECONDS [STATUS]: the budget is closed for so long, and nobody probes: the
# refusal of a probe, which names a later time, was a punishment
shut() {
	refuse "${2-429}" "$(($1 - 2))"
	sleep 0.05 # until somebody may probe
	refuse "${2-429}" "$1"
	: >err
}

# held REGEX: so many seconds are left of the time that the server has named
held() {
	shown "\"held_seconds\": $1[,.]"
}

# puts_off LIMIT [OPTION]...: a first attempt waits, and then is not made; it says
# how the server limits
puts_off() {
	local limit=$1
	shift
	: >err
	is 75 "$RETRY" -v -B api "$@" touch ran
	[ ! -e ran ]
	noted 2 "retry: budget 'api': the server limits$limit; waiting (59|1m|5[0-9]).* retry: budget 'api': the server limits$limit; command not run"
	told 'retry: ended after 0 attempts in .*: retry-after'
}

# limited STATUS [OPTION]...: the first attempt of two meets this status, and this
# $field
limited() {
	local status=$1
	shift
	"$RETRY" -q -B api --budget-min 0 --budget-ratio 0 -n 2 -d 1 -j none \
		"$@" --http-status status sh -c '
		[ "$RETRY_ATTEMPT" = 2 ] || {
			printf "HTTP/1.1 $1\r\n$2\r\n" >status
			exit 22
		}' sh "$status" "${field-}"
}

# serves N HUNDREDTHS: makes ./serve, a command that a server serves so often in
# each window of time; else it says when the window is over
serves() {
	cat >serve <<-'END'
		exec 9>lock
		flock 9
		window=0 count=0
		[ ! -e state ] || read -r window count <state
		read -r up rest </proc/uptime
		now=${up%.*}${up#*.}
		[ "$((now - window))" -lt "$2" ] || window=$now count=0
		if [ "$count" -lt "$1" ]; then
			echo "$window $((count + 1))" >state
			echo "$3" >>served
			exit
		fi
		echo "$3" >>refused
		echo slow down >&2
		printf 'HTTP/1.1 429 X\r\nretry-after-ms: %d\r\n\r\n' \
		    "$(((window + $2 - now) * 10))" >"${RETRY_HTTP_STATUS-/dev/null}"
		exit 22
	END
	served=(sh ./serve "$@")
}

# items COUNT [OPTION]...: as many commands that the server serves, 32 at a time
items() {
	local count=$1
	shift
	eval "printf '%s\n' {1..$count}" | xargs -P 32 -n 1 "$RETRY" -q -B api --http "$@" \
		"${served[@]}" 2>>err
}

# all_served COUNT: each item was, once
all_served() {
	local all
	mapfile -t all < <(sort -n served)
	eval "[ '${all[*]}' = \"\$(echo {1..$1})\" ]" || {
		echo "served: ${all[*]}"
		return 1
	} >&2
}

@test "what a server asks one command holds for all with its budget" {
	rows beside scene <<-'END'
	for first attempts, which are not made if there is no time for them
	    shut 60
	    held '(60|5[0-9])'
	    puts_off '' -T 1
	    puts_off '' --max-retry-after 300ms
	    puts_off '' --max-retry-after 300ms -T 9
	    counted throttled 3 denied 0 gave_up 5
	    "$RETRY" --budget-status api >got
	    [[ $(tail -n 1 got) == 'api '*' '@(1m|5*s)' '*' '5' '*- ]]
	and for a retry
	    mkfifo go
	    start "$RETRY" -v -B api -d 1 -j none -T 6 --report report sh -c '
	        echo >>ran
	        read -r line <go
	        exit 7'
	    wait_for test -e ran
	    shut 60 503
	    echo >go
	    ended 7
	    ran 1
	    noted 2 "retry: budget 'api': the server limits; waiting .*s retry: budget 'api': the server limits; giving up"
	    [[ $(<report) == *'"reason": "retry-after", '*'"throttled": true'* ]]
	the earliest time that was named counts, up to --max-retry-after
	    mkfifo go
	    start "$RETRY" -B api -n 1 --http-status later sh -c ': >ran
	        read -r line <go
	        printf "HTTP/1.1 429\r\nRetry-After: 20\r\n\r\n" >later; exit 22'
	    wait_for test -e ran
	    refuse 429 90 --max-retry-after 50s
	    held '(50|4[0-9])'
	    echo >go
	    ended 22
	    held '(20|1[0-9])'
	a signal ends the wait
	    shut 60 503
	    start "$RETRY" -B api touch ran
	    reached told "retry: budget 'api': the server limits; waiting .*"
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
	also where the command is not tried again, or waits for less
	    refuse 429 60 --stop-on 22
	    held '(60|5[0-9])'
	    refuse 429 60 --stop-on 22 --max-retry-after 20s
	    held '(20|1[0-9])'
	also after words or a status that the user or a preset calls a limit
	    is 7 "$RETRY" -q -B api -n 1 --retry-after 60:7 sh -c 'exit 7'
	    held '(60|5[0-9])'
	    is 1 "$RETRY" -q -B gh -n 1 --preset gh sh -c 'echo secondary rate limit >&2; exit 1'
	    "$RETRY" --budget-status gh --json | grep -qE '"held_seconds": (60|5[0-9])[,.]'
	    "$RETRY" -q -B 503 -n 1 --retry-after 60:http:503 --http-status status \
	        sh -c 'echo 503 >status; exit 22' || :
	    "$RETRY" --budget-status 503 --json | grep -qE '"held_seconds": (60|5[0-9])[,.]'
	for as long as the user has named, which --max-retry-after does not bound
	    is 7 "$RETRY" -q -B api -n 1 --max-retry-after 20 --retry-after 600:7 sh -c 'exit 7'
	    held '(600|59[0-9])'
	not without a budget, nor for those with another one
	    shut 60
	    is 0 "$RETRY" "${works[@]}"
	    is 0 "$RETRY" -B other "${works[@]}"
	    ran 2
	    quiet
	where idle budgets are removed, too
	    refuse 429 60
	    "$RETRY" --budget-gc
	    held '(60|5[0-9])'
	nor after a reset
	    shut 60
	    "$RETRY" --budget-reset api
	    is 0 "$RETRY" -B api "${works[@]}"
	    quiet
	nor if it asks for no time, or is well
	    refuse 429 0
	    held 0
	    refuse 404 60
	    held 0
	    refuse 400 60
	    is 0 "$RETRY" -B api "${works[@]}"
	    held 0
	END
}

@test "one that waits may probe, and what is served opens the budget" {
	rows beside scene <<-'END'
	long before the time that was named
	    refuse 429 60
	    is 0 "$RETRY" -B api -T 20 "${works[@]}"
	    held 0
	    is 0 "$RETRY" -B api -T 20 "${works[@]}"
	    ran 2
	an answer that is no limit serves, too
	    refuse 429 60
	    refuse 404 '' -T 20
	    held 0
	what has no answer does not
	    refuse 429 60
	    is 7 "$RETRY" -q -B api -T 20 -n 1 "${fails[@]}"
	    held '(60|5[0-9])'
	a probe that takes long holds nobody up
	    refuse 429 60
	    start "$RETRY" -q -B api -T 50 sh -c 'echo >probe; read -r line <gate'
	    mkfifo gate
	    wait_for test -e probe
	    kill -STOP "$pid"
	    is 0 "$RETRY" -q -B api -T 30 "${works[@]}"
	    held 0
	    kill -CONT "$pid"
	    ended_by TERM 143
	one that is killed holds nobody up
	    refuse 429 60
	    start "$RETRY" -q -B api -T 50 sh -c 'echo >probe; exec sleep 20'
	    wait_for test -e probe
	    kill -KILL -- "-$pid"
	    is 0 "$RETRY" -q -B api -T 30 "${works[@]}"
	    held 0
	END
}

# bats test_tags=slow
@test "those that wait for a server start when it has asked to, and say so once" {
	rows beside scene <<-'END'
	one
	    look_at_clock
	    before=$moment
	    shut 7
	    older 3
	    is 0 "$RETRY" -B api "${works[@]}"
	    note "retry: budget 'api': the server limits; waiting ([0-3]\..*|[1-4])s"
	    took_since "$before" 4000
	    counted throttled 1 firsts 3 successes 1
	many, up to shortly before their deadline
	    shut 7
	    older 3
	    many 40 "$RETRY" -q -B api -T 15 sh -c 'sleep 0.5; echo >>ran'
	    ran 40
	whether others that wait are stopped or killed
	    shut 7
	    older 3
	    start "$RETRY" -B api -T 60 touch stopped
	    reached told 'retry: budget .*; waiting .*'
	    kill -STOP "$pid"
	    stopped=$pid
	    : >err
	    start "$RETRY" -B api -T 60 touch killed
	    reached told 'retry: budget .*; waiting .*'
	    kill -KILL "$pid"
	    is 0 "$RETRY" -q -B api -T 30 "${works[@]}"
	    [ ! -e killed ]
	    [ ! -e stopped ]
	    pid=$stopped
	    kill -CONT "$pid"
	    ended 0
	END
}

# bats test_tags=slow
@test "what is known of a limit is said, as a pace or as a window" {
	rows beside scene <<-'END'
	so many a second
	    succeed 3
	    refuse 429 60
	    sleep 0.05
	    refuse 429 50 # a probe
	    is 0 "$RETRY" -q -B api -T 30 "${works[@]}"
	    rm ran
	    refuse 429 60
	    refuse 429 65
	    held '6[0-5]'
	    puts_off ': about [0-9]+(\.[0-9])? a second' --max-retry-after 1s
	so many in a time
	    succeed 3
	    shut 7
	    older 3
	    is 0 "$RETRY" -B api -T 30 true
	    note "retry: budget 'api': the server limits; waiting .*s"
	    refuse 429 60
	    puts_off ': 3 in ([4-9]|[1-5][0-9])(\.[0-9]+)?s' --max-retry-after 1s
	END
}

@test "a limit is no failure: its retry is not counted, and no breaker opens" {
	rows beside scene <<-'END'
	which also succeeds where the budget allows none
	    is 0 limited 429 --breaker 1,1h
	    counted retries 0 limited 1 attempts 2 denied 0 rescued 1 gave_up 0
	    shown '"state": "closed", "failures": 0,'
	but a service that is down is one, whenever it wants to be asked
	    is 22 limited 503
	    counted retries 0 limited 0 denied 1 rescued 0 gave_up 1
	    held 0
	if it names a time, it also keeps all others away
	    refuse 503 60 --breaker 1,1h
	    held '(60|5[0-9])'
	    shown '"state": "open", "failures": 1,'
	    counted limited 0
	a limit is none, however short the wait for it
	    is 0 limited 429 -d 0.2
	    is 0 limited 429 -d 1ms
	    counted limited 2 denied 0
	    held 0
	nor where it names no time, or hardly one, which -d makes longer
	    look_at_clock
	    before=$moment
	    field='Retry-After: 0\r\n'
	    is 0 limited 429 -d 0.3
	    field='retry-after-ms: 20\r\n'
	    is 0 limited 429 -d 0.3
	    counted limited 2 denied 0
	    took_since "$before" 580
	words for a limit, with a preset or --retry-after, and no others
	    says=(sh -c '[ "$RETRY_ATTEMPT" = 2 ] || { echo "$1" >&2; exit 1; }' sh)
	    none=(-q --budget-min 0 --budget-ratio 0 -n 2 -d 1 -j none)
	    is 0 "$RETRY" -B api "${none[@]}" --preset docker "${says[@]}" \
	        'toomanyrequests: slow down'
	    is 0 "$RETRY" -B hint "${none[@]}" --retry-after 'stderr:again in ' \
	        "${says[@]}" 'rate limit, try again in 1s'
	    counted limited 1
	    is 0 "$RETRY" -B own "${none[@]}" --retry-after 1:stderr:busy "${says[@]}" busy
	    is 1 "$RETRY" -B own "${none[@]}" --retry-after 1:stderr:busy "${says[@]}" down
	    is 22 limited 503 --retry-after 1:http:503
	    is 0 limited 404 --retry-on http:404 --retry-after 1:http:404
	    is 1 "$RETRY" -B down "${none[@]}" --retry-after 'stderr:again in ' \
	        "${says[@]}" 'service is down, try again in 1s'
	    is 1 "$RETRY" -B words "${none[@]}" --preset docker "${says[@]}" \
	        'connection reset by peer'
	    is 0 "$RETRY" -B out "${none[@]}" --preset mvn \
	        sh -c '"$@" 2>&1' sh "${says[@]}" \
	        'Could not transfer x: status code: 429, reason phrase: Too Many Requests'
	END
}

# bats test_tags=slow
@test "32 at a time are served by a server that limits them" {
	rows beside scene <<-'END'
	all of them, and neither the breaker nor the budget has seen a failure
	    serves 10 300
	    items 35 -T 100 --breaker 3,1h --budget-min 0 --budget-ratio 0
	    all_served 35
	    [ "$(lines refused)" -ge 1 ]
	    shown '"state": "closed", "failures": 0,'
	    counted firsts 35 successes 35 denied 0 retries 0 gave_up 0
	    [ "${total[throttled]}" -ge 1 ]
	where it does not say how long to wait, and the user does
	    serves 5 600
	    items 12 --no-http -T 100 --breaker 3,1h --budget-min 0 --budget-ratio 0 \
	        --retry-after 6:stderr:slow
	    all_served 12
	    [ "$(lines refused)" -ge 1 ]
	    shown '"state": "closed", "failures": 0,'
	    counted firsts 12 successes 12 denied 0 retries 0 gave_up 0
	with one attempt each only those are lost that were refused
	    serves 10 300
	    items 60 -n 1 -T 100 || :
	    [ $(($(lines served) + $(lines refused))) -eq 60 ]
	    [ "$(lines served)" -ge 13 ]
	    counted gave_up "$(lines refused)" denied 0
	several successes in a row, and --retry-if
	    serves 10 50
	    items 10 -n inf -T 100 --consecutive 3 --retry-if 'echo >>asked'
	    [ "$(lines served)" -ge 30 ]
	    counted successes 10 denied 0 gave_up 0
	    [ "$(lines asked)" -eq "$(lines refused)" ]
	those that wait for a state
	    serves 5 50
	    items 20 -w 100s
	    all_served 20
	    counted successes 20 denied 0 gave_up 0
	although one is told to wait for long
	    items() { seq 30 | xargs -P 8 -n 1 "$RETRY" -q -B api -T 60 --http "$@"; }
	    items sh -c '[ "$1" != 5 ] || {
	        printf "HTTP/1.1 503 X\r\nRetry-After: 120\r\n\r\n" >"$RETRY_HTTP_STATUS"
	        exit 22
	    }
	    echo "$1" >>served' sh || :
	    [ "$(lines served)" -eq 29 ]
	    counted gave_up 1
	END
}
