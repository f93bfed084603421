#!/usr/bin/env bats
# Covers run, attempt/attempt, report/advice, sys/sys.
# The status with which retry ends, and its messages.
# shellcheck disable=SC2016,SC2034 # the rows and the commands' shells expand

load helper
load actor
load json

# retry ends as wait(2) has it, "exited 7" or "killed TERM", which a shell's $?
# cannot tell apart: try finds that in ./out. A suite in the background has INT and
# QUIT ignored; here they are as at a keyboard.
under=("$ACTOR" how "$ACTOR" fresh)

# A command that is counted and exits with its argument.
leaves='echo >>ran; exit $0'

@test "retry ends as the command does, after five attempts unless told otherwise" {
	table try <<-'END'
		out='exited 0' runs=1 says='' sh -c 'echo >>ran'
		out='exited 0' runs=3 says='attempt 1/5 failed (exit 1), retrying in 0s|attempt 2/5 failed (exit 1), retrying in 0s' -d 0 sh -c 'echo >>ran; [ "$RETRY_ATTEMPT" -eq 3 ]'
		out='exited 13' runs=3 says='attempt 1/3 failed (exit 11), retrying in 0s|attempt 2/3 failed (exit 12), retrying in 0s|attempt 3/3 failed (exit 13), giving up: attempts exhausted' -n 3 -d 0 sh -c 'echo >>ran; exit "1$RETRY_ATTEMPT"'
		# 124 to 127 are failures like any other, and a status is no signal.
		out='exited 125' runs=2 says='*|attempt 2/2 failed (exit 125), giving up: attempts exhausted' -n 2 -d 0 sh -c "$leaves" 125
		# Death by a signal, of the last attempt alone.
		out='killed TERM' says='*|attempt 2/2 killed by SIGTERM, giving up: attempts exhausted' -n 2 -d 0 sh -c 'kill -TERM $$'
		out='exited 5' -n 2 -d 0 sh -c '[ "$RETRY_ATTEMPT" -eq 2 ] || kill -TERM $$; exit 5'
		out='killed INT' runs=1 says='attempt 1/5 killed by SIGINT, giving up: SIGINT is not retried unless --retry-on names it' -d 0 sh -c 'echo >>ran; kill -INT $$'
		out='exited 0' says='' --success-on TERM sh -c 'kill -TERM $$'
		out='killed TERM' says='' --keep-status --success-on TERM sh -c 'kill -TERM $$'
		# Of --retries and -n the last one counts.
		out='exited 7' runs=2 -n 9 --retries 1 -d 0 sh -c "$leaves" 7
		out='exited 7' runs=1 --retries 0 sh -c "$leaves" 7
		# Without a cap no number stands after the slash.
		out='exited 7' runs=7 says='attempt 1 failed (exit 9), *|attempt 7 failed (exit 7), giving up: --stop-on 7' -n inf -d 0 --stop-on 7 sh -c 'echo >>ran; [ "$RETRY_ATTEMPT" -lt 7 ] || exit 7; exit 9'
		# Of several reasons the first one counts.
		out='exited 3' runs=1 says='attempt 1/1 failed (exit 3), giving up: --stop-on 3' -n 1 --stop-on 3 --retry-on 4 sh -c "$leaves" 3
		out='exited 3' runs=1 says='attempt 1/1 failed (exit 3), giving up: attempts exhausted' -n 1 -T 1 -d 2 -j none sh -c "$leaves" 3
	END
}

