#!/usr/bin/env bats
# Covers link/link, report/budget_show.
# What a user types and reads of a fleet: options, variables, refusals, and what
# is shown of the budget that a server keeps.

# shellcheck disable=SC2016 # $ in single quotes is for others

load helper
load fleet

setup()
{
	helper_setup
	export RETRY_BUDGET_DIR=$BATS_TEST_TMPDIR/budgets
	mkdir budgets
}

teardown()
{
	fleet_teardown
}

# refused LINE OPTION...: retry writes this line and one of advice, exits with
# 125 and runs nothing.
refused()
{
	local line=$1 status=0
	shift
	"$RETRY" "$@" touch ran >out 2>err || status=$?
	[ "$status" = 125 ]
	holds err "retry: $line" "Try '${RETRY##*/} -h' for more information."
	[ ! -s out ]
	[ ! -e ran ]
}

# secret LINE: makes the file auth, which only its owner can read.
secret()
{
	rm -f auth
	(umask 077 && printf '%s\n' "$1" >auth)
}

# inside VARIABLE OPTION...: what the command has in this variable.
inside()
{
	"$RETRY" "${@:2}" -- sh -c 'eval "echo \${$0-unset}"' "$1"
}

#
# Refusals
#

@test "a URL that is malformed or has an unknown scheme is refused" {
	local url
	for url in redis redis:/host http://host unix:// unix://path; do
		run -125 "$RETRY" -B api --fleet "$url" touch ran
		[[ ${lines[0]} == "retry: --fleet: "*": '$url'" ]]
		[ ! -e ran ]
	done
	refused "--fleet: not a port from 1 to 65535: 'redis://host:0'" \
		-B api --fleet redis://host:0
	refused "--fleet: a parameter other than db=N: 'unix://***'" \
		-B api --fleet 'unix:///path?user=x'
	printf -v url 'unix:///%0107d' 0
	refused "--fleet: a path of more than 107 bytes, or a wrong %XX: '$url'" \
		-B api --fleet "$url"
}

@test "a URL with a password is refused, and the message does not show it" {
	local why='a URL with a password, which others can see; use --fleet-auth'
	refused "--fleet: $why: 'redis://***'" -B api --fleet redis://app:pw@host
	refused "--fleet: $why: 'rediss://***'" -B api --fleet rediss://:pw@host
	RETRY_FLEET=redis://app:pw@host refused \
		"\$RETRY_FLEET: $why: 'redis://***'" -B api
	echo fleet=redis://app:pw@host >policy
	refused "./policy:1: fleet: $why: 'redis://***'" -B api --policy ./policy
}

@test "--fleet without a budget is refused, and RETRY_FLEET without one does nothing" {
	refused "--fleet: only with --budget: 'redis://host'" --fleet redis://host
	refused "--fleet: only with --budget: 'redis://host'" -B '' \
		--fleet redis://host
	RETRY_FLEET=redis://host RETRY_FLEET_AUTH_FILE=none "$RETRY" touch ran
	[ -e ran ]
	"$RETRY" --fleet '' rm ran
	[ ! -e ran ]
}

@test "the other options of a fleet are refused without --fleet, unless it is given as empty" {
	local option
	for option in auth via timeout min ratio alone; do
		refused "--fleet-$option: only with --fleet: '1'" -B api \
			"--fleet-$option" 1
		RETRY_FLEET=redis://host "$RETRY" -B api \
			"--fleet-$option" 1 --fleet '' touch ran
		rm ran
	done
}

