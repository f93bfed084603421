#!/usr/bin/env bats
# Covers attempt/spawn, streams/streams, sys/sys.
# A command cannot tell that it runs under retry: `cmd` is compared with
# `retry cmd`.
# shellcheck disable=SC2016 # the commands' shells expand
# shellcheck disable=SC2154 # run and start set what is read here

load helper

# alike COMMAND...: COMMAND, which writes something and fails, writes the same
# bytes and ends with the same status directly and in both of two attempts
# under retry. What is in $before stands before either.
before=()
alike()
{
	local direct=0 under=0
	"${before[@]}" "$@" >direct 3>&- || direct=$?
	[ -s direct ] && [ "$direct" -ne 0 ] || return
	"${before[@]}" "$RETRY" -q -n 2 -d 0 "$@" >under 3>&- || under=$?
	diff -a - under < <(cat direct direct) || return
	[ "$direct" -eq "$under" ] || {
		echo "status $under instead of $direct: $*"
		return 1
	}
}

# searched COMMAND...: along a PATH of $where retry finds and runs COMMAND and
# ends as execvp(3) would have it, which is what env calls; sets $status
searched()
{
	local direct=0 path=(-u PATH)
	status=0
	[ -z "${where+set}" ] || path=("PATH=$where")
	env "${path[@]}" "$@" >direct 2>/dev/null 3>&- || direct=$?
	env "${path[@]}" "$RETRY" -n 1 "$@" >under 2>err 3>&- || status=$?
	diff direct under || return
	[ "$status" -eq "$direct" ] || {
		echo "status $status instead of $direct: $*"
		return 1
	}
}
where=$PATH

# script FILE [MODE]: an executable that says which it is, and its arguments
script()
{
	mkdir -p "$(dirname "$1")"
	printf '#!/bin/sh\necho "$0" "$#" "$@"\n' >"$1"
	chmod "${2:-755}" "$1"
}

#
# Arguments and environment
#

@test "arguments arrive byte for byte" {
	alike sh -c 'cat "/proc/$$/cmdline"; exit 3' sh '' ' ' '"' "'" $'\\' '$HOME' \
	    '*' '`id`' $'new\nline' $'tab\t' $'\xff\xfe\xc3' 'a  b' -n 3 -- -q ''
}

@test "no option of the command is taken for one of retry" {
	run -0 "$RETRY" -n 1 printf '<%s>' -n 3 -v -- --help
	[ "$output" = '<-n><3><-v><--><--help>' ]
	run -0 "$RETRY" -- printf '<%s>' -- -V
	[ "$output" = '<--><-V>' ]
}

@test "a command may begin with a dash after --" {
	script ./-x
	PATH=$PWD run -0 "$RETRY" -- -x -y
	[ "$output" = "$PWD/-x 1 -y" ]
}

@test "the environment arrives byte for byte, and only the RETRY variables are added" {
	before=(env -i A= B=x=y 'C= ' $'D=\xff\n' 'a b=c' RETRY=mine "PATH=$PATH")
	"${before[@]}" env -0 | sort -z >direct
	"${before[@]}" "$RETRY" env -0 | sort -z >under
	diff -a <(tr '\0\n' '\n\1' <direct) \
	    <(grep -azv '^RETRY_' under | tr '\0\n' '\n\1')
	[ "$(grep -azo '^RETRY_[A-Z_]*' under | tr '\0' ' ')" = \
	    'RETRY_ATTEMPT RETRY_DEPTH RETRY_ID RETRY_MAX_ATTEMPTS RETRY_PARENT ' ]
}

@test "with a deadline and a last status three more variables are added" {
	env -i "$RETRY" -q -n 2 -d 0 -T 20 sh -c \
	    '[ "$RETRY_ATTEMPT" -eq 2 ] || exit 7; exec env' >under
	[ "$(grep -o '^RETRY_[A-Z_]*' under | sort | tr '\n' ' ')" = \
	    'RETRY_ANCESTOR_RETRY RETRY_ATTEMPT RETRY_DEADLINE RETRY_DEPTH RETRY_ID RETRY_LAST_STATUS RETRY_MAX_ATTEMPTS RETRY_PARENT ' ]
}

