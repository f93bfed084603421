#!/usr/bin/env bats
# Covers run, attempt/attempt, report/advice, sys/sys.
# The status with which retry ends, and its messages.
# shellcheck disable=SC2016,SC2034 # the rows and the commands' shells expand

load helper
load actor

# For a command that traps a signal: about twenty seconds without a child.
linger='for n in $(seq 200); do sleep 0.1; done'

# For a command to leave in the background: sends retry TERM, or another signal,
# as soon as retry has written a line.
then_kill() {
	printf '{ for n in $(seq 2000); do [ ! -s err ] || break; sleep 0.01; done
		kill -%s $PPID; } >/dev/null & exit 7' "$1"
}

# fated FATE [OPTION]... COMMAND...: retry ends like this as wait(2) has it, as
# "exited 7" or "killed TERM", which a shell's $? cannot tell apart; its lines are
# in ./err. A suite in the background has INT and QUIT ignored; here they are as
# at a keyboard.
fated() {
	local want=$1 got
	shift
	got=$("$ACTOR" how "$ACTOR" fresh "$RETRY" "$@" 2>err)
	[ "$got" = "$want" ] || {
		echo "$got instead of $want: $*"
		return 1
	}
}

# ends FATE TIMES LINES [OPTION]... COMMAND...: fated, ./ran has TIMES lines, and
# what retry said is LINES, a pattern with a bar between two lines.
ends() {
	local want=$2 lines=$3 said
	: >ran
	fated "$1" "${@:4}" || { cat err; return 1; }
	said=$'\n'$(<err)
	said=${said//$'\n'retry: /|}
	# shellcheck disable=SC2053 # a pattern
	[[ ${said#[$'\n'|]} == $lines && $(lines ran) -eq $want ]] || {
		echo "ran $(lines ran) times instead of $want, or not: $lines"
		cat err
		return 1
	}
}

# A command that is counted and exits with its argument.
leaves='echo >>ran; exit $0'

# obeys SIGNAL COMMAND: a command that does so on this signal. sends: one that
# sends it to retry.
obeys() {
	echo "trap '$2' $1; echo >>ran; $linger"
}
sends() {
	echo "trap '$2' $1; echo >>ran; (kill -$1 \$PPID); $linger"
}

@test "retry ends as the command does, after five attempts unless told otherwise" {
	table ends <<-'END'
		'exited 0' 1 '' sh -c 'echo >>ran'
		'exited 0' 3 'attempt 1/5 failed (exit 1), retrying in 0s|attempt 2/5 failed (exit 1), retrying in 0s' -d 0 sh -c 'echo >>ran; [ "$RETRY_ATTEMPT" -eq 3 ]'
		'exited 13' 3 'attempt 1/3 failed (exit 11), retrying in 0s|attempt 2/3 failed (exit 12), retrying in 0s|attempt 3/3 failed (exit 13), giving up: attempts exhausted' -n 3 -d 0 sh -c 'echo >>ran; exit "1$RETRY_ATTEMPT"'
		# 124 to 127 are failures like any other, and a status is no signal.
		'exited 125' 2 '*|attempt 2/2 failed (exit 125), giving up: attempts exhausted' -n 2 -d 0 sh -c "$leaves" 125
		'exited 143' 1 'attempt 1/1 failed (exit 143), giving up: attempts exhausted' -n 1 sh -c "$leaves" 143
		# Death by a signal, of the last attempt alone.
		'killed SEGV' 0 'attempt 1/2 killed by SIGSEGV, retrying in 0s|attempt 2/2 killed by SIGSEGV, giving up: attempts exhausted' -n 2 -d 0 sh -c 'kill -SEGV $$'
		'killed TERM' 0 '*|attempt 2/2 killed by SIGTERM, giving up: attempts exhausted' -n 2 -d 0 sh -c 'kill -TERM $$'
		'exited 5' 0 '*' -n 2 -d 0 sh -c '[ "$RETRY_ATTEMPT" -eq 2 ] || kill -TERM $$; exit 5'
		'killed INT' 1 'attempt 1/5 killed by SIGINT, giving up: SIGINT is not retried unless --retry-on names it' -d 0 sh -c 'echo >>ran; kill -INT $$'
		'killed QUIT' 1 'attempt 1/5 killed by SIGQUIT, giving up: SIGQUIT is not retried unless --retry-on names it' -d 0 sh -c 'echo >>ran; kill -QUIT $$'
		'killed PIPE' 1 'attempt 1/5 killed by SIGPIPE, giving up: SIGPIPE is not retried unless --retry-on names it' -d 0 sh -c 'echo >>ran; kill -PIPE $$'
		'exited 0' 0 '' --success-on TERM sh -c 'kill -TERM $$'
		'killed TERM' 0 '' --keep-status --success-on TERM sh -c 'kill -TERM $$'
		'exited 7' 5 '*|attempt 5/5 failed (exit 7), giving up: attempts exhausted' -d 0 sh -c "$leaves" 7
		# Of --retries and -n the last one counts.
		'exited 7' 2 '*' -n 9 --retries 1 -d 0 sh -c "$leaves" 7
		'exited 7' 3 '*' --retries 9 -n 3 -d 0 sh -c "$leaves" 7
		'exited 7' 1 '*' --retries 0 sh -c "$leaves" 7
		# Without a cap no number stands after the slash.
		'exited 7' 7 'attempt 1 failed (exit 9), *|attempt 7 failed (exit 7), giving up: --stop-on 7' -n inf -d 0 --stop-on 7 sh -c 'echo >>ran; [ "$RETRY_ATTEMPT" -lt 7 ] || exit 7; exit 9'
		# Of several reasons the first one counts.
		'exited 3' 1 'attempt 1/1 failed (exit 3), giving up: --stop-on 3' -n 1 --stop-on 3 --retry-on 4 sh -c "$leaves" 3
		'exited 3' 1 'attempt 1/1 failed (exit 3), giving up: attempts exhausted' -n 1 -T 1 -d 2 -j none sh -c "$leaves" 3
	END
}

@test "an attempt that a limit ended is 124" {
	table ends <<-'END'
		'exited 124' 2 'attempt 1/2 timed out after *, retrying in 0s|attempt 2/2 timed out after *s, giving up: attempts exhausted' -n 2 -d 0 -t 500ms sh -c 'echo >>ran; exec sleep 20'
		# Even if it exits 0 then, or has to be killed.
		'exited 124' 1 '*attempt 1/1 timed out after *, giving up: attempts exhausted' -n 1 -t 500ms sh -c "$(obeys TERM 'exit 0')"
		'exited 124' 1 '*attempt 1/1 timed out after *, giving up: attempts exhausted' -n 1 -t 500ms -k 0 sh -c "$(obeys TERM ': >asked')" && [ ! -e asked ]
		'exited 124' 1 'attempt 1/4 ended by the deadline after *s, giving up: deadline' -n 4 -T 500ms sh -c 'echo >>ran; exec sleep 20'
		# The next delay would pass the deadline: the status is the command's.
		'exited 7' 1 'attempt 1 failed (exit 7), giving up: deadline' -T 10 -d 10 -j none sh -c "$leaves" 7
		# 0 is no timeout.
		'exited 0' 0 'attempt 1/5 succeeded (exit 0)|*' -v -t 0 sleep 0.05
	END
}

@test "after a signal to retry no further attempt is made" {
	table ends <<-'END'
		'exited 0' 1 'attempt 1/5 succeeded (exit 0)|*' -v sh -c "$(sends TERM 'exit 0')"
		'exited 5' 1 'attempt 1/5 failed (exit 5), giving up: interrupted' -d 0 sh -c "$(sends HUP 'exit 5')"
		'killed TERM' 1 'attempt 1/5 killed by SIGTERM, giving up: interrupted' -d 0 sh -c 'echo >>ran; (kill -TERM $PPID); exec sleep 20'
		# It comes before a stop rule, the number of attempts and a later limit.
		'exited 5' 1 'attempt 1/1 failed (exit 5), giving up: interrupted' -n 1 --stop-on 5 sh -c "$(sends TERM 'exit 5')"
		'killed TERM' 1 'attempt 1/5 killed by SIGTERM, giving up: interrupted' -t 600ms -k 100ms sh -c "$(sends TERM '')"
		'exited 124' 1 '*attempt 1/5 timed out after *, giving up: interrupted' -d 0 -t 500ms sh -c "$(obeys TERM '(kill -INT $PPID); exit 3')"
		# A delay ends at once, without a message but that of -v.
		'killed TERM' 1 'attempt 1/5 failed (exit 7), retrying in 1m40s' -d 100 -j none sh -c "echo >>ran; $(then_kill TERM)"
		'killed INT' 1 'attempt 1/5 failed (exit 7), retrying in 1m40s|ended after 1 attempt in *s: interrupted' -v -d 100 -j none sh -c "echo >>ran; $(then_kill INT)"
	END
}

@test "a command that cannot be run is not retried, and is no success" {
	echo >plain
	printf '#!/bin/sh\necho >>ran\nrm "$0"\nexit 9\n' >fickle
	chmod +x fickle
	mkdir 'a b'
	printf '#!/bin/sh\n[ "$0" = "./a b/c d" ] && echo >>ran\n' >'a b/c d'
	chmod +x 'a b/c d'
	hint="Try '${RETRY##*/} -h' for more information."
	table ends <<-'END'
		'exited 127' 0 "cannot run 'no-such-command': No such file or directory" --retry-on 127,fail no-such-command
		'exited 127' 0 "cannot run '': No such file or directory" ''
		'exited 126' 0 "cannot run './plain': Permission denied" ./plain
		'exited 126' 0 "cannot run '/': Permission denied" --retry-on 126 /
		'exited 127' 0 '*' --success-on 127,fail ./nosuch
		'exited 126' 0 '*' --success-on 126,fail ./plain
		'exited 127' 1 "attempt 1/5 failed (exit 9), retrying in 0s|cannot run './fickle': No such file or directory" -d 0 ./fickle
		# Control bytes are escaped.
		'exited 127' 0 "cannot run 'no\\\\x01such\\\\x1b\[1m\\\\x7f': No such file or directory" $'no\001such\033[1m\177'
		'exited 127' 0 "cannot run 'a\\\\nb\\\\tc': No such file or directory|this needs a shell: *" $'a\nb\tc'
		'exited 127' 0 "cannot run 'back\\\\slash': No such file or directory" 'back\slash'
		# White space in a path is no shell's.
		'exited 0' 1 '' './a b/c d'
		# Without a command, or with bad usage, nothing is run.
		'exited 125' 0 "no command given"$'\n'"$hint"
		'exited 125' 0 "no command given"$'\n'"$hint" -n 3 --
		'exited 125' 0 "--attempts: not a number of attempts: '0'"$'\n'"$hint" -n 0 sh -c 'echo >>ran'
	END
}

@test "the reason why a command could not be run is that of this attempt" {
	# Some attempts time out between a failed exec and its report.
	for timeout in 0.1ms 0.2ms 0.3ms 0.5ms 0.7ms 20s; do
		for _ in 1 2 3; do
			"$RETRY" -n 100 -d 0 -t $timeout ./nosuch 2>>err || :
		done
	done
	grep -v ' timed out after ' err | sort -u >told
	[ "$(cat told)" = "retry: cannot run './nosuch': No such file or directory" ]
}

@test "a fork that finds no room is tried again and 125 in the end" {
	local as=()
	[ "$EUID" -ne 0 ] || as=(./actor as 61234)
	[ "$EUID" -ne 0 ] || is_root || skip 'root has no limit, and nobody else is here'
	cp "$RETRY" retry
	cp "$ACTOR" actor
	chmod 755 . retry actor
	# crowded [OPTION]...: for a user who may not have one process more
	crowded()
	{
		: >err
		is 125 "${as[@]}" bash -c 'ulimit -u 1 && exec env "$@"' sh ./retry -n 2 \
		    -d 0 "$@" true
	}
	crowded
	holds err 'retry: attempt 1/2 not started (cannot fork: Resource temporarily unavailable), retrying in 0s' \
	    'retry: attempt 2/2 not started (cannot fork: Resource temporarily unavailable), giving up: cannot run the command'
	crowded -q --success-on fail,125
	[ "$(lines err)" -eq 1 ]
}

@test "what a limit of open files denies is named, and that nothing was run" {
	local files option said denied=0
	local error='(Too many open files|No file descriptors available)'
	error="$error.*; command not run\$|not started [(]cannot .*: ${error}[)], giving up: cannot run the command\$"
	echo a >in
	for option in '--report report' '-B none --preset curl --http' \
	    '-I -OE --idle-timeout 9 -t 9'; do
		for files in {4..12}; do
			said=$(cat in | (
				exec 3>&-
				ulimit -n "$files"
				exec "$RETRY" -n 2 -d 0 $option -- touch ran
			) 2>&1) && rm ran && continue
			[ ! -e ran ]
			# The loader of the program needs one, too.
			[[ $said != *'shared librar'* ]] || continue
			((++denied))
			[[ $said =~ $error ]] || {
				echo "$option with $files: $said"
				return 1
			}
		done
	done
	[ "$denied" -gt 0 ]
}

@test "a hint follows where the command is for a shell, or no command" {
	local line hint
	hinted() # hinted HINT COMMAND...
	{
		local none="No such file or directory"
		ends 'exited 127' 0 "cannot run '${2//[[]/\\[}': $none${1:+|}$1" "${@:2}"
	}
	needs='this needs a shell: use'
	table hinted <<-'END'
		'did you mean -n 3[?]' 3 true
		"$needs sh -c 'echo a; echo b'" 'echo a; echo b'
		"$needs sh -c 'echo a; echo b ...'" 'echo a; echo b' c
		"$needs bash -o pipefail -c 'false | cat'" 'false | cat'
		"$needs sh -c 'false || true'" 'false || true'
		"$needs sh -c 'cd'" cd
		"$needs sh -c 'export'" export
		"$needs sh -c 'type'" type
		"$needs bash -c '\[\[ ...'" '[[' x
		"$needs bash -c 'source ...'" source x
		"$needs bash -c 'shopt ...'" shopt x
		# The value of a variable is not shown.
		'not a command but a variable: use env TOKEN=... COMMAND' TOKEN=s3cret true
		'not a command but a variable: use env TOKEN=... COMMAND' TOKEN= true
		'not a command but a variable: use env TOKEN=... COMMAND' 'TOKEN=two words' true
		'' 1a=b true
		'' =b true
		'' a-b=c true
		"$needs sh -c 'A=b true'" 'A=b true'
	END
	ends 'exited 0' 0 '' env TOKEN=s3cret true
	# It is quoted for a shell.
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
	# A function that bash has exported is run by bash.
	deploy() { [ "$1" = a ]; echo "deployed $*"; }
	export -f deploy
	fated 'exited 127' deploy
	holds err "retry: cannot run 'deploy': No such file or directory" \
	    "retry: not a command but a function of bash: use bash -euo pipefail -c 'deploy \"\$@\"' deploy"
	fated 'exited 127' -q deploy a 'b c'
	holds err "retry: cannot run 'deploy': No such file or directory" \
	    "retry: not a command but a function of bash: use bash -euo pipefail -c 'deploy \"\$@\"' deploy ..."
	# It does.
	eval "set -- $(sed -n 's/.*: use \(.*\) \.\.\.$/\1/p' err)"
	[ "$("$RETRY" "$@" a 'b c')" = 'deployed a b c' ]
	exits 1 "$RETRY" -q -n 1 "$@" b
	# One that is not exported is any word.
	export -n -f deploy
	fated 'exited 127' deploy
	holds err "retry: cannot run 'deploy': No such file or directory"
}

@test "bad usage that nobody reads of is 125 too" {
	mkfifo pipe
	exec 8<>pipe 9>pipe 8<&-
	unread() { is 125 sh -c '"$@" 2>&9' sh "$RETRY" "$@"; }
	table unread <<-'END'
		-n 0 true
		--nosuch true
		--
	END
	exec 9>&-
}

@test "-q hides every line of retry but why it failed itself, -v says more" {
	table ends <<-'END'
		'exited 7' 0 $'theirs\ntheirs' -q -n 2 -d 0 sh -c 'echo theirs >&2; exit 7'
		'exited 124' 0 '' -q -n 2 -d 0 -t 50ms sleep 20
		'exited 127' 0 "cannot run './nosuch': No such file or directory" -q ./nosuch
		'exited 126' 0 "cannot run '/': Permission denied" -q /
		'exited 125' 0 "--attempts: not a number of attempts: 'x'"* -q -n x true
		'exited 0' 0 'attempt 1/5 *|attempt 2/5 *|attempt 3/5 succeeded (exit 0)|ended after 3 attempts in *s: succeeded, rescued by a retry' -v -d 0 sh -c '[ "$RETRY_ATTEMPT" -eq 3 ]'
		'exited 0' 0 'attempt 1/5 succeeded (exit 0)|ended after 1 attempt in *s: succeeded' -v true
		# Of both the last one counts.
		'exited 3' 0 '' -v -q -n 1 sh -c 'exit 3'
		'exited 3' 0 '*|ended after 1 attempt in *s: attempts' -q -v -n 1 sh -c 'exit 3'
		# Of the reasons, tests/user/docs has all.
		'exited 124' 0 '*|ended after 1 attempt in *s: deadline' -v -T 50ms sleep 20
	END
}

@test "each line is one write, to stderr alone, and has its end, whatever it quotes" {
	"$PYTHON" -IS - "$RETRY" <<-'END'
		import os, socket, subprocess, sys
		def said(*words):
		    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
		    end = subprocess.run(sys.argv[1:] + list(words),
		                         stdout=subprocess.PIPE, stderr=theirs)
		    ours.setblocking(False)
		    writes = []
		    try:
		        while True:
		            writes.append(ours.recv(65536))
		    except BlockingIOError:
		        print(end, [(len(w), w[-60:]) for w in writes])
		    assert all(w.startswith(b'retry: ') for w in writes[:1])
		    assert all(w.index(b'\n') == len(w) - 1 for w in writes)
		    assert max(map(len, writes)) < 4096 and end.stdout == b''
		    return end.returncode, writes
		status, writes = said('-v', '-n', '2', '-d', '0', 'false')
		assert status == 1 and len(writes) == 3
		assert all(w.startswith(b'retry: ') for w in writes)
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
