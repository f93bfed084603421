#!/usr/bin/env bats
# Covers attempt/http_request.
# Retries by what a server answers: --http with the real curl and a real server,
# --http-status, waits that the server asks for, and requests that must not be
# sent twice.
# shellcheck disable=SC2016 # the commands' shells expand

load helper
load actor

# No .curlrc and no proxies of the user who runs the tests.
setup()
{
	helper_setup
	unset CURL_HOME XDG_CONFIG_HOME {http,https,all}_proxy {HTTPS,ALL}_PROXY
	export HOME=$PWD TMPDIR=$PWD/tmp no_proxy='*'
}

# serve: a fresh server (server.py) at $url, which writes ./log; nothing listens
# at $refused.
serve()
{
	local server=$BATS_FILE_TMPDIR/server port closed connection
	command -v curl >/dev/null || skip 'no curl here'
	if [ ! -e "$server" ]; then # one for all tests
		"$PYTHON" -IS "$BATS_TEST_DIRNAME/../tools/server.py" "$server" \
		    >"$server.said" 2>&1 3>&- &
		wait_for test -e "$server"
	fi
	read -r _ port <"$server"
	exec {connection}<>"/dev/tcp/127.0.0.1/$port"
	printf 'FRESH %s\n\n' "$PWD/log" >&"$connection"
	read -r closed <&"$connection"
	exec {connection}<&-
	url=http://127.0.0.1:$port
	refused=http://127.0.0.1:$closed
}

teardown_file()
{
	local pid
	[ ! -e "$BATS_FILE_TMPDIR/server" ] || {
		read -r pid _ <"$BATS_FILE_TMPDIR/server"
		kill "$pid"
	}
}

# ends STATUS [OPTION]... COMMAND...: retry, with up to three attempts without
# delay, ends with STATUS. Its output is in ./out and ./err.
ends()
{
	local want=$1 got=0
	shift
	timeout --foreground -s KILL 30 \
	    "$RETRY" -n 3 -d 0 "$@" >out 2>err 3>&- || got=$?
	[ "$got" -eq "$want" ] || {
		echo "status $got instead of $want: $*"
		cat err
		return 1
	} >&2
}

# says LINE: ./err has this line of retry's.
says()
{
	has_line "retry: $1" err || {
		echo "nobody says: $1"
		cat err
		return 1
	} >&2
}

# silent: ./err has nothing.
silent()
{
	[ ! -s err ] || {
		cat err
		return 1
	} >&2
}

# gave_up WORDS: the last line ends with WORDS.
gave_up()
{
	[[ $(<err) == *", giving up: $1" ]] || {
		cat err
		return 1
	} >&2
}

# asked TIMES TARGET: the server got TIMES requests for TARGET.
asked()
{
	local times=0 target
	while IFS=$'\t' read -r _ _ target _; do
		[ "$target" != "$2" ] || ((++times))
	done <log
	[ "$times" -eq "$1" ] || {
		echo "asked $times times instead of $1: $2"
		cat log
		return 1
	} >&2
}

# waited MS TARGET: any two requests for TARGET are at least MS apart.
waited()
{
	awk -F '\t' -v least="$1" -v target="$2" '
		$3 != target { next }
		asked++ && $1 - last < least { early = 1; print $1 - last, $0 }
		{ last = $1 }
		END { exit early || asked < 2 }' log
}

# keys: the Idempotency-Key of each request, empty where there is none.
keys()
{
	awk -F '\t' '{
		key = ""
		for (i = 4; i <= NF; i++)
			if (tolower($i) ~ /^idempotency-key:/) {
				sub(/^[^:]*: */, "", $i)
				key = key $i
			}
		print key
	}' log
}

# A command that leaves its argument in the status file $F, is counted in ./ran
# and fails.
export F=status
leaves='printf "%b" "$0" >"$F"; echo >>ran; exit 1'

# ran TIMES: the command ran TIMES times since the last call of ran.
ran()
{
	local times
	times=$(lines ran)
	: >ran
	[ "$times" -eq "$1" ] || {
		echo "$times attempts instead of $1"
		cat err
		return 1
	} >&2
}

# missed WORDS: one line says that no status was found, and WORDS, the remedy.
missed()
{
	says "no HTTP status found: $1"
	[ "$(grep -c 'no HTTP status found' err)" -eq 1 ]
}

uuid='^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$'

# fake_curl: ./curl shows its words, one a line.
fake_curl()
{
	printf '#!/bin/sh\nprintf "%%s\\n" "$@"\n' >curl
	chmod +x curl
}

@test "of --http and -O, a variable gets only what the success wrote" {
	serve
	mkdir tmp
	local target="$url/503;body=busy/200;body=7"
	[ "$("$RETRY" -q -d 0 --http -- curl -sS "$target")" = busy7 ]
	[ "$("$RETRY" -q -d 0 -O --http -- curl -sS "$target?again")" = 7 ]
}

#
# curl without --http
#

advice="curl exits with 0 even if the server answers with an error: use --http, \
or curl's own -f"

@test "after a 503 with which curl exits with 0, one line names --http" {
	serve
	ends 0 -- curl -sS -o page "$url/503"
	says "$advice"
	[ "$(lines err)" -eq 1 ]
	ends 0 -- timeout 20 curl -sS "${url#http://}/200"
	says "$advice"
	ends 0 --consecutive 3 -- curl -sS "$url/200"
	[ "$(grep -cF -- --http err)" -eq 1 ]
}

@test "--http and curl's -f heed that 503, and get no advice" {
	serve
	ends 22 -- curl -sSf "$url/503"
	ends 0 -- curl -sS --fail-with-body -o page "$url/503/200"
	run ! grep -F -- --http err
	ends 1 --http -- curl -sS -o page "$url/503?1"
	run ! grep -F -- --http err
}

@test "there is no advice with -q, after a failure, or if the user has a rule" {
	serve
	mkdir tmp
	ends 0 -q -- curl -sS "$url/503"
	ends 0 -E -- curl -sS "$url/503"
	ends 0 --chronic -- curl -sS "$url/503"
	ends 0 --http-status head -- curl -sS -D head "$url/200"
	ends 0 --success-on 7 -- curl -sS "$url/200"
	ends 0 -n 2 --fail-on stdout:busy -- curl -sS "$url/503;body=busy/200"
	run ! grep -F -- --http err
	ends 0 -- sh -c ': curl "$1"' sh "$url/503"
	silent
	ends 7 -n 1 -- curl -sS "$refused"
	run ! grep -F -- --http err
}

#
# --http and curl
#

@test "a 503 is retried until the server answers 200" {
	serve
	ends 0 --http -- curl -sS "$url/503/503/200"
	asked 3 /503/503/200
	says 'attempt 1/3 failed (exit 0, HTTP 503), retrying in 0s'
	[ "$(<out)" = $'answer 1\nanswer 2\nanswer 3' ]
}

@test "curl is understood with -f, -L, -o, all of them and none" {
	serve
	ends 0 --http -- curl -sS "$url/503/200?none"
	ends 0 --http -- curl -sS -f "$url/503/200?f"
	ends 0 --http -- curl -sS -L "$url/503/200?L"
	ends 0 --http -- curl -sS -o body "$url/503/200?o"
	ends 0 --http -- curl -sSf "$url/503/200?sSf"
	ends 0 --http -- curl -sSfLobody "$url/503/200?sSfLo"
	ends 0 --http -- curl -sSfLo body --url "$url/503/200?url"
	ends 0 --http -- curl "$url/503/200?last" --fail --output body --silent
	for query in none f L o sSf sSfLo url last; do
		asked 2 "/503/200?$query"
	done
	[ "$(<body)" = 'answer 2' ]
}

@test "--http leaves curl's own output as it is" {
	serve
	ends 0 --http -- curl -sS "$url/200;body=a%0Ab"
	curl -sS "$url/200;body=a%0Ab" | cmp - out
	silent
	ends 22 --http -- curl -sSf "$url/404"
	curl -sSf "$url/404" 2>want || :
	grep -v '^retry: ' err | cmp - want
	[ ! -s out ]
}

@test "a failure that exits 0 ends with 1, one that exits 22 with that" {
	serve
	ends 1 --http -- curl -sS "$url/503?0"
	asked 3 '/503?0'
	says 'attempt 3/3 failed (exit 0, HTTP 503), giving up: attempts exhausted'
	ends 22 --http -- curl -sSf "$url/503?22"
	asked 3 '/503?22'
	says 'attempt 3/3 failed (exit 22, HTTP 503), giving up: attempts exhausted'
}

@test "the next attempt is told a last status of 1 where the failure exited 0" {
	ends 1 -n 2 --http-status "$F" sh -c 'echo 503 >"$F"
		echo "${RETRY_LAST_STATUS-none}" >>last'
	[ "$(tr '\n' ' ' <last)" = 'none 1 ' ]
}

