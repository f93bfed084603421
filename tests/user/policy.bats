#!/usr/bin/env bats
# Covers cli/option, cli/option_parse.
# --policy: options from a file.

# shellcheck disable=SC2016 # the commands' shells expand

load helper

setup()
{
	helper_setup
	unset XDG_CONFIG_HOME
	export HOME=$PWD/home
	mkdir home
}

TRY="Try '${RETRY##*/} -h' for more information."

# refused LINE WORD...: retry refuses these words: status 125, LINE and the
# advice on standard error, and no command is run.
refused()
{
	local line=$1 status=0
	shift
	"$RETRY" "$@" touch ran >out 2>err || status=$?
	[ "$status" -eq 125 ] || {
		echo "status $status: $*"
		return 1
	}
	holds err "$line" "$TRY" && [ ! -s out ] && [ ! -e ran ]
}

# policy LINE...: writes ./policy with these lines.
policy()
{
	printf '%s\n' "$@" >policy
}

# named DIRECTORY NAME LINE...: writes a policy for this name.
named()
{
	mkdir -p "$1"
	printf '%s\n' "${@:3}" >"$1/$2.conf"
}

#
# Finding the file
#

@test "a file with a / in its name is a path" {
	policy attempts=7
	most 7 --policy ./policy
	most 7 --policy="$PWD/policy"
	mkdir sub
	cd sub
	most 7 --policy ../policy
}

@test "a bare name is looked up in three directories, in order" {
	export XDG_CONFIG_HOME=$PWD/xdg
	refused "retry: --policy: no such policy; a path must contain a '/': 'ci'" \
	    --policy ci
	named home/.config/retry ci attempts=6
	most 6 --policy ci
	named xdg/retry ci attempts=5
	most 5 --policy ci
	rm xdg/retry/ci.conf
	most 6 --policy ci
}

@test "a bare name is never looked up in the working directory" {
	named . ci attempts=7
	named retry ci attempts=7
	named .config/retry ci attempts=7
	cp ci.conf ci
	local no="retry: --policy: no such policy; a path must contain a '/': 'ci'"
	refused "$no" --policy ci
	HOME='' refused "$no" --policy ci
	HOME=. refused "$no" --policy ci
	HOME='' XDG_CONFIG_HOME='' refused "$no" --policy ci
	HOME=. XDG_CONFIG_HOME=. refused "$no" --policy ci
	(unset HOME && refused "$no" --policy ci)
	refused "${no/ci/ci.conf}" --policy ci.conf
}

@test "a bare name may have any bytes but a /" {
	named home/.config/retry 'a b' attempts=5
	named home/.config/retry -n attempts=6
	named home/.config/retry . attempts=7
	most 5 --policy 'a b'
	most 6 --policy -n
	most 7 --policy .
	refused "retry: --policy: not a policy's name: ''" --policy ''
	refused "retry: --policy: not a policy's name: ''" --policy=
}

@test "the system's policies are in /etc/retry" {
	[ "$EUID" = 0 ] || skip 'not root'
	unshare -m true 2>unshare || skip 'no mount namespaces here'
	named etc/retry ci attempts=9
	named etc/retry own attempts=9
	named home/.config/retry own attempts=8
	unshare -m sh -ec '
		mount --bind etc /etc
		test "$("$RETRY" --policy ci printenv RETRY_MAX_ATTEMPTS)" = 9
		test "$("$RETRY" --policy own printenv RETRY_MAX_ATTEMPTS)" = 8'
}

@test "a file that cannot be read is refused, with its path" {
	refused "retry: --policy: No such file or directory: './none'" --policy ./none
	refused "retry: --policy: Is a directory: './/'" --policy .//
	policy quiet
	refused "retry: --policy: Not a directory: './policy/x'" --policy ./policy/x
	local long why
	long=$(printf '%05000d' 0)
	why=$(why "$long")
	refused "retry: --policy: $why: '${long::400}...'" --policy "$long"
	refused "retry: --policy: $why: '/${long::399}...'" --policy "/$long"
}

