#!/usr/bin/env bats
# The storms of make storm, on a small scale: their clients are real and counted,
# and leave nothing behind.

load helper

setup_file()
{
	local here=$BATS_TEST_DIRNAME/storm name
	local flags=(-std=c11 -D_GNU_SOURCE -iquote "$BATS_TEST_DIRNAME/../src")

	export STORM=$BATS_FILE_TMPDIR
	"${CC:-cc}" "${flags[@]}" -o "$STORM/client" "$here/client.c"
	for name in driver crowd server usage capacity scenario tally figure \
		scale; do
		echo "$here/$name.c"
	done | xargs "${CC:-cc}" "${flags[@]}" -o "$STORM/driver" \
		"$BATS_TEST_DIRNAME/../src/text/number.c"
}

setup()
{
	helper_setup
	driver=("$STORM/driver" "$RETRY" "$STORM/client" .)
}

# total KEY: prints the value of KEY in each line of ./totals.
total()
{
	sed -n "s/.*\<$1=\([0-9]*\).*/\1/p" totals
}

# Whether clients, or segments, of the driver $pid are there.
clients_there()
{
	grep -qsF "retry-storm-$pid" /proc/[0-9]*/cmdline
}

files_there()
{
	compgen -G "/dev/shm/retry-storm-$pid-*"
}

nothing_left()
{
	! clients_there && ! files_there
}

@test "every client of a storm is served in the end, and every request counted" {
	"${driver[@]}" drill full >out
	[ "$(total clients)" = 30 ]
	[ "$(total lost)" = 0 ]
	[ "$(total served)" = 30 ]
	[ "$(total wasted)" -ge 30 ]
	grep -q '^physical limit: ' out
	grep -q '</svg>' drill.svg
}

@test "a budget with a breaker wastes less of a storm" {
	local wasted
	"${driver[@]}" drill full >out
	"${driver[@]}" drill 'budget, breaker' >>out
	mapfile -t wasted < <(total wasted)
	[ "${#wasted[@]}" = 2 ]
	[ "${wasted[1]}" -lt "${wasted[0]}" ]
}

@test "a storm that is cut short leaves no process and no file behind" {
	start "${driver[@]}" endless
	wait_for clients_there
	files_there
	kill -TERM "$pid"
	ended
	[ "$status" = 143 ]
	wait_for nothing_left
}