@test "a 404 is asked for once" {
	serve
	ends 22 --http -- curl -sSf "$url/404/200"
	asked 1 /404/200
	says 'attempt 1/3 failed (exit 22, HTTP 404), giving up: HTTP 404 is not retried'
	ends 1 --http -- curl -sS "$url/404/200?0"
	asked 1 '/404/200?0'
	says 'attempt 1/3 failed (exit 0, HTTP 404), giving up: HTTP 404 is not retried'
}

@test "408, 425, 429 and 5xx are retried, other 4xx and six of 5xx are not" {
	for code in 408 425 429 500 502 503 504 507 520 599; do
		ends 1 --http-status "$F" sh -c "$leaves" $code
		ran 3
	done
	for code in 400 401 403 404 410 413 418 501 505 506 508 510 511; do
		ends 1 --http-status "$F" sh -c "$leaves" $code
		ran 1
		case $code in
		403 | 413) gave_up "HTTP $code is not retried without a Retry-After" ;;
		*) gave_up "HTTP $code is not retried" ;;
		esac
	done
}

@test "403 and 413 are retried where the server names a wait" {
	serve
	for code in 403 413; do
		ends 22 --http -- curl -sSf "$url/$code"
		asked 1 /$code
		ends 0 --http -- curl -sSf "$url/$code;Retry-After=0/200"
		asked 2 "/$code;Retry-After=0/200"
	done
}

@test "a redirect that ends in a 503 is retried" {
	serve
	ends 0 --http -- curl -sSfL "$url/302;Location=%2F503%2F200"
	asked 2 '/302;Location=%2F503%2F200'
	asked 2 /503/200
	says 'attempt 1/3 failed (exit 22, HTTP 503), retrying in 0s'
}

