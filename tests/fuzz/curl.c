/*
 * A curl command line of any words, one in a line: reading it ends, reads no
 * word behind the last, and returns only indexes of argv. The same for wrapper,
 * which looks for a command behind other programs.
 */
#include "fuzz.h"
#include "tools/curl.h"
#include "tools/command_line.h"

#define WORDS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	char *argv[WORDS], *text = fuzz_text(data, size), *rest = text, *word;
	size_t count = 0, from;
	struct curl curl;

	while (count < WORDS - 1 && (word = strsep(&rest, "\n")) != NULL) argv[count++] = word;
	argv[count] = NULL;
	from = count > 1 ? 1 : 0;
	while (from > 0 && from < count) {
		curl = curl_operation(argv, from);
		fuzz_never(curl.opening < from || curl.opening > count);
		fuzz_never(curl.next != 0 && (curl.next <= from || curl.next > count));
		fuzz_never(curl.next != 0 && curl.opening > curl.next);
		fuzz_never(curl.dump != NULL && !curl.dumps);
		from = curl.next;
	}
	fuzz_never(command_line_unwrap(argv).command >= count);
	curl = curl_read(argv);
	fuzz_never(curl.opening == 0 || (curl.next != 0 && !curl.several));
	if (curl.method != NULL)
		curl_idempotent(curl.method);
	free(text);
	return 0;
}
