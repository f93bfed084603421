#!/usr/bin/env bats
# Covers cli/help, cli/options, cli/option_parse.
# How the command line is parsed, and which mistakes in it are refused.

# shellcheck disable=SC2016,SC2034 # the rows and the commands' shells expand

load helper

TRY="Try '${RETRY##*/} -h' for more information."

# refused LINE [WORD]...: retry refuses this command line: status 125, LINE and
# the advice on standard error, nothing on standard output.
refused()
{
	local line=$1 status=0
	shift
	"$RETRY" "$@" >out 2>err || status=$?
	[ "$status" -eq 125 ] || {
		echo "status $status: $*"
		return 1
	}
	holds err "$line" "$TRY" && [ ! -s out ]
}

# refused_option OPTION TEXT WHY: OPTION refuses TEXT in each form of the command
# line, and the command is not run. WHY is the message after the option.
refused_option()
{
	local line="retry: --$1: $3"
	refused "$line" "--$1" "$2" touch ran && refused "$line" "--$1=$2" touch ran &&
	    [ ! -e ran ]
}

# refuses OPTION WHY TEXT...: OPTION refuses each TEXT with these words.
refuses()
{
	local text bad=0
	for text in "${@:3}"; do
		refused "retry: --$1: $2: '$text'" "--$1=$text" touch ran || bad=1
	done
	[ ! -e ran ] && return "$bad"
}

# takes OPTION TEXT...: OPTION, maybe behind others, takes each TEXT.
takes()
{
	local text bad=0
	for text in "${@:2}"; do
		# shellcheck disable=SC2086 # several words
		prints ok --$1 "$text" echo ok || bad=1
	done
	return "$bad"
}

# prints LINE WORD...: retry with these words runs a command that prints LINE.
prints()
{
	local want=$1 got
	shift
	got=$("$RETRY" "$@")
	[ "$got" = "$want" ] || {
		echo "$got instead of $want: $*"
		return 1
	}
}

# loud LINES WORD...: retry writes this many messages about a success.
loud()
{
	local want=$1
	shift
	"$RETRY" "$@" sh -c 'echo >>ran' 2>err && [ -e ran ] &&
	    [ "$(lines err)" -eq "$want" ]
}

#
# Options, their arguments and operands
#

@test "a short option takes its argument from the same word or the next one" {
	most 3 -n3
	most 3 -n 3
	most 3 -qn3
	most 3 -qn 3
	most 3 -qvn3 -d0
}

@test "a long option takes its argument after an equals sign or from the next word" {
	most 3 --attempts=3
	most 3 --attempts 3
	refused "retry: --attempts: not a number of attempts: '=3'" --attempts==3 true
}

@test "flags can be bundled" {
	loud 2 -qv
	loud 0 -vq
	loud 2 -vv
}

@test "options end at the first operand" {
	prints '-n 0' printf '%s %s' -n 0
	prints '--help -x --' -n 2 printf '%s %s %s' --help -x --
}

@test "options end after --, which is not passed on" {
	prints ok -- echo ok
	prints ok -n 2 -- echo ok
	prints '-- -n' -- printf '%s %s' -- -n
}

@test "a command may begin with a dash after --" {
	mkdir bin
	printf '#!/bin/sh\necho dashed\n' >bin/-n
	chmod +x bin/-n
	PATH=$PWD/bin:$PATH prints dashed -- -n
}

@test "a single dash is a command" {
	mkdir bin
	printf '#!/bin/sh\necho lone\n' >bin/-
	chmod +x bin/-
	PATH=$PWD/bin:$PATH prints lone -n 2 -
}

@test "of an option given twice the last one counts" {
	most 3 -n 7 -n 3
	most 3 --retries 6 --attempts 3
	most 4 --attempts 6 --retries 3
	loud 0 --verbose --quiet
	loud 2 --quiet --verbose
}

@test "of a list of delays given twice the last one counts" {
	prints ok -d 1,2 -d 3 -j decorrelated echo ok
	refused "retry: --jitter: not with a list of delays: 'decorrelated'" \
	    -d 3 -d 1,2 -j decorrelated true
}

@test "lists given twice add up" {
	run "$RETRY" -q -d 0 -n 6 --retry-on 1 --retry-on 2 \
	    sh -c 'echo >>ran; case $RETRY_ATTEMPT in 1) exit 1;; 2) exit 2;; *) exit 3;; esac'
	[ "$status" -eq 3 ]
	[ "$(lines ran)" -eq 3 ]
	run "$RETRY" -q --stop-on 1 --stop-on 2 sh -c 'echo >>stopped; exit 1'
	[ "$status" -eq 1 ]
	[ "$(lines stopped)" -eq 1 ]
	run "$RETRY" -q --success-on 1 --success-on 2 sh -c 'echo >>done; exit 1'
	[ "$status" -eq 0 ]
	[ "$(lines 'done')" -eq 1 ]
}