@test "an empty environment is enough" {
	run -7 --separate-stderr env -i "$RETRY" -n 2 -d 0 -t 20 -T 20 \
	    sh -c 'echo "$RETRY_ATTEMPT"; exit 7'
	[ "$output" = $'1\n2' ]
	[ "${#stderr_lines[@]}" -eq 2 ]
}

@test "the environment of cron is enough" {
	run -0 --separate-stderr env -i HOME="$PWD" LOGNAME=nobody \
	    SHELL=/bin/sh PATH=/usr/bin:/bin "$RETRY" -d 0 \
	    sh -c 'echo "$HOME"; [ "$RETRY_ATTEMPT" -eq 2 ]' <&-
	[ "$output" = "$PWD"$'\n'"$PWD" ]
	[ "$stderr" = 'retry: attempt 1/5 failed (exit 1), retrying in 0s' ]
}

@test "a megabyte of arguments passes" {
	run -3 "$PYTHON" -IS - "$RETRY" <<-'END'
		import os, sys
		many = ['x' * 100000] * 10
		os.execv(sys.argv[1], ['retry', '-q', '-n', '2', '-d', '0', 'sh', '-c',
		                       'echo "$# ${#9}"; exit 3', 'sh'] + many)
	END
	[ "$output" = $'10 100000\n10 100000' ]
}

@test "a small stack holds a large environment as without retry" {
	# The sanitizers make each frame larger.
	"$PYTHON" -IS - "$RETRY" "${RETRY_SAN:+4000}" <<-'END'
		import resource, subprocess, sys
		def small():
		    resource.setrlimit(resource.RLIMIT_STACK, (131072, 131072))
		def status(many, *command):
		    env = {'v%d' % i: '' for i in range(many)}
		    env['PATH'] = '/usr/bin:/bin'
		    return subprocess.run(command, env=env, preexec_fn=small).returncode
		many = int(sys.argv[2] or 6000)
		direct = status(many, 'sh', '-c', 'exit 7')
		under = status(many, sys.argv[1], '-q', '-n', '2', '-d', '0',
		               'sh', '-c', 'exit 7')
		limited = status(many, sys.argv[1], '-q', '-n', '1', '-t', '0.2',
		                 'sleep', '20')
		print(direct, under, limited)
		assert (direct, under, limited) == (7, 7, 124)
	END
}

# activated OPTION... COMMAND...: retry, as systemd starts a service with a
# socket and a watchdog
activated()
{
	sh -c 'export LISTEN_PID=$$ WATCHDOG_PID=$$ LISTEN_FDS=1 LISTEN_PIDFDID=7
		exec "$@"' sh "$RETRY" -q -d 0 "$@" 3</dev/null
}

# The rule of sd_listen_fds(3) and sd_watchdog_enabled(3), and what else there is.
shows='echo $((LISTEN_PID - $$)) $((WATCHDOG_PID - $$)) $LISTEN_FDS \
	${LISTEN_PIDFDID-none} $(readlink /proc/self/fd/3); exit 7'

@test "each attempt is the process that systemd's variables name" {
	for options in '-n 2' '-n 1 -E -t 20 -T 20' '-n 1 --http' '-n 1 env' \
	    "-n 1 $RETRY -n 1" "-n 1 env $RETRY -q -n 2 -d 0"; do
		# shellcheck disable=SC2086 # words
		run -7 --separate-stderr activated $options sh -c "$shows"
		[ "$(printf '%s\n' "${lines[@]}" | sort -u)" = \
		    '0 0 1 none /dev/null' ]
	done
	[ "${#lines[@]}" -eq 2 ]
}

@test "systemd's variables stay where they name another process" {
	before=(env LISTEN_PID=1 WATCHDOG_PID=1 LISTEN_FDS=1 LISTEN_PIDFDID=7)
	alike sh -c 'env | grep -E "^(LISTEN|WATCHDOG)_" | sort; exit 3'
	before=(env LISTEN_PID= WATCHDOG_PID=x LISTEN_PIDFDID=7)
	alike sh -c 'env | grep -E "^(LISTEN|WATCHDOG)_" | sort; exit 3'
}

