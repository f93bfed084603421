#!/usr/bin/env bats
# Covers attempt/termination, sys/procfs.
# Limits: what a timeout and the deadline end, and what they leave alone.

# shellcheck disable=SC2016 # what is quoted is for another shell
# shellcheck disable=SC2030,SC2031 # each test has a shell of its own
# shellcheck disable=SC2154 # start sets pid, ended sets status

load helper
load actor

setup()
{
	helper_setup
	export MARK=$BATS_TEST_TMPDIR
}

# lend: copies to ./retry and ./actor, which other users can run; they may have
# no access to the directories of the originals.
lend()
{
	cp "$RETRY" retry
	cp "$ACTOR" actor
	chmod 755 . retry actor
}

# Ends the processes that a test left alive on purpose; these files name them.
dismiss()
{
	local file
	for file; do
		kill -KILL "$(<"$file")"
	done
}

#
# What a timeout is
#

@test "a timeout ends the attempt and gives 124" {
	local before
	before=$(now)
	is 124 "$RETRY" -n 1 -t 0.3 -- sleep 20
	[ "$(($(now) - before))" -ge 280 ]
	told 'retry: attempt 1/1 timed out after .*, giving up: attempts exhausted'
	none_left "$MARK"
}

@test "a timeout is retried like any failure" {
	is 124 "$RETRY" -n 3 -t 0.1 -d 0 -- sh -c 'echo >>ran; exec sleep 20'
	[ "$(lines ran)" -eq 3 ]
	told 'retry: attempt 2/3 timed out after .*, retrying in 0s'
	none_left "$MARK"
}

@test "a command that ends in time notices nothing of its limits" {
	is 6 "$RETRY" -n 1 -t 20 -T 20 -k 0 -- sh -c 'exit 6'
	is 0 "$RETRY" -n 1 -t 20 -T 20 -- sh -c 'sleep 0.1; echo done'
	said 'done'
}

# bats test_tags=slow
@test "a command that exits 0 when it is timed out has failed" {
	is 124 "$RETRY" -n 2 -t 1.5 -d 0 -- sh -c '
		trap "echo >>bye; exit 0" TERM
		while :; do sleep 0.02; done'
	[ "$(lines bye)" -eq 2 ]
}

@test "a --success-on rule for timeouts makes a timeout a success" {
	is 0 "$RETRY" -v -n 2 -t 0.1 --success-on timeout -- sleep 20
	told 'retry: ended after 1 attempt in .*: succeeded'
}

# bats test_tags=slow
@test "--preserve-status exits as a command that a limit ended" {
	local ready='trap "exit 7" TERM; echo >ready; for n in $(seq 200); do sleep 0.1; done'
	is 7 "$RETRY" --preserve-status -n 1 -t 2 -- sh -c "$ready"
	told 'retry: attempt 1/1 timed out after 2s, giving up: attempts exhausted'
	is 7 "$RETRY" --preserve-status -T 2 -- sh -c "$ready"
	is 0 "$RETRY" --preserve-status --success-on timeout -n 1 -t 2 -- sh -c "$ready"
	is 7 "$RETRY" --preserve-status --keep-status --success-on timeout -n 1 -t 2 -- \
	    sh -c "$ready"
	is 124 "$RETRY" --preserve-status -n 1 -T 1 -d 5 -j none -- sh -c 'exit 124'
	is 6 "$RETRY" --preserve-status -n 1 -t 20 -- sh -c 'exit 6'
}

# fate HOW OPTION...: how retry with these options and words ends
fate()
{
	[ "$("$ACTOR" how "$RETRY" -q "${@:2}")" = "exited $1" ]
}

