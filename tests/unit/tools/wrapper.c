/*
 * Covers tools/command_line.
 *
 * wrapper, row by row: which word of a command line is the command.
 */
#include "unit.h"
#include "tools/command_line.h"

/* The command of a line, whether its directory changes, and the user. */
static const char *command_of(const char *text) {
	static char line[256], room[256];
	char *argv[32] = { NULL }, *rest = line;
	size_t count = 0;
	struct wrapped found;

	snprintf(line, sizeof line, "%s", text);
	while ((argv[count] = strsep(&rest, " ")) != NULL) count++;
	found = command_line_unwrap(argv);
	snprintf(room, sizeof room, "%s%s%s", argv[found.command], found.moved ? " moved" : "",
	    found.alien ? " as another" : "");
	return room;
}

TEST(commands) {
	static const char *const rows[][10] = { { "curl", "curl URL" }, { "", "" },
		{ "sh", "sh -c curl" }, { "timeouts", "timeouts 5 curl" },
		{ "setsid", "setsid curl" },

		{ "curl", "timeout 5 curl -k 3", "timeout -k 5 -s INT --foreground 10 curl",
		    "timeout -k5 -sINT -v 10 curl", "timeout -fpk 5 10 curl",
		    "timeout -vs INT 10 curl", "timeout --kill-after=5 --signal INT 10 curl",
		    "timeout -- 10 curl" },
		{ "./curl", "/usr/bin/timeout 5 ./curl" }, { "curl", "timeout --kill 5 10 curl" },
		{ "timeout", "timeout --foreground=x 10 curl", "timeout -t 10 curl",
		    "timeout --help", "timeout -k", "timeout --signal", "timeout 10", "timeout" },

		{ "curl", "env curl", "env -i A=b C= curl A=b",
		    "env --default-signal --ignore-signal=INT curl", "env -a name -v curl",
		    "env /x=y curl" },
		{ "curl moved", "env -u X -C dir FOO=bar curl", "env -u X -C dir -- FOO=bar curl",
		    "env -uX -Cdir curl", "env -iu X --chdir=/d curl" },
		{ "env", "env -S curl", "env -iScurl", "env --split-string=curl", "env A=b",
		    "env" },
		{ "-i", "env A=b -i curl" },

		{ "curl", "nice curl", "nice -n 5 curl", "nice -n5 curl", "nice -n -5 curl",
		    "nice -5 curl", "nice --adjustment=5 curl" },
		{ "nice", "nice -x curl" },

		{ "curl", "nohup curl", "nohup -- curl" }, { "nohup", "nohup -x curl" },

		{ "curl", "stdbuf -oL curl", "stdbuf -o L -e0 --input=0 curl" },
		{ "stdbuf", "stdbuf -oL" },

		{ "curl as another", "sudo curl", "sudo -n -E curl", "sudo -Eubob FOO=bar A=b curl",
		    "sudo --user=bob curl", "sudo --user bob -- curl", "sudo -g adm curl",
		    "sudo --preserve-env=A,B --no-update curl", "sudo -T 5 -p x -C 9 curl" },
		{ "sudo", "sudo -i curl", "sudo -s curl", "sudo -b curl", "sudo -l curl",
		    "sudo -h curl", "sudo -v", "sudo -u" },

		{ "curl as another", "sudo nice timeout 5 curl", "nice sudo -u bob curl" },
		{ "curl", "nohup env A=b stdbuf -oL nice -5 curl -n" },
		{ "sh", "timeout 5 sh -c curl" }, { "timeout", "timeout 5 timeout --help" } };

	ALIKE(rows, command_of);
}