@test "a hook is not the process that systemd's variables name" {
	run -7 activated -n 2 --on-retry 'echo $((LISTEN_PID - PPID)) \
	    $((WATCHDOG_PID - PPID)) $LISTEN_PIDFDID >hook' sh -c 'exit 7'
	holds hook '0 0 7'
}

#
# What a process inherits
#

@test "signals are blocked, ignored and pending as without retry" {
	local handled
	handled=HUP,INT,QUIT,ILL,TRAP,ABRT,BUS,FPE,USR1,SEGV,USR2,PIPE,ALRM,TERM
	handled+=,CHLD,CONT,TSTP,TTIN,TTOU,URG,XCPU,XFSZ,VTALRM,PROF,WINCH,IO
	handled+=,PWR,SYS,RTMIN,RTMAX
	for how in --default-signal=$handled --ignore-signal=$handled \
	    --block-signal=$handled "--ignore-signal --block-signal" \
	    --ignore-signal=CHLD --ignore-signal=PIPE,TERM,USR1 \
	    --block-signal=TERM,CHLD --default-signal=PIPE; do
		# shellcheck disable=SC2206 # may be two words
		before=(timeout 20 env $how)
		alike grep -hsE '^(Sig|Shd)[PBIC]' /proc/self/status nosuch
	done
}

@test "umask, priority, directory, group, session and limits are inherited" {
	mkdir -p some/where
	cd some/where
	umask 027
	ulimit -c 0 -n 100 -f 100000
	before=(nice -n 3)
	alike sh -c 'umask; pwd -P; cut -d " " -f 5-8,18-19,40-41 /proc/self/stat
		cat /proc/self/limits /proc/self/oom_score_adj /proc/self/cgroup
		grep -E "^(Uid|Gid|Groups|Cap|NoNew|Sec|Cpus|Mems)" /proc/self/status
		exit 3'
}

@test "a directory that is gone does not matter" {
	mkdir gone
	cd gone
	rmdir "$PWD"
	run -3 "$RETRY" -q -n 2 -d 0 sh -c 'echo ran; exit 3'
	[ "$(grep -cx ran <<<"$output")" -eq 2 ]
}

@test "with limits set nothing else is inherited either" {
	before=(env --block-signal=USR1 --ignore-signal=USR2)
	"${before[@]}" grep -E '^(Sig|Shd)[PBIC]' /proc/self/status >direct
	"${before[@]}" "$RETRY" -t 20 -T 30 grep -E '^(Sig|Shd)[PBIC]' /proc/self/status >under
	[ -s direct ]
	diff direct under
}

#
# Descriptors
#

# Appends to ./seen what the shell that runs it has open below 64, where it
# stands and how it was opened.
look='for fd in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 \
	24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 50 60 61 62 63; do
	[ ! -e "/proc/$$/fd/$fd" ] || {
		open="$open $fd"
		links="$links /proc/$$/fd/$fd"
		infos="$infos /proc/$$/fdinfo/$fd"
	}
done
[ -z "$open" ] || open="$open
$(readlink $links 2>&1; cat $infos 2>&1)"
echo "$open" >>seen; exit 3'

# looked REDIRECTIONS: descriptors are alike in two attempts and without retry
looked()
{
	rm -f seen
	eval "sh -c '$look'" "$1" || :
	cat seen seen >direct
	rm seen
	eval '"$RETRY" -n 2 -d 0 -q' "sh -c '$look'" "$1" || [ $? -eq 3 ]
	diff direct seen || return
	rm seen
	eval '"$RETRY" -n 2 -d 0 -q -t 20 -T 20' "sh -c '$look'" "$1" ||
	    [ $? -eq 3 ]
	diff direct seen
}

