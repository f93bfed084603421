#include "text/hex.h"

#include <string.h>

static const char digits[] = "0123456789abcdef";

int
hex_digit(char c)
{
	const char *at = memchr(digits, strview_lower(c), sizeof digits - 1);

	return at == NULL ? -1 : (int)(at - digits);
}

char *
hex_put(char *at, size_t count, uint64_t value)
{
	for (size_t i = count; i > 0; i--) {
		at[i - 1] = digits[value & 15];
		value >>= 4;
	}
	at[count] = '\0';
	return at + count;
}

bool
hex_unescape(struct strview text, char *room, size_t size, size_t *length)
{
	*length = 0;
	for (size_t i = 0; i < text.length; i++) {
		char byte = text.at[i];

		if (byte == '%') {
			int high, low;

			if (text.length - i < 3)
				return false;
			high = hex_digit(text.at[i + 1]);
			low = hex_digit(text.at[i + 2]);
			if (high < 0 || low < 0)
				return false;
			byte = (char)(high << 4 | low);
			i += 2;
		}
		if (*length == size)
			return false;
		room[(*length)++] = byte;
	}
	return true;
}
