#!/usr/bin/env bats
# Covers attempt/hooks, attempt/termination.
# Hooks: --on-retry and --on-give-up, and --retry-if, whose answer counts.
# shellcheck disable=SC2034 # the rows read it

load helper
load actor

usual=(-d 0)

@test "--on-retry runs once for each retry, --on-give-up once where retry gives up" {
	rows row eval <<-'END'
	after a retry that succeeds, and not after the last attempt
	    try says='attempt 1/5 failed (exit 1), retrying in 0s|> hook' \
	        --on-retry 'echo hook' --on-give-up 'echo gave up' -- sh -c 'test "$RETRY_ATTEMPT" = 2'
	    try status=7 says='> 1|attempt 1/2 *|> hook|> 2|attempt 2/2 failed (exit 7), giving up: attempts exhausted' \
	        -n 2 --on-retry 'echo hook' -- sh -c 'echo "$RETRY_ATTEMPT" >&2; exit 7'
	a first attempt that succeeds, and an empty line
	    try says='' --on-retry 'echo hook' --on-give-up 'echo hook' -- true
	    try status=7 says='attempt 1/2 *|attempt 2/2 * attempts exhausted' \
	        -n 2 --on-retry '' --on-give-up '' -- sh -c 'exit 7'
	after the last line
	    try status=1 says='attempt 1/1 failed (exit 1), giving up: attempts exhausted|ended after 1 attempt in *: attempts|> hook' \
	        -v -n 1 --on-give-up 'echo hook' -- false
	a breaker, before there is an attempt
	    export RETRY_BUDGET_DIR=$PWD RETRY_BUDGET=api
	    try status=1 -n 1 --breaker 1,60s -- false
	    try status=75 says='*|> hook none breaker' runs=0 --breaker 1,60s \
	        --on-give-up 'echo "hook ${RETRY_ATTEMPT-none} $RETRY_REASON"' -- sh -c 'echo >>ran'
	--on-retry when the delay begins
	    sent TERM 143 'test -e hook' "$RETRY" -d 60 -j none --on-retry ': >hook' -- false
	the next attempt waits for an --on-retry that takes longer than the delay
	    try status=1 says='> attempt|*|> hook|> attempt|*' -n 2 \
	        --on-retry 'sleep 0.3; echo hook' -- sh -c 'echo attempt >&2; exit 1'
	END
	usual=(-d 0 --on-give-up 'echo >>ran')
	table try runs=1 <<-'END'
		status=7 --stop-on 7 -- sh -c 'exit 7'
		status=124 -n 1 -t 0.1 -- sleep 20
		status=124 -T 0.1 -- sleep 20
		status=127 -- ./missing
		status=137 -n 1 -- sh -c 'kill -KILL $$'
	END
}

# had BEFORE AFTER LINE...: the variables of retry in AFTER, from env, have the LINEs,
# and besides them those in BEFORE, and no others
had() {
	local line all before=() after=()
	mapfile -t all <"$1"
	for line in "${all[@]}"; do
		[[ $line != RETRY_* || " ${*:3} " == *" ${line%%=*}="* ]] || before+=("$line")
	done
	mapfile -t all <"$2"
	for line in "${all[@]}"; do
		[[ $line == RETRY_* ]] || continue
		[[ " ${*:3} " == *" $line "* ]] || after+=("$line")
	done
	for line in "${@:3}"; do
		has_line "$line" "$2" || return
	done
	[ "${before[*]}" = "${after[*]}" ]
}

# masked HOW...: a hook has the signals that retry was given
masked() {
	local under=("$@")
	try status=1 -q -n 1 --on-give-up 'exec "$ACTOR" mask' -- false
	gives 0 "$(<err)" "$@" sh -c 'exec "$ACTOR" mask'
}

