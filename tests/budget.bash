# shellcheck shell=bash
# For bats files about budgets: `load budget`, after helper and actor. Budgets
# of a test live in ./budgets.
#
#     fails             an array: a command that counts itself in ./ran and
#                       exits with 7
#     works             the same, with 0
#     ran N             these were run N times in all
#     segment [KEY]     prints the path of KEY's segment
#     counter NAME [KEY]  prints one of firsts successes retries denied
#     deposits [KEY]    prints how many successes pay for retries
#     older SECONDS [KEY]  makes a segment that much older, as if nobody had
#                       called for so long
#     aged SECONDS [KEY]  the same, up to an age
#     opened [KEY]      prints how old KEY's segment will be, in seconds, when
#                       its breaker's probe is due or its lease ends
#     notes             prints what ./err has about budgets and breakers
#     note REGEX        notes are a single line, which is all like this
#     quiet             there is none
#     many N            runs what follows N times, 64 at once, with the number
#                       as its last argument; output appended to ./out, ./err
#
# With LONG set, tests of how many or how long take more of both: make faults.
#
# Without a KEY it is api, which is what tests call theirs. Time is never waited
# for where a segment can be told that it has passed.

# The layout of a segment, as src/segment.h has it.
# shellcheck disable=SC2034 # the tests read them
SEGMENT_SIZE=1744
# shellcheck disable=SC2034
SEGMENT_HEADER=1120
RING_AT=1256
RING_WORDS=61

budget_setup()
{
	helper_setup
	mkdir budgets
	export RETRY_BUDGET_DIR=$BATS_TEST_TMPDIR/budgets
	# shellcheck disable=SC2034 # the tests read them
	fails=(sh -c 'echo >>ran; exit 7')
	# shellcheck disable=SC2034
	works=(sh -c 'echo >>ran')
}

setup()
{
	budget_setup
}

ran()
{
	[ "$(lines ran)" -eq "$1" ] || {
		echo "ran $(lines ran) times instead of $1"
		cat err
		return 1
	} >&2
}

segment()
{
	echo "$RETRY_BUDGET_DIR/retry-v1.$EUID.${1-api}"
}

# words COUNT AT [KEY]: prints 64-bit words of a segment
words()
{
	od -An -v -t d8 -w8 -j "$2" -N "$((8 * $1))" "$(segment "${3-api}")"
}

counter()
{
	local names=(firsts successes retries denied) at
	for at in "${!names[@]}"; do
		[ "${names[at]}" = "$1" ] || continue
		at=$(words 1 "$((1224 + 8 * at))" "${2-api}") || return
		echo "$((at))"
		return
	done
	return 1
}

deposits()
{
	local word sum=0 all
	all=$(words "$RING_WORDS" "$RING_AT" "${1-api}") || return
	for word in $all; do
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
	local at=$1 file=$2 word byte bytes=
	shift 2
	for word; do
		for byte in 0 8 16 24 32 40 48 56; do
			printf -v byte '\\x%02x' "$((word >> byte & 255))"
			bytes+=$byte
		done
	done
	# shellcheck disable=SC2059 # a format of bytes
	printf "$bytes" |
		dd bs=1 seek="$at" of="$file" conv=notrunc status=none
}

# move_back NANOS KEY: moves the instants that a segment counts from
move_back()
{
	local base wall
	{ read -r base && read -r wall; } < <(words 2 24 "$2") || return
	put_words 24 "$(segment "$2")" "$((base - $1))" "$((wall - $1))"
}

older()
{
	move_back "$(nanos "$1")" "${2-api}"
}

aged()
{
	local base uptime
	base=$(words 1 24 "${2-api}") || return
	read -r uptime _ </proc/uptime
	move_back "$((base - $(nanos "$uptime") + $(nanos "$1")))" "${2-api}"
}

opened()
{
	local word
	word=$(words 1 1128 "${1-api}") || return
	printf '%d.%03d\n' "$(((word & 0xffffffffff) / 1000))" \
		"$(((word & 0xffffffffff) % 1000))"
}

notes()
{
	grep -sE "^retry: (budget|breaker) '" err || :
}

note()
{
	[[ $(notes) =~ ^$1$ && $(notes) != *$'\n'* ]] || {
		echo "instead of one line like $1:"
		cat err
		return 1
	} >&2
}

quiet()
{
	[ -z "$(notes)" ] || {
		cat err
		return 1
	} >&2
}

many()
{
	local count=$1
	shift
	seq "$count" | xargs -P 64 -n 1 "$@" >>out 2>>err 3>&- || :
}