@test "a file without permission is refused, and no other one is looked for" {
	local as=()
	[ "$EUID" != 0 ] || as=(setpriv --inh-caps -all \
	    --bounding-set '-dac_override,-dac_read_search')
	named xdg/retry ci attempts=5
	named home/.config/retry ci attempts=5
	chmod 0 xdg/retry/ci.conf
	"${as[@]}" true || skip 'no setpriv here'
	if "${as[@]}" cat xdg/retry/ci.conf; then
		skip 'nothing is out of reach'
	fi
	XDG_CONFIG_HOME=$PWD/xdg run "${as[@]}" "$RETRY" --policy ci echo ran
	[ "$status" -eq 125 ]
	[ "${lines[0]}" = "retry: --policy: Permission denied: '$PWD/xdg/retry/ci.conf'" ]
	chmod 0 xdg/retry
	XDG_CONFIG_HOME=$PWD/xdg run "${as[@]}" "$RETRY" --policy ci echo ran
	[ "$status" -eq 125 ]
	[ "${lines[0]}" = "retry: --policy: Permission denied: '$PWD/xdg/retry/ci.conf'" ]
	chmod 700 xdg/retry
}

@test "a policy may come through a pipe" {
	most 7 --policy <(echo attempts=7)
	echo attempts=7 >policy
	[ "$("$RETRY" --policy /dev/stdin printenv RETRY_MAX_ATTEMPTS <policy)" = 7 ]
	{
		for part in att emp ts= 7; do
			printf '%s' "$part"
			sleep 0.01
		done
	} | {
		most 7 --policy /dev/stdin
	}
}

@test "a pipe is read to its end, whether its writer is slow or gone" {
	most 7 --policy <(sleep 0.2; echo attempts=9; sleep 0.2; echo attempts=7)
	exec 7< <(echo attempts=7)
	wait "$!"
	most 7 --policy /dev/fd/7
	exec 7<&-
	mkfifo pipe
	echo attempts=7 >pipe 3>&- &
	[ "$("$RETRY" --policy /proc/self/fd/0 printenv RETRY_MAX_ATTEMPTS <pipe)" = 7 ]
}

@test "a FIFO is refused, with a writer and without, and so is a device" {
	mkfifo pipe
	run -125 timeout --foreground 20 "$RETRY" --policy ./pipe touch ran
	[ "${lines[0]}" = "retry: --policy: not a regular file: './pipe'" ]
	exec 7<>pipe
	echo attempts=7 >&7
	refused "retry: --policy: not a regular file: './pipe'" --policy ./pipe
	exec 7>&-
	refused "retry: --policy: not a regular file: '/dev/zero'" \
	    --policy /dev/zero
	mkdir -p home/.config/retry
	mv pipe home/.config/retry/ci.conf
	refused "retry: --policy: not a regular file: '$HOME/.config/retry/ci.conf'" \
	    --policy ci
}

@test "a policy may be a link to one" {
	policy attempts=7
	ln -s policy link
	most 7 --policy ./link
}

#
# Contents
#

@test "a policy may have each long option but those that run no command" {
	local name argument value fleet allowed=0
	export RETRY_BUDGET_DIR=$PWD
	"$RETRY" --help |
		sed -nE 's/^  (-., |    )--([a-z-]+) ?([A-Z]?).*/\2 \3/p' >options
	[ "$(lines options)" -ge 56 ]
	(umask 077 && echo password >auth)
	while read -r name argument; do
		fleet=fleet=unix:///none http='' want=ok
		case $name in
		help | version | policy | dry-run | budget-status | \
			budget-reset | budget-gc | json | prom | fleet-via)
			policy '' "$name${argument:+=x}"
			refused "retry: ./policy:2: $name: only allowed on the command line" \
			    --policy ./policy
			continue
			;;
		deadline | timeout | idle-timeout | kill-after | splay | max-delay | delay | \
			budget-window | fleet-timeout) value=1s ;;
		min-delay) value=1ms ;;
		signal) value=TERM ;;
		backoff) value=linear ;;
		jitter) value=none ;;
		preset) value=curl ;;
		method) value=GET ;;
		idempotency-key) value=1 http=http-status=s ;;
		nested) value=share ;;
		limit) value=1:7 ;;
		log-format) value=json ;;
		progress) value=never ;;
		breaker) value=on ;;
		retry-after) value=stderr:in ;;
		on-retry | on-give-up) value=true ;;
		report | metrics | trace | http-status) value=./file ;;
		budget-dir) value=. ;;
		fleet) value=valkey://host ;;
		fleet-auth) value=auth ;;
		budget-required) value='' fleet='' ;; # it needs the server
		chronic) value='' want='' ;; # it hides a success
		*) value=${argument:+1} ;;
		esac
		policy budget=key "$fleet" "$http" "$name${value:+=$value}"
		[ "$("$RETRY" --policy ./policy echo ok 2>err)" = "$want" ]
		((++allowed))
	done <options
	[ "$allowed" -ge 47 ]
}

