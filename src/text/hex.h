/*
 * hex: reads and writes hexadecimal digits, and reads %XX.
 */
#ifndef HEX_H
#define HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "text/strview.h"

/* The value of a digit in upper or lower case, or -1. */
int hex_digit(char c);

/* Writes count digits, in lower case, and a NUL, and returns its place. */
char *hex_put(char *at, size_t count, uint64_t value);

/*
 * Copies text with %XX as bytes into room, and no NUL behind it; *length is how
 * many bytes that are. False if it does not fit into size bytes, or has a %
 * without two digits.
 */
bool hex_unescape(struct strview text, char *room, size_t size, size_t *length);

#endif
