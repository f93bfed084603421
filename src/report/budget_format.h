/*
 * budget_format: writes budgets as a table, as JSON or as metrics.
 *
 * The table is for people; JSON and the text format of Prometheus are for
 * programs. A key may hold any bytes, but the output is UTF-8 without control
 * bytes: bytes that are not UTF-8, and outside of JSON control bytes too, are
 * shown as \xff.
 */
#ifndef BUDGET_FORMAT_H
#define BUDGET_FORMAT_H

#include "output/writer.h"
#include "report/budget_list.h"

/* Writes the list; the caller flushes the writer. */
void budget_format_put(const struct budget_list *list, struct writer *writer);

#endif
