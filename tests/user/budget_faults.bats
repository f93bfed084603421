#!/usr/bin/env bats
# Covers store/segment_file, store/segment_store.
# What can go wrong with a budget: its file, the directory, the clock, the
# processes that share it, other users. The command runs, its status is right,
# and one line at most says so; where the budget is required, nothing runs.
# shellcheck disable=SC2016 # the commands' shells expand
# shellcheck disable=SC2030,SC2031 # each test has a shell of its own
# shellcheck disable=SC2034 # fails and works are what budget_setup sets
# shellcheck disable=SC2154 # start, run, isolate and inject set what is read

load helper
load actor
load budget

# Users and a group that nobody else has.
ANN=61234
BOB=61235
CY=61236
FRIENDS=61300

# three [OPTION]...: three attempts that fail, ended if they hang
three()
{
	: >ran
	: >err
	is 7 timeout -k 1 30 "${with[@]}" "$RETRY" -B api -n 3 -d 0 "$@" \
	    "${fails[@]}"
	ran 3
}

# refused [OPTION]...: nothing runs, because the budget is required
refused()
{
	: >ran
	: >err
	is 69 timeout -k 1 30 "${with[@]}" "$RETRY" -B api --budget-required \
	    -n 3 -d 0 "$@" "${fails[@]}"
	ran 0
	[ "$(lines err)" -eq 1 ]
}

# unusable WHY [OPTION]...: the segment is not used; the reason matches WHY
unusable()
{
	local why=$1
	shift
	three "$@"
	note "retry: budget 'api': cannot be used: $why, in .*; counting for this command alone"
	refused "$@"
	note "retry: budget 'api': cannot be used: $why, in .*"
	refused -q "$@"
	note "retry: budget 'api': cannot be used: $why, in .*"
}

# usable [OPTION]...: the segment is used, without a message
usable()
{
	three "$@"
	quiet
	three --budget-required "$@"
	quiet
}

# unharmed: no message is about the budget, except that it is exhausted
unharmed()
{
	local noted
	look_at_notes
	[[ "${noted[*]/*exhausted*/}" != *[^\ ]* ]]
}

# made [OPTION]...: makes the segment, with what a first attempt leaves
made()
{
	is 7 "$RETRY" -q -B api -n 1 "$@" "${fails[@]}"
	: >ran
	[ -f "$api" ]
}

# spoil AT COUNT [SEED]: overwrites a part of the segment with random bytes
spoil()
{
	local count bytes=()
	RANDOM=${3-1}
	for ((count = $2; count > 0; count--)); do
		bytes+=("$((RANDOM & 255))")
	done
	put_bytes "$1" "$api" "${bytes[@]}"
}

# kept CMD...: CMD does not change the segment
kept()
{
	local bytes still stat
	mapfile -d '' bytes <"$api"
	stat=$(stat -c '%f %u %h %s' "$api")
	"$@"
	mapfile -d '' still <"$api"
	[ "${still[*]@Q}" = "${bytes[*]@Q}" ]
	[ "$(stat -c '%f %u %h %s' "$api")" = "$stat" ]
}

# become UID GROUP: sets the array as to what runs a command as somebody else,
# who has a copy of the program, ./retry, here
become()
{
	[ "$EUID" -eq 0 ] || skip 'needs root, to be somebody else'
	as=(setpriv "--reuid=$1" "--regid=$1" --clear-groups)
	[ -z "${2-}" ] || as=(setpriv "--reuid=$1" "--regid=$1" "--groups=$2")
	"${as[@]}" true 2>/dev/null || skip 'no setpriv that works here'
	[ -x retry ] || cp "$RETRY" retry
	chmod 755 retry
	chmod 777 . # for what fails and works write
	: >>ran
	chmod 666 ran
}

#
# Files that are not a segment of this budget
#

@test "a directory in place of the segment is not used" {
	mkdir "$api"
	unusable 'not a regular file'
	rmdir "$api"
}

@test "a symbolic link is not followed, wherever it points" {
	made
	mv "$api" budgets/real
	ln -s real "$api"
	before=$(md5sum budgets/real)
	unusable 'not a regular file'
	[ "$(md5sum budgets/real)" = "$before" ]
	ln -sf "$PWD/nowhere" "$api"
	unusable 'not a regular file'
	[ ! -e nowhere ]
}

