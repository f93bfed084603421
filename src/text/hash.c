#include "text/hash.h"

uint64_t
hash_add(uint64_t hash, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}

uint64_t
hash_draw(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}