@test "every option is accepted, in both forms" {
	echo '# nothing' >policy
	(umask 077 && echo password >auth)
	prints ok -n 2 -T 1h -t 1m -s INT -k 1s -d 1 -b linear -j none -q -v echo ok 2>err
	prints ok --attempts 2 --retries 1 --limit 1:timeout --deadline 1h \
	    --timeout 1m --idle-timeout 1m --signal INT --kill-after 1s \
	    --preserve-status --delay 1 --backoff linear --factor 2 --max-delay 1m \
	    --min-delay 0 --jitter none --seed 1 --reset-after 1m --splay 0 \
	    --retry-on 1 --stop-on 2 --fail-on 4 --success-on 3 --keep-status --preset net \
	    --http --max-retry-after 1m --method POST --idempotency-key auto \
	    --budget key --budget-ratio 20% --budget-min 1 --budget-window 1m \
	    --budget-wait 0 --budget-cooldown 1s --budget-dir "$PWD" \
	    --breaker 20,10s,1m --nested share \
	    --fleet unix:///run/fleet --fleet-auth auth --fleet-via cat \
	    --fleet-timeout 1s --fleet-min 1 --fleet-ratio 20% --fleet-alone 1 \
	    --replay-stdin --stdin-max 1k --hold-stdout --hold-stderr \
	    --hold-max 1k --quiet --verbose --label me --log-format json --report report \
	    --metrics metrics --trace trace --on-retry true --on-give-up true \
	    --progress never --policy ./policy echo ok 2>err
	prints ok -I -O -E echo ok
	"$RETRY" --chronic echo ok
	prints ok --budget-dir . -B key --budget-required echo ok
	prints ok --http-status status echo ok
	"$RETRY" --budget-dir . --budget-status key >table
	"$RETRY" --budget-dir . --budget-status key --json >table
	"$RETRY" --budget-dir . --budget-status key --prom >table
	"$RETRY" --budget-dir . --budget-reset key
	"$RETRY" --budget-dir . --budget-gc
	"$RETRY" --dry-run >plan
}

@test "POSIXLY_CORRECT changes nothing" {
	POSIXLY_CORRECT=1 most 3 -n 3
	POSIXLY_CORRECT=1 prints '-x' printf %s -x
}

#
# How many attempts
#

@test "five attempts is the default, no limit where there is a deadline" {
	most 5
	most inf -T 60
	most inf -T 60 -d 1
	most 3 -T 60 -n 3
	most 3 -n 3 -T 60
	most 3 --retries 2 -T 60
}

@test "a deadline of 0 is no deadline, and the limit of attempts stays" {
	most 5 -T 0
	most 5 -T 60 -T 0
	most 5 -T 0ms
}

@test "a number of attempts can be large, or inf" {
	most 1 -n 1
	most 1 --retries 0
	most inf -n inf
	most inf --retries inf
	most 1000000000000 -n 1000000000000
	most inf -n 99999999999999999999
	most inf --retries 99999999999999999999
	most inf --retries 9223372036854775807
	most 7 -n 007
}

#
# What retry prints about itself
#

@test "--help names every option, within 80 columns and 135 lines" {
	"$RETRY" --help >help
	mapfile -t lines <help
	[ "${#lines[@]}" -le 135 ]
	[ "${lines[0]}" = "Usage: ${RETRY##*/} [OPTION]... [--] COMMAND [ARG]..." ]
	local line name
	for line in "${lines[@]}"; do
		[ "${#line}" -le 80 ]
	done
	for name in attempts retries limit deadline timeout idle-timeout signal \
	    kill-after preserve-status delay backoff factor max-delay min-delay jitter seed reset-after splay \
	    retry-on stop-on fail-on success-on keep-status preset http http-status \
	    max-retry-after method idempotency-key replay-stdin stdin-max \
	    hold-stdout hold-stderr chronic hold-max budget budget-ratio budget-min \
	    budget-window budget-wait budget-cooldown budget-dir \
	    budget-required breaker budget-status json prom budget-reset \
	    budget-gc nested fleet fleet-auth fleet-via fleet-timeout \
	    fleet-min fleet-ratio fleet-alone quiet verbose label log-format report metrics trace on-retry \
	    on-give-up progress dry-run policy help version; do
		[[ "$(<help)" =~ $'\n  '(-[a-zA-Z], |    )--${name}[$' \n'] ]]
	done
}

@test "--help names no option that does not exist" {
	local name names
	names=$("$RETRY" --help | sed -nE 's/^  (-[a-zA-Z], |    )--([a-z-]+).*/\2/p')
	[ "$(wc -w <<<"$names")" -ge 56 ]
	export RETRY_BUDGET_DIR=$PWD
	for name in $names; do
		run "$RETRY" "--$name"
		[[ "$output" != *'unknown option'* ]]
	done
}

@test "--help says what -d 10 and -j none mean" {
	"$RETRY" --help | tr -s ' \n' ' ' | grep -qF -- '-d 10 alone waits a random time in [0, 10s]'
	"$RETRY" --help | grep -qF -- '-j none exactly that'
}

