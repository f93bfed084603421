# shellcheck shell=bash
# bash completion for retry(1): its options, then the completion of the
# command that it runs. Works with and without the package bash-completion.

# Finds what is at the cursor. Sets $command to the index of the command's word,
# or to 0 where there is none yet; $option to the option whose argument is at
# the cursor, or to ''; $cur to the text of that argument or word, and $head to
# what stands before it in the same word ("-s" of "-sTERM").
_retry_where()
{
	local i word letters parts

	command=0 option='' cur='' head=''
	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		# "=" is a word of its own if it is in COMP_WORDBREAKS
		if [[ $word == = && ${COMP_WORDS[i - 1]} == --* ]]; then
			option=${COMP_WORDS[i - 1]} cur=''
			((i < COMP_CWORD)) || return
			word=${COMP_WORDS[++i]}
		fi
		cur=$word
		if [[ $option ]]; then
			# and so are "=" and ":" within the argument
			parts=0
			while ((i < COMP_CWORD)) &&
				[[ ${COMP_WORDS[i + 1]} == [=:]* ]]; do
				((i += i + 1 < COMP_CWORD ? 2 : 1, parts++))
				((i < COMP_CWORD)) && continue
				# the list of a limit is behind the first ":"
				if [[ $option == --limit || $option$word == --retry-after[0-9]* ]] &&
					((parts == 1)); then
					option=--stop-on cur=${COMP_WORDS[i]#:}
				else
					option=-
				fi
			done
			((i < COMP_CWORD)) && option=''
			continue
		fi
		case $word in
		--)
			((i < COMP_CWORD)) && command=$((i + 1))
			return
			;;
		--*=*)
			((i < COMP_CWORD)) && continue
			option=${word%%=*} cur=${word#*=} head=$option=
			;;
		--attempts | --retries | --limit | --deadline | --wait | --timeout | \
			--idle-timeout | --signal | --kill-after | --delay | \
			--backoff | --factor | \
			--max-delay | --min-delay | --jitter | --seed | \
			--reset-after | --splay | --retry-after | \
			--retry-on | --stop-on | \
			--fail-on | --success-on | --consecutive | \
			--exhausted-status | --preset | \
			--http-status | --max-retry-after | --method | --idempotency-key | \
			--stdin-max | --hold-max | --budget | --budget-ratio | --budget-min | \
			--budget-window | --budget-wait | --budget-cooldown | \
			--rate | --budget-dir | --breaker | \
			--budget-reset | --nested | --fleet | --fleet-auth | \
			--fleet-timeout | --fleet-min | \
			--fleet-ratio | --fleet-alone | --label | --log-format | --report | \
			--metrics | --trace | --retry-if | --on-retry | --on-give-up | --progress | \
			--policy)
			((i < COMP_CWORD)) && [[ ${COMP_WORDS[i + 1]} != = ]] &&
				option=$word
			;;
		--budget-status)
			((i < COMP_CWORD)) && [[ ${COMP_WORDS[i + 1]} != [=-]* ]] &&
				option=$word
			;;
		--*) ;;
		-?*)
			letters=${word#-}
			while [[ $letters == [aIOEqvhV]* ]]; do
				letters=${letters#?}
			done
			[[ $letters == [nTwtskdbjB]* ]] || continue
			if [[ $letters == ? ]]; then
				((i < COMP_CWORD)) && option=-$letters
			elif ((i == COMP_CWORD)); then
				option=-${letters:0:1} cur=${letters:1}
				head=${word%"$cur"}
			fi
			;;
		*)
			# a lone - may yet become an option
			[[ $word == - ]] && ((i == COMP_CWORD)) && return
			command=$i
			return
			;;
		esac
	done
}

_retry_signals()
{
	local name

	for name in $(compgen -A signal SIG); do
		[[ $name == *JUNK* ]] || echo "$name ${name#SIG}"
	done
}

# The program itself knows its presets, whatever it is called.
_retry_presets()
{
	local name

	while read -r name _; do
		echo "$name"
	done < <("${COMP_WORDS[0]/#\~/$HOME}" --preset list 2>/dev/null)
}

