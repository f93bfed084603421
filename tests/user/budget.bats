#!/usr/bin/env bats
# Covers store/budget_client.
# The budget: how many retries all invocations with a key have together.
# At most max(min, ratio * successes) in each window. budget_faults.bats tests
# what happens when something goes wrong.

load helper
load actor
load budget

# Most rows make their own directories.
setup() {
	helper_setup
}

@test "retries are at most min, or a part of the successes, in each window" {
	rows row scene <<-'END'
	ten in ten seconds and a fifth of the successes by default
	    unset RETRY_BUDGET_WINDOW
	    made 11/20 says="*|budget 'api': exhausted, 10 of 10 retries used in 10s (0 successes, ratio 0.2, min 10), *"
	invocations share what is allowed
	    made 3/3 --budget-min 3
	    made 2/3 --budget-min 3
	    counted firsts 2 retries 3 denied 1
	a ratio may be in percent, and what successes pay for is not added to min
	    succeed 4 --budget-min 1 --budget-ratio 50%
	    made 3/20 says='* 2 of 2 retries used in 60s (4 successes, ratio 0.5, min 1), *' --budget-ratio 0.5
	where nothing is allowed, nothing is retried or waited for
	    succeed 1 --budget-ratio 0 --budget-min 0
	    never="*|budget 'api': exhausted, 0 of 0 retries used in 60s (1 success, ratio 0, min 0), next never; giving up"
	    made 1/inf says="$never"
	    made 1/2 says="$never" --budget-wait 60s
	    try status=7 runs=1 says="$never" -B api -T 60 -d 0 "${fails[@]}"
	a window is named as it was asked for
	    made 1/2 says='* 0 of 0 retries used in 45.5s (0 successes, *' \
	        --budget-min 0 --budget-ratio 0 --budget-window 45.5
	END
}

# paid N: N successes pay for retries
paid() {
	shown "\"successes\": $1, \"window"
}

@test "a retry that succeeds is paid back, and no other" {
	rows row scene <<-'END'
	so that it leaves room for the next one
	    for i in 1 2; do
	        is 0 "$RETRY" -B api --budget-min 1 -n 2 -d 0 sh -c '[ "$RETRY_ATTEMPT" = 2 ]'
	    done
	    shown '"retries": 0, "limit": 1,.*"totals".*"retries": 2,.*"denied": 0,'
	not if it failed, was ended or was killed
	    is 8 "$RETRY" -q -B api --budget-min 3 -n 3 -d 0 --stop-on 8 \
	        sh -c 'exit "$((6 + RETRY_ATTEMPT))"'
	    is 124 "$RETRY" -q -B api -n 2 -d 0 -t 50ms sleep 20
	    start "$RETRY" -B api -n 2 -d 0 sh -c '
	        [ "$RETRY_ATTEMPT" = 2 ] || exit 7
	        kill -KILL "$PPID"'
	    ended 137
	    shown '"retries": 3, "limit": 3,'
	    made 1/2
	END
}

