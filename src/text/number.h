/*
 * number: reads and writes numbers, and does arithmetic that saturates.
 */
#ifndef NUMBER_H
#define NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for any 64-bit number in decimal, its sign and the closing NUL. */
#define NUMBER_ROOM 24

/* Room for a number of bytes with its unit. */
#define NUMBER_SIZE_ROOM 32

/* The greatest number of so many bits, less than 64. */
#define NUMBER_MOST(bits) ((UINT64_C(1) << (bits)) - 1)

/*
 * Reads exactly length bytes of text as a whole number. False if length is 0 or
 * not all bytes are decimal digits. Too large a number becomes INT64_MAX.
 */
bool number_whole(const char *text, size_t length, int64_t *value);

/*
 * Reads exactly length bytes of text as a decimal number, "2", "1.5", ".5" or
 * "2.", in units of 1/scale, scale at most INT64_MAX/10. Digits beyond the
 * scale round up, so that no positive number becomes 0; then *rounded is true,
 * unless rounded is NULL. False if there is no digit, or anything but digits
 * and one point. Saturates at INT64_MAX.
 */
bool number_decimal(const char *text, size_t length, int64_t scale,
    int64_t *value, bool *rounded);

/* a + b and a * b for a, b >= 0: INT64_MAX where the result is larger. */
int64_t number_add(int64_t a, int64_t b);
int64_t number_multiply(int64_t a, int64_t b);

/* How many units value >= 0 is, rounded to the nearest; only 0 becomes 0. */
int64_t number_round(int64_t value, int64_t unit);

int64_t number_lesser(int64_t a, int64_t b);
int64_t number_greater(int64_t a, int64_t b);

/* Writes the number in decimal into room, NUL-terminated, and returns room. A
 * signal handler, and a child before its exec, may call it. */
char *number_put(char room[NUMBER_ROOM], int64_t value);

/*
 * Writes value >= 0, in units of 1/scale (a power of ten), as number_decimal()
 * reads it, without zeros at the end ("0.2"), and returns room.
 */
char *number_put_decimal(char room[NUMBER_ROOM], int64_t value, int64_t scale);

/*
 * Writes a number of bytes in the largest of the units k, M, G and T (powers of
 * 1024) that divides it, and returns room: "1G", "1536k", "1000 bytes".
 */
char *number_put_size(char room[NUMBER_SIZE_ROOM], int64_t value);

#endif
