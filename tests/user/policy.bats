#!/usr/bin/env bats
# Covers cli/option, cli/options.
# --policy: options from a file.

# shellcheck disable=SC2016,SC2034 # the commands' shells and the rows expand

load helper

usual=(-d 0)

setup() {
	helper_setup
	unset XDG_CONFIG_HOME
	export HOME=$PWD/home
	also=(touch ran)
}

# policy LINE...: writes ./policy with these lines.
policy() {
	printf '%s\n' "$@" >policy
}

# named DIRECTORY NAME LINE...: writes a policy for this name.
named() {
	[ -d "$1" ] || mkdir -p "$1"
	printf '%s\n' "${@:3}" >"$1/$2.conf"
}

# allows NUMBER BYTES [WORD]...: with a policy of these bytes, printf's %b, retry
# makes NUMBER attempts at most.
allows() {
	printf '%b' "$2" >policy
	most "$1" --policy ./policy "${@:3}"
}

# refuses BYTES WHY [OPTION]...: such a policy is refused; WHY begins with the
# number of the line.
refuses() {
	printf '%b' "$1" >policy
	refused "./policy:$2" --policy ./policy "${@:3}"
}

# hands WANT [OPTION]... NAME: in the command the variable NAME has the value WANT.
hands() {
	gives 0 "$1" "$RETRY" "${@:2:$#-2}" printenv "${!#}"
}

