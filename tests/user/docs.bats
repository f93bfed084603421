#!/usr/bin/env bats
# Covers cli/help, cli/options.
# Help, manual and README agree with the program, and their examples run.

# shellcheck disable=SC2016,SC2034 # $ and ` in single quotes are for others

load helper

setup() {
	top=${BATS_TEST_FILENAME%/*}/../..
	pages=("$top"/retry.1 "$top"/man/*.[57])
	helper_setup
}

# section PAGE TITLE...: the lines of these sections of a page's source, without
# those of their subsections. \& at the end of EXAMPLES hides the name from
# mandoc, which expects that section near the end of a page.
section() {
	local title
	for title in "${@:2}"; do
		awk -v title="$title" '/^\.S[hs] / {
				sub(/\\&$/, "")
				inside = substr($0, 5) == title
				next
			}
			inside' "$top/$1"
	done
}

# block LANGUAGE FILE [N]: the Nth block of this language in a file of Markdown, or the 1st
block() {
	awk -v begin="\`\`\`$1" -v n="${3-1}" '/^```/ { inside = 0 } inside && n == 0
		$0 == begin { inside = 1; n-- }' "$2"
}

# Source of the manual to plain text.
plain() {
	sed -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" -e 's/\\(dq/"/g' -e 's/\\&//g' -e 's/\\e/\\/g'
}

# items PAGE TITLE...: the items and rows of these sections as plain text, a tab
# between columns.
items() {
	section "$@" | sed -n 's/^\.It //p' | plain | sed 's/ *\<Ta /\t/g; s/ , /, /g'
}

# display PAGE TITLE: what this section shows between .Bd and .Ed.
display() {
	section "$@" | plain | sed -n '/^\.Bd/,/^\.Ed/p' | sed '1d;$d'
}

# shown PAGE...: pages of the manual, as a terminal of 80 columns has them.
shown() {
	mandoc -Tascii -Owidth="${width-80}" "$@" | sed 's/.\x08//g'
}

# The words of pages on standard input, a line each, without headers, footers, what
# mandoc draws between pages, and the quotes that groff has around a section since 1.23.
words_of() {
	sed -E '/\) .* Manual .*RETRY/d; /^retry [0-9.]+ .* (retry [0-9.]+|RETRY.*\))$/d; /^-{70,}$/d
		s/ -- / - /; s/^ *\* / o /' | tr '`' "'" | tr -d '"' | tr -s ' ' '\n'
}

# set_by_groff PAGE...: the same by man-db, which leaves two columns free. Of many pages
# groff sets one footer before 1.23, and the header of the next page before the end of a
# page; since then it would also stretch lines. What it says goes to ./warnings.
set_by_groff() {
	groff -ww -mdoc -Tascii -P-c -dAD=l -rLL="${width-78}n" "$@" 2>>warnings |
		sed 's/.\x08//g'
}

@test "the manual has the options of --help, in its order, with the same arguments and defaults" {
	local attempts delay
	attempts=$("$RETRY" sh -c 'echo "$RETRY_MAX_ATTEMPTS"')
	delay=$("$RETRY" --dry-run -j none | awk '$1 == 1 { print $2 }')
	[ "$attempts $delay" = '5 1s' ]
	"$RETRY" --help >help
	grep -qF "(default $attempts; with -T, inf)" help
	grep -qF "(default $delay)" help
	section retry.1 Limits | grep -qx "The default is $attempts\."
	section retry.1 Delays | grep -qxF "The default is $delay."
	tr '\n' ' ' <"$top/README.md" |
		grep -qF 'makes at most five attempts. With `-T` and without `-n`, it makes as many'
	# That it is so is shown by limits, conditions and dryrun.
	section retry.1 Limits | sed -n '/^\.It Fl T/,/^\.It Fl t/p' | grep -qx '\.Fl k'
	grep -q -- ' --stop-on LIST .* only --success-on wins' help
	"$RETRY" -h | grep -q -- ' --delay DUR .* at most .* each one: 1,5,30$'
	need mandoc
	sed -nE 's/^  (-[a-zA-Z], |    )(--[a-z-]+( [[A-Z][^ ]*)?).*/\1\2/p' help |
		sed 's/^ *//' >options
	[ "$(lines options)" -ge 70 ]
	shown "${pages[@]}" >all
	sed -nE '/^WHAT IS/q; /^OPTIONS/,$s/^     (-.)?( [^ ]+,|,)? ?(--[a-z-]+( [[A-Z][^ ]*)?)(  .*)?$/\1, \3/p' all |
		sed 's/^, //' | diff options -
	# A long option has two dashes in each sentence, too.
	sed -E 's/.*--([a-z-]+).*/(^|[ (])-\1([ ,.;:)]|$)/' options >patterns
	not grep -E -f patterns all
}

@test "retry(1) has at most 880 lines, the pages beside it 1,900, README and CONTRIBUTING 200, and no sentence stands on two pages" {
	local others
	"$RETRY" --version | grep -q '^retry '
	[ "$(lines "$top/README.md")" -le 200 ]
	[ "$(lines "$top/CONTRIBUTING.md")" -le 200 ]
	need mandoc
	[ "$(shown "$top/retry.1" | wc -l)" -le 880 ]
	others=("$top"/man/*.7) # mandoc draws three lines between two of them
	[ "$(shown "${others[@]}" | wc -l)" -le $((1900 + 3 * (${#others[@]} - 1))) ]
	# A paragraph is a line. Tables and examples have no sentences.
	width=950 shown "${pages[@]}" |
		sed -n '/^RETRY[^ ]*([157]) /p; s/^ \{5,\}\(.*[.]\)$/\1/p' |
		sed 's/\([.;:]\)  */\1\n/g' |
		awk '/^RETRY[^ ]*\(/ { page = $1 }
			NF > 7 && !seen[page, $0]++' >sentences
	[ "$(lines sentences)" -ge 700 ]
	sort sentences | uniq -d | diff /dev/null -
}

@test "under mandoc and man-db, each page names the version, fits 80 columns and breaks no table or command" {
	local version file
	version=$("$RETRY" --version | head -n 1)
	[[ $version == 'retry '* ]]
	need mandoc
	need groff
	shown "${pages[@]}" >mandoc
	set_by_groff "${pages[@]}" >groff
	sed -n 's/^\.Dl //p' "${pages[@]}" | plain | sort >commands
	for file in mandoc groff; do
		# What is left of a cell begins below the cell.
		awk -v "version=$version" -v "pages=${#pages[@]}" '
			/\) +[GFM][a-z]+ [A-Z][a-z]+ Manual +RETRY/ { headers++ }
			$0 ~ "^" version " .* (" version "|RETRY.*[(][157][)])$" { footers++ }
			length > 80
			/^ {30,}[^ ]/ {
				match($0, /^ +/)
				if (substr(above, RLENGTH, 2) !~ /^ [^ ]/)
					print
			}
			{ above = $0 }
			END {
				if (headers != pages || footers != pages && (footers != 1 || FILENAME != "groff"))
					print headers, footers
			}' $file | diff /dev/null -
		grep -oF -f commands $file | sort | diff commands -
		# A status, and beside it when it is given.
		[ "$(sed -n '/^EXIT STATUS/,/^$/p' $file | grep -c '^     [0-9t].\{12\}    [^ ]')" = \
			"$(items retry.1 'EXIT STATUS' | grep -c '^[0-9t]')" ]
	done
	# No two words have become one.
	width=950 shown "${pages[@]}" | words_of >mandoc
	width=950 set_by_groff "${pages[@]}" | words_of | grep . >groff
	[ -s groff ]
	grep . mandoc | diff - groff
	diff /dev/null warnings
}

@test "the manual names the options that an empty argument takes back" {
	local name
	"$RETRY" --help | sed -nE 's/^  (-[a-zA-Z], |    )--([a-z-]+) [A-Z].*/\2/p' |
		while read -r name; do
			"$RETRY" --dry-run "--$name" '' true || # some need these others
				"$RETRY" --dry-run -B api --fleet unix:///none "--$name" '' true || continue
			echo "$name" >&3
		done 3>names >out 2>err
	[ "$(lines names)" = 20 ]
	section retry.1 OPTIONS | sed -n '/^But$/,/^by an empty argument, too/p' |
		grep -oE 'Fl Fl [a-z-]+' | sed 's/.* //; /^no-http$/d; /^policy$/d' | sort -u |
		diff <(sort names) -
}

@test "each reference in the manual names a page or a section that there is" {
	"$RETRY" --version | grep -q '^retry '
	local file others
	grep -ohE 'Xr retry[a-z.-]* [1-8]' "${pages[@]}" | sort -u >names
	while read -r _ name section; do
		[ -e "$top/$name.$section" ] || [ -e "$top/man/$name.$section" ]
	done <names
	awk '{ gsub(/\\&/, "") }
		/^\.S[hs] / { title[FILENAME, substr($0, 5)] }
		/[. ]Sx / {
			sub(/.*[. ]Sx /, "")
			sub(/ ([.;,:].*|No .*|Ns.*)$/, "")
			wanted[FILENAME, $0]
		}
		END {
			for (name in wanted)
				if (!(name in title))
					print name
		}' "${pages[@]}" | diff /dev/null -
	others=$(section retry.1 'SEE ALSO')
	for file in "$top"/man/*; do
		file=${file##*/}
		[[ $others == *"Xr ${file%.*} ${file##*.}"* ]]
		has_line ".Nm ${file%.*}" "$top/man/$file"
	done
}

