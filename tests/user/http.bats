#!/usr/bin/env bats
# Covers attempt/http_request.
# Retries by what a server answers: --http with the real curl and a real server,
# --http-status, waits that the server asks for, and requests that must not be
# sent twice. tests/unit/http has the forms of a status file, the fields that
# name a wait, curl's options and methods, and which status is retried.
# shellcheck disable=SC2016,SC2034 # the commands' shells expand, and the tables

load helper
load actor

# No .curlrc and no proxies of the user who runs the tests.
setup()
{
	helper_setup
	unset CURL_HOME XDG_CONFIG_HOME {http,https,all}_proxy {HTTPS,ALL}_PROXY
	export HOME=$PWD TMPDIR=$PWD/tmp no_proxy='*'
	mkdir tmp
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

# ends STATUS [OPTION]... COMMAND...: retry, with up to two attempts without
# delay, ends with STATUS. Its output is in ./out and ./err.
ends()
{
	local want=$1 got=0
	shift
	timeout --foreground -s KILL 30 \
	    "$RETRY" -n 2 -d 0 "$@" >out 2>err 3>&- || got=$?
	[ "$got" -eq "$want" ] || {
		echo "status $got instead of $want: $*"
		cat err
		return 1
	} >&2
}

# tells WORDS: the last line of ./err ends so; no words: ./err is empty; an
# asterisk: whatever it is.
tells()
{
	local text
	text=$(<err)
	[ "$1" = '*' ] || [[ -z $1 && -z $text ]] ||
	    [[ -n $1 && ${text##*$'\n'} == *"$1" ]] || {
		echo "not told: $1"
		cat err
		return 1
	} >&2
}

# asks STATUS TIMES WORDS [OPTION]... -- COMMAND...: retry ends with STATUS, the
# server has got TIMES requests, and retry tells WORDS. A word like /503/200 is
# a URL of the server, a script of its own in each row.
asks()
{
	local want=$1 times=$2 said=$3 got word words=()
	shift 3
	for word; do
		[[ $word != /[1-5][0-9][0-9]* ]] ||
		    word=$url$word\?$((targets += 1))
		words+=("$word")
	done
	: >log
	ends "$want" "${words[@]}" && tells "$said" || return
	got=$(lines log)
	[ "$got" -eq "$times" ] || {
		echo "asked $got times instead of $times"
		cat log err
		return 1
	} >&2
}

# runs STATUS TIMES WORDS [OPTION]... COMMAND...: retry ends with STATUS, the
# command, which adds a line to ./ran, ran TIMES times, and retry tells WORDS.
runs()
{
	local want=$1 times=$2 said=$3 got
	shift 3
	rm -f ran
	ends "$want" "$@" && tells "$said" || return
	got=$(lines ran)
	[ "$got" -eq "$times" ] || {
		echo "$got attempts instead of $times"
		cat err
		return 1
	} >&2
}

# leaves STATUS TIMES WORDS EXIT TEXT [OPTION]...: the same of a command that
# leaves TEXT in the status file $F and exits with EXIT.
export F=status
leaves()
{
	local want=$1 times=$2 said=$3 exit=$4 text=$5
	shift 5
	runs "$want" "$times" "$said" --http-status "$F" "$@" -- sh -c \
	    'printf "%b" "$0" >"$F"; echo >>ran; exit "$1"' "$text" "$exit"
}

# says LINE: ./err has this line of retry's, and has it once.
says()
{
	[ "$(grep -cxF "retry: $1" err)" -eq 1 ] || {
		echo "not said once: $1"
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

# without WORDS: nothing like this was written to ./err.
without()
{
	! grep -F -- "$1" err
}

# waited MS: any two requests for the same target are at least MS apart.
waited()
{
	awk -F '\t' -v least="$1" '
		$3 in last && $1 - last[$3] < least { early = 1; print }
		{ last[$3] = $1 }
		END { exit early || NR < 2 }' log
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

# keyed KEY...: these were the keys.
keyed()
{
	keys | holds /dev/stdin "$@"
}

# shows NAME: ./NAME is a program that shows its words, one a line; shown
# WORDS: it got these, the name of retry's file as FILE.
shows()
{
	printf '#!/bin/sh\nprintf "%%s\\n" "$@"\n' >"$1"
	chmod +x "$1"
}

shown()
{
	local got
	got=$(sed 's,^/.*,FILE,' out | tr '\n' ' ')
	[ "$got" = "$1 " ] || {
		echo "$got instead of $1"
		return 1
	}
}

uuid='^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$'
not_404='HTTP 404), giving up: HTTP 404 is not retried'
again=', retrying in 0s'
spent=', giving up: attempts exhausted'
once='giving up: a POST is not sent twice without --idempotency-key'

@test "of --http and -O, a variable gets only what the success wrote" {
	serve
	local target="$url/503;body=busy/200;body=7"
	[ "$("$RETRY" -q -d 0 --http -- curl -sS "$target")" = busy7 ]
	[ "$("$RETRY" -q -d 0 -O --http -- curl -sS "$target?again")" = 7 ]
}

#
# curl without --http
#

advice="curl exits with 0 even if the server answers with an error: use --http, \
or curl's own -f"

@test "after an answer with which curl exits with 0 one line names --http, unless the user has a rule" {
	serve
	table asks <<-'END'
		0 1 "$advice" -- curl -sS -o page /503 && [ "$(lines err)" -eq 1 ]
		0 1 "$advice" -- timeout 20 curl -sS "${url#http://}/200"
		0 2 '*' --consecutive 2 -- curl -sS /200 && says "$advice"
		22 2 '*' -- curl -sSf -o page /503 && without --http
		1 2 '*' --http -- curl -sS -o page /503 && without --http
		0 1 '' -q -- curl -sS /503
		0 1 '' -E -- curl -sS /503
		0 1 '' --http-status head -- curl -sS -D head /200
		0 1 '' --success-on 7 -- curl -sS /200
		0 2 '*' --fail-on stdout:busy -- curl -sS '/503;body=busy/200' && without --http
		0 0 '' -- sh -c ': curl "$1"' sh /503
		7 0 '*' -n 1 -- curl -sS "$refused" && without --http
	END
}

#
# --http and curl
#

@test "a 503 is retried until the server answers 200" {
	serve
	asks 0 3 "(exit 0, HTTP 503)$again" -n 3 --http -- curl -sS /503/503/200
	says 'attempt 1/3 failed (exit 0, HTTP 503), retrying in 0s'
	[ "$(<out)" = $'answer 1\nanswer 2\nanswer 3' ]
	asks 0 2 '*' --http -- curl -sSfLobody /503/200
	asks 0 2 '*' --http -- curl /503/200 --fail --output body --silent
	[ "$(<body)" = 'answer 2' ]
	# curl's own output stays as it is.
	asks 0 1 '' --http -- curl -sS '/200;body=a%0Ab'
	curl -sS "$url/200;body=a%0Ab" | cmp - out
	asks 22 1 "$not_404" --http -- curl -sSf /404
	curl -sSf "$url/404" 2>want || :
	grep -v '^retry: ' err | cmp - want
	[ ! -s out ]
}

@test "what the server answers, and how curl ends, decide together" {
	serve
	to_nowhere="/302;Location=${refused//\//%2F}"
	table asks <<-'END'
		# A failure that exits 0 ends with 1.
		1 2 "attempt 2/2 failed (exit 0, HTTP 503)$spent" --http -- curl -sS /503
		22 2 "attempt 2/2 failed (exit 22, HTTP 503)$spent" --http -- curl -sSf /503
		22 1 "attempt 1/2 failed (exit 22, $not_404" --http -- curl -sSf /404/200
		1 1 "attempt 1/2 failed (exit 0, $not_404" --http -- curl -sS /404/200
		# 403 is retried where the server names a wait.
		22 1 'giving up: HTTP 403 is not retried without a Retry-After' --http -- curl -sSf /403
		0 2 "(exit 22, HTTP 403)$again" --http -- curl -sSf '/403;Retry-After=0/200'
		# Redirects.
		0 4 "(exit 22, HTTP 503)$again" --http -- curl -sSfL '/302;Location=%2F503%2F200'
		0 1 '*' -v --http -- curl -sSf '/302;Location=%2F503' && says 'attempt 1/2 succeeded (exit 0, HTTP 302)'
		7 2 "(exit 7, HTTP 302)$spent" --http -- curl -sSfL "$to_nowhere"
		# No answer.
		7 0 "attempt 2/2 failed (exit 7)$spent" --http -- curl -sS "$refused"
		0 2 "(exit 52)$again" --http -- curl -sS '/200;drop/200'
		# A body that is cut short, although the server said 200.
		18 2 "(exit 18, HTTP 200)$spent" --http -- curl -sSf '/200;cut'
		0 2 "(exit 18, HTTP 200)$again" --http -- curl -sSf '/200;cut/200'
		# An interim response and its fields do not count.
		0 2 "(exit 22, HTTP 503)$again" --http -- curl -sSf '/503;early=103/200;early=103'
		# Of several URLs the last response counts.
		0 2 '' --http -- curl -sS /503 /200
		# Each operation that --next begins is dumped.
		0 4 "(exit 0, HTTP 503)$again" --http -- curl -sS /200 --next -sS /503/200
		1 4 '*' --http -- curl -sS -D heads /200 --next -sS /503
		# More than 64 KiB of header.
		1 2 '*' --http -- curl -sS '/503;flood=70'
		22 1 '*' --http -- curl -sSf '/404;flood=70'
	END
}

#
# The options that curl gets
#

@test "options for curl go behind the word curl, behind -q, and first of each operation" {
	shows curl
	shows curly
	cat >timeout <<-'SH'
		#!/bin/sh
		printf '<%s>\n' "$@" >words
		shift 3
		exec "$@"
	SH
	chmod +x timeout
	gets() # gets SHOWN WORD...
	{
		ends 0 "${@:2}" && shown "$1"
	}
	table gets <<-'END'
		'--dump-header FILE -sS -f URL' --http -- ./curl -sS -f URL
		'--disable --dump-header FILE -sS URL' --http -- ./curl --disable -sS URL
		'--dump-header FILE -sS -q URL' --http -- ./curl -sS -q URL
		'-q --dump-header FILE A --next --dump-header FILE B' --http -- ./timeout -k 5 10 ./curl -q A --next B
		'-sS URL' --http -- ./curly -sS URL
		'-d x=1 URL' -- ./curl -d x=1 URL
		'-d x=1 URL' --http-status "$F" --idempotency-key k -- ./curl -d x=1 URL
	END
	[ "$(head -n 5 words | tr '\n' ' ')" = '<-k> <5> <10> <./curl> <-q> ' ]
}

@test "curl reads its .curlrc, and with -q does not" {
	serve
	echo 'user-agent = curlrc' >.curlrc
	asks 0 2 '*' --http -- curl -sS /503/200
	[ "$(grep -cF 'User-Agent: curlrc' log)" -eq 2 ]
	asks 0 2 '*' --http -- curl -q -sS /503/200
	[ "$(grep -cF 'User-Agent: curlrc' log)" -eq 0 ]
}

@test "the user's own --dump-header is read and left to him" {
	serve
	mkdir there
	table asks 0 2 "'*'" --http -- <<-'END'
		curl -sS -D heads /503/200
		curl -sS /503/200 -D heads
		env -C there curl -sS -D heads /503/200
		env -C "$PWD/there" curl -sS -D "$PWD/there/more" /503/200 && without 'status found'
	END
	for file in heads there/heads there/more; do
		[[ $(grep '^HTTP/1.1 ' $file) == 'HTTP/1.1 200 '* ]]
	done
	printf 'HTTP/1.1 404 Not Found\r\n\r\n' >heads
	asks 7 0 "attempt 2/2 failed (exit 7)$spent" --http -- curl -sS -D heads "$refused"
}

@test "a --dump-header to standard output is left there, and costs one line" {
	serve
	help='none where curl'\''s own -D goes, use -i instead, or -D "$RETRY_HTTP_STATUS" in sh -c'
	asks 0 1 '*' -v --http -- curl -sS -D - /503
	says "curl's own --dump-header is not a file: no HTTP status is read"
	missed "$help"
	curl -sS -D - "$url/503?alone" | grep -v '^Date: ' >want
	grep -v '^Date: ' out | cmp - want
	table asks <<-'END'
		0 1 '*' --http -- curl -sS -D /dev/stderr /503 && missed "$help"
		0 1 '' -q --http -- curl -sS -D - /503
		1 2 '*' --http -- sh -c 'curl -sS -D "$RETRY_HTTP_STATUS" "$0"' /503 && without 'status found'
	END
}

@test "a curl with a --retry of its own gets one warning" {
	serve
	warning='curl has a --retry of its own: attempts multiply'
	table asks 22 <<-'END'
		2 '*' --http --retry-on http:404 -- curl -sSf --retry 2 /404 && says "$warning"
		1 '*' -q --http -- curl -sSf --retry 2 /404 && without "$warning"
		1 '*' --http -- curl -sSf --retry 0 /404 && without "$warning"
	END
}

@test "--http never repeats a curl that cannot trust the server" {
	printf '#!/bin/sh\necho >>ran; for code; do :; done; exit "$code"\n' >program
	chmod 755 program
	ln -s program curl
	table runs <<-'END'
		51 1 'attempt 1/2 failed (exit 51), giving up: not retryable' --http -- ./curl 51
		60 1 'attempt 1/2 failed (exit 60), giving up: not retryable' --http -- ./curl 60
		35 2 "$spent" --http -- ./curl 35
		60 2 "$spent" --http -- ./program 60
		60 2 "$spent" --http --retry-on 60 -- ./curl 60
		60 2 "$spent" -- ./curl 60
	END
}

#
# Wrappers in front of curl
#

@test "curl behind timeout, env, nice, nohup, stdbuf and each other is curl, and a POST a POST" {
	serve
	behind() # behind WRAPPER...
	{
		asks 0 2 "attempt 1/2 failed (exit 0, HTTP 503)$again" --http -- \
		    "$@" curl -sS /503/200 && without 'status found'
	}
	table behind <<-'END'
		timeout -k 5 -s INT --foreground 20
		env -u X A=b
		nohup nice -1 env A=b stdbuf -o L timeout --kill-after=5 20
	END
	asks 22 1 "$once" --http -- timeout 20 nice curl -sSf -d x=1 /503/200
	asks 0 2 '*' --http --idempotency-key k -- \
	    timeout 20 nice curl -sSf -d x=1 /503/200
	keyed k k
}

@test "curl that cannot be found is said to have told nothing, once" {
	serve
	help='have the command write it to $RETRY_HTTP_STATUS, or make curl the command'
	asks 0 1 '*' --http -- sh -c 'curl -sS "$0"; exit' /503
	missed "$help"
	asks 0 1 '*' --http -- env -S "curl -sS $url/503"
	missed "$help"
	ends 1 --http --fail-on 0 -- true
	says "attempt 2/2 failed (exit 0)$spent"
	missed "$help"
	ends 0 -E --http -- sh -c 'echo noise >&2'
	missed "$help"
	[ "$(lines err)" -eq 1 ]
}

@test "nothing is said where a status was found, none was asked for, or it failed" {
	silently() # silently STATUS [OPTION]... COMMAND...
	{
		ends "$@" && without 'status found' && { [ "$1" != 0 ] || tells ''; }
	}
	table silently <<-'END'
		0 --http -- sh -c 'echo 200 >"$RETRY_HTTP_STATUS"'
		0 --http -- sh -c 'echo 000 >"$RETRY_HTTP_STATUS"'
		0 -q --http true
		0 -qE --http true
		0 --http-status "$F" true
		0 true
		3 --http -- sh -c 'exit 3'
	END
}

under_sudo='curl under sudo cannot write to $RETRY_HTTP_STATUS, put sudo in front of retry'

@test "curl that sudo gives to another user is left as it was typed" {
	shows sudo
	left() # left SUDO'S WORD...
	{
		ends 0 --http --idempotency-key k -- ./sudo "$@" curl -d x URL &&
			[ "$(tr '\n' ' ' <out)" = "$* curl -d x URL " ] &&
			missed "$under_sudo"
	}
	table left <<-'END'
		-u bob
		-u bob -E A=b
		-g adm
		-R /
	END
}

@test "a POST whose key sudo keeps from curl is sent once" {
	printf '#!/bin/sh\necho >>ran\nexit 22\n' >sudo
	chmod +x sudo
	none='giving up: a POST is not sent twice if curl gets no key'
	table runs 22 <<-'END'
		1 "$none" --http --idempotency-key k -- ./sudo -u bob curl -sSf -d x URL
		1 "$none" --http --method POST --idempotency-key k -- ./sudo -u bob curl URL
		2 "$spent" --http --idempotency-key k -- ./sudo -u bob curl -sSf URL
		2 "$spent" --http -- ./sudo -u bob curl -H Idempotency-Key:k -d x URL
	END
}

@test "curl that sudo makes the superuser's is curl" {
	sudo -n true 2>/dev/null || skip 'no sudo here that asks nothing'
	serve
	[ "$(id -u)" -eq 0 ] || skip 'whom sudo lets do what is not ours to know'
	asks 0 2 '*' --http --idempotency-key k -- sudo -n A=b curl -sS -d x /503/200
	keyed k k
	without 'status found'
	asks 0 1 '*' --http -- sudo -n -u nobody curl -sS /503
	missed "$under_sudo"
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
	PATH=$PWD:$PATH asks 0 2 '*' -v --report r.json --metrics m.prom \
	    --log-format json --http --idempotency-key 's3 "cr\et' -- \
	    curl -sSf -d x=1 /503/200
	keyed 's3 "cr\et' 's3 "cr\et'
	grep -qxF -- -sSf words
	run ! grep -qF s3 words err r.json m.prom out
}

@test "without /proc the key is in a temporary file that goes with the other" {
	shows curl
	printf 'stat -c %%a "$4" >mode; cat "$4" >config; ls tmp >files\n' >>curl
	bare "$RETRY" -n 1 --http --idempotency-key k -- ./curl URL
	ended
	[ "$status" -eq 0 ]
	grep -qF "$PWD/tmp/" out
	shown '--dump-header FILE --config FILE URL'
	[ "$(<config)" = 'header = "Idempotency-Key: k"' ]
	[ "$(<mode)" = 600 ]
	[ "$(lines files)" -eq 2 ]
	[ -z "$(ls -A tmp)" ]
}

#
# Waits that the server asks for
#

@test "a delay is never shorter than what the server asks for, or the backoff" {
	serve
	table asks <<-'END'
		0 2 '*' --http -- curl -sSf '/429;Retry-After=1/200' && waited 1000
		0 2 'failed (exit 22, HTTP 503), retrying in 0.5s' -j none --max-delay 0.1 --http -- curl -sSf '/503;Retry-After-Ms=450/200' && waited 450
		# Jitter only adds.
		22 5 '*' -n 5 -d 0.05 --http -- curl -sSf '/503;Retry-After-Ms=150' && waited 150
		# The backoff is longer.
		0 2 'failed (exit 22, HTTP 503), retrying in 0.3s' -d 0.3 -j none --http -- curl -sSf '/503;Retry-After-Ms=10/200' && waited 300
		# A 429 without a wait: a base delay at least.
		22 5 '*' -n 5 -d 0.15 -b constant --http -- curl -sSf /429 && waited 150
	END
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
	[ "$(lines log)" -eq 6 ]
	waited 1000
}

@test "a server may ask for more than is waited, or for no retry" {
	serve
	hour='giving up: Retry-After too long (1h)'
	table asks <<-'END'
		22 1 "attempt 1/2 failed (exit 22, HTTP 503), $hour" --http -- curl -sSf '/503;Retry-After=3600'
		1 1 '*' -v --max-retry-after 1s --http -- curl -sS '/503;Retry-After=90' && says 'attempt 1/2 failed (exit 0, HTTP 503), giving up: Retry-After too long (1m30s)' && grep -qxE 'retry: ended after 1 attempt in .*: retry-after' err
		# A date counts from the response's own Date.
		22 1 "$hour" --http -- curl -sSf '/503;Date=@imf-7200;Retry-After=@imf-3600'
		0 2 "$again" --http -- curl -sSf '/503;Date=@imf+7200;Retry-After=@imf+7100/200'
		# Milliseconds, a refusal, a rate limit.
		22 1 'giving up: Retry-After too long (0.3s)' --max-retry-after 0.1 --http -- curl -sSf '/503;X-Ms-Retry-After-Ms=250'
		22 1 'giving up: the server wants no retry' --http -- curl -sSf '/503;Grpc-Retry-Pushback-Ms=-1'
		22 1 "$hour" --http -- curl -sSf '/429;RateLimit-Remaining=0;RateLimit-Reset=3600'
		# The longest of several.
		22 1 "$hour" --http -- curl -sSf '/503;Retry-After=3600;Retry-After=0'
		# The deadline, and the last attempt.
		22 1 'giving up: Retry-After too long (1m)' -T 25 --http -- curl -sSf '/503;Retry-After=60'
		22 1 'giving up: attempts exhausted' -n 1 --http -- curl -sSf '/503;Retry-After=3600'
		# What makes no sense is ignored.
		0 2 '*' -v --http -- curl -sSf '/503;Retry-After=soon/200' && [ "$(grep -c "^retry: status file '.*': a Retry-After was not understood$" err)" -eq 1 ]
	END
}

#
# --http and other commands
#

@test "a command that is not curl is told where by RETRY_HTTP_STATUS" {
	table runs <<-'END'
		1 1 "attempt 1/2 failed (exit 1, $not_404" --http -- sh -c 'echo 404 >"$RETRY_HTTP_STATUS"; echo >>ran; exit 1'
		1 2 "attempt 2/2 failed (exit 0, HTTP 503)$spent" --http -- sh -c 'echo >>ran; echo 503 >>"$RETRY_HTTP_STATUS"'
		# The file is emptied before each attempt.
		0 2 '*' --http -- sh -c 'echo >>ran; [ ! -s "$RETRY_HTTP_STATUS" ] || exit 9; [ "$RETRY_ATTEMPT" -gt 1 ] || echo 503 >"$RETRY_HTTP_STATUS"'
		# Without an answer the exit status counts.
		0 1 '*' --http -- sh -c 'echo >>ran'
		7 2 "attempt 2/2 failed (exit 7)$spent" --http -- sh -c 'echo >>ran; exit 7'
		0 1 '' sh -c 'echo >>ran; [ -z "${RETRY_HTTP_STATUS+set}" ]'
		# A retry that asks for no file of its own passes the outer one on.
		1 2 "(exit 1, $not_404" --http -- "$RETRY" -q -n 2 -d 0 -- sh -c 'echo 404 >"$RETRY_HTTP_STATUS"; echo >>ran; exit 1'
	END
}

@test "even after SIGKILL there is no file of ours" {
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
	# The command does not inherit its descriptor.
	"$RETRY" --http -- ls -l /proc/self/fd \
	    >out 3<&0 4<&0 5<&0 6<&0 7<&0 8<&0 9<&0
	run ! grep -q memfd out
}

# bare COMMAND...: COMMAND with an empty directory where /proc was, and one for
# temporary files.
bare()
{
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
	[ "$(lines ran)" -eq 3 ]
	[ "$(sort -u stats | grep -c '')" -eq 1 ]
	[[ $(head -n 1 stats) == "600 0 $PWD/tmp/"* ]]
	[ -z "$(ls -A tmp)" ]
}

@test "under a /proc of other processes nobody else's file is taken for ours" {
	isolate -p -f -m --mount-proc
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
			exec unshare -p -f "$RETRY" --http -- \
			    sh -c 'echo 404 >"$RETRY_HTTP_STATUS"'
		)
		exit $?
	END
	start "${isolate[@]}" bash within 9<>victim
	ended
	[ "$(<victim)" = precious ]
	[ "$status" -eq 1 ]
	says 'attempt 1/5 failed (exit 0, HTTP 404), giving up: HTTP 404 is not retried'
	[ -z "$(ls -A tmp)" ]
	# Nor a file of the same kind, the one of an outer retry.
	ends 0 -n 1 --http -- bash -c 'exec 9<>"$RETRY_HTTP_STATUS"
		"$@" bash within
		[ ! -s "$RETRY_HTTP_STATUS" ]' sh "${isolate[@]}"
	[ -z "$(ls -A tmp)" ]
}

@test "the temporary file goes if retry cannot begin" {
	bare sh -c 'for n in 4 5 6 7 8 9 10; do
			(ulimit -n "$n"; exec "$0" -n 1 --http -- true)
		done' "$RETRY"
	ended
	says 'eventfd: Too many open files; command not run'
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

#
# --http-status
#

@test "--http-status understands what curl's -w writes" {
	serve
	writes='curl -sSf -o body -w "$0" "$1" >"$F"'
	codes='%{http_code} %{exitcode} %{errormsg}\n'
	hour='giving up: Retry-After too long (1h)'
	# STATUS TIMES WORDS FORMAT URL
	format()
	{
		asks "${@:1:3}" --http-status "$F" -- sh -c "$writes" "${@:4}"
	}
	table format <<-'END'
		22 1 "HTTP 503), $hour" '%{http_code} %header{retry-after}' '/503;Retry-After=3600'
		22 1 "HTTP 503), $hour" '%{json}%{header_json}' '/503;Retry-After=3600'
		# curl's exit status and message behind the code.
		0 2 "(exit 22, HTTP 503)$again" "$codes" /503/200
		22 1 "(exit 22, $not_404" "$codes" /404
	END
}

@test "a page that quotes a response is not one, in whichever way it is sent" {
	serve
	local head='HTTP%2F1.1%20503%20x%0D%0ARetry-After:%209%0D%0A%0D%0A'
	local text='An%20answer:%0A%0AHTTP%2F1.1%20503%20x%0A%0Aand%20so%20on.%0A'
	local written=(--http-status "$F" -- sh -c 'curl -sSi "$0" >"$F"') quote way
	for quote in "$head" "$text"; do
		for way in '' ';chunked' ';open'; do
			table asks <<-'END'
				0 1 '' "${written[@]}" "/200;body=$quote$way/503"
				1 2 "HTTP 503)$spent" "${written[@]}" "/503;body=${quote//503/200}$way"
			END
		done
	done
	# In front of its code, too: but a whole head at the start is taken for
	# one that curl -i wrote.
	table asks <<-'END'
		0 1 '' --http-status "$F" -- sh -c 'curl -sS -w "\n%{http_code}\n" "$0" >"$F"' "/200;body=$text/503"
		0 1 '' --http-status "$F" -- sh -c 'curl -v "$0" >"$F" 2>&1' "/200;body=$text/503"
	END
}

@test "a redirect or a 401 that is not followed is judged without its body" {
	serve
	local body='HTTP%2F1.1%20200%20OK%0D%0A%0D%0A'
	local written=(--http-status "$F" -- sh -c 'curl -sSi "$0" >"$F"')
	table asks <<-'END'
		1 1 '(exit 0, HTTP 401), giving up: HTTP 401 is not retried' "${written[@]}" "/401;body=$body;chunked"
		1 1 '(exit 0, HTTP 407), giving up: HTTP 407 is not retried' "${written[@]}" "/407;body=$body"
		0 1 '' "${written[@]}" "/302;body=${body/200/503};open"
	END
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
	asks 0 1 '' --http-status "$F" -- \
	    sh -c 'curl -sSi --compressed "$0" >"$F"' "/200;gzip;body=$body/503"
	grep -aq '^HTTP/1.1 503' "$F"
}

@test "a page that quotes what clients tell fails no success" {
	serve
	asking='%3E%20GET%20%2F%20HTTP%2F1.1%0A%3E%20Host:%20x%0A%3E%0A'
	log='%3C%20HTTP%2F1.1%20503%20Busy%0A%3C%20%0A'
	file=(--http-status "$F" -- sh -c 'curl -v "$@" >"$F" 2>&1' sh)
	table asks <<-'END'
		0 1 '' "${file[@]}" "/200;body=$asking$log"
		0 1 '' "${file[@]}" "/200;body=$asking$log;open"
		1 2 "(exit 0, $not_404" "${file[@]}" "/200;body=$asking$log" /404
	END
	command -v wget >/dev/null || return 0
	log='HTTP%20request%20sent,%20awaiting%20response...%20%0A'
	log+='%20%20HTTP%2F1.1%20503%20Busy%0A'
	file=(--http-status "$F" -- sh -c 'wget -S -O - "$@" >"$F" 2>&1' sh)
	asks 0 1 '' "${file[@]}" "/200;body=$log"
	asks 8 2 "(exit 8, $not_404" "${file[@]}" "/200;body=$log" /404
}

@test "a redirect, a password asked for and another URL explain a second head" {
	serve
	ask='401;WWW-Authenticate=Digest%20realm%3D%22r%22%2C%20nonce%3D%22n%22'
	file=(--http-status "$F" -- sh -c 'curl -sSi "$@" >"$F"' sh)
	big=200\;body=$(head -c 120000 /dev/zero | tr '\0' x)
	table asks <<-'END'
		0 4 "(exit 0, HTTP 503)$again" "${file[@]}" -L '/302;Location=%2F503%2F200;body=HTTP%2F1.1%20204%20x%0A'
		1 2 "(exit 0, $not_404" "${file[@]}" --digest -u a:b "/$ask/404"
		# Behind long bodies whose length is told.
		1 2 "(exit 0, $not_404" "${file[@]}" "/$big" /404
		1 6 "(exit 0, HTTP 503)$spent" "${file[@]}" "/$big" "/$big" /503
		0 3 '' "${file[@]}" /503 "/$big" /200
	END
}

@test "curl's own dump is only heads, whatever lengths they give" {
	serve
	# The length of the second head is that of the first one's body.
	curl -sS -o body -D head "$url/503?long"
	body=$(head -c "$(stat -c %s head)" /dev/zero | tr '\0' x)
	asks 1 4 '*' --http -- curl -sS "/200;body=$body" "$url/503?last"
	asks 1 4 '*' --http -- curl -sS -D heads "/200;body=$body" "$url/503?mine"
}

@test "a status file is named to the command, emptied before each attempt, and stays the same" {
	ends 1 --http-status "a b" sh -c 'echo 503 >"$RETRY_HTTP_STATUS"
		echo "${RETRY_LAST_STATUS-none}" >>last'
	tells "attempt 2/2 failed (exit 0, HTTP 503)$spent"
	holds 'a b' 503
	# A failure that exited 0 has the status 1.
	holds last none 1
	echo 503 >"$F"
	inode=$(stat -c %i "$F")
	runs 0 1 '' --http-status "$F" sh -c 'echo >>ran'
	[ ! -s "$F" ]
	printf 'HTTP/1.1 404 Not Found\r\n\r\n' >"$F"
	runs 7 2 "(exit 7)$spent" --http-status "$F" sh -c 'echo >>ran; exit 7'
	runs 0 2 "(exit 0, HTTP 503)$again" --http-status "$F" sh -c 'echo >>ran
		[ ! -s "$F" ] || exit 9
		[ "$RETRY_ATTEMPT" -gt 1 ] || echo 503 >>"$F"'
	[ "$(stat -c %i "$F")" = "$inode" ]
}

@test "a status file that tells nothing is ignored, with a line of -v" {
	mkfifo fifo
	mkdir directory
	echo 404 >target
	ln -s target link
	exec 8<>fifo
	echo 404 >&8
	gone_file="No such file or directory"
	irregular() # irregular PATH
	{
		runs 7 2 '*' -v --http-status "$1" sh -c 'echo >>ran; exit 7' &&
			grep -q "^retry: status file '$1' ignored: $2" err &&
			ends 0 --http-status "$1" true && tells ''
	}
	table irregular <<-'END'
		status "$gone_file\$"
		no/where "$gone_file\$"
		fifo 'not a regular file$'
		directory 'not a regular file$'
		/dev/null 'not a regular file$'
		/dev/zero 'not a regular file$'
		link
	END
	# What waits in a FIFO is left to its reader, and what a link leads to.
	read -r -t 10 line <&8
	[ "$line" = 404 ]
	[ "$(<target)" = 404 ]
	leaves 1 2 '*' 1 'It went wrong\n' -v
	grep -qxF "retry: status file '$F' ignored: unrecognised format" err
	leaves 1 2 "(exit 1)$spent" 1 'It went wrong\n'
	without 'status file'
	# No answer: the exit status counts.
	leaves 7 2 "(exit 7)$spent" 7 000
	leaves 0 1 '' 0 000
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
	[ "$(lines ran)" -eq 2 ]
	grep -qxF "retry: status file '$F' ignored: Permission denied" err
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

@test "a link or a FIFO that takes the status file's place meanwhile is not followed" {
	echo 404 >target
	runs 7 2 '*' --http-status "$F" \
	    sh -c 'ln -sf target "$F"; echo >>ran; exit 7'
	[ "$(<target)" = 404 ]
	without HTTP
	runs 7 2 '*' --http-status "$F" \
	    sh -c 'rm -f "$F"; mkfifo "$F"; echo >>ran; exit 7'
}

@test "of a status file of more than 64 KiB the end counts, but not of a page" {
	ends 22 --http-status "$F" sh -c '{
			head -c 200000 /dev/zero | tr "\0" x
			printf "\n404\n"
		} >"$F"; exit 22'
	tells "attempt 1/2 failed (exit 22, $not_404"
	ends 22 --http-status "$F" sh -c '{
			yes "HTTP/1.1 200 x,X: y," | head -n 4000 | tr , "\n"
			printf "HTTP/1.1 404 x\n\n"
		} >"$F"; exit 22'
	[ "$(stat -c %s "$F")" -gt 65536 ]
	tells "attempt 1/2 failed (exit 22, $not_404"
	runs 22 2 "(exit 22, HTTP 503)$spent" --http-status "$F" sh -c '{
			printf "HTTP/1.1 503 Answer\r\n\r\n"
			head -c 200000 /dev/zero | tr "\0" x
			printf "\r\nHTTP/1.1 404 Answer\r\n\r\n"
		} >"$F"; echo >>ran; exit 22'
}

@test "a response is found wherever the first 64 KiB of the file end in it" {
	printf 'HTTP/1.1 404 x\r\nDate: y\r\nContent-Length: 99\r\n\r\n%099d' 0 \
	    >response
	printf '%070000d' 0 >body
	cuts() # cuts LENGTH
	{
		ends 22 --http-status "$F" sh -c '{
			printf "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" "$0"
			head -c "$0" body; cat response
		} >"$F"; exit 22' "$1" && tells "1/2 failed (exit 22, $not_404"
	}
	table cuts < <(seq 65415 9 65500)
}

@test "lengths are followed so far, behind which a file tells nothing" {
	cat >write.py <<-'END'
		import os, sys
		with open(os.environ["F"], "wb") as file:
		    for i in range(int(sys.argv[1])):
		        file.write(b"HTTP/1.1 200 OK\r\nContent-Length: 66000\r\n\r\n")
		        file.seek(66000, 1)
		    file.write(b"HTTP/1.1 404 x\r\n\r\n")
		sys.exit(22)
	END
	ends 22 --http-status "$F" "$PYTHON" -IS write.py 100
	tells "attempt 1/2 failed (exit 22, $not_404"
	ends 22 -n 1 --http-status "$F" "$PYTHON" -IS write.py 4200
	tells "attempt 1/1 failed (exit 22)$spent"
}

@test "a status file full of holes and noise takes no time" {
	runs 7 2 '*' --http-status "$F" \
	    sh -c 'truncate -s 8G "$F"; echo >>ran; exit 7'
	ends 7 --http-status "$F" \
	    sh -c 'head -c 300000 /dev/urandom >"$F"; exit 7'
}

#
# HTTP statuses in lists
#

@test "http: in the lists of conditions" {
	table leaves <<-'END'
		1 2 "$spent" 1 404 --retry-on http:404
		1 1 'giving up: not in --retry-on http:404' 1 503 --retry-on http:404
		# Failures without an answer are left to the other items.
		6 1 '*' 6 000 --retry-on 7,http:503
		7 2 "$spent" 7 000 --retry-on 7,http:503
		1 1 'giving up: --stop-on http:503' 1 503 --stop-on http:503 --retry-on http:5xx
		1 2 "attempt 2/2 failed (exit 0, HTTP 204)$spent" 0 204 --fail-on http:204
		0 1 '' 22 404 --success-on http:404
		22 1 '' 22 404 --success-on http:404 --keep-status
	END
	runs 6 1 '*' --retry-on 7,http:503 sh -c 'echo >>ran; exit 6'
	leaves 0 1 '*' 22 404 -v --success-on http:404
	says 'attempt 1/2 succeeded (exit 22, HTTP 404)'
}

@test "after a timeout a status is a success only if --success-on names it" {
	slow=(sh -c 'echo "HTTP/1.1 200 OK" >heads; exec sleep 20')
	ends 124 -n 1 -t 0.4 --http-status heads -- "${slow[@]}"
	[[ $(<err) == *' timed out after 0.4s'*', giving up: attempts exhausted' ]]
	ends 0 -n 1 -t 0.4 --success-on http:200 --http-status heads -- \
		"${slow[@]}"
	tells ''
	ends 0 -n 1 -t 0.2 --success-on timeout -- sleep 20
	tells ''
}

#
# What must not be sent twice
#

@test "--method, --idempotency-key and --http-status are refused where they cannot be" {
	refused() # refused LINE OPTION...
	{
		runs 125 0 '*' "${@:2}" sh -c 'echo >>ran' && grep -q "^retry: $1" err
	}
	table refused <<-'END'
		"--method: not idempotent, and no --idempotency-key: 'POST'\$" --method POST
		"--method: not idempotent, and no --idempotency-key: 'lock'\$" --method lock
		'--method: not an HTTP method: ' --method ''
		'--method: not an HTTP method: ' --method 'GET /'
		'--method: not an HTTP method: ' --method $'GET\r\nX:'
		'--method: not an HTTP method: ' --method G@T
		'--idempotency-key: ' --idempotency-key ''
		'--idempotency-key: ' --idempotency-key $'a\r\nX: y'
		'--idempotency-key: ' --idempotency-key $'a\x7f'
		"--idempotency-key: must not be empty: ' '\$" --method POST --idempotency-key ' '
		"--http-status: not with --http: '$F'\$" --http --http-status "$F"
	END
	for words in '--method GET' '--method delete' \
	    '--http --method POST --idempotency-key k'; do
		# shellcheck disable=SC2086 # words
		runs 1 2 "$spent" $words sh -c 'echo >>ran; exit 1'
	done
}

@test "what may have changed something is sent once" {
	serve
	echo 'data = "x=1"' >config
	target=";Location=${refused//\//%2F}"
	table asks <<-'END'
		1 1 "attempt 1/2 failed (exit 0, HTTP 503), $once" --http -- curl -sS -d x=1 /503/200
		22 1 '*' -v --http -- curl -sSf -d x=1 /503/200 && grep -qxE 'retry: ended after 1 attempt in .*: not-idempotent' err
		52 1 "$once" --http -- curl -sS -d x=1 '/200;drop'
		18 1 "$once" --http -- curl -sS -d x=1 '/200;cut'
		22 1 'giving up: a PATCH is not sent twice without --idempotency-key' --http -- curl -sSf -X PATCH /503
		22 1 "$once" --http -- curl -sSf -F x=1 /503
		22 2 "$spent" --http -- curl -sSf -X PUT -d x=1 /503
		# Nobody knows, or the user does.
		22 2 "$spent" --http -- curl -sSf -K config /503 && [ "$(cut -f 2 log | sort -u)" = POST ]
		22 2 "$spent" --method PUT --http -- curl -sSf -d x=1 /503
		22 2 '*' -- curl -sSf -d x=1 /503
		# It was never sent, or its redirect leads nowhere.
		7 0 "attempt 2/2 failed (exit 7)$spent" --http -- curl -sS -d x=1 "$refused"
		7 1 "$once" --http -- curl -sSL -d x=1 "/307$target"
		7 1 "$once" --http -- curl -sS -L -D - -d x=1 "/302$target"
		# Other reasons come first.
		22 1 'giving up: HTTP 404 is not retried' --http -- curl -sSf -d x=1 /404
		22 1 'giving up: --stop-on 22' --stop-on 22 --http -- curl -sSf -d x=1 /503
		0 1 '' --http -- curl -sSf -d x=1 /200
	END
}

@test "a POST that was never sent is retried until it is" {
	serve
	start "$RETRY" -T 25 -d 0.02 -b constant --http -- \
	    curl -sS -d x=1 "$refused/201"
	wait_for grep -q '^retry: attempt 2 failed (exit 7), retrying in' err
	curl -sS "$url/listen"
	ended
	[ "$status" -eq 0 ]
	[ "$(lines log)" -eq 1 ]
}

@test "--idempotency-key sends one key with every attempt, or leaves the user's" {
	serve
	asks 22 2 '*' --idempotency-key auto --http -- curl -sSf -d x=1 /503
	first=$(keys | head -n 1)
	[[ $first =~ $uuid ]]
	keyed "$first" "$first"
	asks 0 1 '' --idempotency-key auto --http -- curl -sSf -d x=1 /200
	[[ $(keys) =~ $uuid && $(keys) != "$first" ]]
	mine=(-H 'Idempotency-Key: mine')
	table asks <<-'END'
		0 2 '*' --method POST --idempotency-key 'order "7"' --http -- curl -sSf -X POST /503/200 && keyed 'order "7"' 'order "7"'
		22 2 '*' --idempotency-key auto --http -- curl -sSf "${mine[@]}" -d x=1 /503 && keyed mine mine
		22 2 '*' --http -- curl -sSf "${mine[@]}" -d x=1 /503
		# A key makes curl a request of --http.
		1 2 '*' --idempotency-key k -- curl -sS -d x=1 /503 && keyed k k
		1 2 '*' --idempotency-key k -- nice curl -sS -d x=1 /503 && keyed k k
		# Several requests share it.
		0 2 'curl makes several requests: they share one idempotency key' --http --idempotency-key k -- curl -sS -d a /200 --next -sS -d b /200
		0 1 '' --http --idempotency-key k -- curl -sS -d a /200
	END
}

@test "a key is refused where nothing sends it" {
	for word in 'touch ran' 'nice touch ran'; do
		# shellcheck disable=SC2086 # words
		ends 125 --idempotency-key secret -- $word
		says '--idempotency-key: only with curl, or with --http and a command that sends $RETRY_IDEMPOTENCY_KEY'
		without secret
	done
	[ ! -e ran ]
	ends 0 --http-status s --idempotency-key k -- touch ran
	"$RETRY" --dry-run --idempotency-key k >out
}

@test "the command is told the key and the file, and one of each only" {
	RETRY_IDEMPOTENCY_KEY=outer ends 0 --http --idempotency-key k -- env
	[ "$(grep '^RETRY_IDEMPOTENCY_KEY=' out)" = RETRY_IDEMPOTENCY_KEY=k ]
	RETRY_HTTP_STATUS=outer ends 0 --http-status inner -- env
	[ "$(grep '^RETRY_HTTP_STATUS=' out)" = RETRY_HTTP_STATUS=inner ]
	ends 1 --http --idempotency-key auto -- \
	    sh -c 'echo "$RETRY_IDEMPOTENCY_KEY" >>keys; exit 1'
	[[ $(head -n 1 keys) =~ $uuid ]]
	[ "$(lines keys) $(sort -u keys | grep -c '')" = '2 1' ]
	ends 0 --http-status inner --idempotency-key k -- \
	    sh -c '[ "$RETRY_IDEMPOTENCY_KEY" = k ]'
	ends 0 sh -c '[ -z "${RETRY_IDEMPOTENCY_KEY+set}" ]'
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
	[ "$(lines log)" -eq 2 ]
	asks 0 2 '*' curl -sS -o body '/200;cut/200'
	read -r _ version _ < <(curl --version)
	[ "$(printf '%s\n' 8.14 "$version" | sort -V | head -n 1)" != 8.14 ] ||
		return 0
	curl --no-progress-meter --retry 2 -o body \
		"$url/503/503;Retry-After=1/200" 2>said
	[ "$(grep -cE 'Will retry in 1(\.[0-9]+)? second' said)" = 2 ]
	got=0
	curl --no-progress-meter --retry 1 -o /dev/null \
		"$url/503/200?null" 2>said || got=$?
	[ "$got" = 23 ]
}
