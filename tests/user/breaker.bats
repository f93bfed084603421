#!/usr/bin/env bats
# Covers store/budget_client, attempt/event_loop.
# The breaker: what holds attempts back while a dependency is down, and how one
# of them finds out that it is up again.
# shellcheck disable=SC2016 # the commands' shells expand
# shellcheck disable=SC2030,SC2031 # each test has a shell of its own
# shellcheck disable=SC2154 # start, run and budget_setup set what is read here

load helper
load actor
load budget

# fail_once [OPTION]...: an invocation whose only attempt fails with 7
fail_once()
{
	is 7 "$RETRY" -q -B api -n 1 "$@" "${fails[@]}"
}

# tried STATUS [OPTION]...: the same, or one that is held; forgets what was said
tried()
{
	local want=$1
	shift
	rm -f err
	is "$want" "$RETRY" -B api -n 1 "$@" "${fails[@]}"
}

# due: makes the segment so old that the probe is due
due()
{
	aged "$(opened)"
}

# probe OPTION...: begins an invocation that becomes the probe, in the
# background, and whose command goes on until there is a file go; it then
# exits with what is in there
probe()
{
	start "$RETRY" -B api -n 1 "$@" sh -c 'echo >>probes
		until [ -s go ]; do sleep 0.02; done; exit "$(cat go)"'
	reached [ -e probes ]
}

#
# Open
#

@test "after N failures in a row the breaker is open, and nothing is run" {
	local breaker=(--breaker '3,10s')
	fail_once "${breaker[@]}"
	fail_once "${breaker[@]}"
	fail_once "${breaker[@]}"
	ran 3
	tried 75 "${breaker[@]}"
	tried 75 "${breaker[@]}"
	ran 3
	note "retry: breaker 'api': open after 3 consecutive failures, probe in (10|9(\.[0-9])?)s; command not run"
	[ "$(lines err)" -eq 1 ]
}

@test "a message says why an attempt is held back, and when the next probe is due" {
	local want="retry: breaker 'api': open after 20 consecutive failures, probe in 7s; command not run"
	local opens
	for _ in {1..20}; do
		fail_once --breaker on
	done
	ran 20
	opens=$(opened)
	exactly()
	{
		aged "$(awk -v opens="$opens" 'BEGIN { print opens - 7.03 }')"
		tried 75 --breaker on
		[ "$(notes)" = "$want" ]
	}
	wait_for exactly
	ran 20
}

@test "failed attempts of one invocation count like those of several" {
	is 7 "$RETRY" -v -B api --breaker 3,10s -n 9 -d 0 "${fails[@]}"
	ran 3
	note "retry: breaker 'api': open after 3 consecutive failures, probe in .*; giving up"
	told 'retry: ended after 3 attempts in .*: breaker'
	tried 75 --breaker 3,10s
	ran 3
}

@test "a retry that is held back ends as the last attempt did" {
	run "$ACTOR" how "$RETRY" -B api --breaker 1,10s -n 3 -d 0 \
	    sh -c 'kill -SEGV $$'
	[ "${lines[-1]}" = 'killed SEGV' ]
	is 124 "$RETRY" -B other --breaker 1,10s -n 3 -d 0 -t 0.2 sleep 20
	is 1 "$RETRY" -B third --breaker 1,10s -n 3 -d 0 --fail-on 0 true
	[ "$(notes | grep -c '; giving up$')" -eq 2 ]
}

@test "one failure is not called consecutive" {
	fail_once --breaker 1,10s
	tried 75 --breaker 1,10s
	note "retry: breaker 'api': open after 1 failure, probe in .*; command not run"
}

@test "-q does not say that the breaker is open" {
	fail_once --breaker 1,10s
	tried 75 -q --breaker 1,10s
	[ "$(lines err)" -eq 0 ]
	ran 1
}

@test "where the breaker ends the series the reason is the breaker" {
	fail_once --breaker 1,10s
	tried 75 -v --breaker 1,10s
	told 'retry: ended after 0 attempts in .*: breaker'
}

