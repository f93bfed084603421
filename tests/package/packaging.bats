# The tarball of `make dist`, what the packages say of the program, and what the
# program says of itself where it has another name, as there. make check-deb and its like
# build the packages themselves.

load ../user/helper

# Most tests look at one and the same tarball.
setup_file() {
	SOURCE_DATE_EPOCH=1000000000 make -s -C "$BATS_TEST_DIRNAME/../.." dist \
		B="$BATS_FILE_TMPDIR" 3>&-
}

setup() {
	helper_setup
	here=$BATS_TEST_DIRNAME/../..
	version=$("$RETRY" --version | head -n 1)
	[[ $version == retry\ * ]]
	version=${version#retry }
	name=retry-$version
	tarball=$BATS_FILE_TMPDIR/$name.tar.gz
}

# dist TREE DIRECTORY: `make dist` of a source tree.
dist() {
	make -s -C "$1" dist B="$PWD/$2" 3>&- | diff - <(echo "$PWD/$2/$name.tar.gz")
}

# packed FILE: lists what is in a tarball.
packed() {
	tar -tf "$1" | sed "s,^$name/,,"
}

@test "the version of the tarball and the package is that of --version" {
	dist "$here" out
	tar -tf "out/$name.tar.gz" >list
	run -1 grep -v "^$name/" list
	[[ $(head -n 1 "$here/packaging/debian/changelog") == "retry-cmd ($version-"* ]]
}

@test "a release has the version's part of the changes as its notes" {
	local workflow=$here/.github/workflows/release.yml
	"$PYTHON" - "$workflow" >steps <<-'TEXT'
		import sys, yaml
		with open(sys.argv[1]) as file:
		    steps = yaml.safe_load(file)["jobs"]["release"]["steps"]
		print(*(step.get("run", "") for step in steps), sep="\n")
	TEXT
	for target in check check-dynamic check-release release; do
		grep -qx "make $target" steps
	done
	cp "$here/CHANGELOG.md" .
	export GITHUB_REF_NAME=v$version
	gh() { :; }
	eval "$(sed -n '/^awk /,$p' steps)"
	grep -q '^- ' notes
	run -1 grep '^## ' notes
}

@test "the tarball has all sources and nothing that is built" {
	packed "$tarball" | sort >packed
	(cd "$here" && ls Makefile LICENSE README.md CHANGELOG.md SECURITY.md doc/* man/* retry.c retry.1 .ci/run \
		src/*.[ch] src/wings src/*/* completions/* tests/user/*.bats tests/package/* packaging/debian/rules) |
		sort >wanted
	comm -13 packed wanted | diff - /dev/null
	run -1 grep -E '^(build/|retry$|retry-(static|dynamic)$|\.git/)|\.o$' packed
}

@test "the same files make the same tarball, whoever packs them, wherever, and with no date" {
	umask 077
	tar -xf "$tarball"
	dist "$name" one
	cmp "$tarball" "one/$name.tar.gz"
	find "$name" -exec touch -d yesterday {} +
	mkdir "$name/build"
	echo x >"$name/build/x" # not a source
	export SOURCE_DATE_EPOCH=1000000000
	TZ=Asia/Tokyo LC_ALL=C.UTF-8 dist "$name" two
	cmp "$tarball" "two/$name.tar.gz"
	# No tarball contains another.
	dist "$name" "$name/out"
	touch "$name/out/of-a-build"
	dist "$name" "$name/out"
	cmp "$tarball" "$name/out/$name.tar.gz"
	rm -r "$name/out"
	dist "$name" "$name"
	cp "$name/$name.tar.gz" "$name/retry-0.0.tar.gz"
	dist "$name" "$name"
	cmp "$tarball" "$name/$name.tar.gz"
}

@test "files that git tracks are packed, except deleted ones" {
	tar -xf "$tarball"
	command -v git >/dev/null || skip "no git here"
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
	git -C "$name" init -q
	git -C "$name" add .
	git -C "$name" -c user.name=x -c user.email=x commit -qm x
	rm -r "$name/README.md" "$name/completions"
	echo x >"$name/untracked"
	dist "$name" out
	diff <(packed "$tarball" | grep -vE "^(README|completions)") <(packed "out/$name.tar.gz")
}

@test "the package has the licence of the project" {
	diff <(sed 1,4d "$here/LICENSE") \
		<(sed '1,/^License: Expat$/d; /^License: Expat$/d; s/^ //; s/^\.$//; /./,$!d' \
			"$here/packaging/debian/copyright")
}

# recipe FILE FIELD: what a recipe of a package says of the field.
recipe() {
	sed -nE "s/^$2(=|: *)//p" "$here/packaging/$1" | tr -d '"'\'
}

@test "all packages have the name and the version of Debian's, and the tarball of make dist" {
	for file in alpine/APKBUILD archlinux/PKGBUILD; do
		[ "$(recipe "$file" pkgname)" = retry-cmd ]
		[ "$(recipe "$file" pkgver)" = "$version" ]
		source=$(recipe "$file" source)
		source=${source//[()]/}
		[ -e "$BATS_FILE_TMPDIR/${source/\$pkgver/$version}" ]
	done
	[ "$(recipe fedora/retry-cmd.spec Name)" = retry-cmd ]
	[ "$(recipe fedora/retry-cmd.spec Version)" = "$version" ]
	source=$(recipe fedora/retry-cmd.spec Source0)
	[ -e "$BATS_FILE_TMPDIR/${source/\%\{version\}/$version}" ]
	grep -q "^\* .* - $version-1$" "$here/packaging/fedora/retry-cmd.spec"
	[ "$(recipe debian/control Source)" = retry-cmd ]
}

# Makes ./path, which has all programs that PATH has.
gather() {
	local directory
	mkdir path
	while IFS= read -rd : directory; do
		# The first program of a name stays.
		ln -s "$directory"/* path/ 2>/dev/null || :
	done <<<"$PATH:"
	[ -e path/bash ]
}

@test "make rpm, arch and release say which tool is missing, and what gets it" {
	local kind tool what
	gather
	ln -sf "$(command -v true)" path/musl-gcc
	while read -r kind tool what; do
		rm -f "path/$tool"
		PATH=$PWD/path run -1 "$here/packaging/$kind" "$version" i686-linux-gnu
		[ "$output" = "make $kind: no $tool here: tests/setup $what gets it" ]
	done <<-END
		rpm rpmbuild packages
		arch makepkg packages
		release i686-linux-gnu-gcc portable
		release musl-gcc portable
	END
}

# The lines of the Dockerfile in doc/install.md.
dockerfile() {
	sed -n '/^```dockerfile$/,/^```$/p' "$here/doc/install.md" | sed '1d; $d'
}

@test "the documented Dockerfile copies what make static makes, and then finds it" {
	dockerfile >lines
	[ "$(lines lines)" = 3 ]
	read -r word from to <<<"$(sed -n 2p lines)"
	[ "$word" = COPY ]
	make -nsB -C "$here" static MUSL_CC=true | grep -qE -- "-o $from( |$)"
	mkdir -p "root${to%/*}" stubs
	cp "$RETRY" "root$to"
	cat >stubs/apk <<-'END'
		#!/bin/sh
		[ "$RETRY_ATTEMPT" = 1 ] || exec echo "apk $*"
		echo 'ERROR: temporary error (try again later)' >&2
		exit 1
	END
	chmod +x stubs/apk
	command=$(sed -n 's/^RUN //p' lines)
	# The PATH of the image, whose root is here.
	export PATH=$PWD/stubs:$PWD/root/usr/local/bin:/usr/bin:/bin
	run -0 --separate-stderr sh -c "${command/retry /retry -q -d 1ms }"
	[ "$output" = "apk ${command#* apk }" ]
}
