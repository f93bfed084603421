#!/usr/bin/env bats
# Covers report/report, attempt/environment.
# --trace: the spans of an invocation and of its attempts, and the variables by
# which commands and nested retries continue the trace.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034 # the rows and shells expand

load helper
load actor
load json

setup() {
	helper_setup
	unset TRACEPARENT TRACESTATE OTEL_SERVICE_NAME OTEL_RESOURCE_ATTRIBUTES
	export RETRY_BUDGET_DIR=$PWD
}

trace_id=4bf92f3577b34da6a3ce929d0e0e4736
span_id=00f067aa0ba902b7
parent=00-$trace_id-$span_id-01

# The attempts of this command tell the variables of the trace, and fail.
tells=(sh -c 'echo "${TRACEPARENT-none} ${TRACESTATE-none}"; exit 7')

usual=(-d 0 --trace t)

# spans [@FILE|CHECK]...: json of traces; the first one is ./t, or a FILE
spans() {
	[[ $1 == @* ]] || set -- @t "$@"
	json trace "$@"
}

# fresh STATUS CHECKS [OPTION]... COMMAND...: retry ends so, and of its trace, the
# only one in ./t, the CHECKS hold, one a line.
fresh() {
	local checks
	mapfile -t checks <<<"$2"
	: >t
	try status="$1" "${@:3}" && [ "$(lines t)" = 1 ] && spans "${checks[@]}"
}

# errs STATUS MESSAGE REASON [OPTION]... COMMAND...: that of the span of the last
# attempt, and of the invocation
errs() {
	fresh "$1" "message=$3"$'\n'"process.exit.code=$1" "${@:4}" &&
	    spans each.message && [[ ,$got == *",$2" ]]
}

@test "a trace has a span for the invocation and one for each attempt, with every field" {
	local started before after since b1 b2 e1 e2 end s1 s2 l1 l2 off version
	version=$("$RETRY" --version)
	version=${version%%$'\n'*}
	before=$((EPOCHSECONDS - 60))000000000 # the clock may be set
	try status=22 --report r.json --metrics m.prom -n 2 -d 30ms -j none -B api \
	    --http-status status sh -c 'sleep 0.02; echo 503 >status; exit 22'
	after=$((EPOCHSECONDS + 60))000000000
	# An attribute is NAME=TYPE:VALUE here.
	sed -E 's/("traceId":)"[0-9a-f]{32}"/\1TRACE/g
		s/("(parentS|s)panId":)"[0-9a-f]{16}"/\1ID/g
		s/("(start|end)TimeUnixNano":)"[1-9][0-9]{18}"/\1TIME/g
		s/\{"key":"([^"]*)","value":\{"(string|int)Value":"([^"]*)"\}\}/\1=\2:\3/g
		s/\{"key":"([^"]*)","value":\{"boolValue":(true|false)\}\}/\1=bool:\2/g
		s/"(scope|attributes|status)":/\n&/g; s/\{"traceId/\n&/g' t | diff - <(cat <<-END
		{"resourceSpans":[{"resource":{
		"attributes":[service.name=string:retry]},"scopeSpans":[{
		"scope":{"name":"retry","version":"${version#retry }"},"spans":[
		{"traceId":TRACE,"spanId":ID,"name":"retry sh","kind":1,"startTimeUnixNano":TIME,"endTimeUnixNano":TIME,
		"attributes":[process.executable.name=string:sh,process.exit.code=int:22,retry.reason=string:attempts,retry.attempt_count=int:2,retry.budget.key=string:api],
		"status":{"code":2,"message":"attempts exhausted"}},
		{"traceId":TRACE,"spanId":ID,"parentSpanId":ID,"name":"sh","kind":1,"startTimeUnixNano":TIME,"endTimeUnixNano":TIME,
		"attributes":[process.executable.name=string:sh,process.exit.code=int:22,retry.attempt=int:1,retry.verdict=string:retry,retry.delay_ms=int:30,retry.budget_exhausted=bool:false,retry.throttled=bool:false,http.response.status_code=int:503],
		"status":{"code":2,"message":"exit 22"}},
		{"traceId":TRACE,"spanId":ID,"parentSpanId":ID,"name":"sh","kind":1,"startTimeUnixNano":TIME,"endTimeUnixNano":TIME,
		"attributes":[process.executable.name=string:sh,process.exit.code=int:22,retry.attempt=int:2,retry.verdict=string:retry,retry.budget_exhausted=bool:false,retry.throttled=bool:false,http.response.status_code=int:503,http.request.resend_count=int:1],
		"status":{"code":2,"message":"exit 22"}}]}]}]}
	END
	)
	spans traceId spanId each.spanId
	[[ ${got[2]} != *"${got[1]}"* && ${got[2]%,*} != "${got[2]#*,}" ]]
	spans "each.traceId=$got,$got" "each.parentSpanId=${got[1]},${got[1]}"

	# The report has the same times; it rounds, and makes 1 of less.
	spans startTimeUnixNano each.{start,end}TimeUnixNano endTimeUnixNano
	IFS=', ' read -r since b1 b2 e1 e2 end <<<"${got[*]}"
	((before <= since && since <= b1 && e1 - b1 >= 20000000 && b2 - e1 >= 30000000))
	((e2 - b2 >= 20000000 && e2 <= end && end <= after))
	json report @r.json each.{started,elapsed}_ms started_at
	IFS=', ' read -r s1 s2 l1 l2 started <<<"${got[*]}"
	off=$(((e1 - since + e2 - since) / 1000000 - s1 - s2 - l1 - l2))
	((-4 <= off && off <= 4))
	[[ $started == *:??.${since:10:3}Z ]] && has 'retry_attempts{' m.prom
}

