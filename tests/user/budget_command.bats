#!/usr/bin/env bats
# Covers report/budget_command, report/budget_show, store/segment_store.
# --budget-status, --budget-reset and --budget-gc.

# shellcheck disable=SC2016 # the commands' shells expand

load helper
load actor

# Users and a group that nobody is.
ANN=61234
BOB=61235
FRIENDS=61300

setup()
{
	helper_setup
	mkdir -m 700 budgets
	export RETRY_BUDGET_DIR=$PWD/budgets
	uid=$(id -u)
}

# fails N KEY [OPTION]...: an invocation of N attempts, all of them failures.
fails()
{
	local attempts=$1 key=$2
	shift 2
	run -1 "$RETRY" -q -B "$key" -n "$attempts" -d 0 "$@" false
}

# json KEY CODE: Python's CODE holds, b being the object, or the array of all.
json()
{
	"$RETRY" --budget-status "$1" --json >json
	is_json "$2" json
}

# is_json CODE FILE...: it holds for each of these files.
is_json()
{
	"$PYTHON" -IS - "$@" <<-'END'
		import json, sys
		def never(text):
		    raise ValueError(text)
		for name in sys.argv[2:]:
		    text = open(name, "rb").read().decode("utf-8")
		    b = json.loads(text, parse_constant=never)
		    if not eval("(" + sys.argv[1] + ")"):
		        sys.exit(name + ": " + text)
	END
}

# prom KEY CODE: the same of what Prometheus reads, by someone as strict, v having
# the values by name and by key.
prom()
{
	"$RETRY" --budget-status "$1" --prom >prom
	is_prom "$2" prom
}

is_prom()
{
	"$PYTHON" -IS - "$@" <<-'END'
		import re, sys
		sample = re.compile(
		    r"(retry_budget_[a-z_]+)\{key=\"((?:[^\\\"\n]|\\[\\\"n])*)\"\} "
		    r"(\d+(?:\.\d+)?|NaN)")
		for file in sys.argv[2:]:
		    texts, types, values, last = {}, {}, {}, None
		    for line in open(file, "rb").read().decode("utf-8").splitlines(True):
		        assert line.endswith("\n"), line
		        line = line[:-1]
		        if line.startswith("#"):
		            _, what, name, text = line.split(" ", 3)
		            about = {"HELP": texts, "TYPE": types}[what]
		            assert name not in about and name not in values, line
		            about[name] = text
		            continue
		        name, key, value = sample.fullmatch(line).groups()
		        assert name == last or name not in values, "torn apart: " + line
		        key = re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], key)
		        assert key not in values.setdefault(name, {}), "twice: " + line
		        values[name][key] = float(value)
		        last = name
		    assert texts.keys() == types.keys() >= values.keys()
		    for name in types:
		        assert types[name] == "counter" if name.endswith("_total") \
		            else types[name] == "gauge", name
		    v = {name[len("retry_budget_"):]: values.get(name, {}) for name in types}
		    if not eval("(" + sys.argv[1] + ")"):
		        sys.exit(file + ": " + repr(v))
	END
}

# refuses LINE WORD...: this and no more on standard error, status 1, no output.
refuses()
{
	local line=$1 status=0
	shift
	"$RETRY" "$@" >out 2>err || status=$?
	[ "$status" -eq 1 ] && [ ! -s out ] && [ "$(<err)" = "retry: $line" ] || {
		echo "status $status"
		cat out err
		return 1
	}
}

# become UID: sets the array as to what runs a command as somebody else, one of
# the friends, who has a copy of the program, ./retry, and ./group, which they
# share. Paths are relative: the way here may be closed to him.
become()
{
	[ "$EUID" -eq 0 ] || skip 'needs root, to be somebody else'
	as=(setpriv "--reuid=$1" "--regid=$1" "--groups=$FRIENDS")
	"${as[@]}" true 2>/dev/null || skip 'no setpriv that works here'
	export RETRY_BUDGET_DIR=group
	[ ! -e retry ] || return 0
	cp "$RETRY" retry
	chmod 755 . retry
	mkdir group
	chgrp "$FRIENDS" group
	chmod 2770 group
}

