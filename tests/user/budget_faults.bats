#!/usr/bin/env bats
# Covers store/segment_store.
# What can go wrong with a budget: its file, the directory, the clock, the
# processes that share it, other users. The command runs, its status is right,
# and one line at most says so; where the budget is required, nothing runs.
# shellcheck disable=SC2034 # what is set here, budget.bash and the rows read

load helper
load actor
load budget

attempts=2

# ends STATUS [OPTION]...: so many attempts that fail, ended if they hang; forgets what
# was said before
ends() {
	: >ran 2>err
	start "${under[@]}" "$RETRY" -B api -n "$attempts" -d 0 "${@:2}" "${fails[@]}"
	ended "$1"
}

# all_run [OPTION]...: all are made
all_run() {
	ends 7 "$@" && ran "$attempts"
}

# unusable WHY [OPTION]...: the segment is not used; the reason matches WHY
unusable() {
	all_run "${@:2}" &&
		note "retry: budget 'api': cannot be used: $1, in .*; counting for this command alone"
}

# usable [OPTION]...: the segment is used, without a message
usable() {
	all_run --budget-required "$@" && quiet
}

# required WHY [OPTION]...: nothing runs, because the budget is required
required() {
	ends 69 --budget-required "${@:2}" && ran 0 && reads err '+([!|])' &&
		note "retry: budget 'api': cannot be used: $1, in .*"
}

# fresh [OPTION]...: makes the segment, with what a first attempt leaves
fresh() {
	[ ! -e "$api" ] || rm "$api"
	made 1/1 -q "$@"
}

# spoil AT COUNT: overwrites a part of the segment with bytes that look random
spoil() {
	local count bytes=()
	RANDOM=1
	for ((count = $2; count > 0; count--)); do
		bytes+=("$((RANDOM & 255))")
	done
	put_bytes "$1" "$api" "${bytes[@]}"
}

# kept CMD...: CMD does not change what is in ./budgets, and what it holds
kept() {
	local there before
	look_around
	before=$there
	"$@" && look_around && [ "$there" = "$before" ] || {
		echo "before:$before and now:$there"
		return 1
	} >&2
}

