#!/usr/bin/env bats
# The action for GitHub workflows, packaging/action: action.py runs its steps as the
# runner does.

# shellcheck disable=SC2016,SC2034 # $ and ` in single quotes are for others

load ../user/helper

setup_file() {
	! "$PYTHON" -c 'import yaml' 2>/dev/null || "$PYTHON" -c '
import json, sys, yaml
json.dump(yaml.safe_load(sys.stdin), sys.stdout)' \
		<"$BATS_TEST_DIRNAME/../../packaging/action/action.yml" \
		>"$BATS_FILE_TMPDIR/action.json"
}

setup() {
	helper_setup
	here=$BATS_TEST_DIRNAME/../..
	job=("$PYTHON" -IS "$here/tests/package/action.py" "$PWD/tree/packaging/action"
		"$BATS_FILE_TMPDIR/action.json")
	[ -e "$BATS_FILE_TMPDIR/action.json" ] || skip "no yaml module for python3"
	mkdir -p bin temp tree/packaging
	# Nothing beside it can be used or built.
	cp -r "$here/packaging/action" tree/packaging
	ln -s "$RETRY" bin/retry
	export PATH=$PWD/bin:$PATH RUNNER_TEMP=$PWD/temp
	unset GITHUB_ACTIONS GITHUB_STEP_SUMMARY GITHUB_OUTPUT GITHUB_PATH GITHUB_ENV
}

# action STATUS INPUT=VALUE...: it ends so; the log is in ./log.
action() {
	local want=$1 got=0
	shift
	"${job[@]}" "$@" >log 2>&1 3>&- || got=$?
	# shellcheck disable=SC2053 # it is a pattern
	[[ $got == $want ]] || {
		echo "status $got instead of $want: $*"
		cat log
		return 1
	}
}

# output NAME: prints an output of the action.
output() {
	sed -n "s/^$1=//p" outputs
}

# become OPTIONS INPUT=VALUE...: the inputs become these options, with a line break
# before each but the first, and those that are always there. A program of this name
# prints its words.
become() {
	local line all given=''
	[ -d words ] || {
		mkdir words
		printf '%s\n' '#!/bin/sh' 'case "$*" in --dry-run*) exec "$RETRY" "$@" ;; esac' \
			'for word; do [ "$word" != -- ] || exit 0; echo "$word"; done' >words/retry
		chmod +x words/retry
	}
	PATH=$PWD/words:$PATH action '[01]' command=true "${@:2}"
	mapfile -t all <log
	for line in "${all[@]}"; do
		[[ $line =~ ^--(report=.*|label=.*|log-format=github)$ ]] || given+=$line$'\n'
	done
	[ "$given" = "${1:+$1$'\n'}" ] || diff - <(echo "$given") <<<"$1"
}

@test "a command that works at the third attempt is a success with three attempts" {
	action 0 delay=1ms command='test "$RETRY_ATTEMPT" = 3'
	grep -v '^report=' outputs | holds /dev/stdin attempts=3 status=0 \
		reason=succeeded total_attempts=3 exit_code=0 exit_error=
	output report | "$PYTHON" -c 'import json, sys
assert json.load(sys.stdin)["attempts"][1]["status"] == 1'
	tail -n 2 summary | grep -qx 'A retry rescued this step: 3 attempts in [0-9.]* s: succeeded'
	grep -q '^::warning title=test "$RETRY_ATTEMPT" = 3::retry: test .* = 3: attempt 3/5 succeeded' log
}

@test "the first line of the command is the label, unless it cannot be shown as it is" {
	action 1 attempts=1 command=$'# one\nfalse'
	grep -q '^::error title=# one::retry: # one: attempt 1/1 failed' log
	action 1 attempts=1 command=$'\tfalse'
	grep -q '^::error title=bash::retry: attempt 1/1 failed' log
	action 1 attempts=1 command='# two' args='--label mine --fail-on 0'
	grep -q '^::error title=mine::retry: mine: attempt 1/1 failed' log
}

@test "a command that always fails fails the step, and the outputs say how" {
	action 1 delay=1ms attempts=2 command='exit 7'
	grep -v '^report=' outputs | holds /dev/stdin attempts=2 status=7 \
		reason=attempts total_attempts=2 exit_code=7 \
		'exit_error=gave up after 2 attempts: exit 7, attempts'
	has_line '::error::Process completed with exit code 7.' log
	[ -z "$(ls temp)" ]
	action 0 continue_on_error=true attempts=1 command='exit 99'
	[ "$(output exit_code)" = 99 ]
}

