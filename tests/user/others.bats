#!/usr/bin/env bats
# Covers run.
# The right side of "Coming from another retry" in doc/comparison.md has options of this
# program, and its delays are those of the other one.

load helper

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
		}' "$BATS_TEST_DIRNAME/../../doc/comparison.md")
	[ "${#right[@]}" -ge 9 ]
}

# rehearse WORDS: what --dry-run makes of these words of a shell, in ./out
rehearse() {
	eval "\"\$RETRY\" --dry-run $1" >out 2>err
}

# delays DELAYS ROW [OPTIONS]: the options of ROW mean these delays.
delays() {
	local words=${right[$2]#run: exec }
	rehearse "${words#retry } ${3-}"
	[ "$(awk '$1 + 0 { printf "%s ", $2 }' out)" = "$1 " ]
}

@test "the options for users of another retry are options, with the delays of the other" {
	local code options=0
	for name in "Debian's:" kadwanev nick-fields; do
		rows "$name"
		for code in "${right[@]}"; do
			code=${code#run: exec }
			[[ $code == *' ... '* || ${code#retry } != -* ]] || {
				rehearse "${code#retry }"
				((options += 1))
			}
		done
	done
	[ "$options" -ge 25 ]
	delays '10s 10s' 'command: make test'
	delays '30s 30s' 'retry_wait_seconds: 30' '-n 3'
	rows kadwanev
	delays '300ms 600ms 1.2s 2.4s 4.8s 9.6s 19.2s 38.4s 1m 1m' retry
	delays '2s 2s 2s' '-s 2' '-n 4'
	delays '1s 2s 4s 8s 16s 32s 1m 1m' '-m 1 -x 60' '--retries 8'
	rows "Debian's:"
	delays '10s 10s 10s 10s 10s 10s 10s 10s 10s 10s' retry
	delays '1s 2s 4s 4s 4s' '-d 1,2,4' '-n 6'
	rehearse "${right['-d 10 -j 5, since 1.0.6']}"
	grep -qx '1  *10s  *12.5s  *15s' out
}
