#!/usr/bin/env bats
# Covers attempt/attempt, streams/streams, sys/sys, sys/program.
# A command cannot tell that it runs under retry: `cmd` is compared with
# `retry cmd`.
# shellcheck disable=SC2034 # the rows and the commands' shells expand

load helper

# twice FILE OTHER: OTHER has the text of FILE twice
twice() {
	local one two
	IFS= read -rd '' one <"$1" || :
	IFS= read -rd '' two <"$2" || :
	[ "$two" = "$one$one" ] || diff -a "$1" "$2"
}

# alike COMMAND...: COMMAND, which writes something and fails, writes the same
# bytes and ends with the same status directly and in both of two attempts
# under retry. What is in $before stands before either, and retry has $options.
before=()
options=()
alike() {
	local direct=0 under=0
	"${before[@]}" "$@" >direct 3>&- || direct=$?
	[ -s direct ] && [ "$direct" -ne 0 ] || return
	"${before[@]}" "$RETRY" -q -n 2 -d 0 "${options[@]}" "$@" >under 3>&- ||
		under=$?
	twice direct under || return
	[ "$direct" -eq "$under" ] || {
		echo "status $under instead of $direct: $*"
		return 1
	}
}

# added NAME...: ./under has the variables of ./direct, these of RETRY_, and no others
added() {
	local -A left=()
	local all name
	mapfile -d '' -t all <direct
	for name in "${all[@]}" "${@/#/RETRY_}"; do
		left[$name]=1
	done
	mapfile -d '' -t all <under
	for name in "${all[@]}"; do
		[[ $name != RETRY_* ]] || name=${name%%=*}
		[ -n "${left[$name]-}" ] || return
		unset "left[\$name]"
	done
	[ "${#left[@]}" -eq 0 ]
}

@test "arguments and environment arrive byte for byte" {
	rows row eval <<-'END'
	arguments
	    alike sh -c 'printf "%s<>" "$@"; exit 3' sh '' ' ' '"' "'" $'\\' \
	        '$HOME' '*' '`id`' $'new\nline' $'tab\t' $'\xff\xfe\xc3' 'a  b' -n 3 -- -q ''
	a megabyte of them
	    printf -v long '%0100000d' 0
	    alike sh -c 'echo "$# ${#9}"; exit 3' sh "$long" "$long" "$long" "$long" "$long" \
	        "$long" "$long" "$long" "$long" "$long"
	    holds direct '10 100000'
	variables, and only those of RETRY are added
	    before=(env -i A= B=x=y 'C= ' $'D=\xff\n' 'a b=c' RETRY=mine "PATH=$PATH")
	    "${before[@]}" env -0 >direct
	    "${before[@]}" "$RETRY" env -0 >under
	    added ATTEMPT DEPTH ID MAX_ATTEMPTS PARENT
	with a deadline and a last status three more, and none is needed
	    : >direct
	    env -i "$RETRY" -n 2 -d 0 -T 20 sh -c \
	        '[ "$RETRY_ATTEMPT" -eq 2 ] || exit 7; exec env -0' >under 2>err
	    sed -zi '/^RETRY_/!d' under # the shell has its own
	    added ANCESTOR_RETRY ATTEMPT DEADLINE DEPTH ID LAST_STATUS MAX_ATTEMPTS PARENT
	    reads err '*retrying in 0s'
	a large environment in a small stack
	    many=$((${RETRY_SAN:+1} + 0 ? 4000 : 6000)) # sanitizers make larger frames
	    before=(sh -c 'export $(seq -f "v%g=" "$0"); ulimit -s 128; exec "$@"' "$many")
	    alike sh -c 'echo "$v1000-"; exit 7'
	    gives 124 '' "${before[@]}" "$RETRY" -q -n 1 -t 0.2 sleep 20
	END
}

# served OPTION... [COMMAND...]: each of two attempts is the process that systemd
# started, by the rule of sd_listen_fds(3) and sd_watchdog_enabled(3)
served() {
	try status=7 out='0 0 1 none|0 0 1 none' -q -d 0 "$@" sh -c '
		echo $((LISTEN_PID - $$)) $((WATCHDOG_PID - $$)) $LISTEN_FDS ${LISTEN_PIDFDID-none}
		[ /proc/self/fd/3 -ef /dev/null ] && exit 7'
}

