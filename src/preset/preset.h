/*
 * preset: the table of known tools. Of the rows that were chosen:
 *
 *   on exit 0, a line that matches failed makes it a failure;
 *   of a failure, a line that matches fatal of any row: stop;
 *   else codes, or a line that matches transient, of any row: retry;
 *   else it is not retryable.
 *
 * codes holds "timeout" in every row: an attempt that had to be ended tells no
 * more than that it was slow.
 */
#ifndef PRESET_H
#define PRESET_H

#include <stddef.h>
#include "preset/rows.h"

/* How many rows there are. */
size_t preset_count(void);

/* The row at index, less than preset_count(), in the order of "list". */
const struct preset *preset_at(size_t index);

/*
 * The row of that name, or else of a program of that name, as for
 * preset_for_program ("apt-get", "sqlite"); NULL if there is none.
 */
const struct preset *preset_find(const char *name, size_t length);

/*
 * The row of the command at path, by its last component; digits and dots at
 * its end are a version ("pip3.11", "wget2"). NULL if there is none.
 */
const struct preset *preset_for_program(const char *path);

#endif
