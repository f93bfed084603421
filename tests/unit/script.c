#include "unit.h"
#include "script.h"

struct script
script_of(const char *row)
{
	return (struct script){ .row = row, .rest = row };
}

bool
script_next(struct script *script)
{
	size_t length;

	script->rest += strspn(script->rest, " ");
	length = strcspn(script->rest, " ");
	if (length > 1 && script->rest[length - 1] == ',')
		length--;
	snprintf(script->word, sizeof script->word, "%.*s", (int)length,
	    script->rest);
	if (length >= sizeof script->word)
		script_refuse(script);
	script->rest += length;
	return length > 0;
}

bool
script_is(const struct script *script, const char *word)
{
	return strcmp(script->word, word) == 0;
}

int64_t
script_number(struct script *script)
{
	char *end;
	int64_t number;

	script_next(script);
	number = strtoll(script->word, &end, 10);
	if (end == script->word || *end != '\0')
		script_refuse(script);
	return number;
}

nanos
script_span(struct script *script)
{
	const char *text;
	char unit[3] = "";
	nanos span;
	bool minus;

	script_next(script);
	minus = script->word[0] == '-';
	text = script->word + minus;
	if (strcmp(text, "ever") == 0)
		return NANOS_MAX;
	if ((sscanf(text, "%" SCNd64 "%2s", &span, unit) != 2 ||
		strcmp(unit, "ns") != 0) &&
	    !duration_parse(text, strlen(text), &span))
		script_refuse(script);
	return minus ? -span : span;
}

bool
script_read(struct script *script, const struct script_field *fields,
    size_t count, void *object)
{
	for (size_t i = 0; i < count; i++) {
		char *at = (char *)object + fields[i].offset;

		if (!script_is(script, fields[i].name))
			continue;
		if (fields[i].type == SCRIPT_BOOL)
			*(bool *)at = true;
		else
			*(int64_t *)(void *)at = fields[i].type == SCRIPT_SPAN
			    ? script_span(script)
			    : script_number(script);
		return true;
	}
	return false;
}

int
script_name(
    const struct script *script, const void *names, size_t size, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (script_is(script, (const char *)names + i * size))
			return (int)i;
	script_refuse(script);
}

_Noreturn void
script_refuse(const struct script *script)
{
	printf("[%s] cannot be read at \"%s\"\n", script->row, script->word);
	exit(1);
}
