#include "text/spelling.h"

#include <stdbool.h>
#include <string.h>

/* More letters than any name of retry's has. */
#define ROOM 32

#define SLIPS_MOST 3

static size_t
lesser(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t
most(size_t length)
{
	return length < 6 ? 1 : lesser(length / 3, SLIPS_MOST);
}

/*
 * The optimal string alignment distance: a row for each letter that was typed,
 * of which the last three are kept. Element j of a row is the number of
 * mistakes between the letters up to there and the first j letters of name.
 */
size_t
spelling_slips(const char *typed, size_t length, const char *name)
{
	size_t rows[3][ROOM + 1] = { { 0 } }, *now = rows[0];
	size_t letters = strlen(name);

	if (length > ROOM || letters > ROOM)
		return SPELLING_FAR;
	for (size_t j = 0; j <= letters; j++)
		now[j] = j;
	for (size_t i = 1; i <= length; i++) {
		const size_t *last = now, *before = rows[(i + 1) % 3];

		now = rows[i % 3];
		now[0] = i;
		for (size_t j = 1; j <= letters; j++) {
			bool same = typed[i - 1] == name[j - 1];
			bool swapped = i > 1 && j > 1 &&
			    typed[i - 1] == name[j - 2] &&
			    typed[i - 2] == name[j - 1];

			now[j] = lesser(last[j], now[j - 1]) + 1;
			now[j] = lesser(now[j], last[j - 1] + (same ? 0 : 1));
			if (swapped)
				now[j] = lesser(now[j], before[j - 2] + 1);
		}
	}
	return now[letters] > most(length) ? SPELLING_FAR : now[letters];
}
