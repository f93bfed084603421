#include "match/hint.h"

void
hint_start(struct hint *hint)
{
	pattern_start(&hint->pattern);
	hint->worded = (struct worded){ .place = WORDED_IDLE };
	hint->last = '\n';
	hint->given = false;
}

void
hint_feed(struct hint *hint, const void *bytes, size_t length)
{
	const unsigned char *at = bytes, *end = at + length;

	while (at < end) {
		bool reads = hint->worded.place != WORDED_IDLE, found;
		size_t count = pattern_next(
		    &hint->pattern, at, reads ? 1 : (size_t)(end - at), &found);
		nanos wait;

		at += count;
		if (count > 1)
			hint->last = at[-2];
		if (found && !worded_began(&hint->worded))
			worded_start(&hint->worded, hint->last);
		if (worded_take(&hint->worded, at[-1], &wait)) {
			hint->given = true;
			hint->wait = wait;
		}
		hint->last = at[-1];
	}
}

void
hint_end(struct hint *hint)
{
	hint_feed(hint, "\n", 1);
}