# overwrite KEY AT PATTERN [COUNT]: COUNT bytes of KEY's segment, 1 for want of
# another number, become this byte of printf's
overwrite()
{
	local byte bytes=
	for ((byte = 0; byte < ${4-1}; byte++)); do
		bytes+=$3
	done
	# shellcheck disable=SC2059 # a format of bytes
	printf "$bytes" | dd bs=1 seek="$2" of="budgets/retry-v4.$uid.$1" \
	    conv=notrunc status=none
}

# collecting: begins a collection, in the background, that is stopped when it
# is about to look at the only budget that there is
collecting()
{
	inject getppid:signal=STOP
	start strace -D -o trace -e trace=flock -e inject=flock:signal=STOP \
	    "$RETRY" -v --budget-gc
	wait_for grep -q 'stopped by SIGSTOP' trace
}

# goes_on: it does, and ends with 0
goes_on()
{
	kill -CONT "$pid"
	ended
	[ "$status" -eq 0 ]
}

#
# The table
#

@test "a budget is a line under a header" {
	"$RETRY" -q -B api true
	"$RETRY" -q -B api -n 3 -d 0 sh -c 'test $RETRY_ATTEMPT = 3'
	fails 2 api
	"$RETRY" --budget-status api >got
	[ "$(lines got)" -eq 2 ]
	tr -s ' ' <got | diff - <(
		echo 'KEY RETRIES LIMIT LEFT NEXT SUCCESSES WINDOW FIRSTS PROBES TURNS DENIED AMPLIFICATION BREAKER'
		echo 'api 3 10 7 now 2 1m 3 0 0 0 2.00 closed, 2 failures')
}

@test "columns line up under their titles" {
	"$RETRY" -q -B 'two words' true
	fails 12 much --budget-window 24h
	"$RETRY" -q -B ähnlich true
	"$RETRY" --budget-status all >got
	"$PYTHON" -IS - <<-'END'
		import re
		lines = open("got", encoding="utf-8").read().splitlines()
		ends = [m.end() for m in re.finditer(r"\S+", lines[0])][1:-1]
		last = lines[0].index("BREAKER")
		assert len(lines) == 4 and len(ends) == 11, lines
		for line in lines:
		    for end in ends:
		        assert line[end - 1] != " " and line[end] == " ", line
		    assert line[last - 2:last] == "  " and line[last] != " ", line
	END
}

@test "a long key moves its own line only" {
	long=$(printf 'k%.0s' {1..200})
	fails 1 "$long"
	fails 1 short
	"$RETRY" --budget-status all >got
	grep -qE "^$long +0 +10 +10 +now" got
	[ "$(grep -oE '^KEY +RETRIES' got | wc -c)" -lt 20 ]
	[ "$(lines got)" -eq 3 ]
}

@test "no byte of a key acts on a terminal" {
	local key=$'a\nb\tc\e[31m\x7f\xff\xc2\x9bß\\'
	fails 1 "$key"
	"$RETRY" --budget-status "$key" >got
	[ "$(lines got)" -eq 2 ]
	grep -qF 'a\nb\tc\x1b[31m\x7f\xff\xc2\x9bß\ ' got
	! LC_ALL=C grep -q $'[\e\x7f\xff\x9b\t]' got
}

@test "an exhausted budget shows when the next retry is allowed" {
	fails 4 api --budget-min 2
	json api 'b["retries"] == b["limit"] == 2 and b["left"] == 0 and
	    50 < b["next_seconds"] <= 61 and b["totals"]["denied"] == 1'
	"$RETRY" --budget-status api | grep -qE '^api +2 +2 +0 +(1m(1s)?|5[0-9](\.[0-9])?s) +0 '
}

@test "a budget that only a success can refill shows that" {
	fails 2 none --budget-min 0 --budget-ratio 0
	json none 'b["limit"] == b["left"] == 0 and b["next_seconds"] is None'
	"$RETRY" --budget-status none | grep -qE '^none +0 +0 +0 +- '
	prom none 'str(v["next_seconds"]["none"]) == "nan"'
}

#
# The breaker and the pause
#

