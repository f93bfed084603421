#!/usr/bin/env bats
# Covers finish, attempt/spawn.
# The status with which retry ends, and its messages.
# shellcheck disable=SC2016 # the commands' shells expand
# shellcheck disable=SC2154 # run and start set what is read here

load helper
load actor

# For a command that traps a signal: about twenty seconds without a child.
linger='for n in $(seq 200); do sleep 0.1; done'

# For a command to leave in the background: sends retry TERM, or another signal,
# as soon as retry has written a line.
then_kill()
{
	printf '{ for n in $(seq 2000); do [ ! -s err ] || break; sleep 0.01; done
		kill -%s $PPID; } >/dev/null & exit 7' "$1"
}

# fated FATE [OPTION]... COMMAND...: retry ends like this as wait(2) has it, as
# "exited 7" or "killed TERM", which a shell's $? cannot tell apart; its lines are
# in ./err. A suite in the background has INT and QUIT ignored; here they are as
# at a keyboard.
fated()
{
	local want=$1 got
	shift
	got=$("$ACTOR" how "$ACTOR" fresh "$RETRY" "$@" 2>err)
	[ "$got" = "$want" ] || {
		echo "$got instead of $want: $*"
		return 1
	}
}

# said LINE...: the lines of retry itself were exactly these.
said()
{
	holds err "$@"
}

# said_like REGEX: one whole line of retry itself matches REGEX.
said_like()
{
	local line
	while read -r line; do
		[[ ! $line =~ ^($1)$ ]] || return 0
	done <err
	echo "not said: $1"
	cat err
	return 1
}

# ran TIMES: the command has run so often
ran()
{
	[ "$(lines ran)" -eq "$1" ] || {
		echo "ran $(lines ran) times instead of $1"
		return 1
	}
}

#
# The command's own status
#

@test "a command that succeeds runs once, and retry says nothing" {
	fated 'exited 0' sh -c 'echo >>ran'
	ran 1
	[ ! -s err ]
}

@test "a success on a later attempt is a success" {
	fated 'exited 0' -d 0 sh -c 'echo >>ran; [ "$RETRY_ATTEMPT" -eq 3 ]'
	ran 3
	said 'retry: attempt 1/5 failed (exit 1), retrying in 0s' \
	    'retry: attempt 2/5 failed (exit 1), retrying in 0s'
}

@test "after the last attempt its exit status is retry's" {
	fated 'exited 13' -n 3 -d 0 sh -c 'echo >>ran; exit "1$RETRY_ATTEMPT"'
	ran 3
	said 'retry: attempt 1/3 failed (exit 11), retrying in 0s' \
	    'retry: attempt 2/3 failed (exit 12), retrying in 0s' \
	    'retry: attempt 3/3 failed (exit 13), giving up: attempts exhausted'
}

@test "five attempts are made unless told otherwise" {
	fated 'exited 7' -d 0 sh -c 'echo >>ran; exit 7'
	ran 5
	said_like 'retry: attempt 5/5 failed \(exit 7\), giving up: attempts exhausted'
}

@test "--retries N is N attempts after the first" {
	fated 'exited 7' --retries 2 -d 0 sh -c 'echo >>ran; exit 7'
	ran 3
	rm ran
	fated 'exited 7' --retries 0 sh -c 'echo >>ran; exit 7'
	ran 1
}

@test "of --attempts and --retries the last one counts" {
	fated 'exited 7' -n 9 --retries 1 -d 0 sh -c 'echo >>ran; exit 7'
	ran 2
	rm ran
	fated 'exited 7' --retries 9 -n 3 -d 0 sh -c 'echo >>ran; exit 7'
	ran 3
}

@test "a line without a cap has no number after the slash" {
	fated 'exited 3' -n inf -d 0 --stop-on 3 \
	    sh -c '[ "$RETRY_ATTEMPT" -lt 7 ] || exit 3; exit 9'
	said_like 'retry: attempt 1 failed \(exit 9\), retrying in 0s'
	said_like 'retry: attempt 7 failed \(exit 3\), giving up: --stop-on 3'
}

@test "statuses 124, 125, 126 and 127 of a command are failures like any other" {
	for code in 124 125 126 127; do
		rm -f ran
		fated "exited $code" -n 2 -d 0 sh -c "echo >>ran; exit $code"
		ran 2
		said "retry: attempt 1/2 failed (exit $code), retrying in 0s" \
		    "retry: attempt 2/2 failed (exit $code), giving up: attempts exhausted"
	done
}