@test "a hook is a line for sh, without input, and its output is retry's standard error" {
	rows row eval <<-'END'
	it has the variables of the last attempt, its status, and what follows
	    is 7 "$RETRY" -n 2 -d 0.003 -j none --on-retry 'env >retried' --on-give-up 'env >given' -- \
	        sh -c 'env >"attempt$RETRY_ATTEMPT"; exit 7'
	    had attempt1 retried RETRY_ATTEMPT=1 RETRY_DELAY_MS=3 RETRY_LAST_STATUS=7
	    had attempt2 given RETRY_ATTEMPT=2 RETRY_LAST_STATUS=7 RETRY_REASON=attempts
	it has the signals that retry was given
	    masked "$ACTOR" fresh
	    masked "$ACTOR" fresh "$ACTOR" ignoring CHLD "$ACTOR" ignoring PIPE
	    masked "$ACTOR" fresh "$ACTOR" blocking
	in the directory and the group of retry
	    try status=1 says='*|> a  b|> same' -n 1 --on-give-up 'x="a  b"; echo "$x" | cat
	        read -r _ _ _ _ now _ </proc/$$/stat
	        read -r group <group
	        [ "$group" = "$now $PWD" ] && echo same' -- \
	        sh -c 'read -r _ _ _ _ group _ </proc/$$/stat; echo "$group $PWD" >group; exit 1'
	a dash begins no option of sh
	    mkdir bin
	    printf '#!/bin/sh\necho dash\n' >bin/-x
	    chmod +x bin/-x
	    PATH=$PWD/bin:$PATH try status=1 says='*|> dash' -n 1 --on-give-up '-x' -- false
	the input of retry is left to its caller
	    { try status=1 out='' says='attempt 1/2 *|> none|attempt 2/2 *|> none' -n 2 \
	        --on-retry 'read -r _ || [ /dev/stdin -ef /dev/null ] && echo none' \
	        --on-give-up 'read -r _ || echo none' -- false
	        read -r line
	    } < <(echo caller)
	    [ "$line" = caller ]
	both of its outputs
	    try status=1 out='' says='*|> retried|*|> given|> up' -n 2 --on-retry 'echo retried' \
	        --on-give-up 'echo given; echo up >&2' -- false
	not standard output, where standard error is closed
	    exits 7 "$RETRY" -n 2 -d 0 --on-retry 'echo retried' \
	        --on-give-up 'echo given' -- sh -c 'echo attempt; exit 7' >out 2>&- 3>&-
	    holds out attempt attempt
	no descriptor that the command does not have
	    export RETRY_BUDGET_DIR=$PWD
	    echo input >input
	    is 1 "$RETRY" -n 2 -d 0 -IOE -B key -t 20 --http --fail-on stderr:x \
	        --on-retry 'exec ls /proc/self/fd >hook' -- sh -c 'exit 1' <input
	    is 0 sh -c 'exec ls /proc/self/fd >direct' <input
	    [ "$(<direct)" = "$(<hook)" ]
	END
}

