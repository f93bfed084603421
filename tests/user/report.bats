#!/usr/bin/env bats
# Covers report/report, report/cause, report/message, output/writer.
# --report and --metrics, which are written at the end of an invocation.
# shellcheck disable=SC2034 # the rows expand

load helper
load actor
load budget
load json

usual=(-d 0)

# report [@FILE|CHECK]...: json of reports; the first one is ./r.json, or a FILE
report() {
	[[ $1 == @* ]] || set -- @r.json "$@"
	json report "$@"
}

# metrics [@FILE|LINE]...: the FILE before a line (./m.prom for want of one) has
# this line, without the "retry_" at its beginning.
metrics() {
	local file=m.prom line
	for line; do
		[[ $line != @* ]] || { file=${line#@} && continue; }
		has_line "retry_$line" "$file" || { cat "$file" && echo "no $line" && return 1; } >&2
	done
}

# both STATUS [DIRECTORY/]: r.json and m.prom there tell of an end with this status.
both() {
	report "@${2-}r.json" status="$1" &&
	    metrics "@${2-}m.prom" "exit_status{name=\"m\"} $1"
}

# unwritten REPORT METRICS WHY: it says that it cannot write these, and why; one
# may be empty
unwritten() {
	[ -z "$1" ] || told "retry: cannot write report '$1': $3"
	[ -z "$2" ] || told "retry: cannot write metrics '$2': $3"
}

# only [DIRECTORY/] [FILE]...: the directory has these, what tests leave here, and no more.
only() {
	local GLOBIGNORE=out:err:budgets in='' found
	[[ ${1-} != */ ]] || { in=$1 && shift; }
	found=("$in"*)
	[ "${found[*]#"$in"}" = "${*:-*}" ]
}

seven=(sh -c 'exit 7')

@test "the report of a success has every field, and nothing else" {
	session <<-'END'
		$ retry --report r.json true && cat r.json
		{"version": VERSION, "id": "ID", "command": ["true"], "label": null, "attempts_max": 5, "consecutive": 1, "timeout_ms": null, "idle_timeout_ms": null, "deadline_ms": null, "budget": null, "fleet": null, "reason": "succeeded", "rescued": false, "limit": null, "why": null, "message": "attempt 1/5 succeeded (exit 0)", "status": 0, "signal": null, "started_at": "TIME", "elapsed_ms": N, "slept_ms": 0, "attempt_count": 1, "attempts_omitted": 0, "attempts": [{"attempt": 1, "started_ms": N, "elapsed_ms": N, "timeout_ms": null, "end": "exited", "status": 0, "signal": null, "http_status": null, "retry_after_ms": null, "verdict": "done", "rule": "exit-status", "why": null, "message": "attempt 1/5 succeeded (exit 0)", "delay_ms": null, "slept_ms": null, "budget_exhausted": false, "throttled": false, "held_ms": null, "pace": null, "fleet": null}]}
	END
	report 'each.elapsed_ms>=1' 'each.started_ms>=0' version
	try out="retry $got|*" --version
}

# All other tests read a report as text.
@test "a reader of JSON takes every kind of report" {
	local all
	printf -v all '\\%03o' {1..255}
	printf -v all "$all."
	try --report bytes.json -B $'k\xff"\n\\' --label 'a "b", ü' true \
	    "$all" '' 'ü€😀' $'\xed\xa0\x80' '"quoted"' '\back' $'a\nb\tc' $'\e[31m'
	try status=139 --report killed.json -n 2 -t 10,0 -T 1m sh -c 'kill -SEGV $$'
	try status=22 --report http.json --http-status status -T 10 sh -c '
		printf "HTTP/1.1 503 X\r\nRetry-After: 3600\r\n\r\n" >status
		exit 22'
	try status=1 --report limit.json -q --limit 1:1,7 -n inf false
	is 7 "$RETRY" -q -n 1 -B api --breaker 1,60s "${seven[@]}"
	try status=75 --report none.json -B api --breaker 1,60s true
	"$PYTHON" -IS - <<-'END'
		import json
		def unique(pairs):
		    assert len(dict(pairs)) == len(pairs), pairs
		    return dict(pairs)
		def never(name):
		    raise ValueError(name)
		for name in "killed", "http", "limit", "none", "bytes":
		    text = open(name + ".json", "rb").read().decode("utf-8", "strict")
		    assert text.count("\n") == 1 and text.endswith("}\n"), text
		    got = json.loads(text, parse_constant=never, object_pairs_hook=unique)
		words = got["command"]
		assert words[0] == "true"
		assert words[1][:127] == "".join(map(chr, range(1, 128))), words
		assert words[1][127:] == "".join("\\x%02x" % c for c in range(128, 256)) + ".", words
		assert words[2:] == ["", "ü€😀", "\\xed\\xa0\\x80", "\"quoted\"",
		    "\\back", "a\nb\tc", "\x1b[31m"], words
		assert got["budget"] == "k\\xff\"\n\\" and got["label"] == "a \"b\", ü"
	END
	! command -v jq >/dev/null || jq -e .reason <bytes.json >/dev/null
}

@test "the report tells what was asked for, and what became of it" {
	table try <<-'END'
		# The options, with times in milliseconds.
		report='attempts_max=null timeout_ms=1500 deadline_ms=60000 budget=api' -n inf -t 1.5 -T 1m -B api true
		report='attempts_max=1 deadline_ms=259200000 budget=null' --retries 0 -T 3d -B '' true
		status=3 report='timeout_ms=10000 each.timeout_ms=10000,null,60000' -n 3 -t 10,0,1m sh -c 'exit 3'
		# A delay that is shorter than a millisecond is not none.
		status=7 report='each.delay_ms=1,null' -n 2 -d 0.01ms -j none "${seven[@]}"
		# The rule that decided, its verdict, and the reason.
		report='each.rule=success-on each.verdict=done reason=succeeded status=0 each.status=3' --success-on 3 sh -c 'exit 3'
		status=1 report='each.rule=default,default each.verdict=retry,retry reason=attempts limit=null each.delay_ms=0,null each.budget_exhausted=false,false' -n 2 --limit 1:1 false
		status=1 report='each.rule=stop-on each.verdict=stop reason=stop-rule' --stop-on fail false
		status=127 report='each.rule=not-executable each.verdict=stop reason=not-executable status=127 each.end=not-started each.status=127 each.signal=null' ./none
		# The limit that was reached.
		status=1 report='reason=limit limit=1:1,7 attempt_count=2' -n 9 --limit 5:2 --limit 1:1,7 false
		# The status of retry, and that of each attempt.
		status=3 report='status=3 each.status=3' --keep-status --success-on 3 sh -c 'exit 3'
		report='status=0 signal=null each.status=143 each.signal=SIGTERM' --success-on TERM sh -c 'kill $$'
		# How the command ended.
		status=139 report='status=139 signal=SIGSEGV reason=attempts each.end=killed,killed each.status=139,139 each.signal=SIGSEGV,SIGSEGV each.rule=default,default' -n 2 sh -c 'kill -SEGV $$'
		status=124 report='reason=attempts status=124 signal=null each.end=timed-out,timed-out each.status=124,124 each.elapsed_ms>=50' -n 2 -t 50ms sleep 60
		status=124 report='idle_timeout_ms=50 each.end=idle status=124 each.status=124 each.elapsed_ms>=50' -n 1 --idle-timeout 50ms sleep 60
		status=124 report='reason=deadline status=124 deadline_ms=200 each.end=deadline each.rule=deadline elapsed_ms>=200' -T 200ms sleep 60
		# A delay that would pass the deadline is none.
		status=7 report='reason=deadline status=7 each.delay_ms=null each.slept_ms=null each.verdict=retry' -T 10 -d 60 -j none "${seven[@]}"
		# What the server answered.
		report='each.http_status=503,204 each.rule=http,exit-status each.verdict=retry,done' --http-status status sh -c '[ "$RETRY_ATTEMPT" = 1 ] || { echo 204 >status; exit 0; }; echo 503 >status; exit 22'
		status=22 report=each.http_status=null --http-status status -n 1 sh -c 'echo 000 >status; exit 22'
		status=22 report='reason=retry-after each.retry_after_ms=3600000' --http-status status -T 10 sh -c 'printf "HTTP/1.1 503 X\r\nRetry-After: 3600\r\n\r\n" >status; exit 22'
		# Where the budget or its breaker held a retry back.
		status=7 report='reason=budget status=7 budget=api each.budget_exhausted=false,true' -B api --budget-min 1 --budget-ratio 0 "${seven[@]}"
		status=7 report='reason=breaker status=7 each.budget_exhausted=false' -B other --breaker 1,60s "${seven[@]}"
		# That breaker is open now: no attempt is made.
		status=75 report='reason=breaker status=75 attempt_count=0 attempts_omitted=0' -B other --breaker 1,60s true
		# Where --rate did.
		status=7 report='reason=rate status=7 each.throttled=true each.held_ms=null each.pace=null' -B few --rate 1/h -d 0 -T 9 "${seven[@]}"
		status=75 report='reason=rate status=75 attempt_count=0' -B few --rate 1/h -T 9 true
	END
}

@test "the report has who, when, and each attempt" {
	rows row scene <<-'END'
	the id that the command got, as a retry within another, and the start in UTC
	    TZ=UTC0 printf -v before '%(%FT%T)T' -1
	    try --report r.json "$RETRY" --report inner.json sh -c 'echo "$RETRY_ID"'
	    report id started_at
	    said "$got" && report @inner.json id="$got"
	    TZ=UTC0 printf -v after '%(%FT%T)T' -1
	    report started_at
	    [[ ! $got < $before && ! ${got%.*} > $after ]]
	each delay as planned and as slept
	    try status=9 --report r.json -n 3 -d 30ms -j none \
	        sh -c 'sleep 0.02; exit $((6 + RETRY_ATTEMPT))'
	    report reason=attempts status=9 each.attempt=1,2,3 each.status=7,8,9 \
	        each.delay_ms=30,60,null each.verdict=retry,retry,retry \
	        each.rule=default,default,default 'each.elapsed_ms>=20'
	    report each.{started,elapsed,slept}_ms elapsed_ms slept_ms
	    IFS=', ' read -r b1 b2 b3 t1 t2 t3 s1 s2 s3 all slept <<<"${got[*]}"
	    ((s1 >= 30 && s2 >= 60))
	    near() { (($1 - $2 <= 2 && $2 - $1 <= 2)); } # each is rounded
	    near "$b2" "$((b1 + t1 + s1))"
	    near "$b3" "$((b2 + t2 + s2))"
	    near "$slept" "$((s1 + s2))"
	    ((all >= b3 + t3 - 2)) && [ "$s3" = null ]
	how long a server that another command asked wants no next attempt
	    try status=7 --report r.json -B api -d 0 -n 2 sh -c '[ $RETRY_ATTEMPT = 2 ] ||
	        "$RETRY" -q -n 1 --http-status status -- sh -c "
	            printf \"HTTP/1.1 429 X\r\nRetry-After: 60\r\n\r\n\" >status; exit 22"; exit 7'
	    report each.pace=null,null each.held_ms
	    [[ ${got[0]} == @(5[0-9][0-9][0-9][0-9]|60000),null ]]
	how many attempts a second it is thought to serve
	    try status=1 --report r.json -B api -d 0 -n 5 --fail-on http:200 \
	        --http-status status sh -c 'case $RETRY_ATTEMPT in
	            [23]) echo HTTP/1.1 429 X >status; exit 22; esac
	            echo HTTP/1.1 200 >status'
	    report each.http_status=200,429,429,200,200 each.throttled each.pace
	    [[ ${got[*]} == false,*true*' null,'*[1-9]* ]]
	    try status=7 --report r.json -B few --rate 1/h -d 0 -T 9 "${seven[@]}"
	    report reason=rate 'why=exit 7; --rate 1/h'
	a delay that was interrupted with its real length
	    try status=1 -q -n 2 -T 1 -d 200ms -j none --on-retry 'sleep 30' --report r.json false
	    report reason=deadline each.{started,elapsed,slept}_ms
	    ((got[0] + got[1] + got[2] >= 998))
	of 101 attempts the first 10 and the last 90, as many as have a span
	    try status=1 --report r.json --trace t -n 101 -q false
	    printf -v kept ',%s' {1..10} {12..101}
	    printf -v zeros '0,%.0s' {1..99}
	    report each.attempt="${kept#,}" attempt_count=101 attempts_omitted=1 \
	        attempts_max=101 each.delay_ms="${zeros}null" each.started_ms
	    sort -nc <<<"${got//,/$'\n'}"
	    json trace @t each.retry.attempt="${kept#,}"
	the command as it was typed, and no key
	    printf '#!/bin/sh\nprintf "%%s\n" "$@"\n' >curl
	    chmod +x curl
	    try out='-q|--dump-header|*|-d|x|URL|--next|--dump-header|*|URL' --report r.json \
	        --http --idempotency-key s3cret -- timeout 20 ./curl -q -d x URL --next URL
	    report 'command=["timeout", "20", "./curl", "-q", "-d", "x", "URL", "--next", "URL"]'
	    not has s3cret r.json && not has s3cret err
	also of a script that a shell runs
	    mkdir bin
	    printf 'echo "$#" "$@"; exit 3\n' >bin/script
	    chmod +x bin/script
	    PATH=$PWD/bin:$PATH try status=3 out='2 a b|2 a b' --report r.json -n 2 -d 0 script a b
	    report 'command=["script", "a", "b"]'
	many and long words
	    words=({1..5000})
	    printf -v long '%0100000d' 7
	    try --report r.json true "${words[@]}" "$long"
	    report status=0
	    printf -v text '"%s", ' true "${words[@]}" "$long"
	    has "\"command\": [${text%, }], " r.json
	a command that could not be run
	    try status=125 -q -I --stdin-max 1 --report r.json --metrics m.prom true < <(echo hello)
	    metrics 'success{name="m"} 0'
	    report reason=internal status=125 attempt_count=0
	    try status=69 report='reason=internal status=69 attempt_count=0' \
	        -q -B api --budget-required --budget-dir "$PWD/none" true
	END
}

@test "a report to - is a line of its own on standard error, at the end" {
	table try <<-'END'
		# After what the command and retry write; under -q and -E without what retry writes.
		status=7 out='out|out' says='> err|attempt 1/2 *|> err|attempt 2/2 *|> {"version": *"reason": "attempts", *"attempt_count": 2, *}' --report - -n 2 sh -c 'echo out; echo err >&2; exit 7' && only
		status=7 says='> {"version": *", "status": 7, *}' --report - -q "${seven[@]}"
		says='> {"version": *", "status": 0, *"attempt_count": 2, *}' --report - -E sh -c 'echo err >&2; [ "$RETRY_ATTEMPT" = 2 ]'
		status=7 says='> err|attempt 5/5 *|> {"version": *", "status": 7, *}' --report - -E sh -c 'echo err >&2; exit 7'
	END
	rows beside scene <<-'END'
	a long one is whole, however slow the reader
	    timeout --foreground -s KILL 60 "$RETRY" --report - -q -d 0 -n 2 "${seven[@]}" x \
	        "$(printf '%0100000d' 7)" 2>&1 >out 3>&- |
	        timeout --foreground -s KILL 60 "$ACTOR" sip >all 3>&- || :
	    report @all attempt_count=2
	retry does not wait for ever for a reader
	    mkfifo pipe
	    exec 5<>pipe
	    timeout --foreground -s KILL 30 "$RETRY" --report - -n 1 sh -c 'exit 3' x \
	        "$(printf '%0100000d' 7)" 2>pipe 5>&- 3>&- || got=$?
	    exec 5>&-
	    [ "$got" -eq 3 ]
	a full standard error, or a closed one, changes nothing
	    is 7 sh -c 'exec "$@" 2>/dev/full' sh "$RETRY" --report - -d 0 "${seven[@]}"
	    is 0 sh -c 'exec "$@" 2>/dev/full' sh "$RETRY" --report - true
	    is 0 sh -c 'exec "$@" 2>&-' sh "$RETRY" --report - true
	END
}

# explained WHY MESSAGE [OPTION]... COMMAND...: so the report of retry explains
# an attempt, and the end, where the cause is before what prevented another one; a
# quotation mark in them is written as @.
explained() {
	local why=${1//@/\\\"} message="\"message\": \"${2//@/\\\"}\"," line end text
	line="\"why\": $why, $message"
	end=$line
	[ "$1" != null ] || why='"exit 1"'
	[[ $1 != *@(--limit |--retry-if |still run)* ]] || end="; ${why#\"}, $message"
	[[ $2 != *': attempts exhausted' ]] || end="\"why\": ${why%\"}; --attempts 1\", $message"
	"$RETRY" -q -d 0 -n 1 --report r.json "${@:3}" 2>err >out || :
	IFS= read -rd '' text <r.json || :
	[[ $text == *"$end \"status\": "* && $text == *"$line \"delay_ms\": "* ]] || {
		echo "not: $line"
		cat r.json
		return 1
	}
}

# because WHY [OPTION]...: with these, this ends the run of what fails, after an answer
# in ./an_hour.
because() {
	not "$RETRY" -q --report r.json "${@:2}" \
	    sh -c 'printf "HTTP/1.1 503 X\nRetry-After: 3600\n\n" >an_hour; exit 1' &&
	    report "why=$1"
}

@test "with -v a retry names what decided, as the report does, and who asks for the wait" {
	printf '%s\n' retry-on=1 >team
	printf '#!/bin/sh\necho "fatal: unable to access: Could not resolve host" >&2\nexit 1\n' >hub
	chmod +x hub
	answers=(sh -c 'printf "%b\n" "HTTP/1.1 $0\n" >"$RETRY_HTTP_STATUS"; exit 1')
	complains=(sh -c 'echo "$0" >&2; exit 1')
	local first='attempt 1/2 failed (exit 1' usual=(-v -n 2 -d 0)
	decided()
	{
		local said=${1//@/'"'} why
		said=${said/#)/"$first)"}
		said=${said/#,/"$first,"}
		why=${2//@/'\"'}
		try status=1 says="*$said|*attempt 2/2 *" --report r.json "${@:3}" &&
		    report "each.why=$why,$why"
	}
	table decided <<-'END'
		'), retrying in 0s: --retry-on 1' '--retry-on 1' --retry-on 9,1 false
		'), retrying in 0s: --retry-on 1 (./team:1)' '--retry-on 1 (./team:1)' --policy ./team false
		'), retrying in 0s: --retry-on stderr:bu.y: @busy@' '--retry-on stderr:bu.y: @busy@' --retry-on 'stderr:bu.y' "${complains[@]}" busy
		'), retrying in 0s: preset git: @Could not resolve host@' 'preset git: @Could not resolve host@' --preset git ./hub
		'attempt 1/2 failed (exit 0), retrying in 0s: --fail-on 0' '--fail-on 0' --fail-on 0 true
		', HTTP 503), retrying in 0s: HTTP 503' 'HTTP 503' --http "${answers[@]}" '503 x'
		', HTTP 409), retrying in 0s: HTTP 409, the server wants a retry' 'HTTP 409, the server wants a retry' --http "${answers[@]}" '409 x\nX-Should-Retry: true'
		# Of an item the one that counts.
		', HTTP 404), retrying in 0s: --retry-on stderr:busy: @busy@' '--retry-on stderr:busy: @busy@' --retry-on 1,stderr:busy --http sh -c 'echo busy >&2; echo 404 >"$RETRY_HTTP_STATUS"; exit 1'
		# Who asks for the wait, if it is longer than the usual one.
		', HTTP 503), retrying in 0.3s, as Retry-After asks: HTTP 503' 'HTTP 503' -j none --http "${answers[@]}" '503 x\nRetry-After-Ms: 300'
		', HTTP 503), retrying in 0.3s if the budget allows, as Retry-After asks: HTTP 503' 'HTTP 503' -B api --budget-dir . -j none --http "${answers[@]}" '503 x\nRetry-After-Ms: 300'
		', HTTP 503), retrying in 0.3s: HTTP 503' 'HTTP 503' -d 0.3 -j none --http "${answers[@]}" '503 x\nRetry-After-Ms: 200'
		'), retrying in 0.3s, as the output asks: --retry-on 1' '--retry-on 1' --retry-on 1 -j none --retry-after 'stderr:in ' "${complains[@]}" 'in 0.3s'
		', HTTP 503), retrying in 0.3s, as the output asks: HTTP 503' 'HTTP 503' -j none --http --retry-after 'stderr:in ' sh -c 'echo in 0.3s >&2; printf "HTTP/1.1 503 x\nRetry-After-Ms: 200\n\n" >"$RETRY_HTTP_STATUS"; exit 1'
	END
	try status=1 says="$first), retrying in 0s|*" -d 0 false
	try status=1 says="$first, HTTP 503), retrying in 0.3s, as Retry-After asks: HTTP 503|*" -j none --http "${answers[@]}" '503 x\nRetry-After-Ms: 300'
	# Without -v that is not said.
	usual=(-n 2 -d 0)
	try status=1 says="$first), retrying in 0s|*" --retry-on 1 false
	try status=1 says="$first, HTTP 503), retrying in 0.3s|*" -j none --http "${answers[@]}" '503 x\nRetry-After-Ms: 300'
}

@test "the report tells whether a retry has rescued the command" {
	third=(sh -c 'echo >>runs; [ "$(wc -l <runs)" -ge 3 ]')
	table try <<-'END'
		report='rescued=true attempt_count=3' "${third[@]}" && rm runs
		report=rescued=false true
		status=1 report=rescued=false -n 2 false
		status=3 report='rescued=true status=3' --keep-status --success-on 3 sh -c 'exit $((RETRY_ATTEMPT + 1))'
		# Several successes that are wanted are no rescue.
		report='rescued=false attempt_count=3' --consecutive 3 true
		report='rescued=true attempt_count=5' --consecutive 3 "${third[@]}" && rm runs
		status=1 report='rescued=false attempt_count=3' -n 3 --consecutive 2 sh -c '[ "$RETRY_ATTEMPT" = 2 ]'
		status=127 report=rescued=false ./nosuch
	END
	# The example of the manual finds those that it has.
	printf '{"rescued": %s, "command": ["%s"], "started_at": "sometime"}\n' false no true yes >nightly.jsonl
	need jq
	sed -n 's/^jq /&/p' "${BATS_TEST_FILENAME%/*}/../../man/retry-report.7" |
	    sed -e 's/\\(aq/'"'"'/g' -e 's/\\-/-/g' | grep rescued >line
	[ "$(lines line)" -eq 1 ]
	sh line >out
	holds out sometime yes
}

@test "the report says of each attempt and of the end what was said, and by which rule" {
	printf '%s\n' 'stop-on=3,stderr:de.*ied' retry-on=9 limit=0:signal >team
	local long once='attempt 1/1 failed' gave=', giving up:'
	printf -v long 'x %.0s' {1..43}
	local spent="attempt 1/1 failed (exit 1)$gave attempts exhausted" by='--policy ./team'
	printf '#!/bin/sh\necho "fatal: Authentication failed for x" >&2\nexit 128\n' >git
	printf '#!/bin/sh\necho "fatal: unable to access: Could not resolve host" >&2\nexit 1\n' >hub
	chmod +x git hub
	table explained <<-'END'
		'"--stop-on 3 (./team:1)"' "$once (exit 3)$gave --stop-on 3 (./team:1)" $by sh -c 'exit 3'
		'"--stop-on stderr:de.*ied (./team:1): @denied@"' "$once (exit 7)$gave --stop-on stderr:de.*ied (./team:1)" $by sh -c 'echo "x: denied, y" >&2; exit 7'
		'"not in --retry-on 9 (./team:2)"' "$once (exit 7)$gave not in --retry-on 9 (./team:2)" $by "${seven[@]}"
		'"--retry-on 9 (./team:2)"' "attempt 1/1 failed (exit 9)$gave attempts exhausted" $by sh -c 'exit 9'
		'"--limit 0:signal (./team:3)"' "attempt 1/2 killed by SIGKILL$gave --limit reached (0:signal)" $by -n 2 --retry-on signal sh -c 'kill -KILL $$'
		'"preset git: @Authentication failed@ cannot be cured by a retry"' "$once (exit 128)$gave preset git: @Authentication failed@ cannot be cured by a retry (--retry-on 'stderr:Authentication failed' retries it)" -a ./git
		'"preset git: @Could not resolve host@"' "$spent" --preset git ./hub
		'"preset flock: timeout"' "attempt 1/1 timed out after 0.1s$gave attempts exhausted" --preset flock -t 0.1 sleep 9
		'"preset ssh: what it started elsewhere may still run"' "attempt 1/1 timed out after 0.1s$gave preset ssh: what it started elsewhere may still run, see --retry-on timeout" --preset ssh -t 0.1 sleep 9
		'"--fail-on stdout:ok: @ok@"' "attempt 1/1 failed (exit 0)$gave attempts exhausted" --fail-on stdout:ok echo ok
		'"--fail-on stdout:[0-9]+ err: @12 errors@"' "attempt 1/1 failed (exit 0)$gave attempts exhausted" --fail-on 'stdout:[0-9]+ err' echo '3 files, 12 errors, and more'
		"\"--fail-on stdout:begin.*end: @beginning of ${long}x...@\"" "attempt 1/1 failed (exit 0)$gave attempts exhausted" --fail-on stdout:begin.*end echo "x beginning of $long$long$long the end"
		'"--hold-max 1 byte"' "$once (exit 0)$gave more output than --hold-max" -O --hold-max 1 echo many
		'"--success-on 1"' 'attempt 1/1 succeeded (exit 1) by --success-on 1' --success-on 1 false
		'"--retry-if exit 1"' "attempt 1/2 failed (exit 1)$gave --retry-if said no" -n 2 --retry-if 'exit 1' false
		'"HTTP 503"' "attempt 1/1 failed (exit 0, HTTP 503)$gave attempts exhausted" --http sh -c 'echo 503 >"$RETRY_HTTP_STATUS"'
		'"HTTP 404 is not retried"' "$once (exit 0, HTTP 404)$gave HTTP 404 is not retried" --http sh -c 'echo 404 >"$RETRY_HTTP_STATUS"'
		null "$spent" false
		null "cannot run 'nosuch': No such file or directory" nosuch
	END
	explained '"HTTP 409, the server wants a retry"' "attempt 1/1 failed (exit 1, HTTP 409)$gave attempts exhausted" --http sh -c 'printf "HTTP/1.1 409 X\nX-Should-Retry: true\n\n" >"$RETRY_HTTP_STATUS"; exit 1'
	explained '"HTTP 409, the first request is still being served"' "attempt 1/1 failed (exit 1, HTTP 409)$gave attempts exhausted" --http --idempotency-key k sh -c 'echo 409 >"$RETRY_HTTP_STATUS"; exit 1'
	try status=1 -n 2 --report r.json -B api --budget-min 0 false
	mapfile -t said <err
	report reason=budget message="${said[-1]#retry: }" \
	    each.message="attempt 1/2 failed (exit 1)$gave budget exhausted (--budget-wait waits for it)"
	echo deadline=1s >late
	table because <<-'END'
		'exit 1; --attempts 5 (default)' -d 0
		'exit 1; --retries 0' --retries 0
		'exit 1; --nested, or the limit of attempts' -n 1 --nested add
		'exit 1; --deadline 1s (./late:1)' -d 60 -j none --policy ./late
		'exit 1; --wait 3' -d 60 -j none -w 3
		'exit 1; --budget web' -B web --budget-min 0
		'exit 1; --budget db --breaker' -B db --breaker 1,60s
		'HTTP 503; --max-retry-after 5m (default)' --http-status an_hour -T 10
		'HTTP 503; --max-retry-after 59m' --http-status an_hour --max-retry-after 59m
		'HTTP 503; --deadline 10' --http-status an_hour --max-retry-after 1h -T 10
		'HTTP 503; --limit 0:fail' --http-status an_hour --limit 0:fail
	END
	try status=7 --report r.json sh -c 'read -r _; exit 7' < <(echo x)
	report 'why=exit 7; input was already consumed'
	try --consecutive 2 --report r.json true
	report 'each.why=--consecutive 2,null'
	try status=1 -n 1 -T 9 "$RETRY" -q --report r.json -d 60 -j none false
	report 'why=exit 1; the deadline of an outer retry'
	start "$RETRY" -q --report r.json -d 60 -j none --on-retry ': >began' -- false
	reached test -e began
	ended_by TERM
	report reason=interrupted message=interrupted why=null
}

@test "a file whose name ends in .jsonl gets a line for each run" {
	local job jobs=()
	for job in {1..8}; do
		"$RETRY" -q -n 1 --report log.jsonl --label "$job" false 3>&- &
		jobs+=("$!")
	done
	for job in "${jobs[@]}"; do
		wait "$job" || :
	done
	mapfile -t said <log.jsonl
	[ "${#said[@]}" -eq 8 ]
	for job in {1..8}; do
		has "\"label\": \"$job\"" log.jsonl
	done
	try -q --report .jsonl --metrics log.jsonl true
	try -q --report .jsonl true
	[ "$(lines .jsonl)" = 2 ] && has_line 'retry_attempts{name="log.jsonl"} 1' log.jsonl
	not has label log.jsonl
}

# first LINE STATUS: ./out begins with this line, and its last line is a report.
first() {
	local all
	mapfile -t all <out
	[ "${all[0]}" = "$1" ] && echo "${all[-1]}" >r.json && report status="$2"
}

@test "a report goes to what a name leads to" {
	local timed=(timeout --foreground -s KILL 60)
	rows row scene <<-'END'
	a descriptor, after the command's output
	    for name in /dev/stdout /proc/self/fd/1; do
	        try status=7 --report "$name" -n 1 -q sh -c 'echo hello; exit 7'
	        first hello 7
	    done
	    "$RETRY" -q --report /dev/fd/4 true 4>fd4
	    # What follows it in the same file does not overwrite it.
	    { "$RETRY" --report /dev/stdout true; echo after; } >both
	    mapfile -t both <both
	    [ "${#both[@]} ${both[1]}" = '2 after' ]
	    echo "${both[0]}" >r.json
	    report status=0 @fd4 status=0
	not a closed one, nor those that retry has for itself
	    for fd in 7 10 12 14; do
	        try --report "/dev/fd/$fd" --metrics "/dev/fd/$((fd + 1))" true
	        unwritten "/dev/fd/$fd" "/dev/fd/$((fd + 1))" 'Bad file descriptor'
	    done
	a link to a descriptor's name
	    ln -s /dev/stdout link
	    try --report link -q echo before
	    first before 0
	    [ -L link ]
	a pipe by its name in another process's part of /proc
	    under=("${timed[@]}")
	    exec 7<> <(:)
	    try --report "/proc/$BASHPID/fd/7" true
	    read -ru 7 line
	    echo "$line" >r.json
	    report status=0
	a FIFO with a reader, but it does not wait for one, and a device, all of which stay
	    under=("${timed[@]}")
	    mkfifo pipe
	    try --report pipe --metrics pipe true
	    unwritten pipe pipe 'No such device or address'
	    exec 9<>pipe
	    try --report pipe --metrics pipe true
	    read -ru 9 line
	    echo "$line" >r.json
	    report status=0
	    under=()
	    ln -s /dev/{null,full} .
	    try says='' --report null --metrics null true
	    try --report full --metrics full true
	    unwritten full full 'No space left on device'
	    [ -p pipe ] && [ -L null ] && [ -L full ]
	    only full null pipe r.json
	END
}

# The attempts are over: ./began says that there was one.
over() {
	[ -e began ] && childless "$pid"
}

@test "a signal is reported, and with it what the command made of it" {
	rows beside scene <<-'END'
	during a delay
	    sent INT 130 "told '.*retrying in .*'" "$RETRY" --report r.json --metrics m.prom \
	        -n inf -d 60 -j none "${seven[@]}"
	    report reason=interrupted signal=SIGINT attempts_max=null each.status=7 \
	        each.delay_ms=60000 'each.slept_ms<60000'
	    both 130
	    metrics 'reason{name="m",reason="interrupted"} 1'
	during an attempt that exits
	    sent TERM 3 'said ready' "$RETRY" --report r.json -- \
	        sh -c 'trap "exit 3" TERM; echo ready; while :; do sleep 0.01; done'
	    report reason=interrupted status=3 each.status=3 each.rule=interrupted
	during an attempt that dies of it
	    sent TERM 143 'said ready' "$RETRY" --report r.json -- sh -c 'echo ready; exec sleep 60'
	    report reason=interrupted signal=SIGTERM status=143 each.signal=SIGTERM
	in the metrics, where nobody reads the report
	    choke full
	    sent TERM 143 over "$RETRY" --report full --metrics m.prom -n 1 sh -c ': >began; exit 3'
	    unwritten full '' 'Interrupted system call'
	    metrics 'reason{name="m",reason="interrupted"} 1' \
	        'exit_status{name="m"} 143' 'attempts{name="m"} 1'
	in the next file, where it comes while a file is written
	    inject /^rename:signal=QUIT:when=1
	    is 131 "${inject[@]}" "$RETRY" --report r.json --metrics m.prom \
	        --on-give-up ': >gave-up' -n 1 sh -c 'exit 3'
	    report status=3 signal=null reason=attempts
	    metrics 'reason{name="m",reason="interrupted"} 1' 'exit_status{name="m"} 131'
	    [ ! -e gave-up ]
	    inject /^rename:signal=TERM
	    is 143 "${inject[@]}" "$RETRY" --report r.json true
	but not one that ends nothing, nor does that end a wait
	    choke full
	    start "$RETRY" --report full -n 1 sh -c ': >began; exit 3'
	    wait_for over
	    kill -USR1 "$pid"
	    ended_by WINCH 3
	    told "retry: cannot write report 'full': (Connection|Operation) timed out"
	END
}

# dies_of SIGNAL READY ERR STATUS [OPTION]...: this signal ends retry in a wait
# that is reached when READY succeeds, and that comes after an attempt with this
# STATUS, which writes a line to each of $says, a descriptor; ERR is the standard
# error of retry. No hook runs then but one that was running.
dies_of() {
	[[ " $out $* " != *' full '* ]] || choke full
	sent "$1" '' "$2" sh -c 'out=$1 err=$2; shift 2; exec "$@" >>"$out" 2>"$err"' sh \
	    "${out-out}" "$3" "$RETRY" --on-give-up "${hook-: >gave-up}" "${@:5}" -- \
	    sh -c "${says:+echo held >&$says; }: >began; exit \"\$1\"" sh "$4"
	[ ! -e gave-up ]
}

@test "HUP, INT, QUIT and TERM end retry in each wait at the end" {
	local out says hook=': >hooked; sleep 30; : >gave-up'
	beside 'a hook' dies_of QUIT 'test -e hooked' err 3 -n 1
	beside 'a deaf hook' with hook="trap '' TERM; $hook" dies_of HUP 'test -e hooked' err 3 -n 1
	unset hook
	beside 'a delay' dies_of TERM over err 3 -d 60 -j none
	beside 'a report' dies_of HUP over err 3 -n 1 --report full
	beside 'metrics' dies_of TERM over err 3 -n 1 --metrics full
	beside 'a report of a success' dies_of INT over err 0 --report full
	beside 'a report to -' dies_of QUIT over full 3 -n 1 -q --report -
	beside 'lines before a report' dies_of TERM over full 3 -n 1 --report -
	beside 'a report after -E' dies_of INT over full 3 -n 1 -E --report -
	out=full says=1 beside 'held output' dies_of TERM over err 0 -q -O
	says=2 beside 'held errors' dies_of INT over full 3 -q -n 1 -E
	beside 'last lines' dies_in_last_lines
}

dies_in_last_lines() {
	choke full
	# They wait for 100 ms only: each wait but the first begins later.
	inject ppoll:delay_enter=400000:when=2+
	start sh -c 'exec "$@" 2>full' sh "${inject[@]}" "$RETRY" -n 1 -- \
	    sh -c 'echo "$PPID" >began; exit 3'
	wait_for test -s began
	wait_for test -s began
	read -r inner <began
	wait_for childless "$inner"
	kill -INT "$inner"
	ended 130
}

@test "a report that cannot be written is a warning, and changes no status" {
	rows row scene <<-'END'
	whatever the reason
	    echo x >file
	    mkdir dir
	    printf -v long '%0300d' 0
	    while read -r file why; do
	        try status=7 --report "$file" --metrics "$file" -n 1 "${seven[@]}"
	        unwritten "$file" "$file" "$why"
	    done <<<"nowhere/r.json No such file or directory
	        file/r.json Not a directory
	        dir Is a directory
	        dir/ Is a directory
	        $long File name too long"
	    # Such a name is cut in the warning.
	    printf -v long '%04096d' 0
	    try says="cannot write report '${long::999}*: File name too long" --report "$long/r" true
	    holds file x
	    only dir file
	    only dir/
	under -q, -E and in JSON, too
	    for option in '' -q -E; do
	        try $option --report no/r --metrics no/m sh -c 'echo held >&2'
	        unwritten no/r no/m 'No such file or directory'
	    done
	    [ "$(lines err)" -eq 2 ]
	    # Held lines are written, and do not come again.
	    try status=7 says="attempt 1/1 *exhausted|cannot write report 'no/r': *directory" \
	        -E -n 1 --report no/r "${seven[@]}"
	    try says='> {*"level":"warning","message":"cannot write report *' \
	        -q --log-format json --report no/r true
	links that lead nowhere, which stay
	    ln -s loop loop
	    ln -s nowhere/r.json link
	    try --report loop --metrics link true
	    unwritten loop '' 'Too many levels of symbolic links'
	    unwritten '' link 'No such file or directory'
	    [ -L loop ] && [ -L link ]
	    only link loop
	a file that may not grow, which keeps an old report
	    echo old >r.json
	    echo old >m.prom
	    said=$(ulimit -f 0; exec "$RETRY" --report r.json --metrics m.prom -n 1 false 2>&1) || got=$?
	    [ "$got" -eq 1 ]
	    echo "$said" >err
	    unwritten r.json m.prom 'File too large'
	    holds r.json old && holds m.prom old
	    only m.prom r.json
	END
}

@test "a report replaces an old one atomically, with its mode" {
	write() { # write [RETRY'S WORD]...: a report and metrics of a success, without a word
		try says='' --report r.json --metrics m.prom "$@" true
	}
	rows row scene <<-'END'
	another file has the name
	    mkdir dir
	    echo old >r.json
	    echo old >m.prom
	    ln r.json m.prom dir
	    write
	    both 0
	    holds dir/r.json old && holds dir/m.prom old
	    only dir m.prom r.json
	its owner keeps it where root replaces it
	    mkdir dir
	    echo old >dir/r.json
	    cp dir/r.json dir/m.prom
	    [ "$EUID" -ne 0 ] || chown 61234:61235 dir/r.json dir/m.prom
	    owner=$(stat -c %u:%g dir/r.json)
	    try says='' --report dir/r.json --metrics dir/m.prom true
	    [ "$(stat -c %u:%g dir/r.json)" = "$owner" ] && [ "$(stat -c %u:%g dir/m.prom)" = "$owner" ]
	of a symbolic link the file is replaced, and the link stays
	    mkdir dir
	    echo old >dir/r.json
	    chmod 600 dir/r.json
	    ln dir/r.json hard
	    ln -s r.json dir/second
	    ln -s "$PWD"/dir/{second,m.prom} .
	    try says='' --report second --metrics m.prom true
	    both 0 dir/
	    [ -L second ] && [ -L dir/second ] && [ -L m.prom ]
	    [ ! -L dir/r.json ] && [ "$(stat -c %a dir/r.json)" = 600 ] && holds hard old
	    only dir/ m.prom r.json second
	    only dir hard m.prom second
	a link that somebody else has left in a shared directory is not followed
	    is_root || exit 0
	    mkdir shared
	    chmod 1777 shared
	    echo old >precious
	    ln -s ../precious shared/r.json
	    try --report shared/r.json true
	    report @precious status=0
	    [ "$(</proc/sys/fs/protected_symlinks)" = 1 ] || exit 0
	    chown -h 65534 shared/r.json
	    echo old >precious
	    try --report shared/r.json true
	    unwritten shared/r.json '' 'Permission denied'
	    holds precious old
	    only precious shared
	the mode is what the umask leaves, of metrics 0644
	    umask 027
	    write
	    [ "$(stat -c %a r.json m.prom)" = $'640\n644' ]
	    chmod 600 r.json m.prom
	    write
	    [ "$(stat -c %a r.json m.prom)" = $'600\n644' ]
	    report status=0
	the temporary file is beside it, with a name that no collector reads
	    inject getppid:delay_enter=1
	    mkdir dir
	    is 0 strace -o trace -e trace=rename,renameat,renameat2 "$RETRY" \
	        --report dir/r.json --metrics "$PWD/dir/m.prom" true
	    name='dir/\.retry-[0-9a-f-]{36}\.tmp".*"'
	    [[ $(<trace) =~ rename.*\"$name(dir/r\.json).*rename.*\"/.*/$name(/.*/dir/m\.prom) ]]
	    both 0 dir/
	    only dir/ m.prom r.json
	invocations that write one report at once never tear it
	    try status=1 --report r.json --metrics m.prom -n 1 false
	    start bash -c 'for i in {1..4}; do
	            for j in {1..3}; do
	                printf -v long %0${j}0000d 0
	                "$RETRY" --report r.json --metrics m.prom -q -d 0 \
	                    -n "$j" sh -c "exit $j" "$long" &
	            done
	            wait
	        done'
	    until gone "$pid"; do
	        report status attempt_count
	        IFS= read -rd '' text <m.prom || :
	        [[ $text =~ 'retry_attempts{name="m"} '([0-9]+).*'exit_status{name="m"} '([0-9]+).*'reason="attempts"} 1'$'\n'$ ]]
	        ((got[1] == got[0] && BASH_REMATCH[1] == BASH_REMATCH[2]))
	    done
	    ended
	    report 'status>=1'
	    only m.prom r.json
	END
}

# Sets the array as to what runs a command as somebody who may not do anything;
# ./dir is his, and he has a copy of the program, ./retry.
powerless() {
	as=(env)
	mkdir dir
	cp "$RETRY" retry
	chmod 755 . retry
	[ "$EUID" = 0 ] || return 0
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	"${as[@]}" true 2>/dev/null || skip 'no setpriv that works here'
	chown -R 65534:65534 dir
}

@test "where no file can be made a writable file is written in place, but not somebody else's" {
	local inode
	powerless
	printf '%0100000d\n' 7 >dir/r.json
	printf '%0100000d\n' 7 >dir/m.prom
	chmod 646 dir/*
	chmod 555 dir
	inode=$(stat -c '%i %a' dir/r.json dir/m.prom)
	exits 7 "${as[@]}" ./retry -q --report dir/r.json --metrics dir/m.prom -n 1 "${seven[@]}" 2>err
	[ ! -s err ]
	both 7 dir/
	[ "$(stat -c '%i %a' dir/r.json dir/m.prom)" = "$inode" ]
	# Where the file is not writable either, the old report stays.
	echo old >dir/r.json
	chmod 444 dir/r.json
	is 7 "${as[@]}" ./retry -d 0 --report dir/r.json -n 1 "${seven[@]}"
	is 0 "${as[@]}" ./retry --report dir/new.json true
	chmod 755 dir
	unwritten dir/r.json '' 'Permission denied'
	unwritten dir/new.json '' 'Permission denied'
	holds dir/r.json old && only dir/ m.prom r.json
	# In a shared directory it may be somebody else's.
	[ "$EUID" = 0 ] && [ "$(</proc/sys/fs/protected_regular)" != 0 ] || skip 'nobody keeps it safe'
	chown 0 dir
	chmod 1777 dir
	chmod 666 dir/r.json
	chown 1234 dir/r.json
	is 0 "${as[@]}" ./retry --report dir/r.json true
	unwritten dir/r.json '' 'Permission denied'
	holds dir/r.json old
}

# mounted STATUS SETUP COMMAND...: COMMAND ends so, where ./place is what SETUP, a line
# for sh, has mounted or made of it
mounted() {
	mkdir place
	echo 99 >status
	"${isolate[@]}" sh -c "$2"' || exit 77
		"$@" 2>err; echo "$?" >status; cp -r place seen' sh "${@:3}" || skip 'no right to mount here'
	[ "$(<status)" = "$1" ]
}

@test "a file that is a mount point is written in place, as far as there is room" {
	local write=("$RETRY" -q --report place/r.json) long
	printf -v long '%0100000d' 7
	isolate -m
	rows row eval <<-'END'
	where it can be
	    echo "$long" >r.json
	    echo "$long" >m.prom
	    mounted 7 ': >place/r.json && : >place/m.prom && mount --bind r.json place/r.json &&
	        mount --bind m.prom place/m.prom' "${write[@]}" --metrics place/m.prom -n 1 "${seven[@]}"
	    both 7
	    both 7 seen/
	    only seen/ m.prom r.json
	    [ ! -s err ]
	on a read-only system
	    echo old >r.json
	    mounted 0 'mount -t tmpfs none place && : >place/r.json && : >place/m.prom &&
	        mount --bind r.json place/r.json && mount -o remount,ro place' \
	        "${write[@]}" --metrics place/m.prom true
	    report status=0
	    holds err "retry: cannot write metrics 'place/m.prom': Read-only file system"
	without room for the new report it keeps the old one
	    mkdir system
	    mounted 0 'mount -t tmpfs -o size=64k none system && echo old >system/file &&
	        : >place/r.json && mount --bind system/file place/r.json &&
	        head -c 58k /dev/zero >system/zeros' "${write[@]}" true "$long"
	    unwritten place/r.json '' 'No space left on device'
	    holds seen/r.json old
	without room for another file the old one stays
	    mounted 0 'mount -t tmpfs -o size=64k none place && echo old >place/r.json &&
	        head -c 56k /dev/zero >place/zeros' "${write[@]}" true "$long"
	    unwritten place/r.json '' 'No space left on device'
	    holds seen/r.json old
	    only seen/ r.json zeros
	where it may not grow, too
	    echo old >there
	    mounted 0 ': >place/r.json && mount --bind there place/r.json' sh -c '
	        said=$(ulimit -f 0; exec "$@" 2>&1); echo "$said" >said' sh "${write[@]}" true
	    holds said "retry: cannot write report 'place/r.json': File too large"
	    holds there old
	END
}

@test "the metrics of a success are what Prometheus reads" {
	local before=$EPOCHSECONDS got name value i=0
	try says='' --metrics m.prom true
	mapfile -t got <m.prom
	while read -r name value; do
		[[ ${got[i++]} == "# HELP retry_${name%%\{*} "?* ]]
		[ "${got[i++]}" = "# TYPE retry_${name%%\{*} gauge" ]
		[[ ${got[i++]} =~ ^retry_"$name "($value)$ ]]
		[[ $name != last_* ]] || ((before <= BASH_REMATCH[2] && BASH_REMATCH[2] <= EPOCHSECONDS))
	done <<-'END'
		attempts{name="m"} 1
		success{name="m"} 1
		exit_status{name="m"} 0
		duration_seconds{name="m"} [0-9]+\.[0-9]*[1-9]
		delay_seconds{name="m"} 0
		last_run_timestamp_seconds{name="m"} ([0-9]+)\.[0-9]+
		reason{name="m",reason="succeeded"} 1
	END
	[ "${#got[@]}" -eq "$i" ]
	! command -v promtool >/dev/null || promtool check metrics <m.prom
	only m.prom
}

@test "the metrics tell of each invocation, under the name of the file or a label" {
	rows row scene <<-'END'
	a failure, with its status, reason and times
	    try status=7 --report r.json --metrics m.prom -n 3 -d 30ms -j none "${seven[@]}"
	    report attempt_count=3
	    metrics 'attempts{name="m"} 3' 'success{name="m"} 0' \
	        'exit_status{name="m"} 7' 'reason{name="m",reason="attempts"} 1'
	    awk '/^retry_duration/ { all = $2 }
	        /^retry_delay/ { exit !(0.09 <= $2 && $2 <= all) }' m.prom
	    only m.prom r.json
	a limit, and a signal
	    try status=1 --metrics m.prom -q --limit 0:1 false
	    metrics 'reason{name="m",reason="limit"} 1'
	    try status=143 --metrics m.prom -n 1 sh -c 'kill $$'
	    metrics 'exit_status{name="m"} 143'
	no attempt
	    try status=1 -q -B other --breaker 1,60s false
	    try status=75 --metrics m.prom -B other --breaker 1,60s true
	    metrics 'attempts{name="m"} 0' 'success{name="m"} 0' 'exit_status{name="m"} 75'
	a success of another status
	    try --metrics m.prom --success-on 1 false
	    metrics 'success{name="m"} 1' 'exit_status{name="m"} 0'
	    try status=1 --metrics m.prom --keep-status --success-on 1 false
	    metrics 'success{name="m"} 1' 'exit_status{name="m"} 1'
	with the label of --label, as the report
	    try status=7 --report r.json --metrics m.prom --label 'a "b", ü' -n 1 "${seven[@]}"
	    report 'label=a \"b\", ü'
	    [ "$(grep -cF '{name="m",label="a \"b\", ü"' m.prom)" -eq 7 ]
	    metrics 'reason{name="m",label="a \"b\", ü",reason="attempts"} 1'
	with the file's name, without .prom
	    mkdir a.prom
	    while read -r file label; do
	        try --metrics "$file" true
	        metrics "@$file" "success{name=\"$label\"} 1"
	    done <<<'backup.prom backup
	        backup backup
	        a.prom/b.prom b
	        a.prom/.prom .prom
	        ./a.b.prom a.b
	        c.prom.txt c.prom.txt
	        q"uo\te.prom q\"uo\\te
	        ü.prom ü'
	    try --metrics $'n\nl\xff.prom' true
	    metrics $'@n\nl\xff.prom' 'success{name="n\nl\\xff"} 1'
	END
}