# look_around: sets $there to the files of ./budgets, and what is in them
look_around() {
	local file content
	there=$(exec ls -Aln --time-style=full-iso budgets)
	for file in budgets/*; do
		[ ! -f "$file" ] || look_into "$file"
		there+=" $file ${content-}"
	done
}

# alien WHY CODE: CODE makes something that is not used, and not changed
alien() {
	local attempts=1
	rm -rf "$api" budgets/*
	eval "$2"
	kept unusable "$1"
}

@test "what is no segment of this budget is not used, and not changed" {
	table alien <<-'END'
		'not a regular file' 'mkdir "$api"'
		'not a regular file' 'fresh; mv "$api" budgets/real; ln -s real "$api"'
		'not a regular file' 'ln -s "$PWD/nowhere" "$api"' && [ ! -e nowhere ]
		'not a regular file' 'mkfifo "$api"'
		'not a regular file' 'mknod "$api" c 1 5 2>/dev/null || mkdir "$api"'
		'has other links' 'fresh; ln "$api" budgets/other'
		'mode is not 0600' 'fresh; chmod 604 "$api"'
		'mode is not 0600' 'fresh; chmod 4600 "$api"'
		'of another size' 'fresh; truncate -s -1 "$api"'
		'of another size' 'fresh; truncate -s 4G "$api"'
		'of another version' 'fresh; put_bytes 7 "$api" 51' # retry-v3
		'of another key' 'fresh -B apI; mv "$stem.apI" "$api"'
		'.*' 'fresh; spoil 0 "$SEGMENT_SIZE"'
	END
	! is_root ||
		row 'of somebody else' scene \
		    "alien 'owned by another user' 'fresh; chown $ANN \$api'"
	rows row scene <<-'END'
	a window of random bytes
	    fresh
	    spoil "$RING_AT" "$((8 * RING_WORDS))"
	    unusable 'segment is corrupt'
	    required 'segment is corrupt'
	a directory that is missing, and not made, or is none, or not for files
	    attempts=1
	    unusable '.*No such file or directory' --budget-dir nowhere/at/all
	    [ ! -e nowhere ]
	    : >file
	    unusable '.*Not a directory' --budget-dir file
	    unusable '.*' --budget-dir /proc/self/fd
	a directory on a file system that makes no file without a name
	    inject getppid:error=EIO
	    under=(strace -qq -o trace -P "$RETRY_BUDGET_DIR" -e 'inject=?open,openat:error=EOPNOTSUPP')
	    unusable 'cannot make a file without a name: Operation not supported'
	    traced 'O_TMPFILE*INJECTED'
	    only
	a directory that may not be written to
	    become "$ANN"
	    mkdir -m 755 closed
	    RETRY=./retry unusable '.*Permission denied' --budget-dir closed
	    directory=closed only
	END
}

@test "where the budget cannot be used the command counts alone, or does not run" {
	mkdir "$api"
	all_run
	note "retry: budget 'api': cannot be used: not a regular file, in $RETRY_BUDGET_DIR; counting for this command alone"
	required 'not a regular file' -q
	required '.*No such file or directory' --budget-dir nowhere
	all_run -q
	[ ! -s err ]
	# The private budget has the same numbers.
	made 3/9 --budget-min 2 --budget-window 30s
	noted 2
	told "retry: budget 'api': exhausted, 2 of 2 retries used in 30s .*"
	made 2/9 --breaker 2,10s
	told "retry: breaker 'api': open after 2 consecutive failures, probe in .*; giving up"
}

# meanwhile WHY ACTION [OPTION]...: of three attempts the second does this to $S,
# the segment; then it cannot be used because of WHY, or can if that is empty
meanwhile() {
	export RETRY_BUDGET_DIR=$PWD/budgets/$((++number))
	export S=$RETRY_BUDGET_DIR/${api##*/}
	fails=(sh -c 'echo >>ran; [ "$RETRY_ATTEMPT" != 2 ] || eval "$1"; exit 7' sh "$2")
	ends 7 -n 3 "${@:3}" && ran 3 || return
	[ -n "$1" ] || { quiet; return; }
	note "retry: budget 'api': cannot be used: $1, in .*"
}

@test "a segment that changes while it is in use is given up, or made again" {
	local number=0
	mkdir budgets/{1..7}
	table meanwhile <<-'END'
		'of another size' ': >"$S"' --budget-required --breaker on
		'of another size' 'echo more >>"$S"'
		'.*' "dd if=/dev/urandom of=\$S bs=$SEGMENT_SIZE count=1 conv=notrunc status=none"
		'' 'rm "$S"' --budget-required --breaker on && counted retries 1
		'' 'mv "$S" "$S".old'
		'not a regular file' 'rm "$S"; mkdir "$S"'
		'cannot use the directory: No such file or directory' 'rm -r "${S%/*}"'
	END
	rows row scene <<-'END'
	truncated between the check and the access
	    fresh
	    inject getppid:signal=STOP
	    # It stops when the length of the file was checked.
	    start strace -D -o trace -P "$api" -e signal=bus,stop -e trace=?fstat,?newfstatat,?statx \
	        -e inject=?fstat,?newfstatat,?statx:signal=STOP:when=4 \
	        "$RETRY" -B api -n 2 -d 0 --budget-required "${fails[@]}"
	    wait_for traced 'stopped by SIGSTOP'
	    : >"$api"
	    ended_by CONT 7
	    ran 3 # one of them made it
	    note "retry: budget 'api': cannot be used: of another size, in .*"
	    wait_for traced SIGBUS
	removed again and again
	    export S=$api
	    start sh -c 'while [ ! -e enough ]; do rm -f "$S"; done'
	    all_run
	    : >enough
	    look_at_notes
	    [ "${#noted[@]}" -le 1 ]
	    ended
	END
}

