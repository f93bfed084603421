#!/usr/bin/env bats
# Covers output/log, output/nonblock, report/messages, report/advice.
# --log-format: messages for people, for programs and for GitHub workflows.
# shellcheck disable=SC2016 # the commands' shells expand
# shellcheck disable=SC2154 # run and start set what is read here

load helper

# json CODE: each line of ./e is an object and nothing else; of these objects,
# the array x, Python's CODE holds.
json()
{
	"$PYTHON" -IS -c '
import json, re, sys
def pairs(of):
    assert len(dict(of)) == len(of), "a name twice"
    return dict(of)
text = open("e", "rb").read()
assert text == b"" or text.endswith(b"\n")
x = [json.loads(line.decode(), object_pairs_hook=pairs)
     for line in text.split(b"\n")[:-1]]
for o in x:
    assert list(o)[:3] == ["time", "level", "message"], o
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", o["time"])
    assert o["level"] in ("info", "warning", "error")
assert eval("(" + sys.argv[1] + ")"), x' "$1"
}

# warned TITLE TEXT: the last line of ./e, and no other, is a workflow command: a
# warning with this title and text
warned()
{
	[ "$(grep -c '^::' e)" -eq 1 ]
	[ "$(tail -n 1 e)" = "::warning title=$1::$2" ] || {
		tail -n 1 e
		return 1
	}
}

#
# Text
#

@test "text is the default" {
	finishes 7 -n 2 -- sh -c 'exit 7'
	mv e asked
	finishes 7 -n 2 --log-format text -- sh -c 'exit 7'
	diff asked e
	[ "$(<e)" = 'retry: attempt 1/2 failed (exit 7), retrying in 0s
retry: attempt 2/2 failed (exit 7), giving up: attempts exhausted' ]
}

@test "the last format counts, and an unknown one is refused" {
	finishes 7 -q -n 1 --log-format json --log-format text -- sh -c 'exit 7'
	for format in '' JSON jso xml 'json '; do
		run -125 "$RETRY" --log-format "$format" touch ran
		[ ! -e ran ]
		[[ ${lines[0]} == 'retry: --log-format: '* ]]
	done
}

@test "a label stands before each message, of whatever kind it is" {
	finishes 7 -n 2 --label 'mirror: a' -- sh -c 'exit 7'
	holds e 'retry: mirror: a: attempt 1/2 failed (exit 7), retrying in 0s' \
	    'retry: mirror: a: attempt 2/2 failed (exit 7), giving up: attempts exhausted'
	finishes 0 -v --label ü -- true
	run ! grep -v '^retry: ü: ' e
	[ "$(lines e)" -eq 2 ]
	finishes 127 -q --label a -- nosuch
	holds e "retry: a: cannot run 'nosuch': No such file or directory"
	finishes 0 --label a -B api --budget-dir nosuch -- true
	run ! grep -v '^retry: a: ' e
	finishes 125 --label a -I --stdin-max 1 -- true < <(echo hello)
	run ! grep -v '^retry: a: ' e
}

@test "an empty label is none, and the last one counts" {
	finishes 7 -n 1 --label a --label '' -- sh -c 'exit 7'
	holds e 'retry: attempt 1/1 failed (exit 7), giving up: attempts exhausted'
	echo 'label=of the file' >policy
	finishes 7 -n 1 --policy ./policy -- sh -c 'exit 7'
	grep -q '^retry: of the file: attempt' e
	finishes 7 -n 1 --policy ./policy --label mine -- sh -c 'exit 7'
	grep -q '^retry: mine: attempt' e
}

@test "a label that cannot be shown in a line as it is is refused" {
	local label
	for label in $'a\nb' $'\e[m' $'\xff' $'\xc2\x9b' "$(printf %256s x)"; do
		run -125 "$RETRY" --label "$label" touch ran
		[ ! -e ran ]
		[[ ${lines[0]} == 'retry: --label: '* ]]
	done
	finishes 0 --label "$(printf %255s x)" -- true
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
	holds text "retry: $label: attempt 1/1 failed (exit 7), giving up: attempts exhausted"
	mv json e
	json 'x[0]["label"] == 255 * "\"" and x[0]["reason"] == "attempts" and
	    x[0]["command"][:3] == ["sh", "-c", "exit 7"]'
	holds github "::warning title=${label:0:150}::retry: $label: attempt 1/1 failed (exit 7), giving up: attempts exhausted"
}

#
# JSON
#

@test "each line is a JSON object with time, level and message" {
	finishes 7 -n 3 --log-format json -- sh -c 'exit 7'
	json '[o["message"] for o in x] == [
	    "attempt 1/3 failed (exit 7), retrying in 0s",
	    "attempt 2/3 failed (exit 7), retrying in 0s",
	    "attempt 3/3 failed (exit 7), giving up: attempts exhausted"]'
	json '[o["level"] for o in x] == ["warning", "warning", "error"]'
	json '[(o["attempt"], o["status"]) for o in x] == [(1, 7), (2, 7), (3, 7)]'
	json 'x[0]["delay_ms"] == 0 and x[2]["reason"] == "attempts"'
}

