#!/usr/bin/env bats
# Covers attempt/spawn, attempt/termination.
# On a terminal: keys, job control, hang-up.

# shellcheck disable=SC2016 # what is quoted is for another shell
# shellcheck disable=SC2030,SC2031 # each test has a shell of its own
# shellcheck disable=SC1003 # a backslash is a key

load helper
load actor

setup()
{
	helper_setup
	export MARK=$BATS_TEST_TMPDIR HOME=$BATS_TEST_TMPDIR HISTFILE=
}

# times N REGEX: N lines of ./out match REGEX as a whole, but for the echo of a
# key before them.
times()
{
	[ "$(grep -cxE -e "(\^[A-Z\\\\])*$2" out)" -eq "$1" ] || {
		echo "not $1 times: $2"
		cat -A out
		return 1
	} >&2
}

# An interactive shell.
person=(bash --norc --noprofile --noediting -i)
prompt='see:person> '
export PS1='person> '

@test "one Ctrl-C gives the command one SIGINT, and there is no retry" {
	pty 3 see:ready 'type:^C' -- \
	    "$RETRY" -v -d 0 -- "$ACTOR" listen 1 3
	times 1 INT
	times 1 ready
	times 1 'retry: attempt 1/5 failed \(exit 3\), giving up: interrupted'
}

@test "one Ctrl-C below a shell gives the command one SIGINT" {
	pty 3 see:ready 'type:^C' -- \
	    bash -c '"$RETRY" -d 0 -- "$ACTOR" listen 1 3; exit "$?"'
	times 1 INT
	times 1 ready
}

@test "two Ctrl-Cs give the command two" {
	pty 3 see:ready 'type:^C' see:INT 'type:^C' see:INT -- \
	    "$RETRY" -d 0 -- "$ACTOR" listen 2 3
	times 2 INT
}

@test "Ctrl-C gives a grandchild one SIGINT" {
	pty 3 see:ready 'type:^C' -- \
	    "$RETRY" -d 0 -- bash -c 'trap : INT; "$ACTOR" listen 1 3'
	times 1 INT
}

@test "a shell loop around retry stops at Ctrl-C" {
	pty 130 see:ready 'type:^C' -- bash -c '
		for i in 1 2 3; do
			"$RETRY" -d 0 -- sh -c "echo ready; exec sleep 20"
			echo next
		done
		echo after'
	times 1 ready
	times 0 '(next|after)'
}

@test "a shell loop around retry stops at Ctrl-C in a delay" {
	pty 130 see:retrying 'type:^C' -- bash -c '
		for i in 1 2 3; do
			"$RETRY" -d 60 -j none -- false
			echo next
		done
		echo after'
	times 0 '(next|after)'
}

@test "a command that takes Ctrl-C for a success lets the loop go on" {
	pty 0 see:ready 'type:^C' see:next see:ready 'type:^C' see:next -- \
	    bash -c '
		for i in 1 2; do
			"$RETRY" -- "$ACTOR" listen 1 0
			echo next
		done'
	times 2 INT
	times 2 next
}

@test "Ctrl-\\ ends the command and retry by SIGQUIT, and there is no retry" {
	pty 0 see:ready 'type:^\' see:killed -- \
	    "$ACTOR" ignoring QUIT "$ACTOR" how "$ACTOR" fresh \
	    "$RETRY" -d 0 -- sh -c 'echo ready; exec sleep 20'
	times 1 'killed QUIT'
	times 1 ready
	times 1 'retry: attempt 1/5 killed by SIGQUIT, giving up: interrupted'
}

@test "one Ctrl-\\ gives the command one SIGQUIT" {
	pty 3 see:ready 'type:^\' -- "$RETRY" -d 0 -- "$ACTOR" listen 1 3
	times 1 QUIT
}

@test "a new window size gives the command one SIGWINCH" {
	pty 0 see:ready size:33x99 -- "$RETRY" -- "$ACTOR" listen 1 0
	times 1 WINCH
}