@test "the summary is a table of the attempts, with the command as it is written" {
	action 1 attempts=3 delay=1ms timeout=0.2,60 retry-on='fail,stderr:a{9}' \
	    command='exit() { :; } # <b>|`*x*`
		case $RETRY_ATTEMPT in
		1) sleep 60 ;;
		2) kill -KILL $$ ;;
		3) (exit 3) && false ;;
		esac'
	sed -E 's/[0-9.]+ s/N s/g' summary >seen
	holds seen '### retry' '' '    exit() { :; } # <b>|`*x*`' '' \
		'| attempt | result | time | delay after it |' '|--:|---|--:|--:|' \
		'| 1 | timed out | N s | N s |' '| 2 | killed by SIGKILL | N s | N s |' \
		'| 3 | exit 1 | N s |  |' '' '3 attempts in N s: attempts' ''
}

@test "a success at the first attempt leaves no annotation and no table" {
	action 0 command='echo done'
	holds log 'done'
	[ ! -s summary ]
	[ ! -s path ]
}

@test "no input is read by a shell before the command is" {
	local text='"; touch x; '\'' $(touch y) `touch z` ${{ inputs.command }} \'
	text+=$'\n& | < > * ~'
	action 0 shell='cat {0}' command="$text"
	diff log - <<<"$text"
	local name
	local ours=() theirs=()
	for name in attempts timeout deadline delay backoff retry-on stop-on preset \
	    budget on_retry_command; do
		ours+=("$name=$text")
	done
	for name in max_attempts timeout_minutes retry_wait_seconds retry_on_exit_code \
	    warning_on_retry continue_on_error polling_interval_seconds new_command_on_retry; do
		theirs+=("$name=$text")
	done
	table action "'[01]' command='exit 0'" <<-'END'
		"${ours[@]}"
		"${theirs[@]}"
		"timeout_seconds=$text" "working-directory=$text"
		"args=$text"
		"retry_on=$text"
		"shell=$text"
	END
	[ ! -e x ] && [ ! -e y ] && [ ! -e z ]
}

@test "the command sees the environment and the directory of a step" {
	action 0 command='env; pwd'
	run -1 grep RETRY_ACTION_ log
	has_line "$PWD" log
	has_line "PATH=$PATH" log
}

@test "the command, and the hook, run in the directory and the shell that were given" {
	mkdir sub
	action 0 delay=1ms working-directory=sub command='pwd
		test "$RETRY_ATTEMPT" = 2' on_retry_command='{ pwd; echo "$BASH_VERSION"; false; echo no; } >hook
		exit' shell=bash
	[ "$(grep -cx "$PWD/sub" log)" -eq 2 ]
	holds sub/hook "$PWD/sub" "$BASH_VERSION"
	action 0 delay=1ms shell="sh -c 'cat \"\$0\"; test \$RETRY_ATTEMPT = 2' {0}" \
	    command=a on_retry_command="echo 'b c'"
	grep -vE '^(::|retry: |$)' log | holds /dev/stdin a "echo 'b c'" a
}

@test "the command runs in the shell that the runner would choose" {
	action 1 attempts=1 command=$'false\necho no'
	action 0 attempts=1 command='false | true; [[ x == x ]]'
	action 1 attempts=1 shell=bash command='false | true'
	action 0 attempts=1 shell=sh command='echo "$-"; echo "$0"'
	grep -q e log
	grep -q '/command\.sh$' log
	mkdir tools
	printf '%s\n' '#!/bin/sh' 'echo "$@"; cat "$RUNNER_TEMP"/*/command.*' >bin/python
	chmod +x bin/python
	cp bin/python bin/pwsh
	action 0 shell=python command='print(1)'
	grep -qE '^/.*/command\.py$' log
	action 0 shell=pwsh command='dir'
	grep -qE "^-command \. '/.*/command\.ps1'\$" log
	diff <(sed 1d log) - <<-'TEXT'
		$ErrorActionPreference = 'stop'
		dir
		if ((Test-Path -LiteralPath variable:\LASTEXITCODE)) { exit $LASTEXITCODE }
	TEXT
	action 0 shell='sh -c "echo [$1]" "a  b" {0}' command=x
	grep -q '^\[/.*/command\]$' log
	action 1 shell=cmd command=dir
	grep -qF '::error::retry: shell is bash, sh, python, pwsh or a command with {0}, not: cmd' log
}

