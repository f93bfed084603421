#!/usr/bin/env bats
# Covers report/report, report/atomic_file, output/writer.
# --report and --metrics, which are written at the end of an invocation.
# shellcheck disable=SC2016 # the commands' shells expand
# shellcheck disable=SC2154 # start sets pid, ended sets status

load helper
load actor

setup()
{
	helper_setup
	mkdir budgets
	export RETRY_BUDGET_DIR=$PWD/budgets
}

# ends STATUS [OPTION]... COMMAND...: so ends retry, which has no delays unless
# the options say so. What it writes is in ./out and ./err.
ends()
{
	local want=$1
	shift
	rm -f out err
	is "$want" timeout --foreground -s KILL 60 "$RETRY" -d 0 "$@"
}

# report [@FILE|CODE]...: Python's CODE holds, each of them, r being the object
# in the FILE before it (./r.json for want of one), which has to be alone there
# on one line, and a its attempts. With WHILE, a process, it does so again and
# again, until that is gone. Python takes its time to start: ask it once.
report()
{
	"$PYTHON" -IS - "$@" <<-'END'
		import json, os, sys, time
		def unique(pairs):
		    assert len(dict(pairs)) == len(pairs), pairs
		    return dict(pairs)
		def never(name):
		    raise ValueError(name)
		def read(file):
		    text = open(file, "rb").read()
		    assert text.count(b"\n") == 1 and text.endswith(b"}\n"), text
		    r = json.loads(text.decode("utf-8", "strict"),
		                   parse_constant=never, object_pairs_hook=unique)
		    a = r["attempts"]
		    assert r["attempt_count"] == len(a) + r["attempts_omitted"], r
		    assert r["elapsed_ms"] >= r["slept_ms"] >= 0, r
		    return dict(globals(), r=r, a=a)
		def look():
		    names = None
		    for word in sys.argv[1:]:
		        if word[0] == "@":
		            names = read(word[1:])
		            continue
		        names = names or read("r.json")
		        assert eval("(" + word + ")", names), \
		            word + "\n" + json.dumps(names["r"], indent=1)
		look()
		while os.path.exists("/proc/" + os.environ.get("WHILE", "none")):
		    time.sleep(0.001)
		    look()
	END
}

# What Python reads as JSON is some to jq as well, where there is one.
in_jq()
{
	! command -v jq >/dev/null || jq -e .reason <r.json >/dev/null
}

# metrics [@FILE|CODE]...: the same of metrics, in ./m.prom for want of a FILE: m
# has them by name, each a pair of its labels and its value.
metrics()
{
	local file
	"$PYTHON" -IS - "$@" <<-'END'
		import os, re, sys, time
		def read(file):
		    text = open(file, encoding="utf-8").read()
		    m, about, typed = {}, None, None
		    assert text.endswith("\n")
		    for line in text.split("\n")[:-1]:
		        head = re.fullmatch(r"# HELP (retry_[a-z_]+) (\S.*)", line)
		        if head:
		            about = head[1]
		            continue
		        head = re.fullmatch(r"# TYPE (retry_[a-z_]+) gauge", line)
		        if head:
		            typed = head[1]
		            assert about == typed, line
		            continue
		        sample = re.fullmatch(
		            r'([a-z_]+)\{((?:[a-z]+="(?:[^"\\\n]|\\[\\"n])*",?)+)\}'
		            r' (\d+(?:\.\d+)?)', line)
		        assert sample and sample[1] == typed == about, line
		        assert sample[1] not in m, line
		        labels = dict(re.findall(r'([a-z]+)="((?:[^"\\]|\\.)*)"',
		                                 sample[2]))
		        m[sample[1]] = labels, float(sample[3])
		    return m
		def look():
		    m = None
		    for word in sys.argv[1:]:
		        if word[0] == "@":
		            m = read(word[1:])
		            continue
		        m = m or read("m.prom")
		        assert eval("(" + word + ")", dict(globals(), m=m)), (word, m)
		look()
		while os.path.exists("/proc/" + os.environ.get("WHILE", "none")):
		    time.sleep(0.001)
		    look()
	END
	command -v promtool >/dev/null || return 0
	[[ ${1-} == @* ]] || set -- @m.prom
	for file; do
		[[ $file != @* ]] || promtool check metrics <"${file#@}"
	done
}

# says LINE: ./err has this line of retry's.
says()
{
	grep -qxF -e "retry: $1" err || {
		echo "nobody says: $1"
		cat err
		return 1
	} >&2
}

# only FILE...: the directory has these, what tests leave there, and no more.
only()
{
	diff <(printf '%s\n' budgets "$@" | sort) \
	    <(find . -mindepth 1 -maxdepth 1 ! -name out ! -name err \
		-printf '%P\n' | sort)
}

# childless: what start() began has no child any more.
childless()
{
	barren "$pid"
}

barren()
{
	[ -z "$(cat "/proc/$1/task/$1/children" 2>/dev/null)" ]
}

fails=(sh -c 'exit 7')

@test "the report of a success has every field, and nothing else" {
	ends 0 --report r.json true
	report 'list(r) == ["version", "id", "command", "label", "attempts_max",
	    "consecutive", "timeout_ms", "idle_timeout_ms", "deadline_ms",
	    "budget", "fleet", "reason", "limit", "status", "signal",
	    "started_at", "elapsed_ms", "slept_ms", "attempt_count",
	    "attempts_omitted", "attempts"]' \
	    'list(a[0]) == ["attempt", "started_ms", "elapsed_ms", "timeout_ms", "end",
	    "status", "signal", "http_status", "retry_after_ms", "verdict",
	    "rule", "delay_ms", "slept_ms", "budget_exhausted", "fleet"]' \
	    'r["command"] == ["true"] and r["attempts_max"] == 5 and
	    r["consecutive"] == 1 and r["timeout_ms"] is
	    r["idle_timeout_ms"] is r["deadline_ms"] is r["budget"] is
	    r["fleet"] is r["label"] is None and r["reason"] == "succeeded" and r["status"] == 0 and
	    r["signal"] is None and r["attempt_count"] == 1 and
	    r["attempts_omitted"] == 0 and r["slept_ms"] == 0' \
	    '{k: a[0][k] for k in a[0] if not k.startswith(("st", "el"))} == {
	    "attempt": 1, "timeout_ms": None, "end": "exited", "signal": None, "http_status": None,
	    "retry_after_ms": None, "verdict": "done", "rule": "exit-status",
	    "delay_ms": None, "slept_ms": None, "budget_exhausted": False,
	    "fleet": None}' \
	    'a[0]["status"] == 0 and a[0]["elapsed_ms"] >= 1 and
	    r["elapsed_ms"] >= a[0]["started_ms"] >= 0'
	in_jq
	[ ! -s err ]
	only r.json
}

