#!/bin/sh
# toybox timeout 5 true, 200 times: true ends at once, with 0.
#
# Seen with toybox 0.8.9 of Debian 12: some of the runs end with 127 and without a word,
# the others with 0. It is the same where the command ends with 3. A command that takes
# 0.2 s gave its own status each time.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mmdebstrap --quiet --variant=extract --include=toybox bookworm root \
	--aptopt='Acquire::Check-Valid-Until "false"'
# The root is not set up: its loader starts the program.
lib=root/lib/$(uname -m)-linux-gnu
loader=$(echo "$lib"/ld-linux-*)
toybox() {
	"$loader" --library-path "$lib:root/usr/$lib" root/bin/toybox "$@"
}
toybox --version >seen
runs() {
	count=$1
	shift
	while [ "$count" -gt 0 ]; do
		status=0
		toybox timeout 5 "$@" 2>>words || status=$?
		echo "timeout 5 $*: status $status"
		count=$((count - 1))
	done | sort -u
}
{
	runs 200 true
	runs 200 sh -c 'exit 3'
	runs 20 sh -c 'sleep 0.2; exit 3'
	cat words
} >>seen
cat seen
diff seen - <<'END'
toybox 0.8.9
timeout 5 true: status 0
timeout 5 true: status 127
timeout 5 sh -c exit 3: status 127
timeout 5 sh -c exit 3: status 3
timeout 5 sh -c sleep 0.2; exit 3: status 3
END
