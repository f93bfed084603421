#include "preset/wrapper.h"

#include <string.h>
#include "text/strview.h"

/* What an option is, as far as it matters here. Those from ARGUMENT on have an
 * argument. */
enum kind {
	PLAIN,
	PERHAPS, /* --name or --name=ARGUMENT; its letter has none */
	OTHER, /* cannot be looked through */
	ARGUMENT,
	CHDIR,
	USER,
	GROUP,
	AWAY, /* to where our files are not */
};

struct option {
	char letter; /* '\0': none */
	enum kind kind;
	char name[24]; /* in place: the table needs no relocation at start */
};

struct program {
	char name[8];
	struct option options[32]; /* up to one without a name */
	bool number; /* -5 is an option */
	bool dash; /* "-" behind the options is one */
	bool assigns; /* NAME=VALUE may stand behind them... */
	bool mixed; /* ...and between them, but not behind "--" */
	int operands; /* of its own, before the command */
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

/* Where one of them is read, and what it has said so far. */
struct segment_dir {
	const struct program *program;
	char *const *argv;
	size_t at; /* the word */
	bool ended; /* "--" is past */
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

/* The whole name, or as much of it as no other name begins with. */
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
apply(struct segment_dir *place, enum kind kind, const char *argument)
{
	if (kind == USER)
		place->user = argument;
	else if (kind == GROUP)
		place->group = argument;
	else if (kind == CHDIR)
		place->directory = argument;
	place->away |= kind == AWAY;
}

/* The argument of an option whose word ends here; NULL if there is none. */
static const char *
take_argument(struct segment_dir *place)
{
	const char *argument = place->argv[place->at];

	if (argument != NULL)
		place->at++;
	return argument;
}

static bool
pass_name(struct segment_dir *place, const char *typed)
{
	size_t length = strcspn(typed, "=");
	const char *value = typed[length] == '=' ? typed + length + 1 : NULL;
	const struct option *option = find_name(place->program, typed, length);

	if (option == NULL || option->kind == OTHER)
		return false;
	if (option->kind < ARGUMENT)
		return value == NULL || option->kind == PERHAPS;
	if (value == NULL)
		value = take_argument(place);
	apply(place, option->kind, value);
	return value != NULL;
}

static bool
pass_letters(struct segment_dir *place, const char *letters)
{
	for (; *letters != '\0'; letters++) {
		const struct option *option =
		    find_letter(place->program, *letters);
		const char *value = letters + 1;

		if (option == NULL || option->kind == OTHER)
			return false;
		if (option->kind < ARGUMENT)
			continue;
		if (*value == '\0')
			value = take_argument(place);
		apply(place, option->kind, value);
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

/* Passes over options. False if there is one that nobody can look through. */
static bool
pass_options(struct segment_dir *place)
{
	const char *word;

	while (!place->ended && (word = place->argv[place->at]) != NULL &&
	    word[0] == '-' && word[1] != '\0') {
		place->at++;
		if (strcmp(word, "--") == 0)
			place->ended = true;
		else if (place->program->number && is_number(word))
			continue;
		else if (word[1] == '-' ? !pass_name(place, word + 2)
					: !pass_letters(place, word + 1))
			return false;
	}
	return true;
}

/* env(1) takes any word with a = for one, sudo(8) none that starts oddly. */
static bool
is_assignment(const struct program *program, const char *word)
{
	if (word == NULL || strchr(word, '=') == NULL)
		return false;
	return !program->mixed || (word[0] != '/' && word[0] != '=');
}

/*
 * Passes over one program, its options and its operands. False if that cannot
 * be done, or nothing is behind it.
 */
static bool
pass(struct segment_dir *place)
{
	const struct program *program = place->program;

	place->at++;
	if (!pass_options(place))
		return false;
	if (program->dash && place->argv[place->at] != NULL &&
	    strcmp(place->argv[place->at], "-") == 0)
		place->at++;
	while (program->assigns && !(program->mixed && place->ended) &&
	    is_assignment(program, place->argv[place->at])) {
		place->at++;
		if (program->mixed && !pass_options(place))
			return false;
	}
	for (int i = 0; i < program->operands; i++) {
		if (place->argv[place->at++] == NULL)
			return false;
	}
	return place->argv[place->at] != NULL;
}

/* The superuser, by the names that sudo(8) has for it. */
static bool
is_root(const char *user)
{
	return strcmp(user, "root") == 0 || strcmp(user, "#0") == 0;
}

/* Adds what one of them has said. False where that is beyond us. */
static bool
add(struct wrapper *all, const struct segment_dir *place)
{
	const char *directory = place->directory;
	bool sudo = place->program->mixed, root;

	if (directory != NULL) {
		/* One below the other has no name among these words. */
		if (all->directory != NULL && directory[0] != '/')
			return false;
		all->directory = directory;
	}
	/* With a group alone it stays who it is, but in that group. */
	root =
	    place->user == NULL ? place->group == NULL : is_root(place->user);
	all->root |= sudo && root;
	all->alien |= sudo && (!root || place->away);
	return true;
}

struct wrapper
wrapper_look(char *const argv[])
{
	struct wrapper all = { 0 }, next;
	struct segment_dir place = { .argv = argv };

	while ((place.program = find_program(argv[all.command])) != NULL) {
		place = (struct segment_dir){ .program = place.program,
			.argv = argv,
			.at = all.command };
		next = all;
		if (!pass(&place) || !add(&next, &place))
			break;
		all = next;
		all.command = place.at;
	}
	return all;
}
