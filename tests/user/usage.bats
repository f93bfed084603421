#!/usr/bin/env bats
# Covers cli/help, cli/options, cli/option_parse.
# How the command line is parsed, and which mistakes in it are refused.

# shellcheck disable=SC2016 # the commands' shells expand

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

@test "an unknown option is refused" {
	refused "retry: unknown option '--foo'" --foo touch ran
	refused "retry: unknown option '--foo'" --foo=bar touch ran
	refused "retry: unknown option '-x'" -x touch ran
	refused "retry: unknown option '-x' in '-vx'" -vx touch ran
	refused "retry: unknown option '-=' in '-q=1'" -q=1 touch ran
	refused "retry: unknown option '--nothing-like-it'" --nothing-like-it touch ran
	[ ! -e ran ]
}

@test "a misspelled option is refused, and the nearest option is suggested" {
	local pair
	for pair in timout:timeout tiemout:timeout timeuot:timeout jiter:jitter \
	    dealy:delay sed:seed attempst:attempts -attempts:attempts \
	    Attempts:attempts attemptsx:attempts atempt:attempts retrys:retries \
	    max_delay:max-delay maxdelay:max-delay stdinmax:stdin-max \
	    budget-windows:budget-window buget-coldown:budget-cooldown \
	    bugdet-coldon:budget-cooldown timezut:timeout itmeotu:timeout \
	    replay-sdtin:replay-stdin hepl:help verison:version; do
		refused "retry: unknown option '--${pair%:*}'; did you mean '--${pair#*:}'?" \
		    "--${pair%:*}" 3 touch ran
		refused "retry: unknown option '--${pair%:*}'; did you mean '--${pair#*:}'?" \
		    "--${pair%:*}=3" touch ran
	done
	# Nothing is near enough to be suggested.
	for pair in hold jsn-x prime wait nosuch backof-kind bugdet-coldn imeou \
	    a-word-of-thirty-three-letters-xx; do
		refused "retry: unknown option '--$pair'" "--$pair" 3 touch ran
	done
	[ ! -e ran ]
}

