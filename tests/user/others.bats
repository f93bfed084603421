#!/usr/bin/env bats
# Covers run.
# This program does what each row of "Coming from another retry" in doc/comparison.md says.

load helper

# The PATH has a retry, and a cmd whose attempts end as ./plan says.
setup() {
	readme=${BATS_TEST_FILENAME%/*}/../../doc/comparison.md
	helper_setup
	mkdir bin
	ln -s "$RETRY" bin/retry
	cat >bin/cmd <<-'END'
		#!/bin/sh
		echo "${RETRY_ATTEMPT-}" >>made
		n=0 i=0
		while read -r _; do n=$((n + 1)); done <made
		read -r plan <plan
		for status in $plan; do
			[ "$((i += 1))" -lt "$n" ] || break
		done
		case $status in
		KILL) kill -KILL $$ ;;
		slow) exec sleep 30 ;;
		esac
		cat
		echo "out $n"
		exit "$status"
	END
	chmod +x bin/cmd
	PATH=$PWD/bin:$PATH
}

# Sets $right to the rows of its table for users of NAME: to the left cell belongs
# the first code of the right cell, or the whole cell if it has none.
rows() {
	local left code
	declare -gA right=()
	while IFS=$'\t' read -r left code; do
		right[$left]=$code
	done < <(awk -v name="$1" '
		/^From / { inside = index($0, name); next }
		!/^\|/ && NF { inside = 0 }
		inside && /^\| / && !/^\| there/ {
			gsub(/\\\|/, "\001")
			split($0, cells, / *\| */)
			gsub(/`/, "", cells[2])
			if (split(cells[3], code, /`/) > 1)
				cells[3] = code[2]
			line = cells[2] "\t" cells[3]
			gsub(/\001/, "|", line)
			print line
		}' "$readme")
	: >used
	[ "${#right[@]}" -ge 9 ]
}

# here ROW: prints what the row with this left cell has on the right.
here() {
	[ "${right[$1]+there}" ] || {
		echo "no row in doc/comparison.md: $1" >&2
		return 1
	}
	echo "$1" >>used
	echo "${right[$1]}"
}

# The test has looked up each row.
all_used() {
	diff <(printf '%s\n' "${!right[@]}" | sort) <(sort -u used)
}

# does PLAN ATTEMPTS STATUS LINE: this line for a shell runs cmd so many times, and
# ends with STATUS, which may be a pattern. Attempts of cmd end as PLAN says; its
# last status repeats.
does() {
	local got=0
	echo "$1" >plan
	rm -f made
	bash -c "$4" >out 2>err 3>&- || got=$?
	# shellcheck disable=SC2053 # a pattern
	[[ $got == $3 && $(lines made) = "$2" ]] || {
		echo "$(lines made) attempts, status $got: $4"
		cat err
		return 1
	} >&2
}

# Prints the delays that these options mean, on one line.
delays() {
	eval '"$RETRY" --dry-run '"$1" | awk '$1 + 0 { printf "%s ", $2 }'
}

@test "the options for users of Debian's retry do what it says" {
	rows "Debian's:"
	does '1 1 1 1 1 1 1 1 4 0' 10 0 "$(here retry) -d 0 -- cmd"
	does '1 1 1 1 1 1 1 1 4 0' 10 0 "retry $(here '-d 1,2,4') -d 0 -- cmd"
	does 4 5 4 "retry $(here '-t 5 (attempts)') -d 0 -- cmd"
	does '0 0 3' 3 3 "retry $(here '-u 3') -d 0 -- cmd"
	does '75 75 4' 3 4 "retry $(here '-w 75') -d 0 -- cmd"
	does '4 0' 2 0 "retry $(here '-m text') -d 0 -- cmd"
	grep -q text err
	does KILL 1 137 "retry $(here 'stops if a signal kills the command') -d 0 -- cmd"
	does '1 1 0' 3 0 "seq 2 | retry $(here 'replays input') -d 0 -- cmd"
	tail -n 3 out | diff <(printf '%s\n' 1 2 'out 3') -
	does '1 1 0' 3 0 "retry $(here 'holds output, and writes that of failures to standard error') -d 0 -- cmd"
	holds out 'out 3'
	not grep -q 'out 1' err
	does 3 1 0 "retry $(here '-u 0,3, of which only 0 counts') -- cmd"
	[ "$(delays "$(here retry | cut -d' ' -f2-)")" = \
		'10s 10s 10s 10s 10s 10s 10s 10s 10s 10s ' ]
	[ "$(delays "$(here '-d 1,2,4') -n 6")" = '1s 2s 4s 4s 4s ' ]
	here '-d 10 -j 5, since 1.0.6' | xargs "$RETRY" --dry-run | grep -qx \
		'1  *10s  *12.5s  *15s'
	all_used
}

