#!/usr/bin/env bats
# Covers cli/options, fleet/link, show/budgets.
# What a user types and reads of a fleet: options, variables, refusals, and what
# is shown of the budget that a server keeps.

# shellcheck disable=SC2016,SC2034 # $ in single quotes is for others, and the rows

load helper
load budget
load fleet

setup() {
	helper_setup
	[ -z "$FLEET_SERVER" ] || fleet_share
	also=(touch ran)
	make_directory
}

teardown() {
	fleet_teardown
}

# taken WORD...: with these words the command is run.
taken() {
	try out=run -- "$@" echo run
}

# secret LINE [MODE]: makes the file auth, which only its owner can read.
secret() {
	printf '%s\n' "$1" >auth
	chmod "${2-600}" auth
}

# inside VARIABLE OPTION...: what the command has in this variable.
inside() {
	"$RETRY" "${@:2}" -- sh -c 'eval "echo \${$0-unset}"' "$1"
}

@test "a URL that is malformed or has a password is refused, and that is not shown" {
	local why='a URL with a password, which others can see; use --fleet-auth'
	local scheme='not a URL of redis://, rediss://, valkey://, valkeys:// or unix://'
	echo fleet=redis://app:pw@host >policy
	table refused <<-'END'
		"--fleet: $scheme: 'http://host'" -B api --fleet http://host
		"--fleet: $why: 'redis://***'" -B api --fleet redis://app:pw@host
		"./policy:1: fleet: $why: 'redis://***'" -B api --policy ./policy
		# A user needs one.
		"--fleet: a user, and no --fleet-auth: 'redis://app@host'" -B api --fleet redis://app@host
	END
	table with <<-'END'
		RETRY_FLEET=redis://app:pw@host refused "\$RETRY_FLEET: $why: 'redis://***'" -B api
		RETRY_FLEET=redis://app@host refused "\$RETRY_FLEET: a user, and no --fleet-auth: 'redis://app@host'" -B api
		RETRY_FLEET_AUTH=password taken -B api --fleet redis://app@host
	END
}