@test "a pipe, a socket or a device is not waited for" {
	mkfifo "$api"
	unusable 'not a regular file'
	rm "$api"
	"$PYTHON" -IS -c 'import os, sys; os.mknod(sys.argv[1], 0o140600)' "$api"
	[ -S "$api" ]
	unusable 'not a regular file'
	rm "$api"
	! mknod "$api" c 1 5 2>/dev/null || unusable 'not a regular file'
}

@test "a file with a second name is not used" {
	made
	ln "$api" budgets/other
	kept unusable 'has other links'
}

@test "a file that others may read or write is not used" {
	local mode
	for mode in 644 604 640 620 602 666 4600 1600; do
		rm -f "$api"
		made
		chmod "$mode" "$api"
		kept unusable 'mode is not 0600'
	done
}

@test "a file of another length is not used" {
	local size
	for size in 0 1 1119 1120 $((SEGMENT_SIZE - 1)) $((SEGMENT_SIZE + 1)) \
	    4096 4G; do
		rm -f "$api"
		made
		truncate -s "$size" "$api"
		unusable 'of another size'
	done
}

@test "a file of another version is not used" {
	local change
	for change in '0 retry-v2' '0 retry-v3' '0 RETRY-v4' '8 \0\0' \
	    '12 \075\0\0\1' '16 \0\0\0\0' '24 \0\0\0\0\0\0\0\200' '88 \0\0\0\0' '88 \377' \
	    '91 \1'; do
		rm -f "$api"
		made
		# shellcheck disable=SC2059 # a format of bytes
		printf "${change#* }" | dd bs=1 seek="${change%% *}" \
		    of="$api" conv=notrunc status=none
		kept unusable 'of another version'
	done
}

@test "the file of another key is not used" {
	made
	cp -p "$api" "$(segment apI)"
	mv "$api" "$api~"
	is 7 "$RETRY" -q -B other -n 1 "${fails[@]}"
	mv "$(segment other)" "$api"
	kept unusable 'of another key'
}

@test "the file of another user is not used" {
	[ "$EUID" -eq 0 ] || skip 'needs root, to give it away'
	made
	chown "$ANN" "$api"
	kept unusable 'owned by another user'
}

@test "random bytes are not used" {
	local seed
	for seed in 1 2 3 4; do
		rm -f "$api"
		made
		spoil 0 "$SEGMENT_SIZE" "$seed"
		kept unusable '.*'
		head -c "$((seed * 1000))" /dev/urandom >"$api"
		kept unusable '.*'
	done
}

@test "a header of random bytes is not used" {
	made
	spoil 0 "$SEGMENT_HEADER"
	kept unusable '.*'
}

@test "a window of random bytes is not believed" {
	local seed
	for seed in 1 2 3 4 5; do
		rm -f "$api"
		made
		spoil "$RING_AT" "$((8 * RING_WORDS))" "$seed"
		three
		note "retry: budget 'api': cannot be used: segment is corrupt, in .*"
	done
}

@test "a window of random bytes is refused where the budget is required" {
	made
	spoil "$RING_AT" "$((8 * RING_WORDS))"
	refused
}

@test "random words do no more harm than words can" {
	local seed
	for seed in {1..12}; do
		rm -f "$api" ran err
		made
		# what is between the header and the ring
		spoil "$SEGMENT_HEADER" "$((RING_AT - SEGMENT_HEADER))" "$seed"
		is 0 timeout 20 "$RETRY" -B api --breaker 3,10s "${works[@]}"
		is 7 timeout 20 "$RETRY" -B api -n 2 -d 0 "${fails[@]}"
		look_at_notes
		[ "${#noted[@]}" -le 2 ] # one each
	done
}

@test "the private budget has the same numbers" {
	mkdir "$api"
	is 7 "$RETRY" -B api --budget-min 2 --budget-window 30s -n 9 -d 0 \
	    "${fails[@]}"
	ran 3
	noted 2
	told "retry: budget 'api': exhausted, 2 of 2 retries used in 30s .*"
	is 7 "$RETRY" -B api --breaker 2,10s -n 9 -d 0 "${fails[@]}"
	ran 5
	told "retry: breaker 'api': open after 2 consecutive failures, probe in .*; giving up"
}