@test "--preserve-status gives 128 + n for a signal, of which retry does not die" {
	local status words
	while read -r status words; do
		# shellcheck disable=SC2086 # words
		beside "$words" fate "$status" $words
	done <<-END
		143 --preserve-status -n 1 -t 0.1 sleep 20
		130 --preserve-status -n 1 -t 0.1 -s INT sleep 20
		137 --preserve-status -n 1 -t 0.1 -k 0 sleep 20
		137 --preserve-status -n 1 -t 0.3 -k 0.3 -O $ACTOR stubborn
		143 --preserve-status -n 1 --idle-timeout 0.1 sleep 20
		143 --preserve-status -T 0.1 sleep 20
		124 -n 1 -t 0.1 sleep 20
	END
}

@test "--preserve-status makes no success of a timeout, and a list still has the timeout" {
	local bye='trap "exit 0" TERM; echo >>ran; for n in $(seq 200); do sleep 0.1; done'
	is 1 "$RETRY" --preserve-status -n 2 -d 0 -t 0.5 -- sh -c "$bye"
	[ "$(lines ran)" -eq 2 ]
	is 0 "$RETRY" --preserve-status --keep-status -n 1 -t 0.5 -- sh -c "$bye"
	is 1 "$RETRY" --preserve-status --stop-on timeout -t 0.5 -- sh -c "$bye"
	told '.*, giving up: --stop-on timeout'
	is 143 "$RETRY" --preserve-status --stop-on 143 --retry-on 124 -n 2 -d 0 -t 0.1 \
	    --on-retry 'echo $RETRY_LAST_STATUS >>last' --report report sleep 20
	[ "$(<last)" = 143 ]
	grep -q '"end": "timed-out", "status": 143' report
}

@test "without an attempt --preserve-status leaves the deadline's 124" {
	is 124 "$RETRY" --preserve-status -T 0.001ms -- sleep 20
}

@test "a timeout of 0 is no timeout" {
	is 0 "$RETRY" -n 1 -t 0 -- sh -c 'sleep 0.3; echo done'
	said 'done'
}

@test "of a list of timeouts each attempt has its own, and the last repeats" {
	is 124 "$RETRY" -n 3 -t 0.1,0.2s -d 0 -- sleep 20
	told 'retry: attempt 1/3 timed out after 0.1s, retrying in 0s'
	told 'retry: attempt 2/3 timed out after 0.2s, retrying in 0s'
	told 'retry: attempt 3/3 timed out after 0.2s, giving up: .*'
	none_left "$MARK"
}

@test "in a list of timeouts 0 gives its attempt no timeout" {
	is 0 "$RETRY" -n 2 -t 0.1,0 -d 0 -- sh -c '
		[ "$RETRY_ATTEMPT" = 2 ] || exec sleep 20
		sleep 0.4; echo done'
	said 'done'
	is 0 "$RETRY" -n 2 -t 0,0.1 -d 0 -- sh -c 'sleep 0.4'
}

@test "a command that ignores TERM is killed after --kill-after, with status 124" {
	local before
	before=$(now)
	is 124 "$RETRY" -n 1 -t 0.3 -k 0.4 -- "$ACTOR" stubborn
	[ "$(($(now) - before))" -ge 680 ]
	told '.* timed out after .*, giving up: attempts exhausted'
	none_left "$MARK"
}

@test "a command that ends within --kill-after is not killed" {
	is 124 "$RETRY" -n 1 -t 0.5 -k 20 -- sh -c '
		trap "sleep 0.3; echo tidied; exit 1" TERM
		while :; do sleep 0.02; done'
	said tidied
}

@test "a --kill-after of 0 kills at once" {
	is 124 "$RETRY" -n 1 -t 0.5 -k 0 -- sh -c '
		trap "" TERM
		sleep 2
		echo survived'
	none_left "$MARK"
	run ! said survived
}

sends()
{
	is 124 "$RETRY" -n 1 -t 0.5 -k 0.2 -s "$1" -- "$ACTOR" listen 9 3
	[ -z "$2" ] || [ "$(sed -n 2p out)" = "$2" ]
}

