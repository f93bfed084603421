#!/usr/bin/env bats
# Covers output/countdown, output/sd_notify.
# What retry shows while it waits: a countdown on a terminal, and a status to
# systemd.

# shellcheck disable=SC2016 # what is quoted is for another shell
# shellcheck disable=SC2030,SC2031 # each test has a shell of its own
# shellcheck disable=SC2154 # draws sets what is read

load helper
load actor

setup()
{
	helper_setup
	export MARK=$BATS_TEST_TMPDIR HOME=$BATS_TEST_TMPDIR HISTFILE=
	export TERM=xterm
	unset CI NOTIFY_SOCKET
}

# draws STATUS STEP... -- COMMAND...: pty; in ./out a carriage return is @, and
# what erases the rest of the line is #.
draws()
{
	pty "$@" || return
	mv out raw
	sed -e $'s/\r/@/g' -e $'s/\e\\[K/#/g' raw >out
}

# shows REGEX...: ./out consists of lines that are all like this.
shows()
{
	local regex=
	while [ $# -gt 0 ]; do
		regex+=$1$'\n'
		shift
	done
	[[ $(cat out)$'\n' =~ ^$regex$ ]] || {
		echo "instead of: $regex"
		cat -A out
		return 1
	} >&2
}

# No countdown was shown, and nothing else that only a terminal understands.
plain()
{
	grep -q retrying out
	! grep -q '[@#]' out || {
		cat -A out
		return 1
	} >&2
}

# A wait that is long enough, and what is to be seen of it.
long=(-n 2 -d 1.1 -j none)
counted='(@retry: attempt 2/2 in [12]s#@)+@#'
first='retry: attempt 1/2 failed \(exit 1\), retrying in 1.1s'
second='retry: attempt 2/2 failed \(exit 1\), giving up: attempts exhausted'

#
# What is shown
#

@test "a long wait is counted down on one line, which is cleared" {
	draws 1 -- "$RETRY" "${long[@]}" -- false
	shows "$first" "$counted$second"
	grep -q '@retry: attempt 2/2 in 2s#' out
}

@test "a message of another retry on the terminal does not follow a countdown on its line" {
	draws 5 'see:in 30s' 'type:^M' -- sh -c 'stty -echo
		"$RETRY" -n 2 -d 30 -j none -- false &
		"$RETRY" -n 1 -- sh -c "read line; exit 5" || status=$?
		kill $!
		wait
		exit $status'
	grep -q '@retry: attempt 1/1 failed (exit 5)' out
}

# bats test_tags=slow
@test "the countdown goes down and never says 0s" {
	draws 1 -- "$RETRY" -n 2 -d 2.1 -j none -- false
	grep -o 'in [0-9.]*s#' out >seconds
	diff seconds <(sort -r seconds)
	[ "$(head -n 1 seconds)" = 'in 3s#' ]
	! grep -q 'in 0' seconds
}

@test "a wait of a second is not counted down" {
	draws 1 -- "$RETRY" -n 2 -d 1 -j none -- false
	plain
}

# bats test_tags=slow
@test "each long wait is counted down, with the attempt that it is for" {
	draws 1 -- "$RETRY" -n 3 -d 1.1 -j none -- false
	grep -q '@retry: attempt 2/3 in 2s#' out
	grep -q '@retry: attempt 3/3 in 2s#' out
	[ "$(grep -o '@#retry' out | wc -l)" -eq 2 ]
}

@test "the label stands in the countdown, too" {
	draws 1 -- "$RETRY" --label nightly -n 2 -d 1.1 -j none -- false
	grep -q '@retry: nightly: attempt 2/2 in 2s#' out
}

@test "without a limit of attempts the countdown has no total" {
	draws 130 'see:attempt 2 in 3s' 'type:^C' -- \
	    "$RETRY" -n inf -d 3 -j none -- false
}

# bats test_tags=slow
@test "the wait before the first attempt is counted down as well" {
	draws 0 -- "$RETRY" --seed 2 --splay 5 -- true
	grep -q '@retry: attempt 1/5 in [1-5]s#' out
	[[ $(cat out) == *'@#' ]]
}

@test "a very long wait is counted in minutes" {
	draws 130 'see:attempt 2/5 in 2h' 'type:^C' -- \
	    "$RETRY" -d 2h --max-delay 2h -j none -- false
}

@test "Ctrl-C clears the countdown, with what the terminal has made of the key" {
	draws 130 'see:in 30s' 'type:^C' -- \
	    "$RETRY" "${long[@]}" -d 30 -- false
	[[ $(cat out) == *'^C'*'@#' ]]
}

@test "TERM clears the countdown" {
	draws 143 'see:in 29s' -- bash -c '
		sleep 1.5 && kill -TERM $$ &
		exec "$RETRY" -n 2 -d 30 -j none -- false'
	[[ $(cat out) == *'@#' ]]
}

# bats test_tags=slow
@test "output of a hook does not follow a countdown on its line" {
	draws 1 -- "$RETRY" "${long[@]}" \
	    -d 1.6 --on-retry 'echo early; sleep 0.2; echo hook' -- false
	shows "${first/1.1/1.6}" early hook "$counted$second"
}

# bats test_tags=slow
@test "the message about a failed hook does not follow a countdown on its line" {
	draws 1 -- "$RETRY" "${long[@]}" -d 1.6 \
	    --on-retry 'sleep 0.2; exit 3' -- false
	shows "${first/1.1/1.6}" 'retry: --on-retry failed \(exit 3\)' \
	    "$counted$second"
}

#
# Where it is shown
#

# bats test_tags=slow
@test "there is no countdown where standard error is no terminal" {
	local when
	for when in auto always; do
		draws 1 -- sh -c '"$RETRY" "$@" 2>err; s=$?; cat err; exit $s' \
		    sh "${long[@]}" --progress "$when" -- false
		plain
	done
}

@test "there is a countdown where only standard error is a terminal" {
	draws 1 -- sh -c '"$RETRY" "$@" </dev/null >/dev/null' sh \
	    "${long[@]}" -- false
	shows "$first" "$counted$second"
}

@test "there is no countdown with --progress never" {
	draws 1 -- "$RETRY" "${long[@]}" --progress never -- false
	plain
}

# bats test_tags=slow
@test "there is none with -q, whatever --progress says" {
	local when
	for when in auto always; do
		draws 7 -- "$RETRY" "${long[@]}" -q --progress "$when" -- \
		    sh -c 'exit 7'
		[ ! -s out ]
	done
}

# bats test_tags=slow
@test "there is none among lines that are JSON or for GitHub" {
	local format
	for format in json github; do
		draws 1 -- "$RETRY" "${long[@]}" --progress always \
		    --log-format "$format" -- false
		plain
	done
}

@test "there is none where standard error is held" {
	draws 1 -- "$RETRY" "${long[@]}" -E --progress always -- false
	grep -q 'giving up' out
	! grep -q '[@#]' out
}

# bats test_tags=slow
@test "there is none where the terminal could not clear it" {
	local TERM
	for TERM in dumb ''; do
		draws 1 -- "$RETRY" "${long[@]}" --progress always -- false
		plain
	done
	draws 1 -- env -u TERM "$RETRY" "${long[@]}" -- false
	plain
}

# bats test_tags=slow
@test "in a CI job with a terminal only --progress always shows it" {
	export CI=true
	draws 1 -- "$RETRY" "${long[@]}" -- false
	plain
	draws 1 -- "$RETRY" "${long[@]}" --progress always -- false
	shows "$first" "$counted$second"
}

# bats test_tags=slow
@test "on a terminal that is not ours only --progress always shows it" {
	command -v setsid >/dev/null || skip "no setsid here"
	draws 1 -- setsid -w "$RETRY" "${long[@]}" -- false
	plain
	draws 1 -- setsid -w "$RETRY" "${long[@]}" --progress always -- false
	shows "$first" "$counted$second"
}

# A shell as it stands before a person.
person=(bash --norc --noprofile --noediting -i)
prompt='see:person> '
export PS1='person> '

@test "a background job does not draw a countdown over what a person types" {
	draws 5 "$prompt" \
	    'type:"$RETRY" -n 2 -d 1.1 -j none -- false & wait; wait; touch done^M' \
	    see:retrying exists:done 'type:exit 5^M' -- "${person[@]}"
	plain
}

# bats test_tags=slow
@test "a job that goes to the background stops counting, and goes on with fg" {
	draws 5 "$prompt" \
	    'type:"$RETRY" -d 60 -j none -- false^M' \
	    'see:in 1m' see:in 'type:^Z' see:Stopped "$prompt" \
	    'type:bg^M' see:false "$prompt" more:1.5 \
	    'type:echo type\d^M' see:typed "$prompt" \
	    'type:fg^M' see:false 'see:in 5' 'type:^C' "$prompt" \
	    'type:exit 5^M' -- "${person[@]}"
	# From bg to fg there is none.
	! sed -n '/person> bg/,/^typed/p' out | grep '[@#]'
}

# bats test_tags=slow
@test "a countdown that does not fit on one line is not shown" {
	local stty='stty cols'
	draws 1 -- sh -c "$stty"' 24; exec "$RETRY" "$@"' sh "${long[@]}" -- false
	plain
	draws 1 -- sh -c "$stty"' 25; exec "$RETRY" "$@"' sh "${long[@]}" -- false
	shows "$first" "$counted$second"
}

# bats test_tags=slow
@test "a terminal that is stopped by Ctrl-S stops neither retry nor its lines" {
	draws 0 'see:in 2s' 'type:^S' exists:second exists:third 'type:^Q' \
	    'see:retry: attempt 2/4' 'type:^M' -- \
	    "$RETRY" -v -n 4 -d 2,1.1 -j none -- sh -c '
		case $RETRY_ATTEMPT in
		2) touch second; exit 1 ;;
		3) touch third; read x ;;
		*) exit 1 ;;
		esac'
	grep -q '@retry: attempt 2/4 in 2s#' out
	# Where a countdown stood nothing else was written over it.
	run ! grep -E '#[^@r]|[^@#]retry:|[^@]#retry:' out
	run ! grep -E '[^#]retry: attempt [23]/4 (failed|succeeded)' out
	[[ $(tail -n 1 out) == 'retry: ended after 3 attempts'* ]]
}