#
# Death by signal
#

@test "retry dies of the signal that killed the last attempt" {
	for name in SEGV TERM KILL USR1; do
		ulimit -c 0
		fated "killed $name" -n 2 -d 0 sh -c "kill -$name \$\$"
		said "retry: attempt 1/2 killed by SIG$name, retrying in 0s" \
		    "retry: attempt 2/2 killed by SIG$name, giving up: attempts exhausted"
	done
}

@test "an exit status above 128 is not turned into a death" {
	fated 'exited 143' -n 1 sh -c 'exit 143'
	said 'retry: attempt 1/1 failed (exit 143), giving up: attempts exhausted'
}

@test "a signal on an early attempt does not show in the end" {
	fated 'exited 5' -n 2 -d 0 \
	    sh -c '[ "$RETRY_ATTEMPT" -eq 2 ] || kill -TERM $$; exit 5'
}

@test "a command that dies of INT, QUIT or PIPE is not retried" {
	ulimit -c 0
	for name in INT QUIT PIPE; do
		rm -f ran
		fated "killed $name" -d 0 sh -c "echo >>ran; kill -$name \$\$"
		ran 1
		said "retry: attempt 1/5 killed by SIG$name, giving up: SIG$name is not retried unless --retry-on names it"
	done
}

#
# Limits
#

@test "a timeout is 124" {
	fated 'exited 124' -n 2 -d 0 -t 300ms sh -c 'echo >>ran; exec sleep 20'
	ran 2
	said_like 'retry: attempt 1/2 timed out after [0-9.]+m?s, retrying in 0s'
	said_like 'retry: attempt 2/2 timed out after [0-9.]+m?s, giving up: attempts exhausted'
}

@test "a command that exits 0 after its timeout has timed out" {
	fated 'exited 124' -n 1 -t 100ms \
	    sh -c "trap 'exit 0' TERM; echo >>ran; $linger"
	ran 1
	said_like 'retry: attempt 1/1 timed out after .*, giving up: attempts exhausted'
}

@test "retry dies of the signal of a success by rule only with --keep-status" {
	fated 'exited 0' --success-on TERM sh -c 'kill -TERM $$'
	fated 'killed TERM' --keep-status --success-on TERM sh -c 'kill -TERM $$'
	[ ! -s err ]
}

@test "a command that had to be killed at a limit is 124, not a death" {
	fated 'exited 124' -n 1 -t 50ms -k 50ms \
	    sh -c "trap '' TERM; $linger"
	said_like 'retry: attempt 1/1 timed out after .*, giving up: attempts exhausted'
}

@test "with -k 0 a limit kills at once" {
	fated 'exited 124' -n 1 -t 50ms -k 0 \
	    sh -c "trap 'echo >>asked' TERM; $linger"
	[ ! -e asked ]
}

@test "an attempt that the deadline ended is 124" {
	fated 'exited 124' -n 4 -T 200ms sh -c 'echo >>ran; exec sleep 20'
	ran 1
	said_like 'retry: attempt 1/4 ended by the deadline after [0-9.]+m?s, giving up: deadline'
}

@test "where the next delay would pass the deadline, the status is the command's" {
	fated 'exited 7' -T 10 -d 10 -j none sh -c 'echo >>ran; exit 7'
	ran 1
	said 'retry: attempt 1 failed (exit 7), giving up: deadline'
}

@test "a timeout of 0 is no timeout" {
	fated 'exited 0' -t 0 sleep 0.05
	fated 'exited 0' -t 0 -v true
	said_like 'retry: attempt 1/5 succeeded \(exit 0\)'
}

#
# Signals to retry
#

@test "a command that exits 0 after TERM has succeeded" {
	fated 'exited 0' -v \
	    sh -c "trap 'exit 0' TERM; echo >>ran; (kill -TERM \$PPID); $linger"
	ran 1
	said_like 'retry: attempt 1/5 succeeded \(exit 0\)'
}

@test "after HUP, INT, QUIT or TERM no further attempt is made" {
	for name in HUP INT QUIT TERM; do
		rm -f ran
		fated 'exited 5' -d 0 sh -c \
		    "trap 'exit 5' $name; echo >>ran; (kill -$name \$PPID); $linger"
		ran 1
		said 'retry: attempt 1/5 failed (exit 5), giving up: interrupted'
	done
}