@test "a limit sends the signal of --signal" {
	local name as
	while read -r name as; do
		beside "$name" sends "$name" "$as"
	done <<-END
		HUP HUP
		QUIT QUIT
		SIGUSR2 USR2
		10 USR1
		KILL
	END
}

#
# Which processes a limit reaches
#

# ended_with_it N OPTION... -- COMMAND...: N processes of COMMAND said that they
# were ready, and a limit has ended all
ended_with_it()
{
	local ready=$1
	shift
	is 124 "$RETRY" -n 1 "$@"
	[ "$(grep -cx ready out)" -eq "$ready" ]
	none_left "$MARK"
}

stopped_grandchild='sh -c "trap \"echo heard; exit 0\" TERM
	$0
	while :; do sleep 0.02; done" &
wait'

# heard_by COMMAND...: what the limit ends has heard its signal, in time
heard_by()
{
	is 124 "$RETRY" -n 1 -t 0.5 -k 20 -- "$@"
	said heard
	none_left "$MARK"
}

headless()
{
	is 124 "$RETRY" -n 1 -t 0.5 -k 0.3 -- sh -c "$1"
	said ready
	# A process without its main thread looks like a zombie.
	[ ! -e "/proc/$(<pid)" ]
}

@test "a limit ends all that the command has started and that ignores TERM" {
	local some=(-t 0.5 -k 0.3 --)
	beside 'a grandchild' ended_with_it 1 "${some[@]}" \
		sh -c '"$ACTOR" stubborn & wait'
	beside 'an orphan' ended_with_it 1 "${some[@]}" \
		sh -c '("$ACTOR" stubborn & :); exec sleep 20'
	beside 'in a group of its own' ended_with_it 1 "${some[@]}" \
		bash -c 'set -m; "$ACTOR" stubborn & wait'
	beside 'in a session of its own, with what it started' \
		ended_with_it 2 "${some[@]}" \
		setsid sh -c '"$ACTOR" stubborn & exec "$ACTOR" stubborn'
	beside 'in a session that is waited for, and its orphan' \
		ended_with_it 2 "${some[@]}" sh -c '
			setsid -w sh -c "(\"\$ACTOR\" stubborn & :)
				exec \"\$ACTOR\" stubborn"
			true'
	beside 'a session within a session' ended_with_it 2 -t 1 -k 0.3 -- sh -c '
		setsid -w sh -c "\"\$ACTOR\" stubborn &
			setsid -w sh -c \"\\\"\\\$ACTOR\\\" stubborn; true\"
			true"
		true'
	beside 'after another program' ended_with_it 1 "${some[@]}" \
		sh -c 'exec sh -c "exec env OTHER=1 \"$ACTOR\" stubborn"'
	beside "another thread's child" ended_with_it 1 "${some[@]}" "$ACTOR" thread
	beside 'a nested retry' ended_with_it 1 "${some[@]}" \
		"$RETRY" -n 1 -t 60 -- "$ACTOR" stubborn
	beside 'without its main thread' \
		headless 'echo $$ >pid; exec "$ACTOR" headless'
	beside 'a grandchild without its main thread' \
		headless '"$ACTOR" headless & echo $! >pid; wait'
	beside 'by the deadline' ended_with_it 2 -T 0.5 -k 0.3 -- \
		sh -c '"$ACTOR" stubborn & exec "$ACTOR" stubborn'
}

@test "a limit's signal reaches the command and its grandchildren, stopped or not" {
	beside 'a stopped command' heard_by sh -c '
		trap "echo heard; exit 0" TERM
		kill -STOP $$
		while :; do sleep 0.02; done'
	beside 'a grandchild' heard_by sh -c "$stopped_grandchild" :
	beside 'a stopped grandchild' heard_by \
		sh -c "$stopped_grandchild" 'kill -STOP \$\$'
}

