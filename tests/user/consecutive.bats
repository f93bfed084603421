#!/usr/bin/env bats
# Covers attempt/attempt, run.
# --consecutive: several successes in a row.
# shellcheck disable=SC2016 # the commands' shells expand

load helper

# ends STATUS REASON ATTEMPTS OPTION... -- COMMAND...: retry ends so; its report
# is in ./report.
ends()
{
	local want="$1 \"$2\" $3" status=0 got
	shift 3
	"$RETRY" -v -d 1ms --report report "$@" >out 2>err || status=$?
	got="$status $(jq -c .reason report) $(jq .attempt_count report)"
	[ "$got" = "$want" ] || {
		echo "$got instead of $want: $*"
		cat err
		return 1
	}
}

# verdicts WORD...: the attempts were judged so.
verdicts()
{
	[ "$(jq -r '[.attempts[].verdict] | join(" ")' report)" = "$*" ]
}

# The command fails in these attempts.
failing_in()
{
	printf 'case " %s " in *" $RETRY_ATTEMPT "*) exit 7 ;; esac' "$*"
}

@test "a success has to come several times in a row" {
	ends 0 succeeded 3 --consecutive 3 -- true
	verdicts repeat repeat 'done'
	ends 0 succeeded 1 --consecutive 1 -- true
	verdicts 'done'
	ends 0 succeeded 1 -- true
	ends 0 succeeded 5 --consecutive 5 -- true
	[ "$(jq .consecutive report)" = 5 ]
}

@test "a failure starts the count again" {
	ends 0 succeeded 6 -n 9 --consecutive 3 -- sh -c "$(failing_in 3)"
	verdicts repeat repeat retry repeat repeat 'done'
	ends 0 succeeded 7 -n 9 --consecutive 2 -- sh -c "$(failing_in 2 3 5)"
	verdicts repeat retry retry repeat retry repeat 'done'
}

@test "retry gives up when the attempts left are too few, with the last status" {
	ends 7 attempts 4 -n 5 --consecutive 2 -- sh -c 'exit 7'
	ends 7 attempts 3 -n 5 --consecutive 3 -- sh -c "$(failing_in 3)"
	verdicts repeat repeat retry
	grep -qx 'retry: attempt 3/5 failed (exit 7), giving up: too few attempts left' err
	ends 7 attempts 1 -n 3 --consecutive 3 -- sh -c "$(failing_in 1)"
}

@test "more successes than attempts are refused, and so are other texts" {
	local args
	for args in '-n 2 --consecutive 3' '--consecutive 6' \
	    '--consecutive 2 --retries 0' '-n 5 -T 9 --consecutive 6'; do
		run "$RETRY" $args touch ran
		[ "$status" = 125 ]
		[[ ${lines[0]} == 'retry: --consecutive: more successes than attempts (see -n): '* ]]
	done
	for args in 0 -1 x 1.5 inf ''; do
		run "$RETRY" --consecutive "$args" touch ran
		[ "$status" = 125 ]
		[ "${lines[0]}" = "retry: --consecutive: not a number of successes: '$args'" ]
	done
	[ ! -e ran ]
	ends 0 succeeded 6 -T 1m --consecutive 6 -- true
}

@test "the delay between successes is the first one, and so is that after them" {
	ends 0 succeeded 8 -n 9 -j none -d 10ms --consecutive 3 \
	    -- sh -c "$(failing_in 1 2 4 5)"
	[ "$(jq -c '[.attempts[].delay_ms]' report)" = \
	    '[10,20,10,10,20,10,10,null]' ]
	ends 0 succeeded 4 -j none -d 10ms,30ms --consecutive 3 \
	    -- sh -c "$(failing_in 1)"
	[ "$(jq -c '[.attempts[].delay_ms]' report)" = '[10,10,10,null]' ]
	ends 0 succeeded 3 -d 20ms --seed 7 --consecutive 3 -- true
	[ "$(jq '[.attempts[:2][].delay_ms | . <= 20] | all' report)" = true ]
	[ "$(jq '[.attempts[:2][].delay_ms] | unique | length' report)" = 2 ]
}

