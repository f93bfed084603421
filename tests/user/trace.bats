#!/usr/bin/env bats
# Covers report/report, attempt/environment.
# --trace: the spans of an invocation and of its attempts, and the variables by
# which commands and nested retries continue the trace.
# shellcheck disable=SC2016,SC2030,SC2031 # the rows and the shells expand
# shellcheck disable=SC2154 # start sets pid, ended sets status

load helper
load actor

setup()
{
	helper_setup
	unset TRACEPARENT TRACESTATE OTEL_SERVICE_NAME OTEL_RESOURCE_ATTRIBUTES
	mkdir budgets
	export RETRY_BUDGET_DIR=$PWD/budgets
}

trace_id=4bf92f3577b34da6a3ce929d0e0e4736
span_id=00f067aa0ba902b7
parent=00-$trace_id-$span_id-01

# The attempts of this command tell the variables of the trace, and fail.
tells=(sh -c 'echo "${TRACEPARENT-none} ${TRACESTATE-none}"; exit 7')

# traces STATUS [OPTION]... COMMAND...: so ends retry with --trace t and without
# delays. What it writes is in ./out and ./err.
traces()
{
	local want=$1
	shift
	: >out
	: >err
	is "$want" "$RETRY" -d 0 --trace t "$@"
}

# spans [@FILE|CODE]...: each line of the FILE before, ./t without one, is an
# ExportTraceServiceRequest as the JSON encoding of OTLP has it, and Python's
# CODE holds. t has the lines, each with a resource, an invocation and its
# attempts; i and a are those of the last line, told the lines in ./out.
spans()
{
	"$PYTHON" -IS - "$@" <<-'END'
		import json, os, re, sys
		class Span(dict):
		    __getattr__ = dict.__getitem__
		def unique(pairs):
		    assert len(dict(pairs)) == len(pairs), pairs
		    return dict(pairs)
		def has(got, *keys, may=()):
		    assert set(keys) <= set(got) <= {*keys, *may}, got
		def number(text):
		    assert type(text) is str and re.fullmatch("0|[1-9][0-9]*", text)
		    assert int(text) < 2 ** 63
		    return int(text)
		def text(text):
		    assert type(text) is str
		    return text
		def truth(value):
		    assert type(value) is bool
		    return value
		kinds = dict(intValue=number, stringValue=text, boolValue=truth)
		def attributes(pairs):
		    for pair in pairs:
		        has(pair, "key", "value")
		        assert len(pair["value"]) == 1 and pair["key"]
		    return unique([(pair["key"], kinds[kind](value))
		                   for pair in pairs
		                   for kind, value in pair["value"].items()])
		def span(s):
		    has(s, "traceId", "spanId", "name", "kind", "startTimeUnixNano",
		        "endTimeUnixNano", "attributes",
		        may=("parentSpanId", "traceState", "status"))
		    assert re.fullmatch("[0-9a-f]{32}", s["traceId"]), s
		    for id in (s["spanId"], s.get("parentSpanId", s["spanId"])):
		        assert re.fullmatch("[0-9a-f]{16}", id), s
		    assert s["kind"] == 1 and type(s["kind"]) is int
		    if "status" in s:
		        has(s["status"], "code", "message")
		        assert s["status"]["code"] == 2
		    began = number(s["startTimeUnixNano"])
		    ended = number(s["endTimeUnixNano"])
		    assert began <= ended
		    return Span(trace=s["traceId"], id=s["spanId"], name=s["name"],
		                parent=s.get("parentSpanId"), began=began,
		                ended=ended, state=s.get("traceState"),
		                error=s.get("status", {}).get("message"),
		                **attributes(s["attributes"]))
		def line(text):
		    request = json.loads(text.decode("utf-8", "strict"),
		                         object_pairs_hook=unique)
		    has(request, "resourceSpans")
		    [r] = request["resourceSpans"]
		    has(r, "resource", "scopeSpans")
		    has(r["resource"], "attributes")
		    [s] = r["scopeSpans"]
		    has(s, "scope", "spans")
		    has(s["scope"], "name", "version")
		    assert s["scope"]["name"] == "retry"
		    first, *rest = map(span, s["spans"])
		    assert len({x.id for x in (first, *rest)}) == 1 + len(rest)
		    for x in rest:
		        assert x.parent == first.id and x.trace == first.trace
		        assert first.began <= x.began and x.ended <= first.ended
		        assert x.state == first.state
		    return Span(resource=attributes(r["resource"]["attributes"]),
		                invocation=first, attempts=rest,
		                version=s["scope"]["version"])
		def read(file):
		    text = open(file, "rb").read()
		    assert text.endswith(b"\n"), text
		    t = [line(x) for x in text[:-1].split(b"\n")]
		    told = [x.split(" ") for x in open("out").read().splitlines()] \
		        if os.path.exists("out") else []
		    return dict(globals(), t=t, i=t[-1].invocation,
		                a=t[-1].attempts, told=told)
		names = None
		for word in sys.argv[1:]:
		    if word[0] == "@":
		        names = read(word[1:])
		        continue
		    names = names or read("t")
		    assert eval("(" + word + ")", names), \
		        word + "\n" + json.dumps(names["t"][-1], indent=1)
	END
}

