#!/usr/bin/env bats
# Covers streams/capture.
# --chronic: nothing at all of a success, and everything of the last failure.
# shellcheck disable=SC2016 # the commands' shells expand
# shellcheck disable=SC2154 # run and start set what is read here

load helper

# Each attempt writes five lines, to one stream after the other; number $won and
# those after it succeed, the others exit 7.
says=(sh -c 'for word in a b; do
		echo "out $RETRY_ATTEMPT$word"
		echo "err $RETRY_ATTEMPT$word" >&2
	done
	echo end
	[ "$RETRY_ATTEMPT" -ge "${won:-99}" ] || exit 7')

# together STATUS OPTION... -- COMMAND...: as finishes, but both streams are the
# same pipe; what comes out of it is in ./both
together()
{
	local want=$1 got=0
	shift
	{
		got=0
		"$RETRY" -d 0 "$@" 2>&1 3>&- || got=$?
		echo "$got" >got
	} | cat >both
	got=$(<got)
	[ "$got" -eq "$want" ] || {
		echo "status $got instead of $want: $*"
		cat both
		return 1
	}
}

gave_up='giving up: attempts exhausted'

@test "--chronic writes nothing of a success, whatever went before" {
	won=3 finishes 0 --chronic -v -- "${says[@]}"
	[ ! -s o ] && [ ! -s e ]
	won=1 together 0 --chronic -- "${says[@]}"
	[ ! -s both ]
	finishes 0 --chronic --success-on 7 -- "${says[@]}"
	finishes 0 --chronic --consecutive 2 -- env won=1 "${says[@]}"
	[ ! -s o ] && [ ! -s e ]
}

@test "where both streams are one, the last failure's lines come in their order" {
	together 7 --chronic -n 3 -- "${says[@]}"
	holds both 'out 3a' 'err 3a' 'out 3b' 'err 3b' end \
		"retry: attempt 3/3 failed (exit 7), $gave_up"
	"$RETRY" -d 0 --chronic -n 2 -q "${says[@]}" >both 2>&1 || :
	holds both 'out 2a' 'err 2a' 'out 2b' 'err 2b' end
}

@test "where the streams are two, each gets its own lines of the last failure" {
	finishes 7 --chronic -n 2 -- "${says[@]}"
	holds o 'out 2a' 'out 2b' end
	holds e 'err 2a' 'err 2b' "retry: attempt 2/2 failed (exit 7), $gave_up"
}

@test "a stop, a timeout and the deadline write what the attempt has written" {
	together 7 --chronic --stop-on 7 -- "${says[@]}"
	holds both 'out 1a' 'err 1a' 'out 1b' 'err 1b' end \
		'retry: attempt 1/5 failed (exit 7), giving up: --stop-on 7'
	together 124 --chronic -n 1 -t 0.1 -k 0 -- \
		sh -c 'echo out; echo err >&2; exec sleep 20'
	holds both out err \
		"retry: attempt 1/1 timed out after 0.1s, $gave_up"
}

@test "a pattern sees held output, of which nothing is lost" {
	together 7 --chronic --stop-on 'stderr:^err 2b' -- "${says[@]}"
	[ "$(grep out both)" = $'out 2a\nout 2b' ]
	[ "$(grep ^err both)" = $'err 2a\nerr 2b' ]
	[[ $(tail -n 1 both) == *'giving up: --stop-on stderr:^err 2b' ]]
	together 7 --chronic --stop-on 'stdout:^end' --retry-on stderr:err -- \
		"${says[@]}"
	[ "$(sort both | tr '\n' ' ')" = "end err 1a err 1b out 1a out 1b retry: \
attempt 1/5 failed (exit 7), giving up: --stop-on stdout:^end " ]
	won=1 together 0 --chronic --stop-on stderr:never -- "${says[@]}"
	[ ! -s both ]
}

@test "what is written into the one file counts against --idle-timeout's time" {
	together 0 --chronic --idle-timeout 0.6 -n 1 -- \
		sh -c 'for i in 1 2 3 4; do sleep 0.2; echo "$i"; done'
	together 124 --chronic --idle-timeout 0.1 -k 0 -n 1 -- \
		sh -c 'echo last; exec sleep 20'
	[ "$(head -n 1 both)" = last ]
}

@test "a signal during a delay writes what the last attempt wrote, and ends retry" {
	mkfifo log
	cat log >both 3>&- &
	start sh -c 'exec "$@" >log 2>&1' sh "$RETRY" --chronic -d 60 -j none \
		--report r.json sh -c 'echo out; echo err >&2; : >ran; exit 7'
	wait_for test -e ran
	wait_for eval '[ -z "$(<"/proc/$pid/task/$pid/children")" ]'
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	wait_for grep -q '^retry: ' both
	[ "$(head -n 2 both)" = $'out\nerr' ]
}

@test "--chronic and --hold-stdout exclude each other, also in a policy" {
	for words in '--chronic -O' '-O --chronic' '--policy ./policy --chronic'; do
		echo hold-stdout >policy
		# shellcheck disable=SC2086 # several words
		run -125 "$RETRY" $words touch ran
		[ "${lines[0]}" = "retry: --chronic: not with --hold-stdout: '--chronic'" ]
		[ ! -e ran ]
	done
	echo chronic >policy
	together 0 --policy ./policy -E -- echo out
	[ ! -s both ]
}

@test "above --hold-max there is an error, after what there is of the output" {
	finishes 125 --chronic --hold-max 4 -- "${says[@]}"
	grep -q '^out 1a' o
	grep -q '^err 1a' e
	[[ $(tail -n 1 e) == *'giving up: more output than --hold-max' ]]
	together 125 --chronic --hold-max 30 -- "${says[@]}"
	[ "$(head -n 2 both)" = $'out 1a\nerr 1a' ]
	together 7 --chronic --hold-max 32 -n 1 -- "${says[@]}"
}

@test "a failure that cannot be written is an error of ours, without a reader it is not" {
	run -125 sh -c '"$@" >/dev/full 2>e' sh "$RETRY" --chronic -n 1 "${says[@]}"
	[ "$(tail -n 1 e)" = \
		'retry: cannot write to standard output: No space left on device' ]
	{
		wait_for test -e closed
		local got=0
		"$RETRY" --chronic -n 1 "${says[@]}" 2>e || got=$?
		echo "$got" >got
	} | : >closed
	wait_for grep -qx 7 got
}

@test "a closed descriptor stays closed for the command" {
	finishes 0 --chronic -- sh -c '"$@" >&-' sh "$RETRY" --chronic -- \
		sh -c '[ ! -e /proc/self/fd/1 ] && [ -e /proc/self/fd/2 ]'
	finishes 0 --chronic -- sh -c '"$@" 2>&-' sh "$RETRY" --chronic -- \
		sh -c '[ ! -e /proc/$$/fd/2 ] && [ -e /proc/$$/fd/1 ]'
}

@test "what was not run has its message" {
	finishes 127 --chronic -- nosuch
	grep -q "cannot run 'nosuch'" e
	"$RETRY" -q -n 1 -B a --budget-dir "$PWD" --breaker 1,1h false || :
	finishes 75 --chronic -B a --budget-dir "$PWD" --breaker 1,1h -- touch ran
	[ ! -e ran ]
	grep -q "^retry: breaker 'a': open" e
}