@test "a limit ends processes that start others as they end" {
	row 'children of children of children' \
		ended_with_it 1 -t 0.5 -k 0.2 -- "$ACTOR" chain 300
	row 'each outruns TERM' ended_with_it 1 -t 0.5 -k 0 -- "$ACTOR" chain 300
	is 124 "$RETRY" -n 1 -t 1 -k 0.2 -- "$ACTOR" crowd 100
	said ready
	none_left "$MARK"
}

# in_time COMMAND...: a limit ends it in several attempts, each before KILL is
# due: a process that the signal does not reach runs until then.
in_time()
{
	local before
	before=$(now)
	for _ in {1..10}; do
		is 124 "$RETRY" -q -n 1 -t 0.15 -k 30 -- "$@"
		[ "$(($(now) - before))" -lt 30000 ]
	done
	none_left "$MARK"
}

@test "the signal reaches all that make -j has started" {
	printf '%s\n' 'all: a b c d e f' \
	    'a b c d e f: ; @sleep 40; true' >Makefile
	in_time env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -j6
}

@test "the signal reaches all of a pipeline" {
	in_time bash -c 'for i in 1 2 3; do sleep 40; done | cat | cat'
}

# bats test_tags=slow
@test "each of many processes gets the signal once, though its parent dies of it" {
	is 124 "$RETRY" -n 1 -t 2 -k 20 -- bash -c '
		for i in {1..20}; do
			("$ACTOR" listen 1 0; :) &
		done
		wait'
	[ "$(grep -cx ready out)" -eq 20 ]
	[ "$(grep -cx TERM out)" -eq 20 ]
	none_left "$MARK"
}

# Two grandchildren: one ends at the signal, the other ignores it.
pair='"$ACTOR" listen 1 0 & "$ACTOR" stubborn & wait'

# tree COMMAND...: a limit ends the pair where COMMAND runs retry
tree()
{
	is 124 "$@" "$RETRY" -n 1 -t 0.5 -k 0.2 -- sh -c "$pair"
	[ "$(grep -cx ready out)" -eq 2 ]
	said TERM
	none_left "$MARK"
}

@test "limits reach the tree where the kernel has no pidfds for us" {
	local call error
	for call in pidfd_open pidfd_send_signal; do
		for error in ENOSYS EPERM; do
			inject "$call:error=$error"
			beside "$call $error" tree "${inject[@]}"
		done
	done
}

# scarce N COMMAND...: COMMAND may have N descriptors, of which three are open.
scarce()
(
	exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&-
	ulimit -n "$1"
	shift
	exec "$@"
)

alone()
{
	is 124 scarce "$1" "$RETRY" -n 1 -t 0.5 -k 0.2 -- "$ACTOR" stubborn
	said ready
	run ! told '.* is still alive .*'
	none_left "$MARK"
}

@test "limits reach the tree where retry may open hardly any descriptor" {
	local most
	for most in 7 8 9; do
		beside "$most" tree scarce "$most"
	done
	# None is left to read /proc.
	for most in 5 6; do
		beside "$most: the command" alone "$most"
	done
}

@test "processes that /proc hides from all but root are ended too" {
	[ "$(id -u)" -eq 0 ] || skip 'needs root, to be somebody else'
	isolate -m -p -f
	"${isolate[@]}" mount -t proc -o hidepid=2 proc /proc 2>/dev/null ||
		skip 'no right to mount /proc here'
	lend
	touch process
	chmod 666 process
	cat >./command <<-'END'
		if [ "$RETRY_ATTEMPT" = 2 ]; then
			! kill -0 "$(cat process)" || echo survived
			exit
		fi
		./actor hidden &
		echo $! >process
		for i in $(seq 500); do
			! grep -qx ready out || break
			sleep 0.02
		done
		[ -e "/proc/$!" ] || echo unseen
		wait
	END
	is 0 "${isolate[@]}" sh -c '
		mount -t proc -o hidepid=2 proc /proc
		./actor as 65534 ./retry -n 2 -d 0 -t 1 -k 0.2 -- sh command'
	said unseen
	run ! said survived
	diff - <(grep ^retry: err) <<-'END'
		retry: attempt 1/2 timed out after 1s, retrying in 0s
	END
	none_left "$MARK"
}

