/*
 * sharing: who else has an open file description of ours, and may move its
 * offset: whoever forked us, and whom they forked. Told by /proc, which takes a
 * while: never before the first attempt.
 */
#ifndef SHARING_H
#define SHARING_H

#include <stdbool.h>

/*
 * Whether somebody else may have moved the offset of a descriptor while an
 * attempt ran, now that the attempt is over: anybody who has it too, but for
 * those who started us and wait for us, as a shell does for what runs in the
 * foreground. Who is of another user is not seen, and taken to have nothing to
 * do with it; where there is no /proc, nothing is known: true.
 */
bool sharing_suspects(int fd);

#endif