@test "a name with a / is a path, any other is looked up in three directories, in order" {
	export XDG_CONFIG_HOME=$PWD/xdg
	policy attempts=7
	ln -s policy link
	table most <<-'END'
		7 --policy ./policy
		7 --policy="$PWD/policy"
		7 --policy ./link
		7 --policy ./../${PWD##*/}/policy
	END
	refused "--policy: no such policy; a path must contain a '/': 'retry-test'" --policy retry-test
	named home/.config/retry retry-test attempts=6
	most 6 --policy retry-test
	named xdg/retry retry-test attempts=5
	most 5 --policy retry-test
}

@test "a bare name may have any bytes but a /, and is not looked up in the working directory" {
	local no="--policy: no such policy; a path must contain a '/'"
	named . retry-test attempts=7
	named retry retry-test attempts=7
	named .config/retry retry-test attempts=7
	cp retry-test.conf retry-test
	named home/.config/retry 'a b' attempts=5
	named home/.config/retry -n attempts=6
	named home/.config/retry . attempts=7
	table <<-'END'
		refused "$no: 'retry-test'" --policy retry-test
		with HOME= refused "$no: 'retry-test'" --policy retry-test
		with HOME=. refused "$no: 'retry-test'" --policy retry-test
		with HOME= XDG_CONFIG_HOME= refused "$no: 'retry-test'" --policy retry-test
		with HOME=. XDG_CONFIG_HOME=. refused "$no: 'retry-test'" --policy retry-test
		(unset HOME && refused "$no: 'retry-test'" --policy retry-test)
		refused "$no: 'retry-test.conf'" --policy retry-test.conf
		most 5 --policy 'a b'
		most 6 --policy -n
		most 7 --policy .
		refused "$no: ''" --policy ''
	END
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

@test "a file that cannot be read, or is longer than 64 KiB, is refused with its path" {
	local long why='File name too long'
	long=$(printf '%05000d' 0)
	policy quiet
	mkfifo pipe
	table refused <<-'END'
		'--policy: No such file or directory: '\''./none'\' --policy ./none
		"--policy: Is a directory: './/'" --policy .//
		"--policy: Not a directory: './policy/x'" --policy ./policy/x
		"--policy: $why: '/${long::399}...'" --policy "/$long"
		"--policy: not a regular file: './pipe'" --policy ./pipe
	END
	why='--policy: longer than 64 KiB'
	printf 'attempts=7\n#%065524d' 0 >policy
	most 7 --policy ./policy
	echo >>policy
	refused "$why: './policy'" --policy ./policy
}

@test "a file without permission is refused, and no other one is looked for" {
	local as=() reached
	[ "$EUID" != 0 ] || as=(setpriv --inh-caps -all \
	    --bounding-set '-dac_override,-dac_read_search')
	named xdg/retry ci attempts=5
	named home/.config/retry ci attempts=5
	export XDG_CONFIG_HOME=$PWD/xdg
	"${as[@]}" true || skip 'no setpriv here'
	for reached in xdg/retry/ci.conf xdg/retry; do
		chmod 0 "$reached"
		if "${as[@]}" cat xdg/retry/ci.conf; then
			skip 'nothing is out of reach'
		fi
		run -125 "${as[@]}" "$RETRY" --policy ci echo ran
		[ "${lines[0]}" = "retry: --policy: Permission denied: '$PWD/xdg/retry/ci.conf'" ]
	done
	chmod 700 xdg/retry
}

@test "a policy that others may write, or of another user, is refused" {
	local why='others can write to it; use chmod go-w' mode
	policy attempts=7 'on-retry=touch ran'
	named home/.config/retry ci attempts=7
	for mode in 646 664; do
		chmod "$mode" policy home/.config/retry/ci.conf
		table <<-'END'
			refused "--policy: $why: './policy'" --policy ./policy false
			refused "--policy: $why: '$HOME/.config/retry/ci.conf'" --policy ci
			with RETRY_POLICY=./policy refused "\$RETRY_POLICY: $why: './policy'" false
			refused "--policy: $why: '/dev/stdin'" --policy /dev/stdin <policy
			# A pipe is the caller's own.
			most 7 --policy <(cat policy)
		END
	done
	chmod 644 policy
	most 7 --policy ./policy
	chmod 400 policy
	most 7 --policy ./policy
	[ "$EUID" = 0 ] || skip 'not root'
	chown 65533 policy || skip 'there is no other user here'
	refused "--policy: of another user, neither yours nor root's: './policy'" --policy ./policy
}

@test "a policy may come through a pipe, whose writer may be slow or gone" {
	most 7 --policy <(printf 'attempts=9\natt'; sleep 0.2; printf emp; sleep 0.2; echo ts=7)
	policy attempts=7
	most 7 --policy /dev/stdin <policy
	exec 7< <(echo attempts=7)
	wait "$!" || : # bash may know of its end already
	most 7 --policy /dev/fd/7
	exec 7<&-
}

@test "each long option is accepted, and in a policy all but those that run no command" {
	local name argument value options
	export RETRY_BUDGET_DIR=$PWD
	"$RETRY" --help |
		sed -nE 's/^  (-., |    )--([a-z-]+) ?([A-Z]?).*/\2 \3/p' >options
	(umask 077 && echo password >auth)
	while read -r name argument; do
		case $name in
		help | version | policy | dry-run | budget-status | \
			budget-reset | budget-gc | json | prom)
			policy '' "$name${argument:+=x}"
			refused "./policy:2: $name: only allowed on the command line" \
			    --policy ./policy
			continue
			;;
		# Beside others they are refused, need a server or hide a success.
		http | budget-required | chronic | exhausted-status) continue ;;
		deadline | wait | *timeout | kill-after | max-delay | delay | budget-window) value=9s ;;
		min-delay | splay) value=1ms ;;
		signal) value=TERM ;;
		backoff) value=linear ;;
		jitter) value=none ;;
		hold-max) value=1k ;;
		preset) value=curl ;;
		method) value=GET ;;
		nested) value=share ;;
		limit) value=1:7 ;;
		log-format) value=json ;;
		progress) value=never ;;
		breaker) value=on ;;
		rate) value=9/s ;;
		retry-after) value=stderr:in ;;
		retry-if | on-retry | on-give-up) value=true ;;
		report | metrics | trace | http-status) value=./$name ;;
		budget-dir) value=. ;;
		fleet) value=unix:///none ;;
		fleet-auth) value=auth ;;
		*) value=${argument:+1} ;;
		esac
		echo "$name${value:+=$value}"
	done <options >all
	[ "$(lines all)" -ge 57 ]
	gives 0 ok "$RETRY" --policy ./all echo ok 2>err
	mapfile -t options <all
	gives 0 ok "$RETRY" "${options[@]/#/--}" echo ok 2>err
	policy http budget=key budget-required
	gives 0 ok "$RETRY" --policy ./policy echo ok 2>err
	policy chronic
	gives 0 '' "$RETRY" --policy ./policy echo ok
	policy exhausted-status=9
	try status=9 --policy ./policy -n 1 -- false
	try status=1 --policy ./policy --exhausted-status '' --keep-status -n 1 -- false
}

