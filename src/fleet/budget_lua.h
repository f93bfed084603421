/*
 * budget_lua: the script that a fleet's server runs for each question.
 *
 * fleet_script.h says what it promises. It needs Redis 5, or any Valkey, and an
 * account with the rights +evalsha +eval +time +hmget +hget +hset +pexpire on
 * the keys retry:*.
 *
 * The budget is a hash. Time is divided into slices. Slice number E of the
 * server's clock is the epoch E; field E mod 64 has its retries, successes and
 * hosts, such as "3 20 1". These are the other fields:
 *
 *     w q m    the length of a slice in microseconds, the ratio in millionths,
 *              and the minimum: the strictest of all that were asked for
 *     e        the latest epoch
 *     R S H    the retries and hosts of 62 slices, the successes of 59
 *     x        an epoch before which no retry counts
 *
 * A retry that was granted in a slice may be made in the next one, so a window
 * of 60 slices may have retries of 62. Only 59 slices are certainly within it
 * from start to end, so only their successes count.
 *
 * Scripts are not rolled back if they fail. So one HSET writes all that
 * changes, and PEXPIRE follows it: if a right is missing, or the memory is
 * full, then nothing is granted that is not counted.
 */
#ifndef BUDGET_LUA_H
#define BUDGET_LUA_H

/* How many slots there are, in how many slices retries count, and successes. */
#define BUDGET_LUA_SLOTS 64
#define BUDGET_LUA_RETRIES 62
#define BUDGET_LUA_SUCCESSES 59

/* The script, and its SHA1 in hexadecimal, by which EVALSHA names it. */
extern const char budget_lua[];
extern const char budget_lua_sha1[];

#endif
