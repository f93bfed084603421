#!/usr/bin/env bats
# Covers cli/option_rules, streams/relay.
# --preset. A stub in ./bin has a tool's name, prints what a test says and exits
# as it says; tests/tools/replay does this with captures of real tools.
# shellcheck disable=SC2016,SC2034,SC2154 # the rows expand

load helper
load actor

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

# refused WORDS WORD...: retry refuses the preset of these words, runs nothing.
refused()
{
	ran 0 125 "${@:2}" && holds err "retry: --preset: $1" \
	    "Try '${RETRY##*/} -h' for more information."
}

# judged TIMES STATUS WORDS ERR OUT [OPTION]... [WORD]... bin/TOOL [WORD]...: a
# TOOL that prints the lines ERR and OUT and exits with STATUS is run TIMES times
# of three, and what retry says ends with WORDS. A 0 that failed ends with 1.
judged()
{
	local times=$1 status=$2 words=$3 tool=" ${*:6}"
	tool=${tool#* bin/}
	stub "${tool%% *}" "$status" "${4:+$4$'\n'}" "${5:+$5$'\n'}"
	[ "$times $status" = '1 0' ] || [ "$status" -gt 0 ] || status=1
	ran "$times" "$status" -n 3 "${@:6}" && [[ $(<err) == *"$words" ]] || {
		echo "not said: $words"
		cat err
		return 1
	}
}

spent='giving up: attempts exhausted'
incurable='cannot be cured by a retry'

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
	table refused <<-'END'
		"no such preset: 'frob' in 'show:frob'" --preset show:frob bin/curl
		"no such preset: 'frob'" --preset frob bin/curl
		"no such preset: 'frob' in 'curl,frob'" --preset curl,frob bin/curl
		"no such preset: 'CURL'" --preset CURL bin/curl
		"no such preset: 'list' in 'curl,list'" --preset curl,list bin/curl
	END
}

#
# By the name of the command
#

