#include "match/hint.h"

void
hint_start(struct hint *hint)
{
	pattern_start(&hint->pattern);
	hint->reader = (struct duration_reader){ .reads = false };
	hint->last = '\n';
	hint->given = false;
}

size_t
hint_feed(struct hint *hint, const void *bytes, size_t length)
{
	const unsigned char *at = bytes, *end = at + length;
	uint32_t toil = 0;

	while (at < end && toil < PATTERN_TOIL) {
		bool reads = hint->reader.reads, found;
		size_t count = pattern_next(
		    &hint->pattern, at, reads ? 1 : (size_t)(end - at), &found);
		nanos wait;

		at += count;
		toil += hint->pattern.toil;
		if (count > 1)
			hint->last = at[-2];
		if (found && !duration_began(&hint->reader))
			duration_start(&hint->reader, hint->last);
		if (duration_take(&hint->reader, at[-1], &wait)) {
			hint->given = true;
			hint->wait = wait;
		}
		hint->last = at[-1];
	}
	return length - (size_t)(end - at);
}

void
hint_end(struct hint *hint)
{
	hint_feed(hint, "\n", 1);
}
