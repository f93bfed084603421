# shellcheck shell=bash
# For bats files whose command does what a shell cannot: `load actor`, after
# helper, builds tests/tools/actor.c, once for all that tests/run runs.
#
#     ACTOR             absolute path of the built actor
#     reached CMD...    polls CMD until it succeeds, fails when what start()
#                       began is over before that
#     sent SIGNAL STATUS CODE CMD...
#                       start CMD, reached CODE, ended_by SIGNAL STATUS; without a
#                       STATUS it ends as what dies of the signal
#     said LINE         ./out has this line
#     told REGEX        ./err has a line that is all like this
#     is STATUS CMD...  CMD's exit status is this; its output is appended to
#                       ./out and ./err, its lines shown when it is not
#     pty STATUS STEP... -- CMD...
#                       CMD, for which the actor's terminal does the STEPs, ends
#                       with STATUS; ./out is what came from the terminal
#     isolate OPTION... sets the array $isolate to an unshare with these options
#                       that works here; skips the test when there is none
#     inject WHAT       sets the array $inject to a strace that does so to the
#                       system calls of what it runs, but not of its children;
#                       skips the test when there is none

export ACTOR=${ACTOR:-$BATS_FILE_TMPDIR/actor}

setup_file() {
	# shellcheck disable=SC2016 # that shell expands
	[ -x "$ACTOR" ] || flock "$ACTOR.lock" sh -c '[ -x "$ACTOR" ] ||
		{ "$@" && mv "$ACTOR.new" "$ACTOR"; }' sh \
	    "${CC:-cc}" -std=c11 -D_GNU_SOURCE -pthread -o "$ACTOR.new" \
	    "$BATS_TEST_DIRNAME/../tools/actor.c"
}

# A core that a test asks for is of no use to anybody.
ulimit -c 0

reached() {
	wait_for reached_or_over "$@" && "$@"
}

reached_or_over() {
	# shellcheck disable=SC2154 # start sets it
	"$@" || gone "$pid"
}

sent() {
	# shellcheck disable=SC2154 # helper sets it
	start "${under[@]}" "${@:4}"
	reached eval "$3"
	# shellcheck disable=SC2086 # none, or a number
	ended_by "$1" $2
}

said() {
	has_line "$1" out
}

told() {
	local line lines=()
	{ mapfile -t lines <err; } 2>/dev/null
	for line in "${lines[@]}"; do
		[[ ! $line =~ ^($1)$ ]] || return 0
	done
	return 1
}

is() {
	exits "$@" >>out 2>>err 3>&- || {
		cat err >&2
		return 1
	}
}

pty() {
	local want=$1 got=0
	shift
	"$ACTOR" terminal "$@" >out 2>late 3>&- || got=$?
	[ "$got" -eq "$want" ] || {
		echo "status $got instead of $want"
		cat late out
		return 1
	} >&2
}

# It is the program that is tried, as it makes few calls: a loader makes others. One
# that dies of what is injected is fine.
inject() {
	local got=0
	inject=(strace -qq -o /dev/null -e "inject=$1")
	"${inject[@]}" "$RETRY" --version >/dev/null 2>&1 || got=$?
	[ "$got" -eq 0 ] || [ "$got" -gt 128 ] || [ "$RETRY" = /bin/false ] ||
		skip "no strace here that could inject $1"
}

isolate() {
	isolate=(unshare "$@")
	"${isolate[@]}" true 2>/dev/null || isolate=(unshare -r "$@")
	"${isolate[@]}" true 2>/dev/null ||
		skip "unshare $* is not permitted here"
}

# unserved: sets the array $unserved to what runs a command where ./gone is on a server that
# answers nothing: a file system in user space
unserved() {
	mkdir gone
	unserved=("${isolate[@]}" "$PYTHON" -IS -c '
import ctypes, os, sys
server = os.open("/dev/fuse", os.O_RDWR)
options = b"fd=%d,rootmode=40000,user_id=0,group_id=0" % server
if ctypes.CDLL(None).mount(b"gone", b"gone", b"fuse", 0, options) != 0:
    sys.exit(1)
os.set_inheritable(server, True)
os.execv(sys.argv[1], sys.argv[1:])')
	"${unserved[@]}" "$(type -P true)" 2>/dev/null || skip 'no right to mount a file system here'
}

# spared FILE...: the processes that these files name live on; then they end
spared() {
	local file
	for file; do
		read -r file <"$file"
		not gone "$file"
		kill -KILL "$file"
	done
	wait_for none_left
}
