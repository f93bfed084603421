#!/usr/bin/env bats
# Covers cli/help, cli/options, cli/option.
# How the command line is parsed, and which mistakes in it are refused.
# shellcheck disable=SC2016,SC2034 # the rows and the commands' shells expand

load helper

# refuses OPTION WHY TEXT...: OPTION refuses each TEXT with these words.
refuses() {
	local text bad=0
	for text in "${@:3}"; do
		refused "--$1: $2: '$text'" "--$1=$text" touch ran || bad=1
	done
	return "$bad"
}

# refuses_item OPTION TEXT WHY: OPTION refuses TEXT with these words.
refuses_item() {
	refused "--$1: $3" "--$1=$2" touch ran
}

# takes OPTION TEXT...: OPTION, maybe behind others, takes each TEXT.
takes() {
	local words=() text
	for text in "${@:2}"; do
		# shellcheck disable=SC2206 # several words
		words+=(--$1 "$text")
	done
	gives 0 ok "$RETRY" "${words[@]}" echo ok
}

@test "an option takes its argument from the same word or the next one, flags are bundled" {
	table <<-'END'
		most 3 -n3
		most 3 -n 3
		most 3 -qn3
		most 3 -qn 3
		most 3 -qvn3 -d0
		most 3 --attempts=3
		most 3 --attempts 3
		refused "--attempts: not a number of attempts: '=3'" --attempts==3 true
		try out=ran says='*|*' -qv echo ran
		try out=ran says='' -vq echo ran
		try out=ran says='*|*' -vv echo ran
	END
}

@test "options end at the first operand or after --, which is not passed on" {
	mkdir bin
	printf '#!/bin/sh\necho dashed\n' | tee bin/-n bin/- >bin/-x
	chmod +x bin/*
	PATH=$PWD/bin:$PATH
	table <<-'END'
		try out='-n 0' printf '%s %s' -n 0
		with POSIXLY_CORRECT=1 try out='-n 0' printf '%s %s' -n 0
		try out='--help -x --' -n 2 printf '%s %s %s' --help -x --
		try out=ok -- -- echo ok
		try out=ok -n 2 -- echo ok
		try out='-- -n' -- -- printf '%s %s' -- -n
		# A command may begin with a dash then, or be one.
		try out=dashed -- -- -n
		try out=dashed -n 2 -
	END
}

@test "of an option given twice the last one counts" {
	table <<-'END'
		most 3 -n 7 -n 3
		most 3 --retries 6 --attempts 3
		most 4 --attempts 6 --retries 3
		try out=ran says='' --verbose --quiet echo ran
		try out=ran says='*|*' --quiet --verbose echo ran
		try out=ok -d 1,2 -d 3 -j decorrelated echo ok
		refused "--jitter: not with a list of delays: 'decorrelated'" -d 3 -d 1,2 -j decorrelated true
		# An empty hook is none.
		try status=7 -d 0 -q --on-retry 'touch hook' --on-retry= --on-give-up 'touch hook' --on-give-up= sh -c 'exit 7' && [ ! -e hook ]
	END
}

@test "five attempts is the default, no limit where there is a deadline, and a number may be large" {
	table most <<-'END'
		5
		inf -T 60
		3 -n 3 -T 60
		3 --retries 2 -T 60
		# A deadline of 0 is none.
		5 -T 0
		5 -T 60 -T 0
		1 -n 1
		1 --retries 0
		inf -n inf
		inf --retries inf
		1000000000000 -n 1000000000000
		inf --retries 99999999999999999999
		inf --retries 9223372036854775807
		7 -n 007
	END
}

@test "--help names every option of the table, and no other, in the headings of the manual" {
	"$RETRY" --help >help
	local help headings=() line text
	mapfile -t help <help
	[ "${#help[@]}" -le 144 ]
	[ "${help[0]}" = "Usage: ${RETRY##*/} [OPTION]... [--] COMMAND [ARG]..." ]
	for line in "${help[@]}"; do
		[ "${#line}" -le 80 ]
		[[ ! $line =~ ^[A-Z].*:$ ]] || headings+=("$line")
	done
	sed -n 's/^	{ "\([a-z-]*\)", .*/\1/p' "$BATS_TEST_DIRNAME/../../src/cli/options.c" >options
	[ "$(lines options)" -ge 70 ]
	sed -nE 's/^  (-[a-zA-Z], |    )--([a-z-]+)( .*|)$/\2/p' help | diff options -
	[ "${headings[*]::9}" = 'Limits: Delays: What to retry: HTTP: Streams: Budget: Fleet: Messages and reports: General:' ]
	read -rd '' -a text <help || :
	[[ ${text[*]} == *'-d 10 alone waits a random time in [0, 10s]'* ]]
	has '-j none exactly that' help
}

