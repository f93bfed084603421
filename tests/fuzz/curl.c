/*
 * A curl command line of any words, one in a line: reading it ends, reads no
 * word behind the last, and returns only indexes of argv. The same for wrapper,
 * which looks for a command behind other programs.
 */
#include "fuzz.h"
#include "http/curl.h"
#include "preset/command_line.h"

#define WORDS 64

/* Cuts text into words. Returns how many there are, argv[0] included. */
static size_t
split(char *text, char *argv[WORDS])
{
	size_t count = 0;
	char *word;

	while (count < WORDS - 1 && (word = strsep(&text, "\n")) != NULL)
		argv[count++] = word;
	argv[count] = NULL;
	return count;
}

static void
check(char *const argv[], size_t count)
{
	size_t from = count > 1 ? 1 : 0;

	while (from > 0 && from < count) {
		struct curl curl = curl_operation(argv, from);

		fuzz_never(curl.opening < from || curl.opening > count);
		fuzz_never(
		    curl.next != 0 && (curl.next <= from || curl.next > count));
		fuzz_never(curl.next != 0 && curl.opening > curl.next);
		fuzz_never(curl.dump != NULL && !curl.dumps);
		from = curl.next;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *argv[WORDS], *text = fuzz_text(data, size);
	struct curl curl;
	size_t count;

	count = split(text, argv);
	check(argv, count);
	fuzz_never(command_line_unwrap(argv).command >= count);
	curl = curl_read(argv);
	fuzz_never(curl.opening == 0 || (curl.next != 0 && !curl.several));
	if (curl.method != NULL)
		curl_idempotent(curl.method);
	free(text);
	return 0;
}