@test "Ctrl-Z stops the job, and fg continues it" {
	pty 5 "$prompt" \
	    'type:"$RETRY" -t 30 -- sh -c "echo read\y; read x; echo got:\$x"^M' \
	    next:ready 'type:^Z' see:Stopped "$prompt" \
	    'type:fg^M' see:sh 'type:hello^M' see:got:hello "$prompt" \
	    'type:exit 5^M' -- "${person[@]}"
}

@test "Ctrl-Z stops a delay, and fg continues it" {
	pty 5 "$prompt" \
	    'type:"$RETRY" -d 1s -j none -- sh -c "test \$RETRY_ATTEMPT = 2"; echo status:$?^M' \
	    next:retrying 'type:^Z' see:Stopped "$prompt" \
	    'type:fg^M' "$prompt" 'type:exit 5^M' -- "${person[@]}"
	times 1 'retry: attempt 1/5 failed .*'
	times 0 'retry: attempt 2/4 .*'
}

# bats test_tags=slow
@test "the time for which Ctrl-Z stopped a job does not count for the timeout" {
	pty 5 "$prompt" \
	    'type:"$RETRY" -n 1 -t 2 -- sh -c "echo read\y; read x; echo got:\$x"^M' \
	    next:ready 'type:^Z' see:Stopped "$prompt" more:2.5 \
	    'type:fg^M' see:sh more:0.1 'type:hello^M' see:got:hello \
	    "$prompt" 'type:exit 5^M' -- "${person[@]}"
	times 0 'retry: .*'
}

# resumed STOP OPTION...: an interactive shell runs a command that stops itself by
# STOP, and shows a prompt; fg continues the command, which ends with 4.
resumed()
{
	local stop=$1
	shift
	pty 4 "$prompt" \
	    "type:\"\$RETRY\" $* -- sh -c \"echo read\y; $stop; echo resum\ed; exit 4\"^M" \
	    next:ready see:Stopped "$prompt" \
	    'type:fg^M' see:resumed "$prompt" 'type:exit $?^M' -- "${person[@]}"
}

@test "where a command stops itself the shell has its prompt, and fg continues it" {
	local name
	for name in TSTP STOP TTIN TTOU; do
		resumed "kill -$name \\\$\\\$" -n 1
		resumed "kill -$name \\\$\\\$" -n 1 -t 30
	done
}

@test "where another process stops a command the shell has its prompt" {
	pty 4 "$prompt" \
	    'type:"$RETRY" -n 1 -- sh -c "(sleep .2; kill -STOP \$\$) & wait; echo resum\ed; exit 4"^M' \
	    next:Stopped "$prompt" \
	    'type:fg^M' see:resumed "$prompt" 'type:exit $?^M' -- "${person[@]}"
}

# bats test_tags=slow
@test "the time for which a command has stopped itself does not count for the timeout" {
	pty 4 "$prompt" \
	    'type:"$RETRY" -n 1 -t 1 -- sh -c "kill -TSTP \$\$; exit 4"^M' \
	    next:Stopped "$prompt" more:1.5 \
	    'type:fg^M' "$prompt" 'type:exit $?^M' -- "${person[@]}"
	times 0 'retry: .*timed out.*'
}

@test "CONT to retry alone continues a command that has stopped itself" {
	pty 5 "$prompt" \
	    'type:"$RETRY" -n 1 -- sh -c "kill -TSTP \$\$; echo resum\ed; exit 4"^M' \
	    next:Stopped "$prompt" 'type:kill -CONT $(jobs -p)^M' \
	    see:resumed see:exhausted 'type:exit 5^M' -- "${person[@]}"
}

# bats test_tags=slow
@test "a command that stops itself below a script is ended by its limit" {
	printf 'all:\n\t@"$$RETRY" -n 1 -t 0.5 -- sh -c "kill -STOP \\$$\\$$; sleep 20"\n' \
	    >Makefile
	pty 5 "$prompt" \
	    'type:sh -c "\"\$RETRY\" -n 1 -t .5 -- sh -c \"kill -STOP \\\$\\\$; sleep 20\"; echo en\ded"^M' \
	    see:timed see:ended "$prompt" \
	    'type:env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make; echo en\ded^M' \
	    see:timed see:ended "$prompt" 'type:exit 5^M' -- "${person[@]}"
	times 0 '.*Stopped.*'
}

