#!/usr/bin/env bats
# Covers cli/options, attempt/attempt.
# Which failures are retried, and how often: --retry-on, --stop-on, --success-on
# and --limit; and how an attempt's own status is kept. What a list can be is
# tested in tests/unit/policy/conditions.c, how outcomes are judged in plan.c.
# shellcheck disable=SC2154 # start and ended set what is read here
# shellcheck disable=SC2016,SC2034 # the rows and the commands' shells expand

load helper
load json

# Three attempts without delay.
usual=(-n 3 -d 0)

# Commands that count themselves and end with a status, by a signal, or not at all.
exits='echo >>ran; exit $0'
dies='ulimit -c 0; echo >>ran; kill -$0 $$'
hang='echo >>ran; exec sleep 20'

exhausted='giving up: attempts exhausted'

@test "--retry-on retries what it names and nothing else, and --stop-on wins over it" {
	table try <<-'END'
		runs=1 status=8 says='*giving up: not in --retry-on 7' --retry-on 7 sh -c "$exits" 8
		# Some signals only if they are named.
		runs=1 status=130 says='*giving up: SIGINT is not retried unless --retry-on names it' --retry-on signal,fail sh -c "$dies" INT
		# The rule that made it a failure is named.
		runs=1 status=1 says='*giving up: --fail-on 0, not in --retry-on 7' --retry-on 7 --fail-on 9,0 sh -c "$exits" 0
		# --stop-on ends at once.
		runs=1 status=22 says='*giving up: --stop-on 22' --retry-on 1-255,fail --stop-on 22 sh -c "$exits" 22
	END
}

@test "--success-on makes what it names a success, whose status is 0" {
	table try <<-'END'
		runs=1 says='' --success-on 2,5-7 --success-on 9 sh -c "$exits" 9
		runs=1 says='attempt 1/3 succeeded (exit 3) by --success-on 1-9|*: succeeded' -v --success-on 1-9 --retry-on 3 --stop-on 3 sh -c "$exits" 3
		runs=1 says='*: succeeded' -v --success-on timeout -t 150ms sh -c "$hang"
		runs=1 --success-on stdout:ready -T 0.4 sh -c "echo ready; $hang"
	END
}

@test "--limit allows so many retries after the failures that it names" {
	echo 'limit=1:7' >limits.conf
	table try <<-'END'
		runs=3 status=7 says='*giving up: --limit reached (2:7)' -n 9 --limit 2:7 sh -c "$exits" 7
		runs=2 status=9 says='*giving up: --limit reached (1:stdout:busy)' -n 9 --limit 1:stdout:busy sh -c 'echo busy; echo >>ran; exit 9'
		# A policy and the command line add their limits up.
		runs=2 status=7 --policy ./limits.conf --limit 0:8 sh -c "$exits" 7
		runs=1 status=8 --policy ./limits.conf --limit 0:8 sh -c "$exits" 8
		# A retry that a budget denies counts once.
		runs=2 status=7 says="*budget 'api': exhausted, *; giving up*" -n 9 -B api --budget-dir . --budget-min 1 --budget-wait 100ms --limit 2:7 sh -c "$exits" 7
	END
}