@test "the report names the version that --version prints" {
	ends 0 --report r.json true
	report '"retry " + r["version"] == "'"$("$RETRY" --version | head -n 1)"'"'
}

@test "the report has the options, with times in milliseconds" {
	ends 0 --report r.json -n inf -t 1.5 -T 1m -B api true
	ends 0 --report without.json --retries 0 -T 3d -B '' true
	report 'r["attempts_max"] is None and r["timeout_ms"] == 1500 and
	    r["deadline_ms"] == 60000 and r["budget"] == "api"' \
	    @without.json 'r["attempts_max"] == 1 and r["deadline_ms"] == 259200000 and
	    r["budget"] is None'
}

@test "the report has the timeout of each attempt" {
	ends 3 --report r.json -n 3 -t 10,0,1m sh -c 'exit 3'
	report 'r["timeout_ms"] == 10000 and
	    [x["timeout_ms"] for x in a] == [10000, None, 60000]'
}

@test "the report has the id that the command got" {
	ends 0 --report r.json sh -c 'echo "$RETRY_ID"'
	report 'len(r["id"]) == 36 and r["id"] == open("out").read().strip()'
}

@test "the report of a retry within another has the outer id" {
	ends 0 --report r.json "$RETRY" --report inner.json true
	report 'r["id"] == json.load(open("inner.json"))["id"]'
}

@test "the report has the time of the start, in UTC" {
	local before after
	before=$(date -u +%s)
	ends 0 --report r.json true
	after=$(date -u +%s)
	report "__import__('datetime').datetime.strptime(r['started_at'],
	    '%Y-%m-%dT%H:%M:%S.%fZ').replace(tzinfo=__import__(
	    'datetime').timezone.utc).timestamp().__floor__()
	    in range($before - 1, $after + 1)"
}

@test "the report has each attempt, and each delay as planned and as slept" {
	ends 9 --report r.json -n 3 -d 30ms -j none \
	    sh -c 'sleep 0.02; exit $((6 + RETRY_ATTEMPT))'
	report 'r["reason"] == "attempts" and r["status"] == 9 and
	    [x["attempt"] for x in a] == [1, 2, 3] and
	    [x["status"] for x in a] == [7, 8, 9] and
	    [x["delay_ms"] for x in a] == [30, 60, None] and
	    a[0]["slept_ms"] >= 30 and a[1]["slept_ms"] >= 60 and
	    a[2]["slept_ms"] is None' \
	    'all(x["elapsed_ms"] >= 20 and x["verdict"] == "retry" and
	    x["rule"] == "default" for x in a)'
	# Each rounded, hence the 2.
	report 'all(abs(a[i]["started_ms"] + a[i]["elapsed_ms"] +
	    a[i]["slept_ms"] - a[i + 1]["started_ms"]) <= 2 for i in (0, 1))' \
	    'abs(sum(x["slept_ms"] or 0 for x in a) - r["slept_ms"]) <= 2' \
	    'r["elapsed_ms"] + 2 >= a[2]["started_ms"] + a[2]["elapsed_ms"]'
}

@test "a delay that is shorter than a millisecond is not none" {
	ends 7 --report r.json -n 2 -d 0.01ms -j none "${fails[@]}"
	ends 7 --report none.json -n 2 "${fails[@]}"
	report 'a[0]["delay_ms"] == 1' @none.json 'a[0]["delay_ms"] == 0'
}

@test "the report names the rule that decided, its verdict and the reason" {
	local rule verdict reason status options count=0 reports=()
	while read -r rule verdict reason status options; do
		# shellcheck disable=SC2086 # words
		ends "$status" --report "$((++count)).json" -n 2 $options
		reports+=("@$count.json" "[a[-1]['rule'], a[-1]['verdict'],
		    r['reason'], r['status']] ==
		    ['$rule', '$verdict', '$reason', $status]")
	done <<-END
		exit-status done succeeded 0 true
		success-on done succeeded 0 --success-on 1 false
		default retry attempts 1 false
		fail-on retry attempts 1 --fail-on 0 true
		stop-on stop stop-rule 1 --stop-on fail false
		retry-on retry attempts 1 --retry-on 1 false
		default retry limit 1 --limit 0:1 false
		retry-on stop not-retryable 1 --retry-on 2 false
		preset stop not-retryable 1 --preset curl false
		not-executable stop not-executable 127 ./none
		not-executable stop not-executable 126 /
	END
	[ "$count" -eq 11 ]
	report "${reports[@]}"
}

@test "the report names the limit that was reached" {
	ends 1 --report r.json -n 9 -d 0 --limit 5:2 --limit 1:1,7 false
	report 'r["reason"] == "limit" and r["limit"] == "1:1,7"' 'len(a) == 2'
	ends 1 --report r.json -n 2 -d 0 --limit 1:1 false
	report 'r["reason"] == "attempts" and r["limit"] is None'
	ends 1 --metrics m.prom -q --limit 0:1 false
	metrics 'm["retry_reason"][0]["reason"] == "limit"'
}