@test "a command that stops itself in the background is ended by its limit" {
	pty 5 "$prompt" \
	    'type:"$RETRY" -n 1 -t .5 -- sh -c "kill -STOP \$\$; sleep 20" & wait^M' \
	    see:timed "$prompt" 'type:exit 5^M' -- "${person[@]}"
	times 0 '.*Stopped.*'
}

@test "a command that stops itself without any job control is ended by its limit" {
	pty 124 see:timed -- "$RETRY" -n 1 -t 0.5 -- \
	    sh -c 'kill -STOP $$; exec sleep 20'
	pty 124 see:timed -- sh -c '"$RETRY" -n 1 -t 0.5 -- \
		sh -c "kill -STOP \$\$; sleep 20"; exit "$?"'
}

@test "Ctrl-Z does not stop a job whose command ignores it, as without retry" {
	pty 5 "$prompt" \
	    'type:"$RETRY" -n 1 -- sh -c "trap \"\" TSTP; echo read\y; read x; echo got:\$x"^M' \
	    next:ready 'type:^Z' more:0.2 'type:hello^M' see:got:hello \
	    "$prompt" 'type:exit 5^M' -- "${person[@]}"
	times 0 '.*Stopped.*'
}

@test "Ctrl-Z stops a whole pipeline, and bg and fg continue it" {
	pty 5 "$prompt" \
	    'type:echo in | "$RETRY" -t 30 -n 2 -d 0 -- sh -c "echo read\y; until [ -e go ]; do sleep .02; done; echo done" | cat^M' \
	    next:ready 'type:^Z' see:Stopped "$prompt" 'type:bg^M' "$prompt" \
	    'type:fg^M' see:cat more:0.1 'type:^Z' see:Stopped "$prompt" \
	    'type:touch go; fg^M' see:cat "$prompt" 'type:exit 5^M' -- "${person[@]}"
	times 1 'done'
}

@test "Ctrl-C after Ctrl-Z and fg ends the job" {
	pty 5 "$prompt" \
	    'type:"$RETRY" -d 0 -- sh -c "echo read\y; exec sleep 20"^M' \
	    next:ready 'type:^Z' see:Stopped "$prompt" \
	    'type:fg^M' see:sh more:0.1 'type:^C' "$prompt" \
	    'type:exit 5^M' -- "${person[@]}"
	none_left "$MARK"
}

@test "a background job that reads is stopped as a whole, and fg continues it" {
	pty 5 "$prompt" \
	    'type:"$RETRY" -t 30 -- sh -c "read x; echo got:\$x" &^M' \
	    "$prompt" 'type:until jobs | grep Stopped; do sleep 0.02; done^M' \
	    see:Stopped "$prompt" 'type:fg^M' see:sh 'type:hello^M' \
	    see:got:hello "$prompt" 'type:exit 5^M' -- "${person[@]}"
}

@test "a command reads the terminal inside of sh -c" {
	pty 0 see:ready 'type:hello^M' see:got:hello -- sh -c '
		"$RETRY" -- sh -c "echo ready; read x; echo got:\$x"
		true'
}

@test "a command reads the terminal under a timeout, on every attempt" {
	pty 0 see:ready1 'type:one^M' see:got:one see:ready2 'type:two^M' \
	    see:got:two -- sh -c '
		"$RETRY" -t 30 -d 0 -- sh -c "
			echo ready\$RETRY_ATTEMPT
			read x
			echo got:\$x
			test \$x = two"
		true'
}

