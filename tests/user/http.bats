#!/usr/bin/env bats
# Covers attempt/http_request, http/http_status.
# Retries by what a server answers: --http, --http-status, waits that the server
# asks for, and requests that must not be sent twice. tests/unit has the forms of
# a status file, the fields that name a wait, curl's options and methods, and
# what follows from them; here is that all of this gets to the rules. Most rows
# have a curl that only says what it got; some have the real one, and a server.
# shellcheck disable=SC2016,SC2034 # the commands' shells expand, and the tables

load helper
load actor

# No .curlrc and no proxies of the user who runs the tests.
setup() {
	helper_setup
	unset CURL_HOME XDG_CONFIG_HOME {http,https,all}_proxy {HTTPS,ALL}_PROXY
	export HOME=$PWD no_proxy='*'
	curl=$BATS_FILE_TMPDIR/curl
	[ -e "$curl" ] || ln -s "$ACTOR" "$curl"
}

# serve: a fresh server (server.py) at $url, which writes ./log; nothing listens
# at $refused.
serve() {
	local server=$BATS_FILE_TMPDIR/server port closed connection
	command -v curl >/dev/null || skip 'no curl here'
	if [ ! -e "$server" ]; then # one for all tests
		"$PYTHON" -IS "$BATS_TEST_DIRNAME/../tools/server.py" "$server" \
		    >"$server.said" 2>&1 3>&- &
		wait_for test -e "$server"
	fi
	read -r _ port closed <"$server"
	exec {connection}<>"/dev/tcp/127.0.0.1/$port"
	printf 'FRESH %s\n\n' "$PWD/log" >&"$connection"
	read -r _ <&"$connection" || :
	exec {connection}<&-
	url=http://127.0.0.1:$port
	refused=http://127.0.0.1:$closed
}

teardown_file() {
	local pid
	[ ! -e "$BATS_FILE_TMPDIR/server" ] || {
		read -r pid _ <"$BATS_FILE_TMPDIR/server"
		kill "$pid"
	}
}

# Two attempts without delay.
usual=(-n 2 -d 0)

# curls EXIT HEADS CHECK... [OPTION]... COMMAND...: a try whose command has a $curl,
# which gets the responses HEADS, the first one without its "HTTP/1.1 ", writes them
# behind --dump-header and exits with EXIT.
curls() {
	local -x STATUS=$1 REPLAY=$PWD/replay
	[ -d replay ] || {
		mkdir replay
		: >replay/out
		: >replay/err
		ln -s ../ran replay/runs
	}
	printf '%b' "${2:+HTTP/1.1 $2\n\n}" >replay/head
	try "${@:3}"
}

# leaves EXIT TEXT CHECK... [OPTION]...: a try of a command that leaves TEXT in the
# status file $F and exits with EXIT.
export F=status
leaves() {
	try "${@:3}" --http-status "$F" -- sh -c \
	    'printf "%b" "$0" >"$F"; echo >>ran; exit "$1"' "$2" "$1"
}

# asks TIMES CHECK... [OPTION]... -- COMMAND...: a try in which the server gets TIMES
# requests. A word like /503/200 is a URL of the server, a script of its own in each
# row.
asks() {
	local times=$1 got all word words=()
	shift
	for word; do
		[[ $word != /[1-5][0-9][0-9]* ]] ||
		    word=$url$word\?$((targets += 1))
		words+=("$word")
	done
	: >log
	try "${words[@]}" || return
	mapfile -t all <log
	got=${#all[@]}
	[ "$got" -eq "$times" ] || {
		echo "asked $got times instead of $times"
		cat log err
		return 1
	} >&2
}

# once LINE: ./err has this line of retry's, and has it once.
once() {
	local line count=0
	while IFS= read -r line; do
		[ "$line" != "retry: $1" ] || ((++count))
	done <err
	[ "$count" -eq 1 ] || {
		echo "not said once: $1"
		cat err
		return 1
	} >&2
}

# missed WORDS: one line says that no status was found, and WORDS, the remedy.
missed() {
	once "no HTTP status found: $1"
	reads err '*' && [[ $said != *'no HTTP status found'*'no HTTP status found'* ]]
}

# without WORDS: nothing like this was written to ./err.
without() {
	reads err '*' && [[ $said != *"$1"* ]]
}

# keys: the Idempotency-Key of each request, empty where there is none; keyed
# KEY...: these were the keys.
keys() {
	awk -F '\t' '{
		key = ""
		for (i = 3; i <= NF; i++)
			if (tolower($i) ~ /^idempotency-key:/) {
				sub(/^[^:]*: */, "", $i)
				key = key $i
			}
		print key
	}' log
}

keyed() {
	keys | holds /dev/stdin "$@"
}

# shows NAME: ./NAME is a program that shows its words; gets WORDS [OPTION]...
# COMMAND...: it got these, the name of retry's file as FILE.
shows() {
	printf '#!/bin/sh\necho "$*"\n' >"$1"
	chmod +x "$1"
}

gets() {
	local got
	try "${@:2}" || return
	read -r got <out
	while [[ $got =~ ^(.*(--dump-header|--config)\ )/[^\ ]*(.*)$ ]]; do
		got=${BASH_REMATCH[1]}FILE${BASH_REMATCH[3]}
	done
	[ "$got" = "$1" ] || {
		echo "$got instead of $1"
		return 1
	} >&2
}

uuid='^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$'
not_404='HTTP 404), giving up: HTTP 404 is not retried'
again=', retrying in 0s'
spent=', giving up: attempts exhausted'
once='giving up: a POST is not sent twice without --idempotency-key'
hour='giving up: Retry-After too long (1h)'
none_by_curl='curl wrote none to $RETRY_HTTP_STATUS'
command='have the command write it to $RETRY_HTTP_STATUS, or make curl the command'
share='curl makes several requests: they share one idempotency key'
multiply='curl has a --retry of its own: attempts multiply'