@test "comments and empty lines are skipped, whatever bytes they have" {
	policy '' '# attempts=9' '   ' $'\t' '  # --help' $'\t#attempts=8' \
	    '#' $'# \xff \e' '  attempts=7' ''
	most 7 --policy ./policy
	: >policy
	most 5 --policy ./policy
}

@test "the last line may lack its newline" {
	printf 'quiet\nattempts=7' >policy
	most 7 --policy ./policy
	printf '#' >policy
	most 5 --policy ./policy
}

@test "lines may end in CR LF" {
	printf 'quiet\r\n\r\n# x\r\nattempts=7\r\nhttp\r\nidempotency-key=a b\r\n' >policy
	most 7 --policy ./policy
	[ "$("$RETRY" --policy ./policy printenv RETRY_IDEMPOTENCY_KEY)" = 'a b' ]
	printf 'attempts=7\r' >policy
	most 7 --policy ./policy
}

@test "a value is the rest of the line, without quoting" {
	policy "idempotency-key=  \"a\" 'b' \\n \$HOME # =c  "
	[ "$("$RETRY" -q --http --policy ./policy printenv RETRY_IDEMPOTENCY_KEY)" = \
	    "  \"a\" 'b' \\n \$HOME # =c  " ]
	policy 'stop-on=stderr:a, b#c'
	run "$RETRY" -q --policy ./policy -d 0 \
	    sh -c 'echo >>ran; echo "a, b#c" >&2; exit 1'
	[ "$status" -eq 1 ]
	[ "$(lines ran)" -eq 1 ]
}

@test "a flag has no value, and refuses one" {
	policy quiet
	"$RETRY" --policy ./policy -n 2 -d 0 false 2>err || [ $? = 1 ]
	[ ! -s err ]
	policy quiet=
	refused "retry: ./policy:1: quiet: takes no argument: 'quiet='" --policy ./policy
	policy verbose=1
	refused "retry: ./policy:1: verbose: takes no argument: 'verbose=1'" \
	    --policy ./policy
}

#
# Errors
#

@test "an unknown option is refused with its file and line" {
	policy '# one' attempt=3
	refused "retry: ./policy:2: unknown option 'attempt'; did you mean 'attempts'?" \
	    --policy ./policy
	policy tries=3
	refused "retry: ./policy:1: unknown option 'tries'; did you mean 'attempts'?" \
	    --policy ./policy
	policy n=3
	refused "retry: ./policy:1: unknown option 'n'; did you mean 'attempts'?" \
	    --policy ./policy
	policy x=3
	refused "retry: ./policy:1: unknown option 'x'" --policy ./policy
	policy '' '' nonsense
	refused "retry: ./policy:3: unknown option 'nonsense'" --policy ./policy
	policy Attempts=3
	refused "retry: ./policy:1: unknown option 'Attempts'; did you mean 'attempts'?" \
	    --policy ./policy
}

@test "a malformed line is refused with its file and line" {
	local line
	for line in --attempts=3 -n3 - -- 'attempts 3' 'quiet ' =3 = '= 3' \
	    'attempts 3 = 3' '--' 'retry -n 3'; do
		policy quiet "$line"
		refused "retry: ./policy:2: neither option nor option=value: '$line'" \
		    --policy ./policy
	done
}

@test "blanks before an equals sign are refused" {
	local line
	for line in 'attempts =3' 'attempts = 3' 'attempts  =' 'x = y'; do
		policy quiet "$line"
		refused "retry: ./policy:2: blanks around = are not allowed: '$line'" \
		    --policy ./policy
	done
	policy $'  attempts\t=3'
	refused "retry: ./policy:1: blanks around = are not allowed: 'attempts\\t=3'" \
	    --policy ./policy
}

