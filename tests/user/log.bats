#!/usr/bin/env bats
# Covers output/log, output/nonblock, report/messages, report/advice.
# --log-format: messages for people, for programs and for GitHub workflows.
# shellcheck disable=SC2016 # the commands' shells expand
# shellcheck disable=SC2154 # run and start set what is read here

load helper

# json [FILE CODE]...: each line of a FILE is an object as it has to be, and of
# these objects, the array x, Python's CODE holds.
json()
{
	"$PYTHON" -IS - "$@" <<-'END'
		import json, re, sys
		def pairs(of):
		    assert len(dict(of)) == len(of), "a name twice"
		    return dict(of)
		for file, code in zip(sys.argv[1::2], sys.argv[2::2]):
		    text = open(file, "rb").read()
		    assert text.endswith(b"\n")
		    x = [json.loads(line.decode(), object_pairs_hook=pairs)
		         for line in text.split(b"\n")[:-1]]
		    for o in x:
		        assert list(o)[:3] == ["time", "level", "message"], o
		        assert re.fullmatch(r"\d{4}(-\d\d){2}T(\d\d:){2}\d\d\.\d{3}Z", o["time"])
		        assert o["level"] in ("info", "warning", "error")
		    assert eval("(" + code + ")"), (code, x)
	END
}

# one_warning: ./e has one workflow command, a warning about retry
one_warning()
{
	[ "$(grep -c '^::warning title=.*::retry: ' e) $(grep -c '^::' e)" = '1 1' ] || {
		cat e
		return 1
	}
}

# warned TITLE TEXT: the last line of ./e, and no other, is a workflow command: a
# warning with this title and text
warned()
{
	one_warning && [ "$(tail -n 1 e)" = "::warning title=$1::$2" ]
}

exhausted='giving up: attempts exhausted'

#
# Text
#

@test "text is the default, the last format counts, and an unknown one is refused" {
	finishes 7 -n 2 -- sh -c 'exit 7'
	holds e 'retry: attempt 1/2 failed (exit 7), retrying in 0s' \
	    "retry: attempt 2/2 failed (exit 7), $exhausted"
	mv e asked
	finishes 7 -n 2 --log-format json --log-format text -- sh -c 'exit 7'
	diff asked e
	refused "--log-format: not text, json or github: 'xml'" --log-format xml touch ran
}

@test "a label stands before each message, of whatever kind it is" {
	labelled() # labelled LINES LABEL STATUS WORD...: that many lines have it
	{
		finishes "${@:3}" && [ "$(lines e)" = "$1" ] &&
		    [ "$(grep -c "^retry: $2: " e)" = "$1" ]
	}
	echo 'label=of the file' >policy
	table labelled <<-'END'
		2 'mirror: a' 7 -n 2 --label 'mirror: a' -- sh -c 'exit 7'
		2 ü 0 -v --label ü -- true
		1 a 127 -q --label a -- nosuch
		1 a 0 --label a -B api --budget-dir nosuch -- true
		1 a 125 --label a -I --stdin-max 1 -- true < <(echo hello)
		1 'of the file' 7 -n 1 --policy ./policy -- sh -c 'exit 7'
		1 mine 7 -n 1 --policy ./policy --label mine -- sh -c 'exit 7'
		# An empty one is none, and the last one counts.
		1 'attempt 1/1 failed (exit 7), giving up' 7 -n 1 --label a --label '' -- sh -c 'exit 7'
		1 ' *x' 7 -n 1 --label "$(printf %255s x)" -- sh -c 'exit 7'
	END
}

@test "a label that cannot be shown in a line as it is is refused" {
	local label
	for label in $'a\nb' $'\e[m' $'\xff' $'\xc2\x9b' "$(printf %256s x)"; do
		run -125 "$RETRY" --label "$label" touch ran
		[ ! -e ran ]
		[[ ${lines[0]} == 'retry: --label: '* ]]
	done
}

@test "with the longest label no format lacks anything" {
	local label format words=()
	label=$(printf '"%.0s' {1..255})
	mapfile -t words < <(printf '\xff%.0s\n' {1..300})
	for format in text json github; do
		finishes 7 -n 1 --label "$label" --log-format "$format" -- \
		    sh -c 'exit 7' "${words[@]}"
		mv e "$format"
	done
	json json 'x[0]["label"] == 255 * "\"" and x[0]["reason"] == "attempts" and
	    x[0]["command"][:3] == ["sh", "-c", "exit 7"]'
	holds text "retry: $label: attempt 1/1 failed (exit 7), $exhausted"
	holds github "::warning title=${label:0:150}::retry: $label: attempt 1/1 failed (exit 7), $exhausted"
}

