#include "text/worded.h"

#include <string.h>
#include "text/number.h"
#include "text/strview.h"

/*
 * The names of each unit. Micro is spelled with U+00B5 or U+03BC: Go prints the
 * first one.
 */
static const struct {
	const char *names;
	nanos size;
} units[] = {
	{ "w wk wks week weeks", 7 * NANOS_DAY },
	{ "d day days", NANOS_DAY },
	{ "h hr hrs hour hours", NANOS_HOUR },
	{ "m min mins minute minutes", NANOS_MINUTE },
	{ "s sec secs second seconds", NANOS_SECOND },
	{ "ms msec msecs millis millisecond milliseconds", NANOS_MS },
	{ "us \xc2\xb5s \xce\xbcs usec usecs microsecond microseconds",
	    NANOS_MS / 1000 },
	{ "ns nsec nsecs nanosecond nanoseconds", 1 },
};

/* The size of the unit with this name, or 0. */
static nanos
unit_size(struct strview word)
{
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		struct strview names = strview_of(units[i].names), name;

		while (strview_cut(&names, ' ', &name))
			if (name.length == word.length &&
			    strview_begins(word, name))
				return units[i].size;
	}
	return 0;
}

static bool
is_digit(unsigned char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool
is_blank(unsigned char byte)
{
	return byte == ' ' || byte == '\t';
}

/* Whether a byte may be a part of a unit: a letter, or a byte of a micro. */
static bool
is_letter(unsigned char byte)
{
	unsigned char lower = byte | 0x20;

	return (lower >= 'a' && lower <= 'z') ||
	    (byte >= 0x80 && strchr("\xc2\xb5\xce\xbc", byte) != NULL);
}

/*
 * Whether a number without a unit may end before this byte: punctuation that
 * ends a sentence or a quotation, a control character, or the first byte of
 * UTF-8 punctuation (U+2000 to U+2FFF).
 */
static bool
ends_number(unsigned char byte)
{
	return byte < ' ' || byte == 0xe2 ||
	    strchr(" ;!?\"'`\\()[]{}<>|", byte) != NULL;
}

/* Ends the duration behind the parts so far. True if there are any. */
static bool
end(struct worded *worded, nanos *span)
{
	worded->place = WORDED_IDLE;
	if (worded->unit == 0)
		return false;
	*span = worded->span;
	return true;
}

/* Reads the number in units of size. False if it is malformed or too long. */
static bool
read_number(const struct worded *worded, nanos size, nanos *span)
{
	size_t length = worded->digits;

	if (length == sizeof worded->number)
		return false;
	/* "Retrying in 5...": the stops end the sentence. */
	while (length > 0 && worded->number[length - 1] == '.')
		length--;
	return number_decimal(worded->number, length, size, span);
}

/* Ends the duration behind a number that has no unit. */
static bool
end_bare(struct worded *worded, nanos *span)
{
	if (worded->unit != 0)
		return end(worded, span);
	worded->place = WORDED_IDLE;
	return read_number(worded, NANOS_SECOND, span);
}

static void
begin_number(struct worded *worded, unsigned char byte)
{
	worded->place = WORDED_NUMBER;
	worded->number[0] = (char)byte;
	worded->digits = 1;
}

static void
begin_word(struct worded *worded, enum worded_place place, unsigned char byte)
{
	worded->place = place;
	worded->word[0] = (char)byte;
	worded->letters = 1;
}

/* Adds a byte; of what is too long the rest is dropped. */
static void
append(char *text, size_t *length, size_t room, unsigned char byte)
{
	if (*length < room)
		text[(*length)++] = (char)byte;
}

static bool
take_start(struct worded *worded, unsigned char byte)
{
	if (is_digit(byte) && !worded->digit)
		begin_number(worded, byte);
	else if (byte < 0x80 && strchr(" \t\"'`~", byte) != NULL && byte != 0)
		worded->digit = false;
	else
		worded->place = WORDED_IDLE;
	return false;
}

static bool
take_number(struct worded *worded, unsigned char byte, nanos *span)
{
	if (is_digit(byte) || byte == '.')
		append(worded->number, &worded->digits, sizeof worded->number,
		    byte);
	else if (is_letter(byte))
		begin_word(worded, WORDED_UNIT, byte);
	else if (is_blank(byte))
		worded->place = WORDED_GAP;
	else if (byte == ',')
		worded->place = WORDED_COMMA;
	else
		return ends_number(byte) ? end_bare(worded, span)
					 : end(worded, span);
	return false;
}

static bool
take_gap(struct worded *worded, unsigned char byte, nanos *span)
{
	if (is_blank(byte))
		return false;
	if (is_letter(byte)) {
		begin_word(worded, WORDED_UNIT, byte);
		return false;
	}
	return ends_number(byte) || byte == ',' ? end_bare(worded, span)
						: end(worded, span);
}

static bool
take_between(struct worded *worded, unsigned char byte, nanos *span)
{
	if (is_digit(byte))
		begin_number(worded, byte);
	else if (byte == 'a' || byte == 'A')
		begin_word(worded, WORDED_AND, byte);
	else if (!is_blank(byte) && byte != ',')
		return end(worded, span);
	return false;
}

static struct strview
word_of(const struct worded *worded)
{
	return (struct strview){ worded->word, worded->letters };
}

static bool
take_unit(struct worded *worded, unsigned char byte, nanos *span)
{
	nanos size, part;

	if (is_letter(byte)) {
		append(
		    worded->word, &worded->letters, sizeof worded->word, byte);
		return false;
	}
	size = unit_size(word_of(worded));
	if (size == 0 || (worded->unit != 0 && size >= worded->unit) ||
	    !read_number(worded, size, &part))
		return end(worded, span);
	worded->span = number_add(worded->span, part);
	worded->unit = size;
	worded->place = WORDED_BETWEEN;
	return take_between(worded, byte, span);
}

static bool
take_and(struct worded *worded, unsigned char byte, nanos *span)
{
	if (is_letter(byte))
		append(
		    worded->word, &worded->letters, sizeof worded->word, byte);
	else if (is_blank(byte) && strview_is(word_of(worded), "and"))
		worded->place = WORDED_BETWEEN;
	else
		return end(worded, span);
	return false;
}

void
worded_start(struct worded *worded, unsigned char before)
{
	worded->place = WORDED_START;
	worded->digit = is_digit(before);
	worded->span = 0;
	worded->unit = 0;
}

bool
worded_began(const struct worded *worded)
{
	return worded->place > WORDED_START;
}

bool
worded_take(struct worded *worded, unsigned char byte, nanos *span)
{
	switch (worded->place) {
	case WORDED_IDLE:
		return false;
	case WORDED_START:
		return take_start(worded, byte);
	case WORDED_NUMBER:
		return take_number(worded, byte, span);
	case WORDED_COMMA:
		return is_digit(byte) ? end(worded, span)
				      : end_bare(worded, span);
	case WORDED_GAP:
		return take_gap(worded, byte, span);
	case WORDED_UNIT:
		return take_unit(worded, byte, span);
	case WORDED_BETWEEN:
		return take_between(worded, byte, span);
	case WORDED_AND:
		return take_and(worded, byte, span);
	}
	return false;
}