@test "with -q no message is about a budget that cannot be used" {
	mkdir "$api"
	is 7 "$RETRY" -q -B api -n 3 -d 0 "${fails[@]}"
	ran 3
	[ "$(lines err)" -eq 0 ]
}

@test "one line says that the budget cannot be used, and why" {
	mkdir "$api"
	is 7 "$RETRY" -B api -n 1 "${fails[@]}"
	told "retry: budget 'api': cannot be used: not a regular file, in $RETRY_BUDGET_DIR; counting for this command alone"
	export RETRY_BUDGET_DIR=/nonexistent/directory
	is 7 "$RETRY" -B api -n 1 "${fails[@]}"
	told "retry: budget 'api': cannot be used: cannot use the directory: No such file or directory, in /nonexistent/directory; counting for this command alone"
}

#
# What happens to the segment while it is in use
#

# meanwhile ACTION: three attempts; the second does this to $S, the segment
meanwhile()
{
	local action=$1
	shift
	: >ran
	: >err
	export S=$api
	is 7 timeout -k 1 30 "$RETRY" -B api -n 3 -d 0 "$@" sh -c '
		echo >>ran
		[ "$RETRY_ATTEMPT" != 2 ] || eval "$1"
		exit 7' sh "$action"
	ran 3
}

@test "a segment that is truncated while in use is given up" {
	local size
	for size in 0 1000 1300 2327; do
		rm -f "$api"
		meanwhile 'truncate -s '"$size"' "$S"'
		note "retry: budget 'api': cannot be used: of another size, in .*"
		rm -f "$api"
		meanwhile 'truncate -s '"$size"' "$S"' --budget-required \
		    --breaker on
		note "retry: budget 'api': cannot be used: of another size, in .*"
	done
}

@test "a segment that is truncated between the check and the access is given up, too" {
	local call
	export S=$api
	inject getppid:delay_exit=1
	made
	# Time passes after the length of the file was checked.
	is 7 strace -qq -o trace -P "$S" -e trace=?fstat,?newfstatat,?statx \
	    -e signal=bus -e inject=?fstat,?newfstatat,?statx:delay_exit=600000 \
	    "$RETRY" -B api -n 2 -d 0 --budget-required sh -c '
		echo >>ran
		(sleep 0.3; truncate -s 0 "$S") >/dev/null 2>&1 &
		exit 7'
	ran 2
	note "retry: budget 'api': cannot be used: of another size, in .*"
	grep SIGBUS trace
}

@test "a segment that grows while in use is given up" {
	meanwhile 'echo more >>"$S"'
	note "retry: budget 'api': cannot be used: of another size, in .*"
}

@test "a segment that is overwritten while in use is given up" {
	meanwhile 'head -c '"$SEGMENT_SIZE"' /dev/urandom >"$S".x
		cat "$S".x 1<>"$S" >&0 0>&1'
	look_at_notes
	[ "${#noted[@]}" -le 1 ]
	rm -f "$api"
	meanwhile 'dd if=/dev/urandom of="$S" bs='"$SEGMENT_SIZE"' count=1 \
		conv=notrunc status=none'
	note "retry: budget 'api': cannot be used: .*"
}

@test "a segment that is removed while in use is made again" {
	meanwhile 'rm "$S"'
	quiet
	counted retries 1
	meanwhile 'rm "$S"' --budget-required --breaker on
	quiet
	[ -f "$api" ]
	meanwhile 'mv "$S" "$S".old'
	quiet
}

@test "a file that replaces the segment is checked like the first one" {
	meanwhile 'rm "$S"; mkdir "$S"'
	note "retry: budget 'api': cannot be used: not a regular file, in .*"
	rmdir "$api"
	meanwhile 'rm "$S"; ln -s /dev/null "$S"'
	note "retry: budget 'api': cannot be used: not a regular file, in .*"
	[ -c /dev/null ]
}

@test "its directory may be removed while it is in use" {
	meanwhile 'rm -r "${S%/*}"'
	note "retry: budget 'api': cannot be used: cannot use the directory: No such file or directory, in .*"
	mkdir budgets
}

@test "a segment that is removed again and again costs no retry and one line at most" {
	export S=$api
	start sh -c 'while [ ! -e enough ]; do rm -f "$S"; done'
	for _ in {1..20}; do
		: >ran
		"$RETRY" -B api -n 4 -d 0 "${fails[@]}" 2>err.retry 3>&- || got=$?
		[ "$got" -eq 7 ]
		ran 4
		[ "$(grep -c "^retry: budget 'api'" err.retry)" -le 1 ]
	done
	touch enough
	ended
}

