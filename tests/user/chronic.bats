#!/usr/bin/env bats
# Covers streams/capture.
# --chronic: nothing at all of a success, and everything of the last failure.
# shellcheck disable=SC2034 # the rows read it

load helper

usual=(-d 0)

# Each attempt writes five lines, to one stream after the other; number $won and
# those after it succeed, the others exit 7.
says=(sh -c 'for word in a b; do
		echo "out $RETRY_ATTEMPT$word"
		echo "err $RETRY_ATTEMPT$word" >&2
	done
	echo end
	[ "$RETRY_ATTEMPT" -ge "${won:-99}" ] || exit 7')

# together STATUS OPTION... COMMAND...: retry ends so, but both streams are the
# same pipe; what comes out of it is in ./both
together() {
	local want=$1 got=0
	shift
	{
		got=0
		"$RETRY" -d 0 --chronic "$@" 2>&1 3>&- || got=$?
		echo "$got" >got
	} | cat >both
	read -r got <got
	[ "$got" -eq "$want" ] || {
		echo "status $got instead of $want: $*"
		cat both
		return 1
	}
}

# both LINE STATUS [OPTION]... COMMAND...: so it ends, and so does its output, of
# which lines have a bar between them
both() {
	local all IFS='|'
	together "${@:2}" && mapfile -t all <both && [ "${all[*]}" = "$1" ] || {
		cat both
		return 1
	}
}

gave_up='giving up: attempts exhausted'
stopped='retry: attempt 1/5 failed (exit 7), giving up: --stop-on stdout:^end'

@test "--chronic writes nothing of a success, and all of the last failure" {
	table both <<-'END'
		'' 0 -v env won=3 "${says[@]}"
		'' 0 --success-on 7 "${says[@]}"
		'' 0 --consecutive 2 env won=1 "${says[@]}"
		'' 0 --stop-on stderr:never env won=1 "${says[@]}"
		# In their order, where both streams are one.
		"out 3a|err 3a|out 3b|err 3b|end|retry: attempt 3/3 failed (exit 7), $gave_up" 7 -n 3 "${says[@]}"
		'out 2a|err 2a|out 2b|err 2b|end' 7 -n 2 -q "${says[@]}"
		'out 1a|err 1a|out 1b|err 1b|end|retry: attempt 1/5 failed (exit 7), giving up: --stop-on 7' 7 --stop-on 7 "${says[@]}"
		"out|err|retry: attempt 1/1 timed out after 0.5s, $gave_up" 124 -n 1 -t 0.5 -k 0 sh -c 'echo out; echo err >&2; exec sleep 20'
		# Written into the one file, it counts against --idle-timeout's time.
		"last|retry: attempt 1/1 ended after 0.1s without output, $gave_up" 124 --idle-timeout 0.1 -k 0 -n 1 sh -c 'echo last; exec sleep 20'
		'' 0 --idle-timeout 1 -n 1 sh -c 'for i in 1 2 3 4; do sleep 0.3; echo "$i"; done'
	END
	rows row eval <<-'END'
	where the streams are two, each gets its own lines
	    try status=7 out='out 2a|out 2b|end' says="> err 2a|> err 2b|attempt 2/2 failed (exit 7), $gave_up" \
	        --chronic -n 2 -- "${says[@]}"
	    won=3 try out='' says='' --chronic -v -- "${says[@]}"
	a pattern sees held output, of which nothing is lost
	    together 7 --stop-on 'stderr:^err 2b' "${says[@]}"
	    mapfile -t all <both
	    [[ ${all[-1]} == *'giving up: --stop-on stderr:^err 2b' ]]
	    [[ ${all[*]} == *'out 2a '*'out 2b '* && ${all[*]} == *'err 2a '*'err 2b '* ]]
	    [ "${#all[@]}" -eq 6 ]
	    together 7 --stop-on 'stdout:^end' --retry-on stderr:err "${says[@]}"
	    [ "$(sort both | tr '\n' '|')" = "end|err 1a|err 1b|out 1a|out 1b|$stopped|" ]
	above --hold-max there is an error, after what there is of the output
	    try status=125 out='out 1a*' says='> err 1a*giving up: more output than --hold-max' \
	        --chronic --hold-max 4 -- "${says[@]}"
	    together 125 --hold-max 30 "${says[@]}"
	    [[ $(<both) == $'out 1a\nerr 1a'* ]]
	    together 7 --hold-max 32 -n 1 "${says[@]}"
	what was not run has its message
	    try status=127 says="cannot run 'nosuch'*" --chronic -- nosuch
	    "$RETRY" -q -n 1 -B a --budget-dir "$PWD" --breaker 1,1h false || :
	    try status=75 says="breaker 'a': open*" --chronic -B a --budget-dir "$PWD" --breaker 1,1h -- touch ran
	    [ ! -e ran ]
	END
}

@test "a signal during a delay writes what the last attempt wrote, and ends retry" {
	mkfifo log
	cat log >both 3>&- &
	start sh -c 'exec "$@" >log 2>&1' sh "$RETRY" --chronic -d 60 -j none \
		--report r.json sh -c 'echo out; echo err >&2; : >ran; exit 7'
	wait_for test -e ran
	wait_for childless "$pid"
	ended_by TERM
	wait_for reads both 'out|err|+([!|])'
}

@test "--chronic and --hold-stdout exclude each other, also in a policy" {
	echo hold-stdout >policy
	table refused "\"--chronic: not with --hold-stdout: '--chronic'\"" <<-'END'
		--chronic -O touch ran
		-O --chronic touch ran
		--policy ./policy --chronic touch ran
	END
	echo chronic >policy
	try out='' --policy ./policy -E -- echo out
}

@test "a failure that cannot be written is an error of ours" {
	to '>/dev/full' try status=125 \
		says='*cannot write to standard output: No space left on device' \
		--chronic -n 1 "${says[@]}"
}
