#!/usr/bin/env bats
# Covers attempt/environment.
# The variables that retry sets for an attempt, and how a nested retry uses them.
# shellcheck disable=SC2034 # the commands' shells and the rows expand

load helper
load actor

form='[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'
uuid=01234567-89ab-4cde-8f01-23456789abcd

# told NAME [OPTION]... COMMAND...: prints the value of NAME in each attempt, or
# "unset"; attempts fail with status 7
told() {
	"$RETRY" -q -d 0 "${@:2}" sh -c "echo \"\${$1-unset}\"; exit 7" || :
}

# Sets $tick to the nanoseconds of the unit in which /proc tells when a process
# began, and $since to when this one began at the earliest, since the boot.
# $parent is this process as RETRY_PARENT may tell it. $will is what an outer retry may
# have set besides RETRY_PARENT, with a deadline that is past.
outer() {
	local stat fields
	tick=$((1000000000 / $(getconf CLK_TCK)))
	read -r stat <"/proc/$$/stat"
	read -ra fields <<<"${stat##*) }" # from the third field on
	since=$((fields[19] * tick))
	parent=$$.$since
	will=(RETRY_DEPTH=5 RETRY_ANCESTOR_RETRY=1 "RETRY_ID=$uuid" RETRY_DEADLINE=1)
}

# after MS: sets $instant to one MS milliseconds from now, in nanoseconds since the boot
after() {
	local moment
	look_at_clock
	instant=$(((moment + $1) * 1000000))
}

# heir WANT [VARIABLE=VALUE]...: in a retry with these variables WANT is the depth,
# ancestor, id and deadline that it sets. NEW is an id that no variable has.
heir() {
	local want=$1 got=
	shift
	with "$@" "$RETRY" sh -c 'echo "$RETRY_DEPTH" \
		"${RETRY_ANCESTOR_RETRY-none} $RETRY_ID ${RETRY_DEADLINE-none}"' >heir
	read -r got <heir
	if [[ $got =~ $form && "$*" != *"${BASH_REMATCH[0]}"* ]]; then
		got=${got/"${BASH_REMATCH[0]}"/NEW}
	fi
	[ "$got" = "$want" ] || {
		echo "$got instead of $want: $*"
		return 1
	}
}

# within CHECK... SCRIPT: a try whose command is SCRIPT and has 100 s to its deadline,
# which is $end
within() {
	try "${@:1:$#-1}" -q -n 1 -T 100 bash -c 'end=$RETRY_DEADLINE; '"${*: -1}"
}

