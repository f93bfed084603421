/*
 * zone: how far the local time of a zone is ahead of UTC, by the zone's file.
 *
 * The file has the form TZif (RFC 9636): a list of moments from which on
 * another time holds, and a rule for those behind it, as TZ has it (POSIX,
 * section 8.3).
 */
#ifndef ZONE_H
#define ZONE_H

#include <stdbool.h>
#include <stdint.h>
#include "text/strview.h"

/*
 * How far local time is ahead of UTC at a moment in Unix time, in seconds.
 * False if these bytes are not the file of a zone.
 */
bool zone_ahead(struct strview file, int64_t moment, int64_t *ahead);

#endif
