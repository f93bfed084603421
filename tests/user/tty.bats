#!/usr/bin/env bats
# Covers attempt/attempt, attempt/termination.
# On a terminal: keys, job control, hang-up.
# shellcheck disable=SC2034 # rows read it

load helper
load actor

setup() {
	helper_setup
	export HOME=$BATS_TEST_TMPDIR HISTFILE=
}

# typed STATUS [N=REGEX]... STEP... -- COMMAND...: pty, and then N lines of ./out
# match REGEX as a whole, but for the echo of a key before them.
typed() {
	local want=$1 counts=() count all line found
	shift
	while [[ $1 == [0-9]=* ]]; do
		counts+=("$1")
		shift
	done
	pty "$want" "$@"
	mapfile -t all <out
	for count in "${counts[@]}"; do
		found=0
		for line in "${all[@]}"; do
			[[ ! $line =~ ^(\^[A-Z\\])*${count#*=}$ ]] || ((++found))
		done
		[ "$found" -eq "${count%%=*}" ] || {
			echo "not $count"
			cat -A out
			return 1
		} >&2
	done
}

# at_prompt STATUS [N=REGEX]... LINE STEP...: typed, where LINE is typed into an
# interactive shell, and "exit" at the end.
prompt='see:person> '
shell=(bash --norc --noprofile --noediting -i)
export PS1='person> '
at_prompt() {
	local start=() leave='exit $?'
	[ "$1" -ne 5 ] || leave='exit 5'
	while [[ ${#start[@]} -eq 0 || $1 == [0-9]=* ]]; do
		start+=("$1")
		shift
	done
	typed "${start[@]}" "$prompt" "type:$1^M" "${@:2}" "$prompt" "type:$leave^M" -- "${shell[@]}"
}

listen=("$ACTOR" listen 1 3)
again='for i in 1 2 3; do
	eval "$0"
	echo next
done
echo after'

@test "a key gives the command one signal, and there is no retry" {
	local here=("$RETRY" -d 0 --)
	beside 'Ctrl-C' typed 3 1=INT 1=ready \
	    '1=retry: attempt 1/5 failed \(exit 3\), giving up: interrupted' \
	    see:ready 'type:^C' -- "$RETRY" -v -d 0 -- "${listen[@]}"
	beside 'to a grandchild' typed 3 1=INT see:ready 'type:^C' -- \
	    "${here[@]}" bash -c 'trap : INT; "$ACTOR" listen 1 3'
	beside 'a shell loop stops' typed 130 1=ready '0=(next|after)' see:ready 'type:^C' -- \
	    bash -c "$again" '"$RETRY" -d 0 -- sh -c "echo ready; exec sleep 20"'
	beside 'a shell loop goes on after a success' typed 0 3=INT 3=next \
	    see:ready 'type:^C' see:next see:ready 'type:^C' see:next \
	    see:ready 'type:^C' see:after -- bash -c "$again" '"$RETRY" -- "$ACTOR" listen 1 0'
	beside 'Ctrl-\ kills the command, and retry' typed 0 '1=killed QUIT' 1=ready \
	    '1=retry: attempt 1/5 killed by SIGQUIT, giving up: interrupted' \
	    see:ready 'type:^\' see:killed -- "$ACTOR" ignoring QUIT "$ACTOR" how "$ACTOR" fresh \
	    "${here[@]}" sh -c 'echo ready; exec sleep 20'
	beside 'a new size' typed 0 1=WINCH see:ready size:33x99 -- "$RETRY" -- "$ACTOR" listen 1 0
}

# Job control. What is stopped is so for longer than its limit, which is longer
# than a machine stalls.
greets='echo read\y; read x; echo got:\$x'
hello=('type:hello^M' see:got:hello)

# bats test_tags=slow
@test "Ctrl-Z or its own STOP stops a job, the shell has its prompt, fg continues" {
	beside 'Ctrl-Z in a delay' at_prompt 5 \
	    '1=retry: attempt 1/5 failed .*' '0=retry: attempt 2/4 .*' \
	    '"$RETRY" -d 4s -j none -- sh -c "test \$RETRY_ATTEMPT = 2"; echo status:$?' \
	    next:retrying 'type:^Z' see:Stopped "$prompt" 'type:fg^M'
	beside 'Ctrl-Z for longer than the timeout' at_prompt 5 '0=retry: .*' \
	    "\"\$RETRY\" -n 1 -t 4 -- sh -c \"$greets\"" \
	    next:ready 'type:^Z' see:Stopped "$prompt" more:4.3 \
	    'type:fg^M' see:sh more:0.1 "${hello[@]}"
	# A shell says which job it is before it gives the terminal to it. A shell that is
	# in vfork(2) does not stop as long as the child has no program, so this has none.
	beside 'a pipeline, bg and fg' at_prompt 5 1='done' \
	    'echo in | "$RETRY" -t 30 -n 2 -d 0 -- bash -c "exec 9<> <(:); echo read\y; until [ -e go ]; do read -r _ _ _ _ ours _ _ its _ </proc/\$\$/stat; if [ \$ours = \$its ]; then [ -e back ] && : >front; else : >back; fi; read -rt .02 -u 9; done; echo done" | cat' \
	    next:ready 'type:^Z' see:Stopped "$prompt" 'type:bg^M' "$prompt" exists:back \
	    'type:fg^M' exists:front 'type:^Z' see:Stopped "$prompt" \
	    'type:touch go; fg^M' see:cat
	beside 'a command that ignores it goes on, as without retry' at_prompt 5 '0=.*Stopped.*' \
	    "\"\$RETRY\" -n 1 -- sh -c \"trap \\\"\\\" TSTP; $greets\"" \
	    next:ready 'type:^Z' more:0.2 "${hello[@]}"
	beside 'STOP to itself' at_prompt 4 \
	    '"$RETRY" -n 1 -- sh -c "echo read\y; kill -STOP \$\$; echo resum\ed; exit 4"' \
	    next:ready see:Stopped "$prompt" 'type:fg^M' see:resumed
	beside 'CONT to retry alone' typed 5 "$prompt" \
	    'type:"$RETRY" -n 1 -- sh -c "kill -TSTP \$\$; echo resum\ed; exit 4"^M' \
	    next:Stopped "$prompt" 'type:kill -CONT $(jobs -p)^M' \
	    see:resumed see:exhausted 'type:exit 5^M' -- "${shell[@]}"
	beside 'in the background it reads' at_prompt 5 \
	    '"$RETRY" -t 30 -- sh -c "read x; echo got:\$x" &' \
	    "$prompt" 'type:until jobs | grep Stopped; do sleep 0.02; done^M' \
	    see:Stopped "$prompt" 'type:fg^M' see:sh "${hello[@]}"
	beside 'its limit ends it in the background' at_prompt 5 '0=.*Stopped.*' \
	    '"$RETRY" -n 1 -t .5 -- sh -c "kill -STOP \$\$; sleep 20" & wait' see:timed
	rows beside eval <<-'END'
	its limit ends it below a script
	    printf 'all:\n\t@"$$RETRY" -n 1 -t 0.5 -- sh -c "kill -STOP \\$$\\$$; sleep 20"\n' \
	        >Makefile
	    at_prompt 5 '0=.*Stopped.*' \
	        'sh -c "\"\$RETRY\" -n 1 -t .5 -- sh -c \"kill -STOP \\\$\\\$; sleep 20\"; echo en\ded"' \
	        see:timed see:ended "$prompt" \
	        'type:env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make; echo en\ded^M' \
	        see:timed see:ended
	Ctrl-C after fg ends it
	    at_prompt 5 '"$RETRY" -d 0 -- sh -c "echo read\y; exec sleep 20"' \
	        next:ready 'type:^Z' see:Stopped "$prompt" 'type:fg^M' see:sh more:0.1 'type:^C'
	    none_left
	END
}

@test "a command reads the terminal on every attempt, and the terminal is left as it was" {
	beside 'it reads on every attempt, with a timeout' \
	    pty 0 see:ready1 'type:one^M' see:got:one see:ready2 'type:two^M' see:got:two -- sh -c '
		"$RETRY" -t 30 -d 0 -- sh -c "
			echo ready\$RETRY_ATTEMPT; read x; echo got:\$x; test \$x = two"
		true'
	rows beside eval <<-'END'
	settings, and the flags of 0 to 2: before, in two attempts, and after
	    pty 0 see:finished -- sh -c '
	        stty -echo -icrnl
	        stty -a >before
	        "$ACTOR" flags
	        "$RETRY" -v -n 2 -d 0 -t 9 -- sh -c "
	            stty -a >during; \"\$ACTOR\" flags; exit 1"
	        "$ACTOR" flags
	        stty -a >after
	        echo finished'
	    cmp before during
	    cmp before after
	    mapfile -t all <out
	    declare -A flags=()
	    for line in "${all[@]}"; do
	        [[ $line != 'flags of'* ]] || ((++flags[$line]))
	    done
	    [ "${flags[*]}" = '4 4 4' ]
	END
}

@test "messages for the master of a terminal come out at the other side" {
	"$PYTHON" -IS - "$RETRY" -n 2 -d 0 sh -c 'echo theirs >&2; exit 7' >came <<-'END'
		import os, subprocess, sys
		master, slave = os.openpty()
		assert subprocess.call(sys.argv[1:], stderr=master, timeout=20) == 7
		os.set_blocking(slave, False)
		for line in range(4):
		    print(os.read(slave, 4096).decode(), end="")
	END
	holds came theirs 'retry: attempt 1/2 failed (exit 7), retrying in 0s' theirs \
	    'retry: attempt 2/2 failed (exit 7), giving up: attempts exhausted'
}

# hung_up COMMAND...: runs it on a terminal, which hangs up once there is a file
# ./ready; then no process of it is left.
hung_up() {
	not exits 99 "$ACTOR" terminal exists:ready hangup -- "$@" >out 2>late 3>&-
	wait_for none_left
}

# Waits for HUP, and a while for another.
hears='trap "echo HUP >>heard" HUP
touch ready
i=0
while [ ! -e heard ] && [ $i -lt 500 ]; do
	i=$((i + 1))
	sleep 0.02
done
sleep 0.3'

@test "hang-up leaves nothing, and gives the command one HUP" {
	beside 'retry leads the session' hung_up "$RETRY" -d 0 -- sh -c 'touch ready; sleep 20; true'
	beside 'below a shell' hung_up sh -c \
	    '"$RETRY" -d 0 -- sh -c "touch ready; sleep 20; true"; true'
	beside 'in a delay' hung_up "$RETRY" -d 60 -j none -- sh -c 'touch ready; exit 1'
	rows beside eval <<-'END'
	one HUP below a shell
	    hung_up sh -c '"$RETRY" -d 0 -- sh -c "$0"; true' "$hears"
	    holds heard HUP
	nohup: the command goes on
	    hung_up nohup "$RETRY" -d 0 -- sh -c 'touch ready; sleep 0.5; echo done >work'
	    holds work 'done'
	END
}
