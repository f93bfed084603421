#!/usr/bin/env bats
# Covers store/budget_client, attempt/event_loop.
# The breaker: what holds attempts back while a dependency is down, and how one
# of them finds out that it is up again.

load helper
load actor
load budget

# The rows make their own directories.
setup() {
	helper_setup
}

# tried STATUS SAYS [OPTION]...: a try of an invocation whose only attempt fails with 7,
# or of one that is held
tried() {
	try status="$1" says="$2" -B api -n 1 "${@:3}" "${fails[@]}"
}

# open SAYS [OPTION]...: it is held, which it says so
open() {
	tried 75 "breaker 'api': open after $1; command not run" "${@:2}"
}

# due: makes the segment so old that the probe is due, or its lease over
due() {
	shown '"gate": .*"next_seconds": ([0-9.]+)' && older "${BASH_REMATCH[1]}"
}

# opened_due [OPTION]...: a breaker that one failure opened, and whose probe is
# due
opened_due() {
	tried 7 '' -q "$@"
	due
}

# probe OPTION...: begins an invocation that becomes the probe, in the
# background, and whose command ends with the status that is written to ./go
probe() {
	mkfifo go
	start "$RETRY" -B api -n 1 "$@" sh -c 'echo >>probes
		read -r status <go; exit "$status"'
	reached [ -e probes ]
}

# items COUNT PARALLEL [OPTION]... COMMAND...: COUNT items, so many at once
items() {
	eval "printf '%s\n' {1..$1}" >items
	start xargs -a items -P "$2" -n 1 "$RETRY" -q -B api "${@:3}"
}

# all_served COUNT: each of them was, once, and all retries ended with 0
all_served() {
	local all item once=()
	PATIENCE=${PATIENCE:-240} ended 0
	mapfile -t all <served
	for item in "${all[@]}"; do
		once[item]=$item
	done
	[ "${#all[@]} ${#once[@]}" = "$1 $1" ]
}

@test "after N failures in a row the breaker is open, and nothing is run" {
	rows row scene <<-'END'
	failures of several invocations, with --breaker and without
	    tried 7 '*'
	    tried 7 '*'
	    tried 7 '*' --breaker 3,10s
	    ran 3
	    open '3 consecutive failures, probe in @(10|[5-9]|[5-9].[0-9])s' --breaker 3,10s
	    ran 3
	failures of one invocation
	    made 3/9 says="*|breaker 'api': open after 3 consecutive failures, probe in *; giving up|ended after 3 attempts in *: breaker" \
	        -v --breaker 3,10s
	    open '3 *' --breaker 3,10s
	    ran 3
	twenty by default
	    made 20/99 --breaker on --budget-min 99
	    open '20 consecutive failures, probe in @(10|[1-9]|[1-9].[0-9])s' --breaker on
	one failure is not called consecutive, -q says nothing, -v the reason
	    tried 7 '*' --breaker 1,10s
	    tried 75 "breaker 'api': open after 1 failure, probe in *; command not run|ended after 0 attempts in *: breaker" \
	        -v --breaker 1,10s
	    tried 75 '' -q --breaker 1,10s
	    ran 1
	each key has its own, and without --breaker nothing is held back
	    tried 7 '' -q --breaker 1,10s
	    tried 7 '' -q -B other --breaker 1,10s
	    tried 7 'attempt 1/1 *'
	    ran 3
	    open '*' --breaker 1,10s
	what is not retried, and what is a success, is no failure
	    is 22 "$RETRY" -q -B api --breaker 1,10s --http-status codes \
	        sh -c "echo >>ran; echo 404 >codes; exit 22"
	    tried 7 '*' --breaker 1,10s --stop-on 7
	    tried 7 '*' --breaker 1,10s --retry-on 9
	    tried 7 '*' --breaker 1,10s --keep-status --success-on 7
	    is 127 "$RETRY" -q -B api --breaker 1,10s ./missing
	    ran 4
	    is 22 "$RETRY" -q -B api --breaker 2,10s -n 5 -d 0 --http-status codes \
	        sh -c "echo >>ran; echo 503 >codes; exit 22"
	    ran 6
	    open '2 *' --breaker 2,10s
	nor is an exhausted budget, or an attempt that the deadline ends
	    made 1/9 -q --breaker 2,10s --budget-min 0 --budget-ratio 0
	    is 124 "$RETRY" -q -B api --breaker 2,10s -T 0.1 sleep 20
	    counted denied 1
	    succeed 1 --breaker 2,10s
	END
}

