#include "match/hint.h"

#include <ctype.h>
#include <string.h>
#include "text/date.h"
#include "text/number.h"

#define DIGITS "0123456789."
/* Units are made of letters and of the bytes of a micro. */
#define LETTERS \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"\xc2\xb5\xce\xbc"

/* From here on a number alone is a moment in Unix time: no server asks for a
 * wait of 31 years. */
#define EPOCH (1000000000 * NANOS_SECOND)
#define MS_DIGITS 13

/* Cuts off those of these bytes with which rest starts. */
static struct strview
cut(struct strview *rest, const char *bytes)
{
	struct strview part = *rest;

	*rest = strview_skip(part, bytes);
	part.length -= rest->length;
	return part;
}

/*
 * Whether a number without a unit may end before this byte: punctuation that
 * ends a sentence or a quotation, a control character, or the first byte of
 * UTF-8 punctuation (U+2000 to U+2FFF).
 */
static bool
stops(char byte)
{
	return (unsigned char)byte < ' ' || byte == '\xe2' ||
	    strchr(" ;!?\"'`\\()[]{}<>|", byte) != NULL;
}

/*
 * Cuts the time off the start of rest. False if there is none; if it may go on
 * behind the last byte, nothing is left of rest.
 */
static bool
cut_time(struct strview *rest, nanos unit, nanos now, nanos *wait)
{
	struct strview text = *rest;
	nanos before = 0; /* the unit of the last part, of "1h" in "1h30m" */
	int64_t moment;

	*wait = 0;
	if (strview_starts(strview_skip(text, DIGITS), "-"))
		cut(rest, DIGITS LETTERS ":+-");
	if (rest->length == 0)
		return false;
	if (date_read(text, now / NANOS_SECOND, &moment) > 0) {
		*wait = date_until(now / NANOS_SECOND, moment);
		return true;
	}
	*rest = text;
	for (;;) {
		struct strview number = cut(rest, DIGITS ","), word;
		nanos size, part;

		cut(rest, " \t");
		word = cut(rest, LETTERS);
		size = duration_unit(word);
		if (rest->length == 0)
			return false;
		/* "Retrying in 5...": the sentence ends. */
		while (number.length > 0 &&
		    strchr(".,", number.at[number.length - 1]) != NULL)
			number.length--;
		if (before == 0 && word.length == 0 && stops(*rest->at)) {
			/* So many digits has an instant in milliseconds. */
			if (number.length == MS_DIGITS)
				unit = NANOS_MS;
			if (!number_decimal(
				number.at, number.length, unit, wait))
				return false;
			if (*wait >= EPOCH)
				*wait = number_greater(*wait - now, 0);
			return true;
		}
		if (size == 0 || (before != 0 && size >= before) ||
		    !number_decimal(number.at, number.length, size, &part))
			return before != 0;
		*wait = number_add(*wait, part);
		before = size;
		*rest = strview_skip(*rest, " \t");
		if (rest->length == 0 || !isdigit((unsigned char)*rest->at))
			return rest->length > 0;
	}
}

void
hint_start(struct hint *hint)
{
	pattern_start(&hint->pattern);
	hint->reads = false;
	hint->last = '\n';
	hint->length = hint->told = 0;
}

/* Notes the time in the text behind a match, if it ends there. */
static void
note(struct hint *hint)
{
	struct strview rest = { hint->text, hint->length };
	nanos unused;

	if (cut_time(&rest, hint->unit, 0, &unused)) {
		hint->told = hint->length;
		memcpy(hint->time, hint->text, hint->length);
	}
	hint->reads = rest.length == 0 && hint->length < HINT_TIME;
}

/* Takes the next byte; found: a match ends before it. */
static void
take(struct hint *hint, unsigned char byte, bool found)
{
	bool number = hint->length > 0 && isdigit((unsigned char)*hint->text);

	if (found && !(hint->reads && number)) {
		if (hint->reads)
			note(hint);
		hint->reads = true;
		hint->length = 0;
	}
	if (!hint->reads)
		return;
	if (hint->length == 0) {
		number = isdigit(byte) && !isdigit(hint->last);
		/* A date may begin with the name of a day. */
		if (!number && (byte == '\0' || !strchr("MTWFS", byte))) {
			hint->reads =
			    byte != '\0' && strchr(" \t\"'`~", byte) != NULL;
			return;
		}
	}
	hint->text[hint->length++] = (char)byte;
	/* The words of a date have blanks and commas between them. */
	if (number || byte == '\n' || hint->length == HINT_TIME)
		note(hint);
}

size_t
hint_feed(struct hint *hint, const void *bytes, size_t length)
{
	const unsigned char *at = bytes, *end = at + length;
	uint32_t toil = 0;

	while (at < end && toil < PATTERN_TOIL) {
		bool reads = hint->reads, found;
		size_t count = pattern_next(
		    &hint->pattern, at, reads ? 1 : (size_t)(end - at), &found);

		at += count;
		toil += hint->pattern.toil;
		if (count > 1)
			hint->last = at[-2];
		take(hint, at[-1], found);
		hint->last = at[-1];
	}
	return length - (size_t)(end - at);
}

bool
hint_end(struct hint *hint, nanos now, nanos *wait)
{
	struct strview rest = { hint->time, 0 };

	hint_feed(hint, "\n", 1);
	rest.length = hint->told;
	return cut_time(&rest, hint->unit, now, wait);
}