@test "a long option with one dash is refused, and two dashes are suggested" {
	local name
	for name in timeout attempts delay deadline quiet verbose retry-on \
	    budget nested signal jitter; do
		refused "retry: unknown option '-$name'; did you mean '--$name'?" \
		    "-$name" 3 touch ran
	done
	refused "retry: unknown option '-timeout=5'; did you mean '--timeout'?" \
	    -timeout=5 touch ran
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

@test "an abbreviation is refused, and the whole name is suggested" {
	local unknown="retry: unknown option"
	refused "$unknown '--attempt'; did you mean '--attempts'?" --attempt 3 touch ran
	refused "$unknown '--attempt'; did you mean '--attempts'?" --attempt=3 touch ran
	refused "$unknown '--a'; did you mean '--attempts'?" --a 3 touch ran
	refused "$unknown '--kill'; did you mean '--kill-after'?" --kill 3 touch ran
	refused "$unknown '--max-d'; did you mean '--max-delay'?" --max-d 3 touch ran
	refused "$unknown '--max-r'; did you mean '--max-retry-after'?" --max-r=3 touch ran
	refused "$unknown '--http-'; did you mean '--http-status'?" --http- f touch ran
	refused "$unknown '--pre'" --pre=curl touch ran
	refused "$unknown '--preserve'; did you mean '--preserve-status'?" --preserve touch ran
	refused "$unknown '--retry-o'; did you mean '--retry-on'?" --retry-o 3 touch ran
	refused "$unknown '--verb'; did you mean '--verbose'?" --verb touch ran
	refused "$unknown '--br'; did you mean '--breaker'?" --br on touch ran
	refused "$unknown '--budget-g'; did you mean '--budget-gc'?" --budget-g
	refused "$unknown '--nest'; did you mean '--nested'?" --nest=add touch ran
	refused "$unknown '--dry'; did you mean '--dry-run'?" --dry touch ran
	refused "$unknown '--pol'; did you mean '--policy'?" --pol=x touch ran
	refused "$unknown '--replay'; did you mean '--replay-stdin'?" --replay touch ran
	refused "$unknown '--on-g'; did you mean '--on-give-up'?" --on-g true touch ran
	[ ! -e ran ]
}

@test "an abbreviation of several options is refused without a suggestion" {
	refused "retry: unknown option '--s'" --s touch ran
	refused "retry: unknown option '--max'" --max 3 touch ran
	refused "retry: unknown option '--f'" --f 2 touch ran
	refused "retry: unknown option '--htt'" --htt touch ran
	refused "retry: unknown option '--re'" --re=3 touch ran
	refused "retry: unknown option '--ver'" --ver touch ran
	refused "retry: unknown option '--budget-r'" --budget-r 1 touch ran
	refused "retry: unknown option '--hold'" --hold touch ran
	refused "retry: unknown option '--on'" --on true touch ran
	refused "retry: unknown option '--pro'" --pro never touch ran
	[ ! -e ran ]
}

@test "names of other tools are refused, and ours are suggested" {
	local pair
	for pair in retry:attempts tries:attempts times:attempts max-attempts:attempts \
	    max-time:deadline total-timeout:deadline sleep:delay interval:delay; do
		refused "retry: unknown option '--${pair%:*}'; did you mean '--${pair#*:}'?" \
		    "--${pair%:*}" 3 touch ran
		refused "retry: unknown option '--${pair%:*}'; did you mean '--${pair#*:}'?" \
		    "--${pair%:*}=3" touch ran
	done
	[ ! -e ran ]
}

@test "an option without its argument is refused by its long name" {
	refused 'retry: --delay: needs an argument' --delay
	refused 'retry: --delay: needs an argument' -d
	refused 'retry: --attempts: needs an argument' -qn
	refused 'retry: --retry-on: needs an argument' -n 3 --retry-on
	refused 'retry: --preset: needs an argument' --http --preset
	refused 'retry: --http-status: needs an argument' --http-status
	refused 'retry: --budget: needs an argument' -B
	refused 'retry: --budget-reset: needs an argument' --budget-reset
	refused 'retry: --stdin-max: needs an argument' -I --stdin-max
	refused 'retry: --policy: needs an argument' -n 3 --policy
	refused 'retry: --on-retry: needs an argument' --on-retry
}

@test "the next word is an argument, whatever it looks like" {
	refused "retry: --attempts: not a number of attempts: '--'" -n -- 3
	refused "retry: --delay: not a time in ms, s, m, h or d: '-v'" --delay -v true
}

@test "an argument for a flag is refused" {
	refused "retry: --quiet: takes no argument: '--quiet=1'" --quiet=1 touch ran
	refused "retry: --verbose: takes no argument: '--verbose='" --verbose= touch ran
	refused "retry: --http: takes no argument: '--http=f'" --http=f touch ran
	refused "retry: --budget-required: takes no argument: '--budget-required=1'" \
	    --budget-required=1 touch ran
	refused "retry: --budget-gc: takes no argument: '--budget-gc=k'" --budget-gc=k
	refused "retry: --json: takes no argument: '--json=1'" --budget-status k --json=1
	refused "retry: --replay-stdin: takes no argument: '--replay-stdin=1'" \
	    --replay-stdin=1 touch ran
	refused "retry: --hold-stdout: takes no argument: '--hold-stdout='" \
	    --hold-stdout= touch ran
	refused "retry: --dry-run: takes no argument: '--dry-run=1'" --dry-run=1 touch ran
	refused "retry: --help: takes no argument: '--help=x'" --help=x touch ran
	refused "retry: --version: takes no argument: '--version=x'" --version=x touch ran
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

@test "--attempts refuses anything but a number of attempts" {
	local text
	for text in 0 00 '' -1 +1 1.5 3x x 0x3 1e3 ' 3' INF infinity 1,2; do
		refused_option attempts "$text" "not a number of attempts: '$text'"
	done
	refused "retry: --attempts: not a number of attempts: '0'" -n 0 touch ran
	refused "retry: --attempts: not a number of attempts: '0'" -n0 touch ran
	refused "retry: --attempts: not a number of attempts: '-1'" -n -1 touch ran
	[ ! -e ran ]
}

@test "--retries refuses anything but a number of retries" {
	local text
	for text in '' -1 1.5 x '3 '; do
		refused_option retries "$text" "not a number of retries: '$text'"
	done
}

@test "every option that takes a time refuses anything else" {
	local option
	for option in deadline timeout idle-timeout kill-after delay max-delay min-delay reset-after \
	    splay max-retry-after budget-wait; do
		refused_option "$option" x "not a time in ms, s, m, h or d: 'x'"
		[[ "$option" = @(delay|timeout) ]] ||
		    refused_option "$option" '' "not a time in ms, s, m, h or d: ''"
		refused_option "$option" -1 "not a time in ms, s, m, h or d: '-1'"
	done
	refused "retry: --timeout: not a time in ms, s, m, h or d: '5min'" -t 5min true
	refused "retry: --deadline: not a time in ms, s, m, h or d: 'x'" -T x true
	refused "retry: --timeout: not a time in ms, s, m, h or d: 'x'" -t x true
	refused "retry: --kill-after: not a time in ms, s, m, h or d: 'x'" -k x true
	refused "retry: --delay: not a time in ms, s, m, h or d: 'x'" -d x true
}

@test "a time is a decimal number with units, and nothing else" {
	local text
	for text in nan inf 0x10 1e3 +1 ' 1' '1 ' '1 s' 1,5 1x 1sec 1m1 s . .s 1.2.3 \
	    1m1h 1us 1S; do
		refused_option deadline "$text" "not a time in ms, s, m, h or d: '$text'"
	done
}

@test "times in every unit, fractions and compounds are accepted" {
	local text
	for text in 1 1ms 1s 1m 1h 1d 1.5 .5 1h30m 1d2h3m4s5ms 0 99999999999999999999d \
	    0.00000000000000001; do
		prints ok -k "$text" echo ok
	done
}

@test "--delay refuses lists with empty, malformed or too many items" {
	refused_option delay 1,,2 "empty item in '1,,2'"
	refused_option delay 1, "empty item in '1,'"
	refused_option delay ,1 "empty item in ',1'"
	refused_option delay , "empty item in ','"
	refused_option delay '' "empty item in ''"
	refused_option delay 1,x "not a time in ms, s, m, h or d: 'x' in '1,x'"
	refused_option delay '1, 2' "not a time in ms, s, m, h or d: ' 2' in '1, 2'"
	local list
	list=$(seq -s , 65)
	refused_option delay "$list" "more than 64 delays: '$list'"
	prints ok --delay "${list%,*}" echo ok
}

@test "--timeout refuses lists with empty, malformed or too many items" {
	refused_option timeout 1,,2 "empty item in '1,,2'"
	refused_option timeout 1, "empty item in '1,'"
	refused_option timeout '' "empty item in ''"
	refused_option timeout 1,x "not a time in ms, s, m, h or d: 'x' in '1,x'"
	refused_option timeout 1,-1 "not a time in ms, s, m, h or d: '-1' in '1,-1'"
	local list
	list=$(seq -s , 65)
	refused_option timeout "$list" "more than 64 timeouts: '$list'"
	prints ok --timeout "${list%,*}" echo ok
}

@test "--signal refuses anything but a signal" {
	local text
	for text in NOPE SIG '' 0 -1 999 SIGSIGTERM 'TERM '; do
		refused_option signal "$text" "not a signal: '$text'"
	done
	refused "retry: --signal: not a signal: 'NOPE'" -s NOPE true
}

@test "--signal takes names with and without SIG, and numbers" {
	local text
	for text in TERM SIGTERM term sigterm 15 KILL USR1 RTMIN+1 SIGRTMAX-1; do
		prints ok --signal "$text" echo ok
	done
}

@test "--backoff and --jitter refuse kinds that do not exist" {
	local text
	for text in '' cubic exp Linear 'linear '; do
		refused_option backoff "$text" \
		    "not exponential, linear, constant or fibonacci: '$text'"
	done
	for text in '' some no FULL full,equal; do
		refused_option jitter "$text" \
		    "not full, equal, decorrelated or none: '$text'"
	done
	refused "retry: --backoff: not exponential, linear, constant or fibonacci: 'x'" -b x true
	refused "retry: --jitter: not full, equal, decorrelated or none: 'x'" -j x true
}

@test "--factor refuses anything but a number of 1 or more" {
	local text
	for text in 0.5 0 0.999 -2 x '' 1e3 nan inf 2,5 1.2.3 .; do
		refused_option factor "$text" "not a number of 1 or more: '$text'"
	done
	prints ok --factor 1 --factor 1.000001 --factor 3. echo ok
}

@test "a number with more digits than are kept is refused, not rounded" {
	local option text
	for text in 1.0000001 2.00000000000000000000001; do
		refused_option factor "$text" "finer than 0.000001: '$text'"
	done
	for option in budget-ratio fleet-ratio; do
		for text in 0.0000001 0.2000001 20.00001% .00001%; do
			refused_option "$option" "$text" \
			    "finer than 0.000001: '$text'"
		done
	done
	for option in stdin-max hold-max; do
		for text in 0.001 1.5 1.0001k 1.00000000000001M; do
			refused_option "$option" "$text" \
			    "not a whole number of bytes: '$text'"
		done
	done
	prints ok --factor 1.0000010 --budget-ratio 0.1234560 \
	    --budget-ratio 20.0001% --hold-max 1.0 --stdin-max 1.0009765625k \
	    -d 0.0000000001 echo ok
}

@test "--seed takes any number of 64 bits" {
	local text
	for text in 18446744073709551616 99999999999999999999 -1 '' x 1.5 0x1 ' 1'; do
		refused_option seed "$text" "not a whole number below 2^64: '$text'"
	done
	for text in 0 1 9223372036854775808 18446744073709551615 0000000000000000000001; do
		prints ok --seed "$text" echo ok
	done
}

@test "lists of conditions refuse empty items" {
	local option
	for option in retry-on stop-on fail-on success-on; do
		refused_option "$option" '' "empty item in ''"
		refused_option "$option" ,, "empty item in ',,'"
		refused_option "$option" 1,,2 "empty item in '1,,2'"
		refused_option "$option" 1, "empty item in '1,'"
		refused_option "$option" ,1 "empty item in ',1'"
	done
}

@test "lists of conditions refuse unknown conditions" {
	local option what='not an exit status, signal or condition'
	for option in retry-on stop-on fail-on success-on; do
		refused_option "$option" x "$what: 'x'; as a pattern: 'stderr:x'"
		refused_option "$option" 1,x "$what: 'x' in '1,x'; as a pattern: 'stderr:x'"
		refused_option "$option" '1, 2' "$what: ' 2' in '1, 2'"
		refused_option "$option" SIGNOPE,1 \
		    "$what: 'SIGNOPE' in 'SIGNOPE,1'; as a pattern: 'stderr:SIGNOPE'"
		refused_option "$option" -1 "$what: '-1'"
		refused_option "$option" 5- "$what: '5-'"
		refused_option "$option" 1-2-3 "$what: '1-2-3'"
		refused_option "$option" 1.5 "$what: '1.5'"
		refused_option "$option" 0x1 "$what: '0x1'"
	done
}

@test "lists of conditions refuse numbers above 255 and ranges that run backwards" {
	local option above='above 255 (an HTTP status is http:500)'
	for option in retry-on stop-on fail-on success-on; do
		refused_option "$option" 256 "$above: '256'"
		refused_option "$option" 1,256 "$above: '256' in '1,256'"
		refused_option "$option" 503 "$above: '503'"
		refused_option "$option" 250-256 "$above: '250-256'"
		refused_option "$option" 99999999999999999999 "$above: '99999999999999999999'"
		refused_option "$option" 9-5 "a range that runs backwards: '9-5'"
		refused_option "$option" 1,9-5 "a range that runs backwards: '9-5' in '1,9-5'"
	done
}

@test "--retry-on refuses 0, which is a success" {
	local zero='0 is a success, not a failure (see --fail-on)'
	refused_option retry-on 0 "$zero: '0'"
	refused_option retry-on 1,0 "$zero: '1,0'"
	refused_option retry-on 0-5 "$zero: '0-5'"
	prints ok --stop-on 0 --fail-on 0 --success-on 0 echo ok
}

@test "lists of conditions refuse malformed HTTP statuses" {
	local option item
	for item in http:99 http:600 http:0 http:x http:+503 http:50x http:5x http:5XX \
	    http:6xx http:503- http:-503 http:503-600 'http: 503'; do
		refused_option retry-on "$item" "not an HTTP status: '$item'"
	done
	for option in retry-on stop-on fail-on success-on; do
		refused_option "$option" 7,http:9xx "not an HTTP status: 'http:9xx' in '7,http:9xx'"
		refused_option "$option" http:504-500 "a range that runs backwards: 'http:504-500'"
		refused_option "$option" http:503, "empty item in 'http:503,'"
		refused_option "$option" HTTP:503 \
		    "not an exit status, signal or condition: 'HTTP:503'"
	done
}

@test "lists of conditions refuse a malformed pattern, and quote it from the error on" {
	local option
	for option in retry-on stop-on fail-on success-on; do
		refused_option "$option" 'stderr:(a' "( without ): '(a'"
		refused_option "$option" 'stdout:ok,(a' "( without ): '(a' in 'ok,(a'"
		refused_option "$option" '7,http:503,stderr:a)' ") without (: ')' in 'a)'"
		refused_option "$option" 'stderr:' "the pattern is empty: ''"
	done
	local unknown='not an exit status, signal or condition'
	refused_option retry-on STDERR:x "$unknown: 'STDERR:x'"
	refused_option retry-on stdin:x "$unknown: 'stdin:x'"
	refused_option retry-on x,stderr:y "$unknown: 'x' in 'x,stderr:y'; as a pattern: 'stderr:x'"
	local long=${unknown//[! ]/x}
	long=${long// /x}${long// /x}${long// /x}
	refused_option retry-on "$long" "$unknown: '$long'"
}

@test "lists of conditions take statuses, ranges, signals, words, HTTP and a pattern" {
	local list=7,64-78,255,SEGV,SIGBUS,sigill,signal,timeout,fail,5-5
	list+=,http:503,http:4xx,http:500-599,over:5m,under:2.5,stderr:a,b
	prints ok --retry-on "$list" --stop-on "$list" --fail-on "$list" \
	    --success-on "$list" echo ok
}

@test "--limit takes a number and a list, up to 16 times" {
	local text given=()
	for text in '' 2 timeout :timeout -1:timeout +1:timeout 1.5:timeout \
	    inf:timeout '1 :timeout' x:2:timeout; do
		refused_option limit "$text" "not N:LIST: '$text'"
	done
	refused_option limit 2: "empty item in '2:'"
	refused_option limit 2:7, "empty item in '2:7,'"
	refused_option limit 2:7,x \
	    "not an exit status, signal or condition: 'x' in '2:7,x'; as a pattern: 'stderr:x'"
	refused_option limit '2:stderr:(a' "( without ): '(a'"
	for text in 0:0 1:timeout 99999999999999999999:http:5xx '3:7,stderr:a,b:c'; do
		given+=(--limit "$text" --limit "$text" --limit "$text" --limit "$text")
	done
	prints ok "${given[@]}" echo ok
	refused "retry: --limit: given more than 16 times: '1:7'" "${given[@]}" \
	    --limit 1:7 true
}

@test "--preset refuses empty names, and more than eight times" {
	refused_option preset '' "no such preset in ''"
	refused_option preset , "no such preset in ','"
	refused_option preset curl, "no such preset in 'curl,'"
	refused_option preset curl,,git "no such preset in 'curl,,git'"
	refused_option preset ' curl' "no such preset: ' curl'"
	refused_option preset 'curl, git' "no such preset: ' git' in 'curl, git'"
	local given=(--preset={curl,wget,ssh,scp,rsync,git,apt,dnf})
	prints ok "${given[@]}" echo ok
	refused "retry: --preset: given more than 8 times: 'npm'" "${given[@]}" \
	    --preset npm touch ran
	[ ! -e ran ]
}

@test "--http-status refuses an empty file name" {
	refused_option http-status '' "not a file name: ''"
}

@test "--method refuses malformed methods, and those that are not idempotent" {
	local text
	for text in '' 'GET /' 'P@ST' POST: ; do
		refused_option method "$text" "not an HTTP method: '$text'"
	done
	for text in POST PATCH CONNECT post NOSUCH; do
		refused_option method "$text" \
		    "not idempotent, and no --idempotency-key: '$text'"
		prints ok --method "$text" --http-status s --idempotency-key auto echo ok
	done
	for text in GET HEAD OPTIONS TRACE PUT DELETE get; do
		prints ok --method "$text" echo ok
	done
}

@test "--idempotency-key refuses anything that is not one line of a header" {
	refused_option idempotency-key '' "must not be empty: ''"
	refused_option idempotency-key $'a\nX: b' "contains a control character: 'a\\nX: b'"
	refused_option idempotency-key $'a\x7f' "contains a control character: 'a\\x7f'"
	prints ok --http-status s --idempotency-key 'a "b" é' echo ok
}

@test "--budget takes any key of up to 1024 bytes" {
	local long
	long=$(printf '%01024d' 7)
	export RETRY_BUDGET_DIR=$PWD
	prints ok -B "$long" echo ok
	prints ok -B $'a/b\n\xff%é' echo ok
	prints ok -Bkey echo ok
	refused_option budget "${long}x" "longer than 1024 bytes: '${long::400}...'"
	refused "retry: --budget-reset: longer than 1024 bytes: '${long::400}...'" \
	    --budget-reset "${long}x"
}

@test "--budget-ratio takes 0 to 1000, also as percent" {
	local text
	for text in '' -1 x 1000.1 1001 100000.1% 1e3 nan % 20%% 1,5 '20 %' . 0x1; do
		refused_option budget-ratio "$text" "not a ratio from 0 to 1000: '$text'"
	done
	for text in 0 0% 0.2 .2 1. 20% 0.5% 1000 100000% 0.000001; do
		prints ok --budget-ratio "$text" echo ok
	done
}

@test "--budget-min takes whole numbers up to a million" {
	local text
	for text in '' -1 x 1.5 1000001 99999999999999999999 20%; do
		refused_option budget-min "$text" "not a whole number up to 1000000: '$text'"
	done
	prints ok --budget-min 0 --budget-min 1000000 echo ok
}

@test "--budget-window takes 1s to 24h, --budget-cooldown up to 24h" {
	local text
	for text in '' x 0 999ms 0.999 24h1s 1d1ms -1; do
		refused_option budget-window "$text" "not a time from 1s to 24h: '$text'"
	done
	for text in '' x 24h1s 25h -1; do
		refused_option budget-cooldown "$text" "not a time up to 24h: '$text'"
	done
	prints ok --budget-window 1 --budget-window 24h echo ok
	prints ok --budget-dir . -B key --budget-cooldown 0 --budget-cooldown 1d echo ok
}

@test "--budget-dir refuses an empty name" {
	refused_option budget-dir '' "not a file name: ''"
}

@test "--breaker refuses what is neither on nor numbers in their ranges" {
	local text number='not a number from 1 to 1000000' time='not a time above 0, up to 24h'
	for text in '' off On 5 'on '; do
		refused_option breaker "$text" "neither on nor N,DUR[,MAX]: '$text'"
	done
	for text in 0 x -1 1.5 1000001 on; do
		refused_option breaker "$text,1s" "$number: '$text' in '$text,1s'"
	done
	for text in 0 x -1 25h 0.0; do
		refused_option breaker "5,$text" "$time: '$text' in '5,$text'"
		refused_option breaker "5,1s,$text" "$time: '$text' in '5,1s,$text'"
	done
	for text in ',1s' '5,' '5,,2s' '5,1s,'; do
		refused_option breaker "$text" "empty item in '$text'"
	done
	refused_option breaker 5,2s,1s "shorter than the time before it: '1s' in '5,2s,1s'"
	refused_option breaker 5,1s,2s,3s "more items than N,DUR,MAX: '5,1s,2s,3s'"
}

@test "--breaker takes on, and two or three numbers" {
	local text
	for text in on 1,1ms 1000000,24h,24h 20,10s 20,2m 5,1s,1s; do
		prints ok --budget-dir . -B key --breaker "$text" echo ok
	done
}

@test "--nested refuses what is not share, add or once" {
	local text
	for text in '' none Share share,add; do
		refused_option nested "$text" "not share, add or once: '$text'"
	done
	for text in share add once; do
		prints ok --nested "$text" echo ok
	done
}

@test "--stdin-max and --hold-max take bytes, also with k, M, G or T" {
	local text
	for text in '' 0 0k 00 0.0M k M -1 +1 x 1x 1kB 1KiB 1m 1g '1 k' ' 1' 1e3 0x10 \
	    1,5 inf nan 1kk . .k; do
		refused_option stdin-max "$text" \
		    "not a size in bytes, k, M, G or T: '$text'"
		refused_option hold-max "$text" \
		    "not a size in bytes, k, M, G or T: '$text'"
	done
	for text in 1 1k 1K 64M 1G 2T 1.5G .5k 99999999999999999999T \
	    9223372036854775808; do
		prints ok --stdin-max "$text" --hold-max "$text" echo ok
	done
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

@test "--log-format takes text, json and github" {
	local text
	for text in '' xml Text JSON text,json 'json '; do
		refused_option log-format "$text" "not text, json or github: '$text'"
	done
	for text in text json github; do
		prints ok --log-format "$text" echo ok
	done
}

@test "--progress takes auto, always and never" {
	local text
	for text in '' yes no Auto 'always,' 1; do
		refused_option progress "$text" "not auto, always or never: '$text'"
	done
	for text in auto always never; do
		prints ok --progress "$text" echo ok
	done
}

@test "--report, --metrics and --trace refuse an empty file name" {
	refused_option report '' "not a file name: ''"
	refused_option metrics '' "not a file name: ''"
	refused_option trace '' "not a file name: ''"
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