@test "retry dies of TERM if the command does" {
	fated 'killed TERM' -d 0 sh -c 'echo >>ran; (kill -TERM $PPID); exec sleep 20'
	ran 1
	said 'retry: attempt 1/5 killed by SIGTERM, giving up: interrupted'
}

@test "an interruption comes before a stop rule and the number of attempts" {
	fated 'exited 5' -n 1 --stop-on 5 \
	    sh -c "trap 'exit 5' TERM; (kill -TERM \$PPID); $linger"
	said 'retry: attempt 1/1 failed (exit 5), giving up: interrupted'
}

@test "an interruption before a limit comes before the limit" {
	fated 'killed TERM' -t 300ms -k 100ms \
	    sh -c "trap '' TERM; echo >>ran; (kill -TERM \$PPID); $linger"
	ran 1
	said 'retry: attempt 1/5 killed by SIGTERM, giving up: interrupted'
}

@test "an interruption after a limit leaves the status at 124" {
	fated 'exited 124' -d 0 -t 200ms \
	    sh -c "trap '(kill -INT \$PPID); exit 3' TERM; echo >>ran; $linger"
	ran 1
	said_like 'retry: attempt 1/5 timed out after .*, giving up: interrupted'
}

@test "a signal during a delay ends it at once, without a message" {
	fated 'killed TERM' -d 100 -j none sh -c "echo >>ran; $(then_kill TERM)"
	ran 1
	said 'retry: attempt 1/5 failed (exit 7), retrying in 1m40s'
}

@test "a signal during a delay is interrupted in the line of -v" {
	fated 'killed INT' -v -d 100 -j none sh -c "$(then_kill INT)"
	[ "$(lines err)" -eq 2 ]
	said_like 'retry: ended after 1 attempt in [0-9.]+m?s: interrupted'
}

#
# What cannot be run
#

@test "a missing command is not retried and gives 127" {
	fated 'exited 127' ./nosuch
	said "retry: cannot run './nosuch': No such file or directory"
	fated 'exited 127' --retry-on 127,fail no-such-command
	said "retry: cannot run 'no-such-command': No such file or directory"
	fated 'exited 127' ''
	said "retry: cannot run '': No such file or directory"
}

@test "a command that is not executable is not retried and gives 126" {
	echo >plain
	fated 'exited 126' ./plain
	said "retry: cannot run './plain': Permission denied"
	fated 'exited 126' --retry-on 126 /
	said "retry: cannot run '/': Permission denied"
}

@test "a command that never ran is no success" {
	fated 'exited 127' --success-on 127,fail ./nosuch
	echo >plain
	fated 'exited 126' --success-on 126,fail ./plain
}

@test "a command that vanishes between attempts gives 127" {
	printf '#!/bin/sh\nrm "$0"\nexit 9\n' >fickle
	chmod +x fickle
	fated 'exited 127' -d 0 ./fickle
	said 'retry: attempt 1/5 failed (exit 9), retrying in 0s' \
	    "retry: cannot run './fickle': No such file or directory"
}

@test "the reason why a command could not be run is that of this attempt" {
	# Some attempts time out between a failed exec and its report.
	for timeout in 0.1ms 0.2ms 0.3ms 0.5ms 0.7ms 20s; do
		for _ in 1 2 3 4 5; do
			"$RETRY" -n 100 -d 0 -t $timeout ./nosuch 2>>err || :
		done
	done
	grep -v ' timed out after ' err | sort -u >told
	[ "$(cat told)" = "retry: cannot run './nosuch': No such file or directory" ]
}

# crowded [OPTION]... COMMAND...: how it ends, for a user who may not
# have one process more
crowded()
{
	"$PYTHON" -IS - "$RETRY" "$@" <<-'END'
		import os, resource, subprocess, sys
		program = os.open(sys.argv[1], os.O_RDONLY)
		def become():
		    if os.getuid() == 0:
		        os.setgid(61234)
		        os.setuid(61234)
		    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
		code = subprocess.run(['/proc/self/fd/%d' % program] + sys.argv[2:],
		                      preexec_fn=become, pass_fds=[program],
		                      cwd='/').returncode
		print('exit', code)
	END
}

@test "a fork that finds no room is tried again and 125 in the end" {
	[ "$(crowded -n 2 -d 0 true 2>err)" = 'exit 125' ]
	said 'retry: attempt 1/2 not started (cannot fork: Resource temporarily unavailable), retrying in 0s' \
	    'retry: attempt 2/2 not started (cannot fork: Resource temporarily unavailable), giving up: cannot run the command'
	[ "$(crowded -q -n 2 -d 0 --success-on fail,125 true 2>err)" = 'exit 125' ]
	[ "$(lines err)" -eq 1 ]
}