@test "comments are skipped, lines may end in CR LF, and a value is the rest of the line" {
	table allows <<-'END'
		7 '\n# attempts=9\n   \n\t\n  # --help\n\t#attempts=8\n#\n# \0377 \033\n  attempts=7\n\n'
		5 ''
		5 '#'
		7 'quiet\nattempts=7'
		7 'quiet\r\n\r\n# x\r\nattempts=7\r\nhttp\r\nidempotency-key=a b\r\n'
		7 'attempts=7\r'
		# Of two lines the last counts.
		5 'attempts=7\nattempts=5\n'
	END
	# A value is the rest of the line, without quoting.
	policy "idempotency-key=  \"a\" 'b' \\n \$HOME # =c  "
	hands "  \"a\" 'b' \\n \$HOME # =c  " -q --http --policy ./policy RETRY_IDEMPOTENCY_KEY
	printf 'http\r\nidempotency-key=a b\r\n' >policy
	hands 'a b' -q --policy ./policy RETRY_IDEMPOTENCY_KEY
}

@test "a line that is wrong is refused with its file and number" {
	local attempts='attempts: not a number of attempts' only='only allowed on the command line'
	local long
	long=$(printf '%0200d' 0)
	table refuses <<-'END'
		'# one\nattempt=3\n' "2: unknown option 'attempt'; did you mean 'attempts'?"
		'\n\nnonsense' "3: unknown option 'nonsense'"
		'a\033b' "1: unknown option 'a\\x1bb'"
		"$long$long$long" "1: unknown option '$long$long...'"
		# Neither an option nor a flag.
		'quiet\n--attempts=3' "2: unknown option '--attempts'"
		'attempts 3' "1: unknown option 'attempts 3'"
		'quiet ' "1: unknown option 'quiet '; did you mean 'quiet'?"
		=3 "1: unknown option ''"
		'  attempts\t=3' "1: unknown option 'attempts\\t'; did you mean 'attempts'?"
		# A value that is missing, wrong, or not wanted.
		attempts '1: attempts: needs an argument'
		'quiet\nattempts=' "2: $attempts: ''"
		'attempts= 3' "1: $attempts: ' 3'"
		delay=1,x "1: delay: not a time in ms, s, m, h or d: 'x' in '1,x'"
		'stop-on=stderr:a)' "1: stop-on: ) without (: ')' in 'a)'"
		preset=show:curl "1: preset: $only: 'show:curl'"
		quiet= "1: quiet: takes no argument: 'quiet='"
		'attempts=3\npreset=curl,frob' "2: preset: no such preset: 'frob' in 'curl,frob'" --preset git
	END
	refused "--preset: no such preset: 'frob'" --preset frob --policy <(echo preset=curl)
	# A location is escaped, and cut, as is a quoted text.
	local e
	printf -v e 'é%.0s' {1..80}
	mkdir -p "$long/b"
	echo x | tee $'./a\nb\e' >"$long/b/$long"
	table refused <<-'END'
		"./a\\nb\\x1b:1: unknown option 'x'" --policy $'./a\nb\e'
		"./$long/b/${long::26}:1: unknown option 'x'" --policy "./$long/b/$long"
	END
	refuses "x$e$e$e" "1: unknown option 'x$e$e${e::39*${#e}/80}...'"
}

@test "the command line overrides a policy, wherever --policy stands" {
	policy attempts=7 quiet
	printf '%s\n' attempts=7 quiet >first
	table most <<-'END'
		3 --policy ./policy -n 3
		3 -n 3 --policy ./policy
		3 --policy ./policy --retries 2
		# Of several policies the last one counts.
		7 --policy <(echo attempts=5) --policy ./first
		5 --policy ./first --policy <(echo attempts=5)
		3 --policy ./policy -n 3 --policy=./first
		inf --policy <(echo deadline=1h)
		3 -n 3 --policy <(echo deadline=1h)
	END
	try says='*|*' -v --policy ./policy true
	try status=1 says='' --policy ./first --policy <(echo attempts=5) -n 2 false
	table refused <<-'END'
		"--policy: No such file or directory: './none'" --policy ./first --policy ./none
		# They are checked together.
		"--http-status: not with --http: 'x'" --policy <(echo http) --http-status x
		"--breaker: only with --budget: 'on'" --policy <(echo breaker=on)
		"--max-delay: below --min-delay: '1s'" --policy <(echo min-delay=2s) --max-delay 1s
	END
	# In the command's arguments, or in those of options, it is not read.
	gives 0 '--policy ./none' "$RETRY" echo --policy ./none
	run "$RETRY" --method --policy ./none
	[ "${lines[0]}" = "retry: --method: not idempotent, and no --idempotency-key: '--policy'" ]
}

# attempts NUMBER STATUS WORD...: a command that fails so is run NUMBER times.
attempts() {
	try status="$2" runs="$1" -q -n 3 "${@:3}" sh -c 'echo >>ran; exit "$0"' "$2"
}