@test "--retry-if decides about each retry that the rules, the limits and the input allow" {
	rows row eval <<-'END'
	0 is yes, another status no
	    try status=7 says='attempt 1/5 *|> retried|attempt 2/5 *|> retried|attempt 3/5 failed (exit 7), giving up: --retry-if said no|ended after 3 attempts in *: retry-if|> given up' \
	        -v --retry-if 'test $RETRY_ATTEMPT -lt 3' \
	        --on-retry 'echo retried' --on-give-up 'echo given up' -- sh -c 'exit 7'
	it has the variables of hooks, and the HTTP status
	    "$RETRY" -q --http-status status --report report \
	        --retry-if 'env >asked; exit 1' --on-give-up 'env >given' -- \
	        sh -c 'echo 503 >status' || :
	    mapfile -t asked <asked
	    [[ "${asked[*]}" == *RETRY_DELAY_MS=* ]]
	    grep -v ^RETRY_DELAY_MS= asked >before
	    had before given RETRY_ATTEMPT=1 RETRY_LAST_STATUS=1 RETRY_LAST_HTTP_STATUS=503 RETRY_REASON=retry-if
	    [ "$(values rule) $(values verdict) $(values reason)" = 'retry-if stop retry-if' ]
	by a policy, of which the last counts
	    printf '%s\n' 'retry-if=exit 0' 'retry-if=exit 1' >team
	    try status=7 says='attempt 1/5 failed (exit 7), giving up: --retry-if said no (./team:2)' \
	        --policy ./team -- sh -c 'exit 7'
	    try status=7 says='* attempts exhausted' -n 2 --policy ./team --retry-if= -- sh -c 'exit 7'
	it is not asked about anything else
	    asked=(--retry-if ': >asked')
	    try "${asked[@]}" --consecutive 2 true
	    for words in '--stop-on 7' '-n 1' '--limit 0:7' '-T 9 -d 10 -j none'; do
	        try status=7 "${asked[@]}" $words -- sh -c 'exit 7'
	    done
	    try status=7 "${asked[@]}" -- sh -c 'read -r _; exit 7' < <(echo line)
	    try status=127 "${asked[@]}" nosuch
	    [ ! -e asked ]
	retry dies of the signal that killed the command
	    "$ACTOR" how "$RETRY" -q --retry-if 'exit 1' -- sh -c 'kill -TERM $$' >out
	    holds out 'killed TERM'
	before the budget is, so a no spends no retry; but its attempt was a failure
	    export RETRY_BUDGET_DIR=$PWD RETRY_BUDGET=api
	    try status=1 says='*: --retry-if said no' --budget-min 0 --retry-if false -- false
	    try out='*"retries": 0, "limit": 0,*"denied": 0,*' --budget-status api --json
	    try status=1 says='*: budget exhausted *' --retry-if ': >first' -- false
	    [ -e first ]
	    try out='*"denied": 1,*' --budget-status api --json
	    try status=1 says='*: --retry-if said no' --breaker 3,60s --retry-if false -- false
	    try status=75 --breaker 3,60s -- false
	one that cannot be run ends retry with 125, other hooks with a warning
	    inject clone,clone3,fork,vfork:error=EAGAIN:when=2
	    try status=125 says='*|attempt 1/5 *, giving up: cannot run --retry-if' \
	        -q --retry-if ./nosuch -- sh -c 'kill $$'
	    under=("${inject[@]}")
	    try status=125 says='--retry-if not started (Resource temporarily unavailable)|attempt 1/5 failed (exit 7), giving up: cannot run --retry-if' \
	        -t 60 --retry-if 'exit 1' -- sh -c 'exit 7'
	    try status=7 says='attempt 1/2 *|--on-retry not started (Resource temporarily unavailable)|attempt 2/2 failed *' \
	        -t 60 -n 2 --on-retry 'echo hook' -- sh -c 'exit 7'
	END
}

@test "how a hook ends changes nothing but a warning" {
	rows row eval <<-'END'
	each has its warning
	    try status=7 says='attempt 1/2 failed (exit 7), retrying in 0s|--on-retry failed (exit 3)|attempt 2/2 failed (exit 7), giving up: attempts exhausted|--on-give-up killed by SIGKILL' \
	        -n 2 --on-retry 'exit 3' --on-give-up 'kill -KILL $$' -- sh -c 'exit 7'
	a success is one
	    try says='*|--on-retry failed (exit 3)' -n 2 --on-retry 'exit 3' -- \
	        sh -c 'test "$RETRY_ATTEMPT" = 2'
	-q, and a hook that succeeds
	    try status=7 says='' -n 2 -q --on-retry 'exit 3' --on-give-up 'exit 3' -- sh -c 'exit 7'
	    try status=7 says='attempt 1/2 *|attempt 2/2 *|ended after *' \
	        -n 2 -v --on-retry true --on-give-up true -- sh -c 'exit 7'
	    not told '.*--on-.*'
	retry dies of the signal that killed the command
	    "$ACTOR" how "$RETRY" -n 1 --on-give-up 'exit 3' -- sh -c 'kill -TERM $$' >out 2>err
	    holds out 'killed TERM'
	the next attempt's timeout does not end processes that it has left
	    is 124 "$RETRY" -n 2 -d 0 -t 0.3 -k 0 \
	        --on-retry 'sleep 20 >/dev/null 2>&1 & echo $! >left' -- sleep 20
	    not gone "$(<left)"
	    kill "$(<left)"
	    wait_for none_left
	orphans of the command do not hide it
	    try status=1 says='*|--on-retry failed (exit 3)|*' -T 60 -n 2 -d 0.5 -j none \
	        --on-retry 'sleep 0.2; exit 3' -- sh -c 'sleep 0.1 >/dev/null 2>&1 & exit 1'
	END
}