@test "a time of 0, and numbers out of their range, are refused" {
	local text words=(-B api --fleet unix:///none)
	for text in 0 0ms -1 x '' 61s; do
		refused "--fleet-timeout: not a time above 0, up to 1m: '$text'" \
			"${words[@]}" --fleet-timeout "$text"
	done
	for text in -1 1.5 x '' 1000001; do
		refused "--fleet-min: not a whole number up to 1000000: '$text'" \
			"${words[@]}" --fleet-min "$text"
		refused "--fleet-alone: not a whole number up to 1000000: '$text'" \
			"${words[@]}" --fleet-alone "$text"
	done
	refused "--fleet-ratio: not a ratio from 0 to 1000: '1001'" \
		"${words[@]}" --fleet-ratio 1001
	RETRY_FLEET_TIMEOUT=0 refused \
		"\$RETRY_FLEET_TIMEOUT: not a time above 0, up to 1m: '0'" \
		"${words[@]}"
	"$RETRY" "${words[@]}" --fleet-timeout 1ms --fleet-min 0 \
		--fleet-ratio 25% --fleet-alone 0 touch ran
	[ -e ran ]
}

@test "a file for the password that others can read is refused, one that the group can read is not" {
	local words=(-B api --fleet redis://host --fleet-auth auth)
	secret password
	chmod 604 auth
	refused "--fleet-auth: others can read it; use chmod o-r: 'auth'" \
		"${words[@]}"
	RETRY_FLEET_AUTH_FILE=auth refused \
		"\$RETRY_FLEET_AUTH_FILE: others can read it; use chmod o-r: 'auth'" \
		-B api --fleet redis://host
	chmod 640 auth
	"$RETRY" "${words[@]}" touch ran
	[ -e ran ]
}

@test "a file for the password that is empty, missing or not one line is refused" {
	local words=(-B api --fleet redis://host --fleet-auth) line
	refused "--fleet-auth: No such file or directory: 'none'" \
		"${words[@]}" none
	refused "--fleet-auth: Is a directory: '.'" "${words[@]}" .
	refused "--fleet-auth: not a file name: ''" "${words[@]}" ''
	mkfifo -m 600 fifo
	refused "--fleet-auth: not a regular file: 'fifo'" "${words[@]}" fifo
	secret ''
	refused "--fleet-auth: empty: 'auth'" "${words[@]}" auth
	secret $'one\ntwo'
	refused "--fleet-auth: more than one line of text: 'auth'" \
		"${words[@]}" auth
	secret :password
	refused "--fleet-auth: no user before the colon: 'auth'" \
		"${words[@]}" auth
	printf -v line '%02000d' 0
	secret "$line"
	refused "--fleet-auth: too long: 'auth'" "${words[@]}" auth
	secret other:password
	refused "--fleet-auth: another user than in the URL: 'auth'" -B api \
		--fleet redis://app@host --fleet-auth auth
}

@test "RETRY_FLEET_AUTH is refused without being shown, and --fleet-auth goes before it" {
	RETRY_FLEET_AUTH=app: refused \
		"\$RETRY_FLEET_AUTH: no password after the colon: '***'" \
		-B api --fleet redis://host
	secret password
	RETRY_FLEET_AUTH=app: "$RETRY" -B api --fleet redis://host \
		--fleet-auth auth touch ran
	[ -e ran ]
}

@test "a user in the URL is refused without a password" {
	refused "--fleet: a user, and no --fleet-auth: 'redis://app@host'" \
		-B api --fleet redis://app@host
	RETRY_FLEET=redis://app@host refused \
		"\$RETRY_FLEET: a user, and no --fleet-auth: 'redis://app@host'" \
		-B api
	RETRY_FLEET_AUTH=password "$RETRY" -B api --fleet redis://app@host \
		touch ran
	[ -e ran ]
}

@test "a policy may have all options of a fleet but --fleet-via" {
	secret password
	printf '%s\n' budget=api fleet=redis://host fleet-auth=auth \
		fleet-timeout=1s fleet-min=5 fleet-ratio=10% fleet-alone=1 >policy
	"$RETRY" --policy ./policy touch ran
	rm ran
	echo fleet-via=cat >>policy
	refused './policy:8: fleet-via: only allowed on the command line' \
		--policy ./policy
}

#
# Handing on
#

@test "the options of a fleet are handed on as they were typed" {
	secret password
	local given=(-B api --fleet valkey://host/ --fleet-auth auth
		--fleet-via 'exec cat' --fleet-timeout 0.5 --fleet-min 07
		--fleet-ratio 10% --fleet-alone 2)
	[ "$(inside RETRY_FLEET "${given[@]}")" = valkey://host/ ]
	[ "$(inside RETRY_FLEET_VIA "${given[@]}")" = 'exec cat' ]
	[ "$(inside RETRY_FLEET_TIMEOUT "${given[@]}")" = 0.5 ]
	[ "$(inside RETRY_FLEET_MIN "${given[@]}")" = 07 ]
	[ "$(inside RETRY_FLEET_RATIO "${given[@]}")" = 10% ]
	[ "$(inside RETRY_FLEET_ALONE "${given[@]}")" = 2 ]
	[ "$(RETRY_FLEET=redis://host inside RETRY_FLEET -B api --fleet '')" = '' ]
}

@test "a relative file for the password is handed on as an absolute path" {
	secret password
	[ "$(inside RETRY_FLEET_AUTH_FILE -B api --fleet redis://host \
		--fleet-auth auth)" = "$PWD/auth" ]
	[ "$(RETRY_FLEET_AUTH_FILE=auth inside RETRY_FLEET_AUTH_FILE -B api \
		--fleet redis://host)" = "$PWD/auth" ]
	cd budgets
	"$RETRY" -B api --fleet redis://host --fleet-auth ../auth -- \
		sh -c 'cd / && exec "$RETRY" true'
}

@test "the password is in the command's environment only where it was before" {
	secret app:hunter2
	"$RETRY" -B api --fleet redis://host --fleet-auth auth env >seen
	grep -q '^RETRY_FLEET=' seen
	run -1 grep hunter2 seen
	[ "$(RETRY_FLEET_AUTH=app:hunter2 inside RETRY_FLEET_AUTH -B api \
		--fleet redis://host)" = app:hunter2 ]
}

#
# Looking at budgets
#

# Starts a server, whose URL is $fleet.
serve()
{
	[ -n "$FLEET_SERVER" ] || skip 'no redis-server or valkey-server here'
	fleet_start
	fleet=unix://$fleet_socket
}

# told_server KEY: the server knows 20 of 40 retries, 200 successes, 3 hosts.
told_server()
{
	local now
	now=$(fleet_cli TIME | head -n 1)
	fleet_cli HSET "retry:1:$1" w 1000000 q 200000 m 5 e "$now" \
		"$((now % 64))" '20 200 3' R 20 S 200 H 3 x "$now" >out
	fleet_cli PEXPIRE "retry:1:$1" 60000 >out
}

# A field of the JSON in ./seen, such as '["fleet"]["hosts"]'.
field()
{
	"$PYTHON" -IS -c "import json
print(json.load(open('seen'))$1)"
}

@test "--budget-status with --fleet has a second row, with a column for the scope and one for the hosts" {
	serve
	"$RETRY" -q -n 2 -d 0 -B api false || :
	told_server api
	"$RETRY" --budget-status api --fleet "$fleet" >table
	[ "$(lines table)" = 3 ]
	[ "$(awk '{ print $1, $2, $3, $9 }' table)" = 'KEY SCOPE RETRIES HOSTS
api host 1 -
api fleet 20 3' ]
	awk 'NR == 3 { print $4, $5, $6, $7, $8 }' table >row
	read -r limit left next successes window <row
	[ "$left" = "$((limit - 20))" ]
	[ "$next" = now ]
	[ "$window" = 1m ]
	((successes <= 200))
}

@test "--budget-status without --fleet has the same form as ever" {
	"$RETRY" -B api true
	"$RETRY" --budget-status api | head -n 1 | xargs >header
	holds header 'KEY RETRIES LIMIT LEFT NEXT SUCCESSES WINDOW FIRSTS PROBES TURNS DENIED AMPLIFICATION BREAKER'
	"$RETRY" --budget-status api --json >seen
	run -1 grep -E 'fleet|error|hosts|on_host' seen
	"$RETRY" --budget-status api --prom >seen
	grep -q retry_budget_limit seen
	run -1 grep -E 'fleet|hosts' seen
}

@test "--budget-status --json has what the server knows, and what the host knows of the server" {
	serve
	"$RETRY" -B api true
	told_server api
	"$RETRY" --budget-status api --fleet "$fleet" --json >seen
	[ "$(field '["fleet"]["retries"]')" = 20 ]
	[ "$(field '["fleet"]["hosts"]')" = 3 ]
	[ "$(field '["fleet"]["min"]')" = 5 ]
	[ "$(field '["fleet"]["ratio"]')" = 0.2 ]
	[ "$(field '["fleet"]["window_seconds"]')" = 60 ]
	[ "$(field '["fleet"]["url"]')" = "$fleet" ]
	[ "$(field '["error"]')" = None ]
	[ "$(field '["on_host"]["alone"]')" = 0 ]
	[ "$(field '["totals"]["firsts"]')" = 1 ]
}

@test "--budget-status --prom has metrics of the fleet under names of their own" {
	serve
	"$RETRY" -B api true
	told_server api
	"$RETRY" --budget-status api --prom | grep -v '_seconds{' >before
	"$RETRY" --budget-status api --fleet "$fleet" --prom >seen
	grep -v '_seconds{' seen | head -n "$(lines before)" | diff before -
	has_line 'retry_fleet_window_retries{key="api"} 20' seen
	has_line 'retry_fleet_hosts{key="api"} 3' seen
	has_line 'retry_fleet_up{key="api"} 1' seen
	fleet_stop
	run -1 "$RETRY" --budget-status api --fleet "$fleet" --prom
	[[ $output == *$'\nretry_fleet_up{key="api"} 0'* ]]
	[[ $output != *'retry_fleet_hosts{'* ]]
	has_line 'retry_fleet_on_host_unasked_seconds{key="api"} 0' seen
	"$RETRY" -q -n 2 -d 0 -B api --fleet "$fleet" false || :
	run -1 "$RETRY" --budget-status api --fleet "$fleet" --prom
	[[ $output == *$'\nretry_fleet_on_host_alone{key="api"} 1'* ]]
	[[ $output == *$'\nretry_fleet_on_host_denied_seconds{key="api"} 0'* ]]
}

@test "to ask for the status takes nothing and changes nothing" {
	serve
	"$RETRY" --budget-status api --fleet "$fleet" --budget-min 1 >table
	[ -z "$(fleet_cli KEYS '*')" ]
	told_server api
	fleet_cli DUMP retry:1:api >before
	"$RETRY" --budget-status api --fleet "$fleet" --fleet-min 1 >table
	fleet_cli DUMP retry:1:api | diff before -
}

@test "a budget that only other hosts have is shown, too" {
	serve
	told_server api
	"$RETRY" --budget-status api --fleet "$fleet" >table
	[ "$(awk '{ print $1, $2, $9 }' table)" = 'KEY SCOPE HOSTS
api fleet 3' ]
	"$RETRY" --budget-status api --fleet "$fleet" --json >seen
	[ "$(field '["retries"]')" = None ]
	[ "$(field '["gate"]["state"]')" = None ]
	[ "$(field '["fleet"]["retries"]')" = 20 ]
}

@test "--budget-status all asks for each budget of this host" {
	serve
	"$RETRY" -B api true
	"$RETRY" -B web true
	told_server web
	"$RETRY" --budget-status all --fleet "$fleet" >table
	[ "$(awk '{ print $1, $2, $9 }' table)" = 'KEY SCOPE HOSTS
api host -
api fleet 0
web host -
web fleet 3' ]
}

@test "if the server does not answer, the status has the host's row, null, and why" {
	local fleet=unix://$PWD/none
	"$RETRY" -B api true
	run -1 --separate-stderr "$RETRY" --budget-status api --fleet "$fleet"
	[ "${#lines[@]}" = 2 ]
	[[ ${lines[1]} == 'api  host '* ]]
	[ "$stderr" = "retry: fleet '$fleet': cannot be asked: no connection: No such file or directory" ]
	"$RETRY" --budget-status api --fleet "$fleet" --json >seen 2>err || :
	[ "$(field '["fleet"]')" = None ]
	[ "$(field '["error"]')" = 'no connection: No such file or directory' ]
	[ "$(field '["totals"]["firsts"]')" = 1 ]
	run -1 --separate-stderr "$RETRY" --budget-status none --fleet "$fleet"
	[[ $stderr == *"retry: budget 'none': no such budget in $RETRY_BUDGET_DIR"* ]]
}

@test "a server that is silent ends the status after --fleet-timeout" {
	serve
	"$RETRY" -B api true
	kill -STOP "$fleet_pid"
	run -1 --separate-stderr timeout 20 "$RETRY" --budget-status all \
		--fleet "$fleet" --fleet-timeout 100ms
	[ "$stderr" = "retry: fleet '$fleet': cannot be asked: no answer in 100ms" ]
}

@test "the password is sent, and never shown" {
	[ -n "$FLEET_SERVER" ] || skip 'no redis-server or valkey-server here'
	fleet_start --requirepass hunter2
	export REDISCLI_AUTH=hunter2
	local fleet=unix://$fleet_socket
	secret hunter2
	"$RETRY" --budget-status api --fleet "$fleet" --fleet-auth auth >table
	[ "$(lines table)" = 2 ]
	RETRY_FLEET_AUTH=hunter2 "$RETRY" --budget-status api --fleet "$fleet" |
		diff table -
	secret wrong-one
	run -1 --separate-stderr "$RETRY" -v --budget-status api \
		--fleet "$fleet" --fleet-auth auth
	[[ $stderr == *"cannot be asked: refused: WRONGPASS"* ]]
	[[ $stderr != *wrong-one* ]]
}

@test "--fleet-via is the way to the server" {
	serve
	told_server api
	"$RETRY" --budget-status api --fleet redis://elsewhere \
		--fleet-via "exec '$PYTHON' -IS '$BATS_TEST_DIRNAME/../tools/fleet_via.py' '$fleet_socket'" >table
	grep -q '^api  fleet' table
}

@test "a Ctrl-C ends the status" {
	serve
	kill -STOP "$fleet_pid"
	start "$RETRY" --budget-status api --fleet "$fleet" --fleet-timeout 1m
	wait_for grep -q '^SigBlk:.*[1-9a-f]' "/proc/$pid/status"
	kill -INT "$pid"
	ended
	[ "$status" = 130 ]
}

@test "--budget-reset with --fleet clears the server's budget, too" {
	serve
	"$RETRY" -B api true
	told_server api
	told_server web
	run -0 "$RETRY" -v --budget-reset api --fleet "$fleet"
	[ "${lines[0]}" = "retry: budget 'api': reset" ]
	[ "${lines[1]}" = "retry: fleet '$fleet': reset" ]
	[ "$(fleet_cli KEYS '*')" = retry:1:web ]
	"$RETRY" -B api true
	fleet_stop
	run -1 "$RETRY" --budget-reset api --fleet "$fleet"
	[[ $output == "retry: fleet '$fleet': cannot be reset: no connection: "* ]]
	run -1 "$RETRY" --budget-status api # the host's is gone all the same
}

@test "--budget-reset without --fleet leaves the server alone" {
	serve
	"$RETRY" -B api true
	told_server api
	"$RETRY" --budget-reset api
	[ "$(fleet_cli KEYS '*')" = retry:1:api ]
}

@test "--dry-run says whether the fleet could be asked" {
	serve
	told_server api
	"$RETRY" --dry-run -B api --fleet "$fleet" >out
	grep -qE '^Fleet +answers +20 of [0-9]+ retries used in 1m by 3 hosts$' out
	grep -qE '^Not counted +fleet +up to 250ms a retry$' out
	fleet_cli KEYS '*' >keys
	fleet_stop
	"$RETRY" --dry-run -B api --fleet "$fleet" --fleet-timeout 3s >out
	grep -qE '^Fleet +no answer +no connection: ' out
	grep -qE '^Not counted +fleet +up to 3s a retry$' out
	"$RETRY" --dry-run -B api >out
	run -1 grep -i fleet out
}

@test "the example of doc/fleet.md works with a server that has its password" {
	[ -n "$FLEET_SERVER" ] || skip 'no redis-server or valkey-server here'
	fleet_start --requirepass secret
	awk '/^```/ { inside = 0 } inside; /^```shell$/ { inside = 1 }' \
		"${BATS_TEST_FILENAME%/*}/../../doc/fleet.md" |
		sed "s|redis://cache/0|unix://$fleet_socket|" >example
	grep -q -- '--fleet-min 200' example
	mkdir bin
	printf '#!/bin/sh\necho "$@" >>"$CALLS"\n' >bin/docker
	cp bin/docker bin/curl
	printf '#!/bin/sh\nexec "$RETRY" "$@"\n' >bin/retry
	chmod +x bin/*
	CALLS=$PWD/calls PATH=$PWD/bin:$PATH bash -e example >out 2>err
	[ ! -s err ]
	[ "$(lines calls)" = 2 ]
	grep -q '^api  fleet ' out
}

@test "the account of the manual can do all that retry asks of the server" {
	[ -n "$FLEET_SERVER" ] || skip 'no redis-server or valkey-server here'
	fleet_start
	read -ra words < <(fleet_account)
	[ "$(fleet_cli "${words[@]}")" = OK ]
	secret retry:password
	told_server api
	"$RETRY" --budget-status api --fleet-auth auth \
		--fleet "unix://$fleet_socket?db=3" >out
	[ "$(awk '{ print $2, $9 }' out)" = 'SCOPE HOSTS
fleet 0' ]
	"$RETRY" --budget-status api --fleet-auth auth \
		--fleet "redis://retry@127.0.0.1:$fleet_port" >out
	[ "$(awk '{ print $2, $9 }' out)" = 'SCOPE HOSTS
fleet 3' ]
	"$RETRY" --budget-reset api --fleet "unix://$fleet_socket" \
		--fleet-auth auth
	[ -z "$(fleet_cli KEYS '*')" ]
}

#
# The report
#

@test "the report has the URL of the fleet, and null where it was not asked" {
	"$RETRY" -B api --fleet redis://host/2 --report seen true
	[ "$(field '["fleet"]')" = redis://host/2 ]
	[ "$(field '["attempts"][0]["fleet"]')" = None ]
	RETRY_FLEET=redis://host "$RETRY" --report seen true
	[ "$(field '["fleet"]')" = None ]
}

@test "the metrics have what the fleet said, if there is one" {
	"$RETRY" -B api --fleet redis://host --metrics job.prom true
	has_line 'retry_fleet_granted{name="job"} 0' job.prom
	has_line 'retry_fleet_denied{name="job"} 0' job.prom
	has_line 'retry_fleet_alone{name="job"} 0' job.prom
	"$RETRY" -B api --metrics job.prom true
	has_line 'retry_attempts{name="job"} 1' job.prom
	run -1 grep fleet job.prom
}
