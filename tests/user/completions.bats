#!/usr/bin/env bats
# Covers cli/options.
# The completions know the options of --help, and what a person at the keyboard
# gets from the Tab key in each shell.

# shellcheck disable=SC2016,SC2034 # $ in single quotes is for others

load helper
load actor

setup() {
	helper_setup
	top=${BATS_TEST_FILENAME%/*}/../..
	export TOP=$top HOME=$PWD/home XDG_CONFIG_HOME=$PWD/xdg RETRY_BUDGET_DIR=$PWD/shm
	mkdir bin home shm
	# A retry in the PATH, for completions that ask the program; and a
	# command that has arguments.
	printf '#!/bin/sh\nexec "$RETRY" "$@"\n' >bin/retry
	printf '#!/bin/sh\n' >bin/fooey
	chmod +x bin/*
	PATH=$PWD/bin:$PATH
	# "letter name argument" of each option, "-" for what it lacks.
	"$RETRY" --help | sed -nE 's/^  (-(.),|   ) --([a-z-]+) ([^ ]*).*/\2 \3 \4/p' |
		sed 's/^ /- /; s/ $/ -/' >options
	[ "$(lines options)" -ge 70 ]
}

#
# What a shell offers. in_SHELL prints for each line of standard input, which
# lacks the name of retry, what the shell offers, on a line; '' is an empty word
# at the cursor.
#

in_bash() {
	# shellcheck disable=SC1090,SC2030,SC2317
	(
		set +e
		[ -z "${helpers-}" ] || . "$helpers"
		. "$top/completions/retry.bash"
		compopt() { :; } # works in a completion only
		_fooey() { COMPREPLY=(argument "${COMP_WORDS[@]}"); }
		complete -F _fooey fooey
		while read -ra words; do
			COMPREPLY=() COMP_WORDS=("$RETRY" "${words[@]/#\'\'/}")
			COMP_CWORD=${#words[@]} COMP_LINE="${COMP_WORDS[*]}"
			COMP_POINT=${#COMP_LINE}
			_retry "$RETRY" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
			echo "${COMPREPLY[*]}"
		done
	)
}

# What manuals say of commands is not asked for: apropos takes its time.
in_fish() {
	mapfile -t lines
	lines=("${lines[@]//\'\'}")
	fish --no-config -c '
		source $TOP/completions/retry.fish
		complete -c fooey -f -a "argument"
		function __fish_describe_command; end
		for line in $argv
			set -l offered (complete -C $line | string replace -r "\t.*" "")
			echo "$offered"
		end' "${lines[@]/#/retry }"
}

# takes LEAST WORDS: of the values that the shell offers behind these words, LEAST
# at least, retry takes each. Of some it offers the beginning.
takes() {
	local option=${2%% *} value given=()
	for value in $(in_$name <<<"$2"); do
		[[ $value != P[OA]* ]] || continue
		[ "${value##*[a-z]:}" ] || value=${value/again:/again:http:}503
		given+=("$option" "$value")
	done
	[ "${#given[@]}" -ge $((2 * $1)) ] && "$RETRY" "${given[@]}" true
}

# offers WORDS <WORDS: the shell offers these in any order.
offers() {
	sort >these
	in_$name <<<"$1" | tr -s ' ' '\n' | sort | diff these -
}

# What the shell called $name offers are the options of --help, values of options,
# and an option after the argument of another, or what the command has.
offers_options() {
	local letter option argument
	sed 's/^\(.\) \([^ ]*\).*/-\1\n--\2/' options | grep -vx -- -- | offers -
	while read -r letter option argument; do
		if [ "$argument" = - ]; then
			echo "argument --$option fooey a"
			continue
		fi
		echo "--quiet --$option fooey --qui"
		[ "$letter" = - ] || printf '%s\n' "--quiet -$letter fooey --qui" \
			"argument -${letter}1 fooey a"
	done <options >wanted
	cut -d ' ' -f 2- wanted >words
	in_$name <words | sed 's/ .*//' | paste -d ' ' - words | diff wanted -
	table takes <<-'END'
		4 "-b ''"
		4 "-j ''"
		30 "-s ''"
		30 "--retry-on ''"
		30 '--retry-on 7,'
		4 "--method ''"
		3 "--nested ''"
	END
	preset_words | cut -f 1 | offers "--preset ''"
	# Only behind --no- there is what takes back an option without an argument.
	grep -vE ' (help|version) ' options | sed -nE 's/^. (.*) -$/--no-\1/p' |
		offers --no-
}

# The values of --preset and what each means, with a tab between them.
preset_words() {
	"$RETRY" --preset list | sed -E 's/ \(.*//; s/ +/\t/'
	printf '%s\t%s\n' auto 'the preset for the command' \
		none 'take back all presets' list 'print all presets'
}

#
# What becomes of a line. Each init file has ^T print the line at the cursor as
# "{{line}}" and empty it.
#

start_bash() {
	cat >init <<-'END'
		PS1=
		[ -z "$HELPERS" ] || . "$HELPERS"
		. "$TOP/completions/retry.bash"
		_fooey() { COMPREPLY=($(compgen -W 'argument' -- "$2")); }
		complete -F _fooey fooey
		show() { printf '{{%s}}\n' "$READLINE_LINE"; READLINE_LINE=; }
		bind -x '"\C-t": show'
		echo "READ""Y"
	END
	shell=(env INPUTRC=/dev/null bash --norc --noprofile -i)
}

start_zsh() {
	cat >init <<-'END'
		fpath=($TOP/completions ${fpath:#*/(X|Debian|Linux|vendor-completions)})
		autoload -U compinit
		compinit -u -D
		_fooey() { _arguments '*:argument:(argument)' }
		compdef _fooey fooey
		setopt no_auto_menu no_list_beep
		zstyle ':completion:*' list no
		show() { zle -I; print -r -- "{{$BUFFER}}"; BUFFER= }
		zle -N show
		bindkey '^T' show
		print "READ""Y"
	END
	shell=(zsh -f -i)
}

start_fish() {
	cat >init <<-'END'
		source $TOP/completions/retry.fish
		complete -c fooey -f -a argument
		set -g fish_autosuggestion_enabled 0
		function __fish_describe_command; end
		function show
		    printf '{{%s}}\n' (commandline)
		    commandline ''
		end
		bind \ct show
		function fish_prompt
		end
		echo "READ""Y"
	END
	# Without the feature it waits for answers of the terminal.
	shell=(env TERM=xterm fish --no-config --features=no-query-term -i)
	# What is typed before fish 4 reads again is lost. It says that it reads,
	# of late not on a dumb terminal.
	[[ $(fish --version) = *' '[0-3].* ]] || reads=$'see:\e[?2004h'
}

# becomes <LINES: each has what is typed behind "retry ", followed by a Tab, a
# semicolon, and what becomes of it, less the blank or comma at its end. Without
# the latter it stays as it is. What is behind a $ is run by the shell itself.
becomes() {
	local line steps=('type:. ./init^M' see:READY ${reads:+"$reads"})
	sed '/^#/d; /^\$/!s/^[^;]*$/&;&/' >lines
	while IFS= read -r line; do
		if [[ $line == '$ '* ]]; then
			steps+=("type:${line#??}^M")
		else
			steps+=("type:retry ${line%;*}"$'\t\x14' 'see:}}')
		fi
		steps+=(${reads:+"$reads"})
	done <lines
	grep -v '^\$' lines >rows
	HELPERS=${helpers-} TERM=dumb timeout --foreground 120 \
		"$ACTOR" terminal "${steps[@]}" hangup -- "${shell[@]}" >came || :
	echo >>came
	tr -d '\r' <came | sed -n 's/[ ,]*}}.*//; s/.*{{retry //p' |
		paste -d ';' <(cut -d ';' -f 1 rows) - | diff rows -
}

# all_become [AFTER]: what is the same in every shell, but for what it puts after
# an option that takes an argument.
all_become() {
	local after=${1-}
	mkdir -p {xdg,home/.config}/retry
	touch file monthly.conf xdg/retry/nightly.conf home/.config/retry/{weekly.conf,yearly.txt}
	: >"shm/retry-v6.1$EUID.ape" # another user's
	"$RETRY" -B api true
	"$RETRY" -B a/b true
	becomes <<-END
		--att;--attempts$after
		--max-d;--max-delay$after
		--dry;--dry-run
		--replay;--replay-stdin
		--no-h;--no-h
		--no-ht;--no-http
		--no-http fooey a;--no-http fooey argument
		-b f;-b fibonacci
		-vj d;-vj decorrelated
		--jitter=n;--jitter=none
		-s TER;-s TERM
		--nested o;--nested once
		--method PU;--method PUT
		--retry-on 7,tim;--retry-on 7,timeout
		--fail-on stdo;--fail-on stdout:
		--stop-on 7,ov;--stop-on 7,over:
		--stop-on 7,ag;--stop-on 7,again:
		--limit 2:unde;--limit 2:under:
		--limit=2:7,tim;--limit=2:7,timeout
		--retry-after stdo;--retry-after stdout:
		--retry-after=60:ht;--retry-after=60:http:
		--retry-after 1m:7,stde;--retry-after 1m:7,stderr:
		--limit 2
		--log-format j;--log-format json
		--log-format=gi;--log-format=github
		--progress al;--progress always
		--preset dock;--preset docker
		--preset=net,gi;--preset=net,git
		--idempotency-key a;--idempotency-key auto
		--http-status fi;--http-status file
		--report fi;--report file
		--metrics=fi;--metrics=file
		--trace fi;--trace file
		--breaker o;--breaker on
		-B ap;-B api
		--budget=ap;--budget=api
		--budget-reset=ap;--budget-reset=api
		--budget-status ap;--budget-status api
		# Without a key all are shown, and after "=" this is one.
		--budget-status=al
		--budget-dir sh;--budget-dir shm/
		# The name of a policy is looked up, its path is not.
		--policy ni;--policy nightly
		--policy=we;--policy=weekly
		--policy ye
		--policy mo
		--policy ./mo;--policy ./monthly.conf
		--policy=./mo;--policy=./monthly.conf
		# The command, and what it completes itself.
		--on-retry fooe;--on-retry fooey
		--policy weekly fooe;--policy weekly fooey
		-- fooe;-- fooey
		fooey a;fooey argument
		-IO fooey a;-IO fooey argument
		-n 3 -- fooey a;-n 3 -- fooey argument
		-d 1,2 fooey a;-d 1,2 fooey argument
		-- fooey -- x a;-- fooey -- x argument
		-qE --stdin-max 1G -- fooey a;-qE --stdin-max 1G -- fooey argument
		--dry-run --policy=weekly fooey a;--dry-run --policy=weekly fooey argument
		-qn3 fooey --at
		--on-give-up true fooey --poli
		# A directory that a group shares.
		$ chmod g+s shm; mv file shm/retry-v6.app
		-B ap;-B app
		# A relative directory is not looked in for policies.
		$ export XDG_CONFIG_HOME=xdg
		--policy ni
		--policy we;--policy weekly
	END
}

@test "bash knows the options of --help, which take an argument, and their values" {
	name=bash
	offers_options
}

@test "words that bash splits at = and : or does not, are completed alike" {
	local helpers name=bash
	offered() # offered WORDS TEXT
	{
		gives 0 "$2" in_bash <<<"$1"
	}
	table offered <<-'END'
		'--preset net,lis' ''
		'--attempts i' inf
		'--jitter = d' decorrelated
		'--jitter=d' --jitter=decorrelated
		-sUSR1 -sUSR1
		'--limit 2 : ov' over:
		'--limit = 2 : 7,ov' 7,over:
		'--limit 2:7,ov' 2:7,over:
		--limit=2:ov --limit=2:over:
		'--limit 2' ''
		'--retry-after 60 : ht' http:
		'--limit 2 : http : 5' ''
		'--retry-on http : 5' ''
		'--retry-on http :' ''
		'--label job = a' ''
		'--label job :' ''
		'--budget-status --js' --json
	END
	[ "$(in_bash <<<'--limit 2 :' | wc -w)" -ge 60 ]
	# The command is found where retry finds it.
	printf '#!/bin/sh\necho argument fooey $*\n' >bin/fooey
	for words in 'fooey x' '-- fooey x' '-n 3 fooey x' '-n3 -- fooey x' \
		'-qn 3 fooey x' '-qvT60 fooey -n x' '-d 1,2 fooey --at' \
		'--delay=1 fooey x' '--quiet fooey --retry-on x' \
		'--retry-on http:503 fooey x' '--fail-on=7,stderr:x fooey y' \
		'--limit 2:http:503 fooey x' '-B db:1 fooey x' \
		'--label a:b=c fooey x' '--label=a=b:c fooey x' \
		'--trace a:b=c fooey x' '--on-retry a:b=c fooey x' '-j none -- fooey -- x'; do
		# shellcheck disable=SC2086 # words
		RETRY_BUDGET_DIR=. "$RETRY" $words 2>err >&4
		echo "$words"
	done 4>ran |
		sed -E ':a; s/^([^y]*[^ :=])([:=])([^ ].* fooey)/\1 \2 \3/; ta' >words
	[ "$(lines ran)" = 18 ]
	for helpers in '' /usr/share/bash-completion/bash_completion; do
		[ -e "$helpers" ] || [ -z "$helpers" ] || continue
		in_bash <words | sed 's/ \([:=]\) /\1/g' | diff ran -
		[[ " $(in_bash <<<'-n 3 -- ech') " == *' echo '* ]]
		[[ " $(in_bash <<<ech) " == *' echo '* ]]
	done
}

@test "bash-completion is asked by its names before 2.12, and since" {
	start_bash
	helpers=$PWD/helpers
	echo '_command_offset() { COMPREPLY=("since-2.0-$1"); }' >helpers
	becomes <<-'END'
		fooey x;fooey since-2.0-1
		-n 3 -- fooey x;-n 3 -- fooey since-2.0-4
	END
	echo '_comp_command_offset() { COMPREPLY=("since-2.12-$1"); }' >>helpers
	becomes <<-'END'
		fooey x;fooey since-2.12-1
		--policy=a fooey x;--policy=a fooey since-2.12-4
	END
	helpers=/usr/share/bash-completion/bash_completion
	[ -e "$helpers" ] || skip 'no bash-completion here'
	becomes <<-'END'
		--jitter=n;--jitter=none
		-d 1,2 fooey a;-d 1,2 fooey argument
		-- fooey -- x a;-- fooey -- x argument
	END
}

# bats test_tags=slow
@test "a Tab in bash completes options, values, policies and the command" {
	start_bash
	all_become
}

# bats test_tags=slow
@test "zsh knows the options of --help, and a Tab completes them and the command" {
	need zsh
	zsh -n "$top/completions/_retry"
	# {-n+,--attempts=}'[...]' or --retries=[...]
	grep -oE -- "(\{-.\+?,)?--[a-z-]+=?(\}'\[|\[)" "$top/completions/_retry" |
		sed -E "s/^\{-(.)\+?,/\1 /; s/^--/- --/; s/ --/ /
			s/=.*/ =/; s/[]}'[]+\$/ -/" |
		diff <(sed -E 's/ [^- ][^ ]*$/ =/' options) -
	zsh -f -c 'setopt extendedglob
		_arguments() { : }
		compset() { false }
		_call_program() { "${@:2}" }
		_describe() { print -l "$presets[@]" }
		words=($RETRY)
		source $1
		_retry_presets' zsh "$top/completions/_retry" | sort |
		diff - <(preset_words | tr '\t' : | sort)
	start_zsh
	all_become '='
}

# bats test_tags=slow
@test "fish knows the options of --help, and a Tab completes them and the command" {
	need fish
	name=fish
	offers_options
	fish --no-config -c 'source $TOP/completions/retry.fish
		complete -C "retry --preset "' | sort | diff - <(preset_words | sort)
	start_fish
	all_become
}