# A parent that waits for a child in a session of its own.
waiting='import subprocess, sys
subprocess.run(sys.argv[1:], start_new_session=True)'

@test "a child in a session of its own is ended where its parent waits for it" {
	is 124 "$RETRY" -n 2 -d 0 -t 0.5 -k 20 -- "$PYTHON" -IS -c "$waiting" \
	    sh -c 'mkdir running 2>/dev/null || echo overlap
		trap "rmdir running; echo heard; exit" TERM
		while :; do sleep 0.02; done'
	[ "$(grep -cx heard out)" -eq 2 ]
	run ! said overlap
	none_left "$MARK"
}

# bats test_tags=slow
@test "a process that lives behind 2500 zombies is ended" {
	local parent
	for parent in mourned buried; do
		rm -f out
		is 124 "$RETRY" -n 1 -t 2 -k 0.1 -- \
		    "$ACTOR" dead 2500 "$parent"
		said ready
		none_left "$MARK"
	done
}

# bats test_tags=slow
@test "however many processes there are, each gets the signal once" {
	is 124 "$RETRY" -n 1 -t 2 -k 10 -- "$ACTOR" audience 1500
	said ready
	said 'heard 1501'
	none_left "$MARK"
}

# bats test_tags=slow
@test "however many children there were before, a limit spares all of them" {
	start sh -c 'i=0
		while [ $((i += 1)) -le 1100 ]; do sleep 30 & done
		exec "$@"' sh "$RETRY" -n 1 -t 0.2 -- sleep 30
	ended
	[ "$status" -eq 124 ]
	local mark=$MARK
	unset MARK # or grep and wc would be found, too
	spared=$(grep -lszxF "MARK=$mark" /proc/[0-9]*/environ | wc -l)
	kill -KILL -- "-$pid"
	echo "$spared"
	[ "$spared" -eq 1100 ]
}

@test "what an attempt begins to tidy up is not signalled" {
	is 124 "$RETRY" -n 1 -t 0.5 -k 10 -- sh -c '
		trap "sleep 0.2; sh -c \"trap : TERM; sleep 0.3; echo tidied\"" TERM
		while :; do sleep 0.1; done & wait; kill $!'
	said tidied
}

@test "a process that the first look missed gets the signal in the grace" {
	# The kernel shows retry its children only at the fourth question.
	inject getdents64:error=EIO:when=1..3
	is 124 "${inject[@]}" "$RETRY" -n 1 -t 0.5 -k 10 -- \
	    sh -c '"$ACTOR" listen 1 0 & wait'
	said TERM
}

#
# Which processes a limit spares
#

# spared FILE...: the processes that these files name live on; then they end
spared()
{
	local file
	for file; do
		run ! gone "$(<"$file")"
	done
	dismiss "$@"
	wait_for none_left "$MARK"
}

before_it()
{
	is 124 sh -c '
		sh -c "sleep 20 & echo \$! >inner; wait" & echo $! >outer
		until [ -s inner ]; do sleep 0.02; done
		exec "$RETRY" -n 1 -t 0.3 -k 0.1 -- sleep 20'
	told '.* timed out after .*'
	spared outer inner
}

daemon()
{
	is 124 "$RETRY" -n 1 -t 0.5 -k 0.1 -- sh -c '
		(setsid sh -c "echo \$\$ >daemon; exec sleep 20" & :)
		until [ -s daemon ]; do sleep 0.02; done
		exec sleep 20'
	told '.* timed out after .*'
	spared daemon
}