@test "each attempt is the process that systemd's variables name" {
	local named='echo "$LISTEN_PID $WATCHDOG_PID $LISTEN_FDS $LISTEN_PIDFDID $NOTIFY_SOCKET"; exit 3'
	# What starts a service with a socket and a watchdog.
	local under=(sh -c 'export LISTEN_PID=$$ WATCHDOG_PID=$$ LISTEN_FDS=1 LISTEN_PIDFDID=7
		exec "$@" 3</dev/null' sh)
	row 'without limits' served -n 2
	row 'in a retry within' served -n 1 env "$RETRY" -q -n 2 -d 0
	before=(env LISTEN_PID=1 WATCHDOG_PID=1 LISTEN_FDS=1 LISTEN_PIDFDID=7 NOTIFY_SOCKET=/none)
	row 'not where they name another' alike sh -c "$named"
	row 'not a hook' try status=7 says='*|> 0 0 7|*' -n 2 -d 0 --on-retry \
	    'echo $((LISTEN_PID - PPID)) $((WATCHDOG_PID - PPID)) $LISTEN_PIDFDID' sh -c 'exit 7'
}

# inherits HOW: an attempt has the signals that env HOW makes
inherits() {
	# shellcheck disable=SC2206 # may be two words
	before=(timeout 20 env $1)
	alike grep -hsE '^(Sig|Shd)[PBIC]' /proc/self/status nosuch
}

@test "what a process inherits is as without retry" {
	local handled
	handled=HUP,INT,QUIT,ILL,TRAP,ABRT,BUS,FPE,USR1,SEGV,USR2,PIPE,ALRM,TERM
	handled+=,CHLD,CONT,TSTP,TTIN,TTOU,URG,XCPU,XFSZ,VTALRM,PROF,WINCH,IO
	handled+=,PWR,SYS,RTMIN,RTMIN+1,RTMAX
	table inherits <<-'END'
		"--ignore-signal=$handled"
		"--block-signal=$handled"
		--ignore-signal
		--ignore-signal=CHLD
		--default-signal=PIPE
	END
	options=(-t 20 -T 30)
	inherits '--block-signal=USR1 --ignore-signal=USR2'
	options=() before=()
	rows row eval <<-'END'
	umask, priority, directory, group, session and limits
	    mkdir -p some/where
	    cd some/where
	    umask 027
	    ulimit -c 0 -n 100 -f 100000
	    before=(nice -n 3)
	    alike sh -c 'umask
	        pwd -P
	        read -r line </proc/self/stat
	        set -- $line
	        echo $5 $6 $7 $8 ${18} ${19} ${40} ${41}
	        for file in limits oom_score_adj cgroup status; do
	            while read -r line; do
	                case $file:$line in
	                status:[UG]id:* | status:Groups:* | status:Cap* | status:NoNew*) ;;
	                status:Sec* | status:Cpus* | status:Mems*) ;;
	                status:*) continue ;;
	                esac
	                echo "$line"
	            done <"/proc/self/$file"
	        done
	        exit 3'
	a directory that is gone
	    mkdir gone
	    cd gone
	    rmdir "$PWD"
	    gives 3 $'ran\nran' "$RETRY" -q -n 2 -d 0 sh -c 'echo ran; exit 3'
	END
}

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

# looked REDIRECTIONS [OPTION]...: descriptors are alike in two attempts and without
# retry
looked() {
	local fd direct under
	for fd in {0..9}; do
		echo "$fd" >"f$fd"
	done
	: >seen
	eval "sh -c '$look'" "$1" || :
	IFS= read -rd '' direct <seen || :
	: >seen
	eval 'exits 3 "$RETRY" -n 2 -d 0 -q' "${*:2} sh -c '$look'" "$1" || return
	IFS= read -rd '' under <seen || :
	[ "$under" = "$direct$direct" ] || diff - seen <<<"$direct$direct"
}

@test "descriptors are passed on as they are, closed ones closed" {
	local some='3<>f3 4<f4 5>>f5 6>f6 7<>f7 8<f8 9<>f9' limits='-t 20 -T 20'
	local many="<f0 >f1 2>f2 $some 10<>f10 11<>f11 12<>f12 20<>f20 63<>f63"
	local none='<&- >&- 2>&- 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-'
	table looked <<-'END'
		# None of retry beside those above 9, with limits neither.
		"$many"
		"$many" "$limits"
		"<&- >f1 2>f2 $some" "$limits"
		"$none"
		"$none" "$limits"
	END
}