@test "an open breaker is shown with its probe" {
	fails 1 api --breaker 2,1h
	json api 'b["gate"] ==
	    {"state": "closed", "failures": 1, "next_seconds": None, "rate": None}'
	"$RETRY" --budget-status api | grep -q ' closed, 1 failure$'
	fails 1 api --breaker 2,1h
	json api 'b["gate"]["state"] == "open" and b["gate"]["failures"] == 2 and
	    3500 < b["gate"]["next_seconds"] <= 3600'
	"$RETRY" --budget-status api | grep -q ' open after 2 failures, probe in '
	prom api 'v["gate_state"]["api"] == 1 and v["gate_failures"]["api"] == 2'
}

@test "a probe is shown when it is due, and when it is under way" {
	fails 1 api --breaker 1,10ms
	shown() { "$RETRY" --budget-status api | grep -q "$1"; }
	wait_for shown ' open after 1 failure, probe due$'
	json api 'b["gate"]["next_seconds"] == 0'
	start "$RETRY" -B api --breaker 1,10ms sh -c 'until [ -e go ]; do sleep 0.05; done'
	wait_for shown ' half-open after 1 failure, probe under way$'
	prom api 'v["gate_state"]["api"] == 2'
	touch go
	ended
	[ "$status" -eq 0 ]
	wait_for shown ' closed$'
}

@test "retries that the breaker lets in are counted apart" {
	local waits=(-q -B api -n 2 -d 0 --budget-wait 60s --budget-min 0)
	second() { "$RETRY" "${waits[@]}" "$@" sh -c '[ "$RETRY_ATTEMPT" = 2 ]'; }
	# The first of these is the probe; the second comes while it recovers.
	second --breaker 1,10ms && second --breaker 9,10ms
	"$RETRY" --budget-status api >table # at once: the recovery ends by time
	json api 'b["totals"] == {"firsts": 2, "successes": 2, "retries": 0,
	    "probes": 1, "turns": 1, "denied": 1, "attempts": 4} and
	    b["retries"] == b["limit"] == 0 and b["amplification"] == 2'
	prom api 'v["probes_total"] == v["turns_total"] == {"api": 1} and
	    v["retries_total"] == v["window_retries"] == {"api": 0} and
	    v["attempts_total"] == {"api": 4}'
	grep -qE '^api +0 +0 +0 +- +2 +1m +2 +1 +1 +1 +2\.00 +recovering, ' table
}

@test "the pause after a denial is shown" {
	fails 2 api --budget-min 0 --budget-cooldown 1h
	json api '3500 < b["cooldown_seconds"] <= 3600'
	"$RETRY" --budget-status api | grep -qE ' closed, [12] failures?; cooldown (1h|59m)'
}

#
# JSON
#

@test "a budget in JSON is one object on one line" {
	"$RETRY" -q -B api --budget-ratio 150% --budget-min 7 --budget-window 90.5s \
	    -n 2 -d 0 sh -c 'test $RETRY_ATTEMPT = 2'
	"$RETRY" --budget-status api --json >got
	[ "$(lines got)" -eq 1 ]
	json api 'b == {
	    "key": "api", "directory": "'"$RETRY_BUDGET_DIR"'",
	    "file": "retry-v4.'"$uid"'.api",
	    "retries": 1, "limit": 7, "left": 6, "next_seconds": 0,
	    "successes": 1, "window_seconds": 90.5, "ratio": 1.5, "min": 7,
	    "cooldown_seconds": 0,
	    "totals": {"firsts": 1, "successes": 1, "retries": 1, "probes": 0,
	        "turns": 0, "denied": 0, "attempts": 2},
	    "amplification": 2,
	    "gate": {"state": "closed", "failures": 0, "next_seconds": None,
        "rate": None}}'
}

@test "all budgets in JSON are an array in the order of their keys" {
	local keys=(k{1..20} 'a b' Z a)
	for key in "${keys[@]}"; do
		"$RETRY" -q -B "$key" true
	done
	json all '[x["key"] for x in b] == sorted(x["key"] for x in b) and
	    len(b) == 23'
	"$RETRY" --budget-status all | awk 'NR > 1 { print $1 }' >got
	LC_ALL=C sort -c got
	[ "$(lines got)" -eq 23 ]
}