@test "descriptors 0 to 9 are passed on as they are, closed ones closed" {
	for fd in 0 1 2 3 4 5 6 7 8 9; do
		echo "$fd" >"f$fd"
	done
	some='3<>f3 4<f4 5>>f5 6>f6 7<>f7 8<f8 9<>f9'
	looked "<f0 >f1 2>f2 $some"
	looked "<&- >f1 2>f2 $some"
	looked "<f0 >&- 2>f2 $some"
	looked "<&- >&- 2>f2 $some"
	looked "<f0 >f1 2>&- $some"
	looked "<&- >f1 2>&- $some"
	looked "<f0 >&- 2>&- $some"
	looked "<&- >&- 2>&- $some"
}

@test "with nothing open at all nothing is opened for the command" {
	looked '<&- >&- 2>&- 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-'
}

@test "descriptors above 9 are passed on, and none of retry beside them" {
	looked '3>&- 10<>f10 11<>f11 12<>f12 20<>f20 63<>f63'
}

@test "messages of retry leave the flags of stderr alone" {
	mkfifo pipe
	exec 5<>pipe
	grep flags /proc/self/fdinfo/2 >direct 2>pipe
	"$RETRY" -n 3 -d 0 -v sh -c 'grep flags /proc/self/fdinfo/2; exit 3' \
	    >under 2>pipe || [ $? -eq 3 ]
	cat direct direct direct | diff - under
	read -r -t 20 line <&5
	[ "$line" = 'retry: attempt 1/3 failed (exit 3), retrying in 0s' ]
}

@test "with stderr closed messages of retry go nowhere" {
	for fd in 3 4 5 6 7 8 9; do
		: >"f$fd"
	done
	for closed in '' '<&-' '>&-' '<&- >&-'; do
		rm -f ran
		status=0
		eval '"$RETRY" -v -n 2 -d 0 sh -c "echo >>ran; exit 7" <f3 >f4 2>&- \
		    3<>f3 4<>f4 5<>f5 6<>f6 7<>f7 8>>f8 9<>f9' "$closed" || status=$?
		[ "$status" -eq 7 ]
		[ "$(lines ran)" -eq 2 ]
		[ "$(cat f?)" = '' ]
	done
}

@test "with stderr closed and hardly a descriptor allowed nothing is different" {
	for most in 8 10 11 12; do
		for closed in '2>&-' '<&- 2>&-' '<&- >&- 2>&-'; do
			rm -f ran.?
			status=0
			(
				eval "exec $closed"
				ulimit -n $most
				exec timeout 20 "$RETRY" -v -n 2 -d 0 \
				    sh -c 'touch "ran.$RETRY_ATTEMPT"; exit 127'
			) || status=$?
			[ "$status" -eq 127 ]
			[ -e ran.2 ]
		done
	done
}

@test "a stderr that is only for reading is never written to" {
	echo precious >file
	mkfifo pipe
	exec 5<>pipe
	for sink in file pipe; do
		status=0
		"$RETRY" -v -n 2 -d 0 sh -c 'echo >>ran; exit 7' 2<"$sink" ||
		    status=$?
		[ "$status" -eq 7 ]
	done
	[ "$(lines ran)" -eq 4 ]
	[ "$(cat file)" = precious ]
	run -1 read -r -t 0 <&5
}

@test "lines of retry and of the command keep their order in a file" {
	for how in '2>' '2>>' '>both 2>&1 #' '>>both 2>&1 #'; do
		: >both
		eval '"$RETRY" -n 2 -d 0 sh -c "echo theirs >&2; exit 7"' "$how"both ||
		    [ $? -eq 7 ]
		diff - both <<-'END'
			theirs
			retry: attempt 1/2 failed (exit 7), retrying in 0s
			theirs
			retry: attempt 2/2 failed (exit 7), giving up: attempts exhausted
		END
	done
}

@test "a full disk under stderr changes nothing else" {
	status=0
	"$RETRY" -v -n 2 -d 0 sh -c 'echo out; exit 7' >out 2>/dev/full || status=$?
	[ "$status" -eq 7 ]
	[ "$(cat out)" = $'out\nout' ]
	"$RETRY" -v true 2>/dev/full
}