@test "each input becomes the option of its name" {
	become $'--attempts=4\n--timeout=5m\n--deadline=1h\n--delay=1,2\n--backoff=linear\n--preset=npm\n--budget=registry' \
		attempts=4 timeout=5m deadline=1h delay=1,2 backoff=linear preset=npm \
		budget=registry
	become $'--retry-on=75,stderr:a b\n--retry-on=timeout\n--stop-on=65\n--idle-timeout\n5m\n--on-retry=echo $HOME\n' \
		retry-on=$'75,stderr:a b\ntimeout\n' stop-on=65 \
		args=$'--idle-timeout 5m\n"--on-retry=echo $HOME" ""'
	become ''
}

@test "the names of nick-fields/retry mean what they mean there" {
	local there=$'--attempts=3\n--delay=10\n--backoff=constant\n--jitter=none'
	table become <<-'END'
		"$there"$'\n--attempts=5' max_attempts=5
		"$there"$'\n--timeout=10m' timeout_minutes=10
		"$there"$'\n--timeout=15s' timeout_seconds=15
		"$there"$'\n--delay=30s' retry_wait_seconds=30
		"$there"$'\n--stop-on=timeout' retry_on=error
		"$there"$'\n--retry-on=timeout' retry_on=timeout
		"$there" retry_on=any
		"$there"$'\n--retry-on=7' retry_on_exit_code=7
		"$there" warning_on_retry=true
		"$there" polling_interval_seconds=5
		$'--attempts=3\n--timeout=9s\n--delay=1' timeout_seconds=9 delay=1
		'' continue_on_error=true
	END
}

@test "a workflow for nick-fields/retry runs as it is" {
	action 0 timeout_minutes=1 max_attempts=3 retry_wait_seconds=0 \
		on_retry_command='echo clean' warning_on_retry=false \
		command='echo first; exit 5' new_command_on_retry='echo "{0} again"
			test "$RETRY_ATTEMPT" = 3'
	diff <(grep -vE '^(retry: |clean)' log) <(printf '%s\n' first '{0} again' '{0} again')
	[ "$(grep -c '^clean$' log)" = 2 ]
	[ "$(output total_attempts)" = 3 ]
	run -1 grep ^:: log
	action 1 timeout_seconds=0.2 max_attempts=2 retry_wait_seconds=0 \
		retry_on=error command='sleep 60'
	[ "$(output total_attempts)" = 1 ]
	[ "$(output exit_code)" = 124 ]
}

# refuses TEXT INPUT=VALUE...: the log has TEXT, and nothing is run
refuses() {
	action 1 command=true "${@:2}" && grep -qF -- "$1" log &&
		has_line attempts=0 outputs && has_line status=125 outputs &&
		has_line reason=internal outputs
}

@test "inputs that exclude each other, or mean nothing, are refused" {
	table refuses <<-'END'
		'the inputs attempts and max_attempts exclude each other' attempts=2 max_attempts=2
		'the inputs timeout_minutes and timeout_seconds exclude each other' timeout_minutes=2 timeout_seconds=2
		'the inputs timeout and timeout_seconds exclude each other' timeout=2 timeout_seconds=2
		'the inputs delay and retry_wait_seconds exclude each other' delay=2 retry_wait_seconds=2
		'retry_on is any, error or timeout, not: success' retry_on=success
		'a quote is not closed in: "a' 'args="a'
		"retry: --attempts: not a number of attempts: 'x'" attempts=x
		'the input command is empty' command=
		'working-directory is no directory: nosuch' working-directory=nosuch
	END
}

@test "the text of an input never becomes a command of the log" {
	action 1 command=true retry_on=$'100%\n::add-mask::x'
	has_line '::error::retry: retry_on is any, error or timeout, not: 100%25%0A::add-mask::x' log
	action 1 command=true attempts=$'\n::add-mask::x'
	grep -q 'not a number of attempts' log
	run -1 grep ^::add-mask log
}

