#include "match/hint.h"

void
hint_start(struct hint *hint)
{
	pattern_start(&hint->pattern);
	hint->worded = (struct worded){ .place = WORDED_IDLE };
	hint->last = '\n';
	hint->given = false;
}

/* A match has ended behind the byte before. */
static void
begin(struct hint *hint, unsigned char before)
{
	if (!worded_began(&hint->worded))
		worded_start(&hint->worded, before);
}

static void
take(struct hint *hint, unsigned char byte)
{
	nanos wait;

	if (!worded_take(&hint->worded, byte, &wait))
		return;
	hint->given = true;
	hint->wait = wait;
}

void
hint_feed(struct hint *hint, const void *bytes, size_t length)
{
	const unsigned char *at = bytes, *end = at + length;

	while (at < end) {
		bool reads = hint->worded.place != WORDED_IDLE;
		unsigned ends;
		size_t count = pattern_next(
		    &hint->pattern, at, reads ? 1 : (size_t)(end - at), &ends);

		at += count;
		if (count > 1)
			hint->last = at[-2];
		if (ends & NFA_ENDS_BEFORE)
			begin(hint, hint->last);
		take(hint, at[-1]);
		if (ends & NFA_ENDS_BEHIND)
			begin(hint, at[-1]);
		hint->last = at[-1];
	}
}

void
hint_end(struct hint *hint)
{
	take(hint, '\n');
}
