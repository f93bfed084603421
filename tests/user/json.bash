# shellcheck shell=bash
# For bats files that look into JSON of retry's: `load json`, after helper. This
# reads the text as retry writes it; each of these files has one test in which
# another reader of JSON takes it.
#
#     json KIND [@FILE|CHECK]...
#                       each CHECK holds for the FILE before it, which is a
#                       report, a trace (its last line) or a log
#
# A check is NAME=VALUE, a string without its quotes, "no NAME" where there is
# none; or NAME>=NUMBER, or NAME<NUMBER. The value of each.NAME is those of all
# attempts, or of all lines of a log, with a comma between; each of them has to be
# so great, or so small. A check that is a NAME alone prints the value.

json() {
	awk '
		# Parts are the attempts, or the lines of a log.
		function read(name, all, i) {
			file = name
			text = command = head = ""
			count = 0
			getline text <file
			close(file)
			if (kind == "log") {
				count = split(text, parts, "\n") - 1
			} else if (kind == "trace") {
				i = split(text, all, "\n")
				text = all[i - 1]
				count = split(text, all, /{"traceId"/) - 2
				for (i = 0; i <= count; i++)
					parts[i] = "{\"traceId\"" all[i + 2]
				head = parts[0]
			} else {
				read_report()
			}
		}
		function read_report(at) {
			at = index(text, "], \"label\": ")
			command = substr(text, 1, at)
			sub(/.*, "command": /, "", command)
			head = substr(text, at)
			at = index(head, ", \"attempts\": [")
			count = split(substr(head, at + 15), parts, /}, [{]/)
			if (substr(head, at + 15) == "]}\n")
				count = 0
			head = substr(head, 1, at)
			at = index(text, ", \"command\": ")
			head = substr(text, 1, at + 2) head
			if (text !~ /^{"version": / || text !~ /]}\n$/ ||
			    index(text, "\n") != length(text) ||
			    value(head, "attempt_count") - count !~ \
			    "^" value(head, "attempts_omitted") "$" ||
			    value(head, "slept_ms") !~ /^[0-9]+$/ ||
			    value(head, "elapsed_ms") - value(head, "slept_ms") < 0)
				fail("no report")
		}
		function value(part, name, at) {
			at = index(part, "{\"key\":\"" name "\"")
			if (at > 0) {
				part = substr(part, at + length(name) + 19)
				sub(/^"[a-zA-Z]*":/, "", part)
			} else if ((at = index(part, "\"" name "\":")) > 0) {
				part = substr(part, at + length(name) + 3)
				sub(/^ /, "", part)
			} else {
				return "no " name
			}
			if (match(part, /^"([^"\\]|\\.)*"/))
				return substr(part, 2, RLENGTH - 2)
			match(part, /^(\[[^]]*]|[^],}]*)/)
			return substr(part, 1, RLENGTH)
		}
		function values(name, all, i) {
			if (name == "command" && command != "")
				return command
			if (name !~ /^each\./)
				return value(head, name)
			for (i = 1; i <= count; i++)
				all = all (i == 1 ? "" : ",") \
				    value(parts[i], substr(name, 6))
			return all
		}
		function holds(got, sign, want, i, each) {
			if (sign == "=")
				return got "" == want ""
			for (i = split(got, each, ","); i > 0; i--)
				if ((each[i] + 0 < want + 0) != (sign == "<"))
					return 0
			return 1
		}
		function fail(why) {
			print file ": " why
			wrong = 1
		}
		BEGIN {
			RS = "\001"
			kind = ARGV[1]
			for (arg = 2; arg < ARGC; arg++) {
				check = ARGV[arg]
				if (check ~ /^@/) {
					read(substr(check, 2))
					continue
				}
				match(check, />=|=|<|$/)
				name = substr(check, 1, RSTART - 1)
				sign = substr(check, RSTART, RLENGTH)
				want = substr(check, RSTART + RLENGTH)
				got = values(name)
				if (sign == "")
					print got
				else if (!holds(got, sign, want))
					fail("not " check ", but " got)
			}
			if (wrong)
				print substr(text, 1, 4000)
			exit wrong
		}' "$@"
}