# It has a child, and after the signal another.
fertile()
{
	is 124 "$RETRY" -n 1 -t 0.5 -k 1 -- sh -c '
		(setsid sh -c "echo \$\$ >daemon
			sleep 20 & echo \$! >child
			for i in \$(seq 100); do
				[ ! -e asked ] || break
				sleep 0.02
			done
			(sleep 20 & echo \$! >late)
			exec sleep 20" & :)
		trap "touch asked" TERM
		until [ -s late ]; do sleep 0.02; done
		exec "$ACTOR" stubborn'
	said ready
	spared daemon child late
}

by_itself()
{
	is 3 "$RETRY" -n 2 -d 0 -t 20 -- sh -c '
		sleep 20 &
		echo $! >"left$RETRY_ATTEMPT"
		exit 3'
	spared left1 left2
}

earlier()
{
	is 124 "$RETRY" -n 2 -d 0 -t 0.4 -k 0.1 -- sh -c '
		[ "$RETRY_ATTEMPT" = 1 ] || exec sleep 20
		sleep 20 &
		echo $! >left
		exit 3'
	told '.*2/2 timed out after .*'
	spared left
}

# For a shell: waits until this file is there and not empty, but not for ever.
awaits='await() {
	for i in $(seq 500); do [ ! -s "$1" ] || break; sleep 0.02; done
}'

# Two processes that were there before become orphans, and so children of retry,
# during an attempt.
orphan_of_before()
{
	is 124 sh -c "$awaits"'
		{
			(
				sleep 20 & echo $! >inner
				await go
			) &
			sleep 20 & echo $! >outer
			await go
		} &
		await inner
		await outer
		exec "$RETRY" -n 3 -d 0 -t 0.5 -k 0.1 -- \
		    sh -c "echo >go; exec sleep 20"'
	told '.*3/3 timed out after .*'
	spared inner outer
}

orphan_of_earlier()
{
	is 124 "$RETRY" -n 2 -d 0 -t 1 -k 0.1 -- sh -c "$awaits"'
		if [ "$RETRY_ATTEMPT" = 2 ]; then
			echo >go
			exec sleep 20
		fi
		{
			sleep 20 & echo $! >left
			await go
		} &
		await left
		exit 1'
	told '.*2/2 timed out after .*'
	spared left
}

@test "a limit spares what is not of its attempt" {
	beside 'what a shell started before it became retry' before_it
	beside 'a daemon that left both sessions' daemon
	beside 'a daemon and its children, even later ones' fertile
	beside 'what a command left that ended by itself' by_itself
	beside 'what an earlier attempt left' earlier
	beside 'an orphan from before' orphan_of_before
	beside 'an orphan from an earlier attempt' orphan_of_earlier
}

@test "retry does not wait for a process that has its stderr open" {
	is 0 "$RETRY" -t 20 -- sh -c 'sleep 20 & echo $! >left'
	run ! gone "$(<left)"
	dismiss left
}

#
# Attempts never overlap
#

@test "a second attempt waits until the first has ended" {
	is 124 "$RETRY" -n 2 -d 0 -t 0.5 -k 20 -- sh -c '
		mkdir running 2>/dev/null || echo overlap
		trap "sleep 0.3; rmdir running; exit 1" TERM
		while :; do sleep 0.02; done'
	[ "$(grep -c 'timed out' err)" -eq 2 ]
	run ! said overlap
}

@test "a second attempt waits until the first one's grandchild has ended" {
	is 124 "$RETRY" -n 2 -d 0 -t 0.5 -k 20 -- sh -c '
		mkdir running 2>/dev/null || echo overlap
		sh -c "
			trap \"sleep 0.3; rmdir running; exit 1\" TERM
			while :; do sleep 0.02; done" &
		wait'
	[ "$(grep -c 'timed out' err)" -eq 2 ]
	run ! said overlap
	none_left "$MARK"
}