@test "the options for users of kadwanev/retry do what it says" {
	rows kadwanev
	does 4 11 4 "$(here retry) -d 0 -- cmd"
	does 4 6 4 "retry $(here '-t 5 (retries)') -d 0 -- cmd"
	[ "$(delays "$(here retry | cut -d' ' -f2-)")" = \
		'300ms 600ms 1.2s 2.4s 4.8s 9.6s 19.2s 38.4s 1m 1m ' ]
	[ "$(delays "$(here '-s 2') -n 4")" = '2s 2s 2s ' ]
	[ "$(delays "$(here '-m 1 -x 60') --retries 8")" = \
		'1s 2s 4s 8s 16s 32s 1m 1m ' ]
	does 4 2 4 "retry -n 2 -d 0 $(here "-f 'line'" |
		sed 's/line/echo word; exit 9/') -- cmd"
	grep -qx word err
	not grep -q word out
	line=$(here "-f 'line', to write to standard output or set the status")
	line=${line/.../-n 2 -d 0 -- cmd}
	does 4 2 9 "${line/line/{ echo word; exit 9; \}}"
	grep -qx word out
	line=$(here "'a | b', for bash")
	does 4 1 0 "retry ${line/"a | b"/"[[ a < b ]] && cmd | sed s/out/in/"}"
	holds out 'in 1'
	here 'RETRY_ATTEMPT counts from 0' | grep -qx RETRY_ATTEMPT
	holds made 1
	does 127 2 127 'retry -n 2 -d 0 -- cmd'
	does 127 1 127 "retry $(here 'stops if the command exits with 127') -- cmd"
	all_used
}

@test "the options for users of nick-fields/retry do what it says" {
	rows nick-fields
	line=$(here 'command: make test')
	line=${line#run: }
	does 4 3 4 "${line/ -- make test/ -d 0 -- cmd}"
	grep -q '^::' err out
	[ "$(delays "$(cut -d' ' -f2- <<<"${line% -- *}")")" = '10s 10s ' ]
	does 4 3 4 "retry $(here 'max_attempts: 3') -d 0 -- cmd"
	[ "$(here 'timeout_minutes: 10')" = '-t 10m' ]
	[ "$(delays "$(here 'retry_wait_seconds: 30') -n 3")" = '30s 30s ' ]
	does 4 1 4 "retry $(here 'retry_on: timeout') -- cmd"
	does 4 3 4 "retry -n 3 -d 0 $(here 'retry_on: error') -- cmd"
	does 4 1 4 "retry $(here 'retry_on_exit_code: 7') -- cmd"
	does 4 3 0 "retry -n 3 -d 0 -- cmd $(here 'continue_on_error: true')"
	does 7 3 7 "retry -n 3 -d 0 $(here 'retry_on_exit_code: 7') -- cmd"
	line=$(here 'on_retry_command: line')
	does 7 3 7 "retry -n 3 -d 0 ${line/line/echo word} -- cmd"
	[ "$(grep -cx word err)" = 2 ]
	line=$(here 'new_command_on_retry: b')
	line=${line/then a;/then cmd;}
	does 7 1 9 "retry -d 0 -n 2 ${line/else b;/else exit 9;}"
	does 'slow 0' 2 0 "retry -t 2 -d 0 $(here 'retry_on: timeout') -- cmd"
	[ "$(here 'exits with 1 after a timeout')" = 'exits with 124' ]
	does 'slow 0' 1 124 "retry -t 1 $(here 'retry_on: error') -- cmd"
	does KILL 2 137 'retry -n 2 -d 0 -- cmd'
	all_used
}
