/*
 * mint: makes the file of a segment, whole and with its mode before it gets
 * its name, so that nobody who is killed leaves half of one.
 */
#ifndef MINT_H
#define MINT_H

#include "store/segment_file.h"

/*
 * Makes it where place says. NULL, or why it cannot be made, with errno as
 * place.h has it. That there is one of somebody else's by now is as good.
 */
const char *segment_file_make(const struct segment_dir *place, const char *key,
    const struct terms *terms);

#endif
