#!/usr/bin/env bats
# Covers cli/option_rules, streams/relay.
# --preset. A stub in ./bin has a tool's name, prints what a test says and exits
# as it says; tests/tools/replay does this with captures of real tools.

load helper
load actor

LOADING='LOADING Redis is loading the dataset in memory
'

setup()
{
	helper_setup
	mkdir bin
}

# stub NAME STATUS [ERR [OUT]]: ./bin/NAME prints these and exits like that.
stub()
{
	printf '%s' "${3-}" >"bin/$1.err"
	printf '%s' "${4-}" >"bin/$1.out"
	printf '%s\n' '#!/bin/sh' 'echo >>runs' \
	    "[ ! -s 'bin/$1.err' ] || cat 'bin/$1.err' >&2" \
	    "[ ! -s 'bin/$1.out' ] || cat 'bin/$1.out'" \
	    "exit $2" >"bin/$1"
	[ -x "bin/$1" ] || chmod +x "bin/$1"
}

# ran TIMES STATUS WORD...: retry with these words runs a stub TIMES times and
# exits with STATUS.
ran()
{
	local times=$1 want=$2 status=0
	shift 2
	: >runs
	"$RETRY" -d 0 "$@" >out 2>err || status=$?
	[ "$status" -eq "$want" ] && [ "$(lines runs)" -eq "$times" ] || {
		echo "status $status, $(lines runs) runs: $*"
		cat err
		return 1
	}
}

# gave_up REASON: retry's last line gives this reason.
gave_up()
{
	local said
	mapfile -t said <err
	[[ "${said[-1]}" == "retry: "*", giving up: $1" ]]
}

# refused LINE WORD...: retry refuses these words, and runs nothing.
refused()
{
	local line=$1
	shift
	ran 0 125 "$@"
	holds err "$line" "Try '${RETRY##*/} -h' for more information."
}

#
# The table
#

@test "--preset list prints each tool, what it knows and its programs, and runs nothing" {
	stub curl 0
	ran 0 0 --preset list
	cp out alone
	ran 0 0 --preset list bin/curl
	diff alone out
	[ ! -s err ]
	local name
	for name in curl wget ssh scp rsync git apt dnf npm pip docker kubectl \
	    psql pg_isready mysql redis sqlite3 flock aws gcloud gh terraform \
	    ansible helm cargo go sysexits net; do
		[[ $'\n'$(<out)$'\n' == *$'\n'"$name"[\ $'\n']* ]] || {
			echo "no $name"
			return 1
		}
	done
	grep -qE '^apt +[a-z][^(]{10,} \(apt apt-get[ )]' out
	grep -qE '^redis .* \(redis-cli[ )]' out
	grep -qE '^net +[a-z][^(]{10,}$' out
	run ! grep -vE '^[a-z][a-z0-9_-]* +[A-Za-z][^(]{10,57}( \([^()]+\))?$' out
}

@test "each preset of --preset list can be given by its name" {
	local name names
	names=$("$RETRY" --preset list | cut -d ' ' -f 1)
	[ "$(wc -w <<<"$names")" -ge 28 ]
	for name in $names; do
		[ "$("$RETRY" --preset "$name" echo ok)" = ok ]
	done
}

@test "each program of --preset list is one that auto knows" {
	local name names
	names=$("$RETRY" --preset list | sed -n 's/.*(\(.*\))$/\1/p')
	[ "$(wc -w <<<"$names")" -ge 60 ]
	for name in $names; do
		# There is none here: 127 tells that it was tried.
		ran 0 127 --preset auto "./$name"
	done
}

@test "a list of presets that cannot be delivered is an error" {
	local status=0
	"$RETRY" --preset list >/dev/full 2>err || status=$?
	[ "$status" -eq 125 ]
	[ "$(<err)" = 'retry: cannot write to standard output: No space left on device' ]
}