#
# systemd
#

# notified [COMMAND]...: what it sends to NOTIFY_SOCKET is in ./heard, one
# message a line; $address is where that is.
notified()
{
	"$PYTHON" -IS - "$address" "$@" 2>>err 3>&- <<-'END'
		import os, socket, sys
		name = sys.argv[1]
		ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		ear.bind(name.replace("@", "\0", 1) if name[0] == "@" else name)
		ear.settimeout(0.01)
		# As subprocess does, which takes twice as long to start.
		child = os.posix_spawnp(sys.argv[2], sys.argv[2:],
		    dict(os.environ, NOTIFY_SOCKET=name), setsigdef=[13, 25],
		    file_actions=[(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0)])
		with open("heard", "wb") as heard:
		    over = status = 0
		    while True:
		        if not over:
		            over, status = os.waitpid(child, os.WNOHANG)
		        try:
		            heard.write(ear.recv(4096).replace(b"\n", b"|") + b"\n")
		        except (TimeoutError, socket.timeout, BlockingIOError):
		            if over:
		                break
		sys.exit(os.waitstatus_to_exitcode(status))
	END
}

@test "systemd is told what retry is doing" {
	address=$PWD/socket
	is 7 notified "$RETRY" -n 2 -d 1.2 -j none -- sh -c 'exit 7'
	cat heard
	diff - heard <<-'END'
		STATUS=attempt 1/2 running
		STATUS=waiting 1.2s before attempt 2/2
		STATUS=attempt 2/2 running
		STATUS=gave up: attempts exhausted
	END
}

