# Makes the table of src/tools/preset.c from the text of src/tools/presets, which
# tells what that has to look like. Texts are in two blocks, and rows have numbers
# of bytes in place of pointers: a program that is loaded anywhere would have to
# write each pointer at its start.

function fail(what) {
	printf "%s:%d: %s\n", FILENAME, FNR, what >"/dev/stderr"
	failed = 1
	exit 1
}

# The text with {NAME} replaced by the phrase of that name.
function expanded(text, name, all) {
	while (match(text, /[{][A-Z][A-Z0-9_]*[}]/)) {
		name = substr(text, RSTART + 1, RLENGTH - 2)
		if (!(name in phrase))
			fail("no such phrase: " name)
		all = all substr(text, 1, RSTART - 1) phrase[name]
		text = substr(text, RSTART + RLENGTH)
	}
	return all text
}

# The text as C has it between quotes.
function quoted(text, all, at, c) {
	while (match(text, /[\\"?]/)) {
		c = substr(text, RSTART, 1)
		all = all substr(text, 1, RSTART - 1) "\\" c
		text = substr(text, RSTART + 1)
	}
	return all text
}

# Where the text stands in the block of texts; the same text stands there once.
function place(text) {
	if (!(text in placed)) {
		placed[text] = room
		room += length(text) + 1
		block = block "\t\"" quoted(text) "\\0\"\n"
	}
	return placed[text]
}

# Adds an alternative to what is at name.
function add(name, alternative) {
	if (name in value)
		alternative = value[name] "|" alternative
	value[name] = alternative
}

# Keeps the lines that were read under a heading.
function close_heading(word, i, text) {
	if (heading == "")
		return
	if (!lines)
		fail("nothing under " heading)
	for (i = 1; i <= lines; i++) {
		if (row == "") {
			text = i == 1 ? line[i] : text "|" line[i]
			phrase[heading] = text
			continue
		}
		split(heading, word, " ")
		if (word[1] != "stdout")
			add("err_" word[2], line[i])
		if (word[1] != "stderr")
			add("out_" word[2], line[i])
	}
	heading = ""
}

function close_row(i, field, all) {
	close_heading()
	if (row == "")
		return
	if (!("codes" in value))
		value["codes"] = "timeout,124"
	if (!("programs" in value))
		value["programs"] = row
	if (!("knows" in value) || !("source" in value))
		fail("[" row "] has no knows or no source")
	names = names "\t\"" row "\\0" value["programs"] "\\0" value["packages"] "\\0\"\n"
	for (i = 1; i <= fields; i++) {
		field = order[i]
		if (field in value)
			all = all " ." field " = " place(value[field]) ","
	}
	rows = rows "\t{" all " },\n"
	for (field in value)
		delete value[field]
	row = ""
}

BEGIN {
	fields = split("knows codes own elsewhere screen because source err_failed " \
		"err_fatal err_transient out_failed out_fatal out_transient err_wait err_limit out_wait",
		order, " ")
	room = 1
}

/[ \t]$/ { fail("a blank at the end") }
/[^\t -~]/ { fail("a byte outside of ASCII") }
/^#/ || /^$/ { next }

/^\t\t/ {
	if (heading == "" || !lines)
		fail("nothing to go on with")
	line[lines] = line[lines] expanded(substr($0, 3))
	next
}

/^\t/ {
	if (heading == "")
		fail("no heading above")
	line[++lines] = expanded(substr($0, 2))
	next
}

/^\[[a-z0-9_-]+\]$/ {
	close_row()
	row = substr($0, 2, length($0) - 2)
	if (row in seen)
		fail("twice: " row)
	seen[row] = 1
	next
}

/^[A-Z][A-Z0-9_]*:$/ {
	close_heading()
	heading = substr($0, 1, length($0) - 1)
	lines = 0
	if (row != "" || (heading in phrase))
		fail("a phrase within a preset, or twice")
	next
}

/^(stderr|stdout|both) (failed|fatal|transient|wait):$/ || /^stderr limit:$/ {
	close_heading()
	heading = substr($0, 1, length($0) - 1)
	lines = 0
	if (row == "")
		fail("no preset above")
	next
}

/^(knows|programs|packages|codes|own|elsewhere|screen|because|source) =/ {
	close_heading()
	match($0, /^[a-z]+/)
	key = substr($0, 1, RLENGTH)
	if (row == "" || (key in value))
		fail("no preset above, or twice: " key)
	value[key] = substr($0, RLENGTH + 4)
	next
}

{ fail("not understood") }

END {
	if (failed)
		exit 1
	close_row()
	print "/* Made from src/tools/presets by src/tools/presets.awk. */"
	printf "%s", "static const char names[] =\n" names "\t\"\";\n"
	printf "%s", "static const char texts[] =\n\t\"\\0\"\n" block ";\n"
	printf "%s", "static const struct row rows[] = {\n" rows "};\n"
}