@test "--preset show prints what a preset stops on and retries, as LISTs take it" {
	stub curl 0
	ran 0 0 --preset show:ssh bin/curl
	local item
	sed -n '/stays:$/,/passes:$/s/^  //p' out >stop
	sed -n '/passes:$/,$s/^  //p' out >retry
	has_line 'stderr:Host key verification failed' stop
	has_line 'and, with exit status 255:' out
	grep -q '^stderr:^ssh: connect to host ' retry
	for item in net docker sqlite3 apt-get; do
		"$RETRY" --preset "show:$item" >out
		while IFS= read -r item; do
			"$RETRY" --retry-on "$item" true
		done < <(sed -n 's/^  //p' out)
	done
	refused "retry: --preset: no such preset: 'frob' in 'show:frob'" \
	    --preset show:frob bin/curl
}

@test "a preset that does not exist is refused" {
	stub curl 0
	refused "retry: --preset: no such preset: 'frob'" --preset frob bin/curl
	refused "retry: --preset: no such preset: 'frob' in 'curl,frob'" \
	    --preset curl,frob bin/curl
	refused "retry: --preset: no such preset: 'CURL'" --preset CURL bin/curl
	refused "retry: --preset: no such preset: 'list' in 'curl,list'" \
	    --preset curl,list bin/curl
}

#
# By the name of the command
#

@test "auto uses the last part of the command's path" {
	stub curl 7
	ran 2 7 -n 2 --preset auto bin/curl
	PATH=$PWD/bin:$PATH ran 2 7 -n 2 --preset auto curl
	stub wget 7
	ran 1 7 -n 2 --preset auto bin/wget
	stub wget 4
	ran 2 4 -n 2 --preset auto "$PWD/bin/wget"
}

@test "without rules, -v names the preset of a known tool once, after a failure" {
	local hint='retry: preset git (--preset auto) retries only failures that a retry may cure'
	stub git 1
	stub make 1
	ran 3 1 -n 3 -v env bin/git
	[ "$(sed -n 2p err)" = "$hint" ]
	[ "$(grep -c 'preset auto' err)" = 1 ]
	local more
	for more in '' -q -E '-v -E' '-v --preset git' '-v --http' '-v --retry-on 1' \
	    '-v --stop-on 9' '-v --fail-on 9' '-v --success-on 9' \
	    '-v --http-status nosuch'; do
		# shellcheck disable=SC2086 # several words
		"$RETRY" -n 2 -d 0 $more bin/git 2>err || :
		run ! grep 'preset auto' err
	done
	ran 2 1 -n 2 -v bin/make
	run ! grep 'preset auto' err
	stub git 0
	ran 1 0 -v bin/git
	run ! grep 'preset auto' err
}

@test "auto sees past a version in the name" {
	local name
	for name in pip3 pip3.11; do
		stub "$name" 1 $'ERROR: HTTP error 503 while getting x\n'
		ran 2 1 -n 2 --preset auto "bin/$name"
	done
}

@test "auto looks through timeout, env, nice, nohup, stdbuf and sudo" {
	local front
	stub curl 7
	printf '#!/bin/sh\nwhile [ "$1" != bin/curl ]; do shift; done\nexec "$@"\n' \
	    >bin/sudo
	chmod +x bin/sudo
	for front in 'timeout 9' 'timeout -k 5 -s INT --foreground 9' 'env A=b' \
	    'env -u X -C . A=b' 'nice -n 5' 'nice -5' nohup 'stdbuf -oL' \
	    'bin/sudo -u bob -E A=b' 'bin/sudo nice timeout 9'; do
		# shellcheck disable=SC2086 # several words
		ran 2 7 -n 2 --preset auto $front bin/curl
	done
	stub frob 1
	refused "retry: --preset: auto found no preset for: 'bin/frob'" \
	    --preset auto timeout 9 bin/frob
	refused "retry: --preset: auto found no preset for: 'env'" \
	    --preset auto env -S bin/curl
}

@test "auto does not look at what the command runs in turn" {
	stub curl 7
	refused "retry: --preset: auto found no preset for: 'sh'" \
	    --preset auto sh -c bin/curl
	ran 2 7 -n 2 --preset curl sh -c bin/curl
}

@test "a command that auto does not know is refused" {
	stub frob 1
	refused "retry: --preset: auto found no preset for: 'bin/frob'" \
	    --preset auto bin/frob
	stub curlx 7
	refused "retry: --preset: auto found no preset for: 'bin/curlx'" \
	    --preset auto bin/curlx
}