@test "--exhausted-status is given if only a limit has ended the retries" {
	export RETRY_BUDGET_DIR=$PWD
	printf '%s\n' '#!/bin/sh' 'printf "HTTP/1.1 503 x\nRetry-After: 3600\n\n" >"$RETRY_HTTP_STATUS"' 'exit 22' >later
	chmod +x later
	"$RETRY" -q -n 1 -B down --breaker 1,1h false || :
	usual=(-d 0 --exhausted-status 9)
	table try <<-'END'
		# In place of a status, a signal and 124; the report and metrics have it, and the attempt has its own.
		out='exited 9' runs=2 says='*|attempt 2/2 failed (exit 7), giving up: attempts exhausted' report='status=9 signal=null reason=attempts each.status=7,7' -n 2 --metrics job.prom sh -c "$leaves" 7 && grep -q '^retry_exit_status.* 9$' job.prom
		out='exited 9' report='status=9 signal=null' -n 2 sh -c 'kill -TERM $$'
		out='exited 9' -n 2 -t 0.1 sleep 20
		out='exited 9' -n 1 -t 0.1 --preserve-status sleep 20
		out='exited 9' -T 0.5 sleep 20
		out='exited 9' -w 0.5 false
		out='exited 9' says='*giving up: deadline*' -T 60 -d 100 -j none sh -c "$leaves" 7
		out='exited 9' says='*: limit' -v --limit 0:7 sh -c "$leaves" 7
		out='exited 9' says='*: budget' -v -B few --budget-min 0 sh -c "$leaves" 7
		out='exited 9' says='*: breaker' -v -B new --breaker 1,1h sh -c "$leaves" 7
		out='exited 9' says='*: rate' -v -B rate --rate 1/h -T 60 sh -c "$leaves" 7
		out='exited 9' says='*: retry-after' -v --http ./later
		out='exited 9' says='*: attempts' -v -n 1 --fail-on 0 true
		# A hook gets the status of the attempt.
		out='exited 9' says='*|> 7' -n 1 --on-give-up 'echo $RETRY_LAST_STATUS' sh -c "$leaves" 7
		# Not where a retry would be in vain, or is not wanted.
		out='exited 0' -n 1 true
		out='exited 7' -n 1 --stop-on 7 sh -c "$leaves" 7
		out='exited 7' -n 1 --retry-on 8 sh -c "$leaves" 7
		out='killed INT' -n 1 sh -c 'kill -INT $$'
		out='exited 7' says='*: retry-if' -v --retry-if false sh -c "$leaves" 7
		out='exited 7' says='*: interrupted' -v sh -c 'kill -TERM $PPID; exit 7'
		out='exited 7' says='*: input-consumed' -v sh -c 'read -r _; exit 7' < <(echo line)
		# Not where nothing was run.
		out='exited 75' says='*: breaker' -v -B down --breaker 1,1h true
		out='exited 127' -n 1 no-such-command
		out='exited 69' --budget-required --budget-dir none -B none true
		# It can be taken back.
		out='exited 7' -n 1 --exhausted-status '' sh -c "$leaves" 7
	END
	rm ran
	local refusal='--exhausted-status: not a status from 1 to 123' also=(true)
	table refused <<-'END'
		"$refusal: '0'" --exhausted-status 0
		"$refusal: '124'" --exhausted-status 124
		"$refusal: 'x'" --exhausted-status x
		"--exhausted-status: not with --keep-status: '9'" --exhausted-status 9 --keep-status
	END
	# The command line counts more than a policy.
	echo exhausted-status=9 >policy
	is 3 "$RETRY" -q --policy ./policy --keep-status -n 1 sh -c 'exit 3'
}