@test "a wait that a success tells is kept, too" {
	ends 0 succeeded 2 --consecutive 2 -j none --retry-after 'stdout:next in ' \
	    -- echo next in 30ms
	[ "$(jq '.attempts[0].delay_ms' report)" = 30 ]
}

@test "successes that are too few never exit with 0" {
	ends 1 deadline 1 --consecutive 2 -T 5 -d 9 -j none -- true
	grep -qx 'retry: attempt 1 succeeded (exit 0), 1 of 2 in a row, giving up: deadline' err
	verdicts repeat
	echo line | ends 1 input-consumed 1 --consecutive 2 -- cat
	ends 0 succeeded 2 --consecutive 2 -I -- cat < <(echo line)
	[ "$(cat out)" = $'line\nline' ]
	echo line >input
	ends 0 succeeded 2 --consecutive 2 -- cat <input
	[ "$(cat out)" = $'line\nline' ]
	ends 124 deadline 2 --consecutive 2 -T 0.3 -- \
	    sh -c '[ "$RETRY_ATTEMPT" = 1 ] || exec sleep 30'
}

@test "a signal ends the row, unless the last success was due" {
	start "$RETRY" --consecutive 2 -T 60 -d 1ms -- sh -c '
		trap "exit 0" TERM; : >ready$RETRY_ATTEMPT
		while :; do sleep 0.01; done'
	wait_for test -e ready1
	kill -TERM "$pid"
	ended
	[ "$status" = 143 ]
	[ ! -e ready2 ]
	start "$RETRY" --consecutive 2 -T 60 -d 1ms -- sh -c '
		[ "$RETRY_ATTEMPT" = 2 ] || exit 0
		trap "exit 0" TERM; : >due
		while :; do sleep 0.01; done'
	wait_for test -e due
	kill -TERM "$pid"
	ended
	[ "$status" = 0 ]
}