@test "no- takes back an option without an argument, an empty argument what a list has" {
	local line flags=()
	"$RETRY" --help >help
	while IFS= read -r line; do
		[[ ! $line =~ ^'  '(-., |'    ')--([a-z-]+)('  '.*|)$ ]] ||
			[[ ${BASH_REMATCH[2]} == @(help|version) ]] ||
			flags+=("--${BASH_REMATCH[2]}" "--no-${BASH_REMATCH[2]}")
	done <help
	[ "${#flags[@]}" -ge 26 ]
	try out=ok "${flags[@]}" echo ok
	table refused <<-'END'
		"--quiet: takes no argument: '--no-quiet=1'" --no-quiet=1
		"--deadline: takes an argument, so there is no form with no-: '--no-deadline'" --no-deadline 1
		"unknown option '--no-help'" --no-help
		"unknown option '--no-version'" --no-version
	END
	given=(quiet hold-stderr http-status=./status stop-on=1 stop-on=stderr:x limit=0:fail preset=git)
	all=(--policy ./policy --no-hold-stderr --stop-on= --limit '' --no-http)
	rows row eval <<-'END'
	each of them, and the last one counts, in a policy, too
	    policy "${given[@]}"
	    try status=1 says='> err|> err' "${all[@]}" --preset none -n 2 --http -- sh -c 'echo err >&2; exit 1'
	    attempts 1 2 "${all[@]}" --preset '' --stop-on 2
	    attempts 1 2 "${all[@]}" --preset none --preset git
	    echo no-quiet >later
	    try status=1 says='attempt 1/5 failed (exit 1), giving up: --stop-on 1 (./policy:4)' \
	        --policy ./policy --policy ./later --no-hold-stderr -- false
	what has another argument than a list
	    policy report=r metrics=m trace=t 'on-give-up=: >hook' breaker=1,9s
	    local options=(--report '' --metrics '' --trace '' --on-give-up '' --breaker '')
	    try status=1 --policy ./policy "${options[@]}" -n 1 -- false
	    [ ! -e r ] && [ ! -e m ] && [ ! -e t ] && [ ! -e hook ]
	what -v says is not taken back by --no-quiet
	    try says='*|*' -v --no-quiet -- true
	no pattern is looked for any more
	    gives 0 "$PWD/err" "$RETRY" --stop-on stderr:x --limit 1:stdout:x \
	        --stop-on '' --limit '' readlink /proc/self/fd/2 2>err
	END
}

# alike WORDS OTHERS [COMMAND...]: retry plans the same with both.
alike() {
	# shellcheck disable=SC2086 # words
	local all
	"$RETRY" --dry-run $2 "${@:3}" >plan && "$RETRY" --dry-run $1 "${@:3}" >other &&
		mapfile -t all <plan && holds other "${all[@]}"
}

@test "-w is a wait without a policy's rules for failures, and each given option counts" {
	policy auto retry-on=3 limit=1:fail http attempts=2 delay=9 timeout=9 backoff=linear \
	    method=POST idempotency-key=auto min-delay=40 max-delay=50 jitter=none splay=5 \
	    retry-after=stderr:wait retry-if=false fail-on=0
	printf '%s\n' retries=2 http-status=./status >other
	printf '%s\n' delay=5 retry-on=3 wait=60 >waits
	local long='-T 60 -d 1 -b constant -t 5 -E'
	table alike <<-'END'
		'-w 60' "$long"
		'--wait=1m -d 5' "$long -d 5"
		'-t 0 -j none -b linear -w 60' "$long -t 0 -j none -b linear"
		'--retries 2 -w 60' "$long -n 3"
		'-T 30 -w 60' "$long -T 30"
		'-w 9 -w 60' "$long"
		'--policy ./policy -w 60' "$long" git
		'--policy ./policy --policy ./other -w 60' "$long" git
		'-a --http -w 60 --policy ./policy' "$long -a --http" git
		'--max-delay 2 -j equal --retry-if x -w 60 --policy ./policy' "$long --max-delay 2 -j equal --retry-if x" git
		'--idempotency-key k -w 60 --policy ./policy' "$long --idempotency-key k" curl
		'--preset curl -w 60 --limit 1:fail --retry-on 9' "$long --limit 1:fail --preset curl --retry-on 9"
		'--policy ./waits' "$long -d 5"
		'--policy ./waits -T 9 -d 7' "$long -T 9 -d 7"
	END
	try status=7 says='> err|waited for sh: attempt 2/2 failed (exit 7), giving up: attempts exhausted' -n 2 -w 60 -- sh -c 'echo err >&2; exit 7'
	table refused <<-'END'
		"--wait: not a time above 0: '0'" -w 0
		"--wait: not a time in ms, s, m, h or d: 'x'" --wait x
		"--wait: not a time in ms, s, m, h or d: 'x'" -w x -w 60
	END
}

