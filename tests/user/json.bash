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
# so great, or so small. A check that is a NAME alone adds its value to the array
# $got, which is empty at first.

json() {
	local kind=$1 count=0 check value lines
	local -A field=() # of part 0, and of the parts: attempts, or the lines of a log
	got=()
	for check in "${@:2}"; do
		if [[ $check == @* ]]; then
			json_read "${check#@}" && continue
			echo "no $kind: $check" >&2
			return 1
		fi
		[[ $check =~ ^([^'<>=']*)('>='|=|'<'|$)(.*)$ ]]
		json_value "${BASH_REMATCH[1]}"
		case ${BASH_REMATCH[2]} in
		'') got+=("$value") ;;
		=) [ "$value" = "${BASH_REMATCH[3]}" ] ;;
		*) json_compares "${BASH_REMATCH[@]:2}" ;;
		esac || {
			echo "not $check, but $value"
			printf '%.4000s\n' "${lines[*]}"
			return 1
		} >&2
	done
}

# Sets $value to that of this name.
json_value() {
	local part
	if [[ $1 != each.* ]]; then
		value=${field[0 $1]-no $1}
		return
	fi
	value=
	for ((part = 1; part <= count; part++)); do
		value+=,${field[$part ${1#each.}]-no ${1#each.}}
	done
	value=${value#,}
}

json_compares() {
	local each
	while read -rd , each; do
		[[ $each =~ ^[0-9]+$ ]] || each=0
		if [ "$1" = '<' ]; then ((each < $2)); else ((each >= $2)); fi || return
	done <<<"$value,"
}

# Reads the FILE to $field and $count. Quotes divide it into strings and the rest.
json_read() {
	local tokens at=0 string rest part=0 name='' key='' array=''
	field=() count=0
	lines=()
	{ mapfile -t lines <"$1"; } 2>/dev/null
	case $kind in
	report) [[ ${#lines[@]} == 1 && ${lines[0]} == '{"version": '*']}' ]] || return ;;
	trace) lines=("${lines[@]: -1}") count=-1 part=-1 ;;
	esac
	mapfile -td '"' tokens <<<"${lines[*]}"
	while ((at + 2 < ${#tokens[@]})); do
		string=${tokens[at + 1]} rest=${tokens[at += 2]}
		while [[ $string == *\\ && $string =~ (^|[^\\])(\\\\)*\\$ ]]; do
			string+=\"$rest
			rest=${tokens[++at]}
		done
		if [ -n "$array" ]; then # the words of a command
			array+=\"$string\"${rest%%]*}
			[ "${rest:0:1}" = ']' ] || continue
			string=$array] array=
		elif [ -z "$name" ]; then
			case $kind.$string in
			report.attempt | trace.traceId | log.time) part=$((++count)) ;;
			esac
			name=$string
			case $rest in
			: | ': ') continue ;;
			:'{'* | :'['* | ': {'* | ': ['*)
				if [ "$name" = command ]; then array=[; else name=; fi
				continue
				;;
			esac
			[[ $rest =~ ^:\ ?([^]},]*) ]]
			string=${BASH_REMATCH[1]}
		fi
		case $name in
		key) key=$string ;;
		*Value) field[$part $key]=$string ;;
		*) field[$part $name]=${field[$part $name]-$string} ;;
		esac
		name=
	done
	case $kind in
	report)
		set -- "${field[0 slept_ms]}" "${field[0 elapsed_ms]}" "${field[0 attempts_omitted]}"
		[[ $1 =~ ^[0-9]+$ ]] && (($2 >= $1 && count + $3 == ${field[0 attempt_count]:-0}))
		;;
	log) ((count == ${#lines[@]})) ;;
	esac
}