says()
{
	grep -qxF -e "retry: $1" err || {
		cat err
		return 1
	} >&2
}

@test "a trace has a span for the invocation and one for each attempt, with every field" {
	local before after
	before=$(date +%s%N)
	rm -f status
	traces 22 -n 3 -d 30ms -j none -B api --http-status status sh -c '
		sleep 0.02
		echo 503 >status
		exit 22'
	after=$(date +%s%N)
	spans 'set(i) == {"trace", "id", "name", "parent", "began", "ended",
	    "state", "error", "process.executable.name", "process.exit.code",
	    "retry.reason", "retry.attempt_count", "retry.budget.key"}' \
	    'set(a[1]) == {"trace", "id", "name", "parent", "began", "ended",
	    "state", "error", "process.executable.name", "process.exit.code",
	    "retry.attempt", "retry.verdict", "retry.delay_ms",
	    "retry.budget_exhausted", "http.response.status_code",
	    "http.request.resend_count"}' \
	    'i.name == "retry sh" and i.parent is i.state is None and
	    i.error == "attempts exhausted" and
	    i["process.executable.name"] == "sh" and
	    i["process.exit.code"] == 22 and i["retry.reason"] == "attempts" and
	    i["retry.attempt_count"] == 3 and i["retry.budget.key"] == "api"' \
	    'all(x.name == x["process.executable.name"] == "sh" and
	    x["process.exit.code"] == 22 and x.error == "exit 22" and
	    x["retry.verdict"] == "retry" and
	    x["retry.budget_exhausted"] is False and
	    x["http.response.status_code"] == 503 and x.state is None for x in a)' \
	    '[x["retry.attempt"] for x in a] == [1, 2, 3]' \
	    '[x.get("retry.delay_ms") for x in a] == [30, 60, None]' \
	    '[x.get("http.request.resend_count") for x in a] == [None, 1, 2]' \
	    "$before <= i.began and i.ended <= $after" \
	    'all(x.ended - x.began >= 20e6 for x in a) and
	    a[1].began - a[0].ended >= 30e6 and a[2].began - a[1].ended >= 60e6' \
	    'len(t) == 1 and
	    t[0].resource == {"service.name": "retry"}' \
	    "'retry ' + t[0].version == '$("$RETRY" --version | head -n 1)'"
}

