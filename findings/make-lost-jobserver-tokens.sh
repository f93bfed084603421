#!/bin/sh
# make -j4: a recipe starts a sub-make, whose four jobs run at once, and ends it with
# SIGTERM. The next sub-make has four jobs as well.
#
# Seen with GNU make 4.4.1 of Debian 13: the sub-make does not give the tokens of its jobs
# back to the jobserver. So the jobs of the next one run one after the other, and make
# says in the end, with status 0: "Exiting with 1 jobserver tokens available; should be
# 4!" GNU make 4.3 of Debian 12 gives them back: again four jobs run at once.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >Makefile <<'END'
.SILENT:
all:
	+$(MAKE) long & until [ -e four ]; do sleep 0.1; done; kill $$!; wait $$! || echo "first: status $$?"
	+$(MAKE) short
long: l1 l2 l3 l4
l1 l2 l3 l4:
	echo >>$@.began; [ $$(ls *.began | wc -l) -lt 4 ] || echo >four; exec sleep 60
short: s1 s2 s3 s4
s1 s2 s3 s4:
	echo >>began; sleep 1; [ $@ != s1 ] || echo "second: $$(wc -l <began) at once"
END
for suite in bookworm trixie; do
	mmdebstrap --quiet --variant=extract --include=make "$suite" $suite \
		--aptopt='Acquire::Check-Valid-Until "false"'
	# The root is not set up: its loader starts the program.
	loader=$(find "$PWD/$suite" -name 'ld-linux-*.so*' -type f)
	cat >make-$suite <<-END
		#!/bin/sh
		exec $loader --library-path ${loader%/*} $PWD/$suite/usr/bin/make "\$@"
	END
	chmod +x make-$suite
	rm -f ./*began four
	./make-$suite --version | head -n 1
	status=0
	./make-$suite --no-print-directory -j4 MAKE="$PWD/make-$suite" 2>words || status=$?
	sed -n '/INTERNAL/p' words
	echo "make: status $status"
done >seen
cat seen
diff seen - <<'END'
GNU Make 4.3
first: status 143
second: 4 at once
make: status 0
GNU Make 4.4.1
first: status 143
second: 1 at once
make: INTERNAL: Exiting with 1 jobserver tokens available; should be 4!
make: status 0
END
