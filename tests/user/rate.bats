#!/usr/bin/env bats
# Covers budget/rate.
# --rate: at most so many attempts of all commands with a budget begin in a time.
# shellcheck disable=SC2016,SC2034 # rows are code

load helper
load actor
load budget
load json

# begins OPTION...: an attempt begins at once, or before long
begins() {
	try runs=1 says='' -B api -T 20 "$@" "${works[@]}"
}

# full RATE [OPTION]...: none does, and in the next 20 s none will
full() {
	local rate=$1
	shift
	try status=75 runs=0 says="budget 'api': a place at --rate $rate in *; command not run" \
		-B api -T 20 "$@" "${works[@]}"
}

@test "--rate lets so many attempts of all commands begin, and no more" {
	rows row scene <<-'END'
	at once, whoever they are of
	    for try in 1 2 3; do
	        begins --rate 3/1h
	    done
	    full 3/h --rate 3/1h
	    full 3/h
	    begins -B other
	32 at a time
	    eval "printf '%s\n' {1..50}" | xargs -P 32 -n 1 "$RETRY" -q -B api \
	        --rate 20/1h -T 60 "${works[@]}" || :
	    ran 20
	    counted firsts 20 throttled 30 gave_up 30 denied 0
	whatever becomes of them
	    try status=7 runs=1 says='*' -B api -n 1 --rate 3/1h "${fails[@]}"
	    start "$RETRY" -B api --rate 3/1h sh -c 'echo >begun; exec sleep 20'
	    wait_for test -e begun
	    kill -KILL -- "-$pid"
	    is 127 "$RETRY" -q -B api -n 1 --rate 3/1h ./missing
	    full 3/h --rate 3/1h
	retries, and those after successes, have places, too
	    try status=7 runs=2 says='*|*exhausted' -B api -n 2 -d 0 --rate 6/1h "${fails[@]}"
	    try runs=3 -B api -n 3 -d 0 --consecutive 3 --rate 6/1h "${works[@]}"
	    begins --rate 6/1h
	    full 6/h --rate 6/1h
	also where idle budgets are removed
	    is 7 "$RETRY" -q -B api -n 1 --rate 1/1h "${fails[@]}"
	    "$RETRY" --budget-gc
	    full 1/h --rate 1/1h
	but not what others hold back
	    is 7 "$RETRY" -q -B api -n 1 --breaker 1,1h --rate 2/1h "${fails[@]}"
	    is 75 "$RETRY" -q -B api --breaker 1,1h --rate 2/1h "${fails[@]}"
	    ran 1
	    begins --rate 2/1h
	    full 2/h --rate 2/1h
	nor a retry that the budget denies
	    try status=7 runs=1 says='*' -B api -d 0 --budget-min 0 --budget-ratio 0 \
	        --rate 2/1h "${fails[@]}"
	    begins --rate 2/1h
	    full 2/h --rate 2/1h
	END
}

@test "of nested retries with one budget one counts for --rate" {
	rows row scene <<-'END'
	and their later attempts do
	    is 0 "$RETRY" -B api --rate 4/1h -T 20 "$RETRY" "$RETRY" -B api "${works[@]}"
	    is 7 "$RETRY" -q -B api --rate 4/1h -T 20 -n 1 \
	        "$RETRY" -q -n 2 -d 0 "${fails[@]}"
	    ran 3
	    begins --rate 4/1h
	    full 4/h
	but each of those that a script runs
	    is 75 "$RETRY" -q -B api --rate 3/1h -T 20 -n 1 sh -c '
	        for i in 1 2 3; do "$0" -q -B api -T 10 -n 1 sh -c "echo >>ran" || exit; done' "$RETRY"
	    ran 2
	but not of one whose outer retry is not known to live
	    is 0 "$RETRY" -B api --rate 2/1h env -u RETRY_PARENT "$RETRY" -B api "${works[@]}"
	    full 2/h
	also with another budget between them
	    is 0 "$RETRY" -B api --rate 1/1h -T 20 "$RETRY" -B other "$RETRY" -B api "${works[@]}"
	    ran 1
	    full 1/h
	of two budgets each counts
	    is 0 "$RETRY" -B api --rate 1/1h "$RETRY" -B other --rate 1/1h "${works[@]}"
	    is 75 "$RETRY" -q -B other -T 20 "${works[@]}"
	    ran 1
	    full 1/h
	END
}

