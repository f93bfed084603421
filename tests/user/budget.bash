# shellcheck shell=bash
# For bats files about budgets: `load budget`, after helper and actor. Budgets
# of a test, or of a scene, live in ./budgets.
#
#     scene CODE        evaluates CODE, a row of `rows`, where there is no budget
#     made N/MOST [OPTION]...
#                       a new invocation runs $fails, which makes N of MOST
#                       attempts; ./err and ./ran are of this one alone
#     succeed N [OPTION]...
#                       N invocations that succeed at once
#     took_since BEFORE MS
#                       MS milliseconds have passed since the moment BEFORE
#     fails             an array: a command that counts itself in ./ran and
#                       exits with 7
#     works             the same, with 0
#     ran N             these were run N times in all
#     segment [KEY]     prints the path of KEY's segment
#     api               a variable: the path of api's
#     only [NAME]...    ./budgets has these files, and no others
#     counter NAME [KEY]  prints one of probes turns firsts successes retries
#                       denied
#     counted NAME N...  api's counters of these names are such
#     deposits [KEY]    prints how many successes pay for retries
#     older SECONDS [KEY]  makes a segment that much older, as if nobody had
#                       called for so long
#     aged SECONDS [KEY]  the same, up to an age
#     outdate [KEY]     makes a segment be of an earlier boot; skips the test where
#                       memory does not outlive a boot
#     opened [KEY]      prints how old KEY's segment will be, in seconds, when
#                       its breaker's probe is due or its lease ends
#     notes             prints what ./err has about budgets and breakers
#     noted N           that is so many lines
#     note REGEX        it is a single line, which is all like this
#     quiet             there is none
#     become UID [GROUP]
#                       sets the array $with as to what runs a command as
#                       somebody else, who has a copy of the program, ./retry,
#                       here; skips the test where that cannot be
#     shared            so ANN becomes one of the FRIENDS, who share ./shared,
#                       from now on the directory of budgets
#     many N            runs what follows N times, 64 at once, with the number
#                       as its last argument; output appended to ./out, ./err
#
# With LONG set, tests of how many or how long take more of both: make faults.
#
# Without a KEY it is api, which is what tests call theirs. Time is never waited
# for where a segment can be told that it has passed.

# The layout of a segment, as src/segment.h has it.
# shellcheck disable=SC2034 # the tests read them
SEGMENT_SIZE=2328
# shellcheck disable=SC2034
SEGMENT_HEADER=1120
RING_AT=1256
RING_WORDS=61

# Users and a group that nobody else has.
ANN=61234
# shellcheck disable=SC2034
BOB=61235
# shellcheck disable=SC2034
CY=61236
FRIENDS=61300

budget_setup()
{
	helper_setup
	make_directory
}

make_directory()
{
	mkdir budgets
	export RETRY_BUDGET_DIR=$PWD/budgets
	api=$RETRY_BUDGET_DIR/retry-v4.$EUID.api
	# shellcheck disable=SC2034 # the tests read them
	fails=(sh -c 'echo >>ran; exit 7')
	# shellcheck disable=SC2034
	works=(sh -c 'echo >>ran')
}

setup()
{
	budget_setup
}

scene()
{
	make_directory
	eval "$1"
}

made()
{
	local counts=$1
	shift
	: >ran
	: >err
	is 7 "$RETRY" -B api -n "${counts#*/}" -d 0 "$@" "${fails[@]}"
	ran "${counts%/*}"
}

succeed()
{
	local count=$1
	shift
	for ((; count > 0; count--)); do
		is 0 "$RETRY" -B api "$@" true
	done
}

took_since()
{
	[ "$(($(now) - $1))" -ge "$2" ]
}

ran()
{
	local all=()
	[ ! -e ran ] || mapfile -t all <ran
	[ "${#all[@]}" -eq "$1" ] || {
		echo "ran ${#all[@]} times instead of $1"
		cat err
		return 1
	} >&2
}

segment()
{
	echo "$RETRY_BUDGET_DIR/retry-v4.$EUID.${1-api}"
}