@test "the real curl takes retry's options in front of each operation, and its output stays its own" {
	serve
	echo 'user-agent = curlrc' >.curlrc
	table asks <<-'END'
		3 says="*(exit 0, HTTP 503)$again" -n 3 --http -- curl -sS /503/503/200 && holds out 'answer 1' 'answer 2' 'answer 3'
		1 status=1 says="*$hour" --http -- curl -sS '/503;Retry-After=3600;long' && holds out 'answer 1'
		2 -O --http -- curl /503/200 --silent && holds out 'answer 2'
		# Each operation that --next begins is dumped, and all of its responses.
		4 says="*(exit 0, HTTP 503)$again" --http -- curl -sS /200 --next -sS /503/200
		# Of several URLs the last response counts, but the longest wait.
		2 status=1 says="*(exit 0, HTTP 503), $hour" --http -- curl -sS '/503;Retry-After=3600' /503
		2 status=1 says="*(exit 0, HTTP 503), $hour" --http -- curl -sSZ '/503;Retry-After=3600' '/503;Retry-After=3600'
		2 says='' --http -- curl -sS '/503;Retry-After=3600' /200
		4 status=1 says="*(exit 0, HTTP 503)$spent" --http -- curl -sSL '/302;Retry-After=3600;Location=%2F503'
		4 says="*(exit 22, HTTP 503)$again" --http -- curl -sSfL '/302;Location=%2F503%2F200'
		2 status=18 says="*(exit 18, HTTP 200)$spent" --http -- curl -sSf '/200;cut'
		# It reads its .curlrc, and with -q does not.
		1 says='' --http -- curl -sS /200 && grep -qF 'User-Agent: curlrc' log
		1 says='' --http -- curl -q -sS /200 && not grep -qF 'User-Agent: curlrc' log
		1 status=22 says="*$not_404" --http -- curl -sSf '/404;body=a%0Ab'
	END
	curl -sSf "$url/404" 2>want || :
	grep -v '^retry: ' err | cmp - want
}