@test "what a limit of open files denies is named, and that nothing was run" {
	local files option said denied=0
	local error='(Too many open files|No file descriptors available)'
	echo a >in
	for option in -v -I -OE '-I -OE --idle-timeout 9' '--preset curl' \
	    '--retry-on stderr:x' '-B none' '--idle-timeout 9' '--report report' \
	    '--http' '-t 9'; do
		for files in {4..12}; do
			rm -f ran
			# shellcheck disable=SC2086 # options and their values
			said=$(cat in | (
				exec 3>&-
				ulimit -n "$files"
				exec "$RETRY" -n 2 -d 0 $option -- touch ran
			) 2>&1) && continue
			[ ! -e ran ]
			# The loader of the program needs one, too.
			[[ $said != *'shared librar'* ]] || continue
			((++denied))
			grep -qE "$error.*; command not run\$|not started [(]cannot .*: ${error}[)], giving up: cannot run the command\$" \
			    <<<"$said" || {
				echo "$option with $files: $said"
				return 1
			}
		done
	done
	[ "$denied" -gt 0 ]
}

@test "a hint follows where the command is a number" {
	fated 'exited 127' 3 true
	said "retry: cannot run '3': No such file or directory" \
	    'retry: did you mean -n 3?'
}

@test "a hint follows where the command is a shell line" {
	fated 'exited 127' 'echo a; echo b'
	said "retry: cannot run 'echo a; echo b': No such file or directory" \
	    "retry: this needs a shell: use sh -c 'echo a; echo b'"
	fated 'exited 127' 'echo a; echo b' c
	has_line "retry: this needs a shell: use sh -c 'echo a; echo b ...'" err
	fated 'exited 127' 'false | cat'
	has_line "retry: this needs a shell: use bash -o pipefail -c 'false | cat'" err
	fated 'exited 127' 'false || true'
	has_line "retry: this needs a shell: use sh -c 'false || true'" err
}

@test "the shell line in a hint is quoted for a shell" {
	local line hint
	for line in "echo 'it is'" "printf %s \\' \$HOME \"'\"; ''" "echo it's"; do
		fated 'exited 127' "$line"
		hint=$(sed -n 's/^retry: this needs a shell: use sh -c //p' err)
		[ "$(eval "printf %s $hint")" = "$line" ]
	done
	fated 'exited 126' "echo $(printf "%0600d" 7)"
	grep -qx "retry: this needs a shell: use sh -c 'echo 0*\.\.\.'" err
	# Room for 508 bytes: the last of them would be half an é.
	fated 'exited 126' "echo $(printf 'é%.0s' {1..300})"
	has_line "retry: this needs a shell: use sh -c 'echo $(
		printf 'é%.0s' {1..251})...'" err
}

@test "a hint follows where the command is a word that only a shell knows" {
	for word in cd export type; do
		fated 'exited 127' "$word"
		said "retry: cannot run '$word': No such file or directory" \
		    "retry: this needs a shell: use sh -c '$word'"
	done
	for word in '[[' source shopt; do
		fated 'exited 127' "$word" x
		said "retry: cannot run '$word': No such file or directory" \
		    "retry: this needs a shell: use bash -c '$word ...'"
	done
}

@test "a hint shows the line that runs a function that bash has exported" {
	deploy() { echo "deployed $*"; }
	export -f deploy
	fated 'exited 127' deploy
	said "retry: cannot run 'deploy': No such file or directory" \
	    "retry: not a command but a function of bash: use bash -c 'deploy \"\$@\"' deploy"
	fated 'exited 127' -q deploy a 'b c'
	said "retry: cannot run 'deploy': No such file or directory" \
	    "retry: not a command but a function of bash: use bash -c 'deploy \"\$@\"' deploy ..."
	# It does.
	eval "set -- $(sed -n 's/.*: use \(.*\) \.\.\.$/\1/p' err)"
	[ "$("$RETRY" "$@" a 'b c')" = 'deployed a b c' ]
	# One that is not exported is any word.
	export -n -f deploy
	fated 'exited 127' deploy
	said "retry: cannot run 'deploy': No such file or directory"
}