@test "a success by rule has the command's status in its attempt, and 0 in the report" {
	ends 0 --report r.json --success-on 3 sh -c 'exit 3'
	report 'r["status"] == 0 and a[0]["status"] == 3'
	ends 3 --report r.json --keep-status --success-on 3 sh -c 'exit 3'
	report 'r["status"] == 3 and a[0]["status"] == 3'
	ends 0 --report r.json --success-on TERM sh -c 'kill $$'
	report 'r["status"] == 0 and r["signal"] is None' \
	    'a[0]["status"] == 143 and a[0]["signal"] == "SIGTERM"'
}

@test "an attempt that exited 0 and failed has its own status in the report" {
	ends 1 --report r.json -n 1 --fail-on 0 true
	report 'r["status"] == 1 and a[0]["status"] == 0'
}

@test "the report of a killed command has the signal, and retry's too" {
	ends 139 --report r.json -n 2 sh -c 'kill -SEGV $$'
	ends 141 --report pipe.json -n 2 sh -c 'kill -PIPE $$'
	report 'r["status"] == 139 and r["signal"] == "SIGSEGV" and
	    r["reason"] == "attempts" and len(a) == 2 and
	    all(x["end"] == "killed" and x["signal"] == "SIGSEGV" and
	    x["status"] == 139 and x["rule"] == "default" for x in a)' \
	    @pipe.json 'r["signal"] == "SIGPIPE" and
	    r["reason"] == "not-retryable" and a[0]["rule"] == "signal" and a[0]["verdict"] == "stop"'
}

@test "the report of a command that is not there says so" {
	ends 127 --report r.json ./nowhere
	report 'r["reason"] == "not-executable" and r["status"] == 127 and
	    len(a) == 1 and a[0]["end"] == "not-started" and
	    a[0]["status"] == 127 and a[0]["signal"] is None'
}

@test "the report tells a timeout, silence and the deadline apart" {
	ends 124 --report r.json -n 2 -t 50ms sleep 60
	ends 124 --report idle.json -n 1 --idle-timeout 50ms sleep 60
	ends 124 --report deadline.json -T 200ms sleep 60
	report 'r["reason"] == "attempts" and r["status"] == 124 and
	    r["signal"] is None and
	    [x["end"] for x in a] == ["timed-out", "timed-out"] and
	    all(x["status"] == 124 and x["elapsed_ms"] >= 50 for x in a)' \
	    @idle.json 'r["idle_timeout_ms"] == 50 and a[0]["end"] == "idle" and
	    a[0]["status"] == r["status"] == 124 and
	    a[0]["elapsed_ms"] >= 50' \
	    @deadline.json 'r["reason"] == "deadline" and r["status"] == 124 and
	    r["deadline_ms"] == 200 and a[-1]["end"] == "deadline" and
	    a[-1]["rule"] == "deadline" and r["elapsed_ms"] >= 200'
}

@test "a delay that would pass the deadline is in no report" {
	ends 7 --report r.json -T 10 -d 60 -j none "${fails[@]}"
	report 'r["reason"] == "deadline" and r["status"] == 7 and
	    len(a) == 1 and a[0]["delay_ms"] is a[0]["slept_ms"] is None and
	    a[0]["verdict"] == "retry"'
}

@test "the report has what the server answered" {
	ends 0 --report r.json --http-status status sh -c '
		[ "$RETRY_ATTEMPT" = 1 ] || { echo 204 >status; exit 0; }
		echo 503 >status
		exit 22'
	ends 22 --report 404.json --http-status status \
	    sh -c 'echo 404 >status; exit 22'
	ends 22 --report 000.json --http-status status -n 1 \
	    sh -c 'echo 000 >status; exit 22'
	ends 22 --report later.json --http-status status -T 10 sh -c '
		printf "HTTP/1.1 503 X\r\nRetry-After: 3600\r\n\r\n" >status
		exit 22'
	report '[x["http_status"] for x in a] == [503, 204] and
	    [x["rule"] for x in a] == ["http", "exit-status"] and
	    [x["verdict"] for x in a] == ["retry", "done"]' \
	    @404.json 'a[0]["http_status"] == 404 and a[0]["rule"] == "http" and
	    r["reason"] == "not-retryable"' \
	    @000.json 'a[0]["http_status"] is None' \
	    @later.json 'r["reason"] == "retry-after" and len(a) == 1'
}

@test "the report says where a retry was denied for want of budget" {
	ends 7 --report r.json -B api --budget-min 1 --budget-ratio 0 \
	    "${fails[@]}"
	ends 7 --report without.json -n 2 "${fails[@]}"
	report 'r["reason"] == "budget" and r["status"] == 7 and
	    r["budget"] == "api" and
	    [x["budget_exhausted"] for x in a] == [False, True]' \
	    @without.json 'not any(x["budget_exhausted"] for x in a)'
}

@test "an open breaker is reported, although no attempt was made" {
	is 7 "$RETRY" -n 1 -B api --breaker 1,60s "${fails[@]}"
	ends 75 --report r.json --metrics m.prom -B api --breaker 1,60s true
	report 'r["reason"] == "breaker" and r["status"] == 75 and a == [] and
	    r["attempt_count"] == r["attempts_omitted"] == 0'
	metrics 'm["retry_attempts"][1] == 0 and m["retry_success"][1] == 0 and
	    m["retry_exit_status"][1] == 75'
}

@test "a breaker that opens before a retry is reported" {
	ends 7 --report r.json -B api --breaker 1,60s "${fails[@]}"
	report 'r["reason"] == "breaker" and r["status"] == 7 and
	    len(a) == 1 and not a[0]["budget_exhausted"]'
}

@test "of 150 attempts the report has the first 10 and the last 90" {
	ends 7 --report r.json -n 150 -q "${fails[@]}"
	report '[x["attempt"] for x in a] ==
	    list(range(1, 11)) + list(range(61, 151)) and
	    r["attempt_count"] == 150 and r["attempts_omitted"] == 50 and
	    r["attempts_max"] == 150' \
	    'all(x["started_ms"] >= y["started_ms"]
	    for x, y in zip(a[1:], a))' \
	    'all(x["delay_ms"] == 0 for x in a[:-1]) and
	    a[-1]["delay_ms"] is None'
	in_jq
}

