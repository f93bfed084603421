# shellcheck shell=bash
# What the kinds of faults share. A kind is a script that sources this, defines
#
#     plan          prints its cases, one a line, as words
#     try WORD...   runs one of them: `failed WHY`, `skipped WHY`, or it passes
#
# and ends with `faults "$@"`. Run alone it prints what failed or was left out, how far it
# is now and then, and its row of the table. A case runs in a directory of its own, where
# output and error of what it runs are in ./out and ./err.
#
#     RETRY             absolute path of the program under test
#     scenes            the names of all scenes
#     scene NAME END    a run of some kind with a command that works (at the
#                       second attempt) or fails (at both): sets what follows
#     words             the arguments of retry for it
#     usual             its status if nothing goes wrong
#     shape             an ERE, what its output is if it is a success
#     as                what makes another user of us
#     leaves, mute      the run may leave processes behind, may say nothing
#     piped             its output and error are pipes if this is pipe., not ''
#     run CMD...        runs a command line with the scene's input: sets $status
#                       and $took, in milliseconds
#     judge             complains of a run of a scene that broke a promise
#     usually           complains of one that any fault has shown in at all
#     alone             what run has begun is over soon, or it fails
#     soon WHY CMD...   CMD succeeds within three seconds, or it fails: WHY
#     recovers          shell commands for a run's command: now the breaker of
#                       the budget api recovers, and lets three more in at once
#     every_scene WORD  prints the cases WORD SCENE END, each scene with each end
#     injects           not empty: strace has to inject what its cases are about
#     list_calls        lists the calls in ./trace, of strace -y -f -b execve

kind=${0##*/}
: "${RETRY:=$(cd "${0%/*}/../.." && pwd)/retry}"
export RETRY

# What nothing may last, in milliseconds.
longest=3000

# Of the case, see below.
words=() before=() feed=/dev/null usual=0 shape='' holds='' status=0 took=0
as=() leaves='' mute='' piped='' injects=''

now() {
	echo "$((${EPOCHREALTIME/[.,]/} / 1000))"
}

failed() {
	why+="${why:+; }$*"
}

skipped() {
	left_out=$*
}

has() {
	command -v "$1" >/dev/null
}

# Whether there is a strace that may do what is asked of it here.
can_inject() {
	strace -f -b execve -qq -o /dev/null -e inject=getppid:error=EIO true 2>/dev/null
}

none_left() {
	! env -u MARK grep -qszxF "MARK=$1" /proc/[0-9]*/environ
}

soon() {
	local until=$(($(now) + longest))
	until "${@:2}"; do
		if (($(now) > until)); then
			failed "$1"
			return
		fi
		sleep 0.02
	done
}

alone() {
	soon 'a process is left' none_left "$PWD"
}

# The breaker opens, a probe succeeds, and one of the first four attempts is had. Who has
# been let in would have neither.
# shellcheck disable=SC2016,SC2034 # the command's own variable; the kinds use it
recovers='{
	unset RETRY_ADMITTED
	"$RETRY" -B api --breaker 1,1ms -n 1 false
	"$RETRY" -B api --breaker 1,1ms --budget-wait 1s -n 1 true
	"$RETRY" -B api --breaker 1,1ms -n 1 true
	} >/dev/null 2>&1'

#
# Scenes
#

# NAME WORDS | DOES: the words of retry, as a shell reads them, and what its command does
# before it ends. NAMES in capitals stand for longer commands.
# shellcheck disable=SC2016 # read by eval
scene_rows='
plain    $twice |
delays   --policy ./policy |
limits   $twice -t 0.15 -k 0.1 -T 9 | [ $RETRY_ATTEMPT = 2 ] || { trap "" TERM; sleep 5 & sleep 5; }
relay    $twice $watches | echo bad; echo bad >&2
hold     $twice -O -E | echo $RETRY_ATTEMPT; echo said >&2
held     $twice -O -E $watches | echo bad; echo said bad >&2
replay   $twice -I | READS
guard    $twice |
file     $twice | READS
http     $twice --http | ANSWERS
status   $twice --http-status=answer | ANSWERS
report   $twice --report report --metrics metrics.prom --trace spans |
budget   $twice -B api |
breaker  $twice -B api $nine |
recovery $twice -B api $nine | [ $RETRY_ATTEMPT = 2 ] || { RECOVERS; }
hooks    $twice --on-retry "echo hook" --on-give-up "echo hook" |
nested   $twice |
'
# shellcheck disable=SC2034 # the kinds use it
scenes=$(cut -d' ' -f1 <<<"$scene_rows" | xargs)

