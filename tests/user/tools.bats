#!/usr/bin/env bats
# Covers cli/config, cli/tool, cli/help.
# Files of tools: which are read, what they may have, and how they count. How outcomes are
# judged by their LISTs is tested in tests/unit/policy/plan.c.
# shellcheck disable=SC2016,SC2034 # the rows, and the commands' shells, expand

load helper
load json

usual=(-d 0 -n 2)
tools=

setup() {
	helper_setup
	export HOME=$PWD/home
	unset XDG_CONFIG_HOME
	tools=$HOME/.config/retry/tools
	mkdir -p bin "$tools"
	# Exits with the first word, and writes the second one to standard error.
	printf '%s\n' '#!/bin/sh' 'echo >>ran' '[ -z "$2" ] || echo "$2" >&2' 'exit $1' >bin/deploy
	for name in git frob3.11 frob a oc; do
		cp bin/deploy "bin/$name"
	done
	# They run what is behind their options.
	printf '%s\n' '#!/bin/sh' 'while [ "${1#bin/}" = "$1" ]; do shift; done' 'exec "$@"' >bin/sudo
	printf '%s\n' '#!/bin/sh' 'while [ "${1#-}" != "$1" ]; do shift; done' 'shift' \
	    'exec bin/deploy "$@"' >bin/npx
	chmod +x bin/*
}

# file NAME LINE...: writes the file of this tool.
file() {
	printf '%s\n' "${@:2}" >"$tools/$1.conf"
}

spent='giving up: attempts exhausted'

@test "the file of a tool is read where -a finds its command, or --preset its name" {
	file deploy retry-on=75
	file frob retry-on=3
	local not='not a transient failure, see --retry-on'
	table try <<-'END'
		runs=2 status=75 says="*$spent" -a bin/deploy 75
		runs=1 status=4 says="*giving up: preset deploy: $not" -a bin/deploy 4
		runs=1 status=4 says="*giving up: preset deploy: $not" --preset auto bin/deploy 4
		runs=1 status=4 says="*giving up: preset deploy: $not" --preset deploy bin/frob 4
		runs=1 status=4 says="*giving up: the presets: $not" --preset deploy,curl bin/frob 4
		# Behind wrappers, as of npx what it runs.
		runs=1 status=4 says="*giving up: preset deploy: $not" -a bin/sudo -u bob nice bin/deploy 4
		runs=1 status=4 says="*giving up: the presets: $not" -a bin/npx -y deploy@2 4
		# Digits and dots may be a version.
		runs=1 status=4 says="*giving up: preset frob: $not" -a bin/frob3.11 4
		# Nothing else finds it, and then no file is read.
		runs=2 status=4 bin/deploy 4
		runs=2 status=4 -a bin/a 4
		runs=2 status=4 --no-auto bin/deploy 4
		runs=2 status=4 -a --preset none bin/deploy 4
		runs=2 status=4 -w 9 bin/deploy 4
	END
	printf '%s\n' auto >team
	try runs=1 status=4 --policy ./team bin/deploy 4
	# That of the very name counts first.
	file frob3.11 retry-on=4
	try runs=2 status=4 -a bin/frob3.11 4
	# A command with a file is known.
	try status=4 -va bin/deploy 4 && not has 'no preset for' err
	try status=9 -va bin/a 9 && has "no preset for 'bin/a'" err
}

@test "the first file that is found counts, never one in the working directory" {
	file deploy stop-on=2
	mkdir -p xdg/retry/tools tools retry/tools .config/retry/tools
	echo stop-on=3 | tee {xdg/,,.config/}retry/tools/deploy.conf >tools/deploy.conf
	table <<-'END'
		with XDG_CONFIG_HOME=$PWD/xdg try runs=1 status=3 -a bin/deploy 3
		with XDG_CONFIG_HOME=$PWD/xdg try runs=2 status=2 -a bin/deploy 2
		with XDG_CONFIG_HOME=$PWD try runs=1 status=3 -a bin/deploy 3
		with XDG_CONFIG_HOME=xdg try runs=1 status=2 -a bin/deploy 2
		with XDG_CONFIG_HOME=. HOME=. try runs=2 status=3 -a bin/deploy 3
		with HOME= try runs=2 status=3 -a bin/deploy 3
		try runs=2 status=3 -a bin/deploy 3
	END
}

@test "the system's rules for tools are in /etc/retry/tools" {
	[ "$EUID" = 0 ] || skip 'not root'
	unshare -m true 2>err || skip 'no mount namespaces here'
	mkdir -p etc/retry/tools
	echo stop-on=2 | tee etc/retry/tools/deploy.conf >etc/retry/tools/frob.conf
	file frob stop-on=3
	under=(unshare -m sh -ec 'mount --bind etc /etc; exec "$@"' sh)
	table try <<-'END'
		runs=1 status=2 says='*giving up: preset deploy: stop-on 2 (/etc/retry/tools/deploy.conf:1)' -a bin/deploy 2
		runs=1 status=3 -a bin/frob 3
		runs=2 status=2 -a bin/frob 2
	END
}

@test "it has LISTs, retry-after and built-in presets, which count as such" {
	file deploy '# ours' '' 'retry-on=75,stderr:(?i)is locked' stop-on=2 fail-on=again:0 \
	    'success-on=again:stderr:done before' 'retry-after=stderr:again in' preset=net
	local at=$tools/deploy.conf
	table try <<-'END'
		runs=1 status=2 says="*giving up: preset deploy: stop-on 2 ($at:4)" -a bin/deploy 2
		runs=2 status=75 report='each.rule=preset,preset' -a bin/deploy 75 && has "\"why\": \"preset deploy: retry-on 75 ($at:3)\"" report
		runs=2 status=1 report='each.rule=preset,preset' -a bin/deploy 1 'it is Locked' && has "is locked ($at:3): \\\"is Locked\\\"\"" report
		runs=1 status=1 report='each.rule=preset' -a bin/deploy 1 other
		runs=2 says="*|attempt 2/2 succeeded (exit 75) by preset deploy: success-on again:stderr:done before ($at:6)|*" -va bin/deploy 75 'done before'
		runs=2 status=1 says="*giving up: preset deploy: fail-on again:0 ($at:5), *" -n 3 --consecutive 2 -a bin/deploy 0
		runs=2 status=75 ms=290 says='*retrying in 0.3s|*' -j none -a bin/deploy 75 'again in 0.3s'
		runs=2 status=1 -a bin/deploy 1 'x: Connection refused'
	END
	"$RETRY" --dry-run -a bin/deploy | sed -n '/^Rules/,/^Not/p' | tr -s ' ' >plan
	diff plan - <<-END
		Rules success success-on again:stderr:done before ($at:6)
		 failure fail-on again:0 ($at:5)
		 stop stop-on 2 ($at:4)
		 retry retry-on 75 ($at:3)
		 retry retry-on stderr:(?i)is locked ($at:3)
		 stop preset net: a failure that stays ($at:8)
		 retry preset net: a failure that passes ($at:8)
		Not counted Retry-After up to 5m a retry
	END
}

@test "it counts more than the preset of its name, which none replaces, and less than the user" {
	local lock="fatal: Unable to create 'x.lock': File exists."
	local denied='fatal: Authentication failed for x'
	table <<-'END'
		# The rest of the preset stays.
		file git 'retry-on=stderr:Authentication failed'; try runs=2 status=1 says="*$spent" -a bin/git 1 "$denied"
		file git 'retry-on=stderr:Authentication failed'; try runs=2 status=1 says="*$spent" -a bin/git 1 "$lock"
		file git 'stop-on=stderr:File exists'; try runs=1 status=1 says='*giving up: preset git: stop-on stderr:File exists (*)' -a bin/git 1 "$lock"
		file git preset=none; try runs=2 status=1 says="*$spent" -a bin/git 1 "$denied"
		file git preset=none stop-on=2; try runs=2 status=1 -a bin/git 1 "$denied"
		file git preset=none preset=curl; try runs=1 status=1 -a bin/git 1 "$lock"
		# It is that of the preset's other commands, too.
		file kubectl stop-on=3; try runs=1 status=3 -a bin/oc 3
		# The user's own lists.
		file git stop-on=9; try runs=2 status=9 -a --retry-on 9 bin/git 9
		file git retry-on=9; try runs=1 status=9 says='*giving up: --stop-on 9' -a --stop-on 9 bin/git 9
		file git success-on=9; try runs=1 -a bin/git 9
		file git success-on=9; try runs=1 status=9 -a --stop-on 9 bin/git 9
		file git stop-on=9; try runs=1 -a --success-on 9 bin/git 9
		echo retry-on=9 >team; file git stop-on=9; try runs=2 status=9 -a --policy ./team bin/git 9
	END
}

@test "a mistake in it is refused with its file and line, and nothing is run" {
	also=(-a bin/deploy 1)
	wrong() # wrong LINE WHY: the second line of the file is this
	{
		rm -f ran
		file deploy '# ours' "$1"
		refused "$tools/deploy.conf:2: $2"
	}
	local not='not in the file of a tool' status='not an exit status, signal or condition'
	table wrong <<-'END'
		attempts=3 "attempts: $not: '3'"
		limit=1:7 "limit: $not: '1:7'"
		http "http: $not: 'http'"
		'on-retry=touch ran' "on-retry: $not: 'touch ran'"
		'retry-if=touch ran' "retry-if: $not: 'touch ran'"
		report=ran "report: $not: 'ran'"
		budget=x "budget: $not: 'x'"
		auto "auto: $not: 'auto'"
		policy=./x "policy: only allowed on the command line"
		frob=1 "unknown option 'frob'"
		retry-on=no "retry-on: $status: 'no'; as a pattern: 'stderr:no'"
		retry-on=0 "retry-on: 0 is a success, not a failure (see --fail-on): '0'"
		retry-on= "retry-on: empty item in ''"
		'stop-on=stderr:a)' "stop-on: ) without (: ')' in 'a)'"
		retry-after=7 "retry-after: not DUR:LIST: '7'"
		# A file is no preset of another one: that could be a circle.
		preset=deploy "preset: no such preset: 'deploy'"
		preset=curl,frob "preset: no such preset: 'frob' in 'curl,frob'"
		preset=auto "preset: no such preset: 'auto'"
		preset=show:curl "preset: no such preset: 'show:curl'"
		preset= "preset: no such preset in ''"
	END
	file deploy frob=1
	also=(bin/deploy 1)
	table refused <<-'END'
		"$tools/deploy.conf:1: unknown option 'frob'" --preset deploy
		"$tools/deploy.conf:1: unknown option 'frob'" --dry-run -a
		"$tools/deploy.conf:1: unknown option 'frob'" --preset show:deploy
		"--preset: no such preset: 'nowhere'" --preset nowhere
		"--preset: no such preset: 'x/deploy'" --preset x/deploy
		"--preset: no such preset: '$tools/deploy'" --preset "$tools/deploy"
	END
	file deploy 'stop-on=stderr:a)'
	refused "$tools/deploy.conf:1: stop-on: ) without (: ')' in 'a)'" --preset show:deploy
	# Without -a and --preset it is not opened.
	try runs=2 status=1 bin/deploy 1
}

@test "no file has the name list, none or auto" {
	for name in list none auto; do
		file "$name" frob=1
		cp bin/deploy "bin/$name"
	done
	table try <<-'END'
		runs=0 out='*git *' --preset list
		runs=2 status=1 --preset none bin/deploy 1
		runs=2 status=1 --preset auto bin/deploy 1
		runs=2 status=1 -a bin/list 1
		runs=2 status=1 -a bin/none 1
		runs=2 status=1 -a bin/auto 1
	END
}

@test "a file that others may write, or that is no file, is refused" {
	also=(-a bin/deploy 1)
	local at=$tools/deploy.conf mode
	file deploy retry-on=75
	for mode in 622 662 620; do
		chmod "$mode" "$at"
		refused "--preset: others can write to it; use chmod go-w: '$at'"
	done
	for mode in 444 600 644; do
		chmod "$mode" "$at"
		try runs=1 status=1 "${also[@]}"
		rm ran
	done
	rm "$at"
	mkfifo "$at"
	refused "--preset: not a regular file: '$at'"
	rm "$at"
	mkdir "$at"
	refused "--preset: Is a directory: '$at'"
	rmdir "$at"
	# Who wrote the file counts, not the link.
	echo retry-on=75 >real
	ln -s "$PWD/real" "$at"
	try runs=1 status=1 "${also[@]}"
	rm ran
	chmod o+w real
	refused "--preset: others can write to it; use chmod go-w: '$at'"
	[ "$EUID" = 0 ] || skip 'not root'
	chmod 644 real
	chown 65533 real || skip 'there is no other user here'
	refused "--preset: of another user, neither yours nor root's: '$at'"
}

@test "where the environment may be another user's, only /etc/retry is read" {
	file deploy stop-on=1
	try runs=1 status=1 -a bin/deploy 1
	with XDG_CONFIG_HOME="$HOME/.config" HOME=/nonexistent try runs=2 status=1 -a bin/deploy 1
	[ "$EUID" = 0 ] || skip 'not root'
	# A real user who is not the effective one.
	under=(setpriv --ruid=65533)
	"${under[@]}" true 2>err || under=(env HOME=/nonexistent)
	try says='*attempt 2/2 failed*' status=1 -a bin/deploy 1
	under=()
	try runs=1 status=1 -a bin/deploy 1
	chown 65533 home || skip 'there is no other user here'
	try runs=2 status=1 -a bin/deploy 1
	export XDG_CONFIG_HOME=$HOME/.config
	try runs=2 status=1 -a bin/deploy 1
	try runs=0 -a --preset list
	not has "$tools" out
}

@test "--preset list shows it with its path, and --preset show its rules" {
	file deploy retry-on=75,stderr:busy stop-on=2 success-on=3 fail-on=stdout:x 'retry-after=stderr:in ' \
	    preset=net retry-on=9
	file a-very-long-name-of-a-tool stop-on=2
	file git stop-on=2
	mkdir -p xdg/retry/tools
	touch "$tools/none.txt" xdg/retry/tools/deploy.conf
	XDG_CONFIG_HOME=$PWD/xdg try runs=0 --preset list
	tail -n 3 out | diff - <(cat <<-END
		deploy           $PWD/xdg/retry/tools/deploy.conf
		a-very-long-name-of-a-tool $tools/a-very-long-name-of-a-tool.conf
		git              $tools/git.conf
	END
	)
	try runs=0 --preset show:deploy
	diff out - <<-END
		deploy: $tools/deploy.conf
		a success:
		  3
		a failure, even with exit status 0:
		  stdout:x
		a failure that stays:
		  2
		a failure that passes:
		  75
		  stderr:busy
		  9
		the time to wait is behind:
		  stderr:in $(true)
		and what is known of:
		  net
	END
	try runs=0 --preset show:git
	cp out both
	rm "$tools/git.conf"
	try runs=0 --preset show:git
	printf '%s\n' "git: $tools/git.conf" 'a failure that stays:' '  2' | cat - out | diff - both
	file git preset=none stop-on=2
	try runs=0 --dry-run -a bin/git pull
	not has 'preset git' out
	try runs=0 --preset show:git
	holds out "git: $tools/git.conf" 'a failure that stays:' '  2'
}
