#!/usr/bin/env bats
# Covers streams/relay.
# --retry-after: the wait that a line of the output tells in words. Which words
# are understood is tested in tests/unit/match/hint.c.
# shellcheck disable=SC2016 # the commands' shells expand

load helper

# says MS TEXT... -- OPTION...: the command writes each TEXT, a format of
# printf, to its error output and fails; the next attempt is told to wait MS.
says()
{
	local want=$1 texts=() got
	shift
	while [ "$1" != -- ]; do
		texts+=("$1")
		shift
	done
	shift
	"$RETRY" -n 1 --report report "$@" \
	    -- sh -c 'for text; do printf "$text" >&2; done; exit 1' sh \
	    "${texts[@]}" >out 2>err || :
	got=$(jq '.attempts[0].retry_after_ms' report)
	[ "$got" = "$want" ] || {
		echo "$got instead of $want: ${texts[*]}"
		return 1
	}
}

# refused LINE WORD...: retry refuses these words, and runs nothing.
refused()
{
	local line=$1 status=0
	shift
	"$RETRY" "$@" touch ran >out 2>err || status=$?
	cat err
	[ "$status" -eq 125 ] && [ "$(head -n 1 err)" = "$line" ] &&
	    [ ! -e ran ]
}

@test "the next attempt waits for as long as a line of the output tells" {
	"$RETRY" -n 2 -d 1ms --report report --retry-after 'stderr:try again in ' \
	    -- sh -c 'echo "Limit reached. Please try again in 243ms." >&2
		test "$RETRY_ATTEMPT" = 2' 2>err
	[ "$(jq -c '[.attempts[].retry_after_ms]' report)" = '[243,243]' ]
	[ "$(jq '.attempts[0].delay_ms >= 243' report)" = true ]
	[ "$(jq '.attempts[0].slept_ms >= 243' report)" = true ]
	[ "$(jq '.attempts[0].rule' report)" = '"default"' ]
}

@test "without the option, and where no line tells a time, nothing changes" {
	says null 'try again in 20s\n' --
	says null 'try again later\n' -- --retry-after 'stderr:try again in '
	says null 'try again in a moment\n' -- --retry-after 'stderr:again in '
	says null 'try again in 20s\n' -- --retry-after 'stdout:try again in '
	says null '' -- --retry-after 'stderr:try again in '
}

@test "the last match of an attempt counts, wherever the output is cut" {
	local after=(--retry-after 'stderr:again in ')
	says 3000 'again in 1s\nagain in 2s\nagain in 3s\n' -- "${after[@]}"
	says 3000 'again in 1s, no: again in 3s' -- "${after[@]}"
	says 3000 'aga' 'in in ' '3' ' sec' 'onds' -- "${after[@]}"
	says 90000 'again in 1 minute and ' '30 seconds.\n' -- "${after[@]}"
	says 1000 'again in 1s\nagain in vain\n' -- "${after[@]}"
}

@test "each attempt tells for itself" {
	"$RETRY" -n 3 -d 1ms --report report --retry-after 'stderr:in ' -- sh -c '
		[ "$RETRY_ATTEMPT" != 1 ] || echo "in 20ms" >&2
		[ "$RETRY_ATTEMPT" != 2 ] || printf "i" >&2
		[ "$RETRY_ATTEMPT" != 3 ] || printf "n 7s" >&2
		exit 1' 2>err || [ $? = 1 ]
	[ "$(jq -c '[.attempts[].retry_after_ms]' report)" = '[20,null,null]' ]
}

@test "of several patterns and of a response the longest wait counts" {
	local after=(--retry-after 'stderr:in ' --retry-after 'stderr:after ')
	says 9000 'after 9s, or in 7s' -- "${after[@]}"
	says 9000 'in 9s, or after 7s' -- "${after[@]}"
	"$RETRY" -n 1 --report report --retry-after 'stdout:in ' --http-status f \
	    -- sh -c 'printf "HTTP/1.1 503\nRetry-After: 5\n\n" >f
		echo in 9s; exit 1' >out 2>err || [ $? = 1 ]
	[ "$(jq '.attempts[0].retry_after_ms' report)" = 9000 ]
	"$RETRY" -n 1 --report report --retry-after 'stdout:in ' --http-status f \
	    -- sh -c 'printf "HTTP/1.1 503\nRetry-After: 5\n\n" >f
		echo in 3s; exit 1' >out 2>err || [ $? = 1 ]
	[ "$(jq '.attempts[0].retry_after_ms' report)" = 5000 ]
}

