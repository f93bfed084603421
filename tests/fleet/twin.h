/*
 * twin: the same function as the script question_script, written a second time
 * in C.
 *
 * The script keeps sums and changes them; the twin adds all slots up for each
 * question. script_check compares both on a real server.
 */
#ifndef TWIN_H
#define TWIN_H

#include <stdbool.h>
#include <stdint.h>
#include "fleet/question.h"

/* Room for what twin_write() writes. */
#define TWIN_ROOM RESP_REPLY

/* How many slots there are, in how many slices retries count, and successes. */
#define TWIN_SLOTS 64
#define TWIN_RETRIES 62
#define TWIN_SUCCESSES 59

/* A retry that has succeeded is paid back for so many slices. */
#define TWIN_RESCUED 30

/* What the server stores for one budget. All zero: nothing. */
struct twin {
	bool stored; /* the length of a slice, the ratio and the minimum */
	bool dated; /* the epoch is known */
	int64_t slice; /* in microseconds */
	int64_t ratio, min;
	int64_t epoch;
	int64_t retries[TWIN_SLOTS];
	int64_t successes[TWIN_SLOTS];
	int64_t hosts[TWIN_SLOTS];
};

/* Answers a question at a time, in nanoseconds, as the server does. */
struct resp_reply twin_answer(struct twin *twin, const struct fleet_question *question, nanos time);

/* Writes all fields of the hash in a fixed order, a missing one as 0. */
void twin_write(const struct twin *twin, char room[TWIN_ROOM]);

#endif