@test "as PID 1 retry learns how a hook ended, and leaves no zombie" {
	isolate -p -f -m --mount-proc
	under=("${isolate[@]}")
	try status=1 says='*|--on-retry failed (exit 3)|*|--on-retry failed (exit 3)|*|--on-give-up failed (exit 4)' \
	    -n 3 --on-retry '(sleep 0.1 &); exit 3' --on-give-up '(sleep 0.1 &); exit 4' -- \
	    sh -c 'grep -l "^State:.Z" /proc/[0-9]*/status; exit 1'
}

# hooked SIGNAL STATUS OPTION...: one of these options runs a hook, which makes
# ./began; retry is sent a signal, ends with STATUS, and leaves no process.
hooked() {
	sent "$1" "$2" 'test -e began' "$ACTOR" fresh "$RETRY" -d 60 -j none "${@:3}" -- \
	    sh -c 'exit 7'
	[ "$1" != KILL ] || wait_for none_left
	none_left
	not told '.*--on-.*'
}

@test "a signal to retry ends its hook with all that this has started" {
	beside 'TERM' hooked TERM 143 --on-retry ': >began; sleep 30 | sleep 30; true'
	beside 'TERM that a child ignores' hooked TERM 143 \
	    --on-retry "sh -c 'trap \"\" TERM; : >began; sleep 30; true'; true"
	beside '--retry-if' hooked TERM 143 --retry-if ': >began; sleep 30; true'
	beside 'KILL' hooked KILL 137 --on-retry ': >began; exec sleep 30'
	rows beside eval <<-'END'
	USR1 does not, and is not passed on
	    start "$ACTOR" fresh "$RETRY" -d 60 -j none --on-retry '
	        trap "echo heard" USR1; touch began
	        while [ ! -e enough ]; do sleep 0.1; done; touch hook' -- sh -c 'exit 7'
	    reached test -e began
	    kill -USR1 "$pid"
	    touch enough
	    reached test -e hook
	    not told heard
	Ctrl-C ends it, and retry by SIGINT
	    pty 0 exists:began 'type:^C' -- "$ACTOR" ignoring INT "$ACTOR" how "$ACTOR" fresh \
	        "$RETRY" --progress never -d 60 -j none \
	        --on-retry ': >began; sleep 30; true' -- false
	    grep -qx '\(\^C\)\?killed INT' out # after what is said of the hook, or not
	    none_left
	END
}

# late HOOK [OPTION]...: the deadline comes while --on-retry runs HOOK
late() {
	try status=7 says='*|--on-retry ended by the deadline|giving up before attempt 2: deadline*' \
	    -T 3 -d 0.1 --on-retry "$1" "${@:2}" -- sh -c 'exit 7'
	none_left
}

# bats test_tags=slow
@test "the delay goes on while --on-retry runs, and both hooks have a limit" {
	rows beside eval <<-'END'
	the rest of the delay, and not the whole delay, is left
	    is 1 "$RETRY" -n 2 -d 5 -j none --on-retry 'sleep 2; cat /proc/uptime >hook' -- \
	        sh -c 'cat /proc/uptime >attempt; exit 1'
	    read -r hook _ <hook
	    read -r attempt _ <attempt
	    rest=$((${attempt/./} - ${hook/./})) # in hundredths
	    ((50 < rest && rest < 480))
	the deadline ends --on-retry
	    late 'sleep 30; true'
	the deadline ends --retry-if
	    try status=7 says='--retry-if ended by the deadline|attempt 1 failed (exit 7), giving up: deadline' \
	        -T 1 --retry-if 'sleep 30; true' --on-retry 'echo hook' -- sh -c 'exit 7'
	    none_left
	the delay goes on while --retry-if runs
	    try status=1 -v -n 2 -d 3 -j none --retry-if 'sleep 4' -- false
	    told 'retry: ended after 2 attempts in [4-6]([.].)?s: attempts'
	not --on-give-up
	    late 'sleep 30; true' --on-give-up 'sleep 0.5; touch hook'
	    [ -e hook ]
	standard error is left to nobody
	    said=$("$RETRY" -T 3 -d 0.1 --on-retry 'sleep 18; true' -- \
	        sh -c 'exit 7' 2>&1 3>&-) || :
	    [[ $said == *'ended by the deadline'* ]]
	    none_left
	END
}
