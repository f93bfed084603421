#!/usr/bin/env bats
# Covers attempt/attempt, run.
# --consecutive: several successes in a row.
# shellcheck disable=SC2016,SC2034 # the commands' shells and the rows expand

load helper
load json

usual=(-v -d 1ms)

# The command fails in these attempts.
failing_in() {
	printf 'case " %s " in *" $RETRY_ATTEMPT "*) exit 7 ;; esac' "$*"
}

@test "a success has to come several times in a row, and a failure starts the count again" {
	table try <<-'END'
		report='reason=succeeded each.verdict=done' --consecutive 1 -- true
		report='reason=succeeded each.verdict=repeat,repeat,retry,repeat,repeat,done' -n 9 --consecutive 3 -- sh -c "$(failing_in 3)"
		report='reason=succeeded each.verdict=repeat,repeat,repeat,repeat,repeat,done' -T 1m --consecutive 6 -- true
		# The attempts left are too few.
		status=7 report='reason=attempts each.verdict=repeat,repeat,retry' -n 5 --consecutive 3 -- sh -c "$(failing_in 3)"
	END
	has_line 'retry: attempt 3/5 failed (exit 7), giving up: too few attempts left' err
	[ "$(values consecutive) $(values attempt_count)" = '3 3' ]
}

@test "more successes than attempts are refused, and so are other texts" {
	local why='more successes than attempts (see -n)' number='not a number of successes'
	also=(touch ran)
	table refused <<-'END'
		"--consecutive: $why: '3'" -n 2 --consecutive 3
		"--consecutive: $why: '2'" --consecutive 2 --retries 0
		"--consecutive: $why: '6'" -n 5 -T 9 --consecutive 6
		"--consecutive: $number: '0'" --consecutive 0
		"--consecutive: $number: 'inf'" --consecutive inf
	END
}

@test "the delay between successes is the first one, and --dry-run shows it" {
	delays() # delays MS OPTION...
	{
		"$RETRY" -q --report report --consecutive 3 "${@:2}" >out &&
			[ "$(values delay_ms)" = "$1" ]
	}
	table delays <<-'END'
		'10 20 10 10 20 10 10 null' -n 9 -j none -d 10ms -- sh -c "$(failing_in 1 2 4 5)"
		'10 10 10 null' -j none -d 10ms,30ms -- sh -c "$(failing_in 1)"
		# A wait that a success tells is kept, too.
		'30 30 null' -d 1ms -j none --retry-after 'stdout:next in ' -- echo next in 30ms
	END
	"$RETRY" -q --report report -d 20ms --seed 7 --consecutive 3 -- true
	read -r first second _ < <(values delay_ms)
	((first <= 20 && second <= 20 && first != second))
	session <<-'END'
		$ retry --dry-run -n 6 --consecutive 3 -t 1 -d 2 -j none -T 1m | head -n 9
		DELAY       LEAST       MEAN       MOST
		1              2s         2s         2s
		2              4s         4s         4s
		3              8s         8s         8s
		success        2s         2s         2s
		total         18s        18s        18s

		Worst case    24s         6 attempts x 1s + 18s of delays
		Deadline      1m          fits
		$ retry --dry-run -n 3 --consecutive 3 -d 2 -j decorrelated | grep success
		success        2s          -         6s
		$ retry --dry-run -n 6 --consecutive 3 -t 1 -d 2 -j none -T 23.5 | grep fit
		Deadline      23.5s       does not fit: attempt 6 of 6 would be cut off
	END
}

# bats test_tags=slow
@test "successes that are too few never exit with 0" {
	try status=1 report='reason=deadline each.verdict=repeat' --consecutive 2 -T 5 -d 9 -j none -- true
	has_line 'retry: attempt 1 succeeded (exit 0), 1 of 2 in a row, giving up: deadline, the next delay (9s) does not fit' err
	echo line >input
	table <<-'END'
		try status=1 report='reason=input-consumed each.verdict=repeat' --consecutive 2 -- cat < <(echo line)
		try report='reason=succeeded each.verdict=repeat,done' --consecutive 2 -I -- cat < <(echo line) && holds out line line
		try report='reason=succeeded each.verdict=repeat,done' --consecutive 2 -- cat <input && holds out line line
		try status=124 report='reason=deadline each.verdict=repeat,retry' --consecutive 2 -T 3 -- sh -c '[ "$RETRY_ATTEMPT" = 1 ] || exec sleep 30'
	END
}

