# shellcheck shell=bash
# shellcheck disable=SC2016 # the commands' shells expand
# shellcheck disable=SC2030,SC2031 # a row has variables of its own
# What every bats file starts with: `load helper`. Tests run in a directory of
# their own, poll for a state instead of sleeping, and leave no process behind.
#
#     RETRY             absolute path of the program under test
#     PYTHON            absolute path of the real python3, not of a wrapper
#     wait_for CMD...   polls CMD, at last every 90 ms, until it succeeds; fails
#                       after 20 s, or $PATIENCE seconds
#     gone PID          no process PID is running (a zombie is gone)
#     state S PID       its state is this letter: S sleeps, T is stopped, Z a zombie
#     childless PID     it has no child any more
#     now               prints milliseconds of a clock that never steps
#     lines FILE        prints how many lines FILE has, 0 if there is none
#     has_line LINE FILE
#                       FILE has this line
#     has TEXT FILE     FILE has this text
#     holds FILE LINE...
#                       FILE has these lines and nothing else; shows it if not
#     start CMD...      runs CMD in the background in a process group of its
#                       own, output appended to ./out and ./err; sets $pid
#     ended [STATUS]    waits for $pid, sets $status as `run` does; it is STATUS
#     ended_by SIGNAL [STATUS]
#                       sends $pid this signal, and it ends with STATUS, or as
#                       what dies of the signal
#     exits STATUS CMD...
#                       CMD's exit status is this
#     row NAME CMD...   a row of a table: runs CMD, a function as a rule, in an
#                       empty directory and a subshell of its own. The test goes
#                       on where it fails, and fails in the end, with the NAME
#     beside NAME CMD...
#                       the same, in the background: rows that wait do so side by
#                       side, and the test fails in the end
#     rows HOW CMD... <<END
#                       rows of a table: a line that is not indented is a NAME,
#                       and what is indented below it the last word of CMD, as a
#                       rule code that CMD evaluates. HOW is row or beside
#     with [VARIABLE=VALUE]... CMD...
#                       runs CMD, a function, with these variables
#     need CMD          skips the test where there is no CMD
#     is_root           we are root, and not of a namespace without other users
#     not CMD...        CMD fails: a "!" before it would not make a test fail
#     gives STATUS TEXT CMD...
#                       CMD ends with STATUS, and TEXT is its standard output
#     table CMD... <<END
#                       runs CMD with the words of each line of standard input,
#                       which a shell reads; shows every row that fails. CMD, a
#                       function, has no set -e; a line with a # first is none
#     try [CHECK]... [--] WORD...
#                       runs retry with these words and holds it to the CHECKs:
#                         status=N        it ends so; 0 where none is given
#                         says=PATTERN    what it writes to standard error: lines
#                                         with a bar between them, its own without
#                                         "retry: ", others with "> " before them
#                         out=PATTERN     to standard output, the same without "> "
#                         runs=N          the command ran N times: a command that
#                                         tells does echo >>ran
#                         report=CHECKS   those of json, in json.bash, for --report
#                         ms=N            it took so many milliseconds at least
#                       A PATTERN is one of bash, for all of the text: says='' is
#                       silence, says='*exhausted' an end, and in "*(" the asterisk
#                       is one. -- stands where the first word has a "=". A file, or a
#                       test, may set the arrays usual, the words before all others,
#                       and under, what runs retry. ./out, ./err, ./ran and ./report
#                       are of the last try alone; what else is to be true follows:
#                         table try <<-'END'
#                             status=7 runs=3 says='*exhausted' -n 3 sh -c "$exits" 7
#                             out='a|b' -O seq 3 && [ ! -e file ]
#     to REDIRECTION TRY...
#                       TRY, where retry has this REDIRECTION of a shell's
#     session <<END     each line after "$ " is run by the shell of the test, where
#                       "retry" is the program; what both streams get then, and
#                       [STATUS] if that is not 0, are the lines below it. They have
#                       ID, TIME, VERSION and DIR for what differs, N for a time that
#                       is measured. UPDATE=1 bats FILE writes what is now there into
#                       the file, for review. For one run with much output; try is
#                       shorter for many with little
#     refused LINE [WORD]...
#                       retry refuses these words, and those in the array $also:
#                       it writes LINE and where help is, ends with 125 and does
#                       not make the file ./ran
#     most NUMBER WORD...
#                       retry with these words makes NUMBER attempts at most
#     stuck OPTION... -- COMMAND...
#                       runs retry in the background; its standard output ($to=1)
#                       or error ($to=2) is a pipe that nobody reads as long as
#                       descriptor 7 is open
#     choke PIPE        makes a pipe of this name that is full, and that nobody
#                       reads as long as descriptor 5 is open
#     values NAME [FILE]
#                       prints the values of this field in a report, ./report,
#                       without quotes, one after another
#     none_left         no process has the MARK of this test, or of this row, in
#                       its environment
#
# A file with a setup() or teardown() of its own calls helper_setup or
# helper_teardown from there. Its teardown() fails where helper_teardown does.