@test "a missing or wrong value is refused with its file and line" {
	policy attempts
	refused 'retry: ./policy:1: attempts: needs an argument' --policy ./policy
	policy quiet attempts=
	refused "retry: ./policy:2: attempts: not a number of attempts: ''" \
	    --policy ./policy
	policy attempts=3x
	refused "retry: ./policy:1: attempts: not a number of attempts: '3x'" \
	    --policy ./policy
	policy 'attempts= 3'
	refused "retry: ./policy:1: attempts: not a number of attempts: ' 3'" \
	    --policy ./policy
	policy delay=1,x
	refused "retry: ./policy:1: delay: not a time in ms, s, m, h or d: 'x' in '1,x'" --policy ./policy
	policy 'stop-on=stderr:a)'
	refused "retry: ./policy:1: stop-on: ) without (: ')' in 'a)'" --policy ./policy
	policy preset=list
	refused "retry: ./policy:1: preset: only allowed on the command line: 'list'" \
	    --policy ./policy
	policy preset=show:curl
	refused "retry: ./policy:1: preset: only allowed on the command line: 'show:curl'" \
	    --policy ./policy
}

@test "a NUL byte is refused" {
	printf 'quiet\nattempts=3\0\n' >policy
	refused "retry: ./policy:2: contains a NUL byte: 'attempts=3'" --policy ./policy
	printf '\0' >policy
	refused "retry: ./policy:1: contains a NUL byte: ''" --policy ./policy
	printf '# \0\n' >policy
	refused "retry: ./policy:1: contains a NUL byte: '# '" --policy ./policy
}

@test "a policy of more than 64 KiB is refused, one of so many is taken" {
	{
		echo attempts=7
		head -c 65525 /dev/zero | tr '\0' '#'
	} >policy
	[ "$(stat -c %s policy)" = 65536 ]
	most 7 --policy ./policy
	echo >>policy
	refused "retry: --policy: longer than 64 KiB: './policy'" --policy ./policy
	truncate -s 1M policy
	refused "retry: --policy: longer than 64 KiB: './policy'" --policy ./policy
	refused "retry: --policy: longer than 64 KiB: '/dev/stdin'" \
	    --policy /dev/stdin </dev/zero
}

@test "names and lines of any bytes do not break the message" {
	policy x
	cp policy $'./a\nb\e'
	refused "retry: ./a\\nb\\x1b:1: unknown option 'x'" --policy $'./a\nb\e'
	policy $'a\eb'
	refused "retry: ./policy:1: unknown option 'a\\x1bb'" --policy ./policy
	local long
	long=$(printf '%0200d' 0)
	mkdir "$long"
	cp policy "$long/policy"
	refused "retry: ...${long:57}/policy:1: unknown option 'a\\x1bb'" \
	    --policy "./$long/policy"
	policy "$long$long$long"
	refused "retry: ./policy:1: unknown option '$long$long...'" --policy ./policy
}

@test "a location and a quoted text are cut between characters" {
	local e
	printf -v e 'é%.0s' {1..80}
	mkdir "$e"
	policy x
	cp policy "$e"
	refused "retry: ...${e:8*${#e}/80}/policy:1: unknown option 'x'" \
	    --policy "./$e/policy"
	policy "x$e$e$e"
	refused "retry: ./policy:1: unknown option 'x$e$e${e::39*${#e}/80}...'" \
	    --policy ./policy
}

@test "a preset that is wrong is refused with the file and the line" {
	policy attempts=3 preset=curl,frob
	refused "retry: ./policy:2: preset: no such preset: 'frob' in 'curl,frob'" \
	    --preset git --policy ./policy
	policy preset=auto
	refused "retry: ./policy:1: preset: auto found no preset for: 'touch'" \
	    --policy ./policy
	RETRY_POLICY=./policy refused \
	    "retry: ./policy:1: preset: auto found no preset for: 'touch'"
	refused "retry: --preset: no such preset: 'frob'" --preset frob \
	    --policy <(echo preset=curl)
}