@test "for a redirect that is not followed the exit status counts" {
	serve
	ends 0 -v --http -- curl -sSf "$url/302;Location=%2F503"
	asked 1 '/302;Location=%2F503'
	says 'attempt 1/3 succeeded (exit 0, HTTP 302)'
	target=/302\;Location=${refused//\//%2F}
	ends 7 --http -- curl -sSfL "$url$target"
	asked 3 "$target"
	says 'attempt 1/3 failed (exit 7, HTTP 302), retrying in 0s'
}

@test "a refused connection is retried" {
	serve
	ends 7 --http -- curl -sS "$refused"
	says 'attempt 1/3 failed (exit 7), retrying in 0s'
	says 'attempt 3/3 failed (exit 7), giving up: attempts exhausted'
}

@test "a connection that ends without an answer is retried" {
	serve
	ends 0 --http -- curl -sS "$url/200;drop/200"
	asked 2 '/200;drop/200'
	says 'attempt 1/3 failed (exit 52), retrying in 0s'
}

@test "a body that is cut short is a failure although the server said 200" {
	serve
	ends 18 --http -- curl -sSf "$url/200;cut"
	asked 3 '/200;cut'
	says 'attempt 1/3 failed (exit 18, HTTP 200), retrying in 0s'
	ends 0 --http -- curl -sSf "$url/200;cut/200"
	asked 2 '/200;cut/200'
}

@test "an interim response and its fields do not count" {
	serve
	ends 0 --http -- curl -sSf "$url/503;early=103/200;early=103"
	asked 2 '/503;early=103/200;early=103'
	says 'attempt 1/3 failed (exit 22, HTTP 503), retrying in 0s'
}

@test "of several URLs the last response counts" {
	serve
	ends 0 --http -- curl -sS "$url/503?first" "$url/200?first"
	asked 1 '/503?first'
	ends 1 --http -- curl -sS "$url/200?last" "$url/503?last"
	asked 3 '/200?last'
	asked 3 '/503?last'
}

@test "each operation that --next begins is dumped" {
	serve
	ends 0 --http -- curl -sS "$url/200?next" --next -sS "$url/503/200?next"
	asked 2 '/503/200?next'
}

#
# The options that curl gets
#

@test "--dump-header comes first, with a file that every attempt shares" {
	fake_curl
	ends 0 --http -- ./curl -sS -f URL
	[[ $(head -n 2 out | tr '\n' ' ') == '--dump-header /'*' ' ]]
	[ "$(tail -n +3 out | tr '\n' ' ')" = '-sS -f URL ' ]
}

@test "a leading -q stays curl's first word" {
	fake_curl
	for first in -q --disable; do
		ends 0 --http -- ./curl $first -sS URL
		[ "$(sed -n '1p; 2p; 4,$p' out | tr '\n' ' ')" = \
		    "$first --dump-header -sS URL " ]
	done
	ends 0 --http -- ./curl -sS -q URL
	[ "$(sed -n '1p; 3,$p' out | tr '\n' ' ')" = '--dump-header -sS -q URL ' ]
}

@test "curl reads its .curlrc, and with -q does not" {
	serve
	echo 'user-agent = curlrc' >.curlrc
	ends 0 --http -- curl -sS "$url/503/200?with"
	ends 0 --http -- curl -q -sS "$url/503/200?without"
	[ "$(grep -cF 'User-Agent: curlrc' log)" -eq 2 ]
	[ "$(grep -F 'User-Agent: curlrc' log | grep -cF '?with	')" -eq 2 ]
	asked 2 '/503/200?without'
}

@test "the user's own --dump-header is read and left to him" {
	serve
	ends 0 --http -- curl -sS -D heads "$url/503/200?D"
	ends 0 --http -- curl -sSDheads "$url/503/200?sSD"
	ends 0 --http -- curl -sS --dump-header heads "$url/503/200?long"
	ends 0 --http -- curl -sS "$url/503/200?behind" -D heads
	for query in D sSD long behind; do
		asked 2 "/503/200?$query"
	done
	[ "$(grep -c '^HTTP/1.1 ' heads)" -eq 1 ]
	grep -q '^HTTP/1.1 200 ' heads
}

@test "what an earlier curl left in the user's --dump-header does not count" {
	serve
	printf 'HTTP/1.1 404 Not Found\r\n\r\n' >heads
	ends 7 --http -- curl -sS -D heads "$refused"
	says 'attempt 3/3 failed (exit 7), giving up: attempts exhausted'
}

@test "a --dump-header to standard output is left there, and costs one line" {
	serve
	help='none where curl'\''s own -D goes, use -i instead, or -D "$RETRY_HTTP_STATUS" in sh -c'
	ends 0 --http -- curl -sS -D - "$url/503"
	asked 1 /503
	missed "$help"
	ends 0 -v --http -- curl -sS -D - "$url/503?v"
	says "curl's own --dump-header is not a file: no HTTP status is read"
	missed "$help"
	curl -sS -D - "$url/503?alone" | grep -v '^Date: ' >want
	grep -v '^Date: ' out | cmp - want
	ends 0 --http -- curl -sS -D /dev/stderr "$url/503"
	missed "$help"
	ends 0 -q --http -- curl -sS -D - "$url/503"
	silent
	ends 1 --http -- sh -c 'curl -sS -D "$RETRY_HTTP_STATUS" "$0"' "$url/503"
	run ! grep -q 'status found' err
}

@test "a curl with a --retry of its own gets one warning" {
	serve
	warning='curl has a --retry of its own: attempts multiply'
	ends 22 --http --retry-on http:404 -- curl -sSf --retry 2 "$url/404"
	asked 3 /404
	says "$warning"
	[ "$(grep -cF "$warning" err)" -eq 1 ]
	ends 22 -q --http -- curl -sSf --retry 2 "$url/404"
	run ! says "$warning"
	ends 22 --http -- curl -sSf --retry 0 "$url/404"
	run ! says "$warning"
}

@test "a program that is not called curl gets no options of ours" {
	fake_curl
	mv curl curly
	ends 0 --http -- ./curly -sS URL
	[ "$(tr '\n' ' ' <out)" = '-sS URL ' ]
	ends 0 --http --idempotency-key k -- ./curly -d x=1 URL
	[ "$(tr '\n' ' ' <out)" = '-d x=1 URL ' ]
}

@test "without --http curl gets no options of ours" {
	fake_curl
	ends 0 -- ./curl -d x=1 URL
	[ "$(tr '\n' ' ' <out)" = '-d x=1 URL ' ]
	ends 0 --http-status "$F" --idempotency-key k -- ./curl -d x=1 URL
	[ "$(tr '\n' ' ' <out)" = '-d x=1 URL ' ]
}

#
# Wrappers in front of curl
#

@test "curl behind timeout, env, nice, nohup, stdbuf and each other is curl" {
	serve
	local front number=0
	while read -r front; do
		((++number))
		# shellcheck disable=SC2086 # several words
		ends 0 --http -- $front curl -sS "$url/503/200?$number"
		asked 2 "/503/200?$number"
		says 'attempt 1/3 failed (exit 0, HTTP 503), retrying in 0s'
	done <<-END
		timeout 20
		timeout -k 5 -s INT --foreground 20
		env -u X A=b
		env A=b C=d
		nice
		nice -n 1
		nice -1
		nohup
		stdbuf -oL
		nohup nice -1 env A=b stdbuf -o L timeout --kill-after=5 20
	END
	[ "$number" -eq 10 ]
	run ! grep -q 'status found' err
}

@test "options for curl go behind the word curl, and each operation's first" {
	fake_curl
	cat >timeout <<-'SH'
		#!/bin/sh
		printf '<%s>\n' "$@" >words
		shift 3
		exec "$@"
	SH
	chmod +x timeout
	ends 0 --http -- ./timeout -k 5 10 ./curl -q A --next B
	[ "$(sed 's,/proc/.*,FILE,' out | tr '\n' ' ')" = \
	    '-q --dump-header FILE A --next --dump-header FILE B ' ]
	[ "$(head -n 5 words | tr '\n' ' ')" = '<-k> <5> <10> <./curl> <-q> ' ]
}

@test "a --dump-header of one's own is looked for where curl runs" {
	serve
	mkdir there
	ends 0 --http -- env -C there curl -sS -D heads "$url/503/200?1"
	asked 2 '/503/200?1'
	ends 0 --http -- env -C "$PWD/there" curl -sS -D "$PWD/heads" "$url/503/200?2"
	asked 2 '/503/200?2'
	grep -q ' 200 ' there/heads heads
	run ! grep -q 'status found' err
}

@test "a POST behind timeout and the like is a POST" {
	serve
	ends 22 --http -- timeout 20 nice curl -sSf -d x=1 "$url/503/200"
	asked 1 /503/200
	gave_up 'a POST is not sent twice without --idempotency-key'
	ends 0 --http --idempotency-key k -- timeout 20 nice \
	    curl -sSf -d x=1 "$url/503/200?key"
	asked 2 '/503/200?key'
	[ "$(keys | tail -n 2 | tr '\n' ' ')" = 'k k ' ]
}

@test "curl that cannot be found is said to have told nothing, once" {
	serve
	help='have the command write it to $RETRY_HTTP_STATUS, or make curl the command'
	ends 0 --http -- sh -c 'curl -sS "$0"; exit' "$url/503"
	asked 1 /503
	missed "$help"
	ends 0 --http -- env -S "curl -sS $url/503"
	missed "$help"
	ends 1 --http --fail-on 0 -- true
	says 'attempt 3/3 failed (exit 0), giving up: attempts exhausted'
	missed "$help"
}

@test "nothing is said where a status was found, none was asked for, or it failed" {
	ends 0 --http -- sh -c 'echo 200 >"$RETRY_HTTP_STATUS"'
	silent
	ends 0 --http -- sh -c 'echo 000 >"$RETRY_HTTP_STATUS"'
	silent
	ends 0 -q --http true
	silent
	ends 0 --http-status "$F" true
	silent
	ends 0 true
	silent
	ends 3 --http -- sh -c 'exit 3'
	run ! grep -q 'status found' err
}

# fake_sudo: ./sudo shows its words, one a line.
fake_sudo()
{
	printf '#!/bin/sh\nprintf "%%s\\n" "$@"\n' >sudo
	chmod +x sudo
}

@test "curl that sudo gives to another user is left as it was typed" {
	fake_sudo
	local words
	for words in '-u bob' '-u bob -E A=b' '-g adm' '-R /'; do
		# shellcheck disable=SC2086 # several words
		ends 0 --http --idempotency-key k -- ./sudo $words curl -d x URL
		[ "$(tr '\n' ' ' <out)" = "$words curl -d x URL " ]
		missed 'curl under sudo cannot write to $RETRY_HTTP_STATUS, put sudo in front of retry'
	done
}

@test "a POST whose key sudo keeps from curl is sent once" {
	printf '#!/bin/sh\necho >>ran\nexit 22\n' >sudo
	chmod +x sudo
	ends 22 --http --idempotency-key k -- ./sudo -u bob curl -sSf -d x URL
	ran 1
	gave_up 'a POST is not sent twice if curl gets no key'
	ends 22 --http --method POST --idempotency-key k -- ./sudo -u bob curl URL
	ran 1
	gave_up 'a POST is not sent twice if curl gets no key'
	ends 22 --http --idempotency-key k -- ./sudo -u bob curl -sSf URL
	ran 3
	ends 22 --http -- ./sudo -u bob curl -H Idempotency-Key:k -d x URL
	ran 3
}

@test "curl that sudo makes the superuser's is curl" {
	sudo -n true 2>/dev/null || skip 'no sudo here that asks nothing'
	serve
	[ "$(id -u)" -eq 0 ] || skip 'whom sudo lets do what is not ours to know'
	ends 0 --http --idempotency-key k -- sudo -n A=b \
	    curl -sS -d x "$url/503/200"
	asked 2 /503/200
	[ "$(keys | tr '\n' ' ')" = 'k k ' ]
	run ! grep -q 'status found' err
	ends 0 --http -- sudo -n -u nobody curl -sS "$url/503?nobody"
	asked 1 '/503?nobody'
	missed 'curl under sudo cannot write to $RETRY_HTTP_STATUS, put sudo in front of retry'
}

#
# The key, and who sees it
#

@test "the key stands in no command line, file name or message" {
	serve
	cat >curl <<-'SH'
		#!/bin/sh
		tr '\0' '\n' <"/proc/$$/cmdline" >words
		exec /usr/bin/env PATH="${PATH#*:}" curl "$@"
	SH
	chmod +x curl
	PATH=$PWD:$PATH ends 0 -v --report r.json --metrics m.prom \
	    --log-format json --http --idempotency-key 's3 "cr\et' -- \
	    curl -sSf -d x=1 "$url/503/200"
	[ "$(keys | sort -u)" = 's3 "cr\et' ]
	asked 2 /503/200
	grep -qxF -- -sSf words
	run ! grep -qF s3 words err r.json m.prom out
}

@test "without /proc the key is in a temporary file that goes with the other" {
	fake_curl
	printf 'stat -c %%a "$4" >mode; cat "$4" >config; ls tmp >files\n' >>curl
	bare "$RETRY" -n 1 --http --idempotency-key k -- ./curl URL
	ended
	[ "$status" -eq 0 ]
	[ "$(sed "s,$PWD/tmp/.*,FILE," out | tr '\n' ' ')" = \
	    '--dump-header FILE --config FILE URL ' ]
	[ "$(<config)" = 'header = "Idempotency-Key: k"' ]
	[ "$(<mode)" = 600 ]
	[ "$(lines files)" -eq 2 ]
	[ -z "$(ls -A tmp)" ]
}

#
# Waits that the server asks for
#

@test "a 429 with Retry-After 1 is asked again at least a second later" {
	serve
	ends 0 --http -- curl -sSf "$url/429;Retry-After=1/200"
	asked 2 '/429;Retry-After=1/200'
	waited 1000 '/429;Retry-After=1/200'
}

@test "without jitter the delay is what the server asked for" {
	serve
	target='/503;Retry-After-Ms=450/200'
	ends 0 -j none --max-delay 0.1 --http -- curl -sSf "$url$target"
	says 'attempt 1/3 failed (exit 22, HTTP 503), retrying in 0.5s'
	waited 450 "$target"
	target='/503;Retry-After=1/200'
	ends 0 -j none --http -- curl -sSf "$url$target"
	says 'attempt 1/3 failed (exit 22, HTTP 503), retrying in 1s'
	waited 1000 "$target"
}

@test "jitter only adds to what the server asked for" {
	serve
	target='/503;Retry-After-Ms=150'
	ends 22 -n 5 -d 0.05 --http -- curl -sSf "$url$target"
	asked 5 "$target"
	waited 150 "$target"
}

@test "where the backoff is longer than the server asks, the backoff counts" {
	serve
	target='/503;Retry-After-Ms=10/200'
	ends 0 -d 0.3 -j none --http -- curl -sSf "$url$target"
	waited 300 "$target"
	says 'attempt 1/3 failed (exit 22, HTTP 503), retrying in 0.3s'
}

@test "a 429 without a wait is asked again after a base delay at least" {
	serve
	ends 22 -n 5 -d 0.15 -b constant --http -- curl -sSf "$url/429"
	asked 5 /429
	waited 150 /429
}

@test "a Retry-After may be a date of any of the three forms" {
	serve
	local form job jobs=()
	for form in imf rfc850 asctime; do
		start "$RETRY" -n 2 -d 0 --http -- \
		    curl -sSf "$url/503;Retry-After=@$form+1/200"
		jobs+=("$pid")
	done
	for job in "${jobs[@]}"; do
		pid=$job
		ended
		[ "$status" -eq 0 ]
	done
	for form in imf rfc850 asctime; do
		asked 2 "/503;Retry-After=@$form+1/200"
		waited 1000 "/503;Retry-After=@$form+1/200"
	done
}

@test "a date counts from the response's own Date" {
	serve
	for form in imf rfc850 asctime; do
		ends 22 --http -- curl -sSf \
		    "$url/503;Date=@imf-7200;Retry-After=@$form-3600"
		gave_up 'Retry-After too long (1h)'
	done
	ends 0 --http -- curl -sSf \
	    "$url/503;Date=@imf+7200;Retry-After=@imf+7100/200"
	says 'attempt 1/3 failed (exit 22, HTTP 503), retrying in 0s'
}

@test "the server may name the wait in milliseconds" {
	serve
	for name in Retry-After-Ms X-Ms-Retry-After-Ms Grpc-Retry-Pushback-Ms; do
		ends 22 --max-retry-after 0.1 --http -- \
		    curl -sSf "$url/503;$name=250"
		gave_up 'Retry-After too long (0.3s)'
	done
}

@test "a negative pushback is not to be retried" {
	serve
	ends 22 --http -- curl -sSf "$url/503;Grpc-Retry-Pushback-Ms=-1"
	asked 1 '/503;Grpc-Retry-Pushback-Ms=-1'
	gave_up 'the server wants no retry'
}

@test "an exhausted rate limit says how long to wait" {
	serve
	for fields in 'RateLimit=%22burst%22%3Br%3D0%3Bt%3D3600' \
	    'RateLimit-Remaining=0;RateLimit-Reset=3600' \
	    'X-RateLimit-Remaining=0;X-RateLimit-Reset=3600' \
	    'X-RateLimit-Remaining=0;X-RateLimit-Reset=@unix+3600'; do
		ends 22 --http -- curl -sSf "$url/429;$fields"
		gave_up 'Retry-After too long (1h)'
	done
	for fields in 'RateLimit-Remaining=1;RateLimit-Reset=3600' \
	    'X-RateLimit-Remaining=7;X-RateLimit-Reset=3600' \
	    'X-RateLimit-Reset=3600'; do
		ends 0 --http -- curl -sSf "$url/429;$fields/200"
		asked 2 "/429;$fields/200"
	done
}

@test "a Retry-After of more than --max-retry-after gives up at once" {
	serve
	ends 22 --http -- curl -sSf "$url/503;Retry-After=3600"
	asked 1 '/503;Retry-After=3600'
	says 'attempt 1/3 failed (exit 22, HTTP 503), giving up: Retry-After too long (1h)'
	ends 1 -v --max-retry-after 1s --http -- curl -sS "$url/503;Retry-After=90"
	says 'attempt 1/3 failed (exit 0, HTTP 503), giving up: Retry-After too long (1m30s)'
	grep -qxE 'retry: ended after 1 attempt in .*: retry-after' err
	ends 0 --max-retry-after 1s -j none --http -- \
	    curl -sSf "$url/503;Retry-After=1/200"
}

@test "of two Retry-After, or of a list in one, the longest counts" {
	serve
	for fields in 'Retry-After=0;Retry-After=3600' \
	    'Retry-After=3600;Retry-After=0' 'Retry-After=0,3600'; do
		ends 22 --http -- curl -sSf "$url/503;$fields"
		gave_up 'Retry-After too long (1h)'
	done
}

@test "a Retry-After past the deadline gives up at once" {
	serve
	before=$(now)
	ends 22 -T 25 --http -- curl -sSf "$url/503;Retry-After=60"
	[ $(($(now) - before)) -lt 20000 ]
	asked 1 '/503;Retry-After=60'
	gave_up 'Retry-After too long (1m)'
}

@test "on the last attempt there is no wait to complain about" {
	serve
	ends 22 -n 1 --http -- curl -sSf "$url/503;Retry-After=3600"
	gave_up 'attempts exhausted'
}

@test "a Retry-After that makes no sense is ignored, which -v says once" {
	serve
	ends 0 -v --http -- curl -sSf "$url/503;Retry-After=soon/200"
	asked 2 '/503;Retry-After=soon/200'
	[ "$(grep -c "^retry: status file '.*': a Retry-After was not understood$" \
	    err)" -eq 1 ]
	ends 0 --http -- curl -sSf "$url/503;Retry-After=-5/200"
	[ "$(lines err)" -eq 2 ]
	says 'attempt 1/3 failed (exit 22, HTTP 503), retrying in 0s'
}

#
# --http and other commands
#

@test "a command that is not curl is told where by RETRY_HTTP_STATUS" {
	ends 1 --http -- sh -c 'echo 404 >"$RETRY_HTTP_STATUS"; echo >>ran; exit 1'
	ran 1
	says 'attempt 1/3 failed (exit 1, HTTP 404), giving up: HTTP 404 is not retried'
	ends 1 --http -- sh -c 'echo >>ran; echo 503 >>"$RETRY_HTTP_STATUS"'
	ran 3
	says 'attempt 3/3 failed (exit 0, HTTP 503), giving up: attempts exhausted'
}

@test "the private file is emptied before each attempt" {
	ends 0 --http -- sh -c 'echo >>ran; [ -s "$RETRY_HTTP_STATUS" ] && exit 9
		[ "$RETRY_ATTEMPT" -gt 1 ] || echo 503 >"$RETRY_HTTP_STATUS"'
	ran 2
}

@test "without an answer the exit status counts" {
	ends 0 --http -- sh -c 'echo >>ran'
	ran 1
	ends 7 --http -- sh -c 'echo >>ran; exit 7'
	ran 3
	says 'attempt 3/3 failed (exit 7), giving up: attempts exhausted'
}

@test "without --http and --http-status there is no RETRY_HTTP_STATUS" {
	ends 0 sh -c '[ -z "${RETRY_HTTP_STATUS+set}" ]'
}

@test "even after SIGKILL there is no file of ours" {
	mkdir tmp
	start "$RETRY" --http -- sh -c 'echo "$RETRY_HTTP_STATUS" >path
		echo 503 >"$RETRY_HTTP_STATUS"; : >written; exec sleep 20'
	wait_for test -e written
	path=$(<path)
	[[ $path =~ ^/proc/[0-9]+/fd/[0-9]+$ ]]
	[ "$(<"$path")" = 503 ]
	kill -KILL "$pid"
	ended
	[ ! -e "$path" ]
	[ -z "$(ls -A tmp)" ]
}

@test "the command does not inherit the private file's descriptor" {
	"$RETRY" --http -- ls -l /proc/self/fd \
	    >out 3<&0 4<&0 5<&0 6<&0 7<&0 8<&0 9<&0
	run ! grep -q memfd out
}

# bare COMMAND...: COMMAND with an empty directory where /proc was, and one for
# temporary files.
bare()
{
	mkdir tmp
	isolate -m
	"${isolate[@]}" sh -c 'mount -t tmpfs none /proc' 2>/dev/null ||
		skip 'no right to cover /proc here'
	start "${isolate[@]}" sh -c 'mount -t tmpfs none /proc; exec "$@"' sh "$@"
}

@test "without /proc the private file is a temporary one for us alone" {
	bare "$RETRY" -n 3 -d 0 --http -- sh -c 'echo >>ran
		stat -c "%a %s %n" "$RETRY_HTTP_STATUS" >>stats
		echo 503 >"$RETRY_HTTP_STATUS"'
	ended
	[ "$status" -eq 1 ]
	ran 3
	[ "$(sort -u stats | grep -c '')" -eq 1 ]
	[[ $(head -n 1 stats) == "600 0 $PWD/tmp/"* ]]
	[ -z "$(ls -A tmp)" ]
}

@test "under a /proc of other processes nobody else's file is taken for ours" {
	isolate -p -f -m --mount-proc
	mkdir tmp
	echo precious >victim
	# Number 1 of that /proc; retry is number 1 of what is not mounted.
	start "${isolate[@]}" bash -c 'for n in {10..60}; do
			eval "exec $n<>victim"
		done
		(
			for n in {10..60}; do
				eval "exec $n<&-"
			done
			exec unshare -p -f "$RETRY" --http -- \
			    sh -c "echo 404 >\"\$RETRY_HTTP_STATUS\""
		)
		exit $?'
	ended
	[ "$(<victim)" = precious ]
	[ "$status" -eq 1 ]
	says 'attempt 1/5 failed (exit 0, HTTP 404), giving up: HTTP 404 is not retried'
	[ -z "$(ls -A tmp)" ]
}

@test "the temporary file goes when a signal ends retry" {
	bare "$RETRY" -d 20 -j none --http -- sh -c 'echo 503 >"$RETRY_HTTP_STATUS"'
	wait_for grep -q 'retrying in' err
	[ -n "$(ls -A tmp)" ]
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	[ -z "$(ls -A tmp)" ]
}

@test "a retry within a retry has a file of its own" {
	ends 1 -n 2 --http -- sh -c 'echo "$RETRY_HTTP_STATUS" >>outer
		"$RETRY" -n 2 -d 0 -q --http -- sh -c "
			env | grep ^RETRY_HTTP_STATUS= >>inner
			echo 503 >\"\$RETRY_HTTP_STATUS\""
		[ ! -s "$RETRY_HTTP_STATUS" ] || exit 9
		exit 1'
	[ "$(sort -u outer | grep -c '')" -eq 1 ]
	[ "$(lines inner)" -eq 4 ]
	[ "$(sort -u inner | grep -c '')" -eq 2 ]
	run ! grep -qF "$(head -n 1 outer)" inner
	run ! grep -q HTTP err
}

@test "a retry that asks for no file of its own passes the outer one's on" {
	ends 1 --http -- "$RETRY" -q -n 2 -d 0 -- \
	    sh -c 'echo 404 >"$RETRY_HTTP_STATUS"; echo >>ran; exit 1'
	ran 2
	says 'attempt 1/3 failed (exit 1, HTTP 404), giving up: HTTP 404 is not retried'
}

#
# --http-status
#

@test "--http-status understands what curl's -w writes" {
	serve
	local hints=('%{http_code} %header{retry-after}'
		'code=%{http_code}\nretry_after=%header{retry-after}\n'
		'%{json}%{header_json}')
	for format in "${hints[@]}"; do
		ends 22 --http-status "$F" -- sh -c 'curl -sSf -o body -w "$0" "$1" >"$F"' \
		    "$format" "$url/503;Retry-After=3600"
		says 'attempt 1/3 failed (exit 22, HTTP 503), giving up: Retry-After too long (1h)'
	done
	for format in '%{http_code}' '%{json}'; do
		ends 0 --http-status "$F" -- sh -c 'curl -sS -o body -w "$0" "$1" >"$F"' \
		    "$format" "$url/503/200?$RANDOM$RANDOM"
		says 'attempt 1/3 failed (exit 0, HTTP 503), retrying in 0s'
	done
	ends 22 --http-status "$F" -- \
	    sh -c 'curl -sSf -o body -w "%{header_json}" "$0" >"$F"' \
	    "$url/503;Retry-After=3600"
	says 'attempt 1/3 failed (exit 22), giving up: Retry-After too long (1h)'
}

@test "curl's exit status and message behind the code leave the code known" {
	serve
	for code in 503 404; do
		ends 22 --http-status "$F" -- sh -c \
		    'curl -sSf -w "$0" "$1" >"$F"' \
		    '%{http_code} %{exitcode} %{errormsg}\n' "$url/$code?f"
		says "attempt 1/3 failed (exit 22, HTTP $code), $(
			[ $code = 404 ] && echo giving up: HTTP 404 is not retried ||
			    echo retrying in 0s)"
	done
	ends 1 --http-status "$F" -- sh -c 'curl -sS -o body -w "$0" "$1" >"$F"' \
	    '%{http_code} %{exitcode} %{errormsg}\n' "$url/403"
	says 'attempt 1/3 failed (exit 0, HTTP 403), giving up: HTTP 403 is not retried without a Retry-After'
}