@test "auto finds the tool by the last part of its path, behind wrappers" {
	printf '#!/bin/sh\nwhile [ "$1" != bin/curl ]; do shift; done\nexec "$@"\n' \
	    >bin/sudo
	chmod +x bin/sudo
	not='auto found no preset for:'
	table judged <<-'END'
		3 7 "$spent" '' '' --preset auto bin/curl
		1 7 '' '' '' --preset auto bin/wget
		3 4 "$spent" '' '' --preset auto bin/wget
		3 1 "$spent" 'ERROR: HTTP error 503 while getting x' '' --preset auto bin/pip3
		3 1 "$spent" 'ERROR: HTTP error 503 while getting x' '' --preset auto bin/pip3.11
		3 7 "$spent" '' '' --preset auto timeout 9 bin/curl
		3 7 "$spent" '' '' --preset auto timeout -k 5 -s INT --foreground 9 bin/curl
		3 7 "$spent" '' '' --preset auto env A=b bin/curl
		3 7 "$spent" '' '' --preset auto env -u X -C . A=b bin/curl
		3 7 "$spent" '' '' --preset auto nice -n 5 bin/curl
		3 7 "$spent" '' '' --preset auto nice -5 bin/curl
		3 7 "$spent" '' '' --preset auto nohup bin/curl
		3 7 "$spent" '' '' --preset auto stdbuf -oL bin/curl
		3 7 "$spent" '' '' --preset curl sh -c bin/curl
		# A program's name is as good as its preset's.
		3 100 "$spent" 'E: Could not get lock /var/lib/dpkg/lock.' '' --preset apt-get bin/other
		3 100 "$spent" 'E: Could not get lock /var/lib/dpkg/lock.' '' --preset apt bin/other
		1 100 '' 'E: Could not get lock /var/lib/dpkg/lock.' '' --preset wget bin/other
	END
	stub curl 7
	PATH=$PWD/bin:$PATH ran 2 7 -n 2 --preset auto curl
	ran 2 7 -n 2 --preset auto "$PWD/bin/curl"
	table ran 2 7 -n 2 --preset auto <<-'END'
		bin/sudo -u bob -E A=b bin/curl
		bin/sudo nice timeout 9 bin/curl
	END
	table refused <<-'END'
		"$not 'bin/frob'" --preset auto timeout 9 bin/frob
		"$not 'bin/frob'" --preset auto bin/frob
		"$not 'bin/curlx'" --preset auto bin/curlx
		"$not 'env'" --preset auto env -S bin/curl
		"$not 'sh'" --preset auto sh -c bin/curl
	END
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

#
# Failures that exit with 0
#

@test "a failure that exits with 0 is one to the preset of its tool alone" {
	loading='LOADING Redis is loading the dataset in memory'
	mirror='W: Failed to fetch http://x  503  Service Unavailable
W: Some index files failed to download.'
	table judged <<-'END'
		3 0 "$spent" '' "$loading" --preset redis bin/redis-cli && [ "$(grep -c LOADING out)" -eq 3 ]
		1 0 '' '' "$loading" bin/redis-cli
		1 0 ': succeeded' '' '"a page that says: LOADING Redis is loading"' -v --preset redis bin/redis-cli
		1 0 ': succeeded' '' "$loading" -v --preset redis --success-on 0 bin/redis-cli
		3 0 "$spent" "$mirror" '' --preset apt bin/apt-get update
		1 0 "W: Some index files failed to download." "$mirror" '' bin/apt-get update
		1 0 ': succeeded' '' 'Reading package lists...' -v --preset apt bin/apt-get update
	END
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

#
# With others, and with what the user says
#

@test "several presets count together, and with what the user says" {
	denied='u@h: Permission denied (publickey).'
	refused='fatal: unable to access: Connection refused'
	authentic='fatal: Authentication failed for x'
	password='FATAL:  password authentication failed for user "x"'
	unconnected='curl: (7) Failed to connect'
	table judged <<-'END'
		3 7 "$spent" '' '' --preset curl,wget bin/tool
		3 7 "$spent" '' '' --preset curl --preset wget bin/tool
		3 4 "$spent" '' '' --preset curl,wget bin/tool
		3 4 "$spent" '' '' --preset curl --preset wget bin/tool
		1 3 '' '' '' --preset curl,wget bin/tool
		3 75 "$spent" '' '' --preset auto,sysexits bin/ssh
		1 75 '' '' '' --preset auto bin/ssh
		# What is fatal to one is final, whatever another one retries.
		3 75 "$spent" "$denied" '' --preset sysexits bin/tool
		1 75 "preset ssh: \"Permission denied (publickey)\" $incurable" "$denied" '' --preset sysexits,ssh bin/tool
		1 75 "$incurable" "$denied" '' --preset ssh,sysexits bin/tool
		1 128 "$incurable" "$refused"$'\n'"$authentic" '' --preset git bin/git
		1 128 "preset git: \"Authentication failed\" $incurable" "$authentic"$'\n'"$refused" '' --preset git bin/git
		3 128 "$spent" "$refused" '' --preset git bin/git
		1 2 "preset psql: \"authentication failed\" $incurable" "$password" '' --preset psql --retry-on fail bin/psql
		3 2 "$spent" "$password" '' --retry-on fail bin/psql
		# --retry-on adds to what a preset retries.
		1 9 '' '' '' --preset curl bin/curl
		3 9 "$spent" '' '' --preset curl --retry-on 9 bin/curl
		3 9 "$spent" '' '' --retry-on stderr:x --retry-on 9 --preset curl bin/curl
		3 7 "$spent" '' '' --preset curl --retry-on 9 bin/curl
		1 3 'giving up: not in --retry-on 9, and not a transient failure for preset curl' '' '' --preset curl --retry-on 9 bin/curl
		3 3 "$spent" 'curl: out of luck' '' --preset curl --retry-on 'stderr:out of luck' bin/curl
		# --stop-on wins.
		3 7 "$spent" "$unconnected" '' --preset curl bin/curl
		1 7 'giving up: --stop-on 7' "$unconnected" '' --preset curl --stop-on 7 bin/curl
		1 7 'giving up: --stop-on stderr:Failed to connect' "$unconnected" '' --preset curl --stop-on 'stderr:Failed to connect' bin/curl
	END
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

@test "an attempt that had to be ended is retried under any preset" {
	local name
	for name in sysexits ssh flock; do
		ran 0 124 -n 2 -t 0.02 --preset "$name" sleep 30
		[ "$(grep -c 'timed out' err)" -eq 2 ]
		gave_up 'attempts exhausted'
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

@test "what each tool says is judged by its own preset" {
	dial='error: Get "https://api/": dial tcp: i/o timeout'
	ended='command terminated with exit code 3'
	socket='psql: error: connection to server on socket "/run/s" failed: No such file or directory'
	up=$'\tIs the server running locally and accepting connections on that socket?'
	table judged <<-'END'
		3 125 "$spent" 'docker: Cannot connect to the Docker daemon at x.' '' --preset docker bin/docker run alpine
		1 125 'giving up: preset docker: not a transient failure, see --retry-on' 'unknown flag: --frob' '' --preset docker bin/docker run --frob alpine
		3 5 "$spent" 'rsync: did not see server greeting' '' --preset rsync bin/rsync
		1 5 "preset rsync: \"@ERROR: auth failed\" $incurable" '@ERROR: auth failed on module x' '' --preset rsync bin/rsync
		# The failure of a remote command is not ssh's own.
		1 1 'giving up: preset ssh: not a transient failure, see --retry-on' 'Connection reset by 10.0.0.5 port 443' '' --preset ssh bin/ssh host deploy
		3 255 "$spent" 'ssh: connect to host h port 22: Connection refused' '' --preset ssh bin/ssh host deploy
		1 3 '' "$dial"$'\n'"$ended" '' --preset kubectl bin/kubectl exec pod -- migrate
		3 2 "$spent" "$socket"$'\n'"$up" '' --preset psql bin/psql
		1 1 '' '' '' --preset sysexits bin/tool
		1 69 '' '' '' --preset sysexits bin/tool
		1 74 '' '' '' --preset sysexits bin/tool
		1 76 '' '' '' --preset sysexits bin/tool
		3 75 "$spent" '' '' --preset sysexits bin/tool
		3 1 "$spent" 'tool: connect: Connection refused' '' --preset net bin/tool
		3 1 "$spent" 'tool: x: Network is unreachable' '' --preset net bin/tool
		3 1 "$spent" 'tool: Temporary failure in name resolution' '' --preset net bin/tool
		3 1 "$spent" 'tool: HTTP 503 Service Unavailable' '' --preset net bin/tool
		3 1 "$spent" 'tool: read ECONNRESET' '' --preset net bin/tool
		3 1 "$spent" 'tool: net/http: TLS handshake timeout' '' --preset net bin/tool
		1 1 '' 'tool: x: No such file or directory' '' --preset net bin/tool
		1 1 '' 'tool: 404 Not Found' '' --preset net bin/tool
		1 1 '' 'tool: Permission denied' '' --preset net bin/tool
	END
}