@test "an error has the reason, or how the attempt ended, and nothing an attribute without a value" {
	local status message reason options count=2 wanted=()
	traces 0 true
	[ ! -s err ]
	traces 0 --consecutive 2 true
	while IFS=: read -r status message reason options; do
		# shellcheck disable=SC2086 # words
		traces "$status" $options
		wanted+=("(t[$count].attempts[-1].error,
		    t[$count].invocation.error,
		    t[$count].invocation['process.exit.code']) ==
		    ('$message', '$reason', $status)")
		((++count))
	done <<-'END'
		1:exit 1:attempts exhausted:-n 2 false
		1:exit 0:attempts exhausted:-n 1 --fail-on 0 true
		1:exit 1:stop rule:--stop-on 1 false
		137:killed by SIGKILL:attempts exhausted:-n 1 sh -c kill${IFS}-KILL${IFS}$$
		124:timed out:attempts exhausted:-n 1 -t 50ms sleep 60
		124:ended without output:attempts exhausted:-n 1 --idle-timeout 50ms sleep 60
		124:ended by the deadline:deadline:-T 400ms sleep 60
		127:not started:not executable:./nowhere
	END
	[ "$count" -eq 10 ]
	traces 7 -B api --budget-min 1 --budget-ratio 0 sh -c 'exit 7'
	is 7 "$RETRY" -n 1 -B web --breaker 1,60s sh -c 'exit 7'
	traces 75 -B web --breaker 1,60s true
	spans "${wanted[@]}" 't[5].attempts[0]["process.exit.code"] == 137' \
	    't[0].invocation.error is None and
	    t[0].invocation["retry.reason"] == "succeeded" and
	    t[0].invocation["process.exit.code"] == 0 and
	    "retry.budget.key" not in t[0].invocation' \
	    'set(t[0].attempts[0]) == {"trace", "id", "name", "parent", "began",
	    "ended", "state", "error", "process.executable.name",
	    "process.exit.code", "retry.attempt", "retry.verdict",
	    "retry.budget_exhausted"}' \
	    '[x["retry.verdict"] for x in t[0].attempts + t[1].attempts] ==
	    ["done", "repeat", "done"] and
	    not any(x.error for x in t[0].attempts + t[1].attempts)' \
	    '[x["retry.budget_exhausted"] for x in t[10].attempts] == [False, True]
	    and t[10].invocation["retry.reason"] == "budget" and
	    t[10].invocation["retry.budget.key"] == "api"' \
	    'a == [] and i["retry.reason"] == "breaker" and
	    i["retry.attempt_count"] == 0'
}

@test "the attempts of a trace are those that are kept, with what is asked again" {
	rows row eval <<-'END'
	an HTTP request after a success is not the same request again
	    traces 0 -n 7 --consecutive 2 --http-status status sh -c '
	        case $RETRY_ATTEMPT in 1 | 2 | 4) echo 503 ;; *) echo 200 ;; esac >status'
	    spans '[x["http.response.status_code"] for x in a] ==
	        [503, 503, 200, 503, 200, 200]' \
	        '[x.get("http.request.resend_count") for x in a] ==
	        [None, 1, 2, None, 1, None]'
	of 102 attempts the first 10 and the last 90
	    traces 1 -n 102 -q --http-status status sh -c 'echo 503 >status'
	    spans '[x["retry.attempt"] for x in a] ==
	        [*range(1, 11), *range(13, 103)]' 'i["retry.attempt_count"] == 102' \
	        'a[99]["http.request.resend_count"] == 101'
	a signal that ends retry
	    start "$RETRY" --trace t -d 60 -j none sh -c 'exit 7'
	    reached told '.*retrying in .*'
	    kill -TERM "$pid"
	    ended
	    [ "$status" -eq 143 ]
	    spans 'i["retry.reason"] == "interrupted" and
	        i["process.exit.code"] == 143 and len(a) == 1'
	END
}

#
# The context
#

@test "each attempt has a TRACEPARENT with its own span, below the one that is valid" {
	local bad state count=1 wanted=()
	traces 7 -n 3 "${tells[@]}"
	mv out first
	for state in a=b 'k@v=1,b= ,' '' "x=$(printf %0600d 0)"; do
		TRACEPARENT=$parent TRACESTATE=$state traces 7 -n 1 "${tells[@]}"
		wanted+=("t[$count].invocation.state ==
		    ('$state' if 0 < len('$state') < 513 else None)")
		[[ $(<out) =~ ^00-$trace_id-[0-9a-f]{16}-01' ' ]]
		[ "$(cut -d ' ' -f 2- out)" = "$state" ]
		((++count))
	done
	# What is malformed is ignored with its TRACESTATE.
	for bad in x "00-$trace_id-$span_id"; do
		TRACEPARENT=$bad TRACESTATE=a=b traces 7 -n 1 "${tells[@]}"
		[[ $(<out) =~ ^00-[0-9a-f]{32}-[0-9a-f]{16}-01\ none$ ]]
	done
	TRACESTATE=a=b traces 7 -n 1 "${tells[@]}"
	spans "${wanted[@]}" \
	    "[x.invocation.trace == '$trace_id' for x in t] ==
	    [x.invocation.parent == '$span_id' for x in t] ==
	    [x not in '0567' for x in '01234567']" \
	    'all((x.invocation.parent, x.invocation.state) == (None, None)
	    for x in [t[0]] + t[5:])' 'len({x.invocation.trace for x in t}) == 5' \
	    'len({x.invocation.id for x in t}) == len(t) == 8' \
	    'told == [["00-%s-%s-01" % (a[0].trace, a[0].id), "none"]]' \
	    '[x.split() for x in open("first")] ==
	    [["00-%s-%s-01" % (x.trace, x.id), "none"] for x in t[0].attempts]'
}

