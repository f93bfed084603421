#!/bin/sh
# SIGTERM for script -qe -c 'sleep 60': script ends its command by a signal of its own,
# and then itself. Its manual says of -e: "Return the exit status of the child process.
# Uses the same format as bash termination on signal termination".
#
# Seen with script of util-linux 2.38.1 (bsdutils of Debian 12): it ends with 0, with
# and without -e, and writes so into the typescript. Where the command ends itself by
# that signal, -e gives 143.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mmdebstrap --quiet --variant=extract --include=bsdutils bookworm root \
	--aptopt='Acquire::Check-Valid-Until "false"'
# The root is not set up: its loader starts the program.
lib=root/lib/$(uname -m)-linux-gnu
loader=$(echo "$lib"/ld-linux-*)
script() {
	exec "$loader" --library-path "$lib:root/usr/lib/$(uname -m)-linux-gnu" \
		root/usr/bin/script "$@"
}
export SHELL=/bin/sh
(script --version) >seen
for options in -q -qe; do
	# shellcheck disable=SC2016 # the shell of script expands it
	(script $options -c 'echo $$ >pid; exec sleep 60' log </dev/null >/dev/null 2>&1) &
	until [ -s pid ]; do sleep 0.1; done
	kill $!
	status=0
	wait $! || status=$?
	command=lives
	case $(ps -o stat= -p "$(cat pid)") in
	'' | Z*) command=ended ;;
	esac
	echo "script $options: status $status, its command $command"
	rm pid
	sed -n 's/.*\(COMMAND_EXIT_CODE="[0-9]*"\).*/\1/p' log
done >>seen
status=0
# shellcheck disable=SC2016
(script -qe -c 'kill $$' log </dev/null >/dev/null 2>&1) || status=$?
echo "script -qe, command ends by SIGTERM: status $status" >>seen
cat seen
diff seen - <<'END'
script from util-linux 2.38.1
script -q: status 0, its command ended
COMMAND_EXIT_CODE="0"
script -qe: status 0, its command ended
COMMAND_EXIT_CODE="0"
script -qe, command ends by SIGTERM: status 143
END