@test "the variables that retry sets, and those of others that it reads, are those in the manual" {
	echo quiet >policy
	(umask 077 && echo password >auth)
	RETRY_FLEET_AUTH=password RETRY_POLICY=./policy "$RETRY" -T 60 -d 1ms --http \
		--idempotency-key auto -B api --budget-ratio 1 --budget-min 1 --budget-window 60 \
		--budget-dir . --breaker on --nested add \
		--fleet unix:///none --fleet-auth auth --fleet-timeout 1 --fleet-min 1 \
		--fleet-ratio 1 --fleet-alone 1 --trace trace -- sh -c 'case $RETRY_ATTEMPT in
			1) echo 503 >"$RETRY_HTTP_STATUS" ;;
			*) env >seen ;; esac' 2>err
	sed -n 's/^\(RETRY_[A-Z_]*\)=.*/\1/p' seen | sort >given
	[ "$(lines given)" = 28 ]
	# Each is described once.
	{
		items retry.1 ENVIRONMENT
		items man/retry-process.7 ENVIRONMENT 'Defaults of options'
	} | sed -nE 's/^Ev (RETRY_[A-Z_]*)\>.*/\1/p' | sort | diff given -
	{
		grep -oh '"[A-Z]*_PID="' "$top/src/attempt/attempt.c" | tr -d '"='
		grep -oh 'getenv("[A-Z_]*")' "$top"/src/*/*.c | cut -d '"' -f 2 | grep -v '^RETRY_'
		echo PATH # execvp's
	} | sort -u >wanted
	items man/retry-process.7 'Variables of other programs' | sed 's/\t.*//; s/^Ev //' |
		sed 's/, /\n/g' | sort | diff wanted -
}