bats_require_minimum_version 1.5.0

: "${RETRY:=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)/retry}"
: "${PYTHON:=$(python3 -c 'import sys; print(sys.executable)')}"
export RETRY PYTHON
for name in "${!RETRY_@}"; do # a suite that runs under a retry of its own
	[ "$name" = RETRY_SAN ] || unset "$name"
done

# With a directory that may not be searched, a command that is nowhere would be one
# that may not be run.
IFS=: read -ra directories <<<"$PATH"
reachable=
for name in "${directories[@]}"; do
	[ ! -x "$name" ] || reachable+=${reachable:+:}$name
done
PATH=$reachable

umask 022 # others must not write to files of options

helper_setup() {
	started=()
	row_number=0
	failed=()
	beside=()
	in_vain=
	look_where_it_fails
	cd "$BATS_TEST_TMPDIR" || return
	export MARK=$PWD
	export HOME=$PWD # without files of options
	unset XDG_CONFIG_HOME
	exec </dev/null # whoever runs the suite keeps his own input
	export -n RETRY_SAN # of make san: for tests, not for what they run
}

# bats records the place of each command of a test in case it fails, which takes
# as long as most tests. Since bash 5.1 it can do so after a command has failed.
look_where_it_fails() {
	declare -F bats_debug_trap >/dev/null || return 0
	((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)) || return 0
	trap - DEBUG
	# shellcheck disable=SC2154 # bats reads it
	trap 'trap - ERR; bats_debug_trap "${BASH_SOURCE[0]}"
		BATS_DEBUG_LAST_STACK_TRACE_IS_VALID=1' ERR
}