@test "of two TRACEPARENT the first one counts, and the command gets one" {
	cat >twice.py <<-'END'
		import ctypes, os, sys
		def array(words):
		    words = [os.fsencode(word) for word in words]
		    return (ctypes.c_char_p * (len(words) + 1))(*words, None)
		variables = ["PATH=" + os.environ["PATH"], *sys.argv[1:4]]
		ctypes.CDLL(None).execve(os.fsencode(sys.argv[4]),
		                         array(sys.argv[4:]), array(variables))
	END
	local other=00-$trace_id-0000000000000001-01
	"$PYTHON" -IS twice.py "TRACEPARENT=$parent" "TRACEPARENT=$other" \
	    TRACESTATE=a=b "$RETRY" --trace t env >seen
	grep TRACEPARENT= seen >out
	[ "$(lines out)" -eq 1 ]
	spans "i.parent == '$span_id' and told ==
	    [['TRACEPARENT=00-%s-%s-01' % (a[0].trace, a[0].id)]]"
	# Without --trace the environment is untouched.
	"$PYTHON" -IS twice.py "TRACEPARENT=$parent" "TRACEPARENT=$other" \
	    TRACESTATE=a=b "$RETRY" env | grep TRACE >seen
	holds seen "TRACEPARENT=$parent" "TRACEPARENT=$other" TRACESTATE=a=b
}

@test "hooks and nested retries continue the trace, and without one nothing is written" {
	rows row eval <<-'END'
	not where it is not sampled, but it is handed on
	    local variables="00-$trace_id-$span_id-00 a=b"
	    TRACEPARENT=${variables% *} TRACESTATE=a=b traces 7 -n 2 "${tells[@]}"
	    holds out "$variables" "$variables"
	    [ ! -e t ]
	    TRACEPARENT=${variables% *} is 0 "$RETRY" --trace nowhere/t true
	    [ "$(grep -c trace err)" -eq 0 ]
	not without --trace
	    [ "$("$RETRY" -n 1 -- "${tells[@]}" || :)" = 'none none' ]
	    TRACEPARENT=x TRACESTATE='' "$RETRY" env | grep '^TRACE' | sort >seen
	    holds seen TRACEPARENT=x TRACESTATE=
	    run ! "$RETRY" -n 1 printenv RETRY_TRACE
	a hook, that of the last attempt, or of the invocation
	    traces 7 -n 2 --on-retry 'echo "$TRACEPARENT" >>seen' \
	        --on-give-up 'echo "$TRACEPARENT" >>seen' "${tells[@]}"
	    [ "$(<seen)" = "$(cut -d ' ' -f 1 out)" ]
	    rm seen
	    traces 124 -T 0.000000001 --on-give-up 'echo "$TRACEPARENT none" >out' true
	    spans 'a == [] and told == [["00-%s-%s-01" % (i.trace, i.id), "none"]]'
	a nested retry, below the attempt that runs it
	    mkdir dir
	    traces 7 -n 2 sh -c 'cd dir && "$RETRY" -d 0 -n 2 -- sh -c "exit 7"'
	    spans 'len(t) == 3 and len({x.invocation.trace for x in t}) == 1' \
	        '[x.invocation.parent for x in t[:2]] == [x.id for x in a]' \
	        'i.parent is None and i.name == "retry sh"'
	    [ -z "$(ls dir)" ]
	END
}