@test "the statuses that retry exits with are those in help, manual and README" {
	export RETRY_BUDGET_DIR=$PWD
	{
		"$RETRY" -n 1 --fail-on 0 true || echo $?
		"$RETRY" -B a --budget-dir none --budget-required true || echo $?
		"$RETRY" -n 1 -B b --breaker 1,1h false || :
		"$RETRY" -B b --breaker 1,1h true || echo $?
		"$RETRY" -n 1 -t 0.05 sleep 30 || echo $?
		"$RETRY" --no-such-option || echo $?
		"$RETRY" / || echo $?
		"$RETRY" ./no-such-command || echo $?
	} >statuses 2>err
	holds statuses 1 69 75 124 125 126 127
	"$RETRY" --help | tr -sc '0-9' '\n' >help
	for status in $(<statuses); do
		has_line "$status" help
	done
	items retry.1 'EXIT STATUS' | sed -n 's/^\([1-9][0-9]*\)\t.*/\1/p' | diff statuses -
	sed -n 's/^| \([1-9][0-9]*\) |.*/\1/p' "$top/README.md" | diff statuses -
}

# Makes a ./curl that fails with this answer: a status, and header fields.
answer() {
	[ -x curl ] || {
		printf '%s\n' '#!/bin/sh' 'cat answer >"$RETRY_HTTP_STATUS"' 'exit 22' >curl
		chmod +x curl
	}
	printf '%s\n' "HTTP/1.1 $1" "${2-}" '' >answer
}

# Ends for a reason of this name, which "giving up: " has in these words; of three
# reasons it names the rule, and of one the input.
ends() {
	local name=$1 words=", giving up: $2*"
	output=$("$RETRY" -v "${@:3}" 2>&1) || :
	echo "$name: $2" >>seen
	case $name in
	succeeded) words= ;;
	not-executable) words='retry: cannot run *' ;;
	breaker | budget) words="retry: $name 'api': *; giving up" ;;
	rate) words="retry: budget 'few': *; giving up" ;;
	input-consumed) words=", giving up: standard $2: use -I or </dev/null" ;;
	stop-rule) words=', giving up: --stop-on 1' ;;
	not-retryable) words=', giving up: not in --retry-on 2' ;;
	not-idempotent) words=', giving up: a POST is not sent twice without --idempotency-key' ;;
	esac
	# shellcheck disable=SC2053 # a pattern
	[[ $output == *$words${words:+$'\n'}*": $name" ]]
}

@test "the reasons are those of the manual, by name and in words" {
	export RETRY_BUDGET_DIR=$PWD
	table <<-'END'
		ends interrupted interrupted -- sh -c 'kill -TERM $PPID; exit 3'
		ends not-executable 'not executable' ./no-such-command
		ends succeeded succeeded true
		ends stop-rule 'stop rule' --stop-on 1 false
		ends not-retryable 'not retryable' --retry-on 2 false
		answer 503; ends not-idempotent 'not idempotent' --http -- ./curl -d x
		ends input-consumed 'input was already consumed' -d 0 -- sh -c 'read -r _; exit 1' < <(echo line)
		ends attempts 'attempts exhausted' -n 1 false
		ends limit '--limit reached' --limit 0:1 false
		answer 503 'Retry-After: 3600'; ends retry-after 'Retry-After too long' --http ./curl
		ends deadline deadline -T 60 -d 100 -j none false
		ends retry-if '--retry-if said no' --retry-if false false
		ends breaker 'breaker open' -d 0 -B api --breaker 1,1h false
		ends budget 'budget exhausted' -d 0 -B api --budget-min 0 false
		ends rate 'no place at --rate' -d 0 -B few --rate 1/h -T 9 false
	END
	items retry.1 REASONS | sed -nE 's/^Cm ([a-z-]+) Pq Dq /\1: /p' >described
	[ "$(head -n 1 described)" = 'internal: internal error' ]
	sed 1d described | diff seen -
	sed -n '/ verdict_reasons\[\]/,/^};/p' "$top/src/policy/verdict.c" | tr -d '\n\t' |
		grep -oE '"[^"]*", *"[^"]*"' |
		sed -E 's/"(.*)", *"(.*)"/\1: \2/' | grep -v '^none: ' |
		diff described -
}

# Messages on standard input to their parts, a line each, in which N is any number
# or time, X any quoted text, E any error of the system and DIR any directory.
parts() {
	local errors='No such|No space|Permission|Operation|Read-only|Too many open|Resource|Cannot allocate|Input/|Connection '
	sed -E "s/'[^']*'/X/g; s,(^|: |\()($errors)[^,;)(]*,\1E,g
		s,$PWD|\<none\>|/(run/retry|dev/shm),DIR,g
		s/[0-9]+(\.[0-9]+)?(ms|[smhdkMG])?\>/N/g; s/\<DUR\>/N/g
		s/SIG[A-Z]+/SIGNAL/g; s/N attempt /N attempts /
		s/cannot use the directory/cannot write/" |
		sed -E 's/^attempt N(\/N)? (failed \([^)]*\)|killed by SIGNAL|ended by the deadline after N|(timed out|ended) after N( without output)?|not started \(.*\)|succeeded \(exit N\))/\2/
		s/^((fleet|budget) X: cannot be [a-z]+): /\1\n/
		s/^(ended after N attempts in N): .*/\1/
		s/; |, (giving up|next|ask again|probe|retrying|in DIR)/\n\1/g
		s/ (if the budget)/\n\1/' | sed '/^$/d'
}