#
# The directory and its file system
#

@test "a directory that is missing is not made" {
	unusable '.*No such file or directory' --budget-dir nowhere
	[ ! -e nowhere ]
	unusable '.*No such file or directory' --budget-dir nowhere/at/all
	touch file
	unusable '.*Not a directory' --budget-dir file
	unusable '.*File ?name too long' --budget-dir \
	    "$(printf 'd/%.0s' {1..3000})"
}

@test "a directory that may not be written to is not used" {
	become "$ANN"
	mkdir closed
	chmod 755 closed
	with=("${as[@]}")
	RETRY=./retry unusable '.*Permission denied' --budget-dir closed
	[ -z "$(ls closed)" ]
}

@test "a directory in which no file can be created is not used" {
	unusable '.*' --budget-dir /proc/self
	unusable '.*' --budget-dir /proc/self/fd
	unusable '.*' --budget-dir /dev/fd/
}

# mounted OPTIONS SETUP: the array with runs a command where ./mnt is a tmpfs
# with these options, once SETUP is done
mounted()
{
	isolate -m
	mkdir -p mnt
	"${isolate[@]}" mount -t tmpfs none mnt 2>/dev/null ||
		skip 'no right to mount here'
	with=("${isolate[@]}" sh -c 'mount -t tmpfs -o '"$1"' none mnt || exit 99
		'"$2"'
		exec "$@"' sh)
}

@test "a file system without room is not used" {
	mounted size=16k 'head -c 99999 /dev/zero >mnt/full 2>/dev/null'
	unusable '.*No space left on device' --budget-dir mnt
	mounted nr_inodes=1 :
	unusable '.*No space left on device' --budget-dir mnt
}

@test "16 kB are enough room, and a full file system later changes nothing" {
	mounted size=16k :
	usable --budget-dir mnt
	fails=(sh -c 'echo >>ran
		head -c 99999 /dev/zero >mnt/full 2>/dev/null
		exit 7')
	usable --budget-dir mnt --breaker on
}

@test "a file system that is read-only is not used" {
	mounted mode=755 'mount -o remount,ro mnt'
	unusable '.*Read-only file system' --budget-dir mnt
	mounted mode=755 '"$RETRY" -B api --budget-dir mnt true
		mount -o remount,ro mnt'
	unusable '.*Read-only file system' --budget-dir mnt
}

@test "every kind of file system can be used, in memory or not" {
	usable
	counted firsts 2
	mounted mode=755 :
	usable --budget-dir mnt
	usable --budget-dir ./budgets/../budgets/.
	counted firsts 4
}

@test "where a file cannot be made without a name, it is made with one" {
	inject getppid:error=EIO
	with=(strace -qq -o trace -P "$RETRY_BUDGET_DIR"
		-e 'inject=?open,openat:error=EOPNOTSUPP')
	three
	quiet
	grep -q 'O_TMPFILE.*INJECTED' trace
	only "retry-v4.$EUID.api"
	[ "$(stat -c %a "$api")" = 600 ]
}

@test "whatever the kernel refuses, the command runs" {
	local call failed
	inject getppid:error=EIO
	failed=0
	for call in '?open,openat' '?fstat,?newfstatat,?statx' fstatfs pread64 mmap \
	    fchmod write linkat fcntl '?unlinkat,?unlink'; do
		for fresh in yes no; do
			rm -f "$api"
			[ "$fresh" = yes ] || made
			with=(strace -qq -o trace -P "$RETRY_BUDGET_DIR"
				-P "$api" -P "$RETRY_BUDGET_DIR/#*"
				-e "inject=$call:error=EIO")
			three
			look_at_notes
			[ "${#noted[@]}" -le 1 ]
			[[ $(<trace) == *INJECTED* ]] || continue
			failed=$((failed + 1))
			only "retry-v4.$EUID.api" 2>/dev/null || only
		done
	done
	echo "$failed kinds of refusal"
	[ "$failed" -ge 5 ]
}

#
# Clocks
#

# exhausted: two retries, all that there are
exhausted()
{
	is 7 "$RETRY" -q -B api --budget-min 2 -n 9 -d 0 "${fails[@]}"
	rm -f ran err
}

@test "a segment of an earlier boot is made anew" {
	local boot other=01234567-89ab-cdef-0123-456789abcdef
	boot=$(</proc/sys/kernel/random/boot_id)
	exhausted
	case $(stat -f -c %T budgets) in
	tmpfs | ramfs) skip 'memory does not outlive a boot' ;;
	esac
	LC_ALL=C sed -i "s/$boot/$other/" "$api"
	chmod 600 "$api"
	usable --budget-min 9
	counted retries 4
	only "retry-v4.$EUID.api"
	LC_ALL=C grep -qa "$boot" "$api"
}

@test "many who find a segment of an earlier boot make one anew" {
	exhausted
	case $(stat -f -c %T budgets) in
	tmpfs | ramfs) skip 'memory does not outlive a boot' ;;
	esac
	LC_ALL=C sed -i "s/$(</proc/sys/kernel/random/boot_id)/$(tr 0-9a-f \
		1-9a-f0 </proc/sys/kernel/random/boot_id)/" "$api"
	chmod 600 "$api"
	many 64 "$RETRY" -B api --budget-min 10 -n 3 -d 0 "${fails[@]}"
	ran 74
	unharmed
	counted firsts 64
	only "retry-v4.$EUID.api"
}

