#include "preset/wrapper.h"

#include <string.h>
#include "text/strview.h"

/* What an option does. Kinds from ARGUMENT on have an argument. */
enum kind {
	PLAIN,
	PERHAPS, /* --name or --name=ARGUMENT; its letter has none */
	OTHER, /* the wrapper cannot be skipped */
	ARGUMENT,
	CHDIR,
	USER,
	GROUP,
	AWAY, /* the command may not be able to open retry's files */
};

struct option {
	char letter; /* '\0': none */
	enum kind kind;
	char name[24]; /* not a pointer, which would need a relocation */
};

struct program {
	char name[8];
	struct option options[32]; /* ends with one without a name */
	bool number; /* -5 is an option */
	bool dash; /* "-" behind the options is an option, too */
	bool assigns; /* NAME=VALUE may follow the options */
	bool mixed; /* NAME=VALUE may be between the options, not behind -- */
	int operands; /* before the command */
};

static const struct program programs[] = {
	{
	    .name = "timeout",
	    .options = { { 'f', PLAIN, "foreground" },
		{ 'k', ARGUMENT, "kill-after" },
		{ 'p', PLAIN, "preserve-status" }, { 's', ARGUMENT, "signal" },
		{ 'v', PLAIN, "verbose" }, { '\0', OTHER, "help" },
		{ '\0', OTHER, "version" } },
	    .operands = 1,
	},
	{
	    .name = "env",
	    .options = { { 'a', ARGUMENT, "argv0" },
		{ 'i', PLAIN, "ignore-environment" }, { '0', OTHER, "null" },
		{ 'u', ARGUMENT, "unset" }, { 'C', CHDIR, "chdir" },
		{ 'S', OTHER, "split-string" }, { 'v', PLAIN, "debug" },
		{ '\0', PERHAPS, "block-signal" },
		{ '\0', PERHAPS, "default-signal" },
		{ '\0', PERHAPS, "ignore-signal" },
		{ '\0', PLAIN, "list-signal-handling" },
		{ '\0', OTHER, "help" }, { '\0', OTHER, "version" } },
	    .dash = true,
	    .assigns = true,
	},
	{
	    .name = "nice",
	    .options = { { 'n', ARGUMENT, "adjustment" },
		{ '\0', OTHER, "help" }, { '\0', OTHER, "version" } },
	    .number = true,
	},
	{
	    .name = "nohup",
	    .options = { { '\0', OTHER, "help" }, { '\0', OTHER, "version" } },
	},
	{
	    .name = "stdbuf",
	    .options = { { 'i', ARGUMENT, "input" },
		{ 'o', ARGUMENT, "output" }, { 'e', ARGUMENT, "error" },
		{ '\0', OTHER, "help" }, { '\0', OTHER, "version" } },
	},
	{
	    .name = "sudo",
	    .options = { { 'A', PLAIN, "askpass" },
		{ 'a', ARGUMENT, "auth-type" }, { 'B', PLAIN, "bell" },
		{ 'b', OTHER, "background" }, { 'C', ARGUMENT, "close-from" },
		{ 'c', ARGUMENT, "login-class" }, { 'D', CHDIR, "chdir" },
		{ 'E', PERHAPS, "preserve-env" }, { 'e', OTHER, "edit" },
		{ 'g', GROUP, "group" }, { 'H', PLAIN, "set-home" },
		{ 'h', OTHER, "help" }, { '\0', OTHER, "host" },
		{ 'i', OTHER, "login" }, { 'K', OTHER, "remove-timestamp" },
		{ 'k', PLAIN, "reset-timestamp" }, { 'l', OTHER, "list" },
		{ 'N', PLAIN, "no-update" }, { 'n', PLAIN, "non-interactive" },
		{ 'P', PLAIN, "preserve-groups" }, { 'p', ARGUMENT, "prompt" },
		{ 'R', AWAY, "chroot" }, { 'r', AWAY, "role" },
		{ 'S', PLAIN, "stdin" }, { 's', OTHER, "shell" },
		{ 't', AWAY, "type" }, { 'T', ARGUMENT, "command-timeout" },
		{ 'U', OTHER, "other-user" }, { 'u', USER, "user" },
		{ 'V', OTHER, "version" }, { 'v', OTHER, "validate" } },
	    .assigns = true,
	    .mixed = true,
	},
};

/* One wrapper, how far it is read, and what its options said so far. */
struct reading {
	const struct program *program;
	char *const *argv;
	size_t at; /* the next word */
	bool ended; /* "--" has been read */
	const char *user, *group, *directory;
	bool away;
};

static const struct program *
find_program(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash == NULL ? path : slash + 1;

	for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
		if (strcmp(name, programs[i].name) == 0)
			return &programs[i];
	}
	return NULL;
}

static const struct option *
find_letter(const struct program *program, char letter)
{
	const struct option *option = program->options;

	for (; option->name[0] != '\0'; option++) {
		if (letter != '\0' && option->letter == letter)
			return option;
	}
	return NULL;
}

