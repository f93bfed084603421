/*
 * drawing: the requests per second over time, as an SVG file. The runs of a
 * scenario have the same axes. It can be read on a light and on a dark page.
 */
#ifndef DRAWING_H
#define DRAWING_H

#include <stdbool.h>
#include "figure.h"

/* Replaces the file. False, with errno, if it cannot be written. */
bool drawing_svg(const char *path, const struct scenario *scenario,
    const struct result *results, size_t count);

#endif