@test "a command that cannot be run is not retried, and is no success" {
	local under=()
	echo >plain
	printf '#!/bin/sh\necho >>ran\nrm "$0"\nexit 9\n' >fickle
	chmod +x fickle
	mkdir 'a b'
	printf '#!/bin/sh\n[ "$0" = "./a b/c d" ] && echo >>ran\n' >'a b/c d'
	chmod +x 'a b/c d'
	hint="Try '${RETRY##*/} -h' for more information."
	table try <<-'END'
		status=127 says="cannot run 'no-such-command': No such file or directory" --retry-on 127,fail no-such-command
		status=127 says="cannot run '': No such file or directory" ''
		status=126 says="cannot run './plain': Permission denied" ./plain
		status=127 --success-on 127,fail ./nosuch
		status=127 runs=1 says="attempt 1/5 failed (exit 9), retrying in 0s|cannot run './fickle': No such file or directory" -d 0 ./fickle
		# Control bytes are escaped.
		status=127 says="cannot run 'no\\\\x01such\\\\x1b\[1m\\\\x7f': No such file or directory" $'no\001such\033[1m\177'
		status=127 says="cannot run 'a\\\\nb\\\\tc': No such file or directory|this needs a shell: *" $'a\nb\tc'
		status=127 says="cannot run 'back\\\\slash': No such file or directory" 'back\slash'
		# White space in a path is no shell's.
		out='' runs=1 says='' './a b/c d'
		# Without a command, or with bad usage, nothing is run.
		status=125 says="no command given|> $hint"
		status=125 runs=0 says="--attempts: not a number of attempts: '0'|> $hint" -n 0 sh -c 'echo >>ran'
	END
}

@test "where no child can borrow the memory of retry, it gets its own" {
	inject vfork:error=EINVAL
	under=("${inject[@]}")
	try status=7 out='ran|ran' -n 2 -d 0 sh -c 'echo ran; exit 7'
	try status=127 says="cannot run './nosuch': No such file or directory" -n 2 ./nosuch
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
	reads err '*' && [[ $said != *'|'?* ]]
}

