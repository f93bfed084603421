#!/usr/bin/env bats
# Covers show/budgets, output/writer.
# --budget-status, --budget-reset and --budget-gc.
# shellcheck disable=SC2034 # what is set here, budget.bash and the rows read

load helper
load actor
load budget

# Most rows make their own directories.
setup() {
	helper_setup
}

# fail N KEY [OPTION]...: an invocation of N attempts, all of them failures
fail() {
	is 1 "$RETRY" -q -B "$2" -n "$1" -d 0 "${@:3}" false
}

# status KEY [OPTION]...: what --budget-status writes, in $shown
status() {
	"$RETRY" --budget-status "$@" >status || :
	IFS= read -rd '' shown <status || :
}

# has PATTERN...: $shown has a part like each of these
has() {
	local pattern
	for pattern; do
		# shellcheck disable=SC2053 # a pattern
		[[ $shown == *$pattern* ]] || { echo "not $pattern: $shown" >&2 && return 1; }
	done
}

# shows KEY PATTERN: its line in the table is like this, whatever the width
shows() {
	status "$1"
	shown=$'\n'$shown
	while [[ $shown == *'  '* ]]; do
		shown=${shown//  / }
	done
	has $'\n'"$1 $2"$'\n'
}

# json KEY PATTERN...: its object, or the array of all, has these parts
json() {
	status "$1" --json
	has "${@:2}"
}

# prom KEY 'METRIC VALUE'...: so it is in the format of Prometheus
prom() {
	local metric
	status "$1" --prom
	for metric in "${@:2}"; do
		has "retry_budget_${metric% *}{key=\"$1\"} ${metric##* }"$'\n'
	done
}

# unsorted STATUS LINES [WORD]...: a try that writes these lines, in any order, which
# have a bar between them.
unsorted() {
	local line lines
	try status="$1" out='' "${@:3}" && IFS='|' read -ra lines <<<"$2" || return
	for line in "${lines[@]}"; do
		has_line "retry: $line" err
	done && [ "$(lines err)" -eq "${#lines[@]}" ]
}

# denied LINE WORD...: retry writes this line alone, and ends with 1
denied() {
	try status=1 out='' says="$1" "${@:2}"
}

# silent WORD...: it writes nothing
silent() {
	try out='' says='' "$@"
}

# collecting: begins a collection, in the background, that is stopped when it
# is about to look at the only budget that there is, which inject allows
collecting() {
	start strace -D -o trace -e trace=flock -e inject=flock:signal=STOP "$RETRY" -v --budget-gc
	wait_for traced 'stopped by SIGSTOP'
}

@test "a budget is a line of a table" {
	rows row scene <<-'END'
	under its titles, with which its columns line up
	    fail 2 much --budget-window 24h
	    "$RETRY" -q -B 'two words' --rate 40/5s true
	    "$RETRY" -q -B ähnlich --breaker 9,1s -n 2 -d 0 sh -c 'test $RETRY_ATTEMPT = 2'
	    fail 2 ähnlich
	    "$RETRY" --budget-status all >out
	    holds out 'KEY        RETRIES  LIMIT  NEXT  HELD   RATE  RESCUED  LOST  BREAKER' \
	        'much             1     10   now    0s      -        0     1  -' \
	        'two words        0     10   now    0s  40/5s        0     0  -' \
	        'ähnlich          1     10   now    0s      -        1     1  closed, 2 failures'
	what was learned of a server, unless --rate is smaller
	    limited() {
	        is 1 "$RETRY" -q -B api -d 0 -n 4 "$@" --fail-on http:200 \
	            --http-status status sh -c 'case $RETRY_ATTEMPT in
	            [23]) echo HTTP/1.1 429 X >status; exit 22; esac
	            echo HTTP/1.1 200 >status'
	    }
	    limited
	    "$RETRY" --budget-status api >out
	    [[ $(tail -n 1 out) == 'api '*'  0s  '[1-9]?(.[0-9])'/s  '* ]]
	    "$RETRY" -q -B api --rate 1/m true
	    "$RETRY" --budget-status api >out
	    [[ $(tail -n 1 out) == 'api '*'  0s  '*'1/m  '* ]]
	a long key moves its own line only, and no byte of one acts on a terminal
	    printf -v long 'k%.0s' {1..200}
	    key=$'a\nb\tc\e[31m\x7f\xff\xc2\x9bß\\'
	    fail 1 "$long"
	    fail 1 "$key"
	    try out='KEY *|a\\nb\\tc\\x1b\[31m\\x7f\\xff\\xc2\\x9bß\\ *|'"$long *0 *10 *now *" \
	        --budget-status all
	    LC_ALL=C
	    [[ $(<out) != *[$'\e\x7f\xff\x9b\t']* ]]
	    [[ $(<out) =~ ^KEY\ +RETRIES && ${#BASH_REMATCH} -lt 49 ]]
	exhausted, with when the next retry is allowed, and a pause
	    fail 4 api --budget-min 2 --budget-cooldown 1h
	    json api '"retries": 2, "limit": 2, "left": 0, "next_seconds": @(3600|35[0-9][0-9].*),' \
	        '"cooldown_seconds": @(3600|35[0-9][0-9].*),' '"denied": 1,'
	    shows api '2 2 @(1h|59m*) 0s - 0 1 -'
	which only a success can refill
	    fail 2 none --budget-min 0 --budget-ratio 0
	    json none '"limit": 0, "left": 0, "next_seconds": null,'
	    shows none '0 0 - 0s - 0 1 -'
	    prom none 'next_seconds NaN'
	END
}

@test "the breaker is shown with its state and its probe" {
	rows row scene <<-'END'
	open
	    fail 1 api --breaker 2,1h
	    json api '"gate": {"state": "closed", "failures": 1, "next_seconds": null, "rate": null}}'
	    shows api '* closed, 1 failure'
	    fail 1 api --breaker 2,1h
	    json api '"state": "open", "failures": 2, "next_seconds": 35'
	    shows api '* open for @(1h|59m*)'
	    prom api 'gate_state 1' 'gate_failures 2' 'gate_next_seconds 35'*
	due, and under way
	    fail 1 api --breaker 1,10ms
	    wait_for shows api '* open, probe due'
	    json api '"state": "open", "failures": 1, "next_seconds": 0,'
	    mkfifo go
	    start "$RETRY" -B api --breaker 1,10ms sh -c 'read -r line <go'
	    wait_for shows api '* half-open'
	    prom api 'gate_state 2'
	    echo >go
	    ended 0
	retries that it lets in are counted apart
	    waits=(-q -B api -n 2 -d 0 --budget-wait 60s --budget-min 0)
	    second() { "$RETRY" "${waits[@]}" "$@" sh -c '[ "$RETRY_ATTEMPT" = 2 ]'; }
	    # The first of these is the probe; the second comes while it recovers.
	    second --breaker 1,10ms && second --breaker 9,10ms
	    # At once: the recovery ends by time.
	    shows api '0 0 - 0s - 2 0 recovering, *([0-9])/s'
	    json api '"retries": 0, "limit": 0,' '"amplification": 2,' \
	        '"totals": {"firsts": 2, "successes": 2, "retries": 0, "probes": 1, "turns": 1, "limited": 0, "throttled": 0, "rescued": 2, "gave_up": 0, "denied": 1, "attempts": 4}'
	    prom api 'probes_total 1' 'turns_total 1' 'retries_total 0' \
	        'window_retries 0' 'attempts_total 4'
	END
}

@test "budgets are shown in JSON and as metrics" {
	rows row scene <<-'END'
	one object on one line, and a metric for each number
	    "$RETRY" -q -B api --budget-ratio 150% --budget-min 7 --budget-window 90.5s --rate 40/5s \
	        -n 3 -d 0 sh -c 'test $RETRY_ATTEMPT = 3'
	    "$RETRY" --budget-status api --json >out
	    holds out '{"key": "api", "directory": "'"$RETRY_BUDGET_DIR"'", "file": "retry-v6.'"$EUID"'.api", "retries": 1, "limit": 7, "left": 6, "next_seconds": 0, "successes": 1, "window_seconds": 90.5, "ratio": 1.5, "min": 7, "cooldown_seconds": 0, "held_seconds": 0, "pace": null, "quota": null, "period_seconds": null, "rate_number": 40, "rate_seconds": 5, "rate_used": 3, "totals": {"firsts": 1, "successes": 1, "retries": 2, "probes": 0, "turns": 0, "limited": 0, "throttled": 0, "rescued": 1, "gave_up": 0, "denied": 0, "attempts": 3}, "amplification": 3, "gate": {"state": "closed", "failures": 0, "next_seconds": null, "rate": null}}'
	    prom api 'window_retries 1' 'limit 7' 'left 6' 'next_seconds 0' \
	        'window_successes 1' 'window_seconds 90.5' 'ratio 1.5' 'min 7' \
	        'cooldown_seconds 0' 'firsts_total 1' 'successes_total 1' \
	        'retries_total 2' 'probes_total 0' 'turns_total 0' 'denied_total 0' \
	        'held_seconds 0' 'pace NaN' 'quota NaN' 'period_seconds NaN' \
	        'rate_number 40' 'rate_seconds 5' 'rate_used 3' 'limited_total 0' 'throttled_total 0' \
	        'rescued_total 1' 'gave_up_total 0' \
	        'attempts_total 3' 'amplification 3' 'gate_state 0' \
	        'gate_failures 0' 'gate_next_seconds NaN' 'gate_rate NaN'
	    [ "$(lines status)" -eq $((3 * 32)) ]
	of all budgets an array in the order of their keys
	    for key in b all 'a b' -v; do
	        "$RETRY" -q -B "$key" true
	    done
	    all='[[]|{"key": "-v",+([!|])|{"key": "a b",+([!|])|{"key": "all",+([!|])|{"key": "b",+([!|])|]'
	    try out="$all" --budget-status all --json
	    # Without a key, it is every budget, too.
	    try out="$all" --budget-status --json --
	    try out='{"key": "-v", *' --budget-status=-v --json
	    try out='{"key": "all", *' --budget-status=all --json
	    denied "budget '-': no such budget in $PWD/budgets" --budget-status -
	without any budget
	    try out='\[\]' --budget-status all --json
	    try out='KEY*BREAKER' --budget-status all
	    try --budget-status all --prom
	    [[ $'\n'$(<out) != *$'\n'[!#]* ]]
	in /dev/shm by default
	    [ -w /dev/shm ] || exit 0
	    unset RETRY_BUDGET_DIR
	    key=ledger-test-$$ file=/dev/shm/retry-v6.$EUID.ledger-test-$$
	    "$RETRY" -q -B "$key" true
	    [ "$(exec stat -c '%a %u %h %s' "$file")" = "600 $EUID 1 $SEGMENT_SIZE" ]
	    json "$key" '"directory": "/dev/shm",' '"successes": 1,'
	    try out='' says="budget '$key': reset" -v --budget-reset "$key"
	    [ ! -e "$file" ]
	END
}

# All other tests look at parts of the text.
@test "strict readers take whatever is shown, of keys of any bytes" {
	local code byte high='' key
	for code in {1..255}; do
		printf -v byte '\\x%x' "$code"
		printf -v byte "$byte"
		high+=$byte
	done
	make_directory
	"$RETRY" --budget-status all --json >none.json
	"$RETRY" --budget-status all --prom >none.prom
	for key in "$high" $'\xf4\x90\x80\x80' $'\xf0\x9f\x98\x80' '"\'; do
		"$RETRY" -q -B "$key" true
	done
	"$RETRY" --budget-status all --json >all.json
	"$RETRY" --budget-status all --prom >all.prom
	"$PYTHON" -IS - <<-'END'
		import glob, json, re
		def never(text):
		    raise ValueError(text)
		def unique(pairs):
		    assert len(dict(pairs)) == len(pairs), pairs
		    return dict(pairs)
		def read(name):
		    return open(name, "rb").read().decode("utf-8", "strict")
		metrics = re.compile(
		    r"(# HELP (\w+) .+\n# TYPE \2 (counter|gauge)\n"
		    r"(\2\{key=\"([^\\\"\n]|\\[\\\"n])*\"\} (\d+(\.\d+)?|NaN)\n)*)+")
		for name in glob.glob("*.prom"):
		    text = read(name)
		    assert metrics.fullmatch(text), text
		    for metric, kind in re.findall("# TYPE (.*) (.*)", text):
		        assert metric.endswith("_total") == (kind == "counter"), metric
		assert len(re.findall("(?m)^retry_budget_left{", read("all.prom"))) == 4
		got = {name: json.loads(read(name), parse_constant=never,
		    object_pairs_hook=unique) for name in glob.glob("*.json")}
		assert got["none.json"] == []
		assert {b["key"] for b in got["all.json"]} == {"\\xf4\\x90\\x80\\x80",
		    "\U0001f600", "\"\\", "".join(map(chr, range(1, 128))) +
		    "".join("\\x%x" % c for c in range(128, 256))}
	END
}

@test "what cannot be shown is named, and the rest is shown" {
	rows row scene <<-'END'
	a budget that does not exist, or a directory
	    denied "budget 'api': no such budget in $PWD/budgets" --budget-status api
	    denied "budget 'a\\\\nb': no such budget in nowhere" --budget-dir nowhere --budget-status $'a\nb' --json
	    only
	    [ ! -e nowhere ]
	    try status=1 out='' -q --budget-status api
	    denied "cannot read nowhere: No such file or directory" --budget-dir nowhere --budget-gc
	    : >file
	    denied "cannot read file: Not a directory" --budget-dir file --budget-status all --json
	files that are no segment
	    name=budgets/retry-v6.$EUID
	    fail 1 good
	    install -m 644 "$name.good" "$name.open"
	    echo junk >"$name.junk"
	    mkdir "$name.directory"
	    ln -s /etc/passwd "$name.link"
	    install -m 600 "$name.good" "$name.other"
	    (umask 077 && exec head -c "$SEGMENT_SIZE" /dev/zero >"$name.zeros")
	    install -m 600 "$name.zeros" "$name.version"
	    ln "$name".{zeros,twice}
	    : >"budgets/of somebody else"
	    "$RETRY" --budget-status all --json >out 2>all
	    reads out '[[]|{"key": "good",+([!|])|]'
	    [ "$(lines all)" -eq 8 ]
	    for why in 'open:mode is not 0600' 'junk:mode is not 0600' 'link:not a regular file' \
	        'directory:not a regular file' 'other:of another key' 'zeros:has other links' \
	        'twice:has other links' 'version:of another version'; do
	        name=${why%%:*} why=${why#*:}
	        has_line "retry: budget file 'retry-v6.$EUID.$name': not shown: $why" all
	    done
	    denied "budget '$name': cannot be used: $why, in $PWD/budgets" --budget-status "$name"
	    try out='KEY *|good *' says='' -q --budget-status all
	a corrupt segment, which nobody can use
	    why="segment is corrupt" name=retry-v6.$EUID.api
	    "$RETRY" -q -B good true
	    "$RETRY" -q -B api true
	    eval "ones=({1..$((8 * RING_WORDS))})"
	    put_bytes "$RING_AT" "$api" "${ones[@]/*/255}"
	    try status=1 says="budget 'api': cannot be used: $why*" -B api -n 2 -d 0 false
	    look_into "$api"
	    before=$content
	    denied "budget 'api': cannot be used: $why, in $PWD/budgets" --budget-status api
	    denied "budget 'api': cannot be used: $why, in $PWD/budgets" -q --budget-status api --json
	    try out='[[]|{"key": "good",*}|]' says="budget file '$name': not shown: $why" --budget-status all --json
	    unsorted 0 "budget file '$name': kept: $why|budget file 'retry-v6.$EUID.good': kept: in use" -v --budget-gc
	    look_into "$api"
	    [ "$content" = "$before" ]
	    "$RETRY" --budget-reset api
	    "$RETRY" -q -B api --budget-required true
	output that cannot be delivered: 125
	    to '>/dev/full' try status=125 says='cannot write to standard output: No space left on device' \
	        --budget-status all
	    to '>&-' try status=125 says='cannot write to standard output: Bad file descriptor' \
	        --budget-status all --json
	END
}

@test "a reset removes the file of a budget, and no other" {
	rows row scene <<-'END'
	everything of one key is forgotten
	    fail 3 api --budget-min 1
	    "$RETRY" -q -B other true
	    silent --budget-reset api
	    only "retry-v6.$EUID.other"
	    fail 2 api --budget-min 1
	    json api '"totals": {"firsts": 1, "successes": 0, "retries": 1,'
	nothing is there
	    try out='' says="budget 'api': no such budget in $PWD/budgets" --budget-reset api
	    silent -q --budget-reset api
	    denied "budget 'api': cannot be reset: cannot use the directory: No such file or directory, in nowhere" \
	        --budget-dir nowhere --budget-reset api
	whatever is in the file
	    head -c "$SEGMENT_SIZE" /dev/urandom >"$api"
	    chmod 0 "$api"
	    try out='' says="budget 'api': reset" -v --budget-reset api
	    [ ! -e "$api" ]
	something else has its name
	    ln -s ../other "$api"
	    : >other
	    silent --budget-reset api
	    only
	    [ -f other ]
	    mkdir "$api"
	    denied "budget 'api': cannot be reset: cannot remove: Is a directory, in $PWD/budgets" \
	        --budget-reset api
	a running retry notices it, and counts from 0
	    fail 2 api
	    mkfifo go
	    start "$RETRY" -B api -n 2 -d 0 sh -c '
	        [ "$RETRY_ATTEMPT" = 2 ] || exit 1
	        echo >ran
	        read -r line <go'
	    wait_for test -e ran
	    counted retries 2
	    "$RETRY" --budget-reset api
	    echo >go
	    ended 0
	    counted successes 1 retries 0
	it is not permitted: 1
	    inject '?unlink,?unlinkat:error=EACCES'
	    under=("${inject[@]}")
	    "$RETRY" -q -B api true
	    denied "budget 'api': cannot be reset: cannot remove: Permission denied, in $PWD/budgets" \
	        --budget-reset api
	    [ -e "$api" ]
	any that a group shares
	    shared
	    RETRY=./retry
	    "${under[@]}" "$RETRY" -q -B api true
	    under=()
	    try out='' says="budget file 'retry-v6.api': kept: owned by another user" -v --budget-gc
	    directory=shared only retry-v6.api
	    become "$BOB" "$FRIENDS"
	    try out='' says="budget 'api': reset" -v --budget-reset api
	    directory=shared only
	END
}

@test "a budget that nobody used within its window is removed, and nothing else" {
	inject getppid:signal=STOP
	rows row scene <<-'END'
	what is idle
	    fail 1 idle
	    fail 2 retried
	    "$RETRY" -q -B succeeded true
	    fail 1 open --breaker 1,1h
	    fail 2 paused --budget-min 0 --budget-cooldown 1h
	    name=retry-v6.$EUID
	    for file in retry-v{1,7}.$EUID.x $name.junk else; do
	        : >"budgets/$file"
	    done
	    unsorted 0 "budget file '$name.idle': removed: idle|budget file '$name.junk': kept: mode is not 0600|budget file '$name.open': kept: in use|budget file '$name.paused': kept: in use|budget file '$name.retried': kept: in use|budget file '$name.succeeded': kept: in use" \
	        -v --budget-gc
	    only else retry-v1.$EUID.x $name.{junk,open,paused,retried,succeeded} retry-v7.$EUID.x
	what becomes idle when its window is over
	    "$RETRY" -q -B api --budget-window 3s -n 2 -d 0 sh -c 'test $RETRY_ATTEMPT = 2'
	    older 1.5
	    silent --budget-gc
	    only "retry-v6.$EUID.api"
	    older 1.6
	    silent --budget-gc
	    only
	    silent -v --budget-gc
	    "$RETRY" -q -B api true
	    counted successes 1
	what cannot be removed is an error: 1
	    fail 1 one
	    fail 1 two
	    is 1 strace -qq -o /dev/null -e 'inject=?unlink,?unlinkat:error=EPERM:when=1' \
	        "$RETRY" -v --budget-gc
	    kept=(budgets/*) name=retry-v6.$EUID
	    [[ ${kept[*]} == budgets/"$name".@(one|two) ]]
	    [ "${kept##*.}" = one ] && removed=two || removed=one
	    holds err "retry: budget file '${kept#*/}': cannot remove: Operation not permitted" \
	        "retry: budget file '$name.$removed': removed: idle"
	    # What retry lacks counts more, whichever comes last.
	    fail 1 $removed
	    is 125 strace -qq -o /dev/null -P "$stem.one" -P "$stem.two" \
	        -e 'inject=?open,?openat:error=EMFILE:when=1' \
	        -e 'inject=?unlink,?unlinkat:error=EPERM' "$RETRY" --budget-gc
	    [[ $(<err) == *'cannot open: Too many open files'* ]]
	    [[ $(<err) == *'cannot remove: Operation not permitted'* ]]
	what another member of a group owns is not removed: 1
	    shared
	    RETRY=./retry
	    chmod 3770 shared
	    is 1 "${under[@]}" "$RETRY" -q -B api -n 1 false
	    become "$BOB" "$FRIENDS"
	    is 1 "${under[@]}" "$RETRY" -q -B his -n 1 false
	    denied "budget file 'retry-v6.api': cannot remove: Operation not permitted" \
	        -q --budget-gc
	    directory=shared only retry-v6.api
	    become "$ANN" "$FRIENDS"
	    silent --budget-gc
	    directory=shared only
	what is of an earlier boot, and is not shown
	    old=retry-v6.$EUID.old
	    "$RETRY" -q -B old true
	    "$RETRY" -q -B new true
	    outdate old
	    denied "budget 'old': no such budget in $PWD/budgets" --budget-status old
	    json all '"key": "new",'
	    [[ $shown != *'"old"'* ]]
	    try says="budget file '$old': not shown: of an earlier boot" -v --budget-status all
	    unsorted 0 "budget file '${old%old}new': kept: in use|budget file '$old': removed: of an earlier boot" \
	        -v --budget-gc
	    only "${old%old}new"
	    # What has taken its place meanwhile stays.
	    outdate new
	    collecting
	    "$RETRY" --budget-reset new
	    "$RETRY" -q -B new true
	    ended_by CONT 0
	    only "${old%old}new"
	END
}

@test "what happens to a budget during the check decides" {
	inject getppid:signal=STOP
	rows row scene <<-'END'
	it is used, and kept
	    fail 1 api
	    collecting
	    "$RETRY" -q -B api true
	    ended_by CONT 0
	    holds err "retry: budget file 'retry-v6.$EUID.api': kept: in use"
	    counted successes 1 firsts 2
	it is created again, and kept
	    fail 1 api
	    collecting
	    "$RETRY" --budget-reset api
	    fail 1 api
	    exec 8<"$api"
	    ended_by CONT 0
	    [ ! -s err ]
	    [ "$api" -ef /proc/self/fd/8 ]
	another --budget-gc does not disturb it
	    fail 1 api
	    collecting
	    silent --budget-gc
	    [ -e "$api" ]
	    : >err
	    ended_by CONT 0
	    holds err "retry: budget file 'retry-v6.$EUID.api': removed: idle"
	    only
	END
}

