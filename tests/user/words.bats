#!/usr/bin/env bats
# Covers streams/relay, sys/zoneinfo.
# --retry-after: the wait that a line of the output tells in words, or that the user
# knows. Which words are understood is tested in tests/unit/match/hint.c.
# shellcheck disable=SC2016,SC2034,SC2154 # the rows and the commands' shells expand

load helper
load json

# says MS TEXT... -- OPTION...: the command writes each TEXT, a format of
# printf, to its error output, $head to ./head, and fails; the next attempt is
# told to wait MS.
says() {
	local want=$1 texts=()
	while [ "$2" != -- ]; do
		texts+=("$2")
		shift
	done
	try status=1 report="each.retry_after_ms=$want" -n 1 "${@:3}" -- sh -c 'printf "$head" >head
		for text; do printf "$text" >&2; done; exit 1' sh "${texts[@]}"
}

# within_minute TEXT: TEXT, which names a moment in a minute, is told so.
within_minute() {
	local got
	says '*' "$1" -- --retry-after 'stderr:at ' >said || :
	got=$(values retry_after_ms)
	[ "$got" -gt 30000 ] && [ "$got" -le 61000 ]
}

after=(--retry-after 'stderr:in ')
asks='echo in 30ms >&2; exit 1'

@test "the next attempt waits for as long as a line of the output tells" {
	try ms=240 report='each.retry_after_ms=243,243 slept_ms>=243' \
		-n 2 -d 1ms --retry-after 'stderr:try again in ' -- \
		sh -c 'echo "Limit reached. Please try again in 243ms." >&2; test "$RETRY_ATTEMPT" = 2'
	[[ $(values rule) == 'default '* ]]
	# Without jitter the wait is exact, with it longer.
	try status=1 report='each.delay_ms=30,null' -n 2 -d 10ms -j none "${after[@]}" -- sh -c "$asks"
	try status=1 -n 4 -d 10ms --seed 1 --report report "${after[@]}" -- sh -c "$asks"
	[[ $(values delay_ms) =~ ^(3[0-9]|40)' '(3[0-9]|40)' '(3[0-9]|40)' null'$ ]]
	[ "${BASH_REMATCH[*]:1:2}" != "${BASH_REMATCH[*]:2:2}" ]
}

@test "the last match counts, wherever the output is cut, and the longest wait of several; a success needs none" {
	echo 'retry-after=stderr:try again in ' >policy
	table <<-'END'
		says 3000 'again in 1s\nagain in 2s\nagain in 3s\n' -- --retry-after 'stderr:again in '
		says 3000 'aga' 'in in ' '3' ' sec' 'onds' -- --retry-after 'stderr:again in '
		says 90000 'again in 1 minu' 'te 30 seconds.\n' -- --retry-after 'stderr:again in '
		# The fields of a page count only through a pattern.
		says 2500 '{"retry_after_ms": 2500}' -- --retry-after 'stderr:"retry_after_ms": *'
		says 2500 '{"retry_after": 2.5}' -- --retry-after 'stderr:"retry_after": *'
		says null '{"retry_after": 2.5}' -- --http
		# A moment: the wait is what is left of it.
		says 0 'at 2026-11-22T10:00:00Z' -- --retry-after 'stderr:at '
		says 0 'at Sun, 22 Nov 2020 10:00:00 GMT.' -- --retry-after 'stderr:at '
		within_minute "at $((EPOCHSECONDS + 60))"
		TZ=UTC0 printf -v soon '%(%FT%TZ)T' $((EPOCHSECONDS + 60)); within_minute "at $soon"
		says 1000 'again in 1s\nagain in vain\n' -- --retry-after 'stderr:again in '
		# The longest wait of several patterns.
		says 9000 'after 9s, or in 7s' -- --retry-after 'stderr:in ' --retry-after 'stderr:after '
		# Or of a pattern and of a response.
		with head='HTTP/1.1 503\nRetry-After: 5\n\n' says 9000 'in 9s' -- --retry-after stderr:in --http-status head
		with head='HTTP/1.1 503\nRetry-After: 5\n\n' says 5000 'in 3s' -- --retry-after stderr:in --http-status head
		# Without the option, and where no line tells a time, nothing changes.
		says null 'try again in 20s\n' --
		says null 'try again later\n' -- --retry-after 'stderr:try again in '
		says null 'try again in a moment\n' -- --retry-after 'stderr:again in '
		says null 'try again in 20s\n' -- --retry-after 'stdout:try again in '
		says null '' -- --retry-after 'stderr:try again in '
		# A policy may have it.
		says 7000 'try again in 7s' -- --policy ./policy
		says 9000 'try again in 7s, wait 9s' -- --policy ./policy --retry-after 'stderr:wait '
		# It does not make a failure one to retry.
		says 20000 'again in 20s' -- --stop-on 1 --retry-after 'stderr:in ' && has '"reason": "stop-rule",' report
		# The same pattern in a LIST acts, too.
		says 30 'busy 30ms' -- --retry-after 'stderr:busy ' --retry-on 'stderr:busy ' && [ "$(values rule)" = retry-on ]
		says 30 'busy 30ms' -- --stop-on 'stderr:busy ' --retry-after 'stderr:busy ' && [ "$(values rule)" = stop-on ]
	END
	# Each attempt tells for itself, and a success needs no wait.
	try status=1 report='each.retry_after_ms=20,null,null' -n 3 -d 1ms "${after[@]}" -- sh -c '
		[ "$RETRY_ATTEMPT" != 1 ] || echo "in 20ms" >&2
		[ "$RETRY_ATTEMPT" != 2 ] || printf "i" >&2
		[ "$RETRY_ATTEMPT" != 3 ] || printf "n 7s" >&2
		exit 1'
	try report='reason=succeeded attempt_count=1' -n 2 "${after[@]}" -- \
		sh -c 'echo "done in 20s" >&2'
}