# The same of each message that the manual has.
described() {
	{
		sed -n 's/^\.It Li //; T; / Ta /!s/ , /\n/g; p' "$top/man/retry-messages.7" | plain |
			sed -E '/ Ta /{ s/ Ta .*//; s/ (Li|Ar|Ns)\>//g; s/\( /(/; s/ ([,)])/\1/g }'
		section man/retry-messages.7 ATTEMPTS BUDGETS | plain |
			sed -n 's/^\.Ql \(; \)\?//p' | sed 's/ [.,;:]$//'
		display man/retry-messages.7 ATTEMPTS | sed 's/^retry: //'
		items retry.1 REASONS | sed -nE 's/^Cm .* Pq Dq /giving up: /p'
	} | parts | sort -u
}

# says WORD...: adds to ./said what retry says with these words.
says() {
	"$RETRY" "$@" 2>>said || :
}

@test "every message of the manual is one that the program has" {
	mkdir mute
	printf '#!/bin/sh\nexit 1\n' | tee git make >pg_isready
	printf '%s\n' '#!/bin/sh' 'exit 0' >mute/curl
	chmod +x git make pg_isready mute/*
	echo stop-on=stderr:denied >team.conf
	(umask 077 && : >"retry-v6.$EUID.d")
	deploy() { :; }
	export -f deploy
	export RETRY_BUDGET_DIR=$PWD
	says -n 2 -d 1ms -j none -T 60 -- sh -c 'exit $((2 - RETRY_ATTEMPT))'
	says -v -d 0 -n 3 -- sh -c 'exit $((3 - RETRY_ATTEMPT))'
	says -n 2 --consecutive 2 false
	says -n 1 sh -c 'kill -KILL $$'
	says -n 1 -t 0.1 sleep 30
	says -n 1 --idle-timeout 0.1 sleep 30
	says -T 0.5 sleep 30
	says -w 4 -d 9 -j none ./pg_isready
	says -w 0.1 file:/run/app/ready
	says -v --success-on 1 false
	says -T 0.000000001 true
	says --policy ./team.conf sh -c 'echo denied >&2; exit 1'
	says --preset npm sh -c 'echo "npm error code E404" >&2; exit 1'
	says -v -n 1 ./git
	says -n 2 -d 0 -a ./make
	says -v -n 1 --stop-on stderr:denied,75 false
	# HTTP
	answer 503 'Retry-After-Ms: 1'
	says -v -n 2 -d 0 -j none --http ./curl
	answer 503
	says -n 1 --http --idempotency-key k ./curl -d x A --next -d x B
	says --http mute/curl
	says mute/curl https://example.org/
	# Commands that cannot be run
	says ./nosuch
	says 'echo a; echo b'
	says deploy
	# Streams and files
	says --help >/dev/full
	says --report none/a true
	# Budgets and fleets
	says -d 0 -B a --budget-min 1 --budget-window 30 --budget-cooldown 25 false
	says -d 0 -B z --budget-min 0 false
	says -B a --budget-min 3 true
	says -T 1 -d 0 -B a false
	says -d 0 -B a false
	says -d 0 -B b --breaker 2,50s false
	says -B b --breaker 2,50s true
	says -B e --rate 1/9s true
	says -T 1 -B e --rate 1/9s true
	says -T 0.1 -B e --rate 9/9s true
	says -B c --budget-dir none true
	says -B c --budget-dir none --budget-required true
	says --budget-status d
	says --budget-reset a --fleet unix:///none
	says --budget-reset a --fleet rediss://127.0.0.1:1
	sed -n 's/^retry: //p' said | parts | sort -u >seen
	described >described
	[ "$(comm -12 seen described | wc -l)" = 52 ]
	# The others are there as texts of the program. Some are from a server.
	tr -c '[:print:]' '\n' <"$RETRY" >texts
	comm -13 seen described | sed -E 's/refused: .*/refused: /
		s/: |, |\(|[NEX]\>|DIR|standard (input|output|error)|--on-(retry|give-up)|retry in|next /\n/g' |
		sed -E 's/^[ (,]+//; s/[ )]+$//' | sort -u >rest
	awk -v RS='\001' 'NR == 1 { text = $0; next }
		length > 2 && !index(text, $0)' texts RS='\n' rest >missing
	diff /dev/null missing
}

# fields FILE: the names of fields in JSON, in order.
fields() {
	grep -o '"[a-z_]*":' "$1" | tr -d '":'
}

# table_of PAGE TITLE: the first column, where it is a name.
table_of() {
	items "$@" | sed -n 's/^\([a-z_]*\)\t.*/\1/p'
}

@test "the manual has the fields of reports, messages in JSON, metrics and spans, and their values" {
	local verdict_c=$top/src/policy/verdict.c
	"$RETRY" -q -n 1 --report report --metrics job.prom \
		-B api --budget-dir . --fleet unix:///none false || :
	table_of man/retry-report.7 'THE REPORT' | diff - <(fields report)
	table_of man/retry-report.7 METRICS | diff - <(sed -n 's/{name="job".*//p' job.prom)
	"$RETRY" -n 2 -d 0 --log-format json false 2>err || :
	table_of man/retry-report.7 'MESSAGES IN OTHER FORMATS' |
		diff - <(fields err | awk '!seen[$0]++')
	"$RETRY" -q -n 2 -d 0 --trace trace -B api --budget-dir . \
		--http-status status sh -c 'echo 503 >status; exit 7' || :
	items man/retry-report.7 TRACES | sed -nE 's/^([a-z_.]*)\t([a-z]*)\t.*/\1 \2/p' |
		sort >attributes
	sed 's/"scopeSpans"/\n&/' trace | sed 1d |
		grep -oE '"key":"[a-z_.]*","value":\{"[a-zA-Z]*' |
		sed 's/","value":{"/ /; s/.*"//; s/intValue/integer/; s/Value//; s/bool/&ean/' |
		sort -u | diff attributes -
	items man/retry-report.7 'THE REPORT' | sed -nE 's/^(end|verdict)\tstring\t(.*)/\2/p' |
		sed 's/, /\n/g' | sort >described
	sed -n '/ verdict_ends\[\]/,/^};/s/.* = { "\([^"]*\)".*/\1/p
		/ verdict_names\[\]/,/^};/s/.* = "\([^"]*\)".*/\1/p' "$verdict_c" |
		sort | diff described -
	sed -n '/^judge_cause/,/^verdict_status/p' "$verdict_c" |
		grep -o '"[^"]*"' | tr -d '"' | sort -u >rules
	[ "$(lines rules)" = 14 ]
	section man/retry-report.7 'THE REPORT' | sed -n '/^\.Cm rule$/,$p' |
		grep -owF -f rules | sort -u | diff rules -
	grep -q '"end": "exited".*"verdict": "retry", "rule": "default"' report
}