# outdated: makes the budget api, of an earlier boot, and has another process
# hold its lock, as if it was stopped while it takes the file away
outdated()
{
	exhausted
	case $(stat -f -c %T budgets) in
	tmpfs | ramfs) skip 'memory does not outlive a boot' ;;
	esac
	LC_ALL=C sed -i "s/$(</proc/sys/kernel/random/boot_id)/$(tr 0-9a-f \
		1-9a-f0 </proc/sys/kernel/random/boot_id)/" "$api"
	chmod 600 "$api"
	exec 8<"$api"
	flock 8
}

@test "no process waits for one that is stopped while it removes an old segment" {
	outdated
	inject getppid:delay_enter=1 # where that works, so does the other
	for option in '' --breaker=1,1s --budget-required; do
		# shellcheck disable=SC2086 # may be nothing
		is "$([ "$option" = --budget-required ] && echo 69 || echo 7)" \
		    strace -qq -o naps -e trace=?nanosleep,?clock_nanosleep \
		    "$RETRY" -q -B api $option -n 2 -d 0 "${fails[@]}" 8<&-
		[ ! -s naps ]
	done
	: >err
	is 7 "$RETRY" -B api -n 1 -d 0 "${fails[@]}" 8<&-
	note "retry: budget 'api': cannot be used: being replaced all the time, in .*; counting for this command alone"
	exec 8<&-
	is 7 "$RETRY" -B api -n 1 -d 0 "${fails[@]}"
	counted firsts 1
}

@test "TERM ends a wait for the removal of an old segment" {
	outdated
	inject '?ppoll,?ppoll_time64:signal=TERM:when=1'
	is 143 "${inject[@]}" "$RETRY" -q -B api --budget-required touch began 8<&-
	[ ! -e began ]
	is 143 "${inject[@]}" "$RETRY" -q -B api --breaker 1,1s touch began 8<&-
	[ ! -e began ]
	exec 8<&-
}

@test "for a segment in memory the boot is not looked up" {
	local boot
	boot=$(</proc/sys/kernel/random/boot_id)
	mounted mode=755 '"$RETRY" -q -B api --budget-dir mnt true
		cd mnt && sed -i "s/'"$boot"'/01234567-89ab-cdef-0123-456789abcdef/" *
		chmod 600 * && cd ..'
	usable --budget-dir mnt
}

@test "a segment of another time namespace is not used" {
	isolate -f --time --boottime 100000
	made
	with=("${isolate[@]}")
	kept unusable 'made in another time namespace'
	with=()
	usable
}

@test "a clock that is two slices behind sees what was counted before it" {
	is 0 "$RETRY" -B api --budget-min 2 --budget-ratio 1 true
	aged 10
	is 7 "$RETRY" -q -B api -n 3 -d 0 "${fails[@]}"
	ran 3
	aged 8
	is 0 "$RETRY" -B api true
	is 0 "$RETRY" -B api true
	is 7 "$RETRY" -B api -n 3 -d 0 "${fails[@]}"
	ran 5
	note '.* 3 of 3 retries used in 60s \(3 successes, .*'
	aged 72 # and all this was at least at 10 s
	is 7 "$RETRY" -q -B api -n 9 -d 0 "${fails[@]}"
	ran 8
}