@test "a hint names env where a variable stands before the command, without its value" {
	local word
	for word in TOKEN=s3cret TOKEN= 'TOKEN=two words'; do
		fated 'exited 127' "$word" true
		said "retry: cannot run '$word': No such file or directory" \
		    'retry: not a command but a variable: use env TOKEN=... COMMAND'
	done
	for word in 1a=b =b a-b=c; do
		fated 'exited 127' "$word" true
		said "retry: cannot run '$word': No such file or directory"
	done
	fated 'exited 127' 'A=b true'
	has_line "retry: this needs a shell: use sh -c 'A=b true'" err
	fated 'exited 0' env TOKEN=s3cret true
}

@test "a path with white space in it that is there is run" {
	mkdir 'a b'
	printf '#!/bin/sh\necho "$0" >>ran\n' >'a b/c d'
	chmod +x 'a b/c d'
	fated 'exited 0' './a b/c d'
	[ "$(cat ran)" = './a b/c d' ]
}

@test "control bytes in what retry quotes are escaped" {
	fated 'exited 127' $'no\001such\033[1m\177'
	said "retry: cannot run 'no\\x01such\\x1b[1m\\x7f': No such file or directory"
	fated 'exited 127' $'a\nb\tc'
	[ "$(head -n 1 err)" = "retry: cannot run 'a\\nb\\tc': No such file or directory" ]
	[ "$(lines err)" -eq 2 ]
	fated 'exited 127' 'back\slash'
	said "retry: cannot run 'back\\slash': No such file or directory"
}

@test "without a command nothing is run and the status is 125" {
	fated 'exited 125'
	said 'retry: no command given' "Try '${RETRY##*/} -h' for more information."
	fated 'exited 125' -n 3 --
	said 'retry: no command given' "Try '${RETRY##*/} -h' for more information."
}

@test "bad usage runs nothing and is 125" {
	fated 'exited 125' -n 0 sh -c 'echo >>ran'
	ran 0
	said "retry: --attempts: not a number of attempts: '0'" \
	    "Try '${RETRY##*/} -h' for more information."
}

@test "bad usage that nobody reads of is 125 too" {
	"$PYTHON" -IS - "$RETRY" <<-'END'
		import os, subprocess, sys
		theirs, ours = os.pipe()
		os.close(theirs)
		for words in ['-n', '0', 'true'], ['--nosuch', 'true'], []:
		    end = subprocess.run(sys.argv[1:] + words, stderr=ours)
		    print(end)
		    assert end.returncode == 125
	END
}

#
# Quiet and verbose
#

@test "-q hides every line of retry and none of the command" {
	fated 'exited 7' -q -n 2 -d 0 sh -c 'echo theirs >&2; exit 7'
	said theirs theirs
	fated 'exited 124' -q -n 2 -d 0 -t 50ms sleep 20
	[ ! -s err ]
	fated 'exited 124' -q -T 50ms sleep 20
	[ ! -s err ]
}

@test "-q does not hide why retry itself failed" {
	fated 'exited 127' -q ./nosuch
	said_like "retry: cannot run './nosuch': No such file or directory"
	fated 'exited 126' -q /
	said_like "retry: cannot run '/': Permission denied"
	fated 'exited 125' -q -n x true
	said_like "retry: --attempts: not a number of attempts: 'x'"
}

@test "-v reports success, and its last line sums up" {
	fated 'exited 0' -v -n 5 -d 0 sh -c '[ "$RETRY_ATTEMPT" -eq 3 ]'
	[ "$(lines err)" -eq 4 ]
	said_like 'retry: attempt 3/5 succeeded \(exit 0\)'
	tail -n 1 err | grep -qxE 'retry: ended after 3 attempts in [0-9.]+m?s: succeeded'
}

@test "the last line of -v counts one attempt in the singular" {
	fated 'exited 0' -v true
	[ "$(lines err)" -eq 2 ]
	[ "$(head -n 1 err)" = 'retry: attempt 1/5 succeeded (exit 0)' ]
	tail -n 1 err | grep -qxE 'retry: ended after 1 attempt in [0-9.]+m?s: succeeded'
}