every_scene() {
	local name
	for name in $scenes; do
		printf "$1 $name %s\n" fails works
	done
}

# What the options of a scene need that is not there yet.
prepare() {
	case $1 in
	delays)
		printf '%s\n' '# a policy' attempts=2 delay=10ms,20ms jitter=equal splay=5ms >policy
		;;
	file) echo 'a line' >input ;;
	breaker)
		"${as[@]}" "$RETRY" -B api --breaker '9,1s' --budget-min 5 true >/dev/null 2>&1 || :
		;;
	nested) export RETRY_BUDGET=api ;;
	esac
}

# shellcheck disable=SC2016,SC2034 # the command's own variable; kinds read ours
scene() {
	local end='exit 7' row does twice='-n 2 -d 0'
	local watches='--retry-on stderr:bad --retry-on stdout:bad'
	local reads='read -r line; [ "$line" = "a line" ] || exit 9'
	local answers='code=503; [ "$ending$RETRY_ATTEMPT" != works2 ] ||
		code=200; printf "HTTP/1.1 %s X\r\n\r\n" $code >"$RETRY_HTTP_STATUS"'
	local nine='--breaker 9,1s --budget-min 5'
	usual=7
	if [ "$2" = works ]; then
		end='[ "$RETRY_ATTEMPT" = 2 ] || exit 7; echo fine'
		usual=0 shape=fine
	fi
	case $1 in
	relay) shape=$'(bad\n){1,2}fine' ;;
	hold) shape=$'2\nfine' holds=yes ;;
	held) shape=$'bad\nfine' holds=yes ;;
	replay | guard) feed=pipe ;;
	file) feed=input ;;
	nested) before=("${as[@]}" "$RETRY" -q -n 1 -T 1m --) ;;
	esac
	row=$(grep "^$1 " <<<"$scene_rows")
	eval "words=(${row%%|*})"
	words=("${words[@]:1}")
	does=${row#*|}
	does=${does/READS/"$reads"}
	does=${does/ANSWERS/"$answers"}
	does=${does/RECOVERS/"$recovers"}
	words+=(-- /bin/sh -c "ending=$2; echo >>ran; ${does:-:}
		$end")
}

run() {
	local began from=$feed
	# A file is opened for the command alone: whatever shares its offset keeps retry
	# from going back.
	if [ "$feed" = pipe ]; then
		exec 5< <(echo 'a line')
		from=/dev/fd/5
	fi
	if [ -n "$piped" ]; then
		rm -f pipe.*
		mkfifo pipe.out pipe.err
		cat pipe.out >out &
		cat pipe.err >err &
	fi
	began=$(now)
	status=0
	{
		timeout -s KILL 20 env MARK="$PWD" "$@" <"$from" 5<&- \
			>"$piped"out 2>"$piped"err || status=$?
	} 2>/dev/null # bash names a job that a signal has ended
	took=$(($(now) - began))
	exec 5<&-
	[ -z "$piped" ] || wait
}

attempts() {
	wc -l 2>/dev/null <ran || echo 0
}

# Anything of ours that should have gone, but a segment.
leftovers() {
	find . -path './.retry-*' -o -path './tmp/*' -o \
		-path './budgets/*' ! -name 'retry-v6.*.api' | tr '\n' ' '
}

# A report is there as a whole or not at all.
is_whole() {
	local text
	[ -e "$1" ] || return 0
	text=$(<"$1")
	[[ $text == *"$2" ]]
}

judge() {
	local left
	((took <= longest)) || failed "took $took ms"
	case $status in
	0)
		((usual == 0)) || failed 'success of what has failed'
		[[ $(<out) =~ ^$shape$ ]] || failed 'success, other output'
		;;
	9) failed 'other input' ;;
	69 | 12[4567]) [ -n "$mute" ] || [ -s err ] || failed 'not a word' ;;
	# The command's, which dies if it has to; of that we die ourselves.
	*)
		[ -n "$mute" ] ||
			grep -qE "\(exit ${status}[,)]|killed by" err ||
			failed "status $status, but not of the command"
		;;
	esac
	if [ -n "$holds" ]; then
		case $status in
		0 | 125) ;; # a delivery that fails has begun
		*) [ ! -s out ] || failed 'output of a failure' ;;
		esac
		[ "$status" != 0 ] || [ ! -s err ] || failed 'words of a success'
		[ "$(grep -c said err)" -le 1 ] || failed 'words of both'
	fi
	(($(attempts) <= 2)) || failed "$(attempts) attempts"
	is_whole report '}' || failed 'half a report'
	is_whole metrics.prom '} 1' || failed 'half the metrics'
	[ ! -s spans ] || is_whole spans ']}]}]}' || failed 'half a trace'
	left=$(leftovers)
	[ -z "$left" ] || failed "left: $left"
	[ -n "$leaves" ] || alone
}