# quotes: bodies that show a response, each %-encoded on a line of its own.
quotes()
{
	cat <<-'END'
		HTTP%2F1.1%20503%20Service%20Unavailable
		HTTP%2F1.1%20503%20Service%20Unavailable%0A
		HTTP%2F1.1%20503%20x%0D%0ARetry-After:%209%0D%0A%0D%0A
		An%20answer:%0A%0AHTTP%2F1.1%20503%20x%0ARetry-After:%209%0A%0A
		An%20answer:%0A%0AHTTP%2F1.1%20503%20x%0A%0Aand%20so%20on.%0A
		Answer:%0AHTTP%2F1.1%20503%20x%0A
		%0D%0A%0D%0AHTTP%2F1.1%20503%20x%0D%0A
		awaiting...%0A%20%20HTTP%2F1.1%20503%20x%0A
		%3C%20HTTP%2F1.1%20503%20x%0A
		HTTP%2F1.1%20302%20x%0D%0A%0D%0AHTTP%2F1.1%20503%20x%0D%0A%0D%0Ax
	END
}

@test "a page that quotes a 503 fails no success" {
	serve
	local body way number=0
	while read -r body; do
		for way in '' ';chunked' ';open' ';Content-Type=text%2Fplain;open'; do
			target="/200;body=$body$way/503?$((++number))"
			ends 0 --http-status "$F" -- sh -c 'curl -sSi "$0" >"$F"' "$url$target"
			silent
			asked 1 "$target"
		done
	done < <(quotes)
	[ "$number" -eq 40 ]
}