# held [OPTION]...: a command that even KILL does not end. It is exiting, and its
# tracer stops it there, as a disk that does not answer would. Its pid is in
# ./undead, that of the tracer in ./holder.
held()
{
	start "$RETRY" -n 2 -d 0 -t 1 -k 0 "$@" -- sh -c '
		echo "$RETRY_ATTEMPT" >>ran
		[ "$RETRY_ATTEMPT" = 1 ] || exit 0
		echo $$ >undead
		exec "$ACTOR" stubborn'
	reached said ready
	"$ACTOR" hold "$(<undead)" holding 3>&- &
	echo $! >holder
	wait_for eval '[ -e holding ] || gone "$(<holder)"'
	[ -e holding ] || skip 'no right to trace here'
}

# bats test_tags=slow
@test "a process that KILL does not end is named, and no attempt begins beside it" {
	held
	reached told "retry: attempt 1/2: process $(<undead) is still alive 1s after KILL"
	sleep 0.3
	[ "$(lines ran)" -eq 1 ]
	dismiss holder
	ended
	[ "$status" -eq 0 ]
	[ "$(lines ran)" -eq 2 ]
	[ "$(grep -c 'still alive' err)" -eq 1 ]
}

# bats test_tags=slow
@test "a process that KILL does not end is abandoned after the deadline" {
	held -T 3
	reached told "retry: attempt 1/2: process $(<undead) is still alive 1s after KILL"
	ended
	[ "$status" -eq 124 ]
	[ "$(lines ran)" -eq 1 ]
	run ! gone "$(<undead)"
	dismiss holder
	wait_for none_left "$MARK"
}

# bats test_tags=slow
@test "TERM reaches a retry that waits for a process that KILL does not end" {
	held
	reached told "retry: attempt 1/2: process .* is still alive 1s after KILL"
	kill -TERM "$pid"
	dismiss holder
	ended
	[ "$status" -ne 0 ]
	[ "$(lines ran)" -eq 1 ]
	told '.*giving up: interrupted'
}

# foreign COMMAND [OPTION]...: retry runs as nobody. Its command is a shell with
# COMMAND, which runs ./owned, which becomes another user.
foreign()
{
	local command=$1
	shift
	[ "$(id -u)" -eq 0 ] || skip 'needs root, to be two other users'
	lend
	mv actor owned
	chown 65533 owned
	chmod u+s owned
	"$ACTOR" as 65534 ./owned own 0 >owner
	grep -q '^pid' owner || skip 'no set-user-ID programs here'
	touch ran
	chmod 666 ran
	start "$ACTOR" as 65534 ./retry -n 2 -d 0 -t 0.3 -k 0.2 "$@" -- \
	    sh -c 'echo >>ran; [ "$RETRY_ATTEMPT" = 2 ] || '"$command"
}

# bats test_tags=slow
@test "a process that cannot be signalled is named and waited for" {
	local process
	foreign 'exec ./owned own 3'
	reached grep -q ^pid out
	process=$(sed -n 's/^pid //p' out)
	reached told "retry: attempt 1/2: process $process cannot be signalled: Operation not permitted"
	[ "$(lines ran)" -eq 1 ]
	run ! gone "$process"
	ended
	[ "$status" -eq 0 ]
	gone "$process"
	[ "$(lines ran)" -eq 2 ]
	told 'retry: attempt 1/2 timed out after .*, retrying in 0s'
}

# bats test_tags=slow
@test "a process that cannot be signalled is abandoned after the deadline" {
	foreign 'exec ./owned own 3' -T 1
	reached grep -q ^pid out
	ended
	[ "$status" -eq 124 ]
	[ "$(lines ran)" -eq 1 ]
	told 'retry: attempt 1/2: process .* cannot be signalled: .*'
	wait_for none_left "$MARK"
}

@test "a grandchild that cannot be signalled is named too" {
	local process
	foreign './owned own 3'
	reached grep -q ^pid out
	process=$(sed -n 's/^pid //p' out)
	reached told "retry: attempt 1/2: process $process cannot be signalled: Operation not permitted"
	ended
	[ "$status" -eq 0 ]
	[ "$(lines ran)" -eq 2 ]
}

#
# The deadline
#