@test "the terminal's settings and the flags of 0 to 2 are left as they were" {
	pty 0 see:finished -- sh -c '
		stty -echo -icrnl
		stty -a >before
		"$ACTOR" flags >flags
		"$ACTOR" flags
		"$RETRY" -v -n 2 -d 0 -t 9 -- sh -c "
			stty -a >during; \"\$ACTOR\" flags; exit 1"
		"$ACTOR" flags
		stty -a >after
		echo finished'
	cmp before during
	cmp before after
	# On one terminal: before, from two attempts, and after.
	[ "$(grep -c '^flags of' out)" -eq 12 ]
	[ "$(grep '^flags of' out | sort -u | wc -l)" -eq 3 ]
}

@test "after a timeout has ended the command the terminal is as before" {
	pty 0 see:finished -- sh -c '
		stty -a >before
		"$RETRY" -n 1 -t 0.2 -- sh -c "read x"
		[ $? -eq 124 ] || exit
		stty -a >after
		[ "$(cut -d " " -f 8 /proc/$$/stat)" -eq $$ ] || exit
		echo finished'
	cmp before after
}

@test "messages for the master of a terminal come out at the other side" {
	"$PYTHON" -IS - "$RETRY" <<-'END'
		import os, subprocess, sys
		master, slave = os.openpty()
		end = subprocess.run([sys.argv[1], '-n', '2', '-d', '0',
		                      'sh', '-c', 'echo theirs >&2; exit 7'],
		                     stderr=master, timeout=20)
		os.set_blocking(slave, False)
		came = []
		try:
		    while True:
		        came.append(os.read(slave, 4096))
		except BlockingIOError:
		    print(end.returncode, came)
		assert end.returncode == 7
		assert came == [
		    b'theirs\n',
		    b'retry: attempt 1/2 failed (exit 7), retrying in 0s\n',
		    b'theirs\n',
		    b'retry: attempt 2/2 failed (exit 7), giving up: '
		    b'attempts exhausted\n',
		]
	END
}

#
# Hang-up
#

# hung_up COMMAND...: runs it on a terminal, which hangs up once there is a file
# ./ready; then no process of it is left.
hung_up()
{
	local status=0
	"$ACTOR" terminal exists:ready hangup -- \
	    "$@" >out 2>late 3>&- || status=$?
	cat late
	[ "$status" -ne 99 ]
	wait_for none_left "$MARK"
}

@test "hang-up leaves nothing of a retry that leads the session" {
	hung_up "$RETRY" -d 0 -- sh -c 'touch ready; sleep 20; true'
}

@test "hang-up of a retry that leads the session: the command gets one HUP" {
	hung_up "$RETRY" -d 0 -- sh -c '
		trap "echo HUP >>heard" HUP
		touch ready
		i=0
		while [ ! -e heard ] && [ $i -lt 500 ]; do
			i=$((i + 1))
			sleep 0.02
		done
		sleep 0.3'
	[ "$(lines heard)" -eq 1 ]
}

@test "hang-up leaves nothing of a retry below a shell" {
	hung_up sh -c '"$RETRY" -d 0 -- sh -c "touch ready; sleep 20; true"; true'
}

@test "hang-up leaves nothing of a retry below an interactive shell" {
	hung_up "${person[@]}" -c \
	    '"$RETRY" -d 0 -- sh -c "touch ready; sleep 20; true"; true'
}

@test "hang-up below a shell: the command gets one HUP" {
	hung_up sh -c '"$RETRY" -d 0 -- sh -c "
		trap \"echo HUP >>heard\" HUP
		touch ready
		i=0
		while [ ! -e heard ] && [ \$i -lt 500 ]; do
			i=\$((i + 1))
			sleep 0.02
		done
		sleep 0.3"; true'
	[ "$(lines heard)" -eq 1 ]
}

@test "hang-up in a delay leaves nothing, whoever leads the session" {
	hung_up "$RETRY" -d 60 -j none -- sh -c 'touch ready; exit 1'
	rm ready
	hung_up sh -c '"$RETRY" -d 60 -j none -- sh -c "touch ready; exit 1"
		true'
}

@test "hang-up under nohup does not end the command" {
	hung_up nohup "$RETRY" -d 0 -- sh -c '
		touch ready
		sleep 0.5
		echo done >work'
	[ "$(<work)" = 'done' ]
}
