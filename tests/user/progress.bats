#!/usr/bin/env bats
# Covers output/progress.
# What retry shows while it waits: a countdown on a terminal.

# shellcheck disable=SC2016,SC2034 # what is quoted is for another shell

load helper
load actor

setup() {
	helper_setup
	export MARK=$BATS_TEST_TMPDIR HOME=$BATS_TEST_TMPDIR HISTFILE=
	export TERM=xterm
	unset CI
}

# draws STATUS STEP... -- COMMAND...: pty; in ./out and $drawn a carriage return is @,
# and what erases the rest of the line is #.
draws() {
	pty "$@" || return
	IFS= read -rd '' drawn <out || :
	drawn=${drawn//$'\r'/@}
	drawn=${drawn//$'\e[K'/'#'}
	drawn=${drawn%$'\n'}
	echo -n "$drawn" >out
}

# shows REGEX...: ./out consists of lines that are all like this.
shows() {
	local regex
	printf -v regex '%s\n' "$@"
	[[ $drawn$'\n' =~ ^$regex$ ]] || {
		echo "instead of: $regex"
		cat -A out
		return 1
	} >&2
}

# plain STATUS [STEP]... -- COMMAND...: no countdown is shown, and nothing else
# that only a terminal understands.
plain() {
	draws "$@"
	[[ $drawn =~ retrying|'giving up' ]]
	[[ $drawn != *[@#]* ]] || {
		cat -A out
		return 1
	} >&2
}

# A wait that is too long for a test, one that is long enough for a countdown,
# and what is seen of them.
endless=(-n 2 -d 30 -j none)
long=(-n 2 -d 1.1 -j none)
first='retry: attempt 1/2 failed \(exit 1\), retrying in 30s'
counted='(@retry: attempt 2/2 in [0-9]+s#@)+(\^C)?@#'

# counts [LINE...] -- COMMAND...: during the endless wait of COMMAND there is a
# countdown, which Ctrl-C ends, and before it the LINEs.
counts() {
	local before=()
	while [ "$1" != -- ]; do
		before+=("$1")
		shift
	done
	draws 130 'see:attempt 2/2 in ' 'type:^C' "$@"
	shows "$first" "${before[@]}" "$counted"
}

# says TEXT TIME COMMAND...: the countdown has this TEXT and then a time like that.
says() {
	draws 130 "see:$1 in " 'type:^C' -- "${@:3}"
	[[ $drawn =~ "@retry: $1 in "($2)'#@'.*'@#'($'\n'|$) ]]
}

# Of three waits at least one is counted, though the machine may stall.
some_counted() {
	draws 1 -- "$@" -n 4 -d 1.1,1.1,1.1 -j none -- false
	[[ $drawn == *'@retry: attempt '[234]'/4 in 2s#@'* ]]
}

# A shell as it stands before a person.
person=(bash --norc --noprofile --noediting -i)
prompt='see:person> '
export PS1='person> '

# bats test_tags=slow
@test "a wait of more than a second is counted down on one line of the terminal" {
	beside 'a little more than a second' some_counted "$RETRY"
	beside 'the label' says 'nightly: attempt 2/2' '30s|2.s' \
	    "$RETRY" --label nightly "${endless[@]}" -- false
	beside 'without a limit of attempts' says 'attempt 2' '30s|2.s' \
	    "$RETRY" -n inf -d 30 -j none -- false
	beside 'before the first attempt' says 'attempt 1/5' '42m.*' \
	    "$RETRY" --seed 2 --splay 1h -- true
	beside 'hours' says 'attempt 2/5' '2h|1h59m' "$RETRY" -d 2h --max-delay 2h -j none -- false
	beside 'Ctrl-C ends it' counts -- "$RETRY" "${endless[@]}" -- false
	beside 'after the output of a hook' counts early hook -- "$RETRY" \
	    "${endless[@]}" --on-retry 'echo early; sleep 0.2; echo hook' -- false
	beside 'after a hook that fails' counts 'retry: --on-retry failed \(exit 3\)' \
	    -- "$RETRY" "${endless[@]}" --on-retry 'sleep 0.2; exit 3' -- false
	beside 'only standard error is a terminal' counts -- \
	    sh -c 'exec "$RETRY" "$@" </dev/null >/dev/null' sh "${endless[@]}" -- false
	beside 'in a CI job, always' counts -- \
	    env CI=true "$RETRY" "${endless[@]}" --progress always -- false
	beside 'it fits on the line' counts -- sh -c \
	    'stty cols 26; exec "$RETRY" "$@"' sh "${endless[@]}" -- false
	beside 'while lines are held, shorter waits, too' draws 1 \
	    'see:attempt 2 in 1s' 'see:attempt 3 in 1s' -- \
	    "$RETRY" -w 3 -j none -d 0.9 -- sh -c 'echo held >&2; exit 1'
	beside 'not our terminal, always' some_counted setsid -w "$RETRY" --progress always
	rows beside eval <<-'END'
	to its end, each wait
	    draws 1 -- "$RETRY" -n 3 -d 3.5,3.5 -j none -- false
	    shows 'retry: attempt 1/3 failed .* retrying in 3.5s' \
	        '(@retry: attempt 2/3 in [1-4]s#@)+@#retry: attempt 2/3 failed .*' \
	        '(@retry: attempt 3/3 in [1-4]s#@)+@#retry: attempt 3/3 failed .*'
	    for ((seconds = 4; ${#drawn} > 0; seconds = BASH_REMATCH[1])); do
	        [[ $drawn =~ '2/3 in '([0-9])'s#'(.*) ]] || break
	        ((BASH_REMATCH[1] <= seconds))
	        drawn=${BASH_REMATCH[2]}
	    done
	TERM ends it
	    draws 143 'see:in 2' 'type:^M' -- bash -c '
	        { read -r _ </dev/tty; kill -TERM $$; } &
	        exec "$@"' bash "$RETRY" "${endless[@]}" -- false
	    [[ $drawn == *'@#' ]]
	a message of another retry is not on its line
	    draws 5 'see:in 30s' 'type:^M' -- sh -c 'stty -echo
	        "$RETRY" -n 2 -d 30 -j none -- false &
	        "$RETRY" -n 1 -- sh -c "read line; exit 5" || status=$?
	        kill $!
	        wait
	        exit $status'
	    [[ $drawn == *'@retry: attempt 1/1 failed (exit 5)'* ]]
	Ctrl-S stops neither retry nor its lines
	    draws 0 'see:in ' 'type:^S' exists:second exists:third 'type:^Q' \
	        'see:retry: attempt 2/4' 'type:^M' -- "$RETRY" -v -n 4 -d 4,1.1 -j none -- sh -c '
	        case $RETRY_ATTEMPT in
	        2) touch second; exit 1 ;;
	        3) touch third; read x ;;
	        *) exit 1 ;;
	        esac'
	    # Where a countdown stood nothing else was written over it.
	    not grep -E '#[^@r]|[^@#]retry:|[^@]#retry:|[^#]retry: attempt [23]/4 (failed|succeeded)' out
	    [[ $drawn == *$'\n''retry: ended after 3 attempts'* ]]
	a job that goes to the background
	    draws 5 "$prompt" 'type:"$RETRY" -d 60 -j none -- false^M' \
	        'see:in 1m' see:in 'type:^Z' see:Stopped "$prompt" \
	        'type:bg^M' see:false "$prompt" more:1.5 'type:echo type\d^M' see:typed "$prompt" \
	        'type:fg^M' see:false 'see:in ' 'type:^C' "$prompt" \
	        'type:exit 5^M' -- "${person[@]}"
	    # From bg to fg there is none.
	    drawn=${drawn#*person> bg}
	    [[ ${drawn%%$'\n'typed*} != *[@#]* ]]
	END
}

# bats test_tags=slow
@test "a countdown is shown to nobody who cannot use it" {
	local always=("${long[@]}" --progress always)
	beside 'a wait of a second' plain 1 -- "$RETRY" -n 2 -d 1 -j none -- false
	beside '--progress never' plain 1 -- "$RETRY" "${long[@]}" --progress never -- false
	beside 'no terminal' plain 1 -- sh -c \
	    '"$RETRY" "$@" 2>err; s=$?; cat err; exit $s' sh "${always[@]}" -- false
	beside 'not text' plain 1 -- "$RETRY" "${always[@]}" --log-format json -- false
	beside 'held' plain 1 -- "$RETRY" "${always[@]}" --chronic -- false
	beside 'TERM=dumb' plain 1 -- env TERM=dumb "$RETRY" "${always[@]}" -- false
	beside 'TERM=' plain 1 -- env 'TERM=' "$RETRY" "${always[@]}" -- false
	beside 'no TERM' plain 1 -- env -u TERM "$RETRY" "${always[@]}" -- false
	beside 'a CI job' plain 1 -- env CI=true "$RETRY" "${long[@]}" -- false
	beside 'not our terminal' plain 1 -- setsid -w "$RETRY" "${long[@]}" -- false
	beside 'too few columns' plain 1 -- sh -c \
	    'stty cols 24; exec "$RETRY" "$@"' sh "${long[@]}" -- false
	rows beside eval <<-'END'
	a background job
	    plain 5 "$prompt" \
	        'type:"$RETRY" -n 2 -d 1.1 -j none -- false & wait; wait; touch done^M' \
	        see:retrying exists:done 'type:exit 5^M' -- "${person[@]}"
	-q
	    draws 7 -- "$RETRY" "${long[@]}" --progress always -q -- sh -c 'exit 7'
	    [ ! -s out ]
	END
}

# $calm runs a command and writes down each of its waits. A wait that comes back
# at once, over and over, makes tens of thousands of them in a second.
calm=(strace -qq -o waits -e 'trace=?ppoll,?ppoll_time64')

# calms MOST STATUS COMMAND...: COMMAND, of which $calm is a part, ends with
# STATUS after some waits, but no more than MOST.
calms() {
	local waits
	is "$2" "${@:3}"
	mapfile -t waits <waits
	((0 < ${#waits[@]} && ${#waits[@]} <= $1)) || {
		echo "${#waits[@]} waits"
		tail -n 5 waits
		return 1
	}
}

# The same with a ./pipe that stays open; it is full where $full is set.
piped() {
	mkfifo pipe
	exec 7<>pipe
	[ -z "${full-}" ] || head -c 65536 /dev/zero >&7
	calms "$@"
}

# vanishing READY MOST STATUS COMMAND...: calms, on a terminal that is gone once
# READY has come from it.
vanishing() {
	calms "$2" "$3" "$ACTOR" terminal "see:$1" hangup -- "$ACTOR" ignoring HUP "${@:4}"
}

# bats test_tags=slow
@test "no wait returns at once, over and over, with nothing done" {
	local here=("${calm[@]}" "$RETRY") quick=(-n 2 -d 0)
	local from=(sh -c 'exec "$@" <pipe 7>&-' sh)
	inject getppid:delay_enter=1 # where that works, so does $calm
	beside 'a delay' calms 100 1 "${here[@]}" -n 2 -d 1.2 -j none -- false
	beside 'hooks' calms 100 1 "${here[@]}" "${quick[@]}" \
	    --on-retry 'sleep 1.2' --on-give-up 'sleep 1.2' -- false
	# Who is dying is looked at 50 times a second.
	beside "a limit's grace" calms 300 124 "${here[@]}" -n 1 -t 0.1 -k 1.2 -- \
	    sh -c 'trap "" TERM; sleep 1.5; sleep 1.5'
	beside 'a deadline' calms 100 0 "${here[@]}" -n 2 -T 20 -- sleep 1.2
	beside 'a budget' calms 200 1 env RETRY_BUDGET_DIR=. "${here[@]}" -q \
	    "${quick[@]}" -B none --budget-min 0 --budget-wait 1.2 -- false
	beside 'input is guarded' piped 100 0 "${from[@]}" "${here[@]}" -- sleep 1.2
	beside 'input is at its end' calms 100 0 sh -c ': | "$@"' sh "${here[@]}" -- sleep 1.2
	beside 'input is replayed' piped 100 124 "${from[@]}" "${here[@]}" -I -T 1.2 -- true
	beside 'output is relayed and held' calms 300 0 "${here[@]}" -O -E --preset net -- sleep 1.2
	beside 'nobody takes output that is relayed' piped 300 125 \
	    sh -c 'exec "$@" >pipe' sh "${here[@]}" -T 1.2 --fail-on stdout:zzz -- \
	    head -c 110000 /dev/zero
	beside 'nobody takes output that was held' piped 300 143 "${calm[@]}" \
	    sh -c '(sleep 1.2; kill "$$") >/dev/null &
		exec "$RETRY" -O -n 1 -- head -c 200000 /dev/zero >pipe'
	beside 'the reader of output is gone' calms 100 0 sh -c '"$@" | true' sh \
	    "${here[@]}" --fail-on stdout:zzz -- sh -c 'trap "" PIPE; sleep 0.2; echo; sleep 1.2'
	full=yes beside 'nobody takes lines' piped 100 1 sh -c 'exec "$@" 2>pipe' sh \
	    "${here[@]}" -n 2 -d 1.2 -j none -- false
	beside 'the terminal goes in a countdown' vanishing '2/2 in ' 100 1 \
	    "${here[@]}" -n 2 -d 4 -j none --progress always -- false
	beside 'the terminal goes in an attempt' vanishing hi 100 0 \
	    "${here[@]}" --preset net -- sh -c 'echo hi >&2; sleep 1.2'
	beside 'the terminal goes between two attempts' vanishing retrying 100 1 \
	    "${here[@]}" -v "${quick[@]}" -- sh -c 'sleep 1.2; exit 1'
	beside 'the terminal goes in a hook' vanishing retrying 100 1 \
	    "${here[@]}" "${quick[@]}" --on-give-up 'sleep 1.2' -- false
}
