#!/usr/bin/env bats
# Covers attempt/termination, sys/procfs.
# Limits: what a timeout and the deadline end, and what they leave alone.
# shellcheck disable=SC2034 # rows read it

load helper
load actor
load json

# limited STATUS [OPTION]... -- COMMAND...: $ready processes of COMMAND, or one,
# have said that they are ready, and a limit has ended all. $by is the limit, and
# $under what runs retry. Where the machine stalls the second limit is long enough.
by=-t
limited() {
	local limit count
	for limit in ${limits-0.5 4 20}; do
		: >out 2>err
		is "$1" "${under[@]}" "$RETRY" -n 1 "$by" "$limit" "${@:2}" || continue
		none_left
		count ready
		[ "$count" -lt "${ready-1}" ] || return 0
	done
	return 1
}

@test "limits end all processes where a program may have 500 kB of data" {
	[ -z "${RETRY_SAN-}" ] || skip 'the sanitizers need more'
	under=(bash -c 'ulimit -d 500; exec "$@"' bash)
	ready=2 limited 124 -- sh -c 'sh -c "echo ready; exec sleep 60" & echo ready; wait'
}

# count PATTERN: sets $found to the lines of ./out that are like this, $count to how many.
count() {
	local all line
	mapfile -t all <out
	found=()
	for line in "${all[@]}"; do # shellcheck disable=SC2053
		[[ $line != $1 ]] || found+=("$line")
	done
	count=${#found[@]}
}

@test "a limit ends the attempt and gives 124" {
	beside 'a timeout before the deadline' try status=124 ms=1000 \
	    says='attempt 1/1 timed out after *, giving up: *' -n 1 -t 1 -T 20 -- sleep 20
	beside 'the deadline before a timeout' try status=124 ms=1000 \
	    says='attempt 1/1 ended by the deadline after *, giving up: *' -n 1 -t 20 -T 1 -- sleep 20
	beside 'it is retried, with the next of the timeouts' try status=124 \
	    says='attempt 1/3 timed out after 0.1s, retrying in 0s|attempt 2/3 timed out after 0.2s, retrying in 0s|attempt 3/3 timed out after 0.2s, giving up: *' \
	    -n 3 -t 0.1,0.2s -d 0 -- sleep 20
	beside '0 is no timeout' try out='done' -n 2 -t 0.1,0 -d 0 -- \
	    sh -c '[ "$RETRY_ATTEMPT" = 2 ] || exec sleep 20; sleep 0.4; echo done'
	beside 'nor is it the first of several' try -n 2 -t 0,0.1 -d 0 -- sleep 0.4
	beside 'a command that ends in time' try status=6 -n 1 -t 20 -T 20 -k 0 -- sh -c 'exit 6'
	beside 'a command that exits 0 then' limited 124 -- "$ACTOR" listen 1 0
	beside '--success-on timeout' try says='*|ended after 1 attempt in *: succeeded' \
	    -v -n 2 -t 0.1 --success-on timeout -- sleep 20
}

@test "a limit ends a command that is still being loaded from a server that is silent" {
	isolate -m
	unserved
	local under=("${unserved[@]}")
	try status=124 says='attempt 1/1 timed out after *' -n 1 -t 0.3 gone/program
	try status=124 says='attempt 1/1 ended by the deadline after *' -n 1 -T 0.5 gone/program
}

@test "--preserve-status exits as a command that a limit ended, but never with 0" {
	local keep=--preserve-status
	beside 'a timeout' limited 7 $keep -- "$ACTOR" listen 1 7
	by=-T beside 'the deadline' limited 7 $keep -- "$ACTOR" listen 1 7
	beside 'a LIST has the limit, a hook and the report have the status' try status=143 \
	    says='*|> 143|*' report='each.end=timed-out,timed-out each.status=143,143' $keep \
	    --stop-on 143 --retry-on 124 -n 2 -d 0 -t 0.1 --on-retry 'echo $RETRY_LAST_STATUS' \
	    sleep 20
	beside 'in a delay the deadline gives 124' \
	    try status=124 $keep -n 1 -T 2 -d 9 -j none -- sh -c 'exit 124'
	beside 'so it does before an attempt' try status=124 $keep -T 0.001ms -- sleep 20
	beside 'ended by itself' try status=6 $keep -n 1 -t 20 -- sh -c 'exit 6'
	beside 'of a signal retry does not die itself' gives 0 'exited 130' \
	    "$ACTOR" how "$RETRY" $keep -q -n 1 -t 0.1 -s INT sleep 20
	beside 'nor after --idle-timeout' gives 0 'exited 143' \
	    "$ACTOR" how "$RETRY" $keep -q -n 1 --idle-timeout 0.1 sleep 20
}

# tidies OPTIONS COMMAND: a limit with these ends the code for a shell, which can tidy up
tidies() {
	limited 124 $1 -- sh -c "$2" && said tidied
}

# hears SIGNAL [OPTION]...: what a limit ends has heard this signal
hears() {
	limited 124 -k 0.2 "${@:2}" -- "$ACTOR" listen 9 3 && said "$1"
}

@test "a limit sends the signal of --signal, and KILL after --kill-after" {
	beside 'not to a command that ends before' tidies '-k 20' '
		trap "sleep 0.3; echo tidied; exit 1" TERM; sleep 20 & echo ready; wait'
	beside 'nor to what it begins only then, to tidy up' tidies '-k 10' '
		trap "sleep 0.2; sh -c \"sleep 0.3 && echo tidied\"" TERM; sleep 20 & echo ready; wait'
	beside 'by its name' hears HUP -s HUP
	beside 'by its number' hears USR1 -s 10
	beside 'KILL' limited 124 -k 20 -s KILL -- "$ACTOR" listen 9 3
	rows beside eval <<-'END'
	KILL after --kill-after
	    before=$(now)
	    limited 124 -k 0.4 -- "$ACTOR" stubborn
	    [ "$(($(now) - before))" -ge 880 ]
	    told '.* timed out after .*, giving up: attempts exhausted'
	-k 0: KILL at once
	    limited 124 -k 0 -- sh -c 'trap "" TERM; echo ready; sleep 8; echo survived'
	    not said survived
	END
}

# Two grandchildren: one ends at the signal, the other ignores it.
pair='"$ACTOR" listen 1 0 & "$ACTOR" stubborn & wait'

# tree COMMAND...: a limit ends the pair where COMMAND runs retry
tree() {
	local under=("$@") ready=2
	limited 124 -k 0.2 -- sh -c "$pair"
	said TERM
}

# ends [OPTION]... -- COMMAND...: a limit ends it, although something ignores TERM
ends() {
	limited 124 -k 0.3 "$@"
}

@test "a limit ends all that the command has started and that ignores TERM" {
	beside 'a grandchild' ends -- sh -c '"$ACTOR" stubborn & wait'
	beside 'an orphan' ends -- sh -c '("$ACTOR" stubborn & :); exec sleep 20'
	beside 'in a group of its own' ends -- bash -c 'set -m; "$ACTOR" stubborn & wait'
	beside "another thread's child" ends -- "$ACTOR" thread
	beside 'children of children of children, each of which outruns it' \
	    ends -k 0 -- "$ACTOR" chain 300
	beside 'those that TERM reaches start more' ends -k 0.2 -- "$ACTOR" crowd 100
	rows beside eval <<-'END'
	without its main thread, which looks like a zombie
	    ends -- sh -c 'echo $$ >pid; exec "$ACTOR" headless'
	    [ ! -e "/proc/$(<pid)" ]
	in a session of its own, with what it started
	    ready=2 ends -- setsid sh -c '"$ACTOR" stubborn & exec "$ACTOR" stubborn'
	in a session that is waited for, and its orphan
	    ready=2 ends -- sh -c 'setsid -w sh -c "
	        (\"\$ACTOR\" stubborn & :)
	        exec \"\$ACTOR\" stubborn"
	        true'
	END
}

@test "limits reach the tree as PID 1, and where the kernel has no pidfds for us" {
	inject pidfd_open:error=ENOSYS
	beside 'without pidfds' tree "${inject[@]}"
	isolate -p -f --mount-proc
	beside 'as PID 1' tree "${isolate[@]}"
}

# It stops itself.
stopped='trap "echo TERM; exit 0" TERM; echo ready; kill -STOP $$; sleep 20'

# in_time COMMAND...: a limit ends it in several attempts, each before KILL is
# due: a process that the signal does not reach runs until then.
in_time() {
	for _ in 1 2; do
		SECONDS=0
		is 124 "${under[@]}" "$RETRY" -q -n 1 -t 1 -k 30 -- "$@"
		((SECONDS < 30))
	done
	none_left
}

# receive COMMAND...: it hears the signal of a limit
receive() {
	limited 124 -k 20 -- "$@" && said TERM
}

@test "a limit's signal reaches the command and its grandchildren, stopped or not" {
	beside 'a stopped grandchild' receive sh -c 'sh -c "$0" & wait' "$stopped"
	beside 'a session that is waited for' receive sh -c 'setsid "$ACTOR" listen 1 0; true'
	beside 'all of a pipeline' in_time bash -c 'for i in 1 2 3; do sleep 40; done | cat | cat'
	rows beside eval <<-'END'
	each of many once, though its parent dies of it
	    ready=8 receive bash -c 'for i in {1..8}; do ("$ACTOR" listen 1 0; :) & done; wait'
	    count TERM
	    [ "$count" -eq 8 ]
	END
	# The kernel shows retry its children only at the fourth question.
	inject getdents64:error=EIO:when=1..3
	under=("${inject[@]}")
	beside 'what the first look missed' receive sh -c '"$ACTOR" listen 1 0 & wait'
	inject pidfd_open:delay_enter=300000
	under=("${inject[@]}")
	beside 'what begins between a look and the signal' in_time \
	    bash -c 'mkfifo never$$; until read -rt 0.2 <>never$$; do sleep 40 & done'
}

# bats test_tags=slow
@test "however many processes there are, a limit ends all of its own" {
	local limits='2 9 30' room=max
	{ read -r room </sys/fs/cgroup/pids.max; } 2>/dev/null || :
	[ "$room" = max ] || [ "$room" -ge 3000 ] ||
		skip "only $room processes may be here"
	# retry reads some 170 children at a time. As it reaps orphans the kernel's
	# list moves, and a look misses some.
	rows row eval <<-'END'
	behind 300 orphans
	    limited 124 -k 0.1 -- "$ACTOR" dead 300
	each of 300 gets the signal once
	    limited 124 -k 40 -- "$ACTOR" audience 300
	    said 'heard 301'
	END
}

# second COMMAND...: a limit ends the second attempt
second() {
	is 124 "${under[@]}" "$RETRY" -n 2 -d 0 -t 3 -k 0.1 -- "$@"
	told '.*2/2 timed out after .*'
}

# held [OPTION]...: a command that even KILL does not end. It is exiting, and its
# tracer stops it there, as a disk that does not answer would. Its pid is in
# ./undead, that of the tracer in ./holder.
held() {
	start "$ACTOR" fresh "$RETRY" -n 2 -d 0 -t 3 -k 0 "$@" -- sh -c '
		echo "$RETRY_ATTEMPT" >>ran
		[ "$RETRY_ATTEMPT" = 1 ] || exit 0
		echo $$ >undead
		exec "$ACTOR" stubborn'
	reached said ready
	read -r undead <undead
	"$ACTOR" hold "$undead" holding 3>&- &
	holder=$!
	echo $! >holder
	wait_for eval '[ -e holding ] || gone "$holder"'
	[ -e holding ] || exit 0 # no right to trace here
	reached told "retry: attempt 1/2: process $undead is still alive 1s after KILL"
	[ "$(lines ran)" -eq 1 ]
}

# foreign COMMAND N: retry runs as nobody. Its command is a shell with COMMAND, which
# runs ./owned N times, which becomes another user and so cannot be signalled. retry
# says so of each, and the second attempt succeeds.
foreign() {
	lend
	mv actor owned
	chown 65533 owned
	chmod u+s owned
	start "$ACTOR" as 65534 ./retry -n 2 -d 0 -t 2 -k 0.2 -- \
	    sh -c 'echo >>ran; [ "$RETRY_ATTEMPT" = 2 ] || '"$1"
	reached eval "count 'pid *'; ((count == $2))"
	for process in "${found[@]#pid }"; do
		reached told "retry: attempt 1/2: process $process cannot be signalled: Operation not permitted"
	done
	[[ $1 != exec* || $(lines ran) -eq 1 ]]
	ended 0
	[ "$(lines ran)" -eq 2 ]
	[[ $1 != exec* ]] || gone "$process"
	wait_for gone "$process"
	none_left
}

# lend: copies to ./retry and ./actor, which other users can run; they may have
# no access to the directories of the originals. All may write to ./ran.
lend() {
	cp "$RETRY" retry
	cp "$ACTOR" actor
	: >ran
	chmod a+rwx . retry actor ran
}

# bats test_tags=slow
@test "a limit spares what is not of its attempt, and waits for what it cannot end" {
	rows beside eval <<-'END'
	a daemon and its children, one of them from after the signal
	    mkfifo asked late.made
	    is 124 "$RETRY" -n 1 -t 3 -k 4 -- sh -c '
	        (setsid sh -c "echo \$\$ >daemon
	            sleep 20 & echo \$! >child
	            read -r line <asked
	            (sleep 20 & echo \$! >late)
	            echo >late.made
	            exec sleep 20" & :)
	        trap "echo >asked; read -r line <late.made
	            exec \"\$ACTOR\" stubborn" TERM
	        sleep 20 & wait'
	    said ready
	    spared daemon child late
	what a command left that ended by itself
	    is 3 "$RETRY" -n 2 -d 0 -t 20 -- sh -c '
	        sleep 20 & echo $! >"left$RETRY_ATTEMPT"; exit 3'
	    spared left1 left2
	what was there before and becomes an orphan, a child of retry, in an attempt
	    mkfifo go made
	    under=(sh -c 'exec 8<>made
	        {
	            (sleep 20 & echo $! >inner; echo >made; read -r x <go) &
	            sleep 20 & echo $! >outer; echo >made
	            read -r x <go
	        } &
	        read -r x <&8; read -r x <&8
	        exec "$@" 8<&-' sh)
	    second sh -c 'exec 9<>go; echo >&9; echo >&9; exec sleep 20'
	    spared inner outer
	what an earlier attempt left and becomes an orphan
	    mkfifo go made
	    second sh -c '
	        [ "$RETRY_ATTEMPT" = 1 ] || { exec 9<>go; echo >&9; exec sleep 20; }
	        { sleep 20 & echo $! >left; echo >made; read -r x <go; } &
	        read -r x <made; exit 1'
	    spared left
	KILL does not end it: named and waited for
	    held
	    kill -KILL "$holder"
	    ended 0
	    reads err '*still alive*'
	    [[ $(lines ran) == 2 && $said != *'still alive'*'still alive'* ]]
	KILL does not end it: abandoned at the deadline
	    held -T 6
	    ended 124
	    [ "$(lines ran)" -eq 1 ]
	    spared undead holder
	END
	is_root || skip 'needs root, to be two other users'
	cp "$ACTOR" owned
	chown 65533 owned
	chmod u+s owned
	"$ACTOR" as 65534 ./owned own 0 >owner || skip 'no set-user-ID programs here'
	beside 'foreign: named and waited for' foreign 'exec ./owned own 5' 1
	beside 'foreign, two grandchildren' foreign '{ ./owned own 5 & ./owned own 5; }' 2
	isolate -m -p -f
	"${isolate[@]}" mount -t proc -o hidepid=2 proc /proc 2>/dev/null ||
		skip 'no right to mount /proc here'
	rows beside eval <<-'END'
	hidden by /proc from all but root: ended, though nobody sees it
	    lend
	    mkfifo -m 666 told
	    is 0 "${isolate[@]}" sh -c '
	        mount -t proc -o hidepid=2 proc /proc
	        exec ./actor as 65534 ./retry -n 2 -d 0 -t 3 -k 0.2 -- sh -c "$0"' '
	        if [ "$RETRY_ATTEMPT" = 2 ]; then
	            read -r hidden <ran
	            ! kill -0 "$hidden" || echo survived
	            exit
	        fi
	        ./actor hidden >told &
	        echo $! >ran
	        read -r ready <told
	        [ -e "/proc/$!" ] || echo unseen
	        wait'
	    said unseen
	    not said survived
	    reads err '*attempt 1/2 timed out after 3s, retrying in 0s*'
	    [[ $said != *attempt*attempt* ]]
	    none_left
	END
}

# Says "overlap" where another one runs, too.
exclusive='trap "sleep 0.3 && rm running; exit 1" TERM
	set -C
	true >running || echo overlap
	sleep 20 & wait'

# overlaps_not SHELL: a limit ends two attempts of the code for a shell, one after
# the other
overlaps_not() {
	is 124 "$RETRY" -n 2 -d 0 -t 0.5 -k 20 -- sh -c "$1" "$exclusive"
	told '.*2/2 timed out .*'
	not said overlap
	none_left
}

@test "a second attempt waits until the first has ended" {
	beside 'its grandchild' overlaps_not 'sh -c "$0" & wait'
	# It ends before that child, which does not hear of the limit again.
	beside 'its child in a session of its own' overlaps_not \
	    'trap "sleep 0.1; exit 1" TERM; setsid sh -c "$0" & wait'
}

# bats test_tags=slow
@test "a deadline, a timeout and a signal end an attempt in their order" {
	under=("$ACTOR" fresh "$RETRY" -n 3 -d 0 -t 3)
	rows beside eval <<-'END'
	the deadline counts from the start
	    under=()
	    try status=124 runs=2 \
	        says='*|attempt 2 ended by the deadline after *, giving up: deadline' \
	        -T 4 -d 1 -j none -- \
	        sh -c 'echo >>ran; [ "$RETRY_ATTEMPT" = 1 ] || exec sleep 20; exit 1'
	a success before retry, which is late, looks at the clock
	    mkfifo go
	    start "$RETRY" -T 3 -- sh -c ': >ready; read -r line <go'
	    reached test -e ready
	    kill -STOP "$pid"
	    sleep 3.1
	    echo 1<>go
	    read -rd ' ' child <"/proc/$pid/task/$pid/children"
	    wait_for gone "$child"
	    ended_by CONT 0
	TERM, then a timeout
	    sent TERM 143 'said ready' -k 0.2 -- "$ACTOR" stubborn
	    told 'retry: attempt 1/3 .*, giving up: interrupted'
	    none_left
	TERM within the grace of a timeout
	    sent INT 124 'said TERM' -k 20 -- "$ACTOR" listen 2 3
	    said INT
	    told 'retry: attempt 1/3 timed out after .*, giving up: interrupted'
	    none_left
	END
}

# misled COMMAND...: in a PID namespace with the /proc of an outer one, COMMAND runs
# retry, whose limit has to spare a daemon of the attempt. What has the numbers of
# retry, of its command and of the daemon in that /proc looks like their tree.
misled() {
	mkfifo never
	cat >daemon <<-'END'
		(setsid sh -c 'trap "echo >hit" TERM; echo >began; read x <>never' &)
		exec sleep 60
	END
	cat >within <<-'END'
		echo 9 >/proc/sys/kernel/ns_last_pid
		unshare -p -f "$@" "$RETRY" -v -t 1 -n 1 -- sh daemon 2>>err &
		until [ -e began ]; do
			kill -0 "$!" || exit
			read -rt 0.01 <>never
		done
		echo 1 >/proc/sys/kernel/ns_last_pid
		(for n in {3..9}; do sleep 60 & done; wait) &
		wait %1
	END
	is 124 "${isolate[@]}" bash -m within "$@"
	[ ! -e hit ]
	told 'retry: no /proc of this namespace: limits reach the command itself only'
}

@test "under a /proc of other processes a limit signals none of them" {
	isolate -p -f -m --mount-proc
	"${isolate[@]}" sh -c 'echo 9 >/proc/sys/kernel/ns_last_pid' ||
		skip 'no right to choose the numbers of processes here'
	# retry is number 2, as is a child of number 1.
	misled sh -c '"$@"; exit "$?"' sh
}

@test "without /proc a timeout ends the command, and -v says how far it reaches" {
	[ -z "${RETRY_SAN-}" ] || skip 'the sanitizers need /proc'
	isolate -m
	local bare=("${isolate[@]}" sh -c 'mount -t tmpfs none /proc && exec "$@"' sh)
	"${bare[@]}" true 2>/dev/null || skip 'no right to cover /proc here'
	is 0 "${bare[@]}" "$RETRY" -v -n 1 -- sh -c 'echo done'
	said 'done'
	not told 'retry: no /proc.*'
	is 124 "${bare[@]}" "$RETRY" -v -n 1 -t 0.5 -k 0.2 -- "$ACTOR" stubborn
	told 'retry: no /proc of this namespace: limits reach the command itself only'
	none_left
}

@test "under faketime retry keeps the time of the machine" {
	need faketime
	[ -z "${RETRY_SAN-}" ] || skip 'the sanitizers want to be the first library'
	local then='2020-01-02 03:04:05' fails='echo >>ran; exit 7'
	rows beside eval <<-'END'
	limits and delays end although the clock of the command stands still
	    under=(timeout -s KILL 30 faketime -f "$then")
	    try status=124 ms=500 out=2020 -n 1 -t 0.5 -- sh -c 'date +%Y; exec sleep 40'
	    try status=124 ms=500 -n 1 -T 0.5 -- sleep 40
	    try status=7 ms=500 runs=2 -n 2 -d 0.5 -j none -- sh -c "$fails"
	a nested retry has the time that is left, whichever of the two is under faketime
	    for then in "$then" '+2 days'; do
	        under=()
	        try status=7 runs=2 -n 1 -T 40 -- faketime "$then" \
	            "$RETRY" -n 2 -d 0 -- sh -c "$fails"
	        under=(faketime "$then")
	        try status=7 runs=2 -n 1 -T 40 -- env -u LD_PRELOAD \
	            "$RETRY" -n 2 -d 0 -- sh -c "$fails"
	    done
	a budget is shared with those that are not under faketime
	    export RETRY_BUDGET_DIR=$PWD
	    for under in "faketime '$then'" '' "faketime '+2 days'"; do
	        eval "under=($under)"
	        try status=7 says= -B key -q -n 2 -d 0 sh -c 'exit 7'
	    done
	    "$RETRY" --budget-status key --json >now
	    has '"retries": 3, ' now
	END
}
