#!/usr/bin/env bats
# Covers link/link, link/helper, link/fleet_client.
# A budget that many hosts share by a server. Here a host is a directory of
# budgets. Whatever the server does, the command runs, and its status is right.
# shellcheck disable=SC2016 # the commands' shells expand
# shellcheck disable=SC2154 # fleet_start and start set what is read

load helper
load actor
load fleet

setup()
{
	fleet_setup
	mkdir one two three
	fails=(sh -c 'echo >>ran; exit 7')
	liar=
}

teardown()
{
	[ -z "$liar" ] || kill "$liar" || :
	fleet_teardown
}

# on HOST [OPTION]... COMMAND: runs it in the fleet.
on()
{
	timeout -k 1 30 "$RETRY" -B api --budget-dir "$1" -d 0 \
		--fleet "${url=$fleet_url}" --fleet-timeout 5s "${@:2}"
}

# ends STATUS HOST [OPTION]... COMMAND: the same ends so, with a new ./err.
ends()
{
	: >err
	is "$1" on "${@:2}"
}

# fails HOST N [OPTION]...: the host fails, although it may make N attempts.
fails()
{
	: >ran
	ends 7 "$1" -n "${@:2}" -- "${fails[@]}"
}

# retries HOST N [OPTION]...: the host makes N retries that fail.
retries()
{
	fails "$1" "$(($2 + 1))" "${@:3}"
	[ "$(lines ran)" -eq "$(($2 + 1))" ] || {
		cat err
		return 1
	}
}

# stored FIELD VALUE: the server's budget has this number
stored()
{
	[ "$(fleet_cli HGET retry:1:api "$1")" = "$2" ]
}