@test "lists add up, but of RETRY_POLICY and a policy only one is read" {
	policy stop-on=1 stop-on=2
	named home/.config/retry ci stop-on=3
	table <<-'END'
		attempts 1 1 --policy ./policy --stop-on 3
		attempts 1 2 --policy ./policy --stop-on 3
		attempts 1 3 --policy ./policy --stop-on 3
		attempts 3 3 --policy ./policy
		with RETRY_POLICY=ci attempts 3 3 --policy ./policy
		with RETRY_POLICY=ci attempts 1 3 --stop-on 2
	END
}

@test "a policy is read for --dry-run and for budgets" {
	policy attempts=2 delay=0 timeout=1s,2
	"$RETRY" --policy ./policy --dry-run | grep -q '^Worst case *3s '
	policy budget-dir=none
	run "$RETRY" --policy ./policy --budget-status all
	[ "$output" = 'retry: cannot read none: No such file or directory' ]
}

@test "a policy overrides the environment, the command line both, RETRY_POLICY nothing" {
	export RETRY_BUDGET_DIR=$PWD/shm RETRY_BUDGET=outer
	mkdir shm
	policy budget=policy budget-min=3
	echo budget= >none
	echo nested=add >add
	table <<-'END'
		hands policy --policy ./policy RETRY_BUDGET
		hands 3 --policy ./policy RETRY_BUDGET_MIN
		hands line --policy ./policy -B line RETRY_BUDGET
		hands '' --policy ./none RETRY_BUDGET
		with RETRY_BUDGET= RETRY_NESTED=x hands add --policy ./add RETRY_NESTED
		[ "$(cd shm && echo *)" = "retry-v6.$EUID.line retry-v6.$EUID.policy" ]
	END
	export RETRY_POLICY=./policy
	table <<-'END'
		with RETRY_BUDGET= hands policy RETRY_BUDGET
		hands outer RETRY_BUDGET
		hands 3 RETRY_BUDGET_MIN
		[ -e "shm/retry-v6.$EUID.outer" ]
		hands line -B line RETRY_BUDGET
		with RETRY_NESTED=x refused "\$RETRY_NESTED: not share, add or once: 'x'"
	END
}

@test "RETRY_POLICY names a policy where the command line has none, but not for --help" {
	named home/.config/retry ci attempts=7
	named home/.config/retry default attempts=8
	policy attempts=6
	table <<-'END'
		with RETRY_POLICY=ci most 7
		with RETRY_POLICY=./policy most 6
		with RETRY_POLICY=$PWD/policy most 6
		with RETRY_POLICY=ci most 3 -n 3
		with RETRY_POLICY=ci most 6 --policy ./policy
		with RETRY_POLICY= most 5
		with RETRY_POLICY=none most 6 --policy ./policy
		# default.conf is a name like any other.
		most 5
		with RETRY_POLICY=default most 8
	END
	policy attempts=0
	echo dry-run >dry
	table with <<-'END'
		RETRY_POLICY=no refused "\$RETRY_POLICY: no such policy; a path must contain a '/': 'no'"
		RETRY_POLICY=./none refused "\$RETRY_POLICY: No such file or directory: './none'"
		RETRY_POLICY=./policy refused "./policy:1: attempts: not a number of attempts: '0'"
		RETRY_POLICY=./dry refused './dry:1: dry-run: only allowed on the command line'
	END
	RETRY_POLICY=./none try out='Usage*' --help
	RETRY_POLICY=./none try out='retry *' --version
	# A nested retry reads it too, and keeps what the outer one gave.
	export RETRY_BUDGET_DIR=$PWD RETRY_POLICY=$PWD/policy
	policy attempts=7 budget=policy nested=add
	[ "$("$RETRY" -n 2 -B outer -- "$RETRY" \
	    sh -c 'echo $RETRY_MAX_ATTEMPTS $RETRY_BUDGET')" = '7 outer' ]
	[ "$("$RETRY" -n 2 -d 0 -q -- sh -c '"$RETRY" -q -d 0 -- \
	    sh -c "echo \$RETRY_MAX_ATTEMPTS; exit \$RETRY_ANCESTOR_RETRY"
	    exit 1' | tail -n 1)" = 1 ]
}