@test "after its pause the breaker lets one attempt through, which decides" {
	rows beside scene <<-'END'
	a success closes it
	    opened_due --breaker 1,2s
	    probe --breaker 1,2s
	    open '1 failure, probe under way, ask again in @(3|[12]|[12].?)s' --breaker 1,2s
	    ran 1
	    echo 0 >go
	    ended 0
	    succeed 2 --breaker 1,2s
	    holds probes ''
	a failure that is not retried closes it
	    opened_due --breaker 1,2s
	    tried 7 'attempt*' --breaker 1,2s --stop-on 7
	    tried 7 'attempt*' --breaker 1,2s --stop-on 7
	    ran 3
	a failure is told before --retry-if answers, which -t does not end
	    opened_due --breaker 1,500ms
	    start "$RETRY" -q -B api --breaker 1,500ms -n 2 -d 0 -t 1 \
	        --retry-if ': >asked; sleep 30; true' "${fails[@]}"
	    reached [ -e asked ]
	    open '2 consecutive failures, probe in *s' --breaker 1,500ms
	    due
	    succeed 1 --breaker 1,500ms
	    ended_by TERM
	    ran 2
	a success after a signal closes it
	    opened_due --breaker 1,2s
	    sent TERM 0 '[ -e probes ]' "$RETRY" -B api --breaker 1,2s \
	        sh -c 'trap "exit 0" TERM; echo >>probes; while :; do sleep 0.1; done'
	    tried 7 '*' --breaker 1,2s
	    open '1 failure, probe in *s' --breaker 1,2s
	END
}

@test "a probe has a lease, which it renews as long as it runs" {
	rows beside scene <<-'END'
	after a prober is killed the next invocation is the probe
	    opened_due --breaker 1,100ms
	    probe --breaker 1,100ms
	    kill -KILL -- "-$pid"
	    ended
	    open '*, probe under way, ask again in @(3|[12]|[12].?)s' --breaker 1,100ms
	    due
	    succeed 2 --breaker 1,100ms
	    ran 1
	a probe may take longer
	    opened_due --breaker 1,1s
	    probe --breaker 1,1s -t 60
	    renewed() {
	        look_into "$api"
	        [ "$content" != "$before" ] && before=$content && shown '"half-open".*"next_seconds": 2'
	    }
	    for _ in 1 2; do
	        older 1
	        look_into "$api"
	        before=$content
	        wait_for renewed
	    done
	    tried 75 '' -q --breaker 1,1s
	    echo 7 >go
	    ended 7
	    open '2 consecutive failures, probe in @(2|1*)s' --breaker 1,1s
	END
}

@test "after a probe that tells nothing the next invocation is the probe at once" {
	rows beside scene <<-'END'
	a signal has ended it
	    opened_due --breaker 1,2s
	    probe --breaker 1,2s
	    ended_by INT
	    succeed 2 --breaker 1,2s
	    ran 1
	its command cannot be executed
	    opened_due --breaker 1,2s
	    is 127 "$RETRY" -q -B api --breaker 1,2s ./missing
	    : >plain
	    is 126 "$RETRY" -q -B api --breaker 1,2s ./plain
	    tried 7 '*' --breaker 1,2s
	    open '*' --breaker 1,2s
	    ran 2
	it has died of SIGPIPE
	    opened_due --breaker 1,2s
	    is 141 "$RETRY" -q -B api --breaker 1,2s sh -c 'kill -PIPE $$'
	    is 0 "$RETRY" -B api --breaker 1,2s "${works[@]}"
	    ran 2
	END
}

# bats test_tags=slow
@test "--budget-wait waits for the breaker, too" {
	rows beside scene <<-'END'
	until a first attempt may be the probe
	    look_at_clock
	    before=$moment
	    tried 7 '*' --breaker 1,3s
	    try says="breaker 'api': open after 1 failure, probe in *; waiting" \
	        -B api --breaker 1,3s --budget-wait 30s "${works[@]}"
	    took_since "$before" 3000
	    ran 2
	until its time is over, with 75
	    tried 7 '' -q --breaker 1,30s
	    look_at_clock
	    before=$moment
	    tried 75 '*; waiting|*; command not run|ended after 0 attempts in *: breaker' \
	        -v --breaker 1,30s --budget-wait 600ms
	    took_since "$before" 600
	    ran 1
	before a retry
	    is 0 "$RETRY" -q -B api --breaker 1,500ms --budget-wait 30s -d 0 \
	        sh -c 'echo >>ran; [ "$RETRY_ATTEMPT" -eq 3 ]'
	    ran 3
	each reason for a wait is in one message
	    start "$RETRY" -B api --budget-min 0 -n 2 -d 0 --breaker 2,100ms \
	        --budget-wait 5s "${fails[@]}"
	    reached told 'retry: budget .*; waiting'
	    is 7 "$RETRY" -q -B api -n 1 --breaker 2,3s "${fails[@]}"
	    reached told 'retry: breaker .*; waiting'
	    # No attempt asks before the dependency has recovered.
	    kill -STOP "$pid"
	    # It leaves the probe to the retry that waits, as long as that one asks.
	    is 0 "$RETRY" -q -B api --breaker 2,3s --budget-wait 30s true
	    older 2
	    ended_by CONT 7
	    ran 2
	    noted 3 'retry: budget .*; waiting retry: breaker .*; waiting retry: budget .*; giving up'
	a deadline before the first attempt gives 75
	    tried 7 '' -q --breaker 1,30s
	    look_at_clock
	    before=$moment
	    tried 75 '*|ended after 0 attempts in *: deadline' -v --breaker 1,30s --budget-wait 60s -T 2
	    took_since "$before" 1500
	    ran 1
	END
}

