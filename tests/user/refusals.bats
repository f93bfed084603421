#!/usr/bin/env bats
# Covers run, streams/streams, store/segment_store.
# What the kernel refuses: no command runs on other streams than its own, and no
# budget that could not be read is shown.
# shellcheck disable=SC2034 # try reads it

load helper
load actor

setup() {
	helper_setup
	export RETRY_BUDGET_DIR=$BATS_TEST_TMPDIR/budgets
	mkdir budgets
}

# Makes the budgets api and web, which have nothing left that counts.
two_budgets() {
	for key in api web; do
		"$RETRY" -q -n 1 -B "$key" false || :
	done
	api=retry-v6.$EUID.api web=retry-v6.$EUID.web
}

# refuse FILE WHAT: sets the array under to a strace that injects WHAT for FILE alone.
refuse() {
	inject getppid:error=EIO # where that works, so does the other
	under=(strace -qq -o /dev/null -P "$1" -e "inject=$2")
}

# unattached OPTION...: in no attempt can a stream of retry be attached.
unattached() {
	try status=126 out='' says="cannot run 'sh': *" -n 3 -d 0 "$@" -- \
		sh -c 'echo ran; echo >ran' <<<input && [ ! -e ran ]
}

@test "a command runs on the streams that were made for it or not at all, a hook on none" {
	inject '?dup2,?dup3:error=EMFILE'
	local under=("${inject[@]}" -f)
	table unattached <<-'END'
		--hold-stdout
		--hold-stderr
		--retry-on stdout:x
		--retry-on stderr:x --hold-stdout
		--replay-stdin
	END
	try status=1 -q -n 2 -d 0 --on-retry 'cat >read 2>/dev/null; echo >ran' -- false <<<input
	[ -e ran ]
	[ ! -s read ]
}

@test "a wait needs no more descriptors than are open" {
	local most
	for most in {5..16}; do # until there are enough
		: >out
		status=0
		(
			exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
			ulimit -n "$most"
			exec timeout --foreground -s KILL 50 "$RETRY" -n 2 -d 0 \
				--retry-on stderr:bad --retry-on stdout:bad -- \
				sh -c 'echo bad; exec ls bad'
		) >out 2>err || status=$?
		case $status in
		2) holds out bad bad && break ;;
		12[567]) [ ! -s out ] && [ -s err ] ;; # too few to begin
		*) false ;;
		esac
	done
	[ "$status" = 2 ]
}

@test "a limit that sinks below the open descriptors stops no wait" {
	local most busy
	for most in 5 0; do
		mkfifo go.$most
		: >err
		start "$RETRY" -n 2 -d 0 --retry-on stderr:bad -- sh -c \
			'echo first >&2; read -r _ <"$0"; echo bad >&2
			exec sleep 60' go.$most
		wait_for has_line first err
		prlimit --pid "$pid" --nofile=$most:
		echo >go.$most
		[ "$most" = 0 ] || wait_for has_line bad err
		sleep 0.3
		read -ra busy <"/proc/$pid/stat"
		((busy[13] + busy[14] <= 10))
		ended_by TERM
	done
}

@test "no command runs on a standard input or beside a status that cannot be examined" {
	local under=() stat='?fstat,?fstat64,?newfstatat,?fstatat64,?statx' call
	echo input >file
	refuse "$PWD/file" "$stat:error=EIO"
	table <<-'END'
		try status=125 out='' says='standard input: *' -n 3 sh -c 'echo ran; cat' <file
		try status=125 out='' says='standard input: *' -I sh -c 'echo ran; cat' <file
	END
	inject memfd_create:error=EMFILE
	under=("${inject[@]}")
	TMPDIR=$PWD/none try status=125 says='status file: No such file or directory; command not run' \
		--http -- touch ran
	[ ! -e ran ]
	for call in '?pread64' "$stat"; do # the file does not count as empty
		: >code
		refuse "$PWD/code" "$call:error=EIO"
		try status=7 says="*status file 'code' ignored: @(Input/output|I/O) error*" \
			-v -n 1 --http-status code -- sh -c 'echo 503 >code; exit 7'
		not has 'no HTTP status in it' err
	done
}

@test "a request is not sent twice where the answer is unknown" {
	local reads
	# curl exits with 7 where it could not connect, and the status file is
	# empty then.
	printf '%s\n' '#!/bin/sh' 'echo >>ran' 'exit 7' >curl
	chmod +x curl
	try status=7 runs=3 -n 3 -d 0 --http -- ./curl -d x http://a
	inject getppid:error=EIO
	is 7 strace -qq -o reads -e trace=?pread64 "$RETRY" -n 1 --http -- ./curl -d x http://a
	reads=$(lines reads)
	inject "?pread64:error=EIO:when=$reads+"
	local under=("${inject[@]}")
	try status=7 runs=1 \
		says='*ignored: @(Input/output|I/O) error*, giving up: a POST is not sent twice without --idempotency-key*' \
		-v -n 3 -d 0 --http -- ./curl -d x http://a
}

@test "a budget that cannot be opened is named, neither missing nor removed, and no other is hidden" {
	local under=() shown='not shown: cannot open: *'
	two_budgets
	refuse "$PWD/budgets/$api" '?open,?openat:error=ENFILE'
	try status=125 out='*|web *' says="budget file '$api': $shown" --budget-status all
	not has 'api ' out
	try status=125 out='' says="budget 'api': cannot be used: cannot open: *" --budget-status api
	is 1 "$RETRY" --budget-status none

	local refused=("${under[@]}")
	under=(sh -c 'ulimit -n 4; exec "$@"' sh)
	try status=125 out='[]' says="*budget file '$web': $shown" -q --budget-status all --json
	try status=125 says='*|*' -q --budget-gc
	[ "$(lines err)" = 2 ]
	[ -e "budgets/$api" ]
	[ -e "budgets/$web" ]
	under=("${refused[@]}")
	try status=125 says="budget file '$api': cannot open: *" --budget-gc
	[ -e "budgets/$api" ]
	[ ! -e "budgets/$web" ]
	under=()
	try --budget-gc
	[ ! -e "budgets/$api" ]
}

@test "where the boot is unknown retry does not say that there is no budget" {
	[[ $(stat -f -c %T .) != @(tmp|ram)fs ]] || skip 'no disk here'
	local under=()
	two_budgets
	refuse /proc/sys/kernel/random/boot_id '?open,?openat:error=ENFILE'
	try status=125 says="budget 'api': cannot be used: cannot tell one boot *" --budget-status api
	try status=125 says="*budget file '$api': not shown: cannot tell one boot *" --budget-status all
}
