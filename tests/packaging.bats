# The tarball of `make dist`, and what the Debian package says of the program.
# make check-deb builds the package itself.

load helper

setup()
{
	helper_setup
	here=$BATS_TEST_DIRNAME/..
	version=$("$RETRY" --version)
	[[ $version == retry\ * ]]
	version=${version#retry }
	name=retry-$version
}

# dist TREE DIRECTORY: `make dist` of a source tree.
dist()
{
	make -s -C "$1" dist B="$PWD/$2" 3>&- | diff - <(echo "$PWD/$2/$name.tar.gz")
}

@test "the version of the tarball and the package is that of --version" {
	dist "$here" out
	tar -tf "out/$name.tar.gz" >list
	run grep -v "^$name/" list
	[ "$status" = 1 ]
	[[ $(head -n 1 "$here/packaging/debian/changelog") == "retry-cmd ($version-"* ]]
}

@test "the tarball has all sources and nothing that is built" {
	dist "$here" out
	tar -tf "out/$name.tar.gz" | sed "s,^$name/,," | sort >packed
	(cd "$here" && ls Makefile LICENSE README.md retry.c retry.1 .ci/run \
		src/* completions/* tests/*.bats packaging/debian/rules) |
		sort >wanted
	run comm -13 packed wanted
	[ -z "$output" ]
	run grep -E '^(build/|retry$|retry-static$|\.git/)|\.o$' packed
	[ "$status" = 1 ]
}

@test "the same files make the same tarball, whoever packs them" {
	export SOURCE_DATE_EPOCH=1000000000
	dist "$here" one
	umask 077
	tar -xf "one/$name.tar.gz"
	find "$name" -exec touch -d yesterday {} +
	mkdir "$name/build"
	echo x >"$name/build/x" # not a source
	export TZ=Asia/Tokyo LC_ALL=C.UTF-8
	dist "$name" two
	cmp "one/$name.tar.gz" "two/$name.tar.gz"
}

@test "the tarball names no owner, and one time" {
	SOURCE_DATE_EPOCH=1000000000 dist "$here" out
	TZ=UTC tar --numeric-owner --full-time -tvf "out/$name.tar.gz" >list
	awk '{ print $2, $4, $5 }' list | sort -u |
		diff - <(echo '0/0 2001-09-09 01:46:40')
	cut -c1-10 list | sort -u | diff - <(printf '%s\n' -rw-r--r-- -rwxr-xr-x)
}

@test "a tarball of the tarball is the same, without a date" {
	SOURCE_DATE_EPOCH=1000000000 dist "$here" one
	tar -xf "one/$name.tar.gz"
	unset SOURCE_DATE_EPOCH
	dist "$name" two
	cmp "one/$name.tar.gz" "two/$name.tar.gz"
}

@test "the package has the licence that the project has" {
	diff <(sed 1,4d "$here/LICENSE") \
		<(sed '1,/^License: Expat$/d; /^License: Expat$/d; s/^ //; s/^\.$//; /./,$!d' \
			"$here/packaging/debian/copyright")
}