@test "what a limit of open files denies is named, and that nothing was run" {
	local files option said denied=0
	local error='Too many open files'
	error="$error.*; command not run\$|not started [(]cannot .*: ${error}[)], giving up: cannot run the command\$"
	for option in '--report report' '-B none --preset curl --http' \
	    '-I -OE --idle-timeout 9 -t 9'; do
		for files in {4..12}; do # until there are enough
			said=$(
				exec 3>&- < <(echo a)
				ulimit -n "$files"
				exec "$RETRY" -n 2 -d 0 $option -- touch "ran${option::2}" 2>&1
			) && break
			[ ! -e "ran${option::2}" ]
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
	local under=()
	local line hint none="No such file or directory"
	local function="not a command but a function of bash: use bash -euo pipefail -c 'deploy \"\$@\"' deploy"
	hinted() # hinted HINT COMMAND...
	{
		try status=127 says="cannot run '${2//[[]/\\[}': $none${1:+|}$1" -- "${@:2}"
	}
	needs='this needs a shell: use'
	table hinted <<-'END'
		'did you mean -n 3[?]' 3 true
		"$needs sh -c 'echo a; echo b'" 'echo a; echo b'
		"$needs sh -c 'echo a; echo b ...'" 'echo a; echo b' c
		"$needs bash -o pipefail -c 'false | cat'" 'false | cat'
		"$needs sh -c 'cd'" cd
		"$needs bash -c '\[\[ ...'" '[[' x
		"$needs bash -c 'source ...'" source x
		# The value of a variable is not shown.
		'not a command but a variable: use env TOKEN=... COMMAND' TOKEN=s3cret true
		'not a command but a variable: use env TOKEN=... COMMAND' TOKEN= true
		'' 1a=b true
		'' a-b=c true
		"$needs sh -c 'A=b true'" 'A=b true'
	END
	try out='' says='' env TOKEN=s3cret true
	# It is quoted for a shell.
	for line in "echo 'it is'" "printf %s \\' \$HOME \"'\"; ''" "echo it's"; do
		try status=127 "$line"
		reads err '*|this needs a shell: use sh -c *'
		said=${said%'|'}
		eval "hint=${said#*: use sh -c }"
		[ "$hint" = "$line" ]
	done
	printf -v line 'é%.0s' {1..251}
	# Room for 508 bytes: the last of them would be half an é.
	try status=126 says="*|this needs a shell: use sh -c 'echo $line...'" "echo $line$line"
	# A function that bash has exported is run by bash.
	deploy() { [ "$1" = a ]; echo "deployed $*"; }
	export -f deploy
	try status=127 says="cannot run 'deploy': $none|$function" deploy
	try status=127 says="cannot run 'deploy': $none|$function ..." -q deploy a 'b c'
	# It does.
	reads err '*: use * ...'
	said=${said##*: use }
	eval "set -- ${said% ...?}"
	try out='deployed a b c' "$@" a 'b c'
	exits 1 "$RETRY" -q -n 1 "$@" b
	# One that is not exported is any word.
	export -n -f deploy
	try status=127 says="cannot run 'deploy': $none" deploy
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
	local under=()
	echo success-on=7,3 >policy
	table try <<-'END'
		status=7 says='> theirs|> theirs' -q -n 2 -d 0 sh -c 'echo theirs >&2; exit 7'
		status=124 says='' -q -n 2 -d 0 -t 50ms sleep 20
		status=127 says="cannot run './nosuch': No such file or directory" -q ./nosuch
		status=125 says="--attempts: not a number of attempts: 'x'"* -q -n x true
		out='' says='attempt 1/5 *|attempt 2/5 *|attempt 3/5 succeeded (exit 0)|ended after 3 attempts in *s: succeeded, rescued by a retry' -v -d 0 sh -c '[ "$RETRY_ATTEMPT" -eq 3 ]'
		out='' says='attempt 1/5 succeeded (exit 0)|ended after 1 attempt in *s: succeeded' -v true
		out='' says='attempt 1/5 killed by SIGTERM: succeeded by --success-on TERM|ended after 1 attempt in *s: succeeded' -v --success-on TERM sh -c 'kill $$'
		says='attempt 1/5 succeeded (exit 3) by --success-on 3 (./policy:1)|ended after *' -v --policy ./policy sh -c 'exit 3'
		# Of both the last one counts.
		status=3 says='' -v -q -n 1 sh -c 'exit 3'
		status=3 says='*|ended after 1 attempt in *s: attempts' -q -v -n 1 sh -c 'exit 3'
		# Of the reasons, tests/user/docs has all.
		status=124 says='*|ended after 1 attempt in *s: deadline' -v -T 50ms sleep 20
	END
}

@test "a wait in vain says for what it was: the label, or the program without arguments" {
	local seven=(sh -c 'exit 7' -a SECRET) under=()
	table try <<-'END'
		status=7 says='waited for sh: attempt 1 failed (exit 7), giving up: deadline, the next delay (9s) does not fit' -w 5 -d 9 -j none /bin/"${seven[@]}"
		status=7 says='db: attempt 2/2 failed (exit 7), giving up: attempts exhausted' --label db -w 5 -n 2 -d 0 "${seven[@]}"
		status=1 says='*|waited for false: giving up before attempt 2: deadline|ended after *' -v -w 0.3 -d 0 --on-retry 'exec sleep 20' false
		status=127 says="cannot run './nosuch': No such file or directory" -w 5 ./nosuch
		says='attempt 1 failed *|waited for sh: attempt 2 succeeded (exit 0)|ended after *' -v -w 5 -d 0 sh -c '[ "$RETRY_ATTEMPT" = 2 ]'
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
		long = '\x01' * 9000
		for words in ['-n', long], ['--' + long], ['--retry-on', '1,' + long]:
		    status, writes = said(*words, 'true')
		    assert status == 125 and len(writes) == 2 and b"...'" in writes[0]
		status, writes = said(long)
		assert status == 126 and len(writes) == 1
		assert b"...': " in writes[0] and writes[0].endswith(b"name too long\n")
		status, writes = said('./' + 'x /' * 900)
		assert status == 127 and len(writes) == 2
		assert writes[0].endswith(b"...': No such file or directory\n")
		assert writes[1].endswith(b"...'\n")
	END
}
