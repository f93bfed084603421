/*
 * Covers preset/command_line.
 *
 * wrapper, row by row: which word of a command line is the command.
 */
#include "unit.h"
#include "preset/command_line.h"

#define WORDS 32

static struct wrapped
look(const char *text, char *argv[WORDS])
{
	static char line[256];
	size_t count = 0;
	char *rest = line, *word;

	snprintf(line, sizeof line, "%s", text);
	while ((word = strsep(&rest, " ")) != NULL && count < WORDS - 1)
		argv[count++] = word;
	argv[count] = NULL;
	return command_line_unwrap(argv);
}

TEST(commands)
{
	static const struct {
		const char *line, *command, *directory;
		bool root, alien;
	} rows[] = {
		{ "curl URL", "curl", NULL, false, false },
		{ "", "", NULL, false, false },
		{ "sh -c curl", "sh", NULL, false, false },
		{ "timeouts 5 curl", "timeouts", NULL, false, false },
		{ "setsid curl", "setsid", NULL, false, false },

		{ "timeout 5 curl -k 3", "curl", NULL, false, false },
		{ "/usr/bin/timeout 5 ./curl", "./curl", NULL, false, false },
		{ "timeout -k 5 -s INT --foreground 10 curl", "curl", NULL,
		    false, false },
		{ "timeout -k5 -sINT -v 10 curl", "curl", NULL, false, false },
		{ "timeout -fpk 5 10 curl", "curl", NULL, false, false },
		{ "timeout -vs INT 10 curl", "curl", NULL, false, false },
		{ "timeout --kill-after=5 --signal INT 10 curl", "curl", NULL,
		    false, false },
		{ "timeout --kill 5 --pres 10 curl", "curl", NULL, false,
		    false },
		{ "timeout --ver 10 curl", "timeout", NULL, false, false },
		{ "timeout --foreground=x 10 curl", "timeout", NULL, false,
		    false },
		{ "timeout -- 10 curl", "curl", NULL, false, false },
		{ "timeout -t 10 curl", "timeout", NULL, false, false },
		{ "timeout --help", "timeout", NULL, false, false },
		{ "timeout -k", "timeout", NULL, false, false },
		{ "timeout --signal", "timeout", NULL, false, false },
		{ "timeout 10", "timeout", NULL, false, false },
		{ "timeout", "timeout", NULL, false, false },

		{ "env curl", "curl", NULL, false, false },
		{ "env -i A=b C= curl A=b", "curl", NULL, false, false },
		{ "env - A=b curl", "curl", NULL, false, false },
		{ "env -u X -C dir FOO=bar curl", "curl", "dir", false, false },
		{ "env -u X -C dir -- FOO=bar curl", "curl", "dir", false,
		    false },
		{ "env -uX -Cdir curl", "curl", "dir", false, false },
		{ "env --unset=X --chdir=/d curl", "curl", "/d", false, false },
		{ "env -iu X --chdir /d curl", "curl", "/d", false, false },
		{ "env --default-signal --ignore-signal=INT curl", "curl", NULL,
		    false, false },
		{ "env -a name -v curl", "curl", NULL, false, false },
		{ "env /x=y curl", "curl", NULL, false, false },
		{ "env -S curl", "env", NULL, false, false },
		{ "env -iScurl", "env", NULL, false, false },
		{ "env --split-string=curl", "env", NULL, false, false },
		{ "env A=b", "env", NULL, false, false },
		{ "env A=b -i curl", "-i", NULL, false, false },
		{ "env", "env", NULL, false, false },

		{ "nice curl", "curl", NULL, false, false },
		{ "nice -n 5 curl", "curl", NULL, false, false },
		{ "nice -n5 curl", "curl", NULL, false, false },
		{ "nice -n -5 curl", "curl", NULL, false, false },
		{ "nice -5 curl", "curl", NULL, false, false },
		{ "nice --5 curl", "curl", NULL, false, false },
		{ "nice -+5 curl", "curl", NULL, false, false },
		{ "nice --adjustment=5 curl", "curl", NULL, false, false },
		{ "nice -x curl", "nice", NULL, false, false },

		{ "nohup curl", "curl", NULL, false, false },
		{ "nohup -- curl", "curl", NULL, false, false },
		{ "nohup -x curl", "nohup", NULL, false, false },

		{ "stdbuf -oL curl", "curl", NULL, false, false },
		{ "stdbuf -o L -e0 --input=0 curl", "curl", NULL, false,
		    false },
		{ "stdbuf -oL", "stdbuf", NULL, false, false },

		{ "sudo curl", "curl", NULL, true, false },
		{ "sudo -n -E curl", "curl", NULL, true, false },
		{ "sudo -u root curl", "curl", NULL, true, false },
		{ "sudo -u#0 curl", "curl", NULL, true, false },
		{ "sudo -u bob -E FOO=bar curl", "curl", NULL, false, true },
		{ "sudo -Eubob curl", "curl", NULL, false, true },
		{ "sudo --user=bob curl", "curl", NULL, false, true },
		{ "sudo --user bob -- curl", "curl", NULL, false, true },
		{ "sudo -u bob -u root curl", "curl", NULL, true, false },
		{ "sudo -g adm curl", "curl", NULL, false, true },
		{ "sudo -g adm -u root curl", "curl", NULL, true, false },
		{ "sudo FOO=bar -H A=b curl", "curl", NULL, true, false },
		{ "sudo -- FOO=bar curl", "FOO=bar", NULL, true, false },
		{ "sudo --preserve-env=A,B curl", "curl", NULL, true, false },
		{ "sudo --preserve-env curl", "curl", NULL, true, false },
		{ "sudo -D dir -T 5 -p x -C 9 curl", "curl", "dir", true,
		    false },
		{ "sudo -R /r curl", "curl", NULL, true, true },
		{ "sudo -r staff_r -t t curl", "curl", NULL, true, true },
		{ "sudo -i curl", "sudo", NULL, false, false },
		{ "sudo -s curl", "sudo", NULL, false, false },
		{ "sudo -b curl", "sudo", NULL, false, false },
		{ "sudo -l curl", "sudo", NULL, false, false },
		{ "sudo -h curl", "sudo", NULL, false, false },
		{ "sudo -v", "sudo", NULL, false, false },
		{ "sudo -u", "sudo", NULL, false, false },

		{ "sudo nice timeout 5 curl", "curl", NULL, true, false },
		{ "nice sudo -u bob curl", "curl", NULL, false, true },
		{ "sudo -u bob sudo curl", "curl", NULL, true, true },
		{ "nohup env A=b stdbuf -oL nice -5 curl -n", "curl", NULL,
		    false, false },
		{ "timeout 5 sh -c curl", "sh", NULL, false, false },
		{ "timeout 5 timeout --help", "timeout", NULL, false, false },
		{ "env -C a env -C /b curl", "curl", "/b", false, false },
		{ "env -C a env -C b curl", "env", "a", false, false },
	};
	char *argv[WORDS];

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *line = rows[i].line;
		struct wrapped found = look(line, argv);

		SAME(line, argv[found.command], rows[i].command);
		SAME(line, found.directory, rows[i].directory);
		EQUAL(line, found.root, rows[i].root);
		EQUAL(line, found.alien, rows[i].alien);
	}
}