@test "a page that quotes a 200 makes no success of a failure" {
	serve
	local body way number=0
	while read -r body; do
		for way in '' ';chunked' ';open'; do
			target="/503;body=${body//503/200}$way?$((++number))"
			ends 1 --http-status "$F" -- sh -c 'curl -sSi "$0" >"$F"' \
			    "$url$target"
			asked 3 "$target"
		done
	done < <(quotes)
	[ "$number" -eq 30 ]
}

@test "a redirect or a 401 that is not followed is judged without its body" {
	serve
	local body='HTTP%2F1.1%20200%20OK%0D%0A%0D%0A' code way
	for way in '' ';chunked' ';open'; do
		for code in 401 407; do
			ends 1 --http-status "$F" -- sh -c 'curl -sSi "$0" >"$F"' \
			    "$url/$code;body=$body$way"
			says "attempt 1/3 failed (exit 0, HTTP $code), $(
				)giving up: HTTP $code is not retried"
		done
		ends 0 --http-status "$F" -- sh -c 'curl -sSi "$0" >"$F"' \
		    "$url/302;body=${body/200/503}$way"
		silent
	done
}

@test "a page that curl has decoded may quote a 503 where its told length ends" {
	serve
	# A line of padding as long as all of the page is when it is compressed.
	body=$("$PYTHON" -IS -c '
import gzip
for n in range(1, 999):
    page = "x" * (n - 1) + "\nHTTP/1.1 503 x\r\n\r\n"
    if len(gzip.compress(page.encode(), mtime=0)) == n:
        print(page.replace("/", "%2F").replace(" ", "%20")
            .replace("\r", "%0D").replace("\n", "%0A"))
	' | head -n 1)
	[ -n "$body" ]
	ends 0 --http-status "$F" -- sh -c 'curl -sSi --compressed "$0" >"$F"' \
	    "$url/200;gzip;body=$body/503"
	silent
	grep -aq '^HTTP/1.1 503' "$F"
}

@test "a page in front of its code may quote what it likes" {
	serve
	local body number=0
	while read -r body; do
		# A whole head at the start is taken for one that curl -i wrote.
		[[ $body != HTTP*Retry-After* ]] || continue
		target="/200;body=$body/503?$((++number))"
		ends 0 --http-status "$F" -- sh -c \
		    'curl -sS -w "\n%{http_code}\n" "$0" >"$F"' "$url$target"
		silent
		target="/200;body=$body/503?v$number"
		ends 0 --http-status "$F" -- sh -c 'curl -v "$0" >"$F" 2>&1' \
		    "$url$target"
		silent
	done < <(quotes)
	[ "$number" -eq 9 ]
}

@test "a page that quotes what clients tell fails no success" {
	serve
	local asks='%3E%20GET%20%2F%20HTTP%2F1.1%0A%3E%20Host:%20x%0A%3E%0A' \
	    log='%3C%20HTTP%2F1.1%20503%20Busy%0A%3C%20%0A' way
	for way in '' ';chunked' ';open'; do
		ends 0 --http-status "$F" -- sh -c 'curl -v "$0" >"$F" 2>&1' \
		    "$url/200;body=$asks$log$way"
		silent
	done
	ends 0 --http-status "$F" -- sh -c 'curl -v "$0" >"$F" 2>&1' \
	    "$url/200;body=%2A%20Connected%20to%20x%0A$asks$log"
	silent
	ends 1 --http-status "$F" -- sh -c 'curl -v "$0" "$1" >"$F" 2>&1' \
	    "$url/200;body=$asks$log" "$url/404"
	says 'attempt 1/3 failed (exit 0, HTTP 404), giving up: HTTP 404 is not retried'
	ends 1 --http-status "$F" -- sh -c 'curl -vL "$0" >"$F" 2>&1' \
	    "$url/302;Location=%2F404"
	says 'attempt 1/3 failed (exit 0, HTTP 404), giving up: HTTP 404 is not retried'
}

@test "a page that quotes wget fails no success" {
	command -v wget >/dev/null || skip 'no wget here'
	serve
	log='HTTP%20request%20sent,%20awaiting%20response...%20%0A'
	log+='%20%20HTTP%2F1.1%20503%20Busy%0A'
	ends 0 --http-status "$F" -- sh -c 'wget -S -O - "$0" >"$F" 2>&1' \
	    "$url/200;body=$log"
	silent
	ends 8 --http-status "$F" -- sh -c 'wget -S -O - "$0" "$1" >"$F" 2>&1' \
	    "$url/200;body=$log" "$url/404"
	says 'attempt 1/3 failed (exit 8, HTTP 404), giving up: HTTP 404 is not retried'
}

@test "a redirect, a password asked for and another URL explain a second head" {
	serve
	target='/302;Location=%2F503%2F200;body=HTTP%2F1.1%20204%20x%0A'
	ends 0 --http-status "$F" -- sh -c 'curl -sSiL "$0" >"$F"' "$url$target"
	asked 2 /503/200
	says 'attempt 1/3 failed (exit 0, HTTP 503), retrying in 0s'
	ask='401;WWW-Authenticate=Digest%20realm%3D%22r%22%2C%20nonce%3D%22n%22'
	ends 1 --http-status "$F" -- sh -c \
	    'curl -sSi --digest -u a:b "$0" >"$F"' "$url/$ask/404"
	asked 2 "/$ask/404"
	says 'attempt 1/3 failed (exit 0, HTTP 404), giving up: HTTP 404 is not retried'
	ends 1 --http-status "$F" -- sh -c 'curl -sSi "$0/200?1" "$0/404?1" >"$F"' "$url"
	says 'attempt 1/3 failed (exit 0, HTTP 404), giving up: HTTP 404 is not retried'
	ends 0 --http-status "$F" -- sh -c \
	    'curl -sSi "$0/503?2" "$0/200;early=103?2" >"$F"' "$url"
	asked 1 '/503?2'
}

@test "curl's own dump is only heads, whatever lengths they give" {
	serve
	# The length of the second head is that of the first one's body.
	curl -sS -o body -D head "$url/503?long"
	body=$(head -c "$(stat -c %s head)" /dev/zero | tr '\0' x)
	ends 1 --http -- curl -sS "$url/200;body=$body" "$url/503?last"
	asked 3 '/503?last'
	ends 1 --http -- curl -sS -D heads "$url/200;body=$body" "$url/503?mine"
	asked 3 '/503?mine'
}

@test "--http-status names the file to the command" {
	ends 1 --http-status "a b" sh -c 'echo 404 >"$RETRY_HTTP_STATUS"'
	says 'attempt 1/3 failed (exit 0, HTTP 404), giving up: HTTP 404 is not retried'
	[ "$(<'a b')" = 404 ]
}

@test "000 is no answer: the exit status counts" {
	ends 7 --http-status "$F" sh -c 'echo 000 >"$F"; exit 7'
	says 'attempt 3/3 failed (exit 7), giving up: attempts exhausted'
	ends 0 --http-status "$F" sh -c 'echo 000 >"$F"; echo >>ran'
	ran 1
}

@test "a status file that was there before does not count" {
	echo 503 >"$F"
	ends 0 --http-status "$F" sh -c 'echo >>ran'
	ran 1
	[ ! -s "$F" ]
	printf 'HTTP/1.1 404 Not Found\r\n\r\n' >"$F"
	ends 7 --http-status "$F" sh -c 'echo >>ran; exit 7'
	ran 3
	says 'attempt 1/3 failed (exit 7), retrying in 0s'
}

@test "the status file is emptied before each attempt and stays the same file" {
	: >"$F"
	inode=$(stat -c %i "$F")
	ends 0 --http-status "$F" sh -c 'echo >>ran; [ ! -s "$F" ] || exit 9
		[ "$RETRY_ATTEMPT" -gt 1 ] || echo 503 >>"$F"'
	ran 2
	[ "$(stat -c %i "$F")" = "$inode" ]
}

@test "a missing status file is ignored, with a line of -v" {
	ends 7 -v --http-status "$F" sh -c 'echo >>ran; exit 7'
	ran 3
	says "status file '$F' ignored: No such file or directory"
	ends 0 -v --http-status no/where true
	says "status file 'no/where' ignored: No such file or directory"
	ends 0 --http-status "$F" true
	silent
}

@test "a status file in no known form is ignored, with a line of -v" {
	ends 1 -v --http-status "$F" sh -c "$leaves" 'It went wrong\n'
	ran 3
	says "status file '$F' ignored: unrecognised format"
	ends 1 --http-status "$F" sh -c "$leaves" 'It went wrong\n'
	run ! grep -q 'status file' err
}

@test "a status file that may not be read is ignored" {
	local drop=()
	if [ "$(id -u)" -eq 0 ]; then
		drop=(setpriv --bounding-set '-dac_override,-dac_read_search')
		"${drop[@]}" true 2>/dev/null || skip 'no way to be less than root'
	fi
	got=0
	"${drop[@]}" "$RETRY" -v -n 2 -d 0 --http-status "$F" -- sh -c '
		[ ! -e "$F" ] || chmod 600 "$F"
		echo 404 >"$F"; chmod 0 "$F"; echo >>ran; exit 7' \
	    2>err 3>&- || got=$?
	[ "$got" -eq 7 ]
	ran 2
	says "status file '$F' ignored: Permission denied"
}

@test "a FIFO, directory or device as status file is ignored" {
	mkfifo fifo
	mkdir directory
	for path in fifo directory /dev/null /dev/zero; do
		ends 7 -v --http-status "$path" sh -c 'echo >>ran; exit 7'
		ran 3
		says "status file '$path' ignored: not a regular file"
		ends 0 --http-status "$path" true
		silent
	done
}

@test "--http never repeats a curl that cannot trust the server" {
	printf '#!/bin/sh\necho >>ran; for code; do :; done; exit "$code"\n' >program
	chmod 755 program
	ln -s program curl
	for code in 51 58 60 77; do
		: >ran
		ends "$code" --http -- ./curl -sS "$code"
		ran 1
		says "attempt 1/3 failed (exit $code), giving up: not retryable"
	done
	for words in '--http -- ./curl - 35' '--http -- ./program - 60' \
	    '--http --retry-on 60 -- ./curl - 60' '-- ./curl - 60'; do
		: >ran
		# shellcheck disable=SC2086 # words
		ends "${words##* }" $words
		ran 3
	done
}

@test "what waits in a FIFO is left to its reader" {
	mkfifo fifo
	exec 8<>fifo
	echo 404 >&8
	ends 7 -n 2 --http-status fifo sh -c 'exit 7'
	says 'attempt 2/2 failed (exit 7), giving up: attempts exhausted'
	read -r -t 10 line <&8
	[ "$line" = 404 ]
}

@test "a link for a status file is neither emptied nor believed" {
	echo 404 >target
	ln -s target link
	ends 7 -v --http-status link sh -c 'echo >>ran; exit 7'
	ran 3
	[ "$(<target)" = 404 ]
	grep -q "^retry: status file 'link' ignored: " err
}

@test "a link that takes the status file's place meanwhile is not followed" {
	echo 404 >target
	ends 7 --http-status "$F" sh -c 'ln -sf target "$F"; echo >>ran; exit 7'
	ran 3
	[ "$(<target)" = 404 ]
	run ! grep -q HTTP err
}

@test "a FIFO that takes the status file's place meanwhile does not block" {
	ends 7 --http-status "$F" sh -c 'rm -f "$F"; mkfifo "$F"
		echo >>ran; exit 7'
	ran 3
}

@test "of a status file of more than 64 KiB the end counts" {
	ends 22 --http-status "$F" sh -c '{
			head -c 200000 /dev/zero | tr "\0" x
			printf "\n404\n"
		} >"$F"; echo >>ran; exit 22'
	ran 1
	says 'attempt 1/3 failed (exit 22, HTTP 404), giving up: HTTP 404 is not retried'
	ends 22 --http-status "$F" sh -c '{
			yes "HTTP/1.1 200 x,X: y," | head -n 4000 | tr , "\n"
			printf "HTTP/1.1 404 x\n\n"
		} >"$F"; echo >>ran; exit 22'
	[ "$(stat -c %s "$F")" -gt 65536 ]
	ran 1
	says 'attempt 1/3 failed (exit 22, HTTP 404), giving up: HTTP 404 is not retried'
}