@test "a program's name is as good as its preset's" {
	stub other 100 $'E: Could not get lock /var/lib/dpkg/lock.\n'
	ran 2 100 -n 2 --preset apt-get bin/other
	ran 2 100 -n 2 --preset apt bin/other
	ran 1 100 -n 2 --preset wget bin/other
}

#
# The captures
#

@test "of all captures failures that pass are retried, and others are not" {
	"$BATS_TEST_DIRNAME/../tools/replay" >verdicts || { cat verdicts; return 1; }
}

@test "what a tool prints passes through byte for byte while it is judged" {
	stub redis-cli 1 $'\xff\0 LOADING\n\nx' $'(error) LOADING Redis is\r\n\xe2'
	ran 1 1 -qn 1 --preset auto bin/redis-cli
	cmp bin/redis-cli.out out
	cmp bin/redis-cli.err err
}

@test "a wait that a registry or a server names is kept without --retry-after" {
	local tool
	for tool in docker podman buildah skopeo helm; do
		stub $tool 1 $'Error: x: toomanyrequests: retry-after: 11m1.5s, allowed: 44000/minute\n'
		ran 1 1 --preset auto bin/$tool pull x
		gave_up 'Retry-After too long (11m2s)'
	done
	stub wget 8 $'  HTTP/1.1 429 Too Many Requests\n  Retry-After: 661\n'
	ran 1 8 --preset auto bin/wget -q -S http://x/
	gave_up 'Retry-After too long (11m1s)'
	stub docker 1 $'Error response from daemon: toomanyrequests: retry-after: 0.3s, allowed: 44000/minute\n'
	before=$(now)
	ran 2 1 -n 2 -j none --preset docker bin/docker pull x
	[ $(($(now) - before)) -ge 290 ]
	grep -q 'retrying in 0.3s' err
	stub docker 1 $'toomanyrequests: You have reached your pull rate limit\n'
	ran 1 1 --preset docker bin/docker pull x
	stub wget 8 $'  HTTP/1.1 404 Not Found\n'
	ran 1 8 --preset auto bin/wget -q -S http://x/
}

@test "docker run without a daemon is docker's own failure and retried" {
	stub docker 125 $'docker: Cannot connect to the Docker daemon at x.\n'
	ran 2 125 -n 2 --preset docker bin/docker run alpine
	gave_up 'attempts exhausted'
	stub docker 125 $'unknown flag: --frob\n'
	ran 1 125 -n 2 --preset docker bin/docker run --frob alpine
	gave_up 'preset docker: not a transient failure, see --retry-on'
}

@test "an rsync daemon that ends without a greeting is asked again" {
	stub rsync 5 $'rsync: did not see server greeting\n'
	ran 2 5 -n 2 --preset rsync bin/rsync
	stub rsync 5 $'@ERROR: auth failed on module x\n'
	ran 1 5 -n 2 --preset rsync bin/rsync
	gave_up 'preset rsync: "@ERROR: auth failed" cannot be cured by a retry'
}

#
# Failures that exit with 0
#

@test "redis-cli is retried while Redis is loading, and ends with 1 though it exits with 0" {
	stub redis-cli 0 '' "$LOADING"
	ran 3 1 -n 3 --preset redis bin/redis-cli
	gave_up 'attempts exhausted'
	[ "$(grep -c LOADING out)" -eq 3 ]
	ran 1 0 -n 3 bin/redis-cli
}

@test "redis-cli is done once Redis answers" {
	cat >bin/redis-cli <<-'SH'
		#!/bin/sh
		echo >>runs
		[ "$(grep -c '' runs)" -lt 3 ] || exec echo PONG
		echo LOADING Redis is loading the dataset in memory
	SH
	chmod +x bin/redis-cli
	ran 3 0 -n 4 --preset auto bin/redis-cli
	[ "$(tail -n 1 out)" = PONG ]
}

@test "a value that contains the word loading is no failure" {
	stub redis-cli 0 '' $'"a page that says: LOADING Redis is loading"\n'
	ran 1 0 --preset redis -v bin/redis-cli
	grep -q '^retry: attempt 1/5 succeeded (exit 0)$' err
}

@test "apt-get update on a dead mirror is retried, and ends with 1 though it exits with 0" {
	stub apt-get 0 'W: Failed to fetch http://x  503  Service Unavailable
W: Some index files failed to download.
'
	ran 3 1 -n 3 --preset apt bin/apt-get update
	gave_up 'attempts exhausted'
	ran 1 0 -n 3 bin/apt-get update
}