@test "a key of any bytes is valid in JSON" {
	local code byte high='' count=0
	for code in {1..255}; do
		printf -v byte '\\x%x' "$code"
		# shellcheck disable=SC2059 # a format of one byte
		printf -v byte "$byte"
		high+=$byte
	done
	for key in "$high" $'\xed\xa0\x80' $'\xc0\xaf' $'\xf4\x90\x80\x80' \
	    $'\xe2\x82' $'\xe2\x82\xac' $'\xf0\x9f\x98\x80' '"\' $'\x01'; do
		"$RETRY" -q -B "$key" true
		count=$((count + 1))
		"$RETRY" --budget-status "$key" --json >"json.$count"
	done
	[ "$count" -eq 9 ]
	is_json 'len(b["key"]) > 0' json.{1..9}
	json all '{x["key"] for x in b} >= {"\\xed\\xa0\\x80", "\\xc0\\xaf",
	    "\\xf4\\x90\\x80\\x80", "\\xe2\\x82", "\u20ac", "\U0001f600",
	    "\"\\", "\x01"} and len(b) == 9'
	json all '[x for x in b if x["key"] == "".join(map(chr, range(1, 128))) +
	    "".join("\\x%x" % c for c in range(128, 256))]'
}

@test "the name of a file has exactly the key" {
	fails 1 $'\xff/'
	json $'\xff/' 'b["key"] == "\\xff/" and b["file"].endswith(".%FF%2F")'
	json all 'b[0]["file"].endswith(".%FF%2F")'
	[ -e "budgets/retry-v4.$uid.%FF%2F" ]
}

#
# Prometheus
#

@test "metrics are in the format of Prometheus" {
	"$RETRY" -q -B api -n 3 -d 0 sh -c 'test $RETRY_ATTEMPT = 3'
	fails 1 'quo"te\back'
	fails 1 $'new\nline\x01\xff\t'
	prom all 'set(v["left"]) == {"api", "quo\"te\\back",
	    "new\nline\\x01\\xff\\x09"}'
	prom api 'v["window_retries"] == {"api": 2} and
	    v["window_successes"] == {"api": 1} and v["limit"] == {"api": 10} and
	    v["left"] == {"api": 8} and v["window_seconds"] == {"api": 60} and
	    v["firsts_total"] == {"api": 1} and v["attempts_total"] == {"api": 3} and
	    v["retries_total"] == {"api": 2} and v["denied_total"] == {"api": 0} and
	    v["probes_total"] == {"api": 0} and v["turns_total"] == {"api": 0} and
	    v["amplification"] == {"api": 3} and v["ratio"] == {"api": 0.2} and
	    v["gate_state"] == {"api": 0} and v["next_seconds"] == {"api": 0}'
}

#
# Nothing to show, and what cannot be shown
#

@test "showing budgets changes nothing" {
	fails 3 api --breaker 2,1ms --budget-min 1
	cp budgets/retry-v4."$uid".api before
	for format in --json --prom -v; do
		for key in api all; do
			"$RETRY" --budget-status "$key" $format | grep -q api
		done
	done
	cmp before budgets/retry-v4."$uid".api
	[ "$(ls -A budgets)" = "retry-v4.$uid.api" ]
}

@test "a budget that does not exist is an error: 1" {
	refuses "budget 'api': no such budget in $PWD/budgets" --budget-status api
	refuses "budget 'a\\nb': no such budget in $PWD/budgets" --budget-status $'a\nb' --json
	refuses "budget 'api': no such budget in nowhere" --budget-dir nowhere --budget-status api
	[ -z "$(ls -A budgets)" ] && [ ! -e nowhere ]
	run -1 "$RETRY" -q --budget-status api
	[ -z "$output" ]
}

@test "all, without any budget, is a header, an empty array, no samples" {
	run -0 "$RETRY" --budget-status all
	[[ $output = KEY*BREAKER ]]
	json all 'b == []'
	prom all 'len(v) > 10 and not any(v.values())'
}

@test "the key all is every budget, and one of that name is among them" {
	fails 1 all
	fails 1 api
	fails 1 -v
	json all '[x["key"] for x in b] == ["-v", "all", "api"]'
}

@test "no key is every budget" {
	fails 1 -v
	"$RETRY" --budget-status all --json >all
	"$RETRY" --budget-status --json | diff all -
	"$RETRY" --json --budget-status | diff all -
	"$RETRY" --json --budget-status -- | diff all -
	"$RETRY" --budget-status=-v --json >key
	is_json 'b["key"] == "-v"' key
	refuses "budget '-': no such budget in $PWD/budgets" --budget-status -
}