@test "the samples of outputs, errors and a policy in the manual are those of the program" {
	export RETRY_BUDGET_DIR=$PWD
	ln -s "$RETRY" retry # the name in the manual
	display man/retry-report.7 'DRY RUN' >sample
	sed -n '1s/^\$ /.\//p' sample | sh | diff <(sed 1d sample) -
	"$RETRY" -q -n 3 -d 0 -B api false || :
	"$RETRY" -B api true
	display man/retry-budget.7 'LOOKING AT BUDGETS' | diff - <("$RETRY" --budget-status api)
	section man/retry-messages.7 'Wrong options' | plain >errors
	run -125 ./retry -n 0 true
	grep -xF -A1 -- "${lines[0]}" errors | diff - <(echo "$output")
	printf '%s\n' quiet attempts=0 >nightly.conf
	run -125 ./retry --policy ./nightly.conf true
	grep -qxF -- "${lines[0]/.\/nightly/\/etc\/retry\/nightly}" errors
	run -125 "$RETRY" --stop-on 'stderr:(.)\1' true
	grep -qxF -- "${lines[0]}" errors
	display man/retry.conf.5 EXAMPLES >nightly.conf
	"$RETRY" --policy ./nightly.conf --report report true
	grep -q '"attempts_max": 6, .* "deadline_ms": 7200000,' report
}

@test "the manual names the options that a policy must not have" {
	"$RETRY" --version | grep -q '^retry '
	section man/retry.conf.5 DESCRIPTION | plain |
		sed -n '/^\.Fl Fl budget-status/,/^and the values/p' |
		grep -oE 'Fl Fl [a-z-]+' | cut -d ' ' -f 3 | sort >names
	awk -F '"' '/^\t\{ "/ { name = $2 } /command_line = true/ { print name }' \
		"$top/src/cli/options.c" | sort | diff names -
}

@test "--version and the manual say how many processes a limit ends" {
	local most
	most=$(sed -n 's/^#define TERMINATION_MOST //p' "$top/src/attempt/termination.h")
	"$RETRY" --version | grep -q " $most processes "
	section man/retry-process.7 'TIME LIMITS' | grep -q " ${most::-3},${most: -3} processes "
}

@test "the manual has the size of a budget's file, the columns of --budget-status, and what they are called in JSON and in metrics" {
	export RETRY_BUDGET_DIR=$PWD
	"$RETRY" -B api true
	section man/retry-budget.7 'WHERE A BUDGET IS KEPT' |
		grep -q ": $(stat -c %s "retry-v6.$EUID.api") bytes\.$"
	items man/retry-budget.7 'LOOKING AT BUDGETS' | sed 's/^Ta /\t/' >table
	cut -f 1 table | grep . |
		diff - <("$RETRY" --budget-status api | head -n 1 | xargs -n 1)
	cut -f 2 table | sed 's/, /\n/g' >names
	"$RETRY" --budget-status api --json | jq -r 'paths(type != "object") | join(".")' |
		diff names -
	sed -E '/^(key|directory|file)$/d; s/^(retries|successes)$/window_&/
		s/^totals\.(.*)/\1_total/; s/\./_/' names |
		diff - <("$RETRY" --budget-status api --prom |
			sed -n 's/^retry_budget_\([a-z_]*\){key="api"} .*/\1/p')
	section man/retry-budget.7 'LOOKING AT BUDGETS' >section
	for name in window_retries window_successes firsts_total gate_state \
		gate_failures gate_next_seconds; do
		grep -qE "^\.Cm ([a-z_]+ , |.* No and Cm )?$name\>" section
	done
}

