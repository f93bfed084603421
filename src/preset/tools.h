/*
 * tools: the rows of the tools that connect, transfer, command and ask, and of
 * what they have in common. What installs packages is in packages.
 */
#ifndef TOOLS_H
#define TOOLS_H

#include <stddef.h>
#include "preset/rows.h"

/* The table, and in *count its length. */
const struct preset *tools_rows(size_t *count);

#endif