@test "a directory that cannot be read is an error: 1" {
	refuses "cannot read nowhere: No such file or directory" \
	    --budget-dir nowhere --budget-status all
	refuses "cannot write to nowhere: No such file or directory" \
	    --budget-dir nowhere --budget-gc
	touch file
	refuses "cannot read file: Not a directory" \
	    --budget-dir file --budget-status all --json
}

@test "a file that is no segment is named, and the others are shown" {
	fails 1 good
	fails 1 open
	chmod 0644 "budgets/retry-v4.$uid.open"
	echo junk >"budgets/retry-v4.$uid.junk"
	mkdir "budgets/retry-v4.$uid.directory"
	ln -s /etc/passwd "budgets/retry-v4.$uid.link"
	cp "budgets/retry-v4.$uid.good" "budgets/retry-v4.$uid.other"
	touch "budgets/of somebody else"
	"$RETRY" --budget-status all --json >out 2>err
	"$PYTHON" -IS -c 'import json; [b] = json.load(open("out")); assert b["key"] == "good"'
	[ "$(lines err)" -eq 5 ]
	for name in open junk directory link other; do
		grep -qx "retry: budget file 'retry-v4.$uid.$name': not shown: .*" err
	done
	run -0 --separate-stderr "$RETRY" -q --budget-status all
	# shellcheck disable=SC2154 # run sets it
	[ -z "$stderr" ]
	for name in open junk directory link other; do
		run -1 --separate-stderr "$RETRY" --budget-status "$name"
		[ -z "$output" ]
		[[ $stderr = "retry: budget '$name': cannot be used: "*", in $PWD/budgets" ]]
	done
}

@test "values out of range in a segment are shown within their range" {
	"$RETRY" -q -B api true
	for round in {1..15}; do
		# between the limits and the ring
		RANDOM=$round
		starts=(1128 1144 1224)
		at=${starts[RANDOM % 3]} bytes=
		for ((i = at; i < 1256; i++)); do
			printf -v byte '\\x%02x' "$((round % 3 ? RANDOM & 255 : 255))"
			bytes+=$byte
		done
		overwrite api "$at" "$bytes"
		"$RETRY" --budget-status api --json >"json.$round"
		"$RETRY" --budget-status api --prom >"prom.$round"
		"$RETRY" --budget-status api | grep -qE '^api +[0-9]+ '
	done
	is_json 'b["left"] >= 0 and b["limit"] >= b["left"] and
	    b["gate"]["state"] in ("closed", "open", "half-open", "recovering") and
	    b["totals"]["attempts"] >= b["totals"]["firsts"] >= 0' json.{1..15}
	is_prom 'v["left"]["api"] >= 0' prom.{1..15}
}

@test "a corrupt segment is not shown, and nobody can use it" {
	"$RETRY" -q -B good true
	for spoilt in "1256 \\377 488" "1260 \\377 4" "1120 \\377 8" \
	    "1123 \\1" "1127 \\377"; do
		rm -f "budgets/retry-v4.$uid.api"
		"$RETRY" -q -B api true
		# shellcheck disable=SC2086 # words
		overwrite api $spoilt
		"$RETRY" -B api -n 2 -d 0 false 2>err && false
		grep -q "^retry: budget 'api': cannot be used: segment is corrupt" err
		cp "budgets/retry-v4.$uid.api" before
		refuses "budget 'api': cannot be used: segment is corrupt, in $PWD/budgets" \
		    --budget-status api
		refuses "budget 'api': cannot be used: segment is corrupt, in $PWD/budgets" \
		    -q --budget-status api --json
		"$RETRY" --budget-status all --json >"json.${spoilt%% *}" 2>err
		run -0 --separate-stderr "$RETRY" --budget-status all --prom
		[ "$stderr" = "retry: budget file 'retry-v4.$uid.api': not shown: segment is corrupt" ]
		run -0 "$RETRY" -v --budget-gc
		grep -qxF "retry: budget file 'retry-v4.$uid.api': kept: segment is corrupt" <<<"$output"
		cmp before "budgets/retry-v4.$uid.api"
	done
	is_json '[x["key"] for x in b] == ["good"]' \
	    json.{1256,1260,1120,1123,1127}
	"$RETRY" --budget-reset api
	"$RETRY" -q -B api --budget-required true
}

