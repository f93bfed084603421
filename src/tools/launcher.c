#include "tools/launcher.h"

#include <string.h>
#include "tools/command_line.h"

/* Programs, the words behind them with which they are launchers, and the
 * options that have an argument, as command_line.h has them. */
struct launcher {
	char names[20], group[8], words[8], options[440];
};

static const struct launcher launchers[] = {
	{ "npx npm", "", "exec x",
	    "p,package= c,call= w,workspace= registry= prefix= cache= tag= "
	    "userconfig= globalconfig= loglevel= script-shell= node-options= "
	    "proxy= https-proxy= noproxy= cafile= otp= scope= before= "
	    "maxsockets= fetch-retries= fetch-retry-mintimeout= "
	    "fetch-retry-maxtimeout= fetch-retry-factor= fetch-timeout= "
	    "y,yes C,prefix=" },
	{ "pnpx pnx pnpm pn", "", "dlx",
	    "package= C,dir= reporter= loglevel= registry= allow-build= "
	    "F,filter= store-dir= prefix= cache-dir=" },
	{ "yarn", "", "dlx", "p,package= cwd= q,quiet" },
	{ "bunx bun", "", "x", "p,package= c,config= cwd= registry=" },
	{ "uvx uv", "tool", "run",
	    "from= w,with= with-editable= with-requirements= p,python= index= "
	    "default-index= i,index-url= extra-index-url= f,find-links= "
	    "c,constraints= b,build-constraints= overrides= env-file= "
	    "cache-dir= directory= project= config-file= color= "
	    "index-strategy= keyring-provider= resolution= prerelease= "
	    "exclude-newer= link-mode= allow-insecure-host= "
	    "P,upgrade-package= refresh-package= reinstall-package= "
	    "refresh reinstall upgrade" },
	{ "pipx", "", "run",
	    "spec= python= pip-args= i,index-url= backend= with= "
	    "fetch-missing-python" },
};

/* Whether a list of words, separated by blanks, has this one. */
static bool
has(const char *list, const char *word)
{
	struct strview rest = strview_of(list), one;

	while (strview_cut(&rest, ' ', &one))
		if (strview_is(one, word))
			return true;
	return false;
}

bool
launcher_read(char *const command[], struct strview *tool)
{
	const char *name = command_line_program(*command);
	const struct launcher *launcher = launchers;
	const struct launcher *end =
	    launchers + sizeof launchers / sizeof *launchers;
	struct command_line line = { .argv = command, .at = 1 };
	bool known, grouped;

	while (launcher < end && !has(launcher->names, name))
		launcher++;
	if (launcher == end)
		return false;
	line.options = launcher->options;
	/* npx runs a tool without a word behind its name, pipx does not. */
	known = name[strlen(name) - 1] == 'x' && strcmp(name, "pipx") != 0;
	grouped = *launcher->group == '\0';
	while (command_line_next(&line)) {
		const char *word = line.argument;

		/* npx -c 'TOOL WORD...' */
		if (!line.operand && !strview_is(line.name, "call"))
			continue;
		if (line.operand && !known) {
			if (!has(grouped ? launcher->words : launcher->group,
				word))
				return false;
			known = grouped;
			grouped = true;
			continue;
		}
		if (word == NULL)
			continue;
		tool->at = word;
		tool->length = 1 + strcspn(word + (*word != '\0'), "@=<>~[ ");
		if (*word == '\0' || *word == '.' ||
		    (*word != '@' && memchr(word, '/', tool->length) != NULL))
			tool->length = 0;
		return true;
	}
	return false;
}
