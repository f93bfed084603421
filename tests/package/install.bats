# Which files `make install` installs where, and `make uninstall` removes. The
# program is $RETRY; nothing is built here.

load ../user/helper

setup()
{
	helper_setup
	[ -x "$RETRY" ] && "$RETRY" --version >version
	grep -q '^retry ' version
	root=$BATS_TEST_TMPDIR/root
}

# Runs make in the checkout, as if the program under test had been built there.
build()
{
	make -s -C "$BATS_TEST_DIRNAME/../.." -o "$RETRY" BIN="$RETRY" \
		DESTDIR="$root" "$@" 3>&-
}

# Lists what is installed.
installed()
{
	(cd "$root" && find . ! -type d | sort)
}

# Lists what is to be installed.
wanted()
{
	cat <<-END
		./usr/local/bin/retry
		./usr/local/share/bash-completion/completions/retry
		./usr/local/share/fish/vendor_completions.d/retry.fish
		./usr/local/share/man/man1/retry.1
		./usr/local/share/man/man5/retry.conf.5
		./usr/local/share/man/man7/retry-budget.7
		./usr/local/share/man/man7/retry-fleet.7
		./usr/local/share/man/man7/retry-http.7
		./usr/local/share/man/man7/retry-messages.7
		./usr/local/share/man/man7/retry-presets.7
		./usr/local/share/man/man7/retry-process.7
		./usr/local/share/man/man7/retry-report.7
		./usr/local/share/man/man7/retry-rules.7
		./usr/local/share/man/man7/retry-streams.7
		./usr/local/share/zsh/site-functions/_retry
	END
}

@test "install puts program, manual and completions under /usr/local" {
	build install
	diff <(wanted) <(installed)
	"$root/usr/local/bin/retry" --version | diff version -
}

@test "all users can read what is installed, and only the program is executable" {
	umask 077
	build install
	[ "$(stat -c %a "$root/usr/local/bin/retry")" = 755 ]
	[ "$(find "$root" -type f ! -perm 644 -printf '%f\n')" = retry ]
	[ -z "$(find "$root/usr" -type d ! -perm 755)" ]
}

@test "PREFIX is where everything is installed" {
	build install PREFIX=/opt/x
	[ -z "$(find "$root" -type f ! -path "$root/opt/x/*")" ]
	"$root/opt/x/bin/retry" --version | diff version -
}

@test "PROGRAM is the name of all that is installed" {
	build install PROGRAM=again
	diff <(wanted | sed 's/retry/again/') <(installed)
	"$root/usr/local/bin/again" --version |
		diff <(sed "s/'man retry'/'man again'/" version) -
}

@test "the completions complete PROGRAM and nothing else" {
	build install PROGRAM=again
	share=$root/usr/local/share
	run -0 bash --norc -c '. "$1"; complete -p again; ! complete -p retry' \
		sh "$share/bash-completion/completions/again"
	[ "$(head -n 1 "$share/zsh/site-functions/_again")" = '#compdef again' ]
	fish=$share/fish/vendor_completions.d/again.fish
	grep -q 'complete -c again ' "$fish"
	run grep 'complete -c retry' "$fish"
	[ "$status" = 1 ]
}

@test "the manual is that of PROGRAM" {
	build install PROGRAM=again
	cd "$root/usr/local/share/man"
	grep -qx '\.Dt AGAIN 1' man1/again.1
	grep -qx '\.Nm again' man1/again.1
	grep -qx '\.Dt AGAIN-BUDGET 7' man7/again-budget.7
	grep -qx '\.Nm again-budget' man7/again-budget.7
	grep -qx '\.Dt AGAIN.CONF 5' man5/again.conf.5
	run grep -rE '(Nm|Xr) retry|^\.Nd .*\<retry\>' .
	[ -z "$output" ]
}

@test "the commands in the manual are those of PROGRAM" {
	build install
	build install PROGRAM=again
	cd "$root/usr/local/share/man"
	run grep -cE '(^|[[:blank:]"])retry"?,? (\\-|")' man1/retry.1
	[ "$output" -gt 20 ]
	run grep -E '(^|[[:blank:]"q(/])retry"?,? (\\-|")|Ql.* retry ' man?/again*
	[ -z "$output" ]
	diff "$BATS_TEST_DIRNAME/../../retry.1" man1/retry.1
	for page in "$BATS_TEST_DIRNAME"/../../man/*; do
		diff "$page" man?/"${page##*/}"
	done
}

@test "uninstall removes all of it and nothing else" {
	build install PROGRAM=again
	build install
	build uninstall PROGRAM=again
	run -0 installed
	[ "${#lines[@]}" = 15 ]
	[[ $output != *again* ]]
	build uninstall
	run -0 installed
	[ -z "$output" ]
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