@test "output that cannot be delivered is an error of ours: 125" {
	fails 1 api
	cp "budgets/retry-v4.$uid.api" before
	for key in api all; do
		for format in --json --prom -v; do
			"$RETRY" --budget-status $key $format >/dev/full 2>err && status=0 || status=$?
			[ "$status" -eq 125 ]
			[ "$(<err)" = 'retry: cannot write to standard output: No space left on device' ]
			"$RETRY" --budget-status $key $format >&- 2>err && status=0 || status=$?
			[ "$status" -eq 125 ]
			[ "$(<err)" = 'retry: cannot write to standard output: Bad file descriptor' ]
		done
	done
	"$RETRY" --budget-status all >&- 2>&- && status=0 || status=$?
	[ "$status" -eq 125 ]
	cmp before "budgets/retry-v4.$uid.api"
}

@test "a budget that a group shares has no user in its name" {
	mkdir group
	chgrp "$(id -g)" group
	chmod 2770 group
	export RETRY_BUDGET_DIR=$PWD/group
	"$RETRY" -q -B api true
	json api 'b["file"] == "retry-v4.api" and b["successes"] == 1'
	json all '[x["file"] for x in b] == ["retry-v4.api"]'
	[ -e group/retry-v4.api ]
	"$RETRY" --budget-reset api
	[ ! -e group/retry-v4.api ]
}

@test "budgets are kept in /dev/shm by default" {
	[ -w /dev/shm ] || skip 'no /dev/shm'
	unset RETRY_BUDGET_DIR
	local key=ledger-test-$$
	"$RETRY" -q -B "$key" true
	json "$key" 'b["directory"] == "/dev/shm" and b["successes"] == 1'
	[ -e "/dev/shm/retry-v4.$uid.$key" ]
	run -0 "$RETRY" -v --budget-reset "$key"
	[ "$output" = "retry: budget '$key': reset" ]
	[ ! -e "/dev/shm/retry-v4.$uid.$key" ]
}

#
# Reset
#

@test "a reset forgets everything of one key" {
	fails 3 api --budget-min 1
	"$RETRY" -q -B other true
	json api 'b["left"] == 0'
	run -0 "$RETRY" --budget-reset api
	[ -z "$output" ]
	[ "$(ls budgets)" = "retry-v4.$uid.other" ]
	fails 2 api --budget-min 1
	json api 'b["totals"]["retries"] == 1'
}

@test "a reset of nothing is no error" {
	run -0 "$RETRY" -v --budget-reset api
	[ "$output" = "retry: budget 'api': no such budget in $PWD/budgets" ]
	run -0 "$RETRY" --budget-reset api
	[ -z "$output" ]
}

@test "a reset removes a file of the user's own, whatever it holds" {
	local file=budgets/retry-v4.$uid.api
	for spoil in 'echo junk' : 'head -c 2328 /dev/urandom'; do
		for mode in 600 644 000; do
			eval "$spoil" >"$file"
			chmod "$mode" "$file"
			run -0 "$RETRY" -v --budget-reset api
			[ "$output" = "retry: budget 'api': reset" ]
			[ ! -e "$file" ]
		done
	done
}

@test "a reset removes nothing else: 1" {
	local file=budgets/retry-v4.$uid.api why="not a regular file"
	refused()
	{
		local before
		before=$(ls -ld "$file")
		refuses "budget 'api': cannot be reset: $why, in $PWD/budgets" \
		    --budget-reset api
		[ "$(ls -ld "$file")" = "$before" ]
		rm -rf "$file"
	}
	mkdir "$file"
	refused
	"$RETRY" -q -B target true
	ln -s "retry-v4.$uid.target" "$file"
	refused
	[ -f "budgets/retry-v4.$uid.target" ]
	ln -s nowhere "$file"
	refused
	mkfifo "$file"
	refused
	why='has other links'
	ln "budgets/retry-v4.$uid.target" "$file"
	refused
	touch other
	ln other "$file"
	refused
	[ -f other ]
	[ "$EUID" -eq 0 ] || return 0
	why='owned by another user'
	"$RETRY" -q -B api true
	chown "$ANN" "$file"
	refused
}

