#!/usr/bin/env bats
# Covers fleet/link, fleet/helper.
# A budget that many hosts share by a server. Here a host is a directory of
# budgets. Whatever the server does, the command runs, and its status is right.
# shellcheck disable=SC2034 # what is set here, budget.bash and the rows read

load helper
load actor
load budget
load fleet

setup() {
	fleet_setup
	fleet_share
	fails=(sh -c 'echo >>ran; exit 7')
}

teardown() {
	fleet_teardown
}

# hosts CODE: evaluates CODE, a row of `rows`, with three hosts and a database of
# its own
hosts() {
	mkdir one two three
	api=$PWD/one/retry-v6.$EUID.api
	fleet_db=$((30 * BATS_TEST_NUMBER + row_number))
	url="unix://$fleet_socket?db=$fleet_db"
	to_server="exec bash -c 'exec 5<>/dev/tcp/127.0.0.1/$fleet_port; cat <&5 & cat >&5'"
	eval "$1"
}

# on HOST CHECK... [OPTION]... COMMAND: a try of the host, in the fleet.
on() {
	usual=(-B api --budget-dir "$1" -d 0 --fleet "$url" --fleet-timeout 5s)
	try "${@:2}"
}

# fails HOST N SAYS [OPTION]...: the host fails, although it may make N attempts. SAYS is
# what it says of the fleet, '' for nothing, '*' for whatever it says.
fails() {
	: >ran
	on "$1" status=7 -n "$2" "${@:4}" -- "${fails[@]}"
	[ "$3" = '*' ] || warned ${3:+"$3"}
}

# retries HOST N SAYS [OPTION]...: the same, and it makes N retries.
retries() {
	fails "$1" "$(($2 + 1))" "${@:3}"
	ran "$(($2 + 1))"
}

# refuses HOST WHY: the server refuses with WHY, a pattern.
refuses() {
	fails "$1" 2 "refused: $2; this host alone, 1 retry in 60s"
}

