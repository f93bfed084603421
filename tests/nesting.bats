#!/usr/bin/env bats
# What an attempt is told through its environment, and what a retry inside it
# makes of that.
# shellcheck disable=SC2016 # the commands' shells expand
# shellcheck disable=SC2154 # run and start set what is read here

load helper

# A deadline is BOOTID:TIMENS-INODE:BOOTTIME-NS, boot time being nanoseconds of
# CLOCK_BOOTTIME.
shape='^[0-9a-f-]{36}:[0-9]+:[0-9]+$'

# told NAME [OPTION]... COMMAND...: prints what each attempt saw in NAME,
# "unset" if it was; attempts fail with status 7
told()
{
	local name=$1
	shift
	"$RETRY" -q -d 0 "$@" sh -c "echo \"\${$name-unset}\"; exit 7" || :
}

# deadline OPTION...: the value of RETRY_DEADLINE that these options give
deadline()
{
	told RETRY_DEADLINE -n 1 "$@"
}

# under SCRIPT: runs SCRIPT in an attempt of a retry that has 100 s to
# its deadline; in it, $boot, $space and $end are the parts of RETRY_DEADLINE
under()
{
	run --separate-stderr timeout 20 "$RETRY" -n 1 -T 100 bash -c '
		IFS=: read -r boot space end <<<"$RETRY_DEADLINE"
		[ "$end" -gt 0 ] || exit 99
		'"$1"
}

#
# What an attempt is told
#

@test "RETRY_ATTEMPT counts from 1" {
	[ "$(told RETRY_ATTEMPT -n 3)" = $'1\n2\n3' ]
}

@test "RETRY_MAX_ATTEMPTS is the number of attempts in all" {
	[ "$(told RETRY_MAX_ATTEMPTS -n 2)" = $'2\n2' ]
	[ "$(told RETRY_MAX_ATTEMPTS --stop-on 7)" = 4 ]
	[ "$(told RETRY_MAX_ATTEMPTS --retries 5 --stop-on 7)" = 6 ]
}

@test "RETRY_MAX_ATTEMPTS is inf where there is no cap" {
	[ "$(told RETRY_MAX_ATTEMPTS -n inf --stop-on 7)" = inf ]
	[ "$(told RETRY_MAX_ATTEMPTS -T 20 --stop-on 7)" = inf ]
	[ "$(told RETRY_MAX_ATTEMPTS -T 20 -n 3 --stop-on 7)" = 3 ]
}

@test "RETRY_LAST_STATUS is unset on the first attempt, then the last status" {
	[ "$(told RETRY_LAST_STATUS -n 3)" = $'unset\n7\n7' ]
	run -0 "$RETRY" -q -n 4 -d 0 sh -c 'echo "${RETRY_LAST_STATUS-unset}"
		[ "$RETRY_ATTEMPT" -eq 4 ] || exit "$RETRY_ATTEMPT"'
	[ "$output" = $'unset\n1\n2\n3' ]
}

@test "RETRY_LAST_STATUS is 128+n after a signal and 124 after a timeout" {
	run -0 "$RETRY" -q -n 3 -d 0 -t 300ms sh -c 'echo "${RETRY_LAST_STATUS-unset}"
		case $RETRY_ATTEMPT in
		1) kill -KILL $$ ;;
		2) exec sleep 20 ;;
		esac'
	[ "$output" = $'unset\n137\n124' ]
}

@test "RETRY_LAST_STATUS of another retry does not reach a first attempt" {
	[ "$(RETRY_LAST_STATUS=9 told RETRY_LAST_STATUS -n 2)" = $'unset\n7' ]
}

@test "RETRY_ATTEMPT and RETRY_MAX_ATTEMPTS of another retry are replaced" {
	run -0 env RETRY_ATTEMPT=9 RETRY_MAX_ATTEMPTS=9 "$RETRY" -n 2 env
	[ "$(grep -c '^RETRY_ATTEMPT=' <<<"$output")" -eq 1 ]
	[ "$(grep -c '^RETRY_MAX_ATTEMPTS=' <<<"$output")" -eq 1 ]
	grep -qx 'RETRY_ATTEMPT=1' <<<"$output"
	grep -qx 'RETRY_MAX_ATTEMPTS=2' <<<"$output"
}