@test "--idempotency-key sends one key with every attempt, and shows it nowhere" {
	serve
	asks 2 status=22 --idempotency-key auto -- curl -sSf -d x=1 /503
	first=$(keys | head -n 1)
	[[ $first =~ $uuid ]]
	keyed "$first" "$first"
	# The draft of the header field wants a structured string.
	asks 1 status=22 -n 1 --idempotency-key '"auto"' -- curl -sSf -d x=1 /503
	read -r key < <(keys)
	[[ $key == '"'*'"' ]]
	key=${key#'"'}
	[[ ${key%'"'} =~ $uuid ]]
	asks 1 says='' --idempotency-key auto --http -- curl -sSf -d x=1 /200
	[[ $(keys) =~ $uuid && $(keys) != "$first" ]]
	asks 1 status=22 -n 1 --idempotency-key auto --http -- \
	    curl -sSf -H 'Idempotency-Key: mine' -d x=1 /503
	keyed mine
	cat >curl <<-'SH'
		#!/bin/sh
		tr '\0' '\n' <"/proc/$$/cmdline" >words
		exec /usr/bin/env PATH="${PATH#*:}" curl "$@"
	SH
	chmod +x curl
	PATH=$PWD:$PATH asks 1 status=22 -n 1 -v --report r.json --metrics m.prom \
	    --log-format json --http --idempotency-key 'hush "cr\et' -- curl -sSf -d x=1 /503
	keyed 'hush "cr\et'
	has_line -sSf words
	not grep -qF hush words err r.json m.prom out
}

advice="curl exits with 0 even if the server answers with an error: use --http, or curl's own -f"

@test "after an answer with which curl exits with 0 one line names --http, unless the user has a rule" {
	table curls <<-'END'
		0 '' runs=1 says="$advice" -- timeout 20 "$curl" -sS -o page URL
		0 '' runs=2 --consecutive 2 -- "$curl" -sS URL && once "$advice"
		0 '503 x' status=1 runs=2 says="*$spent" --http -- "$curl" -sS URL && without --http
		0 '' runs=1 says='' -q -- "$curl" -sS URL
		0 '' runs=1 says='' -E -- "$curl" -sS URL
		0 '200 x' runs=1 says='' --http-status "$F" -- "$curl" -sS --dump-header "$F" URL
		0 '' runs=1 says='' --success-on 7 -- "$curl" -sS URL
		7 '' status=7 runs=1 says="*$spent" -n 1 -- "$curl" -sS URL && without --http
	END
}

@test "what the server answers, and how curl ends, decide together" {
	short='200 x\nContent-Length: 16\n\nHTTP/1.1 503 x' # as if it were the body
	table curls <<-'END'
		# A failure that exits 0 ends with 1.
		0 '503 x' status=1 runs=2 says="*attempt 2/2 failed (exit 0, HTTP 503)$spent" --http -- "$curl" URL
		22 '403 x' status=22 runs=1 says='*giving up: HTTP 403 is not retried without a Retry-After' --http -- "$curl" -f URL
		0 '302 x' runs=1 -v --http -- "$curl" URL && once 'attempt 1/2 succeeded (exit 0, HTTP 302)'
		7 '' status=7 runs=2 says="*attempt 2/2 failed (exit 7)$spent" --http -- "$curl" URL
		# curl's own dump is only heads, whatever lengths they give.
		0 "$short" status=1 runs=2 says="*(exit 0, HTTP 503)$spent" --http -- "$curl" A B
		0 "$short" status=1 runs=2 says="*(exit 0, HTTP 503)$spent" --http-status "$F" -- "$curl" --dump-header "$F" A
		# A curl that cannot trust the server.
		60 '' status=60 runs=1 says='*attempt 1/2 failed (exit 60), giving up: not retryable' --http -- "$curl" URL
		60 '' status=60 runs=2 says="*$spent" --http -- "$ACTOR" URL
		22 '404 x' status=22 runs=1 --http -- "$curl" --retry 2 URL && once "$multiply"
		# Several requests share a key.
		0 '200 x' runs=1 says="*$share" --http --idempotency-key k -- "$curl" -d a A --next -d b B
	END
}

@test "the user's lists win over the table of HTTP, by the status or the output, not by how curl ends" {
	not_429='giving up: not in --retry-on http:404'
	echo 'error: try later' >busy
	table curls <<-'END'
		22 '404 x' status=22 runs=2 says="*$spent" --http --retry-on http:404 -- "$curl" -f URL
		22 '404 x' status=22 runs=1 says="*$not_404" --http --retry-on 22 -- "$curl" -f URL
		22 '404 x' status=22 runs=1 says="*$not_404" --http --retry-on fail,timeout -- "$curl" -f URL
		22 '404 x' status=22 runs=1 says="*giving up: --stop-on http:404" --http --retry-on http:404 --stop-on http:404 -- "$curl" -f URL
		22 '429 x' status=22 runs=1 says="*$not_429" --http --retry-on http:404 -- "$curl" -f URL
		# With -w they only take out what HTTP calls final.
		22 '404 x' status=22 runs=2 says="*$spent" -n 2 -w 60 --http --retry-on http:404 -- "$curl" -f URL
		22 '429 x' status=22 runs=2 says="*$spent" -n 2 -w 60 -d 0 --http --retry-on http:404 -- "$curl" -f URL
		22 '404 x' status=22 runs=1 says="*$not_404" -n 2 -w 60 --http -- "$curl" -f URL
	END
	leaves 22 404 status=22 runs=1 says="*$not_404" --retry-on stderr:later
	printf 'try later\n' >replay/err
	with STATUS=22 REPLAY="$PWD/replay" try status=22 says="*> try later|attempt 2/2 failed (exit 22, HTTP 404)$spent" \
	    --http --retry-on stderr:later -- "$curl" -f URL
	# What a preset calls transient stays so.
	leaves 22 503 status=22 runs=1 says="*giving up: not in --retry-on http:404" --retry-on http:404
	echo 'curl: (22) The requested URL returned error: 503' >replay/err
	printf "HTTP/1.1 503 x\r\n\r\n" >replay/head
	with STATUS=22 REPLAY="$PWD/replay" try status=22 says="*attempt 2/2 failed (exit 22, HTTP 503)$spent" \
	    --http --preset curl --retry-on http:404 -- "$curl" -f URL
}

@test "a server's word on a retry counts more than the user's, and its no more than its yes" {
	refusal='giving up: the server wants no retry'
	table curls <<-'END'
		22 '503 x\nX-Should-Retry: false' status=22 runs=1 says="*(exit 22, HTTP 503), $refusal" --http -- "$curl" -f URL
		0 '429 x\nstripe-should-retry: False' status=1 runs=1 says="*(exit 0, HTTP 429), $refusal" --http -- "$curl" URL
		18 '200 x\nX-Should-Retry: false' status=18 runs=1 says="*(exit 18, HTTP 200), $refusal" --http -- "$curl" URL
		0 '200 x\nX-Should-Retry: false' runs=1 says='' --http -- "$curl" URL
		22 '503 x\nX-Should-Retry: false' status=22 runs=1 says="*$refusal" --http --retry-on http:503 -- "$curl" -f URL
		22 '503 x\nX-Should-Retry: false\nStripe-Should-Retry: true' status=22 runs=1 says="*$refusal" --http -- "$curl" -f URL
		22 '503 x\nX-Should-Retry: false' status=22 runs=1 says="*$refusal" -a -- "$curl" -f URL
		# Its yes.
		22 '409 x\nX-Should-Retry: true' status=22 runs=2 says="*$spent" --http -- "$curl" -f URL
		22 '400 x\nStripe-Should-Retry: true' status=22 runs=2 says="*$spent" --http -- "$curl" -f URL
		22 '409 x\nX-Should-Retry: true' status=22 runs=2 says="*$spent" --http --retry-on http:503 -- "$curl" -f URL
		22 '409 x\nX-Should-Retry: true' status=22 runs=2 says="*$spent" -a -- "$curl" -f URL
		22 '409 x\nX-Should-Retry: true' status=22 runs=1 says='*giving up: --stop-on http:409' --http --stop-on http:409 -- "$curl" -f URL
		22 '409 x\nX-Should-Retry: true\nRetry-After: 3600' status=22 runs=1 says="*$hour" --http -- "$curl" -f URL
		# No word sends a POST twice.
		22 '503 x\nX-Should-Retry: true' status=22 runs=1 says="*$once" --http -- "$curl" -f -d x=1 URL
		22 '503 x\nX-Should-Retry: true' status=22 runs=2 says="*$spent" --idempotency-key k -- "$curl" -f -d x=1 URL
		# Another word is none.
		22 '503 x\nX-Should-Retry: 0' status=22 runs=2 says="curl's response: X-Should-Retry '0' was not understood|*" -v --http -- "$curl" -f URL
	END
}

@test "of several URLs of one curl the longest wait of all errors counts" {
	earlier='503 x\nRetry-After: 3600\n\nHTTP/1.1 '
	mixed='503 A\nHTTP/1.1 503 B\nDate: Sun, 06 Nov 1994 08:49:37 GMT\nRetry-After: 3600\n\n'
	table curls <<-'END'
		22 "${earlier}503 x" status=22 runs=1 says="*(exit 22, HTTP 503), $hour" --http -- "$curl" A B
		22 "${earlier}503 x\nRetry-After: 1" status=22 runs=1 says="*(exit 22, HTTP 503), $hour" --http -- "$curl" /[1-2]
		22 "${earlier}200 x" status=22 runs=1 says="*(exit 22, HTTP 200), $hour" -a --retry-on 22 -- "$curl" A B
		22 "$mixed" status=22 runs=1 says="*(exit 22, HTTP 503), $hour" --http -- "$curl" -Z A B
		# A success is one.
		0 "${earlier}200 x" runs=1 says='' --http -- "$curl" A B
		# So are the steps to one URL, and what curl has waited for itself.
		22 "${earlier}503 x" status=22 runs=2 says="*$spent" --http -- "$curl" A
		22 "${earlier}503 x" status=22 runs=2 says="*$multiply*$spent" --http -- "$curl" --retry 2 A B
		22 '200 x\nRetry-After: 3600\n\nHTTP/1.1 503 x' status=22 runs=2 says="*$spent" --http -- "$curl" A B
	END
}

@test "409 with a key means that the first request is still being served" {
	mine='Idempotency-Key: mine'
	not_409='giving up: HTTP 409 is not retried'
	table curls <<-'END'
		22 '409 x' status=22 runs=2 says="*attempt 2/2 failed (exit 22, HTTP 409)$spent" --idempotency-key k -- "$curl" -f -d x=1 URL
		0 '409 x' status=1 runs=2 says="*$spent" --http --idempotency-key auto -- "$curl" -X PATCH URL
		22 '409 x' status=22 runs=2 says="*$spent" --http -- "$curl" -f -H "$mine" -d x=1 URL
		22 '409 x' status=22 runs=2 says="*$spent" -a -- "$curl" -f -H "$mine" -d x=1 URL
		22 '409 x' status=22 runs=2 says="*$spent" --idempotency-key k --method POST --http -- sh -c '"$0" --dump-header "$RETRY_HTTP_STATUS" URL' "$curl"
		# PUT is no POST.
		22 '409 x' status=22 runs=1 says="*$not_409" --idempotency-key k -- "$curl" -f -T f URL
		22 '409 x' status=22 runs=1 says="*$not_409" --http -- "$curl" -f -H "$mine" URL
		22 '409 x' status=22 runs=1 says="*$not_409" --idempotency-key k --method PUT -- "$curl" -f -d x=1 URL
		22 '409 x' status=22 runs=1 says="*$not_409" --idempotency-key k --method put --http -- sh -c '"$0" --dump-header "$RETRY_HTTP_STATUS" URL' "$curl"
		# Without a key it is final.
		22 '409 x' status=22 runs=1 says="*$not_409" --http -- "$curl" -f -d x=1 URL
		22 '409 x' status=22 runs=1 says="*$not_409" --http -- "$curl" -f URL
		# A key is no other list.
		22 '409 x' status=22 runs=1 says="*giving up: not in --retry-on http:503" --retry-on http:503 --idempotency-key k -- "$curl" -f -d x=1 URL
		22 '409 x\nX-Should-Retry: false' status=22 runs=1 says='*the server wants no retry' --idempotency-key k -- "$curl" -f -d x=1 URL
	END
	# An order is not lost because a timeout cut the first request.
	serve
	asks 3 says='*(exit 22, HTTP 409), retrying in 0s' -n 3 --idempotency-key auto -- \
	    curl -sSf -d x=1 '/200;drop/409/201'
	read -r first < <(keys)
	keyed "$first" "$first" "$first"
	# It is no limit, and so holds no other command.
	curls 22 '409 x\nRetry-After: 1' status=22 runs=1 -n 1 -B api --budget-dir . --idempotency-key k -- "$curl" -f -d x=1 URL
	[[ $("$RETRY" --budget-dir . --budget-status api --json) != *'"held_ms": '[1-9]* ]]
}

@test "-a judges curl as --http does, and says nothing where there is no status" {
	echo auto >team
	table curls <<-'END'
		0 '503 x' status=1 runs=2 says="*(exit 0, HTTP 503)$spent" -a -- "$curl" URL
		22 '429 x\nRetry-After: 3600' status=22 runs=1 says="*$hour" --policy ./team -- nice timeout 20 "$curl" -f URL
		22 '503 x' status=22 runs=1 says="*$once" --preset auto -- "$curl" -f -d x=1 URL
		60 '' status=60 runs=1 says='*preset curl: not a transient failure, see --retry-on' -a -- "$curl" URL
		0 '' runs=1 says="*$advice" -a --no-http -- "$curl" URL
		0 '200 x' runs=1 says='' --no-http --policy ./team --http-status "$F" -- "$curl" --dump-header "$F" URL
		0 '' runs=1 says='' -a -- "$curl" URL
		0 '' runs=1 -va -- "$curl" URL && missed "$none_by_curl"
		22 '503 x' status=22 runs=1 says="*preset curl: not a transient failure, see --retry-on" --preset curl -- "$curl" -f URL
	END
}

@test "options for curl go behind the word curl, behind -q, and first of each operation" {
	shows curl
	shows sudo
	cat >timeout <<-'SH'
		#!/bin/sh
		echo "$*" >words
		shift 3
		exec "$@"
	SH
	chmod +x timeout
	mine='Idempotency-Key:mine'
	echo idempotency-key=k >keyed
	table gets <<-'END'
		'--disable --dump-header FILE -sS URL' --http -- ./curl --disable -sS URL
		'-q --dump-header FILE A --next --dump-header FILE B' --http -- ./timeout -k 5 10 ./curl -q A --next B
		'-D - URL' --http -- ./curl -D - URL
		'-d x=1 URL' -- ./curl -d x=1 URL
		'-d x=1 URL' --http-status "$F" --idempotency-key k -- ./curl -d x=1 URL
		# A key makes curl a request of --http, unless curl has its own.
		'--dump-header FILE --config FILE -d x=1 URL' --idempotency-key k -- nice ./curl -d x=1 URL
		'--dump-header FILE --config FILE -d x=1 URL' --policy ./keyed -- ./curl -d x=1 URL
		"--dump-header FILE -H $mine -d x=1 URL" --idempotency-key k -- ./curl -H $mine -d x=1 URL
		# Another user could not open the file.
		'-n A=b curl URL' --http -- ./sudo -n A=b curl URL && missed "$command"
	END
	[[ $(<words) == '-k 5 10 ./curl -q --dump-header '* ]]
}

@test "the user's own --dump-header is read and left to him, and one that cannot be costs one line" {
	mkdir there
	table curls <<-'END'
		0 '503 x' status=1 runs=2 says="*(exit 0, HTTP 503)$spent" --http -- "$curl" URL --dump-header heads
		0 '503 x' status=1 runs=2 says="*(exit 0, HTTP 503)$spent" --http -- env -C "$PWD/there" "$curl" --dump-header "$PWD/there/more" URL && without 'status found'
	END
	cmp replay/head heads
	cmp replay/head there/more
	# What was in it before an attempt does not count.
	printf 'HTTP/1.1 404 Not Found\r\n\r\n' >heads
	printf '#!/bin/sh\nexit 7\n' >curl
	chmod +x curl
	try status=7 says="*attempt 2/2 failed (exit 7)$spent" --http -- ./curl -D heads URL
	# What a failure has left may be skipped.
	printf '%s\n' '#!/bin/sh' '[ "$RETRY_ATTEMPT" = 2 ] || exit 18' >curl
	try --http -- ./curl --skip-existing -O URL && missed "$none_by_curl"
	table curls <<-'END'
		0 '' runs=1 --http -- "$curl" -D - URL && missed "$none_by_curl"
		0 '' runs=1 -v --http -- "$curl" -D /dev/null URL && missed "$none_by_curl" && once "status file '/dev/null' ignored: not a regular file"
		0 '503 x' runs=1 --http -- env -C there "$curl" --dump-header heads URL && missed "$none_by_curl"
		0 '' runs=1 says='' -q --http -- "$curl" -D - URL
		0 '' runs=1 -v --http -- "$curl" --expand-dump-header '{{f}}' URL && missed "$none_by_curl" && without '{{f}}'
		# It may send nothing.
		0 '' runs=1 says='' --http -- "$curl" --skip-existing -O URL
		0 '503 x' status=1 runs=2 says="*$spent" --http -- sh -c '"$0" --dump-header "$RETRY_HTTP_STATUS" URL' "$curl" && without 'status found'
	END
}

@test "that no status was found is said once, after a success, where one was asked for" {
	silently() # silently STATUS [OPTION]... COMMAND...
	{
		try status="$1" "${@:2}" && without 'status found' && { [ "$1" != 0 ] || [ ! -s err ]; }
	}
	table <<-'END'
		curls 0 '503 x' runs=1 --http -- sh -c '"$0" URL; exit' "$curl" && missed "$command"
		curls 0 '503 x' runs=1 --http -- env -S "$curl URL" && missed "$command"
		curls 0 '' status=1 runs=2 says="*failed (exit 0)$spent|no HTTP *" --http --fail-on 0 -- "$ACTOR" && missed "$command"
		try -E --http -- sh -c 'echo noise >&2' && missed "$command" && [ "$(lines err)" -eq 1 ]
		silently 0 --http -- sh -c 'echo 200 >"$RETRY_HTTP_STATUS"'
		silently 0 --http -- sh -c 'echo 000 >"$RETRY_HTTP_STATUS"'
		silently 0 -q --http true
		silently 0 --http-status "$F" true
		silently 0 true
		silently 3 --http -- sh -c 'exit 3'
	END
}

@test "what may have changed something is sent once" {
	echo 'data = "x=1"' >config
	table curls <<-'END'
		0 '503 x' status=1 runs=1 says="*attempt 1/2 failed (exit 0, HTTP 503), $once" --http -- "$curl" -d x=1 URL
		# Nobody knows, or the user does.
		22 '503 x' status=22 runs=2 says="*$spent" --http -- "$curl" -K config URL
		22 '503 x' status=22 runs=2 says="*$spent" --method PUT --http -- "$curl" -d x=1 URL
		22 '503 x' status=22 runs=2 says="*$spent" --http -- "$curl" -H Idempotency-Key:k -d x=1 URL
		22 '503 x' status=22 runs=2 -- "$curl" -f -d x=1 URL
		7 '' status=7 runs=1 says="*$once" --http -- "$curl" -L -D - -d x=1 URL
		7 '' status=7 runs=1 says="*$once" --http -- "$curl" --expand-dump-header '{{f}}' -d x=1 URL
		7 '' status=7 runs=1 says="*$once" --http -- "$curl" -d x=1 --url @urls
		# Without a variable n, curl sends no key.
		22 '503 x' status=22 runs=1 says="*$once" --http -- "$curl" --expand-header 'Idempotency-Key: {{n}}' -d x=1 URL
		7 '' status=7 runs=2 says="*attempt 2/2 failed (exit 7)$spent" --http -- "$curl" -d x=1 URL
	END
	printf '#!/bin/sh\nexec "$@"\n' >sudo
	chmod +x sudo
	curls 22 '' status=22 runs=1 says="*$once" --http -- ./sudo "$curl" -f -d x=1 URL
	curls 7 '' status=7 runs=1 says="*$once" --http -- ./sudo "$curl" -d x=1 URL URL
}

@test "a server may ask for a longer delay, for more than is waited, or for no retry" {
	wordy='in a few minutes, when the backup is finished'
	TZ=UTC0 printf -v date '%(%a, %d %b %Y %T GMT)T' $((EPOCHSECONDS + 3600))
	TZ=UTC0 printf -v rfc3339 '%(%FT%T+00:00)T' $((EPOCHSECONDS + 3600))
	about_an_hour()
	{
		[[ $(<err) =~ 'Retry-After too long ('(1h|59m[0-9.]+s)')' ]]
	}
	table <<-'END'
		curls 22 '503 x\nRetry-After-Ms: 450' ms=450 status=22 runs=2 -j none --max-delay 0.1 --http -- "$curl" URL && once 'attempt 1/2 failed (exit 22, HTTP 503), retrying in 0.5s'
		curls 22 '503 x\nRetry-After: 3600' status=22 runs=1 says="*attempt 1/2 failed (exit 22, HTTP 503), $hour" --http -- "$curl" URL
		curls 0 '503 x\nRetry-After: 90' status=1 runs=1 says="*attempt 1/2 failed (exit 0, HTTP 503), giving up: Retry-After too long (1m30s)" --max-retry-after 1s --http -- "$curl" URL
		curls 22 '503 x\nGrpc-Retry-Pushback-Ms: -1' status=22 runs=1 says='*giving up: the server wants no retry' --http -- "$curl" URL
		curls 22 "503 x\nRetry-After: $date" status=22 runs=1 --http -- "$curl" URL && about_an_hour
		curls 22 "503 x\nRetry-After: ${date% GMT}" status=22 runs=1 --http -- "$curl" URL && about_an_hour
		with TZ=Asia/Tokyo curls 22 "503 x\nRetry-After: ${date% GMT}" status=22 runs=1 --http -- "$curl" URL && about_an_hour
		curls 22 "503 x\nRetry-After: $rfc3339" status=22 runs=1 --http -- "$curl" URL && about_an_hour
		curls 22 "503 x\nRetry-After: $((EPOCHSECONDS + 3600))" status=22 runs=1 --http -- "$curl" URL && about_an_hour
		# The deadline.
		curls 22 '503 x\nRetry-After: 60' status=22 runs=1 says='*giving up: Retry-After too long (1m), the deadline comes first' -T 25 --http -- "$curl" URL
		# What makes no sense is ignored, and shown with -v.
		curls 22 '503 x\nRetry-After: soon' status=22 runs=2 -v --http -- "$curl" URL && reads err "curl's response: Retry-After 'soon' was not understood|*|curl's response: *"
		curls 22 '503 x\nretry-after-ms: \033[2J' status=22 runs=1 -n 1 -v --http -- "$curl" URL && once "curl's response: Retry-After-Ms '\x1b[2J' was not understood"
		leaves 22 "HTTP/1.1 503 x\nRetry-After: $wordy\n" status=22 runs=1 -n 1 -v && once "status file '$F': Retry-After '${wordy:0:44}...' was not understood"
		try status=1 runs=1 -n 1 -v --http -- sh -c 'echo >>ran; printf "HTTP/1.1 503 x\nRetry-After: soon\n" >"$RETRY_HTTP_STATUS"' && once "\$RETRY_HTTP_STATUS: Retry-After 'soon' was not understood"
	END
}

@test "the command is told the file by RETRY_HTTP_STATUS, and the key, and one of each only" {
	table <<-'END'
		try status=1 runs=1 says="*attempt 1/2 failed (exit 1, $not_404" --http -- sh -c 'echo 404 >"$RETRY_HTTP_STATUS"; echo >>ran; exit 1'
		# The file is emptied before each attempt.
		try runs=2 --http -- sh -c 'echo >>ran; [ ! -s "$RETRY_HTTP_STATUS" ] || exit 9; [ "$RETRY_ATTEMPT" -gt 1 ] || echo 503 >>"$RETRY_HTTP_STATUS"'
		# Without an answer the exit status counts.
		try status=7 runs=2 says="*attempt 2/2 failed (exit 7)$spent" --http -- sh -c 'echo >>ran; exit 7'
		# A retry that asks for no file of its own passes the outer one on.
		try status=1 runs=2 says="*(exit 1, $not_404" --http -- "$RETRY" -q -n 2 -d 0 -- sh -c 'echo 404 >"$RETRY_HTTP_STATUS"; echo >>ran; exit 1'
		try sh -c '[ -z "${RETRY_HTTP_STATUS+set}${RETRY_IDEMPOTENCY_KEY+set}" ]'
		with RETRY_IDEMPOTENCY_KEY=outer try --http --idempotency-key k -- env && has_line RETRY_IDEMPOTENCY_KEY=k out && not has =outer out
		with RETRY_HTTP_STATUS=outer try --http-status inner --idempotency-key k -- env && has_line RETRY_HTTP_STATUS=inner out && has_line RETRY_IDEMPOTENCY_KEY=k out && not has =outer out
		try status=1 --http --idempotency-key auto -- sh -c 'echo "$RETRY_IDEMPOTENCY_KEY" >>keys; exit 1' && read -r key <keys && [[ $key =~ $uuid ]] && holds keys "$key" "$key"
	END
}

# somewhere: temporary files have a directory of their own, ./tmp, in which none
# is left: spotless.
somewhere() {
	mkdir tmp
	export TMPDIR=$PWD/tmp
}

spotless() {
	[ -z "$(ls -A tmp)" ]
}

@test "the file of --http is in memory, that of one retry alone, and gone with it" {
	rows row eval <<-'END'
	after SIGKILL
	    somewhere
	    start "$RETRY" --http -- sh -c 'echo "$RETRY_HTTP_STATUS" >path
	        echo 503 >"$RETRY_HTTP_STATUS"; : >written; exec sleep 20'
	    wait_for test -e written
	    path=$(<path)
	    [[ $path =~ ^/proc/[0-9]+/fd/[0-9]+$ ]]
	    [ "$(<"$path")" = 503 ]
	    kill -KILL "$pid"
	    ended
	    [ ! -e "$path" ]
	    spotless
	the command does not inherit its descriptor
	    "$RETRY" --http -- ls -l /proc/self/fd >out 3<&0 4<&0 5<&0 6<&0 7<&0 8<&0 9<&0
	    not grep -q memfd out
	END
}

# bare COMMAND...: COMMAND with an empty directory where /proc was.
bare() {
	somewhere
	start "${isolate[@]}" sh -c 'mount -t tmpfs none /proc; exec "$@"' sh "$@"
}

@test "without /proc the files are temporary ones, for us alone, that go with retry" {
	isolate -m
	"${isolate[@]}" sh -c 'mount -t tmpfs none /proc' 2>/dev/null ||
		skip 'no right to cover /proc here'
	rows row eval <<-'END'
	for a status and the key
	    shows curl
	    printf 'stat -c "%%a %%s" "$2" "$4" >>stats; cat "$4" >config
	        echo "HTTP/1.1 503 x" >"$2"\n' >>curl
	    bare "$RETRY" -n 2 -d 0 --http --idempotency-key k -- ./curl URL
	    ended 1
	    [[ $(head -n 1 out) == "--dump-header $PWD/tmp/"*" --config $PWD/tmp/"*' URL' ]]
	    holds stats '600 0' '600 30' '600 0' '600 30'
	    holds config 'header = "Idempotency-Key: k"'
	    spotless
	where retry cannot begin
	    bare sh -c 'for n in 4 5 6 7 8 9 10; do
	            (ulimit -n "$n"; exec "$0" -n 1 -t 60 --http -- true)
	        done' "$RETRY"
	    ended
	    reads err '*eventfd: *; command not run*'
	    [[ $said != *eventfd*eventfd* ]]
	    spotless
	where a signal ends retry
	    bare "$RETRY" -d 20 -j none --http -- sh -c 'echo 503 >"$RETRY_HTTP_STATUS"'
	    wait_for has 'retrying in' err
	    not spotless
	    ended_by TERM
	    spotless
	END
}

@test "under a /proc of other processes nobody else's file is taken for ours" {
	isolate -p -f -m --mount-proc
	somewhere
	echo precious >victim
	# Number 1 of that /proc; retry is number 1 of what is not mounted.
	cat >within <<-'END'
		for n in {10..60}; do
			eval "exec $n<&9"
		done
		(
			for n in {9..60}; do
				eval "exec $n<&-"
			done
			exec unshare -p -f "$RETRY" --http -- sh -c 'echo 404 >"$RETRY_HTTP_STATUS"'
		)
		exit $?
	END
	start "${isolate[@]}" bash within 9<>victim
	ended
	[ "$(<victim)" = precious ]
	[ "$status" -eq 1 ]
	once 'attempt 1/5 failed (exit 0, HTTP 404), giving up: HTTP 404 is not retried'
	spotless
}

# irregular PATH WHY: this status file is ignored, as a line of -v says
irregular() {
	try status=7 runs=2 -v --http-status "$1" sh -c 'echo >>ran; exit 7' &&
		reads err "*status file '$1' ignored: $2|*" &&
		try says='' --http-status "$1" true
}

@test "a status file is named, emptied and the same; one that tells nothing is ignored" {
	gone_file="No such file or directory"
	rows row eval <<-'END'
	it is named to the command, emptied before each attempt, and stays the same
	    try status=1 says="*attempt 2/2 failed (exit 0, HTTP 503)$spent" --http-status "a b" sh -c '
	        echo 503 >"$RETRY_HTTP_STATUS"; echo "${RETRY_LAST_STATUS-none}" >>last'
	    holds 'a b' 503
	    holds last none 1 # the status of a failure that exited 0
	    printf 'HTTP/1.1 404 Not Found\r\n\r\n' >"$F"
	    inode=$(stat -c %i "$F")
	    try runs=2 says="*(exit 0, HTTP 503)$again" --http-status "$F" sh -c 'echo >>ran
	        [ ! -s "$F" ] || exit 9
	        [ "$RETRY_ATTEMPT" -gt 1 ] || echo 503 >>"$F"'
	    [ "$(stat -c %i "$F")" = "$inode" ]
	no file
	    irregular status "$gone_file"
	    irregular no/where "$gone_file"
	no regular file, of which nothing is read and nothing emptied
	    mkfifo fifo
	    mkdir directory
	    echo 404 >target
	    ln -s target link
	    exec 8<>fifo
	    echo 404 >&8
	    for file in fifo directory /dev/zero; do
	        irregular "$file" 'not a regular file'
	    done
	    irregular link '*'
	    read -r -t 10 line <&8
	    [ "$line" = 404 ] && holds target 404
	a link or a FIFO that takes its place meanwhile
	    echo 404 >target
	    try status=7 runs=2 says="*(exit 7)$spent" --http-status "$F" \
	        sh -c 'ln -sf target "$F"; echo >>ran; exit 7'
	    holds target 404
	    try status=7 runs=2 --http-status "$F" \
	        sh -c 'rm -f "$F"; mkfifo "$F"; echo >>ran; exit 7'
	END
	table <<-'END'
		leaves 1 'It went wrong\n' status=1 runs=2 -v && has_line "retry: status file '$F' ignored: no HTTP status in it" err
		leaves 1 'It went wrong\n' status=1 runs=2 says="*(exit 1)$spent" && without 'status file'
		# No answer.
		leaves 7 000 status=7 runs=2 says="*(exit 7)$spent"
		leaves 0 000 runs=1 says=''
	END
}

@test "a status file that may not be read, or not be emptied, is not believed" {
	local as=() drop=()
	if [ "$EUID" -eq 0 ]; then
		drop=(setpriv --bounding-set '-dac_override,-dac_read_search')
		as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
		"${drop[@]}" "${as[@]}" true 2>/dev/null ||
			skip 'no way to be less than root'
	fi
	is 7 "${drop[@]}" "$RETRY" -v -n 2 -d 0 --http-status "$F" -- sh -c '
		[ ! -e "$F" ] || chmod 600 "$F"
		echo 404 >"$F"; chmod 0 "$F"; echo >>ran; exit 7'
	holds ran '' ''
	has_line "retry: status file '$F' ignored: Permission denied" err
	is_root || skip 'only root can make a file of somebody else'
	echo 'HTTP/1.1 404 Not Found' >stale
	chmod a+rX stale .
	cp "$RETRY" ./retry
	try --http-status stale true
	echo 'HTTP/1.1 404 Not Found' >stale
	: >err
	is 0 "${as[@]}" ./retry -v --http-status stale -- true
	once "status file 'stale' ignored: Permission denied"
	once 'attempt 1/5 succeeded (exit 0)'
}

@test "the last response is found wherever it begins, else the end of the file counts; http: is in LISTs" {
	printf -v page '%0100000d' 0
	printf -v long 'X: %01000d\\n' {1..70}
	printf -v heads '302 x\\nX: %d\\nHTTP/1.1 ' {1..4000}
	slow=(sh -c 'echo "HTTP/1.1 200 OK" >heads; exec sleep 20')
	table <<-'END'
		leaves 22 "$page\n404\n" status=22 runs=1 says="*attempt 1/2 failed (exit 22, $not_404"
		curls 22 "${heads}404 x" status=22 runs=1 says="*attempt 1/2 failed (exit 22, $not_404" --http -- "$curl" URL
		leaves 22 "HTTP/1.1 503 x\n\n$page\nHTTP/1.1 404 x\n\n" status=22 runs=2 says="*(exit 22, HTTP 503)$spent"
		curls 0 "503 x\nRetry-After: 3600\n$long" status=1 runs=1 says="*$hour" --http -- "$curl" URL
		curls 0 "503 x\n${long}Retry-After: 3600" status=1 runs=1 says="*$hour" --http -- "$curl" URL
		leaves 0 "HTTP/1.1 302 x\nA: b\n$long\nHTTP/1.1 503 x\nRetry-After: 3600\n\nbody\nHTTP/1.1 200 x\n" status=1 runs=1 says="*$hour"
		# Holes and noise take no time.
		try status=7 -n 1 --http-status "$F" sh -c 'truncate -s 8G "$F"; exit 7'
		try status=7 -n 1 --http-status "$F" sh -c 'head -c 300000 /dev/urandom >"$F"; exit 7'
		leaves 1 503 status=1 runs=1 says='*giving up: not in --retry-on http:404' --retry-on http:404
		leaves 0 204 status=1 runs=2 says="*attempt 2/2 failed (exit 0, HTTP 204)$spent" --fail-on http:204
		leaves 22 404 status=22 runs=1 says='' --success-on http:404 --keep-status
		leaves 22 404 runs=1 -v --success-on http:404 && once 'attempt 1/2 succeeded (exit 22, HTTP 404) by --success-on http:404'
		# A timeout is a success only if --success-on names the status.
		try status=124 says="* timed out after 0.4s*$spent" -n 1 -t 0.4 --http-status heads -- "${slow[@]}"
		try says='' -n 1 -t 0.4 --success-on http:200 --http-status heads -- "${slow[@]}"
		try says='' -n 1 -t 0.2 --success-on timeout -- sleep 20
	END
}

@test "--method, --idempotency-key and --http-status are refused where they cannot be" {
	also=(touch ran)
	printf '%s\n' auto idempotency-key=auto >keyed
	no_sender='--idempotency-key: only with curl, or with --http and a command that sends $RETRY_IDEMPOTENCY_KEY'
	table <<-'END'
		refused "--method: not an HTTP method: 'GET\x0d\nX:'" --method $'GET\r\nX:'
		refused "--idempotency-key: must not be blank: ' '" --method POST --idempotency-key ' '
		refused "--http-status: not with --http: '$F'" --http --http-status "$F"
		# The key is nowhere told.
		refused "$no_sender" --idempotency-key secret --
		refused "$no_sender" --idempotency-key secret -- nice
		try --method delete true
		try --http -q --method POST --idempotency-key k true
		try --http-status s --idempotency-key k true
		try --dry-run --idempotency-key k
		try --idempotency-key k --idempotency-key '' true
		refused "--idempotency-key: curl under sudo does not get it: put sudo in front of retry" --http --idempotency-key secret -- nice sudo -u bob curl
		# One of a policy is for curl, and refuses no other command.
		try --policy ./keyed true
		try --policy ./keyed --http true
		try --policy ./keyed --http --no-http true
		refused "$no_sender" --policy ./keyed --idempotency-key secret --
	END
}