# Keys of budgets, as the names of their files show them. Left out are those
# that no file name can hold, and what is cut off.
_retry_budgets()
{
	local directory=${RETRY_BUDGET_DIR:-/dev/shm} prefix path key

	prefix=$directory/retry-v6.
	# those that a group shares are nobody's own
	[[ -g $directory ]] || prefix+=$EUID.
	for path in "$prefix"*; do
		key=${path#"$prefix"}
		[[ $key == *[%~*]* ]] || echo "$key"
	done
}

# Names of policies. A file's own name has to have a "/".
_retry_policies()
{
	local directory path

	for directory in "${XDG_CONFIG_HOME-}" "$HOME/.config" /etc; do
		[[ $directory == /* ]] || continue
		for path in "$directory"/retry/?*.conf; do
			path=${path##*/}
			[[ $path == '?*.conf' ]] || echo "${path%.conf}"
		done
	done
}

# Completes a command line that begins in the middle of this one, with what
# bash has been told about that command.
_retry_command()
{
	local at=$1 spec function name line=$COMP_LINE i

	if declare -F _comp_command_offset >/dev/null; then
		_comp_command_offset "$at"
		return
	elif declare -F _command_offset >/dev/null; then
		_command_offset "$at"
		return
	fi
	if ((COMP_CWORD == at)); then
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -c -d -- "$cur")
		return
	fi
	name=${COMP_WORDS[at]##*/}
	spec=$(complete -p -- "$name" 2>/dev/null)
	if [[ $spec != *' -F '* ]]; then
		compopt -o bashdefault -o default
		return
	fi
	for ((i = 0; i < at; i++)); do
		line=${line#*"${COMP_WORDS[i]}"}
	done
	line=${line#"${line%%[![:space:]]*}"}
	((COMP_POINT -= ${#COMP_LINE} - ${#line}))
	COMP_LINE=$line
	COMP_WORDS=("${COMP_WORDS[@]:at}")
	((COMP_CWORD -= at))
	function=${spec##* -F }
	function=${function%% *}
	"$function" "$name" "${COMP_WORDS[COMP_CWORD]}" \
		"${COMP_WORDS[COMP_CWORD - 1]}"
}

_retry()
{
	local command option cur head words=''

	COMPREPLY=()
	_retry_where
	if ((command)); then
		cur=${COMP_WORDS[COMP_CWORD]}
		_retry_command "$command"
		return
	fi
	case $option in
	-n | --attempts | --retries)
		words=inf
		;;
	-s | --signal)
		words=$(_retry_signals)
		;;
	-b | --backoff)
		words='exponential linear constant fibonacci'
		;;
	-j | --jitter)
		words='full equal decorrelated none'
		;;
	--limit)
		[[ $cur == *:* ]] || return
		head+=${cur%%:*}: cur=${cur#*:}
		;&
	--retry-on | --stop-on | --fail-on | --success-on)
		words="timeout idle fail signal http: over: under: again: stderr: stdout:
			$(_retry_signals)"
		[[ $cur == *,* ]] && head+=${cur%,*},
		;;
	--retry-after)
		words='stderr: stdout:'
		if [[ $cur == [0-9]*:* ]]; then
			head+=${cur%%:*}: cur=${cur#*:} words+=' http:'
			[[ $cur == *,* ]] && head+=${cur%,*},
		fi
		;;
	--preset)
		words="auto $(_retry_presets)"
		if [[ $cur == *,* ]]; then
			head+=${cur%,*},
		else
			words+=' none list'
		fi
		;;
	--http-status | --report | --metrics | --trace)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -P "$head" -f -- "$cur")
		return
		;;
	--method)
		words='GET HEAD OPTIONS PUT DELETE POST PATCH'
		;;
	--idempotency-key)
		words=auto
		;;
	-B | --budget | --budget-status | --budget-reset)
		words=$(_retry_budgets)
		;;
	--budget-dir)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -P "$head" -d -- "$cur")
		return
		;;
	--breaker)
		words=on
		;;
	--nested)
		words='share add once'
		;;
	--log-format)
		words='text json github'
		;;
	--progress)
		words='auto always never'
		;;
	--retry-if | --on-retry | --on-give-up)
		mapfile -t COMPREPLY < <(compgen -P "$head" -c -- "$cur")
		return
		;;
	--policy)
		if [[ $cur == */* ]]; then
			compopt -o filenames
			mapfile -t COMPREPLY < <(compgen -P "$head" -f -- "$cur")
			return
		fi
		words=$(_retry_policies)
		;;
	-*)
		return
		;;
	*)
		words='-n --attempts --retries --limit -T --deadline -w --wait -t --timeout
			--idle-timeout -s --signal -k --kill-after --kill-orphans
			--preserve-status
			-d --delay -b --backoff
			--factor --max-delay --min-delay -j --jitter --seed
			--reset-after --splay --retry-after --retry-on --retry-if
			--stop-on --fail-on --success-on --consecutive
			--keep-status --exhausted-status
			-a --auto --preset --http --http-status
			--max-retry-after --method --idempotency-key
			-I --replay-stdin --stdin-max -O --hold-stdout
			-E --hold-stderr --chronic --hold-max -B --budget
			--budget-ratio --budget-min --budget-window
			--budget-wait --budget-cooldown --rate --budget-dir
			--budget-required --breaker --budget-status --json
			--prom --budget-reset --budget-gc --nested
			--fleet --fleet-auth --fleet-timeout
			--fleet-min --fleet-ratio --fleet-alone
			-q --quiet -v --verbose --label --log-format --report
			--metrics --trace --on-retry --on-give-up --progress
			--dry-run --policy
			-h --help -V --version'
		[[ $cur != --no-* ]] ||
			words=$(printf -- '--no-%s ' kill-orphans preserve-status keep-status auto \
				http replay-stdin hold-stdout hold-stderr chronic \
				budget-required json prom budget-gc quiet verbose \
				dry-run)
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -P "$head" -W "$words" -- "${cur##*,}")
	[[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *: ]] || compopt -o nospace
}

complete -F _retry retry
