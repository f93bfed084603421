/*
 * fleet_server: what a host knows of its fleet's server from its last answers.
 *
 *     offset  [tag:16 | ms:48]         the server's clock, less the age
 *     hosts   [tag:16 | hosts:48]      how many hosts the server counted
 *     used    [retries:32 | limit:32]  of the fleet; for messages only
 *     link    [tag:16 | failures:8 | until:40]  the pause after no answer
 *
 * The age is that of the segment (fleet_word.h). After the server did not
 * answer, nobody asks it for a while: for FLEET_SERVER_PAUSE, and for twice as
 * long after each failure in a row, up to FLEET_SERVER_PAUSE_MOST.
 */
#ifndef FLEET_SERVER_H
#define FLEET_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "text/duration.h"

/* tests/fleet_check.c has shorter times. */
#ifndef FLEET_SERVER_PAUSE
#define FLEET_SERVER_PAUSE NANOS_SECOND
#define FLEET_SERVER_PAUSE_MOST (30 * NANOS_SECOND)
#endif

/* All zero: nothing is known. */
struct fleet_server {
	_Atomic uint64_t offset, hosts, used, link;
};

/* What an answer says of the server and its fleet. */
struct fleet_numbers {
	nanos time; /* on the server's clock */
	int64_t hosts; /* that the server has counted in the window */
	int64_t retries, limit; /* in the window */
};

/* Stores an answer to a question that was asked at the age asked. */
void fleet_server_learn(struct fleet_server *server, uint16_t tag,
    const struct fleet_numbers *numbers, nanos asked);

/* The same, but only of the server's clock. */
void fleet_server_learn_time(
    struct fleet_server *server, uint16_t tag, nanos time, nanos asked);

/*
 * What the server's clock shows at an age, rather later than earlier, by at
 * most the time that the last question took. 0: not known.
 */
nanos
fleet_server_time(const struct fleet_server *server, uint16_t tag, nanos now);

/* How many hosts the server counted; 0: not known. */
int64_t fleet_server_hosts(const struct fleet_server *server, uint16_t tag);

/*
 * Begins a pause after no answer, unless one is not over. random: the pause is
 * multiplied by a random factor from a half to one and a half.
 */
void fleet_server_fail(
    struct fleet_server *server, uint16_t tag, nanos now, uint64_t random);

/* A pause, times that random factor. */
nanos fleet_server_randomize(nanos pause, uint64_t random);

/*
 * Given the word link: how long the pause still lasts; and whether the server
 * did not answer lately, so that nobody should rely on an answer.
 */
nanos fleet_server_pause(uint16_t tag, uint64_t link, nanos now);
bool fleet_server_is_doubtful(uint16_t tag, uint64_t link, nanos now);

#endif