#
# JSON
#

@test "each line is a JSON object with time, level and message" {
	local before
	before=$(date -u +%FT%T)
	TZ=Asia/Tokyo finishes 7 -n 3 --log-format json -- sh -c 'exit 7'
	mv e plain
	finishes 0 --log-format json -B api --budget-dir nosuch -- true
	json plain '[o["message"] for o in x] == [
	    "attempt 1/3 failed (exit 7), retrying in 0s",
	    "attempt 2/3 failed (exit 7), retrying in 0s",
	    "attempt 3/3 failed (exit 7), giving up: attempts exhausted"]' \
	    plain '[(o["level"], o["attempt"], o["status"]) for o in x] ==
	    [("warning", 1, 7), ("warning", 2, 7), ("error", 3, 7)]' \
	    plain 'x[0]["delay_ms"] == 0 and x[2]["reason"] == "attempts"' \
	    plain "'$before' <= x[0]['time'] <= '$(date -u +%FT%T.999Z)'" \
	    e 'len(x) == 1 and x[0]["level"] == "warning" and
	    "budget" in x[0]["message"]'
	finishes 0 --log-format json -- true
	[ ! -s e ]
}

@test "lines that -v adds have the level info, lines that -q leaves error" {
	finishes 0 -v --log-format json -- true
	mv e verbose
	finishes 127 -q --log-format json -- nosuch
	mv e quiet
	"$RETRY" -q -O --log-format json echo lost >/dev/full 2>lost || :
	finishes 7 -n 3 -E --log-format json -- sh -c 'exit 7'
	json verbose '[o["level"] for o in x] == ["info", "info"]' \
	    quiet '[(o["level"], o["message"]) for o in x] == [("error",
	    "cannot run \x27nosuch\x27: No such file or directory")]' \
	    lost 'len(x) == 1 and x[0]["level"] == "error" and
	    x[0]["message"].endswith("No space left on device")' \
	    e '[o["attempt"] for o in x] == [3]'
	finishes 7 -q -n 2 --log-format json -- sh -c 'exit 7'
	[ ! -s e ]
	finishes 0 -E --log-format json -- sh -c '[ "$RETRY_ATTEMPT" -eq 2 ]'
	[ ! -s e ]
}

@test "each line says which invocation it is of, with the beginning of a long command" {
	finishes 7 -v -n 2 --label nightly --log-format json -- \
	    sh -c 'echo $RETRY_ID $PPID >ran; exit 7' 'two words'
	mv e all
	finishes 127 --log-format json -- nosuch
	mv e short
	finishes 7 -n 1 --log-format json -- sh -c 'exit 7' $(seq 1000)
	mv e long
	finishes 7 -n 1 --log-format json -- sh -c 'exit 7' "$(printf 'a\n%.0s' {1..200})" last
	json all 'len(x) == 3 and all(
	    list(o)[3:7] == ["id", "pid", "command", "label"] and
	    [o["id"], str(o["pid"])] == open("ran").read().split() and
	    o["command"] == ["sh", "-c",
	        "echo $RETRY_ID $PPID >ran; exit 7", "two words"] and
	    o["label"] == "nightly" for o in x)' \
	    short 'x[0]["command"] == ["nosuch"] and x[0]["label"] is None' \
	    long 'x[0]["command"][:4] == ["sh", "-c", "exit 7", "1"] and
	    x[0]["command"][-1] == "..." and len(x[0]["command"]) < 1000 and
	    x[0]["reason"] == "attempts"' \
	    e 'x[0]["command"][3].startswith("a\na\n") and
	    x[0]["command"][3].endswith("...") and x[0]["command"][4] == "last"'
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

#
# GitHub
#

@test "a workflow gets one warning, at the end, and text before it" {
	finishes 7 -n 4 --log-format github -- sh -c 'echo theirs >&2; exit 7'
	warned 'sh -c echo theirs >&2; exit 7' \
	    "retry: attempt 4/4 failed (exit 7), $exhausted"
	[ "$(grep -c '^retry: attempt ./4 failed (exit 7), retrying in 0s$' e)" -eq 3 ]
	[ "$(lines e)" -eq 8 ]
}

