#!/usr/bin/env bats
# Covers output/log, output/nonblock, report/messages, report/advice.
# --log-format: messages for people, for programs and for GitHub workflows.
# shellcheck disable=SC2016,SC2034 # the commands' shells expand, and the tables

load helper
load json

usual=(-d 0)

# logs STATUS CHECKS [OPTION]... COMMAND...: retry ends so, and of its lines in JSON
# these CHECKS hold, one a line.
logs() {
	local checks
	mapfile -t checks <<<"$2"
	try status="$1" --log-format json "${@:3}" && json log @err "${checks[@]}"
}

# annotated KIND [TITLE TEXT]: ./err has one workflow command, an error or a warning about
# retry, with this title and text in the last line; sets $all to its lines
annotated() {
	mapfile -t all <err
	printf -v text '\n%s' "${all[@]}"
	[[ $text =~ $'\n'"::$1 title=".*::retry:\  && $text != *$'\n::'*$'\n::'* &&
		($# = 1 || ${all[-1]} = "::$1 title=$2::$3") ]] || {
		cat err
		return 1
	}
}

exhausted='giving up: attempts exhausted'

@test "text is the default, and the last format counts" {
	local says="attempt 1/2 failed (exit 1), retrying in 0s|attempt 2/2 failed (exit 1), $exhausted"
	table try status=1 'says="$says"' -n 2 <<-'END'
		false
		--log-format json --log-format text false
	END
}

@test "a label stands before each message, of whatever kind and length it is" {
	labelled() # labelled LINES LABEL STATUS WORD...: that many lines have it
	{
		local says="$2: *"
		[ "$1" = 1 ] || says+="|$says"
		try status="$3" says="$says" "${@:4}" && [ "$(lines err)" = "$1" ]
	}
	unshown() # unshown LABEL: it cannot be shown in a line as it is
	{
		try status=125 --label "$1" touch ran &&
		    [[ ! -e ran && $(<err) == 'retry: --label: '* ]]
	}
	echo 'label=of the file' >policy
	printf -v label '"%.0s' {1..255}
	words=({1..300})
	words=("${words[@]/*/$'\xff'}")
	longest() # longest FORMAT: no message lacks anything
	{
		try status=7 -n 1 --label "$label" --log-format "$1" -- sh -c 'exit 7' "${words[@]}"
	}
	table <<-'END'
		labelled 2 'mirror: a' 7 -n 2 --label 'mirror: a' -- sh -c 'exit 7'
		labelled 2 ü 0 -v --label ü -- true
		labelled 1 a 127 -q --label a -- nosuch
		labelled 1 a 0 --label a -B api --budget-dir nosuch -- true
		labelled 1 a 125 --label a -I --stdin-max 1 -- true < <(echo hello)
		labelled 1 'of the file' 7 -n 1 --policy ./policy -- sh -c 'exit 7'
		labelled 1 mine 7 -n 1 --policy ./policy --label mine -- sh -c 'exit 7'
		# An empty one is none, and the last one counts.
		labelled 1 'attempt 1/1 failed (exit 7), giving up' 7 -n 1 --label a --label '' -- sh -c 'exit 7'
		longest text && holds err "retry: $label: attempt 1/1 failed (exit 7), $exhausted"
		longest github && holds err '' "::error title=${label:0:150}::retry: $label: attempt 1/1 failed (exit 7), $exhausted"
		longest json && json log @err each.label="${label//\"/\\\"}" each.reason=attempts && [[ $(<err) == *'"command":["sh","-c","exit 7",'* ]]
		unshown $'a\nb'
		unshown $'\e[m'
		unshown $'\xff'
		unshown $'\xc2\x9b'
		unshown "$label\""
	END
}

@test "a message begins a line where retry has passed on the last byte of the line before" {
	ends() # ends SAYS CHECK...: so, after a line without a newline
	{
		try status=7 says="$1" "${@:2}" -- sh -c 'printf theirs >&2; exit 7'
	}
	local spent="attempt 1/1 failed (exit 7), $exhausted"
	table <<-'END'
		ends "> theirs|attempt 1/2 failed (exit 7), retrying in 0s|> theirs|attempt 2/2 failed (exit 7), $exhausted" -n 2 --retry-on stderr:theirs
		ends "> theirs|$spent" -n 1 -E
		ends "> theirs|$spent" -n 1 -E --retry-on stderr:theirs
		ends "> theirs|$spent|ended after *" -n 1 -vE
		ends "> theirs|$spent" -n 1 --chronic
		ends '> theirs|> {"time":*}' -n 1 -E --log-format json
		# No line is empty where there was a newline, or where nothing was passed on.
		try status=7 says="> theirs|$spent" -n 1 -E -- sh -c 'echo theirs >&2; exit 7'
		try status=7 says="$spent" -n 1 -E --retry-on 7 -- sh -c 'exit 7'
		# What goes to another place does not matter, what goes to the same does.
		try status=1 out=theirs says='attempt 1/1 *' -n 1 --fail-on stdout:theirs printf theirs
		not "$RETRY" -n 1 --fail-on stdout:theirs printf theirs >err 2>&1 && holds err theirs 'retry: attempt 1/1 failed (exit 0), '"$exhausted"
	END
}

@test "each line is a JSON object that says when, how bad, what, and of which invocation" {
	local before id pid of at last after
	TZ=UTC0 printf -v before '%(%FT%T)T' $((EPOCHSECONDS - 60)) # the clock may be set
	TZ=Asia/Tokyo try status=7 -n 2 --label nightly --log-format json -- \
	    sh -c 'echo $RETRY_ID $PPID >ran; exit 7' 'two words'
	read -r id pid <ran
	of="\"id\":\"$id\",\"pid\":$pid,"
	of+='"command":["sh","-c","echo $RETRY_ID $PPID >ran; exit 7","two words"],"label":"nightly"'
	json log @err each.time
	at=${got%,*} last=${got#*,}
	[[ $got =~ ^(,?[0-9]{4}(-[0-9]{2}){2}T([0-9]{2}:){2}[0-9]{2}\.[0-9]{3}Z){2}$ ]]
	holds err \
	    '{"time":"'$at'","level":"warning","message":"attempt 1/2 failed (exit 7), retrying in 0s",'"$of"',"attempt":1,"status":7,"delay_ms":0}' \
	    '{"time":"'$last'","level":"error","message":"attempt 2/2 failed (exit 7), '"$exhausted"'",'"$of"',"attempt":2,"status":7,"reason":"attempts"}'
	TZ=UTC0 printf -v after '%(%FT%T)T' $((EPOCHSECONDS + 60))
	[[ ! $at < $before && ! ${last%.*} > $after ]]
	table <<-'END'
		logs 0 each.level=warning -B api --budget-dir nosuch -- true && has budget err
		logs 0 each.level=info,info -v -- true
		logs 127 each.level=error$'\n'"each.message=cannot run 'nosuch': No such file or directory"$'\n'each.label=null$'\n''each.command=["nosuch"]' -q nosuch
		logs 7 each.attempt=3 -n 3 -E -- sh -c 'exit 7'
		logs 7 each.level= -q -n 2 -- sh -c 'exit 7'
		logs 0 each.level= -- true
		logs 0 each.level= -E -- sh -c '[ "$RETRY_ATTEMPT" -eq 2 ]'
		# Of a long command the beginning, and of long words.
		logs 7 each.reason=attempts -n 1 -- sh -c 'exit 7' {1..1000} && [[ $(<err) == *'"command":["sh","-c","exit 7","1",'*',"..."]'* ]]
		logs 7 each.attempt=1 -n 1 -- sh -c 'exit 7' "$(printf 'a\n%.0s' {1..200})" last && grep -q '"exit 7","a\\u000aa.*\.\.\.","last"\]' err
	END
	exits 125 "$RETRY" -q -O --log-format json echo lost 2>err >/dev/full
	json log @err each.level=error \
	    'each.message=cannot write to standard output: No space left on device'
}

@test "whatever the bytes, a line is one object, one write, and what was said" {
	"$PYTHON" -IS - "$RETRY" <<-'END'
		import json, socket, subprocess, sys
		def pairs(of):
		    assert len(dict(of)) == len(of), 'a name twice'
		    return dict(of)
		def says(*words):
		    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
		    subprocess.run([sys.argv[1], '--log-format', 'json', '-d', '0',
		                    '-n', '2', *words], stderr=theirs)
		    ours.setblocking(False)
		    said = []
		    while True:
		        try:
		            line = ours.recv(65536)
		        except BlockingIOError:
		            return said
		        assert len(line) <= 4096, len(line)
		        assert line.endswith(b'}\n') and line.count(b'\n') == 1
		        said.append(json.loads(line.decode(), object_pairs_hook=pairs))
		for unit in b'x', b'\n', b'\xff', b'"', 'ü'.encode(), '€'.encode():
		    for count in 10, 180, 500, 999, 1000, 1001, 4000, 90000:
		        said = says(unit * (count // len(unit)))
		        assert said and {x['level'] for x in said} == {'error'}, count
		assert len(says('sh', '-c', 'exit 7')) == 2
		for word in (b'quo"te', b'back\\slash', b'new\nline', b'tab\t\x1b[31m\x7f',
		             b'\xff\xfe', b'\xc3', b'\xed\xa0\x80', b'\xc0\xaf',
		             b'\xf4\x90\x80\x80', b'\xe2\x80\xa8', b'\xc2\x9b', b'%s', b"'",
		             b'x","level":"info","message":"fine'):
		    said = says(word)
		    assert said[0]['level'] == 'error', said
		    assert said[0]['message'].startswith('cannot run '), said
		assert says(b'a"\\\n\xff\xc3\xbc\xe2\x82\xac')[0]['message'] == (
		    'cannot run \'a"\\\n\\xff\u00fc\u20ac\': No such file or directory')
	END
}

@test "a workflow gets one error at the end, a warning after a rescue, and neither of a success at once" {
	workflow() # workflow STATUS WORD...
	{
		local usual=(-d 0 --log-format github)
		try status="$1" "${@:2}"
	}
	last=(sh -c 'echo theirs >&2; exit 7')
	third=(sh -c '[ "$RETRY_ATTEMPT" -eq 3 ]')
	nosuch="cannot run 'nosuch': No such file or directory"
	printf -v long 'x%.0s' {1..200}
	escaped=100%25%0D%0A%3A%3Aerror%3A%3Ax%250A
	table <<-'END'
		workflow 7 -n 4 "${last[@]}" && annotated error sh "retry: attempt 4/4 failed (exit 7), $exhausted" && reads err '> theirs|attempt 1/4 failed (exit 7), retrying in 0s|> theirs|attempt 2/4 *s|> theirs|attempt 3/4 *s|> theirs|> |> ::*'
		workflow 7 --stop-on 7 -- sh -c 'exit 7' && annotated error sh 'retry: attempt 1/5 failed (exit 7), giving up: --stop-on 7'
		workflow 0 "${third[@]}" && annotated warning sh 'retry: attempt 3/5 succeeded (exit 0)'
		workflow 7 -B api --budget-dir "$PWD" --budget-min 0 -- sh -c 'exit 7' && annotated error && [[ ${all[-1]} == "::error title=sh::retry: budget 'api': exhausted, "* ]]
		workflow 124 -T 0.5 -k 0 -- sleep 20 && annotated error
		workflow 125 -I --stdin-max 1 -- true < <(echo hello) && annotated error
		workflow 69 -B api --budget-required --budget-dir "$PWD/none" -- true && annotated error
		workflow 0 says='' -- true
		workflow 0 says='' --consecutive 2 -- true
		workflow 0 says='attempt 1/5 succeeded*|ended after *' -v -- true
		# With -q only failures of retry itself, with -E all the same.
		workflow 7 says='' -q -n 2 -- sh -c 'exit 7'
		workflow 127 -q -- nosuch && annotated error nosuch "retry: $nosuch"
		workflow 7 -n 3 -E -- "${last[@]}" && holds err theirs '' "::error title=sh::retry: attempt 3/3 failed (exit 7), $exhausted"
		# Percent signs and newlines are escaped.
		workflow 127 -- $'100%\r\n::error::x%0A' && annotated error && [ "${all[1]}" = "::error title=$escaped::retry: cannot run '100%25%0D%0A::error::x%250A': No such file or directory" ] && [[ ${all[-1]} == 'retry: this needs a shell: '* ]]
		# The title is the label, or the last part of the program's name, and no argument.
		workflow 7 -n 1 --label 'a: 1, 2' -- sh -c 'exit 7' && annotated error 'a%3A 1%2C 2' "retry: a: 1, 2: attempt 1/1 failed (exit 7), $exhausted"
		workflow 7 -n 1 -- /bin/sh -c 'exit 7' --token=SECRET && annotated error sh "retry: attempt 1/1 failed (exit 7), $exhausted" && not has SECRET err
		workflow 127 -n 1 -- "./$long" && annotated error && [[ ${all[1]} == "::error title=${long:0:150}::retry: "* ]]
		# It begins its line, even where nobody knows if the command has ended its own.
		workflow 7 -n 1 -- sh -c 'printf theirs >&2; exit 7' && holds err theirs "::error title=sh::retry: attempt 1/1 failed (exit 7), $exhausted"
		workflow 7 -n 1 -E -- sh -c 'printf theirs >&2; exit 7' && holds err theirs "::error title=sh::retry: attempt 1/1 failed (exit 7), $exhausted"
		# No argument begins a line, where it could be a workflow command, nor is one within.
		workflow 127 --label '##[group]a' -- '##[add-mask]b' && annotated error '##[group]a' "retry: ##[group]a: cannot run '##[add-mask]b': No such file or directory"
		workflow 7 -n 2 --label '##[group]a' -- sh -c 'exit 7' && has_line 'retry: \x23#[group]a: attempt 1/2 failed (exit 7), retrying in 0s' err
		try status=7 says='##?group?a: attempt 1/1 *' -n 1 --label '##[group]a' -- sh -c 'exit 7'
		workflow 127 -- $'x\n::add-mask::y\n' && not has $'\n::add-mask' err
		try status=127 -- $'x\n::add-mask::y\n' && not has $'\n::add-mask' err
	END
	exits 125 "$RETRY" -O --log-format github echo hello 2>err >/dev/full
	annotated error
	exits 125 "$RETRY" -n 2 -d 0 -O --log-format github \
	    sh -c 'echo x; [ "$RETRY_ATTEMPT" = 2 ]' 2>err >/dev/full
	grep -q '^::error title=sh::retry: cannot write to standard output: ' err
	# Where a signal ends the wait, too.
	: >err
	start "$RETRY" --log-format github -d 60 -j none false
	wait_for has 'retrying in' err
	ended_by TERM
	annotated error && [[ ${all[-1]} == *': interrupted'* ]]
}