@test "messages count the row, as successes do with -v only" {
	ends 0 succeeded 3 -j none --consecutive 2 -- sh -c "$(failing_in 1)"
	[ "$(sed 's/ in [0-9.]*m*s:/:/' err)" = "\
retry: attempt 1/5 failed (exit 7), retrying in 1ms
retry: attempt 2/5 succeeded (exit 0), 1 of 2 in a row, next in 1ms
retry: attempt 3/5 succeeded (exit 0), 2 of 2 in a row
retry: ended after 3 attempts: succeeded" ]
	"$RETRY" -d 1ms --consecutive 2 true 2>err
	[ ! -s err ]
	"$RETRY" -d 1ms --consecutive 2 --log-format github true 2>err
	[ ! -s err ]
	"$RETRY" -d 1ms --consecutive 2 --log-format github \
	    sh -c "$(failing_in 1)" 2>err
	grep -q '^::warning title=.*::.* succeeded (exit 0), 2 of 2 in a row$' err
	"$RETRY" -v -t 0.05 -k 0 -d 1ms --success-on timeout --consecutive 2 \
	    sleep 30 2>err || [ $? = 124 ]
	grep -q ' timed out after 50ms: succeeded, 1 of 2 in a row, next in ' err
}

@test "with -O the output of the last success is written, with -E nothing" {
	ends 0 succeeded 4 -O -n 6 --consecutive 2 -- \
	    sh -c "echo \$RETRY_ATTEMPT; $(failing_in 2)"
	[ "$(cat out)" = 4 ]
	"$RETRY" -E -d 1ms --consecutive 2 -- \
	    sh -c "echo x >&2; $(failing_in 1)" 2>err
	[ ! -s err ]
}

@test "the attempt after a success is no retry for hooks and the environment" {
	ends 0 succeeded 5 --consecutive 2 --on-retry 'echo retry >>hooks' \
	    --on-give-up 'echo end >>hooks' -- sh -c "
		echo \$RETRY_ATTEMPT:\$RETRY_LAST_STATUS >>ran; $(failing_in 1 3)"
	holds ran 1: 2:7 3:0 4:7 5:0
	holds hooks retry retry
	ends 1 deadline 1 --consecutive 2 -T 5 -d 9 -j none \
	    --on-give-up 'echo $RETRY_LAST_STATUS >last' -- true
	[ "$(cat last)" = 0 ]
}

@test "the metrics have a success only after the row" {
	"$RETRY" -q -d 9 -j none -T 5 --consecutive 2 --metrics m.prom true ||
	    [ $? = 1 ]
	grep -qx 'retry_success{name="m"} 0' m.prom
	grep -qx '# HELP retry_success Whether retry succeeded.' m.prom
	grep -qx 'retry_exit_status{name="m"} 1' m.prom
	"$RETRY" -q -d 1ms --consecutive 2 --metrics m.prom true
	grep -qx 'retry_success{name="m"} 1' m.prom
	grep -qx 'retry_attempts{name="m"} 2' m.prom
}

@test "a row is one success of the budget, and takes no retry of it" {
	export RETRY_BUDGET_DIR=$PWD
	ends 0 succeeded 3 -B api --budget-min 0 --consecutive 3 -- true
	"$RETRY" --budget-status api --json >seen
	[ "$(jq -c '[.retries, .successes, .totals.successes, .totals.retries,
	    .totals.firsts, .totals.denied]' seen)" = '[0,1,1,0,1,0]' ]
	ends 0 succeeded 5 -B db --consecutive 2 -- sh -c "$(failing_in 1 3)"
	"$RETRY" --budget-status db --json >seen
	[ "$(jq -c '[.retries, .successes, .totals.retries]' seen)" = '[2,1,2]' ]
}

@test "the breaker holds back the attempt after a success, too" {
	export RETRY_BUDGET_DIR=$PWD
	ends 1 breaker 1 -B api --breaker 1,1h --consecutive 2 -- sh -c '
		env -u RETRY_ADMITTED "$RETRY" -q -n 1 -B api --breaker 1,1h false
		exit 0'
}

@test "a nested retry that may not retry still makes the row" {
	[ "$("$RETRY" -q -- "$RETRY" -q -d 1ms --nested once --consecutive 3 \
	    sh -c 'echo $RETRY_ATTEMPT/$RETRY_MAX_ATTEMPTS' | xargs)" = '1/3 2/3 3/3' ]
	run "$RETRY" -q -n 1 -- "$RETRY" -q -d 1ms --nested once --consecutive 3 \
	    sh -c 'echo $RETRY_ATTEMPT; exit 7'
	[ "$status" = 7 ]
	[ "$output" = 1 ]
}

@test "a policy may have it, and --dry-run shows the delay between successes" {
	echo consecutive=2 >policy
	ends 0 succeeded 2 --policy ./policy -- true
	ends 0 succeeded 1 --policy ./policy --consecutive 1 -- true
	"$RETRY" --dry-run -n 6 --consecutive 3 -t 1 -d 2 -j none -T 1m |
		tr -s ' ' >plan
	head -n 9 plan >table
	holds table 'DELAY LEAST MEAN MOST' '1 2s 2s 2s' '2 4s 4s 4s' \
	    '3 8s 8s 8s' 'success 2s 2s 2s' 'total 18s 18s 18s' '' \
	    'Worst case 24s 6 attempts x 1s + 18s of delays' 'Deadline 1m fits'
	"$RETRY" --dry-run -n 3 --consecutive 3 -d 2 -j decorrelated |
		tr -s ' ' | grep -qE '^success 2s (4s|3\.9s|4\.1s) 6s$'
	"$RETRY" --dry-run -n 6 --consecutive 3 -t 1 -d 2 -j none -T 23.5 |
		grep -q 'does not fit: attempt 6 of 6 would be cut off'
}
