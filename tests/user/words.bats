#!/usr/bin/env bats
# Covers streams/relay.
# --retry-after: the wait that a line of the output tells in words. Which words
# are understood is tested in tests/unit/match/hint.c.
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

@test "a pattern that matched and found no time is said once, in the message of that failure" {
	vague() # vague SAYS OPTION... -- TEXT...: one TEXT an attempt
	{
		local says=${1//@/'"'} options=()
		shift
		while [ "$1" != -- ]; do
			options+=("$1")
			shift
		done
		try status=3 says="$says" "${options[@]}" -d 0 -- sh -c 'shift "$RETRY_ATTEMPT"; echo "$1" >&2; exit 3' sh "$@"
	}
	again=(--retry-after 'stderr:again in ')
	moment='; no time found in "again in a moment"' all='try again in a moment, please' spent='giving up: attempts exhausted'
	table vague <<-'END'
		"> again in a moment|attempt 1/2 failed (exit 3), retrying in 0s$moment|> again in a moment|attempt 2/2 failed (exit 3), $spent" -n 2 "${again[@]}" -- 'again in a moment' 'again in a moment'
		"> again in a moment|attempt 1/1 failed (exit 3), $spent$moment" -n 1 "${again[@]}" -- 'again in a moment'
		'*giving up: --stop-on 3; no time found in "again in a moment, please"' --stop-on 3 "${again[@]}" -- "$all"
		'*no time found in "again in 20 attempts"|*' -n 2 "${again[@]}" -- 'again in 20 attempts' x
		# Another pattern has its own word.
		"*; no time found in @again in a moment@|*; no time found in @after all@|*" -n 3 "${again[@]}" --retry-after 'stderr:after ' -- 'again in a moment' 'after all' 'after all'
		"*|> again in a moment|attempt 2/2*$moment" -n 2 "${again[@]}" -- x 'again in a moment'
		# There was a time, or no match.
		'*attempt 1/1 failed (exit 3), giving up: attempts exhausted' -n 1 "${again[@]}" -- $'again in 0s\nagain in a moment'
		'*attempt 1/1 failed (exit 3), giving up: attempts exhausted' -n 1 "${again[@]}" -- 'try later'
		'> again in a moment' -q -n 1 "${again[@]}" -- 'again in a moment'
	END
	# If too much follows, the words are not known any more.
	try status=1 says='*attempts exhausted; no time found in the words for a wait' -n 1 "${again[@]}" -- \
	    sh -c 'echo again in a moment >&2; seq 2000 >&2; exit 1'
	# So of a preset, too.
	try status=1 says='*; no time found in "toomanyrequests: retry-after: soon"' -n 1 --preset docker -- \
	    sh -c 'echo "toomanyrequests: retry-after: soon" >&2; exit 1'
	# A success needs none.
	try says='> again in a moment' "${again[@]}" -- sh -c 'echo again in a moment >&2'
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
	local why="--retry-after: neither stderr:ERE nor stdout:ERE" all=() i
	also=(touch ran)
	for ((i = 0; i < 64; i++)); do
		all+=(--retry-after stderr:in)
	done
	"$RETRY" "${all[@]}" true
	table refused <<-'END'
		"$why: '20'" --retry-after 20
		"$why: 'stdin:in '" --retry-after 'stdin:in '
		"$why: '1,stderr:in '" --retry-after '1,stderr:in '
		"--retry-after: the pattern is empty: ''" --retry-after stderr:
		"--retry-after: ) without (: ') ' in 'in ) '" --retry-after 'stderr:in ) '
		"--retry-after: more than 64 patterns: 'stdout:in'" "${all[@]}" --retry-after stdout:in
	END
}
