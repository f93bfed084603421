#!/bin/sh
# The command for the memory table: appends its parent's peak, in kB, to $PEAK,
# and fails, so that the next attempt sees what this one cost. What wait4() says
# of the parent would not do: it holds the largest of its children too.
while read -r name value _; do
	[ "$name" != VmHWM: ] || echo "$value" >>"$PEAK"
done <"/proc/$PPID/status"
exit 1