@test "-h prints options of --help on one screen of 80x24, and an example that can be run" {
	local name=${RETRY##*/} # retry-dynamic, too
	"$RETRY" -h >screen
	[ "$(wc -l <screen)" -le 23 ] && [ "$(wc -L <screen)" -le $((75 + ${#name})) ]
	sed -nE 's/^ .*--([a-z-]+) .*/\1/p' screen >names
	[ "$(lines names)" -ge 12 ]
	"$RETRY" --help >help
	mapfile -t names <names
	for name in "${names[@]}"; do
		has "--$name " help || has "--$name"$'\n' help
	done
	# For scripts, CI, cron and pipes.
	for name in attempts timeout deadline chronic replay-stdin hold-stdout hold-stderr; do
		has_line "$name" names
	done
	[[ $(<screen) =~ $'\nExample: '${RETRY##*/}' '([^$'\n']*) ]]
	eval "set -- ${BASH_REMATCH[1]}"
	try out='*|Worst case*' --dry-run "$@"
}

@test "help and version are printed at once: words after them and variables are not read" {
	local screen full RETRY_BUDGET_RATIO=x RETRY_NESTED=x
	screen=$("$RETRY" -h) full=$("$RETRY" --help)
	[[ $screen == *Usage:* && $full == Usage:* ]]
	export RETRY_BUDGET_RATIO RETRY_NESTED
	table gives 0 <<-'END'
		"$screen" "$RETRY" -h --nonsense
		"$screen" "$RETRY" -h --policy ./none
		"$screen" "$RETRY" -n x -h
		"$screen" "$RETRY" -qh --nonsense
		"$screen" "$RETRY" -hn
		"$screen" "$RETRY" -help
		"$full" "$RETRY" --help --nonsense
		"$full" "$RETRY" --help --policy ./none
		"$full" "$RETRY" -n x --help
	END
	for word in -V --version; do
		try says='' out="retry +([0-9]).+([0-9]).+([0-9])|Runs a command until it succeeds; not Debian's package retry. See 'man ${RETRY##*/}'.|A time limit ends up to +([0-9]) processes of an attempt." "$word"
	done
}

@test "what retry prints about itself and cannot write is an error" {
	local word cannot='retry: cannot write to standard output:'
	for word in -h --help -V --version --dry-run; do
		gives 125 "$cannot No space left on device" \
		    sh -c 'exec "$RETRY" "$0" 2>&1 >/dev/full' "$word"
		gives 125 "$cannot Bad file descriptor" sh -c 'exec "$RETRY" "$0" 2>&1 >&-' "$word"
	done
}

# unknown NAME WORD...: retry refuses each WORD as an unknown option, and suggests
# --NAME, or nothing if NAME is empty.
unknown() {
	local word bad=0
	for word in "${@:2}"; do
		refused "unknown option '$word'${1:+; did you mean '--$1'?}" \
			"$word" 3 touch ran || bad=1
	done
	return "$bad"
}

@test "an unknown option is refused, and the nearest option is suggested" {
	table unknown <<-'END'
		'' --foo --nothing-like-it
		timeout --timout --tiemout --timeoud --timeoutx
		delay --dealy
		seed --sed
		attempts ---attempts --Attempts
		max-delay --max_delay
		help --hepl
		# Nothing is near enough.
		'' --jsn-x --nosuch --itmeotu
		# An abbreviation, and one of several options.
		attempts --attempt --at
		kill-after --kill-a
		http-status --http-
		budget-gc --budget-g
		'' --pre --s --max --htt --ver --budget-r --kill
		# What other tools call it.
		attempts --retry --tries --times --max-attempts
		deadline --max-time --total-timeout
		delay --sleep --interval
		# With one dash.
		timeout -timeout
		retry-on -retry-on
	END
	table refused <<-'END'
		"unknown option '--timout'; did you mean '--timeout'?" --timout=3 touch ran
		"unknown option '-timeout=5'; did you mean '--timeout'?" -timeout=5 touch ran
		"unknown option '-x'" -x touch ran
		"unknown option '-vx'" -vx touch ran
		"unknown option '-q=1'" -q=1 touch ran
		"unknown option '-vé'" -vé touch ran
		$'unknown option \'-\xff\'' $'-\xff' touch ran
	END
	# Other words with one dash keep their meaning.
	try out=ok -vd1 echo ok
}

@test "an option without its argument, a flag with one, or no command is refused" {
	table refused <<-'END'
		'--delay: needs an argument' --delay
		'--delay: needs an argument' -d
		'--attempts: needs an argument' -qn
		'--budget-reset: needs an argument' --budget-reset
		'--policy: needs an argument' -n 3 --policy
		# The next word is one, whatever it looks like.
		"--attempts: not a number of attempts: '--'" -n -- 3
		"--delay: not a time in ms, s, m, h or d: '-v'" --delay -v true
		'no command given'
		'no command given' --
		'no command given' -n 3
		'no command given' -n 3 -q --
		# A flag has none.
		"--quiet: takes no argument: '--quiet=1'" --quiet=1 touch ran
		"--verbose: takes no argument: '--verbose='" --verbose= touch ran
		"--json: takes no argument: '--json=1'" --budget-status k --json=1 touch ran
		"--help: takes no argument: '--help=x'" --help=x touch ran
	END
	# An empty argv lacks even the name.
	exits 125 "$PYTHON" -IS -c 'import ctypes, sys; ctypes.CDLL(None).execve(
		sys.argv[1].encode(), *2 * [(ctypes.c_char_p * 1)(None)])' "$RETRY" 2>err
	# Recent kernels put an empty name there.
	has_line 'retry: no command given' err
}

@test "each option refuses what is none of its values" {
	local option time='not a time in ms, s, m, h or d' list long
	local number='not a number from 1 to 1000000' span='not a time above 0, up to 24h'
	printf -v list ',%s' {1..65}
	list=${list#,}
	printf -v long '%01024d' 7
	# What is no time, no number and no decimal is shown by unit/text, and no
	# signal by unit/policy. Options of one kind are read by the same code.
	for option in timeout idle-timeout kill-after delay max-delay min-delay reset-after \
	    splay max-retry-after budget-wait; do
		refuses "$option" "$time" x
	done
	table refuses <<-'END'
		attempts 'not a number of attempts' 0 '' 3x INF
		retries 'not a number of retries' -1
		deadline "$time" x '' -1 inf
		signal 'not a signal' NOPE ''
		backoff 'not exponential, linear, constant or fibonacci' '' exp Linear
		jitter 'not full, equal, decorrelated or none' full,equal
		factor 'not a number of 1 or more' 0.999999 x ''
		seed 'not a whole number below 2^64' 18446744073709551616 '' 0x1
		limit 'not N:LIST' 2 timeout :timeout -1:timeout x:2:timeout
		http-status 'not a file name' ''
		method 'not an HTTP method' '' 'GET /' P@ST
		method 'not idempotent, and no --idempotency-key' POST
		idempotency-key 'must not be blank' ' '
		budget-ratio 'not a ratio from 0 to 1000' '' x 1000.1 100000.1% % 20%%
		budget-min 'not a whole number up to 1000000' x 1000001
		budget-window 'not a time from 1s to 24h' x 999ms 1d1ms
		budget-cooldown 'not a time up to 24h' x 1d1ms
		budget-dir 'not a file name' ''
		breaker 'neither on nor N,DUR[,MAX]' off 5 'on '
		breaker 'more items than N,DUR,MAX' 5,1s,2s,3s
		nested 'not share, add or once' none
		stdin-max 'not a size in bytes, k, M, G or T' '' 0 0.0M k 1kB 1m .k 0.5 1.3k 0.0001M
		hold-max 'not a size in bytes, k, M, G or T' 0 2.5
		log-format 'not text, json or github' xml
		progress 'not auto, always or never' yes
	END
	# OPTION TEXT WHY.
	table refuses_item <<-'END'
		delay 1, "empty item in '1,'"
		delay ,1 "empty item in ',1'"
		delay '' "empty item in ''"
		delay '1, 2' "$time: ' 2' in '1, 2'"
		delay "$list" "more than 64 delays: '$list'"
		timeout 1,,2 "empty item in '1,,2'"
		timeout 1,-1 "$time: '-1' in '1,-1'"
		timeout "$list" "more than 64 timeouts: '$list'"
		limit 2:7, "empty item in '2:7,'"
		limit 2:7,x "not an exit status, signal or condition: 'x' in '2:7,x'; as a pattern: 'stderr:x'"
		limit '2:stderr:(a' "( without ): '(a'"
		preset curl, "no such preset in 'curl,'"
		preset curl,,git "no such preset in 'curl,,git'"
		preset 'curl, git' "no such preset: ' git' in 'curl, git'"
		idempotency-key $'a\nX: b' "contains a control character: 'a\\nX: b'"
		idempotency-key $'a\x7f' "contains a control character: 'a\\x7f'"
		budget "${long}x" "longer than 1024 bytes: '${long::400}...'"
		breaker 0,1s "$number: '0' in '0,1s'"
		breaker 1.5,1s "$number: '1.5' in '1.5,1s'"
		breaker 1000001,1s "$number: '1000001' in '1000001,1s'"
		breaker 5,0 "$span: '0' in '5,0'"
		breaker 5,24h1ms "$span: '24h1ms' in '5,24h1ms'"
		breaker 5,1s,24h1ms "$span: '24h1ms' in '5,1s,24h1ms'"
		breaker ,1s "empty item in ',1s'"
		breaker 5, "empty item in '5,'"
		breaker 5,1s, "empty item in '5,1s,'"
		breaker 5,2s,1s "shorter than the time before it: '1s' in '5,2s,1s'"
		budget-reset "${long}x" "longer than 1024 bytes: '${long::400}...'"
	END
}

@test "each option takes its values" {
	export RETRY_BUDGET_DIR=$PWD
	long=$(printf '%01024d' 7)
	table takes <<-'END'
		kill-after 1d2h3m4s5ms 0 99999999999999999999d 0.00000000000000001
		delay "$(seq -s , 64)" 0.0000000001
		timeout "$(seq -s , 64)"
		signal TERM sigterm 15 RTMIN+1
		factor 1 1.000001 3. 1.0000010
		seed 0 18446744073709551615 0000000000000000000001
		method put
		'http-status s --method POST --idempotency-key' auto 'a "b" é'
		budget "$long" $'a/b\n\xff%é'
		budget-ratio 0 20% 1000 100000% 0.000001 0.1234560 20.0001%
		budget-min 0 1000000
		budget-window 1 24h
		'budget key --budget-cooldown' 0 1d
		'budget key --breaker' on 1,1ms 1000000,24h,24h 20,2m 5,1s,1s
		'metrics ./-m --trace ./-t --report' ./-
		nested share add once
		stdin-max 1 1k 1K 64M 1G 2T 1.5G .5k 0.0009765625k 99999999999999999999T 9223372036854775808
		hold-max 1k 1.0 99999999999999999999T
		log-format text json github
		progress auto always never
	END
}

@test "lists of conditions are refused, and taken, by each option, and not more than there is room for" {
	local list=7,64-78,255,SEGV,SIGBUS,sigill,signal,timeout,fail,5-5
	list+=,http:503,http:4xx,http:500-599,over:5m,under:2.5,stderr:a,b
	condition='not an exit status, signal or condition'
	local long=${condition//[! ]/x}
	long=${long// /x}${long// /x}${long// /x}
	table refuses_item <<-'END'
		retry-on 1,,2 "empty item in '1,,2'"
		retry-on 'stdout:ok,(a' "( without ): '(a' in 'ok,(a'"
		retry-on stderr: "the pattern is empty: ''"
		retry-on 1,0 "0 is a success, not a failure (see --fail-on): '1,0'"
		retry-on x,stderr:y "$condition: 'x' in 'x,stderr:y'; as a pattern: 'stderr:x'"
		retry-on "$long" "$condition: '$long'"
		retry-on 'Permission denied,7' "$condition: 'Permission denied' in 'Permission denied,7'; as a pattern: 'stderr:Permission denied'"
		stop-on 1,x "$condition: 'x' in '1,x'; as a pattern: 'stderr:x'"
		fail-on 1,x "$condition: 'x' in '1,x'; as a pattern: 'stderr:x'"
		success-on 1,x "$condition: 'x' in '1,x'; as a pattern: 'stderr:x'"
	END
	try out=ok --stop-on 0 --fail-on 0 --success-on 0 echo ok
	try out=ok --retry-on "$list" --stop-on "$list" --fail-on "$list" \
	    --success-on "$list" echo ok
	local text given=() presets=(--preset={curl,wget,ssh,scp,rsync,git,apt,dnf})
	for text in 0:0 1:timeout 99999999999999999999:http:5xx '3:7,stderr:a,b:c'; do
		given+=(--limit "$text" --limit "$text" --limit "$text" --limit "$text")
	done
	table <<-'END'
		try out=ok "${given[@]}" echo ok
		refused "--limit: given more than 16 times: '1:7'" "${given[@]}" --limit 1:7 touch ran
		try out=ok "${presets[@]}" echo ok
		refused "--preset: given more than 8 times: 'npm'" "${presets[@]}" --preset npm touch ran
	END
}

@test "a variable that is malformed is refused by its name, and an empty one is unset" {
	long=$(printf '%01024d' 7)
	table with <<-'END'
		RETRY_BUDGET_RATIO=x refused "\$RETRY_BUDGET_RATIO: not a ratio from 0 to 1000: 'x'" touch ran
		RETRY_BUDGET_MIN=-1 refused "\$RETRY_BUDGET_MIN: not a whole number up to 1000000: '-1'" touch ran
		RETRY_BUDGET_WINDOW=1ms refused "\$RETRY_BUDGET_WINDOW: not a time from 1s to 24h: '1ms'" touch ran
		RETRY_NESTED=x refused "\$RETRY_NESTED: not share, add or once: 'x'" -n 3 touch ran
		RETRY_NESTED=x refused "\$RETRY_NESTED: not share, add or once: 'x'" --budget-gc
		"RETRY_BUDGET=${long}x" refused "\$RETRY_BUDGET: longer than 1024 bytes: '${long::400}...'" touch ran
		RETRY_BUDGET= refused "--breaker: only with --budget: 'on'" --breaker on touch ran
		# Beside the option it is not read.
		RETRY_BUDGET_MIN=x try out=ok --budget-min 3 echo ok
	END
	RETRY_BUDGET='' RETRY_BUDGET_RATIO='' RETRY_BUDGET_MIN='' RETRY_BUDGET_WINDOW='' \
	    RETRY_BUDGET_DIR='' RETRY_NESTED='' try out=ok echo ok
}

@test "options that need another one are refused without it, and others beside it" {
	local none='only with --budget'
	export RETRY_BUDGET_DIR=$PWD
	table refused <<-'END'
		"--breaker: $none: 'on'" --breaker on touch ran
		"--breaker: $none: 'on'" -B key --breaker on -B '' touch ran
		"--budget-wait: $none: '5s'" --budget-wait 5s touch ran
		"--budget-cooldown: $none: '0'" --budget-cooldown 0 touch ran
		"--budget-required: $none: '--budget-required'" --budget-required touch ran
		"--budget-gc: not with a command: 'touch'" --budget-gc -- touch ran
		"--budget-gc: not with --budget-status: '--budget-gc'" --budget-status key --budget-gc
		"--budget-gc: not with --budget-reset: '--budget-gc'" --budget-gc --budget-reset key
		"--budget-status: not with a command: 'touch'" --budget-status key touch ran
		"--budget-status: must not be empty: ''" --budget-status ''
		"--budget-reset: not with a command: 'touch'" --budget-reset key touch ran
		"--budget-reset: must not be empty: ''" --budget-reset ''
		"--budget-reset: not with --budget-status: 'b'" --budget-status a --budget-reset b
		"--dry-run: not with --budget-status: '--dry-run'" --dry-run --budget-status a
		"--dry-run: not with --budget-gc: '--dry-run'" --dry-run --budget-gc
		"--json: only with --budget-status: '--json'" --json
		"--json: only with --budget-status: '--json'" --json --budget-gc
		"--prom: only with --budget-status: '--prom'" --prom touch ran
		"--prom: not with --json: '--prom'" --budget-status key --prom --json
		# In either order.
		"--max-delay: below --min-delay: '1s'" --max-delay 1s --min-delay 2s true
		"--max-delay: below --min-delay: '0'" --min-delay 1ms --max-delay 0 true
		"--jitter: not with a list of delays: 'decorrelated'" -d 1,2 -b exponential -j decorrelated true
	END
	with RETRY_BUDGET=key refused "--breaker: $none: 'on'" -B '' --breaker on touch ran
	table try out=ok <<-'END'
		--budget-ratio 1 --budget-min 1 --budget-window 1m --budget-dir . echo ok
		--min-delay 2s --max-delay 2s echo ok
		--min-delay 10m echo ok
		--delay 10m --max-delay 1s echo ok
		-j decorrelated -j full -d 1,2 echo ok
	END
	with RETRY_BUDGET=key try out=ok --breaker on --budget-wait 1s --budget-cooldown 1s \
	    --budget-required echo ok
	"$RETRY" --budget-gc --budget-dir . -n 3 -T 1m --preset auto --breaker on -q --
}

@test "text is quoted up to its 400th byte, and no byte of it breaks the line" {
	local long time='not a time in ms, s, m, h or d' seed='not a whole number below 2^64'
	long=$(printf '%0399d' 7)x
	table refused <<-'END'
		"--delay: $time: '1\\n2'" -d $'1\n2' true
		"--delay: $time: '\\t' in '1,\\t'" -d $'1,\t' true
		"unknown option '--a\\x1b[31m'" $'--a\e[31m' true
		"unknown option '-\\x01'" $'-\x01' true
		"--quiet: takes no argument: '--quiet=\\x7f'" $'--quiet=\x7f' true
		"--signal: not a signal: 'a\\b'" -s 'a\b' true
		"--signal: not a signal: 'é'" -s é true
		"--delay: $time: '%s%n'" -d %s%n true
		"unknown option '--%s%n'" --%s%n true
		"--seed: $seed: '$long'" --seed "$long" true
		"--seed: $seed: '$long...'" --seed "${long}y" true
		"--seed: $seed: '$long...'" --seed "$long$(printf '%0100000d' 7)" true
		# --quiet does not hide it.
		"--delay: $time: 'x'" -q -d x true
		'no command given' -q
	END
	# Nobody may be there to read it.
	mkfifo pipe
	exec 9<>pipe
	exec 8>pipe 9<&-
	gives 125 '' "$RETRY" -n 0 touch ran 2>&8
	gives 125 '' "$RETRY" -n 0 touch ran 2>&-
	[ ! -e ran ]
}

# tried PROGRAM NAME: what one is told to ask for help where it was called so
tried() {
	local said
	(exec -a "$2" "$1" --nosuch) 2>err && return 1
	mapfile -t said <err
	[ "${said[0]}" = "retry: unknown option '--nosuch'" ] &&
		[[ ${said[1]} =~ ^"Try '"(.*)" -h' for more information."$ ]] &&
		echo "${BASH_REMATCH[1]}"
}

@test "help is that of the program by the name that it was called by, messages are retry's" {
	version=$("$RETRY" --version | head -n 1)
	cp "$RETRY" retry-cmd
	table gives 0 <<-'END'
		retry-cmd tried ./retry-cmd ./retry-cmd
		again_2.0 tried "$RETRY" /opt/x/again_2.0
		# A name that nobody could type is not shown.
		retry tried "$RETRY" ''
		retry tried "$RETRY" /
		retry tried "$RETRY" /x/
		retry tried "$RETRY" -retry
		retry tried "$RETRY" 'a b'
		retry tried "$RETRY" $'a\nb'
		retry tried "$RETRY" "a'b"
		retry tried "$RETRY" $'\e[1m'
		retry tried "$RETRY" '$(id)'
		retry tried "$RETRY" "$(printf '%0300d' 1)"
	END
	RETRY=./retry-cmd
	try out='Usage: retry-cmd ?OPTION?... ?--? COMMAND ?ARG?...|*|  retry-cmd -a *' --help
	try out="$version|* See 'man retry-cmd'.|A time limit *" --version
	try status=1 says='attempt 1/1 failed (exit 1), giving up: attempts exhausted' -n 1 false
}
