# shellcheck shell=bash
# shellcheck disable=SC2034 # the tests read what is set here
# For bats files about budgets: `load budget`, after helper and actor. Budgets
# of a test, or of a scene, live in ./budgets.
#
#     scene CODE        evaluates CODE, a row of `rows`, where there is no budget
#     made N/MOST [CHECK]... [OPTION]...
#                       a try of an invocation that runs $fails, which makes N of
#                       MOST attempts
#     succeed N [OPTION]...
#                       N invocations that succeed at once
#     took_since BEFORE MS
#                       MS milliseconds have passed since the moment BEFORE
#     fails             an array: a command that counts itself in ./ran and
#                       exits with 7
#     works             the same, with 0
#     ran N             these were run N times in all
#     stem                a variable: the path of all segments, up to the dot and
#                       the key
#     api               a variable: the path of api's segment
#     only [NAME]...    ./budgets, or the $directory, has these files, and no others
#     look_into FILE    sets $content to what is in FILE, as words of the shell
#     traced PATTERN    ./trace has a part like this
#     shown REGEX       the status of api, in JSON, has a part like this; sets
#                       BASH_REMATCH
#     look_at_totals    sets the array $total to those of api, by their names:
#                       probes turns firsts successes retries denied...
#     counted NAME N... these totals of api are such
#     older SECONDS     makes api's segment that much older, as if nobody had
#                       called for so long; together no more than the three
#                       seconds that every machine has been up. -50
#                       makes its time stand still for 50 s
#     aged SECONDS      the same, up to an age
#     outdate [KEY]     makes api's segment, or another one, be of an earlier boot;
#                       skips the test where memory does not outlive a boot
#     noted N [REGEX]   ./err has N lines about budgets and breakers, which are
#                       together like this
#     note REGEX        it has one, which is all like this
#     quiet             it has none
#     become UID [GROUP]
#                       sets the array $under as to what runs a command as
#                       somebody else, who has a copy of the program, ./retry,
#                       here; skips the test where that cannot be
#     shared            so ANN becomes one of the FRIENDS, who share ./shared,
#                       from now on the directory of budgets
#     many N            runs what follows N times, 64 at once, with the number
#                       as its last argument; output appended to ./out, ./err
#
# With LONG set, tests of how many or how long take more of both: make faults.
#
# Time is never waited for where a segment can be told that it has passed.

# The layout of a segment, as src/budget/segment.h has it.
SEGMENT_SIZE=11528
RING_AT=1240
RING_WORDS=61

# Users and a group that nobody else has.
ANN=61234
BOB=61235
CY=61236
FRIENDS=61300

within=budgets # of the directory of a row
make_directory() {
	[ -d budgets ] || mkdir budgets
	export RETRY_BUDGET_DIR=$PWD/budgets
	# Nothing leaves it while a slow machine runs a row that names no window.
	export RETRY_BUDGET_WINDOW=60s
	stem=$RETRY_BUDGET_DIR/retry-v6.$EUID
	api=$stem.api
	fails=(sh -c 'echo >>ran; exit 7')
	works=(sh -c 'echo >>ran')
}

setup() {
	helper_setup
	make_directory
}

scene() {
	make_directory
	eval "$1"
}

made() {
	local usual=(-B api -n "${1#*/}" -d 0)
	try status=7 runs="${1%/*}" "${@:2}" "${fails[@]}"
}

succeed() {
	local i
	for ((i = 0; i < $1; i++)); do
		is 0 "$RETRY" -B api "${@:2}" true
	done
}

took_since() {
	local moment
	look_at_clock
	((moment - $1 >= $2))
}

ran() {
	local all=()
	[ ! -e ran ] || mapfile -t all <ran
	[ "${#all[@]}" -eq "$1" ] || {
		echo "ran ${#all[@]} times instead of $1"
		cat err
		return 1
	} >&2
}

only() {
	local found
	shopt -s nullglob dotglob
	found=("${directory-budgets}"/*)
	shopt -u nullglob dotglob
	[ "${found[*]##*/}" = "$*" ] || {
		echo "in ${directory-budgets}: ${found[*]##*/}"
		return 1
	} >&2
}

look_into() {
	local parts LC_ALL=C
	mapfile -d '' -n 4000 parts <"$1"
	content=${parts[*]@Q}
}

traced() {
	local text=
	{ IFS= read -rd '' text <trace; } 2>/dev/null || :
	# shellcheck disable=SC2053 # a pattern
	[[ $text == *$1* ]]
}

shown() {
	local json
	json=$(exec "$RETRY" --budget-status api --json)
	[[ $json =~ $1 ]] || {
		echo "not $1: $json"
		return 1
	} >&2
}

