#include "unit.h"
#include "script.h"
#include "cli/options.h"

struct script script_of(const char *row) {
	struct script script = { .row = row, .rest = row };

	return script;
}

bool script_next(struct script *script) {
	size_t length;

	script->rest += strspn(script->rest, " ");
	length = strcspn(script->rest, " ");
	if (length > 1 && script->rest[length - 1] == ',')
		length--;
	snprintf(script->word, sizeof script->word, "%.*s", (int)length, script->rest);
	if (length >= sizeof script->word)
		script_refuse(script);
	script->rest += length;
	return length > 0;
}

bool scene_next(struct scene *scene) {
	struct script *script = &scene->script, before = *script, time;

	for (; script_next(script); before = *script)
		if (script_is(script, ","))
			scene->goes_on = false;
		else if (script->word[0] == 'x') {
			if (scene->left == 0)
				scene->left = atoi(script->word + 1);
			if (--scene->left > 0)
				*script = scene->step;
		} else if (!scene->goes_on && strchr("+-0123456789", script->word[0]) != NULL) {
			bool later = script->word[0] == '+';

			time = script_of(script->word + later);
			scene->now = (later ? scene->now : 0) + script_span(&time);
		} else {
			if (!scene->goes_on)
				scene->step = before;
			scene->goes_on = true;
			return true;
		}
	return false;
}

bool script_is(const struct script *script, const char *word) {
	return strcmp(script->word, word) == 0;
}

int64_t script_number(struct script *script) {
	char *end;
	int64_t number;

	script_next(script);
	number = strtoll(script->word, &end, 10);
	if (end == script->word || *end != '\0')
		script_refuse(script);
	return number;
}

nanos script_span(struct script *script) {
	const char *text;
	char unit[3] = "";
	nanos span;
	bool minus;

	script_next(script);
	minus = script->word[0] == '-';
	text = script->word + minus;
	if (strcmp(text, "ever") == 0)
		return NANOS_MAX;
	if ((sscanf(text, "%" SCNd64 "%2s", &span, unit) != 2 || strcmp(unit, "ns") != 0) &&
	    !duration_parse(text, strlen(text), &span))
		script_refuse(script);
	return minus ? -span : span;
}

bool script_read(struct script *script, const struct script_field *fields, size_t count,
    void *object) {
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

int script_name(const struct script *script, const void *names, size_t size, size_t count) {
	for (size_t i = 0; i < count; i++)
		if (script_is(script, (const char *)names + i * size))
			return (int)i;
	script_refuse(script);
}

/* The place of a word among others; -1: none. */
static int64_t place_of(const char *word, const char *words) {
	struct script script = script_of(words);

	for (int64_t i = 0; script_next(&script); i++)
		if (script_is(&script, word))
			return i;
	return -1;
}

bool script_check(const struct script *script, const struct script_fact *facts, size_t count) {
	bool is = script->word[0] != '!', known = false;
	const char *word = script->word + !is;
	size_t length = strcspn(word, "=");
	const char *text = word + length + 1;
	struct script value = script_of(text);

	for (size_t i = 0; i < count; i++) {
		int64_t want = -1;

		if (strlen(facts[i].name) != length || strncmp(facts[i].name, word, length) != 0)
			continue;
		known = true;
		if (word[length] == '\0') {
			EQUAL(script->rest, facts[i].value != 0, is);
			continue;
		}
		if (facts[i].names != NULL)
			want = place_of(text, facts[i].names);
		value.rest = text;
		if (want < 0)
			want = text[strspn(text, "-0123456789")] == '\0' ? script_number(&value)
									 : script_span(&value);
		EQUAL(script->rest, facts[i].value, want);
	}
	return known;
}

_Noreturn void script_refuse(const struct script *script) {
	printf("[%s] cannot be read at \"%s\"\n", script->row, script->word);
	exit(1);
}

/* Adds a value to a command line, whose times are in words of tables. */
static char *put_value(char *to, char *value) {
	const char *comma = "", *part;

	for (; (part = strsep(&value, ",")) != NULL; comma = ",") {
		int64_t ns;
		char unit[3];

		if (sscanf(part, "%" SCNd64 "%2[ns]", &ns, unit) == 2 && strcmp(unit, "ns") == 0)
			to += sprintf(to, "%s%" PRId64 ".%09" PRId64, comma, ns / NANOS_SECOND,
			    ns % NANOS_SECOND);
		else /* numbers saturate */
			to += sprintf(to, "%s%s", comma,
			    strcmp(part, "ever") == 0 ? "9999999999999" : part);
	}
	return to;
}

struct policy script_policy(struct script *script) {
	static const char lists[] = " retry stop fail success ";
	/* The policy has parts of these, and of the file of a tool. */
	static const char names[7][12] = { "transient", "fatal", "unfinished", "own-retry",
		"own-stop", "own-fail", "own-success" };
	static char line[1024], parts[7][64], waits[64];
	static struct known_wait known;
	char *argv[40], *rest = line, name[80];
	struct script before = *script;
	struct conditions_error error;
	struct policy policy;
	struct conditions *const sets[7] = { &policy.rules.transient, &policy.rules.fatal,
		&policy.rules.unfinished, &policy.rules.file.retry_on, &policy.rules.file.stop_on,
		&policy.rules.file.fail_on, &policy.rules.file.success_on };
	int argc = 0, part;

	memset(parts, 0, sizeof parts);
	memset(waits, 0, sizeof waits);
	rest += sprintf(rest, "retry -n 9 -j none -B key");
	for (; script_next(script); before = *script) {
		char *value = strchr(script->word, '=');

		if (value == NULL && !script_is(script, "keep-status"))
			break;
		if (value != NULL)
			*value++ = '\0';
		for (part = 0; part < 7 && !script_is(script, names[part]);) part++;
		if (part < 7 || script_is(script, "known")) {
			strcpy(part < 7 ? parts[part] : waits, value);
			continue;
		}
		snprintf(name, sizeof name, " %s ", script->word);
		rest += sprintf(rest, " --%s%s", script->word, strstr(lists, name) ? "-on" : "");
		if (value != NULL) {
			*rest++ = '=';
			rest = put_value(rest, value);
		}
	}
	*script = before;
	strcpy(rest, " true");
	for (rest = line; (argv[argc] = strsep(&rest, " ")) != NULL;) argc++;
	options_parse(argc, argv, &policy);
	for (part = 0; part < 7; part++)
		if (*parts[part] != '\0')
			conditions_parse(sets[part], &policy.watches, parts[part], &error);
	if (*waits != '\0') {
		known = (struct known_wait){ .preset = "gh" };
		duration_parse(waits, strcspn(waits, ":"), &known.least);
		conditions_parse(&known.failures, &policy.watches, strchr(waits, ':') + 1, &error);
		known.next = policy.known_waits;
		policy.known_waits = &known;
	}
	return policy;
}

struct policy script_policy_of(const char *options) {
	struct script script = script_of(options);
	struct policy policy = script_policy(&script);

	if (script_next(&script))
		script_refuse(&script);
	return policy;
}