@test "options of a fleet are refused without a budget or without --fleet, and out of their range" {
	local option words=(-B api --fleet unix:///none)
	local time='not a time above 0, up to 1m' number='not a whole number up to 1000000'
	table <<-'END'
		refused "--fleet: only with --budget: 'redis://host'" --fleet redis://host
		refused "--fleet: only with --budget: 'redis://host'" -B '' --fleet redis://host
		# A variable does nothing, and an empty --fleet is none.
		with RETRY_FLEET=redis://host RETRY_FLEET_AUTH_FILE=none taken --report report && [ "$(values fleet)" = 'null null' ]
		taken --fleet ''
		refused "--fleet-timeout: $time: '0'" "${words[@]}" --fleet-timeout 0
		refused "--fleet-timeout: $time: '61s'" "${words[@]}" --fleet-timeout 61s
		refused "--fleet-min: $number: '1000001'" "${words[@]}" --fleet-min 1000001
		refused "--fleet-alone: $number: '1000001'" "${words[@]}" --fleet-alone 1000001
		refused "--fleet-ratio: not a ratio from 0 to 1000: '1001'" "${words[@]}" --fleet-ratio 1001
		with RETRY_FLEET_TIMEOUT=0 refused "\$RETRY_FLEET_TIMEOUT: $time: '0'" "${words[@]}"
		taken "${words[@]}" --fleet-timeout 1ms --fleet-min 0 --fleet-ratio 25% --fleet-alone 0
	END
	for option in auth timeout min ratio alone; do
		refused "--fleet-$option: only with --fleet: '1'" -B api "--fleet-$option" 1
		RETRY_FLEET=redis://host taken -B api "--fleet-$option" 1 --fleet ''
	done
}

@test "a file for the password that others can read, or that has none, is refused" {
	local words=(-B api --fleet redis://host --fleet-auth)
	local others="others can read it; use chmod o-r: 'auth'"
	mkfifo -m 600 fifo
	file() # file LINE MODE CMD...: CMD with a file that has this line
	{
		secret "$1" "$2" && "${@:3}"
	}
	table file <<-'END'
		password 604 refused "--fleet-auth: $others" "${words[@]}" auth
		password 604 with RETRY_FLEET_AUTH_FILE=auth refused "\$RETRY_FLEET_AUTH_FILE: $others" -B api --fleet redis://host
		password 640 taken "${words[@]}" auth
		'' 600 with RETRY_FLEET_AUTH= taken -B api --fleet redis://host
		'' 600 refused "--fleet-auth: No such file or directory: 'none'" "${words[@]}" none
		'' 600 refused "--fleet-auth: Is a directory: '.'" "${words[@]}" .
		'' 600 refused "--fleet-auth: not a file name: ''" "${words[@]}" ''
		'' 600 refused "--fleet-auth: not a regular file: 'fifo'" "${words[@]}" fifo
		"$(printf '%02000d' 0)" 600 refused "--fleet-auth: too long: 'auth'" "${words[@]}" auth
		other:password 600 refused "--fleet-auth: another user than in the URL: 'auth'" -B api --fleet redis://app@host --fleet-auth auth
		# A variable is not shown, and --fleet-auth goes before it.
		'' 600 with RETRY_FLEET_AUTH=app: refused "\$RETRY_FLEET_AUTH: not USER:PASSWORD: '***'" -B api --fleet redis://host
		password 600 with RETRY_FLEET_AUTH=app: taken "${words[@]}" auth
	END
}

@test "the options of a fleet are handed on as they were typed, a file as an absolute path" {
	secret app:hunter2
	local given=(-B api --fleet valkey://host/ --fleet-auth auth
		--fleet-timeout 0.5 --fleet-min 07
		--fleet-ratio 10% --fleet-alone 2)
	try -- "${given[@]}" env
	# The password is in no variable that was not there before.
	grep ^RETRY_FLEET out | sort | holds /dev/stdin RETRY_FLEET=valkey://host/ RETRY_FLEET_ALONE=2 \
		RETRY_FLEET_AUTH_FILE="$PWD/auth" RETRY_FLEET_MIN=07 RETRY_FLEET_RATIO=10% \
		RETRY_FLEET_TIMEOUT=0.5
	table gives 0 <<-'END'
		'' with RETRY_FLEET=redis://host inside RETRY_FLEET -B api --fleet ''
		"$PWD/auth" with RETRY_FLEET_AUTH_FILE=auth inside RETRY_FLEET_AUTH_FILE -B api --fleet redis://host
		app:hunter2 with RETRY_FLEET_AUTH=app:hunter2 inside RETRY_FLEET_AUTH -B api --fleet redis://host
	END
	cd budgets
	"$RETRY" -B api --fleet redis://host --fleet-auth ../auth -- \
		sh -c 'cd / && exec "$RETRY" true'
}

# Sets $fleet to the URL of a database of the row's own.
serve() {
	[ -n "$FLEET_SERVER" ] || skip 'no redis-server or valkey-server here'
	fleet_db=$((30 * BATS_TEST_NUMBER + row_number))
	fleet="unix://$fleet_socket?db=$fleet_db"
}

# told_server KEY: the server knows 20 of 40 retries, 200 successes, 3 hosts.
told_server() {
	local now
	now=$(fleet_cli TIME)
	now=${now%%$'\n'*}
	fleet_cli HSET "retry:1:$1" w 1000000 q 200000 m 5 e "$now" \
		"$((now % 64))" '20 200 3' R 20 S 200 H 3 x "$now"
}

# columns WANT [WORD]...: the first two columns and the last one of HOSTS that
# --budget-status prints, without the header.
columns() {
	local cells got=()
	try --budget-status "${@:2}"
	while read -ra cells; do
		got+=("${cells[*]:0:2} ${cells[5]}")
	done <out
	[ "${got[*]:1}" = "${1//$'\n'/ }" ] || {
		cat out
		return 1
	}
}

# field VALUE PATH: of the JSON in ./seen, as jq has it.
field() {
	gives 0 "$1" jq -r "$2" seen
}

# blocks_signals: the retry that start began blocks some signal. With a new glibc all
# are blocked before its exec, too.
blocks_signals() {
	local status
	IFS= read -rd '' status <"/proc/$pid/status" || :
	[[ $status =~ ^Name:[[:space:]]retry.*SigBlk:[[:space:]]*0*[1-9a-f] ]]
}

# fails LINE WORD...: retry --budget-status fails so, with what it shows in ./seen
fails() {
	try status=1 says="$1" --budget-status "${@:2}" && mv out seen
}

@test "--budget-status with --fleet shows what the server knows, too" {
	rows beside scene <<-'END'
	a second row, with a column for the scope and one for the hosts
	    serve
	    "$RETRY" -q -n 2 -d 0 -B api false || :
	    "$RETRY" -B web true
	    told_server api
	    told_server others
	    columns $'api host -\napi fleet 3' api --fleet "$fleet"
	    { read -ra head && read -ra host && read -ra fleet_row; } <out
	    [ "${head[*]:0:3} ${head[5]} ${host[2]}" = 'KEY SCOPE RETRIES HOSTS 1' ]
	    [ "${fleet_row[2]} ${fleet_row[4]} ${fleet_row[5]}" = '20 now 3' ]
	    columns $'api host -\napi fleet 3\nweb host -\nweb fleet 0' all --fleet "$fleet"
	    # A budget that only other hosts have.
	    columns 'others fleet 3' others --fleet "$fleet"
	    "$RETRY" --budget-status others --fleet "$fleet" --json >seen
	    field 'null null 20' '"\(.retries) \(.gate.state) \(.fleet.retries)"'
	to ask takes nothing and changes nothing
	    serve
	    told_server api
	    fleet_cli DUMP retry:1:api >before
	    "$RETRY" --budget-status api --fleet "$fleet" --fleet-min 1
	    fleet_cli DUMP retry:1:api | diff before -
	    fleet_cli FLUSHDB
	    "$RETRY" --budget-status all --fleet "$fleet" --budget-min 1
	    [ -z "$(fleet_cli KEYS '*')" ]
	in JSON and metrics, what the server knows, and the host of the server
	    serve
	    "$RETRY" -B api true
	    told_server api
	    "$RETRY" --budget-status api --fleet "$fleet" --json >seen
	    field "20 3 5 0.2 60 $fleet null 0 1" '"\(.fleet | "\(.retries) \(.hosts) \(.min) \(.ratio) \(.window_seconds) \(.url)") \(.error) \(.on_host.alone) \(.totals.firsts)"'
	    "$RETRY" --budget-status api --prom | grep -v '_seconds{' >before
	    "$RETRY" --budget-status api --fleet "$fleet" --prom >seen
	    mapfile -t before <before
	    for line in "${before[@]}"; do
	        has_line "$line" seen
	    done
	    has_line 'retry_fleet_window_retries{key="api"} 20' seen
	    has_line 'retry_fleet_hosts{key="api"} 3' seen
	    has_line 'retry_fleet_up{key="api"} 1' seen
	if the server does not answer, the host's row, null, and why
	    fleet=unix://$PWD/none
	    why='no connection: No such file or directory'
	    unasked="fleet '$fleet': cannot be asked: $why"
	    "$RETRY" -B api true
	    fails "$unasked" api --fleet "$fleet"
	    mapfile -t seen <seen
	    [[ ${#seen[@]} -eq 2 && $seen == 'KEY '* && ${seen[1]} == 'api  host '* ]]
	    fails "$unasked" api --fleet "$fleet" --json
	    field "null $why 1" '"\(.fleet) \(.error) \(.totals.firsts)"'
	    fails "$unasked" api --fleet "$fleet" --prom
	    has_line 'retry_fleet_up{key="api"} 0' seen
	    has_line 'retry_fleet_on_host_unasked_seconds{key="api"} 0' seen
	    [[ $(<seen) != *'retry_fleet_hosts{'* ]]
	    "$RETRY" -q -n 2 -d 0 -B api --fleet "$fleet" false || :
	    fails "$unasked" api --fleet "$fleet" --prom
	    has_line 'retry_fleet_on_host_alone{key="api"} 1' seen
	    has_line 'retry_fleet_on_host_denied_seconds{key="api"} 0' seen
	    try status=1 says="*budget 'none': no such budget in $RETRY_BUDGET_DIR*" \
	        --budget-status none --fleet "$fleet"
	if it is silent, an end after --fleet-timeout, and at once by Ctrl-C
	    fleet_by 'exec sleep 60'
	    "$RETRY" -B api true
	    fails "fleet 'rediss://any': cannot be asked: no answer in 100ms" all \
	        --fleet rediss://any --fleet-timeout 100ms
	    start "$RETRY" --budget-status api --fleet rediss://any --fleet-timeout 1m
	    wait_for blocks_signals
	    ended_by INT
	END
}

@test "what a server keeps can be reached, forgotten and forecast" {
	rows row scene <<-'END'
	the account of the manual can do all, and its password is never shown
	    serve
	    read -ra words < <(fleet_account)
	    [ "$(fleet_cli "${words[@]}")" = OK ]
	    secret retry:password
	    told_server api
	    columns 'api fleet 3' api --fleet-auth auth --fleet "$fleet"
	    RETRY_FLEET_AUTH=retry:password columns 'api fleet 3' api --fleet "$fleet"
	    secret password
	    columns 'api fleet 3' api --fleet-auth auth \
	        --fleet "redis://retry@127.0.0.1:$fleet_port/$fleet_db"
	    secret retry:wrong-one
	    try status=1 says='*cannot be asked: refused: WRONGPASS*' \
	        -v --budget-status api --fleet "$fleet" --fleet-auth auth
	    not grep wrong-one err
	    secret retry:password
	    "$RETRY" --budget-reset api --fleet "$fleet" --fleet-auth auth
	    [ -z "$(fleet_cli KEYS '*')" ]
	--budget-reset clears the server's budget with --fleet only
	    serve
	    "$RETRY" -B api true
	    told_server api
	    told_server web
	    "$RETRY" --budget-reset api
	    [ "$(fleet_cli EXISTS retry:1:api retry:1:web)" = 2 ]
	    "$RETRY" -B api true
	    try says="budget 'api': reset|fleet '$fleet': reset" -v --budget-reset api --fleet "$fleet"
	    [ "$(fleet_cli KEYS '*')" = retry:1:web ]
	    "$RETRY" -B api true
	    try status=1 says="fleet 'unix://$PWD/none': cannot be reset: no connection: *" \
	        --budget-reset api --fleet "unix://$PWD/none"
	    fails "budget 'api': no such budget in $PWD/budgets" api # all the same
	END
}

@test "the example of doc/fleet.md works with a server that has its password" {
	[ -n "$FLEET_SERVER" ] || skip 'no redis-server or valkey-server here'
	fleet_start --requirepass secret
	export REDISCLI_AUTH=secret
	awk '/^```/ { inside = 0 } inside; /^```shell$/ { inside = 1 }' \
		"${BATS_TEST_FILENAME%/*}/../../doc/fleet.md" |
		sed "s|redis://cache/0|$fleet_url|" >example
	[[ $(<example) == *'--fleet-min 200'* ]]
	mkdir bin
	for tool in docker curl; do
		printf '#!/bin/sh\necho "$@" >>"$CALLS"\n' >"bin/$tool"
	done
	printf '#!/bin/sh\nexec "$RETRY" "$@"\n' >bin/retry
	chmod +x bin/*
	CALLS=$PWD/calls PATH=$PWD/bin:$PATH bash -e example >out 2>err
	[ ! -s err ]
	[ "$(lines calls)" = 2 ]
	grep -q '^api  fleet ' out
}