@test "jq reads the lines" {
	command -v jq >/dev/null || skip 'no jq here'
	finishes 7 -v -n 2 --log-format json -- sh -c 'exit 7'
	[ "$(jq -r .level e | tr '\n' ' ')" = 'warning error info ' ]
	[ "$(jq -s length e)" -eq 3 ]
}

@test "the time of a line is the current one, in UTC" {
	local before after
	before=$(date -u +%FT%T)
	TZ=Asia/Tokyo finishes 7 -n 1 --log-format json -- sh -c 'exit 7'
	after=$(date -u +%FT%T.999Z)
	BEFORE=$before AFTER=$after json '__import__("os").environ["BEFORE"] <=
	    x[0]["time"] <= __import__("os").environ["AFTER"]'
}

@test "lines that -v adds have the level info, lines that -q leaves error" {
	finishes 0 -v --log-format json -- true
	json 'len(x) == 2 and {o["level"] for o in x} == {"info"}'
	finishes 7 -q -n 2 --log-format json -- sh -c 'exit 7'
	[ ! -s e ]
	finishes 127 -q --log-format json -- nosuch
	json 'len(x) == 1 and x[0]["level"] == "error" and
	    x[0]["message"] == "cannot run '"'nosuch'"': No such file or directory"'
	"$RETRY" -q -O --log-format json echo lost >/dev/full 2>e || :
	json 'len(x) == 1 and x[0]["level"] == "error" and
	    x[0]["message"].endswith("No space left on device")'
}

@test "each line says which invocation it is of" {
	finishes 7 -v -n 2 --label nightly --log-format json -- \
	    sh -c 'echo $RETRY_ID $PPID >ran; exit 7' 'two words'
	ID=$(cut -d' ' -f1 ran) PID=$(cut -d' ' -f2 ran) json 'len(x) == 3 and
	    all(list(o)[3:7] == ["id", "pid", "command", "label"] and
	        (o["id"], str(o["pid"])) == tuple(map(
	            __import__("os").environ.get, ("ID", "PID"))) and
	        o["command"] == ["sh", "-c",
	            "echo $RETRY_ID $PPID >ran; exit 7", "two words"] and
	        o["label"] == "nightly" for o in x)'
	finishes 127 --log-format json -- nosuch
	json 'x[0]["command"] == ["nosuch"] and x[0]["label"] is None'
}

@test "of a long command a line has the first words, and of a long word the beginning" {
	finishes 7 -n 1 --log-format json -- sh -c 'exit 7' $(seq 1000)
	json 'x[0]["command"][:4] == ["sh", "-c", "exit 7", "1"] and
	    x[0]["command"][-1] == "..." and len(x[0]["command"]) < 1000 and
	    x[0]["reason"] == "attempts"'
	finishes 7 -n 1 --log-format json -- sh -c 'exit 7' "$(printf 'a\n%.0s' {1..200})" last
	json 'x[0]["command"][3].startswith("a\na\n") and
	    x[0]["command"][3].endswith("...") and x[0]["command"][4] == "last"'
}

@test "a success at once has no line" {
	finishes 0 --log-format json -- true
	[ ! -s e ]
}

@test "a warning is a line like any other" {
	finishes 0 --log-format json -B api --budget-dir nosuch -- true
	json 'len(x) == 1 and x[0]["level"] == "warning" and
	    "budget" in x[0]["message"]'
}