@test "a stderr without a reader changes nothing else" {
	"$PYTHON" -IS - "$RETRY" <<-'END'
		import os, subprocess, sys
		theirs, ours = os.pipe()
		os.close(theirs)
		end = subprocess.run([sys.argv[1], '-v', '-n', '3', '-d', '0',
		                      'sh', '-c', 'echo out; exit 7'],
		                     stdout=subprocess.PIPE, stderr=ours)
		print(end)
		assert end.returncode == 7 and end.stdout == b'out\n' * 3
	END
}

#
# A stderr that is full and not being read
#

@test "a full socket as stderr does not keep a signal from ending retry" {
	"$PYTHON" -IS - "$RETRY" <<-'END'
		import os, signal, socket, subprocess, sys, time
		for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
		    ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
		    theirs.setblocking(False)
		    try:
		        while theirs.send(b'.' * 100):
		            pass
		    except BlockingIOError:
		        theirs.setblocking(True)
		    run = subprocess.Popen([sys.argv[1], '-d', '0', '-T', '0.2',
		                            'sh', '-c', 'echo out; exec sleep 20'],
		                           stdout=subprocess.PIPE, stderr=theirs)
		    out = run.communicate(timeout=20)[0]
		    print(run.returncode, out)
		    assert run.returncode == 124 and out == b'out\n'
	END
}

# full: ./full is a pipe without room, held open by descriptor 5
full()
{
	mkfifo full
	exec 5<>full
	"$PYTHON" -IS -c 'import os
pipe = os.open("full", os.O_RDWR | os.O_NONBLOCK)
for size in 65536, 4096, 1:
    try:
        while os.write(pipe, b"." * size):
            pass
    except BlockingIOError:
        pass'
}

# start_full [OPTION]... COMMAND...: retry in the background with ./full as
# its stderr
start_full()
{
	start sh -c 'exec "$RETRY" "$@" 2>full 5>&-' sh "$@"
}

# idle: retry sleeps, and the command has been waited for
idle()
{
	[ -e ran ] && [ -z "$(cat "/proc/$pid/task/$pid/children")" ] &&
	    grep -q '^State:.S' "/proc/$pid/status"
}

@test "a full stderr does not keep a signal from ending the delay" {
	full
	start_full -d 100 -j none sh -c 'echo >>ran; exit 7'
	wait_for idle
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	[ "$(lines ran)" -eq 1 ]
}

@test "a full stderr does not put off a timeout" {
	full
	start_full -v -n inf -T 1 -t 200ms -k 100ms -d 0 \
	    sh -c 'trap "" TERM; echo >>ran; exec sleep 20'
	ended
	[ "$status" -eq 124 ]
	[ -e ran ]
}

@test "a full stderr does not put off the deadline" {
	full
	start_full -v -T 300ms sh -c 'echo >>ran; exec sleep 20'
	ended
	[ "$status" -eq 124 ]
	[ "$(lines ran)" -eq 1 ]
}

@test "a full stderr does not keep retry from ending" {
	full
	start_full -v -n 1 false
	ended
	[ "$status" -eq 1 ]
	start_full ./nosuch
	ended
	[ "$status" -eq 127 ]
}

@test "messages that wait for a full stderr arrive whole once it is read" {
	full
	start_full -n 2 -d 0 sh -c 'echo >>ran; exit 7'
	wait_for test -e ran
	exec 6<full # so that there always is somebody who could read
	cat <&6 >drained 3>&- 5>&- 6<&- &
	exec 5>&- 6<&-
	ended
	wait $!
	[ "$status" -eq 7 ]
	[ "$(lines ran)" -eq 2 ]
	diff - <(tr -d . <drained | sed 's/([^)]*)//') <<-'END'
		retry: attempt 1/2 failed , retrying in 0s
		retry: attempt 2/2 failed , giving up: attempts exhausted
	END
}

#
# Streams
#

@test "what the command writes passes unchanged" {
	head -c 1000000 /dev/urandom >bytes
	"$RETRY" cat bytes | cmp - bytes
	"$RETRY" -q sh -c 'exec cat bytes >&2' 2>&1 | cmp - bytes
	"$RETRY" cat bytes >copy
	cmp bytes copy
}

