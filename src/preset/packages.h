/*
 * packages: the rows of the tools that fetch and install packages.
 */
#ifndef PACKAGES_H
#define PACKAGES_H

#include <stddef.h>
#include "preset/rows.h"

/* The table, and in *count its length. */
const struct preset *packages_rows(size_t *count);

#endif