@test "of 100 attempts the report has all" {
	ends 7 --report r.json -n 100 -q "${fails[@]}"
	report '[x["attempt"] for x in a] == list(range(1, 101)) and
	    r["attempts_omitted"] == 0'
}

@test "a signal during a delay is reported, and the report is whole" {
	local name reports=() metrics=()
	for name in TERM INT HUP; do
		rm -f err
		start "$RETRY" --report "$name.json" --metrics "$name.prom" -n inf -d 60 \
		    -j none "${fails[@]}"
		reached told '.*retrying in .*'
		kill -s "$name" "$pid"
		ended
		[ "$status" -eq $((128 + $(kill -l "$name"))) ]
		reports+=("@$name.json"
		    'r["reason"] == "interrupted" and r["status"] == '"$status"' and
		    r["signal"] == "SIG'"$name"'" and r["attempts_max"] is None and
		    len(a) == 1 and a[0]["status"] == 7 and
		    a[0]["delay_ms"] == 60000 and
		    (a[0]["slept_ms"] is None or a[0]["slept_ms"] < 60000)')
		metrics+=("@$name.prom"
		    'm["retry_exit_status"][1] == '"$status"' and
		    m["retry_reason"][0]["reason"] == "interrupted"')
	done
	report "${reports[@]}"
	metrics "${metrics[@]}"
}

@test "a signal during an attempt is reported with what the command made of it" {
	start "$RETRY" --report r.json -- sh -c 'trap "exit 3" TERM
		echo ready
		while :; do sleep 0.01; done'
	reached said ready
	kill -TERM "$pid"
	ended
	[ "$status" -eq 3 ]
	rm out
	start "$RETRY" --report killed.json -- sh -c 'echo ready; exec sleep 60'
	reached said ready
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	report 'r["reason"] == "interrupted" and r["status"] == 3 and
	    a[0]["rule"] == "interrupted" and a[0]["status"] == 3' \
	    @killed.json 'r["reason"] == "interrupted" and
	    r["signal"] == "SIGTERM" and r["status"] == 143 and
	    a[0]["signal"] == "SIGTERM"'
}

@test "any byte of a command line or of a key is valid JSON" {
	local all
	all=$(printf '\\%03o' {1..255})
	all=$(printf "$all.")
	ends 0 --report r.json -B $'k\xff"\n\\' true "$all" '' 'ü€😀' \
	    $'\xed\xa0\x80' '"quoted"' '\back' $'a\nb\tc' $'\e[31m'
	report 'r["command"][0] == "true" and
	    r["command"][1][:127] == "".join(map(chr, range(1, 128))) and
	    r["command"][1][127:] == "".join(
	    "\\x%02x" % c for c in range(128, 256)) + "." and
	    r["command"][2:] == ["", "ü€😀", "\\xed\\xa0\\x80", "\"quoted\"",
	    "\\back", "a\nb\tc", "\x1b[31m"] and
	    r["budget"] == "k\\xff\"\n\\"'
	in_jq
}

@test "the report has the command as it was typed, and no key" {
	printf '#!/bin/sh\nprintf "%%s\\n" "$@"\n' >curl
	chmod +x curl
	ends 0 --report r.json --http --idempotency-key s3cret -- \
	    timeout 20 ./curl -q -d x URL --next URL
	report 'r["command"] == ["timeout", "20", "./curl", "-q", "-d", "x",
	    "URL", "--next", "URL"]'
	[ "$(grep -c -- --dump-header out)" -eq 2 ]
	run ! grep -q s3cret r.json err out
}

@test "a report of many and long words is whole" {
	local words
	mapfile -t words < <(seq 5000)
	ends 0 --report r.json true "${words[@]}" "$(printf '%0100000d' 7)"
	report 'len(r["command"]) == 5002 and len(r["command"][-1]) == 100000'
}

@test "a report to - is a line of its own on standard error, at the end" {
	ends 7 --report - -n 2 sh -c 'echo out; echo err >&2; exit 7'
	[ "$(cat out)" = $'out\nout' ]
	[ "$(lines err)" -eq 5 ]
	sed -n '1,4p' err | grep -c '^{' | grep -qx 0
	tail -n 1 err >r.json
	report 'r["reason"] == "attempts" and len(a) == 2'
	rm r.json
	only
}

@test "a report to - is written under -q too, and alone" {
	ends 7 --report - -q "${fails[@]}"
	report @err 'r["status"] == 7'
}

@test "a report to - is written under -E too, on success alone" {
	ends 0 --report - -E sh -c 'echo err >&2; [ "$RETRY_ATTEMPT" = 2 ]'
	cp err success.json
	ends 7 --report - -E sh -c 'echo err >&2; exit 7'
	[ "$(head -n 1 err)" = err ]
	grep '^{' err >r.json
	report @success.json 'r["status"] == 0 and len(a) == 2' \
	    @r.json 'r["status"] == 7'
}

@test "a long report to a pipe is whole, however slow the reader" {
	cat >slow.py <<-'END'
		import os, time
		while True:
		    some = os.read(0, 500)
		    if not some:
		        break
		    os.write(1, some)
		    time.sleep(0.002)
	END
	timeout -s KILL 60 "$RETRY" --report - -q -d 0 -n 120 "${fails[@]}" x \
	    "$(printf '%0100000d' 7)" 2>&1 >out 3>&- |
	    timeout -s KILL 60 "$PYTHON" -IS slow.py >all 3>&- || :
	report @all 'len(a) == 100 and r["attempts_omitted"] == 20'
}

@test "retry does not wait for ever for a reader of a report to -" {
	mkfifo pipe
	exec 5<>pipe
	local got=0
	timeout --foreground -s KILL 30 "$RETRY" --report - -n 1 sh -c 'exit 3' x \
	    "$(printf '%0100000d' 7)" 2>pipe 5>&- 3>&- || got=$?
	exec 5>&-
	[ "$got" -eq 3 ]
}

# choke PIPE: makes a pipe of this name that is full and that nobody reads. It
# stays open, so that there is somebody who could.
choke()
{
	local open
	mkfifo "$1"
	exec {open}<>"$1"
	: "$open"
	dd if=/dev/zero bs=4096 count=64 oflag=nonblock of="$1" 2>/dev/null || :
}

# The attempts are over: ./began says that there was one.
over()
{
	[ -e began ] && childless
}

# dies_in WAIT READY ERR STATUS [OPTION]...: each signal that ends a series ends
# retry in a wait that is reached when READY succeeds, and that comes after an
# attempt with this STATUS; ERR is its standard error. No hook runs then.
dies_in()
{
	local what=$1 ready=$2 err=$3 exit=$4 number=0 out=out held='' name
	shift 4
	[[ $what != 'held output' ]] || out=full held='echo out; '
	[[ $what != 'held errors' ]] || held='echo err >&2; '
	for name in HUP:129 INT:130 QUIT:131 TERM:143; do
		rm -f began hooked
		start sh -c 'out=$1 err=$2; shift 2; exec "$@" >>"$out" 2>"$err"' \
		    sh "$out" "$err" "$RETRY" "$@" -- \
		    sh -c "$held"': >began; exit "$1"' sh "$exit"
		wait_for eval "$ready"
		kill "-${name%:*}" "$pid"
		ended
		[ "$status" -eq "${name#*:}" ] || {
			echo "$what, ${name%:*}: status $status"
			return 1
		}
		[[ $what == *hook* ]] || [ ! -e gave-up ]
		((++number))
	done
	[ "$number" -eq 4 ]
}

# bats test_tags=slow
@test "HUP, INT, QUIT and TERM end retry in each wait at the end" {
	local gave_up=(--on-give-up 'touch gave-up')
	choke full
	dies_in 'a delay' over err 3 "${gave_up[@]}" -d 60 -j none
	dies_in 'a report' over err 3 "${gave_up[@]}" -n 1 --report full
	dies_in 'metrics' over err 3 "${gave_up[@]}" -n 1 --metrics full
	dies_in 'a report of a success' over err 0 "${gave_up[@]}" --report full
	dies_in 'a report to -' over full 3 "${gave_up[@]}" -n 1 -q --report -
	dies_in 'lines before a report' over full 3 "${gave_up[@]}" -n 1 \
	    --report -
	dies_in 'a report after -E' over full 3 "${gave_up[@]}" -n 1 -E \
	    --report -
	dies_in 'a hook' '[ -e hooked ]' err 3 -n 1 \
	    --on-give-up 'touch hooked; sleep 30; touch gave-up'
	dies_in 'a deaf hook' '[ -e hooked ]' err 3 -n 1 \
	    --on-give-up 'trap "" TERM; touch hooked; sleep 30; touch gave-up'
}

# bats test_tags=slow
@test "HUP, INT, QUIT and TERM end retry while what it holds is delivered" {
	choke full
	dies_in 'held output' over err 0 -q -O --on-give-up 'touch gave-up'
	dies_in 'held errors' over full 3 -q -n 1 -E --on-give-up 'touch gave-up'
}

# bats test_tags=slow
@test "HUP, INT, QUIT and TERM end retry while its last lines wait" {
	local name
	choke full
	# They wait for 100 ms only: each wait but the first begins later.
	inject ppoll:delay_enter=400000:when=2+
	for name in HUP:129 INT:130 QUIT:131 TERM:143; do
		rm -f began
		start sh -c 'exec "$@" 2>full' sh "${inject[@]}" "$RETRY" -n 1 -- \
		    sh -c 'echo "$PPID" >began; exit 3'
		wait_for test -s began
		wait_for barren "$(<began)"
		kill "-${name%:*}" "$(<began)"
		ended
		[ "$status" -eq "${name#*:}" ]
	done
}

@test "a signal while nobody reads the report is in the metrics" {
	choke full
	start "$RETRY" --report full --metrics m.prom -n 1 sh -c ': >began; exit 3'
	wait_for over
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	told "retry: cannot write report 'full': Interrupted system call"
	metrics 'm["retry_reason"][0]["reason"] == "interrupted" and
	    m["retry_exit_status"][1] == 143 and m["retry_attempts"][1] == 1'
}

@test "signals that end nothing do not end the wait for a reader" {
	choke full
	start "$RETRY" --report full -n 1 sh -c ': >began; exit 3'
	wait_for over
	kill -USR1 "$pid"
	kill -WINCH "$pid"
	ended
	[ "$status" -eq 3 ]
	told "retry: cannot write report 'full': Connection timed out"
}

@test "a report goes to a descriptor by its name, after the command's output" {
	local name count=0
	for name in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
		ends 7 --report "$name" -n 1 -q sh -c 'echo hello; exit 7'
		[ "$(head -n 1 out)" = hello ]
		count=$((count + 1))
		tail -n 1 out >"$count.json"
	done
	is 7 sh -c '"$@" 4>fd4' sh "$RETRY" -q --report /dev/fd/4 -n 1 \
	    "${fails[@]}"
	# What follows it in the same file does not overwrite it.
	sh -c '{ "$@"; echo after; } >both' sh "$RETRY" --report /dev/stdout true
	[ "$(tail -n 1 both)" = after ]
	head -n 1 both >r.json
	report 'r["status"] == 0' @fd4 'r["status"] == 7' \
	    @1.json 'r["status"] == 7' @2.json 'r["status"] == 7' \
	    @3.json 'r["status"] == 7'
}

@test "a report to a closed descriptor is refused" {
	ends 0 --report /dev/fd/8 true
	says "cannot write report '/dev/fd/8': Bad file descriptor"
	# Those that retry has for itself are none either.
	local fd
	for fd in {10..20}; do
		ends 0 --report "/dev/fd/$fd" true
		says "cannot write report '/dev/fd/$fd': Bad file descriptor"
	done
}

@test "a report to a FIFO reaches its reader, and the FIFO stays" {
	mkfifo pipe
	exec 9<>pipe # there is a reader from now on
	ends 0 --report pipe --metrics pipe true
	head -n 1 <&9 >r.json
	report 'r["status"] == 0'
	[ -p pipe ]
}

@test "a FIFO without a reader is a warning, without a wait" {
	mkfifo pipe
	ends 0 --report pipe --metrics pipe true
	says "cannot write report 'pipe': No such device or address"
	says "cannot write metrics 'pipe': No such device or address"
	[ -p pipe ]
	only pipe
}

@test "a device is written to and not replaced" {
	ln -s /dev/null null
	ln -s /dev/full full
	ends 0 --report null --metrics null true
	[ ! -s err ]
	ends 0 --report full --metrics full true
	says "cannot write report 'full': No space left on device"
	says "cannot write metrics 'full': No space left on device"
	[ "$(readlink null)" = /dev/null ]
	[ "$(readlink full)" = /dev/full ]
	only full null
}

@test "a full standard error changes nothing" {
	is 7 sh -c 'exec "$@" 2>/dev/full' sh "$RETRY" --report - -d 0 \
	    "${fails[@]}"
	is 0 sh -c 'exec "$@" 2>/dev/full' sh "$RETRY" --report - true
	is 0 sh -c 'exec "$@" 2>&-' sh "$RETRY" --report - true
}

@test "a report that cannot be written is a warning, and changes no status" {
	local what file
	echo x >file
	mkdir dir
	while read -r file what; do
		ends 7 --report "$file" --metrics "$file" -n 1 "${fails[@]}"
		says "cannot write report '$file': $what"
		says "cannot write metrics '$file': $what"
		ends 0 --report "$file" true
		says "cannot write report '$file': $what"
		ends 0 -q --report "$file" --metrics "$file" true
		says "cannot write report '$file': $what"
		says "cannot write metrics '$file': $what"
		ends 0 -E --report "$file" sh -c 'echo held >&2'
		says "cannot write report '$file': $what"
		[ "$(lines err)" -eq 1 ]
	done <<-END
		nowhere/r.json No such file or directory
		file/r.json Not a directory
		dir Is a directory
		dir/ Is a directory
		$(printf '%0300d' 0) $(why "$(printf '%0300d' 0)")
	END
	# Such a name is cut in the warning.
	ends 0 --report "$(printf '%04096d' 0)/r" true
	grep -qE "^retry: cannot write report '0{999}.*: File ?name too long$" err
	[ "$(cat file)" = x ]
	only dir file
	[ -z "$(ls -A dir)" ]
}

@test "in JSON it is a warning that a report cannot be written, under -q too" {
	ends 0 -q --log-format json --report nowhere/r.json true
	"$PYTHON" -IS -c 'import json, sys
[line] = sys.stdin
x = json.loads(line)
assert x["level"] == "warning", x
assert x["message"].startswith("cannot write report"), x' <err
}

# Sets the array as to what runs a command as somebody who may not do anything;
# ./dir is his, and he has a copy of the program, ./retry.
powerless()
{
	as=(env)
	mkdir -p dir
	cp "$RETRY" retry
	chmod 755 . retry
	[ "$EUID" = 0 ] || return 0
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	"${as[@]}" true 2>/dev/null || skip 'no setpriv that works here'
	chown -R 65534:65534 dir
}

@test "in a directory that is not writable a writable file is written in place" {
	local inode
	powerless
	printf '%0100000d\n' 7 >dir/r.json
	cp dir/r.json dir/m.prom
	chmod 646 dir/*
	chmod 555 dir
	inode=$(stat -c %i dir/r.json dir/m.prom)
	is 7 "${as[@]}" ./retry -q --report dir/r.json --metrics dir/m.prom -n 1 \
	    "${fails[@]}"
	chmod 755 dir
	[ ! -s err ]
	report @dir/r.json 'r["status"] == 7'
	metrics @dir/m.prom 'm["retry_exit_status"][1] == 7'
	[ "$(stat -c %i dir/r.json dir/m.prom)" = "$inode" ]
	[ "$(stat -c %a dir/r.json dir/m.prom)" = $'646\n646' ]
	[ "$(ls -A dir)" = $'m.prom\nr.json' ]
}

@test "where neither directory nor file is writable an old report stays" {
	powerless
	echo old >dir/r.json
	chmod 444 dir/r.json
	chmod 555 dir
	is 7 "${as[@]}" ./retry -d 0 --report dir/r.json -n 1 "${fails[@]}"
	is 0 "${as[@]}" ./retry --report dir/new.json true
	chmod 755 dir
	says "cannot write report 'dir/r.json': Permission denied"
	says "cannot write report 'dir/new.json': Permission denied"
	[ "$(cat dir/r.json)" = old ]
	[ "$(ls -A dir)" = r.json ]
}

@test "a file of somebody else's in a shared directory is not written in place" {
	[ "$EUID" = 0 ] || skip 'not root'
	powerless
	chown 0 dir
	chmod 1777 dir
	echo old >dir/r.json
	chmod 666 dir/r.json
	chown 1234 dir/r.json
	is 0 "${as[@]}" ./retry --report dir/r.json true
	says "cannot write report 'dir/r.json': Operation not permitted"
	[ "$(cat dir/r.json)" = old ]
}

# mounted COMMAND [RETRY'S WORD]...: retry's status is in ./status, where ./place
# is what COMMAND, a line for sh, has mounted or made of it
mounted()
{
	isolate -m
	mkdir -p place
	echo 99 >status
	"${isolate[@]}" sh -c "$1"' || exit 77
		shift; "$@" 2>err; echo "$?" >status
		cp place/r.json seen; cp place/m.prom seen.prom
		ls -A place >listing' sh "$@" || skip 'no right to mount here'
}

@test "a file that is a mount point is written in place" {
	printf '%0100000d\n' 7 >there
	cp there there.prom
	mounted ': >place/r.json && : >place/m.prom &&
		mount --bind there place/r.json &&
		mount --bind there.prom place/m.prom' \
	    "$RETRY" --report place/r.json --metrics place/m.prom -n 1 "${fails[@]}"
	[ "$(<status)" = 7 ]
	[ "$(grep -c 'cannot write' err)" -eq 0 ]
	report @there 'r["status"] == 7'
	metrics @there.prom 'm["retry_exit_status"][1] == 7'
	cmp there seen
	cmp there.prom seen.prom
	[ "$(<listing)" = $'m.prom\nr.json' ]
}

@test "a file that is mounted on a read-only system is written in place" {
	echo old >there
	mounted 'mount -t tmpfs none place && : >place/r.json &&
		: >place/m.prom && mount --bind there place/r.json &&
		mount -o remount,ro place' \
	    "$RETRY" -q --report place/r.json --metrics place/m.prom true
	[ "$(<status)" = 0 ]
	report @there 'r["status"] == 0'
	says "cannot write metrics 'place/m.prom': Read-only file system"
	[ "$(lines err)" -eq 1 ]
}

@test "in place a file without room for the new report keeps the old one" {
	mkdir -p system
	mounted 'mount -t tmpfs -o size=64k none system && echo old >system/file &&
		: >place/r.json && : >place/m.prom &&
		mount --bind system/file place/r.json &&
		head -c 58k /dev/zero >system/zeros' \
	    "$RETRY" -q --report place/r.json true "$(printf '%0100000d' 7)"
	[ "$(<status)" = 0 ]
	says "cannot write report 'place/r.json': No space left on device"
	[ "$(<seen)" = old ]
}

@test "in place a file that may not grow keeps the old report" {
	echo old >there
	mounted ': >place/r.json && : >place/m.prom &&
		mount --bind there place/r.json' \
	    sh -c 'exec 3>&2; (ulimit -f 0; exec "$@" 2>&1 >/dev/null) |
		cat >said' sh "$RETRY" -q --report place/r.json true
	[ "$(<said)" = "retry: cannot write report 'place/r.json': File too large" ]
	[ "$(<there)" = old ]
}

@test "a file that may not grow is a warning, and an old report stays" {
	echo old >r.json
	echo old >m.prom
	is 7 sh -c '(ulimit -f 0; exec "$@") 2>&1 | cat >said
		exit 7' sh "$RETRY" --report r.json --metrics m.prom -n 1 \
	    "${fails[@]}"
	cp said err
	says "cannot write report 'r.json': File too large"
	says "cannot write metrics 'm.prom': File too large"
	[ "$(cat r.json m.prom)" = $'old\nold' ]
	only m.prom r.json said
}

@test "a report replaces an old one atomically" {
	echo old >r.json
	ln r.json link
	ends 0 --report r.json true
	[ "$(cat link)" = old ]
	report 'r["status"] == 0'
	rm link
	only r.json
}

@test "of a symbolic link the file is replaced, and the link stays" {
	mkdir dir
	echo old >dir/r.json
	chmod 600 dir/r.json
	ln dir/r.json hard
	ln -s r.json dir/second
	ln -s "$PWD/dir/second" r.json
	ln -s dir/m m.prom
	ends 0 --report r.json --metrics m.prom true
	[ ! -s err ]
	[ "$(readlink r.json) $(readlink dir/second)" = "$PWD/dir/second r.json" ]
	[ "$(readlink m.prom)" = dir/m ]
	[ ! -L dir/r.json ]
	report @dir/r.json 'r["status"] == 0'
	[ "$(stat -c %a dir/r.json)" = 600 ]
	metrics @dir/m 'm["retry_success"][0]["name"] == "m"'
	[ "$(cat hard)" = old ]
	[ "$(ls -A dir)" = $'m\nr.json\nsecond' ]
	only dir hard m.prom r.json
}

@test "links that lead nowhere are a warning, and stay" {
	ln -s loop loop
	ln -s nowhere/r.json link
	ends 0 --report loop --metrics link true
	says "cannot write report 'loop': $(why ./loop)"
	says "cannot write metrics 'link': No such file or directory"
	[ "$(readlink loop) $(readlink link)" = 'loop nowhere/r.json' ]
	only link loop
}

@test "a link to a descriptor's name leads to that descriptor" {
	ln -s /dev/stdout link
	ends 0 --report link -q echo before
	[ "$(head -n 1 out)" = before ]
	tail -n 1 out >r.json
	report 'r["status"] == 0'
	[ "$(readlink link)" = /dev/stdout ]
}

@test "a pipe by its name in another process's part of /proc is written to" {
	exec 7> >(exec cat >r.json 3>&-)
	ends 0 --report "/proc/$BASHPID/fd/7" true
	exec 7>&-
	wait_for report 'r["status"] == 0'
}

@test "a link that somebody else has left in a shared directory is not followed" {
	[ "$EUID" = 0 ] || skip 'not root'
	mkdir shared
	chmod 1777 shared
	echo old >precious
	ln -s ../precious shared/r.json
	ends 0 --report shared/r.json true
	report @precious 'r["status"] == 0'
	chown -h 65534 shared/r.json
	echo old >precious
	ends 0 --report shared/r.json true
	says "cannot write report 'shared/r.json': Permission denied"
	[ "$(cat precious)" = old ]
	only precious shared
}

@test "a report has the mode of the old one, or what the umask leaves" {
	(umask 027 && ends 0 --report r.json true)
	[ "$(stat -c %a r.json)" = 640 ]
	chmod 600 r.json
	ends 0 --report r.json true
	[ "$(stat -c %a r.json)" = 600 ]
	report 'r["status"] == 0'
}

@test "a report in another directory is written beside its name there" {
	mkdir dir
	ends 0 --report dir/r.json --metrics "$PWD/dir/m.prom" true
	report @dir/r.json 'r["status"] == 0'
	metrics @dir/m.prom 'm["retry_success"][1] == 1'
	[ "$(ls -A dir)" = $'m.prom\nr.json' ]
	only dir
}

@test "a temporary file has a name that no collector reads" {
	strace -o trace true 2>/dev/null || skip 'no strace here that works'
	is 0 strace -o trace -e trace=rename,renameat,renameat2 "$RETRY" \
	    --report r.json --metrics m.prom true
	grep -qE 'rename.*"\.retry-[0-9a-f-]{36}\.tmp".*"r\.json"' trace
	grep -qE 'rename.*"\.retry-[0-9a-f-]{36}\.tmp".*"m\.prom"' trace
}

# Starts four at a time that write ./r.json and ./m.prom; their status tells
# how many attempts each of them makes.
writers()
{
	start sh -c 'for i in 1 2 3 4 5; do
			for j in 1 2 3 4; do
				"$RETRY" --report r.json --metrics m.prom -q \
				    -d 0 -n $((1 + 20 * j)) sh -c "exit $j" &
			done
			wait
		done'
}

@test "invocations that write one report at once never tear it" {
	ends 1 --report r.json --metrics m.prom -n 21 false
	writers
	WHILE=$pid report 'len(a) == 1 + 20 * r["status"]' 3>&- &
	WHILE=$pid metrics 'm["retry_attempts"][1] ==
	    1 + 20 * m["retry_exit_status"][1]'
	wait "$!"
	ended
	report 'len(a) == 1 + 20 * r["status"]'
	only m.prom r.json
}

@test "the metrics of a success are what Prometheus reads" {
	local before
	before=$(date +%s)
	ends 0 --metrics m.prom true
	metrics 'list(m) == ["retry_attempts", "retry_success",
	    "retry_exit_status", "retry_duration_seconds",
	    "retry_delay_seconds", "retry_last_run_timestamp_seconds",
	    "retry_reason"]' \
	    'all(m[k][0]["name"] == "m" for k in m) and
	    all(list(m[k][0]) == ["name"] for k in m if k != "retry_reason")' \
	    'm["retry_attempts"][1] == m["retry_success"][1] == 1 and
	    m["retry_exit_status"][1] == 0 and
	    0 < m["retry_duration_seconds"][1] < 60 and
	    m["retry_delay_seconds"][1] == 0 and
	    m["retry_reason"] == ({"name": "m", "reason": "succeeded"}, 1)' \
	    "$before - 1 <= m['retry_last_run_timestamp_seconds'][1] <=
	    $(date +%s) + 1"
	[ ! -s err ]
	only m.prom
}

@test "the metrics of a failure tell its status, reason and times" {
	ends 7 --metrics m.prom -n 3 -d 30ms -j none "${fails[@]}"
	ends 143 --metrics killed.prom -n 1 sh -c 'kill $$'
	metrics 'm["retry_attempts"][1] == 3 and m["retry_success"][1] == 0 and
	    m["retry_exit_status"][1] == 7 and
	    0.09 <= m["retry_delay_seconds"][1] <=
	    m["retry_duration_seconds"][1] and
	    m["retry_reason"][0]["reason"] == "attempts"' \
	    @killed.prom 'm["retry_exit_status"][1] == 143'
}

@test "the report and each metric have the label" {
	ends 7 --report r.json --metrics m.prom --label 'a "b", ü' -n 1 "${fails[@]}"
	report 'r["label"] == "a \"b\", ü"'
	metrics 'all(m[k][0]["label"] == r"""a \"b\", ü""" for k in m) and
	    m["retry_reason"][0]["reason"] == "attempts"'
}

@test "the metrics count a success of another status as one" {
	ends 0 --metrics m.prom --success-on 1 false
	ends 1 --metrics kept.prom --keep-status --success-on 1 false
	metrics 'm["retry_success"][1] == 1 and m["retry_exit_status"][1] == 0' \
	    @kept.prom 'm["retry_success"][1] == 1 and
	    m["retry_exit_status"][1] == 1'
}

@test "metrics have mode 0644 whatever the umask and the file before" {
	(umask 077 && ends 0 --metrics m.prom true)
	[ "$(stat -c %a m.prom)" = 644 ]
	chmod 600 m.prom
	ends 0 --metrics m.prom true
	[ "$(stat -c %a m.prom)" = 644 ]
}

@test "metrics replace old ones atomically" {
	echo old >m.prom
	ln m.prom link
	ends 0 --metrics m.prom true
	[ "$(cat link)" = old ]
	metrics 'm["retry_success"][1] == 1'
}

@test "the label of metrics is the file's name without .prom" {
	local file label all=()
	mkdir a.prom
	while read -r file label; do
		ends 0 --metrics "$file" true
		all+=("@$file" "m['retry_success'][0]['name'] == r'''$label'''")
	done <<-'END'
		backup.prom backup
		backup backup
		a.prom/b.prom b
		a.prom/.prom .prom
		./a.b.prom a.b
		c.prom.txt c.prom.txt
		q"uo\te.prom q\"uo\\te
		ü.prom ü
	END
	ends 0 --metrics $'n\nl\xff.prom' true
	metrics "${all[@]}" \
	    $'@n\nl\xff.prom' 'm["retry_success"][0]["name"] == r"n\nl\\xff"'
}

@test "a report and metrics can be written together, and agree" {
	ends 7 --report r.json --metrics m.prom -n 2 "${fails[@]}"
	report 'r["attempt_count"] == 2'
	metrics 'm["retry_attempts"][1] == 2'
	only m.prom r.json
}

@test "a command that could not be run is reported" {
	echo hello >input
	run -125 "$RETRY" -q -I --stdin-max 1 --report r.json \
	    --metrics m.prom true < <(cat input)
	metrics 'm["retry_success"][1] == 0' ||
		grep -q '^retry_success{.*} 0$' m.prom
	run -69 "$RETRY" -q -B api --budget-required --budget-dir "$PWD/none" \
	    --report unusable.json true
	report 'r["reason"] == "internal" and r["status"] == 125 and a == []' \
	    @unusable.json 'r["reason"] == "internal" and r["status"] == 69 and
	    a == []'
}

@test "a delay that was interrupted is reported with its real length" {
	run -1 "$RETRY" -q -n 2 -T 1 -d 200ms -j none --on-retry 'sleep 30' \
	    --report r.json false
	report 'r["reason"] == "deadline" and a[0]["slept_ms"] >= 900'
}
