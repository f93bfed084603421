#!/usr/bin/env bats
# Covers show/dry_run.
# --dry-run: prints what a policy would do, and does nothing else. What follows
# from a policy is seen by unit/show/dry_run.
# shellcheck disable=SC2016,SC2034 # the rows expand

load helper

# plan WORD...: writes the output of --dry-run to ./plan, and to ./line with
# single blanks.
plan() {
	local words
	"$RETRY" --dry-run "$@" >plan 2>err || return
	[ ! -s err ] && while read -ra words; do
		echo "${words[*]}"
	done <plan >line
}

# tells LINE [WORD]...: with these options one line of the output is LINE.
tells() {
	plan "${@:2}" && has_line "$1" line || {
		echo "no '$1': ${*:2}"
		cat plan
		return 1
	}
}

@test "the worst case is all attempts at their timeout, and all delays" {
	plan -n 4 -t 150ms -d 2 -b constant
	diff line - <<-END
		DELAY LEAST MEAN MOST
		1 0s 1s 2s
		2 0s 1s 2s
		3 0s 1s 2s
		total 0s 3s 6s

		Worst case 6.6s 4 attempts x 150ms + 6s of delays
		Deadline none
		Smallest SLO 19.8s 3 x the worst case
		Not counted kill grace up to 5s an attempt
	END
	table tells <<-'END'
		'Worst case 15.5s 4 attempts, in all 9.5s + 6s of delays' -n 4 -t 500ms,1,4s -d 2 -b constant
		# Without a timeout there is none. Silence does not bound all attempts.
		'Worst case unbounded an attempt may take for ever (no -t)'
		'Worst case unbounded an attempt may take for ever (no -t) while it writes' -n 4 --idle-timeout 1
		'Worst case unbounded there is no limit of attempts' -n inf -t 1
		'Worst case unbounded' -n 1000000000000 -t 99999999d -d 99999999d
		'Smallest SLO none'
		# A deadline that is shorter is the worst case.
		'Worst case 1h the deadline' -T 1h
		'Worst case 1m the deadline' -T 60 -n 4
		'Worst case 6s the deadline, not 6.6s: 4 attempts x 150ms + 6s of delays' -n 4 -t 150ms -d 2 -b constant -j none -T 6
		'Worst case 6.6s 4 attempts x 150ms + 6s of delays' -n 4 -t 150ms -d 2 -b constant -j none -T 6.6
		'Smallest SLO 3m 3 x the worst case' -T 60
		'Smallest SLO 18s 3 x the worst case' -n 4 -t 150ms -d 2 -b constant -j none -T 6
		# One attempt has no delays.
		'no retries' -n 1 -t 2
		'Worst case 2s 1 attempt x 2s + 0s of delays' -n 1 -t 2
		# What it does not count.
		'Not counted kill grace up to 2s an attempt' --idle-timeout 1 -k 2
		'Not counted Retry-After up to 1m a retry' --http --max-retry-after 1m
		'Not counted Retry-After up to 2m a retry' --retry-after stderr:in --max-retry-after 2m
		'Not counted Retry-After up to 10m a retry' --retry-after 10m:1
		'Not counted Retry-After up to 5m a retry' --preset gh
		'Not counted budget without limit a retry' -B key -n inf
		'Not counted fleet up to 3s a retry' -B key --fleet unix:///none --fleet-timeout 3s
		'budget until the deadline' -B key -T 30 -t 5
		'budget up to 10s a retry' -B key -T 30 --budget-wait 10
		# Others take places of --rate, too: what it makes of one command is a lower bound.
		'Rate shared 2/s by all with the key; 10 attempts take at least 4s' -B key --rate 2/s -n 10
		'Rate shared 40/5s by all with the key; 81 attempts take at least 10s' -B key --rate 40/5s -n 81
		'Rate shared 40/5s by all with the key' -B key --rate 40/5s -n 40
		'Rate shared 1/m by all with the key; at most 4 attempts before the deadline' -B key --rate 1/m -T 3m
		'Rate shared 1/m by all with the key' -B key --rate 1/m -n inf
		'Not counted rate without limit an attempt' -B key --rate 2/s
		'rate until the deadline' -B key --rate 2/s -T 9
		'Not counted kill grace up to 5s after the deadline' -T 1
		'Not counted kill grace up to 2s an attempt' -T 1 -t 5 -k 2
		'Retry-After until the deadline' -T 30 --http
		'after a 429 up to 2s a retry' --http -d 0,2
		'after a 429 up to 1s a retry' --http -d 5,0 --max-delay 1
	END
	plan -t 1 -k 2 --http -B key --budget-wait 3
	has $'\nNot counted kill grace up to 2s an attempt\nRetry-After up to 5m a retry\nbudget up to 3s a retry\n' line
	plan -t 1 -k 0 -B key
	not has 'Not counted' plan
	not has Rate plan
	plan --rate 2/s -B key --rate ''
	not has rate plan
}