@test "where a reset is not permitted it is an error: 1" {
	inject '?unlink,?unlinkat:error=EACCES'
	"$RETRY" -q -B api true
	run -1 "${inject[@]}" "$RETRY" --budget-reset api
	[ "$output" = "retry: budget 'api': cannot be reset: cannot remove: Permission denied, in $PWD/budgets" ]
	[ -e "budgets/retry-v4.$uid.api" ]
}

@test "a member of a group can reset any of its budgets that he can use" {
	become "$ANN"
	"${as[@]}" ./retry -q -B api true
	become "$BOB"
	run -0 "${as[@]}" ./retry -v --budget-reset api
	[ "$output" = "retry: budget 'api': reset" ]
	[ -z "$(ls -A group)" ]

	become "$ANN"
	"${as[@]}" ./retry -q -B api true
	truncate -s 1000 group/retry-v4.api
	become "$BOB"
	run -1 "${as[@]}" ./retry --budget-reset api
	[ "$output" = "retry: budget 'api': cannot be reset: of another size, in group" ]
	become "$ANN"
	run -0 "${as[@]}" ./retry --budget-reset api
	[ -z "$(ls -A group)" ]
}

@test "root resets no user's budget" {
	become "$ANN"
	"${as[@]}" ./retry -q -B api true
	refuses "budget 'api': cannot be reset: owned by another user, in group" \
	    --budget-reset api
	[ "$(ls -A group)" = retry-v4.api ]
	run -0 --separate-stderr "$RETRY" -v --budget-gc
	[ "$stderr" = "retry: budget file 'retry-v4.api': kept: not made by retry" ]
	[ "$(ls -A group)" = retry-v4.api ]
}

@test "a running retry notices a reset, and counts from 0" {
	fails 5 api
	start "$RETRY" -B api -n 2 -d 0 \
	    sh -c 'touch ran.$RETRY_ATTEMPT; until [ -e go.$RETRY_ATTEMPT ]; do sleep 0.02; done
		test $RETRY_ATTEMPT = 2'
	wait_for test -e ran.1
	touch go.1
	wait_for test -e ran.2
	json api 'b["totals"]["retries"] == 5'
	"$RETRY" --budget-reset api
	touch go.2
	ended
	[ "$status" -eq 0 ]
	json api 'b["successes"] == 1 and b["retries"] == 0'
}

#
# Removal of unused budgets
#

@test "a budget that nobody used within its window is removed, and nothing else" {
	fails 1 idle
	fails 2 retried
	"$RETRY" -q -B succeeded true
	fails 1 open --breaker 1,1h
	fails 2 paused --budget-min 0 --budget-cooldown 1h
	touch budgets/retry-v1.$uid.x budgets/retry-v4.$uid.junk budgets/else
	run -0 --separate-stderr "$RETRY" -v --budget-gc
	[ -z "$output" ]
	diff <(sort <<<"$stderr") - <<-END
		retry: budget file 'retry-v4.$uid.idle': removed: idle
		retry: budget file 'retry-v4.$uid.junk': kept: not made by retry
		retry: budget file 'retry-v4.$uid.open': kept: in use
		retry: budget file 'retry-v4.$uid.paused': kept: in use
		retry: budget file 'retry-v4.$uid.retried': kept: in use
		retry: budget file 'retry-v4.$uid.succeeded': kept: in use
	END
	[ ! -e "budgets/retry-v4.$uid.idle" ]
	[ "$(ls budgets | wc -l)" -eq 7 ]
	json all 'len(b) == 4'
}

@test "a budget becomes idle when its window is over" {
	"$RETRY" -q -B api --budget-window 1s -n 2 -d 0 sh -c 'test $RETRY_ATTEMPT = 2'
	collected()
	{
		"$RETRY" --budget-gc && [ -z "$(ls -A budgets)" ]
	}
	wait_for collected
	"$RETRY" -q -B api true
	json api 'b["totals"]["successes"] == 1'
}