#
# Precedence
#

@test "the command line overrides a policy, wherever --policy stands" {
	policy attempts=7 quiet
	most 3 --policy ./policy -n 3
	most 3 -n 3 --policy ./policy
	most 3 --policy ./policy --retries 2
	"$RETRY" -v --policy ./policy true 2>err
	[ "$(lines err)" -eq 2 ]
	policy deadline=1h
	most inf --policy ./policy
	most 3 -n 3 --policy ./policy
}

@test "a policy overrides the environment, the command line overrides both" {
	export RETRY_BUDGET_DIR=$PWD/shm RETRY_BUDGET=outer
	mkdir shm
	policy budget=policy
	"$RETRY" --policy ./policy true
	[ "$(ls shm)" = "retry-v4.$EUID.policy" ]
	"$RETRY" --policy ./policy -B line true
	[ "$(ls shm | wc -l)" = 2 ]
	policy budget=
	[ "$("$RETRY" --policy ./policy sh -c 'echo "${RETRY_BUDGET:-none}"')" = none ]
	[ ! -e "shm/retry-v4.$EUID.outer" ]
	unset RETRY_BUDGET
	policy nested=add
	[ "$(RETRY_NESTED=x "$RETRY" --policy ./policy printenv RETRY_NESTED)" = add ]
}

@test "the budget options of a policy are handed on to the command" {
	export RETRY_BUDGET_DIR=$PWD
	policy budget=key budget-min=3
	[ "$("$RETRY" --policy ./policy \
	    sh -c 'echo $RETRY_BUDGET $RETRY_BUDGET_MIN')" = 'key 3' ]
}

@test "lists add up" {
	policy stop-on=1 stop-on=2
	run "$RETRY" -q -d 0 -n 3 --policy ./policy --stop-on 3 \
	    sh -c 'echo >>ran; exit 1'
	[ "$(lines ran)" -eq 1 ]
	run "$RETRY" -q -d 0 -n 3 --policy ./policy --stop-on 3 \
	    sh -c 'echo >>ran; exit 3'
	[ "$(lines ran)" -eq 2 ]
}

@test "in a policy the last of two lines counts" {
	policy attempts=7 attempts=5
	most 5 --policy ./policy
}

@test "several policies count in the order that they are given" {
	policy attempts=7 quiet
	cp policy first
	policy attempts=5
	most 5 --policy ./first --policy ./policy
	most 7 --policy ./policy --policy ./first
	most 3 --policy ./policy -n 3 --policy=./first
	"$RETRY" --policy ./first --policy ./policy -n 2 -d 0 false 2>err || :
	[ ! -s err ]
	refused "retry: --policy: No such file or directory: './none'" \
	    --policy ./first --policy ./none
}

@test "--policy in the command's arguments is not read" {
	[ "$("$RETRY" echo --policy ./none)" = '--policy ./none' ]
	[ "$("$RETRY" -- echo --policy ./none)" = '--policy ./none' ]
	run "$RETRY" --method --policy ./none
	[ "${lines[0]}" = "retry: --method: not idempotent, and no --idempotency-key: '--policy'" ]
}

@test "options of a policy and of the command line are checked together" {
	policy http
	refused "retry: --http-status: not with --http: 'x'" --policy ./policy \
	    --http-status x
	policy breaker=on
	refused "retry: --breaker: only with --budget: 'on'" --policy ./policy
	policy min-delay=2s
	refused "retry: --max-delay: below --min-delay: '1s'" --policy ./policy \
	    --max-delay 1s
}

@test "a policy is read for --dry-run and for budgets, and not for --help" {
	policy attempts=3 delay=2 jitter=none timeout=1s
	"$RETRY" --policy ./policy --dry-run | grep -q '^Worst case *9s '
	policy attempts=2 delay=0 timeout=1s,2
	"$RETRY" --policy ./policy --dry-run | grep -q '^Worst case *3s '
	policy budget-dir=none
	run "$RETRY" --policy ./policy --budget-status all
	[ "$output" = 'retry: cannot read none: No such file or directory' ]
	"$RETRY" --help --policy ./none | grep -q ^Usage
}