# warned LINE...: these lines, patterns of bash, are about the fleet, and no
# others
warned()
{
	local line
	grep '^retry: fleet' err >fleet-lines || :
	[ "$(lines fleet-lines)" -eq $# ] && while IFS= read -r line; do
		# shellcheck disable=SC2053 # it is a pattern
		[[ $line == "retry: fleet '$url': "$1 ]] || break
		shift
	done <fleet-lines && [ $# -eq 0 ] || {
		cat err
		return 1
	}
}

# lie MODE: starts a server that does so (tests/link/server.py), and sets $url
lie()
{
	"$PYTHON" "$BATS_TEST_DIRNAME/../link/server.py" "$PWD/lies" "$1" 3>&- &
	liar=$!
	wait_for [ -e lies ]
	url=redis://127.0.0.1:$(head -n 1 lies)
}

#
# One budget
#

@test "the hosts of a fleet share one budget" {
	fleet_share
	retries one 2 --fleet-min 3
	fails two 5 --fleet-min 3
	warned 'budget '\''api'\'': exhausted, 3 of 3 retries used in 60s by 2 hosts, ask again in about *; giving up'
	stored R 3
	stored H 2
	fails one 5 --fleet-min 3
	stored R 3
}

@test "a host is one host, whatever its limits, and however the URL is written" {
	local url
	fleet_start
	for url in redis://127.0.0.1:$fleet_port valkey://127.0.0.1:$fleet_port/0; do
		retries one 1 --fleet-min 20
	done
	retries one 1 --fleet-min 30
	retries one 1 --fleet-min 20 --fleet-ratio 1
	stored H 1
}

@test "the host's own window denies what the fleet would grant" {
	fleet_share
	fails one 5 --budget-min 1 --fleet-min 100
	warned
	told "retry: budget 'api': exhausted, 1 of 1 retries .*; giving up"
	stored R 1
}

@test "after a denial nobody asks the server for a while" {
	local before
	fleet_start # no process of another test asks it
	retries one 1 --fleet-min 1
	fails one 2 --fleet-min 1
	before=$(fleet_cli INFO commandstats | grep cmdstat_eval)
	fails one 2 --fleet-min 1
	warned '*exhausted, 1 of 1 *; giving up'
	[ "$(fleet_cli INFO commandstats | grep cmdstat_eval)" = "$before" ]
	# The pause after a denial holds for one by the fleet, too.
	fails two 3 --fleet-min 1 --budget-cooldown 1m
	fails two 3 --fleet-min 1 --budget-cooldown 1m
	told "retry: budget 'api': no retries after a denial, .*"
}

# bats test_tags=slow
@test "--budget-wait waits for the fleet" {
	fleet_share
	retries one 1 --fleet-min 1 --budget-window 1s
	ends 0 two -n 2 --fleet-min 1 --budget-window 1s --budget-wait 25s -- \
		sh -c 'test "$RETRY_ATTEMPT" = 2'
	warned '*exhausted, 1 of 1 retries used in 1s by *; waiting'
}

@test "an inner retry has the fleet of the outer one" {
	fleet_share
	fails one 2 --fleet-min 5 -- "$RETRY" -n 2 -d 0
	[ "$(lines ran)" -eq 4 ]
	stored R 3
}

@test "a probe of the breaker needs no grant of the fleet" {
	fleet_share
	retries one 1 --fleet-min 1
	ends 0 one -n 3 --fleet-min 1 --breaker 1,100ms --budget-wait 20s -- \
		sh -c 'test "$RETRY_ATTEMPT" -ge 2'
	stored R 1
}

@test "a breaker recovers more slowly, the more hosts the fleet has" {
	local now hosts rate
	fleet_share
	now=$(fleet_cli TIME | head -n 1)
	while read -r hosts rate; do
		mkdir "$hosts"
		fleet_cli HSET retry:1:api w 1000000 q 200000 m 10 e "$now" \
			"$((now % 64))" "0 0 $hosts" R 0 S 0 H "$hosts" x "$now"
		# A question to the server ends before the first attempt does.
		ends 0 "$hosts" -n 2 --breaker 1,1ms,1s --budget-wait 10s -- \
			sh -c 'sleep 0.2; test "$RETRY_ATTEMPT" = 2'
		"$RETRY" --budget-status api --budget-dir "$hosts" --json >seen
		grep -q "\"rate\": $rate\b" seen || { cat seen; return 1; }
	done <<-END
		20 60
		200 7
	END
}

@test "many processes of a host share what the server grants" {
	fleet_share
	seq 16 | xargs -P 16 -n 1 "$RETRY" -B api --budget-dir one -q -d 0 \
		--fleet "$fleet_url" --fleet-timeout 9s --fleet-min 4 \
		--budget-min 100 -n 2 -- sh -c 'echo >>ran; exit 1' 3>&- || :
	[ "$(lines ran)" -gt 16 ]
	[ "$(lines ran)" -le 20 ]
	[ "$(fleet_cli HGET retry:1:api R)" -le 4 ]
	stored H 1
}

@test "a budget that cannot be used on the host still asks the fleet" {
	fleet_share
	mkdir -m 777 shared
	retries shared 1 --fleet-min 1
	fails shared 3 --fleet-min 1
	warned '*exhausted, 1 of 1 *; giving up'
}

@test "the report and the metrics have what the fleet said" {
	fleet_start
	fails one 3 --fleet-min 1 --report report --metrics metrics
	grep -o '"fleet": *[^,}]*' report >said
	grep -q granted said
	grep -q denied said
	grep -q '^retry_fleet_granted.* 1$' metrics
	grep -q '^retry_fleet_denied.* 1$' metrics
	fleet_stop
	fails three 2 --metrics metrics
	grep -q '^retry_fleet_alone.* 1$' metrics
}

@test "without --fleet no word of a fleet is touched" {
	is 0 "$RETRY" -B api --budget-dir one --breaker on -n 2 -d 0 -- \
		sh -c 'test "$RETRY_ATTEMPT" = 2'
	tail -c 584 one/retry-v4.* | tr -d '\0' >words
	[ ! -s words ]
}

#
# Successes
#

@test "a retry that was granted tells of its success" {
	fleet_share
	ends 0 one -n 2 -- sh -c 'test "$RETRY_ATTEMPT" = 2'
	wait_for stored S 1
	fails one 1
	stored S 1
}

@test "the first question of a host tells of its successes" {
	fleet_share
	for _ in 1 2 3; do
		"$RETRY" -B api --budget-dir one -- true
	done
	# Its first attempt ends before the connection stands.
	ends 7 one -n 2 \
		--fleet-via "sleep 0.3; exec $PYTHON $BATS_TEST_DIRNAME/../tools/fleet_via.py $fleet_socket" \
		-- "${fails[@]}"
	stored S 3
	stored R 1
	stored H 1
}

@test "one process in each slice tells of all successes, from its first one on" {
	fleet_share
	ends 0 one -- sleep 0.2
	wait_for stored S 1
	for _ in 1 2 3; do
		ends 0 one -- true
	done
	ends 0 two -- sleep 0.2
	wait_for stored S 2
	sleep 1.1
	ends 0 one -- sleep 0.2
	wait_for stored S 6
	stored H 2
}

@test "a success without an election makes no system call for the fleet" {
	command -v strace >/dev/null || skip 'no strace here'
	fleet_share
	export RETRY_FLEET=
	sent()
	{
		strace -qq -o trace "$RETRY" -B api --budget-dir one \
			--budget-window 1h "$@" -- true 3>&-
		# Not those that depend on when the command ends, or on how
		# memory is allocated.
		sed 's/(.*//' trace | sort |
			grep -vE '^(---|.*sig(return|pending)|.*map|brk|ppoll|read|waitid)' \
			>calls
	}
	sent --fleet "$fleet_url"
	grep -q socket calls
	sent --fleet "$fleet_url"
	run ! grep -q socket calls
	mv calls with
	sent
	diff calls with
}

#
# A server that does not answer
#

@test "without a server the host makes its share alone, and says so once" {
	url=unix://$PWD/none
	retries one 1
	fails two 5
	warned 'no connection: No such file or directory; this host alone, 1 retry in 60s' \
		'no answer lately; this host alone, 1 retry in 60s, ask again in about *; giving up'
	retries three 3 --fleet-alone 3
	warned 'no connection: *; this host alone, 3 retries in 60s'
	fails three 5 --fleet-alone 3
	warned 'no answer lately; this host alone, 3 retries in 60s, ask again in about *; giving up'
}

@test "a host that is alone makes no retry that its own window denies" {
	url=unix://$PWD/none
	fails one 9 --budget-min 2 --fleet-alone 8
	[ "$(lines ran)" -eq 3 ]
	told "retry: budget 'api': exhausted, 2 of 2 .*; giving up"
}

@test "retries made alone are told later, and count" {
	fleet_start
	retries one 1 --fleet-min 90 --budget-min 90
	fleet_stop
	alone=0
	run ! alone
	alone=1
	fleet_start
	wait_for alone
	stored R "$alone"
}

# One more retry; succeeds if the server was asked for it.
alone()
{
	retries one 1 --fleet-min 90 --budget-min 90
	alone=$((alone + 1))
	[ "$(fleet_cli EXISTS retry:1:api)" = 1 ]
}

# bats test_tags=slow
@test "a stopped server delays one retry by --fleet-timeout, and others not at all" {
	local began
	fleet_start
	kill -STOP "$fleet_pid"
	began=$(now)
	retries one 1 --fleet-timeout 1s
	[ $(($(now) - began)) -ge 1000 ]
	warned 'no answer in 1s; this host alone, 1 retry in 60s'
	kill -CONT "$fleet_pid"
	# What it was asked meanwhile counts for nothing.
	fleet_cli PING
	run ! stored R 1
}

# While a host is alone, none of its processes waits.
@test "processes of a host that is alone do not ask the server" {
	lie silent
	retries one 1 --fleet-timeout 100ms --fleet-alone 9
	retries one 1 --fleet-timeout 100ms --fleet-alone 9
	warned
}

# lies REASON MODE: a host is alone, because the server does so
lies()
{
	lie "$2"
	rm -rf "$PWD/host"
	retries host 1
	warned "$1; this host alone, 1 retry in 60s"
	fails host 2
	kill "$liar"
	rm lies lies.socket
}

@test "a server that lies or hangs up leaves the host alone" {
	lies 'the server has closed the connection' close
	lies 'no valid answer' 'say:HTTP/1.1 400 Bad Request'
	liar=
}

# refuses HOST WHY: on a new host, the server refuses with WHY, a pattern.
refuses()
{
	mkdir "$1"
	fails "$1" 2
	warned "refused: $2; this host alone, 1 retry in 60s"
}

@test "what a real server refuses leaves the host alone" {
	local auth=(on +@all -time '>secret' '~*')
	fleet_start
	fleet_cli SET retry:1:api text
	refuses type 'WRONGTYPE *'
	fleet_cli DEL retry:1:api
	fleet_cli CONFIG SET maxmemory 1
	refuses memory "OOM command not allowed when used memory > 'maxmemory'"
	fleet_cli CONFIG SET maxmemory 0
	fleet_cli REPLICAOF 127.0.0.1 1
	refuses replica 'READONLY *'
	fleet_cli REPLICAOF NO ONE
	fleet_cli CONFIG SET requirepass secret
	refuses none 'NOAUTH Authentication required'
	fleet_cli -a secret CONFIG SET requirepass ''
	fleet_cli ACL SETUSER poor "${auth[@]}" || skip 'this server has no ACL'
	RETRY_FLEET_AUTH=poor:wrong refuses password \
		'WRONGPASS invalid username-password pair or user is disabled'
	RETRY_FLEET_AUTH=poor:secret refuses right \
		"@(NOPERM|ERR)*@(TIME|time|can't run this command)*"
}

# other WORD...: sends a request to the other server of a cluster.
other()
{
	"${FLEET_SERVER%server}cli" -s other.socket "$@"
}

# bats test_tags=slow
@test "a cluster says which of its servers has the budget" {
	local cluster=(--cluster-enabled yes --cluster-config-file) one slot words
	fleet_start "${cluster[@]}" first.conf
	one=redis://127.0.0.1:$fleet_port url=$one
	refuses down 'CLUSTERDOWN *'
	url=$one/1 refuses database 'ERR SELECT is not allowed in cluster mode'
	fleet_cli CLUSTER ADDSLOTS {0..16383} >ok
	"$FLEET_SERVER" --bind 127.0.0.1 --port $((fleet_port + 1)) --save '' \
		--unixsocket "$PWD/other.socket" --dir "$PWD" \
		"${cluster[@]}" other.conf >>fleet.log 2>&1 3>&- &
	liar=$!
	wait_for other PING
	other CLUSTER MEET 127.0.0.1 "$fleet_port"
	wait_for eval 'other CLUSTER INFO | grep cluster_state:ok'
	url=redis://127.0.0.1:$((fleet_port + 1)) # MOVED
	retries one 2
	warned
	stored R 2
	url=unix://$PWD/other.socket # a socket leads to one server only
	refuses socket 'MOVED *'
	fleet_cli DEL retry:1:api
	slot=$(fleet_cli CLUSTER KEYSLOT retry:1:api)
	other CLUSTER SETSLOT "$slot" IMPORTING "$(fleet_cli CLUSTER MYID)"
	fleet_cli CLUSTER SETSLOT "$slot" MIGRATING "$(other CLUSTER MYID)"
	url=$one # ASK
	retries two 2
	warned
	read -ra words < <(fleet_account)
	fleet_cli "${words[@]}" && other "${words[@]}" || skip 'this server has no ACL'
	RETRY_FLEET_AUTH=retry:password retries two 1
	warned
	[ "$(fleet_cli CLUSTER COUNTKEYSINSLOT "$slot")" = 0 ]
	[ "$(other CLUSTER COUNTKEYSINSLOT "$slot")" = 1 ]
}

@test "a server that grants everything grants nothing that the host denies" {
	local url=unix://$PWD/none
	ends 0 one --budget-window 1h -- true # is the one that tells
	lie 'say:ANSWER'
	fails one 9 --budget-window 1h --budget-min 2
	[ "$(lines ran)" -eq 3 ]
	warned
	told "retry: budget 'api': exhausted, 2 of 2 .*; giving up"
}

@test "a server that is restarted empty grants from the minimum" {
	fleet_start
	retries one 2 --fleet-min 2
	fleet_stop
	fleet_start
	retries two 2 --fleet-min 2
	stored R 2
}

#
# --budget-required
#

@test "with --budget-required nothing runs before the server has answered" {
	fleet_start
	ends 0 one --budget-required -- touch ran
	[ -e ran ]
	rm ran
	fleet_stop
	ends 69 one --budget-required -q -- touch ran
	warned 'no connection: *; command not run'
	lie 'say:-NOAUTH no'
	ends 69 two --budget-required -- touch ran
	warned 'refused: NOAUTH no; command not run'
	[ ! -e ran ]
}

#
# Signals, limits, descriptors
#

@test "a signal ends retry while it asks, and another process may ask at once" {
	lie silent
	asks 1m
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	retries one 1 --fleet-timeout 100ms
	warned 'no answer in 100ms; *'
}

# asks TIMEOUT: starts a retry, and waits until it asks. Another process has been
# elected to tell of successes.
asks()
{
	local words=(-B api --budget-dir one --budget-window 1h --fleet "$url")
	is 0 "$RETRY" "${words[@]}" -- true
	start "$RETRY" "${words[@]}" -d 0 -n 2 --fleet-timeout "$1" -- \
		"${fails[@]}"
	wait_for is_connected
}

is_connected()
{
	[ -s ran ] && [[ $(readlink "/proc/$pid/fd/"*) == *socket:* ]]
}

@test "the deadline ends a question, and the server is not to blame" {
	lie silent
	ends 7 one -T 500ms -n 2 --fleet-timeout 1m -- "${fails[@]}"
	told 'retry: giving up before attempt 2: .*deadline.*'
	warned
	retries one 1 --fleet-timeout 100ms
	warned 'no answer in 100ms; *'
}

# bats test_tags=slow
@test "if retry is stopped while it asks, the server is not to blame" {
	fleet_start
	kill -STOP "$fleet_pid"
	url=unix://$fleet_socket
	asks 300ms
	kill -STOP "$pid"
	sleep 1
	kill -CONT "$fleet_pid"
	kill -CONT "$pid"
	ended
	[ "$(lines ran)" -eq 2 ]
	warned
	stored R 1
}

@test "the command and the hook have no descriptor of the connection" {
	local n
	fleet_share
	"$RETRY" -n 2 -d 0 --on-retry 'ls -l /proc/self/fd >hook' -- \
		sh -c 'ls -l /proc/self/fd >"bare$RETRY_ATTEMPT"; exit 1' 3>&- || :
	cp hook bare-hook
	on one -n 3 --on-retry 'ls -l /proc/self/fd >hook' -- \
		sh -c 'ls -l /proc/self/fd >"fds$RETRY_ATTEMPT"; exit 1' 3>&- || :
	for n in fds1 fds2 fds3 hook bare1; do
		run ! grep -q socket "$n"
		grep -c -- '->' "$n" >"$n.count"
	done
	cmp fds1.count bare1.count
	cmp fds2.count bare1.count
	cmp fds3.count bare1.count
	stored R 2
}

@test "a host is found by its name, and limits leave its resolver alone" {
	fleet_share
	url=redis://localhost:$fleet_port/$fleet_db
	retries one 2 -t 5s -T 20s
	stored R 2
	warned
}

@test "--fleet-via is the way to the server" {
	fleet_share
	url=redis://any/$fleet_db
	retries one 2 --fleet-via \
		"bash -c 'exec 5<>/dev/tcp/127.0.0.1/$fleet_port; cat <&5 & cat >&5'"
	stored R 2
	warned
}