@test "the manual has the presets of --preset list in its words, and the bounds of patterns" {
	"$RETRY" --preset list | sed -E 's/ \([^()]*\)$//; s/ +/: /' | sort >said
	section man/retry-presets.7 'THE PRESETS' | sed -n 's/^\.It Cm //; T; N; s/\n/ : /p' |
		awk -F ' : ' '{ n = split($1, names, " , ")
			for (i = 1; i <= n; i++) print names[i] ": " $2 }' | sort | diff said -
	sed 's/:.*//' said | sort >listed
	items man/retry-presets.7 'SINGLE PRESETS' | sed -n 's/^Cm //; T; s/[, ]\+/\n/gp' |
		grep . | sort >named
	[ "$(lines named)" -ge 5 ]
	comm -23 named listed | diff /dev/null -
	grep -ohE '\<(NESTING =|MOST_COUNT =|CONDITIONS_WATCHES) [0-9]+' \
		"$top"/src/match/ere.c "$top"/src/policy/conditions.h |
		grep -oE '[0-9]+$' | sort -n >bounds
	section man/retry-rules.7 PATTERNS | grep -owE '1000|250|64' | sort -un |
		diff bounds -
}

# meant CODE WORDS: --http does with this status as these words of the manual say.
meant() {
	local reason=attempts
	[[ $2 != 'not retried' && $2 != *' where '* ]] || reason=not-retryable
	answer "$1"
	output=$("$RETRY" -v -n 1 --http ./curl 2>&1) || :
	[[ $output == *": $reason" ]] || return
	[[ $2 == *' where '* ]] || return 0
	answer "$1" 'Retry-After: 1'
	output=$("$RETRY" -v -n 1 --http ./curl 2>&1) || :
	[[ $output == *': attempts' ]]
}

@test "the manual's table of HTTP statuses is the program's" {
	items man/retry-http.7 'WHICH STATUSES ARE RETRIED' >table
	[ "$(lines table)" = 6 ]
	# What is in no other row is in one of ranges, for which some stand.
	sed -E 's/^all other (.)xx/\100 \114 \199/; s/^less than 400/200 302/' table |
		while IFS=$'\t' read -r codes words; do
			for code in $codes; do
				echo "$code '$words'"
			done
		done >rows
	[ "$(lines rows)" = 19 ]
	table meant <rows
}

