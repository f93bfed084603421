#!/usr/bin/env bats
# Covers store/budget_client, store/segment_file.
# The budget: how many retries all invocations with a key have together.
# budget_faults.bats tests what happens when something goes wrong.
# shellcheck disable=SC2016 # the commands' shells expand
# shellcheck disable=SC2030,SC2031 # each test has a shell of its own
# shellcheck disable=SC2154 # start, run and budget_setup set what is read here

load helper
load actor
load budget

# succeed N [OPTION]...: N invocations that succeed at once
succeed()
{
	local count=$1
	shift
	for ((; count > 0; count--)); do
		"$RETRY" -B api "$@" true 2>>err 3>&-
	done
}

# took_since BEFORE MS: at least MS milliseconds have passed
took_since()
{
	[ "$(($(now) - $1))" -ge "$2" ]
}

#
# The rule: retries <= max(min, ratio * successes), in every window
#

@test "where nothing succeeds, min retries a window are allowed" {
	is 7 "$RETRY" -B api --budget-min 3 -n 10 -d 0 "${fails[@]}"
	ran 4
	note "retry: budget 'api': exhausted, 3 of 3 retries used in 60s .*"
}

@test "ten a minute and one for five successes are the defaults" {
	is 7 "$RETRY" -B api -n 20 -d 0 "${fails[@]}"
	ran 11
	note '.* exhausted, 10 of 10 retries used in 60s \(0 successes, ratio 0.2, min 10\), .*'
	succeed 55
	is 7 "$RETRY" -B api -n 20 -d 0 "${fails[@]}"
	ran 13
}

@test "invocations share what is allowed" {
	for _ in 1 2 3 4; do
		is 7 "$RETRY" -B api --budget-min 3 -n 3 -d 0 "${fails[@]}"
	done
	ran 7 # four first attempts, and three retries
	counted firsts 4 retries 3 denied 3
}

@test "each success pays for RATIO retries" {
	succeed 12 --budget-min 1 --budget-ratio 0.5
	is 7 "$RETRY" -B api -n 20 -d 0 "${fails[@]}"
	ran 7
	note '.* 6 of 6 retries used in 60s \(12 successes, ratio 0.5, min 1\), .*'
}

@test "a ratio may be more than 1" {
	succeed 3 --budget-min 1 --budget-ratio 2.5
	is 7 "$RETRY" -B api -n 20 -d 0 "${fails[@]}"
	ran 8
}

@test "a fraction of a retry allows none" {
	succeed 9 --budget-min 0 --budget-ratio 0.1
	is 7 "$RETRY" -B api -n 3 -d 0 "${fails[@]}"
	ran 1
	succeed 1
	is 7 "$RETRY" -B api -n 3 -d 0 "${fails[@]}"
	ran 3
}

@test "min and what successes pay for do not add up" {
	succeed 8 --budget-min 3 --budget-ratio 0.5
	is 7 "$RETRY" -B api -n 20 -d 0 "${fails[@]}"
	ran 5
}

@test "a ratio may be in percent" {
	succeed 10 --budget-min 0 --budget-ratio 20%
	is 7 "$RETRY" -B api --budget-ratio 0.2 -n 20 -d 0 "${fails[@]}"
	ran 3
	note '.* exhausted, 2 of 2 retries used in 60s \(10 successes, ratio 0.2, min 0\), .*'
}

@test "a retry counts until the window has gone by" {
	local retry=("$RETRY" -B api --budget-min 2 -n 9 -d 0)
	is 7 "${retry[@]}" "${fails[@]}"
	ran 3
	older 58
	is 7 "${retry[@]}" "${fails[@]}"
	ran 4
	older 4
	is 7 "${retry[@]}" "${fails[@]}"
	ran 7
}

@test "a success pays until the window has gone by" {
	succeed 10 --budget-min 0 --budget-ratio 0.5
	older 62
	is 7 "$RETRY" -B api -n 9 -d 0 "${fails[@]}"
	ran 1
	note '.* exhausted, 0 of 0 retries used in 60s \(0 successes, .*'
}

@test "a window is as long as it is said to be" {
	local before retry=("$RETRY" -q -B api --budget-min 1 --budget-window 1s)
	before=$(now)
	is 7 "${retry[@]}" -n 9 -d 0 "${fails[@]}"
	ran 2
	again()
	{
		rm ran
		"${retry[@]}" -n 2 -d 0 "${fails[@]}" || :
		ran 2
	}
	wait_for again
	took_since "$before" 1000
}