@test "the deadline ends an attempt in flight and gives 124" {
	local before
	before=$(now)
	is 124 "$RETRY" -T 0.3 -- sleep 20
	[ "$(($(now) - before))" -ge 280 ]
	told 'retry: attempt 1 ended by the deadline after .*, giving up: deadline'
	none_left "$MARK"
}

@test "the deadline counts from the start, not from the attempt" {
	is 124 "$RETRY" -T 0.8 -d 0.3 -j none -- sh -c '
		echo >>ran
		[ "$RETRY_ATTEMPT" = 1 ] || exec sleep 20
		exit 1'
	[ "$(lines ran)" -eq 2 ]
	told 'retry: attempt 2 ended by the deadline after .*, giving up: deadline'
}

@test "the lesser of timeout and deadline counts" {
	is 124 "$RETRY" -n 1 -t 0.2 -T 20 -- sleep 20
	told '.* timed out after .*, giving up: attempts exhausted'
	is 124 "$RETRY" -n 1 -t 20 -T 0.2 -- sleep 20
	told '.* ended by the deadline after .*'
}

@test "a command that exited 0 before retry looked at the clock has succeeded" {
	start "$RETRY" -T 1 -- sh -c '
		touch ready
		until [ -e go ]; do sleep 0.02; done
		touch gone'
	reached test -e ready
	kill -STOP "$pid"
	sleep 1.1
	touch go
	wait_for test -e gone
	sleep 0.1 # for the shell to exit
	kill -CONT "$pid"
	ended
	[ "$status" -eq 0 ]
}

#
# Limits and signals
#

@test "TERM, then a timeout: interrupted, and no second attempt" {
	start "$ACTOR" fresh "$RETRY" -n 3 -d 0 -t 1 -k 0.2 -- "$ACTOR" stubborn
	reached said ready
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	told 'retry: attempt 1/3 .*, giving up: interrupted'
	none_left "$MARK"
}

# bats test_tags=slow
@test "TERM within the grace of a timeout: 124, and no second attempt" {
	start "$ACTOR" fresh "$RETRY" -n 3 -d 0 -t 0.5 -k 1 -- "$ACTOR" listen 9 3
	reached said TERM
	kill -INT "$pid"
	ended
	[ "$status" -eq 124 ]
	said INT
	told 'retry: attempt 1/3 timed out after .*, giving up: interrupted'
}

# bats test_tags=slow
@test "a limit as PID 1 ends the tree" {
	isolate -p -f --mount-proc
	is 124 "${isolate[@]}" "$RETRY" -n 2 -d 0 -t 0.5 -k 0.3 -- \
	    sh -c 'mkdir running 2>/dev/null || echo overlap
		("$ACTOR" stubborn & :)
		trap "rmdir running; exit" TERM
		while :; do sleep 0.02; done'
	[ "$(grep -cx ready out)" -eq 2 ]
	run ! said overlap
}

#
# Without /proc
#

# bare COMMAND...: COMMAND with an empty directory where /proc was.
bare()
{
	[ -z "${RETRY_SAN-}" ] || skip 'the sanitizers need /proc'
	isolate -m
	"${isolate[@]}" sh -c 'mount -t tmpfs none /proc' 2>/dev/null ||
		skip 'no right to cover /proc here'
	start "${isolate[@]}" sh -c 'mount -t tmpfs none /proc; exec "$@"' sh "$@"
	ended
}

@test "without /proc a timeout ends the command, and -v says how far it reaches" {
	bare "$RETRY" -v -n 1 -t 0.5 -k 0.2 -- "$ACTOR" stubborn
	[ "$status" -eq 124 ]
	told 'retry: no /proc: limits reach the command itself only'
	none_left "$MARK"
}

@test "without /proc and without limits retry says nothing" {
	bare "$RETRY" -v -n 1 -- sh -c 'echo done'
	[ "$status" -eq 0 ]
	said 'done'
	run ! told 'retry: no /proc.*'
}