@test "a span has an error where there is one, and no attribute without a value" {
	table <<-'END'
		# The message of the last attempt, and of the invocation.
		errs 1 'exit 1' 'attempts exhausted' -n 2 false && spans 'each.retry.delay_ms=0,no retry.delay_ms'
		errs 1 'exit 0' 'attempts exhausted' -n 1 --fail-on 0 true
		errs 1 'exit 1' 'stop rule' --stop-on 1 false
		errs 137 'killed by SIGKILL' 'attempts exhausted' -n 1 sh -c 'kill -KILL $$' && spans each.process.exit.code=137
		errs 124 'timed out' 'attempts exhausted' -n 1 -t 50ms sleep 60
		errs 124 'ended without output' 'attempts exhausted' -n 1 --idle-timeout 50ms sleep 60
		errs 124 'ended by the deadline' deadline -T 400ms sleep 60
		errs 127 'not started' 'not executable' ./nowhere
		errs 7 'exit 7' 'budget exhausted' -B api --budget-min 1 --budget-ratio 0 sh -c 'exit 7' && spans each.retry.budget_exhausted=false,true retry.reason=budget retry.budget.key=api
		errs 7 'exit 7' 'breaker open' -B web --breaker 1,60s sh -c 'exit 7'
		fresh 75 each.name=$'\n'retry.reason=breaker$'\n'retry.attempt_count=0 -B web --breaker 1,60s true
		fresh 0 'message=no message'$'\n'retry.reason=succeeded$'\n'process.exit.code=0 true && [ ! -s err ]
		spans 'retry.budget.key=no retry.budget.key' each.retry.verdict=done 'each.message=no message' 'each.retry.delay_ms=no retry.delay_ms' 'each.http.response.status_code=no http.response.status_code' 'each.http.request.resend_count=no http.request.resend_count'
		fresh 0 each.retry.verdict=repeat,done$'\n''each.message=no message,no message' --consecutive 2 true
		# A request after a success is not the same request again.
		fresh 0 each.http.response.status_code=503,503,200,503,200,200 -n 7 --consecutive 2 --http-status status sh -c 'case $RETRY_ATTEMPT in 1 | 2 | 4) echo 503 ;; *) echo 200 ;; esac >status'
		none='no http.request.resend_count'; spans each.http.request.resend_count="$none,1,2,$none,1,$none"
	END
	: >t
	: >err
	sent TERM 143 "told '.*retrying in .*'" "$RETRY" --trace t -d 60 -j none sh -c 'exit 7'
	spans retry.reason=interrupted process.exit.code=143 each.process.exit.code=7
}