@test "apt-get update without a complaint is a success" {
	stub apt-get 0 '' $'Reading package lists...\n'
	ran 1 0 --preset apt -v bin/apt-get update
	grep -q '^retry: attempt 1/5 succeeded (exit 0)$' err
}

@test "--success-on overrules what a preset calls a failure" {
	stub redis-cli 0 '' "$LOADING"
	ran 1 0 --preset redis --success-on 0 -v bin/redis-cli
	grep -q '^retry: attempt 1/5 succeeded (exit 0)$' err
}

#
# With others, and with what the user says
#

@test "several presets count together" {
	stub tool 7
	ran 2 7 -n 2 --preset curl,wget bin/tool
	ran 2 7 -n 2 --preset curl --preset wget bin/tool
	stub tool 4
	ran 2 4 -n 2 --preset curl,wget bin/tool
	ran 2 4 -n 2 --preset curl --preset wget bin/tool
	stub tool 3
	ran 1 3 -n 2 --preset curl,wget bin/tool
	stub ssh 75
	ran 2 75 -n 2 --preset auto,sysexits bin/ssh
	ran 1 75 -n 2 --preset auto bin/ssh
}

@test "what is fatal to one preset is final, whatever another one retries" {
	stub tool 75 $'u@h: Permission denied (publickey).\n'
	ran 2 75 -n 2 --preset sysexits bin/tool
	ran 1 75 -n 2 --preset sysexits,ssh bin/tool
	gave_up 'preset ssh: "Permission denied (publickey)" cannot be cured by a retry'
	ran 1 75 -n 2 --preset ssh,sysexits bin/tool
}

@test "a fatal line wins over a transient one, whichever comes first" {
	stub git 128 $'fatal: unable to access: Connection refused\nfatal: Authentication failed for x\n'
	ran 1 128 -n 2 --preset git bin/git
	stub git 128 $'fatal: Authentication failed for x\nfatal: unable to access: Connection refused\n'
	ran 1 128 -n 2 --preset git bin/git
	gave_up 'preset git: "Authentication failed" cannot be cured by a retry'
	stub git 128 $'fatal: unable to access: Connection refused\n'
	ran 2 128 -n 2 --preset git bin/git
}

@test "a fatal failure is told with the words of the tool, wherever they were cut" {
	while IFS='|' read -r preset says words; do
		run -1 "$RETRY" --preset "$preset" -- sh -c "$says; exit 1"
		echo "$output" >err
		gave_up "preset $preset: \"$words\" cannot be cured by a retry"
	done <<-'END'
		git|echo "a: Permission denied (publickey)." >&2|Permission denied (publickey)
		git|printf "x%.0s" $(seq 5000) >&2; echo " Authentication failed" >&2|Authentication failed
		git|printf Authentica >&2; sleep 0.1; printf "tion failed\n" >&2|Authentication failed
		git|echo "fatal: repository 'a b' not found" >&2; seq 500 >&2|repository 'a b' not found
		aws|echo "An error occurred (NoSuchBucket) when" >&2|An error occurred (NoSuchBucket)
	END
	"$RETRY" --preset git,curl -O sh -c 'echo "HTTP 413" >&2; exit 1' 2>err || :
	gave_up 'preset git: "HTTP 413" cannot be cured by a retry'
	"$RETRY" --preset git sh -c 'echo "HTTP 413" >&2; seq 2000 >&2; exit 1' 2>err || :
	gave_up 'preset git: this failure cannot be cured by a retry'
	"$RETRY" --preset git,curl false 2>err || :
	gave_up 'the presets: not a transient failure, see --retry-on'
}

@test "a fatal line wins over --retry-on" {
	stub psql 2 $'FATAL:  password authentication failed for user "x"\n'
	ran 1 2 -n 2 --preset psql --retry-on fail bin/psql
	gave_up 'preset psql: "authentication failed" cannot be cured by a retry'
	ran 2 2 -n 2 --retry-on fail bin/psql
}

