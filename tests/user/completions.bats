#!/usr/bin/env bats
# Covers cli/options.
# What a person at the keyboard gets from the Tab key, in each shell. That the
# completions know all options is seen in docs.bats.

# shellcheck disable=SC2016 # $ in single quotes is for others

load helper
load actor

setup()
{
	helper_setup
	"$RETRY" --version | grep -q '^retry '
	top=${BATS_TEST_FILENAME%/*}/../..
	export HOME=$PWD/home XDG_CONFIG_HOME=$PWD/xdg
	unset RETRY_BUDGET_DIR
	mkdir bin home
	# A retry in the PATH, for completions that ask the program; and a
	# command that has arguments.
	printf '#!/bin/sh\nexec "$RETRY" "$@"\n' >bin/retry
	printf '#!/bin/sh\n' >bin/fooey
	chmod +x bin/*
	PATH=$PWD/bin:$PATH
}

need()
{
	command -v "$1" >/dev/null || skip "no $1 here"
}

# policies NAME...: makes policies of these names, in two directories.
policies()
{
	local directory
	for directory in "$XDG_CONFIG_HOME" "$HOME/.config"; do
		mkdir -p "$directory/retry"
	done
	touch "$XDG_CONFIG_HOME/retry/nightly.conf" \
		"$HOME/.config/retry/weekly.conf" \
		"$HOME/.config/retry/yearly.txt" monthly.conf
}

# Each init file has ^T print the line at the cursor as "=<line>=" and empty it.
start_bash()
{
	cat >init <<-'END'
		PS1=
		[ -z "$HELPERS" ] || . "$HELPERS"
		. "$TOP/completions/retry.bash"
		_fooey() { COMPREPLY=($(compgen -W 'argument' -- "$2")); }
		complete -F _fooey fooey
		show() { printf '=<%s>=\n' "$READLINE_LINE"; READLINE_LINE=; }
		bind -x '"\C-t": show'
		echo "READ""Y"
	END
	shell=(env INPUTRC=/dev/null bash --norc --noprofile -i)
}

start_zsh()
{
	cat >init <<-'END'
		fpath=($TOP/completions $fpath)
		autoload -U compinit
		compinit -u -d $DUMP
		_fooey() { _arguments '*:argument:(argument)' }
		compdef _fooey fooey
		setopt no_auto_menu no_list_beep
		zstyle ':completion:*' list no
		show() { zle -I; print -r -- "=<$BUFFER>="; BUFFER= }
		zle -N show
		bindkey '^T' show
		print "READ""Y"
	END
	shell=(zsh -f -i)
}

start_fish()
{
	cat >init <<-'END'
		source $TOP/completions/retry.fish
		complete -c fooey -f -a argument
		function show
		    printf '=<%s>=\n' (commandline)
		    commandline ''
		end
		bind \ct show
		function fish_prompt
		end
		echo "READ""Y"
	END
	shell=(fish --no-config -i)
}

# tab LINE...: types each line and a Tab into the shell, and prints what became
# of it, less the blank or comma at its end.
tab()
{
	local line steps=('type:. ./init^M' see:READY)
	for line; do
		steps+=("type:$line"$'\t\x14' 'see:>=')
	done
	TOP=$top HELPERS=${helpers-} DUMP=$BATS_FILE_TMPDIR/dump TERM=dumb timeout 120 \
		"$ACTOR" terminal "${steps[@]}" hangup -- "${shell[@]}" >came || :
	echo >>came
	tr -d '\r' <came | sed -n 's/[ ,]*>=.*//; s/.*=<//p'
}

# becomes LINE RESULT...: in the shell, a Tab makes RESULT of LINE.
becomes()
{
	local typed=() want=()
	while [ $# -gt 0 ]; do
		typed+=("$1")
		want+=("$2")
		shift 2
	done
	diff <(printf '%s\n' "${want[@]}") <(tab "${typed[@]}")
}

# all_become [AFTER]: what is the same in every shell, but for what it puts after
# an option that takes an argument.
all_become()
{
	local after=${1-}
	policies
	: >file
	becomes 'retry --log-f' "retry --log-format$after" \
		'retry --log-format j' 'retry --log-format json' \
		'retry --log-format=gi' 'retry --log-format=github' \
		'retry --progress al' 'retry --progress always' \
		'retry --dry' 'retry --dry-run' \
		'retry --replay' 'retry --replay-stdin' \
		'retry --stdin-m' "retry --stdin-max$after" \
		'retry --hold-m' "retry --hold-max$after" \
		'retry --report fi' 'retry --report file' \
		'retry --metrics=fi' 'retry --metrics=file' \
		'retry --trace fi' 'retry --trace file' \
		'retry --preset dock' 'retry --preset docker' \
		'retry --policy ni' 'retry --policy nightly' \
		'retry --policy=we' 'retry --policy=weekly' \
		'retry --policy ye' 'retry --policy ye' \
		'retry --policy mo' 'retry --policy mo' \
		'retry --policy ./mo' 'retry --policy ./monthly.conf' \
		'retry --policy=./mo' 'retry --policy=./monthly.conf' \
		'retry --on-retry fooe' 'retry --on-retry fooey' \
		'retry --policy weekly fooe' 'retry --policy weekly fooey' \
		'retry -IO fooey a' 'retry -IO fooey argument' \
		'retry -- fooe' 'retry -- fooey' \
		'retry -- fooey a' 'retry -- fooey argument' \
		'retry -- fooey -- x a' 'retry -- fooey -- x argument' \
		'retry -qE --stdin-max 1G -- fooey a' \
		'retry -qE --stdin-max 1G -- fooey argument' \
		'retry --dry-run --policy=weekly fooey a' \
		'retry --dry-run --policy=weekly fooey argument' \
		'retry --on-give-up true fooey --poli' \
		'retry --on-give-up true fooey --poli'
}

# bats test_tags=slow
@test "a Tab in bash completes options, values, policies and the command" {
	start_bash
	all_become
}

# bats test_tags=slow
@test "a Tab in bash does the same with bash-completion" {
	helpers=/usr/share/bash-completion/bash_completion
	[ -e "$helpers" ] || skip 'no bash-completion here'
	start_bash
	all_become
}

@test "bash-completion is asked by its names before 2.12, and since" {
	start_bash
	helpers=$PWD/helpers
	echo '_command_offset() { COMPREPLY=("since-2.0-$1"); }' >helpers
	becomes 'retry fooey x' 'retry fooey since-2.0-1' \
		'retry -n 3 -- fooey x' 'retry -n 3 -- fooey since-2.0-4'
	echo '_comp_command_offset() { COMPREPLY=("since-2.12-$1"); }' >>helpers
	becomes 'retry fooey x' 'retry fooey since-2.12-1' \
		'retry --policy=a fooey x' 'retry --policy=a fooey since-2.12-4'
}

# bats test_tags=slow
@test "a Tab in zsh completes options, values, policies and the command" {
	need zsh
	start_zsh
	all_become '='
}

# bats test_tags=slow
@test "a Tab in fish completes options, values, policies and the command" {
	need fish
	start_fish
	all_become
}

# bats test_tags=slow
@test "relative directories are not looked in for policies" {
	policies
	XDG_CONFIG_HOME=xdg
	local want=('retry --policy ni' 'retry --policy ni' 'retry --policy we' \
		'retry --policy weekly')
	start_bash
	becomes "${want[@]}"
	if command -v zsh; then
		start_zsh
		becomes "${want[@]}"
	fi
	if command -v fish; then
		start_fish
		becomes "${want[@]}"
	fi
}