@test "a name that only begins like one of ours is the user's" {
	run -0 env RETRY_ATTEMPTS=a RETRY_LAST_STATUS_=b RETRY=c RETRY_=d \
	    "$RETRY" env
	for own in RETRY_ATTEMPTS=a RETRY_LAST_STATUS_=b RETRY=c RETRY_=d; do
		grep -qx "$own" <<<"$output"
	done
}

#
# Depth
#

@test "RETRY_DEPTH is 1 in the command and one more in each retry below" {
	[ "$(told RETRY_DEPTH -n 2)" = $'1\n1' ]
	run -0 "$RETRY" "$RETRY" sh -c 'echo "$RETRY_DEPTH"'
	[ "$output" = 2 ]
	run -0 "$RETRY" sh -c '"$RETRY" "$RETRY" sh -c "echo \$RETRY_DEPTH"
		echo "$RETRY_DEPTH"'
	[ "$output" = $'3\n1' ]
}

@test "a malformed RETRY_DEPTH is ignored" {
	for depth in '' x -1 1x ' 1' 0x1 1.0; do
		[ "$(RETRY_DEPTH=$depth told RETRY_DEPTH -n 1)" = 1 ]
	done
}

@test "RETRY_DEPTH never overflows" {
	for depth in 2147483647 9223372036854775807 99999999999999999999; do
		depth=$(RETRY_DEPTH=$depth told RETRY_DEPTH -n 1)
		[[ $depth =~ ^[1-9][0-9]*$ ]]
	done
}

@test "attempts are counted by each retry for itself" {
	run -7 "$RETRY" -q -n 2 -d 0 sh -c '"$RETRY" -q -n 3 -d 0 \
		sh -c "echo \$RETRY_ATTEMPT/\$RETRY_MAX_ATTEMPTS; exit 7"'
	[ "$output" = $'1/3\n2/3\n3/3\n1/3\n2/3\n3/3' ]
}

#
# The deadline
#

@test "RETRY_DEADLINE is there only with a deadline" {
	[ "$(told RETRY_DEADLINE -n 1)" = unset ]
	[ "$(told RETRY_DEADLINE -n 1 -t 10)" = unset ]
	[ "$(told RETRY_DEADLINE -n 1 -T 0)" = unset ]
	[[ $(told RETRY_DEADLINE -n 1 -T 10) =~ $shape ]]
}

@test "RETRY_DEADLINE names this boot, this time namespace and the instant" {
	IFS=: read -r boot space end < <(deadline -T 1000)
	[ "$boot" = "$(</proc/sys/kernel/random/boot_id)" ]
	[ "$space" = "$(stat -Lc %i /proc/self/ns/time)" ]
	"$PYTHON" - "$end" <<-'END'
		import sys, time
		left = int(sys.argv[1]) / 1e9 - time.clock_gettime(time.CLOCK_BOOTTIME)
		print(left)
		assert 900 < left < 1000
	END
}

@test "RETRY_DEADLINE is the same for every attempt" {
	mapfile -t seen < <(told RETRY_DEADLINE -n 3 -T 100)
	[ "${#seen[@]}" -eq 3 ]
	[[ ${seen[0]} =~ $shape ]]
	[ "${seen[0]}" = "${seen[2]}" ]
}

@test "an inner retry takes the outer deadline where that is the nearer" {
	for inner in '' '-T 200' '-T 1000d'; do
		under 'echo "$RETRY_DEADLINE"
			"$RETRY" '"$inner"' sh -c "echo \$RETRY_DEADLINE"'
		[ "$status" -eq 0 ]
		[[ ${lines[0]} =~ $shape ]]
		[ "${lines[0]}" = "${lines[1]}" ]
	done
}

