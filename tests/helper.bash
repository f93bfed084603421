# shellcheck shell=bash
# What every bats file starts with: `load helper`. Tests run in a directory of
# their own, poll for a state instead of sleeping, and leave no process behind.
#
#     RETRY             absolute path of the program under test
#     PYTHON            absolute path of the real python3, not of a wrapper
#     wait_for CMD...   polls CMD every 10 ms until it succeeds; fails after
#                       20 s, or $PATIENCE seconds
#     gone PID          no process PID is running (a zombie is gone)
#     now               prints milliseconds of a clock that never steps
#     lines FILE        prints how many lines FILE has, 0 if there is none
#     start CMD...      runs CMD in the background in a process group of its
#                       own, output appended to ./out and ./err; sets $pid
#     ended             waits for $pid, sets $status as `run` does
#     none_left VALUE   no process has MARK=VALUE in its environment
#
# A file with a setup() or teardown() of its own calls helper_setup or
# helper_teardown from there.

bats_require_minimum_version 1.5.0

: "${RETRY:=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)/retry}"
: "${PYTHON:=$(python3 -c 'import sys; print(sys.executable)')}"
export RETRY PYTHON
unset MARK
for name in "${!RETRY_@}"; do # a suite that runs under a retry of its own
	[ "$name" = RETRY_SAN ] || unset "$name"
done

helper_setup()
{
	started=()
	cd "$BATS_TEST_TMPDIR" || return
	exec </dev/null # whoever runs the suite keeps his own input
	export -n RETRY_SAN # of make san: for tests, not for what they run
}

# Only what start() began, and only while it is still our child.
helper_teardown()
{
	local job
	for job in "${started[@]}"; do
		gone "$job" || kill -KILL -- "-$job" || :
		wait "$job" || :
	done 2>/dev/null
}

setup()
{
	helper_setup
}

teardown()
{
	helper_teardown
}

now()
{
	local uptime
	read -r uptime _ </proc/uptime
	echo "$((10#${uptime/./}))0" # hundredths to milliseconds
}

wait_for()
{
	local until=$(($(now) + ${PATIENCE:-20} * 1000))
	until "$@" >/dev/null 2>&1; do
		if (($(now) >= until)); then
			echo "given up waiting for: $*" >&2
			return 1
		fi
		sleep 0.01
	done
}

gone()
{
	local stat
	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
	stat=${stat##*) }
	[[ ${stat%% *} == [ZX] ]]
}

lines()
{
	if [ -e "$1" ]; then
		grep -c '' "$1" || :
	else
		echo 0
	fi
}

# Job control for a moment: without it bash has background commands ignore
# SIGINT and SIGQUIT, and what is ignored at entry stays ignored.
start()
{
	set -m
	"$@" >>out 2>>err 3>&- &
	pid=$!
	set +m
	started+=("$pid")
}

ended()
{
	wait_for gone "$pid" || return
	status=0
	# shellcheck disable=SC2034 # the tests read it
	wait "$pid" 2>/dev/null || status=$?
}

none_left()
{
	! env -u MARK grep -qszxF "MARK=$1" /proc/[0-9]*/environ
}