# unseen REDIRECTIONS: with these and stderr closed messages of retry go nowhere
unseen() {
	local n
	for n in {3..9}; do
		: >"f$n"
	done
	to "<f3 >f4 2>&- 3<>f3 4<>f4 5<>f5 6<>f6 7<>f7 8>>f8 9<>f9 $1" \
		try status=7 runs=2 -v -n 2 -d 0 sh -c 'echo >>ran; exit 7' || return
	for n in {3..9}; do
		[ ! -s "f$n" ] || return
	done
}

# ordered REDIRECTIONS: lines of retry and of the command keep their order in ./both
ordered() {
	: >both
	to "$1" try status=7 -n 2 -d 0 sh -c 'echo theirs >&2; exit 7' &&
		holds both theirs 'retry: attempt 1/2 failed (exit 7), retrying in 0s' \
			theirs 'retry: attempt 2/2 failed (exit 7), giving up: attempts exhausted'
}

@test "messages of retry change nothing else" {
	local fails='echo out; exit 7' counts='echo >>ran; exit 7'
	echo precious >file
	table <<-'END'
		unseen '<&- >&-'
		ordered '2>both'
		ordered '>>both 2>&1'
		# A full disk.
		to '2>/dev/full' try status=7 out='out|out' -v -n 2 -d 0 sh -c "$fails"
		# A stderr that is only for reading is never written to.
		to '2<file' try status=7 runs=2 -v -n 2 -d 0 sh -c "$counts" && holds file precious
	END
	rows row eval <<-'END'
	the flags of stderr stay
	    mkfifo pipe
	    exec 5<>pipe
	    grep flags /proc/self/fdinfo/2 >direct 2>pipe
	    exits 3 "$RETRY" -n 2 -d 0 -v sh -c 'grep flags /proc/self/fdinfo/2; exit 3' >under 2>pipe
	    twice direct under
	    read -r -t 20 line <&5
	    [ "$line" = 'retry: attempt 1/2 failed (exit 3), retrying in 0s' ]
	a pipe that is only for reading is never written to
	    mkfifo pipe
	    exec 5<>pipe
	    to '2<pipe' try status=7 runs=2 -v -n 2 -d 0 sh -c 'echo >>ran; exit 7'
	    not read -r -t 0 <&5
	a stderr without a reader
	    mkfifo pipe
	    exec 5<>pipe 6>pipe 5>&-
	    to '2>&6 6>&-' try status=7 out='out|out' -v -n 2 -d 0 sh -c 'echo out; exit 7'
	END
}

# start_full [OPTION]... COMMAND...: retry in the background with ./full, a full
# pipe, as its stderr
start_full() {
	choke full
	start sh -c 'exec "$RETRY" "$@" 2>full 5>&-' sh "$@"
}

# idle: retry sleeps, and the command has been waited for
idle() {
	[ -e ran ] && childless "$pid" && state S "$pid"
}

# ran N: the command ran N times
ran() {
	local all=()
	[ ! -e ran ] || mapfile -t all <ran
	[ "${#all[@]}" -eq "$1" ]
}

# full STATUS RUNS OPTION... COMMAND...: with a full stderr retry ends so
full() {
	start_full "${@:3}"
	ended "$1"
	ran "$2"
}

# bats test_tags=slow
@test "a full stderr puts nothing off" {
	beside 'a timeout' full 124 2 -v -n 2 -t 1 -k 100ms -d 0 \
	    sh -c 'trap "" TERM; echo >>ran; exec sleep 20'
	beside 'the deadline' full 124 1 -v -T 2 sh -c 'echo >>ran; exec sleep 20'
	beside 'the end' full 1 1 -v -n 1 sh -c 'echo >>ran; exit 1'
	beside 'the end where nothing is run' full 127 0 ./nosuch
	beside 'the deadline, where it is a socket, for a stream or for messages' full_sockets
	rows beside eval <<-'END'
	a signal that ends the delay
	    start_full -d 100 -j none sh -c 'echo >>ran; exit 7'
	    wait_for idle
	    kill -TERM "$pid"
	    ended 143
	    ran 1
	messages, which arrive whole once it is read
	    mkfifo go
	    start_full -n 2 -d 0 sh -c 'echo >>ran
	        [ "$RETRY_ATTEMPT" = 2 ] || echo >go
	        exit 7'
	    exec 6<full # so that there always is somebody who could read
	    { read -rt 20 && exec cat <&6 6<&-; } <>go >drained 3>&- 5>&- &
	    exec 5>&- 6<&-
	    ended 7
	    wait $!
	    ran 2
	    tr -d '\0' <drained >told
	    holds told 'retry: attempt 1/2 failed (exit 7), retrying in 0s' \
	        'retry: attempt 2/2 failed (exit 7), giving up: attempts exhausted'
	END
}