@test "a clock that is far behind is not used" {
	made
	aged 100
	is 7 "$RETRY" -q -B api -n 3 -d 0 "${fails[@]}"
	aged 1
	three
	note "retry: budget 'api': cannot be used: segment is corrupt, in .*"
}

@test "a segment from the future is not used as it is" {
	made
	older -1000
	three
	look_at_notes
	[ "${#noted[@]}" -le 1 ]
	three --budget-required
}

#
# Other limits for the same budget
#

@test "of different limits the stricter ones apply, and one line says so" {
	is 7 "$RETRY" -q -B api --budget-ratio 0.5 --budget-min 2 \
	    --budget-window 30s -n 1 "${fails[@]}"
	is 7 "$RETRY" -B api --budget-ratio 0.7 --budget-min 5 \
	    --budget-window 60s -n 9 -d 0 "${fails[@]}"
	ran 4
	notes | sed -n 1p | grep -qx "retry: budget 'api': already in use with other limits; using ratio 0.5, min 2, window 30s"
	notes | sed -n 2p | grep -q 'exhausted, 2 of 2 retries used in 30s (0 successes, ratio 0.5, min 2)'
	noted 2
}

@test "the stricter limits apply to all invocations" {
	is 7 "$RETRY" -q -B api --budget-min 9 -n 1 "${fails[@]}"
	is 7 "$RETRY" -q -B api --budget-min 1 -n 9 -d 0 "${fails[@]}"
	ran 3
	is 7 "$RETRY" -B api --budget-min 9 -n 9 -d 0 "${fails[@]}"
	ran 4
	[ "$(notes | grep -c 'already in use with other limits; using ratio 0.2, min 1,')" -eq 1 ]
}

@test "an invocation without limits of its own accepts any" {
	is 7 "$RETRY" -q -B api --budget-ratio 1 --budget-min 1 \
	    --budget-window 20s -n 1 "${fails[@]}"
	rm ran
	is 7 "$RETRY" -B api -n 2 -d 0 "${fails[@]}"
	is 7 "$RETRY" -B api --budget-ratio 100% -n 1 "${fails[@]}"
	ran 3
	quiet
}

@test "with -q no message is about different limits" {
	is 7 "$RETRY" -q -B api --budget-min 1 -n 1 "${fails[@]}"
	is 7 "$RETRY" -q -B api --budget-min 5 -n 5 -d 0 "${fails[@]}"
	ran 3
	[ "$(lines err)" -eq 0 ]
}

@test "a segment of a newer layout beside it is left alone" {
	local newer
	newer=budgets/retry-v5.$EUID.api
	head -c 5000 /dev/urandom >"$newer"
	before=$(md5sum "$newer")
	usable
	"$RETRY" --budget-gc 3>&-
	[ "$(md5sum "$newer")" = "$before" ]
}

#
# Processes that come and go
#

@test "64 processes that make a segment at once make one, whichever is killed" {
	local got
	many 64 sh -c '
		if [ "$(($1 % 3))" = 0 ]; then
			set -- "$1" timeout -s KILL "0.00$(($1 % 9 + 1))"
		else
			set -- "$1"
		fi
		number=$1
		shift
		"$@" "$RETRY" -B api --budget-min 5 --budget-window 1h -n 2 \
			-d 0 false
		echo "$number $?" >>statuses' sh
	[ "$(lines statuses)" -eq 64 ]
	while read -r number got; do
		[ "$got" -eq 1 ] || [ "$((number % 3)) $got" = '0 137' ]
	done <statuses
	[ "$(grep -c ' 1$' statuses)" -ge 42 ]
	unharmed
	counted retries 5
	"$RETRY" --budget-gc 3>&-
	only "retry-v4.$EUID.api"
	[ "$(stat -c '%a %h %s' "$api")" = "600 1 $SEGMENT_SIZE" ]
}

# boundaries CMD...: prints NAME NTH of each system call that CMD makes from
# where retry begins, its own and not its children's
boundaries()
{
	strace -o trace "$@" >/dev/null 2>&1 3>&- || :
	awk -F'[( ]' '
		/^[a-z]/ {
			if (/retry-v4|budgets/)
				ours = 1
			seen[$1]++
			if (ours && $1 != "exit_group")
				print $1, seen[$1]
		}' trace
}

