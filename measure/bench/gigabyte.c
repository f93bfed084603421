/*
 * gigabyte: what is needed to send a gigabyte through a program.
 *
 *     gigabyte write dots|line|lines FD
 *                            writes it
 *     gigabyte read          reads it; fails if that is not all of it, or in
 * the first attempt of a retry gigabyte watch FILE COMMAND... runs a command,
 * appends the peak of its memory in kB, without its children's, to the file,
 * and ends as it does
 */
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A gigabyte is so many bytes, so many times. */
enum { CHUNK = 65536, WRITES = 1 << 14, CHUNKS = 64 };

/* Milliseconds between two looks at how much memory it has taken. */
enum { LOOK = 5 };

/* A % becomes a number. None of it matches, some of it comes near. */
static const char *const samples[] = {
	"2031-07-%T08:%:%Z worker % took job % from the queue after % ms\n",
	"[%/%] CC drivers/net/module%.o -O2 -g -Wall -Wextra\n",
	"192.0.2.% \"GET /v2/items/%/tags HTTP/1.1\" 200 % bytes\n",
	"warning: function 'resetCounter%' is defined but not used\n",
	"    at pool.Connection.run (pool.js:%:%)\n",
	"Unpacking libexample% (1.%.%-%) over (1.%.%-%) ...\n",
	"retrieved % of % objects, temporary directory /tmp/build%\n",
};

static int
write_all(const char *kind, int fd)
{
	enum { LONGEST = 256 };
	static char text[CHUNKS * CHUNK];
	size_t kinds = sizeof samples / sizeof samples[0], length = 0;
	bool dots = strcmp(kind, "dots") == 0;
	bool lines = strcmp(kind, "lines") == 0;
	unsigned number = 1;

	memset(text, '.', dots ? CHUNK : sizeof text);
	while (!dots && length + LONGEST < sizeof text)
		for (const char *c = samples[number % kinds]; *c != '\0'; c++) {
			number = number * 1103515245 + 12345;
			if (*c == '%')
				length += (size_t)snprintf(text + length, 8,
				    "%u", number / 65536 % 1000);
			else
				text[length++] =
				    *c == '\n' && !lines ? ' ' : *c;
		}
	for (int i = 0; i < WRITES; i++)
		for (size_t at = 0; at < CHUNK;) {
			const char *chunk =
			    text + (dots ? 0 : i % CHUNKS * CHUNK);
			ssize_t put = write(fd, chunk + at, CHUNK - at);

			if (put == -1)
				err(2, "write");
			at += (size_t)put;
		}
	return 0;
}

static int
read_all(void)
{
	static char bytes[CHUNK];
	const char *number = getenv("RETRY_ATTEMPT");
	long long left = (long long)WRITES * CHUNK;
	ssize_t n;

	while ((n = read(0, bytes, sizeof bytes)) > 0)
		left -= n;
	if (left != 0)
		errx(2, "not all of it came");
	return number != NULL && strcmp(number, "1") == 0;
}

static int
watch(const char *name, char **command)
{
	pid_t child = fork();
	struct pollfd over = { .events = POLLIN };
	char path[64], line[256];
	long peak = 0;
	int status;
	FILE *file;

	if (child == 0) {
		execvp(command[0], command);
		err(127, "%s", command[0]);
	}
	over.fd = (int)syscall(SYS_pidfd_open, child, 0);
	if (child == -1 || over.fd == -1)
		err(2, "%s", command[0]);
	snprintf(path, sizeof path, "/proc/%d/status", (int)child);
	while (poll(&over, 1, LOOK) == 0) {
		file = fopen(path, "re");
		while (file != NULL && fgets(line, sizeof line, file) != NULL)
			(void)sscanf(line, "VmHWM: %ld", &peak);
		if (file != NULL)
			fclose(file);
	}
	file = fopen(name, "ae");
	if (file == NULL || waitpid(child, &status, 0) == -1)
		err(2, "%s", name);
	fprintf(file, "%ld\n", peak);
	fclose(file);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

int
main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "write") == 0)
		return write_all(argv[2], atoi(argv[3]));
	if (argc == 2 && strcmp(argv[1], "read") == 0)
		return read_all();
	if (argc > 3 && strcmp(argv[1], "watch") == 0)
		return watch(argv[2], argv + 3);
	errx(2, "usage: gigabyte write KIND FD | read | watch FILE COMMAND...");
}