@test "a budget can be one retry in 30 s" {
	local same=(--budget-ratio 0 --budget-min 1 --budget-window 30s)
	succeed 20 "${same[@]}"
	is 7 "$RETRY" -B api "${same[@]}" -n 5 -d 0 "${fails[@]}"
	ran 2
	note '.* exhausted, 1 of 1 retries used in 30s \(20 successes, ratio 0, min 1\), next in about 30s; giving up'
	is 7 "$RETRY" -B api "${same[@]}" -n 5 -d 0 "${fails[@]}"
	ran 3
	older 31
	is 7 "$RETRY" -B api "${same[@]}" -n 5 -d 0 "${fails[@]}"
	ran 5
}

@test "where nothing is allowed, nothing is retried" {
	succeed 5 --budget-ratio 0 --budget-min 0
	is 7 "$RETRY" -B api -n 5 -d 0 "${fails[@]}"
	ran 1
	note "retry: budget 'api': exhausted, 0 of 0 retries used in 60s \(5 successes, ratio 0, min 0\), .*; giving up"
}

@test "a window is named as it was asked for" {
	local window
	for window in 1 7 20 45.5 100 3601; do
		: >err
		is 7 "$RETRY" -B "w$window" --budget-min 0 --budget-ratio 0 \
		    --budget-window "$window" -n 2 -d 0 "${fails[@]}"
		note ".* 0 of 0 retries used in ${window}s \(0 successes, .*"
	done
}

@test "a message says why a retry is denied, and when the next one is allowed" {
	local want="retry: budget 'api': exhausted, 12 of 12 retries used in 60s (61 successes, ratio 0.2, min 10), next in about 27s; giving up"
	succeed 61
	aged 20 # however long that took
	is 7 "$RETRY" -q -B api -n 13 -d 0 "${fails[@]}"
	ran 13
	# They were made in the slice that ends at 21 s, and count until 81 s.
	exactly()
	{
		aged 53.98
		rm err
		is 7 "$RETRY" -B api -n 2 -d 0 "${fails[@]}"
		[ "$(notes)" = "$want" ]
	}
	wait_for exactly
}

@test "1,000 invocations at once have exactly as many retries as one would" {
	many 1000 "$RETRY" -q -B api --budget-min 10 --budget-window 1h -n 3 \
		-d 0 "${fails[@]}"
	ran 1010
	counted firsts 1000 retries 10
	# No other invocation had two retries and so ended by its number of attempts.
	[ "$(counter denied)" -ge 995 ]
}

# bats test_tags=slow
@test "retries of many invocations at once stay within the bound, and all count" {
	local first retried served all=2000
	[ -z "${LONG-}" ] || all=10000
	many "$all" "$RETRY" -q -B api --budget-window 1h -n 3 -d 0 sh -c '
		echo "$RETRY_ATTEMPT" >>attempts
		[ "$RETRY_ATTEMPT" -gt 1 ] || [ "$(($1 % 5))" -gt 0 ] || exit 7
		echo >>served' sh
	first=$(grep -cx 1 attempts)
	retried=$(grep -cx 2 attempts)
	served=$(lines served)
	echo "$first firsts, $retried retries, $served successes"
	[ "$first" -eq "$all" ]
	[ "$((first + retried))" -eq "$(lines attempts)" ]
	[ "$((all * 4 / 5 + retried))" -eq "$served" ] # a fifth failed, and once
	[ "$retried" -ge 10 ]
	[ "$((retried * 5))" -le "$served" ]
	counted firsts "$all" retries "$retried" successes "$served"
	[ "$(deposits)" -eq "$served" ]
	counted denied "$((all / 5 - retried))"
}

#
# When the budget is asked
#

@test "a first attempt is never held up by the budget" {
	is 7 "$RETRY" -q -B api --budget-min 0 --budget-ratio 0 -n 3 -d 0 \
	    "${fails[@]}"
	for _ in 1 2 3 4 5; do
		is 0 "$RETRY" -B api "${works[@]}"
	done
	ran 6
	quiet
}