# Programs for examples: they fail at the first attempt, as somebody might
# who cannot reach a host, and tell that they were called. What $BROKEN names
# writes a half, and fails each time, as it would.
stage() {
	mkdir bin
	cat >bin/retry <<-'END'
		#!/bin/sh
		for word; do # what is in -- comes late, but waits briefly
			shift
			[ "$word" != -- ] || set -- "$@" -d 1ms --splay 0 ${BROKEN:+-n 6}
			set -- "$@" "$word"
		done
		exec "$RETRY" "$@"
	END
	tee "${@/#/bin/}" >bin/curl <<-'END'
		#!/bin/sh
		echo "${0##*/} $*" >>"$CALLS"
		if [ "${0##*/}" = "$BROKEN" ]; then
			echo half
			case ${0##*/}:$* in
			psql:*ON_ERROR_STOP=1*) exit 3 ;;
			redis-cli:*'-e '* | redis-cli:*' ping') exit 1 ;;
			psql:* | redis-cli:*) exit 0 ;; # an error in the answer is none
			ssh:*) exit 255 ;;
			esac
			while [ $# -gt 1 ]; do
				[ "$1" != -o ] || echo half >"$2"
				shift
			done
			exit 1
		fi
		case $RETRY_ATTEMPT:${0##*/}:$* in
		1:ssh:*) echo 'ssh: connect to host h port 22: Connection refused' >&2; exit 255 ;;
		1:curl:--dump-header*) echo HTTP/2 503 >"$2"; exit 22 ;;
		1:curl:*--fail-with-body*) echo '{"type": "https://example.org/busy"}'; exit 22 ;;
		1:curl:*) exit 7 ;;
		1:psql:*) echo 'psql: error: FATAL:  the database system is starting up' >&2; exit 2 ;;
		1:wget:*) echo HTTP/1.1 503 Busy >log; exit 8 ;;
		1:apt-get:*) echo 'W: Failed to fetch it: Connection refused' >&2; exit ;;
		1:redis-cli:*) echo LOADING Redis is loading its data; exit ;;
		1:git:push* | 1:git:fetch* | 1:git:clone*) echo 'fatal: early EOF' >&2; exit 128 ;;
		1:gh:*) echo 'Please try again in 7ms.' >&2; exit 1 ;;
		1:docker:pull*)
			echo 'Error response from daemon: net/http: TLS handshake timeout' >&2
			exit 1
			;;
		1:migrate:* | 1:make:index) echo 'Database is LOCKED' >&2; exit 3 ;;
		1:*) exit 1 ;;
		esac
		while [ $# -gt 1 ]; do
			case $1 in
			-o) echo data >"$2" ;;
			--output-dir) mkdir -p "$2" ;;
			esac
			shift
		done
	END
	tee bin/sha256sum <<-'END' >bin/gunzip
		#!/bin/sh
		echo half
		[ "${0##*/}" != "$BROKEN" ]
	END
	chmod +x bin/*
	echo https://example.org/1 | tee urls >clones
	echo '{}' >order.json
	echo data >message.json
	mkdir dead-letters
	echo h >hosts
	PATH=$PWD/bin:$PATH
	export CALLS=$PWD/calls RETRY_BUDGET_DIR=$PWD BROKEN=
}

# Sets $count to the retries in a file that run a command. Five successes in a row
# after a failure are three times two attempts, as if there were three.
count_retries() {
	local code
	count=0
	while IFS= read -r code; do
		case $code in
		\#* | *' --budget-reset'* | *' --budget-status'* | *' --preset show'*) ;;
		*'retry '*' --consecutive 5 '*) ((count += 3)) ;;
		*'retry '*) ((count += 1)) ;;
		esac
	done <"$1"
}

# fails TOOL COMMAND...: the command fails if this tool does, and loads no half dump.
fails() {
	rm -f retry-v6.* broken
	not env BROKEN="$1" CALLS="$PWD/broken" "${@:2}" >out 2>&1 &&
		{ [ "$1" != gunzip ] || not grep -qs '^psql' broken; } || {
		echo "$1 fails in vain:"
		cat broken out
		return 1
	}
}

# Runs a command, in which each retry makes two attempts, and which fails if any of its
# tools does.
example() {
	local called=() said='' tool text
	: >calls
	"$@" 2>err && mapfile -t called <calls &&
		{ IFS= read -rd '' said <err || :; } &&
		[ "${#called[@]}" = "$((2 * count))" ] &&
		[[ $'\n'$said != *$'\nretry: --'* && $said != *'unknown option'* ]] || {
		cat calls err
		return 1
	}
	text=${*: -1} # code, or the file that has it
	[ ! -f "$text" ] || text=$(<"$text")
	for tool in gunzip sha256sum; do
		[[ $text != *"$tool"* ]] || called+=("$tool")
	done
	while read -r tool; do
		fails "$tool" "$@" || return
	done < <(printf '%s\n' "${called[@]%% *}" | grep . | sort -u)
}

@test "the examples of the manual run, and each fails if one of its tools does" {
	local file text
	stage pg_isready pg_dump test ssh git npm rsync worker wget apt-get \
		redis-cli migrate sync-users sync-groups build-images service \
		psql handle logger gh docker script
	for page in retry.1 man/retry-{budget,fleet,http,presets,process,report,rules,streams}.7 \
		man/retry.conf.5; do
		section "$page" DESCRIPTION EXAMPLES >part
		grep -q '^\.Dl retry\|^\.Bd' part
		plain <part
	done | awk '
		function name() { return sprintf("example.%02d", n) }
		/^\.Ed/ { inside = 0 }
		inside { print >name() }
		/^\.Bd/ { inside = 1; n++ }
		sub(/^\.Dl /, "") { n++; print >name() }'
	export XDG_CONFIG_HOME=$PWD/config
	mkdir -p config/retry
	for file in example.*; do
		count_retries "$file"
		IFS= read -rd '' text <"$file" || :
		case $text in
		'# /etc/retry/'*)
			text=${text%%$'\n'*}
			cp "$file" "config${text#\# /etc}"
			;;
		'retry --preset show:'*)
			sh -e "$file" >shown
			[ "$(lines shown)" -ge 5 ]
			;;
		RETRY_POLICY=*' make all'*)
			printf 'all:\n\tretry -- migrate\n' >makefile
			count=1
			example sh -e "$file"
			rm makefile
			;;
		'[Service]'*)
			not grep '[$%]' "$file"
			example sh -c "$(sed -n 's,^ExecStart=/usr/local/bin/,,p' "$file")"
			;;
		ENTRYPOINT*)
			count=1
			words=$(sed -n 's/^ENTRYPOINT \[\(.*\)\]$/\1/p' "$file")
			example sh -c "${words//\", \"/\" \"}"
			example sh -c "$(sed -n 's/^HEALTHCHECK CMD //p' "$file")"
			;;
		'0 3 * * * '*) example sh -c "${text#'0 3 * * * '}" && grep -q '^retry: ' out ;;
		RETRY_*'*/5 * * * * '*)
			example sh -aec "${text//'*/5 * * * * '}" && grep -q '^retry: ' out
			;;
		*' --fail-on 0 --success-on '*) sh -e "$file" ;; # ends at the first failure
		steps:* | script:*) example sh -ec "$(sed -n 's/^  - \(run: \)\?//p' "$file")" ;;
		*:$'\n\t'*) example make -Bf "$file" ;;
		*) example sh -e "$file" ;;
		esac
	done
	[ "$(cat app.tar)" = data ]
	not grep half shop.sql
	[ -e message.json ] # only status 65 puts it aside
	grep -q '"reason": "attempts"' retry.json # at last its npm was broken
	grep -q '^retry_success{name="backup"} 0$' backup.prom
	[ "$(printf '%s\n' example.* | wc -l)" -ge 40 ]
}

# The runner signals only the shell of a step: without exec it would wait for retry.
@test "the signal that cancels a step reaches retry in the example for GitHub" {
	mkdir bin
	ln -s "$RETRY" bin/retry
	printf '%s\n' '#!/bin/sh' ': >ready' 'exec sleep 30' >bin/npm
	chmod +x bin/npm
	section retry.1 EXAMPLES | plain | sed -n 's/^  - run: //p' >step.sh
	PATH=$PWD/bin:$PATH start bash --noprofile --norc -eo pipefail step.sh
	wait_for test -e ready
	ended_by INT
	none_left
}

