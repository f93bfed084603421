#include "preset/wrapper.h"

#include <string.h>
#include "preset/command_line.h"

struct program {
	char name[8];
	char options[448]; /* not a pointer, which would need a relocation */
	bool number; /* -5 is an option */
	bool dash; /* "-" behind the options is an option, too */
	bool assigns; /* NAME=VALUE may follow the options */
	bool mixed; /* NAME=VALUE may be between the options, not behind -- */
	int operands; /* before the command */
};

/* A wrapper with an option that is marked ! cannot be skipped. */
static const struct program programs[] = {
	{
	    .name = "timeout",
	    .options = "f,foreground k,kill-after= p,preserve-status s,signal= "
		       "v,verbose help! version!",
	    .operands = 1,
	},
	{
	    .name = "env",
	    .options = "a,argv0= i,ignore-environment 0,null! u,unset= "
		       "C,chdir= S,split-string! v,debug block-signal? "
		       "default-signal? ignore-signal? list-signal-handling "
		       "help! version!",
	    .dash = true,
	    .assigns = true,
	},
	{
	    .name = "nice",
	    .options = "n,adjustment= help! version!",
	    .number = true,
	},
	{
	    .name = "nohup",
	    .options = "help! version!",
	},
	{
	    .name = "stdbuf",
	    .options = "i,input= o,output= e,error= help! version!",
	},
	{
	    .name = "sudo",
	    .options = "A,askpass a,auth-type= B,bell b,background! "
		       "C,close-from= c,login-class= D,chdir= E,preserve-env? "
		       "e,edit! g,group= H,set-home h,help! host! i,login! "
		       "K,remove-timestamp! k,reset-timestamp l,list! "
		       "N,no-update n,non-interactive P,preserve-groups "
		       "p,prompt= R,chroot= r,role= S,stdin s,shell! t,type= "
		       "T,command-timeout= U,other-user! u,user= V,version! "
		       "v,validate!",
	    .assigns = true,
	    .mixed = true,
	},
};

/* What the options of one wrapper say. */
struct said {
	const char *user, *group, *directory;
	bool away; /* the command may not be able to open retry's files */
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

/*
 * Skips options, up to the first word that is none. False at an option with
 * which the wrapper cannot be skipped.
 */
static bool
skip_options(
    const struct program *program, struct command_line *line, struct said *said)
{
	const char *word;

	while (!line->ended && (word = line->argv[line->at]) != NULL &&
	    word[0] == '-' && word[1] != '\0') {
		/* "-5", "--5" and "-+5", of nice. */
		const char *digit =
		    word + (word[1] == '-' || word[1] == '+' ? 2 : 1);

		if (strcmp(word, "--") == 0) {
			line->ended = true;
			line->at++;
			break;
		}
		if (program->number && *digit >= '0' && *digit <= '9') {
			line->at++;
			continue;
		}
		command_line_next(line);
		if (line->name.length == 0 || line->mark == '!' ||
		    (line->mark != '?' &&
			(line->mark == '=') != (line->argument != NULL)))
			return false;
		if (strview_is(line->name, "user"))
			said->user = line->argument;
		else if (strview_is(line->name, "group"))
			said->group = line->argument;
		else if (strview_is(line->name, "chdir"))
			said->directory = line->argument;
		said->away |= strview_is(line->name, "chroot") ||
		    strview_is(line->name, "role") ||
		    strview_is(line->name, "type");
	}
	return true;
}
/*
 * Skips one wrapper, its options and its operands. False if that cannot be
 * done, or if nothing is behind it.
 */
static bool
skip_wrapper(
    const struct program *program, struct command_line *line, struct said *said)
{
	const char *word;

	line->at++;
	if (!skip_options(program, line, said))
		return false;
	word = line->argv[line->at];
	if (program->dash && word != NULL && strcmp(word, "-") == 0)
		line->at++;
	/* For env(1) any word with = is an assignment, for sudo(8) not one that
	 * starts with / or =. */
	while (program->assigns && !(program->mixed && line->ended) &&
	    (word = line->argv[line->at]) != NULL &&
	    strchr(word, '=') != NULL &&
	    (!program->mixed || (word[0] != '/' && word[0] != '='))) {
		line->at++;
		if (program->mixed && !skip_options(program, line, said))
			return false;
	}
	for (int i = 0; i < program->operands; i++) {
		if (line->argv[line->at++] == NULL)
			return false;
	}
	return line->argv[line->at] != NULL;
}

struct wrapper
wrapper_look(char *const argv[])
{
	struct wrapper all = { 0 };
	const struct program *program;

	while ((program = find_program(argv[all.command])) != NULL) {
		struct command_line line = { .argv = argv,
			.at = all.command,
			.options = program->options };
		struct said said = { 0 };
		bool root;

		if (!skip_wrapper(program, &line, &said))
			break;
		if (said.directory != NULL) {
			/* It is relative to that of the wrapper before. */
			if (all.directory != NULL && said.directory[0] != '/')
				break;
			all.directory = said.directory;
		}
		/* sudo(8) has two names for the superuser. With a group alone
		 * the user stays the same. */
		root = said.user == NULL ? said.group == NULL
					 : strcmp(said.user, "root") == 0 ||
			strcmp(said.user, "#0") == 0;
		all.root |= program->mixed && root;
		all.alien |= program->mixed && (!root || said.away);
		all.command = line.at;
	}
	return all;
}