@test "a limit is shown, and shortens the worst case if it names any failure" {
	plan -n 4 -t 150ms -d 2 -b constant --limit 1:timeout,stderr:a,b \
	    --limit 2:http:429 --limit 0:7
	has $'\nLimits 1 retry after timeout,stderr:a,b\n2 retries after http:429\n0 retries after 7\n' line
	table tells <<-'END'
		'Worst case 6.6s 4 attempts x 150ms + 6s of delays' -n 4 -t 150ms -d 2 -b constant --limit 1:timeout
		'no retries' --limit 0:fail
		'Worst case 20.7s 9 attempts x 300ms + 18s of delays' -T 1m -t 300ms -d 2,4 -j none --limit 2:fail --consecutive 3
		'Worst case 16.1s 7 attempts x 300ms + 14s of delays' -n 7 -t 300ms -d 2,4 -j none --limit 2:fail --consecutive 3
		'Worst case 6.5s 3 attempts, in all 2.5s + 4s of delays' -n 9 -t 500ms,1 -d 2 -b constant --limit 2:fail
		'Deadline 1s does not fit: attempt 2 of 3 would not begin' -T 1 -t 600ms -d 10 -j none --limit 2:fail
	END
}

@test "the rules are shown as they were understood, in the order of judgement" {
	printf '%s\n' stop-on=3,stderr:denied,75 preset=apt retry-after=90:http:429 >team.conf
	plan --policy ./team.conf --retry-on 75,timeout --preset auto \
	    --fail-on 'stdout:a b,c' --stop-on SEGV --success-on 7 --limit 2:9,75 \
	    --retry-after 0.5:9,stderr:a,b git
	sed -n '/^Rules/,$p' line | diff - <(cat <<-END
		Rules success --success-on 7
		failure --fail-on stdout:a b,c
		failure preset apt: a failure, even with exit status 0 (./team.conf:2)
		stop --stop-on 3 (./team.conf:1)
		stop --stop-on stderr:denied,75 (./team.conf:1)
		',75' is part of the pattern; for more items, give --stop-on again
		stop --stop-on SEGV
		retry --retry-on 75
		retry --retry-on timeout
		stop preset apt: a failure that stays (./team.conf:2)
		stop preset git: a failure that stays
		retry preset apt: a failure that passes (./team.conf:2)
		retry preset git: a failure that passes
		Limits 2 retries after 9,75
		Waits 1m30s after http:429 (./team.conf:3)
		1m after a limit of preset git, doubled each time
		500ms after 9,stderr:a,b
		Not counted Retry-After up to 5m a retry
	END
	)
	tells "Rules no preset for 'frob': any failure is retried" -a frob
	tells 'Rules retry preset flock: a failure that passes' --preset flock
	tells 'Rules stop --stop-on again:stderr:a,b' --stop-on again:stderr:a,b
	tells 'Rules stop --stop-on stderr:a\tb\x1b' --stop-on $'stderr:a\tb\e'
	plan -n 2
	not has Rules plan
}

@test "the end of a pattern that is a LIST, too, gets a hint" {
	local pattern options=()
	for pattern in denied,75 denied,64-78,timeout a,b,SEGV a,b,9,stdout:c,d x,stderr:y,z \
		x,http:5xx x,over:5m x,again:7; do
		options+=(--retry-on "7,stderr:$pattern")
	done
	plan "${options[@]}"
	sed -n "s/^'\(.*\)' is part of the pattern; for more items, give --retry-on again$/\1/p" line |
		holds /dev/stdin ,75 ,64-78,timeout ,SEGV ,9,stdout:c,d ,stderr:y,z ,http:5xx ,over:5m ,again:7
	options=(--retry-on '7,75')
	for pattern in 'denied, 75' denied,75x 'a{1,2}' '[1,2]' a,b denied,256 a,7,x 'a,' a,http:9 75; do
		options+=(--retry-on "7,stderr:$pattern")
	done
	plan "${options[@]}"
	[ "$(grep -c 'retry --retry-on stderr:' line)" = 10 ]
	not has 'part of' line
}