@test "an attempt is told its number, how many there are, the last status and the depth" {
	outer
	table <<-'END'
		with RETRY_LAST_STATUS=9 try status=7 out='1 3 unset 1 unset unset|2 3 7 1 1 unset|3 3 7 1 1 unset' -q -n 3 -d 0 -t 10 -T 0 sh -c 'echo "$RETRY_ATTEMPT $RETRY_MAX_ATTEMPTS ${RETRY_LAST_STATUS-unset} $RETRY_DEPTH ${RETRY_ANCESTOR_RETRY-unset} ${RETRY_DEADLINE-unset}"; exit 7'
		gives 0 inf told RETRY_MAX_ATTEMPTS -T 20 --stop-on 7
		try out='3|1' sh -c '"$RETRY" "$RETRY" sh -c "echo \$RETRY_DEPTH"; echo "$RETRY_DEPTH"'
	END
	rows row eval <<-'END'
	a signal and a timeout are statuses
	    try out='unset|137|124' -q -n 3 -d 0 -t 2s sh -c '
	        echo "${RETRY_LAST_STATUS-unset}"
	        case $RETRY_ATTEMPT in
	        1) kill -KILL $$ ;;
	        2) exec sleep 20 ;;
	        esac'
	a variable of another retry is replaced, one whose name only begins so is not
	    with RETRY_ATTEMPT=9 RETRY_MAX_ATTEMPTS=9 RETRY_ATTEMPTS=a RETRY_LAST_STATUS_=b \
	        RETRY_=d try -n 2 env
	    for line in RETRY_=d RETRY_ATTEMPT=1 RETRY_ATTEMPTS=a RETRY_LAST_STATUS_=b \
	        RETRY_MAX_ATTEMPTS=2 "RETRY=$RETRY"; do
	        has_line "$line" out
	    done
	    not has_line RETRY_ATTEMPT=9 out
	    not has_line RETRY_MAX_ATTEMPTS=9 out
	    variable out RETRY_LAST_STATUS
	    [ "$value" = 'unset' ]
	RETRY_PARENT is the process of retry and an instant at which it ran
	    try out='*|*|*|*|*|*' -q -n 2 -d 0 bash -c 'echo "$PPID $RETRY_PARENT"
	        echo "$(<"/proc/$PPID/stat")"
	        echo "$(</proc/uptime)"
	        [ "$RETRY_ATTEMPT" -eq 2 ]'
	    mapfile -t lines <out
	    read -r parent told <<<"${lines[0]}"
	    read -ra fields <<<"${lines[1]##*) }"
	    read -r now _ <<<"${lines[2]}"
	    [ "${told%.*}" = "$parent" ]
	    [ "${told#*.}" -ge "$((fields[19] * tick))" ]
	    [ "${told#*.}" -lt "$((${now/./}0000000 + tick))" ]
	    [ "${lines[3]}" = "${lines[0]}" ]
	RETRY_ID is a random UUID of each invocation, for every attempt of every layer
	    ids=()
	    for _ in 1 2; do
	        "$RETRY" -q -n 2 -d 0 sh -c 'echo "$RETRY_ID"
	            "$RETRY" -q -n 2 -d 0 sh -c "echo \$RETRY_ID; exit 7"' >same || :
	        mapfile -t same <same
	        [[ $same =~ ^$form$ && ${#same[@]} -eq 6 ]]
	        [ "${same[*]//"$same"}" = '     ' ]
	        ids+=("$same")
	    done
	    [ "${ids[0]}" != "${ids[1]}" ]
	RETRY_DEADLINE is the instant
	    told RETRY_DEADLINE -n 2 -T 1000 >seen
	    mapfile -t seen <seen
	    [ "${#seen[@]}" -eq 2 ] && [ "${seen[0]}" = "${seen[1]}" ]
	    after 900000
	    [ "$seen" -gt "$instant" ]
	    after 1000010 # /proc has hundredths
	    [ "$seen" -lt "$instant" ]
	END
}

@test "no file is opened or looked up on the way to the first attempt" {
	command -v strace >/dev/null || skip 'no strace here'
	[ -z "${RETRY_SAN-}" ] || skip 'the sanitizers look for files'
	env -i HOME="$PWD" "$(type -P strace)" -o trace -e trace=file,clone,clone3,fork,vfork \
	    "$RETRY" "$(type -P true)"
	grep -qE '^(clone|fork|vfork)' trace
	# The loader opens its own files, and a descriptor is a file without a name.
	sed -nE '/^(clone|fork|vfork)/q; s/^[^"]*"([^"]*)".*/\1/p' trace |
		grep -vE '^$|^/etc/ld\.so|/lib[^/]*\.so[.0-9]*$' >names
	[ "$(<names)" = "$RETRY" ]
}

@test "well-formed variables of a process count if it lives, and began when they say" {
	outer
	local most=9223372036854775806 later=4000000000000000000 instant
	after 0
	table heir <<-'END'
		"6 1 $uuid $later" RETRY_PARENT=$parent "${will[@]:0:3}" "RETRY_DEADLINE=$later"
		# It may have begun in the same tick or long before.
		'6 none NEW none' RETRY_PARENT=$$.$((since + 1)) RETRY_DEPTH=5
		'6 none NEW none' RETRY_PARENT=$$.$instant RETRY_DEPTH=5
		# A large depth saturates; what is too late for a deadline is none.
		'9223372036854775807 none NEW none' RETRY_PARENT=$parent RETRY_DEPTH=99999999999999999999
		"1 none NEW $most" RETRY_PARENT=$parent RETRY_DEADLINE=$most
		'1 none NEW none' RETRY_PARENT=$parent RETRY_DEADLINE=9223372036854775807
		'1 none NEW none' RETRY_PARENT=$parent RETRY_DEADLINE=99999999999999999999999999
		"1 none ${uuid^^} none" RETRY_PARENT=$parent RETRY_ID=${uuid^^}
	END
	# Of no retry, a later process of the number, an instant that is still to
	# come; and malformed.
	table heir "'1 none NEW none' \"\${will[@]}\"" <<-'END'
		RETRY_ATTEMPT=1
		RETRY_PARENT=$$.$((since - 1))
		RETRY_PARENT=$$.$((instant + 3600000000000))
		RETRY_PARENT=$$
		RETRY_PARENT=.$since
		RETRY_PARENT=-$parent
		RETRY_PARENT=$(($$ + 4294967296)).$since
	END
	# Each variable of a row is ignored for itself.
	table heir "'1 none NEW none' RETRY_PARENT=$parent" <<-'END'
		RETRY_DEPTH= RETRY_ID= RETRY_ANCESTOR_RETRY= RETRY_DEADLINE=
		RETRY_DEPTH=x RETRY_ID=x RETRY_ANCESTOR_RETRY=0 RETRY_DEADLINE=x
		RETRY_DEPTH=-1 RETRY_ID=${uuid%?} RETRY_ANCESTOR_RETRY=11 RETRY_DEADLINE=-1
		RETRY_ID=${uuid%?}g RETRY_DEADLINE=1:1
	END
}

# dead: those in ./told, each of which a retry has set, are ignored
dead() {
	local line set=0
	will=()
	while IFS= read -rd '' line; do
		[[ $line != RETRY_* ]] || will+=("$line")
		[[ ! $line =~ ^RETRY_(DEADLINE=[0-9]*|ID=.*|ANCESTOR_RETRY=1)$ ]] || ((++set))
	done <told
	[ "$set" -eq 3 ]
	heir '1 none NEW none' "${will[@]}"
}

# zombie: so is the retry of ./told
zombie() {
	local line
	while IFS= read -rd '' line; do
		[[ $line != RETRY_PARENT=* ]] || parent=${line#*=}
	done <told
	state Z "${parent%.*}"
}

# A daemon runs a nested retry, whose environment is in ./seen, when ./go has a line
daemon='setsid bash -c "
	read -rt 20 <>go
	exec \"\$RETRY\" sh -c \"env >seen.new; mv seen.new seen\"
" >/dev/null 2>&1 3>&- 9>&- &'

# lets_go: opens ./go for the daemon
lets_go() {
	mkfifo go
	exec 9<>go
}

# variable FILE NAME: sets $value to that of a variable in what env has written
variable() {
	local line
	value='unset'
	while read -r line; do
		[[ $line != "$2="* ]] || value=${line#*=}
	done <"$1"
}

# alike NAME...: these are the same in ./told and ./seen
alike() {
	local name value was
	for name; do
		variable told "$name"
		was=$value
		variable seen "$name"
		[ "$value" = "$was" ] && [ "$value" != unset ] || return
	done
}

@test "a retry is nested in one that lives, whatever its name, and not in a dead one" {
	rows row eval <<-'END'
	a name that looks like the rest of /proc/PID/stat
	    ln -s "$RETRY" 're) S 1'
	    gives 0 2 "./re) S 1" sh -c '"$RETRY" sh -c "echo \$RETRY_DEPTH"'
	one that has ended
	    "$RETRY" -T 100 -n 2 -d 0 -q sh -c 'env -0 >told; exit 1' || :
	    dead
	a zombie
	    start sh -c '"$RETRY" -T 100 -n 2 -d 0 -q sh -c "
	        env -0 >told; exit \$((2 - RETRY_ATTEMPT))" & exec sleep 20'
	    wait_for zombie
	    dead
	a daemon outlives it
	    lets_go
	    "$RETRY" -T 100 sh -c "env >told; $daemon"
	    echo >&9
	    wait_for [ -e seen ]
	    has_line RETRY_DEPTH=1 seen
	    not alike RETRY_ID
	    for name in RETRY_DEADLINE RETRY_ANCESTOR_RETRY; do
	        variable seen "$name"
	        [ "$value" = 'unset' ]
	    done
	a daemon while it lives
	    lets_go
	    start "$RETRY" -T 100 -n 2 -d 0 sh -c '
	        [ "$RETRY_ATTEMPT" -eq 1 ] || exec sleep 20
	        env >told; '"$daemon"'
	        exit 1'
	    wait_for test -s err
	    echo >&9
	    wait_for [ -e seen ]
	    has_line RETRY_DEPTH=2 seen
	    alike RETRY_ID RETRY_DEADLINE
	END
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

@test "in a time namespace variables count if the clock is the same" {
	isolate -T -f
	gives 0 2 "$RETRY" "${isolate[@]}" "$RETRY" sh -c 'echo "$RETRY_DEPTH"'
	for offset in -9 9; do
		gives 0 1 "$RETRY" "${isolate[@]}" --boottime "$offset" \
			"$RETRY" sh -c 'echo "$RETRY_DEPTH"'
	done
}

@test "variables of another user's retry count" {
	is_root || skip 'only root can become another user'
	cp "$RETRY" retry
	chmod 755 . retry
	gives 0 2 "$RETRY" -n 1 "$ACTOR" as 65534 ./retry sh -c 'echo "$RETRY_DEPTH"'
}

# layers RUNS OUTER MIDDLE INNER: a command that never succeeds runs so often under three
# layers of two attempts, each with an option
layers() {
	local layer words=()
	for layer in "${@:3}"; do
		# shellcheck disable=SC2206 # an option and its argument, or none
		words+=("$RETRY" -q -n 2 -d 0 $layer)
	done
	# shellcheck disable=SC2086
	try status=7 runs="$1" -q -n 2 -d 0 $2 "${words[@]}" sh -c 'echo >>ran; exit 7'
}

@test "three layers of two attempts make 8 runs, 4 with --nested add, 2 with once, which leaves its attempts to what is below no retry" {
	outer
	table <<-'END'
		layers 8 '' '' ''
		layers 4 '--nested add' '' ''
		layers 2 '--nested once' '' ''
		with RETRY_NESTED=once layers 2 '' '' ''
		# It applies from its layer inwards, until a layer has another.
		layers 4 '--nested once' '' '--nested share'
		with RETRY_NESTED=once layers 8 '--nested share' '' ''
	END
	table gives 0 <<-'END'
		$'2\n2' told RETRY_MAX_ATTEMPTS -n 2 --nested once
		# The one above is dead.
		$'2\n2' with RETRY_PARENT=$$.0 RETRY_ANCESTOR_RETRY=1 told RETRY_MAX_ATTEMPTS -n 2 --nested add
		# Below a first attempt, and below a later one.
		$'2\n2' with RETRY_PARENT=$parent told RETRY_MAX_ATTEMPTS -n 2 --nested add
		1 with RETRY_PARENT=$parent RETRY_ANCESTOR_RETRY=1 told RETRY_MAX_ATTEMPTS -n 2 --nested add
	END
	try status=7 out='unset|1|1|1' -q -n 2 -d 0 "$RETRY" -q -n 2 -d 0 \
		sh -c 'echo "${RETRY_ANCESTOR_RETRY-unset}"; exit 7'
	try status=7 out=1 says='attempt 1/1 failed (exit 7), giving up: attempts exhausted*' \
		--nested once -n 1 sh -c '"$RETRY" -n inf -d 0 sh -c "echo \$RETRY_MAX_ATTEMPTS; exit 7"'
}

# seen LINES [VARIABLE=VALUE]... RETRY [OPTION]...: these LINES are what retry has its
# command see of a budget
seen() {
	local line want=() got=0
	with "${@:2}" env >environment || return
	mapfile -t want <<<"$1"
	[ -n "$1" ] || want=()
	while IFS= read -r line; do
		[[ ! $line =~ ^RETRY_(BUDGET|NESTED) ]] || ((++got))
	done <environment
	[ "$got" -eq "${#want[@]}" ] || return
	for line in "${want[@]}"; do
		has_line "$line" environment || return
	done
}

@test "variables and options of the budget are passed to nested retries as they were typed, which draw on it unless they name their own" {
	local own want key most once=(-q -n 3 -d 0) fails='echo >>ran; exit 7'
	own=(RETRY_BUDGET=key "RETRY_BUDGET_DIR=$PWD" RETRY_BUDGET_MIN=1
		RETRY_BUDGET_RATIO=1 RETRY_BUDGET_WINDOW=1s RETRY_NESTED=once)
	printf -v want '%s\n' "${own[@]}"
	want=${want%?}
	printf -v key '%01024d' 0
	printf -v most '%0100000d' 1
	mkdir here
	(umask 077 && echo password >-)
	table <<-'END'
		seen "$want" "${own[@]}" "$RETRY"
		seen "${want/MIN=1/MIN=2}" "${own[@]}" "$RETRY" --budget-min 2
		seen '' "$RETRY"
		# An empty key, long texts whole, and an absolute path.
		seen RETRY_BUDGET= RETRY_BUDGET=key "$RETRY" --budget ''
	END
	table gives 0 <<-'END'
		"$key" with "RETRY_BUDGET_DIR=$PWD" told RETRY_BUDGET -n 1 -B "$key"
		"$most" told RETRY_BUDGET_MIN -n 1 --budget-min "$most"
		"$PWD/here" told RETRY_BUDGET_DIR -n 1 --budget-dir here
		# Only --trace means standard error by "-".
		"$PWD/-" told RETRY_BUDGET_DIR -n 1 --budget-dir -
		"$PWD/-" with RETRY_BUDGET_DIR=- told RETRY_BUDGET_DIR -n 1
		"$PWD/-" told RETRY_FLEET_AUTH_FILE -n 1 -B key --budget-dir . --fleet redis://127.0.0.1:1 --fleet-auth -
		- told RETRY_TRACE -n 1 --trace -
		'' "$RETRY" -B key --budget-dir here sh -c 'cd / && exec "$RETRY" true'
	END
	files=(here/*)
	[ "${#files[@]}" -eq 1 ] && [ -f "${files[0]}" ]
	seen "RETRY_BUDGET=a key/%
RETRY_BUDGET_DIR=$PWD
RETRY_BUDGET_MIN=010
RETRY_BUDGET_RATIO=020.0%
RETRY_BUDGET_WINDOW=0h1m
RETRY_NESTED=add" "${own[@]}" "$RETRY" --budget 'a key/%' --budget-ratio 020.0% \
	    --budget-min 010 --budget-window 0h1m --budget-dir "$PWD" --nested add
	table <<-'END'
		# An inner retry draws on the outer budget unless it names its own.
		try status=7 runs=4 "${once[@]}" -B shared --budget-dir . --budget-min 3 "$RETRY" "${once[@]}" "$RETRY" "${once[@]}" sh -c "$fails"
		try status=7 runs=6 "${once[@]}" -B other --budget-dir . --budget-min 1 "$RETRY" "${once[@]}" -B '' sh -c "$fails"
	END
}

@test "an inherited deadline is as one's own, and the earlier of both counts" {
	local told='sh -c "echo \$RETRY_DEADLINE"' past='$((end - 100000000000 - 1))'
	local none='giving up before attempt 1: deadline|ended after 0 attempts in *: deadline'
	table within <<-'END'
		# Without a deadline of its own, before a later one, and after an earlier one.
		'[ "$("$RETRY" '"$told"')" = "$RETRY_DEADLINE" ] && [ "$("$RETRY" -T 1000d '"$told"')" = "$RETRY_DEADLINE" ] && own=$("$RETRY" -T 10 '"$told"') && [ $((end - own)) -gt 80000000000 ]'
		# It ends an attempt; a delay that would pass it does not begin, of 5 attempts as ever.
		status=124 ms=390 says='attempt 1 ended by the deadline after *, giving up: deadline' 'export RETRY_DEADLINE=$((end - 99600000000)); "$RETRY" -T 50 sleep 20'
		status=7 out=5 says='attempt 1/5 failed (exit 7), giving up: deadline, the next delay (3m20s) does not fit' '"$RETRY" -d 200 -j none sh -c "echo \$RETRY_MAX_ATTEMPTS; exit 7"'
		# Where it is past nothing runs.
		status=124 says="$none" 'export RETRY_DEADLINE=0; "$RETRY" -T 50 -v touch ran'
		status=124 says="$none" 'export RETRY_DEADLINE='"$past"'; "$RETRY" -T 50 -v touch ran'
		status=124 says='' 'RETRY_DEADLINE=1 "$RETRY" -q touch ran'
	END
	[ ! -e ran ]
}
