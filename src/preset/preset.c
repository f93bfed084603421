#include "preset/preset.h"

#include <stdbool.h>
#include <string.h>

/* Whether text is the word, or the word and a version. */
static bool
is_program(const char *text, size_t length, const char *word, size_t end)
{
	if (length < end || strncmp(text, word, end) != 0)
		return false;
	for (; end < length; end++)
		if ((text[end] < '0' || text[end] > '9') && text[end] != '.')
			return false;
	return true;
}

/* Whether text is one of programs, which are separated by blanks. */
static bool
among(const char *programs, const char *text, size_t length)
{
	while (*programs != '\0') {
		size_t end = strcspn(programs, " ");

		if (is_program(text, length, programs, end))
			return true;
		programs += end + strspn(programs + end, " ");
	}
	return false;
}

static const struct preset *
of_program(const char *text, size_t length)
{
	for (size_t i = 0; i < preset_count(); i++)
		if (among(preset_at(i)->programs, text, length))
			return preset_at(i);
	return NULL;
}

size_t
preset_count(void)
{
	size_t tools, packages;

	preset_tools(&tools);
	preset_packages(&packages);
	return tools + packages;
}

const struct preset *
preset_at(size_t index)
{
	size_t tools, packages;
	const struct preset *first = preset_tools(&tools);
	const struct preset *second = preset_packages(&packages);

	return index < tools ? &first[index] : &second[index - tools];
}

const struct preset *
preset_find(const char *name, size_t length)
{
	for (size_t i = 0; i < preset_count(); i++) {
		const struct preset *preset = preset_at(i);

		if (strlen(preset->name) == length &&
		    strncmp(preset->name, name, length) == 0)
			return preset;
	}
	return of_program(name, length);
}

const struct preset *
preset_for_program(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash == NULL ? path : slash + 1;

	return of_program(name, strlen(name));
}
