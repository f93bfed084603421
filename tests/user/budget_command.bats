#!/usr/bin/env bats
# Covers show/budgets, output/writer.
# --budget-status, --budget-reset and --budget-gc.
# shellcheck disable=SC2034 # what is set here, budget.bash and the rows read

load helper
load actor
load budget

# fail N KEY [OPTION]...: an invocation of N attempts, all of them failures
fail() {
	is 1 "$RETRY" -q -B "$2" -n "$1" -d 0 "${@:3}" false
}

# status KEY [OPTION]...: what --budget-status writes, in $shown
status() {
	shown=$("$RETRY" --budget-status "$@"; echo .)
	shown=${shown%.}
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
	shown=$'\n'$(tr -s ' ' <<<"${shown%$'\n'}")$'\n'
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
	try status="$1" out='' "${@:3}" && holds <(sort err) "retry: ${2//|/$'\n'retry: }"
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
# is about to look at the only budget that there is
collecting() {
	inject getppid:signal=STOP
	start strace -D -o trace -e trace=flock -e inject=flock:signal=STOP \
	    "$RETRY" -v --budget-gc
	wait_for grep -q 'stopped by SIGSTOP' trace
}

@test "a budget is a line of a table" {
	rows row scene <<-'END'
	under its titles, with which its columns line up
	    fail 3 much --budget-window 24h
	    "$RETRY" -q -B 'two words' true
	    "$RETRY" -q -B ähnlich --breaker 9,1s true
	    "$RETRY" -q -B ähnlich -n 3 -d 0 sh -c 'test $RETRY_ATTEMPT = 3'
	    fail 2 ähnlich
	    holds <("$RETRY" --budget-status all) \
	        'KEY        RETRIES  LIMIT  NEXT  HELD  RESCUED  LOST  BREAKER' \
	        'much             2     10   now    0s        0     1  -' \
	        'two words        0     10   now    0s        0     0  -' \
	        'ähnlich          2     10   now    0s        1     1  closed, 2 failures'
	a long key moves its own line only, and no byte of one acts on a terminal
	    long=$(printf 'k%.0s' {1..200}) key=$'a\nb\tc\e[31m\x7f\xff\xc2\x9bß\\'
	    fail 1 "$long"
	    fail 1 "$key"
	    try out='KEY *|a\\nb\\tc\\x1b\[31m\\x7f\\xff\\xc2\\x9bß\\ *|'"$long *0 *10 *now *" \
	        --budget-status all
	    [ "$(grep -oE '^KEY +RETRIES' out | wc -c)" -lt 50 ]
	    ! LC_ALL=C grep -q $'[\e\x7f\xff\x9b\t]' out
	exhausted, with when the next retry is allowed, and a pause
	    fail 4 api --budget-min 2 --budget-cooldown 1h
	    json api '"retries": 2, "limit": 2, "left": 0, "next_seconds": @(3600|35[0-9][0-9].*),' \
	        '"cooldown_seconds": @(3600|35[0-9][0-9].*),' '"denied": 1,'
	    shows api '2 2 @(1h|59m*) 0s 0 1 -'
	which only a success can refill
	    fail 2 none --budget-min 0 --budget-ratio 0
	    json none '"limit": 0, "left": 0, "next_seconds": null,'
	    shows none '0 0 - 0s 0 1 -'
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
	    start "$RETRY" -B api --breaker 1,10ms sh -c 'until [ -e go ]; do sleep 0.05; done'
	    wait_for shows api '* half-open'
	    prom api 'gate_state 2'
	    touch go
	    ended 0
	retries that it lets in are counted apart
	    waits=(-q -B api -n 2 -d 0 --budget-wait 60s --budget-min 0)
	    second() { "$RETRY" "${waits[@]}" "$@" sh -c '[ "$RETRY_ATTEMPT" = 2 ]'; }
	    # The first of these is the probe; the second comes while it recovers.
	    second --breaker 1,10ms && second --breaker 9,10ms
	    # At once: the recovery ends by time.
	    shows api '0 0 - 0s 2 0 recovering, *([0-9])/s'
	    json api '"retries": 0, "limit": 0,' '"amplification": 2,' \
	        '"totals": {"firsts": 2, "successes": 2, "retries": 0, "probes": 1, "turns": 1, "limited": 0, "throttled": 0, "rescued": 2, "gave_up": 0, "denied": 1, "attempts": 4}'
	    prom api 'probes_total 1' 'turns_total 1' 'retries_total 0' \
	        'window_retries 0' 'attempts_total 4'
	END
}

@test "budgets are shown in JSON and as metrics" {
	rows row scene <<-'END'
	one object on one line, and a metric for each number
	    "$RETRY" -q -B api --budget-ratio 150% --budget-min 7 --budget-window 90.5s \
	        -n 3 -d 0 sh -c 'test $RETRY_ATTEMPT = 3'
	    holds <("$RETRY" --budget-status api --json) '{"key": "api", "directory": "'"$RETRY_BUDGET_DIR"'", "file": "retry-v5.'"$EUID"'.api", "retries": 1, "limit": 7, "left": 6, "next_seconds": 0, "successes": 1, "window_seconds": 90.5, "ratio": 1.5, "min": 7, "cooldown_seconds": 0, "held_seconds": 0, "totals": {"firsts": 1, "successes": 1, "retries": 2, "probes": 0, "turns": 0, "limited": 0, "throttled": 0, "rescued": 1, "gave_up": 0, "denied": 0, "attempts": 3}, "amplification": 3, "gate": {"state": "closed", "failures": 0, "next_seconds": null, "rate": null}}'
	    prom api 'window_retries 1' 'limit 7' 'left 6' 'next_seconds 0' \
	        'window_successes 1' 'window_seconds 90.5' 'ratio 1.5' 'min 7' \
	        'cooldown_seconds 0' 'firsts_total 1' 'successes_total 1' \
	        'retries_total 2' 'probes_total 0' 'turns_total 0' 'denied_total 0' \
	        'held_seconds 0' 'limited_total 0' 'throttled_total 0' \
	        'rescued_total 1' 'gave_up_total 0' \
	        'attempts_total 3' 'amplification 3' 'gate_state 0' \
	        'gate_failures 0' 'gate_next_seconds NaN' 'gate_rate NaN'
	    [ "$(grep -cv '^#' <<<"$shown")" -eq 27 ]
	of all budgets an array in the order of their keys
	    for key in b all 'a b' -v; do
	        "$RETRY" -q -B "$key" true
	    done
	    "$RETRY" --budget-status all --json >all
	    holds <(sed -n 's/^{"key": "\([^"]*\).*/\1/p' all) -v 'a b' all b
	    # Without a key, it is every budget, too.
	    "$RETRY" --budget-status --json -- | diff all -
	    try out='{"key": "-v", *' --budget-status=-v --json
	    try out='{"key": "all", *' --budget-status=all --json
	    denied "budget '-': no such budget in $PWD/budgets" --budget-status -
	without any budget
	    try out='\[\]' --budget-status all --json
	    try out='KEY*BREAKER' --budget-status all
	    try --budget-status all --prom
	    not grep -v '^#' out
	in /dev/shm by default
	    [ -w /dev/shm ] || exit 0
	    unset RETRY_BUDGET_DIR
	    key=ledger-test-$$ file=/dev/shm/retry-v5.$EUID.ledger-test-$$
	    "$RETRY" -q -B "$key" true
	    [ "$(stat -c '%a %u %h %s' "$file")" = "600 $EUID 1 $SEGMENT_SIZE" ]
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
	"$RETRY" --budget-status all --json >none.json
	"$RETRY" --budget-status all --prom >none.prom
	for key in "$high" $'\xed\xa0\x80' $'\xc0\xaf' $'\xf4\x90\x80\x80' \
	    $'\xe2\x82' $'\xe2\x82\xac' $'\xf0\x9f\x98\x80' '"\'; do
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
		assert len(re.findall("(?m)^retry_budget_left{", read("all.prom"))) == 8
		got = {name: json.loads(read(name), parse_constant=never,
		    object_pairs_hook=unique) for name in glob.glob("*.json")}
		assert got["none.json"] == []
		assert {b["key"] for b in got["all.json"]} == {"\\xed\\xa0\\x80",
		    "\\xc0\\xaf", "\\xf4\\x90\\x80\\x80", "\\xe2\\x82", "\u20ac",
		    "\U0001f600", "\"\\", "".join(map(chr, range(1, 128))) +
		    "".join("\\x%x" % c for c in range(128, 256))}
	END
}

@test "what cannot be shown is named, and the rest is shown" {
	rows row scene <<-'END'
	a budget that does not exist, or a directory
	    denied "budget 'api': no such budget in $PWD/budgets" --budget-status api
	    denied "budget 'a\\\\nb': no such budget in nowhere" --budget-dir nowhere --budget-status $'a\nb' --json
	    [ -z "$(ls -A budgets)" ] && [ ! -e nowhere ]
	    try status=1 out='' -q --budget-status api
	    denied "cannot read nowhere: No such file or directory" --budget-dir nowhere --budget-gc
	    touch file
	    denied "cannot read file: Not a directory" --budget-dir file --budget-status all --json
	files that are no segment
	    fail 1 good
	    fail 1 open
	    chmod 0644 "budgets/retry-v5.$EUID.open"
	    echo junk >"budgets/retry-v5.$EUID.junk"
	    mkdir "budgets/retry-v5.$EUID.directory"
	    ln -s /etc/passwd "budgets/retry-v5.$EUID.link"
	    cp "budgets/retry-v5.$EUID.good" "budgets/retry-v5.$EUID.other"
	    (umask 077 && head -c "$SEGMENT_SIZE" /dev/zero >"budgets/retry-v5.$EUID.zeros")
	    ln budgets/retry-v5.$EUID.{zeros,twice}
	    cp "budgets/retry-v5.$EUID.zeros" "budgets/retry-v5.$EUID.version"
	    touch "budgets/of somebody else"
	    "$RETRY" --budget-status all --json >out 2>all
	    [ "$(sed -n 's/^{"key": "\([^"]*\).*/\1/p' out)" = good ]
	    [ "$(lines all)" -eq 8 ]
	    for why in 'open:mode is not 0600' 'junk:mode is not 0600' 'link:not a regular file' \
	        'directory:not a regular file' 'other:of another key' 'zeros:has other links' \
	        'twice:has other links' 'version:of another version'; do
	        name=${why%%:*} why=${why#*:}
	        has_line "retry: budget file 'retry-v5.$EUID.$name': not shown: $why" all
	        denied "budget '$name': cannot be used: $why, in $PWD/budgets" --budget-status "$name"
	    done
	    try out='KEY *|good *' says='' -q --budget-status all
	a corrupt segment, which nobody can use
	    why="segment is corrupt" name=retry-v5.$EUID.api
	    "$RETRY" -q -B good true
	    "$RETRY" -q -B api true
	    put_bytes "$RING_AT" "$api" $(yes 255 | head -n $((8 * RING_WORDS)))
	    "$RETRY" -B api -n 2 -d 0 false 2>err && false
	    grep -q "^retry: budget 'api': cannot be used: $why" err
	    before=$(md5sum "$api")
	    denied "budget 'api': cannot be used: $why, in $PWD/budgets" --budget-status api
	    denied "budget 'api': cannot be used: $why, in $PWD/budgets" -q --budget-status api --json
	    try out='[[]|{"key": "good",*}|]' says="budget file '$name': not shown: $why" --budget-status all --json
	    unsorted 0 "budget file '$name': kept: $why|budget file 'retry-v5.$EUID.good': kept: in use" -v --budget-gc
	    [ "$(md5sum "$api")" = "$before" ]
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
	    only "retry-v5.$EUID.other"
	    fail 2 api --budget-min 1
	    json api '"totals": {"firsts": 1, "successes": 0, "retries": 1,'
	nothing is there
	    try out='' says="budget 'api': no such budget in $PWD/budgets" --budget-reset api
	    silent -q --budget-reset api
	    denied "budget 'api': cannot be reset: cannot use the directory: No such file or directory, in nowhere" \
	        --budget-dir nowhere --budget-reset api
	whatever is in the file
	    for mode in 644 000; do
	        head -c "$SEGMENT_SIZE" /dev/urandom >"$api"
	        chmod "$mode" "$api"
	        try out='' says="budget 'api': reset" -v --budget-reset api
	        [ ! -e "$api" ]
	    done
	something else has its name
	    ln -s ../other "$api"
	    touch other
	    silent --budget-reset api
	    only
	    [ -f other ]
	    mkdir "$api"
	    denied "budget 'api': cannot be reset: cannot remove: Is a directory, in $PWD/budgets" \
	        --budget-reset api
	a running retry notices it, and counts from 0
	    fail 5 api
	    start "$RETRY" -B api -n 2 -d 0 sh -c '
	        touch ran.$RETRY_ATTEMPT
	        until [ -e go.$RETRY_ATTEMPT ]; do sleep 0.02; done
	        test $RETRY_ATTEMPT = 2'
	    wait_for test -e ran.1
	    touch go.1
	    wait_for test -e ran.2
	    counted retries 5
	    "$RETRY" --budget-reset api
	    touch go.2
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
	    try out='' says="budget file 'retry-v5.api': kept: owned by another user" -v --budget-gc
	    [ "$(ls -A shared)" = retry-v5.api ]
	    become "$BOB" "$FRIENDS"
	    try out='' says="budget 'api': reset" -v --budget-reset api
	    [ -z "$(ls -A shared)" ]
	END
}

@test "a budget that nobody used within its window is removed, and nothing else" {
	rows row scene <<-'END'
	what is idle
	    fail 1 idle
	    fail 2 retried
	    "$RETRY" -q -B succeeded true
	    fail 1 open --breaker 1,1h
	    fail 2 paused --budget-min 0 --budget-cooldown 1h
	    name=retry-v5.$EUID
	    touch budgets/retry-v{1,6}.$EUID.x budgets/$name.junk budgets/else
	    unsorted 0 "budget file '$name.idle': removed: idle|budget file '$name.junk': kept: mode is not 0600|budget file '$name.open': kept: in use|budget file '$name.paused': kept: in use|budget file '$name.retried': kept: in use|budget file '$name.succeeded': kept: in use" \
	        -v --budget-gc
	    only else retry-v1.$EUID.x $name.{junk,open,paused,retried,succeeded} retry-v6.$EUID.x
	what becomes idle when its window is over
	    "$RETRY" -q -B api --budget-window 3s -n 2 -d 0 sh -c 'test $RETRY_ATTEMPT = 2'
	    older 1.5
	    silent --budget-gc
	    only "retry-v5.$EUID.api"
	    older 1.6
	    silent --budget-gc
	    only
	    silent -v --budget-gc
	    "$RETRY" -q -B api true
	    counted successes 1
	what cannot be removed is an error: 1
	    fail 1 one
	    fail 1 two
	    inject '?unlink,?unlinkat:error=EPERM:when=1'
	    is 1 "${inject[@]}" "$RETRY" -v --budget-gc
	    name=$(cd budgets && echo *)
	    [ "$name" = "retry-v5.$EUID.one" ] || [ "$name" = "retry-v5.$EUID.two" ]
	    sed "s/$name/ONE/; s/retry-v5[^']*/OTHER/" err >said
	    holds said "retry: budget file 'ONE': cannot remove: Operation not permitted" \
	        "retry: budget file 'OTHER': removed: idle"
	    # What retry lacks counts more, whichever comes last.
	    fail 1 one
	    fail 1 two
	    is 125 strace -qq -o /dev/null -P "$stem.one" -P "$stem.two" \
	        -e 'inject=?open,?openat:error=EMFILE:when=1' \
	        -e 'inject=?unlink,?unlinkat:error=EPERM' "$RETRY" --budget-gc
	    grep -q 'cannot open: Too many open files\|cannot open: No file desc' err
	    grep -q 'cannot remove: Operation not permitted' err
	what another member of a group owns is not removed: 1
	    shared
	    RETRY=./retry
	    chmod 3770 shared
	    is 1 "${under[@]}" "$RETRY" -q -B api -n 1 false
	    become "$BOB" "$FRIENDS"
	    is 1 "${under[@]}" "$RETRY" -q -B his -n 1 false
	    denied "budget file 'retry-v5.api': cannot remove: Operation not permitted" \
	        -q --budget-gc
	    [ "$(ls -A shared)" = retry-v5.api ]
	    become "$ANN" "$FRIENDS"
	    silent --budget-gc
	    [ -z "$(ls -A shared)" ]
	what is of an earlier boot, and is not shown
	    old=retry-v5.$EUID.old
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
	rows row scene <<-'END'
	it is used, and kept
	    fail 1 api
	    collecting
	    "$RETRY" -q -B api true
	    ended_by CONT 0
	    [ "$(<err)" = "retry: budget file 'retry-v5.$EUID.api': kept: in use" ]
	    counted successes 1 firsts 2
	it is created again, and kept
	    fail 1 api
	    collecting
	    "$RETRY" --budget-reset api
	    fail 1 api
	    made=$(stat -c %i "$api")
	    ended_by CONT 0
	    [ "$(lines err)" -eq 0 ]
	    [ "$(stat -c %i "$api")" = "$made" ]
	another --budget-gc does not disturb it
	    fail 1 api
	    collecting
	    silent --budget-gc
	    [ -e "$api" ]
	    : >err
	    ended_by CONT 0
	    holds err "retry: budget file 'retry-v5.$EUID.api': removed: idle"
	    only
	END
}