@test "a time above --max-retry-after, or past the deadline, gives up at once" {
	long() # long LINE TEXT OPTION...
	{
		try status=3 says="> $2|$1" --retry-after 'stderr:again in ' "${@:3}" \
		    -- sh -c 'echo "$0" >&2; exit 3' "$2"
	}
	table long <<-'END'
		'attempt 1/5 failed (exit 3), giving up: Retry-After too long (1h)' 'again in 1h'
		'attempt 1/5 failed (exit 3), giving up: Retry-After too long (11s)' 'again in 11' --max-retry-after 10s
		'attempt 1 failed (exit 3), giving up: Retry-After too long (1m), the deadline comes first' 'again in 1m' -T 20
	END
}

# comes HOURS TEXT: TEXT names a moment in so many hours, as it was a minute ago or is now
comes() {
	local got
	says '*' "resets $2" -- --retry-after 'stderr:resets ' >said || :
	got=$(values retry_after_ms)
	[ "$got" -gt $(($1 * 3600000 - 120000)) ] && [ "$got" -le $(($1 * 3600000 + 1000)) ]
}

# clock FORMAT HOURS ZONE: so many hours from now, as the clock of the zone shows it
clock() {
	TZ=$3 printf "%($1)T" $((EPOCHSECONDS + $2 * 3600))
}

@test "a time of the day is the next one, in the zone that is named or in that of TZ" {
	export TZ=XST-3:30
	table <<-'END'
		comes 2 "$(clock %T 2 $TZ)"
		comes 2 "$(clock '%I:%M:%S %p' 2 $TZ). Bye"
		comes 23 "$(clock %T 23 $TZ)"
		comes 22 "$(clock %T -2 $TZ)"
		# One that is past by less than an hour has come.
		comes 0 "$(TZ=XST-3:30 printf '%(%T)T' $((EPOCHSECONDS - 1800)))"
		comes 2 "$(clock %T 2 UTC0) UTC"
		comes 2 "$(clock '%I:%M:%S%p' 2 UTC0) (GMT)"
		with TZ=UTC0 comes 2 "$(clock %T 2 UTC0)"
		with TZ= comes 2 "$(clock %T 2 UTC0)"
	END
	for zone in Europe/Berlin America/New_York Asia/Kolkata Australia/Sydney Etc/GMT+5; do
		[ -f /usr/share/zoneinfo/$zone ] || continue
		table comes <<-'END'
			2 "$(clock %T 2 $zone) ($zone)"
			11 "$(clock '%I:%M:%S %p' 11 $zone) $zone. Bye"
			22 "$(clock %T -2 $zone) ($zone)"
		END
	done
}

@test "the word of a stranger is no zone unless it names one, and no path" {
	local at
	at=$(clock %T 2 UTC0)
	mkdir zone
	nothing() # nothing TEXT
	{
		says null "resets $1" -- --retry-after 'stderr:resets ' &&
			grep -q "; no time follows 'stderr:resets '\$" err
	}
	table nothing <<-'END'
		"$at (Nowhere/Town)"
		"$at Nowhere"
		"$at CESTX"
		"$at (Europe)"
		"$at (../zoneinfo/UTC)"
		"$at (UTC/../UTC)"
		"$at ($PWD/zone)"
		"$at (zone.tab)"
		"$at (tzdata)"
		"$at (leapseconds)"
		"$at and so on"
		"in $at"
	END
}