# occasions: prints the stages at which a process is stopped or killed: as the
# first of all; in long runs also as one that finds a segment, or is denied
occasions()
{
	echo fresh
	[ -z "${LONG-}" ] || printf '%s\n' found denied
}

# occasion NAME: sets this stage
occasion()
{
	rm -f budgets/*
	[ "$1" = fresh ] || made --budget-min 2 --budget-window 1h >&2
	[ "$1" != denied ] || is 7 "$RETRY" -q -B api -n 3 -d 0 "${fails[@]}" >&2
	: >ran
	: >err
}

@test "at whatever call one process is killed, the budget of the others is right" {
	local occasion name nth made scene=("$RETRY" -q -B api --budget-min 2
		--breaker '9,10s' --budget-window 1h -n 2 -d 0 false)
	inject getppid:signal=KILL
	for occasion in $(occasions); do
		occasion "$occasion"
		boundaries "${scene[@]}" >calls
		[ "$(lines calls)" -ge 10 ]
		while read -r name nth; do
			echo "$occasion: KILL at $name $nth"
			occasion "$occasion"
			strace -qq -o /dev/null -E MARK="$PWD" \
			    -e "trace=$name" \
			    -e "inject=$name:signal=KILL:when=$nth" \
			    "${scene[@]}" >/dev/null 2>&1 3>&- || :
			is 7 "$RETRY" -B api --budget-required --budget-min 2 \
			    --budget-window 1h --breaker 9,10s -n 9 -d 0 \
			    "${fails[@]}"
			unharmed
			# A retry is counted before it is made, and not twice.
			made=$(($(lines ran) - 1))
			case $occasion in
			denied) [ "$made" -eq 0 ] ;;
			*) [ "$made" -eq 1 ] || [ "$made" -eq 2 ] ;;
			esac
			only "retry-v4.$EUID.api"
		done <calls
	done
	wait_for none_left "$PWD"
}

@test "at whatever call one process is stopped, no other waits for it" {
	local occasion name nth before scene=("$RETRY" -q -B api --budget-min 9
		--breaker '9,10s' --budget-window 1h -n 2 -d 0 false)
	inject getppid:signal=STOP
	stopped()
	{
		[[ $(<trace) == *'stopped by SIGSTOP'* ]] ||
			gone "$pid"
	}
	for occasion in $(occasions); do
		occasion "$occasion"
		boundaries "${scene[@]}" >calls
		[ "$(lines calls)" -ge 10 ]
		while read -r name nth; do
			echo "$occasion: STOP at $name $nth"
			occasion "$occasion"
			before=$(counter firsts 2>/dev/null || echo 0)
			: >trace
			start strace -D -o trace -e "trace=$name" \
			    -e "inject=$name:signal=STOP:when=$nth" "${scene[@]}"
			wait_for stopped
			is 0 timeout 20 "$RETRY" -B api --budget-required \
			    --breaker 9,10s --budget-window 1h "${works[@]}"
			quiet
			kill -CONT "$pid" || gone "$pid"
			ended
			[ "$status" -eq 1 ]
			counted firsts "$((before + 2))" successes 1
			[ "$occasion" = denied ] || [ "$(counter retries)" -eq 1 ]
		done <calls
	done
}

#
# Other users
#

@test "other users can neither read nor write it" {
	become "$ANN"
	chmod 1777 budgets
	umask 0
	made
	[ "$(stat -c '%a %u' "$api")" = '600 0' ]
	cd budgets
	run ! "${as[@]}" cat "retry-v4.0.api"
	run ! "${as[@]}" sh -c 'echo >>retry-v4.0.api'
	run ! "${as[@]}" sh -c 'echo 1<>retry-v4.0.api'
	run ! "${as[@]}" rm -f retry-v4.0.api
	cd ..
	kept "${as[@]}" env RETRY_BUDGET_DIR=budgets ./retry -B api \
	    --budget-required true
	[ "$(ls -A budgets | wc -l)" -eq 2 ]
	[ "$(stat -c '%a %u' "budgets/retry-v4.$ANN.api")" = "600 $ANN" ]
}

@test "users have budgets of their own" {
	become "$ANN"
	chmod 1777 budgets
	is 7 "$RETRY" -q -B api --budget-min 1 -n 9 -d 0 "${fails[@]}"
	is 7 "${as[@]}" env RETRY_BUDGET_DIR=budgets ./retry -q -B api \
	    --budget-min 1 -n 9 -d 0 "${fails[@]}"
	ran 4
}

@test "root does not use a file that a user has put in place of the segment" {
	become "$ANN"
	chmod 1777 budgets
	is 0 "${as[@]}" env RETRY_BUDGET_DIR=budgets ./retry -B api true
	mv "budgets/retry-v4.$ANN.api" "$api"
	kept unusable 'owned by another user'
}

@test "a directory with the setgid bit is shared by its group" {
	become "$ANN" "$FRIENDS"
	mkdir shared
	chgrp "$FRIENDS" shared
	chmod 2770 shared
	export RETRY_BUDGET_DIR=shared
	umask 077
	is 7 "${as[@]}" ./retry -q -B api --budget-min 3 -n 3 -d 0 "${fails[@]}"
	ran 3
	[ "$(ls -A shared)" = retry-v4.api ]
	[ "$(stat -c '%a %u %g' shared/*)" = "660 $ANN $FRIENDS" ]
	become "$BOB" "$FRIENDS"
	is 7 "${as[@]}" ./retry -B api --budget-required --budget-min 3 -n 3 \
	    -d 0 "${fails[@]}"
	ran 5
	note '.* exhausted, 3 of 3 retries .*'
	rm err
	become "$CY"
	is 7 "${as[@]}" ./retry -B api -n 3 -d 0 "${fails[@]}"
	ran 8
	note "retry: budget 'api': cannot be used: .*Permission denied, in shared; .*"
	run ! "${as[@]}" cat shared/retry-v4.api
	[ "$(ls -A shared)" = retry-v4.api ]
}

@test "root shares the directory of a group, but maps no segment of a user there" {
	become "$ANN" "$FRIENDS"
	mkdir shared
	chgrp "$FRIENDS" shared
	chmod 2770 shared
	export RETRY_BUDGET_DIR=shared
	is 0 "${as[@]}" ./retry -B api true
	before=$(md5sum shared/retry-v4.api)
	unusable 'owned by another user'
	[ "$(md5sum shared/retry-v4.api)" = "$before" ]
	rm -f shared/* err ran
	become "$ANN" "$FRIENDS"
	is 7 "$RETRY" -B api --budget-min 2 -n 3 -d 0 "${fails[@]}"
	[ "$(stat -c '%a %u %g' shared/*)" = "660 0 $FRIENDS" ]
	is 7 "${as[@]}" ./retry -B api --budget-required -n 3 -d 0 "${fails[@]}"
	ran 4
}

@test "no other directory is shared" {
	local mode owner
	become "$ANN" "$FRIENDS"
	umask 0
	# the mode of the directory, and its owner
	for mode in '0770 0' '3777 0' '2777 0' '1777 0' "2770 $BOB" \
	    "2770 $CY"; do
		owner=${mode#* }
		rm -rf shared
		mkdir shared
		chown "$owner:$FRIENDS" shared
		chmod "${mode% *}" shared
		is 0 "${as[@]}" ./retry -B api --budget-dir shared \
		    --budget-required true
		[ "$(ls -A shared)" = "retry-v4.$ANN.api" ]
		[ "$(stat -c %a shared/*)" = 600 ]
	done
	rm -rf shared
	mkdir shared
	chown "$ANN:$FRIENDS" shared
	chmod 2770 shared
	is 0 "${as[@]}" ./retry -B api --budget-dir shared --budget-required true
	[ "$(ls -A shared)" = retry-v4.api ]
	quiet
}

@test "in a shared directory a segment of another mode or group is not used" {
	become "$ANN" "$FRIENDS"
	mkdir shared
	chgrp "$FRIENDS" shared
	chmod 2770 shared
	export RETRY_BUDGET_DIR=shared
	is 0 "${as[@]}" ./retry -B api true
	chmod 666 shared/*
	RETRY=./retry with=("${as[@]}")
	three
	note ".* cannot be used: mode is not 0660, in shared; .*"
	chmod 660 shared/*
	chgrp "$BOB" shared/*
	chmod o+rw shared/*
	three
	noted 1
}