only()
{
	local found
	shopt -s nullglob dotglob
	found=(budgets/*)
	shopt -u nullglob dotglob
	[ "${found[*]#budgets/}" = "$*" ] || {
		echo "in budgets: ${found[*]#budgets/}"
		return 1
	} >&2
}

# look_at_words [KEY]: sets the array $words to the 64-bit words of a segment;
# the word at a byte's place is the eighth of that
look_at_words()
{
	mapfile -t words < <(od -An -v -t d8 -w8 \
		"$RETRY_BUDGET_DIR/retry-v4.$EUID.${1-api}")
	[ "${#words[@]}" -eq "$((SEGMENT_SIZE / 8))" ]
}

counters=(probes turns firsts successes retries denied)
COUNTERS_AT=1208

counter()
{
	local words at
	look_at_words "${2-api}" || return
	for at in "${!counters[@]}"; do
		[ "${counters[at]}" = "$1" ] || continue
		echo "$((words[COUNTERS_AT / 8 + at]))"
		return
	done
	return 1
}

counted()
{
	local words at text=' '
	look_at_words || return
	for at in "${!counters[@]}"; do
		text+="${counters[at]} $((words[COUNTERS_AT / 8 + at])) "
	done
	while [ $# -gt 0 ]; do
		[[ $text == *" $1 $2 "* ]] || {
			echo "counted:$text, and not $1 $2"
			return 1
		} >&2
		shift 2
	done
}

deposits()
{
	local words word sum=0
	look_at_words "${1-api}" || return
	for word in "${words[@]:RING_AT / 8:RING_WORDS}"; do
		((sum += word >> 16 & 0xffff, 1))
	done
	echo "$sum"
}

# nanos SECONDS: prints them in nanoseconds
nanos()
{
	local seconds=${1#-} fraction=000000000
	[[ $seconds != *.* ]] || fraction=${seconds#*.}000000000
	seconds=$((10#${seconds%.*} * 1000000000 + 10#${fraction:0:9}))
	echo "${1%%[!-]*}$seconds"
}

# put_words AT FILE WORD...: writes 64-bit words to a file
put_words()
{
	local at=$1 file=$2 word byte bytes=()
	shift 2
	for word; do
		for byte in 0 8 16 24 32 40 48 56; do
			bytes+=("$((word >> byte & 255))")
		done
	done
	put_bytes "$at" "$file" "${bytes[@]}"
}

# put_bytes AT FILE BYTE...: the same, byte by byte
put_bytes()
{
	local at=$1 file=$2 bytes
	shift 2
	printf -v bytes '\\x%02x' "$@"
	# shellcheck disable=SC2059 # a format of bytes
	printf "$bytes" |
		dd bs=1 seek="$at" of="$file" conv=notrunc status=none
}

# move_back NANOS KEY: moves the instants that a segment counts from
move_back()
{
	local words
	look_at_words "$2" || return
	put_words 24 "$RETRY_BUDGET_DIR/retry-v4.$EUID.$2" \
		"$((words[24 / 8] - $1))" "$((words[32 / 8] - $1))"
}

older()
{
	move_back "$(nanos "$1")" "${2-api}"
}

aged()
{
	local words uptime
	look_at_words "${2-api}" || return
	read -r uptime _ </proc/uptime
	move_back "$((words[24 / 8] - $(nanos "$uptime") + $(nanos "$1")))" \
		"${2-api}"
}

outdate()
{
	local file
	file=$(segment "${1-api}")
	case $(stat -f -c %T budgets) in
	tmpfs | ramfs) skip 'memory does not outlive a boot' ;;
	esac
	LC_ALL=C sed -i "s/$(</proc/sys/kernel/random/boot_id)/$(tr 0-9a-f \
		1-9a-f0 </proc/sys/kernel/random/boot_id)/" "$file"
	chmod 600 "$file"
}

opened()
{
	local words word
	look_at_words "${1-api}" || return
	word=$((words[1128 / 8]))
	printf '%d.%03d\n' "$(((word & 0xffffffffff) / 1000))" \
		"$(((word & 0xffffffffff) % 1000))"
}

# look_at_notes: sets the array $noted to what notes prints
look_at_notes()
{
	local line all=()
	noted=()
	[ ! -e err ] || mapfile -t all <err
	for line in "${all[@]}"; do
		[[ $line != "retry: "@(budget|breaker)" '"* ]] ||
			noted+=("$line")
	done
}

notes()
{
	local noted
	look_at_notes
	[ "${#noted[@]}" -eq 0 ] || printf '%s\n' "${noted[@]}"
}

noted()
{
	local noted
	look_at_notes
	[ "${#noted[@]}" -eq "$1" ] || {
		echo "instead of so many lines: $1"
		cat err
		return 1
	} >&2
}

note()
{
	local noted
	look_at_notes
	if [ "${#noted[@]}" -ne 1 ] || ! [[ ${noted[0]} =~ ^$1$ ]]; then
		echo "instead of one line like $1:"
		cat err
		return 1
	fi >&2
}

quiet()
{
	noted 0
}

become()
{
	[ "$EUID" -eq 0 ] || skip 'needs root, to be somebody else'
	with=(setpriv "--reuid=$1" "--regid=$1" --clear-groups)
	[ -z "${2-}" ] || with=(setpriv "--reuid=$1" "--regid=$1" "--groups=$2")
	"${with[@]}" true 2>/dev/null || skip 'no setpriv that works here'
	[ -x retry ] || cp "$RETRY" retry
	chmod 755 retry
	chmod 777 . # for what fails and works write
	: >>ran
	chmod 666 ran
}

# Paths are relative: the way here may be closed to them.
shared()
{
	become "$ANN" "$FRIENDS"
	mkdir shared
	chgrp "$FRIENDS" shared
	chmod 2770 shared
	export RETRY_BUDGET_DIR=shared
}

many()
{
	local count=$1
	shift
	seq "$count" | xargs -P 64 -n 1 "$@" >>out 2>>err 3>&- || :
}