# mounted OPTIONS SETUP: the array under runs a command where ./mnt is a tmpfs
# with these options, once SETUP is done
mounted() {
	under=("${isolate[@]}" sh -c 'mount -t tmpfs -o '"$1"' none mnt || exit 99
		'"$2"'
		exec "$@"' sh)
}

@test "every file system with room that can be written to is used, in memory or not" {
	local boot
	isolate -m
	mkdir mnt
	"${isolate[@]}" mount -t tmpfs none mnt 2>/dev/null || skip 'no right to mount here'
	mounted size=16k 'head -c 99999 /dev/zero >mnt/full 2>/dev/null'
	unusable '.*cannot write: No space left on device' --budget-dir mnt
	mounted mode=755 '"$RETRY" -B api --budget-dir mnt true
		mount -o remount,bind,ro mnt'
	unusable '.*Read-only file system' --budget-dir mnt
	# 16 kB are enough, and what is full later does not matter.
	mounted size=16k :
	fails=(sh -c 'echo >>ran
		head -c 99999 /dev/zero >mnt/full 2>/dev/null
		exit 7')
	usable --budget-dir mnt --breaker on
	# In memory the boot is not looked up, and the segment not made anew.
	boot=$(</proc/sys/kernel/random/boot_id)
	mounted mode=755 '"$RETRY" -q -B api --budget-dir mnt true
		cd mnt && sed -i "s/'"$boot"'/01234567-89ab-cdef-0123-456789abcdef/" *
		chmod 600 * && cd ..'
	fails=(sh -c 'echo >>ran
		"$RETRY" --budget-dir mnt --budget-status api --json >shown
		exit 7')
	usable --budget-dir mnt
	[[ $(<shown) == *'"successes": 1,'* ]]
}

# outdated: makes the budget api, two retries of which are used, of an earlier
# boot
outdated() {
	made 3/9 -q --budget-min 2
	: >ran
	outdate
}

@test "a segment of an earlier boot is made anew, by many at once too" {
	outdated
	many 8 "$RETRY" -B api --budget-min 6 -n 3 -d 0 "${fails[@]}"
	ran 14
	[[ $(<err) != *"retry: budget 'api': "[!e]* ]] # exhausted
	counted firsts 8
	only "${api##*/}"
	LC_ALL=C grep -qaf /proc/sys/kernel/random/boot_id "$api"
}

@test "no process waits for one that is stopped while it removes an old segment" {
	outdated
	# As another process holds it, that is about to remove the file.
	exec 8<"$api"
	flock 8
	inject getppid:delay_enter=1 # where that works, so does the other
	under=(strace -qq -o naps -e 'trace=?nanosleep,?clock_nanosleep')
	unusable 'being replaced all the time' 8<&-
	[ ! -s naps ]
	under=()
	is 69 "$RETRY" -q -B api --budget-required true 8<&-
	inject[5]='inject=?ppoll,?ppoll_time64:signal=TERM:when=1'
	for option in --budget-required --breaker=1,1s; do
		is 143 "${inject[@]}" "$RETRY" -q -B api "$option" touch began 8<&-
		[ ! -e began ]
	done
	exec 8<&-
	made 1/1
	counted firsts 1
}

@test "what does not fit the clock is not used" {
	rows row scene <<-'END'
	a segment of another time namespace
	    isolate -f --time --boottime 100000
	    under=("${isolate[@]}")
	    all_run
	    under=()
	    made=("$RETRY_BUDGET_DIR"/*) # by whom the namespace may take for another user
	    [ -e "$api" ] || mv "${made[0]}" "$api"
	    kept unusable 'of another clock'
	of one whose clock is ahead or behind, and the others go on
	    fresh
	    for shift in 100000 -1; do
	        isolate -c -f --time --boottime "$shift" # as the same user
	        under=("${isolate[@]}")
	        kept unusable 'of another clock'
	        under=()
	        usable
	    done
	counts of a time that is to come
	    export RETRY_BUDGET_WINDOW=1s
	    fresh
	    aged 3
	    made 3/3 -q
	    aged 0
	    unusable 'segment is corrupt'
	a segment that is to be made
	    fresh
	    older -1000
	    kept unusable 'of another clock'
	    required 'of another clock'
	END
}

@test "of different limits the stricter ones apply, and one line says so" {
	rows row scene <<-'END'
	the stricter of each kind
	    fresh --budget-ratio 0.5 --budget-min 2 --budget-window 30s
	    made 3/9 --budget-ratio 0.7 --budget-min 5 --budget-window 60s
	    noted 2 "retry: budget 'api': already in use with other limits; using ratio 0.5, min 2, window 30s .* exhausted, 2 of 2 retries used in 30s \(0 successes, ratio 0.5, min 2\).*"
	and another one says that the budget cannot be used any more
	    fresh --budget-min 9
	    is 7 "$RETRY" -B api --budget-min 5 -n 3 -d 0 \
	        sh -c '[ "$RETRY_ATTEMPT" -lt 2 ] || rm -rf budgets; exit 7'
	    noted 2 '.*already in use with other limits; .* cannot be used: .*; counting for this command alone'
	END
}

# boundaries CMD...: prints NAME NTH of each system call that CMD makes from
# where retry begins, its own and not its children's. In short runs those are
# left out that nobody else sees, and between which it changes nothing.
boundaries() {
	strace -o trace "$@" >/dev/null 2>&1 3>&- || :
	awk -F'[( ]' -v long="${LONG-}" '
		/^[a-z]/ {
			if (/retry-v6|budgets/)
				ours = 1
			seen[$1]++
			if (!ours || $1 == "exit_group")
				next
			if (long || $1 !~ /^(rt_sig(pending|procmask)|p?poll|.*_time64|read|close|waitid|(new)?f?stat(at|fs|x)?(64)?|fcntl(64)?|rt_sigaction)$/)
				print $1, seen[$1]
		}' trace
}

# occasion NAME: sets a stage, a new one: nobody has used the budget, somebody has, or
# all of it is used
occasion() {
	export RETRY_BUDGET_DIR=$PWD/budgets/$((++number))
	api=$RETRY_BUDGET_DIR/${api##*/}
	((number % 50 != 1)) || eval mkdir "budgets/{$number..$((number + 49))}"
	[ "$1" = first ] || fresh --budget-min 2 --budget-window 1h
	[ "$1" != denied ] || is 7 "$RETRY" -q -B api -n 3 -d 0 "${fails[@]}"
	: >ran 2>err
}

@test "at whatever call one process is stopped, no other waits for it" {
	local name nth stopped number=0 occasions=(first) scene=("$RETRY" -q -B api --budget-min 9
		--breaker '9,10s' --budget-window 1h -n 2 -d 0 false)
	halted()
	{
		traced 'stopped by SIGSTOP' || gone "$pid"
	}
	inject getppid:signal=STOP
	[ -z "${LONG-}" ] || occasions+=(found denied)
	for occasion in "${occasions[@]}"; do
		occasion "$occasion"
		boundaries "${scene[@]}" >calls
		[ "$(lines calls)" -ge 10 ]
		while read -r name nth; do
			echo "$occasion: $name $nth"
			occasion "$occasion"
			: >trace
			start strace -D -o trace -e "trace=$name" \
			    -e "inject=$name:signal=STOP:when=$nth" "${scene[@]}"
			wait_for halted
			stopped=$pid
			start "$RETRY" -B api --budget-required --breaker 9,10s \
			    --budget-window 1h true
			ended 0
			quiet
			pid=$stopped
			kill -CONT "$pid" || gone "$pid"
			ended 1
			case $occasion in
			first) counted firsts 2 successes 1 retries 1 ;;
			found) counted firsts 3 successes 1 retries 1 ;;
			denied) counted firsts 4 successes 1 retries 2 ;;
			esac
		done <calls
	done
}