@test "an outcome that is not retried does not use the budget" {
	local retry=("$RETRY" -v -B api --budget-min 0 --budget-ratio 0 -d 0)
	is 0 "${retry[@]}" "${works[@]}"
	is 7 "${retry[@]}" --stop-on 7 "${fails[@]}"
	told 'retry: ended after 1 attempt in .*: stop-rule'
	is 7 "${retry[@]}" --retry-on 8 "${fails[@]}"
	told 'retry: ended after 1 attempt in .*: not-retryable'
	is 7 "${retry[@]}" -n 1 "${fails[@]}"
	told 'retry: ended after 1 attempt in .*: attempts'
	is 7 "${retry[@]}" -T 60 -d 100 -j none "${fails[@]}"
	told 'retry: ended after 1 attempt in .*: deadline'
	is 127 "${retry[@]}" ./missing
	ran 5
	quiet
	counted denied 0
}

@test "a retry that cannot become free within the delay is denied at once" {
	is 7 "$RETRY" -v -B api --budget-min 1 -d 0,30 -j none \
	    --report report --on-retry 'echo >>hook' "${fails[@]}"
	ran 2
	[ "$(sed 's/ the budget allows$/ .../; s/ exhausted, .* in about .*;/ .../
		s/ in .*:/:/' err)" = "retry: attempt 1/5 failed (exit 7), retrying in 0s if ...
retry: attempt 2/5 failed (exit 7), giving up: budget exhausted
retry: budget 'api': ... giving up
retry: ended after 2 attempts: budget" ]
	[ "$(lines hook)" = 1 ]
	grep -q '"reason": "budget", .* "delay_ms": null, .* "budget_exhausted": true' report
	counted firsts 1 retries 1 denied 1
	# The oldest retries leave the window within the delay.
	start "$RETRY" -B api -d 100 -j none "${fails[@]}"
	reached told '.*, retrying in 1m40s if the budget allows'
	kill -TERM "$pid"
	ended
	counted firsts 2 retries 1 denied 1
}

@test "the budget is asked when the delay is over" {
	local before
	before=$(now)
	is 7 "$RETRY" -v -B api --budget-min 0 --budget-ratio 0 -d 0.3 -j none \
	    --budget-wait 1ms "${fails[@]}"
	took_since "$before" 300
	sed -n 1p err | grep -qx 'retry: attempt 1/5 failed (exit 7), retrying in 0.3s if the budget allows'
	sed -n 2p err | grep -q "^retry: budget 'api': exhausted, "
}

@test "a retry that a signal prevents is not counted" {
	start "$RETRY" -B api -d 20 -j none "${fails[@]}"
	reached told '.*, retrying in 20s if the budget allows'
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	counted firsts 1 retries 0
}

@test "an invocation that is denied a retry ends as the last attempt did" {
	local code
	is 7 "$RETRY" -q -B api --budget-min 0 --budget-ratio 0 "${fails[@]}"
	for code in 1 75 126 255; do
		is "$code" "$RETRY" -B api -n 3 -d 0 sh -c "exit $code"
	done
	run "$ACTOR" how "$RETRY" -B api -n 3 -d 0 sh -c 'kill -SEGV $$'
	[ "${lines[-1]}" = 'killed SEGV' ]
	is 124 "$RETRY" -B api -n 3 -d 0 -t 0.2 sleep 20
	is 1 "$RETRY" -B api -n 3 -d 0 --fail-on 0 true
	counted denied 8
}

@test "where the budget ends the series the reason is the budget" {
	is 7 "$RETRY" -v -B api --budget-min 1 -n 9 -d 0 "${fails[@]}"
	told 'retry: ended after 2 attempts in .*: budget'
}

@test "-q does not say that the budget is exhausted" {
	is 7 "$RETRY" -q -B api --budget-min 1 -n 9 -d 0 "${fails[@]}"
	ran 2
	[ "$(lines err)" -eq 0 ]
}

@test "the command gets no descriptor of the budget" {
	[ "$(counter firsts none 2>/dev/null)" = '' ]
	is 0 "$RETRY" ls -l /proc/self/fd
	grep -o ' [0-9]* ->' out >without
	rm out
	is 0 "$RETRY" -B api --budget-required --breaker on ls -l /proc/self/fd
	grep -o ' [0-9]* ->' out | diff without -
	[ -e "$api" ]
}

#
# Successes
#

@test "a success counts once, whichever attempt it is" {
	is 0 "$RETRY" -B api true
	[ "$(deposits)" -eq 1 ]
	is 0 "$RETRY" -B api -n 9 -d 0 sh -c '[ "$RETRY_ATTEMPT" -eq 4 ]'
	[ "$(deposits)" -eq 2 ]
	counted successes 2 firsts 2 retries 3
}

@test "only attempts that are judged successes pay" {
	is 0 "$RETRY" -B api --success-on 7 "${fails[@]}"
	[ "$(deposits)" -eq 1 ]
	is 1 "$RETRY" -q -B api --fail-on 0 -n 2 -d 0 true
	is 7 "$RETRY" -q -B api -n 2 -d 0 "${fails[@]}"
	is 7 "$RETRY" -q -B api --stop-on 7 "${fails[@]}"
	is 127 "$RETRY" -q -B api ./missing
	is 124 "$RETRY" -q -B api -n 1 -t 0.1 sleep 20
	[ "$(deposits)" -eq 1 ]
	counted successes 1
}

@test "a success of a nested retry within a retry does not pay" {
	local inner='"$RETRY" -B api true; exit 7'
	is 7 "$RETRY" -q -n 1 sh -c "$inner"
	[ "$(deposits)" -eq 1 ]
	is 7 "$RETRY" -q -n 3 -d 0 sh -c "$inner"
	[ "$(deposits)" -eq 2 ] # on the first attempt only
	counted successes 4
	is 7 "$RETRY" -q -n 2 -d 0 "$RETRY" -q -n 2 -d 0 sh -c "$inner"
	[ "$(deposits)" -eq 3 ]
}

#
# Waiting for the budget
#

@test "--budget-wait waits until a retry is allowed" {
	local before
	before=$(now)
	is 7 "$RETRY" -B api --budget-min 1 --budget-window 1s \
	    --budget-wait 30s -n 4 -d 0 "${fails[@]}"
	took_since "$before" 2000
	ran 4
	[ "$(notes | grep -c ', next in about .*; waiting$')" -eq 2 ]
	noted 2
	told 'retry: attempt 4/4 failed \(exit 7\), giving up: attempts exhausted'
	counted retries 3
}

@test "successes of others end the wait" {
	start "$RETRY" -B api --budget-min 0 --budget-ratio 1 \
	    --budget-wait 30s -d 0 sh -c 'echo >>ran; [ "$RETRY_ATTEMPT" -gt 1 ]'
	reached told '.*; waiting'
	succeed 1
	ended
	[ "$status" -eq 0 ]
	ran 2
}

@test "--budget-wait gives up after its time" {
	local before
	before=$(now)
	is 7 "$RETRY" -v -B api --budget-min 0 \
	    --budget-wait 600ms -d 0 "${fails[@]}"
	took_since "$before" 600
	ran 1
	notes | sed -n 1p | grep -q '; waiting$'
	notes | sed -n 2p | grep -q '; giving up$'
	noted 2
	told 'retry: ended after 1 attempt in .*: budget'
	counted denied 1
}

@test "without --budget-wait no invocation waits" {
	is 7 "$RETRY" -B api --budget-min 0 -d 0 "${fails[@]}"
	run ! told '.*; waiting'
	note '.*; giving up'
}

@test "each retry may wait for the time of --budget-wait" {
	local before
	before=$(now)
	is 7 "$RETRY" -B api --budget-min 1 --budget-window 1s \
	    --budget-wait 1500ms -n 4 -d 0 "${fails[@]}"
	took_since "$before" 2000
	ran 4
}

@test "TERM ends the wait for a budget" {
	start "$RETRY" -v -B api --budget-min 0 \
	    --budget-wait 60s -d 0 "${fails[@]}"
	reached told '.*; waiting'
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	ran 1
	told 'retry: ended after 1 attempt in .*: interrupted'
}

@test "the deadline ends the wait for a budget, with the last status" {
	local before
	before=$(now)
	is 7 "$RETRY" -v -B api --budget-min 0 \
	    --budget-wait 60s -T 1 -d 0 "${fails[@]}"
	took_since "$before" 900
	ran 1
	told 'retry: ended after 1 attempt in .*: deadline'
}

@test "where attempts have no limit the deadline alone ends the wait" {
	local before limits
	for limits in '-n inf -T 0.6' '-T 0.6'; do
		rm -f ran
		before=$(now)
		# shellcheck disable=SC2086 # two options
		is 7 "$RETRY" -B api --budget-min 0 $limits \
		    -d 0 "${fails[@]}"
		took_since "$before" 500
		ran 1
		told '.*; waiting'
	done
}

@test "a --budget-wait of 0 does not wait, with or without a limit of attempts" {
	is 7 "$RETRY" -B api --budget-min 0 --budget-wait 0 \
	    -n inf -d 0 "${fails[@]}"
	note '.*; giving up'
}

@test "a success after a wait for the budget is a success" {
	is 0 "$RETRY" -q -B api --budget-min 1 --budget-window 1s -n inf -d 0 \
	    sh -c 'echo >>ran; [ "$RETRY_ATTEMPT" -eq 3 ]'
	ran 3
	[ "$(lines err)" -eq 0 ]
}

#
# The pause after a denial
#

@test "--budget-cooldown denies all retries for its time after a denial" {
	is 7 "$RETRY" -B api --budget-min 0 --budget-ratio 1 \
	    --budget-cooldown 30s -n 3 -d 0 "${fails[@]}"
	note '.* exhausted, 0 of 0 retries .*; giving up'
	rm err
	is 7 "$RETRY" -B api -n 3 -d 0 "${fails[@]}"
	note "retry: budget 'api': no retries after a denial, next after a success; giving up"
	succeed 5
	rm err
	older 10 # now the ratio would allow five
	is 7 "$RETRY" -B api -n 3 -d 0 "${fails[@]}"
	ran 3
	note "retry: budget 'api': no retries after a denial, next in about (20|1[0-9])s; giving up"
	older 21
	is 7 "$RETRY" -B api -n 3 -d 0 "${fails[@]}"
	ran 6
}

@test "the message of when the next retry is allowed includes the pause" {
	is 7 "$RETRY" -B api --budget-min 1 --budget-window 2s \
	    --budget-cooldown 30s -n 3 -d 0 "${fails[@]}"
	note '.* exhausted, 1 of 1 retries .*, next in about 30s; giving up'
}

@test "only a denial by the rule begins that pause" {
	local retry=("$RETRY" -q -B api --budget-min 1 --budget-window 1s
		--budget-cooldown 30s -n 3 -d 0 "${fails[@]}")
	is 7 "${retry[@]}"
	ran 2
	older 20
	is 7 "${retry[@]}"
	ran 3
	older 11
	is 7 "${retry[@]}"
	ran 5
}

@test "a retry that is allowed begins no pause" {
	for _ in 1 2 3; do
		is 7 "$RETRY" -B api --budget-min 9 --budget-cooldown 30s -n 2 \
		    -d 0 "${fails[@]}"
	done
	ran 6
	quiet
}

@test "first attempts are made during the pause" {
	is 7 "$RETRY" -q -B api --budget-min 0 --budget-ratio 0 \
	    --budget-cooldown 30s -d 0 "${fails[@]}"
	is 0 "$RETRY" -B api "${works[@]}"
	ran 2
	quiet
}

@test "--budget-wait outlasts a short pause" {
	local before
	before=$(now)
	is 7 "$RETRY" -q -B api --budget-min 1 --budget-window 1s \
	    --budget-cooldown 1500ms --budget-wait 30s -n 3 -d 0 "${fails[@]}"
	took_since "$before" 1500
	ran 3
}

#
# Keys, and where they come from
#

@test "budgets of different keys are independent" {
	is 7 "$RETRY" -q -B api --budget-min 1 -n 5 -d 0 "${fails[@]}"
	is 7 "$RETRY" -q -B api2 --budget-min 1 -n 5 -d 0 "${fails[@]}"
	is 7 "$RETRY" -q -B API --budget-min 1 -n 5 -d 0 "${fails[@]}"
	ran 6
}

@test "RETRY_BUDGET is the key where none is given" {
	export RETRY_BUDGET=api RETRY_BUDGET_MIN=1
	is 7 "$RETRY" -q -n 5 -d 0 "${fails[@]}"
	ran 2
	is 7 "$RETRY" -q -B other -n 5 -d 0 "${fails[@]}"
	ran 4
	is 7 "$RETRY" -q -n 5 -d 0 "${fails[@]}"
	ran 5
}

@test "an empty key means no budget" {
	is 7 "$RETRY" -B '' -n 20 -d 0 "${fails[@]}"
	is 7 env RETRY_BUDGET= "$RETRY" -n 20 -d 0 "${fails[@]}"
	is 7 env RETRY_BUDGET=api "$RETRY" -B '' -n 20 -d 0 "${fails[@]}"
	ran 60
	only
}

@test "without a key there is no segment" {
	is 7 "$RETRY" -n 20 -d 0 "${fails[@]}"
	ran 20
	only
}

@test "limits may come from the environment, and options come before it" {
	export RETRY_BUDGET_MIN=2 RETRY_BUDGET_RATIO=50% RETRY_BUDGET_WINDOW=2m
	is 7 "$RETRY" -B api -n 9 -d 0 "${fails[@]}"
	note '.* 2 of 2 retries used in 120s \(0 successes, ratio 0.5, min 2\), .*'
	ran 3
	rm err
	is 7 "$RETRY" -B other --budget-min 1 --budget-ratio 0.1 \
	    --budget-window 30 -n 9 -d 0 "${fails[@]}"
	note '.* 1 of 1 retries used in 30s \(0 successes, ratio 0.1, min 1\), .*'
	ran 5
}

@test "--budget-dir comes before RETRY_BUDGET_DIR" {
	mkdir elsewhere
	is 7 "$RETRY" -q -B api --budget-dir elsewhere --budget-min 1 -n 5 -d 0 \
	    "${fails[@]}"
	is 7 env RETRY_BUDGET_DIR=elsewhere "$RETRY" -q -B api -n 5 -d 0 \
	    "${fails[@]}"
	ran 3
	only
	[ "$(ls -A elsewhere)" = "retry-v4.$EUID.api" ]
}

@test "segments are in /dev/shm by default" {
	unset RETRY_BUDGET_DIR
	local file=/dev/shm/retry-v4.$EUID.bats-$$-$BATS_TEST_NUMBER
	[ -w /dev/shm ] || skip 'no /dev/shm to write to'
	[ ! -e "$file" ]
	is 7 "$RETRY" -B "${file##*.}" --budget-min 1 -n 5 -d 0 "${fails[@]}"
	[ "$(stat -c '%a %u %h %s' "$file")" = "600 $EUID 1 $SEGMENT_SIZE" ]
	rm "$file"
	ran 2
}

@test "a key may have any bytes" {
	local key keys=(. .. / a/b ../../x /etc/passwd ' ' '*' '~' % %41 A a.b
		$'\n' $'a\nb' $'\xff\xfe' ü -n '$(touch ran)' "'" '\' "$PWD/x")
	local count=0
	for key in "${keys[@]}"; do
		: >err
		is 7 "$RETRY" -B "$key" --budget-min 1 -n 3 -d 0 "${fails[@]}"
		count=$((count + 2))
		ran "$count"
		files=(budgets/*)
		[ "${#files[@]}" -eq "$((count / 2))" ]
		noted 1
		grep -aq 'exhausted, 1 of 1 retries' err
	done
	[ "$(find . -name 'retry-v4.*' -path './budgets/*' | wc -l)" -eq "${#keys[@]}" ]
}

@test "a key with control bytes does not break the line of a message" {
	is 7 "$RETRY" -B $'a\nb\e[31m' --budget-min 1 -n 3 -d 0 "${fails[@]}"
	note "retry: budget 'a.nb.x1b\[31m': exhausted, .*"
	grep -qF "'a\\nb\\x1b[31m'" err
}

@test "a key of 1,024 bytes is told from one that differs in the last" {
	local key part
	key=$(printf '%01023d' 0)
	for part in a b a; do
		is 7 "$RETRY" -q -B "$key$part" --budget-min 1 -n 3 -d 0 \
		    "${fails[@]}"
	done
	ran 5
	key=$(printf '/%.0s' {1..1023})
	for part in a b a; do
		is 7 "$RETRY" -q -B "$key$part" --budget-min 1 -n 3 -d 0 \
		    "${fails[@]}"
	done
	ran 10
	[ "$(find budgets -type f | wc -l)" -eq 4 ]
}

@test "where no success can pay for a retry no invocation waits" {
	local limits
	for limits in '-n inf' '-T 60' '-n 2 --budget-wait 60s'; do
		rm -f ran err
		# shellcheck disable=SC2086 # options
		is 7 timeout 20 "$RETRY" -B api --budget-min 0 \
		    --budget-ratio 0 $limits -d 0 "${fails[@]}"
		ran 1
		note '.* exhausted, 0 of 0 retries .*, next never; giving up'
	done
}

@test "limits that make no sense are no budget" {
	succeed 1
	printf '\377%.0s' {1..8} |
		dd of="$api" bs=1 seek="$SEGMENT_HEADER" conv=notrunc
	is 69 "$RETRY" -B api --budget-required "${fails[@]}"
	ran 0
	is 7 "$RETRY" -B api --budget-min 1 -n 4 -d 0 "${fails[@]}"
	ran 2
}

@test "a relative directory from the environment is handed on as it was meant" {
	mkdir here
	[ "$(RETRY_BUDGET_DIR=here "$RETRY" sh -c \
	    'cd / && echo "$RETRY_BUDGET_DIR"')" = "$PWD/here" ]
}
