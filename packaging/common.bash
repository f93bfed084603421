# shellcheck shell=bash
# What the scripts in this directory share: they run at the top of the sources,
# and their files can be read by all.
set -euo pipefail
umask 022
cd "${BASH_SOURCE[0]%/*}/.."

# need TARGET SETUP TOOL...: ends `make TARGET` if a TOOL is missing here.
need()
{
	local target=$1 setup=$2 tool
	shift 2
	for tool in "$@"; do
		command -v "$tool" >/dev/null || {
			echo "make $target: no $tool here: tests/setup $setup gets it" >&2
			exit 1
		}
	done
}