@test "a workflow gets one warning however it ended, and none of a success at once" {
	finishes 7 --log-format github --stop-on 7 -- sh -c 'exit 7'
	warned 'sh -c exit 7' \
	    'retry: attempt 1/5 failed (exit 7), giving up: --stop-on 7'
	finishes 0 --log-format github -- sh -c '[ "$RETRY_ATTEMPT" -eq 3 ]'
	warned 'sh -c [ "$RETRY_ATTEMPT" -eq 3 ]' \
	    'retry: attempt 3/5 succeeded (exit 0)'
	finishes 7 --log-format github -B api --budget-dir "$PWD" --budget-min 0 \
	    -- sh -c 'exit 7'
	one_warning
	[[ $(tail -n 1 e) == "::warning title=sh -c exit 7::retry: budget 'api': exhausted, "* ]]
	table <<-'END'
		finishes 124 --log-format github -T 0.5 -k 0 -- sleep 20 && one_warning
		finishes 125 --log-format github -I --stdin-max 1 -- true < <(echo hello) && one_warning
		finishes 69 --log-format github -B api --budget-required --budget-dir "$PWD/none" -- true && one_warning
		finishes 0 --log-format github -- true && [ ! -s e ]
		finishes 0 --log-format github --consecutive 2 -- true && [ ! -s e ]
		finishes 0 -v --log-format github -- true && grep -q '^retry: attempt 1/5 succeeded' e && not grep '^::' e
		# With -q only failures of retry itself, with -E all the same.
		finishes 7 -q -n 2 --log-format github -- sh -c 'exit 7' && [ ! -s e ]
		finishes 127 -q --log-format github -- nosuch && warned nosuch "retry: cannot run 'nosuch': No such file or directory"
		finishes 7 -n 3 -E --log-format github -- sh -c 'echo theirs >&2; exit 7' && holds e theirs "::warning title=sh -c echo theirs >&2; exit 7::retry: attempt 3/3 failed (exit 7), $exhausted"
	END
	run -125 sh -c '"$@" >/dev/full 2>e' sh "$RETRY" -O \
	    --log-format github echo hello
	one_warning
}

@test "a workflow gets its warning where a signal ends the wait" {
	start "$RETRY" --log-format github -d 60 -j none false
	wait_for grep -q 'retrying in' err
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	[ "$(grep -c '^::warning title=.*::retry: .*: interrupted' err)" -eq 1 ]
}

@test "percent signs and newlines are escaped as a workflow wants it" {
	finishes 127 --log-format github -- $'100%\r\n::error::x%0A'
	[ "$(head -n 1 e)" = \
	    "::warning title=100%25%0D%0A%3A%3Aerror%3A%3Ax%250A::retry: cannot run '100%25%0D%0A::error::x%250A': No such file or directory" ]
	one_warning
	[[ $(tail -n 1 e) == 'retry: this needs a shell: '* ]]
	finishes 127 --log-format github -- 100%
	warned 100%25 "retry: cannot run '100%25': No such file or directory"
}

@test "the title of the warning is the label, or the first bytes of the command" {
	finishes 7 -n 1 --log-format github --label 'a: 1, 2' -- sh -c 'exit 7'
	warned 'a%3A 1%2C 2' "retry: a: 1, 2: attempt 1/1 failed (exit 7), $exhausted"
	finishes 7 -n 1 --log-format github -- sh -c 'exit 7' "$(printf %999s x)"
	[[ $(<e) == '::warning title=sh -c exit 7  '*' ::retry: attempt 1/1 failed'* ]]
	[ "$(wc -c <e)" -lt 300 ]
}

@test "no argument begins a line, where it could be a workflow command, nor is one within" {
	for format in text github json; do
		finishes 127 --log-format "$format" -- $'x\n::add-mask::y\n'
		run ! grep -q '^::add-mask' e
	done
	finishes 127 --log-format github --label '##[group]a' -- '##[add-mask]b'
	warned '##[group]a' "retry: ##[group]a: cannot run '##[add-mask]b': No such file or directory"
	finishes 7 -n 2 --log-format github --label '##[group]a' -- sh -c 'exit 7'
	[ "$(head -n 1 e)" = 'retry: \x23#[group]a: attempt 1/2 failed (exit 7), retrying in 0s' ]
	finishes 7 -n 2 --label '##[group]a' -- sh -c 'exit 7'
	[[ $(head -n 1 e) == 'retry: ##[group]a: attempt 1/2 '* ]]
}