@test "--help has its headings in the order of the manual" {
	run "$RETRY" --help
	[ "$(grep -E '^[A-Z].*:$' <<<"$output" | head -n 9)" = "Limits:
Delays:
What to retry:
HTTP:
Streams:
Budget:
Fleet:
Messages and reports:
General:" ]
}

@test "-h prints options of --help, on one screen of 80x24" {
	"$RETRY" -h >screen
	[ "$(wc -l <screen)" -le 23 ] && [ "$(wc -L <screen)" -le 80 ]
	"$RETRY" --help >help
	local option names
	names=$(sed -nE 's/^ .*--([a-z-]+) .*/\1/p' screen)
	[ "$(wc -w <<<"$names")" -ge 12 ]
	for option in $names; do
		grep -qE -- "--$option( |\$)" help
	done
}

@test "-h has options for scripts, CI, cron and pipes, and an example that can be run" {
	"$RETRY" -h >screen
	local option
	for option in --attempts --timeout --deadline --chronic --replay-stdin \
	    --hold-stdout --hold-stderr; do
		grep -qE -- "^ .*$option " screen
	done
	eval "set -- $(sed -n "s/^Example: ${RETRY##*/} //p" screen)"
	"$RETRY" --dry-run "$@" | grep -q '^Worst case'
}

@test "-h and --help print at once, and the words after them are not parsed" {
	local help words
	for help in -h --help; do
		"$RETRY" "$help" >expected
		for words in "$help --nonsense" "$help --policy ./none" "-n x $help"; do
			# shellcheck disable=SC2086 # words
			run "$RETRY" $words
			[ "$status" -eq 0 ]
			[ "$output" = "$(<expected)" ]
		done
	done
	for words in '-qh --nonsense' -hn; do
		# shellcheck disable=SC2086 # words
		[ "$("$RETRY" $words)" = "$("$RETRY" -h)" ]
	done
}

@test "-V and --version print the version, and which retry this is" {
	for word in -V --version; do
		run --separate-stderr "$RETRY" "$word"
		[ "$status" -eq 0 ]
		[[ "${lines[0]}" =~ ^retry\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
		[ "${lines[1]}" = "Runs a command until it succeeds; not Debian's package retry. See 'man ${RETRY##*/}'." ]
		[ ${#lines[@]} = 2 ]
		[ -z "$stderr" ]
	done
}

@test "help that cannot be written is an error" {
	local word
	for word in -h --help -V --version; do
		status=0
		"$RETRY" "$word" >/dev/full 2>err || status=$?
		[ "$status" -eq 125 ]
		[ "$(<err)" = 'retry: cannot write to standard output: No space left on device' ]
		status=0
		"$RETRY" "$word" >&- 2>err || status=$?
		[ "$status" -eq 125 ]
		[ "$(<err)" = 'retry: cannot write to standard output: Bad file descriptor' ]
	done
}

#
# Unknown options
#

# unknown WORD [MEANT]: the option is refused, alone and with an argument, and
# MEANT is suggested.
unknown()
{
	local line="retry: unknown option '$1'${2:+; did you mean '--$2'?}"
	refused "$line" "$1" 3 touch ran && refused "$line" "$1=3" touch ran &&
		[ ! -e ran ]
}

@test "an unknown option is refused, and the nearest option is suggested" {
	table unknown <<-'END'
		--foo
		--nothing-like-it
		--timout timeout
		--tiemout timeout
		--timeuot timeout
		--timezut timeout
		--itmeotu timeout
		--jiter jitter
		--dealy delay
		--sed seed
		--attempst attempts
		---attempts attempts
		--Attempts attempts
		--attemptsx attempts
		--atempt attempts
		--retrys retries
		--max_delay max-delay
		--maxdelay max-delay
		--stdinmax stdin-max
		--budget-windows budget-window
		--buget-coldown budget-cooldown
		--bugdet-coldon budget-cooldown
		--replay-sdtin replay-stdin
		--hepl help
		--verison version
		# Nothing is near enough.
		--jsn-x
		--prime
		--wait
		--nosuch
		--backof-kind
		--bugdet-coldn
		--imeou
		--a-word-of-thirty-three-letters-xx
		# An abbreviation, and one of several options.
		--attempt attempts
		--a attempts
		--kill kill-after
		--max-d max-delay
		--max-r max-retry-after
		--http- http-status
		--preserve preserve-status
		--retry-o retry-on
		--verb verbose
		--br breaker
		--budget-g budget-gc
		--nest nested
		--dry dry-run
		--pol policy
		--replay replay-stdin
		--on-g on-give-up
		--pre
		--s
		--max
		--f
		--htt
		--re
		--ver
		--budget-r
		--hold
		--on
		--pro
		# What other tools call it.
		--retry attempts
		--tries attempts
		--times attempts
		--max-attempts attempts
		--max-time deadline
		--total-timeout deadline
		--sleep delay
		--interval delay
	END
	table refused <<-'END'
		"retry: unknown option '-x'" -x touch ran
		"retry: unknown option '-x' in '-vx'" -vx touch ran
		"retry: unknown option '-=' in '-q=1'" -q=1 touch ran
		"retry: unknown option '-timeout=5'; did you mean '--timeout'?" -timeout=5 touch ran
	END
	local name
	for name in timeout attempts delay deadline quiet verbose retry-on \
	    budget nested signal jitter; do
		refused "retry: unknown option '-$name'; did you mean '--$name'?" \
		    "-$name" 3 touch ran
	done
	[ ! -e ran ]
	# Other words with one dash keep their meaning.
	"$RETRY" -help | grep -q '^Usage: '
	prints ok -vd1 echo ok
}

@test "a letter of several bytes is quoted as a whole" {
	refused "retry: unknown option '-é'" -é touch ran
	refused "retry: unknown option '-vé'" -vé touch ran
	refused $'retry: unknown option \'-\xff\'' $'-\xff' touch ran
	[ ! -e ran ]
}

@test "an option without its argument, or a flag with one, is refused" {
	table refused <<-'END'
		'retry: --delay: needs an argument' --delay
		'retry: --delay: needs an argument' -d
		'retry: --attempts: needs an argument' -qn
		'retry: --retry-on: needs an argument' -n 3 --retry-on
		'retry: --preset: needs an argument' --http --preset
		'retry: --http-status: needs an argument' --http-status
		'retry: --budget: needs an argument' -B
		'retry: --budget-reset: needs an argument' --budget-reset
		'retry: --stdin-max: needs an argument' -I --stdin-max
		'retry: --policy: needs an argument' -n 3 --policy
		'retry: --on-retry: needs an argument' --on-retry
		# The next word is one, whatever it looks like.
		"retry: --attempts: not a number of attempts: '--'" -n -- 3
		"retry: --delay: not a time in ms, s, m, h or d: '-v'" --delay -v true
	END
	flag() # flag WORD [WORD]...
	{
		local name=${1%%=*}
		refused "retry: $name: takes no argument: '$1'" "${@:2}" "$1" touch ran
	}
	table flag <<-'END'
		--quiet=1
		--verbose=
		--http=f
		--budget-required=1
		--budget-gc=k
		--json=1 --budget-status k
		--replay-stdin=1
		--hold-stdout=
		--dry-run=1
		--help=x
		--version=x
	END
	[ ! -e ran ]
}

@test "no command is an error" {
	refused 'retry: no command given'
	refused 'retry: no command given' --
	refused 'retry: no command given' -n 3
	refused 'retry: no command given' -n 3 -q --
}

@test "an empty argv is an error" {
	status=0
	"$PYTHON" -IS - "$RETRY" 2>err <<'PY' || status=$?
import ctypes, sys
libc = ctypes.CDLL(None)
none = (ctypes.c_char_p * 1)(None)
libc.execve(sys.argv[1].encode(), none, none)
PY
	[ "$status" -eq 125 ]
	# Recent kernels put an empty name there.
	[ "$(head -n 1 err)" = 'retry: no command given' ]
}

#
# Arguments that are refused
#

@test "each option refuses what is none of its values" {
	time='not a time in ms, s, m, h or d'
	list=$(seq -s , 65)
	long=$(printf '%01024d' 7)
	table refuses <<-'END'
		attempts 'not a number of attempts' 0 00 '' -1 +1 1.5 3x x 0x3 1e3 ' 3' INF infinity 1,2
		retries 'not a number of retries' '' -1 1.5 x '3 '
		deadline "$time" nan inf 0x10 1e3 +1 ' 1' '1 ' '1 s' 1,5 1x 1sec 1m1 s . .s 1.2.3 1m1h 1us 1S x '' -1
		timeout "$time" x -1 5min
		idle-timeout "$time" x '' -1
		kill-after "$time" x '' -1
		delay "$time" x -1
		max-delay "$time" x '' -1
		min-delay "$time" x '' -1
		reset-after "$time" x '' -1
		splay "$time" x '' -1
		max-retry-after "$time" x '' -1
		budget-wait "$time" x '' -1
		signal 'not a signal' NOPE SIG '' 0 -1 999 SIGSIGTERM 'TERM '
		backoff 'not exponential, linear, constant or fibonacci' '' cubic exp Linear 'linear '
		jitter 'not full, equal, decorrelated or none' '' some no FULL full,equal
		factor 'not a number of 1 or more' 0.5 0 0.999 -2 x '' 1e3 nan inf 2,5 1.2.3 .
		# More digits than are kept are not rounded.
		factor 'finer than 0.000001' 1.0000001 2.00000000000000000000001
		budget-ratio 'finer than 0.000001' 0.0000001 0.2000001 20.00001% .00001%
		fleet-ratio 'finer than 0.000001' 0.0000001 0.2000001 20.00001% .00001%
		stdin-max 'not a whole number of bytes' 0.001 1.5 1.0001k 1.00000000000001M
		hold-max 'not a whole number of bytes' 0.001 1.5 1.0001k 1.00000000000001M
		seed 'not a whole number below 2^64' 18446744073709551616 99999999999999999999 -1 '' x 1.5 0x1 ' 1'
		limit 'not N:LIST' '' 2 timeout :timeout -1:timeout +1:timeout 1.5:timeout inf:timeout '1 :timeout' x:2:timeout
		http-status 'not a file name' ''
		method 'not an HTTP method' '' 'GET /' P@ST POST:
		method 'not idempotent, and no --idempotency-key' POST PATCH CONNECT post NOSUCH
		idempotency-key 'must not be empty' ''
		budget-ratio 'not a ratio from 0 to 1000' '' -1 x 1000.1 1001 100000.1% 1e3 nan % 20%% 1,5 '20 %' . 0x1
		budget-min 'not a whole number up to 1000000' '' -1 x 1.5 1000001 99999999999999999999 20%
		budget-window 'not a time from 1s to 24h' '' x 0 999ms 0.999 24h1s 1d1ms -1
		budget-cooldown 'not a time up to 24h' '' x 24h1s 25h -1
		budget-dir 'not a file name' ''
		breaker 'neither on nor N,DUR[,MAX]' '' off On 5 'on '
		breaker 'more items than N,DUR,MAX' 5,1s,2s,3s
		nested 'not share, add or once' '' none Share share,add
		stdin-max 'not a size in bytes, k, M, G or T' '' 0 0k 00 0.0M k M -1 +1 x 1x 1kB 1KiB 1m 1g '1 k' ' 1' 1e3 0x10 1,5 inf nan 1kk . .k
		hold-max 'not a size in bytes, k, M, G or T' '' 0 0k -1 x 1kB 1m
		log-format 'not text, json or github' '' xml Text JSON text,json 'json '
		progress 'not auto, always or never' '' yes no Auto always, 1
		report 'not a file name' ''
		metrics 'not a file name' ''
		trace 'not a file name' ''
	END
	# OPTION TEXT WHY, and the short options.
	table refused_option <<-'END'
		delay 1,,2 "empty item in '1,,2'"
		delay 1, "empty item in '1,'"
		delay ,1 "empty item in ',1'"
		delay , "empty item in ','"
		delay '' "empty item in ''"
		delay 1,x "$time: 'x' in '1,x'"
		delay '1, 2' "$time: ' 2' in '1, 2'"
		delay "$list" "more than 64 delays: '$list'"
		timeout 1,,2 "empty item in '1,,2'"
		timeout 1, "empty item in '1,'"
		timeout '' "empty item in ''"
		timeout 1,x "$time: 'x' in '1,x'"
		timeout 1,-1 "$time: '-1' in '1,-1'"
		timeout "$list" "more than 64 timeouts: '$list'"
		limit 2: "empty item in '2:'"
		limit 2:7, "empty item in '2:7,'"
		limit 2:7,x "not an exit status, signal or condition: 'x' in '2:7,x'; as a pattern: 'stderr:x'"
		limit '2:stderr:(a' "( without ): '(a'"
		preset '' "no such preset in ''"
		preset , "no such preset in ','"
		preset curl, "no such preset in 'curl,'"
		preset curl,,git "no such preset in 'curl,,git'"
		preset ' curl' "no such preset: ' curl'"
		preset 'curl, git' "no such preset: ' git' in 'curl, git'"
		idempotency-key $'a\nX: b' "contains a control character: 'a\\nX: b'"
		idempotency-key $'a\x7f' "contains a control character: 'a\\x7f'"
		budget "${long}x" "longer than 1024 bytes: '${long::400}...'"
		breaker ,1s "empty item in ',1s'"
		breaker 5, "empty item in '5,'"
		breaker 5,,2s "empty item in '5,,2s'"
		breaker 5,1s, "empty item in '5,1s,'"
		breaker 5,2s,1s "shorter than the time before it: '1s' in '5,2s,1s'"
	END
	table refused <<-'END'
		"retry: --attempts: not a number of attempts: '0'" -n 0 touch ran
		"retry: --attempts: not a number of attempts: '0'" -n0 touch ran
		"retry: --attempts: not a number of attempts: '-1'" -n -1 touch ran
		"retry: --timeout: $time: '5min'" -t 5min true
		"retry: --deadline: $time: 'x'" -T x true
		"retry: --kill-after: $time: 'x'" -k x true
		"retry: --delay: $time: 'x'" -d x true
		"retry: --signal: not a signal: 'NOPE'" -s NOPE true
		"retry: --backoff: not exponential, linear, constant or fibonacci: 'x'" -b x true
		"retry: --jitter: not full, equal, decorrelated or none: 'x'" -j x true
		"retry: --budget-reset: longer than 1024 bytes: '${long::400}...'" --budget-reset "${long}x"
	END
	[ ! -e ran ]
	local text number='not a number from 1 to 1000000' time='not a time above 0, up to 24h'
	for text in 0 x -1 1.5 1000001 on; do
		refused_option breaker "$text,1s" "$number: '$text' in '$text,1s'"
	done
	for text in 0 x -1 25h 0.0; do
		refused_option breaker "5,$text" "$time: '$text' in '5,$text'"
		refused_option breaker "5,1s,$text" "$time: '$text' in '5,1s,$text'"
	done
}

@test "each option takes its values" {
	export RETRY_BUDGET_DIR=$PWD
	long=$(printf '%01024d' 7)
	table takes <<-'END'
		kill-after 1 1ms 1s 1m 1h 1d 1.5 .5 1h30m 1d2h3m4s5ms 0 99999999999999999999d 0.00000000000000001
		delay "$(seq -s , 64)" 0.0000000001
		timeout "$(seq -s , 64)"
		signal TERM SIGTERM term sigterm 15 KILL USR1 RTMIN+1 SIGRTMAX-1
		factor 1 1.000001 3. 1.0000010
		seed 0 1 9223372036854775808 18446744073709551615 0000000000000000000001
		method GET HEAD OPTIONS TRACE PUT DELETE get
		'http-status s --method POST --idempotency-key' auto 'a "b" é'
		budget "$long" $'a/b\n\xff%é'
		budget-ratio 0 0% 0.2 .2 1. 20% 0.5% 1000 100000% 0.000001 0.1234560 20.0001%
		budget-min 0 1000000
		budget-window 1 24h
		'budget key --budget-cooldown' 0 1d
		'budget key --breaker' on 1,1ms 1000000,24h,24h 20,10s 20,2m 5,1s,1s
		nested share add once
		stdin-max 1 1k 1K 64M 1G 2T 1.5G .5k 99999999999999999999T 9223372036854775808 1.0009765625k
		hold-max 1 1k 1K 64M 1G 2T 1.5G .5k 99999999999999999999T 9223372036854775808 1.0
		log-format text json github
		progress auto always never
	END
	prints ok -Bkey echo ok
}

@test "lists of conditions are refused by each option that takes one" {
	local option
	condition='not an exit status, signal or condition'
	for option in retry-on stop-on fail-on success-on; do
		table refused_option "$option" <<-'END'
			1,,2 "empty item in '1,,2'"
			1,x "$condition: 'x' in '1,x'; as a pattern: 'stderr:x'"
			503 "above 255 (an HTTP status is http:500): '503'"
			1,9-5 "a range that runs backwards: '9-5' in '1,9-5'"
			7,http:9xx "not an HTTP status: 'http:9xx' in '7,http:9xx'"
			http:504-500 "a range that runs backwards: 'http:504-500'"
			HTTP:503 "$condition: 'HTTP:503'"
			'stdout:ok,(a' "( without ): '(a' in 'ok,(a'"
			'7,http:503,stderr:a)' ") without (: ')' in 'a)'"
			stderr: "the pattern is empty: ''"
		END
	done
	refused_option retry-on 1,0 "0 is a success, not a failure (see --fail-on): '1,0'"
	prints ok --stop-on 0 --fail-on 0 --success-on 0 echo ok
	refused_option retry-on x,stderr:y "$condition: 'x' in 'x,stderr:y'; as a pattern: 'stderr:x'"
	local long=${condition//[! ]/x}
	long=${long// /x}${long// /x}${long// /x}
	refused_option retry-on "$long" "$condition: '$long'"
}

@test "lists of conditions take statuses, ranges, signals, words, HTTP and a pattern" {
	local list=7,64-78,255,SEGV,SIGBUS,sigill,signal,timeout,fail,5-5
	list+=,http:503,http:4xx,http:500-599,over:5m,under:2.5,stderr:a,b
	prints ok --retry-on "$list" --stop-on "$list" --fail-on "$list" \
	    --success-on "$list" echo ok
}

@test "--limit is taken up to 16 times, --preset up to eight times" {
	local text given=()
	for text in 0:0 1:timeout 99999999999999999999:http:5xx '3:7,stderr:a,b:c'; do
		given+=(--limit "$text" --limit "$text" --limit "$text" --limit "$text")
	done
	prints ok "${given[@]}" echo ok
	refused "retry: --limit: given more than 16 times: '1:7'" "${given[@]}" \
	    --limit 1:7 true
	given=(--preset={curl,wget,ssh,scp,rsync,git,apt,dnf})
	prints ok "${given[@]}" echo ok
	refused "retry: --preset: given more than 8 times: 'npm'" "${given[@]}" \
	    --preset npm touch ran
	[ ! -e ran ]
}

@test "units of a size are powers of 1024" {
	head -c 1536 /dev/zero >file
	local text
	for text in 1.5k 1536 1.5K 1M 1G 1T; do
		[ "$(cat file | "$RETRY" -I --stdin-max "$text" wc -c)" = 1536 ]
	done
	for text in 1535 1.4k 1k; do
		status=0
		cat file | "$RETRY" -I --stdin-max "$text" touch ran 2>err || status=$?
		[ "$status" -eq 125 ]
	done
	[ ! -e ran ]
}

@test "a report to - is on standard output, and ./- is a file" {
	prints ok --report - --trace - echo ok 2>report
	prints ok --report ./- --metrics ./-m --trace ./-t echo ok
}

@test "--on-retry and --on-give-up take any line; an empty one means no hook" {
	run "$RETRY" -q -n 2 -d 0 --on-retry 'echo retry >>said' \
	    --on-give-up 'echo give up >>said' false
	[ "$status" -eq 1 ]
	diff said <(printf '%s\n' retry 'give up')
	run "$RETRY" -q -n 2 -d 0 --on-retry 'echo retry >>said' --on-retry= \
	    --on-give-up 'echo give up >>said' --on-give-up '' false
	[ "$status" -eq 1 ]
	[ "$(lines said)" -eq 2 ]
}

#
# Variables of the environment
#

@test "a variable that is malformed is refused by its name" {
	RETRY_BUDGET_RATIO=x refused \
	    "retry: \$RETRY_BUDGET_RATIO: not a ratio from 0 to 1000: 'x'" touch ran
	RETRY_BUDGET_MIN=-1 refused \
	    "retry: \$RETRY_BUDGET_MIN: not a whole number up to 1000000: '-1'" touch ran
	RETRY_BUDGET_WINDOW=1ms refused \
	    "retry: \$RETRY_BUDGET_WINDOW: not a time from 1s to 24h: '1ms'" touch ran
	RETRY_NESTED=x refused \
	    "retry: \$RETRY_NESTED: not share, add or once: 'x'" -n 3 touch ran
	RETRY_NESTED=x refused \
	    "retry: \$RETRY_NESTED: not share, add or once: 'x'" --budget-gc
	local long
	long=$(printf '%01024d' 7)
	RETRY_BUDGET=${long}x refused \
	    "retry: \$RETRY_BUDGET: longer than 1024 bytes: '${long::400}...'" touch ran
	[ ! -e ran ]
}

@test "--help and --version do not read variables" {
	export RETRY_BUDGET_RATIO=x RETRY_NESTED=x
	"$RETRY" --help | grep -q '^Usage'
	"$RETRY" --version | grep -q '^retry'
}

@test "an empty variable counts as unset" {
	RETRY_BUDGET='' RETRY_BUDGET_RATIO='' RETRY_BUDGET_MIN='' RETRY_BUDGET_WINDOW='' \
	    RETRY_BUDGET_DIR='' RETRY_NESTED='' prints ok echo ok
	RETRY_BUDGET='' refused "retry: --breaker: only with --budget: 'on'" \
	    --breaker on touch ran
	[ ! -e ran ]
}

# uses KEY WORD...: with these words retry uses this budget in ./shm and no
# other. KEY '': it uses no budget.
uses()
{
	local key=$1
	shift
	rm -rf shm
	mkdir shm
	"$RETRY" "$@" && [ "$(ls shm)" = "${key:+retry-v4.$EUID.$key}" ]
}

@test "the environment names a budget, and the command line another or none" {
	export RETRY_BUDGET_DIR=shm
	uses '' true
	uses inner -B inner true
	export RETRY_BUDGET=outer
	uses outer true
	uses inner -B inner true
	uses '' -B '' true
	RETRY_BUDGET_DIR=/nonexistent uses inner --budget-dir shm -B inner true
}

# runs NUMBER WORD...: with these words a failing command is run NUMBER times.
runs()
{
	local want=$1
	shift
	rm -f ran
	"$RETRY" -q -n 4 -d 1ms "$@" sh -c 'echo >>ran; exit 1' || :
	[ "$(lines ran)" -eq "$want" ]
}

@test "the environment says how much a budget allows, and the command line overrides it" {
	export RETRY_BUDGET_DIR=$PWD RETRY_BUDGET_RATIO=0 RETRY_BUDGET_MIN=2
	runs 3 -B one
	runs 4 -B two --budget-min 3
	RETRY_BUDGET_MIN=x runs 4 -B three --budget-min 3
	RETRY_BUDGET=four runs 3
	RETRY_BUDGET=four runs 1
	RETRY_BUDGET=four runs 4 -B ''
	RETRY_BUDGET_RATIO=1 RETRY_BUDGET_MIN=0 runs 1 -B five
	RETRY_BUDGET_RATIO=1 RETRY_BUDGET_MIN=0 "$RETRY" -B five true
	RETRY_BUDGET_RATIO=1 RETRY_BUDGET_MIN=0 runs 2 -B five
}

#
# Options that depend on each other
#

@test "options that need a budget are refused without one" {
	local none='only with --budget'
	refused "retry: --breaker: $none: 'on'" --breaker on touch ran
	refused "retry: --breaker: $none: 'on'" -B '' --breaker on touch ran
	refused "retry: --breaker: $none: 'on'" -B key --breaker on -B '' touch ran
	refused "retry: --budget-wait: $none: '5s'" --budget-wait 5s touch ran
	refused "retry: --budget-cooldown: $none: '0'" --budget-cooldown 0 touch ran
	refused "retry: --budget-required: $none: '--budget-required'" \
	    --budget-required touch ran
	RETRY_BUDGET=key refused "retry: --breaker: $none: 'on'" -B '' --breaker on touch ran
	[ ! -e ran ]
	RETRY_BUDGET=key RETRY_BUDGET_DIR=$PWD prints ok --breaker on --budget-wait 1s \
	    --budget-cooldown 1s --budget-required echo ok
	prints ok --budget-ratio 1 --budget-min 1 --budget-window 1m --budget-dir . echo ok
}

@test "actions on budgets exclude each other and a command" {
	local option
	for option in status reset; do
		refused "retry: --budget-$option: not with a command: 'touch'" \
		    --budget-$option key touch ran
		refused "retry: --budget-$option: must not be empty: ''" --budget-$option ''
		refused "retry: --budget-gc: not with --budget-$option: '--budget-gc'" \
		    --budget-$option key --budget-gc
		refused "retry: --budget-gc: not with --budget-$option: '--budget-gc'" \
		    --budget-gc --budget-$option key
	done
	refused "retry: --budget-gc: not with a command: 'touch'" --budget-gc -- touch ran
	refused "retry: --budget-reset: not with --budget-status: 'b'" \
	    --budget-status a --budget-reset b
	refused "retry: --dry-run: not with --budget-status: '--dry-run'" \
	    --dry-run --budget-status a
	refused "retry: --dry-run: not with --budget-gc: '--dry-run'" --dry-run --budget-gc
	[ ! -e ran ]
}

@test "--json and --prom need --budget-status and exclude each other" {
	local option
	for option in json prom; do
		refused "retry: --$option: only with --budget-status: '--$option'" --$option
		refused "retry: --$option: only with --budget-status: '--$option'" \
		    --$option touch ran
		refused "retry: --$option: only with --budget-status: '--$option'" \
		    --$option --budget-gc
	done
	refused "retry: --prom: not with --json: '--prom'" --budget-status key --prom --json
	[ ! -e ran ]
}

@test "options about running a command are accepted beside --budget-gc" {
	"$RETRY" --budget-gc --budget-dir . -n 3 -T 1m --preset auto --breaker on -q --
}

@test "a --max-delay below --min-delay is refused, in either order" {
	local line="retry: --max-delay: below --min-delay: '1s'"
	refused "$line" --max-delay 1s --min-delay 2s true
	refused "$line" --min-delay 2s --max-delay 1s true
	refused "retry: --max-delay: below --min-delay: '0'" --min-delay 1ms --max-delay 0 true
	prints ok --min-delay 2s --max-delay 2s echo ok
}

@test "a --min-delay above 30s is no error where --max-delay is not given" {
	prints ok --min-delay 10m echo ok
}

@test "--max-delay may be less than --delay" {
	prints ok --delay 10m --max-delay 1s echo ok
}

@test "decorrelated jitter is refused with a list, and accepted with one delay" {
	local line="retry: --jitter: not with a list of delays: 'decorrelated'"
	refused "$line" -j decorrelated -d 1,2 true
	refused "$line" -d 1,2 -b exponential -j decorrelated true
	prints ok -j decorrelated -d 1 echo ok
	prints ok -j decorrelated -j full -d 1,2 echo ok
}

#
# Messages
#

@test "control bytes in an argument do not break the line" {
	refused "retry: --delay: not a time in ms, s, m, h or d: '1\\n2'" -d $'1\n2' true
	refused "retry: --delay: not a time in ms, s, m, h or d: '\\t' in '1,\\t'" -d $'1,\t' true
	refused "retry: unknown option '--a\\x1b[31m'" $'--a\e[31m' true
	refused "retry: unknown option '-\\x01'" $'-\x01' true
	refused "retry: --quiet: takes no argument: '--quiet=\\x7f'" $'--quiet=\x7f' true
	refused "retry: --signal: not a signal: 'a\\b'" -s 'a\b' true
	refused "retry: --signal: not a signal: 'é'" -s é true
}

@test "a long argument is quoted up to its 400th byte" {
	local long
	long=$(printf '%0399d' 7)x
	refused "retry: --seed: not a whole number below 2^64: '$long'" --seed "$long" true
	refused "retry: --seed: not a whole number below 2^64: '$long...'" --seed "${long}y" true
	long+=$(printf '%0100000d' 7)
	refused "retry: --seed: not a whole number below 2^64: '${long::400}...'" --seed "$long" true
}

@test "bad usage is 125 even if nobody reads the message" {
	mkfifo pipe
	exec 9<>pipe
	exec 8>pipe 9<&-
	local status=0
	"$RETRY" -n 0 touch ran 2>&8 || status=$?
	exec 8>&-
	[ "$status" -eq 125 ]
	[ ! -e ran ]
}

@test "percent signs in an argument are quoted like anything else" {
	refused "retry: --delay: not a time in ms, s, m, h or d: '%s%n'" -d %s%n true
	refused "retry: unknown option '--%s%n'" --%s%n true
}

@test "--quiet does not hide bad usage" {
	refused "retry: --delay: not a time in ms, s, m, h or d: 'x'" -q -d x true
	refused 'retry: no command given' -q
}

@test "the name in messages is retry, whatever the program is called" {
	cp "$RETRY" other
	local status=0
	./other -n 0 true 2>err || status=$?
	[ "$status" -eq 125 ]
	holds err "retry: --attempts: not a number of attempts: '0'" \
	    "Try 'other -h' for more information."
}

@test "bad usage is 125 even if standard error is closed" {
	local status=0
	"$RETRY" -n 0 touch ran 2>&- || status=$?
	[ "$status" -eq 125 ]
	[ ! -e ran ]
}

# tried PROGRAM NAME: what one is told to ask for help where it was called so
tried()
{
	(exec -a "$2" "$1" --nosuch) 2>err && return 1
	[ "$(head -n 1 err)" = "retry: unknown option '--nosuch'" ]
	sed -n "s/^Try '\(.*\) -h' for more information\.$/\1/p" err
}

@test "help is that of the program by the name that it was called by" {
	cp "$RETRY" retry-cmd
	[ "$(tried ./retry-cmd ./retry-cmd)" = retry-cmd ]
	[ "$(tried "$RETRY" /opt/x/again_2.0)" = again_2.0 ]
	run -0 ./retry-cmd --help
	[ "${lines[0]}" = 'Usage: retry-cmd [OPTION]... [--] COMMAND [ARG]...' ]
	grep -q '^  retry-cmd -n 5 ' <<<"$output"
	run -0 ./retry-cmd --version
	[ "${lines[0]}" = "$("$RETRY" --version | head -n 1)" ]
	[[ ${lines[1]} == *" See 'man retry-cmd'." ]]
	run -1 ./retry-cmd -n 1 false
	[ "$output" = 'retry: attempt 1/1 failed (exit 1), giving up: attempts exhausted' ]
}

@test "a name of the program that nobody could type is not shown" {
	local called
	for called in '' / /x/ -retry 'a b' $'a\nb' "a'b" $'\e[1m' '$(id)' \
	    "$(printf '%0300d' 1)"; do
		[ "$(tried "$RETRY" "$called")" = retry ]
	done
}