full_sockets() {
	timeout --foreground 20 "$PYTHON" -IS - "$RETRY" -d 0 -T 1 sh -c 'echo >>ran; exec sleep 20' \
	    <<-'END'
		import os, socket, sys
		def begin(kind):
		    ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
		    theirs.setblocking(False)
		    try:
		        while theirs.send(b'.' * 100):
		            pass
		    except BlockingIOError:
		        theirs.setblocking(True)
		    error = os.POSIX_SPAWN_DUP2, theirs.fileno(), 2
		    return ours, os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ,
		                                file_actions=[error])
		for ours, pid in [begin(socket.SOCK_STREAM), begin(socket.SOCK_DGRAM)]:
		    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 124
	END
	ran 2
}

@test "what the command writes and reads passes, and nothing else is read" {
	rows row eval <<-'END'
	from pipe to pipe
	    head -c 1000000 /dev/urandom >bytes
	    "$RETRY" cat < <(cat bytes) | cmp - bytes
	    "$RETRY" -q sh -c 'exec cat bytes >&2' 2>&1 | cmp - bytes
	what a background child of a success writes
	    mkfifo go
	    "$RETRY" sh -c '{ read -r line; echo late; } <go &' >out
	    [ ! -s out ]
	    echo >go
	    wait_for holds out late
	END
}