#
# The resource
#

@test "the resource and the names are those of the environment and the command" {
	rows row eval <<-'END'
	OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES
	    OTEL_SERVICE_NAME=shop traces 0 true
	    OTEL_RESOURCE_ATTRIBUTES='service.name=list, team = web%2C%20%C3%BC' traces 0 true
	    [ ! -s err ]
	    OTEL_SERVICE_NAME=shop OTEL_RESOURCE_ATTRIBUTES='a=1,service.name=list' traces 0 true
	    OTEL_SERVICE_NAME='' OTEL_RESOURCE_ATTRIBUTES='service.name=' traces 0 true
	    OTEL_RESOURCE_ATTRIBUTES='a=1,b=%4' traces 0 true
	    says 'OTEL_RESOURCE_ATTRIBUTES ignored: malformed'
	    OTEL_RESOURCE_ATTRIBUTES=a OTEL_SERVICE_NAME=$'"\n\\\xff' traces 0 -q true
	    [ ! -s err ]
	    spans '[x.resource for x in t] == [{"service.name": "shop"},
	        {"service.name": "list", "team": "web, ü"},
	        {"service.name": "shop", "a": "1"}, {"service.name": "retry"},
	        {"service.name": "retry"}, {"service.name": "\"\n\\\\xff"}]'
	the last part of the command's name, cut between characters, and no argument
	    mkdir dir
	    cp "$(type -P true)" $'dir/a"\xff b'
	    traces 0 $'./dir/a"\xff b' s3cret
	    traces 126 /
	    traces 126 "$(printf %0300d 0)"
	    traces 126 "x$(printf 'é%.0s' {1..200})"
	    traces 126 "$(printf 'é%.0s' {1..200})"
	    run ! grep s3cret t
	    spans '[x.attempts[0].name for x in t] ==
	        ["a\"\\xff b", "/", "0" * 255, "x" + "é" * 127, "é" * 127]' \
	        'i.name == "retry " + "é" * 127 and
	        i["process.executable.name"] == "é" * 127'
	END
}

#
# The file
#

@test "the line is added in one write, and nothing is written before the end" {
	strace -o trace true 2>/dev/null || skip 'no strace here that works'
	[ -z "${RETRY_SAN-}" ] || skip 'the sanitizers write, too'
	echo '{"resourceSpans":[]}' >t
	OTEL_RESOURCE_ATTRIBUTES=long=$(printf '%0100000d' 7) is 7 strace -y \
	    -o trace -e trace=openat,open,write "$RETRY" -q -n 1 --trace t \
	    sh -c 'exit 7'
	[ "$(grep -c '^write(.*/t>' trace)" -eq 1 ]
	grep -q '^open.*"t", .*O_APPEND' trace
	[ "$(lines t)" -eq 2 ]
	[ "$(tail -n 1 t | wc -c)" -gt 100000 ]
	[ "$(head -n 1 t)" = '{"resourceSpans":[]}' ]
}

@test "20 that write to one file at once tear nothing" {
	local long
	long=$(printf '%0100000d' 7)
	for _ in {1..20}; do
		OTEL_RESOURCE_ATTRIBUTES=long=$long "$RETRY" -q -n 1 \
		    --trace t false 3>&- &
	done
	wait
	spans 'len(t) == len({x.invocation.trace for x in t}) == 20' \
	    'all(len(x.attempts) == 1 and len(x.resource["long"]) == 100000
	    for x in t)'
	[ "$(lines t)" -eq 20 ]
}