# owned 'MODE OWNER' FILE: it has these
owned() {
	[ "$(exec stat -c '%a %u' "$2")" = "$1" ]
}

@test "each user has his own, or shares one in a directory with the setgid bit" {
	rows row scene <<-'END'
	others can neither read nor write it, and have their own
	    [ "$EUID" -eq 0 ] || skip 'needs root, to be somebody else'
	    chmod 1777 budgets
	    umask 0
	    fresh --budget-min 1
	    owned '600 0' "$api"
	    become "$ANN"
	    cd budgets
	    not "${under[@]}" sh -c 'true <"$0" || true >>"$0" || true <>"$0" || exec rm -f "$0"' \
	        "${api##*/}"
	    cd ..
	    is 7 "$RETRY" -q -B api -n 9 -d 0 "${fails[@]}"
	    look_into "$api"
	    before=$content
	    RETRY_BUDGET_DIR=budgets RETRY=./retry made 2/9 -q --budget-required --budget-min 1
	    only retry-v6.{0,$ANN}.api
	    look_into "$api"
	    [ "$content" = "$before" ]
	    owned "600 $ANN" "budgets/retry-v6.$ANN.api"
	    # Nor does root use a file that a user has put in place of the segment.
	    under=()
	    mv "budgets/retry-v6.$ANN.api" "$api"
	    kept unusable 'owned by another user'
	a directory with the setgid bit is shared by its group
	    shared
	    umask 077
	    RETRY=./retry
	    made 3/3 -q --budget-min 3
	    directory=shared only retry-v6.api
	    [ "$(exec stat -c '%a %u %g' shared/*)" = "660 $ANN $FRIENDS" ]
	    become "$BOB" "$FRIENDS"
	    made 2/3 --budget-required --budget-min 3
	    note '.* exhausted, 3 of 3 retries .*'
	    become "$CY"
	    made 3/3
	    note "retry: budget 'api': cannot be used: .*Permission denied, in shared; .*"
	    not "${under[@]}" cat shared/retry-v6.api
	    directory=shared only retry-v6.api
	root shares it, too, but no segment of a user, or of another mode or group, is used
	    shared
	    attempts=1
	    is 0 "${under[@]}" ./retry -B api true
	    look_into shared/retry-v6.api
	    before=$content
	    under=()
	    unusable 'owned by another user'
	    look_into shared/retry-v6.api
	    [ "$content" = "$before" ]
	    become "$ANN" "$FRIENDS"
	    chmod 666 shared/*
	    RETRY=./retry unusable 'mode is not 0660'
	    chgrp "$BOB" shared/*
	    chmod 660 shared/*
	    RETRY=./retry unusable 'of another group'
	    rm shared/*
	    under=()
	    made 3/3 --budget-min 2
	    [ "$(exec stat -c '%a %u %g' shared/*)" = "660 0 $FRIENDS" ]
	    become "$ANN" "$FRIENDS"
	    RETRY=./retry made 1/3 --budget-required
	no other directory is shared
	    become "$ANN" "$FRIENDS"
	    umask 0
	    # The mode of the directory, its owner, the name and mode of what is made.
	    makes()
	    {
	        install -d -m "$1" -o "$2" -g "$FRIENDS" "$1.$2"
	        is 0 "${under[@]}" ./retry -B api --budget-dir "$1.$2" --budget-required true
	        [ "$(exec stat -c '%n %a' "$1.$2"/*)" = "$1.$2/$3" ]
	    }
	    makes 0770 0 "retry-v6.$ANN.api 600"
	    makes 3777 0 "retry-v6.$ANN.api 600"
	    makes 2777 0 "retry-v6.$ANN.api 600"
	    makes 2770 "$BOB" "retry-v6.$ANN.api 600"
	    makes 2770 "$ANN" 'retry-v6.api 660'
	    quiet
	END
}