look_at_totals() {
	local pairs pair
	declare -gA total=()
	shown '"totals": .([^}]*)' || return
	IFS=, read -ra pairs <<<"${BASH_REMATCH[1]//[ \"]/}"
	for pair in "${pairs[@]}"; do
		total[${pair%:*}]=${pair#*:}
	done
}

counted() {
	look_at_totals || return
	while [ $# -gt 0 ]; do
		[ "${total[$1]}" = "$2" ] || {
			declare -p total
			echo "and not $1 $2"
			return 1
		} >&2
		shift 2
	done
}

# look_at_bytes FILE COUNT: sets the array $bytes to its first bytes, as numbers
look_at_bytes() {
	local LC_ALL=C parts part byte i
	bytes=()
	mapfile -d '' -n "$2" -t parts <"$1"
	for part in "${parts[@]}"; do
		for ((i = 0; i < ${#part} && ${#bytes[@]} < $2; i++)); do
			printf -v byte %d "'${part:i:1}"
			bytes+=("$((byte & 255))")
		done
		((${#bytes[@]} >= $2)) || bytes+=(0)
	done
}

# put_bytes AT FILE BYTE...: writes bytes to a file, and those before them as they are
put_bytes() {
	local bytes format
	look_at_bytes "$2" "$1"
	printf -v format '\\x%02x' "${bytes[@]}" "${@:3}"
	# shellcheck disable=SC2059 # a format of bytes
	printf "$format" 1<>"$2"
}

# look_at_nanos SECONDS: sets $nanos to them
look_at_nanos() {
	local fraction=000000000
	[[ $1 != *.* ]] || fraction=${1#*.}000000000
	nanos=$((${1%.*} * 1000000000 + 10#${fraction:0:9}))
}

older() {
	local nanos
	look_at_nanos "$1"
	move_back "$nanos"
}

aged() {
	local nanos uptime
	look_at_instant
	read -r uptime _ </proc/uptime
	look_at_nanos "$uptime"
	((instant -= nanos))
	look_at_nanos "$1"
	move_back "$((instant + nanos))"
}

# look_at_instant: sets $instant to the one that a segment counts from
look_at_instant() {
	local bytes byte
	look_at_bytes "$api" 32
	instant=0
	for byte in {31..24}; do
		((instant = instant << 8 | bytes[byte])) || :
	done
}

# move_back NANOS: moves this instant
move_back() {
	local instant byte bytes=()
	look_at_instant
	((instant >= $1)) || {
		echo "this machine was started less than $1 ns before"
		return 1
	} >&2
	for byte in {0..56..8}; do
		bytes+=("$(((instant - $1) >> byte & 255))")
	done
	put_bytes 24 "$api" "${bytes[@]}"
}

outdate() {
	local file=$stem.${1-api} boot
	case $(exec stat -f -c %T budgets) in
	tmpfs | ramfs) skip 'memory does not outlive a boot' ;;
	esac
	read -rN 1 boot </proc/sys/kernel/random/boot_id
	put_bytes 32 "$file" "$((48 + (16#$boot == 0)))" # another hexadecimal digit
}

# look_at_notes: sets the array $noted to the lines that ./err has about budgets
# and breakers
look_at_notes() {
	local line all=()
	noted=()
	[ ! -e err ] || mapfile -t all <err
	for line in "${all[@]}"; do
		[[ $line != "retry: "@(budget|breaker)" '"* ]] ||
			noted+=("$line")
	done
}

noted() {
	local noted
	look_at_notes
	[[ "${#noted[@]} ${noted[*]}" =~ ^"$1 "${2-.*}$ ]] || {
		echo "instead of $1 lines like ${2-any}:"
		cat err
		return 1
	} >&2
}

note() {
	noted 1 "$1"
}

quiet() {
	noted 0
}

become() {
	[ "$EUID" -eq 0 ] || skip 'needs root, to be somebody else'
	under=(setpriv "--reuid=$1" "--regid=$1" --clear-groups)
	[ -z "${2-}" ] || under=(setpriv "--reuid=$1" "--regid=$1" "--groups=$2")
	[ ! -x retry ] || return 0 # he has become somebody before
	"${under[@]}" true 2>/dev/null || skip 'no setpriv that works here'
	install -m 755 "$RETRY" retry
	: >>ran
	chmod a+rwX . ran # for what fails and works write
}

# Paths are relative: the way here may be closed to them.
shared() {
	become "$ANN" "$FRIENDS"
	install -d -m 2770 -g "$FRIENDS" shared
	export RETRY_BUDGET_DIR=shared
}

many() {
	local count=$1
	shift
	seq "$count" | xargs -P 64 -n 1 "$@" >>out 2>>err 3>&- || :
}
