#!/usr/bin/env bash
# What tests/budget*.bats and tests/breaker.bats show in a minute, shown for
# longer: 10,000 invocations at once, an outage of ten seconds, processes killed
# and stopped at every system call in more situations. Prints what failed, and
# the totals of each file.
set -euo pipefail
here=$(cd "${0%/*}" && pwd)
export LONG=yes
failed=0

# One after the other: each is a crowd.
for file in budget breaker budget_faults; do
	"$here/run" "$here/$file.bats" || failed=1
done
exit "$failed"