# bats starts date(1) and two shells to learn when a test begins. Since bash 5.0
# it knows the time itself. Since 1.13 bats gives the name of a variable for it.
if [ -n "${EPOCHREALTIME-}" ]; then
	get_mills_since_epoch()
	{
		local mills=${EPOCHREALTIME::-7}${EPOCHREALTIME: -6:3}
		[ $# -gt 0 ] && printf -v "$1" %s "$mills" || echo "$mills"
	}
fi

# Ends only processes that start() has begun and that are still our children.
helper_teardown() {
	local job place name got
	for job in "${beside[@]}"; do
		read -r job place name <<<"$job"
		got=0
		wait "$job" || got=$?
		row_ended "$got" "$place" "$name"
	done
	for job in "${started[@]}"; do
		gone "$job" || kill -KILL -- "-$job" || :
		wait "$job" || :
	done 2>/dev/null
	if [ "$RETRY" = /bin/false ] && [ "$row_number" -gt 0 ]; then
		# tests/tools/control wants each row to fail, and tells of a test that passes.
		[ "${#failed[@]}" -lt "$row_number" ]
	else
		[ "${#failed[@]}" -eq 0 ] && [ -z "$in_vain" ]
	fi
}

# Sets $place to a new directory, with the directory $within. Sixteen are made at a time.
within=
next_row() {
	local rows=$BATS_TEST_TMPDIR/row n=$((++row_number))
	place=$rows$n
	[ -d "$place" ] || eval mkdir -p '"$rows"'"{$n..$((n + 15))}/$within"
}

run_row() (
	started=() failed=() beside=() in_vain=
	trap helper_teardown EXIT
	cd "$place" || exit
	MARK=$place
	trap 'echo "fails: $BASH_COMMAND" >&2' ERR
	set -e
	"$@"
) >"$place.said" 2>&1

row_ended() {
	[ "$1" -eq 0 ] || {
		failed+=("$3")
		echo "row fails: $3"
		cat "$2.said"
	}
}

row() {
	local name=$1 got place
	shift
	next_row
	set +e # which a caller that looks at the status would suspend inside
	run_row "$@"
	got=$?
	set -e
	row_ended "$got" "$place" "$name"
}

# Without its redirection the input would be /dev/null. Since bash 5.3 all that runs
# in the background would ignore SIGINT and SIGQUIT, which up to 5.2 only a command did.
beside() {
	local name=$1 place
	shift
	next_row
	{ trap - INT QUIT; run_row "$@"; } <&0 3>&- &
	beside+=("$! $place $name")
}

rows() {
	local how=$1 lines name='' code='' line
	shift
	mapfile -t lines
	for line in "${lines[@]}" ''; do
		if [[ $line == ' '* ]]; then
			code+=$line$'\n'
			continue
		fi
		[ -z "$name" ] || "$how" "$name" "$@" "$code" </dev/null
		name=$line code=''
	done
}

with() {
	while [[ $1 == *=* ]]; do
		local -x "${1?}"
		shift
	done
	"$@"
}

is_root() {
	local count all=0
	while read -r _ _ count; do
		((all += count))
	done </proc/self/uid_map
	((EUID == 0 && all > 65534))
}

not() {
	if "$@"; then
		return 1
	fi
}

need() {
	command -v "$1" >/dev/null || skip "no $1 here"
}

gives() {
	local want=$1 text=$2 got=0 output
	shift 2
	output=$("$@") || got=$?
	if [ "$got" -ne "$want" ] || [ "$output" != "$text" ]; then
		echo "status $got instead of $want: $*"
		diff - <(echo "$output") <<<"$text"
		return 1
	fi
}

setup() {
	helper_setup
}

teardown() {
	helper_teardown
}

now() {
	local moment
	look_at_clock
	echo "$moment"
}

# Sets $moment to milliseconds: the clock has hundredths.
look_at_clock() {
	read -r moment _ </proc/uptime
	moment=$((10#${moment/./}))0
}

# A read from a pipe into which nothing is ever written is a sleep without a
# process.
wait_for() {
	local never=$BATS_FILE_TMPDIR/never pause=10 moment until
	[ -p "$never" ] || mkfifo "$never" 2>/dev/null || : # a row beside was faster
	look_at_clock
	until=$((moment + ${PATIENCE:-20} * 1000))
	until "$@" >/dev/null 2>&1; do
		look_at_clock
		if ((moment >= until)); then
			echo "given up waiting for: $*" >&2
			return 1
		fi
		read -rt "0.0$pause" <>"$never" || :
		((pause = pause < 60 ? pause + pause / 2 : 90))
	done
}

gone() {
	local stat
	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
	stat=${stat##*) }
	[[ ${stat%% *} == [ZX] ]]
}

state() {
	local stat
	{ read -r stat <"/proc/$2/stat"; } 2>/dev/null && [[ $stat == *") $1 "* ]]
}

childless() {
	local children=
	read -r children <"/proc/$1/task/$1/children" || [ -z "$children" ]
}

lines() {
	local all=()
	[ ! -e "$1" ] || mapfile -t all <"$1"
	echo "${#all[@]}"
}

has_line() {
	local text=
	{ IFS= read -rd '' text <"$2"; } 2>/dev/null || :
	[[ $'\n'$text$'\n' == *$'\n'"$1"$'\n'* ]]
}

has() {
	local text=
	{ IFS= read -rd '' text <"$2"; } 2>/dev/null || :
	[[ $text == *"$1"* ]]
}

holds() {
	local file=$1 text lines
	shift
	printf -v lines '%s\n' "$@"
	IFS= read -rd '' text <"$file" || :
	[ "$text" = "$lines" ] || {
		diff - "$file" <<<"${lines%$'\n'}"
		return 1
	}
}

# With job control: without it bash has background commands ignore SIGINT and
# SIGQUIT, and a signal that is ignored on entry stays ignored.
start() {
	set -m
	"$@" >>out 2>>err 3>&- &
	pid=$!
	set +m
	started+=("$pid")
}

ended() {
	wait_for gone "$pid" || return
	status=0
	wait "$pid" 2>/dev/null || status=$?
	[ "$status" -eq "${1-$status}" ] || {
		echo "ended with $status instead of $1" >&2
		return 1
	}
}

ended_by() {
	kill -s "$1" "$pid"
	ended "${2-$((128 + $(kill -l "$1")))}"
}

exits() {
	local got=0
	"${@:2}" || got=$?
	[ "$got" -eq "$1" ] || {
		echo "status $got instead of $1: ${*:2}" >&2
		return 1
	}
}

values() {
	local text all=()
	IFS= read -rd '' text <"${2-report}" || :
	while [[ $text =~ \"$1\":\ \"?([^,}\"]*)(.*) ]]; do
		all+=("${BASH_REMATCH[1]}")
		text=${BASH_REMATCH[2]}
	done
	echo "${all[*]}"
}

none_left() {
	local mark=MARK=$MARK
	! MARK='' grep -qszxF "$mark" /proc/[0-9]*/environ
}

table() {
	local rows row count=0 bad=0
	mapfile -t rows
	for row in "${rows[@]}"; do
		[[ -n $row && $row != '#'* ]] || continue
		((++count))
		eval "$* $row" </dev/null || {
			echo "the row fails: $row"
			((++bad))
		} >&2
	done
	[ "$RETRY" = /bin/false ] || return $((bad > 0))
	in_vain=yes # the rows of the next table must fail, too
	[ "$bad" -eq "$count" ] ||
		echo "$BATS_TEST_DESCRIPTION" >>"${results:-.}/row-passes"
}

usual=()
under=()
try() {
	local -A want=([status]=0)
	local got=0 began moment runs said wrong=
	while [[ ${1-} =~ ^(status|says|out|runs|report|ms)=(.*)$ ]]; do
		want[${BASH_REMATCH[1]}]=${BASH_REMATCH[2]}
		shift
	done
	[ "${1-}" != -- ] || shift
	[ -z "${want[runs]-}" ] || : >ran
	look_at_clock
	began=$moment
	"${under[@]}" "$RETRY" ${want[report]:+--report report} "${usual[@]}" "$@" \
		>out 2>err 3>&- || got=$?
	look_at_clock
	[ "$got" -eq "${want[status]}" ] || wrong="status $got"
	if [ -n "${want[runs]-}" ]; then
		mapfile -t runs <ran
		[ "${#runs[@]}" -eq "${want[runs]}" ] || wrong+=" ${#runs[@]} runs"
	fi
	[ $((moment - began + 10)) -ge "${want[ms]-0}" ] || wrong+=" $((moment - began)) ms"
	[ -z "${want[says]+set}" ] || reads err "${want[says]}" || wrong+=" says $said"
	[ -z "${want[out]+set}" ] || reads out "${want[out]}" || wrong+=" out $said"
	# shellcheck disable=SC2086 # the checks are words
	[ -z "${want[report]-}" ] || json report @report ${want[report]} || wrong+=' report'
	[ -z "$wrong" ] || {
		echo "try: $wrong: $*"
		declare -p want
		cat err
		return 1
	} >&2
}

to() {
	local under=("${under[@]}" sh -c "exec \"\$@\" $1" sh)
	"${@:2}"
}

# reads FILE PATTERN: these are its lines, as try has them; sets $said
reads() {
	local line all
	said=
	mapfile -t all <"$1"
	for line in "${all[@]}"; do
		[ "$1" != err ] || [[ $line == 'retry: '* ]] || line="> $line"
		said+=${line#retry: }'|'
	done
	# shellcheck disable=SC2053 # a pattern
	[[ ${said%|} == ${2//'*('/'*[(]'} ]]
}

session() {
	local lines
	mapfile -t lines
	session_run >session.all 2>&1
	sed -E "s,$PWD,DIR,g"'
		s/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/ID/g
		s/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\.[0-9]+)?Z/TIME/g
		s/("version": )"[^"]+"/\1VERSION/
		s/("(started|elapsed)_ms": )[0-9]+/\1N/g
		s/( attempts? in )[0-9.]+m?s:/\1N:/
		s/(_(duration|timestamp)_seconds.*) [0-9.]+$/\1 N/' session.all >session.now
	printf '%s\n' "${lines[@]}" >session.then
	diff session.then session.now && return
	[ -n "${UPDATE-}" ] && "$PYTHON" -IS - "$BATS_TEST_FILENAME" <<-'END'
		import sys
		name = sys.argv[1]
		then, now = (open("session." + when).read().splitlines() for when in ("then", "now"))
		lines = open(name).read().split("\n")
		bare = [line.lstrip("\t") for line in lines]
		at = next(n for n in range(len(lines)) if bare[n:n + len(then)] == then)
		indent = lines[at][:len(lines[at]) - len(bare[at])]
		lines[at:at + len(then)] = [line and indent + line for line in now]
		open(name, "w").write("\n".join(lines))
	END
}

session_run() (
	# shellcheck disable=SC2317,SC2329 # a line of the session calls it
	retry() { "$RETRY" "$@"; }
	set +e
	trap - ERR
	for line in "${lines[@]}"; do
		[[ $line == '$ '* ]] || continue
		echo "$line"
		eval "${line#??}" </dev/null || echo "[$?]"
	done
) 3>&-

also=()
refused() {
	local line="retry: $1" got=0
	shift
	"$RETRY" "$@" "${also[@]}" >out 2>err || got=$?
	if [ "$got" -ne 125 ] || [ -s out ] || [ -e ran ]; then
		echo "status $got, or something is run: $*"
		return 1
	fi
	holds err "$line" "Try '${RETRY##*/} -h' for more information."
}

most() {
	gives 0 "$1" "$RETRY" "${@:2}" sh -c 'echo "$RETRY_MAX_ATTEMPTS"'
}

to=1 # standard output
stuck() {
	mkfifo pipe
	exec 7<>pipe
	start sh -c 'to=$1; shift
		if [ "$to" = 1 ]; then exec >pipe; else exec 2>pipe; fi
		exec "$@" 7>&-' sh "$to" "$RETRY" "$@"
}

choke() {
	mkfifo "$1"
	exec 5<>"$1"
	dd if=/dev/zero bs=4096 count=64 oflag=nonblock of="$1" 2>/dev/null || :
}