@test "retry dies of the SEGV of its command, without a core" {
	case $(</proc/sys/kernel/core_pattern) in
	'' | \|* | */*) skip 'a core would not stay in this directory' ;;
	esac
	ulimit -c unlimited || skip 'there is a limit on cores'
	gives 0 $'unlimited\nsignal 11 core False' "$PYTHON" -IS -c 'if True:
		import os, sys
		end = os.waitpid(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ), 0)[1]
		print("signal", os.WTERMSIG(end), "core", os.WCOREDUMP(end))' \
	    "$RETRY" -q -n 1 sh -c 'ulimit -c; kill -SEGV $$'
}

# searched STATUS COMMAND...: along a PATH of $where retry finds and runs COMMAND
# and ends with STATUS, as execvp(3) would have it, which is what env calls
where=$PATH
searched() {
	local direct=0 under=(env -u PATH)
	[ -z "${where+set}" ] || under=(env "PATH=$where")
	"${under[@]}" "${@:2}" >direct 2>/dev/null 3>&- || direct=$?
	try status="$1" -n 1 "${@:2}" && [ "$direct" -eq "$1" ] && [ "$(<direct)" = "$(<out)" ]
}

# script FILE...: executables that say which they are, and their arguments
script() {
	local file
	for file; do
		printf '#!/bin/sh\necho "$0" "$#" "$@"\n' >"$file"
	done
	chmod 755 "$@"
}

@test "a command is looked for as execvp(3) does" {
	local no="No such file or directory" longest path
	mkdir -p one/sub two plain directory/it bare
	printf -v longest '%0255d' 0
	printf -v path '/%05000d' 0
	: >three
	ln -s itself itself
	script one/it two/it it one/sub/it "one/$longest" bare/it script plain/it
	printf '#!%s/nosuch\n' "$PWD" >script
	echo 'echo "$0" "$#" "$@"; exit 3' >bare/it
	chmod 644 plain/it
	table <<-'END'
		# In PATH, in order, past directories, files that are not executable and others.
		where=$PWD/none:$PWD/one:$PWD/two:$PATH searched 0 it a 'b c' && holds out "$PWD/one/it 2 a b c"
		where=$PWD/plain:$PWD/directory:$PWD/three:$PWD/two searched 0 it && holds out "$PWD/two/it 0"
		# Not with a slash.
		where=$PWD/one:$PATH searched 127 sub/it
		(cd one && searched 0 sub/it)
		# An empty element is the working directory; without PATH there are defaults.
		where=:$PATH searched 0 it
		where= searched 0 it
		where=/nowhere searched 127 it
		(unset where; searched 0 sh -c 'echo found' && holds out found)
		# One that was found and cannot be executed is 126, even if it is first.
		where=$PWD/plain:$PWD/none searched 126 it && holds err "retry: cannot run 'it': Permission denied"
		searched 126 ./plain/it/further
		# In no directory of PATH it is 127.
		where=$PWD/three:$PWD/none searched 127 nosuch && holds err "retry: cannot run 'nosuch': $no"
		searched 127 ''
		# A name that is too long or a link to itself is 126.
		where=$path:$PWD/one searched 0 "$longest"
		searched 126 "${longest}0"
		searched 126 ./itself
		# A script whose interpreter is missing is 127.
		searched 127 ./script && holds err "retry: cannot run './script': $no"
		# One without a first line of its own is run by /bin/sh.
		searched 3 bare/it && holds out 'bare/it 0'
		where=$PWD/bare:$PATH searched 3 it a '' 'b c' $'d\ne'
	END
}

@test "a script without #! is the one in PATH, whatever its name and the working directory" {
	local name
	mkdir -p bare $'new\nline'
	for name in test echo kill if [ it; do
		echo 'echo "$0 $#"' >"bare/$name"
		echo 'echo wrong' >"$name"
	done
	chmod 755 bare/*
	cp bare/it $'new\nline'
	table <<-'END'
		# Words of the shell, beside files of that name in the working directory.
		where=$PWD/bare:$PATH searched 0 test a b && holds out "$PWD/bare/test 2"
		where=$PWD/bare:$PATH searched 0 echo && holds out "$PWD/bare/echo 0"
		where=$PWD/bare:$PATH searched 0 kill -9 && holds out "$PWD/bare/kill 1"
		where=$PWD/bare:$PATH searched 0 if && holds out "$PWD/bare/if 0"
		where=$PWD/bare:$PATH searched 0 [ ] && holds out "$PWD/bare/[ 1"
		where=$PWD/nowhere:$PWD/bare searched 0 it && holds out "$PWD/bare/it 0"
		# Its path has a newline.
		where=$PWD/$'new\nline':$PATH searched 0 it 1 && holds out "$PWD/new" "line/it 1"
	END
}

@test "the search goes on after what is wrong with a directory of PATH" {
	local error long strace usual=(-q -n 1)
	printf -v long '%0300d' 0
	script it
	# The default of execvp(3), without the directories of this machine.
	need strace
	strace=$(type -P strace)
	under=(env -u PATH "$strace" -f -qq -e trace=execve -o calls)
	"${under[@]}" "$RETRY" true 2>/dev/null || skip 'no strace here that can trace'
	try status=127 nosuch
	sed -n 's/.*execve("\(.*\/nosuch\)".*/\1/p' calls >searched
	holds searched /bin/nosuch /usr/bin/nosuch
	# strace counts the calls of each process: the first of the command's fails.
	for error in ESTALE ENODEV ETIMEDOUT ENOENT ENOTDIR ENAMETOOLONG EACCES; do
		under=(env "PATH=/nowhere:/nowhere:$PWD" "$strace" -f -qq -o /dev/null
			-e "inject=execve:error=$error:when=2")
		row "$error" try out='*it 0' it
	done
	under=(env "PATH=/nowhere:/nowhere:$PWD" "$strace" -f -qq -o /dev/null
		-e inject=execve:error=EIO:when=2)
	row EIO try status=126 it
	under=(env "PATH=$PWD/$long:$PWD")
	row 'a name that is too long' try out='*it 0' it
}

@test "a program that is being written is tried again until it is not" {
	cp "$(type -P bash)" busy
	sh -c ': >open; exec sleep 30' 9>>busy 3>&- &
	holder=$!
	wait_for test -e open
	try status=126 says='attempt 1/2 not started (Text file busy), retrying in 0s|attempt 2/2 not started (Text file busy), giving up: attempts exhausted' \
	    -n 2 -d 0 ./busy -c true
	: >err
	start "$RETRY" -n inf -d 20ms -j none -b constant ./busy -c true
	wait_for test -s err
	kill "$holder"
	ended 0
	reads err 'attempt 1 not started (Text file busy), retrying in 20ms*'
}
