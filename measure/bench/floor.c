/*
 * floor: what running a command costs at the very least. Does what retry must
 * do for each attempt, and nothing else: fork, exec, wait.
 *
 *     floor TIMES COMMAND [ARG]...
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	long times = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
	int status = 0;

	while (times-- > 0) {
		pid_t child = fork();

		if (child == -1)
			return 125;
		if (child == 0) {
			execvp(argv[2], argv + 2);
			_exit(127);
		}
		if (waitpid(child, &status, 0) == -1)
			return 125;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}