@test "what the command reads passes unchanged" {
	head -c 1000000 /dev/urandom >bytes
	"$RETRY" cat <bytes >copy
	cmp bytes copy
	"$RETRY" sh -c 'cat >another' < <(cat bytes)
	cmp bytes another
}

@test "retry takes no lines from a loop that reads them" {
	printf 'a\nb\nc\n' | while read -r line; do
		"$RETRY" -q -n 2 -d 0 -T 20 sh -c 'echo "$0"; exit 3' "$line" ||
		    [ $? -eq 3 ]
	done >out
	[ "$(tr -d '\n' <out)" = aabbcc ]
}

@test "retry takes nothing of a script that is piped into a shell" {
	printf '%s\n' '"$RETRY" -d 0 sh -c "test \$RETRY_ATTEMPT -eq 2"' \
	    'echo rest' >script
	run -0 --separate-stderr sh < <(cat script)
	[ "$output" = rest ]
	[ "$stderr" = 'retry: attempt 1/5 failed (exit 1), retrying in 0s' ]
}

@test "what the command leaves unread is left to the next reader" {
	run -0 sh -c 'printf "a\nb\nc\n" | {
		"$RETRY" sh -c "read -r line; echo command \$line"
		while read -r line; do echo "next $line"; done
	}'
	[ "$output" = $'command a\nnext b\nnext c' ]
}

@test "a background child of a command that succeeded keeps its stdout" {
	"$RETRY" sh -c '{ for n in $(seq 2000); do
		[ ! -e go ] || exec echo late
		sleep 0.01
	done; } &' >out
	[ ! -s out ]
	touch go
	wait_for grep -qx late out
}

#
# Statuses
#

@test "retry exits with each of the 256 statuses of its command" {
	for code in {0..255}; do
		status=0
		"$RETRY" -q -n 1 sh -c "exit $code" || status=$?
		[ "$status" -eq "$code" ] || {
			echo "$status instead of $code"
			return 1
		}
	done
}

