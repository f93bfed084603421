#!/usr/bin/env bats
# Covers cli/help, cli/options.
# Help, manual, README and completions agree with the program, and their examples
# run.

# shellcheck disable=SC2016 # $ and ` in single quotes are for others

load helper

setup()
{
	top=${BATS_TEST_FILENAME%/*}/../..
	pages=("$top"/retry.1 "$top"/man/*.[57])
	helper_setup
}

# "letter name argument" of each option in --help, "-" for what it lacks.
help_options()
{
	"$RETRY" --help | sed -nE '
		s/^ {6}--([a-z-]+) ([[A-Z][^ ]*).*/- \1 \2/p
		s/^ {6}--([a-z-]+)  .*/- \1 -/p
		s/^  -(.), --([a-z-]+) ([A-Z][^ ]*).*/\1 \2 \3/p
		s/^  -(.), --([a-z-]+)  .*/\1 \2 -/p' >options
	[ "$(lines options)" -ge 20 ]
}

# section PAGE TITLE: the lines of one section of a page's source, without those
# of its subsections. \& at the end of EXAMPLES hides the name from mandoc, which
# expects that section near the end of a page.
section()
{
	awk -v title="$2" '
		/^\.S[hs] / { sub(/\\&$/, ""); inside = substr($0, 5) == title; next }
		inside' "$top/$1"
}

# Source of the manual to plain text.
plain()
{
	sed -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" -e 's/\\&//g' -e 's/\\e/\\/g'
}

need()
{
	command -v "$1" >/dev/null || skip "no $1 here"
}

# A "!" before a command would not make a test fail.
not()
{
	if "$@"; then
		return 1
	fi
}

@test "the manual has the options of --help, in its order, with the same arguments" {
	help_options
	for part in Limits Delays 'What to retry' 'HTTP options' \
		'Stream options' 'Budget options' 'Fleet options' 'Messages and reports' \
		'General options'; do
		section retry.1 "$part"
	done | sed -nE '/^\.It Fl /{
		s/^\.It Fl Fl ([a-z-]+)$/- \1 -/
		s/^\.It Fl Fl ([a-z-]+) Op Ar (.*)/- \1 [\2]/
		s/^\.It Fl Fl ([a-z-]+) Ar /- \1 /
		s/^\.It Fl (.) , Fl Fl ([a-z-]+)$/\1 \2 -/
		s/^\.It Fl (.) (.*) , Fl Fl ([a-z-]+) Ar .*/\1 \3 \2/
		s/ Ar / /
		s/ Ns Oo , Ns Ar DUR Ns ... Oc/[,DUR...]/
		s/ Ns Op , Ns NAME/[,NAME]/
		s/ Ns \| Ns /|/
		s/ , Ns DUR Ns Op , Ns Ar MAX/,DUR[,MAX]/
		s/ : Ns /:/
		p
	}' >described
	diff options described
}

@test "the manual has no fault that mandoc finds, and shows each option" {
	help_options
	need mandoc
	mandoc -Tlint "${pages[@]}" 2>/dev/null |
		grep -Ev 'referenced manual not found|outdated mandoc.db' |
		grep -vF 'Sh EXAMPLES\& instead of EXAMPLES' >faults || :
	diff /dev/null faults
	mandoc -Tascii -Owidth=80 "$top/retry.1" | sed 's/.\x08//g' >page
	sed -nE 's/^     (-., |-. [^ ]+, )?--([a-z-]+)( .*)?$/\2/p' page | sort >shown
	cut -d' ' -f2 options | sort | comm -23 - shown | diff /dev/null -
	# A long option has two dashes in each sentence, too.
	cut -d' ' -f2 options | sed 's/.*/(^|[ (])-&([ ,.;:)]|$)/' >patterns
	mandoc -Tascii -Owidth=80 "${pages[@]}" | sed 's/.\x08//g' >all
	not grep -E -f patterns all
}

@test "retry(1) has at most 900 lines, and no sentence stands on two pages" {
	"$RETRY" --version | grep -q '^retry '
	need mandoc
	[ "$(mandoc -Tascii -Owidth=80 "$top/retry.1" | wc -l)" -le 900 ]
	for page in "${pages[@]}"; do
		# A paragraph is a line. Tables and examples have no sentences.
		mandoc -Tascii -Owidth=950 "$page" | sed 's/.\x08//g' |
			sed -n 's/^ \{5,\}\(.*[.]\)$/\1/p' |
			sed 's/\([.;:]\)  */\1\n/g' | grep -E '([^ ]+ ){7}' | sort -u
	done >sentences
	[ "$(lines sentences)" -ge 900 ]
	sort sentences | uniq -d | diff /dev/null -
}

@test "each reference in the manual names a page or a section that there is" {
	"$RETRY" --version | grep -q '^retry '
	local page file
	for page in "${pages[@]}"; do
		grep -oE 'Xr retry[a-z.-]* [1-8]' "$page" |
			sed -E 's/Xr ([^ ]*) (.)/\1.\2/' | sort -u >names
		while read -r file; do
			[ -e "$top/$file" ] || [ -e "$top/man/$file" ]
		done <names
		sed -nE 's/\\&//g; s/^\.S[hs] //p' "$page" >titles
		sed -nE 's/.*\<Sx ([^.;,:]*[a-zA-Z])( [.;,:].*| No .*| Ns.*)?$/\1/p' \
			"$page" | sed 's/\\&//g' | sort -u >names
		while read -r title; do
			grep -qxF -- "$title" titles
		done <names
	done
	for file in "$top"/man/*; do
		file=${file##*/}
		section retry.1 'SEE ALSO' | grep -qF "Xr ${file%.*} ${file##*.}"
		grep -q "^\.Nm ${file%.*}\$" "$top/man/$file"
	done
}

@test "help and manual name the default number of attempts and first delay" {
	local attempts delay
	attempts=$("$RETRY" sh -c 'echo "$RETRY_MAX_ATTEMPTS"')
	delay=$("$RETRY" --dry-run -j none | awk '$1 == 1 { print $2 }')
	[ -n "$attempts" ] && [ -n "$delay" ]
	"$RETRY" --help | grep -qF "(default $attempts; with -T, inf)"
	"$RETRY" --help | grep -qF "(default $delay)"
	section retry.1 Limits | grep -qx "The default is $attempts\."
	section retry.1 Delays | grep -qxF "The default is $delay."
	[ "$attempts $delay" = '5 1s' ]
	tr '\n' ' ' <"$top/README.md" |
		grep -qF 'makes at most five attempts, or, with `-T` alone,'
}

@test "README and CONTRIBUTING have 200 lines at most" {
	"$RETRY" --version | grep -q '^retry '
	[ "$(lines "$top/README.md")" -le 200 ]
	[ "$(lines "$top/CONTRIBUTING.md")" -le 200 ]
}