/* The option with this name, or the only option whose name begins with it. */
static const struct option *
find_name(const struct program *program, const char *typed, size_t length)
{
	const struct option *option = program->options, *found = NULL;
	int count = 0;

	for (; option->name[0] != '\0'; option++) {
		if (strncmp(option->name, typed, length) != 0)
			continue;
		if (option->name[length] == '\0')
			return option;
		found = option;
		count++;
	}
	return count == 1 ? found : NULL;
}

static void
apply(struct reading *reading, enum kind kind, const char *argument)
{
	if (kind == USER)
		reading->user = argument;
	else if (kind == GROUP)
		reading->group = argument;
	else if (kind == CHDIR)
		reading->directory = argument;
	reading->away |= kind == AWAY;
}

/* The next word, as an option's argument; NULL if there is none. */
static const char *
take_argument(struct reading *reading)
{
	const char *argument = reading->argv[reading->at];

	if (argument != NULL)
		reading->at++;
	return argument;
}

static bool
skip_name(struct reading *reading, const char *typed)
{
	size_t length = strcspn(typed, "=");
	const char *value = typed[length] == '=' ? typed + length + 1 : NULL;
	const struct option *option =
	    find_name(reading->program, typed, length);

	if (option == NULL || option->kind == OTHER)
		return false;
	if (option->kind < ARGUMENT)
		return value == NULL || option->kind == PERHAPS;
	if (value == NULL)
		value = take_argument(reading);
	apply(reading, option->kind, value);
	return value != NULL;
}

static bool
skip_letters(struct reading *reading, const char *letters)
{
	for (; *letters != '\0'; letters++) {
		const struct option *option =
		    find_letter(reading->program, *letters);
		const char *value = letters + 1;

		if (option == NULL || option->kind == OTHER)
			return false;
		if (option->kind < ARGUMENT)
			continue;
		if (*value == '\0')
			value = take_argument(reading);
		apply(reading, option->kind, value);
		return value != NULL;
	}
	return true;
}

/* "-5", "--5" and "-+5", of nice. */
static bool
is_number(const char *word)
{
	word += word[1] == '-' || word[1] == '+' ? 2 : 1;
	return *word >= '0' && *word <= '9';
}

/* Skips options. False at an option with which the wrapper cannot be skipped.
 */
static bool
skip_options(struct reading *reading)
{
	const char *word;

	while (!reading->ended && (word = reading->argv[reading->at]) != NULL &&
	    word[0] == '-' && word[1] != '\0') {
		reading->at++;
		if (strcmp(word, "--") == 0)
			reading->ended = true;
		else if (reading->program->number && is_number(word))
			continue;
		else if (word[1] == '-' ? !skip_name(reading, word + 2)
					: !skip_letters(reading, word + 1))
			return false;
	}
	return true;
}

/* Whether word is NAME=VALUE: for env(1) any word with =, for sudo(8) not one
 * that starts with / or =. */
static bool
is_assignment(const struct program *program, const char *word)
{
	if (word == NULL || strchr(word, '=') == NULL)
		return false;
	return !program->mixed || (word[0] != '/' && word[0] != '=');
}

/*
 * Skips one wrapper, its options and its operands. False if that cannot be
 * done, or if nothing is behind it.
 */
static bool
skip_wrapper(struct reading *reading)
{
	const struct program *program = reading->program;

	reading->at++;
	if (!skip_options(reading))
		return false;
	if (program->dash && reading->argv[reading->at] != NULL &&
	    strcmp(reading->argv[reading->at], "-") == 0)
		reading->at++;
	while (program->assigns && !(program->mixed && reading->ended) &&
	    is_assignment(program, reading->argv[reading->at])) {
		reading->at++;
		if (program->mixed && !skip_options(reading))
			return false;
	}
	for (int i = 0; i < program->operands; i++) {
		if (reading->argv[reading->at++] == NULL)
			return false;
	}
	return reading->argv[reading->at] != NULL;
}

/* The superuser, by the names that sudo(8) has for it. */
static bool
is_root(const char *user)
{
	return strcmp(user, "root") == 0 || strcmp(user, "#0") == 0;
}

/* Adds what one wrapper does. False if no word names the command's directory.
 */
static bool
add(struct wrapper *all, const struct reading *reading)
{
	const char *directory = reading->directory;
	bool sudo = reading->program->mixed, root;

	if (directory != NULL) {
		/* The directory is relative to that of the wrapper before. */
		if (all->directory != NULL && directory[0] != '/')
			return false;
		all->directory = directory;
	}
	/* With a group alone the user stays the same. */
	root = reading->user == NULL ? reading->group == NULL
				     : is_root(reading->user);
	all->root |= sudo && root;
	all->alien |= sudo && (!root || reading->away);
	return true;
}

struct wrapper
wrapper_look(char *const argv[])
{
	struct wrapper all = { 0 }, next;
	struct reading reading = { .argv = argv };

	while ((reading.program = find_program(argv[all.command])) != NULL) {
		reading = (struct reading){ .program = reading.program,
			.argv = argv,
			.at = all.command };
		next = all;
		if (!skip_wrapper(&reading) || !add(&next, &reading))
			break;
		all = next;
		all.command = reading.at;
	}
	return all;
}