@test "the last line of -v names the reason" {
	while read -r reason status arguments; do
		run -"$status" --separate-stderr eval "\"\$RETRY\" -v -d 0 $arguments"
		[[ ${stderr##*$'\n'} =~ ^"retry: ended after "[01]" attempt"s?" in "[0-9.]+m?"s: $reason"$ ]]
	done <<-'END'
		succeeded 0 --success-on 3 sh -c 'exit 3'
		attempts 3 -n 1 sh -c 'exit 3'
		stop-rule 3 --stop-on 3 sh -c 'exit 3'
		not-retryable 3 --retry-on 4 sh -c 'exit 3'
		deadline 3 -T 1 -d 2 -j none sh -c 'exit 3'
		deadline 124 -T 50ms sleep 20
		not-executable 127 ./nosuch
		not-executable 126 /
	END
}

@test "of -q and -v the last one counts" {
	fated 'exited 3' -v -q -n 1 sh -c 'exit 3'
	[ ! -s err ]
	fated 'exited 3' -q -v -n 1 sh -c 'exit 3'
	[ "$(lines err)" -eq 2 ]
}

#
# Why it ended, where several reasons hold
#

@test "a stop rule comes before the number of attempts" {
	fated 'exited 3' -n 1 --stop-on 3 sh -c 'exit 3'
	said 'retry: attempt 1/1 failed (exit 3), giving up: --stop-on 3'
}

@test "a stop rule comes before what is not retryable" {
	fated 'exited 3' --stop-on 3 --retry-on 4 sh -c 'exit 3'
	said 'retry: attempt 1/5 failed (exit 3), giving up: --stop-on 3'
}

@test "what is not retryable comes before the number of attempts" {
	fated 'exited 3' -n 1 --retry-on 4 sh -c 'exit 3'
	said 'retry: attempt 1/1 failed (exit 3), giving up: not in --retry-on 4'
}

@test "the number of attempts comes before the deadline" {
	fated 'exited 3' -n 1 -T 1 -d 2 -j none sh -c 'exit 3'
	said 'retry: attempt 1/1 failed (exit 3), giving up: attempts exhausted'
}

#
# How it is said
#

@test "each line is one write, to stderr" {
	"$PYTHON" -IS - "$RETRY" <<-'END'
		import socket, subprocess, sys
		ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
		end = subprocess.run([sys.argv[1], '-v', '-n', '2', '-d', '0', 'false'],
		                     stdout=subprocess.PIPE, stderr=theirs)
		assert end.returncode == 1 and end.stdout == b'', end
		ours.setblocking(False)
		lines = [ours.recv(4096) for _ in range(3)]
		print(lines)
		assert all(l.startswith(b'retry: ') for l in lines)
		assert all(l.index(b'\n') == len(l) - 1 for l in lines)
		try:
		    assert not ours.recv(4096)
		except BlockingIOError:
		    pass
	END
}

@test "a line that quotes something long is one write, and has its end" {
	"$PYTHON" -IS - "$RETRY" <<-'END'
		import os, socket, subprocess, sys
		def said(*words):
		    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
		    end = subprocess.run(sys.argv[1:] + list(words), stderr=theirs)
		    ours.setblocking(False)
		    writes = []
		    try:
		        while True:
		            writes.append(ours.recv(65536))
		    except BlockingIOError:
		        print(end.returncode, [(len(w), w[-60:]) for w in writes])
		    assert all(w.startswith(b'retry: ') for w in writes[:1])
		    assert all(w.index(b'\n') == len(w) - 1 for w in writes)
		    assert max(map(len, writes)) < 4096
		    return end.returncode, writes
		hint = b"Try '%s -h' for more information.\n" % (
		    os.fsencode(os.path.basename(sys.argv[1])))
		for long in 'x' * 9000, '\x01' * 9000:
		    for words in ['-n', long], ['--' + long], ['--quiet=' + long]:
		        status, writes = said(*words, 'true')
		        assert status == 125
		        assert len(writes) == 2 and writes[1] == hint
		        assert writes[0].endswith(b"...'\n")
		    status, writes = said('--retry-on', '1,' + long, 'true')
		    assert status == 125 and len(writes) == 2
		    assert b"...' in '1," in writes[0]
		    assert writes[0].endswith(b"...'\n")
		    status, writes = said(long)
		    assert status == 126 and len(writes) == 1
		    assert writes[0].startswith(b"retry: cannot run '")
		    assert writes[0].endswith(b"name too long\n") and b"...': " in writes[0]
		status, writes = said('./' + 'x /' * 900)
		assert status == 127 and len(writes) == 2
		assert writes[0].endswith(b"...': No such file or directory\n")
		assert writes[1].endswith(b"...'\n")
	END
}

@test "retry writes nothing to stdout" {
	run -7 --separate-stderr "$RETRY" -v -n 2 -d 0 sh -c 'echo theirs; exit 7'
	[ "$output" = $'theirs\ntheirs' ]
	[ "${#stderr_lines[@]}" -eq 3 ]
}