@test "a signal for a cancelled job reaches retry, which ends the command" {
	start env -- "${job[@]}" command='echo $$ >child; exec sleep 60'
	wait_for test -s child
	kill -TERM "$(ps -o ppid= -p "$(<child)" | tr -d ' ')"
	ended
	gone "$(<child)"
	[ "$(output reason)" = interrupted ]
}

# A program of make's name makes a program where it is told to, if it is asked for one of
# the kinds in $kinds: static, -static or plain.
fake_make() {
	cat >bin/make <<-'END'
		#!/bin/sh
		kind=plain
		for word; do
			case $word in
			static) kind=static BIN=retry-static ;;
			MODE=-static*) kind=-static ;;
			B=* | BIN=*) eval "$word" ;;
			esac
			[ "$last" != -C ] || cd "$word"
			last=$word
		done
		echo "$kind" >>"$RUNNER_TEMP/made"
		case " $kinds " in *" $kind "*) ;; *) exit 2 ;; esac
		mkdir -p "${B:-.}"
		ln -s "$RETRY" "$BIN"
	END
	chmod +x bin/make
}

@test "a program is built where none is installed, static if that is possible" {
	rm bin/retry
	ln -s /bin/false bin/retry # another program of this name
	fake_make
	export kinds
	for kinds in 'static -static plain' '-static plain' plain; do
		rm -rf temp/made tree/build tree/retry-static
		action 0 command='echo built'
		holds log built
		[ "$(tail -n 1 temp/made)" = "${kinds%% *}" ]
	done
	rm temp/made
	action 0 command='echo built' # it is there already
	[ ! -e temp/made ]
}

@test "the program of Debian's package is used by the name that it has" {
	mv bin/retry bin/retry-cmd
	ln -s /bin/false bin/retry
	action 0 command='echo $PPID'
	[ "$(lines log)" = 1 ]
}

@test "where nothing is installed and nothing can be built the step says so" {
	"$RETRY" --version | grep -q '^retry '
	rm bin/retry
	ln -s /bin/false bin/retry
	kinds='' fake_make
	action 1 command='echo built'
	has_line '::error::retry: cannot be built: a C compiler and make are needed' log
	[ -z "$(output attempts)" ]
	printf '%s\n' '#!/bin/sh' 'echo Darwin' >bin/uname
	chmod +x bin/uname
	action 1 command='echo built'
	has_line '::error::retry: this action runs on Linux only' log
}

# bats test_tags=slow
@test "the sources around the action become a program that runs the command" {
	local version
	version=$("$RETRY" --version | head -n 1)
	rm bin/retry
	ln -s /bin/false bin/retry
	cp -r "$here"/{retry.c,src} tree
	# It takes half the time to compile them without -O2.
	sed '/^CFLAGS = /s/-O2/-O0/' "$here/Makefile" >tree/Makefile
	action 0 command='echo built'
	holds log built
	{ tree/retry-static --version || tree/build/action/retry --version; } >said
	[ "$(head -n 1 said)" = "$version" ]
}

@test "doc/action.md names the inputs of the action, and its examples can be run" {
	"$RETRY" --version | grep -q '^retry '
	cp "$here/doc/action.md" section
	# Those above the names that only nick-fields/retry has.
	sed -n '/^inputs:/,/^  # /s/^  \([a-z_-]*\):$/\1/p' \
		tree/packaging/action/action.yml | sort >declared
	[ "$(lines declared)" -ge 14 ]
	grep '^| Inputs' section | grep -o '`[a-z_-]*`' | tr -d '`' |
		grep -vx run | sort | diff declared -
	"$PYTHON" - >inputs <<-'TEXT'
		import re, yaml
		with open("section") as file:
		    blocks = re.findall(r"```yaml\n(.*?)```", file.read(), re.S)
		for name, value in yaml.safe_load(blocks[0])[0]["with"].items():
		    print(f"{name}={value}", end="\0")
		assert all(yaml.safe_load(block) for block in blocks)
	TEXT
	mapfile -d '' -t inputs <inputs
	printf '%s\n' '#!/bin/sh' 'echo "npm $*"' >bin/npm
	chmod +x bin/npm
	action 0 "${inputs[@]}"
	holds log 'npm ci' 'npm run build'
}