# stored FIELD VALUE...: the server's budget has these numbers
stored() {
	local fields=() values=() got
	while [ $# -gt 0 ]; do
		fields+=("$1") values+=("$2")
		shift 2
	done
	got=$(fleet_cli HMGET retry:1:api "${fields[@]}")
	[ "${got//$'\n'/ }" = "${values[*]}" ]
}

# warned LINE...: these lines, patterns of bash, are about the fleet, and no
# others
warned() {
	local line bad=0
	while IFS= read -r line; do
		[[ $line == 'retry: fleet '* ]] || continue
		# shellcheck disable=SC2053 # it is a pattern
		[[ $# -gt 0 && $line == "retry: fleet '$url': "$1 ]] || bad=1
		shift || :
	done <err
	[ "$#$bad" = 00 ] || {
		cat err
		return 1
	}
}

# asks HOST TIMEOUT [OPTION]...: starts a retry, and waits until it asks
asks() {
	local words=(-B api --budget-dir "$1" --budget-window 1h --fleet "$url")
	: >ran
	start "$RETRY" "${words[@]}" -d 0 -n 2 --fleet-timeout "${@:2}" -- "${fails[@]}"
	wait_for is_connected
}

is_connected() {
	local fd
	[ -s ran ] || return
	for fd in "/proc/$pid/fd/"*; do
		[ ! -S "$fd" ] || return 0
	done
	return 1
}

@test "the hosts of a fleet share one budget" {
	rows beside hosts <<-'END'
	what one has used, another one has not
	    retries one 2 '' --fleet-min 3
	    unix=$url url=redis://localhost:$fleet_port/$fleet_db
	    fails two 5 'budget '\''api'\'': exhausted, 3 of 3 retries used in 60s by 2 hosts, ask again in about *; giving up (--budget-wait waits for it)' \
	        --fleet-min 3 -t 20s -T 60s
	    url=$unix
	    fails one 5 '*' --fleet-min 3
	    stored R 3 H 2
	a host is one host, whatever its limits, and however the URL is written
	    url=redis://127.0.0.1:$fleet_port/$fleet_db
	    retries one 1 '' --fleet-min 20
	    url=valkey://127.0.0.1:$fleet_port/$fleet_db
	    retries one 1 '' --fleet-min 30
	    retries one 1 '' --fleet-min 20 --fleet-ratio 1
	    stored R 3 H 1
	many processes of a host share what the server grants
	    for _ in {1..10}; do
	        "$RETRY" -B api --budget-dir one -q -d 0 \
	            --fleet "$url" --fleet-timeout 9s --fleet-min 4 \
	            --budget-min 100 -n 2 -- sh -c 'echo >>ran; exit 1' 3>&- &
	    done
	    wait
	    mapfile -t ran <ran
	    ((10 < ${#ran[@]} && ${#ran[@]} <= 14))
	    (($(fleet_cli HGET retry:1:api R) <= 4))
	    stored H 1
	but each its own --rate, and what a server has asked it
	    refused=(sh -c 'printf "HTTP/1.1 429\r\nRetry-After: 60\r\n\r\n" >status; exit 22')
	    on one status=7 -n 1 --rate 1/1h -- "${fails[@]}"
	    on two status=22 -n 1 --rate 1/1h --http-status status -- "${refused[@]}"
	    on three status=22 -n 1 --http-status status -- "${refused[@]}"
	    "$RETRY" --budget-status --json --budget-dir three | grep -q '"held_seconds": [56]'
	    "$RETRY" --budget-status --json --budget-dir one | grep -q '"held_seconds": 0[,.]'
	    works=(sh -c 'echo >>ran')
	    on two status=75 runs=0 says='*; command not run' --rate 1/1h -T 9 -- "${works[@]}"
	    on one status=75 runs=0 says='*a place at --rate 1/h in *; command not run' -T 9 -- "${works[@]}"
	    stored R ''
	a retry that succeeds is paid back, and the next host may retry
	    for host in one two; do
	        on "$host" -n 2 --fleet-min 1 --fleet-ratio 0 --budget-min 1 \
	            -- sh -c 'test "$RETRY_ATTEMPT" = 2'
	        warned
	        wait_for stored R 0
	    done
	    retries two 1 '' --fleet-min 1
	    stored R 1
	    fails one 2 '*exhausted, 1 of 1 *; giving up (--budget-wait*' --fleet-min 1
	--budget-wait waits for the fleet
	    retries one 1 '' --fleet-min 1 --budget-window 4s
	    on two -n 2 --fleet-min 1 --budget-window 4s --budget-wait 25s -- \
	        sh -c 'test "$RETRY_ATTEMPT" = 2'
	    warned '*exhausted, 1 of 1 retries used in 4s by *; waiting'
	a budget that cannot be used on the host still asks the fleet
	    chmod 777 one
	    retries one 1 '' --fleet-min 1
	    fails one 3 '*exhausted, 1 of 1 *; giving up (--budget-wait*' --fleet-min 1
	the report and the metrics have what the fleet said
	    counts() # counts GRANTED DENIED ALONE
	    {
	        holds <(sed -n 's/^retry_fleet_//p' m.prom) "granted{name=\"m\"} $1" \
	            "denied{name=\"m\"} $2" "alone{name=\"m\"} $3"
	    }
	    fails one 3 '*' --fleet-min 1 --report report --metrics m.prom
	    [ "$(values fleet)" = "$url granted denied" ]
	    counts 1 1 0
	    # Nobody asks it before a first attempt.
	    fails one 1 '*' --report report
	    [ "$(values fleet)" = "$url null" ]
	    url=unix://$PWD/none
	    fails three 2 '*' --metrics m.prom
	    counts 0 0 1
	without --fleet no word of a fleet is touched
	    is 0 "$RETRY" -B api --budget-dir one --breaker on -n 2 -d 0 -- \
	        sh -c 'test "$RETRY_ATTEMPT" = 2'
	    mapfile -d '' -t bytes < <(tail -c 576 "$api")
	    printf -v bytes '%s' "${bytes[@]}"
	    [ "${#bytes[@]}$bytes" = 576 ]
	END
}

@test "the server is told of successes" {
	rows beside hosts <<-'END'
	that of a retry that was granted, by that retry
	    on one -n 2 -- sh -c 'test "$RETRY_ATTEMPT" = 2'
	    wait_for stored S 1
	    fails one 1 '*'
	    stored S 1
	those so far, by the first question of a host
	    for _ in 1 2; do
	        "$RETRY" -B api --budget-dir one -- true
	    done
	    # Its first attempt ends before the connection stands.
	    fleet_by "sleep 0.3; $to_server"
	    url=rediss://any/$fleet_db
	    on one status=7 -n 2 -- "${fails[@]}"
	    warned
	    stored S 2 R 1 H 1
	by no system call, unless a retry is due
	    command -v strace >/dev/null || exit 0
	    export RETRY_FLEET=
	    # Not those that depend on when the command ends, or on how memory is
	    # allocated.
	    sent()
	    {
	        strace -qq -o trace "$RETRY" -B api --budget-dir one \
	            --budget-window 1h "$@" -- true 3>&-
	        sed 's/(.*//' trace | sort |
	            grep -vE '^(---|.*sig(return|pending)|.*map|brk|ppoll|read|waitid)' >calls
	    }
	    sent
	    sent --fleet "$url"
	    mv calls with
	    sent
	    diff calls with
	END
}

@test "a host whose server does not answer is alone" {
	rows beside hosts <<-'END'
	it makes its share, and says so once
	    url=unix://$PWD/none
	    retries one 1 '*'
	    fails two 5 '*'
	    warned 'no connection: No such file or directory; this host alone, 1 retry in 60s' \
	        'no answer lately; this host alone, 1 retry in 60s, ask again in about *; giving up (--budget-wait waits for it)'
	    retries three 3 'no connection: *; this host alone, 3 retries in 60s' --fleet-alone 3
	    api=${api/one/three}
	    older -50 # so the pause lasts
	    fails three 5 'no answer lately; this host alone, 3 retries in 60s, ask again in about *; giving up (--budget-wait waits for it)' \
	        --fleet-alone 3
	it tells of its retries after its pause, and they count
	    url="unix://$PWD/later?db=$fleet_db"
	    retries one 1 '*' --fleet-min 90
	    ln -s "$fleet_socket" later
	    older 2
	    retries one 1 '' --fleet-min 90
	    stored R 2
	what is no answer counts as none
	    fleet_by 'echo HTTP/1.1 400 Bad Request; exec cat >asked'
	    url=rediss://any
	    retries one 1 'no valid answer; this host alone, 1 retry in 60s'
	what the server refuses, too
	    fleet_cli SET retry:1:api text
	    refuses three 'WRONGTYPE Operation against a key holding the wrong kind of value'
	what Redis up to 6 says of an error in a script is shown whole
	    printf -v said 'ERR Error running script (call to f_%040d): @user_script:107: @user_script: 107: -MISCONF %0335d' 7 1
	    fleet_by "printf '%s\\r\\n' '-$said'; exec cat >asked"
	    url=rediss://any
	    refuses one "$said"
	with --budget-required nothing runs before the server has answered
	    on one --budget-required -- touch answered
	    [ -e answered ]
	    RETRY_FLEET_AUTH=nobody:no on two status=69 --budget-required -- touch began
	    warned 'refused: WRONGPASS *; command not run'
	    url=unix://$PWD/none
	    on one status=69 --budget-required -q -- touch began
	    warned 'no connection: *; command not run'
	    [ ! -e began ]
	nor where the server can grant nothing, whatever there is to tell, as --budget-status says
	    fleet_cli ACL SETUSER half on '>no' '~retry:*' -@all \
	        +evalsha +eval +select +time +hmget +hget +pexpire >half
	    export RETRY_FLEET_AUTH=half:no
	    why='refused: ERR * command*'
	    for _ in nothing something; do
	        on one status=69 --budget-required -- touch began
	        warned "$why; command not run"
	        try status=1 --budget-dir one --budget-status api --fleet "$url"
	        warned "cannot be asked: $why"
	        is 0 "$RETRY" -B api --budget-dir one true
	    done
	    [ ! -e began ]
	    [ "$(fleet_cli EXISTS retry:1:api)" = 0 ]
	a signal ends retry while it asks, and another process may ask at once
	    fleet_by 'exec sleep 60'
	    url=rediss://any
	    asks one 1m
	    ended_by TERM
	    retries one 1 'no answer in 100ms; *' --fleet-timeout 100ms
	the deadline ends a question, and the server is not to blame
	    fleet_by 'exec sleep 60'
	    url=rediss://any
	    on one status=7 -T 3s -n 2 --fleet-timeout 1m -- "${fails[@]}"
	    told 'retry: giving up before attempt 2: .*deadline.*'
	    warned
	    retries one 1 'no answer in 100ms; *' --fleet-timeout 100ms
	END
}

# greets LINE: a command needs the server's answer, but the first question stops retry
# for longer than it may take. The line serves the second one.
greets() {
	fleet_by "[ ! -e asked ] || $1; >asked; kill -STOP \$PPID; exec sleep 60"
	url=rediss://any/$fleet_db
	start "$RETRY" -B api --budget-dir one --fleet "$url" --fleet-timeout 1s \
		--budget-required -- touch began
	wait_for state T "$pid"
	sleep 2.5
	kill -CONT "$pid"
}

# bats test_tags=slow
@test "with --budget-required a retry that was stopped asks once more" {
	rows beside hosts <<-'END'
	without an answer nothing runs
	    greets 'exec sleep 60'
	    ended 69
	    warned 'no answer in 1s; command not run'
	    [ ! -e began ]
	after an answer the command runs
	    greets "$to_server"
	    ended 0
	    warned
	    [ -e began ]
	END
}

# other WORD...: sends a request to the other server of a cluster.
other() {
	"${FLEET_SERVER%server}cli" -s other.socket "$@"
}

# bats test_tags=slow
@test "a cluster says which of its servers has the budget" {
	local cluster=(--cluster-enabled yes --cluster-config-file) one slot words
	local port
	port=$(fleet_free_port)
	mkdir one two database socket
	fleet_start "${cluster[@]}" first.conf
	one=redis://127.0.0.1:$fleet_port
	url=$one/1 refuses database 'ERR @(SELECT is not allowed in cluster mode|DB index is out of range)'
	fleet_cli CLUSTER ADDSLOTS {0..16383} >ok
	start "$FLEET_SERVER" --bind 127.0.0.1 --port "$port" \
		--save '' --unixsocket "$PWD/other.socket" --dir "$PWD" "${cluster[@]}" other.conf
	wait_for other PING
	other CLUSTER MEET 127.0.0.1 "$fleet_port"
	for words in other fleet_cli; do
		"$words" -r 200 -i 0.1 CLUSTER INFO | grep -qm 1 cluster_state:ok
	done
	url=redis://127.0.0.1:$port # MOVED
	retries one 2 ''
	stored R 2
	url=unix://$PWD/other.socket # a socket leads to one server only
	refuses socket 'MOVED *'
	fleet_cli DEL retry:1:api
	slot=$(fleet_cli CLUSTER KEYSLOT retry:1:api)
	other CLUSTER SETSLOT "$slot" IMPORTING "$(fleet_cli CLUSTER MYID)"
	fleet_cli CLUSTER SETSLOT "$slot" MIGRATING "$(other CLUSTER MYID)"
	url=$one # ASK
	retries two 2 ''
	read -ra words < <(fleet_account)
	fleet_cli "${words[@]}" && other "${words[@]}" || skip 'this server has no ACL'
	RETRY_FLEET_AUTH=retry:password retries two 1 ''
	[ "$(fleet_cli CLUSTER COUNTKEYSINSLOT "$slot")" = 0 ]
	[ "$(other CLUSTER COUNTKEYSINSLOT "$slot")" = 1 ]
}