@test "each key has a breaker of its own" {
	fail_once --breaker 1,10s
	is 7 "$RETRY" -q -B other -n 1 --breaker 1,10s "${fails[@]}"
	ran 2
}

@test "an invocation without --breaker is not held back" {
	fail_once --breaker 1,10s
	tried 7
	ran 2
	quiet
	tried 75 --breaker 1,10s
}

@test "failures count with --breaker and without" {
	for _ in 1 2 3; do
		fail_once
	done
	tried 7 --breaker 4,10s
	tried 75 --breaker 4,10s
	ran 4
}

#
# Closed
#

@test "a success begins the count anew" {
	local breaker=(--breaker '3,10s')
	for _ in 1 2 3; do
		fail_once "${breaker[@]}"
		fail_once "${breaker[@]}"
		is 0 "$RETRY" -B api "${breaker[@]}" "${works[@]}"
	done
	ran 9
	for _ in 1 2 3; do
		fail_once "${breaker[@]}"
	done
	tried 75 "${breaker[@]}"
	ran 12
}

@test "a success after failures of the same invocation begins the count anew" {
	is 0 "$RETRY" -q -B api --breaker 3,10s -n 3 -d 0 sh -c '
		echo >>ran; [ "$RETRY_ATTEMPT" -eq 3 ]'
	for _ in 1 2; do
		fail_once --breaker 3,10s
	done
	tried 7 --breaker 3,10s
	ran 6
}

@test "failures that are not retried do not open the breaker" {
	local response
	for response in 404 401 400; do
		is 22 "$RETRY" -q -B api --breaker 2,10s --http-status codes \
		    sh -c "echo >>ran; echo $response >codes; exit 22"
	done
	for _ in 1 2 3; do
		fail_once --breaker 2,10s --stop-on 7
		fail_once --breaker 2,10s --retry-on 9
		is 127 "$RETRY" -q -B api --breaker 2,10s ./missing
	done
	ran 9
	is 0 "$RETRY" -B api --breaker 2,10s true
	is 22 "$RETRY" -q -B api --breaker 2,10s -n 5 -d 0 --http-status codes \
	    sh -c "echo >>ran; echo 503 >codes; exit 22"
	ran 11
	tried 75 --breaker 2,10s
}

@test "a --success-on success does not open the breaker" {
	for _ in 1 2 3; do
		fail_once --breaker 2,10s --keep-status --success-on 7
	done
	ran 3
}

@test "an exhausted budget counts as no failure" {
	for _ in 1 2 3 4 5; do
		is 7 "$RETRY" -q -B api --breaker 8,10s --budget-min 0 \
		    --budget-ratio 0 -n 9 -d 0 "${fails[@]}"
	done
	ran 5
	[ "$(counter denied)" -eq 5 ]
	is 0 "$RETRY" -B api --breaker 8,10s true
}

#
# The probe
#

@test "after its pause the breaker lets one attempt through, whose success closes it" {
	fail_once --breaker 1,10s
	due
	probe --breaker 1,10s
	tried 75 --breaker 1,10s
	note "retry: breaker 'api': open after 1 failure, probe under way, ask again in (3|2|2\..)s; command not run"
	ran 1
	echo 0 >go
	ended
	[ "$status" -eq 0 ]
	for _ in 1 2 3; do
		is 0 "$RETRY" -B api --breaker 1,10s "${works[@]}"
	done
	ran 4
	[ "$(lines probes)" -eq 1 ]
}

@test "the pause does not end early" {
	local before
	before=$(now)
	fail_once --breaker 1,700ms
	tried 75 --breaker 1,700ms
	wait_for "$RETRY" -B api --breaker 1,700ms true
	[ "$(($(now) - before))" -ge 700 ]
}