@test "in the example for ssh xargs takes all items, although each fails with 255" {
	mkdir bin
	ln -s "$RETRY" bin/retry
	printf '%s\n' '#!/bin/sh' 'echo "$2" >>called' 'exit 255' >bin/ssh
	chmod +x bin/ssh
	printf '%s\n' 1 2 3 >hosts
	section retry.1 EXAMPLES | plain | sed -n '/^xargs .*<hosts$/s/retry/& -n 1/p' >line
	PATH=$PWD/bin:$PATH exits 123 sh line
	holds called 1 2 3
}

@test "SIGTERM makes no success of the example with script, which exits with 0 then" {
	need script
	mkdir bin
	ln -s "$RETRY" bin/retry
	printf '%s\n' '#!/bin/sh' ': >ready' 'exec sleep 30' >bin/make
	chmod +x bin/make
	section man/retry-streams.7 EXAMPLES | plain | sed -n '/ --idle-timeout 5m --stop-on/,/script/p' |
		sed "s/^bash .* 'retry/exec retry/; s/ 2>&1 | cat'$//" >line
	PATH=$PWD/bin:$PATH start sh line
	wait_for test -e ready
	ended_by TERM 1
	none_left
}

# function_runs N BEFORE SHELL...: runs the n-th block of that section by a shell,
# after what is defined BEFORE. It makes two attempts, and the second writes the
# file.
function_runs() {
	local count=1
	command -v "$3" || return 0
	{
		echo "$2"
		awk -v number="$1" '/^\.Ed/ { inside = 0 }
			inside && n == number; /^\.Bd/ { inside = 1; n++ }' section
	} >code
	rm -f mirror
	example "${@:3}" code && holds mirror data &&
		holds calls 'curl -fsS -o mirror.part https://mirror.example.org/'{,}
}

@test "the examples of a function run in bash, zsh, fish and sh" {
	local definition fish
	fish='function fetch
		curl -fsS -o $argv[1].part https://$argv[1].example.org/
		and mv $argv[1].part $argv[1]
	end'
	stage
	# A dash between two bashes drops what the first one has exported.
	sed -i "1s|.*|#!$(command -v bash)|" bin/retry
	section retry.1 'Functions of a shell' | plain >section
	sed -n '/^fetch() {/,/^}/p; /^}/q' section >functions.sh
	definition=$(<functions.sh)
	table function_runs <<-'END'
		1 '' bash
		2 "$definition" zsh -f
		4 '' sh
	END
	fish --no-config -c 'test "$(echo x)" = x' || skip 'fish is too old'
	function_runs 3 "$fish" fish --no-config
}

@test "README's first commands print what it says, of which the first succeeds at the third attempt" {
	stage
	[ "$(grep -cx '```sh' "$top/README.md")" = 2 ] # those that .ci/run runs
	[ "$(block sh "$top/README.md" 2)" = 'tests/setup && make check' ]
	command=$(block sh "$top/README.md")
	[[ $command == 'tests/setup build && make && ./retry -v -n 5 -- '* && $command != *$'\n'* ]]
	bash -c "\"\$RETRY\" -d 1ms ${command#*./retry}" 2>err
	grep -qx 'retry: attempt 3/5 succeeded (exit 0)' err
	grep -qx 'retry: ended after 3 attempts in .*: succeeded, rescued by a retry' err

	block console "$top/README.md" >session
	grep '^fatal: ' session >fatal
	printf '%s\n' '#!/bin/sh' '[ "$RETRY_ATTEMPT" = 1 ] || exit 0' 'cat fatal >&2' 'exit 128' >bin/git
	printf '%s\n' '#!/bin/sh' 'grep ^curl: session >&2' \
		'echo "HTTP/1.1 404 x" >"$RETRY_HTTP_STATUS"' 'exit 22' >bin/curl
	chmod +x bin/git
	sed -n 's/^\$ //p' session >commands
	[ "$(lines commands)" = 2 ]
	run -22 --separate-stderr bash commands
	diff <(sed '/^\$ /d; s/in [0-9.]*s$/in a moment/' session) \
		<(sed 's/in [0-9.]*m\{0,1\}s$/in a moment/' <<<"$stderr")
}

@test "the examples of README and of --help run, and each fails if one of its tools does" {
	stage nc pg_isready make ssh git npm rsync psql gh docker worker
	{
		block shell "$top/README.md"
		echo
		block bash "$top/README.md"
		(exec -a retry "$RETRY" --help) | sed '1,/^Examples:/d; s/^/\n/'
	} | awk -v RS= '{ print >sprintf("example.%02d", NR) }'
	[ "$(printf '%s\n' example.* | wc -l)" = 13 ]
	for file in example.*; do
		count_retries "$file"
		example sh -e "$file"
	done
	count=1
	command=$(sed -n 's/^`ENTRYPOINT \[\(.*\)\]`.*/\1/p' "$top/doc/install.md")
	example sh -c "${command//\", \"/\" \"}"
}

@test "each curl in an example exits with an error if the server answers with one" {
	"$RETRY" --help >help
	sed -n '/^Examples:/,$p' help >examples
	for page in "${pages[@]}"; do
		section "${page#"$top/"}" DESCRIPTION EXAMPLES
	done | plain >>examples
	cat "$top/README.md" "$top"/doc/*.md >>examples
	sed -e ':more' -e '/\\e*$/{ N; s/\\e*\n//; b more' -e '}' examples |
		grep -E 'retry .*curl -|^[a-z]*\(\) .*curl -' >curls
	[ "$(lines curls)" -ge 15 ]
	not grep -Ev -e '--http|curl -[a-zA-Z]*f|--fail-with-body' curls
}