@test "--budget-gc is silent, and an empty directory is no error" {
	fails 1 api
	run -0 "$RETRY" --budget-gc
	[ -z "$output" ]
	[ -z "$(ls -A budgets)" ]
	run -0 "$RETRY" -v --budget-gc
	[ -z "$output" ]
}

@test "a file that cannot be removed is an error: 1" {
	inject '?unlink,?unlinkat:error=EPERM:when=1'
	fails 1 one
	fails 1 two
	run -1 --separate-stderr "${inject[@]}" "$RETRY" -v --budget-gc
	[ -z "$output" ]
	name=$(cd budgets && echo *)
	[ "$name" = "retry-v4.$uid.one" ] || [ "$name" = "retry-v4.$uid.two" ]
	diff <(sed "s/$name/ONE/; s/retry-v4[^']*/OTHER/" <<<"$stderr") - <<-'END'
		retry: budget file 'ONE': cannot remove: Operation not permitted
		retry: budget file 'OTHER': removed: idle
	END
}

@test "a member of a group whose files are each his own is told what he cannot remove" {
	become "$ANN"
	chmod 3770 group
	"${as[@]}" ./retry -q -B api -n 1 false && false
	become "$BOB"
	"${as[@]}" ./retry -q -B his -n 1 false && false
	run -1 --separate-stderr "${as[@]}" ./retry -q --budget-gc
	[ -z "$output" ]
	[ "$stderr" = "retry: budget file 'retry-v4.api': cannot remove: Operation not permitted" ]
	[ "$(ls -A group)" = retry-v4.api ]
	become "$ANN"
	run -0 "${as[@]}" ./retry --budget-gc
	[ -z "$(ls -A group)" ]
}

@test "a budget that is used during the check is kept" {
	fails 1 api
	collecting
	"$RETRY" -q -B api true
	goes_on
	[ "$(<err)" = "retry: budget file 'retry-v4.$uid.api': kept: in use" ]
	json api 'b["successes"] == 1 and b["totals"]["firsts"] == 2'
}

@test "a budget that is created again during the check is kept" {
	fails 1 api
	collecting
	"$RETRY" --budget-reset api
	fails 1 api
	made=$(stat -c %i "budgets/retry-v4.$uid.api")
	goes_on
	[ "$(lines err)" -eq 0 ]
	[ "$(stat -c %i "budgets/retry-v4.$uid.api")" = "$made" ]
}

@test "two --budget-gc at once do not disturb each other" {
	fails 1 api
	collecting
	run -1 "$RETRY" --budget-gc
	[ "$output" = "retry: budget file 'retry-v4.$uid.api': cannot lock: Resource temporarily unavailable" ]
	[ -e "budgets/retry-v4.$uid.api" ]
	goes_on
	[ -z "$(ls -A budgets)" ]
	for _ in {1..20}; do
		fails 1 api
		start "$RETRY" --budget-gc
		run -0 "$RETRY" --budget-gc
		ended
		[ "$status" -eq 0 ]
		[ -z "$(ls -A budgets)" ]
	done
}

@test "a segment of an earlier boot is not shown, and is removed" {
	case $(stat -f -c %T budgets) in
	tmpfs | ramfs) skip 'memory does not outlive a boot' ;;
	esac
	"$RETRY" -q -B old true
	"$RETRY" -q -B new true
	"$PYTHON" -IS - "budgets/retry-v4.$uid.old" <<-'END'
		import sys
		boot = open("/proc/sys/kernel/random/boot_id").read().strip()
		with open(sys.argv[1], "r+b") as segment:
		    text = segment.read()
		    at = text.index(boot.encode())
		    segment.seek(at)
		    segment.write(b"0" * len(boot))
	END
	refuses "budget 'old': no such budget in $PWD/budgets" --budget-status old
	json all '[x["key"] for x in b] == ["new"]'
	run -0 --separate-stderr "$RETRY" -v --budget-status all
	[ "$stderr" = "retry: budget file 'retry-v4.$uid.old': not shown: of an earlier boot" ]
	run -0 --separate-stderr "$RETRY" -v --budget-gc
	[[ $stderr = *"budget file 'retry-v4.$uid.old': removed: of an earlier boot"* ]]
	[ "$(ls budgets)" = "retry-v4.$uid.new" ]
}