@test "systemd is told of a success" {
	address=$PWD/socket
	is 0 notified "$RETRY" -d 0 -- sh -c 'test "$RETRY_ATTEMPT" = 2'
	[ "$(tail -n 1 heard)" = 'STATUS=succeeded' ]
}

@test "systemd is told with -q as well" {
	address=$PWD/socket
	is 1 notified "$RETRY" -q -n 1 -- false
	[ "$(lines heard)" -eq 2 ]
}

@test "systemd is told on an abstract socket" {
	address=@retry-$$-$BATS_TEST_NUMBER
	is 1 notified "$RETRY" -n 1 -- false
	[ "$(head -n 1 heard)" = 'STATUS=attempt 1/1 running' ]
}

@test "the command has NOTIFY_SOCKET as it was, and its own messages arrive" {
	address=$PWD/socket
	is 0 notified "$RETRY" -- "$PYTHON" -IS -c '
import os, socket, sys
name = os.environ["NOTIFY_SOCKET"]
ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
ear.sendto(b"READY=1\nSTATUS=own", name)
sys.exit(name != sys.argv[1])' "$address"
	grep -qx 'READY=1|STATUS=own' heard
}

@test "a hook may tell systemd itself" {
	address=$PWD/socket
	is 1 notified "$RETRY" -n 1 \
	    --on-give-up 'echo "at $NOTIFY_SOCKET"' -- false
	grep -qx "at $address" err
}