@test "of nested retries the outermost with a breaker asks it" {
	rows row scene <<-'END'
	within a probe that breaker holds nobody back
	    opened_due --breaker 1,2s
	    is 0 timeout --foreground 20 "$RETRY" -B api --breaker 1,2s -n 1 \
	        "$RETRY" --breaker 1,2s --budget-wait 1h "${works[@]}"
	    ran 2
	    is 0 "$RETRY" -B api --breaker 1,2s "${works[@]}"
	another one does
	    tried 7 '*' -B other --breaker 1,10s
	    is 75 "$RETRY" -B api --breaker 1,10s -n 1 \
	        "$RETRY" -B other --breaker 1,10s "${works[@]}"
	    ran 1
	a failure counts once
	    is 7 "$RETRY" -q -B api --breaker 3,10s -n 1 "$RETRY" -q -n 1 \
	        "$RETRY" -q -n 1 "${fails[@]}"
	    is 0 "$RETRY" -B api --breaker 3,10s "${works[@]}"
	END
}

# outage SECONDS COUNT PARALLEL [LATENCY]: COUNT items, so many at once, with a
# dependency that is down for so long; then all of them are served
outage() {
	local before most refused
	rm -rf up refused served budgets/*
	look_at_clock
	before=$moment
	items "$2" "$3" -n inf -d 100ms -b constant --breaker 20,500ms,1s --budget-wait 3m sh -c '
		[ -e up ] && { echo "$1" >>served; exit; }
		echo >>refused; '"${4+sleep $4; }"'exit 7' sh
	sleep "$1"
	wait_for shown '"state": "(half-)?open"'
	: >up
	# What opens it, what is under way then, and probes. Without the breaker
	# each would be refused ten times a second.
	look_at_clock
	most=$((20 + $3 - 1 + (moment - before) / 500))
	all_served "$2"
	mapfile refused <refused
	echo "${#refused[@]} of $most"
	[ "${#refused[@]}" -ge 11 ] # or it opens when the eleventh retry is denied
	[ "${#refused[@]}" -le "$most" ]
	look_at_totals
	# The allowance pays for no more than it may.
	most=$((total[successes] / 5))
	[ "${total[retries]}" -le "$((most > 10 ? most : 10))" ]
	[ "$((total[probes] + total[turns]))" -ge 5 ]
}

# bats test_tags=slow
@test "in an outage the breaker lets few attempts through, and then serves all" {
	rows beside scene <<-'END'
	many wait and ask often
	    outage 1 24 16
	    if [ -n "${LONG-}" ]; then
	        outage 10 10000 64
	        outage 15 2000 64 0.1
	    fi
	where all attempts fail, only the allowance and probes are let through
	    look_at_clock
	    before=$moment pause=300 probes=0
	    items 16 16 --breaker 20,300ms,1200ms -T 2s -d 100ms -b constant \
	        sh -c 'echo >>ran; exit 7' sh
	    PATIENCE=${PATIENCE:-60} ended
	    # One probe after each pause that fits in.
	    look_at_clock
	    for ((span = moment - before - pause; span >= 0; span -= pause)); do
	        ((++probes))
	        ((pause = pause < 1200 ? 2 * pause : 1200))
	    done
	    counted successes 0 turns 0
	    declare -p total
	    echo "$probes probes at most"
	    [ "${total[firsts]}" -le 16 ]
	    [ "${total[retries]}" -le 10 ]
	    [ "${total[probes]}" -le "$probes" ]
	    # The deadline may end one before it runs.
	    mapfile ran <ran
	    [ "${#ran[@]}" -ge 11 ]
	    [ "${#ran[@]}" -le "$((total[firsts] + total[retries] + total[probes]))" ]
	END
}
