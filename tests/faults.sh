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

# Milliseconds, on the clock of strace.
now()
{
	echo "$((${EPOCHREALTIME/[.,]/} / 1000))"
}

# When the nth CALL of a strace log came, in milliseconds, and how many attempts
# had begun by then; nothing if it did not come.
injected()
{
	sed -E 's/^[0-9]+ +([0-9]+\.)/\1/' "$3" | awk -v name="$1" -v nth="$2" '
		{ sub(/\(.*/, "", $2) }
		$2 == name && ++seen == nth { printf "%.0f %d\n", $1 * 1000, forks }
		$2 ~ /^(clone3?|v?fork)$/ { forks++ }'
}

# One injection: SCENE SIGNAL CALL NTH PHASE
inject()
{
	local name=$1 signal=$2 call=$3 nth=$4 phase=$5 words follow=()
	local file=$dir/$name.$signal.$call.$nth mark=$dir/$*
	local status=0 why='' attempts=0 allowed=1 at='' begun=0 number ended
	scene "$name" "$file.done"
	[ "$name" != child ] || follow=(-f)
	{
		timeout -k 1 20 strace "${follow[@]}" -E "MARK=$mark" -o "$file" \
			-ttt -e trace="$call,clone,?clone3,?fork,?vfork" \
			-e inject="$call:signal=$signal:when=$nth" \
			"$RETRY" "${words[@]}" </dev/null >"$file.out" 2>&1 ||
			status=$?
	} 2>/dev/null # bash names a job that a signal ended
	ended=$(now)
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
	# Some calls depend on who is faster: they come elsewhere than in the
	# trace that the plan was made from, or not at all this time.
	read -r at begun < <(injected "$call" "$nth" "$file") || :
	if [ "$name" = again ]; then
		((phase == 1 && begun <= 1)) || allowed=$((begun + 1))
		((attempts <= allowed)) || why="$attempts attempts"
	fi
	# commands and delays take five seconds, and a lost one at least that
	if [ -n "$at" ] && ((ended - at > 4500)); then
		why='lost'
	fi
	until none_left "$mark" || (($(now) - ended > 2000)); do
		sleep 0.05
	done
	none_left "$mark" || why+=' a process is left'

	if [ -z "$why" ] || [ -z "$at" ]; then
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
xargs -r -n 5 -P 4 env --default-signal "$0" --inject <"$dir/plan" || :

passed=$(grep -c passed "$dir/results" || :)
failed=$(($(grep -c '' "$dir/plan") - passed))
echo "faults: $passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
