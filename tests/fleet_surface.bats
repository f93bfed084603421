#!/usr/bin/env bats
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
	holds err "retry: $line" "Try '${RETRY##*/} --help' for more information."
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
	local text fleet=(-B api --fleet unix:///none)
	for text in 0 0ms -1 x '' 61s; do
		refused "--fleet-timeout: not a time above 0, up to 1m: '$text'" \
			"${fleet[@]}" --fleet-timeout "$text"
	done
	for text in -1 1.5 x '' 1000001; do
		refused "--fleet-min: not a whole number up to 1000000: '$text'" \
			"${fleet[@]}" --fleet-min "$text"
		refused "--fleet-alone: not a whole number up to 1000000: '$text'" \
			"${fleet[@]}" --fleet-alone "$text"
	done
	refused "--fleet-ratio: not a ratio from 0 to 1000: '1001'" \
		"${fleet[@]}" --fleet-ratio 1001
	RETRY_FLEET_TIMEOUT=0 refused \
		"\$RETRY_FLEET_TIMEOUT: not a time above 0, up to 1m: '0'" \
		"${fleet[@]}"
	"$RETRY" "${fleet[@]}" --fleet-timeout 1ms --fleet-min 0 \
		--fleet-ratio 25% --fleet-alone 0 touch ran
	[ -e ran ]
}

@test "a file for the password that others can read is refused, one that the group can read is not" {
	local fleet=(-B api --fleet redis://host --fleet-auth auth)
	secret password
	chmod 604 auth
	refused "--fleet-auth: others can read it; use chmod o-r: 'auth'" \
		"${fleet[@]}"
	RETRY_FLEET_AUTH_FILE=auth refused \
		"\$RETRY_FLEET_AUTH_FILE: others can read it; use chmod o-r: 'auth'" \
		-B api --fleet redis://host
	chmod 640 auth
	"$RETRY" "${fleet[@]}" touch ran
	[ -e ran ]
}

@test "a file for the password that is empty, missing or not one line is refused" {
	local fleet=(-B api --fleet redis://host --fleet-auth) line
	refused "--fleet-auth: No such file or directory: 'none'" \
		"${fleet[@]}" none
	refused "--fleet-auth: Is a directory: '.'" "${fleet[@]}" .
	refused "--fleet-auth: not a file name: ''" "${fleet[@]}" ''
	mkfifo -m 600 fifo
	refused "--fleet-auth: not a regular file: 'fifo'" "${fleet[@]}" fifo
	secret ''
	refused "--fleet-auth: empty: 'auth'" "${fleet[@]}" auth
	secret $'one\ntwo'
	refused "--fleet-auth: more than one line of text: 'auth'" \
		"${fleet[@]}" auth
	secret :password
	refused "--fleet-auth: no user before the colon: 'auth'" \
		"${fleet[@]}" auth
	printf -v line '%02000d' 0
	secret "$line"
	refused "--fleet-auth: too long: 'auth'" "${fleet[@]}" auth
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
