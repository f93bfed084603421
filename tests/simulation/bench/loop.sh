#!/bin/bash
# The loop that everybody writes: loop.sh TIMES COMMAND [ARG]...
times=$1
shift
for ((i = 0; i < times; i++)); do
	"$@" && exit
done
