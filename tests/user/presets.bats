#!/usr/bin/env bats
# Covers cli/options, streams/relay, report/cause.
# --preset. A stub in ./bin has a tool's name, prints what a test says and exits
# as it says; tests/unit/tools/preset.c judges captures of real tools.
# shellcheck disable=SC2034 # the rows expand

load helper
load actor
load json

setup() {
	helper_setup
	mkdir bin tool
	: >tool/head # of a curl
	local tool
	for tool in "${tools[@]}"; do
		echo "#!$ACTOR" >"bin/$tool"
	done
	chmod +x bin/*
	export REPLAY=$PWD/tool STATUS
}

# stub NAME STATUS [ERR [OUT]]: ./bin/NAME, one of the tools, prints these and exits like
# that, as does any other stub now.
tools=(apt-get aws certbot claude codex curl docker frob git helm kubectl make npm npx other pip3.11 podman psql redis-cli
	semantic-release ssh tool uvx wget wget2 yarn)
stub() {
	STATUS=$2
	printf '%s' "${3-}" >tool/err
	printf '%s' "${4-}" >tool/out
	[ -x "bin/$1" ]
}

usual=(-d 0)

# ran TIMES [CHECK]... WORD...: try, and a stub is run TIMES times
ran() {
	local runs
	: >tool/runs
	try "${@:2}" && mapfile -t runs <tool/runs && [ "${#runs[@]}" -eq "$1" ]
}

# judged TIMES STATUS WORDS ERR OUT [OPTION]... [WORD]... bin/TOOL [WORD]...: a
# TOOL that prints the lines ERR and OUT and exits with STATUS is run TIMES times
# of two, and what retry says ends with WORDS. A 0 that failed ends with 1.
judged() {
	local times=$1 status=$2 words=$3 tool=" ${*:6}"
	tool=${tool#* bin/} words=${words//@/'"'}
	stub "${tool%% *}" "$status" "${4:+$4$'\n'}" "${5:+$5$'\n'}"
	[ "$times $status" = '1 0' ] || [ "$status" -gt 0 ] || status=1
	ran "$times" status="$status" says="*$words" -n 2 "${@:6}"
}

spent='giving up: attempts exhausted'
incurable='cannot be cured by a retry'

# Sets $remedy to how the message about it ends, by which the LIST retries it.
remedy_by() {
	remedy="$incurable (--retry-on $1 retries it)"
}

@test "--preset list prints each tool, what it knows and its programs, and runs nothing" {
	stub curl 0
	try says='' --preset list
	cp out alone
	ran 0 says='' --preset list bin/curl
	diff alone out
	[ "$(lines out)" -ge 57 ]
	grep -qE '^apt +[a-z][^(]{10,} \(apt apt-get[ )]' out
	grep -qE '^redis .* \(redis-cli[ )]' out
	grep -qE '^net +[a-z][^(]{10,}$' out
	not grep -vE '^[a-z][a-z0-9_-]* +[A-Za-z][^(]{10,57}( \([^()]+\))?$' out
	exits 125 "$RETRY" --preset list >/dev/full 2>err
	holds err 'retry: cannot write to standard output: No space left on device'
}

@test "--preset show prints what a preset stops on and retries, as LISTs take it" {
	stub curl 0
	ran 0 --preset show:ssh bin/curl
	local preset item
	sed -n '/stays:$/,/passes:$/s/^  //p' out >stop
	sed -n '/passes:$/,$s/^  //p' out >retry
	has_line 'stderr:Host key verification failed' stop
	has_line 'and, with exit status 255:' out
	grep -q '^stderr:^ssh: connect to host ' retry
	"$RETRY" --preset show:yt-dlp >out
	has_line 'standard output is searched unless it is a terminal, which keeps:' out
	has_line 'as the file lacks this piece, and a second run calls it complete' out
	for preset in net sqlite3; do
		set --
		while IFS= read -r item; do
			set -- "$@" --retry-on "${item#  }"
		done < <("$RETRY" --preset "show:$preset" | grep '^  ')
		[ $# -gt 6 ]
		"$RETRY" "${@:1:128}" true # there may be 64
	done
	table refused <<-'END'
		"--preset: no such preset: 'frob' in 'show:frob'" --preset show:frob bin/curl
		"--preset: no such preset: 'frob'" --preset frob bin/curl
		"--preset: no such preset: 'frob' in 'curl,frob'" --preset curl,frob bin/curl
		"--preset: no such preset: 'CURL'" --preset CURL bin/curl
		"--preset: no such preset: 'list' in 'curl,list'" --preset curl,list bin/curl
	END
	[ ! -s tool/runs ]
}

@test "auto finds the tool by the last part of its path, behind wrappers" {
	printf '#!/bin/sh\nwhile [ "$1" != bin/curl ]; do shift; done\nexec "$@"\n' >bin/sudo
	chmod +x bin/sudo
	table judged <<-'END'
		2 7 "$spent" '' '' --preset auto bin/curl
		1 7 '' '' '' --preset auto bin/wget
		2 1 "$spent" 'ERROR: HTTP error 503 while getting x' '' --preset auto bin/pip3.11
		2 7 "$spent" '' '' --preset auto timeout -k 5 -s INT --foreground 9 bin/curl
		# A program's name is as good as its preset's.
		2 100 "$spent" 'E: Could not get lock /var/lib/dpkg/lock.' '' --preset apt-get bin/other
	END
	stub curl 7
	ran 2 status=7 -n 2 --preset auto bin/sudo -u bob nice timeout 9 bin/curl
}

@test "-a is --preset auto, and of a command without a preset every failure is retried" {
	refusing='fatal: unable to access: Connection refused'
	printf '%s\n' auto stop-on=9 >team
	table judged <<-'END'
		2 128 "$spent" "$refusing" '' -a bin/git
		1 1 'preset git: not a transient failure, see --retry-on' '' '' --auto bin/git
		1 1 'preset git: not a transient failure, see --retry-on' '' '' --policy ./team bin/git
		2 1 "$spent" '' '' --policy ./team --no-auto bin/git
		1 9 'giving up: --stop-on 9 (./team:2)' '' '' --policy ./team bin/frob
		1 3 'presets: not a transient failure, see --retry-on' '' '' -a --preset git,curl bin/frob
		1 3 'not in --retry-on 9' '' '' -a --retry-on 9 bin/frob
		# The LIST of what no preset knows.
		2 9 "$spent" '' '' -a --retry-on 9 bin/frob
	END
}

@test "the first retry under -a says that no preset knows the command" {
	printf '%s\n' auto stop-on=9 >team
	stub frob 1
	frob="no preset for 'bin/frob'" all=': any failure is retried'
	table ran <<-'END'
		3 status=1 says="attempt 1/3 *, retrying in 0s|$frob$all|attempt 2/3 *, retrying in 0s|attempt 3/3 *" -n 3 -a bin/frob
		2 status=1 says="attempt 1/2 *|$frob$all|attempt 2/2 *|ended *" -n 2 -va bin/frob
		2 status=1 says="attempt 1/2 *|no preset for 'env'$all|*" -n 2 -a env -S bin/frob
		# With other rules these decide.
		2 status=1 says="attempt 1/2 *|$frob|attempt 2/2 *" -n 2 --policy ./team bin/frob
		2 status=1 says="attempt 1/2 *|$frob|attempt 2/2 *" -n 2 -a --retry-on 1 bin/frob
		# Where there is no retry, nothing is to be known of it.
		1 status=1 says="attempt 1/1 *" -n 1 -va bin/frob && not has 'no preset' err
		1 status=1 says='attempt 1/2 *: --stop-on 1' -n 2 -a --stop-on 1 bin/frob
		2 status=1 says='' -n 2 -qa bin/frob
		2 status=1 says='attempt 2/2 *' -n 2 -Ea bin/frob
		2 status=1 says='attempt 1/2 *|attempt 2/2 *' -n 2 bin/frob
	END
	stub frob 0
	ran 1 says='' -a bin/frob
}

@test "the user's lists win over a preset, of one word, and the rest of it stays" {
	missing='npm error code E404' login='npm error code E401' broken='npm error code ECONNRESET'
	fetch='! [rejected] main -> main (fetch first)'
	E404="stderr:E404"
	table judged <<-'END'
		# A package that was published a minute ago.
		2 1 "$spent" "$missing" '' -a --retry-on $E404 bin/npm install x
		1 1 "preset npm: @npm error code E401@ $(remedy_by stderr:E401; echo "$remedy")" "$login" '' -a --retry-on $E404 bin/npm install x
		2 1 "$spent" "$broken" '' -a --retry-on $E404 bin/npm install x
		1 1 "giving up: not in --retry-on $E404, and not a transient failure for preset npm" 'npm error x' '' -a --retry-on $E404 bin/npm install x
		2 1 "$spent" "$fetch" '' -a --retry-on 'stderr:fetch first' bin/git push
		2 1 "$spent" "$missing" '' -a --retry-on 1 bin/npm install x
		2 1 "$spent" "$missing" '' -a --retry-on fail bin/npm install x
		# But not over --stop-on.
		1 1 "--stop-on $E404" "$missing" '' -a --retry-on $E404 --stop-on $E404 bin/npm install x
	END
}

@test "with -w all is not yet that nothing calls final, and --retry-on takes words out of that" {
	missing='npm error code E404' login='npm error code E401'
	yet='giving up: attempts exhausted'
	table judged <<-'END'
		2 1 "$yet" "$missing" '' -w 60 -a --retry-on stderr:E404 bin/npm view x
		1 1 "preset npm: @npm error code E401@ $incurable*" "$login" '' -w 60 -a --retry-on stderr:E404 bin/npm view x
		1 1 "preset npm: @npm error code E404@ $incurable*" "$missing" '' -w 60 -a bin/npm view x
		# It restricts nothing.
		2 1 "$yet" 'npm error x' '' -w 60 -a --retry-on stderr:E404 bin/npm view x
		2 1 "$yet" 'npm error x' '' -w 60 -a bin/npm view x
		2 1 "$yet" '' '' -w 60 --retry-on 9 bin/frob
		1 1 '--stop-on 1' '' '' -w 60 --retry-on 9 --stop-on 1 bin/frob
	END
}

@test "without rules, -v names the preset of a known tool once, after a failure" {
	stub git 1
	stub make 1
	echo auto >team
	ran 3 status=1 -n 3 -v env bin/git
	mapfile -t told <err
	[ "${told[1]}" = 'retry: preset git (-a) retries only failures that a retry may cure' ]
	[[ ${told[*]:2} != *'(-a)'* ]]
	quiet()
	{
		"$RETRY" -d 0 -n 2 "$@" 2>err || :
		not told '.*\(-a\).*'
	}
	table quiet <<-'END'
		bin/git
		-q bin/git
		-E bin/git
		-v --preset git bin/git
		-v -w 9 bin/git
		-v --policy ./team --no-auto bin/git
		-v --http bin/git
		-v --retry-on 1 bin/git
		-v --http-status nosuch bin/git
		-v bin/make
	END
	stub git 0
	quiet -v bin/git
}

@test "a wait that a registry or a server names is kept without --retry-after" {
	local again='toomanyrequests: retry-after:' named='Retry-After too long'
	table judged <<-'END'
		1 1 "$named (11m2s)" "Error: x: $again 11m1.5s, allowed: 44000/minute" '' --preset auto bin/podman pull x
		1 1 "$named (11m2s)" "Error: x: $again 11m1.5s, allowed: 44000/minute" '' --preset auto bin/helm pull x
		1 1 '' 'toomanyrequests: You have reached your pull rate limit' '' --preset docker bin/docker pull x
		1 8 "$named (11m1s)" $'  HTTP/1.1 429 Too Many Requests\n  Retry-After: 661' '' --preset auto bin/wget -q -S http://x/
		1 8 '' '  HTTP/1.1 404 Not Found' '' --preset auto bin/wget -q -S http://x/
		1 1 'Retry-After too long (2h*)' "too many certificates: retry after $(date -u -d '+2 hours' '+%F %T') UTC" '' -a bin/certbot renew
	END
	stub docker 1 "Error response from daemon: $again 0.3s, allowed: 44000/minute"$'\n'
	ran 2 status=1 says='*retrying in 0.3s*' ms=290 -n 2 -j none --preset docker bin/docker pull x
}

@test "where a tool names no wait after a limit, its preset does, and says what helps" {
	local limit='gh: You have exceeded a secondary rate limit. (HTTP 403)' hub soon named='Retry-After too long'
	hub="remote: You have triggered an abuse detection mechanism.
fatal: unable to access 'https://x/': The requested URL returned error: 403"
	TZ=UTC0 printf -v soon '%(%a, %d %b %Y %T)T' $((EPOCHSECONDS + 600))
	local crates="  the remote server responded with an error (status 429 Too Many Requests): You have \
published too many crates. Please try again after $soon GMT or email help@crates.io"
	table judged <<-'END'
		1 1 "$named (1m by preset gh), the deadline comes first (a longer one waits for it)" "$limit" '' -T 20 --preset gh bin/other
		1 1 "$named (1m by preset gh) (--max-retry-after 1m waits for it)" "$limit" '' --max-retry-after 59 --preset gh bin/other
		1 1 "$named (1m by preset gh) (--max-retry-after 1m waits for it)" 'GraphQL: was submitted too quickly (x)' '' --max-retry-after 1 --preset gh bin/other
		1 128 "$named (1m by preset git) (--max-retry-after 1m waits for it)" "$hub" '' --max-retry-after 1 --preset git bin/other
		# The server knows better, and so does the user; another failure needs no wait.
		1 1 "$named (5s)" "$limit, again in 5s" '' --max-retry-after 1 --retry-after 'stderr:again in ' --preset gh bin/other
		2 1 "$spent" "$limit, again in 9ms" '' --max-retry-after 1 -j none --retry-after 'stderr:again in ' --preset gh bin/other
		2 1 "$spent" "$limit" '' --max-retry-after 1 -j none --retry-after 0.1:stderr:secondary --preset gh bin/other
		2 1 "$spent" 'HTTP 502: Bad Gateway' '' --max-retry-after 1 --preset gh bin/other
		# A time in words of git and cargo.
		1 128 "$named (7s)" "fatal: rate limited by 'https://x/', please try again in 7 seconds" '' --max-retry-after 1 --preset git bin/other
		1 128 "$named (6m40s)" 'error: response requested a delay greater than http.maxRetryTime (400 > 300 seconds)' '' --preset git bin/other
		1 101 "$named (*m*)" "$crates" '' --preset cargo bin/other
	END
	stub other 1 "$limit"
	ran 1 status=1 report='each.retry_after_ms=60000' -n 1 --preset gh bin/other
	"$RETRY" --preset show:gh >shown
	has 'the same, after a wait of 1m, doubled each time:' shown
	has_line '  stderr:secondary rate limit' shown
}

@test "a failure that exits with 0 is one to the preset of its tool alone" {
	loading='LOADING Redis is loading the dataset in memory'
	mirror='W: Failed to fetch http://x  503  Service Unavailable
W: Some index files failed to download.'
	response='HTTP ERROR response'
	table judged <<-'END'
		2 0 "$spent" '' "$loading" --preset redis bin/redis-cli && [ "$(grep -c LOADING out)" -eq 2 ]
		1 0 '' '' "$loading" bin/redis-cli
		1 0 ': succeeded' '' '"a page that says: LOADING Redis is loading"' -v --preset redis bin/redis-cli
		1 0 ': succeeded' '' "$loading" -v --preset redis --success-on 0 bin/redis-cli
		2 0 "$spent" "$mirror" '' --preset apt bin/apt-get update
		2 0 "$spent" '' "$response 429 Too Many Requests [http://x/]" -a bin/wget2 -O out http://x/
		1 8 'see --retry-on' '' "$response 404 Not Found [http://x/]" -a bin/wget2 -O out http://x/
	END
	cat >bin/redis-cli <<-'SH'
		#!/bin/sh
		echo >>tool/runs
		[ "$(wc -l <tool/runs)" -lt 3 ] || exec echo PONG
		echo LOADING Redis is loading the dataset in memory
	SH
	ran 3 -n 4 --preset auto bin/redis-cli
	[ "$(tail -n 1 out)" = PONG ]
}

@test "what may still run elsewhere after a time limit is not started again, unless a LIST or -w says so" {
	printf '%s\n' '#!/bin/sh' 'echo >>tool/runs' 'exec sleep 60' >bin/docker
	cp bin/docker bin/ssh
	cp bin/docker bin/psql
	local may='what it started elsewhere may still run, see --retry-on timeout'
	table ran <<-'END'
		1 status=124 says="*, giving up: preset ssh: $may" -n 2 -t 0.1 -a bin/ssh host make
		1 status=124 says="*without output*, giving up: preset ssh: $may" -n 2 --idle-timeout 0.1 -a bin/ssh host make
		1 status=124 says="*, giving up: preset psql: $may" -n 2 -t 0.1 -a --retry-on 9 bin/psql -c x
		1 status=124 says="*, giving up: the presets: $may" -n 2 -t 0.1 -a --preset sysexits bin/ssh host make
		1 status=124 says="*, giving up: preset docker: $may" -n 2 -a timeout 0.1 bin/docker exec c make
		2 status=124 says='*: attempts exhausted' -n 2 -t 0.1 -a bin/docker pull x
		2 status=124 says='*: attempts exhausted' -n 2 -t 0.1 -a --retry-on timeout bin/ssh host make
		2 status=124 says='*: attempts exhausted' -n 2 --idle-timeout 0.1 -a --retry-on 9,idle bin/docker exec c make
		1 status=124 says='*, giving up: deadline' -n 2 -T 0.1 -a bin/ssh host make
		2 status=124 says='*: attempts exhausted' -w 9 -n 2 -t 0.1 -a bin/psql -c x
	END
	has_line 'but not a time limit that ended: exec run' <("$RETRY" --preset show:docker)
}

@test "a limit of a language model is over at the time of the day that it names" {
	local hour
	printf -v hour '%(%I %p)T' $((EPOCHSECONDS + 7200))
	table judged <<-'END'
		1 1 'giving up: Retry-After too long (*)' '' "You've hit your session limit · resets $hour" -a bin/claude -p x
		1 1 'giving up: Retry-After too long (*)' "ERROR: You've hit your usage limit. Upgrade or try again at $hour." '' -a bin/codex exec x
	END
}

@test "what npx and its like run is judged by the presets of both, or retried after any failure" {
	missing='npm error code E404'
	unknown="(-a): any failure of it is retried"
	table judged <<-'END'
		2 1 "$spent" '[ERROR] fetch failed' '' -a bin/npx -y wrangler@4 deploy
		2 1 "$spent" 'npm error code E503' '' -a bin/npx wrangler deploy
		1 1 "preset wrangler: \"\\[code: 10000\\]\" $incurable*" 'Authentication error [code: 10000]' '' -a bin/npx -p x wrangler
		1 1 "preset npm: \"$missing\" $incurable*" "$missing" '' -a bin/npx -y wrangler deploy
		1 1 'the presets: not a transient failure, see --retry-on' 'Build failed' '' -a bin/npx -y wrangler deploy
		2 1 "$spent" '    1: [7] Could not connect to server' '' -a env bin/npx -y @sentry/cli releases new 1.0
		2 1 "$spent" '[ERROR] fetch failed' '' -a bin/yarn dlx -q wrangler deploy
		1 1 'preset yarn: not a transient failure, see --retry-on' '[ERROR] fetch failed' '' -a bin/yarn wrangler deploy
		2 1 "$spent" 'ERROR: x: HTTP Error 503: x' '' -a bin/uvx --from yt-dlp yt-dlp http://x/
		# Nothing is known of the tool, but something of what npx says itself.
		2 1 "$spent" '' '' -a bin/npx -y cow
		1 1 "preset npm: \"$missing\" $incurable*" "$missing" '' -a bin/npx -y cow
		2 1 ': attempts' '' '' -va bin/npx -y cow && has_line "retry: no preset for what 'bin/npx' runs $unknown" err
		1 1 'not in --retry-on 9' '' '' --retry-on 9 bin/npx -y cow
		2 9 "$spent" '' '' -a --retry-on 9 bin/npx -y wrangler deploy
		2 1 "$spent" '[ERROR] fetch failed' '' --preset auto,git,ssh,scp,nc,dns,apt,dnf bin/npx -y wrangler
	END
}

@test "a preset says why a second run would only seem to succeed" {
	tag='the tag is pushed: a second run publishes nothing, and exits with 0'
	table judged <<-'END'
		1 1 "preset semantic-release: \"Created tag v1.0.0\": $tag" 'npm error code E503' '✔  Created tag v1.0.0' -a bin/semantic-release
		2 1 "$spent" 'npm error code E503' '' -a bin/semantic-release
	END
}

@test "a preset whose tool needs the terminal leaves it alone, and -v says so" {
	unset REPLAY
	local searched='retry: preset claude: standard output is a terminal, and is not searched'
	printf '%s\n' '#!/bin/sh' 'echo >>tool/runs' 'echo "API Error: 529 Overloaded"' \
		'[ ! -t 1 ] || echo "on a terminal"' 'exit 1' >bin/claude
	sed s/529/400/ bin/claude >bin/other
	chmod +x bin/*
	looked() # looked RUNS LINES WORD...: on a terminal there are these lines
	{
		: >tool/runs
		pty 1 -- "$RETRY" -d 0 -n 2 -v "${@:3}"
		tr -d '\r' <out >lines
		[ "$(lines tool/runs) $(grep -c '^on a terminal$' lines)" = "$1 $2" ]
	}
	table looked <<-'END'
		2 2 -a bin/claude -p x && has_line "$searched: any failure is retried" lines
		# Not a terminal in this case: the output is held.
		2 0 -O -a bin/claude -p x && not has "$searched" lines
		1 1 --preset codex bin/other && not has 'any failure' lines
	END
	for tool in claude other; do
		: >tool/runs
		"$RETRY" -d 0 -n 2 --preset claude "bin/$tool" >out 2>err || :
		lines tool/runs
	done >runs
	[ "$(paste -sd ' ' runs)" = '2 1' ]
}

@test "several presets count together, and with what the user says" {
	denied='u@h: Permission denied (publickey).'
	refused='fatal: unable to access: Connection refused'
	authentic='fatal: Authentication failed for x'
	password='FATAL:  password authentication failed for user "x"'
	unconnected='curl: (7) Failed to connect'
	table <<-'END'
		judged 2 7 "$spent" '' '' --preset wget,curl bin/tool
		judged 1 3 'giving up: the presets: not a transient failure, see --retry-on' '' '' --preset curl,wget bin/tool
		judged 2 75 "$spent" '' '' --preset auto,sysexits bin/ssh
		# What is fatal to one is final, whatever another one retries.
		remedy_by "'stderr:Permission denied .publickey'"; judged 1 75 "preset ssh: @Permission denied (publickey)@ $remedy" "$denied" '' --preset sysexits,ssh bin/tool
		remedy_by "'stderr:Authentication failed'"; judged 1 128 "preset git: @Authentication failed@ $remedy" "$authentic"$'\n'"$refused" '' --preset git bin/git
		remedy_by "'stderr:authentication failed'"; judged 1 2 "preset psql: @authentication failed@ $remedy" "$password" '' --preset psql --retry-on 9 bin/psql
		# The failure of a remote command is not ssh's own.
		judged 1 1 'giving up: preset ssh: not a transient failure, see --retry-on' 'Connection reset by 10.0.0.5 port 443' '' --preset ssh bin/ssh host deploy
		# --retry-on adds to what a preset retries.
		judged 2 9 "$spent" '' '' --retry-on stderr:x --retry-on 9 --preset curl bin/curl
		judged 1 3 'giving up: not in --retry-on 9, and not a transient failure for preset curl' '' '' --preset curl --retry-on 9 bin/curl
		judged 2 3 "$spent" 'curl: out of luck' '' --preset curl --retry-on 'stderr:out of luck' bin/curl
		# --stop-on wins.
		judged 1 7 'giving up: --stop-on 7' "$unconnected" '' --preset curl --stop-on 7 bin/curl
		judged 1 7 'giving up: --stop-on stderr:Failed to connect' "$unconnected" '' --preset curl --stop-on 'stderr:Failed to connect' bin/curl
	END
}

@test "a fatal failure is told with the words of the tool, wherever they were cut, and with a remedy" {
	gives_up()
	{
		local status=1 want=$3
		[[ $2 != *'exit 255' ]] || status=255
		[ -z "${4-}" ] || want="\"$3\" $incurable (--retry-on $4 retries it)"
		try status="$status" says="*, giving up: preset ${1%%[, ]*}: $want" --preset $1 -- sh -c "$2; exit 1" || return
		# It does.
		[ -z "${4-}" ] || eval "try status=$status runs=2 says='*|*: attempts exhausted' -n 2 --preset \$1 --retry-on $4" '-- sh -c "echo >>ran; $2; exit 1"'
	}
	table gives_up <<-'END'
		git 'printf "%5000s" "" >&2; echo " Authentication failed" >&2' 'Authentication failed' "'stderr:Authentication failed'"
		git 'printf Authentica >&2; sleep 0.1; printf "tion failed\n" >&2' 'Authentication failed' "'stderr:Authentication failed'"
		git 'echo "fatal: repository '\''a b'\'' not found" >&2; seq 500 >&2' "repository 'a b' not found" "'stderr:repository .a b. not found'"
		aws 'echo "An error occurred (NoSuchBucket) when" >&2' 'An error occurred (NoSuchBucket)' stderr:NoSuchBucket
		npm 'echo "npm error code ETARGET" >&2' 'npm error code ETARGET' stderr:ETARGET
		npm 'echo "npm ERR! code E404" >&2' 'npm ERR! code E404' stderr:E404
		redis 'echo "(error) NOAUTH Authentication required."' 'NOAUTH Authentication' "'stdout:NOAUTH Authentication'"
		git 'echo " ! [rejected] main -> main (fetch first)" >&2' '[[]rejected]' stderr:rejected
		'git,curl -O' 'echo "HTTP 413" >&2' 'HTTP 413' "'stderr:HTTP 413'"
		ssh 'printf "Too many authentication failures\r\n" >&2; exit 255' 'Too many authentication failures' "'stderr:Too many authentication failures'"
		docker 'echo "x: http: server gave HTTP response to HTTPS client" >&2' 'server gave HTTP response to HTTPS client' "'stderr:server gave HTTP response to HTTPS client'"
		git 'echo "HTTP 413" >&2; seq 2000 >&2' "this failure $incurable (see --retry-on)"
	END
}

@test "a stream that a preset does not look at stays the command's own" {
	streams()
	{
		try --preset "$1" sh -c '
			links=$(readlink "/proc/$$/fd/1" "/proc/$$/fd/2")
			echo "$links" >links'
		# shellcheck disable=SC2053 # patterns
		[[ $(<links) == $2$'\n'$3 ]]
	}
	table streams <<-'END'
		sysexits "$PWD/out" "$PWD/err"
		git "$PWD/out" 'pipe:*'
		mvn 'pipe:*' "$PWD/err"
	END
}