@test "without --policy no file is looked for" {
	command -v strace >/dev/null || skip 'no strace here'
	[ -z "${RETRY_SAN-}" ] || skip 'the sanitizers look for files'
	named home/.config/retry policy attempts=7
	named home/.config/retry default attempts=7
	strace -o trace -e trace=file "$RETRY" -n 3 true
	run grep -E 'home|/etc/retry' trace
	[ "$status" = 1 ]
}

#
# RETRY_POLICY
#

@test "RETRY_POLICY names a policy where the command line has none" {
	named home/.config/retry ci attempts=7
	policy attempts=6
	RETRY_POLICY=ci most 7
	RETRY_POLICY=./policy most 6
	RETRY_POLICY=$PWD/policy most 6
	RETRY_POLICY=ci most 3 -n 3
	RETRY_POLICY=ci most 6 --policy ./policy
	RETRY_POLICY='' most 5
	RETRY_POLICY=none most 6 --policy ./policy
}

@test "of RETRY_POLICY and a policy only one is read, although LISTs add up" {
	named home/.config/retry ci stop-on=1
	policy stop-on=2
	RETRY_POLICY=ci run "$RETRY" -q -d 0 -n 3 --policy ./policy \
	    sh -c 'echo >>ran; exit 1'
	[ "$(lines ran)" -eq 3 ]
	RETRY_POLICY=ci run "$RETRY" -q -d 0 -n 3 --stop-on 2 \
	    sh -c 'echo >>ran; exit 1'
	[ "$(lines ran)" -eq 4 ]
}

@test "default.conf is read only if RETRY_POLICY says default" {
	named home/.config/retry default attempts=7
	most 5
	RETRY_POLICY=default most 7
}

@test "a RETRY_POLICY that is wrong is refused by its name, but not for --help" {
	RETRY_POLICY=ci refused \
	    "retry: \$RETRY_POLICY: no such policy; a path must contain a '/': 'ci'"
	RETRY_POLICY=./none refused \
	    "retry: \$RETRY_POLICY: No such file or directory: './none'"
	policy attempts=0
	RETRY_POLICY=./policy refused \
	    "retry: ./policy:1: attempts: not a number of attempts: '0'"
	policy dry-run
	RETRY_POLICY=./policy refused \
	    'retry: ./policy:1: dry-run: only allowed on the command line'
	RETRY_POLICY=./none "$RETRY" --help | grep -q ^Usage
	RETRY_POLICY=./none "$RETRY" --version | grep -q '^retry '
}

@test "a variable with a setting counts more than RETRY_POLICY" {
	export RETRY_BUDGET_DIR=$PWD
	policy budget=policy budget-min=3
	[ "$(RETRY_POLICY=./policy "$RETRY" \
	    sh -c 'echo $RETRY_BUDGET $RETRY_BUDGET_MIN')" = 'policy 3' ]
	[ "$(RETRY_POLICY=./policy RETRY_BUDGET=own "$RETRY" \
	    sh -c 'echo $RETRY_BUDGET $RETRY_BUDGET_MIN')" = 'own 3' ]
	[ -e "retry-v4.$EUID.own" ]
	[ "$(RETRY_POLICY=./policy RETRY_BUDGET=own "$RETRY" -B line \
	    printenv RETRY_BUDGET)" = line ]
	RETRY_POLICY=./policy RETRY_NESTED=x refused \
	    "retry: \$RETRY_NESTED: not share, add or once: 'x'"
}

@test "a nested retry reads RETRY_POLICY too, and keeps what the outer one gave" {
	export RETRY_BUDGET_DIR=$PWD RETRY_POLICY=$PWD/policy
	policy attempts=7 budget=policy nested=add
	[ "$("$RETRY" -n 2 -B outer -- "$RETRY" \
	    sh -c 'echo $RETRY_MAX_ATTEMPTS $RETRY_BUDGET')" = '7 outer' ]
	[ "$("$RETRY" -n 2 -d 0 -q -- sh -c '"$RETRY" -q -d 0 -- \
	    sh -c "echo \$RETRY_MAX_ATTEMPTS; exit \$RETRY_ANCESTOR_RETRY"
	    exit 1' | tail -n 1)" = 1 ]
}
