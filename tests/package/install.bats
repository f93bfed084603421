# Which files `make install` installs where, and `make uninstall` removes. The
# program is $RETRY; nothing is built here.

load ../user/helper

setup() {
	helper_setup
	[ -x "$RETRY" ] && "$RETRY" --version >version
	grep -q '^retry ' version
	root=$BATS_TEST_TMPDIR/root
}

# Runs make in the checkout, as if the program under test had been built there.
build() {
	make -s -C "$BATS_TEST_DIRNAME/../.." -o "$RETRY" BIN="$RETRY" DESTDIR="$root" "$@" 3>&-
}

# Lists what is installed.
installed() {
	(cd "$root" && find . ! -type d | sort)
}

# Lists what is to be installed.
wanted() {
	local page
	cd "$BATS_TEST_DIRNAME/../.." || return
	{
		for page in retry.1 man/*; do
			echo "./usr/local/share/man/man${page##*.}/${page##*/}"
		done
		printf './usr/local/%s\n' bin/retry share/zsh/site-functions/_retry \
			share/bash-completion/completions/retry \
			share/fish/vendor_completions.d/retry.fish
	} | sort
}

@test "make shows a line for each file and what to do next, with V=1 all, and help its targets" {
	local here=$BATS_TEST_DIRNAME/../..
	run make -C "$here" B="$PWD/b" BIN="$PWD/b/retry" CC=true 3>&-
	[ "$(grep -cx 'true src/[a-z_/]*\.c' <<<"$output")" = \
		"$(printf '%s\n' "$here"/src/*.c "$here"/src/*/*.c | wc -l)" ]
	[[ $output == *$'\n'"true -o $PWD/b/retry"$'\n'* && $output != *' -O2 '* ]]
	grep -q "$(head -n 1 version) is built (.*); next: .* make CC=true check, sudo make CC=true install$" <<<"$output"
	run make -n V=1 -C "$here" B="$PWD/c" BIN="$PWD/c/retry" CC=true 3>&-
	[[ $output == *'true -std=c11 '* && $output != *'echo '*'true retry.c'* ]]
	run make -s -C "$here" help 3>&-
	sed -zn 's/.*\n\.PHONY: all help \(.*\) FORCE\n$/\1/; s/[\\\n\t ]\+/\n/gp' "$here/Makefile" |
		grep -v '(' | sort >targets
	[ "$(lines targets)" -ge 18 ]
	sed -n 's/^make //p' <<<"$output" | sed 's/  .*//' | tr ' ' '\n' | sort |
		comm -23 targets - | diff /dev/null -
}

# last REASON ARGUMENT...: the last line of make tells how the program is linked
last() {
	run make -n -C "$BATS_TEST_DIRNAME/../.." B="$PWD/b" BIN="$PWD/b/retry" "${@:2}" 3>&-
	[[ $output == *" is built ($1); next: "* ]] || { tail -n 2 <<<"$output"; return 1; }
}

# fake NAME LINE: a program in ./fakes that runs this line, in which $out is what -o names
fake() {
	mkdir -p fakes
	printf '#!/bin/sh\nfor word; do [ "$last" != -o ] || out=$word; last=$word; done\n%s\n' \
	    "$2" >"fakes/$1"
	chmod +x "fakes/$1"
}