@test "README sends newcomers to two commands, of which the first succeeds at the third attempt" {
	awk '/^```/ { inside = 0 } inside { print n, $0 }
		/^```sh$/ { inside = 1; n++ }' "$top/README.md" >blocks
	grep -qxF '2 tests/setup && make check' blocks
	[ "$(grep -c '^[12] ' blocks)" = 2 ]
	command=$(sed -n 's/^1 tests\/setup build && make && //p' blocks)
	[[ $command == './retry -v -n 5 -- '* ]]
	bash -c "${command/.\/retry/\"\$RETRY\" -d 1ms}" 2>err
	grep -qx 'retry: attempt 3/5 succeeded (exit 0)' err
	grep -qx 'retry: ended after 3 attempts in .*: succeeded' err
}

@test "the variables that a command is given are those in the manual" {
	echo quiet >policy
	(umask 077 && echo password >auth)
	RETRY_FLEET_AUTH=password RETRY_POLICY=./policy "$RETRY" -T 60 -d 1ms --http \
		--idempotency-key auto -B api --budget-ratio 1 --budget-min 1 --budget-window 60 \
		--budget-dir . --breaker on --nested add \
		--fleet unix:///none --fleet-auth auth --fleet-via false \
		--fleet-timeout 1 --fleet-min 1 --fleet-ratio 1 --fleet-alone 1 \
		--trace trace -- \
		sh -c 'test "$RETRY_ATTEMPT" = 2 && env >seen' 2>err
	sed -n 's/^\(RETRY_[A-Z_]*\)=.*/\1/p' seen | sort >given
	[ "$(lines given)" = 27 ]
	# Each is described once.
	{
		section retry.1 ENVIRONMENT
		section man/retry-process.7 ENVIRONMENT
		section man/retry-process.7 'Defaults of options'
	} | sed -nE 's/^\.It Ev (RETRY_[A-Z_]*) .*/\1/p' | sort | diff given -
}

@test "the variables of others that the program reads are those in the manual" {
	"$RETRY" --version | grep -q '^retry '
	{
		grep -oh '"[A-Z]*_PID="' "$top/src/attempt/spawn.c" | tr -d '"='
		sed -n 's/.*getenv("\([A-Z_]*\)").*/\1/p' "$top"/src/*/*.c |
			grep -v '^RETRY_'
		echo PATH # execvp's
	} | sort -u >wanted
	section man/retry-process.7 'Variables of other programs' |
		sed -n 's/ Ta .*//; s/^\.It Ev //p' |
		sed 's/ , /\n/g' | sort | diff wanted -
}

@test "the statuses that retry exits with are those in help, manual and README" {
	export RETRY_BUDGET_DIR=$PWD
	statuses=$(
		"$RETRY" -n 1 --fail-on 0 true || echo $?
		"$RETRY" -B a --budget-dir none --budget-required true || echo $?
		"$RETRY" -n 1 -B b --breaker 1,1h false || :
		"$RETRY" -B b --breaker 1,1h true || echo $?
		"$RETRY" -n 1 -t 0.05 sleep 30 || echo $?
		"$RETRY" --no-such-option || echo $?
		"$RETRY" / || echo $?
		"$RETRY" ./no-such-command || echo $?
	) 2>err
	[ "$statuses" = "$(printf '%s\n' 1 69 75 124 125 126 127)" ]
	"$RETRY" --help >help
	section retry.1 'EXIT STATUS' >manual
	grep '^|' "$top/README.md" >readme
	for status in $statuses; do
		grep -qw "$status" help
		grep -qE "^\.It $status Ta " manual
		grep -qE "^\| ([0-9]+, )?${status}[, ]" readme
	done
}

# Makes a ./curl that fails with this answer: a status, and header fields.
answer()
{
	[ -x curl ] || {
		printf '%s\n' '#!/bin/sh' 'cat answer >"$RETRY_HTTP_STATUS"' \
			'exit 22' >curl
		chmod +x curl
	}
	printf '%s\n' "HTTP/1.1 $1" "${2-}" '' >answer
}

# Ends for a reason of this name, which "giving up: " has in these words; of three
# reasons it names the rule.
ends()
{
	local name=$1 words=$2
	shift 2
	output=$("$RETRY" -v "$@" 2>&1) || :
	[[ $output == *": $name" ]]
	case $name in
	succeeded) ;;
	not-executable) [[ $output == "retry: cannot run "* ]] ;;
	breaker | budget)
		[[ $output == *"retry: $name 'api': "*"; giving up"* ]]
		;;
	stop-rule) [[ $output == *', giving up: --stop-on 1'$'\n'* ]] ;;
	not-retryable) [[ $output == *', giving up: not in --retry-on 2'$'\n'* ]] ;;
	not-idempotent) [[ $output == *', giving up: a POST is not sent twice without --idempotency-key'$'\n'* ]] ;;
	*) [[ $output == *", giving up: $words"*$'\n'* ]] ;;
	esac
	echo "$name: $words" >>seen
}

@test "the reasons are those of the manual, by name and in words" {
	ends interrupted interrupted -- sh -c 'kill -TERM $PPID; exit 3'
	ends not-executable 'not executable' ./no-such-command
	ends succeeded succeeded true
	ends stop-rule 'stop rule' --stop-on 1 false
	ends not-retryable 'not retryable' --retry-on 2 false
	answer 503
	ends not-idempotent 'not idempotent' --http -- ./curl -d x
	echo line | ends input-consumed \
		'standard input was already consumed: use -I or </dev/null' \
		-d 0 -- sh -c 'read -r _; exit 1'
	output=$("$PYTHON" -IS -c 'if True:
		import os, socket, subprocess
		ours, theirs = socket.socketpair()
		theirs.send(b"lost")
		ours.close()
		subprocess.call([os.environ["RETRY"], "-v", "--", "cat"],
		                stdin=theirs)' 2>&1 3>&- | tail -n 2)
	[[ $output == *', giving up: standard input was reset by its other end'$'\n'*': input-reset' ]]
	echo 'input-reset: standard input was reset by its other end' >>seen
	ends attempts 'attempts exhausted' -n 1 false
	ends limit '--limit reached' --limit 0:1 false
	answer 503 'Retry-After: 3600'
	ends retry-after 'Retry-After too long' --http ./curl
	ends deadline deadline -T 60 -d 100 -j none false
	export RETRY_BUDGET_DIR=$PWD
	ends breaker 'breaker open' -d 0 -B api --breaker 1,1h false
	ends budget 'budget exhausted' -d 0 -B api --budget-min 0 false
	section retry.1 Reasons | awk '
		/^\.It Cm / { name = $3; sub(/.* Pq Dq /, ""); print name ": " $0 }' \
		>described
	[ "$(head -n 1 described)" = 'internal: internal error' ]
	sed 1d described | diff seen -
	sed -n '/ verdict_reasons\[\]/,/^};/p' "$top/src/policy/verdict.c" | tr -d '\n\t' |
		grep -oE '"[^"]*", *"[^"]*"' |
		sed -E 's/"(.*)", *"(.*)"/\1: \2/' | grep -v '^none: ' |
		diff described -
}

# Whether a file has all these texts, whatever else is in it.
holds()
{
	"$PYTHON" -IS - "$@" <<-'END'
		import sys
		with open(sys.argv[1], "rb") as file:
		    all = file.read()
		for text in sys.argv[2:]:
		    if text.encode() not in all:
		        sys.exit(sys.argv[1] + " does not have: " + text)
	END
}

# Runs retry and expects a line in which N stands for any number or time.
says()
{
	local line=$1
	shift
	"$RETRY" "$@" 2>&1 | sed -E 's/[0-9]+(\.[0-9]+)?/N/g; s/Nms/Ns/' >said
	grep -qxF -- "retry: $line" said
}

@test "every message of the manual is one that the program has" {
	says 'attempt N/N failed (exit N), retrying in Ns' -n 2 -d 1 -j none \
		-T 60 -- sh -c 'exit $((2 - RETRY_ATTEMPT))'
	says 'attempt N/N failed (exit N), giving up: attempts exhausted' \
		-n 1 false
	answer 503 'Retry-After: soon'
	says 'attempt N/N failed (exit N, HTTP N), giving up: attempts exhausted' \
		-n 1 --http ./curl
	says "status file 'head': a Retry-After was not understood" \
		-v -n 1 --http-status head ./curl
	says "status file 'head' ignored: unrecognised format" \
		-v --http-status head sh -c 'echo hello >head'
	says "status file '.' ignored: not a regular file" \
		-v --http-status . true
	says "status file 'none' ignored: No such file or directory" \
		-v --http-status none true
	says 'curl has a --retry of its own: attempts multiply' \
		-n 1 --http ./curl --retry 1
	says "curl's own --dump-header is not a file: no HTTP status is read" \
		-v -n 1 --http ./curl -D -
	mkdir mute
	cp /bin/true mute/curl
	cp /bin/true mute/sudo
	says "no HTTP status found: none where curl's own -D goes, use -i instead, or -D \"\$RETRY_HTTP_STATUS\" in sh -c" \
		--http mute/curl -D -
	says 'no HTTP status found: have the command write it to $RETRY_HTTP_STATUS, or make curl the command' \
		--http true
	says 'no HTTP status found: curl wrote none to $RETRY_HTTP_STATUS' \
		--http mute/curl
	says 'no HTTP status found: curl under sudo cannot write to $RETRY_HTTP_STATUS, put sudo in front of retry' \
		--http mute/sudo -u bob curl
	says "curl exits with N even if the server answers with an error: use --http, or curl's own -f" \
		mute/curl https://example.org/
	says 'curl under sudo is sent without the key, put sudo in front of retry' \
		-q --http --idempotency-key k mute/sudo -u bob curl -d x URL
	says 'attempt N/N killed by SIGKILL, giving up: attempts exhausted' \
		-n 1 sh -c 'kill -KILL $$'
	says 'attempt N/N timed out after Ns, giving up: attempts exhausted' \
		-n 1 -t 0.1 sleep 30
	says 'attempt N ended by the deadline after Ns, giving up: deadline' \
		-T 0.15 sleep 30
	says 'giving up before attempt N: deadline' -T 0.000000001 true
	says 'attempt N/N succeeded (exit N)' -v true
	says 'attempt N/N succeeded (exit N), N of N in a row, next in Ns' \
		-v -d 1ms -j none --consecutive 2 true
	says 'attempt N/N failed (exit N), giving up: not in --retry-on N' \
		--retry-on 75 false
	echo stop-on=stderr:denied >team.conf
	says 'attempt N/N failed (exit N), giving up: --stop-on stderr:denied (./team.conf:N)' \
		--policy ./team.conf sh -c 'echo denied >&2; exit 1'
	says 'attempt N/N failed (exit N), giving up: preset git: "Authentication failed" cannot be cured by a retry' \
		--preset git sh -c 'echo "fatal: Authentication failed for x" >&2; exit 1'
	says 'attempt N/N failed (exit N), giving up: preset git: not a transient failure, see --retry-on' \
		--preset git false
	answer 404
	says 'attempt N/N failed (exit N, HTTP N), giving up: HTTP N is not retried' \
		--http ./curl
	answer 503
	says 'attempt N/N failed (exit N, HTTP N), giving up: a POST is not sent twice without --idempotency-key' \
		--http ./curl -d x
	says 'attempt N/N killed by SIGINT, giving up: SIGINT is not retried unless --retry-on names it' \
		sh -c 'kill -INT $$'
	says 'attempt N/N failed (exit N), giving up: too few attempts left' \
		-n 2 --consecutive 2 false
	says 'ended after N attempts in Ns: succeeded' -v -d 0 \
		-- sh -c 'exit $((3 - RETRY_ATTEMPT))'
	says "',N' is part of the pattern; for more items, give --stop-on again" \
		-v -n 1 --stop-on stderr:denied,75 false
	printf '#!/bin/sh\nexit 1\n' >git
	chmod +x git
	says 'preset git (--preset auto) retries only failures that a retry may cure' \
		-v -n 1 ./git
	says "cannot run './nosuch': No such file or directory" ./nosuch
	says 'did you mean -n N?' 3
	says "this needs a shell: use sh -c 'echo a; echo b'" 'echo a; echo b'
	says 'not a command but a variable: use env A=... COMMAND' A=b true
	deploy() { :; }
	export -f deploy
	says "not a command but a function of bash: use bash -c 'deploy \"\$@\"' deploy" \
		deploy
	run sh -c '"$RETRY" --help >/dev/full'
	[ "$output" = \
		"retry: cannot write to standard output: No space left on device" ]
	run sh -c '"$RETRY" --stop-on stdout:x echo hello >/dev/full'
	[ "$output" = \
		"retry: cannot write to standard output: No space left on device" ]
	run sh -c '"$RETRY" -O echo hello >/dev/full'
	[ "$output" = \
		"retry: cannot write to standard output: No space left on device" ]
	"$RETRY" -E -n 1 --report report \
		sh -c 'echo hello >&2; exit 3' 2>/dev/full || [ $? = 125 ]
	grep -q '"reason": "internal"' report
	says 'attempt N/N killed by SIGTERM, giving up: more output than --hold-max' \
		-O --hold-max 1k yes
	echo hello >input
	says '--stdin-max: more than N bytes on standard input; command not run' -I --stdin-max 2 cat < <(cat input)
	TMPDIR=none says \
		"--replay-stdin: cannot copy standard input: No such file or directory, in 'none' (\$TMPDIR); command not run" \
		-I cat < <(cat input)
	TMPDIR=none says \
		"cannot relay or hold output: cannot make a file: No such file or directory, in 'none' (\$TMPDIR); command not run" \
		-O true
	says "cannot write report 'none/a': No such file or directory" \
		--report none/a true
	says "cannot write metrics 'none/a': No such file or directory" \
		--metrics none/a true
	says "cannot write trace 'none/a': No such file or directory" \
		--trace none/a true
	OTEL_RESOURCE_ATTRIBUTES=a says 'OTEL_RESOURCE_ATTRIBUTES ignored: malformed' \
		--trace trace true
	says '--on-retry failed (exit N)' -n 2 -d 0 --on-retry 'exit 4' false
	says '--on-retry killed by SIGTERM' -n 2 -d 0 \
		--on-retry 'kill $$' false
	says '--on-retry ended by the deadline' -T 0.3 -d 0.1 \
		--on-retry 'sleep 30' false
	export RETRY_BUDGET_DIR=.
	says "budget 'a': exhausted, N of N retries used in Ns (N successes, ratio N, min N), next in about Ns; giving up" \
		-d 0 -B a --budget-min 1 --budget-window 30 \
		--budget-cooldown 25 false
	says "budget 'z': exhausted, N of N retries used in Ns (N successes, ratio N, min N), next after a success; giving up" \
		-d 0 -B z --budget-min 0 false
	says "budget 'a': already in use with other limits; using ratio N, min N, window Ns" \
		-B a --budget-min 3 true
	says "budget 'a': no retries after a denial, next in about Ns; waiting" \
		-T 1 -d 0 -B a false
	says "budget 'a': no retries after a denial, next in about Ns; giving up" \
		-d 0 -B a false
	says "breaker 'b': open after N consecutive failures, probe in Ns; giving up" \
		-d 0 -B b --breaker 2,50s false
	says "breaker 'b': open after N consecutive failures, probe in Ns; command not run" \
		-B b --breaker 2,50s true
	says "budget 'c': cannot be used: cannot use the directory: No such file or directory, in none; counting for this command alone" \
		-B c --budget-dir none true
	says "budget 'c': cannot be used: cannot use the directory: No such file or directory, in none" \
		-B c --budget-dir none --budget-required true
	says "budget 'c': no such budget in ." --budget-status c
	says "cannot read none: No such file or directory" --budget-status all \
		--budget-dir none
	says "cannot write to none: No such file or directory" --budget-gc \
		--budget-dir none
	(umask 077 && : >"retry-v4.$EUID.d")
	says "budget 'd': cannot be used: of another size, in ." \
		--budget-status d
	"$RETRY" --budget-status all 2>&1 >out | grep -qxF \
		"retry: budget file 'retry-v4.$EUID.d': not shown: not made by retry"
	says "budget 'a': reset" -v --budget-reset a
	says "fleet 'unix:///none': cannot be reset: no connection: No such file or directory" \
		--budget-reset a --fleet unix:///none
	says "fleet 'unix:///none': cannot be reset: the command of --fleet-via has ended" \
		--budget-reset a --fleet unix:///none --fleet-via false
	local texts=("': exhausted, " ' retries used in ' '), next ' \
		'after a success' \
		"': no retries after a denial, next in about " \
		"': open after " ' consecutive failures' ', probe in ' \
		', probe under way, ask again in ' 'never' '; giving up' '; waiting' \
		'; command not run' "': already in use with other limits; using ratio " \
		"': cannot be used: " '; counting for this command alone' \
		'not a regular file' 'owned by another user' \
		'of another group' 'mode is not 0600' 'mode is not 0660' \
		'has other links' 'of another size' 'of another version' \
		'of another key' 'segment is corrupt' \
		'made in another time namespace' \
		'on a network file system' \
		'cannot tell one boot from another' \
		'removed again and again' 'being replaced all the time' \
		"': no such budget in " 'cannot remove' 'cannot read ' \
		'cannot write to ' "budget file '" \
		"': not shown: " 'of another time namespace' \
		'not made by retry' reset kept removed \
		idle 'in use' 'of an earlier boot' environment \
		'failed (exit' 'killed by' 'timed out after' \
		'ended by the deadline after' 'not started (' \
		': process ' ' is still alive 1s after KILL' \
		' cannot be signalled: ' 'giving up before attempt ' \
		'succeeded (exit ' 'ended after ' \
		'no /proc: limits reach the command itself only' \
		'cannot run ' 'did you mean -n ' \
		'this needs a shell: use ' 'not a command but a function of bash: use ' \
		'not a command but a variable: use env ' '($TMPDIR is not set)' \
		"fleet '" 'cannot be asked: ' 'cannot be reset: ' \
		'no answer in ' 'no connection: ' 'refused: ' \
		'no valid answer' 'the server has closed the connection' \
		'the command of --fleet-via has ended' \
		'openssl s_client has ended' \
		', HTTP ' ' ignored: ' 'not a regular file' \
		'unrecognised format' 'it is empty' \
		': a Retry-After was not understood' \
		'curl has a --retry of its own: attempts multiply' \
		'curl makes several requests: they share one idempotency key' \
		"curl's own --dump-header is not a file: no HTTP status is read" \
		'cannot write to standard ' signalfd eventfd 'status file' \
		'cannot relay or hold output' hooks report \
		'--replay-stdin: standard input is ' 'a terminal' \
		'a socket for messages' 'a special file' \
		', which cannot be read again' \
		'--replay-stdin' '--stdin-max' 'more output than --hold-max' 'cannot write ' metrics trace \
		'OTEL_RESOURCE_ATTRIBUTES ignored: malformed' \
		' failed (exit ' 'killed by ' 'ended by the deadline' \
		'ended after 30s' 'not started (' '--on-retry' \
		'--on-give-up')
	holds "$RETRY" "${texts[@]}"
	# They are there as source or as examples.
	{
		cat "$top/man/retry-messages.7"
		section retry.1 Reasons
	} | plain | sed 's/^\.It Li //' >part
	holds part "${texts[@]}"
}

@test "the manual's tables have the fields of the report, of lines in JSON, and the metrics" {
	"$RETRY" -q -n 2 -d 0 --report report --metrics job.prom \
		-B api --budget-dir . --fleet unix:///none false || :
	section man/retry-report.7 'THE REPORT' | sed -n 's/^\.It \([a-z_]*\) Ta .*/\1/p' >fields
	"$PYTHON" -IS -c 'import json
report = json.load(open("report"))
print(*report, *report["attempts"][0], sep="\n")' | diff fields -
	section man/retry-report.7 METRICS | sed -n 's/^\.It \([a-z_]*\) Ta .*/\1/p' |
		diff <(sed -n 's/{name="job".*//p' job.prom) -
	"$RETRY" -n 2 -d 0 --log-format json false 2>err || :
	section man/retry-report.7 'MESSAGES IN OTHER FORMATS' | sed -n 's/^\.It \([a-z_]*\) Ta .*/\1/p' |
		diff <("$PYTHON" -IS -c 'import json
lines = [json.loads(line) for line in open("err")]
print(*dict(lines[0], **lines[1]), sep="\n")') -
}

@test "the manual's table of Traces has the attributes of spans, and their types" {
	"$RETRY" -q -n 2 -d 0 --trace trace -B api --budget-dir . \
		--http-status status sh -c 'echo 503 >status; exit 7' || :
	section man/retry-report.7 TRACES | sed -n 's/^\.It \([a-z_.]*\) Ta \([a-z]*\) .*/\1 \2/p' |
		sort >attributes
	"$PYTHON" -IS -c 'import json
kinds = dict(intValue="integer", stringValue="string", boolValue="boolean")
[resource] = json.load(open("trace"))["resourceSpans"]
[scope] = resource["scopeSpans"]
print(*sorted({x["key"] + " " + kinds[kind] for span in scope["spans"]
               for x in span["attributes"] for kind in x["value"]}),
      sep="\n")' | diff attributes -
}

@test "the values of the report's fields are those that the manual names" {
	section man/retry-report.7 'THE REPORT' | sed -n '
		s/^\.It \(end\|verdict\) Ta string Ta \(.*\)/\2/p' |
		tr -d ' ' | tr ',' '\n' | sort >described
	sed -n '/ verdict_ends\[\]/,/^};/s/.* = { "\([^"]*\)".*/\1/p
		/ verdict_names\[\]/,/^};/s/.* = "\([^"]*\)".*/\1/p' \
		"$top/src/policy/verdict.c" | sort | diff described -
	section man/retry-report.7 'THE REPORT' | sed -n '/^\.Cm rule$/,$p' >rules
	sed -n '/^judge_cause/,/^verdict_status/p' "$top/src/policy/verdict.c" |
		grep -o '"[^"]*"' | tr -d '"' | sort -u >names
	[ "$(lines names)" = 14 ]
	while read -r name; do
		grep -qw -- "$name" rules
	done <names
	"$RETRY" -q -n 1 --report - false 2>report || :
	grep -q '"end": "exited".*"verdict": "retry", "rule": "default"' report
}

@test "the sample of --dry-run in the manual is what the program prints" {
	section man/retry-report.7 'DRY RUN' | plain | sed -n '/^\.Bd/,/^\.Ed/p' |
		sed '1d;$d' >sample
	command=$(sed -n '1s/^\$ retry //p' sample)
	# shellcheck disable=SC2086 # words
	"$RETRY" $command | diff <(sed 1d sample) -
}

@test "the sample of --budget-status in the manual has the program's columns" {
	export RETRY_BUDGET_DIR=$PWD
	"$RETRY" -q -n 3 -d 0 -B api false || :
	"$RETRY" -B api true
	section man/retry-budget.7 'LOOKING AT BUDGETS' | plain | sed -n '/^\.Bd/,/^\.Ed/p' |
		sed '1d;$d' | diff - <("$RETRY" --budget-status api)
}

@test "the policy in the manual is accepted, and what a policy must not have is refused" {
	section man/retry.conf.5 EXAMPLES | plain | sed -n '/^\.Bd/,/^\.Ed/p' |
		sed '1d;$d' >nightly.conf
	"$RETRY" --policy ./nightly.conf --report report true
	grep -q '"attempts_max": 6, .* "deadline_ms": 7200000,' report
	section man/retry.conf.5 DESCRIPTION | plain |
		sed -n '/^\.Fl Fl budget-status/,/^and the values/p' |
		grep -oE 'Fl Fl [a-z-]+' | cut -d' ' -f3 >refused
	[ "$(lines refused)" = 10 ]
	{
		cat refused
		echo preset=list
	} | while read -r line; do
		[ "$line" != policy ] || line=policy=./nightly.conf
		echo "$line" >bad
		run "$RETRY" --policy ./bad true
		[ "$status" = 125 ]
		[[ $output == *'only allowed on the command line'* ]]
	done
}

@test "the manual has the columns of --budget-status, what they are called in JSON, and the metrics" {
	export RETRY_BUDGET_DIR=$PWD
	"$RETRY" -B api true
	section man/retry-budget.7 'LOOKING AT BUDGETS' | sed -n 's/^\.It //p' >table
	grep -v '^Ta ' table | cut -d' ' -f1 |
		diff - <("$RETRY" --budget-status api | head -n 1 | xargs -n 1)
	sed 's/^[A-Z]* *Ta //; s/ Ta.*//; s/ , /\n/g' table >names
	"$RETRY" --budget-status api --json | "$PYTHON" -IS -c 'import json, sys
for name, value in json.load(sys.stdin).items():
	for part in value if isinstance(value, dict) else [""]:
		print(name + "." + part if part else name)' | diff names -
	sed -E '/^(key|directory|file)$/d; s/^(retries|successes)$/window_&/
		s/^totals\.(.*)/\1_total/; s/\./_/' names |
		diff - <("$RETRY" --budget-status api --prom |
			sed -n 's/^retry_budget_\([a-z_]*\){key="api"} .*/\1/p')
	for name in window_retries window_successes firsts_total gate_state \
		gate_failures gate_next_seconds; do
		section man/retry-budget.7 'LOOKING AT BUDGETS' |
			grep -qE "^\.Cm ([a-z_]+ , |.* No and Cm )?$name\>"
	done
}

@test "a budget's file has the name and the size of the manual" {
	export RETRY_BUDGET_DIR=$PWD/common
	"$RETRY" -B 'a b/c.d' --budget-dir . true
	file=retry-v4.$EUID.a%20b%2Fc.d
	[ "$(stat -c '%s %a' "$file")" = "$(section man/retry-budget.7 'WHERE A BUDGET IS KEPT' |
		sed -n 's/.*: \([0-9]*\) bytes\.$/\1/p') 600" ]
	mkdir common
	chmod 2770 common
	"$RETRY" -B api true
	[ "$(stat -c %a common/retry-v4.api)" = 660 ]
}

@test "the usage errors in the manual are those that the program prints" {
	ln -s "$RETRY" retry # the name in the manual
	run ./retry -n 0 true
	[ "$status" = 125 ]
	section man/retry-messages.7 'Wrong options' | plain | grep -xF -A1 -- "${lines[0]}" >shown
	diff shown <(echo "$output")
	printf '%s\n' quiet attempts=0 >nightly.conf
	run ./retry --policy ./nightly.conf true
	[ "$status" = 125 ]
	section man/retry-messages.7 'Wrong options' | plain |
		grep -xF -- "${lines[0]/.\/nightly/\/etc\/retry\/nightly}"
	run "$RETRY" --stop-on 'stderr:(.)\1' true
	[ "$status" = 125 ]
	section man/retry-messages.7 'Wrong options' | plain | grep -qxF -- "${lines[0]}"
}

@test "patterns are refused where the manual says so, and accepted up to its bounds" {
	for pattern in '' '(a)\1' '(?:a)' '\q' '\0' 'a(' 'a)' 'a[' 'a{' '*a' '^*' \
		'a{1001}' 'a{999}{999}' '[\d]' '[é]' '[[.a.]]' '[[=a=]]' \
		"$(printf '(%.0s' {1..251})$(printf ')%.0s' {1..251})"; do
		run "$RETRY" --retry-on "stderr:$pattern" true
		[ "$status" = 125 ]
	done
	for pattern in '\d\D\w\W\s\S\b\B\<\>\t\r' '(?i)a' '^a$' 'a]}' \
		'a{1000}' 'é{2}' '[[:alpha:]\\]' 'a|' \
		"$(printf '(%.0s' {1..250})$(printf ')%.0s' {1..250})"; do
		"$RETRY" --retry-on "stderr:$pattern" true
	done
	section man/retry-rules.7 PATTERNS >section
	for bound in 1000 250 64; do
		grep -qw "$bound" section
	done
	set --
	for ((i = 0; i < 64; i++)); do
		set -- "$@" --stop-on "stderr:$i"
	done
	"$RETRY" "$@" true
	run "$RETRY" "$@" --stop-on stderr:x true
	[ "$status" = 125 ]
}

@test "the manual names presets that there are" {
	"$RETRY" --preset list >listed
	section man/retry-presets.7 'SINGLE PRESETS' | sed -n 's/^\.It Cm //p' | tr -d , >named
	[ "$(lines named)" -ge 5 ]
	for name in $(<named); do
		grep -q "^$name " listed
	done
}

@test "the manual's table of HTTP statuses is the program's" {
	section man/retry-http.7 'WHICH STATUSES ARE RETRIED' | sed -n 's/^\.It //p' >table
	[ "$(lines table)" = 6 ]
	printf '%s\n' 200 302 4{00..31} 451 499 5{00..12} 520 599 >codes
	awk -F ' Ta ' '
		NR == FNR { codes[NR] = $1; words[NR] = $2; next }
		{
			for (i = 1; codes[i] !~ $1 && codes[i] != "all other " \
			    int($1 / 100) "xx" &&
			    !(codes[i] == "less than 400" && $1 < 400); i++)
				if (i > 6)
					exit 1
			print $1, words[i]
		}' table codes >meant
	while read -r code words; do
		answer "$code"
		run "$RETRY" -v -n 1 --http ./curl
		case $words in
		'not retried' | *' where '*)
			[[ $output == *': not-retryable' ]]
			;;
		*)
			[[ $output == *': attempts' ]]
			;;
		esac
		[[ $words == *' where '* ]] || continue
		answer "$code" 'Retry-After: 1'
		run "$RETRY" -v -n 1 --http ./curl
		[[ $output == *': attempts' ]]
	done <meant
}

# Programs for examples: they fail at the first attempt, as somebody might
# who cannot reach a host, and tell that they were called.
stage()
{
	mkdir bin
	cat >bin/retry <<-'END'
		#!/bin/sh
		for word; do # what is in -- comes late, but waits briefly
			shift
			[ "$word" != -- ] || set -- "$@" -d 1ms --splay 0
			set -- "$@" "$word"
		done
		exec "$RETRY" "$@"
	END
	cat >bin/curl <<-'END'
		#!/bin/sh
		echo "${0##*/} $*" >>"$CALLS"
		case $RETRY_ATTEMPT:${0##*/}:$* in
		1:ssh:*)
			echo 'ssh: connect to host h port 22: Connection refused' >&2
			exit 255
			;;
		1:curl:--dump-header*) echo HTTP/2 503 >"$2"; exit 22 ;;
		1:curl:*--fail-with-body*)
			echo '{"type": "https://example.org/probs/busy"}'
			exit 22
			;;
		1:curl:*) exit 7 ;;
		1:wget:*) echo HTTP/1.1 503 Busy >log; exit 8 ;;
		1:apt-get:*) echo 'W: Failed to fetch it: Connection refused' >&2; exit ;;
		1:redis-cli:*) echo LOADING Redis is loading its data; exit ;;
		1:git:push* | 1:git:fetch*) echo 'fatal: early EOF' >&2; exit 128 ;;
		1:gh:*) echo 'Please try again in 7ms.' >&2; exit 1 ;;
		1:docker:pull*)
			echo 'Error response from daemon: net/http: TLS handshake timeout' >&2
			exit 1
			;;
		1:migrate:* | 1:make:index) echo 'Database is LOCKED' >&2; exit 3 ;;
		1:*) exit 1 ;;
		esac
		while [ $# -gt 1 ]; do
			if [ "$1" = -o ]; then
				echo data >"$2"
			fi
			shift
		done
	END
	chmod +x bin/retry bin/curl
	for name in "$@"; do
		cp bin/curl "bin/$name"
	done
	echo https://example.org/1 >urls
	PATH=$PWD/bin:$PATH
	export CALLS=$PWD/calls RETRY_BUDGET_DIR=$PWD
}

# Runs a command, in which each retry makes two attempts.
example()
{
	rm -f calls
	"$@" 2>err
	cat calls err
	[ "$(lines calls)" = "$((2 * count))" ]
	not grep '^retry: --\|unknown option' err
}

# Five successes in a row after a failure are three times two attempts.
in_a_row()
{
	((count += 2 * $(grep -c -e '--consecutive 5 ' "$1"))) || :
}

@test "the examples of the manual run" {
	stage pg_isready pg_dump test ssh git npm rsync worker wget apt-get \
		redis-cli migrate sync-users sync-groups build-images service \
		psql handle logger gh docker script
	gzip -c urls >dump.gz
	for page in retry.1 man/retry-{budget,fleet,http,presets,process,report,rules,streams}.7 \
		man/retry.conf.5; do
		section "$page" EXAMPLES >part
		grep -q '^\.Dl retry\|^\.Bd' part
		plain <part
	done | awk '
		function name() { return sprintf("example.%02d", n) }
		/^\.Ed/ { inside = 0 }
		inside { print >name() }
		/^\.Bd/ { inside = 1; n++ }
		sub(/^\.Dl /, "") { n++; print >name() }'
	export XDG_CONFIG_HOME=$PWD/config
	mkdir -p config/retry
	for file in example.*; do
		count=$(grep 'retry ' "$file" |
			grep -vc -e ' --budget-reset' -e ' --budget-status' \
				-e ' --preset show') || :
		in_a_row "$file"
		case $(cat "$file") in
		'# /etc/retry/'*)
			cp "$file" "config$(sed -n '1s,^# /etc,,p' "$file")"
			;;
		'retry --preset show:'*)
			sh -e "$file" >shown
			[ "$(lines shown)" -ge 5 ]
			;;
		RETRY_POLICY=*' make all')
			printf 'all:\n\tretry -- migrate\n' >makefile
			count=1
			example sh -e "$file"
			rm makefile
			;;
		'[Service]'*)
			not grep '[$%]' "$file"
			example sh -c "$(sed -n 's,^ExecStart=/usr/local/bin/,,p' "$file")"
			;;
		ENTRYPOINT*)
			count=1
			words=$(sed -n 's/^ENTRYPOINT \[\(.*\)\]$/\1/p' "$file")
			example sh -c "${words//\", \"/\" \"}"
			example sh -c "$(sed -n 's/^HEALTHCHECK CMD //p' "$file")"
			;;
		'0 3 * * * '*)
			example sh -c "$(sed 's/^0 3 \* \* \* *//' "$file")"
			;;
		RETRY_*'*/5 * * * * '*)
			example sh -aec "$(sed 's/^\*\/5 \* \* \* \* *//' "$file")"
			;;
		steps:* | script:*)
			example sh -ec "$(sed -n 's/^  - \(run: \)\?//p' "$file")"
			;;
		*:$'\n\t'*)
			example make -f "$file"
			;;
		*)
			example sh -e "$file"
			;;
		esac
	done
	[ "$(cat app)" = data ]
	[ -e app.tar ]
	grep -q '"reason": "succeeded"' retry.json
	grep -q '^retry_success{name="backup"} 1$' backup.prom
	[ "$(printf '%s\n' example.* | wc -l)" -ge 40 ]
}

# A dash between two bashes drops what the first one has exported.
keep_functions()
{
	sed -i "1s|.*|#!$(command -v bash)|" bin/retry
}

# The function that the manual's section about functions defines.
definition()
{
	section retry.1 'Functions of a shell' | plain |
		sed -n '/^fetch() {/,/^}/p; /^}/q'
}

# Runs the n-th block of that section by a shell, after what ./before defines. It
# makes two attempts, and the second writes the file.
function_runs()
{
	need "$2"
	stage
	keep_functions
	[ -e before ] || : >before
	section retry.1 'Functions of a shell' | plain |
		awk -v number="$1" '/^\.Ed/ { inside = 0 }
			inside && n == number; /^\.Bd/ { inside = 1; n++ }' |
		cat before - >code
	shift
	count=1
	example "$@" code
	[ "$(cat mirror)" = data ]
	holds calls 'curl -fsS -o mirror.part https://mirror.example.org/'
}

@test "the example of a function runs in bash" {
	function_runs 1 bash
}

@test "the example of a function runs in a script with set -euo pipefail" {
	{
		echo 'set -euo pipefail'
		definition
		echo 'export -f fetch'
	} >before
	function_runs 2 bash
}

@test "the example of a function runs in zsh" {
	definition >before
	function_runs 3 zsh -f
}

@test "the example of a function runs in fish" {
	need fish
	fish --no-config -c 'test "$(echo x)" = x' || skip 'fish is too old'
	cat >before <<-'END'
		function fetch
			curl -fsS -o $argv[1].part https://$argv[1].example.org/
			and mv $argv[1].part $argv[1]
		end
	END
	function_runs 4 fish --no-config
}

@test "the example of a function in a file runs in sh" {
	definition >functions.sh
	function_runs 5 sh
}

@test "the example of a function in README runs in bash" {
	stage
	keep_functions
	awk '/^```/ { inside = 0 } inside; /^```bash$/ { inside = 1 }' \
		"$top/README.md" >code
	count=1
	example bash code
	[ "$(cat mirror)" = data ]
}

@test "a function keeps its arguments, and retry its status" {
	fetch() { printf '<%s>' "$@"; return 7; }
	export -f fetch
	run "$RETRY" -q -n 1 -- bash -c 'fetch "$@"' fetch 'a b' '' c
	[ "$status" = 7 ]
	[ "$output" = '<a b><><c>' ]
	if command -v zsh; then
		run zsh -fc 'fetch() { printf "<%s>" "$@"; return 7; }
			"$RETRY" -q -n 1 -- zsh -fc "$(functions fetch); fetch \"\$@\"" \
				fetch "a b" "" c'
		[ "$status" = 7 ]
		[ "$output" = '<a b><><c>' ]
	fi
	if command -v fish; then
		run fish --no-config -c '
			function fetch; printf "<%s>" $argv; return 7; end
			"$RETRY" -q -n 1 -- \
				fish --no-config -c "$(functions fetch); fetch \$argv" \
				"a b" "" c'
		[ "$status" = 7 ]
		[ "$output" = '<a b><><c>' ]
	fi
}

# The n-th block of shell in README.
readme_block()
{
	awk -v number="$1" '/^```/ { inside = 0 } inside && n == number
		/^```sh$/ { inside = 1; n++ }' "$top/README.md"
}

@test "README's first session prints what it says" {
	stage
	awk '/^```/ { inside = 0 } inside; /^```console$/ { inside = 1 }' \
		"$top/README.md" >session
	grep '^fatal: ' session >fatal
	printf '%s\n' '#!/bin/sh' '[ "$RETRY_ATTEMPT" = 1 ] || exit 0' \
		'cat fatal >&2' 'exit 128' >bin/git
	printf '%s\n' '#!/bin/sh' 'grep ^curl: session >&2' 'exit 22' >bin/curl
	chmod +x bin/*
	sed -n 's/^\$ //p' session >commands
	[ "$(lines commands)" = 2 ]
	run -22 --separate-stderr bash commands
	diff <(sed '/^\$ /d; s/in [0-9.]*s$/in a moment/' session) \
		<(sed 's/in [0-9.]*m\{0,1\}s$/in a moment/' <<<"$stderr")
}

@test "the examples of README and of --help run" {
	stage nc pg_isready make ssh git npm rsync psql gh docker
	readme_block 3 >readme
	ln -s "$RETRY" retry # the name in README
	./retry --help | sed -n '/^Examples:/,$p' | sed 1d >help
	for file in readme help; do
		count=$(grep -c '^ *\(xargs .*\|.* | \|[a-z]*=\$(\)\?retry ' "$file")
		[ "$count" -ge 2 ]
		in_a_row "$file"
		example sh -e "$file"
	done
}

@test "the entrypoint of a container starts the worker again, and SIGTERM ends both" {
	local words
	words=$(sed -n 's/^`ENTRYPOINT \[\(.*\)\]`.*/\1/p' "$top/doc/install.md")
	eval "set -- ${words//,/}"
	[ "$1" = retry ]
	shift
	mkdir bin
	printf '%s\n' '#!/bin/sh' 'echo "$RETRY_ATTEMPT" >>calls' \
		'[ "$RETRY_ATTEMPT" != 1 ] || exit 1' 'exec sleep 60' >bin/worker
	chmod +x bin/worker
	PATH=$PWD/bin:$PATH start "$RETRY" -d 1ms "$@"
	wait_for grep -qx 2 calls
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	holds calls 1 2
}

@test "each curl in an example exits with an error if the server answers with one" {
	"$RETRY" --help >help
	sed -n '/^Examples:/,$p' help >examples
	for page in "${pages[@]}"; do
		section "${page#"$top/"}" EXAMPLES
	done | plain >>examples
	cat "$top/README.md" "$top"/doc/*.md >>examples
	sed -e ':more' -e '/\\e*$/{ N; s/\\e*\n//; b more' -e '}' examples |
		grep -E 'retry .*curl -|^[a-z]*\(\) .*curl -' >curls
	[ "$(lines curls)" -ge 15 ]
	not grep -Ev -e '--http|curl -[a-zA-Z]*f|--fail-with-body' curls
}

# What bash offers for a command line; an empty last word is at the cursor.
# Without one it is a line for each line of standard input, where '' is such a
# word.
in_bash()
{
	[ -e complete.bash ] || cat >complete.bash <<-'END'
		# complete.bash HELPERS COMPLETION WORD...
		[ -z "$1" ] || . "$1"
		. "$2"
		shift 2
		compopt() { :; } # works in a completion only
		_foo() { COMPREPLY=("foo runs: ${COMP_WORDS[*]}"); }
		complete -F _foo foo
		offer()
		{
			COMPREPLY=()
			COMP_WORDS=("$@")
			COMP_CWORD=$(($# - 1))
			COMP_LINE="$*"
			COMP_POINT=${#COMP_LINE}
			_retry "$1" "${COMP_WORDS[COMP_CWORD]}" \
				"${COMP_WORDS[COMP_CWORD - 1]}"
		}
		if [ $# -gt 1 ]; then
			offer "$@"
			printf '%s\n' "${COMPREPLY[@]}"
			exit
		fi
		while read -ra words; do
			offer "$1" "${words[@]/#\'\'/}" # an empty word
			echo "${COMPREPLY[*]}"
		done
	END
	bash --norc complete.bash "$helpers" "$top/completions/retry.bash" \
		"$RETRY" "$@"
}

helpers=
bash_completion=/usr/share/bash-completion/bash_completion

@test "bash completes each option of --help, and knows which take an argument" {
	help_options
	in_bash - >offered
	sed -E 's/^- ([^ ]*).*/--\1/; s/^(\w) ([^ ]*).*/-\1\n--\2/' options | sort |
		diff - <(sort offered)
	while read -r letter name argument; do
		if [ "$argument" = - ]; then
			echo "yes --$name"
			continue
		fi
		printf '%s\n' "no --$name" "yes --$name 1"
		[ "$letter" = - ] || printf '%s\n' "no -$letter" \
			"yes -$letter 1" "yes -${letter}1"
	done <options >wanted
	sed 's/^[a-z]* //; s/$/ foo x/' wanted | in_bash >became
	[ "$(lines became)" = "$(lines wanted)" ]
	while read -r is_command words; do
		read -r offered <&4
		if [ "$is_command" = yes ]; then
			[ "$offered" = 'foo runs: foo x' ]
		else
			[ "$offered" != 'foo runs: foo x' ]
		fi
	done <wanted 4<became
}

# takes OPTION N [FILE]: the values that the shell offers after an option, in
# ./offered for want of another file, are N at least, and retry takes each of
# them. Of some it offers the beginning.
takes()
{
	local option=$1 least=$2 value words=()
	sort -u "${3-offered}" >values
	[ "$(lines values)" -ge "$least" ]
	[ -e curl ] || ln -s "$(type -P true)" curl # an "auto" knows the name
	while read -r value; do
		[ "${value##*[a-z]:}" ] || value+=503
		words+=("$option" "$value")
		if [ "$option" = --preset ]; then # too much for one command
			"$RETRY" "${words[@]}" ./curl >out
			words=()
		fi
	done <values
	"$RETRY" "${words[@]}" ./curl
	not "$RETRY" "$option" 'xy zzy' true 2>err
}

# Lines of standard input, each with what the command COMPLETE... offers for it
# after a colon: no more and no less.
completes()
{
	cat >wanted
	sed 's/:[^:]*$//' wanted | "$@" >offered
	paste -d: <(sed 's/:[^:]*$//' wanted) offered | diff wanted -
}

# What each preset is called, and the other values of --preset.
preset_values()
{
	"$RETRY" --preset list | cut -d' ' -f1 | sort - <(printf '%s\n' auto list)
}

# The same with what each of them means, after a separator.
preset_words()
{
	{
		"$RETRY" --preset list | sed -E "s/ \(.*//; s/ +/$1/"
		echo "auto$1the preset for the command"
		echo "list$1print all presets"
	} | sort
}

# Makes budgets api and a/b, and one of another user's.
make_budgets()
{
	mkdir shm
	export RETRY_BUDGET_DIR=$PWD/shm
	"$RETRY" -B api true
	"$RETRY" -B a/b true
	: >"shm/retry-v4.1$EUID.ape"
	[ "$(find shm -type f | wc -l)" = 3 ]
}

@test "bash completes the values of options, all of which are taken" {
	in_bash -b '' >offered
	takes -b 4
	in_bash --jitter = '' >offered
	takes -j 4
	in_bash -s '' >offered
	takes -s 60
	in_bash --retry-on '7,' >offered
	takes --retry-on 60
	in_bash --method '' | grep -v '^P[OA]' >offered
	takes --method 4
	in_bash --preset '' >offered
	takes --preset 26
	diff <(sort offered) <(preset_values)
	in_bash --nested '' >offered
	takes --nested 3
	: >a-file
	make_budgets
	completes in_bash <<-'END'
		--preset net,gi:net,git
		--preset net,li:
		--idempotency-key a:auto
		--http-status a-f:a-file
		--http-status = a-f:a-file
		--attempts i:inf
		--jitter = d:decorrelated
		--jitter=d:--jitter=decorrelated
		-sUSR1:-sUSR1
		--stop-on 7,tim:7,timeout
		-B api --breaker '':on
		-B a:api
		--budget a:api
		--budget-reset a:api
		--budget-dir sh:shm
	END
	[ "$(in_bash --fail-on stdo)" = stdout: ]
	[ "$(in_bash --stop-on 7,ov)" = 7,over: ]
	[ "$(in_bash --limit 2 : ov)" = over: ]
	[ "$(in_bash --limit = 2 : 7,ov)" = 7,over: ]
	[ "$(in_bash --limit 2:7,ov)" = 2:7,over: ]
	[ "$(in_bash --limit=2:ov)" = --limit=2:over: ]
	[ "$(in_bash --limit 2 : | grep -c .)" -ge 60 ]
	[ -z "$(in_bash --limit 2)$(in_bash --limit 2 : http : 5)" ]
	[ "$(in_bash --limit 2 : http:503 foo x)" = 'foo runs: foo x' ]
	[ "$(in_bash --budget-status a | sort)" = "$(printf '%s\n' all api)" ]
	[ "$(in_bash --budget-status --js)" = --json ]
	[ "$(in_bash -B db : 1 foo x)" = 'foo runs: foo x' ]
	for option in -B --label --trace --idempotency-key --on-retry; do
		[ "$(in_bash "$option" a : b = c foo x)" = 'foo runs: foo x' ]
	done
	[ "$(in_bash --label = a = b : c foo x)" = 'foo runs: foo x' ]
	[ -z "$(in_bash --label job = a)$(in_bash --label job :)" ]
	chmod g+s shm
	: >shm/retry-v4.app
	[ "$(in_bash -B app)" = app ]
}

@test "bash finds the command where retry finds it, with or without bash-completion" {
	mkdir bin
	printf '#!/bin/sh\necho foo runs: foo $*\n' >bin/foo
	chmod +x bin/foo
	PATH=$PWD/bin:$PATH
	for helpers in '' "$bash_completion"; do
		[ -e "$helpers" ] || [ -z "$helpers" ] || continue
		for words in 'foo x' '-- foo x' '-n 3 foo x' '-n3 -- foo x' \
			'-qn 3 foo x' '-qvT60 foo -n x' '-d 1,2 foo --at' \
			'--delay=1 foo x' '--quiet foo --retry-on x' \
			'--retry-on http:503 foo x' '--fail-on=7,stderr:x foo y' \
			'-j none -- foo -- x'; do
			# shellcheck disable=SC2086 # words
			"$RETRY" $words 2>err >&4
			apart=${words/=/ = }
			echo "${apart/:/ : }"
		done >words 4>ran
		in_bash <words | sed 's/: */: /' | diff ran -
		[ "$(lines ran)" = 12 ]
		[ -z "$(in_bash --retry-on http : 5)" ]
		[ -z "$(in_bash --retry-on http :)" ]
		in_bash -n 3 -- ech | grep -qx echo
		in_bash ech | grep -qx echo
	done
}

# A retry in the PATH, for completions that ask the program.
install_retry()
{
	mkdir bin
	printf '#!/bin/sh\nexec "$RETRY" "$@"\n' >bin/retry
	chmod +x bin/retry
}

# Runs code in a fish that knows retry and foo. What manuals say of commands is
# not asked for: apropos takes its time.
fish_does()
{
	TOP=$top PATH=$PWD/bin:$PATH HOME=$PWD XDG_CONFIG_HOME=$PWD \
	    XDG_DATA_HOME=$PWD fish --no-config -c '
		source $TOP/completions/retry.fish
		complete -c foo -f -a "argument"
		function __fish_describe_command; end
		'"$1" "${@:2}"
}

in_fish()
{
	fish_does 'complete -C $argv[1]' "retry $1"
}

# The same for each line of standard input, on one line, without descriptions.
lines_in_fish()
{
	mapfile -t lines
	fish_does 'for line in $argv
		set -l offered (complete -C $line | string replace -r "\t.*" "")
		echo "$offered"
	end' "${lines[@]/#/retry }"
}

@test "fish completes the options of --help, their values, and then the command" {
	help_options
	need fish
	install_retry
	in_fish -- >offered
	sed -n 's/^--\([a-z-]*\)\t..*/\1/p' offered | sort |
		diff <(cut -d' ' -f2 options | sort) -
	in_fish - >offered
	sed -n 's/^-\([^-]\)\t..*/\1/p' offered | sort |
		diff <(sed -n 's/^\([^-]\) .*/\1/p' options | sort) -
	while read -r _ name argument; do
		echo "--$name foo arg"
		echo "--$name 1 foo arg"
	done <options | lines_in_fish >offered
	while read -r _ name argument <&4; do
		read -r after
		read -r after_one
		if [ "$argument" = - ]; then
			[ "$after" = argument ]
		else
			[ "$after" != argument ]
			[ "$after_one" = argument ]
		fi
	done <offered 4<options
	fish_does 'for option in $argv
		complete -C "retry$option" | string replace -r "\t.*" "" \
			>"offered$option"
	end' ' -b ' ' -j ' ' -s ' ' --retry-on 7,' ' --method ' ' --preset ' \
		' --nested '
	takes -b 4 'offered -b '
	takes -j 4 'offered -j '
	takes -s 30 'offered -s '
	takes --retry-on 30 'offered --retry-on 7,'
	grep -v '^P[OA]' 'offered --method ' >offered
	takes --method 4
	diff <(sort 'offered --preset ') <(preset_values)
	diff <(in_fish '--preset ' | sort) <(preset_words $'\t')
	[ "$(in_fish '--preset=net,res')" = $'--preset=net,restic\ta locked repository' ]
	takes --nested 3 'offered --nested '
	: >a-file
	make_budgets
	completes lines_in_fish <<-'END'
		--at:--attempts
		--preset=net,gi:--preset=net,git
		--http-status a-f:a-file
		--breaker :on
		-B a:api
		--budget=a:--budget=api
		--budget-reset a:api
		--budget-dir sh:shm/
		-qn 3 -- foo arg:argument
		foo --at:
	END
	[ "$(in_fish '--fail-on stdo' | cut -f1)" = stdout: ]
	[ "$(in_fish '--stop-on 7,ov' | cut -f1)" = 7,over: ]
	[ "$(in_fish '--limit 2:7,ov' | cut -f1)" = 2:7,over: ]
	[ "$(in_fish '--limit=2:ov' | cut -f1)" = --limit=2:over: ]
	[ -z "$(in_fish '--limit 2')" ]
	[ "$(in_fish '--budget-status a' | cut -f1 | sort)" = "$(printf '%s\n' all api)" ]
	chmod g+s shm
	: >shm/retry-v4.app
	[ "$(in_fish '-B app' | cut -f1)" = app ]
}

# Types lines into zsh, each followed by a tab, and prints the completed lines.
in_zsh()
{
	cat >init.zsh <<-'END'
		fpath=($COMPLETIONS $fpath)
		autoload -U compinit
		compinit -D -u
		_foo() { _arguments '*:argument:(argument)' }
		compdef _foo foo
		setopt no_auto_menu no_list_beep
		zstyle ':completion:*' list no
		show() { zle -I; print -r -- "<${(qqq)BUFFER}>"; BUFFER= }
		zle -N show
		bindkey '^T' show
		print READY
	END
	cat >type.zsh <<-'END'
		zmodload zsh/zpty
		zpty shell zsh -f -i
		zpty -w shell 'source ./init.zsh'
		zpty -r shell seen '*READY*'
		for line; do
			zpty -w -n shell "$line"$'\t\x14'
			zpty -r shell seen $'*<"*">*'
			seen=${seen##*'<"'}
			seen=${seen%%'">'*}
			print -r -- "$seen"
		done
		zpty -d shell
	END
	PATH=$PWD/bin:$PATH COMPLETIONS=$top/completions HOME=$PWD TERM=dumb \
		timeout 60 zsh -f type.zsh "$@"
}

# bats test_tags=slow
@test "zsh completes the options of --help, their values, and then the command" {
	help_options
	need zsh
	install_retry
	zsh -n "$top/completions/_retry"
	# {-n+,--attempts=}'[...]' or --retries=[...]
	grep -oE -- "(\{-.\+?,)?--[a-z-]+=?(\}'\[|\[)" "$top/completions/_retry" |
		sed -E "s/^\{-(.)\+?,/\1 /; s/^--/- --/; s/ --/ /
			s/=.*/ =/; s/[]}'[]+\$/ -/" |
		diff <(sed -E 's/ [^- ][^ ]*$/ =/' options) -
	"$RETRY" --version >version
	zsh -f -c 'setopt extendedglob
		_arguments() { : }
		compset() { false }
		_call_program() { "${@:2}" }
		_describe() { print -l "$presets[@]" }
		words=($RETRY)
		source $1
		_retry_presets' zsh "$top/completions/_retry" | sort >offered
	diff offered <(preset_words :)
	make_budgets
	in_zsh 'retry --att' 'retry -vj d' 'retry -b f' 'retry --jitter=n' \
		'retry -s TER' 'retry --retry-on 7,time' \
		'retry --fail-on stdo' 'retry --stop-on 7,unde' \
		'retry --limit 2:unde' 'retry --limit=2:7,time' \
		'retry --preset=net,gi' \
		'retry --method PU' 'retry --http-status opt' \
		'retry -B a' 'retry --budget-reset=a' 'retry --budget-status al' \
		'retry --budget-dir sh' 'retry --nested o' 'retry --breaker o' \
		'retry --max-d' 'retry foo a' 'retry -n 3 -- foo a' \
		'retry -qn3 foo --at' 'retry -d 1,2 foo a' >became
	diff - became <<-END
		retry --attempts=
		retry -vj decorrelated$(printf ' ')
		retry -b fibonacci$(printf ' ')
		retry --jitter=none$(printf ' ')
		retry -s TERM$(printf ' ')
		retry --retry-on 7,timeout,
		retry --fail-on stdout:
		retry --stop-on 7,under:
		retry --limit 2:under:
		retry --limit=2:7,timeout,
		retry --preset=net,git,
		retry --method PUT$(printf ' ')
		retry --http-status options$(printf ' ')
		retry -B api$(printf ' ')
		retry --budget-reset=api$(printf ' ')
		retry --budget-status all$(printf ' ')
		retry --budget-dir shm/
		retry --nested once$(printf ' ')
		retry --breaker on$(printf ' ')
		retry --max-delay=
		retry foo argument$(printf ' ')
		retry -n 3 -- foo argument$(printf ' ')
		retry -qn3 foo --at
		retry -d 1,2 foo argument$(printf ' ')
	END
}
