#!/usr/bin/env bats
# Covers attempt/environment.
# The variables that retry sets for an attempt, and how a nested retry uses them.
# shellcheck disable=SC2016 # the commands' shells expand
# shellcheck disable=SC2154 # run and start set what is read here

load helper
load actor

# A deadline is BOOTID:TIMENS-INODE:BOOTTIME-NS, boot time being nanoseconds of
# CLOCK_BOOTTIME.
shape='^[0-9a-f-]{36}:[0-9]+:[0-9]+$'

# told NAME [OPTION]... COMMAND...: prints the value of NAME in each attempt, or
# "unset"; attempts fail with status 7
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

# tick: sets tick to the nanoseconds of the unit in which /proc tells when a
# process began
tick()
{
	tick=$((1000000000 / $(getconf CLK_TCK)))
}

# began PID: prints when that process began at the earliest, in nanoseconds
# since the boot
began()
{
	local stat fields tick
	read -r stat <"/proc/$1/stat"
	read -ra fields <<<"${stat##*) }" # from the third field on
	tick
	echo "$((fields[19] * tick))"
}

# identity PID: prints that process as RETRY_PARENT may tell it
identity()
{
	echo "$1.$(began "$1")"
}

# uptime: prints the nanoseconds since the boot
uptime()
{
	local now
	read -r now _ </proc/uptime
	echo "${now/./}0000000"
}

# heir [VARIABLE=VALUE]...: prints the depth, ancestor, id and deadline that a
# retry with these variables, and without a number of attempts, sets
heir()
{
	env "$@" "$RETRY" sh -c 'echo "$RETRY_DEPTH" \
		"${RETRY_ANCESTOR_RETRY-none}" "$RETRY_ID" \
		"${RETRY_DEADLINE-none}"'
}

# here END: a deadline of this boot and time namespace
here()
{
	echo "$(</proc/sys/kernel/random/boot_id):$(
		stat -Lc %i /proc/self/ns/time):$1"
}

# What an outer retry may have set besides RETRY_PARENT; its deadline is past.
uuid=01234567-89ab-4cde-8f01-23456789abcd
will=(RETRY_DEPTH=5 RETRY_ANCESTOR_RETRY=1 "RETRY_ID=$uuid"
	"RETRY_DEADLINE=$(here 1)")