@test "a time of the day does not change TZ, and nothing is opened without one" {
	local zone=UTC opens
	[ ! -f /usr/share/zoneinfo/Asia/Tokyo ] || zone=Asia/Tokyo
	with TZ=XST-3:30 try status=1 report='each.retry_after_ms=0,0' -n 2 -d 1ms -j none \
		--retry-after 'stderr:at ' -- sh -c 'echo "$TZ" >>seen; echo "at $0" >&2; exit 1' \
		"$(clock %H:%M 0 "$zone") ($zone)"
	holds seen XST-3:30 XST-3:30
	need strace
	opened() # opened WORDS: what retry opens where the output has these words
	{
		strace -qq -o trace -e 'trace=?open,openat' "$RETRY" -q -n 3 -d 1ms -j none --retry-after 'stderr:at ' \
			-- sh -c 'echo "at $0" >&2; exit 1' "$1" 2>err || :
		opens=$(grep -cE 'zoneinfo|localtime' trace || :)
	}
	opened 5ms
	[ "$opens" -eq 0 ]
	opened '14:30 (Nowhere/Town)'
	[ "$opens" -eq 3 ]
	has /usr/share/zoneinfo/Nowhere/Town trace
}

@test "a match behind which no time was found is said once, with the failure" {
	vague="; no time follows 'stderr:again in '"
	moment=(sh -c 'echo again in a moment >&2; exit 3')
	asked=(-d 1ms --retry-after 'stderr:again in ')
	said="> again in a moment|attempt 1"
	table try <<-'END'
		status=3 says="$said/3 failed (exit 3), retrying in +([0-9])ms$vague|> *|attempt 2/3 failed (exit 3), retrying in +([0-9])ms|> *|attempt 3/3 *d" -n 3 "${asked[@]}" -- "${moment[@]}"
		status=3 says="$said/1 failed (exit 3), giving up: attempts exhausted$vague" -n 1 "${asked[@]}" -- "${moment[@]}"
		status=3 says="$said/5 failed (exit 3), giving up: --stop-on 3$vague" --stop-on 3 "${asked[@]}" -- "${moment[@]}"
		status=3 says="$said/2 failed (exit 3), retrying in +([0-9])ms|> *|attempt 2*exhausted" -n 2 -d 1ms --retry-after 'stderr:later' -- "${moment[@]}"
		status=3 says='> again in a moment' -q -n 1 "${asked[@]}" -- "${moment[@]}"
		# The longest wait of another pattern counts, and a success needs none.
		status=3 says="> in a while, in 5ms|attempt 1/1 failed (exit 3), giving up: attempts exhausted" -n 1 --retry-after 'stderr:in ' --retry-after 'stderr:while, in ' -- sh -c 'echo in a while, in 5ms >&2; exit 3'
		says='> again in a moment' "${asked[@]}" -- sh -c 'echo again in a moment >&2'
		status=8 says='*exhausted; no time follows *' -n 1 --preset wget -- sh -c 'echo "ERROR 503: x" >&2; echo "  Retry-After: soon" >&2; exit 8'
	END
}