@test "retries of many invocations at once stay within the bound, and all count" {
	local firsts retries all_served served wasted all=40
	[ -z "${LONG-}" ] || all=10000
	make_directory
	# Of ten, six succeed at once, two by a retry, and two never.
	many "$all" "$RETRY" -q -B api --budget-window 1h --budget-min 4 --budget-ratio 0.3 \
	    -n 3 -d 0 sh -c '
		echo >>"attempts.$RETRY_ATTEMPT"
		case $(($1 % 10)) in
		0 | 1) exit 7 ;;
		2 | 3) [ "$RETRY_ATTEMPT" -gt 1 ] || exit 7 ;;
		esac
		echo >>served' sh
	mapfile firsts <attempts.1
	mapfile retries <attempts.2
	mapfile -O "${#retries[@]}" retries <attempts.3
	mapfile all_served <served
	served=${#all_served[@]}
	wasted=$((${#retries[@]} - (served - all * 6 / 10)))
	echo "${#firsts[@]} firsts, ${#retries[@]} retries, $wasted of them wasted, $served successes"
	[ "${#firsts[@]}" -eq "$all" ]
	[ "$served" -gt "$((all * 6 / 10))" ]
	[ "$wasted" -gt 0 ]
	[ "$wasted" -le 4 ] || [ "$((wasted * 10))" -le "$((served * 3))" ]
	counted firsts "$all" retries "${#retries[@]}" successes "$served"
	shown "\"retries\": $wasted,.*\"successes\": $served, \"window"
}

@test "the budget is asked before a retry, and only then" {
	rows beside scene <<-'END'
	a first attempt is never held up by it, nor by a pause
	    made 1/3 -q --budget-min 0 --budget-ratio 0 --budget-cooldown 30s
	    is 0 "$RETRY" -B api "${works[@]}"
	    ran 2
	    quiet
	an outcome that is not retried does not use it
	    none=(-v --budget-min 0 --budget-ratio 0)
	    is 0 "$RETRY" -B api "${none[@]}" "${works[@]}"
	    quiet
	    made 1/5 says='attempt*|ended after 1 attempt in *: stop-rule' "${none[@]}" --stop-on 7
	    made 1/5 says='attempt*|ended after 1 attempt in *: not-retryable' "${none[@]}" --retry-on 8
	    made 1/1 says='attempt*|ended after 1 attempt in *: attempts' "${none[@]}"
	    made 1/5 says='attempt*|ended after 1 attempt in *: deadline' "${none[@]}" -T 60 -d 100 -j none
	    is 127 "$RETRY" -B api "${none[@]}" ./missing
	    quiet
	    counted denied 0
	what cannot become free within the delay is denied at once
	    made 2/5 says="attempt 1/5 failed (exit 7), retrying in 0s if the budget allows|attempt 2/5 failed (exit 7), giving up: budget exhausted (--budget-wait waits for it)|budget 'api': exhausted, * in about *; giving up|ended after 2 attempts in *: budget" \
	        -v --budget-min 1 -d 0,30 -j none --report report --on-retry 'echo >>hook'
	    holds hook ''
	    [[ $(<report) == *'"reason": "budget", '*' "delay_ms": null, '*' "budget_exhausted": true'* ]]
	    counted firsts 1 retries 1 denied 1
	    # The oldest retries leave the window within the delay.
	    sent TERM 143 "told '.*, retrying in 1m40s if the budget allows'" \
	        "$RETRY" -B api -d 100 -j none "${fails[@]}"
	    counted firsts 2 retries 1 denied 1
	it is asked when the delay is over
	    made 1/5 ms=300 says="attempt 1/5 failed (exit 7), retrying in 0.3s if the budget allows|budget 'api': exhausted, *" \
	        -v --budget-min 0 --budget-ratio 0 -d 0.3 -j none --budget-wait 1ms
	who is denied ends as the last attempt did
	    made 1/5 -q --budget-min 0 --budget-ratio 0
	    [ ! -s err ]
	    is 75 "$RETRY" -B api -n 3 -d 0 sh -c "exit 75"
	    is 0 "$ACTOR" how "$RETRY" -B api -n 3 -d 0 sh -c 'kill -SEGV $$'
	    said 'killed SEGV'
	    is 124 "$RETRY" -B api -n 3 -d 0 -t 0.2 sleep 20
	    is 1 "$RETRY" -B api -n 3 -d 0 --fail-on 0 true
	    counted denied 5
	the command gets no descriptor of it
	    all='echo /proc/self/fd/*'
	    try out='/proc*' sh -c "$all"
	    without=$(<out)
	    only
	    try out="$without" -B api --budget-required --breaker on sh -c "$all"
	    [ -e "$api" ]
	END
}

@test "a success pays once, if it is one" {
	rows row scene <<-'END'
	whichever attempt it is
	    is 0 "$RETRY" -B api true
	    is 0 "$RETRY" -B api -n 9 -d 0 sh -c '[ "$RETRY_ATTEMPT" -eq 3 ]'
	    paid 2
	    counted successes 2 firsts 2 retries 2
	only what is judged a success
	    is 0 "$RETRY" -B api --success-on 7 "${fails[@]}"
	    is 1 "$RETRY" -q -B api --fail-on 0 -n 2 -d 0 true
	    made 2/2 -q
	    made 1/2 -q --stop-on 7
	    is 127 "$RETRY" -q -B api ./missing
	    is 124 "$RETRY" -q -B api -n 1 -t 0.1 sleep 20
	    shown '"successes": 1, "window.*"successes": 1, "retries"'
	within each attempt of another retry, too
	    inner='"$RETRY" -B api true; exit 7'
	    is 7 "$RETRY" -q -n 2 -d 0 sh -c "$inner"
	    paid 2
	    is 7 "$RETRY" -q -n 2 -d 0 "$RETRY" -q -n 2 -d 0 sh -c "$inner"
	    shown '"successes": 6, "window.*"successes": 6, "retries"'
	END
}

# bats test_tags=slow
@test "--budget-wait waits until a retry is allowed, and no longer than its time" {
	rows beside scene <<-'END'
	each retry may wait for its time, until the window is over
	    made 4/4 ms=4000 says='*, next in about *; waiting|*, next in about *; waiting|attempt 4/4 failed (exit 7), giving up: attempts exhausted' \
	        --budget-min 1 --budget-window 2s --budget-wait 3900ms
	    counted retries 3
	successes of others end the wait
	    start "$RETRY" -B api --budget-min 0 --budget-ratio 1 --budget-wait 30s -d 0 \
	        sh -c 'echo >>ran; [ "$RETRY_ATTEMPT" -gt 1 ]'
	    reached told '.*; waiting'
	    succeed 1
	    ended 0
	    ran 2
	it gives up after its time
	    made 1/5 ms=600 says='attempt*|*; waiting|*; giving up|ended after 1 attempt in *: budget' \
	        -v --budget-min 0 --budget-wait 600ms
	    counted denied 1
	without it, or with 0, there is no wait
	    made 1/5 says='attempt*|budget *; giving up' --budget-min 0
	    made 1/inf says='attempt*|budget *; giving up' --budget-min 0 --budget-wait 0
	the deadline ends it, with the last status
	    made 1/5 says='*|ended after 1 attempt in *: deadline' -v --budget-min 0 --budget-wait 60s -T 1
	where attempts have no limit the deadline alone ends it
	    try status=7 runs=1 ms=1500 says='*; waiting|*' -B api --budget-min 0 -T 2 -d 0 "${fails[@]}"
	without a deadline, only a success ends it
	    start "$RETRY" -B api --budget-min 0 --budget-ratio 1 -n inf -d 0 \
	        sh -c 'echo >>ran; [ "$RETRY_ATTEMPT" -gt 1 ]'
	    reached told '.*; waiting'
	    succeed 1
	    ended 0
	    ran 2
	it outlasts a short pause after a denial
	    made 3/3 ms=1500 -q --budget-min 1 --budget-window 1s --budget-cooldown 1500ms --budget-wait 30s
	END
}

@test "--budget-cooldown denies all retries for its time after a denial" {
	rows row scene <<-'END'
	whatever the rule would allow meanwhile
	    made 1/3 says='*exhausted, 0 of 0 retries *; giving up' \
	        --budget-min 0 --budget-ratio 1 --budget-cooldown 2500ms
	    made 1/3 says="*|budget 'api': no retries after a denial, next after a success; giving up"
	    succeed 1
	    aged 1 # now the ratio would allow one
	    made 1/3 says="*|budget 'api': no retries after a denial, next in about [01]*s; giving up"
	    older 2
	    made 2/2
	END
}

@test "each key has a budget of its own, and no key has none" {
	rows row scene <<-'END'
	budgets of different keys are independent
	    for key in api API; do
	        made 2/5 -B "$key" --budget-min 1
	    done
	RETRY_BUDGET is the key where none is given
	    export RETRY_BUDGET=api RETRY_BUDGET_MIN=1
	    is 7 "$RETRY" -q -n 5 -d 0 "${fails[@]}"
	    ran 2
	    made 2/5 -B other
	    made 1/5
	without a key, or with an empty one, there is none
	    export RETRY_BUDGET_MIN=0 RETRY_BUDGET_RATIO=0
	    is 7 "$RETRY" -n 2 -d 0 "${fails[@]}"
	    RETRY_BUDGET='' is 7 "$RETRY" -n 2 -d 0 "${fails[@]}"
	    RETRY_BUDGET=api is 7 "$RETRY" -B '' -n 2 -d 0 "${fails[@]}"
	    ran 6
	    only
	limits may come from the environment, and options come before it
	    export RETRY_BUDGET_MIN=2 RETRY_BUDGET_RATIO=50% RETRY_BUDGET_WINDOW=2m
	    made 3/9 says='* 2 of 2 retries used in 120s (0 successes, ratio 0.5, min 2), *'
	    made 2/9 says='* 1 of 1 retries used in 30s (0 successes, ratio 0.1, min 1), *' \
	        -B other --budget-min 1 --budget-ratio 0.1 --budget-window 30
	--budget-dir comes before RETRY_BUDGET_DIR, which is handed on as it was meant
	    mkdir elsewhere
	    made 2/5 --budget-dir elsewhere --budget-min 1
	    RETRY_BUDGET_DIR=elsewhere made 1/5
	    only
	    directory=elsewhere only "retry-v6.$EUID.api"
	    RETRY_BUDGET_DIR=elsewhere try out="$PWD/elsewhere" \
	        sh -c 'cd / && echo "$RETRY_BUDGET_DIR"'
	a key may have any bytes
	    keys=(. ../../x $'\xff\n*' -n)
	    for key in "${keys[@]}"; do
	        made 1/2 says='* exhausted, 0 of 0 retries *' -B "$key" --budget-min 0 --budget-ratio 0
	    done
	    files=(budgets/retry-v6.*)
	    [ "${#files[@]}" -eq "${#keys[@]}" ]
	control bytes in a key do not break the line of a message
	    made 2/3 says="*budget 'a\\\\nb\\\\x1b\\[31m': exhausted, *" -B $'a\nb\e[31m' --budget-min 1
	END
}
