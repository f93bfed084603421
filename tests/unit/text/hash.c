/* hash: the same hashes and random numbers on every machine. */
#include "unit.h"
#include "text/hash.h"

TEST(hashes) {
	static const struct {
		const char *text;
		uint64_t hash;
	} rows[] = {
		/* From draft-eastlake-fnv, appendix C. */
		{ "", UINT64_C(0xcbf29ce484222325) },
		{ "a", UINT64_C(0xaf63dc4c8601ec8c) },
		{ "foobar", UINT64_C(0x85944171f73967e8) },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		size_t length = strlen(rows[i].text), half = length / 2;
		uint64_t hash = hash_add(HASH_NONE, rows[i].text, half);

		hash = hash_add(hash, rows[i].text + half, length - half);
		HOLDS(rows[i].text, hash == rows[i].hash);
	}
}

/* The first numbers that the authors' splitmix64.c draws from seed 0. */
TEST(draws) {
	uint64_t seed = 0;

	HOLDS("first", hash_draw(&seed) == UINT64_C(0xe220a8397b1dcdaf));
	HOLDS("second", hash_draw(&seed) == UINT64_C(0x6e789e6aa1b965f4));
}