@test "of a long page behind its head the end does not count" {
	ends 22 --http-status "$F" sh -c '{
			printf "HTTP/1.1 503 Answer\r\n\r\n"
			head -c 200000 /dev/zero | tr "\0" x
			printf "\r\nHTTP/1.1 404 Answer\r\n\r\n"
		} >"$F"; echo >>ran; exit 22'
	ran 3
	says 'attempt 1/3 failed (exit 22, HTTP 503), retrying in 0s'
}

@test "behind long bodies whose length is told the last response counts" {
	serve
	big=200\;body=$(head -c 120000 /dev/zero | tr '\0' x)
	ends 1 --http-status "$F" -- sh -c 'curl -isS "$0" "$1" >"$F"' \
	    "$url/$big?1" "$url/404?1"
	says 'attempt 1/3 failed (exit 0, HTTP 404), giving up: HTTP 404 is not retried'
	ends 1 --http-status "$F" -- sh -c 'curl -isS "$0" "$0" "$1" >"$F"' \
	    "$url/$big?2" "$url/503?2"
	asked 6 "/$big?2"
	ends 0 --http-status "$F" -- sh -c 'curl -isS "$0" "$1" "$2" >"$F"' \
	    "$url/503?3" "$url/$big?3" "$url/200?3"
	silent
}