@test "a pattern of a LIST may be the same, and both act" {
	"$RETRY" -n 2 -d 1ms --report report --retry-after 'stderr:busy ' \
	    --retry-on 'stderr:busy ' -- sh -c 'echo busy 30ms >&2; exit 1' \
	    2>err || [ $? = 1 ]
	[ "$(jq -c '[.attempts[] | [.rule, .retry_after_ms]]' report)" = \
	    '[["retry-on",30],["retry-on",30]]' ]
	"$RETRY" -n 2 -d 1ms --report report --stop-on 'stderr:busy ' \
	    --retry-after 'stderr:busy ' -- sh -c 'echo busy 30ms >&2; exit 1' \
	    2>err || [ $? = 1 ]
	[ "$(jq -c '[.attempts[] | [.rule, .retry_after_ms]]' report)" = \
	    '[["stop-on",30]]' ]
}

@test "it does not make a failure one to retry" {
	says 20000 'again in 20s' -- --stop-on 1 --retry-after 'stderr:in '
	[ "$(jq -r .reason report)" = stop-rule ]
	"$RETRY" -n 2 --report report --retry-after 'stderr:in ' \
	    -- sh -c 'echo "done in 20s" >&2' 2>err
	[ "$(jq -c '[.reason, .attempt_count]' report)" = '["succeeded",1]' ]
}

@test "a time above --max-retry-after, or past the deadline, gives up at once" {
	local after=(--retry-after 'stderr:again in ')
	run "$RETRY" "${after[@]}" -- sh -c 'echo again in 1h >&2; exit 3'
	[ "$status" = 3 ]
	[ "${lines[1]}" = 'retry: attempt 1/5 failed (exit 3), giving up: Retry-After too long (1h)' ]
	run "$RETRY" "${after[@]}" --max-retry-after 10s \
	    -- sh -c 'echo again in 11 >&2; exit 3'
	[ "${lines[1]}" = 'retry: attempt 1/5 failed (exit 3), giving up: Retry-After too long (11s)' ]
	run "$RETRY" "${after[@]}" -T 20 -- sh -c 'echo again in 1m >&2; exit 3'
	[ "${lines[1]}" = 'retry: attempt 1 failed (exit 3), giving up: Retry-After too long (1m)' ]
}

@test "without jitter the wait is exact, with jitter it is longer" {
	"$RETRY" -n 2 -d 10ms -j none --report report --retry-after 'stderr:in ' \
	    -- sh -c 'echo in 30ms >&2; exit 1' 2>err || [ $? = 1 ]
	[ "$(jq '.attempts[0].delay_ms' report)" = 30 ]
	"$RETRY" -n 4 -d 10ms --seed 1 --report report --retry-after 'stderr:in ' \
	    -- sh -c 'echo in 30ms >&2; exit 1' 2>err || [ $? = 1 ]
	[ "$(jq '[.attempts[:3][].delay_ms | . >= 30 and . <= 40] | all' report)" = true ]
	[ "$(jq '[.attempts[:3][].delay_ms] | unique | length > 1' report)" = true ]
}

@test "the output is relayed unchanged, and held where that is asked for" {
	local after=(--retry-after stdout:in --retry-after stderr:in)
	"$RETRY" -q -n 1 "${after[@]}" -- sh -c 'printf "a\0in 5"; printf x >&2
		exit 1' >out 2>err || [ $? = 1 ]
	printf 'a\0in 5' | cmp - out
	printf x | cmp - err
	"$RETRY" -q -O -E -n 2 -d 1ms "${after[@]}" --report report \
	    -- sh -c 'echo in 20ms; echo in 30ms >&2; test "$RETRY_ATTEMPT" = 2' \
	    >out 2>err
	[ "$(cat out)" = 'in 20ms' ]
	[ ! -s err ]
	[ "$(jq '.attempts[0].retry_after_ms' report)" = 30 ]
}

@test "a policy may have it, and --dry-run names the wait that is not counted" {
	echo 'retry-after=stderr:try again in ' >policy
	says 7000 'try again in 7s' -- --policy ./policy
	says 9000 'try again in 7s, wait 9s' -- --policy ./policy \
	    --retry-after 'stderr:wait '
	"$RETRY" --dry-run --retry-after stderr:in --max-retry-after 2m |
		tr -s ' ' | grep -qx 'Not counted Retry-After up to 2m a retry'
}

@test "a stream without a pattern, another stream and a bad pattern are refused" {
	local why="retry: --retry-after: neither stderr:ERE nor stdout:ERE"
	refused "$why: '20'" --retry-after 20
	refused "$why: ''" --retry-after ''
	refused "$why: 'stdin:in '" --retry-after 'stdin:in '
	refused "$why: '1,stderr:in '" --retry-after '1,stderr:in '
	refused "retry: --retry-after: the pattern is empty: ''" --retry-after stderr:
	refused "retry: --retry-after: ) without (: ') ' in 'in ) '" \
	    --retry-after 'stderr:in ) '
	local all=() i
	for ((i = 0; i < 64; i++)); do
		all+=(--retry-after stderr:in)
	done
	"$RETRY" "${all[@]}" true
	refused "retry: --retry-after: more than 64 patterns: 'stdout:in'" \
	    "${all[@]}" --retry-after stdout:in
}