@test "--retry-after DUR:LIST waits so long at least after these failures" {
	echo 'retry-after=7:stderr:busy' >policy
	try status=1 ms=390 runs=2 report='each.retry_after_ms=400,400 each.delay_ms=400,null' -n 2 -d 1ms -j none \
		--max-retry-after 10ms --retry-after 400ms:1 -- sh -c 'echo >>ran; exit 1'
	table <<-'END'
		says 7000 busy -- --retry-after 7:stderr:busy
		says null idle -- --retry-after 7:stderr:busy
		says 7000 busy -- --retry-after 7:9,stderr:busy
		says null busy -- --retry-after 7:stdout:busy
		says 7000 busy -- --retry-after 7:1-3
		says null busy -- --retry-after 7:2
		says 90000 busy -- --retry-after 1m30s:1
		says 0 busy -- --retry-after 0:1
		with head='HTTP/1.1 429\n\n' says 9000 x -- --retry-after 9:http:429 --http-status head
		with head='HTTP/1.1 503\n\n' says null x -- --retry-after 9:http:429 --http-status head
		# A longer time that is named counts, and of several the longest.
		with head='HTTP/1.1 429\nRetry-After: 20\n\n' says 20000 x -- --retry-after 9:http:429 --http-status head
		with head='HTTP/1.1 429\nRetry-After: 5\n\n' says 9000 x -- --retry-after 9:http:429 --http-status head
		says 9000 'in 5s' -- --retry-after 9:1 "${after[@]}"
		says 11000 'in 11s' -- --retry-after 9:1 "${after[@]}"
		says 9000 busy -- --retry-after 8:1 --retry-after 9:stderr:busy --retry-after 7:1
		says 7000 busy -- --policy ./policy
		says null busy -- --policy ./policy --retry-after ''
		# It changes nothing else.
		says 7000 busy -- --stop-on 1 --retry-after 7:1 && has '"reason": "stop-rule",' report
		says 7000 busy -- --retry-on 9 --retry-after 7:1 && has '"reason": "not-retryable",' report
	END
	try says='> busy' report='reason=succeeded each.retry_after_ms=null' --retry-after 7:0,stderr:busy -- sh -c 'echo busy >&2'
	table try <<-'END'
		status=3 says='attempt 1 failed (exit 3), giving up: Retry-After too long (1m by --retry-after 60:3), the deadline comes first (a longer one waits for it)' -T 20 --retry-after 60:3 -- sh -c 'exit 3'
		status=3 says='> in 20s|attempt 1/5 failed (exit 3), giving up: Retry-After too long (20s)' --max-retry-after 9 --retry-after 30:3 "${after[@]}" -- sh -c 'echo in 20s >&2; exit 3'
	END
}

@test "the output is relayed unchanged, and held where that is asked for" {
	local after=(--retry-after stdout:in --retry-after stderr:in)
	try status=1 -q -n 1 "${after[@]}" -- sh -c 'printf "a\0in 5"; printf x >&2; exit 1'
	printf 'a\0in 5' | cmp - out
	printf x | cmp - err
	try out='in 20ms' says='' report='each.retry_after_ms=30,30' -q -O -E -n 2 -d 1ms "${after[@]}" -- \
		sh -c 'echo in 20ms; echo in 30ms >&2; test "$RETRY_ATTEMPT" = 2'
}

@test "a stream without a pattern, another stream and a bad pattern are refused" {
	local why="--retry-after: neither DUR:LIST, stderr:ERE nor stdout:ERE" all=() i
	also=(touch ran)
	for ((i = 0; i < 64; i++)); do
		all+=(--retry-after stderr:in)
	done
	"$RETRY" "${all[@]}" true
	table refused <<-'END'
		"$why: 'in '" --retry-after 'in '
		"$why: 'stdin:in '" --retry-after 'stdin:in '
		"--retry-after: not DUR:LIST: '20'" --retry-after 20
		"--retry-after: not DUR:LIST: '1,stderr:in '" --retry-after '1,stderr:in '
		"--retry-after: not DUR:LIST: '1x:7'" --retry-after 1x:7
		"--retry-after: empty item in '20:'" --retry-after 20:
		"--retry-after: above 255 (an HTTP status is http:500): '429' in '20:429'" --retry-after 20:429
		"--retry-after: ) without (: ') ' in 'in ) '" --retry-after '1:stderr:in ) '
		"--retry-after: not a LIST of statuses, http: items and patterns: '20:7,timeout'" --retry-after 20:7,timeout
		"--retry-after: not a LIST of statuses, http: items and patterns: '20:TERM'" --retry-after 20:TERM
		"--retry-after: not a LIST of statuses, http: items and patterns: '20:signal,stderr:in'" --retry-after 20:signal,stderr:in
		"--retry-after: not a LIST of statuses, http: items and patterns: '20:idle'" --retry-after 20:idle
		"--retry-after: not a LIST of statuses, http: items and patterns: '20:fail'" --retry-after 20:fail
		"--retry-after: not a LIST of statuses, http: items and patterns: '20:over:5'" --retry-after 20:over:5
		"--retry-after: not a LIST of statuses, http: items and patterns: '20:under:5'" --retry-after 20:under:5
		"--retry-after: the pattern is empty: ''" --retry-after stderr:
		"--retry-after: ) without (: ') ' in 'in ) '" --retry-after 'stderr:in ) '
		"--retry-after: more than 64 patterns: 'stdout:in'" "${all[@]}" --retry-after stdout:in
	END
}