@test "a probe's failure doubles the pause, up to its limit" {
	local breaker=(--breaker '1,10s,35s') pause
	fail_once "${breaker[@]}"
	for pause in 10 20 35 35; do
		tried 75 "${breaker[@]}"
		note ".*, probe in ($pause|$((pause - 1)).*)s; command not run"
		due
		tried 7 "${breaker[@]}"
	done
	ran 5
	due
	is 0 "$RETRY" -B api "${breaker[@]}" "${works[@]}"
	tried 7 "${breaker[@]}"
	tried 75 "${breaker[@]}" # as long as at first
	note '.*open after 1 failure, probe in (10|9.*)s; command not run'
}

@test "a probe whose failure is not retried closes the breaker" {
	fail_once --breaker 1,10s
	due
	tried 7 --breaker 1,10s --stop-on 7
	tried 7 --breaker 1,10s --stop-on 7
	ran 3
	quiet
}

@test "an invocation whose probe has failed is held back like any other" {
	fail_once --breaker 1,10s
	due
	is 7 "$RETRY" -B api --breaker 1,10s -n 5 -d 0 "${fails[@]}"
	ran 2
	note "retry: breaker 'api': open after 2 consecutive failures, probe in (20|19.*)s; giving up"
}

@test "a probe that succeeds after a signal closes the breaker" {
	fail_once --breaker 1,10s
	due
	start "$RETRY" -B api --breaker 1,10s sh -c 'trap "exit 0" TERM
		echo >>probes; while :; do sleep 0.02; done'
	reached [ -e probes ]
	kill -TERM "$pid"
	ended
	[ "$status" -eq 0 ]
	tried 7 --breaker 1,10s
	tried 75 --breaker 1,10s
	note ".*open after 1 failure, probe in (10|9.*)s; command not run"
}

@test "a retry may be the probe" {
	start "$RETRY" -B api --breaker 1,10s --budget-wait 60s -n 2 -d 0 \
	    sh -c 'echo >>ran; [ "$RETRY_ATTEMPT" -eq 2 ]'
	reached told '.*; waiting'
	is 75 "$RETRY" -q -B api --breaker 1,10s true
	ran 1
	kill -TERM "$pid"
	ended
	rm err
	due
	is 0 "$RETRY" -q -B api --breaker 1,300ms -n 2 -d 0 --budget-wait 60s \
	    sh -c 'echo >>ran; [ "$RETRY_ATTEMPT" -eq 2 ]'
	ran 3
	is 0 "$RETRY" -B api --breaker 1,300ms true
}

# bats test_tags=slow
@test "where each item fails twice, the probes are its retries, not first attempts of others" {
	local options=(-B api --breaker '1,100ms,100ms' --budget-wait 60s -d 0)
	local all=()
	start "$RETRY" "${options[@]}" sh -c 'echo "$RETRY_ATTEMPT" >>ran
		[ "$RETRY_ATTEMPT" -eq 3 ]'
	all=("$pid")
	reached told '.*; waiting'
	for _ in 1 2 3 4 5; do
		start "$RETRY" -q "${options[@]}" sh -c 'echo other >>ran'
		all+=("$pid")
	done
	for pid in "${all[@]}"; do
		ended
		[ "$status" -eq 0 ]
	done
	holds ran 1 2 3 other other other other other
}