@test "columns line up" {
	plan -n 12 -t 10m -d 50ms --factor 3 --max-delay 2h --splay 1
	[ "$(awk '/^(DELAY|splay|total|[0-9]+) / { print length }' plan | sort -u)" = 39 ]
	[ "$(grep -oE '^(Worst case|Deadline|Smallest SLO|Not counted) +' plan |
		awk '{ print length }' | sort -u)" = 14 ]
	run ! grep -E ' $|.{81}' plan
}

@test "nothing is run, written or opened, a command is optional, -q is no reason to be silent" {
	mkdir shm
	plan -B key --budget-dir shm --budget-required --breaker on --report report \
	    --metrics metrics --trace trace --on-retry ': >hook' --on-give-up ': >hook' \
	    -O -E --http-status status -- touch ran
	rmdir shm
	[ "$(echo *)" = 'err line plan' ]
	{ plan -I -- cat && read -r input && [ "$input" = input ]; } <<<input
	table tells "'total 0s 7.5s 15s'" <<-'END'
		./no-such-command
		--preset auto -- curl x
		--preset auto
		-q
	END
	refused "--method: not idempotent, and no --idempotency-key: 'POST'" --dry-run --method POST true
}

@test "each kind of backoff and of jitter has its delays, and a splay is one" {
	# The unit compares them with what is drawn.
	table tells <<-'END'
		'4 0s 4s 8s'
		'2 0s 2.5s 5s' -n 3 -d 1,5
		'2 1s 1.5s 2s' -d 1 -n 3 -j equal
		# Each of these depends on the one before: the mean has no formula.
		'2 1s - 9s' -d 1 -n 3 -j decorrelated
		'splay 0s 1s 2s' --splay 2 -d 1 -j none -n 2
		'total 1s 2s 3s' --splay 2 -d 1 -j none -n 2
	END
}

@test "of many retries ten are shown, and how many there are; a total saturates" {
	table tells <<-'END'
		'the first 10 retries; there is no limit' -n inf -t 1
		'the first 10 retries; there are 101' -n 102 -d 1 -b constant -j none
		'total 1m41s 1m41s 1m41s' -n 102 -d 1 -b constant -j none
		'total 1ms 1ms 1ms' -n 2 -d 0.0001 -j none
		'total 1s 1s 1s' -n 2 -d 0.9996 -j none
		'total 0s unbounded unbounded' -n 1000000000000 -j full
		'total unbounded - unbounded' -n 1000000000000 -d 1d -j decorrelated
	END
	plan -n inf -t 1
	not has total line
	[ "$(grep -cE '^[0-9]+ ' line)" = 10 ]
	plan -n 101 -d 1
	[ "$(grep -cE '^[0-9]+ ' line)" = 100 ]
}

@test "targets, the command behind them, orphans and another status are shown" {
	table tells <<-'END'
		'Orphans ended after each failed attempt' --kill-orphans
		'Status 75 if only a limit ends it' --exhausted-status 75
	END
	"$RETRY" --dry-run -w 60 tcp:db:5432 file:/x -- app 'a b' | diff - <(cat <<-'END'
		Targets       tcp:db:5432
		              file:/x
		Deadline      1m          then status 124
		Command       app a b
	END
	)
}

@test "whether the worst case fits the deadline is said, or how many attempts there will be" {
	local four='-n 4 -t 150ms -d 2 -b constant -j none'
	table tells <<-'END'
		'Deadline 6.6s fits' -T 6.6 $four
		'Deadline 6.599s does not fit: attempt 4 of 4 would be cut off' -T 6.599 $four
		'Deadline 6.4s does not fit: attempt 4 of 4 would not begin' -T 6.4 $four
		'Deadline 1h does not fit: attempts after 1000000 of 9999999 would be cut off' -T 1h -n 9999999 -t 1ms -d 0
		'Deadline 5s does not fit, but all attempts do with shorter delays' -T 5 -n 4 -t 50ms -d 100ms --factor 10
		# Only the deadline limits the attempts.
		'Deadline 1m until then at least 7 attempts, if each fails at once' -T 60 -t 5,0
		'Deadline 10s until then at least 4 attempts, if each takes its timeout' -T 10 -t 2 -d 1 -b constant -j none
		'Deadline 1s until then at least 1 attempt, if each takes its timeout' -T 1 -t 2
		'Deadline 1h until then at least 1000000 attempts, if each fails at once' -T 1h -d 0
	END
}