@test "--retry-on adds to what a preset retries" {
	stub curl 9
	ran 1 9 -n 2 --preset curl bin/curl
	ran 2 9 -n 2 --preset curl --retry-on 9 bin/curl
	ran 2 9 -n 2 --retry-on stderr:x --retry-on 9 --preset curl bin/curl
	stub curl 7
	ran 2 7 -n 2 --preset curl --retry-on 9 bin/curl
	stub curl 3
	ran 1 3 -n 2 --preset curl --retry-on 9 bin/curl
	gave_up 'not in --retry-on 9, and not a transient failure for preset curl'
	stub curl 3 $'curl: out of luck\n'
	ran 2 3 -n 2 --preset curl --retry-on 'stderr:out of luck' bin/curl
}

@test "--stop-on wins over what a preset retries" {
	stub curl 7 $'curl: (7) Failed to connect\n'
	ran 2 7 -n 2 --preset curl bin/curl
	ran 1 7 -n 2 --preset curl --stop-on 7 bin/curl
	gave_up '--stop-on 7'
	ran 1 7 -n 2 --preset curl --stop-on 'stderr:Failed to connect' bin/curl
	gave_up '--stop-on stderr:Failed to connect'
}

@test "an attempt that had to be ended is retried under any preset" {
	local name
	for name in sysexits ssh flock; do
		ran 0 124 -n 2 -t 0.02 --preset "$name" sleep 30
		[ "$(grep -c 'timed out' err)" -eq 2 ]
		gave_up 'attempts exhausted'
	done
}

@test "EX_TEMPFAIL is retried by sysexits, and its neighbours are not" {
	local code
	for code in 1 69 74 76; do
		stub tool "$code"
		ran 1 "$code" -n 2 --preset sysexits bin/tool
	done
	stub tool 75
	ran 2 75 -n 2 --preset sysexits bin/tool
}

@test "net knows the words that network tools share" {
	local line
	for line in 'connect: Connection refused' 'x: Network is unreachable' \
	    'Temporary failure in name resolution' 'HTTP 503 Service Unavailable' \
	    'read ECONNRESET' 'net/http: TLS handshake timeout'; do
		stub tool 1 "tool: $line"$'\n'
		ran 2 1 -n 2 --preset net bin/tool
	done
	for line in 'x: No such file or directory' '404 Not Found' \
	    'Permission denied'; do
		stub tool 1 "tool: $line"$'\n'
		ran 1 1 -n 2 --preset net bin/tool
	done
}

@test "a stream that a preset does not look at stays the command's own" {
	cat >bin/tool <<-'SH'
		#!/bin/sh
		one=$(readlink "/proc/$$/fd/1") two=$(readlink "/proc/$$/fd/2")
		echo "$one" >one
		echo "$two" >two
	SH
	chmod +x bin/tool
	ran 0 0 --preset sysexits bin/tool
	[ "$(cat one two)" = "$PWD/out"$'\n'"$PWD/err" ]
	ran 0 0 --preset git bin/tool
	[ "$(cat one)" = "$PWD/out" ]
	[[ "$(cat two)" == pipe:* ]]
	ran 0 0 --preset mvn bin/tool
	[[ "$(cat one)" == pipe:* ]]
	[ "$(cat two)" = "$PWD/err" ]
}

@test "the failure of a remote command is not ssh's own" {
	stub ssh 1
	echo 'Connection reset by 10.0.0.5 port 443' >bin/ssh.err
	ran 1 1 --preset ssh bin/ssh host deploy
	gave_up 'preset ssh: not a transient failure, see --retry-on'
	stub ssh 255
	echo 'ssh: connect to host h port 22: Connection refused' >bin/ssh.err
	ran 5 255 --preset ssh bin/ssh host deploy
	stub kubectl 3
	printf '%s\n' 'error: Get "https://api/": dial tcp: i/o timeout' \
		'command terminated with exit code 3' >bin/kubectl.err
	ran 1 3 --preset kubectl bin/kubectl exec pod -- migrate
}

@test "a PostgreSQL server that is not up yet is waited for" {
	stub psql 2
	printf '%s\n\t%s\n' \
		'psql: error: connection to server on socket "/run/s" failed: No such file or directory' \
		'Is the server running locally and accepting connections on that socket?' \
		>bin/psql.err
	ran 5 2 --preset psql bin/psql
}