# given: what the attempts were told in ./out, is the ids of their spans in ./t,
# and the TRACESTATE
given() {
	local ids
	spans traceId each.spanId
	IFS=, read -ra ids <<<"${got[1]}"
	ids=("${ids[@]/#/00-$got-}")
	holds out "${ids[@]/%/-01 $1}"
}

@test "attempts, hooks and nested retries continue the trace, and without one nothing is written" {
	rows row eval <<-'END'
	each attempt has a TRACEPARENT with its own span
	    TRACESTATE=a=b try status=7 -n 3 "${tells[@]}"
	    given none
	    spans 'parentSpanId=no parentSpanId' 'traceState=no traceState'
	    spans traceId
	    one=$got
	    try status=7 -n 1 "${tells[@]}"
	    not spans traceId="$one"
	below the one that is valid
	    for state in a=b 'k@v=1,b= ,' '' "x=$(printf %0600d 0)"; do
	        TRACEPARENT=$parent TRACESTATE=$state try status=7 -n 1 "${tells[@]}"
	        given "$state"
	        [ ${#state} -gt 0 ] && [ ${#state} -lt 513 ] || state='no traceState'
	        spans "traceId=$trace_id" "parentSpanId=$span_id" \
	            "traceState=$state" "each.traceState=$state"
	    done
	what is malformed is ignored with its TRACESTATE
	    TRACEPARENT=00-$trace_id-$span_id TRACESTATE=a=b try status=7 -n 1 "${tells[@]}"
	    given none
	    spans 'parentSpanId=no parentSpanId' 'traceState=no traceState'
	    not has "$trace_id" t
	not where it is not sampled, but it is handed on
	    local variables="00-$trace_id-$span_id-00 a=b"
	    TRACEPARENT=${variables% *} TRACESTATE=a=b try status=7 -n 2 "${tells[@]}"
	    holds out "$variables" "$variables"
	    [ ! -e t ]
	    TRACEPARENT=${variables% *} is 0 "$RETRY" --trace nowhere/t true
	    not has trace err
	not without --trace
	    usual=()
	    try status=7 out='none none' -n 1 "${tells[@]}"
	    TRACEPARENT=x TRACESTATE='' try out='x |none' \
	        sh -c 'echo "$TRACEPARENT ${TRACESTATE-none}"; echo "${RETRY_TRACE-none}"'
	a hook, that of the last attempt, or of the invocation
	    try status=7 -n 2 --on-retry 'echo "$TRACEPARENT" >>seen' \
	        --on-give-up 'echo "$TRACEPARENT" >>seen' "${tells[@]}"
	    mapfile -t told <out
	    holds seen "${told[@]% none}"
	    fresh 124 each.name= -T 0.000000001 --on-give-up 'echo "$TRACEPARENT" >seen' true
	    spans traceId spanId
	    holds seen "00-$got-${got[1]}-01"
	a nested retry, below the attempt that runs it
	    mkdir dir
	    try status=7 -n 2 sh -c 'cd dir && "$RETRY" -d 0 -n 2 -- sh -c "exit 7"'
	    mapfile -t all <t
	    [ "${#all[@]}" -eq 3 ]
	    echo "${all[0]}" >first
	    echo "${all[1]}" >second
	    spans 'parentSpanId=no parentSpanId' 'name=retry sh' traceId each.spanId
	    spans @first "traceId=$got" "parentSpanId=${got[1]%,*}" \
	        @second "traceId=$got" "parentSpanId=${got[1]#*,}"
	    [ ! -e dir/t ]
	END
}

@test "the resource and the names are those of the environment and the command" {
	OTEL_SERVICE_NAME=shop try true
	OTEL_RESOURCE_ATTRIBUTES='service.name=list, team = web%2C%20%C3%BC' try says='' true
	OTEL_SERVICE_NAME=shop OTEL_RESOURCE_ATTRIBUTES='a=1,service.name=list' try true
	OTEL_SERVICE_NAME='' OTEL_RESOURCE_ATTRIBUTES='service.name=' try true
	OTEL_RESOURCE_ATTRIBUTES='a=1,b=%4' try says='OTEL_RESOURCE_ATTRIBUTES ignored: malformed' true
	OTEL_RESOURCE_ATTRIBUTES=a OTEL_SERVICE_NAME=$'"\n\\\xff' try says='' -q true
	# The last part of the command's name, cut between characters, and no argument.
	ln -s "$(type -P true)" $'a"\xff b'
	try $'./a"\xff b' s3cret
	printf -v zeros %0300d 0
	printf -v long 'é%.0s' {1..200}
	for name in / $zeros "x$long" "$long"; do
		try status=126 "$name"
	done
	not has s3cret t
	# All other tests read a trace as text.
	"$PYTHON" -IS - <<-'END'
		import json
		def unique(pairs):
		    assert len(dict(pairs)) == len(pairs), pairs
		    return dict(pairs)
		def read(line):
		    [r] = json.loads(line.decode("utf-8", "strict"),
		                     object_pairs_hook=unique)["resourceSpans"]
		    resource = {pair["key"]: pair["value"]["stringValue"]
		                for pair in r["resource"]["attributes"]}
		    first, last = r["scopeSpans"][0]["spans"]
		    assert first["name"] == "retry " + last["name"]
		    assert {"key": "process.executable.name",
		            "value": {"stringValue": last["name"]}} in first["attributes"]
		    return resource, last["name"]
		text = open("t", "rb").read()
		assert text.endswith(b"\n")
		got = [read(line) for line in text[:-1].split(b"\n")]
		resources, names = zip(*got)
		assert resources[:6] == ({"service.name": "shop"},
		    {"service.name": "list", "team": "web, ü"},
		    {"service.name": "shop", "a": "1"}, {"service.name": "retry"},
		    {"service.name": "retry"}, {"service.name": "\"\n\\\\xff"}), resources
		assert names[6:] == ("a\"\\xff b", "/", "0" * 255,
		    "x" + "é" * 127, "é" * 127), names
	END
}

@test "a trace is added to the file or descriptor of that name in one write, at the end" {
	rows row eval <<-'END'
	one write
	    strace -o trace true 2>/dev/null || skip 'no strace here that works'
	    [ -z "${RETRY_SAN-}" ] || skip 'the sanitizers write, too'
	    echo '{"resourceSpans":[]}' >t
	    OTEL_RESOURCE_ATTRIBUTES=long=$(printf '%0100000d' 7) is 7 strace -y -o trace \
	        -e trace=openat,open,write "$RETRY" -q -n 1 --trace t sh -c 'exit 7'
	    [ "$(grep -c '^write(.*/t>' trace)" -eq 1 ]
	    [[ $(<trace) == *open*'"t", '*O_APPEND* ]]
	    mapfile -t all <t
	    [[ ${#all[@]} == 2 && ${all[0]} == '{"resourceSpans":[]}' && ${#all[1]} -ge 100000 ]]
	one is made as the umask allows, and an old one and a link stay
	    umask 027
	    try true
	    [ "$(stat -c %a t)" = 640 ]
	    chmod 604 t
	    ln t hard
	    ln -s t link
	    is 0 "$RETRY" --trace link true
	    [ "$(stat -c %a t)" = 604 ] && [ -L link ] && [ t -ef link ] && [ t -ef hard ]
	    ln -s dir/new dangling
	    mkdir dir
	    is 0 "$RETRY" --trace dangling true
	    [ "$(lines t) $(lines dir/new)" = '2 1' ]
	that of RETRY_TRACE, without the option, also in a policy
	    mkdir dir
	    export RETRY_TRACE=t
	    is 0 "$RETRY" sh -c 'cd dir && exec "$RETRY" true'
	    is 0 "$RETRY" --trace other true
	    echo trace=third >policy
	    is 0 "$RETRY" --policy ./policy "$RETRY" true
	    RETRY_TRACE='' is 0 "$RETRY" true
	    RETRY_TRACE=- is 0 "$RETRY" printenv RETRY_TRACE
	    said -
	    [ "$(lines t) $(lines other) $(lines third) $(lines err)" = '2 1 2 1' ]
	    spans @err 'name=retry printenv'
	    [ ! -e dir/t ]
	standard error or another descriptor
	    mkfifo pipe
	    exec 9<>pipe
	    is 0 "$RETRY" --trace - -q true
	    is 0 "$RETRY" --trace pipe true
	    read -ru 9 piped
	    echo "$piped" >piped
	    { echo before; "$RETRY" --trace /dev/stdout true; echo after; } >both
	    mapfile -t both <both
	    [[ ${#both[@]} == 3 && ${both[0]} == before && ${both[2]} == after ]]
	    echo "${both[1]}" >second
	    spans @err each.name=true @piped each.name=true @second each.name=true
	    [ "$(lines err)" -eq 1 ] && [ -p pipe ]
	END
}

# unwritten FILE WHY: nothing is added to this file, and a warning says why
unwritten() {
	usual=(-d 0 --trace "$1")
	try status=7 says="*cannot write trace '$1': $2*" -n 2 sh -c 'exit 7' &&
	    try says="cannot write trace '$1': $2" -q true
}

@test "a file that cannot be written is a warning, and changes no status" {
	echo x >file
	mkdir dir shared
	ln -s /dev/full full
	ln -s loop loop
	mkfifo pipe
	table unwritten <<-'END'
		nowhere/t 'No such file or directory'
		file/t 'Not a directory'
		dir 'Is a directory'
		full 'No space left on device'
		pipe 'No such device or address'
		loop 'Too many levels of symbolic links'
	END
	gives 0 "retry: cannot write trace 'file': File too large" \
	    sh -c 'ulimit -f 0; exec "$@" 2>&1' sh "$RETRY" --trace file true
	[ "$(<file)" = x ]
	# Somebody else's in a shared directory is left alone.
	is_root && [ "$(</proc/sys/fs/protected_regular)" != 0 ] || skip 'nobody keeps it safe'
	echo old >shared/t
	chown 65534 shared/t
	chown 1234 shared
	chmod 1777 shared
	unwritten shared/t 'Permission denied'
	[ "$(<shared/t)" = old ]
}

@test "on a full disk the old lines stay whole, and of a new one nothing stays" {
	isolate -m
	mkdir place
	echo 99 >status
	inject fallocate:error=EOPNOTSUPP # as on a disk that cannot be asked for room
	"${isolate[@]}" sh -c 'mount -t tmpfs -o size=64k none place || exit 77
		retry=$1 text=$2; shift 2
		"$retry" --trace place/t true && head -c 52k /dev/zero >place/zeros
		export OTEL_RESOURCE_ATTRIBUTES=long=$text
		{ "$retry" -q --trace place/t true && cp place/t t &&
		    "$@" "$retry" -q --trace place/t true && cmp place/t t; } 2>err
		echo "$?" >status' sh "$RETRY" "$(printf %020000d 7)" "${inject[@]}" ||
		[ "$?" != 77 ] || skip 'no right to mount here'
	[ "$(<status)" = 0 ]
	holds err "retry: cannot write trace 'place/t': No space left on device" \
	    "retry: cannot write trace 'place/t': No space left on device"
	spans each.name=true
	[ "$(lines t)" -eq 1 ]
}