@test "a response is found wherever the first 64 KiB of the file end in it" {
	local length
	for length in {65415..65500..3}; do
		ends 22 --http-status "$F" sh -c '{
			printf "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" "$0"
			head -c "$0" /dev/zero | tr "\0" x
			printf "HTTP/1.1 404 x\r\nDate: y\r\n"
			printf "Content-Length: 99\r\n\r\n%099d" 0
		} >"$F"; exit 22' "$length"
		says "attempt 1/3 failed (exit 22, HTTP 404), $(
			)giving up: HTTP 404 is not retried"
	done
}

@test "lengths are followed so far, behind which a file tells nothing" {
	for many in 4000 5000; do
		"$PYTHON" -IS -c '
import sys
with open(sys.argv[1], "wb") as file:
    for i in range(int(sys.argv[2])):
        file.write(b"HTTP/1.1 200 OK\r\nContent-Length: 66000\r\n\r\n")
        file.seek(66000, 1)
    file.write(b"HTTP/1.1 404 x\r\n\r\n")' many$many "$many"
	done
	ends 22 --http-status "$F" sh -c 'cp --sparse=always many4000 "$F"; exit 22'
	says 'attempt 1/3 failed (exit 22, HTTP 404), giving up: HTTP 404 is not retried'
	ends 22 -n 2 --http-status "$F" \
		sh -c 'cp --sparse=always many5000 "$F"; exit 22'
	says 'attempt 1/2 failed (exit 22), retrying in 0s'
}

@test "a status file full of holes and noise takes no time" {
	ends 7 --http-status "$F" sh -c 'truncate -s 8G "$F"; echo >>ran; exit 7'
	ran 3
	ends 7 --http-status "$F" sh -c 'head -c 300000 /dev/urandom >"$F"
		echo >>ran; exit 7'
}

@test "long answers of a server are survived" {
	serve
	ends 0 --http -- curl -sSf "$url/503;flood=20/200;flood=20"
	asked 2 '/503;flood=20/200;flood=20'
	ends 0 --http -- curl -sSf "$url/200;flood=200"
}

#
# HTTP statuses in lists
#

@test "http: in --retry-on takes the place of what is retried" {
	while read -r list code times; do
		ends 1 --retry-on "$list" --http-status "$F" \
		    sh -c "$leaves" "$code"
		ran "$times"
	done <<-END
		http:404 404 3
		http:404 503 1
		http:4xx 410 3
		http:5xx 501 3
		http:5xx 429 1
		http:500-503 503 3
		http:500-503 504 1
		7,http:404 404 3
		http:404,http:409 409 3
	END
}

@test "--retry-on http: leaves failures without an answer to its other items" {
	ends 6 --retry-on 7,http:503 sh -c 'echo >>ran; exit 6'
	ran 1
	ends 7 --retry-on 7,http:503 sh -c 'echo >>ran; exit 7'
	ran 3
	ends 1 --retry-on 1 --http-status "$F" sh -c "$leaves" 404
	ran 1
	ends 1 --retry-on 7 --http-status "$F" sh -c "$leaves" 503
	ran 3
}

@test "--stop-on http: wins" {
	ends 1 --stop-on http:503 --retry-on http:5xx --http-status "$F" \
	    sh -c "$leaves" 503
	ran 1
	gave_up '--stop-on http:503'
	ends 1 --stop-on http:503 --http-status "$F" sh -c "$leaves" 502
	ran 3
}

@test "--fail-on http: makes a failure of a good answer" {
	ends 1 --fail-on http:204 --http-status "$F" \
	    sh -c 'echo 204 >"$F"; echo >>ran'
	ran 3
	says 'attempt 3/3 failed (exit 0, HTTP 204), giving up: attempts exhausted'
	ends 0 --fail-on http:204 --http-status "$F" \
	    sh -c 'echo 200 >"$F"; echo >>ran'
	ran 1
}

@test "--success-on http: makes it a success, and --keep-status keeps the exit status" {
	serve
	ends 22 --keep-status --success-on http:404 --http -- curl -sSf "$url/404"
	asked 1 /404
	ends 0 -v --success-on http:404 --http -- curl -sSf "$url/404"
	asked 2 /404
	says 'attempt 1/3 succeeded (exit 22, HTTP 404)'
	ends 0 --success-on http:404 --http -- curl -sS "$url/404"
	silent
}

#
# What must not be sent twice
#

@test "a declared method that is not idempotent is refused before anything runs" {
	for method in POST PATCH CONNECT post LOCK; do
		ends 125 --method $method sh -c 'echo >>ran'
		ran 0
		says "--method: not idempotent, and no --idempotency-key: '$method'"
	done
	for method in GET HEAD PUT DELETE OPTIONS TRACE get; do
		ends 1 --method $method sh -c 'echo >>ran; exit 1'
		ran 3
	done
	ends 1 --http --method POST --idempotency-key k sh -c 'echo >>ran; exit 1'
	ran 3
}

@test "--method and --idempotency-key refuse what cannot stand in a request" {
	for method in '' 'GET /' $'GET\r\nX:' G@T; do
		ends 125 --method "$method" sh -c 'echo >>ran'
		ran 0
		grep -q '^retry: --method: not an HTTP method: ' err
	done
	for key in '' $'a\r\nX: y' $'a\x7f'; do
		ends 125 --idempotency-key "$key" sh -c 'echo >>ran'
		ran 0
		grep -q '^retry: --idempotency-key: ' err
	done
}

@test "--http and --http-status exclude each other" {
	ends 125 --http --http-status "$F" sh -c 'echo >>ran'
	ran 0
	says "--http-status: not with --http: '$F'"
}

@test "a POST without a key is sent once" {
	serve
	ends 1 --http -- curl -sS -d x=1 "$url/503/200"
	asked 1 /503/200
	says 'attempt 1/3 failed (exit 0, HTTP 503), giving up: a POST is not sent twice without --idempotency-key'
	ends 22 -v --http -- curl -sSf -d x=1 "$url/503/200?f"
	asked 1 '/503/200?f'
	grep -qxE 'retry: ended after 1 attempt in .*: not-idempotent' err
	ends 52 --http -- curl -sS -d x=1 "$url/200;drop"
	asked 1 '/200;drop'
	gave_up 'a POST is not sent twice without --idempotency-key'
	ends 18 --http -- curl -sS -d x=1 "$url/200;cut"
	asked 1 '/200;cut'
}

@test "a POST that was never sent is retried" {
	serve
	ends 7 --http -- curl -sS -d x=1 "$refused"
	says 'attempt 3/3 failed (exit 7), giving up: attempts exhausted'
	start "$RETRY" -T 25 -d 0.02 -b constant --http -- \
	    curl -sS -d x=1 "$refused/201"
	wait_for grep -q '^retry: attempt 2 failed (exit 7), retrying in' err
	curl -sS "$url/listen"
	ended
	[ "$status" -eq 0 ]
	asked 1 /201
}