@test "a retry may be the probe even if the budget is exhausted" {
	local which numbers
	for which in none paused; do
		numbers=(--budget-ratio 0 --budget-min 0)
		[ "$which" = none ] ||
			numbers=(--budget-min 0 --budget-cooldown 1h)
		rm -f ran budgets/*
		is 7 "$RETRY" -q -B api "${numbers[@]}" -n 2 -d 0 "${fails[@]}"
		is 0 "$RETRY" -q -B api "${numbers[@]}" --breaker 2,300ms \
		    --budget-wait 60s -n 2 -d 0 sh -c '
			echo >>ran; [ "$RETRY_ATTEMPT" -eq 2 ]'
		ran 3
		counted retries 0 probes 1 turns 0 denied 2 successes 1
	done
}

@test "a retry that waits for an open breaker is let in even if the budget is exhausted" {
	seq 20 >items
	start xargs -a items -P 20 -n 1 "$RETRY" -q -B api --breaker 1,500ms \
	    --budget-min 0 --budget-wait 60s -n inf -d 0 sh -c '
		[ -e up ] && echo >>served || { echo >>ran; sleep 0.3; exit 7; }' sh
	reached [ -e ran ]
	touch up
	ended
	[ "$status" -eq 0 ]
	[ "$(lines served)" -eq 20 ]
	counted retries 0 firsts 20 successes 20
	[ "$(counter probes)" -le 2 ]
	[ "$(($(counter probes) + $(counter turns)))" -ge "$(lines ran)" ]
}

@test "retries that a closed breaker passes are paid for by the budget" {
	is 7 "$RETRY" -B api --breaker 9,10s --budget-min 1 --budget-ratio 0 \
	    -n 5 -d 0 "${fails[@]}"
	ran 2
	note "retry: budget 'api': exhausted, 1 of 1 retries .*; giving up"
	counted retries 1 probes 0 turns 0 denied 1
}

@test "of many that wait one at a time is the probe, and then all go on" {
	local breaker=(--breaker '1,100ms,300ms') before
	fail_once "${breaker[@]}"
	before=$(now)
	seq 40 >items
	start xargs -a items -P 40 -n 1 "$RETRY" -B api "${breaker[@]}" \
	    --budget-wait 60s -n inf -d 0 sh -c '
		if [ -e up ]; then echo >>served; exit 0; fi
		mkdir probing || echo >>overlaps
		echo >>ran
		sleep 0.1
		rmdir probing
		exit 7' sh
	several()
	{
		[ "$(lines ran)" -ge 6 ] && [ "$(notes | grep -c waiting)" -ge 30 ]
	}
	reached several
	touch up
	[ "$(lines ran)" -le "$((2 + ($(now) - before) / 200))" ]
	ended
	[ "$status" -eq 0 ]
	[ "$(lines overlaps)" -eq 0 ]
	[ "$(lines served)" -eq 40 ]
}

#
# Probes that never end
#

# bats test_tags=slow
@test "after a prober is killed the next invocation is the probe" {
	local before
	fail_once --breaker 1,10s
	due
	before=$(now)
	probe --breaker 1,10s
	kill -KILL -- "-$pid"
	ended
	tried 75 --breaker 1,10s
	note '.*, probe under way, ask again in (3|2|2\..)s; command not run'
	PATIENCE=${PATIENCE:-10} wait_for "$RETRY" -q -B api --breaker 1,10s true
	[ "$(($(now) - before))" -ge 3000 ]
	is 0 "$RETRY" -B api --breaker 1,10s true
	ran 1
}

# bats test_tags=slow
@test "after a prober is stopped the next is the probe, and its late success is ignored" {
	local before
	fail_once --breaker 1,20s
	due
	before=$(now)
	probe --breaker 1,20s
	kill -STOP "$pid"
	next()
	{
		tried 7 --breaker 1,20s
	}
	PATIENCE=${PATIENCE:-10} wait_for next
	[ "$(($(now) - before))" -ge 3000 ]
	ran 2
	echo 0 >go
	kill -CONT "$pid"
	ended
	[ "$status" -eq 0 ]
	tried 75 --breaker 1,20s
	note '.*, probe in (40|3.*)s; command not run'
	ran 2
}

# bats test_tags=slow
@test "the late failure of a prober that was stopped does not open the breaker" {
	local before
	fail_once --breaker 1,20s
	due
	before=$(now)
	probe --breaker 1,20s
	kill -STOP "$pid"
	PATIENCE=${PATIENCE:-10} wait_for "$RETRY" -q -B api --breaker 1,20s true
	[ "$(($(now) - before))" -ge 3000 ]
	echo 7 >go
	kill -CONT "$pid"
	ended
	[ "$status" -eq 7 ]
	is 0 "$RETRY" -B api --breaker 1,20s "${works[@]}"
	ran 2
}

@test "outcomes of attempts that began before the last recovery are ignored" {
	local breaker=(--breaker '2,10s')
	start "$RETRY" -q -B api -n 1 "${breaker[@]}" sh -c 'echo >>began
		until [ -e go ]; do sleep 0.02; done; exit 9'
	reached [ -e began ]
	fail_once "${breaker[@]}"
	fail_once "${breaker[@]}"
	tried 75 "${breaker[@]}"
	due
	is 0 "$RETRY" -B api "${breaker[@]}" true
	touch go
	ended
	[ "$status" -eq 9 ]
	fail_once "${breaker[@]}"
	fail_once "${breaker[@]}"
	ran 4
	tried 75 "${breaker[@]}"
}

# bats test_tags=slow
@test "a probe may take longer than its lease" {
	local before
	fail_once --breaker 1,10s
	due
	probe --breaker 1,10s -t 60
	before=$(now)
	# Though asked all the time, the breaker lets no other attempt through.
	until [ "$(($(now) - before))" -gt 4500 ]; do
		tried 75 -q --breaker 1,10s
		sleep 0.05
	done
	ran 1
	echo 7 >go
	ended
	[ "$status" -eq 7 ]
	tried 75 --breaker 1,10s
	note '.*open after 2 consecutive failures, probe in (20|1.*)s; command not run'
}

@test "after a probe is interrupted the next invocation is the probe at once" {
	local signal
	for signal in TERM INT HUP; do
		rm -f probes
		fail_once --breaker 1,20s
		due
		probe --breaker 1,20s
		kill -"$signal" "$pid"
		ended
		[ "$status" -eq "$((128 + $(kill -l "$signal")))" ]
		is 0 "$RETRY" -B api --breaker 1,20s true
		is 0 "$RETRY" -B api --breaker 1,20s true
	done
	ran 3
}

@test "after a probe whose command cannot be executed the next one is at once" {
	fail_once --breaker 1,20s
	due
	is 127 "$RETRY" -q -B api --breaker 1,20s ./missing
	touch plain
	is 126 "$RETRY" -q -B api --breaker 1,20s ./plain
	tried 7 --breaker 1,20s
	tried 75 --breaker 1,20s
	ran 2
}

#
# Waiting for the breaker
#

@test "--budget-wait waits until a first attempt may be the probe" {
	local before
	before=$(now)
	fail_once --breaker 1,800ms
	rm -f err
	is 0 "$RETRY" -B api --breaker 1,800ms --budget-wait 30s "${works[@]}"
	[ "$(($(now) - before))" -ge 800 ]
	ran 2
	note "retry: breaker 'api': open after 1 failure, probe in .*; waiting"
}

@test "--budget-wait gives up after its time, with 75" {
	local before
	fail_once --breaker 1,30s
	before=$(now)
	is 75 "$RETRY" -v -B api --breaker 1,30s --budget-wait 600ms \
	    "${works[@]}"
	[ "$(($(now) - before))" -ge 600 ]
	ran 1
	notes | sed -n 1p | grep -q '; waiting$'
	notes | sed -n 2p | grep -q '; command not run$'
	told 'retry: ended after 0 attempts in .*: breaker'
}

@test "--budget-wait waits before a retry too" {
	is 0 "$RETRY" -q -B api --breaker 1,500ms --budget-wait 30s -d 0 \
	    sh -c 'echo >>ran; [ "$RETRY_ATTEMPT" -eq 3 ]'
	ran 3
}

# bats test_tags=slow
@test "each reason for a wait is in one message" {
	local breaker=(--breaker '2,100ms')
	start "$RETRY" -B api --budget-min 0 -n 2 -d 0 "${breaker[@]}" \
	    --budget-wait 8s "${fails[@]}"
	reached noted 1
	fail_once "${breaker[@]}" --breaker 2,3s
	reached noted 2
	# No attempt asks before the dependency has recovered.
	kill -STOP "$pid"
	PATIENCE=${PATIENCE:-10} wait_for "$RETRY" -q -B api "${breaker[@]}" true
	closed()
	{
		"$RETRY" --budget-status api | grep -q ' closed$'
	}
	wait_for closed
	kill -CONT "$pid"
	ended
	[ "$status" -eq 7 ]
	ran 2
	[ "$(notes | sed 's/^retry: \([a-z]*\) .*; /\1: /')" = "$(printf '%s\n' \
	    'budget: waiting' 'breaker: waiting' 'budget: giving up')" ]
}

@test "a deadline before the first attempt gives 75" {
	local before
	fail_once --breaker 1,30s
	before=$(now)
	is 75 "$RETRY" -v -B api --breaker 1,30s --budget-wait 60s -T 0.6 \
	    "${works[@]}"
	[ "$(($(now) - before))" -ge 500 ]
	told 'retry: ended after 0 attempts in .*: deadline'
	is 75 "$RETRY" -B api --breaker 1,30s -T 0.3 "${works[@]}"
	ran 1
}

@test "a deadline before a retry gives the last status" {
	is 7 "$RETRY" -v -B api --breaker 1,30s --budget-wait 60s -T 1.5 -d 0 \
	    "${fails[@]}"
	ran 1
	told 'retry: ended after 1 attempt in .*: deadline'
}

@test "TERM ends the wait for the breaker" {
	fail_once --breaker 1,30s
	start "$RETRY" -v -B api --breaker 1,30s --budget-wait 60s "${works[@]}"
	reached told '.*; waiting'
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	ran 1
	told 'retry: ended after 0 attempts in .*: interrupted'
}

#
# Several layers
#

@test "a nested retry within a probe is not held back by that breaker" {
	fail_once --breaker 1,10s
	due
	is 0 timeout 20 "$RETRY" -B api --breaker 1,10s -n 1 \
	    "$RETRY" --breaker 1,10s --budget-wait 1h "${works[@]}"
	ran 2
	is 0 "$RETRY" -B api --breaker 1,10s "${works[@]}"
}

@test "a failure in nested retries counts once" {
	is 7 "$RETRY" -q -B api --breaker 3,10s -n 1 "$RETRY" -q -n 1 \
	    "$RETRY" -q -n 1 "${fails[@]}"
	is 0 "$RETRY" -B api --breaker 3,10s "${works[@]}"
}

@test "a nested retry is held back by another breaker" {
	fail_once -B other --breaker 1,10s
	is 75 "$RETRY" -B api --breaker 1,10s -n 1 \
	    "$RETRY" -B other --breaker 1,10s "${works[@]}"
	ran 1
}

@test "an attempt that the deadline ends counts neither as success nor as failure" {
	is 124 "$RETRY" -q -B api --breaker 1,10s -T 0.1 sleep 20
	is 0 "$RETRY" -B api --breaker 1,10s "${works[@]}"
}

@test "after a probe dies of SIGPIPE the next invocation is the probe" {
	fail_once --breaker 1,10s
	due
	is 141 sh -c '"$@"' sh "$RETRY" -q -B api --breaker 1,10s \
	    sh -c 'kill -PIPE $$'
	is 0 "$RETRY" -B api --breaker 1,10s "${works[@]}"
	ran 2
}

#
# What the breaker is for
#

# storm SECONDS COUNT OPTION...: COUNT items, 64 at once, with a dependency that
# comes up after SECONDS; each attempt meanwhile takes $LATENCY and leaves a line
# in ./refused
storm()
{
	local seconds=$1 count=$2
	shift 2
	rm -f up refused served
	seq "$count" >items
	start xargs -a items -P 64 -n 1 "$RETRY" -q -n inf -d 100ms \
	    -b constant "$@" sh -c '
		[ -e up ] || { echo >>refused; sleep "$LATENCY"; exit 7; }
		echo "$1" >>served' sh
	sleep "$seconds"
	touch up
	PATIENCE=${PATIENCE:-90} ended
}

# spared SECONDS COUNT OPTION...: a breaker with these options lets through a
# twentieth of the attempts that would be made without it, and all items are
# served. A run of one second without it shows how many those would be.
spared()
{
	local seconds=$1 count=$2 without
	shift 2
	storm 1 64
	[ "$status" -eq 0 ]
	without=$(($(lines refused) * seconds))
	rm -f budgets/*
	storm "$seconds" "$count" -B api --breaker 20,500ms,1s \
	    --budget-wait 60s "$@"
	echo "$(lines refused) of $without, $(lines served) served"
	[ "$(sort -un served | wc -l)" -eq "$count" ]
	[ "$(lines served)" -eq "$count" ]
	[ "$status" -eq 0 ]
	[ "$(lines refused)" -ge 20 ]
	[ "$(($(lines refused) * 20))" -le "$without" ]
}

# bats test_tags=slow
@test "in an outage the breaker lets through a twentieth of the attempts" {
	export LATENCY=0
	if [ -n "${LONG-}" ]; then
		PATIENCE=${PATIENCE:-240} spared 10 10000 --budget-wait 3m
		# All 64 fail before any of them knows, and then want a retry.
		LATENCY=0.1 PATIENCE=${PATIENCE:-240} spared 15 2000 --budget-wait 3m
	else # whatever else this machine does meanwhile
		spared 10 500
	fi
}

# all_served COUNT PARALLEL TAKES DOWN OPTION...: COUNT items that take so long,
# so many at once, with a dependency that is down for so long, and at least until
# the breaker has opened; all of them are served in time, and the allowance pays
# for no more than it may
all_served()
{
	local count=$1 parallel=$2 takes=$3 down=$4 retries limit
	shift 4
	seq "$count" >items
	start xargs -a items -P "$parallel" -n 1 "$RETRY" -q -B api "$@" \
	    sh -c 'sleep '"$takes"'; [ -e up ] && echo "$1" >>served' sh
	sleep "$down"
	wait_for eval '"$RETRY" --budget-status api | grep -qw open'
	touch up
	PATIENCE=${PATIENCE:-150} ended
	"$RETRY" --budget-status api
	[ "$status" -eq 0 ]
	[ "$(sort -un served | wc -l)" -eq "$count" ]
	[ "$(lines served)" -eq "$count" ]
	retries=$(counter retries)
	limit=$(($(counter successes) / 5))
	[ "$retries" -le "$((limit > 10 ? limit : 10))" ]
	# Of at least twenty failures, the allowance has paid for ten at most.
	[ "$(($(counter probes) + $(counter turns)))" -ge 5 ]
}

# bats test_tags=slow
@test "items whose attempts fail slowly are all served, with the default numbers" {
	if [ -n "${LONG-}" ]; then
		all_served 128 64 2 5 -T 100s --breaker on
	else
		all_served 80 40 0.5 1 -T 60s --breaker 20,1s
	fi
}

# bats test_tags=slow
@test "where all attempts fail, only the allowance and probes are let through" {
	local breaker=(--breaker '20,1s,4s') before span pause=1000 probes=0
	before=$(now)
	seq 40 >items
	start xargs -a items -P 40 -n 1 "$RETRY" -q -B api "${breaker[@]}" \
	    -T 18s -d 100ms -b constant sh -c 'echo >>ran; exit 7' sh
	PATIENCE=${PATIENCE:-60} ended
	# One probe after each pause that fits in.
	for ((span = $(now) - before - pause; span >= 0; span -= pause)); do
		((++probes))
		((pause = pause < 4000 ? 2 * pause : 4000))
	done
	"$RETRY" --budget-status api
	echo "$probes probes at most"
	counted successes 0 turns 0
	[ "$(counter firsts)" -le 40 ]
	[ "$(counter retries)" -le 10 ]
	[ "$(counter probes)" -le "$probes" ]
	# A first attempt that was held back may be a probe, too.
	[ "$(lines ran)" -ge 22 ]
	[ "$(lines ran)" -eq "$(($(counter firsts) + $(counter retries) +
	    $(counter probes)))" ]
}
