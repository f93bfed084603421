#!/usr/bin/env bash
# A signal at every system call that retry makes: injected by strace on entry
# to the nth call of each name, so that no boundary is left out. Whenever it
# comes: the run ends, no signal is lost, status 0 means that the command is
# done, and no process outlives the run. Prints each failure and the totals.
set -euo pipefail

# The scenes: retry's options, the command, and what is expected of it.
#     during  the signal comes before or while the command runs
#     after   the command is over
#     again   the command fails; no further attempt may begin
#     delay   retry waits before the next attempt
#     limit   the command is deaf, and a limit ends it with what it started
#     child   the signal hits the child between fork and exec
scene()
{
	local done="sleep 0.1; echo done >>'$2'"
	local fails="echo begun >>'$2'; sleep 0.1; exit 7"
	local deaf='trap "" TERM INT; sleep 5 & sleep 5'
	case $1 in
	during) set -- -n 1 sleep 5 ;;
	after) set -- -n 1 sh -c "$done" ;;
	again) set -- -q -n 3 -d 0 sh -c "$fails" ;;
	delay) set -- -q -n 2 -d 5 -j none false ;;
	limit) set -- -q -n 1 -t 0.15 -k 0.1 sh -c "$deaf" ;;
	limit-kill) set -- -q -n 1 -t 0.15 -k 0.1 sleep 5 ;;
	child) set -- -n 1 sh -c "$done" ;;
	esac
	words=("$@")
}

# The calls of a scene, one a line: NAME NTH PHASE. Phase 0 is the loader's
# part, 1 lasts until the attempt is over, 2 to the end of the delay if there is
# one, 3 until the next attempt. The first exec is strace's, no boundary of ours.
calls()
{
	strace -T -o "$dir/trace" "$RETRY" "$@" </dev/null >/dev/null 2>&1 || :
	awk -F'[( ]' '
		/^[a-z]/ {
			if (!phase && $1 == "rt_sigprocmask")
				phase = 1
			if ($1 ~ /^(clone3?|v?fork)$/ && ++forks == 2)
				exit
			if (++seen[$1] > 1 || $1 != "execve")
				print $1, seen[$1], phase + 0
			match($0, /<[0-9.]+>$/)
			if (forks && substr($0, RSTART + 1) + 0 > 0.05)
				phase++
		}' "$dir/trace"
}

# What only the child does before its exec, and so what a count can name there.
child_calls()
{
	strace -f -o "$dir/trace" "$RETRY" "$@" </dev/null >/dev/null 2>&1 || :
	awk '
		NR == 1 { ours = $1 }
		{ name = $2; sub(/\(.*/, "", name) }
		$2 !~ /^[a-z]/ || $2 == "<..." { next }
		$1 == ours { parent[name]++; next }
		name == "execve" { exit }
		{ child[++n] = name }
		END {
			for (i = 1; i <= n; i++)
				if (!(child[i] in parent))
					print child[i], ++seen[child[i]], 1
		}' "$dir/trace"
}

none_left()
{
	! env -u MARK grep -qszxF "MARK=$1" /proc/[0-9]*/environ
}

# One injection: SCENE SIGNAL CALL NTH PHASE
inject()
{
	local name=$1 signal=$2 call=$3 nth=$4 phase=$5 words follow=()
	local file=$dir/$name.$signal.$call.$nth mark=$dir/$*
	local status=0 why='' attempts=0 number i
	scene "$name" "$file.done"
	[ "$name" != child ] || follow=(-f)
	{
		timeout -k 1 20 strace "${follow[@]}" -E "MARK=$mark" -o "$file" \
			-e trace="$call" \
			-e inject="$call:signal=$signal:when=$nth" \
			"$RETRY" "${words[@]}" </dev/null >"$file.out" 2>&1 ||
			status=$?
	} 2>/dev/null # bash names a job that a signal ended
	number=$(kill -l "$signal")
	[ ! -e "$file.done" ] || attempts=$(grep -c '' "$file.done" || :)

	case $name:$status in
	*:$((128 + number))) ;;
	after:0) [ "$attempts" = 1 ] || why='success, but the command is not' ;;
	again:7 | delay:1) ;; # it came before the command was reaped
	limit:124) ;;
	limit-kill:124) [ "$phase" != 1 ] || why='not killed' ;;
	*:124 | *:137) why='hangs' ;;
	*) why="status $status" ;;
	esac
	# the command and the delay are as long as that
	((SECONDS < 5)) || why='lost'
	if [ "$name:$attempts" = again:3 ] || [ "$name:$phase" = again:1 ] &&
		[ "$attempts" -gt 1 ]; then
		why="$attempts attempts"
	fi
	for ((i = 0; i < 150; i++)); do
		none_left "$mark" && break
		sleep 0.02
	done
	none_left "$mark" || why+=' a process is left'

	# What depends on who is faster may not come to pass this time.
	if (($(grep -cE "^([0-9]+ +)?$call\(" "$file") < nth)); then
		why=
	fi
	if [ -z "$why" ]; then
		echo passed >>"$dir/results"
		return
	fi
	echo failed >>"$dir/results"
	echo "$name: $signal at $call $nth: $why"
	sed 's/^/    /' "$file.out" "$file"
}

if [ "${1-}" = --inject ]; then
	shift
	inject "$@"
	exit
fi

RETRY=${RETRY:-$(cd "${0%/*}/.." && pwd)/retry}
dir=$(mktemp -d)
export RETRY dir
trap 'rm -rf "$dir"' EXIT
if ! command -v strace >/dev/null; then
	echo 'faults: no strace here: tests/setup installs it' >&2
	exit 1
fi

# Which signals, at which calls of which scene.
plan()
{
	local name=$1 phases=$2 signal words
	shift 2
	for signal; do
		sed -n "s/ [$phases]\$/&/p" "$dir/calls" |
			sed "s/^/$name $signal /"
	done
}

{
	scene after "$dir/done"
	calls "${words[@]}" >"$dir/calls"
	plan during 01 TERM KILL
	plan after 23 TERM INT KILL
	scene again "$dir/done"
	calls "${words[@]}" >"$dir/calls"
	plan again 123 TERM INT
	calls -q -n 2 -d 0.3 -j none sh -c 'sleep 0.1; exit 7' >"$dir/calls"
	plan delay 2 TERM INT KILL
	scene limit-kill "$dir/done"
	calls "${words[@]}" >"$dir/calls"
	plan limit-kill 123 KILL
	scene limit "$dir/done"
	calls "${words[@]}" >"$dir/calls"
	plan limit 123 TERM
	scene child "$dir/done"
	child_calls "${words[@]}" >"$dir/calls"
	plan child 1 TERM KILL
} >"$dir/plan"

# A signal that is ignored here would be ignored by every program under test.
xargs -n 5 -P 4 env --default-signal "$0" --inject <"$dir/plan" || :

passed=$(grep -c passed "$dir/results" || :)
failed=$(($(grep -c '' "$dir/plan") - passed))
echo "faults: $passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