@test "bytes of any kind make a JSON string" {
	local word
	for word in 'quo"te' 'back\slash' $'new\nline' $'tab\t\e[31m\177' ü \
	    $'\xff\xfe' $'\xc3' $'\xed\xa0\x80' $'\xc0\xaf' $'\xf4\x90\x80\x80' \
	    $'\xe2\x80\xa8' $'\xc2\x9b' '%s' "'"; do
		finishes 127 --log-format json -- "$word"
		cat e >>all
	done
	mv all e
	json 'sum(o["message"].startswith("cannot run ") for o in x) == 14'
	finishes 127 --log-format json -- $'a"\\\n\xff\xc3\xbc\xe2\x82\xac'
	json 'x[0]["message"] == "cannot run '"'"'a\"\\\n\\xff\u00fc\u20ac'"'"': " +
	    "No such file or directory"'
}

@test "even with the longest arguments a line is one object and one write" {
	"$PYTHON" -IS - "$RETRY" <<-'END'
		import json, socket, subprocess, sys
		def says(*words):
		    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
		    subprocess.run([sys.argv[1], '--log-format', 'json', '-d', '0',
		                    '-n', '2', *words], stderr=theirs)
		    ours.setblocking(False)
		    said = []
		    while True:
		        try:
		            said.append(ours.recv(65536))
		        except BlockingIOError:
		            return said
		for unit in b'x', b'\n', b'\xff', b'"', 'ü'.encode(), '€'.encode():
		    for count in 10, 180, 500, 999, 1000, 1001, 4000, 90000:
		        said = says(unit * (count // len(unit)))
		        assert said, count
		        for line in said:
		            assert len(line) <= 4096, len(line)
		            assert line.endswith(b'}\n') and line.count(b'\n') == 1
		            assert json.loads(line.decode())['level'] == 'error'
		assert len(says('sh', '-c', 'exit 7')) == 2
	END
}

@test "an argument cannot become a field of the object" {
	finishes 127 --log-format json -- 'x","level":"info","message":"fine'
	json 'x[0]["level"] == "error" and "\"level\":" in x[0]["message"]'
}

@test "with -E the last line is JSON, too" {
	finishes 7 -n 3 -E --log-format json -- sh -c 'exit 7'
	json 'len(x) == 1 and x[0]["attempt"] == 3'
	finishes 0 -E --log-format json -- sh -c '[ "$RETRY_ATTEMPT" -eq 2 ]'
	[ ! -s e ]
}

#
# GitHub
#

@test "a workflow gets one warning, at the end, and text before it" {
	finishes 7 -n 4 --log-format github -- sh -c 'echo theirs >&2; exit 7'
	warned 'sh -c echo theirs >&2; exit 7' \
	    'retry: attempt 4/4 failed (exit 7), giving up: attempts exhausted'
	[ "$(grep -c '^retry: attempt ./4 failed (exit 7), retrying in 0s$' e)" -eq 3 ]
	[ "$(lines e)" -eq 8 ]
}

@test "a workflow gets one warning however it ended" {
	finishes 7 --log-format github --stop-on 7 -- sh -c 'exit 7'
	warned 'sh -c exit 7' \
	    'retry: attempt 1/5 failed (exit 7), giving up: --stop-on 7'
	finishes 124 --log-format github -T 0.1 -k 0 -- sleep 20
	[ "$(grep -c '^::warning title=.*::retry: ' e)" -eq 1 ]
	finishes 7 --log-format github -B api --budget-dir "$PWD" --budget-min 0 \
	    -- sh -c 'exit 7'
	[ "$(grep -c '^::' e)" -eq 1 ]
	[[ $(tail -n 1 e) == "::warning title=sh -c exit 7::retry: budget 'api': exhausted, "* ]]
}

@test "a workflow gets a warning about a success after retries" {
	finishes 0 --log-format github -- sh -c '[ "$RETRY_ATTEMPT" -eq 3 ]'
	warned 'sh -c [ "$RETRY_ATTEMPT" -eq 3 ]' \
	    'retry: attempt 3/5 succeeded (exit 0)'
	finishes 0 --log-format github -- true
	[ ! -s e ]
	finishes 0 --log-format github -d 0 --consecutive 2 -- true
	[ ! -s e ]
}

@test "a workflow gets its warning where retry itself fails, too" {
	echo hello >input
	finishes 125 --log-format github -I --stdin-max 1 -- true < <(cat input)
	[ "$(grep -c '^::warning title=.*::retry: ' e)" -eq 1 ]
	finishes 69 --log-format github -B api --budget-required \
	    --budget-dir "$PWD/none" -- true
	[ "$(grep -c '^::warning title=.*::retry: ' e)" -eq 1 ]
	run -125 sh -c '"$@" >/dev/full 2>e' sh "$RETRY" -O \
	    --log-format github echo hello
	[ "$(grep -c '^::warning title=.*::retry: ' e)" -eq 1 ]
}

@test "a workflow gets its warning where a signal ends the wait" {
	start "$RETRY" --log-format github -d 60 -j none false
	wait_for grep -q 'retrying in' err
	kill -TERM "$pid"
	ended
	[ "$status" -eq 143 ]
	[ "$(grep -c '^::warning title=.*::retry: .*: interrupted' err)" -eq 1 ]
}

@test "a workflow is not warned of a success at once" {
	finishes 0 -v --log-format github -- true
	run ! grep '^::' e
	grep -q '^retry: attempt 1/5 succeeded' e
}

@test "percent signs and newlines are escaped as a workflow wants it" {
	finishes 127 --log-format github -- $'100%\r\n::error::x%0A'
	[ "$(head -n 1 e)" = \
	    "::warning title=100%25%0D%0A%3A%3Aerror%3A%3Ax%250A::retry: cannot run '100%25%0D%0A::error::x%250A': No such file or directory" ]
	[ "$(grep -c '^::' e)" -eq 1 ]
	[[ $(tail -n 1 e) == 'retry: this needs a shell: '* ]]
	finishes 127 --log-format github -- 100%
	warned 100%25 "retry: cannot run '100%25': No such file or directory"
}

@test "the title of the warning is the label, or the first bytes of the command" {
	finishes 7 -n 1 --log-format github --label 'a: 1, 2' -- sh -c 'exit 7'
	warned 'a%3A 1%2C 2' \
	    'retry: a: 1, 2: attempt 1/1 failed (exit 7), giving up: attempts exhausted'
	finishes 7 -n 1 --log-format github -- sh -c 'exit 7' "$(printf %999s x)"
	[[ $(<e) == '::warning title=sh -c exit 7  '* ]]
	[[ $(<e) == *' ::retry: attempt 1/1 failed'* ]]
	[ "$(wc -c <e)" -lt 300 ]
}

@test "no argument begins a line, where it could be a workflow command" {
	for format in text github json; do
		finishes 127 --log-format "$format" -- $'x\n::add-mask::y\n'
		run ! grep -q '^::add-mask' e
	done
}

@test "no text within a line is a workflow command of the old form" {
	finishes 127 --log-format github --label '##[group]a' -- '##[add-mask]b'
	warned '##[group]a' "retry: ##[group]a: cannot run '##[add-mask]b': No such file or directory"
	finishes 7 -n 2 --log-format github --label '##[group]a' -- sh -c 'exit 7'
	[ "$(head -n 1 e)" = 'retry: \x23#[group]a: attempt 1/2 failed (exit 7), retrying in 0s' ]
	finishes 7 -n 2 --label '##[group]a' -- sh -c 'exit 7'
	[[ $(head -n 1 e) == 'retry: ##[group]a: attempt 1/2 '* ]]
}

@test "with -q a workflow gets only failures of retry itself" {
	finishes 7 -q -n 2 --log-format github -- sh -c 'exit 7'
	[ ! -s e ]
	finishes 127 -q --log-format github -- nosuch
	warned nosuch "retry: cannot run 'nosuch': No such file or directory"
}

@test "with -E a workflow still gets its one warning" {
	finishes 7 -n 3 -E --log-format github -- sh -c 'echo theirs >&2; exit 7'
	[ "$(<e)" = 'theirs
::warning title=sh -c echo theirs >&2; exit 7::retry: attempt 3/3 failed (exit 7), giving up: attempts exhausted' ]
}
