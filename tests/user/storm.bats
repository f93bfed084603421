#!/usr/bin/env bats
# Covers store/budget_client.
# The storms of make storm, on a small scale: their clients are real and counted,
# and leave nothing behind.

load helper
load actor
load fleet

setup_file() {
	local here=$BATS_TEST_DIRNAME/../../measure name
	local src=$BATS_TEST_DIRNAME/../../src
	local flags=(-std=c11 -D_GNU_SOURCE -iquote "$src")

	export STORM=$BATS_FILE_TMPDIR
	"${CC:-cc}" "${flags[@]}" -o "$STORM/client" "$here/client.c"
	for name in driver crowd child redis scenario tally figure witness; do
		echo "$here/$name.c"
	done | xargs "${CC:-cc}" "${flags[@]}" -o "$STORM/driver" \
		"$src"/text/{hash,number,random}.c \
		"$src"/budget/{hold,segment,window}.c
}

setup() {
	helper_setup
	[ -d /dev/shm ] || skip 'no /dev/shm here, where a storm has its files'
	export FLEET_SERVER
	driver=("$STORM/driver" "$RETRY" "$STORM/client" .)
}

# total KEY: prints the value of KEY in each line of ./totals
total() {
	sed -n "s/.*\<$1=\([0-9]*\).*/\1/p" totals
}

# Whether clients of the driver $pid, and files, are there; or nothing of it.
clients_there() {
	grep -qszxF "retry-storm-$pid" /proc/[0-9]*/cmdline
}

files_there() {
	compgen -G "/dev/shm/retry-storm-$pid-*"
}

nothing_left() {
	! grep -qsF "retry-storm-$pid" /proc/[0-9]*/cmdline && ! files_there
}

# With a fleet's server, or none of these tests is run.
with_fleet() {
	[ -n "$FLEET_SERVER" ] || skip 'no redis-server or valkey-server here'
}

@test "every client of a storm is served in the end" {
	local picture=$BATS_TEST_DIRNAME/../../measure/picture
	"${driver[@]}" drill full >out
	holds <(total clients; total served; total lost) 12 12 0
	"$picture" picture.txt >svg
	grep -q '>full jitter</text>' svg
	printf '%s\n' title:A bin:2 rate:2 outage:0:2 run:B:1234:never \
		requests:2:4 requests:4:96 | tr : '\t' | "$picture" >svg
	grep -q '</svg>' svg
	grep -q '>A; higher bars are cut off<' svg
	grep -q '>1,234 requests wasted, fewer than 99 % served<' svg
	grep -q "'served' d='M58.0 180.0H381.0V171.6H58.0zM381.0 180.0H704.0V163.2H381.0z'" svg
	grep -q "'rejected' d='M58.0 171.6H381.0V154.8H58.0zM381.0 163.2H704.0V96.0H381.0z'" svg
}

@test "every request of a storm is counted, and a budget with a breaker makes fewer" {
	local wasted
	run "${driver[@]}" drill-down
	[ "$status" = 1 ]
	sed -n 's/^\(MISSED: .*\) [0-9.inf]*, at most .*/\1/p' <<<"$output" >missed
	holds missed 'MISSED: full: wasted' 'MISSED: full: retries wasted' \
		'MISSED: full: p99 in seconds' \
		'MISSED: full: all served after seconds' \
		'MISSED: full again: retries wasted' \
		'MISSED: given up: p99 in seconds'
	mapfile -t wasted < <(total wasted)
	[ "${wasted[*]:0:3}" = '48 48 12' ]
	[ "${wasted[3]}" -lt 22 ] # the budget alone admits ten retries
	grep -q ' wasted=48 after=0 retries=36 ' totals
}

@test "the hosts of a storm make fewer retries if they share a fleet's budget" {
	with_fleet
	"${driver[@]}" drill-hosts >out
	grep -Eq '^host budgets +42 +30 ' out
	grep -Eq '^fleet budget +[0-9]+ .* [1-9][0-9]* +[0-9.]+s *$' out
	grep -q '^ok: fleet budget: retries wasted [12], at most 7.5; host budgets 30$' out
	"${driver[@]}" drill-hosts 'fleet budget' >out
	grep -q '^fleet budget: not compared, as host budgets was not run$' out
}

@test "hosts whose fleet's server fails in a storm retry alone, and are served" {
	local fault
	with_fleet
	for fault in killed 'cut off'; do
		"${driver[@]}" drill-alone "$fault" >out
		grep -Eq "; the fleet's server failed after [0-9.]*s(\$|, )" out
	done
	holds <(total served) 12 12
}

# cut_short SIGNAL STATUS: a driver that gets a signal ends with that status, and
# nothing is left.
cut_short() {
	start "${driver[@]}" drill-endless
	wait_for clients_there
	files_there
	ended_by "$1" "$2"
	wait_for nothing_left
}

@test "a storm that is cut short leaves no process and no file behind" {
	with_fleet
	"$RETRY" --version # without the program the driver fails, too
	cut_short TERM 143
	cut_short KILL 137
}

@test "a storm without a process or a program for its server fails, and leaves nothing" {
	local file
	"$RETRY" --version
	inject '?clone,?clone3:error=EAGAIN:when=2'
	run "${inject[@]}" sh -c 'echo $$ >pid && exec "$@"' - \
		"${driver[@]}" drill full
	[ "$status" = 1 ]
	[[ $output = *': fork: Resource temporarily unavailable' ]]
	read -r pid <pid
	wait_for nothing_left
	export FLEET_SERVER=''
	run "${driver[@]}" drill-hosts 'fleet budget'
	[ "$status" = 1 ]
	grep -qF 'no redis-server or valkey-server here, left out' <<<"$output"
	for file in "$PWD/missing" "$(command -v false)"; do
		FLEET_SERVER=$file start "${driver[@]}" drill-hosts 'fleet budget'
		ended 1
		grep -qF "$file does not start" err
		wait_for nothing_left
	done
	[ ! -s totals ]
}