@test "a signal ends the row, unless the last success was due" {
	asked() # asked STATUS NUMBER: to end in this attempt, which is a success
	{
		start "$RETRY" --consecutive 2 -T 60 -d 1ms -- sh -c '
			echo >>"ran$0"
			[ "$RETRY_ATTEMPT" = "$0" ] || exit 0
			trap "exit 0" TERM; : >"ready$0"
			while :; do sleep 0.1; done' "$2"
		wait_for test -e "ready$2"
		ended_by TERM "$1" && mapfile runs <"ran$2" && [ "${#runs[@]}" = "$2" ]
	}
	table asked <<-'END'
		143 1
		0 2
	END
}

@test "messages count the row, as successes do with -v only" {
	try says='attempt 1/5 failed (exit 7), retrying in 1ms|attempt 2/5 succeeded (exit 0), 1 of 2 in a row, next in 1ms|attempt 3/5 succeeded (exit 0), 2 of 2 in a row|ended after 3 attempts in *s: succeeded, rescued by a retry' \
	    -j none --consecutive 2 -- sh -c "$(failing_in 1)"
	usual=(-d 0)
	table try <<-'END'
		says='' --consecutive 2 true
		says='' --consecutive 2 --log-format github true
		says='*|> |> ::warning title=sh::* succeeded (exit 0), 2 of 2 in a row' --consecutive 2 --log-format github sh -c "$(failing_in 1)"
		status=124 says='*timed out after 50ms: succeeded by --success-on timeout, 1 of 2 in a row, next in *' -v -t 0.05 -k 0 -n 2 --success-on timeout --keep-status --consecutive 2 sleep 30
		# With -O the output of the last success is written, with -E nothing.
		out=4 -O -n 6 --consecutive 2 -- sh -c "echo \$RETRY_ATTEMPT; $(failing_in 2)"
		says='' -E --consecutive 2 -- sh -c "echo x >&2; $(failing_in 1)"
	END
}

@test "the attempt after a success is no retry for hooks and the environment" {
	try report='reason=succeeded each.verdict=retry,repeat,retry,repeat,done' --consecutive 2 --on-retry 'echo retry >>hooks' \
	    --on-give-up 'echo end >>hooks' -- sh -c "
		echo \$RETRY_ATTEMPT:\$RETRY_LAST_STATUS >>ran; $(failing_in 1 3)"
	holds ran 1: 2:7 3:0 4:7 5:0
	holds hooks retry retry
	try status=1 report='reason=deadline each.verdict=repeat' --consecutive 2 -T 5 -d 9 -j none --metrics m.prom \
	    --on-give-up 'echo $RETRY_LAST_STATUS >last' -- true
	holds last 0
	# The metrics have a success only after the row.
	has_line 'retry_success{name="m"} 0' m.prom
	has_line '# HELP retry_success Whether retry succeeded.' m.prom
	has_line 'retry_exit_status{name="m"} 1' m.prom
	"$RETRY" -q -d 1ms --consecutive 2 --metrics m.prom true
	has_line 'retry_success{name="m"} 1' m.prom
	has_line 'retry_attempts{name="m"} 2' m.prom
}

@test "a row is one success of the budget, and takes no retry of it" {
	export RETRY_BUDGET_DIR=$PWD
	try report='reason=succeeded each.verdict=repeat,repeat,done' -B api --budget-min 0 --consecutive 3 -- true
	"$RETRY" --budget-status api --json >seen
	[ "$(values retries seen), $(values successes seen), $(values firsts seen), $(values denied seen)" = \
	    '0 0, 1 1, 1, 0' ]
	try report='reason=succeeded each.verdict=retry,repeat,retry,repeat,done' -B db --consecutive 2 -- sh -c "$(failing_in 1 3)"
	"$RETRY" --budget-status db --json >seen
	[ "$(values retries seen), $(values successes seen)" = '0 2, 1 1' ]
	# The breaker holds back the attempt after a success, too.
	try status=1 report='reason=breaker each.verdict=repeat' -B web --breaker 1,1h --consecutive 2 -- sh -c '
		env -u RETRY_ADMITTED "$RETRY" -q -n 1 -B web --breaker 1,1h false
		exit 0'
}

@test "a nested retry that may not retry still makes the row" {
	local usual=(-q -n 1 -- "$RETRY" -q -d 1ms --nested once)
	table try <<-'END'
		out='1/3|2/3|3/3' --consecutive 3 sh -c 'echo $RETRY_ATTEMPT/$RETRY_MAX_ATTEMPTS'
		status=7 out=1 --consecutive 3 sh -c 'echo $RETRY_ATTEMPT; exit 7'
	END
}