@test "a trace is added to the file or descriptor of that name" {
	rows row eval <<-'END'
	one is made as the umask allows, and an old one and a link stay
	    (umask 027 && traces 0 true)
	    [ "$(stat -c %a t)" = 640 ]
	    chmod 604 t
	    ln t hard
	    ln -s t link
	    is 0 "$RETRY" --trace link true
	    [ "$(readlink link) $(stat -c %a t)" = 't 604' ]
	    [ t -ef hard ]
	    ln -s dir/new dangling
	    mkdir dir
	    is 0 "$RETRY" --trace dangling true
	    spans 'len(t) == 2' @dir/new 'len(t) == 1'
	that of RETRY_TRACE, without the option, also in a policy
	    mkdir dir
	    export RETRY_TRACE=t
	    is 0 "$RETRY" sh -c 'cd dir && exec "$RETRY" true'
	    is 0 "$RETRY" --trace other true
	    echo trace=third >policy
	    is 0 "$RETRY" --policy ./policy "$RETRY" true
	    RETRY_TRACE='' is 0 "$RETRY" true
	    RETRY_TRACE=- is 0 "$RETRY" printenv RETRY_TRACE
	    [ "$(<out)" = - ]
	    spans 'len(t) == 2' @other 'len(t) == 1' @third 'len(t) == 2' \
	        @err 'len(t) == 1'
	    [ -z "$(ls dir)" ]
	standard error or another descriptor
	    mkfifo pipe
	    exec 9<>pipe
	    is 0 "$RETRY" --trace - -q true
	    is 0 "$RETRY" --trace pipe true
	    head -n 1 <&9 >piped
	    sh -c '{ echo before; "$@"; echo after; } >both' sh "$RETRY" \
	        --trace /dev/stdout true
	    [ "$(sed -n '1p;$p' both)" = $'before\nafter' ]
	    sed -n 2p both >both.json
	    spans @err 'len(a) == 1' @piped 'len(a) == 1' @both.json 'len(a) == 1'
	    [ -p pipe ]
	END
}

@test "a file that cannot be written is a warning, and changes no status" {
	local file what
	echo x >file
	mkdir dir
	ln -s /dev/full full
	ln -s loop loop
	mkfifo pipe
	while read -r file what; do
		is 7 "$RETRY" -d 0 -n 2 --trace "$file" sh -c 'exit 7'
		says "cannot write trace '$file': $what"
		: >err
		is 0 "$RETRY" -q --trace "$file" true
		says "cannot write trace '$file': $what"
		[ "$(lines err)" -eq 1 ]
	done <<-END
		nowhere/t No such file or directory
		file/t Not a directory
		dir Is a directory
		full No space left on device
		pipe No such device or address
		loop $(why ./loop)
	END
	is 0 sh -c '(ulimit -f 0; exec "$@") 2>&1 | cat >err' sh "$RETRY" \
	    --trace file true
	says "cannot write trace 'file': File too large"
	[ "$(<file)" = x ]
}

@test "on a full disk the old lines stay whole" {
	isolate -m
	mkdir place
	echo 99 >status
	"${isolate[@]}" sh -c 'mount -t tmpfs -o size=64k none place || exit 77
		"$1" --trace place/t true && head -c 56k /dev/zero >place/zeros
		OTEL_RESOURCE_ATTRIBUTES=long=$2 "$1" -q --trace place/t true 2>err
		echo "$?" >status; cp place/t t' sh "$RETRY" "$(printf %020000d 7)" ||
		[ "$?" != 77 ] || skip 'no right to mount here'
	[ "$(<status)" = 0 ]
	says "cannot write trace 'place/t': No space left on device"
	spans 'len(t) == 1'
}

@test "a file of somebody else's in a shared directory is left alone" {
	[ "$EUID" = 0 ] || skip 'not root'
	mkdir shared
	echo old >shared/t
	chown 65534 shared/t
	chown 1234 shared
	chmod 1777 shared
	is 0 "$RETRY" --trace shared/t true
	says "cannot write trace 'shared/t': Permission denied"
	[ "$(<shared/t)" = old ]
}

@test "a report, metrics and a trace tell the same" {
	traces 7 --report r.json --metrics m.prom -n 2 -d 20ms -j none sh -c 'exit 7'
	# The report rounds, and makes 1 of less.
	spans 'max(abs(r["started_ms"] - (x.began - i.began) / 1e6) +
	    abs(r["elapsed_ms"] - (x.ended - x.began) / 1e6) for x, r in
	    zip(a, json.load(open("r.json"))["attempts"])) <= 2' \
	    'json.load(open("r.json"))["started_at"][17:23] ==
	    "%06.3f" % (i.began // 10**6 % 60000 / 1000)' \
	    'b"retry_attempts{" in open("m.prom", "rb").read()'
}