@test "messages to systemd that nobody receives change nothing" {
	local NOTIFY_SOCKET
	export NOTIFY_SOCKET
	for NOTIFY_SOCKET in "$PWD/missing" @retry-missing-$$ . x '' / @ \
	    vsock:2:1 "/$(printf %0107d 0)" "/$(printf %0200d 0)"; do
		rm -f err
		is 7 "$RETRY" -n 2 -d 0 -- sh -c 'exit 7'
		[ "$(lines err)" -eq 2 ]
	done
}

@test "an address of the greatest length is used" {
	local room=$((107 - ${#PWD} - 1))
	((room > 0)) || skip "$PWD is too long"
	address=$PWD/$(printf "%0${room}d" 0)
	is 1 notified "$RETRY" -n 1 -- false
	[ "$(lines heard)" -eq 2 ]
}

@test "retry does not wait for a systemd that does not read" {
	is 0 "$PYTHON" -IS - "$RETRY" <<-'END'
		import os, socket, subprocess, sys
		ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		ear.bind("socket")
		mouth = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		mouth.setblocking(False)
		try: # until it has heard as much as it can
		    while True:
		        mouth.sendto(b"x", "socket")
		except BlockingIOError:
		    pass
		environment = dict(os.environ,
		                   NOTIFY_SOCKET=os.path.abspath("socket"))
		end = subprocess.run(
		    [sys.argv[1], "-q", "-n", "20", "-d", "0",
		     "sh", "-c", "exit 7"],
		    env=environment, timeout=60)
		sys.exit(end.returncode != 7)
	END
}

@test "without NOTIFY_SOCKET no socket is opened" {
	inject socket:delay_enter=1
	is 7 strace -qq -o trace -e trace=socket,sendto "$RETRY" -n 2 -d 0 -- \
	    sh -c 'exit 7'
	[ ! -s trace ]
	NOTIFY_SOCKET=$PWD/none is 7 strace -qq -o trace -e trace=socket \
	    "$RETRY" -n 1 -- sh -c 'exit 7'
	[ -s trace ]
}

#
# Waits do not spin
#

# vanishing READY COMMAND...: COMMAND with standard error on a terminal that is
# gone once READY has come from it; nobody is hung up
vanishing()
{
	"$PYTHON" -IS -c 'if True:
		import os, signal, subprocess, sys
		signal.signal(signal.SIGHUP, signal.SIG_IGN)
		line, terminal = os.openpty()
		child = subprocess.Popen(sys.argv[2:], stderr=terminal)
		os.close(terminal)
		came = b""
		while sys.argv[1].encode() not in came:
		    came += os.read(line, 4096)
		os.close(line)
		status = child.wait()
		sys.exit(status if status >= 0 else 128 - status)' "$@" 3>&-
}

# $calm runs a command and writes down each of its waits; calm MOST: there were
# some, and no more than that. A wait that comes back at once, over and over,
# makes tens of thousands of them in a second.
calmly()
{
	inject getppid:delay_enter=1 # where that works, so does the other
	calm=(strace -qq -o waits -e 'trace=?ppoll,?ppoll_time64')
}
calm()
{
	[ "$(lines waits)" -gt 0 ] && [ "$(lines waits)" -le "$1" ] || {
		echo "$(lines waits) waits"
		tail -n 5 waits
		return 1
	}
}

# bats test_tags=slow
@test "after a terminal goes away during a countdown the wait still sleeps" {
	calmly
	is 1 vanishing 'in 3s' "${calm[@]}" "$RETRY" -n 2 -d 2.5 -j none \
	    --progress always -- false
	calm 100
	is 0 vanishing 'in ' "${calm[@]}" "$RETRY" --seed 2 --splay 5 \
	    --progress always -- true
	calm 100
}

# bats test_tags=slow
@test "after a terminal goes away at any other time the waits still sleep" {
	calmly
	is 0 vanishing hi "${calm[@]}" "$RETRY" --preset net -- \
	    sh -c 'echo hi >&2; sleep 1.2; exit 0'
	calm 100
	is 1 vanishing retrying "${calm[@]}" "$RETRY" -v -n 2 -d 0 -- \
	    sh -c 'sleep 1.2; exit 1'
	calm 100
	is 1 vanishing retrying "${calm[@]}" "$RETRY" -n 2 -d 0 \
	    --on-give-up 'sleep 1.2' -- false
	calm 100
}

# bats test_tags=slow
@test "no wait returns at once, over and over, with nothing done" {
	calmly
	mkfifo pipe
	exec 7<>pipe
	# a delay, a hook, a limit's grace, and nothing of all that
	is 1 "${calm[@]}" "$RETRY" -n 2 -d 1.2 -j none -- false
	calm 100
	is 1 "${calm[@]}" "$RETRY" -n 2 -d 0 --on-retry 'sleep 1.2' \
	    --on-give-up 'sleep 1.2' -- false
	calm 100
	is 124 "${calm[@]}" "$RETRY" -n 1 -t 0.1 -k 1.2 -- \
	    sh -c 'trap "" TERM; sleep 1.5; sleep 1.5'
	calm 300 # who is dying is looked at 50 times a second
	is 0 "${calm[@]}" "$RETRY" -n 2 -T 20 -- sleep 1.2
	calm 100
	# input that is guarded, idle and at its end, or replayed
	is 0 sh -c 'exec "$@" <pipe 7>&-' sh "${calm[@]}" "$RETRY" -- sleep 1.2
	calm 100
	: | is 0 "${calm[@]}" "$RETRY" -- sleep 1.2
	calm 100
	is 124 sh -c 'exec "$@" <pipe 7>&-' sh "${calm[@]}" "$RETRY" -I -T 1.2 -- true
	calm 100
	# output that is relayed or held, and whose reader takes nothing or is gone
	is 0 "${calm[@]}" "$RETRY" -O -E --preset net -- sleep 1.2
	calm 300
	is 125 sh -c 'exec "$@" >pipe' sh "${calm[@]}" "$RETRY" -T 1.2 \
	    --fail-on stdout:zzz -- head -c 110000 /dev/zero
	calm 300
	is 143 "${calm[@]}" sh -c '(sleep 1.2; kill "$$") >/dev/null &
		exec "$RETRY" -O -n 1 -- head -c 200000 /dev/zero >pipe'
	calm 300
	exec 7>&-
	"${calm[@]}" "$RETRY" --fail-on stdout:zzz -- \
	    sh -c 'trap "" PIPE; sleep 0.2; echo; sleep 1.2' | true
	calm 100
}

# bats test_tags=slow
@test "lines that nobody reads do not keep a wait awake" {
	calmly
	mkfifo pipe
	exec 7<>pipe
	head -c 65536 /dev/zero >&7 # it is full
	is 1 sh -c 'exec "$@" 2>pipe' sh "${calm[@]}" "$RETRY" -n 2 -d 1.2 \
	    -j none -- false
	calm 100
	exec 7>&-
}

# bats test_tags=slow
@test "a wait for a budget or a breaker sleeps between its questions" {
	calmly
	mkdir budgets
	export RETRY_BUDGET_DIR=$PWD/budgets
	is 1 "${calm[@]}" "$RETRY" -q -n 2 -d 0 -B none --budget-min 0 \
	    --budget-wait 1.2 -- false
	calm 200
}