@test "again: before an item names no first attempt, in every LIST" {
	old='echo >>ran; echo you cannot publish over the previously published version >&2; exit 1'
	echo 'stop-on=8,again:7' >again.conf
	table try <<-'END'
		# The answer to the first attempt was lost: the second one finds its work done.
		runs=2 says='> you cannot *|attempt 1/3 failed (exit 1), retrying in 0s|> you *|attempt 2/3 succeeded (exit 1) by --success-on again:stderr:previously published|*' report='each.rule=default,success-on' -v --success-on 'again:stderr:previously published' sh -c "$old" && has '"why": "--success-on again:stderr:previously published: \"previously published\"' report
		runs=1 status=1 says="*$exhausted" -n 1 --success-on 'again:stderr:previously published' sh -c "$old"
		runs=2 status=7 says='*2/3 failed (exit 7), giving up: --stop-on again:7' --stop-on again:7 sh -c "$exits" 7
		runs=2 status=7 says='*giving up: --stop-on again:7 (./again.conf:1)' --policy ./again.conf sh -c "$exits" 7
		runs=3 status=9 says="*$exhausted" --policy ./again.conf sh -c "$exits" 9
		runs=1 status=8 says='*giving up: --stop-on 8 (./again.conf:1)' --policy ./again.conf sh -c "$exits" 8
		# A list of such items alone is a list.
		runs=1 status=7 says='*giving up: not in --retry-on again:7' --retry-on again:7 sh -c "$exits" 7
		runs=3 status=7 says="*$exhausted" --retry-on 9,again:7 sh -c '[ "$RETRY_ATTEMPT" != 1 ] || { echo >>ran; exit 9; }; '"$exits" 7
		runs=2 status=7 says='*giving up: --limit reached (0:again:7)' --limit 0:again:7 sh -c "$exits" 7
		# Attempts count, not failures.
		runs=2 status=1 says='attempt 2/3 failed (exit 0), giving up: too few attempts left' --consecutive 2 --fail-on again:0 sh -c "$exits" 0
	END
	rm ran
	refused "--stop-on: not an exit status, signal or condition: 'again:x' in '7,again:x'" --stop-on 7,again:x true
	refused "--stop-on: empty item: 'again:'" --stop-on again: true
}

@test "over: and under: name attempts by the time for which they ran" {
	slow='echo >>ran; sleep 0.3; exit 7'
	table try <<-'END'
		runs=1 status=7 says='*giving up: --stop-on over:200ms' --stop-on over:200ms sh -c "$slow"
		runs=1 status=7 says='*giving up: not in --retry-on under:200ms' --retry-on under:200ms sh -c "$slow"
	END
}

@test "the time for which retry was stopped counts for over:, as in the report" {
	start "$RETRY" -n 1 --report report --success-on over:400ms \
		sh -c 'echo >child; sleep 0.1; exit 7'
	wait_for [ -s child ]
	kill -TSTP "$pid"
	wait_for has $'\nState:\tT' "/proc/$pid/status"
	sleep 0.5
	kill -CONT "-$pid"
	ended 0
	has '"rule": "success-on"' report
}

@test "--keep-status passes on the command's status, also to the hooks" {
	table try <<-'END'
		runs=1 status=3 says='' --keep-status --success-on 3 sh -c "$exits" 3
		runs=2 says="*$exhausted" -n 2 --keep-status --fail-on 0 --on-retry 'echo "$RETRY_LAST_STATUS" >>kept' sh -c "$exits" 0 && holds kept 0
		runs=2 status=1 says="*$exhausted" -n 2 --fail-on 0 --on-retry 'echo "$RETRY_LAST_STATUS" >>told' sh -c "$exits" 0 && holds told 1
	END
}

@test "after a failure it is said once that a pattern has taken other items" {
	hint="',75' is part of the pattern; for more items, give --stop-on again"
	table try <<-'END'
		runs=3 status=1 says="attempt 1/3 *|$hint|attempt 2/3 *" -v --stop-on 'stderr:denied,75' sh -c "$exits" 1 && [[ $(<err) != *'part of'*'part of'* ]]
		runs=2 status=1 says="attempt 1/2 *|$hint|attempt 2/2 *" -n 2 --stop-on 'stderr:denied,75' sh -c "$exits" 1
		runs=2 status=1 says="attempt 1/2 *|$hint|attempt 2/2 *" -n 2 --stop-on 'again:stderr:denied,75' sh -c "$exits" 1
		runs=2 status=1 says='attempt 1/2 *|attempt 2/2 *' -n 2 --stop-on 'stderr:denied[,]75' sh -c "$exits" 1 && not has 'part of' err
		runs=2 status=1 says='' -n 2 -q --stop-on 'stderr:denied,75' sh -c "$exits" 1
		runs=2 status=1 -n 2 -E --stop-on 'stderr:denied,75' sh -c "$exits" 1 && not has 'part of' err
		runs=1 -v --stop-on 'stderr:denied,75' sh -c "$exits" 0 && not has 'part of' err
	END
}
