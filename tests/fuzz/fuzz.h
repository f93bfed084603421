/*
 * fuzz: what the fuzzers share. Each is a program of libFuzzer.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must not be. */
static inline void fuzz_never(bool wrong) {
	if (wrong)
		abort();
}

/* A copy with a NUL behind it, in memory of exactly that size, so that a read
 * past it shows. */
static inline char *fuzz_text(const uint8_t *data, size_t size) {
	char *text = malloc(size + 1);

	if (text == NULL)
		abort();
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

#endif