usually() {
	((status == usual)) || failed "status $status instead of $usual"
	(($(attempts) == 2)) || failed "$(attempts) attempts"
}

#
# What is traced
#

# The lines of a trace as WHO NAME NTH WHAT-FOR. What comes before the first munmap is the
# loader's, and no matter of ours. Of the children each counts by itself, and the first
# two are unlike: a count may mean a call of both. Where the parent makes a call of the
# same name, too, none is meant. Of a call that is made for each process in /proc the
# first two count.
list_calls() {
	awk '
		function use(text)
		{
			if (name == "fcntl") {
				match(text, /F_[A-Z_]+(, F_UNLCK)?/)
				text = substr(text, RSTART, RLENGTH)
				sub(/.*, /, "", text)
				return text
			}
			if (name ~ /^open/)
				return text ~ /"\/proc\// ? "proc" : \
				    text ~ /O_TMPFILE/ ? "nameless" : \
				    text ~ /O_CREAT/ ? "create" : "file"
			if (text !~ /^[a-z0-9_]+\([0-9]+</)
				return "path"
			sub(/^[a-z0-9_]+\([0-9]+</, "", text)
			return text ~ /^pipe:/ ? "pipe" : text ~ /^anon_inode/ ? "anon" : \
			    text ~ /^\/memfd:/ ? "memory" : text ~ /^\/proc/ ? "proc" : \
			    text ~ /^\/dev\// ? "device" : "file"
		}
		NR == 1 { ours = $1; next }
		$2 !~ /^[a-z]/ { next }
		{
			text = $0
			sub(/^[0-9]+ +/, "", text)
			name = text
			sub(/\(.*/, "", name)
			kind = use(text)
			if (name == "newfstatat" && kind != "path")
				kind = "fstat:" kind
			else
				kind = name ":" kind
		}
		$1 != ours {
			if (!($1 in number))
				number[$1] = ++children
			if (number[$1] > 2 || ++of[$1, name] <= theirs[name])
				next
			theirs[name]++
			child[++m] = name " " theirs[name] " " kind
			next
		}
		{ nth[name]++ }
		match(text, /\/proc\/[0-9]+[^">]*/) {
			file = substr(text, RSTART, RLENGTH)
			gsub(/[0-9]+/, "N", file)
			if (++seen[kind, file] > 2)
				next
		}
		# What the loader does is none of ours.
		/ld\.so\.cache/ { loading = 1 }
		name == "munmap" && loading { loading = n = 0 }
		{ call[++n] = name " " nth[name] " " kind }
		END {
			for (i = 1; i <= n; i++)
				print "parent", call[i]
			for (i = 1; i <= m; i++) {
				split(child[i], word)
				if (word[1] == "execve" || !(word[1] in nth))
					print "child", child[i]
			}
		}' trace
}

#
# Cases
#

# Calls a function in a fresh directory, and with what a case has of its own.
inside() (
	cd "$(mktemp -d "$dir/XXXXXX")" || exit
	mkdir tmp budgets
	export TMPDIR=$PWD/tmp RETRY_BUDGET_DIR=$PWD/budgets
	"$@"
	cd "$dir" && rm -rf "$OLDPWD"
)

one() {
	local why='' left_out='' result=passed words far
	read -ra words <<<"$1"
	# shellcheck disable=SC2064 # now: these arguments are gone then
	trap "echo '$kind: $1: breaks off'" EXIT
	if [ "$1" = none ]; then
		skipped 'no strace here that could inject anything'
	else
		try "${words[@]}"
	fi
	trap - EXIT
	if [ -n "$why" ]; then
		result=failed
		echo "$kind: $1: $why"
		tail -n 20 out err trace 2>/dev/null | sed 's/^/    /' || :
	elif [ -n "$left_out" ]; then
		result=skipped
		echo "$left_out" >>"$dir/skipped"
	fi
	echo "$result" >>"$dir/results"
	far=$(grep -c '' "$dir/results")
	((far % 500)) || echo "$kind: $far of $(grep -c '' "$dir/plan") cases"
}

count() {
	grep -cx "$1" "$dir/results" || :
}

# Of the table: CASES PASSED FAILED SKIPPED
row() {
	printf '%-12s%8d%8d%8d%8d\n' "$kind" "$@"
}

# What failed is also what broke off.
totals() {
	local cases passed failed skipped
	cases=$(grep -c '' "$dir/plan" || :)
	passed=$(count passed)
	skipped=$(count skipped)
	failed=$((cases - passed - skipped))
	sort "$dir/skipped" | uniq -c | sort -rn |
		sed "s/^ *\([0-9]*\)/$kind: skipped \1:/"
	row "$cases" "$passed" "$failed" "$skipped"
	((failed == 0 && cases > 0))
}

# Whatever a signal finds under way ends, wherever it is, and nothing is left.
break_off() {
	local pids
	trap '' INT TERM HUP
	while pids=$(env -u dir grep -lszxF "dir=$dir" /proc/[0-9]*/environ) || [ -n "$pids" ]; do
		# shellcheck disable=SC2046 # numbers
		kill -KILL $(cut -d/ -f3 <<<"$pids") || :
		sleep 0.02
	done 2>/dev/null
	wait
	rm -rf "$dir"
	trap - EXIT "$1"
	kill -"$1" "$$"
}

# A signal that is ignored here, as it is in the background, would be ignored by what is
# tested; and what we wait for is there, so that one is heeded at once.
faults() {
	local name jobs
	case ${1-} in
	--case)
		inside one "$2"
		return
		;;
	--plan)
		if [ -n "$injects" ] && ! can_inject; then
			echo none
		else
			plan "${@:2}"
		fi
		return
		;;
	esac
	ulimit -c 0
	# a run under a retry of its own
	for name in "${!RETRY_@}"; do
		unset "$name"
	done
	dir=$(mktemp -d)
	export dir
	trap 'rm -rf "$dir"' EXIT
	for name in INT TERM HUP; do
		# shellcheck disable=SC2064 # now
		trap "break_off $name" "$name"
	done
	touch "$dir/results" "$dir/skipped"
	env --default-signal "$0" --plan "$@" >"$dir/plan" &
	wait "$!"
	jobs=$((3 * $(nproc))) # they mostly wait
	env --default-signal xargs -a "$dir/plan" -r -d '\n' -n 1 \
		-P "${jobs_most:-$jobs}" "$0" --case &
	wait "$!" || :
	totals
}
