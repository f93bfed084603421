#include "preset/preset.h"

#include <string.h>
#include "preset/tools.h"

/* The labels of a row, and where each text goes. */
static const struct {
	char label[16];
	size_t place;
} fields[] = {
	{ NAME, offsetof(struct preset, name) },
	{ KNOWS, offsetof(struct preset, knows) },
	{ PROGRAMS, offsetof(struct preset, programs) },
	{ CODES, offsetof(struct preset, codes) },
	{ OWN, offsetof(struct preset, own) },
	{ ERR_FATAL, offsetof(struct preset, err.fatal) },
	{ ERR_TRANSIENT, offsetof(struct preset, err.transient) },
	{ ERR_FAILED, offsetof(struct preset, err.failed) },
	{ OUT_FATAL, offsetof(struct preset, out.fatal) },
	{ OUT_TRANSIENT, offsetof(struct preset, out.transient) },
	{ OUT_FAILED, offsetof(struct preset, out.failed) },
	{ WAIT, offsetof(struct preset, wait) },
	{ SOURCE, offsetof(struct preset, source) },
};

/* Reads the row at *at, and moves *at to the next one. False at the end. */
static bool
read_row(const char **at, struct preset *preset)
{
	*preset = (struct preset){ 0 };
	while ((*at)[1] != '\0') {
		const char *label = *at + 1, *text = strchr(label, '=') + 1;

		for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
			if (strncmp(fields[i].label + 1, label,
				(size_t)(text - label)) != 0)
				continue;
			if (i == 0 && preset->name != NULL)
				return true;
			memcpy((char *)preset + fields[i].place, &text,
			    sizeof text);
			break;
		}
		*at = text + strlen(text);
	}
	return preset->name != NULL;
}

bool
preset_at(size_t index, struct preset *preset)
{
	const char *at = tools;

	do {
		if (!read_row(&at, preset))
			return false;
	} while (index-- > 0);
	return true;
}

/* Finds the row of a program, which may have a version behind its name. */
static bool
find_program(
    const char *name, size_t length, bool version, struct preset *preset)
{
	const char *at = tools;

	while (read_row(&at, preset)) {
		const char *word = preset->programs;

		while (word != NULL && *word != '\0') {
			size_t end = strcspn(word, " ");

			if (end <= length && strncmp(name, word, end) == 0 &&
			    (end == length ||
				(version &&
				    strspn(name + end, "0123456789.") >=
					length - end)))
				return true;
			word += end + strspn(word + end, " ");
		}
	}
	return false;
}

static bool
of_program(const char *name, size_t length, struct preset *preset)
{
	return find_program(name, length, false, preset) ||
	    find_program(name, length, true, preset);
}

bool
preset_find(const char *name, size_t length, struct preset *preset)
{
	const char *at = tools;

	while (read_row(&at, preset)) {
		if (strlen(preset->name) == length &&
		    strncmp(preset->name, name, length) == 0)
			return true;
	}
	return of_program(name, length, preset);
}

bool
preset_for_program(const char *path, struct preset *preset)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash == NULL ? path : slash + 1;

	return of_program(name, strlen(name), preset);
}