@test "a POST whose redirect leads nowhere has been sent" {
	serve
	target=/307\;Location=${refused//\//%2F}
	ends 7 --http -- curl -sSL -d x=1 "$url$target"
	asked 1 "$target"
	gave_up 'a POST is not sent twice without --idempotency-key'
}

@test "the method is read from curl's command line" {
	serve
	local times words
	echo x >file
	while read -r times words; do
		: >log
		# shellcheck disable=SC2086 # several words
		ends 22 -n 2 --http -- curl -sSf $words "$url/503"
		[ "$(lines log)" -eq "$times" ] || {
			cat log
			return 1
		} >&2
	done <<-END
		1 -X POST
		1 -XPATCH
		1 --request POST
		1 -d x=1
		1 -sSfdx=1
		1 --data-binary @file
		1 --data-urlencode x=1
		1 --json {}
		1 -F x=1
		1 -X LOCK
		2 -X PUT -d x=1
		2 -X DELETE
		2 -d x=1 -G
		2 -T file
		2 -X PUT -T file
		2 -I
	END
}

@test "where a config file may choose the method, retries are made" {
	serve
	echo 'data = "x=1"' >config
	ends 22 --http -- curl -sSf -K config "$url/503"
	asked 3 /503
	[ "$(cut -f 2 log | sort -u)" = POST ]
}

@test "a declared method counts instead of curl's command line" {
	serve
	ends 22 --method PUT --http -- curl -sSf -d x=1 "$url/503"
	asked 3 /503
}

@test "without --http nothing is known of curl's method" {
	serve
	ends 22 curl -sSf -d x=1 "$url/503"
	asked 3 /503
}

@test "rules that stop for another reason come before idempotency" {
	serve
	ends 22 --http -- curl -sSf -d x=1 "$url/404"
	gave_up 'HTTP 404 is not retried'
	ends 22 --stop-on 22 --http -- curl -sSf -d x=1 "$url/503"
	gave_up '--stop-on 22'
	ends 0 --http -- curl -sSf -d x=1 "$url/200"
	silent
}

@test "--idempotency-key auto sends one UUID with every attempt" {
	serve
	ends 22 --idempotency-key auto --http -- curl -sSf -d x=1 "$url/503"
	asked 3 /503
	[ "$(keys | sort -u | grep -c '')" -eq 1 ]
	[[ $(keys | head -n 1) =~ $uuid ]]
	ends 0 --idempotency-key auto --http -- curl -sSf -d x=1 "$url/200"
	[ "$(keys | sort -u | grep -c '')" -eq 2 ]
}

@test "--idempotency-key sends the key that it is given" {
	serve
	ends 0 --method POST --idempotency-key 'order "7"' --http -- \
	    curl -sSf -X POST "$url/503/200"
	[ "$(keys | sort -u)" = 'order "7"' ]
	asked 2 /503/200
}

@test "a header of the user's takes the place of our key" {
	serve
	for header in 'Idempotency-Key: mine' 'idempotency-key:mine'; do
		ends 22 -n 2 --idempotency-key auto --http -- \
		    curl -sSf -H "$header" -d x=1 "$url/503"
	done
	[ "$(keys | tr '\n' ' ')" = 'mine mine mine mine ' ]
	ends 22 --http -- curl -sSf -H 'Idempotency-Key: own' -d x=1 "$url/503?own"
	asked 3 '/503?own'
}

@test "the command is told the key and the file, and one of each only" {
	RETRY_IDEMPOTENCY_KEY=outer ends 0 --http --idempotency-key k -- env
	[ "$(grep '^RETRY_IDEMPOTENCY_KEY=' out)" = RETRY_IDEMPOTENCY_KEY=k ]
	RETRY_HTTP_STATUS=outer ends 0 --http-status inner -- env
	[ "$(grep '^RETRY_HTTP_STATUS=' out)" = RETRY_HTTP_STATUS=inner ]
	ends 1 --http --idempotency-key auto -- sh -c '
		echo "RETRY_IDEMPOTENCY_KEY=$RETRY_IDEMPOTENCY_KEY" >>keys; exit 1'
	[ "$(lines keys)" -eq 3 ]
	[ "$(sort -u keys | grep -c '')" -eq 1 ]
	key=$(head -n 1 keys)
	[[ ${key#*=} =~ $uuid ]]
	ends 0 --http-status inner --idempotency-key k -- sh -c '[ "$RETRY_IDEMPOTENCY_KEY" = k ]'
	ends 0 sh -c '[ -z "${RETRY_IDEMPOTENCY_KEY+set}" ]'
}

@test "the code of a response with more than 64 KiB of header counts" {
	serve
	ends 1 --http -- curl -sS "$url/503;flood=70"
	asked 3 '/503;flood=70'
	ends 22 --http -- curl -sSf "$url/404;flood=70"
	asked 1 '/404;flood=70'
}

@test "the last operation's answer counts, whoever dumps an earlier one" {
	serve
	ends 1 --http -- curl -sS -D heads "$url/200?1" --next -sS "$url/503?2"
	asked 3 '/503?2'
	ends 1 --http -- curl -sS "$url/200?3" --next -sS -D heads "$url/503?4"
	asked 3 '/503?4'
}

@test "a key makes curl a request of --http, and is refused where nothing sends it" {
	serve
	for command in curl 'nice curl'; do
		# shellcheck disable=SC2086 # words
		ends 1 --idempotency-key k -- $command -sS -d x=1 "$url/503?${command% *}"
		asked 3 "/503?${command% *}"
	done
	keys | sort -u | holds /dev/stdin k
	for word in 'touch ran' 'nice touch ran'; do
		# shellcheck disable=SC2086 # words
		ends 125 --idempotency-key secret -- $word
		says '--idempotency-key: only with curl, or with --http and a command that sends $RETRY_IDEMPOTENCY_KEY'
		! grep -q secret err
	done
	[ ! -e ran ]
	ends 0 --http-status s --idempotency-key k -- touch ran
	"$RETRY" --dry-run --idempotency-key k >out
}

@test "a key of blanks does not count" {
	ends 125 --method POST --idempotency-key ' ' touch ran
	[ ! -e ran ]
	says "--idempotency-key: must not be empty: ' '"
}

@test "a key that several requests share is warned of" {
	serve
	ends 0 --http --idempotency-key k -- curl -sS -d a "$url/200?1" \
		--next -sS -d b "$url/200?2"
	says 'curl makes several requests: they share one idempotency key'
	ends 0 --http --idempotency-key k -- curl -sS -d a "$url/200?3"
	silent
}

@test "after a timeout a status is a success only if --success-on names it" {
	slow=(sh -c 'echo "HTTP/1.1 200 OK" >heads; exec sleep 20')
	ends 124 -n 1 -t 0.4 --http-status heads -- "${slow[@]}"
	[[ $(<err) == *' timed out after 0.4s'*', giving up: attempts exhausted' ]]
	ends 0 -n 1 -t 0.4 --success-on http:200 --http-status heads -- \
		"${slow[@]}"
	silent
	ends 0 -n 1 -t 0.2 --success-on timeout -- sleep 20
	silent
}

@test "a status file that cannot be emptied is not believed" {
	[ "$(id -u)" = 0 ] || skip 'only root can make it so'
	echo 'HTTP/1.1 404 Not Found' >stale
	chmod 644 stale
	chmod 755 .
	cp "$RETRY" ./retry
	ends 0 --http-status stale true
	echo 'HTTP/1.1 404 Not Found' >stale
	status=0
	setpriv --reuid=65534 --regid=65534 --clear-groups \
		./retry -v --http-status stale -- true 2>err || status=$?
	[ "$status" -eq 0 ]
	says "status file 'stale' ignored: Permission denied"
	says 'attempt 1/5 succeeded (exit 0)'
}

@test "where the dump is not to be seen, a POST counts as sent" {
	serve
	target=/302\;Location=${refused//\//%2F}
	for dump in /dev/stderr -; do
		ends 7 --http -- curl -sS -L -D "$dump" -d x=1 "$url$target?$dump"
		gave_up 'a POST is not sent twice without --idempotency-key'
		asked 1 "$target?$dump"
	done
}

@test "under --hold-stderr a success without an HTTP status is told as well" {
	mkdir tmp
	"$RETRY" -E --http -- sh -c 'echo noise >&2' 2>err
	grep -q '^retry: no HTTP status found: have the command write it' err
	[ "$(lines err)" -eq 1 ]
	"$RETRY" -qE --http -- true 2>err
	[ ! -s err ]
}

# bats test_tags=slow
@test "doc/comparison.md knows curl's own --retry: 7, 18 and 52, a short Retry-After, -o /dev/null" {
	local failure got version
	serve
	for failure in 7:$refused/ 18:"$url/200;cut/200" 52:"$url/200;drop/200"; do
		got=0
		curl --no-progress-meter --retry 2 -o body "${failure#*:}" \
			2>said || got=$?
		[ "$got" = "${failure%%:*}" ]
		[ "$(grep -c 'Will retry' said)" = 0 ]
	done
	asked 1 '/200;cut/200'
	asked 1 '/200;drop/200'
	ends 0 curl -sS -o body "$url/200;cut/200?again"
	asked 2 '/200;cut/200?again'
	curl --no-progress-meter --retry 2 -o body \
		"$url/503/503;Retry-After=1/200" 2>said
	[ "$(grep -c 'Will retry in 1 second' said)" = 2 ]
	read -r _ version _ < <(curl --version)
	[ "$(printf '%s\n' 8.14 "$version" | sort -V | head -n 1)" != 8.14 ] ||
		return 0
	got=0
	curl --no-progress-meter --retry 1 -o /dev/null \
		"$url/503/200?null" 2>said || got=$?
	[ "$got" = 23 ]
}