@test "an inner retry keeps its own deadline where that is the nearer" {
	under 'echo "$end"; "$RETRY" -T 10 sh -c "echo \$RETRY_DEADLINE"'
	[ "$status" -eq 0 ]
	[[ ${lines[1]} =~ $shape ]]
	inner=${lines[1]##*:}
	[ "$inner" -lt "${lines[0]}" ]
	[ $((lines[0] - inner)) -gt 80000000000 ]
}

@test "an inherited deadline ends an attempt as one's own would" {
	began=$(now)
	under 'RETRY_DEADLINE=$boot:$space:$((end - 99600000000))
		export RETRY_DEADLINE
		"$RETRY" -T 50 sleep 20'
	[ "$status" -eq 124 ]
	[ $(($(now) - began)) -ge 390 ]
	[[ ${stderr_lines[0]} == 'retry: attempt 1 ended by the deadline after '*', giving up: deadline' ]]
}

@test "an inherited deadline keeps a delay that would pass it from beginning" {
	under '"$RETRY" -d 200 -j none sh -c "exit 7"'
	[ "$status" -eq 7 ]
	[ "${stderr_lines[0]}" = 'retry: attempt 1/4 failed (exit 7), giving up: deadline' ]
}

@test "an inherited deadline leaves the number of attempts alone" {
	under '"$RETRY" sh -c "echo \$RETRY_MAX_ATTEMPTS"'
	[ "$status" -eq 0 ]
	[ "$output" = 4 ]
}

@test "where the inherited deadline is past, nothing runs and it is 124" {
	for end in 0 1 '$((end - 100000000000 - 1))'; do
		under 'RETRY_DEADLINE=$boot:$space:'"$end"'
			export RETRY_DEADLINE
			"$RETRY" -T 50 touch ran'
		[ "$status" -eq 124 ]
		[ ! -e ran ]
		[ "${stderr_lines[0]}" = 'retry: giving up before attempt 1: deadline' ]
	done
}

@test "-v and -q go for a deadline that is past as for any other end" {
	under 'RETRY_DEADLINE=$boot:$space:1 "$RETRY" -v touch ran'
	[ "$status" -eq 124 ]
	[ "${stderr_lines[0]}" = 'retry: giving up before attempt 1: deadline' ]
	[[ ${stderr_lines[1]} == 'retry: ended after 0 attempts in '*': deadline' ]]
	under 'RETRY_DEADLINE=$boot:$space:1 "$RETRY" -q touch ran'
	[ "$status" -eq 124 ]
	[ ! -e ran ]
}

@test "the deadline of another boot or another time namespace is ignored" {
	under 'export RETRY_DEADLINE
		RETRY_DEADLINE=$(tr 0-9a-f 1-9a-f0 <<<"$boot"):$space:1
		"$RETRY" echo boot
		RETRY_DEADLINE=$boot:$((space + 1)):1
		"$RETRY" echo space
		RETRY_DEADLINE=$boot:$space:1
		"$RETRY" echo none'
	[ "$output" = $'boot\nspace' ]
	[ "$status" -eq 124 ]
}

@test "a malformed RETRY_DEADLINE is ignored" {
	under 'export RETRY_DEADLINE
		for RETRY_DEADLINE in "" x : :: ::: "$boot" "$boot:" "$boot:$space" \
		    "$boot:$space:" "$boot:$space:x" "$boot:$space:-1" \
		    "$boot:$space:+1" "$boot:$space: 1" "$boot:$space:1 " \
		    "$boot:$space:1x" "$boot:$space:1:1" "$boot:$space:0x1" \
		    "$boot:$space:1.0" " $boot:$space:1" "$boot::1" \
		    "${boot%?}:$space:1" "${boot}0:$space:1" "$boot:${space}0:1" \
		    "$boot:$space 1" "$space:$boot:1" "::1" "1"; do
			"$RETRY" true || echo "taken: $RETRY_DEADLINE"
		done
		echo all'
	[ "$status" -eq 0 ]
	[ "$output" = all ]
}

@test "an inherited deadline of any size is no early end" {
	under 'export RETRY_DEADLINE
		for end in 9223372036854775806 9223372036854775807 \
		    9223372036854775808 18446744073709551617 \
		    99999999999999999999999999; do
			RETRY_DEADLINE=$boot:$space:$end
			"$RETRY" true || echo "ended early: $end"
		done
		echo all'
	[ "$status" -eq 0 ]
	[ "$output" = all ]
}