@test "make builds a static program where musl can, and tells why it does not elsewhere" {
	local PATH=$PWD/fakes:$PATH
	unset MAKEFLAGS CC CFLAGS CPPFLAGS LDFLAGS LDLIBS STATIC
	fake cc 'echo x86_64-linux-gnu'
	fake musl-gcc 'cp /bin/true "$out"'
	last 'static, with musl-gcc'
	[[ $output == *'musl-gcc -std=c11 '*'musl-gcc -O2 -static -no-pie '* ]]
	last 'dynamic, because of STATIC=no' STATIC=no
	[[ $output == *'cc -std=c11 '* && $output != *musl-gcc* ]]
	last 'with your MODE' MODE=
	last 'dynamic, because CC is other' CC=other
	CC=other last 'dynamic, because CC is other'
	fake other 'echo x86_64-alpine-linux-musl; [ -z "$out" ] || cp /bin/true "$out"'
	last 'static, with other' CC=other
	last 'static, with musl-gcc' CC=musl-gcc
	# It does not link, or what it makes does not run.
	fake musl-gcc '[ "$*" = "${*#*-fsanitize}" ] && cp /bin/true "$out"'
	last 'dynamic, because musl-gcc cannot link with these flags' CFLAGS=-fsanitize=address
	fake musl-gcc 'cp /bin/false "$out"'
	last 'dynamic, because musl-gcc cannot link with these flags'
	[ -z "$(find b -name 'try*')" ]
	fake cc 'echo x86_64-alpine-linux-musl; [ -z "$out" ] || cp /bin/true "$out"'
	last 'static, with cc'
	# No musl at all.
	fake cc 'echo x86_64-linux-gnu'
	rm fakes/musl-gcc
	mkdir few
	for name in make sh echo sed mkdir rm cat expr grep cmp; do
		ln -s "$(type -P "$name")" few/
	done
	PATH=$PWD/fakes:$PWD/few last 'dynamic, because there is no musl-gcc'
}

@test "install puts program, manual and completions under PREFIX, for all users" {
	umask 077
	build install
	diff <(wanted) <(installed)
	"$root/usr/local/bin/retry" --version | diff version -
	[ "$(stat -c %a "$root/usr/local/bin/retry")" = 755 ]
	[ "$(find "$root" -type f ! -perm 644 -printf '%f\n')" = retry ]
	[ -z "$(find "$root/usr" -type d ! -perm 755)" ]
	rm -r "$root"
	build install PREFIX=/opt/x
	diff <(wanted | sed 's,/usr/local,/opt/x,') <(installed)
}

@test "PROGRAM is the name of all that is installed and completed, and uninstall removes it" {
	build install PROGRAM=again
	diff <(wanted | sed 's/retry/again/') <(installed)
	"$root/usr/local/bin/again" --version |
		diff <(sed "s/'man retry'/'man again'/" version) -
	share=$root/usr/local/share
	run -0 bash --norc -c '. "$1"; complete -p again; ! complete -p retry' \
		sh "$share/bash-completion/completions/again"
	[ "$(head -n 1 "$share/zsh/site-functions/_again")" = '#compdef again' ]
	fish=$share/fish/vendor_completions.d/again.fish
	grep -q 'complete -c again ' "$fish"
	run -1 grep 'complete -c retry' "$fish"
	build install
	build uninstall PROGRAM=again
	diff <(wanted) <(installed)
	build uninstall
	[ -z "$(installed)" ]
}

@test "the manual and its commands are those of PROGRAM" {
	build install
	build install PROGRAM=again
	cd "$root/usr/local/share/man"
	while IFS='|' read -r page line; do
		grep -qx "$line" "$page"
	done <<-'END'
		man1/again.1|\.Dt AGAIN 1
		man1/again.1|\.Os again [0-9.]*
		man1/again.1|\.Nm again
		man7/again-budget.7|\.Dt AGAIN-BUDGET 7
		man7/again-budget.7|\.Nm again-budget
		man5/again.conf.5|\.Dt AGAIN.CONF 5
	END
	run -1 grep -E '(Nm|Xr) retry|^\.Nd .*\<retry\>' man?/again*
	run grep -cE '(^|[[:blank:]"])retry"?,? (\\-|")' man1/retry.1
	[ "$output" -gt 20 ]
	run -1 grep -E '(^|[[:blank:]"q(/])retry"?,? (\\-|")|Ql.* retry ' man?/again*
	diff "$BATS_TEST_DIRNAME/../../retry.1" man1/retry.1
	for page in "$BATS_TEST_DIRNAME"/../../man/*; do
		diff "$page" man?/"${page##*/}"
	done
}

@test "a program that runs while it is installed anew goes on" {
	build install
	start "$root/usr/local/bin/retry" -q -n 1 sleep 20
	wait_for pgrep -P "$pid" -x sleep
	build install
	kill -TERM "$pid"
	ended
	[ "$status" = 143 ]
}
