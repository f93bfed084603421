# shellcheck shell=bash
# For tests with a fleet's server: redis-server, or valkey-server, as it is
# installed. The server is the test's own, and keeps nothing on disk.
#
#     FLEET_SERVER      the program; empty where there is none
#     fleet_start [OPTION VALUE]...
#                       starts it with these options, such as --port 0; sets
#                       $fleet_pid, $fleet_socket, $fleet_port and $fleet_url. It
#                       listens on a socket in the current directory, and on a
#                       free port of 127.0.0.1
#     fleet_share       the same, but one server for all tests of a file that leave
#                       it as it is, where each has a database of its own
#     fleet_stop        ends it by SIGKILL
#     fleet_free_port   prints a port that nobody has; nor one 10000 higher, which
#                       a server of a cluster takes, too
#     fleet_cli WORD... sends it a request, and prints the reply
#     fleet_by LINE     the way to a server with TLS is this line of sh, which takes
#                       the place of openssl
#     fleet_account     prints the request of the manual that makes the account
#                       "retry" with the password "password"
#
# In a bats file, after helper: setup() calls fleet_setup, which skips the test
# where there is no server; teardown() calls fleet_teardown.

: "${FLEET_SERVER=$(command -v redis-server || command -v valkey-server)}"
fleet_pid=
fleet_db=0

fleet_setup() {
	helper_setup
	# Nothing leaves it while a slow machine runs a test that names no window.
	export RETRY_BUDGET_WINDOW=60s
	[ -n "$FLEET_SERVER" ] || skip 'no redis-server or valkey-server here'
}

fleet_teardown() {
	local got=0
	helper_teardown || got=1 # rows beside may still use the server
	fleet_stop
	return "$got"
}

# A port may be taken before the server binds it: then another one is tried.
# shellcheck disable=SC2120 # most tests need no option
fleet_start() {
	local tries
	fleet_stop
	fleet_socket=$PWD/fleet.socket
	for tries in {1..20}; do
		fleet_port=$((20000 + RANDOM % 12000))
		rm -f "$fleet_socket"
		"$FLEET_SERVER" --bind 127.0.0.1 --port "$fleet_port" \
			--unixsocket "$fleet_socket" --save '' --appendonly no --dir "$PWD" "$@" \
			>>fleet.log 2>&1 3>&- &
		fleet_pid=$!
		fleet_db=0
		fleet_url=unix://$fleet_socket
		fleet_up && return
		fleet_stop
	done
	cat fleet.log >&2
	echo "the server does not start after $tries tries" >&2
	return 1
}

fleet_share() {
	local place=$PWD
	cd "$BATS_FILE_TMPDIR" || return
	if [ ! -e fleet ]; then
		fleet_start --databases 1000 || return
		echo "$fleet_pid $fleet_port" >fleet
	fi
	cd "$place" || return
	read -r _ fleet_port <"$BATS_FILE_TMPDIR/fleet"
	fleet_socket=$BATS_FILE_TMPDIR/fleet.socket
	fleet_db=$BATS_TEST_NUMBER
	# shellcheck disable=SC2034 # the tests read it
	fleet_url="unix://$fleet_socket?db=$fleet_db"
	fleet_pid=
}

teardown_file() {
	[ ! -e "$BATS_FILE_TMPDIR/fleet" ] || {
		read -r fleet_pid _ <"$BATS_FILE_TMPDIR/fleet"
		fleet_stop
	}
}

# Waits until the server answers, or has ended.
fleet_up() {
	local tries
	for tries in {1..400}; do
		[ ! -S "$fleet_socket" ] || ! fleet_cli PING || return 0
		kill -0 "$fleet_pid" || return
		sleep 0.05
	done >/dev/null 2>&1
	return 1
}

fleet_free_port() {
	"$PYTHON" -IS -c 'import socket
while True:
    one, other = socket.socket(), socket.socket()
    one.bind(("127.0.0.1", 0))
    port = one.getsockname()[1]
    try:
        other.bind(("127.0.0.1", port + 10000))
        print(port)
        break
    except (OSError, OverflowError):
        pass'
}

fleet_stop() {
	[ -n "$fleet_pid" ] || return 0
	kill -KILL "$fleet_pid" || :
	wait "$fleet_pid" || :
	fleet_pid=
} 2>/dev/null

fleet_account() {
	sed -n '/^ACL SETUSER/,/^\.Ed/p' "${BATS_TEST_FILENAME%/*}/../../man/retry-fleet.7" |
		sed '/^\.Ed/d; s/\\e$//; s/\\(ti/~/; s/\\-/-/g' | xargs
}

fleet_by() {
	mkdir -p bin
	printf '#!/bin/sh\n%s\n' "$1" >bin/openssl
	chmod +x bin/openssl
	PATH=$PWD/bin:$PATH
}

fleet_cli() {
	"${FLEET_SERVER%server}cli" -s "$fleet_socket" -n "$fleet_db" "$@"
}