# disowned RETRY_PARENT: all variables of a retry of this identity are ignored
disowned()
{
	run -0 --separate-stderr heir "RETRY_PARENT=$1" "${will[@]}"
	[[ $output =~ ^1\ none\ ([0-9a-f-]{36})\ none$ ]]
	[ "${BASH_REMATCH[1]}" != "$uuid" ]
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
# Attempts and statuses
#

@test "RETRY_ATTEMPT counts from 1" {
	[ "$(told RETRY_ATTEMPT -n 3)" = $'1\n2\n3' ]
}

@test "RETRY_MAX_ATTEMPTS is the number of attempts in all" {
	[ "$(told RETRY_MAX_ATTEMPTS -n 2)" = $'2\n2' ]
	[ "$(told RETRY_MAX_ATTEMPTS --stop-on 7)" = 5 ]
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

@test "a variable whose name only begins like one of retry is left alone" {
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
	RETRY_PARENT=$(identity $$)
	export RETRY_PARENT
	[ "$(RETRY_DEPTH=5 told RETRY_DEPTH -n 1)" = 6 ]
	for depth in '' x -1 1x ' 1' 0x1 1.0; do
		[ "$(RETRY_DEPTH=$depth told RETRY_DEPTH -n 1)" = 1 ]
	done
}

@test "RETRY_DEPTH never overflows" {
	RETRY_PARENT=$(identity $$)
	export RETRY_PARENT
	for depth in 2147483647 9223372036854775807 99999999999999999999; do
		depth=$(RETRY_DEPTH=$depth told RETRY_DEPTH -n 1)
		[[ $depth =~ ^[1-9][0-9]{9,}$ ]]
	done
}

@test "attempts are counted by each retry for itself" {
	run -7 "$RETRY" -q -n 2 -d 0 sh -c '"$RETRY" -q -n 3 -d 0 \
		sh -c "echo \$RETRY_ATTEMPT/\$RETRY_MAX_ATTEMPTS; exit 7"'
	[ "$output" = $'1/3\n2/3\n3/3\n1/3\n2/3\n3/3' ]
}

#
# Whether the outer retry lives
#

@test "RETRY_PARENT is the process of retry and an instant at which it ran" {
	tick
	run -0 "$RETRY" -q -n 2 -d 0 bash -c 'echo "$PPID $RETRY_PARENT"
		cat "/proc/$PPID/stat" /proc/uptime
		[ "$RETRY_ATTEMPT" -eq 2 ]'
	read -r parent told <<<"${lines[0]}"
	read -ra fields <<<"${lines[1]##*) }"
	read -r now _ <<<"${lines[2]}"
	[ "${told%.*}" = "$parent" ]
	[ "${told#*.}" -ge "$((fields[19] * tick))" ]
	[ "${told#*.}" -lt "$((${now/./}0000000 + tick))" ]
	[ "${lines[3]}" = "${lines[0]}" ]
}

@test "the name of the program of the outer retry does not matter" {
	for name in 're) S 1' '1 2 3' ') ('; do
		cp "$RETRY" "$name"
		run -0 "./$name" sh -c '"$RETRY" sh -c "echo \$RETRY_DEPTH"'
		[ "$output" = 2 ]
	done
}

@test "no file is opened or looked up on the way to the first attempt" {
	command -v strace >/dev/null || skip 'no strace here'
	[ -z "${RETRY_SAN-}" ] || skip 'the sanitizers look for files'
	env -i "$(type -P strace)" -o trace -e trace=file,clone,clone3,fork,vfork \
	    "$RETRY" "$(type -P true)"
	grep -qE '^(clone|fork|vfork)' trace
	# The loader opens its own files, and a descriptor is a file without a name.
	sed -nE '/^(clone|fork|vfork)/q; s/^[^"]*"([^"]*)".*/\1/p' trace |
		grep -vE '^$|^/etc/ld\.so|/lib[^/]*\.so[.0-9]*$' >names
	[ "$(<names)" = "$RETRY" ]
}

@test "RETRY_PARENT of an outer retry is replaced" {
	run -0 "$RETRY" sh -c 'echo "$RETRY_PARENT"
		"$RETRY" sh -c "echo \$RETRY_PARENT"'
	[[ ${lines[0]} =~ ^[0-9]+\.[0-9]+$ ]]
	[[ ${lines[1]} =~ ^[0-9]+\.[0-9]+$ ]]
	[ "${lines[0]}" != "${lines[1]}" ]
}

@test "the variables of a living process count" {
	will=("${will[@]:0:3}" "RETRY_DEADLINE=$(here 4000000000000000000)")
	run -0 heir "RETRY_PARENT=$(identity $$)" "${will[@]}"
	[ "$output" = "6 1 $uuid $(here 4000000000000000000)" ]
}

@test "without RETRY_PARENT the other variables are ignored" {
	run -0 heir "${will[@]}"
	[[ $output =~ ^1\ none\ [0-9a-f-]{36}\ none$ ]]
	[[ $output != *"$uuid"* ]]
}

@test "a later process of the same number is not the outer retry" {
	IFS=. read -r number since <<<"$(identity $$)"
	disowned "$number.$((since - 1))"
	disowned "$number.$((since / 10000000))"
	disowned "$number.0"
	disowned "$number.1"
}

@test "the outer retry may have begun in the same tick or long before" {
	IFS=. read -r number since <<<"$(identity $$)"
	for instant in "$since" "$((since + 1))" "$(uptime)"; do
		run -0 heir "RETRY_PARENT=$number.$instant" RETRY_DEPTH=5
		[[ $output = '6 '* ]]
	done
	# This one is as old as the machine, and has another clock nowhere.
	run -0 heir "RETRY_PARENT=1.$(uptime)" RETRY_DEPTH=5
	[[ $output = '6 '* ]]
}

@test "variables of an instant that is still to come are ignored" {
	for instant in "$(($(uptime) + 3600000000000))" 9223372036854775807 \
	    9223372036854775808; do
		disowned "$$.$instant"
	done
}

@test "a malformed RETRY_PARENT is ignored" {
	IFS=. read -r number since <<<"$(identity $$)"
	for parent in '' . x "$number" "$number." ".$since" "$number:$since" \
	    "$number.$since." "$number.$since.1" "$number.x$since" \
	    " $number.$since" "$number.$since " "-$number.$since" \
	    "+$number.$since" "$number.-$since" "0x1.$since" "0.$since" \
	    "$((number + 4294967296)).$since" "self.$since" \
	    "99999999999999999999.$since"; do
		disowned "$parent"
	done
}

@test "variables of a retry that has ended are ignored" {
	"$RETRY" -T 100 -n 2 -d 0 -q sh -c 'env -0 >told; exit 1' || :
	mapfile -d '' -t will < <(grep -z ^RETRY_ told)
	printf '%s\n' "${will[@]}" | grep '^RETRY_DEADLINE=[0-9a-f-]*:[0-9:]*$'
	printf '%s\n' "${will[@]}" | grep '^RETRY_ANCESTOR_RETRY=1$'
	run -0 heir "${will[@]}"
	[[ $output =~ ^1\ none\ ([0-9a-f-]{36})\ none$ ]]
	run ! grep -zx "RETRY_ID=${BASH_REMATCH[1]}" told
}

@test "variables of a retry that is a zombie are ignored" {
	start sh -c '"$RETRY" -T 100 sh -c "env -0 >told" & exec sleep 20'
	zombie()
	{
		mapfile -d '' -t will < <(grep -z ^RETRY_ told)
		parent=$(grep -z ^RETRY_PARENT= told | tr -d '\0')
		number=${parent#*=}
		grep '^State:.Z' "/proc/${number%.*}/status"
	}
	wait_for zombie
	run -0 heir "${will[@]}"
	[[ $output =~ ^1\ none\ [0-9a-f-]{36}\ none$ ]]
}

@test "a daemon that outlives its retry is not nested" {
	"$RETRY" -T 100 sh -c 'env >told
		setsid sh -c "
			echo \$\$ >daemon
			timeout 20 sh -c \"until [ -e go ]; do sleep 0.01; done\"
			exec \"\$RETRY\" sh -c \"env >seen.new; mv seen.new seen\"
		" >/dev/null 2>&1 3>&- &
		until [ -s daemon ]; do sleep 0.01; done'
	grep -qx RETRY_DEPTH=1 told
	grep -q '^RETRY_DEADLINE=' told
	id=$(grep '^RETRY_ID=' told)
	touch go
	wait_for [ -e seen ]
	wait_for gone "$(<daemon)"
	grep -qx RETRY_DEPTH=1 seen
	grep -q '^RETRY_ID=' seen
	run ! grep -x "$id" seen
	run ! grep '^RETRY_DEADLINE=' seen
	run ! grep '^RETRY_ANCESTOR_RETRY=' seen
}

@test "a daemon is nested while its retry lives" {
	start "$RETRY" -T 100 -n 2 -d 0 sh -c '
		[ "$RETRY_ATTEMPT" -eq 1 ] || exec sleep 20
		env >told
		setsid sh -c "
			timeout 20 sh -c \"until [ -e go ]; do sleep 0.01; done\"
			exec \"\$RETRY\" sh -c \"env >seen.new; mv seen.new seen\"
		" >/dev/null 2>&1 3>&- &
		exit 1'
	wait_for grep -q 'retrying in' err
	touch go
	wait_for [ -e seen ]
	grep -qx RETRY_DEPTH=2 seen
	[ "$(grep '^RETRY_ID=' seen)" = "$(grep '^RETRY_ID=' told)" ]
	[ "$(grep '^RETRY_DEADLINE=' seen)" = "$(grep '^RETRY_DEADLINE=' told)" ]
}

@test "without /proc all variables are ignored" {
	[ -z "${RETRY_SAN-}" ] || skip 'the sanitizers need /proc'
	isolate -m
	"${isolate[@]}" sh -c 'mount -t tmpfs none /proc' 2>/dev/null ||
		skip 'no right to cover /proc here'
	run -0 "${isolate[@]}" sh -c 'mount -t tmpfs none /proc
		exec "$RETRY" -n 2 -d 0 -q sh -c "
			echo \${RETRY_PARENT-none} \$RETRY_DEPTH
			\"\$RETRY\" sh -c \"echo \\\$RETRY_DEPTH\"
			[ \$RETRY_ATTEMPT -eq 2 ]"'
	[[ $output =~ ^[0-9]+\.[0-9]+\ 1$'\n1\n'[0-9]+\.[0-9]+\ 1$'\n1'$ ]]
}

@test "under a /proc of other processes retry is found by its own number" {
	isolate -p -f
	run -0 "${isolate[@]}" "$RETRY" sh -c 'echo "$$ $RETRY_PARENT"
		"$RETRY" sh -c "echo \$RETRY_DEPTH"'
	[[ ${lines[0]} =~ ^2\ 1\.[0-9]+$ ]]
	[ "${lines[1]}" = 2 ]
}

@test "under a /proc of other processes none of them is taken for a retry" {
	isolate -p -f
	# That /proc has, or has had, a process of each number up to 9.
	run -0 "${isolate[@]}" sh -c '
		"$RETRY" -T 100 sh -c "echo \$PPID >parent; env -0 >told"
		exec env -S"$(tr "\0" "\n" <told | grep ^RETRY_ | tr "\n" " ")" \
			"$RETRY" sh -c "echo \$RETRY_DEPTH"'
	[ -s parent ]
	[ "$output" = 1 ]
}

@test "variables from outside of a time namespace are ignored within it" {
	isolate -T -f
	run -0 "$RETRY" sh -c '"$RETRY" sh -c "echo \$RETRY_DEPTH"
		"$@"' sh "${isolate[@]}" "$RETRY" sh -c 'echo "$RETRY_DEPTH"
		"$RETRY" sh -c "echo \$RETRY_DEPTH"'
	[ "$output" = $'2\n1\n2' ]
}

@test "variables are ignored where clocks differ between two retries" {
	for offset in -1 1 100000; do
		isolate -T --boottime "$offset" -f
		run -0 "$RETRY" "${isolate[@]}" \
		    "$RETRY" sh -c 'echo "$RETRY_DEPTH"'
		[ "$output" = 1 ]
	done
}

@test "variables of another user's retry count" {
	[ "$(id -u)" = 0 ] || skip 'only root can become another user'
	command -v setpriv >/dev/null || skip 'no setpriv here'
	cp "$RETRY" /tmp/retry-of-another.$$
	chmod 755 /tmp/retry-of-another.$$
	run "$RETRY" -n 1 setpriv --reuid 65534 --clear-groups \
	    /tmp/retry-of-another.$$ sh -c 'echo "$RETRY_DEPTH"'
	rm /tmp/retry-of-another.$$
	[ "$status" -eq 0 ]
	[ "$output" = 2 ]
}

#
# RETRY_ID and RETRY_ANCESTOR_RETRY
#

@test "RETRY_ID is a random UUID, another for each invocation" {
	form='^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$'
	for i in 1 2 3; do
		told RETRY_ID -n 1 >"id$i"
		grep -qE "$form" "id$i"
	done
	[ "$(sort -u id? | grep -c '')" -eq 3 ]
}

@test "RETRY_ID is the same for every attempt of every layer" {
	run -7 "$RETRY" -q -n 2 -d 0 sh -c 'echo "$RETRY_ID"
		"$RETRY" -q -n 2 -d 0 "$RETRY" -q -n 2 -d 0 \
		    sh -c "echo \$RETRY_ID; exit 7"'
	[ "${#lines[@]}" -eq 10 ]
	[ "$(sort -u <<<"$output" | grep -c '')" -eq 1 ]
}

@test "a RETRY_ID that is no UUID is replaced" {
	parent=$(identity $$)
	for id in '' x "${uuid%?}" "${uuid}0" "${uuid//-/}" "${uuid/a/g}" \
	    "${uuid/a/-}" "${uuid/-/a}" "{$uuid}" " $uuid" "${uuid/a/é}" \
	    "${uuid/a/$'\n'}"; do
		run -0 heir "RETRY_PARENT=$parent" "RETRY_ID=$id"
		[[ $output =~ ^1\ none\ [0-9a-f-]{36}\ none$ ]]
	done
	run -0 heir "RETRY_PARENT=$parent" "RETRY_ID=${uuid^^}"
	[ "$output" = "1 none ${uuid^^} none" ]
}

@test "RETRY_ANCESTOR_RETRY is set only after the first attempt of any layer" {
	[ "$(told RETRY_ANCESTOR_RETRY -n 3)" = $'unset\n1\n1' ]
	run -7 "$RETRY" -q -n 2 -d 0 "$RETRY" -q -n 2 -d 0 "$RETRY" -q -n 2 \
	    -d 0 sh -c 'echo "${RETRY_ANCESTOR_RETRY-unset}"; exit 7'
	[ "$output" = $'unset\n1\n1\n1\n1\n1\n1\n1' ]
}

@test "a RETRY_ANCESTOR_RETRY that is not 1 is ignored" {
	parent=$(identity $$)
	for flag in '' 0 2 11 yes ' 1'; do
		[ "$(RETRY_PARENT=$parent RETRY_ANCESTOR_RETRY=$flag \
			told RETRY_ANCESTOR_RETRY -n 1)" = unset ]
	done
	[ "$(RETRY_PARENT=$parent RETRY_ANCESTOR_RETRY=1 \
		told RETRY_ANCESTOR_RETRY -n 1)" = 1 ]
}

@test "the context of a trace passes through" {
	run -0 env TRACEPARENT=00-1-2-01 TRACESTATE=a=b "$RETRY" \
	    sh -c 'echo "$TRACEPARENT $TRACESTATE"'
	[ "$output" = '00-1-2-01 a=b' ]
}

#
# --nested
#

# layers OUTER MIDDLE INNER: prints how often a command runs that never
# succeeds, under three layers of three attempts, each with an option
layers()
{
	local layer words=()
	for layer; do
		# shellcheck disable=SC2206 # an option and its argument, or none
		words+=("$RETRY" -q -n 3 -d 0 $layer)
	done
	"${words[@]}" sh -c 'echo; exit 7' | grep -c '' || :
	[ "${PIPESTATUS[0]}" -eq 7 ] || echo 'another status'
}

@test "three layers of three attempts make 27 runs" {
	[ "$(layers '' '' '')" = 27 ]
	share='--nested share'
	[ "$(layers "$share" "$share" "$share")" = 27 ]
	[ "$(RETRY_NESTED=share layers '' '' '')" = 27 ]
}

@test "three layers of three attempts make 7 runs with --nested add" {
	add='--nested add'
	[ "$(layers "$add" "$add" "$add")" = 7 ]
	[ "$(layers "$add" '' '')" = 7 ]
	[ "$(RETRY_NESTED=add layers '' '' '')" = 7 ]
}

@test "three layers of three attempts make 3 runs with --nested once" {
	once='--nested once'
	[ "$(layers "$once" "$once" "$once")" = 3 ]
	[ "$(layers "$once" '' '')" = 3 ]
	[ "$(RETRY_NESTED=once layers '' '' '')" = 3 ]
}

@test "--nested applies from its layer inwards, until a layer has another" {
	[ "$(layers '' '--nested once' '')" = 3 ]
	[ "$(layers '' '' '--nested once')" = 9 ]
	[ "$(layers '--nested once' '' '--nested share')" = 9 ]
	[ "$(layers '--nested once' '--nested share' '')" = 27 ]
	[ "$(RETRY_NESTED=once layers '--nested share' '' '')" = 27 ]
}

@test "--nested leaves the outermost retry its attempts" {
	for kind in share add once; do
		[ "$(told RETRY_MAX_ATTEMPTS -n 2 --nested "$kind")" = $'2\n2' ]
		[ "$(RETRY_NESTED=$kind told RETRY_MAX_ATTEMPTS -n 2)" = $'2\n2' ]
	done
}

@test "--nested add leaves all attempts to what is below a first attempt" {
	parent=$(identity $$)
	[ "$(RETRY_PARENT=$parent told RETRY_MAX_ATTEMPTS -n 2 --nested add)" = \
	    $'2\n2' ]
	[ "$(RETRY_PARENT=$parent RETRY_ANCESTOR_RETRY=1 \
		told RETRY_MAX_ATTEMPTS -n 2 --nested add)" = 1 ]
}

@test "variables of a dead retry take no attempts away" {
	for kind in add once; do
		[ "$(RETRY_PARENT=$$.0 RETRY_ANCESTOR_RETRY=1 \
			told RETRY_MAX_ATTEMPTS -n 2 --nested "$kind")" = $'2\n2' ]
	done
}

@test "--nested once makes one attempt where there is no cap either" {
	run -7 "$RETRY" --nested once -n 1 sh -c '"$RETRY" -n inf -d 0 \
		sh -c "echo \$RETRY_MAX_ATTEMPTS; exit 7"'
	[ "${lines[0]}" = 1 ]
	[ "${lines[1]}" = 'retry: attempt 1/1 failed (exit 7), giving up: attempts exhausted' ]
}

#
# The budget
#

@test "budget options are passed to nested retries as they were typed" {
	run -0 env RETRY_BUDGET=no RETRY_BUDGET_RATIO=1 RETRY_BUDGET_MIN=1 \
	    RETRY_BUDGET_WINDOW=1s RETRY_BUDGET_DIR=/no RETRY_NESTED=once \
	    "$RETRY" --budget 'a key/%' --budget-ratio 020.0% --budget-min 010 \
	    --budget-window 0h1m --budget-dir "$PWD" --nested add env
	for one in 'RETRY_BUDGET=a key/%' RETRY_BUDGET_RATIO=020.0% \
	    RETRY_BUDGET_MIN=010 RETRY_BUDGET_WINDOW=0h1m \
	    "RETRY_BUDGET_DIR=$PWD" RETRY_NESTED=add; do
		name=${one%%=*}
		[ "$(grep "^$name=" <<<"$output")" = "$one" ]
	done
}

@test "variables of the budget without an option pass through" {
	own=(RETRY_BUDGET=key RETRY_BUDGET_RATIO=1 RETRY_BUDGET_MIN=1
		RETRY_BUDGET_WINDOW=1s "RETRY_BUDGET_DIR=$PWD" RETRY_NESTED=once)
	run -0 env "${own[@]}" "$RETRY" env
	for one in "${own[@]}"; do
		grep -qx "$one" <<<"$output"
	done
	run -0 env "${own[@]}" "$RETRY" --budget-min 2 env
	for one in "${own[@]/%MIN=1/MIN=2}"; do
		grep -qx "$one" <<<"$output"
	done
	run -0 "$RETRY" env
	run ! grep -E '^RETRY_(BUDGET|NESTED)' <<<"$output"
}

@test "an empty key is passed on, too" {
	[ "$(RETRY_BUDGET=key RETRY_BUDGET_DIR=$PWD told RETRY_BUDGET -n 1 \
		--budget '')" = '' ]
	[ "$(RETRY_BUDGET_DIR=$PWD told RETRY_BUDGET -n 1)" = unset ]
}

@test "a long key is passed on whole" {
	printf -v key '%01024d' 0
	[ "$(RETRY_BUDGET_DIR=$PWD told RETRY_BUDGET -n 1 -B "$key")" = "$key" ]
	printf -v most '%0100000d' 1
	[ "$(told RETRY_BUDGET_MIN -n 1 --budget-min "$most")" = "$most" ]
}

@test "a relative --budget-dir is the same directory for a command that changes its own" {
	mkdir here
	[ "$(told RETRY_BUDGET_DIR -n 1 --budget-dir here)" = "$PWD/here" ]
	[ "$(told RETRY_BUDGET_DIR -n 1 --budget-dir .)" = "$PWD/." ]
	run -0 "$RETRY" -B key --budget-dir here sh -c 'cd /
		exec "$RETRY" true'
	[ -z "$output" ]
	here=(here/*)
	[ "${#here[@]}" -eq 1 ]
	[ -f "${here[0]}" ]
}

@test "an inner retry draws on the outer budget unless it names its own" {
	run -7 "$RETRY" -q -n 3 -d 0 -B key --budget-dir . --budget-min 3 \
	    "$RETRY" -q -n 3 -d 0 "$RETRY" -q -n 3 -d 0 \
	    sh -c 'echo x; exit 7'
	[ "${#lines[@]}" -eq 4 ]
	run -7 "$RETRY" -q -n 3 -d 0 -B key2 --budget-dir . --budget-min 1 \
	    "$RETRY" -q -n 3 -d 0 -B '' sh -c 'echo x; exit 7'
	[ "${#lines[@]}" -eq 6 ]
}

#
# The deadline
#

@test "RETRY_DEADLINE is set only with a deadline" {
	[ "$(told RETRY_DEADLINE -n 1)" = unset ]
	[ "$(told RETRY_DEADLINE -n 1 -t 10)" = unset ]
	[ "$(told RETRY_DEADLINE -n 1 -T 0)" = unset ]
	[[ $(told RETRY_DEADLINE -n 1 -T 10) =~ $shape ]]
}

@test "RETRY_DEADLINE names this boot, this time namespace and the instant" {
	IFS=: read -r boot space end < <(deadline -T 1000)
	[ "$boot" = "$(</proc/sys/kernel/random/boot_id)" ]
	[ "$space" = "$(stat -Lc %i /proc/self/ns/time)" ]
	"$PYTHON" -IS - "$end" <<-'END'
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

@test "a nested retry takes the outer deadline if that is earlier" {
	for inner in '' '-T 200' '-T 1000d'; do
		under 'echo "$RETRY_DEADLINE"
			"$RETRY" '"$inner"' sh -c "echo \$RETRY_DEADLINE"'
		[ "$status" -eq 0 ]
		[[ ${lines[0]} =~ $shape ]]
		[ "${lines[0]}" = "${lines[1]}" ]
	done
}

@test "a nested retry keeps its own deadline if that is earlier" {
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

@test "a delay that would pass an inherited deadline does not begin" {
	under '"$RETRY" -d 200 -j none sh -c "exit 7"'
	[ "$status" -eq 7 ]
	[ "${stderr_lines[0]}" = 'retry: attempt 1/5 failed (exit 7), giving up: deadline' ]
}

@test "an inherited deadline leaves the number of attempts alone" {
	under '"$RETRY" sh -c "echo \$RETRY_MAX_ATTEMPTS"'
	[ "$status" -eq 0 ]
	[ "$output" = 5 ]
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

@test "an inherited deadline, however large, ends nothing early" {
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
