#include "tools/command_line.h"

#include <ctype.h>
#include <string.h>

/* A wrapper. One with an option that is marked ! cannot be skipped. */
struct program {
	char name[8];
	char options[448]; /* not a pointer, which would need a relocation */
	bool number; /* -5 is an option */
	bool assigns; /* NAME=VALUE may follow the options */
	bool changes; /* it changes the user */
	int operands; /* before the command */
};

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
		       "N,update n,non-interactive P,preserve-groups "
		       "p,prompt= R,chroot= r,role= S,stdin s,shell! t,type= "
		       "T,command-timeout= U,other-user! u,user= V,version! "
		       "v,validate!",
	    .assigns = true,
	    .changes = true,
	},
};

/*
 * Finds the option with a letter, or, if that is NUL, with a name or the start
 * of one. Sets its name and its mark; the name is empty if there is no such
 * option, or more than one that begins like that.
 */
static void
find(struct command_line *line, char letter, struct strview typed)
{
	struct strview rest = strview_of(line->options), word;
	int found = 0;

	while (strview_cut(&rest, ' ', &word)) {
		bool lettered = word.length > 2 && word.at[1] == ',';
		struct strview name = strview_after(word, lettered ? 2 : 0);
		char mark = ' ';

		if (strchr("=?!", name.at[name.length - 1]) != NULL)
			mark = name.at[--name.length];
		if (letter != '\0' ? !lettered || word.at[0] != letter
				   : !strview_begins(name, typed))
			continue;
		found++;
		line->name = name;
		line->mark = mark;
		if (letter != '\0' || name.length == typed.length)
			return;
	}
	if (found != 1 || typed.length == 0) {
		line->name.length = 0;
		line->mark = ' ';
	}
}

bool
command_line_next(struct command_line *line)
{
	const char *word = line->argv[line->at], *next, *rest;
	struct strview typed;

	if (word != NULL && !line->ended && strcmp(word, "--") == 0) {
		line->ended = true;
		word = line->argv[++line->at];
	}
	if (word == NULL)
		return false;
	next = line->argv[line->at + 1];
	line->off = line->expanded = false;
	line->operand = line->ended || word[0] != '-' || word[1] == '\0';
	if (line->operand) {
		line->name.length = 0;
		line->argument = word;
		line->at++;
		return true;
	}
	if (word[1] != '-') {
		rest = word + 2 + line->letter;
		find(line, rest[-1], (struct strview){ NULL, 0 });
		line->argument = NULL;
		line->letter++;
		if (line->mark == '=') {
			line->argument = *rest != '\0' ? rest : next;
			line->at += *rest == '\0' && next != NULL ? 2 : 1;
			line->letter = 0;
		} else if (*rest == '\0') {
			line->at++;
			line->letter = 0;
		}
		return true;
	}
	typed = strview_of(word + 2);
	line->off = strview_starts(typed, "no-");
	line->expanded = strview_starts(typed, "expand-");
	if (line->off)
		typed = strview_after(typed, strlen("no-"));
	else if (line->expanded)
		typed = strview_after(typed, strlen("expand-"));
	rest = strchr(word, '=');
	if (rest != NULL)
		typed.length = (size_t)(rest - typed.at);
	find(line, '\0', typed);
	line->argument = rest != NULL ? rest + 1 : NULL;
	line->at++;
	/* What is negated has none. */
	if (line->mark == '=' && rest == NULL && next != NULL && !line->off) {
		line->argument = next;
		line->at++;
	}
	return true;
}

/* Skips one wrapper, its options and its operands. False if that cannot be
 * done, or if nothing is behind it. */
static bool
skip_wrapper(const struct program *program, struct command_line *line,
    struct wrapped *all)
{
	const char *word;

	line->at++;
	while ((word = line->argv[line->at]) != NULL && word[0] == '-' &&
	    word[1] != '\0') {
		if (strcmp(word, "--") == 0) {
			line->at++;
			break;
		}
		if (program->number && isdigit((unsigned char)word[1])) {
			line->at++;
			continue;
		}
		command_line_next(line);
		if (line->name.length == 0 || line->mark == '!' ||
		    (line->mark != '?' &&
			(line->mark == '=') != (line->argument != NULL)))
			return false;
		all->moved |= strview_is(line->name, "chdir");
	}
	while (program->assigns && line->argv[line->at] != NULL &&
	    strchr(line->argv[line->at], '=') != NULL)
		line->at++;
	for (int i = 0; i < program->operands; i++) {
		if (line->argv[line->at++] == NULL)
			return false;
	}
	return line->argv[line->at] != NULL;
}

struct wrapped
command_line_unwrap(char *const argv[])
{
	const struct program *end =
	    programs + sizeof programs / sizeof *programs;
	struct wrapped all = { 0 };

	for (;;) {
		const char *name = command_line_program(argv[all.command]);
		const struct program *program = programs;
		struct command_line line = { .argv = argv, .at = all.command };

		while (program < end && strcmp(name, program->name) != 0)
			program++;
		if (program == end)
			return all;
		line.options = program->options;
		if (!skip_wrapper(program, &line, &all))
			return all;
		all.alien |= program->changes;
		all.command = line.at;
	}
}

const char *
command_line_program(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL || slash[1] == '\0' ? path : slash + 1;
}