@test "retry dies of the SEGV of its command, without a core" {
	case $(</proc/sys/kernel/core_pattern) in
	'' | \|* | */*) skip 'a core would not stay in this directory' ;;
	esac
	ulimit -c unlimited || skip 'there is a limit on cores'
	run -0 "$PYTHON" -IS -c 'import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
end = os.waitpid(pid, 0)[1]
print("signal", os.WTERMSIG(end), "core", os.WCOREDUMP(end))' \
	    "$RETRY" -q -n 1 sh -c 'ulimit -c; kill -SEGV $$'
	[ "$output" = $'unlimited\nsignal 11 core False' ]
}

@test "under make -j2 the jobserver reaches the command" {
	echo 'all: ; +@"$$RETRY" -n 1 $(MAKE) -f inner' >Makefile
	# Each waits for the other: they run at the same time, or fail.
	cat >inner <<-'END'
		all: one two
		one two: ; @sh ./meet $@
	END
	cat >meet <<-'END'
		touch "$1.here"
		for n in $(seq 500); do
			[ ! -e one.here ] || [ ! -e two.here ] || exec echo "$1"
			sleep 0.01
		done
		exit 1
	END
	run -0 env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -j2
	[ "$(sort <<<"$output")" = $'one\ntwo' ]
}

#
# Finding the command
#

@test "a command is looked for in PATH, in order" {
	script one/it
	script two/it
	where=$PWD/none:$PWD/one:$PWD/two:$PATH searched it a 'b c'
	[ "$(cat under)" = "$PWD/one/it 2 a b c" ]
}

@test "a command with a slash is not looked for in PATH" {
	script one/sub/it
	where=$PWD/one:$PATH searched sub/it
	[ "$status" -eq 127 ]
	cd one
	searched sub/it
	[ "$status" -eq 0 ]
}

@test "an empty element of PATH is the working directory" {
	script it
	for path in ":$PATH" "$PATH:" "$PATH::$PATH" ''; do
		where=$path searched it
		[ "$status" -eq 0 ]
	done
	where=/nowhere searched it
	[ "$status" -eq 127 ]
}

@test "without PATH the default directories of the system are searched" {
	unset where
	searched sh -c 'echo found'
	[ "$status" -eq 0 ]
	[ "$(cat under)" = found ]
}

@test "directories, files that are not executable and bad elements of PATH are skipped" {
	script one/it 644
	mkdir -p two/it
	touch three
	script four/it
	where=$PWD/one:$PWD/two:$PWD/three:$PWD/four searched it
	[ "$status" -eq 0 ]
	[ "$(cat under)" = "$PWD/four/it 0" ]
}

@test "a file that was found and could not be executed is 126, even if it is first" {
	script one/it 644
	where=$PWD/one:$PWD/none searched it
	[ "$status" -eq 126 ]
	[ "$(cat err)" = "retry: cannot run 'it': Permission denied" ]
	mkdir -p two/it
	where=$PWD/two searched it
	[ "$status" -eq 126 ]
	searched ./two
	[ "$status" -eq 126 ]
	searched ./one/it/further
	[ "$status" -eq 126 ]
}

@test "a name in no directory of PATH is 127" {
	where=$PWD/one:$PWD searched it
	[ "$status" -eq 127 ]
	[ "$(cat err)" = "retry: cannot run 'it': No such file or directory" ]
	searched ''
	[ "$status" -eq 127 ]
	searched ./nosuch
	[ "$status" -eq 127 ]
}

@test "a name that is too long or a link to itself is 126" {
	local longest
	longest=$(printf '%0255d' 0)
	script "one/$longest"
	where=$(printf '/%05000d' 0):$PWD/one searched "$longest"
	[ "$status" -eq 0 ]
	searched "$(printf '%0300d' 0)"
	[ "$status" -eq 126 ]
	searched "./$(printf '%0300d' 0)"
	[ "$status" -eq 126 ]
	ln -s itself itself
	searched ./itself
	[ "$status" -eq 126 ]
}

@test "a script whose interpreter is missing is 127" {
	printf '#!%s/nosuch\n' "$PWD" >script
	chmod +x script
	searched ./script
	[ "$status" -eq 127 ]
	[ "$(cat err)" = "retry: cannot run './script': No such file or directory" ]
}

@test "a script without a first line of its own is run by /bin/sh" {
	mkdir one
	echo 'echo "$0" "$#" "$@"; exit 3' >one/it
	: >one/empty
	chmod +x one/it one/empty
	searched one/it
	[ "$status" -eq 3 ]
	[ "$(cat under)" = 'one/it 0' ]
	where=$PWD/one:$PATH searched it a '' 'b c' $'d\ne'
	[ "$status" -eq 3 ]
	searched one/empty a
	[ "$status" -eq 0 ]
}

@test "a script without a first line of its own is retried like any other" {
	echo 'echo "$1" "$RETRY_ATTEMPT"; exit 3' >it
	chmod +x it
	run -3 "$RETRY" -q -n 3 -d 0 ./it arg
	[ "$output" = $'arg 1\narg 2\narg 3' ]
}

# busy: ./busy is a program that process $holder has open for writing
busy()
{
	cp "$(type -P bash)" busy
	sh -c 'touch open; exec sleep 30' 9>>busy 3>&- &
	holder=$!
	wait_for test -e open
}

@test "a program that is being written is tried again until it is not" {
	busy
	start "$RETRY" -n inf -d 20ms -j none -b constant ./busy -c true
	wait_for test -s err
	kill "$holder"
	ended
	[ "$status" -eq 0 ]
	[ "$(head -n 1 err)" = \
	    'retry: attempt 1 not started (Text file busy), retrying in 20ms' ]
}

@test "a program that stays busy is 126 in the end" {
	busy
	run -126 --separate-stderr "$RETRY" -n 2 -d 0 ./busy -c true
	kill "$holder"
	diff - <(echo "$stderr") <<-'END'
		retry: attempt 1/2 not started (Text file busy), retrying in 0s
		retry: attempt 2/2 not started (Text file busy), giving up: attempts exhausted
	END
}