@test "what has no place before the deadline is not run, or given up" {
	rows row scene <<-'END'
	a first attempt at once, with 75
	    begins --rate 1/1h
	    try status=75 runs=0 says="budget 'api': a place at --rate 1/h in 1h*; command not run|ended after 0 attempts in *ms: rate" \
	        -v -B api -T 3000 --rate 1/1h "${works[@]}"
	    try status=75 runs=0 says='' -q -B api -T 3000 --rate 1/1h "${works[@]}"
	a retry with its own status
	    try status=7 runs=1 says="attempt 1*|budget 'api': a place at --rate 1/h in 1h*; giving up" \
	        report='reason=rate each.throttled=true' -B api -d 0 -T 3000 --rate 1/1h "${fails[@]}"
	without a deadline it waits, and a signal ends the wait
	    begins --rate 1/1h
	    start "$RETRY" -B api --rate 1/1h touch ran
	    rm ran
	    reached told "retry: budget 'api': a place at --rate 1/h in 1h.*; waiting"
	    ended_by TERM 143
	    [ ! -e ran ]
	END
}

@test "the smaller --rate holds for all, with one warning, until a reset" {
	local used="budget 'api': already in use with another --rate; using"
	rows row scene <<-'END'
	where it is the later one
	    begins --rate 5/1h
	    begins --rate 2/1h
	    full 2/h --rate 2/1h
	    try status=75 says="$used 2/h|*; command not run" -B api -T 20 --rate 5/1h true
	and the earlier one
	    begins --rate 3/1h
	    try runs=2 status=7 says="$used 3/h|attempt*|attempt*" -B api -n 2 -d 0 \
	        --rate 4/1h "${fails[@]}"
	    full 3/h
	what counts is how many in a long time
	    begins --rate 50/1s
	    begins --rate 100/1h
	    try says="$used 100/h" -B api --rate 1/1s true
	a reset forgets it
	    begins --rate 1/1h
	    full 1/h
	    "$RETRY" --budget-reset api
	    begins --rate 2/1h
	    begins --rate 2/1h
	    full 2/h
	END
}

# bats test_tags=slow
@test "places at --rate fall free when their time is over" {
	rows beside scene <<-'END'
	for one that waits, and says so once
	    look_at_clock
	    before=$moment
	    for try in 1 2 3; do
	        begins --rate 3/9s
	    done
	    older 3
	    try runs=1 says="budget 'api': a place at --rate 3/9s in [0-6]*s; waiting" \
	        -B api --rate 3/9s "${works[@]}"
	    took_since "$before" 6000
	    counted throttled 1 firsts 4 denied 0
	for many
	    look_at_clock
	    before=$moment
	    eval "printf '%s\n' {1..50}" | xargs -P 32 -n 1 "$RETRY" -q -B api \
	        --rate 20/2s "${works[@]}"
	    ran 50
	    took_since "$before" 4000
	    counted firsts 50 successes 50 denied 0 gave_up 0
	whether others that wait for them are stopped or killed
	    begins --rate 1/2s
	    start "$RETRY" -B api --rate 1/2s true
	    kill -STOP "$pid"
	    stopped=$pid
	    start "$RETRY" -B api --rate 1/2s true
	    kill -KILL "$pid"
	    is 0 "$RETRY" -q -B api -T 30 --rate 1/2s "${works[@]}"
	    pid=$stopped
	    kill -CONT "$pid"
	    ended 0
	for longer than --max-retry-after
	    begins --rate 1/2s
	    try runs=1 says='*; waiting' -B api -n 2 --max-retry-after 100ms --rate 1/2s "${works[@]}"
	END
}

@test "--rate is a number and a time, and needs a budget" {
	local number='not a number from 1 to 1000000, and a time' form='not N/DUR, as in 10/s'
	local time='not a number and a time from 1ms to 24h' api=(-B api touch ran)
	table refused <<-'END'
		"--rate: $number: '0/s'" --rate 0/s "${api[@]}"
		"--rate: $number: '-1/s'" --rate=-1/s "${api[@]}"
		"--rate: $number: '1.5/s'" --rate 1.5/s "${api[@]}"
		"--rate: $number: '1000001/s'" --rate 1000001/s "${api[@]}"
		"--rate: $form: 'x'" --rate x "${api[@]}"
		"--rate: $form: '10'" --rate 10 "${api[@]}"
		"--rate: $time: '10/'" --rate 10/ "${api[@]}"
		"--rate: $time: '10/x'" --rate 10/x "${api[@]}"
		"--rate: $time: '10/0s'" --rate 10/0s "${api[@]}"
		"--rate: $time: '10/25h'" --rate 10/25h "${api[@]}"
		"--rate: only with --budget: '10/s'" --rate 10/s touch ran
	END
	table begins <<-'END'
		--rate 1000000/1ms
		--rate 1000000/24h
		--rate 10/s
		--rate 5000/h
		--rate ""
	END
	"$RETRY" --budget-reset api
	printf '%s\n' budget=api rate=1/h >policy
	begins --policy ./policy
	full 1/h
}
