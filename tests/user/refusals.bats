#!/usr/bin/env bats
# Covers run, streams/streams, store/segment_store.
# What the kernel refuses: no command runs on other streams than its own, and no
# budget that could not be read is shown.

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
	api=retry-v5.$EUID.api web=retry-v5.$EUID.web
}

# lacking COMMAND...: COMMAND with three descriptors and one to spare, which is
# enough to read a directory and nothing in it
lacking() {
	(
		ulimit -n 4
		exec "$@"
	)
}

# refuse FILE WHAT: sets $refusing to a strace that injects WHAT for FILE alone.
refuse() {
	inject getppid:error=EIO # where that works, so does the other
	refusing=(strace -qq -o /dev/null -P "$1" -e "inject=$2")
}

# unattached OPTION...: in no attempt can a stream of retry be attached.
unattached() {
	: >out
	: >err
	echo input | is 126 "${inject[@]}" -f "$RETRY" -n 3 -d 0 "$@" -- \
		sh -c 'echo ran; echo ran >ran'
	[ ! -s out ]
	[ ! -e ran ]
	[ "$(lines err)" = 1 ]
	told "retry: cannot run 'sh': .*"
}

@test "a command runs on the streams that were made for it or not at all, a hook on none" {
	inject '?dup2,?dup3:error=EMFILE'
	unattached --hold-stdout
	unattached --hold-stderr
	unattached --retry-on stdout:x
	unattached --retry-on stderr:x --hold-stdout
	unattached --replay-stdin
	echo input | is 1 "${inject[@]}" -f "$RETRY" -q -n 2 -d 0 \
		--on-retry 'cat >read 2>/dev/null; echo ran >ran' -- false
	[ -e ran ]
	[ ! -s read ]
}

@test "a wait needs no more descriptors than are open" {
	local most
	for most in {5..16}; do
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
		2) holds out bad bad ;;
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
		busy=$(awk '{ print $14 + $15 }' "/proc/$pid/stat")
		((busy <= 10))
		ended_by TERM
	done
}

@test "no command runs on a standard input that cannot be examined" {
	local option
	echo input >file
	refuse file '?fstat,?fstat64,?newfstatat,?fstatat64,?statx:error=EIO'
	for option in -n3 -I; do
		: >err
		is 125 "${refusing[@]}" "$RETRY" "$option" \
			sh -c 'echo ran; cat' <file
		[ ! -s out ]
		told 'retry: standard input: .*'
	done
}

@test "no command runs without the file for its status" {
	inject memfd_create:error=EMFILE
	TMPDIR=$PWD/none is 125 "${inject[@]}" "$RETRY" --http -- touch ran
	[ ! -e ran ]
	told 'retry: status file: No such file or directory; command not run'
}

@test "a status file that cannot be read does not count as empty" {
	local call
	for call in '?pread64' '?fstat,?fstat64,?newfstatat,?fstatat64,?statx'; do
		: >code
		: >err
		refuse "$PWD/code" "$call:error=EIO"
		is 7 "${refusing[@]}" "$RETRY" -v -n 1 --http-status code -- \
			sh -c 'echo 503 >code; exit 7'
		told "retry: status file 'code' ignored: (Input/output|I/O) error"
		run ! grep -q 'it is empty' err
	done
}

@test "a request is not sent twice where the answer is unknown" {
	local reads
	# curl exits with 7 where it could not connect, and the status file is
	# empty then.
	printf '%s\n' '#!/bin/sh' 'echo >>ran' 'exit 7' >curl
	chmod +x curl
	is 7 "$RETRY" -n 3 -d 0 --http -- ./curl -d x http://a
	[ "$(lines ran)" = 3 ]
	rm ran
	inject getppid:error=EIO
	is 7 strace -qq -o reads -e trace=?pread64 "$RETRY" -n 1 --http -- \
		./curl -d x http://a
	rm ran
	reads=$(lines reads)
	inject "?pread64:error=EIO:when=$reads+"
	is 7 "${inject[@]}" "$RETRY" -v -n 3 -d 0 --http -- ./curl -d x http://a
	[ "$(lines ran)" = 1 ]
	told 'retry: .* ignored: (Input/output|I/O) error'
	told 'retry: .*, giving up: a POST is not sent twice without --idempotency-key'
	# The warning has the cause, not advice that was followed.
	is 0 "${inject[@]}" "$RETRY" --http -- \
		sh -c 'echo 503 >"$RETRY_HTTP_STATUS"'
	told 'retry: no HTTP status found: .* cannot be read, as -v says'
}

@test "a budget that cannot be opened is named, neither missing nor removed, and no other is hidden" {
	two_budgets
	refuse "budgets/$api" '?open,?openat:error=ENFILE'
	is 125 "${refusing[@]}" "$RETRY" --budget-status all
	grep -q '^web ' out
	not grep -q '^api ' out
	told "retry: budget file '$api': not shown: cannot open: .*"
	not grep -q "$web" err
	: >out
	is 125 "${refusing[@]}" "$RETRY" --budget-status api
	[ ! -s out ]
	told "retry: budget 'api': cannot be used: cannot open: .*"
	is 1 "$RETRY" --budget-status none

	is 125 lacking "$RETRY" -q --budget-status all --json
	holds out '[]'
	told "retry: budget file '$web': not shown: cannot open: .*"
	: >err
	is 125 lacking "$RETRY" -q --budget-gc
	[ "$(lines err)" = 2 ]
	[ -e "budgets/$api" ]
	[ -e "budgets/$web" ]
	is 125 "${refusing[@]}" "$RETRY" --budget-gc
	told "retry: budget file '$api': cannot open: .*"
	[ -e "budgets/$api" ]
	[ ! -e "budgets/$web" ]
	is 0 "$RETRY" --budget-gc
	[ ! -e "budgets/$api" ]
}

@test "where the boot is unknown retry does not say that there is no budget" {
	[[ $(stat -f -c %T .) != @(tmp|ram)fs ]] || skip 'no disk here'
	two_budgets
	refuse /proc/sys/kernel/random/boot_id '?open,?openat:error=ENFILE'
	is 125 "${refusing[@]}" "$RETRY" --budget-status api
	told "retry: budget 'api': cannot be used: cannot tell one boot .*"
	is 125 "${refusing[@]}" "$RETRY" --budget-status all
	told "retry: budget file '$api': not shown: cannot tell one boot .*"
}
